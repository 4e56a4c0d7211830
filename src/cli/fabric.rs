//! Lists, texts and deletions of `lisle run` in the place of a run: Fabric's options of the same names, with one name a
//! line so that other programs can take them.

use super::args::{Delete, ListingArgs};
use super::exit::Exit;
use super::output::{complain, say};
use super::prompts;
use crate::domain::SessionId;
use crate::domain::prompt_text::PromptKind;
use crate::runtime::setup::Bootstrap;

/// Does what is asked for; `None` if a run is.
pub(super) fn run(bootstrap: &Bootstrap, args: &ListingArgs) -> Option<Exit> {
    let ListingArgs {
        listpatterns,
        liststrategies,
        listcontexts,
        listsessions,
        readpattern,
        printcontext,
        printsession,
        wipecontext,
        wipesession,
    } = args;
    let folders = bootstrap.prompts();
    let lists = [
        (*listpatterns, PromptKind::Pattern),
        (*liststrategies, PromptKind::Strategy),
        (*listcontexts, PromptKind::Context),
    ];
    if let Some((_, kind)) = lists.into_iter().find(|(asked, _)| *asked) {
        let names: Vec<String> = folders.list(kind).into_iter().map(|file| file.name).collect();
        if names.is_empty() {
            prompts::empty(&folders, kind);
        }
        return Some(lines(names));
    }
    if *listsessions {
        return Some(sessions(bootstrap));
    }
    if let Some(name) = readpattern {
        return Some(prompts::show(&folders, PromptKind::Pattern, name));
    }
    if let Some(name) = printcontext {
        return Some(prompts::show(&folders, PromptKind::Context, name));
    }
    if let Some(name) = wipecontext {
        return Some(match folders.delete(PromptKind::Context, name) {
            Ok(_) => Exit::Done,
            Err(error) => prompts::failed(&error),
        });
    }
    if let Some(name) = printsession {
        return Some(match named(bootstrap, name) {
            Ok(id) => super::sessions::show_one(bootstrap, &id, false),
            Err(exit) => exit,
        });
    }
    let name = wipesession.as_ref()?;
    Some(match named(bootstrap, name) {
        Ok(id) => super::change::delete(bootstrap, &Delete { ids: vec![id], now: false, yes: true }),
        Err(exit) => exit,
    })
}

fn lines(names: impl IntoIterator<Item = String>) -> Exit {
    say(&names.into_iter().map(|name| name + "\n").collect::<String>());
    Exit::Done
}

/// Names of the sessions, latest first; those without one have their id.
fn sessions(bootstrap: &Bootstrap) -> Exit {
    let mut all = bootstrap.store.list().sessions;
    all.retain(|meta| !meta.hidden && !meta.archived);
    all.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
    lines(all.into_iter().map(|meta| meta.names.alias.unwrap_or_else(|| meta.id.as_str().to_owned())))
}

/// The session of that name or id.
///
/// # Errors
/// The exit, once the nearest name was told.
pub(super) fn named(bootstrap: &Bootstrap, name: &str) -> Result<SessionId, Exit> {
    bootstrap.store.named(name).ok_or_else(|| {
        let near =
            bootstrap.store.nearest_session(name).map_or_else(String::new, |near| format!(". Did you mean {near:?}?"));
        complain(&format!("lisle: no session {name:?}{near}"));
        Exit::Usage
    })
}
