//! Meaning of an input line, by what was printed before it. A number answers only the question
//! whose numbers were printed last; a text answers the agent's own question, and everything else is a message, but for
//! a single word while answers are asked.

use super::asked::{CONFIRM, PendingPrompt, Withdrawn, is_row, page};
use super::printer::{LineSource, Printer};
use super::{prose, sheet};
use crate::app::Msg;
use crate::app::line::Line;
use crate::app::slash::{self, Call, Slash};
use crate::app::state::State;
use crate::app::state::hidden::Hidden;
use crate::app::state::panel::Choice;
use crate::domain::ids::{At, RequestId};
use crate::domain::manual::{self, TOPICS, Topic};
use crate::domain::request::Ask;
use crate::keymap::action::{Action, ChatAction, ComposerAction};

/// Milliseconds after a question was printed in which no line answers it.
const TOO_SOON: u64 = 300;

/// Result of an input line.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Messages for the state, in order.
    pub msgs: Vec<Msg>,
    /// To be told at once.
    pub lines: Vec<String>,
}

impl Heard {
    fn line(line: Line) -> Self {
        Self { msgs: vec![Msg::Line(line)], lines: Vec::new() }
    }

    fn say(line: impl Into<String>) -> Self {
        Self { msgs: Vec::new(), lines: vec![line.into()] }
    }
}

/// The number that a line is, from 1.
fn number(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let digits = text.strip_suffix('.').unwrap_or(text);
    // With a blank before it, it is a message.
    (!digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())?
}

/// Changes that `1 without 2 3` leaves out of a change, from 0; the first answer is the yes.
fn without(text: &str) -> Option<Vec<usize>> {
    let places = text.strip_prefix("1 without ")?;
    let places = places.split([',', ' ']).filter(|word| !word.is_empty() && *word != "and");
    let places: Option<Vec<usize>> = places.map(|word| number(word)?.checked_sub(1)).collect();
    places.filter(|places| !places.is_empty())
}

/// True if this request has changes that can be struck out one by one.
fn can_strike(state: &State, request: &RequestId) -> bool {
    state.panel().is_some_and(|(panel, _)| panel.request == *request && panel.hunks.is_some())
}

/// A line of one word: where answers are asked it may be meant as one.
fn is_word(text: &str) -> bool {
    !text.starts_with(char::is_whitespace) && !text.trim().contains(char::is_whitespace)
}

/// True if any text answers this request.
fn is_agents_question(state: &State, request: &RequestId) -> bool {
    let requests = state.current_open().map(|open| open.requests.as_slice()).unwrap_or_default();
    requests.iter().any(|one| one.id == *request && matches!(one.ask, Ask::Question(_)))
}

impl Printer {
    /// Meaning of a line that came at `now`; `pasted`: several lines came at once, which never answer a request.
    pub fn hear(&mut self, state: &State, text: &str, now: At, pasted: bool) -> Heard {
        let asked = std::mem::take(&mut self.question.asked);
        let heard = self.by_what_is_asked(state, &asked, text, now, pasted);
        self.question.asked = asked;
        if let Some((told, sheet)) = self.question.more.take() {
            self.question.asked = PendingPrompt::Sheet(sheet, told);
        }
        heard
    }

    fn by_what_is_asked(&mut self, state: &State, asked: &PendingPrompt, text: &str, now: At, pasted: bool) -> Heard {
        let number = number(text).filter(|_| !pasted);
        let typed = self.source == LineSource::Person;
        let gone = std::mem::take(&mut self.question.withdrawn);
        let withdrawn = typed && gone != Withdrawn::No;
        let soon = typed && now.since(self.question.asked_at) < TOO_SOON;
        match asked {
            PendingPrompt::Key(request) => {
                if withdrawn {
                    return Heard::say("note: ignored, that line came before the key prompt");
                }
                self.question.acted = true;
                let mut key = Hidden::default();
                key.insert(text);
                return Heard::line(Line::Key { request: request.clone(), key });
            }
            PendingPrompt::Words(request, _) => {
                if soon || withdrawn {
                    return Heard::say("note: ignored, that line came before the question; enter it again");
                }
                self.question.acted = true;
                return Heard::line(Line::Words { request: request.clone(), text: text.to_owned() });
            }
            PendingPrompt::Answers(request, choices) => {
                let early = soon || withdrawn;
                if let Some(heard) = self.of_answers(state, (request, choices), text, (number, early)) {
                    return heard;
                }
            }
            PendingPrompt::Draft(_) => {
                if let Some(heard) = self.of_draft(state, text, (number, soon)) {
                    return heard;
                }
            }
            PendingPrompt::Sheet(sheet, told) => {
                if let Some(heard) = self.of_sheet(sheet, *told, text, (number, soon, pasted)) {
                    return heard;
                }
            }
            PendingPrompt::Nothing => {
                if number.is_some() && (withdrawn || soon) {
                    return Heard::say("note: not sent, no question is open for that number");
                }
            }
        }
        if gone == Withdrawn::Words && !text.trim().is_empty() {
            let note = "note: not sent, the question it may have answered is gone; enter it again to send it";
            return Heard::say(note);
        }
        self.message(state, text)
    }

    /// A line while answers of a request are asked; `None`: it is no answer.
    fn of_answers(
        &mut self,
        state: &State,
        (request, choices): (&RequestId, &[Choice]),
        text: &str,
        (number, early): (Option<usize>, bool),
    ) -> Option<Heard> {
        let is_grave =
            |n: &usize| state.panel().is_some_and(|(panel, _)| panel.request == *request && panel.needs_arrows(n - 1));
        let sure = text.trim().strip_suffix(CONFIRM).and_then(self::number).filter(|n| *n > 0 && is_grave(n));
        let number = number.or(sure);
        let strike = if number.is_none() { without(text) } else { None };
        if let Some(places) = strike.filter(|_| can_strike(state, request)) {
            if early {
                return Some(Heard::say("note: ignored, a newer question appeared; answer again"));
            }
            self.question.acted = true;
            return Some(Heard::line(Line::Without { request: request.clone(), places }));
        }
        match number {
            Some(_) if early => Some(Heard::say("note: ignored, a newer question appeared; enter the number again")),
            Some(n) => {
                let Some(choice) = n.checked_sub(1).and_then(|at| choices.get(at)) else {
                    let last = choices.len();
                    return Some(Heard::say(format!("note: no answer {n}; choose 1 to {last}")));
                };
                // Whoever wrote the number may have meant another question.
                if sure.is_none() && is_grave(&n) {
                    return Some(Heard::say(format!(
                        "note: not answered, this may be irreversible; “{n}{CONFIRM}” chooses it"
                    )));
                }
                self.question.acted = true;
                Some(Heard::line(Line::Answer { request: request.clone(), choice: choice.clone() }))
            }
            None if text.trim().is_empty() || text.trim() == "?" => Some(self.repeat(state)),
            None if slash::read(text).is_some() || text.starts_with('!') => None,
            None if is_agents_question(state, request) => {
                if early {
                    return Some(Heard::say("note: ignored, that line came before the question; enter it again"));
                }
                self.question.acted = true;
                Some(Heard::line(Line::Reply { request: request.clone(), text: text.to_owned() }))
            }
            None if is_word(text) => Some(Heard::say(format!(
                "note: “{}” is not an answer; enter a number from 1 to {}, or start with a space to send it as a \
                 message",
                text.trim(),
                choices.len()
            ))),
            None => None,
        }
    }

    /// A line while the draft is asked about; `None`: it is another message.
    fn of_draft(&mut self, state: &State, text: &str, (number, soon): (Option<usize>, bool)) -> Option<Heard> {
        let heard = match number {
            Some(_) if soon => Heard::say("note: ignored, the draft changed; enter the number again"),
            Some(n @ 1..=3) => {
                self.question.acted = true;
                match n {
                    1 => {
                        self.sent(&state.composer().text());
                        Heard::line(Line::SendDraft)
                    }
                    2 => {
                        let action = Action::Composer(ComposerAction::Editor);
                        Heard { msgs: vec![Msg::Act { action, key: None }], lines: Vec::new() }
                    }
                    _ => Heard::line(Line::DropDraft),
                }
            }
            Some(n) => Heard::say(format!("note: no answer {n}; choose 1 to 3")),
            None if text.trim().is_empty() || text.trim() == "?" => self.repeat(state),
            None => return None,
        };
        Some(heard)
    }

    fn of_sheet(
        &mut self,
        sheet: &sheet::Sheet,
        told: usize,
        text: &str,
        (number, soon, pasted): (Option<usize>, bool, bool),
    ) -> Option<Heard> {
        if let Some(n) = number {
            if soon {
                return Some(Heard::say("note: ignored, the list changed; enter the number again"));
            }
            let Some(item) = n.checked_sub(1).and_then(|at| sheet.items.get(at)) else {
                let last = sheet.items.len();
                return Some(Heard::say(format!("note: no item {n}; choose 1 to {last}")));
            };
            self.question.acted = true;
            let lines = if is_row(&item.does) {
                vec![format!("chosen: {}", item.lines.first().map_or("", String::as_str))]
            } else {
                Vec::new()
            };
            return Some(Heard { msgs: vec![item.does.clone()], lines });
        }
        let word = text.trim();
        if word.is_empty() {
            self.question.acted = true;
            return Some(Heard::line(Line::Back));
        }
        if word.eq_ignore_ascii_case("more") && told < sheet.items.len() {
            let mut lines = Vec::new();
            let told = page(sheet, told, &mut lines);
            self.question.more = Some((told, Box::new(sheet.clone())));
            return Some(Heard { msgs: Vec::new(), lines });
        }
        if word == "?" {
            let mut lines = sheet.head.clone();
            let told = page(sheet, 0, &mut lines);
            self.question.more = Some((told, Box::new(sheet.clone())));
            return Some(Heard { msgs: Vec::new(), lines });
        }
        // A command leaves the list; so does a message where nothing can be written into it.
        if slash::read(text).is_some() {
            return None;
        }
        if sheet.input.is_some() && !pasted {
            self.question.acted = true;
            return Some(Heard::line(Line::Input(text.to_owned())));
        }
        Some(Heard::say("note: a list is open; enter a number, or an empty line to close it"))
    }

    /// Tells the question again.
    fn repeat(&self, state: &State) -> Heard {
        let mut lines = Vec::new();
        let mut asked = self.wanted(state);
        self.tell_asked(state, &mut asked, &mut lines);
        Heard { msgs: Vec::new(), lines }
    }

    /// A message that the terminal shows as it was typed.
    fn sent(&mut self, text: &str) {
        if !self.logs {
            self.rows.typed.push(text.to_owned());
            // What never came back as a row.
            let most = 8;
            if self.rows.typed.len() > most {
                self.rows.typed.remove(0);
            }
        }
    }

    /// A message, or a command.
    fn message(&mut self, state: &State, text: &str) -> Heard {
        if text.trim().is_empty() {
            // An empty line lets a queue go that is held.
            let held = state.current_open().is_some_and(|open| open.queue_held && !open.queue.is_empty());
            return if held { Heard::line(Line::Say(String::new())) } else { Heard::default() };
        }
        self.question.acted = true;
        if let Some(Ok(Call { slash, args })) = slash::read(text) {
            match slash {
                Slash::Help if args.is_empty() => return Heard { msgs: Vec::new(), lines: help(state) },
                Slash::Help => {
                    let lines = match manual::find(&args) {
                        Ok(topic) => topic_lines(topic),
                        Err(error) => vec![format!("note: {error}")],
                    };
                    return Heard { msgs: Vec::new(), lines };
                }
                Slash::Keys | Slash::List | Slash::Focus | Slash::Details | Slash::Theme => {
                    return Heard::say(format!("note: /{} needs the full-screen mode", slash.word()));
                }
                _ => {}
            }
        } else if text.trim_end() == "/transcript" {
            let action = Action::Chat(ChatAction::Print);
            return Heard { msgs: vec![Msg::Act { action, key: None }], lines: Vec::new() };
        } else {
            self.sent(text);
        }
        Heard::line(Line::Say(text.to_owned()))
    }
}

/// A page of the manual.
fn topic_lines(topic: &Topic) -> Vec<String> {
    let mut out = vec![format!("help: {}", topic.title())];
    out.extend(prose::whole(&topic.text("/help")));
    out.push("end of help".to_owned());
    out
}

/// All commands, and the topics of the manual.
fn help(state: &State) -> Vec<String> {
    let mut out = vec!["commands:".to_owned()];
    for slash in Slash::ALL {
        if matches!(slash, Slash::Keys | Slash::List | Slash::Focus | Slash::Details | Slash::Theme) {
            continue;
        }
        let usage = format!("/{} {}", slash.word(), slash.usage());
        out.push(format!("{}: {}", usage.trim_end(), slash.description()));
    }
    for own in &state.drafts.commands {
        out.push(format!("/{}: your own command", own.name));
    }
    out.extend(
        [
            "/transcript: print the whole conversation",
            "!COMMAND: run a command; its output joins the conversation",
            "a number: choose from the last list; with a leading space it is sent as a message",
            "? or an empty line: repeat the question",
            "a line that ends in \\: continue the message on the next line",
        ]
        .map(str::to_owned),
    );
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    out.push(format!("/help topics: {}", topics.join(", ")));
    out
}
