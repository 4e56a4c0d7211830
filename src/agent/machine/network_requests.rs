//! Connections that running commands wait for: decided like calls, answered by the user where they have to be asked for.

use super::asks::Connecting;
use super::batch::Asking;
use super::state::Machine;
use super::turn_state::Turn;
use crate::agent::machine_io::Step;
use crate::domain::ids::{At, CallId, RequestId};
use crate::domain::permission::Mode;
use crate::domain::request::{Approval, Ask, Request, UserAnswer};
use crate::domain::tool::CallFacts;
use crate::permit::{self, Verdict};
use crate::protocol::SessionEvent;

impl Machine {
    /// A command wants to connect. Its call may be over where it goes on in the background.
    pub(super) fn may_reach(&mut self, now: At, number: u64, call: CallId, facts: CallFacts, out: &mut Vec<Step>) {
        let mode = self.mode_of_commands(now);
        let verdict = permit::decide(self.config.policy, mode, self.trust.rules(), &facts, self.config.headless);
        self.count_hits(&verdict);
        let question = match verdict {
            Verdict::Allow(_) => return out.push(Step::Reached(number, Ok(()))),
            Verdict::Deny(refusal) => return out.push(Step::Reached(number, Err(refusal.reason))),
            // Who types a command names what it reaches; only what leads inside is asked about.
            Verdict::Ask(question) if self.is_typed() && !question.every_time => {
                return out.push(Step::Reached(number, Ok(())));
            }
            Verdict::Ask(question) => question,
        };
        let approval = Approval {
            call,
            tool: facts.tool.clone(),
            subject: facts.subject.clone(),
            intent: None,
            proposal: facts.proposal.clone(),
            reasons: question.reasons,
            risks: question.risks,
            parts: Vec::new(),
            offers: question.offers,
            scopes: question.scopes,
            would_run_now: false,
            irreversible: false,
        };
        let request = Request { id: self.request_id(now), ask: Ask::Approval(Box::new(approval)) };
        out.push(Step::Emit(SessionEvent::Asked(Box::new(request.clone()))));
        self.asks.add_connecting(Connecting { number, asking: Asking { request, facts } });
    }

    /// The command that runs was typed by the user.
    fn is_typed(&self) -> bool {
        matches!(&self.turn, Some(Turn { typed: true, .. }))
    }

    /// Mode of the running commands; Execute for those that the user typed.
    fn mode_of_commands(&self, now: At) -> Mode {
        match self.meta.mode {
            _ if self.is_typed() => Mode::Execute,
            Mode::Execute
                if self.mode_since != At(0) && now < self.mode_since.plus(super::calls::EXECUTE_SETTLES_MS) =>
            {
                Mode::Ask
            }
            mode => mode,
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn no_longer_reaches(&mut self, number: u64, out: &mut Vec<Step>) {
        if let Some(gone) = self.asks.remove_connecting(number) {
            out.push(Step::Emit(SessionEvent::Settled { request: gone.asking.request.id, by: None }));
        }
    }

    /// An answer for one that waits.
    pub(super) fn answer_connecting(&mut self, now: At, request: &RequestId, answer: UserAnswer, out: &mut Vec<Step>) {
        let Some(Connecting { number, asking }) = self.asks.connecting(request).cloned() else { return };
        let outcome = match answer {
            UserAnswer::Once => Ok(()),
            UserAnswer::Remember { scope, rules } => match self.remember(&asking, scope, rules, out) {
                Some(_) => Ok(()),
                None => return out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request)))),
            },
            UserAnswer::No(reason) => Err(match reason.filter(|reason| !reason.trim().is_empty()) {
                Some(reason) => format!("The user refused this host: {reason}"),
                None => "The user refused this host.".to_owned(),
            }),
            answer => return super::user_input::unheard(request, answer, out),
        };
        self.asks.remove_connecting(number);
        out.push(Step::Emit(SessionEvent::Settled { request: request.clone(), by: None }));
        out.push(Step::Reached(number, outcome));
        // A rule that was kept may be about others that wait.
        self.reconsider(now, out);
    }

    /// Decides anew on connections that wait: a stricter mode or a rule refuses it, an answer that was kept lets it through. A
    /// looser mode only offers that.
    pub(super) fn reconsider_connecting(&mut self, now: At, out: &mut Vec<Step>) {
        let mode = self.mode_of_commands(now);
        let (policy, headless) = (self.config.policy, self.config.headless);
        for mut one in self.asks.take_connecting() {
            let verdict = permit::decide(policy, mode, self.trust.rules(), &one.asking.facts, headless);
            let (by_rules, would) =
                (matches!(verdict, Verdict::Allow(permit::Allowed::ByRules(_))), matches!(verdict, Verdict::Allow(_)));
            let outcome = match verdict {
                Verdict::Deny(refusal) => Err(refusal.reason),
                _ if by_rules => Ok(()),
                _ => {
                    if let Ask::Approval(approval) = &mut one.asking.request.ask
                        && approval.would_run_now != would
                    {
                        approval.would_run_now = would;
                        out.push(Step::Emit(SessionEvent::Asked(Box::new(one.asking.request.clone()))));
                    }
                    self.asks.add_connecting(one);
                    continue;
                }
            };
            out.push(Step::Emit(SessionEvent::Settled { request: one.asking.request.id, by: None }));
            out.push(Step::Reached(one.number, outcome));
        }
    }
}
