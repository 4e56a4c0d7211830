//! A program that only reads: its options, its operands, and a call of it taken apart.

use crate::permit::shell::word::ShellWord;

/// Meaning of the words that are no options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permit::shell) enum Operands {
    /// Files and folders.
    Paths,
    /// At most so many files: the next one would be written.
    AtMost(usize),
    /// A pattern, unless an option gave it, then files.
    PatternThenPaths,
    /// Text that is a program of its own, unless an option gave it, then files. The row's check reads it.
    ScriptThenPaths,
    /// Text that is not opened.
    Text,
    /// Commits, or paths, or `commit:path`.
    Revisions,
    /// None may stand there.
    None,
}

/// Option syntax of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permit::shell) enum Style {
    /// Letters in one word, values joined to their letter, options anywhere.
    Gnu,
    /// Each option is a word of its own.
    Exact,
    /// The same, and none stands behind an operand.
    Leading,
    /// As `Gnu`, and what stands behind the first operand is none.
    Posix,
    /// The first operand is a subcommand with a row of its own.
    Subcommands,
}

/// Looks at a call as a whole, and says why it is not one that only reads.
pub(in crate::permit::shell) type Check = fn(&ProgramCall) -> Result<(), String>;

/// One program or subcommand that only reads.
#[derive(Clone, Copy)]
pub(in crate::permit::shell) struct ProgramRow {
    /// The program, or the program and its subcommand.
    pub(in crate::permit::shell) name: &'static str,
    /// Options, several in a text: `-x`; `-x:` takes a value, `-x@` one that is a file, `-x?` may
    /// have one joined to it, `-x%` takes two words that are no files, `-#` is a count such as
    /// `-5`.
    pub(in crate::permit::shell) options: &'static [&'static str],
    pub(in crate::permit::shell) operands: Operands,
    pub(in crate::permit::shell) style: Style,
    /// No option at all of the real program writes or runs: words that nobody knows may follow.
    pub(in crate::permit::shell) any: bool,
    /// Check beyond options and operands.
    pub(in crate::permit::shell) check: Option<Check>,
    /// Operands with which it does something in the test that runs every form.
    pub(in crate::permit::shell) sample: &'static str,
}

/// A row for files.
pub(super) const fn row(name: &'static str, options: &'static [&'static str]) -> ProgramRow {
    ProgramRow { name, options, operands: Operands::Paths, style: Style::Gnu, any: false, check: None, sample: "a.txt" }
}

impl ProgramRow {
    pub(super) const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }
    pub(super) const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
    pub(super) const fn any(mut self) -> Self {
        self.any = true;
        self
    }
    pub(super) const fn check(mut self, check: fn(&ProgramCall) -> Result<(), String>) -> Self {
        self.check = Some(check);
        self
    }
    pub(super) const fn sample(mut self, sample: &'static str) -> Self {
        self.sample = sample;
        self
    }
    /// Without operands.
    pub(super) const fn alone(self) -> Self {
        self.operands(Operands::None).sample("")
    }
    /// With operands that open no file.
    pub(super) const fn text(self, sample: &'static str) -> Self {
        self.operands(Operands::Text).sample(sample)
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().flat_map(|text| text.split_whitespace())
    }

    /// Value of the option; `None` if it is not in the row.
    pub(super) fn takes(&self, option: &str) -> Option<Takes> {
        self.tokens().find_map(|token| {
            let (name, takes) = split(token);
            (name == option).then_some(takes)
        })
    }
}

/// Value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// Two words: a name and its value.
    Pair,
    File,
    Joined,
}

/// An option of a row, and what it takes.
pub(super) fn split(token: &str) -> (&str, Takes) {
    let bare = token.get(..token.len() - 1).unwrap_or_default();
    match token.as_bytes().last() {
        Some(b':') => (bare, Takes::Value),
        Some(b'@') => (bare, Takes::File),
        Some(b'?') => (bare, Takes::Joined),
        Some(b'%') => (bare, Takes::Pair),
        _ => (token, Takes::Nothing),
    }
}

/// The arguments of one program, taken apart by its row.
pub(in crate::permit::shell) struct ProgramCall<'a> {
    pub(super) row: &'a ProgramRow,
    /// Options with their values.
    pub(super) options: Vec<(String, Option<String>)>,
    pub(super) operands: Vec<&'a ShellWord>,
    /// Files that options named.
    pub(super) files: Vec<String>,
}

impl ProgramCall<'_> {
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.options.iter().any(|(option, _)| options.contains(&option.as_str()))
    }

    pub(super) fn values<'a>(&'a self, option: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.options
            .iter()
            .filter(|(name, _)| option.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_deref())
    }

    pub(super) fn refuse(&self, what: &str) -> Result<(), String> {
        Err(format!("`{}` {what}", self.row.name))
    }
}
