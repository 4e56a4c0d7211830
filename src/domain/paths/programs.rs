//! Files in which programs keep sign-ins, cookies, or what somebody typed.

/// Ends of paths, each a file, or a folder with all below it.
const OF_PROGRAMS: &[&str] = &[
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".terraform.d/credentials.tfrc.json",
    ".config/glab-cli",
    ".config/hub",
    ".config/github-copilot",
    ".config/stripe",
    ".config/doctl",
    ".config/hcloud",
    ".config/ngrok",
    ".config/op",
    ".config/pypoetry/auth.toml",
    ".config/slack",
    ".config/discord",
    ".config/signal",
    ".config/filezilla",
    ".config/remmina",
    ".config/heroku",
    ".config/netlify",
    ".config/vercel",
    ".config/configstore",
    ".config/composer/auth.json",
    ".config/containers/auth.json",
    ".config/keepassxc",
    ".config/sops",
    ".config/age",
    ".config/pulse/cookie",
    ".local/share/keyrings",
    ".local/share/recently-used.xbel",
    ".kaggle/kaggle.json",
    ".snowsql",
    ".snowflake",
    ".oci",
    ".fly",
    ".ngrok2",
    ".doctl",
    ".bluemix",
    ".aliyun",
    ".tencentcloud",
    ".linode-cli",
    ".pulumi/credentials.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gradle/gradle.encryption",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".nuget/nuget/nuget.config",
    ".gem/credentials",
    ".hex/hex.config",
    ".subversion/auth",
    ".purple/accounts.xml",
    ".weechat",
    ".irssi",
    ".minio",
    ".mc/config.json",
    "user/globalstorage/state.vscdb",
];

/// Names of files that hold such wherever they lie.
const NAMES: &[&str] = &[
    ".databrickscfg",
    ".xauthority",
    ".iceauthority",
    ".viminfo",
    ".lesshst",
    ".histfile",
    ".zhistory",
    ".wget-hsts",
    ".esd_auth",
    ".smbcredentials",
    ".rhosts",
    ".vncpasswd",
    "state.vscdb",
    "state.vscdb.backup",
    "cookies",
    "cookies-journal",
    "sitemanager.xml",
    "recentservers.xml",
];

/// True if the names of a path, in small letters, are those of such a file.
pub(super) fn is_one(names: &[String]) -> bool {
    let Some(last) = names.last() else { return false };
    // `.bash_history`, `.psql_history`, `.node_repl_history`, and whatever keeps the next one.
    let history = last.starts_with('.') && (last.ends_with("_history") || last.ends_with(".history"));
    let known = NAMES.contains(&last.as_str()) && (last.starts_with('.') || names.len() > 1);
    let within = |end: &&str| {
        let parts: Vec<&str> = end.split('/').collect();
        names.windows(parts.len()).any(|some| some.iter().zip(&parts).all(|(name, part)| name == part))
    };
    let known = known && (last != "cookies" || of_browser(names));
    history || known || OF_PROGRAMS.iter().any(within)
}

/// Cookies lie beside the profile of a program; a folder of source code may have the name as well.
fn of_browser(names: &[String]) -> bool {
    names.iter().any(|name| matches!(name.as_str(), ".config" | "application support" | "default" | "network"))
}

#[cfg(test)]
mod tests {
    use super::super::{is_secret, is_secret_file};
    use std::path::Path;

    #[test]
    fn sign_ins_and_histories_of_programs_are_secrets() {
        for name in [
            ".bash_history",
            ".zsh_history",
            ".psql_history",
            ".mysql_history",
            ".python_history",
            ".node_repl_history",
            ".sqlite_history",
            ".viminfo",
            ".lesshst",
            ".claude.json",
            ".terraform.d/credentials.tfrc.json",
            ".config/glab-cli/config.yml",
            ".config/hub",
            ".config/github-copilot/hosts.json",
            ".config/github-copilot/apps.json",
            ".config/stripe/config.toml",
            ".config/doctl/config.yaml",
            ".kaggle/kaggle.json",
            ".databrickscfg",
            ".snowsql/config",
            ".oci/config",
            ".config/hcloud/cli.toml",
            ".config/ngrok/ngrok.yml",
            ".config/pypoetry/auth.toml",
            ".config/op/config",
            ".fly/config.yml",
            ".m2/settings.xml",
            ".gradle/gradle.properties",
            ".pip/pip.conf",
            ".nuget/NuGet/NuGet.Config",
            ".Xauthority",
            ".config/Slack/Cookies",
            ".config/Code/User/globalStorage/state.vscdb",
            ".config/filezilla/sitemanager.xml",
            ".config/remmina/work.remmina",
        ] {
            assert!(is_secret(&Path::new("/home/u").join(name)), "{name}");
        }
        for open in [
            "src/cookies/mod.rs",
            "lib/cookies",
            "gradle.properties",
            "settings.xml",
            "src/history.rs",
            "command_history",
            ".config/nvim/init.lua",
            ".bundle/config",
            "HISTORY",
        ] {
            assert!(!is_secret_file(Path::new(open)), "{open}");
        }
    }
}
