//! Walks a TOML document and reports what is wrong with it: the line, the sentence and the fix.

use crate::domain::nearest::nearest;
use crate::domain::problem::Problem;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Collects what is wrong with one file.
pub(super) struct SettingsReport<'a> {
    path: &'a Path,
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> SettingsReport<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text, problems: RefCell::default() }
    }

    /// Problems, in the order of the lines.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| problem.line);
        problems
    }

    pub(super) fn syntax(&self, error: &toml::de::Error) {
        let line = error.span().map(|span| self.line(&span));
        // One mistake makes several errors: the first of a line is enough.
        if self.problems.borrow().iter().any(|problem| problem.line == line) {
            return;
        }
        let text = format!("Not valid TOML: {}.", error.message().trim().replace('\n', " "));
        self.add(line, text, "Fix the line; the rest of the file is used.".to_owned());
    }

    fn add(&self, line: Option<usize>, text: String, fix: String) {
        self.problems.borrow_mut().push(Problem { path: self.path.to_owned(), line, text, fix });
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        1 + memchr::memchr_iter(b'\n', before).count()
    }
}

/// The line on which a dotted key stands, from 1; `None` where it is not written.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut table = document.get_ref();
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let (name, value) = table.iter().find(|(name, _)| snake(name.get_ref()) == part)?;
        match value.get_ref() {
            DeValue::Table(inner) if parts.peek().is_some() => table = inner,
            DeValue::Table(_) => return None,
            _ if parts.peek().is_none() => {
                let before = text.as_bytes().get(..name.span().start)?;
                return Some(1 + memchr::memchr_iter(b'\n', before).count());
            }
            _ => return None,
        }
    }
    None
}

/// File for a key that stands in config.toml by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyFile {
    /// `credentials`
    Credentials,
    /// None: the key comes from the environment.
    None,
}

/// A table of the document. Every key that is asked for counts as known; [`Section::finish`] reports the others.
pub(super) struct Section<'a> {
    report: &'a SettingsReport<'a>,
    /// Dotted, empty for the document itself.
    name: String,
    table: &'a DeTable<'a>,
    known: RefCell<Vec<&'static str>>,
    line: Option<usize>,
}

type Entry<'a> = (&'a Spanned<std::borrow::Cow<'a, str>>, &'a Spanned<DeValue<'a>>);

impl<'a> Section<'a> {
    pub(super) fn new(report: &'a SettingsReport<'a>, name: String, table: &'a DeTable<'a>) -> Self {
        Self { report, name, table, known: RefCell::default(), line: None }
    }

    fn entry(&self, key: &'static str) -> Option<Entry<'a>> {
        if !self.known.borrow().contains(&key) {
            self.known.borrow_mut().push(key);
        }
        self.table.iter().find(|(name, _)| snake(name.get_ref()) == key)
    }

    /// The full name of a key.
    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, example: &str) {
        // A value that the parser put in for one it could not read: that was reported.
        if value.span().is_empty() {
            return;
        }
        let found = match value.get_ref() {
            // Where the name of a variable belongs a key may stand by mistake.
            DeValue::String(_) if key == "key_env" => "something else".to_owned(),
            _ => shown(value),
        };
        self.report.add(
            Some(self.report.line(&value.span())),
            format!("`{}` is {found}; expected {wanted}.", self.full(key)),
            format!("Write `{key} = {example}`; until then the default applies."),
        );
    }

    /// True if the key exists. It counts as known from now on.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.entry(key).is_some()
    }

    /// Reports that a key is not there.
    pub(super) fn missing(&self, key: &str, example: &str) {
        self.report.add(
            self.line,
            format!("[{}] is missing `{key}`.", self.name),
            format!("Add `{key} = \"{example}\"`."),
        );
    }

    /// Reports a list that is empty or all wrong.
    pub(super) fn wrong_list(&self, key: &'static str, wanted: &str, example: &str) {
        if let Some((_, value)) = self.entry(key)
            && value.get_ref().as_array().is_some_and(|items| items.is_empty())
        {
            self.wrong(key, value, wanted, example);
        }
    }

    /// Reports a table whose name stands for something that comes with the program.
    pub(super) fn name_taken(&self) {
        self.report.add(
            self.line,
            format!("[{}] is the built-in agent's name; ignored.", self.name),
            "Rename it.".to_owned(),
        );
    }

    /// Reports a key of a provider that stands in the settings.
    pub(super) fn misplaced_key(&self, stored: KeyFile) {
        let name = self.name.rsplit('.').next().unwrap_or_default();
        let fix = match stored {
            KeyFile::Credentials => {
                format!("Put `{name} = \"…\"` into the file `credentials` next to it, or name a variable in `key_env`.")
            }
            KeyFile::None => "Name a variable with the key in `key_env`.".to_owned(),
        };
        let text = format!("[{}] contains a key; ignored, because keys don't belong in config.toml.", self.name);
        self.report.add(self.line, text, fix);
    }

    /// True if the key holds a table.
    pub(super) fn is_table(&self, key: &'static str) -> bool {
        self.entry(key).is_some_and(|(_, value)| value.get_ref().is_table())
    }

    /// A table in this one.
    pub(super) fn table(&self, key: &'static str) -> Option<Section<'a>> {
        let (name, value) = self.entry(key)?;
        self.inner(name, value)
    }

    /// All tables in this one, by their names as written.
    pub(super) fn tables(&self) -> Vec<(String, Section<'a>)> {
        let inner = |(name, value)| self.inner(name, value).map(|section| (name.get_ref().to_string(), section));
        self.table.iter().filter_map(inner).collect()
    }

    fn inner(
        &self,
        name: &'a Spanned<std::borrow::Cow<'a, str>>,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Option<Section<'a>> {
        let line = self.report.line(&name.span());
        let Some(table) = value.get_ref().as_table() else {
            let full = self.full(name.get_ref());
            self.report.add(
                Some(line),
                format!("`{full}` must be a table."),
                format!("Write `[{full}]` on its own line, with its keys below."),
            );
            return None;
        };
        let mut section = Section::new(self.report, self.full(name.get_ref()), table);
        section.line = Some(line);
        Some(section)
    }

    /// A text that is not empty, with its line.
    pub(super) fn text(&self, key: &'static str) -> Option<(String, usize)> {
        let (_, value) = self.entry(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some((text.to_owned(), self.report.line(&value.span()))),
            _ => {
                self.wrong(key, value, "a text", "\"…\"");
                None
            }
        }
    }

    /// Puts a text into `slot` when there is one.
    pub(super) fn set_text(&self, key: &'static str, slot: &mut String) {
        if let Some((text, _)) = self.text(key) {
            *slot = text;
        }
    }

    /// An http address.
    pub(super) fn url(&self, key: &'static str) -> Option<String> {
        let (text, _) = self.text(key)?;
        let (_, value) = self.entry(key)?;
        let url = reqwest::Url::parse(&text).ok().filter(|url| url.has_host());
        if url.as_ref().is_some_and(|url| ["http", "https", "socks5", "socks5h"].contains(&url.scheme())) {
            return Some(text);
        }
        self.wrong(key, value, "a URL starting with http:// or https://", "\"https://host/v1\"");
        None
    }

    /// The name of a variable of the environment.
    pub(super) fn variable(&self, key: &'static str) -> Option<String> {
        let (text, _) = self.text(key)?;
        let is_name = !text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if is_name {
            return Some(text);
        }
        let (_, value) = self.entry(key)?;
        self.wrong(key, value, "the name of an environment variable", "\"MY_API_KEY\"");
        None
    }

    /// A whole number in a range.
    pub(super) fn whole(&self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let (_, value) = self.entry(key)?;
        let number = integer(value.get_ref()).and_then(|n| u64::try_from(n).ok()).filter(|n| range.contains(n));
        if number.is_none() {
            let wanted = format!("an integer from {} to {}", range.start(), range.end());
            self.wrong(key, value, &wanted, &range.start().max(&10).to_string());
        }
        number
    }

    /// An amount of memory in bytes: 64M and more.
    pub(super) fn memory(&self, key: &'static str) -> Option<u64> {
        let (_, value) = self.entry(key)?;
        let amount = value.get_ref().as_str().and_then(bytes).filter(|bytes| *bytes >= 64 << 20);
        if amount.is_none() {
            self.wrong(key, value, "a size of at least 64M, such as 512M or 4G", "\"4G\"");
        }
        amount
    }

    /// A table that serde reads, with keys in camel case as its type has them. Keys below those of `named` are names and
    /// stay as they are. A mistake is reported, and is an error then.
    pub(super) fn typed<T: DeserializeOwned>(&self, key: &'static str, named: &[&str]) -> Option<Result<T, ()>> {
        let (name, value) = self.entry(key)?;
        if self.inner(name, value).is_none() {
            return Some(Err(()));
        }
        Some(self.deserialized(key, name.span(), in_camel_case(value.clone(), named, false)))
    }

    /// A table whose keys are names, with tables that serde reads as for [`Self::typed`].
    pub(super) fn typed_by_name<T: DeserializeOwned>(&self, key: &'static str) -> Option<Result<T, ()>> {
        let (name, value) = self.entry(key)?;
        if self.inner(name, value).is_none() {
            return Some(Err(()));
        }
        Some(self.deserialized(key, name.span(), in_camel_case(value.clone(), &[], true)))
    }

    /// A list of tables that serde reads as for [`Self::typed`].
    pub(super) fn typed_list<T: DeserializeOwned>(&self, key: &'static str) -> Option<Result<Vec<T>, ()>> {
        let (name, value) = self.entry(key)?;
        Some(self.deserialized(key, name.span(), in_camel_case(value.clone(), &[], false)))
    }

    /// Reports a mistake of a table that [`Self::typed_by_name`] read.
    pub(super) fn wrong_table(&self, key: &'static str, why: &str) {
        let line = self.entry(key).map(|(name, _)| self.report.line(&name.span()));
        let fix = "Fix the line; until then nothing that depends on this table is done.";
        self.report.add(line, format!("[{}]: {why}.", self.full(key)), fix.to_owned());
    }

    fn deserialized<T: DeserializeOwned>(
        &self,
        key: &str,
        span: Range<usize>,
        value: Spanned<DeValue<'_>>,
    ) -> Result<T, ()> {
        T::deserialize(value.into_deserializer()).map_err(|error| {
            let line = self.report.line(&error.span().unwrap_or(span));
            let text = error.message().trim().replace('\n', " ");
            let end = if text.ends_with(['.', '?']) { "" } else { "." };
            self.report.add(
                Some(line),
                format!("[{}]: {text}{end}", self.full(key)),
                "Fix the line; until then nothing that depends on this table is done.".to_owned(),
            );
        })
    }

    /// Puts `true` or `false` into `slot`.
    pub(super) fn flag(&self, key: &'static str, slot: &mut bool) {
        let Some((_, value)) = self.entry(key) else { return };
        match value.get_ref().as_bool() {
            Some(on) => *slot = on,
            None => self.wrong(key, value, "true or false", if *slot { "true" } else { "false" }),
        }
    }

    /// Puts `true` or `false` into `slot`, or nothing for `"auto"`.
    pub(super) fn flag_or_auto(&self, key: &'static str, slot: &mut Option<bool>) {
        let Some((_, value)) = self.entry(key) else { return };
        match (value.get_ref().as_bool(), value.get_ref().as_str()) {
            (Some(on), _) => *slot = Some(on),
            (None, Some("auto")) => *slot = None,
            _ => self.wrong(key, value, "true, false or \"auto\"", "\"auto\""),
        }
    }

    /// `true` or `false`, where it is said.
    pub(super) fn yes_or_no(&self, key: &'static str) -> Option<bool> {
        let (_, value) = self.entry(key)?;
        let said = value.get_ref().as_bool();
        if said.is_none() {
            self.wrong(key, value, "true or false", "true");
        }
        said
    }

    /// An amount of 0 or more.
    pub(super) fn amount(&self, key: &'static str) -> Option<f64> {
        let (_, value) = self.entry(key)?;
        let number = match value.get_ref() {
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            // Whole amounts are small; f64 is exact far beyond them.
            other => integer(other).and_then(|n| i32::try_from(n).ok()).map(f64::from),
        };
        let number = number.filter(|n| n.is_finite() && *n >= 0.0);
        if number.is_none() {
            self.wrong(key, value, "a number of 0 or more", "0.5");
        }
        number
    }

    /// A part in percent, from 0 to `most`.
    pub(super) fn percent(&self, key: &'static str, most: f64) -> Option<f64> {
        let number = self.amount(key)?;
        if number > most {
            let (_, value) = self.entry(key)?;
            self.wrong(key, value, &format!("a percentage from 0 to {most}"), "77.5");
            return None;
        }
        Some(number)
    }

    /// One word of a few; `Some(None)` when the key is there with another.
    pub(super) fn choice_of<T: Copy>(&self, key: &'static str, choices: &[(&'static str, T)]) -> Option<Option<T>> {
        let (_, value) = self.entry(key)?;
        let text = value.get_ref().as_str().unwrap_or_default();
        let choice = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        if choice.is_none() {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
            let near = nearest(text, choices.iter().map(|(word, _)| *word)).unwrap_or(choices.first()?.0);
            self.wrong(key, value, &or(&words), &format!("{near:?}"));
        }
        Some(choice)
    }

    /// A list of words of a few; wrong ones are left out, and so is one that was there before.
    pub(super) fn choices<T: Copy + PartialEq>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Option<Vec<T>> {
        let (_, value) = self.entry(key)?;
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
        let wanted = format!("a list of {}", or(&words));
        let first = choices.first().map_or("", |(word, _)| word);
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, &wanted, &format!("[{first:?}]"));
            return None;
        };
        let mut out = Vec::new();
        for item in items.iter() {
            let text = item.get_ref().as_str().unwrap_or_default();
            match choices.iter().find(|(word, _)| *word == text) {
                Some((_, choice)) if out.contains(choice) => self.wrong(key, item, "listed once", "[…]"),
                Some((_, choice)) => out.push(*choice),
                None => {
                    let near = nearest(text, choices.iter().map(|(word, _)| *word)).unwrap_or(first);
                    self.report.add(
                        Some(self.report.line(&item.span())),
                        format!("`{}` contains {}; expected {}.", self.full(key), shown(item), or(&words)),
                        format!("Write {near:?} or another of them; until then the rest of the list applies."),
                    );
                }
            }
        }
        Some(out)
    }

    /// Puts one word of a few into `slot`.
    pub(super) fn choice<T: Copy>(&self, key: &'static str, choices: &[(&'static str, T)], slot: &mut T) {
        if let Some(Some(choice)) = self.choice_of(key, choices) {
            *slot = choice;
        }
    }

    /// Puts what `parse` makes of a text into `slot`.
    pub(super) fn parsed<T>(&self, key: &'static str, wanted: &str, parse: impl Fn(&str) -> Option<T>, slot: &mut T) {
        let Some((_, value)) = self.entry(key) else { return };
        match value.get_ref().as_str().and_then(parse) {
            Some(parsed) => *slot = parsed,
            None => self.wrong(key, value, wanted, "\"ask\""),
        }
    }

    /// A list of texts that `parse` understands; wrong ones are left out.
    pub(super) fn list<T>(&self, key: &'static str, wanted: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        let (_, value) = self.entry(key)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, "a list of strings", "[\"…\"]");
            return None;
        };
        let mut out = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str().and_then(&parse) {
                Some(parsed) => out.push(parsed),
                None => self.wrong(key, item, &format!("a list of strings, each {wanted}"), "[\"…\"]"),
            }
        }
        Some(out)
    }

    /// A table of texts under free names.
    pub(super) fn texts(&self, key: &'static str) -> BTreeMap<String, String> {
        let Some(section) = self.table(key) else { return BTreeMap::new() };
        let mut out = BTreeMap::new();
        for (name, value) in section.table {
            match value.get_ref().as_str() {
                Some(text) => drop(out.insert(name.get_ref().to_string(), text.to_owned())),
                None => section.wrong(name.get_ref(), value, "a text", "\"…\""),
            }
        }
        out
    }

    /// A table as JSON.
    pub(super) fn json(&self, key: &'static str) -> Map<String, Value> {
        let Some(section) = self.table(key) else { return Map::new() };
        section.table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref()))).collect()
    }

    /// Reports the keys that nobody asked for, with the nearest one that there is.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        for (name, _) in self.table {
            let written = name.get_ref();
            // A line that is no TOML leaves an empty key, and was told of as such.
            if written.is_empty() || known.contains(&snake(written).as_str()) {
                continue;
            }
            let fix = match nearest(&snake(written), known.iter().copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => {
                    let mut all: Vec<&str> = known.clone();
                    all.sort_unstable();
                    format!("Remove it. Known settings: {}.", all.join(", "))
                }
            };
            self.report.add(
                Some(self.report.line(&name.span())),
                format!("Unknown setting `{}`.", self.full(written)),
                fix,
            );
        }
    }
}

/// A value as a problem names it.
fn shown(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        // An address may hold a password.
        DeValue::String(text) if text.contains(['@', '?']) => "something else".to_owned(),
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => format!("of type {}", other.type_str()),
    }
}

/// `whileRunning` and `while-running` are the same as `while_running`.
pub(super) fn snake(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars() {
        match c {
            '-' => out.push('_'),
            c if c.is_ascii_uppercase() => {
                if !out.is_empty() {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
    }
    out
}

/// `dm_scope` and `dm-scope` are the same as `dmScope`.
fn camel(key: &str) -> String {
    let mut words = key.split(['_', '-']);
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// A value whose keys are in camel case, but for those below a key of `named`.
fn in_camel_case<'a>(value: Spanned<DeValue<'a>>, named: &[&str], are_names: bool) -> Spanned<DeValue<'a>> {
    fn keys<'a>(value: Spanned<DeValue<'a>>, named: &[&str], are_names: bool) -> Spanned<DeValue<'a>> {
        let span = value.span();
        let value = match value.into_inner() {
            DeValue::Table(table) => {
                let entry = |(name, value): (Spanned<std::borrow::Cow<'a, str>>, Spanned<DeValue<'a>>)| {
                    let key = if are_names { name.get_ref().to_string() } else { camel(name.get_ref()) };
                    let below = !are_names && named.contains(&key.as_str());
                    (Spanned::new(name.span(), key.into()), keys(value, named, below))
                };
                DeValue::Table(table.into_iter().map(entry).collect())
            }
            DeValue::Array(items) => DeValue::Array(items.into_iter().map(|item| keys(item, named, false)).collect()),
            other => other,
        };
        Spanned::new(span, value)
    }
    keys(value, named, are_names)
}

/// `512M`, `4G`, `2T`, or bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (at, last) = text.char_indices().next_back()?;
    let shift = match last.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => return text.parse().ok(),
    };
    text.get(..at)?.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => integer(value).map_or_else(|| Value::from(number.to_string()), Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref())));
            Value::Object(pairs.collect())
        }
    }
}

/// `a`, `b` or `c`.
fn or(words: &[String]) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
