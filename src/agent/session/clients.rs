//! Clients of a session: whose command is carried out, who has the session open, and what each of them may answer and send.

use super::super::asker::Asker;
use super::super::event_outbox::AskedFor;
use super::super::hub::ClientId;
use super::super::mailbox::Control;
use super::super::session_files::FilesState;
use super::SessionActor;
use crate::agent::machine_io::TurnCompany;
use crate::protocol::{EngineEvent, ErrorCode, SessionCommand, SessionEvent};

impl SessionActor {
    /// Does what a client wants of the session; what answers it goes to that client.
    pub(super) async fn command(&mut self, command: SessionCommand, asker: Option<Asker>) {
        let wants = match &command {
            SessionCommand::Open { .. } | SessionCommand::OpenAt { .. } | SessionCommand::Resume { .. } => {
                AskedFor::Snapshot
            }
            SessionCommand::Claim => AskedFor::Claim,
            SessionCommand::Answer { .. } => AskedFor::Answer,
            _ => AskedFor::Other,
        };
        if let Some(asker) = &asker {
            if matches!(command, SessionCommand::Open { .. } | SessionCommand::OpenAt { .. }) {
                self.out.open_to(asker.client());
            }
            // Whoever did something last is who can be asked in the turn that begins.
            let nobody = self.shared.setup.settings.headless || !asker.client().info().interactive;
            self.machine.set_company(TurnCompany { asks_nobody: nobody, stranger: asker.client().info().stranger });
            let info = asker.client().info();
            self.machine.set_client(info.limits.map(|_| info.name.clone()));
            asker.set_under_way(true);
        }
        self.out.work_for(asker.map(|asker| (asker, wants)));
        self.carry_out(command).await;
        self.machine.choose_message_id(None);
        self.machine.set_client(None);
        if let Some(asker) = self.out.asker() {
            asker.set_under_way(false);
        }
        self.out.work_for(None);
    }

    /// A client has the session open no longer.
    pub(super) fn left_by(&mut self, client: ClientId) {
        self.side.cancel_enhancing_of(Some(client));
        if self.out.close_to(client) {
            self.view.leave();
        }
    }

    /// Ends a session that was never written, where nothing was said, typed nor chosen. Only for a client that says that it
    /// looks elsewhere and was the last: one whose line broke comes back, and a script sends its message by another client.
    pub(super) fn vanish_if_blank(&mut self) {
        if self.view.is_shown() {
            return;
        }
        let unwritten = matches!(self.files.ownership(), FilesState::New { unsaved, .. } if unsaved.is_empty());
        let calm =
            self.machine.is_quiet() && self.draft.is_empty() && !self.saving.is_postponed() && !self.jobs.any_running();
        let session = self.machine.meta().id.clone();
        if unwritten && calm && self.machine.meta().is_blank() && self.mailbox.control(Control::Shutdown).is_ok() {
            self.shared.sessions.remove(&session);
            self.shared.out.send(EngineEvent::Deleted { session, trash: None, pages: 0 });
        }
    }

    /// Sends an answer that took its time.
    pub(super) fn answer(&mut self, event: SessionEvent, asker: Option<&Asker>) {
        match asker {
            Some(asker) => self.out.answer(asker, event),
            None => self.out.send(event),
        }
    }

    /// True if the client that sent this act may answer what it answers: only what was sent to it, as it is now.
    pub(super) fn was_shown(&mut self, act: &SessionCommand) -> bool {
        let (SessionCommand::Answer { request, shown, .. }, Some(asker)) = (act, self.out.asker().cloned()) else {
            return true;
        };
        if !self.out.is_open_to(asker.client()) {
            asker.fail(
                ErrorCode::Stale,
                "This client does not have the session open, so the request was not shown to it.",
            );
            return false;
        }
        let Some(now) = self.machine.requests().into_iter().find(|now| now.id == *request) else {
            // The machine says so, and gives back what was written in the answer.
            asker.fail_told(
                ErrorCode::Stale,
                "This request waits no longer: it was answered, or is of another session.",
            );
            return true;
        };
        let same = match shown {
            Some(shown) => *shown == now.hash(),
            None => asker.client().info().limits.is_none(),
        };
        if !same {
            let why = match shown {
                Some(_) => "The request changed since it was shown: see what it is now.",
                None => "An answer quotes the request that it answers in `shown`: the SHA-256 of its JSON.",
            };
            asker.fail(ErrorCode::Stale, why);
            self.out.answer(&asker, SessionEvent::Asked(Box::new(now)));
        }
        same
    }

    /// True if the message that this act sends was not taken before. One of an id that the client chose gets that id.
    pub(super) async fn is_new_message(&mut self, act: &SessionCommand) -> bool {
        let sends = matches!(act, SessionCommand::Send { .. } | SessionCommand::Steer { .. });
        let Some(asker) = self.out.asker().filter(|_| sends).cloned() else { return true };
        let Some(id) = asker.message().cloned() else { return true };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !(8..=64).contains(&id.as_str().len()) || !id.as_str().chars().all(fits) {
            asker.fail(ErrorCode::Failed, "The id of a message has 8 to 64 letters, digits, - and _.");
            return false;
        }
        let known = self.machine.has_message(&id) || self.files.holds_message(&id).await;
        if known {
            asker.fail(ErrorCode::Duplicate, "This message was taken before.");
        } else {
            self.machine.choose_message_id(Some(id));
        }
        !known
    }
}
