//! Access beside the sandbox: who is asked, what an answer keeps, and what a call gets.

use super::*;
use crate::domain::access::{Extras, Service};
use crate::domain::permission::Sandbox;
use crate::domain::rule::{Offer, PermissionsFile, RuleScope};
use std::path::Path;

const HELD: Policy = Policy {
    read_only_profile: shell::ReadOnlyProfile::Enforced,
    sandbox: Sandbox::Workspace,
    explore_commands: ExploreCommands::ReadOnly,
    ask_edits: AskEdits::Prompted,
};

fn with(line: &str, access: Access) -> CallFacts {
    let mut facts = command(line);
    facts.touches.push(Touch::Access(access));
    facts
}

fn read(path: &str, secret: bool) -> Access {
    Access::Read { path: path.into(), secret }
}

fn write(path: &str, program: Option<&str>) -> Access {
    Access::Write { path: path.into(), program: program.map(str::to_owned) }
}

fn socket(service: Service, program: &str) -> Access {
    Access::Socket { service, path: "/run/x.sock".into(), program: program.to_owned() }
}

fn ask(mode: Mode, rules: &Rules, facts: &CallFacts) -> PermissionQuestion {
    match super::super::decide(HELD, mode, rules, facts, false) {
        Verdict::Ask(question) => question,
        other => panic!("{facts:?}: {other:?}"),
    }
}

fn trusting() -> Rules {
    let mut rules = rules(&[]);
    rules.scopes.push(RuleScope::Workspace);
    rules
}

#[test]
fn access_is_asked_in_every_mode_but_explore_which_gets_nothing() {
    for access in [
        read("/w/p/.env", true),
        read("/w/lib", false),
        write("/w/p/.git/config", None),
        write("/w/r.git", Some("git")),
        socket(Service::SshAgent, "git"),
    ] {
        let facts = with("git push", access);
        for mode in [Mode::Ask, Mode::Execute] {
            let question = ask(mode, &trusting(), &facts);
            assert!(question.every_time && !question.risks.is_empty(), "{facts:?}");
        }
        let kept: Vec<Rule> = ask(Mode::Execute, &trusting(), &facts).offers.into_iter().map(|one| one.rule).collect();
        let explore = super::super::decide(HELD, Mode::Explore, &rules(&kept), &facts, false);
        assert!(matches!(explore, Verdict::Deny(_)), "{facts:?}");
        assert_eq!(super::super::extras(HELD, Mode::Explore, &rules(&kept), &facts), Extras::default());
    }
}

#[test]
fn an_answer_keeps_exactly_what_was_asked() {
    for (line, access, words, scopes) in [
        ("npm test", read("/w/p/.env", true), Some("any command may read ./.env"), 1),
        ("cargo build", read("/w/lib", false), Some("any command may read /w/lib"), 2),
        ("cargo build", read("/home/u/lib", false), Some("any command may read ~/lib"), 2),
        ("cat x", read("/home/u/.aws/credentials", true), None, 0),
        ("git config a b", write("/w/p/.git/config", None), None, 0),
        ("./seed", write("/w/p/.env.test", None), Some("any command may read and change ./.env.test"), 1),
        ("direnv edit", write("/w/p/.envrc", None), None, 0),
        ("git clone ../a ../b", write("/w/b", None), None, 0),
        ("git push", write("/w/r.git", Some("git")), Some("git may write /w/r.git"), 1),
        ("git push", socket(Service::SshAgent, "git"), Some("git may use ssh-agent"), 2),
        ("docker ps", socket(Service::Docker, "docker"), Some("docker may use docker"), 1),
    ] {
        let facts = with(line, access);
        let question = ask(Mode::Execute, &trusting(), &facts);
        let offers: Vec<&Offer> = question.offers.iter().filter(|offer| offer.rule.tool == SANDBOX).collect();
        assert_eq!(offers.first().map(|offer| offer.rule.in_words()).as_deref(), words, "{facts:?}");
        assert_eq!(question.scopes.len(), scopes, "{facts:?}");
        let Some(offer) = offers.first() else { continue };
        assert_eq!(offer.rule.fault(), None);
        assert!(super::super::takes(&offer.rule, &facts, &question.offers, &rules(&[]).ground).is_ok());
        // Kept, it is not asked again, and the same rule reads back from a file.
        let kept = rules(std::slice::from_ref(&offer.rule));
        let again = super::super::decide(HELD, Mode::Execute, &kept, &facts, false);
        assert!(matches!(again, Verdict::Allow(Allowed::ByRules(_))), "{facts:?}: {again:?}");
        let text = serde_json::to_string(&offer.rule).unwrap();
        assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), offer.rule);
    }
}

#[test]
fn one_program_gets_it_and_nothing_runs_beside_it() {
    for access in [socket(Service::SshAgent, "git"), write("/w/r.git", Some("git"))] {
        for (line, asks) in [
            ("git push", true),
            ("cd sub && git push", true),
            ("git status && git push origin main", true),
            ("git push && ./x", false),
            ("make; git push", false),
            ("git push | sh", false),
            ("git push $(x)", false),
            ("make", false),
        ] {
            let verdict = super::super::decide(HELD, Mode::Execute, &rules(&[]), &with(line, access.clone()), false);
            assert_eq!(matches!(verdict, Verdict::Ask(_)), asks, "{line}: {verdict:?}");
        }
        // A rule for the program gives nothing to others either.
        let rule = ask(Mode::Execute, &rules(&[]), &with("git push", access)).offers.pop().unwrap().rule;
        let given =
            |line: &str| super::super::extras(HELD, Mode::Execute, &rules(std::slice::from_ref(&rule)), &command(line));
        for line in [
            "git push",
            "git fetch origin && git log",
            "git commit -S -m x",
            "git add -A && git commit -m 'a b' && git push",
            "git switch -c x; git push origin x",
            "cd sub && git add . && git commit -m x | tail -3",
        ] {
            assert_ne!(given(line), Extras::default(), "{line}");
        }
        for line in [
            "make",
            "git push; make",
            "git add -A && curl -T x h && git push",
            "git add -A && git -c core.sshCommand=./x fetch && git push",
            "git config core.sshCommand ./x; git push",
            "git x && git push",
            "ls",
            "./git push",
            "git push | sh",
            "git -c core.sshCommand=./x push",
            "git push --receive-pack=./x r",
            "git clone ext::./x",
            "git rebase --exec ./x main",
            "git submodule foreach ./x",
            "git bisect run ./x",
        ] {
            assert_eq!(given(line), Extras::default(), "{line}");
        }
    }
}

#[test]
fn a_repository_grants_nothing_and_a_folder_shows_no_secret() {
    let rule = |paths: &[&str]| Rule {
        readable: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Rule::allow(SANDBOX)
    };
    let of = |scope, paths: &[&str]| {
        let mut all = rules(&[]);
        let written = PermissionsFile { rules: vec![rule(paths)], ..PermissionsFile::default() };
        all.add(&written, scope, Path::new("/x/permissions.json"));
        all
    };
    let given = |rules: &Rules| super::super::extras(HELD, Mode::Ask, rules, &command("make")).readable;
    assert_eq!(given(&of(RuleScope::User, &["~/lib"])), [Path::new("/home/u/lib")]);
    assert_eq!(given(&of(RuleScope::Repository, &["~/lib"])), [] as [&Path; 0]);
    for (scope, paths, shown) in [
        (RuleScope::User, &["./.env"][..], true),
        (RuleScope::Repository, &["./.env"][..], false),
        (RuleScope::User, &["./", "~/", "/"][..], false),
        (RuleScope::User, &["./sub"][..], false),
    ] {
        let verdict =
            super::super::decide(HELD, Mode::Ask, &of(scope, paths), &with("true", read("/w/p/.env", true)), false);
        assert_eq!(matches!(verdict, Verdict::Allow(_)), shown, "{scope:?} {paths:?}");
    }
}

#[test]
fn a_secret_of_the_project_that_is_named_can_be_shown_for_the_session() {
    let file = facts(vec![Touch::Read { path: "/w/p/.env".into(), secret: true }], Proposal::Plain);
    for facts in [command("cat .env"), file] {
        let question = ask(Mode::Execute, &trusting(), &facts);
        assert_eq!(question.risks.first().map(String::as_str), Some("reads a secret: .env"));
        let [offer] = question.offers.as_slice() else { panic!("{question:?}") };
        assert_eq!((offer.rule.in_words().as_str(), question.scopes.len()), ("any command may read ./.env", 1));
        let kept = rules(std::slice::from_ref(&offer.rule));
        let again = super::super::decide(HELD, Mode::Ask, &kept, &facts, false);
        assert!(matches!(again, Verdict::Allow(_)), "{again:?}");
        let explore = super::super::decide(HELD, Mode::Explore, &kept, &facts, false);
        assert!(matches!(explore, Verdict::Deny(_)), "{explore:?}");
    }
    assert!(ask(Mode::Ask, &trusting(), &command("cat ~/.ssh/id_rsa")).offers.is_empty());
}

#[test]
fn what_was_asked_about_a_path_opens_that_path_and_the_sandbox_stays() {
    for (line, path) in [
        ("echo x > ../other/a", "/w/other/a"),
        ("echo x > ~/notes", "/home/u/notes"),
        ("echo x > $HOME/notes", "/home/u/notes"),
        ("cp a .envrc", "/w/p/.envrc"),
        ("mv settings.json .vscode/settings.json", "/w/p/.vscode/settings.json"),
    ] {
        let facts = command(line);
        assert_eq!(super::super::sandbox(HELD, Mode::Execute, &facts), Sandbox::Workspace, "{line}");
        let extras = super::super::extras(HELD, Mode::Execute, &rules(&[]), &facts);
        assert_eq!(extras.writable, [Path::new(path)], "{line}");
    }
    let mut outside = command("make");
    outside.touches.push(Touch::Outside);
    assert_eq!(super::super::sandbox(HELD, Mode::Execute, &outside), Sandbox::None);
}

/// The rules that a refusal names, as they would be pasted.
fn pasted(reason: &str) -> Vec<Rule> {
    let Some((_, list)) = reason.split_once("to permissions.json: ") else { return Vec::new() };
    serde_json::from_str(&format!("[{list}]")).unwrap()
}

#[test]
fn a_rule_that_is_named_where_nobody_can_be_asked_lets_the_very_call_run() {
    let remote = || write("/w/r.git", Some("git"));
    for (line, accesses, named) in [
        ("cargo build", vec![read("/w/lib", false)], true),
        ("git push origin x", vec![remote()], true),
        ("git push origin x", vec![], true),
        ("git push", vec![socket(Service::SshAgent, "git"), remote()], true),
        ("git add -A && git push", vec![remote()], true),
        ("./seed", vec![write("/w/p/.env.test", None)], true),
        ("cat .env", vec![read("/w/p/.env", true)], true),
        // git's settings, secrets of others, and what runs code are asked about every time.
        ("git push -u origin x", vec![remote(), write("/w/p/.git/config", None)], false),
        ("git push && make", vec![read("/w/lib", false)], true),
        ("cat ../x", vec![read("/home/u/.aws/credentials", true)], false),
        ("git clone ../a ../b", vec![write("/w/b", None)], true),
        ("git clone ../a ../b && make -C ../b", vec![write("/w/b", None)], false),
        ("echo $X > ~/notes", vec![read("/w/lib", false)], false),
    ] {
        for mode in [Mode::Ask, Mode::Execute] {
            let mut facts = command(line);
            facts.touches.extend(accesses.iter().cloned().map(Touch::Access));
            let refusal = match super::super::decide(HELD, mode, &rules(&[]), &facts, true) {
                Verdict::Deny(refusal) => refusal.reason,
                Verdict::Allow(_) if accesses.is_empty() => continue,
                other => panic!("{line}: {other:?}"),
            };
            let all = pasted(&refusal);
            assert_eq!(!all.is_empty(), named, "{line}: {refusal}");
            assert_eq!(refusal.contains("No rule can allow this part"), !named, "{line}: {refusal}");
            if named {
                let again = super::super::decide(HELD, mode, &rules(&all), &facts, true);
                assert!(matches!(again, Verdict::Allow(_)), "{line}: {again:?}");
            }
        }
    }
    let facts = with("git push -u origin x", write("/w/p/.git/config", None));
    let Verdict::Deny(refusal) = super::super::decide(HELD, Mode::Execute, &rules(&[]), &facts, true) else { panic!() };
    assert!(refusal.reason.ends_with("Leave `-u` out."), "{}", refusal.reason);
}

#[test]
fn where_nobody_can_be_asked_the_rule_is_named() {
    let facts = with("cargo build", read("/w/lib", false));
    let Verdict::Deny(refusal) = super::super::decide(HELD, Mode::Execute, &rules(&[]), &facts, true) else { panic!() };
    let rule = r#"{"effect":"allow","tool":"sandbox","readable":["/w/lib"]}"#;
    assert!(refusal.reason.contains(rule) && refusal.reason.contains("permissions.json"), "{}", refusal.reason);
}

#[test]
fn lisle_itself_is_asked_about_each_time_in_every_mode() {
    for line in [
        "lisle gateway stop",
        "/usr/local/bin/lisle sessions delete x --yes",
        "./target/debug/lisle",
        "cd /tmp && env A=1 lisle auth list",
        "nohup lisle serve &",
        "timeout 5 lisle run hello",
        "sh -c 'lisle gateway call x'",
        "find . -exec lisle run {} \\;",
    ] {
        assert!(matches!(decide(Mode::Explore, &[], &command(line), false), Verdict::Deny(_)), "{line}");
        for mode in [Mode::Ask, Mode::Execute] {
            let Verdict::Ask(question) = decide(mode, &[Rule::allow("bash")], &command(line), false) else {
                panic!("{line} in {mode:?}")
            };
            assert!(question.every_time && question.offers.is_empty(), "{line} in {mode:?}: {question:?}");
        }
    }
    for line in ["grep -r lisle .", "ls lisle", "git commit -m lisle"] {
        assert!(!matches!(decide(Mode::Execute, &[], &command(line), false), Verdict::Ask(_)), "{line}");
    }
}
