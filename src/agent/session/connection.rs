//! Connection of a session: its own, the substitute for one that is not configured here, or the
//! default if it names none. A substitute for all sessions reaches every open one.

use super::super::blocking::blocking;
use super::super::mailbox::{Control, Report};
use super::SessionActor;
use crate::domain::ConnectionName;
use crate::domain::ids::{DEMO, shown_name};
use crate::domain::notice::{Level, Notice};
use crate::protocol::{EngineEvent, SessionCommand, SessionEvent};

/// A connection and a model that a person chose.
pub(super) struct ModelChoice {
    connection: Option<ConnectionName>,
    model: Option<String>,
}

impl SessionActor {
    /// Finds out what the session's connection comes to now.
    pub(super) fn reach(&mut self) {
        let named = self.machine.meta().connection.clone();
        let mapped = named.as_ref().and_then(|name| self.machine.own().connections.get(name));
        let reach = self.shared.setup.connections.reach(named.as_ref(), mapped);
        self.machine.set_reach(reach.missing, reach.stand_in, reach.unmapped);
        self.fit_model();
        let info = self.machine.meta().asked().and_then(|name| self.shared.setup.connections.info(name));
        self.machine.set_usual_model(info.map(|info| info.default_model).filter(|model| !model.is_empty()));
    }

    /// The request named no model, and the connection found the only one: it is shown from now on.
    pub(super) async fn learn_model(&mut self) {
        let connections = &self.shared.setup.connections;
        let Some(name) = self.machine.meta().asked() else { return };
        if connections.learn_only(name) {
            let infos = connections.infos();
            self.shared.out.send(EngineEvent::Connections(infos));
            self.show_models().await;
        }
    }

    /// A model's name does not travel to a connection that does not have it: that one's own usual model answers, and it is said
    /// once. What was chosen for just this connection stays, whether or not its server tells of it.
    pub(super) fn fit_model(&mut self) {
        let Some(answers) = self.machine.meta().stand_in.clone() else { return };
        let Some(model) = self.machine.meta().model.clone() else { return };
        let connections = &self.shared.setup.connections;
        let chosen = self.machine.own().model_for.as_ref() == Some(&answers);
        if chosen || connections.info(&answers).is_none() || connections.offers(&answers, &model) {
            return;
        }
        self.machine.drop_model();
        self.sources.set_unfit(model, answers);
    }

    /// Says which model answers in the place of one that did not travel.
    pub(super) async fn tell_unfit(&mut self) {
        let Some((model, answers)) = self.sources.take_unfit() else { return };
        // Nobody misses the rules of the demo.
        if model == DEMO {
            return;
        }
        let usual = self.shared.setup.connections.info(&answers).map(|info| info.default_model).unwrap_or_default();
        let usual = if usual.is_empty() { "its own model".to_owned() } else { usual };
        let text = format!("{answers} doesn't offer {model}; using {}.", shown_name(&usual));
        self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text).hint("/model to switch")));
    }

    /// What a person chooses by this. A script's choice is for its own session.
    pub(super) fn choice(&self, act: &SessionCommand) -> Option<ModelChoice> {
        let is_person = self.out.asker().is_none_or(|asker| asker.client().info().interactive);
        if self.shared.setup.settings.headless || !is_person {
            return None;
        }
        match act {
            SessionCommand::Model { connection, model } => Some(ModelChoice {
                connection: connection.clone(),
                model: Some(model.clone()).filter(|model| !model.is_empty()),
            }),
            SessionCommand::StandIn { connection, .. } => {
                Some(ModelChoice { connection: Some(connection.clone()), model: None })
            }
            _ => None,
        }
    }

    /// Remembers a choice for sessions to come, unless it was refused.
    pub(super) async fn remember(&mut self, choice: ModelChoice) {
        let meta = self.machine.meta();
        let named = choice.connection.filter(|name| meta.connection.as_ref() == Some(name));
        if let Some(name) = &named {
            self.shared.setup.connections.choose(name);
        }
        let model = choice.model.filter(|model| meta.model.as_ref() == Some(model));
        let Some(name) = named.or_else(|| meta.asked().filter(|_| model.is_some()).cloned()) else { return };
        let (shared, kept) = (self.shared.clone(), (name.clone(), model.clone()));
        let is_usual = blocking(move || (shared.setup.chosen)(&kept.0, kept.1.as_deref())).await;
        if let Some(model) = model.filter(|_| is_usual == Some(true)) {
            self.shared.setup.connections.choose_model(&name, &model);
            self.shared.out.send(EngineEvent::Connections(self.shared.setup.connections.infos()));
        }
    }

    /// Completes a choice of a connection: if it names no model, the session's own stays where the
    /// connection offers it, or is the same.
    pub(super) fn fitting(&mut self, act: SessionCommand) -> SessionCommand {
        let own = self.machine.meta().model.clone().unwrap_or_default();
        let same = |name: &ConnectionName| self.machine.meta().asked() == Some(name);
        let keeps = |name: &ConnectionName| {
            let chosen = self.machine.own().model_for.as_ref() == Some(name);
            own.is_empty() || same(name) || chosen || self.shared.setup.connections.offers(name, &own)
        };
        match act {
            SessionCommand::Model { connection: Some(name), model } if model.is_empty() => {
                let keeps = keeps(&name);
                if !keeps {
                    self.sources.set_unfit(own.clone(), name.clone());
                }
                SessionCommand::Model { connection: Some(name), model: if keeps { own } else { model } }
            }
            SessionCommand::StandIn { connection, everywhere } => {
                if self.machine.is_connection_missing() && !keeps(&connection) {
                    self.machine.drop_model();
                    self.sources.set_unfit(own, connection.clone());
                }
                SessionCommand::StandIn { connection, everywhere }
            }
            act => act,
        }
    }

    /// Applies a substitute chosen for all sessions: clients see it, and the paused queue is for
    /// the user to release.
    pub(super) async fn reach_again(&mut self) {
        let before = self.machine.meta().clone();
        self.reach();
        if *self.machine.meta() != before {
            self.out.send(SessionEvent::Changed(Box::new(self.machine.meta().clone())));
        }
    }

    /// From now on the second one answers in every session that names the first one.
    pub(super) fn stand_in_everywhere(&self, named: ConnectionName, answers: ConnectionName) {
        let (shared, mailbox) = (self.shared.clone(), self.mailbox.clone());
        tokio::spawn(async move {
            if let Err(why) = shared.setup.connections.stand_in(named, answers).await {
                let notice = Notice::new(Level::Warning, why).hint("until lisle quits");
                let _ = mailbox.report(Report::Tell(SessionEvent::Notice(notice))).await;
            }
            for mailbox in shared.sessions.mailboxes() {
                // One that ended needs nothing.
                let _ = mailbox.control(Control::Reach);
            }
        });
    }

    /// The user named a connection that is not there.
    pub(super) async fn not_there(&mut self, name: &ConnectionName) {
        let infos = self.shared.setup.connections.infos();
        let known: Vec<&str> = infos.iter().map(|info| info.name.as_str()).collect();
        let text = format!("No connection {name}. Available: {}.", known.join(", "));
        self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text).hint("/connect lists them")));
    }
}
