//! Front matter: the lines between two `---` at the beginning of a markdown file, as commands, skills and agents have them.
//!
//! The part of YAML that such files use: `name: value`, quotes, lists in brackets or with a dash on each line, and texts
//! over several lines (`|`, `>`, or indented). Keys of other programs with maps inside are passed over. Nothing here is
//! evaluated: no anchors, no tags, no references.

/// Lines of a front matter at the most.
const LINES: usize = 500;

/// Front matter and the text behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    fields: Vec<Field>,
    /// Text after the front matter, without blanks around it.
    pub body: String,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    value: FieldValue,
    /// Line of the file, from 1.
    line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldValue {
    Text(String),
    List(Vec<String>),
    /// A map, which no field here has.
    Other,
}

/// The line, from 1, and the problem in it.
pub type Fault = (usize, &'static str);

impl FrontMatter {
    /// Reads a file. One without front matter is all body.
    ///
    /// # Errors
    /// The line, from 1, and the problem in it.
    pub fn read(whole: &str) -> Result<Self, Fault> {
        let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let mut lines = whole.split_inclusive('\n');
        if lines.next().map(str::trim_end) != Some("---") {
            return Ok(Self { fields: Vec::new(), body: whole.trim().to_owned() });
        }
        let inside: Vec<&str> = lines.take_while(|line| line.trim_end() != "---").collect();
        let begin = whole.find('\n').map_or(whole.len(), |at| at + 1);
        let length: usize = inside.iter().map(|line| line.len()).sum();
        let rest = whole.get(begin + length..).unwrap_or_default();
        if rest.is_empty() {
            return Err((1, "unclosed front matter: missing the second ---"));
        }
        if inside.len() > LINES {
            return Err((LINES + 1, "front matter too long"));
        }
        let body = rest.split_once('\n').map_or("", |(_, body)| body).trim().to_owned();
        Ok(Self { fields: fields(&inside)?, body })
    }

    fn find(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Line of a field, from 1.
    #[must_use]
    pub fn line(&self, name: &str) -> usize {
        self.find(name).map_or(1, |field| field.line)
    }

    /// A text; empty where it is missing.
    ///
    /// # Errors
    /// A list or a map.
    pub fn text(&self, name: &str) -> Result<String, Fault> {
        match self.find(name) {
            None => Ok(String::new()),
            Some(Field { value: FieldValue::Text(text), .. }) => Ok(text.clone()),
            Some(field) => Err((field.line, "expected one text, not a list")),
        }
    }

    /// The same as it stands in the file: `[ISSUE]` is a text, not a list.
    #[must_use]
    pub fn words(&self, name: &str) -> String {
        match self.find(name).map(|field| &field.value) {
            Some(FieldValue::Text(text)) => text.clone(),
            Some(FieldValue::List(all)) => format!("[{}]", all.join(", ")),
            Some(FieldValue::Other) | None => String::new(),
        }
    }

    /// A list; one text is a list by its commas. Commas inside brackets separate nothing: `Bash(a, b)` is one.
    ///
    /// # Errors
    /// A map.
    pub fn list(&self, name: &str) -> Result<Vec<String>, Fault> {
        match self.find(name) {
            None => Ok(Vec::new()),
            Some(Field { value: FieldValue::List(all), .. }) => Ok(all.clone()),
            Some(Field { value: FieldValue::Text(text), .. }) => Ok(split(text)),
            Some(field) => Err((field.line, "expected a list")),
        }
    }
}

fn fields(lines: &[&str]) -> Result<Vec<Field>, Fault> {
    let mut out: Vec<Field> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at + 2;
        at += 1;
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t']) || bare.starts_with("- ") {
            return Err((number, "expected `name: value`"));
        }
        let (name, value) = named(bare).ok_or((number, "expected `name: value`"))?;
        let deeper = lines[at..].iter().take_while(|line| continues(line)).count();
        let below = &lines[at..at + deeper];
        at += deeper;
        if out.iter().any(|field| field.name == name) {
            return Err((number, "field given twice"));
        }
        out.push(Field { name: name.to_owned(), value: value_of(value, below, number)?, line: number });
    }
    Ok(out)
}

/// A line that belongs to the field above it.
fn continues(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t']) || line.starts_with("- ") || line.trim_end() == "-"
}

fn named(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = unquoted(name.trim());
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let is_name = !name.is_empty() && name.chars().all(plain);
    (is_name && (value.is_empty() || value.starts_with([' ', '\t']))).then_some((name, value.trim()))
}

fn value_of(value: &str, below: &[&str], line: usize) -> Result<FieldValue, Fault> {
    let full: Vec<&str> = below.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    if let Some(style) = value.strip_prefix(['|', '>']) {
        if !style.chars().all(|c| matches!(c, '-' | '+') || c.is_ascii_digit()) {
            return Err((line, "expected a text below the sign"));
        }
        return Ok(FieldValue::Text(block(below, value.starts_with('>'))));
    }
    if let Some(inside) = value.strip_prefix('[') {
        let whole = std::iter::once(inside).chain(full.iter().copied()).collect::<Vec<_>>().join(" ");
        return match whole.trim().strip_suffix(']') {
            Some(closed) => Ok(FieldValue::List(split(closed))),
            // `[FILE] and more` is a text of people.
            None if inside.contains(']') => Ok(FieldValue::Text(uncommented(value).to_owned())),
            None => Err((line, "unclosed list: missing the ]")),
        };
    }
    if value.is_empty() && full.first().is_some_and(|first| first.starts_with('-')) {
        let items = full.iter().map(|item| item.strip_prefix('-').map(str::trim));
        let items: Option<Vec<&str>> = items.collect();
        // Items over several lines are maps.
        return Ok(items.map_or(FieldValue::Other, |all| {
            FieldValue::List(
                all.into_iter()
                    .map(|item| unquoted(uncommented(item)).to_owned())
                    .filter(|item| !item.is_empty())
                    .collect(),
            )
        }));
    }
    if value.starts_with('{') || value.is_empty() && full.first().is_some_and(|first| named(first).is_some()) {
        return Ok(FieldValue::Other);
    }
    if value.starts_with(['&', '*', '!']) && !value.starts_with("**") {
        return Err((line, "anchors and tags of YAML are not supported"));
    }
    let whole = std::iter::once(value).chain(full).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    quoted(&whole, line).map(FieldValue::Text)
}

/// A text over several lines: as they stand, or folded to one line a paragraph.
fn block(lines: &[&str], folded: bool) -> String {
    let indent = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indent.min().unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(indent..).unwrap_or_default().trim_end()).collect();
    let text = match folded {
        true => lines.split(|line| line.is_empty()).map(|part| part.join(" ")).collect::<Vec<_>>().join("\n"),
        false => lines.join("\n"),
    };
    text.trim().to_owned()
}

/// FieldValue without its quotes, or without a comment behind it.
fn quoted(value: &str, line: usize) -> Result<String, Fault> {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(uncommented(value).to_owned());
    };
    let inside = value.get(1..).unwrap_or_default();
    let mut out = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(c @ ('"' | '\\' | '/')) => out.push(c),
                _ => return Err((line, "unknown escape in quotes")),
            },
            '\'' if quote == '\'' && inside.get(at + 1..).is_some_and(|rest| rest.starts_with('\'')) => {
                chars.next();
                out.push('\'');
            }
            c if c == quote => {
                let rest = inside.get(at + 1..).unwrap_or_default().trim();
                return if rest.is_empty() || rest.starts_with('#') {
                    Ok(out)
                } else {
                    Err((line, "text behind the closing quote"))
                };
            }
            c => out.push(c),
        }
    }
    Err((line, "unclosed quote"))
}

fn uncommented(value: &str) -> &str {
    value.find(" #").map_or(value, |at| value.get(..at).unwrap_or_default()).trim_end()
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// Items between commas that stand in no quotes and in no brackets.
fn split(text: &str) -> Vec<String> {
    let (mut depth, mut quote, mut from) = (0_usize, None, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(&text[from..]);
    parts.into_iter().map(|part| unquoted(part.trim()).to_owned()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(inside: &str) -> FrontMatter {
        FrontMatter::read(&format!("---\n{inside}\n---\nbody")).unwrap()
    }

    #[test]
    fn texts_are_read() {
        for (inside, expected) in [
            ("a: plain text", "plain text"),
            ("a: \"quoted: \\\"x\\\"\"", "quoted: \"x\""),
            ("a: 'it''s'", "it's"),
            ("a: value # comment", "value"),
            ("a: no#comment", "no#comment"),
            ("a: http://x.y/z", "http://x.y/z"),
            ("a: one\n  two\n  three\nb: x", "one two three"),
            ("a: >\n  folded\n  text\n\n  more\nb: x", "folded text\nmore"),
            ("a: |-\n  kept\n    deeper\nb: x", "kept\n  deeper"),
            ("b: x", ""),
            ("metadata:\n  x: y\n  z: [1]\na: behind a map", "behind a map"),
            ("# comment\n\na: x", "x"),
            ("a: **/*.rs", "**/*.rs"),
            ("a: [FILE] and more", "[FILE] and more"),
        ] {
            assert_eq!(read(inside).text("a").unwrap(), expected, "{inside}");
            assert_eq!(read(inside).body, "body");
        }
    }

    #[test]
    fn lists_are_read() {
        for (inside, expected) in [
            ("a: [x, 'y, z', \"w\"]", vec!["x", "y, z", "w"]),
            ("a: Bash(git add:*), Read, Bash(a, b)", vec!["Bash(git add:*)", "Read", "Bash(a, b)"]),
            ("a:\n  - x\n  - \"y\" # why\nb: z", vec!["x", "y"]),
            ("a:\n- x\n- y", vec!["x", "y"]),
            ("a: [x,\n  y]", vec!["x", "y"]),
            ("a: []", vec![]),
            ("a:", vec![]),
            ("b: x", vec![]),
        ] {
            assert_eq!(read(inside).list("a").unwrap(), expected, "{inside}");
        }
        assert_eq!(read("a: [ISSUE]").words("a"), "[ISSUE]");
    }

    #[test]
    fn what_is_broken_names_its_line() {
        for (whole, line) in [
            ("---\na: x\n", 1),
            ("---", 1),
            ("---\na: x\nwhat is this\n---\nx", 3),
            ("---\n  a: x\n---\nx", 2),
            ("---\na: \"x\n---\nx", 2),
            ("---\na: [x\n---\nx", 2),
            ("---\na: x\na: y\n---\nx", 3),
            ("---\na: &anchor x\n---\nx", 2),
            ("---\na: \"x\" y\n---\nx", 2),
        ] {
            assert_eq!(FrontMatter::read(whole).unwrap_err().0, line, "{whole:?}");
        }
        assert_eq!(read("b: 1\na: [x, y]").text("a").unwrap_err().0, 3);
        let long = format!("---\n{}---\nx", "# x\n".repeat(LINES + 1));
        assert!(FrontMatter::read(&long).is_err());
    }

    #[test]
    fn a_file_without_front_matter_is_all_body() {
        let plain = FrontMatter::read("a\n---\nb: c\n").unwrap();
        assert_eq!((plain.body.as_str(), plain.text("b").unwrap().as_str()), ("a\n---\nb: c", ""));
        assert_eq!(FrontMatter::read("\u{feff}---\r\na: x\r\n---\r\n\r\nbody\r\n").unwrap().body, "body");
    }

    proptest! {
        #[test]
        fn any_file_is_read(whole in "(---\n)?[a-z:\\-\\[\\]\"'|> \n#{}&ä]{0,80}(\n---\n.{0,20})?") {
            if let Ok(read) = FrontMatter::read(&whole) {
                let _ = (read.list("a"), read.text("a"), read.words("a"));
            }
        }
    }
}
