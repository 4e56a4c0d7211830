//! Cache of the terminal's answers, so that the first frame need not wait for them: `state/terminal.json`.
//!
//! A cache: a file that is missing or unreadable means that nothing is known. One entry for each TERM and TERM_PROGRAM.

use super::graphics::way::Able;
use super::input::answer::Rgb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Number of kinds of terminals that are remembered.
const MOST: usize = 64;

/// The answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TerminalAnswers {
    /// The background: red, green, blue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<(u8, u8, u8)>,
    /// It has synchronized output.
    pub synchronized: bool,
    /// It draws signs of ambiguous width over two cells.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wide_signs: bool,
    /// It draws joined signs (families) one by one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub split_signs: bool,
    /// Picture abilities.
    pub pictures: Able,
}

impl TerminalAnswers {
    /// Its background is dark; `None` when it never said.
    #[must_use]
    pub fn dark(&self) -> Option<bool> {
        self.background.map(|(r, g, b)| !Rgb(r, g, b).is_light())
    }
}

/// The file and which entry of it is ours.
#[derive(Clone, Debug)]
pub struct TerminalCache {
    path: PathBuf,
    terminal: String,
}

impl TerminalCache {
    /// The memory in `state_dir` for a terminal of these names.
    #[must_use]
    pub fn of(state_dir: &Path, term: &str, program: &str) -> Self {
        Self { path: state_dir.join("terminal.json"), terminal: format!("{term} {program}").trim().to_owned() }
    }

    /// Cached answers; empty for a terminal that was never seen.
    #[must_use]
    pub fn recall(&self) -> TerminalAnswers {
        self.read().remove(&self.terminal).unwrap_or_default()
    }

    /// Keeps what is known. Another lisle may do the same at the same time: the last one wins, and no file is half written.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, known: TerminalAnswers) -> io::Result<()> {
        let mut all = self.read();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(self.terminal.clone(), known);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let new = folder.join(format!(".terminal.json.{}", std::process::id()));
        let mut file = fs::File::create(&new)?;
        file.write_all(serde_json::to_string_pretty(&all)?.as_bytes())?;
        drop(file);
        fs::rename(&new, &self.path).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }

    fn read(&self) -> BTreeMap<String, TerminalAnswers> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::graphics::way::TerminalProgram;

    #[test]
    fn each_terminal_is_remembered_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (one, other) =
            (TerminalCache::of(&state, "xterm-256color", "WezTerm"), TerminalCache::of(&state, "foot", ""));
        assert_eq!(one.recall(), TerminalAnswers::default());
        let pictures = Able { kitty: true, sixel: false, cell: Some((10, 20)), program: Some(TerminalProgram::Kitty) };
        let light = TerminalAnswers {
            background: Some((255, 255, 255)),
            synchronized: true,
            pictures,
            ..TerminalAnswers::default()
        };
        let dark = TerminalAnswers { background: Some((0, 0, 0)), ..TerminalAnswers::default() };
        one.keep(light).unwrap();
        other.keep(dark).unwrap();
        assert_eq!((one.recall(), other.recall()), (light, dark));
        assert_eq!((light.dark(), dark.dark(), TerminalAnswers::default().dark()), (Some(false), Some(true), None));
    }

    #[test]
    fn a_broken_file_is_nothing_known_and_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("terminal.json"), "{ not json").unwrap();
        let memory = TerminalCache::of(dir.path(), "xterm", "");
        assert_eq!(memory.recall(), TerminalAnswers::default());
        memory.keep(TerminalAnswers { synchronized: true, ..TerminalAnswers::default() }).unwrap();
        assert!(memory.recall().synchronized);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
