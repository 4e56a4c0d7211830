//! `lisle sessions search`: what was found, as text or JSON, as it comes.

use super::args::SearchArgs;
use super::exit::Exit;
use super::output::{complain, put};
use crate::domain::query::Query;
use crate::domain::sanitise;
use crate::domain::search_hit::{HitIn, RowHit, SessionHits};
use crate::local_time::minute;
use crate::runtime::setup::Bootstrap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) fn search(bootstrap: &Bootstrap, search: &SearchArgs) -> Exit {
    let text = search.query.join(" ");
    let query = match Query::parse(&text) {
        Ok(query) => query,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            complain(&format!("  {}", sanitise::clean_line(&text)));
            let before = text.get(..error.at).unwrap_or_default();
            complain(&format!("  {}^", " ".repeat(before.chars().count())));
            return Exit::Usage;
        }
    };
    if query.is_empty() {
        complain("lisle: empty query. Example: lisle sessions search flaky after:7d");
        return Exit::Usage;
    }
    let marks = std::io::stdout().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
    let stop = AtomicBool::new(false);
    let mut any = false;
    let searched = bootstrap.store.search(&query, &bootstrap.store.properties(), &stop, &mut |found| {
        let text = if search.json {
            serde_json::to_string(&found)
                .map(|line| sanitise::reveal_json(&line).into_owned() + "\n")
                .unwrap_or_default()
        } else {
            let between = if any { "\n" } else { "" };
            format!("{between}{}", as_text(&found, marks))
        };
        any = true;
        if !put(&text) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    if let Some(error) = searched.error {
        complain(&format!("lisle: {error}"));
        return Exit::Usage;
    }
    if searched.unreadable > 0 {
        complain(&format!("lisle: can't read {} of {} sessions.", searched.unreadable, searched.sessions));
    }
    // 1, as a search of files ends with that finds nothing.
    if any { Exit::Done } else { Exit::Failed }
}

fn as_text(found: &SessionHits, marks: bool) -> String {
    let title = sanitise::clean_line(&found.title);
    let mut out = format!("{}  {}  {title}\n", found.session, minute(found.last_message));
    for hit in &found.hits {
        let _ = writeln!(out, "  {}: {}", place(hit.place), line(hit, marks));
    }
    let more = found.total.saturating_sub(found.hits.len() as u64);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
    out
}

fn place(place: HitIn) -> &'static str {
    match place {
        HitIn::Title => "title",
        HitIn::Id => "id",
        HitIn::Label => "label",
        HitIn::User => "user",
        HitIn::Assistant => "assistant",
        HitIn::Tool => "tool",
        HitIn::Other => "note",
    }
}

/// The line, which comes clean, with its marks in bold and underlined.
fn line(hit: &RowHit, marks: bool) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (start, end) in hit.marks.iter().filter(|_| marks) {
        if let (Some(before), Some(marked)) = (hit.line.get(from..*start), hit.line.get(*start..*end)) {
            let _ = write!(out, "{before}\u{1b}[1;4m{marked}\u{1b}[0m");
            from = *end;
        }
    }
    out + hit.line.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{At, SessionId};

    #[test]
    fn hits_are_grouped_and_marked() {
        let hit = |place, line: &str, marks| RowHit { place, row: None, at: 0, when: At(0), line: line.into(), marks };
        let found = SessionHits {
            session: SessionId::parse("261121-calm-brook").unwrap(),
            title: "A\nTitle".into(),
            last_message: At(0),
            hits: vec![hit(HitIn::User, "über foo", vec![(0, 5), (6, 9)]), hit(HitIn::Other, "x", vec![])],
            total: 4,
        };
        let text = as_text(&found, true);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("261121-calm-brook  ") && lines[0].ends_with("  A Title"), "{text}");
        assert_eq!(lines[1], "  user: \u{1b}[1;4müber\u{1b}[0m \u{1b}[1;4mfoo\u{1b}[0m");
        assert_eq!(lines[2..], ["  note: x", "  and 2 more"]);
        assert_eq!(as_text(&found, false).lines().nth(1), Some("  user: über foo"));
    }
}
