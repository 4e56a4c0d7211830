//! Every command and event goes through JSON and comes back as it was.

use super::*;
use crate::domain::attachment::Attachment;
use crate::domain::audit_log::AuditLog;
use crate::domain::context::ContextReport;
use crate::domain::context::{ContextPart, ContextSort};
use crate::domain::export::{Format, Masked};
use crate::domain::extension::{ExtensionKind, ExtensionOrigin, ExtensionState, ExtensionView};
use crate::domain::ids::CallId;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::job::JobShown;
use crate::domain::job::{EndedBy, JobEnd};
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
use crate::domain::prompt_text::PromptKind;
use crate::domain::property::Definition;
use crate::domain::property_change::PropertyChange;
use crate::domain::request::{AgentQuestion, Approval, Ask, KeyRequest, PartShown, PartState, PlanReview, TrustWhat};
use crate::domain::request::{Request, TrustRequest, UserAnswer};
use crate::domain::rule::Offer;
use crate::domain::rule::{KnownRule, Rule, RuleScope};
use crate::domain::search_hit::Searched;
use crate::domain::secret::Key;
use crate::domain::session::{SessionMeta, SessionSwitch, ThinkingLevel};
use crate::domain::source::{SourceState, SourceToolView, SourceView};
use crate::domain::spending::Spending;
use crate::domain::tool::TodoItem;
use crate::domain::tool::{Proposal, TodoStatus, ToolCall, ToolFigures, ToolStatus};
use crate::domain::trash::TrashId;
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
    Queued {
        id: MessageId::new("q"),
        text: "t".into(),
        at: At(1),
        redelivered: true,
        attachments: vec![attachment()],
        piped: None,
        client: Some("phone (token anna at 10.0.0.1)".into()),
    }
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
        starts: Vec::new(),
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

/// The JSON of a wire is pinned: a client of another version reads it. Every variant of every addressee, of
/// answers and of changes of the queue is among the lines.
fn pinned(name: &str, lines: &[String], all: &[(&str, BTreeSet<String>)]) {
    for (addressee, variants) in all {
        let has = |line: &String, value: &str| line.contains(&format!("\":\"{value}\""));
        let of: Vec<&String> = lines.iter().filter(|line| has(line, addressee)).collect();
        let missing: Vec<&String> =
            variants.iter().filter(|variant| !of.iter().any(|line| has(line, variant))).collect();
        assert!(missing.is_empty(), "no value of these is pinned, {addressee}: {missing:?}");
    }
    insta::assert_snapshot!(name, lines.join("\n"));
}

#[test]
fn every_command_crosses_a_wire() {
    let acts = vec![
        SessionCommand::Send { text: "a".into(), attachments: vec![attachment()], piped: None },
        SessionCommand::steer("a"),
        SessionCommand::Attach { path: "~/a.png".into() },
        SessionCommand::Detach { path: "/s/attachments/1_a.png".into() },
        SessionCommand::Queue(QueueEdit::Move { id: MessageId::new("m"), to: 3 }),
        SessionCommand::Type { command: "ls".into() },
        SessionCommand::Queue(QueueEdit::Release),
        SessionCommand::Queue(QueueEdit::Hold),
        SessionCommand::Queue(QueueEdit::Remove { id: MessageId::new("m") }),
        SessionCommand::Queue(QueueEdit::Replace { id: MessageId::new("m"), text: "t".into() }),
        SessionCommand::Stop,
        SessionCommand::Cut { by: CutBy::TimeLimit },
        SessionCommand::Retry,
        SessionCommand::Compact { wish: "keep the paths".into() },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::Once, shown: None },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::OnceWithout(vec![0, 2]),
            shown: None,
        },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::No(None), shown: None },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::PlanDecline, shown: None },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::Reply("a".into()), shown: None },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::PlanChanges("x".into()),
            shown: None,
        },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::Remember { scope: RuleScope::Session, rules: vec![rule()] },
            shown: None,
        },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::Instead("ls".into()), shown: None },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::PlanApprove(PlanApproval {
                mode: Mode::Execute,
                compact: true,
                marks: vec![StepMark { number: 1, struck: true, comment: Some("c".into()) }],
                covers: "h".into(),
            }),
            shown: None,
        },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::PlanEdited("# P".into()),
            shown: None,
        },
        SessionCommand::Answer { request: RequestId::new("r"), answer: UserAnswer::Trust(true), shown: None },
        SessionCommand::Answer {
            request: RequestId::new("r"),
            answer: UserAnswer::Key(Key::new("sk-1").unwrap()),
            shown: None,
        },
        SessionCommand::Mode { mode: Mode::Execute, drop_plan: true },
        SessionCommand::DropPlan,
        SessionCommand::Model { connection: None, model: "m".into() },
        SessionCommand::StandIn { connection: ConnectionName::new("here"), everywhere: true },
        SessionCommand::Thinking(ThinkingLevel::Max),
        SessionCommand::Switch { what: SessionSwitch::LongCache, on: true },
        SessionCommand::Rename { title: "t".into() },
        SessionCommand::Retitle,
        SessionCommand::Read,
        SessionCommand::Cwd("/w".into()),
        SessionCommand::Sources,
        SessionCommand::Extensions,
        SessionCommand::UseSource { source: "files".into(), on: true },
        SessionCommand::KillJob { job: "ab12".into() },
        SessionCommand::Claim,
        SessionCommand::TakeOver,
        SessionCommand::draft(""),
    ];
    let mut commands: Vec<Command> =
        acts.into_iter().map(|act| Command::Session { id: session(), command: act }).collect();
    commands.extend([
        Command::Engine(EngineCommand::List),
        Command::Engine(EngineCommand::Create(NewSession {
            mode: Some(Mode::Explore),
            thinking: Some(ThinkingLevel::High),
            labels: vec!["a::b".into()],
            key: Some("new-00001".into()),
            ..NewSession::default()
        })),
        Command::Session { id: session(), command: SessionCommand::Open { rows: 3 } },
        Command::Session { id: session(), command: SessionCommand::Earlier { cursor: u64::MAX, rows: 3 } },
        Command::Session { id: session(), command: SessionCommand::OpenAt { at: 4_096, rows: 3 } },
        Command::Session { id: session(), command: SessionCommand::Resume { instance: "i".into(), seq: 7, rows: 3 } },
        Command::Session { id: session(), command: SessionCommand::Later { cursor: 4_096, rows: 3 } },
        Command::Session { id: session(), command: SessionCommand::Leave },
        Command::Engine(EngineCommand::Change {
            sessions: vec![session()],
            change: PropertyChange::Status("done".into()),
        }),
        Command::Engine(EngineCommand::Change {
            sessions: vec![],
            change: PropertyChange::Labels(vec!["a::b".into()]),
        }),
        Command::Engine(EngineCommand::Change {
            sessions: vec![session()],
            change: PropertyChange::Name(Some("notes".into())),
        }),
        Command::Engine(EngineCommand::Branch {
            session: session(),
            at: Some(MessageId::new("m")),
            title: Some("t".into()),
        }),
        Command::Engine(EngineCommand::Rewind {
            session: session(),
            at: MessageId::new("m"),
            files: Some(vec!["/w/a".into()]),
        }),
        Command::Session {
            id: session(),
            command: SessionCommand::PlanUndo { aim: UndoAim::Since(MessageId::new("m")) },
        },
        Command::Session {
            id: session(),
            command: SessionCommand::Undo { aim: UndoAim::Last, also: vec!["/w/a".into()] },
        },
        Command::Session { id: session(), command: SessionCommand::FilesChanged },
        Command::Session { id: session(), command: SessionCommand::Clear },
        Command::Engine(EngineCommand::Delete { sessions: vec![session()], now: false }),
        Command::Engine(EngineCommand::Trash),
        Command::Engine(EngineCommand::Restore { trash: vec![TrashId("t".into())] }),
        Command::Engine(EngineCommand::Search { search: 1, query: "q".into() }),
        Command::Engine(EngineCommand::Verify { session: session(), repair: true }),
        Command::Engine(EngineCommand::Export {
            session: session(),
            to: Some("~/a.md".into()),
            format: Some(Format::Markdown),
        }),
        Command::Engine(EngineCommand::Share { session: session(), upload: false }),
        Command::Engine(EngineCommand::Import { path: "~/a.jsonl".into(), from: Some("/w".into()) }),
        Command::Engine(EngineCommand::Audit { session: session() }),
        Command::Session { id: session(), command: SessionCommand::Context },
        Command::Session {
            id: session(),
            command: SessionCommand::UsePrompt { kind: PromptKind::Context, name: Some("writer".into()) },
        },
        Command::Engine(EngineCommand::Define(Definition::View { name: "n".into(), expression: "e".into() })),
        Command::Session { id: session(), command: SessionCommand::Rules },
        Command::Session {
            id: session(),
            command: SessionCommand::Forget { rule: Box::new(rule()), scope: RuleScope::User },
        },
        Command::Session { id: session(), command: SessionCommand::Trust { request: trust() } },
        Command::Engine(EngineCommand::Models { connection: ConnectionName::new("c") }),
        Command::Engine(EngineCommand::AddServer { address: "http://127.0.0.1:8080".into() }),
        Command::Session { id: session(), command: SessionCommand::AskKey { connection: ConnectionName::new("c") } },
        Command::Session { id: session(), command: SessionCommand::Enhance { number: 1, draft: "d".into() } },
        Command::Engine(EngineCommand::Remember { text: "t".into() }),
        Command::Engine(EngineCommand::Usage { session: Some(session()) }),
        Command::Engine(EngineCommand::Figures { connection: ConnectionName::new("c"), models: vec!["m".into()] }),
        Command::Engine(EngineCommand::Levels { connection: ConnectionName::new("c"), model: "m".into() }),
        Command::Engine(EngineCommand::Shutdown),
    ]);
    let lines = there_and_back(commands);
    let all = [
        ("engine", names::<EngineCommand>("command")),
        ("session", names::<SessionCommand>("command")),
        ("answer", names::<UserAnswer>("answer")),
        ("queue", names::<QueueEdit>("edit")),
    ];
    pinned("commands", &lines, &all);
}

#[test]
fn every_event_crosses_a_wire() {
    let decision = |authority| Decision {
        allowed: true,
        mode: Mode::Ask,
        authority,
        reason: "r".into(),
        sandbox: Sandbox::None,
        client: None,
    };
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
        Body::User(UserText {
            text: "u".into(),
            attachments: vec![attachment()],
            steer: true,
            piped: None,
            client: None,
        }),
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
    let of_session = |event| Event::Session { id: session(), event };
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
    let changed = meta.clone();
    let mut events: Vec<Event> =
        bodies.into_iter().map(|body| of_session(SessionEvent::Row(Box::new(row(body))))).collect();
    events.extend([
        Event::Engine(EngineEvent::Listed { sessions: vec![meta.clone()] }),
        of_session(SessionEvent::Changed(Box::new(meta.clone()))),
        of_session(SessionEvent::Opened(Box::new(Opened {
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
        }))),
        of_session(SessionEvent::Held { by: Some("another lisle (process 7)".into()) }),
        of_session(SessionEvent::Accepted { id: MessageId::new("m"), queued: true }),
        of_session(SessionEvent::Reidentified { to: session() }),
        of_session(SessionEvent::Page { rows: vec![], earlier: None }),
        of_session(SessionEvent::LaterPage { rows: vec![], later: None }),
        of_session(SessionEvent::Redelivering { at: Some(At(1)) }),
        Event::Engine(EngineEvent::Branched { from: session(), to: session(), rewound: true }),
        of_session(SessionEvent::UndoPlanned(Box::new(UndoPlan {
            aim: UndoAim::Redo,
            at: At(1),
            about: "a".into(),
            any: true,
            files: vec![],
            gaps: vec!["g".into()],
            commits: true,
        }))),
        of_session(SessionEvent::Enhanced {
            number: 1,
            result: Ok(Enhanced { text: "t".into(), used: vec!["src/a.rs".into()] }),
        }),
        of_session(SessionEvent::FilesChanged(Box::default())),
        Event::Engine(EngineEvent::Deleted { session: session(), trash: Some(TrashId("t".into())), pages: 1 }),
        Event::Engine(EngineEvent::Trash(vec![])),
        Event::Engine(EngineEvent::Found { search: 1, results: vec![], end: Some(Searched::default()) }),
        Event::Engine(EngineEvent::Health(Box::default())),
        Event::Engine(EngineEvent::Usage(Box::new(Spending { session: Some(session()), ..Spending::default() }))),
        Event::Engine(EngineEvent::Imported {
            session: session(),
            program: "p".into(),
            left: vec!["l".into()],
            again: None,
        }),
        Event::Engine(EngineEvent::Exported {
            session: session(),
            path: "/w/a.md".into(),
            masked: Masked { keys: 1, homes: 2 },
            shared: true,
            upload: false,
        }),
        of_session(SessionEvent::Unsaved(Box::new(Unsaved {
            session: session(),
            title: "t".into(),
            why: "w".into(),
            rows: 2,
            refuge: Refuge::File("/tmp/a.txt".into()),
        }))),
        Event::Engine(EngineEvent::Audit(Box::new(AuditLog::of(session(), &[row(tool(Authority::Nobody))], 9)))),
        of_session(SessionEvent::Context(Box::new(ContextReport {
            window: Some(200_000),
            parts: vec![ContextPart { sort: ContextSort::Tool, name: "read".into(), count: 1, tokens: 200 }],
            ..ContextReport::new(session())
        }))),
        of_session(SessionEvent::Compacting { part: 1, of: 2 }),
        of_session(SessionEvent::Sources(vec![SourceView {
            slug: "files".into(),
            name: "Files".into(),
            target: "npx server-filesystem .".into(),
            file: "/w/.mcp.json".into(),
            on: true,
            state: SourceState::Failed { why: "No answer.".into() },
            tools: vec![SourceToolView { name: "mcp__files__read".into(), read_only: true, tokens: 12 }],
        }])),
        of_session(SessionEvent::Extensions(vec![ExtensionView {
            kind: ExtensionKind::Skill,
            name: "pdf".into(),
            description: "Fills forms".into(),
            origin: ExtensionOrigin::Repository,
            file: "/w/.claude/skills/pdf/SKILL.md".into(),
            state: ExtensionState::Failed { why: "Broken.".into() },
            tokens: 12,
            notes: vec!["allows Read".into()],
        }])),
        of_session(SessionEvent::Rules(Box::new(InForce {
            rules: vec![KnownRule {
                rule: rule(),
                pattern: Some("^ls".into()),
                scope: RuleScope::Workspace,
                file: Some("/w/permissions.json".into()),
                hits: 2,
                removable: true,
            }],
            trust: vec![trust()],
        }))),
        Event::Engine(EngineEvent::Properties(Box::default())),
        of_session(SessionEvent::Delta { id: MessageId::new("m"), add: "t".into() }),
        of_session(SessionEvent::Dropped { id: MessageId::new("m") }),
        of_session(SessionEvent::Queue { items: vec![], held: false, steers: vec![] }),
        of_session(SessionEvent::Queue { items: vec![queued()], held: true, steers: vec![queued()] }),
        of_session(SessionEvent::Attached { path: "a.png".into(), made: Ok(attachment()) }),
        of_session(SessionEvent::Attached { path: "a.exe".into(), made: Err("no".into()) }),
        of_session(SessionEvent::Refused { command: Box::new(SessionCommand::send("t")), why: "w".into() }),
        of_session(SessionEvent::Asked(Box::new(request(Ask::Approval(Box::new(approval)))))),
        of_session(SessionEvent::Asked(Box::new(request(Ask::Plan(review))))),
        of_session(SessionEvent::Asked(Box::new(request(Ask::Question(question))))),
        of_session(SessionEvent::Asked(Box::new(request(Ask::Trust(Box::new(trust())))))),
        of_session(SessionEvent::Asked(Box::new(request(Ask::Key(Box::new(KeyRequest {
            connection: ConnectionName::new("c"),
            host: "https://a.test".into(),
            stored: "/c/credentials".into(),
            why: "w".into(),
        })))))),
        of_session(SessionEvent::ConnectionWanted { connection: ConnectionName::new("theirs") }),
        of_session(SessionEvent::ModelWanted { connection: ConnectionName::new("c"), why: "w".into() }),
        of_session(SessionEvent::Waiting(Some(ConnectionName::new("c")))),
        of_session(SessionEvent::Starting { sources: vec!["files".into()] }),
        Event::Engine(EngineEvent::Connections(vec![])),
        of_session(SessionEvent::Settled { request: RequestId::new("r"), by: None }),
        of_session(SessionEvent::Todo(vec![TodoItem { content: "c".into(), status: TodoStatus::InProgress }])),
        of_session(SessionEvent::Jobs(vec![job()])),
        of_session(SessionEvent::Plan(Some(Box::new(Progress {
            steps: vec![PlanStep::default()],
            ..Progress::default()
        })))),
        of_session(SessionEvent::TurnStarted { at: At(1) }),
        of_session(SessionEvent::Retrying { attempt: 1, of: 5, wait_ms: 3, reason: "r".into() }),
        of_session(SessionEvent::TurnEnded { end: TurnEnd::Plan }),
        Event::Engine(EngineEvent::Models { connection: ConnectionName::new("c"), models: Err("no".into()) }),
        Event::Engine(EngineEvent::ServerNotAdded { address: "host:1".to_owned(), why: "no response".to_owned() }),
        Event::Engine(EngineEvent::ServerAdded { connection: ConnectionName::new("c"), wants_key: true }),
        Event::Engine(EngineEvent::Figures {
            connection: ConnectionName::new("c"),
            models: vec![ModelFigures {
                price: Some(crate::domain::model::ModelPrice { input: 0.5, cached: 0.05, output: 2.5 }),
                ..ModelFigures::default()
            }],
        }),
        Event::Engine(EngineEvent::Levels {
            connection: ConnectionName::new("c"),
            model: "m".into(),
            levels: vec![LevelMeaning { level: ThinkingLevel::Low, meaning: Err("no".into()) }],
        }),
        Event::Engine(EngineEvent::Configured(Box::default())),
        of_session(SessionEvent::Notice(Notice::new(Level::Error, "t"))),
        Event::Engine(EngineEvent::Notice(Notice::new(Level::Error, "t").hint("h"))),
        Event::Engine(EngineEvent::SessionChanged(Box::new(changed))),
        Event::Engine(EngineEvent::Ended),
    ]);
    let lines = there_and_back(events.into_iter().map(|event| Stamped::new(1, event)).collect());
    pinned("events", &lines, &[("engine", names::<EngineEvent>("event")), ("session", names::<SessionEvent>("event"))]);
}

#[test]
fn what_one_client_gets_crosses_a_wire() {
    let ended = Event::Engine(EngineEvent::Ended);
    let request = ClientRequest::new(7, Command::Session { id: session(), command: SessionCommand::Stop });
    let lines = there_and_back(vec![request]);
    assert_eq!(lines, [r#"{"id":7,"to":"session","session":"260101-a-b","command":"stop"}"#]);
    let answer = Stamped { re: Some(7), ..Stamped::new(3, ended.clone()) };
    let merged = Stamped { merged: 2, ..Stamped::new(3, ended) };
    assert_eq!((answer.after(), merged.after()), (3, 0), "an answer stands behind an event, others follow one");
    let error = CommandError { code: ErrorCode::Forbidden, message: "No.".into(), retryable: false, told: false };
    let lines = there_and_back(vec![
        ToClient::Event(std::sync::Arc::new(answer)),
        ToClient::Event(std::sync::Arc::new(merged)),
        ToClient::Reply(Reply { id: 7, error: None }),
        ToClient::Reply(Reply { id: 7, error: Some(Box::new(error)) }),
        ToClient::CutOff { why: "It was behind.".into() },
    ]);
    assert_eq!(
        lines,
        [
            r#"{"event":{"v":3,"seq":3,"re":7,"from":"engine","event":"ended"}}"#,
            r#"{"event":{"v":3,"seq":3,"merged":2,"from":"engine","event":"ended"}}"#,
            r#"{"reply":{"id":7}}"#,
            r#"{"reply":{"id":7,"error":{"code":"forbidden","message":"No."}}}"#,
            r#"{"cut-off":{"why":"It was behind."}}"#,
        ]
    );
}

#[test]
fn models_of_files_are_found_by_name_or_family() {
    let models = ["claude-opus-4", "claude-haiku-4", "m"].map(str::to_owned).to_vec();
    let info = ConnectionInfo {
        name: ConnectionName::new("c"),
        provider: "p".into(),
        default_model: "m".into(),
        small_model: String::new(),
        models,
        host: String::new(),
        key_from: None,
        missing: None,
        offered: false,
    };
    for (wanted, expected) in [
        ("haiku", Some("claude-haiku-4")),
        ("Claude-Opus-4", Some("claude-opus-4")),
        ("m", Some("m")),
        ("gpt", None),
        ("", None),
    ] {
        assert_eq!(info.known_model(wanted).as_deref(), expected, "{wanted}");
    }
}
