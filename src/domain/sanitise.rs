//! The one sanitiser for text that lisle did not write: models, tools, file names, titles, servers.
//!
//! Everything of that kind passes here once before it becomes a span, a window title, a notification or clipboard
//! text. What a terminal would act on goes; what would deceive a reader is shown. Pure; widths and layout are others'
//! business.
//!
//! - Escape sequences go whole, with their payload: CSI, OSC, DCS, SOS, PM, APC, screen's title and two-character ones,
//!   also in their 8-bit forms. One without an end reaches to the end of its line.
//! - Other control characters go, except newline and tab. `\r\n` is a newline. Text behind a lone `\r` or behind
//!   backspaces replaces what it would overwrite on a terminal: of a progress line the last state stays, of a man page's
//!   overstrikes the letter.
//! - What is shown to be decided on, or tells what ran, goes through [`reveal`] instead, or [`reveal_line`] for one line:
//!   there nothing is taken away.
//! - Characters that turn the direction of text are shown as `⟦U+202E⟧`. Invisible ones go, except joiners and variation
//!   selectors where scripts and emoji need them.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar;

/// Bytes that a string sequence (OSC, DCS …) may take before it counts as one without an end.
const PAYLOAD: usize = 1 << 20;
/// Bytes that the parameters of a CSI sequence may take.
const PARAMETERS: usize = 4096;
/// Characters without a width of their own that may follow one letter; more only pile up in its cell.
const CLUSTER: usize = 24;
/// The same in a text for a decision: terminals paint what piles up over the lines above. No script needs more.
const DECIDED_CLUSTER: usize = 8;

const ESC: u8 = 0x1b;

/// Text of any number of lines without anything that a terminal would act on; newlines and tabs stay.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_plain(text) { Cow::Borrowed(text) } else { Cow::Owned(Cleaner::run(text).out) }
}

/// The same for a message: a carriage return ends a line there, and hides nothing of it. In the output of a command it begins
/// the line again, as on a terminal.
#[must_use]
pub fn clean_message(text: &str) -> Cow<'_, str> {
    if is_plain(text) { Cow::Borrowed(text) } else { Cow::Owned(Cleaner::run_in(text, Returns::End).out) }
}

/// The text with a newline for each carriage return, and one for each pair of both.
#[must_use]
pub fn lines_of_returns(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// The same on one line: each newline and tab is a blank.
#[must_use]
pub fn clean_line(text: &str) -> Cow<'_, str> {
    let cleaned = clean(text);
    if cleaned.contains(['\n', '\t']) { Cow::Owned(cleaned.replace(['\n', '\t'], " ")) } else { cleaned }
}

/// Text for a decision of the user: nothing is taken away, everything suspicious is visible. Control characters become
/// their pictures (`␛`, `␍`), invisible ones, blanks that are no blank, and those that turn the direction become
/// `⟦U+202E⟧`. Newlines and tabs stay.
#[must_use]
pub fn reveal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let (mut before, mut piled) = (None, 0);
    while let Some(c) = chars.next() {
        let base = before.replace(c);
        piled = if c.width() == Some(0) { piled + 1 } else { 0 };
        match c {
            '\n' | '\t' => out.push(c),
            // A selector of a picture's form belongs behind a sign, or into a key cap.
            '\u{fe0e}' | '\u{fe0f}' => {
                let is_sign = base.is_some_and(|base| base > '\u{a8}' && !base.is_alphanumeric() && !is_unseen(base));
                let is_cap =
                    base.is_some_and(|base| matches!(base, '0'..='9' | '#' | '*')) && chars.peek() == Some(&'\u{20e3}');
                if is_sign || is_cap { out.push(c) } else { mark(c, &mut |m| out.push(m)) }
            }
            '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀')),
            '\u{7f}' => out.push('␡'),
            _ if is_unseen(c) || piled > DECIDED_CLUSTER => mark(c, &mut |m| out.push(m)),
            _ => out.push(c),
        }
    }
    out
}

/// [`reveal`] on one line, so that no text of others can begin a line of its own: a newline becomes its picture (`␊`), a
/// tab a blank.
#[must_use]
pub fn reveal_line(text: &str) -> String {
    reveal(text).replace('\n', "␊").replace('\t', " ")
}

/// A path in a line of its own words: whoever named a file can neither begin a line nor hide a part of the name.
#[must_use]
pub fn reveal_path(path: &std::path::Path) -> String {
    reveal_line(&path.to_string_lossy())
}

/// JSON that shows what it holds wherever it is printed: characters that nobody sees, or that a terminal acts on, stand as
/// their numbers. It says the same as before.
#[must_use]
pub fn reveal_json(json: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| !c.is_ascii() && is_unseen(c);
    if !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A text that grows at its end, cleaned, with the places where it can be cut.
#[derive(Debug)]
pub struct Growing<'a> {
    /// The whole text, as [`clean`] gives it.
    pub text: Cow<'a, str>,
    /// Starts of lines that no later text can change: (offset in the source, offset in `text`),
    /// rising; `None` if the two are equal and every line start is one.
    pub cuts: Option<Vec<(usize, usize)>>,
}

impl Growing<'_> {
    /// The part of `text` that is whole lines which no later text can change.
    #[must_use]
    pub fn settled(&self) -> &str {
        let end = match &self.cuts {
            None => self.text.rfind('\n').map_or(0, |i| i + 1),
            Some(cuts) => cuts.last().map_or(0, |cut| cut.1),
        };
        self.text.get(..end).unwrap_or_default()
    }

    /// The offset in the source of a line begin in `text`, if the text may be cut there: what is behind gives, cleaned
    /// alone, the same as it does now.
    #[must_use]
    pub fn source(&self, offset: usize) -> Option<usize> {
        match &self.cuts {
            None => Some(offset),
            Some(_) if offset == 0 => Some(0),
            Some(cuts) => cuts.binary_search_by_key(&offset, |cut| cut.1).ok().and_then(|i| cuts.get(i)).map(|c| c.0),
        }
    }
}

/// Cleans a message that grows at its end: carriage returns end lines.
#[must_use]
pub fn clean_growing(text: &str) -> Growing<'_> {
    if is_plain(text) {
        return Growing { text: Cow::Borrowed(text), cuts: None };
    }
    let done = Cleaner::run_in(text, Returns::End);
    Growing { text: Cow::Owned(done.out), cuts: Some(done.cuts) }
}

/// Nothing in it needs a closer look.
fn is_plain(text: &str) -> bool {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return true;
    }
    text.chars().all(|c| match c {
        ' '..='~' | '\n' | '\t' => true,
        '\u{a1}'..='\u{2ff}' => c != '\u{ad}',
        _ => fate(c) == CharFate::Keep && c.width().unwrap_or(0) > 0,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharFate {
    Keep,
    Drop,
    Newline,
    Mark,
}

fn fate(c: char) -> CharFate {
    match c {
        '\n' | '\u{2028}' | '\u{2029}' => CharFate::Newline,
        '\t' => CharFate::Keep,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => CharFate::Mark,
        '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => CharFate::Drop,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{fdd0}'..='\u{fdef}' => CharFate::Drop,
        // Stands for a part of a picture.
        '\u{10eeee}' => CharFate::Drop,
        _ if c.is_control() || u32::from(c) & 0xfffe == 0xfffe => CharFate::Drop,
        _ => CharFate::Keep,
    }
}

/// A reader cannot see it, or not see what it does: direction, blanks that are no blank, joiners, control characters. These
/// are Unicode's `Default_Ignorable_Code_Point` and `Cf`, without the two selectors that follow pictures, and blanks.
pub(super) fn is_unseen(c: char) -> bool {
    !matches!(fate(c), CharFate::Keep | CharFate::Newline)
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{13455}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A character by its number: `⟦U+202E⟧`.
pub(super) fn mark(c: char, push: &mut dyn FnMut(char)) {
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = write!(text, "⟦U+{:04X}⟧", u32::from(c));
    text.chars().for_each(push);
}

/// Writes the cleaned text line by line, as a terminal would move through it.
#[derive(Default)]
struct Cleaner {
    out: String,
    /// Start of the current line in `out`.
    line: usize,
    /// A carriage return stands before the next character: it clears the line.
    returned: bool,
    /// Backspaces stand before the next character: it replaces as many.
    back: usize,
    cuts: Vec<(usize, usize)>,
}

/// Meaning of a carriage return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    /// It begins the line again, as on a terminal.
    Overwrite,
    /// It ends the line; a newline behind it is part of it.
    End,
}

impl Cleaner {
    fn run(text: &str) -> Self {
        Self::run_in(text, Returns::Overwrite)
    }

    fn run_in(text: &str, returns: Returns) -> Self {
        let mut me = Self { out: String::with_capacity(text.len()), ..Self::default() };
        let mut open = None;
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            if let Some(sequence) = sequence(text.as_bytes(), at, c) {
                if !sequence.settled && open.is_none() {
                    open = Some(at);
                }
                at = sequence.end;
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                continue;
            }
            at += c.len_utf8();
            match (c, fate(c)) {
                ('\r', _) if returns == Returns::End => {
                    // Another piece may begin with the newline.
                    match text.as_bytes().get(at) {
                        Some(b'\n') => {}
                        Some(_) => me.newline(at, open),
                        None => me.newline(at, Some(open.unwrap_or(0))),
                    }
                }
                ('\r', _) => (me.returned, me.back) = (true, 0),
                ('\u{8}', _) if !me.returned => me.back += 1,
                (_, CharFate::Newline) => me.newline(at, open),
                (_, CharFate::Keep) => me.push(c),
                (_, CharFate::Mark) => mark(c, &mut |m| me.push(m)),
                (_, CharFate::Drop) => {}
            }
        }
        me
    }

    fn newline(&mut self, source: usize, open: Option<usize>) {
        self.out.push('\n');
        self.line = self.out.len();
        (self.returned, self.back) = (false, 0);
        if open.is_none_or(|open| source <= open) {
            self.cuts.push((source, self.out.len()));
        }
    }

    fn push(&mut self, c: char) {
        let overwrites = self.returned || self.back > 0;
        if c != '\t' && c.width().unwrap_or(0) == 0 && (overwrites || !self.may_join(c)) {
            return;
        }
        if self.returned {
            self.out.truncate(self.line);
        }
        for _ in 0..self.back {
            // A letter goes together with the marks on it.
            while self.out.len() > self.line
                && self.out.pop().is_some_and(|gone| gone != '\t' && gone.width().unwrap_or(0) == 0)
            {}
        }
        (self.returned, self.back) = (false, 0);
        self.out.push(c);
    }

    /// True if a zero-width character may follow on the line: not twice the same kind, and not too many.
    fn may_join(&self, c: char) -> bool {
        let mut before = self.out.get(self.line..).unwrap_or_default().chars().rev().peekable();
        match before.peek() {
            Some(&last) if is_selector(c) && is_selector(last) => return false,
            Some('\u{200d}') if c == '\u{200d}' => return false,
            _ => {}
        }
        let mut count = 0;
        while let Some(b) = before.next() {
            if b.width() == Some(0) {
                count += 1;
            } else if before.peek() != Some(&'\u{200d}') {
                // A letter that no joiner ties to the one before begins the cluster.
                break;
            }
            if count >= CLUSTER {
                return false;
            }
        }
        true
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// An escape sequence: where it ends, and whether more text could move that end.
struct Sequence {
    end: usize,
    settled: bool,
}

fn sequence(bytes: &[u8], at: usize, c: char) -> Option<Sequence> {
    let second = at + c.len_utf8();
    Some(match c {
        '\u{9b}' => parameters(bytes, second),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => payload(bytes, second),
        '\u{1b}' => match bytes.get(second) {
            None => Sequence { end: second, settled: false },
            Some(b'[') => parameters(bytes, second + 1),
            Some(b']' | b'P' | b'X' | b'^' | b'_' | b'k') => payload(bytes, second + 1),
            Some(0x20..=0x2f) => {
                let end = skip(bytes, second, |b| matches!(b, 0x20..=0x2f));
                finish(bytes, end, |b| matches!(b, 0x30..=0x7e))
            }
            Some(0x30..=0x7e) => Sequence { end: second + 1, settled: true },
            Some(_) => Sequence { end: second, settled: true },
        },
        _ => return None,
    })
}

fn skip(bytes: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let count = bytes.get(from..).unwrap_or_default().iter().take(PARAMETERS).take_while(|b| wanted(**b)).count();
    from + count
}

fn finish(bytes: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> Sequence {
    match bytes.get(at) {
        Some(&b) if wanted(b) => Sequence { end: at + 1, settled: true },
        Some(_) => Sequence { end: at, settled: true },
        None => Sequence { end: at, settled: false },
    }
}

fn parameters(bytes: &[u8], from: usize) -> Sequence {
    let end = skip(bytes, from, |b| matches!(b, 0x20..=0x3f));
    finish(bytes, end, |b| matches!(b, 0x40..=0x7e))
}

/// The string of an OSC, DCS, SOS, PM or APC. Any other escape ends it, as it does in a terminal: so each byte is
/// looked at twice at most, whatever the text.
fn payload(bytes: &[u8], from: usize) -> Sequence {
    let done = |end| Sequence { end, settled: true };
    let mut at = from;
    let limit = bytes.len().min(from.saturating_add(PAYLOAD));
    let mut settled = limit < bytes.len();
    while at < limit {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(0x07 | 0x18 | 0x1a), _) => return done(at + 1),
            (Some(&ESC), Some(b'\\')) => return done(at + 2),
            (Some(&ESC), Some(_)) => return done(at),
            (Some(&ESC), None) => {
                settled = false;
                break;
            }
            (Some(0xc2), Some(0x9c)) => return done(at + 2),
            (Some(0xc2), Some(0x80..=0x9f)) => return done(at),
            _ => at += 1,
        }
    }
    let line = bytes.get(from..at).unwrap_or_default().iter().position(|b| *b == b'\n');
    Sequence { end: line.map_or(at, |n| from + n), settled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_that_pile_up_are_told_where_one_decides() {
        let shown = reveal(&format!("a{}b", "\u{301}".repeat(400)));
        assert_eq!(shown.matches('\u{301}').count(), DECIDED_CLUSTER);
        assert_eq!(shown.matches("⟦U+0301⟧").count(), 400 - DECIDED_CLUSTER);
        for script in ["สวัสดีน้ำ", "क्षत्रिय", "བསྒྲུབས", "한국어"]
        {
            assert_eq!(reveal(script), script);
        }
    }

    #[test]
    fn json_says_the_same_with_everything_in_sight() {
        let value = serde_json::json!({"a\u{202e}b": ["\u{9b}2J", "x\u{3164}y", "\u{e0100}", "ä 😀 \u{1b}"]});
        let text = value.to_string();
        let shown = reveal_json(&text);
        assert!(!shown.chars().any(|c| is_unseen(c) || c.is_control()), "{shown}");
        assert!(shown.contains("\\u202e") && shown.contains("\\udb40\\udd00") && shown.contains("ä 😀"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn a_path_begins_no_line_and_hides_nothing() {
        let path = std::path::Path::new("a\u{2028}lisle: all is well\n\u{1b}]0;x\u{7}/b\u{8}\u{8}c");
        assert_eq!(reveal_path(path), "a⟦U+2028⟧lisle: all is well␊␛]0;x␇/b␈␈c");
    }

    #[test]
    fn what_stays_and_what_goes() {
        for (text, want) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("héllo 日本 👨‍👩‍👧 ❤️", "héllo 日本 👨‍👩‍👧 ❤️"),
            ("a\x1b[31mred\x1b[0m", "ared"),
            ("a\x1b]0;title\x07b", "ab"),
            ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
            ("a\x1bPq#0;2\nsixel\x1b\\b", "ab"),
            ("a\x1b_Gpayload\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd"),
            ("a\x1bktitle\x1b\\b", "ab"),
            ("a\x1b(Bb\x1b7c\x1bMd\x1b=e", "abcde"),
            ("a\u{9b}31mb\u{9d}0;t\u{9c}c\u{90}q\u{9c}d\u{85}e", "abcde"),
            ("a\x1b]0;never ends\nnext", "a\nnext"),
            ("a\x1b]0;old\x1b[31mnew", "anew"),
            ("a\x1b[12;3", "a"),
            ("a\x1b[3\nb", "a\nb"),
            ("a\x1b", "a"),
            ("a\x1b\x1b[mb", "ab"),
            ("a\0\x01\x7f\x0c\x0bb", "ab"),
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("10%\r50%\rdone\n", "done\n"),
            ("kept\r\r\n", "kept\n"),
            ("end\r", "end"),
            ("N\x08NA\x08AM\x08ME\x08E _\x08u_\x08p", "NAME up"),
            ("abc\x08\x08", "abc"),
            ("\x08x\x08\x08\x08y", "y"),
            ("a\ne\u{301}\x08o", "a\no"),
            ("abc\u{202e}fed", "abc⟦U+202E⟧fed"),
            ("\u{2066}x\u{2069}\u{200f}", "⟦U+2066⟧x⟦U+2069⟧⟦U+200F⟧"),
            ("a\u{200b}b\u{2060}\u{feff}c\u{e0041}\u{fff9}\u{ffff}\u{fdd0}", "abc"),
            ("a\u{2028}b", "a\nb"),
            ("x\u{fe0f}\u{fe0e}\u{fe0f}", "x\u{fe0f}"),
            ("a\u{200d}\u{200d}b", "a\u{200d}b"),
            ("\u{200d} \u{8}\u{200d}", "\u{200d} "),
        ] {
            assert_eq!(clean(text), want, "{text:?}");
        }
        let zalgo = format!("a{}b", "\u{301}".repeat(1000));
        assert_eq!(clean(&zalgo).chars().count(), 2 + CLUSTER);
        let family = format!("👨{}", "\u{200d}👩".repeat(1000));
        let longest = clean(&family).split("👩👩").map(|run| run.matches('\u{200d}').count()).max();
        assert!(longest <= Some(CLUSTER), "{longest:?}");
    }

    #[test]
    fn one_line_has_no_newline_or_tab() {
        assert_eq!(clean_line("a\n\tb\r\nc"), "a  b c");
        assert!(matches!(clean_line("abc"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_decision_sees_everything() {
        assert_eq!(reveal("ls\x1b[8m; rm\r\n\t\x7f"), "ls␛[8m; rm␍\n\t␡");
        assert_eq!(reveal("a\u{a0}b\u{202e}c\u{200b}d\u{9b}"), "a⟦U+00A0⟧b⟦U+202E⟧c⟦U+200B⟧d⟦U+009B⟧");
        assert_eq!(reveal("x\u{200d}\u{e0020}\u{3164}"), "x⟦U+200D⟧⟦U+E0020⟧⟦U+3164⟧");
        assert_eq!(reveal("echo 'héllo' 日本"), "echo 'héllo' 日本");
    }

    #[test]
    fn clean_text_is_not_copied() {
        for text in ["", "plain ascii\n", "Größe 日本語 — “quoted” ▸"] {
            assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_megabyte_of_open_sequences_takes_linear_work() {
        let begin = std::time::Instant::now();
        for text in ["\x1b]", "\x1b[1;", "\u{9d}x", "\x1bP\n", "a\u{301}", "\x08", "👩\u{200d}"] {
            let many = text.repeat((1 << 20) / text.len());
            assert!(clean(&many).len() <= many.len());
        }
        // Generous: a quadratic pass would take hours.
        assert!(begin.elapsed().as_secs() < 60);
    }

    /// Strings rich in what the sanitiser looks for.
    pub(crate) fn nasty() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\x1b".to_owned()),
            Just("\x1b[".to_owned()),
            Just("\x1b]".to_owned()),
            Just("\x1b\\".to_owned()),
            Just("\x1bP".to_owned()),
            Just("\x07".to_owned()),
            Just("\u{9b}".to_owned()),
            Just("\u{9c}".to_owned()),
            Just("\r".to_owned()),
            Just("\n".to_owned()),
            Just("\x08".to_owned()),
            Just("\u{200d}".to_owned()),
            Just("\u{fe0f}".to_owned()),
            Just("\u{301}".to_owned()),
            Just("👩".to_owned()),
            "[ -~]{0,6}",
            any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    fn harmless(text: &str) -> bool {
        text.chars().all(|c| {
            matches!(c, '\n' | '\t')
                || !(c.is_control()
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}'))
        })
    }

    #[test]
    fn a_carriage_return_ends_a_line_of_a_message_and_begins_one_of_output_again() {
        for (text, message, output) in [
            ("one\rtwo", "one\ntwo", "two"),
            ("one\r\ntwo\r", "one\ntwo\n", "one\ntwo"),
            ("\x1b[31mone\r\r\ntwo", "one\n\ntwo", "one\ntwo"),
        ] {
            assert_eq!((clean_message(text).as_ref(), clean(text).as_ref()), (message, output), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_acts_on_comes_out(text in nasty(), free in any::<String>()) {
            for text in [&text, &free] {
                let once = clean(text).into_owned();
                prop_assert!(harmless(&once), "{once:?}");
                prop_assert_eq!(clean(&once), once.as_str());
                let line = clean_line(text).into_owned();
                prop_assert!(harmless(&line) && !line.contains(['\n', '\t']));
                prop_assert_eq!(clean_line(&line), line.as_str());
                let seen = reveal(text);
                prop_assert!(harmless(&seen));
                prop_assert_eq!(reveal(&seen), seen);
            }
        }

        #[test]
        fn a_growing_text_can_be_cut_where_it_says(before in nasty(), after in nasty()) {
            let whole = format!("{before}{after}");
            let early = clean_growing(&before);
            prop_assert_eq!(&early.text, &clean_message(&before));
            prop_assert!(clean_message(&whole).starts_with(early.settled()));
            for offset in early.text.match_indices('\n').map(|(i, _)| i + 1) {
                if let Some(source) = early.source(offset) {
                    let joined = format!("{}{}", &early.text[..offset], clean_message(&whole[source..]));
                    prop_assert_eq!(joined, clean_message(&whole).into_owned());
                }
            }
        }
    }
}
