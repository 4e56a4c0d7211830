//! Undo in one session: what it would do, doing it once nothing runs, and what the session changed.

use super::super::blocking::blocking;
use super::super::clock::now;
use super::super::mailbox::{Report, Restore};
use super::super::session_files::FilesState;
use super::super::undo::{self, Done, Known, Since};
use super::SessionActor;
use super::view::Show;
use crate::agent::machine_io::Input;
use crate::domain::message::Body;
use crate::domain::notice::{Level, Notice};
use crate::domain::undo::{COMMITS_STAY, Changes, UndoAim, UndoPlan};
use crate::domain::{At, MessageId};
use crate::protocol::SessionEvent;
use crate::sandbox::{Namespaces, own_folders, system_support};
use crate::tools::files::{attributes, paths};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// Files that are named in the transcript.
const NAMED: usize = 8;

impl SessionActor {
    /// The message of the user that the turn began with.
    pub(super) fn turn_message(&self) -> Option<MessageId> {
        let began = |body: &Body| matches!(body, Body::User(user) if !user.steer);
        self.machine.rows().iter().rev().find(|row| began(&row.body)).map(|row| row.id.clone())
    }

    /// Restores files as soon as nothing runs.
    pub(super) async fn undo(&mut self, aim: UndoAim, also: Vec<PathBuf>) {
        if self.machine.is_running() {
            return self.turn_runs().await;
        }
        self.idle_work.restore(Restore { aim, also, done: None });
    }

    async fn turn_runs(&mut self) {
        let text = "Can't undo: turn running.";
        self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text).hint("stop it first")));
    }

    pub(super) async fn plan_undo(&mut self, aim: UndoAim) {
        if self.machine.is_running() && !matches!(aim, UndoAim::Since(_)) {
            self.turn_runs().await;
            return self.out.send(not_planned(aim));
        }
        let Some(known) = self.known(&aim).await else { return self.out.send(not_planned(aim)) };
        let checkpoints = self.shared.setup.store.checkpoints(&self.machine.meta().id);
        let (mailbox, asker) = (self.mailbox.clone(), self.out.asker().cloned());
        tokio::spawn(async move {
            let wanted = aim.clone();
            let told = match blocking(move || undo::plan(&checkpoints, wanted, &known)).await {
                Some(Ok(worked)) => vec![SessionEvent::UndoPlanned(Box::new(worked.plan))],
                Some(Err(error)) => {
                    let notice = Notice::new(Level::Error, format!("Can't undo: {error}."));
                    vec![SessionEvent::Notice(notice), not_planned(aim)]
                }
                None => vec![not_planned(aim)],
            };
            for one in told {
                let _ = mailbox.report(Report::Answer(one, asker.clone())).await;
            }
        });
    }

    pub(super) async fn tell_changes(&mut self) {
        let known = Known { cwd: self.real_cwd(), doubt: self.list_doubt(), ..Known::default() };
        let checkpoints = self.shared.setup.store.checkpoints(&self.machine.meta().id);
        let (mailbox, asker) = (self.mailbox.clone(), self.out.asker().cloned());
        tokio::spawn(async move {
            let told = match blocking(move || undo::changes(&checkpoints, &known)).await {
                Some(Ok(changes)) => SessionEvent::FilesChanged(Box::new(changes)),
                Some(Err(error)) => {
                    let gaps = vec![format!("Can't read the changes: {error}.")];
                    SessionEvent::FilesChanged(Box::new(Changes { gaps, ..Changes::default() }))
                }
                None => return,
            };
            let _ = mailbox.report(Report::Answer(told, asker)).await;
        });
    }

    /// Reason for doubt in the session's list.
    fn list_doubt(&self) -> Option<&'static str> {
        let setup = &self.shared.setup;
        if !setup.rules.trusts_workspace() {
            return Some("Recorded in a workspace that you don't trust.");
        }
        // Namespaces keep lisle's own folders from commands wherever they lie.
        let own = setup.store.session_dir(&self.machine.meta().id);
        let own = paths::follow(&own).unwrap_or(own);
        let open =
            own.starts_with(self.real_cwd()) && system_support::spaces(&setup.settings.runner) == Namespaces::Without;
        open.then_some("Recorded in the working directory, where commands can write.")
    }

    fn real_cwd(&self) -> PathBuf {
        let cwd = &self.machine.meta().cwd;
        paths::follow(cwd).unwrap_or_else(|_| cwd.clone())
    }

    /// True if another folder stands in the place of the working directory: the list says nothing of its files, whatever they
    /// hold. The user gets a notice.
    fn is_elsewhere(&mut self) -> bool {
        let cwd = self.machine.meta().cwd.clone();
        let other = self.calls.folder().at(&cwd).is_replaced_at(&cwd);
        if other {
            let text = format!("Can't undo: {} is another folder now.", cwd.display());
            let hint = "Move the session's folder back to restore its files.";
            self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text).hint(hint)));
        }
        other
    }

    /// Facts that the list does not have. `None` if the session cannot be read; the user got a notice.
    async fn known(&mut self, aim: &UndoAim) -> Option<Known> {
        if !self.load(Show::Nothing).await || self.is_elsewhere() {
            return None;
        }
        if !matches!(self.files.ownership(), FilesState::New { .. }) && !self.load_context().await {
            return None;
        }
        let rows = self.machine.rows();
        let said = rows.iter().filter_map(|row| match &row.body {
            Body::User(user) => Some((row.id.clone(), user.text.clone())),
            _ => None,
        });
        let since = match aim {
            UndoAim::Since(id) => {
                let Some(at) = rows.iter().rposition(|row| row.id == *id) else {
                    let text = "That message was compacted; file changes after it are unknown.";
                    self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
                    return None;
                };
                let after = || rows[at + 1..].iter().filter(|row| row.tool().is_some());
                Since {
                    at: rows[at].at,
                    rows: after().map(|row| row.id.clone()).collect(),
                    calls: after().filter_map(|row| row.tool()).map(|call| call.id.clone()).collect(),
                }
            }
            UndoAim::Last | UndoAim::Redo => Since::default(),
        };
        let session_dir = self.shared.setup.store.session_dir(&self.machine.meta().id);
        let (cwd, doubt) = (self.real_cwd(), self.list_doubt());
        let own = own_folders::beside(&self.shared.setup.settings.own_dirs, &session_dir, &cwd);
        Some(Known { cwd, said: said.collect(), since, doubt, own })
    }

    /// Restores what waits for it. Nothing runs.
    pub(super) async fn restore_now(&mut self, all: Vec<Restore>) {
        for Restore { aim, also, done } in all {
            self.restore(aim, also).await;
            if let Some(done) = done {
                // Whoever asked may have ended meanwhile.
                let _ = done.send(());
            }
        }
    }

    async fn restore(&mut self, aim: UndoAim, also: Vec<PathBuf>) {
        if !self.own().await {
            return;
        }
        self.view.act();
        let Some(known) = self.known(&aim).await else { return };
        let checkpoints = self.shared.setup.store.checkpoints(&self.machine.meta().id);
        let (wanted, at) = (aim.clone(), now());
        let done = blocking(move || undo::restore(&checkpoints, wanted, &also, &known, at)).await;
        self.calls.recorder().look_again();
        let notice = match done {
            Some(Ok(done)) if done.nothing => match aim {
                UndoAim::Redo => Notice::new(Level::Info, "Nothing to redo"),
                UndoAim::Last | UndoAim::Since(_) => Notice::new(Level::Info, "Nothing to undo"),
            },
            Some(Ok(done)) if done.restored.is_empty() && !done.left.is_empty() => {
                let left: Vec<String> = done
                    .left
                    .iter()
                    .map(|(file, why)| format!("{file} ({})", lower(why.trim_end_matches('.'))))
                    .collect();
                let more = left.len().saturating_sub(NAMED);
                let mut named = left.get(..NAMED.min(left.len())).unwrap_or_default().join(", ");
                if more > 0 {
                    named.push_str(&format!(" and {more} more"));
                }
                Notice::new(Level::Warning, format!("Nothing restored; undo it later: {named}."))
            }
            Some(Ok(done)) => return self.input(Input::Restored(in_words(&aim, &done))).await,
            Some(Err(why)) => Notice::new(Level::Error, format!("Nothing restored: {why}.")),
            None => return,
        };
        self.out.send(SessionEvent::Notice(notice));
    }
}

/// Answer to who waits for a preview that there will not be: a notice says why.
fn not_planned(aim: UndoAim) -> SessionEvent {
    let gaps = vec!["The changes were not read.".to_owned()];
    let (at, about, files) = (At(0), String::new(), Vec::new());
    SessionEvent::UndoPlanned(Box::new(UndoPlan { aim, at, about, any: false, files, gaps, commits: false }))
}

/// `12:03`, with the day where it is another one.
fn clock(at: At) -> String {
    let zoned = |at: At| Timestamp::from_millisecond(at.0).ok().map(|time| time.to_zoned(TimeZone::system()));
    let Some(then) = zoned(at) else { return String::new() };
    let today = zoned(now()).is_some_and(|now| now.date() == then.date());
    then.strftime(if today { "%H:%M" } else { "%Y-%m-%d %H:%M" }).to_string()
}

/// Result in words, for the transcript and the model.
fn in_words(aim: &UndoAim, done: &Done) -> String {
    let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let count = files(done.restored.len());
    let mut text = match aim {
        UndoAim::Last => format!("Undid {count} of the turn at {}", clock(done.at)),
        UndoAim::Redo => format!("Redid {count} (undone at {})", clock(done.at)),
        UndoAim::Since(_) => format!("Rewound to an earlier message and restored {count}"),
    };
    let named = |all: Vec<String>| {
        let more = all.len().saturating_sub(NAMED);
        let first = all.get(..NAMED.min(all.len())).unwrap_or_default().join(", ");
        if more > 0 { format!("{first} and {more} more") } else { first }
    };
    if !done.restored.is_empty() {
        text.push_str(&format!(": {}", named(done.restored.clone())));
    }
    text.push('.');
    if done.commits {
        text.push_str(&format!(" {COMMITS_STAY}."));
    }
    if done.restored.is_empty() && !done.gaps.is_empty() {
        text.push_str(&format!(" Incomplete record: {}", done.gaps.join(" ")));
    }
    if !done.kept.is_empty() {
        text.push_str(&format!(" Kept changes by others: {}.", named(done.kept.clone())));
    }
    if !done.during.is_empty() {
        let during = done.during.iter().map(|(file, command)| format!("{file} (`{}`)", one_line(command))).collect();
        text.push_str(&format!(" Changed while a command ran, by it or others: {}.", named(during)));
    }
    if let Some(lost) = attributes::lost(&done.lost) {
        text.push_str(&format!(" Note: {lost}."));
    }
    if !done.left.is_empty() {
        let left: Vec<String> =
            done.left.iter().map(|(file, why)| format!("{file} ({})", lower(why.trim_end_matches('.')))).collect();
        let verb = if left.len() == 1 { "was" } else { "were" };
        text.push_str(&format!(" {} {verb} skipped: {}.", files(left.len()), named(left)));
    }
    text
}

/// A sentence as the middle of another.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().collect::<String>() + letters.as_str())
}

fn one_line(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}
