//! `lisle sessions import --routes` and `export --routes`: session keys with their conversations, from and to the layout
//! of OpenClaw and Fased.

use super::args::{Export, Import};
use super::definitions::now;
use super::exit::Exit;
use super::output::{complain, print_json, say};
use super::routes::{agents_folder, failed, home, own};
use super::sessions::masked_words;
use crate::domain::count::count;
use crate::domain::{Mode, sanitise};
use crate::routes::key::{AgentId, OpaqueChannels};
use crate::routes::store::{
    AgentStore, ImportedRoute, RouteStore, StoreExport, StoreExportReport, StoreImport, StoreImportReport, store_path,
    stores_below,
};
use crate::runtime::environment::history_places;
use crate::runtime::setup::Bootstrap;
use crate::store::HistoryKind;
use crate::store::io::{Disk, Io};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn import(bootstrap: &Bootstrap, args: &Import) -> Exit {
    if args.from.is_some_and(|kind| kind != HistoryKind::Openclaw) {
        complain("lisle: --routes reads OpenClaw and Fased only: use --from openclaw.");
        return Exit::Usage;
    }
    let Some(config) = &bootstrap.settings.session else {
        return failed("nothing was imported, because config.toml has a mistake");
    };
    let io: Arc<dyn Io> = Arc::new(Disk);
    let places = places(args.path.as_deref());
    let stores: Vec<AgentStore> = places.iter().flat_map(|place| stores_below(&*io, place)).collect();
    if stores.is_empty() {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        return failed(&format!("no sessions.json of an agent in {}. Name a state directory", places.join(", ")));
    }
    let names = config.key_names(OpaqueChannels::default());
    let (agents, home, workspaces) = (agents_folder(bootstrap), home(), bootstrap.workspaces().ours);
    let workspace = |agent: &AgentId| bootstrap.store_in(&workspaces.join(agent.as_str()));
    let to = |agent: &AgentId| RouteStore::new(io.clone(), store_path(&agents, config.store.as_deref(), &home, agent));
    let mut report = StoreImportReport::default();
    for AgentStore { agent, path } in &stores {
        let from = RouteStore::new(io.clone(), path);
        let import = StoreImport {
            io: io.clone(),
            from: &from,
            agent,
            names: &names,
            workspace: &workspace,
            to: &to,
            // Anybody on a channel may have written what comes next.
            at_most: bootstrap.wanted.mode.unwrap_or(Mode::Explore),
            now: now(),
        };
        if let Err(error) = import.run(&mut report) {
            let source = path.display().to_string();
            report.failed.push(ImportedRoute { source, session: None, notes: vec![error.to_string()] });
        }
    }
    told(&report, args.json)
}

pub(super) fn export(bootstrap: &Bootstrap, args: &Export) -> Exit {
    let Some(out) = &args.out else { return Exit::Usage };
    let Some(config) = &bootstrap.settings.session else {
        return failed("nothing was exported, because config.toml has a mistake");
    };
    let out = std::path::absolute(out).unwrap_or_else(|_| out.clone()).join("agents");
    let io: Arc<dyn Io> = Arc::new(Disk);
    let names = config.key_names(OpaqueChannels::default());
    let workspaces = bootstrap.workspaces().ours;
    let workspace = |agent: &AgentId| bootstrap.store_in(&workspaces.join(agent.as_str()));
    let mut report = StoreExportReport::default();
    let mut exit = Exit::Done;
    for AgentStore { agent, path } in own(bootstrap, config, &*io) {
        let (from, target) = (RouteStore::new(io.clone(), path), store_path(&out, None, Path::new(""), &agent));
        if !from.exists() {
            continue;
        }
        let to = RouteStore::new(io.clone(), &target);
        let export = StoreExport {
            io: io.clone(),
            from: &from,
            agent: &agent,
            names: &names,
            workspace: &workspace,
            to: &to,
            now: now(),
        };
        match export.run(&mut report) {
            Ok(()) => _ = say(&format!("{}\n", target.display())),
            Err(error) => exit = failed(&error.to_string()),
        }
    }
    for line in report.skipped.iter().chain(report.rows.iter().filter(|line| !line.notes.is_empty())) {
        complain_of(line);
    }
    let skipped = report.skipped.len();
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    complain(&format!("lisle: {} exported{skipped}.", count(report.rows.len(), "session key", "session keys")));
    if report.masked > 0 {
        complain(&format!("lisle: {} masked.", masked_words(report.masked)));
    }
    exit
}

fn complain_of(line: &ImportedRoute) {
    let notes = line.notes.join(" ");
    complain(&format!("lisle: {}: {}.", sanitise::clean_line(&line.source), notes.trim_end_matches('.')));
}

/// Places to read: the path that was named, or the usual places that exist.
fn places(named: Option<&Path>) -> Vec<PathBuf> {
    match named {
        Some(path) => vec![std::path::absolute(path).unwrap_or_else(|_| path.to_owned())],
        None => {
            let all = history_places().into_iter().filter(|(kind, _)| *kind == HistoryKind::Openclaw);
            all.map(|(_, place)| place).collect()
        }
    }
}

fn told(report: &StoreImportReport, json: bool) -> Exit {
    let exit = if report.failed.is_empty() { Exit::Done } else { Exit::Failed };
    if json {
        return match print_json(report) {
            Exit::Done => exit,
            other => other,
        };
    }
    for line in report.rows.iter().chain(&report.earlier) {
        let session = line.session.as_ref().map(ToString::to_string).unwrap_or_default();
        say(&format!("{session}  {}\n", sanitise::clean_line(&line.source)));
    }
    for line in report.failed.iter().chain(&report.skipped) {
        complain_of(line);
    }
    let any = |number: usize, words: &str| (number > 0).then(|| format!("{number} {words}"));
    let earlier = report.earlier.len();
    let parts = [
        Some(format!("{} imported", count(report.rows.len(), "session key", "session keys"))),
        (earlier > 0).then(|| count(earlier, "earlier conversation", "earlier conversations")),
        any(report.unchanged, "unchanged"),
        any(report.skipped.len(), "skipped"),
        any(report.failed.len(), "failed"),
    ];
    complain(&format!("lisle: {}.", parts.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    exit
}
