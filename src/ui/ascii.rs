//! Stand-ins for signs that a terminal of the ASCII set does not draw, or draws in another width than they take here. They
//! stand in the cells alone: texts are searched and copied as they are. Letters of every script stay.

use super::cells;
use ratatui::buffer::Buffer;

/// Stand-ins of two cells for emoji that carry a meaning; in one cell the first character stands alone.
const EMOJI: &[(&str, &str)] = &[
    ("✅☑✔🆗👌", "ok"),
    ("❌❎✖🚫⛔", "x "),
    ("⚠❗❕‼🚨", "! "),
    ("❓❔", "? "),
    ("👍💯", "+1"),
    ("👎", "-1"),
    ("😀😃😄😁😊🙂😎🤗", ":)"),
    ("😂🤣😆", ":D"),
    ("😢😭🙁😞", ":("),
    ("😉", ";)"),
    ("❤💙💚💛💜🧡🖤", "<3"),
    ("⭐🌟✨🎉🎊🔥🏆", "* "),
    ("🔴🟠🟡🟢🔵🟣⚪⚫🟤", "o "),
    ("🔺⬆🔼📈", "^ "),
    ("🔻⬇🔽📉", "v "),
    ("➡▶⏩👉", "> "),
    ("⬅◀⏪👈", "< "),
    ("🔍🔎", "? "),
    ("🐛🐞", "% "),
];

/// Stand-ins of one cell.
const SIGNS: &[(&str, char)] = &[
    ("·•‣◦∙●◉", '*'),
    ("…", '~'),
    ("–—―−‐‑─━┄┈═╌", '-'),
    ("│┃┆┊║▌▎▏▕╎", '|'),
    ("┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╯╰", '+'),
    ("“”„«»″", '"'),
    ("‘’‚‹›′", '\''),
    ("→▸▹►⇒⟶", '>'),
    ("←◂◃◄⇐", '<'),
    ("↑▴△▲⇑", '^'),
    ("↓▾▽▼⇓", 'v'),
    ("✓", 'v'),
    ("✗✘×", 'x'),
    ("◆◇○◌◐◑■□▪▫", 'o'),
    ("█▓▒░", '#'),
    ("★☆", '*'),
    ("≈", '~'),
    ("≤", '<'),
    ("≥", '>'),
    ("≠", '#'),
];

/// Stand-in for an emoji that is not named above.
const OTHER: &str = "[]";

/// True for a sign that is drawn as a picture.
fn is_emoji(sign: &str) -> bool {
    let pictures = |c: char| matches!(u32::from(c), 0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x2300..=0x23FF | 0x20E3);
    sign.chars().any(pictures)
}

/// ASCII for a sign, as many cells wide; `None` for one that stays.
fn stand_in(sign: &str) -> Option<&'static str> {
    let first = sign.chars().next()?;
    let known = |table: &[(&'static str, &'static str)]| {
        table.iter().find(|(signs, _)| signs.contains(first)).map(|(_, ascii)| *ascii)
    };
    known(EMOJI).or_else(|| is_emoji(sign).then_some(OTHER))
}

/// Replaces the signs of all cells.
pub(super) fn replace(buf: &mut Buffer) {
    let area = buf.area;
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let Some(cell) = buf.cell_mut((x, y)) else { continue };
            let sign = cell.symbol();
            if sign.is_ascii() {
                continue;
            }
            let wide = cells::width(sign);
            let first = sign.chars().next().unwrap_or(' ');
            if let Some((_, ascii)) = SIGNS.iter().find(|(signs, _)| wide == 1 && signs.contains(first)) {
                cell.set_char(*ascii);
            } else if let Some(ascii) = stand_in(sign) {
                let (mut chars, style) = (ascii.chars(), cell.style());
                cell.set_char(chars.next().unwrap_or('?'));
                if let Some(next) = buf.cell_mut((x + 1, y)).filter(|_| wide == 2 && x + 1 < area.right()) {
                    // The second cell of a wide sign has no style of its own.
                    next.set_char(chars.next().unwrap_or(' ')).set_style(style);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn shown(text: &str) -> String {
        let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 40, 1));
        buf.set_string(0, 0, text, Style::default());
        replace(&mut buf);
        (0..40).map(|x| buf[(x, 0)].symbol()).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn signs_have_stand_ins_of_their_width_and_letters_stay() {
        for (text, want) in [
            ("Fix ✅ login… 🎉 done", "Fix ok login~ *  done"),
            ("a · b — “c” → d", "a * b - \"c\" > d"),
            ("🦀|❤️|👩‍👩‍👧|", "[]|<3|[]|"),
            ("Grüße, Ελλάδα, Привет", "Grüße, Ελλάδα, Привет"),
            ("⚠ careful", "! careful"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
        assert!(shown("漢字 ✅").starts_with('漢'), "{}", shown("漢字 ✅"));
    }

    #[test]
    fn no_table_names_a_sign_twice_and_all_stand_ins_fit() {
        let mut seen = std::collections::HashSet::new();
        let all = EMOJI.iter().map(|(signs, _)| *signs).chain(SIGNS.iter().map(|(signs, _)| *signs));
        for sign in all.flat_map(str::chars) {
            assert!(seen.insert(sign), "{sign}");
        }
        assert!(EMOJI.iter().all(|(_, ascii)| ascii.len() == 2 && ascii.is_ascii()));
        assert!(SIGNS.iter().all(|(_, ascii)| ascii.is_ascii()));
    }
}
