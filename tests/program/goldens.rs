//! Output of each command, in each of its formats: one stored text each (`INSTA_UPDATE=always` writes them). The home and
//! the workspace are always the same, and what a machine adds has a stand-in.

use crate::headless::{Place, code, err, out};
use std::path::Path;
use std::process::Command;

/// Commands, each with its exit status. A name without blanks is that of the stored text.
pub const COMMANDS: &[(&str, i32)] = &[
    ("sessions list --flagged", 0),
    ("sessions list --flagged --json", 0),
    ("sessions list --routes --json", 0),
    ("sessions show 260902-swift-river", 0),
    ("sessions show 260904-bold-canyon --json", 0),
    ("sessions export 260902-swift-river --format md", 0),
    ("sessions export 260902-swift-river --format html", 0),
    ("sessions export 260902-swift-river --format json", 0),
    ("sessions export 260902-swift-river --format text", 0),
    ("sessions export 260902-swift-river --format openclaw", 0),
    ("sessions search checklist", 0),
    ("sessions search checklist --json", 0),
    ("sessions set 260902-swift-river --unflag --json", 0),
    ("sessions verify 260902-swift-river", 0),
    ("sessions verify 260902-swift-river --json", 0),
    ("sessions cleanup --dry-run --json", 0),
    ("sessions trash", 0),
    ("sessions trash --json", 0),
    ("labels list", 0),
    ("labels list --json", 0),
    ("statuses list", 0),
    ("statuses list --json", 0),
    ("views list", 0),
    ("views list --json", 0),
    ("context list", 0),
    ("context list --json", 0),
    ("context show writer", 0),
    ("pattern list", 0),
    ("pattern list --json", 0),
    ("pattern show summarize", 0),
    ("strategy list", 0),
    ("strategy list --json", 0),
    ("strategy show cot", 0),
    ("run --listcontexts", 0),
    ("run --dry-run --connection demo -p summarize -C writer hello", 0),
    ("run --dry-run --connection demo -p summarize -C writer hello --format json", 0),
    ("sources list", 0),
    ("sources list --json", 0),
    ("extensions list", 0),
    ("extensions list --json", 0),
    ("channel list", 0),
    ("channel list --json", 0),
    ("channel log --json", 0),
    ("share list", 0),
    ("share list --json", 0),
    ("usage", 0),
    ("usage --json", 0),
    ("audit 260902-swift-river", 0),
    ("audit 260902-swift-river --json", 0),
    ("auth list", 0),
    ("auth list --json", 0),
    ("permissions check --sandbox none -- git push", 10),
    ("permissions check --sandbox none --json -- git push", 10),
    ("config show ui", 0),
    ("config show ui --json", 0),
    ("config check", 0),
    ("themes list", 0),
    ("themes list --json", 0),
    ("keys list list", 0),
    ("keys list list --json", 0),
    ("keys check", 0),
    ("schema events", 0),
    ("schema result", 0),
    ("help", 0),
    ("help undo", 0),
    ("gateway token --list --json", 0),
    ("gateway status", 1),
    ("man sessions verify", 0),
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A home in which everything has one name, and a workspace that another program made.
pub fn home() -> Place {
    let place = Place::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main"), &place.project.path().join("craft"));
    place.config("[channels.telegram]\n");
    for (path, text) in [
        ("contexts/writer", "Be brief.\n"),
        ("patterns/summarize/system.md", "Sum up: {{input}}\n"),
        ("strategies/cot.json", "{\"description\": \"Step by step\", \"prompt\": \"Think first.\"}"),
    ] {
        let path = place.home.path().join("config").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

/// A command of [`COMMANDS`] in the workspace of a [`home`].
pub fn command(place: &Place, line: &str) -> Command {
    let words: Vec<&str> = line.split(' ').collect();
    let at = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (before, after) = words.split_at(at);
    let workspace = place.project.path().join("craft");
    let args = [before, &["--workspace", workspace.to_str().unwrap()], after].concat();
    let has_none = ["help", "man", "schema", "completions"].contains(&before[0]);
    let mut command = place.command(if has_none { &words } else { &args });
    command.env("TZ", "UTC").env("NO_COLOR", "1").env("HOME", place.home.path());
    command
}

/// Places and names of the stored texts.
pub fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("goldens");
    settings.set_omit_expression(true);
    settings
}

#[test]
fn every_command_prints_what_it_printed_before_in_each_format() {
    let settings = settings();
    for (line, status) in COMMANDS {
        // One home each: what a command changes is not what the next one prints.
        let place = home();
        let workspace = place.project.path().join("craft");
        let done = command(&place, line).output().unwrap();
        assert_eq!(code(&done), Some(*status), "{line}: {}", err(&done));
        let shown = |text: String| {
            let text = text.replace(workspace.to_str().unwrap(), "[WORKSPACE]");
            let text = text.replace(place.project.path().to_str().unwrap(), "[PROJECT]");
            text.replace(place.home.path().to_str().unwrap(), "[HOME]")
        };
        let name: String = line.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let text = format!("{}\n--- stderr\n{}", shown(out(&done)), shown(err(&done)));
        settings.bind(|| insta::assert_snapshot!(name, text));
    }
}
