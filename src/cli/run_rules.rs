//! Rules of `--allow` and `--deny`: a tool alone, a tool with a path or a host, else a command.
//!
//! A rule that can never be about anything is an error: `--deny` of a misspelled tool would protect nothing.

use crate::domain::foreign;
use crate::domain::nearest::nearest;
use crate::domain::rule::{Rule, RuleEffect};
use crate::domain::source::TOOL_PREFIX;
use crate::sources::SourceList;
use crate::tools::registry::Registry;

/// Tools whose rules are about a path, and those about a host.
const OF_PATHS: [&str; 6] = ["read", "write", "edit", "glob", "grep", "list"];
const OF_HOSTS: [&str; 1] = ["fetch"];

/// Commands of the shell itself.
const BUILTINS: [&str; 24] = [
    ".", "alias", "bg", "cd", "command", "eval", "exec", "export", "fg", "hash", "jobs", "popd", "pushd", "read",
    "set", "shift", "source", "trap", "type", "ulimit", "umask", "unset", "wait", ":",
];

/// Rules of `--allow` and `--deny`.
///
/// # Errors
/// The first one that is no rule, as a sentence.
pub(super) fn rules(allow: &[String], deny: &[String]) -> Result<Vec<Rule>, String> {
    let with = |effect, option: &'static str| {
        move |text: &String| match rule(text) {
            Ok(rule) if effect == RuleEffect::Allow && is_whole_source(&rule.tool) => Err(format!(
                "{option} {text:?}: only --deny takes a whole source; name one tool, such as {}__NAME",
                rule.tool
            )),
            Ok(rule) => Ok(Rule { effect, ..rule }),
            Err(why) => Err(format!("{option} {text:?}: {why}")),
        }
    };
    allow
        .iter()
        .map(with(RuleEffect::Allow, "--allow"))
        .chain(deny.iter().map(with(RuleEffect::Deny, "--deny")))
        .collect()
}

fn is_whole_source(tool: &str) -> bool {
    tool.strip_prefix(TOOL_PREFIX).is_some_and(|rest| !rest.contains("__"))
}

/// A rule as a user writes it.
fn rule(text: &str) -> Result<Rule, String> {
    let text = text.trim();
    let of_source = text.starts_with(TOOL_PREFIX) && !text.contains(char::is_whitespace);
    let tools = tools();
    if of_source || tools.iter().any(|tool| tool == text) {
        return Ok(Rule::allow(text));
    }
    let paths = OF_PATHS.map(|tool| Rule { path: Some("./**".to_owned()), ..Rule::allow(tool) });
    let hosts = OF_HOSTS.map(|tool| Rule { host: Some("localhost".to_owned()), ..Rule::allow(tool) });
    let command = Rule { program: Some("true".to_owned()), ..Rule::allow("bash") };
    // Only their forms matter: the rule is of the user's own words.
    let forms: Vec<Rule> = paths.into_iter().chain(hosts).chain([command]).collect();
    let line = text.strip_prefix("bash ").unwrap_or(text);
    let program = line.split_whitespace().next().unwrap_or_default();
    if program.contains(['[', ']', '{', '}', '(', ')', '<', '>', '|', '&', ';', '$', '`', '"', '\'']) {
        return Err(format!("{program:?} is neither a tool nor a program"));
    }
    // `bash X` is about a program for sure.
    if line == text
        && let Some(why) = unknown(program, line == program, &tools)
    {
        return Err(why);
    }
    Rule::parse_words(line, &forms)
}

/// Names of lisle's tools.
fn tools() -> Vec<String> {
    Registry::standard().specs().into_iter().map(|tool| tool.name).collect()
}

/// Error for a word that is no tool, and no program here. Other programs may be missing here where words follow: such a rule is
/// about a command that is installed meanwhile, or by its path elsewhere. A name alone, or one near to a tool's, is a mistake.
fn unknown(word: &str, is_alone: bool, tools: &[String]) -> Option<String> {
    let names = || tools.iter().map(String::as_str);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = word.contains('/')
        || BUILTINS.contains(&word)
        || std::env::split_paths(&path).any(|folder| folder.join(word).is_file());
    let takes_words = OF_PATHS.contains(&word) || OF_HOSTS.contains(&word);
    if is_program || takes_words || word.is_empty() {
        return None;
    }
    if names().any(|tool| tool == word) {
        return Some(format!("{word} stands alone: its rules have no path, host or words"));
    }
    let near = foreign::tool(word).or_else(|| nearest(&word.to_lowercase(), names()));
    match near {
        Some(near) => Some(format!("no tool or program {word}. Did you mean {near}?")),
        None if is_alone => Some(format!("no tool or program {word}. Tools: {}", tools.join(", "))),
        None => None,
    }
}

/// Error for the first rule about a tool of a source that this run does not have.
pub(super) fn unknown_source(rules: &[Rule], list: &SourceList) -> Option<String> {
    let known: Vec<&str> = list.sources.iter().map(|source| source.slug.as_str()).collect();
    rules.iter().find_map(|rule| {
        let rest = rule.tool.strip_prefix(TOOL_PREFIX)?;
        let slug = rest.split_once("__").map_or(rest, |(slug, _)| slug);
        if known.contains(&slug) {
            return None;
        }
        let option = if rule.effect == RuleEffect::Allow { "--allow" } else { "--deny" };
        let end = match nearest(slug, known.iter().copied()) {
            Some(near) => format!("Did you mean {TOOL_PREFIX}{near}?"),
            None if known.is_empty() => "There are none here: lisle sources add".to_owned(),
            None => format!("Sources: {}", known.join(", ")),
        };
        Some(format!("{option} {:?}: no source {slug}. {end}", rule.tool))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_they_are_shown() {
        for (text, shown) in [
            ("cargo test", "cargo test"),
            ("bash cargo test *", "cargo test *"),
            ("git push *", "git push *"),
            ("edit ./src/**", "edit ./src/**"),
            ("fetch docs.rs", "fetch docs.rs"),
            ("fetch", "fetch"),
            ("mcp__files__write_file", "mcp__files__write_file"),
        ] {
            assert_eq!(rule(text).map(|rule| rule.in_words()).as_deref(), Ok(shown), "{text}");
        }
        for text in [
            "",
            "git * push",
            "edit src",
            "edit ../x/**",
            "fetch https://x",
            "nonsense[[",
            "bash $(x)",
            "edti ./src/**",
            "todo now",
        ] {
            assert!(rule(text).is_err(), "{text}: {:?}", rule(text));
        }
        let source = ["mcp__files".to_owned()];
        assert!(rules(&source, &[]).unwrap_err().contains("mcp__files__NAME") && rules(&[], &source).is_ok());
        let both = rules(&["cargo test".to_owned()], &["fetch".to_owned()]).unwrap();
        assert_eq!(both.iter().map(|rule| rule.effect).collect::<Vec<_>>(), [RuleEffect::Allow, RuleEffect::Deny]);
        assert_eq!(
            rules(&[], &["git * push".to_owned()]).unwrap_err().split(':').next(),
            Some("--deny \"git * push\"")
        );
    }

    #[test]
    fn a_name_that_is_no_tool_and_no_program_is_an_error_that_names_the_tools() {
        for (text, says) in [
            ("nosuchtool", "no tool or program nosuchtool. Tools: read, list"),
            ("Bash", "no tool or program Bash. Did you mean bash?"),
            ("WebFetch", "Did you mean fetch?"),
            ("raed", "Did you mean read?"),
            ("job_outputs", "Did you mean job_output?"),
            ("todo later", "todo stands alone"),
        ] {
            let why = rule(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
        for (text, tool, program) in [
            ("todo", "todo", None),
            ("patch", "patch", None),
            ("cd", "bash", Some("cd")),
            ("sh", "bash", Some("sh")),
            ("bash nosuchtool", "bash", Some("nosuchtool")),
            ("nosuchtool --flag *", "bash", Some("nosuchtool")),
            ("./nosuchtool", "bash", Some("./nosuchtool")),
        ] {
            let rule = rule(text).unwrap();
            assert_eq!((rule.tool.as_str(), rule.program.as_deref()), (tool, program), "{text}");
        }
    }
}
