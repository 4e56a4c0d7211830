//! Consequences of quitting, by session.

use super::State;
use super::engine_facts::EngineLine;
use super::open::Open;
use crate::domain::SessionMeta;
use crate::domain::attention::Attention;
use crate::domain::sanitise::clean_line;

/// Maximum number of sessions that are named.
const NAMED: usize = 6;

impl State {
    /// Sessions that quitting stops or leaves waiting, a line each, then what becomes of them.
    #[must_use]
    pub fn leaving(&self) -> Vec<String> {
        if self.engine.line != EngineLine::Own {
            return self.going_on();
        }
        let (mut lines, mut stopped, mut plans) = (Vec::new(), 0, 0);
        let mut metas: Vec<&SessionMeta> = self.sessions.metas().filter(|meta| meta.held_by.is_none()).collect();
        metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
        for meta in metas {
            let jobs = self.conversations.open.get(&meta.id).map_or(0, Open::running_jobs);
            let state = match meta.attention() {
                Attention::NeedsYou(_) if meta.plan_pending => {
                    plans += 1;
                    "plan kept".to_owned()
                }
                // The request is the spawned session's.
                Attention::NeedsYou(_) if self.sessions.waits_below(&meta.id) => "waiting on a subsession, \
                 will be interrupted"
                    .to_owned(),
                Attention::NeedsYou(what) => format!("{}, will be interrupted", clean_line(&what)),
                Attention::Running => "its turn will be interrupted".to_owned(),
                _ if jobs == 0 => continue,
                _ => String::new(),
            };
            stopped += usize::from(state.ends_with("interrupted"));
            let jobs = match jobs {
                0 => String::new(),
                1 => "1 background job will be stopped".to_owned(),
                n => format!("{n} background jobs will be stopped"),
            };
            let what: Vec<String> = [state, jobs].into_iter().filter(|part| !part.is_empty()).collect();
            let below = if meta.parent.is_some() { "  " } else { "" };
            lines.push(format!("{below}{}: {}", clean_line(meta.shown_title()), what.join(" · ")));
        }
        let more = lines.len().saturating_sub(NAMED);
        lines.truncate(NAMED);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        if lines.is_empty() {
            lines.push("Nothing is running".to_owned());
        }
        let after = match (stopped, plans) {
            (0, 0) => "Everything is saved.",
            (0, _) => "Everything is saved. Pending plans are kept.",
            _ => "Everything is saved. After a restart, Enter continues interrupted turns.",
        };
        lines.push(after.to_owned());
        lines
    }

    /// The same where a gateway has the turns: they go on.
    fn going_on(&self) -> Vec<String> {
        let mut metas: Vec<&SessionMeta> = self.sessions.metas().filter(|meta| meta.held_by.is_none()).collect();
        metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
        let mut lines: Vec<String> = metas
            .into_iter()
            .filter_map(|meta| {
                let state = match meta.attention() {
                    Attention::NeedsYou(_) => "needs you",
                    Attention::Running => "goes on",
                    _ => return None,
                };
                Some(format!("{}: {state}", clean_line(meta.shown_title())))
            })
            .collect();
        let more = lines.len().saturating_sub(NAMED);
        lines.truncate(NAMED);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines.push("The gateway goes on without this screen.".to_owned());
        lines
    }
}
