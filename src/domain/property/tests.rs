//! Statuses, labels and their values, tried as tables and with any text.

use super::*;
use proptest::prelude::*;

fn label(id: &str, name: &str, value_type: Option<ValueType>, children: Vec<Label>) -> Label {
    Label { id: id.into(), name: name.into(), color: None, value_type, children, rules: Vec::new() }
}

fn properties() -> Properties {
    let labels = vec![
        label(
            "development",
            "Development",
            None,
            vec![
                label("code", "Code", None, vec![label("frontend", "Front End", None, vec![])]),
                label("bug", "Bug", None, vec![]),
            ],
        ),
        label("priority", "Priority", Some(ValueType::Number), vec![]),
        label("due", "Due", Some(ValueType::Date), vec![]),
        label("project", "Project", Some(ValueType::String), vec![]),
    ];
    Properties { labels, ..Properties::builtin() }
}

#[test]
fn the_builtin_statuses_stand_in_the_documented_order() {
    let of = |category| move |s: &&Status| s.category == category;
    let all = Properties::builtin();
    let ids = |list: Vec<&Status>| list.iter().map(|s| s.id.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(ids(all.statuses.iter().collect()), "todo in-progress needs-review done cancelled");
    assert_eq!(ids(all.statuses.iter().filter(of(Category::Closed)).collect()), "done cancelled");
    assert!(all.statuses.is_sorted_by_key(|s| s.order));
    assert_eq!(all.views.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["New", "Plan", "Explore", "Processing"]);
}

#[test]
fn an_unknown_status_reads_as_the_default_one() {
    let mut all = Properties::builtin();
    for (id, found) in [("done", "done"), ("in_progress", "in-progress"), ("gone", "todo"), ("", "todo")] {
        assert_eq!(all.status(id).id, found, "{id}");
    }
    all.default_status = "needs-review".into();
    assert_eq!(all.status("gone").id, "needs-review");
    all.default_status = "gone too".into();
    assert_eq!(all.status("gone").id, "todo");
    assert_eq!(Properties::default().status("x").id, "todo");
    assert_eq!(all.find_status(" needs REVIEW ").map(|s| s.id.as_str()), Some("needs-review"));
    assert_eq!(all.known_status("gone"), None);
}

#[test]
fn a_label_has_all_below_it_under_it() {
    let all = properties();
    assert_eq!(all.under("development"), ["development", "code", "frontend", "bug"]);
    assert_eq!(all.under("code"), ["code", "frontend"]);
    assert_eq!(all.under("nowhere"), ["nowhere"]);
    let entries = ["frontend::x".to_owned(), "gone".to_owned()];
    for (id, has) in [("development", true), ("frontend", true), ("bug", false), ("gone", true), ("front", false)] {
        assert_eq!(all.has_label(&entries, id), has, "{id}");
    }
    assert_eq!(all.find_label("front end").map(|l| l.id.as_str()), Some("frontend"));
    let depths: Vec<usize> = all.walk().iter().map(|(depth, _)| *depth).collect();
    assert_eq!(depths, [0, 1, 2, 1, 0, 0, 0]);
}

#[test]
fn values_are_shown_and_checked_by_their_type() {
    let all = properties();
    for (entry, shown, fits) in [
        ("bug", "Bug", true),
        ("bug::crash", "Bug: crash", false),
        ("priority", "Priority", true),
        ("priority::3", "Priority: 3", true),
        ("priority::-2.50", "Priority: -2.5", true),
        ("priority::1e5", "Priority: 1e5", false),
        ("priority::", "Priority: ", false),
        ("due::2026-01-30", "Due: Jan 30, 2026", true),
        ("due::2026-01-30T09:15", "Due: Jan 30, 2026 09:15", true),
        ("due::2026-02-30", "Due: 2026-02-30", false),
        ("due::2026-01-30T24:00", "Due: 2026-01-30T24:00", false),
        ("due::tomorrow", "Due: tomorrow", false),
        ("project::新しい 計画", "Project: 新しい 計画", true),
        ("project::a::b", "Project: a::b", true),
        ("gone::x", "gone: x", false),
        ("", "", false),
    ] {
        assert_eq!(all.shown_label(entry), shown, "{entry}");
        assert_eq!(all.check_label(entry).is_ok(), fits, "{entry}");
    }
    assert_eq!(all.check_label("bgu"), Err("No label \"bgu\". Did you mean \"bug\"?".into()));
}

#[test]
fn entries_are_added_replaced_taken_away_and_appended() {
    let start = || vec!["bug".to_owned(), "priority::3".into(), "due::x".into(), "priority::4".into()];
    let mut entries = start();
    add_label(&mut entries, "priority::9");
    assert_eq!(entries, ["bug", "priority::9", "due::x"]);
    add_label(&mut entries, "project::p");
    assert_eq!(entries, ["bug", "priority::9", "due::x", "project::p"]);
    let mut entries = start();
    remove_label(&mut entries, "priority");
    remove_label(&mut entries, "gone");
    assert_eq!(entries, ["bug", "due::x"]);
    append_labels(&mut entries, ["bug::x".to_owned(), "bug".into(), "bug::x".into()]);
    assert_eq!(entries, ["bug", "due::x", "bug::x"]);
}

#[test]
fn ids_are_made_as_craft_makes_them_and_are_never_empty() {
    let taken = |list: &'static [&'static str]| move |id: &str| list.contains(&id);
    for (name, list, id) in [
        ("Blocked by Vendor", &[][..], "blocked-by-vendor"),
        ("Won't fix — 不修", &[], "won-t-fix"),
        ("Hooks & Effects", &[], "hooks-effects"),
        ("Bug", &["bug"], "bug-2"),
        ("Bug", &["bug", "bug-2"], "bug-3"),
        ("阻塞", &[], "label-1"),
        ("阻塞", &["label-1"], "label-2"),
        ("--", &[], "label-1"),
        ("a rather long name that goes on and on", &[], "a-rather-long-name-that-goes-o"),
        (
            "a rather long name that goes on and on",
            &["a-rather-long-name-that-goes-o"],
            "a-rather-long-name-that-goes-2",
        ),
        ("abcdefghij abcdefghij abcdefg hi", &[], "abcdefghij-abcdefghij-abcdefg"),
    ] {
        assert_eq!(slug(name, "label", &taken(list)), id, "{name} {list:?}");
    }
}

proptest! {
    #[test]
    fn values_of_any_text_are_shown(text in "\\PC{0,24}", date in "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2})?") {
        let _ = LabelValue::of(&text).to_string();
        // A date is one only when it comes back as it was written.
        match LabelValue::of(&date) {
            LabelValue::Day(day) => prop_assert_eq!(day.strftime("%Y-%m-%d").to_string(), date),
            LabelValue::Minute(minute) => prop_assert_eq!(minute.strftime("%Y-%m-%dT%H:%M").to_string(), date),
            other => prop_assert_eq!(other, LabelValue::Text(&date)),
        }
    }

    #[test]
    fn any_name_gives_an_id(name in "\\PC{0,60}") {
        let id = slug(&name, "status", &|_| false);
        prop_assert!(!id.is_empty() && id.len() <= 30);
        prop_assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        prop_assert!(!id.starts_with('-') && !id.ends_with('-'));
    }
}
