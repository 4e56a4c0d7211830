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
        (&["frobnicate"], "Available: run, context,"),
        (&["what's-up?"], "'what'\\''s-up?'"),
        (&["приветствие"], "lisle -- приветствие"),
        (&[" hello "], "unknown command \" hello \""),
        (&[""], "lisle run ''"),
    ] {
        let why = prompt(words).unwrap_err();
        assert!(why.contains(says), "{words:?}: {why}");
    }
}

/// Words of a line as a shell takes them, as far as examples go.
fn words(line: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut word, mut quote) = (None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => out.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

/// Commands of lisle in an example, without what the shell does around them.
fn calls(example: &str) -> Vec<Vec<String>> {
    let all = words(example);
    let is_sign = |word: &String| ["|", "<", ">", "&&"].contains(&word.as_str());
    let begins = all.iter().enumerate().filter(|(at, word)| {
        *word == "lisle" && !matches!(all.get(at.wrapping_sub(1)), Some(before) if is_file(before))
    });
    begins.map(|(at, _)| all[at..].iter().take_while(|word| !is_sign(word)).cloned().collect()).collect()
}

/// The word before names a file, or a machine that runs the command.
fn is_file(word: &str) -> bool {
    ["<", ">"].contains(&word)
}

#[test]
fn every_command_has_an_example_that_is_right() {
    fn look(command: &clap::Command, path: &str, seen: &mut usize) {
        let path = format!("{path} {}", command.get_name());
        if command.get_subcommands().next().is_some() && command.is_subcommand_required_set() {
            return command.get_subcommands().for_each(|one| look(one, &path, seen));
        }
        command.get_subcommands().for_each(|one| look(one, &path, seen));
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, lines) = help.split_once(':').unwrap_or_else(|| panic!("{path} has no example"));
        for call in lines.lines().flat_map(calls) {
            let call: Vec<String> = call.iter().map(|word| word.trim_end_matches(')').to_owned()).collect();
            Args::try_parse_from(&call).unwrap_or_else(|error| panic!("{path}: {call:?}: {error}"));
            *seen += 1;
        }
    }
    let mut seen = 0;
    Args::command().get_subcommands().for_each(|one| look(one, "lisle", &mut seen));
    assert!(seen > 50, "only {seen} examples were read");
}
