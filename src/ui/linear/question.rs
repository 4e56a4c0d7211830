//! Printing of the question that waits: an answer, words, a key, a draft, or a choice from a list.

use super::asked::{PendingPrompt, Withdrawn, is_row, numbered, page};
use super::printer::Printer;
use super::{ask, row, sheet};
use crate::app::state::panel::Stage;
use crate::app::state::{Quit, State};
use crate::domain::ids::At;

impl Printer {
    /// Prints the pending question if it is not the one printed last.
    pub(super) fn ask(&mut self, state: &State, out: &mut Vec<String>) {
        let now = self.wanted(state);
        if self.question.holds && matches!(now, PendingPrompt::Sheet(..)) && !self.question.asked.is(&now) {
            return;
        }
        let acted = std::mem::take(&mut self.question.acted);
        if let PendingPrompt::Sheet(sheet, _) = &now
            && sheet.waits
        {
            return;
        }
        if self.question.asked.is(&now) {
            if acted && let PendingPrompt::Sheet(sheet, _) = &now {
                // A row was chosen, and nothing else changed: what can be done with it.
                let verbs = sheet.items.iter().enumerate().filter(|(_, item)| !is_row(&item.does));
                out.extend(verbs.flat_map(|(n, item)| numbered(n, &item.lines)));
                self.question.asked = now;
            }
            return;
        }
        let ends = state.ending.quit == Quit::Ending;
        let answered_here = acted || ends || self.question.asked.request().is_none();
        if !answered_here && self.question.asked.request() != now.request() {
            self.question.withdrawn = match self.question.asked {
                PendingPrompt::Words(..) | PendingPrompt::Key(_) => Withdrawn::Words,
                _ => Withdrawn::Numbers,
            };
            if matches!(now, PendingPrompt::Nothing) {
                out.push("note: the question was answered elsewhere".to_owned());
            }
        }
        // What the user's own line led to is read before the next one.
        self.question.asked_at = if acted { At(i64::MIN) } else { state.clock.now };
        let mut now = now;
        self.tell_asked(state, &mut now, out);
        if let PendingPrompt::Answers(..) = now {
            self.question.request = state.panel().map(|(_, request)| request.clone());
        }
        self.question.asked = now;
    }

    /// Question that the state asks for.
    pub(super) fn wanted(&self, state: &State) -> PendingPrompt {
        if state.ending.quit == Quit::Ending {
            return PendingPrompt::Nothing;
        }
        if let Some(sheet) = sheet::of(state, &self.home) {
            return PendingPrompt::Sheet(Box::new(sheet), 0);
        }
        if let Some((panel, request)) = state.panel() {
            return match &panel.stage {
                Stage::Writing { purpose, .. } => PendingPrompt::Words(request.id.clone(), purpose.clone()),
                Stage::Secret { .. } => PendingPrompt::Key(request.id.clone()),
                Stage::Choosing | Stage::Rules { .. } => {
                    PendingPrompt::Answers(request.id.clone(), panel.choices.clone())
                }
            };
        }
        let loaded = state.current_open().is_some_and(|open| open.loaded);
        if loaded && !state.composer().has_no_text() {
            return PendingPrompt::Draft(state.composer().text());
        }
        PendingPrompt::Nothing
    }

    pub(super) fn tell_asked(&self, state: &State, now: &mut PendingPrompt, out: &mut Vec<String>) {
        match now {
            PendingPrompt::Nothing => {}
            PendingPrompt::Answers(id, _) => {
                let Some((panel, request)) = state.panel().filter(|(panel, _)| panel.request == *id) else { return };
                // Back from the words: only the answers again.
                if self.question.asked.request() == Some(id)
                    && !matches!(self.question.asked, PendingPrompt::Answers(..))
                {
                    out.extend(ask::answers(panel, request));
                    return;
                }
                let waiting = state.current_open().map_or(0, |open| open.requests.len());
                let place = (waiting > 1).then_some((1, waiting));
                let mut lines = ask::lines(panel, request, place, &self.home);
                if self.question.request.as_ref() == Some(request) {
                    // It was told before something else lay over it.
                    lines.truncate(1);
                    lines.extend(ask::answers(panel, request));
                    lines.push("(? repeats it in full)".to_owned());
                }
                out.append(&mut lines);
                let strike = panel.hunks.as_ref().map_or("", |_| "; \"1 without 2\" leaves out change 2");
                out.push(format!("answer: a number from 1 to {}{strike}", panel.choices.len()));
            }
            PendingPrompt::Words(id, purpose) => {
                let begun = state.panel().filter(|(panel, _)| panel.request == *id).map(|(panel, _)| &panel.stage);
                let begun = match begun {
                    Some(Stage::Writing { text, .. }) => text.text(),
                    _ => String::new(),
                };
                out.extend(ask::words_for(purpose, &begun));
            }
            PendingPrompt::Key(_) => {
                out.push("enter the key (hidden); an empty line goes back to the answers".to_owned());
            }
            PendingPrompt::Draft(text) => {
                out.extend(row::labelled("draft", row::plain(text)));
                out.extend(["1. send", "2. edit in $EDITOR", "3. discard"].map(str::to_owned));
                out.push("answer: a number, or another message instead".to_owned());
            }
            PendingPrompt::Sheet(sheet, told) => {
                let mut head = sheet.head.iter().cloned();
                out.extend(head.next());
                out.extend(row::indented(head));
                *told = page(sheet, 0, out);
            }
        }
    }
}
