//! `lisle completions` and `lisle schema`: made of the arguments and types of the program itself.

use super::args::{Args, Completions, SchemaCommand, Shell, know_program};
use super::exit::Exit;
use super::output::{complain, print_json, put};
use super::run_events;
use crate::gateway::schema::gateway_schema;
use clap::CommandFactory;
use clap_complete::env::{CompleteEnv, Shells};
use std::io;

/// Variable by which the scripts ask this program for values.
const VARIABLE: &str = "LISLE_COMPLETE";

/// Answers the script of a shell that asks for values; the process ends then.
pub(super) fn answer_shell() {
    know_program(Args::command);
    CompleteEnv::with_factory(Args::command).var(VARIABLE).bin("lisle").complete();
}

pub(super) fn completions(args: &Completions) -> Exit {
    let mut out = Vec::new();
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Elvish => "elvish",
        Shell::Powershell => "powershell",
        Shell::Nushell => {
            // It asks for no values: its own form of signatures.
            clap_complete::generate(clap_complete_nushell::Nushell, &mut Args::command(), "lisle", &mut out);
            return printed(Ok(()), &out);
        }
    };
    let made = match Shells::builtins().completer(name) {
        Some(shell) => shell.write_registration(VARIABLE, "lisle", "lisle", "lisle", &mut out),
        None => Err(io::ErrorKind::Unsupported.into()),
    };
    if args.shell == Shell::Bash {
        // bash would take `--mode=ex` for three words.
        out.extend_from_slice(b"COMP_WORDBREAKS=${COMP_WORDBREAKS//=}\n");
    }
    printed(made, &out)
}

fn printed(made: io::Result<()>, out: &[u8]) -> Exit {
    match made {
        Ok(()) => {
            put(&String::from_utf8_lossy(out));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: {error}"));
            Exit::Failed
        }
    }
}

pub(super) fn schema(command: SchemaCommand) -> Exit {
    match command {
        SchemaCommand::Events => print_json(&run_events::events_schema()),
        SchemaCommand::Result => print_json(&run_events::result_schema()),
        SchemaCommand::Gateway => print_json(&gateway_schema()),
    }
}
