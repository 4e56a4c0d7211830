//! `lisle permissions check`: what would become of a command, decided as for a call of an agent: the same facts, the same
//! function. Nothing is run.

use super::args::{AssumedSandbox, Check, PermissionsCommand};
use super::exit::Exit;
use super::output::{complain, say};
use crate::agent::rule_files::RuleBook;
use crate::domain::permission::Mode;
use crate::domain::sanitise;
use crate::domain::tool::{CallFacts, Touch};
use crate::permit::shell::{self, ReadOnlyProfile};
use crate::permit::{self, Policy, Rules, Verdict};
use crate::runtime::setup::Bootstrap;
use crate::sandbox;
use crate::tools::bash::Bash;
use crate::tools::read_tracker::Seen;
use crate::tools::{CallPlace, Tool};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// Runs `lisle permissions`.
pub(super) fn run(bootstrap: &Bootstrap, command: PermissionsCommand) -> Exit {
    match command {
        PermissionsCommand::Check(check) => Checker::new(bootstrap, &check).run(&check),
    }
}

/// Rules and place for the verdict.
struct Checker {
    policy: Policy,
    mode: Mode,
    rules: Rules,
    place: CallPlace,
}

/// Verdict on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VerdictWord {
    Allow,
    Ask,
    Deny,
}

impl VerdictWord {
    fn text(self) -> &'static str {
        match self {
            VerdictWord::Allow => "allow",
            VerdictWord::Ask => "ask",
            VerdictWord::Deny => "deny",
        }
    }

    fn exit(self) -> Exit {
        match self {
            VerdictWord::Allow => Exit::Done,
            VerdictWord::Ask => Exit::WouldAsk,
            VerdictWord::Deny => Exit::WouldDeny,
        }
    }
}

/// Place of calls that are judged and not done.
pub(super) fn place_without_session(bootstrap: &Bootstrap) -> CallPlace {
    CallPlace {
        cwd: bootstrap.cwd().to_owned(),
        folder: None,
        // There is no session; nothing is in its folder.
        session_dir: bootstrap.paths.data.join("no-session"),
        own_dirs: bootstrap.paths.own_dirs(),
        runner: bootstrap.runner().to_owned(),
        allowances: Arc::new(bootstrap.allowances()),
        known: Arc::default(),
        window: 0,
    }
}

impl Checker {
    fn new(bootstrap: &Bootstrap, check: &Check) -> Self {
        let enforced = match check.sandbox {
            Some(held) => held == AssumedSandbox::Enforced,
            None => sandbox::is_enforced(),
        };
        let files = bootstrap.rules().read(bootstrap.cwd()).file_rules();
        let mode = bootstrap.wanted.mode.unwrap_or(bootstrap.settings.permissions.mode);
        Self {
            policy: bootstrap.policy(enforced),
            mode: mode.stricter(files.loosest),
            rules: files.rules,
            place: place_without_session(bootstrap),
        }
    }

    fn run(&self, check: &Check) -> Exit {
        let Some(file) = &check.file else {
            let command = check.command.join(" ");
            let (word, reasons) = self.judged(&command);
            if check.json {
                say(&line(&command, word, &reasons));
                return word.exit();
            }
            let mut text = format!("{}\n", word.text());
            for reason in reasons {
                let _ = writeln!(text, "  {}", sanitise::clean_line(&reason));
            }
            say(&text);
            return word.exit();
        };
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                complain(&format!("lisle: can't read {}: {error}.", file.display()));
                return Exit::Failed;
            }
        };
        let mut worst = VerdictWord::Allow;
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // The end of the last line begins no new one.
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        for raw in lines {
            let (command, word, reasons) = match std::str::from_utf8(raw) {
                Ok(text) => {
                    let command = decoded(text);
                    let (word, reasons) = self.judged(&command);
                    (command, word, reasons)
                }
                Err(_) => {
                    let command = String::from_utf8_lossy(raw).into_owned();
                    (command, VerdictWord::Deny, vec!["Not valid UTF-8: no call can contain this line.".to_owned()])
                }
            };
            worst = worst.max(word);
            if !say(&line(&command, word, &reasons)) {
                break;
            }
        }
        worst.exit()
    }

    /// The decision on one command, and why: first what was decided, then what of each part.
    fn judged(&self, command: &str) -> (VerdictWord, Vec<String>) {
        let facts = match Bash.inspect(&json!({"command": command}), &self.place, &Seen::default()) {
            Ok(facts) => facts,
            // The call would fail with this sentence.
            Err(why) => return (VerdictWord::Deny, vec![why]),
        };
        let mut reasons = Vec::new();
        let word = match permit::decide(self.policy, self.mode, &self.rules, &facts, false) {
            Verdict::Allow(_) => VerdictWord::Allow,
            Verdict::Ask(question) => {
                reasons.extend(question.reasons);
                reasons.extend(question.risks.into_iter().map(|risk| format!("risk: {risk}")));
                VerdictWord::Ask
            }
            Verdict::Deny(why) => {
                reasons.push(why.reason);
                VerdictWord::Deny
            }
        };
        reasons.extend(parts(&facts, self.policy.read_only_profile));
        (word, reasons)
    }
}

/// A sentence for each simple command of the line.
fn parts(facts: &CallFacts, profile: ReadOnlyProfile) -> Vec<String> {
    let mut out = Vec::new();
    for touch in &facts.touches {
        let Touch::Command { command, programs, unseen, .. } = touch else { continue };
        let judgement = shell::judge_found(command, profile, programs, unseen.as_deref());
        for part in judgement.parts {
            let why = match (part.reads, part.why.as_str()) {
                (true, _) => "read-only",
                (false, "") => "not known to be read-only",
                (false, why) => why,
            };
            out.push(format!("`{}`: {why}", part.text));
        }
        out.extend(judgement.writes.iter().map(|file| format!("redirects to `{file}`")));
    }
    out
}

/// A line of the file: what a JSON string stands for, anything else as it is.
fn decoded(line: &str) -> String {
    let quoted = line.starts_with('"') && line.ends_with('"');
    if quoted { serde_json::from_str(line).unwrap_or_else(|_| line.to_owned()) } else { line.to_owned() }
}

fn line(command: &str, word: VerdictWord, reasons: &[String]) -> String {
    let line = json!({"command": command, "verdict": word.text(), "reasons": reasons}).to_string();
    sanitise::reveal_json(&line).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_a_json_string_is_decoded() {
        for (line, command) in [
            (r#""ls\nrm x""#, "ls\nrm x"),
            (r#""a\u0000b""#, "a\0b"),
            (r#""ls" "x""#, r#""ls" "x""#),
            (r#""\ud800""#, r#""\ud800""#),
            (r#"ls "x""#, r#"ls "x""#),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(decoded(line), command, "{line}");
        }
    }
}
