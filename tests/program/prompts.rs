//! Contexts, patterns, strategies and named sessions on the command line of the real binary, against a scripted server.

use crate::headless::{Place, code, err, out, served};
use crate::support::model_server::{ModelServer, Script, chunk};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

impl Place {
    /// Writes a file of the home: `config/…`, or `fabric/…`.
    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs with this text piped in.
    fn fed(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

/// System prompt and the texts of the messages of each request for an answer.
fn requests(server: &ModelServer) -> Vec<(String, Vec<String>)> {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let asked: Vec<Value> =
        server.asked().iter().map(|asked| asked.json()).filter(|asked| !asked["tools"].is_null()).collect();
    let one = |asked: &Value| {
        let all = asked["messages"].as_array().unwrap();
        (text(&all[0]), all[1..].iter().map(text).collect())
    };
    asked.iter().map(one).collect()
}

#[test]
fn a_context_is_part_of_the_system_prompt_and_stays_with_the_session() {
    let place = Place::new();
    let server = ModelServer::for_program([Script::says("One."), Script::says("Two."), Script::says("Three.")]);
    served(&place, &server);
    let set = place.lisle(&["context", "set", "writer", "Answer like Hemingway."]);
    assert_eq!((code(&set), err(&set)), (Some(0), String::new()));
    place.file("fabric/strategies/cot.json", r#"{"description":"Step by step","prompt":"Think first."}"#);
    let config = std::fs::read_to_string(place.home.path().join("config/config.toml")).unwrap();
    let fabric = place.home.path().join("fabric");
    place.config(&format!("{config}[fabric]\nhome = {:?}\n", fabric.to_str().unwrap()));
    let first = place.lisle(&["run", "-C", "writer", "--strategy", "cot", "--session", "notes", "one"]);
    assert_eq!((code(&first), out(&first).as_str()), (Some(0), "One.\n"), "{}", err(&first));
    assert!(err(&first).contains("new session notes"), "{}", err(&first));
    // The file changes; the session keeps its text.
    place.lisle(&["context", "set", "writer", "Answer like Kafka."]);
    let second = place.lisle(&["run", "--session", "notes", "two"]);
    assert_eq!((code(&second), err(&second).as_str()), (Some(0), ""));
    let asked = requests(&server);
    assert!(asked[0].0.contains("Think first.\n\nAnswer like Hemingway."), "{}", asked[0].0);
    assert_eq!(asked[0].0, asked[1].0, "the request is a beginning of the next one");
    assert_eq!(asked[1].1, ["one", "One.", "two"]);
    let listed = out(&place.lisle(&["run", "--listsessions"]));
    assert_eq!(listed, "notes\n");
    assert_eq!(place.sessions().len(), 1);
    // Taken out again.
    place.lisle(&["run", "--session", "notes", "-C", "none", "--strategy", "none", "three"]);
    let asked = requests(&server);
    assert!(!asked[2].0.contains("Hemingway") && !asked[2].0.contains("Think first"));
}

#[test]
fn a_pattern_is_the_message() {
    let place = Place::new();
    let server = ModelServer::for_program([Script::says("A."), Script::says("B."), Script::says("C.")]);
    served(&place, &server);
    place.file("config/patterns/translate/system.md", "Translate into {{lang}}:\n{{input}}\n");
    place.file("config/patterns/review/system.md", "Review this.\n");
    let done = place.fed(&["run", "-p", "translate", "-v", "lang=German {{lang}}"], "good {{day}}\n");
    assert_eq!((code(&done), out(&done).as_str()), (Some(0), "A.\n"), "{}", err(&done));
    let done = place.fed(&["pattern", "run", "review"], "some text");
    assert_eq!((code(&done), out(&done).as_str()), (Some(0), "B.\n"), "{}", err(&done));
    let done = place
        .fed(&["run", "-p", "translate", "-v=#lang:Dutch", "--var", "who=you", "--input-has-vars", "for {{who}}"], "");
    assert_eq!((code(&done), out(&done).as_str()), (Some(0), "C.\n"), "{}", err(&done));
    let said: Vec<String> = requests(&server).into_iter().map(|(_, said)| said[0].clone()).collect();
    assert_eq!(
        said,
        [
            "Translate into German {{lang}}:\ngood {{day}}",
            "Review this.\n\nsome text",
            "Translate into Dutch:\nfor you"
        ]
    );
    let dry = place.lisle(&["run", "--dry-run", "-p", "translate", "-v", "lang=x", "y"]);
    assert_eq!(out(&dry), "[message]\nTranslate into x:\ny\n");
    let dry = place.lisle(&["run", "--dry-run", "--format", "json", "-p", "translate", "-v", "lang=x", "y"]);
    let sent: serde_json::Value = serde_json::from_str(&out(&dry)).unwrap();
    assert_eq!((&sent["message"], &sent["v"]), (&"Translate into x:\ny".into(), &1.into()), "{sent}");
    for (args, says) in [
        (&["run", "-p", "translate", "x"][..], "missing variables: lang. Add --var lang=VALUE"),
        (&["run", "-p", "tranlate", "x"], "no pattern \"tranlate\". Did you mean \"translate\"?"),
        (&["run", "-C", "zzz", "x"], "no context \"zzz\""),
        (&["run", "-C", "../x", "x"], "invalid context name"),
        (&["run", "--strategy", "cot", "x"], "no strategy \"cot\""),
        (&["run", "--session", "260101-calm-sea", "x"], "no session 260101-calm-sea"),
        (&["run", "--session", "../x", "x"], "use letters, digits"),
        (&["run", "-v", "1=2", "x"], "not a variable name"),
        (&["run", "--attach", "missing.txt", "x"], "No such file"),
        (&["run", "--allow", "git * push", "x"], "--allow"),
    ] {
        let wrong = place.lisle(args);
        assert_eq!((code(&wrong), out(&wrong).as_str()), (Some(2), ""), "{args:?}");
        assert!(err(&wrong).contains(says), "{args:?}: {}", err(&wrong));
    }
    assert_eq!(server.asked().len(), 3, "nothing was sent");
}

#[test]
fn lists_and_texts_are_printed_as_fabric_does() {
    let place = Place::new();
    place.file("config/contexts/writer", "Be brief.\n");
    place.file("config/contexts/coder", "Use tabs.");
    place.file("config/patterns/summarize/system.md", "Sum up: {{input}}");
    let printed = |args: &[&str]| {
        let done = place.lisle(args);
        assert_eq!(code(&done), Some(0), "{args:?}: {}", err(&done));
        out(&done)
    };
    for (args, text) in [
        (&["run", "-x"][..], "coder\nwriter\n"),
        (&["run", "--listpatterns"], "summarize\n"),
        (&["run", "--readpattern", "summarize"], "Sum up: {{input}}\n"),
        (&["run", "--printcontext", "writer"], "Be brief.\n"),
        (&["context", "list"], "coder   config\nwriter  config\n"),
        (&["context", "show", "writer"], "Be brief.\n"),
        (&["pattern", "show", "summarize"], "Sum up: {{input}}\n"),
        (&["context", "rename", "writer", "author"], ""),
        (&["run", "-w", "coder"], ""),
        (&["run", "--listcontexts"], "author\n"),
        (&["run", "-X"], ""),
        (&["context", "list", "--json"], ""),
    ] {
        let got = printed(args);
        if args.contains(&"--json") {
            let all: Value = serde_json::from_str(&got).unwrap();
            assert_eq!(all[0]["name"], json!("author"));
            assert_eq!(all[0]["origin"], json!("config"));
        } else {
            assert_eq!(got, text, "{args:?}");
        }
    }
    for (args, says) in [
        (&["run", "-w", "coder"][..], "no context \"coder\""),
        (&["run", "--printcontext", "autor"], "Did you mean \"author\"?"),
        (&["run", "--wipesession", "nothing"], "no session \"nothing\""),
        (&["run", "--printsession", "nothing"], "no session \"nothing\""),
        (&["context", "delete", ".."], "invalid context name"),
        (&["context", "set", "a/b", "x"], "use letters, digits"),
        (&["run", "-x", "hello"], "cannot be used with"),
    ] {
        let wrong = place.lisle(args);
        assert_eq!(code(&wrong), Some(2), "{args:?}: {}", err(&wrong));
        assert!(err(&wrong).contains(says), "{args:?}: {}", err(&wrong));
    }
    assert!(place.home.path().join("config/contexts/author").exists());
}

#[test]
fn sessions_have_names() {
    let place = Place::new();
    let run = |args: &[&str]| place.lisle(&[&["run", "--connection", "demo"], args].concat());
    let first = run(&["--session", "my.notes", "read README.md"]);
    assert_eq!(code(&first), Some(0), "{}", err(&first));
    assert!(err(&first).contains("new session my.notes"), "{}", err(&first));
    let id = place.session();
    assert_eq!(err(&run(&["--session", "my.notes", "list"])), "");
    assert_eq!(err(&run(&["--session", &id, "list"])), "");
    assert_eq!(place.said(&id), ["read README.md", "list", "list"]);
    let shown = out(&place.lisle(&["run", "--printsession", "my.notes"]));
    assert!(shown.contains("read README.md"), "{shown}");
    // At the same time one of them makes it, and the others wait until it is there.
    let race: Vec<_> =
        (0..4).map(|_| place.start(&["run", "--connection", "demo", "--session", "raced", "list"])).collect();
    let codes: Vec<_> = race.into_iter().map(|child| code(&child.wait_with_output().unwrap())).collect();
    assert!(codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 1 | 5))), "{codes:?}");
    let raced = place.sessions().into_iter().filter(|one| one["alias"] == json!("raced")).count();
    assert_eq!(raced, 1, "a name is of one session");
    place.lisle(&["run", "-W", "raced"]);
    let branch = out(&place.lisle(&["sessions", "branch", &id]));
    let named: Vec<Value> = place.sessions().iter().map(|one| one["alias"].clone()).collect();
    assert_eq!(named.iter().filter(|name| **name == json!("my.notes")).count(), 1, "a branch has no name: {branch}");
    let wiped = place.lisle(&["run", "-W", "my.notes"]);
    assert_eq!((code(&wiped), out(&wiped).trim().is_empty()), (Some(0), false), "{}", err(&wiped));
    assert_eq!(out(&place.lisle(&["run", "-X"])).trim(), branch.trim());
}

/// A response with a remark before a call, then the answer.
fn remark_and_answer() -> [Script; 2] {
    let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"README.md\"}"}});
    let body = chunk(json!({"content": "Let me look."}), Value::Null)
        + &chunk(json!({"tool_calls": [call]}), Value::Null)
        + &chunk(json!({}), json!("tool_calls"))
        + "data: [DONE]\n\n";
    [Script::sse(body), Script::says("A project with a README.")]
}

#[test]
fn stdout_is_the_answer_alone_and_json_has_a_schema() {
    let place = Place::new();
    let run = |args: &[&str]| {
        let server = ModelServer::for_program(remark_and_answer());
        served(&place, &server);
        place.lisle(&[&["run", "what is here?"], args].concat())
    };
    let text = run(&[]);
    assert_eq!((out(&text).as_str(), err(&text).as_str()), ("A project with a README.\n", ""));
    let streamed = run(&["--stream"]);
    assert_eq!(out(&streamed), "Let me look.\n\nA project with a README.\n");
    let verbose = run(&["--verbose"]);
    assert_eq!(out(&verbose), "A project with a README.\n");
    assert_eq!(err(&verbose), "lisle: Let me look.\nlisle: read README.md\n");
    let file = place.home.path().join("answer.md");
    run(&["-o", file.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "A project with a README.\n");
    run(&["-o", file.to_str().unwrap(), "--output-session"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("what is here?"));

    let one: Value = serde_json::from_str(&out(&run(&["--format", "json"]))).unwrap();
    let schema: Value = serde_json::from_str(&out(&place.lisle(&["schema", "result"]))).unwrap();
    assert_eq!(fault(&one, &schema, &schema), None, "{one}");
    assert_eq!(
        (&one["v"], &one["type"], &one["status"], &one["exit"]),
        (&json!(1), &json!("result"), &json!("done"), &json!(0))
    );
    assert_eq!(one["text"], json!("A project with a README."));

    let lines = out(&run(&["--format", "stream-json"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schema: Value = serde_json::from_str(&out(&place.lisle(&["schema", "events"]))).unwrap();
    for line in &lines {
        assert_eq!(fault(line, &schema, &schema), None, "{line}");
    }
    let mut types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    types.dedup();
    assert_eq!(types, ["session", "text", "message", "tool", "text", "message", "result"]);
    assert!(fault(&json!({"v": 1, "type": "nonsense"}), &schema, &schema).is_some());
    assert!(fault(&json!({"v": 1, "type": "text", "id": "x"}), &schema, &schema).is_some());
}

/// The first problem of a value with the keywords that the schemas have.
fn fault(value: &Value, schema: &Value, root: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.strip_prefix('#').unwrap()).unwrap();
        if let Some(why) = fault(value, target, root) {
            return Some(why);
        }
    }
    if let Some(all) = schema["oneOf"].as_array() {
        let fits = all.iter().filter(|one| fault(value, one, root).is_none()).count();
        if fits != 1 {
            return Some(format!("{fits} variants fit {value}"));
        }
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Some(format!("{value} is not {}", schema["const"]));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"));
    if !kinds.is_empty() && !fits {
        return Some(format!("{value} is no {kinds:?}"));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().unwrap()).is_none() {
            return Some(format!("{required} is missing in {value}"));
        }
    }
    let properties = schema["properties"].as_object();
    properties.into_iter().flatten().find_map(|(key, schema)| fault(value.get(key)?, schema, root))
}

#[test]
fn the_answer_has_to_match_its_schema() {
    let place = Place::new();
    let schema = place.file("s.json", r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#);
    let args = ["run", "--json-schema", schema.to_str().unwrap(), "a number"];
    for (answers, status, printed, says) in [
        (&["```json\n{\"n\": 1}\n```"][..], 0, "{\"n\":1}\n", ""),
        (&["{\"m\": 1}", "{\"n\": 2}"], 0, "{\"n\":2}\n", ""),
        (&["no", "{\"n\": \"x\"}"], 1, "{\"n\": \"x\"}\n", "does not match --json-schema"),
    ] {
        let server = ModelServer::for_program(answers.iter().map(|text| Script::says(text)));
        served(&place, &server);
        let done = place.lisle(&args);
        assert_eq!((code(&done), out(&done).as_str()), (Some(status), printed), "{answers:?}: {}", err(&done));
        assert!(err(&done).contains(says), "{}", err(&done));
    }
}

#[test]
fn rules_and_attachments_of_the_command_line_hold_for_one_run() {
    let place = Place::new();
    let run = |calls: &[(&str, Value)], args: &[&str]| {
        let server = ModelServer::for_program([Script::calls(calls), Script::says("Done.")]);
        served(&place, &server);
        (place.lisle(&[&["run", "do it"], args].concat()), server)
    };
    let write = [("write", json!({"path": "a.txt", "content": "x"}))];
    assert_eq!(code(&run(&write, &[]).0), Some(3), "nobody is asked");
    let (done, _) = run(&write, &["--allow", "write ./a.txt"]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(place.project.path().join("a.txt").exists());
    let read = [("read", json!({"path": "README.md"}))];
    assert_eq!(code(&run(&read, &["--deny", "read"]).0), Some(3));
    let (done, server) = run(&read, &["--attach", "README.md"]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(requests(&server)[0].1[0].contains("With a README."), "{:?}", requests(&server)[0].1);
    let (done, _) = run(&read, &["--max-turns", "1"]);
    assert_eq!(code(&done), Some(1), "{}", err(&done));
}

/// Files beside a skill of one's own are used by commands and file tools alike, in every mode that runs them; nothing writes them.
#[test]
fn files_beside_a_skill_are_used_without_a_question() {
    let place = Place::new();
    let script = place.file("config/skills/forms/scripts/fill.sh", "cat \"$(dirname \"$0\")/../style.md\"\n");
    let style = place.file("config/skills/forms/style.md", "In capitals.\n");
    place.file("config/skills/forms/SKILL.md", "---\ndescription: Forms\n---\nRun fill.sh.\n");
    place.file("config/other/notes.md", "Not of a skill.\n");
    let run = |tool: &str, input: Value, mode: &str| {
        let server = ModelServer::for_program([Script::calls(&[(tool, input)]), Script::says("Done.")]);
        served(&place, &server);
        let output = place.lisle(&["run", "do it", "--mode", mode]);
        let told = requests(&server).get(1).map(|last| last.1.concat()).unwrap_or_default();
        (code(&output), told)
    };
    let sh = |line: String| json!({"command": line});
    let (script, style) = (script.display(), style.display());
    let (ended, told) = run("bash", sh(format!("sh {script}")), "execute");
    assert!(ended == Some(0) && told.contains("In capitals."), "{told}");
    let (ended, told) = run("bash", sh(format!("cat {style}")), "explore");
    assert!(ended == Some(0) && told.contains("In capitals."), "{told}");
    let (ended, told) = run("read", json!({"path": style.to_string()}), "explore");
    assert!(ended == Some(0) && told.contains("In capitals."), "{told}");
    // Other files of the configuration stay apart, and what belongs to a skill stays as it is.
    let other = place.file("config/other/notes.md", "Not of a skill.\n");
    let (_, told) = run("read", json!({"path": other.display().to_string()}), "explore");
    assert!(!told.contains("Not of a skill."), "{told}");
    for line in [
        format!("echo x > {style}"),
        format!("cp README.md {style}"),
        format!("python3 -c 'open(\"{style}\", \"w\")' {style}"),
    ] {
        run("bash", sh(line.clone()), "execute");
        assert_eq!(std::fs::read_to_string(style.to_string()).unwrap(), "In capitals.\n", "{line}");
    }
}

#[test]
fn a_name_that_calls_nothing_is_said_and_values_of_a_pattern_call_nothing() {
    let place = Place::new();
    let server = ModelServer::for_program((0..5).map(|_| Script::says("Said.")));
    served(&place, &server);
    place.file("config/skills/forms/SKILL.md", "---\ndescription: Forms\n---\nFill $1 in, of $ARGUMENTS.\n");
    let run = |args: &[&str]| {
        let output = place.lisle(&[&["run"], args].concat());
        assert_eq!(code(&output), Some(0), "{}", err(&output));
        err(&output)
    };
    let unknown = run(&["/froms a.pdf"]);
    assert!(unknown.contains("/froms is sent as text: no skill and no command has that name"), "{unknown}");
    assert!(!run(&["/etc/passwd is a file"]).contains("sent as text"));
    assert_eq!(run(&["/forms a.pdf b.pdf"]), "");
    let asked = requests(&server);
    assert!(asked[2].1.concat().contains("Fill a.pdf in, of a.pdf b.pdf."), "{:?}", asked[2]);
    // What a script fills in is not what the user said.
    place.file("config/patterns/pass/system.md", "Pass on {{x}} {{input}}");
    run(&["-p", "pass", "-v", "x=@forms", "hello"]);
    let last = requests(&server).pop().unwrap();
    assert!(!last.1.concat().contains("Fill"), "{last:?}");
}
