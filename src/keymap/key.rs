//! Keys as values of our own, and their names: `ctrl+x`, `alt+1`, `shift+tab`, `f6`, `space`, `?`.
//!
//! The terminal's key events are turned into these by the runtime; which key does what is in `table`.

use std::fmt;

/// Modifiers held with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mods(u8);

impl Mods {
    /// None held.
    pub const NONE: Mods = Mods(0);
    /// Ctrl.
    pub const CTRL: Mods = Mods(1);
    /// Alt, also Meta and Option.
    pub const ALT: Mods = Mods(2);
    /// Shift. Never set with a printable character: the character itself is another one then.
    pub const SHIFT: Mods = Mods(4);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Mods) -> Mods {
        Mods(self.0 | other.0)
    }

    /// True if all of `other` are held.
    #[must_use]
    pub const fn has(self, other: Mods) -> bool {
        self.0 & other.0 == other.0
    }

    /// These without `other`.
    #[must_use]
    pub const fn without(self, other: Mods) -> Mods {
        Mods(self.0 & !other.0)
    }
}

/// Key without modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A printable character; the space bar is `Char(' ')`.
    Char(char),
    /// F1 to F12 by number.
    F(u8),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab. Shift+Tab is this with Shift, whatever the terminal calls it.
    Tab,
    /// The key that deletes backwards.
    Backspace,
    /// The key that deletes forwards.
    Delete,
    /// Insert.
    Insert,
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Up arrow.
    Up,
    /// Down arrow.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

const NAMED: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("left", Code::Left),
    ("right", Code::Right),
    ("up", Code::Up),
    ("down", Code::Down),
    ("home", Code::Home),
    ("end", Code::End),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("space", Code::Char(' ')),
];

/// A key with its modifiers, in one normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Key without modifiers.
    pub code: Code,
    /// Modifiers.
    pub mods: Mods,
}

impl Key {
    /// The normal form: a character carries no Shift (`G`, not shift+g); with Ctrl or Alt and Shift a letter becomes its
    /// capital; with Ctrl alone it is small, because terminals cannot tell Ctrl+A from Ctrl+Shift+A.
    #[must_use]
    pub fn new(code: Code, mods: Mods) -> Self {
        let Code::Char(c) = code else { return Self { code, mods } };
        let c = if mods.has(Mods::CTRL) {
            c.to_ascii_lowercase()
        } else if mods.has(Mods::SHIFT) {
            one_upper(c)
        } else {
            c
        };
        Self { code: Code::Char(c), mods: mods.without(Mods::SHIFT) }
    }

    /// A key without modifiers.
    #[must_use]
    pub fn plain(code: Code) -> Self {
        Self::new(code, Mods::NONE)
    }

    /// A printable character.
    #[must_use]
    pub fn char(c: char) -> Self {
        Self::plain(Code::Char(c))
    }

    /// The character that this key types into a text, if it types one.
    #[must_use]
    pub fn printable(self) -> Option<char> {
        match self.code {
            Code::Char(c) if self.mods == Mods::NONE && !c.is_control() => Some(c),
            _ => None,
        }
    }

    /// The digit from 1 to 9 on this key, whatever is held with it.
    #[must_use]
    pub fn digit(self) -> Option<usize> {
        match self.code {
            Code::Char(c @ '1'..='9') => c.to_digit(10).map(|d| d as usize),
            _ => None,
        }
    }

    /// Reads a name like `ctrl+x`, `Alt+1`, `shift+tab`, `F6`, `space`, `+`.
    ///
    /// # Errors
    /// A sentence that says which part is not a key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut mods = Mods::NONE;
        let mut rest = text;
        // A lone or last `+` is the key itself.
        while let Some((head, tail)) = rest.split_once('+') {
            if head.is_empty() || tail.is_empty() {
                break;
            }
            let one = match head.to_ascii_lowercase().as_str() {
                "ctrl" | "control" | "c" => Mods::CTRL,
                "alt" | "meta" | "option" | "a" => Mods::ALT,
                "shift" | "s" => Mods::SHIFT,
                _ => return Err(format!("invalid modifier {head:?} in {text:?}: use ctrl, alt or shift")),
            };
            mods = mods.with(one);
            rest = tail;
        }
        let lower = rest.to_ascii_lowercase();
        if let Some((_, code)) = NAMED.iter().find(|(name, _)| *name == lower) {
            return Ok(Self::new(*code, mods));
        }
        match lower.as_str() {
            "return" => return Ok(Self::new(Code::Enter, mods)),
            "escape" => return Ok(Self::new(Code::Esc, mods)),
            "del" => return Ok(Self::new(Code::Delete, mods)),
            "backtab" => return Ok(Self::new(Code::Tab, mods.with(Mods::SHIFT))),
            _ => {}
        }
        if let Some(n) = lower.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()) {
            return if (1..=12).contains(&n) {
                Ok(Self::new(Code::F(n), mods))
            } else {
                Err(format!("invalid key {text:?}: use f1 to f12"))
            };
        }
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => Ok(Self::new(Code::Char(c), mods)),
            _ => Err(format!("invalid key {text:?}; examples: ctrl+x, alt+1, shift+tab, f6, space, ?")),
        }
    }

    /// Reads keys that are pressed one after another, with blanks between: `ctrl+x m`.
    ///
    /// # Errors
    /// As [`Key::parse`]; also for no key at all.
    pub fn parse_chord(text: &str) -> Result<Vec<Self>, String> {
        let keys: Vec<Self> = text.split_whitespace().map(Self::parse).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err("missing key; write a blank as space".to_owned()) } else { Ok(keys) }
    }
}

fn one_upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(u), None) => u,
        _ => c,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, word) in [(Mods::CTRL, "ctrl+"), (Mods::ALT, "alt+"), (Mods::SHIFT, "shift+")] {
            if self.mods.has(held) {
                f.write_str(word)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(c) => write!(f, "{c}"),
            Code::F(n) => write!(f, "f{n}"),
            _ => Ok(()),
        }
    }
}

/// The name of a key of a chord as it is printed on the keyboard: `F3` rather than `f3`, with its modifiers as they are.
#[must_use]
pub fn printed(key: &str) -> String {
    let (mods, last) = key.rsplit_once('+').filter(|(_, last)| !last.is_empty()).unwrap_or(("", key));
    let last = match last.strip_prefix('f').is_some_and(|n| n.parse::<u8>().is_ok()) {
        true => last.to_uppercase(),
        false => last.to_owned(),
    };
    if mods.is_empty() { last } else { format!("{mods}+{last}") }
}

/// Writes keys that follow each other, with blanks between.
#[must_use]
pub fn chord_name(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, code, mods) in [
            ("ctrl+x", Code::Char('x'), Mods::CTRL),
            ("alt+1", Code::Char('1'), Mods::ALT),
            ("shift+tab", Code::Tab, Mods::SHIFT),
            ("f6", Code::F(6), Mods::NONE),
            ("space", Code::Char(' '), Mods::NONE),
            ("?", Code::Char('?'), Mods::NONE),
            ("+", Code::Char('+'), Mods::NONE),
            ("ctrl++", Code::Char('+'), Mods::CTRL),
            ("ctrl+_", Code::Char('_'), Mods::CTRL),
            ("G", Code::Char('G'), Mods::NONE),
            ("f", Code::Char('f'), Mods::NONE),
            ("ctrl+alt+shift+pageup", Code::PageUp, Mods::CTRL.with(Mods::ALT).with(Mods::SHIFT)),
        ] {
            let key = Key::parse(text).unwrap();
            assert_eq!(key, Key { code, mods }, "{text}");
            assert_eq!(key.to_string(), text);
        }
        assert_eq!(Key::parse("BackTab").unwrap(), Key::parse("shift+tab").unwrap());
        assert_eq!(Key::parse("shift+g").unwrap(), Key::char('G'));
        assert_eq!(Key::parse("Ctrl+X").unwrap(), Key::parse("ctrl+x").unwrap());
        for bad in ["", "hyper+x", "ctrl+", "f13", "enterr", "ctrl+xy"] {
            assert!(Key::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Key::parse_chord("ctrl+x m").unwrap().len(), 2);
        assert!(Key::parse_chord("  ").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(c in any::<char>(), mods in 0u8..8) {
            prop_assume!(!c.is_control() && !c.is_whitespace());
            let key = Key::new(Code::Char(c), Mods(mods));
            prop_assert_eq!(Key::parse(&key.to_string()), Ok(key));
        }
    }
}
