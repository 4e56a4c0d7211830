//! Commands that run: for `bash`, for jobs, and for scripts that work on data.
//!
//! 1. `confinement` looks up the profile of the command, and has `protected_files` look at what is there.
//! 2. `process` starts it through lisle's own program, reads it to its end (`output_buffer`), or leaves it to `jobs`.
//! 3. `confinement` reports after the end: what was put back, what was withheld, which secrets the command made itself
//!    (`own_secrets`).
//!
//! The facts of a command line are in `command_line`, the decision in `permit`, the enforcement in `sandbox`.

pub(super) mod confinement;
pub mod jobs;
pub(super) mod output_buffer;
mod own_secrets;
pub(super) mod process;
