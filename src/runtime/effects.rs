//! What the screen asks for is done here, one small function an effect. None of them waits.

use super::face::{Face, Owed, Told};
use super::files::{Finder, Question};
use super::frames::Pace;
use super::memory::Known;
use super::{Exit, SettingsFile, brush, canvas, clipboard, commands, editor, picture, viewer};
use crate::app::effect::{Keep, Place};
use crate::app::state::sessions::kept::Kept;
use crate::app::{Effect, Msg};
use crate::config::settings::{self, Settings, write};
use crate::domain::attachment::Attachment;
use crate::domain::code::Block;
use crate::domain::finding::Finding;
use crate::domain::sanitise;
use crate::domain::setting::Setting;
use crate::domain::{Command, Level, Notice, SessionId};
use crate::ui::chat::Glyphs;
use rustix::process::{Signal, kill_current_process_group};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TrySendError;

impl Face {
    /// Does it.
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command) => self.send(command),
            Effect::Arm { timer, ms } => {
                self.timers.insert(timer, Instant::now() + Duration::from_millis(ms));
            }
            Effect::Disarm(timer) => {
                self.timers.remove(&timer);
            }
            Effect::Copy(text) => self.copy(&text),
            Effect::Title(title) => self.writer.control(title_sequence(&title).as_bytes()),
            Effect::Bell { text } => self.writer.control(bell(&text, &env).as_bytes()),
            Effect::Suspend => self.suspend(),
            Effect::Repaint => {
                self.writer.forget();
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
            Effect::View(file) => self.view(*file),
            Effect::Picture => self.picture(),
            Effect::Discard(file) => drop(tokio::task::spawn_blocking(move || picture::discard(&file))),
            Effect::Theme { name, keep } => self.theme(&name, keep),
            Effect::Settings => self.read_settings(),
            Effect::Set { key, value } => self.set(key, value),
            Effect::Doctor => self.look(),
            Effect::Find { ticket, root, query, folders } => self.find(Question { ticket, root, query, folders }),
            Effect::Commands { cwd } => self.read_commands(cwd),
            Effect::KeepFace(kept) => self.keep_face(*kept),
            Effect::Highlight { session, blocks } => self.highlight(session, blocks),
            Effect::Quit { resume } => self.exit = Some(Exit { resume }),
        }
    }

    /// To the engine, in order. The loop never waits for it: what it has no room for is kept.
    fn send(&mut self, command: Command) {
        if !self.backlog.is_empty() {
            return self.backlog.push_back(command);
        }
        match self.link.commands.try_send(command) {
            Ok(()) => {}
            Err(TrySendError::Full(command)) => self.backlog.push_back(command),
            // The loop learns it from the closed events.
            Err(TrySendError::Closed(_)) => {}
        }
    }

    /// What was kept, as far as there is room now.
    pub(super) fn send_kept(&mut self) {
        while let Some(command) = self.backlog.pop_front() {
            match self.link.commands.try_send(command) {
                Ok(()) => {}
                Err(TrySendError::Full(command)) => return self.backlog.push_front(command),
                Err(TrySendError::Closed(_)) => self.backlog.clear(),
            }
        }
    }

    fn copy(&mut self, text: &str) {
        let text = clipboard::clean(text);
        let sequence = clipboard::osc_52(&text);
        let asked = sequence.is_some();
        self.writer.control(sequence.unwrap_or_default().as_bytes());
        let tell = self.tell.clone();
        tokio::spawn(async move {
            let notice = clipboard::copy(text, clipboard::ways(&env), asked).await;
            let _ = tell.send(Told::Msg(Msg::Notice(notice)));
        });
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
        let (tell, temp, editor) = (self.tell.clone(), self.temp.clone(), editor::command(&env));
        tokio::spawn(async move {
            let edited = editor::edit(&editor, &temp, &text).await.map_err(|error| error.to_string());
            let _ = tell.send(Told::Edited(edited));
        });
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

    /// Opens a file of a session: its text in the pager, a picture or a PDF with the desktop's own program.
    fn view(&mut self, file: Attachment) {
        let tell = self.tell.clone();
        tokio::spawn(async move {
            let msg = match viewer::view(&file, &env).await {
                Ok(Some(text)) => Told::Show(text),
                Ok(None) => return,
                Err(why) => Told::Msg(Msg::Notice(Notice::new(Level::Warning, why))),
            };
            let _ = tell.send(msg);
        });
    }

    fn picture(&mut self) {
        let (tell, temp) = (self.tell.clone(), self.temp.clone());
        tokio::spawn(async move {
            let found = picture::fetch(&env, &temp).await;
            if let Err(tokio::sync::mpsc::error::SendError(Told::Msg(Msg::Picture(Ok(file))))) =
                tell.send(Told::Msg(Msg::Picture(found)))
            {
                picture::discard(&file);
            }
        });
    }

    /// Remembers the face; the loop does not wait for the disk.
    fn keep_face(&mut self, kept: Kept) {
        self.kept.want(kept);
        let file = self.kept.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = file.write() {
                tracing::warn!("how the list is shown could not be kept: {error}");
            }
        });
    }

    fn read_settings(&self) {
        let (tell, settings) = (self.tell.clone(), self.settings.clone());
        tokio::task::spawn_blocking(move || {
            let _ = tell.send(Told::Msg(Msg::Settings(settings.shown())));
        });
    }

    /// Uses a setting from now on where that can be, and writes it into config.toml.
    fn set(&mut self, key: String, value: String) {
        match (key.as_str(), value.as_str()) {
            ("ui.glyphs", word) => self.canvas.glyphs(match word {
                "unicode" => Glyphs::Unicode,
                "ascii" => Glyphs::Ascii,
                _ => canvas::glyphs(&env),
            }),
            ("ui.fps", fps) => self.pace = Pace::new(fps.parse().unwrap_or(60)),
            _ => {}
        }
        let (tell, settings) = (self.tell.clone(), self.settings.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(why) = write::set(&settings.path, &key, &value) {
                let _ = tell.send(Told::Msg(Msg::Notice(Notice::new(Level::Error, why))));
            }
            let _ = tell.send(Told::Msg(Msg::Settings(settings.shown())));
        });
    }

    fn look(&self) {
        let (tell, look) = (self.tell.clone(), self.look.clone());
        let (known, links) = (self.known, self.links);
        tokio::task::spawn_blocking(move || {
            let mut findings = look();
            let at = findings.iter().position(|one| one.about == "characters").unwrap_or(findings.len());
            findings.insert(at, answers(known, links));
            let _ = tell.send(Told::Msg(Msg::Doctor(findings)));
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

    fn read_commands(&mut self, cwd: PathBuf) {
        let (tell, folders) = (self.tell.clone(), self.commands.clone());
        tokio::task::spawn_blocking(move || {
            let (commands, problems) = commands::read(&folders, &cwd);
            let _ = tell.send(Told::Msg(Msg::Commands(commands)));
            for problem in problems {
                let _ = tell.send(Told::Msg(Msg::Notice(problem.notice())));
            }
        });
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
    /// Which themes there are, which one is in force, and what was wrong with it.
    pub(super) fn tell_themes(&mut self, problems: Vec<String>) {
        let (names, current) = self.canvas.themes();
        self.tell(Msg::Themes { names, current }, Owed::User);
        for problem in problems {
            self.tell(Msg::Notice(Notice::new(Level::Warning, problem)), Owed::User);
        }
    }
}

impl SettingsFile {
    /// The settings as config.toml says them now.
    fn shown(&self) -> Vec<Setting> {
        // What cannot be read was told at the start.
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let (now, _) = Settings::parse(&self.path, &text);
        settings::shown::shown(&now, &self.started, &text)
    }
}

/// What the terminal answered.
fn answers(known: Known, links: bool) -> Finding {
    let whole = if known.synchronized { "frames appear as a whole" } else { "frames appear as they come" };
    let ground = match known.dark() {
        Some(true) => "a dark background",
        Some(false) => "a light background",
        None => "a background that it did not tell",
    };
    let links = if links { "links can be clicked" } else { "no links" };
    Finding::ok("answers", format!("{ground}; {whole}; {links}"))
}

/// A variable of the environment.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// One line of text in which no terminal finds anything to do.
fn harmless(text: &str) -> String {
    sanitise::clean_line(text).chars().filter(|c| !c.is_control()).collect()
}

fn title_sequence(title: &str) -> String {
    format!("\x1b]2;{}\x1b\\", harmless(title))
}

/// Calls for attention: in words where the terminal is known to show them, else by the bell, which tmux and window
/// managers turn into a mark of their own.
fn bell(text: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let text = harmless(text);
    let var = |name| env(name).unwrap_or_default();
    let (term, program) = (var("TERM"), var("TERM_PROGRAM"));
    let words = if !var("TMUX").is_empty() || term.starts_with("screen") {
        String::new()
    } else if matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty") || term == "xterm-kitty" {
        format!("\x1b]9;{}\x1b\\", text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'))
    } else if !var("VTE_VERSION").is_empty() || term.starts_with("foot") || term.starts_with("rxvt") {
        format!("\x1b]777;notify;lisle;{}\x1b\\", text.replace(';', ","))
    } else {
        String::new()
    };
    words + "\x07"
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

    #[test]
    fn the_bell_rings_and_speaks_where_it_is_heard() {
        let ring = |pairs: &'static [(&'static str, &'static str)]| {
            bell("a;\x1b[mb\x07 needs you", &move |name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(ring(&[("TERM", "xterm")]), "\x07");
        assert_eq!(ring(&[("TERM", "xterm"), ("TERM_PROGRAM", "WezTerm")]), "\x1b]9;a;b needs you\x1b\\\x07");
        assert_eq!(ring(&[("TERM", "foot")]), "\x1b]777;notify;lisle;a,b needs you\x1b\\\x07");
        assert_eq!(ring(&[("TERM", "foot"), ("TMUX", "/tmp/x")]), "\x07");
    }
}
