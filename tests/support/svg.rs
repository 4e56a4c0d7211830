//! Screen of a terminal as an SVG picture, and several of them as a film that runs by itself: for looking at screens,
//! and for the pictures of the README.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its screen cannot be drawn")]
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fmt::Write as _;
use std::time::Duration;

const CELL: (u32, u32) = (9, 19);
/// The usual 16 colours, for themes that use the terminal's own.
const BASIC: [&str; 16] = [
    "#1c1c1c", "#cc4b4b", "#5aa65a", "#c9a34a", "#5a86c9", "#a86bb8", "#4fa8a8", "#c8c8c8", "#7a7a7a", "#e57373",
    "#81c784", "#ffd54f", "#82b1ff", "#ce93d8", "#80deea", "#f5f5f5",
];

/// Ink and ground of the terminal itself.
fn paper(dark: bool) -> (&'static str, &'static str) {
    if dark { ("#d5d9e1", "#16181d") } else { ("#2b303a", "#fbfbf8") }
}

fn pixels(screen: &vt100::Screen) -> (u32, u32) {
    let (height, width) = screen.size();
    (u32::from(width.get()) * CELL.0, u32::from(height.get()) * CELL.1)
}

fn head((w, h): (u32, u32), dark: bool) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"15\" xml:space=\"preserve\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n",
        paper(dark).1
    )
}

/// The screen as a picture.
pub fn picture(screen: &vt100::Screen, dark: bool) -> String {
    let mut out = head(pixels(screen), dark);
    draw(&mut out, screen, dark);
    out.push_str("</svg>\n");
    out
}

/// Screens one after the other, each for its time, without end. They must be of one size.
pub fn film(frames: &[(vt100::Screen, Duration)], dark: bool) -> String {
    let Some((first, _)) = frames.first() else { return String::new() };
    let whole: Duration = frames.iter().map(|(_, time)| *time).sum();
    let mut out = head(pixels(first), dark);
    let mut at = Duration::ZERO;
    for (index, (screen, time)) in frames.iter().enumerate() {
        // Where nothing moves, the last picture stands.
        let rest = if index + 1 == frames.len() { "inline" } else { "none" };
        let from = at.as_secs_f64() / whole.as_secs_f64();
        at += *time;
        let to = at.as_secs_f64() / whole.as_secs_f64();
        let (mut values, mut times) = (vec!["none", "inline"], vec![0.0, from]);
        if from == 0.0 {
            (values, times) = (vec!["inline"], vec![0.0]);
        }
        if to < 1.0 {
            values.push("none");
            times.push(to);
        }
        let times: Vec<String> = times.iter().map(|time| format!("{time:.4}")).collect();
        writeln!(out, "<g display=\"{rest}\">").unwrap();
        writeln!(
            out,
            "<animate attributeName=\"display\" calcMode=\"discrete\" values=\"{}\" keyTimes=\"{}\" dur=\"{:.1}s\" \
             repeatCount=\"indefinite\"/>",
            values.join(";"),
            times.join(";"),
            whole.as_secs_f64()
        )
        .unwrap();
        draw(&mut out, screen, dark);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// A run of cells of one look.
struct Run {
    left: u32,
    cells: u32,
    text: String,
    ink: String,
    style: String,
}

impl Run {
    fn put(&self, out: &mut String, top: u32) {
        let text = self.text.trim_end();
        if text.is_empty() {
            return;
        }
        let cells = self.cells - u32::try_from(self.text.chars().count() - text.chars().count()).unwrap_or(0);
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let Run { left, ink, style, .. } = self;
        // Fonts differ in width: a run keeps to its cells.
        let wide = if cells > 1 { format!(" textLength=\"{}\"", cells * CELL.0) } else { String::new() };
        writeln!(out, "<text x=\"{left}\" y=\"{}\" fill=\"{ink}\"{style}{wide}>{text}</text>", top + 14).unwrap();
    }
}

fn draw(out: &mut String, screen: &vt100::Screen, dark: bool) {
    let (ink, ground) = paper(dark);
    let (height, width) = screen.size();
    for y in 0..height.get() {
        let top = u32::from(y) * CELL.1;
        grounds(out, screen, (y, width.get()), dark);
        let mut run: Option<Run> = None;
        for x in 0..width.get() {
            let Some(cell) = screen.cell(y, x).filter(|cell| !cell.is_wide_continuation()) else { continue };
            let left = u32::from(x) * CELL.0;
            let colors = (color(cell.fgcolor(), ink), color(cell.bgcolor(), ground));
            let ink = if cell.inverse() { colors.1 } else { colors.0 };
            // Lines are drawn as lines: letters of a font leave gaps between the rows.
            let (middle, half) = (left + CELL.0 / 2, top + CELL.1 / 2);
            let strokes: &[(u32, u32, u32, u32)] = match cell.contents() {
                "│" => &[(middle, top, 1, CELL.1)],
                "─" => &[(left, half, CELL.0, 1)],
                "├" => &[(middle, top, 1, CELL.1), (middle, half, CELL.0 - CELL.0 / 2, 1)],
                "▌" => &[(left, top, CELL.0 / 2, CELL.1)],
                _ => &[],
            };
            for (x, y, w, h) in strokes {
                writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{ink}\"/>").unwrap();
            }
            let text = if cell.contents().is_empty() { " " } else { cell.contents() };
            let style = style(cell);
            let plain = strokes.is_empty() && text.len() == 1;
            if let Some(run) = run.as_mut().filter(|run| plain && (text == " " || run.ink == ink) && run.style == style)
            {
                run.text.push_str(text);
                run.cells += 1;
                continue;
            }
            if let Some(run) = run.take() {
                run.put(out, top);
            }
            if !strokes.is_empty() || text == " " {
                continue;
            }
            let cells = if cell.is_wide() { 2 } else { 1 };
            let next = Run { left, cells, text: text.to_owned(), ink, style };
            if plain {
                run = Some(next);
            } else {
                Run { cells: 1, ..next }.put(out, top);
            }
        }
        if let Some(run) = run {
            run.put(out, top);
        }
    }
}

/// The grounds of a row that are not the paper's.
fn grounds(out: &mut String, screen: &vt100::Screen, (y, width): (u16, u16), dark: bool) {
    let (ink, ground) = paper(dark);
    let of = |x: u16| {
        let cell = screen.cell(y, x)?;
        let found = if cell.inverse() { color(cell.fgcolor(), ink) } else { color(cell.bgcolor(), ground) };
        (found != ground).then_some(found)
    };
    let mut x = 0;
    while x < width {
        let found = of(x);
        let from = x;
        while x < width && of(x) == found {
            x += 1;
        }
        if let Some(fill) = found {
            let (left, wide) = (u32::from(from) * CELL.0, u32::from(x - from) * CELL.0);
            let (top, high) = (u32::from(y) * CELL.1, CELL.1);
            writeln!(out, "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\"/>")
                .unwrap();
        }
    }
}

fn style(cell: &vt100::Cell) -> String {
    let mut style = String::new();
    for (on, text) in [
        (cell.bold(), " font-weight=\"bold\""),
        (cell.italic(), " font-style=\"italic\""),
        (cell.underline(), " text-decoration=\"underline\""),
        (cell.dim(), " opacity=\"0.65\""),
    ] {
        if on {
            style.push_str(text);
        }
    }
    style
}

fn color(color: vt100::Color, default: &str) -> String {
    match color {
        vt100::Color::Default => default.to_owned(),
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        vt100::Color::Idx(n) if n < 16 => BASIC[usize::from(n)].to_owned(),
        vt100::Color::Idx(n) if n >= 232 => {
            let grey = 8 + (n - 232) * 10;
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
        vt100::Color::Idx(n) => {
            let level = |i: u8| [0u8, 95, 135, 175, 215, 255][usize::from(i % 6)];
            let n = n - 16;
            format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6), level(n))
        }
    }
}
