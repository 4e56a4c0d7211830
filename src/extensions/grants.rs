//! Tools in Claude Code's words (`Bash(git add:*)`, `Edit`, `WebFetch(domain:docs.rs)`) as rules, and as names of lisle's
//! tools. Pure.
//!
//! They allow what rules of a file can allow: Explore stays read-only, and what is asked for every time is asked
//! for. A word that has no rule allows nothing.

use crate::domain::foreign;
use crate::domain::rule::{PermissionsFile, Rule};
use crate::domain::source::TOOL_PREFIX;

/// Rules that let these tools run.
#[must_use]
pub fn rules(tools: &[String]) -> PermissionsFile {
    let mut out = PermissionsFile::default();
    for tool in tools {
        let (name, about) = parted(tool);
        match (ours(name).as_deref(), about) {
            (Some("bash"), Some(about)) if about != "*" => out.commands.extend(commands(about)),
            // A bracket that is not closed says nothing.
            (Some("bash"), None) if tool.contains('(') => {}
            (Some("bash"), _) => out.rules.push(Rule::allow("bash")),
            (Some("edit" | "write" | "patch"), Some(glob)) => {
                // One begins at the working directory, as ours do; those above it are nobody's to give here.
                let glob = glob.trim_start_matches("./");
                out.paths
                    .extend(Some(glob.to_owned()).filter(|glob| !glob.is_empty() && !glob.starts_with(['/', '~'])));
            }
            (Some(tool @ ("edit" | "write" | "patch")), None) => out.rules.push(Rule::allow(tool)),
            (Some("fetch"), about) => {
                let host = about.map(|about| about.strip_prefix("domain:").unwrap_or(about).to_owned());
                out.rules.push(Rule { host, ..Rule::allow("fetch") });
            }
            (Some(tool), None) if tool.starts_with(TOOL_PREFIX) => out.rules.push(Rule::allow(tool)),
            _ => {}
        }
    }
    out.rules.retain(|rule| rule.fault().is_none());
    out
}

/// True for a part of a tool, such as `Bash(git:*)`. An agent has a tool or does without it: a part of one is none.
#[must_use]
pub fn is_part(tool: &str) -> bool {
    tool.contains('(') && parted(tool).1 != Some("*")
}

/// True if these words leave a tool of lisle's out. A part of a tool leaves all of it out.
#[must_use]
pub fn leave_out(denied: &[String], tool: &str) -> bool {
    let whole: Vec<String> = denied.iter().map(|word| parted(word).0.to_owned()).collect();
    whole.iter().any(|word| word == "*") || names(&whole).is_some_and(|all| all.iter().any(|name| name == tool))
}

/// Names of lisle's tools that these words mean; `None` if there are no words, which means all tools.
#[must_use]
pub fn names(tools: &[String]) -> Option<Vec<String>> {
    let named = tools.iter().filter(|tool| !is_part(tool)).filter_map(|tool| ours(parted(tool).0));
    (!tools.is_empty() && !tools.iter().any(|tool| tool == "*")).then(|| {
        let mut all: Vec<String> = named.collect();
        // Whoever may change files in one way may do so in the others: models know one of them.
        if all.iter().any(|name| name == "edit") {
            all.extend(["write", "patch"].map(str::to_owned));
        }
        if all.iter().any(|name| name == "bash") {
            all.extend(["job_output", "job_kill"].map(str::to_owned));
        }
        all
    })
}

fn parted(tool: &str) -> (&str, Option<&str>) {
    match tool.trim().split_once('(') {
        Some((name, about)) => (name.trim(), about.trim().strip_suffix(')').map(str::trim)),
        None => (tool.trim(), None),
    }
}

fn ours(name: &str) -> Option<String> {
    if name.starts_with(TOOL_PREFIX) {
        return Some(name.to_owned());
    }
    foreign::tool(name).map(str::to_owned)
}

/// Pattern of simple commands: `git add:*`, `git add *` and `git status` in the old form of rules.
fn commands(about: &str) -> Option<String> {
    let (words, open) = match about.strip_suffix(":*").or_else(|| about.strip_suffix(" *")) {
        Some(words) => (words.trim(), true),
        None => (about, false),
    };
    // A star elsewhere would match what the pattern does not say.
    if words.is_empty() || words.contains('*') {
        return None;
    }
    let escape = |c: char| if c.is_alphanumeric() || matches!(c, ' ' | '_') { c.to_string() } else { format!("\\{c}") };
    let escaped: String = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().map(escape).collect();
    Some(if open { format!("{escaped}(?: .*)?\\z") } else { format!("{escaped}\\z") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_become_rules() {
        let said = rules(&all(&[
            "Bash(git add:*)",
            "Bash(npm run build)",
            "Bash(python3 scripts/x.py *)",
            "Read",
            "Grep",
            "Edit",
            "Write(docs/**)",
            "WebFetch(domain:docs.rs)",
            "mcp__linear__create_issue",
        ]));
        assert_eq!(
            said.commands,
            ["git add(?: .*)?\\z", "npm run build\\z", "python3 scripts\\/x\\.py(?: .*)?\\z"].map(str::to_owned)
        );
        let told: Vec<String> = said.rules.iter().map(Rule::in_words).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(said.paths, ["docs/**"]);
        assert_eq!(rules(&all(&["Bash"])).rules, [Rule::allow("bash")]);
    }

    #[test]
    fn an_agent_has_a_tool_as_a_whole_or_does_without_it() {
        let has = |words: &[&str]| names(&all(words)).unwrap();
        assert!(has(&["Bash"]).contains(&"bash".to_owned()) && has(&["Bash(*)"]).contains(&"bash".to_owned()));
        assert_eq!(has(&["Bash(git:*)", "Read"]), ["read"]);
        assert_eq!(has(&["Bash(git"]), Vec::<String>::new());
        assert_eq!(names(&[]), None);
        let denied = all(&["Write", "Edit", "Bash(rm:*)"]);
        for (tool, left_out) in
            [("write", true), ("edit", true), ("patch", true), ("bash", true), ("job_output", true), ("read", false)]
        {
            assert_eq!(leave_out(&denied, tool), left_out, "{tool}");
        }
        assert!(!leave_out(&[], "bash") && leave_out(&all(&["*"]), "read"));
    }

    #[test]
    fn what_has_no_rule_allows_nothing() {
        for word in [
            "",
            "Nonsense",
            "Bash()",
            "Bash(:*)",
            "Bash(* x)",
            "Bash(git",
            "mcp__linear",
            "Write(/etc/**)",
            "Write(~/x)",
            "sandbox",
            "*",
        ] {
            let said = rules(&all(&[word]));
            let kept: Vec<&Rule> = said.rules.iter().filter(|rule| rule.tool != "mcp__linear").collect();
            assert!(kept.is_empty() && said.commands.is_empty() && said.paths.is_empty(), "{word}: {said:?}");
        }
    }

    #[test]
    fn words_become_names_of_tools() {
        assert_eq!(names(&[]), None);
        assert_eq!(names(&all(&["*"])), None);
        assert_eq!(names(&all(&["Read", "Grep(x)", "Nonsense"])), Some(all(&["read"])));
        assert!(names(&all(&["Edit"])).unwrap().contains(&"patch".to_owned()));
        assert_eq!(names(&all(&["Nonsense"])), Some(vec![]));
    }
}
