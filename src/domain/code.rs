//! Code as it is coloured: a block on its way to the highlighter, and what comes back.
//!
//! A block is identified by its entry and its number there. Nobody waits for colours: until they are
//! there, and where there are none, the text is plain.

/// Class of a piece of code, as far as it has a colour of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shade {
    /// `fn`, `if`, `return`.
    Keyword,
    /// A text in quotes.
    String,
    /// Comments.
    Comment,
    /// A number.
    Number,
    /// A type, class or trait.
    Type,
    /// A function, a macro, a command.
    Function,
    /// `true`, `null`, an escape, an attribute.
    Constant,
    /// A heading of markup.
    Heading,
    /// An added line of a patch.
    Added,
    /// A removed line of a patch.
    Removed,
}

/// Bytes of a line in one shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadedRun {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Class of these bytes.
    pub shade: Shade,
}

/// A block of code that has no colours yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The entry of the conversation.
    pub key: i64,
    /// Its number in the entry.
    pub number: u32,
    /// The word for the language, as it was written above the block, or a file's ending.
    pub lang: String,
    /// The lines as they are shown; empty where there are too many to colour.
    pub text: String,
    /// No more of it comes.
    pub whole: bool,
    /// The entry's revision that it was taken from.
    pub revision: u64,
}

/// The colours of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloured {
    /// The entry of the conversation.
    pub key: i64,
    /// Its number in the entry.
    pub number: u32,
    /// They are those of the whole block.
    pub whole: bool,
    /// The entry's revision that the block was taken from.
    pub revision: u64,
    /// A line each, from left to right; what is in no run is plain.
    pub lines: Vec<Vec<ShadedRun>>,
}
