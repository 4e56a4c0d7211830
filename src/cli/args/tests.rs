//! Arguments that hold together, and messages that are told from commands.

use super::*;

#[test]
fn the_arguments_hold_together() {
    Args::command().debug_assert();
    let args = Args::try_parse_from(["lisle", "--mode", "safe", "fix it"]).unwrap();
    assert_eq!((args.common.mode, args.prompt()), (Some(Mode::Explore), Ok(Some("fix it".to_owned()))));
    let args = Args::try_parse_from(["lisle", "run", "--connection", "demo", "list", "it"]).unwrap();
    assert!(matches!(args.command, Some(CliCommand::Run(run)) if run.prompt == ["list", "it"]));
    let args = Args::try_parse_from(["lisle", "doctor", "keys"]).unwrap();
    assert!(matches!(args.command, Some(CliCommand::Doctor(doctor)) if doctor.what == Some(DoctorCommand::Keys)));
    let args = Args::try_parse_from(["lisle", "sessions", "list", "--json", "--workspace", "/x"]).unwrap();
    assert_eq!(args.common.workspace, Some("/x".into()));
    for wrong in [
        &["lisle", "--mode", "yolo"][..],
        &["lisle", "--session", "../x"],
        &["lisle", "--new", "--continue"],
        &["lisle", "run"],
        &["lisle", "sessions", "set"],
        &["lisle", "sessions", "set", "x", "--flag", "--unflag"],
        &["lisle", "sessions", "delete", "../x"],
        &["lisle", "sessions", "restore", "a/b"],
        &["lisle", "labels", "add", "x", "--value", "colour"],
    ] {
        assert!(Args::try_parse_from(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_message_is_in_quotes_or_behind_two_dashes_and_other_words_are_commands() {
    let prompt = |words: &[&str]| {
        let args = Args::try_parse_from([&["lisle"], words].concat()).unwrap();
        assert!(args.command.is_none(), "{words:?}");
        args.prompt()
    };
    for (words, message) in [
        (&["fix the bug"][..], "fix the bug"),
        (&["--", "sessions"], "sessions"),
        (&["--mode", "ask", "--", "fix", "the", "-bug"], "fix the -bug"),
        (&["バグを直して"], "バグを直して"),
    ] {
        assert_eq!(prompt(words), Ok(Some(message.to_owned())), "{words:?}");
    }
    assert_eq!(prompt(&[]), Ok(None));
    for (words, says) in [
        (&["sesions"][..], "\"lisle sessions\"?"),
        (&["sesions", "list"], "\"lisle -- sesions list\""),
        (&["ran", "fix it"], "\"lisle run ran 'fix it'\""),
        (&["hlep"], "\"lisle help\"?"),
        (&["frobnicate"], "Available: run, sessions,"),
        (&["what's-up?"], "'what'\\''s-up?'"),
        (&["приветствие"], "lisle -- приветствие"),
        (&[" hello "], "unknown command \" hello \""),
        (&[""], "lisle run ''"),
    ] {
        let why = prompt(words).unwrap_err();
        assert!(why.contains(says), "{words:?}: {why}");
    }
}
