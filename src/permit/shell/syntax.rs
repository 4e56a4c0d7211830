//! The grammar of a command line: lists, pipes, groups, conditions and loops down to simple commands.
//!
//! It reads the whole line or none of it. What it leaves out is refused with the reason: functions, background,
//! substitutions, arithmetic, `select`, `coproc`. `tree` reads the line a second time with another grammar.

use super::word::{self, Opens, ShellWord, refused};
use std::ops::Range;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SyntaxNode {
    /// One command.
    Simple(SimpleCommand),
    /// `[[ … ]]`: its words.
    Condition(Vec<ShellWord>),
    /// Redirections behind a group.
    Redirects(Vec<Redirect>),
    /// Commands with a variable that takes these values in turn.
    For {
        /// The variable.
        name: String,
        /// Values of the loop.
        values: Vec<ShellWord>,
        /// Body that runs for each.
        body: Vec<SyntaxNode>,
    },
    /// Words that `case` compares.
    Case(Vec<ShellWord>),
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// Variables set for it.
    pub(super) assignments: Vec<(String, ShellWord)>,
    /// Words; may be empty.
    pub(super) words: Vec<ShellWord>,
    /// Redirections.
    pub(super) redirects: Vec<Redirect>,
    /// Byte range in the line.
    pub(super) at: Range<usize>,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// From a file.
    Read(ShellWord),
    /// Into a file.
    Write(ShellWord),
    /// Between descriptors.
    Inner,
    /// From text in the line.
    Text(Option<ShellWord>),
}

/// Nesting limit of groups.
const DEEPEST: usize = 40;

/// Reads a line.
///
/// # Errors
/// Reason why it is not understood.
pub(super) fn parse(line: &str) -> Result<Vec<SyntaxNode>, String> {
    let mut reader = SyntaxReader { line, at: 0, depth: 0, docs: Vec::new(), out: Vec::new() };
    let count = reader.list(&[])?;
    if reader.at < line.len() {
        return Err(reader.peek().map_or_else(String::new, refused));
    }
    if !reader.docs.is_empty() {
        return Err("unclosed here-document".to_owned());
    }
    if count == 0 { Err("no command".to_owned()) } else { Ok(reader.out) }
}

struct SyntaxReader<'a> {
    line: &'a str,
    at: usize,
    depth: usize,
    docs: Vec<Doc>,
    out: Vec<SyntaxNode>,
}

/// A here-document whose text comes after the end of the line.
struct Doc {
    end: String,
    tabs: bool,
    quoted: bool,
}

/// Words that begin or go on with a compound command.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "{", "}", "[[", "]]", "coproc", "in", "!",
];

impl SyntaxReader<'_> {
    fn rest(&self) -> &str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.rest().starts_with("\\\n") => self.at += 2,
                _ => return,
            }
        }
    }

    /// A comment up to the end of its line.
    fn comment(&mut self) {
        if self.peek() == Some('#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Blanks, comments and ends of lines.
    fn blank_lines(&mut self) -> Result<(), String> {
        loop {
            self.blanks();
            self.comment();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.end_line()?;
        }
    }

    fn end_line(&mut self) -> Result<(), String> {
        self.at += 1;
        for doc in std::mem::take(&mut self.docs) {
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    return Err("unclosed here-document".to_owned());
                }
                let (text, step) = rest.split_once('\n').map_or((rest, rest.len()), |(text, _)| (text, text.len() + 1));
                let bare = if doc.tabs { text.trim_start_matches('\t') } else { text };
                let over = bare == doc.end;
                if !over && !doc.quoted && text.contains(['$', '`', '\\']) {
                    return Err("the here-document expands something: put its end word in quotes".to_owned());
                }
                self.at += step;
                if over {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The reserved word that stands here.
    fn reserved(&self) -> Option<&'static str> {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        RESERVED.iter().find(|known| **known == word).copied()
    }

    fn expect(&mut self, word: &'static str) -> Result<(), String> {
        self.blank_lines()?;
        if self.reserved() == Some(word) && self.eat(word) { Ok(()) } else { Err(format!("missing `{word}`")) }
    }

    /// Commands up to one of the words, `)`, `;;` or the end. How many there are.
    fn list(&mut self, until: &[&str]) -> Result<usize, String> {
        let mut count = 0;
        loop {
            self.blank_lines()?;
            let over = self.peek().is_none_or(|c| c == ')') || self.rest().starts_with(";;");
            if over || self.reserved().is_some_and(|word| until.contains(&word)) {
                return Ok(count);
            }
            self.and_or()?;
            count += 1;
            self.blanks();
            self.comment();
            match self.peek() {
                None | Some(')') => return Ok(count),
                Some('\n') => self.end_line()?,
                Some(';') if self.rest().starts_with(";;") => return Ok(count),
                Some(';') => self.at += 1,
                Some('&') => return Err("`&` runs in the background".to_owned()),
                Some(c) => return Err(refused(c)),
            }
        }
    }

    fn and_or(&mut self) -> Result<(), String> {
        loop {
            self.pipeline()?;
            self.blanks();
            if !(self.eat("&&") || self.eat("||")) {
                return Ok(());
            }
            self.blank_lines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), String> {
        self.blanks();
        if self.reserved() == Some("!") {
            self.at += 1;
            self.blanks();
        }
        loop {
            self.command()?;
            self.blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Ok(());
            }
            self.eat("&");
            self.blank_lines()?;
        }
    }

    fn command(&mut self) -> Result<(), String> {
        self.blanks();
        if self.depth >= DEEPEST {
            return Err("nested too deep".to_owned());
        }
        self.depth += 1;
        let compound = self.compound()?;
        self.depth -= 1;
        if !compound {
            return self.simple();
        }
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        if !redirects.is_empty() {
            self.out.push(SyntaxNode::Redirects(redirects));
        }
        Ok(())
    }

    /// Commands that must be there.
    fn body(&mut self, until: &[&str]) -> Result<(), String> {
        if self.list(until)? == 0 { Err("missing command".to_owned()) } else { Ok(()) }
    }

    /// A compound command. False when none stands here.
    fn compound(&mut self) -> Result<bool, String> {
        if self.peek() == Some('(') {
            if self.rest().starts_with("((") {
                return Err("arithmetic is not supported".to_owned());
            }
            self.at += 1;
            self.body(&[])?;
            return if self.eat(")") { Ok(true) } else { Err("missing `)`".to_owned()) };
        }
        let Some(word) = self.reserved() else { return Ok(false) };
        match word {
            "{" => {
                self.at += 1;
                self.body(&["}"])?;
                self.expect("}")?;
            }
            "if" => {
                self.at += 2;
                self.body(&["then"])?;
                self.expect("then")?;
                loop {
                    self.body(&["elif", "else", "fi"])?;
                    match self.reserved() {
                        Some("elif") => {
                            self.at += 4;
                            self.body(&["then"])?;
                            self.expect("then")?;
                        }
                        Some("else") => {
                            self.at += 4;
                            self.body(&["fi"])?;
                            self.expect("fi")?;
                            break;
                        }
                        _ => {
                            self.expect("fi")?;
                            break;
                        }
                    }
                }
            }
            "while" | "until" => {
                self.at += 5;
                self.body(&["do"])?;
                self.expect("do")?;
                self.body(&["done"])?;
                self.expect("done")?;
            }
            "for" => self.for_loop()?,
            "case" => self.case()?,
            "[[" => self.condition()?,
            other => return Err(format!("`{other}` is not supported here")),
        }
        Ok(true)
    }

    fn for_loop(&mut self) -> Result<(), String> {
        self.at += 3;
        self.blanks();
        if self.rest().starts_with("((") {
            return Err("`for ((…))` is not supported".to_owned());
        }
        let name = self.word()?;
        if !name.bare || !word::is_loop_name(&name.text) || name.opens != Opens::Literal {
            return Err("only a name in small letters is supported as the variable of a loop".to_owned());
        }
        self.expect("in")?;
        let mut values = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(';') => {
                    self.at += 1;
                    break;
                }
                Some('\n') => break,
                Some(c) if !"&|<>()#".contains(c) => values.push(self.word()?),
                _ => return Err("this form of `for` is not supported".to_owned()),
            }
        }
        self.expect("do")?;
        let outer = std::mem::take(&mut self.out);
        self.body(&["done"])?;
        let body = std::mem::replace(&mut self.out, outer);
        self.expect("done")?;
        self.out.push(SyntaxNode::For { name: name.text, values, body });
        Ok(())
    }

    fn case(&mut self) -> Result<(), String> {
        self.at += 4;
        self.blanks();
        let mut words = vec![self.word()?];
        self.expect("in")?;
        let compared = self.out.len();
        loop {
            self.blank_lines()?;
            if self.reserved() == Some("esac") {
                self.at += 4;
                break;
            }
            self.eat("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err("missing `)` in `case`".to_owned());
            }
            self.list(&["esac"])?;
            self.blank_lines()?;
            if self.rest().starts_with(";;&") {
                return Err("`;;&` is not supported".to_owned());
            }
            if !self.eat(";;") && self.reserved() != Some("esac") {
                return Err("missing `;;` in `case`".to_owned());
            }
        }
        self.out.insert(compared, SyntaxNode::Case(words));
        Ok(())
    }

    fn condition(&mut self) -> Result<(), String> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.blanks();
            if self.reserved() == Some("]]") {
                self.at += 2;
                break;
            }
            let begin = self.at;
            if self.eat("&&") || self.eat("||") {
                words.push(ShellWord::literal("&&", begin..self.at));
                continue;
            }
            match self.peek() {
                Some(c) if !"&|<>()\n;#".contains(c) => words.push(self.word()?),
                _ => return Err("`[[` is only understood with simple comparisons".to_owned()),
            }
        }
        self.out.push(SyntaxNode::Condition(words));
        Ok(())
    }

    fn word(&mut self) -> Result<ShellWord, String> {
        let (word, end) = word::read(self.line, self.at)?;
        if end == self.at {
            return Err(self.peek().map_or_else(|| "missing word".to_owned(), refused));
        }
        self.at = end;
        Ok(word)
    }

    fn simple(&mut self) -> Result<(), String> {
        let mut simple = SimpleCommand { at: self.at..self.at, ..SimpleCommand::default() };
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                simple.at.end = self.at;
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('#') => break,
                Some('(') => return Err("`(` defines a function or is not supported".to_owned()),
                Some(_) => {}
            }
            let raw_at = self.at;
            let word = self.word()?;
            simple.at.end = self.at;
            let raw = self.line.get(raw_at..self.at).unwrap_or_default();
            match assigned(raw).filter(|_| simple.words.is_empty()) {
                Some(name) => {
                    let (value, _) = word::read(self.line, raw_at + name.len() + 1)?;
                    simple.assignments.push((name.to_owned(), value));
                }
                None => simple.words.push(word),
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(self.peek().map_or_else(
                || "missing command".to_owned(),
                |c| format!("no command before `{}`", c.escape_debug()),
            ));
        }
        self.out.push(SyntaxNode::Simple(simple));
        Ok(())
    }

    /// The redirection that stands here.
    fn redirect(&mut self) -> Result<Option<Redirect>, String> {
        let begin = self.at;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        // The longest first.
        let found = ["&>>", "&>", "<<<", "<<-", "<<", "<&", ">&", ">>", ">|", "<>", "<(", ">(", "<", ">"]
            .into_iter()
            .find(|operator| self.rest().starts_with(operator));
        let Some(operator) = found.filter(|operator| digits == 0 || !operator.starts_with('&')) else {
            self.at = begin;
            return Ok(None);
        };
        self.at += operator.len();
        self.blanks();
        if digits > 2 || matches!(operator, "<>" | "<(" | ">(") {
            return Err(refused('<'));
        }
        let target = self.word()?;
        Ok(Some(match operator {
            "<" => Redirect::Read(target),
            "<<<" => Redirect::Text(Some(target)),
            "<<" | "<<-" => {
                if target.opens != Opens::Literal || target.text.is_empty() || target.text.contains('\n') {
                    return Err("the end word of a here-document is not supported".to_owned());
                }
                let raw = self.line.get(target.at.clone()).unwrap_or_default();
                let quoted = raw.contains(['\'', '"', '\\']);
                self.docs.push(Doc { end: target.text, tabs: operator == "<<-", quoted });
                Redirect::Text(None)
            }
            "<&" | ">&" => {
                let number = target.text.bytes().all(|b| b.is_ascii_digit()) && target.text.len() <= 2;
                if target.bare && (number || target.text == "-") {
                    Redirect::Inner
                } else if operator == ">&"
                    && digits == 0
                    && target.known().is_some_and(|text| !text.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
                {
                    Redirect::Write(target)
                } else {
                    return Err(refused('>'));
                }
            }
            _ => Redirect::Write(target),
        }))
    }
}

/// The name before `=`, where a word sets a variable.
fn assigned(raw: &str) -> Option<&str> {
    let (name, _) = raw.split_once('=')?;
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    good.then_some(name)
}
