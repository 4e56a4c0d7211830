//! Changes of a session's figures, of other sessions and of the notices, as lines.

use super::facts::facts;
use super::printer::Printer;
use super::row;
use crate::app::state::State;
use crate::app::state::open::Open;
use crate::domain::attention::Attention;
use crate::domain::message::Body;
use crate::domain::notice::{Level, Notice};
use crate::domain::sanitise::clean_line;
use crate::domain::session::{Activity, TitleFrom};
use std::collections::HashSet;

impl Printer {
    pub(super) fn facts(&mut self, state: &State, open: &Open, out: &mut Vec<String>) {
        let now = facts(state, open, &self.home);
        let was = std::mem::replace(&mut self.rows.facts, now);
        let now = &self.rows.facts;
        let mut tell = |label: &str, was: &str, now: &str| {
            if was != now && !now.is_empty() {
                out.push(format!("{label}: {now}"));
            }
        };
        // The start of the first message is no title that tells anything; nor does the work's own status.
        if state.current_meta().is_some_and(|meta| meta.title_from != TitleFrom::Provisional) {
            tell("title", &was.title, &now.title);
        }
        tell("mode", was.mode.shown(), now.mode.shown());
        tell("model", &was.model, &now.model);
        let begins = open.chat.entries.back().is_some_and(|last| matches!(last.message.body, Body::User(_)));
        if open.turn.started.is_none() && !begins {
            tell("status", &was.status, &now.status);
        }
        tell("marked", &was.marked, &now.marked);
        tell("labels", &was.labels, &now.labels);
        tell("directory", &was.cwd, &now.cwd);
        let opt = |text: &Option<String>| text.clone().unwrap_or_default();
        tell("retry", &opt(&was.retry), &opt(&now.retry));
        tell("waiting", &opt(&was.waiting), &opt(&now.waiting));
        tell("warning", &opt(&was.held_by), &opt(&now.held_by));
        for (was, now) in [(&was.plan, &now.plan), (&was.todo, &now.todo)] {
            if was != now {
                out.extend(now.clone());
            }
        }
        if now.redelivery && !was.redelivery {
            out.push(
                "warning: messages queued in the last run are sent in a few seconds; enter any line to hold them"
                    .to_owned(),
            );
        }
        for file in now.files.iter().filter(|file| !was.files.contains(file)) {
            out.push(format!("attached to the next message: {file}"));
        }
        if let Some((part, of)) = now.compacting.filter(|_| was.compacting != now.compacting) {
            out.push(format!("compacting: part {part} of {of}"));
        }
    }

    /// News of sessions that are not shown.
    pub(super) fn others(&mut self, state: &State, out: &mut Vec<String>) {
        let shown = state.current_id();
        let (mut needing, mut running) = (HashSet::new(), HashSet::new());
        for meta in state.sessions.metas() {
            let title = || clean_line(meta.shown_title()).into_owned();
            let here = shown == Some(&meta.id);
            let ran = self.elsewhere.running.contains(&meta.id) && !here && meta.parent.is_none();
            match meta.attention() {
                Attention::NeedsYou(what) => {
                    if !self.elsewhere.needing.contains(&meta.id) && !here {
                        out.push(format!("needs you: {}: {} (/inbox)", title(), clean_line(&what)));
                    }
                    needing.insert(meta.id.clone());
                }
                Attention::Running if matches!(meta.activity, Activity::Running(_)) => {
                    running.insert(meta.id.clone());
                }
                Attention::Failed(why) if ran => {
                    out.push(format!("failed elsewhere: {}: {} (/inbox)", title(), clean_line(&why)));
                }
                Attention::Interrupted(_) if ran => out.push(format!("interrupted elsewhere: {} (/inbox)", title())),
                Attention::Idle | Attention::Unread if ran => out.push(format!("done elsewhere: {}", title())),
                _ => {}
            }
        }
        (self.elsewhere.needing, self.elsewhere.running) = (needing, running);
    }

    pub(super) fn notices(&mut self, state: &State, out: &mut Vec<String>) {
        let now: Vec<Notice> = state.notices.iter().cloned().collect();
        // Before the first session exists only problems are printed.
        let early = !self.greeted;
        let mut kept = Vec::new();
        for notice in &now {
            if self.notices.contains(notice) {
                kept.push(notice.clone());
            } else if !early || notice.level == Level::Error {
                out.extend(row::notice(notice));
                kept.push(notice.clone());
            }
        }
        self.notices = kept;
    }
}
