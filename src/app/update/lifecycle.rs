//! Operations on whole sessions: clearing, deleting, restoring, taking over, and health.
//! Irreversible ones ask first, and say what happens and what stays.

use super::overlay::one_line;
use super::{overlay, panel, properties, rewind, rules, session, to};
use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::audit::Audit;
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Bin, Card, Confirm, Deed, Overlay, Prompt, Wanted};
use crate::app::state::rules::Purpose;
use crate::app::state::sessions::needs_you;
use crate::app::state::usage::Usage;
use crate::domain::contract::{Act, Command};
use crate::domain::export::Format;
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::inbox::{Change, HealthReport, Trashed};
use crate::domain::ledger::Ledger;
use crate::domain::nearest::nearest;
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::spending::Spending;
use crate::domain::{Level, Notice};
use crate::keymap::action::{HealthAction, SessionAction};
use std::path::{Path, PathBuf};

/// Rows below which there is no line above the conversation.
const LOW: u16 = 16;

pub(super) fn act(state: &mut State, verb: SessionAction, fx: &mut Vec<Effect>) {
    match verb {
        SessionAction::Status => properties::statuses(state, targets(state)),
        SessionAction::Labels => properties::labels(state, targets(state)),
        SessionAction::Branch => rewind::branch(state, fx),
        SessionAction::Parent => parent(state, fx),
        SessionAction::Child => child(state, fx),
        SessionAction::Retitle => {
            for id in targets(state) {
                fx.push(to(&id, Act::Retitle));
            }
        }
        SessionAction::Rewind => rewind::rewind(state, fx),
        SessionAction::Export => export(state, None, None, fx),
        SessionAction::Share => share(state, fx),
        SessionAction::Import => ask_import(state),
        SessionAction::Clear => ask_clear(state),
        SessionAction::Delete => ask_delete(state, &targets(state), false),
        SessionAction::Trash => open_trash(state, fx),
        SessionAction::Health => open_health(state, fx),
        SessionAction::Audit => open_audit(state, fx),
        SessionAction::Context => super::context::open(state, Default::default(), fx),
        SessionAction::Usage => open_usage(state, fx),
        SessionAction::Rules => rules::open(state, Purpose::List, fx),
        SessionAction::Trust => rules::open(state, Purpose::Trust, fx),
        SessionAction::Cwd => ask_cwd(state),
        SessionAction::TakeOver => ask_take_over(state),
        SessionAction::Workspace => super::workspace::open(state, fx),
        SessionAction::New
        | SessionAction::Worktree
        | SessionAction::Flag
        | SessionAction::Archive
        | SessionAction::Unarchive
        | SessionAction::Reset
        | SessionAction::Unread
        | SessionAction::Hide
        | SessionAction::Rename
        | SessionAction::Switch
        | SessionAction::Next
        | SessionAction::Previous
        | SessionAction::Position
        | SessionAction::Search => {}
    }
}

/// The sessions that a verb is for.
pub(super) fn targets(state: &State) -> Vec<SessionId> {
    state.chosen()
}

/// Changes properties of sessions.
pub(super) fn change(state: &mut State, sessions: Vec<SessionId>, change: Change, fx: &mut Vec<Effect>) {
    if sessions.is_empty() {
        return nothing_yet(state);
    }
    super::change::change(state, &sessions, change, fx);
}

pub(super) fn nothing_yet(state: &mut State) {
    state.notify(Notice::new(Level::Info, "There is no session yet."));
}

/// The title of a session in quotes, as one short line.
pub(super) fn named(meta: &SessionMeta) -> String {
    quoted(meta.shown_title())
}

pub(super) fn quoted(text: &str) -> String {
    let line = one_line(text);
    let short: String = line.chars().take(48).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("“{short}{cut}”")
}

/// Opens a question. Keys on their way were not meant for it.
pub(super) fn confirm(state: &mut State, confirm: Confirm) {
    overlay::open(state, Overlay::Confirm(Box::new(confirm)));
    panel::hush(state);
}

/// A yes.
pub(super) fn confirmed(state: &mut State, deed: Deed, fx: &mut Vec<Effect>) {
    match deed {
        // What goes to the trash can be taken back for a while.
        Deed::Send(Command::Delete { sessions, now: false }) => super::change::delete(state, sessions, fx),
        Deed::Workspace(folder) => super::workspace::leave(state, folder, fx),
        Deed::Send(command) => {
            if let Command::Verify { repair: true, .. } = command
                && let Some(Overlay::Health(card)) = state.overlays.last_mut()
            {
                card.busy = true;
            }
            fx.push(Effect::Send(command));
        }
        Deed::Copy(text) => fx.push(Effect::Copy(text)),
        Deed::Own { hash, text } => super::slash::send_own(state, hash, text, fx),
        Deed::Rewind { session, at, text, files: _ } => rewound(state, session, at, text, None, fx),
    }
}

/// Goes back to a message; with the files, where that was chosen.
pub(super) fn rewound(
    state: &mut State,
    session: SessionId,
    at: MessageId,
    text: Option<String>,
    files: Option<Vec<PathBuf>>,
    fx: &mut Vec<Effect>,
) {
    state.rewound = text.map(|text| (session.clone(), text));
    fx.push(Effect::Send(Command::Rewind { session, at, files }));
}

/// To a session that the one on the screen spawned; from one of these to the next.
fn child(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(meta) = state.current_meta() else { return nothing_yet(state) };
    let (here, root) = match &meta.parent {
        Some(parent) => (Some(meta.id.clone()), parent.session.clone()),
        None => (None, meta.id.clone()),
    };
    let all = state.sessions.spawned_by(&root);
    let next = match here.and_then(|here| all.iter().position(|meta| meta.id == here)) {
        Some(at) => all.get((at + 1) % all.len()).copied(),
        None => {
            let waits = all.iter().find(|meta| needs_you(meta));
            let works = all.iter().find(|meta| meta.activity != Activity::Idle);
            waits.or(works).or(all.last()).copied()
        }
    };
    match next.map(|meta| meta.id.clone()) {
        Some(id) => session::open(state, &id, fx),
        None => state.notify(Notice::new(Level::Info, "This session spawned no others.")),
    }
}

fn parent(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(parent) = state.current_meta().and_then(|meta| meta.parent.clone()) {
        if state.sessions.meta(&parent.session).is_some() {
            return session::open(state, &parent.session, fx);
        }
        let text = format!("{}, which spawned this session, is not here any more.", parent.session);
        return state.notify(Notice::new(Level::Warning, text).hint("/trash shows what was deleted"));
    }
    let Some(from) = state.current_meta().and_then(|meta| meta.branched_from.clone()) else {
        return state.notify(Notice::new(Level::Info, "This session is no branch of another one."));
    };
    if state.sessions.meta(&from.session).is_some() {
        session::open(state, &from.session, fx);
    } else {
        let text = format!("{}, of which this is a branch, is not here any more.", from.session);
        state.notify(Notice::new(Level::Warning, text).hint("/trash shows what was deleted"));
    }
}

fn ask_clear(state: &mut State) {
    let Some(meta) = state.current_meta() else { return nothing_yet(state) };
    let mut says = vec![match meta.messages {
        0 => "Its messages go to the trash; its cost and tokens count from zero.".to_owned(),
        1 => "Its message goes to the trash; its cost and tokens count from zero.".to_owned(),
        n => format!("Its {n} messages go to the trash; its cost and tokens count from zero."),
    }];
    says.push("Title, status, labels and settings stay. /trash has the messages for 30 days.".to_owned());
    if meta.activity != Activity::Idle {
        says.insert(0, "The turn that runs is stopped first.".to_owned());
    }
    let title = format!("Clear {}?", named(meta));
    let deed = Deed::Send(Command::Clear { session: meta.id.clone() });
    confirm(state, Confirm { title, says, verb: "clear".to_owned(), deed });
}

/// Asks before sessions are deleted; with `now` they do not go to the trash.
pub(super) fn ask_delete(state: &mut State, sessions: &[SessionId], now: bool) {
    let metas: Vec<&SessionMeta> = sessions.iter().filter_map(|id| state.sessions.meta(id)).collect();
    let (title, they) = match metas.as_slice() {
        [] => return nothing_yet(state),
        [one] => (format!("Delete {}?", named(one)), "It"),
        more => (format!("Delete {} sessions?", more.len()), "They"),
    };
    let one = metas.len() == 1;
    let mut says = Vec::new();
    if now {
        let verb = if one { "is" } else { "are" };
        says.push(format!("{they} {verb} gone at once and for good: there is no way back."));
    } else {
        let verb = if one { "goes" } else { "go" };
        says.push(format!("{they} {verb} to the trash. /trash has {} for 30 days.", if one { "it" } else { "them" }));
    }
    let running = metas.iter().filter(|meta| !matches!(meta.activity, Activity::Idle)).count();
    if running > 0 {
        says.push(if one {
            "Its turn runs and is stopped first.".to_owned()
        } else {
            format!("Turns run in {running} of them and are stopped first.")
        });
    }
    let held = metas.iter().filter(|meta| meta.held_by.is_some()).count();
    if held > 0 {
        says.push(if one {
            "Another process writes it: it stays where it is until that one ends.".to_owned()
        } else {
            format!("Other processes write {held} of them: those stay where they are.")
        });
    }
    if let [meta] = metas.as_slice()
        && let Some(worktree) = &meta.worktree
    {
        says.push(format!("Its git worktree {} is kept where it has changes.", worktree.path.display()));
    }
    let sessions = metas.iter().map(|meta| meta.id.clone()).collect();
    let deed = Deed::Send(Command::Delete { sessions, now });
    confirm(state, Confirm { title, says, verb: "delete".to_owned(), deed });
}

/// A branch was made: it is opened where it was made from.
pub(super) fn branched(state: &mut State, from: &SessionId, to: &SessionId, rewound: bool, fx: &mut Vec<Effect>) {
    let text = state.rewound.take_if(|(session, _)| session == from).map(|(_, text)| text);
    let title = state.sessions.meta(from).map(named).unwrap_or_else(|| from.to_string());
    if state.current_id() != Some(from) {
        return state.notify(Notice::new(Level::Info, format!("A branch of {title} is in the list.")));
    }
    session::open(state, to, fx);
    if let (Some(text), Some(open)) = (text.filter(|_| rewound), state.open.get_mut(to)) {
        open.composer.set(&text);
    }
    if state.size.height >= LOW {
        // A line above the conversation says so.
        return;
    }
    let key = state.keys.key_for(SessionAction::Parent);
    let words = if rewound { "This goes on from an earlier place of" } else { "This is a branch of" };
    state.notify(Notice::new(Level::Info, format!("{words} {title}.")).hint(format!("{key} goes there")));
}

fn open_trash(state: &mut State, fx: &mut Vec<Effect>) {
    overlay::open(state, Overlay::Trash(Bin::default()));
    fx.push(Effect::Send(Command::Trash));
}

/// Takes in the content of the trash. The selection stays on its row.
pub(super) fn trash(state: &mut State, rows: Vec<Trashed>) {
    let bin = state.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Trash(bin) => Some(bin),
        _ => None,
    });
    let Some(bin) = bin else { return };
    let selected = bin.rows.as_ref().and_then(|rows| rows.get(bin.selected)).map(|row| row.trash.clone());
    let place = rows.iter().position(|row| Some(&row.trash) == selected.as_ref()).unwrap_or(bin.selected);
    bin.selected = place.min(rows.len().saturating_sub(1));
    bin.rows = Some(rows);
}

/// Enter in the trash: takes the selected session back.
pub(super) fn restore(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Trash(bin)) = state.overlays.last() else { return };
    let Some(row) = bin.rows.as_ref().and_then(|rows| rows.get(bin.selected)) else { return };
    let (trash, title) = (row.trash.clone(), quoted(&row.title));
    fx.push(Effect::Send(Command::Restore { trash: vec![trash] }));
    // The engine says what is there afterwards, also when it could not be restored.
    fx.push(Effect::Send(Command::Trash));
    state.notify(Notice::new(Level::Info, format!("{title} comes back.")));
}

fn open_health(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return nothing_yet(state) };
    overlay::open(
        state,
        Overlay::Health(Card { session: id.clone(), report: None, busy: true, then_repair: false, scroll: 0 }),
    );
    fx.push(Effect::Send(Command::Verify { session: id, repair: false }));
}

fn open_audit(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return nothing_yet(state) };
    overlay::open(state, Overlay::Audit(Audit::new(id.clone())));
    fx.push(Effect::Send(Command::Audit { session: id }));
}

fn export(state: &mut State, to: Option<PathBuf>, format: Option<Format>, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else { return nothing_yet(state) };
    fx.push(Effect::Send(Command::Export { session, to, format }));
}

/// `/export PATH --format FORMAT`, in whatever order.
pub(super) fn export_to(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let mut words: Vec<&str> = args.split_whitespace().collect();
    let mut path = args.to_owned();
    let mut format = None;
    if let Some(at) = words.iter().position(|word| *word == "--format" || word.starts_with("--format=")) {
        let flag = words.remove(at);
        let value = match flag.split_once('=') {
            Some((_, value)) => value,
            None if at < words.len() => words.remove(at),
            None => "",
        };
        let Some(known) = Format::parse(value) else {
            let near = nearest(value, Format::ALL.into_iter().map(Format::word));
            let near = near.map_or_else(String::new, |near| format!(" The nearest is {near}."));
            return Err(format!("There is no format {value:?}.{near}"));
        };
        format = Some(known);
        path = words.join(" ");
    }
    if let Some(flag) = words.iter().find(|word| word.starts_with("--")) {
        return Err(format!("/export does not know {flag}."));
    }
    let path = path.trim().trim_matches('"');
    export(state, (!path.is_empty()).then(|| PathBuf::from(path)), format, fx);
    Ok(())
}

fn share(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else { return nothing_yet(state) };
    fx.push(Effect::Send(Command::Share { session }));
}

fn ask_import(state: &mut State) {
    let title = "Session of another program: its folder or file".to_owned();
    let prompt = Prompt { title, line: Line::default(), problem: None, wanted: Wanted::Import };
    overlay::open(state, Overlay::Prompt(Box::new(prompt)));
}

/// Makes a session of what another program wrote there.
pub(super) fn import(state: &State, path: &str, fx: &mut Vec<Effect>) {
    let from = state.current_meta().map(|meta| meta.cwd.clone());
    fx.push(Effect::Send(Command::Import { path: path.trim().trim_matches('"').into(), from }));
}

/// Shows the imported session, with its omissions. `again`: relation to an earlier import.
pub(super) fn imported(
    state: &mut State,
    id: &SessionId,
    (program, again): (&str, Option<String>),
    left: &[String],
    fx: &mut Vec<Effect>,
) {
    session::open(state, id, fx);
    let first = || format!("This session of {program} is one of lisle's now; the other stays as it was.");
    let notice = Notice::new(Level::Info, again.unwrap_or_else(first));
    state.notify(if left.is_empty() { notice } else { notice.hint("its last row says what was not included") });
}

/// A conversation was written to a file.
pub(super) fn exported(state: &mut State, path: &Path, masked: usize, shared: bool, fx: &mut Vec<Effect>) {
    let path = path.display().to_string();
    let keys = match masked {
        0 => "",
        1 => " One key in it is masked.",
        _ => " Keys in it are masked.",
    };
    if shared {
        // The clipboard says its own word, so this one stays until it was read.
        fx.push(Effect::Copy(path.clone()));
        let says = vec![
            path.clone(),
            String::new(),
            format!("It is there and nowhere else: lisle sends nothing.{keys}"),
            "Its path was offered to the clipboard; the file is yours to pass on.".to_owned(),
        ];
        let title = "A page of this conversation".to_owned();
        confirm(state, Confirm { title, says, verb: "copy its path again".to_owned(), deed: Deed::Copy(path) });
    } else {
        state.notify(Notice::new(Level::Info, format!("Written to {path}.{keys}")));
    }
}

fn open_usage(state: &mut State, fx: &mut Vec<Effect>) {
    let session = state.current_id().cloned();
    overlay::open(state, Overlay::Usage(Usage::new(session.clone())));
    fx.push(Effect::Send(Command::Usage { session }));
}

/// Takes in the usage of requests.
pub(super) fn used(state: &mut State, spending: &Spending) {
    for overlay in &mut state.overlays {
        if let Overlay::Usage(usage) = overlay
            && usage.session == spending.session
        {
            usage.spending = Some(spending.clone());
            usage.step(0);
        }
    }
}

/// The ledger of a session.
pub(super) fn audit(state: &mut State, ledger: Ledger) {
    for overlay in &mut state.overlays {
        if let Overlay::Audit(audit) = overlay
            && audit.session == ledger.session
        {
            audit.fill(ledger.clone());
        }
    }
}

/// Takes in the health of a session's files.
pub(super) fn health(state: &mut State, report: HealthReport) {
    for overlay in &mut state.overlays {
        if let Overlay::Health(card) = overlay
            && card.session.as_str() == report.session
        {
            card.busy = false;
            card.report = Some(report.clone());
        }
    }
    if let Some(Overlay::Health(card)) = state.overlays.last_mut()
        && !card.busy
        && std::mem::take(&mut card.then_repair)
    {
        ask_repair(state);
    }
}

pub(super) fn health_act(state: &mut State, verb: HealthAction, fx: &mut Vec<Effect>) {
    let Some(Overlay::Health(card)) = state.overlays.last_mut() else { return };
    if card.busy {
        return;
    }
    match verb {
        HealthAction::Again => {
            card.busy = true;
            fx.push(Effect::Send(Command::Verify { session: card.session.clone(), repair: false }));
        }
        HealthAction::Repair => ask_repair(state),
    }
}

/// Asks before a session's files are repaired.
pub(super) fn ask_repair(state: &mut State) {
    let Some(Overlay::Health(card)) = state.overlays.last() else { return };
    let Some(report) = &card.report else { return };
    if report.repairs.is_empty() || report.repaired {
        return state.notify(Notice::new(Level::Info, "There is nothing to repair."));
    }
    let mut says = report.repairs.clone();
    says.push("A copy of every file that is changed is kept beside it.".to_owned());
    let deed = Deed::Send(Command::Verify { session: card.session.clone(), repair: true });
    confirm(state, Confirm { title: "Repair the session's files?".to_owned(), says, verb: "repair".to_owned(), deed });
}

fn ask_cwd(state: &mut State) {
    let Some(meta) = state.current_meta() else { return nothing_yet(state) };
    let line = Line::new(&meta.cwd.to_string_lossy());
    let wanted = Wanted::Cwd(meta.id.clone());
    let title = "Directory where tools work".to_owned();
    overlay::open(state, Overlay::Prompt(Box::new(Prompt { title, line, problem: None, wanted })));
}

/// Changes where tools work; a relative path begins where they work now.
pub(super) fn set_cwd(state: &State, session: &SessionId, path: &str, fx: &mut Vec<Effect>) {
    let now = state.sessions.meta(session).map(|meta| meta.cwd.clone()).unwrap_or_default();
    // What begins with a tilde is the engine's to resolve: the screen does not know whose home it is.
    let path = if path.starts_with('~') { PathBuf::from(path) } else { now.join(path) };
    fx.push(to(session, Act::Cwd(path)));
}

fn ask_take_over(state: &mut State) {
    let Some(meta) = state.current_meta() else { return nothing_yet(state) };
    let Some(holder) = meta.held_by.clone() else {
        return state.notify(Notice::new(Level::Info, "No other process holds this session."));
    };
    let says = vec![
        format!("Now it is written by {holder}, and followed here as it grows."),
        "Taking over is for a process that hangs, or that runs where you cannot end it.".to_owned(),
        "From then on it is written here. The other one notices with its next write and writes nothing more; what it \
         had not written by then is lost."
            .to_owned(),
    ];
    let deed = Deed::Send(Command::To { session: meta.id.clone(), act: Act::TakeOver });
    let title = format!("Take over {}?", named(meta));
    confirm(state, Confirm { title, says, verb: "take over".to_owned(), deed });
}
