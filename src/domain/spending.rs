//! Usage and cost of requests: one record per request, and the sums by day, model, session and turn.
//!
//! A session's own totals are [`super::usage::Usage`]; they hold also what other programs asked for, of which there are no
//! records. Where a price is not known a request costs nothing that could be added up, and the sums say how many those are.

use super::ids::{At, ConnectionName, SessionId};
use super::session::SessionMeta;
use super::usage::RequestUsage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Time of the end.
    pub at: At,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// Session id.
    pub session: SessionId,
    /// Start of the turn that it was part of; `None` for a side request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<At>,
    /// Connection name.
    pub connection: ConnectionName,
    /// Model name.
    pub model: String,
    /// Tokens.
    #[serde(flatten)]
    pub used: RequestUsage,
    /// US dollars; `None` where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Usage of several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sum {
    /// Number of requests.
    pub requests: u64,
    /// Tokens of their prompts, cached ones included.
    pub input: u64,
    /// Tokens that the models wrote.
    pub output: u64,
    /// The part of `input` that came from a cache.
    pub cache_read: u64,
    /// US dollars of those whose price is known.
    pub cost_usd: f64,
    /// Number of requests without a known price.
    pub unpriced: u64,
}

impl Sum {
    /// Adds a request.
    pub fn add(&mut self, one: &Spent) {
        self.requests += 1;
        self.input = self.input.saturating_add(one.used.input);
        self.output = self.output.saturating_add(one.used.output);
        self.cache_read = self.cache_read.saturating_add(one.used.cache_read);
        match one.cost {
            Some(cost) => self.cost_usd += cost,
            None => self.unpriced += 1,
        }
    }
}

/// Group of requests with its usage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageGroup {
    /// The day (`2026-11-22`), the model, the session's id or the start of the turn in milliseconds.
    pub key: String,
    /// Name for people: a session's title; empty if the key is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Usage.
    #[serde(flatten)]
    pub sum: Sum,
}

/// Sessions whose totals hold more than the records do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Beyond {
    /// Number of sessions.
    pub sessions: u64,
    /// Tokens that models wrote.
    pub output: u64,
    /// US dollars.
    pub cost_usd: f64,
}

/// Usage, for the screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spending {
    /// Session whose turns were asked for.
    pub session: Option<SessionId>,
    /// Today.
    pub today: Sum,
    /// All that is recorded.
    pub all: Sum,
    /// The latest day first.
    pub days: Vec<UsageGroup>,
    /// The dearest first.
    pub models: Vec<UsageGroup>,
    /// The dearest first.
    pub sessions: Vec<UsageGroup>,
    /// The turns of the session, the latest first.
    pub turns: Vec<UsageGroup>,
    /// Totals of the sessions beyond the records: of other programs, and from before there were records.
    pub beyond: Beyond,
}

/// Grouping of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageBy {
    /// The day, the latest first.
    Day,
    /// The model, the dearest first.
    Model,
    /// The session, the dearest first.
    Session,
}

/// Groups requests. `day` says the day of an instant.
pub fn group(all: &[Spent], by: UsageBy, day: impl Fn(At) -> String) -> Vec<UsageGroup> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for one in all {
        let key = match by {
            UsageBy::Day => day(one.at),
            UsageBy::Model => one.model.clone(),
            UsageBy::Session => one.session.to_string(),
        };
        sums.entry(key).or_default().add(one);
    }
    let mut groups: Vec<UsageGroup> =
        sums.into_iter().map(|(key, sum)| UsageGroup { key, name: String::new(), sum }).collect();
    match by {
        UsageBy::Day => groups.reverse(),
        UsageBy::Model | UsageBy::Session => groups.sort_by(|a, b| dearer(&a.sum, &b.sum)),
    }
    groups
}

/// The dearer one first, then the one of more tokens.
fn dearer(a: &Sum, b: &Sum) -> std::cmp::Ordering {
    b.cost_usd.total_cmp(&a.cost_usd).then((b.input + b.output).cmp(&(a.input + a.output)))
}

impl Spending {
    /// Puts records and the sessions' totals together. `day` says the day of an instant, `today` is today's.
    pub fn of(
        all: &[Spent],
        metas: &[SessionMeta],
        session: Option<SessionId>,
        today: &str,
        day: impl Fn(At) -> String,
    ) -> Self {
        let mut out = Self {
            session,
            days: group(all, UsageBy::Day, day),
            models: group(all, UsageBy::Model, no_day),
            ..Self::default()
        };
        all.iter().for_each(|one| out.all.add(one));
        out.today = out.days.iter().find(|group| group.key == today).map(|group| group.sum).unwrap_or_default();
        out.sessions = group(all, UsageBy::Session, no_day);
        let titles: BTreeMap<&str, &SessionMeta> = metas.iter().map(|meta| (meta.id.as_str(), meta)).collect();
        for group in &mut out.sessions {
            if let Some(meta) = titles.get(group.key.as_str()) {
                group.name = meta.shown_title().to_owned();
            }
        }
        out.beyond = beyond(metas, &out.sessions);
        let mut turns: BTreeMap<At, Sum> = BTreeMap::new();
        for one in all.iter().filter(|one| Some(&one.session) == out.session.as_ref()) {
            turns.entry(one.turn.unwrap_or(one.at)).or_default().add(one);
        }
        let turns = turns.into_iter().rev();
        out.turns = turns.map(|(at, sum)| UsageGroup { key: at.0.to_string(), name: String::new(), sum }).collect();
        out
    }
}

fn no_day(_: At) -> String {
    String::new()
}

/// Totals of sessions beyond their records.
#[must_use]
pub fn beyond(metas: &[SessionMeta], recorded: &[UsageGroup]) -> Beyond {
    let known: BTreeMap<&str, &Sum> = recorded.iter().map(|group| (group.key.as_str(), &group.sum)).collect();
    let mut out = Beyond::default();
    for meta in metas {
        let sum = known.get(meta.id.as_str()).copied().copied().unwrap_or_default();
        let output = meta.usage.output_tokens.saturating_sub(sum.output);
        let cost = (meta.usage.cost_usd - sum.cost_usd).max(0.0);
        // Costs are sums of small fractions: what is under a hundredth of a cent is rounding.
        if output > 0 || cost >= 0.000_1 {
            out.sessions += 1;
            out.output = out.output.saturating_add(output);
            out.cost_usd += cost;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;

    fn spent(at: i64, session: &str, model: &str, cost: Option<f64>) -> Spent {
        Spent {
            at: At(at),
            workspace: "/w".into(),
            session: SessionId::parse(session).unwrap(),
            turn: Some(At(at / 10 * 10)),
            connection: ConnectionName::new("c"),
            model: model.to_owned(),
            used: RequestUsage { input: 100, output: 10, cache_read: 40, cache_creation: 0, cache_hour: 0 },
            cost,
        }
    }

    #[test]
    fn requests_add_up_by_day_model_session_and_turn() {
        let all = [
            spent(11, "260101-a-b", "big", Some(0.5)),
            spent(12, "260101-a-b", "small", None),
            spent(25, "260101-c-d", "big", Some(2.0)),
        ];
        let mut meta = SessionMeta::new(SessionId::parse("260101-a-b").unwrap(), At(0), Mode::Ask, "/w".into());
        meta.title = "The title".into();
        meta.usage.output_tokens = 20;
        meta.usage.cost_usd = 0.5;
        let mut other = SessionMeta::new(SessionId::parse("260101-e-f").unwrap(), At(0), Mode::Ask, "/w".into());
        other.usage.output_tokens = 7;
        other.usage.cost_usd = 1.25;
        let day = |at: At| format!("d{}", at.0 / 20);
        let of = Spending::of(&all, &[meta.clone(), other], Some(meta.id.clone()), "d0", day);
        let keys = |groups: &[UsageGroup]| groups.iter().map(|group| group.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&of.days), ["d1", "d0"]);
        assert_eq!(keys(&of.models), ["big", "small"]);
        assert_eq!(keys(&of.sessions), ["260101-c-d", "260101-a-b"]);
        assert_eq!(of.sessions[1].name, "The title");
        assert_eq!(keys(&of.turns), ["10"]);
        assert_eq!((of.today.requests, of.today.unpriced, of.today.cost_usd), (2, 1, 0.5));
        assert_eq!((of.all.requests, of.all.input, of.all.output, of.all.cache_read), (3, 300, 30, 120));
        // Of the first all is recorded, of the other nothing.
        assert_eq!(of.beyond, Beyond { sessions: 1, output: 7, cost_usd: 1.25 });
    }

    #[test]
    fn a_record_is_one_line_and_reads_back() {
        for one in [spent(1, "260101-a-b", "m\n", None), spent(2, "260101-a-b", "m", Some(0.1))] {
            let line = serde_json::to_string(&one).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Spent>(&line).unwrap(), one);
        }
    }
}
