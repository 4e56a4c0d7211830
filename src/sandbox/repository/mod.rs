//! The repository that a directory belongs to, found without running git: nothing of it is trusted to be what it says.
//!
//! A file `.git` names another folder, and that folder would be writable for commands. A command could have written that
//! file, so the folder must point back: as a worktree's does by its `gitdir`, a submodule's by `core.worktree`.
//!
//! A folder that git would take for a repository is one here, too, or could become one by a file more: nothing that a command can make of
//! it, such as a `HEAD` that is a link, ends its protection. Pointers are read byte for byte as git reads them.

use self::git_config::Ground;
use super::own_folders;
use super::plain_file;
use super::unseen;
use crate::domain::git_settings::is_plain_address;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

mod git_config;

/// Git's folders of a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The working tree's top.
    pub top: PathBuf,
    /// Folder shared by all working trees: objects, branches, hooks, configuration.
    pub common: PathBuf,
    /// Folder of this working tree alone; the same folder in the main working tree.
    pub own: PathBuf,
}

/// Remotes of this machine that are looked at.
const MOST_REMOTES: usize = 500;
/// Most bytes of the small files that are read here.
const SMALL: u64 = 64 * 1024;

impl Repository {
    /// The repository of `cwd`, which is absolute and resolved.
    #[must_use]
    pub fn of(cwd: &Path) -> Option<Self> {
        let top = cwd.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())?;
        let entry = top.join(".git");
        let kind = entry.symlink_metadata().ok()?.file_type();
        if kind.is_dir() {
            return Some(Self { top: top.to_owned(), common: entry.clone(), own: entry });
        }
        // A link could lead anywhere, and nothing points back.
        if !kind.is_file() {
            return None;
        }
        let own = led_by(&entry)?;
        match shared_by(&own) {
            Some(common) => {
                let back = pointer(&own.join("gitdir"), "")?.canonicalize().ok()?;
                let belongs = own.starts_with(common.join("worktrees")) && back == entry && is_repository(&common);
                belongs.then(|| Self { top: top.to_owned(), common, own })
            }
            None => {
                let belongs = is_repository(&own) && worktree(&own).is_some_and(|back| back == top);
                belongs.then(|| Self { top: top.to_owned(), common: own.clone(), own })
            }
        }
    }

    /// Paths in it that configure or run code, existing or not: for each working tree and each submodule, too.
    #[must_use]
    pub fn protected(&self) -> Vec<PathBuf> {
        let mut out = Vec::new();
        let mut dirs = vec![self.common.clone(), self.own.clone()];
        dirs.extend(inner(&self.common));
        dirs.dedup();
        for dir in dirs {
            out.extend(CODE.iter().map(|name| dir.join(name)));
            // It would name another repository's configuration.
            if dir == self.common {
                out.push(dir.join("commondir"));
            } else if dir == self.own {
                out.extend(POINTERS.iter().map(|name| dir.join(name)));
            }
        }
        out
    }

    /// Files that say where the repository of another working tree, or of a submodule, is. They are compared and not
    /// held: git removes working trees with all that is theirs.
    #[must_use]
    pub fn pointers(&self) -> Vec<PathBuf> {
        pointers_in(&self.common)
    }

    /// Files of it that git writes when its settings are changed, or hooks are installed.
    #[must_use]
    pub fn is_setting(&self, path: &Path) -> bool {
        let code = [&self.common, &self.own]
            .into_iter()
            .flat_map(|dir| ["config", "config.worktree", "hooks"].iter().map(move |name| dir.join(name)));
        code.chain([self.top.join(".gitmodules")]).any(|setting| path.starts_with(setting))
    }

    /// True if the file went with the folder of its working tree or submodule.
    #[must_use]
    pub fn lost_whole(&self, path: &Path) -> bool {
        let tops = ["worktrees", "modules"].map(|name| self.common.join(name));
        let Some(top) = tops.iter().find(|top| path.starts_with(top)) else { return false };
        let folders = path.ancestors().skip(1).take_while(|above| *above != top.as_path());
        folders.filter(|above| !above.ends_with("hooks") && !above.ends_with("info")).any(|above| !above.is_dir())
    }

    /// Files and folders below `within` that its settings, or the user's, name as something to read settings from or to
    /// run; some may not be there.
    #[must_use]
    pub fn named(&self, within: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = USERS.iter().filter_map(|name| Some(home?.join(name))).collect();
        files.extend(["config", "config.worktree"].iter().map(|name| self.common.join(name)));
        files.push(self.own.join("config.worktree"));
        git_config::named(&files, Ground { top: &self.top, within, home })
    }

    /// The `.git` files of its linked working trees, none behind a link. git takes a tree without one for removed, and prunes it.
    #[must_use]
    pub fn linked(&self) -> Vec<PathBuf> {
        let file = |own: PathBuf| {
            let file = pointer(&own.join("gitdir"), "")?;
            let is_straight = file.canonicalize().is_ok_and(|real| real == file);
            let is_one = file.file_name()? == ".git" && is_straight && led_by(&file)? == own.canonicalize().ok()?;
            is_one.then_some(file)
        };
        InnerRepositories::default().list(&self.common.join("worktrees")).into_iter().filter_map(file).collect()
    }

    /// Addresses of its remotes, by name. Blocks.
    #[must_use]
    pub fn remotes(&self) -> Vec<(String, String)> {
        let of_remote = |(key, address): (String, String)| {
            let rest = key.strip_prefix("remote.")?;
            let name = rest.strip_suffix(".url").or_else(|| rest.strip_suffix(".pushurl"))?;
            Some((name.to_owned(), address))
        };
        settings(&self.common.join("config")).unwrap_or_default().into_iter().filter_map(of_remote).collect()
    }

    /// Remotes that are repositories of this machine: name and the folder that holds their objects. Blocks.
    #[must_use]
    pub fn local_remotes(&self) -> Vec<(String, PathBuf)> {
        let of_path = |(name, address): (String, String)| {
            let path = address.strip_prefix("file://").unwrap_or(&address);
            path.starts_with(['/', '.']).then(|| folder_of(&self.top.join(path)).map(|folder| (name, folder)))?
        };
        let mut out: Vec<(String, PathBuf)> = self.remotes().into_iter().filter_map(of_path).collect();
        out.dedup();
        out.truncate(MOST_REMOTES);
        out
    }

    /// The same file by file, examples left out; a file that may be made is among them.
    #[must_use]
    pub fn code_files(&self) -> Vec<PathBuf> {
        const MOST: usize = 500;
        let mut out = Vec::new();
        for path in self.protected() {
            let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
            if is_link || !path.is_dir() {
                out.push(path);
                continue;
            }
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
            out.extend(entries.filter(|path| path.extension().is_none_or(|end| end != "sample") && !path.is_dir()));
        }
        out.truncate(MOST);
        out
    }

    /// Paths among these, or files of their folders, that git tracks in this working tree.
    #[must_use]
    pub fn tracked(&self, paths: &[PathBuf]) -> HashSet<PathBuf> {
        let below = |path: &PathBuf| path.strip_prefix(&self.top).ok().map(Path::to_owned);
        let wanted = paths.iter().filter_map(below).collect();
        let found = super::places::git_index::tracked(&self.own.join("index"), &wanted);
        found.into_keys().map(|below| self.top.join(below)).collect()
    }

    /// True if git tracks this file with this content. A command can add names to git's list, but not a content that it
    /// does not know.
    #[must_use]
    pub fn has(&self, path: &Path, content: super::places::git_index::Blob) -> bool {
        let Ok(below) = path.strip_prefix(&self.top) else { return false };
        let found = super::places::git_index::tracked(&self.own.join("index"), &[below.to_owned()].into());
        found.into_values().any(|blob| blob == Some(content))
    }
}

/// Entries of a repository's folder that configure or run code.
const CODE: &[&str] = &["hooks", "config", "config.worktree", "info/attributes"];
/// Files that say where a repository and its working tree are.
const POINTERS: &[&str] = &["commondir", "gitdir"];
/// Steps of a rebase that is not over, of which some run a program.
const TODO: &str = "rebase-merge/git-rebase-todo";
/// Work of git that is not over, as far as it names programs: steps, and strategies, each of which is one. Compared and not
/// held, like the pointers.
const UNFINISHED: &[&str] = &[TODO, "rebase-merge/strategy", "sequencer/opts"];
/// The strategies that git brings.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];
/// Settings that other programs read in git's folder. Compared alone: hardly anybody has them.
const OF_OTHERS: &[&str] = &["lazygit.yml", "sl/config", "branchless/config", "gitweb/gitweb_config.perl"];
/// The user's own settings, from the home directory on.
const USERS: &[&str] = &[".gitconfig", ".config/git/config"];

/// The same of a repository of which nothing else is known, with all in it.
#[must_use]
pub fn protected_in(git: &Path) -> Vec<PathBuf> {
    let dirs = std::iter::once(git.to_owned()).chain(inner(git));
    let code = dirs.flat_map(|dir| CODE.iter().map(move |name| dir.join(name)));
    code.chain([git.join("commondir")]).collect()
}

/// [`Repository::pointers`] of a repository of which nothing else is known.
#[must_use]
pub fn pointers_in(git: &Path) -> Vec<PathBuf> {
    let inner = InnerRepositories::of(git).with_links(git);
    let all = std::iter::once(git).chain(inner.folders.iter().map(PathBuf::as_path));
    let unfinished = all.flat_map(|dir| UNFINISHED.iter().map(move |name| dir.join(name)));
    let mut out: Vec<PathBuf> =
        inner.folders.iter().flat_map(|dir| POINTERS.iter().map(move |name| dir.join(name))).collect();
    out.extend(unfinished);
    out.extend(OF_OTHERS.iter().map(|name| git.join(name)));
    out.extend(inner.links);
    out
}

/// Places that a new file of git may lead to.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandEffects<'a> {
    /// Folders of the repositories that were there before.
    pub known: &'a [PathBuf],
    /// Folders where all that is written is looked at: elsewhere a repository could be another one at any time.
    pub within: &'a [PathBuf],
    /// Places that whoever wrote the file could read: what a remote names is open to the next command.
    pub readable: &'a [PathBuf],
}

/// True if a file that git makes with a new working tree, submodule or repository says nothing but what git writes
/// there itself, and so runs nothing and leads nowhere else.
#[must_use]
pub fn is_plain(path: &Path, reach: CommandEffects<'_>) -> bool {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return false;
    };
    match name {
        _ if dir.ends_with("hooks") => is_example(path),
        "config" | "config.worktree" => {
            let is_plain = |one: &(String, String)| {
                git_config::is_harmless(one)
                    && !leads_unseen(dir, one, reach)
                    && (name == "config" || is_of_one_tree(&one.0))
                    && (one.0 != "core.worktree" || leads_back(dir, &one.1))
            };
            settings(path).is_some_and(|settings| settings.iter().all(is_plain))
        }
        "git-rebase-todo" => {
            plain_file::text(path, LARGEST_TODO).is_some_and(|text| programs_in(&text).next().is_none())
        }
        "strategy" if dir.ends_with("rebase-merge") => {
            small(path).is_some_and(|text| STRATEGIES.contains(&text.trim_end_matches(['\n', '\r'])))
        }
        "opts" if dir.ends_with("sequencer") => {
            let is_plain = |(key, value): &(String, String)| {
                key.starts_with("options.") && (key != "options.strategy" || STRATEGIES.contains(&value.as_str()))
            };
            settings(path).is_some_and(|settings| settings.iter().all(is_plain))
        }
        "commondir" => {
            let above = dir.parent().filter(|above| above.ends_with("worktrees")).and_then(Path::parent);
            let common = above.and_then(|common| common.canonicalize().ok());
            common.is_some() && shared_by(dir) == common
        }
        "gitdir" => {
            let back = pointer(path, "");
            let tree = back.as_deref().filter(|back| back.ends_with(".git")).and_then(Path::parent);
            let own = tree.and_then(|tree| Repository::of(&tree.canonicalize().ok()?)).map(|found| found.own);
            own.is_some() && own == dir.canonicalize().ok()
        }
        ".git" => {
            dir.canonicalize().ok().and_then(|top| Repository::of(&top).filter(|found| found.top == top)).is_some_and(
                // Another folder could have been made for it to lead to.
                |found| {
                    let known =
                        reach.known.iter().any(|git| found.common == *git || inner(git).contains(&found.common));
                    let is_looked_at = || reach.within.iter().any(|folder| found.common.starts_with(folder));
                    known || is_looked_at() && runs_nothing(&found.common)
                },
            )
        }
        _ => false,
    }
}

/// True if a setting may stand in the settings of one working tree without a question. They win over those that all trees share:
/// an address there would redirect a remote.
fn is_of_one_tree(key: &str) -> bool {
    ["core.", "index.", "extensions."].iter().any(|section| key.starts_with(section))
}

/// True for the address of a remote that a command could not read, or where commands write and nobody looks for repositories, in
/// a folder of lisle's own or of git's: git runs the hooks of a repository that it pushes to.
fn leads_unseen(git: &Path, (key, value): &(String, String), reach: CommandEffects<'_>) -> bool {
    let is_one_of = |names: [&str; 2]| names.iter().any(|last| key.ends_with(&format!(".{last}")));
    let is_address = is_one_of(["url", "pushurl"]) && !is_plain_address(value);
    // What a branch follows is the name of a remote, or an address.
    let is_followed = is_one_of(["remote", "pushremote"]) && value != "." && !is_plain_address(value);
    if !is_address && !is_followed {
        return false;
    }
    let address = Path::new(value.strip_prefix("file://").unwrap_or(value));
    let in_git = |path: &Path| path.parent().is_some_and(|above| above.iter().any(|part| part == ".git"));
    let is_open = |path: &Path| reach.within.iter().chain(reach.readable).any(|place| path.starts_with(place));
    let is_unseen = |top: &Path| match top.join(address).canonicalize() {
        Ok(real) => own_folders::holds(&real) || in_git(&real) || !is_open(&real),
        // A path that is free by now could lead anywhere later.
        Err(_) => is_address || address.components().count() > 1,
    };
    let tree = if git.ends_with(".git") { git.parent().map(Path::to_owned) } else { worktree(git) };
    is_unseen(git) || tree.is_some_and(|tree| is_unseen(&tree))
}

/// True if a repository's working tree, as its settings name it, says that it belongs to this repository: any other folder
/// would be overwritten by what is committed.
fn leads_back(git: &Path, worktree: &str) -> bool {
    let tree = git.join(worktree).canonicalize().ok();
    tree.and_then(|top| Repository::of(&top).filter(|one| one.top == top)).is_some_and(|one| one.own == git)
}

/// One of the hooks that git brings as examples, and never runs.
#[must_use]
pub fn is_example(path: &Path) -> bool {
    path.parent().is_some_and(|dir| dir.ends_with("hooks")) && path.extension().is_some_and(|end| end == "sample")
}

/// Bytes of the steps of a rebase.
const LARGEST_TODO: u64 = 16 * 1024 * 1024;

/// Lines of the steps of a rebase that run a program.
fn programs_in(todo: &str) -> impl Iterator<Item = &str> {
    todo.lines().filter(|line| matches!(line.split_whitespace().next(), Some("exec" | "x")))
}

/// True if a path belongs to work of git that is not over.
#[must_use]
pub fn is_unfinished(path: &Path) -> bool {
    UNFINISHED.iter().any(|name| path.ends_with(name))
}

/// True if the steps of a rebase run nothing now that they did not run before.
#[must_use]
pub fn runs_no_more(before: &[u8], after: &Path) -> bool {
    if !after.ends_with(TODO) {
        return false;
    }
    let before = String::from_utf8_lossy(before);
    let known: HashSet<&str> = programs_in(&before).collect();
    plain_file::text(after, LARGEST_TODO).is_some_and(|now| programs_in(&now).all(|line| known.contains(line)))
}

/// True if nothing in a repository's folder runs anything.
fn runs_nothing(git: &Path) -> bool {
    let is_missing = |name: &str| git.join(name).symlink_metadata().is_err_and(|error| !unseen::is_in_the_way(&error));
    let plain = |name: &str| is_missing(name) || is_plain(&git.join(name), CommandEffects::default());
    let hooks = match std::fs::read_dir(git.join("hooks")) {
        Ok(hooks) => hooks.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>(),
        Err(error) if !unseen::is_in_the_way(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    plain("config")
        && plain("config.worktree")
        && is_missing("info/attributes")
        && hooks.is_ok_and(|hooks| hooks.iter().all(|path| is_plain(path, CommandEffects::default())))
}

/// The settings in a file; `None` for one that cannot be read as such.
#[must_use]
pub fn settings(path: &Path) -> Option<Vec<(String, String)>> {
    git_config::parse(&plain_file::text(path, git_config::LARGEST)?)
}

/// True if two contents of a file of settings differ only in such as a command may write without a question.
#[must_use]
pub fn only_harmless(before: &[u8], after: &Path, reach: CommandEffects<'_>) -> bool {
    let before = std::str::from_utf8(before).ok().and_then(git_config::parse);
    let Some((mut before, mut now)) = before.zip(settings(after)) else { return false };
    let is_shared = after.file_name().is_some_and(|name| name == "config");
    if !is_shared && now.iter().any(|one| !before.contains(one) && !is_of_one_tree(&one.0)) {
        return false;
    }
    let git = after.parent().unwrap_or(after);
    if now.iter().any(|one| !before.contains(one) && leads_unseen(git, one, reach)) {
        return false;
    }
    // A submodule's repository names its working tree, which must name it as well, or none where it has none.
    let is_tree = |(key, _): &(String, String)| key == "core.worktree";
    let of_submodule = after.parent().filter(|dir| dir.components().any(|part| part.as_os_str() == "modules"));
    let names_its_own = |dir: &Path| {
        !now.iter().any(is_tree)
            || worktree(dir).and_then(|top| Repository::of(&top)).is_some_and(|one| one.common == dir)
    };
    if of_submodule.is_some_and(names_its_own) {
        before.retain(|one| !is_tree(one));
        now.retain(|one| !is_tree(one));
    }
    git_config::only_harmless(&before, &now)
}

/// True if a protected path is a file of settings in a repository's folder.
#[must_use]
pub fn is_config(path: &Path) -> bool {
    let named = path.file_name().is_some_and(|name| name == "config" || name == "config.worktree");
    let is_hooks = |dir: &&Path| dir.ends_with("hooks") && dir.parent().is_some_and(is_repository);
    let in_hooks = || path.ancestors().any(|above| is_hooks(&above));
    let dir = path.parent();
    let is_linked = |dir: &Path| dir.join("commondir").symlink_metadata().is_ok();
    named && !in_hooks() && dir.is_some_and(|dir| is_repository(dir) || is_linked(dir))
}

/// Hooks that are there and that these subcommands of git run, `git lfs` and git's examples left out.
#[must_use]
pub fn own_hooks(repository: &Repository, home: Option<&Path>, names: &[&str]) -> Vec<String> {
    let mut folders = vec![repository.common.join("hooks")];
    folders.extend(repository.named(&repository.top, home).into_iter().filter(|path| path.is_dir()));
    let mut out: Vec<String> = Vec::new();
    for (folder, name) in folders.iter().flat_map(|folder| names.iter().map(move |name| (folder, *name))) {
        let path = folder.join(name);
        let is_lfs = || small(&path).is_some_and(|text| is_hook_of_lfs(&text, name));
        if path.metadata().is_ok() && !is_lfs() && !out.iter().any(|known| known == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// The text that `git lfs install` writes.
fn is_hook_of_lfs(text: &str, name: &str) -> bool {
    let last = format!("git lfs {name} \"$@\"");
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    text.contains(&last)
        && lines.all(|line| {
            line == last || line.starts_with("command -v git-lfs >/dev/null 2>&1 || {") && !line.contains(['$', '`'])
        })
}

/// Working trees and submodules in a repository's folder.
#[derive(Default)]
struct InnerRepositories {
    folders: Vec<PathBuf>,
    /// Links in the place of one of them, or of a folder above one: git follows them, and makes none.
    links: Vec<PathBuf>,
    /// Folders that cannot be listed, so that nobody knows those in them.
    unlisted: Vec<PathBuf>,
}

impl InnerRepositories {
    fn of(git: &Path) -> Self {
        let mut out = Self::default();
        out.folders = out.list(&git.join("worktrees"));
        // A linked working tree has submodules of its own.
        let mut open: Vec<PathBuf> = out.folders.iter().map(|own| own.join("modules")).collect();
        open.push(git.join("modules"));
        // Folders of submodules lie below folders that are parts of their names, and in those of other submodules.
        while let Some(dir) = open.pop() {
            for dir in out.list(&dir) {
                if may_be_repository(&dir) {
                    out.folders.push(dir.clone());
                }
                if !is_store(&dir) {
                    open.push(dir);
                }
            }
        }
        out
    }

    /// Adds links where git writes, which it follows to wherever they lead. It makes none but an old form of `HEAD`.
    fn with_links(mut self, git: &Path) -> Self {
        const WRITTEN: &[&str] = &["", "info", "rebase-merge", "rebase-apply", "sequencer"];
        let all: Vec<PathBuf> = std::iter::once(git.to_owned()).chain(self.folders.iter().cloned()).collect();
        for dir in &all {
            WRITTEN.iter().for_each(|name| drop(self.list(&dir.join(name))));
            let mut open = vec![dir.join("logs")];
            while let Some(dir) = open.pop() {
                open.extend(self.list(&dir));
            }
        }
        let is_head = |link: &Path| all.iter().any(|dir| link == dir.join("HEAD"));
        let is_old_form = |link: &Path| std::fs::read_link(link).is_ok_and(|to| to.starts_with("refs"));
        self.links.retain(|link| !(is_head(link) && is_old_form(link)));
        self
    }

    /// The folders in a folder, which may be missing.
    fn list(&mut self, dir: &Path) -> Vec<PathBuf> {
        let entries = match std::fs::read_dir(dir) {
            Ok(_) if unseen::is_too_long(dir) => Err(()),
            Ok(entries) => entries.map(|entry| entry.map_err(drop)).collect::<Result<Vec<_>, ()>>(),
            Err(error) if !unseen::is_in_the_way(&error) => return Vec::new(),
            Err(_) => Err(()),
        };
        let Ok(entries) = entries else {
            self.unlisted.push(dir.to_owned());
            return Vec::new();
        };
        let is_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        self.links.extend(entries.iter().filter(|entry| is_link(entry)).map(std::fs::DirEntry::path));
        let folders = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(std::fs::DirEntry::path).collect()
    }
}

/// True for the folders of a repository with most entries: objects, and what git keeps by their numbers.
fn is_store(dir: &Path) -> bool {
    let names = ["objects", "refs", "logs", "lfs", "rr-cache", "hooks", "info"];
    names.iter().any(|name| dir.ends_with(name)) && dir.parent().is_some_and(is_repository)
}

/// Folders in a repository's folder that cannot be listed, so that nobody knows the working trees and submodules in it.
#[must_use]
pub fn unlisted_in(git: &Path) -> Vec<PathBuf> {
    InnerRepositories::of(git).with_links(git).unlisted
}

/// Folders of the working trees and submodules of a repository.
#[must_use]
pub fn inner(git: &Path) -> Vec<PathBuf> {
    InnerRepositories::of(git).folders
}

/// Folders of repositories that files `.git`, and links in their place, lead to, and those that these name as what they
/// share. git reads them wherever they lie. Below `within` alone: nothing else can be written by a command.
#[must_use]
pub fn led_to(entries: &[PathBuf], within: &[&Path]) -> Vec<PathBuf> {
    let files = entries.iter().filter(|entry| !entry.symlink_metadata().is_ok_and(|meta| meta.is_dir()));
    let first: Vec<PathBuf> = files.filter_map(|entry| led_by(entry)).collect();
    let shared: Vec<PathBuf> = first.iter().chain(entries).filter_map(|git| shared_by(git)).collect();
    let mut out: Vec<PathBuf> = first.into_iter().chain(shared).collect();
    out.retain(|git| git.is_dir() && within.iter().any(|folder| git.starts_with(folder)));
    out.sort();
    out.dedup();
    out
}

/// The folder of a repository at this path: itself where it is bare, else its `.git`. Blocks.
#[must_use]
pub fn folder_of(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    [real.join(".git"), real].into_iter().find(|folder| folder.is_dir() && is_repository(folder))
}

/// True if git could take a folder for a repository, now or after it got one of these files.
fn may_be_repository(dir: &Path) -> bool {
    ["HEAD", "config", "hooks", "commondir"].iter().any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// True for a folder that has what git asks for, of whatever kind: a link is as good as a file to it.
fn is_repository(dir: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| dir.join(name).symlink_metadata().is_ok())
}

/// Folder to which a file `.git`, or a link in its place, leads.
fn led_by(entry: &Path) -> Option<PathBuf> {
    let is_link = entry.symlink_metadata().ok()?.is_symlink();
    let to = if is_link { entry.to_owned() } else { pointer(entry, "gitdir: ")? };
    to.canonicalize().ok()
}

/// Folder that a repository's folder shares with others, as its `commondir` says.
fn shared_by(git: &Path) -> Option<PathBuf> {
    pointer(&git.join("commondir"), "")?.canonicalize().ok()
}

/// Path that a file of git names after these words, from the folder of the file on. All but the end of the line counts: git
/// takes a blank for a part of the name.
fn pointer(file: &Path, words: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let text = plain_file::bytes(file, SMALL)?;
    let mut said = text.strip_prefix(words.as_bytes())?;
    while let Some(rest) = said.strip_suffix(b"\n").or_else(|| said.strip_suffix(b"\r")) {
        said = rest;
    }
    Some(file.parent()?.join(std::ffi::OsStr::from_bytes(said)))
}

/// The folder that `core.worktree` names.
fn worktree(git: &Path) -> Option<PathBuf> {
    let all = settings(&git.join("config"))?;
    let (_, value) = all.into_iter().rfind(|(key, _)| key == "core.worktree")?;
    git.join(value).canonicalize().ok()
}

fn small(path: &Path) -> Option<String> {
    plain_file::text(path, SMALL)
}

#[cfg(test)]
mod tests;
