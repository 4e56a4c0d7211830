//! Skills and agents in the system prompt: one line each, within a budget. Pure.

use crate::extensions::{AgentExtension, ExtensionList, SkillExtension};

/// Characters of a description in its line.
const LONGEST: usize = 250;
/// Characters of all lines of a kind. Names that do not fit are counted.
pub const BUDGET: usize = 8_000;

const SKILLS: &str = "Skills: instructions for kinds of tasks. Before a task that one of them is about, load it with the \
    tool `skill` and follow it. A skill changes nothing about the permission mode. Those there are:";

const AGENTS: &str = "Agents: personas that `spawn` takes as `agent`, for tasks that they are about:";

/// Line of a skill; empty for one that the model is not told of.
#[must_use]
pub fn of_skill(skill: &SkillExtension) -> String {
    if skill.content.file.for_user_alone { String::new() } else { skill_line(skill, LONGEST) }
}

fn skill_line(skill: &SkillExtension, longest: usize) -> String {
    let file = &skill.content.file;
    let globs = if file.globs.is_empty() { String::new() } else { format!(" (for {})", file.globs.join(", ")) };
    line(&skill.slug, &format!("{}{globs}", file.description), longest)
}

/// Line of an agent.
#[must_use]
pub fn of_agent(agent: &AgentExtension) -> String {
    line(&agent.slug, &agent.content.description, LONGEST)
}

fn line(slug: &str, description: &str, longest: usize) -> String {
    let cut: String = description.chars().take(longest).collect();
    let more = if cut.len() < description.len() { "…" } else { "" };
    format!("- {slug}: {cut}{more}")
}

/// Text about the skills that can be used; `None` without any.
#[must_use]
pub fn skills(list: &ExtensionList) -> Option<String> {
    let told: Vec<&SkillExtension> =
        list.skills.iter().filter(|one| one.trusted && !one.content.file.for_user_alone).collect();
    within(SKILLS, &|longest| told.iter().map(|one| skill_line(one, longest)).collect())
}

/// Text about the agents that can be used; `None` without any.
#[must_use]
pub fn agents(list: &ExtensionList) -> Option<String> {
    let told: Vec<&AgentExtension> = list.agents.iter().filter(|one| one.trusted).collect();
    within(AGENTS, &|longest| told.iter().map(|one| line(&one.slug, &one.content.description, longest)).collect())
}

/// The lines with descriptions of the length with which all of them fit; of very many what is left over is counted.
fn within(lead: &str, lines: &dyn Fn(usize) -> Vec<String>) -> Option<String> {
    let fits = |lines: &Vec<String>| lines.iter().map(|line| line.chars().count()).sum::<usize>() <= BUDGET;
    let lengths = [LONGEST, LONGEST / 2, LONGEST / 4, LONGEST / 8];
    let lines = lengths.into_iter().map(lines).find(fits).unwrap_or_else(|| lines(LONGEST / 8));
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
        let text = |count: usize| {
            let all = (0..count).map(|n| agent(&format!("agent-{n}"), &"word ".repeat(60), true)).collect();
            let text = agents(&ExtensionList { agents: all, ..ExtensionList::default() }).unwrap();
            assert!(text.chars().count() < BUDGET + 800, "{}", text.len());
            text
        };
        // Descriptions get shorter before a name is left out.
        let short = text(100);
        assert!(short.contains("- agent-99: word") && !short.contains("more that are not listed"), "{short}");
        assert!(text(400).contains("more that are not listed here"));
    }
}
