//! Project memory: `AGENTS.md` and `CLAUDE.md` from the root of the repository down to the working directory, the user's
//! own ones in the configuration folder, what they import with `@path`, and the user's preferences.
//!
//! An import stays below the folder it belongs to, links followed; it is never a secret file, at most five files deep, and
//! nothing inside code. What is wrong is a [`Problem`], and the rest is read all the same. Blocking: it belongs off the
//! async threads.

use crate::domain::paths;
use crate::domain::problem::Problem;
use crate::sandbox::plain_file;
use crate::tools::files::classify::{self, MaskedPaths};
use crate::tools::results::limits::without_keys;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Names of the files, in the order of the prompt.
pub const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The user's wishes for every session, in the configuration folder.
pub const PREFERENCES: &str = "preferences.md";
/// Depth limit of imports, in files.
pub const DEPTH: usize = 5;
/// Bytes of a file that go into the prompt.
pub const MOST_BYTES: usize = 64 * 1024;
/// Bytes of all files together.
pub const MOST_IN_ALL: usize = 256 * 1024;
/// Maximum number of files.
const MOST_FILES: usize = 50;

/// Content of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Preferences of the user for every session.
    pub preferences: Option<MemoryFile>,
    /// The user's files, then the project's from its root down; what a file imports comes right behind it.
    pub files: Vec<MemoryFile>,
    /// Problems of the files.
    pub problems: Vec<Problem>,
}

/// A file of project memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFile {
    /// Path.
    pub path: PathBuf,
    /// Text for the model.
    pub text: String,
    /// Bytes of the whole file.
    pub whole: u64,
}

/// Stamp of a path: a change of it, or its appearance or removal, is a reason to read again.
type Seen = (PathBuf, Option<(SystemTime, u64)>);

/// Reads project memory, and only what changed since.
#[derive(Debug, Default)]
pub struct MemoryReader {
    last: Mutex<Option<LastRead>>,
}

#[derive(Debug)]
struct LastRead {
    of: (Option<PathBuf>, PathBuf),
    seen: Vec<Seen>,
    memory: Arc<Memory>,
}

impl MemoryReader {
    /// Project memory for this directory, with the user's files in `config`. The same value as
    /// before while no file changed.
    #[must_use]
    pub fn read(&self, config: Option<&Path>, cwd: &Path) -> Arc<Memory> {
        let of = (config.map(Path::to_owned), cwd.to_owned());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*last
            && kept.of == of
            && kept.seen.iter().all(|(path, was)| look(path) == *was)
        {
            return kept.memory.clone();
        }
        let (memory, seen) = load(config, cwd);
        let memory = Arc::new(memory);
        *last = Some(LastRead { of, seen, memory: memory.clone() });
        memory
    }
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len()))
}

/// Reads it all, and says what was looked at.
fn load(config: Option<&Path>, cwd: &Path) -> (Memory, Vec<Seen>) {
    let mut loading = Loading::default();
    if let Some(config) = config.and_then(|config| config.canonicalize().ok()) {
        loading.memory.preferences = loading.preferences(&config.join(PREFERENCES));
        for name in NAMES {
            loading.file(&config.join(name), &config, &mut Vec::new());
        }
    } else if let Some(config) = config {
        loading.note(config);
    }
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    loading.cwd.clone_from(&cwd);
    let root = loading.root_of(&cwd);
    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(&root)).collect();
    folders.reverse();
    for folder in folders {
        for name in NAMES {
            loading.file(&folder.join(name), &root, &mut Vec::new());
        }
    }
    (loading.memory, loading.seen)
}

#[derive(Default)]
struct Loading {
    memory: Memory,
    seen: Vec<Seen>,
    /// Paths that commands do not see, once a file of the project was met.
    masked: Option<MaskedPaths>,
    /// The working directory.
    cwd: PathBuf,
    /// Files included so far, with links followed.
    told: HashSet<PathBuf>,
    used: usize,
    full: bool,
}

impl Loading {
    fn note(&mut self, path: &Path) {
        self.seen.push((path.to_owned(), look(path)));
    }

    fn problem(&mut self, path: &Path, line: Option<usize>, text: String, fix: &str) {
        let problem = Problem { path: path.to_owned(), line, text, fix: fix.to_owned() };
        if !self.memory.problems.contains(&problem) {
            self.memory.problems.push(problem);
        }
    }

    /// The folder of the repository, or the directory itself where there is none.
    fn root_of(&mut self, cwd: &Path) -> PathBuf {
        for folder in cwd.ancestors() {
            let mark = folder.join(".git");
            if mark.exists() {
                self.note(&mark);
                return folder.to_owned();
            }
        }
        self.note(&cwd.join(".git"));
        cwd.to_owned()
    }

    fn preferences(&mut self, path: &Path) -> Option<MemoryFile> {
        self.note(path);
        let file = self.read(&path.canonicalize().ok()?)?;
        Some(file).filter(|file| !file.text.trim().is_empty())
    }

    /// A file that may be there, and what it imports. `stack`: who imports it.
    fn file(&mut self, path: &Path, root: &Path, stack: &mut Vec<PathBuf>) {
        self.note(path);
        let Ok(real) = path.canonicalize() else { return };
        if !real.starts_with(root) {
            let text = "Not read: the file links outside the repository.".to_owned();
            return self.problem(path, None, text, "Move the text into the repository.");
        }
        if paths::is_secret_file(&real) {
            return self.problem(path, None, "Not read: the file looks like a secret.".to_owned(), "");
        }
        if !self.told.insert(real.clone()) {
            return;
        }
        let too_many = self.memory.files.len() >= MOST_FILES || self.used >= MOST_IN_ALL;
        if too_many {
            if !std::mem::replace(&mut self.full, true) {
                let text = format!(
                    "Project memory full ({MOST_FILES} files or {} KB): this file and later ones were not read.",
                    MOST_IN_ALL / 1024
                );
                self.problem(path, None, text, "Shorten the files.");
            }
            return;
        }
        let Some(file) = self.read(&real) else { return };
        let of_project = self.cwd.starts_with(root);
        let cwd = &self.cwd;
        let masked = || MaskedPaths::below(cwd);
        if of_project && !classify::is_told(&real, file.text.as_bytes(), self.masked.get_or_insert_with(masked)) {
            return self.problem(path, None, "Not read: the file looks like a secret.".to_owned(), "");
        }
        // The same text under both names is included once.
        if file.text.trim().is_empty() || self.memory.files.iter().any(|other| other.text == file.text) {
            return;
        }
        self.used += file.text.len();
        let imports = imports(&file.text);
        self.memory.files.push(MemoryFile { path: path.to_owned(), ..file });
        stack.push(real.clone());
        for import in imports {
            self.import(&import, path, &real, root, stack);
        }
        stack.pop();
    }

    fn import(&mut self, import: &Import, from: &Path, real: &Path, root: &Path, stack: &mut Vec<PathBuf>) {
        let line = Some(import.line);
        let named = &import.path;
        if named.starts_with('~') || Path::new(named).is_absolute() && !Path::new(named).starts_with(root) {
            let text = format!("Not imported: @{named} is outside the repository.");
            return self.problem(from, line, text, "Import only files in the repository.");
        }
        let Some(folder) = real.parent() else { return };
        let path = paths::lexical(folder, Path::new(named));
        self.note(&path);
        let Ok(found) = path.canonicalize() else {
            // A word with an @ in a sentence is nobody's mistake.
            if import.alone {
                let text = format!("Not imported: @{named} not found.");
                self.problem(from, line, text, "Fix the path, or put it in backticks if it is not an import.");
            }
            return;
        };
        if !found.starts_with(root) {
            let text = format!("Not imported: @{named} links outside the repository.");
            return self.problem(from, line, text, "Import only files in the repository.");
        }
        if paths::is_secret_file(&found) || paths::is_secret_file(&path) {
            let text = format!("Not imported: @{named} looks like a secret.");
            return self.problem(from, line, text, "Keep secrets out of project memory.");
        }
        if found.is_dir() {
            if import.alone {
                let text = format!("Not imported: @{named} is a folder.");
                self.problem(from, line, text, "Import its files one by one.");
            }
            return;
        }
        if stack.contains(&found) {
            let text = format!("Import cycle at @{named}: included once.");
            return self.problem(from, line, text, "Remove one of the imports.");
        }
        if stack.len() >= DEPTH {
            let text = format!("Not imported: @{named} is more than {DEPTH} imports deep.");
            return self.problem(from, line, text, "Import it from a file closer to the top.");
        }
        self.file(&path, root, stack);
    }

    /// The beginning of a file. `None` if it cannot be read, which is reported.
    fn read(&mut self, path: &Path) -> Option<MemoryFile> {
        let fix = "Fix the file, or remove it.";
        let data = match std::fs::metadata(path) {
            Ok(data) if data.is_file() => data,
            Ok(_) => {
                self.problem(path, None, "Not a file; not read.".to_owned(), fix);
                return None;
            }
            Err(error) => {
                self.problem(path, None, format!("Can't read it: {error}."), fix);
                return None;
            }
        };
        let mut bytes = Vec::new();
        let most = MOST_BYTES as u64 + 4;
        // With links followed the path is its own; where it is not, something else came in between.
        let moved = || std::io::Error::other("it moved while being read");
        let read = plain_file::open_through_links(path).and_then(|file| {
            let is_there = plain_file::path_of(&file).is_none_or(|now| now == path);
            if is_there { file.take(most).read_to_end(&mut bytes) } else { Err(moved()) }
        });
        if let Err(error) = read {
            self.problem(path, None, format!("Can't read it: {error}."), fix);
            return None;
        }
        if bytes.contains(&0) {
            self.problem(path, None, "Not a text file; not read.".to_owned(), fix);
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let end = text.floor_char_boundary(MOST_BYTES);
        let mut text = text[..end].trim_start_matches('\u{feff}').to_owned();
        if data.len() > MOST_BYTES as u64 {
            let kb = MOST_BYTES / 1024;
            self.problem(path, None, format!("Longer than {kb} KB; the rest is left out."), "Shorten it.");
            text.push_str("\n[The rest of this file was left out.]");
        }
        Some(MemoryFile { path: path.to_owned(), text: without_keys(text), whole: data.len() })
    }
}

/// An import as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Import {
    path: String,
    /// The line, from 1.
    line: usize,
    /// Nothing else stands in its line: it cannot be a word of a sentence.
    alone: bool,
}

/// The imports of a text: `@path` at the beginning of a line or behind a blank, outside of code.
fn imports(text: &str) -> Vec<Import> {
    let mut out: Vec<Import> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let sign = bare.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = sign.map_or(0, |sign| bare.chars().take_while(|c| *c == sign).count());
        match (fence, sign) {
            (None, Some(sign)) if run >= 3 && !(sign == '`' && bare[run..].contains('`')) => {
                fence = Some((sign, run));
                continue;
            }
            (Some((open, long)), Some(sign)) if sign == open && run >= long && bare[run..].trim().is_empty() => {
                fence = None;
                continue;
            }
            (Some(_), _) => continue,
            _ => {}
        }
        // A block of code by its indent; list items may be indented as well, but they begin with their sign.
        if indent >= 4 || line.starts_with('\t') {
            continue;
        }
        let spoken = without_code(line);
        for word in spoken.split_whitespace() {
            let Some(path) = word.strip_prefix('@') else { continue };
            let alone = spoken.trim().trim_start_matches(['-', '*', '+', ' ']) == word;
            let path = path.trim_end_matches([',', ';', ':', ')', ']', '!', '?', '"', '\'']);
            let path = path.strip_suffix('.').unwrap_or(path);
            // Code begins there.
            let path = path.split('`').next().unwrap_or_default();
            if !path.is_empty() && !out.iter().any(|other| other.path == path) {
                out.push(Import { path: path.to_owned(), line: at + 1, alone });
            }
        }
    }
    out
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let run = rest[at..].chars().take_while(|c| *c == '`').count();
        let ticks = &rest[at..at + run];
        let behind = &rest[at + run..];
        out.push_str(&rest[..at]);
        match closing(behind, ticks) {
            Some(end) => {
                // What was code is no blank: a word right behind it begins nothing.
                out.push('`');
                rest = &behind[end..];
            }
            None => {
                out.push_str(ticks);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// End of code that was opened with these ticks: after a run of exactly as many.
fn closing(text: &str, ticks: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let from = at + found;
        let run = text[from..].chars().take_while(|c| *c == '`').count();
        if run == ticks.len() {
            return Some(from + run);
        }
        at = from + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A repository with these files, and the names of the files included for a folder of it.
    struct Bench {
        home: tempfile::TempDir,
    }

    impl Bench {
        fn new(files: &[(&str, &str)]) -> Self {
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(home.path().join("repo/.git")).unwrap();
            let bench = Self { home };
            files.iter().for_each(|(path, text)| bench.write(path, text));
            bench
        }
        fn root(&self) -> PathBuf {
            self.home.path().canonicalize().unwrap().join("repo")
        }
        fn write(&self, path: &str, text: &str) {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        fn load(&self, cwd: &str) -> Memory {
            let config = self.home.path().join("config");
            let cwd = self.root().join(cwd);
            std::fs::create_dir_all(&cwd).unwrap();
            load(Some(&config), &cwd).0
        }
        fn names(&self, cwd: &str) -> Vec<String> {
            let root = self.root();
            let name = |file: &MemoryFile| file.path.strip_prefix(&root).unwrap_or(&file.path).display().to_string();
            self.load(cwd).files.iter().map(name).collect()
        }
    }

    #[test]
    fn files_come_from_the_root_down_with_what_they_import_behind_them() {
        let bench = Bench::new(&[
            ("../AGENTS.md", "above the repository"),
            ("AGENTS.md", "root\n@docs/style.md and @./more.md."),
            ("CLAUDE.md", "claude"),
            ("docs/style.md", "style"),
            ("more.md", "more"),
            ("a/AGENTS.md", "a\n- @../docs/style.md"),
            ("a/b/CLAUDE.md", "b"),
            ("c/AGENTS.md", "elsewhere"),
        ]);
        let told = ["AGENTS.md", "docs/style.md", "more.md", "CLAUDE.md", "a/AGENTS.md", "a/b/CLAUDE.md"];
        assert_eq!(bench.names("a/b"), told);
        assert_eq!(bench.load("a/b").problems, []);
        // Without a repository it is the directory alone.
        std::fs::remove_dir(bench.root().join(".git")).unwrap();
        assert_eq!(bench.names("a/b"), ["a/b/CLAUDE.md"]);
    }

    #[test]
    fn the_users_own_files_come_first() {
        let bench = Bench::new(&[
            ("../config/AGENTS.md", "mine"),
            ("../config/preferences.md", "Answer in German."),
            ("AGENTS.md", "theirs"),
        ]);
        let memory = bench.load("");
        assert_eq!(memory.preferences.unwrap().text, "Answer in German.");
        let texts: Vec<&str> = memory.files.iter().map(|file| file.text.as_str()).collect();
        assert_eq!(texts, ["mine", "theirs"]);
    }

    #[test]
    fn what_is_a_secret_by_its_content_is_not_told() {
        let key = format!("-----BEGIN OPENSSH {} KEY-----\nabc\n", "PRIVATE");
        let token = format!("db: postgres://u:hunter2hunter2@h/x\ntoken: ghp_{}\n", "a1B2".repeat(9));
        let bench = Bench::new(&[
            ("AGENTS.md", "@notes/key.md\n@config/app.yml\n@docs/style.md"),
            ("notes/key.md", &key),
            ("config/app.yml", &token),
            ("docs/style.md", "Be brief."),
        ]);
        assert_eq!(bench.names(""), ["AGENTS.md", "docs/style.md"]);
        let problems = bench.load("").problems;
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.text.contains("secret")), "{problems:?}");
        // One that stands for such a file.
        std::os::unix::fs::symlink(bench.root().join("notes/key.md"), bench.root().join("CLAUDE.md")).unwrap();
        assert_eq!(bench.names(""), ["AGENTS.md", "docs/style.md"]);
    }

    #[test]
    fn nothing_leaves_the_repository_and_no_secret_is_read() {
        let bench = Bench::new(&[
            ("../outside.md", "outside"),
            ("AGENTS.md", "@../outside.md\n@~/x.md\n@/etc/hostname\n@link.md\n@.env\n@.ssh/id_rsa\n@docs\n@gone.md"),
            (".env", "KEY=1"),
            (".ssh/id_rsa", "k"),
            ("docs/x.md", "x"),
        ]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(bench.root().join("../outside.md"), bench.root().join("link.md")).unwrap();
            std::os::unix::fs::symlink(bench.root().join("../outside.md"), bench.root().join("CLAUDE.md")).unwrap();
        }
        let memory = bench.load("");
        assert_eq!(memory.files.len(), 1, "{:?}", memory.files);
        let lines: Vec<Option<usize>> = memory.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), Some(8), None]);
        let all = memory.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for word in ["outside the repository", "links outside", "looks like a secret", "is a folder", "not found"] {
            assert!(all.contains(word), "{word} in {all}");
        }
    }

    #[test]
    fn imports_end_five_deep_and_in_circles() {
        let chain: Vec<(String, String)> =
            (0..8).map(|n| (format!("f{n}.md"), format!("text {n}\n@f{}.md", n + 1))).collect();
        let mut files: Vec<(&str, &str)> = chain.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        files.push(("AGENTS.md", "@f0.md\n@loop.md"));
        files.push(("loop.md", "@back.md"));
        files.push(("back.md", "@loop.md"));
        let bench = Bench::new(&files);
        let told = ["AGENTS.md", "f0.md", "f1.md", "f2.md", "f3.md", "loop.md", "back.md"];
        assert_eq!(bench.names("")[..5], told[..5]);
        let memory = bench.load("");
        let texts: Vec<&str> = memory.problems.iter().map(|problem| problem.text.as_str()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("more than 5 imports deep") && texts[1].contains("Import cycle"), "{texts:?}");
    }

    #[test]
    fn what_stands_in_code_is_no_import() {
        let text = "Mail me@host.org, see @a.md, and `@b.md`.\n```sh\n@c.md\n```\n~~~\n@d.md\n```\n~~~\n    @e.md\n\
                    ``x `@f.md` y`` @g.md)\n`open @h.md\n@someone says";
        let found: Vec<String> = imports(text).into_iter().map(|one| one.path).collect();
        assert_eq!(found, ["a.md", "g.md", "h.md", "someone"]);
        let alone: Vec<bool> = imports("@a.md\n- @b.md\nsee @c.md").iter().map(|one| one.alone).collect();
        assert_eq!(alone, [true, true, false]);
        assert_eq!(imports("see @nobody and @a.md\nthen @a.md").len(), 2);
    }

    #[test]
    fn long_files_are_cut_and_odd_ones_told() {
        let long = "ä".repeat(MOST_BYTES);
        let bench = Bench::new(&[("AGENTS.md", &long), ("CLAUDE.md", "a\0b")]);
        let memory = bench.load("");
        assert_eq!(memory.files.len(), 1);
        assert!(memory.files[0].text.len() < MOST_BYTES + 100 && memory.files[0].text.ends_with("left out.]"));
        assert_eq!(memory.files[0].whole, long.len() as u64);
        assert_eq!(memory.problems.len(), 2);
        let many: Vec<(String, String)> = (0..9).map(|n| (format!("f{n}.md"), format!("{n}").repeat(60_000))).collect();
        let mut files: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let list: String = many.iter().map(|(name, _)| format!("@{name}\n")).collect();
        files.push(("AGENTS.md", &list));
        let memory = Bench::new(&files).load("");
        assert!(memory.files.len() < 7 && memory.problems.len() == 1 && memory.problems[0].text.contains("full"));
    }

    #[test]
    fn it_is_read_again_when_something_changed() {
        let bench = Bench::new(&[("AGENTS.md", "one\n@later.md"), ("CLAUDE.md", "one\n@later.md")]);
        let memories = MemoryReader::default();
        let read = || memories.read(None, &bench.root());
        let first = read();
        assert_eq!(first.files.len(), 1, "the same text is told once");
        assert!(Arc::ptr_eq(&first, &read()));
        bench.write("later.md", "now it is there");
        assert_eq!(read().files.len(), 2);
        std::fs::create_dir_all(bench.root().join("sub")).unwrap();
        assert_eq!(memories.read(None, &bench.root().join("sub")).files.len(), 2);
        bench.write("AGENTS.md", "longer than before");
        assert_eq!(read().files[0].text, "longer than before");
        std::fs::remove_file(bench.root().join("AGENTS.md")).unwrap();
        std::fs::remove_file(bench.root().join("CLAUDE.md")).unwrap();
        assert_eq!(*read(), Memory::default());
    }

    proptest! {
        #[test]
        fn imports_of_any_text_stand_in_it(text in "(@|`|```|\n|    |[a-z./ ~-]|ä){0,60}") {
            for import in imports(&text) {
                let line = text.lines().nth(import.line - 1);
                let written = format!("@{}", import.path);
                prop_assert!(line.is_some_and(|line| line.contains(&written)));
                prop_assert!(!import.path.contains(char::is_whitespace));
            }
        }

        #[test]
        fn whatever_is_imported_lies_below_the_root(paths in prop::collection::vec("(\\.\\./|\\./|/|~|a/|b|c\\.md|out\\.md){1,5}", 1..6)) {
            let text: String = paths.iter().map(|path| format!("@{path}\n")).collect();
            let bench = Bench::new(&[("a/AGENTS.md", &text), ("c.md", "c"), ("a/c.md", "ac"), ("../out.md", "out"), ("../c.md", "oc")]);
            let root = bench.root();
            for file in bench.load("a").files {
                prop_assert!(file.path.canonicalize().unwrap().starts_with(&root));
                prop_assert!(!file.text.starts_with('o'));
            }
        }
    }
}
