//! Keys in lisle's own environment, out of sight of other programs.
//!
//! `/proc/PID/environ` shows what a program was started with, for as long as it runs and whatever it removes later; that lisle
//! is closed to others does not hold root back. So lisle starts itself once more, in the same process: without what looks like
//! a key, which a file in memory carries over. Read at once, it is a variable again, for this process alone.

#![allow(unsafe_code, reason = "setting a variable is safe only while there is one thread, which the caller promises")]

use rustix::fs::MemfdFlags;
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The variable that names the descriptor of that file.
const MARK: &str = "LISLE_ENVIRONMENT_FD";
/// The file's name, by which it is known again.
const NAME: &str = "lisle-environment";

/// Takes keys out of the environment that others see. Returns in a process that has them; where it cannot be done, as it was.
///
/// To be called before the first thread, and before anything is open that is to be closed with this program.
pub fn hide() {
    if let Some(number) = std::env::var_os(MARK) {
        take(&number);
        return;
    }
    let moved: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, value)| looks_like_a_key(name, value)).collect();
    if !moved.is_empty() {
        // What comes back is an error, and without it lisle works.
        let _ = start_again(&moved);
    }
}

/// Becomes this program again, without these variables.
fn start_again(moved: &[(OsString, OsString)]) -> std::io::Result<()> {
    let mut file = File::from(rustix::fs::memfd_create(NAME, MemfdFlags::CLOEXEC)?);
    for (name, value) in moved {
        for bytes in [name.as_bytes(), b"=", value.as_bytes(), b"\0"] {
            file.write_all(bytes)?;
        }
    }
    file.rewind()?;
    fcntl_setfd(&file, FdFlags::empty())?;
    let mut own = std::env::args_os();
    let own_name = own.next().unwrap_or_else(|| "lisle".into());
    let arguments: Vec<OsString> = own.collect();
    let again = |program: &OsStr| {
        let mut command = Command::new(program);
        command.arg0(&own_name).args(&arguments).env(MARK, file.as_raw_fd().to_string());
        for (name, _) in moved {
            command.env_remove(name);
        }
        command.exec()
    };
    if let Ok(program) = std::env::current_exe() {
        let _ = again(program.as_os_str());
    }
    // The file has another name by now, or none.
    Err(again(OsStr::new("/proc/self/exe")))
}

/// Sets the variables that the program before this one has left.
fn take(number: &OsStr) {
    let mut text = Vec::new();
    if let Some(mut file) = file(number) {
        // What cannot be read is not there.
        let _ = file.read_to_end(&mut text);
    }
    // SAFETY: there is one thread.
    unsafe { std::env::remove_var(MARK) };
    for one in text.split(|byte| *byte == 0) {
        let Some(at) = one.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else { continue };
        let (name, value) = one.split_at(at);
        let value = OsString::from_vec(value.get(1..).unwrap_or_default().to_vec());
        // SAFETY: there is one thread.
        unsafe { std::env::set_var(OsStr::from_bytes(name), value) };
    }
}

/// The file behind the descriptor, if it is the one that was left.
fn file(number: &OsStr) -> Option<File> {
    let number: RawFd = number.to_str()?.parse().ok()?;
    let name = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
    if !name.to_str()?.starts_with(&format!("/memfd:{NAME}")) {
        return None;
    }
    // SAFETY: it is open, and nobody but the program before this one has made it.
    Some(File::from(unsafe { OwnedFd::from_raw_fd(number) }))
}

/// Parts of names that stand for keys and passwords.
const PARTS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "PWD", "AUTH", "CRED", "PAT", "COOKIE", "JWT"];
/// Names with such a part that hold none.
const HARMLESS: &[&str] = &["PWD", "OLDPWD", "PATH", "SSH_AUTH_SOCK", "XAUTHORITY"];
/// So many letters and digits in a row are no word.
const LONG: usize = 20;

/// Whether it may be a key. One too many costs a thousandth of a second.
fn looks_like_a_key(name: &OsStr, value: &OsStr) -> bool {
    let upper = name.to_string_lossy().to_ascii_uppercase();
    if value.is_empty() || HARMLESS.contains(&upper.as_str()) || upper.ends_with("PATH") {
        return false;
    }
    let part =
        |part: &str| PARTS.contains(&part) || ["KEY", "TOKEN", "SECRET", "PASS"].iter().any(|end| part.ends_with(end));
    let named = upper.split('_').any(part) || upper.contains("PASSW") || upper.contains("CREDENTIAL");
    named
        || is_opaque(value.as_bytes())
        || memchr::memmem::find(value.as_bytes(), b"://")
            .is_some_and(|at| value.as_bytes().get(at..).unwrap_or_default().contains(&b'@'))
}

/// Letters and digits in a row, both of them, and no path.
fn is_opaque(value: &[u8]) -> bool {
    let words = value.split(|byte| !(byte.is_ascii_alphanumeric() || b"-_+=".contains(byte)));
    let has = |word: &[u8], kind: fn(&u8) -> bool| word.iter().any(kind);
    !value.starts_with(b"/")
        && words
            .filter(|word| word.len() >= LONG)
            .any(|word| has(word, u8::is_ascii_digit) && has(word, u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_name_or_by_look_and_what_every_shell_sets_is_none() {
        for (name, value, is_key) in [
            ("ANTHROPIC_API_KEY", "x", true),
            ("OPENAI_API_KEY", "", false),
            ("GITHUB_TOKEN", "x", true),
            ("npm_config__authToken", "x", true),
            ("MYSQL_PWD", "x", true),
            ("ACME", "sk-ant-0123456789abcdef", true),
            ("DATABASE_URL", "postgres://u:p@host/db", true),
            ("PATH", "/usr/bin:/bin", false),
            ("PWD", "/home/u", false),
            ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXXX0123456789abcdef/agent.1", false),
            ("LANG", "en_US.UTF-8", false),
            ("TERM", "xterm-256color", false),
            ("HOME", "/home/u", false),
            ("KEYBOARD", "us", false),
            ("COMPASS", "x", true),
            ("XDG_DATA_DIRS", "/usr/share/ubuntu:/usr/local/share", false),
        ] {
            assert_eq!(looks_like_a_key(OsStr::new(name), OsStr::new(value)), is_key, "{name}");
        }
    }

    #[test]
    fn only_the_file_that_was_left_is_read() {
        for number in ["0", "-1", "x", "99999"] {
            assert!(file(OsStr::new(number)).is_none(), "{number}");
        }
    }
}
