//! Texts that are programs for sed, awk, jq and yq: whether they only print.
//!
//! Each reading knows a small part of its language and refuses the rest.

/// Commands of a sed script that print, delete, join or substitute, without `w`, `r` and `e`.
pub(super) fn sed(script: &str) -> Result<(), String> {
    let mut reader = Sed { rest: script.chars().peekable() };
    let mut open = 0_usize;
    loop {
        reader.skip(|c| c.is_ascii_whitespace() || c == ';');
        let Some(c) = reader.rest.peek().copied() else {
            return if open == 0 { Ok(()) } else { Err(unknown("sed")) };
        };
        if c == '}' && open > 0 {
            open -= 1;
            reader.rest.next();
            reader.end()?;
            continue;
        }
        reader.addresses()?;
        match reader.rest.next() {
            Some('{') => open += 1,
            Some('p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'F' | 'z') => reader.end()?,
            // Whether a label ends at `;` or at the end of its line, what follows is read as commands here.
            Some(':' | 'b' | 't' | 'T') => {
                reader.skip(|c| c == ' ');
                reader.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                reader.end()?;
            }
            Some('q' | 'Q' | 'l') => {
                reader.skip(|c| c == ' ');
                reader.skip(|c| c.is_ascii_digit());
                reader.end()?;
            }
            Some('s') => {
                let delimiter = reader.delimiter()?;
                reader.part(delimiter, Part::Pattern)?;
                reader.part(delimiter, Part::Other)?;
                reader.skip(|c| "gpiI0123456789".contains(c));
                reader.end()?;
            }
            Some('y') => {
                let delimiter = reader.delimiter()?;
                reader.part(delimiter, Part::Other)?;
                reader.part(delimiter, Part::Other)?;
                reader.end()?;
            }
            _ => return Err(unknown("sed")),
        }
    }
}

fn unknown(what: &str) -> String {
    format!("the text for `{what}` is not known to only print")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Pattern,
    Other,
}

struct Sed<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Sed<'_> {
    fn skip(&mut self, of: impl Fn(char) -> bool) {
        while self.rest.next_if(|c| of(*c)).is_some() {}
    }

    /// A command is over: what follows separates.
    fn end(&mut self) -> Result<(), String> {
        self.skip(|c| c == ' ' || c == '\t');
        match self.rest.peek() {
            None | Some(';' | '\n' | '}') => Ok(()),
            Some(_) => Err(unknown("sed")),
        }
    }

    fn delimiter(&mut self) -> Result<char, String> {
        self.rest.next().filter(|c| "/|,:@!%_+=~#".contains(*c)).ok_or_else(|| unknown("sed"))
    }

    /// Up to the delimiter. To some readers a delimiter inside brackets ends the pattern, to others it does not: a
    /// pattern that has one there is not understood.
    fn part(&mut self, delimiter: char, part: Part) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    Some(c) if c != '\n' || part == Part::Other => {}
                    _ => return Err(unknown("sed")),
                },
                c if c == delimiter => return Ok(()),
                '[' if part == Part::Pattern => self.bracket(delimiter)?,
                '\n' => return Err(unknown("sed")),
                _ => {}
            }
        }
        Err(unknown("sed"))
    }

    /// The rest of a bracket expression: a `]` in first place is a letter of it, and so are those in `[:…:]`.
    fn bracket(&mut self, delimiter: char) -> Result<(), String> {
        let _ = self.rest.next_if_eq(&'^');
        let mut first = true;
        while let Some(c) = self.rest.next() {
            match c {
                ']' if !first => return Ok(()),
                '\n' => break,
                c if c == delimiter => break,
                // Some take a backslash for one, some for the mark of what follows: both must come to the same end.
                '\\' => match self.rest.next() {
                    Some(c) if c == delimiter || c == '\\' || c.is_ascii_alphanumeric() || ".*+?$^-".contains(c) => {}
                    _ => break,
                },
                '[' => {
                    if let Some(kind) = self.rest.next_if(|c| ".:=".contains(*c)) {
                        self.class(kind, delimiter)?;
                    }
                }
                _ => {}
            }
            first = false;
        }
        Err(unknown("sed"))
    }

    /// `[:alpha:]` and its kin, behind the second character.
    fn class(&mut self, kind: char, delimiter: char) -> Result<(), String> {
        self.skip(|c| c.is_ascii_alphanumeric() || c == '-');
        let end = kind != delimiter && self.rest.next() == Some(kind) && self.rest.next() == Some(']');
        if end { Ok(()) } else { Err(unknown("sed")) }
    }

    fn addresses(&mut self) -> Result<(), String> {
        if self.address()? {
            self.skip(|c| c == ' ');
            if self.rest.next_if_eq(&',').is_some() {
                self.skip(|c| c == ' ');
                let _ = self.rest.next_if(|c| "+~".contains(*c));
                if !self.address()? {
                    return Err(unknown("sed"));
                }
            }
        }
        self.skip(|c| c == ' ' || c == '!');
        Ok(())
    }

    fn address(&mut self) -> Result<bool, String> {
        match self.rest.peek() {
            Some('$') => {
                self.rest.next();
            }
            Some('0'..='9') => {
                self.skip(|c| c.is_ascii_digit());
                if self.rest.next_if_eq(&'~').is_some() {
                    self.skip(|c| c.is_ascii_digit());
                }
            }
            Some('/') => {
                self.rest.next();
                self.part('/', Part::Pattern)?;
                let _ = self.rest.next_if_eq(&'I');
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

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
pub(super) fn awk(program: &str) -> Result<(), String> {
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
        const ODD: &str = "is not understood";
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
                Some('/') if bracket => return Self::refuse("has a pattern that is not understood"),
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
                            return Self::refuse("has a pattern that is not understood");
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

/// Built-ins of jq that use only its input.
const JQ_WORDS: &[&str] = &[
    "def",
    "if",
    "then",
    "elif",
    "else",
    "end",
    "as",
    "reduce",
    "foreach",
    "try",
    "catch",
    "label",
    "and",
    "or",
    "not",
    "__loc__",
    "empty",
    "error",
    "halt",
    "halt_error",
    "add",
    "any",
    "all",
    "flatten",
    "range",
    "floor",
    "sqrt",
    "pow",
    "log",
    "log2",
    "log10",
    "exp",
    "exp2",
    "exp10",
    "ceil",
    "round",
    "trunc",
    "fabs",
    "abs",
    "toarray",
    "have_literal_numbers",
    "have_decnum",
    "tostring",
    "tonumber",
    "toboolean",
    "type",
    "infinite",
    "nan",
    "isinfinite",
    "isnan",
    "isvalid",
    "isnormal",
    "sort",
    "sort_by",
    "group_by",
    "min",
    "max",
    "min_by",
    "max_by",
    "unique",
    "unique_by",
    "reverse",
    "contains",
    "inside",
    "startswith",
    "endswith",
    "combinations",
    "ltrimstr",
    "rtrimstr",
    "trimstr",
    "trim",
    "ltrim",
    "rtrim",
    "explode",
    "implode",
    "split",
    "splits",
    "join",
    "ascii",
    "ascii_downcase",
    "ascii_upcase",
    "while",
    "until",
    "repeat",
    "recurse",
    "recurse_down",
    "transpose",
    "bsearch",
    "test",
    "match",
    "capture",
    "scan",
    "sub",
    "gsub",
    "length",
    "utf8bytelength",
    "keys",
    "keys_unsorted",
    "values",
    "has",
    "in",
    "map",
    "map_values",
    "path",
    "del",
    "getpath",
    "setpath",
    "delpaths",
    "paths",
    "leaf_paths",
    "to_entries",
    "from_entries",
    "with_entries",
    "select",
    "arrays",
    "objects",
    "iterables",
    "booleans",
    "numbers",
    "normals",
    "finites",
    "strings",
    "nulls",
    "scalars",
    "first",
    "last",
    "nth",
    "limit",
    "skip",
    "input",
    "inputs",
    "debug",
    "stderr",
    "input_line_number",
    "truncate_stream",
    "fromstream",
    "tostream",
    "fromjson",
    "tojson",
    "fromdate",
    "todate",
    "now",
    "dateadd",
    "datesub",
    "date",
    "mktime",
    "gmtime",
    "localtime",
    "strftime",
    "strflocaltime",
    "strptime",
    "fromdateiso8601",
    "todateiso8601",
    "indices",
    "index",
    "rindex",
    "walk",
    "pick",
    "input_filename",
    "significand",
    "gamma",
    "lgamma",
    "tgamma",
    "frexp",
    "modf",
    "ldexp",
    "scalb",
    "nearbyint",
    "logb",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "isempty",
    "builtins",
    "INDEX",
    "IN",
    "null",
    "true",
    "false",
    "break",
];

/// A jq filter that looks at what it is given: no modules, no environment, and no function that is not known.
pub(super) fn jq(filter: &str) -> Result<(), String> {
    let mut reader = Jq { chars: filter.chars().collect(), at: 0, known: parameters(filter) };
    reader.until(None)?;
    if reader.at == reader.chars.len() { Ok(()) } else { Jq::refuse("is not understood") }
}

/// The names that `def` makes, and those of what they take.
fn parameters(filter: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .trim_start_matches('$')
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect()
    };
    let mut out = Vec::new();
    for part in filter.split("def ").skip(1) {
        let head = part.split(':').next().unwrap_or_default();
        out.extend(head.split(['(', ';', ')']).map(name).filter(|name| !name.is_empty()));
    }
    out
}

struct Jq {
    chars: Vec<char>,
    at: usize,
    known: Vec<String>,
}

impl Jq {
    fn refuse(what: &str) -> Result<(), String> {
        Err(format!("the filter for `jq` {what}"))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn word(&mut self) -> String {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':' && self.is_joined()) {
            self.at += 1 + usize::from(self.peek() == Some(':'));
        }
        self.chars.get(from..self.at).unwrap_or_default().iter().collect()
    }

    /// `::` between two parts of a name.
    fn is_joined(&self) -> bool {
        self.chars.get(self.at + 1) == Some(&':')
    }

    /// Up to this closing character, or to the end.
    fn until(&mut self, close: Option<char>) -> Result<(), String> {
        // In an object a word behind `{` or `,` is a name.
        let mut names = close == Some('}');
        while let Some(c) = self.peek() {
            self.at += 1;
            let name = std::mem::take(&mut names);
            match c {
                c if Some(c) == close => return Ok(()),
                ' ' | '\t' | '\n' => names = name,
                '(' => self.until(Some(')'))?,
                '[' => self.until(Some(']'))?,
                '{' => self.until(Some('}'))?,
                '"' => self.string()?,
                '.' => {
                    if self.peek() == Some('.') {
                        self.at += 1;
                    } else {
                        // A field, if a name follows at once.
                        self.word();
                    }
                }
                '$' => {
                    while self.peek().is_some_and(char::is_whitespace) {
                        self.at += 1;
                    }
                    if self.word().starts_with("ENV") {
                        return Self::refuse("looks at the environment");
                    }
                }
                '@' => {
                    self.word();
                }
                ',' => names = close == Some('}'),
                '|' | '=' | '<' | '>' | '!' | '+' | '-' | '*' | '/' | '%' | ':' | ';' | '?' => {}
                c if c.is_ascii_digit() => {
                    while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
                        self.at += 1;
                    }
                    // `1e5`.
                    if self.peek().is_some_and(|c| "eE".contains(c))
                        && self.chars.get(self.at + 1).is_some_and(|c| c.is_ascii_digit() || "+-".contains(*c))
                    {
                        self.at += 2;
                    }
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    self.at -= 1;
                    let word = self.word();
                    if !name && !JQ_WORDS.contains(&word.as_str()) && !self.known.contains(&word)
                        || ["env", "import", "include", "modulemeta", "get_search_list"].contains(&word.as_str())
                    {
                        return Self::refuse(&format!("has `{word}`, which may load or show what is not in it"));
                    }
                }
                _ => return Self::refuse("is not understood"),
            }
        }
        if close.is_none() { Ok(()) } else { Self::refuse("is not understood") }
    }

    /// Behind the quote; `\(…)` in it is a filter again.
    fn string(&mut self) -> Result<(), String> {
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '"' => return Ok(()),
                '\\' if self.peek() == Some('(') => {
                    self.at += 1;
                    self.until(Some(')'))?;
                }
                '\\' => self.at += 1,
                _ => {}
            }
        }
        Self::refuse("has a text without an end")
    }
}

/// A yq filter: the same, and no operators that load, evaluate or run.
pub(super) fn yq(filter: &str) -> Result<(), String> {
    let words = ["load", "eval", "system", "env", "strenv", "split_doc", "input", "import", "include", "filename"];
    // `yq eval`, `yq e`, `yq shell-completion`: subcommands.
    let word = filter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if word || words.iter().any(|word| filter.contains(word)) {
        return Err("the filter for `yq` is not known to only read".to_owned());
    }
    Ok(())
}
