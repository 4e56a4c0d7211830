//! Queue modes, debounce, cap and drop policies.

use super::*;
use crate::routes::config::{QueueCap, QueueConfig};
use proptest::prelude::*;

fn settings(mode: QueueMode, debounce_ms: u64, cap: Option<u64>, drop: QueueDrop) -> QueueSettings {
    QueueSettings { mode, debounce_ms, cap, drop }
}

fn message(text: &str) -> QueuedMessage {
    QueuedMessage { id: None, target: "irc".into(), text: text.into(), heartbeat: false }
}

#[test]
fn what_somebody_else_wrote_is_not_steered_into_an_answer() {
    for mode in [QueueMode::Steer, QueueMode::SteerBacklog] {
        let settings = settings(mode, 0, None, QueueDrop::Old);
        let mut queue = SessionQueue::default();
        let other = |text: &str| QueuedMessage { target: "other".into(), ..message(text) };
        queue.push(message("a"), At(1), &settings);
        queue.push(other("b"), At(2), &settings);
        assert!(queue.streaming(&settings).is_empty(), "{mode:?}");
        let steps = queue.push(other("c"), At(3), &settings);
        assert!(!steps.iter().any(|step| matches!(step, QueueStep::Steer(_))), "{mode:?}");
        assert_eq!(words(&queue.run_ended(Vec::new(), At(9_000), &settings)), ["start b"], "{mode:?}");
    }
}

/// Steps in words.
fn words(steps: &[QueueStep]) -> Vec<String> {
    let word = |step: &QueueStep| match step {
        QueueStep::Start(turn) => {
            let texts: Vec<&str> = turn.messages.iter().map(|one| one.text.as_str()).collect();
            format!("start {}", texts.join("+"))
        }
        QueueStep::Steer(message) => format!("steer {}", message.text),
        QueueStep::Abort => "abort".to_owned(),
        QueueStep::Wait { until } => format!("wait {}", until.0),
        QueueStep::Dropped(message, reason) => format!("drop {} {reason:?}", message.text),
    };
    steps.iter().map(word).collect()
}

/// Runs a script such as `0 push a`, and lists the steps.
fn run(settings: &QueueSettings, script: &[&str]) -> Vec<String> {
    let mut queue = SessionQueue::default();
    let mut steps = Vec::new();
    for line in script {
        let parts: Vec<&str> = line.split(' ').collect();
        let now = At(parts[0].parse().unwrap());
        steps.extend(match parts[1] {
            "push" => queue.push(message(parts[2]), now, settings),
            "to" => queue.push(QueuedMessage { target: parts[2].into(), ..message(parts[3]) }, now, settings),
            "beat" => queue.push(QueuedMessage { heartbeat: true, ..message("beat") }, now, settings),
            "stream" => queue.streaming(settings),
            "end" => queue.run_ended(parts.get(2).map(|text| message(text)).into_iter().collect(), now, settings),
            "tick" => queue.tick(now, settings),
            "clear" => queue.clear().into_iter().map(|one| QueueStep::Dropped(one, DropReason::Interrupted)).collect(),
            other => panic!("{other}"),
        });
    }
    words(&steps)
}

#[test]
fn modes() {
    let script = ["0 push a", "1 push b", "2 stream", "3 push c", "4 end", "2000 tick", "2001 end", "5000 tick"];
    for (mode, expected) in [
        (QueueMode::Collect, vec!["start a", "wait 1003", "start b+c"]),
        (QueueMode::Followup, vec!["start a", "wait 1003", "start b", "start c"]),
        (QueueMode::Steer, vec!["start a", "steer b", "steer c"]),
        (QueueMode::SteerBacklog, vec!["start a", "steer c", "wait 1003", "start b", "start c"]),
        (QueueMode::Interrupt, vec!["start a", "abort", "drop b Interrupted", "start c"]),
    ] {
        assert_eq!(run(&settings(mode, 1000, Some(20), QueueDrop::Summarize), &script), expected, "{mode:?}");
    }
}

#[test]
fn debounce_waits_for_quiet() {
    let collect = settings(QueueMode::Collect, 1000, None, QueueDrop::Old);
    let script = ["0 push a", "10 push b", "20 end", "500 push c", "1010 tick", "1499 tick", "1500 tick"];
    let expected = ["start a", "wait 1010", "wait 1500", "wait 1500", "wait 1500", "start b+c"];
    assert_eq!(run(&collect, &script), expected);
    let none = settings(QueueMode::Collect, 0, None, QueueDrop::Old);
    assert_eq!(run(&none, &["0 push a", "10 push b", "10 end"]), ["start a", "start b"]);
    // The clock goes back by an hour.
    let back = ["3600000 push a", "3600010 push b", "10 end", "1010 tick"];
    assert_eq!(run(&collect, &back), ["start a", "wait 1010", "start b"]);
}

#[test]
fn targets_are_not_merged() {
    let collect = settings(QueueMode::Collect, 0, None, QueueDrop::Old);
    let script = ["0 push a", "1 to x b", "1 to x c", "1 to y d", "1 to x e", "2 end", "3 end", "4 end", "5 end"];
    assert_eq!(run(&collect, &script), ["start a", "start b+c", "start d", "start e"]);
}

#[test]
fn a_full_queue() {
    let script = ["0 push a", "1 push b", "1 push c", "1 push d", "5 end"];
    for (drop, expected) in [
        (QueueDrop::Old, vec!["start a", "drop b Full", "start c+d"]),
        (QueueDrop::New, vec!["start a", "drop d Full", "start b+c"]),
        (QueueDrop::Summarize, vec!["start a", "drop b Summarised", "start c+d"]),
    ] {
        assert_eq!(run(&settings(QueueMode::Collect, 0, Some(2), drop), &script), expected, "{drop:?}");
    }
}

#[test]
fn heartbeats_duplicates_and_stop() {
    let followup = settings(QueueMode::Followup, 0, None, QueueDrop::Old);
    assert_eq!(run(&followup, &["0 beat", "1 beat", "2 end"]), ["start beat", "drop beat Heartbeat"]);
    assert_eq!(
        run(&followup, &["0 push a", "1 push b", "2 clear", "3 end", "4 push c"]),
        ["start a", "drop b Interrupted", "start c"]
    );
    assert_eq!(run(&followup, &["0 push a", "1 push b", "2 end m", "3 end"]), ["start a", "start m", "start b"]);
    let mut queue = SessionQueue::default();
    let with_id = QueuedMessage { id: Some("1".into()), ..message("a") };
    assert_eq!(words(&queue.push(with_id.clone(), At(0), &followup)), ["start a"]);
    assert_eq!(words(&queue.push(with_id.clone(), At(1), &followup)), ["drop a Duplicate"]);
    let other = QueuedMessage { target: "x".into(), ..with_id };
    assert!(queue.push(other, At(1), &followup).is_empty());
    assert_eq!(queue.waiting().count(), 1);
}

#[test]
fn prompts() {
    let turn =
        |texts: &[&str], overflow| QueuedTurn { messages: texts.iter().map(|text| message(text)).collect(), overflow };
    assert_eq!(turn(&["hello"], Overflow::default()).prompt(), "hello");
    assert_eq!(
        turn(&["a", "b\nc"], Overflow::default()).prompt(),
        "[Queued messages while agent was busy]\n\n---\nQueued #1\na\n\n---\nQueued #2\nb\nc"
    );
    let mut overflow = Overflow::default();
    overflow.add("one\n two");
    assert_eq!(
        turn(&["x"], overflow.clone()).prompt(),
        "[Queue overflow] Dropped 1 message due to cap.\n- one two\n\nx"
    );
    for _ in 0..50 {
        overflow.add(&"ö".repeat(500));
    }
    assert_eq!((overflow.dropped, overflow.lines.len()), (51, 20));
    assert!(overflow.lines.iter().all(|line| line.chars().count() == 160));
}

#[test]
fn settings_by_precedence() {
    let config: QueueConfig = toml::from_str(
        "mode = \"followup\"\nbyChannel = { IRC = \"steer\" }\ncap = 7\n\
         debounceMs = 5\ndebounceMsByChannel = { irc = 6 }",
    )
    .unwrap();
    let none = QueueOverrides::default();
    let row = QueueOverrides { mode: Some(QueueMode::Interrupt), debounce_ms: Some(8), ..none };
    let inline = QueueOverrides { cap: Some(QueueCap(None)), drop: Some(QueueDrop::New), ..none };
    for (inline, row, config, channel, expected) in [
        (none, none, &QueueConfig::default(), None, settings(QueueMode::Collect, 1000, Some(20), QueueDrop::Summarize)),
        (none, none, &config, None, settings(QueueMode::Followup, 5, Some(7), QueueDrop::Summarize)),
        (none, none, &config, Some("irc"), settings(QueueMode::Steer, 6, Some(7), QueueDrop::Summarize)),
        (none, row, &config, Some("irc"), settings(QueueMode::Interrupt, 8, Some(7), QueueDrop::Summarize)),
        (inline, row, &config, Some("irc"), settings(QueueMode::Interrupt, 8, None, QueueDrop::New)),
    ] {
        assert_eq!(QueueSettings::resolve(&inline, &row, config, channel), expected);
    }
    let mut stored = Default::default();
    row.store(&mut stored);
    inline.store(&mut stored);
    assert_eq!(QueueOverrides::of_row(&stored), QueueOverrides { cap: inline.cap, drop: inline.drop, ..row });
    none.store(&mut stored);
    assert_eq!(QueueOverrides::of_row(&stored), none);
}

#[derive(Clone, Debug)]
enum Input {
    Push(u8),
    Stream,
    End,
    Wait(u16),
    Back(u16),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        5 => (0u8..3).prop_map(Input::Push),
        2 => Just(Input::Stream),
        3 => Just(Input::End),
        3 => (0u16..2000).prop_map(Input::Wait),
        1 => (0u16..2000).prop_map(Input::Back),
    ]
}

fn any_settings() -> impl Strategy<Value = QueueSettings> {
    let mode = prop_oneof![
        Just(QueueMode::Collect),
        Just(QueueMode::Followup),
        Just(QueueMode::Steer),
        Just(QueueMode::SteerBacklog),
        Just(QueueMode::Interrupt),
    ];
    let drop = prop_oneof![Just(QueueDrop::Old), Just(QueueDrop::New), Just(QueueDrop::Summarize)];
    (mode, 0u64..1500, prop::option::of(1u64..4), drop).prop_map(|(mode, debounce_ms, cap, drop)| QueueSettings {
        mode,
        debounce_ms,
        cap,
        drop,
    })
}

/// Texts that a run started or steered, in order, and those it dropped; ends with an empty queue.
fn play(settings: &QueueSettings, inputs: &[Input]) -> (usize, Vec<String>, Vec<String>) {
    let (mut queue, mut now, mut pushed) = (SessionQueue::default(), 10_000, 0);
    let (mut done, mut dropped): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut take = |steps: Vec<QueueStep>| {
        for step in steps {
            match step {
                QueueStep::Start(turn) => done.extend(turn.messages.into_iter().map(|one| one.text)),
                QueueStep::Steer(one) => done.push(one.text),
                QueueStep::Dropped(one, _) => dropped.push(one.text),
                QueueStep::Abort | QueueStep::Wait { .. } => {}
            }
        }
    };
    let last = std::iter::repeat_n(Input::End, 2 * inputs.len() + 2);
    for input in inputs.iter().cloned().chain(last) {
        let at = At(now);
        take(match input {
            Input::Push(target) => {
                pushed += 1;
                let target = target.to_string();
                queue.push(QueuedMessage { target, ..message(&format!("{pushed:04}")) }, at, settings)
            }
            Input::Stream => queue.streaming(settings),
            Input::End if queue.is_running() => queue.run_ended(vec![], at, settings),
            Input::End => {
                now += 2000;
                queue.tick(At(now), settings)
            }
            Input::Wait(ms) => {
                now += i64::from(ms);
                queue.tick(At(now), settings)
            }
            Input::Back(ms) => {
                now -= i64::from(ms);
                queue.tick(At(now), settings)
            }
        });
    }
    assert_eq!(queue.waiting().count(), 0, "nothing waits for ever");
    (pushed, done, dropped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_is_lost_or_doubled_and_order_is_kept(
        settings in any_settings(),
        inputs in prop::collection::vec(input(), 0..40),
    ) {
        let (pushed, done, dropped) = play(&settings, &inputs);
        let mut all: Vec<String> = done.iter().chain(&dropped).cloned().collect();
        all.sort();
        if settings.mode == QueueMode::SteerBacklog {
            all.dedup();
        } else {
            prop_assert!(done.is_sorted(), "{:?}", done);
        }
        let expected: Vec<String> = (1..=pushed).map(|number| format!("{number:04}")).collect();
        prop_assert_eq!(all, expected);
        if settings.cap.is_none() && settings.mode != QueueMode::Interrupt {
            prop_assert_eq!(dropped, Vec::<String>::new());
        }
    }
}
