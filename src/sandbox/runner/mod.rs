//! Processes around one command, in their order: lisle, the command's parent, the command.
//!
//! 1. `launch`, in lisle: starts `lisle __run -` and sends it the order, with descriptors (`descriptor_passing`).
//! 2. `parent_process`, in `lisle __run`: starts the command (`child`), passes its output on, holds it to its limits, and
//!    ends all that it started (`processes`).
//! 3. `child`: the process that becomes the command, with its variables (`environment`). It confines itself before:
//!    `linux::confine`, or `seatbelt` on macOS.

pub(super) mod child;
pub(super) mod descriptor_passing;
pub mod environment;
pub mod launch;
pub mod named_keys;
pub mod parent_process;
pub mod processes;
mod temp;
