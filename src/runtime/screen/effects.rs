//! Effects that only the screen has, one small function each. None of them waits; the shared ones are the client's.

use super::Screen;
use crate::app::effect::{Keep, TextTarget};
use crate::app::{Effect, Msg};
use crate::domain::code::Block;
use crate::domain::sanitise;
use crate::domain::{Level, Notice, SessionId};
use crate::runtime::client::event::RuntimeEvent;
use crate::runtime::client::{Owed, Surface, background_tasks};
use crate::runtime::environment::env;
use crate::runtime::files::{FileQuestion, Finder};
use crate::runtime::{clipboard, editor, highlighter, notify};
use rustix::process::{Signal, kill_current_process_group};
use std::path::PathBuf;
use std::time::Duration;

impl Screen {
    /// Does what only the screen can; the rest is the client's.
    pub(super) fn perform_here(&mut self, effect: Effect) {
        match effect {
            Effect::Copy(text) => self.copy(&text),
            Effect::Title(title) => self.terminal.writer.control(title_sequence(&title).as_bytes()),
            Effect::Bell { text } => self.terminal.writer.control(notify::call(self.notify, &text, &env).as_bytes()),
            Effect::Suspend => self.suspend(),
            Effect::Repaint => {
                self.terminal.writer.forget();
                self.pictures.graphics.repaint();
                self.frames.owed = Owed::User;
            }
            Effect::Edit { text } => self.edit(text),
            Effect::Show { text, place } => self.show(text, place),
            Effect::ShowCode { text, ending } => self.show_code(text, ending),
            Effect::EditFile { path, line } => self.edit_file(path, line),
            Effect::Mouse { ours } => {
                let bytes = self.terminal.guard.mouse(ours);
                self.terminal.writer.control(bytes.as_bytes());
            }
            Effect::Theme { name, keep } => self.theme(&name, keep),
            Effect::Set { key, value } => self.set(key, value),
            Effect::Doctor => self.look(),
            Effect::Find { ticket, root, query, folders } => self.find(FileQuestion { ticket, root, query, folders }),
            Effect::Highlight { session, blocks } => self.highlight(session, blocks),
            Effect::Measure { session, files } => self.measure(session, files),
            Effect::Shrink { session, wants } => self.shrink(session, wants),
            Effect::ForgetPictures => self.forget_pictures(),
            shared @ (Effect::Send(_)
            | Effect::Arm { .. }
            | Effect::Disarm(_)
            | Effect::View(_)
            | Effect::Browse(_)
            | Effect::Picture
            | Effect::Discard(_)
            | Effect::Histories
            | Effect::Share { .. }
            | Effect::SharePage(_)
            | Effect::OfferUpload(_)
            | Effect::Upload(_)
            | Effect::Unshare { .. }
            | Effect::Settings
            | Effect::Commands { .. }
            | Effect::KeepFace(_)
            | Effect::Workspaces
            | Effect::Workspace { .. }
            | Effect::Quit { .. }) => self.client.perform(shared),
        }
    }

    fn copy(&mut self, text: &str) {
        let text = clipboard::clean(text);
        let asked = match clipboard::sequence(&text, &env) {
            Ok(sequence) => {
                self.terminal.writer.control(sequence.as_bytes());
                clipboard::ClipboardOutcome::Offered
            }
            Err(why) => why,
        };
        background_tasks::copy(&self.client.events, text, asked);
    }

    /// Stops the whole job, as the shell's Ctrl+Z would. Without job control nothing happens but a repaint.
    fn suspend(&mut self) {
        self.leave();
        self.terminal.suspended = true;
        if let Err(error) = kill_current_process_group(Signal::TSTP) {
            tracing::warn!("Can't stop the process: {error}");
        }
        // The signal may stop us a moment later. Taking the terminal again before that would leave it to the shell in raw
        // mode, so this waits for it; SIGCONT brings us back as well.
        let tell = self.client.events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = tell.send(RuntimeEvent::Returned);
        });
    }

    fn edit(&mut self, text: String) {
        self.leave();
        self.client.editing = true;
        background_tasks::edit(&self.client.events, self.client.files.temp.clone(), text);
    }

    /// Colours code on a thread that may take its time.
    fn highlight(&mut self, session: SessionId, blocks: Vec<Block>) {
        let highlighter = self.highlighter.get_or_insert_with(|| highlighter::start(self.client.events.clone()));
        // A thread that is gone colours nothing any more: the code stays plain.
        let _ = highlighter.send((session, blocks));
    }

    /// Gives the terminal to whoever shows the text. `cat` leaves it on the screen that the shell has, where it scrolls
    /// back.
    pub(super) fn show(&mut self, text: String, place: TextTarget) {
        self.leave();
        self.client.editing = true;
        let program = match place {
            TextTarget::Pager => editor::pager(&env),
            TextTarget::Scrollback => "cat".to_owned(),
        };
        let (tell, temp) = (self.client.events.clone(), self.client.files.temp.clone());
        tokio::spawn(async move {
            let shown = editor::edit(&program, &temp, &text).await.map(drop).map_err(|error| error.to_string());
            let _ = tell.send(RuntimeEvent::Shown(shown));
        });
    }

    /// Gives the terminal to whoever shows the code, in a file whose ending tells its language.
    fn show_code(&mut self, text: String, ending: String) {
        self.leave();
        self.client.editing = true;
        let (tell, temp, program) = (self.client.events.clone(), self.client.files.temp.clone(), editor::pager(&env));
        tokio::spawn(async move {
            let name = format!("code.{ending}");
            let shown = editor::edit_as(&program, &temp, &name, &text).await.map(drop);
            let _ = tell.send(RuntimeEvent::Shown(shown.map_err(|error| error.to_string())));
        });
    }

    /// Gives the terminal to the user's editor, on a file of theirs.
    fn edit_file(&mut self, path: PathBuf, line: Option<u32>) {
        if !path.is_file() {
            let text = format!("File {} no longer exists", sanitise::clean_line(&path.to_string_lossy()));
            return self.apply(Msg::Notice(Notice::new(Level::Warning, text)), Owed::User);
        }
        self.leave();
        self.client.editing = true;
        let (tell, program) = (self.client.events.clone(), editor::command(&env));
        tokio::spawn(async move {
            let shown = editor::open_file(&program, &path, line).await.map_err(|error| error.to_string());
            let _ = tell.send(RuntimeEvent::Shown(shown));
        });
    }

    fn find(&mut self, question: FileQuestion) {
        if self.finder.is_none() {
            let tell = self.client.events.clone();
            match Finder::start(move |found| tell.send(RuntimeEvent::Msg(Msg::Found(Box::new(found)))).is_ok()) {
                Ok(finder) => self.finder = Some(finder),
                Err(error) => return tracing::warn!("can't search files: {error}"),
            }
        }
        if let Some(finder) = &self.finder {
            finder.ask(question);
        }
    }

    fn theme(&mut self, name: &str, keep: Keep) {
        let problems = self.renderer.choose(name);
        self.tell_themes(problems);
        if keep == Keep::Yes
            && let Err(error) = (self.remember_theme)(name)
        {
            self.apply(Msg::Notice(Notice::new(Level::Error, error)), Owed::User);
        }
    }
}

impl Screen {
    /// Reports the themes, the one in force, and its problems.
    pub(super) fn tell_themes(&mut self, problems: Vec<String>) {
        let (names, current) = self.renderer.themes();
        self.apply(Msg::Themes { names, current }, Owed::User);
        for problem in problems {
            self.apply(Msg::Notice(Notice::new(Level::Warning, problem)), Owed::User);
        }
    }
}

fn title_sequence(title: &str) -> String {
    format!("\x1b]2;{}\x1b\\", notify::harmless(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_act() {
        let sequence = title_sequence("fix\x07 it\x1b]0;evil\x1b\\ \u{9b}31mnow\n");
        let title = sequence.strip_prefix("\x1b]2;").and_then(|rest| rest.strip_suffix("\x1b\\")).unwrap();
        assert!(title.starts_with("fix") && !title.contains(char::is_control), "{title:?}");
    }
}
