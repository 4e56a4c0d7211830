//! config.toml: every key, its default, and how it is read. What is wrong keeps its default and is reported.
//!
//! `read` walks the TOML and reports, `shown` lists the settings for a client, `write` changes one; here stands what the keys are
//! and mean.

mod read;
pub mod shown;
#[cfg(test)]
mod tests;
pub mod write;

use crate::domain::ids::ConnectionName;
use crate::domain::permission::Mode;
use crate::domain::problem::Problem;
use read::{Section, SettingsReport};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
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
    /// `workspace`: a name below `data/workspaces`, or a folder. A leading `~` stands for the home directory.
    pub workspace: Option<PathBuf>,
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
            workspace: None,
        }
    }
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
        Rehearsal = "rehearsal",
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
    /// Reads the text of config.toml. Whatever is wrong is reported and keeps its default.
    #[must_use]
    pub fn parse(path: &Path, text: &str) -> (Self, Vec<Problem>) {
        let (document, errors) = toml::de::DeTable::parse_recoverable(text);
        let report = SettingsReport::new(path, text);
        for error in &errors {
            report.syntax(error);
        }
        let mut out = Self::default();
        root(&Section::new(&report, String::new(), document.get_ref()), &mut out);
        (out, report.into_problems())
    }
}

fn root(section: &Section<'_>, out: &mut Settings) {
    if let Some(section) = section.table("permissions") {
        let mode = |text: &str| Mode::parse(text);
        section.parsed("mode", "explore, ask or execute", mode, &mut out.permissions.mode);
        if let Some(mut cycle) = section.list("cycle", "explore, ask or execute", mode) {
            let mut seen = Vec::new();
            cycle.retain(|mode| {
                !seen.contains(mode) && {
                    seen.push(*mode);
                    true
                }
            });
            if cycle.is_empty() {
                section.wrong_list("cycle", "at least one of explore, ask and execute", "[\"ask\"]");
            } else {
                out.permissions.cycle = cycle;
            }
        }
        section.finish();
    }
    if let Some(section) = section.table("explore") {
        section.choice("bash", ExploreBash::CHOICES, &mut out.explore_bash);
        section.finish();
    }
    if let Some(section) = section.table("ask") {
        section.choice("edits", AskEdits::CHOICES, &mut out.ask_edits);
        section.finish();
    }
    sandbox(section, &mut out.sandbox);
    if let Some(section) = section.table("limits") {
        let limits = &mut out.limits;
        if let Some(n) = section.whole("requests_per_turn", 1..=100_000) {
            limits.requests_per_turn = u32::try_from(n).unwrap_or(u32::MAX);
        }
        if let Some(n) = section.whole("stall_seconds", 1..=86_400) {
            limits.stall = Duration::from_secs(n);
        }
        if let Some(n) = section.whole("first_byte_seconds", 1..=86_400) {
            limits.first_byte = Duration::from_secs(n);
        }
        if let Some(usd) = section.amount("warn_cost") {
            limits.warn_cost = usd;
        }
        limits.parallel_requests = parallel(&section);
        section.finish();
    }
    if let Some(section) = section.table("compact") {
        if let Some(at) = section.percent("at", COMPACT_MOST) {
            out.compact_at = at;
        }
        section.finish();
    }
    if let Some(section) = section.table("input") {
        section.choice("while_running", WhileRunning::CHOICES, &mut out.while_running);
        section.finish();
    }
    if let Some(section) = section.table("ui") {
        let ui = &mut out.ui;
        section.set_text("theme", &mut ui.theme);
        section.set_text("keymap", &mut ui.keymap);
        section.choice("glyphs", Glyphs::CHOICES, &mut ui.glyphs);
        section.choice("mouse", Mouse::CHOICES, &mut ui.mouse);
        section.choice("notify", Notify::CHOICES, &mut ui.notify);
        section.flag_or_auto("linear", &mut ui.linear);
        section.choice("pictures", Pictures::CHOICES, &mut ui.pictures);
        if let Some(n) = section.whole("fps", 1..=240) {
            ui.fps = u32::try_from(n).unwrap_or(60);
        }
        section.finish();
    }
    if let Some(section) = section.table("store") {
        section.choice("fsync", Fsync::CHOICES, &mut out.fsync);
        section.finish();
    }
    section.flag("auto_status", &mut out.inbox.auto_status);
    section.flag("extended_prompt_cache", &mut out.extended_prompt_cache);
    section.flag("rich_tool_descriptions", &mut out.rich_tool_descriptions);
    let days = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    if let Some(section) = section.table("auto_archive") {
        out.inbox.archive_idle_days = section.whole("idle_days", 1..=36_500).map(days);
        section.finish();
    }
    if let Some(section) = section.table("trash") {
        if let Some(n) = section.whole("days", 0..=36_500) {
            out.inbox.trash_days = days(n);
        }
        section.finish();
    }
    if let Some(section) = section.table("undo") {
        section.flag("enabled", &mut out.undo.enabled);
        out.undo.skip =
            section.list("skip", "a name or a path", |text| Some(text.to_owned()).filter(|t| !t.is_empty()));
        if let Some(bytes) = section.whole("max_bytes", 0..=1_000_000_000_000_000) {
            out.undo.max_bytes = bytes;
        }
        section.finish();
    }
    if let Some((name, line)) = section.text("default_connection") {
        out.default_connection = Some(ConnectionName::new(name));
        out.default_connection_line = Some(line);
    }
    if let Some((workspace, _)) = section.text("workspace") {
        out.workspace = Some(PathBuf::from(workspace));
    }
    if let Some(connections) = section.table("connections") {
        for (name, section) in connections.tables() {
            let Some(connection) = connection(&section) else { continue };
            if name == "rehearsal" && connection.provider != ProviderKind::Rehearsal {
                section.name_taken();
                continue;
            }
            out.connections.insert(ConnectionName::new(name), connection);
        }
    }
    section.finish();
}

/// Number of concurrent requests.
fn parallel(section: &Section<'_>) -> Option<u32> {
    section.whole("parallel_requests", 1..=1_000).and_then(|number| u32::try_from(number).ok())
}

/// One word for the profile, or a table for all of it.
fn sandbox(section: &Section<'_>, out: &mut Sandbox) {
    if !section.is_table("sandbox") {
        section.choice("sandbox", SandboxProfile::CHOICES, &mut out.profile);
        return;
    }
    let Some(section) = section.table("sandbox") else { return };
    section.choice("profile", SandboxProfile::CHOICES, &mut out.profile);
    let folder = |text: &str| {
        let usable = text == "default" || text.starts_with("~/") || Path::new(text).is_absolute();
        usable.then(|| text.to_owned())
    };
    out.caches = section.list("caches", "a folder that begins with / or ~/, or \"default\"", folder);
    let place = |text: &str| {
        let usable = text.starts_with("~/") || Path::new(text).is_absolute();
        usable.then(|| text.to_owned())
    };
    out.readable = section.list("readable", "a path that begins with / or ~/", place).unwrap_or_default();
    let device = |text: &str| (text.starts_with("/dev/") && !text.contains("..")).then(|| text.to_owned());
    out.devices = section.list("devices", "a path that begins with /dev/", device).unwrap_or_default();
    out.memory = section.memory("memory");
    section.choice("network", SandboxNetwork::CHOICES, &mut out.network);
    let host = |text: &str| {
        let usable = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "/@*?#".contains(c));
        usable.then(|| text.to_owned())
    };
    out.private_hosts = section.list("private_hosts", "a host, or a host and a port", host).unwrap_or_default();
    section.finish();
}

/// A connection; `None` when it is not known whose interface it speaks, or where its server is.
fn connection(section: &Section<'_>) -> Option<Connection> {
    let mut out = Connection::default();
    let provider = section.choice_of("provider", ProviderKind::CHOICES);
    let owned = |key| section.text(key).map(|(text, _)| text);
    out.base_url = section.url("base_url").map(|url| url.trim_end_matches('/').to_owned());
    out.api = section.choice_of("api", Api::CHOICES).flatten();
    out.api_version = owned("api_version");
    out.key_env = section.variable("key_env");
    out.models = section.list("models", "a name", |text| Some(text.to_owned())).unwrap_or_default();
    out.default_model = owned("default_model").or_else(|| out.models.first().cloned());
    out.small_model = owned("small_model");
    out.headers = section.texts("headers");
    out.proxy = section.url("proxy");
    out.extra_body = section.json("extra_body");
    out.parallel_requests = parallel(section);
    if let Some(models) = section.table("figures") {
        for (name, section) in models.tables() {
            let figures = StatedFigures {
                window: section.whole("window", 1..=1_000_000_000),
                max_output: section.whole("max_output", 1..=1_000_000_000),
                thinks: section.choice_of("thinks", Thinks::CHOICES).flatten(),
                vision: section.yes_or_no("vision"),
                pdf: section.yes_or_no("pdf"),
                input: section.amount("input"),
                output: section.amount("output"),
                cache_read: section.amount("cache_read"),
                cache_write: section.amount("cache_write"),
            };
            section.finish();
            out.figures.insert(name, figures);
        }
    }
    if section.has("key") || section.has("api_key") {
        section.misplaced_key();
    }
    section.finish();
    out.provider = match provider {
        Some(Some(kind)) => kind,
        Some(None) => return None,
        None => {
            section.missing("provider", "openai-compatible");
            return None;
        }
    };
    let needs_url = matches!(out.provider, ProviderKind::OpenaiCompatible | ProviderKind::AzureOpenai);
    if needs_url && out.base_url.is_none() {
        if !section.has("base_url") {
            section.missing("base_url", "https://host/v1");
        }
        return None;
    }
    // A wrong address must not turn into the vendor's own: what was meant for one server would go to another.
    if section.has("base_url") && out.base_url.is_none() {
        return None;
    }
    Some(out)
}
