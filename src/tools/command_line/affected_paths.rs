//! Files that the commands of a line would change without naming them: files that configure or run
//! code, and hidden secrets, in folders that are copied, moved or removed as a whole.
//!
//! A command that met one of them unasked would stop halfway.

use super::named_paths;
use crate::domain::command_effects::{Clean, reach};
use crate::domain::paths::{is_protected, is_protected_for_commands, lexical};
use crate::domain::tool::{self, Touch};
use crate::sandbox::places::removal::{self, HeldBelow};
use crate::tools::CallPlace;
use crate::tools::command::confinement;
use std::path::{Path, PathBuf};

/// Entries of folders that are looked at for one line.
const MOST: usize = 5_000;
/// Number of paths that are reported of one folder; of one with more the folder is.
const TOLD: usize = 5;
/// Names that patterns of one line stand for.
const MOST_MATCHES: usize = 2_000;
/// Folders that are made by programs and whose files nobody's editor or shell reads.
const PASSED_OVER: &[&str] = &["node_modules", "target", ".venv", "vendor"];

/// The writes, and the secrets that an answer shows, each once.
pub(in crate::tools) fn look(command: &str, place: &CallPlace) -> Vec<Touch> {
    let look = looked(command, place);
    let writes = look.found.into_iter().map(|path| Touch::Write { path, place: tool::PathPlace::Protected });
    let secrets = look.secrets.into_iter().filter(|path| !in_dependency(path, &place.cwd));
    writes.chain(secrets.map(|path| Touch::Read { path, secret: true })).collect()
}

/// Parts of what a line removes or moves as a whole that need the sandbox's help.
pub(in crate::tools) struct Removed {
    /// Hidden secrets: those that were asked about, and those of other people's packages.
    pub(in crate::tools) secrets: Vec<PathBuf>,
    /// Folders outside of the working directory that the line may write: mounted while it runs, they cannot go, and would
    /// stay behind empty.
    pub(in crate::tools) mounted: Vec<PathBuf>,
}

/// Help for what the line removes or moves as a whole. Blocks.
pub(in crate::tools) fn removed(command: &str, place: &CallPlace) -> Removed {
    let ReachLook { secrets, trees: mut mounted, .. } = looked(command, place);
    let granted = &place.allowances.granted.writable;
    mounted.retain(|tree| tree.is_dir() && !tree.starts_with(&place.cwd) && granted.contains(tree));
    Removed { secrets, mounted }
}

fn in_dependency(path: &Path, cwd: &Path) -> bool {
    let below = path.strip_prefix(cwd).unwrap_or(path);
    below.iter().any(|part| PASSED_OVER.iter().any(|passed| part == *passed))
}

fn looked<'a>(command: &str, place: &'a CallPlace) -> ReachLook<'a> {
    let mut look = ReachLook { place, left: MOST, found: Vec::new(), secrets: Vec::new(), trees: Vec::new() };
    let mut bases = vec![place.cwd.clone()];
    let mut made: Vec<PathBuf> = Vec::new();
    for argv in &commands(command) {
        if let [change, to] = argv.as_slice()
            && change == "cd"
            && bases.len() < 8
        {
            let new: Vec<PathBuf> = bases.iter().map(|base| lexical(base, Path::new(to))).collect();
            bases.extend(new);
        }
        let reach = reach(argv);
        for base in &bases {
            for copied in &reach.copies {
                let (from, mut to) = (base.join(&copied.from), base.join(&copied.to));
                let is_folder = to.is_dir() || copied.to.ends_with('/') || made.contains(&to);
                if copied.into && is_folder {
                    to = copied.within().map_or(to, |within| base.join(within));
                }
                look.folder(&from, &to);
            }
            for gone in &reach.removes {
                let full = base.join(gone);
                let mut budget = MOST_MATCHES;
                match gone.contains(['*', '?', '[']).then(|| named_paths::matches(&full, &mut budget)) {
                    Some(Ok(trees)) => trees.iter().for_each(|tree| look.removed(tree)),
                    Some(Err(_)) => look.removed(base),
                    None => look.removed(&full),
                }
            }
        }
        made.extend(bases.iter().flat_map(|base| reach.writes.iter().map(move |name| base.join(name))));
        if let Some(clean) = reach.cleans {
            look.cleaned(clean);
        }
    }
    look
}

/// The words of what may be simple commands, as broadly as they can be told apart: whatever a shell would expand stands as
/// it is written.
pub(in crate::tools) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut out: Vec<Vec<String>> = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(rest.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, c) if c.is_whitespace() || ";|&(){}".contains(c) => {
                if let Some(last) = out.last_mut() {
                    last.extend(word.take());
                }
                if c == '\n' || ";|&(){}".contains(c) {
                    out.push(Vec::new());
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(last) = out.last_mut() {
        last.extend(word.take());
    }
    out.retain(|words| !words.is_empty());
    out
}

struct ReachLook<'a> {
    place: &'a CallPlace,
    left: usize,
    found: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
    /// Files and folders that go as a whole.
    trees: Vec<PathBuf>,
}

impl ReachLook<'_> {
    /// Whatever protected or hidden lies at or below a tree that goes.
    fn removed(&mut self, tree: &Path) {
        let tree = lexical(Path::new("/"), tree);
        if tree.symlink_metadata().is_err() {
            return;
        }
        let HeldBelow { protected, secrets } =
            confinement::site_of(self.place, |site| removal::held_below(site, &tree));
        let earlier = self.found.len();
        self.folder(&tree, &tree);
        for path in protected {
            let short = path.strip_prefix(&self.place.cwd).unwrap_or(&path);
            // The words of the line name it.
            let named = path == tree && is_protected_for_commands(short);
            if !named && !self.found.iter().any(|known| path.starts_with(known)) {
                self.found.push(path);
            }
        }
        if self.found.len() > earlier + TOLD {
            self.found.truncate(earlier);
            self.found.push(tree.clone());
        }
        self.trees.push(tree);
        secrets.into_iter().for_each(|path| self.secret(path));
    }

    fn secret(&mut self, path: PathBuf) {
        if !self.secrets.contains(&path) {
            self.secrets.push(path);
        }
    }

    /// Whatever protected git removes because it does not track it; a hidden secret goes with what it ignores.
    fn cleaned(&mut self, clean: Clean) {
        let ignored = clean == Clean::Ignored;
        let found = confinement::site_of(self.place, |site| removal::untracked(site, ignored));
        found.protected.into_iter().for_each(|path| {
            if !self.found.contains(&path) {
                self.found.push(path);
            }
        });
        found.secrets.into_iter().for_each(|path| self.secret(path));
    }

    /// Whatever lies below `from` and would lie at a protected path below `to`.
    fn folder(&mut self, from: &Path, to: &Path) {
        if from.file_name().is_some_and(|name| PASSED_OVER.iter().any(|passed| name == *passed)) {
            return;
        }
        let earlier = self.found.len();
        let mut open = vec![(from.to_owned(), lexical(Path::new("/"), to))];
        while let Some((from, to)) = open.pop() {
            let Ok(entries) = std::fs::read_dir(&from) else { continue };
            for entry in entries.flatten() {
                if self.left == 0 || self.found.len() > earlier + TOLD {
                    return;
                }
                self.left -= 1;
                let target = to.join(entry.file_name());
                let short = target.strip_prefix(&self.place.cwd).unwrap_or(&target);
                let name = entry.file_name();
                if PASSED_OVER.iter().any(|passed| name == *passed) {
                    continue;
                }
                if is_protected(short) {
                    if !self.found.contains(&target) {
                        self.found.push(target);
                    }
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push((entry.path(), target));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::Bench;

    #[test]
    fn folders_are_looked_through_for_what_runs_code() {
        let bench = Bench::new();
        for file in [
            "payload/.envrc",
            "payload/deep/.github/workflows/ci.yml",
            "plain/a",
            "x/fish/config",
            "node_modules/a/.travis.yml",
        ] {
            bench.write(file, "x");
        }
        std::fs::create_dir_all(bench.path(".config")).unwrap();
        let found = |command: &str| -> Vec<String> {
            let mut out: Vec<String> = look(command, &bench.place)
                .into_iter()
                .filter_map(|touch| match touch {
                    Touch::Write { path, .. } => {
                        Some(path.strip_prefix(&bench.place.cwd).unwrap().display().to_string())
                    }
                    _ => None,
                })
                .collect();
            out.sort();
            out
        };
        for (command, paths) in [
            ("cp -rT payload .", vec![".envrc", "deep/.github"]),
            ("cp -r payload/. .", vec![".envrc", "deep/.github"]),
            ("cp -r payload new", vec!["new/.envrc", "new/deep/.github"]),
            ("cp -r payload new/", vec!["new/payload/.envrc", "new/payload/deep/.github"]),
            ("mkdir new; cp -r payload new", vec!["new/payload/.envrc", "new/payload/deep/.github"]),
            ("cp -r payload plain", vec!["plain/payload/.envrc", "plain/payload/deep/.github"]),
            ("mv payload/deep .", vec!["deep/.github", "payload/deep/.github"]),
            ("rm -r payload", vec!["payload/.envrc", "payload/deep/.github"]),
            ("cd plain && cp -rT ../payload .", vec!["plain/.envrc", "plain/deep/.github"]),
            ("rsync -a payload/ .", vec![".envrc", "deep/.github"]),
            ("cp -r x/fish .config", vec![".config/fish/config"]),
            ("cp -r plain other", vec![]),
            ("rm -rf node_modules", vec![]),
            ("rm -rf pay*", vec!["payload/.envrc", "payload/deep/.github"]),
            ("git rm -r payload", vec!["payload/.envrc", "payload/deep/.github"]),
            ("git worktree remove payload", vec!["payload/.envrc", "payload/deep/.github"]),
            ("ls payload", vec![]),
        ] {
            assert_eq!(found(command), paths, "{command}");
        }
    }
}
