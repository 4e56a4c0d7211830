//! The programs that only read where the read-only profile holds them: one row each, with the exact options that are
//! known to only read. An option that is not in its row is not read-only.
//!
//! The rows lie in families beside this file. What needs more than options, operands and a check (wrappers, `find`,
//! texts that are programs) has its own file; the short list that counts without the sandbox is `unsandboxed`, one folder up.

mod build;
mod files;
mod git;
mod remote;
mod row;
mod search;
mod system;
mod text;

use super::word::{Opens, ShellWord, is_number};
use row::{Operands, ProgramCall, ProgramRow, Style, Takes, split};

/// Programs that take a word with an `@` before it for itself. To many others it is a file with further arguments: to
/// all of the compilers, linkers and readers of object files, and to whatever is not known here.
const AT_IS_A_LETTER: &[&str] = &[
    "awk",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "diff3",
    "dirname",
    "dpkg",
    "dpkg-query",
    "du",
    "egrep",
    "expand",
    "expr",
    "fd",
    "fdfind",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "gawk",
    "gh",
    "glab",
    "getconf",
    "getent",
    "git",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "join",
    "jq",
    "locate",
    "ls",
    "lsattr",
    "man",
    "mawk",
    "md5sum",
    "namei",
    "nawk",
    "nl",
    "npm",
    "numfmt",
    "od",
    "paste",
    "pathchk",
    "pgrep",
    "pidof",
    "pip",
    "pip3",
    "pnpm",
    "printenv",
    "ps",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sed",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "shuf",
    "sort",
    "stat",
    "sum",
    "tac",
    "tail",
    "tr",
    "tree",
    "unexpand",
    "uniq",
    "wc",
    "whereis",
    "which",
    "xxd",
    "yq",
];

fn families() -> impl Iterator<Item = &'static ProgramRow> {
    [text::ROWS, files::ROWS, search::ROWS, git::ROWS, build::ROWS, system::ROWS].into_iter().flatten()
}

/// The row of this name.
pub(super) fn find(name: &str) -> Option<&'static ProgramRow> {
    families().find(|row| row.name == name)
}

/// The names of all programs in the table.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = families().filter_map(|row| row.name.split(' ').next()).collect();
    names.dedup();
    names
}

/// The names of all rows.
#[cfg(test)]
pub(super) fn every_name() -> Vec<&'static str> {
    families().map(|row| row.name).collect()
}

/// Checks a call of a program that asks a server, by its words after quote removal: whether it only reads there.
///
/// # Errors
/// The argument that is not known to only read.
pub(super) fn reads_remotely(argv: &[String]) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or_else(|| "no command".to_owned())?;
    let words: Vec<ShellWord> = arguments.iter().map(|text| ShellWord::literal(text, 0..0)).collect();
    let row = remote::ROWS.iter().find(|row| row.name == program.as_str());
    let row = row.ok_or_else(|| format!("`{program}` is not known to read from servers"))?;
    let find = |name: &str| remote::ROWS.iter().find(|row| row.name == name);
    if row.style == Style::Subcommands && words.is_empty() {
        return Err(format!("`{program}` has no subcommand"));
    }
    let read = if row.style == Style::Subcommands { subcommand(row, &words, &find) } else { finish(row, &words) };
    read.map(|_| ())
}

fn finish(row: &'static ProgramRow, arguments: &[ShellWord]) -> Result<Vec<String>, String> {
    finished(&taken_apart(row, arguments)?)
}

/// Checks the arguments of a program. The words that may be paths come back.
///
/// # Errors
/// The argument that is not known to only read.
pub(super) fn read_only(row: &'static ProgramRow, arguments: &[ShellWord]) -> Result<Vec<String>, String> {
    if row.style == Style::Subcommands {
        return subcommand(row, arguments, &find);
    }
    finish(row, arguments)
}

/// `git`, `cargo` and their kind: options, a subcommand, and its own arguments.
fn subcommand(
    row: &'static ProgramRow,
    arguments: &[ShellWord],
    find: &dyn Fn(&str) -> Option<&'static ProgramRow>,
) -> Result<Vec<String>, String> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.known() else { break };
        if !text.starts_with('-') {
            break;
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        at += match row.takes(name) {
            Some(Takes::Value | Takes::File) if !text.contains('=') => 2,
            _ => 1,
        };
    }
    let (before, rest) = arguments.split_at(at.min(arguments.len()));
    let mut files = finished(&taken_apart(row, before)?)?;
    let Some((first, rest)) = rest.split_first() else {
        // Alone it says how it is used.
        return if before.is_empty() || row.name != "git" || before.iter().any(|word| word.text == "--version") {
            Ok(files)
        } else {
            Err(format!("`{}` has no subcommand", row.name))
        };
    };
    let Some(word) = first.known() else { return Err(format!("what `{}` does is only known at run time", row.name)) };
    let longer = rest.first().and_then(ShellWord::known).map(|second| format!("{} {word} {second}", row.name));
    if let Some(found) = longer.and_then(|name| find(&name)) {
        files.extend(finish(found, rest.get(1..).unwrap_or_default())?);
        return Ok(files);
    }
    let name = format!("{} {word}", row.name);
    let found = find(&name).ok_or_else(|| format!("`{name}` is not a known read-only command"))?;
    files.extend(finish(found, rest)?);
    Ok(files)
}

fn taken_apart<'a>(row: &'static ProgramRow, arguments: &'a [ShellWord]) -> Result<ProgramCall<'a>, String> {
    let mut call = ProgramCall { row, options: Vec::new(), operands: Vec::new(), files: Vec::new() };
    let unknown = |option: &str| Err(format!("`{} {option}` is not known to be read-only", row.name));
    let program = row.name.split(' ').next().unwrap_or_default();
    if !AT_IS_A_LETTER.contains(&program)
        && let Some(word) = arguments.iter().find(|word| word.text.starts_with('@'))
    {
        return Err(format!("`{program} {}` may read further arguments from a file", word.text));
    }
    let mut rest = arguments.iter();
    let mut only_operands = false;
    while let Some(word) = rest.next() {
        if let Opens::Unknown(why) = &word.opens {
            return Err(why.clone());
        }
        if matches!(word.opens, Opens::Variable { .. } | Opens::Printed) {
            return Err(format!("`{}` is only known at run time", word.text));
        }
        if only_operands || word.is_no_option() {
            call.operands.push(word);
            continue;
        }
        let long_pattern = word.opens == Opens::Pattern
            && word.text.starts_with("--")
            && word.text.split_once('=').is_some_and(|(name, _)| !name.contains(['*', '?', '[']));
        if word.known().is_none() && !long_pattern {
            // A row whose options are all harmless takes anything.
            if row.any {
                call.operands.push(word);
                continue;
            }
            return Err(format!("`{}` may become an option: put `./` before it, or quotes around it", word.text));
        }
        let text = word.text.as_str();
        if text == "--" {
            only_operands = true;
            continue;
        }
        if matches!(row.style, Style::Leading | Style::Posix) && !call.operands.is_empty() {
            return unknown(text);
        }
        let (name, value) = match text.split_once('=').filter(|(name, _)| name.len() > 2) {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        // The whole word first: `--long`, `-x`, and `-version` of those that have such.
        if let Some(takes) = row.takes(name) {
            match (takes, value) {
                (Takes::Nothing, None) | (Takes::Joined, _) => {
                    call.options.push((name.to_owned(), value.map(str::to_owned)));
                }
                (Takes::Value | Takes::File, Some(value)) if name.starts_with("--") => {
                    call.took(name, value, takes);
                }
                (Takes::Value | Takes::File, None) => {
                    let value = rest.next().and_then(|word| separate(word, takes));
                    let Some(value) = value else { return unknown(name) };
                    call.took(name, value, takes);
                }
                (Takes::Pair, None) => {
                    // Neither is opened, and the second may be any text.
                    let label = rest.next().and_then(|word| separate(word, takes));
                    let value = rest.next().and_then(ShellWord::known);
                    let (Some(label), Some(_)) = (label, value) else { return unknown(name) };
                    call.options.push((name.to_owned(), Some(label.to_owned())));
                }
                _ => return unknown(name),
            }
            continue;
        }
        if text.starts_with("--") || matches!(row.style, Style::Exact | Style::Leading) {
            return unknown(name);
        }
        if text.strip_prefix('-').is_some_and(is_number) && row.takes("-#").is_some() {
            continue;
        }
        // Letters in one word.
        for (at, letter) in text.char_indices().skip(1) {
            let option = format!("-{letter}");
            let joined = text.get(at + letter.len_utf8()..).unwrap_or_default();
            match row.takes(&option) {
                None => return unknown(&option),
                Some(Takes::Nothing) => call.options.push((option, None)),
                Some(Takes::Joined) => {
                    call.options.push((option, Some(joined.to_owned())));
                    break;
                }
                Some(takes) => {
                    let value = if joined.is_empty() {
                        rest.next().and_then(|word| separate(word, takes))
                    } else {
                        Some(joined)
                    };
                    let Some(value) = value else { return unknown(&option) };
                    call.took(&option, value, takes);
                    break;
                }
            }
        }
    }
    Ok(call)
}

/// The next word as the value of an option. One that looks like an option itself is refused: whether it is taken as the
/// value is the program's secret.
fn separate(word: &ShellWord, takes: Takes) -> Option<&str> {
    let known = word.opens == Opens::Literal || takes == Takes::File && word.opens == Opens::Home;
    let number = word.text.strip_prefix('-').is_some_and(is_number);
    (known && (!word.text.starts_with('-') || number || word.text == "-")).then_some(word.text.as_str())
}

impl ProgramCall<'_> {
    fn took(&mut self, option: &str, value: &str, takes: Takes) {
        // A value behind an operand is a file where options end at the first operand.
        if takes == Takes::File || !self.operands.is_empty() {
            self.files.push(value.to_owned());
        }
        self.options.push((option.to_owned(), Some(value.to_owned())));
    }
}

fn finished(call: &ProgramCall) -> Result<Vec<String>, String> {
    let row = call.row;
    if let Some(check) = row.check {
        check(call)?;
    }
    let mut files = call.files.clone();
    // `--blob=HEAD:.env`.
    if row.name.starts_with("git ") {
        files.extend(call.files.iter().flat_map(|file| git::named(file)));
    }
    let texts = || call.operands.iter().map(|word| word.text.clone());
    let one = |word: &&ShellWord| matches!(word.opens, Opens::Literal | Opens::Home);
    match row.operands {
        Operands::None if !call.operands.is_empty() => return Err(format!("`{}` takes no operands", row.name)),
        Operands::None | Operands::Text => {}
        Operands::Paths => files.extend(texts()),
        Operands::AtMost(most) => {
            if call.operands.len() > most || !call.operands.iter().all(one) {
                return Err(format!("`{}` writes into its operand number {}", row.name, most + 1));
            }
            files.extend(texts());
        }
        Operands::PatternThenPaths => {
            let given = call.has(&["-e", "-f", "--regexp", "--file", "--files", "--type-list"]);
            let rest = texts().skip(usize::from(!given));
            // `git grep x HEAD:.env`.
            let of_git = row.name.starts_with("git ");
            for text in rest {
                if of_git {
                    files.extend(git::named(&text));
                }
                files.push(text);
            }
        }
        Operands::ScriptThenPaths => {
            let given = call.has(&["-e", "--expression"]);
            if !given && call.operands.first().is_some_and(|word| word.known().is_none()) {
                return Err(format!("what `{}` does is only known at run time", row.name));
            }
            files.extend(texts().skip(usize::from(!given)));
        }
        Operands::Revisions => {
            for text in texts() {
                files.extend(git::named(&text));
                files.push(text);
            }
            // `-L1,5:.env`, `--skip-to=.env`.
            for value in call.values(&["-L", "--skip-to", "--rotate-to"]) {
                files.extend(git::named(value));
                files.push(value.to_owned());
            }
        }
    }
    Ok(files)
}

/// Every form of the table: each row alone and with each of its options, with sample values.
#[must_use]
pub(super) fn forms() -> Vec<String> {
    let mut out = Vec::new();
    for row in families().filter(|row| row.style != Style::Subcommands) {
        let line = |option: &str| {
            let words = [row.name, option, row.sample];
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        out.push(line(""));
        for token in row.tokens() {
            let (name, takes) = split(token);
            if token == "-#" {
                out.push(line("-2"));
                continue;
            }
            match takes {
                Takes::Nothing => out.push(line(name)),
                Takes::Joined => {
                    out.extend([line(name), line(&format!("{name}{}1", if name.len() > 2 { "=" } else { "" }))])
                }
                Takes::Value => out.extend(["1", "a", "%s", "name"].map(|value| line(&format!("{name} {value}")))),
                Takes::Pair => out.push(line(&format!("{name} a b"))),
                Takes::File => out.extend(["a.txt", "sub"].map(|value| line(&format!("{name} {value}")))),
            }
        }
    }
    out.extend(super::find::forms());
    out.extend(super::wrap::forms());
    out
}
