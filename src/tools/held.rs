//! What holds one command back: its profile, looked up right before it starts, and what is to be told after it.
//!
//! How a profile is made and enforced is the sandbox's; which one a command gets was decided with the call.

use super::Place;
use crate::domain::permission::Sandbox;
use crate::sandbox::guard::{Change, Guard, What};
use crate::sandbox::places::{self, Moves, Site};
use crate::sandbox::proxy::Refusals;
use crate::sandbox::refusal::HostFiles;
use crate::sandbox::{Network, Profile, able, refusal};
use std::path::{Path, PathBuf};

/// What the line of a command says of its places.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// Paths that it names literally, outside of the working directory.
    pub named: Vec<PathBuf>,
    /// Secrets that it names, and that were therefore asked about.
    pub approved: Vec<PathBuf>,
    /// Whether it does nothing but move between states of the repository.
    pub moves: Moves,
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
    /// Hosts that it was not let reach.
    pub refusals: Refusals,
}

impl Held {
    /// Looks up the places of a command that is about to start. Blocks.
    pub fn new(place: Place, sandbox: Sandbox, told: Told) -> Self {
        let home = std::env::home_dir();
        let site = site(&place, &told, home.as_deref());
        let (profile, guard, variables) = match sandbox {
            Sandbox::None => (Profile::Open, None, Vec::new()),
            Sandbox::ReadOnly => (places::read_only(&site), None, Vec::new()),
            Sandbox::Workspace => (places::workspace(&site), Some(Guard::before(&site)), places::redirected(&site)),
        };
        Self { sandbox, place, told, profile, variables, guard, refusals: Refusals::default() }
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
            let changes = guard.after(&site(&self.place, &self.told, home.as_deref()));
            let (by_git, others): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(|change| change.by_git);
            if !others.is_empty() {
                out.push(self.protected(BREACH, &others));
            }
            if !by_git.is_empty() {
                out.push(self.protected(BY_GIT, &by_git));
            }
        }
        let network = self.network();
        match refusal::hosts(&self.refusals.all(), &self.files()) {
            Some(refused) => out.push(refused),
            None => out.extend(refusal::hint(self.sandbox, network, &self.place.cwd, output, code)),
        }
        if code != Some(0)
            && let Some(bounds) = self.profile.bounds()
        {
            let is_hidden = |path: &Path| path.symlink_metadata().is_ok() && !bounds.shows(path);
            out.extend(refusal::left_out(output, code, &is_hidden));
            let mut packages = places::packages_outside(&self.place.cwd);
            packages.retain(|path| is_hidden(path));
            out.extend(refusal::packages(code, output, &packages));
        }
        out
    }

    /// Where the user opens a host for good.
    fn files(&self) -> HostFiles {
        let own = &self.place.own_dirs;
        let rules = own.iter().find(|path| path.ends_with("permissions.json")).cloned();
        let config = own.first().filter(|path| !path.ends_with("permissions.json")).map(|dir| dir.join("config.toml"));
        HostFiles {
            rules: rules.unwrap_or_else(|| "permissions.json".into()),
            config: config.unwrap_or_else(|| "config.toml".into()),
        }
    }

    /// One sentence for each of them, and what to do.
    fn protected(&self, heading: &str, changes: &[Change]) -> String {
        let mut said = vec![heading.to_owned()];
        for change in changes.iter().take(MOST_TOLD) {
            let path = change.path.strip_prefix(&self.place.cwd).unwrap_or(&change.path).display().to_string();
            let path = super::input::one_line(&path, 200);
            said.push(match &change.what {
                What::Made => format!("- {path} is new"),
                What::Changed(before) => format!("- {path} was changed{}", self.kept(&change.path, before.as_deref())),
                What::Gone(before) => format!("- {path} was removed{}", self.kept(&change.path, before.as_deref())),
            });
        }
        if let Some(more) = changes.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            said.push(format!("- and {more} more"));
        }
        said.join("\n")
    }

    /// Where the earlier content lies now.
    fn kept(&self, path: &Path, before: Option<&[u8]>) -> String {
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
