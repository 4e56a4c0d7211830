//! Keys in lisle's own environment, out of sight of other programs.
//!
//! `/proc/PID/environ` shows the memory in which a program was given its variables, for as long as it runs and whatever it
//! removes later; that lisle is closed to others does not hold root back. So the values of what looks like a key are moved:
//! the variable is set anew, in memory that is shown nowhere, and the place where it came is overwritten.

#![allow(unsafe_code, reason = "the memory in which variables come has no safe form, nor has setting them")]

use crate::domain::secret::is_secret_name;
use std::ffi::{CStr, OsStr, OsString, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

unsafe extern "C" {
    /// The variables as they came, up to a null.
    static mut environ: *mut *mut c_char;
}

/// Takes keys out of the environment that others see.
///
/// To be called before the first thread and before a variable is set.
pub fn hide() {
    let mut moved: Vec<(OsString, OsString)> = Vec::new();
    // SAFETY: there is one thread, and until a variable is set the list and the texts are those that the kernel has laid on
    // the stack: each ends with a zero and can be written. Only the bytes between the sign and that zero are.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(at) = text.iter().position(|byte| *byte == b'=') {
                let (name, value) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
                if looks_like_a_key(OsStr::from_bytes(name), OsStr::from_bytes(value)) {
                    moved.push((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())));
                    let length = value.len();
                    (*entry).add(at + 1).write_bytes(0, length);
                }
            }
            entry = entry.add(1);
        }
        for (name, value) in moved {
            std::env::set_var(name, value);
        }
    }
}

/// Overwrites the arguments of this process, which every other one can read, up to the word that says what it is: they name
/// all the places of a profile. Nothing happens where the system does not say where they lie.
pub(in crate::sandbox) fn hide_arguments() {
    /// Of `/proc/PID/stat`, counted from the one behind the name.
    const BEGIN: usize = 45;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(") ") else { return };
    let mut numbers = fields.split(' ').skip(BEGIN).map(|field| field.trim().parse::<usize>().unwrap_or_default());
    let (Some(begin), Some(end)) = (numbers.next(), numbers.next()) else { return };
    if begin == 0 || end <= begin {
        return;
    }
    let mut words = 0;
    for at in begin..end {
        let byte = std::ptr::with_exposed_provenance_mut::<u8>(at);
        // SAFETY: the kernel has laid the arguments there on the stack, where they stay as long as the process; they can be
        // written, and nobody holds them: what is used of them was copied at the start.
        unsafe {
            if words >= 2 {
                byte.write_volatile(0);
            } else if byte.read_volatile() == 0 {
                words += 1;
            }
        }
    }
}

/// Variables that every session of a desktop or shell has, and that hold no key.
const HARMLESS: &[&str] = &["SSH_AUTH_SOCK", "XAUTHORITY"];
/// Length of a run of letters and digits that is no word.
const LONG: usize = 20;

/// True if it may be a key. A false positive does no harm. Values are judged without patterns: this delays every start.
fn looks_like_a_key(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.as_bytes());
    let has_login =
        memchr::memmem::find(value, b"://").is_some_and(|at| value.get(at..).unwrap_or_default().contains(&b'@'));
    !value.is_empty() && !HARMLESS.contains(&&*name) && (is_secret_name(&name) || has_login || is_opaque(value))
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
            ("COMPASS", "x", false),
            ("XDG_DATA_DIRS", "/usr/share/ubuntu:/usr/local/share", false),
        ] {
            assert_eq!(looks_like_a_key(OsStr::new(name), OsStr::new(value)), is_key, "{name}");
        }
    }
}
