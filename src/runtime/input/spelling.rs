//! Spellings of keys that termina reads as something else, or not at all, in the spelling that it knows.
//!
//! Sources: xterm's ctlseqs (modifyOtherKeys, the keypad in application mode), rxvt's reference, the kitty keyboard protocol.

/// The usual spelling of one whole sequence, when it has another one.
#[must_use]
pub fn usual(unit: &[u8]) -> Option<Vec<u8>> {
    match unit {
        [0x1b, b'O', last] => return application(*last),
        [byte @ 0x1c..=0x1f] => return Some(upper_control(*byte, 5)),
        [0x1b, byte @ 0x1c..=0x1f] => return Some(upper_control(*byte, 7)),
        _ => {}
    }
    let body = std::str::from_utf8(unit.strip_prefix(b"\x1b[")?).ok()?;
    other_key(body).or_else(|| f3(body)).or_else(|| rxvt(body)).or_else(|| other_layout(body))
}

/// Bytes 0x1c to 0x1f are Ctrl with `\` `]` `^` and `_` on keyboards, and on a VT220 with 4 to 7 as well.
fn upper_control(byte: u8, modifiers: u8) -> Vec<u8> {
    format!("\x1b[{};{modifiers}u", byte + 0x40).into_bytes()
}

/// The keypad in application mode, which is not asked for (so its Enter is Konsole's Shift+Enter); and rxvt's arrows with
/// Ctrl.
fn application(last: u8) -> Option<Vec<u8>> {
    let text = match last {
        b'M' => "\x1b[13;2u",
        b'I' => "\t",
        b'X' => "=",
        b'j'..=b'o' => return Some(vec![b'*' + (last - b'j')]),
        b'p'..=b'y' => return Some(vec![b'0' + (last - b'p')]),
        b'a'..=b'd' => return Some(format!("\x1b[1;5{}", char::from(last.to_ascii_uppercase())).into_bytes()),
        _ => return None,
    };
    Some(text.into())
}

/// xterm's modifyOtherKeys: `CSI 27;m;k~`.
fn other_key(body: &str) -> Option<Vec<u8>> {
    let (modifiers, code) = body.strip_prefix("27;")?.strip_suffix('~')?.split_once(';')?;
    Some(format!("\x1b[{code};{modifiers}u").into_bytes())
}

/// F3 with modifiers (`CSI 1;mR`), which is also the form of a cursor report that is never asked for here; without any
/// (`CSI R`) some terminals send it too.
fn f3(body: &str) -> Option<Vec<u8>> {
    if body == "R" {
        return Some(b"\x1b[13~".to_vec());
    }
    let modifiers = body.strip_prefix("1;")?.strip_suffix('R')?;
    Some(format!("\x1b[13;{modifiers}~").into_bytes())
}

/// rxvt tells modifiers by the last byte: `^` Ctrl, `$` Shift, `@` both; arrows with Shift are small letters.
fn rxvt(body: &str) -> Option<Vec<u8>> {
    if let "a" | "b" | "c" | "d" = body {
        return Some(format!("\x1b[1;2{}", body.to_ascii_uppercase()).into_bytes());
    }
    let number = body.strip_suffix(['^', '$', '@'])?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let modifiers = match body.as_bytes().last()? {
        b'^' => 5,
        b'$' => 2,
        _ => 6,
    };
    Some(format!("\x1b[{number};{modifiers}~").into_bytes())
}

/// A key of a layout without Latin letters, with Ctrl or Alt: the terminal names the key that stands there on the usual
/// layout too (`CSI 1092::97;5u`), and that is the one that the keymap means.
fn other_layout(body: &str) -> Option<Vec<u8>> {
    let (keys, rest) = body.strip_suffix('u')?.split_once(';')?;
    let mut keys = keys.split(':');
    let (key, base) = (keys.next()?.parse::<u32>().ok()?, keys.nth(1)?);
    let held = rest.split([':', ';']).next()?.parse::<u32>().ok()?.checked_sub(1)?;
    // Ctrl is 4, Alt is 2. Keys without a character of their own lie in a private area.
    let is_text = key > 127 && !(0xe000..=0xf8ff).contains(&key);
    (is_text && held & 6 != 0 && !base.is_empty()).then(|| format!("\x1b[{base};{rest}u").into_bytes())
}
