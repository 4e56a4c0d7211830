//! sed: addresses, and the commands that only print, delete, join or substitute.

/// Commands of a sed script that print, delete, join or substitute, without `w`, `r` and `e`.
pub(in crate::permit::shell) fn sed(script: &str) -> Result<(), String> {
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
                reader.part(delimiter, SedPart::Pattern)?;
                reader.part(delimiter, SedPart::Other)?;
                reader.skip(|c| "gpiI0123456789".contains(c));
                reader.end()?;
            }
            Some('y') => {
                let delimiter = reader.delimiter()?;
                reader.part(delimiter, SedPart::Other)?;
                reader.part(delimiter, SedPart::Other)?;
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
enum SedPart {
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
    fn part(&mut self, delimiter: char, part: SedPart) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    Some(c) if c != '\n' || part == SedPart::Other => {}
                    _ => return Err(unknown("sed")),
                },
                c if c == delimiter => return Ok(()),
                '[' if part == SedPart::Pattern => self.bracket(delimiter)?,
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
                self.part('/', SedPart::Pattern)?;
                let _ = self.rest.next_if_eq(&'I');
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
