//! Relations of a session to the sessions that its calls spawn, and to the one that spawned it; and
//! messages that come by themselves.

use super::batch::Stage;
use super::state::{Machine, notice};
use super::turn_state::{Turn, Work};
use crate::agent::machine_io::{Safety, Step};
use crate::domain::ids::{At, CallId, MessageId};
use crate::domain::message::UserText;
use crate::domain::notice::Level;
use crate::domain::permission::Mode;
use crate::domain::session::TitleFrom;
use crate::domain::tool::{Child, ToolSpec};
use crate::protocol::SessionEvent;

/// Tools that a spawned session has no use for: it spawns no others, and nobody waits for a plan of it.
const NOT_BELOW: [&str; 2] = ["spawn", "submit_plan"];

/// A tool in its first sentence, for models that need the room for other things. Its input stays as it is.
fn brief(spec: &ToolSpec) -> ToolSpec {
    let line = spec.description.lines().next().unwrap_or_default();
    let first = line.split_once(". ").map_or(line, |(first, _)| first);
    let description = if first.ends_with('.') || first.is_empty() { first.to_owned() } else { format!("{first}.") };
    ToolSpec { description, ..spec.clone() }
}

impl Machine {
    /// The tools that the model is offered.
    pub(super) fn offered(&self) -> Vec<ToolSpec> {
        let told = |spec: &ToolSpec| if self.meta.switches.full_tools { spec.clone() } else { brief(spec) };
        self.config.tools.iter().map(|(spec, _)| spec).filter(|spec| self.offers(&spec.name)).map(told).collect()
    }

    /// False for a tool that there is and that this session does without.
    pub(super) fn offers(&self, tool: &str) -> bool {
        let below = self.meta.parent.is_some();
        !(self.own.no_tools || below && NOT_BELOW.contains(&tool)) && self.persona_has(tool)
    }

    /// The mode in which a call that runs was decided.
    #[must_use]
    pub fn decided_in(&self, id: &CallId) -> Option<Mode> {
        match self.turn.as_ref().map(|turn| &turn.work) {
            Some(Work::Calling(batch)) => batch.live().find_map(|row| {
                let call = row.tool().filter(|call| call.id == *id)?;
                call.decision.as_ref().map(|decision| decision.mode)
            }),
            _ => None,
        }
    }

    /// The row of a call of the response at hand.
    #[must_use]
    pub fn row_of(&self, id: &CallId) -> Option<MessageId> {
        let Some(Work::Calling(batch)) = self.turn.as_ref().map(|turn| &turn.work) else { return None };
        batch.live().find(|row| row.tool().is_some_and(|call| call.id == *id)).map(|row| row.id.clone())
    }

    /// The session that a call spawned is so far.
    pub(super) fn child(&mut self, id: &CallId, child: Child, line: String, out: &mut Vec<Step>) {
        let Some(Turn { work: Work::Calling(batch), .. }) = &mut self.turn else { return };
        let Some(one) = batch.open(id).filter(|one| one.stage == Stage::Running) else { return };
        let Some(tool) = one.tool() else { return };
        let known = tool.figures.child.as_ref().map(|child| child.session.clone());
        let first = known.as_ref() != Some(&child.session);
        tool.figures.child = Some(Box::new(child));
        if !line.is_empty() {
            tool.result = Some(line);
        }
        let row = one.row.clone();
        if first {
            // After a death the way to the session is still there.
            out.push(Step::KeepLive(row.clone(), Safety::Written));
        }
        out.push(Step::Emit(SessionEvent::Row(Box::new(row))));
    }

    /// The session that spawned this one is in another mode, or does not wait for it any more.
    pub(super) fn set_ceiling(&mut self, now: At, ceiling: Option<Mode>, out: &mut Vec<Step>) {
        // It only ever follows down.
        self.config.ceiling = match (self.config.ceiling, ceiling) {
            (Some(before), Some(now)) => Some(before.stricter(now)),
            (_, now) => now,
        };
        let Some(most) = self.config.ceiling.filter(|most| self.meta.mode > *most) else { return };
        self.meta.mode = self.meta.mode.stricter(most);
        self.changed_by_user(out);
        self.reconsider(now, out);
    }

    /// The mode, or the one of the session that waits for this one where that is stricter.
    pub(super) fn below_ceiling(&self, wanted: Mode, out: &mut Vec<Step>) -> Mode {
        let mode = self.config.ceiling.map_or(wanted, |most| wanted.stricter(most));
        if mode != wanted {
            let text = format!("Limited to {}, the mode of the session that spawned this one.", mode.shown());
            out.push(notice(Level::Warning, text, "Change the mode there, or wait until this one finishes."));
        }
        mode
    }

    /// A message that comes by itself begins a turn, unless one runs or the user holds what waits.
    pub(super) fn deliver(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        // Nothing of it is the user's own words.
        let said = UserText { piped: Some(0), ..UserText::from(text) };
        let stopped = self.turn.is_none() && (self.queue.held || self.stopped_by_user());
        if self.turn.is_some() || stopped || !self.queue.items.is_empty() {
            self.enqueue(now, said);
            if stopped {
                self.queue.hold();
            }
            self.queue_changed(out);
            return;
        }
        self.begin(now, said, out);
    }

    /// The last thing here was the user stopping the turn: nothing begins by itself after that.
    fn stopped_by_user(&self) -> bool {
        use crate::domain::message::{Body, InfoKind};
        let stopped = |kind| matches!(kind, InfoKind::Interrupted | InfoKind::Restarted | InfoKind::Ended);
        matches!(self.transcript.rows().last().map(|row| &row.body), Some(Body::Info(info)) if stopped(info.kind))
    }

    /// A model made a title. The user's is never overwritten by one that nobody asked for, and none that was given
    /// meanwhile.
    pub(super) fn titled(&mut self, title: String, was: &str, wanted: bool, out: &mut Vec<Step>) {
        let free = wanted || self.meta.title_from != TitleFrom::User;
        if !free || self.meta.title != was || title.is_empty() {
            return;
        }
        self.meta.title = title;
        self.meta.title_from = TitleFrom::Generated;
        self.changed_by_user(out);
    }
}
