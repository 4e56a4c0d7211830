//! The decision: rules that deny, then the table, then rules that ask. Of everything that a call touches the strictest
//! row counts.

use super::access;
use super::policy::Policy;
use super::row::TouchRow;
use super::rows;
use super::rules::Rules;
use super::shell;
use super::verdict::{Allowed, PermissionQuestion, Refusal, Ruled, Verdict};
use crate::domain::git_settings::settling_option;
use crate::domain::permission::Mode;
use crate::domain::rule::{Rule, RuleEffect, SANDBOX};
use crate::domain::tool::{CallFacts, Touch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Decides on one call.
///
/// `headless`: nobody can be asked, so every ask is a denial. A defect of lisle's own in the judging denies, too.
#[must_use]
pub fn decide(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts, headless: bool) -> Verdict {
    denied_by_defect(|| judged(policy, mode, rules, facts, headless))
}

/// A verdict, or the denial where judging panics: what nobody could judge does not run, and the session goes on.
fn denied_by_defect(judge: impl FnOnce() -> Verdict) -> Verdict {
    // Nothing is changed on the way to a verdict, so nothing stays half done.
    catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| {
        let reason = "lisle failed to judge this call, which is a defect of its own; the log has the place.".to_owned();
        Verdict::Deny(Refusal { reason, rule: None })
    })
}

fn judged(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts, headless: bool) -> Verdict {
    if let Some(at) = rules.tightening(RuleEffect::Deny, facts) {
        let rule = rules.ruled(vec![at]);
        let note = note(rules, at);
        return deny(format!("Denied by rule: {}.{note}", rule.words), Some(rule), rules, facts);
    }
    let asked = rules.tightening(RuleEffect::Ask, facts).map(|at| (rules.ruled(vec![at]), note(rules, at)));
    let mut question = PermissionQuestion::default();
    let mut by_setting = None;
    let mut used: Vec<usize> = Vec::new();
    let mut never_kept = false;
    let mut unanswered = Vec::new();
    // What is opened beside the sandbox weighs most.
    let (opened, others): (Vec<&Touch>, Vec<&Touch>) =
        facts.touches.iter().partition(|touch| matches!(touch, Touch::Access(_) | Touch::Read { secret: true, .. }));
    let rows =
        opened.into_iter().chain(others).map(|touch| (Some(touch), rows::row(policy, mode, rules, facts, touch)));
    for (touch, row) in rows.chain(rows::unknown(mode, facts).map(|row| (None, row))) {
        match row {
            TouchRow::Allow => {}
            TouchRow::Setting(which) => by_setting = Some(which),
            TouchRow::Ruled(at) => used.extend(at),
            TouchRow::Deny(why) => return deny(why, None, rules, facts),
            TouchRow::Ask { reason, risks, offers, every_time } => {
                question.every_time |= every_time;
                if offers.is_empty() {
                    unanswered.push((touch, reason.clone()));
                }
                push_new(&mut question.reasons, reason);
                for risk in risks {
                    push_new(&mut question.risks, risk);
                }
                // One answer must settle all that is asked, else remembering would promise too much. What is opened is
                // kept all the same: it lets nothing run.
                never_kept |= offers.is_empty();
                for offer in offers {
                    push_new(&mut question.offers, offer);
                }
            }
        }
    }
    if let Some((rule, note)) = asked {
        if mode == Mode::Explore {
            let why = format!("A rule requires asking, and Explore never asks: {}.{note}", rule.words);
            return deny(why, Some(rule), rules, facts);
        }
        // No rule answers a rule that asks.
        never_kept = true;
        question.every_time = true;
        question.reasons.insert(0, format!("A rule requires asking: {}.{note}", rule.words));
        question.rule = Some(rule);
    }
    if question.reasons.is_empty() {
        return Verdict::Allow(match (used.is_empty(), by_setting) {
            (false, _) => Allowed::ByRules(rules.ruled(used)),
            (true, Some(which)) => Allowed::BySetting(which),
            (true, None) => Allowed::ByMode,
        });
    }
    if facts.proposal.diffs().any(|diff| diff.is_gone) {
        push_new(&mut question.risks, "deletes files".to_owned());
    }
    if headless {
        let why = headless_reason((policy, mode), rules, facts, &question, &unanswered);
        return deny(why, question.rule, rules, facts);
    }
    if never_kept {
        question.offers.retain(|offer| offer.rule.tool == SANDBOX);
    }
    if !question.offers.is_empty() {
        question.scopes.clone_from(&rules.scopes);
        if question.offers.iter().any(|offer| access::is_for_session(&offer.rule)) {
            question.scopes.retain(|scope| *scope == crate::domain::rule::RuleScope::Session);
        }
    }
    Verdict::Ask(question)
}

/// Why a call does not run where nobody can be asked, and what would let it run. A rule is named where it does.
fn headless_reason(
    (policy, mode): (Policy, Mode),
    rules: &Rules,
    facts: &CallFacts,
    question: &PermissionQuestion,
    unanswered: &[(Option<&Touch>, String)],
) -> String {
    let runs = |mode, rules: &Rules| matches!(decide(policy, mode, rules, facts, false), Verdict::Allow(_));
    // Execute is only named where it would help.
    let way = if mode == Mode::Ask && runs(Mode::Execute, rules) {
        "Approve it in the app, or run with --mode execute"
    } else {
        "Approve it in the app"
    };
    let mut with = rules.clone();
    let touches = unanswered.iter().filter_map(|(touch, _)| *touch);
    let by_hand = touches.flat_map(|touch| access::by_hand(policy, facts, touch, &rules.ground));
    let named: Vec<Rule> = question.offers.iter().map(|offer| offer.rule.clone()).chain(by_hand).collect();
    named.iter().for_each(|rule| with.add_answer(rule.clone()));
    let written: Vec<String> = named.iter().map(access::written).collect();
    let cwd = rules.ground.here.first().map_or(Path::new("/"), PathBuf::as_path);
    let rule = match written.as_slice() {
        _ if question.rule.is_some() => String::new(),
        [one] if runs(mode, &with) => {
            let option = named.first().and_then(option).unwrap_or_default();
            format!(" To allow it{option}, add this rule to permissions.json: {one}")
        }
        [_, ..] if runs(mode, &with) => {
            format!(" To allow it, add these rules to permissions.json: {}", written.join(", "))
        }
        _ if unanswered.is_empty() => String::new(),
        _ => {
            let options = settling_options(facts);
            let instead = match options.is_empty() {
                true => String::new(),
                false => format!(" Leave {} out.", options.join(", ")),
            };
            let kept: Vec<String> = unanswered
                .iter()
                .map(|(touch, reason)| match touch {
                    Some(Touch::Access(access)) => format!("It {}.", access.risk(cwd)),
                    _ => reason.clone(),
                })
                .collect();
            format!(" No rule can allow this part: {}{instead}", kept.join(" "))
        }
    };
    let opened = facts.touches.iter().filter_map(|touch| match touch {
        Touch::Access(access) => Some(access.risk(cwd)),
        _ => None,
    });
    let risks: Vec<String> = opened.collect();
    let what = if risks.is_empty() { String::new() } else { format!(" ({})", risks.join("; ")) };
    let reasons = question.reasons.join(" ");
    format!("Needs approval, and this run is non-interactive{what}: {reasons} {way}.{rule}")
}

/// The option that allows for one run what a rule allows, where its words alone say all of the rule.
fn option(rule: &Rule) -> Option<String> {
    let alone = Rule { program: rule.program.clone(), args: rule.args.clone(), ..Rule::allow("bash") };
    let words = rule.in_words();
    let whole = rule.program.is_some() && alone == Rule { note: None, ..rule.clone() } && !words.contains('\'');
    whole.then(|| format!(" in one run, use --allow '{words}'; to allow it always"))
}

/// Options on the line that have git write its settings beside what the command is for.
fn settling_options(facts: &CallFacts) -> Vec<String> {
    let lines = facts.touches.iter().filter_map(|touch| match touch {
        Touch::Command { command, .. } => shell::known(command),
        _ => None,
    });
    let argvs = lines.flat_map(|line| line.commands).filter_map(|one| one.argv);
    argvs.filter_map(|argv| settling_option(&argv).map(|option| format!("`{option}`"))).collect()
}

/// Note of a rule, in its author's words.
fn note(rules: &Rules, at: usize) -> String {
    let note = rules.standing.get(at).and_then(|one| one.clause.rule().note);
    note.map(|note| format!(" {note}")).unwrap_or_default()
}

fn deny(mut reason: String, rule: Option<Ruled>, rules: &Rules, facts: &CallFacts) -> Verdict {
    let mut commands = facts.touches.iter().filter_map(|touch| match touch {
        Touch::Command { command, .. } => Some(command),
        _ => None,
    });
    if let Some(hint) = commands.find_map(|command| rules.hint(command)) {
        reason = format!("{reason} {hint}");
    }
    Verdict::Deny(Refusal { reason, rule })
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}
