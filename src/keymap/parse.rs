//! Reads keymap files: an array of tables for each context, with rows `{on, run, desc}`.
//!
//! `on` is a chord (`"ctrl+x m"`) or a list of them; an empty list takes the verb's keys away, and `run = "none"` takes
//! the chords away. At the top of a user's file `inherits = "vim"` names the embedded keymap it is laid over, and
//! `clear = true` means: without any.

use super::action::{Action, Context};
use super::key::Key;
use crate::domain::nearest::nearest;
use crate::domain::problem::Problem;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Base of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clear {
    /// It is laid over the embedded table.
    #[default]
    No,
    /// The embedded table does not count.
    Yes,
}

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeymapRow {
    /// Context.
    pub context: Context,
    /// The chords; none takes the keys of `run` away.
    pub on: Vec<Vec<Key>>,
    /// The verb; `None` takes the chords away.
    pub run: Option<Action>,
    /// The file's words for it.
    pub desc: Option<String>,
    /// Source: file and line.
    pub at: (String, usize),
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Its rows that make sense, in the order of the file.
    pub rows: Vec<KeymapRow>,
    /// Base of the file.
    pub clear: Clear,
    /// The embedded keymap that it is laid over, and the line that says so.
    pub inherits: Option<(String, usize)>,
}

/// Value of `run` that takes chords away.
const NOTHING: &str = "none";

/// Problem at one place of a file, with the advice.
struct KeymapProblem {
    byte: usize,
    text: String,
    fix: String,
}

impl KeymapProblem {
    fn new(byte: usize, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { byte, text: text.into(), fix: fix.into() }
    }
}

/// Reads a file. What is odd goes to `problems`, and the rest is read all the same; a file that is not TOML has no rows.
pub fn parse(file: &str, text: &str, problems: &mut Vec<Problem>) -> Parsed {
    let line_of = |byte: usize| text.get(..byte).map_or(0, |before| before.matches('\n').count() + 1);
    let mut odd = Vec::new();
    let mut parsed = Parsed::default();
    match DeTable::parse(text) {
        Err(error) => odd.push(KeymapProblem::new(
            error.span().map_or(0, |span| span.start),
            format!("not valid TOML: {}", error.message()),
            "fix it; until then the default keys apply",
        )),
        Ok(table) => {
            for (name, value) in table.get_ref() {
                let at = name.span().start;
                let word = name.get_ref().as_ref();
                match (Context::parse(word), value.get_ref()) {
                    (None, DeValue::Boolean(clear)) if word == "clear" => {
                        parsed.clear = if *clear { Clear::Yes } else { Clear::No };
                    }
                    (None, _) if word == "clear" => {
                        odd.push(KeymapProblem::new(
                            at,
                            "clear must be true or false",
                            "write clear = true, or remove it",
                        ));
                    }
                    (None, DeValue::String(base)) if word == "inherits" => {
                        parsed.inherits = Some((base.to_string(), line_of(at)));
                    }
                    (None, _) => odd.push(unknown_context(at, word)),
                    (Some(context), DeValue::Array(rows)) => {
                        for row in rows.iter() {
                            match read_row(context, row) {
                                Ok(mut read) => {
                                    read.at = (file.to_owned(), line_of(row.span().start));
                                    parsed.rows.push(read);
                                }
                                Err(one) => odd.push(one),
                            }
                        }
                    }
                    (Some(_), _) => odd.push(KeymapProblem::new(
                        at,
                        format!("{word} must be a list of rows"),
                        format!("start each row with [[{word}]]"),
                    )),
                }
            }
        }
    }
    // The contexts come in the order of their names; the lines decide which row is the later one.
    parsed.rows.sort_by_key(|row| row.at.1);
    odd.sort_by_key(|one| one.byte);
    problems.extend(odd.into_iter().map(|one| Problem {
        path: file.into(),
        line: Some(line_of(one.byte)),
        text: one.text,
        fix: one.fix,
    }));
    parsed
}

fn unknown_context(at: usize, word: &str) -> KeymapProblem {
    let names = || Context::ALL.iter().map(|context| context.word());
    let fix = match nearest(word, names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("use one of {}", names().collect::<Vec<_>>().join(", ")),
    };
    KeymapProblem::new(at, format!("unknown context {word:?}"), fix)
}

fn read_row(context: Context, row: &Spanned<DeValue<'_>>) -> Result<KeymapRow, KeymapProblem> {
    let start = row.span().start;
    let shape = "example: on = \"ctrl+x m\", run = \"mode.next\"";
    let DeValue::Table(fields) = row.get_ref() else {
        return Err(KeymapProblem::new(start, "not a row", shape));
    };
    let (mut on, mut run, mut desc) = (None, None, None);
    for (name, value) in fields {
        let at = value.span().start;
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("on", DeValue::String(chord)) => on = Some(vec![read_chord(at, chord)?]),
            ("on", DeValue::Array(chords)) => {
                let each = chords.iter().map(|chord| match chord.get_ref() {
                    DeValue::String(text) => read_chord(chord.span().start, text),
                    _ => Err(KeymapProblem::new(chord.span().start, "a chord must be a string", shape)),
                });
                on = Some(each.collect::<Result<Vec<_>, _>>()?);
            }
            ("run", DeValue::String(name)) if name == NOTHING => run = Some(None),
            ("run", DeValue::String(name)) => run = Some(Some(read_action(at, context, name)?)),
            ("desc", DeValue::String(text)) => desc = Some(text.to_string()),
            (other, _) => {
                return Err(KeymapProblem::new(at, format!("unknown key {other:?}"), shape));
            }
        }
    }
    match (on, run) {
        (Some(on), Some(None)) if on.is_empty() => {
            Err(KeymapProblem::new(start, "the row has neither keys nor an action", "name the keys to disable"))
        }
        (Some(on), Some(run)) => Ok(KeymapRow { context, on, run, desc, at: (String::new(), 0) }),
        (None, _) => Err(KeymapProblem::new(start, "the row has no keys", "add on = \"…\", or on = [] to unbind")),
        (_, None) => Err(KeymapProblem::new(start, "the row has no action", "add run = \"…\"")),
    }
}

fn read_chord(at: usize, text: &str) -> Result<Vec<Key>, KeymapProblem> {
    Key::parse_chord(text).map_err(|why| KeymapProblem::new(at, why, "fix the key name"))
}

fn read_action(at: usize, context: Context, name: &str) -> Result<Action, KeymapProblem> {
    let Some(action) = Action::parse(name) else {
        let fix = match nearest(name, Action::ALL.iter().map(|action| action.name())) {
            Some(near) => format!("did you mean {near}?"),
            None => "the palette and the manual list actions; \"none\" unbinds keys".to_owned(),
        };
        return Err(KeymapProblem::new(at, format!("unknown action {name:?}"), fix));
    };
    if action.lives_in(context) {
        return Ok(action);
    }
    let places = action.contexts().iter().map(|context| context.word()).collect::<Vec<_>>().join(", ");
    let text = format!("{name} has no effect in {}", context.word());
    Err(KeymapProblem::new(at, text, format!("move the row to {places}")))
}
