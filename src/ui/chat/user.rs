//! A user's message: as typed, long ones folded.

use super::files;
use super::laid_out_line::{LaidOutLine, Unfold};
use super::picture::PictureRows;
use super::row::{Level, Row};
use super::rows;
use super::source_lines::plain;
use crate::domain::message::UserText;
use crate::domain::plan;
use crate::domain::sanitise::clean_message;
use crate::theme::Role;
use crate::ui::text::Fold;

/// Lines above which a message is folded, and those that stay.
const LONG: usize = 40;
const SHOWN: usize = 20;

/// The message as lines; what is kept for pictures among them is added to `pictures`.
pub(super) fn lines(user: &UserText, row: &Row<'_>, pictures: &mut Vec<PictureRows>) -> Vec<LaidOutLine> {
    if plan::is_approval(&user.text) && row.level != Level::Full {
        return rows::approval(plan::approval_mode(&user.text), row);
    }
    let style = row.look.style(Role::User);
    let text = clean_message(user.text.trim_end());
    let all: Vec<&str> = text.split('\n').collect();
    let folded = all.len() > LONG && row.level != Level::Full;
    let shown = if folded { SHOWN } else { all.len() };
    let mut out = Vec::new();
    if !text.is_empty() {
        for line in all.iter().take(shown) {
            out.extend(plain(line, style, row.width, &[], Fold::Words, &row.look));
        }
    }
    if folded {
        out.push(row.more(all.len() - shown, Unfold::Here));
    }
    if !user.attachments.is_empty() {
        files::add(&user.attachments, row, &mut out, pictures);
    }
    out
}
