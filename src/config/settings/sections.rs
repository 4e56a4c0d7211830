//! Sections of config.toml, read into the settings. Whatever is wrong is reported by its section and keeps its default.

use super::read::{KeyFile, Section};
use super::{
    Api, AskEdits, COMPACT_MOST, Connection, ExploreBash, Fsync, GatewayStart, Glyphs, Limits, MachineSettings, Mouse,
    Notify, Permissions, Pictures, ProviderKind, Sandbox, SandboxNetwork, SandboxProfile, Settings, StatedFigures,
    Thinks, Ui, Undo, WhileRunning,
};
use crate::domain::ids::ConnectionName;
use crate::domain::ids::{DEMO, shown_name};
use crate::domain::permission::Mode;
use crate::domain::status_line::StatusPart;
use crate::routes::channel_config::{self, ChannelSettings, MessagesConfig};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads all of config.toml.
pub(super) fn root(section: &Section<'_>, out: &mut Settings) {
    if let Some(section) = section.table("permissions") {
        permissions(&section, &mut out.permissions);
    }
    if let Some(section) = section.table("limits") {
        limits(&section, &mut out.limits);
    }
    if let Some(section) = section.table("ui") {
        ui(&section, &mut out.ui);
    }
    if let Some(section) = section.table("undo") {
        undo(&section, &mut out.undo);
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
    if let Some((name, line)) = section.text("default_connection") {
        out.default_connection = Some(ConnectionName::new(name));
        out.default_connection_line = Some(line);
    }
    if let Some((workspace, _)) = section.text("workspace") {
        out.workspace = Some(PathBuf::from(workspace));
    }
    other_programs(section, out);
    if let Some(connections) = section.table("connections") {
        for (name, section) in connections.tables() {
            let Some(connection) = connection(&section) else { continue };
            if shown_name(&name) == DEMO && connection.provider != ProviderKind::Rehearsal {
                section.name_taken();
                continue;
            }
            out.connections.insert(ConnectionName::new(name), connection);
        }
    }
    section.finish();
}

/// The gateway of this machine, other machines that have one, routes of channels, the folder of Fabric, the server for shares.
fn other_programs(section: &Section<'_>, out: &mut Settings) {
    if let Some(session) = section.typed("session", &["identityLinks", "resetByChannel"]) {
        out.session = session.ok();
    }
    out.channels = channels(section);
    if let Some(section) = section.table("fabric") {
        out.fabric_home = section.text("home").map(|(folder, _)| PathBuf::from(folder));
        section.finish();
    }
    if let Some(section) = section.table("share") {
        out.share.endpoint = section.url("endpoint").map(|url| url.trim_end_matches('/').to_owned());
        out.share.key_env = section.variable("key_env");
        let days = section.whole("days", 1..=365).and_then(|days| u32::try_from(days).ok());
        out.share.days = days;
        if ["key", "api_key", "token"].iter().any(|key| section.has(key)) {
            section.misplaced_key(KeyFile::None);
        }
        section.finish();
    }
    if let Some(section) = section.table("gateway") {
        section.choice("start", GatewayStart::CHOICES, &mut out.gateway_start);
        section.finish();
    }
    if let Some(machines) = section.table("machines") {
        for (name, section) in machines.tables() {
            let text = |key| section.text(key).map(|(text, _)| text);
            out.machines.insert(name, MachineSettings { host: text("host"), command: text("command") });
            section.finish();
        }
    }
}

/// Tables of channels; `None` if one of them has a mistake.
fn channels(section: &Section<'_>) -> Option<ChannelSettings> {
    fn named<T, N>(
        section: &Section<'_>,
        key: &'static str,
        table: Option<Result<T, ()>>,
        names: impl FnOnce(T) -> Result<N, String>,
    ) -> Result<N, ()>
    where
        T: Default,
    {
        names(table.unwrap_or_else(|| Ok(T::default()))?).map_err(|why| section.wrong_table(key, &why))
    }
    // Each is read before one is missed: all mistakes are reported at once.
    let channels = named(section, "channels", section.typed_by_name("channels"), channel_config::named_channels);
    let agents = named(section, "agents", section.typed_by_name("agents"), channel_config::named_agents);
    let bindings = section.typed_list("bindings").unwrap_or_else(|| Ok(Vec::new()));
    let commands = section.typed("commands", &[]).unwrap_or_else(|| Ok(Default::default()));
    let messages: Result<MessagesConfig, ()> =
        section.typed("messages", &["byChannel", "debounceMsByChannel"]).unwrap_or_else(|| Ok(Default::default()));
    match (channels, agents, bindings, commands, messages) {
        (Ok(channels), Ok(agents), Ok(bindings), Ok(commands), Ok(messages)) => {
            Some(ChannelSettings { channels, agents, bindings, commands, queue: messages.queue })
        }
        _ => None,
    }
}

fn permissions(section: &Section<'_>, out: &mut Permissions) {
    let mode = |text: &str| Mode::parse(text);
    section.parsed("mode", "explore, ask or execute", mode, &mut out.mode);
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
            out.cycle = cycle;
        }
    }
    section.finish();
}

fn limits(section: &Section<'_>, limits: &mut Limits) {
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
    limits.parallel_requests = parallel(section);
    section.finish();
}

fn ui(section: &Section<'_>, ui: &mut Ui) {
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
    if let Some(section) = section.table("status") {
        for (key, parts) in [("left", &mut ui.status.left), ("right", &mut ui.status.right)] {
            if let Some(written) = section.choices(key, StatusPart::ALL) {
                *parts = written;
            }
        }
        section.finish();
    }
    section.finish();
}

fn undo(section: &Section<'_>, out: &mut Undo) {
    section.flag("enabled", &mut out.enabled);
    out.skip = section.list("skip", "a name or a path", |text| Some(text.to_owned()).filter(|t| !t.is_empty()));
    if let Some(bytes) = section.whole("max_bytes", 0..=1_000_000_000_000_000) {
        out.max_bytes = bytes;
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
    out.caches = section.list("caches", "a folder starting with / or ~/, or \"default\"", folder);
    let place = |text: &str| {
        let usable = text.starts_with("~/") || Path::new(text).is_absolute();
        usable.then(|| text.to_owned())
    };
    out.readable = section.list("readable", "a path starting with / or ~/", place).unwrap_or_default();
    let device = |text: &str| (text.starts_with("/dev/") && !text.contains("..")).then(|| text.to_owned());
    out.devices = section.list("devices", "a path starting with /dev/", device).unwrap_or_default();
    out.memory = section.memory("memory");
    section.choice("network", SandboxNetwork::CHOICES, &mut out.network);
    let host = |text: &str| {
        let usable = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "/@*?#".contains(c));
        usable.then(|| text.to_owned())
    };
    out.private_hosts = section.list("private_hosts", "a host, or host:port", host).unwrap_or_default();
    section.finish();
}

/// A connection; `None` when it is not known whose interface it speaks, or where its server is.
fn connection(section: &Section<'_>) -> Option<Connection> {
    let mut out = Connection::default();
    let provider = match section.text("provider") {
        // The older word for the demo.
        Some((word, _)) if shown_name(&word) != word => Some(Some(ProviderKind::Rehearsal)),
        _ => section.choice_of("provider", ProviderKind::CHOICES),
    };
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
        section.misplaced_key(KeyFile::Credentials);
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
