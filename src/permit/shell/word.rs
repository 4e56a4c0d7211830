//! One word of a command line, as bash reads it: quotes and backslashes taken away, and what the shell still puts in its
//! place.
//!
//! Read is the part of the language whose meaning is certain. Substitutions, arithmetic, arrays and the `${…}` forms
//! are refused here, for the whole line.

use std::ops::Range;

/// True for the digits of a number, as in `-5` behind its dash.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A word after quote removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellWord {
    /// Text; of a pattern with its marks, of one that begins at the home folder with `~` before it.
    pub(super) text: String,
    /// True if it was written without quotes and backslashes.
    pub(super) bare: bool,
    /// Expansion by the shell.
    pub(super) opens: Opens,
    /// Byte range in the line.
    pub(super) at: Range<usize>,
}

/// Expansion of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    /// Itself.
    Literal,
    /// Itself below the home folder.
    Home,
    /// The names of files that match, or itself where none does.
    Pattern,
    /// Files below where a search began, so none that begins with a dash.
    Found,
    /// Any words at all, also such as begin with a dash.
    Anything,
    /// A value that is only good for being printed: `$?`, `$PWD`.
    Printed,
    /// The value of this variable.
    Variable {
        /// Name of the variable.
        name: String,
        /// True in double quotes.
        quoted: bool,
    },
    /// Text with the values of these variables in it.
    Mixed(Vec<String>),
    /// Known only when it runs; the reason.
    Unknown(String),
}

impl ShellWord {
    /// A word that is what it says.
    pub(super) fn literal(text: &str, at: Range<usize>) -> Self {
        Self { text: text.to_owned(), bare: true, opens: Opens::Literal, at }
    }

    /// Text, if it is known whole.
    pub(super) fn known(&self) -> Option<&str> {
        (self.opens == Opens::Literal).then_some(self.text.as_str())
    }

    /// The shell replaces it by names of files.
    pub(super) fn expands(&self) -> bool {
        matches!(self.opens, Opens::Home | Opens::Pattern)
    }

    /// True if it can be taken for no option, whatever it becomes.
    pub(super) fn is_no_option(&self) -> bool {
        let starts = |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || "./~_@%+,:=^".contains(c));
        match &self.opens {
            Opens::Literal => !self.text.starts_with('-') || self.text == "-",
            Opens::Home | Opens::Found => true,
            Opens::Pattern => starts(&self.text),
            Opens::Printed | Opens::Anything | Opens::Variable { .. } | Opens::Mixed(_) | Opens::Unknown(_) => false,
        }
    }
}

/// Characters of an expansion that a reason shows.
const SHOWN: usize = 40;
/// Variables whose values are the machine's and that may be printed.
const PRINTED: &[&str] = &["HOME", "PWD", "OLDPWD", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "HOSTNAME", "SHLVL"];

/// Names that loops may use: none of the environment's.
pub(super) fn is_loop_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Reads one word.
pub(super) struct WordReader<'a> {
    line: &'a str,
    at: usize,
    text: String,
    bare: bool,
    /// A part without quotes had a pattern's mark.
    pattern: bool,
    /// A part in quotes had one: then what matches is not to be said.
    quoted_mark: bool,
    home: bool,
    printed: bool,
    brace: bool,
    comma: bool,
    /// Variables that are not alone in the word, or the one that may be.
    names: Vec<(String, bool)>,
    unknown: Option<String>,
}

/// Characters that end a word.
fn ends(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Reads the word that begins at byte `at`. With the byte behind it.
///
/// # Errors
/// Reason why it is not understood.
pub(super) fn read(line: &str, at: usize) -> Result<(ShellWord, usize), String> {
    let mut reading = WordReader {
        line,
        at,
        text: String::new(),
        bare: true,
        pattern: false,
        quoted_mark: false,
        home: false,
        printed: false,
        brace: false,
        comma: false,
        names: Vec::new(),
        unknown: None,
    };
    reading.whole()?;
    reading.finished(at)
}

impl WordReader<'_> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn whole(&mut self) -> Result<(), String> {
        let start = self.at;
        let mut before = None;
        while let Some(c) = self.peek().filter(|c| !ends(*c)) {
            self.at += c.len_utf8();
            match c {
                '\'' => self.single()?,
                '"' => self.double()?,
                '\\' => {
                    self.bare = false;
                    match self.next() {
                        Some('\n') => {}
                        Some(c) if c.is_ascii_graphic() || c == ' ' => self.quoted(c),
                        _ => return Err("a backslash stands before what is not supported".to_owned()),
                    }
                }
                '$' => self.dollar(false)?,
                '`' => return Err(refused(c)),
                '*' | '?' | '[' => {
                    self.pattern = true;
                    self.text.push(c);
                }
                '~' if self.at == start + 1 => {
                    if self.peek().is_some_and(|c| c != '/' && !ends(c)) {
                        return Err("`~` with a name is only known at run time".to_owned());
                    }
                    self.home = true;
                    self.text.push('~');
                }
                '~' if matches!(before, Some('=' | ':')) => return Err(refused(c)),
                '{' | '}' => {
                    self.brace = true;
                    self.text.push(c);
                }
                ',' => {
                    self.comma = true;
                    self.text.push(c);
                }
                c if c.is_alphanumeric() || "_-./:+=@%^!#~]".contains(c) => self.text.push(c),
                c => return Err(refused(c)),
            }
            before = Some(c);
        }
        Ok(())
    }

    fn quoted(&mut self, c: char) {
        self.quoted_mark |= "*?[]\\".contains(c);
        self.text.push(c);
    }

    fn single(&mut self) -> Result<(), String> {
        self.bare = false;
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.quoted(c),
                None => return Err("unclosed quote".to_owned()),
            }
        }
    }

    fn double(&mut self) -> Result<(), String> {
        self.bare = false;
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('`') => return Err(refused('`')),
                Some('$') => self.dollar(true)?,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.quoted(c),
                    Some(c) => {
                        self.quoted('\\');
                        self.quoted(c);
                    }
                    None => return Err("unclosed quote".to_owned()),
                },
                Some(c) => self.quoted(c),
                None => return Err("unclosed quote".to_owned()),
            }
        }
    }

    /// Behind a `$`.
    fn dollar(&mut self, quoted: bool) -> Result<(), String> {
        match self.peek() {
            Some('(' | '[') => Err(self.computed()),
            Some('\'') if !quoted => {
                self.at += 1;
                self.ansi()
            }
            Some('"') if !quoted => Err(self.computed()),
            Some('{') => {
                let rest = self.line.get(self.at + 1..).unwrap_or_default();
                let Some((name, _)) = rest.split_once('}').filter(|(name, _)| is_name(name)) else {
                    return Err(self.computed());
                };
                self.at += name.len() + 2;
                self.named(name, quoted);
                Ok(())
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let rest = self.line.get(self.at..).unwrap_or_default();
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let name = rest.get(..end).unwrap_or_default();
                self.at += end;
                // `$name[` is `$name` and a pattern to bash, and a subscript to other shells.
                if self.peek() == Some('[') {
                    return Err(format!("`${name}[…]` is only known at run time"));
                }
                self.named(name, quoted);
                Ok(())
            }
            Some('?') => {
                self.at += 1;
                self.printed = true;
                self.text.push_str("$?");
                Ok(())
            }
            Some(c) if c.is_ascii_digit() || "@*#$!-".contains(c) => {
                self.at += 1;
                self.unknown = Some(format!("`${c}` is only known at run time"));
                self.text.push('$');
                self.text.push(c);
                Ok(())
            }
            // A `$` before anything else is one.
            _ => {
                self.text.push('$');
                self.bare = false;
                Ok(())
            }
        }
    }

    /// Reason against the expansion behind the `$` that was read last.
    fn computed(&self) -> String {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let what = match rest.split_once('}') {
            _ if rest.starts_with("((") => "$((…))",
            _ if rest.starts_with('(') => return "the output of `$(…)` is only known at run time".to_owned(),
            _ if rest.starts_with('[') => "$[…]",
            Some((inner, _))
                if rest.starts_with('{') && inner.chars().count() <= SHOWN && !inner.contains(['`', '\n']) =>
            {
                return format!("`${inner}}}` is only known at run time");
            }
            _ if rest.starts_with('{') => "${…}",
            _ => "$\"…\"",
        };
        format!("`{what}` is only known at run time")
    }

    fn named(&mut self, name: &str, quoted: bool) {
        let first = self.text.is_empty() && self.names.is_empty();
        if name == "HOME" && first && !self.home && matches!(self.peek(), None | Some('/' | '"' | ' ' | '\t' | '\n')) {
            self.home = true;
            self.bare = false;
            self.text.push('~');
            return;
        }
        if PRINTED.contains(&name) {
            self.printed = true;
        } else {
            self.names.push((name.to_owned(), quoted));
        }
        self.bare = false;
        self.text.push('$');
        self.text.push_str(name);
    }

    /// `$'…'` with the few escapes that mean the same everywhere.
    fn ansi(&mut self) -> Result<(), String> {
        self.bare = false;
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('t') => self.quoted('\t'),
                    Some('n') => self.quoted('\n'),
                    // To other shells a quote ends there.
                    Some(c @ ('\\' | '"')) => self.quoted(c),
                    _ => return Err("an escape in `$'…'` is not supported".to_owned()),
                },
                Some(c) => self.quoted(c),
                None => return Err("unclosed quote".to_owned()),
            }
        }
    }

    fn finished(self, start: usize) -> Result<(ShellWord, usize), String> {
        // `{a,b}` and `{1..3}` are several words, `{name}>` is a redirection. Other braces are themselves.
        let next_redirects = matches!(self.line.as_bytes().get(self.at), Some(b'<' | b'>'));
        if self.brace && (self.comma || self.text.contains("..") || next_redirects) {
            return Err(refused('{'));
        }
        let text = self.text;
        let alone = self.bare && matches!(text.as_str(), "[" | "[[");
        let opens = if let Some(why) = self.unknown {
            Opens::Unknown(why)
        } else if let [(name, quoted)] = self.names.as_slice()
            && text.len() == name.len() + 1
        {
            Opens::Variable { name: name.clone(), quoted: *quoted }
        } else if !self.names.is_empty() {
            Opens::Mixed(self.names.into_iter().map(|(name, _)| name).collect())
        } else if self.printed {
            Opens::Printed
        } else if self.pattern && !alone {
            if self.quoted_mark {
                return Err("a pattern mixes quoted and open marks".to_owned());
            }
            Opens::Pattern
        } else if self.home {
            Opens::Home
        } else {
            Opens::Literal
        };
        Ok((ShellWord { text, bare: self.bare, opens, at: start..self.at }, self.at))
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Reason why a character is refused.
pub(super) fn refused(c: char) -> String {
    match c {
        '$' => "`$` expands to something that is only known at run time".to_owned(),
        '`' => "the output of a command in backticks is only known at run time".to_owned(),
        '<' | '>' => format!("`{c}` redirects in a way that is not supported"),
        '(' | ')' | '{' | '}' => format!("`{c}` groups or expands in a way that is not supported"),
        '~' => "`~` expands to what is only known at run time".to_owned(),
        c if c.is_ascii_graphic() => format!("`{c}` is not supported here"),
        c => format!("the character U+{:04X} is not supported outside quotes", u32::from(c)),
    }
}
