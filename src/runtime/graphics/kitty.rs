//! kitty's graphics protocol: a picture is sent once, in pieces, with a place that only placeholders show; then it is let go.
//!
//! Format: <https://sw.kovidgoyal.net/kitty/graphics-protocol/>. The terminal is asked to answer nothing (`q=2`).

use crate::domain::picture::Cells;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The question whether the terminal has it: one pixel under a number that is used for nothing else.
pub const ASK: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// Base64 of one piece, at most.
const PIECE: usize = 4096;

/// Sequences that send a PNG under a number, to be shown in so many cells: whole sequences, in
/// order, with nothing else of the protocol between them.
#[must_use]
pub fn transmit(number: u32, png: &[u8], cells: Cells) -> Vec<Vec<u8>> {
    let data = STANDARD.encode(png);
    let pieces: Vec<&[u8]> = data.as_bytes().chunks(PIECE).collect();
    let count = pieces.len();
    let piece = |(n, piece): (usize, &&[u8])| {
        let more = u8::from(n + 1 < count);
        let head = if n == 0 {
            let Cells { cols, rows } = cells;
            format!("\x1b_Ga=T,U=1,q=2,f=100,t=d,i={number},c={cols},r={rows},m={more};")
        } else {
            format!("\x1b_Gq=2,m={more};")
        };
        [head.as_bytes(), *piece, b"\x1b\\"].concat()
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Sequence that deletes the picture of a number, with all of its placements.
#[must_use]
pub fn delete(number: u32) -> String {
    format!("\x1b_Ga=d,d=I,i={number},q=2\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_goes_in_pieces_that_decode_to_it() {
        let cells = Cells { cols: 12, rows: 3 };
        for bytes in [1, 3072, 3073, 10_000] {
            let png: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
            let pieces = transmit(0x01_02_03, &png, cells);
            let mut data = String::new();
            for (n, piece) in pieces.iter().enumerate() {
                let text = std::str::from_utf8(piece).unwrap();
                let body = text.strip_prefix("\x1b_G").and_then(|rest| rest.strip_suffix("\x1b\\")).unwrap();
                let (keys, payload) = body.split_once(';').unwrap();
                assert!(payload.len() <= 4096 && (payload.len() % 4 == 0), "{}", payload.len());
                assert_eq!(keys.contains("m=1"), n + 1 < pieces.len());
                assert_eq!(keys.contains("a=T,U=1,q=2,f=100,t=d,i=66051,c=12,r=3"), n == 0, "{keys}");
                data.push_str(payload);
            }
            assert_eq!(STANDARD.decode(data).unwrap(), png);
        }
    }
}
