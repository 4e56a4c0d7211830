//! Support that several tests share.

pub mod model_server;

/// Has a program begin with the signals that end it, also where the tests were started with some of them ignored: by a
/// shell in the background, or `nohup`.
#[allow(dead_code, reason = "some tests start no program")]
#[allow(unsafe_code, reason = "no safe call sets the signals of a child")]
pub fn with_signals(command: &mut std::process::Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for number in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
                    libc::signal(number, libc::SIG_DFL);
                }
                Ok(())
            });
        }
    }
}
