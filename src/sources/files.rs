//! Files of sources: the folders `sources/SLUG` of a workspace, and the `.mcp.json` of a project. Blocks.

use super::config::{SourceConfig, craft_source, project_servers};
use super::permissions::SourcePermissions;
use crate::domain::problem::Problem;
use crate::sandbox::plain_file;
use std::path::{Path, PathBuf};

/// Name of a project's file.
pub const PROJECT: &str = ".mcp.json";
/// Bytes of one file.
const LONGEST: u64 = 256 * 1024;
/// Characters of a guide that a model gets.
const LONGEST_GUIDE: usize = 8_000;
/// Sources of one workspace.
const MOST: usize = 100;

/// Sources of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceList {
    /// Sources, by name; those of the workspace before those of the project.
    pub sources: Vec<SourceConfig>,
    /// Problems of the files.
    pub problems: Vec<Problem>,
}

impl SourceList {
    /// The source of that name.
    #[must_use]
    pub fn find(&self, slug: &str) -> Option<&SourceConfig> {
        self.sources.iter().find(|one| one.slug == slug)
    }

    /// Adds sources of a project. A name that is taken is left out: nobody takes the place of the user's own.
    pub fn add(&mut self, more: Vec<SourceConfig>) {
        for source in more {
            match self.find(&source.slug) {
                Some(known) => {
                    let text = format!("Server {} left out: {} has that name.", source.slug, known.file.display());
                    self.problems.push(Problem::whole(&source.file, text, "Rename one of them."));
                }
                None => self.sources.push(source),
            }
        }
    }
}

/// Reads the sources of a workspace. `trusted` says for each file, by its path and text, if it counts.
#[must_use]
pub fn of_workspace(workspace: &Path, trusted: &dyn Fn(&Path, &str) -> bool) -> SourceList {
    let mut out = SourceList::default();
    for folder in folders(workspace) {
        let file = folder.join("config.json");
        let Some(text) = text_of(&file, &mut out.problems) else { continue };
        match craft_source(&file, &text) {
            Err(problem) => out.problems.push(problem),
            Ok(mut source) => {
                source.trusted = trusted(&file, &text);
                let rules = folder.join("permissions.json");
                if let Some(text) = text_of(&rules, &mut out.problems).filter(|text| trusted(&rules, text)) {
                    let (permissions, problems) = SourcePermissions::parse(&rules, &text);
                    source.permissions = permissions;
                    out.problems.extend(problems);
                }
                let guide = folder.join("guide.md");
                // A model takes it for the user's words.
                let text = text_of(&guide, &mut out.problems).filter(|text| trusted(&guide, text));
                source.guide = text.map(|text| text.trim().chars().take(LONGEST_GUIDE).collect());
                source.guide = source.guide.filter(|text| !text.is_empty());
                out.sources.push(source);
            }
        }
    }
    out
}

/// Reads the servers of a project's file, none of them trusted.
#[must_use]
pub fn of_project(folder: &Path) -> SourceList {
    let file = folder.join(PROJECT);
    let mut problems = Vec::new();
    let Some(text) = text_of(&file, &mut problems) else { return SourceList { problems, ..SourceList::default() } };
    let (sources, problems) = project_servers(&file, &text);
    SourceList { sources, problems }
}

/// Text of a file. One that is there and is none is a problem.
fn text_of(file: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    let text = plain_file::text(file, LONGEST);
    if text.is_none() && file.symlink_metadata().is_ok() {
        let what = format!("Not a plain text file of at most {} KB, ignored.", LONGEST / 1024);
        problems.push(Problem::whole(file, what, "Replace or remove it."));
    }
    text
}

/// Folders of a workspace's sources, by name. No link is followed.
#[must_use]
pub fn folders(workspace: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(workspace.join("sources")).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut out: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    out.sort();
    out.truncate(MOST);
    out
}
