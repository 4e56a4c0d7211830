//! `write`: a whole file, new or in place of an old one that was read before.
//!
//! The change that was decided on is worked out again right before it is made, and checked once more at the rename.

use super::files::attributes;
use super::files::text::{self, Encoding, Newlines, TextForm};
use super::files::{self, FileError, LoadedFile};
use super::files::{classify, paths};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, blocking, left_out, read, same_facts};
use crate::domain::diff::FileDiff;
use crate::domain::hex::hex;
use crate::domain::tool::{self, CallFacts, Outcome, Proposal, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The tool.
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".to_owned(),
            description: "Writes a whole text file: a new one (missing directories are made), or in place of an old one, \
                which must have been read with `read` in this session and be unchanged since. To change parts of a file \
                use `edit`. An old file keeps its permissions, encoding, byte order mark and CRLF line endings. What \
                comes back: the number of lines, and how many were added and removed."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file: absolute, below ~, or relative to the working directory."},
                    "content": {"type": "string", "description": "The whole content, with `\\n` line endings and one at the end."}
                },
                "required": ["path", "content"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "path")
    }

    fn inspect(&self, input: &Value, place: &CallPlace, seen: &Seen) -> Result<CallFacts, String> {
        Ok(planned(input, place, seen)?.facts("write", self.subject(input), place))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        blocking(move || {
            carry_out("write", input::subject(&input, "path"), &with, || planned(&input, &with.place, &with.seen))
        })
    }
}

fn planned(input: &Value, place: &CallPlace, seen: &Seen) -> Result<PlannedWrite, String> {
    let fields = InputFields::of("write", input)?;
    let (path, content) = (fields.text("path")?, fields.text("content")?);
    if path.ends_with('/') {
        return Err(format!("{path} names a directory. Give the path of a file."));
    }
    let path = paths::resolve(path, place)?;
    let before = match files::look(&path) {
        Err(FileError::Missing(_)) => None,
        Err(e) => return Err(explain(e, &path, place)),
        Ok(_) => Some(known(&path, place, seen)?),
    };
    let Some((loaded, old, form)) = before else {
        let after = content.as_bytes().to_vec();
        return Ok(PlannedWrite { path, before: None, old: None, new: content.to_owned(), after, note: None });
    };
    let mut form = form;
    // A model writes `\n`; a file that had CRLF throughout keeps it.
    let new = if form.newlines == Newlines::CrLf { text::to_crlf(content) } else { content.to_owned() };
    let new = new.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(new);
    let mut note = None;
    let after = match text::encode(&new, form) {
        Ok(bytes) => bytes,
        Err(c) => {
            form = TextForm { encoding: Encoding::Utf8, ..form };
            note = Some(format!("it was Latin-1, which has no `{c}`, and is UTF-8 now"));
            text::encode(&new, form).map_err(|c| format!("`{c}` cannot be written."))?
        }
    };
    if after == loaded.bytes {
        return Err(format!("{} has exactly this content already. Nothing to do.", paths::shown(&path, place)));
    }
    Ok(PlannedWrite { path, before: Some(loaded), old: Some(old), new, after, note })
}

/// A change of one file, worked out and not yet made.
pub(crate) struct PlannedWrite {
    /// The resolved path.
    pub path: PathBuf,
    /// Current content; `None` for a new file.
    pub before: Option<LoadedFile>,
    /// Text of the file.
    pub old: Option<String>,
    /// The text that comes.
    pub new: String,
    /// The bytes that come.
    pub after: Vec<u8>,
    /// Note for the model.
    pub note: Option<String>,
}

impl PlannedWrite {
    /// Diff to show.
    pub fn diff(&self, place: &CallPlace) -> FileDiff {
        FileDiff::between(&paths::shown(&self.path, place), self.old.as_deref(), &self.new)
    }

    /// The exact change.
    fn proposal(&self, place: &CallPlace) -> Proposal {
        Proposal::Change {
            diff: self.diff(place),
            before: self.before.as_ref().map(|loaded| hex(&loaded.hash)).unwrap_or_default(),
            after: hex(&files::hash(&self.after)),
        }
    }

    /// Facts for the decision.
    pub fn facts(&self, tool: &str, subject: String, place: &CallPlace) -> CallFacts {
        CallFacts {
            tool: tool.to_owned(),
            subject,
            touches: self.touches(place),
            proposal: self.proposal(place),
            secrets_here: false,
            left_out: Vec::new(),
        }
    }

    /// Touched files.
    pub fn touches(&self, place: &CallPlace) -> Vec<Touch> {
        let mut touches = Vec::new();
        // The diff shows what is in the file, so changing a secret is also reading it.
        if self.before.is_some() && classify::is_secret(&self.path, place) {
            touches.push(Touch::Read { path: self.path.clone(), secret: true });
        }
        touches.push(Touch::Write { path: self.path.clone(), place: classify::classify(&self.path, place) });
        touches
    }
}

/// Reads a file that is to be changed: it must be text, be known, and be what it was.
///
/// # Errors
/// The sentence for the model.
pub(crate) fn known(path: &Path, place: &CallPlace, seen: &Seen) -> Result<(LoadedFile, String, TextForm), String> {
    let shown = paths::shown(path, place);
    let loaded = files::load(path).map_err(|e| explain(e, path, place))?;
    match seen.hash(path) {
        None => {
            return Err(format!(
                "{shown} exists and was not read yet. Use `read` on it first; what was read before lisle was started \
                 the last time does not count."
            ));
        }
        Some(hash) if hash != loaded.hash => {
            return Err(format!("{shown} was changed since it was read, perhaps by the user. Use `read` on it again."));
        }
        Some(_) => {}
    }
    if loaded.mode & 0o222 == 0 {
        return Err(format!("{shown} is write-protected (mode {:o}). Its owner did not want it changed.", loaded.mode));
    }
    let (old, form) = text::decode(&loaded.bytes).map_err(|kind| format!("{shown} is {kind}, not text."))?;
    Ok((loaded, old, form))
}

/// A sentence for the model.
pub(crate) fn explain(error: FileError, path: &Path, place: &CallPlace) -> String {
    let shown = paths::shown(path, place);
    match error {
        FileError::NoFolder(_) => format!("{shown} lies below a file, which cannot hold other files."),
        FileError::Directory(_) => format!("{shown} is a directory. Give the path of a file."),
        other => read::explain(other, path, place),
    }
}

/// Notice about a file that had more than one name: the new file replaces one of them.
pub(crate) fn other_names(before: Option<&LoadedFile>) -> Option<String> {
    let before = before.filter(|before| before.names > 1)?;
    let others = match before.names - 1 {
        1 => "another name, which keeps".to_owned(),
        n => format!("{n} other names, which keep"),
    };
    Some(format!(" Note: the file had {others} the old content."))
}

/// Makes the change if it is still the one that was decided on.
pub(crate) fn carry_out(
    tool: &str,
    subject: String,
    with: &RunContext,
    plan: impl Fn() -> Result<PlannedWrite, String>,
) -> Result<Outcome, Halt> {
    let change = plan()?;
    let facts = change.facts(tool, subject.clone(), &with.place);
    if !same_facts(&facts, &with.facts) || !left_out::same_places(&with.facts, &facts) {
        return Err(RunError::FactsChanged(Box::new(facts)).into());
    }
    let (change, proposal) = left(change, facts.proposal, with).map_err(Halt::Says)?;
    let shown = paths::shown(&change.path, &with.place);
    with.before_changing()?;
    let lost = match files::replace(&change.path, &change.after, change.before.as_ref()) {
        Ok(lost) => lost,
        Err(FileError::Changed(_)) => {
            // Somebody was faster: what would happen now is another question.
            let now = plan()?.facts(tool, subject, &with.place);
            if same_facts(&now, &with.facts) {
                return Err(Halt::Says(format!(
                    "{shown} changed while it was written. Nothing was written; try again."
                )));
            }
            return Err(RunError::FactsChanged(Box::new(now)).into());
        }
        Err(FileError::Io { source, .. }) => {
            return Err(Halt::Says(format!("Can't write {shown}: {source}. The file is unchanged.")));
        }
        Err(other) => return Err(Halt::Says(format!("{other}. Nothing was written."))),
    };
    with.seen.note(&change.path, files::hash(&change.after));
    let (added, removed) = proposal.diffs().next().map_or((0, 0), |diff| (diff.added, diff.removed));
    let lines = change.new.lines().count();
    let what = if change.before.is_none() { "Created" } else { "Changed" };
    let lines = crate::domain::count::count(lines, "line", "lines");
    let mut text = format!("{what} {shown}: {lines}, {added} added, {removed} removed.");
    text.extend(other_names(change.before.as_ref()));
    if let Some(lost) = attributes::lost(&lost) {
        text.push_str(&format!(" Note: {lost}."));
    }
    if let Some(note) = &change.note {
        text.push_str(&format!(" Note: {note}."));
    }
    if !with.facts.left_out.is_empty() {
        text.push_str(&format!(" {}", left_out::told(&with.facts)));
    }
    let mut outcome = Outcome::ok(text);
    outcome.figures.propose(&proposal);
    outcome.made = (!with.facts.left_out.is_empty()).then(|| Box::new(proposal));
    Ok(outcome)
}

/// The change without what the user struck out, and what it is then.
fn left(change: PlannedWrite, proposal: Proposal, with: &RunContext) -> Result<(PlannedWrite, Proposal), String> {
    let struck: Vec<usize> = tool::here(&with.facts.left_out, 0, usize::MAX);
    let Some(diff) = proposal.diffs().next().filter(|_| !struck.is_empty()) else { return Ok((change, proposal)) };
    let change = left_out::without(change, diff, &struck)?;
    let proposal = change.proposal(&with.place);
    Ok((change, proposal))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(bench: &Bench, name: &str) -> u32 {
        std::fs::metadata(bench.path(name)).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_new_file_is_made_with_its_folders() {
        let bench = Bench::new();
        let outcome = bench.ok("write", json!({"path": "a/b/c.txt", "content": "one\ntwo\n"}));
        assert_eq!(outcome.text, "Created a/b/c.txt: 2 lines, 2 added, 0 removed.");
        assert_eq!(bench.content("a/b/c.txt"), b"one\ntwo\n");
        let diff = outcome.figures.diff.unwrap();
        assert_eq!((diff.path.as_str(), diff.is_new, diff.added), ("a/b/c.txt", true, 2));
        // It is known now and can be changed without reading it.
        bench.ok("write", json!({"path": "a/b/c.txt", "content": "three\n"}));
    }

    #[test]
    fn an_old_file_must_be_read_and_unchanged() {
        let bench = Bench::new();
        bench.write("f", "old\n");
        let input = json!({"path": "f", "content": "new\n"});
        assert!(bench.error("write", input.clone()).contains("was not read yet"));
        bench.ok("read", json!({"path": "f"}));
        bench.write("f", "other\n");
        assert!(bench.error("write", input.clone()).contains("changed since it was read"));
        bench.ok("read", json!({"path": "f"}));
        bench.ok("write", input.clone());
        assert_eq!(bench.content("f"), b"new\n");
        assert!(bench.error("write", input).contains("exactly this content"));
    }

    #[test]
    fn form_and_mode_are_kept() {
        let bench = Bench::new();
        for (name, old, content, new) in [
            ("crlf", &b"a\r\nb\r\n"[..], "c\nd\n", &b"c\r\nd\r\n"[..]),
            ("bom", b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
            ("bom-given", b"\xef\xbb\xbfa\n", "\u{feff}b\n", b"\xef\xbb\xbfb\n"),
            ("wide", b"\xff\xfea\0\n\0", "b\n", b"\xff\xfeb\0\n\0"),
            ("latin", b"caf\xe9\n", "th\u{e9}\n", b"th\xe9\n"),
            ("latin-left", b"caf\xe9\n", "5 €\n", "5 €\n".as_bytes()),
        ] {
            bench.write(name, old);
            std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
            bench.ok("read", json!({"path": name}));
            let outcome = bench.ok("write", json!({"path": name, "content": content}));
            assert_eq!(bench.content(name), new, "{name}");
            assert_eq!(mode(&bench, name), 0o755);
            assert_eq!(outcome.text.contains("UTF-8 now"), name == "latin-left");
        }
    }

    #[test]
    fn a_file_with_two_names_is_replaced_under_one() {
        let bench = Bench::new();
        bench.write("f", "old\n");
        std::fs::hard_link(bench.path("f"), bench.place.cwd.parent().unwrap().join("outside")).unwrap();
        bench.ok("read", json!({"path": "f"}));
        let outcome = bench.ok("write", json!({"path": "f", "content": "new\n"}));
        assert!(outcome.text.contains("had another name, which keeps the old content"), "{}", outcome.text);
        assert_eq!(std::fs::read(bench.place.cwd.parent().unwrap().join("outside")).unwrap(), b"old\n");
    }

    #[test]
    fn facts_tell_the_real_place_and_the_change() {
        let bench = Bench::new();
        let outside = bench.place.cwd.parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        symlink(&outside, bench.path("link")).unwrap();
        symlink(outside.join("later"), bench.path("dangling")).unwrap();
        for (path, real, place) in [
            ("link/f", outside.join("f"), tool::PathPlace::Outside),
            ("dangling", outside.join("later"), tool::PathPlace::Outside),
            ("f", bench.path("f"), tool::PathPlace::Inside),
            (".git/hooks/x", bench.path(".git/hooks/x"), tool::PathPlace::Protected),
        ] {
            let facts = bench.inspect("write", &json!({"path": path, "content": "x\n"})).unwrap();
            assert_eq!(facts.touches, [Touch::Write { path: real, place }], "{path}");
            let Proposal::Change { before, after, diff } = facts.proposal else { panic!() };
            assert_eq!((before.as_str(), after, diff.added), ("", hex(&files::hash(b"x\n")), 1));
        }
        bench.write(".env", "A=1\n");
        bench.ok("read", json!({"path": ".env"}));
        let facts = bench.inspect("write", &json!({"path": ".env", "content": "A=2\n"})).unwrap();
        assert_eq!(facts.touches[0], Touch::Read { path: bench.path(".env"), secret: true });
    }

    #[test]
    fn a_folder_swapped_for_a_link_is_a_changed_fact() {
        let bench = Bench::new();
        let outside = bench.place.cwd.parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::create_dir(bench.path("sub")).unwrap();
        let input = json!({"path": "sub/f", "content": "x\n"});
        let facts = bench.inspect("write", &input).unwrap();
        std::fs::remove_dir(bench.path("sub")).unwrap();
        symlink(&outside, bench.path("sub")).unwrap();
        match bench.run_with("write", input, facts) {
            Err(RunError::FactsChanged(now)) => {
                assert_eq!(now.touches, [Touch::Write { path: outside.join("f"), place: tool::PathPlace::Outside }]);
            }
            other => panic!("{other:?}"),
        }
        assert!(!outside.join("f").exists());
    }

    #[test]
    fn another_content_than_decided_on_is_not_written() {
        let bench = Bench::new();
        let facts = bench.inspect("write", &json!({"path": "f", "content": "x\n"})).unwrap();
        let result = bench.run_with("write", json!({"path": "f", "content": "evil\n"}), facts);
        assert!(matches!(result, Err(RunError::FactsChanged(_))));
        assert!(!bench.path("f").exists());
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        bench.write("file", "x");
        bench.write("pic", b"\x89PNG\r\n\x1a\n\0\0");
        bench.write("fixed", "x");
        std::fs::create_dir(bench.path("dir")).unwrap();
        std::fs::set_permissions(bench.path("fixed"), std::fs::Permissions::from_mode(0o444)).unwrap();
        bench.ok("read", json!({"path": "fixed"}));
        for (input, says) in [
            (json!({"path": "new"}), "needs the field `content`"),
            (json!({"path": "dir", "content": ""}), "dir is a directory"),
            (json!({"path": "dir/", "content": ""}), "names a directory"),
            (json!({"path": "file/x", "content": ""}), "lies below a file"),
            (json!({"path": "pic", "content": ""}), "was not read yet"),
            (json!({"path": "fixed", "content": ""}), "write-protected (mode 444)"),
            (json!({"path": "", "content": ""}), "path is empty"),
        ] {
            let error = bench.error("write", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
