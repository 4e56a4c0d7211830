//! A text in the user's editor: a file that only the user can read, the program, and what was saved.
//!
//! The terminal is given back before and taken again afterwards by `effects`.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Why there is no edited text.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file for the editor.
    #[error("the text could not be handed to the editor in {path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The editor did not start.
    #[error("the editor {editor:?} did not start: {source}; set $EDITOR to one that is installed")]
    Start {
        /// What was tried.
        editor: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The editor ended with an error, which says that the text is not wanted (`:cq` in vim).
    #[error("the editor {editor:?} ended with {status}; the text was left as it was")]
    Refused {
        /// What was run.
        editor: String,
        /// How it ended.
        status: std::process::ExitStatus,
    },
}

/// The editor's command, with arguments as the user wrote them: $VISUAL, $EDITOR, else vi.
#[must_use]
pub fn command(env: &dyn Fn(&str) -> Option<String>) -> String {
    let set = |name| env(name).filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// The pager's command: $PAGER, else the user's editor, else less.
#[must_use]
pub fn pager(env: &dyn Fn(&str) -> Option<String>) -> String {
    let set = |name| env(name).filter(|value| !value.trim().is_empty());
    set("PAGER").or_else(|| set("VISUAL")).or_else(|| set("EDITOR")).unwrap_or_else(|| "less".to_owned())
}

/// A folder of its own, so that what the editor leaves beside the file goes with it.
struct Desk {
    folder: PathBuf,
    file: PathBuf,
}

impl Desk {
    fn lay(parent: &Path, text: &str) -> Result<Self, EditError> {
        let folder = parent.join(format!("lisle-{}-{:016x}", std::process::id(), fastrand::u64(..)));
        let file = folder.join("message.md");
        let at = |source| EditError::File { path: file.clone(), source };
        DirBuilder::new().mode(0o700).create(&folder).map_err(at)?;
        let desk = Self { folder, file: file.clone() };
        let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).map_err(at)?;
        open.write_all(text.as_bytes()).map_err(at)?;
        Ok(desk)
    }
}

impl Drop for Desk {
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
    let desk = Desk::lay(parent, text)?;
    let start = |source| EditError::Start { editor: editor.to_owned(), source };
    let input = if io::stdin().is_terminal() {
        Stdio::inherit()
    } else {
        // Keys come from the terminal although our input does not.
        File::open("/dev/tty").map_or_else(|_| Stdio::null(), Stdio::from)
    };
    let mut child = Command::new("/bin/sh");
    child.args(["-c", &format!("{editor} \"$1\""), "lisle"]).arg(&desk.file).stdin(input).kill_on_drop(true);
    let status = child.status().await.map_err(start)?;
    match status.code() {
        Some(0) => {}
        // The shell's way to say that there is no such program.
        Some(126 | 127) => return Err(start(io::ErrorKind::NotFound.into())),
        _ => return Err(EditError::Refused { editor: editor.to_owned(), status }),
    }
    let mut saved =
        std::fs::read_to_string(&desk.file).map_err(|source| EditError::File { path: desk.file.clone(), source })?;
    if saved.ends_with('\n') && !text.ends_with('\n') {
        saved.pop();
    }
    Ok(saved)
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
