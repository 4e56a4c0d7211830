//! Kept output of a command: the beginning and the end of any length, or all of it if it is not text.

use crate::tools::files::text;

/// Bytes that are kept of the beginning, and as many of the end.
pub(in crate::tools) const KEPT: usize = 1_000_000;
/// All of it is kept where it is no text: half of it would be of no use.
const KEPT_BINARY: usize = 64_000_000;
/// Lines and characters of the last lines.
const LAST_LINES: usize = 10;
const LAST_CHARS: usize = 2_000;

/// The beginning and the end of an output of any length.
#[derive(Default)]
pub(in crate::tools) struct KeptOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    binary: bool,
}

impl KeptOutput {
    pub fn add(&mut self, bytes: &[u8]) {
        if self.total < 8_192 && !self.binary {
            let start = [&self.head[..], bytes.get(..8_192).unwrap_or(bytes)].concat();
            self.binary = text::is_data(&start);
        }
        self.total += bytes.len() as u64;
        let most = if self.binary { KEPT_BINARY } else { KEPT };
        let (first, rest) = bytes.split_at(bytes.len().min(most.saturating_sub(self.head.len())));
        self.head.extend(first);
        self.tail.extend(rest);
        // Twice what is kept, so that moving it stays rare.
        if self.tail.len() > 2 * KEPT {
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    /// Bytes that came in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// All of it, where it is no text and was kept whole.
    pub fn data(&self) -> Option<&[u8]> {
        (self.binary && self.tail.is_empty()).then_some(&self.head)
    }

    pub fn text(&self) -> String {
        let tail = self.tail.get(self.tail.len().saturating_sub(KEPT)..).unwrap_or_default();
        let cut = self.total.saturating_sub((self.head.len() + tail.len()) as u64);
        if cut == 0 {
            return String::from_utf8_lossy(&[&self.head[..], tail].concat()).into_owned();
        }
        format!(
            "{}\n[… {cut} bytes of output are left out here …]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(tail)
        )
    }

    /// The last whole lines, for the screen.
    pub fn last_lines(&self) -> String {
        last_lines(if self.tail.is_empty() { &self.head } else { &self.tail })
    }
}

/// The last whole lines of an output, few enough for the screen.
pub(in crate::tools) fn last_lines(from: &[u8]) -> String {
    let end = from.get(from.len().saturating_sub(LAST_CHARS)..).unwrap_or_default();
    let text = String::from_utf8_lossy(end);
    let lines: Vec<&str> = text.lines().collect();
    // The first one is cut when there is more before it.
    let skip = lines.len().saturating_sub(LAST_LINES).max(usize::from(end.len() < from.len()));
    lines.get(skip..).filter(|rest| !rest.is_empty()).unwrap_or(&lines).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let mut kept = KeptOutput::default();
        for part in [&b"start\n"[..], &vec![b'x'; 5 * KEPT], b"\nend\n"] {
            for chunk in part.chunks(70_000) {
                kept.add(chunk);
            }
        }
        let text = kept.text();
        assert!(text.starts_with("start\n") && text.ends_with("\nend\n"));
        assert!(text.contains(&format!("[… {} bytes of output are left out here …]", 3 * KEPT + 11)));
        assert!(text.len() < 2 * KEPT + 200 && kept.data().is_none());
        let mut short = KeptOutput::default();
        short.add("äö".as_bytes());
        assert_eq!(short.text(), "äö");
    }

    #[test]
    fn what_is_no_text_is_kept_whole() {
        let mut kept = KeptOutput::default();
        kept.add(b"\x89PNG");
        kept.add(b"\r\n\x1a\n\0\0");
        for _ in 0..40 {
            kept.add(&vec![0xff; 70_000]);
        }
        assert_eq!(kept.data().map(<[u8]>::len), Some(10 + 40 * 70_000));
    }

    #[test]
    fn progress_is_the_last_whole_lines() {
        let mut kept = KeptOutput::default();
        kept.add(b"a\nb\n");
        assert_eq!(kept.last_lines(), "a\nb");
        for n in 0..1_000 {
            kept.add(format!("line {n}\n").as_bytes());
        }
        assert_eq!(kept.last_lines().lines().count(), LAST_LINES);
        assert!(kept.last_lines().ends_with("line 999"));
    }
}
