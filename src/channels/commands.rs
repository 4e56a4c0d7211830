//! Commands of a conversation: `/stop`, `/new`, `/send`, `/queue`, `/status`, `/context`, `/compact`, with the words of
//! their answers.

use super::audit::ChannelLogLine;
use super::channel_session::{Restart, SessionFinder, put_row, readable_row, reset_policy};
use super::conversation::{Conversation, PendingReset};
use super::delivery::deliver;
use super::engine_client::EngineClient;
use super::hub::ChannelHub;
use super::record::{ChannelReply, ReplyKind, TakenMessage};
use super::reply::{may_send, send_decision};
use super::rows::now;
use crate::domain::SessionId;
use crate::domain::context::{ContextPart, ContextReport, ContextSort};
use crate::domain::notice::Level;
use crate::domain::sanitise::clean_line;
use crate::local_time::minute;
use crate::protocol::{Event, SessionCommand, SessionEvent, TurnEnd};
use crate::routes::config::SendAction;
use crate::routes::key::{AgentId, SessionKey};
use crate::routes::owner_command::{ContextView, OwnerCommand, QueueCommand};
use crate::routes::queue::{QueueOverrides, QueueSettings, QueuedMessage};
use crate::routes::reset::{RESET_WAIT_MS, find_trigger, reset_due};
use crate::routes::row::SessionRow;
use crate::routes::send_policy::SendSetting;
use jiff::tz::TimeZone;
use std::sync::Arc;
use std::time::Duration;

/// Time for a conversation to be summarised.
const SUMMARISED: Duration = Duration::from_secs(15 * 60);
/// Parts that `/context detail` names.
const PARTS: usize = 30;

const BUSY: &str = "A turn is running. Send /stop, or try again when it is done.";
const FAILED: &str = "That failed. The operator can see why.";

/// Answers a command, if the channel may have it.
async fn answer(hub: &Arc<ChannelHub>, key: &SessionKey, taken: &TakenMessage, text: Option<String>) {
    let line = ChannelLogLine::of("command", &taken.message, "");
    hub.log.add(&ChannelLogLine { key: key.to_string(), ..line });
    let reply = text.map(|text| ChannelReply {
        key: Some(key.to_string()),
        ..ChannelReply::to(&taken.message, ReplyKind::Command, text, now())
    });
    if let Some(n) = hub.done(vec![taken.n], reply).await {
        deliver(hub, &taken.message.channel, n);
    }
}

impl Conversation {
    /// Does a command and answers it.
    pub(super) async fn command(&mut self, taken: TakenMessage, command: OwnerCommand) {
        let done = match command {
            OwnerCommand::Stop => Ok(self.stop_all().await),
            OwnerCommand::Reset(_) => return self.wish_reset(taken).await,
            OwnerCommand::Send(setting) => return self.send_setting(&taken, setting).await,
            OwnerCommand::Queue(change) => self.queue_setting(&taken, change).await,
            OwnerCommand::Status => self.status(&taken).await,
            OwnerCommand::Context(view) => self.context(&taken, view).await,
            OwnerCommand::Compact { instructions } => return self.compact(taken, instructions).await,
            // The route does these.
            OwnerCommand::Session(_) => return,
        };
        let text = self.worded(done);
        self.answer(&taken, text).await;
    }

    fn worded(&self, done: Result<String, String>) -> String {
        done.unwrap_or_else(|why| {
            tracing::warn!(why, key = self.key.as_str(), "a command of a channel failed");
            FAILED.to_owned()
        })
    }

    async fn answer(&mut self, taken: &TakenMessage, text: String) {
        let row = self.read_row().await;
        let text = may_send(&self.hub, &self.key, row.as_ref(), taken).then_some(text);
        answer(&self.hub, &self.key, taken, text).await;
    }

    async fn edit_row<T: Send + 'static>(
        &self,
        edit: impl FnOnce(&mut SessionRow) -> T + Send + 'static,
    ) -> Result<Option<T>, String> {
        let (hub, agent, key) = (self.hub.clone(), self.agent.clone(), self.key.clone());
        let change = move |rows: &mut crate::routes::store::RouteRows| {
            let mut row = readable_row(rows, &key, &agent, &hub)?;
            let before = row.clone();
            let value = edit(&mut row);
            if row != before {
                put_row(rows, &key, &row, &[]);
            }
            Some(value)
        };
        self.hub.rows.edit(&self.hub.store(&self.agent), change).await
    }

    async fn read_row(&self) -> Option<SessionRow> {
        self.edit_row(|row| row.clone()).await.ok().flatten()
    }

    fn finder<'a>(&'a self, taken: &'a TakenMessage) -> SessionFinder<'a> {
        SessionFinder { hub: &self.hub, agent: &self.agent, key: &self.key, message: &taken.message }
    }

    /// Row to change: one is made with its session if there is none.
    async fn change_row<T: Send + Clone + 'static>(
        &mut self,
        taken: &TakenMessage,
        edit: impl FnOnce(&mut SessionRow) -> T + Send + Clone + 'static,
    ) -> Result<T, String> {
        if let Some(value) = self.edit_row(edit.clone()).await? {
            self.row = self.read_row().await;
            return Ok(value);
        }
        self.finder(taken).open(Restart::IfOver).await?;
        let value = self.edit_row(edit).await?.ok_or("the session row is damaged")?;
        self.row = self.read_row().await;
        Ok(value)
    }

    async fn stop_all(&mut self) -> String {
        let dropped = self.queue.clear();
        for message in &dropped {
            self.drop_waiting(message, "stopped").await;
        }
        let what = match dropped.len() {
            0 => String::new(),
            1 => " 1 waiting message was dropped.".to_owned(),
            count => format!(" {count} waiting messages were dropped."),
        };
        match &mut self.running {
            Some(running) => {
                running.stopped = true;
                self.stop().await;
                format!("Stopped.{what}")
            }
            None => format!("No turn is running.{what}"),
        }
    }

    async fn wish_reset(&mut self, taken: TakenMessage) {
        if self.running.is_none() {
            if let Some(message) = self.reset(taken).await {
                let steps = self.queue.push(message, now(), &self.settings());
                self.perform(steps).await;
            }
            return;
        }
        if self.reset.is_some() {
            return self.answer(&taken, BUSY.to_owned()).await;
        }
        self.reset = Some(PendingReset { taken, by: now().plus(RESET_WAIT_MS) });
    }

    /// A reset that waited for a turn: its time is over.
    pub(super) async fn reset_is_late(&mut self) {
        if let Some(PendingReset { taken, .. }) = self.reset.take() {
            self.answer(&taken, BUSY.to_owned()).await;
        }
    }

    /// Begins another conversation, with the model and the first prompt of the message. Returns what is to be sent there.
    pub(super) async fn reset(&mut self, taken: TakenMessage) -> Option<QueuedMessage> {
        let text = match self.restart(&taken).await {
            Ok((_, prompt)) if !prompt.is_empty() => return Some(self.wait(taken, Some(&prompt))),
            Ok((Some(model), _)) => format!("New conversation with {model}."),
            Ok((None, _)) => "New conversation.".to_owned(),
            Err(why) => self.worded(Err(why)),
        };
        self.answer(&taken, text).await;
        None
    }

    /// Returns the model and the first prompt.
    async fn restart(&mut self, taken: &TakenMessage) -> Result<(Option<String>, String), String> {
        let engine = self.hub.engine(&self.agent).await?;
        let models = EngineClient::of(&engine, &taken.message.channel).models().await;
        let config = self.hub.channel(&taken.message.channel).cloned().unwrap_or_default();
        let mentions: Vec<&str> = config.mentions.iter().map(String::as_str).collect();
        let triggers = &self.hub.session.reset_triggers;
        let trigger = find_trigger(&taken.message.text, triggers, &mentions, &models, true);
        let Some(trigger) = trigger else { return Err("no reset trigger".to_owned()) };
        let chosen = trigger.model.and_then(|index| models.get(index));
        let chosen = chosen.map(|model| (model.provider.clone(), model.model.clone()));
        let model = chosen.as_ref().map(|(_, model)| model.clone());
        let session = self.finder(taken).open(Restart::Now(chosen)).await?;
        self.row = Some(session.row);
        Ok((model, trigger.prompt))
    }

    async fn send_setting(&mut self, taken: &TakenMessage, setting: SendSetting) {
        // Heard before or after: whoever turns replies off is told so, and nothing more.
        let before = self.sends(self.read_row().await.as_ref(), taken);
        let value = setting.row_value();
        let done = self.change_row(taken, move |row| row.settings.send_policy = value).await;
        let after = self.sends(self.row.as_ref(), taken);
        let text = match (&done, setting) {
            (Err(_), _) => FAILED.to_owned(),
            (Ok(()), SendSetting::On) => "Replies to this chat are on.".to_owned(),
            (Ok(()), SendSetting::Off) => "Replies to this chat are off. The operator still sees them.".to_owned(),
            (Ok(()), SendSetting::Inherit) => {
                format!("Replies to this chat follow the rules: {}.", if after { "on" } else { "off" })
            }
        };
        if let Err(why) = done {
            tracing::warn!(why, "/send failed");
        }
        answer(&self.hub, &self.key, taken, (before || after).then_some(text)).await;
    }

    fn sends(&self, row: Option<&SessionRow>, taken: &TakenMessage) -> bool {
        send_decision(&self.hub, &self.key, row, taken).action == SendAction::Allow
    }

    async fn queue_setting(&mut self, taken: &TakenMessage, change: QueueCommand) -> Result<String, String> {
        match change {
            QueueCommand::Show => self.row = self.read_row().await,
            QueueCommand::Reset => self.store_queue(taken, QueueOverrides::default()).await?,
            QueueCommand::Set(overrides) => self.store_queue(taken, overrides).await?,
        }
        let waiting = self.queue.waiting().count();
        Ok(format!("Queue: {}. Waiting: {waiting}.", queue_words(&self.settings())))
    }

    async fn store_queue(&mut self, taken: &TakenMessage, overrides: QueueOverrides) -> Result<(), String> {
        self.change_row(taken, move |row| overrides.store(&mut row.settings)).await
    }

    async fn status(&mut self, taken: &TakenMessage) -> Result<String, String> {
        self.row = self.read_row().await;
        let Some(row) = &self.row else { return Ok(format!("No conversation yet.\nKey: {}", self.key)) };
        let counters = &row.conversation.counters;
        let figure = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        let due = reset_due(reset_policy(&self.hub, &self.key, &taken.message), row, &TimeZone::system());
        let due = due.map(minute);
        let sends = self.sends(Some(row), taken);
        let lines = [
            format!("Session: {}", row.links.label.as_deref().unwrap_or("Main")),
            format!("Key: {}", self.key),
            format!("Model: {}", row.shown_model().unwrap_or("?")),
            format!("Context: {} of {} tokens", figure(row.total_tokens()), figure(counters.context_tokens)),
            format!("Last turn: {} tokens in, {} out", figure(counters.input_tokens), figure(counters.output_tokens)),
            format!("State: {}", if self.running.is_some() { "running" } else { "idle" }),
            format!("Queue: {}. Waiting: {}", queue_words(&self.settings()), self.queue.waiting().count()),
            format!("Replies: {}", if sends { "on" } else { "off" }),
            format!("New conversation: {}", due.as_deref().unwrap_or("never automatically")),
        ];
        Ok(lines.join("\n"))
    }

    async fn context(&mut self, taken: &TakenMessage, view: ContextView) -> Result<String, String> {
        if view == ContextView::Help {
            return Ok(
                "/context list: the kinds of content. /context detail: the largest parts. /context json".to_owned()
            );
        }
        let Some(row) = self.read_row().await else { return Ok("No conversation yet.".to_owned()) };
        let engine = self.hub.engine(&self.agent).await?;
        let mut client = EngineClient::of(&engine, &taken.message.channel);
        let session = row.conversation.session_id;
        if client.open(&session).await.map_err(|error| error.text().to_owned())?.is_none() {
            return Ok("No conversation yet.".to_owned());
        }
        let asked = client.session(&session, SessionCommand::Context, None).await;
        let events = asked.map_err(|error| error.text().to_owned())?;
        let report = events.iter().find_map(|stamped| match &stamped.event {
            Event::Session { event: SessionEvent::Context(report), .. } => Some(report),
            Event::Session { .. } | Event::Engine(_) => None,
        });
        let report = report.ok_or("the engine sent no context")?;
        match view {
            ContextView::Json => serde_json::to_string_pretty(report).map_err(|error| error.to_string()),
            ContextView::Detail => Ok(parts(report)),
            ContextView::List | ContextView::Help => Ok(kinds(report)),
        }
    }

    /// Has the conversation summarised beside the queue, which goes on meanwhile.
    async fn compact(&mut self, taken: TakenMessage, wish: Option<String>) {
        let row = self.read_row().await;
        let refused = match (&self.running, &row) {
            (Some(_), _) => Some(BUSY),
            (None, None) => Some("No conversation yet."),
            (None, Some(_)) => None,
        };
        if let Some(text) = refused {
            return self.answer(&taken, text.to_owned()).await;
        }
        let Some(session) = row.as_ref().map(|row| row.conversation.session_id.clone()) else { return };
        let (hub, agent, key) = (self.hub.clone(), self.agent.clone(), self.key.clone());
        let sends = may_send(&hub, &key, row.as_ref(), &taken);
        tokio::spawn(async move {
            let text = tokio::select! {
                text = summarise(&hub, &agent, &session, &taken, wish.unwrap_or_default()) => text,
                () = hub.ending.cancelled() => return,
            };
            let text = text.unwrap_or_else(|why| {
                tracing::warn!(why, "/compact failed");
                FAILED.to_owned()
            });
            answer(&hub, &key, &taken, sends.then_some(text)).await;
        });
    }
}

async fn summarise(
    hub: &ChannelHub,
    agent: &AgentId,
    session: &SessionId,
    taken: &TakenMessage,
    wish: String,
) -> Result<String, String> {
    let engine = hub.engine(agent).await?;
    let mut client = EngineClient::of(&engine, &taken.message.channel);
    if client.open(session).await.map_err(|error| error.text().to_owned())?.is_none() {
        return Ok("No conversation yet.".to_owned());
    }
    let asked = client.session(session, SessionCommand::Compact { wish }, None).await;
    let mut answers = asked.map_err(|error| error.text().to_owned())?.into_iter();
    let end = async {
        loop {
            let stamped = match answers.next() {
                Some(stamped) => stamped,
                None => client.event().await.ok_or("the engine has ended")?,
            };
            match &stamped.event {
                Event::Session { id, event: SessionEvent::TurnEnded { end } } if id == session => {
                    return Ok(match end {
                        TurnEnd::Done | TurnEnd::Plan => "The conversation was summarised.".to_owned(),
                        TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::Limit => FAILED.to_owned(),
                    });
                }
                // Its words may name what is the operator's.
                Event::Session { id, event: SessionEvent::Notice(notice) }
                    if id == session && notice.level != Level::Info =>
                {
                    return Ok(FAILED.to_owned());
                }
                Event::Session { id, event: SessionEvent::Notice(notice) } if id == session => {
                    return Ok(notice.text.clone());
                }
                Event::Session { .. } | Event::Engine(_) => {}
            }
        }
    };
    tokio::time::timeout(SUMMARISED, end).await.unwrap_or_else(|_| Err("it took too long".to_owned()))
}

fn queue_words(settings: &QueueSettings) -> String {
    let cap = settings.cap.map_or_else(|| "off".to_owned(), |cap| cap.to_string());
    let (mode, drop) = (settings.mode.word(), settings.drop.word());
    format!("{mode}, debounce {} ms, cap {cap}, drop {drop}", settings.debounce_ms)
}

fn total_line(report: &ContextReport) -> String {
    let window = report.window.map_or_else(|| "?".to_owned(), |window| window.to_string());
    format!("Context: about {} of {window} tokens, model {}", report.total(), report.model)
}

/// Tokens by kind.
fn kinds(report: &ContextReport) -> String {
    let mut lines = vec![total_line(report)];
    for sort in ContextSort::ALL {
        let tokens: u64 = report.parts.iter().filter(|part| part.sort == sort).map(|part| part.tokens).sum();
        if tokens > 0 {
            lines.push(format!("{}: {tokens}", sort.words()));
        }
    }
    lines.join("\n")
}

/// The largest parts.
fn parts(report: &ContextReport) -> String {
    let mut all: Vec<_> = report.parts.iter().chain(&report.largest).collect();
    all.sort_by(|a, b| (b.tokens, &a.name).cmp(&(a.tokens, &b.name)));
    all.dedup();
    let line = |part: &&ContextPart| format!("{} {}: {}", part.sort.words(), clean_line(&part.name), part.tokens);
    std::iter::once(total_line(report)).chain(all.iter().take(PARTS).map(line)).collect::<Vec<_>>().join("\n")
}
