//! The programs that only read, each with the options it may have. An option that is not here is not read-only.
//!
//! The list is the one that holds without a sandbox. An option is missing on purpose where it writes, runs, follows,
//! or reads a list of files from elsewhere: `tail -f`, `date -s`, `file -C`, `-z` and `-S`, `grep -r` (it would read
//! secrets below the folder) and `-f`, `wc --files0-from`, `test -v` and `printf -v` (they run code in a subscript).

use super::strict::StrictWord;
use super::word::is_number;

/// Meaning of the words that are no options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnsandboxedOperands {
    /// Files and folders.
    Paths,
    /// A pattern, unless an option gave it, then files.
    PatternThenPaths,
    /// Text that is not opened.
    Text,
    /// None may stand there.
    None,
}

/// The arguments of one program that only read.
struct ProgramArguments {
    name: &'static str,
    /// Letters that stand alone.
    flags: &'static str,
    /// Letters that take a value, joined or as the next word.
    valued: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
    /// Long options that need a value.
    long_valued: &'static [&'static str],
    /// Long options that may have a value after `=`.
    long_maybe: &'static [&'static str],
    /// `-5` means a count.
    counts: bool,
    operands: UnsandboxedOperands,
}

const NOTHING: ProgramArguments = ProgramArguments {
    name: "",
    flags: "",
    valued: "",
    long: &[],
    long_valued: &[],
    long_maybe: &[],
    counts: false,
    operands: UnsandboxedOperands::Paths,
};

const PROGRAMS: &[ProgramArguments] = &[
    ProgramArguments {
        name: "cat",
        flags: "AbeEnstTuv",
        long: &["show-all", "number-nonblank", "show-ends", "number", "squeeze-blank", "show-tabs", "show-nonprinting"],
        ..NOTHING
    },
    ProgramArguments {
        name: "head",
        flags: "qvz",
        valued: "nc",
        long: &["quiet", "silent", "verbose", "zero-terminated"],
        long_valued: &["lines", "bytes"],
        counts: true,
        ..NOTHING
    },
    ProgramArguments {
        name: "tail",
        flags: "qvz",
        valued: "nc",
        long: &["quiet", "silent", "verbose", "zero-terminated"],
        long_valued: &["lines", "bytes"],
        counts: true,
        ..NOTHING
    },
    ProgramArguments {
        name: "wc",
        flags: "cmlLw",
        long: &["bytes", "chars", "lines", "max-line-length", "words"],
        long_valued: &["total"],
        ..NOTHING
    },
    ProgramArguments {
        name: "nl",
        flags: "p",
        valued: "bdfhilnsvw",
        long: &["no-renumber"],
        long_valued: &["body-numbering", "number-format", "number-separator", "number-width", "starting-line-number"],
        ..NOTHING
    },
    ProgramArguments {
        name: "cut",
        flags: "nsz",
        valued: "bcdf",
        long: &["complement", "only-delimited", "zero-terminated"],
        long_valued: &["bytes", "characters", "delimiter", "fields", "output-delimiter"],
        ..NOTHING
    },
    ProgramArguments {
        name: "ls",
        flags: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        valued: "ITw",
        long: &[
            "all",
            "almost-all",
            "author",
            "directory",
            "dereference",
            "file-type",
            "full-time",
            "group-directories-first",
            "human-readable",
            "inode",
            "no-group",
            "numeric-uid-gid",
            "recursive",
            "reverse",
            "si",
            "size",
        ],
        long_valued: &["ignore", "hide", "format", "sort", "time", "time-style", "indicator-style", "width"],
        long_maybe: &["color", "classify"],
        ..NOTHING
    },
    ProgramArguments {
        name: "stat",
        flags: "Lft",
        valued: "c",
        long: &["dereference", "file-system", "terse"],
        long_valued: &["format", "printf"],
        ..NOTHING
    },
    ProgramArguments {
        name: "file",
        flags: "bhikLN",
        long: &["brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference", "keep-going"],
        ..NOTHING
    },
    ProgramArguments {
        name: "grep",
        flags: "abcEFGhHilLnoPqsTUvwxyzZI",
        valued: "ABCem",
        long: &[
            "basic-regexp",
            "byte-offset",
            "count",
            "extended-regexp",
            "files-with-matches",
            "files-without-match",
            "fixed-strings",
            "ignore-case",
            "invert-match",
            "line-number",
            "line-regexp",
            "no-filename",
            "no-messages",
            "null",
            "only-matching",
            "perl-regexp",
            "quiet",
            "silent",
            "text",
            "with-filename",
            "word-regexp",
        ],
        long_valued: &["after-context", "before-context", "context", "max-count", "regexp"],
        long_maybe: &["color", "colour"],
        counts: true,
        operands: UnsandboxedOperands::PatternThenPaths,
    },
    ProgramArguments {
        name: "basename",
        flags: "az",
        valued: "s",
        long: &["multiple", "zero"],
        long_valued: &["suffix"],
        operands: UnsandboxedOperands::Text,
        ..NOTHING
    },
    ProgramArguments { name: "dirname", flags: "z", long: &["zero"], operands: UnsandboxedOperands::Text, ..NOTHING },
    ProgramArguments {
        name: "realpath",
        flags: "eLmPqsz",
        long: &[
            "canonicalize-existing",
            "canonicalize-missing",
            "logical",
            "physical",
            "quiet",
            "strip",
            "no-symlinks",
            "zero",
        ],
        long_valued: &["relative-to", "relative-base"],
        ..NOTHING
    },
    ProgramArguments { name: "pwd", flags: "LP", operands: UnsandboxedOperands::None, ..NOTHING },
    ProgramArguments {
        name: "uname",
        flags: "aimnoprsv",
        long: &[
            "all",
            "kernel-name",
            "nodename",
            "kernel-release",
            "kernel-version",
            "machine",
            "processor",
            "operating-system",
        ],
        operands: UnsandboxedOperands::None,
        ..NOTHING
    },
    ProgramArguments { name: "whoami", operands: UnsandboxedOperands::None, ..NOTHING },
    ProgramArguments {
        name: "id",
        flags: "agGnruzZ",
        long: &["group", "groups", "name", "real", "user", "zero", "context"],
        operands: UnsandboxedOperands::Text,
        ..NOTHING
    },
    ProgramArguments {
        name: "date",
        flags: "uR",
        valued: "dr",
        long: &["utc", "universal", "rfc-email"],
        long_valued: &["date", "rfc-3339", "reference"],
        long_maybe: &["iso-8601"],
        operands: UnsandboxedOperands::Text,
        ..NOTHING
    },
];

/// The builtins of the shell among the programs that only read.
const BUILTINS: &[&str] = &["echo", "true", "false", "printf", "test"];

/// The names of all programs that only read.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.name).chain(BUILTINS.iter().copied()).collect()
}

/// True if the list has the program of a simple command.
pub(super) fn lists(words: &[StrictWord]) -> bool {
    let listed = |name: &str| BUILTINS.contains(&name) || PROGRAMS.iter().any(|program| program.name == name);
    words.first().is_some_and(|program| program.bare && listed(&program.text))
}

/// Checks one simple command. `Ok` when it only reads, with the words that may be paths.
///
/// # Errors
/// The program or argument that is not known to only read.
pub(super) fn read_only(words: &[StrictWord]) -> Result<Vec<String>, String> {
    let Some((program, arguments)) = words.split_first() else { return Err("no command".to_owned()) };
    let name = program.text.as_str();
    let unknown = || format!("`{name}` is not a known read-only command");
    if !program.bare {
        return Err(unknown());
    }
    let arguments: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match name {
        "printf" => printf(&arguments),
        "test" => test(&arguments),
        "[" => match arguments.split_last() {
            Some((&"]", rest)) => test(rest),
            _ => Err("unclosed `[`".to_owned()),
        },
        // The others print or say nothing, whatever they are given.
        _ if BUILTINS.contains(&name) => Ok(Vec::new()),
        _ => {
            let program = PROGRAMS.iter().find(|program| program.name == name).ok_or_else(unknown)?;
            checked(program, &arguments)
        }
    }
}

fn checked(program: &ProgramArguments, arguments: &[&str]) -> Result<Vec<String>, String> {
    let name = program.name;
    let unknown = |option: &str| {
        let hint = match (name, option) {
            ("grep", "-r" | "-R" | "--recursive" | "--dereference-recursive") => " (the grep tool searches folders)",
            _ => "",
        };
        Err(format!("`{name} {option}` is not known to be read-only{hint}"))
    };
    let mut paths = Vec::new();
    let mut operands = Vec::new();
    let mut pattern_given = false;
    let mut rest = arguments.iter();
    while let Some(&word) = rest.next() {
        if word == "--" {
            operands.extend(rest.by_ref().copied());
        } else if let Some(long) = word.strip_prefix("--") {
            let (option, value) = long.split_once('=').map_or((long, None), |(option, value)| (option, Some(value)));
            let bare = format!("--{option}");
            let alone = program.long.contains(&option) || (name != "pwd" && ["help", "version"].contains(&option));
            if alone && value.is_none() || program.long_maybe.contains(&option) {
                continue;
            }
            if !program.long_valued.contains(&option) {
                return unknown(&bare);
            }
            let Some(value) = value.or_else(|| rest.next().copied()) else { return unknown(&bare) };
            pattern_given |= option == "regexp";
            if option == "reference" || !operands.is_empty() {
                paths.push(value.to_owned());
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            if program.counts && is_number(letters) {
                continue;
            }
            for (at, letter) in letters.char_indices() {
                if program.flags.contains(letter) {
                    continue;
                }
                // `date -I` may have its value joined.
                if name == "date" && letter == 'I' {
                    break;
                }
                if !program.valued.contains(letter) {
                    return unknown(&format!("-{letter}"));
                }
                let joined = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                let value = if joined.is_empty() { rest.next().copied() } else { Some(joined) };
                let Some(value) = value else { return unknown(&format!("-{letter}")) };
                pattern_given |= name == "grep" && letter == 'e';
                // Some systems read no options behind the first operand: there it is a file.
                if (name == "date" && letter == 'r') || !operands.is_empty() {
                    paths.push(value.to_owned());
                }
                break;
            }
        } else {
            operands.push(word);
        }
    }
    match program.operands {
        UnsandboxedOperands::None if !operands.is_empty() => return Err(format!("`{name}` takes no operands")),
        UnsandboxedOperands::None | UnsandboxedOperands::Text => {}
        UnsandboxedOperands::Paths => paths.extend(operands.iter().map(|&word| word.to_owned())),
        UnsandboxedOperands::PatternThenPaths => {
            paths.extend(operands.iter().skip(usize::from(!pattern_given)).map(|&word| word.to_owned()));
        }
    }
    // A time as operand sets the clock; `tail +5f` is the old form of following.
    if name == "date" && operands.iter().any(|word| !word.starts_with('+')) {
        return Err("`date` with a time sets the clock".to_owned());
    }
    if name == "tail" && operands.iter().any(|word| word.starts_with('+')) {
        return Err("`tail +` is not known to be read-only".to_owned());
    }
    Ok(paths)
}

/// bash's `printf` stores into variables with `-v` and `%n`, and runs what stands in a subscript.
pub(super) fn printf(arguments: &[&str]) -> Result<Vec<String>, String> {
    let Some((format, _)) = arguments.split_first() else { return Ok(Vec::new()) };
    if format.starts_with('-') {
        return Err(format!("`printf {format}` is not known to be read-only"));
    }
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            continue;
        }
        let conversion = rest.by_ref().find(|c| !"0123456789-+ #.".contains(*c));
        if !conversion.is_some_and(|c| "%sdiouxXfFeEgGcbq".contains(c)) {
            return Err("the format of `printf` is not known to only print".to_owned());
        }
    }
    Ok(Vec::new())
}

/// `test` with operators that only look. `-v` and `-R` would run what stands in a subscript.
pub(super) fn test(arguments: &[&str]) -> Result<Vec<String>, String> {
    const UNARY: &str = "bcdefghkLnOGprsSuwxz";
    const BINARY: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
    for word in arguments {
        let Some(letters) = word.strip_prefix('-') else { continue };
        let mut one = letters.chars();
        let unary = one.next().is_some_and(|c| UNARY.contains(c)) && one.next().is_none();
        let number = is_number(letters);
        if !(unary || number || BINARY.contains(word)) {
            return Err(format!("`test {word}` is not known to be read-only"));
        }
    }
    Ok(arguments.iter().filter(|word| !word.starts_with('-')).map(|&word| word.to_owned()).collect())
}
