//! Answers of a terminal to the queries of `terminal`. Every input that is not a key ends here, known or not.
//!
//! Formats: xterm's ctlseqs (DA1, DECRPM, OSC 11, XTVERSION, the size of a cell), the kitty keyboard protocol and kitty's
//! graphics protocol.

use crate::runtime::graphics::way::TerminalProgram;

/// A colour as the terminal names it, eight bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Text in a light colour is not readable on it: its perceived brightness (ITU-R BT.601) is over one half.
    #[must_use]
    pub fn is_light(self) -> bool {
        let Rgb(r, g, b) = self;
        u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114 > 127_500
    }
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalAnswer {
    /// It speaks the kitty keyboard protocol.
    KittyKeyboard,
    /// State of a DEC private mode: can it be set and reset?
    Mode {
        /// The mode's number, e.g. 2026 for synchronized output.
        number: u16,
        /// It can be changed by us.
        usable: bool,
    },
    /// Its background colour.
    Background(Rgb),
    /// Primary device attributes: asked last, so whatever was not answered before is not known to it.
    Attributes,
    /// It takes kitty's graphics.
    Graphics,
    /// It takes sixels: one of its device attributes.
    Sixel,
    /// Program name and version.
    Program(TerminalProgram),
    /// Size of a cell in pixels.
    Cell {
        /// Its width.
        width: u16,
        /// Its height.
        height: u16,
    },
    /// A sign of ambiguous width (Unicode's East Asian Width) takes two cells, or one.
    Ambiguous {
        /// Two.
        wide: bool,
    },
    /// A family of three people, joined to one sign, takes two cells, or more.
    Family {
        /// Two.
        joined: bool,
    },
    /// Its status: it has read everything that was written before the question.
    Status,
    /// The user switched between light and dark (mode 2031).
    ColoursChanged,
}

/// Reads a whole control sequence with a private prefix (`ESC [ ? …`, without `<`); `None` for what nobody asked.
#[must_use]
pub fn private_csi(unit: &[u8]) -> Option<TerminalAnswer> {
    let body = unit.strip_prefix(b"\x1b[?")?;
    let (&last, params) = body.split_last()?;
    match last {
        b'u' => Some(TerminalAnswer::KittyKeyboard),
        b'c' => Some(TerminalAnswer::Attributes),
        b'n' if params.starts_with(b"997;") => Some(TerminalAnswer::ColoursChanged),
        b'y' => {
            let text = std::str::from_utf8(params.strip_suffix(b"$")?).ok()?;
            let (number, value) = text.split_once(';')?;
            // 1 set, 2 reset; 0 not recognised, 3 and 4 permanently set or reset.
            Some(TerminalAnswer::Mode { number: number.parse().ok()?, usable: matches!(value, "1" | "2") })
        }
        _ => None,
    }
}

/// Sixel support in device attributes (`ESC [ ? …;4;… c`).
#[must_use]
pub fn sixel(unit: &[u8]) -> Option<TerminalAnswer> {
    let params = unit.strip_prefix(b"\x1b[?")?.strip_suffix(b"c")?;
    // The first one is the level of the terminal.
    params.split(|byte| *byte == b';').skip(1).any(|one| one == b"4").then_some(TerminalAnswer::Sixel)
}

/// Reads the report that the terminal is well (DSR 5); `None` for anything else.
#[must_use]
pub fn status(unit: &[u8]) -> Option<TerminalAnswer> {
    (unit == b"\x1b[0n").then_some(TerminalAnswer::Status)
}

/// Reads a report of the window (`ESC [ … t`); `None` for what nobody asked.
#[must_use]
pub fn window(unit: &[u8]) -> Option<TerminalAnswer> {
    let text = std::str::from_utf8(unit.strip_prefix(b"\x1b[6;")?.strip_suffix(b"t")?).ok()?;
    let (height, width) = text.split_once(';')?;
    Some(TerminalAnswer::Cell { width: width.parse().ok()?, height: height.parse().ok()? })
}

/// Reads the text of an APC (between `ESC _` and its end); `None` for what nobody asked.
#[must_use]
pub fn apc(text: &[u8]) -> Option<TerminalAnswer> {
    let text = std::str::from_utf8(text.strip_prefix(b"G")?).ok()?;
    let (keys, said) = text.split_once(';')?;
    (keys.split(',').any(|key| key == "i=31") && said == "OK").then_some(TerminalAnswer::Graphics)
}

/// Reads the text of a DCS (between `ESC P` and its end); `None` for what nobody asked.
#[must_use]
pub fn dcs(text: &[u8]) -> Option<TerminalAnswer> {
    let says = std::str::from_utf8(text.strip_prefix(b">|")?).ok()?;
    Some(TerminalAnswer::Program(TerminalProgram::named(says)))
}

/// Reads the text of an OSC (between `ESC ]` and its end); `None` for what nobody asked.
#[must_use]
pub fn osc(text: &[u8]) -> Option<TerminalAnswer> {
    let text = std::str::from_utf8(text).ok()?;
    Some(TerminalAnswer::Background(colour(text.strip_prefix("11;")?)?))
}

/// Reads a report of the cursor in a row where one sign was written to see how wide it is; `None` for anything else. It is
/// never the first row, because there a report has the form of F3 with modifiers.
#[must_use]
pub fn width_of_a_sign(unit: &[u8]) -> Option<TerminalAnswer> {
    match unit {
        b"\x1b[3;3R" => Some(TerminalAnswer::Family { joined: true }),
        [0x1b, b'[', b'3', b';', b'1'..=b'9', b'R'] => Some(TerminalAnswer::Family { joined: false }),
        b"\x1b[2;2R" => Some(TerminalAnswer::Ambiguous { wide: false }),
        b"\x1b[2;3R" => Some(TerminalAnswer::Ambiguous { wide: true }),
        _ => None,
    }
}

/// True if the bytes after an ESC begin with a complete answer, which no hands type at once.
#[must_use]
pub fn is_rest(bytes: &[u8]) -> bool {
    let is_param = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':' | b'$');
    match bytes {
        [b'[', b'?' | b'>' | b'=', rest @ ..] => {
            let end = rest.iter().find(|byte| !is_param(byte));
            matches!(end, Some(b'c' | b'u' | b'y' | b'n'))
        }
        [b'[', b'0', b'n', ..] => true,
        // The cursor, and the size of a cell.
        [b'[', b'2', b';', b'2' | b'3', b'R', ..] | [b'[', b'3', b';', b'1'..=b'9', b'R', ..] => true,
        [b'[', b'6', b';', rest @ ..] => rest.iter().find(|byte| !is_param(byte)) == Some(&b't'),
        [b']', b'0'..=b'9', rest @ ..] | [b'P' | b'_', rest @ ..] => {
            rest.contains(&0x07) || rest.windows(2).any(|two| two == b"\x1b\\")
        }
        _ => false,
    }
}

/// `rgb:RR/GG/BB` with one to four hex digits a channel (also `rgba:`), or `#RRGGBB`.
fn colour(text: &str) -> Option<Rgb> {
    if let Some(hex) = text.strip_prefix('#') {
        let channel = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        return Some(Rgb(channel(0)?, channel(2)?, channel(4)?));
    }
    let channels = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = channels.split('/').map(|hex| {
        let value = u32::from_str_radix(hex, 16).ok()?;
        let most = (1_u32 << (4 * u32::try_from(hex.len()).ok().filter(|n| (1..=4).contains(n))?)) - 1;
        u8::try_from(value * 255 / most).ok()
    });
    Some(Rgb(parts.next()??, parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        for (unit, answer) in [
            ("\x1b[?1u", Some(TerminalAnswer::KittyKeyboard)),
            ("\x1b[?62;22c", Some(TerminalAnswer::Attributes)),
            ("\x1b[?2026;2$y", Some(TerminalAnswer::Mode { number: 2026, usable: true })),
            ("\x1b[?2026;0$y", Some(TerminalAnswer::Mode { number: 2026, usable: false })),
            ("\x1b[?2026;4$y", Some(TerminalAnswer::Mode { number: 2026, usable: false })),
            ("\x1b[?997;1n", Some(TerminalAnswer::ColoursChanged)),
            ("\x1b[?y", None),
            ("\x1b[>0;95;0c", None),
        ] {
            assert_eq!(private_csi(unit.as_bytes()), answer, "{unit:?}");
        }
        for (text, answer) in [
            ("11;rgb:ffff/8080/0000", Some(Rgb(255, 128, 0))),
            ("11;rgb:1e/1e/2e", Some(Rgb(30, 30, 46))),
            ("11;rgba:f/0/0/8", Some(Rgb(255, 0, 0))),
            ("11;#102030", Some(Rgb(16, 32, 48))),
            ("10;rgb:1e/1e/2e", None),
            ("11;rgb:1e/1e", None),
            ("11;rgb:12345/1/1", None),
            ("11;#1", None),
            ("11;#ääää", None),
        ] {
            assert_eq!(osc(text.as_bytes()), answer.map(TerminalAnswer::Background), "{text}");
        }
    }

    #[test]
    fn what_it_says_of_pictures_is_read() {
        for (unit, answer) in
            [("\x1b[?62;4;22c", true), ("\x1b[?4;22c", false), ("\x1b[?62;22;4c", true), ("\x1b[?62;44c", false)]
        {
            assert_eq!(sixel(unit.as_bytes()), answer.then_some(TerminalAnswer::Sixel), "{unit:?}");
        }
        assert_eq!(window(b"\x1b[6;20;10t"), Some(TerminalAnswer::Cell { width: 10, height: 20 }));
        for unit in ["\x1b[8;24;80t", "\x1b[6;20t", "\x1b[6;-1;10t", "\x1b[6;99999;1t"] {
            assert_eq!(window(unit.as_bytes()), None, "{unit:?}");
        }
        assert_eq!(apc(b"Gi=31;OK"), Some(TerminalAnswer::Graphics));
        for text in ["Gi=31;ENOTSUPPORTED", "Gi=1;OK", "i=31;OK", "Gi=31", ""] {
            assert_eq!(apc(text.as_bytes()), None, "{text}");
        }
        assert_eq!(dcs(b">|kitty(0.42.1)"), Some(TerminalAnswer::Program(TerminalProgram::Kitty)));
        assert_eq!(dcs(b"1$r0m"), None);
    }

    #[test]
    fn light_and_dark_backgrounds_are_told_apart() {
        for (rgb, light) in [
            (Rgb(255, 255, 255), true),
            (Rgb(253, 246, 227), true),
            (Rgb(0, 0, 0), false),
            (Rgb(30, 30, 46), false),
            (Rgb(0, 43, 54), false),
        ] {
            assert_eq!(rgb.is_light(), light, "{rgb:?}");
        }
    }
}
