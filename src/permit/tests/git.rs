//! Questions about git: which settings a line writes, and what of its words is no risk.

use super::*;

fn question(mode: Mode, facts: &CallFacts) -> Option<PermissionQuestion> {
    match decide(mode, &[], facts, false) {
        Verdict::Ask(question) => Some(question),
        Verdict::Allow(_) => None,
        Verdict::Deny(refusal) => panic!("{}", refusal.reason),
    }
}

#[test]
fn a_setting_is_named_and_only_one_that_may_run_something_stops_execute() {
    for (line, says) in [
        ("git config user.email a@b", "`user.email = a@b`"),
        ("git push -u origin topic", "`branch.topic.remote = origin`"),
        ("git branch -D topic", "`branch.topic (removed)`"),
        ("git remote add o https://h/x", "`remote.o.url = https://h/x`"),
        ("git add a && git switch --track o/x", "`branch.*.merge = o/x`"),
    ] {
        let reasons = question(Mode::Ask, &command(line)).unwrap().reasons.join(" ");
        assert!(reasons.contains(says) && reasons.contains("git's settings"), "{line}: {reasons}");
        assert_eq!(question(Mode::Execute, &command(line)), None, "{line}");
        assert!(matches!(decide(Mode::Explore, &[], &command(line), false), Verdict::Deny(_)), "{line}");
    }
    for (line, says) in [
        ("git config core.hooksPath x", "`git's setting core.hooksPath = x`"),
        ("git config --global user.name x", "`git's setting user.name = x (for all repositories)`"),
        ("git remote set-url origin https://h/x", "`git's setting remote.origin.url = https://h/x`"),
        ("git config alias.st status; ls", "`git's setting alias.st = status`"),
        ("git lfs install", "`git's hooks`"),
    ] {
        for mode in [Mode::Ask, Mode::Execute] {
            let question = question(mode, &command(line)).unwrap();
            assert!(question.every_time && question.reasons.join(" ").contains(says), "{line}: {:?}", question.reasons);
            assert_eq!(question.offers, [], "{line}");
        }
    }
}

#[test]
fn what_the_tool_opens_says_which_setting_it_is_for() {
    let mut facts = command("make && git push -u origin topic");
    facts.touches.push(Touch::Access(Access::Write { path: "/w/p/.git/config".into(), program: None }));
    let question = question(Mode::Execute, &facts).unwrap();
    assert!(question.reasons.join(" ").contains("`branch.topic.remote = origin`"), "{:?}", question.reasons);
    assert!(question.every_time);
}

#[test]
fn a_file_that_is_only_tested_is_not_read() {
    for line in ["test -f .env", "test -f .env && echo yes", "[ -f .env ] || [ -s .env ]", "test -e .ssh && ls"] {
        for mode in [Mode::Explore, Mode::Ask, Mode::Execute] {
            assert!(matches!(decide(mode, &[], &command(line), false), Verdict::Allow(_)), "{line}");
        }
    }
    for line in [
        "test -f .env && cat .env",
        "cat .env",
        "[ -f .env ] && . ./.env",
        "test -f .env < .env",
        "test() { cat .env; }; test -f .env",
    ] {
        let facts = command(line);
        assert!(!matches!(decide(Mode::Execute, &[], &facts, false), Verdict::Allow(_)), "{line}");
    }
}

#[test]
fn a_repository_of_this_machine_is_no_network() {
    let risks = |line: &str, local: bool| {
        let mut facts = command(line);
        facts.touches.extend(local.then(|| Touch::Read { path: "/w/remote.git".into(), secret: false }));
        question(Mode::Ask, &facts).unwrap().risks
    };
    let has = |risks: &[String]| risks.iter().any(|risk| risk == "network");
    assert!(!has(&risks("git push origin main", true)) && has(&risks("git push origin main", false)));
    assert!(has(&risks("git push origin main && curl https://h", true)));
    assert!(has(&risks("git push origin main && sh -c 'curl https://h'", true)));
}
