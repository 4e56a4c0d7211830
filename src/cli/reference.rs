//! Reference of the command line: exit statuses, environment and files. Help texts, man pages and docs/ come from these tables.
//! Cells are Markdown as in docs/.

/// Exit statuses of `lisle run`.
pub const RUN: &[(&str, &str)] = &[
    ("0", "done"),
    ("1", "failed, stopped at a limit, or stdout was closed by its reader"),
    ("2", "wrong arguments"),
    ("3", "done, but a call was refused"),
    ("4", "no connection with credentials"),
    ("5", "another process has the session open, or took it over"),
    ("6", "done, but not everything could be saved"),
    ("7", "queued: a turn runs in that session, in a gateway; the message waits in its queue"),
    (
        "129, 130, 143",
        "ended by SIGHUP, by Ctrl+C or SIGINT, by SIGTERM; the answer so far is in the session. A signal that is ignored at the \
         start stays ignored",
    ),
];

/// Exit statuses of every other command that is not in [`OTHERS`].
const USUAL: &[(&str, &str)] = &[("0", "done"), ("1", "failed"), ("2", "wrong arguments")];

/// Exit statuses of single commands, by their words.
const OTHERS: &[(&str, &[(&str, &str)])] = &[
    ("run", RUN),
    ("pattern run", RUN),
    ("sessions", &[("0", "done"), ("1", "failed for at least one"), ("2", "wrong arguments")]),
    (
        "sessions import",
        &[
            ("0", "done"),
            ("1", "importing a session failed, or there was none"),
            ("2", "wrong arguments"),
            ("129, 130, 143", "stopped by SIGHUP, by Ctrl+C or SIGINT, by SIGTERM"),
        ],
    ),
    ("sessions search", &[("0", "found"), ("1", "no matches"), ("2", "invalid query")]),
    ("sessions cleanup", &[("0", "done"), ("1", "a store or a file failed"), ("2", "wrong arguments")]),
    ("sessions verify", &[("0", "no problems"), ("1", "problems or unreadable files"), ("2", "wrong arguments")]),
    (
        "permissions check",
        &[
            ("0", "allow"),
            ("10", "ask"),
            ("11", "deny; of several lines, as with `--file`, the strictest counts"),
            ("1", "unreadable file"),
            ("2", "wrong arguments"),
        ],
    ),
    ("channel send", &[("0", "taken, or taken before"), ("1", "refused or not reached"), ("2", "wrong arguments")]),
    ("sources test", &[("0", "it answers"), ("1", "it does not"), ("2", "wrong arguments")]),
    ("gateway status", &[("0", "it runs"), ("1", "none runs, or it can't be reached"), ("2", "wrong arguments")]),
    ("config check", PROBLEMS),
    ("themes check", PROBLEMS),
    ("keys check", PROBLEMS),
    ("doctor", &[("0", "OK"), ("1", "broken"), ("2", "wrong arguments")]),
];

/// Exit statuses of commands that check something.
const PROBLEMS: &[(&str, &str)] = &[("0", "fine"), ("1", "problems"), ("2", "wrong arguments")];

/// Variables that lisle reads.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("LISLE_HOME", "folder of all files of lisle, in the place of the system's usual folders"),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME", "usual folders, where `LISLE_HOME` is not set"),
    ("XDG_RUNTIME_DIR", "folder of the gateway's socket"),
    (
        "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY",
        "keys of connections; a connection of yours names its own variable with `key_env`",
    ),
    ("VISUAL, EDITOR", "editor of `config edit`, `context edit` and the composer; the first one that is set counts"),
    ("PAGER", "program that shows an entry of a conversation"),
    ("NO_COLOR", "no colors, if it is set to anything"),
    ("TERM, COLORTERM, TERM_PROGRAM", "what the terminal can do"),
    ("CLAUDE_CONFIG_DIR, CODEX_HOME, CRAFT_CONFIG_DIR", "folders of other programs that imports read"),
];

/// Files and folders of lisle.
pub const FILES: &[(&str, &str)] = &[
    (
        "config/",
        "`config.toml`, `preferences.md`, `AGENTS.md`, `commands/`, `skills/`, `agents/`, `contexts/`, `patterns/`, \
         `strategies/`, `keymaps/`, `themes/`, `permissions.json`, `trusted.toml`, `credentials` (mode 0600)",
    ),
    (
        "data/workspaces/NAME/",
        "`statuses/config.json`, `labels/config.json`, `views.json`, `permissions.json`, `trash/`, `checkpoints/` (for undo)",
    ),
    (
        "data/workspaces/NAME/sessions/ID/",
        "`session.jsonl` (the conversation), `header.json`, `live.jsonl` (work in progress), `plans/`, `data/` …",
    ),
    ("data/agents/ID/sessions/sessions.json", "rows of an agent's [session keys](routes.md)"),
    (
        "state/gateway/channels/",
        "messages of [channels](routes.md#connect-a-channel) that are not done, senders, secrets, dead letters, log",
    ),
    ("data/usage/", "one line per request, by month, for 24 months"),
    ("state/", "log, drafts, input history, caches: may be deleted"),
];

/// Places of [`FILES`].
pub const FOLDERS: &str = "The system's usual folders (on Linux `~/.config/lisle`, `~/.local/share/lisle`, \
    `~/.local/state/lisle`), or `config/`, `data/` and `state/` below `LISLE_HOME`:";

/// Exit statuses of a command, such as `sessions list`; and if they are its own.
#[must_use]
pub fn statuses(words: &str) -> (&'static [(&'static str, &'static str)], bool) {
    OTHERS.iter().find(|(command, _)| *command == words).map_or((USUAL, false), |(_, statuses)| (statuses, true))
}

/// `Exit status: 0 done, 1 failed.`
pub(super) fn sentence(statuses: &[(&str, &str)]) -> String {
    let all: Vec<String> = statuses.iter().map(|(status, meaning)| format!("{status} {meaning}")).collect();
    let between = if statuses.iter().any(|(status, meaning)| format!("{status}{meaning}").contains([',', ';'])) {
        "; "
    } else {
        ", "
    };
    format!("Exit status: {}.", all.join(between))
}

#[cfg(test)]
mod tests {
    use super::super::exit::Exit;
    use super::*;

    #[test]
    fn statuses_are_those_of_the_program() {
        let known = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Refused,
            Exit::NoCredentials,
            Exit::Held,
            Exit::Unsaved,
            Exit::Queued,
            Exit::WouldAsk,
            Exit::WouldDeny,
            Exit::HungUp,
            Exit::Interrupted,
            Exit::Terminated,
        ]
        .map(|exit| (exit as u8).to_string());
        let told: Vec<&str> =
            OTHERS.iter().flat_map(|(_, all)| *all).flat_map(|(status, _)| status.split(", ")).collect();
        assert!(told.iter().all(|status| known.iter().any(|known| known == status)), "{told:?}");
        assert!(known.iter().all(|status| told.contains(&status.as_str())), "{known:?}");
    }

    #[test]
    fn statuses_are_of_commands_that_there_are() {
        let program = super::super::args::command();
        for (words, statuses) in OTHERS {
            let mut found = &program;
            for word in words.split(' ') {
                found = found.find_subcommand(word).unwrap();
            }
            let about = found.get_long_about().unwrap().to_string();
            assert_eq!(about.matches(&sentence(statuses)).count(), 1, "{words}: {about}");
        }
        assert_eq!(sentence(PROBLEMS), "Exit status: 0 fine, 1 problems, 2 wrong arguments.");
        assert_eq!(statuses("sessions list"), (USUAL, false));
    }
}
