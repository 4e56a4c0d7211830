//! Facts of a command line before it runs, for the permission decision: what only the disk can tell about its words.
//!
//! `bash` asks each of them in `inspect`. `named_paths` follows the words to secrets, devices and programs,
//! `escaping_links` finds those that lead out through a link, `affected_paths` what is changed without being named,
//! `git_moves` lines that are git alone, and `access_requests` what the call asks for beside the sandbox.
//!
//! The text itself is judged by `permit::shell`.

pub(super) mod access_requests;
pub(super) mod affected_paths;
pub(super) mod escaping_links;
pub(super) mod git_moves;
pub(super) mod named_paths;
