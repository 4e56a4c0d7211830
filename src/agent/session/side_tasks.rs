//! Side tasks of a session: the link to its parent, its title, a draft being rewritten.

use super::super::asker::Asker;
use super::super::mailbox::{MailReader, Report};
use super::SessionActor;
use super::view::Show;
use crate::agent::side_requests::{enhance, titles};
use crate::agent::spawned::progress::ChildLink;
use crate::domain::notice::{Level, Notice};
use crate::domain::session::TitleFrom;
use crate::protocol::SessionEvent;
use crate::tools::host::{Completion, Host, WhichModel};
use std::time::Duration;
use tokio::time::Instant;

use crate::agent::machine_io::Input;

/// Time after its turn by which a headless run ends, with or without a title.
const LAST_TITLE: Duration = Duration::from_secs(3);

impl SessionActor {
    // ---- parents and children ----

    pub(super) async fn spawned(&mut self, link: ChildLink) {
        let ceiling = link.ceiling;
        self.machine.set_company(link.company);
        self.machine.set_persona(link.persona.clone());
        self.parent.join(link);
        // Nobody looks at it: its files are let go when it is done.
        self.view.hide();
        self.input(Input::Ceiling(Some(ceiling))).await;
    }

    pub(super) async fn detached(&mut self) {
        self.parent.detach();
        self.input(Input::Ceiling(None)).await;
    }

    /// Tells the parent how far it is, and the children the mode.
    pub(super) async fn tell_family(&mut self) {
        let mode = self.machine.meta().mode;
        if self.parent.is_new_mode(mode) {
            self.shared.families.set_ceiling(&self.machine.meta().id, mode);
        }
        self.parent.report();
        if self.side.take_done() {
            self.name_at_end();
        }
    }

    /// A message that comes by itself: the answer of a session in the background.
    pub(super) async fn deliver(&mut self, text: String) {
        if !self.own().await {
            return;
        }
        self.view.act();
        if self.load_context().await {
            self.input(Input::Deliver(text)).await;
        } else {
            self.input(Input::Enqueue(text.into())).await;
        }
    }

    // ---- titles ----

    /// True if a title is to be generated: only with a small model. Nobody asked for a second
    /// request to a large one, or to a local server with one slot.
    fn wants_title(&self) -> bool {
        let meta = self.machine.meta();
        if meta.title_from != TitleFrom::Provisional || meta.parent.is_some() {
            return false;
        }
        if !self.side.may_title() || titles::messages(self.machine.rows()) != 1 {
            return false;
        }
        let connections = &self.shared.setup.connections;
        let Some(info) = meta.asked().and_then(|name| connections.info(name)) else { return false };
        // What follows rules makes no better title than the start of the message.
        if info.provider == crate::domain::ids::DEMO || info.missing.is_some() {
            return false;
        }
        !info.small_model.is_empty()
    }

    /// The first turn began: a model of its own for such things works beside it.
    pub(super) fn name_at_start(&mut self) {
        if self.machine.is_running() && self.wants_title() {
            self.ask_for_title(false);
        }
    }

    /// The first turn is over: the answer says what it is about, too.
    fn name_at_end(&mut self) {
        if self.wants_title() {
            self.ask_for_title(false);
        }
    }

    /// The user wants another title.
    pub(super) async fn retitle(&mut self) {
        if !self.load_context().await {
            return;
        }
        if titles::messages(self.machine.rows()) == 0 {
            let text = "No message to make a title from yet";
            return self.out.send(SessionEvent::Notice(Notice::new(Level::Info, text)));
        }
        self.ask_for_title(true);
    }

    fn ask_for_title(&mut self, wanted: bool) {
        self.side.begin_title(wanted);
        let was = self.machine.meta().title.clone();
        let asked = self.engine(None).complete(Completion {
            model: WhichModel::Small,
            system: titles::SYSTEM.to_owned(),
            text: titles::text(self.machine.rows()),
            patience: titles::PATIENCE,
        });
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let answer = asked.await;
            if let Err(why) = &answer {
                tracing::info!("no title was made: {why}");
            }
            let title = answer.ok().and_then(|answer| titles::tidy(&answer));
            // A session that ended needs no title.
            let _ = mailbox.report(Report::Titled { title, was, wanted }).await;
        });
    }

    /// Waits a moment for a title that is being made, where the session ends with its turn: nobody would make it later.
    pub(super) async fn await_title(&mut self, from: &mut MailReader) {
        let until = Instant::now() + LAST_TITLE;
        while self.side.is_last_title_due() && self.machine.asks_nobody() {
            match tokio::time::timeout_at(until, from.next()).await {
                Ok(Some(what)) => self.at_the_end(what).await,
                Ok(None) | Err(_) => return,
            }
        }
    }

    pub(super) async fn titled(&mut self, title: Option<String>, was: String, wanted: bool) {
        self.side.end_title();
        match title {
            // The files may have been let go meanwhile.
            Some(title) if self.own().await => self.input(Input::Titled { title, was, wanted }).await,
            Some(_) => {}
            None if wanted => {
                let text = "No title: the model's response was not usable";
                let notice = Notice::new(Level::Warning, text).hint("title unchanged; see the log");
                self.out.send(SessionEvent::Notice(notice));
            }
            None => {}
        }
    }

    // ---- drafts ----

    /// Rewrites a draft. A rewrite that runs for the same client is cancelled.
    pub(super) async fn enhance(&mut self, number: u64, draft: String) {
        let asker = self.out.asker().cloned();
        let client = asker.as_ref().map(Asker::id);
        self.side.cancel_enhancing_of(client);
        if draft.trim().is_empty() || !self.load(Show::Nothing).await {
            return;
        }
        let (engine, mailbox) = (self.engine(None), self.mailbox.clone());
        let (cwd, cache) = (self.machine.meta().cwd.clone(), self.shared.intros.clone());
        let task = tokio::spawn(async move {
            let result = enhance::enhance(&engine, &cwd, &cache, draft).await;
            let _ = mailbox.report(Report::Answer(SessionEvent::Enhanced { number, result }, asker)).await;
        });
        self.side.enhance(client, task.abort_handle());
    }
}
