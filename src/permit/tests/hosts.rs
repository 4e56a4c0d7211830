//! Rules about hosts: what they let tools ask and commands reach, and which hosts a message names.

use super::rules::{as_effect, edits, offered};
use super::*;
use crate::domain::rule::RuleEffect;

fn host(tool: &str, name: &str) -> Rule {
    Rule { host: Some(name.to_owned()), ..Rule::allow(tool) }
}

#[test]
fn rules_about_hosts_let_hosts_be_asked_in_every_mode_but_never_private_ones() {
    let column = |kept: &[Rule], facts: &CallFacts| -> String {
        Mode::ALL.into_iter().map(|mode| letter(&decide(mode, kept, facts, false))).collect()
    };
    for (rule, name, said) in [
        (host("fetch", "docs.rs"), "docs.rs", "aaa"),
        (host("fetch", "Docs.RS"), "docs.rs", "aaa"),
        (host("*", "docs.rs"), "docs.rs", "aaa"),
        (Rule::allow("fetch"), "docs.rs", "aaa"),
        (host("fetch", "*.docs.rs"), "api.docs.rs", "aaa"),
        (host("fetch", "*.docs.rs"), "docs.rs", "dqa"),
        (host("fetch", "docs.rs"), "api.docs.rs", "dqa"),
        (host("fetch", "docs.rs"), "evildocs.rs", "dqa"),
        (host("fetch", "*.docs.rs"), "evildocs.rs", "dqa"),
        (host("fetch", "docs.rs"), "docs.rs:6379", "dqa"),
        (host("fetch", "*.docs.rs"), "api.docs.rs:6379", "dqa"),
        (host("fetch", "docs.rs:6379"), "docs.rs:6379", "aaa"),
        (host("bash", "docs.rs"), "docs.rs", "dqa"),
        (Rule::allow("*"), "docs.rs", "dqa"),
    ] {
        assert_eq!(column(std::slice::from_ref(&rule), &fetch(name, false)), said, "{rule:?} {name}");
        assert_eq!(column(&[rule], &fetch(name, true)), "dQQ");
    }
    for (rule, name, said) in [
        (as_effect(RuleEffect::Deny, host("fetch", "docs.rs")), "docs.rs", "ddd"),
        (as_effect(RuleEffect::Deny, host("fetch", "docs.rs")), "api.docs.rs", "ddd"),
        (as_effect(RuleEffect::Deny, host("fetch", "docs.rs")), "docs.rs:6379", "ddd"),
        (as_effect(RuleEffect::Deny, host("*", "*.docs.rs")), "docs.rs", "ddd"),
        (as_effect(RuleEffect::Deny, host("fetch", "docs.rs")), "otherdocs.rs", "dqa"),
        (as_effect(RuleEffect::Ask, host("fetch", "docs.rs")), "docs.rs", "dQQ"),
    ] {
        assert_eq!(column(std::slice::from_ref(&rule), &fetch(name, false)), said, "{rule:?} {name}");
    }
}

fn connect(host: &str, private: bool, known: bool) -> CallFacts {
    let touch = Touch::Connect { host: host.to_owned(), private, known: known.then(|| "a list".to_owned()) };
    facts(vec![touch], Proposal::Connect { to: format!("{host}:443"), command: "curl x".into() })
}

#[test]
fn rules_about_hosts_are_about_connections_of_commands_too() {
    let column = |kept: &[Rule], facts: &CallFacts| -> String {
        Mode::ALL.into_iter().map(|mode| letter(&decide(mode, kept, facts, false))).collect()
    };
    for (known, private, said) in
        [(false, false, "dqq"), (true, false, "daa"), (false, true, "dQQ"), (true, true, "daa")]
    {
        assert_eq!(column(&[], &connect("a.example", private, known)), said);
    }
    for (rule, name, said) in [
        (host("network", "a.example"), "a.example", "daa"),
        (host("fetch", "a.example"), "a.example", "daa"),
        (host("network", "*.a.example"), "b.a.example", "daa"),
        (host("network", "a.example"), "a.example:25", "dqq"),
        (host("network", "a.example:25"), "a.example:25", "daa"),
        (host("bash", "a.example"), "a.example", "dqq"),
        (Rule::allow("fetch"), "a.example", "dqq"),
        (Rule::allow("network"), "a.example", "daa"),
    ] {
        assert_eq!(column(std::slice::from_ref(&rule), &connect(name, false, false)), said, "{rule:?} {name}");
        assert_eq!(column(&[rule], &connect(name, true, false)), "dQQ");
    }
    assert_eq!(column(&[host("network", "a.example")], &fetch("a.example", false)), "dqa", "not the other way around");
    for (rule, name) in [
        (as_effect(RuleEffect::Deny, host("network", "a.example")), "a.example"),
        (as_effect(RuleEffect::Deny, host("fetch", "a.example")), "a.example:25"),
        (as_effect(RuleEffect::Deny, host("bash", "a.example")), "b.a.example"),
        (as_effect(RuleEffect::Deny, host("*", "::1")), "[::1]:8080"),
        (as_effect(RuleEffect::Deny, Rule::allow("network")), "a.example"),
    ] {
        assert_eq!(column(std::slice::from_ref(&rule), &connect(name, false, true)), "ddd", "{rule:?} {name}");
    }
}

#[test]
fn a_host_that_the_user_named_is_the_users_wish() {
    let mut rules = rules(&[]);
    rules.named = vec!["docs.rs".to_owned()];
    for (facts, said) in
        [(fetch("docs.rs", false), "aaa"), (fetch("other.rs", false), "dqa"), (fetch("docs.rs", true), "dQQ")]
    {
        let column: String = Mode::ALL
            .into_iter()
            .map(|mode| letter(&super::super::decide(Policy::default(), mode, &rules, &facts, false)))
            .collect();
        assert_eq!(column, said, "{facts:?}");
    }
}

#[test]
fn an_answer_about_a_host_covers_that_host() {
    let facts = fetch("docs.rs", false);
    let offers = offered(&facts);
    assert_eq!(offers.len(), 1);
    assert_eq!(offers[0].rule, host("fetch", "docs.rs"));
    assert!(offers[0].worst.as_ref().is_some_and(|worst| worst.contains("docs.rs")));
    let ground = Ground { here: vec!["/w/p".into()], home: None };
    assert_eq!(takes(&host("fetch", "docs.rs"), &facts, &[], &ground), Ok(()));
    for other in [host("fetch", "other.rs"), host("bash", "docs.rs"), Rule::allow("*"), edits("./**")] {
        assert!(takes(&other, &facts, &[], &ground).is_err(), "{other:?}");
    }
}

#[test]
fn a_message_names_a_host_only_as_a_whole() {
    assert!(names_host("http://docs.rs:8080/", "docs.rs:8080"));
    for text in ["https://docs.rs/", "docs.rs:80", "docs.rs:80801"] {
        assert!(!names_host(text, "docs.rs:8080"), "{text}");
    }
    for text in [
        "see https://docs.rs/serde",
        "docs.rs",
        "at Docs.RS.",
        "(docs.rs)",
        "http://docs.rs:8080/",
        "docs.rs/x, please",
    ] {
        assert!(names_host(text, "docs.rs"), "{text}");
    }
    for text in [
        "",
        "mydocs.rs",
        "api.docs.rs",
        "docs.rs.evil.com",
        "docs.rsx",
        "https://evil.com/docs.rs",
        "https://a?u=docs.rs",
        "me@docs.rs",
        "docs-rs",
        "https://docs.rs@evil.com/",
        "https://docs.rs:443@evil.com/",
        "see docs.rs:secret@evil.com",
    ] {
        assert!(!names_host(text, "docs.rs"), "{text}");
    }
}
