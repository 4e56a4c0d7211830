//! Judges the commands of a line one by one: redirections, assignments, the program by its row, and what wrappers and
//! shells inside it run.

use super::syntax::{Redirect, SimpleCommand, SyntaxNode};
use super::word::{Opens, ShellWord};
use super::{CommandPart, ReadOnlyProfile, find, strict, syntax, table, tree, unsandboxed, wrap};

/// Simple commands that are judged in one line, those of each turn of a loop counted.
const MOST: usize = 400;
/// Folders that a line may have changed to.
const MOST_BASES: usize = 16;
/// Limit of shells wrapped in each other.
const DEEPEST: usize = 4;

/// Findings about a line.
#[derive(Default)]
pub(super) struct Walk {
    profile: ReadOnlyProfile,
    depth: usize,
    /// Folders in which a command of the line may run, as they are named; the first is where the line starts.
    bases: Vec<String>,
    /// Words that may be paths.
    pub(super) paths: Vec<String>,
    /// The simple commands.
    pub(super) parts: Vec<CommandPart>,
    /// Files that redirections write.
    pub(super) writes: Vec<String>,
    /// Words that the shell replaces by names of files.
    pub(super) expands: Vec<String>,
    /// True if it reads files whose names stand nowhere in it.
    pub(super) computes: bool,
    /// Why the line is not read-only.
    pub(super) why: Option<String>,
    /// True if its parts do not tell why.
    whole: bool,
}

/// Names with the words that they stand for.
type Variables<'a> = Vec<(&'a str, &'a ShellWord)>;

impl Walk {
    /// Judges a whole line.
    pub(super) fn of(line: &str, profile: ReadOnlyProfile) -> Self {
        let mut walk = Self { profile, bases: vec![String::new()], ..Self::default() };
        walk.line(line);
        if walk.whole {
            walk.parts.clear();
            walk.writes.clear();
        }
        walk
    }

    /// A line that is not looked at.
    pub(super) fn refused(why: String) -> Self {
        Self { why: Some(why), ..Self::default() }
    }

    fn refuse(&mut self, why: String) {
        self.why.get_or_insert(why);
    }

    /// Something that no part of the line tells keeps it from being read-only: then its parts say too little.
    fn refuse_whole(&mut self, why: String) {
        self.whole = true;
        self.refuse(why);
    }

    fn line(&mut self, line: &str) {
        let read = syntax::parse(line).and_then(|nodes| {
            self.nodes(line, &nodes, &Vec::new());
            tree::confirm(line, &nodes)
        });
        if let Err(why) = read {
            self.refuse_whole(why);
        }
    }

    fn nodes(&mut self, line: &str, nodes: &[SyntaxNode], variables: &Variables<'_>) {
        for node in nodes {
            match node {
                SyntaxNode::Simple(simple) => self.simple(line, simple, variables),
                SyntaxNode::Condition(words) => {
                    let words: Vec<ShellWord> = words.iter().map(|word| put_in(word, variables)).collect();
                    match condition(&words) {
                        Ok(paths) => self.read(paths),
                        Err(why) => self.refuse_whole(why),
                    }
                }
                SyntaxNode::Redirects(redirects) => self.redirects(redirects, variables),
                SyntaxNode::Case(words) => {
                    if let Some(word) = words.iter().find(|word| unknown(&put_in(word, variables)).is_some()) {
                        self.refuse_whole(format!("`{}` is only known at run time", word.text));
                    }
                }
                SyntaxNode::For { name, values, body } => {
                    for value in values {
                        let value = put_in(value, variables);
                        if let Some(why) = unknown(&value) {
                            self.refuse_whole(why);
                        }
                        if value.expands() {
                            self.expands.push(value.text.clone());
                        }
                        let mut inner = variables.clone();
                        inner.retain(|(known, _)| known != name);
                        inner.push((name, &value));
                        self.nodes(line, body, &inner);
                        if self.parts.len() > MOST {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Notes paths, seen from every folder that the line may be in.
    fn read(&mut self, paths: Vec<String>) {
        for path in paths {
            for base in &self.bases {
                let full = joined(base, &path);
                if !self.paths.contains(&full) {
                    self.paths.push(full);
                }
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect], variables: &Variables<'_>) {
        for redirect in redirects {
            match redirect {
                Redirect::Inner | Redirect::Text(None) => {}
                Redirect::Text(Some(word)) => {
                    let word = put_in(word, variables);
                    if !matches!(word.opens, Opens::Printed | Opens::Pattern)
                        && let Some(why) = unknown(&word)
                    {
                        self.refuse_whole(why);
                    }
                }
                Redirect::Read(word) => {
                    let word = put_in(word, variables);
                    match unknown(&word) {
                        Some(why) => self.refuse_whole(why),
                        None => {
                            if word.expands() {
                                self.expands.push(word.text.clone());
                            }
                            self.read(vec![word.text]);
                        }
                    }
                }
                Redirect::Write(word) => {
                    let word = put_in(word, variables);
                    if word.known() == Some("/dev/null") {
                        continue;
                    }
                    match word.opens {
                        Opens::Literal | Opens::Home => {
                            for base in &self.bases {
                                self.writes.push(joined(base, &word.text));
                            }
                        }
                        _ => self.whole = true,
                    }
                    self.refuse(format!("it writes to `{}`", word.text));
                }
            }
        }
    }

    fn simple(&mut self, line: &str, simple: &SimpleCommand, variables: &Variables<'_>) {
        if self.parts.len() >= MOST {
            self.refuse_whole("too many commands".to_owned());
            return;
        }
        let words: Vec<ShellWord> = simple.words.iter().map(|word| put_in(word, variables)).collect();
        let text = line.get(simple.at.clone()).unwrap_or_default().trim().to_owned();
        let mut refused = None;
        let (part, written) = (self.parts.len(), self.writes.len());
        for (name, value) in &simple.assignments {
            let value = put_in(value, variables);
            if words.is_empty() || !value.known().is_some_and(|value| wrap::harmless(name, value)) {
                refused = Some(format!("`{name}=` may change what runs"));
            }
        }
        if words.is_empty() {
            if refused.is_some() || simple.redirects.is_empty() {
                let why = refused.unwrap_or_default();
                self.parts.push(CommandPart {
                    text,
                    argv: None,
                    program: None,
                    reads: false,
                    why: why.clone(),
                    writes: Vec::new(),
                });
                self.refuse(why);
            } else {
                let (argv, why) = (Some(Vec::new()), String::new());
                self.parts.push(CommandPart { text, argv, program: None, reads: true, why, writes: Vec::new() });
            }
        } else {
            self.program(text, &words, refused);
        }
        self.redirects(&simple.redirects, variables);
        let written = self.writes.get(written..).unwrap_or_default().to_vec();
        if let Some(part) = self.parts.get_mut(part) {
            part.writes = written;
        }
    }

    /// Judges one program with its arguments, and what it runs.
    fn program(&mut self, text: String, words: &[ShellWord], refused: Option<String>) {
        let argv: Option<Vec<String>> = words.iter().map(|word| word.known().map(str::to_owned)).collect();
        let at = self.parts.len();
        // With a variable before it, it is another command than its words say.
        let argv = argv.filter(|_| refused.is_none());
        let program = words.first().and_then(ShellWord::known).map(str::to_owned);
        self.parts.push(CommandPart { text, argv, program, reads: false, why: String::new(), writes: Vec::new() });
        self.computes |= computes(words);
        let outcome = refused.map_or(Ok(()), Err).and_then(|()| self.reads(words));
        let expands: Vec<String> = words.iter().filter(|word| word.expands()).map(|word| word.text.clone()).collect();
        self.expands.extend(expands);
        match outcome {
            Ok(()) => {
                if let Some(part) = self.parts.get_mut(at) {
                    part.reads = true;
                }
            }
            Err(why) => {
                if let Some(part) = self.parts.get_mut(at) {
                    part.why.clone_from(&why);
                }
                self.refuse(why);
            }
        }
    }

    fn reads(&mut self, words: &[ShellWord]) -> Result<(), String> {
        let Some((program, arguments)) = words.split_first() else {
            return Err("no command".to_owned());
        };
        let Some(name) = program.known() else {
            return Err(unknown(program).unwrap_or_else(|| "the program is only known at run time".to_owned()));
        };
        let off_list = || format!("`{name}` is not a known read-only command");
        if !program.bare {
            return Err(off_list());
        }
        if wrap::is_wrapper(name) {
            return self.wrapped(name, arguments);
        }
        if matches!(name, "sh" | "bash" | "dash")
            && let Some(text) = wrap::shell_text(arguments)
        {
            if self.depth >= DEEPEST {
                return Err("nested too deep".to_owned());
            }
            if name != "bash" && !wrap::is_common(&text.text) {
                return Err(format!("what `{name}` is given means something else to other shells than bash"));
            }
            self.depth += 1;
            self.line(&text.text);
            self.depth -= 1;
            return self.held(name);
        }
        if name == "find" {
            let found = find::read_only(arguments)?;
            self.read(found.paths);
            for command in found.runs {
                self.inner(&command);
            }
            return self.held(name);
        }
        let short = short(words);
        if self.profile == ReadOnlyProfile::None {
            let paths = short.unwrap_or_else(|| Err(off_list()))?;
            self.read(paths);
            return Ok(());
        }
        if let Some(Ok(paths)) = short {
            self.read(paths);
            return Ok(());
        }
        let paths = match name {
            "cd" => return self.change(arguments),
            ":" | "true" | "false" => Ok(Vec::new()),
            "echo" => printed(arguments).map(|()| Vec::new()),
            "printf" => match arguments.split_first() {
                Some((format, rest)) if format.known().is_some() => {
                    printed(rest)?;
                    unsandboxed::printf(&[&format.text])
                }
                _ => Err("the format of `printf` is only known at run time".to_owned()),
            },
            "test" => tested(arguments),
            "[" => match arguments.split_last() {
                Some((last, rest)) if last.known() == Some("]") => tested(rest),
                _ => Err("unclosed `[`".to_owned()),
            },
            "type" => named(arguments),
            "exit" | "break" | "continue" => {
                let number =
                    |word: &ShellWord| word.known().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
                if arguments.iter().all(number) { Ok(Vec::new()) } else { Err(format!("`{name}` takes a number")) }
            }
            _ => match table::find(name) {
                Some(row) => table::read_only(row, arguments),
                None => Err(off_list()),
            },
        };
        self.read(paths?);
        Ok(())
    }

    /// A wrapper reads by itself; without the sandbox none counts.
    fn held(&self, name: &str) -> Result<(), String> {
        match self.profile {
            ReadOnlyProfile::Enforced => Ok(()),
            ReadOnlyProfile::None => Err(format!("`{name}` is not a known read-only command")),
        }
    }

    fn wrapped(&mut self, name: &str, arguments: &[ShellWord]) -> Result<(), String> {
        // `command -v name` looks a name up.
        if name == "command"
            && let Some((first, rest)) = arguments.split_first()
            && first.known().is_some_and(|text| text == "-v" || text == "-V")
        {
            named(rest)?;
            return self.held(name);
        }
        let Some(wrapped) = wrap::unwrapped(name, arguments) else {
            return Err(format!("the options of `{name}` are not known to be harmless"));
        };
        let empty = wrapped.command.is_empty();
        self.inner(&wrapped.command);
        match wrapped.refused {
            Some(why) => Err(why),
            // `env` alone prints, `xargs` alone is `echo`; the others say how they are used.
            None if empty && name == "env" && self.profile == ReadOnlyProfile::Enforced => Ok(()),
            None => self.held(name),
        }
    }

    /// A command inside another one.
    fn inner(&mut self, command: &[ShellWord]) {
        if command.is_empty() {
            return;
        }
        if self.parts.len() >= MOST {
            self.refuse_whole("too many commands".to_owned());
            return;
        }
        let text: Vec<&str> = command.iter().map(|word| word.text.as_str()).collect();
        self.program(text.join(" "), command, None);
    }

    /// `cd`: what follows may run there, or where it was before.
    fn change(&mut self, arguments: &[ShellWord]) -> Result<(), String> {
        let mut rest = arguments;
        while let Some((first, others)) = rest.split_first()
            && first.known().is_some_and(|text| ["-P", "-L", "--"].contains(&text))
        {
            rest = others;
        }
        let to = match rest {
            [] => "~".to_owned(),
            [word] if matches!(word.opens, Opens::Literal | Opens::Home) && !word.text.starts_with('-') => {
                word.text.clone()
            }
            _ => return Err("where `cd` leads is only known at run time".to_owned()),
        };
        let new: Vec<String> = self.bases.iter().map(|base| joined(base, &to)).collect();
        for base in new {
            if !self.bases.contains(&base) {
                self.bases.push(base);
            }
        }
        if self.bases.len() > MOST_BASES { Err("too many directory changes".to_owned()) } else { Ok(()) }
    }
}

/// True if a command reads the content of files that its words do not name.
fn computes(words: &[ShellWord]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let long = |option: &str| rest.iter().any(|word| word.text.split('=').next() == Some(option));
    let letter = |letters: &[char]| {
        let mut short = rest.iter().filter(|word| word.text.starts_with('-') && !word.text.starts_with("--"));
        short.any(|word| word.text.contains(letters))
    };
    let found = |word: &ShellWord| matches!(word.opens, Opens::Found | Opens::Anything);
    match name.text.as_str() {
        "grep" | "egrep" | "fgrep" => {
            letter(&['r', 'R', 'd']) || long("--recursive") || long("--dereference-recursive") || long("--directories")
        }
        "rg" => !long("--files") && !long("--type-list"),
        "diff" => letter(&['r']) || long("--recursive"),
        "git" => long("--no-index") || long("--untracked"),
        // They only tell names.
        "ls" | "echo" | "printf" | "basename" | "dirname" | "stat" | "realpath" | "readlink" | "du" | "test" | "[" => {
            false
        }
        "make" => true,
        _ => letter(&['c']) && name.text.ends_with("sum") || rest.iter().any(found),
    }
}

/// A path as seen from a folder.
fn joined(base: &str, path: &str) -> String {
    if base.is_empty() || path.starts_with('/') || path == "~" || path.starts_with("~/") {
        path.to_owned()
    } else {
        format!("{}/{path}", base.trim_end_matches('/'))
    }
}

/// The word with the value of the loop's variable in its place.
fn put_in(word: &ShellWord, variables: &Variables<'_>) -> ShellWord {
    if let Opens::Mixed(names) = &word.opens {
        let strange = names.iter().find(|name| !variables.iter().any(|(known, _)| known == name));
        let opens = match strange {
            Some(name) => Opens::Unknown(format!("`${name}` is only known at run time")),
            None => Opens::Printed,
        };
        return ShellWord { opens, ..word.clone() };
    }
    let Opens::Variable { name, quoted } = &word.opens else { return word.clone() };
    let Some((_, value)) = variables.iter().find(|(known, _)| known == name) else {
        let opens = Opens::Unknown(format!("`${name}` is only known at run time"));
        return ShellWord { opens, ..word.clone() };
    };
    let plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./,:+=@%".contains(c));
    let opens = match &value.opens {
        Opens::Literal if *quoted || plain(&value.text) => Opens::Literal,
        Opens::Home | Opens::Pattern if *quoted => value.opens.clone(),
        Opens::Unknown(why) => Opens::Unknown(why.clone()),
        // Without quotes it is taken apart at blanks.
        _ => Opens::Anything,
    };
    ShellWord { text: value.text.clone(), bare: false, opens, at: word.at.clone() }
}

/// Why a word that must be known is not.
fn unknown(word: &ShellWord) -> Option<String> {
    match &word.opens {
        Opens::Literal | Opens::Home | Opens::Pattern | Opens::Found => None,
        Opens::Unknown(why) => Some(why.clone()),
        _ => Some(format!("`{}` is only known at run time", word.text)),
    }
}

/// The judgement of the short list, where all words are known.
fn short(words: &[ShellWord]) -> Option<Result<Vec<String>, String>> {
    let known: Option<Vec<strict::StrictWord>> = words
        .iter()
        .map(|word| word.known().map(|text| strict::StrictWord { text: text.to_owned(), bare: word.bare }))
        .collect();
    known.map(|words| unsandboxed::read_only(&words))
}

/// Words that are only printed.
fn printed(words: &[ShellWord]) -> Result<(), String> {
    words
        .iter()
        .find_map(|word| match &word.opens {
            Opens::Unknown(why) => Some(why.clone()),
            Opens::Variable { .. } => unknown(word),
            _ => None,
        })
        .map_or(Ok(()), Err)
}

/// The words of `test` and `[`.
fn tested(words: &[ShellWord]) -> Result<Vec<String>, String> {
    if let Some(why) = words.iter().find_map(unknown) {
        return Err(why);
    }
    // It could become `-v` and a subscript, which runs what stands in it.
    if let Some(word) = words.iter().find(|word| word.opens == Opens::Pattern && !word.is_no_option()) {
        return Err(format!("`{}` may become an option of `test`", word.text));
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    unsandboxed::test(&texts)
}

/// Names that are looked up.
fn named(words: &[ShellWord]) -> Result<Vec<String>, String> {
    let known = |word: &ShellWord| {
        let option = ["-a", "-t", "-p", "-P", "-f"].contains(&word.text.as_str());
        word.known().is_some_and(|text| option || !text.starts_with('-'))
    };
    if words.iter().all(known) { Ok(Vec::new()) } else { Err("a name is only known at run time".to_owned()) }
}

/// `[[ … ]]` with tests that only look: no arithmetic, which runs subscripts, and no `-v`.
fn condition(words: &[ShellWord]) -> Result<Vec<String>, String> {
    const UNARY: &[&str] = &[
        "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L", "-N",
        "-O", "-S", "-n", "-z",
    ];
    let odd = || Err("`[[` is only understood with simple comparisons".to_owned());
    let mut paths = Vec::new();
    for (at, part) in words.split(|word| word.known() == Some("&&") && word.bare).enumerate() {
        // To a shell without `[[` a program of this name would follow.
        if at > 0 && !part.first().is_some_and(|word| word.text == "!" || word.text.starts_with('-')) {
            return odd();
        }
        let part = match part.split_first() {
            Some((first, rest)) if first.known() == Some("!") => rest,
            _ => part,
        };
        let known = |word: &ShellWord| unknown(word).is_none() || word.opens == Opens::Printed;
        if !part.iter().all(known) {
            return odd();
        }
        match part {
            [one] if !one.text.starts_with('-') => {}
            [operator, one] if operator.known().is_some_and(|text| UNARY.contains(&text)) => {
                paths.push(one.text.clone())
            }
            [one, operator, two] => match operator.known() {
                Some("=" | "==" | "!=") => {}
                Some("-nt" | "-ot" | "-ef") => paths.extend([one.text.clone(), two.text.clone()]),
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                    let number = |word: &ShellWord| {
                        let text = word.text.trim_start_matches('-');
                        word.text == "$?"
                            || word.known().is_some() && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
                    };
                    if !number(one) || !number(two) {
                        return odd();
                    }
                }
                _ => return odd(),
            },
            _ => return odd(),
        }
    }
    Ok(paths)
}
