//! `ask_user`: a question to the user. The engine shows it and makes the answer the call's result.

use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::request::AgentQuestion;
use crate::domain::tool::{CallFacts, Outcome, Then, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Options at the most.
const MOST_OPTIONS: usize = 9;
/// Characters of a question.
const LONGEST: usize = 4_000;

/// The tool.
pub struct AskUser;

impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_user".to_owned(),
            description:
                "Asks the user one question and waits for the answer, which is the result. Use it when the work \
                cannot go on without a choice that only the user can make, not for what can be found out or for \
                permission to run a tool. Give up to 9 options where there are some; the user can always answer in own \
                words."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "description": "The question, with what is needed to answer it."},
                    "options": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_OPTIONS, "description": "Answers to choose from, the best one first."}
                },
                "required": ["question"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        // Questions are asked one after the other.
        false
    }

    fn masks_keys(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "question")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        call(input)?;
        Ok(plain("ask_user", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move {
            Ok(match call(&input) {
                Err(sentence) => Outcome::error(sentence),
                Ok((text, options)) => Outcome {
                    then: Then::Ask(AgentQuestion { call: with.call, text, options }),
                    ..Outcome::ok("The question is with the user.")
                },
            })
        })
    }
}

fn call(input: &Value) -> Result<(String, Vec<String>), String> {
    let fields = InputFields::of("ask_user", input)?;
    let question = fields.text("question")?.trim();
    if question.is_empty() {
        return Err("`question` is empty. Ask something.".to_owned());
    }
    if question.chars().count() > LONGEST {
        return Err(format!("`question` is longer than {LONGEST} characters. Ask a shorter one."));
    }
    let list = fields.list_if_any("options")?.unwrap_or_default();
    if list.len() > MOST_OPTIONS {
        return Err(format!("`options` holds {} entries; at most {MOST_OPTIONS} can be shown.", list.len()));
    }
    let mut options = Vec::new();
    for (index, option) in list.iter().enumerate() {
        match option.as_str().map(|text| input::one_line(text, 200)) {
            Some(text) if !text.is_empty() => options.push(text),
            _ => return Err(format!("Option {} of `options` must be a text that is not empty.", index + 1)),
        }
    }
    Ok((question.to_owned(), options))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::domain::ids::CallId;

    #[test]
    fn the_question_goes_to_the_engine() {
        let bench = Bench::new();
        let outcome = bench.ok("ask_user", json!({"question": "Which?\n", "options": ["a", " b\nc "]}));
        assert_eq!(
            outcome.then,
            Then::Ask(AgentQuestion {
                call: CallId::new("call-1"),
                text: "Which?".into(),
                options: vec!["a".into(), "b c".into()]
            })
        );
        assert!(matches!(bench.ok("ask_user", json!({"question": "Why?", "options": null})).then, Then::Ask(_)));
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        for (input, says) in [
            (json!({}), "needs the field `question`"),
            (json!({"question": " "}), "`question` is empty"),
            (json!({"question": "x".repeat(4_001)}), "longer than 4000"),
            (json!({"question": "x", "options": "y"}), "must be a list"),
            (json!({"question": "x", "options": [""]}), "Option 1"),
            (json!({"question": "x", "options": vec!["y"; 10]}), "at most 9"),
        ] {
            let error = bench.error("ask_user", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
