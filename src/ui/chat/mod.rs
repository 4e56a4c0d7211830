//! The conversation as lines.
