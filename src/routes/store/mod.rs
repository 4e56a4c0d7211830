//! Rows of the routes as files: `sessions.json` of each agent, in the reference's format.
//!
//! | file | what |
//! |---|---|
//! | `store_file` | [`RouteStore`]: reading, and changes under the lock |
//! | `rows` | [`RouteRows`]: rows as the file has them |
//! | `lock` | the lock, shared with other programs |
//! | `places` | [`AgentStore`]: where the stores of the agents are |
//! | `conversations` | conversations behind the rows: files beside a store, or sessions of a workspace |
//! | `import` | stores of the reference with their transcripts, as rows and sessions of lisle |
//! | `export` | rows and sessions of lisle in the reference's layout |
//! | `maintain` | maintenance: the plan of [`super::maintenance`] on real files |
//!
//! Invariants: rows are read again under the lock before each change. The file is replaced whole, so that a death at any
//! moment leaves the old or the new one. A file that is no store is moved aside before anything is written in its place.

mod conversations;
mod error;
mod export;
mod import;
mod lock;
mod maintain;
mod places;
mod rows;
mod store_file;
#[cfg(test)]
mod tests;

pub use conversations::{ConversationSurvey, Conversations, FolderConversations, WorkspaceConversations};
pub use error::RouteStoreError;
pub use export::{StoreExport, StoreExportReport};
pub use import::{ImportedRoute, StoreImport, StoreImportReport, stores_below};
pub use maintain::{Maintained, MaintainedStore, maintain};
pub use places::{AgentStore, agent_of, agent_stores, store_path};
pub use rows::RouteRows;
pub use store_file::RouteStore;
