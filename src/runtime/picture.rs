//! The picture of the clipboard, by the programs that can give it, as a file that is attached and then removed.
//!
//! No terminal hands pictures over by itself. Over SSH without a display of its own there is nothing to ask, which is reported.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

/// A program that does not give a picture in this time will not.
const PATIENCE: Duration = Duration::from_secs(5);

/// The AppleScript that prints the picture as `«data PNGf89504E…»`.
const SCRIPT: &str = "get the clipboard as «class PNGf»";

/// Output format of a clipboard program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// Its bytes.
    Bytes,
    /// AppleScript's notation of them.
    Script,
}

/// The programs that can give a picture here, by the variables of the environment.
fn ways(env: &dyn Fn(&str) -> Option<String>, mac: bool) -> Vec<(Gives, Vec<&'static str>)> {
    let has = |name| env(name).is_some_and(|value| !value.is_empty());
    let mut ways = Vec::new();
    if mac && !has("SSH_CONNECTION") {
        ways.push((Gives::Bytes, vec!["pngpaste", "-"]));
        ways.push((Gives::Script, vec!["osascript", "-e", SCRIPT]));
    }
    for mime in ["image/png", "image/jpeg", "image/webp", "image/gif"] {
        if has("WAYLAND_DISPLAY") {
            ways.push((Gives::Bytes, vec!["wl-paste", "--no-newline", "--type", mime]));
        }
        if has("DISPLAY") {
            ways.push((Gives::Bytes, vec!["xclip", "-selection", "clipboard", "-t", mime, "-o"]));
        }
    }
    ways
}

/// Puts the picture of the clipboard into a file of its own below `parent`.
///
/// # Errors
/// A sentence: why there is none, and what can be done.
pub async fn fetch(env: &(dyn Fn(&str) -> Option<String> + Sync), parent: &Path) -> Result<PathBuf, String> {
    let ways = ways(env, cfg!(target_os = "macos"));
    if ways.is_empty() {
        let ssh = env("SSH_CONNECTION").is_some_and(|value| !value.is_empty());
        return Err(if ssh {
            "Can't read your local clipboard over SSH. Copy the file here, then /attach it".to_owned()
        } else {
            "No clipboard: WAYLAND_DISPLAY and DISPLAY are not set".to_owned()
        });
    }
    let mut programs: Vec<&str> = Vec::new();
    for (gives, command) in &ways {
        match ask(command).await {
            PictureOutcome::NoProgram => {}
            PictureOutcome::Nothing => programs.extend(command.first()),
            PictureOutcome::Gave(bytes) => {
                programs.extend(command.first());
                let bytes = if *gives == Gives::Script { unscripted(&bytes).unwrap_or_default() } else { bytes };
                if let Some(ending) = ending(&bytes) {
                    return lay(parent, ending, &bytes).map_err(|e| format!("Can't save the image: {e}"));
                }
            }
        }
    }
    Err(if programs.is_empty() {
        let first = ways.first().and_then(|(_, command)| command.first()).unwrap_or(&"xclip");
        format!("Install {first} to read images from the clipboard")
    } else {
        "No image on the clipboard".to_owned()
    })
}

/// Removes what [`fetch`] made.
pub fn discard(file: &Path) {
    if let Err(error) = file.parent().map_or(Ok(()), std::fs::remove_dir_all) {
        tracing::warn!(%error, "the image {} stays", file.display());
    }
}

enum PictureOutcome {
    NoProgram,
    Nothing,
    Gave(Vec<u8>),
}

async fn ask(command: &[&str]) -> PictureOutcome {
    let Some((program, args)) = command.split_first() else { return PictureOutcome::NoProgram };
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return PictureOutcome::NoProgram,
        Err(_) => return PictureOutcome::Nothing,
    };
    let most = 4 * crate::domain::attachment::LARGEST;
    let done = async {
        let mut bytes = Vec::new();
        child.stdout.take()?.take(most).read_to_end(&mut bytes).await.ok()?;
        child.wait().await.ok().filter(|status| status.success() && !bytes.is_empty())?;
        Some(bytes)
    };
    tokio::time::timeout(PATIENCE, done).await.ok().flatten().map_or(PictureOutcome::Nothing, PictureOutcome::Gave)
}

/// The bytes in AppleScript's notation.
fn unscripted(printed: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(printed).ok()?;
    let hex = text.trim().strip_prefix("«data PNGf")?.strip_suffix('»')?;
    let digits = hex.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect()
}

fn ending(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        _ if bytes.starts_with(b"\x89PNG") => Some("png"),
        _ if bytes.starts_with(b"\xff\xd8\xff") => Some("jpg"),
        _ if bytes.starts_with(b"GIF8") => Some("gif"),
        _ if bytes.starts_with(b"RIFF") => Some("webp"),
        _ => None,
    }
}

fn lay(parent: &Path, ending: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let folder = parent.join(format!("lisle-picture-{}-{:016x}", std::process::id(), fastrand::u64(..)));
    std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let file = folder.join(format!("clipboard.{ending}"));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?.write_all(bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &'static [&'static str]) -> impl Fn(&str) -> Option<String> {
        move |name| names.contains(&name).then(|| "1".to_owned())
    }

    #[test]
    fn programs_are_known_by_the_environment() {
        let first = |names, mac| ways(&set(names), mac).first().map(|(_, command)| command[0]);
        assert_eq!(first(&["WAYLAND_DISPLAY", "DISPLAY"], false), Some("wl-paste"));
        assert_eq!(first(&["DISPLAY", "SSH_CONNECTION"], false), Some("xclip"), "a forwarded display can be asked");
        assert_eq!(first(&[], true), Some("pngpaste"));
        assert_eq!(first(&["SSH_CONNECTION"], true), None);
    }

    #[test]
    fn the_notation_of_applescript_is_read() {
        assert_eq!(unscripted("«data PNGf89504E47»\n".as_bytes()), Some(b"\x89PNG".to_vec()));
        assert_eq!(unscripted("«data PNGf89504E4»".as_bytes()), Some(vec![0x89, 0x50, 0x4e, 4]));
        assert_eq!(unscripted("«data PNGfzz»".as_bytes()), None);
    }

    #[tokio::test]
    async fn over_ssh_it_says_that_it_cannot() {
        let dir = tempfile::tempdir().unwrap();
        let why = fetch(&set(&["SSH_CONNECTION"]), dir.path()).await.unwrap_err();
        assert!(why.contains("SSH"), "{why}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_picture_is_a_private_file_and_goes_with_its_folder() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = lay(dir.path(), "png", b"\x89PNG").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        discard(&file);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
