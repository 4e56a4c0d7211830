//! `lisle doctor`: what of this machine and this installation lisle can use, printed. What is looked at is `runtime::doctor`'s.

use super::Exit;
use super::args::{Doctor, DoctorCommand};
use super::output::{complain, say};
use crate::domain::finding::{Finding, Health};
use crate::domain::sanitise;
use crate::runtime::doctor::{apparmor, findings};
use crate::runtime::setup::Ground;
use std::fmt::Write;

pub(super) fn run(ground: &Ground, args: &Doctor) -> Exit {
    if args.what == Some(DoctorCommand::Apparmor) {
        return match std::env::current_exe() {
            Ok(program) => {
                say(&apparmor(&program));
                Exit::Done
            }
            Err(error) => {
                complain(&format!("lisle: where this program lies is not known: {error}"));
                Exit::Failed
            }
        };
    }
    let facts = findings(ground);
    say(&if args.json { json(&facts) } else { text(&facts) });
    if facts.iter().any(|fact| fact.state == Health::Broken) { Exit::Failed } else { Exit::Done }
}

fn json(facts: &[Finding]) -> String {
    serde_json::to_string_pretty(facts).unwrap_or_default() + "\n"
}

fn text(facts: &[Finding]) -> String {
    let width = facts.iter().map(|fact| fact.about.len()).max().unwrap_or_default();
    let mut out = String::new();
    for fact in facts {
        let word = match fact.state {
            Health::Ok => "ok    ",
            Health::Warn => "warn  ",
            Health::Broken => "BROKEN",
        };
        let says = sanitise::clean_line(&fact.says.replace('\n', " ")).into_owned();
        let _ = write!(out, "{word}  {:<width$}  {}", fact.about, says.trim_end_matches('.'));
        let advice = sanitise::clean_line(&fact.advice.replace('\n', " ")).into_owned();
        let _ = if advice.is_empty() { writeln!(out) } else { writeln!(out, ". {}.", advice.trim_end_matches('.')) };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_word_and_what_to_do() {
        let facts = [
            Finding::ok("version", "lisle 1"),
            Finding::warn("characters", "ASCII.", "Set LANG."),
            Finding::broken("data", "/x cannot be written\nat all", "Check it"),
        ];
        let expected = "ok      version     lisle 1\nwarn    characters  ASCII. Set LANG.\n\
            BROKEN  data        /x cannot be written at all. Check it.\n";
        assert_eq!(text(&facts), expected);
        let parsed: serde_json::Value = serde_json::from_str(&json(&facts)).unwrap();
        assert_eq!(parsed[1]["state"], "warn");
        assert_eq!(parsed[0].get("advice"), None);
    }
}
