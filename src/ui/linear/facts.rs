//! Figures of a session that are printed when they change.

use super::super::header;
use super::super::mode::mode;
use super::{ask, row};
use crate::app::state::State;
use crate::app::state::open::{Open, Turn};
use crate::domain::Mode;
use crate::domain::sanitise::clean_line;
use crate::domain::session::SessionMeta;
use crate::domain::tool::TodoStatus;

/// Figures that are printed when they change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SessionFacts {
    pub(super) title: String,
    pub(super) mode: Mode,
    pub(super) model: String,
    pub(super) status: String,
    pub(super) labels: String,
    pub(super) marked: String,
    pub(super) cwd: String,
    pub(super) plan: Option<String>,
    pub(super) todo: Option<String>,
    pub(super) retry: Option<String>,
    pub(super) compacting: Option<(u32, u32)>,
    pub(super) waiting: Option<String>,
    pub(super) held_by: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) redelivery: bool,
}

/// Marks of a session.
fn marks(meta: &SessionMeta) -> String {
    let marks = [(meta.flagged, "flagged"), (meta.archived, "archived"), (meta.hidden, "hidden")];
    let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
    if marks.is_empty() { "nothing".to_owned() } else { marks.join(", ") }
}

/// The facts of the session that is shown.
pub(super) fn facts(state: &State, open: &Open, home: &str) -> SessionFacts {
    let meta = state.current_meta();
    let (model, thinking) = header::model(state);
    let todo = (!open.todo.is_empty()).then(|| {
        let done = open.todo.iter().filter(|item| item.status == TodoStatus::Completed).count();
        let now = open.todo.iter().find(|item| item.status == TodoStatus::InProgress);
        let now = now.map(|item| format!(", now: {}", clean_line(&item.content))).unwrap_or_default();
        format!("to do: {done} of {} done{now}", open.todo.len())
    });
    let retry = open.turn.retry.as_ref();
    SessionFacts {
        title: meta.map(|meta| clean_line(meta.shown_title()).into_owned()).unwrap_or_default(),
        mode: mode(state),
        model: match thinking {
            Some(level) => format!("{model}, thinking {level}"),
            None => model,
        },
        status: meta.map(|meta| clean_line(&meta.status).into_owned()).unwrap_or_default(),
        labels: match meta.map(|meta| meta.labels.join(", ").replace("::", " ")) {
            Some(labels) if !labels.is_empty() => clean_line(&labels).into_owned(),
            _ => "none".to_owned(),
        },
        marked: meta.map(marks).unwrap_or_default(),
        cwd: meta.map(|meta| clean_line(&ask::home_path(&meta.cwd, home)).into_owned()).unwrap_or_default(),
        plan: open.plan.as_deref().map(row::progress),
        todo,
        retry: retry.map(|retry| format!("{} of {}: {}", retry.attempt, retry.of, clean_line(&retry.reason))),
        compacting: open.turn.compacting,
        waiting: waiting(&open.turn),
        redelivery: open.redelivery.is_some(),
        files: state.composer().files().there().iter().map(|file| clean_line(&file.name).into_owned()).collect(),
        held_by: meta.and_then(|meta| meta.held_by.as_ref()).map(|who| clean_line(who).into_owned()),
    }
}

/// Cause of a request's wait.
fn waiting(turn: &Turn) -> Option<String> {
    let slot = turn.waiting.as_ref().map(|name| format!("for a slot at {}", clean_line(name.as_str())));
    let starting = || format!("for {} to start", clean_line(&turn.starting.join(", ")));
    slot.or_else(|| (!turn.starting.is_empty()).then(starting))
}
