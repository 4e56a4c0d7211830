//! The environment of a command: lisle's own without keys, without what makes a shell run other code first, and with
//! what keeps programs from paging or prompting.
//!
//! It is cleaned before the parent of the command starts, so that `/proc/PARENT/environ` holds no keys either.

use std::ffi::{OsStr, OsString};

/// Endings of names that stand for keys and passwords.
const SECRET_ENDINGS: &[&str] = &[
    "_API_KEY",
    "_APIKEY",
    "_TOKEN",
    "_SECRET",
    "_SECRET_KEY",
    "_ACCESS_KEY",
    "_ACCESS_KEY_ID",
    "_PRIVATE_KEY",
    "_PASSWORD",
    "_PASSWD",
    "_PASSPHRASE",
    "_CREDENTIALS",
    "_AUTH",
    "_PAT",
];

/// Whole names that stand for keys and passwords.
const SECRET_NAMES: &[&str] = &[
    "API_KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PGPASSWORD",
    "MYSQL_PWD",
    "ANTHROPIC_KEY",
    "OPENAI_KEY",
    "GEMINI_KEY",
    "AZURE_OPENAI_KEY",
    "COHERE_KEY",
    "MISTRAL_KEY",
    "GROQ_KEY",
    "HF_HUB_TOKEN",
    "NETRC",
];

/// Beginnings of names that belong to lisle or to a provider's own settings.
const SECRET_STARTS: &[&str] = &["LISLE_", "ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "OPENROUTER_"];

/// What would make a shell or a program run or read something else first.
const STEERING: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "BASH_XTRACEFD",
    "LESSOPEN",
    "LESSCLOSE",
    "RIPGREP_CONFIG_PATH",
    "OLDPWD",
    "PWD",
    "COLUMNS",
    "LINES",
];

/// No pager, no prompt, no colours, no terminal.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// The environment for a command, made from `own`.
pub fn cleaned(own: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut out: Vec<(OsString, OsString)> =
        own.into_iter().filter(|(name, _)| is_harmless(name) && !SET.iter().any(|(set, _)| name == set)).collect();
    out.extend(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    out
}

fn is_harmless(name: &OsStr) -> bool {
    // A name that is no text is nobody's setting, and cannot be judged.
    let Some(name) = name.to_str() else { return false };
    let upper = name.to_ascii_uppercase();
    !(SECRET_ENDINGS.iter().any(|end| upper.ends_with(end))
        || SECRET_NAMES.contains(&upper.as_str())
        || SECRET_STARTS.iter().any(|start| upper.starts_with(start))
        || STEERING.contains(&name)
        // Functions that bash would take over from whoever started it.
        || name.starts_with("BASH_FUNC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_steering_go_and_pagers_are_cat() {
        let own = [
            ("PATH", true),
            ("HOME", true),
            ("LANG", true),
            ("SSH_AUTH_SOCK", true),
            ("KEYBOARD", true),
            ("ANTHROPIC_API_KEY", false),
            ("ANTHROPIC_BASE_URL", false),
            ("my_api_key", false),
            ("GITHUB_TOKEN", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("CLIENT_SECRET", false),
            ("LISLE_ANYTHING", false),
            ("PGPASSWORD", false),
            ("BASH_ENV", false),
            ("ENV", false),
            ("BASH_FUNC_ls%%", false),
        ];
        let env = cleaned(own.iter().map(|(name, _)| (OsString::from(name), OsString::from("x"))));
        for (name, stays) in own {
            assert_eq!(env.iter().any(|(n, _)| n == name), stays, "{name}");
        }
        let env = cleaned([("PAGER".into(), "less".into())]);
        assert_eq!(env.iter().filter(|(name, _)| name == "PAGER").count(), 1);
        assert!(env.contains(&("PAGER".into(), "cat".into())));
    }
}
