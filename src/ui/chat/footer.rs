//! Line below a turn that is over: its time, its tokens, what they cost, and the files that it changed.

use super::heads::{ANSWER, Heads, NEAR, Speaker, is_typed, speaker};
use super::row::lasted;
use crate::app::state::chat::{Entry, Spent};
use crate::domain::Body;
use crate::theme::Role;
use crate::ui::figures::{count, dollars, tokens};
use crate::ui::text;
use ratatui::text::{Line, Span};
use std::collections::BTreeSet;

/// Milliseconds below which the time of a turn says nothing.
const SHORT: u64 = 1_000;

impl Heads<'_> {
    /// The footer below a row; `None` where the turn goes on behind it, and where it has nothing to tell.
    pub(super) fn footer(&self, index: usize) -> Option<Line<'static>> {
        if !self.is_end(index) {
            return None;
        }
        let rows = self.turn(index);
        let look = self.look;
        let dim = look.style(Role::Dim);
        let mut parts = Vec::new();
        let took = self.took(index, &rows);
        if took >= SHORT {
            parts.push(vec![Span::styled(lasted(took), dim)]);
        }
        parts.extend(self.spent(index).into_iter().map(|part| vec![Span::styled(part, dim)]));
        parts.extend(self.changed(&rows));
        let dot = Span::styled(look.glyph(" · ", " - "), look.style(Role::Faint));
        let mut spans: Vec<Span<'static>> = Vec::new();
        for part in parts {
            // What has no room is left out as a whole.
            if text::spans_width(&spans) + text::spans_width(&part) + 5 > self.width {
                break;
            }
            if !spans.is_empty() {
                spans.push(dot.clone());
            }
            spans.extend(part);
        }
        (!spans.is_empty()).then(|| Line::from(spans))
    }

    /// True if a row is the last of a turn that is over.
    fn is_end(&self, index: usize) -> bool {
        let own = self.entry(index).is_some_and(|entry| speaker(entry) == Speaker::Assistant && !entry.live);
        if !own {
            return false;
        }
        let after = (index + 1..self.chat.entries.len()).take(NEAR).filter_map(|i| self.entry(i));
        let mut talk =
            after.filter(|entry| matches!(entry.message.body, Body::User(_)) || speaker(entry) != Speaker::Nobody);
        match talk.next().map(|entry| &entry.message.body) {
            Some(Body::User(said)) => !said.steer,
            Some(Body::Tool(call)) => is_typed(call),
            Some(_) => false,
            None => !self.opts.running && self.chat.later.is_none(),
        }
    }

    /// Rows of the turn that ends with a row, from below.
    fn turn(&self, index: usize) -> Vec<&Entry> {
        let rows = (index.saturating_sub(ANSWER)..=index).rev().filter_map(|i| self.entry(i));
        let asked = |entry: &&Entry| match &entry.message.body {
            Body::User(said) => said.steer,
            Body::Tool(call) => !is_typed(call),
            _ => true,
        };
        rows.take_while(asked).collect()
    }

    /// Milliseconds from the message to the end of its answer.
    fn took(&self, index: usize, rows: &[&Entry]) -> u64 {
        let asked = index.checked_sub(rows.len()).and_then(|at| self.entry(at));
        let Some(from) = asked.or(rows.last().copied()).map(|entry| entry.message.at) else { return 0 };
        let ends = rows.iter().filter(|entry| speaker(entry) == Speaker::Assistant).map(|entry| {
            let millis = match &entry.message.body {
                Body::Tool(call) => call.millis,
                Body::Thinking(thinking) => thinking.millis,
                _ => None,
            };
            entry.message.at.plus(millis.unwrap_or(0))
        });
        ends.max().map_or(0, |until| until.since(from))
    }

    /// Tokens and money of the turn, where it began while this screen looked on.
    fn spent(&self, index: usize) -> Vec<String> {
        let Some(at) = self.entry(index).map(|entry| entry.message.at) else { return Vec::new() };
        let turns = &self.chat.turns;
        let Some(place) = turns.iter().rposition(|turn| turn.at <= at) else { return Vec::new() };
        let (from, until): (Spent, Spent) = match (turns.get(place), turns.get(place + 1)) {
            (Some(from), until) => (*from, until.copied().unwrap_or(self.opts.spent)),
            _ => return Vec::new(),
        };
        let (input, output) = (until.input.saturating_sub(from.input), until.output.saturating_sub(from.output));
        let mut parts = Vec::new();
        if input + output > 0 {
            parts.push(format!("{} tokens in, {} out", tokens(input), tokens(output)));
        }
        let cost = until.cost_usd - from.cost_usd;
        if cost > 0.0 {
            parts.push(dollars(cost));
        }
        parts
    }

    /// Files that the turn changed, and their lines.
    fn changed(&self, rows: &[&Entry]) -> Option<Vec<Span<'static>>> {
        let calls = rows.iter().filter_map(|entry| entry.message.tool()).filter(|call| call.status.ended());
        let diffs: Vec<_> = calls.flat_map(|call| call.figures.changes()).collect();
        let files: BTreeSet<&str> = diffs.iter().map(|diff| diff.path.as_str()).collect();
        let sum = |of: fn(&crate::domain::diff::FileDiff) -> u32| diffs.iter().map(|diff| of(diff)).sum::<u32>();
        let look = self.look;
        (!files.is_empty()).then(|| {
            vec![
                Span::styled(count(files.len(), "file ", "files "), look.style(Role::Dim)),
                Span::styled(format!("+{}", sum(|diff| diff.added)), look.style(Role::Good)),
                Span::raw(" "),
                Span::styled(format!("{}{}", look.glyph("−", "-"), sum(|diff| diff.removed)), look.style(Role::Error)),
            ]
        })
    }
}
