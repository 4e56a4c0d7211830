//! iTerm2's inline images: a PNG in one sequence, drawn at the cursor into so many cells.
//!
//! Format: <https://iterm2.com/documentation-images.html>.

use crate::domain::picture::Cells;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Sequence that draws a PNG into cells.
#[must_use]
pub fn sequence(png: &[u8], cells: Cells) -> Vec<u8> {
    let Cells { cols, rows } = cells;
    let size = png.len();
    let head = format!(
        "\x1b]1337;File=inline=1;size={size};width={cols};height={rows};preserveAspectRatio=0;doNotMoveCursor=1:"
    );
    [head.as_bytes(), STANDARD.encode(png).as_bytes(), b"\x07"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_holds_the_picture_and_its_cells() {
        let bytes = sequence(b"\x89PNG...", Cells { cols: 12, rows: 3 });
        let text = std::str::from_utf8(&bytes).unwrap();
        let (head, data) =
            text.strip_prefix("\x1b]1337;File=").unwrap().strip_suffix('\x07').unwrap().split_once(':').unwrap();
        assert_eq!(STANDARD.decode(data).unwrap(), b"\x89PNG...");
        for key in ["inline=1", "size=7", "width=12", "height=3", "preserveAspectRatio=0"] {
            assert!(head.split(';').any(|one| one == key), "{key} in {head}");
        }
    }
}
