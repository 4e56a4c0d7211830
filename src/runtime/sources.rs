//! The files of sources of one workspace, as far as they are trusted: its own folder `sources/`, and the `.mcp.json` of the
//! project.
//!
//! Nobody but lisle's user writes the workspaces in lisle's data folder. Every other file counts by its bytes: a pull may
//! bring another one.

use super::rules::{Places, WorkspaceOrigin, repository};
use crate::agent::SourceBook;
use crate::config::trust::Trusted;
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::sandbox::plain_file;
use crate::sandbox::runner::named_keys;
use crate::sources::files::{self, PROJECT};
use crate::sources::{Launch, SourceConfig, SourceList};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Bytes of a file that can be trusted.
const LONGEST: u64 = 256 * 1024;

/// The files of sources of one workspace.
#[derive(Clone, Debug)]
pub struct SourceFiles {
    config: PathBuf,
    workspace: PathBuf,
    origin: WorkspaceOrigin,
}

impl SourceFiles {
    pub(super) fn new(places: &Places) -> Self {
        Self { config: places.config.clone(), workspace: places.workspace.clone(), origin: places.origin }
    }

    /// Files that count by their bytes, whether or not they exist.
    pub(super) fn files(&self, cwd: &Path) -> Vec<PathBuf> {
        let mut out = vec![repository(cwd).join(PROJECT)];
        if self.origin != WorkspaceOrigin::DataFolder {
            let folders = files::folders(&self.workspace);
            let names = ["config.json", "permissions.json", "guide.md"];
            out.extend(folders.iter().flat_map(|folder| names.map(|name| folder.join(name))));
        }
        out
    }

    /// Requests for trust in those that would start something, or let it be called in Explore.
    pub(super) fn requests(&self, cwd: &Path, trusted: &Trusted) -> Vec<TrustRequest> {
        let list = self.list(cwd, trusted);
        let of_sources = list.sources.iter().filter(|source| !matches!(source.launch, Launch::Unsupported(_)));
        let mut paths: Vec<PathBuf> = Vec::new();
        for source in of_sources {
            paths.push(source.file.clone());
            if source.file.file_name().is_some_and(|name| name != PROJECT) {
                let beside = ["permissions.json", "guide.md"];
                paths.extend(source.file.parent().iter().flat_map(|folder| beside.map(|name| folder.join(name))));
            }
        }
        // A workspace of another program is trusted as a whole before its sources are asked about.
        if self.origin == WorkspaceOrigin::Foreign && !trusted.workspace(&self.workspace) {
            paths.retain(|path| !path.starts_with(&self.workspace));
        }
        paths.dedup();
        if self.origin == WorkspaceOrigin::DataFolder {
            paths.retain(|path| !path.starts_with(&self.workspace));
        }
        let starts = |path: &Path| {
            let of_file = list.sources.iter().filter(|source| source.file == path);
            of_file.map(start).collect::<Vec<String>>()
        };
        let asked = |path: &PathBuf| {
            let request = trusted.asks_of_sources(path, &plain_file::text(path, LONGEST)?)?;
            Some(TrustRequest { starts: starts(path), ..request })
        };
        paths.iter().filter_map(asked).collect()
    }

    /// Text of a file that is to be trusted; `None` if it is not the one that was shown.
    pub(super) fn text_of(&self, request: &TrustRequest) -> Option<String> {
        let text = plain_file::text(&request.path, LONGEST)?;
        let now = Trusted::default().asks_of_sources(&request.path, &text)?;
        (request.what == TrustWhat::Sources && now.hash == request.hash).then_some(text)
    }

    /// Sources of a directory.
    #[must_use]
    pub fn list(&self, cwd: &Path, trusted: &Trusted) -> SourceList {
        let is_ours = match self.origin {
            WorkspaceOrigin::DataFolder => true,
            WorkspaceOrigin::Elsewhere => false,
            // Its files count by their bytes as well once it is trusted.
            WorkspaceOrigin::Foreign => false,
        };
        let counts = |path: &Path, text: &str| {
            let of_workspace = self.origin != WorkspaceOrigin::Foreign || trusted.workspace(&self.workspace);
            is_ours || of_workspace && trusted.asks_of_sources(path, text).is_none()
        };
        let mut list = files::of_workspace(&self.workspace, &counts);
        let mut project = files::of_project(&repository(cwd));
        let file = repository(cwd).join(PROJECT);
        let text = plain_file::text(&file, LONGEST);
        let is_trusted = text.is_some_and(|text| trusted.asks_of_sources(&file, &text).is_none());
        project.sources.iter_mut().for_each(|source| source.trusted = is_trusted);
        list.problems.append(&mut project.problems);
        list.add(project.sources);
        // What one of them is given no command gets, nor another one of them.
        named_keys::withhold(list.sources.iter().filter(|one| one.trusted).flat_map(SourceConfig::variables));
        list
    }
}

/// A source in a line: what is started or asked, and what it is given.
fn start(source: &SourceConfig) -> String {
    let names: Vec<&str> = match &source.launch {
        Launch::Program { env, .. } => env.keys().map(String::as_str).collect(),
        Launch::Http { headers, .. } => headers.keys().map(String::as_str).collect(),
        Launch::Unsupported(_) => Vec::new(),
    };
    let mut out = format!("{}: {}", source.slug, source.target());
    let variables: Vec<String> =
        source.variables().into_iter().filter(|name| !names.contains(&name.as_str())).collect();
    for (what, all) in [
        ("with", names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()),
        ("from", variables),
        ("reads", source.readable.clone()),
        ("writes", source.writable.clone()),
    ] {
        if !all.is_empty() {
            let _ = write!(out, " \u{b7} {what} {}", all.join(", "));
        }
    }
    out
}

impl SourceBook for SourceFiles {
    fn read(&self, cwd: &Path) -> SourceList {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let (trusted, _) = Trusted::read(&self.config.join("trusted.toml"));
        self.list(&cwd, &trusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::RuleBook;
    use crate::runtime::rules::RuleFiles;

    struct Ground {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    fn ground() -> Ground {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for sub in ["config", "ws/sources/own", "repo/.git", "repo/src"] {
            std::fs::create_dir_all(root.join(sub)).unwrap();
        }
        Ground { _dir: dir, root }
    }

    fn rules(ground: &Ground, origin: WorkspaceOrigin) -> RuleFiles {
        let (config, workspace) = (ground.root.join("config"), ground.root.join("ws"));
        RuleFiles::new(Places { config, workspace, origin, home: None, given: Vec::new() })
    }

    const SERVERS: &str = r#"{"mcpServers": {"one": {"command": "true"}, "own": {"command": "other"}}}"#;
    const OWN: &str = r#"{"type": "mcp", "mcp": {"command": "true"}}"#;

    fn states(list: &SourceList) -> Vec<(String, bool)> {
        list.sources.iter().map(|source| (source.slug.clone(), source.trusted)).collect()
    }

    #[test]
    fn servers_of_a_project_are_off_until_these_bytes_are_trusted() {
        let ground = ground();
        let rules = rules(&ground, WorkspaceOrigin::DataFolder);
        let (file, cwd) = (ground.root.join("repo/.mcp.json"), ground.root.join("repo/src"));
        std::fs::write(&file, SERVERS).unwrap();
        std::fs::write(ground.root.join("ws/sources/own/config.json"), OWN).unwrap();
        let read = || rules.sources().read(&cwd);
        // The user's own keeps its name.
        assert_eq!(states(&read()), [("own".to_owned(), true), ("one".to_owned(), false)]);
        assert_eq!(read().problems.len(), 1);
        let book = rules.read(&cwd);
        let [asked] = &book.untrusted[..] else { panic!("{:?}", book.untrusted) };
        assert_eq!((asked.what, asked.text.as_str(), asked.changed), (TrustWhat::Sources, SERVERS, false));
        std::fs::write(&file, SERVERS.replace("true", "evil")).unwrap();
        assert!(rules.trust(asked).unwrap_err().contains("changed since it was shown"));
        std::fs::write(&file, SERVERS).unwrap();
        rules.trust(asked).unwrap();
        assert_eq!(states(&read())[1], ("one".to_owned(), true));
        assert!(rules.read(&cwd).untrusted.is_empty());
        // A change is off again, and asked about with the difference.
        std::fs::write(&file, SERVERS.replace("true", "evil")).unwrap();
        assert_eq!(states(&read())[1], ("one".to_owned(), false));
        let asked = &rules.read(&cwd).untrusted[0];
        assert!(asked.changed && asked.text.contains("evil") && asked.text.starts_with('-'), "{asked:?}");
    }

    #[test]
    fn sources_of_a_workspace_that_others_write_count_by_their_bytes() {
        for origin in [WorkspaceOrigin::Elsewhere, WorkspaceOrigin::Foreign] {
            let ground = ground();
            let rules = rules(&ground, origin);
            let cwd = ground.root.join("repo");
            std::fs::write(ground.root.join("ws/sources/own/config.json"), OWN).unwrap();
            let permissions = ground.root.join("ws/sources/own/permissions.json");
            std::fs::write(&permissions, r#"{"allowedMcpPatterns": ["read"]}"#).unwrap();
            let read = || rules.sources().read(&cwd);
            assert!(!read().sources[0].trusted && read().sources[0].permissions.read_only.is_empty());
            for _ in 0..4 {
                if let Some(asked) = rules.read(&cwd).untrusted.first() {
                    rules.trust(asked).unwrap();
                }
            }
            assert!(
                read().sources[0].trusted && read().sources[0].permissions.read_only.contains("read"),
                "{origin:?}"
            );
            std::fs::write(&permissions, r#"{"allowedMcpPatterns": ["delete"]}"#).unwrap();
            assert!(read().sources[0].permissions.read_only.is_empty());
            assert_eq!(rules.read(&cwd).untrusted.len(), 1);
        }
    }
}
