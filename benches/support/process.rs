//! Resources that a process uses.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Threads of a process.
pub fn tasks(pid: i32) -> Vec<PathBuf> {
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// CPU time of all threads of a process.
pub fn cpu(pid: i32) -> Duration {
    let nanos = |task: &Path| {
        let text = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks(pid).iter().map(|task| nanos(task)).sum())
}

/// The process's share of the memory it uses, in MB.
pub fn pss(pid: i32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1000.0
}
