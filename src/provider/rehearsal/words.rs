//! Counts, cuts and quotes for the sentences of the rehearsal, and reads the results of tools.

/// A number of things, with the plural where it belongs.
pub(super) fn count(n: usize, thing: &str) -> String {
    match (n, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        _ => format!("{n} {thing}s"),
    }
}

pub(super) fn lines(text: &str) -> usize {
    text.trim_end().lines().count()
}

/// The lines of a result without the tool's own remarks, which stand in parentheses.
pub(super) fn lines_said(text: &str) -> usize {
    text.trim_end().lines().filter(|line| !(line.starts_with('(') && line.ends_with(')'))).count()
}

/// Number of lines that a search found: those that begin with a line number.
pub(super) fn matches(text: &str) -> usize {
    let numbered =
        |line: &&str| line.split_once(':').is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    text.lines().filter(numbered).count()
}

/// The output of a command, and the "exit 0" that the tool puts below it.
pub(super) fn output_and_exit(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end();
    let (output, last) = text.rsplit_once('\n').unwrap_or(("", text));
    if last.starts_with("exit ") { (output, Some(last)) } else { (text, None) }
}

pub(super) fn last_line(text: &str) -> Option<&str> {
    text.trim_end().lines().next_back().map(str::trim).filter(|line| !line.is_empty())
}

/// The result speaks of a person or a mode that did not let it happen.
pub(super) fn refused(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "refused",
        "declined",
        "denied",
        "not allowed",
        "permission mode",
        "skipped",
        "explore is read-only",
        "non-interactive",
    ]
    .iter()
    .any(|w| text.contains(w))
}

/// The start of a text on one line, with "…" when it was cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most + 1).collect();
    if one_line.chars().count() > most { one_line.chars().take(most).chain(['…']).collect() } else { one_line }
}

/// A text as a regular expression that finds just it.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
