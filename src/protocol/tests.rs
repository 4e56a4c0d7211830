//! Every command and event goes through JSON and comes back as it was.

use super::*;
use crate::domain::attachment::Attachment;
use crate::domain::context::ContextReport;
use crate::domain::context::{ContextPart, ContextSort};
use crate::domain::export::Format;
use crate::domain::ids::CallId;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::inbox::{PropertyChange, Searched, TrashId};
use crate::domain::job::JobShown;
use crate::domain::job::{EndedBy, JobEnd};
use crate::domain::ledger::Ledger;
use crate::domain::message::Message;
use crate::domain::message::{
    AssistantText, Body, Carried, CutBy, Failure, FailureAction, Info, InfoKind, Odd, Plan, Thinking, UserText,
};
use crate::domain::model::{LevelMeaning, ModelFigures};
use crate::domain::notice::Level;
use crate::domain::notice::Notice;
use crate::domain::permission::Mode;
use crate::domain::permission::{Authority, Decision, Sandbox};
use crate::domain::plan::Progress;
use crate::domain::plan::{PlanApproval, PlanStep, StepMark};
use crate::domain::property::Definition;
use crate::domain::request::{AgentQuestion, Approval, Ask, KeyRequest, PartShown, PartState, PlanReview, TrustWhat};
use crate::domain::request::{Request, TrustRequest, UserAnswer};
use crate::domain::rule::Offer;
use crate::domain::rule::{KnownRule, Rule, RuleScope};
use crate::domain::secret::Key;
use crate::domain::session::{SessionMeta, SessionSwitch, ThinkingLevel};
use crate::domain::spending::Spending;
use crate::domain::tool::TodoItem;
use crate::domain::tool::{Proposal, TodoStatus, ToolCall, ToolFigures, ToolStatus};
use crate::domain::undo::{UndoAim, UndoPlan};
use crate::domain::unsaved::{Refuge, Unsaved};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

fn attachment() -> Attachment {
    Attachment {
        name: "a.png".into(),
        path: "/s/attachments/1_a.png".into(),
        kind: crate::domain::attachment::AttachmentKind::Image,
        mime: "image/png".into(),
        bytes: 3,
        text: Some("/s/attachments/1_a.png.md".into()),
    }
}

fn queued() -> Queued {
    Queued { id: MessageId::new("q"), text: "t".into(), at: At(1), redelivered: true, attachments: vec![attachment()] }
}

fn rule() -> Rule {
    Rule { program: Some("git".into()), args: Some(vec!["status".into()]), ..Rule::allow("bash") }
}

fn trust() -> TrustRequest {
    TrustRequest {
        what: TrustWhat::Repository,
        path: "/r/.lisle/permissions.json".into(),
        hash: "00".into(),
        text: "+ {}".into(),
        changed: true,
    }
}

fn session() -> SessionId {
    SessionId::parse("260101-a-b").unwrap()
}

fn job() -> JobShown {
    let end = Some(JobEnd { at: At(2), words: "exit 1".into(), failed: true, by: EndedBy::User, protected: vec![] });
    JobShown { id: "ab12".into(), command: "x".into(), since: At(1), end, bytes: 3, last: "y".into() }
}

fn there_and_back<T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug>(all: Vec<T>) -> Vec<String> {
    let lines = all.into_iter().map(|one| {
        let text = serde_json::to_string(&one).unwrap_or_else(|error| panic!("{one:?}: {error}"));
        assert_eq!(serde_json::from_str::<T>(&text).unwrap_or_else(|error| panic!("{text}: {error}")), one);
        text
    });
    lines.collect()
}

/// The names of all variants of a tagged enum, as serde lists them for one that it does not know.
fn names<T: for<'a> Deserialize<'a> + std::fmt::Debug>(tag: &str) -> BTreeSet<String> {
    let error = serde_json::from_value::<T>(serde_json::json!({ tag: "?" })).unwrap_err().to_string();
    let names: BTreeSet<String> = error.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    assert!(names.len() > 3, "{error}");
    names
}

/// The JSON of a wire is pinned: a client of another version reads it. Every variant of the enum is among the lines.
fn pinned<T: for<'a> Deserialize<'a> + std::fmt::Debug>(name: &str, tag: &str, lines: &[String]) {
    let seen = |variant: &String| lines.iter().any(|line| line.contains(&format!("\"{tag}\":\"{variant}\"")));
    let missing: Vec<String> = names::<T>(tag).into_iter().filter(|variant| !seen(variant)).collect();
    assert!(missing.is_empty(), "no value of these is pinned: {missing:?}");
    insta::assert_snapshot!(name, lines.join("\n"));
}

#[test]
fn every_command_crosses_a_wire() {
    let acts = vec![
        Act::Send { text: "a".into(), attachments: vec![attachment()] },
        Act::steer("a"),
        Act::Attach { path: "~/a.png".into() },
        Act::Detach { path: "/s/attachments/1_a.png".into() },
        Act::Queue(QueueEdit::Move { id: MessageId::new("m"), to: 3 }),
        Act::Type { command: "ls".into() },
        Act::Queue(QueueEdit::Release),
        Act::Queue(QueueEdit::Replace { id: MessageId::new("m"), text: "t".into() }),
        Act::Stop,
        Act::Cut { by: CutBy::TimeLimit },
        Act::Retry,
        Act::Compact { wish: "keep the paths".into() },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::No(None) },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::PlanChanges("x".into()) },
        Act::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::Remember { scope: RuleScope::Session, rules: vec![rule()] },
        },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::Instead("ls".into()) },
        Act::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::PlanApprove(PlanApproval {
                mode: Mode::Execute,
                compact: true,
                marks: vec![StepMark { number: 1, struck: true, comment: Some("c".into()) }],
                covers: "h".into(),
            }),
        },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::PlanEdited("# P".into()) },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::Trust(true) },
        Act::Answer { request: RequestId::new("r"), answer: UserAnswer::Key(Key::new("sk-1").unwrap()) },
        Act::Mode { mode: Mode::Execute, drop_plan: true },
        Act::DropPlan,
        Act::Model { connection: None, model: "m".into() },
        Act::StandIn { connection: ConnectionName::new("here"), everywhere: true },
        Act::Thinking(ThinkingLevel::Max),
        Act::Switch { what: SessionSwitch::LongCache, on: true },
        Act::Rename { title: "t".into() },
        Act::Retitle,
        Act::Read,
        Act::Cwd("/w".into()),
        Act::KillJob { job: "ab12".into() },
        Act::Claim,
        Act::TakeOver,
        Act::draft(""),
    ];
    let mut commands: Vec<Command> = acts.into_iter().map(|act| Command::To { session: session(), act }).collect();
    commands.extend([
        Command::List,
        Command::Create(NewSession {
            mode: Some(Mode::Explore),
            thinking: Some(ThinkingLevel::High),
            labels: vec!["a::b".into()],
            ..NewSession::default()
        }),
        Command::Open { session: session(), rows: 3 },
        Command::Earlier { session: session(), cursor: u64::MAX, rows: 3 },
        Command::OpenAt { session: session(), at: 4_096, rows: 3 },
        Command::Later { session: session(), cursor: 4_096, rows: 3 },
        Command::Leave { session: session() },
        Command::Change { sessions: vec![session()], change: PropertyChange::Status("done".into()) },
        Command::Change { sessions: vec![], change: PropertyChange::Labels(vec!["a::b".into()]) },
        Command::Branch { session: session(), at: Some(MessageId::new("m")), title: Some("t".into()) },
        Command::Rewind { session: session(), at: MessageId::new("m"), files: Some(vec!["/w/a".into()]) },
        Command::PlanUndo { session: session(), aim: UndoAim::Since(MessageId::new("m")) },
        Command::Undo { session: session(), aim: UndoAim::Last, also: vec!["/w/a".into()] },
        Command::FilesChanged { session: session() },
        Command::Clear { session: session() },
        Command::Delete { sessions: vec![session()], now: false },
        Command::Trash,
        Command::Restore { trash: vec![TrashId("t".into())] },
        Command::Search { search: 1, query: "q".into() },
        Command::Verify { session: session(), repair: true },
        Command::Export { session: session(), to: Some("~/a.md".into()), format: Some(Format::Markdown) },
        Command::Share { session: session() },
        Command::Import { path: "~/a.jsonl".into(), from: Some("/w".into()) },
        Command::Audit { session: session() },
        Command::Context { session: session() },
        Command::Define(Definition::View { name: "n".into(), expression: "e".into() }),
        Command::Rules { session: session() },
        Command::Forget { session: session(), rule: Box::new(rule()), scope: RuleScope::User },
        Command::Trust { session: session(), request: trust() },
        Command::Models { connection: ConnectionName::new("c") },
        Command::AskKey { session: session(), connection: ConnectionName::new("c") },
        Command::Enhance { session: session(), number: 1, draft: "d".into() },
        Command::Remember { text: "t".into() },
        Command::Usage { session: Some(session()) },
        Command::Figures { connection: ConnectionName::new("c"), models: vec!["m".into()] },
        Command::Levels { connection: ConnectionName::new("c"), model: "m".into() },
        Command::Shutdown,
    ]);
    let lines = there_and_back(commands);
    names::<Act>("act").iter().for_each(|act| {
        assert!(lines.iter().any(|line| line.contains(&format!("\"act\":\"{act}\""))), "no value of {act} is pinned");
    });
    pinned::<Command>("commands", "command", &lines);
}

#[test]
fn every_event_crosses_a_wire() {
    let decision =
        |authority| Decision { allowed: true, mode: Mode::Ask, authority, reason: "r".into(), sandbox: Sandbox::None };
    let tool = |authority| {
        Body::Tool(Box::new(ToolCall {
            id: CallId::new("c"),
            name: "bash".into(),
            input: serde_json::json!({"command": "ls"}),
            subject: "ls".into(),
            status: ToolStatus::Completed,
            result: Some("x".into()),
            millis: Some(3),
            figures: ToolFigures { exit: Some(0), diff: Some(Default::default()), ..ToolFigures::default() },
            decision: Some(decision(authority)),
        }))
    };
    let bodies = vec![
        Body::User(UserText { text: "u".into(), attachments: vec![attachment()], steer: true }),
        Body::Assistant(AssistantText {
            text: "a".into(),
            intermediate: true,
            partial: true,
            cut_by: None,
            native: None,
        }),
        Body::Thinking(Thinking { text: "t".into(), millis: Some(1), native: None }),
        tool(Authority::Mode),
        tool(Authority::Grant("g".into())),
        tool(Authority::Person),
        tool(Authority::Typed),
        Body::Error(Failure {
            code: "c".into(),
            title: "t".into(),
            text: "x".into(),
            detail: "d".into(),
            actions: vec![FailureAction::Compact, FailureAction::NewSession],
        }),
        Body::Info(Info {
            text: "i".into(),
            level: Level::Warning,
            kind: InfoKind::Compacted,
            carried: Some(Box::new(Carried { keeps: Some(MessageId::new("k")), ..Carried::from("c".to_owned()) })),
        }),
        Body::Plan(Plan { path: "p".into(), markdown: "m".into() }),
        Body::Odd(Odd { what: "w".into(), line: 3, raw: "{".into() }),
    ];
    let row = |body| Message::new(MessageId::new("m"), At(1), body);
    let meta = SessionMeta::new(session(), At(1), Mode::Ask, "/w".into());
    let approval = Approval {
        call: CallId::new("c"),
        tool: "bash".into(),
        subject: "ls".into(),
        intent: Some("why".into()),
        proposal: Proposal::Command { command: "ls".into(), cwd: "/w".into() },
        reasons: vec!["r".into()],
        risks: vec![],
        parts: vec![PartShown { text: "ls".into(), state: PartState::Reads, risks: Vec::new(), worst: false }],
        offers: vec![Offer { rule: rule(), harmless: Some("h".into()), worst: None }],
        scopes: vec![RuleScope::Workspace],
        would_run_now: true,
        irreversible: false,
    };
    let question = AgentQuestion { call: CallId::new("c"), text: "?".into(), options: vec!["a".into()] };
    let review = PlanReview { path: "p".into(), title: "t".into(), capped: true, ..PlanReview::default() };
    let request = |ask| Request { id: RequestId::new("r"), ask };
    let mut events: Vec<Event> = bodies.into_iter().map(|body| Event::Row(Box::new(row(body)))).collect();
    events.extend([
        Event::Listed { sessions: vec![meta.clone()] },
        Event::Changed(Box::new(meta.clone())),
        Event::Opened(Box::new(Opened {
            meta,
            rows: vec![],
            earlier: Some(1),
            later: Some(2),
            redelivery: Some(At(1)),
            queue: vec![queued()],
            queue_held: true,
            steers: vec![queued()],
            requests: vec![],
            todo: vec![],
            plan: Some(Box::default()),
            jobs: vec![job()],
            draft: "d".into(),
            draft_attachments: vec![attachment()],
        })),
        Event::Held { by: Some("another lisle (process 7)".into()) },
        Event::Accepted { id: MessageId::new("m"), queued: true },
        Event::Reidentified { to: session() },
        Event::Page { rows: vec![], earlier: None },
        Event::LaterPage { rows: vec![], later: None },
        Event::Redelivering { at: Some(At(1)) },
        Event::Branched { from: session(), to: session(), rewound: true },
        Event::UndoPlanned(Box::new(UndoPlan {
            aim: UndoAim::Redo,
            at: At(1),
            about: "a".into(),
            any: true,
            files: vec![],
            gaps: vec!["g".into()],
            commits: true,
        })),
        Event::Enhanced { number: 1, result: Ok(Enhanced { text: "t".into(), used: vec!["src/a.rs".into()] }) },
        Event::FilesChanged(Box::default()),
        Event::Deleted { session: session(), trash: Some(TrashId("t".into())) },
        Event::Trash(vec![]),
        Event::Found { search: 1, results: vec![], end: Some(Searched::default()) },
        Event::Health(Box::default()),
        Event::Usage(Box::new(Spending { session: Some(session()), ..Spending::default() })),
        Event::Imported { session: session(), program: "p".into(), left: vec!["l".into()], again: None },
        Event::Exported { session: session(), path: "/w/a.md".into(), masked: 1, shared: true },
        Event::Unsaved(Box::new(Unsaved {
            session: session(),
            title: "t".into(),
            why: "w".into(),
            rows: 2,
            refuge: Refuge::File("/tmp/a.txt".into()),
        })),
        Event::Audit(Box::new(Ledger::of(session(), &[row(tool(Authority::Nobody))], 9))),
        Event::Context(Box::new(ContextReport {
            window: Some(200_000),
            parts: vec![ContextPart { sort: ContextSort::Tool, name: "read".into(), count: 1, tokens: 200 }],
            ..ContextReport::new(session())
        })),
        Event::Compacting { part: 1, of: 2 },
        Event::Rules(Box::new(InForce {
            rules: vec![KnownRule {
                rule: rule(),
                pattern: Some("^ls".into()),
                scope: RuleScope::Workspace,
                file: Some("/w/permissions.json".into()),
                hits: 2,
                removable: true,
            }],
            trust: vec![trust()],
        })),
        Event::Properties(Box::default()),
        Event::Delta { id: MessageId::new("m"), add: "t".into() },
        Event::Dropped { id: MessageId::new("m") },
        Event::Queue { items: vec![], held: false, steers: vec![] },
        Event::Queue { items: vec![queued()], held: true, steers: vec![queued()] },
        Event::Attached { path: "a.png".into(), made: Ok(attachment()) },
        Event::Attached { path: "a.exe".into(), made: Err("no".into()) },
        Event::Refused { act: Box::new(Act::send("t")), why: "w".into() },
        Event::Asked(Box::new(request(Ask::Approval(Box::new(approval))))),
        Event::Asked(Box::new(request(Ask::Plan(review)))),
        Event::Asked(Box::new(request(Ask::Question(question)))),
        Event::Asked(Box::new(request(Ask::Trust(Box::new(trust()))))),
        Event::Asked(Box::new(request(Ask::Key(Box::new(KeyRequest {
            connection: ConnectionName::new("c"),
            host: "https://a.test".into(),
            stored: "/c/credentials".into(),
            why: "w".into(),
        }))))),
        Event::ConnectionWanted { connection: ConnectionName::new("theirs") },
        Event::ModelWanted { connection: ConnectionName::new("c"), why: "w".into() },
        Event::Waiting(Some(ConnectionName::new("c"))),
        Event::Connections(vec![]),
        Event::Settled { request: RequestId::new("r") },
        Event::Todo(vec![TodoItem { content: "c".into(), status: TodoStatus::InProgress }]),
        Event::Jobs(vec![job()]),
        Event::Plan(Some(Box::new(Progress { steps: vec![PlanStep::default()], ..Progress::default() }))),
        Event::TurnStarted { at: At(1) },
        Event::Retrying { attempt: 1, of: 5, wait_ms: 3, reason: "r".into() },
        Event::TurnEnded { end: TurnEnd::Plan },
        Event::Models { connection: ConnectionName::new("c"), models: Err("no".into()) },
        Event::Figures {
            connection: ConnectionName::new("c"),
            models: vec![ModelFigures {
                price: Some(crate::domain::model::ModelPrice { input: 0.5, cached: 0.05, output: 2.5 }),
                ..ModelFigures::default()
            }],
        },
        Event::Levels {
            connection: ConnectionName::new("c"),
            model: "m".into(),
            levels: vec![LevelMeaning { level: ThinkingLevel::Low, meaning: Err("no".into()) }],
        },
        Event::Configured(Box::default()),
        Event::Notice(Notice::new(Level::Error, "t")),
        Event::Ended,
    ]);
    let lines = there_and_back(
        events.into_iter().map(|event| Stamped { v: VERSION, session: Some(session()), seq: 1, event }).collect(),
    );
    pinned::<Event>("events", "event", &lines);
}
