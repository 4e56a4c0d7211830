//! What this system can do to hold commands, asked from the kernel itself.
//!
//! Namespaces can only be tried: what forbids them (the kernel's build, a limit, a container, AppArmor) is not to be read
//! anywhere. A process of its own tries, once.

use super::profile::Namespaces;
use std::path::Path;
use std::sync::OnceLock;

/// Whether commands that are started through `runner` can get namespaces, and else why not, a few words. Tried at the first
/// call, which takes as long as a small process.
pub fn namespaces(runner: &Path) -> Result<(), &'static str> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    FOUND.get_or_init(|| attempt(runner)).as_ref().copied().map_err(String::as_str)
}

/// The same as a value for a profile.
#[must_use]
pub fn spaces(runner: &Path) -> Namespaces {
    if namespaces(runner).is_ok() { Namespaces::With } else { Namespaces::Without }
}

#[cfg(target_os = "linux")]
fn attempt(runner: &Path) -> Result<(), String> {
    use std::process::{Command, Stdio};
    let out = Command::new(runner)
        .args([super::hold::WORD, super::hold::TRY])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{} could not be started: {e}", runner.display()))?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(said.lines().next().unwrap_or("it did not say why").to_owned())
}

#[cfg(not(target_os = "linux"))]
fn attempt(_: &Path) -> Result<(), String> {
    Err("this system has none".to_owned())
}
