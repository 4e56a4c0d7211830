//! `submit_plan`: keeps a plan as a markdown file below the session's `plans/` and hands it to the user.

use super::files::paths;
use super::files::{self, FileError};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, blocking, plain};
use crate::domain::plan::Outline;
use crate::domain::tool::{CallFacts, Outcome, Then, ToolSpec, Touch};
use crate::sandbox::own_folders;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Steps at the most.
const MOST_STEPS: usize = 100;
/// Characters of the file name's middle part.
const LONGEST_SLUG: usize = 60;

/// The tool.
pub struct SubmitPlan;

impl Tool for SubmitPlan {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "submit_plan".to_owned(),
            description: "Submits a plan to the user, who approves it, asks for changes or declines. Use it once you know \
                enough, before you change anything, when the permission mode is Explore or the user asked for a plan. \
                Give a short title, a summary of what and why, and the steps in order, each something that can be done \
                and checked. The plan is kept as a file and the turn pauses until the answer, which comes with the next \
                message. Call it alone and last."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "A few words."},
                    "summary": {"type": "string", "description": "What will be done and why, as markdown."},
                    "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "The steps in order, without numbers."}
                },
                "required": ["title", "summary", "steps"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "title")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        Plan::of(input)?;
        Ok(plain("submit_plan", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        blocking(move || {
            let today = jiff::Zoned::now().date();
            let plan = Plan::of(&input)?;
            let path = plan.save(&with.place, today).map_err(Halt::Says)?;
            let text = format!("The plan is with the user and kept in {}. Wait for the answer.", path.display());
            Ok(Outcome {
                then: Then::Plan { path, title: plan.title.clone(), markdown: plan.markdown() },
                ..Outcome::ok(text)
            })
        })
    }
}

struct Plan {
    title: String,
    summary: String,
    steps: Vec<String>,
}

impl Plan {
    fn of(input: &Value) -> Result<Self, String> {
        let fields = InputFields::of("submit_plan", input)?;
        let title = input::one_line(fields.text("title")?, 200);
        let summary = fields.text("summary")?.trim().to_owned();
        let list = fields.list("steps")?;
        if list.len() > MOST_STEPS {
            return Err(format!(
                "`steps` holds {} entries; at most {MOST_STEPS} are kept. Make them coarser.",
                list.len()
            ));
        }
        let mut steps = Vec::new();
        for (index, step) in list.iter().enumerate() {
            match step.as_str().map(str::trim) {
                Some("") => {}
                Some(step) => steps.push(step.to_owned()),
                None => return Err(format!("Step {} of `steps` must be a text.", index + 1)),
            }
        }
        if title.is_empty() {
            return Err("`title` is empty. Name the plan in a few words.".to_owned());
        }
        if steps.is_empty() {
            return Err("The plan has no steps. Give at least one thing that will be done.".to_owned());
        }
        Ok(Self { title, summary, steps })
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {}\n", self.title);
        if !self.summary.is_empty() {
            out.push_str(&format!("\n{}\n", self.summary));
        }
        out.push('\n');
        // A summary with a list of its own must not look like the steps.
        if !Outline::parse(&self.summary).steps.is_empty() {
            out.push_str("## Steps\n\n");
        }
        for (index, step) in self.steps.iter().enumerate() {
            let number = format!("{}. ", index + 1);
            // Lines after the first are indented, so that they stay part of the step.
            let step = step.replace('\n', &format!("\n{}", " ".repeat(number.len())));
            out.push_str(&format!("{number}{step}\n"));
        }
        out
    }

    /// Writes the plan to a name that is free: `YYYY-MM-DD-slug.md`, then `-2`, `-3` and so on.
    fn save(&self, place: &CallPlace, today: jiff::civil::Date) -> Result<PathBuf, String> {
        let folder = own_folders::in_session(&place.session_dir, "plans")
            .map_err(|why| format!("Can't save the plan: {why}."))?;
        let folder = paths::follow(&folder)?;
        let stem = format!("{today}-{}", slug(&self.title));
        for number in 1..1_000 {
            let name = if number == 1 { format!("{stem}.md") } else { format!("{stem}-{number}.md") };
            let path = folder.join(name);
            match files::create_private(&path, self.markdown().as_bytes()) {
                Ok(()) => return Ok(path),
                Err(FileError::Changed(_)) if files::look(&path).is_ok() => {}
                Err(e) => return Err(format!("Can't save the plan: {e}.")),
            }
        }
        Err(format!("There are too many plans named {stem} in {}. Choose another title.", folder.display()))
    }
}

/// A title as part of a file name: small letters, digits and single hyphens.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if out.len() >= LONGEST_SLUG {
            break;
        }
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "plan".to_owned() } else { out.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_plan_is_kept_and_handed_over() {
        let bench = Bench::new();
        let input =
            json!({"title": "Fix the  Parser!", "summary": "It is slow.", "steps": ["Measure", " ", "Fix\nand test"]});
        let outcome = bench.ok("submit_plan", input.clone());
        let Then::Plan { path, title, markdown } = outcome.then else { panic!() };
        assert_eq!(title, "Fix the  Parser!");
        assert_eq!(markdown, "# Fix the  Parser!\n\nIt is slow.\n\n1. Measure\n2. Fix\n   and test\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), markdown);
        assert_eq!(path.parent().unwrap(), bench.place.session_dir.join("plans"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.len() == "2026-01-01-fix-the-parser.md".len() && name.ends_with("-fix-the-parser.md"), "{name}");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let bench = Bench::new();
        let plan = Plan { title: "Same".into(), summary: String::new(), steps: vec!["a".into()] };
        let day = jiff::civil::date(2026, 3, 4);
        let names: Vec<String> = (0..3)
            .map(|_| plan.save(&bench.place, day).unwrap().file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["2026-03-04-same.md", "2026-03-04-same-2.md", "2026-03-04-same-3.md"]);
    }

    #[test]
    fn slugs() {
        for (title, name) in [("Größe & Form", "gr-e-form"), ("日本", "plan"), ("../../etc", "etc"), ("A", "a")] {
            assert_eq!(slug(title), name);
        }
        assert!(slug(&"word ".repeat(50)).len() <= LONGEST_SLUG);
    }

    #[test]
    fn an_empty_plan_is_an_error() {
        let bench = Bench::new();
        for (input, says) in [
            (json!({"title": "a", "summary": "b", "steps": []}), "no steps"),
            (json!({"title": "a", "summary": "b", "steps": [" ", "\n"]}), "no steps"),
            (json!({"title": " ", "summary": "b", "steps": ["c"]}), "`title` is empty"),
            (json!({"title": "a", "summary": "b", "steps": [1]}), "Step 1 of `steps` must be a text"),
            (json!({"title": "a", "steps": ["c"]}), "needs the field `summary`"),
            (json!({"title": "a", "summary": "b", "steps": "c"}), "must be a list"),
        ] {
            let error = bench.error("submit_plan", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
        assert!(!bench.place.session_dir.exists());
    }
}
