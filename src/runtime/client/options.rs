//! Options of a client, and those that only the screen has.

use super::settings_file::SettingsFile;
use crate::config::settings;
use crate::domain::Notice;
use crate::domain::finding::Finding;
use crate::domain::ids::SessionId;
use crate::domain::status_line::StatusLine;
use crate::gateway::remote::LineView;
use crate::keymap::Table;
use crate::protocol::NewSession;
use crate::runtime::extensions::ExtensionFiles;
use crate::runtime::terminal::Mouse;
use crate::runtime::workspaces::Workspaces;
use crate::theme::resolve::ThemeText;
use crate::ui::glyphs::GlyphSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Keeps the user's choice of a theme for the next start, or says why that failed.
pub type RememberTheme = Box<dyn FnMut(&str) -> Result<(), String> + Send>;

/// Looks at this machine and this installation: the doctor.
pub type Examine = Arc<dyn Fn() -> Vec<Finding> + Send + Sync>;

/// The gateway that a client joined.
#[derive(Clone, Debug)]
pub struct GatewayView {
    /// State of the line to it.
    pub line: LineView,
    /// The machine that it runs on; `None` for this one.
    pub machine: Option<String>,
    /// Properties of new sessions that the command line asks for.
    pub asked: NewSession,
}

/// Options of a client.
pub struct Options {
    /// The gateway, where the engine is not in this process.
    pub gateway: Option<GatewayView>,
    /// The keymap in force.
    pub keys: Arc<Table>,
    /// config.toml, and what it said at the start.
    pub settings: SettingsFile,
    /// Looks at this machine and this installation. It may take a second.
    pub examine: Examine,
    /// Folder of `terminal.json` and of the screen's state.
    pub state_dir: PathBuf,
    /// Files of skills, agents and commands.
    pub extensions: ExtensionFiles,
    /// Workspaces.
    pub workspaces: Workspaces,
    /// The session to begin with; a new one without.
    pub resume: Option<SessionId>,
    /// Name of the first session that is made.
    pub alias: Option<String>,
    /// The first message of a new session.
    pub first: Option<String>,
    /// Problems found during the start.
    pub notices: Vec<Notice>,
    /// Options of the screen.
    pub screen: ScreenOptions,
}

/// Options of the screen.
pub struct ScreenOptions {
    /// The user's theme files.
    pub themes: Vec<ThemeText>,
    /// The theme's name; `auto` follows the terminal's background.
    pub theme: String,
    /// Keeps a theme that was chosen.
    pub remember_theme: RememberTheme,
    /// Glyphs to draw; `None` looks at the locale and the terminal.
    pub glyphs: Option<GlyphSet>,
    /// Frames a second at most, for what the engine sends.
    pub fps: u32,
    /// Receiver of mouse events.
    pub mouse: Mouse,
    /// In which way pictures are drawn.
    pub pictures: settings::Pictures,
    /// Way of notifying the user.
    pub notify: settings::Notify,
    /// Parts of the status line.
    pub status: StatusLine,
}
