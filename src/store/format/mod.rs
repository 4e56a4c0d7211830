//! Formats of the files of a session and a workspace: header, rows, live file, paths. Who reads and writes them is up to
//! `read` and `write`.

pub(super) mod damaged_line;
pub(super) mod file_refs;
pub mod header;
pub(super) mod json;
pub(super) mod layout;
pub(super) mod live;
pub(super) mod names;
pub(super) mod portable_paths;
pub mod row;
