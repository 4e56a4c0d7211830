//! Steps that the user struck out of a plan hold: a call that does what one of them names is asked for, in every mode.
//!
//! The targets of a step are guessed from its words, rather too many than too few: code, words that
//! look like paths, and commands. A rule or an earlier answer does not cover them.

use super::shell::{self, Judged, ReadOnlyProfile};
use super::verdict::{PermissionQuestion, Refusal, Verdict};
use crate::domain::paths;
use crate::domain::permission::Mode;
use crate::domain::plan::PlanStep;
use crate::domain::tool::{CallFacts, Touch};
use std::path::{Path, PathBuf};

/// Targets of a struck step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struck {
    /// Number in the plan.
    pub number: u32,
    /// First line, for the question.
    line: String,
    paths: Vec<String>,
    /// Programs with the words that are no options.
    commands: Vec<Vec<String>>,
    /// True for a rule about reading: reads count too. Of all others only what changes something does.
    reads: bool,
}

/// Words with which a step begins that only reads.
const READING: [&str; 10] = ["read", "open", "look", "inspect", "view", "list", "search", "grep", "show", "print"];

impl Struck {
    /// Targets of this step; `None` if it was not struck, or names nothing.
    #[must_use]
    pub fn of(step: &PlanStep) -> Option<Self> {
        if !step.struck {
            return None;
        }
        let first: String = step.text.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        let mut out = Self {
            number: step.number,
            line: step.line().to_owned(),
            paths: Vec::new(),
            commands: Vec::new(),
            reads: READING.contains(&first.as_str()),
        };
        let mut fenced = false;
        for line in step.text.lines() {
            if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
                fenced = !fenced;
            } else if fenced {
                out.code(line.trim());
            } else {
                // What stands between backticks is every second piece.
                for (n, piece) in line.split('`').enumerate() {
                    match n % 2 {
                        1 => out.code(piece.trim()),
                        _ => piece.split_whitespace().for_each(|word| out.word(word)),
                    }
                }
            }
        }
        (!out.paths.is_empty() || !out.commands.is_empty()).then_some(out)
    }

    /// Code: a name, a path, or a command line.
    fn code(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if let [word] = words[..] {
            self.path(word);
            // The name of a file is not that of a program; one that is run is found by its path.
            if looks_like_path(word) {
                return;
            }
        }
        words.iter().for_each(|word| self.word(word));
        for argv in simple_commands(text) {
            let mut bare = argv.into_iter().filter(|word| !word.starts_with('-')).map(trimmed).collect::<Vec<_>>();
            bare.retain(|word| !word.is_empty());
            if !bare.is_empty() && !self.commands.contains(&bare) {
                self.commands.push(bare);
            }
        }
    }

    /// A word of the text, if it looks like a path.
    fn word(&mut self, word: &str) {
        let word = word.trim_start_matches(['(', '[', '"', '\'', '*', '_', '<']);
        let word = word.trim_end_matches([')', ']', '"', '\'', '*', '_', '>', ',', '.', ';', ':', '!', '?']);
        if looks_like_path(word) {
            self.path(word);
        }
    }

    fn path(&mut self, word: &str) {
        let word = trimmed(word.to_owned());
        if !matches!(word.as_str(), "" | "." | ".." | "~") && !self.paths.contains(&word) {
            self.paths.push(word);
        }
    }

    /// The call does what this step names.
    fn names(&self, facts: &CallFacts, cwd: &Path) -> bool {
        let named = |path: &str| self.paths.iter().any(|name| Path::new(path).starts_with(name));
        let changed =
            facts.proposal.diffs().any(|diff| named(&diff.path) || diff.moved_from.as_deref().is_some_and(named));
        changed
            || facts.touches.iter().any(|touch| match touch {
                Touch::Inner
                | Touch::Leaves { .. }
                | Touch::Outside
                | Touch::Access(_)
                | Touch::Session { .. }
                | Touch::Fetch { .. }
                | Touch::Connect { .. }
                | Touch::Source { .. }
                | Touch::Script { .. } => false,
                Touch::Write { path, .. } => self.paths.iter().any(|name| is_at_or_below(path, name, cwd)),
                Touch::Read { path, .. } => self.reads && self.paths.iter().any(|name| is_at_or_below(path, name, cwd)),
                Touch::Command { command, cwd: there, .. } => self.names_command(command, cwd, there, 0),
            })
    }

    fn names_command(&self, command: &str, cwd: &Path, there: &Path, depth: u8) -> bool {
        let reads = matches!(shell::judge(command, ReadOnlyProfile::Enforced).verdict, Judged::ReadOnly(_));
        simple_commands(command).iter().any(|argv| {
            self.commands.iter().any(|wanted| runs(argv, wanted))
                || ((!reads || self.reads) && argv.iter().any(|word| self.names_word(word, cwd, there)))
                // A text that a program inside the line may run.
                || (depth == 0
                    && argv.iter().any(|word| {
                        word.contains(char::is_whitespace) && self.names_command(word, cwd, there, depth + 1)
                    }))
        })
    }

    /// An argument is, lies below, or holds what is named.
    fn names_word(&self, word: &str, cwd: &Path, there: &Path) -> bool {
        let values = [Some(word), word.split_once('=').map(|(_, value)| value)];
        values.into_iter().flatten().filter(|value| !value.is_empty()).any(|value| {
            let literal = value.split(['*', '?', '[', '{', '$']).next().unwrap_or_default();
            let path = paths::lexical(there, Path::new(value));
            self.paths.iter().any(|name| {
                let named = resolved(name, cwd);
                let holds = named.starts_with(&path) && !cwd.starts_with(&path) && path != there;
                let matches = literal.len() < value.len() && {
                    let start = paths::lexical(there, Path::new(literal));
                    named.to_string_lossy().starts_with(&*start.to_string_lossy()) && !cwd.starts_with(&path)
                };
                is_at_or_below(&path, name, cwd) || holds || matches
            })
        })
    }
}

/// Asks for a call that does what a struck step names, whatever was decided. Where nobody is asked it does not run.
#[must_use]
pub fn hold_struck(
    verdict: Verdict,
    struck: &[Struck],
    (mode, cwd, headless): (Mode, &Path, bool),
    facts: &CallFacts,
) -> Verdict {
    let mut reasons: Vec<String> = struck
        .iter()
        .filter(|step| step.names(facts, cwd))
        .map(|step| format!("Step {} was struck from the plan: \"{}\".", step.number, step.line))
        .collect();
    if reasons.is_empty() || matches!(verdict, Verdict::Deny(_)) {
        return verdict;
    }
    if headless || mode == Mode::Explore {
        let why = if headless { "this run is non-interactive" } else { "Explore never asks" };
        let reason = format!("Needs approval, and {why}: {} Leave it out.", reasons.join(" "));
        return Verdict::Deny(Refusal { reason, rule: None });
    }
    // Nothing of it is remembered: the next call of the kind is asked for again.
    let mut question = PermissionQuestion::default();
    if let Verdict::Ask(asked) = verdict {
        reasons.extend(asked.reasons);
        question.risks = asked.risks;
        question.rule = asked.rule;
    }
    question.reasons = reasons;
    Verdict::Ask(question)
}

/// The simple commands of a line as words. A line that is not understood is taken apart at blanks and operators.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let parts: Option<Vec<Vec<String>>> =
        shell::judge(line, ReadOnlyProfile::Enforced).parts.into_iter().map(|part| part.argv).collect();
    match parts {
        Some(parts) if !parts.is_empty() => parts,
        _ => line
            .split([';', '|', '&', '\n', '(', ')'])
            .map(|part| part.split([' ', '\t', '\'', '"', '<', '>', '`']).filter(|word| !word.is_empty()))
            .map(|words| words.map(str::to_owned).collect::<Vec<_>>())
            .filter(|words| !words.is_empty())
            .collect(),
    }
}

/// All of `wanted` stands in `argv`, in this order; the first as the name of a program.
fn runs(argv: &[String], wanted: &[String]) -> bool {
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = argv.iter();
    wanted.iter().enumerate().all(|(n, wanted)| {
        words.any(|word| if n == 0 { name(word) == name(wanted) } else { trimmed(word.clone()) == *wanted })
    })
}

fn is_at_or_below(path: &Path, name: &str, cwd: &Path) -> bool {
    path.starts_with(resolved(name, cwd)) || name.strip_prefix("~/").is_some_and(|rest| below_end(path, rest))
}

/// Some folder of the path, or itself, ends with these names.
fn below_end(path: &Path, rest: &str) -> bool {
    path.ancestors().any(|above| above.ends_with(rest))
}

fn resolved(name: &str, cwd: &Path) -> PathBuf {
    paths::lexical(cwd, Path::new(name))
}

fn trimmed(word: String) -> String {
    let bare = word.trim_end_matches('/').trim_start_matches("./");
    if bare.len() == word.len() { word } else { bare.to_owned() }
}

fn looks_like_path(word: &str) -> bool {
    if word.contains("://") || !word.contains(char::is_alphanumeric) {
        return false;
    }
    if word.contains('/') {
        return true;
    }
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    let short = (1..=6).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric);
    let is_dotfile = stem.is_empty() && extension.len() > 1;
    (short && stem.chars().nth(1).is_some() && extension.contains(char::is_alphabetic)) || is_dotfile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tool::{PathPlace, Proposal};
    use crate::permit::Allowed;

    fn step(text: &str) -> PlanStep {
        PlanStep { number: 3, text: text.into(), struck: true, ..PlanStep::default() }
    }
    fn write(path: &str) -> CallFacts {
        CallFacts {
            tool: "write".into(),
            subject: path.into(),
            touches: vec![Touch::Write { path: path.into(), place: PathPlace::Inside }],
            proposal: Proposal::Plain,
            secrets_here: false,
            left_out: Vec::new(),
        }
    }
    fn read(path: &str) -> CallFacts {
        CallFacts { touches: vec![Touch::Read { path: path.into(), secret: false }], ..write(path) }
    }
    fn run(command: &str) -> CallFacts {
        CallFacts { touches: vec![Touch::command(command, "/w")], ..write(command) }
    }
    fn holds(text: &str, facts: &CallFacts) -> bool {
        Struck::of(&step(text)).is_some_and(|struck| struck.names(facts, Path::new("/w")))
    }

    #[test]
    fn what_a_step_names_is_held() {
        let publish = "Publish it with `cargo publish --dry-run`";
        let table = [
            ("Rewrite `src/main.rs`", write("/w/src/main.rs"), true),
            ("Rewrite src/main.rs, then go on.", write("/w/src/main.rs"), true),
            ("Rewrite `src/main.rs`", write("/w/src/lib.rs"), false),
            ("Rewrite `src/main.rs`", write("/w/old/src/main.rs"), false),
            ("Rewrite `src/main.rs`", read("/w/src/main.rs"), false),
            ("Read `src/main.rs`", read("/w/src/main.rs"), true),
            ("Delete the `target` folder", write("/w/target/a/b"), true),
            ("Delete the target folder", write("/w/target/a"), false),
            ("Change ~/.bashrc", write("/home/me/.bashrc"), true),
            ("Change /etc/hosts", write("/etc/hosts"), true),
            (publish, run("cargo publish"), true),
            (publish, run("cd x && env A=1 cargo --quiet publish"), true),
            (publish, run("sh -c 'cargo publish'"), true),
            (publish, run("/usr/bin/cargo publish $(date)"), true),
            (publish, run("cargo build"), false),
            ("Remove `build/`", run("rm -rf build"), true),
            ("Remove `src/old.rs`", run("rm -r src"), true),
            ("Remove `src/old.rs`", run("rm src/*.rs"), true),
            ("Remove `src/old.rs`", run("git rm ./src/old.rs"), true),
            ("Remove `src/old.rs`", run("cat src/old.rs"), false),
            ("Remove `src/old.rs`", run("git add ."), false),
            ("Remove `src/old.rs`", run("dd of=src/old.rs"), true),
            ("Do this:\n```sh\nmake install\n```", run("sudo make install"), true),
            ("Think it over, e.g. 1.5 times and/or more", run("cargo build"), false),
        ];
        for (text, facts, held) in table {
            assert_eq!(holds(text, &facts), held, "{text}: {}", facts.subject);
        }
        let open = PlanStep { struck: false, ..step("Rewrite `a.rs`") };
        assert_eq!(Struck::of(&open), None);
        assert_eq!(Struck::of(&step("Think about it")), None);
    }

    #[test]
    fn it_is_asked_in_every_mode_and_never_remembered() {
        let struck = [Struck::of(&step("Publish with `cargo publish`")).unwrap()];
        let with = |verdict, mode, headless| {
            hold_struck(verdict, &struck, (mode, Path::new("/w"), headless), &run("cargo publish"))
        };
        let allow = || Verdict::Allow(Allowed::ByMode);
        for mode in [Mode::Ask, Mode::Execute] {
            let Verdict::Ask(asked) = with(allow(), mode, false) else { panic!("{mode:?}") };
            assert_eq!(asked.reasons, ["Step 3 was struck from the plan: \"Publish with `cargo publish`\"."]);
            assert!(asked.offers.is_empty() && asked.scopes.is_empty());
        }
        let other =
            PermissionQuestion { reasons: vec!["r".into()], risks: vec!["k".into()], ..PermissionQuestion::default() };
        let Verdict::Ask(asked) = with(Verdict::Ask(other), Mode::Ask, false) else { panic!() };
        assert_eq!((asked.reasons.len(), asked.risks), (2, vec!["k".to_owned()]));
        assert!(
            matches!(with(allow(), Mode::Explore, false), Verdict::Deny(why) if why.reason.contains("Step 3 was struck"))
        );
        assert!(
            matches!(with(allow(), Mode::Execute, true), Verdict::Deny(why) if why.reason.contains("this run is non-interactive"))
        );
        let no = || Verdict::Deny(Refusal { reason: "no".into(), rule: None });
        assert_eq!(with(no(), Mode::Execute, false), no());
    }
}
