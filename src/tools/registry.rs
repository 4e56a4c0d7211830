//! All tools by name, each behind the two checks that hold for every tool: the facts are gathered again right before
//! it runs, and its result is cut to what the model may get.

use super::read_tracker::Seen;
use super::results::{limits, summary};
use super::{CallPlace, RunContext, RunError, StoppedRun, Tool};
use crate::domain::foreign;
use crate::domain::tool::{CallFacts, INTENT, Outcome, ToolSpec, intent};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools that are offered to a model.
#[derive(Clone)]
pub struct Registry(Vec<(String, Arc<dyn Tool>)>);

impl Registry {
    /// The tools that lisle brings along.
    #[must_use]
    pub fn standard() -> Self {
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(super::read::ReadTool),
            Arc::new(super::list::ListTool),
            Arc::new(super::glob::Glob),
            Arc::new(super::grep::Grep),
            Arc::new(super::write::Write),
            Arc::new(super::edit::Edit),
            Arc::new(super::patch::Patch),
            Arc::new(super::bash::Bash),
            Arc::new(super::job_output::JobOutput),
            Arc::new(super::job_output::JobKill),
            Arc::new(super::transform_data::TransformData),
            Arc::new(super::fetch::Fetch::default()),
            Arc::new(super::todo::Todo),
            Arc::new(super::submit_plan::SubmitPlan),
            Arc::new(super::step::StepTool),
            Arc::new(super::ask_user::AskUser),
            Arc::new(super::call_llm::CallLlm),
            Arc::new(super::spawn::Spawn),
            Arc::new(super::sessions::SessionInfo),
            Arc::new(super::sessions::ListSessions),
            Arc::new(super::properties::SetStatus),
            Arc::new(super::properties::SetLabels),
        ];
        Self(Vec::new()).with(tools)
    }

    /// These tools, and more behind them, with the same checks. One whose name is taken is left out.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut tools = self.0.clone();
        for tool in more {
            let name = tool.spec().name;
            if tools.iter().all(|(known, _)| *known != name) {
                tools.push((name, Arc::new(Guarded(tool))));
            }
        }
        Self(tools)
    }

    /// Descriptions of all tools, each with whether it only reads, in the order of [`Registry::specs`].
    #[must_use]
    pub fn offers(&self) -> Vec<(ToolSpec, bool)> {
        self.0.iter().map(|(_, tool)| (tool.spec(), tool.reads_only())).collect()
    }

    /// Descriptions of all tools for a model, always in the same order (prompt caches depend on it).
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.iter().map(|(_, tool)| tool.spec()).collect()
    }

    /// The tool of that name, or the one that other programs call so.
    ///
    /// # Errors
    /// A sentence for the model that names the tools there are.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Tool>, String> {
        let named = |name: &str| self.0.iter().find(|(known, _)| known == name).map(|(_, tool)| Arc::clone(tool));
        named(name).or_else(|| foreign::tool(name).and_then(named)).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
            format!("No tool `{}`. Available: {}.", super::input::one_line(name, 60), names.join(", "))
        })
    }
}

/// A tool with the checks that hold for all.
struct Guarded(Arc<dyn Tool>);

impl Tool for Guarded {
    fn spec(&self) -> ToolSpec {
        let mut spec = self.0.spec();
        let about = "What this call is for, as one short line for the user.";
        if let Some(properties) = spec.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.entry(INTENT).or_insert_with(|| json!({"type": "string", "description": about}));
        }
        spec
    }

    fn reads_only(&self) -> bool {
        self.0.reads_only()
    }

    fn masks_keys(&self) -> bool {
        self.0.masks_keys()
    }

    fn subject(&self, input: &Value) -> String {
        self.0.subject(&foreign::input(&self.0.spec().name, input))
    }

    fn inspect(&self, input: &Value, place: &CallPlace, seen: &Seen) -> Result<CallFacts, String> {
        self.0.inspect(&foreign::input(&self.0.spec().name, input), place, seen)
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        let tool = Arc::clone(&self.0);
        let input = foreign::input(&tool.spec().name, &input).into_owned();
        Box::pin(async move {
            if with.stop.is_cancelled() {
                return Err(RunError::stopped(""));
            }
            let checked = {
                let (tool, input, with) = (Arc::clone(&tool), input.clone(), with.clone());
                let stop = with.stop.clone();
                let checked = tokio::task::spawn_blocking(move || tool.inspect(&input, &with.place, &with.seen));
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Err(RunError::stopped("")),
                    checked = checked => checked,
                }
            };
            match checked {
                Ok(Ok(facts)) if super::same_facts(&facts, &with.facts) => {}
                Ok(Ok(facts)) => return Err(RunError::FactsChanged(Box::new(facts))),
                Ok(Err(sentence)) => return Ok(Outcome::error(sentence)),
                Err(e) => return Ok(Outcome::error(format!("Can't check the call: {e}."))),
            }
            let (name, place) = (tool.spec().name, with.place.clone());
            let (host, stop) = (Arc::clone(&with.host), with.stop.clone());
            let asked = intent(&input);
            let masks = tool.masks_keys() && !limits::was_decided(&with.facts, &place);
            match tool.run(input, with).await {
                Ok(mut outcome) => {
                    let mut fitted = fitted(outcome.text, (name.clone(), masks), place).await;
                    if let (Some(long), Some(asked)) = (fitted.long.take(), asked.filter(|_| summary::helps(&name))) {
                        let summed_up = tokio::select! {
                            () = stop.cancelled() => None,
                            summed_up = summary::of(&long, &name, &asked, &*host) => summed_up,
                        };
                        fitted.text = summed_up.unwrap_or(fitted.text);
                    }
                    outcome.text = fitted.text;
                    outcome.figures.full_result = fitted.full.or(outcome.figures.full_result);
                    Ok(outcome)
                }
                Err(RunError::Stopped(run)) => {
                    let text = fitted(run.text, (name, masks), place).await.text;
                    Err(RunError::Stopped(StoppedRun { text, ..run }))
                }
                Err(changed) => Err(changed),
            }
        })
    }
}

async fn fitted(text: String, (tool, masks): (String, bool), place: CallPlace) -> limits::Fitted {
    let work = move || {
        let text = if masks { limits::without_keys(text) } else { text };
        limits::fit(text, &tool, &place)
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| limits::Fitted {
        text: format!("The result could not be prepared: {e}. Ask for less of it."),
        full: None,
        long: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn every_tool_describes_itself() {
        let specs = Registry::standard().specs();
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "read",
                "list",
                "glob",
                "grep",
                "write",
                "edit",
                "patch",
                "bash",
                "job_output",
                "job_kill",
                "transform_data",
                "fetch",
                "todo",
                "submit_plan",
                "step",
                "ask_user",
                "call_llm",
                "spawn",
                "session_info",
                "list_sessions",
                "set_status",
                "set_labels"
            ]
        );
        let unmasked: Vec<String> =
            Registry::standard().0.into_iter().filter(|(_, tool)| !tool.masks_keys()).map(|(name, _)| name).collect();
        assert_eq!(unmasked, ["fetch", "ask_user"]);
        for spec in &specs {
            assert!(spec.description.len() > 100, "{}", spec.name);
            assert_eq!(spec.schema["type"], "object", "{}", spec.name);
            let properties = spec.schema["properties"].as_object().unwrap();
            for required in spec.schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{}", spec.name);
            }
            for (name, property) in properties {
                assert!(property["description"].is_string() && property["type"].is_string(), "{} {name}", spec.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_gets_the_known_ones() {
        let error = Registry::standard().find("Read\nFile").err().unwrap();
        assert!(error.contains("`Read File`") && error.contains("read, list, glob"), "{error}");
    }

    #[test]
    fn calls_in_the_words_of_other_programs_succeed() {
        let bench = Bench::new();
        bench.write("a", "one\n");
        bench.ok("Read", json!({"file_path": "a"}));
        let edit = json!({"file_path": "a", "old_string": "one", "new_string": "two", "replace_all": false});
        bench.ok("Edit", edit);
        assert_eq!(bench.content("a"), b"two\n");
        bench.ok("write_file", json!({"file_path": "b", "content": "x\n"}));
        assert_eq!(bench.content("b"), b"x\n");
        bench.ok("TodoWrite", json!({"todos": [{"content": "a", "status": "pending", "activeForm": "a"}]}));
        let (names, subject) = (Registry::standard(), json!({"file_path": "a"}));
        assert_eq!(names.find("Read").unwrap().subject(&subject), "a");
        assert!(names.find("exec_command").is_ok() && names.find("nothing").is_err());
    }

    #[test]
    fn every_tool_refuses_what_is_no_object_and_has_a_subject_for_it() {
        let bench = Bench::new();
        let registry = Registry::standard();
        for spec in registry.specs() {
            let tool = registry.find(&spec.name).unwrap();
            for input in
                [json!(null), json!([]), json!("x"), json!({"_raw": "{\"pa"}), json!({"path": 1, "pattern": 1})]
            {
                tool.subject(&input);
                let error = tool.inspect(&input, &bench.place, &bench.seen);
                if !["list", "session_info", "list_sessions"].contains(&spec.name.as_str())
                    || !input.is_object()
                    || input.get("_raw").is_some()
                {
                    assert!(error.as_ref().is_err_and(|e| e.ends_with('.')), "{} {input}: {error:?}", spec.name);
                }
            }
        }
    }

    #[test]
    fn facts_that_changed_end_the_call() {
        let bench = Bench::new();
        bench.write("a", "x");
        bench.write(".env", "SECRET=1");
        let facts = bench.inspect("read", &json!({"path": "a"})).unwrap();
        std::fs::remove_file(bench.place.cwd.join("a")).unwrap();
        std::os::unix::fs::symlink(".env", bench.place.cwd.join("a")).unwrap();
        match bench.run_with("read", json!({"path": "a"}), facts) {
            Err(RunError::FactsChanged(now)) => assert!(format!("{now:?}").contains("secret: true"), "{now:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_in_a_result_are_masked_unless_the_call_was_decided_on_as_one_that_shows_them() {
        let bench = Bench::new();
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9");
        bench.write("src/a.py", format!("KEY = \"{token}\"\nHOST = \"https://me:hunter22@example.com/x\"\n"));
        bench.write(".env", format!("KEY={token}\n"));
        for (tool, input) in [
            ("read", json!({"path": "src/a.py"})),
            ("grep", json!({"pattern": "KEY|HOST"})),
            ("grep", json!({"pattern": "KEY|HOST", "path": "src/a.py"})),
        ] {
            let text = bench.ok(tool, input).text;
            assert!(text.contains("KEY = \"ghp_***\"") && text.contains("https://me:***@example.com/x"), "{text}");
            assert!(text.contains("2 keys or passwords shown as ***"), "{text}");
        }
        assert!(bench.ok("read", json!({"path": ".env"})).text.contains(&token));
        bench.write("plain.py", "KEY = os.environ[\"KEY\"]\npassword = \"x1y2z3\"\n");
        assert!(!bench.ok("read", json!({"path": "plain.py"})).text.contains("***"));
    }

    #[test]
    fn long_results_are_spilled_and_told() {
        let bench = Bench::new();
        bench.write("long", "some words of text\n".repeat(2_000).repeat(2));
        let outcome = bench.ok("read", json!({"path": "long", "limit": 4000}));
        let full = outcome.figures.full_result.unwrap();
        assert!(std::fs::read_to_string(full).unwrap().contains("4000\tsome words"));
        assert!(outcome.text.len() < 50_000);
    }

    #[test]
    fn a_stopped_turn_starts_nothing() {
        let bench = Bench::new();
        bench.write("a", "x");
        bench.stop.cancel();
        let facts = bench.inspect("read", &json!({"path": "a"})).unwrap();
        assert_eq!(bench.run_with("read", json!({"path": "a"}), facts), Err(RunError::stopped("")));
    }

    /// Tool whose look at a call lasts until it is let go.
    struct SlowLook {
        came: std::sync::mpsc::Sender<()>,
        go: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
        ran: std::sync::atomic::AtomicBool,
    }

    impl Tool for SlowLook {
        fn spec(&self) -> ToolSpec {
            super::super::read::ReadTool.spec()
        }

        fn reads_only(&self) -> bool {
            true
        }

        fn subject(&self, _: &Value) -> String {
            String::new()
        }

        fn inspect(&self, _: &Value, _: &CallPlace, _: &Seen) -> Result<CallFacts, String> {
            self.came.send(()).unwrap();
            let _ = self.go.lock().unwrap().recv();
            Err("looked".to_owned())
        }

        fn run(&self, _: Value, _: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
            self.ran.store(true, std::sync::atomic::Ordering::SeqCst);
            Box::pin(async { Ok(Outcome::ok("ran".to_owned())) })
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_stops_a_call_while_it_is_looked_at_waits_for_nothing_and_starts_nothing() {
        let bench = Bench::new();
        bench.write("a", "x");
        let ((came, here), (go, held)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
        let slow = Arc::new(SlowLook { came, go: std::sync::Mutex::new(held), ran: false.into() });
        let (progress, _shown) = tokio::sync::mpsc::channel(8);
        let with = RunContext {
            sandbox: crate::domain::permission::Sandbox::None,
            place: bench.place.clone(),
            facts: bench.inspect("read", &json!({"path": "a"})).unwrap(),
            seen: Arc::clone(&bench.seen),
            stop: bench.stop.clone(),
            call: crate::domain::ids::CallId::new("call-1"),
            progress,
            jobs: Arc::default(),
            host: bench.host.clone(),
        };
        let call = tokio::spawn(Guarded(slow.clone()).run(json!({"path": "a"}), with));
        tokio::task::spawn_blocking(move || here.recv().unwrap()).await.unwrap();
        bench.stop.cancel();
        let ended = tokio::time::timeout(std::time::Duration::from_secs(30), call).await;
        assert_eq!(ended.expect("it waited for the look").unwrap(), Err(RunError::stopped("")));
        go.send(()).unwrap();
        assert!(!slow.ran.load(std::sync::atomic::Ordering::SeqCst));
    }
}
