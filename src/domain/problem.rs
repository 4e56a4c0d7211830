//! Problem in a file of the user's, with its place and the advice. The reader of the file goes on
//! without that part: a problem is reported, and nothing fails.

use super::notice::{Level, Notice};
use std::fmt;
use std::path::{Path, PathBuf};

/// Problem in a file of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; `None` when it is about the whole file.
    pub line: Option<usize>,
    /// The problem: a sentence, or a part of one without its end.
    pub text: String,
    /// Advice; may be empty.
    pub fix: String,
}

impl Problem {
    /// One that is about the whole file.
    pub fn whole(path: impl AsRef<Path>, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.as_ref().to_owned(), line: None, text: text.into(), fix: fix.into() }
    }

    /// The problem as a warning to the user.
    #[must_use]
    pub fn notice(&self) -> Notice {
        Notice::new(Level::Warning, format!("{}: {}", self.place(), self.text)).hint(self.fix.clone())
    }

    fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.text)?;
        match (self.fix.is_empty(), self.text.ends_with('.')) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {}", self.fix),
            (false, false) => write!(f, "; {}", self.fix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_text_and_fix_are_told() {
        let mut problem = Problem::whole("config.toml", "It is not UTF-8.", "Save it as UTF-8.");
        assert_eq!(problem.to_string(), "config.toml: It is not UTF-8. Save it as UTF-8.");
        let notice = problem.notice();
        assert_eq!(
            (notice.text.as_str(), notice.hint.as_str()),
            ("config.toml: It is not UTF-8.", "Save it as UTF-8.")
        );
        problem = Problem { line: Some(3), text: "it is odd".into(), fix: "mend it".into(), ..problem };
        assert_eq!(problem.to_string(), "config.toml:3: it is odd; mend it");
        problem.fix.clear();
        assert_eq!(problem.to_string(), "config.toml:3: it is odd");
    }
}
