//! The table of the modes, and the properties that hold for every call. `rules` has what rules do.

mod access;
mod git;
mod hosts;
mod parts;
mod rules;
mod rules_properties;
mod sources;

use super::*;
use crate::domain::access::Access;
use crate::domain::diff::FileDiff;
use crate::domain::permission::Mode;
use crate::domain::rule::{Rule, SANDBOX};
use crate::domain::tool::{CallFacts, FileChange, PathPlace, Proposal, Touch};
use proptest::prelude::*;
use std::path::PathBuf;

/// The decision as it is when no setting changes it.
fn decide(mode: Mode, kept: &[Rule], facts: &CallFacts, headless: bool) -> Verdict {
    super::decide(Policy::default(), mode, &rules(kept), facts, headless)
}

/// Answers for a session that works in `/w/p`.
fn rules(kept: &[Rule]) -> Rules {
    let mut rules = Rules::new(Ground { here: vec!["/w/p".into()], home: Some("/home/u".into()) });
    kept.iter().for_each(|rule| rules.add_answer(rule.clone()));
    rules
}

fn facts(touches: Vec<Touch>, proposal: Proposal) -> CallFacts {
    let tool = match &proposal {
        Proposal::Command { .. } => "bash",
        Proposal::Change { .. } => "write",
        Proposal::Address { .. } => "fetch",
        Proposal::Connect { .. } => "network",
        Proposal::Changes { .. } => "patch",
        Proposal::Script { .. } => "transform_data",
        Proposal::SourceCall { .. } => "mcp__source__tool",
        Proposal::Plain => "read",
    };
    CallFacts {
        tool: tool.to_owned(),
        subject: "x".to_owned(),
        touches,
        proposal,
        secrets_here: false,
        left_out: Vec::new(),
    }
}

fn command(line: &str) -> CallFacts {
    let (command, cwd) = (line.to_owned(), PathBuf::from("/w/p"));
    facts(vec![Touch::command(&command, &cwd)], Proposal::Command { command, cwd })
}

/// A command that only reads by its letters, and reaches `path` through a link.
fn through_a_link(path: &str, secret: bool) -> CallFacts {
    let mut facts = command("cat link");
    facts.touches.push(Touch::Read { path: PathBuf::from(path), secret });
    facts
}

fn write(path: &str, place: PathPlace) -> CallFacts {
    facts(vec![Touch::Write { path: PathBuf::from(path), place }], change(path.trim_start_matches("/w/p/")))
}

fn change(path: &str) -> Proposal {
    let diff = FileDiff { path: path.to_owned(), ..FileDiff::default() };
    Proposal::Change { diff, before: String::new(), after: String::new() }
}

fn read(path: &str, secret: bool) -> CallFacts {
    facts(vec![Touch::Read { path: PathBuf::from(path), secret }], Proposal::Plain)
}

fn fetch(host: &str, private: bool) -> CallFacts {
    let url = format!("https://{host}/x");
    facts(vec![Touch::Fetch { url: url.clone(), host: host.to_owned(), private }], Proposal::Address { url })
}

/// `a` allowed, `q` asked and may be remembered, `Q` asked and never remembered, `d` denied.
fn letter(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Allow(_) => 'a',
        Verdict::Ask(question) if !question.offers.is_empty() => 'q',
        Verdict::Ask(_) => 'Q',
        Verdict::Deny(_) => 'd',
    }
}

fn column(facts: &CallFacts) -> String {
    Mode::ALL.into_iter().map(|mode| letter(&decide(mode, &[], facts, false))).collect()
}

#[test]
fn the_table() {
    for (facts, column_of_modes) in [
        (facts(vec![Touch::Inner], Proposal::Plain), "aaa"),
        (read("/w/p/a.rs", false), "aaa"),
        (read("/etc/hosts", false), "aaa"),
        (read("/w/p/x", true), "dqq"),
        (read("/w/p/.env", false), "dqq"),
        (write("/w/p/a.rs", PathPlace::Inside), "dqa"),
        (write("/s/plans/a.md", PathPlace::SessionFolder), "aaa"),
        (write("/s/tmp/a.md", PathPlace::SessionTemp), "daa"),
        (write("/etc/x", PathPlace::Outside), "dQQ"),
        (write("/w/p/.git/config", PathPlace::Protected), "dQQ"),
        (write("/w/p/../x", PathPlace::Inside), "dQQ"),
        (write("/s/plans/../../x", PathPlace::SessionFolder), "dQQ"),
        (command("ls -la"), "aaa"),
        (command("cat src/a.rs | head -3"), "aaa"),
        (command("cat .env"), "dqq"),
        (fetch("docs.rs", false), "dqa"),
        (fetch("10.0.0.1", true), "dQQ"),
        (command("ls /home/u/.ssh"), "dQQ"),
        (command("cat ../../proc/self/environ"), "dQQ"),
        (command("cat /dev/zero"), "dQa"),
        (command("cat ../../sys/power/state"), "dQa"),
        (through_a_link("/home/u/.ssh/id", true), "dQQ"),
        (through_a_link("/dev/zero", false), "dQa"),
        (read("/dev/zero", false), "aaa"),
        (command("cargo test"), "dqa"),
        (command("cp .env x"), "dqq"),
        (command("echo x > .git/hooks/pre-commit"), "dQQ"),
        (command("echo x > /etc/y"), "dQQ"),
        (command("rm -rf /"), "dQQ"),
        (command("git push --force"), "dQQ"),
        (facts(Vec::new(), Proposal::Plain), "dQQ"),
        // The strictest of several counts.
        (
            facts(
                vec![
                    Touch::Inner,
                    Touch::Write { path: "/w/p/a".into(), place: PathPlace::Inside },
                    Touch::Write { path: "/x".into(), place: PathPlace::Outside },
                ],
                change("a"),
            ),
            "dQQ",
        ),
        (
            facts(
                vec![
                    Touch::Read { path: "/w/p/a".into(), secret: false },
                    Touch::Write { path: "/w/p/a".into(), place: PathPlace::Inside },
                ],
                change("a"),
            ),
            "dqa",
        ),
    ] {
        assert_eq!(column(&facts), column_of_modes, "{facts:?}");
    }
}

#[test]
fn a_script_that_works_on_data_is_let_run_where_it_is_held() {
    let touch = Touch::Script { interpreter: "/usr/bin/python3".into(), script: "00".into() };
    let script = |touches: Vec<Touch>| {
        let proposal = Proposal::Script { language: "python3".into(), script: "x".into(), files: Vec::new() };
        facts([vec![touch.clone()], touches].concat(), proposal)
    };
    let column = |read_only_profile, explore_commands, facts: &CallFacts| -> String {
        let policy = Policy { read_only_profile, explore_commands, ..Policy::default() };
        let of = |mode| super::decide(policy, mode, &Rules::default(), facts, false);
        Mode::ALL.into_iter().map(|mode| letter(&of(mode))).collect()
    };
    let reads = |path: &str, secret| Touch::Read { path: path.into(), secret };
    let writes = |path: &str, place| Touch::Write { path: path.into(), place };
    use shell::ReadOnlyProfile;
    for (touches, held, open) in [
        (vec![], "aQa", "dQa"),
        (vec![reads("/w/p/a.csv", false), writes("/s/data/out", PathPlace::SessionFolder)], "aQa", "dQa"),
        (vec![reads("/w/p/.env", true)], "dQQ", "dQQ"),
        (vec![writes("/w/p/a.rs", PathPlace::Inside)], "dQa", "dQa"),
    ] {
        let facts = script(touches);
        assert_eq!(column(ReadOnlyProfile::Enforced, ExploreCommands::ReadOnly, &facts), held, "{facts:?}");
        assert_eq!(column(ReadOnlyProfile::None, ExploreCommands::ReadOnly, &facts), open, "{facts:?}");
        // Where nothing masks the secrets of the folder, it could read them by names that it computes.
        let unmasked = CallFacts { secrets_here: true, ..facts.clone() };
        assert_eq!(column(ReadOnlyProfile::Enforced, ExploreCommands::ReadOnly, &unmasked).chars().next(), Some('d'));
        assert_eq!(column(ReadOnlyProfile::Enforced, ExploreCommands::Blocked, &facts).chars().next(), Some('d'));
        // It is held in every mode, whatever the settings say of commands.
        for mode in Mode::ALL {
            let policy = Policy {
                read_only_profile: ReadOnlyProfile::Enforced,
                sandbox: crate::domain::permission::Sandbox::None,
                ..Policy::default()
            };
            assert_eq!(sandbox(policy, mode, &facts), crate::domain::permission::Sandbox::ReadOnly);
        }
    }
}

#[test]
fn a_patch_is_judged_by_every_file_of_it() {
    let patch = |paths: &[(&str, PathPlace)], is_gone: bool| {
        let touches = paths.iter().map(|(path, place)| Touch::Write { path: (*path).into(), place: *place }).collect();
        let diff = |path: &str| FileDiff { path: path.to_owned(), is_gone, ..FileDiff::default() };
        let changes = paths.iter().map(|(path, _)| FileChange { diff: diff(path), ..FileChange::default() }).collect();
        facts(touches, Proposal::Changes { changes })
    };
    let inside = [("/w/p/a.rs", PathPlace::Inside), ("/w/p/b.rs", PathPlace::Inside)];
    for (files, modes) in [
        (vec![inside[0], inside[1]], "dqa"),
        (vec![inside[0], ("/w/p/.git/config", PathPlace::Protected)], "dQQ"),
        (vec![inside[0], ("/etc/x", PathPlace::Outside)], "dQQ"),
        (vec![("/s/plans/a.md", PathPlace::SessionFolder), ("/s/data/x", PathPlace::SessionFolder)], "aaa"),
    ] {
        assert_eq!(column(&patch(&files, false)), modes, "{files:?}");
    }
    // What was answered for edits goes for patches, and what is denied to them, too.
    let edits = Rule { path: Some(crate::domain::rule::BELOW.to_owned()), ..Rule::allow("edit") };
    assert_eq!(letter(&decide(Mode::Ask, std::slice::from_ref(&edits), &patch(&inside, false), false)), 'a');
    let denied = Rule { effect: crate::domain::rule::RuleEffect::Deny, ..Rule::allow("write") };
    assert_eq!(letter(&decide(Mode::Execute, &[denied], &patch(&inside, false), false)), 'd');
    let Verdict::Ask(question) = decide(Mode::Ask, &[], &patch(&inside, true), false) else { panic!() };
    assert_eq!(question.risks, ["deletes files"]);
}

#[test]
fn a_secret_seen_from_its_own_directory_is_a_secret() {
    let line = Touch::command("cat config", "/home/u/.ssh");
    assert_eq!(column(&facts(vec![line], Proposal::Plain)), "dQQ");
}

#[test]
fn denials_say_why_and_what_would_allow_it() {
    let Verdict::Deny(Refusal { reason: text, .. }) = decide(Mode::Explore, &[], &command("cargo test"), false) else {
        panic!()
    };
    assert_eq!(
        text,
        "Explore is read-only: `cargo test` is not a known read-only command. Switch to Ask to Edit to be asked."
    );
    for facts in [command("rm -rf /"), command("ls > x"), write("/w/p/a", PathPlace::Inside), read("/w/.env", true)] {
        let Verdict::Deny(Refusal { reason: text, .. }) = decide(Mode::Explore, &[], &facts, false) else {
            panic!("{facts:?}")
        };
        assert!(text.starts_with("Explore is read-only: ") && text.ends_with("to be asked."), "{text}");
    }
    let Verdict::Deny(Refusal { reason: text, .. }) = decide(Mode::Ask, &[], &command("cargo test"), true) else {
        panic!()
    };
    assert!(
        text.starts_with("Needs approval, and this run is non-interactive") && text.contains("--mode execute"),
        "{text}"
    );
    for never in [command("rm -rf /"), write("/w/p/.envrc", PathPlace::Protected)] {
        let Verdict::Deny(Refusal { reason: text, .. }) = decide(Mode::Ask, &[], &never, true) else { panic!() };
        assert!(!text.contains("--mode execute"), "Execute would ask, too: {text}");
    }
}

#[test]
fn headless_turns_every_ask_into_a_denial_and_nothing_else() {
    for facts in [command("ls"), command("make"), command("rm -rf /"), write("/w/p/a", PathPlace::Inside)] {
        for mode in Mode::ALL {
            let expected = match letter(&decide(mode, &[], &facts, false)) {
                'q' | 'Q' => 'd',
                other => other,
            };
            assert_eq!(letter(&decide(mode, &[], &facts, true)), expected, "{mode:?} {facts:?}");
        }
    }
}

#[test]
fn questions_tell_reasons_and_risks() {
    let Verdict::Ask(question) = decide(Mode::Ask, &[], &command("sudo curl -o ../x h"), false) else { panic!() };
    assert!(question.reasons[0].contains("`sudo` is not a known"), "{question:?}");
    for risk in ["sudo", "network", "outside"] {
        assert!(question.risks.iter().any(|r| r.contains(risk)), "{risk}: {question:?}");
    }
    let Verdict::Ask(question) = decide(Mode::Execute, &[], &command("rm -rf ~"), false) else { panic!() };
    assert!(question.reasons[0].contains("irreversible") && question.offers.is_empty(), "{question:?}");
    assert!(question.risks[0].contains("removes ~"), "{question:?}");
}

fn any_touch() -> impl Strategy<Value = Touch> {
    let path =
        prop::sample::select(vec!["/w/p/a", "/w/p/.env", "/etc/x", "/w/p/../x", "/s/plans/x", "/w/p/k.pem", "/"]);
    let place = prop::sample::select(vec![
        PathPlace::SessionFolder,
        PathPlace::Inside,
        PathPlace::Outside,
        PathPlace::Protected,
    ]);
    let line = prop::sample::select(vec![
        "ls",
        "cat .env",
        "cat a",
        "cargo test",
        "rm -rf /",
        "echo x > /etc/y",
        "cat /dev/sda",
        "x > y",
        "",
        "git push -f",
    ]);
    prop_oneof![
        Just(Touch::Inner),
        (prop::sample::select(vec!["docs.rs", "evil.example"]), any::<bool>())
            .prop_map(|(host, private)| Touch::Fetch { url: String::new(), host: host.to_owned(), private }),
        (path.clone(), any::<bool>()).prop_map(|(path, secret)| Touch::Read { path: path.into(), secret }),
        (path, place).prop_map(|(path, place)| Touch::Write { path: path.into(), place }),
        line.prop_map(|line| Touch::command(line, "/w/p")),
        prop::sample::select(vec!["/w/p/.env", "/w/lib"])
            .prop_map(|path| Touch::Access(Access::Read { path: path.into(), secret: path.ends_with(".env") })),
        "\\PC{0,12}".prop_map(|line| Touch::command(line, "/w/p")),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let word = prop::sample::select(vec!["test", "-rf", "/", ".env", "./**", "*", "y", "push", "-f"]);
    let program = prop::sample::select(vec!["cargo", "rm", "cat", "ls", "git", "echo", "x"]);
    let path = prop::sample::select(vec!["./**", "/**", "/etc/x", "./a", "~/**"]);
    prop_oneof![
        (program, prop::option::of(prop::collection::vec(word.prop_map(str::to_owned), 0..3)))
            .prop_map(|(program, args)| Rule { program: Some(program.to_owned()), args, ..Rule::allow("bash") }),
        path.prop_map(|path| Rule { path: Some(path.to_owned()), ..Rule::allow("edit") }),
        prop::sample::select(vec!["*", "bash", "edit", "write"]).prop_map(Rule::allow),
        prop::sample::select(vec!["/", "~/", "./", "./sub/.env", "/w/lib"])
            .prop_map(|path| Rule { readable: vec![path.to_owned()], ..Rule::allow(SANDBOX) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn looser_modes_allow_what_stricter_ones_do(
        touches in prop::collection::vec(any_touch(), 0..4),
        kept in prop::collection::vec(any_rule(), 0..4),
        headless in any::<bool>(),
    ) {
        let facts = facts(touches, Proposal::Plain);
        let allowed: Vec<bool> = Mode::ALL
            .into_iter()
            .map(|mode| matches!(decide(mode, &kept, &facts, headless), Verdict::Allow(_)))
            .collect();
        prop_assert!(allowed[0] <= allowed[1] && allowed[1] <= allowed[2], "{allowed:?} {facts:?}");
    }

    #[test]
    fn explore_allows_only_what_reads_whatever_is_allowed(
        touches in prop::collection::vec(any_touch(), 0..4),
        kept in prop::collection::vec(any_rule(), 0..4),
    ) {
        let facts = facts(touches, Proposal::Plain);
        let verdict = decide(Mode::Explore, &kept, &facts, false);
        prop_assert!(!matches!(verdict, Verdict::Ask(_)), "{facts:?}");
        prop_assert_eq!(&verdict, &decide(Mode::Explore, &[], &facts, false));
        if let Verdict::Allow(by) = verdict {
            prop_assert_eq!(by, Allowed::ByMode);
            for touch in &facts.touches {
                let reads = match touch {
                    Touch::Outside | Touch::Script { .. } | Touch::Access(_) => false,
                    Touch::Inner | Touch::Leaves { .. } => true,
                    Touch::Fetch { .. } | Touch::Connect { .. } | Touch::Session { .. } => false,
                    Touch::Source { read_only, .. } => *read_only,
                    Touch::Read { path, secret } => !secret && !crate::domain::paths::is_secret(path),
                    Touch::Write { path, place } => {
                        *place == PathPlace::SessionFolder && !crate::domain::paths::climbs(path)
                    }
                    Touch::Command { command, .. } => matches!(shell::judge(command, shell::ReadOnlyProfile::None).verdict, shell::Judged::ReadOnly(_)),
                };
                prop_assert!(reads, "{touch:?}");
            }
        }
    }

    #[test]
    fn what_is_never_remembered_asks_whatever_is_allowed(kept in prop::collection::vec(any_rule(), 0..6)) {
        for facts in [
            command("rm -rf /"),
            command("cat ~/.ssh/id"),
            write("/etc/x", PathPlace::Outside),
            write("/w/p/.git/x", PathPlace::Protected),
            read("/home/u/.netrc", true),
            fetch("localhost", true),
        ] {
            for mode in [Mode::Ask, Mode::Execute] {
                prop_assert_eq!(letter(&decide(mode, &kept, &facts, false)), 'Q');
            }
        }
    }
}

#[test]
fn explore_can_be_told_to_run_no_command() {
    let policy = Policy { explore_commands: ExploreCommands::Blocked, ..Policy::default() };
    for line in ["ls", "cat a", "touch a"] {
        let of = |mode| super::decide(policy, mode, &Rules::default(), &command(line), false);
        let Verdict::Deny(Refusal { reason: text, .. }) = of(Mode::Explore) else { panic!("{line}") };
        assert!(text.contains("explore.bash") && text.contains(line) && text.contains("grep"), "{text}");
        for mode in [Mode::Ask, Mode::Execute] {
            assert_eq!(letter(&of(mode)), letter(&decide(mode, &[], &command(line), false)), "{line}");
        }
    }
    assert_eq!(letter(&super::decide(policy, Mode::Explore, &Rules::default(), &read("/w/p/a", false), false)), 'a');
}

#[test]
fn edits_can_be_allowed_below_the_working_directory_and_nowhere_else() {
    let policy = Policy { ask_edits: AskEdits::Allowed, ..Policy::default() };
    let inside = write("/w/p/a.rs", PathPlace::Inside);
    for headless in [false, true] {
        let Verdict::Allow(Allowed::BySetting(why)) =
            super::decide(policy, Mode::Ask, &Rules::default(), &inside, headless)
        else {
            panic!()
        };
        assert!(why.contains("ask.edits"), "{why}");
    }
    for mode in [Mode::Explore, Mode::Execute] {
        assert_eq!(super::decide(policy, mode, &Rules::default(), &inside, false), decide(mode, &[], &inside, false));
    }
    for facts in [
        write("/etc/x", PathPlace::Outside),
        write("/w/p/.git/config", PathPlace::Protected),
        write("/w/p/../x", PathPlace::Inside),
        command("touch a"),
        facts(
            vec![
                Touch::Write { path: "/w/p/a".into(), place: PathPlace::Inside },
                Touch::Read { path: "/w/p/k".into(), secret: true },
            ],
            change("a"),
        ),
    ] {
        assert!(
            matches!(super::decide(policy, Mode::Ask, &Rules::default(), &facts, false), Verdict::Ask(_)),
            "{facts:?}"
        );
    }
}

#[test]
fn what_only_reads_is_closed_in_everywhere_and_all_of_explore() {
    use crate::domain::permission::Sandbox::{None, ReadOnly, Workspace};
    let policy =
        Policy { read_only_profile: shell::ReadOnlyProfile::Enforced, sandbox: Workspace, ..Policy::default() };
    for (line, mode, held) in [
        ("cat a", Mode::Explore, ReadOnly),
        ("cat a", Mode::Ask, ReadOnly),
        ("cat a", Mode::Execute, ReadOnly),
        ("make", Mode::Ask, Workspace),
        ("make", Mode::Execute, Workspace),
        // Not let through by the table; were it ever, it is held.
        ("make", Mode::Explore, ReadOnly),
        // Asked about by name and agreed to: it must not come back empty.
        ("cat .env", Mode::Ask, Workspace),
        ("cat .env", Mode::Explore, ReadOnly),
        ("echo x > /etc/motd", Mode::Execute, Workspace),
        ("echo x > .git/hooks/pre-commit", Mode::Ask, Workspace),
        ("echo x > .git/hooks/pre-commit", Mode::Explore, ReadOnly),
    ] {
        assert_eq!(super::sandbox(policy, mode, &command(line)), held, "{line} in {}", mode.word());
    }
    assert_eq!(super::sandbox(policy, Mode::Explore, &write("/w/p/a", PathPlace::Inside)), None);
    let with = |touch: Touch| {
        let mut facts = command("cat a");
        facts.touches.push(touch);
        facts
    };
    let secret = with(Touch::Read { path: "/home/u/.ssh/id".into(), secret: true });
    assert_eq!(super::sandbox(policy, Mode::Ask, &secret), Workspace);
    assert_eq!(super::sandbox(policy, Mode::Explore, &secret), ReadOnly);
    let outside = with(Touch::Outside);
    for (mode, held) in [(Mode::Explore, ReadOnly), (Mode::Ask, None), (Mode::Execute, None)] {
        assert_eq!(super::sandbox(policy, mode, &outside), held);
    }
    // What the user set counts for what may change something; what the system cannot hold runs free.
    for (set, held) in [(None, None), (ReadOnly, ReadOnly), (Workspace, Workspace)] {
        assert_eq!(super::sandbox(Policy { sandbox: set, ..policy }, Mode::Execute, &command("make")), held);
        let free = Policy { sandbox: set, read_only_profile: shell::ReadOnlyProfile::None, ..policy };
        assert_eq!(super::sandbox(free, Mode::Explore, &command("cat a")), None);
    }
}

#[test]
fn to_run_outside_is_asked_everywhere_and_never_remembered() {
    let mut facts = command("cat a");
    facts.touches.push(Touch::Outside);
    let everything = [Rule { program: None, ..Rule::allow("bash") }];
    assert!(matches!(decide(Mode::Explore, &everything, &facts, false), Verdict::Deny(_)));
    for mode in [Mode::Ask, Mode::Execute] {
        let Verdict::Ask(question) = decide(mode, &everything, &facts, false) else { panic!("{}", mode.word()) };
        assert!(question.reasons[0].contains("outside the sandbox") && question.offers.is_empty());
        assert!(matches!(decide(mode, &everything, &facts, true), Verdict::Deny(_)));
    }
}
