//! jq, and yq: filters that look at their input alone.

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
pub(in crate::permit::shell) fn jq(filter: &str) -> Result<(), String> {
    let mut reader = Jq { chars: filter.chars().collect(), at: 0, known: parameters(filter) };
    reader.until(None)?;
    if reader.at == reader.chars.len() { Ok(()) } else { Jq::refuse("is not supported") }
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
                _ => return Self::refuse("is not supported"),
            }
        }
        if close.is_none() { Ok(()) } else { Self::refuse("is not supported") }
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
pub(in crate::permit::shell) fn yq(filter: &str) -> Result<(), String> {
    let words = ["load", "eval", "system", "env", "strenv", "split_doc", "input", "import", "include", "filename"];
    // `yq eval`, `yq e`, `yq shell-completion`: subcommands.
    let word = filter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if word || words.iter().any(|word| filter.contains(word)) {
        return Err("the filter for `yq` is not known to be read-only".to_owned());
    }
    Ok(())
}
