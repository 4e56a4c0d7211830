//! `lisle sessions list --routes` and `lisle sessions cleanup`: the stores of session keys, lisle's own and those of
//! OpenClaw and Fased.

use super::args::{CleanupArgs, ListArgs};
use super::definitions::now;
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::domain::sanitise;
use crate::routes::config::SessionConfig;
use crate::routes::key::{AgentId, KeyNames, OpaqueChannels, SessionKey};
use crate::routes::listing::RouteList;
use crate::routes::maintenance::{MaintenanceRequest, MaintenanceRun, STORE_FILE, StoreReport, all_stores};
use crate::routes::store::{
    AgentStore, Conversations, FolderConversations, Maintained, MaintainedStore, RouteStore, RouteStoreError,
    WorkspaceConversations, agent_of, agent_stores, maintain,
};
use crate::runtime::setup::Bootstrap;
use crate::store::io::{Disk, Io};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn list(bootstrap: &Bootstrap, args: &ListArgs) -> Exit {
    // Names of the main session are all that is needed of the settings.
    let config = bootstrap.settings.session.clone().unwrap_or_default();
    let names = config.key_names(OpaqueChannels::default());
    let io: Arc<dyn Io> = Arc::new(Disk);
    let stores = match &args.store {
        Some(path) => match foreign(path) {
            Ok(store) => vec![store],
            Err(why) => return failed(&why),
        },
        None => own(bootstrap, &config, &*io),
    };
    let mut list = RouteList::default();
    let mut exit = Exit::Done;
    for AgentStore { agent, path } in stores {
        match RouteStore::new(io.clone(), &path).read() {
            Ok(rows) => list.add(&agent, path, &names, rows.iter()),
            Err(error) => exit = failed(&error.to_string()),
        }
    }
    for key in &list.damaged {
        complain(&format!("lisle: row {key:?} is damaged and not listed."));
    }
    if exit != Exit::Done && list.stores.is_empty() {
        return exit;
    }
    if args.json {
        return printed(&list.json(now()), exit);
    }
    say_lines(&list.lines(now()));
    exit
}

pub(super) fn cleanup(bootstrap: &Bootstrap, args: &CleanupArgs) -> Exit {
    let Some(config) = &bootstrap.settings.session else {
        return failed("nothing was done, because config.toml has a mistake");
    };
    let cleanup = Cleanup {
        bootstrap,
        args,
        config,
        io: Arc::new(Disk),
        names: config.key_names(OpaqueChannels::default()),
        active: args.active_key.iter().cloned().collect(),
    };
    let stores = match cleanup.stores() {
        Ok(stores) => stores,
        Err(why) => return failed(&why),
    };
    if let (Some(key), Some(store)) = (&args.active_key, stores.first())
        && let Err(error) = SessionKey::resolve(key, &store.agent, &cleanup.names)
    {
        complain(&format!("lisle: --active-key: {error}."));
        return Exit::Usage;
    }
    let mut exit = Exit::Done;
    let mut done: Vec<Maintained> = Vec::new();
    for store in &stores {
        match cleanup.maintain(store) {
            Ok(one) => done.push(one),
            Err(error) => exit = failed(&error.to_string()),
        }
    }
    for (one, warning) in done.iter().flat_map(|one| one.warnings.iter().map(move |warning| (one, warning))) {
        complain(&format!("lisle: {}: {warning}.", one.report.store_path));
    }
    if done.iter().any(|one| one.has_failed) {
        exit = Exit::Failed;
    }
    if args.json { cleanup.print(done, exit) } else { say_reports(&done, exit) }
}

/// Run of `lisle sessions cleanup`.
struct Cleanup<'a> {
    bootstrap: &'a Bootstrap,
    args: &'a CleanupArgs,
    config: &'a SessionConfig,
    io: Arc<dyn Io>,
    names: KeyNames,
    active: BTreeSet<String>,
}

impl Cleanup<'_> {
    /// Stores that the arguments name.
    ///
    /// # Errors
    /// The unknown store or agent, as a sentence without its end.
    fn stores(&self) -> Result<Vec<AgentStore>, String> {
        if let Some(path) = &self.args.store {
            return foreign(path).map(|store| vec![store]);
        }
        let mut stores = own(self.bootstrap, self.config, &*self.io);
        if self.args.all_agents {
            return Ok(stores);
        }
        let agent = match &self.args.agent {
            Some(id) => AgentId::parse(id).map_err(|error| error.to_string())?,
            None => AgentId::default(),
        };
        let known: Vec<String> = stores.iter().map(|store| store.agent.to_string()).collect();
        stores.retain(|store| store.agent == agent);
        if stores.is_empty() {
            return Err(format!("unknown agent {:?}. Available: {}", agent.as_str(), known.join(", ")));
        }
        Ok(stores)
    }

    fn maintain(&self, store: &AgentStore) -> Result<Maintained, RouteStoreError> {
        let run = match (self.args.dry_run, self.args.enforce) {
            (true, _) => MaintenanceRun::DryRun,
            (false, true) => MaintenanceRun::Enforce,
            (false, false) => MaintenanceRun::ByMode,
        };
        let request = MaintenanceRequest {
            now: now(),
            config: &self.config.maintenance,
            run,
            fix_missing: self.args.fix_missing,
            active: &self.active,
        };
        let file = RouteStore::new(self.io.clone(), &store.path);
        let workspaces = self.bootstrap.workspaces().ours;
        let open = |agent: &AgentId| self.bootstrap.store_in(&workspaces.join(agent.as_str()));
        let io = self.io.clone();
        let conversations: Box<dyn Conversations> = if self.args.store.is_some() {
            Box::new(FolderConversations::beside(io, file.path()))
        } else {
            Box::new(WorkspaceConversations { io, agent: &store.agent, open: &open })
        };
        let place = MaintainedStore {
            store: &file,
            agent: &store.agent,
            names: &self.names,
            conversations: conversations.as_ref(),
        };
        maintain(place, &request)
    }

    fn print(&self, done: Vec<Maintained>, exit: Exit) -> Exit {
        let mut reports: Vec<StoreReport> = done.into_iter().map(|one| one.report).collect();
        if !self.args.all_agents {
            return reports.pop().map_or(exit, |report| printed(&report, exit));
        }
        let mode = reports.first().map_or(self.config.maintenance.mode, |report| report.mode);
        printed(&all_stores(mode, self.args.dry_run, &reports), exit)
    }
}

/// Stores of lisle's own agents.
pub(super) fn own(bootstrap: &Bootstrap, config: &SessionConfig, io: &dyn Io) -> Vec<AgentStore> {
    agent_stores(io, &agents_folder(bootstrap), config.store.as_deref(), &home())
}

/// Folder of lisle's agents.
pub(super) fn agents_folder(bootstrap: &Bootstrap) -> PathBuf {
    bootstrap.paths.data.join("agents")
}

/// Folder that `~` in `session.store` stands for.
pub(super) fn home() -> PathBuf {
    directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned()).unwrap_or_default()
}

/// Store that was named: the file, or the folder that it is in.
///
/// # Errors
/// A sentence without its end, if there is no such file.
fn foreign(named: &Path) -> Result<AgentStore, String> {
    let path: PathBuf = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    let path = if path.is_dir() { path.join(STORE_FILE) } else { path };
    match path.metadata() {
        Ok(_) => Ok(AgentStore { agent: agent_of(&path), path }),
        Err(error) => Err(format!("can't read {}: {error}", path.display())),
    }
}

fn say_reports(done: &[Maintained], exit: Exit) -> Exit {
    let mut lines: Vec<String> = Vec::new();
    for one in done {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(one.lines.iter().map(|line| sanitise::clean_line(line).into_owned()));
        if one.report.would_mutate && one.report.applied.is_none() {
            lines.push("Nothing changed. Apply with --enforce.".to_owned());
        }
    }
    say_lines(&lines);
    exit
}

fn say_lines(lines: &[String]) {
    say(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

/// Prints JSON; the exit is the one given unless that fails.
fn printed(value: &impl serde::Serialize, exit: Exit) -> Exit {
    match print_json(value) {
        Exit::Done => exit,
        other => other,
    }
}

pub(super) fn failed(why: &str) -> Exit {
    complain(&format!("lisle: {why}."));
    Exit::Failed
}
