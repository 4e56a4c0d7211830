//! Rows of the conversation as labelled lines: a call when it starts and when it has ended, a failure with what helps,
//! remarks, plans.
//!
//! A line that begins in the first column is worded by this program. Text of others, of which a line could read like one of
//! them ("approval needed: ..."), stands behind a label, behind the sign of a change, or indented.

use super::super::figures::count;
use super::prose;
use crate::app::state::chat::Density;
use crate::domain::diff::{DiffKind, FileDiff, Hunk};
use crate::domain::message::{Failure, FailureAction, Info, InfoKind, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::permission::Authority;
use crate::domain::plan::{self, Progress};
use crate::domain::sanitise::{clean_line, clean_message, reveal_line};
use crate::domain::tool::{ToolCall, ToolStatus};

/// Characters of what identifies a call.
const SUBJECT: usize = 300;
/// Output lines of a failed call that are printed.
const FAILED: usize = 6;
/// The same of every call, where tails are wanted.
const TAIL: usize = 8;
/// Lines of a result at the most.
const FULL: usize = 1_000;

/// Lines of a text of others that stand below a line of this program.
pub(super) fn indented(lines: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") })
}

/// Lines behind a label: it stands before the first one, or alone where that is a line of its own kind. The others are
/// indented.
pub(super) fn labelled(label: &str, lines: Vec<String>) -> Vec<String> {
    let mut lines = lines.into_iter().peekable();
    let mut out = Vec::with_capacity(lines.len() + 1);
    match lines.peek() {
        None => return out,
        Some(line) if line.starts_with("code") || line.starts_with("table") || line.starts_with("- ") => {
            out.push(format!("{label}:"));
        }
        Some(_) => out.extend(lines.next().map(|line| format!("{label}: {line}"))),
    }
    out.extend(indented(lines));
    out
}

/// A plain text as lines.
pub(super) fn plain(text: &str) -> Vec<String> {
    clean_message(text.trim_end()).split('\n').map(str::to_owned).collect()
}

/// The user's message; that of an approval, which nobody typed, is one line.
pub(super) fn user(said: &UserText, density: Density) -> Vec<String> {
    if plan::is_approval(&said.text) && density != Density::Full {
        let mode = plan::approval_mode(&said.text).map(|mode| format!(": {}", mode.shown()));
        return vec![format!("plan approved{}", mode.unwrap_or_default())];
    }
    let mut lines = if said.text.trim().is_empty() { Vec::new() } else { plain(&said.text) };
    for file in &said.attachments {
        lines.push(format!("file: {}", clean_line(&file.name)));
    }
    labelled(if said.steer { "you, steering" } else { "you" }, lines)
}

/// Verb and subject of a call, on one line.
fn deed(call: &ToolCall) -> String {
    let subject = match call.subject.trim() {
        "" => match &call.input {
            serde_json::Value::Null => String::new(),
            serde_json::Value::Object(map) if map.is_empty() => String::new(),
            input => input.to_string(),
        },
        subject => subject.to_owned(),
    };
    let lines = subject.lines().count();
    let first: String = subject.lines().next().unwrap_or_default().chars().take(SUBJECT).collect();
    let more = if lines > 1 { format!(" (and {} more)", count(lines - 1, "line", "lines")) } else { String::new() };
    format!("{} {}{more}", clean_line(&call.name), reveal_line(&first)).trim_end().to_owned()
}

/// A call that begins.
pub(super) fn call_begins(call: &ToolCall) -> Vec<String> {
    vec![format!("tool: {}", deed(call))]
}

/// Duration in words: `0.4 seconds`, `1 minute 5 seconds`.
pub(super) fn lasted(ms: u64) -> String {
    let minutes = usize::try_from(ms / 60_000).unwrap_or(usize::MAX);
    let seconds = usize::try_from(ms % 60_000 / 1_000).unwrap_or_default();
    match (minutes, seconds) {
        (0, 0..10) if ms % 1_000 >= 100 => format!("{}.{} seconds", ms / 1_000, ms % 1_000 / 100),
        (0, seconds) => count(seconds, "second", "seconds"),
        (minutes, 0) => count(minutes, "minute", "minutes"),
        (minutes, seconds) => {
            format!("{} {}", count(minutes, "minute", "minutes"), count(seconds, "second", "seconds"))
        }
    }
}

/// Added and removed lines of a change.
pub(super) fn change(diff: &FileDiff) -> String {
    let lines = |n: u32| count(usize::try_from(n).unwrap_or(usize::MAX), "line", "lines");
    match (diff.is_new, diff.is_gone) {
        (true, _) => format!("new file, {} added", lines(diff.added)),
        (_, true) => format!("file deleted, {} removed", lines(diff.removed)),
        _ => format!("{} added, {} removed", lines(diff.added), lines(diff.removed)),
    }
}

/// The lines of a change, each behind its sign.
pub(super) fn diff(diff: &FileDiff) -> Vec<String> {
    let mut out: Vec<String> = diff.hunks.iter().flat_map(hunk_lines).collect();
    out.extend(diff.rest());
    out
}

/// The lines of a changed place, each behind its sign.
pub(super) fn hunk_lines(hunk: &Hunk) -> Vec<String> {
    let mut out = vec![format!("from line {}:", hunk.new_start.max(1))];
    for line in &hunk.lines {
        let sign = match line.kind {
            DiffKind::Same => ' ',
            DiffKind::Removed => '-',
            DiffKind::Added => '+',
        };
        out.push(format!("{sign}{}", clean_line(&line.text)));
    }
    out
}

/// A call that has ended.
pub(super) fn call_ended(call: &ToolCall, density: Density) -> Vec<String> {
    let refused = call.decision.as_ref().filter(|decision| !decision.allowed);
    let typed = call.decision.as_ref().is_some_and(|decision| decision.authority == Authority::Typed);
    let failed = call.status == ToolStatus::Error;
    let mut facts = Vec::new();
    if let Some(refused) = refused {
        let person = refused.authority == Authority::Person;
        let said = refused.reason.split_once(": ").map_or("", |(_, said)| said);
        let said = if person { said } else { refused.reason.as_str() };
        let said = clean_line(said.trim());
        facts.push(match (person, said.is_empty()) {
            (true, true) => "by you".to_owned(),
            (true, false) => format!("by you, {said}"),
            (false, _) => said.into_owned(),
        });
    } else {
        match call.figures.exit {
            Some(0) | None => {}
            Some(code) => facts.push(format!("exit {code}")),
        }
        facts.extend(call.figures.withheld.iter().map(|kept| format!("blocked by the sandbox, {}", clean_line(kept))));
        if call.status == ToolStatus::Backgrounded {
            facts.push("continues in the background".to_owned());
        }
        if let Some(job) = &call.figures.job {
            facts.push(format!("continues as job {}", clean_line(job)));
        }
        if let Some(lines) = call.figures.lines {
            facts.push(count(usize::try_from(lines).unwrap_or(usize::MAX), "line", "lines"));
        }
        match call.figures.changes().collect::<Vec<_>>().as_slice() {
            [] => {}
            [one] => facts.push(change(one)),
            several => facts.push(count(several.len(), "file changed", "files changed")),
        }
        if let Some(ms) = call.millis.filter(|ms| call.figures.exit.is_some() || *ms >= 1_000) {
            facts.push(lasted(ms));
        }
    }
    let label = match (refused.is_some(), failed) {
        (true, _) => "tool refused",
        (_, true) => "tool error",
        _ => "tool done",
    };
    let facts = if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) };
    let mut out = vec![format!("{label}: {}{facts}", deed(call))];
    let result = call.result.as_deref().unwrap_or_default().trim();
    let most = match density {
        _ if refused.is_some() => 0,
        _ if typed => FULL,
        Density::Full => FULL,
        Density::Tails => TAIL,
        Density::Lines if failed => FAILED,
        Density::Lines => 0,
    };
    if most > 0 && !result.is_empty() {
        let all = plain(result);
        let hidden = all.len().saturating_sub(most);
        if hidden > 0 {
            out.push(format!("({} before)", count(hidden, "line", "lines")));
        }
        out.extend(indented(all.into_iter().skip(hidden)));
    }
    if density == Density::Full {
        out.extend(call.figures.changes().flat_map(diff));
    }
    out
}

/// A failure, with the commands that help.
pub(super) fn failure(failure: &Failure) -> Vec<String> {
    let title = clean_line(failure.title.trim());
    let title = if title.is_empty() { clean_line(&failure.code) } else { title };
    let mut out = vec![format!("error: {title}")];
    for text in [&failure.text, &failure.detail] {
        if !text.trim().is_empty() {
            out.extend(indented(plain(text.trim())));
        }
    }
    let helps: Vec<&str> = failure
        .actions
        .iter()
        .filter_map(|action| {
            Some(match action {
                FailureAction::Retry => "/retry sends it again",
                FailureAction::Model => "/model switches the model",
                FailureAction::Compact => "/compact frees context",
                FailureAction::NewSession => "/new starts a new session",
                FailureAction::Settings => return None,
            })
        })
        .collect();
    if !helps.is_empty() {
        out.push(format!("options: {}", helps.join("; ")));
    }
    out
}

/// A remark of the program.
pub(super) fn info(info: &Info) -> Vec<String> {
    let text = clean_line(info.text.trim()).into_owned();
    let label = match (info.kind, info.level) {
        (InfoKind::ModeChanged, _) => "mode",
        (InfoKind::Interrupted, _) => "stopped",
        (InfoKind::Restarted, _) => "restarted",
        (InfoKind::Ended, _) => "ended",
        (InfoKind::Compacted, _) => "compacted",
        (InfoKind::Restored, _) => "restored",
        (InfoKind::JobEnded, _) => "job",
        (InfoKind::Remark, Level::Info) => "note",
        (InfoKind::Remark, Level::Warning) => "warning",
        (InfoKind::Remark, Level::Error) => "error",
    };
    vec![format!("{label}: {text}")]
}

/// A word to the user.
pub(super) fn notice(notice: &Notice) -> Vec<String> {
    let label = match notice.level {
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let mut line = format!("{label}: {}", clean_line(notice.text.trim()));
    if !notice.hint.trim().is_empty() {
        line.push_str(&format!(" ({})", clean_line(notice.hint.trim())));
    }
    vec![line]
}

/// Progress of a plan.
pub(super) fn progress(plan: &Progress) -> String {
    let (done, of) = plan.figures();
    let next = plan.next().map(|step| format!(", now step {}: {}", step.number, reveal_line(step.line())));
    format!("plan: {done} of {of} done{}", next.unwrap_or_default())
}

/// Thinking that is over.
pub(super) fn thinking(text: &str, millis: Option<u64>, whole: bool) -> Vec<String> {
    let time = millis.map_or_else(|| "over".to_owned(), lasted);
    if whole && !text.trim().is_empty() {
        return labelled(&format!("thinking, {time}"), prose::whole(text));
    }
    vec![format!("thinking: {time}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_words() {
        let times = [0, 90, 400, 1_000, 9_900, 12_300, 60_000, 65_000];
        let want = [
            "0 seconds",
            "0 seconds",
            "0.4 seconds",
            "1 second",
            "9.9 seconds",
            "12 seconds",
            "1 minute",
            "1 minute 5 seconds",
        ];
        assert_eq!(times.map(lasted), want);
    }

    #[test]
    fn a_label_stands_before_words_and_above_a_list() {
        let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(labelled("you", lines(&["a", "b"])), ["you: a", "  b"]);
        assert_eq!(labelled("you", lines(&["- a"])), ["you:", "  - a"]);
        assert_eq!(labelled("you", Vec::new()), Vec::<String>::new());
    }
}
