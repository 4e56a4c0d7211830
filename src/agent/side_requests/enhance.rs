//! The prompt enhancer: a draft is rewritten by a small model that gets the names of the draft as they exist in the
//! repository.
//!
//! At most 8 names, one search of 1.5 s, 10 files; what the repository is stands in an introduction that is kept for five
//! minutes. A part that fails is left out. Nothing that looks like a secret is searched or sent.

use super::titles::without_thinking;
use crate::domain::paths::is_secret;
use crate::protocol::Enhanced;
use crate::sandbox::plain_file;
use crate::tools::files::name_search::{HoldingFile, search};
use crate::tools::host::{Completion, Host, WhichModel};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Names that are searched for.
const MOST_NAMES: usize = 8;
/// Characters of a line for the model.
const LONGEST_LINE: usize = 160;
/// The search takes no longer.
const SEARCHES_FOR: Duration = Duration::from_millis(1_500);
/// Lifetime of an introduction.
const INTRO_HOLDS: Duration = Duration::from_secs(300);
/// Time limit of the model.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer drafts are as they should be.
const LONGEST_DRAFT: usize = 20_000;

/// Instructions for the model.
pub const SYSTEM: &str = "You rewrite a draft of a message to a coding agent so that the agent knows exactly what is meant. \
    You get the draft, what is known of the repository, and files that hold names from the draft. Keep the language, \
    the meaning, every constraint and the tone of the draft, and its person: it stays the user's own message. Name files \
    and symbols only where they stand in what you got. Add nothing that the user did not ask for, do not answer it, ask \
    nothing back. A short draft stays short. Answer with the new text of the message alone.";

/// The introductions of directories, each with the time at which it was made.
pub(in crate::agent) type Intros = Arc<Mutex<HashMap<PathBuf, (Instant, Option<Arc<str>>)>>>;

/// Rewrites a draft.
pub(in crate::agent) async fn enhance(
    engine: &impl Host,
    cwd: &Path,
    intros: &Intros,
    draft: String,
) -> Result<Enhanced, String> {
    if draft.len() > LONGEST_DRAFT {
        return Err("Draft too long to enhance.".to_owned());
    }
    let names = names(&draft);
    let (root, cache) = (cwd.to_owned(), intros.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let intro = intro(&root, &cache);
        let files = if names.is_empty() { Vec::new() } else { search(&root, &names, Instant::now() + SEARCHES_FOR) };
        (intro, files)
    });
    let (intro, files) = looked.await.unwrap_or_default();
    let answer = engine.complete(Completion {
        model: WhichModel::Small,
        system: SYSTEM.to_owned(),
        text: text(&draft, intro.as_deref(), &files),
        patience: PATIENCE,
    });
    let text = tidy(&answer.await.map_err(|why| format!("Draft not enhanced. {why}"))?);
    if text.is_empty() {
        return Err("Draft not enhanced: empty response from the model.".to_owned());
    }
    let intro = intro.is_some().then(|| "what the repository is".to_owned());
    Ok(Enhanced { text, used: intro.into_iter().chain(files.into_iter().map(|file| file.path)).collect() })
}

/// The names in a draft that could stand in a repository: paths, words in backticks, and words that are written as
/// programmers write names; the likeliest first.
fn names(draft: &str) -> Vec<String> {
    let mut found: Vec<(u8, String)> = Vec::new();
    let mut add = |rank: u8, name: &str| {
        let name = name.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '/'));
        let name = name.trim_end_matches(['.', '/']).trim_start_matches("./");
        let known = found.iter().any(|(_, other)| other == name);
        if (3..=100).contains(&name.len()) && !known {
            found.push((rank, name.to_owned()));
        }
    };
    for quoted in draft.split('`').skip(1).step_by(2).filter(|quoted| !quoted.contains(char::is_whitespace)) {
        add(0, quoted);
    }
    for word in draft.split(|c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | ',' | ';' | '"' | '\'' | ':'))
    {
        let word = word.trim_end_matches(['.', '!', '?']);
        if word.contains("//") {
            continue;
        }
        match word {
            path if path.contains('/') && path.chars().any(char::is_alphanumeric) => add(1, path),
            file if has_extension(file) => add(1, file),
            name if name.contains('_') && name.chars().any(char::is_alphanumeric) => add(2, name),
            name if is_camel(name) => add(3, name),
            _ => {}
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, name)| name).take(MOST_NAMES).collect()
}

fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ext)| {
        let is_name = stem.chars().any(char::is_alphabetic) && !matches!(word, "e.g" | "i.e" | "z.B" | "d.h" | "u.a");
        is_name
            && (1..=5).contains(&ext.len())
            && ext.starts_with(|c: char| c.is_ascii_alphabetic())
            && ext.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// `fooBar` and `FooBar`, not `Foo` and not `FOO`.
fn is_camel(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
}

// ---- what the repository is ----

fn intro(root: &Path, cache: &Intros) -> Option<Arc<str>> {
    let known = cache.lock().unwrap_or_else(PoisonError::into_inner).get(root).cloned();
    if let Some((_, intro)) = known.filter(|(made, _)| made.elapsed() < INTRO_HOLDS) {
        return intro;
    }
    let intro = introduce(root).map(Arc::from);
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    cache.retain(|_, (made, _)| made.elapsed() < INTRO_HOLDS);
    cache.insert(root.to_owned(), (Instant::now(), intro.clone()));
    intro
}

fn introduce(root: &Path) -> Option<String> {
    let mut out: Vec<String> = Vec::new();
    let read = |name: &str| head(&root.join(name));
    if let Some(cargo) = read("Cargo.toml") {
        out.push(named("a Rust package", value_of(&cargo, "name"), value_of(&cargo, "description")));
    }
    if let Some(package) = read("package.json").and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok()) {
        let text = |key: &str| package.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        out.push(named("a JavaScript package", text("name"), text("description")));
        let uses = |key: &str| package.get(key).and_then(serde_json::Value::as_object).cloned().unwrap_or_default();
        let (all, dev) = (uses("dependencies"), uses("devDependencies"));
        let known = ["next", "react", "vue", "svelte", "electron", "vite", "express", "prisma", "typescript"];
        let used: Vec<&str> =
            known.into_iter().filter(|name| all.contains_key(*name) || dev.contains_key(*name)).collect();
        if !used.is_empty() {
            out.push(format!("It uses {}.", used.join(", ")));
        }
    }
    if let Some(project) = read("pyproject.toml") {
        out.push(named("a Python project", value_of(&project, "name"), value_of(&project, "description")));
    }
    if let Some(module) = read("go.mod").and_then(|text| Some(text.lines().next()?.strip_prefix("module ")?.to_owned()))
    {
        out.push(named("a Go module", Some(module), None));
    }
    let readme = ["README.md", "README.rst", "README.txt", "README", "readme.md"].iter().find_map(|name| read(name));
    if let Some(line) =
        readme.as_deref().and_then(|text| text.lines().map(|l| l.trim_matches(['#', '=', ' '])).find(|l| !l.is_empty()))
    {
        out.push(format!("Its README begins: {}", shorten(line)));
    }
    let mut top: Vec<String> = std::fs::read_dir(root)
        .ok()?
        .flatten()
        .filter(|entry| !is_secret(&entry.path()))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
            Some(if entry.file_type().is_ok_and(|kind| kind.is_dir()) { format!("{name}/") } else { name })
        })
        .collect();
    top.sort();
    top.truncate(40);
    if !top.is_empty() {
        out.push(format!("At its top: {}", top.join(", ")));
    }
    (!out.is_empty()).then(|| out.join("\n"))
}

fn named(what: &str, name: Option<String>, headline: Option<String>) -> String {
    let name = name.map_or_else(String::new, |name| format!(" named {}", shorten(&name)));
    let headline = headline.map_or_else(String::new, |line| format!(": {}", shorten(&line)));
    format!("It is {what}{name}{headline}")
}

/// The first `key = "value"` of a TOML file: enough for a name, and no reason to understand the rest.
fn value_of(toml: &str, key: &str) -> Option<String> {
    let line = toml.lines().map(str::trim).find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    let value = line.trim().trim_matches(['"', '\'']);
    (!value.is_empty() && !value.starts_with('{')).then(|| value.to_owned())
}

fn head(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    plain_file::open(path).ok()?.take(64 * 1024).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn shorten(line: &str) -> String {
    line.trim().chars().take(LONGEST_LINE).collect()
}

// ---- the question and its answer ----

fn text(draft: &str, intro: Option<&str>, files: &[HoldingFile]) -> String {
    let mut out = String::new();
    if let Some(intro) = intro {
        out.push_str(&format!("<repository>\n{intro}\n</repository>\n"));
    }
    for file in files {
        out.push_str(&format!("<file path=\"{}\">\n", file.path));
        for (number, line) in &file.lines {
            out.push_str(&format!("{number}: {line}\n"));
        }
        out.push_str("</file>\n");
    }
    out.push_str(&format!("<draft>\n{draft}\n</draft>\nThe new text:"));
    out
}

/// The text in an answer: without thinking, and without a fence or tags around all of it.
fn tidy(answer: &str) -> String {
    let mut text = without_thinking(answer).trim();
    if let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"))
        && !inside.contains("```")
    {
        text = inside.split_once('\n').map_or("", |(_, body)| body);
    }
    text = text.trim();
    text = text.strip_prefix("<draft>").unwrap_or(text);
    text = text.strip_suffix("</draft>").unwrap_or(text);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_programmers_write() {
        assert_eq!(
            names(
                "Fix `parse` in src/auth/redirect.rs. LoginForm calls do_login, e.g. with fooBar; see http://x.y/z and Foo."
            ),
            ["parse", "src/auth/redirect.rs", "do_login", "LoginForm", "fooBar"]
        );
        assert_eq!(names("make it faster, please. It is slow."), Vec::<String>::new());
        assert_eq!(names(&(0..20).map(|n| format!("a_{n:02} ")).collect::<String>()).len(), MOST_NAMES);
    }

    #[test]
    fn the_repository_introduces_itself_and_is_asked_once_in_a_while() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), "[package]\nname = \"thing\"\ndescription = \"Does things\"\n")
            .unwrap();
        std::fs::write(dir.path().join("README.md"), "\n# PathEntry\n\nText\n").unwrap();
        std::fs::write(dir.path().join("id_rsa"), "k").unwrap();
        let cache = Intros::default();
        let first = intro(dir.path(), &cache).unwrap();
        assert!(first.contains("named thing: Does things") && first.contains("README begins: PathEntry"), "{first}");
        assert!(!first.contains("id_rsa"), "{first}");
        std::fs::write(dir.path().join("README.md"), "# Other\n").unwrap();
        assert_eq!(intro(dir.path(), &cache).unwrap(), first);
    }

    #[test]
    fn an_answer_is_the_text_alone() {
        for (answer, text) in [
            ("Fix it.", "Fix it."),
            ("<think>hm</think>\nFix it.", "Fix it."),
            ("```\nFix it.\n```", "Fix it."),
            ("```text\nFix `a`\nand b\n```", "Fix `a`\nand b"),
            ("<draft>\nFix it.\n</draft>", "Fix it."),
            ("Do:\n```\nx\n```", "Do:\n```\nx\n```"),
        ] {
            assert_eq!(tidy(answer), text, "{answer:?}");
        }
    }
}
