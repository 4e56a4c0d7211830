//! `lisle labels`, `statuses` and `views`: what the workspace defines, and finding there what somebody means.

use super::args::{LabelsCommand, StatusesCommand, ViewsCommand};
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::agent::automatic_labels::AutoLabels;
use crate::domain::nearest::nearest;
use crate::domain::property::{Category, Definition, Label, Properties, SavedView, Status};
use crate::domain::{At, sanitise};
use crate::runtime::setup::Bootstrap;
use std::fmt::Write;

/// The time.
pub(super) fn now() -> At {
    At(jiff::Timestamp::now().as_millisecond())
}

/// Report of mistakes in the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MistakesReported {
    Yes,
    No,
}

/// Statuses, labels and views of the workspace.
pub(super) fn read(bootstrap: &Bootstrap, told: MistakesReported) -> Properties {
    let properties = bootstrap.store.properties();
    for problem in properties.problems.iter().filter(|_| told == MistakesReported::Yes) {
        complain(&format!("lisle: {} {}", problem.text, problem.hint));
    }
    properties
}

/// The status that is meant.
///
/// # Errors
/// A sentence with those that there are.
pub(super) fn status<'a>(properties: &'a Properties, words: &str) -> Result<&'a Status, String> {
    let ids = || properties.statuses.iter().map(|status| status.id.as_str());
    properties.find_status(words).ok_or_else(|| unknown("status", words, ids().collect()))
}

/// The label that is meant.
///
/// # Errors
/// A sentence with those that there are.
pub(super) fn label<'a>(properties: &'a Properties, words: &str) -> Result<&'a Label, String> {
    let ids = || properties.walk().into_iter().map(|(_, label)| label.id.as_str());
    properties.find_label(words).ok_or_else(|| unknown("label", words, ids().collect()))
}

/// The view that is meant.
///
/// # Errors
/// A sentence with those that there are.
pub(super) fn view<'a>(properties: &'a Properties, words: &str) -> Result<&'a SavedView, String> {
    let names = || properties.views.iter().map(|view| view.name.as_str());
    properties.view(words).ok_or_else(|| unknown("view", words, names().collect()))
}

fn unknown(what: &str, words: &str, known: Vec<&str>) -> String {
    let known: Vec<&str> = known.into_iter().filter(|id| !id.is_empty()).collect();
    match nearest(words, known.iter().copied()) {
        Some(near) => format!("no {what} \"{words}\". Did you mean \"{near}\"?"),
        None if known.is_empty() && what == "label" => {
            format!("no label \"{words}\": this workspace defines none. Add it: lisle labels add \"{words}\"")
        }
        None if known.is_empty() => format!("no {what} \"{words}\": this workspace defines none."),
        None => format!("no {what} \"{words}\". Available: {}.", known.join(", ")),
    }
}

/// Lines of two columns.
fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut out, (left, right)| {
        let _ = writeln!(out, "{left:width$}  {}", sanitise::clean_line(right));
        out
    })
}

pub(super) fn labels(bootstrap: &Bootstrap, command: LabelsCommand) -> Exit {
    match command {
        LabelsCommand::List(args) => {
            let properties = read(bootstrap, MistakesReported::Yes);
            for problem in AutoLabels::new(&properties.labels).problems() {
                complain(&format!("lisle: {} {}", problem.text, problem.hint));
            }
            if args.json {
                return print_json(&properties.labels);
            }
            let row = |(depth, label): (usize, &Label)| {
                let value = label.value_type.map_or(String::new(), |kind| format!("  ({})", kind.word()));
                (format!("{}{}", "  ".repeat(depth), label.id), format!("{}{value}", label.name))
            };
            say(&table(&properties.walk().into_iter().map(row).collect::<Vec<_>>()));
            Exit::Done
        }
        LabelsCommand::Add { name, under, value } => {
            let before = read(bootstrap, MistakesReported::No);
            let under = match under.map(|words| label(&before, &words).map(|label| label.id.clone())).transpose() {
                Ok(under) => under,
                Err(why) => {
                    complain(&format!("lisle: {why}"));
                    return Exit::Usage;
                }
            };
            let definition = Definition::Label { name, under, value_type: value };
            let ids = |all: &Properties| all.walk().into_iter().map(|(_, label)| label.id.clone()).collect();
            define(bootstrap, &definition, &before, ids)
        }
    }
}

pub(super) fn statuses(bootstrap: &Bootstrap, command: StatusesCommand) -> Exit {
    match command {
        StatusesCommand::List(args) => {
            let properties = read(bootstrap, MistakesReported::Yes);
            if args.json {
                return print_json(&properties.statuses);
            }
            let row = |status: &Status| {
                let icon = status.icon.as_ref().map_or(String::new(), |icon| format!("{icon} "));
                (status.id.clone(), format!("{:6}  {icon}{}", status.category.word(), status.label))
            };
            say(&table(&properties.statuses.iter().map(row).collect::<Vec<_>>()));
            Exit::Done
        }
        StatusesCommand::Add { name, closed } => {
            let category = if closed { Category::Closed } else { Category::Open };
            let definition = Definition::Status { name, category };
            let ids = |all: &Properties| all.statuses.iter().map(|status| status.id.clone()).collect();
            define(bootstrap, &definition, &read(bootstrap, MistakesReported::No), ids)
        }
    }
}

pub(super) fn views(bootstrap: &Bootstrap, command: ViewsCommand) -> Exit {
    match command {
        ViewsCommand::List(args) => {
            let properties = read(bootstrap, MistakesReported::Yes);
            if args.json {
                return print_json(&properties.views);
            }
            let row = |view: &SavedView| (view.name.clone(), view.expression.clone());
            say(&table(&properties.views.iter().map(row).collect::<Vec<_>>()));
            Exit::Done
        }
        ViewsCommand::Add { name, expression } => {
            let before = read(bootstrap, MistakesReported::No);
            let replaced = before.view(&name).map(|view| view.id.clone());
            let definition = Definition::View { name, expression };
            let ids = |all: &Properties| {
                all.views.iter().map(|view| view.id.clone()).filter(|id| Some(id) != replaced.as_ref()).collect()
            };
            define(bootstrap, &definition, &before, ids)
        }
    }
}

/// Adds a definition and prints the id that is there now and was not before.
fn define(
    bootstrap: &Bootstrap,
    definition: &Definition,
    before: &Properties,
    ids: impl Fn(&Properties) -> Vec<String>,
) -> Exit {
    if let Err(error) = bootstrap.store.define(definition) {
        complain(&format!("lisle: {error}"));
        return Exit::Failed;
    }
    let there = ids(before);
    let after = bootstrap.store.properties();
    let added = match definition {
        Definition::View { name, .. } => after.view(name).map(|view| view.id.clone()),
        _ => ids(&after).into_iter().find(|id| !there.contains(id)),
    };
    say(&format!("{}\n", added.unwrap_or_default()));
    Exit::Done
}
