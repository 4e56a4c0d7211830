//! Reads Rust as text: takes comments, strings and test code out, and finds the paths that code names.

use std::path::{Path, PathBuf};

/// The source with comments, strings and characters replaced by blanks; newlines stay.
pub fn without_text(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    let at_char = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    while at < chars.len() {
        let c = chars[at];
        let word_before = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
        if c == '/' && at_char(at + 1) == '/' {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if c == '/' && at_char(at + 1) == '*' {
            let mut open = 0;
            while at < chars.len() {
                match (chars[at], at_char(at + 1)) {
                    ('/', '*') => (open, at) = (open + 1, at + 2),
                    ('*', '/') => (open, at) = (open - 1, at + 2),
                    (c, _) => {
                        out.push(blank(c));
                        at += 1;
                    }
                }
                if open == 0 {
                    break;
                }
            }
        } else if let Some((hashes, begin)) = raw_hashes(&chars, at).filter(|_| !word_before) {
            at = begin;
            while at < chars.len() {
                let closes = chars[at] == '"' && (1..=hashes).all(|i| at_char(at + i) == '#');
                out.push(blank(chars[at]));
                at += 1;
                if closes {
                    at += hashes;
                    break;
                }
            }
        } else if c == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                out.push(blank(chars[at]));
                at += 1;
                if chars[at - 1] == '\\' && at < chars.len() {
                    out.push(blank(chars[at]));
                    at += 1;
                }
            }
            at += 1;
            out.push(' ');
        } else if c == '\'' && (at_char(at + 1) == '\\' || at_char(at + 2) == '\'') {
            // A character; a lifetime has no quote two further on.
            at += if at_char(at + 1) == '\\' { 3 } else { 2 };
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
            out.push(' ');
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// For `r"`, `r#"`, `br"` at `at`: the number of hashes and where the text begins.
pub fn raw_hashes(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let mut i = at;
    i += usize::from(chars.get(i) == Some(&'b'));
    if chars.get(i) != Some(&'r') {
        return None;
    }
    i += 1;
    let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
    (chars.get(i + hashes) == Some(&'"')).then_some((hashes, i + hashes + 1))
}

/// The code with every item under `#[cfg(test)]` blanked: tests may use clocks, files and neighbours.
pub fn without_tests(code: &str, tests_only: bool) -> String {
    let blank = |text: &str| text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>();
    if tests_only {
        return blank(code);
    }
    let mark = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(mark) {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = item_end(&item[mark.len()..]) + mark.len();
        out.push_str(&blank(&item[..end]));
        rest = &item[end..];
    }
    out + rest
}

/// End of the item that begins here: at its `;`, or at the brace that closes its first one.
pub fn item_end(code: &str) -> usize {
    let mut open = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => open += 1,
            '}' => {
                open -= 1;
                if open == 0 {
                    return at + 1;
                }
            }
            ';' if open == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// All paths of the code with their lines: those of `use` with their braces opened, and those that stand in the code.
/// A bare name of a guarded crate after `use` counts as well.
pub fn paths(code: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut rest = 0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends: Vec<usize> = code.match_indices('\n').map(|(at, _)| at).collect();
    let line_at = |at: usize| 1 + ends.partition_point(|end| *end < at);
    while rest < code.len() {
        let Some(begin) = code[rest..].find(is_word).map(|i| rest + i) else { break };
        let end = code[begin..].find(|c| !is_word(c)).map_or(code.len(), |i| begin + i);
        let word = &code[begin..end];
        if word == "use" && code[end..].starts_with(char::is_whitespace) {
            let stop = code[end..].find(';').map_or(code.len(), |i| end + i);
            tree(&code[end..stop], "", &mut |offset, path| out.push((line_at(end + offset), path)));
            rest = stop;
        } else if code[end..].starts_with("::") && !ends_with_path(&code[..begin]) {
            // Follow the path to its end.
            let mut stop = end;
            while code[stop..].starts_with("::") && code[stop + 2..].starts_with(is_word) {
                stop = code[stop + 2..].find(|c| !is_word(c)).map_or(code.len(), |i| stop + 2 + i);
            }
            out.push((line_at(begin), code[begin..stop].to_owned()));
            rest = stop;
        } else {
            rest = end;
        }
    }
    out
}

/// True if the text before a word is a `::` with something before it, so that the word is no beginning of a path.
pub fn ends_with_path(before: &str) -> bool {
    before.strip_suffix("::").is_some_and(|head| head.ends_with(|c: char| c.is_alphanumeric() || "_>".contains(c)))
}

/// Opens the braces of a `use` tree. `offset` is where in `text` a path's last part begins.
pub fn tree(text: &str, prefix: &str, found: &mut dyn FnMut(usize, String)) {
    let mut begin = 0;
    let mut open = 0_usize;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                parts.push((begin, &text[begin..at]));
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push((begin, &text[begin..]));
    for (offset, part) in parts {
        let offset = offset + (part.len() - part.trim_start().len());
        let part = part.trim();
        if let Some((head, inner)) = part.split_once('{') {
            let inner_offset = offset + head.len() + 1;
            let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
            let prefix = format!("{prefix}{}", head.split_whitespace().collect::<String>());
            tree(inner, &prefix, &mut |at, path| found(inner_offset + at, path));
        } else if !part.is_empty() {
            let name = part.split_whitespace().take_while(|word| *word != "as").collect::<String>();
            let path = format!("{prefix}{name}");
            found(offset, path.strip_suffix("::self").map_or(path.clone(), str::to_owned));
        }
    }
}

pub fn lines_with_word(code: &str, word: &str) -> Vec<usize> {
    let holds = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word);
    code.lines().enumerate().filter(|(_, line)| holds(line)).map(|(i, _)| i + 1).collect()
}

/// All files below a folder that end with `.rs`, as paths from the project's root.
pub fn sources(root: &Path, folder: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let path = folder.join(entry?.file_name());
        if root.join(&path).is_dir() {
            sources(root, &path, out)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
    Ok(())
}
