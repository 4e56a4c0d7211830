//! `lisle usage`: what requests used and cost, for people and for programs.

use super::args::UsageArgs;
use super::exit::Exit;
use super::output::{complain, say, with_demo};
use crate::domain::spending::{Sum, UsageBy, UsageGroup, beyond, group};
use crate::domain::{At, SessionMeta, sanitise};
use crate::local_time::day;
use crate::runtime::setup::Bootstrap;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

pub(super) fn run(bootstrap: &Bootstrap, args: &UsageArgs) -> Exit {
    let books = bootstrap.books();
    let since = args.since.unwrap_or(At(0));
    let all = match books.read(since) {
        Ok(all) => all,
        Err(error) => {
            complain(&format!("lisle: can't read usage from {}: {error}.", books.folder().display()));
            return Exit::Failed;
        }
    };
    let by = args.by.unwrap_or(UsageBy::Day);
    let mut groups = group(&all, by, day);
    let metas = bootstrap.store.list().sessions;
    if by == UsageBy::Session {
        name(&mut groups, &metas);
    }
    let mut total = Sum::default();
    all.iter().for_each(|one| total.add(one));
    // Totals of sessions have no days, so they say nothing about a part of the time.
    let rest = args.since.is_none().then(|| beyond(&metas, &group(&all, UsageBy::Session, day)));
    if args.json {
        let groups: Vec<_> = groups.iter().map(|group| priced(group, &group.sum)).collect();
        let value = serde_json::json!({"by": by, "groups": groups, "total": priced(&total, &total), "beyond": rest});
        say(&format!("{}\n", with_demo(&value).unwrap_or(value)));
        return Exit::Done;
    }
    say(&table(by, &groups, &total));
    if let Some(rest) = rest.filter(|rest| rest.sessions > 0) {
        complain(&format!(
            "Totals only: {} output tokens and ${:.2} in {} of this workspace, from other programs or before \
             requests were recorded.",
            rest.output,
            rest.cost_usd,
            if rest.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", rest.sessions) }
        ));
    }
    Exit::Done
}

/// JSON of a sum, whose cost is null where no price is known.
fn priced(shown: &impl Serialize, sum: &Sum) -> Value {
    let mut value = serde_json::to_value(shown).unwrap_or_default();
    if sum.unpriced > 0
        && sum.unpriced == sum.requests
        && let Some(cost) = value.get_mut("costUsd")
    {
        *cost = Value::Null;
    }
    value
}

fn name(groups: &mut [UsageGroup], metas: &[SessionMeta]) {
    for group in groups {
        if let Some(meta) = metas.iter().find(|meta| meta.id.as_str() == group.key) {
            group.name = meta.shown_title().to_owned();
        }
    }
}

fn table(by: UsageBy, groups: &[UsageGroup], total: &Sum) -> String {
    if groups.is_empty() {
        return "No requests recorded.\n".to_owned();
    }
    let head = match by {
        UsageBy::Day => "day",
        UsageBy::Model => "model",
        UsageBy::Session => "session",
    };
    let key = |group: &UsageGroup| sanitise::clean_line(&group.key).into_owned();
    let width = groups.iter().map(|group| key(group).chars().count()).max().unwrap_or(0).max(head.len()).max(5);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{head:<width$}  {:>8}  {:>12}  {:>12}  {:>10}  {:>14}",
        "requests", "in", "cached", "out", "cost"
    );
    for group in groups {
        let title = sanitise::clean_line(&group.name).into_owned();
        let title = if title.is_empty() { String::new() } else { format!("  {title}") };
        let _ = writeln!(out, "{}{title}", line(&key(group), width, &group.sum));
    }
    let _ = writeln!(out, "{}", line("total", width, total));
    out
}

fn line(name: &str, width: usize, sum: &Sum) -> String {
    let cost = match sum.unpriced {
        0 => format!("${:.4}", sum.cost_usd),
        all if all == sum.requests => "?".to_owned(),
        some => format!("${:.4} +{some}?", sum.cost_usd),
    };
    format!(
        "{name:<width$}  {:>8}  {:>12}  {:>12}  {:>10}  {cost:>14}",
        sum.requests, sum.input, sum.cache_read, sum.output
    )
}
