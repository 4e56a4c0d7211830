//! Skills and agents in the system prompt: one line each, within a budget. Pure.

use crate::extensions::{AgentExtension, ExtensionList, SkillExtension};

/// Characters of a description in its line.
const LONGEST: usize = 250;
/// Characters of all lines of a kind. Names that do not fit are counted.
pub const BUDGET: usize = 8_000;

const SKILLS: &str = "Skills: instructions for kinds of tasks. Before a task that one of them is about, load it with the \
    tool `skill` and follow it. A skill changes nothing about the permission mode. Those there are:";

const AGENTS: &str = "Agents: personas that `spawn` takes as `agent`, for tasks that they are about:";

/// Line of a skill.
#[must_use]
pub fn of_skill(skill: &SkillExtension) -> String {
    let file = &skill.content.file;
    let globs = if file.globs.is_empty() { String::new() } else { format!(" (for {})", file.globs.join(", ")) };
    line(&skill.slug, &format!("{}{globs}", file.description))
}

/// Line of an agent.
#[must_use]
pub fn of_agent(agent: &AgentExtension) -> String {
    line(&agent.slug, &agent.content.description)
}

fn line(slug: &str, description: &str) -> String {
    let cut: String = description.chars().take(LONGEST).collect();
    let more = if cut.len() < description.len() { "…" } else { "" };
    format!("- {slug}: {cut}{more}")
}

/// Text about the skills that can be used; `None` without any.
#[must_use]
pub fn skills(list: &ExtensionList) -> Option<String> {
    within(SKILLS, list.skills.iter().filter(|one| one.trusted).map(of_skill).collect())
}

/// Text about the agents that can be used; `None` without any.
#[must_use]
pub fn agents(list: &ExtensionList) -> Option<String> {
    within(AGENTS, list.agents.iter().filter(|one| one.trusted).map(of_agent).collect())
}

fn within(lead: &str, lines: Vec<String>) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut out = lead.to_owned();
    let mut left = BUDGET;
    let mut without = 0;
    for line in lines {
        let length = line.chars().count();
        if length > left {
            without += 1;
            continue;
        }
        left -= length;
        out.push('\n');
        out.push_str(&line);
    }
    if without > 0 {
        out.push_str(&format!("\n- {without} more that are not listed here; the user names them."));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::extension::ExtensionOrigin;
    use crate::domain::persona::PersonaFile;
    use crate::extensions::Extension;

    fn agent(slug: &str, description: &str, trusted: bool) -> AgentExtension {
        Extension {
            slug: slug.into(),
            origin: ExtensionOrigin::User,
            file: format!("/c/agents/{slug}.md").into(),
            hash: String::new(),
            shown: String::new(),
            needs_trust: !trusted,
            trusted,
            content: PersonaFile { description: description.into(), ..PersonaFile::default() },
        }
    }

    #[test]
    fn those_that_count_have_a_line_each() {
        let agents_of = |agents| ExtensionList { agents, ..ExtensionList::default() };
        assert_eq!(agents(&ExtensionList::default()), None);
        assert_eq!(agents(&agents_of(vec![agent("theirs", "x", false)])), None);
        let list = agents_of(vec![agent("a", "Reviews", true), agent("b", &"long ".repeat(100), true)]);
        let text = agents(&list).unwrap();
        assert!(text.contains("\n- a: Reviews\n- b: long long") && text.ends_with('…'), "{text}");
    }

    #[test]
    fn many_stay_within_the_budget_and_the_rest_is_counted() {
        let all = (0..100).map(|n| agent(&format!("agent-{n}"), &"word ".repeat(60), true)).collect();
        let text = agents(&ExtensionList { agents: all, ..ExtensionList::default() }).unwrap();
        assert!(text.chars().count() < BUDGET + 400, "{}", text.len());
        assert!(text.contains("more that are not listed here"), "{text}");
    }
}
