//! Plans of the rehearsal: what they hold, the file they name, and what is written there.

use crate::domain::plan::Outline;
use crate::provider::CallResult;
use serde_json::{Value, json};

/// Prefix of a plan step made from a change request.
pub(super) const WISH: &str = "Also: ";

/// A plan of the rehearsal, as it is submitted and as it is found again in the conversation.
pub(super) struct DraftPlan {
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) steps: Vec<String>,
    /// Places of the steps that were struck out.
    pub(super) struck: Vec<usize>,
}

impl DraftPlan {
    pub(super) fn about(text: &str) -> DraftPlan {
        let file = slug(text);
        DraftPlan {
            title: text.to_owned(),
            summary: format!("Demo plan for {text}: list the folder, write the listing to a file, and check it."),
            steps: vec![
                "List the folder".to_owned(),
                format!("Write `{file}` with the listing"),
                format!("Read `{file}` back to check it"),
            ],
            struck: Vec::new(),
        }
    }

    /// The plan as the message of its approval tells it; `None` where that lists no steps.
    pub(super) fn approved(message: &str) -> Option<DraftPlan> {
        let (head, list) = message.split_once("\nSteps as approved:\n")?;
        let title = head.lines().find_map(|line| line.strip_prefix("Plan: ")).unwrap_or("the work").to_owned();
        let steps = Outline::parse(list).steps;
        let not = "Not to be done, struck out by the user: ";
        let struck =
            steps.iter().enumerate().filter(|(_, step)| step.text.starts_with(not)).map(|(at, _)| at).collect();
        let steps: Vec<String> = steps.iter().map(|step| step.line().trim_start_matches(not).to_owned()).collect();
        (!steps.is_empty()).then(|| DraftPlan { title, summary: String::new(), steps, struck })
    }

    /// True if there is such a step, and it was not struck out.
    pub(super) fn does(&self, step: usize) -> bool {
        step < self.steps.len() && !self.struck.contains(&step)
    }

    pub(super) fn input(&self) -> Value {
        json!({"title": self.title, "summary": self.summary, "steps": self.steps})
    }

    /// The file that the plan names.
    pub(super) fn file(&self) -> String {
        let named = self.steps.iter().find_map(|step| step.strip_prefix("Write `")?.split('`').next());
        named.map_or_else(|| slug(&self.title), str::to_owned)
    }

    pub(super) fn content(&self, found: Option<&CallResult>) -> String {
        let mut out = format!("# {}\n\n{}\n\n## Contents of the folder\n\n", self.title, self.summary);
        match found {
            Some(result) if !result.failed => {
                out.push_str("```text\n");
                out.extend(result.text.lines().take(200).flat_map(|line| [line, "\n"]));
                out.push_str("```\n");
            }
            Some(result) => out.push_str(&format!("Not listed: {}\n", result.text.trim())),
            None => out.push_str("Not listed: there was no tool for it.\n"),
        }
        let wishes: Vec<&str> = self.steps.iter().filter_map(|step| step.strip_prefix(WISH)).collect();
        if !wishes.is_empty() {
            out.push_str("\n## Also requested\n\n");
            out.extend(wishes.into_iter().flat_map(|wish| ["- ", wish, "\n"]));
        }
        out
    }
}

/// The file name for a plan: `TIDY-UP.md` for a tidy-up, otherwise small letters.
fn slug(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let bare = ["a ", "an ", "the "].iter().find_map(|article| lower.strip_prefix(article)).unwrap_or(&lower);
    let mut out = String::new();
    for c in bare.chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.chars().count() >= 40 {
            break;
        }
    }
    match out.trim_end_matches('-') {
        "" => "plan.md".to_owned(),
        "tidy-up" => "TIDY-UP.md".to_owned(),
        slug => format!("{slug}.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let table = [
            ("a tidy-up", "TIDY-UP.md"),
            ("The Tidy-Up", "TIDY-UP.md"),
            ("the release notes", "release-notes.md"),
            ("../../etc/passwd", "etc-passwd.md"),
            ("Ärger & Öl!", "ärger-öl.md"),
            ("???", "plan.md"),
        ];
        for (text, file) in table {
            assert_eq!(DraftPlan::about(text).file(), file, "{text}");
        }
        assert!(slug(&"long ".repeat(40)).len() <= 43);
    }
}
