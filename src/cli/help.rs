//! `lisle help`: pages of the manual on stdout, emphasised on a terminal and plain in a pipe.

use super::args::{Args, Help};
use super::exit::Exit;
use super::output::{complain, put};
use crate::domain::manual::{self, TOPICS, Topic};
use crate::ui::printed::{Marks, printed};
use clap::CommandFactory;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Widest text, and the width in a pipe.
const WIDTH: u16 = 100;

pub(super) fn run(args: &Help) -> Exit {
    let Some(name) = &args.topic else {
        put(&topics());
        return Exit::Done;
    };
    match manual::find(name) {
        Ok(topic) => {
            put(&page(topic));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: {error}"));
            let program = Args::command();
            let command = program.get_subcommands().find(|command| command.get_name() == name);
            complain(&match command {
                Some(command) => format!("Options of the command: lisle {} --help", command.get_name()),
                None => "All topics: lisle help".to_owned(),
            });
            Exit::Usage
        }
    }
}

fn topics() -> String {
    let mut out = String::new();
    let widest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    for topic in TOPICS {
        let _ = writeln!(out, "{:widest$}  {}", topic.name, topic.title());
    }
    out + "\nRead a topic: lisle help TOPIC. Commands and options: lisle --help.\n"
}

fn page(topic: &Topic) -> String {
    let out = std::io::stdout();
    let marks = if out.is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb") {
        Marks::Sgr
    } else {
        Marks::None
    };
    let columns = rustix::termios::tcgetwinsize(&out).map(|size| size.ws_col).ok().filter(|columns| *columns > 0);
    let width = columns.map_or(WIDTH, |columns| columns.clamp(20, WIDTH));
    let text = format!("# {}\n\n{}", topic.title(), topic.text("lisle help"));
    printed(&text, width, marks)
}
