//! The strict reading of a command line: simple commands of literal words, joined by `|`, `&&`, `||`, `;` or newline.
//!
//! Whatever a shell might expand, redirect, define or run beside that is refused with the reason, so that a line which
//! passes means the same to every shell.

/// A word after quote removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text.
    pub(super) text: String,
    /// It was written without any quotes.
    pub(super) bare: bool,
}

/// Takes a line apart into the words of its simple commands, none of them empty.
///
/// # Errors
/// Why the line is not understood.
pub(super) fn parse(line: &str) -> Result<Vec<Vec<Word>>, String> {
    let mut commands = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut word: Option<Word> = None;
    // An operator such as `|` or `&&` is owed a command after it.
    let mut owed = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\n' | ';' | '|' | '&' => {
                words.extend(word.take());
                let joins = match c {
                    '|' => {
                        if rest.peek() == Some(&'&') {
                            return Err("`|&` is not understood".to_owned());
                        }
                        let _ = rest.next_if_eq(&'|');
                        true
                    }
                    '&' => {
                        if rest.next_if_eq(&'&').is_none() {
                            return Err("a single `&` runs something in the background".to_owned());
                        }
                        true
                    }
                    _ => false,
                };
                if words.is_empty() {
                    // Blank lines are nothing; any other missing command is odd.
                    if c != '\n' {
                        return Err(format!("there is no command before `{c}`"));
                    }
                    continue;
                }
                commands.push(std::mem::take(&mut words));
                owed = joins;
                continue;
            }
            '\'' | '"' => {
                let text = quoted(c, &mut rest)?;
                let word = word.get_or_insert_with(|| Word { text: String::new(), bare: false });
                word.bare = false;
                word.text.push_str(&text);
            }
            c if c.is_ascii_alphanumeric() || "_-./,:+=@%".contains(c) => {
                word.get_or_insert_with(|| Word { text: String::new(), bare: true }).text.push(c);
            }
            c => return Err(refused(c)),
        }
    }
    words.extend(word.take());
    if !words.is_empty() {
        commands.push(words);
    } else if owed {
        return Err("a command is missing at the end".to_owned());
    }
    if commands.is_empty() { Err("there is no command in it".to_owned()) } else { Ok(commands) }
}

/// The text up to the closing quote. Single quotes keep everything; in double quotes nothing that expands may stand.
fn quoted(quote: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    for c in rest.by_ref() {
        match c {
            c if c == quote => return Ok(text),
            '$' | '`' | '\\' | '!' if quote == '"' => return Err(refused(c)),
            c if c.is_control() => return Err(refused(c)),
            c => text.push(c),
        }
    }
    Err("a quote is not closed".to_owned())
}

fn refused(c: char) -> String {
    match c {
        '$' | '`' => format!("`{c}` expands to something that is only known when it runs"),
        '<' | '>' => format!("`{c}` redirects"),
        '(' | ')' | '{' | '}' => format!("`{c}` groups or expands commands"),
        '*' | '?' | '[' | '~' => format!("`{c}` expands to names that are only known when it runs"),
        '\\' => "backslashes are not followed: put the word in single quotes".to_owned(),
        '#' => "`#` begins a comment".to_owned(),
        c if c.is_ascii_graphic() => format!("`{c}` is not understood outside single quotes"),
        c => format!("the character U+{:04X} is not understood outside quotes", u32::from(c)),
    }
}
