//! Rules that allow, ask and deny, and the rules that an answer offers to keep.

use super::*;
use crate::domain::access::Extras;
use crate::domain::rule::{Hint, Offer, PermissionsFile, RuleEffect, RuleScope};
use std::path::Path;

pub(super) fn bash(program: &str, args: &[&str]) -> Rule {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Rule { program: Some(program.to_owned()), args: Some(args), ..Rule::allow("bash") }
}

pub(super) fn edits(path: &str) -> Rule {
    Rule { path: Some(path.to_owned()), ..Rule::allow("edit") }
}

pub(super) fn as_effect(effect: RuleEffect, rule: Rule) -> Rule {
    Rule { effect, ..rule }
}

/// The rules that are offered for a call.
pub(super) fn offered(facts: &CallFacts) -> Vec<Offer> {
    match decide(Mode::Ask, &[], facts, false) {
        Verdict::Ask(question) => question.offers,
        other => panic!("{facts:?}: {other:?}"),
    }
}

pub(super) fn in_ask(kept: &[Rule], facts: &CallFacts) -> char {
    letter(&decide(Mode::Ask, kept, facts, false))
}

#[test]
fn a_rule_admits_its_words_and_nothing_else() {
    let cases: &[(Rule, &[&str], &[&str])] = &[
        (
            bash("cargo", &["test"]),
            &[
                "cargo test",
                "cargo  test",
                "cargo \"test\"",
                "cargo test && cargo test",
                "ls && cargo test",
                "cargo test 2>&1 | tail -3",
                "cd sub && cargo test",
                "cargo test > /dev/null",
            ],
            &[
                "cargo test --release",
                "cargo",
                "cargo test -- --nocapture",
                "/usr/bin/cargo test",
                "./cargo test",
                "cargo test; x",
                "cargo build && cargo test",
                "X=1 cargo test",
                "cargo test &",
                "cargo test | sh",
                "cargo test $(x)",
                "cargo test > $X",
                "cargo test < $X",
                "PATH=/tmp cargo test",
                "for x in $(y); do cargo test; done",
                "cargo() { x; }; cargo test",
                "alias cargo=x; cargo test",
                "export PATH=/tmp; cargo test",
                "[[ $(x) ]]; cargo test",
                "xargs cargo test",
                "cd /elsewhere && cargo test",
                "cd .. && cargo test",
                "cd && cargo test",
                "cd $X && cargo test",
                "(cd /elsewhere; cargo test)",
                "pushd sub && cargo test",
                "cargo test > out.txt",
                "cat .env && cargo test",
                "cat /dev/zero && cargo test",
                "bash -c 'cargo test'",
                "sudo cargo test",
                "Cargo test",
            ],
        ),
        (
            bash("git", &["commit", "-m", "*"]),
            &["git commit -m fix", "git commit -m 'a longer text; with && signs'", "git commit -m ''"],
            &[
                "git commit -m",
                "git commit -m -n",
                "git commit -m '--no-verify'",
                "git commit -m a b",
                "git commit -n -m a",
                "git commit -am a",
                "git push",
                "/tmp/git commit -m a",
            ],
        ),
        (
            bash("touch", &["./**"]),
            &["touch a", "touch ./a", "touch src/x/y.rs", "touch /w/p/a", "touch .", "touch 'a b'"],
            &[
                "touch ../a",
                "touch src/../../a",
                "touch src/../a",
                "touch /w/pp/a",
                "touch /w/a",
                "touch /",
                "touch -c",
                "touch a b",
                "touch ''",
                "touch '~/a'",
                "touch '@a'",
                "touch 'h:a'",
                "touch '*'",
                "cd .github && touch workflows/x",
                "cd .config && touch git/x",
                "cd /tmp && touch a",
            ],
        ),
    ];
    for (rule, covered, other) in cases {
        for line in *covered {
            assert_eq!(in_ask(std::slice::from_ref(rule), &command(line)), 'a', "{} {line}", rule.in_words());
        }
        for line in *other {
            assert_ne!(in_ask(std::slice::from_ref(rule), &command(line)), 'a', "{} {line}", rule.in_words());
        }
    }
}

#[test]
fn paths_below_are_neither_secret_nor_protected_nor_behind_a_link() {
    let touch = bash("touch", &["./**"]);
    for line in ["touch .env", "touch k.pem", "touch .git/hooks/x", "touch .envrc", "touch .git/HEAD", "touch .lisle/x"]
    {
        assert_ne!(in_ask(std::slice::from_ref(&touch), &command(line)), 'a', "{line}");
    }
    let mut linked = command("touch out/a");
    assert_eq!(in_ask(std::slice::from_ref(&touch), &linked), 'a');
    linked.touches.push(Touch::Leaves { path: "/w/p/out/a".into() });
    assert_eq!(in_ask(std::slice::from_ref(&touch), &linked), 'q');
    let offer = &offered(&linked)[0].rule;
    assert_eq!(offer.args.as_deref(), Some(&["out/a".to_owned()][..]), "only the very path is offered");
    // A program of the working directory that has the name of another is another program.
    let mut own = command("cargo test");
    let inside = crate::domain::tool::StartedProgram {
        name: "cargo".into(),
        path: "/w/p/bin/cargo".into(),
        inode: 1,
        inside: true,
    };
    if let Some(Touch::Command { programs, .. }) = own.touches.first_mut() {
        programs.push(inside);
    }
    assert_eq!(in_ask(&[bash("cargo", &["test"])], &own), 'Q');
}

#[test]
fn offers_are_narrow_one_for_each_part_that_was_not_allowed() {
    let words = |line: &str| -> Vec<String> { offered(&command(line)).iter().map(|o| o.rule.in_words()).collect() };
    for (line, expected) in [
        ("cargo test", vec!["cargo test"]),
        ("cargo test --release -p x", vec!["cargo test --release -p x"]),
        ("cargo build && cargo test", vec!["cargo build", "cargo test"]),
        ("cargo test && cargo test", vec!["cargo test"]),
        ("ls -la && make -j4", vec!["make -j4"]),
        ("git commit -m 'fix it'", vec!["git commit -m *"]),
        ("git commit --amend -m x", vec!["git commit --amend -m *"]),
        ("git commit -m x --no-verify", vec!["git commit -m x --no-verify"]),
        ("git push origin main", vec!["git push origin main"]),
        ("rm build/a.o", vec!["rm ./**"]),
        ("rm -rf build dist", vec!["rm -rf ./** ./**"]),
        ("mkdir -p src/x", vec!["mkdir -p ./**"]),
        ("mkdir -m 755 x", vec!["mkdir -m 755 x"]),
        ("git add -A src", vec!["git add -A ./**"]),
        ("git add -A", vec!["git add -A"]),
        ("cp a /tmp/b", vec!["cp a /tmp/b"]),
        ("python3 tools/x.py --all", vec!["python3 tools/x.py --all"]),
        ("python3 -m unittest -v", vec!["python3 -m unittest -v"]),
        ("node --test test/a.test.js", vec!["node --test test/a.test.js"]),
        ("./build.sh now", vec!["./build.sh now"]),
        ("make 2>&1 | tail -5", vec!["make"]),
        ("echo x > y", vec!["edit ./**"]),
        ("make > out/log", vec!["make", "edit ./**"]),
        ("cd src && make", vec!["make"]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
    for line in [
        "sudo cargo test",
        "bash -c 'cargo test'",
        "python3 -c 'print(1)'",
        "python3 -m timeit 'print(1)'",
        "python3 -m cProfile -c 'print(1)'",
        "python3 -m",
        "node -m unittest",
        "node --test -e 'x()'",
        "perl -e 1",
        "node",
        "ssh host ls",
        "xargs rm",
        "env A=b make",
        "timeout 5 make",
        "make $(x)",
        "make &",
        "make ../other",
        "make -C /elsewhere",
        "make --file=/elsewhere/Makefile",
        "cargo test && bash -c x",
        "cp a ~/b",
        "touch 'a*'",
        "A=b make",
        "git apply -",
        "sed -i s/a/b/ x",
        "echo x > *.txt",
        "make > $X",
        "cd /elsewhere && make",
    ] {
        assert_eq!(words(line), Vec::<String>::new(), "{line}");
    }
    // What is allowed already is not asked again.
    let Verdict::Ask(question) =
        decide(Mode::Ask, &[bash("cargo", &["build"])], &command("cargo build && cargo test"), false)
    else {
        panic!()
    };
    assert_eq!(question.offers.len(), 1);
    assert_eq!(question.offers[0].rule, bash("cargo", &["test"]));
    assert_eq!(question.scopes, [RuleScope::Session]);
}

#[test]
fn offers_say_what_else_they_admit() {
    for (line, harmless, worst) in [
        ("cargo test", "cargo test", "runs any code in the project"),
        ("npm run build", "npm run build", "runs any code in the project"),
        ("rm -r build", "rm -r notes.txt", "deletes everything in the working directory"),
        ("rm build/a", "rm notes.txt", "deletes any file in"),
        ("git push origin main", "git push origin main", "publishes"),
        ("git commit -m x", "git commit -m 'another message'", "hooks"),
        ("npm install", "npm install", "installs packages"),
        ("./x.sh", "./x.sh", "any code"),
    ] {
        let offer = offered(&command(line)).remove(0);
        // A rule that admits this line alone has no other to show.
        assert_eq!(offer.harmless.as_deref(), (harmless != line).then_some(harmless), "{line}");
        assert!(offer.worst.as_deref().is_some_and(|text| text.contains(worst)), "{line}: {offer:?}");
        // Both are in the rule's words: the harmless one is one that it lets run.
        assert_eq!(in_ask(&[offer.rule], &command(harmless)), 'a', "{line}");
    }
    let edit = offered(&write("/w/p/src/a.rs", PathPlace::Inside)).remove(0);
    assert_eq!((edit.rule, edit.harmless.as_deref()), (edits("./**"), Some("edit src/another-file")));
    assert!(edit.worst.is_some());
}

#[test]
fn an_edit_rule_covers_the_file_tools_below_the_working_directory() {
    let kept = [edits("./**")];
    for tool in ["write", "edit"] {
        let mut inside = write("/w/p/src/a.rs", PathPlace::Inside);
        inside.tool = tool.to_owned();
        assert_eq!(in_ask(&kept, &inside), 'a', "{tool}");
    }
    for facts in [
        write("/w/pp/a", PathPlace::Inside),
        write("/w/p/../x", PathPlace::Inside),
        write("/w/p/.git/config", PathPlace::Protected),
        write("/etc/x", PathPlace::Outside),
        command("touch a"),
    ] {
        assert_ne!(in_ask(&kept, &facts), 'a', "{facts:?}");
    }
    assert_eq!(in_ask(&[edits("./src/**")], &write("/w/p/src/a", PathPlace::Inside)), 'a');
    assert_eq!(in_ask(&[edits("./src/**")], &write("/w/p/srcx/a", PathPlace::Inside)), 'q');
    assert_eq!(in_ask(&[edits("./a.rs")], &write("/w/p/a.rs", PathPlace::Inside)), 'a');
    assert_eq!(in_ask(&[edits("/w/p/**")], &write("/w/p/a.rs", PathPlace::Inside)), 'a');
    // What a command writes by redirection is judged like them.
    assert_eq!(in_ask(&kept, &command("echo x > src/y")), 'a');
    assert_eq!(in_ask(&kept, &command("make > y")), 'q');
    assert_eq!(in_ask(&[edits("./**"), bash("make", &[])], &command("make > y")), 'a');
    for line in ["echo x > ../y", "echo x > /etc/y", "echo x > .git/hooks/y", "echo x > .env", "cd sub && echo x > y"] {
        assert_ne!(in_ask(&kept, &command(line)), 'a', "{line}");
    }
    // A rule of one tool never admits another.
    let bash_alone = Rule::allow("bash");
    assert_eq!(in_ask(std::slice::from_ref(&bash_alone), &write("/w/p/a", PathPlace::Inside)), 'q');
    assert_eq!(in_ask(&[bash_alone], &command("make x")), 'a');
    assert_eq!(in_ask(&[bash("cargo", &["test"])], &write("/w/p/a", PathPlace::Inside)), 'q');
    // Rules for two things of one call.
    let mut both = command("cargo test");
    both.touches.push(Touch::Write { path: "/w/p/a".into(), place: PathPlace::Inside });
    assert_eq!(in_ask(&[edits("./**"), bash("cargo", &["test"])], &both), 'a');
    assert_eq!(in_ask(&kept, &both), 'q');
}

#[test]
fn deny_beats_ask_beats_allow_in_any_order() {
    let allow = bash("cargo", &["test"]);
    let ask = as_effect(RuleEffect::Ask, allow.clone());
    let deny = as_effect(RuleEffect::Deny, allow.clone());
    let facts = command("cargo test");
    for (kept, column) in [
        (vec![&allow], "daa"),
        (vec![&ask], "dQQ"),
        (vec![&deny], "ddd"),
        (vec![&allow, &ask], "dQQ"),
        (vec![&ask, &allow], "dQQ"),
        (vec![&allow, &deny, &ask], "ddd"),
        (vec![&deny, &ask, &allow], "ddd"),
        (vec![&ask, &allow, &deny], "ddd"),
    ] {
        let kept: Vec<Rule> = kept.into_iter().cloned().collect();
        let got: String = Mode::ALL.into_iter().map(|mode| letter(&decide(mode, &kept, &facts, false))).collect();
        assert_eq!(got, column, "{kept:?}");
    }
    // Headless every ask is a denial, also one that a rule makes; an allow rule counts.
    assert_eq!(letter(&decide(Mode::Execute, &[ask], &facts, true)), 'd');
    assert_eq!(letter(&decide(Mode::Ask, &[allow], &facts, true)), 'a');
    assert_eq!(letter(&decide(Mode::Ask, &[], &facts, true)), 'd');
}

#[test]
fn rules_that_deny_are_found_behind_anything() {
    let deny = |rule: Rule| as_effect(RuleEffect::Deny, rule);
    let push = deny(bash("git", &["push"]));
    for line in [
        "git push",
        "git push origin main",
        "git -C sub push",
        "/usr/bin/git push",
        "ls; git push",
        "ls && git push --tags",
        "timeout 5 git push",
        "sudo git push",
        "bash -c 'git push'",
        "sh -c \"cd x && git push\"",
        "echo $(git push)",
        "`git push`",
        "env A=b git push",
        "true | xargs git push",
        "g\"i\"t push",
        "git push &",
    ] {
        for mode in Mode::ALL {
            let verdict = decide(mode, std::slice::from_ref(&push), &command(line), false);
            assert!(matches!(&verdict, Verdict::Deny(Refusal { rule: Some(_), .. })), "{line}: {verdict:?}");
        }
    }
    for line in ["git status", "git log", "echo pushing", "gitk push"] {
        let verdict = decide(Mode::Execute, std::slice::from_ref(&push), &command(line), false);
        assert!(!matches!(verdict, Verdict::Deny(_)), "{line}");
    }
    let vendor = deny(Rule { path: Some("./vendor/**".into()), ..Rule::allow("*") });
    for facts in [
        write("/w/p/vendor/a", PathPlace::Inside),
        read("/w/p/vendor/a", false),
        command("cat vendor/a"),
        command("cp --target-directory=vendor x"),
        command("echo x > vendor/a"),
        command("bash -c 'rm ./vendor/a'"),
    ] {
        assert_eq!(letter(&decide(Mode::Execute, std::slice::from_ref(&vendor), &facts, false)), 'd', "{facts:?}");
    }
    assert_eq!(letter(&decide(Mode::Execute, &[vendor], &write("/w/p/vendored", PathPlace::Inside), false)), 'a');
    // A tool that is blocked does nothing; `write` and `edit` are one matter.
    for tool in ["edit", "write"] {
        let blocked = deny(Rule::allow(tool));
        let verdict = decide(Mode::Execute, &[blocked], &write("/w/p/a", PathPlace::Inside), false);
        assert_eq!(letter(&verdict), 'd', "{tool}");
    }
    let host = deny(Rule { host: Some("evil.example".into()), ..Rule::allow("bash") });
    assert_eq!(letter(&decide(Mode::Execute, &[host], &command("curl https://evil.example/x"), false)), 'd');
}

#[test]
fn the_audit_log_names_the_rule() {
    let Verdict::Allow(Allowed::ByRules(ruled)) =
        decide(Mode::Ask, &[bash("cargo", &["test"])], &command("cargo test"), false)
    else {
        panic!()
    };
    assert_eq!((ruled.words.as_str(), ruled.by_answer, ruled.at), ("cargo test (this session)", true, vec![0]));
    let mut rules = rules(&[]);
    let deny = Rule { note: Some("CI does that.".into()), ..as_effect(RuleEffect::Deny, bash("git", &["push"])) };
    let written = PermissionsFile {
        rules: vec![deny],
        hints: vec![Hint { command: "git push".into(), text: "Open a pull request.".into(), unless: None }],
        ..PermissionsFile::default()
    };
    rules.add(&written, RuleScope::Workspace, Path::new("/ws/permissions.json"));
    let verdict = super::super::decide(Policy::default(), Mode::Execute, &rules, &command("git push"), false);
    let Verdict::Deny(Refusal { reason, rule: Some(ruled) }) = verdict else { panic!() };
    assert_eq!(reason, "Denied by rule: git push (this workspace). CI does that. Open a pull request.");
    assert!(!ruled.by_answer);
}

fn with_patterns(patterns: &[&str]) -> Rules {
    let mut rules = rules(&[]);
    let commands = patterns.iter().map(|text| (*text).to_owned()).collect();
    let written = PermissionsFile { commands, paths: vec!["docs/**".into()], ..PermissionsFile::default() };
    rules.add(&written, RuleScope::Workspace, Path::new("/ws/permissions.json"));
    rules
}

#[test]
fn patterns_of_the_old_form_are_matched_from_the_start_of_every_part() {
    let rules = with_patterns(&["^cargo (test|build)\\b", "npm run lint", "(?!make x)make", "(a+)+$", "("]);
    let of = |mode, line: &str| letter(&super::super::decide(Policy::default(), mode, &rules, &command(line), false));
    for (line, expected) in [
        ("cargo test", 'a'),
        ("cargo test --release && cargo build", 'a'),
        ("cargo test; npm run lint", 'a'),
        ("make all", 'a'),
        ("make x", 'q'),
        ("echo cargo test && x", 'q'),
        ("x npm run lint", 'q'),
        ("cargo test && rm -r a", 'q'),
        ("rm -rf / && cargo test", 'Q'),
        ("cargo test $(rm a)", 'Q'),
        ("'cargo test'", 'Q'),
        ("cd /elsewhere && cargo test", 'Q'),
        ("cargo test > .git/config", 'Q'),
    ] {
        assert_eq!(of(Mode::Ask, line), expected, "{line}");
        assert_eq!(of(Mode::Explore, line), 'd', "{line}");
    }
    // One that needs too many steps does not match, and does not take long.
    let long = format!("{}!", "a".repeat(200));
    assert_ne!(of(Mode::Ask, &long), 'a');
    let decide = |facts: &CallFacts| letter(&super::super::decide(Policy::default(), Mode::Ask, &rules, facts, false));
    assert_eq!(decide(&write("/w/p/docs/a/b.md", PathPlace::Inside)), 'a');
    assert_eq!(decide(&write("/w/p/src/docs/b.md", PathPlace::Inside)), 'q');
    assert_eq!(decide(&write("/w/p/docs/.git/config", PathPlace::Protected)), 'Q');
}

#[test]
fn what_comes_back_from_the_user_must_be_about_what_was_asked() {
    let facts = command("cargo build && git commit -m x");
    let offers = offered(&facts);
    let ground = Ground { here: vec!["/w/p".into()], home: None };
    let takes = |rule: &Rule| takes(rule, &facts, &offers, &ground);
    for good in [&offers[0].rule, &offers[1].rule, &bash("git", &["commit", "-m", "x"])] {
        assert_eq!(takes(good), Ok(()));
    }
    // The user may write a wider one: it is their word.
    assert_eq!(takes(&Rule { args: None, ..bash("cargo", &[]) }), Ok(()));
    for (bad, says) in [
        (bash("cargo", &["test"]), "doesn't cover"),
        (bash("git", &["*", "x"]), "must be last"),
        (Rule::allow("bash"), "doesn't cover"),
        (Rule { program: Some("cargo".into()), ..Rule::allow("*") }, "doesn't cover"),
        (edits("./**"), "doesn't cover"),
        (as_effect(RuleEffect::Deny, bash("cargo", &["build"])), "that allow"),
    ] {
        let error = takes(&bad).unwrap_err();
        assert!(error.contains(says), "{bad:?}: {error}");
    }
}

#[test]
fn a_rule_never_answers_for_what_configures_code_however_it_gets_there() {
    let below = |program: &str, args: &[&str]| bash(program, args);
    let copies = below("cp", &["-rT", "./**", "./**"]);
    let mut facts = command("cp -rT payload sub");
    assert_eq!(in_ask(std::slice::from_ref(&copies), &facts), 'a');
    // The folder holds what configures code, as the tool sees.
    facts.touches.push(Touch::Write { path: "/w/p/sub/.envrc".into(), place: PathPlace::Protected });
    for mode in [Mode::Ask, Mode::Execute] {
        assert_eq!(letter(&decide(mode, std::slice::from_ref(&copies), &facts, false)), 'Q', "{mode:?}");
    }
    // The name of what is copied makes the place a protected one.
    for line in [
        "cp -r x/fish .config",
        "mv x/fish .config",
        "cp -rt .config x/fish",
        "cp -r x/fish .config/",
        "rsync -a x/fish .config",
    ] {
        let argv: Vec<&str> = line.split(' ').collect();
        let exact = below(argv[0], &argv[1..]);
        let generalised: Vec<&str> = argv[1..].iter().map(|w| if w.starts_with('-') { *w } else { "./**" }).collect();
        for mode in [Mode::Ask, Mode::Execute] {
            for rule in [exact.clone(), below(argv[0], &generalised)] {
                let verdict = decide(mode, &[rule], &command(line), false);
                assert!(matches!(&verdict, Verdict::Ask(question) if question.every_time), "{line}: {verdict:?}");
            }
        }
    }
    // Settings that run code are changed by no rule.
    for line in [
        "git config core.hooksPath x",
        "git remote add o x",
        "pre-commit install",
        "direnv allow",
        "npm config set a b",
    ] {
        let argv: Vec<&str> = line.split(' ').collect();
        let exact = [below(argv[0], &argv[1..])];
        for mode in [Mode::Ask, Mode::Execute] {
            assert_eq!(letter(&decide(mode, &exact, &command(line), false)), 'Q', "{line}");
        }
    }
}

#[test]
fn what_a_file_decides_is_only_let_run_where_it_is_held() {
    for line in ["tar xf a.tar", "unzip a.zip", "git apply a.patch", "patch -p1"] {
        let argv: Vec<&str> = line.split(' ').collect();
        let kept = rules(&[bash(argv[0], &argv[1..])]);
        let held = Policy {
            read_only_profile: shell::ReadOnlyProfile::Enforced,
            sandbox: crate::domain::permission::Sandbox::Workspace,
            ..Policy::default()
        };
        assert_eq!(letter(&super::super::decide(held, Mode::Ask, &kept, &command(line), false)), 'a', "{line}");
        for policy in [Policy::default(), Policy { sandbox: crate::domain::permission::Sandbox::None, ..held }] {
            let verdict = super::super::decide(policy, Mode::Ask, &kept, &command(line), false);
            assert!(matches!(&verdict, Verdict::Ask(question) if question.offers.is_empty()), "{line}: {verdict:?}");
        }
    }
}

#[test]
fn computed_names_are_asked_about_where_secrets_lie_open() {
    let held = Policy { read_only_profile: shell::ReadOnlyProfile::Enforced, ..Policy::default() };
    let at = |line: &str, secrets_here: bool| {
        let facts = CallFacts { secrets_here, ..command(line) };
        [Mode::Explore, Mode::Ask].map(|mode| letter(&super::super::decide(held, mode, &rules(&[]), &facts, false)))
    };
    for line in [
        "xargs cat <<< .env",
        "find . -exec cat {} +",
        "grep -r x .",
        "rg x",
        "ls | xargs head",
        "diff -r a b",
        "ls && rg x",
    ] {
        // A secret that the line names can be shown for the session.
        let asked = if line.contains(".env") { 'q' } else { 'Q' };
        assert_eq!((at(line, false), at(line, true)), (['a', 'a'], ['d', asked]), "{line}");
    }
    for line in ["cat a", "find . -name x", "ls -R", "rg --files", "git log -p", "grep x a"] {
        assert_eq!(at(line, true), ['a', 'a'], "{line}");
    }
}

#[test]
fn reading_commands_of_a_server_are_offered_as_a_kind() {
    let offers = offered(&command("gh pr view 12"));
    let [offer] = offers.as_slice() else { panic!("{offers:?}") };
    assert_eq!(offer.rule.in_words(), "read-only commands of gh");
    assert_eq!(offer.rule.fault(), None);
    let kept = [offer.rule.clone()];
    for (line, letter) in [
        ("gh issue list", 'a'),
        ("gh pr view 1 | head -5", 'a'),
        ("gh pr merge 1", 'q'),
        ("gh pr view 1 -w", 'q'),
        ("rm x", 'q'),
    ] {
        assert_eq!(in_ask(&kept, &command(line)), letter, "{line}");
    }
    let held = Policy { read_only_profile: shell::ReadOnlyProfile::Enforced, ..Policy::default() };
    let mut mine = rules(&kept);
    mine.ground.home = Some("/home/u".into());
    let given = |line: &str| super::super::extras(held, Mode::Ask, &mine, &command(line));
    assert_eq!(given("gh pr list").env, ["GH_HOST", "GH_TOKEN", "GITHUB_TOKEN"]);
    assert_eq!(given("gh pr list | jq .").readable, [Path::new("/home/u/.config/gh")]);
    for line in
        ["gh pr list | sh", "gh pr list; ./x", "gh pr merge 1", "ls", "gh pr list & env", "env; gh pr list > x; make"]
    {
        assert_eq!(given(line), Extras::default(), "{line}");
    }
    // What lets do anything on the machine is kept for no workspace.
    let mut all = rules(&[]);
    all.scopes.push(RuleScope::Workspace);
    for (line, scopes) in [("gh pr list", 2), ("docker ps", 1)] {
        let Verdict::Ask(question) = super::super::decide(held, Mode::Ask, &all, &command(line), false) else {
            panic!("{line}")
        };
        assert_eq!(question.scopes.len(), scopes, "{line}");
    }
    let text = serde_json::to_string(&kept[0]).unwrap();
    assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), kept[0]);
}
