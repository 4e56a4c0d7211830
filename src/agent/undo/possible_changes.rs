//! Possible changes of a call: the judge knows them for some commands, the proposal for file tools.
//!
//! Other changes while the call ran are somebody else's, and undo leaves them alone. Pure.

use crate::domain::tool::{CallFacts, Proposal, Touch};
use crate::domain::undo::{Attributes, PathEntry};
use crate::permit::shell::{Judged, ReadOnlyProfile, judge_found};
use std::path::{Component, Path, PathBuf};

/// Characters that make a word of a command line stand for something else.
const EXPANDS: &[char] = &['$', '`', '*', '?', '[', '{', '~', '\\', '\'', '"', '(', '<', '>', '&', '|', '!'];

/// Possible changes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PossibleChanges {
    /// Nothing: all parts of it only read.
    Nothing,
    /// Only files whose paths end in one of these: all parts of it only read, and these are redirected to.
    Ends(Vec<PathBuf>),
    /// Anything.
    Unknown,
}

impl PossibleChanges {
    /// Possible changes of a call's commands; `None` for a call without any.
    pub(super) fn of(facts: &CallFacts) -> Option<Self> {
        let commands = facts.touches.iter().filter_map(|touch| match touch {
            Touch::Command { command, programs, unseen, .. } => Some((command, programs, unseen)),
            _ => None,
        });
        let mut ends = Vec::new();
        let mut any = false;
        for (command, programs, unseen) in commands {
            any = true;
            let judged = judge_found(command, ReadOnlyProfile::Enforced, programs, unseen.as_deref());
            match judged.verdict {
                Judged::ReadOnly(_) => {}
                Judged::Other(_) if !judged.parts.is_empty() && judged.parts.iter().all(|part| part.reads) => {
                    match judged.writes.iter().map(|path| end(path)).collect::<Option<Vec<PathBuf>>>() {
                        Some(paths) if !paths.is_empty() => ends.extend(paths),
                        _ => return Some(PossibleChanges::Unknown),
                    }
                }
                Judged::Other(_) | Judged::Catastrophic(_) => return Some(PossibleChanges::Unknown),
            }
        }
        let reach = if ends.is_empty() { PossibleChanges::Nothing } else { PossibleChanges::Ends(ends) };
        any.then_some(reach)
    }

    /// True if this path can have been changed.
    pub(super) fn has(&self, path: &Path) -> bool {
        match self {
            PossibleChanges::Nothing => false,
            PossibleChanges::Ends(ends) => ends.iter().any(|end| path.ends_with(end)),
            PossibleChanges::Unknown => true,
        }
    }
}

/// The end of a path that a redirection names, whatever directory the command went to before; `None` where the shell has a
/// say in it.
fn end(path: &str) -> Option<PathBuf> {
    if path.contains(EXPANDS) {
        return None;
    }
    let name = Path::new(path).file_name()?;
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    // Links may lead an absolute path elsewhere; its name stays.
    Some(if plain {
        Path::new(path).components().filter(|part| *part != Component::CurDir).collect()
    } else {
        name.into()
    })
}

/// Content that a file tool was to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Contents by their hashes, or nothing (an empty hash), in any of its files.
    Contents(Vec<String>),
    /// It does not say.
    Unknown,
}

impl Intent {
    pub(super) fn of(proposal: &Proposal) -> Self {
        match proposal {
            Proposal::Change { after, .. } => Intent::Contents(vec![after.clone()]),
            Proposal::Changes { changes } => {
                let mut hashes: Vec<String> = changes.iter().map(|change| change.after.clone()).collect();
                if changes.iter().any(|change| change.diff.moved_from.is_some()) {
                    hashes.push(String::new());
                }
                Intent::Contents(hashes)
            }
            Proposal::Command { .. }
            | Proposal::Script { .. }
            | Proposal::Address { .. }
            | Proposal::Connect { .. }
            | Proposal::SourceCall { .. }
            | Proposal::Plain => Intent::Unknown,
        }
    }

    /// Entry that the call left of a file that was `before` and is `found` now; `None` if it left it unchanged.
    pub(super) fn left(&self, before: &PathEntry, found: PathEntry, did: bool) -> Option<PathEntry> {
        let Intent::Contents(hashes) = self else { return Some(found) };
        let own = match &found {
            // A folder that was made for it; one that is not empty stays anyway.
            PathEntry::Folder { .. } => true,
            PathEntry::File { hash, .. } => hashes.contains(hash),
            PathEntry::Absent => hashes.iter().any(String::is_empty),
            PathEntry::Large { .. } | PathEntry::Link { .. } | PathEntry::Special | PathEntry::Unkept { .. } => false,
        };
        if own {
            return Some(found);
        }
        if !did {
            return None;
        }
        let (mode, attributes) = match (before, &found) {
            (_, PathEntry::File { mode, attributes, .. }) | (PathEntry::File { mode, attributes, .. }, _) => {
                (*mode, attributes.clone())
            }
            _ => (0o644, Attributes::default()),
        };
        match hashes.as_slice() {
            [one] if !one.is_empty() => Some(PathEntry::File { hash: one.clone(), mode, attributes }),
            _ => Some(PathEntry::unkept("it changed at the same moment")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(command: &str) -> PossibleChanges {
        let touches = vec![Touch::command(command, "/w")];
        let facts = CallFacts {
            tool: "bash".into(),
            subject: command.into(),
            touches,
            proposal: Proposal::Plain,
            secrets_here: false,
            left_out: Vec::new(),
        };
        PossibleChanges::of(&facts).unwrap()
    }

    #[test]
    fn what_a_command_can_change_is_known_or_not() {
        // What each can have changed of two files.
        for (command, out, notes) in [
            ("ls -l", false, false),
            ("sleep 5; cat a.txt", false, false),
            ("sleep 5; echo x > sub/out.txt", true, false),
            ("cd sub && echo x > ./out.txt", true, false),
            ("cd sub && echo x > ../sub/out.txt", true, false),
            ("echo x > $OUT", true, true),
            ("make", true, true),
            ("sleep 5; make > sub/out.txt", true, true),
        ] {
            let reach = reach(command);
            let has = |path: &str| reach.has(Path::new(path));
            assert_eq!((has("/w/sub/out.txt"), has("/w/notes")), (out, notes), "{command}: {reach:?}");
        }
        assert!(!reach("echo x > b/c").has(Path::new("/w/ab/c")));
    }

    #[test]
    fn what_a_file_tool_left_is_what_it_was_to_write() {
        let file = |hash: &str| PathEntry::File { hash: hash.into(), mode: 0o600, attributes: Attributes::default() };
        let intent = Intent::Contents(vec!["new".into()]);
        for (found, did, wanted) in [
            (file("new"), true, Some(file("new"))),
            (file("new"), false, Some(file("new"))),
            (file("the user's"), true, Some(file("new"))),
            (file("the user's"), false, None),
            (PathEntry::Absent, true, Some(file("new"))),
        ] {
            assert_eq!(intent.left(&file("old"), found.clone(), did), wanted, "{found:?} {did}");
        }
    }
}
