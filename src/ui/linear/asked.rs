//! Question that was printed last: what the numbers and the next line mean.

use super::row;
use super::sheet::{self, Sheet};
use crate::app::Msg;
use crate::app::line::Line;
use crate::app::state::panel::Choice;
use crate::domain::ids::{At, RequestId};
use crate::domain::request::Request;

/// Word behind the number of an answer that may be irreversible.
pub(super) const CONFIRM: &str = " confirm";

/// Items of a list that are read at once.
const PAGE: usize = 20;

/// Meaning of the numbers printed last.
#[derive(Clone, Debug, Default)]
pub(super) enum PendingPrompt {
    /// Nothing.
    #[default]
    Nothing,
    /// These answers of this request.
    Answers(RequestId, Vec<Choice>),
    /// The words for an answer of this request.
    Words(RequestId, Choice),
    /// The key that this request wants.
    Key(RequestId),
    /// Handling of the draft, which is this text.
    Draft(String),
    /// The items of a sheet, told up to this one.
    Sheet(Box<Sheet>, usize),
}

impl PendingPrompt {
    /// True if both ask for the same.
    pub(super) fn is(&self, other: &PendingPrompt) -> bool {
        match (self, other) {
            (PendingPrompt::Nothing, PendingPrompt::Nothing) => true,
            (PendingPrompt::Answers(a, x), PendingPrompt::Answers(b, y)) => (a, x) == (b, y),
            (PendingPrompt::Words(a, x), PendingPrompt::Words(b, y)) => (a, x) == (b, y),
            (PendingPrompt::Key(a), PendingPrompt::Key(b)) => a == b,
            (PendingPrompt::Draft(a), PendingPrompt::Draft(b)) => a == b,
            (PendingPrompt::Sheet(a, _), PendingPrompt::Sheet(b, _)) => sheet::words(a) == sheet::words(b),
            _ => false,
        }
    }

    pub(super) fn request(&self) -> Option<&RequestId> {
        match self {
            PendingPrompt::Answers(id, _) | PendingPrompt::Words(id, _) | PendingPrompt::Key(id) => Some(id),
            PendingPrompt::Nothing | PendingPrompt::Draft(_) | PendingPrompt::Sheet(..) => None,
        }
    }
}

/// Target of a line that was begun before its question was withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Withdrawn {
    /// Nothing.
    #[default]
    No,
    /// A question with numbers.
    Numbers,
    /// Words or a key.
    Words,
}

/// Question that was printed last, and its state since.
#[derive(Debug)]
pub(super) struct PrintedQuestion {
    pub(super) asked: PendingPrompt,
    /// Time when it was printed.
    pub(super) asked_at: At,
    /// A question was taken away that had not been answered here: the next line may be meant for it.
    pub(super) withdrawn: Withdrawn,
    /// The request that was told last, whole.
    pub(super) request: Option<Request>,
    /// A list that was told further on the user's wish.
    pub(super) more: Option<(usize, Box<Sheet>)>,
    /// More may come for the list that is open: it is not told yet.
    pub(super) holds: bool,
    /// The last line was about the question: a changed question is printed again.
    pub(super) acted: bool,
}

impl Default for PrintedQuestion {
    fn default() -> Self {
        Self {
            asked: PendingPrompt::Nothing,
            asked_at: At(i64::MIN),
            withdrawn: Withdrawn::No,
            request: None,
            more: None,
            holds: false,
            acted: false,
        }
    }
}

/// True for an item that chooses a row of the list.
pub(super) fn is_row(does: &Msg) -> bool {
    matches!(does, Msg::Line(Line::Row(_)))
}

/// An item behind its number.
pub(super) fn numbered(n: usize, lines: &[String]) -> Vec<String> {
    let mut lines = lines.iter();
    let first = lines.next().map(|line| format!("{}. {line}", n + 1));
    first.into_iter().chain(lines.map(|line| format!("   {line}"))).collect()
}

/// The items from this one on, as many as are read at once, and what can be written. Returns the first one that is left.
pub(super) fn page(sheet: &Sheet, from: usize, out: &mut Vec<String>) -> usize {
    let all = sheet.items.len();
    let to = from.saturating_add(PAGE).min(all);
    for (n, item) in sheet.items.iter().enumerate().take(to).skip(from) {
        out.extend(numbered(n, &item.lines));
    }
    if to < all {
        out.push(format!("({} more: write \"more\")", all - to));
    } else {
        out.extend(row::indented(sheet.foot.iter().cloned()));
    }
    let mut ways = Vec::new();
    if all > 0 {
        ways.push("a number".to_owned());
    }
    ways.extend(sheet.input.map(str::to_owned));
    let ways = if ways.is_empty() { String::new() } else { format!("{}; ", ways.join("; ")) };
    out.push(format!("answer: {ways}empty line to close"));
    to
}
