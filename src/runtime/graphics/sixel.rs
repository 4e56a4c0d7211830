//! Sixels: a picture with a palette, and any rectangle of it as a sequence.
//!
//! Format: DEC's VT330/VT340 programmer reference, chapter 14. The palette is chosen by `color_quant`, which reading GIFs
//! brings anyway; what is left is this file, less than the libraries that do it need beside themselves.

use color_quant::NeuQuant;
use image::RgbaImage;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Colours of a picture; one more stands for what shows through.
const COLOURS: usize = 255;
/// Transparent palette index.
const CLEAR: u8 = 255;
/// Step between the pixels that are sampled to choose colours.
const SAMPLED: i32 = 10;

/// A picture with a palette.
#[derive(Clone, Debug)]
pub struct Indexed {
    width: usize,
    palette: Vec<[u8; 3]>,
    pixels: Vec<u8>,
}

impl Indexed {
    /// Chooses the palette: exactly the colours that there are, where they are few enough.
    #[must_use]
    pub fn of(picture: &RgbaImage) -> Self {
        let width = usize::try_from(picture.width()).unwrap_or(0);
        let mut exact: HashMap<[u8; 3], u8> = HashMap::new();
        let mut pixels = Vec::with_capacity(picture.pixels().len());
        let mut few = true;
        for pixel in picture.pixels() {
            let [r, g, b, a] = pixel.0;
            if a < 128 {
                pixels.push(CLEAR);
                continue;
            }
            let next = u8::try_from(exact.len()).ok().filter(|n| usize::from(*n) < COLOURS);
            match (exact.get(&[r, g, b]), next) {
                (Some(n), _) => pixels.push(*n),
                (None, Some(n)) => {
                    exact.insert([r, g, b], n);
                    pixels.push(n);
                }
                (None, None) => {
                    few = false;
                    break;
                }
            }
        }
        if few {
            let mut palette = vec![[0; 3]; exact.len()];
            for (colour, n) in exact {
                if let Some(place) = palette.get_mut(usize::from(n)) {
                    *place = colour;
                }
            }
            return Self { width, palette, pixels };
        }
        let opaque: Vec<u8> = picture.pixels().filter(|pixel| pixel.0[3] >= 128).flat_map(|pixel| pixel.0).collect();
        let chosen = NeuQuant::new(SAMPLED, COLOURS, &opaque);
        let palette = chosen.color_map_rgb().chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
        let mut known: HashMap<[u8; 4], u8> = HashMap::new();
        let index = |pixel: [u8; 4]| u8::try_from(chosen.index_of(&pixel)).unwrap_or(0);
        let pixels = picture
            .pixels()
            .map(|pixel| if pixel.0[3] < 128 { CLEAR } else { *known.entry(pixel.0).or_insert_with(|| index(pixel.0)) })
            .collect();
        Self { width, palette, pixels }
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pixels.len() + self.palette.len() * 3
    }

    /// The sequence that draws a rectangle of it, in pixels, at the cursor.
    #[must_use]
    pub fn encode(&self, x: usize, y: usize, width: usize, height: usize) -> Vec<u8> {
        let width = width.min(self.width.saturating_sub(x));
        let all_rows = self.pixels.len().checked_div(self.width).unwrap_or(0);
        let height = height.min(all_rows.saturating_sub(y));
        // What shows through is left as it is (the second parameter), and pixels are square.
        let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}");
        let row = |y: usize| self.pixels.get(y * self.width + x..y * self.width + x + width).unwrap_or_default();
        let mut used = [false; 256];
        for y in y..y + height {
            for index in row(y) {
                used[usize::from(*index)] = true;
            }
        }
        let percent = |channel: u8| (u32::from(channel) * 100 + 127) / 255;
        for (n, [r, g, b]) in self.palette.iter().enumerate().filter(|(n, _)| used[*n]) {
            let _ = write!(out, "#{n};2;{};{};{}", percent(*r), percent(*g), percent(*b));
        }
        for top in (0..height).step_by(6) {
            let mut bands: Vec<Option<Vec<u8>>> = vec![None; COLOURS];
            for bit in 0..6.min(height - top) {
                for (at, index) in row(y + top + bit).iter().enumerate() {
                    let Some(band) = bands.get_mut(usize::from(*index)) else { continue };
                    if let Some(six) = band.get_or_insert_with(|| vec![0; width]).get_mut(at) {
                        *six |= 1 << bit;
                    }
                }
            }
            for (n, band) in bands.iter().enumerate() {
                if let Some(band) = band {
                    let _ = write!(out, "#{n}");
                    runs(band, &mut out);
                    out.push('$');
                }
            }
            out.push('-');
        }
        out.push_str("\x1b\\");
        out.into_bytes()
    }
}

/// Six pixels a character, repetitions by their number; what is empty at the end is left out.
fn runs(band: &[u8], out: &mut String) {
    let end = band.iter().rposition(|six| *six != 0).map_or(0, |at| at + 1);
    for run in band.get(..end).unwrap_or_default().chunk_by(|a, b| a == b) {
        let Some(six) = run.first() else { continue };
        let sign = char::from(b'?' + six);
        if run.len() > 3 {
            let _ = write!(out, "!{}{sign}", run.len());
        } else {
            out.extend(std::iter::repeat_n(sign, run.len()));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use image::Rgba;

    /// Reads sixels as a terminal does: width, height and each pixel, `None` where nothing was drawn.
    pub(in super::super) fn decode(bytes: &[u8]) -> (usize, usize, Vec<Option<[u8; 3]>>) {
        let text = std::str::from_utf8(bytes).unwrap();
        let body = text.strip_prefix("\x1bP0;1;0q\"1;1;").unwrap().strip_suffix("\x1b\\").unwrap();
        let mut chars = body.chars().peekable();
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut n = 0;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                n = n * 10 + digit as usize;
                chars.next();
            }
            n
        };
        let width = number(&mut chars);
        assert_eq!(chars.next(), Some(';'));
        let height = number(&mut chars);
        let mut pixels = vec![None; width * height];
        let (mut palette, mut colour) = (HashMap::new(), 0);
        let (mut x, mut top, mut repeat) = (0, 0, 1);
        while let Some(c) = chars.next() {
            match c {
                '#' => {
                    colour = number(&mut chars);
                    if chars.next_if_eq(&';').is_some() {
                        assert_eq!(number(&mut chars), 2);
                        let mut channel = || {
                            assert_eq!(chars.next(), Some(';'));
                            u8::try_from((number(&mut chars) * 255 + 50) / 100).unwrap()
                        };
                        palette.insert(colour, [channel(), channel(), channel()]);
                    }
                }
                '!' => repeat = number(&mut chars),
                '$' => x = 0,
                '-' => (x, top) = (0, top + 6),
                '?'..='~' => {
                    let six = c as u8 - b'?';
                    for _ in 0..std::mem::replace(&mut repeat, 1) {
                        for bit in (0..6).filter(|bit| six & (1 << bit) != 0) {
                            pixels[(top + bit) * width + x] = Some(palette[&colour]);
                        }
                        x += 1;
                    }
                }
                other => panic!("{other:?} is no sixel"),
            }
        }
        (width, height, pixels)
    }

    fn near(a: [u8; 3], b: [u8; 3], by: u8) -> bool {
        a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= by)
    }

    #[test]
    fn a_few_colours_come_back_as_they_were() {
        let picture = RgbaImage::from_fn(37, 20, |x, y| match (x / 9 + y / 7) % 3 {
            0 => Rgba([200, 30, 30, 255]),
            1 => Rgba([10, 120, 240, 255]),
            _ => Rgba([0, 0, 0, 0]),
        });
        let indexed = Indexed::of(&picture);
        let (width, height, pixels) = decode(&indexed.encode(0, 0, 37, 20));
        assert_eq!((width, height), (37, 20));
        for (x, y, pixel) in picture.enumerate_pixels() {
            let got = pixels[y as usize * 37 + x as usize];
            let [r, g, b, a] = pixel.0;
            assert!(got.map_or(a == 0, |got| a == 255 && near(got, [r, g, b], 2)), "{x} {y}: {got:?} {pixel:?}");
        }
        // A part of it is that part.
        let (width, height, part) = decode(&indexed.encode(9, 7, 20, 8));
        assert_eq!((width, height), (20, 8));
        for y in 0..8 {
            assert_eq!(part[y * 20..y * 20 + 20], pixels[(y + 7) * 37 + 9..(y + 7) * 37 + 29], "{y}");
        }
        // No more than there is.
        assert_eq!(decode(&indexed.encode(30, 18, 100, 100)).0, 7);
    }

    #[test]
    fn many_colours_become_255_near_ones() {
        let picture =
            RgbaImage::from_fn(80, 60, |x, y| Rgba([(x * 3) as u8, (y * 4) as u8, ((x + y) * 2 % 256) as u8, 255]));
        let indexed = Indexed::of(&picture);
        assert!(indexed.palette.len() <= COLOURS);
        let (_, _, pixels) = decode(&indexed.encode(0, 0, 80, 60));
        let far = picture.enumerate_pixels().filter(|(x, y, pixel)| {
            let got = pixels[*y as usize * 80 + *x as usize].unwrap();
            !near(got, [pixel.0[0], pixel.0[1], pixel.0[2]], 40)
        });
        assert!(far.count() < 80 * 60 / 50, "nearly all pixels look as they did");
    }
}
