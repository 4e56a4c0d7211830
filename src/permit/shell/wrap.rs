//! Programs that run the command given to them: which of their own options are harmless, and where the command begins.

use super::word::{Opens, ShellWord, is_number};

/// A wrapper's options, and how many operands stand before the command.
struct Wrapper {
    name: &'static str,
    /// Options without a value.
    alone: &'static str,
    /// Options with a value, joined or as the next word.
    valued: &'static str,
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "timeout",
        alone: "-v --preserve-status --foreground --verbose",
        valued: "-k -s --kill-after --signal",
        operands: 1,
    },
    Wrapper { name: "nice", alone: "", valued: "-n --adjustment", operands: 0 },
    Wrapper { name: "nohup", alone: "", valued: "", operands: 0 },
    Wrapper { name: "stdbuf", alone: "", valued: "-i -o -e --input --output --error", operands: 0 },
    Wrapper { name: "time", alone: "-p", valued: "", operands: 0 },
    Wrapper { name: "command", alone: "", valued: "", operands: 0 },
    Wrapper { name: "env", alone: "", valued: "", operands: 0 },
    Wrapper {
        name: "xargs",
        alone: "-0 -r -t -x --null --no-run-if-empty --verbose --exit",
        valued: "-n -L -P -d -s -E --max-args --max-procs --max-chars --delimiter",
        operands: 0,
    },
];

/// Command run by a wrapper.
pub(super) struct Wrapped {
    /// The command; empty where none is given.
    pub(super) command: Vec<ShellWord>,
    /// Reason why the wrapper's own words are not harmless.
    pub(super) refused: Option<String>,
}

/// True if the program runs the command that follows.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Takes a wrapper's words apart. `None` where the command's beginning is not known.
pub(super) fn unwrapped(name: &str, arguments: &[ShellWord]) -> Option<Wrapped> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let mut refused = None;
    let mut replaced = None;
    let mut counted = false;
    let mut at = 0;
    while let Some(text) = arguments.get(at).map(ShellWord::known) {
        let text = text?;
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let bare = text.split_once('=').map_or(text, |(bare, _)| bare);
        let letter = text.get(..2).unwrap_or_default();
        let digits = text.strip_prefix('-').is_some_and(is_number);
        let joined = text.starts_with("-0") && text.bytes().skip(1).all(|b| b"0rtx".contains(&b));
        counted |= ["-n", "-L", "-l"].contains(&letter) || ["--max-args", "--max-lines"].contains(&bare);
        if has(wrapper.alone, text) || name == "nice" && digits || name == "xargs" && joined {
            at += 1;
        } else if name == "xargs" && text.starts_with("-I") && replaced.is_some() {
            return None;
        } else if name == "xargs" && text == "-I" {
            replaced = Some(arguments.get(at + 1)?.known()?.to_owned());
            at += 2;
        } else if name == "xargs"
            && let Some(mark) = text.strip_prefix("-I")
        {
            replaced = Some(mark.to_owned());
            at += 1;
        } else if bare.starts_with("--") && bare != text && has(wrapper.valued, bare) {
            at += 1;
        } else if has(wrapper.valued, text) {
            arguments.get(at + 1)?.known()?;
            at += 2;
        } else if !text.starts_with("--") && has(wrapper.valued, letter) {
            at += 1;
        } else {
            return None;
        }
    }
    for _ in 0..wrapper.operands {
        let text = arguments.get(at)?.known()?;
        // `timeout 5`, `timeout 1.5m`.
        if !text.starts_with(|c: char| c.is_ascii_digit())
            || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        {
            return None;
        }
        at += 1;
    }
    if name == "env" {
        while let Some((variable, value)) = arguments.get(at).and_then(|word| word.text.split_once('=')) {
            let known = arguments.get(at).and_then(ShellWord::known).is_some();
            if !known || !harmless(variable, value) {
                refused = Some(format!("`{variable}` may change what a program does"));
            }
            at += 1;
        }
    }
    if counted && replaced.is_some() {
        // Of the two the last one counts, to most.
        return None;
    }
    let mut command = arguments.get(at..).unwrap_or_default().to_vec();
    if name == "xargs" && !command.is_empty() {
        match &replaced {
            None => command.push(given()),
            Some(mark) => {
                for word in command.iter_mut().filter(|word| word.text.contains(mark.as_str())) {
                    word.opens = if word.text == *mark {
                        Opens::Anything
                    } else {
                        Opens::Unknown(format!("`{mark}` inside a word is only known at run time"))
                    };
                }
            }
        }
    }
    Some(Wrapped { command, refused })
}

/// Word that `xargs` appends to its command.
fn given() -> ShellWord {
    ShellWord { text: "…".to_owned(), bare: false, opens: Opens::Anything, at: 0..0 }
}

/// True if a variable with this value only changes how something is shown.
pub(super) fn harmless(name: &str, value: &str) -> bool {
    let plain = |also: &str| value.bytes().all(|b| b.is_ascii_alphanumeric() || also.as_bytes().contains(&b));
    match name {
        "GIT_OPTIONAL_LOCKS" => value == "0",
        "NO_COLOR" | "FORCE_COLOR" | "CLICOLOR" | "CLICOLOR_FORCE" | "COLUMNS" | "LINES" | "CARGO_TERM_COLOR"
        | "RUST_BACKTRACE" => plain(""),
        "TZ" => plain("_+-/") && !value.starts_with('/') && !value.contains(".."),
        "PAGER" | "GIT_PAGER" | "MANPAGER" => value == "cat",
        "TERM" => matches!(value, "dumb" | "xterm" | "xterm-256color"),
        "LANG" | "LANGUAGE" => plain("_.@-"),
        _ => name.strip_prefix("LC_").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_uppercase())) && plain("_.@-"),
    }
}

/// True if a text means the same to every shell, because `sh` may be another one than bash: no
/// tests in `[[`, which others take for a program, and no quotes of bash alone.
pub(super) fn is_common(text: &str) -> bool {
    !["[[", "$'", "$\"", "&>", ">&", "|&", "<<<", "((", ";&", "coproc", "function"].iter().any(|form| {
        let only_descriptors = *form == ">&";
        text.match_indices(form).any(|(at, _)| {
            let next = text.get(at + form.len()..).and_then(|rest| rest.chars().next());
            !(only_descriptors && next.is_some_and(|c| c.is_ascii_digit() || c == '-'))
        })
    })
}

/// The text that a shell is given with `-c`; `None` where it is not known or more is given.
pub(super) fn shell_text(arguments: &[ShellWord]) -> Option<&ShellWord> {
    let (option, rest) = arguments.split_first()?;
    let letters = option.known()?.strip_prefix('-')?;
    let harmless = letters.strip_suffix('c').is_some_and(|others| others.bytes().all(|b| b"eux".contains(&b)));
    match rest {
        [text] if harmless && text.known().is_some() => Some(text),
        _ => None,
    }
}

/// Every wrapper with each of its options.
#[must_use]
pub(super) fn forms() -> Vec<String> {
    let mut out: Vec<String> =
        ["sh -c 'ls -l'", "bash -euxc 'ls | wc -l'", "command -v ls", "type ls", "env", "ls | xargs"]
            .map(str::to_owned)
            .into();
    for wrapper in WRAPPERS {
        let operands = if wrapper.operands > 0 { "5 " } else { "" };
        let command = if wrapper.name == "xargs" { "wc -l < names" } else { "ls -l" };
        out.push(format!("{} {operands}{command}", wrapper.name));
        let alone = wrapper.alone.split_whitespace().map(|option| option.to_owned());
        let valued = wrapper.valued.split_whitespace().map(|option| format!("{option} 1"));
        out.extend(alone.chain(valued).map(|option| format!("{} {option} {operands}{command}", wrapper.name)));
    }
    out
}
