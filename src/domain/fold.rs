//! Text as it is compared when somebody searches: spelling counts, its dress does not.
//!
//! | in the text | compared as |
//! |---|---|
//! | capitals of any script, `ß`, `ſ`, final `ς` | their small letters: `ss`, `s`, `σ` |
//! | accents and other marks on letters, as one character with it or behind it | nothing: `é` is `e` |
//! | vowel points of Hebrew and Arabic, soft hyphens, joiners, variation selectors | nothing |
//! | full and half width, ligatures, circled and raised characters | the plain ones: `Ａ` is `a`, `ｶ` is `カ`, `ﬁ` is `fi` |
//! | Hangul syllables | their letters, so that what is still being typed is found |
//! | blanks of any kind, newlines too | one blank each |
//! | curly quotes, long dashes | `'`, `"`, `-` |
//!
//! The marks that make `は` to `ば` stay, because they make another letter: see [`find`]. Each character is folded for
//! itself, so the fold of two texts one after the other is the fold of the one and then that of the other. A filter
//! over undecoded bytes can rely on that. It is compatibility decomposition (NFKD) and then case; the table of each
//! 128 characters is made when the first of them is met.

use icu_normalizer::DecomposingNormalizerBorrowed;
use memchr::memmem;
use std::sync::OnceLock;

/// Characters of a table.
const PAGE: usize = 128;
/// The fold is nothing.
const GONE: u32 = 0x11_0000;
/// The fold is several characters, found by the other bits: place in the page's `more`, and their length in bytes.
const MORE: u32 = 0x8000_0000;
/// The voicing marks of kana, as they are in folded text.
const VOICED: [&[u8]; 2] = ["\u{3099}".as_bytes(), "\u{309a}".as_bytes()];

struct FoldPage {
    folds: [u32; PAGE],
    more: String,
}

static PAGES: [OnceLock<Box<FoldPage>>; 0x11_0000 / PAGE] = [const { OnceLock::new() }; 0x11_0000 / PAGE];

/// The folded text, as bytes to be searched with [`find`].
#[must_use]
pub fn fold(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    fold_into(text.as_bytes(), &mut out);
    out
}

/// Appends the fold of `raw`. Bytes that are no UTF-8 count as U+FFFD.
pub fn fold_into(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while !rest.is_empty() {
        let plain = plain_length(rest);
        out.extend(rest[..plain].iter().map(|byte| fold_ascii(*byte)));
        rest = &rest[plain..];
        while let Some(first) = rest.first().filter(|byte| !byte.is_ascii()) {
            // Most Chinese characters fold to themselves, so they need no decoding.
            if let [0xE4..=0xE9, second @ 0x80..=0xBF, third @ 0x80..=0xBF, ..] = rest
                && (*first, *second) >= (0xE4, 0xB8)
                && (*first, *second) <= (0xE9, 0xBE)
            {
                out.extend_from_slice(&[*first, *second, *third]);
                rest = &rest[3..];
                continue;
            }
            let (c, length) = decode(rest);
            fold_char(c, out);
            rest = &rest[length..];
        }
    }
}

/// Position of the folded `word` in the folded `text`, from byte `from` on. A match that would end
/// between a kana and its voicing mark does not count.
#[must_use]
pub fn find(text: &[u8], word: &memmem::Finder<'_>, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = from + word.find(text.get(from..)?)?;
        let behind = &text[at + word.needle().len()..];
        if word.needle().is_empty() || !VOICED.iter().any(|mark| behind.starts_with(mark)) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Start in `source` of the character that byte `at` of its fold was made of.
#[must_use]
pub fn place(source: &str, at: usize) -> usize {
    let mut fold = Vec::with_capacity(64);
    let mut length = 0;
    for (place, c) in source.char_indices() {
        fold.clear();
        fold_char(c, &mut fold);
        length += fold.len();
        if length > at {
            return place;
        }
    }
    source.len()
}

/// A folded text that knows where each of its bytes came from.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The folded text.
    pub text: Vec<u8>,
    /// Start in the source of each byte's character.
    from: Vec<usize>,
    /// End of each byte's character in the source, including characters after it that fold to nothing.
    length: usize,
}

impl Mapped {
    /// Folds a text.
    #[must_use]
    pub fn new(source: &str) -> Self {
        let mut text = Vec::with_capacity(source.len());
        let mut from = Vec::with_capacity(source.len());
        for (at, c) in source.char_indices() {
            fold_char(c, &mut text);
            from.resize(text.len(), at);
        }
        Self { text, from, length: source.len() }
    }

    /// The bytes of the source from which the folded bytes came, whole characters with the marks on them.
    #[must_use]
    pub fn source(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.from.get(start).copied().unwrap_or(self.length);
        let last = end.checked_sub(1).and_then(|last| self.from.get(last)).copied();
        // A match that ends within what one character became takes the whole of it.
        let next = self.from.get(end..).unwrap_or_default().iter().find(|at| Some(**at) != last);
        (first, next.copied().unwrap_or(self.length))
    }
}

/// Bytes of ASCII at the beginning.
fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..at + 16) {
        if !chunk.is_ascii() {
            break;
        }
        at += 16;
    }
    at + bytes[at..].iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len() - at)
}

fn fold_ascii(byte: u8) -> u8 {
    let lower = byte | (u8::from(byte.wrapping_sub(b'A') < 26) << 5);
    if byte.wrapping_sub(b'\t') < 5 { b' ' } else { lower }
}

/// The first character of bytes that do not begin with ASCII, and its length.
fn decode(bytes: &[u8]) -> (char, usize) {
    let low = |n: usize| bytes.get(n).filter(|b| **b & 0xC0 == 0x80).map(|b| u32::from(b & 0x3F));
    let first = u32::from(bytes.first().copied().unwrap_or(0));
    let (value, length, least) = match first {
        0xC2..=0xDF => (low(1).map(|a| (first & 0x1F) << 6 | a), 2, 0x80),
        0xE0..=0xEF => (low(1).zip(low(2)).map(|(a, b)| (first & 0x0F) << 12 | a << 6 | b), 3, 0x800),
        0xF0..=0xF4 => {
            let three = low(1).zip(low(2)).zip(low(3));
            (three.map(|((a, b), c)| (first & 0x07) << 18 | a << 12 | b << 6 | c), 4, 0x1_0000)
        }
        _ => (None, 1, 0),
    };
    match value.filter(|value| *value >= least).and_then(char::from_u32) {
        Some(c) => (c, length),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn fold_char(c: char, out: &mut Vec<u8>) {
    if let Ok(byte @ 0..=0x7F) = u8::try_from(c) {
        out.push(fold_ascii(byte));
        return;
    }
    let code = c as usize;
    let Some(page) = PAGES.get(code / PAGE).map(|page| page.get_or_init(|| page_of(code / PAGE))) else { return };
    let entry = page.folds[code % PAGE];
    if entry & MORE != 0 {
        let (at, length) = ((entry & !MORE) as usize >> 8, entry as usize & 0xFF);
        out.extend_from_slice(page.more.as_bytes().get(at..at + length).unwrap_or_default());
    } else if let Some(c) = char::from_u32(entry) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn page_of(number: usize) -> Box<FoldPage> {
    let mut page = Box::new(FoldPage { folds: [GONE; PAGE], more: String::new() });
    let mut fold = String::new();
    for (place, code) in (number * PAGE..(number + 1) * PAGE).enumerate() {
        let Some(c) = u32::try_from(code).ok().and_then(char::from_u32) else { continue };
        fold.clear();
        slowly(c, &mut fold);
        let mut chars = fold.chars();
        page.folds[place] = match (chars.next(), chars.next()) {
            (None, _) => GONE,
            (Some(one), None) => u32::from(one),
            _ => {
                let entry = MORE | (page.more.len() << 8 | fold.len()) as u32;
                page.more.push_str(&fold);
                entry
            }
        };
    }
    page
}

/// Definition of a fold, from which the tables are made.
fn slowly(c: char, out: &mut String) {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(std::iter::once(c));
    for c in decomposed.filter(|c| !is_dropped(*c)) {
        match c {
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' => out.push('\''),
            '\u{201c}'..='\u{201f}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            _ if c.is_whitespace() => out.push(' '),
            // Up and down again: that makes one of the letters whose capital is the same, such as σ and ς.
            _ => out.extend(c.to_uppercase().flat_map(char::to_lowercase).filter(|c| !is_dropped(*c))),
        }
    }
}

fn is_dropped(c: char) -> bool {
    matches!(c,
        // Marks on Latin, Greek and Cyrillic letters and on symbols.
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
        // Points of Hebrew and Arabic, and the stroke that only makes a word longer.
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        // What nobody sees.
        | '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(text: &str) -> String {
        String::from_utf8(fold(text)).unwrap()
    }

    #[test]
    fn dress_does_not_count() {
        for (one, other) in [
            ("STRASSE", "Straße"),
            ("CAFÉ", "cafe\u{301}"),
            ("cafe", "café"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ПРИВЕТ", "привет"),
            ("kelvin", "\u{212a}elvin"),
            ("resist", "re\u{17f}i\u{17f}t"),
            ("ISTANBUL", "İstanbul"),
            ("ＡＢＣ１２３", "abc123"),
            ("ガギグ", "ｶﾞｷﾞｸﾞ"),
            ("ばんごう", "は\u{3099}んこ\u{3099}う"),
            ("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
            ("office ﬁle", "oﬃce file"),
            ("don't \"say\" it-", "don’t “say” it—"),
            ("a b", "a\u{a0}b"),
            ("a b", "a\u{3000}b"),
            ("a b", "a\nb"),
            ("hyphen", "hy\u{ad}phen"),
            ("שלום", "שָׁלוֹם"),
            ("محمد", "مُحَمَّد"),
            ("❤", "❤\u{fe0f}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        for (one, other) in [("は", "ば"), ("漢", "汉"), ("a", "b"), ("का", "की"), ("ｶ", "ｷ")] {
            assert_ne!(folded(one), folded(other), "{one} {other}");
        }
        assert_eq!(folded("漢字 😀"), "漢字 😀");
    }

    #[test]
    fn a_kana_without_its_mark_is_another_one() {
        let find = |text: &str, word: &str| super::find(&fold(text), &memmem::Finder::new(&fold(word)), 0);
        assert_eq!(find("ばは", "は"), Some("は\u{3099}".len()));
        assert_eq!(find("ばぱ", "は"), None);
        assert_eq!(find("ばんごう", "ん"), Some(6));
        assert!(find("한국어", "하").is_some(), "a syllable that is still being typed");
    }

    #[test]
    fn bytes_that_are_no_text_count_as_the_replacement_character() {
        for bytes in
            [&b"a\xffb"[..], b"\xe4\xb8", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"x\xc0\xafy", b"\xe4\xb8x"]
        {
            let mut out = Vec::new();
            fold_into(bytes, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains('\u{fffd}'), "{bytes:?} {text}");
            let letters = |text: &str| text.chars().filter(char::is_ascii).collect::<String>();
            assert_eq!(letters(&text), letters(&String::from_utf8_lossy(bytes)));
        }
    }

    #[test]
    fn the_source_of_a_match_is_whole_characters_with_their_marks() {
        let source = "x Straße cafe\u{301}!";
        let mapped = Mapped::new(source);
        let at = |word: &str| {
            let at = memmem::find(&mapped.text, word.as_bytes()).unwrap();
            let (start, end) = mapped.source(at, at + word.len());
            &source[start..end]
        };
        assert_eq!(at("strasse"), "Straße");
        assert_eq!(at("stras"), "Straß");
        assert_eq!(at("cafe"), "cafe\u{301}");
        assert_eq!(at("!"), "!");
    }

    proptest! {
        #[test]
        fn each_character_is_folded_for_itself(a in "\\PC{0,20}", b in "\\PC{0,20}") {
            let both = fold(&format!("{a}{b}"));
            prop_assert_eq!(&both, &[fold(&a), fold(&b)].concat());
            prop_assert_eq!(&Mapped::new(&format!("{a}{b}")).text, &both);
            let mut slow = String::new();
            a.chars().for_each(|c| slowly(c, &mut slow));
            prop_assert_eq!(folded(&a), slow);
            let mapped = Mapped::new(&a);
            for at in 0..mapped.text.len() {
                prop_assert_eq!(place(&a, at), mapped.source(at, at + 1).0);
            }
        }
    }
}
