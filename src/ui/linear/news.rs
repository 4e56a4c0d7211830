//! New lines to print.

/// New lines to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The lines, without their ends. Nothing in them acts on a terminal.
    pub lines: Vec<String>,
    /// A turn began.
    pub began: bool,
    /// A turn ended.
    pub ended: bool,
}
