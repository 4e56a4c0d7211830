//! List of routes: the reference's JSON, and lines for people.

#[cfg(test)]
mod tests;

use super::key::{AgentId, KeyNames, SessionKey, SessionKind};
use super::row::{SessionRow, StoredRow};
use super::words::{age, short_key, tokens};
use crate::domain::ids::At;
use crate::domain::sanitise;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Keys of a row that are listed if the row has them, in their order.
const LISTED: [&str; 13] = [
    "systemSent",
    "abortedLastRun",
    "thinkingLevel",
    "verboseLevel",
    "reasoningLevel",
    "elevatedLevel",
    "responseUsage",
    "groupActivation",
    "inputTokens",
    "outputTokens",
    "modelProvider",
    "providerOverride",
    "modelOverride",
];

/// Route with its row.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRoute {
    /// Agent that the store belongs to.
    pub agent: AgentId,
    /// Key as stored.
    pub key: String,
    /// Kind.
    pub kind: SessionKind,
    /// Row.
    pub row: SessionRow,
}

/// Routes of one or several stores, latest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteList {
    /// Stores with their agents.
    pub stores: Vec<(AgentId, PathBuf)>,
    /// Routes.
    pub routes: Vec<ListedRoute>,
    /// Keys of rows that can't be read.
    pub damaged: Vec<String>,
}

impl RouteList {
    /// Adds the rows of a store. Runs of scheduled jobs are left out.
    pub fn add<'a>(
        &mut self,
        agent: &AgentId,
        path: PathBuf,
        names: &KeyNames,
        rows: impl Iterator<Item = (&'a str, StoredRow)>,
    ) {
        self.stores.push((agent.clone(), path));
        for (text, row) in rows {
            let key = SessionKey::resolve(text, agent, names);
            match row {
                StoredRow::Row(_) if key.as_ref().is_ok_and(SessionKey::is_run) => {}
                StoredRow::Row(row) => {
                    let kind = key.map_or(SessionKind::Direct, |key| key.kind(row.place.chat_type));
                    self.routes.push(ListedRoute { agent: agent.clone(), key: text.to_owned(), kind, row: *row });
                }
                StoredRow::Unreadable(_) => self.damaged.push(text.to_owned()),
            }
        }
        self.routes.sort_by(|a, b| b.row.updated_at.cmp(&a.row.updated_at).then_with(|| a.key.cmp(&b.key)));
    }

    /// The list as JSON.
    #[must_use]
    pub fn json(&self, now: At) -> Value {
        let mut out = Map::new();
        match self.stores.as_slice() {
            [(_, path)] => drop(out.insert("path".to_owned(), json!(path))),
            stores => {
                let stores: Vec<Value> =
                    stores.iter().map(|(agent, path)| json!({"agentId": agent.as_str(), "path": path})).collect();
                out.extend([("path".to_owned(), Value::Null), ("stores".to_owned(), stores.into())]);
                out.insert("allAgents".to_owned(), true.into());
            }
        }
        out.insert("count".to_owned(), self.routes.len().into());
        out.insert("activeMinutes".to_owned(), Value::Null);
        out.insert("sessions".to_owned(), self.routes.iter().map(|route| route.json(now)).collect());
        Value::Object(out)
    }

    /// The list in lines. Several stores have a column for the agent.
    #[must_use]
    pub fn lines(&self, now: At) -> Vec<String> {
        let several = self.stores.len() != 1;
        let mut lines = match self.stores.as_slice() {
            [(_, path)] => vec![format!("Session store: {}", path.display())],
            stores => {
                let agents: Vec<&str> = stores.iter().map(|(agent, _)| agent.as_str()).collect();
                vec![format!("Session stores: {} ({})", stores.len(), agents.join(", "))]
            }
        };
        lines.push(format!("Sessions listed: {}", self.routes.len()));
        if self.routes.is_empty() {
            lines.push("No sessions found.".to_owned());
            return lines;
        }
        let agent = |name: &str| if several { format!("{name:<10} ") } else { String::new() };
        let head = ["Kind", "Key", "Age", "Model", "Tokens (ctx %)", "Flags"];
        lines.push(format!("{}{}", agent("Agent"), table_line(&head.map(str::to_owned))));
        lines.extend(self.routes.iter().map(|route| format!("{}{}", agent(route.agent.as_str()), route.line(now))));
        lines
    }
}

/// Cells in their columns.
fn table_line([kind, key, age, model, tokens, flags]: &[String; 6]) -> String {
    format!("{kind:<6} {key:<26} {age:<9} {model:<14} {tokens:<20} {flags}").trim_end().to_owned()
}

impl ListedRoute {
    fn json(&self, now: At) -> Value {
        let row = serde_json::to_value(&self.row).unwrap_or_default();
        let counters = &self.row.conversation.counters;
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
        put("key", self.key.as_str().into());
        put("updatedAt", json!(self.row.updated_at));
        put("ageMs", json!(self.row.updated_at.map(|at| now.since(at))));
        put("sessionId", self.row.conversation.session_id.as_str().into());
        for key in LISTED {
            if let Some(value) = row.get(key) {
                put(key, value.clone());
            }
        }
        put("totalTokens", json!(self.row.total_tokens()));
        put("totalTokensFresh", self.row.total_tokens().is_some().into());
        put("model", json!(self.row.shown_model()));
        put("contextTokens", json!(counters.context_tokens));
        put("agentId", self.agent.as_str().into());
        put("kind", json!(self.kind));
        Value::Object(out)
    }

    fn line(&self, now: At) -> String {
        let kind = match self.kind {
            SessionKind::Global => "global",
            SessionKind::Unknown => "unknown",
            SessionKind::Group => "group",
            SessionKind::Direct => "direct",
        };
        let clean = |text: &str| sanitise::clean_line(text).into_owned();
        table_line(&[
            kind.to_owned(),
            short_key(&clean(&self.key)),
            age(now, self.row.updated_at),
            clean(self.row.shown_model().unwrap_or("-")),
            self.tokens(),
            clean(&self.flags().join(" ")),
        ])
    }

    /// Tokens in the context, of the window: `12k/200k (6%)`.
    fn tokens(&self) -> String {
        let window = self.row.conversation.counters.context_tokens.filter(|window| *window > 0);
        let of = window.map_or_else(|| "?".to_owned(), tokens);
        match (self.row.total_tokens(), window) {
            (None, None) => "-".to_owned(),
            (None, Some(_)) => format!("unknown/{of} (?%)"),
            (Some(total), None) => format!("{}/{of} (?%)", tokens(total)),
            (Some(total), Some(window)) => {
                let percent = (u128::from(total) * 200 / u128::from(window)).div_ceil(2).min(999);
                format!("{}/{of} ({percent}%)", tokens(total))
            }
        }
    }

    fn flags(&self) -> Vec<String> {
        let row = serde_json::to_value(&self.row).unwrap_or_default();
        let named = [
            ("think", "thinkingLevel"),
            ("verbose", "verboseLevel"),
            ("reasoning", "reasoningLevel"),
            ("elev", "elevatedLevel"),
            ("usage", "responseUsage"),
            ("activation", "groupActivation"),
        ];
        let value = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut flags: Vec<String> =
            named.iter().filter_map(|(word, key)| Some(format!("{word}:{}", value(key)?))).collect();
        let run = &self.row.conversation.run;
        let marks = [(run.system_sent, "system"), (run.aborted_last_run, "aborted")];
        flags.extend(marks.iter().filter(|(on, _)| *on == Some(true)).map(|(_, word)| (*word).to_owned()));
        flags.push(format!("id:{}", self.row.conversation.session_id.as_str()));
        flags
    }
}
