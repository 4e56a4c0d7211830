//! The program `lisle`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|word| word == lisle::sandbox::WORD) {
        let status = lisle::sandbox::runner::parent_process::parent_main(args.get(1..).unwrap_or_default());
        return ExitCode::from(u8::try_from(status).unwrap_or(125));
    }
    #[cfg(target_os = "linux")]
    if args.first().is_some_and(|word| word == lisle::sandbox::linux::confine::WORD) {
        let status = lisle::sandbox::linux::confine::hold_main(args.get(1..).unwrap_or_default());
        return ExitCode::from(u8::try_from(status).unwrap_or(126));
    }
    #[cfg(target_os = "linux")]
    lisle::sandbox::own_process::keys::hide();
    lisle::sandbox::close_to_others();
    lisle::sandbox::own_process::descriptors::raise();
    lisle::sandbox::own_process::memory::give_back_large_blocks();
    lisle::cli::main()
}
