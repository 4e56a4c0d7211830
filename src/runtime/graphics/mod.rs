//! Pictures on the terminal: those that are ready, which of them a frame shows, and what has to be sent for that.
//!
//! `way` decides how this terminal draws pictures, `make` reads and shrinks them on a thread of its own, `spots` finds what is
//! seen of them on a drawn screen; `kitty`, `inline` and `sixel` make the bytes. With kitty's way a picture is sent once, in
//! small pieces behind everything else that is to be written, and its placeholders stay in the cells once it is there. In
//! the other ways the cells are blank, and the encoder draws over them when the picture has rested for a moment.

pub(super) mod form;
pub mod inline;
pub mod kitty;
pub(super) mod make;
pub mod sixel;
pub mod spots;
pub mod way;

use super::encode;
use crate::config::settings::Pictures;
use crate::domain::SessionId;
use crate::domain::picture::{Cells, Pixels, Want};
use form::PictureForm;
use image::codecs::png::CompressionType;
use ratatui::buffer::Buffer;
use spots::Spot;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use way::{Able, Choice, PictureWay};

/// Pictures that are kept ready, in bytes.
const KEPT: usize = 32 << 20;
/// Time a picture must stay in its place before it is drawn over cells.
const REST: Duration = Duration::from_millis(150);
/// Time after which a picture postponed on a slow line is tried again.
const PATIENCE: Duration = Duration::from_secs(10);

/// State of a picture in the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentState {
    No,
    OnItsWay,
    /// It is on its way, and the terminal will not have it.
    Lost,
    There,
}

#[derive(Debug)]
struct KeptPicture {
    form: PictureForm,
    cells: Cells,
    sent: SentState,
    /// The frame that showed it last.
    used: u64,
}

/// A picture to send: its number, and whole sequences.
pub(super) type Sending = (u32, Vec<Vec<u8>>);

/// Additions of a frame besides its cells.
#[derive(Debug, Default)]
pub(super) struct Laid {
    /// Pictures to send behind everything else.
    pub send: Vec<Sending>,
    /// Pictures drawn over blank cells.
    pub over: Vec<encode::Picture>,
    /// A frame is owed then, if none comes before.
    pub again: Option<Instant>,
}

/// The pictures of the session that is shown.
#[derive(Debug)]
pub(super) struct Graphics {
    setting: Pictures,
    choice: Choice,
    cell: Option<Pixels>,
    /// The terminal said in this run what it can: what is only remembered may be of another one.
    sure: bool,
    kept: HashMap<u32, KeptPicture>,
    last: u32,
    frame: u64,
    over: Vec<(Spot, encode::Picture)>,
    resting: Option<(Vec<Spot>, Instant)>,
}

impl Graphics {
    /// With what is remembered of the terminal.
    pub(super) fn new(setting: Pictures, env: &dyn Fn(&str) -> Option<String>, known: &Able) -> Self {
        let choice = way::choose(setting, env, known);
        Self {
            setting,
            cell: choice.way.and(known.cell()),
            choice,
            sure: false,
            kept: HashMap::new(),
            // Two programs of one terminal should not use the same numbers.
            last: fastrand::u32(0x10_0000..0xf0_0000),
            frame: 0,
            over: Vec::new(),
            resting: None,
        }
    }

    /// The size of a cell, where pictures are drawn.
    pub(super) fn cell(&self) -> Option<Pixels> {
        self.cell
    }

    /// The way, and the size of a cell.
    pub(super) fn way(&self) -> Option<(PictureWay, Pixels)> {
        Some((self.choice.way?, self.cell?))
    }

    /// Takes what the terminal can as it is known now. True when pictures are drawn otherwise from now on: what was ready
    /// is of no use any more, and its numbers come back to be let go.
    pub(super) fn learn(&mut self, env: &dyn Fn(&str) -> Option<String>, able: &Able) -> Option<Vec<u32>> {
        let choice = way::choose(self.setting, env, able);
        let cell = choice.way.and(able.cell());
        if (choice.way, cell) == (self.choice.way, self.cell) {
            return None;
        }
        (self.choice, self.cell) = (choice, cell);
        Some(self.forget())
    }

    /// The terminal has said all.
    pub(super) fn be_sure(&mut self) {
        self.sure = true;
    }

    /// Nothing is ready any more. The numbers that the terminal has.
    pub(super) fn forget(&mut self) -> Vec<u32> {
        self.resting = None;
        let gone = self.kept.drain().filter(|(_, kept)| kept.sent != SentState::No);
        gone.map(|(number, _)| number).collect()
    }

    /// The terminal does not have what it had: what is seen is sent again.
    pub(super) fn repaint(&mut self) {
        self.over.clear();
        for kept in self.kept.values_mut() {
            kept.sent = match kept.sent {
                SentState::OnItsWay | SentState::Lost => SentState::Lost,
                SentState::No | SentState::There => SentState::No,
            };
        }
    }

    /// The terminal was given to somebody else, and nothing is on its way any more.
    pub(super) fn left(&mut self) {
        self.over.clear();
        self.resting = None;
        for kept in self.kept.values_mut() {
            kept.sent = SentState::No;
        }
    }

    /// Takes a picture that was made ready: its number, and the numbers of those that had to go for it.
    pub(super) fn take(&mut self, want: &Want, form: PictureForm) -> (u32, Vec<u32>) {
        self.last = if self.last >= 0xff_ff00 { 0x10_0000 } else { self.last + 1 };
        let kept = KeptPicture { form, cells: want.cells, sent: SentState::No, used: self.frame };
        self.kept.insert(self.last, kept);
        let mut sum: usize = self.kept.values().map(|kept| kept.form.bytes()).sum();
        let mut idle: Vec<(u64, u32, usize)> = self
            .kept
            .iter()
            .filter(|(_, kept)| kept.used < self.frame && matches!(kept.sent, SentState::No | SentState::There))
            .map(|(number, kept)| (kept.used, *number, kept.form.bytes()))
            .collect();
        idle.sort_unstable();
        let mut gone = Vec::new();
        for (_, number, bytes) in idle {
            if sum <= KEPT {
                break;
            }
            sum -= bytes;
            self.kept.remove(&number);
            gone.push(number);
        }
        (self.last, gone)
    }

    /// All of a picture was written.
    pub(super) fn sent(&mut self, number: u32) {
        if let Some(kept) = self.kept.get_mut(&number) {
            kept.sent = if kept.sent == SentState::OnItsWay { SentState::There } else { SentState::No };
        }
    }

    /// The numbers that the terminal has, or is about to have.
    pub(super) fn held(&self) -> Vec<u32> {
        self.kept.iter().filter(|(_, kept)| kept.sent != SentState::No).map(|(number, _)| *number).collect()
    }

    /// Looks what a drawn screen shows of pictures, and leaves in it only what the terminal can draw now. On a line that
    /// pushes back nothing is begun.
    pub(super) fn lay(&mut self, buffer: &mut Buffer, slow: bool, now: Instant) -> Laid {
        self.frame += 1;
        let spots = spots::find(buffer);
        for spot in &spots {
            if let Some(kept) = self.kept.get_mut(&spot.number) {
                kept.used = self.frame;
            }
        }
        let begin = self.sure && !slow;
        let (mut laid, complete) = match self.choice.way {
            Some(PictureWay::Kitty) => self.placeholders(buffer, &spots, begin),
            Some(PictureWay::Iterm | PictureWay::Sixel) => self.overlays(buffer, spots, begin, now),
            None => {
                for spot in spots {
                    spots::blank(buffer, spot.area);
                }
                (Laid::default(), true)
            }
        };
        if self.sure && slow && !complete {
            laid.again = Some(now + PATIENCE);
        }
        laid
    }

    /// Sequences to send, and whether all pictures have been begun.
    fn placeholders(&mut self, buffer: &mut Buffer, spots: &[Spot], begin: bool) -> (Laid, bool) {
        let (mut laid, mut complete) = (Laid::default(), true);
        for spot in spots {
            let Some(kept) = self.kept.get_mut(&spot.number) else {
                spots::blank(buffer, spot.area);
                continue;
            };
            if kept.sent != SentState::There {
                spots::blank(buffer, spot.area);
            }
            if let (SentState::No, true, PictureForm::Kitty(png)) = (kept.sent, begin, &kept.form) {
                kept.sent = SentState::OnItsWay;
                laid.send.push((spot.number, kitty::transmit(spot.number, png, kept.cells)));
            }
            complete &= kept.sent != SentState::No;
        }
        (laid, complete)
    }

    /// Pictures to draw, and whether those are all visible ones.
    fn overlays(&mut self, buffer: &mut Buffer, mut spots: Vec<Spot>, begin: bool, now: Instant) -> (Laid, bool) {
        for spot in &spots {
            spots::blank(buffer, spot.area);
        }
        spots.retain(|spot| self.kept.contains_key(&spot.number));
        let seen = spots.len();
        self.over.retain(|(spot, _)| spots.contains(spot));
        let mut laid = Laid::default();
        if self.over.len() < spots.len() && begin {
            match self.resting.take().filter(|(resting, _)| *resting == spots) {
                Some((_, until)) if until <= now => {
                    for spot in &spots {
                        if self.over.iter().all(|(there, _)| there != spot)
                            && let Some(bytes) = self.bytes(spot)
                        {
                            self.over.push((*spot, encode::Picture { area: spot.area, bytes }));
                        }
                    }
                }
                Some((resting, until)) => {
                    laid.again = Some(until);
                    self.resting = Some((resting, until));
                }
                None => {
                    laid.again = Some(now + REST);
                    self.resting = Some((spots, now + REST));
                }
            }
        }
        laid.over = self.over.iter().map(|(_, picture)| picture.clone()).collect();
        let complete = laid.over.len() == seen;
        (laid, complete)
    }

    /// Bytes that draw a part of a picture.
    fn bytes(&self, spot: &Spot) -> Option<Arc<[u8]>> {
        let (kept, cell) = (self.kept.get(&spot.number)?, self.cell?);
        let cells = Cells { cols: spot.area.width, rows: spot.area.height };
        let is_whole = spot.from == (0, 0) && cells == kept.cells;
        let pixels = |cells: u16, cell: u32| u32::from(cells) * cell;
        let (x, y) = (pixels(spot.from.0, cell.width), pixels(spot.from.1, cell.height));
        let (width, height) = (pixels(cells.cols, cell.width), pixels(cells.rows, cell.height));
        match &kept.form {
            PictureForm::Kitty(_) => None,
            PictureForm::Inline(_, whole) | PictureForm::Sixel(_, whole) if is_whole => Some(Arc::clone(whole)),
            PictureForm::Inline(picture, _) => {
                let part = image::imageops::crop_imm(picture, x, y, width, height).to_image();
                let png = make::png(&part, CompressionType::Fast).ok()?;
                Some(inline::sequence(&png, cells).into())
            }
            PictureForm::Sixel(picture, _) => {
                let number = |n: u32| usize::try_from(n).unwrap_or(0);
                Some(picture.encode(number(x), number(y), number(width), number(height)).into())
            }
        }
    }
}

/// A picture of a session that came from the thread, or why there is none.
pub(super) type Shrunk = (SessionId, Want, Result<PictureForm, String>);

#[cfg(test)]
mod tests;
