//! `patch`: changes, makes, removes and moves several files in one call, all or none.
//!
//! [`format`] reads what the model wrote, `apply` makes the changes in a text, `commit` on the disk. Reading a file
//! that is to be changed, and keeping its form, is shared with `write`.

mod apply;
mod commit;
mod format;

use super::files::attributes;
use super::files::text::{self, Newlines};
use super::files::{self, FileError};
use super::files::{classify, paths};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::write::{PlannedWrite, explain, known, other_names};
use super::{CallPlace, Halt, RunContext, RunError, Tool, blocking, left_out, same_facts};
use crate::domain::count::count;
use crate::domain::diff::FileDiff;
use crate::domain::hex::hex;
use crate::domain::tool::{CallFacts, FileChange, Outcome, Proposal, ToolFigures, ToolSpec, Touch, here};
use format::{FileAction, One};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files of one patch at the most.
const MOST_FILES: usize = 100;

/// The tool.
pub struct Patch;

impl Tool for Patch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "patch".to_owned(),
            description: "Changes several files in one call, all or none: adds, updates, deletes and moves. Files that are \
                updated, deleted or moved must have been read with `read` in this session and be unchanged since. For one \
                place in one file `edit` is simpler. The format: `*** Begin Patch`, then for each file one of `*** Add \
                File: PATH` (every line of it with a `+` before it), `*** Delete File: PATH`, or `*** Update File: PATH`, \
                which `*** Move to: PATH` may follow; then its changed places, each begun by `@@`, or by `@@ LINE` with a \
                line of the file that stands somewhere before it; lines begin with a blank (stays), `-` (goes) or `+` \
                (comes), and about three lines that stay around a change make it certain where it is; at last \
                `*** End Patch`. A unified diff is taken, too. Line endings, encoding and permissions are kept. What comes \
                back: what was done to each file; or why nothing was, with the closest text for a place that was not found."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "patch": {"type": "string", "description": "The whole patch, from `*** Begin Patch` to `*** End Patch`, or a unified diff. Paths are relative to the working directory, or absolute."}
                },
                "required": ["patch"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        subject(input)
    }

    fn inspect(&self, input: &Value, place: &CallPlace, seen: &Seen) -> Result<CallFacts, String> {
        Ok(facts(&planned(input, place, seen)?, subject(input), place))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        blocking(move || carry_out(&input, &with))
    }
}

/// The paths that a patch names, on one line.
fn subject(input: &Value) -> String {
    let written = ["patch", "input"].iter().find_map(|field| input.get(field)?.as_str()).unwrap_or_default();
    match format::parse(written) {
        Ok(ones) => {
            let names: Vec<&str> = ones.iter().map(|one| one.path.as_str()).collect();
            input::one_line(&names.join(", "), 300)
        }
        Err(_) => String::new(),
    }
}

/// Change of one file, prepared and not yet done.
struct PreparedChange {
    change: PlannedWrite,
    /// Target of a move.
    to: Option<PathBuf>,
    /// It is deleted.
    is_gone: bool,
}

fn planned(input: &Value, place: &CallPlace, seen: &Seen) -> Result<Vec<PreparedChange>, String> {
    let fields = InputFields::of("patch", input)?;
    // Codex calls it `input`, and models that know that tool do so here.
    let text = match fields.text_if_any("input")? {
        Some(text) if fields.text_if_any("patch")?.is_none() => text,
        _ => fields.text("patch")?,
    };
    let ones = format::parse(text)?;
    if ones.len() > MOST_FILES {
        return Err(format!(
            "The patch names {} files; at most {MOST_FILES} can be in one. Make several calls.",
            ones.len()
        ));
    }
    let mut taken: Vec<PathBuf> = Vec::new();
    let mut pieces = Vec::new();
    for one in &ones {
        let piece = piece(one, place, seen).map_err(|why| format!("{}: {why} Nothing was changed.", one.path))?;
        for path in std::iter::once(&piece.change.path).chain(&piece.to) {
            if taken.contains(path) {
                let shown = paths::shown(path, place);
                return Err(format!(
                    "The patch names {shown} twice. Put all that becomes of a file under one heading."
                ));
            }
            taken.push(path.clone());
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

fn piece(one: &One, place: &CallPlace, seen: &Seen) -> Result<PreparedChange, String> {
    let path = paths::resolve(&one.path, place)?;
    match &one.deed {
        FileAction::Add(content) => {
            free(&one.path, &path, place)?;
            let (new, after) = (content.clone(), content.as_bytes().to_vec());
            let change = PlannedWrite { path, before: None, old: None, new, after, note: None };
            Ok(PreparedChange { change, to: None, is_gone: false })
        }
        FileAction::Delete => {
            let (loaded, old, _) = known(&path, place, seen)?;
            let change = PlannedWrite {
                path,
                before: Some(loaded),
                old: Some(old),
                new: String::new(),
                after: Vec::new(),
                note: None,
            };
            Ok(PreparedChange { change, to: None, is_gone: true })
        }
        FileAction::Update { to, hunks } => {
            let (loaded, old, form) = known(&path, place, seen)?;
            let to = to.as_ref().map(|to| paths::resolve(to, place).map(|path| (to, path))).transpose()?;
            let to = to.filter(|(_, to)| *to != path);
            if let Some((written, to)) = &to {
                free(written, to, place)?;
            }
            // A file with CRLF throughout is changed as if it had `\n`, the way `read` shows it.
            let crlf = form.newlines == Newlines::CrLf;
            let now = apply::apply(&if crlf { text::to_lf(&old) } else { old.clone() }, hunks)?;
            let new = if crlf { text::from_lf(&now) } else { now };
            if new == old && to.is_none() {
                return Err("The patch leaves it as it is.".to_owned());
            }
            let after = text::encode(&new, form).map_err(|c| {
                format!(
                    "It is Latin-1, which has no `{c}`. Leave that character out, or write the whole file with `write`."
                )
            })?;
            let change = PlannedWrite { path, before: Some(loaded), old: Some(old), new, after, note: None };
            Ok(PreparedChange { change, to: to.map(|(_, to)| to), is_gone: false })
        }
    }
}

/// Nothing is there yet.
fn free(written: &str, path: &Path, place: &CallPlace) -> Result<(), String> {
    if written.ends_with('/') {
        return Err(format!("{written} names a directory. Give the path of a file."));
    }
    match files::look(path) {
        Err(FileError::Missing(_)) => Ok(()),
        Err(error) => Err(explain(error, path, place)),
        Ok(_) => Err(format!("{} exists already. Update it, or delete it first.", paths::shown(path, place))),
    }
}

impl PreparedChange {
    fn diff(&self, place: &CallPlace) -> FileDiff {
        let diff = self.change.diff(place);
        match &self.to {
            Some(to) => FileDiff { path: paths::shown(to, place), moved_from: Some(diff.path), ..diff },
            None => FileDiff { is_gone: self.is_gone, ..diff },
        }
    }

    fn touches(&self, place: &CallPlace) -> Vec<Touch> {
        let mut touches = self.change.touches(place);
        let to = self.to.iter().map(|to| Touch::Write { path: to.clone(), place: classify::classify(to, place) });
        touches.extend(to);
        touches
    }

    fn file_change(&self, place: &CallPlace) -> FileChange {
        let before = self.change.before.as_ref().map(|loaded| hex(&loaded.hash)).unwrap_or_default();
        let after = if self.is_gone { String::new() } else { hex(&files::hash(&self.change.after)) };
        FileChange { diff: self.diff(place), before, after }
    }

    /// Actions on the disk: writes, then removals.
    fn deeds(&self) -> (Option<commit::DiskChange<'_>>, Option<commit::DiskChange<'_>>) {
        let PlannedWrite { path, before, after: bytes, .. } = &self.change;
        let removed = || before.as_ref().map(|before| commit::DiskChange::Remove { path, before });
        match (&self.to, before) {
            (Some(to), Some(before)) => {
                (Some(commit::DiskChange::Bring { path: to, bytes, mode: before.mode & 0o777, from: path }), removed())
            }
            _ if self.is_gone => (None, removed()),
            _ => (Some(commit::DiskChange::Put { path, bytes, before: before.as_ref() }), None),
        }
    }

    /// Result, as a line for the model.
    fn told(&self, place: &CallPlace) -> String {
        let diff = self.diff(place);
        let counts = format!("{} added, {} removed", diff.added, diff.removed);
        match &diff {
            FileDiff { is_new: true, path, .. } => {
                let lines = count(usize::try_from(diff.added).unwrap_or(usize::MAX), "line", "lines");
                format!("Created {path}: {lines}.")
            }
            FileDiff { is_gone: true, path, .. } => format!("Deleted {path}."),
            FileDiff { moved_from: Some(from), path, .. } => format!("Moved {from} to {path}: {counts}."),
            FileDiff { path, .. } => {
                let others = other_names(self.change.before.as_ref()).unwrap_or_default();
                format!("Changed {path}: {counts}.{others}")
            }
        }
    }
}

fn facts(pieces: &[PreparedChange], subject: String, place: &CallPlace) -> CallFacts {
    let mut touches: Vec<Touch> = pieces.iter().flat_map(|piece| piece.touches(place)).collect();
    classify::judge_together(&mut touches, place);
    let mut changes: Vec<FileChange> = pieces.iter().map(|piece| piece.file_change(place)).collect();
    let proposal = match (changes.len(), changes.pop()) {
        (1, Some(FileChange { diff, before, after })) if diff.moved_from.is_none() => {
            Proposal::Change { diff, before, after }
        }
        (_, last) => {
            changes.extend(last);
            Proposal::Changes { changes }
        }
    };
    CallFacts { tool: "patch".to_owned(), subject, touches, proposal, secrets_here: false, left_out: Vec::new() }
}

fn carry_out(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let place = &with.place;
    let plan = || planned(input, place, &with.seen);
    let pieces = plan()?;
    let now = facts(&pieces, subject(input), place);
    if !same_facts(&now, &with.facts) || !left_out::same_places(&with.facts, &now) {
        return Err(RunError::FactsChanged(Box::new(now)).into());
    }
    let (pieces, now) = left(pieces, now, with).map_err(Halt::Says)?;
    let (come, go): (Vec<_>, Vec<_>) = pieces.iter().map(PreparedChange::deeds).unzip();
    let deeds: Vec<commit::DiskChange<'_>> = come.into_iter().flatten().chain(go.into_iter().flatten()).collect();
    with.before_changing()?;
    let mut lost = Vec::new();
    if let Err(commit::Failed { error, left }) = commit::all(&deeds, &mut lost) {
        if left.is_empty() && matches!(error, FileError::Changed(_)) {
            // Somebody was faster: what would happen now is another question.
            let now = facts(&plan()?, subject(input), place);
            if !same_facts(&now, &with.facts) {
                return Err(RunError::FactsChanged(Box::new(now)).into());
            }
        }
        let left: Vec<String> = left.iter().map(|path| paths::shown(path, place)).collect();
        let what = if left.is_empty() {
            "Nothing was changed; try again.".to_owned()
        } else {
            format!("What was made before it could not be taken back in: {}. Read these files.", left.join(", "))
        };
        return Err(Halt::Says(format!("{error}. {what}")));
    }
    for piece in pieces.iter().filter(|piece| !piece.is_gone) {
        with.seen.note(piece.to.as_ref().unwrap_or(&piece.change.path), files::hash(&piece.change.after));
    }
    let mut told: Vec<String> = pieces.iter().map(|piece| piece.told(place)).collect();
    told.extend(attributes::lost(&lost).map(|lost| format!("Note: {lost}.")));
    let mut figures = ToolFigures::default();
    figures.propose(&now.proposal);
    let mut made = None;
    if !with.facts.left_out.is_empty() {
        told.push(left_out::told(&with.facts));
        made = Some(Box::new(now.proposal));
    }
    Ok(Outcome { figures, made, ..Outcome::ok(told.join("\n")) })
}

/// The changes without what the user struck out, and the facts of what is left.
fn left(
    pieces: Vec<PreparedChange>,
    facts_of_all: CallFacts,
    with: &RunContext,
) -> Result<(Vec<PreparedChange>, CallFacts), String> {
    if with.facts.left_out.is_empty() {
        return Ok((pieces, facts_of_all));
    }
    let mut first = 0;
    let mut left = Vec::new();
    // Facts list the files in the order of the patch.
    for (piece, diff) in pieces.into_iter().zip(facts_of_all.proposal.diffs()) {
        let count = diff.hunks.len();
        let struck = here(&with.facts.left_out, first, count);
        first += count;
        if struck.is_empty() {
            left.push(piece);
        } else if struck.len() < count || piece.to.is_some() {
            // A move stays one, though nothing of the text changes.
            let change = left_out::without(piece.change, diff, &struck)?;
            left.push(PreparedChange { change, ..piece });
        }
    }
    let now = facts(&left, facts_of_all.subject.clone(), &with.place);
    Ok((left, now))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::domain::tool;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn patch(body: &str) -> Value {
        json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
    }

    const ALL: &str = "*** Add File: new/n.txt\n+one\n+two\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n\
        *** Delete File: gone.txt\n*** Update File: from.txt\n*** Move to: sub/to.txt\n@@\n-x\n+y";

    fn ready() -> Bench {
        let bench = Bench::new();
        for (name, content) in [("a.txt", "one\ntwo\n"), ("gone.txt", "g\n"), ("from.txt", "x\r\nz\r\n")] {
            bench.write(name, content);
            bench.ok("read", json!({"path": name}));
        }
        std::fs::set_permissions(bench.path("from.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
        bench
    }

    #[test]
    fn files_that_make_a_repository_together_are_asked_about() {
        let bench = ready();
        let places = |names: &[&str]| -> Vec<tool::PathPlace> {
            let body: Vec<String> = names.iter().map(|name| format!("*** Add File: {name}\n+x")).collect();
            let facts = bench.inspect("patch", &patch(&body.join("\n"))).unwrap();
            let place = |touch: &Touch| if let Touch::Write { place, .. } = touch { Some(*place) } else { None };
            facts.touches.iter().filter_map(place).collect()
        };
        let protected = |names: &[&str]| places(names).contains(&tool::PathPlace::Protected);
        assert!(protected(&["lib/HEAD", "lib/objects/x", "lib/refs/x", "lib/config"]));
        assert!(protected(&["lib/a/HEAD", "lib/a/commondir"]));
        assert!(!protected(&["lib/HEAD", "lib/objects/x", "lib/config"]));
        assert!(!protected(&["lib/HEAD", "objects/x", "refs/x"]));
        bench.write("half/HEAD", "x");
        bench.write("half/refs/x", "x");
        assert!(protected(&["half/objects/x", "half/config"]));
    }

    #[test]
    fn files_are_added_changed_deleted_and_moved_in_one_call() {
        let bench = ready();
        let facts = bench.inspect("patch", &patch(ALL)).unwrap();
        assert_eq!(facts.subject, "new/n.txt, a.txt, gone.txt, from.txt");
        let written: Vec<_> = facts
            .touches
            .iter()
            .map(|touch| matches!(touch, Touch::Write { place: tool::PathPlace::Inside, .. }))
            .collect();
        assert_eq!(written, [true; 5]);
        let diffs: Vec<_> = facts.proposal.diffs().map(|diff| (diff.path.clone(), diff.is_new, diff.is_gone)).collect();
        let expected = [
            ("new/n.txt", true, false),
            ("a.txt", false, false),
            ("gone.txt", false, true),
            ("sub/to.txt", false, false),
        ];
        assert_eq!(diffs, expected.map(|(path, new, gone)| (path.to_owned(), new, gone)));
        let outcome = bench.run_with("patch", patch(ALL), facts).unwrap();
        assert_eq!(
            outcome.text,
            "Created new/n.txt: 2 lines.\nChanged a.txt: 1 added, 1 removed.\nDeleted gone.txt.\n\
             Moved from.txt to sub/to.txt: 1 added, 1 removed."
        );
        assert_eq!(outcome.figures.diffs.len(), 4);
        assert_eq!(bench.content("new/n.txt"), b"one\ntwo\n");
        assert_eq!(bench.content("a.txt"), b"one\nzwei\n");
        assert_eq!(bench.content("sub/to.txt"), b"y\r\nz\r\n", "line endings are kept");
        assert_eq!(std::fs::metadata(bench.path("sub/to.txt")).unwrap().mode() & 0o777, 0o755);
        assert!(!bench.path("gone.txt").exists() && !bench.path("from.txt").exists());
        // What it wrote is known now.
        bench.ok("edit", json!({"path": "sub/to.txt", "edits": [{"old": "z", "new": "Z"}]}));
    }

    #[test]
    fn a_unified_diff_is_one_change() {
        let bench = ready();
        let input = json!({"input": "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n"});
        let outcome = bench.ok("patch", input);
        assert_eq!(bench.content("a.txt"), b"one\n2\n3\n");
        assert!(outcome.figures.diff.is_some() && outcome.figures.diffs.is_empty());
    }

    #[test]
    fn one_that_cannot_be_leaves_all_as_they_are() {
        let bench = ready();
        bench.write("unread.txt", "u\n");
        bench.write("pic", b"\x89PNG\r\n\x1a\n\0\0");
        for (body, says) in [
            ("*** Update File: a.txt\n@@\n-nothing like that\n+x", "a.txt: The lines to change were not found."),
            ("*** Update File: unread.txt\n@@\n-u\n+v", "was not read yet"),
            ("*** Delete File: unread.txt", "was not read yet"),
            ("*** Delete File: pic", "was not read yet"),
            ("*** Delete File: nowhere", "does not exist"),
            ("*** Add File: unread.txt\n+x", "unread.txt exists already"),
            ("*** Update File: from.txt\n*** Move to: unread.txt", "exists already"),
            ("*** Update File: from.txt\n*** Move to: dir/", "names a directory"),
            ("*** Add File: new/n.txt\n+again", "names new/n.txt twice"),
            ("*** Update File: gone.txt\n@@\n g", "leaves it as it is"),
        ] {
            let whole = format!("*** Add File: new/n.txt\n+one\n*** Update File: a.txt\n@@\n-two\n+zwei\n{body}");
            let whole = if body.contains(" a.txt") { format!("*** Add File: new/n.txt\n+one\n{body}") } else { whole };
            let error = bench.error("patch", patch(&whole));
            assert!(error.contains(says), "{body}: {error}");
            assert!(!bench.path("new").exists() && bench.content("a.txt") == b"one\ntwo\n", "{body}");
        }
    }

    #[test]
    fn what_was_decided_on_is_what_is_done() {
        let bench = ready();
        let facts = bench.inspect("patch", &patch(ALL)).unwrap();
        // Somebody changes a file meanwhile: the model gets an error, and nothing is done.
        bench.write("a.txt", "one\ntwo\nthree\n");
        let outcome = bench.run_with("patch", patch(ALL), facts).unwrap();
        assert!(outcome.failed && outcome.text.contains("changed since it was read"), "{}", outcome.text);
        assert!(!bench.path("new").exists() && bench.path("gone.txt").exists());
        // A folder becomes a link that leads out: another question.
        let bench = ready();
        let outside = bench.place.cwd.parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let facts = bench.inspect("patch", &patch(ALL)).unwrap();
        symlink(&outside, bench.path("sub")).unwrap();
        match bench.run_with("patch", patch(ALL), facts) {
            Err(RunError::FactsChanged(now)) => {
                assert!(
                    now.touches
                        .contains(&Touch::Write { path: outside.join("to.txt"), place: tool::PathPlace::Outside })
                );
            }
            other => panic!("{other:?}"),
        }
        assert!(!bench.path("new").exists() && std::fs::read_dir(&outside).unwrap().next().is_none());
    }

    #[test]
    fn secrets_and_protected_places_are_facts() {
        let bench = Bench::new();
        bench.write(".env", "A=1\n");
        bench.ok("read", json!({"path": ".env"}));
        let body = "*** Delete File: .env\n*** Add File: .git/hooks/pre-commit\n+x";
        let facts = bench.inspect("patch", &patch(body)).unwrap();
        assert!(facts.touches.contains(&Touch::Read { path: bench.path(".env"), secret: true }));
        let hook = bench.path(".git/hooks/pre-commit");
        assert!(facts.touches.contains(&Touch::Write { path: hook, place: tool::PathPlace::Protected }));
    }
}
