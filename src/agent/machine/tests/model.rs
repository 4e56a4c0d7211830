//! A turn whose connection has several models, none of them chosen.

use super::*;
use crate::domain::session::SessionSwitch;

fn no_model() -> ProviderError {
    ProviderError {
        code: crate::provider::named::NO_MODEL,
        title: "No model is chosen".into(),
        text: "It has 2: a, b.".into(),
        detail: String::new(),
        retry: false,
        after: None,
    }
}

fn asks(steps: &[Step]) -> Option<&str> {
    steps.iter().find_map(|step| if let Step::Ask(_, request) = step { Some(request.model.as_str()) } else { None })
}

fn bench(headless: bool) -> Bench {
    let mut bench = Bench::with(Mode::Ask, |rules| rules.headless = headless);
    bench.machine.meta.connection = Some(ConnectionName::new("near"));
    bench
}

#[test]
fn the_turn_waits_for_the_choice_and_goes_on_with_it() {
    let mut bench = bench(false);
    bench.send("hello");
    let steps = bench.feed(Input::NoModel(bench.run(), no_model()));
    assert!(
        steps
            .iter()
            .any(|step| matches!(step, Step::Emit(SessionEvent::ModelWanted { why, .. }) if why.contains("a, b")))
    );
    assert!(matches!(bench.machine.meta.activity, Activity::NeedsYou(_)) && bench.machine.is_running());
    let steps = bench.act(SessionCommand::Model { connection: None, model: "b".into() });
    assert_eq!(asks(&steps), Some("b"));
    bench.text("hi");
    let steps = bench.stop_with(Stop::Done);
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::TurnEnded { end: TurnEnd::Done }))));
    assert!(bench.machine.meta.activity == Activity::Idle);
}

#[test]
fn it_can_be_stopped_and_nobody_is_asked_headless() {
    let mut bench = bench(false);
    bench.send("hello");
    bench.feed(Input::NoModel(bench.run(), no_model()));
    bench.act(SessionCommand::Stop);
    assert!(!bench.machine.is_running());
    assert_eq!(asks(&bench.act(SessionCommand::Model { connection: None, model: "b".into() })), None);

    let mut bench = self::bench(true);
    bench.send("hello");
    let steps = bench.feed(Input::NoModel(bench.run(), no_model()));
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::TurnEnded { end: TurnEnd::Failed }))));
}

#[test]
fn attachments_are_named_where_they_may_be_why_and_nowhere_else() {
    let failed = |attached: bool, code: &'static str, detail: &str| {
        let mut bench = bench(false);
        let file = crate::domain::attachment::Attachment {
            name: "a.png".into(),
            path: "/s/attachments/a.png".into(),
            kind: crate::domain::attachment::AttachmentKind::Image,
            mime: "image/png".into(),
            bytes: 1,
            text: None,
        };
        let attachments = if attached { vec![file] } else { Vec::new() };
        bench.act(SessionCommand::Send { text: "look".into(), attachments, piped: None });
        let error = ProviderError { code, detail: detail.into(), ..no_model() };
        let steps = bench.feed(Input::Failed(bench.run(), error));
        let text = steps.iter().find_map(|step| match step {
            Step::Append(rows, _) => rows.iter().find_map(|row| match &row.body {
                Body::Error(failure) => Some(failure.text.clone()),
                _ => None,
            }),
            _ => None,
        });
        text.unwrap().contains("attachments may be the cause")
    };
    assert!(failed(true, "invalid_request", "refused"));
    assert!(failed(false, "image_too_large", "image exceeds 5 MB"), "a picture that a call led to");
    assert!(!failed(false, "invalid_request", "refused"));
    assert!(!failed(true, "invalid_api_key", "no"));
}

#[test]
fn what_is_switched_holds_for_the_next_request_and_is_kept() {
    let mut bench = Bench::with(Mode::Ask, |rules| {
        for (spec, _) in &mut rules.tools {
            spec.description = "Reads a file. It takes a path, and much more.\nAnd so on.".into();
        }
    });
    let told = |steps: &[Step]| {
        let asked = steps.iter().find_map(|step| if let Step::Ask(_, request) = step { Some(request) } else { None });
        asked.unwrap().tools[0].description.clone()
    };
    assert!(told(&bench.send("one")).contains("And so on"));
    bench.text("hi");
    bench.stop_with(Stop::Done);
    for (what, on) in [(SessionSwitch::FullTools, false), (SessionSwitch::LongCache, true)] {
        bench.act(SessionCommand::Switch { what, on });
    }
    assert_eq!(told(&bench.send("two")), "Reads a file.");
    assert!(bench.machine.meta.switches.long_cache && !bench.machine.meta.switches.full_tools);
    let own = HeaderExtension::read(serde_json::to_value(&bench.machine.own).unwrap());
    assert_eq!((own.extended_prompt_cache, own.rich_tool_descriptions), (Some(true), Some(false)));
}

#[test]
fn a_session_without_tools_offers_none_and_runs_none() {
    let mut bench = bench(false);
    bench.act(SessionCommand::Switch { what: SessionSwitch::NoTools, on: true });
    let steps = bench.send("one");
    let asked = steps.iter().find_map(|step| if let Step::Ask(_, request) = step { Some(request) } else { None });
    let asked = asked.unwrap();
    assert!(asked.tools.is_empty() && asked.system.contains("without tools"), "{}", asked.system);
    assert!(!asked.system.contains("Permission mode") && !asked.system.contains("Working directory"));
    bench.calls(&[("1", "read")]);
    let steps = bench.found("1", read("/w/a"));
    assert!(runs(&steps).is_empty() && bench.call("1").result.unwrap().contains("does not have this tool"));
    let own = HeaderExtension::read(serde_json::to_value(&bench.machine.own).unwrap());
    assert!(own.no_tools, "it holds after a restart");
}

#[test]
fn what_was_pasted_is_kept_whole_when_it_is_summed_up() {
    let mut bench = bench(false);
    let paste = format!("mend this\n{}", "abc ".repeat(6_000));
    for text in [paste.as_str(), "and now?"] {
        bench.send(text);
        bench.text("done");
        bench.stop_with(Stop::Done);
    }
    bench.act(SessionCommand::Compact { wish: String::new() });
    let steps = bench.feed(Input::Summarised(bench.run(), Ok("it was mended".into())));
    let at = |what: fn(&Step) -> bool| steps.iter().position(what);
    let whole = at(
        |step| matches!(step, Step::KeepLongText(path, text) if path.starts_with("/s/long_responses") && text.starts_with("mend this")),
    );
    let kept = at(|step| matches!(step, Step::Append(..)));
    assert!(whole.is_some() && whole < kept, "it is there when it is named");
}
