//! The strict reading of a command line: simple commands of literal words, joined by `|`, `&&`, `||`, `;` or newline.
//!
//! Beside them only what means the same to every shell: `< file`, output into `/dev/null` or another descriptor, `[ … ]`
//! and comments. Whatever else a shell might expand, redirect, define or run is refused with the reason.

use std::iter::Peekable;
use std::str::Chars;

/// A word after quote removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StrictWord {
    /// Text without quotes.
    pub(super) text: String,
    /// True if it was written without any quotes.
    pub(super) bare: bool,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StrictCommand {
    /// Words; never empty.
    pub(super) words: Vec<StrictWord>,
    /// Files that it gets as its input.
    pub(super) reads: Vec<String>,
}

/// Takes a line apart into its simple commands.
///
/// # Errors
/// Reason why the line is not understood.
pub(super) fn parse(line: &str) -> Result<Vec<StrictCommand>, String> {
    let mut commands = Vec::new();
    let mut simple = StrictCommand::default();
    let mut word: Option<StrictWord> = None;
    // An operator such as `|` or `&&` is owed a command after it.
    let mut owed = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => simple.words.extend(word.take()),
            '\n' | ';' | '|' | '&' => {
                simple.words.extend(word.take());
                let joins = match c {
                    '|' => {
                        if rest.peek() == Some(&'&') {
                            return Err("`|&` is not supported".to_owned());
                        }
                        let _ = rest.next_if_eq(&'|');
                        true
                    }
                    '&' => {
                        if rest.next_if_eq(&'&').is_none() {
                            return Err("`&` runs in the background".to_owned());
                        }
                        true
                    }
                    _ => false,
                };
                if simple.words.is_empty() {
                    // Blank lines are nothing; any other missing command is odd.
                    if c != '\n' {
                        return Err(format!("no command before `{c}`"));
                    }
                    continue;
                }
                commands.push(std::mem::take(&mut simple));
                owed = joins;
                continue;
            }
            '#' if word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '<' | '>' => {
                // Right before it stands the number of a descriptor, or a word of its own.
                let number = word.take_if(|word| word.bare && c == '>' && matches!(word.text.as_str(), "1" | "2"));
                simple.words.extend(word.take());
                if simple.words.is_empty() || number.is_none() && rest.peek() == Some(&'|') {
                    return Err(refused(c));
                }
                simple.reads.extend(redirected(c, &mut rest)?);
            }
            // The program `[`, and what closes it.
            '[' if word.is_none() && simple.words.is_empty() && ends(&mut rest) => word = Some(bare(c)),
            ']' | '!' if word.is_none() && is_test(&simple) && ends(&mut rest) => word = Some(bare(c)),
            '\'' | '"' => {
                let text = quoted(c, &mut rest)?;
                let word = word.get_or_insert_with(|| StrictWord { text: String::new(), bare: false });
                word.bare = false;
                word.text.push_str(&text);
            }
            c if is_plain(c) => word.get_or_insert_with(|| StrictWord { text: String::new(), bare: true }).text.push(c),
            c => return Err(refused(c)),
        }
    }
    simple.words.extend(word.take());
    if !simple.words.is_empty() {
        commands.push(simple);
    } else if owed {
        return Err("missing command at the end".to_owned());
    }
    if commands.is_empty() { Err("no command".to_owned()) } else { Ok(commands) }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./,:+=@%".contains(c)
}

fn bare(c: char) -> StrictWord {
    StrictWord { text: c.to_string(), bare: true }
}

/// A word is over here.
fn ends(rest: &mut Peekable<Chars<'_>>) -> bool {
    rest.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&'))
}

fn is_test(simple: &StrictCommand) -> bool {
    simple.words.first().is_some_and(|word| word.bare && matches!(word.text.as_str(), "[" | "test"))
}

/// Target of `<` or `>`: a file to read, or a place for unwanted output.
fn redirected(c: char, rest: &mut Peekable<Chars<'_>>) -> Result<Option<String>, String> {
    if c == '>' {
        if rest.next_if_eq(&'&').is_some() {
            let known = rest.next().is_some_and(|c| matches!(c, '1' | '2')) && ends(rest);
            return if known { Ok(None) } else { Err(refused(c)) };
        }
        let _ = rest.next_if_eq(&'>');
    }
    while rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut text = String::new();
    while !ends(rest) {
        match rest.next() {
            Some(quote @ ('\'' | '"')) => text.push_str(&quoted(quote, rest)?),
            Some(c) if is_plain(c) => text.push(c),
            _ => return Err(refused(c)),
        }
    }
    match c {
        '<' if !text.is_empty() => Ok(Some(text)),
        '>' if text == "/dev/null" => Ok(None),
        _ => Err(refused(c)),
    }
}

/// The text up to the closing quote. Single quotes keep everything; in double quotes nothing that expands may stand.
fn quoted(quote: char, rest: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => return Ok(text),
            // It expands nothing there.
            '$' if quote == '"' && rest.peek().is_some_and(|c| matches!(c, '"' | ' ' | '|')) => text.push(c),
            '$' | '`' | '\\' | '!' if quote == '"' => return Err(refused(c)),
            c if c.is_control() => return Err(refused(c)),
            c => text.push(c),
        }
    }
    Err("unclosed quote".to_owned())
}

fn refused(c: char) -> String {
    match c {
        '$' | '`' => format!("`{c}` expands to something that is only known at run time"),
        '<' | '>' => format!("`{c}` redirects"),
        '(' | ')' | '{' | '}' => format!("`{c}` groups or expands commands"),
        '*' | '?' | '[' | '~' => format!("`{c}` expands to names that are only known at run time"),
        '\\' => "backslashes are not supported: use single quotes".to_owned(),
        c if c.is_ascii_graphic() => format!("`{c}` is not supported outside single quotes"),
        c => format!("the character U+{:04X} is not supported outside quotes", u32::from(c)),
    }
}
