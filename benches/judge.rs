//! How long ten thousand judgements take: in the library, and with the facts of the disk through `permissions check`.
//! `cargo bench --bench judge`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement ends where it cannot go on")]

use lisle::permit::shell::{Judged, ReadOnlyProfile, judge};
use std::process::Command;
use std::time::{Duration, Instant};

const COUNT: usize = 10_000;
/// The bound.
const MOST: Duration = Duration::from_secs(5);

fn main() {
    let texts = [include_str!("../tests/judge/allowed.txt"), include_str!("../tests/judge/refused.txt")];
    let written: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with("## ")).collect();
    let lines: Vec<String> =
        written.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| (*line).to_owned())).collect();
    let started = Instant::now();
    let mut reads = 0;
    for line in lines.iter().cycle().take(COUNT) {
        reads += usize::from(matches!(judge(line, ReadOnlyProfile::Enforced).verdict, Judged::ReadOnly(_)));
    }
    let judged = started.elapsed();
    println!("{COUNT} judgements: {judged:?} ({reads} only read)");

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("commands");
    let many: Vec<&str> = written.iter().copied().cycle().take(COUNT).collect();
    std::fs::write(&file, many.join("\n")).unwrap();
    let started = Instant::now();
    let out = Command::new(env!("CARGO_BIN_EXE_lisle"))
        .args(["permissions", "check", "--sandbox", "enforced", "--file"])
        .arg(&file)
        .current_dir(dir.path())
        .env("LISLE_HOME", dir.path().join("home"))
        .output()
        .unwrap();
    let checked = started.elapsed();
    let answers = out.stdout.iter().filter(|byte| **byte == b'\n').count();
    println!("{COUNT} lines of permissions check --file: {checked:?} ({answers} answers)");
    assert_eq!(answers, COUNT);
    assert!(judged < MOST && checked < MOST, "longer than {MOST:?}");
}
