//! What holds one command back: its profile, looked up right before it starts, and what is to be told after it.
//!
//! How a profile is made and enforced is the sandbox's; which one a command gets was decided with the call.

use super::{Place, made};
use crate::domain::paths::is_secret;
use crate::domain::permission::Sandbox;
use crate::sandbox::guard::{Change, Guard, What};
use crate::sandbox::kept::{self, Kept, Over};
use crate::sandbox::places::{self, Moves, Site};
use crate::sandbox::proxy::Refusals;
use crate::sandbox::repository::Repository;
use crate::sandbox::{Allowances, Network, Profile, able, refusal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the line of a command says of its places.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// Paths that it names literally, outside of the working directory.
    pub named: Vec<PathBuf>,
    /// Secrets that it names, and that were therefore asked about.
    pub approved: Vec<PathBuf>,
    /// Whether it does nothing but move between states of the repository.
    pub moves: Moves,
    /// The call waits for its end: what it makes meanwhile is its own work.
    pub waited_for: bool,
}

/// What holds one command back.
pub(super) struct Held {
    sandbox: Sandbox,
    place: Place,
    told: Told,
    /// What it is closed into.
    pub profile: Profile,
    /// Variables that it gets beside its own.
    pub variables: Vec<(String, PathBuf)>,
    guard: Option<Guard>,
    /// Secrets that were there before.
    secrets: Vec<PathBuf>,
    /// Hosts that it was not let reach.
    pub refusals: Refusals,
}

impl Held {
    /// Looks up the places of a command that is about to start. Blocks.
    pub fn new(mut place: Place, sandbox: Sandbox, told: Told) -> Self {
        let home = std::env::home_dir();
        if sandbox == Sandbox::Workspace {
            place.allowances = Arc::new(opened(&place, home.as_deref()));
        }
        let secrets = match sandbox {
            Sandbox::Workspace if told.waited_for => places::secrets_in(&place.cwd, home.as_deref()),
            _ => Vec::new(),
        };
        let site = site(&place, &told, home.as_deref());
        let (profile, guard, variables) = match sandbox {
            Sandbox::None => (Profile::Open, None, Vec::new()),
            Sandbox::ReadOnly => (places::read_only(&site), None, Vec::new()),
            Sandbox::Workspace => (places::workspace(&site), Some(Guard::before(&site)), places::redirected(&site)),
        };
        Self { sandbox, place, told, profile, variables, guard, secrets, refusals: Refusals::default() }
    }

    /// What it reaches of the network.
    pub fn network(&self) -> &Network {
        self.profile.bounds().map_or(&Network::Open, |bounds| &bounds.network)
    }

    /// Why it cannot run here as the settings want it.
    pub fn fault(&self) -> Option<String> {
        if *self.network() != Network::Proxy {
            return None;
        }
        let why = able::own_network(&self.place.runner).err()?;
        Some(format!(
            "The command was not started: the user's setting sandbox.network = \"hosts\" holds a command to certain hosts, \
             which needs namespaces, and this system does not allow them ({why}). Only the user can change that, with \
             sandbox.network = \"open\" or \"off\" in config.toml. Called again with `outside: true`, the user is asked to let \
             it run without a sandbox."
        ))
    }

    /// What the model is to know after the command, line by line: protected files that it made or changed, and that a
    /// refusal may be why it failed. Blocks.
    pub fn notes(&self, output: &str, code: Option<i32>) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(guard) = &self.guard {
            let home = std::env::home_dir();
            let mut changes = guard.after(&site(&self.place, &self.told, home.as_deref()));
            // What was answered for is no breach.
            let asked = &self.place.allowances.granted.writable;
            changes.retain(|change| !asked.iter().any(|path| change.path.starts_with(path)));
            let (by_git, others): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(|change| change.by_git);
            if !others.is_empty() {
                out.push(self.protected(BREACH, &others));
            }
            if !by_git.is_empty() {
                out.push(self.protected(BY_GIT, &by_git));
            }
        }
        let network = self.network();
        let kept = self.kept(output, code);
        // What can be named exactly is offered so, and not outside of the sandbox.
        let exact = !(kept.read.is_empty() && kept.write.is_empty() && kept.sockets.is_empty());
        match refusal::hosts(&self.refusals.all()) {
            Some(refused) => out.push(refused),
            None if exact => {}
            None => out.extend(refusal::hint(self.sandbox, network, &self.place.cwd, output, code)),
        }
        out.extend(kept.told(&self.place.cwd));
        self.note_made();
        out
    }

    /// What was kept from the command.
    fn kept(&self, output: &str, code: Option<i32>) -> Kept {
        let Some(bounds) = self.profile.bounds() else { return Kept::default() };
        let packages = if code == Some(0) { Vec::new() } else { places::packages_outside(&self.place.cwd) };
        kept::look(&Over { bounds, cwd: &self.place.cwd, output, code, packages: &packages })
    }

    /// Secrets that this command made are shown to the next ones.
    fn note_made(&self) {
        if self.sandbox != Sandbox::Workspace {
            return;
        }
        let home = std::env::home_dir();
        let after = match self.told.waited_for {
            true => places::secrets_in(&self.place.cwd, home.as_deref()),
            false => Vec::new(),
        };
        let new = after.into_iter().filter(|path| !self.secrets.contains(path));
        let known = &self.place.allowances.granted.unmasked;
        made::note(&self.place.session_dir, new, self.told.waited_for.then_some(known.as_slice()));
    }

    /// One sentence for each of them, and what to do.
    fn protected(&self, heading: &str, changes: &[Change]) -> String {
        let mut said = vec![heading.to_owned()];
        for change in changes.iter().take(MOST_TOLD) {
            let path = change.path.strip_prefix(&self.place.cwd).unwrap_or(&change.path).display().to_string();
            let path = super::input::one_line(&path, 200);
            said.push(match &change.what {
                What::Made => format!("- {path} is new"),
                What::Changed(before) => format!("- {path} was changed{}", self.saved(&change.path, before.as_deref())),
                What::Gone(before) => format!("- {path} was removed{}", self.saved(&change.path, before.as_deref())),
            });
        }
        if let Some(more) = changes.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            said.push(format!("- and {more} more"));
        }
        said.join("\n")
    }

    /// Where the earlier content lies now.
    fn saved(&self, path: &Path, before: Option<&[u8]>) -> String {
        let Some(before) = before else { return String::new() };
        // Not below `data/`, which commands write: a link that they lay there would lead lisle out of it.
        match keep(&self.place.session_dir.join("protected"), path, before) {
            Ok(copy) => format!("; what it held before is in {}", copy.display()),
            Err(error) => format!("; what it held before could not be kept: {error}"),
        }
    }
}

const BREACH: &str = "This command made or changed what configures or runs code, which is to be asked for first. Tell the \
    user, and undo it unless it is wanted:";
const BY_GIT: &str = "With the state of the repository git changed what configures or runs code. Tell the user:";

/// The most changes that are told one by one.
const MOST_TOLD: usize = 10;

/// What is open to a command of the workspace profile beside what was answered: repositories of this machine that are
/// remotes of this one, secrets that the user's own settings name, and those that commands of this session made.
fn opened(place: &Place, home: Option<&Path>) -> Allowances {
    let mut out = (*place.allowances).clone();
    let own = |path: &Path| place.own_dirs.iter().any(|own| path.starts_with(own) || own.starts_with(path));
    let wide = |path: &Path| home.is_some_and(|home| home.starts_with(path)) || path.components().count() < 3;
    if let Some(repository) = Repository::of(&place.cwd) {
        let remotes = repository.local_remotes().into_iter().map(|(_, path)| path);
        out.granted.readable.extend(remotes.filter(|path| !own(path) && !wide(path) && !is_secret(path)));
    }
    let named = out.readable.iter().filter(|path| is_secret(path) && !own(path)).cloned().collect::<Vec<_>>();
    out.granted.unmasked.extend(named);
    out.granted.unmasked.extend(made::unchanged(&place.session_dir));
    out
}

fn site<'a>(place: &'a Place, told: &'a Told, home: Option<&'a Path>) -> Site<'a> {
    Site {
        cwd: &place.cwd,
        session_dir: &place.session_dir,
        own_dirs: &place.own_dirs,
        allowances: &place.allowances,
        named: &told.named,
        approved: &told.approved,
        moves: told.moves,
        home,
        namespaces: able::spaces(&place.runner),
    }
}

/// Writes the content into a file that was not there.
fn keep(folder: &Path, path: &Path, content: &[u8]) -> std::io::Result<PathBuf> {
    use std::io::Write;
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut n = 1;
    loop {
        let copy = folder.join(format!("{n}-{name}"));
        match std::fs::File::create_new(&copy) {
            Ok(mut file) => {
                file.write_all(content)?;
                return Ok(copy);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && n < 10_000 => n += 1,
            Err(error) => return Err(error),
        }
    }
}
