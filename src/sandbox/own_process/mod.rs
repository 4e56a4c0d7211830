//! lisle's own process: memory settings, keys in its environment, and the limit of open files, streams at the start.

pub mod descriptors;
#[cfg(target_os = "linux")]
pub mod keys;
pub mod memory;
pub mod streams;
