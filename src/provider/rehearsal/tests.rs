//! Whole conversations with the rehearsal, with an engine played by a few lines.

use super::*;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::provider::{CallResult, ProposedCall, Reply};
use serde_json::{Value, json};

const TOOLS: [&str; 9] = ["read", "list", "grep", "bash", "write", "edit", "ask_user", "submit_plan", "todo"];

fn request(items: Vec<ConversationItem>, tools: &[&str]) -> ModelRequest {
    let tools = tools
        .iter()
        .map(|&name| ToolSpec {
            name: name.into(),
            description: String::new(),
            schema: match name {
                "edit" => json!({"type": "object", "properties": {"path": {}, "edits": {"type": "array"}}}),
                _ => json!({"type": "object"}),
            },
        })
        .collect();
    ModelRequest { model: MODEL.into(), system: "system".into(), items, tools, thinking: ThinkingLevel::Medium }
}

async fn respond(rehearsal: &Rehearsal, request: ModelRequest) -> Vec<Result<Chunk, ProviderError>> {
    rehearsal.stream(request).collect().await
}

/// Reply that the chunks add up to.
fn reply(chunks: &[Result<Chunk, ProviderError>]) -> (Reply, Option<Stop>) {
    let mut reply = Reply::default();
    let mut stop = None;
    for chunk in chunks {
        match chunk.as_ref().unwrap() {
            Chunk::Text(text) => reply.text.push_str(text),
            Chunk::Call(call) => reply.calls.push(call.clone()),
            Chunk::Stopped(why) => stop = Some(why.clone()),
            _ => {}
        }
    }
    (reply, stop)
}

/// Plays the engine until the rehearsal is done or has submitted a plan. Returns the calls and the last text.
async fn converse(
    items: &mut Vec<ConversationItem>,
    tools: &[&str],
    mut result: impl FnMut(usize, &ProposedCall) -> Result<String, String>,
) -> (Vec<ProposedCall>, String) {
    let rehearsal = Rehearsal::new(Duration::ZERO);
    let mut calls: Vec<ProposedCall> = Vec::new();
    for _ in 0..40 {
        let (reply, stop) = reply(&respond(&rehearsal, request(items.clone(), tools)).await);
        items.push(ConversationItem::Assistant(reply.clone()));
        match stop.unwrap() {
            Stop::Calls => {
                assert!(!reply.calls.is_empty());
                let results = reply
                    .calls
                    .iter()
                    .map(|call| {
                        let n = calls.len();
                        assert!(calls.iter().all(|c| c.id != call.id), "ids are used once");
                        calls.push(call.clone());
                        let (text, failed) = match result(n, call) {
                            Ok(text) => (text, false),
                            Err(text) => (text, true),
                        };
                        CallResult { id: call.id.clone(), text, failed, media: Vec::new() }
                    })
                    .collect();
                items.push(ConversationItem::Results(results));
                if calls.last().unwrap().name == "submit_plan" {
                    return (calls, reply.text);
                }
            }
            _ => {
                assert!(reply.calls.is_empty());
                return (calls, reply.text);
            }
        }
    }
    panic!("no end: {calls:?}");
}

fn made(calls: &[ProposedCall]) -> Vec<(&str, Value)> {
    calls.iter().map(|call| (call.name.as_str(), call.input.clone())).collect()
}

#[tokio::test]
async fn each_verb_makes_its_calls_and_sums_them_up() {
    type Case = (&'static str, Vec<(&'static str, Value)>, &'static str);
    let table: [Case; 9] = [
        ("list src", vec![("list", json!({"path": "src"}))], "Listed `src`: 2 entries."),
        ("read a.md", vec![("read", json!({"path": "a.md"}))], "Read `a.md`: 2 lines."),
        (
            "find f(x) in src",
            vec![("grep", json!({"pattern": "f\\(x\\)", "path": "src"}))],
            "Searched `src` for `f(x)`: no matches",
        ),
        ("run ls", vec![("bash", json!({"command": "ls"}))], "Ran `ls`: 2 lines, ending with `two`"),
        ("write a.md: hi", vec![("write", json!({"path": "a.md", "content": "hi\n"}))], "Wrote 1 line to `a.md`"),
        (
            "replace a with b in c",
            vec![("read", json!({"path": "c"})), ("edit", json!({"path": "c", "edits": [{"old": "a", "new": "b"}]}))],
            "Replaced `a` with `b` in `c`",
        ),
        (
            "ask Which? | x | y",
            vec![("ask_user", json!({"question": "Which?", "options": ["x", "y"]}))],
            "Your answer: one two",
        ),
        (
            "list then read a and then run ls",
            vec![("list", json!({"path": "."})), ("read", json!({"path": "a"})), ("bash", json!({"command": "ls"}))],
            "**Done.**",
        ),
        ("think hard then list", vec![("list", json!({"path": "."}))], "Thought about hard"),
    ];
    for (text, calls, sum) in table {
        let mut items = vec![ConversationItem::User(text.into())];
        let (got, last) = converse(&mut items, &TOOLS, |_, _| Ok("one\ntwo\n".into())).await;
        assert_eq!(made(&got), calls, "{text}");
        assert!(last.contains(sum), "{text}: {last}");
        assert!(last.contains("not a language model"), "{last}");
    }
}

#[tokio::test]
async fn results_are_summed_up_as_the_tools_write_them() {
    let table = [
        ("list", Ok("src/  2 entries\na.md  10 B\n(ignored: target)\n"), "Listed this folder: 2 entries."),
        ("read a", Ok("1\tone\n2\t(two)\n(lines 1-2 of 9; go on with offset 3)\n"), "Read `a`: 2 lines."),
        ("find x in src", Ok("src/a\n3:x\n14:xx\n\nsrc/b\n1:x\n\n"), "Searched `src` for `x`: 3 matching lines."),
        ("find x", Ok("No line matches.\n"), "Searched this folder for `x`: no matches."),
        ("run ls", Ok("a\nb\nexit 0"), "Ran `ls`: 2 lines (exit 0), ending with `b`."),
        ("run true", Ok("exit 0"), "Ran `true`: no output (exit 0)."),
        ("run make", Err("cc\nerror: oops\nexit 2"), "`bash make` **failed**: exit 2, error: oops"),
        ("run false", Err("exit 1"), "`bash false` **failed**: exit 1"),
    ];
    for (text, result, sum) in table {
        let (_, last) = converse(&mut vec![ConversationItem::User(text.into())], &TOOLS, |_, _| {
            result.map(str::to_owned).map_err(str::to_owned)
        })
        .await;
        assert!(last.contains(sum), "{text}: {last}");
    }
}

#[tokio::test]
async fn failures_and_refusals_are_named() {
    let mut items = vec![ConversationItem::User("read a then run rm b then list".into())];
    let (calls, last) = converse(&mut items, &TOOLS, |n, _| match n {
        0 => Err("There is no file `a`.\nNear it: ab".into()),
        1 => Err("The user declined it.".into()),
        _ => Ok("x".into()),
    })
    .await;
    assert_eq!(calls.len(), 3);
    assert!(last.contains("except for 2 steps that failed"), "{last}");
    assert!(last.contains("`read a` **failed**: There is no file `a`.\n"), "{last}");
    assert!(last.contains("`bash rm b` **not run**: The user declined it."), "{last}");
    assert!(last.contains("Listed this folder: 1 entry."), "{last}");
}

#[tokio::test]
async fn a_file_that_was_there_is_read_before_it_is_written() {
    for why in [
        "a exists and was not read yet. Use `read` on it first.",
        "a was changed since it was read, perhaps by the user.",
    ] {
        let mut items = vec![ConversationItem::User("write a: x then list".into())];
        let (calls, last) = converse(&mut items, &TOOLS, |n, _| match n {
            0 => Err(why.into()),
            _ => Ok("ok".into()),
        })
        .await;
        assert_eq!(calls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["write", "read", "write", "list"]);
        assert!(last.contains("Done.") && last.contains("Wrote 1 line"), "{last}");
    }
}

#[tokio::test]
async fn anything_else_gets_the_verbs_and_no_call() {
    for text in ["Hello!", "read", ""] {
        let mut items = vec![ConversationItem::User(text.into())];
        let (calls, last) = converse(&mut items, &TOOLS, |_, _| panic!("no call")).await;
        assert!(calls.is_empty());
        assert!(last.contains("not a language model"), "{last}");
        for (verb, _) in script::VERBS {
            assert!(last.contains(verb), "{last}");
        }
    }
    let (_, last) = converse(&mut vec![ConversationItem::User("read".into())], &TOOLS, |_, _| panic!("no call")).await;
    assert!(last.starts_with("`read` needs a path"), "{last}");
}

#[tokio::test]
async fn a_missing_tool_is_named() {
    for (text, tool) in [("run ls", "bash"), ("plan a tidy-up", "submit_plan"), ("list then ask X?", "ask_user")] {
        let (calls, last) =
            converse(&mut vec![ConversationItem::User(text.into())], &["list"], |_, _| Ok("x".into())).await;
        assert!(calls.iter().all(|c| c.name == "list"));
        let told = if tool == "submit_plan" { "No plan".to_owned() } else { format!("no `{tool}` tool here") };
        assert!(last.contains(&told), "{last}");
    }
}

#[tokio::test]
async fn a_plan_is_submitted_changed_approved_and_carried_out() {
    let mut items = vec![ConversationItem::User("plan a tidy-up".into())];
    let (calls, _) = converse(&mut items, &TOOLS, |_, _| Ok("The plan waits for the user.".into())).await;
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name, "submit_plan");
    assert_eq!(calls[0].input["steps"].as_array().unwrap().len(), 3);

    items.push(ConversationItem::User("Change the plan: mention the licence".into()));
    let (calls, _) = converse(&mut items, &TOOLS, |_, _| Ok("The plan waits for the user.".into())).await;
    assert_eq!(calls.len(), 1);
    assert!(calls[0].input.to_string().contains("mention the licence"));

    items.push(ConversationItem::User("Plan approved. Carry it out.".into()));
    let mut disk = String::new();
    let (calls, last) = converse(&mut items, &TOOLS, |_, call| {
        Ok(match call.name.as_str() {
            "list" => "Cargo.toml\nsrc/\n".into(),
            "write" => {
                disk = call.input["content"].as_str().unwrap().into();
                assert_eq!(call.input["path"], "TIDY-UP.md");
                "written".into()
            }
            "read" => disk.clone(),
            _ => "ok".into(),
        })
    })
    .await;
    assert_eq!(
        calls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["todo", "list", "todo", "write", "todo", "read", "todo"]
    );
    assert!(disk.contains("Cargo.toml\nsrc/\n") && disk.contains("- mention the licence"), "{disk}");
    let statuses = |call: &ProposedCall| -> Vec<String> {
        call.input["items"].as_array().unwrap().iter().map(|i| i["status"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(statuses(&calls[0]), ["in_progress", "pending", "pending", "pending"]);
    assert_eq!(statuses(&calls[4]), ["completed", "completed", "completed", "in_progress"]);
    assert_eq!(statuses(&calls[6]), ["completed"; 4]);
    assert!(last.contains("**Done.**"), "{last}");
}

const WITH_STEP: [&str; 5] = ["list", "write", "read", "submit_plan", "step"];

fn approved(steps: &str) -> String {
    format!("Plan approved. Carry it out now.\n\nPlan: Tidy\n\nSteps as approved:\n{steps}\n\nReport each step.")
}

#[tokio::test]
async fn steps_are_reported_and_struck_ones_left_out() {
    let told = |calls: &[ProposedCall]| -> Vec<String> {
        let words = calls.iter().map(|call| match call.name.as_str() {
            "step" => format!("{} {}", call.input["number"], call.input["status"].as_str().unwrap()),
            name => name.to_owned(),
        });
        words.collect()
    };
    // The conversation holds nothing but the message: it was compacted before.
    let steps = "1. List the directory\n2. Write `a.md` with the listing\n3. Read `a.md` back to check it";
    let mut items = vec![ConversationItem::User(approved(steps).into())];
    let (calls, last) = converse(&mut items, &WITH_STEP, |_, _| Ok("x".into())).await;
    let whole = ["1 running", "list", "1 done", "2 running", "write", "2 done", "3 running", "read", "3 done"];
    assert_eq!(told(&calls), whole);
    assert_eq!(calls[4].input["path"], "a.md");
    assert!(last.contains("**Done.**"), "{last}");

    let steps = "1. List the directory\n2. Not to be done, struck out by the user: Write `a.md` with the listing\n3. Read `a.md` back";
    let mut items = vec![ConversationItem::User(approved(steps).into())];
    let (calls, _) = converse(&mut items, &WITH_STEP, |_, _| Ok("x".into())).await;
    assert_eq!(told(&calls), ["1 running", "list", "1 done", "3 skipped"]);

    let steps = "1. Not to be done, struck out by the user: List the directory\n2. Write `a.md`";
    let mut items = vec![ConversationItem::User(approved(steps).into())];
    let (calls, _) =
        converse(
            &mut items,
            &WITH_STEP,
            |_, call| {
                if call.name == "write" { Err("refused".into()) } else { Ok("x".into()) }
            },
        )
        .await;
    assert_eq!(told(&calls), ["2 running", "write", "2 failed"]);
}

#[tokio::test]
async fn another_plan_writes_its_own_file_and_a_refused_write_ends_it_honestly() {
    let mut items = vec![ConversationItem::User("plan the release notes".into())];
    converse(&mut items, &TOOLS, |_, _| Ok("ok".into())).await;
    items.push(ConversationItem::User("Plan approved.".into()));
    let (calls, last) = converse(&mut items, &["list", "write", "read"], |_, call| match call.name.as_str() {
        "write" => Err("The user declined it.".into()),
        _ => Ok("a".into()),
    })
    .await;
    assert_eq!(calls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["list", "write"]);
    assert_eq!(calls[1].input["path"], "release-notes.md");
    assert!(last.contains("`write release-notes.md` **not run**"), "{last}");

    let (calls, last) =
        converse(&mut vec![ConversationItem::User("Plan approved.".into())], &TOOLS, |_, _| panic!("no call")).await;
    assert!(calls.is_empty() && last.contains("no plan"), "{last}");
}

#[tokio::test]
async fn a_remark_in_between_does_not_end_the_script_and_another_script_replaces_it() {
    let mut items = vec![ConversationItem::User("list then read a".into())];
    let rehearsal = Rehearsal::new(Duration::ZERO);
    let (first, _) = reply(&respond(&rehearsal, request(items.clone(), &TOOLS)).await);
    let id = first.calls[0].id.clone();
    items.push(ConversationItem::Assistant(first));
    items.push(ConversationItem::Results(vec![CallResult { id, text: "a".into(), failed: false, media: Vec::new() }]));
    let mut steered = items.clone();
    steered.push(ConversationItem::User("Be quick!".into()));
    let (calls, last) = converse(&mut steered, &TOOLS, |_, _| Ok("x".into())).await;
    assert_eq!(made(&calls), [("read", json!({"path": "a"}))]);
    assert!(last.contains("You said meanwhile: Be quick!"), "{last}");
    items.push(ConversationItem::User("run ls".into()));
    let (calls, _) = converse(&mut items, &TOOLS, |_, _| Ok("x".into())).await;
    assert_eq!(made(&calls), [("bash", json!({"command": "ls"}))]);
}

#[tokio::test]
async fn failures_on_demand() {
    let table = [
        ("network", "network_error", true),
        ("break", "network_error", true),
        ("stall", "network_error", true),
        ("rate", "rate_limited", true),
        ("server", "service_error", true),
        ("overload", "service_unavailable", true),
        ("key", "invalid_api_key", false),
        ("billing", "billing_error", false),
        ("model", "invalid_model", false),
        ("context", "context_overflow", false),
    ];
    let rehearsal = Rehearsal::new(Duration::ZERO);
    for (kind, code, retry) in table {
        let items = vec![ConversationItem::User(format!("fail {kind}").into())];
        for _ in 0..2 {
            let chunks = respond(&rehearsal, request(items.clone(), &TOOLS)).await;
            let error = chunks.last().unwrap().as_ref().unwrap_err();
            assert_eq!((error.code, error.retry), (code, retry));
            assert_eq!(chunks.iter().any(|c| matches!(c, Ok(Chunk::Text(_)))), kind == "break");
        }
    }
    let items = vec![ConversationItem::User("fail rate 2 then list".into())];
    for failing in [true, true, false, true] {
        let chunks = respond(&rehearsal, request(items.clone(), &TOOLS)).await;
        assert_eq!(chunks.last().unwrap().is_err(), failing);
        if !failing {
            assert_eq!(reply(&chunks).1, Some(Stop::Calls));
        }
    }
}

#[tokio::test]
async fn the_same_request_gives_the_same_chunks_with_usage_and_an_end() {
    for text in ["stream 300", "think it over then list", "nothing", "plan x"] {
        let items = vec![ConversationItem::User(text.into())];
        let one = respond(&Rehearsal::new(Duration::ZERO), request(items.clone(), &TOOLS)).await;
        let two = respond(&Rehearsal::new(Duration::ZERO), request(items.clone(), &TOOLS)).await;
        assert_eq!(one, two, "{text}");
        assert!(matches!(one.first(), Some(Ok(Chunk::Started(Some(_))))));
        assert!(matches!(one.last(), Some(Ok(Chunk::Stopped(_)))));
        let usage = one.iter().find_map(|c| if let Ok(Chunk::Usage(usage)) = c { Some(*usage) } else { None }).unwrap();
        assert!(usage.input > 0 && usage.output > 0);
    }
    let thinking =
        respond(&Rehearsal::new(Duration::ZERO), request(vec![ConversationItem::User("think".into())], &TOOLS)).await;
    assert!(thinking.iter().any(|chunk| matches!(chunk, Ok(Chunk::Thinking(_)))));
    assert_eq!(Rehearsal::default().figures(MODEL, RequestUsage::default()), (Some(WINDOW), 0.0));
    assert_eq!(Rehearsal::default().models().await.unwrap(), [MODEL]);
}

#[tokio::test(start_paused = true)]
async fn stream_writes_a_hundred_words_a_second() {
    let start = tokio::time::Instant::now();
    let chunks =
        respond(&Rehearsal::default(), request(vec![ConversationItem::User("stream 500".into())], &TOOLS)).await;
    let (reply, _) = reply(&chunks);
    let words = reply.text.split("**Done.**").next().unwrap().split_whitespace().count();
    assert!((500..=501).contains(&words), "{words}");
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(5) && took < Duration::from_secs(7), "{took:?}");
}
