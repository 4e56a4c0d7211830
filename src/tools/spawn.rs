//! `spawn`: a session of its own for one task. The engine runs it; its last answer is the result of the call.

use super::host::{NotDone, Task, WhichModel};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::permission::Mode;
use crate::domain::sanitise::clean_line;
use crate::domain::tool::{CallFacts, Outcome, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Characters of a task.
const LONGEST: usize = 100_000;
/// Characters of a title.
const LONGEST_TITLE: usize = 60;

/// The tool.
pub struct Spawn;

impl Tool for Spawn {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "spawn".to_owned(),
            description: "Spawns a session with a context of its own for one task, and gives back its last answer. Use it for \
                work that would fill your context with what you do not need afterwards (a search through many files, a \
                review, research), and for independent parts: several calls in one response work side by side, 4 at a \
                time. It starts with nothing but the prompt, in your directory, and has your tools except `spawn`; its \
                permission mode is yours or stricter. The user sees it and can open it. Say everything that it needs, what \
                it may change, and what you want to know. With `background` the call returns at once and the answer comes \
                as a message later."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "What it is about, in 3 to 6 words."},
                    "prompt": {"type": "string", "description": "The whole task: what to do, what is known, what to answer."},
                    "mode": {"type": "string", "enum": ["explore", "ask", "execute"], "description": "A stricter permission mode; yours when left out."},
                    "model": {"type": "string", "description": "`small` for the small model, or a model of the connection by its name; yours when left out."},
                    "connection": {"type": "string", "description": "Another connection by its name, only if the user asked for it."},
                    "agent": {"type": "string", "description": "The agent that does it, by its name as the system prompt lists them."},
                    "background": {"type": "boolean", "description": "Do not wait for it."}
                },
                "required": ["title", "prompt"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        // What it does is decided call by call in its own session, so several may work side by side.
        true
    }

    fn subject(&self, input: &Value) -> String {
        match input::subject(input, "title") {
            title if title.is_empty() => input::subject(input, "prompt"),
            title => title,
        }
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        SpawnInput::of(input)?;
        Ok(plain("spawn", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move {
            let call = match SpawnInput::of(&input) {
                Ok(call) => call,
                Err(sentence) => return Ok(Outcome::error(sentence)),
            };
            let task = Task {
                call: with.call.clone(),
                title: call.title,
                prompt: call.prompt,
                mode: call.mode,
                connection: call.connection,
                agent: call.agent,
                model: call.model,
                background: call.background,
                stop: with.stop.clone(),
            };
            match with.host.spawn(task).await {
                Ok(spawned) => {
                    let mut outcome = Outcome::ok(spawned.text);
                    outcome.figures.child = Some(Box::new(spawned.child));
                    Ok(outcome)
                }
                Err(NotDone::Stopped(said)) => Err(RunError::stopped(said)),
                Err(NotDone::Failed { text, child }) => {
                    let text = match &child {
                        Some(child) => format!("The spawned session {} has no answer. {text}", child.session),
                        None => text,
                    };
                    let mut outcome = Outcome::error(text);
                    outcome.figures.child = child.map(Box::new);
                    Ok(outcome)
                }
            }
        })
    }
}

struct SpawnInput {
    title: String,
    prompt: String,
    mode: Option<Mode>,
    model: WhichModel,
    connection: Option<String>,
    agent: Option<String>,
    background: bool,
}

impl SpawnInput {
    fn of(input: &Value) -> Result<Self, String> {
        let fields = InputFields::of("spawn", input)?;
        let prompt = fields.text("prompt")?.trim();
        if prompt.is_empty() {
            return Err("`prompt` is empty. Say the whole task.".to_owned());
        }
        if prompt.chars().count() > LONGEST {
            return Err(format!(
                "`prompt` is longer than {LONGEST} characters. Write what is long to a file and name it."
            ));
        }
        let title = match fields.text_if_any("title")?.map(str::trim).filter(|title| !title.is_empty()) {
            Some(title) => title,
            None => prompt,
        };
        let mode = match fields.text_if_any("mode")?.map(str::trim).filter(|word| !word.is_empty()) {
            None => None,
            Some(word) => Some(Mode::parse(word).ok_or_else(|| {
                format!("The field `mode` of spawn must be explore, ask or execute, but it is {word:?}.")
            })?),
        };
        let model = match fields.text_if_any("model")?.map(str::trim) {
            None | Some("") => WhichModel::Session,
            Some("small") => WhichModel::Small,
            Some(name) => WhichModel::Named(name.to_owned()),
        };
        Ok(Self {
            title: input::one_line(&clean_line(title), LONGEST_TITLE),
            prompt: prompt.to_owned(),
            mode,
            model,
            connection: fields.text_if_any("connection")?.map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned),
            agent: fields.text_if_any("agent")?.map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned),
            background: fields.flag("background")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn a_task_is_read() {
        let call = SpawnInput::of(
            &json!({"prompt": " look\naround ", "mode": "safe", "model": "small", "agent": " reviewer "}),
        )
        .unwrap();
        assert_eq!(call.agent.as_deref(), Some("reviewer"));
        assert_eq!((call.title.as_str(), call.prompt.as_str()), ("look around", "look\naround"));
        assert_eq!((call.mode, call.model), (Some(Mode::Explore), WhichModel::Small));
        let bench = Bench::new();
        let facts = bench.inspect("spawn", &json!({"title": "T", "prompt": "p"})).unwrap();
        assert_eq!((facts.subject.as_str(), facts.touches), ("T", vec![Touch::Inner]));
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        for (input, says) in [
            (json!({"title": "t"}), "needs the field `prompt`"),
            (json!({"prompt": " "}), "`prompt` is empty"),
            (json!({"prompt": "x".repeat(LONGEST + 1)}), "longer than 100000"),
            (json!({"prompt": "x", "mode": "wild"}), "must be explore, ask or execute"),
            (json!({"prompt": "x", "background": "yes"}), "must be true or false"),
            (json!({"prompt": "x"}), "No session can be spawned here"),
        ] {
            let error = bench.error("spawn", input.clone());
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
