//! The inbox: all that waits, in every session, answerable without leaving the one that is shown.

use crate::app::effect::Effect;
use crate::app::shell::{focus, overlay, session, text};
use crate::app::state::State;
use crate::app::state::hunks::HunkView;
use crate::app::state::notices::TrueWhile;
use crate::app::state::open::Open;
use crate::app::state::overlay::{Inbox, Overlay, Reach, Waiting};
use crate::app::state::panel::Panel;
use crate::app::state::sessions::needs_you;
use crate::domain::attention::WANTS_MODEL;
use crate::domain::ids::{At, CallId, RequestId, SessionId};
use crate::domain::message::Body;
use crate::domain::request::{Approval, Ask, Request};
use crate::domain::session::SessionMeta;
use crate::domain::tool::Proposal;
use crate::domain::{Level, Notice};

/// A request in a few words.
fn in_words(request: &Request) -> String {
    match &request.ask {
        Ask::Approval(approval) => format!("{}: {}", approval.tool, shown(&approval.subject)),
        Ask::Plan(plan) => format!("plan: {}", shown(&plan.title)),
        Ask::Question(question) => text::one_line(&question.text),
        Ask::Trust(_) => "trust these rules?".to_owned(),
        Ask::Key(wanted) => format!("key for {}", text::one_line(wanted.connection.as_str())),
    }
}

/// Time of the row that the request is about.
fn since(open: &Open, request: &Request) -> Option<At> {
    let of_call = |call: &CallId| {
        let rows = open.chat.entries.iter().rev();
        rows.map(|entry| &entry.message).find(|row| row.tool().is_some_and(|tool| tool.id == *call))
    };
    match &request.ask {
        Ask::Approval(approval) => of_call(&approval.call),
        Ask::Question(question) => of_call(&question.call),
        Ask::Plan(_) => {
            open.chat.entries.iter().rev().map(|entry| &entry.message).find(|row| matches!(row.body, Body::Plan(_)))
        }
        Ask::Trust(_) | Ask::Key(_) => None,
    }
    .map(|row| row.at)
}

/// The other requests that ask for the very same: the same tool, the same bytes, the same directory, and the same to be
/// remembered. What is not shown byte by byte is equal to nothing.
fn equal_to(state: &State, session: &SessionId, request: &RequestId) -> Vec<(SessionId, RequestId)> {
    let cwd = |session: &SessionId| state.sessions.meta(session).map(|meta| &meta.cwd);
    let Some(Ask::Approval(this)) = state.request(session, request).map(|request| &request.ask) else {
        return Vec::new();
    };
    if this.proposal == Proposal::Plain {
        return Vec::new();
    }
    let same = |other: &Approval| {
        (&other.tool, &other.proposal, &other.subject) == (&this.tool, &this.proposal, &this.subject)
            && (&other.offers, &other.scopes) == (&this.offers, &this.scopes)
    };
    let mut found: Vec<(SessionId, RequestId)> = Vec::new();
    for (id, open) in state.conversations.open.iter().filter(|(id, open)| open.loaded && cwd(id) == cwd(session)) {
        let equal = open.requests.iter().filter(|other| matches!(&other.ask, Ask::Approval(other) if same(other)));
        found.extend(equal.map(|other| (id.clone(), other.id.clone())));
    }
    found.retain(|(of, id)| (of, id) != (session, request));
    found.sort();
    found
}

/// All that waits: the requests of loaded sessions, and of the others that something waits there.
fn waiting(state: &State) -> Vec<Waiting> {
    let mut metas: Vec<_> = state.sessions.metas().collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let mut rows = Vec::new();
    for meta in metas {
        let row = |request: Option<RequestId>, what: String, since: At| Waiting {
            session: meta.id.clone(),
            request,
            title: meta.shown_title().to_owned(),
            what,
            since,
        };
        let open = state.conversations.open.get(&meta.id).filter(|open| open.loaded);
        let asked = open.into_iter().flat_map(|open| open.requests.iter().map(move |request| (open, request)));
        let before = rows.len();
        rows.extend(asked.map(|(open, request)| {
            row(Some(request.id.clone()), in_words(request), since(open, request).unwrap_or(meta.used))
        }));
        // Not loaded yet, or there is nothing to answer: it was interrupted, or waits for a choice.
        let whole = open.is_none() || meta.is_broken_unseen() || meta.reason().as_deref() == Some(WANTS_MODEL);
        if rows.len() == before && whole && needs_you(meta) && state.sessions.stands_for_itself(meta) {
            rows.push(row(None, meta.reason().unwrap_or_default(), meta.used));
        }
    }
    rows
}

/// Opens the inbox, and asks for what waits in sessions that are not loaded.
pub(crate) fn open_inbox(state: &mut State, fx: &mut Vec<Effect>) {
    if matches!(state.overlays.last(), Some(Overlay::Inbox(_))) {
        return;
    }
    let rows = waiting(state);
    let missing: Vec<SessionId> =
        rows.iter().filter(|row| row.request.is_none()).map(|row| row.session.clone()).collect();
    for id in &missing {
        session::load(state, id, fx);
    }
    overlay::open(state, Overlay::Inbox(Box::new(Inbox { rows, ..Inbox::default() })));
}

/// Keeps the rows of an open inbox true. A request that is answered elsewhere leaves; keys meant for it are dropped.
pub(crate) fn refresh_inbox(state: &mut State) {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last() else { return };
    let selected = inbox.rows.get(inbox.selected).cloned();
    let place = inbox.selected;
    let gone =
        inbox.answering.as_ref().is_some_and(|(session, panel)| state.request(session, &panel.request).is_none());
    let rows = waiting(state);
    let answering = inbox.answering.as_ref().filter(|_| !gone);
    let equal = answering.map_or(Vec::new(), |(session, panel)| equal_to(state, session, &panel.request));
    let others = answering.is_some() && inbox.reach == Reach::Equal && inbox.equal != equal;
    if gone || others {
        focus::hush(state);
    }
    if gone {
        let text = "No longer pending: answered elsewhere, or the session is gone";
        state.notify(Notice::new(Level::Info, text));
    }
    let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() else { return };
    if gone || others || inbox.answering.is_none() {
        // An answer never goes to others than those that were counted when it was chosen for all.
        inbox.reach = Reach::This;
    }
    inbox.equal = equal;
    if let Some((_, panel)) = inbox.answering.as_mut().filter(|_| others) {
        // What was marked, or was being written, was an answer to all of them.
        focus::leave_words(panel);
        panel.unselect();
    }
    if gone {
        inbox.answering = None;
    }
    let same = |row: &Waiting| selected.as_ref().is_some_and(|s| s.session == row.session && s.request == row.request);
    let found = rows.iter().position(same);
    let moved = found.is_none() && selected.is_some() && inbox.answering.is_none();
    inbox.selected = found.unwrap_or(place).min(rows.len().saturating_sub(1));
    let emptied = rows.is_empty() && !inbox.rows.is_empty() && inbox.answering.is_none();
    inbox.rows = rows;
    if emptied {
        // What is typed from here on is meant for what lies below.
        overlay::close(state);
        return state.notify_while(Notice::new(Level::Info, "Nothing else needs you"), vec![TrueWhile::NobodyWaits]);
    }
    if moved {
        // Another row stands where the selected one was.
        focus::hush(state);
    }
}

/// Drops an answer begun in the inbox when its request has changed.
pub(crate) fn forget_answer(state: &mut State, session: &SessionId, request: &RequestId) {
    let Some(new) = state.request(session, request).map(Panel::new) else { return };
    let mut changed = false;
    for one in &mut state.overlays {
        if let Overlay::Inbox(inbox) = one
            && let Some((of, panel)) = &mut inbox.answering
            && of == session
            && panel.request == *request
        {
            *panel = new.clone();
            changed = true;
        }
    }
    if changed {
        state.screen.frame.panel = None;
        focus::hush(state);
    }
}

pub(crate) fn answer_selected(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last() else { return };
    let Some(row) = inbox.rows.get(inbox.selected).cloned() else { return };
    let request = row.request.as_ref().and_then(|id| state.request(&row.session, id));
    let panel = request.map(|request| {
        let mut panel = Panel::new(request);
        // What was made of a plan in its session holds here too.
        let there = state.conversations.open.get(&row.session).and_then(|open| open.panel.as_ref());
        let there = there.filter(|there| there.request == request.id);
        let hunks = there.and_then(|there| there.hunks.clone()).map(HunkView::carried);
        panel.hunks = hunks.or(panel.hunks);
        if let (Ask::Plan(review), Some(plan)) = (&request.ask, there.and_then(|there| there.plan.as_ref()))
            && let Some(plan) = plan.carried_to(review)
        {
            panel.plan = Some(Box::new(plan));
        }
        panel
    });
    match panel {
        Some(panel) => {
            if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() {
                inbox.answering = Some((row.session, panel));
            }
            focus::hush(state);
        }
        // Its end is looked at, and goes on from there.
        None if state.sessions.meta(&row.session).is_some_and(SessionMeta::is_broken_unseen) => {
            session::open(state, &row.session, fx);
        }
        None => session::load(state, &row.session, fx),
    }
}

/// Subject of the decision, on one line, with nothing hidden.
fn shown(text: &str) -> String {
    crate::domain::lookalike::expose_line(text.trim()).chars().take(300).collect()
}
