//! Protected files that a command changed, such as `.git/hooks`, are put back.
//!
//! 1. `watch` looks before a command, while jobs run and after the end; `sandbox::protected_files` compares. Commands of other
//!    processes of lisle in the same folder count too (`other_processes`).
//! 2. `decide` settles each change: whether it may stay, and the line that tells of it.
//! 3. `put_back` does it: what is new is moved aside, what was there is restored. `interrupted` notes it on the disk
//!    until it is done, so that a killed lisle leaves nothing half done.
//!
//! Which paths are protected is known to `domain::paths` and `sandbox::places`.

pub(super) mod decide;
pub mod interrupted;
pub mod other_processes;
mod process_notes;
mod put_back;
pub(super) mod watch;

pub use watch::another_runs;
#[cfg(test)]
pub use watch::running_in;
