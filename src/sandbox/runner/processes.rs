//! Finds processes in `/proc` and sends them signals. Linux; elsewhere nothing is found.

use rustix::process::{Pid, Signal};
use std::collections::HashMap;

/// Fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessStat {
    pid: i32,
    parent: i32,
    session: i32,
    /// True once it ended and was not waited for yet.
    is_over: bool,
}

/// Reads a line of `/proc/PID/stat`. The name in it may hold blanks and parentheses, so it is read from the last one.
fn entry(line: &str) -> Option<ProcessStat> {
    let pid = line.split(' ').next()?.parse().ok()?;
    let mut rest = line.rsplit_once(") ")?.1.split(' ');
    let is_over = matches!(rest.next()?, "Z" | "X");
    let parent = rest.next()?.parse().ok()?;
    let session = rest.nth(1)?.parse().ok()?;
    Some(ProcessStat { pid, parent, session, is_over })
}

fn all() -> Vec<ProcessStat> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|dir| dir.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit())))
        // A process may end between the two reads; then it is not there.
        .filter_map(|dir| entry(&String::from_utf8_lossy(&std::fs::read(dir.path().join("stat")).ok()?)))
        .collect()
}

/// Everything below `root`, itself left out. With a subreaper as `root` nothing that it started can leave.
#[must_use]
pub fn descendants(root: i32) -> Vec<i32> {
    below(root, &all())
}

/// Everything below this process.
pub(in crate::sandbox) fn own_descendants() -> Vec<i32> {
    descendants(rustix::process::getpid().as_raw_nonzero().get())
}

fn below(root: i32, entries: &[ProcessStat]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in entries {
        children.entry(entry.parent).or_default().push(entry.pid);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(child);
            next.push(child);
        }
    }
    found
}

/// The process is the first one of a namespace, and a child of this process: the one that lisle starts there. A namespace
/// that a command made has its first process below another one.
#[must_use]
pub fn is_own_first(pid: i32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
    let mut numbers = field("NSpid:").split_whitespace();
    let is_first = numbers.next().is_some() && numbers.last() == Some("1");
    is_first && field("PPid:").parse() == Ok(std::process::id())
}

/// Sends a signal to each; processes that are gone or not ours are passed over.
pub fn signal(pids: &[i32], signal: Signal) {
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Ends what is left of a session whose leader was killed (SIGKILL): the processes that did not start one of their own.
/// Waits for their end, at most half a second.
///
/// The leader must not have been waited for yet, so that its number is still its own.
pub fn kill_session(leader: i32) {
    // A process that forks meanwhile is met by the next round.
    for _ in 0..100 {
        let members: Vec<i32> = all()
            .into_iter()
            .filter(|entry| entry.session == leader && entry.pid != leader && !entry.is_over)
            .map(|entry| entry.pid)
            .collect();
        if members.is_empty() {
            return;
        }
        signal(&members, Signal::KILL);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_do_not_confuse() {
        assert_eq!(
            entry("12 (a) R 1 (b) ) S 7 12 9 0 -1 4194560"),
            Some(ProcessStat { pid: 12, parent: 7, session: 9, is_over: false })
        );
        assert!(entry("12 (a) Z 7 12 9 0").is_some_and(|entry| entry.is_over));
        assert_eq!(entry(""), None);
        assert_eq!(entry("12 (x)"), None);
    }

    #[test]
    fn whole_trees_are_found() {
        let e = |pid, parent| ProcessStat { pid, parent, session: 0, is_over: false };
        let mut found = below(2, &[e(2, 1), e(3, 2), e(4, 3), e(5, 1), e(6, 5), e(7, 2)]);
        found.sort_unstable();
        assert_eq!(found, [3, 4, 7]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_a_descendant() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(descendants(i32::try_from(std::process::id()).unwrap()).contains(&pid));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
