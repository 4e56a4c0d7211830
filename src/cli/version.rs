//! `lisle --version`, and with `--verbose` what a report of a defect needs: the build, its folders, the sandbox here.

use super::exit::Exit;
use super::output::say;
use crate::config::paths::Paths;
use crate::sandbox::system_support;
use std::fmt::Write as _;
use std::path::Path;

/// Commit of the sources. The script that makes releases sets it; a build from a folder has none.
const COMMIT: Option<&str> = option_env!("LISLE_COMMIT");

pub(super) fn print(verbose: bool) -> Exit {
    let mut out = format!("lisle {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        for (about, text) in facts() {
            let _ = writeln!(out, "{about:<9}{text}");
        }
    }
    say(&out);
    Exit::Done
}

fn facts() -> Vec<(&'static str, String)> {
    let mut out = vec![("commit:", COMMIT.unwrap_or("not recorded in this build").to_owned()), ("build:", build())];
    if let Ok(program) = std::env::current_exe() {
        out.push(("sandbox:", sandbox(&program)));
        out.push(("program:", program.display().to_string()));
    }
    match Paths::find(std::env::var_os("LISLE_HOME").as_deref()) {
        Ok(paths) => {
            for (about, path) in [("config:", paths.config), ("data:", paths.data), ("state:", paths.state)] {
                out.push((about, path.display().to_string()));
            }
        }
        Err(error) => out.push(("config:", error.to_string())),
    }
    out
}

/// Target and kind of this build.
fn build() -> String {
    let libc = match () {
        () if cfg!(target_env = "musl") => " musl",
        () if cfg!(target_env = "gnu") => " gnu",
        () => "",
    };
    let kind = if cfg!(debug_assertions) { "debug" } else { "optimised" };
    format!("{} {}{libc}, {kind}", std::env::consts::OS, std::env::consts::ARCH)
}

/// What holds commands on this system, in a line; `lisle doctor sandbox` says more.
fn sandbox(program: &Path) -> String {
    let able = system_support::able(program);
    let namespaces = match &able.root {
        Ok(()) => "namespaces".to_owned(),
        Err(why) => format!("no namespaces ({why})"),
    };
    let landlock = match able.landlock {
        0 => "no Landlock".to_owned(),
        version => format!("Landlock {version}"),
    };
    let seccomp = if able.seccomp { "seccomp" } else { "no seccomp" };
    format!("{namespaces}, {landlock}, {seccomp}")
}
