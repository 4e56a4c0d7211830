//! config.toml: every key, its default, and how it is read. What is wrong keeps its default and is reported.
//!
//! `read` walks the TOML and reports, `shown` lists the settings for a client, `write` changes one; here stands what the keys are
//! and mean.

mod read;
mod sections;
pub mod shown;
#[cfg(test)]
mod tests;
pub mod write;

use crate::domain::ids::ConnectionName;
use crate::domain::permission::Mode;
use crate::domain::problem::Problem;
use crate::domain::status_line::StatusLine;
use crate::routes::channel_config::ChannelSettings;
use crate::routes::config::SessionConfig;
use read::{Section, SettingsReport};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Content of config.toml.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `[permissions]`
    pub permissions: Permissions,
    /// `[explore]` `bash`: what commands may do in Explore.
    pub explore_bash: ExploreBash,
    /// `[ask]` `edits`: what becomes of edits in Ask to Edit.
    pub ask_edits: AskEdits,
    /// `sandbox`, or `[sandbox]`
    pub sandbox: Sandbox,
    /// `[limits]`
    pub limits: Limits,
    /// `[compact]` `at`: the part of the window, in percent, at which a conversation is compacted by itself; 0 for never.
    pub compact_at: f64,
    /// `extended_prompt_cache`: prompts stay in the vendor's cache for an hour or longer, where it has that.
    pub extended_prompt_cache: bool,
    /// `rich_tool_descriptions`: describe tools to the model in full; otherwise in a sentence each.
    pub rich_tool_descriptions: bool,
    /// `[input]` `while_running`: what Enter does while a turn runs.
    pub while_running: WhileRunning,
    /// `[ui]`
    pub ui: Ui,
    /// `[store]` `fsync`
    pub fsync: Fsync,
    /// Automatic changes of sessions: `auto_status`, `[auto_archive]`, `[trash]`
    pub inbox: InboxSettings,
    /// `[undo]`
    pub undo: Undo,
    /// `default_connection`
    pub default_connection: Option<ConnectionName>,
    /// The line of `default_connection`, for messages about it.
    pub default_connection_line: Option<usize>,
    /// `[connections.NAME]`
    pub connections: BTreeMap<ConnectionName, Connection>,
    /// `[gateway]` `start`: when the app starts a gateway.
    pub gateway_start: GatewayStart,
    /// `[machines.NAME]`
    pub machines: BTreeMap<String, MachineSettings>,
    /// `[share]`: where conversations are uploaded.
    pub share: ShareSettings,
    /// `[fabric]` `home`: the folder of the program Fabric, whose patterns, strategies and contexts are read.
    pub fabric_home: Option<PathBuf>,
    /// `workspace`: a name below `data/workspaces`, or a folder. A leading `~` stands for the home directory.
    pub workspace: Option<PathBuf>,
    /// `[session]`: routes of messages. `None` if it has a mistake: defaults in its place could remove what was to stay.
    pub session: Option<SessionConfig>,
    /// `[channels]`, `[agents]`, `[[bindings]]`, `[commands]`, `[messages]`: channels of messages. `None` if one of them has a
    /// mistake: half a configuration could let somebody in.
    pub channels: Option<ChannelSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            permissions: Permissions::default(),
            explore_bash: ExploreBash::default(),
            ask_edits: AskEdits::default(),
            sandbox: Sandbox::default(),
            limits: Limits::default(),
            compact_at: COMPACT_AT,
            extended_prompt_cache: false,
            rich_tool_descriptions: true,
            while_running: WhileRunning::default(),
            ui: Ui::default(),
            fsync: Fsync::default(),
            inbox: InboxSettings::default(),
            undo: Undo::default(),
            default_connection: None,
            default_connection_line: None,
            connections: BTreeMap::new(),
            share: ShareSettings::default(),
            fabric_home: None,
            gateway_start: GatewayStart::default(),
            machines: BTreeMap::new(),
            workspace: None,
            session: Some(SessionConfig::default()),
            channels: Some(ChannelSettings::default()),
        }
    }
}

/// Server for shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareSettings {
    /// `endpoint`: its address. `None`: nothing is uploaded.
    pub endpoint: Option<String>,
    /// `key_env`: the variable with the key that it wants.
    pub key_env: Option<String>,
    /// `days`: shares expire then.
    pub days: Option<u32>,
}

/// Another machine with a lisle, for `lisle ssh NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSettings {
    /// `host`, as ssh takes it; the machine's name without it.
    pub host: Option<String>,
    /// `command`: lisle there.
    pub command: Option<String>,
}

/// The part of the window, in percent, at which a conversation is compacted where nothing else was said.
const COMPACT_AT: f64 = 77.5;
/// The most that can be said: what is left has to hold an answer.
const COMPACT_MOST: f64 = 95.0;

/// The permission modes of new sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// The mode of a new session.
    pub mode: Mode,
    /// Modes that Shift+Tab goes through, in order; never empty.
    pub cycle: Vec<Mode>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self { mode: Mode::Ask, cycle: Mode::ALL.to_vec() }
    }
}

/// Sandbox of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// `sandbox = "…"`, or `profile` in `[sandbox]`: what commands run in that may change something.
    pub profile: SandboxProfile,
    /// `caches`: folders of which such commands get copies that they write, as written; `default` stands for the usual ones
    /// of package managers. A leading `~` stands for the home directory. `None`: the usual ones.
    pub caches: Option<Vec<String>>,
    /// `readable`: folders and files that commands read beside the usual ones, as written.
    pub readable: Vec<String>,
    /// `devices`: devices that such commands use beside the harmless ones.
    pub devices: Vec<String>,
    /// `memory`: bytes that a command may use.
    pub memory: Option<u64>,
    /// `network`: what they reach of the network.
    pub network: SandboxNetwork,
    /// `private_hosts`: hosts of this machine and its network that they reach with `network = "hosts"`, as written.
    pub private_hosts: Vec<String>,
}

/// Limits of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests to the model in one turn.
    pub requests_per_turn: u32,
    /// Silence after the first byte of a response after which it is tried again.
    pub stall: Duration,
    /// Silence before the first byte after which the user gets a notice.
    pub first_byte: Duration,
    /// Requests that may cost more US dollars are announced.
    pub warn_cost: f64,
    /// Requests that one connection answers at a time; `None` for as many as fit its server. A connection's own number comes first.
    pub parallel_requests: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_turn: 200,
            stall: Duration::from_secs(60),
            first_byte: Duration::from_secs(600),
            warn_cost: 0.5,
            parallel_requests: None,
        }
    }
}

/// Automatic changes of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxSettings {
    /// `auto_status`: a session's status follows the work. Never in the workspace of another program.
    pub auto_status: bool,
    /// `[auto_archive]` `idle_days`: days without a message before a session is archived; `None`: never.
    pub archive_idle_days: Option<u32>,
    /// `[trash]` `days`: days before the trash deletes a session. 0: sessions are deleted at once.
    pub trash_days: u32,
}

impl Default for InboxSettings {
    fn default() -> Self {
        Self { auto_status: true, archive_idle_days: None, trash_days: 30 }
    }
}

/// Limits of what is kept for undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// Files are kept at all.
    pub enabled: bool,
    /// Names (`target`, `*.iso`) and paths below the working directory that commands may change without being kept, in
    /// place of the usual ones.
    pub skip: Option<Vec<String>>,
    /// Bytes that are kept over the workspace; the oldest go first.
    pub max_bytes: u64,
}

impl Default for Undo {
    fn default() -> Self {
        Self { enabled: true, skip: None, max_bytes: 1_000_000_000 }
    }
}

/// Look of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ui {
    /// The theme's name; `auto` chooses lisle's dark or light one.
    pub theme: String,
    /// The keymap's name.
    pub keymap: String,
    /// Glyphs to draw.
    pub glyphs: Glyphs,
    /// Frames a second at most, for what the engine sends.
    pub fps: u32,
    /// Mouse mode.
    pub mouse: Mouse,
    /// Way of notifying the user.
    pub notify: Notify,
    /// `linear`: lines in place of the full screen; `None` for where the terminal can do nothing else.
    pub linear: Option<bool>,
    /// In which way pictures are drawn in the conversation.
    pub pictures: Pictures,
    /// `[ui.status]`: parts of the status line.
    pub status: StatusLine,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            theme: "auto".to_owned(),
            keymap: "default".to_owned(),
            glyphs: Glyphs::Auto,
            fps: 60,
            mouse: Mouse::On,
            notify: Notify::Auto,
            linear: None,
            pictures: Pictures::Auto,
            status: StatusLine::default(),
        }
    }
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            const CHOICES: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];

            /// The word in config.toml.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }
    };
}

choice! {
    /// Network of commands that may change something.
    SandboxNetwork {
        /// All that the system reaches.
        #[default]
        Open = "open",
        /// Package registries, the repository's remotes, hosts of rules, and what is asked for.
        Hosts = "hosts",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// When the app starts a gateway in the background and joins it.
    GatewayStart {
        /// Over SSH, so that a lost line stops nothing.
        #[default]
        Ssh = "ssh",
        /// Always.
        Always = "always",
        /// Never; one that runs is joined.
        Never = "never",
    }
}

choice! {
    /// Commands in Explore.
    ExploreBash {
        /// Commands that are proved to read only run.
        #[default]
        ReadOnly = "read-only",
        /// No command runs.
        Block = "block",
    }
}
choice! {
    /// Sandbox profile of commands that may change something, in Ask to Edit and Execute.
    SandboxProfile {
        /// Writes below the working directory, in temporary folders and caches only.
        #[default]
        Workspace = "workspace",
        /// No writes, and no network.
        ReadOnly = "read-only",
        /// Nothing holds them.
        Off = "off",
    }
}
choice! {
    /// Edits in Ask to Edit.
    AskEdits {
        /// Edits ask.
        #[default]
        Prompt = "prompt",
        /// Edits below the working directory are allowed.
        Allow = "allow",
    }
}
choice! {
    /// Enter while a turn runs.
    WhileRunning {
        /// The message waits for the next turn.
        #[default]
        Queue = "queue",
        /// The message goes in with the next tool results.
        Steer = "steer",
    }
}
choice! {
    /// Glyphs to draw.
    Glyphs {
        /// As the terminal and the locale allow.
        #[default]
        Auto = "auto",
        /// All of them.
        Unicode = "unicode",
        /// ASCII alone.
        Ascii = "ascii",
    }
}
choice! {
    /// Mouse mode.
    Mouse {
        /// It is.
        #[default]
        On = "on",
        /// The terminal keeps it.
        Off = "off",
    }
}
choice! {
    /// In which way pictures are drawn in the conversation.
    Pictures {
        /// As the terminal says that it can, if at all.
        #[default]
        Auto = "auto",
        /// Kitty's graphics protocol.
        Kitty = "kitty",
        /// iTerm2's inline images.
        Iterm2 = "iterm2",
        /// Sixels.
        Sixel = "sixel",
        /// Descriptions instead of pictures.
        Off = "off",
    }
}
choice! {
    /// Way of notifying the user who looks elsewhere: when a session needs them, and when a turn is done.
    Notify {
        /// In words where the terminal is known to show them, and by the bell.
        #[default]
        Auto = "auto",
        /// OSC 9 (iTerm2, WezTerm, Ghostty).
        Osc9 = "osc9",
        /// OSC 777 (foot, rxvt, VTE).
        Osc777 = "osc777",
        /// OSC 99 (kitty).
        Osc99 = "osc99",
        /// Bell only.
        Bell = "bell",
        /// Not at all.
        Off = "off",
    }
}
choice! {
    /// Frequency of flushing writes to the disk.
    Fsync {
        /// At every write of the transcript.
        Always = "always",
        /// At the points that the transcript promises: user messages, changing calls, ends of turns.
        #[default]
        Normal = "normal",
        /// Never.
        Off = "off",
    }
}
choice! {
    /// API of a connection's vendor.
    ProviderKind {
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// OpenAI's own.
        Openai = "openai",
        /// Any server that speaks OpenAI's chat completions.
        #[default]
        OpenaiCompatible = "openai-compatible",
        /// Google's.
        Gemini = "gemini",
        /// OpenAI's at Azure.
        AzureOpenai = "azure-openai",
        /// The built-in, rule-based agent.
        Rehearsal = "demo",
    }
}
choice! {
    /// API of OpenAI.
    Api {
        /// Chat completions, which every server of the kind speaks.
        #[default]
        Chat = "chat",
        /// Responses.
        Responses = "responses",
    }
}

choice! {
    /// Form of the request for thinking, with Anthropic's API.
    Thinks {
        /// As far as it sees fit, by a word for the effort.
        #[default]
        Adaptive = "adaptive",
        /// The same, and it cannot be told not to.
        Always = "always",
        /// Within a number of tokens.
        Budget = "budget",
        /// Within a small number of tokens.
        SmallBudget = "small-budget",
    }
}

/// A configured provider account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// API of the vendor.
    pub provider: ProviderKind,
    /// The server up to its version (`https://api.example/v1`); `None` for the vendor's own.
    pub base_url: Option<String>,
    /// API of OpenAI; `None` for the one that fits the server.
    pub api: Option<Api>,
    /// The version of Azure's interface.
    pub api_version: Option<String>,
    /// The variable of the environment that holds its key.
    pub key_env: Option<String>,
    /// Models known without asking the server.
    pub models: Vec<String>,
    /// The model used when none is chosen.
    pub default_model: Option<String>,
    /// The model for titles and summaries.
    pub small_model: Option<String>,
    /// Headers that are sent with every request.
    pub headers: BTreeMap<String, String>,
    /// The proxy, as a URL.
    pub proxy: Option<String>,
    /// Merged into the body of every request.
    pub extra_body: Map<String, Value>,
    /// Requests that it answers at a time.
    pub parallel_requests: Option<u32>,
    /// Figures of models beside the built-in ones: `[connections.NAME.figures."MODEL"]`.
    pub figures: BTreeMap<String, StatedFigures>,
}

/// Figures of a model. Prices are US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatedFigures {
    /// The context window in tokens.
    pub window: Option<u64>,
    /// The most tokens of one answer.
    pub max_output: Option<u64>,
    /// Form of the request for thinking.
    pub thinks: Option<Thinks>,
    /// It can be shown pictures.
    pub vision: Option<bool>,
    /// It can be shown PDF documents.
    pub pdf: Option<bool>,
    /// Price of input.
    pub input: Option<f64>,
    /// Price of output.
    pub output: Option<f64>,
    /// Price of input that was read from the cache.
    pub cache_read: Option<f64>,
    /// Price of input that was written to the cache.
    pub cache_write: Option<f64>,
}

impl Settings {
    /// Connections whose usual model is named here.
    #[must_use]
    pub fn connections_with_a_model(&self) -> BTreeSet<ConnectionName> {
        let named = self.connections.iter().filter(|(_, connection)| connection.default_model.is_some());
        named.map(|(name, _)| name.clone()).collect()
    }

    /// Reads the text of config.toml. Whatever is wrong is reported and keeps its default.
    #[must_use]
    pub fn parse(path: &Path, text: &str) -> (Self, Vec<Problem>) {
        let (document, errors) = toml::de::DeTable::parse_recoverable(text);
        let report = SettingsReport::new(path, text);
        for error in &errors {
            report.syntax(error);
        }
        let mut out = Self::default();
        sections::root(&Section::new(&report, String::new(), document.get_ref()), &mut out);
        if !errors.is_empty() {
            // A line that was not read may have been one of it.
            out.session = None;
        }
        (out, report.into_problems())
    }
}
