//! Calls of messages by name: skills, commands and agents, the calls that come before the first request, and what holds for
//! the turn.

use super::*;
use crate::domain::extension::ExtensionOrigin;
use crate::domain::{command, persona, skill};
use crate::extensions::found::SkillFolder;
use crate::extensions::skill_tool::NeededSource;
use crate::extensions::{Extension, ExtensionList};
use std::sync::Arc;

fn found<T>(slug: &str, trusted: bool, content: T) -> Extension<T> {
    Extension {
        slug: slug.into(),
        origin: ExtensionOrigin::Repository,
        file: format!("/w/.claude/{slug}").into(),
        hash: String::new(),
        shown: String::new(),
        needs_trust: true,
        trusted,
        content,
    }
}

fn skill(slug: &str, trusted: bool, matter: &str) -> Extension<SkillFolder> {
    let file = skill::read(&format!("---\ndescription: d\n{matter}\n---\nDo it.")).unwrap();
    found(slug, trusted, SkillFolder { file, folder: "/w".into(), beside: Vec::new() })
}

fn list(trusted: bool) -> ExtensionList {
    let with_rules = "allowed-tools: Bash(git commit:*), Edit\nrequiredSources: [drive, gone]";
    let whole = "---\nallowed-tools: Bash(make:*)\n---\nState: !`git status`, see @src/$1.";
    ExtensionList {
        skills: vec![skill("pdf", trusted, with_rules), skill("notes", trusted, "")],
        agents: vec![found(
            "reviewer",
            trusted,
            persona::read("---\ndescription: d\ntools: Read\n---\nYou review.").unwrap(),
        )],
        commands: vec![found("ship", trusted, command::read(whole).unwrap())],
        ..ExtensionList::default()
    }
}

fn bench(mode: Mode, trusted: bool) -> Bench {
    let mut b = Bench::with(mode, |config| config.tools.push((spec("skill"), true)));
    let sources = [("drive".to_owned(), NeededSource::Usable)].into();
    b.machine.set_extensions(Arc::new(list(trusted)), sources);
    b
}

/// Calls that are looked at: the tool and its first field.
fn looked_at(steps: &[Step]) -> Vec<String> {
    let of = |step: &Step| match step {
        Step::Inspect(_, call) => {
            let field = ["name", "command", "path"].iter().find_map(|field| call.input.get(*field)?.as_str());
            Some(format!("{} {}", call.name, field.unwrap_or_default()))
        }
        _ => None,
    };
    steps.iter().filter_map(of).collect()
}

fn ids(steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .filter_map(|step| if let Step::Inspect(_, call) = step { Some(call.id.to_string()) } else { None })
        .collect()
}

fn loaded(slug: &str) -> CallFacts {
    CallFacts { tool: "skill".into(), subject: slug.into(), touches: vec![Touch::Inner], ..read("x") }
}

/// A turn in which the skill was loaded, before its first request.
fn with_skill(mode: Mode, trusted: bool) -> (Bench, Vec<Step>) {
    let mut b = bench(mode, trusted);
    let steps = b.send("/pdf fill it");
    let [id] = &ids(&steps)[..] else { panic!("{steps:?}") };
    b.found(id, loaded("pdf"));
    let outcome = Outcome { then: Then::Skill("pdf".into()), ..Outcome::ok("the whole text") };
    let steps = b.feed(Input::Ran(b.run(), CallId::new(id.clone()), Box::new(Ok(outcome))));
    (b, steps)
}

#[test]
fn a_message_loads_skills_before_its_request() {
    for (text, expected) in [
        ("/pdf fill it", vec!["skill pdf"]),
        ("look at @notes and @pdf, @notes", vec!["skill notes", "skill pdf"]),
        ("[skill:pdf] fill it", vec!["skill pdf"]),
        ("/nothing of that name", vec![]),
        (" /pdf is text", vec![]),
    ] {
        let mut b = bench(Mode::Ask, true);
        let steps = b.send(text);
        assert_eq!(looked_at(&steps), expected, "{text}");
        assert_eq!(sends(&steps), expected.is_empty(), "{text}");
        assert!(matches!(&kept(&steps)[0].body, Body::User(said) if said.text == text), "the message stays as it is");
    }
    let (_, steps) = with_skill(Mode::Explore, true);
    let Some(Step::Ask(_, request)) = steps.iter().find(|step| matches!(step, Step::Ask(..))) else {
        panic!("{steps:?}")
    };
    assert!(request.system.contains("\n- pdf: d") && request.system.contains("\n- notes: d"), "{}", request.system);
    assert!(
        matches!(&request.items[..], [ConversationItem::User(_), ConversationItem::Assistant(_), ConversationItem::Results(all)]
            if all[0].text == "the whole text")
    );
}

#[test]
fn what_is_not_trusted_is_called_by_nobody_and_told_to_nobody() {
    for text in ["/pdf x", "/ship x", "@pdf @reviewer"] {
        let mut b = bench(Mode::Execute, false);
        let steps = b.send(text);
        assert_eq!(looked_at(&steps), Vec::<String>::new(), "{text}");
        let Some(Step::Ask(_, request)) = steps.last() else { panic!("{steps:?}") };
        assert!(!request.system.contains("pdf") && !request.system.contains("You review."), "{text}");
    }
    // Who may not be the operator calls nothing.
    let mut b = bench(Mode::Execute, true);
    b.machine.config.stranger = true;
    assert_eq!(looked_at(&b.send("/ship @pdf @reviewer")), Vec::<String>::new());
    // Nor does what another agent wrote: a task, or the answer to one.
    let mut b = bench(Mode::Execute, true);
    b.feed(Input::Deliver("/ship @pdf @reviewer".into()));
    b.text("Fine.");
    b.stop_with(Stop::Done);
    b.send("one");
    b.feed(Input::Deliver("@pdf".into()));
    b.text("Fine.");
    let steps = b.stop_with(Stop::Done);
    assert!(sends(&steps) && looked_at(&b.out).is_empty(), "{steps:?}");
    let mut b = bench(Mode::Execute, true);
    b.machine.meta.parent =
        Some(crate::domain::session::SpawnedBy { session: SessionId::parse("p").unwrap(), call: CallId::new("c") });
    assert_eq!(looked_at(&b.send("/ship @pdf")), Vec::<String>::new());
    // What others pipe in is nobody's call.
    let mut b = bench(Mode::Execute, true);
    let steps = b.act(SessionCommand::Send { text: "look: @pdf".into(), attachments: vec![], piped: Some(6) });
    assert_eq!(looked_at(&steps), Vec::<String>::new());
}

#[test]
fn what_a_skill_allows_holds_for_its_turn_and_never_in_explore() {
    for (mode, expected) in [(Mode::Ask, true), (Mode::Execute, true), (Mode::Explore, false)] {
        let (mut b, _) = with_skill(mode, true);
        b.calls(&[("c", "bash")]);
        let steps = b.found("c", command("git commit -m x"));
        assert_eq!(runs(&steps) == ["c"], expected, "{mode:?}: {steps:?}");
    }
    let (mut b, _) = with_skill(Mode::Ask, true);
    b.calls(&[("c", "bash"), ("d", "bash")]);
    b.found("c", command("git commit -m x"));
    assert_eq!(
        b.call("c").decision.unwrap().authority,
        Authority::Rule("commands that match /git commit(?: .*)?\\z/ (the repository)".into())
    );
    b.ran("c", "ok");
    assert_eq!(runs(&b.found("d", command("git push"))), Vec::<String>::new(), "what it does not name is asked for");
    // The next turn does without.
    let (mut b, _) = with_skill(Mode::Ask, true);
    b.text("Done.");
    b.stop_with(Stop::Done);
    b.send("go on");
    b.calls(&[("c", "bash")]);
    assert_eq!(runs(&b.found("c", command("git commit -m x"))), Vec::<String>::new());
}

#[test]
fn a_skill_uses_the_sources_that_it_needs() {
    let (b, steps) = with_skill(Mode::Ask, true);
    assert_eq!(b.machine.own.sources, [("drive".to_owned(), true)].into(), "what is missing is not switched on");
    let uses = position(&steps, |step| *step == Step::UseSources);
    assert!(uses < position(&steps, |step| matches!(step, Step::Ask(..))));
}

#[test]
fn a_command_runs_and_reads_by_the_mode_before_its_request() {
    let mut b = bench(Mode::Ask, true);
    let steps = b.send("/ship main.rs");
    assert!(
        matches!(&kept(&steps)[0].body, Body::User(said) if said.text == "State: !`git status`, see @src/main.rs.")
    );
    assert_eq!(looked_at(&steps), ["bash git status"], "one after the other: a command may change something");
    let id = ids(&steps)[0].clone();
    assert_eq!(runs(&b.found(&id, command("git status"))), std::slice::from_ref(&id), "it only reads");
    assert_eq!(looked_at(&b.ran(&id, "clean")), ["read src/main.rs"]);
    // Explore refuses what is no reading, and the model is told so.
    let mut b = bench(Mode::Explore, true);
    let steps = b.send("/ship x");
    let id = ids(&steps)[0].clone();
    assert_eq!(runs(&b.found(&id, command("make install"))), Vec::<String>::new());
    // What it allows holds for the turn.
    let mut b = bench(Mode::Ask, true);
    let steps = b.send("/ship x");
    let id = ids(&steps)[0].clone();
    assert_eq!(runs(&b.found(&id, command("make install"))), [id]);
}

#[test]
fn an_agent_speaks_for_one_turn_with_its_tools() {
    let mut b = bench(Mode::Execute, true);
    let steps = b.send("@reviewer look at it");
    let Some(Step::Ask(_, request)) = steps.last() else { panic!("{steps:?}") };
    assert!(request.system.contains("<agent name=\"reviewer\">\nYou review.\n</agent>"), "{}", request.system);
    let offered: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["read", "submit_plan", "ask_user", "skill"]);
    b.calls(&[("w", "write")]);
    let steps = b.found("w", write("/w/a"));
    assert_eq!(runs(&steps), Vec::<String>::new(), "a tool that it does without");
    assert!(b.call("w").result.unwrap().contains("does not have this tool"));
    // The same request again is still theirs.
    b.feed(Input::Failed(b.run(), broken(false)));
    let steps = b.act(SessionCommand::Retry);
    let Some(Step::Ask(_, request)) = steps.last() else { panic!("{steps:?}") };
    assert!(request.system.contains("You review."));
    b.text("Fine.");
    b.stop_with(Stop::Done);
    let steps = b.send("go on");
    let Some(Step::Ask(_, request)) = steps.last() else { panic!("{steps:?}") };
    assert!(!request.system.contains("You review.") && request.tools.len() == 6);
    // As the session's own it stays.
    let agent = b.machine.extensions().agent("reviewer").map(crate::agent::machine::persona);
    b.text("Fine.");
    b.stop_with(Stop::Done);
    b.machine.set_persona(agent);
    for text in ["one", "two"] {
        let steps = b.send(text);
        let Some(Step::Ask(_, request)) = steps.last() else { panic!("{steps:?}") };
        assert!(request.system.contains("You review.") && request.tools.len() == 4);
        b.text("Fine.");
        b.stop_with(Stop::Done);
    }
}
