//! The sessions on disk: one directory each, in files that Craft Agents can open too.
//!
//! | folder | what |
//! |---|---|
//! | `open` | opening, loading and creating a session |
//! | `format` | files as values: `header` `row` `live`, tolerant `json`, `layout` (paths of files), `portable_paths` (paths inside files), `names` (ids), `file_refs` (files that rows refer to), `damaged_line` |
//! | `read` | `list` with `index` as its cache; `session` in pages, `page_at` around a hit, `search` over all |
//! | `write` | [`Journal`] writes one session, [`Writer`] is its thread; the journal's data: `session_file`, `header_state`, `row_queue`, `sync_state`, `row_copies`, `ownership`, `lifecycle`, `live_file`; `header_writer`, `tail_repair` before the first write, `lock`, `recent_rows` where a file was replaced; `branch`, `closed_session`, `drafts`, `usage_log`; `rescue` for what a disk does not take |
//! | `maintain` | `verify` and `repair`, `clear`, `trash`, `checkpoints` of undo |
//! | `interop` | [`Follower`] and `wake` for what another process writes; `other_writers`, `shadow_log` and `merge` for the same file written by two; `import`, `export`; `properties` of the workspace |
//! | `workspace` | [`Store`]: folder, mark and paths of a workspace |
//! | [`prompt_files`] | contexts, patterns and strategies, which belong to no session |
//! | `io` | every file call, so that tests can put errors and deaths between them; `lines` `whole_file` `trees` on top |
//!
//! The meaning of rows to a model or to the screen is up to others.

mod error;
mod format;
mod interop;
pub mod io;
mod maintain;
mod open;
pub mod prompt_files;
mod read;
mod real_folders;
mod workspace;
mod write;

#[cfg(test)]
pub(crate) mod tests;

pub use error::StoreError;
pub use format::header::Counted;
pub use format::{header, row};
pub use interop::export::{Exported, FillExport, WriteExport};
pub use interop::follow::{Followed, Follower};
pub use interop::import::{
    Histories, HistoryItem, HistoryKind, HistoryLook, ImportRun, ImportStop, Imported, NotIncluded, Reimport,
    SeenHistories, histories, histories_in,
};
pub use interop::merge::Merged;
pub use interop::properties::PropertiesStamp;
pub use interop::wake::FolderWatch;
pub use maintain::checkpoints;
pub use maintain::trash::Deleted;
pub use open::{Access, LoadedSession, ReadTranscript};
pub use read::list::{IndexMark, Listing};
pub use read::page_at::Around;
pub use read::session::RowPage;
pub use workspace::{Durability, Fsync, Options, PublicPages, Store};
pub use write::journal::Journal;
pub use write::lock::{process_runs, process_start};
pub use write::ownership::Elsewhere;
pub use write::usage_log;
pub use write::writer::{Health, Urgency, Writer};
