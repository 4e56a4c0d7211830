//! Tables of data in an answer: a fenced block of `datatable` or `spreadsheet` whose text is JSON with columns and rows, as
//! Craft Agents' models write them. What cannot be read as one stays a block of code.

use super::sanitise::clean_line;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Number of rows shown; omitted ones are counted.
const ROWS: usize = 500;
/// Maximum number of columns.
const COLUMNS: usize = 64;

/// A table of data, every cell as a line of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    /// Title; may be empty.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, as many cells each as there are columns.
    pub rows: Vec<Vec<String>>,
    /// Rows that are left out.
    pub more: usize,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Figures, which stand to the right.
    pub figures: bool,
    /// Notation of its figures.
    pub written: FigureFormat,
}

/// Notation of the figures of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureFormat {
    /// As they came.
    #[default]
    Plain,
    /// `1,500,000`.
    Grouped,
    /// `$4,200,000`.
    Dollars,
    /// `+15.2%`, of 0.152.
    Percent,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenTable {
    title: Option<String>,
    filename: Option<String>,
    columns: Vec<WrittenColumn>,
    rows: Vec<Value>,
    data: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenColumn {
    Name(String),
    Whole {
        #[serde(alias = "field", alias = "accessorKey", alias = "id")]
        key: Option<String>,
        #[serde(alias = "header", alias = "name", alias = "title")]
        label: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
    },
}

/// True if a block of code with this info string is a table of data.
#[must_use]
pub fn is_meant(info: &str) -> bool {
    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
    matches!(word.to_ascii_lowercase().as_str(), "datatable" | "data-table" | "spreadsheet")
}

/// Reads a table of data. `None`: it is not JSON, or has neither columns nor rows.
#[must_use]
pub fn read(info: &str, text: &str) -> Option<DataTable> {
    if !is_meant(info) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let written = match value {
        Value::Array(rows) => WrittenTable { rows, ..WrittenTable::default() },
        value @ Value::Object(_) => serde_json::from_value(value).ok()?,
        _ => return None,
    };
    let rows = if written.rows.is_empty() { written.data } else { written.rows };
    let mut columns: Vec<(String, Column)> = written.columns.into_iter().map(column).collect();
    if columns.is_empty() {
        columns = guessed(&rows);
    }
    columns.truncate(COLUMNS);
    if columns.is_empty() || rows.is_empty() {
        return None;
    }
    let more = rows.len().saturating_sub(ROWS);
    let cells: Vec<Vec<String>> = rows.iter().take(ROWS).map(|row| cells(row, &columns)).collect();
    let title = written.title.or(written.filename).unwrap_or_default();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Some(DataTable { title: one_line(&title), columns, rows: cells, more })
}

fn column(written: WrittenColumn) -> (String, Column) {
    match written {
        WrittenColumn::Name(name) => (name.clone(), Column { name: one_line(&name), ..Column::default() }),
        WrittenColumn::Whole { key, label, kind } => {
            let key = key.or_else(|| label.clone()).unwrap_or_default();
            let written = match kind.as_deref() {
                Some("number" | "integer") => FigureFormat::Grouped,
                Some("currency") => FigureFormat::Dollars,
                Some("percent") => FigureFormat::Percent,
                _ => FigureFormat::Plain,
            };
            let figures = written != FigureFormat::Plain || kind.as_deref() == Some("formula");
            (key.clone(), Column { name: one_line(&label.unwrap_or(key)), figures, written })
        }
    }
}

/// The keys of the rows, in the order in which they come; of rows without keys their places.
fn guessed(rows: &[Value]) -> Vec<(String, Column)> {
    let mut keys: Vec<String> = Vec::new();
    let mut widest = 0;
    for row in rows.iter().take(ROWS) {
        match row {
            Value::Object(row) => {
                for key in row.keys().filter(|key| !keys.contains(key)).cloned().collect::<Vec<_>>() {
                    if keys.len() < COLUMNS {
                        keys.push(key);
                    }
                }
            }
            Value::Array(row) => widest = widest.max(row.len().min(COLUMNS)),
            _ => widest = widest.max(1),
        }
    }
    if keys.is_empty() {
        keys = (1..=widest).map(|n| n.to_string()).collect();
    }
    let figures = |key: &str| {
        let mut values =
            rows.iter().take(ROWS).filter_map(|row| row.get(key)).filter(|value| !value.is_null()).peekable();
        values.peek().is_some() && values.all(Value::is_number)
    };
    let column = |key: &str| Column { name: one_line(key), figures: figures(key), written: FigureFormat::Plain };
    keys.into_iter().map(|key| (key.clone(), column(&key))).collect()
}

fn cells(row: &Value, columns: &[(String, Column)]) -> Vec<String> {
    let cell = |at: usize, key: &str| match row {
        Value::Object(row) => row.get(key),
        Value::Array(row) => row.get(at),
        // A row that is a lone value is its first cell.
        value => Some(value).filter(|_| at == 0),
    };
    let columns = columns.iter().enumerate();
    columns
        .map(|(at, (key, column))| cell(at, key).map_or_else(String::new, |value| typed(value, column.written)))
        .collect()
}

/// A value as its column writes it. What is no number stays as it is.
fn typed(value: &Value, written: FigureFormat) -> String {
    let Some(number) = value.as_f64().filter(|number| number.abs() < 1e15) else { return shown(value) };
    let sign = if number < 0.0 { "-" } else { "" };
    match written {
        FigureFormat::Plain => shown(value),
        FigureFormat::Grouped => grouped(&shown(value)),
        // Cents where there are some.
        FigureFormat::Dollars if (number * 100.0).round() % 100.0 == 0.0 => {
            format!("{sign}${}", grouped(&format!("{:.0}", number.abs())))
        }
        FigureFormat::Dollars => format!("{sign}${}", grouped(&format!("{:.2}", number.abs()))),
        FigureFormat::Percent => {
            let tenths = format!("{:.1}", (number * 1000.0).round() / 10.0 + 0.0);
            let plus = if number > 0.0 && tenths != "0.0" { "+" } else { "" };
            format!("{plus}{}%", tenths.strip_suffix(".0").unwrap_or(&tenths))
        }
    }
}

/// The digits before the point of a number in groups of three.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if whole.is_empty() || !whole.bytes().all(|b| b.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut out = sign.to_owned();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => one_line(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        value => one_line(&value.to_string()),
    }
}

/// Sanitises a text from JSON: escapes could hide characters that were not in the text around it.
fn one_line(text: &str) -> String {
    clean_line(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

impl DataTable {
    /// Note below the table about omitted rows; empty if all are shown.
    #[must_use]
    pub fn rest(&self) -> String {
        match self.more {
            0 => String::new(),
            1 => "1 more row".to_owned(),
            more => format!("{more} more rows"),
        }
    }

    /// The same as a table of markdown, where nothing in a cell means anything.
    #[must_use]
    pub fn markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = String::new();
        if !self.title.is_empty() {
            out.push_str(&format!("**{}**\n\n", plain(&self.title)));
        }
        out.push_str(&row(self.columns.iter().map(|column| plain(&column.name)).collect()));
        out.push_str(&row(self
            .columns
            .iter()
            .map(|column| if column.figures { "---:" } else { "---" }.to_owned())
            .collect()));
        for cells in &self.rows {
            out.push_str(&row(cells.iter().map(|cell| plain(cell)).collect()));
        }
        if self.more > 0 {
            out.push_str(&format!("\n{}\n", self.rest()));
        }
        out
    }
}

/// Text with every sign of markdown escaped.
pub(in crate::domain) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A text of markdown in which the tables of data are tables of markdown. Those in lists and quotes stay as they are.
#[must_use]
pub fn unfolded(markdown: &str) -> Cow<'_, str> {
    if !["datatable", "data-table", "spreadsheet"].iter().any(|word| markdown.to_ascii_lowercase().contains(word)) {
        return Cow::Borrowed(markdown);
    }
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let mut open: Option<(String, String)> = None;
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if depth == 0 && is_meant(&info) => {
                open = Some((info.to_string(), String::new()));
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::Text(text) => {
                if let Some((_, code)) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if end == TagEnd::CodeBlock
                    && let Some((info, code)) = open.take()
                    && let Some(table) = read(&info, &code)
                {
                    found.push((range, table.markdown()));
                }
            }
            _ => {}
        }
    }
    if found.is_empty() {
        return Cow::Borrowed(markdown);
    }
    let mut out = String::with_capacity(markdown.len());
    let mut from = 0;
    for (range, table) in found {
        out.push_str(markdown.get(from..range.start).unwrap_or_default());
        // A table begins a paragraph of its own.
        if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        out.push_str(table.trim_end());
        out.push('\n');
        from = range.end;
        if markdown.get(from..).is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with('\n')) {
            out.push('\n');
        }
    }
    out.push_str(markdown.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SALES: &str = r#"{"title": "Sales", "columns": [{"key": "city", "label": "City", "type": "text"},
        {"key": "sum", "label": "Sum", "type": "currency"}],
        "rows": [{"city": "東京", "sum": 12.5}, {"city": "a|b", "sum": null}, {"sum": 3, "city": "x\ny"}]}"#;

    #[test]
    fn blocks_are_read_as_craft_writes_them() {
        let table = read("datatable", SALES).unwrap();
        assert_eq!((table.title.as_str(), table.columns.len(), table.columns[1].figures), ("Sales", 2, true));
        assert_eq!(table.rows, [["東京", "$12.50"], ["a|b", ""], ["x y", "$3"]]);
        let sheet = read("spreadsheet", r#"{"filename": "a.xlsx", "columns": ["A", "B"], "rows": [[1, true], ["x"]]}"#);
        let sheet = sheet.unwrap();
        assert_eq!(
            (sheet.title.as_str(), sheet.rows),
            ("a.xlsx", vec![vec!["1".into(), "yes".into()], vec!["x".into(), String::new()]])
        );
        let bare = read("datatable", r#"[{"a": 1, "b": "x"}, {"a": 2, "c": {"d": 1}}]"#).unwrap();
        let names: Vec<_> = bare.columns.iter().map(|c| (c.name.as_str(), c.figures)).collect();
        assert_eq!(names, [("a", true), ("b", false), ("c", false)]);
        assert_eq!(bare.rows[1], ["2", "", r#"{"d":1}"#]);
    }

    #[test]
    fn figures_are_written_as_their_columns_say() {
        let cell = |kind: &str, value: &str| {
            let text = format!(r#"{{"columns": [{{"key": "a", "type": "{kind}"}}], "rows": [{{"a": {value}}}]}}"#);
            let table = read("datatable", &text).unwrap();
            (table.rows[0][0].clone(), table.columns[0].figures)
        };
        for (kind, value, shown) in [
            ("number", "1500000", "1,500,000"),
            ("number", "-1234.5", "-1,234.5"),
            ("number", "12", "12"),
            ("number", "1e300", "1e+300"),
            ("integer", "1000", "1,000"),
            ("currency", "4200000", "$4,200,000"),
            ("currency", "-85.5", "-$85.50"),
            ("currency", "0", "$0"),
            ("percent", "0.152", "+15.2%"),
            ("percent", "-0.03", "-3%"),
            ("percent", "0", "0%"),
            ("percent", "1.25", "+125%"),
            // What is no number stays as it was written.
            ("currency", "\"n/a\"", "n/a"),
            ("number", "\"1500000\"", "1500000"),
            ("percent", "null", ""),
        ] {
            assert_eq!(cell(kind, value), (shown.to_owned(), true), "{kind} {value}");
        }
        for (kind, value, shown) in [
            ("text", "1500000", "1500000"),
            ("boolean", "true", "yes"),
            ("date", "\"2025-01-15\"", "2025-01-15"),
            ("badge", "\"Active\"", "Active"),
        ] {
            assert_eq!(cell(kind, value), (shown.to_owned(), false), "{kind} {value}");
        }
    }

    #[test]
    fn what_is_none_stays_code() {
        for (info, text) in [
            ("json", SALES),
            ("datatable", "{\"rows\": ["),
            ("datatable", "{}"),
            ("datatable", "[]"),
            ("datatable", "7"),
            ("datatable", r#"{"title": 3, "rows": [1]}"#),
            ("spreadsheet", r#"{"src": "data/a.json", "columns": ["a"]}"#),
        ] {
            assert_eq!(read(info, text), None, "{info} {text}");
        }
    }

    #[test]
    fn long_ones_say_what_is_left_out() {
        let rows = vec!["[1]"; ROWS + 3].join(",");
        let table = read("datatable", &format!("[{rows}]")).unwrap();
        assert_eq!((table.rows.len(), table.rest().as_str()), (ROWS, "3 more rows"));
    }

    #[test]
    fn a_text_gets_tables_of_markdown() {
        let text = format!("Here:\n```datatable\n{SALES}\n```\nAnd on.\n\n```datatable\n{{\n```\n");
        let out = unfolded(&text);
        assert!(
            out.starts_with("Here:\n\n**Sales**\n\n| City | Sum |\n| --- | ---: |\n| 東京 | $12.50 |\n| a\\|b |  |\n"),
            "{out}"
        );
        assert!(out.contains("| x y | $3 |\n\nAnd on.\n\n```datatable\n{\n```\n"), "{out}");
        assert!(matches!(unfolded("```json\n{}\n```"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_unfolded_and_keeps_what_is_no_table(before in "[a-z \n]{0,20}", json in ".{0,60}", after in "[a-z ]{0,20}") {
            let json = json.replace('`', "");
            let text = format!("{before}\n\n```datatable\n{json}\n```\n\n{after}");
            let out = unfolded(&text);
            prop_assert!(out.contains(before.trim()) && out.contains(after.trim()));
            if read("datatable", &json).is_none() {
                prop_assert_eq!(out.as_ref(), text.as_str());
            }
        }
    }
}
