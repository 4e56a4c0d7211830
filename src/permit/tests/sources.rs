//! Tools of sources: the modes, what is known to be read-only, and rules by name and definition.

use super::rules::as_effect;
use super::*;
use crate::domain::rule::RuleEffect;

const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn call(read_only: bool) -> CallFacts {
    let (source, tool) = ("files".to_owned(), "write".to_owned());
    let touch = Touch::Source { source: source.clone(), tool: tool.clone(), read_only, definition: DIGEST.to_owned() };
    let proposal = Proposal::SourceCall { source, tool, arguments: "{}".into() };
    CallFacts { tool: "mcp__files__write".into(), ..facts(vec![touch], proposal) }
}

fn column(kept: &[Rule], facts: &CallFacts) -> String {
    Mode::ALL.into_iter().map(|mode| letter(&decide(mode, kept, facts, false))).collect()
}

#[test]
fn explore_goes_by_knowledge_ask_asks_and_rules_are_about_one_definition() {
    assert_eq!((column(&[], &call(true)), column(&[], &call(false))), ("aaa".to_owned(), "dqa".to_owned()));
    let defined = |digest: &str| Rule { definition: Some(digest.to_owned()), ..Rule::allow("mcp__files__write") };
    for (rule, said) in [
        (Rule::allow("mcp__files__write"), "daa"),
        (defined(&DIGEST[..32]), "daa"),
        (defined("ffffffffffffffff"), "dqa"),
        (Rule::allow("mcp__files"), "dqa"),
        (Rule::allow("mcp__files__read"), "dqa"),
        (Rule::allow("*"), "dqa"),
        (Rule::allow("bash"), "dqa"),
        (as_effect(RuleEffect::Deny, Rule::allow("mcp__files")), "ddd"),
        (as_effect(RuleEffect::Deny, Rule::allow("mcp__files__write")), "ddd"),
        (as_effect(RuleEffect::Deny, Rule::allow("mcp__fil")), "dqa"),
        (as_effect(RuleEffect::Ask, Rule::allow("mcp__files")), "dQQ"),
    ] {
        assert_eq!(column(std::slice::from_ref(&rule), &call(false)), said, "{rule:?}");
    }
    // A read-only tool is denied by a rule all the same.
    assert_eq!(column(&[as_effect(RuleEffect::Deny, Rule::allow("mcp__files"))], &call(true)), "ddd");
}

#[test]
fn an_answer_covers_the_definition_that_was_shown() {
    let Verdict::Ask(question) = decide(Mode::Ask, &[], &call(false), false) else { panic!("it does not ask") };
    let [offer] = &question.offers[..] else { panic!("{question:?}") };
    assert_eq!(offer.rule.definition.as_deref(), Some(&DIGEST[..32]));
    assert_eq!(offer.rule.fault(), None);
    assert_eq!(offer.rule.in_words(), "mcp__files__write @01234567");
    assert_eq!(column(std::slice::from_ref(&offer.rule), &call(false)), "daa");
    for bad in ["", "xyz", "0123"] {
        let rule = Rule { definition: Some(bad.into()), ..Rule::allow("mcp__files__write") };
        assert!(rule.fault().is_some(), "{bad}");
    }
    assert!(Rule { definition: Some(DIGEST.into()), ..Rule::allow("bash") }.fault().is_some());
}
