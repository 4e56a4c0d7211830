//! The tables of keys and commands in the manual come from the tables that are in force. `LISLE_DOCS=write` writes them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use lisle::app::slash::Slash;
use lisle::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, Context, ModeAction, PaneAction, SessionAction,
};
use lisle::keymap::key::chord_name;
use lisle::keymap::{self, Table};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the README shows of the keys.
const FIRST: &[(Context, &[Action])] = &[
    (
        Context::Composer,
        &[
            Action::Composer(ComposerAction::Send),
            Action::Composer(ComposerAction::Newline),
            Action::Composer(ComposerAction::Steer),
            Action::Composer(ComposerAction::Editor),
            Action::Composer(ComposerAction::History),
        ],
    ),
    (
        Context::Global,
        &[
            Action::Mode(ModeAction::Next),
            Action::App(AppAction::Back),
            Action::Answer(AnswerAction::Focus),
            Action::Answer(AnswerAction::Plan),
            Action::Answer(AnswerAction::Inbox),
            Action::Composer(ComposerAction::Queue),
            Action::Session(SessionAction::New),
            Action::Session(SessionAction::Switch),
            Action::Session(SessionAction::Next),
            Action::Session(SessionAction::Previous),
            Action::Session(SessionAction::Search),
            Action::Pane(PaneAction::Next),
            Action::Pane(PaneAction::Swap),
            Action::Chat(ChatAction::PageUp),
            Action::Chat(ChatAction::PageDown),
            Action::Chat(ChatAction::Density),
            Action::Chat(ChatAction::Thinking),
        ],
    ),
];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The table of that keymap, which must be free of problems.
fn table(name: &str) -> Table {
    let loaded = keymap::load_style(name).unwrap();
    assert_eq!(loaded.problems, vec![], "{name}");
    loaded.table
}

/// A chord as a cell of a table: `|` would end it.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}

fn row(out: &mut String, table: &Table, context: Context, action: Action) {
    let found: Vec<_> = table.of(context).filter(|binding| binding.action == action).collect();
    let Some(first) = found.first() else { panic!("{} has no key in {}", action.name(), context.word()) };
    let keys: Vec<String> = found.iter().map(|binding| cell(&chord_name(&binding.keys))).collect();
    writeln!(out, "| {} | {} |", keys.join(", "), cell(&first.desc)).unwrap();
}

/// Each verb of a place with all its keys, in the order of the file.
fn place(out: &mut String, table: &Table, context: Context) {
    let mut actions: Vec<Action> = Vec::new();
    for binding in table.of(context) {
        if !actions.contains(&binding.action) {
            actions.push(binding.action);
        }
    }
    if actions.is_empty() {
        return;
    }
    write!(out, "\n### {}\n\n| Key | What it does |\n|---|---|\n", context.heading()).unwrap();
    for action in actions {
        row(out, table, context, action);
    }
}

fn manual() -> String {
    let mut out =
        "# Keys and commands\n\nMade from `keymaps/*.toml` and the table of commands; `tests/manual.rs` keeps it \
                   true. In the app `?` on an empty draft shows the keys of the place you are in.\n\n## Keys\n"
            .to_owned();
    let plain = table("default");
    for &context in Context::ALL {
        place(&mut out, &plain, context);
    }
    for name in keymap::names().filter(|name| *name != "default") {
        let other = table(name);
        write!(out, "\n## Keymap {name}\n\nWhat is different from the keys above.\n").unwrap();
        for &context in Context::ALL {
            let of = |table: &Table| -> Vec<_> { table.of(context).map(|b| (b.keys.clone(), b.action)).collect() };
            if of(&other) != of(&plain) {
                place(&mut out, &other, context);
            }
        }
    }
    out.push_str("\n## Commands\n\n| Command | What it does |\n|---|---|\n");
    for &slash in Slash::ALL {
        let usage = if slash.usage().is_empty() { String::new() } else { format!(" {}", slash.usage()) };
        writeln!(out, "| `/{}{}` | {} |", slash.word(), cell(&usage), cell(slash.description())).unwrap();
    }
    out
}

fn first_keys() -> String {
    let plain = table("default");
    let mut out = "| Key | What it does |\n|---|---|\n".to_owned();
    for (context, actions) in FIRST {
        for &action in *actions {
            row(&mut out, &plain, *context, action);
        }
    }
    out
}

/// The file says `wanted`, or is made to.
#[track_caller]
fn holds(path: &str, wanted: &str) {
    if std::env::var("LISLE_DOCS").is_ok_and(|word| word == "write") {
        std::fs::write(here(path), wanted).unwrap();
    }
    let found = std::fs::read_to_string(here(path)).unwrap_or_default();
    assert!(found == wanted, "{path} is not what the tables say: run LISLE_DOCS=write cargo test --test manual");
}

#[test]
fn the_manual_says_what_the_tables_say() {
    holds("docs/keys.md", &manual());
}

#[test]
fn the_first_keys_in_the_readme_are_those_of_the_table() {
    let readme = std::fs::read_to_string(here("README.md")).unwrap();
    let (begin, end) = ("<!-- keys -->\n", "<!-- /keys -->\n");
    let (before, rest) = readme.split_once(begin).expect("README.md marks where its keys begin");
    let (_, after) = rest.split_once(end).expect("README.md marks where its keys end");
    holds("README.md", &format!("{before}{begin}{}{end}{after}", first_keys()));
}
