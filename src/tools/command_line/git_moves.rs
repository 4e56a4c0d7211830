//! Detection of command lines that are git alone, and what of the repository's protected files they may change.
//!
//! `git switch`, `pull`, `merge` and the like change files that git tracks; `git push -u`, `branch -m`, `remote add` note a
//! setting. Such a line runs nothing but git and programs that read. Strict: what is not on the lists, or could be read in
//! two ways, is something else.

use super::named_paths;
use crate::domain::command_effects::{Settles, reach};
use crate::domain::git_settings::{self, may_note};
use crate::domain::paths::lexical;
use crate::sandbox::places::Moves;
use crate::sandbox::repository::{self, Repository};
use crate::tools::CallPlace;
use crate::tools::files::paths;
use std::path::{Path, PathBuf};

/// Subcommands that change the working tree to another state, with the options that run nothing.
const MOVING: &[(&str, &[&str])] = &[
    (
        "switch",
        &[
            "-c",
            "-C",
            "-d",
            "-q",
            "-f",
            "-t",
            "--create",
            "--detach",
            "--track",
            "--no-track",
            "--guess",
            "--quiet",
            "--discard-changes",
            "--force",
            "-",
        ],
    ),
    (
        "checkout",
        &[
            "-b",
            "-B",
            "-q",
            "-f",
            "-t",
            "--detach",
            "--track",
            "--no-track",
            "--quiet",
            "--force",
            "--ours",
            "--theirs",
            "--",
            "-",
        ],
    ),
    (
        "pull",
        &[
            "-q",
            "-v",
            "-r",
            "--rebase",
            "--no-rebase",
            "--ff",
            "--ff-only",
            "--no-ff",
            "--no-edit",
            "--autostash",
            "--tags",
            "--prune",
            "--quiet",
            "--verbose",
            "--all",
        ],
    ),
    (
        "merge",
        &[
            "-q",
            "-m",
            "--ff",
            "--ff-only",
            "--no-ff",
            "--no-edit",
            "--no-commit",
            "--squash",
            "--abort",
            "--continue",
            "--quit",
            "--quiet",
            "--autostash",
            "--stat",
            "-n",
        ],
    ),
    (
        "rebase",
        &[
            "-q",
            "--onto",
            "--abort",
            "--continue",
            "--skip",
            "--quit",
            "--autostash",
            "--autosquash",
            "--quiet",
            "--root",
            "--stat",
            "-n",
        ],
    ),
    ("stash", &["-u", "-k", "-q", "-m", "--include-untracked", "--keep-index", "--index", "--quiet"]),
    ("cherry-pick", &["-x", "-n", "--abort", "--continue", "--skip", "--quit", "--no-commit", "--allow-empty"]),
    ("revert", &["-n", "--abort", "--continue", "--skip", "--quit", "--no-commit", "--no-edit"]),
    ("reset", &["--hard", "--soft", "--mixed", "--keep", "--merge", "-q", "--quiet"]),
    ("restore", &["-s", "--source", "--staged", "--worktree", "-q", "--quiet", "--"]),
];
/// Other subcommands, with the options that run nothing; one that ends in `=` takes a value. They read, write what git keeps,
/// or note settings.
const BESIDE: &[(&str, &str)] = &[
    ("add", "-A -u -f -v -n -N --all --update --intent-to-add --dry-run --force --"),
    (
        "branch",
        "-a -r -v -vv -d -D -m -M -c -C -f -t -u -q --list --all --remotes --show-current --delete --move --copy --force \
         --track --no-track --unset-upstream --set-upstream-to= --merged --no-merged --contains --sort= --quiet",
    ),
    (
        "commit",
        "-m -a -am -q -s -n -v --all --amend --no-edit --allow-empty --allow-empty-message --no-verify --signoff \
         --message= --fixup= --author= --date= --quiet",
    ),
    ("config", "--local --unset --unset-all --add --replace-all --get --get-all --list -l"),
    ("diff", "--stat --cached --staged --name-only --name-status --check --quiet"),
    (
        "fetch",
        "-a -p -t -f -q -v --all --prune --tags --no-tags --force --quiet --verbose --depth= --unshallow --set-upstream \
         --progress --no-progress --dry-run",
    ),
    ("init", "-q -b --quiet --initial-branch="),
    ("log", "-n -1 -2 -3 -5 -10 -20 --oneline --stat --graph --decorate --all --name-only"),
    ("ls-files", "-s -m -o --cached --others --exclude-standard"),
    ("ls-remote", "--heads --tags --exit-code -q"),
    ("merge-base", "--is-ancestor --fork-point"),
    ("mv", "-f -k -n -v"),
    (
        "push",
        "-u -f -d -n -q -v --set-upstream --force --force-with-lease --force-if-includes --tags --follow-tags --all --delete \
         --dry-run --quiet --verbose --no-verify --atomic --porcelain --progress --no-progress",
    ),
    ("remote", "-v -f --verbose --fetch --tags --no-tags --add --delete --push --all -a -d"),
    ("rev-list", "--count --all --left-right"),
    ("rev-parse", "--abbrev-ref --short --verify --show-toplevel --symbolic-full-name --quiet -q HEAD"),
    ("rm", "-r -f -q -rf -n --cached --force --quiet --ignore-unmatch"),
    ("show", "-s --stat --name-only --oneline --quiet"),
    ("sparse-checkout", "--cone --no-cone"),
    ("status", "-s -b -sb -u --short --branch --porcelain --untracked-files="),
    ("submodule", "-f -q --init --recursive --force --quiet --remote --depth= --all --progress --single-branch"),
    ("tag", "-a -m -d -f -l -n --list --delete --force --message= --sort="),
    ("worktree", "-b -B -f -q --force --detach --track --no-track --no-checkout --quiet --porcelain -v"),
];
/// Subcommands of these that run what stands elsewhere.
const RUNNING: &[(&str, &str)] = &[("submodule", "foreach")];
/// Subcommands that run no hook of the project's.
const QUIET: &[&str] = &["status", "branch", "rev-parse", "rev-list", "log", "diff", "show", "merge-base", "ls-files"];
/// Programs that may stand beside git: they write nothing but their output.
const READERS: &[&str] = &["tail", "head", "cat", "wc", "grep", "echo", "pwd", "ls", "true"];
/// Hooks that usually run the project's own code, by the subcommand that runs them. While one runs, the settings stay as
/// they are.
const HOOKS: &[(&str, &[&str])] = &[
    ("commit", &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]),
    ("merge", &["pre-merge-commit", "commit-msg"]),
    ("pull", &["pre-merge-commit", "commit-msg"]),
    ("rebase", &["pre-rebase"]),
    ("cherry-pick", &["pre-commit", "commit-msg"]),
    ("revert", &["pre-commit", "commit-msg"]),
    ("push", &["pre-push"]),
];
/// The hook that every change of a branch runs.
const ON_REFS: &str = "reference-transaction";

/// One simple command of a line.
#[derive(Debug, PartialEq, Eq)]
enum MoveStep<'a> {
    /// A program that reads.
    Reads,
    /// A change of the directory.
    Enters(&'a str),
    /// git in this folder (`-C`): the subcommand with its words.
    Git { folder: Option<&'a str>, subcommand: &'a str, words: &'a [String] },
}

/// Classifies the line by its words.
pub(in crate::tools) fn of(command: &str) -> Moves {
    let Some(commands) = commands(command) else { return Moves::default() };
    let Some(steps) = commands.iter().map(|words| step(words)).collect::<Option<Vec<_>>>() else {
        return Moves::default();
    };
    let settles = commands.iter().filter_map(|words| reach(words).settles).collect::<Vec<_>>();
    let weighty = |settles: &Settles| match settles {
        Settles::Git(written) => !written.harmless,
        Settles::Hooks => true,
        Settles::Other(_) => false,
    };
    let stays = steps.iter().all(|step| !matches!(step, MoveStep::Enters(_) | MoveStep::Git { folder: Some(_), .. }));
    let any = |is: &dyn Fn(&str, &[String]) -> bool| {
        steps.iter().any(|step| matches!(step, MoveStep::Git { subcommand, words, .. } if is(subcommand, words)))
    };
    let of_git = |subcommand: &str, words: &[String]| {
        may_note(&std::iter::once(subcommand.to_owned()).chain(words.iter().cloned()).collect::<Vec<_>>())
    };
    let is_moving = |subcommand: &str| MOVING.iter().any(|(name, _)| *name == subcommand);
    // A hook of another subcommand could change those files in git's name.
    let others = any(&|subcommand, _| !is_moving(subcommand) && !QUIET.contains(&subcommand));
    Moves {
        tree: stays && !others && any(&|subcommand, _| is_moving(subcommand)),
        notes: any(&of_git),
        settings: settles.iter().any(weighty),
    }
}

/// The same at a place: where a hook of the project's own would run meanwhile, nothing is noted without a question.
pub(in crate::tools) fn at(command: &str, place: &CallPlace) -> Moves {
    let mut out = of(command);
    if out.notes && !(hooks(command, place).is_empty() && readers_are_themselves(command, place)) {
        out.notes = false;
    }
    out
}

/// Hooks of the project's own that the line would run while git's settings are open, by their names.
pub(in crate::tools) fn hooks(command: &str, place: &CallPlace) -> Vec<String> {
    let cwd = paths::follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
    let commands = commands(command).unwrap_or_default();
    let home = std::env::home_dir();
    let mut base: PathBuf = cwd.clone();
    let mut out = Vec::new();
    for words in &commands {
        match step(words) {
            Some(MoveStep::Enters(to)) => base = lexical(&base, Path::new(to)),
            Some(MoveStep::Git { folder, subcommand, .. }) => {
                let at = folder.map_or_else(|| base.clone(), |folder| lexical(&base, Path::new(folder)));
                let Some(repository) = Repository::of(&at) else { continue };
                // What `git switch` runs after it was open to it before.
                let moves = MOVING.iter().any(|(name, _)| *name == subcommand);
                let named = HOOKS.iter().filter(|(name, _)| *name == subcommand).flat_map(|(_, hooks)| hooks.iter());
                let mut names: Vec<&str> = named.copied().collect();
                names.extend((!moves).then_some(ON_REFS));
                out.extend(repository::own_hooks(&repository, home.as_deref(), &names));
            }
            _ => {}
        }
    }
    out.sort();
    out.dedup();
    out
}

/// No file of the working directory stands for one of the readers.
fn readers_are_themselves(command: &str, place: &CallPlace) -> bool {
    !named_paths::look(command, place).programs.iter().any(|program| program.inside)
}

fn step(words: &[String]) -> Option<MoveStep<'_>> {
    let (program, rest) = words.split_first()?;
    match (program.as_str(), rest) {
        ("cd", [to]) if !to.starts_with('-') => return Some(MoveStep::Enters(to)),
        ("git", _) => {}
        (program, _) => return READERS.contains(&program).then_some(MoveStep::Reads),
    }
    let (folder, rest) = match rest {
        [option, folder, rest @ ..] if option == "-C" => (Some(folder.as_str()), rest),
        _ => (None, rest),
    };
    let (subcommand, words) = rest.split_first()?;
    let is_running = |word: &&String| RUNNING.contains(&(subcommand.as_str(), word.as_str()));
    // An address may name a program of its own.
    let is_plain = |word: &str| !word.contains("::") && !word.starts_with('+');
    if let Some((_, options)) = MOVING.iter().find(|(name, _)| name == subcommand) {
        let known = |word: &String| match word.starts_with('-') {
            true => options.contains(&word.as_str()),
            false => is_plain(word) && !word.contains("://"),
        };
        return words.iter().all(known).then_some(MoveStep::Git { folder, subcommand, words });
    }
    let (_, options) = BESIDE.iter().find(|(name, _)| name == subcommand)?;
    let known = |word: &String| {
        let is_option = |option: &str| option == word || option.ends_with('=') && word.starts_with(option);
        // A text for people is no address.
        if word.starts_with('-') {
            options.split_whitespace().any(is_option)
        } else {
            subcommand == "commit" || is_plain(word)
        }
    };
    let sound = words.iter().all(known) && !words.iter().any(|word| is_running(&word));
    // What is fetched from, or pushed to, by a path or an unknown protocol may run something.
    let speaks = matches!(subcommand.as_str(), "push" | "fetch" | "ls-remote" | "submodule");
    let address = |word: &String| word.contains("://") && !git_settings::is_plain_address(word);
    (sound && !(speaks && words.iter().any(address))).then_some(MoveStep::Git { folder, subcommand, words })
}

/// The words of commands that are joined by `&&`, `;` or `|`; `None` where a shell may read more in it. Output goes to
/// `/dev/null` or the other descriptor at most.
fn commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut out = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\' | '!') => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, ' ' | '\t') => out.last_mut()?.extend(word.take()),
            (None, '&') if chars.next_if_eq(&'&').is_some() => {
                out.last_mut()?.extend(word.take());
                out.push(Vec::new());
            }
            (None, ';' | '|') => {
                out.last_mut()?.extend(word.take());
                out.push(Vec::new());
            }
            (None, '>') => {
                word.take().is_none_or(|descriptor| descriptor == "1" || descriptor == "2").then_some(())?;
                harmless_target(&mut chars)?;
            }
            (None, c) if c.is_ascii_alphanumeric() || "-_./@~^=+:,%".contains(c) => {
                // `~` begins a word only where a home directory is meant.
                if word.is_none() && c == '~' {
                    return None;
                }
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    if quote.is_some() {
        return None;
    }
    out.last_mut()?.extend(word.take());
    if out.last().is_some_and(Vec::is_empty) && out.len() > 1 {
        out.pop();
    }
    out.iter().all(|words| !words.is_empty()).then_some(out)
}

/// The rest of a redirection to the other descriptor, or to nothing.
fn harmless_target(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    let mut target = String::new();
    while chars.next_if(|c| *c == ' ').is_some() {}
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !";|".contains(*c)) {
        target.push(c);
    }
    matches!(target.as_str(), "&1" | "&2" | "/dev/null").then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: Moves = Moves { tree: true, notes: false, settings: false };
    const NOTES: Moves = Moves { tree: false, notes: true, settings: false };
    const SETTINGS: Moves = Moves { tree: false, notes: false, settings: true };

    #[test]
    fn lines_of_git_alone_are_classified() {
        for (line, moves) in [
            ("git pull --rebase && git stash pop", TREE),
            ("git merge --no-ff -m 'one && two' topic", TREE),
            ("git rebase main; git status", TREE),
            ("git reset --hard HEAD~2", TREE),
            ("git switch main", Moves { notes: true, ..TREE }),
            ("git switch -c feature/x", Moves { notes: true, ..TREE }),
            ("git checkout -b new origin/main 2>&1 | tail -3", Moves { notes: true, ..TREE }),
            ("git switch --track origin/x", Moves { notes: true, ..TREE }),
            ("git checkout main -- .envrc", Moves { notes: true, ..TREE }),
            ("git push -u origin x", NOTES),
            ("git switch main && git push", NOTES),
            ("git push origin x > /dev/null", NOTES),
            ("git add -A && git commit -m \"two\n\nlines\" && git push -u origin x 2>&1 | tail -5", NOTES),
            ("git branch -m old new", NOTES),
            ("git branch -D x; git status -s", NOTES),
            ("cd sub && git branch -D x", NOTES),
            ("git -C sub config user.email a@b", NOTES),
            ("git remote add o https://h/x && git fetch o", NOTES),
            ("git worktree remove -f w", NOTES),
            ("git submodule deinit -f x", NOTES),
            ("git submodule update --init --recursive", NOTES),
            ("git config core.pager x", SETTINGS),
            ("git remote set-url o https://h/x && git push -u o x", Moves { notes: true, ..SETTINGS }),
            ("git remote add o ../x", SETTINGS),
            ("git status", Moves::default()),
            ("git commit -m x", Moves::default()),
        ] {
            assert_eq!(of(line), moves, "{line}");
        }
    }

    #[test]
    fn other_lines_open_nothing() {
        for line in [
            "",
            "git switch main && make",
            "git -c core.hooksPath=x switch main",
            "git rebase -x 'touch y' main",
            "git rebase --exec=y main",
            "git rebase --exe y main",
            "git rebase -i main",
            "git pull ext::sh",
            "git pull https://evil.example/x",
            "git pull --upload-pack=x",
            "git merge -s own main",
            "git switch main | sh",
            "git switch $(x)",
            "git switch \"$x\"",
            "git switch main > .envrc",
            "git switch main 2> .envrc",
            "git switch main >& .envrc",
            "git switch main &> .envrc",
            "git switch main >/dev/nullx",
            "git switch main\ntouch .envrc",
            "git switch main & touch x",
            "GIT_DIR=x git switch main",
            "./git switch main",
            "git switch 'main",
            "sudo git switch main",
            "git remote add o https://x/y && make",
            "git remote add o $(x)",
            "make; git config a.b c",
            "git push --receive-pack=x -u origin x",
            "git push -u ext::sh x",
            "git push --exec=x -u origin x",
            "git submodule foreach touch x",
            "git submodule update --init --reference x",
            "git branch --edit-description",
            "git -c alias.x=!y branch -D x",
            "git log --output=.git/config",
            "git commit -F .env && git branch -D x",
            "cat x | tee .git/config && git branch -D x",
            "git config --file x a.b c",
            "git config -e",
        ] {
            assert_eq!(of(line), Moves::default(), "{line}");
        }
    }
}
