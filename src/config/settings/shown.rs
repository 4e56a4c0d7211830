//! Settings for clients: each with its value, the source of the value, and the values it can be changed to.

use super::{Settings, read};
use crate::domain::setting::{Setting, SettingGroup, SettingSource, TakesEffect};
use crate::domain::status_line::StatusLine;
use std::path::Path;

/// One row of the table: the key, its group, the sentence, how its value is read, what it can be changed to, from when on.
type Row = (&'static str, SettingGroup, &'static str, fn(&Settings) -> String, &'static [&'static str], TakesEffect);

const BY_HAND: &[&str] = &[];
const SWITCH: &[&str] = &["true", "false"];

const ROWS: &[Row] = {
    use SettingGroup::{Files, Limits, Permissions, Screen, Sessions};
    use TakesEffect::{NextStart, Now};
    &[
        (
            "ui.theme",
            Screen,
            "Color theme. auto follows the terminal's background.",
            |s| s.ui.theme.clone(),
            BY_HAND,
            Now,
        ),
        (
            "ui.glyphs",
            Screen,
            "Symbols. auto checks the locale and the terminal.",
            |s| s.ui.glyphs.word().to_owned(),
            &["auto", "unicode", "ascii"],
            Now,
        ),
        (
            "ui.mouse",
            Screen,
            "Mouse handling. off leaves the mouse to the terminal.",
            |s| s.ui.mouse.word().to_owned(),
            &["on", "off"],
            Now,
        ),
        (
            "ui.fps",
            Screen,
            "Maximum frames per second for engine output.",
            |s| s.ui.fps.to_string(),
            &["15", "30", "60", "120"],
            Now,
        ),
        (
            "ui.pictures",
            Screen,
            "Images in the conversation.",
            |s| s.ui.pictures.word().to_owned(),
            &["auto", "off"],
            NextStart,
        ),
        (
            "ui.notify",
            Screen,
            "Notification when lisle is out of focus. auto uses what the terminal supports.",
            |s| s.ui.notify.word().to_owned(),
            &["auto", "osc9", "osc777", "osc99", "bell", "off"],
            Now,
        ),
        (
            "ui.status.left",
            Screen,
            "Left side of the status line.",
            |s| StatusLine::names(&s.ui.status.left),
            BY_HAND,
            NextStart,
        ),
        (
            "ui.status.right",
            Screen,
            "Right side of the status line.",
            |s| StatusLine::names(&s.ui.status.right),
            BY_HAND,
            NextStart,
        ),
        ("ui.keymap", Screen, "Key bindings.", |s| s.ui.keymap.clone(), &["default", "vim", "emacs"], NextStart),
        (
            "ui.linear",
            Screen,
            "Lines instead of the full screen. auto uses lines where the terminal can do nothing else.",
            |s| s.ui.linear.map_or_else(|| "auto".to_owned(), |linear| linear.to_string()),
            BY_HAND,
            NextStart,
        ),
        (
            "input.while_running",
            Sessions,
            "Enter during a turn: queue the message, or steer the turn.",
            |s| s.while_running.word().to_owned(),
            &["queue", "steer"],
            NextStart,
        ),
        (
            "default_connection",
            Sessions,
            "Connection for new sessions.",
            |s| s.default_connection.as_ref().map_or_else(|| "last used".to_owned(), ToString::to_string),
            BY_HAND,
            NextStart,
        ),
        (
            "workspace",
            Sessions,
            "Workspace to open: a name or a folder.",
            |s| s.workspace.as_ref().map_or_else(|| "last opened".to_owned(), |path| path.display().to_string()),
            BY_HAND,
            NextStart,
        ),
        (
            "auto_status",
            Sessions,
            "Update a session's status automatically.",
            |s| s.inbox.auto_status.to_string(),
            SWITCH,
            NextStart,
        ),
        (
            "gateway.start",
            Sessions,
            "When the app starts a gateway, whose turns go on without a screen.",
            |s| s.gateway_start.word().to_owned(),
            &["ssh", "always", "never"],
            NextStart,
        ),
        (
            "extended_prompt_cache",
            Sessions,
            "Cache prompts at the provider for an hour or longer, if it can. Cache writes cost more.",
            |s| s.extended_prompt_cache.to_string(),
            SWITCH,
            NextStart,
        ),
        (
            "rich_tool_descriptions",
            Sessions,
            "Send full tool descriptions. Off: one sentence each, for small context windows.",
            |s| s.rich_tool_descriptions.to_string(),
            SWITCH,
            NextStart,
        ),
        (
            "auto_archive.idle_days",
            Sessions,
            "Archive idle sessions after this many days.",
            |s| s.inbox.archive_idle_days.map_or_else(|| "never".to_owned(), |days| days.to_string()),
            BY_HAND,
            NextStart,
        ),
        (
            "permissions.mode",
            Permissions,
            "Permission mode for new sessions.",
            |s| s.permissions.mode.word().to_owned(),
            BY_HAND,
            NextStart,
        ),
        (
            "permissions.cycle",
            Permissions,
            "Modes the mode key cycles through.",
            |s| s.permissions.cycle.iter().map(|mode| mode.word()).collect::<Vec<_>>().join(", "),
            BY_HAND,
            NextStart,
        ),
        (
            "sandbox",
            Permissions,
            "Sandbox for commands that may change something.",
            |s| s.sandbox.profile.word().to_owned(),
            BY_HAND,
            NextStart,
        ),
        (
            "sandbox.network",
            Permissions,
            "Network for commands that may change something: open, listed hosts, or off.",
            |s| s.sandbox.network.word().to_owned(),
            BY_HAND,
            NextStart,
        ),
        (
            "sandbox.private_hosts",
            Permissions,
            "Private-network hosts allowed with network = `hosts`.",
            |s| if s.sandbox.private_hosts.is_empty() { "none".to_owned() } else { s.sandbox.private_hosts.join(", ") },
            BY_HAND,
            NextStart,
        ),
        ("explore.bash", Permissions, "Commands in Explore.", |s| s.explore_bash.word().to_owned(), BY_HAND, NextStart),
        ("ask.edits", Permissions, "Edits in Ask to Edit.", |s| s.ask_edits.word().to_owned(), BY_HAND, NextStart),
        (
            "compact.at",
            Limits,
            "Auto-compact at this percentage of the context window.",
            |s| {
                if s.compact_at > 0.0 { format!("{} %", s.compact_at) } else { "never".to_owned() }
            },
            BY_HAND,
            NextStart,
        ),
        (
            "limits.requests_per_turn",
            Limits,
            "Maximum model requests per turn.",
            |s| s.limits.requests_per_turn.to_string(),
            BY_HAND,
            NextStart,
        ),
        (
            "limits.parallel_requests",
            Limits,
            "Maximum concurrent requests of one connection.",
            |s| s.limits.parallel_requests.map_or_else(|| "8; 2 on this machine".to_owned(), |most| most.to_string()),
            BY_HAND,
            NextStart,
        ),
        (
            "limits.warn_cost",
            Limits,
            "Warn before a request that may cost more (USD).",
            |s| format!("${:.2}", s.limits.warn_cost),
            BY_HAND,
            NextStart,
        ),
        (
            "limits.stall_seconds",
            Limits,
            "Retry a response after this much silence.",
            |s| format!("{} s", s.limits.stall.as_secs()),
            BY_HAND,
            NextStart,
        ),
        (
            "limits.first_byte_seconds",
            Limits,
            "Show a notice after this much silence before a response.",
            |s| format!("{} s", s.limits.first_byte.as_secs()),
            BY_HAND,
            NextStart,
        ),
        (
            "undo.enabled",
            Files,
            "Keep checkpoints so that file changes can be undone.",
            |s| s.undo.enabled.to_string(),
            SWITCH,
            NextStart,
        ),
        (
            "trash.days",
            Files,
            "Days to keep deleted sessions in the trash.",
            |s| s.inbox.trash_days.to_string(),
            BY_HAND,
            NextStart,
        ),
        (
            "share.endpoint",
            Files,
            "Server that /share uploads conversations to.",
            |s| s.share.endpoint.clone().unwrap_or_else(|| "none".to_owned()),
            BY_HAND,
            Now,
        ),
        (
            "fabric.home",
            Files,
            "Folder of Fabric, whose patterns, strategies and contexts are read.",
            |s| s.fabric_home.as_ref().map_or_else(|| "~/.config/fabric".to_owned(), |home| home.display().to_string()),
            BY_HAND,
            NextStart,
        ),
        (
            "store.fsync",
            Files,
            "How often writes are synced to disk.",
            |s| s.fsync.word().to_owned(),
            BY_HAND,
            NextStart,
        ),
    ]
};

/// The line of config.toml on which a setting stands, from 1; `None` where it is not written.
#[must_use]
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    read::line_of(text, key)
}

/// All settings that are shown. `started` is what this run began with, `text` is config.toml as it is now.
#[must_use]
pub fn shown(settings: &Settings, started: &Settings, text: &str) -> Vec<Setting> {
    let usual = Settings::default();
    let (_, problems) = Settings::parse(Path::new("config.toml"), text);
    let one = |(key, group, about, value, choices, holds): &Row| {
        let line = line_of(text, key).or_else(|| line_of(text, &format!("{key}.profile")));
        let (now, before) = (value(settings), value(started));
        // What was refused there is no source of the value.
        let is_refused = line.is_some() && problems.iter().any(|problem| problem.line == line);
        let line = line.filter(|_| !is_refused || now != value(&usual));
        Setting {
            key: (*key).to_owned(),
            group: *group,
            about: (*about).to_owned(),
            said: line.map_or(SettingSource::Default, SettingSource::Line),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            takes_effect: *holds,
            until_then: (*holds == TakesEffect::NextStart && now != before).then_some(before),
            value: now,
        }
    };
    ROWS.iter().map(one).collect()
}

/// The keys that [`super::write::set`] may write, each with the words that it takes.
#[must_use]
pub fn takes(key: &str, value: &str) -> bool {
    ROWS.iter().any(|row| row.0 == key && row.4.contains(&value))
}

#[cfg(test)]
mod tests {
    use super::super::{AskEdits, ExploreBash, Fsync, Glyphs, Mouse, SandboxProfile, WhileRunning};
    use super::*;

    #[test]
    fn every_choice_is_one_that_config_toml_takes() {
        let name = |key: &str| key.split('.').next_back().unwrap_or_default().to_owned();
        for (key, _, about, value, choices, _) in ROWS {
            assert!(about.ends_with('.'), "{key}");
            for choice in *choices {
                let quoted = match *choice {
                    "true" | "false" => (*choice).to_owned(),
                    number if number.parse::<u32>().is_ok() => number.to_owned(),
                    word => format!("{word:?}"),
                };
                let text = match key.rsplit_once('.') {
                    Some((table, _)) => format!("[{table}]\n{} = {quoted}\n", name(key)),
                    None => format!("{key} = {quoted}\n"),
                };
                let (settings, problems) = Settings::parse(Path::new("/c"), &text);
                assert_eq!(problems, vec![], "{text}");
                assert_eq!(value(&settings), *choice, "{key}");
                assert!(takes(key, choice) && !takes(key, "nonsense"));
            }
        }
        let words = [Glyphs::Auto.word(), Mouse::On.word(), Fsync::Normal.word(), WhileRunning::Queue.word()];
        assert_eq!(words, ["auto", "on", "normal", "queue"]);
        let strict = [SandboxProfile::Workspace.word(), ExploreBash::ReadOnly.word(), AskEdits::Prompt.word()];
        assert_eq!(strict, ["workspace", "read-only", "prompt"]);
    }

    #[test]
    fn it_is_told_where_each_was_said() {
        let text =
            "# mine\nauto_status = false\n\n[ui]\nglyphs = \"ascii\"\nfps = 30\n\n[sandbox]\nprofile = \"off\"\n";
        let (settings, _) = Settings::parse(Path::new("/c"), text);
        let all = shown(&settings, &Settings::default(), text);
        let said = |key: &str| all.iter().find(|one| one.key == key).map(|one| (one.said, one.value.as_str())).unwrap();
        assert_eq!(said("auto_status"), (SettingSource::Line(2), "false"));
        assert_eq!(said("ui.glyphs"), (SettingSource::Line(5), "ascii"));
        assert_eq!(said("sandbox"), (SettingSource::Line(9), "off"));
        assert_eq!(said("ui.mouse"), (SettingSource::Default, "on"));
        let text = "workspace = \"work\"\n[ui]\nfps = \"fast\"\nglyphs = \"ascii\"\nlinear = true\n";
        let (settings, _) = Settings::parse(Path::new("/c"), text);
        let refused = shown(&settings, &Settings::default(), text);
        let said =
            |key: &str| refused.iter().find(|one| one.key == key).map(|one| (one.said, one.value.as_str())).unwrap();
        assert_eq!(said("ui.fps"), (SettingSource::Default, "60"));
        assert_eq!(said("ui.glyphs"), (SettingSource::Line(4), "ascii"));
        assert_eq!(said("ui.linear"), (SettingSource::Line(5), "true"));
        assert_eq!(said("workspace"), (SettingSource::Line(1), "work"));
        assert_eq!(said("limits.parallel_requests").0, SettingSource::Default);
        let later = all.iter().find(|one| one.key == "auto_status").and_then(|one| one.until_then.as_deref());
        assert_eq!(later, Some("true"));
    }
}
