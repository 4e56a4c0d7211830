//! The manual: the pages of `docs/` as help topics, embedded in the program.
//!
//! A topic has the name of its file. Pages are written for a site of files; [`Topic::text`] turns what leads to other
//! files into what leads somewhere here. Drawing belongs to `ui`.

use super::nearest::nearest;
use std::fmt::Write as _;

/// A page of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// File name without `.md`.
    pub name: &'static str,
    /// Markdown as it is in the file.
    page: &'static str,
}

macro_rules! topics {
    ($($name:literal)+) => {
        /// All topics, by name.
        pub const TOPICS: &[Topic] =
            &[$(Topic { name: $name, page: include_str!(concat!("../../docs/", $name, ".md")) }),+];
    };
}

topics! {
    "access" "agents" "approvals" "context" "export" "gateway" "glossary" "keyboard" "keys" "linear" "models" "network" "patterns"
    "plans" "reading" "routes" "sandbox" "scripting" "security" "sessions" "settings" "skills" "sources" "ssh" "themes" "undo"
}

impl Topic {
    /// Title of the page: a task.
    #[must_use]
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.strip_prefix("# ").unwrap_or(self.name)
    }

    /// The page below its title, as markdown. Pictures are left out, links to other pages become `COMMAND TOPIC`, and of
    /// links to other files the words stay.
    #[must_use]
    pub fn text(&self, command: &str) -> String {
        let body = self.page.split_once('\n').map_or("", |(_, body)| body);
        let mut out = String::with_capacity(body.len());
        let (mut fenced, mut in_text) = (false, false);
        for line in body.trim().lines() {
            let fence = line.trim_start().starts_with("```");
            if fenced || fence {
                out.push_str(line);
                fenced ^= fence;
                in_text = false;
            } else if line.starts_with("![") {
                continue;
            } else {
                // Lines of the file are broken for an editor; here they are broken where they are shown.
                let joined = in_text && goes_on(line);
                if joined {
                    out.pop();
                    out.push(' ');
                }
                push_links(&mut out, if joined { line.trim_start() } else { line }, command);
                in_text = goes_on(line) || is_item(line);
            }
            out.push('\n');
        }
        out
    }
}

/// True for the first line of an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || (number.len() < line.len() && number.starts_with(". "))
}

/// True for a line that continues the text before it, if there is any: no blank one, and no heading, row or item.
fn goes_on(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(['#', '|', '>']) && !is_item(line)
}

/// Appends a line with its links turned.
fn push_links(out: &mut String, line: &str, command: &str) {
    let mut rest = line;
    while let Some((words, target, from, to)) = next_link(rest) {
        out.push_str(&rest[..from]);
        rest = &rest[to..];
        let file = target.split('#').next().unwrap_or_default();
        if target.contains("://") {
            let _ = write!(out, "[{words}]({target})");
        } else if let Some(topic) = TOPICS.iter().find(|topic| file.strip_suffix(".md") == Some(topic.name)) {
            let _ = write!(out, "[{words}](<{command} {}>)", topic.name);
        } else {
            out.push_str(words);
        }
    }
    out.push_str(rest);
}

/// Words and target of the first link of a line, with its first byte and the one after it.
fn next_link(line: &str) -> Option<(&str, &str, usize, usize)> {
    let middle = line.find("](")?;
    let from = line[..middle].rfind('[')?;
    let length = line[middle + 2..].find(')')?;
    let to = middle + 2 + length;
    Some((&line[from + 1..middle], &line[middle + 2..to], from, to + 1))
}

/// Error: no topic has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTopic {
    /// Name that was asked for.
    pub asked: String,
    /// Topics that may be meant, the nearest first.
    pub near: Vec<&'static str>,
}

impl std::fmt::Display for NoTopic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "No help topic {:?}.", self.asked)?;
        match self.near.as_slice() {
            [] => Ok(()),
            [near] => write!(f, " Closest match: {near}"),
            [near @ .., last] => write!(f, " Closest matches: {} and {last}", near.join(", ")),
        }
    }
}

/// The topic of a name, in any case.
///
/// # Errors
/// No topic has it: the nearest by name, then those whose title has such a word.
pub fn find(name: &str) -> Result<&'static Topic, NoTopic> {
    let name = name.trim();
    let lower = name.to_lowercase();
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == lower) {
        return Ok(topic);
    }
    let mut near: Vec<&'static str> = Vec::new();
    near.extend(nearest(&lower, TOPICS.iter().map(|topic| topic.name)));
    for topic in TOPICS {
        let title = topic.title().to_lowercase();
        let mut words = title.split(|c: char| !c.is_alphanumeric());
        let named = |word: &str| word.starts_with(&lower) || (word.len() > 3 && lower.starts_with(word));
        if !lower.is_empty() && !near.contains(&topic.name) && words.any(named) {
            near.push(topic.name);
        }
    }
    near.truncate(3);
    Err(NoTopic { asked: name.chars().take(40).collect(), near })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_title_and_a_text_without_dead_links() {
        for topic in TOPICS {
            assert!(topic.title().len() > 3 && topic.title() != topic.name, "{}", topic.name);
            let text = topic.text("/help");
            assert!(text.len() > 200, "{}", topic.name);
            for dead in [".md)", ".svg)", "](../", "](#"] {
                assert!(!text.contains(dead), "{} has {dead}", topic.name);
            }
        }
        assert!(TOPICS.is_sorted_by_key(|topic| topic.name));
    }

    #[test]
    fn links_lead_to_topics() {
        for (line, expected) in [
            ("See [Security](security.md), please.", "See [Security](</help security>), please."),
            ("[a](models.md#add-a-connection) [b](#here)", "[a](</help models>) b"),
            ("[`x.rs`](../src/x.rs) | [site](https://a.b/c.md)", "`x.rs` | [site](https://a.b/c.md)"),
            ("a list[0](no end", "a list[0](no end"),
            ("](", "]("),
        ] {
            let mut out = String::new();
            push_links(&mut out, line, "/help");
            assert_eq!(out, expected);
        }
        let page = "# T\n\nA\n![p](p.svg)\n```md\n[x](undo.md)\n![y](z)\n```\n[x](undo.md)\n";
        let text = Topic { name: "t", page }.text("lisle help");
        assert_eq!(text, "A\n```md\n[x](undo.md)\n![y](z)\n```\n[x](<lisle help undo>)\n");
    }

    #[test]
    fn broken_lines_are_joined_and_nothing_else_is() {
        let page =
            "# T\n\nOne\ntwo\n\n- a\n  b\n  - c\n- d\n\n1. e\n   f\n## H\ng\n| x |\n|---|\nh\n```\ni\nj\n```\nk\n";
        let text = Topic { name: "t", page }.text("/help");
        let joined = "One two\n\n- a b\n  - c\n- d\n\n1. e f\n## H\ng\n| x |\n|---|\nh\n```\ni\nj\n```\nk\n";
        assert_eq!(text, joined);
    }

    #[test]
    fn topics_are_found_and_the_nearest_named() {
        assert_eq!(find(" Models ").map(|topic| topic.name), Ok("models"));
        for (asked, near) in [
            ("theme", &["themes"][..]),
            ("aprovals", &["approvals"]),
            ("copy", &["reading"]),
            ("zzzzzzzz", &[]),
            ("", &[]),
        ] {
            let error = find(asked).unwrap_err();
            assert_eq!(error.near, near, "{asked}");
            assert!(error.to_string().starts_with("No help topic \""), "{error}");
        }
    }
}
