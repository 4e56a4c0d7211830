//! Linear mode: the same state as lines that are only ever added, for screen readers, plain terminals and logs.
//!
//! [`Printer`] remembers what was told; [`Printer::news`] gives the lines that are new, and [`Printer::hear`] what a line
//! means that was written. Words label everything, numbers choose, and nothing is decorated. `row` words the rows of the
//! conversation, `prose` markdown, `ask` what waits for the user, `sheet` what lies over the panes, `line_input` reads.

mod ask;
mod asked;
mod changes;
mod facts;
mod line_input;
mod news;
mod printer;
mod prose;
mod question;
mod row;
mod rows;
mod sheet;
mod undo_sheet;

pub use line_input::Heard;
pub use news::News;
pub use printer::{LineSource, Printer};

use crate::app::state::engine_facts::EngineLine;
use crate::app::state::{Quit, State};

impl Printer {
    /// The lines that are new since the last time.
    pub fn news(&mut self, state: &State) -> News {
        let mut news = News::default();
        self.place(state, &mut news.lines);
        if let Some(open) =
            state.current_open().filter(|open| open.loaded && self.rows.shown.as_ref() == state.current_id())
        {
            self.turn_begins(open, &mut news);
            self.rows(open, &mut news.lines);
            self.queue(open, &mut news.lines);
            self.facts(state, open, &mut news.lines);
            self.turn_ends(state, open, &mut news);
        }
        self.others(state, &mut news.lines);
        self.notices(state, &mut news.lines);
        self.line(state, &mut news.lines);
        if matches!(state.ending.quit, Quit::OnceMore(_)) && self.quit != state.ending.quit {
            news.lines.push("note: Ctrl+C again to quit".to_owned());
        }
        self.quit = state.ending.quit;
        self.ask(state, &mut news.lines);
        for line in &mut news.lines {
            *line = prose::harmless(line);
        }
        news
    }
}

impl Printer {
    /// The line to a gateway: that it was lost, and that it is there again.
    fn line(&mut self, state: &State, lines: &mut Vec<String>) {
        let kind = std::mem::discriminant(&state.engine.line);
        let was = std::mem::replace(&mut self.line, state.engine.line.clone());
        if std::mem::discriminant(&was) == kind {
            return;
        }
        match &self.line {
            EngineLine::Reconnecting { why, .. } => lines.push(format!("note: reconnecting: {why}")),
            EngineLine::Down { why, .. } => {
                lines.push(format!("note: not connected: {why}; the next line tries again"))
            }
            EngineLine::Joined if was != EngineLine::Own => lines.push("note: connected again".to_owned()),
            EngineLine::Joined | EngineLine::Own => {}
        }
    }
}

/// Any text as lines in which no terminal finds anything to do.
#[must_use]
pub fn as_lines(text: &str) -> Vec<String> {
    row::plain(text).iter().map(|line| prose::harmless(line)).collect()
}
