//! Commands of the user's own, and words after a slash that are no command.

use crate::app::composer::send;
use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{draft, overlay, session_list};
use crate::app::slash as commands;
use crate::app::slash::{Call, Slash, Unknown};
use crate::app::state::State;
use crate::app::state::overlay::{Confirm, Deed};
use crate::domain::extension::ExtensionOrigin;
use crate::domain::{Level, Notice, nearest};

/// Runs an offered command; one that cannot do without words is completed instead.
pub(crate) fn accept(state: &mut State, slash: Slash) {
    if matches!(slash, Slash::Steer | Slash::Attach | Slash::Enhance) {
        return state.composer_mut().set(&format!("/{} ", slash.word()));
    }
    state.composer_mut().take();
    state.follow_up(Intent::Run(Call { slash, args: String::new() }));
}

/// A word after the slash that is no command.
pub(crate) fn unknown(state: &mut State, unknown: &Unknown) {
    let text = format!("No command /{}", unknown.word);
    let hint = match nearest_command(state, &unknown.word) {
        Some(near) => format!("did you mean /{near}? A leading space sends it as text"),
        None => "/help lists commands; a leading space sends it as text".to_owned(),
    };
    state.notify(Notice::new(Level::Warning, text).hint(hint));
}

/// A command of the user's own was chosen: it runs, or its arguments are written first. A draft is not lost for it.
pub(crate) fn begin_own(state: &mut State, name: &str, fx: &mut Vec<Effect>) {
    let Some(at) = place_of(state, name) else { return };
    draft::keep_draft(state, fx);
    match state.drafts.commands.get(at) {
        Some(own) if !own.hint.is_empty() => {
            let text = format!("/{} ", own.name);
            state.composer_mut().set(&text);
        }
        _ => run_own(state, at, "", fx),
    }
}

/// A command of the user's own: its text is sent. One that came with the repository is shown before its first use.
pub(crate) fn run_own(state: &mut State, at: usize, args: &str, fx: &mut Vec<Effect>) {
    let Some(own) = state.drafts.commands.get(at).cloned() else { return };
    if own.is_of_engine() && own.trusted {
        let text = format!("/{} {args}", own.name);
        send::send(state, text.trim_end().to_owned(), send::How::Queue, fx);
        return;
    }
    if own.is_of_engine() {
        let text = format!("Not sent: /{} is not trusted yet", own.name);
        return state.notify(Notice::new(Level::Warning, text).hint("/trust shows what it runs and allows"));
    }
    let text = own.fill(args);
    if own.origin != ExtensionOrigin::Repository {
        send::send(state, text, send::How::Queue, fx);
        return;
    }
    if state.drafts.seen_commands.contains(&own.hash) {
        return send::send_of_others(state, text, fx);
    }
    let mut says = vec![format!("From the repository: {}", own.path.display()), String::new()];
    says.extend(text.lines().map(str::to_owned));
    let deed = Deed::Own { hash: own.hash, text };
    let title = format!("Send the text of /{}?", own.name);
    overlay::confirm(state, Confirm::new(title, says, "send", deed));
}

/// The text of a repository's command was seen and is sent; it is not asked for again until the file changes.
pub(crate) fn send_own(state: &mut State, hash: String, text: String, fx: &mut Vec<Effect>) {
    state.drafts.seen_commands.insert(hash);
    session_list::keep_face(state, fx);
    send::send_of_others(state, text, fx);
}

/// The names of all commands, for the nearest one to a slip.
pub(crate) fn nearest_command(state: &State, word: &str) -> Option<String> {
    let own = state.drafts.slashed().map(|(_, own)| own.name.as_str());
    let all = Slash::ALL.iter().map(|slash| slash.word()).chain(own);
    nearest::nearest(&word.to_lowercase(), all).map(str::to_owned)
}

fn place_of(state: &State, name: &str) -> Option<usize> {
    state.drafts.slashed().find(|(_, own)| own.name == name).map(|(place, _)| place)
}

/// The command of the user's own that a draft calls, by its place, and what follows it.
pub(crate) fn own(state: &State, draft: &str) -> Option<(usize, String)> {
    let Some(Err(unknown)) = commands::read(draft) else { return None };
    let at = place_of(state, &unknown.word.to_lowercase())?;
    let args = draft.trim().split_once(char::is_whitespace).map_or("", |(_, args)| args.trim());
    Some((at, args.to_owned()))
}
