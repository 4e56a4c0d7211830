//! Sizes and circles of the sources as a ratchet: no figure of `tests/layering/structure.txt` may rise, and one that fell
//! is recorded.
//!
//! `LISLE_STRUCTURE=list cargo test --test layering -- --nocapture` prints what stands behind each figure,
//! `LISLE_STRUCTURE=write` records lower figures.

use super::source::{paths, sources, without_tests, without_text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Limits above which an item is counted.
const LONG_FUNCTION: usize = 70;
const LONG_FILE: usize = 500;
const MANY_FIELDS: usize = 15;
const SHARED_NAME: usize = 2;
const LARGE_CIRCLE: usize = 3;

/// A file of the sources without comments, strings and tests.
pub struct Source {
    pub path: PathBuf,
    /// Path of its module below the crate, empty for lib.rs.
    pub module: Vec<String>,
    code: String,
}

/// Figures by name, each with the items behind it.
type Figures = BTreeMap<String, (usize, Vec<String>)>;

pub fn read(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    sources(root, Path::new("src"), &mut files).unwrap();
    files.sort();
    let mut out = Vec::new();
    for path in files {
        let tests_only = path.iter().any(|part| part == "tests" || part == "tests.rs");
        if tests_only || path == Path::new("src/main.rs") {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&path)).unwrap();
        out.push(Source { module: module_of(&path), code: without_tests(&without_text(&text), false), path });
    }
    out
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`.
fn module_of(path: &Path) -> Vec<String> {
    let stem = path.with_extension("");
    let mut parts: Vec<String> = stem.iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// Imports between files, with re-exports followed to the file that they name.
pub struct Graph<'a> {
    files: &'a [Source],
    by_module: BTreeMap<&'a [String], usize>,
    /// Names that a file re-exports, and their full paths.
    exports: Vec<BTreeMap<String, Vec<String>>>,
}

impl<'a> Graph<'a> {
    pub fn new(files: &'a [Source]) -> Self {
        let by_module = files.iter().enumerate().map(|(at, file)| (file.module.as_slice(), at)).collect();
        let mut graph = Self { files, by_module, exports: Vec::new() };
        graph.exports = files.iter().map(|file| graph.exports_of(file)).collect();
        graph
    }

    fn exports_of(&self, file: &Source) -> BTreeMap<String, Vec<String>> {
        let mut out = BTreeMap::new();
        for item in file.code.split(';') {
            let Some(at) = item.rfind("pub").filter(|at| item[*at..].contains(" use ")) else { continue };
            let (_, tree) = item[at..].split_once(" use ").unwrap();
            for (_, path) in paths(&format!("use {tree};")) {
                let full = self.full(&file.module, &path);
                if let Some(name) = full.last() {
                    out.insert(name.clone(), full.clone());
                }
            }
        }
        out
    }

    /// A path from the crate's root; as it stands where it leads out of the crate.
    fn full(&self, module: &[String], path: &str) -> Vec<String> {
        let mut at = module.to_vec();
        let mut parts = path.split("::").peekable();
        match parts.peek().copied() {
            Some("crate") => at.clear(),
            Some("self" | "super") => {}
            Some(first) => {
                at.push(first.to_owned());
                if !self.by_module.contains_key(at.as_slice()) {
                    return Vec::new();
                }
                at.pop();
            }
            None => {}
        }
        for part in parts {
            match part {
                "crate" | "self" => {}
                "super" => {
                    at.pop();
                }
                name => at.push(name.to_owned()),
            }
        }
        at
    }

    /// The file in which a path's item stands.
    fn file_of(&self, path: &[String], depth: usize) -> Option<usize> {
        let most = (1..=path.len()).rev().find(|end| self.by_module.contains_key(&path[..*end]))?;
        let file = self.by_module[&path[..most]];
        let exported = path.get(most).and_then(|name| self.exports[file].get(name));
        match exported {
            Some(target) if depth < 8 && target != path => self.file_of(target, depth + 1).or(Some(file)),
            _ => Some(file),
        }
    }

    pub fn edges(&self) -> Vec<BTreeSet<usize>> {
        let of = |(at, file): (usize, &Source)| {
            let code = without_visibility(&file.code);
            let named = paths(&code).into_iter().map(|(_, path)| self.full(&file.module, &path));
            named.filter_map(|path| self.file_of(&path, 0)).filter(|to| *to != at).collect()
        };
        self.files.iter().enumerate().map(of).collect()
    }
}

/// The code without `pub(in path)`, whose path names who may see an item and is no import.
fn without_visibility(code: &str) -> String {
    let mut parts = code.split("pub(in ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "pub ";
        out += part.split_once(')').map_or("", |(_, rest)| rest);
    }
    out
}

/// Groups of nodes that reach each other, largest first (Tarjan's algorithm).
fn circles(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    struct Walk<'e> {
        edges: &'e [BTreeSet<usize>],
        index: Vec<Option<usize>>,
        low: Vec<usize>,
        stack: Vec<usize>,
        next: usize,
        found: Vec<Vec<usize>>,
    }
    impl Walk<'_> {
        fn visit(&mut self, node: usize) {
            self.index[node] = Some(self.next);
            self.low[node] = self.next;
            self.next += 1;
            self.stack.push(node);
            for &to in &self.edges[node] {
                match self.index[to] {
                    None => {
                        self.visit(to);
                        self.low[node] = self.low[node].min(self.low[to]);
                    }
                    Some(index) if self.stack.contains(&to) => self.low[node] = self.low[node].min(index),
                    Some(_) => {}
                }
            }
            if Some(self.low[node]) == self.index[node] {
                let begin = self.stack.iter().rposition(|at| *at == node).unwrap();
                let group = self.stack.split_off(begin);
                self.found.push(group);
            }
        }
    }
    let nodes = edges.len();
    let mut walk = Walk { edges, index: vec![None; nodes], low: vec![0; nodes], stack: vec![], next: 0, found: vec![] };
    for node in 0..nodes {
        if walk.index[node].is_none() {
            walk.visit(node);
        }
    }
    walk.found.retain(|group| group.len() > 1);
    walk.found.sort_by_key(|group| std::cmp::Reverse(group.len()));
    walk.found
}

/// Items that begin with a keyword: their name and the text in their braces.
fn items<'c>(code: &'c str, keyword: &str) -> Vec<(&'c str, &'c str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (at, _) in code.match_indices(keyword) {
        let rest = &code[at + keyword.len()..];
        let whole = !code[..at].ends_with(is_word) && rest.starts_with(' ');
        let name = rest.trim_start().split(|c| !is_word(c)).next().unwrap_or_default();
        let Some(end) = rest.find(['{', ';']).filter(|_| whole && !name.is_empty()) else { continue };
        if rest[end..].starts_with(';') {
            out.push((name, ""));
            continue;
        }
        let mut open = 0;
        let close = rest[end..].find(|c| {
            open += i32::from(c == '{') - i32::from(c == '}');
            open == 0
        });
        out.push((name, &rest[end + 1..close.map_or(rest.len(), |close| end + close)]));
    }
    out
}

/// Fields of a struct: commas outside of brackets, and what stands after the last.
fn fields(body: &str) -> usize {
    let mut open = 0;
    let mut parts = vec![String::new()];
    for c in body.chars() {
        open += i32::from("([{<".contains(c)) - i32::from(")]}>".contains(c));
        if c == ',' && open == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().filter(|part| part.contains(':')).count()
}

fn figures(files: &[Source]) -> Figures {
    let mut out = Figures::new();
    let name = |at: &usize| files[*at].path.display().to_string();
    let found = circles(&Graph::new(files).edges());
    let large: Vec<String> = found
        .iter()
        .filter(|group| group.len() > LARGE_CIRCLE)
        .map(|group| format!("{}: {}", group.len(), group.iter().map(name).collect::<Vec<_>>().join(" ")))
        .collect();
    let in_large = found.iter().map(Vec::len).filter(|files| *files > LARGE_CIRCLE).sum();
    out.insert("files in import circles of more than 3".into(), (in_large, large.clone()));
    out.insert("files in the largest import circle".into(), (found.first().map_or(0, Vec::len), Vec::new()));

    let mut functions = Vec::new();
    let mut structs = Vec::new();
    let mut types: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut long_files = Vec::new();
    for file in files {
        let path = file.path.display().to_string();
        let lines = file.code.lines().filter(|line| !line.trim().is_empty()).count();
        long_files.push((lines, path.clone()));
        for (name, body) in items(&file.code, "fn") {
            functions.push((body.lines().filter(|line| !line.trim().is_empty()).count(), format!("{path} {name}")));
        }
        for (name, body) in items(&file.code, "struct") {
            structs.push((fields(body), format!("{path} {name}")));
        }
        for keyword in ["struct", "enum", "trait"] {
            for (name, _) in items(&file.code, keyword) {
                types.entry(name).or_default().insert(path.clone());
            }
        }
    }
    let mut count = |label: &str, most: &str, limit: usize, mut items: Vec<(usize, String)>| {
        items.sort();
        items.reverse();
        let above: Vec<String> =
            items.iter().filter(|(size, _)| *size > limit).map(|(size, item)| format!("{size} {item}")).collect();
        out.insert(most.into(), (items.first().map_or(0, |(size, _)| *size), Vec::new()));
        out.insert(label.into(), (above.len(), above));
    };
    count("functions of more than 70 lines", "lines of the longest function", LONG_FUNCTION, functions);
    count("structs of more than 15 fields", "fields of the largest struct", MANY_FIELDS, structs);
    count("files of more than 500 lines of code", "lines of code in the longest file", LONG_FILE, long_files);
    let shared = types.into_iter().map(|(name, at)| (at.len(), format!("{name}: {}", Vec::from_iter(at).join(" "))));
    count("type names shared by more than 2", "types of one name", SHARED_NAME, shared.collect());
    out
}

#[test]
fn sizes_and_circles_only_fall() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let record = root.join("tests/layering/structure.txt");
    let now = figures(&read(root));
    let wish = std::env::var("LISLE_STRUCTURE").unwrap_or_default();
    if wish == "list" {
        for (figure, (size, items)) in &now {
            println!("{figure}: {size}");
            items.iter().for_each(|item| println!("    {item}"));
        }
    }
    let text = std::fs::read_to_string(&record).unwrap_or_default();
    let before: BTreeMap<&str, usize> =
        text.lines().filter_map(|line| line.rsplit_once(": ")).map(|(k, v)| (k, v.parse().unwrap())).collect();
    let rose: Vec<String> = now
        .iter()
        .filter(|(figure, (size, _))| before.get(figure.as_str()).is_some_and(|most| size > most))
        .map(|(figure, (size, items))| {
            format!("{figure}: {} → {size}\n    {}", before[figure.as_str()], items.join("\n    "))
        })
        .collect();
    assert!(rose.is_empty(), "these may not rise:\n{}", rose.join("\n"));
    let lines: String = now.iter().map(|(figure, (size, _))| format!("{figure}: {size}\n")).collect();
    if wish == "write" {
        std::fs::write(&record, &lines).unwrap();
        return;
    }
    assert_eq!(text, lines, "figures fell: record them with LISLE_STRUCTURE=write cargo test --test layering");
}

/// Sources as a test writes them.
pub fn made_up(files: &[(&str, &str)]) -> Vec<Source> {
    let of = |(path, code): &(&str, &str)| {
        let path = PathBuf::from(path);
        Source { module: module_of(&path), code: (*code).to_owned(), path }
    };
    files.iter().map(of).collect()
}

#[cfg(test)]
mod checker {
    use super::*;

    #[test]
    fn circles_go_through_super_and_re_exports() {
        let files = made_up(&[
            ("src/a/mod.rs", "mod b; mod c; mod d; pub use b::B; pub use self::c::{C, X};"),
            ("src/a/b.rs", "use super::C; struct B;"),
            ("src/a/c.rs", "use crate::a::d::D; fn f() -> Vec<super::d::D> {} struct C;"),
            ("src/a/d.rs", "use crate::a::{B}; struct D;"),
            ("src/e.rs", "use crate::a::B; use std::a::X; pub(in crate::a) struct E;"),
        ]);
        assert_eq!(
            Graph::new(&files).edges(),
            [
                BTreeSet::from([1, 2]),
                BTreeSet::from([2]),
                BTreeSet::from([3]),
                BTreeSet::from([1]),
                BTreeSet::from([1])
            ]
        );
        let mut found = circles(&Graph::new(&files).edges());
        found[0].sort_unstable();
        assert_eq!(found, [vec![1, 2, 3]]);
    }

    #[test]
    fn items_are_measured() {
        let code = "pub struct A<T> {\n    x: Vec<(u8, T)>,\n    y: [u8; 3],\n}\nfn f(a: u8) -> u8 {\n    if a { b }\n    c\n}\nstruct U;";
        let found: Vec<_> = items(code, "struct").into_iter().map(|(name, body)| (name, fields(body))).collect();
        assert_eq!(found, [("A", 2), ("U", 0)]);
        assert_eq!(items(code, "fn")[0].1.lines().filter(|line| !line.trim().is_empty()).count(), 2);
    }
}
