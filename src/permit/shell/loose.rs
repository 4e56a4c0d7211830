//! The loose reading of any text as shell: what might be a command, however deep it is wrapped.
//!
//! It never fails and may see commands where there are none. It is for finding what must not pass unseen, never for
//! proving that something is harmless.

/// Possible simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LooseCommand {
    /// Words after quote removal; `$` and globs stay as written.
    pub(super) words: Vec<String>,
    /// Operators and targets of its redirections.
    pub(super) redirects: Vec<(String, String)>,
}

/// The pieces of a text, those of substitutions among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// In no order.
    pub(super) commands: Vec<LooseCommand>,
    /// True if something was nested deeper than the limit.
    pub(super) too_deep: bool,
}

/// Depth to which substitutions are followed.
pub(super) const DEEPEST: usize = 16;

/// Takes a text apart.
pub(super) fn split(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    read(text, DEEPEST, &mut pieces);
    pieces
}

struct LooseReader<'a> {
    chars: Vec<char>,
    at: usize,
    word: Option<String>,
    /// The operator whose target comes next.
    operator: Option<String>,
    simple: LooseCommand,
    depth: usize,
    pieces: &'a mut Pieces,
}

fn read(text: &str, depth: usize, pieces: &mut Pieces) {
    let mut reader = LooseReader {
        chars: text.chars().collect(),
        at: 0,
        word: None,
        operator: None,
        simple: LooseCommand::default(),
        depth,
        pieces,
    };
    while let Some(c) = reader.next() {
        reader.step(c);
    }
    reader.end_command();
}

impl LooseReader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.operator.take() {
            Some(operator) => self.simple.redirects.push((operator, word)),
            None => self.simple.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.operator = None;
        let simple = std::mem::take(&mut self.simple);
        if !simple.words.is_empty() || !simple.redirects.is_empty() {
            self.pieces.commands.push(simple);
        }
    }

    fn step(&mut self, c: char) {
        match c {
            '\'' => self.single(),
            '"' => self.double(),
            '`' => self.backtick(),
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c) => self.push(c),
            },
            '$' if self.peek() == Some('\'') => {
                self.at += 1;
                self.ansi();
            }
            '$' if self.peek() == Some('"') => {}
            '$' | '<' | '>' if self.peek() == Some('(') => {
                self.at += 1;
                self.substitution();
            }
            '#' if self.word.is_none() => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '&' if self.peek() == Some('>') => {
                self.end_word();
                self.operator = Some("&".to_owned());
            }
            '<' | '>' => self.redirect(c),
            '\n' | '\r' | ';' | '&' | '|' | '(' | ')' => self.end_command(),
            c if c.is_whitespace() || c == '\0' => self.end_word(),
            c => self.push(c),
        }
    }

    fn redirect(&mut self, c: char) {
        // The digits right before are the descriptor, no word.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut operator = self.operator.take().unwrap_or_default();
        operator.push(c);
        while let Some(c) = self.peek().filter(|c| "<>|&-".contains(*c)) {
            operator.push(c);
            self.at += 1;
        }
        self.operator = Some(operator);
    }

    fn single(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '"') {
            match c {
                '\\' => {
                    if let Some(c) = self.next().filter(|c| *c != '\n') {
                        self.push(c);
                    }
                }
                '`' => self.backtick(),
                '$' if self.peek() == Some('(') => {
                    self.at += 1;
                    self.substitution();
                }
                c => self.push(c),
            }
        }
    }

    /// `$'…'` with the escapes that can hide a letter.
    fn ansi(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            if c != '\\' {
                self.push(c);
                continue;
            }
            let (radix, most) = match self.peek() {
                Some('x') => (16, 2),
                Some('u') => (16, 4),
                Some('0'..='7') => (8, 3),
                Some('n' | 't' | 'r') => {
                    self.at += 1;
                    self.push(' ');
                    continue;
                }
                Some(c) => {
                    self.at += 1;
                    self.push(c);
                    continue;
                }
                None => return,
            };
            self.at += usize::from(radix == 16);
            let mut code = 0;
            for _ in 0..most {
                let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
                code = code * radix + digit;
                self.at += 1;
            }
            self.push(char::from_u32(code).unwrap_or('?'));
        }
    }

    fn backtick(&mut self) {
        let begin = self.at;
        while self.peek().is_some_and(|c| c != '`') {
            self.at += if self.peek() == Some('\\') { 2 } else { 1 };
        }
        self.nested(begin, self.at.min(self.chars.len()));
        self.at = (self.at + 1).min(self.chars.len());
    }

    fn substitution(&mut self) {
        let begin = self.at;
        let mut open = 1_usize;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.nested(begin, self.at - 1);
                return;
            }
        }
        self.nested(begin, self.at);
    }

    fn nested(&mut self, begin: usize, end: usize) {
        // The word goes on with something unknown.
        self.push('$');
        if self.depth == 0 {
            self.pieces.too_deep = true;
            return;
        }
        let text: String = self.chars.get(begin..end).unwrap_or_default().iter().collect();
        read(&text, self.depth - 1, self.pieces);
    }
}
