//! Confinement of one command: its profile, looked up right before it starts, and the report after it.
//!
//! The sandbox makes and enforces a profile; which one a command gets was decided with the call.

use super::own_secrets;
use crate::domain::paths::is_secret;
use crate::domain::permission::Sandbox;
use crate::domain::sanitise::reveal_line;
use crate::sandbox::places::drafts::{self, DraftPath};
use crate::sandbox::places::{self, Moves, Site};
use crate::sandbox::protected_files::ChangedBy;
use crate::sandbox::proxy::Refusals;
use crate::sandbox::repository::Repository;
use crate::sandbox::withheld::refusal::{self, HostFiles};
use crate::sandbox::withheld::{self, EndedCommand, Withheld};
use crate::sandbox::{Allowances, Network, Profile, system_support};
use crate::tools::CallPlace;
use crate::tools::protected_files::decide::SettledChange;
use crate::tools::protected_files::watch::{self, Breaches, GuardedCommand};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Places that the line of a command names.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct NamedPlaces {
    /// The line itself, where there is one.
    pub line: String,
    /// Paths that it names literally, outside of the working directory.
    pub named: Vec<PathBuf>,
    /// Secrets that it names, and that were therefore asked about.
    pub approved: Vec<PathBuf>,
    /// Paths below `/tmp` that it names.
    pub in_temp: Vec<PathBuf>,
    /// Folders outside that it removes as a whole.
    pub mounted: Vec<PathBuf>,
    /// True if it does nothing but move between states of the repository.
    pub moves: Moves,
    /// The call waits for its end: what it makes meanwhile is its own work.
    pub waited_for: bool,
    /// Paths that were asked for and are not opened, and why, a line each.
    pub not_opened: Vec<String>,
}

/// Confinement of one command.
pub(in crate::tools) struct Confinement {
    sandbox: Sandbox,
    place: CallPlace,
    told: NamedPlaces,
    /// Profile that confines it.
    pub profile: Profile,
    /// Variables that it gets beside its own.
    pub variables: Vec<(String, PathBuf)>,
    guard: Option<GuardedCommand>,
    /// Secrets that were there before.
    secrets: Vec<PathBuf>,
    /// Paths below `/tmp` that it names and that were not there, with where they lie.
    new_temp: Vec<(PathBuf, PathBuf)>,
    /// Paths that it may make.
    drafts: Vec<DraftPath>,
    began: SystemTime,
    /// Hosts that it was not let reach.
    pub refusals: Refusals,
}

impl Confinement {
    /// Looks up the places of a command that is about to start. Blocks.
    pub fn new(mut place: CallPlace, sandbox: Sandbox, told: NamedPlaces) -> Self {
        let home = std::env::home_dir();
        watch::note_moves();
        if sandbox == Sandbox::Workspace {
            place.allowances = Arc::new(opened(&place, home.as_deref()));
        }
        let secrets = match sandbox {
            Sandbox::Workspace if told.waited_for => places::secrets_in(&place.cwd, home.as_deref()),
            _ => Vec::new(),
        };
        let site = site(&place, &told, home.as_deref());
        let drafts = if sandbox == Sandbox::Workspace {
            drafts::of(&place.allowances.granted.writable, &place.cwd)
        } else {
            Vec::new()
        };
        let (profile, is_guarded, variables) = match sandbox {
            Sandbox::None => (Profile::Open, false, Vec::new()),
            Sandbox::ReadOnly => (places::read_only(&site), false, Vec::new()),
            Sandbox::Workspace => (places::workspace(&site), true, places::redirected(&site)),
        };
        let guard = is_guarded.then(|| GuardedCommand::begin(&place, &told, profile.bounds()));
        let is_own =
            profile.bounds().is_some_and(|bounds| bounds.replaced.iter().any(|one| one.at == Path::new("/tmp")));
        let lies = |path: &PathBuf| Some(places::session_temp(&place.session_dir).join(places::below_temp(path)?));
        let in_temp = told.in_temp.iter().filter(|_| is_own).filter_map(|path| Some((path.clone(), lies(path)?)));
        let new_temp = in_temp.filter(|(_, lies)| lies.symlink_metadata().is_err()).collect();
        let began = SystemTime::now();
        let refusals = Refusals::default();
        Self { sandbox, place, told, profile, variables, guard, secrets, new_temp, drafts, began, refusals }
    }

    /// News of what it makes while it runs, where that is looked after.
    pub fn breaches(&self) -> Arc<Breaches> {
        self.guard.as_ref().map(GuardedCommand::breaches).unwrap_or_default()
    }

    /// Reach of the command into the network.
    pub fn network(&self) -> &Network {
        self.profile.bounds().map_or(&Network::Open, |bounds| &bounds.network)
    }

    /// Why it cannot run here as the settings want it.
    pub fn fault(&self) -> Option<String> {
        if self.guard.as_ref().is_some_and(|guard| !guard.is_whole()) {
            return Some(format!(
                "The command was not started: {} holds more files, or deeper folders, than lisle can look after, so nobody could tell what a \
                 command makes of those that configure or run code. Work in a folder of it. Called again with \
                 `outside: true`, the user is asked to let it run without a sandbox.",
                self.place.cwd.display()
            ));
        }
        if let Some(count) = self.profile.bounds().and_then(places::too_many_hidden) {
            return Some(format!(
                "The command was not started: {} holds so many secrets that they cannot be hidden from it one by one ({count}). Move \
                 them into a folder of their own, which is hidden as a whole, or work in another folder. Called again with \
                 `outside: true`, the user is asked to let it run without a sandbox.",
                self.place.cwd.display()
            ));
        }
        if *self.network() != Network::Proxy {
            return None;
        }
        let why = system_support::own_network(&self.place.runner).err()?;
        Some(format!(
            "The command was not started: the user's setting sandbox.network = \"hosts\" holds a command to certain hosts, \
             which needs namespaces, and this system does not allow them ({why}). Only the user can change that, with \
             sandbox.network = \"open\" or \"off\" in config.toml. Called again with `outside: true`, the user is asked to let \
             it run without a sandbox."
        ))
    }

    /// Report after the command: protected files that it made or changed, which are put back, and that a
    /// refusal may be why it failed. Blocks.
    pub fn notes(&self, output: &str, ended: CommandEnd<'_>) -> Notes {
        let code = ended.code;
        let mut out: Vec<String> =
            listed("Not opened by `access`, since nothing keeps it from commands:", &self.told.not_opened)
                .into_iter()
                .collect();
        out.extend(self.made());
        // One that holds something still is not removed by this.
        self.told.mounted.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
        let mut shown = Vec::new();
        let (mut put_back, mut told) = (Vec::new(), Vec::new());
        if let Some(guard) = &self.guard {
            for SettledChange { change, line, stays } in guard.end() {
                put_back.extend((change.by == ChangedBy::Command).then(|| change.path.clone()));
                let is_gits = change.by == ChangedBy::Git && change.path.iter().any(|part| part == ".git");
                shown.extend((!is_gits && !line.is_empty()).then(|| line.clone()));
                told.extend((!line.is_empty()).then_some((change.by, stays, line)));
            }
            for (by, stays, heading) in HEADINGS {
                let of = told.iter().filter(|(of, left, _)| (of, left) == (by, stays));
                let lines: Vec<String> = of.map(|(_, _, line)| line.clone()).collect();
                out.extend(listed(heading, &lines));
            }
        }
        let network = self.network();
        let mut kept = self.kept(output, ended);
        let withheld = kept.words(&self.place.cwd);
        // What can be named exactly is offered so, and not outside of the sandbox.
        let lists = [&kept.read, &kept.write, &kept.changed];
        let exact = !kept.sockets.is_empty() || lists.iter().any(|list| !list.is_empty());
        kept.refused(put_back);
        out.extend(kept.told(&self.place.cwd));
        match refusal::hosts(&self.refusals.all(), &self.files()) {
            Some(refused) => out.push(refused),
            None if exact => {}
            None => out.extend(refusal::hint(self.sandbox, network, &self.place.cwd, (&self.told.line, output), code)),
        }
        out.extend(self.private_temp());
        self.note_made();
        Notes { lines: out, user: ForUser { protected: shown, withheld } }
    }

    /// Paths that the command made below `/tmp`, where nobody else finds them.
    fn private_temp(&self) -> Option<String> {
        let made: Vec<_> = self.new_temp.iter().filter(|(_, lies)| lies.symlink_metadata().is_ok()).collect();
        let outer = |path: &Path| made.iter().any(|(other, _)| path != other && path.starts_with(other));
        let lines: Vec<String> = made
            .iter()
            .filter(|(path, _)| !outer(path))
            .map(|(path, lies)| format!("{} lies in {}", path.display(), lies.display()))
            .collect();
        listed("/tmp is a folder of this session alone. When the user is to find it, name the second path:", &lines)
    }

    /// Place at which the user opens a host for good.
    fn files(&self) -> HostFiles {
        let own = &self.place.own_dirs;
        let rules = own.iter().find(|path| path.ends_with("permissions.json")).cloned();
        let config = own.first().filter(|path| !path.ends_with("permissions.json")).map(|dir| dir.join("config.toml"));
        HostFiles {
            rules: rules.unwrap_or_else(|| "permissions.json".into()),
            config: config.unwrap_or_else(|| "config.toml".into()),
        }
    }

    /// Things that were kept from the command.
    fn kept(&self, output: &str, ended: CommandEnd<'_>) -> Withheld {
        let Some(bounds) = self.profile.bounds() else { return Withheld::default() };
        let packages = if ended.code == Some(0) { Vec::new() } else { places::packages_outside(&self.place.cwd) };
        withheld::look(&EndedCommand {
            bounds,
            cwd: &self.place.cwd,
            output,
            code: ended.code,
            packages: &packages,
            opened: ended.opened,
            since: Some(self.began),
            own: &self.place.own_dirs,
        })
    }

    /// Moves what the command made outside, as it was asked about, to its place. Lines about what was not moved.
    fn made(&self) -> Vec<String> {
        let Some(bounds) = self.profile.bounds().filter(|_| !self.drafts.is_empty()) else { return Vec::new() };
        let lines = drafts::settle(&self.drafts, bounds, &self.place.session_dir);
        listed("What this command made outside of the working directory:", &lines).into_iter().collect()
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
        let before: HashSet<&PathBuf> = self.secrets.iter().collect();
        let masked: HashSet<&Path> =
            self.profile.bounds().iter().flat_map(|bounds| &bounds.masked).map(PathBuf::as_path).collect();
        // What could not be looked at before was hidden with its folder, and what has another name by now is not made.
        let was_hidden = |path: &PathBuf| path.ancestors().any(|above| masked.contains(above));
        let new = after.into_iter().filter(|path| !before.contains(path) && !was_hidden(path));
        let known = &self.place.allowances.granted.made;
        own_secrets::note(&self.place.session_dir, self.began, new, self.told.waited_for.then_some(known.as_slice()));
    }
}

/// End of a command, as far as it says what was kept from it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tools) struct CommandEnd<'a> {
    /// Exit status.
    pub code: Option<i32>,
    /// Masked places that it opened, by their numbers in the profile; `None` where that is not known.
    pub opened: Option<&'a [u32]>,
}

/// Report after a command.
#[derive(Debug, Default)]
pub(in crate::tools) struct Notes {
    /// For the model, line by line.
    pub lines: Vec<String>,
    /// For the user.
    pub user: ForUser,
}

/// Report for the user after a command, a line each.
#[derive(Debug, Default)]
pub(in crate::tools) struct ForUser {
    /// Protected files that were made or changed, and what became of that.
    pub protected: Vec<String>,
    /// Paths and sockets that the sandbox kept from it.
    pub withheld: Vec<String>,
}

/// Authors of changes of protected files, whether what they wrote stays, and the text about them for the model.
const HEADINGS: &[(ChangedBy, bool, &str)] = &[
    (
        ChangedBy::Command,
        true,
        "This command made or changed what configures or runs code, and lisle could not take it back: it takes effect. Tell \
         the user before anything else:",
    ),
    (
        ChangedBy::Command,
        false,
        "This command made or changed what configures or runs code, which is to be asked for first. It does not take \
         effect. Tell the user:",
    ),
    (ChangedBy::NewRepository, false, "With a new repository came what configures or runs code. Tell the user:"),
    (
        ChangedBy::Unknown,
        false,
        "While this command ran, what configures or runs code was changed, perhaps by somebody else. Tell the user:",
    ),
    (
        ChangedBy::Git,
        false,
        "With the state of the repository git changed what configures or runs code. Tell the user:",
    ),
];

/// The heading with the first of the lines, and how many more there are.
fn listed(heading: &str, lines: &[String]) -> Option<String> {
    let mut said = vec![heading.to_owned()];
    // Names of files in them begin no line of their own.
    said.extend(lines.iter().take(MOST_TOLD).map(|line| format!("- {}", reveal_line(line))));
    if let Some(more) = lines.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        said.push(format!("- and {more} more"));
    }
    (!lines.is_empty()).then(|| said.join("\n"))
}

/// The most changes that are told one by one.
const MOST_TOLD: usize = 10;

/// Places open to a command of the workspace profile beside those of an answer: repositories of this machine that are
/// remotes of this one, secrets that the user's own settings name, and those that commands of this session made.
fn opened(place: &CallPlace, home: Option<&Path>) -> Allowances {
    let mut out = (*place.allowances).clone();
    let own = |path: &Path| place.own_dirs.iter().any(|own| path.starts_with(own) || own.starts_with(path));
    let wide = |path: &Path| home.is_some_and(|home| home.starts_with(path)) || path.components().count() < 3;
    if let Some(repository) = Repository::of(&place.cwd) {
        let remotes = repository.local_remotes().into_iter().map(|(_, path)| path);
        out.granted.readable.extend(remotes.filter(|path| !own(path) && !wide(path) && !is_secret(path)));
    }
    let named = out.readable.iter().filter(|path| is_secret(path) && !own(path)).cloned().collect::<Vec<_>>();
    out.granted.unmasked.extend(named);
    out.granted.made = own_secrets::unchanged(&place.session_dir);
    out
}

/// Looks up something at the place of a call that has not been decided on yet.
pub(in crate::tools) fn site_of<T>(place: &CallPlace, look: impl FnOnce(&Site<'_>) -> T) -> T {
    let home = std::env::home_dir();
    look(&site(place, &NamedPlaces::default(), home.as_deref()))
}

pub(in crate::tools) fn site<'a>(place: &'a CallPlace, told: &'a NamedPlaces, home: Option<&'a Path>) -> Site<'a> {
    Site {
        cwd: &place.cwd,
        session_dir: &place.session_dir,
        own_dirs: &place.own_dirs,
        allowances: &place.allowances,
        named: &told.named,
        approved: &told.approved,
        moves: told.moves,
        home,
        namespaces: system_support::spaces(&place.runner),
    }
}
