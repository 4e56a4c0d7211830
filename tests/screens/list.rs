//! The list of sessions on the screen: its groups, marks, filters, and what it offers.

use super::*;
use lisle::app::state::sessions::undo::Undo;
use lisle::app::state::sessions::{Facet, Grouping, Wish};
use lisle::domain::colour::{Colour, Rgb, System};
use lisle::domain::property::{Label, Properties};
use lisle::domain::property_change::PropertyChange;
use lisle::domain::session::BranchedFrom;

fn label(id: &str, name: &str, color: Option<Colour>, children: Vec<Label>) -> Label {
    Label { id: id.to_owned(), name: name.to_owned(), color, value_type: None, children, rules: vec![] }
}

fn properties() -> Properties {
    let red = Colour::Own { light: Rgb(190, 30, 40), dark: Rgb(240, 110, 120) };
    let labels = vec![
        label("bug", "Bug", Some(red), vec![label("crash", "Crash", None, vec![])]),
        label("prio", "Priority", Some(Colour::System(System::Info, 100)), vec![]),
        label("docs", "Docs", Some(Colour::System(System::Success, 100)), vec![]),
    ];
    Properties { labels, ..Properties::builtin() }
}

/// A home with all that a row can show; the first session is open and the list has the keys.
pub fn rich() -> State {
    let mut state = used();
    state.sessions.define(&properties(), NOW, 0);
    let mut change = |name: &str, change: &dyn Fn(&mut SessionMeta)| {
        let mut meta = state.sessions.meta(&id(name)).unwrap().clone();
        change(&mut meta);
        state.sessions.put(meta, NOW, 0);
    };
    change("260902-red-leaf", &|m| m.labels = vec!["docs".to_owned()]);
    change("260902-blue-stone", &|m| {
        m.status = "needs-review".to_owned();
        m.cwd = PathBuf::from("/home/me/data/a/very/long/way/down/to/the/warehouse");
    });
    change("260901-old-oak", &|m| {
        m.status = "done".to_owned();
        m.flagged = true;
        m.labels = vec!["crash".to_owned(), "prio::1".to_owned(), "own".to_owned()];
        m.branched_from = Some(BranchedFrom { session: id("260820-dry-sand"), message: MessageId::new("m") });
    });
    let mut plan = meta("260902-new-moon", "再設計：検索の結果を早く出す 🚀 とても長い題名です", ago(40 * MINUTE));
    plan.plan_pending = true;
    plan.labels = vec!["prio::3".to_owned()];
    state.sessions.put(plan, NOW, 0);
    let mut given_up = meta("260715-wet-clay", "Try the other allocator", ago(49 * 24 * HOUR));
    given_up.status = "cancelled".to_owned();
    given_up.cwd = PathBuf::from("/srv/bench");
    state.sessions.put(given_up, NOW, 0);
    let mut archived = meta("260601-grey-fog", "Old notes", ago(93 * 24 * HOUR));
    archived.archived = true;
    state.sessions.put(archived, NOW, 0);
    state.focus = Focus::List;
    state.screen.shown = Shown::List;
    state
}

fn list_only(name: &str, state: &State, width: u16, height: u16) -> String {
    let text = shot(name, state, width, height);
    // Where both panes are shown only the list matters here.
    let cut = if width < 80 { usize::from(width) } else { usize::from((width * 28 / 100 / 2 * 2).clamp(24, 36)) };
    let line = |line: &str| {
        let mut used = 0;
        let wide = |c: char| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        let kept: String = line.chars().take_while(|c| (used += wide(*c), used <= cut).1).collect();
        kept.trim_end().to_owned()
    };
    text.lines().take(usize::from(height)).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn groupings() {
    for grouping in Grouping::ALL {
        let mut state = rich();
        state.sessions.group_by(grouping, NOW, 0);
        let name = format!("{grouping:?}").to_lowercase();
        for (width, height) in [(140, 40), (80, 24), (40, 10)] {
            let text = list_only(&format!("by-{name}"), &state, width, height);
            insta::assert_snapshot!(format!("by-{name}-{width}x{height}"), text);
        }
    }
}

#[test]
fn alone_the_list_names_labels() {
    insta::assert_snapshot!("rich-79x24", list_only("rich", &rich(), 79, 24));
}

#[test]
fn marks_folds_filters_and_the_way_back() {
    let mut state = rich();
    state.sessions.marks.toggle(&id("260902-red-leaf"));
    state.sessions.marks.toggle(&id("260901-old-oak"));
    insta::assert_snapshot!("marked-100x30", list_only("marked", &state, 100, 30));
    let metas: Vec<&SessionMeta> = state.sessions.metas().filter(|meta| state.sessions.marks.has(&meta.id)).collect();
    let undo = Undo::of(&metas, &PropertyChange::Archived(true), "Archived 2 sessions".to_owned(), NOW).unwrap().0;
    state.sessions.undo = Some(undo);
    state.sessions.marks.clear();
    state.sessions.fold_all();
    insta::assert_snapshot!("folded-100x30", list_only("folded", &state, 100, 30));
    state.sessions.fold_all();
    state.sessions.set_facet(Facet::Label("bug".to_owned()), Wish::Only, NOW, 0);
    state.sessions.set_facet(Facet::Status("todo".to_owned()), Wish::Without, NOW, 0);
    insta::assert_snapshot!("facets-80x24", list_only("facets", &state, 80, 24));
    state.sessions.filter = Some(Filter { query: Line::new("cache"), typing: false });
    state.sessions.arrange(NOW, 0);
    insta::assert_snapshot!("facets-and-words-140x40", list_only("facets-words", &state, 140, 40));
    state.sessions.filter = Some(Filter { query: Line::new("zzz"), typing: true });
    state.sessions.arrange(NOW, 0);
    insta::assert_snapshot!("nothing-matches-80x24", list_only("nothing", &state, 80, 24));
    // Where the list is not on the screen, the status line offers the way back.
    state.screen.shown = Shown::Chat;
    state.focus = Focus::Composer;
    let last = shot("undo", &state, 60, 12).lines().nth(11).unwrap_or("").to_owned();
    insta::assert_snapshot!("undo-60", last);
}

#[test]
fn few_signs_and_few_colours_show_the_list() {
    let mut state = rich();
    state.sessions.marks.toggle(&id("260902-red-leaf"));
    for (name, colors) in [("16", Colors::C16), ("none", Colors::None)] {
        let theme = Theme::builtin(true).for_terminal(colors);
        let (buf, _) = draw_with(&state, &theme, ui::glyphs::GlyphSet::Ascii, 60, 24);
        insta::assert_snapshot!(format!("ascii-list-{name}"), screen::text(&screen::terminal(&buf)));
    }
}

#[test]
fn ten_thousand_are_as_one() {
    let mut state = rich();
    let many = (0..10_000).map(|n| meta(&format!("s-{n:05}"), &format!("Session number {n}"), ago(n * HOUR)));
    state.sessions.replace(many.collect(), NOW, 0);
    state.sessions.step(isize::MAX);
    for (width, height) in [(140, 40), (40, 10)] {
        let height_of = usize::from(draw(&state, width, height).1.frame.list_rows);
        state.sessions.follow(height_of);
        assert!(list_only("many", &state, width, height).contains("Session number 9999"));
    }
}

#[test]
fn work_that_is_begun_needs_no_word() {
    for activity in [Activity::Idle, Activity::Running(ago(MINUTE))] {
        let mut state = used();
        state.sessions.define(&properties(), NOW, 0);
        let mut begun = meta("260902-new-moon", "Only this one", ago(MINUTE));
        (begun.status, begun.activity) = ("in-progress".to_owned(), activity);
        let mut chosen = meta("260902-old-moon", "That one", ago(MINUTE));
        chosen.status = "needs-review".to_owned();
        state.sessions.replace(vec![begun, chosen], NOW, 0);
        let screen = list_only("begun", &state, 140, 40);
        assert!(!screen.to_lowercase().contains("progress") && screen.contains("Needs Review"), "{screen}");
    }
}
