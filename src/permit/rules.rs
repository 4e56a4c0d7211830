//! The rules in force: the session's answers and what the files say, ready to be matched.

use super::matches::{self, Ground, MatchedCall, Ways};
use super::verdict::Ruled;
use crate::domain::access::Access;
use crate::domain::paths::is_secret;
use crate::domain::rule::{Hint, PermissionsFile, Rule, RuleEffect, RuleScope, SANDBOX};
use crate::domain::tool::CallFacts;
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};

/// Steps that matching one pattern may take. A pattern that needs more does not match.
const STEPS: usize = 50_000;

/// Patterns of one file that are used, and the longest one in bytes. More is not made by people.
const PATTERNS: usize = 2_000;
const LONGEST: usize = 2_000;

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// All of them, in no order that matters.
    pub standing: Vec<StandingRule>,
    /// Base of relative paths and of `~`.
    pub ground: Ground,
    /// Hints for a model when a command is refused.
    pub hints: Vec<Hint>,
    /// The scopes in which an answer can be kept.
    pub scopes: Vec<RuleScope>,
    /// Hosts that the user named in a message: they may be asked wherever asking is possible.
    pub named: Vec<String>,
}

/// One rule in force.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingRule {
    /// Content.
    pub clause: Clause,
    /// Scope.
    pub scope: RuleScope,
    /// The file in which it stands.
    pub file: Option<PathBuf>,
}

/// Content of a rule.
#[derive(Clone, Debug)]
pub enum Clause {
    /// A rule.
    Rule(Rule),
    /// A tool of `blockedTools`.
    Blocked(Rule),
    /// A pattern of the old form, for simple commands.
    Commands {
        /// As written.
        text: String,
        /// The same, to be matched from the start.
        regex: Box<fancy_regex::Regex>,
    },
    /// A glob of the old form, for files that are written.
    Paths {
        /// As written.
        text: String,
        /// The same.
        glob: Box<GlobMatcher>,
    },
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Clause::Rule(a), Clause::Rule(b)) | (Clause::Blocked(a), Clause::Blocked(b)) => a == b,
            (Clause::Commands { text: a, .. }, Clause::Commands { text: b, .. })
            | (Clause::Paths { text: a, .. }, Clause::Paths { text: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl Clause {
    /// The clause as a rule: the tool and the effect.
    #[must_use]
    pub fn rule(&self) -> Rule {
        match self {
            Clause::Rule(rule) | Clause::Blocked(rule) => rule.clone(),
            Clause::Commands { .. } => Rule::allow("bash"),
            Clause::Paths { .. } => Rule::allow("edit"),
        }
    }

    /// The pattern of the old form.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        match self {
            Clause::Commands { text, .. } | Clause::Paths { text, .. } => Some(text),
            Clause::Rule(_) | Clause::Blocked(_) => None,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Clause::Rule(rule) | Clause::Blocked(rule) => rule.in_words(),
            Clause::Commands { text, .. } => format!("commands that match /{text}/"),
            Clause::Paths { text, .. } => format!("files that match {text}"),
        }
    }

    fn tightens(&self) -> Option<&Rule> {
        match self {
            Clause::Rule(rule) | Clause::Blocked(rule) if rule.effect != RuleEffect::Allow => Some(rule),
            _ => None,
        }
    }
}

/// Compiles a pattern of `allowedBashPatterns`, to be matched from the start of a command.
///
/// # Errors
/// Reason why it is no regular expression.
fn pattern(text: &str) -> Result<fancy_regex::Regex, String> {
    if text.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    let built = fancy_regex::RegexBuilder::new(&format!(r"\A(?:{text})")).backtrack_limit(STEPS).build();
    built.map_err(|error| error.to_string())
}

fn glob(text: &str, ground: &Ground) -> Option<GlobMatcher> {
    let full = match (text.strip_prefix("~/"), &ground.home) {
        (Some(rest), Some(home)) => format!("{}/{rest}", globset::escape(&home.to_string_lossy())),
        (Some(_), None) => return None,
        (None, _) => text.strip_prefix("./").unwrap_or(text).to_owned(),
    };
    GlobBuilder::new(&full).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

impl Rules {
    /// Rules about work that is done there.
    #[must_use]
    pub fn new(ground: Ground) -> Self {
        Self { ground, scopes: vec![RuleScope::Session], ..Self::default() }
    }

    /// Adds what a file says. Patterns that cannot be used are left out: whoever read the file told of them.
    pub fn add(&mut self, written: &PermissionsFile, scope: RuleScope, file: &Path) {
        let mut put = |clause| self.standing.push(StandingRule { clause, scope, file: Some(file.to_owned()) });
        for rule in written.rules.iter().filter(|rule| rule.fault().is_none()) {
            put(Clause::Rule(rule.clone()));
        }
        for tool in &written.blocked {
            put(Clause::Blocked(Rule { effect: RuleEffect::Deny, ..Rule::allow(tool) }));
        }
        for text in written.commands.iter().take(PATTERNS) {
            if let Ok(regex) = pattern(text) {
                put(Clause::Commands { text: text.clone(), regex: Box::new(regex) });
            }
        }
        for text in written.paths.iter().take(PATTERNS) {
            if let Some(glob) = glob(text, &self.ground) {
                put(Clause::Paths { text: text.clone(), glob: Box::new(glob) });
            }
        }
        self.hints.extend(written.hints.iter().cloned());
    }

    /// Adds an answer that holds for this session.
    pub fn add_answer(&mut self, rule: Rule) {
        self.standing.push(StandingRule { clause: Clause::Rule(rule), scope: RuleScope::Session, file: None });
    }

    /// The rules of these places in words, each with where it stands.
    pub(super) fn ruled(&self, mut at: Vec<usize>) -> Ruled {
        at.sort_unstable();
        at.dedup();
        let found: Vec<&StandingRule> = at.iter().filter_map(|at| self.standing.get(*at)).collect();
        let mut words: Vec<String> = Vec::new();
        for one in &found {
            let text = format!("{} ({})", one.clause.in_words(), one.scope.in_words());
            if !words.contains(&text) {
                words.push(text);
            }
        }
        let by_answer = !found.is_empty() && found.iter().all(|one| one.scope == RuleScope::Session);
        Ruled { at, words: words.join(", "), by_answer }
    }

    /// The first rule of this effect, deny or ask, that is about the call.
    pub(super) fn tightening(&self, effect: RuleEffect, facts: &CallFacts) -> Option<usize> {
        // Taking a command apart is only done where a rule asks for it.
        let mut wanted = self.standing.iter().enumerate().filter_map(|(at, one)| Some((at, one.clause.tightens()?)));
        let mut asked = None;
        wanted.find_map(|(at, rule)| {
            let asked = asked.get_or_insert_with(|| MatchedCall::of(facts, &self.ground));
            (rule.effect == effect && matches::bites(rule, asked, &self.ground)).then_some(at)
        })
    }

    /// The rule that lets this simple command run, by its words after quote removal.
    pub(super) fn allows_command(&self, argv: &[String], ways: &Ways<'_>) -> Option<usize> {
        self.standing.iter().position(|one| match &one.clause {
            Clause::Rule(rule) => rule.effect == RuleEffect::Allow && matches::admits(rule, argv, ways),
            Clause::Commands { regex, .. } => {
                let whole = argv.first().is_some_and(|program| !program.contains(char::is_whitespace));
                // What cannot be matched within its steps does not match.
                whole && regex.is_match(&argv.join(" ")).unwrap_or(false)
            }
            Clause::Blocked(_) | Clause::Paths { .. } => false,
        })
    }

    /// Rules that give something beside the sandbox, with their places. A repository's never do.
    pub(super) fn giving(&self) -> impl Iterator<Item = (usize, &Rule)> {
        self.standing.iter().enumerate().filter_map(|(at, one)| match &one.clause {
            Clause::Rule(rule)
                if rule.effect == RuleEffect::Allow && rule.gives() && one.scope != RuleScope::Repository =>
            {
                Some((at, rule))
            }
            _ => None,
        })
    }

    /// The rule that opens this path to every command and to the file tools.
    pub(super) fn shows(&self, path: &Path, secret: bool) -> Option<usize> {
        let every = self.giving().filter(|(_, rule)| rule.tool == SANDBOX && rule.program.is_none());
        let opens = |rule: &Rule| rule.readable.iter().any(|named| matches::opens(named, path, secret, &self.ground));
        every.into_iter().find_map(|(at, rule)| opens(rule).then_some(at))
    }

    /// The rule that answers for this access.
    ///
    /// `parts`: the commands of the line that get it. One that the rule does not speak of gets nothing by it, and so none does.
    pub(super) fn gives(&self, access: &Access, parts: Option<&[Vec<String>]>, ways: &Ways<'_>) -> Option<usize> {
        let to = |rule: &Rule| {
            parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(|argv| matches::gives_to(rule, argv, ways)))
        };
        let to_all = |rule: &Rule| rule.tool == SANDBOX && rule.program.is_none();
        let opens = |list: &[String], path: &Path, secret: bool| {
            list.iter().any(|named| matches::opens(named, path, secret, &self.ground))
        };
        let mut giving = self.giving();
        match access {
            Access::Read { path, secret } => self.shows(path, *secret).or_else(|| {
                giving.find_map(|(at, rule)| (to(rule) && opens(&rule.readable, path, *secret)).then_some(at))
            }),
            Access::Write { path, .. } => {
                let secret = is_secret(path);
                giving.find_map(|(at, rule)| {
                    ((to(rule) || to_all(rule)) && opens(&rule.writable, path, secret)).then_some(at)
                })
            }
            Access::Socket { service, path, .. } => giving.find_map(|(at, rule)| {
                let named = |name: &String| name == service.name() || Path::new(name) == path;
                (to(rule) && rule.sockets.iter().any(named)).then_some(at)
            }),
        }
    }

    /// The rule that lets this tool change this file, which lies below the working directory and is not protected.
    pub(super) fn allows_change(&self, tool: &str, path: &Path) -> Option<usize> {
        self.standing.iter().position(|one| match &one.clause {
            Clause::Rule(rule) => {
                rule.effect == RuleEffect::Allow && matches::allows_change(rule, tool, path, &self.ground)
            }
            Clause::Paths { glob, .. } => {
                let inside = self.ground.here.iter().filter_map(|here| path.strip_prefix(here).ok());
                glob.is_match(path) || inside.into_iter().any(|short| glob.is_match(short))
            }
            Clause::Blocked(_) | Clause::Commands { .. } => false,
        })
    }

    /// The rule that lets this tool ask this host.
    pub(super) fn allows_host(&self, tool: &str, host: &str) -> Option<usize> {
        self.standing.iter().position(|one| match &one.clause {
            Clause::Rule(rule) => rule.effect == RuleEffect::Allow && matches::allows_host(rule, tool, host),
            Clause::Blocked(_) | Clause::Commands { .. } | Clause::Paths { .. } => false,
        })
    }

    /// The rule that lets this tool of a source be called.
    pub(super) fn allows_source(&self, tool: &str, definition: &str) -> Option<usize> {
        self.standing.iter().position(|one| match &one.clause {
            Clause::Rule(rule) => rule.effect == RuleEffect::Allow && matches::allows_source(rule, tool, definition),
            Clause::Blocked(_) | Clause::Commands { .. } | Clause::Paths { .. } => false,
        })
    }

    /// The user's hint for a refused command.
    pub(super) fn hint(&self, command: &str) -> Option<&str> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let hint = self.hints.iter().find(|hint| {
            let begins: Vec<&str> = hint.command.split_whitespace().collect();
            let named = !begins.is_empty() && words.windows(begins.len()).any(|some| some == begins);
            let unless = hint.unless.as_deref().is_some_and(|unless| {
                let built = fancy_regex::RegexBuilder::new(unless).backtrack_limit(STEPS).build();
                built.is_ok_and(|regex| regex.is_match(command).unwrap_or(false))
            });
            named && !unless
        });
        hint.map(|hint| hint.text.as_str())
    }
}
