//! The machine as tables: what goes in, what comes out.

mod approvals;
mod automatic;
mod children;
mod compaction;
mod connecting;
mod extensions;
mod history;
mod jobs;
mod key;
mod model;
mod permission_rules;
mod plan;
mod queue;
mod stop;
mod struck_hunks;

use super::turn_state::Work;
use super::*;
use crate::agent::automatic_labels::AutoLabels;
use crate::agent::machine_io::{Input, RunNo, Safety, Step};
use crate::agent::message_queue::Queue;
use crate::domain::SessionMeta;
use crate::domain::attention::Attention;
use crate::domain::ids::{At, CallId, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::message::{Body, CutBy, Info, InfoKind, Message, Native, UserText};
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Mode};
use crate::domain::plan::PlanApproval;
use crate::domain::property::{AutoRule, Label};
use crate::domain::property_change::PropertyChange;
use crate::domain::request::{Ask, PlanReview, Request, UserAnswer};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::session::Activity;
use crate::domain::tool::{CallFacts, Outcome, PathPlace, Proposal, Then, ToolFigures, ToolSpec, ToolStatus, Touch};
use crate::domain::usage::RequestUsage;
use crate::permit;
use crate::protocol::{QueueEdit, Queued, SessionCommand, SessionEvent, TurnEnd};
use crate::provider::{Chunk, ConversationItem, ProposedCall, ProviderError, Stop};
use crate::tools::{RunError, StoppedRun};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

fn for_session() -> UserAnswer {
    UserAnswer::Remember { scope: RuleScope::Session, rules: Vec::new() }
}

fn cargo_test() -> Rule {
    Rule { program: Some("cargo".into()), args: Some(vec!["test".into()]), ..Rule::allow("bash") }
}

struct Bench {
    machine: Machine,
    now: At,
    out: Vec<Step>,
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: String::new(), schema: json!({}) }
}

impl Bench {
    fn new(mode: Mode) -> Self {
        Self::with(mode, |_| {})
    }

    fn with(mode: Mode, change: impl Fn(&mut MachineConfig)) -> Self {
        let id = SessionId::parse("s").unwrap();
        let meta = SessionMeta::new(id, At(0), mode, "/w".into());
        let mut rules = MachineConfig {
            tools: vec![
                (spec("read"), true),
                (spec("write"), false),
                (spec("bash"), false),
                (spec("submit_plan"), false),
                (spec("ask_user"), false),
            ],
            extensions: super::MachineExtensions::default(),
            requests_per_turn: 50,
            policy: crate::permit::Policy {
                read_only_profile: crate::permit::shell::ReadOnlyProfile::Enforced,
                ..Default::default()
            },
            client: None,
            headless: false,
            stranger: false,
            compact_at: 77.5,
            steer_by_default: false,
            loosest: Mode::Execute,
            ceiling: None,
            session_dir: "/s".into(),
            long_cache: false,
            full_tools: true,
            seed: 7,
        };
        change(&mut rules);
        Self {
            machine: Machine::new(meta, HeaderExtension::default(), Queue::default(), rules),
            now: At(10_000),
            out: Vec::new(),
        }
    }

    /// Feeds an input and returns the steps of it alone.
    fn feed(&mut self, input: Input) -> Vec<Step> {
        self.now = self.now.plus(5);
        let steps = self.machine.step(self.now, input);
        self.out.extend(steps.clone());
        steps
    }
    fn act(&mut self, act: SessionCommand) -> Vec<Step> {
        self.feed(Input::Command(act))
    }
    fn send(&mut self, text: &str) -> Vec<Step> {
        self.act(SessionCommand::send(text))
    }
    fn run(&self) -> RunNo {
        self.machine.runs.current()
    }
    fn chunk(&mut self, chunk: Chunk) -> Vec<Step> {
        self.feed(Input::Chunk(self.run(), chunk))
    }
    fn text(&mut self, text: &str) -> Vec<Step> {
        self.chunk(Chunk::Text(text.into()))
    }
    fn stop_with(&mut self, stop: Stop) -> Vec<Step> {
        self.chunk(Chunk::Stopped(stop))
    }
    fn calls(&mut self, calls: &[(&str, &str)]) -> Vec<Step> {
        for (id, name) in calls {
            let input = json!({"path": id});
            self.chunk(Chunk::Call(ProposedCall { id: CallId::new(*id), name: (*name).into(), input }));
        }
        self.stop_with(Stop::Calls)
    }
    fn found(&mut self, id: &str, facts: CallFacts) -> Vec<Step> {
        self.feed(Input::Inspected(self.run(), CallId::new(id), Ok(facts)))
    }
    fn ran(&mut self, id: &str, text: &str) -> Vec<Step> {
        self.feed(Input::Ran(self.run(), CallId::new(id), Box::new(Ok(Outcome::ok(text)))))
    }
    fn call(&self, id: &str) -> crate::domain::tool::ToolCall {
        let live = self.machine.live_rows();
        let row = live.iter().chain(self.machine.rows()).find(|row| row.tool().is_some_and(|t| t.id.as_str() == id));
        row.and_then(|row| row.tool()).expect("the call has a row").clone()
    }
    fn asked(&self) -> Request {
        self.machine.requests().first().expect("something is asked").clone()
    }
}

fn read(path: &str) -> CallFacts {
    CallFacts {
        tool: "read".into(),
        subject: path.into(),
        touches: vec![Touch::Read { path: path.into(), secret: false }],
        proposal: Proposal::Plain,
        secrets_here: false,
        left_out: Vec::new(),
    }
}
fn write(path: &str) -> CallFacts {
    CallFacts {
        tool: "write".into(),
        subject: path.into(),
        touches: vec![Touch::Write { path: path.into(), place: PathPlace::Inside }],
        proposal: Proposal::Change { diff: Default::default(), before: "1".into(), after: "2".into() },
        secrets_here: false,
        left_out: Vec::new(),
    }
}
fn command(line: &str) -> CallFacts {
    CallFacts {
        tool: "bash".into(),
        subject: line.into(),
        touches: vec![Touch::command(line, "/w")],
        proposal: Proposal::Command { command: line.into(), cwd: "/w".into() },
        secrets_here: false,
        left_out: Vec::new(),
    }
}
fn broken(retry: bool) -> ProviderError {
    ProviderError {
        code: "network_error",
        title: "Network".into(),
        text: "gone".into(),
        detail: String::new(),
        retry,
        after: Some(Duration::ZERO),
    }
}

fn kept(steps: &[Step]) -> Vec<Message> {
    steps.iter().flat_map(|step| if let Step::Append(rows, _) = step { rows.clone() } else { Vec::new() }).collect()
}
fn position(steps: &[Step], what: impl Fn(&Step) -> bool) -> usize {
    steps.iter().position(what).unwrap_or_else(|| panic!("not among {steps:#?}"))
}
fn ended(steps: &[Step]) -> Option<TurnEnd> {
    steps.iter().find_map(|step| if let Step::Emit(SessionEvent::TurnEnded { end }) = step { Some(*end) } else { None })
}
fn runs(steps: &[Step]) -> Vec<String> {
    steps.iter().filter_map(|s| if let Step::Run(_, call, ..) = s { Some(call.id.to_string()) } else { None }).collect()
}

fn asked_approval(b: &Bench) -> crate::domain::request::Approval {
    match b.asked().ask {
        Ask::Approval(approval) => *approval,
        other => panic!("{other:?}"),
    }
}

fn sends(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Ask(..)))
}

#[test]
fn a_message_is_on_disk_before_its_request_leaves() {
    let mut b = Bench::new(Mode::Ask);
    let steps = b.send("hello\nthere");
    let keep = position(&steps, |s| matches!(s, Step::Append(_, Safety::Synced)));
    let ask = position(&steps, |s| matches!(s, Step::Ask(..)));
    assert!(keep < ask);
    assert_eq!(b.machine.meta.title, "hello there");
    assert!(b.machine.meta.connection_locked);
    b.text("Hi");
    b.text(" you");
    let steps = b.stop_with(Stop::Done);
    assert_eq!(ended(&steps), Some(TurnEnd::Done));
    assert!(
        matches!(&kept(&steps)[0].body, Body::Assistant(said) if said.text == "Hi you" && !said.intermediate && !said.partial)
    );
    assert!(b.machine.meta.unread, "nobody looked");
    assert!(b.machine.is_quiet());
}

#[test]
fn enter_while_a_turn_runs_queues_and_the_queue_follows() {
    let mut b = Bench::new(Mode::Ask);
    b.send("one");
    let steps = b.send("two");
    assert!(steps.iter().any(|s| matches!(s, Step::KeepQueue(items) if items.len() == 1)));
    b.text("ok");
    let steps = b.stop_with(Stop::Done);
    let row = position(
        &steps,
        |s| matches!(s, Step::Append(rows, _) if matches!(&rows[0].body, Body::User(UserText { text, .. }) if text == "two")),
    );
    let forgotten = position(&steps, |s| matches!(s, Step::KeepQueue(items) if items.is_empty()));
    let asked = position(&steps, |s| matches!(s, Step::Ask(..)));
    assert!(row < forgotten && forgotten < asked, "the row is on disk before the queue forgets it");
    assert!(b.machine.queue.items.is_empty());
    assert!(b.machine.is_running());
    b.text("and");
    b.stop_with(Stop::Done);
    assert!(b.machine.is_quiet(), "turns that end by themselves leave nothing to wait for");
}

#[test]
fn a_model_that_pauses_is_asked_again_with_what_it_said() {
    let mut b = Bench::new(Mode::Ask);
    b.send("look it up");
    b.text("I search.");
    let native = Native { wire: "w".into(), json: "[1]".into() };
    b.chunk(Chunk::Native(native.clone()));
    let steps = b.stop_with(Stop::Paused);
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!("{steps:?}") };
    assert!(
        matches!(request.items.last(), Some(ConversationItem::Assistant(reply)) if reply.text == "I search." && reply.native == [native])
    );
    b.text("Found.");
    assert_eq!(ended(&b.stop_with(Stop::Done)), Some(TurnEnd::Done));
    // A model that does nothing but pause is not asked for ever.
    b.send("again");
    assert_eq!(ended(&b.stop_with(Stop::Paused)), Some(TurnEnd::Failed));
}

#[test]
fn a_response_that_is_counted_twice_is_paid_once() {
    let mut b = Bench::new(Mode::Ask);
    b.send("one");
    let count = |output| RequestUsage { input: 10, output, ..RequestUsage::default() };
    let run = b.run();
    b.feed(Input::Used(run, count(1), None, 0.25));
    b.feed(Input::Used(run, count(8), None, 1.0));
    assert_eq!((b.machine.meta.usage.output_tokens, b.machine.meta.usage.cost_usd), (8, 1.0));
    b.calls(&[("a", "read")]);
    b.found("a", read("/w/a"));
    b.ran("a", "text");
    b.feed(Input::Used(run, count(2), None, 0.5));
    assert_eq!((b.machine.meta.usage.output_tokens, b.machine.meta.usage.cost_usd), (10, 1.5));
}

#[test]
fn stopping_keeps_the_text_holds_the_queue_and_ignores_late_news() {
    let mut b = Bench::new(Mode::Ask);
    b.send("one");
    b.send("two");
    b.text("Half an ans");
    let old = b.run();
    let steps = b.act(SessionCommand::Stop);
    assert_eq!(position(&steps, |s| matches!(s, Step::Cancel(_))), 0);
    let rows = kept(&steps);
    assert!(matches!(&rows[0].body, Body::Assistant(said) if said.partial && said.text == "Half an ans"));
    assert!(matches!(&rows[1].body, Body::Info(info) if info.kind == InfoKind::Interrupted));
    assert_eq!(ended(&steps), Some(TurnEnd::Stopped));
    assert!(b.machine.queue.held);
    assert_eq!(b.machine.meta.activity, Activity::Stopping);
    assert_eq!(b.feed(Input::Chunk(old, Chunk::Text("wer".into()))), vec![]);
    b.feed(Input::Reaped(old));
    assert_eq!(b.machine.meta.activity, Activity::Idle);
    let steps = b.act(SessionCommand::Queue(QueueEdit::Release));
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!() };
    assert!(
        matches!(request.items.last(), Some(ConversationItem::User(said)) if said.text.contains("interrupted") && said.text.ends_with("two"))
    );
}

#[test]
fn calls_of_one_response_are_told_apart_where_the_server_gives_them_one_id() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("call_0", "read"), ("call_0", "read")]);
    b.found("call_0", read("/w/a"));
    b.found("call_0-2", read("/w/b"));
    b.ran("call_0", "one");
    let steps = b.ran("call_0-2", "two");
    assert!(steps.iter().any(|step| matches!(step, Step::Ask(..))), "both have their results");
}

#[test]
fn a_stopped_turn_leaves_every_call_with_a_result() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "read"), ("b", "bash"), ("c", "write")]);
    b.found("a", read("/w/a"));
    b.ran("a", "text");
    b.found("b", command("make"));
    assert_eq!(b.machine.requests().len(), 1);
    let steps = b.act(SessionCommand::Stop);
    assert!(steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Settled { .. }))));
    for id in ["a", "b", "c"] {
        let call = b.call(id);
        assert!(call.result.is_some() && call.status.ended(), "{id}");
    }
    assert_eq!(b.call("b").status, ToolStatus::Error);
    assert!(b.machine.live_rows().is_empty());
}

#[test]
fn a_call_is_on_disk_before_its_tool_runs_and_its_result_before_the_model_sees_it() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    let steps = b.calls(&[("w", "write")]);
    let live = position(&steps, |s| matches!(s, Step::KeepLive(_, Safety::Synced)));
    assert!(live < position(&steps, |s| matches!(s, Step::Inspect(..))));
    let steps = b.found("w", write("/w/x"));
    assert!(
        position(&steps, |s| matches!(s, Step::KeepLive(_, Safety::Synced)))
            < position(&steps, |s| matches!(s, Step::Run(..)))
    );
    let steps = b.ran("w", "written");
    let result = position(&steps, |s| matches!(s, Step::Append(rows, _) if rows[0].tool().is_some()));
    assert!(result < position(&steps, |s| matches!(s, Step::Ask(..))));
}

#[test]
fn reads_run_side_by_side_and_changes_in_order() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    let steps = b.calls(&[("a", "read"), ("b", "read"), ("c", "write"), ("d", "read")]);
    let inspected: Vec<_> =
        steps.iter().filter_map(|s| if let Step::Inspect(_, c) = s { Some(c.id.to_string()) } else { None }).collect();
    assert_eq!(inspected, ["a", "b"]);
    assert_eq!(runs(&b.found("a", read("/w/a"))), ["a"]);
    assert_eq!(runs(&b.found("b", read("/w/b"))), ["b"]);
    let steps = b.ran("b", "2");
    assert!(kept(&steps).is_empty(), "rows become final in the order of the calls");
    let steps = b.ran("a", "1");
    assert_eq!(kept(&steps).iter().map(|r| r.tool().unwrap().id.to_string()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(steps.iter().any(|s| matches!(s, Step::Inspect(_, c) if c.id.as_str() == "c")));
    b.found("c", write("/w/c"));
    let steps = b.ran("c", "3");
    assert!(steps.iter().any(|s| matches!(s, Step::Inspect(_, c) if c.id.as_str() == "d")));
}

fn approve(b: &Bench, mode: Mode, compact: bool) -> UserAnswer {
    let review = &b.machine.own.plan.as_ref().expect("plan pending").review;
    let covers = crate::domain::plan::hash(&review.markdown);
    let marks = crate::domain::plan::Outline::parse(&review.markdown).marks();
    UserAnswer::PlanApprove(PlanApproval { mode, compact, marks, covers })
}

fn with_plan() -> Bench {
    let mut b = Bench::new(Mode::Explore);
    b.send("tidy up");
    b.calls(&[("p", "submit_plan"), ("q", "read")]);
    let inner = CallFacts {
        tool: "submit_plan".into(),
        subject: "Tidy".into(),
        touches: vec![Touch::Inner],
        proposal: Proposal::Plain,
        secrets_here: false,
        left_out: Vec::new(),
    };
    b.found("p", inner);
    let then = Then::Plan { path: "/s/plans/x.md".into(), title: "Tidy".into(), markdown: "# Tidy\n1. x".into() };
    let run = b.run();
    let outcome = Outcome { then, ..Outcome::ok("submitted") };
    let steps = b.feed(Input::Ran(run, CallId::new("p"), Box::new(Ok(outcome))));
    assert_eq!(ended(&steps), Some(TurnEnd::Plan));
    assert!(b.call("q").result.unwrap().contains("plan"));
    b
}

#[test]
fn a_plan_pauses_and_only_its_answers_leave_explore() {
    let mut b = with_plan();
    assert!(b.machine.meta.plan_pending);
    assert_eq!(b.machine.meta.activity, Activity::NeedsYou("plan: Tidy".into()));
    b.act(SessionCommand::Mode { mode: Mode::Ask, drop_plan: false });
    assert_eq!(b.machine.meta.mode, Mode::Explore);
    let id = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request: id, answer: approve(&b, Mode::Execute, false), shown: None });
    assert_eq!(b.machine.meta.mode, Mode::Execute);
    assert!(kept(&steps).iter().any(|r| matches!(&r.body, Body::User(u) if u.text.starts_with("Plan approved"))));
    b.calls(&[("w", "write")]);
    assert_eq!(runs(&b.found("w", write("/w/x"))), ["w"], "the approved mode counts at once");
}

#[test]
fn a_plan_can_be_changed_declined_or_dropped() {
    let mut b = with_plan();
    let id = b.asked().id;
    let steps =
        b.act(SessionCommand::Answer { request: id, answer: UserAnswer::PlanChanges("smaller".into()), shown: None });
    assert!(kept(&steps).iter().any(|r| matches!(&r.body, Body::User(u) if u.text.contains("smaller"))));
    assert_eq!(b.machine.meta.mode, Mode::Explore);
    let mut b = with_plan();
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::PlanDecline, shown: None });
    assert!(!b.machine.meta.plan_pending && !b.machine.is_running());
    let mut b = with_plan();
    b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: true });
    assert_eq!((b.machine.meta.mode, b.machine.meta.plan_pending), (Mode::Execute, false));
}

#[test]
fn failures_are_retried_with_the_text_left_where_it_is_and_then_told() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.text("Half");
    for attempt in 1..=crate::provider::retry::MOST {
        let run = b.run();
        let steps = b.feed(Input::Failed(run, broken(true)));
        assert!(
            steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Retrying { attempt: n, .. }) if *n == attempt))
        );
        assert!(steps.iter().any(|s| matches!(s, Step::RetryIn(..))));
        assert!(!steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Dropped { .. }) | Step::DropLive(_))));
        let live = b.machine.live_rows();
        assert!(matches!(&live[0].body, Body::Assistant(said) if said.text == "Half" && said.partial), "{live:?}");
        let steps = b.feed(Input::RetryNow(run));
        assert!(steps.iter().any(|s| matches!(s, Step::Ask(..))));
    }
    b.send("later");
    b.text("So");
    let run = b.run();
    let steps = b.feed(Input::Failed(run, broken(true)));
    assert_eq!(ended(&steps), Some(TurnEnd::Failed));
    let cut = |row: &Message, text: &str, by| matches!(&row.body, Body::Assistant(said) if said.text == text && said.partial && said.cut_by == Some(by));
    assert!(cut(&kept(&steps)[0], "Half", CutBy::Error), "the most of what was shown: {steps:?}");
    assert!(matches!(&kept(&steps)[1].body, Body::Error(_)));
    assert!(b.machine.queue.held);
    let steps = b.act(SessionCommand::Retry);
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!() };
    assert_eq!(request.items, [ConversationItem::User("go".into())], "the broken text is not sent again");
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    let run = b.run();
    assert_eq!(ended(&b.feed(Input::Failed(run, broken(false)))), Some(TurnEnd::Failed));
}

#[test]
fn steering_skips_what_was_not_started_and_kills_nothing() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    b.calls(&[("a", "bash"), ("b", "bash")]);
    b.found("a", command("make"));
    b.act(SessionCommand::steer("use ninja"));
    assert!(b.call("b").result.unwrap().starts_with("skipped"));
    assert!(b.call("a").result.is_none());
    let steps = b.ran("a", "done");
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!("{steps:#?}") };
    assert!(matches!(request.items.last(), Some(ConversationItem::User(said)) if said.text == "use ninja"));
}

#[test]
fn what_steers_is_never_lost() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    let run = b.run();
    b.feed(Input::Failed(run, broken(true)));
    let steps = b.act(SessionCommand::steer("rather this"));
    assert!(
        steps.iter().any(|s| matches!(s, Step::KeepQueue(items) if items[0].text == "rather this")),
        "on disk at once"
    );
    b.feed(Input::RetryNow(run));
    let steps = b.feed(Input::Failed(run, broken(false)));
    assert_eq!(ended(&steps), Some(TurnEnd::Failed));
    assert_eq!(b.machine.queue.items[0].text, "rather this");
    assert!(b.machine.queue.held);
    assert!(
        steps
            .iter()
            .any(|s| matches!(s, Step::Emit(SessionEvent::Queue { items, held: true, .. }) if items.len() == 1))
    );
}

#[test]
fn a_message_beside_a_waiting_plan_runs_its_whole_turn() {
    let mut b = with_plan();
    b.send("what is in a?");
    b.calls(&[("r", "read")]);
    b.found("r", read("/w/a"));
    let steps = b.ran("r", "text");
    assert_eq!(ended(&steps), None);
    assert!(steps.iter().any(|s| matches!(s, Step::Ask(..))));
    b.text("This.");
    assert_eq!(ended(&b.stop_with(Stop::Done)), Some(TurnEnd::Done));
    assert!(b.machine.meta.plan_pending, "the plan still waits");
}

#[test]
fn an_approved_plan_is_gone_only_after_its_message_is_on_disk() {
    let mut b = with_plan();
    let id = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request: id, answer: approve(&b, Mode::Ask, false), shown: None });
    let row = position(&steps, |s| matches!(s, Step::Append(..)));
    assert!(row < position(&steps, |s| matches!(s, Step::KeepMeta(_))));
    assert!(steps.iter().any(|s| matches!(s, Step::KeepMeta(Safety::Synced))));
}

#[test]
fn a_retry_thinks_anew_in_the_same_row() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.chunk(Chunk::Thinking("hm".into()));
    let steps = b.text("Half");
    assert!(kept(&steps).is_empty());
    let run = b.run();
    let steps = b.feed(Input::Failed(run, broken(true)));
    assert!(!steps.iter().any(|s| matches!(s, Step::DropLive(_))));
    b.feed(Input::RetryNow(run));
    b.chunk(Chunk::Thinking("so".into()));
    b.text("Whole");
    let rows = kept(&b.stop_with(Stop::Done));
    assert!(matches!(&rows[0].body, Body::Thinking(t) if t.millis.is_some() && t.text == "so"));
    assert!(matches!(&rows[1].body, Body::Assistant(a) if a.text == "Whole" && !a.partial));
    assert_eq!(rows.len(), 2);
}

#[test]
fn what_cannot_be_sent_waits_and_foreign_data_stays() {
    let mut b = Bench::new(Mode::Ask);
    let steps = b.feed(Input::Enqueue("later".into()));
    assert!(steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Queue { held: true, .. }))));
    assert!(!b.machine.is_running());
    let own = HeaderExtension::read(json!({"plan": {"strange": 1}, "todo": [], "newer": {"x": 1}}));
    assert_eq!(own.plan, None);
    assert_eq!(serde_json::to_value(&own).unwrap()["newer"]["x"], 1);
}

#[test]
fn a_turn_has_a_limit_and_the_third_equal_call_asks() {
    let mut b = Bench::with(Mode::Execute, |rules| rules.requests_per_turn = 2);
    b.send("go");
    b.calls(&[("a", "read")]);
    b.found("a", read("/w/a"));
    b.ran("a", "1");
    b.calls(&[("b", "read")]);
    b.found("b", read("/w/b"));
    assert_eq!(ended(&b.ran("b", "1")), Some(TurnEnd::Limit));

    for (mode, asks) in [(Mode::Execute, true), (Mode::Explore, false)] {
        let mut b = Bench::new(mode);
        b.send("go");
        for round in 0..3 {
            let id = format!("same{round}");
            let call = ProposedCall { id: CallId::new(id.clone()), name: "read".into(), input: json!({"path": "x"}) };
            b.chunk(Chunk::Call(call));
            b.stop_with(Stop::Calls);
            b.found(&id, read("/w/x"));
            if round < 2 {
                b.ran(&id, "1");
            }
        }
        assert_eq!(b.machine.requests().len(), usize::from(asks), "{mode:?}");
        assert_eq!(b.call("same2").status == ToolStatus::Error, !asks);
    }
}

#[test]
fn an_agent_that_repeats_itself_is_ended_where_nobody_can_be_asked() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    for round in 1..=6 {
        let id = format!("same{round}");
        let input = json!({"path": "missing"});
        b.chunk(Chunk::Call(ProposedCall { id: CallId::new(id.clone()), name: "read".into(), input }));
        b.stop_with(Stop::Calls);
        let run = b.run();
        let steps = b.feed(Input::Inspected(run, CallId::new(id), Err("there is no such file".into())));
        assert_eq!(ended(&steps), (round == 6).then_some(TurnEnd::Limit), "{round}");
    }
}

#[test]
fn questions_wait_for_their_answer_and_nobody_answers_headless() {
    let ask = |b: &mut Bench| {
        b.send("go");
        b.calls(&[("q", "ask_user")]);
        let inner = CallFacts {
            tool: "ask_user".into(),
            subject: "which?".into(),
            touches: vec![Touch::Inner],
            proposal: Proposal::Plain,
            secrets_here: false,
            left_out: Vec::new(),
        };
        b.found("q", inner);
        let question =
            crate::domain::request::AgentQuestion { call: CallId::new("?"), text: "which?".into(), options: vec![] };
        let run = b.run();
        b.feed(Input::Ran(
            run,
            CallId::new("q"),
            Box::new(Ok(Outcome { then: Then::Ask(question), ..Outcome::ok("") })),
        ))
    };
    let mut b = Bench::new(Mode::Explore);
    ask(&mut b);
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::Reply("this one".into()), shown: None });
    assert!(b.call("q").result.unwrap().contains("this one"));
    let mut b = Bench::with(Mode::Ask, |rules| rules.headless = true);
    ask(&mut b);
    assert!(b.call("q").result.unwrap().contains("This run is non-interactive"));
    b.calls(&[("w", "write")]);
    b.found("w", write("/w/x"));
    let decision = b.call("w").decision.unwrap();
    assert!(!decision.allowed && decision.authority == Authority::Nobody);
}

#[test]
fn a_turn_that_died_is_told_with_the_next_one() {
    let mut b = Bench::new(Mode::Ask);
    b.machine.runs.set_died(Some(Death::Restarted));
    let steps = b.send("go on");
    let rows = kept(&steps);
    assert!(matches!(&rows[0].body, Body::Info(info) if info.kind == InfoKind::Restarted));
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!() };
    let Some(ConversationItem::User(said)) = request.items.last() else { panic!("{request:?}") };
    assert!(said.text.starts_with("[lisle was restarted") && said.text.ends_with("go on"), "{}", said.text);
    assert!(!said.text.contains("The user interrupted"));
    b.text("ok");
    b.stop_with(Stop::Done);
    assert_eq!(kept(&b.send("more")).len(), 1, "once");
}

#[test]
fn empty_answers_and_names() {
    let mut b = Bench::new(Mode::Ask);
    b.send("   ");
    assert!(!b.machine.is_running());
    b.act(SessionCommand::Rename { title: " My  title ".into() });
    b.send("something else");
    assert_eq!(b.machine.meta.title, "My title");
    assert_eq!(ended(&b.stop_with(Stop::Done)), None, "it is asked for once more");
    assert_eq!(ended(&b.stop_with(Stop::Done)), Some(TurnEnd::Failed));
}

#[test]
fn a_workspace_of_another_program_goes_no_further_than_ask() {
    let mut b = Bench::with(Mode::Explore, |rules| rules.loosest = Mode::Ask);
    let steps = b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    assert_eq!(b.machine.meta.mode, Mode::Ask);
    assert!(steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Notice(_)))));
}

proptest! {
    /// Whatever happens in whatever order: turns that began have ended or run, final rows are final, and every call that is
    /// final has a result.
    #[test]
    fn any_order_of_events_is_survived(moves in prop::collection::vec((0u8..14, 0u8..4), 0..80)) {
        let mut b = Bench::new(Mode::Ask);
        let mut calls = 0;
        for (what, which) in moves {
            let id = CallId::new(format!("c{}", (calls as u32).saturating_sub(u32::from(which))));
            let run = b.run();
            match what {
                0 => { b.send("m"); }
                1 => { b.text("t"); }
                2 => { calls += 1; b.chunk(Chunk::Call(ProposedCall { id: CallId::new(format!("c{calls}")), name: ["read", "write", "bash", "nope"][usize::from(which)].into(), input: json!({"n": calls}) })); }
                3 => { b.stop_with(Stop::Calls); }
                4 => { b.stop_with(Stop::Done); }
                5 => { b.feed(Input::Inspected(run, id, Ok([read("/w/a"), write("/w/b"), command("ls"), command("make")][usize::from(which)].clone()))); }
                6 => { b.feed(Input::Ran(run, id, Box::new(Ok(Outcome::ok("r"))))); }
                7 => { b.act(SessionCommand::Stop); }
                8 => { b.feed(Input::Failed(run, broken(which > 1))); }
                9 => { b.feed(Input::RetryNow(run)); }
                10 => { if let Some(r) = b.machine.requests().first().cloned() { b.act(SessionCommand::Answer { request: r.id, answer: [UserAnswer::Once, for_session(), UserAnswer::No(None), UserAnswer::PlanDecline][usize::from(which)].clone(), shown: None }); } }
                11 => { b.act(SessionCommand::Mode { mode: Mode::ALL[usize::from(which) % 3], drop_plan: false }); }
                12 => { b.feed(Input::Reaped(RunNo(run.0.saturating_sub(1)))); }
                _ => { b.act(SessionCommand::steer("s")); }
            }
        }
        b.feed(Input::Shutdown);
        // A write whose end is waited for, and does not come.
        prop_assert!(!b.machine.is_running() || b.machine.is_stopping());
        let run = b.run();
        b.feed(Input::RetryNow(run));
        prop_assert!(!b.machine.is_running());
        let started = b.out.iter().filter(|s| matches!(s, Step::Emit(SessionEvent::TurnStarted { .. }))).count();
        let ended = b.out.iter().filter(|s| matches!(s, Step::Emit(SessionEvent::TurnEnded { .. }))).count();
        prop_assert_eq!(started, ended);
        let final_rows = kept(&b.out);
        let mut ids = std::collections::HashSet::new();
        let mut last = At(0);
        for row in &final_rows {
            prop_assert!(ids.insert(row.id.clone()), "a final row came twice");
            if let Some(call) = row.tool() { prop_assert!(call.result.is_some() && call.status.ended()); }
            last = last.max(row.at);
        }
        // Whatever was shown as a live row became final or was taken back.
        for step in &b.out {
            if let Step::KeepLive(row, _) = step {
                let dropped = b.out.iter().any(|s| matches!(s, Step::DropLive(id) if *id == row.id));
                prop_assert!(dropped || ids.contains(&row.id), "{row:?} was lost");
            }
        }
    }
}

// ---- what happens by itself ----

#[test]
fn a_typed_command_runs_in_every_mode_and_asks_no_model() {
    for mode in Mode::ALL {
        let mut b = Bench::new(mode);
        let steps = b.act(SessionCommand::Type { command: " rm a \n".into() });
        let id = steps.iter().find_map(|step| match step {
            Step::Inspect(_, call) => Some(call.clone()),
            _ => None,
        });
        let call = id.unwrap();
        assert_eq!(call.input["command"], "rm a");
        let steps = b.found(call.id.as_str(), command("rm a"));
        assert_eq!(runs(&steps), [call.id.as_str()], "{mode:?}");
        assert_eq!(b.call(call.id.as_str()).decision.unwrap().authority, Authority::Typed);
        // A second one waits for its end.
        assert!(
            !b.act(SessionCommand::Type { command: "ls".into() }).iter().any(|step| matches!(step, Step::Inspect(..)))
        );
        let steps = b.ran(call.id.as_str(), "gone\nexit 0");
        assert!(!steps.iter().any(|step| matches!(step, Step::Ask(..))));
        assert!(steps.contains(&Step::Turn(false)));
        assert!(!b.machine.meta.unread && !b.machine.meta.connection_locked);
        // No turn was interrupted, so Enter has nothing to continue.
        assert_eq!((b.machine.meta.attention(), b.machine.meta.can_retry()), (Attention::Idle, false));
        // The model hears of it with the next message.
        let steps = b.send("and now?");
        let asked = steps.iter().find_map(|step| match step {
            Step::Ask(_, request) => Some(request.items.clone()),
            _ => None,
        });
        let text = format!("{:?}", asked.unwrap());
        assert!(text.contains("[I ran this command myself: rm a]"), "{text}");
    }
}
