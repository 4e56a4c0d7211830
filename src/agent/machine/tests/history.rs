//! History for the model: the requests of a session, for every wire, whatever happened before them.

use super::*;
use crate::domain::message::AssistantText;
use crate::domain::tool::{ToolCall, ToolFigures};
use crate::provider::{ModelRequest, request_bodies};
use std::collections::BTreeMap;

pub(super) fn requests(steps: &[Step]) -> Vec<ModelRequest> {
    steps
        .iter()
        .filter_map(|step| if let Step::Ask(_, request) = step { Some((**request).clone()) } else { None })
        .collect()
}

/// Content of a body before its conversation, and the conversation, one part a line: the speaker,
/// and the part's bytes. Cache marks are left out: they move, and change nothing about what is
/// kept.
fn told(body: &Value) -> (String, Vec<(String, String)>) {
    let mut body = body.clone();
    unmark(&mut body);
    let fields = body.as_object_mut().expect("a body is an object");
    let list = ["messages", "input", "contents"].iter().find_map(|key| fields.remove(*key)).expect("a conversation");
    let mut parts = Vec::new();
    for message in list.as_array().expect("a list") {
        let word = |key: &str| message.get(key).and_then(Value::as_str);
        let role = word("role").or(word("type")).unwrap_or_default().to_owned();
        let mut rest = message.clone();
        let mut inner = Vec::new();
        for key in ["content", "parts"] {
            if let Some(list) = rest.get_mut(key).filter(|list| list.is_array()).map(Value::take) {
                inner.extend(list.as_array().expect("it is one").clone());
            }
        }
        parts.extend(inner.iter().map(|part| (role.clone(), part.to_string())));
        let bare = rest.as_object().is_some_and(|rest| {
            rest.values().all(|value| value.is_null() || value.as_str() == Some(&role) || value == "message")
        });
        if !bare {
            parts.push((role, rest.to_string()));
        }
    }
    (body.to_string(), parts)
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        _ => {}
    }
}

/// Request n is the beginning of request n + 1, byte by byte, for every wire.
fn is_beginning(one: &ModelRequest, next: &ModelRequest) -> Result<(), String> {
    for ((wire, one), (_, next)) in request_bodies::all(one).into_iter().zip(request_bodies::all(next)) {
        let ((head, one), (later_head, next)) = (told(&one), told(&next));
        if head != later_head {
            return Err(format!("{wire}: what stands before the conversation changed:\n{head}\n{later_head}"));
        }
        if !next.starts_with(&one) {
            return Err(format!("{wire}: the conversation changed:\n{one:#?}\n{next:#?}"));
        }
    }
    Ok(())
}

/// Every call has one result, right behind it, and the sides alternate where servers want it.
fn is_sound(request: &ModelRequest) -> Result<(), String> {
    for (wire, body) in request_bodies::all(request) {
        let list = ["messages", "input", "contents"].iter().find_map(|key| body.get(*key)).and_then(Value::as_array);
        let list = list.ok_or("no conversation")?;
        let fail = |why: &str| Err(format!("{wire}: {why}: {list:#?}"));
        let role = |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut open: Vec<String> = Vec::new();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut last = String::new();
        for message in list {
            let parts: Vec<Value> = ["content", "parts", "tool_calls"]
                .iter()
                .filter_map(|key| message.get(*key)?.as_array().cloned())
                .flatten()
                .chain([message.clone()])
                .collect();
            let text = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
            let mut calls = Vec::new();
            let mut results = Vec::new();
            for part in &parts {
                match text(part, "/type").as_deref() {
                    Some("tool_use" | "function") => calls.extend(text(part, "/id")),
                    Some("function_call") => calls.extend(text(part, "/call_id")),
                    Some("tool_result") => results.extend(text(part, "/tool_use_id")),
                    Some("function_call_output") => results.extend(text(part, "/call_id")),
                    _ => {}
                }
                results.extend(text(part, "/tool_call_id"));
                // Gemini pairs them by their place.
                calls.extend(part.get("functionCall").map(|_| format!("g{}", seen.len() + calls.len())));
            }
            if wire == "gemini" {
                let answers = parts.iter().filter(|part| part.get("functionResponse").is_some()).count();
                if answers > 0 && answers != open.len() {
                    return fail("not as many results as calls");
                }
                results.extend(open.iter().take(answers).cloned());
            }
            for result in &results {
                match open.iter().position(|call| call == result) {
                    Some(at) => drop(open.remove(at)),
                    None => return fail("a result without its call"),
                }
            }
            let only_more_results = !results.is_empty();
            let goes_on = wire.contains("responses") && !calls.is_empty();
            if !open.is_empty() && !only_more_results && !goes_on {
                return fail("a call without a result");
            }
            for call in calls {
                if *seen.entry(call.clone()).and_modify(|times| *times += 1).or_insert(1) > 1 {
                    return fail("two calls with one id");
                }
                open.push(call);
            }
            let strict = matches!(wire, "anthropic" | "chat" | "azure chat");
            if strict && role(message) != "tool" && role(message) == last {
                return fail("one side twice in a row");
            }
            last = role(message);
        }
        if !open.is_empty() {
            return fail("a call without a result at the end");
        }
        let first = list.iter().map(role).find(|role| role != "system");
        if first.as_deref() != Some("user") {
            return fail("the user does not begin");
        }
    }
    Ok(())
}

/// A response with these calls, run to their ends.
fn respond(b: &mut Bench, id: Option<&str>, text: &str, calls: &[(&str, &str)]) {
    b.chunk(Chunk::Started(id.map(str::to_owned)));
    if !text.is_empty() {
        b.text(text);
    }
    b.calls(calls);
    for (call, _) in calls {
        b.found(call, read(&format!("/w/{call}")));
        b.ran(call, &format!("result of {call}"));
    }
}

/// The row as it comes back from the disk.
fn reread(row: &Message) -> Message {
    let dir = std::path::Path::new("/s");
    let line = crate::store::row::write(row, dir).unwrap();
    crate::store::row::read(line.as_bytes(), 0, 0, dir).rows.remove(0)
}

/// Calls by response, as the requests show them.
fn grouped(request: &ModelRequest) -> Vec<usize> {
    let calls = |item: &ConversationItem| {
        if let ConversationItem::Assistant(reply) = item { Some(reply.calls.len()) } else { None }
    };
    request.items.iter().filter_map(calls).filter(|calls| *calls > 0).collect()
}

#[test]
fn calls_stay_with_the_response_that_made_them_and_no_request_changes_the_one_before() {
    // A server that tells its responses apart, one that gives none an id, and one that gives the same to all, ids of calls included.
    for ids in [[Some("r1"), Some("r2"), Some("r3")], [None; 3], [Some("same"); 3]] {
        let mut b = Bench::new(Mode::Ask);
        b.send("look");
        respond(&mut b, ids[0], "", &[("call_0", "read")]);
        respond(&mut b, ids[1], "", &[("call_0", "read"), ("call_1", "read")]);
        respond(&mut b, ids[2], "and", &[("call_0", "read")]);
        b.text("Done.");
        b.stop_with(Stop::Done);
        let all = requests(&b.out);
        assert_eq!(all.len(), 4);
        assert_eq!(grouped(&all[3]), [1, 2, 1], "{ids:?}");
        for pair in all.windows(2) {
            is_beginning(&pair[0], &pair[1]).unwrap();
        }
        all.iter().for_each(|request| is_sound(request).unwrap());
        // The same after a restart.
        let rows = b.machine.rows().to_vec();
        let mut again = Bench::new(Mode::Ask);
        again.machine.set_rows(rows.iter().map(reread).collect());
        let request = requests(&again.send("and now?")).remove(0);
        is_beginning(&all[3], &request).unwrap();
        is_sound(&request).unwrap();
    }
}

#[test]
fn what_stands_before_the_conversation_is_the_same_for_a_turn() {
    let mut b = Bench::new(Mode::Explore);
    b.send("look");
    respond(&mut b, None, "", &[("a", "read")]);
    b.act(SessionCommand::Mode { mode: Mode::Ask, drop_plan: false });
    b.machine.set_memory(std::sync::Arc::new(crate::agent::model_context::project_memory::Memory {
        preferences: Some(crate::agent::model_context::project_memory::MemoryFile {
            path: "/p".into(),
            text: "Be brief.".into(),
            whole: 9,
        }),
        ..Default::default()
    }));
    respond(&mut b, None, "", &[("b", "read")]);
    let all = requests(&b.out);
    is_beginning(&all[0], &all[1]).unwrap();
    is_beginning(&all[1], &all[2]).unwrap();
    let Some(ConversationItem::Results(results)) = all[2].items.last() else { panic!("{all:?}") };
    assert!(results[0].text.contains("From here on: Permission mode: Ask to Edit"), "{}", results[0].text);
    b.text("Done.");
    b.stop_with(Stop::Done);
    let next = requests(&b.send("more")).remove(0);
    assert!(next.system.contains("Be brief.") && next.system.contains("Ask to Edit"), "{}", next.system);
}

fn foreign(id: &str, turn: Option<&str>, at: i64, millis: u64) -> Message {
    let call = ToolCall {
        id: CallId::new(id),
        name: "read".into(),
        input: json!({"path": id}),
        subject: id.into(),
        status: ToolStatus::Completed,
        result: Some("r".into()),
        millis: Some(millis),
        figures: ToolFigures::default(),
        decision: None,
    };
    let row = Message::new(MessageId::new(format!("m-{id}-{at}")), At(at), Body::Tool(Box::new(call)));
    Message { turn: turn.map(str::to_owned), ..row }
}

#[test]
fn rows_of_other_programs_are_grouped_by_their_turn_ids_else_by_time() {
    let user = || Message::new(MessageId::new("u"), At(1), Body::User("look".into()));
    for (name, rows, groups) in [
        (
            "ids",
            vec![foreign("a", Some("1"), 10, 5), foreign("b", Some("1"), 90, 5), foreign("c", Some("2"), 91, 5)],
            vec![2, 1],
        ),
        (
            "proposed together",
            vec![foreign("a", None, 10, 900), foreign("b", None, 11, 5), foreign("c", None, 12, 5)],
            vec![3],
        ),
        (
            "one after the other",
            vec![foreign("a", None, 10, 900), foreign("b", None, 2_000, 5), foreign("c", None, 3_000, 5)],
            vec![1, 1, 1],
        ),
        ("side by side", vec![foreign("a", None, 10, 900), foreign("b", None, 500, 5)], vec![2]),
        ("without times", vec![foreign("a", None, 0, 0), foreign("b", None, 0, 0)], vec![2]),
    ] {
        let mut b = Bench::new(Mode::Ask);
        b.machine.set_rows(std::iter::once(user()).chain(rows).collect());
        let request = requests(&b.send("go on")).remove(0);
        assert_eq!(grouped(&request), groups, "{name}");
        is_sound(&request).unwrap();
    }
}

#[test]
fn what_subagents_said_and_did_is_no_part_of_the_conversation() {
    let below = |row: Message| Message { parent: Some(CallId::new("task")), ..row };
    let user = Message::new(MessageId::new("u"), At(1), Body::User("look".into()));
    let said = |text: &str| Body::Assistant(AssistantText { text: text.into(), ..AssistantText::default() });
    let rows = vec![
        user,
        foreign("task", Some("1"), 2, 50),
        below(Message::new(MessageId::new("x"), At(3), Body::User("INNER ask".into()))),
        below(foreign("inner", Some("9"), 4, 1)),
        below(Message::new(MessageId::new("y"), At(5), said("INNER answer"))),
        Message::new(MessageId::new("z"), At(60), said("All is well.")),
    ];
    assert!(!format!("{:?}", crate::agent::model_context::conversation::items(&rows)).contains("INNER"));
    let mut b = Bench::new(Mode::Ask);
    b.machine.set_rows(rows);
    let request = requests(&b.send("and?")).remove(0);
    let text = format!("{request:?}");
    assert!(!text.contains("INNER") && !text.contains("inner") && text.contains("All is well."), "{text}");
    assert!(!requests_of_summary(&mut b).contains("INNER"));
}

fn requests_of_summary(b: &mut Bench) -> String {
    b.text("ok");
    b.stop_with(Stop::Done);
    format!("{:?}", b.act(SessionCommand::Compact { wish: String::new() }))
}

#[test]
fn a_quit_is_told_as_a_quit_and_only_a_stop_as_an_interruption() {
    for (quit, hint, result) in
        [(false, "[The user interrupted", "the user stopped the turn"), (true, "[lisle was restarted", "lisle quit")]
    {
        let mut b = Bench::new(Mode::Ask);
        b.send("go");
        b.calls(&[("a", "read")]);
        b.found("a", read("/w/a"));
        let steps = if quit { b.feed(Input::Shutdown) } else { b.act(SessionCommand::Stop) };
        let kind = if quit { InfoKind::Restarted } else { InfoKind::Interrupted };
        assert!(kept(&steps).iter().any(|row| matches!(&row.body, Body::Info(info) if info.kind == kind)));
        assert!(b.call("a").result.unwrap().contains(result));
        let mut again = Bench::new(Mode::Ask);
        again.machine.set_rows(b.machine.rows().to_vec());
        let request = requests(&again.send("go on")).remove(0);
        let Some(ConversationItem::User(said)) = request.items.last() else { panic!("{request:?}") };
        assert!(said.text.starts_with(hint), "{}", said.text);
    }
}

// ---- answers that break off ----

fn break_off(b: &mut Bench) {
    let run = b.run();
    b.feed(Input::Failed(run, broken(true)));
    b.feed(Input::RetryNow(run));
}

fn texts(rows: &[Message]) -> Vec<(String, Option<CutBy>)> {
    let text = |row: &Message| match &row.body {
        Body::Assistant(said) => Some((said.text.clone(), said.cut_by)),
        _ => None,
    };
    rows.iter().filter_map(text).collect()
}

#[test]
fn the_next_attempt_goes_on_in_the_row_of_the_one_that_broke_off() {
    for (first, second, shown, end) in [
        // What was said already is not shown again, and nothing of it goes away meanwhile.
        ("Half of an ", vec!["Half", " of an answer"], vec!["Half of an ", "Half of an answer"], "Half of an answer"),
        ("Half of an ", vec!["No, ", "another"], vec!["No, ", "No, another"], "No, another"),
        ("Half of an ", vec!["Half"], vec!["Half of an "], "Half"),
    ] {
        let mut b = Bench::new(Mode::Ask);
        b.send("go");
        b.text(first);
        break_off(&mut b);
        let mut seen = Vec::new();
        for piece in &second {
            b.text(piece);
            seen.push(texts(&b.machine.live_rows())[0].0.clone());
        }
        assert_eq!(seen, shown);
        let steps = b.stop_with(Stop::Done);
        assert_eq!(texts(&kept(&steps)), [(end.to_owned(), None)]);
        let id = |step: &Step| if let Step::KeepLive(row, _) = step { Some(row.id.clone()) } else { None };
        let ids: std::collections::BTreeSet<_> = b.out.iter().filter_map(id).collect();
        assert_eq!(ids.len(), 1, "one row for all attempts");
    }
}

#[test]
fn an_answer_that_breaks_off_for_good_stays_where_most_was_said() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.text("A long beginning");
    break_off(&mut b);
    b.text("No");
    let run = b.run();
    let steps = b.feed(Input::Failed(run, broken(false)));
    assert_eq!(texts(&kept(&steps)), [("A long beginning".to_owned(), Some(CutBy::Error))]);
    // The user goes on from it.
    let request = requests(&b.send("go on")).remove(0);
    assert!(
        matches!(&request.items[1], ConversationItem::Assistant(reply) if reply.text == "A long beginning"),
        "{request:?}"
    );
    // Also where the user stops the wait, the program quits, or a limit ends it.
    for how in 0..2 {
        let mut b = Bench::new(Mode::Ask);
        b.send("go");
        b.text("Begun");
        let run = b.run();
        b.feed(Input::Failed(run, broken(true)));
        let steps = if how == 0 { b.act(SessionCommand::Stop) } else { b.feed(Input::Shutdown) };
        assert_eq!(texts(&kept(&steps)), [("Begun".to_owned(), Some(CutBy::Error))]);
    }
}

#[test]
fn a_retry_without_words_leaves_what_was_shown_and_the_model_does_not_hear_of_it() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.text("I will");
    break_off(&mut b);
    respond(&mut b, None, "", &[("a", "read")]);
    assert_eq!(texts(b.machine.rows()), [("I will".to_owned(), Some(CutBy::Error))]);
    let all = requests(&b.out);
    assert!(!format!("{:?}", all.last()).contains("I will"));
    for pair in all.windows(2) {
        is_beginning(&pair[0], &pair[1]).unwrap();
    }
}

#[test]
fn an_empty_answer_is_asked_for_once_more_and_then_told() {
    let thinking = || Chunk::Thinking("hm".into());
    let signed = || Chunk::Native(Native { wire: "w".into(), json: "[1]".into() });
    for chunks in [vec![], vec![Chunk::Text(" \n".into())], vec![thinking()], vec![thinking(), signed()]] {
        let mut b = Bench::new(Mode::Ask);
        b.send("go");
        chunks.iter().for_each(|chunk| drop(b.chunk(chunk.clone())));
        let steps = b.stop_with(Stop::Done);
        assert!(sends(&steps), "{chunks:?}");
        chunks.iter().for_each(|chunk| drop(b.chunk(chunk.clone())));
        let steps = b.stop_with(Stop::Done);
        assert_eq!(ended(&steps), Some(TurnEnd::Failed), "{chunks:?}");
        let said = kept(&steps);
        assert!(said.iter().any(|row| matches!(&row.body, Body::Error(error) if error.text.contains("twice"))));
    }
    // Thinking that took all the room is no fault that another try mends.
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.chunk(thinking());
    let steps = b.stop_with(Stop::Length);
    assert!(matches!(&kept(&steps).last().unwrap().body, Body::Error(error) if error.text.contains("Output limit")));
    assert_eq!(ended(&steps), Some(TurnEnd::Failed));
}

// ---- histories of other programs ----

/// Imports a file, and gives the request that goes on after it.
fn request_after(path: &std::path::Path) -> Option<ModelRequest> {
    let home = tempfile::tempdir().unwrap();
    let options = crate::store::Options::new(home.path().join("work"), home.path().join("state"));
    let store = crate::store::Store::open(options).unwrap();
    let imported = store.import(path, std::path::Path::new(""), Mode::Ask, At(1_795_400_000_000)).ok()?;
    let mut b = Bench::new(Mode::Ask);
    b.machine.set_rows(store.read(&imported.meta.id, 1000).unwrap().rows);
    Some(requests(&b.send("go on")).remove(0))
}

const HISTORIES: [&str; 9] = [
    "claude-code/c421e2c1-1672-41c4-91a6-c00c8c5489b8.jsonl",
    "codex-home/sessions/2026/11/22/rollout-2026-11-22T22-11-05-01a20550-1af5-7842-91fb-d724bae3891f.jsonl",
    "gemini-home/tmp/work/chats/session-2026-11-22T22-23-c431ac11.jsonl",
    "pi/agent/sessions/--home-ann-proj--/2026-11-22T22-24-32-028Z_01a2055c-691b-71b1-8ba6-1520432519ba.jsonl",
    "openclaw/agents/main/sessions/5f0c7a52-1d1e-4a58-9d4c-3a52f4c6d001.jsonl",
    // Documents from here on: they cannot be cut anywhere.
    "opencode/export.json",
    "fabric/trip.json",
    "aichat/trip.yaml",
    "codex-older.jsonl",
];

fn history(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

#[test]
fn an_imported_history_goes_on_with_every_wire() {
    for name in HISTORIES {
        let request = request_after(&history(name)).unwrap_or_else(|| panic!("{name} is not imported"));
        assert!(request.items.len() > 2, "{name}");
        is_sound(&request).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same of a history that ends anywhere, also in the middle of a line.
    #[test]
    fn a_history_that_breaks_off_goes_on_with_every_wire(which in 0usize..5, part in 0.02f64..1.0) {
        let whole = std::fs::read(history(HISTORIES[which])).unwrap();
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a part")]
        let length = (whole.len() as f64 * part) as usize;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session-cut.jsonl");
        std::fs::write(&path, &whole[..length]).unwrap();
        let request = request_after(&path);
        let sound = request.as_ref().map_or(Ok(()), is_sound);
        prop_assert!(sound.is_ok(), "{:?}", sound);
    }
}

// ---- whatever happens ----

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Steps, deaths, stops, steers, retries, resumes and foreign rows in any order: for every wire each call has one result, the
    /// sides alternate, and within a turn each request begins with the one before.
    #[test]
    fn the_model_is_told_what_happened(moves in prop::collection::vec((0u8..16, 0u8..4), 0..40)) {
        let mut b = Bench::new(Mode::Ask);
        let mut of_turn: Vec<ModelRequest> = Vec::new();
        for (what, which) in moves {
            let run = b.run();
            let running = b.machine.is_running();
            let steps = match what {
                0 | 1 => b.send("m"),
                2 => b.act(SessionCommand::steer("s")),
                3 => {
                    b.chunk(Chunk::Started(Some("same".into())));
                    let mut steps = if which == 1 { b.chunk(Chunk::Thinking("Hm.".into())) } else { vec![] };
                    steps.extend(b.text(["So", "Some", "Other", " "][usize::from(which)]));
                    steps
                }
                // Whole steps: one, two or three calls, ids that repeat.
                4..=6 => {
                    let ids = ["call_0", "call_1", "call_2"];
                    let count = usize::from(which).clamp(1, 3);
                    let mut steps = Vec::new();
                    if matches!(b.machine.turn.as_ref().map(|turn| &turn.work), Some(Work::Responding(_))) {
                        let calls: Vec<_> = ids[..count].iter().map(|id| (*id, "read")).collect();
                        steps.extend(b.calls(&calls));
                        for id in &ids[..count] {
                            steps.extend(b.feed(Input::Inspected(run, CallId::new(*id), Ok(read(&format!("/w/{id}-{}", b.now.0))))));
                            if which != 3 { steps.extend(b.ran(id, "r")); }
                        }
                    }
                    steps
                }
                7 => b.stop_with(Stop::Done),
                8 => match which {
                    0 => b.act(SessionCommand::Stop),
                    1 => b.act(SessionCommand::Cut { by: CutBy::TimeLimit }),
                    2 => b.act(SessionCommand::Cut { by: CutBy::Signal }),
                    _ => b.act(SessionCommand::Cut { by: CutBy::TakenOver }),
                },
                9 => b.feed(Input::Failed(run, broken(which > 0))),
                10 => b.feed(Input::RetryNow(run)),
                11 => b.act(SessionCommand::Retry),
                12 => b.act(SessionCommand::Mode { mode: Mode::ALL[usize::from(which) % 3], drop_plan: false }),
                13 => b.feed(Input::JobEnded("A job ended.".into())),
                // The program dies, or another one takes over, and what it left is read again.
                14 => {
                    let mut rows = b.machine.rows().to_vec();
                    let mut live = b.machine.live_rows();
                    let settle = match which {
                        3 => crate::store::row::settle_after_takeover,
                        _ => crate::store::row::settle_after_death,
                    };
                    live.iter_mut().for_each(settle);
                    rows.extend(live);
                    let now = b.now;
                    b = Bench::new(Mode::Ask);
                    b.now = now.plus(100);
                    b.machine.set_rows(rows.iter().map(reread).collect());
                    b.machine.runs.set_died(running.then_some(Death::Restarted));
                    of_turn.clear();
                    vec![]
                }
                // Another program wrote.
                _ if !running => {
                    let mut rows = b.machine.rows().to_vec();
                    let at = b.now.0;
                    rows.extend(match which {
                        0 => vec![Message::new(MessageId::new("f"), At(at), Body::User("theirs".into()))],
                        1 => vec![foreign("call_0", None, at, 1), foreign("call_0", None, at + 50, 1)],
                        2 => vec![foreign("x", Some("same"), at, 1), foreign("y", Some("same"), at + 50, 1)],
                        _ => vec![Message::new(MessageId::new("f"), At(at), Body::Assistant(AssistantText { text: "theirs".into(), ..AssistantText::default() }))],
                    });
                    b.now = b.now.plus(100);
                    b.machine.set_rows(rows);
                    vec![]
                }
                _ => vec![],
            };
            // A turn that ended and the next one that began in the same step are two.
            for step in &steps {
                match step {
                    Step::Emit(SessionEvent::TurnStarted { .. } | SessionEvent::TurnEnded { .. } | SessionEvent::Compacting { .. }) => of_turn.clear(),
                    Step::Ask(_, request) => {
                        if let Err(why) = is_sound(request) { prop_assert!(false, "{}", why); }
                        if let Some(last) = of_turn.last()
                            && let Err(why) = is_beginning(last, request) { prop_assert!(false, "{}", why); }
                        of_turn.push((**request).clone());
                    }
                    _ => {}
                }
            }
        }
    }
}
