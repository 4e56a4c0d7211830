//! `call_llm`: a question to a model, without tools and without the conversation. Files go along by their paths.

use super::files::{self, classify, paths, reach, text};
use super::host::{Completion, WhichModel};
use super::input::{self, InputFields};
use super::json_schema::Schema;
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, read, still};
use crate::domain::tool::{CallFacts, Outcome, Proposal, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Files that go along.
const MOST_FILES: usize = 20;
/// Characters of one file that go along.
const LONGEST_FILE: usize = 200_000;
/// Characters of a prompt, and of all attached files.
const LONGEST: usize = 400_000;
/// Time limit of the model.
const PATIENCE: Duration = Duration::from_secs(120);

const SYSTEM: &str = "You answer one question, without tools and without any conversation before it. Use what stands in the \
    question and in its files. Where that is not enough, say what is missing. Answer briefly and to the point.";

/// The tool.
pub struct CallLlm;

impl Tool for CallLlm {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "call_llm".to_owned(),
            description: "Asks a model one question, without tools and without this conversation, and gives back its answer. \
                Good for what needs reading but no work: summing up, sorting, extracting, judging many alike things (several \
                calls in one response run side by side). Up to 20 text files go along by their paths, 200,000 characters \
                of each and 400,000 of all. It asks the small model unless `model` says otherwise. With `schema` the answer \
                is JSON of that shape, which is checked."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "prompt": {"type": "string", "description": "The question, with all that is needed to answer it."},
                    "files": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_FILES, "description": "Text files that go along."},
                    "model": {"type": "string", "description": "`small`, `own` for the model of this session, or a model of the connection by its name; the small one when left out."},
                    "schema": {"type": "object", "description": "A JSON schema that the answer must fit."}
                },
                "required": ["prompt"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "prompt")
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        Ok(facts(&CallLlmInput::of(input, place)?, self.subject(input), place))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move {
            let prepared = {
                let (input, with) = (input.clone(), with.clone());
                tokio::task::spawn_blocking(move || prepare(&input, &with)).await
            };
            let (call, text) = match prepared {
                Ok(Ok(prepared)) => prepared,
                Ok(Err(Halt::Says(sentence))) => return Ok(Outcome::error(sentence)),
                Ok(Err(Halt::Run(error))) => return Err(error),
                Err(error) => return Ok(Outcome::error(format!("Can't read the files: {error}."))),
            };
            let stop = with.stop.clone();
            tokio::select! {
                outcome = ask(call, text, &with) => Ok(outcome.unwrap_or_else(Outcome::error)),
                () = stop.cancelled() => Err(RunError::stopped("")),
            }
        })
    }
}

/// Facts about the call: every attached file.
fn facts(call: &CallLlmInput, subject: String, place: &CallPlace) -> CallFacts {
    let mut touches: Vec<Touch> = call.files.iter().map(|path| classify::reading(path.clone(), place)).collect();
    if touches.is_empty() {
        touches.push(Touch::Inner);
    }
    CallFacts {
        tool: "call_llm".to_owned(),
        subject,
        touches,
        proposal: Proposal::Plain,
        secrets_here: false,
        left_out: Vec::new(),
    }
}

struct CallLlmInput {
    prompt: String,
    files: Vec<PathBuf>,
    model: WhichModel,
    schema: Option<Schema>,
}

impl CallLlmInput {
    fn of(input: &Value, place: &CallPlace) -> Result<Self, String> {
        let fields = InputFields::of("call_llm", input)?;
        let prompt = fields.text("prompt")?.trim();
        if prompt.is_empty() {
            return Err("`prompt` is empty. Ask something.".to_owned());
        }
        if prompt.chars().count() > LONGEST {
            return Err(format!("`prompt` is longer than {LONGEST} characters. Ask for less at once."));
        }
        let list = fields.list_if_any("files")?.unwrap_or_default();
        if list.len() > MOST_FILES {
            return Err(format!("`files` names {} files; at most {MOST_FILES} go along.", list.len()));
        }
        let mut files = Vec::new();
        for item in list {
            let Some(name) = item.as_str() else { return Err("Every entry of `files` must be a path.".to_owned()) };
            let path = paths::resolve(name, place)?;
            match files::look(&path) {
                Ok(meta) if meta.is_dir() => {
                    return Err(read::explain(files::FileError::Directory(path.clone()), &path, place));
                }
                Ok(_) => match reach::fault(&path, "call_llm", place) {
                    Some(why) => return Err(why),
                    None => files.push(path),
                },
                Err(error) => return Err(read::explain(error, &path, place)),
            }
        }
        let model = match fields.text_if_any("model")?.map(str::trim) {
            None | Some("" | "small") => WhichModel::Small,
            Some("own") => WhichModel::Session,
            Some(name) => WhichModel::Named(name.to_owned()),
        };
        let schema = input.get("schema").filter(|schema| !schema.is_null()).cloned();
        let schema = schema.map(Schema::new).transpose();
        let schema = schema.map_err(|why| format!("The field `schema` of call_llm must be a JSON Schema: {why}."))?;
        Ok(Self { prompt: prompt.to_owned(), files, model, schema })
    }
}

/// Reads the files and writes the question.
fn prepare(input: &Value, with: &RunContext) -> Result<(CallLlmInput, String), Halt> {
    let place = &with.place;
    let call = CallLlmInput::of(input, place)?;
    still(facts(&call, with.facts.subject.clone(), place), with)?;
    let mut out = String::new();
    let mut left = LONGEST.saturating_sub(call.prompt.chars().count());
    for path in &call.files {
        let shown = paths::shown(path, place);
        let loaded = files::load(path).map_err(|error| read::explain(error, path, place))?;
        if classify::holds_secret(path, &loaded, place) {
            // The open file counts, whatever had its name a moment ago.
            let mut now = facts(&call, with.facts.subject.clone(), place);
            for touch in &mut now.touches {
                if let Touch::Read { path: of, secret } = touch
                    && of == path
                {
                    *secret = true;
                }
            }
            still(now, with)?;
        }
        let (content, _) = text::decode(&loaded.bytes)
            .map_err(|kind| format!("{shown} is {kind} ({}), not text.", text::size(loaded.bytes.len() as u64)))?;
        let shown_as_is = super::results::limits::was_decided(&with.facts, place);
        let content = if shown_as_is { content } else { super::results::limits::without_keys(content) };
        let whole = content.chars().count();
        let most = LONGEST_FILE.min(left);
        let part: String = content.chars().take(most).collect();
        left = left.saturating_sub(whole.min(most));
        let cut = if whole > most { format!(" cut=\"{most} of {whole} characters\"") } else { String::new() };
        out.push_str(&format!("<file path=\"{shown}\"{cut}>\n{part}\n</file>\n\n"));
    }
    out.push_str(&call.prompt);
    Ok((call, out))
}

async fn ask(call: CallLlmInput, text: String, with: &RunContext) -> Result<Outcome, String> {
    let question =
        |text: String| Completion { model: call.model.clone(), system: SYSTEM.to_owned(), text, patience: PATIENCE };
    let Some(schema) = &call.schema else {
        let answer = with.host.complete(question(text)).await?;
        return if answer.is_empty() { Err("The model gave no answer.".to_owned()) } else { Ok(Outcome::ok(answer)) };
    };
    let asked = format!("{text}\n\nAnswer with JSON alone, no other word, that fits this JSON schema:\n{schema}");
    let first = with.host.complete(question(asked.clone())).await?;
    let fault = match fitting(&first, schema) {
        Ok(value) => return Ok(Outcome::ok(value)),
        Err(fault) => fault,
    };
    // Told what was wrong, models mostly get it right.
    let again = format!("{asked}\n\nYour answer before was:\n{first}\n\nThat does not fit: {fault}. Answer again.");
    let second = with.host.complete(question(again)).await?;
    fitting(&second, schema).map(Outcome::ok).map_err(|fault| {
        format!("The answer does not fit the schema, also at the second try: {fault}. It was:\n{second}")
    })
}

/// The JSON in an answer, if it fits.
fn fitting(answer: &str, schema: &Schema) -> Result<String, String> {
    let bare = answer.rsplit_once("</think>").map_or(answer, |(_, after)| after).trim();
    let inside = bare.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let bare = inside.and_then(|inside| inside.split_once('\n')).map_or(bare, |(_, body)| body.trim());
    let value: Value = serde_json::from_str(bare).map_err(|error| format!("not valid JSON ({error})"))?;
    match schema.fault(&value) {
        None => Ok(value.to_string()),
        Some(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn files_are_what_it_touches_and_secrets_among_them_are_seen() {
        let bench = Bench::new();
        bench.write("a.txt", "x");
        bench.write(".env", "KEY=1");
        let facts = bench.inspect("call_llm", &json!({"prompt": "p", "files": ["a.txt", ".env"]})).unwrap();
        let secrets: Vec<bool> =
            facts.touches.iter().map(|touch| matches!(touch, Touch::Read { secret: true, .. })).collect();
        assert_eq!(secrets, [false, true]);
        assert_eq!(bench.inspect("call_llm", &json!({"prompt": "p"})).unwrap().touches, [Touch::Inner]);
    }

    #[test]
    fn json_is_taken_out_of_an_answer_and_checked() {
        let schema = Schema::new(json!({"type": "object", "required": ["n"]})).unwrap();
        for good in ["{\"n\": 1}", "```json\n{\"n\":1}\n```", "<think>hm</think> {\"n\":1}"] {
            assert_eq!(fitting(good, &schema).as_deref(), Ok("{\"n\":1}"), "{good}");
        }
        assert!(fitting("n is 1", &schema).unwrap_err().contains("not valid JSON"));
        assert!(fitting("{}", &schema).unwrap_err().contains("\"n\""));
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        bench.write("a.txt", "x");
        for (input, says) in [
            (json!({}), "needs the field `prompt`"),
            (json!({"prompt": ""}), "`prompt` is empty"),
            (json!({"prompt": "x", "files": ["b.txt"]}), "b.txt does not exist"),
            (json!({"prompt": "x", "files": ["."]}), "is a directory"),
            (json!({"prompt": "x", "files": [1]}), "must be a path"),
            (json!({"prompt": "x", "files": vec!["a.txt"; 21]}), "at most 20"),
            (json!({"prompt": "x", "schema": "y"}), "must be a JSON Schema"),
            (json!({"prompt": "x"}), "No model available"),
        ] {
            let error = bench.error("call_llm", input.clone());
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
