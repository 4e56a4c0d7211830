//! Histories on the disk: where each program keeps its sessions, and which files below a folder are some. Names and
//! sizes only; nothing is read but the list of a database. Links are not followed.

use super::database;
use super::programs::HistoryKind;
use crate::domain::sanitise;
use crate::store::format::layout;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Folders so far below the root are looked into.
const DEEPEST: usize = 10;
/// More files are not listed.
const MOST: usize = 500_000;

/// A session that can be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryItem {
    /// Its file or folder, or the database.
    pub path: PathBuf,
    /// Session in the database.
    pub session: Option<String>,
    /// The path is a folder.
    pub is_folder: bool,
    /// Size in bytes.
    pub bytes: u64,
}

/// Sessions below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histories {
    /// In the order of their names, which in most programs is that of their times.
    pub items: Vec<HistoryItem>,
    /// Sources that were passed over, with the reason.
    pub passed: Vec<(PathBuf, String)>,
}

impl Histories {
    /// Size of all in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    fn pass(&mut self, path: &Path, why: impl Into<String>) {
        self.passed.push((path.to_owned(), why.into()));
    }
}

impl HistoryKind {
    /// The folders or files where the program keeps its sessions. `env` gives a variable that is set.
    #[must_use]
    pub fn places(self, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
        let of = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let or = |name: &str, below: &str| of(name).unwrap_or_else(|| home.join(below));
        let config = || of("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        match self {
            Self::ClaudeCode => vec![or("CLAUDE_CONFIG_DIR", ".claude").join("projects")],
            Self::Codex => {
                let root = or("CODEX_HOME", ".codex");
                vec![root.join("sessions"), root.join("archived_sessions")]
            }
            Self::Gemini => {
                vec![of("GEMINI_CLI_HOME").unwrap_or_else(|| home.to_owned()).join(".gemini/tmp")]
            }
            Self::Opencode => {
                let root = or("XDG_DATA_HOME", ".local/share").join("opencode");
                vec![root.join("opencode.db"), root.join("storage/session")]
            }
            Self::Pi => vec![or("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions")],
            Self::Openclaw => {
                let fased = of("FASED_STATE_DIR").unwrap_or_else(|| home.join(".fased"));
                [or("OPENCLAW_STATE_DIR", ".openclaw"), fased].map(|root| root.join("agents")).to_vec()
            }
            Self::Aichat => vec![of("AICHAT_SESSIONS_DIR").unwrap_or_else(|| {
                of("AICHAT_CONFIG_DIR").unwrap_or_else(|| config().join("aichat")).join("sessions")
            })],
            Self::Fabric => vec![config().join("fabric/sessions")],
            Self::Craft => vec![or("CRAFT_CONFIG_DIR", ".craft-agent").join("workspaces")],
            Self::FabricAgents => vec![home.join(".fabric-agent/workspaces")],
        }
    }

    /// True if a file of this name in a folder of this name is a session's.
    fn has_file(self, name: &str, folder: &str) -> bool {
        let ends = |ending: &str| name.ends_with(ending);
        match self {
            Self::ClaudeCode => ends(".jsonl") && !is_subagent(name, folder),
            Self::Codex => ends(".jsonl") && name.starts_with("rollout-"),
            Self::Gemini => name.starts_with("session-") && (ends(".jsonl") || ends(".json")) && folder == "chats",
            Self::Opencode => is_database(name) || (name.starts_with("ses_") && ends(".json")),
            Self::Pi => ends(".jsonl"),
            Self::Openclaw => ends(".jsonl") && folder == "sessions" && !name.contains(".checkpoint."),
            Self::Aichat => ends(".yaml"),
            Self::Fabric => ends(".json"),
            Self::Craft | Self::FabricAgents => false,
        }
    }
}

/// True for the transcripts of Claude Code's subagents, which come with their main conversation.
fn is_subagent(name: &str, folder: &str) -> bool {
    folder == "subagents" || name.starts_with("agent-")
}

fn is_database(name: &str) -> bool {
    name.starts_with("opencode") && name.ends_with(".db")
}

/// Files beside sessions that are none.
const BESIDE: [&str; 9] = [
    "session_index.jsonl",
    "history.jsonl",
    "sessions.json",
    "projects.json",
    "logs.json",
    "settings.json",
    "auth.json",
    "config.json",
    "package.json",
];

/// True if a file may be a session's of some program.
fn may_be(name: &str, folder: &str) -> bool {
    let of_some = || HistoryKind::ALL.into_iter().any(|kind| kind.has_file(name, folder));
    !BESIDE.contains(&name) && !is_subagent(name, folder) && of_some()
}

/// Lists the sessions below a path: of one program, or of all where `kind` is `None`.
#[must_use]
pub fn histories(root: &Path, kind: Option<HistoryKind>) -> Histories {
    let mut found = Histories::default();
    match root.symlink_metadata() {
        // The root itself was named by somebody: a link there is meant.
        Ok(meta) if meta.is_symlink() => match root.canonicalize() {
            Ok(real) => walk(&real, kind, &mut found),
            Err(error) => found.pass(root, error.to_string()),
        },
        Ok(_) => walk(root, kind, &mut found),
        Err(error) => found.pass(root, error.to_string()),
    }
    // Those of a database stay in its order.
    found.items.sort_by(|a, b| a.path.cmp(&b.path));
    newest_of_threads(&mut found.items);
    found
}

/// Lists the sessions of one program in those of these places that are its own.
#[must_use]
pub fn histories_in(places: &[(HistoryKind, PathBuf)], kind: HistoryKind) -> Histories {
    let mut all = Histories::default();
    // A place that is not there is no source.
    for (_, place) in places.iter().filter(|(of, place)| *of == kind && place.symlink_metadata().is_ok()) {
        let found = histories(place, Some(kind));
        all.items.extend(found.items);
        all.passed.extend(found.passed);
    }
    // What a newer version took into its database stays in the older storage too.
    let stored: HashSet<String> = all.items.iter().filter_map(|item| item.session.clone()).collect();
    let stem = |item: &HistoryItem| item.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    all.items.retain(|item| item.session.is_some() || stem(item).is_none_or(|stem| !stored.contains(&stem)));
    all
}

fn walk(root: &Path, kind: Option<HistoryKind>, found: &mut Histories) {
    let mut folders = vec![(root.to_owned(), 0)];
    if root.is_file() {
        folders.clear();
        file(root, root.metadata().map_or(0, |meta| meta.len()), found);
    }
    while let Some((dir, depth)) = folders.pop() {
        if dir.join(layout::SESSION).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            let of_folders = matches!(kind, None | Some(HistoryKind::Craft | HistoryKind::FabricAgents));
            if of_folders {
                let bytes = dir.join(layout::SESSION).metadata().map_or(0, |meta| meta.len());
                found.items.push(HistoryItem { path: dir, session: None, is_folder: true, bytes });
            }
            continue;
        }
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                found.pass(&dir, error.to_string());
                continue;
            }
        };
        let folder = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let wanted = kind.map_or_else(|| may_be(&name, &folder), |kind| kind.has_file(&name, &folder));
            match entry.metadata() {
                Ok(meta) if meta.is_dir() && depth < DEEPEST => folders.push((path, depth + 1)),
                Ok(meta) if meta.is_file() && wanted && found.items.len() < MOST => file(&path, meta.len(), found),
                // Only one that leads to a folder, or to a file of the program, would have had sessions.
                Ok(meta) if meta.is_symlink() && (wanted || path.is_dir()) => {
                    found.pass(&path, "a symlink: not followed")
                }
                Ok(meta) if wanted && !meta.is_file() && !meta.is_dir() => {
                    found.pass(&path, "a pipe, socket or device: not read")
                }
                Ok(_) => {}
                Err(error) => found.pass(&path, error.to_string()),
            }
        }
    }
}

/// Lists a file, or the sessions in a database.
fn file(path: &Path, bytes: u64, found: &mut Histories) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !is_database(&name) {
        found.items.push(HistoryItem { path: path.to_owned(), session: None, is_folder: false, bytes });
        return;
    }
    match database::sessions(path) {
        Ok((sessions, below)) => {
            let item = |session: database::DatabaseSession| HistoryItem {
                path: path.to_owned(),
                session: Some(session.id),
                is_folder: false,
                bytes: session.bytes,
            };
            found.items.extend(sessions.into_iter().map(item));
            if below > 0 {
                found.pass(path, format!("subagent sessions not imported: {below}"));
            }
        }
        Err(error) => found.pass(path, error.to_string()),
    }
}

/// Of the files of one thread of Codex keeps the last: it leads to the others.
fn newest_of_threads(items: &mut Vec<HistoryItem>) {
    let thread = |item: &HistoryItem| -> Option<String> {
        let stem = item.path.file_stem().and_then(OsStr::to_str)?;
        // `rollout-2026-11-22T22-11-05-THREAD_SEGMENT`
        let rest = stem.strip_prefix("rollout-")?.get("2026-11-22T22-11-05-".len()..)?;
        Some(rest.split('_').next().unwrap_or(rest).to_owned())
    };
    let mut last: BTreeMap<String, (PathBuf, u64)> = BTreeMap::new();
    for item in items.iter() {
        if let Some(thread) = thread(item) {
            let bytes = last.get(&thread).map_or(0, |(_, bytes)| *bytes);
            last.insert(thread, (item.path.clone(), bytes + item.bytes));
        }
    }
    items.retain_mut(|item| match thread(item).and_then(|thread| last.get(&thread)) {
        Some((path, bytes)) => {
            item.bytes = *bytes;
            *path == item.path
        }
        None => true,
    });
}

impl HistoryItem {
    /// Its name for people, without what a terminal would take for a command.
    #[must_use]
    pub fn words(&self) -> String {
        let path = self.path.to_string_lossy();
        let words = self.session.as_ref().map_or_else(|| path.to_string(), |session| format!("{path} ({session})"));
        sanitise::clean_line(&words).into_owned()
    }
}
