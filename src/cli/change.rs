//! `lisle sessions set`, `archive`, `delete` …: what changes sessions. Each goes on with the others when one cannot be
//! changed, and the exit status tells.

use super::args::{Branch, Delete, Restore, Set, Several};
use super::definitions::{self, MistakesReported, now};
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::domain::property::{Properties, split_label};
use crate::domain::property_change::PropertyChange;
use crate::domain::session::TitleFrom;
use crate::domain::trash::TrashId;
use crate::domain::{SessionId, SessionMeta, sanitise};
use crate::protocol::{Command, EngineCommand, EngineEvent, Event, SessionCommand};
use crate::runtime::gateway;
use crate::runtime::setup::Bootstrap;
use crate::store::{Deleted, StoreError};
use std::io::{BufRead, IsTerminal, Write};

/// Way of a change to a session that the gateway has open: the commands that do the same there, and what came of them.
struct ByGateway<'a, T> {
    bootstrap: &'a Bootstrap,
    commands: &'a dyn Fn(&SessionId) -> Vec<Command>,
    after: &'a AfterChange<'a, T>,
}

/// Result of a change, from the events that came until it was done.
type AfterChange<'a, T> = dyn Fn(&SessionId, &[Event]) -> Result<T, StoreError> + 'a;

impl<T> ByGateway<'_, T> {
    /// The outcome; `None` if no gateway has the home.
    fn change(&self, id: &SessionId) -> Option<Result<T, String>> {
        let commands = (self.commands)(id);
        let sent = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(gateway::send(self.bootstrap, commands))
        })?;
        Some(sent.and_then(|events| (self.after)(id, &events).map_err(|error| format!("{error}."))))
    }
}

/// Does something to each session and tells of those that it cannot be done to.
fn each<T>(
    ids: &[SessionId],
    not: &str,
    gateway: &ByGateway<'_, T>,
    mut act: impl FnMut(&SessionId) -> Result<T, StoreError>,
) -> (Vec<T>, Exit) {
    let mut done = Vec::new();
    let mut exit = Exit::Done;
    for (at, id) in ids.iter().enumerate() {
        // Named twice is meant once.
        if ids.iter().take(at).any(|before| before == id) {
            continue;
        }
        match act(id) {
            Ok(result) => done.push(result),
            Err(StoreError::Held { holder, .. }) => match gateway.change(id) {
                Some(Ok(result)) => done.push(result),
                Some(Err(why)) => {
                    complain(&format!("lisle: {id} was not {not}: {why}"));
                    exit = Exit::Failed;
                }
                None => {
                    complain(&format!("lisle: {id} was not {not}: open in {holder}. Close it there."));
                    exit = Exit::Failed;
                }
            },
            Err(error) => {
                complain(&format!("lisle: {id} was not {not}: {}.", error.at_end()));
                exit = Exit::Failed;
            }
        }
    }
    (done, exit)
}

fn usage(why: &str) -> Exit {
    complain(&format!("lisle: {why}"));
    Exit::Usage
}

/// A session as the gateway left it.
fn read(bootstrap: &Bootstrap, id: &SessionId) -> Result<SessionMeta, StoreError> {
    bootstrap.store.read(id, 0).map(|seen| seen.meta)
}

/// Prints the sessions where that is wanted.
fn tell(changed: &[SessionMeta], json: bool, exit: Exit) -> Exit {
    if !json {
        return exit;
    }
    match print_json(&changed) {
        Exit::Done => exit,
        failed => failed,
    }
}

pub(super) fn set(bootstrap: &Bootstrap, args: &Set) -> Exit {
    let changes = match changes(args, bootstrap) {
        Ok(changes) => changes,
        Err(why) => return usage(&why),
    };
    let title = args.title.as_ref().map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    if title.as_ref().is_some_and(String::is_empty) {
        return usage("empty title");
    }
    if title.is_some() && args.ids.len() > 1 {
        return usage("a title needs exactly one session");
    }
    if let Some(name) = args.name.as_deref().filter(|name| !name.is_empty()) {
        let [id] = args.ids.as_slice() else { return usage("a name needs exactly one session") };
        if let Err(why) = bootstrap.store.may_be_named(id, name) {
            return usage(&why);
        }
    }
    let wanted = &bootstrap.wanted;
    let cwd = wanted.cwd.as_ref().and_then(|dir| dir.canonicalize().ok());
    if changes.is_empty() && title.is_none() && wanted.mode.is_none() && cwd.is_none() {
        return usage("nothing to change: use --title, --status, --label … (see lisle sessions set --help)");
    }
    let at = now();
    let commands = |id: &SessionId| {
        let sessions = vec![id.clone()];
        let mut all: Vec<Command> = changes
            .iter()
            .map(|change| EngineCommand::Change { sessions: sessions.clone(), change: change.clone() })
            .map(Command::Engine)
            .collect();
        let title = title.clone().map(|title| SessionCommand::Rename { title });
        let mode = wanted.mode.map(|mode| SessionCommand::Mode { mode, drop_plan: false });
        let own = title.into_iter().chain(mode).chain(cwd.clone().map(SessionCommand::Cwd));
        all.extend(own.map(|command| Command::Session { id: id.clone(), command }));
        all
    };
    let gateway = ByGateway { bootstrap, commands: &commands, after: &|id, _| read(bootstrap, id) };
    let (changed, exit) = each(&args.ids, "changed", &gateway, |id| {
        bootstrap.store.alter(id, |meta| {
            for change in &changes {
                change.apply(meta, at);
            }
            if let Some(title) = &title {
                meta.title.clone_from(title);
                meta.title_from = TitleFrom::User;
            }
            if let Some(mode) = wanted.mode {
                meta.mode = mode;
            }
            if let Some(cwd) = &cwd {
                meta.cwd.clone_from(cwd);
            }
        })
    });
    tell(&changed, args.json, exit)
}

/// The changes that are asked for, labels taken away before others are given.
fn changes(args: &Set, bootstrap: &Bootstrap) -> Result<Vec<PropertyChange>, String> {
    let asks = !(args.status.is_none() && args.label.is_empty() && args.unlabel.is_empty());
    let properties = definitions::read(bootstrap, if asks { MistakesReported::Yes } else { MistakesReported::No });
    let mut changes = Vec::new();
    if let Some(words) = &args.status {
        changes.push(PropertyChange::Status(definitions::status(&properties, words)?.id.clone()));
    }
    for words in &args.unlabel {
        // One that is not defined any more can be taken away, too.
        let id = properties.find_label(words).map_or_else(|| split_label(words).0.to_owned(), |label| label.id.clone());
        changes.push(PropertyChange::RemoveLabel(id));
    }
    for words in &args.label {
        changes.push(PropertyChange::AddLabel(entry(&properties, words)?));
    }
    if let Some(name) = &args.name {
        changes.push(PropertyChange::Name(Some(name.clone()).filter(|name| !name.is_empty())));
    }
    let both = [
        (args.flag, PropertyChange::Flagged(true)),
        (args.unflag, PropertyChange::Flagged(false)),
        (args.unread, PropertyChange::Unread(true)),
        (args.read, PropertyChange::Unread(false)),
        (args.hide, PropertyChange::Hidden(true)),
        (args.unhide, PropertyChange::Hidden(false)),
    ];
    changes.extend(both.into_iter().filter(|(wanted, _)| *wanted).map(|(_, change)| change));
    Ok(changes)
}

/// The entry for what was written: the label by its id or its name, and a value of its type.
fn entry(properties: &Properties, words: &str) -> Result<String, String> {
    let (name, value) = split_label(words);
    let id = &definitions::label(properties, name)?.id;
    let entry = value.map_or_else(|| id.clone(), |value| format!("{id}::{value}"));
    properties.check_label(&entry).map(|()| entry)
}

pub(super) fn archive(bootstrap: &Bootstrap, args: &Several, archived: bool) -> Exit {
    let at = now();
    let not = if archived { "archived" } else { "unarchived" };
    let change = PropertyChange::Archived(archived);
    let commands = |id: &SessionId| {
        vec![Command::Engine(EngineCommand::Change { sessions: vec![id.clone()], change: change.clone() })]
    };
    let gateway = ByGateway { bootstrap, commands: &commands, after: &|id, _| read(bootstrap, id) };
    let (changed, exit) = each(&args.ids, not, &gateway, |id| bootstrap.store.change(id, &change, at));
    tell(&changed, args.json, exit)
}

pub(super) fn branch(bootstrap: &Bootstrap, args: &Branch) -> Exit {
    let made = bootstrap.store.branch(&args.id, args.at.as_ref(), now());
    match made.map(|made| bootstrap.store.title_branch(made, args.title.clone())) {
        Ok(meta) if args.json => print_json(&meta),
        Ok(meta) => {
            say(&format!("{}\n", meta.id));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: can't branch {}: {}.", args.id, error.at_end()));
            Exit::Failed
        }
    }
}

pub(super) fn delete(bootstrap: &Bootstrap, args: &Delete) -> Exit {
    let mut worktrees = Vec::new();
    let mut lines = String::new();
    for id in &args.ids {
        // A session that cannot be read is reported when it is deleted.
        if let Ok(seen) = bootstrap.store.read(id, 0) {
            lines.push_str(&format!("  {id}  {}\n", sanitise::clean_line(seen.meta.shown_title())));
            worktrees.extend(seen.meta.worktree.map(|tree| (id.clone(), tree)));
        }
    }
    if !args.yes {
        let what = if args.now { "Delete permanently:" } else { "Move to the trash:" };
        match confirmed(&format!("{what}\n{lines}")) {
            Some(true) => {}
            Some(false) => {
                complain("lisle: nothing deleted");
                return Exit::Failed;
            }
            None => return usage("confirmation needs a terminal; use --yes to delete without asking."),
        }
    }
    let at = now();
    let commands =
        |id: &SessionId| vec![Command::Engine(EngineCommand::Delete { sessions: vec![id.clone()], now: args.now })];
    let tell_pages = |id: &SessionId, pages: usize| {
        if pages > 0 {
            complain(&format!("lisle: shared pages of {id} revoked: {pages}."));
        }
    };
    let by_gateway = |id: &SessionId, events: &[Event]| {
        let gone = events.iter().find_map(|event| match event {
            Event::Engine(EngineEvent::Deleted { session, trash, pages }) if session == id => Some((trash, *pages)),
            _ => None,
        });
        let (trash, pages) = gone.unwrap_or((&None, 0));
        tell_pages(id, pages);
        Ok(trash.clone())
    };
    let gateway = ByGateway { bootstrap, commands: &commands, after: &by_gateway };
    let (names, exit) = each(&args.ids, "deleted", &gateway, |id| {
        let (trash, pages) = if args.now {
            (None, bootstrap.store.delete_now(id)?)
        } else {
            let Deleted { trash, pages } = bootstrap.store.delete(id, at)?;
            (Some(trash), pages)
        };
        tell_pages(id, pages);
        if let Some((_, tree)) = worktrees.iter().find(|(of, _)| of == id) {
            let path = tree.path.display();
            complain(&format!("lisle: kept the git worktree of {id}: {path} on branch {}.", tree.branch));
        }
        Ok(trash)
    });
    let mut out = String::new();
    for name in names.into_iter().flatten() {
        out.push_str(&name.0);
        out.push('\n');
    }
    say(&out);
    exit
}

/// Asks on the terminal; `None` where there is none.
fn confirmed(question: &str) -> Option<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let mut err = std::io::stderr().lock();
    let asked = write!(err, "{}Continue? [y/N] ", sanitise::clean(question)).and_then(|()| err.flush());
    let mut answer = String::new();
    if asked.is_err() || stdin.lock().read_line(&mut answer).is_err() {
        return None;
    }
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Name in the trash; of a session id, that of the newest session.
fn in_trash(bootstrap: &Bootstrap, written: &TrashId) -> TrashId {
    let trash = bootstrap.store.trash();
    let of_id = || trash.iter().find(|one| one.session.as_str() == written.0 && !one.cleared);
    let found = trash.iter().find(|one| one.trash == *written).or_else(of_id);
    found.map_or_else(|| written.clone(), |one| one.trash.clone())
}

pub(super) fn restore(bootstrap: &Bootstrap, args: &Restore) -> Exit {
    let mut restored = Vec::new();
    let mut exit = Exit::Done;
    for trash in &args.trash {
        let trash = &in_trash(bootstrap, trash);
        match bootstrap.store.restore(trash) {
            Ok(meta) => restored.push(meta),
            Err(error) => {
                complain(&format!("lisle: can't restore {}: {}.", trash.0, error.at_end()));
                exit = Exit::Failed;
            }
        }
    }
    if !args.json {
        say(&restored.iter().map(|meta| format!("{}\n", meta.id)).collect::<String>());
    }
    tell(&restored, args.json, exit)
}
