//! Anything that an engine or the runtime may send, whether it fits the state or not.

use super::super::{change, command, id, meta, plan, tool};
use super::Dice;
use lisle::app::State;
use lisle::app::msg::{Found, Hit, Msg};
use lisle::domain::context::ContextReport;
use lisle::domain::search_hit::{HitIn, RowHit, Searched, SessionHits};

use lisle::domain::audit_log::AuditLog;
use lisle::domain::job::JobShown;
use lisle::domain::message::{AssistantText, Body, Failure, FailureAction, Info, InfoKind, Plan, Thinking, UserText};
use lisle::domain::request::{AgentQuestion, Ask, Request};
use lisle::domain::session::Activity;
use lisle::domain::tool::{TodoItem, TodoStatus, ToolFigures};
use lisle::domain::trash::{TrashId, Trashed};
use lisle::domain::undo::{UndoAim, UndoDeed, UndoFile, UndoPlan, UndoState};
use lisle::domain::{
    At, CallId, ConnectionName, Level, Message, MessageId, Mode, Notice, RequestId, SessionId, SessionMeta,
};
use lisle::protocol::{EngineEvent, Enhanced, Event, Opened, Queued, SessionEvent, TurnEnd};
use std::path::PathBuf;

fn row_id(dice: &mut Dice) -> MessageId {
    MessageId::new(format!("row-{}", dice.roll(12)))
}

fn body(dice: &mut Dice) -> Body {
    let text = dice.text();
    match dice.roll(9) {
        0 => Body::User(UserText { text, steer: dice.once_in(4), ..UserText::default() }),
        1 => Body::Thinking(Thinking { text, millis: dice.once_in(2).then_some(4_000), native: None }),
        2 => tool(dice.of(&["bash", "read", "edit", "none"]), &text, ToolFigures::default(), &dice.text()),
        3 => tool("bash", "false", ToolFigures { exit: Some(1), ..ToolFigures::default() }, &text),
        4 => Body::Error(Failure {
            code: "x".to_owned(),
            title: dice.text(),
            text,
            detail: dice.text(),
            actions: vec![FailureAction::Retry, FailureAction::Compact],
        }),
        5 => {
            let kinds = [InfoKind::ModeChanged, InfoKind::Interrupted, InfoKind::Compacted, InfoKind::Remark];
            Body::Info(Info { text, level: Level::Info, kind: dice.of(&kinds), carried: None })
        }
        6 => Body::Plan(Plan { path: "/x/plan.md".to_owned(), markdown: text }),
        _ => Body::Assistant(AssistantText { text, partial: dice.once_in(4), ..AssistantText::default() }),
    }
}

fn row(dice: &mut Dice, at: At) -> Message {
    let id = row_id(dice);
    Message::new(id, at, body(dice))
}

fn asked(dice: &mut Dice) -> Request {
    let ask = match dice.roll(4) {
        0 => command(&dice.text()),
        1 => change(),
        2 => plan(),
        _ => {
            let options = (0..dice.roll(12)).map(|_| dice.text()).collect();
            Ask::Question(AgentQuestion { call: CallId::new("q"), text: dice.text(), options })
        }
    };
    Request { id: RequestId::new(format!("r{}", dice.roll(4))), ask }
}

fn queued(dice: &mut Dice, at: At) -> Vec<Queued> {
    let one = |dice: &mut Dice, n| Queued {
        id: MessageId::new(format!("q{n}")),
        text: dice.text(),
        at,
        redelivered: dice.once_in(3),
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    (0..dice.roll(4)).map(|n| one(dice, n)).collect()
}

fn todo(dice: &mut Dice) -> Vec<TodoItem> {
    let states = [TodoStatus::Pending, TodoStatus::InProgress, TodoStatus::Completed];
    (0..dice.roll(6)).map(|_| TodoItem { content: dice.text(), status: dice.of(&states) }).collect()
}

fn jobs(dice: &mut Dice, at: At) -> Vec<JobShown> {
    let job = |dice: &mut Dice, n: usize| JobShown {
        id: format!("job-{n}"),
        command: dice.text(),
        since: at,
        end: None,
        bytes: 5_000,
        last: dice.text(),
    };
    (0..dice.roll(3)).map(|n| job(dice, n)).collect()
}

fn any_meta(dice: &mut Dice, session: &SessionId, at: At) -> SessionMeta {
    let mut meta: SessionMeta = meta(session.as_str(), &dice.text(), at);
    meta.activity = match dice.roll(3) {
        0 => Activity::NeedsYou(dice.text()),
        1 => Activity::Running(at),
        _ => Activity::Idle,
    };
    meta.mode = dice.of(&[Mode::Explore, Mode::Ask, Mode::Execute]);
    (meta.archived, meta.flagged, meta.unread) = (dice.once_in(6), dice.once_in(3), dice.once_in(3));
    meta.labels = vec!["bug".to_owned(), "prio::2".to_owned()];
    (meta.usage.context_window, meta.usage.context_tokens) = (Some(200_000), 1_000 * dice.roll(300) as u64);
    meta
}

fn opened(dice: &mut Dice, session: &SessionId, at: At) -> SessionEvent {
    SessionEvent::Opened(Box::new(Opened {
        meta: any_meta(dice, session, at),
        rows: (0..dice.roll(12)).map(|n| Message::new(MessageId::new(format!("row-{n}")), at, body(dice))).collect(),
        earlier: dice.once_in(3).then_some(100),
        later: dice.once_in(6).then_some(900),
        redelivery: dice.once_in(6).then_some(At(at.0 + 9_000)),
        queue: queued(dice, at),
        queue_held: dice.once_in(3),
        steers: Vec::new(),
        requests: (0..dice.roll(2)).map(|_| asked(dice)).collect(),
        todo: todo(dice),
        plan: dice.once_in(4).then(Box::default),
        jobs: jobs(dice, at),
        draft: if dice.once_in(3) { dice.text() } else { String::new() },
        draft_attachments: Vec::new(),
    }))
}

/// Something the engine sends: mostly of the session that is shown.
pub fn of_the_engine(dice: &mut Dice, state: &State) -> Vec<Event> {
    let known: Vec<SessionId> = ["a", "b", "c", "d"].map(id).to_vec();
    let shown = state.current_id().cloned().filter(|_| !dice.once_in(4));
    let session = shown.unwrap_or_else(|| dice.of(&known));
    let at = state.clock.now;
    let event = match dice.roll(36) {
        0 => {
            return vec![Event::Engine(EngineEvent::Listed {
                sessions: known.iter().map(|id| any_meta(dice, id, at)).collect(),
            })];
        }
        1 => SessionEvent::Changed(Box::new(any_meta(dice, &session, at))),
        2..=4 => opened(dice, &session, at),
        5 => SessionEvent::Page { rows: vec![row(dice, at), row(dice, at)], earlier: dice.once_in(2).then_some(7) },
        6 => SessionEvent::LaterPage { rows: vec![row(dice, at)], later: dice.once_in(2).then_some(9) },
        7..=9 => SessionEvent::Row(Box::new(row(dice, at))),
        10..=13 => SessionEvent::Delta { id: row_id(dice), add: dice.text() },
        14 => SessionEvent::Dropped { id: row_id(dice) },
        15 => SessionEvent::Queue { items: queued(dice, at), held: dice.once_in(2), steers: queued(dice, at) },
        16 => SessionEvent::Redelivering { at: dice.once_in(2).then_some(At(at.0 + 5_000)) },
        17 | 18 => SessionEvent::Asked(Box::new(asked(dice))),
        19 => SessionEvent::Settled { request: RequestId::new(format!("r{}", dice.roll(4))), by: None },
        20 => SessionEvent::Todo(todo(dice)),
        21 => SessionEvent::Jobs(jobs(dice, at)),
        22 => SessionEvent::Plan(dice.once_in(2).then(Box::default)),
        23 => SessionEvent::TurnStarted { at },
        24 => SessionEvent::Compacting { part: 1, of: 3 },
        25 => SessionEvent::Retrying { attempt: 1, of: 5, wait_ms: 8_000, reason: dice.text() },
        26 if dice.once_in(2) => SessionEvent::Starting { sources: vec![dice.text()] },
        26 => SessionEvent::Waiting(dice.once_in(2).then(|| ConnectionName::new("anthropic"))),
        27 => {
            let ends = [TurnEnd::Done, TurnEnd::Plan, TurnEnd::Stopped, TurnEnd::Failed, TurnEnd::Limit];
            SessionEvent::TurnEnded { end: dice.of(&ends) }
        }
        28 => {
            return vec![Event::Engine(EngineEvent::Branched {
                from: session.clone(),
                to: dice.of(&known),
                rewound: dice.once_in(2),
            })];
        }
        29 => {
            return vec![Event::Engine(EngineEvent::Deleted {
                session: session.clone(),
                trash: Some(TrashId("a-1".to_owned())),
                pages: 0,
            })];
        }
        30 => {
            return vec![Event::Engine(EngineEvent::Trash(vec![Trashed {
                trash: TrashId("a-1".to_owned()),
                session: session.clone(),
                title: dice.text(),
                deleted: at,
                bytes: 1_000,
                cleared: dice.once_in(2),
            }]))];
        }
        31 => return reports(dice, &session, at),
        32 => return vec![Event::Engine(found(dice, &session, at))],
        33 => {
            let result = if dice.once_in(2) {
                Err(dice.text())
            } else {
                Ok(Enhanced { text: dice.text(), used: vec![dice.text()] })
            };
            SessionEvent::Enhanced { number: dice.roll(3) as u64, result }
        }
        34 => {
            let models =
                if dice.once_in(3) { Err(dice.text()) } else { Ok((0..dice.roll(30)).map(|_| dice.text()).collect()) };
            return vec![Event::Engine(EngineEvent::Models { connection: ConnectionName::new("anthropic"), models })];
        }
        _ => SessionEvent::Notice(
            Notice::new(dice.of(&[Level::Info, Level::Warning, Level::Error]), dice.text()).hint(dice.text()),
        ),
    };
    vec![Event::Session { id: session, event }]
}

/// Events of the engine, also those that nobody asked for.
fn reports(dice: &mut Dice, session: &SessionId, at: At) -> Vec<Event> {
    let file = |dice: &mut Dice| UndoFile {
        path: PathBuf::from("/x/a"),
        shown: dice.text(),
        deed: UndoDeed::Change,
        lines: Some((1, 2)),
        state: UndoState::Ready,
        during: Some(dice.text()),
    };
    let of_session = |event| Event::Session { id: session.clone(), event };
    vec![
        Event::Engine(EngineEvent::Health(Box::default())),
        Event::Engine(EngineEvent::Audit(Box::new(AuditLog {
            session: session.clone(),
            entries: Vec::new(),
            left_out: dice.roll(3),
            messages: Vec::new(),
        }))),
        of_session(SessionEvent::Context(Box::new(ContextReport::new(session.clone())))),
        Event::Engine(EngineEvent::Usage(Box::default())),
        of_session(SessionEvent::Rules(Box::default())),
        of_session(SessionEvent::FilesChanged(Box::default())),
        of_session(SessionEvent::UndoPlanned(Box::new(UndoPlan {
            aim: UndoAim::Last,
            at,
            about: dice.text(),
            any: dice.once_in(2),
            files: vec![file(dice)],
            gaps: vec![dice.text()],
            commits: true,
        }))),
    ]
}

fn found(dice: &mut Dice, session: &SessionId, at: At) -> EngineEvent {
    let line = dice.text();
    let mark = line.char_indices().nth(1).map_or(0, |(at, _)| at);
    let hit = RowHit { place: HitIn::User, row: Some(row_id(dice)), at: 0, when: at, line, marks: vec![(0, mark)] };
    let hits =
        SessionHits { session: session.clone(), title: dice.text(), last_message: at, hits: vec![hit], total: 7 };
    EngineEvent::Found {
        search: dice.roll(8) as u64,
        results: vec![hits],
        end: dice.once_in(2).then(Searched::default),
    }
}

/// Something the runtime tells.
pub fn of_the_outside(dice: &mut Dice) -> Msg {
    match dice.roll(7) {
        0 => Msg::Background { dark: dice.once_in(2) },
        1 => Msg::Themes { names: vec!["lisle-dark".to_owned(), dice.text()], current: "lisle-dark".to_owned() },
        2 => Msg::Edited(if dice.once_in(3) { Err(dice.text()) } else { Ok(dice.text()) }),
        3 => Msg::Picture(Err(dice.text())),
        4 => Msg::Notice(Notice::new(Level::Info, dice.text())),
        5 => Msg::Zone { utc_offset: i32::try_from(dice.roll(90_000)).unwrap() - 45_000 },
        _ => {
            let hit = |dice: &mut Dice| Hit { path: dice.text(), folder: dice.once_in(2), marks: vec![0] };
            let ticket = dice.roll(6) as u64;
            Msg::Found(Box::new(Found { ticket, hits: (0..dice.roll(9)).map(|_| hit(dice)).collect() }))
        }
    }
}
