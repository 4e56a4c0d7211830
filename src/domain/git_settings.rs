//! git's settings: which of them run nothing and lead nowhere, and which ones a command of git writes. Pure.
//!
//! The judge names them in a question, the tool opens `.git/config` for them, and the guard compares the file after the
//! command: all three by this one list.

/// Settings that a command of git writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSettings {
    /// Settings as a user reads them: the key, with its value where the words tell it.
    pub settings: Vec<String>,
    /// They run nothing and lead nowhere, as far as the words tell.
    pub harmless: bool,
}

/// Sections with the last parts of their keys that run nothing and name no file, whatever their value; an empty list stands
/// for all of the section.
const HARMLESS: &[(&str, &[&str])] = &[
    ("user", &["name", "email", "useconfigonly"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("color", &[]),
    ("column", &[]),
    ("advice", &[]),
    ("status", &[]),
    ("branch", &["merge", "rebase", "description", "vscode-merge-base", "gh-merge-base", "autosetuprebase"]),
    ("remote", &["tagopt", "prune", "prunetags", "gh-resolved"]),
    ("submodule", &["active", "branch", "shallow", "fetchrecursesubmodules"]),
    ("fetch", &["prune", "prunetags", "parallel", "recursesubmodules"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("merge", &["ff", "conflictstyle", "renames", "stat", "log"]),
    ("rebase", &["autostash", "autosquash", "updaterefs", "stat"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("log", &["date", "follow", "abbrevcommit", "decorate"]),
    ("diff", &["renames", "algorithm", "colormoved", "context", "mnemonicprefix", "noprefix"]),
    ("core", &["sparsecheckout", "sparsecheckoutcone", "quotepath", "abbrev"]),
    ("index", &["sparse"]),
];

/// True if a command may write this setting without a question. The key has its section and name in small letters.
///
/// Not asked here: whether a remote that a branch follows is there, and whether an address is another one than before.
#[must_use]
pub fn runs_nothing(key: &str, value: &str) -> bool {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let last = rest.rsplit('.').next().unwrap_or_default();
    if key.chars().chain(value.chars()).any(|c| c.is_control() && !(last == "description" && c == '\n')) {
        return false;
    }
    match (section, last) {
        ("remote", "url" | "pushurl") => is_plain_address(value),
        // git fetches submodules alone, which runs nothing of the other repository.
        ("submodule", "url") => is_plain_address(value) || value.starts_with(['/', '.']) && !value.contains("::"),
        ("branch", "remote" | "pushremote") => value == "." || is_plain_address(value) || is_remote_name(value),
        ("remote", "fetch") => value.split_once(':').is_none_or(|(_, to)| {
            ["refs/remotes/", "refs/tags/", "refs/pull/"].iter().any(|below| to.starts_with(below))
        }),
        ("submodule", "update") => matches!(value, "none" | "checkout" | "rebase" | "merge"),
        ("core", "repositoryformatversion") => matches!(value, "0" | "1"),
        ("extensions", "worktreeconfig") => matches!(value, "true" | "false"),
        _ => HARMLESS.iter().any(|(name, keys)| *name == section && (keys.is_empty() || keys.contains(&last))),
    }
}

/// An address of another machine, by a protocol that git itself speaks. A path of this machine would let a repository that
/// a command made run its hooks, and another protocol a helper of its name.
#[must_use]
pub fn is_plain_address(value: &str) -> bool {
    if value.starts_with('-') || value.contains("::") || value.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let is_host = |host: &str| {
        let host = host.rsplit('@').next().unwrap_or(host);
        !host.is_empty() && !host.starts_with('-') && !host.contains(['/', '\\'])
    };
    match value.split_once("://") {
        Some((scheme, rest)) => {
            ["https", "http", "ssh", "git", "git+ssh", "ssh+git"].contains(&scheme)
                && !rest.starts_with('-')
                && is_host(rest.split('/').next().unwrap_or_default())
        }
        None => value.split_once(':').is_some_and(|(host, path)| is_host(host) && host.len() > 1 && !path.is_empty()),
    }
}

/// A name that cannot be a path above or beside the working directory.
fn is_remote_name(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with(['-', '.'])
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// The subcommand of git with what follows it.
#[must_use]
pub fn subcommand(args: &[String]) -> &[String] {
    // Options before the subcommand with a value of their own.
    let valued = |word: &String| {
        ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"].contains(&word.as_str())
    };
    let mut at = 0;
    while args.get(at).is_some_and(|word| word.starts_with('-')) {
        at += 1 + usize::from(args.get(at).is_some_and(valued));
    }
    args.get(at..).unwrap_or_default()
}

/// Settings that a command of git writes because its words say so, from the words after `git`. Options may be shortened.
#[must_use]
pub fn written(args: &[String]) -> Option<WrittenSettings> {
    let (first, rest) = subcommand(args).split_first()?;
    let words: Vec<&str> = rest.iter().filter(|word| !word.starts_with('-')).map(String::as_str).collect();
    let has = |short: &str, long: &[&str]| rest.iter().any(|word| is_option(word, short, long));
    match first.as_str() {
        "config" => config(rest, &words),
        "remote" => remote(rest, &words),
        "branch" => branch(rest, &words),
        "switch" | "checkout" if has("t", &["--track"]) => followed(words.last().copied()),
        "worktree" if has("", &["--track"]) => followed(words.last().copied()),
        "push" if has("u", &["--set-upstream"]) => {
            let (to, what) = (words.first().copied(), words.get(1).copied());
            let name = what.map(|what| what.rsplit(':').next().unwrap_or(what).trim_start_matches('+'));
            let to = to.unwrap_or("the remote");
            let known = !words.is_empty() && (is_remote_name(to) || is_plain_address(to)) || words.is_empty();
            Some(WrittenSettings {
                settings: vec![format!("branch.{}.remote = {to}", name.unwrap_or("HEAD"))],
                harmless: known,
            })
        }
        "fetch" if has("", &["--filter"]) => one("remote.*.partialclonefilter", false),
        "pull" | "fetch" if has("", &["--set-upstream"]) => {
            let to = words.first().copied().unwrap_or("the remote");
            let known = is_remote_name(to) || is_plain_address(to) || words.is_empty();
            Some(WrittenSettings { settings: vec![format!("branch.HEAD.remote = {to}")], harmless: known })
        }
        "submodule" => submodule(&words, has("", &["--init"])),
        "sparse-checkout" if matches!(words.first(), Some(&("init" | "set" | "add" | "disable" | "reapply"))) => {
            one("core.sparseCheckout", true)
        }
        "maintenance" if matches!(words.first(), Some(&("start" | "register" | "stop" | "unregister"))) => {
            one("maintenance.*", false)
        }
        _ => None,
    }
}

/// Subcommands that may note a harmless setting of a branch, though no word of theirs says so: by a setting of the user's, or
/// because they begin at a branch of a remote.
#[must_use]
pub fn may_note(args: &[String]) -> bool {
    const NOTING: &[&str] = &["switch", "checkout", "branch", "push", "worktree", "submodule", "init"];
    subcommand(args).first().is_some_and(|first| NOTING.contains(&first.as_str()))
        || written(args).is_some_and(|written| written.harmless)
}

/// The option by which a command of git writes settings beside what it is for, as it is written.
#[must_use]
pub fn settling_option(argv: &[String]) -> Option<&str> {
    const OPTIONS: &[(&str, &str, &[&str])] = &[
        ("switch", "t", &["--track"]),
        ("checkout", "t", &["--track"]),
        ("worktree", "", &["--track"]),
        ("push", "u", &["--set-upstream"]),
        ("pull", "", &["--set-upstream"]),
        ("fetch", "", &["--set-upstream", "--filter"]),
        ("submodule", "", &["--init"]),
    ];
    let (program, args) = argv.split_first()?;
    let (first, rest) = subcommand(args).split_first().filter(|_| program == "git")?;
    let (_, short, long) = OPTIONS.iter().find(|(name, ..)| name == first)?;
    rest.iter().map(String::as_str).find(|word| is_option(word, short, long))
}

fn one(setting: &str, harmless: bool) -> Option<WrittenSettings> {
    Some(WrittenSettings { settings: vec![setting.to_owned()], harmless })
}

fn followed(start: Option<&str>) -> Option<WrittenSettings> {
    one(&format!("branch.*.merge = {}", start.unwrap_or("its upstream")), true)
}

/// True if a word is one of these options: a long one by its beginning, a short one among others.
fn is_option(word: &str, short: &str, long: &[&str]) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if name.starts_with("--") {
        return name.len() > 3 && long.iter().any(|option| option.starts_with(name));
    }
    name.strip_prefix('-').is_some_and(|letters| letters.contains(|c| short.contains(c)))
}

fn config(rest: &[String], words: &[&str]) -> Option<WrittenSettings> {
    const ASKS: &[&str] =
        &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--get-colorbool"];
    const PLAIN: &[&str] = &["--local", "--add", "--replace-all", "--unset", "--unset-all"];
    let has = |option: &str| rest.iter().any(|word| word == option);
    let removes = rest.iter().any(|word| word.starts_with("--unset") || word.starts_with("--remove"));
    let second = words.first().copied().unwrap_or_default();
    let alone = second.is_empty() || words.len() == 1 && second.contains('.') && !removes && !has("--add");
    let reads = ASKS.iter().any(|option| has(option)) || matches!(second, "get" | "list");
    if reads || alone && !has("-e") && !has("--edit") {
        return None;
    }
    let (key, value, removes) = match words {
        ["set", key, value, ..] => (*key, Some(*value), false),
        ["unset", key, ..] => (*key, None, true),
        [key, value, ..] if !removes => (*key, Some(*value), false),
        [key, ..] => (*key, None, removes),
        [] => return one("all of them, in an editor", false),
    };
    let elsewhere = rest.iter().any(|word| ["--global", "--system"].contains(&word.as_str()));
    let known = rest.iter().filter(|word| word.starts_with('-')).all(|word| PLAIN.contains(&word.as_str()));
    let normal = small(key);
    let harmless = known
        && key.contains('.')
        && match value {
            // An address that is there already would be another one.
            _ if normal.starts_with("remote.") && normal.ends_with("url") => false,
            Some(value) => runs_nothing(&normal, value),
            None => removes && !normal.starts_with("remote.") && runs_nothing(&normal, "true"),
        };
    let told = match value {
        Some(value) => format!("{key} = {}", shortened(value)),
        None => format!("{key}{}", if removes { " (removed)" } else { "" }),
    };
    one(&if elsewhere { format!("{told} (for all repositories)") } else { told }, harmless)
}

/// The key with its section and name in small letters.
fn small(key: &str) -> String {
    match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section, _)), Some((before, name))) if before.len() > section.len() => {
            let middle = before.get(section.len()..).unwrap_or_default();
            format!("{}{middle}.{}", section.to_lowercase(), name.to_lowercase())
        }
        _ => key.to_lowercase(),
    }
}

fn shortened(value: &str) -> String {
    const MOST: usize = 100;
    let mut out: String = value.chars().take(MOST).collect();
    if out.len() < value.len() {
        out.push('…');
    }
    out
}

fn remote(rest: &[String], words: &[&str]) -> Option<WrittenSettings> {
    match words {
        ["add", inner @ ..] => {
            // Values of options may stand before the name.
            let (name, url) = match inner {
                [.., name, url] => (*name, *url),
                _ => return one("remote.*.url", false),
            };
            let known = ["-f", "--fetch", "--tags", "--no-tags"];
            let plain = rest.iter().filter(|word| word.starts_with('-')).all(|word| known.contains(&word.as_str()));
            let harmless = plain && inner.len() == 2 && is_remote_name(name) && is_plain_address(url);
            one(&format!("remote.{name}.url = {}", shortened(url)), harmless)
        }
        ["set-url", name, url, ..] => one(&format!("remote.{name}.url = {}", shortened(url)), false),
        ["rename", old, new, ..] => one(&format!("remote.{old} (becomes remote.{new})"), false),
        ["remove" | "rm", name, ..] => one(&format!("remote.{name} (removed)"), false),
        ["set-branches", name, ..] => one(&format!("remote.{name}.fetch"), is_remote_name(name)),
        ["set-url" | "rename" | "remove" | "rm" | "set-branches", ..] => one("remote.*", false),
        _ => None,
    }
}

fn branch(rest: &[String], words: &[&str]) -> Option<WrittenSettings> {
    let has = |short: &str, long: &[&str]| rest.iter().any(|word| is_option(word, short, long));
    let first = words.first().copied().unwrap_or("HEAD");
    if has("u", &["--set-upstream-to"]) {
        let joined = rest.iter().find_map(|word| word.strip_prefix("--")?.split_once('=').map(|(_, value)| value));
        let (to, name) = match joined {
            Some(to) => (to, first),
            None => (first, words.get(1).copied().unwrap_or("HEAD")),
        };
        return one(&format!("branch.{name}.merge = {to}"), true);
    }
    if has("", &["--unset-upstream"]) {
        return one(&format!("branch.{first}.merge (removed)"), true);
    }
    if has("mMcC", &["--move", "--copy"]) {
        let (old, new) = match words {
            [old, new, ..] => (*old, *new),
            _ => ("HEAD", first),
        };
        return one(&format!("branch.{old} (becomes branch.{new})"), true);
    }
    if has("dD", &["--delete"]) {
        return one(&format!("branch.{first} (removed)"), true);
    }
    if has("", &["--edit-description"]) {
        return one(&format!("branch.{first}.description"), true);
    }
    if has("t", &["--track"]) { followed(words.last().copied()) } else { None }
}

fn submodule(words: &[&str], is_init: bool) -> Option<WrittenSettings> {
    let what = words.get(1).copied().unwrap_or("*");
    match *words.first()? {
        "init" | "deinit" => one(&format!("submodule.{what}.url"), true),
        "update" if is_init => one(&format!("submodule.{what}.url"), true),
        "add" | "set-url" | "set-branch" | "sync" | "absorbgitdirs" => {
            one(&format!("submodule.{}", words.last().copied().unwrap_or("*")), false)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<WrittenSettings> {
        written(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_named_with_their_values() {
        for (line, setting, harmless) in [
            ("config user.email a@b", "user.email = a@b", true),
            ("config --local User.Name x", "User.Name = x", true),
            ("config set push.default simple", "push.default = simple", true),
            ("config --unset user.name", "user.name (removed)", true),
            ("config core.hooksPath x", "core.hooksPath = x", false),
            ("config --global user.name x", "user.name = x (for all repositories)", false),
            ("config -f other user.name x", "other = user.name", false),
            ("config alias.st !x", "alias.st = !x", false),
            ("config branch.x.remote ../evil", "branch.x.remote = ../evil", false),
            ("config remote.origin.url https://h/x", "remote.origin.url = https://h/x", false),
            ("config remote.origin.fetch +a:refs/heads/x", "remote.origin.fetch = +a:refs/heads/x", false),
            ("config --unset core.fsmonitor", "core.fsmonitor (removed)", false),
            ("config -e", "all of them, in an editor", false),
            ("remote add o https://h/x", "remote.o.url = https://h/x", true),
            ("remote add o git@h:x/y", "remote.o.url = git@h:x/y", true),
            ("remote add o ../x.git", "remote.o.url = ../x.git", false),
            ("remote add o ext::sh", "remote.o.url = ext::sh", false),
            ("remote add --mirror=push o https://h/x", "remote.o.url = https://h/x", false),
            ("remote set-url o https://h/x", "remote.o.url = https://h/x", false),
            ("remote rm o", "remote.o (removed)", false),
            ("push -u origin x", "branch.x.remote = origin", true),
            ("push -u ../evil x", "branch.x.remote = ../evil", false),
            ("push --set-up origin HEAD:y", "branch.y.remote = origin", true),
            ("branch -D x", "branch.x (removed)", true),
            ("branch -m a b", "branch.a (becomes branch.b)", true),
            ("branch --set-upstream-to=o/x y", "branch.y.merge = o/x", true),
            ("-C sub branch -u o/x", "branch.HEAD.merge = o/x", true),
            ("switch --track origin/x", "branch.*.merge = origin/x", true),
            ("submodule update --init", "submodule.*.url", true),
            ("submodule add https://h/x x", "submodule.x", false),
        ] {
            let written = of(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((written.settings.join(" "), written.harmless), (setting.to_owned(), harmless), "{line}");
        }
        for line in ["config user.name", "config --get a.b", "config --list", "remote -v", "branch x", "branch", "push"]
        {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn what_runs_or_leads_elsewhere_is_not_harmless() {
        for (key, value) in [
            ("core.hookspath", "/dev/null"),
            ("core.fsmonitor", "false"),
            ("core.sshcommand", "x"),
            ("core.worktree", "/home/u"),
            ("core.bare", "true"),
            ("core.pager", "x"),
            ("core.attributesfile", "x"),
            ("core.excludesfile", "x"),
            ("include.path", "x"),
            ("includeif.gitdir:x.path", "x"),
            ("alias.st", "status"),
            ("filter.f.clean", "x"),
            ("diff.d.textconv", "x"),
            ("diff.external", "x"),
            ("diff.d.command", "x"),
            ("merge.m.driver", "x"),
            ("credential.helper", "x"),
            ("credential.https://h.helper", "x"),
            ("gpg.program", "x"),
            ("gpg.ssh.program", "x"),
            ("user.signingkey", "x"),
            ("commit.gpgsign", "false"),
            ("remote.o.uploadpack", "x"),
            ("remote.o.receivepack", "x"),
            ("remote.o.vcs", "x"),
            ("remote.o.proxy", "x"),
            ("remote.o.mirror", "true"),
            ("remote.o.url", "ext::sh -c x"),
            ("remote.o.url", "evil://x"),
            ("remote.o.url", "/tmp/x"),
            ("remote.o.url", "file:///tmp/x"),
            ("remote.o.url", "./x"),
            ("remote.o.url", "x"),
            ("remote.o.url", "--upload-pack=x"),
            ("remote.o.url", "ssh://-oProxyCommand=x/y"),
            ("remote.o.url", "-oProxyCommand=x:y"),
            ("remote.o.url", "u@-oProxyCommand=x:y"),
            ("remote.o.url", "./a:b"),
            ("remote.o.url", "https://h/x\u{0}"),
            ("url.https://evil/.insteadof", "https://h/"),
            ("branch.x.remote", "../evil"),
            ("branch.x.remote", "a/b"),
            ("branch.x.pushremote", "ext::sh"),
            ("remote.pushdefault", "x"),
            ("remote.o.fetch", "+refs/heads/*:refs/heads/*"),
            ("submodule.x.update", "!x"),
            ("submodule.x.url", "ext::sh"),
            ("submodule.x.url", "x"),
            ("protocol.ext.allow", "always"),
            ("http.sslverify", "false"),
            ("http.proxy", "x"),
            ("pager.log", "x"),
            ("sequence.editor", "x"),
            ("init.templatedir", "x"),
            ("pull.twohead", "x"),
            ("push.recursesubmodules", "x"),
            ("extensions.worktreeconfig", "x"),
            ("new.thing", "x"),
        ] {
            assert!(!runs_nothing(key, value), "{key} = {value}");
        }
        for (key, value) in [
            ("branch.a.b.remote", "origin"),
            ("branch.x.remote", "."),
            ("branch.x.merge", "refs/heads/x"),
            ("remote.o.url", "https://u@h.example:8443/x"),
            ("remote.o.url", "git@github.com:a/b.git"),
            ("remote.o.url", "host:path"),
            ("remote.o.fetch", "+refs/heads/*:refs/remotes/o/*"),
            ("user.email", "a@b"),
            ("color.ui", "auto"),
        ] {
            assert!(runs_nothing(key, value), "{key} = {value}");
        }
    }
}
