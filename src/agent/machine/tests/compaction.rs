//! Compaction: wished, by itself, on overflow and for a plan; stopped, failed and queued in between.

use super::*;
use crate::agent::machine_io::SummaryRequest;
use crate::domain::message::{AssistantText, Failure, FailureAction};

fn user(text: &str) -> Body {
    Body::User(UserText { text: text.into(), ..UserText::default() })
}
fn said(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.into(), ..AssistantText::default() })
}

/// A session with a history of so many exchanges of about a thousand tokens each, in a window.
fn long(exchanges: usize, window: u64) -> Bench {
    let mut b = Bench::new(Mode::Ask);
    b.machine.set_models(Models { window: Some(window), output: None, has_small: true, summing: Some(window) });
    let rows = (0..exchanges).flat_map(|n| {
        let row = |name: &str, body| Message::new(MessageId::new(format!("{name}{n}")), At(n as i64), body);
        [row("u", user(&format!("wish {n}"))), row("a", said(&format!("{n} {}", "word ".repeat(800))))]
    });
    b.machine.set_rows(rows.collect());
    b
}

fn overflow() -> ProviderError {
    let text = "The conversation is too long for the model.".to_owned();
    ProviderError { code: "context_overflow", title: "Full".into(), text, ..broken(false) }
}

fn sums(steps: &[Step]) -> Option<SummaryRequest> {
    steps.iter().find_map(|step| if let Step::Summarise(_, asked) = step { Some((**asked).clone()) } else { None })
}
fn asks(steps: &[Step]) -> Option<Vec<ConversationItem>> {
    steps.iter().find_map(|step| if let Step::Ask(_, request) = step { Some(request.items.clone()) } else { None })
}
fn compaction(steps: &[Step]) -> Option<(Info, crate::domain::message::Carried)> {
    kept(steps).into_iter().find_map(|row| match row.body {
        Body::Info(Info { kind: InfoKind::Compacted, carried: Some(carried), text, level }) => {
            let info = Info { kind: InfoKind::Compacted, carried: None, text, level };
            Some((info, *carried))
        }
        _ => None,
    })
}
fn failure(steps: &[Step]) -> Option<Failure> {
    kept(steps).into_iter().find_map(|row| if let Body::Error(failure) = row.body { Some(failure) } else { None })
}

impl Bench {
    fn sum(&mut self, text: &str) -> Vec<Step> {
        let run = self.run();
        self.feed(Input::Summarised(run, Ok(text.into())))
    }
    /// The model sums up whatever it is asked about.
    fn sum_all(&mut self, text: &str) -> Vec<Step> {
        let mut steps = self.sum(text);
        while sums(&steps).is_some() {
            steps = self.sum(text);
        }
        steps
    }
    fn sum_fails(&mut self, error: ProviderError) -> Vec<Step> {
        let run = self.run();
        self.feed(Input::Summarised(run, Err(error)))
    }
    fn compact(&mut self, wish: &str) -> Vec<Step> {
        self.act(SessionCommand::Compact { wish: wish.into() })
    }
    fn fails(&mut self, error: ProviderError) -> Vec<Step> {
        let run = self.run();
        self.feed(Input::Failed(run, error))
    }
}

#[test]
fn a_wished_compaction_keeps_the_last_rows_and_tells_the_model_the_rest() {
    let mut b = long(10, 16_000);
    let steps = b.compact("keep the numbers");
    let asked = sums(&steps).expect("a model is asked");
    assert!(asked.small && asked.system.ends_with("keep the numbers"));
    assert!(asked.text.contains("wish 0") && !asked.text.contains("wish 9"));
    assert!(matches!(b.machine.activity(), Activity::Running(_)));
    assert!(steps.contains(&Step::Emit(SessionEvent::Compacting { part: 1, of: 2 })));
    assert!(kept(&steps).is_empty(), "nothing is written before it is done");
    let steps = b.sum("half of what was done");
    assert!(steps.contains(&Step::Emit(SessionEvent::Compacting { part: 2, of: 2 })) && kept(&steps).is_empty());
    let steps = b.sum("what was done");
    let (info, carried) = compaction(&steps).expect("it is done");
    assert!(info.text.contains("with a summary") && info.level == Level::Info, "{}", info.text);
    assert_eq!(carried.summary, "what was done");
    assert!(carried.text.contains("wish 0") && !carried.text.contains("wish 9"));
    assert_eq!(ended(&steps), Some(TurnEnd::Done));
    assert!(!b.machine.meta.unread, "nothing new was said");
    assert!(b.machine.meta.usage.context_tokens < 6_000, "{:?}", b.machine.meta.usage);
    let items = asks(&b.send("go on")).unwrap();
    assert!(matches!(&items[0], ConversationItem::User(said) if said.text == carried.text));
    assert!(matches!(&items[1], ConversationItem::User(said) if said.text.starts_with("wish")), "recent rows stay");
    assert!(matches!(items.last(), Some(ConversationItem::User(said)) if said.text == "go on"));
    assert!(items.len() < 8);
}

#[test]
fn nothing_is_compacted_where_nothing_was_said_or_something_else_runs() {
    let mut b = Bench::new(Mode::Ask);
    let steps = b.compact("");
    assert!(sums(&steps).is_none() && !b.machine.is_running());
    b.send("hello");
    assert!(sums(&b.compact("")).is_none() && b.machine.is_running());
    b.text("hi");
    b.stop_with(Stop::Done);
    // One exchange alone is summed up whole.
    assert!(sums(&b.compact("")).is_some());
    b.sum_all("all of it");
    assert!(sums(&b.compact("")).is_none(), "there is nothing since");
}

#[test]
fn stopped_in_the_middle_nothing_changed() {
    let mut b = long(10, 16_000);
    let before = b.machine.rows().to_vec();
    b.compact("");
    b.send("meanwhile");
    let run = b.run();
    let steps = b.act(SessionCommand::Stop);
    assert_eq!(ended(&steps), Some(TurnEnd::Stopped));
    assert!(steps.contains(&Step::Cancel(run)) && compaction(&steps).is_none());
    assert_eq!(b.machine.rows()[..before.len()], before);
    assert!(b.machine.queue.held, "what waits is held, as after every stop");
    assert!(b.feed(Input::Summarised(run, Ok("late".into()))).is_empty(), "late news is ignored");
    // The model hears nothing of an interruption: no answer of its was interrupted.
    let items = asks(&b.send("go on")).unwrap();
    assert!(matches!(items.last(), Some(ConversationItem::User(said)) if said.text == "go on"));
}

#[test]
fn what_was_sent_meanwhile_goes_when_it_is_done() {
    for act in [
        SessionCommand::Send { text: "next".into(), attachments: vec![], piped: None },
        SessionCommand::Steer { text: "next".into(), attachments: vec![], piped: None },
    ] {
        let mut b = long(10, 16_000);
        b.compact("");
        assert!(asks(&b.act(act)).is_none());
        let items = asks(&b.sum_all("s")).expect("it is sent");
        assert!(matches!(items.last(), Some(ConversationItem::User(said)) if said.text == "next"));
        assert!(!b.machine.queue.held && b.machine.queue.items.is_empty());
    }
}

#[test]
fn a_nearly_full_window_is_compacted_before_the_next_request() {
    let mut b = long(10, 12_000);
    let steps = b.send("and now");
    assert!(asks(&steps).is_none() && sums(&steps).is_some(), "{steps:#?}");
    let items = asks(&b.sum_all("short")).expect("the turn goes on");
    assert!(matches!(items.last(), Some(ConversationItem::User(said)) if said.text == "and now"));
    assert!(items.len() < 8);
    // In the middle of a turn too, once results have filled it.
    b.calls(&[("r", "read")]);
    b.found("r", read("/w/a"));
    let steps = b.ran("r", &"result ".repeat(6_000));
    assert!(asks(&steps).is_none() && sums(&steps).is_some());
    b.act(SessionCommand::Steer { text: "by the way".into(), attachments: vec![], piped: None });
    let items = asks(&b.sum_all("short again")).expect("the turn goes on");
    assert!(matches!(items.last(), Some(ConversationItem::User(said)) if said.text == "by the way"));
    assert_eq!(b.machine.rows().iter().filter(|row| matches!(&row.body, Body::Info(_))).count(), 1);
    b.text("done");
    assert_eq!(ended(&b.stop_with(Stop::Done)), Some(TurnEnd::Done));
}

#[test]
fn what_is_full_without_the_conversation_is_not_compacted_for_ever() {
    let mut b = Bench::with(Mode::Ask, |rules| rules.tools[0].0.description = "long ".repeat(4_000));
    b.machine.set_models(Models { window: Some(4_000), ..Models::default() });
    assert!(asks(&b.send("hello")).is_some());
    let mut off = long(10, 12_000);
    off.machine.config.compact_at = 0.0;
    assert!(asks(&off.send("and now")).is_some(), "it is off");
    let mut unknown = long(10, 12_000);
    unknown.machine.set_models(Models::default());
    unknown.machine.meta.usage.context_window = None;
    assert!(asks(&unknown.send("and now")).is_some(), "a window that is not known is never full");
}

#[test]
fn the_servers_count_decides_when_it_is_full() {
    let mut b = long(5, 12_000);
    assert!(asks(&b.send("one")).is_some());
    let run = b.run();
    // The server counts three times what was guessed.
    let used = RequestUsage { input: 15_500, output: 10, ..RequestUsage::default() };
    b.feed(Input::Used(run, used, Some(12_000), 0.0));
    b.text("ok");
    b.stop_with(Stop::Done);
    let report = b.machine.context_report(At(1));
    assert_eq!(report.measured, crate::domain::context::Measured::Corrected);
    assert!((14_000..17_500).contains(&report.total()), "{}", report.total());
    assert!(sums(&b.send("two")).is_some());
}

#[test]
fn a_request_that_does_not_fit_is_sent_again_once_behind_a_compaction() {
    let mut b = long(6, 40_000);
    let first = asks(&b.send("and now")).unwrap();
    b.chunk(Chunk::Thinking("hm".into()));
    let steps = b.fails(overflow());
    assert!(sums(&steps).is_some() && ended(&steps).is_none() && failure(&steps).is_none());
    assert_eq!(b.machine.live_rows().len(), 1, "what was shown of it stays");
    let steps = b.sum_all("short");
    let again = asks(&steps).expect("it is sent again");
    assert!(again.len() < first.len() && again.last() == first.last());
    // A second time it fails for good, and says what helps.
    let steps = b.fails(overflow());
    assert_eq!(ended(&steps), Some(TurnEnd::Failed));
    let failure = failure(&steps).unwrap();
    assert_eq!(failure.title, "Context window exceeded");
    assert_eq!(failure.actions, [FailureAction::Compact, FailureAction::NewSession]);
    assert!(failure.text.contains("after compaction") && !failure.text.contains("ttachment"), "{failure:?}");
    // The next turn may try again.
    b.send("shorter");
    assert!(sums(&b.fails(overflow())).is_some());
}

#[test]
fn a_first_message_that_does_not_fit_fails_at_once() {
    let mut b = Bench::new(Mode::Ask);
    b.send(&"word ".repeat(9_000));
    let steps = b.fails(overflow());
    assert!(sums(&steps).is_none());
    let found = failure(&steps).unwrap();
    assert!(found.text.contains("Nothing earlier") && !found.text.contains("ttachment"));
    // Only a server that spoke of pictures, or a message that has some, is a reason to speak of them.
    b.send("again");
    let steps = b.fails(ProviderError { detail: "the image is too large".into(), ..overflow() });
    let steps = if sums(&steps).is_some() {
        b.sum_all("s");
        b.fails(ProviderError { detail: "the image is too large".into(), ..overflow() })
    } else {
        steps
    };
    assert!(failure(&steps).unwrap().text.contains("attachments"));
}

#[test]
fn a_part_that_is_too_long_is_halved_and_asked_about_again() {
    let mut b = long(10, 40_000);
    b.machine.set_models(Models { window: Some(40_000), output: None, has_small: false, summing: Some(40_000) });
    let first = sums(&b.compact("")).unwrap();
    assert!(!first.small);
    let steps = b.sum_fails(overflow());
    let second = sums(&steps).expect("it is asked about in parts");
    assert!(second.text.len() < first.text.len() * 2 / 3 && second.text.contains("Part 1 of 2"));
    assert!(steps.contains(&Step::Emit(SessionEvent::Compacting { part: 1, of: 2 })));
    let third = sums(&b.sum("the first half")).unwrap();
    assert!(third.text.contains("the first half") && third.text.contains("Part 2 of 2"));
    let (_, carried) = compaction(&b.sum("both halves")).unwrap();
    assert_eq!(carried.summary, "both halves");
}

#[test]
fn without_a_model_the_structure_alone_goes_on_and_says_why() {
    let mut b = long(10, 16_000);
    b.compact("");
    // The small model cannot, nor can the session's own, after what may pass was tried again.
    let steps = b.sum_fails(broken(false));
    assert!(!sums(&steps).expect("the session's model is asked").small);
    for _ in 0..2 {
        let steps = b.sum_fails(broken(true));
        assert!(steps.iter().any(|step| matches!(step, Step::RetryIn(..))));
        let run = b.run();
        assert!(sums(&b.feed(Input::RetryNow(run))).is_some());
    }
    let (info, carried) = compaction(&b.sum_fails(broken(true))).unwrap();
    assert!(info.text.contains("without a model (Network)") && info.level == Level::Warning, "{}", info.text);
    assert!(carried.summary.is_empty() && carried.text.contains("wish 0"));
    assert!(!b.machine.is_running());
    // An empty answer is no summary either.
    let mut b = long(10, 16_000);
    b.compact("");
    b.sum("  ");
    let (info, _) = compaction(&b.sum("")).unwrap();
    assert!(info.text.contains("the model gave no summary"));
}

#[test]
fn a_plan_that_is_approved_so_waits_again_when_the_compaction_is_stopped() {
    let mut b = long(3, 40_000);
    let review =
        PlanReview { path: "/s/plans/p.md".into(), title: "P".into(), markdown: "1. a\n".into(), ..Default::default() };
    b.machine.own.plan = Some(PendingPlan { request: RequestId::new("r"), review: review.clone() });
    let approval = PlanApproval {
        mode: Mode::Execute,
        compact: true,
        marks: vec![],
        covers: crate::domain::plan::hash(&review.markdown),
    };
    let approve = SessionCommand::Answer {
        request: RequestId::new("r"),
        answer: UserAnswer::PlanApprove(approval.clone()),
        shown: None,
    };
    assert!(sums(&b.act(approve.clone())).is_some());
    assert!(b.machine.meta.pending_execution.is_some() && b.machine.own.plan.is_some());
    // Nothing else is compacted meanwhile, and no second answer counts.
    assert!(b.act(approve.clone()).iter().any(|step| matches!(step, Step::Emit(SessionEvent::Notice(_)))));
    let steps = b.act(SessionCommand::Stop);
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Asked(_)))));
    assert_eq!(b.machine.meta.mode, Mode::Ask);
    assert!(b.machine.meta.pending_execution.is_none() && b.machine.own.plan.is_some() && !b.machine.has_due());
    b.feed(Input::Reaped(RunNo(99)));
    b.act(approve);
    let steps = b.sum_all("all of it");
    let (_, carried) = compaction(&steps).unwrap();
    assert!(carried.keeps.is_none() && carried.text.contains("1. a") && b.machine.has_due());
    assert!(ended(&steps).is_none());
    let items = asks(&b.feed(Input::CarryOut)).unwrap();
    assert_eq!((items.len(), b.machine.meta.mode), (2, Mode::Execute));
}

#[test]
fn an_empty_answer_is_asked_for_once_more() {
    let mut b = Bench::new(Mode::Ask);
    b.send("hello");
    assert!(asks(&b.stop_with(Stop::Done)).is_some());
    let steps = b.stop_with(Stop::Done);
    assert_eq!((ended(&steps), failure(&steps).unwrap().title.as_str()), (Some(TurnEnd::Failed), "Empty response"));
    b.send("again");
    b.stop_with(Stop::Done);
    b.text("hi");
    assert_eq!(ended(&b.stop_with(Stop::Done)), Some(TurnEnd::Done));
}

#[test]
fn compacting_again_and_again_loses_none_of_the_users_words() {
    let mut b = long(1, 16_000);
    for n in 0..6 {
        b.send(&format!("constraint {n}"));
        b.text(&"word ".repeat(900));
        b.stop_with(Stop::Done);
        assert!(sums(&b.compact("")).is_some(), "{n}");
        b.sum_all(&format!("summary {n}"));
    }
    let items = asks(&b.send("now")).unwrap();
    let all: String = items
        .iter()
        .map(|item| if let ConversationItem::User(said) = item { said.text.clone() } else { String::new() })
        .collect();
    for n in 0..6 {
        assert_eq!(all.matches(&format!("constraint {n}")).count(), 1, "{n} in {all}");
    }
}
