//! The files of rules for one session: looked at before they are needed, changed when the user says so.

use super::super::blocking::blocking;
use super::super::mailbox::Report;
use super::SessionActor;
use crate::agent::machine_io::Input;
use crate::domain::notice::{Level, Notice};
use crate::domain::request::TrustRequest;
use crate::domain::rule::{Rule, RuleScope};
use crate::protocol::SessionEvent;

impl SessionActor {
    /// Reads what changed of the files, and goes by it from now on.
    pub(super) async fn refresh_rules(&mut self) {
        let (rules, cwd) = (self.shared.setup.rules.clone(), self.machine.meta().cwd.clone());
        let Some(book) = blocking(move || rules.read(&cwd)).await else { return };
        let Some(problems) = self.sources.take_book(&book) else { return };
        for problem in problems {
            self.out.send(SessionEvent::Notice(problem.notice()));
        }
        let files = Box::new(book.file_rules());
        // Boxed: a rule may end a call, and what that leads to may be another look at the rules.
        Box::pin(self.feed(Input::FileRules(files))).await;
    }

    pub(super) async fn show_rules(&mut self) {
        self.refresh_rules().await;
        self.out.send(SessionEvent::Rules(Box::new(self.machine.in_force())));
    }

    pub(super) async fn forget_rule(&mut self, rule: Rule, scope: RuleScope) {
        if scope == RuleScope::Session {
            self.input(Input::Forget(rule)).await;
        } else {
            let (rules, cwd) = (self.shared.setup.rules.clone(), self.machine.meta().cwd.clone());
            self.tell_failure(blocking(move || rules.remove(scope, &cwd, &rule)).await).await;
        }
        self.show_rules().await;
    }

    pub(super) async fn keep_rules(&mut self, scope: RuleScope, kept: Vec<Rule>) {
        let (rules, cwd) = (self.shared.setup.rules.clone(), self.machine.meta().cwd.clone());
        self.tell_failure(blocking(move || rules.add(scope, &cwd, &kept)).await).await;
        self.look_again();
    }

    pub(super) async fn trust(&mut self, request: TrustRequest) {
        let rules = self.shared.setup.rules.clone();
        self.tell_failure(blocking(move || rules.trust(&request)).await).await;
        self.look_again();
    }

    /// The user trusts what was shown of the rules.
    pub(super) async fn trust_shown(&mut self, request: TrustRequest) {
        self.trust(request).await;
        self.show_rules().await;
    }

    /// After the steps at hand: what was written counts from then on, and in the other sessions too, whose requests it may
    /// answer.
    fn look_again(&self) {
        for mailbox in self.shared.sessions.mailboxes() {
            tokio::spawn(async move {
                // A session that ended needs no rules any more.
                let _ = mailbox.report(Report::RulesChanged).await;
            });
        }
    }

    async fn tell_failure(&mut self, done: Option<Result<(), String>>) {
        if let Some(Err(text)) = done {
            self.out.send(SessionEvent::Notice(Notice::new(Level::Error, text)));
        }
    }
}
