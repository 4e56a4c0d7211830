//! A text in the user's editor: a file that only the user can read, the program, and what was saved.
//!
//! The terminal is given back before and taken again afterwards by `effects`.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Error of an edit.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file for the editor.
    #[error("can't write the editor's file {path}: {source}")]
    File {
        /// File.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// There is no terminal for the usual editor.
    #[error("no terminal for an editor; set $EDITOR to one that needs none")]
    NoTerminal,
    /// The editor did not start.
    #[error("can't start editor {editor:?}: {source}; set $EDITOR to an installed editor")]
    Start {
        /// Editor command that was tried.
        editor: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The editor ended with an error, which says that the text is not wanted (`:cq` in vim).
    #[error("editor {editor:?} exited with {status}; text unchanged")]
    Refused {
        /// Editor command that ran.
        editor: String,
        /// Its exit status.
        status: std::process::ExitStatus,
    },
}

/// The editor's command, with arguments as the user wrote them: $VISUAL, $EDITOR, else vi.
#[must_use]
pub fn command(env: &dyn Fn(&str) -> Option<String>) -> String {
    let set = |name| env(name).filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// The editor's command for a process that may have no terminal.
///
/// # Errors
/// When there is no terminal, and the user named no editor that may do without.
pub fn command_without_screen(env: &dyn Fn(&str) -> Option<String>) -> Result<String, EditError> {
    let is_named = ["VISUAL", "EDITOR"].iter().any(|name| env(name).is_some_and(|value| !value.trim().is_empty()));
    let has_keys = io::stdin().is_terminal() || File::open("/dev/tty").is_ok();
    if is_named || (has_keys && io::stdout().is_terminal()) { Ok(command(env)) } else { Err(EditError::NoTerminal) }
}

/// The pager's command: $PAGER, else the user's editor, else less.
#[must_use]
pub fn pager(env: &dyn Fn(&str) -> Option<String>) -> String {
    let set = |name| env(name).filter(|value| !value.trim().is_empty());
    set("PAGER").or_else(|| set("VISUAL")).or_else(|| set("EDITOR")).unwrap_or_else(|| "less".to_owned())
}

/// A folder of its own, so that what the editor leaves beside the file goes with it.
struct ScratchFile {
    folder: PathBuf,
    file: PathBuf,
}

impl ScratchFile {
    fn lay(parent: &Path, name: &str, text: &str) -> Result<Self, EditError> {
        let folder = parent.join(format!("lisle-{}-{:016x}", std::process::id(), fastrand::u64(..)));
        let file = folder.join(name);
        let at = |source| EditError::File { path: file.clone(), source };
        DirBuilder::new().mode(0o700).create(&folder).map_err(at)?;
        let scratch = Self { folder, file: file.clone() };
        let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).map_err(at)?;
        open.write_all(text.as_bytes()).map_err(at)?;
        Ok(scratch)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Opens `text` in `editor` (a shell command that gets the file as its last argument) and gives what was saved. The line
/// end that editors add is taken off.
///
/// # Errors
/// [`EditError`]; the text is then as it was.
pub async fn edit(editor: &str, parent: &Path, text: &str) -> Result<String, EditError> {
    edit_as(editor, parent, "message.md", text).await
}

/// The same in a file of this name.
///
/// # Errors
/// As [`edit`].
pub async fn edit_as(editor: &str, parent: &Path, name: &str, text: &str) -> Result<String, EditError> {
    let scratch = ScratchFile::lay(parent, name, text)?;
    run(editor, &[scratch.file.as_os_str()]).await?;
    let mut saved = std::fs::read_to_string(&scratch.file)
        .map_err(|source| EditError::File { path: scratch.file.clone(), source })?;
    if saved.ends_with('\n') && !text.ends_with('\n') {
        saved.pop();
    }
    Ok(saved)
}

/// Opens a file of the user's in `editor`, at a line (from 1) where the editor is known to take one.
///
/// # Errors
/// When the editor does not start, or ends with an error.
pub async fn open_file(editor: &str, file: &Path, line: Option<u32>) -> Result<(), EditError> {
    let args = at_line(editor, file, line);
    run(editor, &args.iter().map(OsString::as_os_str).collect::<Vec<_>>()).await
}

/// The arguments with which an editor opens a file at a line. Most take `+42` before the file, as vi does.
fn at_line(editor: &str, file: &Path, line: Option<u32>) -> Vec<OsString> {
    let Some(line) = line else { return vec![file.into()] };
    let program = editor.split_whitespace().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let mut placed = file.as_os_str().to_owned();
    placed.push(format!(":{line}"));
    match program {
        "code" | "code-insiders" | "codium" | "vscodium" | "cursor" | "windsurf" => vec!["--goto".into(), placed],
        "hx" | "helix" | "zed" | "zeditor" | "subl" | "sublime_text" => vec![placed],
        "idea" | "pycharm" | "goland" | "rustrover" | "webstorm" | "clion" | "kate" => {
            vec!["--line".into(), line.to_string().into(), file.into()]
        }
        _ => vec![format!("+{line}").into(), file.into()],
    }
}

/// Runs `editor`, a shell command, with these arguments behind it.
async fn run(editor: &str, args: &[&OsStr]) -> Result<(), EditError> {
    let start = |source| EditError::Start { editor: editor.to_owned(), source };
    let input = if io::stdin().is_terminal() {
        Stdio::inherit()
    } else {
        // Keys come from the terminal although our input does not.
        File::open("/dev/tty").map_or_else(|_| Stdio::null(), Stdio::from)
    };
    let mut child = Command::new("/bin/sh");
    child.args(["-c", &format!("{editor} \"$@\""), "lisle"]).args(args).stdin(input).kill_on_drop(true);
    let status = child.status().await.map_err(start)?;
    match status.code() {
        Some(0) => Ok(()),
        // The shell's way to say that there is no such program.
        Some(126 | 127) => Err(start(io::ErrorKind::NotFound.into())),
        _ => Err(EditError::Refused { editor: editor.to_owned(), status }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_goes_before_editor() {
        let env = |visual: &str, editor: &str| {
            let (visual, editor) = (visual.to_owned(), editor.to_owned());
            command(&move |name| match name {
                "VISUAL" => Some(visual.clone()),
                "EDITOR" => Some(editor.clone()),
                _ => None,
            })
        };
        assert_eq!(env("code --wait", "nano"), "code --wait");
        assert_eq!(env(" ", "nano -w"), "nano -w");
        assert_eq!(command(&|_| None), "vi");
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_way() {
        for (editor, want) in [
            ("vi", vec!["+42", "/w/a b.rs"]),
            ("/usr/bin/nano -w", vec!["+42", "/w/a b.rs"]),
            ("emacsclient -t", vec!["+42", "/w/a b.rs"]),
            ("code --wait", vec!["--goto", "/w/a b.rs:42"]),
            ("hx", vec!["/w/a b.rs:42"]),
            ("zed --wait", vec!["/w/a b.rs:42"]),
            ("idea", vec!["--line", "42", "/w/a b.rs"]),
        ] {
            assert_eq!(at_line(editor, Path::new("/w/a b.rs"), Some(42)), want, "{editor}");
            assert_eq!(at_line(editor, Path::new("/w/a b.rs"), None), ["/w/a b.rs"], "{editor}");
        }
    }

    #[tokio::test]
    async fn a_file_is_opened_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("it's a file.rs");
        std::fs::write(&file, "").unwrap();
        let write = "f() { printf '%s|' \"$1\" > \"$2\"; }; f";
        open_file(write, &file, Some(7)).await.unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "+7|");
        assert!(matches!(open_file("/no/such/editor", &file, None).await, Err(EditError::Start { .. })));
    }

    #[tokio::test]
    async fn what_the_editor_saves_comes_back_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let append = "f() { printf ' more\\n' >> \"$1\"; }; f";
        assert_eq!(edit(append, dir.path(), "text").await.unwrap(), "text more");
        assert_eq!(edit("true", dir.path(), "as it was\n").await.unwrap(), "as it was\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn only_the_user_can_read_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let look = "f() { stat -c '%a' \"$1\" \"$(dirname \"$1\")\" > \"$1.new\"; mv \"$1.new\" \"$1\"; }; f";
        assert_eq!(edit(look, dir.path(), "secret").await.unwrap(), "600\n700");
    }

    #[tokio::test]
    async fn an_editor_that_fails_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(edit("false", dir.path(), "").await, Err(EditError::Refused { .. })));
        assert!(matches!(edit("/no/such/editor", dir.path(), "").await, Err(EditError::Start { .. })));
        let nowhere = dir.path().join("missing");
        assert!(matches!(edit("true", &nowhere, "").await, Err(EditError::File { .. })));
    }
}
