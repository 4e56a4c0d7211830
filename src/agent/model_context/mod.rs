//! Context of the model: what a request gives it to read.
//!
//! `prompt` is the system prompt, with `project_memory` in it; `conversation` turns rows into items, with the files of
//! `media`; `tokens` counts them against the model's window. When they no longer fit, `carried_over` says what a compaction
//! keeps by structure, and `summary` asks for the rest in words. When that happens is decided in `machine::compaction`.

pub mod carried_over;
pub mod conversation;
pub mod extension_lines;
pub mod media;
pub mod project_memory;
pub mod prompt;
pub mod summary;
pub mod tokens;
