//! Effects of a simple command beyond its words: what it copies or moves as a whole, what it
//! removes with all content, and what it unpacks.
//!
//! Read broadly: an option that is not known makes the rest of the command count all the same. What lies below the words is
//! for the tool to look at.

use super::git_settings::{self, WrittenSettings};
use std::path::Path;

/// Effects of a simple command on files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEffects {
    /// Copied trees: everything at or below the first path also appears at or below the second.
    pub copies: Vec<Copied>,
    /// Removed trees.
    pub removes: Vec<String>,
    /// Files that it writes or makes, as they stand in its words.
    pub writes: Vec<String>,
    /// A file or a program says what it writes: an archive, a patch, another command.
    pub unknown: bool,
    /// It removes or stashes files that git does not track.
    pub cleans: Option<Clean>,
    /// It changes settings that run code, or trusts such.
    pub settles: Option<Settles>,
}

/// Untracked files that a command of git removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clean {
    /// All but ignored ones.
    Visible,
    /// Ignored ones, too.
    Ignored,
}

/// Settings that a command changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settles {
    /// Settings of git.
    Git(WrittenSettings),
    /// Hooks of git, and settings with them.
    Hooks,
    /// Others, in a few words.
    Other(&'static str),
}

impl Settles {
    /// Descriptions for the user.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        match self {
            Settles::Git(written) => {
                written.settings.iter().map(|setting| format!("git's setting {setting}")).collect()
            }
            Settles::Hooks => vec!["git's hooks".to_owned()],
            Settles::Other(what) => vec![(*what).to_owned()],
        }
    }
}

/// Tree that is put elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Source.
    pub from: String,
    /// Destination.
    pub to: String,
    /// If `to` is a folder, the source is put into it.
    pub into: bool,
}

impl CommandEffects {
    /// The places that it may write, as far as its words tell.
    pub fn targets(&self) -> impl Iterator<Item = String> {
        let copied = self
            .copies
            .iter()
            .flat_map(|one| [Some(one.to.clone()), one.within().filter(|_| one.into)].into_iter().flatten());
        copied.chain(self.removes.iter().cloned()).chain(self.writes.iter().cloned())
    }

    /// The places that it makes or writes to, without those that it removes. `is_folder` says which of them hold what is put
    /// there.
    pub fn made(&self, is_folder: impl Fn(&str) -> bool) -> Vec<String> {
        let into =
            |one: &Copied| one.within().filter(|_| one.into && is_folder(&one.to)).unwrap_or_else(|| one.to.clone());
        self.copies.iter().map(into).chain(self.writes.iter().cloned()).collect()
    }

    /// It may change more than its words name.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.unknown || !self.copies.is_empty() || !self.removes.is_empty()
    }
}

impl Copied {
    /// The place in the folder `to`; `None` where what is copied has no name of its own.
    #[must_use]
    pub fn within(&self) -> Option<String> {
        let whole = self.from.trim_end_matches('/');
        if whole == "." || whole == ".." || whole.ends_with("/.") || whole.ends_with("/..") {
            return None;
        }
        let name = Path::new(whole).file_name()?.to_string_lossy().into_owned();
        Some(format!("{}/{name}", self.to.trim_end_matches('/')))
    }
}

/// Options of the programs that copy whose value is a word of its own.
const VALUED: &[(&str, &str)] = &[
    ("cp", "-S --suffix"),
    ("mv", "-S --suffix"),
    ("ln", "-S --suffix"),
    ("install", "-S --suffix -m --mode -o --owner -g --group --strip-program"),
    (
        "rsync",
        "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from -B --block-size -T --temp-dir \
        --rsync-path --log-file --partial-dir --backup-dir --suffix --timeout --port --chmod --chown --bwlimit --max-size --min-size \
        --compare-dest --copy-dest --link-dest --password-file --address --sockopts --out-format --info --debug -M --remote-option",
    ),
];

/// Effects of a simple command, from its words after quote removal.
#[must_use]
pub fn reach(argv: &[String]) -> CommandEffects {
    let Some((program, args)) = argv.split_first() else { return CommandEffects::default() };
    let base = program.rsplit('/').next().unwrap_or(program);
    let mut out = CommandEffects { settles: settles(base, args), ..CommandEffects::default() };
    match base {
        "cp" | "mv" | "ln" | "install" | "rsync" => copies(base, args, &mut out),
        "rm" | "rmdir" | "unlink" | "shred" => out.removes.extend(operands(args)),
        "touch" | "mkdir" | "tee" | "truncate" => out.writes.extend(operands(args)),
        "tar" | "bsdtar" | "gtar" => out.unknown = !args.iter().any(|word| is_listing(word)),
        "unzip" | "7z" | "7za" | "7zr" | "unrar" | "unar" | "cpio" | "pax" | "patch" | "ar" | "jar" | "xargs"
        | "parallel" | "git-apply" | "ditto" | "dd" | "gunzip" | "bunzip2" | "unxz" => out.unknown = true,
        "find" | "fd" | "fdfind" => {
            let runs = ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls", "-fprintf", "-x", "-X"];
            out.unknown = args.iter().any(|word| runs.contains(&word.as_str()));
        }
        "git" => {
            out.writes.extend(git_writes(args));
            if let Some((first, rest)) = git_settings::subcommand(args).split_first() {
                of_git(first, rest, &mut out);
            }
        }
        _ => {}
    }
    out
}

/// Effects of a subcommand of git.
fn of_git(first: &str, rest: &[String], out: &mut CommandEffects) {
    out.unknown = matches!(first, "apply" | "am" | "clone" | "archive" | "checkout-index" | "read-tree");
    let has = |long: &str, short: &[char]| {
        let shorts = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains(short);
        rest.iter().any(|word| word == long || shorts(word))
    };
    let words = operands(rest);
    let second = words.first().map_or("", String::as_str);
    match (first, second) {
        ("rm", _) if !has("--cached", &[]) => out.removes.extend(words),
        ("mv", _) => copies("mv", rest, out),
        ("worktree", "remove") | ("submodule", "deinit") => out.removes.extend(words.into_iter().skip(1)),
        ("worktree", "move") => copies("mv", &words[1..], out),
        ("clean", _) if !has("--dry-run", &['n']) => {
            out.cleans = Some(if has("", &['x', 'X']) { Clean::Ignored } else { Clean::Visible });
        }
        ("stash", "" | "push" | "save") if has("--all", &['a']) => out.cleans = Some(Clean::Ignored),
        ("stash", "" | "push" | "save") if has("--include-untracked", &['u']) => out.cleans = Some(Clean::Visible),
        _ => {}
    }
}

fn is_listing(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or(word);
    word == "--list" || !word.starts_with("--") && letters.contains('t') && !letters.contains(['x', 'c', '/', '.'])
}

fn operands(args: &[String]) -> Vec<String> {
    let mut ended = false;
    let mut out = Vec::new();
    for word in args {
        if word == "--" && !ended {
            ended = true;
        } else if ended || !word.starts_with('-') {
            out.push(word.clone());
        }
    }
    out
}

fn copies(base: &str, args: &[String], out: &mut CommandEffects) {
    let valued = VALUED.iter().find(|(name, _)| *name == base).map_or("", |(_, options)| *options);
    let (mut operands, mut folder, mut whole) = (Vec::new(), None, false);
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            operands.extend(rest.by_ref().cloned());
        } else if !word.starts_with('-') || word == "-" {
            operands.push(word.clone());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            // Programs take the beginning of a name for the name.
            if name.len() > 1 && "target-directory".starts_with(name) && base != "rsync" {
                folder = value.map(str::to_owned).or_else(|| rest.next().cloned());
            } else if name.len() > 3 && "no-target-directory".starts_with(name) {
                whole = true;
            } else if value.is_none() && valued.split_whitespace().any(|option| option == word) {
                rest.next();
            }
        } else {
            let letters = &word[1..];
            match letters.find('t').filter(|_| base != "rsync") {
                Some(at) => {
                    let joined = &letters[at + 1..];
                    folder = if joined.is_empty() { rest.next().cloned() } else { Some(joined.to_owned()) };
                }
                None => {
                    whole |= letters.contains('T') && base != "rsync";
                    let last = letters.chars().next_back().map(|c| format!("-{c}")).unwrap_or_default();
                    if valued.split_whitespace().any(|option| option == last) {
                        rest.next();
                    }
                }
            }
        }
    }
    let to = match folder {
        Some(folder) => folder,
        None => match operands.pop() {
            // `ln -s ../x` makes its link here.
            Some(only) if operands.is_empty() && base == "ln" => {
                operands.push(only);
                ".".to_owned()
            }
            Some(last) => last,
            None => return,
        },
    };
    // A host before a colon: what comes from there nobody knows.
    out.unknown |= base == "rsync" && operands.iter().chain([&to]).any(|word| word.contains(':'));
    if base == "mv" {
        out.removes.extend(operands.iter().cloned());
    }
    out.copies.extend(operands.into_iter().map(|from| {
        let contents = base == "rsync" && from.ends_with('/');
        Copied { into: !whole && !contents, to: to.clone(), from }
    }));
}

/// Options of git's subcommands that make a folder, whose value is a word of its own.
const GIT_VALUED: &[(&str, &str)] = &[
    (
        "clone",
        "-o --origin -b --branch -u --upload-pack -c --config --depth --reference --reference-if-able --template --filter \
        --shallow-since --shallow-exclude --separate-git-dir -j --jobs --server-option --bundle-uri --ref-format",
    ),
    ("init", "-b --initial-branch --template --separate-git-dir --object-format --ref-format"),
    ("worktree", "-b -B --reason"),
];

/// Subcommands of git that write the working tree or the repository that `-C` names.
const GIT_CHANGES: &[&str] = &[
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "fetch",
    "gc",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];

/// Folders that a command of git makes or works in by its words.
fn git_writes(args: &[String]) -> Option<String> {
    let (first, rest) = git_settings::subcommand(args).split_first()?;
    let before = args.get(..args.len() - rest.len() - 1).unwrap_or_default();
    let base =
        before.windows(2).filter(|pair| pair[0] == "-C").fold(std::path::PathBuf::new(), |at, pair| at.join(&pair[1]));
    let valued = GIT_VALUED.iter().find(|(name, _)| name == first).map_or("", |(_, options)| *options);
    let mut operands = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words.by_ref());
        } else if !word.starts_with('-') {
            operands.push(word);
        } else if valued.split_whitespace().any(|option| option == word) {
            words.next();
        }
    }
    let at = match (first.as_str(), operands.first().map(|word| word.as_str())) {
        ("clone", _) | ("worktree", Some("add")) => 1,
        ("worktree", Some("move")) => 2,
        ("init", _) => 0,
        (first, _) if GIT_CHANGES.contains(&first) && base != Path::new("") => return Some(base.display().to_string()),
        _ => return None,
    };
    operands.get(at).map(|path| base.join(path).display().to_string())
}

/// Commands that change settings which run code, or that say such settings may be trusted.
fn settles(base: &str, args: &[String]) -> Option<Settles> {
    let mut words = args.iter().filter(|word| !word.starts_with('-')).map(String::as_str);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let other = match (base, first, second) {
        ("git", "lfs", "install" | "update" | "uninstall")
        | ("pre-commit" | "lefthook" | "husky" | "overcommit", "install", _) => return Some(Settles::Hooks),
        ("git", ..) => return git_settings::written(args).map(Settles::Git),
        ("direnv", "allow" | "permit" | "grant", _) | ("mise", "trust", _) => {
            Some("the list of programs trusted in this folder")
        }
        (
            "npm" | "pnpm" | "yarn" | "pip" | "pip3" | "poetry" | "bundle" | "composer",
            "config",
            "set" | "edit" | "unset" | "delete",
        ) => Some("a package manager's settings"),
        ("go", "env", _) if args.iter().any(|word| word == "-w" || word == "-u") => Some("the settings of go"),
        ("crontab" | "at" | "batch" | "chsh", ..) if !args.iter().any(|word| word == "-l") => {
            Some("programs that run later")
        }
        _ => None,
    };
    other.map(Settles::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> CommandEffects {
        reach(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn targets_are_read_from_the_words() {
        for (line, targets) in [
            ("cp a b", vec!["b", "b/a"]),
            ("cp -rT a .", vec!["."]),
            ("cp -r x/fish .config", vec![".config", ".config/fish"]),
            ("cp -t d a b", vec!["d", "d/a", "d", "d/b"]),
            ("cp -rtd a", vec!["d", "d/a"]),
            ("cp --target-dir=d a", vec!["d", "d/a"]),
            ("cp -- -a b", vec!["b", "b/-a"]),
            ("mv a b", vec!["b", "b/a", "a"]),
            ("install -m 755 a b", vec!["b", "b/a"]),
            ("ln -s ../x", vec![".", "./x"]),
            ("rsync -a x/ y", vec!["y"]),
            ("rsync -a --exclude z x y", vec!["y", "y/x"]),
            ("rm -rf a b", vec!["a", "b"]),
            ("touch a", vec!["a"]),
            ("git rm -rf a b", vec!["a", "b"]),
            ("git rm --cached a", vec![]),
            ("git mv a b", vec!["b", "b/a", "a"]),
            ("git -C s worktree remove -f w", vec!["w"]),
            ("git submodule deinit -f s", vec!["s"]),
            ("git clone -b x ../r ../s", vec!["../s"]),
            ("git clone ../r", vec![]),
            ("git worktree add -b x ../s", vec!["../s"]),
            ("git -C sub worktree add ../s -b x", vec!["sub/../s"]),
            ("git worktree move ../s ../t", vec!["../t", "../t/s", "../s", "../t"]),
            ("git init -q --bare ../r", vec!["../r"]),
            ("git -C ../r commit -m x", vec!["../r"]),
            ("git -C ../r log", vec![]),
            ("git commit -m x", vec![]),
            ("ls a", vec![]),
        ] {
            assert_eq!(of(line).targets().collect::<Vec<_>>(), targets, "{line}");
        }
    }

    #[test]
    fn untracked_files_that_go_are_told() {
        for (line, cleans) in [
            ("git clean -fd", Some(Clean::Visible)),
            ("git clean -fdx", Some(Clean::Ignored)),
            ("git clean -n", None),
            ("git stash -u", Some(Clean::Visible)),
            ("git stash push --all", Some(Clean::Ignored)),
            ("git stash", None),
            ("git stash pop", None),
        ] {
            assert_eq!(of(line).cleans, cleans, "{line}");
        }
    }

    #[test]
    fn what_a_file_decides_is_not_known() {
        for line in [
            "tar xf a",
            "tar -xzf a",
            "unzip a",
            "patch -p1",
            "git apply x",
            "git -C x am y",
            "rsync h:x y",
            "find . -delete",
        ] {
            assert!(of(line).unknown, "{line}");
        }
        for line in ["tar tf a", "tar -tzf a", "ls", "git status", "find . -name x"] {
            assert!(!of(line).unknown, "{line}");
        }
    }

    #[test]
    fn settings_that_run_code_are_told() {
        for line in [
            "git config core.hooksPath x",
            "git config --global alias.x y",
            "git config --unset a.b",
            "git config set a.b c",
            "git config -e",
            "git remote add origin ext::sh",
            "git -C sub remote add o x",
            "git remote rm o",
            "git switch --track origin/x",
            "git switch -c x -t origin/x",
            "git checkout --tr origin/x",
            "git branch -m a b",
            "git branch -fM a",
            "git branch --set-upstream-to=o/x",
            "git branch -u o/x",
            "git push -u origin x",
            "git push --set-up origin x",
            "git submodule deinit -f x",
            "git submodule update --init --recursive",
            "git sparse-checkout set a",
            "git lfs install",
            "pre-commit install",
            "direnv allow",
            "npm config set x y",
            "go env -w A=b",
            "crontab x",
            "git branch -d x",
        ] {
            assert!(of(line).settles.is_some(), "{line}");
        }
        for line in [
            "git config user.name",
            "git config --get a.b",
            "git config --list",
            "git config list",
            "git remote -v",
            "git remote update",
            "git push origin x",
            "git push --force-with-lease origin x",
            "git branch --list",
            "git checkout -b x",
            "git switch main",
            "git submodule status",
            "git stash push -m message",
            "crontab -l",
            "go env",
        ] {
            assert!(of(line).settles.is_none(), "{line}");
        }
    }
}
