//! The files of rules as the engine sees them: what they come to for a session, and how they are changed.
//!
//! The [`RuleBook`] knows their paths and how to read them.

use super::machine_io::FileRules;
use crate::domain::paths;
use crate::domain::permission::Mode;
use crate::domain::problem::Problem;
use crate::domain::request::TrustRequest;
use crate::domain::rule::{PermissionsFile, Rule, RuleScope};
use crate::permit::{Ground, Rules};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of rules. Its calls read and write files: they belong off the async threads.
pub trait RuleBook: Send + Sync {
    /// Rules for this directory. The same value as before while no file changed.
    fn read(&self, cwd: &Path) -> Arc<Book>;

    /// Adds rules that are not there yet.
    ///
    /// # Errors
    /// A sentence that names the file and what to do.
    fn add(&self, scope: RuleScope, cwd: &Path, rules: &[Rule]) -> Result<(), String>;

    /// Takes a rule out; that it is not there is no error.
    ///
    /// # Errors
    /// A sentence that names the file and what to do.
    fn remove(&self, scope: RuleScope, cwd: &Path, rule: &Rule) -> Result<(), String>;

    /// Remembers that the user trusts this.
    ///
    /// # Errors
    /// A sentence that says why not, also when it is no longer what was shown.
    fn trust(&self, request: &TrustRequest) -> Result<(), String>;

    /// The workspace is our own, or the user trusts it.
    fn trusts_workspace(&self) -> bool;
}

/// Rules of the files for one directory.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Rules with their files; untrusted ones are reduced to those that make things stricter.
    pub files: Vec<(RuleScope, PathBuf, PermissionsFile)>,
    /// Files that are not trusted.
    pub untrusted: Vec<TrustRequest>,
    /// Problems of the files.
    pub problems: Vec<Problem>,
    /// The working directory as it is named and with its links followed.
    pub here: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The workspace is our own, or trusted.
    pub trusted: bool,
}

impl Book {
    /// The rules for a machine.
    #[must_use]
    pub fn file_rules(&self) -> FileRules {
        let mut rules = Rules::new(Ground { here: self.here.clone(), home: self.home.clone() });
        if self.trusted {
            rules.scopes.push(RuleScope::Workspace);
        }
        for (scope, file, written) in &self.files {
            rules.add(written, *scope, file);
        }
        let unfit = self.here.iter().any(|here| paths::unfit(here, self.home.as_deref()).is_some());
        let loosest = if self.trusted && !unfit { Mode::Execute } else { Mode::Ask };
        FileRules { rules, loosest, untrusted: self.untrusted.clone() }
    }
}
