//! The floor of the house: values and nothing else.
//!
//! The vocabulary lives here, one word per concept: session, message, turn, tool call, permission mode, plan,
//! approval, queue, connection. No I/O, no async, no clock; nothing of ours above it is imported.

pub mod access;
pub mod address;
pub mod attachment;
pub mod attention;
pub mod audit_log;
pub mod code;
pub mod colour;
pub mod command;
pub mod command_effects;
pub mod context;
pub mod count;
pub mod datatable;
pub mod diff;
pub mod dropped;
pub mod export;
pub mod expression;
pub mod finding;
pub mod fold;
pub mod foreign;
pub mod git_settings;
pub mod ids;
pub mod job;
pub mod link;
pub mod lookalike;
pub mod manual;
pub mod message;
pub mod model;
pub mod nearest;
pub mod notice;
pub mod paths;
pub mod percent;
pub mod permission;
pub mod picture;
pub mod plan;
pub mod problem;
pub mod prompt_text;
pub mod property;
pub mod property_change;
pub mod query;
pub mod request;
pub mod rule;
pub mod sanitise;
pub mod search_hit;
pub mod secret;
pub mod session;
pub mod session_health;
pub mod setting;
pub mod source;
pub mod spending;
pub mod splice;
pub mod status_line;
pub mod title;
pub mod tool;
pub mod trash;
pub mod undo;
pub mod unsaved;
pub mod usage;
pub mod workspace;

pub use ids::{At, CallId, ConnectionName, MessageId, RequestId, SessionId};
pub use message::{Body, Message};
pub use notice::{Level, Notice};
pub use permission::Mode;
pub use session::SessionMeta;
