//! From what the terminal sends to what the screen understands: one normal form for every spelling of a key.

use crate::app::msg::{Mouse, MouseKind};
use crate::keymap::key::{Code, Key, Mods};
use termina::event::{KeyCode, KeyEvent, Modifiers, MouseButton, MouseEvent, MouseEventKind};

/// The key as the screen knows it; `None` for keys that it has no name for (lone modifiers, media keys).
#[must_use]
pub fn key(event: &KeyEvent) -> Option<Key> {
    let mut mods = Mods::NONE;
    for (theirs, ours) in [
        (Modifiers::CONTROL, Mods::CTRL),
        (Modifiers::ALT, Mods::ALT),
        (Modifiers::META, Mods::ALT),
        (Modifiers::SHIFT, Mods::SHIFT),
    ] {
        if event.modifiers.contains(theirs) {
            mods = mods.with(ours);
        }
    }
    // Super and Hyper belong to the window system: without them it would be another key.
    if event.modifiers.intersects(Modifiers::SUPER | Modifiers::HYPER) {
        return None;
    }
    let code = match event.code {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => {
            mods = mods.with(Mods::SHIFT);
            Code::Tab
        }
        KeyCode::Escape => Code::Esc,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::Insert => Code::Insert,
        KeyCode::Delete => Code::Delete,
        KeyCode::Function(n @ 1..=12) => Code::F(n),
        _ => return None,
    };
    Some(Key::new(code, mods))
}

/// The mouse as the screen knows it; `None` for what it does not use.
#[must_use]
pub fn mouse(event: &MouseEvent) -> Option<Mouse> {
    let kind = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => MouseKind::Press,
        MouseEventKind::Drag(MouseButton::Left) => MouseKind::Drag,
        MouseEventKind::Up(MouseButton::Left) => MouseKind::Release,
        MouseEventKind::ScrollUp => MouseKind::WheelUp,
        MouseEventKind::ScrollDown => MouseKind::WheelDown,
        _ => return None,
    };
    Some(Mouse { kind, col: event.column, row: event.row })
}

#[cfg(test)]
mod tests {
    use super::super::Input;
    use super::super::reader::InputReader;
    use std::time::{Duration, Instant};

    /// The names of the keys in some bytes.
    fn names(bytes: &str) -> String {
        let (mut reader, now) = (InputReader::default(), Instant::now());
        let mut inputs = reader.feed(bytes.as_bytes(), now);
        inputs.extend(reader.silence(now + Duration::from_secs(2)));
        let name = |input: &Input| match input {
            Input::Key(event) => super::key(event).map(|key| key.to_string()),
            other => Some(format!("{other:?}")),
        };
        inputs.iter().filter_map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_spelling_of_a_key_is_one_key() {
        for (name, spellings) in [
            ("shift+enter", &["\x1b[13;2u", "\x1b[27;2;13~"][..]),
            ("alt+enter", &["\x1b\r", "\x1b[13;3u", "\x1b[27;3;13~"]),
            ("ctrl+j", &["\n", "\x1b[106;5u", "\x1b[27;5;106~"]),
            ("shift+tab", &["\x1b[Z", "\x1b[9;2u", "\x1b[27;2;9~"]),
            ("esc", &["\x1b", "\x1b[27u"]),
            ("ctrl+c", &["\x03", "\x1b[99;5u", "\x1b[27;5;99~"]),
            ("ctrl+x", &["\x18", "\x1b[120;5u", "\x1b[120;6u"]),
            ("A", &["A", "\x1b[97;2u", "\x1b[27;2;65~"]),
            ("alt+p", &["\x1bp", "\x1b[112;3u"]),
            ("alt+1", &["\x1b1", "\x1b[49;3u"]),
            ("ctrl+_", &["\x1f", "\x1b[95;5u", "\x1b[45:95;6u"]),
            ("ctrl+7", &["\x1b[55;5u"]),
            ("alt+<", &["\x1b<", "\x1b[44:60;4u"]),
            ("ctrl+\\", &["\x1c", "\x1b[92;5u"]),
            ("up", &["\x1b[A", "\x1bOA"]),
            ("alt+up", &["\x1b[1;3A", "\x1b\x1b[A"]),
            ("f1", &["\x1bOP", "\x1b[11~", "\x1b[[A", "\x1b[P"]),
            ("f3", &["\x1bOR", "\x1b[13~"]),
            ("shift+f3", &["\x1b[1;2R", "\x1b[13;2~"]),
            ("space", &[" "]),
            ("ctrl+space", &["\0", "\x1b[32;5u"]),
            ("backspace", &["\x7f", "\x1b[127u"]),
            ("é", &["é"]),
        ] {
            for spelling in spellings {
                assert_eq!(names(spelling), name, "{spelling:?}");
            }
        }
    }

    #[test]
    fn keys_of_the_window_system_and_lone_modifiers_are_no_keys() {
        for bytes in ["\x1b[97;9u", "\x1b[57441;2u", "\x1b[57428u", "\x1b[97;1:3u"] {
            assert_eq!(names(bytes), "", "{bytes:?}");
        }
    }
}
