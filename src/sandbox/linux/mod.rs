//! Confinement of a command on Linux, before it begins: `confine` calls the others in this order.
//!
//! `pid_namespace` gives the command processes of its own, `root_fs` a file system of the listed paths alone (`mounts`,
//! `links`, `covers` over what is hidden, `opened_masks` for what looks behind them), `root_capabilities` takes rights of
//! root away, `landlock_rules` closes paths, ports and sockets, and `seccomp` (`seccomp_numbers`) calls of the kernel.
//! `mount_renewal` mounts anew what somebody outside replaced while the command runs.

pub mod confine;
mod covers;
pub(super) mod landlock_rules;
mod links;
pub(super) mod mount_renewal;
mod mounts;
pub(super) mod opened_masks;
pub(super) mod pid_namespace;
mod root_capabilities;
pub(super) mod root_fs;
mod seccomp;
mod seccomp_numbers;
