//! Colours as numbers: the nearest one of fewer, and the contrast between two.

use ratatui::style::{Color, Style};

/// Number of colours of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// 16 million.
    #[default]
    True,
    /// The xterm palette.
    C256,
    /// The 16 that the user's terminal theme decides.
    C16,
    /// None at all (NO_COLOR, or a terminal without).
    None,
}

/// The levels of the 6x6x6 cube of the xterm palette.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Only the 16 basic colours and the terminal's own are used.
#[must_use]
pub fn is_basic(style: Style) -> bool {
    let basic = |color: Option<Color>| match color {
        None => true,
        Some(Color::Rgb(..)) => false,
        Some(Color::Indexed(n)) => n < 16,
        Some(_) => true,
    };
    basic(style.fg) && basic(style.bg)
}

/// The style with each full colour replaced by the nearest of the xterm palette's upper 240. The lower 16 are not
/// used because the user's terminal theme changes them.
#[must_use]
pub fn to_256(style: Style) -> Style {
    let nearest = |color: Option<Color>| match color {
        Some(Color::Rgb(r, g, b)) => Some(Color::Indexed(nearest_256(r, g, b))),
        other => other,
    };
    Style { fg: nearest(style.fg), bg: nearest(style.bg), ..style }
}

/// The nearest of those of the xterm palette's upper 240 that will do; `None` for what is no full colour.
#[must_use]
pub fn nearest_of(color: Color, will_do: impl Fn(Color) -> bool) -> Option<Color> {
    let Color::Rgb(r, g, b) = color else { return None };
    nearest(r, g, b, |n| will_do(Color::Indexed(n))).map(Color::Indexed)
}

fn nearest_256(r: u8, g: u8, b: u8) -> u8 {
    nearest(r, g, b, |_| true).unwrap_or(16)
}

fn nearest(r: u8, g: u8, b: u8, free: impl Fn(u8) -> bool) -> Option<u8> {
    let want = oklab(r, g, b);
    (16..=255u8).filter(|&n| free(n)).min_by(|&a, &b| {
        let to = |n| {
            let (r, g, b) = xterm(n);
            distance(want, oklab(r, g, b))
        };
        to(a).total_cmp(&to(b))
    })
}

/// The one of the six bright hues that the user's terminal theme has for this one; `None` for a grey.
#[must_use]
pub fn basic(r: u8, g: u8, b: u8) -> Option<Color> {
    let [_, green_red, blue_yellow] = oklab(r, g, b);
    if green_red.hypot(blue_yellow) < 0.04 {
        return None;
    }
    // The hues of pure red, yellow, green, cyan, blue and magenta lie at 29, 110, 142, 195, 264 and 328 degrees.
    let hue = blue_yellow.atan2(green_red).to_degrees().rem_euclid(360.0);
    Some(match hue {
        _ if hue < 65.0 => Color::Red,
        _ if hue < 122.0 => Color::Yellow,
        _ if hue < 168.0 => Color::Green,
        _ if hue < 228.0 => Color::Cyan,
        _ if hue < 296.0 => Color::Blue,
        _ if hue < 355.0 => Color::Magenta,
        _ => Color::Red,
    })
}

/// One of the 16 colours can be read on white in xterm's palette, where green, yellow and cyan cannot.
#[must_use]
pub fn is_readable_on_white(basic: Color) -> bool {
    matches!(basic, Color::Reset | Color::Black | Color::Red | Color::Blue | Color::Magenta)
}

/// Red, green and blue of number 16 to 255 of the xterm palette.
fn xterm(n: u8) -> (u8, u8, u8) {
    if n >= 232 {
        let grey = 8 + (n - 232) * 10;
        return (grey, grey, grey);
    }
    let n = n.saturating_sub(16);
    let level = |i: u8| CUBE.get(usize::from(i % 6)).copied().unwrap_or(0);
    (level(n / 36), level(n / 6), level(n))
}

/// One channel of sRGB as an amount of light, 0 to 1.
fn light(channel: u8) -> f64 {
    let c = f64::from(channel) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Oklab (Björn Ottosson, 2020): distances in it are close to what the eye finds different.
fn oklab(r: u8, g: u8, b: u8) -> [f64; 3] {
    let (r, g, b) = (light(r), light(g), light(b));
    let l = (0.412_221_47 * r + 0.536_332_54 * g + 0.051_445_99 * b).cbrt();
    let m = (0.211_903_50 * r + 0.680_699_55 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_84 * g + 0.629_978_70 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_79 * m - 0.004_072_05 * s,
        1.977_998_50 * l - 2.428_592_21 * m + 0.450_593_71 * s,
        0.025_904_04 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The contrast of two colours by WCAG 2, 1 to 21; `None` where one of them is the terminal's own.
#[must_use]
pub fn contrast(a: Color, b: Color) -> Option<f64> {
    let channels = |color| match color {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(n @ 16..) => Some(xterm(n)),
        _ => None,
    };
    let luminance = |color| channels(color).map(|(r, g, b)| 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b));
    let (a, b) = (luminance(a)?, luminance(b)?);
    Some((a.max(b) + 0.05) / (a.min(b) + 0.05))
}
