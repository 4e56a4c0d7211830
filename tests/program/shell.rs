//! The commands around the program itself: completions, man pages, schemas, configuration, themes and keys.

use crate::headless::{Place, code, err, out};
use serde_json::Value;
use std::process::Command;

impl Place {
    fn answer(&self, args: &[&str], status: i32) -> String {
        let done = self.lisle(args);
        assert_eq!(code(&done), Some(status), "{args:?}: {}", err(&done));
        out(&done)
    }

    /// Candidates for the last of these words, as a shell asks for them.
    fn completed(&self, words: &[&str]) -> Vec<String> {
        let mut command = self.command(&[&["--", "lisle"], words].concat());
        command.env("LISLE_COMPLETE", "fish");
        let done = command.output().unwrap();
        assert_eq!(code(&done), Some(0), "{}", err(&done));
        out(&done).lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    }
}

#[test]
fn shells_get_scripts_and_values_of_the_home() {
    let place = Place::new();
    for (shell, says) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef lisle"),
        ("fish", "complete --keep-order"),
        ("nushell", "export extern"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = place.answer(&["completions", shell], 0);
        assert!(script.contains(says), "{shell}: {script}");
    }
    place.answer(&["completions", "tcsh"], 2);
    place.answer(&["context", "set", "writer", "Be brief."], 0);
    place.answer(&["run", "--connection", "demo", "--session", "notes", "list"], 0);
    let id = place.session();
    for (words, wanted) in [
        (&["run", "--context", "wr"][..], &["writer"][..]),
        (&["run", "--session", "no"], &["notes"]),
        (&["sessions", "show", ""], &[id.as_str()]),
        (&["--connection", "dem"], &["demo"]),
        (&["themes", "show", "nord-"], &["nord-light"]),
        (&["help", "scr"], &["scripting"]),
        (&["compl"], &["completions"]),
    ] {
        let found = place.completed(words);
        assert!(wanted.iter().all(|one| found.iter().any(|found| found == one)), "{words:?}: {found:?}");
    }
}

#[test]
fn man_pages_are_made_of_the_arguments() {
    let place = Place::new();
    assert!(place.answer(&["man"], 0).contains(".TH lisle 1"));
    let run = place.answer(&["man", "run"], 0);
    assert!(run.contains("\\-\\-json\\-schema") && run.contains("git diff | lisle run"), "{run}");
    let near = place.lisle(&["man", "sesions"]);
    assert!(code(&near) == Some(2) && err(&near).contains("Did you mean \"sessions\"?"), "{}", err(&near));
    let dir = place.home.path().join("man1");
    place.answer(&["man", "--dir", dir.to_str().unwrap()], 0);
    for page in ["lisle.1", "lisle-run.1", "lisle-sessions-list.1"] {
        assert!(dir.join(page).is_file(), "{page}");
    }
}

/// Pages of the commands, each with a part that only its own tables have.
#[test]
fn man_pages_have_statuses_environment_files_and_values_and_render_without_a_warning() {
    let place = Place::new();
    let dir = place.home.path().join("man1");
    place.answer(&["man", "--dir", dir.to_str().unwrap()], 0);
    for (page, parts) in [
        ("lisle.1", &["\\(bu 2\nexplore\n", "LISLE_HOME", "config.toml", "EXIT STATUS"][..]),
        ("lisle-run.1", &["129, 130, 143", "\\(bu 2\nstream\\-json: ", "git diff | lisle run", "SEE ALSO"]),
        ("lisle-permissions-check.1", &["\\fB11\\fR\ndeny"]),
        ("lisle-sessions-export.1", &["\\(bu 2\nopenclaw\n"]),
        ("lisle-sessions-import.1", &["\\(bu 2\nclaude\\-code\n", "lisle\\-sessions"]),
        ("lisle-usage.1", &["\\(bu 2\nsession\n"]),
    ] {
        let text = std::fs::read_to_string(dir.join(page)).unwrap();
        assert!(parts.iter().all(|part| text.contains(part)), "{page}: {parts:?}\n{text}");
    }
    for page in std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&page).unwrap();
        for heading in ["SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
            assert!(
                text.contains(&format!(".SH \"{heading}\"")) || text.contains(&format!(".SH {heading}")),
                "{page:?}: {heading}"
            );
        }
        // Where there is no man, the pages are checked by those who have one.
        let Ok(done) = Command::new("man").arg("--warnings").arg("-l").arg(&page).env("MANWIDTH", "100").output()
        else {
            continue;
        };
        assert!(done.status.success() && done.stderr.is_empty(), "{page:?}: {}", err(&done));
    }
}

#[test]
fn a_long_help_ends_with_the_statuses_of_the_man_page() {
    let place = Place::new();
    for (words, says) in [
        (&["run"][..], "7 queued: a turn runs in that session"),
        (&["permissions", "check"], "10 ask"),
        (&["config", "check"], "Exit status: 0 fine, 1 problems, 2 wrong arguments."),
    ] {
        let help = place.answer(&[words, &["--help"]].concat(), 0);
        let joined = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(says), "{words:?}: {help}");
    }
}

#[test]
fn the_configuration_says_where_each_value_comes_from() {
    let place = Place::new();
    place.config("[ui]\nfps = 30\n");
    let path = place.answer(&["config", "path"], 0);
    let path = path.trim();
    let shown = place.answer(&["config", "show", "ui"], 0);
    let line =
        |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(line("ui.fps"), ["ui.fps", "30", &format!("{path}:2")]);
    assert_eq!(line("ui.mouse"), ["ui.mouse", "on", "default"]);
    let all: Vec<Value> = serde_json::from_str(&place.answer(&["config", "show", "--json"], 0)).unwrap();
    assert!(all.len() > 20 && all.iter().all(|one| one["source"].is_string()));
    assert_eq!(place.answer(&["config", "check"], 0), "");
    place.config("[ui]\nfps = \"fast\"\nkeymap = \"nope\"\n");
    let problems = place.answer(&["config", "check"], 1);
    assert!(problems.contains("config.toml:2") && problems.contains("No keymap"), "{problems}");
    assert_eq!(code(&place.lisle(&["config", "show", "ui.fsp"])), Some(2));
    // Without a terminal there is no editor to ask in.
    for command in [&["config", "edit"][..], &["context", "edit", "writer"]] {
        let mut command = place.command(command);
        // A session of its own has no terminal, whatever that of the tests has.
        let done = command.env_remove("VISUAL").env_remove("EDITOR").output().unwrap();
        assert!(code(&done) == Some(2) && err(&done).contains("no terminal for an editor"), "{}", err(&done));
    }
    // The editor's own words replace the file; what is wrong in them is told.
    let edited = place.command(&["config", "edit"]).env("VISUAL", "printf '[ui]\\nfps = 0\\n' >").output().unwrap();
    assert_eq!(code(&edited), Some(1), "{}", err(&edited));
    assert!(out(&edited).contains("config.toml:2"), "{}", out(&edited));
}

#[test]
fn themes_and_keys_are_listed_shown_and_checked() {
    let place = Place::new();
    assert!(place.answer(&["themes", "list"], 0).contains("nord              built-in\n"));
    let text = place.answer(&["themes", "show", "nord"], 0);
    let own = place.home.path().join("config/themes/mine.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, &text).unwrap();
    assert_eq!(place.answer(&["themes", "check"], 0), "");
    std::fs::write(&own, "[roles]\nnonsense = \"red\"\n").unwrap();
    assert!(place.answer(&["themes", "check", "mine"], 1).contains("mine.toml:2"));
    assert!(place.answer(&["themes", "list", "--json"], 0).contains("\"config\""));
    place.answer(&["themes", "show", "nrod"], 2);
    assert!(place.answer(&["keys", "list", "composer"], 0).contains("composer.send"));
    let all: Vec<Value> = serde_json::from_str(&place.answer(&["keys", "list", "--json"], 0)).unwrap();
    assert!(
        all.iter()
            .any(|one| one["action"] == "composer.send" && one["source"].as_str().unwrap().contains("default.toml"))
    );
    assert!(place.answer(&["keys", "show", "vim"], 0).contains("[["));
    assert_eq!(place.answer(&["keys", "check"], 0), "");
    place.answer(&["keys", "list", "nowhere"], 2);
}
