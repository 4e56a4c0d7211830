//! `lisle doctor`: what of this machine and this installation lisle can use, printed. What is looked at is `runtime::doctor`'s.

use super::args::{Doctor, DoctorCommand};
use super::exit::Exit;
use super::output::{complain, say};
use crate::domain::finding::{Finding, Health};
use crate::domain::sanitise;
use crate::runtime::doctor::{apparmor, findings, sandbox};
use crate::runtime::setup::Bootstrap;
use crate::ui::cells::{width, wrap};
use std::fmt::Write;

pub(super) fn run(bootstrap: &Bootstrap, args: &Doctor) -> Exit {
    if args.what == Some(DoctorCommand::Apparmor) {
        return match std::env::current_exe() {
            Ok(program) => {
                say(&apparmor(&program));
                Exit::Done
            }
            Err(error) => {
                complain(&format!("lisle: can't find the path of this program: {error}"));
                Exit::Failed
            }
        };
    }
    let facts = match args.what {
        Some(DoctorCommand::Sandbox) => sandbox(bootstrap),
        _ => findings(bootstrap),
    };
    say(&if args.json { json(&facts) } else { text(&facts, columns()) });
    if facts.iter().any(|fact| fact.state == Health::Broken) { Exit::Failed } else { Exit::Done }
}

/// Columns of the terminal; `None` where the output goes elsewhere, which gets a line for each finding.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn json(facts: &[Finding]) -> String {
    sanitise::reveal_json(&serde_json::to_string_pretty(facts).unwrap_or_default()).into_owned() + "\n"
}

/// Below so many columns for what was found it stands under its name.
const NARROW: usize = 36;

fn text(facts: &[Finding], columns: Option<usize>) -> String {
    let longest = facts.iter().map(|fact| fact.about.len()).max().unwrap_or_default();
    let mut out = String::new();
    for fact in facts {
        let word = match fact.state {
            Health::Ok => "ok    ",
            Health::Warn => "warn  ",
            Health::Broken => "BROKEN",
        };
        let clean = |text: &str| sanitise::clean_line(&text.replace('\n', " ")).trim_end_matches('.').to_owned();
        let (says, advice) = (clean(&fact.says), clean(&fact.advice));
        let Some(columns) = columns else {
            let _ = write!(out, "{word}  {:<longest$}  {says}", fact.about);
            let _ = if advice.is_empty() { writeln!(out) } else { writeln!(out, ". {advice}.") };
            continue;
        };
        let beside = word.len() + longest + 4;
        let under = columns < beside + NARROW;
        let indent = if under { 2 } else { beside };
        // The last column stays free: some terminals break the line there by themselves.
        let room = columns.saturating_sub(indent + 1).max(1);
        let lines = at_blanks(&says, room)
            .into_iter()
            .chain(at_blanks(&advice, room).into_iter().filter(|line| !line.is_empty()));
        let head = format!("{word}  {:<longest$}", fact.about);
        for (number, line) in lines.enumerate() {
            let _ = match (number, under) {
                (0, false) => writeln!(out, "{head}  {line}"),
                (0, true) => writeln!(out, "{}\n{:indent$}{line}", head.trim_end(), ""),
                _ => writeln!(out, "{:indent$}{line}", ""),
            };
        }
    }
    out
}

/// A text in lines, broken at blanks alone: settings, paths and commands in it stay whole so far as they fit.
fn at_blanks(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(now) = lines.last_mut() else { break };
        if now.is_empty() || width(now) + 1 + width(word) <= room {
            now.push_str(if now.is_empty() { "" } else { " " });
            now.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().flat_map(|line| wrap(line, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_alone_where_words_fit() {
        assert_eq!(at_blanks("tmux, D-Bus, in [sandbox] of", 12), ["tmux, D-Bus,", "in [sandbox]", "of"]);
        assert_eq!(at_blanks("a abcdefgh", 5), ["a", "abcde", "fgh"]);
        assert_eq!(at_blanks("", 5), [""]);
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let long = "a word of many and /a/very/long/path/without/a/blank/in/it ".repeat(9);
        let facts = [Finding::warn("namespaces", &long, &long), Finding::ok("x", "")];
        for columns in [1, 2, 20, 39, 40, 53, 54, 55, 80, 140] {
            let text = text(&facts, Some(columns));
            // The names themselves are not broken.
            let longest = text.lines().filter(|line| line.starts_with(' ')).map(str::len).max().unwrap_or_default();
            assert!(longest < columns.max(4), "{longest} of {columns}");
            assert!(text.contains("namespaces"));
        }
    }

    #[test]
    fn every_line_has_a_word_and_what_to_do() {
        let facts = [
            Finding::ok("version", "lisle 1"),
            Finding::warn("characters", "ASCII.", "Set LANG."),
            Finding::broken("data", "/x cannot be written\nat all", "Check it"),
        ];
        let expected = "ok      version     lisle 1\nwarn    characters  ASCII. Set LANG.\n\
            BROKEN  data        /x cannot be written at all. Check it.\n";
        assert_eq!(text(&facts, None), expected);
        let wide = "ok      version     lisle 1\nwarn    characters  ASCII\n                    Set LANG\n\
            BROKEN  data        /x cannot be written at all\n                    Check it\n";
        assert_eq!(text(&facts, Some(80)), wide);
        let narrow = "ok      version\n  lisle 1\nwarn    characters\n  ASCII\n  Set LANG\nBROKEN  data\n  /x cannot be\n  \
            written at all\n  Check it\n";
        assert_eq!(text(&facts, Some(20)), narrow);
        let parsed: serde_json::Value = serde_json::from_str(&json(&facts)).unwrap();
        assert_eq!(parsed[1]["state"], "warn");
        assert_eq!(parsed[0].get("advice"), None);
    }
}
