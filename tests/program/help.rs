//! `lisle help`: the manual by the real binary, in a pipe.

use lisle::domain::manual::TOPICS;
use std::process::{Command, Output};

fn lisle(args: &[&str]) -> (String, String, i32) {
    // A file where the home should be: nothing can be read or made there.
    let home = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    let Output { stdout, stderr, status } = command.args(args).env("LISLE_HOME", home.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(stdout), text(stderr), status.code().unwrap())
}

#[test]
fn topics_are_listed_and_every_page_is_plain_text() {
    let (list, complaints, code) = lisle(&["help"]);
    assert_eq!((complaints.as_str(), code), ("", 0));
    for topic in TOPICS {
        assert!(list.lines().any(|line| line.starts_with(topic.name) && line.ends_with(topic.title())), "{list}");
    }
    for name in ["undo", "KEYS", "themes"] {
        let (page, complaints, code) = lisle(&["help", name]);
        assert_eq!((complaints.as_str(), code), ("", 0));
        let topic = lisle::domain::manual::find(name).unwrap();
        assert_eq!(page.lines().next(), Some(topic.title()));
        assert!(!page.contains('\u{1b}') && page.lines().all(|line| line.chars().count() <= 100), "{page}");
    }
}

#[test]
fn an_unknown_topic_names_the_nearest_and_a_command_its_options() {
    for (topic, says) in [
        ("theme", "No help topic \"theme\". Closest match: themes\nAll topics: lisle help\n"),
        ("run", "Options of the command: lisle run --help\n"),
    ] {
        let (page, complaints, code) = lisle(&["help", topic]);
        assert_eq!((page.as_str(), code), ("", 2));
        assert!(complaints.ends_with(says), "{complaints}");
    }
}
