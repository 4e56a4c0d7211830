//! Tables over the list as a whole.

use super::*;
use crate::domain::Mode;
use crate::domain::property::{Label, SavedView, Status};
use proptest::prelude::*;
use std::path::PathBuf;

/// Saturday, 2026-11-21, 12:00 UTC.
const NOON: i64 = 1_795_262_400_000;
const HOUR: i64 = 3_600_000;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn meta(name: &str, at: i64) -> SessionMeta {
    SessionMeta::new(id(name), At(at), Mode::Ask, PathBuf::from("/w"))
}

fn listed(metas: Vec<SessionMeta>) -> Sessions {
    let mut sessions = Sessions::default();
    sessions.replace(metas, At(NOON), 0);
    sessions
}

fn put(sessions: &mut Sessions, meta: SessionMeta) {
    sessions.put(meta, At(NOON), 0);
}

fn shown(sessions: &Sessions) -> Vec<String> {
    let of = |row: Row<'_>| match row {
        Row::Group(band) => {
            let folded = if band.folded { " folded" } else { "" };
            format!("[{} {}{folded}]", sessions.heading(&band.group, At(NOON), 0), band.count())
        }
        Row::Session(id) => id.to_string(),
    };
    sessions.rows_from(0).map(of).collect()
}

fn typed(sessions: &mut Sessions, text: &str) {
    sessions.filter = Some(Filter { query: crate::app::state::edit::Line::new(text), typing: true });
    sessions.retype(At(NOON), 0);
}

fn cursor(sessions: &Sessions) -> String {
    match sessions.cursor() {
        Some(Cursor::Session(id)) => id.to_string(),
        Some(Cursor::Heading(group)) => format!("[{}]", group.label(At(NOON), 0)),
        None => String::new(),
    }
}

#[test]
fn what_needs_you_comes_first_then_what_runs_then_the_days() {
    let mut all = vec![
        meta("old", NOON - 24 * 60 * HOUR),
        meta("new", NOON),
        meta("newer", NOON + 1),
        meta("needs", NOON - 24 * 90 * HOUR),
        meta("runs", NOON - 24 * 90 * HOUR),
        meta("plan", NOON - 24 * 91 * HOUR),
        meta("hidden", NOON),
        meta("archived", NOON),
    ];
    all[3].activity = Activity::NeedsYou("approve: ls".to_owned());
    all[4].activity = Activity::Running(At(NOON));
    all[5].plan_pending = true;
    all[6].hidden = true;
    all[7].archived = true;
    let mut sessions = listed(all);
    assert_eq!(
        shown(&sessions),
        ["[needs you 2]", "needs", "plan", "[running 1]", "runs", "[today 2]", "newer", "new", "[September 1]", "old"]
    );
    assert_eq!((sessions.needing(), sessions.any_running()), (2, true));
    sessions.set_facet(Facet::Archived, Wish::Only, At(NOON), 0);
    assert_eq!(shown(&sessions), ["[today 1]", "archived"]);
    sessions.set_facet(Facet::Archived, Wish::None, At(NOON), 0);
    sessions.set_facet(Facet::Hidden, Wish::Only, At(NOON), 0);
    assert_eq!(shown(&sessions), ["[today 1]", "hidden"]);
}

#[test]
fn groups_by_other_things() {
    let status = |id: &str| Status {
        id: id.to_owned(),
        label: id.to_uppercase(),
        color: None,
        icon: None,
        category: crate::domain::property::Category::Open,
        order: 0,
        fixed: false,
        default: false,
    };
    let label = |id: &str, children| Label {
        id: id.to_owned(),
        name: id.to_uppercase(),
        color: None,
        value_type: None,
        children,
        rules: vec![],
    };
    let properties = Properties {
        statuses: vec![status("todo"), status("done")],
        default_status: "todo".to_owned(),
        labels: vec![label("bug", vec![label("crash", vec![])]), label("doc", vec![])],
        ..Properties::default()
    };
    let mut all = vec![meta("a", 1), meta("b", 2), meta("c", 3), meta("d", 4)];
    all[0].status = "done".to_owned();
    all[1].status = "strange".to_owned();
    all[0].labels = vec!["own".to_owned(), "doc".to_owned()];
    all[1].labels = vec!["crash::7".to_owned()];
    all[2].cwd = PathBuf::from("/a");
    let mut sessions = listed(all);
    sessions.define(&properties, At(NOON), 0);
    let mut by = |grouping| {
        sessions.group_by(grouping, At(NOON), 0);
        shown(&sessions)
    };
    assert_eq!(by(Grouping::Status), ["[TODO 3]", "d", "c", "b", "[DONE 1]", "a"]);
    assert_eq!(by(Grouping::Label), ["[CRASH 1]", "b", "[DOC 1]", "a", "[no label 2]", "d", "c"]);
    assert_eq!(by(Grouping::Directory), ["[/a 1]", "c", "[/w 3]", "d", "b", "a"]);
    assert_eq!(by(Grouping::Flat), ["d", "c", "b", "a"]);
    sessions.set_facet(Facet::Label("bug".to_owned()), Wish::Only, At(NOON), 0);
    assert_eq!(shown(&sessions), ["b"], "with what is below it");
    assert_eq!(sessions.facets().only[0].shown(sessions.catalogue()), "#BUG");
    sessions.set_facet(Facet::Label("bug".to_owned()), Wish::None, At(NOON), 0);
    let view = |id: &str, expression: &str| SavedView {
        id: id.to_owned(),
        name: id.to_uppercase(),
        description: None,
        color: None,
        expression: expression.to_owned(),
    };
    let views = vec![view("labelled", "contains(labels, \"doc\")"), view("broken", "((")];
    sessions.define(&Properties { views, ..properties.clone() }, At(NOON), 0);
    typed(&mut sessions, "view:labelled");
    assert_eq!(shown(&sessions), ["a"]);
    typed(&mut sessions, "-view:labelled");
    assert_eq!(shown(&sessions), ["d", "c", "b"]);
    typed(&mut sessions, "view:broken");
    assert_eq!((shown(&sessions).len(), sessions.unknown_facets().len()), (4, 1));
    sessions.set_facet(Facet::View("labelled".to_owned()), Wish::Only, At(NOON), 0);
    let kept = sessions.kept();
    let mut next = Sessions::default();
    next.recall(kept.clone());
    assert_eq!(next.kept(), kept);
}

#[test]
fn the_cursor_stays_with_its_session() {
    let mut sessions = listed(vec![meta("a", 3), meta("b", 2), meta("c", 1)]);
    sessions.step(0);
    sessions.step(1);
    assert_eq!(cursor(&sessions), "b");
    put(&mut sessions, meta("c", 9));
    put(&mut sessions, meta("d", 99));
    assert_eq!(cursor(&sessions), "b");
    // It goes out of the list: the one at its place is selected.
    let mut gone = meta("b", 2);
    gone.archived = true;
    put(&mut sessions, gone);
    assert_eq!(cursor(&sessions), "a");
    sessions.remove(&id("a"));
    assert_eq!(cursor(&sessions), "c");
    sessions.step(isize::MAX);
    sessions.step(isize::MIN);
    assert_eq!(cursor(&sessions), "d");
    sessions.reidentify(&id("d"), &id("e"), At(NOON), 0);
    assert_eq!((cursor(&sessions).as_str(), shown(&sessions)[1].as_str()), ("e", "e"));
}

#[test]
fn what_is_read_stays_where_one_reads() {
    let mut sessions = listed((0..40).map(|n| meta(&format!("s{n:02}"), n)).collect());
    sessions.top = 20;
    let first = |sessions: &Sessions| match sessions.rows_from(sessions.top).next() {
        Some(Row::Session(id)) => id.to_string(),
        other => format!("{other:?}"),
    };
    let before = first(&sessions);
    put(&mut sessions, meta("s05", NOON));
    put(&mut sessions, meta("new", NOON));
    assert_eq!(first(&sessions), before);
    let again = sessions.metas().cloned().collect();
    sessions.replace(again, At(NOON), 0);
    assert_eq!(first(&sessions), before);
    sessions.top = 0;
    put(&mut sessions, meta("newer", NOON + 1));
    assert_eq!(sessions.top, 0, "at the top one sees what comes");
}

#[test]
fn folded_groups_keep_their_sessions_and_are_remembered() {
    let mut sessions = listed(vec![meta("a", NOON), meta("b", NOON - 24 * HOUR), meta("c", NOON - 24 * HOUR - 1)]);
    sessions.select(&id("c"));
    let group = sessions.group_at_cursor().unwrap();
    assert!(sessions.fold(&group, true) && !sessions.fold(&group, true));
    assert_eq!(shown(&sessions), ["[today 1]", "a", "[yesterday 2 folded]"]);
    assert_eq!((cursor(&sessions).as_str(), sessions.selected()), ("[yesterday]", None));
    assert_eq!(sessions.chosen(), Vec::<SessionId>::new(), "nothing is done to what is not seen");
    sessions.step(-1);
    assert_eq!(cursor(&sessions), "a");
    sessions.step(1);
    assert_eq!(cursor(&sessions), "[yesterday]");
    // A session that comes into it stays out of sight.
    sessions.select(&id("a"));
    put(&mut sessions, meta("a", NOON - 25 * HOUR));
    assert_eq!(shown(&sessions), ["[yesterday 3 folded]"]);
    assert_eq!(cursor(&sessions), "[yesterday]");
    assert_eq!(sessions.count(), 3);
    let mut again = Sessions::default();
    again.recall(sessions.kept());
    again.replace(sessions.metas().cloned().collect(), At(NOON), 0);
    assert_eq!(shown(&again), shown(&sessions));
    // What is found is shown, and then it is as it was.
    typed(&mut again, "session");
    assert_eq!(shown(&again).len(), 4);
    again.filter = None;
    again.arrange(At(NOON), 0);
    again.select_heading(&group);
    assert!(again.fold(&group, false));
    assert_eq!(cursor(&again), "b", "its first session");
    assert!(again.fold_all());
    assert_eq!(shown(&again), ["[yesterday 3 folded]"]);
}

#[test]
fn marks_follow_keys_and_leave_with_their_session() {
    let mut sessions = listed((0..6).map(|n| meta(&format!("s{n}"), 10 - n)).collect());
    let marked = |sessions: &Sessions| sessions.chosen().iter().map(ToString::to_string).collect::<Vec<_>>();
    sessions.select(&id("s3"));
    assert_eq!(marked(&sessions), ["s3"], "none: the selected one");
    sessions.marks.toggle(&id("s0"));
    sessions.marks.begin(&id("s3"));
    sessions.step(2);
    assert_eq!(marked(&sessions), ["s0", "s3", "s4", "s5"]);
    sessions.step(-3);
    assert_eq!(marked(&sessions), ["s0", "s2", "s3"], "the range turned, and what was marked before stays");
    let mut gone = meta("s2", 8);
    gone.archived = true;
    put(&mut sessions, gone);
    sessions.remove(&id("s3"));
    assert_eq!(marked(&sessions), ["s0"]);
    sessions.mark_all();
    assert_eq!(sessions.marks.len(), 4);
    sessions.mark_group();
    assert!(sessions.marks.is_empty() && !sessions.marks.clear());
    // Marks are kept while one looks for more to mark.
    sessions.marks.toggle(&id("s0"));
    typed(&mut sessions, "zzz");
    assert_eq!((sessions.count(), marked(&sessions)), (0, vec!["s0".to_owned()]));
}

#[test]
fn words_and_facets_are_typed_in_one_line() {
    let mut all = vec![meta("a", 3), meta("b", 2), meta("c", 1)];
    for (meta, title) in all.iter_mut().zip(["Fix login", "Fix logout", "Weekly report"]) {
        meta.title = title.to_owned();
    }
    all[1].flagged = true;
    let mut sessions = listed(all);
    let mut of = |text: &str| {
        typed(&mut sessions, text);
        sessions.order().map(ToString::to_string).collect::<String>()
    };
    assert_eq!([of("e"), of("f"), of("flogi"), of("fl"), of("")], ["c", "ab", "a", "ab", "abc"].map(str::to_owned));
    assert_eq!([of("is:flagged"), of("-is:flagged"), of("is:flagged rep")], ["b", "ac", ""].map(str::to_owned));
    assert_eq!([of("is:fla"), of("status:"), of("-label:")], ["abc", "abc", "abc"].map(str::to_owned));
    assert_eq!(of("-is:flagged log"), "a");
    assert_eq!(sessions.unknown_facets(), Vec::<String>::new());
    sessions.accept_filter(At(NOON), 0);
    assert_eq!(sessions.facets().texts(), ["-is:flagged"]);
    assert_eq!(sessions.filter.as_ref().map(|f| f.query.text()), Some("log"));
    // One that changes its title while words stand comes and goes.
    let mut other = meta("c", 1);
    other.title = "Weekly log".to_owned();
    put(&mut sessions, other);
    assert_eq!(sessions.order().count(), 2);
    put(&mut sessions, meta("c", 1));
    assert_eq!(sessions.order().count(), 1);
    assert!(sessions.clear_filter(At(NOON), 0) && !sessions.clear_filter(At(NOON), 0));
    assert_eq!(sessions.count(), 3);
    typed(&mut sessions, "is:odd");
    assert_eq!(sessions.unknown_facets(), ["is:odd"]);
}

#[test]
fn the_day_turns() {
    let mut sessions = listed(vec![meta("a", NOON)]);
    assert!(!sessions.turn_day(At(NOON + 11 * HOUR), 0));
    assert!(sessions.turn_day(At(NOON + 12 * HOUR), 0));
    assert!(matches!(sessions.rows_from(0).next(), Some(Row::Group(Band { group: Group::Yesterday, .. }))));
}

#[test]
fn the_selected_row_is_kept_in_sight() {
    let mut sessions = listed((0..50).map(|n| meta(&format!("s{n}"), n)).collect());
    sessions.step(0);
    for _ in 0..60 {
        sessions.step(1);
        sessions.follow(10);
        let at = sessions.cursor_row().unwrap();
        assert!((sessions.top..sessions.top + 10).contains(&at));
    }
    sessions.step(isize::MIN);
    sessions.follow(10);
    assert_eq!(sessions.top, 0, "with its heading");
}

#[test]
fn one_session_moves_without_the_others() {
    let mut sessions = listed((0..10_000).map(|n| meta(&format!("s{n}"), NOON - n * HOUR)).collect());
    let before = sessions.arranged();
    for n in 0..500 {
        let mut changed = meta(&format!("s{}", n * 7), NOON + n);
        changed.activity = if n % 2 == 0 { Activity::Running(At(NOON)) } else { Activity::Idle };
        put(&mut sessions, changed);
    }
    typed(&mut sessions, "ne");
    typed(&mut sessions, "new s");
    assert_eq!((sessions.arranged(), sessions.count()), (before, 10_000), "all rows were made once");
}

fn any_meta() -> impl Strategy<Value = SessionMeta> {
    (0u8..12, 0i64..40, 0u8..5, any::<[bool; 4]>(), "[ab]{1,3}").prop_map(|(name, ago, activity, flags, title)| {
        let mut meta = meta(&format!("s{name}"), NOON - ago * 7 * HOUR);
        meta.title = title;
        meta.activity = match activity {
            0 => Activity::NeedsYou("x".to_owned()),
            1 => Activity::Running(At(NOON)),
            2 => Activity::Stopping,
            _ => Activity::Idle,
        };
        (meta.archived, meta.flagged, meta.unread, meta.plan_pending) =
            (flags[0] && flags[1], flags[1], flags[2], flags[3] && flags[2]);
        meta.status = if flags[3] { "done" } else { "todo" }.to_owned();
        meta.labels = if flags[2] { vec!["bug".to_owned()] } else { vec![] };
        meta
    })
}

proptest! {
    #[test]
    fn moving_rows_is_as_good_as_making_them_anew(
        first in proptest::collection::vec(any_meta(), 0..12),
        changes in proptest::collection::vec((any_meta(), any::<bool>()), 0..24),
        grouping in 0usize..5,
        filter in prop_oneof![Just(""), Just("a"), Just("is:flagged"), Just("-is:unread b"), Just("is:archived")],
        by in -3isize..9,
    ) {
        let mut sessions = Sessions::default();
        sessions.group_by(Grouping::ALL[grouping], At(NOON), 0);
        sessions.replace(first, At(NOON), 0);
        typed(&mut sessions, filter);
        sessions.step(by);
        sessions.step(by);
        for (meta, remove) in changes {
            let had = sessions.cursor_row().is_some();
            if remove {
                sessions.remove(&meta.id);
            } else {
                sessions.put(meta, At(NOON), 0);
            }
            if had && sessions.count() > 0 {
                prop_assert!(sessions.cursor_row().is_some(), "the cursor has a row");
            }
        }
        let mut anew = Sessions::default();
        anew.group_by(Grouping::ALL[grouping], At(NOON), 0);
        anew.replace(sessions.metas().cloned().collect(), At(NOON), 0);
        typed(&mut anew, filter);
        prop_assert_eq!(shown(&sessions), shown(&anew));
        prop_assert_eq!(sessions.needing(), sessions.metas().filter(|meta| needs_you(meta)).count());
        let runs = |meta: &&SessionMeta| matches!(meta.activity, Activity::Running(_) | Activity::Stopping);
        prop_assert_eq!(sessions.any_running(), sessions.metas().any(|meta| runs(&meta)));
    }
}
