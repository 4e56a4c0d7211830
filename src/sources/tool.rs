//! A tool of a source, as any other tool: facts before the decision, then the call.

use super::definition::Definition;
use super::outcome;
use super::server::{CallFault, Server};
use crate::domain::tool::{CallFacts, INTENT, Outcome, Proposal, ToolSpec, Touch};
use crate::tools::input::{InputFields, one_line};
use crate::tools::read_tracker::Seen;
use crate::tools::{CallPlace, RunContext, RunError, Tool};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Characters of the arguments in a tool line.
const LONGEST_SUBJECT: usize = 200;

/// A tool of a source.
pub struct SourceTool {
    server: Arc<Server>,
    /// The definition that models were told.
    offered: Definition,
}

impl SourceTool {
    /// The tool of this definition.
    #[must_use]
    pub fn new(server: Arc<Server>, offered: Definition) -> Self {
        Self { server, offered }
    }

    fn arguments(&self, input: &Value) -> Result<Map<String, Value>, String> {
        InputFields::of(&self.offered.spec.name, input)?;
        let mut arguments = input.as_object().cloned().unwrap_or_default();
        // Asked for by lisle, unless the tool has a field of that name.
        if self.offered.spec.schema.get("properties").is_none_or(|fields| fields.get(INTENT).is_none()) {
            arguments.remove(INTENT);
        }
        Ok(arguments)
    }
}

impl Tool for SourceTool {
    fn spec(&self) -> ToolSpec {
        self.offered.spec.clone()
    }

    fn reads_only(&self) -> bool {
        self.offered.read_only
    }

    fn subject(&self, input: &Value) -> String {
        match self.arguments(input) {
            Ok(arguments) if arguments.is_empty() => String::new(),
            Ok(arguments) => one_line(&Value::Object(arguments).to_string(), LONGEST_SUBJECT),
            Err(_) => String::new(),
        }
    }

    fn inspect(&self, input: &Value, _: &CallPlace, _: &Seen) -> Result<CallFacts, String> {
        let arguments = self.arguments(input)?;
        let slug = &self.server.source().slug;
        // A server that is being started again is waited for by the call.
        let now = self.server.definition(&self.offered.remote).unwrap_or_else(|| self.offered.clone());
        Ok(CallFacts {
            tool: self.offered.spec.name.clone(),
            subject: self.subject(input),
            touches: vec![Touch::Source {
                source: slug.clone(),
                tool: now.remote.clone(),
                read_only: now.read_only,
                definition: now.digest,
            }],
            proposal: Proposal::SourceCall {
                source: slug.clone(),
                tool: now.remote,
                arguments: serde_json::to_string_pretty(&arguments).unwrap_or_default(),
            },
            secrets_here: false,
            left_out: Vec::new(),
        })
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        let (server, remote) = (Arc::clone(&self.server), self.offered.remote.clone());
        let arguments = self.arguments(&input);
        Box::pin(async move {
            let arguments = match arguments {
                Ok(arguments) => arguments,
                Err(sentence) => return Ok(Outcome::error(sentence)),
            };
            with.before_changing()?;
            let decided = with.facts.touches.iter().find_map(|touch| match touch {
                Touch::Source { definition, .. } => Some(definition.clone()),
                _ => None,
            });
            let digest = decided.unwrap_or_default();
            match server.call((&remote, &digest), arguments, &with.progress, &with.stop).await {
                Ok(result) => {
                    let (place, name) = (with.place.clone(), remote);
                    let made = tokio::task::spawn_blocking(move || outcome::of(result, &name, &place)).await;
                    let mut made =
                        made.unwrap_or_else(|error| Outcome::error(format!("Can't read the result: {error}.")));
                    made.text = server.hidden(&made.text);
                    Ok(made)
                }
                Err(CallFault::Stopped) => Err(RunError::stopped("The server was told to stop; it may have done it.")),
                Err(CallFault::Failed(sentence)) => Ok(Outcome::error(sentence)),
            }
        })
    }
}
