//! Effects of the screen, one small function each. None of them waits; those that linear mode
//! shares are in `deeds`.

use super::deeds::{self, env};
use super::face::{Face, Owed, Told};
use super::files::{Finder, Question};
use super::{Exit, brush, clipboard, editor, notify, picture};
use crate::app::effect::{Keep, Place};
use crate::app::{Effect, Msg};
use crate::domain::code::Block;
use crate::domain::sanitise;
use crate::domain::{Level, Notice, SessionId};
use rustix::process::{Signal, kill_current_process_group};
use std::path::PathBuf;
use std::time::{Duration, Instant};

impl Face {
    /// Does it.
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command) => self.backlog.send(&self.link.commands, command),
            Effect::Arm { timer, ms } => {
                self.timers.insert(timer, Instant::now() + Duration::from_millis(ms));
            }
            Effect::Disarm(timer) => {
                self.timers.remove(&timer);
            }
            Effect::Copy(text) => self.copy(&text),
            Effect::Title(title) => self.writer.control(title_sequence(&title).as_bytes()),
            Effect::Bell { text } => self.writer.control(notify::call(self.notify, &text, &env).as_bytes()),
            Effect::Suspend => self.suspend(),
            Effect::Repaint => {
                self.writer.forget();
                self.graphics.repaint();
                self.owed = Owed::User;
            }
            Effect::Edit { text } => self.edit(text),
            Effect::Show { text, place } => self.show(text, place),
            Effect::ShowCode { text, ending } => self.show_code(text, ending),
            Effect::EditFile { path, line } => self.edit_file(path, line),
            Effect::Mouse { ours } => {
                let bytes = self.guard.mouse(ours);
                self.writer.control(bytes.as_bytes());
            }
            Effect::View(file) => deeds::view(&self.tell, *file),
            Effect::Picture => deeds::picture(&self.tell, self.temp.clone()),
            Effect::Discard(file) => drop(tokio::task::spawn_blocking(move || picture::discard(&file))),
            Effect::Theme { name, keep } => self.theme(&name, keep),
            Effect::Settings => super::settings::read(&self.tell, &self.settings),
            Effect::Set { key, value } => self.set(key, value),
            Effect::Doctor => self.look(),
            Effect::Find { ticket, root, query, folders } => self.find(Question { ticket, root, query, folders }),
            Effect::Commands { cwd } => deeds::read_commands(&self.tell, &self.commands, cwd),
            Effect::KeepFace(kept) => deeds::keep_face(&self.kept, *kept),
            Effect::Highlight { session, blocks } => self.highlight(session, blocks),
            Effect::Measure { session, files } => self.measure(session, files),
            Effect::Shrink { session, wants } => self.shrink(session, wants),
            Effect::ForgetPictures => self.forget_pictures(),
            Effect::Workspaces => deeds::list_workspaces(&self.tell, &self.workspaces),
            Effect::Workspace { written, create, from } => {
                deeds::find_workspace(&self.tell, &self.workspaces, (written, create), from);
            }
            Effect::Quit { resume, workspace } => self.exit = Some(Exit { workspace, ..Exit::of(resume) }),
        }
    }

    fn copy(&mut self, text: &str) {
        let text = clipboard::clean(text);
        let asked = match clipboard::sequence(&text, &env) {
            Ok(sequence) => {
                self.writer.control(sequence.as_bytes());
                clipboard::Asked::Offered
            }
            Err(why) => why,
        };
        deeds::copy(&self.tell, text, asked);
    }

    /// Stops the whole job, as the shell's Ctrl+Z would. Without job control nothing happens but a repaint.
    fn suspend(&mut self) {
        self.leave();
        self.suspended = true;
        if let Err(error) = kill_current_process_group(Signal::TSTP) {
            tracing::warn!("the process could not be stopped: {error}");
        }
        // The signal may stop us a moment later. Taking the terminal again before that would leave it to the shell in raw
        // mode, so this waits for it; SIGCONT brings us back as well.
        let tell = self.tell.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = tell.send(Told::Returned);
        });
    }

    fn edit(&mut self, text: String) {
        self.leave();
        self.editing = true;
        deeds::edit(&self.tell, self.temp.clone(), text);
    }

    /// Colours code on a thread that may take its time.
    fn highlight(&mut self, session: SessionId, blocks: Vec<Block>) {
        let brush = self.brush.get_or_insert_with(|| brush::start(self.tell.clone()));
        // A brush that is gone colours nothing any more: the code stays plain.
        let _ = brush.send((session, blocks));
    }

    /// Gives the terminal to whoever shows the text. `cat` leaves it on the screen that the shell has, where it scrolls
    /// back.
    pub(super) fn show(&mut self, text: String, place: Place) {
        self.leave();
        self.editing = true;
        let program = match place {
            Place::Pager => editor::pager(&env),
            Place::Scrollback => "cat".to_owned(),
        };
        let (tell, temp) = (self.tell.clone(), self.temp.clone());
        tokio::spawn(async move {
            let shown = editor::edit(&program, &temp, &text).await.map(drop).map_err(|error| error.to_string());
            let _ = tell.send(Told::Shown(shown));
        });
    }

    /// Gives the terminal to whoever shows the code, in a file whose ending tells its language.
    fn show_code(&mut self, text: String, ending: String) {
        self.leave();
        self.editing = true;
        let (tell, temp, program) = (self.tell.clone(), self.temp.clone(), editor::pager(&env));
        tokio::spawn(async move {
            let name = format!("code.{ending}");
            let shown = editor::edit_as(&program, &temp, &name, &text).await.map(drop);
            let _ = tell.send(Told::Shown(shown.map_err(|error| error.to_string())));
        });
    }

    /// Gives the terminal to the user's editor, on a file of theirs.
    fn edit_file(&mut self, path: PathBuf, line: Option<u32>) {
        if !path.is_file() {
            let text = format!("There is no file {} now.", sanitise::clean_line(&path.to_string_lossy()));
            return self.tell(Msg::Notice(Notice::new(Level::Warning, text)), Owed::User);
        }
        self.leave();
        self.editing = true;
        let (tell, program) = (self.tell.clone(), editor::command(&env));
        tokio::spawn(async move {
            let shown = editor::open_file(&program, &path, line).await.map_err(|error| error.to_string());
            let _ = tell.send(Told::Shown(shown));
        });
    }

    fn find(&mut self, question: Question) {
        if self.finder.is_none() {
            let tell = self.tell.clone();
            match Finder::start(move |found| tell.send(Told::Msg(Msg::Found(Box::new(found)))).is_ok()) {
                Ok(finder) => self.finder = Some(finder),
                Err(error) => return tracing::warn!("files cannot be looked for: {error}"),
            }
        }
        if let Some(finder) = &self.finder {
            finder.ask(question);
        }
    }

    fn theme(&mut self, name: &str, keep: Keep) {
        let problems = self.canvas.choose(name);
        self.tell_themes(problems);
        if keep == Keep::Yes
            && let Err(error) = (self.remember_theme)(name)
        {
            self.tell(Msg::Notice(Notice::new(Level::Error, error)), Owed::User);
        }
    }
}

impl Face {
    /// Reports the themes, the one in force, and its problems.
    pub(super) fn tell_themes(&mut self, problems: Vec<String>) {
        let (names, current) = self.canvas.themes();
        self.tell(Msg::Themes { names, current }, Owed::User);
        for problem in problems {
            self.tell(Msg::Notice(Notice::new(Level::Warning, problem)), Owed::User);
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
