//! Facts about a path from its name alone: secrets, devices, and files that configure or run code.
//!
//! Pure: nothing is looked up. Whoever has a disk resolves links first and asks again about what came out.

mod programs;
mod secrets;

pub use secrets::{is_secret, is_secret_entry, is_secret_file, is_secret_folder};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Joins `path` to `base` and takes out `.` and `..` by name alone. A link before a `..` is not seen here.
#[must_use]
pub fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // `/..` is `/`; a relative path keeps the steps that lead out of it.
                if !out.pop() && !out.has_root() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// True if the path contains `..`: it was not resolved, so its target is unknown.
#[must_use]
pub fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// The names of a path and its `..`, the first one last: what is still to be walked is a stack.
#[must_use]
pub fn parts_to_walk(path: &Path) -> Vec<OsString> {
    let named = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    named.collect()
}

/// Reason why a folder is unfit as working directory. A session of another program may name such a
/// folder, and must not work there on trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The whole machine, its system, or all homes lie below it, or it holds keys: nothing there is a project's own.
    NoProject,
    /// It lies in the home of somebody else.
    OfSomebodyElse,
}

/// Folders below the root that belong to the system.
const OF_THE_SYSTEM: &[&str] = &[
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr", "System", "Library",
    "private",
];
/// Folders below unfit ones that are made for work.
const FOR_WORK: &[&str] = &["/usr/src", "/usr/local/src", "/private/tmp", "/private/var"];

/// Looks at a working directory, by its name alone.
#[must_use]
pub fn unfit(cwd: &Path, home: Option<&Path>) -> Option<Unfit> {
    let cwd = lexical(Path::new("/"), cwd);
    let first = cwd.components().nth(1).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let system = first.is_none_or(|first| OF_THE_SYSTEM.contains(&first.as_str()))
        && !FOR_WORK.iter().any(|work| cwd.starts_with(work))
        && !home.is_some_and(|home| cwd.starts_with(home));
    let above_home = home.is_some_and(|home| home.starts_with(&cwd) && home != cwd);
    if system || above_home || is_secret(&cwd) {
        return Some(Unfit::NoProject);
    }
    let homes = ["/home", "/Users"].map(Path::new);
    let of_another = homes.iter().any(|homes| cwd.parent().is_some_and(|parent| parent.starts_with(homes)))
        && !home.is_some_and(|home| cwd.starts_with(home));
    let mine = home.and_then(Path::parent).is_some_and(|parent| homes.contains(&parent));
    (of_another && mine || cwd.starts_with("/root") && !home.is_some_and(|home| home.starts_with("/root")))
        .then_some(Unfit::OfSomebodyElse)
}

/// The names of a path as the laxest file system takes them: some do not tell `.GIT` from `.git`, some pass over
/// characters that are not seen, some over dots and blanks at the end.
fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(lax(&name.to_string_lossy())),
            _ => None,
        })
        .collect()
}

fn lax(name: &str) -> String {
    let lower: String = name.chars().filter(|c| !is_passed_over(*c)).collect::<String>().to_lowercase();
    // A long s is an s where letters are folded.
    let folded = lower.replace('\u{17f}', "s");
    let trimmed = folded.trim_end_matches(['.', ' ']);
    // The short name that Windows gives to `.git`.
    if trimmed == "git~1" { ".git".to_owned() } else { trimmed.to_owned() }
}

/// Characters that HFS+ passes over when it compares names, and others that are not seen.
fn is_passed_over(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// True if reading the path may block, never end or have effects: devices and kernel files, except
/// a few that only report facts about the machine.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    const HARMLESS: &[&str] = &[
        "/dev/null",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/loadavg",
        "/proc/uptime",
        "/proc/version",
        "/proc/filesystems",
    ];
    ["/dev", "/proc", "/sys"].iter().any(|top| path.starts_with(top)) && !HARMLESS.iter().any(|p| path == Path::new(p))
}

/// Folders that hold what configures or runs code.
const PROTECTED_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".husky",
    ".githooks",
    ".gitlab",
    ".gitea",
    ".forgejo",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".vim",
    ".nvim",
    ".emacs.d",
    ".kakoune",
    ".helix",
    ".devcontainer",
    ".direnv",
    ".cargo",
    ".lisle",
    ".claude",
    ".agents",
    ".codex",
    ".cursor",
    ".gemini",
    ".bundle",
    ".oh-my-zsh",
    ".zsh",
    ".mvn",
    ".mise",
    ".opencode",
    ".windsurf",
    ".roo",
    ".kiro",
    ".amazonq",
    ".qwen",
    ".crush",
    ".continue",
    ".teamcity",
    ".semaphore",
    ".builds",
    ".tekton",
    ".vs",
    ".nova",
    ".theia",
    "launchagents",
    "launchdaemons",
    "cron.d",
    "crontabs",
    ".git-hooks",
    ".cargo-husky",
    ".shadowenv.d",
    ".flox",
    ".bsp",
    ".externaltoolbuilders",
    ".lapce",
    ".atom",
    ".run",
    ".trae",
    ".cline",
    ".junie",
    ".factory",
    ".copilot",
    ".agents",
    "zuul.d",
    ".harness",
    ".azuredevops",
    ".idx",
    ".codesandbox",
    ".ona",
    ".openhands",
    ".amp",
    ".augment",
    ".codebuddy",
    ".forge",
    ".goose",
    ".iflow",
    ".kilocode",
    ".lefthook",
    ".rovodev",
    ".tabnine",
    ".warp",
    ".zencoder",
    // Whatever stands there is what a program reads at its start.
    ".config",
];

/// Files that configure or run code wherever they lie.
const PROTECTED_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    "config.fish",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".tool-versions",
    ".editorconfig",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".emacs",
    ".dir-locals.el",
    ".kakrc",
    ".ideavimrc",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".irbrc",
    ".pryrc",
    ".rprofile",
    ".ghci",
    ".ocamlinit",
    ".utoprc",
    ".iex.exs",
    ".octaverc",
    ".sqliterc",
    ".psqlrc",
    ".gitconfig",
    ".gitmodules",
    ".lfsconfig",
    ".hgrc",
    ".bazelrc",
    ".buckconfig",
    "cmakeuserpresets.json",
    ".sbtopts",
    ".jvmopts",
    ".luacheckrc",
    "ansible.cfg",
    ".lazygit.yml",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".appveyor.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".cirrus.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".bunfig.toml",
    "bunfig.toml",
    ".pypirc",
    "pip.conf",
    ".condarc",
    ".gemrc",
    ".netrc",
    "_netrc",
    ".mcp.json",
    ".lesskey",
    ".tmux.conf",
    ".screenrc",
    ".wgetrc",
    ".curlrc",
    "authorized_keys",
    "crontab",
    ".perldb",
    ".autoenv_leave",
    ".zlocal",
    "hk.pkl",
    ".hk.pkl",
    "hie.yaml",
    ".local.vimrc",
    ".ycm_extra_conf.py",
    "rust-toolchain",
    "rust-toolchain.toml",
    "global.json",
    ".bazelversion",
    ".bazeliskrc",
    "gradle-wrapper.properties",
    ".lazy.lua",
    ".pylintrc",
    "pylintrc",
    ".rubocop.yml",
    ".renviron",
    "jupyter_server_config.py",
    "jupyter_notebook_config.py",
    "jupyter_lab_config.py",
    "jupyter_config.py",
    ".erlang",
    ".flake8",
    ".solargraph.yml",
    ".standard.yml",
    ".rtx.toml",
    "_vimrc",
    "_gvimrc",
    ".byebugrc",
    ".rdebugrc",
    ".rspec",
    "usercustomize.py",
    ".bash_completion",
    ".fzf.bash",
    ".fzf.zsh",
    ".p10k.zsh",
    ".direnvrc",
    ".forward",
    ".procmailrc",
    ".mailcap",
    ".lessfilter",
    ".muttrc",
    ".mongorc.js",
    ".rpmmacros",
    ".terraformrc",
    ".ansible.cfg",
    ".xserverrc",
];

/// Endings of files that an editor opens together with the programs they name.
const PROTECTED_ENDINGS: &[&str] = &[".code-workspace", ".sublime-project"];

/// Beginnings of settings files that programs read in many spellings: with a dot or without, `.local`, `-local`, for one
/// environment, and with any ending of [`SETTINGS`].
const PROTECTED_STEMS: &[&str] = &[
    "aider.conf",
    "appveyor",
    "autoenv",
    "azure-pipelines",
    "bazelisk",
    "bazeliskrc",
    "bazelrc",
    "bitbucket-pipelines",
    "bitrise",
    "buildspec",
    "bunfig",
    "captainhook",
    "cirrus",
    "cloudbuild",
    "codefresh",
    "codemagic",
    "crush",
    "devcontainer",
    "dir-locals",
    "drone",
    "exrc",
    "gitlab-ci",
    "gitpod",
    "grumphp",
    "huskyrc",
    "lefthook",
    "lintstagedrc",
    "luarc",
    "lvimrc",
    "mise",
    "neoconf",
    "npmrc",
    "nuget",
    "nvimrc",
    "opencode",
    "overcommit",
    "phpactor",
    "pnpmfile",
    "pre-commit-config",
    "pre-commit-hooks",
    "prek",
    "replit",
    "rusty-hook",
    "rvmrc",
    "screwdriver",
    "simple-git-hooks",
    "travis",
    "vimrc",
    "vimspector",
    "wercker",
    "woodpecker",
    "yarnrc",
    "zuul",
];

/// Endings of settings files.
const SETTINGS: &[&str] = &[
    "cjs", "config", "el", "ini", "js", "json", "json5", "jsonc", "local", "lua", "mjs", "sh", "toml", "ts", "yaml",
    "yml", "zsh",
];

/// A folder, and the beginning of names in it that configure or run code.
const PROTECTED_PAIRS: &[(&str, &str)] = &[
    (".git", "hooks"),
    (".git", "config"),
    (".git/info", "attributes"),
    (".github", "workflows"),
    (".github", "actions"),
    (".github", "hooks"),
    (".github", "dependabot"),
    (".hg", "hgrc"),
    (".sl", "config"),
    (".bzr/branch", "branch.conf"),
    (".pijul", "config"),
    ("_darcs/prefs", "defaults"),
    (".hg", "requires"),
    (".hg", "sharedpath"),
    (".jj", "workspace-config"),
    (".jj/repo", "config"),
    (".yarn", "releases"),
    (".yarn", "plugins"),
    (".yarn", "sdks"),
    ("mise", "config"),
    ("tools", "bazel"),
    (".local/share", "applications"),
    (".local/share", "dbus-1"),
    (".local/share", "nautilus"),
    (".local/share", "systemd"),
    (".docker", "cli-plugins"),
    (".ipython", "profile"),
    (".pyenv", "shims"),
    (".asdf", "shims"),
    (".volta", "bin"),
    (".deno", "bin"),
    (".bun", "bin"),
    (".npm-global", "bin"),
    (".sdkman", "bin"),
    (".nvm", "nvm.sh"),
    (".rbenv", "shims"),
    (".gradle", "init.d"),
    (".gradle", "init.gradle"),
    (".m2", "settings"),
    (".m2", "extensions"),
    (".lein", "profiles"),
    (".sbt/1.0", "plugins"),
    (".julia", "config"),
    (".clojure", "deps.edn"),
    (".task", "hooks"),
    (".password-store", ".extensions"),
    (".i3", "config"),
    (".fluxbox", "startup"),
    (".icewm", "startup"),
    (".xmonad", "xmonad"),
    (".vscode-server", "data"),
    (".local/share", "bash-completion"),
    (".local/share/fish", "vendor_"),
    (".local/share/nvim", "site"),
];

/// Folders that are protected from the file tools as a whole, while programs write them, or are run from them, all the
/// time: git and its kin, and the places of programs.
const BUSY_FOLDERS: &[&str] = &[".git", ".hg", ".svn", ".jj", ".github"];

/// As [`BUSY_FOLDERS`], a folder with what stands in it.
const BUSY_PAIRS: &[(&str, &str)] = &[(".local", "bin")];

/// True if a file tool that writes this path may change files that configure or run code: all of
/// `.git`, shell start files, `.ssh`, `.envrc`, editor, hook, CI and package-manager settings.
#[must_use]
pub fn is_protected(path: &Path) -> bool {
    let names = names(path);
    runs_code(&names)
        || names.iter().any(|name| BUSY_FOLDERS.contains(&name.as_str()))
        || names.windows(2).any(|w| BUSY_PAIRS.iter().any(|(folder, name)| w[0] == *folder && w[1] == *name))
}

/// The same for a command that names this path: of `.git` only what runs code, since git commands write the rest of it
/// all the time.
#[must_use]
pub fn is_protected_for_commands(path: &Path) -> bool {
    runs_code(&names(path))
}

/// Names in a folder of this name that configure or run code, where not all of the folder does.
#[must_use]
pub fn protected_entries(folder: &Path) -> Vec<&'static str> {
    let names = names(folder);
    PROTECTED_PAIRS.iter().filter(|(above, _)| ends_with(&names, above)).map(|(_, name)| *name).collect()
}

/// True of a spelling of one of [`PROTECTED_STEMS`].
fn is_spelling(name: &str) -> bool {
    let (dotted, bare) = name.strip_prefix('.').map_or((false, name), |bare| (true, bare));
    PROTECTED_STEMS.iter().filter_map(|stem| bare.strip_prefix(stem)).any(|rest| match rest.rsplit_once('.') {
        Some((before, ending)) => (before.is_empty() || before.starts_with(['.', '-'])) && SETTINGS.contains(&ending),
        None => rest.is_empty() && dotted,
    })
}

/// True of the names of a path that ends with a folder of one or several names.
fn ends_with(names: &[String], folder: &str) -> bool {
    let mut names = names.iter().rev();
    folder.rsplit('/').all(|part| names.next().is_some_and(|name| name == part))
}

fn runs_code(names: &[String]) -> bool {
    names.iter().any(|name| PROTECTED_FOLDERS.contains(&name.as_str()) || PROTECTED_FILES.contains(&name.as_str()))
        || names.last().is_some_and(|name| {
            PROTECTED_ENDINGS.iter().any(|ending| name.ends_with(ending))
                || name == ".build.yml"
                || name.starts_with("jenkinsfile.")
                || is_spelling(name)
        })
        || names.iter().enumerate().any(|(at, name)| {
            let folder = names.get(..at).unwrap_or_default();
            PROTECTED_PAIRS.iter().any(|(above, start)| name.starts_with(start) && ends_with(folder, above))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out_by_name() {
        for (base, path, out) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c", "/a/c"),
            ("/a/b", "../../../../etc", "/etc"),
            ("/a/b", "/x/./y/../z", "/x/z"),
            ("/", "..", "/"),
            ("a", "../../b", "../b"),
        ] {
            assert_eq!(lexical(Path::new(base), Path::new(path)), Path::new(out), "{base} {path}");
        }
        assert!(climbs(Path::new("/a/../b")) && !climbs(Path::new("/a/..b/c")));
    }

    #[test]
    fn some_folders_are_no_place_to_work_in() {
        let home = Some(Path::new("/home/ada"));
        for cwd in [
            "/",
            "/etc",
            "/usr/bin",
            "/home",
            "/home/ada/.ssh",
            "/home/ada/.aws/x",
            "/proc/1/root",
            "/x/../etc",
            "/run/user/1",
        ] {
            assert_eq!(unfit(Path::new(cwd), home), Some(Unfit::NoProject), "{cwd}");
        }
        for cwd in ["/home/bob/work", "/home/bob", "/root", "/root/x"] {
            assert_eq!(unfit(Path::new(cwd), home), Some(Unfit::OfSomebodyElse), "{cwd}");
        }
        for cwd in [
            "/home/ada",
            "/home/ada/src/x",
            "/srv/x",
            "/tmp/x",
            "/usr/src/linux",
            "/var/www/x",
            "/opt/x",
            "/work/etc",
            "/mnt/x/home",
        ] {
            assert_eq!(unfit(Path::new(cwd), home), None, "{cwd}");
        }
        assert_eq!(unfit(Path::new("/root/x"), Some(Path::new("/root"))), None);
        assert_eq!(unfit(Path::new("/root/x"), Some(Path::new("/root/x/home"))), Some(Unfit::NoProject));
        assert_eq!(unfit(Path::new("/srv/x"), None), None);
    }

    #[test]
    fn devices_and_protected_paths_are_known_by_name() {
        for device in ["/dev/zero", "/dev/sda", "/proc/kmsg", "/sys/power/state", "/dev"] {
            assert!(is_device(Path::new(device)), "{device}");
        }
        for plain in ["/dev/null", "/proc/meminfo", "/device", "dev/zero", "/home/dev"] {
            assert!(!is_device(Path::new(plain)), "{plain}");
        }
        for protected in [
            "/r/.git/hooks/pre-commit",
            "/r/.git/config",
            "/r/.git/config.worktree",
            "/r/.git/info/attributes",
            "/home/u/.bashrc",
            "/r/.github/workflows/ci.yml",
            "/r/.cargo/config.toml",
            "/r/sub/rust-toolchain.toml",
            "/r/rust-toolchain",
            "/r/.idx/dev.nix",
            "/r/gradle/wrapper/gradle-wrapper.properties",
            "/r/.Renviron",
            "/r/.vscode/tasks.json",
            "/r/.envrc",
            "/r/.hg/hgrc",
            "/r/.jj/repo/config.toml",
            "/r/.jj/workspace-config.toml",
            "/r/sub/.gdbinit",
            "/r/.devcontainer.json",
            "/r/lefthook-local.yml",
            "/r/.lefthook.toml",
            "/r/lefthook.json",
            "/r/mise.local.toml",
            "/r/.mise.dev.toml",
            "/r/mise/config.toml",
            "/r/.woodpecker.yaml",
            "/r/opencode.json",
            "/r/.dir-locals-2.el",
            "/r/.vimrc.local",
            "/r/.exrc.lua",
            "/r/nuget.config",
            "/r/.pnpmfile.mjs",
            "/r/.aider.conf.yml",
            "/r/.opencode/plugin/a.ts",
            "/r/.Rprofile",
            "/r/app.code-workspace",
            "/r/.yarn/releases/yarn.cjs",
        ] {
            assert!(is_protected_for_commands(Path::new(protected)), "{protected}");
            assert!(is_protected(Path::new(protected)), "{protected}");
        }
        for open in [
            "/r/.git/HEAD",
            "/r/.gitignore",
            "/r/src/config.rs",
            "/r/.github/CODEOWNERS",
            "/r/Cargo.toml",
            "/r/.jj/repo/store/type",
            "/r/repo/config.toml",
            "/r/info/attributes",
            "/r/packages/opencode/src/a.ts",
            "/r/lefthook/main.go",
            "/r/docs/lefthook.md",
            "/r/promise.js",
            "/r/mise_en_place.ts",
            "/r/travisty.json",
            "/r/src/drone.rs",
        ] {
            assert!(!is_protected_for_commands(Path::new(open)), "{open}");
        }
        for busy in ["/r/.git/HEAD", "/r/.GIT/index", "/r/.github/CODEOWNERS", "/home/u/.local/bin/x"] {
            assert!(is_protected(Path::new(busy)) && !is_protected_for_commands(Path::new(busy)), "{busy}");
        }
    }
}
