//! Picture that is ready to be drawn, in the form that the terminal takes.

use super::sixel::Indexed;
use image::RgbaImage;
use std::sync::Arc;

/// A picture that is ready to be drawn.
#[derive(Clone, Debug)]
pub(in super::super) enum PictureForm {
    /// PNG, for kitty.
    Kitty(Vec<u8>),
    /// Pixels, and the sequence for the whole picture, for iTerm2.
    Inline(RgbaImage, Arc<[u8]>),
    /// The same for sixels.
    Sixel(Indexed, Arc<[u8]>),
}

impl PictureForm {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Kitty(png) => png.len(),
            Self::Inline(pixels, whole) => pixels.as_raw().len() + whole.len(),
            Self::Sixel(pixels, whole) => pixels.bytes() + whole.len(),
        }
    }
}
