//! Preview of an undo in lines: each file with what happens to it, and why where that is no plain case.

use super::super::figures::count;
use super::super::overlay::undo::{ONLY_HERE, about, case, deed, heading, reasons};
use super::sheet::{Item, Sheet, row};
use crate::app::line::Line;
use crate::app::msg::Msg;
use crate::app::state::clock::Clock;
use crate::app::state::overlay::UndoCard;
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::domain::undo::{COMMITS_STAY, UndoAim, UndoFile, UndoPlan};

/// The card as lines; nothing while the engine compares the files.
pub(super) fn of(time: Clock, card: &UndoCard) -> Sheet {
    let mut head = vec![format!("question: {}", heading(time, card, card.plan.as_ref()))];
    let Some(plan) = &card.plan else { return Sheet { head, waits: true, ..Sheet::default() } };
    head.extend(about(card, plan, "..."));
    let items = plan.files.iter().enumerate().map(|(at, file)| {
        let mut item = row(words(card, file), at);
        item.lines.extend(reasons(card, file));
        item
    });
    Sheet { head, items: items.collect(), foot: foot(card, plan), ..Sheet::default() }
}

/// `revert src/a.rs: 3 added, 1 removed`: lines as the undo would change them.
fn words(card: &UndoCard, file: &UndoFile) -> String {
    let lines = file.lines.filter(|_| card.restores(file));
    let lines =
        lines.map(|(added, removed)| format!("{} added, {removed} removed", count(added as usize, "line", "lines")));
    let facts: Vec<String> = case(card, file).map(str::to_owned).into_iter().chain(lines).collect();
    let colon = if facts.is_empty() { "" } else { ": " };
    format!("{} {}{colon}{}", deed(&card.aim, file.deed), reveal_line(&file.shown), facts.join("; "))
}

fn foot(card: &UndoCard, plan: &UndoPlan) -> Vec<String> {
    let mut out = Vec::new();
    if plan.files.is_empty() {
        out.push(if plan.gaps.is_empty() { "all files are unchanged" } else { "no files to restore" }.to_owned());
    }
    out.extend(plan.commits.then(|| COMMITS_STAY.to_owned()));
    out.extend(plan.gaps.iter().map(|gap| format!("incomplete record: {}", clean_line(gap))));
    out.extend(card.rewind.is_none().then(|| ONLY_HERE.to_owned()));
    out
}

/// The item that does it, with how many files it restores.
pub(super) fn accept(card: &UndoCard) -> Option<Item> {
    let plan = card.plan.as_ref()?;
    let files = plan.files.iter().filter(|file| card.restores(file)).count();
    let files = count(files, "file", "files");
    let text = match card.aim {
        _ if card.rewind.is_some() => format!("yes: rewind, restoring {files}"),
        UndoAim::Redo => format!("yes: redo {files}"),
        UndoAim::Last | UndoAim::Since(_) => format!("yes: restore {files}"),
    };
    Some(Item { lines: vec![text], does: Msg::Line(Line::Accept) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::At;
    use crate::domain::ids::SessionId;
    use crate::domain::undo::{UndoDeed, UndoState};

    fn file(shown: &str, deed: UndoDeed, state: UndoState) -> UndoFile {
        UndoFile { path: shown.into(), shown: shown.to_owned(), deed, lines: Some((3, 1)), state, during: None }
    }

    #[test]
    fn each_file_says_what_happens_to_it_and_why() {
        let mut card = UndoCard::new(SessionId::parse("s").unwrap(), UndoAim::Last);
        assert!(of(Clock::new(At(0), 0), &card).waits);
        card.plan = Some(UndoPlan {
            aim: UndoAim::Last,
            at: At(0),
            about: String::new(),
            any: true,
            files: vec![
                file("src/found/a.rs", UndoDeed::Change, UndoState::Ready),
                file("new\u{1b}[2J/", UndoDeed::Remove, UndoState::Ready),
                file(".envrc", UndoDeed::Bring, UndoState::Risky("direnv runs it.".to_owned())),
                file("b", UndoDeed::Change, UndoState::Lost("Its content was not kept.".to_owned())),
            ],
            gaps: vec!["A command ended early.".to_owned()],
            commits: true,
        });
        let sheet = of(Clock::new(At(0), 0), &card);
        let lines: Vec<String> = sheet.items.iter().map(|item| item.lines.join(" | ")).collect();
        assert_eq!(sheet.head, ["question: Undo"]);
        assert_eq!(
            lines,
            [
                "revert src/found/a.rs: 3 lines added, 1 removed",
                "remove new␛[2J/: 3 lines added, 1 removed",
                "restore .envrc: may run code, skipped | direnv runs it.",
                "revert b: not possible | Its content was not kept.",
            ]
        );
        assert_eq!(
            sheet.foot,
            [COMMITS_STAY, "incomplete record: A command ended early.", ONLY_HERE].map(str::to_owned)
        );
        assert_eq!(accept(&card).unwrap().lines, ["yes: restore 2 files"]);
        card.also.insert(".envrc".into());
        assert_eq!(accept(&card).unwrap().lines, ["yes: restore 3 files"]);
    }
}
