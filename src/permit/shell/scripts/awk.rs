//! awk: values, functions that only compute, and printing to the standard output.

/// Token before a `/` in awk, which decides its meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value: it divides.
    Value,
    /// Nothing that could be divided: a pattern begins.
    Nothing,
    /// The grammar says which of the two.
    Either,
}

/// Words of awk after which a value, or nothing, is expected.
const AWK_WORDS: &[&str] = &[
    "BEGIN",
    "END",
    "BEGINFILE",
    "ENDFILE",
    "if",
    "else",
    "while",
    "for",
    "do",
    "in",
    "return",
    "function",
    "func",
    "next",
    "nextfile",
    "exit",
    "break",
    "continue",
    "delete",
    "switch",
    "case",
    "default",
];

/// Functions of awk that only compute.
const AWK_FUNCTIONS: &[&str] = &[
    "length", "substr", "index", "split", "sub", "gsub", "gensub", "match", "sprintf", "tolower", "toupper", "sin",
    "cos", "atan2", "exp", "log", "sqrt", "int", "rand", "srand", "asort", "asorti", "strftime", "systime", "mktime",
    "and", "or", "xor", "lshift", "rshift", "compl", "strtonum", "patsplit", "isarray", "typeof", "mkbool",
];

/// Words of awk that run, load, or read from elsewhere.
const AWK_REFUSED: &[&str] =
    &["system", "getline", "ARGV", "ARGC", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "extension", "close", "fflush"];

/// An awk program that only prints: no `system`, no `getline`, no pipe and no redirection behind `print`.
pub(in crate::permit::shell) fn awk(program: &str) -> Result<(), String> {
    Awk {
        chars: program.chars().collect(),
        at: 0,
        open: 0,
        print: None,
        before: Before::Nothing,
        functions: defined(program),
    }
    .whole()
}

/// The names behind `function`.
fn defined(program: &str) -> Vec<String> {
    let mut words = program.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "function" | "func") {
            out.extend(words.next().map(str::to_owned));
        }
    }
    out
}

struct Awk {
    chars: Vec<char>,
    at: usize,
    /// Parentheses that are open.
    open: usize,
    /// A `print` goes on; so many were open when it began.
    print: Option<usize>,
    before: Before,
    functions: Vec<String>,
}

impl Awk {
    fn refuse(what: &str) -> Result<(), String> {
        Err(format!("the program for `awk` {what}"))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Goes past characters of this kind, and gives them.
    fn run_of(&mut self, of: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while self.peek().is_some_and(&of) {
            self.at += 1;
        }
        self.chars.get(from..self.at).unwrap_or_default().iter().collect()
    }

    fn whole(mut self) -> Result<(), String> {
        const ODD: &str = "is not supported";
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                ' ' | '\t' => {}
                '#' => {
                    self.run_of(|c| c != '\n');
                }
                '\n' => {
                    // Behind a comma and the like the statement goes on.
                    if self.print.is_some() && self.before == Before::Nothing {
                        return Self::refuse(ODD);
                    }
                    (self.print, self.before) = (None, Before::Nothing);
                }
                ';' | '{' | '}' => (self.print, self.before) = (None, Before::Nothing),
                '"' => self.string()?,
                '/' => self.slash()?,
                '@' => return Self::refuse("may load or call what is not in it"),
                '|' if self.eat('|') => self.before = Before::Nothing,
                '|' => return Self::refuse("may print into a program, or read from one"),
                '&' if self.eat('&') => self.before = Before::Nothing,
                '>' if self.print == Some(self.open) => return Self::refuse("may print into a file"),
                '(' => {
                    self.open += 1;
                    self.before = Before::Nothing;
                }
                ')' if self.open > 0 => {
                    self.open -= 1;
                    self.before = Before::Either;
                }
                ']' => self.before = Before::Value,
                '+' | '-' if self.eat(c) => self.before = Before::Either,
                '+' | '-' | '*' | '%' | '^' | '$' | '?' | ':' | '~' | '!' | '=' | '<' | '>' | ',' | '[' => {
                    self.before = Before::Nothing;
                }
                '0'..='9' | '.' => {
                    self.run_of(|c| c.is_ascii_digit() || c == '.');
                    self.before = Before::Value;
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    self.at -= 1;
                    self.word()?;
                }
                _ => return Self::refuse(ODD),
            }
        }
        if self.open == 0 { Ok(()) } else { Self::refuse(ODD) }
    }

    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.peek() {
                Some('"') => break,
                Some('\\') if self.chars.get(self.at + 1).is_some_and(|c| *c != '\n') => self.at += 2,
                Some(c) if c != '\\' && c != '\n' => self.at += 1,
                _ => return Self::refuse("has a text without an end"),
            }
        }
        self.at += 1;
        self.before = Before::Value;
        Ok(())
    }

    fn slash(&mut self) -> Result<(), String> {
        if self.before != Before::Nothing {
            let mut line = self.chars.get(self.at..).unwrap_or_default().iter().take_while(|c| **c != '\n');
            if self.before == Before::Either && line.any(|c| *c == '/') {
                return Self::refuse("divides, or looks for a pattern: that is not certain");
            }
            self.before = Before::Nothing;
            return Ok(());
        }
        let mut bracket = false;
        loop {
            match self.peek() {
                // To some a pattern ends there, to others not.
                Some('/') if bracket => return Self::refuse("has a pattern that is not supported"),
                Some('/') => break,
                Some('\\') if self.chars.get(self.at + 1).is_some_and(|c| *c != '\n') => self.at += 2,
                Some('\\' | '\n') | None => return Self::refuse("has a pattern without an end"),
                Some(c) => {
                    self.at += 1;
                    if c == '[' && !bracket {
                        bracket = true;
                        self.eat('^');
                        self.eat(']');
                    } else if c == '[' && bracket && self.peek().is_some_and(|c| ".:=".contains(c)) {
                        self.at += 1;
                        self.run_of(|c| c.is_ascii_alphanumeric() || c == '-');
                        if !self.peek().is_some_and(|c| ".:=".contains(c)) || self.chars.get(self.at + 1) != Some(&']')
                        {
                            return Self::refuse("has a pattern that is not supported");
                        }
                        self.at += 2;
                    } else if c == ']' {
                        bracket = false;
                    }
                }
            }
        }
        self.at += 1;
        self.before = Before::Value;
        Ok(())
    }

    fn word(&mut self) -> Result<(), String> {
        let word = self.run_of(|c| c.is_ascii_alphanumeric() || c == '_');
        if AWK_REFUSED.contains(&word.as_str()) {
            return Self::refuse(&format!("has `{word}`, which may run, load or read what is not in it"));
        }
        self.before = match word.as_str() {
            "print" | "printf" => {
                self.print = Some(self.open);
                // A pattern may follow, and so may the end of the line.
                if matches!(self.peek(), Some('\n')) {
                    self.print = None;
                }
                Before::Nothing
            }
            word if AWK_WORDS.contains(&word) => Before::Nothing,
            word if AWK_FUNCTIONS.contains(&word) => Before::Either,
            word if self.peek() == Some('(') && !self.functions.iter().any(|known| known == word) => {
                return Self::refuse(&format!("calls `{word}`, which is not known"));
            }
            _ => Before::Value,
        };
        Ok(())
    }
}
