//! `permissions.json`: what it says, and rules put into it or taken out.
//!
//! The keys are those of Craft Agents, with `rules` beside them. Problems are reported with their lines. A defect in what
//! lets things run leaves that entry out; a defect in what makes things stricter, or a file that is not JSON to its end,
//! leaves everything out that lets things run. Writing changes the text of the `rules` key and no other byte.

mod text;

use crate::domain::hex::sha256_hex;
use crate::domain::problem::Problem;
use crate::domain::rule::{Hint, PermissionsFile, Rule, RuleEffect};
use crate::plain_file;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use text::RuleEntry;

/// Longer files are not read: no person wrote them.
const LONGEST: u64 = 1_000_000;

/// One file as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleFile {
    /// Its text.
    pub text: String,
    /// SHA-256 (hex) of its bytes.
    pub hash: String,
    /// Content.
    pub written: PermissionsFile,
    /// Problems.
    pub problems: Vec<Problem>,
}

/// Reads a file; `None` when there is none.
#[must_use]
pub fn read(path: &Path) -> Option<RuleFile> {
    let broken = |problem| Some(RuleFile { problems: vec![problem], ..RuleFile::default() });
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() > LONGEST => {
            let text = format!("File longer than {LONGEST} bytes; its rules are ignored.");
            return broken(Problem::whole(path, text, "Remove what you don't need."));
        }
        Ok(meta) if !meta.is_file() => {
            return broken(Problem::whole(path, "Not a regular file; no rules were read.", "Move it out of the way."));
        }
        _ => {}
    }
    match super::files::read_text(path) {
        Ok(None) => None,
        Ok(Some(text)) => {
            let (written, problems) = parse(path, &text);
            Some(RuleFile { hash: hash(text.as_bytes()), text, written, problems })
        }
        Err(problem) => broken(problem),
    }
}

/// SHA-256 in hex.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}

/// Reads the text of a file.
#[must_use]
pub fn parse(path: &Path, text: &str) -> (PermissionsFile, Vec<Problem>) {
    let mut reader = RuleReader { path, text, written: PermissionsFile::default(), problems: Vec::new(), whole: true };
    if !text.trim().is_empty() {
        reader.root();
    }
    let written = if reader.whole { reader.written } else { reader.written.tightening() };
    (written, reader.problems)
}

struct RuleReader<'a> {
    path: &'a Path,
    text: &'a str,
    written: PermissionsFile,
    problems: Vec<Problem>,
    /// All that makes things stricter was understood.
    whole: bool,
}

const STRICTER: &str = "Fix it; until then no rule in this file allows anything.";

impl RuleReader<'_> {
    fn problem(&mut self, line: Option<usize>, text: String, fix: &str) {
        let (path, fix) = (self.path.to_owned(), fix.to_owned());
        self.problems.push(Problem { path, line, text, fix });
    }

    fn line(&self, part: &str) -> Option<usize> {
        Some(text::line(self.text, part))
    }

    fn root(&mut self) {
        let text = self.text;
        let root = match RuleEntry::parse(text) {
            Ok(root) => root,
            Err(error) => {
                self.whole = false;
                let line = Some(error.line()).filter(|line| *line > 0);
                self.problem(line, format!("Not valid JSON: {error}."), STRICTER);
                return self.salvage();
            }
        };
        for (key, raw) in &root.fields {
            if root.fields.iter().filter(|(other, _)| other == key).count() > 1 {
                self.whole = false;
                self.problem(self.line(raw.get()), format!("Duplicate key {key:?}."), STRICTER);
            }
            self.key(key, raw.get());
        }
    }

    /// The key's list is read item by item; keys of others are left alone.
    fn key(&mut self, key: &str, raw: &str) {
        let known = [
            "rules",
            "blockedTools",
            "blockedCommandHints",
            "allowedBashPatterns",
            "allowedWritePaths",
            "allowedMcpPatterns",
            "allowedApiEndpoints",
        ];
        if !known.contains(&key) {
            return;
        }
        match text::items(raw) {
            Ok(items) => items.into_iter().for_each(|item| self.item(key, item)),
            Err(_) => {
                let tightens = matches!(key, "rules" | "blockedTools");
                self.whole &= !tightens;
                let fix = if tightens { STRICTER } else { "Fix it." };
                self.problem(self.line(raw), format!("{key:?} is not a list."), fix);
            }
        }
    }

    fn item(&mut self, key: &str, raw: &str) {
        let line = self.line(raw);
        match key {
            "rules" => self.rule(raw),
            "blockedTools" => match named(raw, "tool") {
                Some(tool) => self.written.blocked.push(tool_name(&tool)),
                None => {
                    self.whole = false;
                    self.problem(line, "A blocked tool must be a name.".to_owned(), STRICTER);
                }
            },
            "blockedCommandHints" => match hint(raw) {
                Some(hint) => self.written.hints.push(hint),
                None => self.problem(line, "A hint needs a `command` and a `reason`.".to_owned(), "Fix it."),
            },
            "allowedApiEndpoints" => {
                let path = named(raw, "path");
                let method = RuleEntry::parse(raw).ok().and_then(|entry| entry.string("method"));
                if path.is_none() || method.is_none() {
                    self.problem(line, "An endpoint needs a `method` and a `path`.".to_owned(), "Fix it.");
                }
            }
            _ => self.pattern(key, raw),
        }
    }

    /// A pattern of the old form. Sources are not asked yet, so theirs are only checked.
    fn pattern(&mut self, key: &str, raw: &str) {
        let line = self.line(raw);
        let Some(pattern) = named(raw, "pattern") else {
            return self.problem(line, format!("{key}: a pattern must be a string or have a `pattern`."), "Fix it.");
        };
        let wrong = match key {
            "allowedWritePaths" => globset::Glob::new(&pattern).err().map(|error| error.to_string()),
            _ => fancy_regex::Regex::new(&pattern).err().map(|error| error.to_string()),
        };
        match (wrong, key) {
            (Some(why), _) => {
                let text = format!("{key}: invalid pattern {pattern:?}, ignored: {why}.");
                self.problem(line, text, "Fix it.");
            }
            (None, "allowedWritePaths") => self.written.paths.push(pattern),
            (None, "allowedBashPatterns") => self.written.commands.push(pattern),
            (None, _) => {}
        }
    }

    fn rule(&mut self, raw: &str) {
        match rule(raw) {
            Ok(rule) => self.written.rules.push(rule),
            Err((allows, why)) => {
                self.whole &= allows;
                let line = self.line(raw);
                let fix = if allows { "Fix it; this rule is ignored." } else { STRICTER };
                self.problem(line, format!("Invalid rule: {why}"), fix);
            }
        }
    }

    /// Reads the strict entries of a text that is not JSON to its end: those before the defect.
    fn salvage(&mut self) {
        for key in ["rules", "blockedTools"] {
            let mut rest = self.text;
            while let Some((_, after)) = rest.split_once(&format!("\"{key}\"")) {
                rest = after;
                let list = after.trim_start().strip_prefix(':').and_then(|after| after.trim_start().strip_prefix('['));
                let mut left = list.unwrap_or_default();
                loop {
                    let mut values = serde_json::Deserializer::from_str(left).into_iter::<&RawValue>();
                    let Some(Ok(value)) = values.next() else { break };
                    let read = values.byte_offset();
                    // Of what is broken only the whole entries count; what is wrong with them was told.
                    let told = self.problems.len();
                    self.item(key, value.get());
                    self.problems.truncate(told);
                    let Some(after) = left.get(read..).and_then(|left| left.trim_start().strip_prefix(',')) else {
                        break;
                    };
                    left = after;
                }
            }
        }
    }
}

/// A text, or the text of one field of an object.
fn named(raw: &str, field: &str) -> Option<String> {
    let text = match serde_json::from_str(raw).ok()? {
        Value::String(text) => text,
        Value::Object(mut fields) => match fields.remove(field)? {
            Value::String(text) => text,
            _ => return None,
        },
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// lisle's name of a tool that another program names.
fn tool_name(name: &str) -> String {
    match name.trim() {
        "Bash" => "bash".to_owned(),
        "Write" => "write".to_owned(),
        "Edit" | "MultiEdit" | "NotebookEdit" => "edit".to_owned(),
        "Read" => "read".to_owned(),
        "Glob" => "glob".to_owned(),
        "Grep" => "grep".to_owned(),
        "LS" => "list".to_owned(),
        "TodoWrite" => "todo".to_owned(),
        "SubmitPlan" => "submit_plan".to_owned(),
        "WebFetch" => "fetch".to_owned(),
        "WebSearch" => "search".to_owned(),
        other => other.to_owned(),
    }
}

fn hint(raw: &str) -> Option<Hint> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Raw {
        command: String,
        reason: String,
        context: Option<String>,
        #[serde(default)]
        try_instead: Vec<String>,
        example: Option<String>,
        when_not_matching: Option<String>,
    }
    let raw: Raw = serde_json::from_str(raw).ok()?;
    let mut text = raw.reason;
    if let Some(context) = raw.context {
        text = format!("{text} {context}");
    }
    if !raw.try_instead.is_empty() {
        text = format!("{text} Try instead: {}.", raw.try_instead.join("; "));
    }
    if let Some(example) = raw.example {
        text = format!("{text} Example: {example}");
    }
    Some(Hint { command: raw.command, text, unless: raw.when_not_matching })
}

/// A rule of the `rules` key, or whether what is wrong with it lets anything run if it is left out, and why.
fn rule(raw: &str) -> Result<Rule, (bool, String)> {
    let entry = RuleEntry::parse(raw).map_err(|_| (false, "not an object.".to_owned()))?;
    let allows = entry.fields.iter().filter(|(key, _)| key == "effect").count() == 1
        && entry.string("effect").as_deref() == Some("allow");
    // What a misspelt key was to narrow would be left wide.
    let fields = [
        "effect",
        "tool",
        "program",
        "args",
        "path",
        "host",
        "reads",
        "env",
        "readable",
        "writable",
        "sockets",
        "definition",
        "note",
    ];
    if let Some((key, _)) = entry.fields.iter().find(|(key, _)| !fields.contains(&key.as_str())) {
        return Err((allows, format!("no key {key:?}.")));
    }
    let rule: Rule = serde_json::from_str(raw).map_err(|error| (allows, format!("{}.", plain(&error))))?;
    match rule.fault() {
        Some(fault) => Err((rule.effect == RuleEffect::Allow, fault)),
        None => Ok(rule),
    }
}

/// The error without the place inside the entry: the report has the line of the file.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Adds rules to a file, made if there is none. Rules that stand there already are not added again. `locks` is the
/// folder of the lock that all of lisle's processes share.
///
/// # Errors
/// A sentence that names the file; it is as it was then.
pub fn add(path: &Path, locks: &Path, rules: &[Rule]) -> Result<(), String> {
    change(path, locks, |text| text::add(text, rules))
}

/// Takes a rule out of a file, wherever it stands in the `rules` key. None is no error.
///
/// # Errors
/// A sentence that names the file; it is as it was then.
pub fn remove(path: &Path, locks: &Path, gone: &Rule) -> Result<(), String> {
    change(path, locks, |text| text::remove(text, &|raw| rule(raw).is_ok_and(|rule| rule == *gone)))
}

/// Changes a file's text under the lock. Another program that writes meanwhile loses nothing: its text is read again.
pub(super) fn change(path: &Path, locks: &Path, edit: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
    let failed =
        |what: &str, error: &dyn std::fmt::Display| format!("{} was not changed: {what}{error}.", path.display());
    let io = |error: io::Error| failed("", &error);
    super::files::private_folder(locks).map_err(io)?;
    let lock = plain_file::append(&locks.join("permissions.lock")).map_err(io)?;
    lock.lock().map_err(io)?;
    // A link leads to the file that is meant.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for _ in 0..16 {
        let before = contents(&path).map_err(io)?;
        let text = std::str::from_utf8(before.as_deref().unwrap_or_default()).map_err(|_| failed("not UTF-8", &""))?;
        let edited = edit(text).map_err(|why| failed("", &why))?;
        if edited == text {
            return Ok(());
        }
        let (temp, folder) = temporary(&path).map_err(io)?;
        let done = write(&temp, &path, edited.as_bytes()).and_then(|()| {
            if contents(&path)? != before {
                return Ok(false);
            }
            std::fs::rename(&temp, &path)?;
            plain_file::folder(&folder)?.sync_all()?;
            Ok(true)
        });
        if !matches!(done, Ok(true)) {
            // What counts is that the file itself is whole.
            let _ = std::fs::remove_file(&temp);
        }
        if done.map_err(io)? {
            return Ok(());
        }
    }
    Err(failed("", &"another program keeps writing it"))
}

fn contents(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match plain_file::read(path, LONGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn temporary(path: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    super::files::private_folder(&folder)?;
    Ok((folder.join(format!(".lisle-{}-{:08x}.tmp", std::process::id(), fastrand::u32(..))), folder))
}

/// Writes the new text beside the file, with the rights of the old one; a new one is its owner's alone.
fn write(temp: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = plain_file::create_new(temp)?;
    if let Ok(meta) = std::fs::metadata(path) {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
