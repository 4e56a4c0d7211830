//! Content of the next request, and its share of the model's window.

use super::state::Machine;
use super::turn;
use super::turn_state::{Standing, Work};
use crate::agent::model_context::project_memory::Memory;
use crate::agent::model_context::prompt::{self, PromptPart, Surroundings};
use crate::agent::model_context::{conversation, extension_lines, tokens};
use crate::domain::context::{ContextPart, ContextReport, ContextSort, Measured};
use crate::domain::ids::At;
use crate::domain::message::{Body, Failure, FailureAction, Message};
use crate::extensions::skill_tool;
use crate::provider::{ConversationItem, ModelRequest, ProviderError};
use std::sync::Arc;

/// Number of the largest results that are named.
const LARGEST: usize = 20;

impl Machine {
    /// Sets the content of project memory. It applies from the next turn on.
    pub fn set_memory(&mut self, memory: Arc<Memory>) {
        self.budget.set_memory(memory);
    }

    /// A turn may begin with this machine's next step.
    #[must_use]
    pub fn may_begin(&self) -> bool {
        self.turn.is_none() || (!self.queue.items.is_empty() && !self.queue.held)
    }

    /// The next request. What stands before the conversation is the same for all requests of a turn, so that providers can keep
    /// it: what changes meanwhile is told behind it.
    pub(super) fn next_request(&mut self, now: At) -> ModelRequest {
        let anew = || Standing { system: prompt::joined(&self.prompt(now)), tools: self.offered() };
        let kept = self.turn.as_ref().and_then(|turn| turn.standing.clone());
        let standing = kept.unwrap_or_else(anew);
        if let Some(turn) = &mut self.turn {
            turn.standing = Some(standing.clone());
        }
        ModelRequest {
            model: self.meta.model.clone().unwrap_or_default(),
            system: standing.system,
            items: conversation::items(self.transcript.rows()),
            tools: standing.tools,
            thinking: self.meta.thinking,
        }
    }

    fn prompt(&self, now: At) -> Vec<PromptPart> {
        let today =
            jiff::Timestamp::from_millisecond(now.0).map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
        prompt::parts(&Surroundings {
            cwd: &self.meta.cwd,
            session_dir: &self.config.session_dir,
            today: &today,
            mode: self.meta.mode,
            headless: self.config.headless,
            plan: self.own.progress.as_ref().filter(|progress| !progress.over),
            memory: self.budget.memory(),
            preamble: &self.own.preamble,
            child: self.meta.parent.is_some(),
            no_tools: self.own.no_tools,
            sources: &self.config.extensions.guides,
            skills: self
                .offers(skill_tool::NAME)
                .then(|| extension_lines::skills(&self.config.extensions.list))
                .flatten(),
            agents: self.offers("spawn").then(|| extension_lines::agents(&self.config.extensions.list)).flatten(),
            persona: self.persona(),
        })
    }

    /// A guess at the tokens of what every request has beside the conversation.
    pub(super) fn standing_tokens(&self, now: At) -> tokens::Guess {
        let system: u64 = self.prompt(now).iter().map(|part| tokens::text(&part.text)).sum();
        tokens::Guess { tools: self.offered().iter().map(tokens::tool).sum(), rest: system }
    }

    /// Content of the next request, with the rows as they are now.
    #[must_use]
    pub fn context_report(&self, now: At) -> ContextReport {
        let mut parts = Vec::new();
        let mut add = |sort, name: &str, count: u64, guess: u64| {
            let tokens = if sort == ContextSort::Tool {
                self.budget.gauge().scaled_tool(guess)
            } else {
                self.budget.gauge().scaled(guess)
            };
            parts.push(ContextPart { sort, name: name.to_owned(), count, tokens });
        };
        for part in self.prompt(now) {
            add(part.sort, &part.name, part.text.chars().count() as u64, tokens::text(&part.text));
        }
        for spec in self.offered() {
            add(ContextSort::Tool, &spec.name, 1, tokens::tool(&spec));
        }
        let mut live = self.transcript.rows().to_vec();
        live.extend(self.live_rows().into_iter().filter(|row| matches!(row.body, Body::Tool(_))));
        let items = conversation::items(&live);
        let carried = conversation::Effective::of(&live).carried.is_some();
        let (mut user, mut said, mut calls, mut results) = ((0, 0), (0, 0), (0, 0), (0, 0));
        let one = |slot: &mut (u64, u64), guess: u64| *slot = (slot.0 + 1, slot.1 + guess);
        for (at, item) in items.iter().enumerate() {
            match item {
                ConversationItem::User(_) if at == 0 && carried => {
                    add(ContextSort::Carried, "kept from the last compaction", 1, tokens::item(item));
                }
                ConversationItem::User(_) => one(&mut user, tokens::item(item)),
                ConversationItem::Assistant(reply) => {
                    let text = tokens::text(&reply.text);
                    if !reply.text.is_empty() {
                        one(&mut said, text);
                    }
                    for call in &reply.calls {
                        one(&mut calls, tokens::text(&call.name) + tokens::text(&call.input.to_string()));
                    }
                }
                ConversationItem::Results(all) => {
                    all.iter().for_each(|result| one(&mut results, tokens::text(&result.text)))
                }
            }
        }
        for (sort, name, (count, guess)) in [
            (ContextSort::User, "your messages", user),
            (ContextSort::Assistant, "answers", said),
            (ContextSort::Calls, "tool calls", calls),
            (ContextSort::Results, "tool results", results),
        ] {
            if count > 0 {
                add(sort, name, count, guess);
            }
        }
        let window = self.window();
        ContextReport {
            session: self.meta.id.clone(),
            model: self.meta.model.clone().unwrap_or_default(),
            window,
            compact_at: self.compact_limit(),
            reserve: self.budget.models().output,
            measured: if self.budget.gauge().is_measured() { Measured::Corrected } else { Measured::Guessed },
            largest: self.largest(&live),
            notes: self.budget.memory().problems.iter().map(ToString::to_string).collect(),
            compacting: matches!(self.turn.as_ref().map(|turn| &turn.work), Some(Work::Compacting(_))),
            parts,
        }
    }

    /// The results that take most.
    fn largest(&self, rows: &[Message]) -> Vec<ContextPart> {
        let conversation::Effective { kept, since, .. } = conversation::Effective::of(rows);
        let tool = |row: &Message, elided: bool| {
            let call = row.tool()?;
            let result = call.result.as_deref()?;
            let text = if elided { conversation::elide(result, conversation::KEPT_RESULT) } else { result.into() };
            let name = format!("{} {}", call.name, call.subject);
            let tokens = self.budget.gauge().scaled(tokens::text(&text));
            Some(ContextPart { sort: ContextSort::Results, name, count: 1, tokens })
        };
        let mut all: Vec<ContextPart> = kept.iter().filter_map(|row| tool(row, true)).collect();
        all.extend(since.iter().filter_map(|row| tool(row, false)));
        all.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        all.truncate(LARGEST);
        all
    }

    /// The failure that is shown when a request does not fit and nothing helped.
    pub(super) fn overflow(&self, error: ProviderError) -> Failure {
        let tried = self.turn.as_ref().is_some_and(|turn| turn.compacted.is_some());
        let mut text = error.text.trim_end().to_owned();
        text.push_str(match tried {
            true => " Still too long after compaction.",
            false => " Nothing earlier to compact.",
        });
        if self.has_media() || speaks_of_media(&error) {
            text.push_str(" Send fewer or smaller attachments.");
        }
        Failure {
            code: error.code.to_owned(),
            title: "Context window exceeded".to_owned(),
            text,
            detail: error.further_detail().to_owned(),
            actions: vec![FailureAction::Compact, FailureAction::NewSession],
        }
    }

    /// The failure that is shown of a request. What went along with the last message may be why: that is said where the server
    /// spoke of it, and where it refused a request that had some.
    pub(super) fn failure(&self, error: ProviderError) -> Failure {
        let refused = matches!(error.code, "invalid_request" | "image_too_large" | "provider_error");
        let hint = refused && (speaks_of_media(&error) || self.has_media());
        let mut failure = turn::failure_row(error);
        if hint {
            failure.text.truncate(failure.text.trim_end().len());
            failure.text.push_str(
                " The attachments may be the cause: /rewind and resend without them, or with smaller ones (most \
                 servers accept PNG, JPEG, GIF and WebP).",
            );
        }
        failure
    }

    /// The message that the turn began with has attachments, or one since.
    fn has_media(&self) -> bool {
        let of_turn = self.transcript.rows().iter().rev().find_map(|row| match &row.body {
            Body::User(user) if !user.steer => Some(!user.attachments.is_empty()),
            _ => None,
        });
        of_turn.unwrap_or(false)
    }
}

/// The server itself spoke of pictures or documents.
fn speaks_of_media(error: &ProviderError) -> bool {
    let said = error.detail.to_lowercase();
    ["image", "attachment", "pdf", "media"].iter().any(|word| said.contains(word))
}
