//! Panels of what is asked: answers, the words that they need, plans.

pub(crate) mod answers;
pub(crate) mod hunks;
pub(crate) mod key_field;
pub(crate) mod letters;
pub(crate) mod panel;
pub(crate) mod plan;
