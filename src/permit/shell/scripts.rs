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
            Some('p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x') => reader.end()?,
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

    /// Up to the delimiter. A bracket in a pattern must be closed before it: readers do not agree on what else it means.
    fn part(&mut self, delimiter: char, part: Part) -> Result<(), String> {
        let mut bracket = false;
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    Some(c) if c != '\n' || part == Part::Other => {}
                    _ => return Err(unknown("sed")),
                },
                c if c == delimiter => return if bracket { Err(unknown("sed")) } else { Ok(()) },
                '[' if part == Part::Pattern => bracket = true,
                ']' => bracket = false,
                '\n' => return Err(unknown("sed")),
                _ => {}
            }
        }
        Err(unknown("sed"))
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

/// An awk program that only prints: no `system`, no `getline`, no pipe and no redirection behind `print`.
pub(super) fn awk(program: &str) -> Result<(), String> {
    let refuse = |what: &str| Err(format!("the program for `awk` {what}"));
    for (word, what) in [
        ("system", "may run something"),
        ("getline", "may read from elsewhere"),
        ("@", "may load or call what is not in it"),
        ("ARGV", "may read other files"),
        ("ARGC", "may read other files"),
        ("ENVIRON", "looks at the environment"),
        ("PROCINFO", "may change how it runs"),
        ("SYMTAB", "may change how it runs"),
        ("FUNCTAB", "may change how it runs"),
        ("\\\n", "is not understood"),
        ("extension", "may load what is not in it"),
        ("close", "is not understood"),
        ("fflush", "is not understood"),
    ] {
        if program.contains(word) {
            return refuse(what);
        }
    }
    // `print` and `printf` must stand before what redirects or pipes them.
    let behind = program.find("print").and_then(|at| program.get(at..)).unwrap_or_default().replace("||", "  ");
    if behind.contains(['>', '|']) {
        return refuse("may print into a file or a program");
    }
    // The other places of a pipe: an alternative in a pattern, `||`, or what reads from a program (`getline`, above).
    Ok(())
}

/// A jq filter without modules.
pub(super) fn jq(filter: &str) -> Result<(), String> {
    if ["import", "include", "$ENV", "env.", "get_search_list"].iter().any(|word| filter.contains(word)) {
        return Err("the filter for `jq` loads what is not in it".to_owned());
    }
    Ok(())
}

/// A yq filter: the same, and no operators that load, evaluate or run.
pub(super) fn yq(filter: &str) -> Result<(), String> {
    let words = ["load", "eval", "system", "env", "strenv", "split_doc", "input"];
    // `yq eval`, `yq e`, `yq shell-completion`: subcommands.
    let word = filter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if word || words.iter().any(|word| filter.contains(word)) {
        return Err("the filter for `yq` is not known to only read".to_owned());
    }
    jq(filter)
}
