//! Results that stdout does not take: closed before the start, a full disk, a pipe that nobody reads.

use crate::goldens::{self, COMMANDS};
use crate::headless::{Place, code, err, out, served};
use crate::support::model_server::ModelServer;
use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

/// Runs the command with a stdout that is closed before it starts.
fn closed(of: &Command) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(of.get_program()).args(of.get_args());
    command.current_dir(of.get_current_dir().unwrap()).stdin(Stdio::null());
    for (name, value) in of.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().unwrap()
}

fn full(mut command: Command) -> Output {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.stdout(full).stderr(Stdio::piped()).output().unwrap()
}

/// Fails unless the command ended with an error that names stdout.
fn fails(what: &str, done: &Output) {
    let why = "lisle: can't write stdout: ";
    assert!(code(done) == Some(1) && err(done).contains(why), "{what}: {:?}: {}", code(done), err(done));
    assert_eq!(err(done).matches(why).count(), 1, "{what}: {}", err(done));
}

#[test]
fn every_command_that_prints_fails_where_stdout_takes_nothing() {
    // Changes made here change nothing that is looked at.
    let place = goldens::home();
    for (line, status) in COMMANDS {
        if *status != 0 {
            continue;
        }
        let done = closed(&goldens::command(&place, line));
        if code(&done) == Some(0) {
            let printed = goldens::command(&place, line).output().unwrap();
            assert_eq!(out(&printed), "", "{line}");
            continue;
        }
        fails(line, &done);
        fails(line, &full(goldens::command(&place, line)));
    }
}

#[test]
fn what_is_answered_before_the_configuration_is_read_fails_too() {
    let place = Place::new();
    for args in [
        vec!["--version"],
        vec!["--help"],
        vec!["sessions", "list", "--help"],
        vec!["completions", "bash"],
        vec!["completions", "nushell"],
        vec!["reset-terminal"],
        vec!["--linear"],
        vec!["doctor"],
    ] {
        fails(args[0], &closed(&place.command(&args)));
        fails(args[0], &full(place.command(&args)));
    }
}

#[test]
fn nothing_is_sent_shared_or_made_for_a_stdout_that_was_closed() {
    let (place, server) = (Place::new(), ModelServer::for_program([]));
    served(&place, &server);
    for args in [
        vec!["run", "hello"],
        vec!["run", "--format", "json", "hello"],
        vec!["run", "--format", "stream-json", "hello"],
        vec!["gateway", "token", "--name", "bot", "--scopes", "read"],
        vec!["gateway", "stdio"],
    ] {
        fails(&args.join(" "), &closed(&place.command(&args)));
    }
    assert!(server.asked().is_empty() && place.sessions().is_empty());
    assert_eq!(out(&place.lisle(&["gateway", "token", "--list"])), "");
    let shared = place.lisle(&["run", "--connection", "demo", "list"]);
    assert_eq!(code(&shared), Some(0), "{}", err(&shared));
    let id = place.session();
    fails("share", &closed(&place.command(&["share", &id])));
    assert_eq!(out(&place.lisle(&["share", "list"])), "");
}

#[test]
fn a_pipe_that_nobody_reads_ends_a_command_without_a_word() {
    let place = goldens::home();
    for line in ["sessions list --flagged", "keys list list --json", "help undo", "schema events"] {
        let mut child = goldens::command(&place, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert_eq!((code(&done), err(&done).as_str()), (Some(0), ""), "{line}");
    }
}
