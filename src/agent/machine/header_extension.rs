//! lisle's own data of a session, as it stands beside the header.

use crate::domain::ids::{ConnectionName, RequestId};
use crate::domain::persona::Persona;
use crate::domain::plan::Progress;
use crate::domain::prompt_text::Preamble;
use crate::domain::request::PlanReview;
use crate::domain::rule::Rule;
use crate::domain::tool::TodoItem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// lisle's own data of a session, kept beside the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HeaderExtension {
    /// The plan that waits for its answer.
    pub plan: Option<PendingPlan>,
    /// The plan that was approved, and how far it is.
    pub progress: Option<Progress>,
    /// The agent's todo list.
    pub todo: Vec<TodoItem>,
    /// Answers that hold for this session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// The files, by their SHA-256, that the user does not want to trust from this session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_trusted: Vec<String>,
    /// The connections that stand in for those that are not configured here, by the name of these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub connections: BTreeMap<ConnectionName, ConnectionName>,
    /// The connection that the session's model was chosen for, where it was chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_for: Option<ConnectionName>,
    /// Prompts stay long in the vendor's cache; `None` for what the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_prompt_cache: Option<bool>,
    /// Tools are told to the model in full; `None` for what the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rich_tool_descriptions: Option<bool>,
    /// The model is offered no tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_tools: bool,
    /// Context and strategy of the session.
    #[serde(skip_serializing_if = "Preamble::is_empty")]
    pub preamble: Preamble,
    /// Sources that were switched on or off in this session, by slug.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, bool>,
    /// The agent that the session is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// Fields of a newer version, unchanged.
    #[serde(flatten)]
    pub other: serde_json::Map<String, Value>,
}

impl HeaderExtension {
    /// Reads the stored data; a part that this version cannot read is left out, the rest is kept.
    #[must_use]
    pub fn read(stored: Value) -> Self {
        let Value::Object(mut other) = stored else { return Self::default() };
        let plan = other.remove("plan").and_then(|plan| serde_json::from_value(plan).ok()).flatten();
        let progress = other.remove("progress").and_then(|progress| serde_json::from_value(progress).ok()).flatten();
        let todo = other.remove("todo").and_then(|todo| serde_json::from_value(todo).ok()).unwrap_or_default();
        let mut list = |key: &str| match other.remove(key) {
            Some(Value::Array(all)) => all,
            _ => Vec::new(),
        };
        // What was kept is as narrow as it was answered: an allow that can no longer be read whole is not kept.
        let rules = list("rules").into_iter().filter_map(|rule| serde_json::from_value::<Rule>(rule).ok());
        let rules = rules.filter(|rule| rule.fault().is_none()).collect();
        let not_trusted = list("notTrusted").into_iter().filter_map(|hash| hash.as_str().map(str::to_owned)).collect();
        let connections = match other.remove("connections") {
            Some(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let named =
            |(theirs, ours): (String, Value)| Some((ConnectionName::new(theirs), ConnectionName::new(ours.as_str()?)));
        let connections = connections.into_iter().filter_map(named).collect();
        let model_for = other.remove("modelFor").and_then(|name| Some(ConnectionName::new(name.as_str()?)));
        let mut switch = |key: &str| other.remove(key).and_then(|on| on.as_bool());
        let (extended_prompt_cache, rich_tool_descriptions) =
            (switch("extendedPromptCache"), switch("richToolDescriptions"));
        let no_tools = switch("noTools").unwrap_or_default();
        let sources =
            other.remove("sources").and_then(|sources| serde_json::from_value(sources).ok()).unwrap_or_default();
        let preamble =
            other.remove("preamble").and_then(|preamble| serde_json::from_value(preamble).ok()).unwrap_or_default();
        let persona = other.remove("persona").and_then(|persona| serde_json::from_value(persona).ok()).flatten();
        Self {
            plan,
            progress,
            todo,
            rules,
            not_trusted,
            connections,
            model_for,
            extended_prompt_cache,
            rich_tool_descriptions,
            no_tools,
            preamble,
            sources,
            persona,
            other,
        }
    }
}

/// A plan that waits for its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPlan {
    /// The request's id.
    pub request: RequestId,
    /// The plan.
    pub review: PlanReview,
}
