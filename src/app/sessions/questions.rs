//! Questions before something that is not easily undone.

use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::{Confirm, Deed};
use crate::domain::ids::SessionId;
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand, SessionCommand};

pub(crate) fn ask_clear(state: &mut State) {
    let Some(meta) = state.current_meta() else { return text::nothing_yet(state) };
    let mut says = vec![match meta.messages {
        0 => "Messages move to the trash; cost and tokens restart at zero.".to_owned(),
        1 => "1 message moves to the trash; cost and tokens restart at zero.".to_owned(),
        n => format!("{n} messages move to the trash; cost and tokens restart at zero."),
    }];
    says.push("Title, status, labels and settings stay. /trash keeps the messages for 30 days.".to_owned());
    if meta.activity != Activity::Idle {
        says.insert(0, "The running turn is stopped first.".to_owned());
    }
    let title = format!("Clear {}?", text::named(meta));
    let deed = Deed::Send(Command::Session { id: meta.id.clone(), command: SessionCommand::Clear });
    overlay::confirm(state, Confirm::new(title, says, "clear", deed));
}

/// Asks before sessions are deleted; with `now` they do not go to the trash.
pub(crate) fn ask_delete(state: &mut State, sessions: &[SessionId], now: bool) {
    let metas: Vec<&SessionMeta> = sessions.iter().filter_map(|id| state.sessions.meta(id)).collect();
    let (title, they) = match metas.as_slice() {
        [] => return text::nothing_yet(state),
        [one] => (format!("Delete {}?", text::named(one)), "It"),
        more => (format!("Delete {} sessions?", more.len()), "They"),
    };
    let one = metas.len() == 1;
    let mut says = Vec::new();
    if now {
        let verb = if one { "is" } else { "are" };
        says.push(format!("{they} {verb} deleted permanently. This can't be undone."));
    } else {
        let verb = if one { "goes" } else { "go" };
        says.push(format!("{they} {verb} to the trash. /trash keeps {} for 30 days.", if one { "it" } else { "them" }));
    }
    let running = metas.iter().filter(|meta| !matches!(meta.activity, Activity::Idle)).count();
    if running > 0 {
        says.push(if one {
            "Its running turn is stopped first.".to_owned()
        } else {
            format!("{running} running turns are stopped first.")
        });
    }
    let held = metas.iter().filter(|meta| meta.held_by.is_some()).count();
    if held > 0 {
        says.push(if one {
            "Another process is writing it; it stays until that process ends.".to_owned()
        } else {
            format!("{held} are being written by other processes and stay.")
        });
    }
    if let [meta] = metas.as_slice()
        && let Some(worktree) = &meta.worktree
    {
        says.push(format!("Its git worktree {} is kept if it has changes.", worktree.path.display()));
    }
    let sessions = metas.iter().map(|meta| meta.id.clone()).collect();
    let deed = Deed::Send(Command::Engine(EngineCommand::Delete { sessions, now }));
    overlay::confirm(state, Confirm::new(title, says, "delete", deed));
}

pub(crate) fn ask_take_over(state: &mut State) {
    let Some(meta) = state.current_meta() else { return text::nothing_yet(state) };
    let Some(holder) = meta.held_by.clone() else {
        return state.notify(Notice::new(Level::Info, "No other process holds this session"));
    };
    let says = vec![
        format!("{holder} is writing it now; this screen follows."),
        "Take over only from a process that hangs or that you can't reach.".to_owned(),
        "After that it is written here. The other process stops at its next write; its unsaved changes are lost."
            .to_owned(),
    ];
    let deed = Deed::Send(Command::Session { id: meta.id.clone(), command: SessionCommand::TakeOver });
    let title = format!("Take over {}?", text::named(meta));
    overlay::confirm(state, Confirm::new(title, says, "take over", deed));
}
