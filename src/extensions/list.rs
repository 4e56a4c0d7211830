//! All extensions of a directory: those that can be used, and those that can't with the reason.

use super::folders::ExtensionPlaces;
use super::found::{AgentExtension, CommandExtension, Counts, SkillExtension, Unusable};
use super::{agents, commands, skills};
use crate::domain::problem::Problem;
use std::path::{Path, PathBuf};

/// Extensions of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionList {
    /// Skills, by name.
    pub skills: Vec<SkillExtension>,
    /// Agents, by name.
    pub agents: Vec<AgentExtension>,
    /// Commands, by name.
    pub commands: Vec<CommandExtension>,
    /// Those that can't be used.
    pub unusable: Vec<Unusable>,
    /// Folders of the skills that can be used, and files of such agents and commands, each link followed. A folder that holds the
    /// home directory is none that is opened.
    pub usable_places: Vec<PathBuf>,
}

impl ExtensionList {
    /// Reads all of them. `reserved`: names of commands that stay lisle's. `counts` is asked about files of others.
    #[must_use]
    pub fn read(places: &ExtensionPlaces, reserved: &[&str], counts: &Counts<'_>) -> Self {
        let mut out = Self::default();
        let mut unusable = Vec::new();
        out.skills = skills::read(&places.folders("skills"), counts, &mut unusable);
        out.agents = agents::read(&places.folders("agents"), counts, &mut unusable);
        out.commands = commands::read(&places.folders("commands"), reserved, counts, &mut unusable);
        out.unusable = unusable;
        out.usable_places = out.places(places.home.as_deref());
        out
    }

    fn places(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let is_wide = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
        let skills = self.skills.iter().filter(|one| one.trusted).map(|one| one.content.folder.clone());
        let agents = self.agents.iter().filter(|one| one.trusted).map(|one| &one.file);
        let commands = self.commands.iter().filter(|one| one.trusted).map(|one| &one.file);
        let files = agents.chain(commands).filter_map(|file| file.canonicalize().ok());
        skills.filter(|folder| !is_wide(folder)).chain(files).collect()
    }

    /// The skill of that name that can be used.
    #[must_use]
    pub fn skill(&self, slug: &str) -> Option<&SkillExtension> {
        self.skills.iter().find(|one| one.slug == slug && one.trusted)
    }

    /// The agent of that name that can be used.
    #[must_use]
    pub fn agent(&self, slug: &str) -> Option<&AgentExtension> {
        self.agents.iter().find(|one| one.slug == slug && one.trusted)
    }

    /// The command of that name.
    #[must_use]
    pub fn command(&self, slug: &str) -> Option<&CommandExtension> {
        self.commands.iter().find(|one| one.slug == slug)
    }

    /// Problems of the files.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.unusable.iter().filter_map(|one| one.problem().cloned()).collect()
    }
}
