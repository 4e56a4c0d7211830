//! Files' bytes as text and back: encoding, byte order mark and line endings are found out and kept.
//!
//! Known are UTF-8, UTF-16 with a byte order mark, and Latin-1 as what is left of text that is neither.

/// Encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// One byte a character (ISO 8859-1).
    Latin1,
    /// UTF-8 with bytes in it that are none. Each of those is a character from `STRAY` on.
    Damaged,
}

/// Characters that stand for bytes that are no UTF-8: this one and the byte's value. They are for private use, and a text
/// that has them itself is not read so.
const STRAY: u32 = 0x10_ff00;

/// Line endings of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newlines {
    /// `\n`, or there is one line only.
    Lf,
    /// `\r\n` everywhere.
    CrLf,
    /// Some this, some that.
    Mixed,
}

/// Form of a text in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextForm {
    /// The encoding.
    pub encoding: Encoding,
    /// True if it begins with a byte order mark (which is not part of the text).
    pub bom: bool,
    /// The line endings.
    pub newlines: Newlines,
}

impl TextForm {
    /// Form of a new file.
    pub const PLAIN: TextForm = TextForm { encoding: Encoding::Utf8, bom: false, newlines: Newlines::Lf };

    /// Unusual properties, in words; `None` for UTF-8 with `\n`.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        let mut parts = Vec::new();
        match self.encoding {
            Encoding::Utf8 if self.bom => parts.push("UTF-8 with a byte order mark"),
            Encoding::Utf8 => {}
            Encoding::Utf16Le => parts.push("UTF-16 LE"),
            Encoding::Utf16Be => parts.push("UTF-16 BE"),
            Encoding::Latin1 => parts.push("not UTF-8, read as Latin-1"),
            Encoding::Damaged => parts.push("UTF-8 with bytes in it that are none, which stay as they are"),
        }
        match self.newlines {
            Newlines::Lf => {}
            Newlines::CrLf => parts.push("CRLF line endings"),
            Newlines::Mixed => parts.push("mixed LF and CRLF line endings"),
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Takes a file's bytes as text.
///
/// # Errors
/// Kind of binary data, in words.
pub fn decode(bytes: &[u8]) -> Result<(String, TextForm), &'static str> {
    let (text, encoding, bom) = if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        match std::str::from_utf8(rest) {
            Ok(text) => (text.to_owned(), Encoding::Utf8, true),
            Err(_) => (damaged(rest, true).ok_or("damaged UTF-8 text")?, Encoding::Damaged, true),
        }
    } else if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        (utf16(rest, u16::from_le_bytes).ok_or_else(|| kind(bytes))?, Encoding::Utf16Le, true)
    } else if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        (utf16(rest, u16::from_be_bytes).ok_or_else(|| kind(bytes))?, Encoding::Utf16Be, true)
    } else if looks_binary(bytes) {
        return Err(kind(bytes));
    } else {
        match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), Encoding::Utf8, false),
            Err(_) => match damaged(bytes, false) {
                Some(text) => (text, Encoding::Damaged, false),
                None => (bytes.iter().map(|b| char::from(*b)).collect(), Encoding::Latin1, false),
            },
        }
    };
    let newlines = newlines(&text);
    Ok((text, TextForm { encoding, bom, newlines }))
}

/// Puts a text into bytes. Line endings are written as they stand in `text`.
///
/// # Errors
/// The first character that the encoding does not have.
pub fn encode(text: &str, form: TextForm) -> Result<Vec<u8>, char> {
    let mut out = Vec::with_capacity(text.len() + 4);
    match form.encoding {
        Encoding::Utf8 => {
            if form.bom {
                out.extend(b"\xef\xbb\xbf");
            }
            out.extend(text.as_bytes());
        }
        Encoding::Utf16Le => {
            out.extend(b"\xff\xfe");
            out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
        Encoding::Utf16Be => {
            out.extend(b"\xfe\xff");
            out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
        }
        Encoding::Damaged => {
            if form.bom {
                out.extend(b"\xef\xbb\xbf");
            }
            for c in text.chars() {
                match u32::from(c).checked_sub(STRAY).and_then(|byte| u8::try_from(byte).ok()) {
                    Some(byte) => out.push(byte),
                    None => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
        }
        Encoding::Latin1 => {
            for c in text.chars() {
                out.push(u8::try_from(u32::from(c)).map_err(|_| c)?);
            }
        }
    }
    Ok(out)
}

/// `text` with every line ending as `\n`.
#[must_use]
pub fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Inverse of [`to_lf`] for a text with `\r\n` throughout: every other `\r` stays.
#[must_use]
pub fn from_lf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// `text` with every line ending as `\r\n`.
#[must_use]
pub fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}

/// Line endings of `text`.
#[must_use]
pub fn newlines(text: &str) -> Newlines {
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let crlf = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
    match (all, crlf) {
        (_, 0) => Newlines::Lf,
        (all, crlf) if all == crlf => Newlines::CrLf,
        _ => Newlines::Mixed,
    }
}

/// UTF-8 with some bytes that are none; `None` where it has more of those than of its characters outside ASCII, and so is
/// something else, unless it is `known` to be UTF-8.
fn damaged(bytes: &[u8], known: bool) -> Option<String> {
    let mut text = String::with_capacity(bytes.len() + 16);
    let (mut wide, mut stray) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().chars().any(|c| u32::from(c) >= STRAY) {
            return None;
        }
        wide += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            stray += 1;
            text.push(char::from_u32(STRAY + u32::from(*byte))?);
        }
    }
    (known || stray <= wide).then_some(text)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|text| !text.contains('\0'))
}

/// True if an output that begins like this is data, not text. Names separated by NULs are text.
#[must_use]
pub fn is_data(start: &[u8]) -> bool {
    if kind(start) != "binary data" {
        return looks_binary(start) || std::str::from_utf8(start).is_err();
    }
    let cut = |error: std::str::Utf8Error| error.error_len().is_none();
    let is_text = std::str::from_utf8(start).map_or_else(cut, |_| true);
    let without_nul: Vec<u8> = start.iter().copied().filter(|b| *b != 0).collect();
    looks_binary(start) && (!is_text || looks_binary(&without_nul) || without_nul.len() * 2 < start.len())
}

/// The usual ending of a file name for data of this kind.
#[must_use]
pub fn extension(bytes: &[u8]) -> &'static str {
    const ENDINGS: &[(&str, &str)] = &[
        ("a PNG image", "png"),
        ("a JPEG image", "jpg"),
        ("a GIF image", "gif"),
        ("a BMP image", "bmp"),
        ("a WebP image", "webp"),
        ("a PDF document", "pdf"),
        ("a ZIP archive (or an office document, a jar …)", "zip"),
        ("gzip data", "gz"),
        ("bzip2 data", "bz2"),
        ("xz data", "xz"),
        ("zstd data", "zst"),
        ("a 7z archive", "7z"),
        ("a tar archive", "tar"),
        ("a WebAssembly module", "wasm"),
        ("an SQLite database", "sqlite"),
        ("Ogg audio", "ogg"),
        ("MP3 audio", "mp3"),
        ("FLAC audio", "flac"),
        ("WAV audio", "wav"),
        ("an MP4 or HEIF file", "mp4"),
        ("an archive of object files", "a"),
    ];
    let kind = kind(bytes);
    ENDINGS.iter().find(|(name, _)| *name == kind).map_or("bin", |(_, ending)| ending)
}

/// A NUL or many control characters near the start mean that it is not text.
fn looks_binary(bytes: &[u8]) -> bool {
    let start = bytes.get(..8192).unwrap_or(bytes);
    if memchr::memchr(0, start).is_some() || bytes.starts_with(b"%PDF-") {
        return true;
    }
    let odd = start.iter().filter(|b| matches!(b, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    odd * 20 > start.len()
}

/// Kind of binary data that begins like this, in words.
#[must_use]
pub fn kind(bytes: &[u8]) -> &'static str {
    const KINDS: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"BM", "a BMP image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or an office document, a jar …)"),
        (b"\x1f\x8b", "gzip data"),
        (b"BZh", "bzip2 data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"7z\xbc\xaf", "a 7z archive"),
        (b"\x7fELF", "an ELF program or library"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
        (b"\xca\xfe\xba\xbe", "a Java class or Mach-O file"),
        (b"\0asm", "a WebAssembly module"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"OggS", "Ogg audio"),
        (b"ID3", "MP3 audio"),
        (b"fLaC", "FLAC audio"),
        (b"!<arch>\n", "an archive of object files"),
        (b"wOFF", "a font"),
        (b"wOF2", "a font"),
    ];
    if bytes.starts_with(b"RIFF") {
        return match bytes.get(8..12) {
            Some(b"WEBP") => "a WebP image",
            Some(b"WAVE") => "WAV audio",
            _ => "RIFF data",
        };
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return "an MP4 or HEIF file";
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return "a tar archive";
    }
    KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map_or("binary data", |(_, kind)| kind)
}

/// A size for reading: `512 bytes`, `1.2 KB`, `3.4 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_is_found_out() {
        for (bytes, text, encoding, bom, lines) in [
            (&b"a\nb\n"[..], "a\nb\n", Encoding::Utf8, false, Newlines::Lf),
            (b"", "", Encoding::Utf8, false, Newlines::Lf),
            (b"\xef\xbb\xbfa\r\nb\r\n", "a\r\nb\r\n", Encoding::Utf8, true, Newlines::CrLf),
            (b"a\r\nb\n", "a\r\nb\n", Encoding::Utf8, false, Newlines::Mixed),
            (b"\xff\xfea\0\xe4\0", "aä", Encoding::Utf16Le, true, Newlines::Lf),
            (b"\xfe\xff\0a\0\n", "a\n", Encoding::Utf16Be, true, Newlines::Lf),
            (b"caf\xe9\n", "café\n", Encoding::Latin1, false, Newlines::Lf),
            (b"caf\xc3\xa9 \xff\n", "café \u{10ffff}\n", Encoding::Damaged, false, Newlines::Lf),
            (b"\xef\xbb\xbf\xe9\n", "\u{10ffe9}\n", Encoding::Damaged, true, Newlines::Lf),
            (b"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n", Encoding::Utf8, false, Newlines::Lf),
        ] {
            let (got, form) = decode(bytes).unwrap();
            assert_eq!((got.as_str(), form), (text, TextForm { encoding, bom, newlines: lines }));
            assert_eq!(encode(&got, form).unwrap(), bytes, "the bytes come back");
        }
    }

    #[test]
    fn binary_is_named() {
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "a PNG image"),
            (b"\x7fELF\x02\x01\x01\0", "an ELF program or library"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "a WebP image"),
            (b"%PDF-1.7\n%abc", "a PDF document"),
            (b"abc\0def", "binary data"),
            (b"\xff\xfea", "binary data"),
        ] {
            assert_eq!(decode(bytes).unwrap_err(), kind);
        }
    }

    #[test]
    fn data_is_told_from_text() {
        for (start, is) in [
            (&b"plain\n"[..], false),
            (b"", false),
            (b"a\0b/c\0", false),
            ("ä\0ö\0".as_bytes(), false),
            // A character that is cut off at the end of what was read so far.
            (b"abc\0abc\xc3", false),
            (b"caf\xe9 cr\xe8me\n", false),
            (b"\x89PNG\r\n\x1a\n\0\0", true),
            (b"\x1f\x8b\x08\0\xff", true),
            (b"\0\0\0\x01\0\0", true),
            (b"%PDF-1.7\n", true),
            (b"BM is how this text begins", false),
        ] {
            assert_eq!(is_data(start), is, "{start:?}");
        }
        assert_eq!((extension(b"\x89PNG\r\n\x1a\n"), extension(b"\0\x01")), ("png", "bin"));
    }

    #[test]
    fn latin1_says_what_it_cannot_hold() {
        let form = TextForm { encoding: Encoding::Latin1, ..TextForm::PLAIN };
        assert_eq!(encode("é", form), Ok(vec![0xe9]));
        assert_eq!(encode("a€", form), Err('€'));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!([size(0), size(999), size(1_250), size(3_400_000)], ["0 bytes", "999 bytes", "1.2 KB", "3.4 MB"]);
    }

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((text, form)) = decode(&bytes) {
                prop_assert_eq!(encode(&text, form).unwrap(), bytes);
            }
        }

        #[test]
        fn line_endings_go_both_ways(text in "[a\r\n]{0,20}") {
            prop_assert_eq!(to_lf(&to_crlf(&text)), to_lf(&text));
            prop_assert!(newlines(&to_crlf(&text)) != Newlines::Mixed);
        }
    }
}
