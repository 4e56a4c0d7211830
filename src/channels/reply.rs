//! Reply of a turn: what its row notes, and whether the channel gets it.

use super::audit::ChannelLogLine;
use super::channel_session::{put_row, readable_row};
use super::hub::ChannelHub;
use super::record::{ChannelReply, ReplyKind, TakenMessage};
use super::rows::now;
use super::turn::RunningTurn;
use crate::domain::ids::{At, SessionId};
use crate::domain::usage::Usage;
use crate::protocol::TurnEnd;
use crate::routes::config::SendAction;
use crate::routes::key::{AgentId, SessionKey};
use crate::routes::row::SessionRow;
use crate::routes::send_policy::{Receiver, SendDecision, SendFacts, SendReason, decide};
use crate::routes::store::RouteRows;
use std::sync::Arc;

/// Text for a channel whose turn failed. The reason stays with the operator.
pub(super) const FAILED: &str = "Sorry, no answer: an error occurred. The operator can see it.";

/// Result of a turn, or of messages that none could be begun for.
#[derive(Debug)]
pub(super) struct TurnResult {
    pub kind: ReplyKind,
    pub text: Option<String>,
    pub end: Option<TurnEnd>,
}

/// Notes a turn in its row. Returns the reply, if there is one and the channel may have it.
pub(super) async fn finished(
    hub: &Arc<ChannelHub>,
    agent: &AgentId,
    key: &SessionKey,
    messages: &[TakenMessage],
    running: Option<&RunningTurn>,
    result: TurnResult,
) -> Option<ChannelReply> {
    let last = messages.last()?;
    let row = note_run(hub, agent, key, running, result.end).await;
    let reply = ChannelReply {
        key: Some(key.to_string()),
        session: running.map(|running| running.session.clone()),
        in_reply_to: messages.iter().map(|taken| taken.message.id.clone()).collect(),
        ..ChannelReply::to(&last.message, result.kind, result.text?, now())
    };
    if may_send(hub, key, row.as_ref(), last) { Some(reply) } else { None }
}

/// Decides if a channel gets replies to a message. What is withheld is logged.
pub(super) fn may_send(hub: &ChannelHub, key: &SessionKey, row: Option<&SessionRow>, last: &TakenMessage) -> bool {
    let message = &last.message;
    let decision = send_decision(hub, key, row, last);
    if decision.action == SendAction::Allow {
        return true;
    }
    let why = match decision.reason {
        SendReason::Row => "/send off".to_owned(),
        SendReason::Rule(index) => format!("session.sendPolicy.rules, rule {}", index + 1),
        SendReason::Default => "session.sendPolicy.default".to_owned(),
        SendReason::Operator | SendReason::NoPolicy => String::new(),
    };
    hub.log.add(&ChannelLogLine { key: key.to_string(), ..ChannelLogLine::of("withheld", message, why) });
    false
}

/// Decision about replies to a message.
pub(super) fn send_decision(
    hub: &ChannelHub,
    key: &SessionKey,
    row: Option<&SessionRow>,
    last: &TakenMessage,
) -> SendDecision {
    let message = &last.message;
    let known = SendFacts { channel: Some(message.channel.clone()), chat_type: Some(message.chat_type()) };
    let facts = SendFacts::of(&known, &row.map(|row| row.place.clone()).unwrap_or_default(), key);
    let own = row.and_then(|row| row.settings.send_policy);
    decide(Receiver::Channel, own, hub.session.send_policy.as_ref(), &facts, key)
}

/// Counters and state of the run, in the row of its key. Returns the row.
async fn note_run(
    hub: &Arc<ChannelHub>,
    agent: &AgentId,
    key: &SessionKey,
    running: Option<&RunningTurn>,
    end: Option<TurnEnd>,
) -> Option<SessionRow> {
    let facts = running.zip(end).map(|(running, end)| RunFacts::of(running, end));
    let (all, agent_id, own) = (hub.clone(), agent.clone(), key.clone());
    let edit = move |rows: &mut RouteRows| {
        let mut row = readable_row(rows, &own, &agent_id, &all)?;
        if let Some(facts) = facts.filter(|facts| facts.session == row.conversation.session_id) {
            facts.note(&mut row);
            put_row(rows, &own, &row, &[]);
        }
        Some(row)
    };
    hub.rows.edit(&hub.store(agent), edit).await.unwrap_or_else(|error| {
        tracing::error!(error, "can't note a run in its session row");
        None
    })
}

/// Facts of a run for its row.
struct RunFacts {
    session: SessionId,
    end: TurnEnd,
    began: At,
    input: Option<u64>,
    output: Option<u64>,
    usage: Usage,
    model: Option<String>,
    connection: Option<String>,
}

impl RunFacts {
    fn of(running: &RunningTurn, end: TurnEnd) -> Self {
        let after = &running.meta.usage;
        let spent = |of: fn(&Usage) -> u64| running.before.as_ref().map(|before| of(after).saturating_sub(of(before)));
        Self {
            session: running.session.clone(),
            end,
            began: running.began,
            input: spent(|usage| usage.input_tokens),
            output: spent(|usage| usage.output_tokens),
            usage: after.clone(),
            model: running.meta.model.clone(),
            connection: running.meta.connection.as_ref().map(ToString::to_string),
        }
    }

    fn note(self, row: &mut SessionRow) {
        let now = now();
        let counters = &mut row.conversation.counters;
        counters.input_tokens = self.input;
        counters.output_tokens = self.output;
        counters.total_tokens = Some(self.usage.context_tokens);
        counters.total_tokens_fresh = Some(true);
        counters.cache_read = self.usage.cache_read_tokens;
        counters.cache_write = self.usage.cache_creation_tokens;
        counters.context_tokens = self.usage.context_window.or(counters.context_tokens);
        counters.model = self.model.or(counters.model.take());
        counters.model_provider = self.connection.or(counters.model_provider.take());
        let run = &mut row.conversation.run;
        run.started_at = Some(self.began);
        run.ended_at = Some(now);
        run.runtime_ms = Some(now.since(self.began));
        run.aborted_last_run = Some(self.end == TurnEnd::Stopped);
        row.updated_at = row.updated_at.max(Some(now));
    }
}
