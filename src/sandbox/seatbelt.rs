//! The profiles in the words of macOS' `sandbox-exec`.
//!
//! The text is made on every system, so that it is tried on every system; only macOS has the program that takes it. Of
//! several rules that fit the last one counts there.

use super::profile::{Bounds, Network, Profile};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The program that closes a command in.
#[cfg(target_os = "macos")]
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that every command may write.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/dtracehelper"];

/// The rules of a profile; `None` for the one that has none. Paths have to be resolved: links are followed before the rules
/// are asked.
#[must_use]
pub fn text(profile: &Profile) -> Option<String> {
    let bounds = profile.bounds()?;
    let mut out = "(version 1)\n(allow default)\n(deny file-write*)\n".to_owned();
    rule(&mut out, "allow file-write*", DEVICES.iter().map(|path| ("literal", Path::new(*path))));
    rule(&mut out, "allow file-write*", bounds.writable.iter().map(|path| ("subpath", path.as_path())));
    rule(&mut out, "deny file-write*", bounds.protected.iter().map(|path| ("subpath", path.as_path())));
    // Its own name, so that it cannot be moved away and another be made in its place.
    rule(&mut out, "deny file-write-unlink", bounds.pinned.iter().map(|path| ("literal", path.as_path())));
    rule(&mut out, "deny file-read*", bounds.masked.iter().map(|path| ("subpath", path.as_path())));
    rule(&mut out, "deny network-outbound", bounds.masked.iter().map(|path| ("literal", path.as_path())));
    out.push_str("(deny signal)\n(allow signal (target same-sandbox))\n");
    match profile {
        Profile::ReadOnly(_) => out.push_str("(deny network*)\n(deny system-socket)\n(deny mach-priv*)\n"),
        _ => out.push_str("(allow file-write* (regex #\"^/dev/(ptmx|pty|tty)\"))\n"),
    }
    // What leads out of it through the proxy alone cannot be said in these words, and is refused before.
    if bounds.network != Network::Open {
        out.push_str("(deny network*)\n");
    }
    Some(out)
}

/// One rule for all of these places; nothing where there are none, for a rule without places would be for all.
fn rule<'a>(out: &mut String, head: &str, places: impl Iterator<Item = (&'static str, &'a Path)>) {
    let mut places = places.peekable();
    if places.peek().is_none() {
        return;
    }
    let _ = write!(out, "({head}");
    for (kind, path) in places {
        let _ = write!(out, "\n  ({kind} {})", quoted(path));
    }
    out.push_str(")\n");
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

/// The same profile with every path as it is after its links; what is not there is left out.
#[must_use]
pub fn resolved(profile: &Profile) -> Profile {
    let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let all = |bounds: &Bounds| Bounds {
        writable: real(&bounds.writable),
        protected: real(&bounds.protected),
        pinned: real(&bounds.pinned),
        masked: real(&bounds.masked),
        readable: real(&bounds.readable),
        devices: real(&bounds.devices),
        sockets: real(&bounds.sockets),
        ..bounds.clone()
    };
    match profile {
        Profile::Open => Profile::Open,
        Profile::ReadOnly(bounds) => Profile::ReadOnly(all(bounds)),
        Profile::Workspace(bounds) => Profile::Workspace(all(bounds)),
    }
}

/// The program and the arguments that close a command in.
#[cfg(target_os = "macos")]
pub(super) fn line(
    profile: &Profile,
    command: &[std::ffi::OsString],
) -> Result<(std::ffi::OsString, Vec<std::ffi::OsString>), String> {
    let text = text(&resolved(profile)).ok_or("there is no profile")?;
    let mut out: Vec<std::ffi::OsString> = vec!["-p".into(), text.into()];
    out.extend(command.iter().cloned());
    Ok((PROGRAM.into(), out))
}

/// Other systems have no program for it.
#[cfg(not(any(target_os = "macos", target_os = "linux")))]
pub(super) fn line(
    _: &Profile,
    _: &[std::ffi::OsString],
) -> Result<(std::ffi::OsString, Vec<std::ffi::OsString>), String> {
    Err("no command sandbox on this system".to_owned())
}

/// The system takes profiles. Starts a small program.
#[cfg(target_os = "macos")]
pub(super) fn is_possible() -> bool {
    use std::process::{Command, Stdio};
    let mut command = Command::new(PROGRAM);
    command.args(["-p", "(version 1)(allow default)(deny file-write*)", "/usr/bin/true"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_stands_behind_what_is_let_in() {
        let bounds = Bounds {
            writable: vec!["/w".into(), "/private/tmp".into()],
            protected: vec!["/w/.git/hooks".into()],
            pinned: vec!["/w/.git".into()],
            masked: vec!["/Users/u/.ssh".into()],
            ..Bounds::default()
        };
        let workspace = text(&Profile::Workspace(bounds.clone())).unwrap();
        let at = |text: &str| workspace.find(text).unwrap_or_else(|| panic!("{text} in {workspace}"));
        assert!(workspace.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n"));
        assert!(at("(deny file-write*)") < at("(subpath \"/w\")"));
        assert!(at("(subpath \"/w\")") < at("(deny file-write*\n  (subpath \"/w/.git/hooks\"))"));
        assert!(at("(deny file-write-unlink\n  (literal \"/w/.git\"))") > at("(subpath \"/w\")"));
        assert!(at("(deny file-read*\n  (subpath \"/Users/u/.ssh\"))") > 0);
        assert!(!workspace.contains("(deny network*)"));
        let reading = text(&Profile::ReadOnly(bounds)).unwrap();
        assert!(reading.contains("(deny network*)") && reading.contains("(target same-sandbox)"));
        assert_eq!(text(&Profile::Open), None);
    }

    #[test]
    fn no_path_leaves_its_quotes_and_no_rule_is_for_all() {
        let bounds = Bounds { writable: vec!["/w\" (subpath \"/\\".into()], ..Bounds::default() };
        let text = text(&Profile::Workspace(bounds)).unwrap();
        assert!(text.contains(r#"(subpath "/w\" (subpath \"/\\")"#), "{text}");
        for head in ["(deny file-read*", "(deny file-write-unlink", "(deny network-outbound"] {
            assert!(!text.contains(head), "{text}");
        }
        assert_eq!(text.matches('(').count(), text.matches(')').count() + 1, "{text}");
    }

    #[test]
    fn paths_are_those_behind_their_links() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let bounds = Bounds { writable: vec![root.join("link"), root.join("gone")], ..Bounds::default() };
        let Profile::Workspace(found) = resolved(&Profile::Workspace(bounds)) else { panic!() };
        assert_eq!(found.writable, [root.join("real")]);
    }
}
