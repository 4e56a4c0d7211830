//! The roof: channels, terminal, clock and tasks meet here, and nothing else is decided here.
//!
//! `setup` puts the engine together, `open` opens its connections, and `start` the screen. `run` is the loop over a `face`, the screen's state with all it needs from outside; `effects` does what the screen
//! asks for, `signals` what the system tells. `linear` is the other loop: lines in and lines out, without a screen; both do through `deeds` and `outbox` what they have in common. `terminal` takes the terminal and gives it back, on the two ends that `tty`
//! opened, and `strays` keeps others from writing on it; `memory` knows what it answered last time, `kept` what the screen looked like. `input` reads it. `frames` and `encode` write to it what `canvas`
//! draws, `graphics` what is drawn of pictures. `clipboard` and `editor` are the ways to other programs;
//! `workspaces` lists workspaces and remembers the last one, `files` finds files and `commands` reads the user's own commands for the screen. `settings` reads and changes the user's
//! settings. `inspector` shows what keys arrive, `doctor` what of this machine can be used.

mod brush;
pub mod canvas;
pub mod clipboard;
mod commands;
mod deeds;
pub mod doctor;
pub mod editor;
mod effects;
pub mod encode;
mod face;
mod files;
pub mod frames;
pub mod graphics;
pub mod input;
pub mod inspector;
mod kept;
mod linear;
pub mod memory;
pub mod notify;
mod open;
mod outbox;
pub mod picture;
pub mod rules;
mod run;
mod settings;
pub mod setup;
mod signals;
mod start;
mod strays;
pub mod terminal;
pub mod tty;
mod viewer;
pub mod workspaces;

pub use crate::agent::Link;
pub use commands::Folders;
pub use inspector::inspect;
pub use run::run;
pub use start::{app, keymap};
pub use terminal::Mouse;
pub use tty::TtyError;
pub use workspaces::Workspaces;

use crate::config::Settings;
use crate::domain::Notice;
use crate::domain::finding::Finding;
use crate::domain::ids::SessionId;
use crate::domain::unsaved::Unsaved;
use crate::keymap::Table;
use crate::theme::resolve::ThemeText;
use crate::ui;
use face::Told;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Time for the engine to save its last state after the process was asked to end. Together with
/// restoring the terminal it stays under the two seconds after which system managers kill.
const LAST_SAVE: Duration = Duration::from_millis(1_600);

/// Keeps the user's choice of a theme for the next start, or says why that failed.
pub type RememberTheme = Box<dyn FnMut(&str) -> Result<(), String> + Send>;

/// Looks at this machine and this installation.
pub type Look = Arc<dyn Fn() -> Vec<Finding> + Send + Sync>;

/// The user's settings, where they are and what they were.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// config.toml.
    pub path: PathBuf,
    /// Settings at the start.
    pub started: Settings,
}

/// Options of the screen.
pub struct Options {
    /// The keymap in force.
    pub keys: Arc<Table>,
    /// The user's theme files.
    pub themes: Vec<ThemeText>,
    /// The theme's name; `auto` follows the terminal's background.
    pub theme: String,
    /// Keeps a theme that was chosen.
    pub remember_theme: RememberTheme,
    /// config.toml, and what it said at the start.
    pub settings: SettingsFile,
    /// Looks at this machine and this installation. It may take a second.
    pub look: Look,
    /// Glyphs to draw; `None` looks at the locale and the terminal.
    pub glyphs: Option<ui::glyphs::GlyphSet>,
    /// Frames a second at most, for what the engine sends.
    pub fps: u32,
    /// Receiver of mouse events.
    pub mouse: Mouse,
    /// In which way pictures are drawn.
    pub pictures: crate::config::settings::Pictures,
    /// Way of notifying the user.
    pub notify: crate::config::settings::Notify,
    /// Folder of `terminal.json`.
    pub state_dir: PathBuf,
    /// Folders of the user's own commands.
    pub commands: Folders,
    /// Workspaces.
    pub workspaces: Workspaces,
    /// The session to begin with; a new one without.
    pub resume: Option<SessionId>,
    /// The first message of a new session.
    pub first: Option<String>,
    /// Problems found during the start.
    pub notices: Vec<Notice>,
}

/// Outcome of a screen session.
#[derive(Debug)]
pub struct Exit {
    /// The session to name in the command that resumes.
    pub resume: Option<SessionId>,
    /// The folder of the workspace that is opened next.
    pub workspace: Option<PathBuf>,
    /// Content that could not be saved.
    pub unsaved: Vec<Unsaved>,
    /// The engine had ended by then. Where it had not, nobody knows what it saved.
    pub ended: bool,
    /// Error that ended the screen, if any.
    pub trouble: Option<RunError>,
}

impl Exit {
    fn of(resume: Option<SessionId>) -> Self {
        Self { resume, workspace: None, unsaved: Vec::new(), ended: false, trouble: None }
    }

    /// The end of a loop, after the engine's last words.
    fn after(result: Result<Self, RunError>, ended: bool, unsaved: Vec<Unsaved>) -> Self {
        match result {
            Ok(exit) => Self { ended, unsaved, ..exit },
            Err(trouble) => Self { ended, unsaved, trouble: Some(trouble), ..Self::of(None) },
        }
    }

    /// Messages for the user once the terminal is restored: none when all went well.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.unsaved.iter().map(Unsaved::words).collect();
        match &self.trouble {
            Some(trouble) => words.push(trouble.to_string()),
            None if !self.ended => words.push(
                "ended before all sessions were saved: the disk or a command held them up. Open them to see what is there"
                    .to_owned(),
            ),
            None => {}
        }
        words
    }
}

/// Error that keeps the screen from being shown.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No usable terminal.
    #[error(transparent)]
    Terminal(#[from] TtyError),
    /// Threads, pipes or signals could not be had.
    #[error("the system refused what the screen needs: {0}")]
    System(#[source] io::Error),
    /// The engine ended by itself.
    #[error("lisle's engine ended unexpectedly; everything up to its last saved message is on disk, start lisle again")]
    EngineGone,
}

/// Starts reading the terminal for the loop.
fn listen(tty: &tty::Tty, tell: UnboundedSender<Told>) -> io::Result<input::thread::Listener> {
    input::thread::Listener::start(Arc::clone(&tty.input), move |input| tell.send(Told::Input(input)).is_ok())
}
