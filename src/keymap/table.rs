//! The resolved table: follows chords, and tells help, hints and palette which keys there are.

use super::action::{Action, Context};
use super::key::{Key, chord_name, printed};
use super::parse::KeymapRow;

/// A chord that does something in a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Context.
    pub context: Context,
    /// The keys, one after another.
    pub keys: Vec<Key>,
    /// Verb.
    pub action: Action,
    /// In words.
    pub desc: String,
    /// Source: file and line.
    pub at: (String, usize),
}

/// Meaning of a key after the keys before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fed {
    /// Do this.
    Action(Action),
    /// It is part of a longer chord.
    Pending,
    /// It has no meaning.
    None,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    bindings: Vec<Binding>,
    /// Chords that one file gives two meanings: the later row, the earlier one.
    pub(super) twice: Vec<(Binding, Binding)>,
}

impl Table {
    /// Lays the rows of one file over the table. A chord gets the new meaning; an empty list takes away the keys that the
    /// verb has in that context; a row without a verb takes its chords away.
    pub fn add(&mut self, rows: &[KeymapRow]) {
        let mut own: Vec<Binding> = Vec::new();
        for row in rows {
            let Some(run) = row.run else {
                let gone = |b: &Binding| b.context == row.context && row.on.contains(&b.keys);
                self.bindings.retain(|binding| !gone(binding));
                own.retain(|binding| !gone(binding));
                continue;
            };
            if row.on.is_empty() {
                let gone = |b: &Binding| b.context == row.context && b.action == run;
                self.bindings.retain(|binding| !gone(binding));
                own.retain(|binding| !gone(binding));
            }
            for keys in &row.on {
                let binding = Binding {
                    context: row.context,
                    keys: keys.clone(),
                    action: run,
                    desc: row.desc.clone().unwrap_or_else(|| run.description().to_owned()),
                    at: row.at.clone(),
                };
                let same = |b: &Binding| b.context == binding.context && b.keys == binding.keys;
                if let Some(place) = own.iter().position(same) {
                    let before = own.remove(place);
                    if before.action != binding.action {
                        self.twice.push((binding.clone(), before));
                    }
                }
                self.bindings.retain(|b| !same(b));
                own.push(binding);
            }
        }
        self.bindings.extend(own);
    }

    /// All bindings: by file, then by line.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Meaning of `key` after `pending` in these contexts, of which the first that knows it wins.
    #[must_use]
    pub fn feed(&self, contexts: &[Context], pending: &[Key], key: Key) -> Fed {
        for context in contexts {
            let mut begins = false;
            for binding in self.bindings.iter().filter(|binding| binding.context == *context) {
                let Some(rest) = binding.keys.strip_prefix(pending) else { continue };
                match rest {
                    [last] if *last == key => return Fed::Action(binding.action),
                    [next, _, ..] if *next == key => begins = true,
                    _ => {}
                }
            }
            if begins {
                return Fed::Pending;
            }
        }
        Fed::None
    }

    /// Continuations of `pending` in these contexts: the next key, and the binding it leads to or
    /// into. For the strip that shows the rest of a chord.
    #[must_use]
    pub fn following(&self, contexts: &[Context], pending: &[Key]) -> Vec<(Key, &Binding)> {
        let mut found: Vec<(Key, &Binding)> = Vec::new();
        for context in contexts {
            for binding in self.bindings.iter().filter(|binding| binding.context == *context) {
                let Some([next, ..]) = binding.keys.strip_prefix(pending) else { continue };
                if !found.iter().any(|(key, _)| key == next) {
                    found.push((*next, binding));
                }
            }
        }
        found
    }

    /// True if the composer has modes: keys are verbs in one of them.
    #[must_use]
    pub fn modal(&self) -> bool {
        self.of(Context::Normal).next().is_some()
    }

    /// The bindings of a context, for help.
    pub fn of(&self, context: Context) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |binding| binding.context == context)
    }

    /// All chords for an action, in every context.
    pub fn keys_of(&self, action: Action) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |binding| binding.action == action)
    }

    /// The name of the first chord for an action (`ctrl+x m`, `F3`), for hints; empty when it has none.
    #[must_use]
    pub fn key_for(&self, action: impl Into<Action>) -> String {
        let action = action.into();
        let name = self.keys_of(action).next().map(|binding| chord_name(&binding.keys)).unwrap_or_default();
        name.split(' ').map(printed).collect::<Vec<_>>().join(" ")
    }

    /// The name of the first chord for an action in a context; empty when it has none there.
    #[must_use]
    pub fn key_in(&self, context: Context, action: impl Into<Action>) -> String {
        let action = action.into();
        self.of(context).find(|b| b.action == action).map(|b| chord_name(&b.keys)).unwrap_or_default()
    }
}
