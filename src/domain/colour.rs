//! The colours of statuses, labels and views, as Craft Agents' files have them, read into numbers.
//!
//! A colour is one of the theme's names, or a pair for light and dark ground in one of CSS's notations (hex, `rgb()`,
//! `hsl()`, `oklch()`). Which cells get which style is the theme's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A colour of the theme, by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Chosen or new items.
    Accent,
    /// To be known.
    Info,
    /// Went well.
    Success,
    /// Went wrong, or takes something away.
    Destructive,
    /// The text's own.
    Foreground,
}

impl System {
    const ALL: [(&'static str, System); 5] = [
        ("accent", System::Accent),
        ("info", System::Info),
        ("success", System::Success),
        ("destructive", System::Destructive),
        ("foreground", System::Foreground),
    ];
}

/// Red, green and blue of sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// One of the theme's, in percent of its strength: `info`, `foreground/50`.
    System(System, u8),
    /// One of its own. What it has of transparency is not kept: a cell is one colour.
    Own {
        /// On light ground.
        light: Rgb,
        /// On dark ground.
        dark: Rgb,
    },
}

impl Colour {
    /// Reads one colour: a system name with or without `/0-100`, or a CSS colour, which is then used on both grounds.
    ///
    /// # Errors
    /// The problem, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, strength) = match text.trim().split_once('/') {
            Some((name, strength)) if !text.contains('(') => (name.trim(), Some(strength.trim())),
            _ => (text.trim(), None),
        };
        if let Some((_, system)) = System::ALL.into_iter().find(|(word, _)| *word == name) {
            let strength = match strength {
                None => 100,
                Some(text) => text
                    .parse::<u8>()
                    .ok()
                    .filter(|strength| *strength <= 100)
                    .ok_or_else(|| format!("invalid strength {text:?} of {name}: expected 0 to 100"))?,
            };
            return Ok(Self::System(system, strength));
        }
        let rgb = css(text)?;
        Ok(Self::Own { light: rgb, dark: rgb })
    }

    /// Reads a pair. Without `dark` the light one is used on both grounds.
    ///
    /// # Errors
    /// The problem of one of them, as the end of a sentence.
    pub fn pair(light: &str, dark: Option<&str>) -> Result<Self, String> {
        let light = css(light)?;
        Ok(Self::Own { light, dark: dark.map(css).transpose()?.unwrap_or(light) })
    }
}

/// A colour in one of CSS's notations.
fn css(text: &str) -> Result<Rgb, String> {
    let text = text.trim();
    let read = match text.strip_prefix('#') {
        Some(digits) => hex(digits),
        None => text.split_once('(').and_then(|(name, rest)| {
            let inner = rest.strip_suffix(')')?;
            // Transparency is not kept, but what stands there has to be a number.
            let mut parts: Vec<&str> = inner.split([',', ' ', '/']).filter(|part| !part.is_empty()).collect();
            if parts.len() == 4 {
                part(parts.pop()?, 1.0)?;
            }
            let [a, b, c] = parts[..] else { return None };
            match name.trim().to_ascii_lowercase().as_str() {
                "rgb" | "rgba" => {
                    let channel = |text| part(text, 255.0).map(|value| whole(value / 255.0));
                    Some(Rgb(channel(a)?, channel(b)?, channel(c)?))
                }
                "hsl" | "hsla" => Some(hsl(turn(a)?, percent(b)?, percent(c)?)),
                "oklch" => Some(oklch(part(a, 1.0)?, part(b, 0.4)?, turn(c)?)),
                _ => None,
            }
        }),
    };
    read.ok_or_else(|| {
        format!(
            "invalid color {text:?}: use one of {} (optionally with /0-100), #rgb, #rrggbb, rgb(), hsl() or oklch()",
            System::ALL.map(|(word, _)| word).join(", ")
        )
    })
}

fn hex(digits: &str) -> Option<Rgb> {
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let two = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let one = |at: usize| Some(u8::from_str_radix(digits.get(at..=at)?, 16).ok()? * 17);
    match digits.len() {
        3 | 4 => Some(Rgb(one(0)?, one(1)?, one(2)?)),
        6 | 8 => Some(Rgb(two(0)?, two(2)?, two(4)?)),
        _ => None,
    }
}

/// A number, or a share of `whole` in percent.
fn part(text: &str, whole: f64) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(share) => share.parse::<f64>().ok()? / 100.0 * whole,
        None => text.parse::<f64>().ok()?,
    };
    value.is_finite().then_some(value)
}

/// A share, 0 to 1; old files leave the sign out.
fn percent(text: &str) -> Option<f64> {
    part(text.trim_end_matches('%'), 100.0).map(|value| (value / 100.0).clamp(0.0, 1.0))
}

/// An angle in degrees.
fn turn(text: &str) -> Option<f64> {
    part(text.strip_suffix("deg").unwrap_or(text), 360.0).map(|degrees| degrees.rem_euclid(360.0))
}

/// A channel of 0 to 1 as a byte.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to 0..=255")]
fn whole(channel: f64) -> u8 {
    (channel.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn hsl(hue: f64, saturation: f64, lightness: f64) -> Rgb {
    // The formula of CSS Color 4, section 7.1.
    let channel = |n: f64| {
        let k = (n + hue / 30.0).rem_euclid(12.0);
        let reach = saturation * lightness.min(1.0 - lightness);
        whole(lightness - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))
    };
    Rgb(channel(0.0), channel(8.0), channel(4.0))
}

fn oklch(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    // Oklab to linear sRGB by Björn Ottosson (2020); what lies outside sRGB is cut.
    let (a, b) = (chroma * hue.to_radians().cos(), chroma * hue.to_radians().sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    let gamma =
        |light: f64| whole(if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 });
    Rgb(
        gamma(4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s),
        gamma(-1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s),
        gamma(-0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn system_names_have_a_strength() {
        assert_eq!(Colour::parse("info"), Ok(Colour::System(System::Info, 100)));
        assert_eq!(Colour::parse(" foreground/50 "), Ok(Colour::System(System::Foreground, 50)));
        assert_eq!(Colour::parse("destructive/0"), Ok(Colour::System(System::Destructive, 0)));
        for bad in ["info/101", "info/-1", "info/x", "info/"] {
            assert!(Colour::parse(bad).unwrap_err().contains("0 to 100"), "{bad}");
        }
    }

    #[test]
    fn every_notation_is_read() {
        // The values of hsl and oklch were computed with the reference formulas of CSS Color 4.
        for (text, r, g, b) in [
            ("#3B82F6", 0x3b, 0x82, 0xf6),
            ("#0f8", 0, 255, 0x88),
            ("#0f8c", 0, 255, 0x88),
            ("#11223344", 0x11, 0x22, 0x33),
            ("rgb(1, 2, 3)", 1, 2, 3),
            ("rgba(255,128,0,0.5)", 255, 128, 0),
            ("rgb(100% 50% 0% / 20%)", 255, 128, 0),
            ("RGB(300, -5, 0)", 255, 0, 0),
            ("hsl(0, 100%, 50%)", 255, 0, 0),
            ("hsl(120deg 100% 25%)", 0, 128, 0),
            ("hsl(-120, 100, 50)", 0, 0, 255),
            ("hsl(30 0% 50%)", 128, 128, 128),
            ("oklch(1 0 0)", 255, 255, 255),
            ("oklch(0 0 0)", 0, 0, 0),
            ("oklch(62.8% 0.2577 29.23)", 255, 0, 0),
            ("oklch(0.8664 0.2948 142.5 / 0.5)", 0, 255, 0),
        ] {
            let Ok(Colour::Own { light, dark }) = Colour::parse(text) else { panic!("{text}") };
            assert_eq!(light, dark);
            let near = |a: u8, b: u8| a.abs_diff(b) <= 1;
            assert!(near(light.0, r) && near(light.1, g) && near(light.2, b), "{text}: {light:?}");
        }
    }

    #[test]
    fn a_pair_has_the_light_one_for_both_when_it_is_alone() {
        let both = Rgb(0x33, 0x41, 0x55);
        assert_eq!(Colour::pair("#334155", None), Ok(Colour::Own { light: both, dark: both }));
        let Ok(Colour::Own { light, dark }) = Colour::pair("#334155", Some("oklch(0.7 0.1 200)")) else { panic!() };
        assert_eq!(light, both);
        assert!(dark.2 > dark.0, "a blue-green: {dark:?}");
        assert!(Colour::pair("info", None).is_err(), "a pair is of colours of its own");
    }

    #[test]
    fn what_is_no_colour_says_so() {
        for bad in
            ["", "#", "#12", "#gggggg", "#ééé", "red", "rgb(1,2)", "rgb(1,2,x)", "hsl(", "oklch(nan 0 0)", "lab(1 2 3)"]
        {
            assert!(Colour::parse(bad).unwrap_err().contains("invalid color"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in ".{0,40}", notation in "(rgb|hsl|oklch|#|info/)", inner in "[-0-9.,% /e()a-f]{0,30}") {
            let _ = Colour::parse(&text);
            let _ = Colour::parse(&format!("{notation}{inner}"));
            let _ = Colour::parse(&format!("{notation}({inner})"));
        }
    }
}
