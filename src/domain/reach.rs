//! Effects of a simple command beyond its words: what it copies or moves as a whole, what it
//! removes with all content, and what it unpacks.
//!
//! Read broadly: an option that is not known makes the rest of the command count all the same. What lies below the words is
//! for the executor to look at.

use std::path::Path;

/// Effects of a simple command on files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Copied trees: everything at or below the first path also appears at or below the second.
    pub copies: Vec<Copied>,
    /// Removed trees.
    pub removes: Vec<String>,
    /// Files that it writes or makes, as they stand in its words.
    pub writes: Vec<String>,
    /// A file or a program says what it writes: an archive, a patch, another command.
    pub unknown: bool,
    /// It changes settings that run code, or trusts such; what, in a few words.
    pub settles: Option<&'static str>,
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

impl Reach {
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
pub fn reach(argv: &[String]) -> Reach {
    let Some((program, args)) = argv.split_first() else { return Reach::default() };
    let base = program.rsplit('/').next().unwrap_or(program);
    let mut out = Reach { settles: settles(base, args), ..Reach::default() };
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
            let first = of_git(args).first().map_or("", String::as_str);
            out.writes.extend(git_writes(args));
            out.unknown = matches!(first, "apply" | "am" | "clone" | "archive" | "checkout-index" | "read-tree");
        }
        _ => {}
    }
    out
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

fn copies(base: &str, args: &[String], out: &mut Reach) {
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

/// The subcommand of git with what follows it.
fn of_git(args: &[String]) -> &[String] {
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
    let (first, rest) = of_git(args).split_first()?;
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

/// Subcommands of git that write its settings with one of these options, which may be shortened: what the branch follows,
/// its name, or where objects come from.
const SETTLING: &[(&str, &str, &[&str])] = &[
    ("switch", "t", &["--track"]),
    ("checkout", "t", &["--track"]),
    (
        "branch",
        "tumMcC",
        &["--track", "--set-upstream-to", "--unset-upstream", "--move", "--copy", "--edit-description"],
    ),
    ("push", "u", &["--set-upstream"]),
    ("pull", "", &["--set-upstream"]),
    ("fetch", "", &["--set-upstream", "--filter"]),
    ("worktree", "", &["--track"]),
    ("submodule", "", &["--init"]),
];

/// Whether a word is one of these options: a long one by its beginning, a short one among others.
fn is_option(word: &str, short: &str, long: &[&str]) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if name.starts_with("--") {
        return name.len() > 3 && long.iter().any(|option| option.starts_with(name));
    }
    name.strip_prefix('-').is_some_and(|letters| letters.contains(|c| short.contains(c)))
}

/// The option by which a command of git writes settings beside what it is for, as it is written.
#[must_use]
pub fn settling_option(argv: &[String]) -> Option<&str> {
    let (program, args) = argv.split_first()?;
    let (first, rest) = of_git(args).split_first().filter(|_| program == "git")?;
    let (_, short, long) = SETTLING.iter().find(|(name, ..)| name == first)?;
    rest.iter().map(String::as_str).find(|word| is_option(word, short, long))
}

/// Commands of git that change its settings.
fn git_settles(args: &[String]) -> Option<&'static str> {
    const SETTINGS: Option<&str> = Some("git's settings");
    let args = of_git(args);
    let (first, rest) = args.split_first()?;
    let mut words = rest.iter().filter(|word| !word.starts_with('-')).map(String::as_str);
    let second = words.next().unwrap_or_default();
    let options = SETTLING.iter().find(|(name, ..)| name == first);
    if options.is_some_and(|(_, short, long)| rest.iter().any(|word| is_option(word, short, long))) {
        return SETTINGS;
    }
    match (first.as_str(), second) {
        ("config", _) => {
            let asks = [
                "--get",
                "--get-all",
                "--get-regexp",
                "--get-urlmatch",
                "--list",
                "-l",
                "--get-color",
                "--get-colorbool",
            ];
            let one = words.next().is_none() && second.contains('.');
            let alone =
                second.is_empty() || one && !rest.iter().any(|word| word.starts_with("--unset") || word == "--add");
            let reads = rest.iter().any(|word| asks.contains(&word.as_str())) || matches!(second, "get" | "list");
            let edits = rest.iter().any(|word| word == "-e" || word == "--edit");
            let shows = reads || alone && !edits;
            if shows { None } else { SETTINGS }
        }
        ("remote", "add" | "set-url" | "rename" | "remove" | "rm" | "set-branches") => SETTINGS,
        ("submodule", "add" | "init" | "deinit" | "set-url" | "set-branch" | "sync" | "absorbgitdirs") => SETTINGS,
        ("sparse-checkout", "init" | "set" | "add" | "disable" | "reapply") => SETTINGS,
        ("lfs", "install" | "update" | "uninstall") => Some("git's hooks"),
        ("maintenance", "start" | "register" | "stop" | "unregister") => SETTINGS,
        _ => None,
    }
}

/// Commands that change settings which run code, or that say such settings may be trusted.
fn settles(base: &str, args: &[String]) -> Option<&'static str> {
    let mut words = args.iter().filter(|word| !word.starts_with('-')).map(String::as_str);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    match (base, first, second) {
        ("git", ..) => git_settles(args),
        ("pre-commit" | "lefthook" | "husky" | "overcommit", "install", _) => Some("git's hooks"),
        ("direnv", "allow" | "permit" | "grant", _) | ("mise", "trust", _) => {
            Some("what is trusted to run in this folder")
        }
        (
            "npm" | "pnpm" | "yarn" | "pip" | "pip3" | "poetry" | "bundle" | "composer",
            "config",
            "set" | "edit" | "unset" | "delete",
        ) => Some("a package manager's settings"),
        ("go", "env", _) if args.iter().any(|word| word == "-w" || word == "-u") => Some("the settings of go"),
        ("crontab" | "at" | "batch" | "chsh", ..) if !args.iter().any(|word| word == "-l") => Some("what runs later"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Reach {
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
            ("git clone -b x ../r ../s", vec!["../s"]),
            ("git clone ../r", vec![]),
            ("git worktree add -b x ../s", vec!["../s"]),
            ("git -C sub worktree add ../s -b x", vec!["sub/../s"]),
            ("git worktree move ../s ../t", vec!["../t"]),
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
            "git branch -d x",
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
