//! Finds files for what is typed behind an `@`: a walk that obeys ignore rules, and a fuzzy match over what it has found.
//!
//! One thread does both by turns, so that nothing waits for a large tree: while it walks it answers with what it has, a
//! newer question ends the match of an older one, and what was found is forgotten after a minute without a question.

use crate::app::msg::{Found, Hit};
use ignore::Walk;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Rows of an answer.
const ROWS: usize = 40;
/// Paths that are looked through at the most.
const MOST: usize = 300_000;
/// Entries walked before it is looked whether something was asked.
const STEP: usize = 256;
/// Between two answers of one walk.
const BETWEEN: Duration = Duration::from_millis(60);
/// Age after which a result is stale and the folder is walked again.
const FRESH: Duration = Duration::from_secs(10);
/// Time without a question after which a result is dropped.
const IDLE: Duration = Duration::from_secs(60);

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileQuestion {
    /// Comes back with the answers.
    pub ticket: u64,
    /// Below this directory.
    pub root: PathBuf,
    /// Typed text.
    pub query: String,
    /// Only folders, of the one that the query is in.
    pub folders: bool,
}

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Finder {
    ask: Sender<FileQuestion>,
}

impl Finder {
    /// Starts it. Answers go to `tell`, which says `false` when nobody listens any more.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(tell: impl FnMut(Found) -> bool + Send + 'static) -> io::Result<Self> {
        let (ask, asked) = channel();
        let mut work = Work { asked, tell: Box::new(tell), tree: None, question: None, told: Instant::now() };
        std::thread::Builder::new().name("lisle-files".into()).spawn(move || work.run())?;
        Ok(Self { ask })
    }

    /// Asks; the answer to what was asked before does not come any more.
    pub fn ask(&self, question: FileQuestion) {
        // The thread is only gone when the loop is.
        let _ = self.ask.send(question);
    }
}

/// Result of walking a directory.
struct Tree {
    root: PathBuf,
    /// Relative, a folder with a `/` at its end.
    paths: Vec<Box<str>>,
    /// `None` when it has ended.
    walk: Option<Walk>,
    began: Instant,
}

struct Work {
    asked: Receiver<FileQuestion>,
    tell: Box<dyn FnMut(Found) -> bool + Send>,
    tree: Option<Tree>,
    question: Option<FileQuestion>,
    told: Instant,
}

impl Work {
    fn run(&mut self) {
        loop {
            let walking = self.tree.as_ref().is_some_and(|tree| tree.walk.is_some());
            let next = if walking {
                match self.asked.try_recv() {
                    Ok(question) => Some(question),
                    Err(std::sync::mpsc::TryRecvError::Empty) => None,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                }
            } else if self.tree.is_some() {
                match self.asked.recv_timeout(IDLE) {
                    Ok(question) => Some(question),
                    Err(RecvTimeoutError::Timeout) => {
                        self.tree = None;
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            } else {
                let Ok(question) = self.asked.recv() else { return };
                Some(question)
            };
            let going = match next {
                Some(question) => self.begin(question),
                None => self.walk_on(),
            };
            if !going {
                return;
            }
        }
    }

    /// Takes a question: the last of those that wait.
    fn begin(&mut self, question: FileQuestion) -> bool {
        let question = self.asked.try_iter().last().unwrap_or(question);
        if question.folders || leads_out(&question.query) {
            let found = Found { ticket: question.ticket, hits: listed(&question) };
            self.question = None;
            return (self.tell)(found);
        }
        let stale = |tree: &Tree| tree.root != question.root || (tree.walk.is_none() && tree.began.elapsed() > FRESH);
        if self.tree.as_ref().is_none_or(stale) {
            self.tree = Some(Tree {
                walk: Some(walk(&question.root)),
                root: question.root.clone(),
                paths: Vec::new(),
                began: Instant::now(),
            });
        }
        self.question = Some(question);
        self.answer()
    }

    fn walk_on(&mut self) -> bool {
        let Some(tree) = &mut self.tree else { return true };
        let Some(walk) = &mut tree.walk else { return true };
        let mut over = false;
        for _ in 0..STEP {
            match walk.next() {
                Some(Ok(entry)) => {
                    let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                    if let Ok(path) = entry.path().strip_prefix(&tree.root)
                        && let Some(path) = path.to_str().filter(|path| !path.is_empty())
                    {
                        tree.paths.push(if folder { format!("{path}/").into() } else { path.into() });
                    }
                }
                // What cannot be read has no files for us.
                Some(Err(_)) => {}
                None => over = true,
            }
            if over || tree.paths.len() >= MOST {
                over = true;
                break;
            }
        }
        if over {
            tree.walk = None;
        }
        if over || self.told.elapsed() > BETWEEN { self.answer() } else { true }
    }

    /// Tells the best of what was found so far. A newer question ends it.
    fn answer(&mut self) -> bool {
        let (Some(question), Some(tree)) = (&self.question, &self.tree) else { return true };
        let mut hits = best(&question.query, &tree.paths, &|| false);
        hits.truncate(ROWS);
        self.told = Instant::now();
        let ticket = question.ticket;
        (self.tell)(Found { ticket, hits })
    }
}

/// The walk of the tools.
fn walk(root: &Path) -> Walk {
    crate::tools::files::walk::below(root).build()
}

/// True if the typed path leads out of the directory.
fn leads_out(query: &str) -> bool {
    query.starts_with(['/', '~']) || query.starts_with("../") || query == ".."
}

/// The paths that match, best first; shorter ones before longer ones that match as well. All that are near where nothing
/// was typed.
fn best(query: &str, paths: &[Box<str>], stop: &dyn Fn() -> bool) -> Vec<Hit> {
    let hit = |path: &str, marks: Vec<usize>| Hit { path: path.to_owned(), folder: path.ends_with('/'), marks };
    if query.trim().is_empty() {
        let mut near: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
        near.sort_by_key(|path| (path.trim_end_matches('/').matches('/').count(), !path.ends_with('/'), *path));
        return near.into_iter().take(ROWS).map(|path| hit(path, Vec::new())).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, &str)> = Vec::new();
    for (n, path) in paths.iter().enumerate() {
        if n % 8_192 == 0 && stop() {
            break;
        }
        if let Some(score) = pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher) {
            found.push((score, path));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(b.1)));
    let mut marks = Vec::new();
    let marked = found.into_iter().take(ROWS).map(|(_, path)| {
        marks.clear();
        pattern.indices(Utf32Str::new(path, &mut buffer), &mut matcher, &mut marks);
        marks.sort_unstable();
        marks.dedup();
        hit(path, marks.iter().map(|mark| *mark as usize).collect())
    });
    marked.collect()
}

/// Entries of the typed folder that begin with its last part.
fn listed(question: &FileQuestion) -> Vec<Hit> {
    let typed = question.query.as_str();
    let (before, last) = typed.rsplit_once('/').map_or(("", typed), |(before, last)| (before, last));
    let shown = if typed.contains('/') { format!("{before}/") } else { String::new() };
    let home = std::env::home_dir();
    let folder = match (shown.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => question.root.join(&shown),
    };
    if typed == "~" || typed == ".." {
        return vec![Hit { path: format!("{typed}/"), folder: true, marks: Vec::new() }];
    }
    let mut hits: Vec<Hit> = std::fs::read_dir(clean(&folder))
        .into_iter()
        .flatten()
        .flatten()
        .take(10_000)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !last.starts_with('.');
            let fits = name.to_lowercase().starts_with(&last.to_lowercase());
            let folder = entry.path().is_dir();
            if hidden || !fits || (question.folders && !folder) {
                return None;
            }
            let path = format!("{shown}{name}{}", if folder { "/" } else { "" });
            let from = shown.chars().count();
            Some(Hit { path, folder, marks: (from..from + last.chars().count()).collect() })
        })
        .collect();
    hits.sort_by(|a, b| a.path.cmp(&b.path));
    hits.truncate(ROWS);
    hits
}

/// A path without `.` and with `..` followed by name.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn paths(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.path.as_str()).collect()
    }

    /// The last answer to a question: the walk has ended then.
    fn asked(root: &Path, query: &str, folders: bool) -> Vec<Hit> {
        let (tell, told) = channel();
        let finder = Finder::start(move |found| tell.send(found).is_ok()).unwrap();
        finder.ask(FileQuestion { ticket: 7, root: root.to_owned(), query: query.to_owned(), folders });
        let mut last = told.recv_timeout(Duration::from_secs(20)).unwrap();
        while let Ok(found) = told.recv_timeout(Duration::from_millis(if folders { 1 } else { 400 })) {
            assert_eq!(found.ticket, 7);
            last = found;
        }
        last.hits
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in ["src/main.rs", "src/ui/mod.rs", "docs/a file.md", ".github/ci.yml", "target/x.rs", ".git/config"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::write(dir.path().join(".gitignore"), "target\n").unwrap();
        dir
    }

    #[test]
    fn files_are_found_by_their_letters_and_ignored_ones_are_not() {
        let dir = tree();
        assert_eq!(paths(&asked(dir.path(), "smain", false)), ["src/main.rs"]);
        let rust = asked(dir.path(), "rs", false);
        assert_eq!(paths(&rust), ["src/main.rs", "src/ui/mod.rs"]);
        assert!(rust.iter().all(|hit| !hit.marks.is_empty() && !hit.folder));
        let all = asked(dir.path(), "", false);
        assert_eq!(paths(&all)[..3], [".github/", "docs/", "src/"]);
        assert!(!paths(&all).iter().any(|path| path.contains("target") || path.contains(".git/")));
    }

    #[test]
    fn folders_are_listed_one_by_one() {
        let dir = tree();
        assert_eq!(paths(&asked(dir.path(), "", true)), ["docs/", "src/", "target/"]);
        assert_eq!(paths(&asked(dir.path(), "src/u", true)), ["src/ui/"]);
        assert_eq!(paths(&asked(&dir.path().join("src"), "../d", true)), ["../docs/"]);
        let absolute = format!("{}/src/", dir.path().display());
        assert_eq!(
            paths(&asked(dir.path(), &absolute, false)),
            [format!("{absolute}main.rs"), format!("{absolute}ui/")]
        );
    }

    #[test]
    fn a_hundred_thousand_paths_are_matched_and_the_best_come_first() {
        let paths: Vec<Box<str>> =
            (0..100_000).map(|n| format!("crates/part{}/src/module{n}.rs", n % 100).into()).collect();
        let hits = best("module77777", &paths, &|| false);
        assert_eq!(hits[0].path, "crates/part77/src/module77777.rs");
        assert!(best("module", &paths, &|| true).is_empty(), "it can be ended");
        assert_eq!(best("src module", &paths, &|| false).len(), ROWS);
    }
}
