//! The program `lisle`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|word| word == lisle::sandbox::WORD) {
        let status = lisle::sandbox::run::parent_main(args.get(1..).unwrap_or_default());
        return ExitCode::from(u8::try_from(status).unwrap_or(125));
    }
    #[cfg(target_os = "linux")]
    if args.first().is_some_and(|word| word == lisle::sandbox::hold::WORD) {
        let status = lisle::sandbox::hold::hold_main(args.get(1..).unwrap_or_default());
        return ExitCode::from(u8::try_from(status).unwrap_or(126));
    }
    #[cfg(target_os = "linux")]
    lisle::sandbox::keys::hide();
    lisle::sandbox::close_to_others();
    lisle::sandbox::descriptors::raise();
    lisle::sandbox::memory::give_back_large_blocks();
    lisle::cli::main()
}
