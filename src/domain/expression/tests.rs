//! Conditions as people write them: what holds, what is wrong and where, and that nothing ends the program.

use super::*;
use crate::domain::SessionId;
use crate::domain::usage::Usage;
use proptest::prelude::*;

const NOW: At = At(1_797_292_800_000);
const DAY: u64 = 86_400_000;

fn session() -> SessionMeta {
    let at = At(NOW.0 - 8 * DAY as i64);
    let mut meta = SessionMeta::new(SessionId::parse("261206-keen-fox").unwrap(), at, Mode::Explore, "/w".into());
    meta.title = "Plan the \"big\" move".into();
    meta.preview = "how do we".into();
    meta.status = "in-progress".into();
    meta.labels = vec!["bug".into(), "priority::3".into()];
    meta.messages = 12;
    meta.unread = true;
    meta.last_role = Some("assistant".into());
    meta.usage = Usage { input_tokens: 700, cost_usd: 1.25, ..Usage::default() };
    meta
}

fn ask(text: &str, session: &SessionMeta) -> bool {
    Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).matches(session, NOW).unwrap()
}

#[test]
fn conditions_hold_or_not() {
    let session = session();
    for (text, holds) in [
        ("hasUnread == true", true),
        ("hasUnread", true),
        ("hasUnread != true", false),
        ("isFlagged == false", true),
        ("permissionMode == \"safe\"", true),
        ("permissionMode == \"explore\" and \"Explore\" == permissionMode", true),
        ("permissionMode != \"explore\" or permissionMode == \"execute\"", false),
        ("permissionMode in (\"ask\", \"explore\")", true),
        ("permissionMode in (\"ask\", \"allow-all\")", false),
        ("name == \"explore\"", false),
        ("sessionStatus == \"in-progress\" and todoState == sessionStatus", true),
        ("messageCount > 11 and messageCount >= 12 and messageCount <= 12 and messageCount < 13", true),
        ("10 < messageCount < 13", true),
        ("10 < messageCount < 12", false),
        ("messageCount > 100 or tokenUsage.costUsd > 1", true),
        ("daysSince(lastUsedAt) > 7", true),
        ("daysSince(lastUsedAt) == 8 and hoursSince(createdAt) == 192", true),
        ("daysSince(lastUsedAt) > 7 and not (sessionStatus in (\"done\", \"cancelled\"))", true),
        ("sessionStatus in (\"in-progress\")", true),
        ("sessionStatus not in (\"done\", \"in-progress\")", false),
        ("messageCount in (1, 12)", true),
        ("\"bug\" in labels", true),
        ("\"priority\" in labels and \"priority::3\" in labels", true),
        ("\"priority::4\" in labels", false),
        ("labels in (\"bug\", \"priority\", \"x\")", true),
        ("labels in (\"bug\")", false),
        ("contains(labels, \"bug\") and contains(labels, \"priority\") and contains(labels, \"priority::3\")", true),
        ("contains(labels, \"prio\")", false),
        ("contains(name, \"big\") and contains(name, \"\\\"big\\\"\")", true),
        ("startsWith(lower(name), \"plan\")", true),
        ("startsWith(name, \"plan\")", false),
        ("length(labels) == 2 and labelCount == 2 and length(name) > 3", true),
        ("lastMessageRole == \"assistant\" and model == \"\"", true),
        ("not hasUnread == true", false),
        ("not not hasUnread", true),
        ("not isFlagged and not messageCount > 100", true),
        ("false or true and false", false),
        ("(false or true) and false == false", true),
        ("true == (1 < 2)", true),
        ("1 + 2 * 3 == 7 and (1 + 2) * 3 == 9", true),
        ("10 - 3 - 2 == 5 and 8 / 2 / 2 == 2 and 2 ^ 3 ^ 2 == 64", true),
        ("-2 ^ 2 == 4 and 3 - -1 == 4 and - - 1 == 1", true),
        ("7 % 3 == 1 and -7 % 3 == 2 and 7 mod 3 == 1", true),
        ("1.5 * 2 == 3.0", true),
        ("messageCount", true),
        ("labelCount - 2", false),
        ("name", true),
        ("model", false),
        ("isProcessing", false),
        ("hasPendingPlan", false),
        ("\"日本\" == \"日本\"", true),
    ] {
        assert_eq!(ask(text, &session), holds, "{text}");
    }
}

#[test]
fn what_is_running_is_processing() {
    let mut session = session();
    for (activity, plan, processing) in [
        (Activity::Running(NOW), false, true),
        (Activity::Stopping, false, true),
        (Activity::NeedsYou("approve: ls".into()), false, true),
        (Activity::NeedsYou("plan".into()), true, false),
        (Activity::Idle, false, false),
    ] {
        (session.activity, session.plan_pending) = (activity.clone(), plan);
        assert_eq!(ask("isProcessing == true", &session), processing, "{activity:?}");
        assert_eq!(ask("hasPendingPlan == true", &session), plan, "{activity:?}");
    }
}

#[test]
fn a_session_without_messages_has_no_age() {
    let mut session = session();
    session.messages = 0;
    assert!(ask("lastUsedAt == 0 and daysSince(lastUsedAt) == 0", &session));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, at, says) in [
        ("", 0, "Empty"),
        ("  ", 0, "Empty"),
        ("messageCount > (((", 18, "Unexpected end"),
        ("(messageCount > 1", 17, "Missing `)` for the `(` at byte 0"),
        ("messageCount > 1)", 16, "Unexpected )"),
        ("hasUnread isFlagged", 10, "Unexpected isFlagged"),
        ("nosuchfield == 3", 0, "No field nosuchfield"),
        ("hasunread == true", 0, "Did you mean hasUnread?"),
        ("tokenUsage.nothing > 1", 0, "No field"),
        ("daysAgo(lastUsedAt) > 1", 0, "No function daysAgo"),
        ("messageCount > \"1\"", 15, "> expects a number, found a text"),
        ("name > 3", 0, "> expects a number"),
        ("isFlagged and messageCount > 1 and name", 35, "and expects true or false"),
        ("hasUnread == \"true\"", 10, "is always false"),
        ("name == 'x'", 8, "double quotes"),
        ("name = \"x\"", 5, "=="),
        ("name == \"x", 8, "closing quote"),
        ("name == \"x\\n\"", 10, "Unknown escape"),
        ("name ~= \"x\"", 5, "Unexpected"),
        ("labels == \"bug\"", 7, "contains(labels"),
        ("labels", 0, "not a condition"),
        ("sessionStatus in \"done\"", 17, "in expects a list"),
        ("messageCount in (\"1\")", 17, "for a number"),
        ("1 in labels", 0, "Lists contain strings"),
        ("contains(labels)", 0, "write contains("),
        ("length()", 0, "write length("),
        ("lower(3) == \"\"", 0, "write lower("),
        ("and true", 0, "found and"),
        ("true and", 8, "Unexpected end"),
        ("1.2.3 == 1", 0, "Not a number"),
        ("1. == 1", 0, "Not a number"),
        ("+1 == 1", 0, "found +"),
        ("not 3", 4, "not expects true or false"),
        ("日本 == 1", 0, "Unexpected"),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert!(error.at == at && error.text.contains(says), "{text}: {error:?}");
    }
}

#[test]
fn a_division_by_zero_is_no_match() {
    for text in ["1 / labelCount > 0", "1 % labelCount > 0", "not (1 / labelCount > 0)"] {
        let mut session = session();
        assert!(Expression::parse(text).unwrap().matches(&session, NOW).is_ok(), "{text}");
        session.labels.clear();
        assert!(Expression::parse(text).unwrap().matches(&session, NOW).is_err(), "{text}");
    }
}

#[test]
fn neither_depth_nor_length_ends_the_program() {
    for deep in ["(", "not ", "-", "length(", "1 in ("] {
        assert!(Expression::parse(&deep.repeat(100_000)).is_err(), "{deep}");
    }
    let long = format!("hasUnread{}", " and hasUnread".repeat(20_000));
    assert!(ask(&long, &session()));
    let long = format!("1{} > 0", " + 1".repeat(20_000));
    assert!(ask(&long, &session()));
    let fits = format!("{}hasUnread{}", "(".repeat(40), ")".repeat(40));
    assert!(ask(&fits, &session()));
}

fn condition() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("hasUnread".to_owned()),
        Just("isFlagged == true".to_owned()),
        Just("messageCount > 3".to_owned()),
        Just("contains(labels, \"bug\")".to_owned()),
        Just("1 / labelCount < 2".to_owned()),
        Just("sessionStatus in (\"done\", \"x\")".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} and {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) or ({b})")),
            inner.prop_map(|a| format!("not ({a})")),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,60}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
        }
    }

    #[test]
    fn words_in_any_order_do_not_either(words in proptest::collection::vec(
        prop_oneof![
            Just("("), Just(")"), Just(","), Just("and"), Just("or"), Just("not"), Just("in"), Just("=="), Just("!="),
            Just("<"), Just(">="), Just("+"), Just("-"), Just("*"), Just("/"), Just("%"), Just("^"), Just("1"), Just("0"),
            Just("\"a\""), Just("labels"), Just("name"), Just("hasUnread"), Just("messageCount"), Just("length("),
            Just("contains("), Just("daysSince("), Just("true"),
        ],
        0..14,
    )) {
        if let Ok(expression) = Expression::parse(&words.join(" ")) {
            // What was read has the right types: only a division can fail.
            if let Err(why) = expression.matches(&session(), NOW) {
                prop_assert_eq!(why, "a division by zero");
            }
        }
    }

    #[test]
    fn and_or_and_not_are_what_they_say(a in condition(), b in condition()) {
        let mut session = session();
        session.labels.push("x".into());
        let (left, right) = (ask(&a, &session), ask(&b, &session));
        prop_assert_eq!(ask(&format!("({a}) and ({b})"), &session), left && right);
        prop_assert_eq!(ask(&format!("({a}) or ({b})"), &session), left || right);
        prop_assert_eq!(ask(&format!("not ({a}) == ({b})"), &session), left != right);
    }
}
