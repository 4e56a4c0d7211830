//! Checks of a table: chords with two meanings, chords that another chord hides, contexts without a way out.

use super::action::{Action, AppAction, Context};
use super::key::{Code, Key, Mods, chord_name};
use super::table::{Binding, Table};
use crate::domain::problem::Problem;

/// Problems of a table.
#[must_use]
pub fn check(table: &Table) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (later, earlier) in &table.twice {
        let text = format!(
            "{} means {} in {}, but line {} says {}",
            chord_name(&later.keys),
            later.action.name(),
            later.context.word(),
            earlier.at.1,
            earlier.action.name()
        );
        problems.push(problem(later, text, "keep one row; the later one applies"));
    }
    for binding in table.bindings() {
        if let Some(hider) = hider(table, binding) {
            let text = format!(
                "{} is unreachable in {}: {} comes first",
                chord_name(&binding.keys),
                binding.context.word(),
                chord_name(&hider.keys)
            );
            problems.push(problem(binding, text, "choose another chord for one of them"));
        }
        if types_text(binding.context) && binding.keys.first().is_some_and(|key| key.printable().is_some()) {
            let allowed = binding.action == Action::App(AppAction::HelpIfEmpty);
            if !allowed {
                let text = format!("{} types text in {}", chord_name(&binding.keys), binding.context.word());
                problems.push(problem(binding, text, "use a key with ctrl or alt there"));
            }
        }
    }
    let back = Action::App(AppAction::Back);
    if table.key_in(Context::Global, back).is_empty() {
        let text = format!("no key in global for {}", back.name());
        problems.push(Problem::whole(super::DEFAULT_NAME, text, "bind one, or nothing can be closed"));
    }
    problems
}

fn problem(binding: &Binding, text: String, fix: &str) -> Problem {
    Problem { path: binding.at.0.clone().into(), line: Some(binding.at.1), text, fix: fix.to_owned() }
}

/// Places in which a plain character belongs to a text.
fn types_text(context: Context) -> bool {
    matches!(
        context,
        Context::Composer
            | Context::Slash
            | Context::Insert
            | Context::Input
            | Context::Picker
            | Context::Search
            | Context::Find
    )
}

/// A shorter chord of the same context with which this one begins.
fn hider<'t>(table: &'t Table, binding: &Binding) -> Option<&'t Binding> {
    table
        .of(binding.context)
        .find(|other| other.keys.len() < binding.keys.len() && binding.keys.starts_with(&other.keys))
}

/// True if a chord can be pressed where Alt, the F keys and Shift do not arrive.
#[must_use]
pub fn plain(keys: &[Key]) -> bool {
    keys.iter().all(|key| {
        !key.mods.has(Mods::ALT)
            && !key.mods.has(Mods::SHIFT)
            && !matches!(key.code, Code::F(_))
            && !matches!(key.code, Code::Char(c) if c.is_uppercase())
    })
}
