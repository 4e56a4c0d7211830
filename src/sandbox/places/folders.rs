//! Folders that a profile knows by name: of the session, for temporary files, of toolchains.

use super::readable;
use std::path::{Path, PathBuf};

/// Folders of the session that commands read, beside `data`, which they write.
pub(super) const SESSION: &[&str] = &["data", "plans", "attachments", "long_responses", "downloads"];
/// The session's own folder for temporary files.
pub(super) const TEMP: &str = "tmp";
/// Folders of temporary files.
pub(super) const TEMPS: &[&str] = &["/tmp", "/var/tmp"];

/// The session's folder for temporary files, which commands see as `/tmp`.
#[must_use]
pub fn session_temp(session_dir: &Path) -> PathBuf {
    session_dir.join(TEMP)
}

/// Part of a path below a folder of temporary files; `None` for other paths.
#[must_use]
pub fn below_temp(path: &Path) -> Option<&Path> {
    TEMPS.iter().find_map(|top| path.strip_prefix(top).ok())
}

/// Toolchains below the working directory, where that is the home directory or one above it: programs, no secrets.
pub(super) fn toolchains(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut out = match home {
        Some(home) if home.starts_with(cwd) => readable::of_user(Some(home), &|_| None),
        _ => Vec::new(),
    };
    if cwd.parent().is_none() {
        out.extend(readable::KERNEL.iter().map(PathBuf::from));
        out.extend(readable::system().0);
    }
    out
}

/// Programs of the user and their parts below the working directory, where that is the home directory or one above it. What
/// commands of a project read and don't write, those of the home directory don't write either.
pub(super) fn programs(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(home) = home.filter(|home| home.starts_with(cwd)) else { return Vec::new() };
    let mut out = readable::of_user(Some(home), &|name| std::env::var(name).ok());
    out.retain(|path| path.starts_with(cwd) && path != cwd && !home.starts_with(path));
    out
}

/// Folders of the user's search path below the working directory, where that is the home directory or one above it.
pub(super) fn search_path(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&path).chain(home.map(|home| home.join(".local/bin"))).collect();
    let mut out = programs(cwd, home);
    out.retain(|program| named.contains(program));
    out
}

/// Folders for temporary files.
pub(super) fn temp(home: Option<&Path>) -> Vec<PathBuf> {
    TEMPS.iter().map(PathBuf::from).chain(own_temp(home)).collect()
}

/// The one that the environment names. One that holds more than temporary files would open all of that.
pub(super) fn own_temp(home: Option<&Path>) -> Option<PathBuf> {
    let own = std::env::temp_dir();
    let sound = own.is_absolute() && own.parent().is_some() && !home.is_some_and(|home| home.starts_with(&own));
    sound.then_some(own)
}
