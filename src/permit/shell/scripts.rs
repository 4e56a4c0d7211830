//! Texts that are programs for sed, awk, jq and yq: whether they only print.
//!
//! Each reading knows a small part of its language and refuses the rest.

mod awk;
mod jq;
mod sed;

pub(super) use awk::awk;
pub(super) use jq::{jq, yq};
pub(super) use sed::sed;
