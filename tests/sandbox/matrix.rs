//! Reach of each class of attacks in each combination, as a table: `.ci/walls` prints it for docs/security.md.

use super::walls::{Tried, Way, Yard, tools, ways};
use std::collections::{BTreeMap, BTreeSet};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::Command;

/// A row: what is attacked, by which class of the program, with which arguments.
type Row = (&'static str, &'static str, Vec<String>);

#[test]
#[ignore = "prints what was measured"]
fn matrix() {
    let yard = Yard::new();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let rows = rows(&yard, &other.id().to_string());
    let (stream, datagram) = (yard.outside.join("stream"), yard.outside.join("datagram"));
    let _listeners = (UnixListener::bind(&stream).unwrap(), UnixDatagram::bind(&datagram).unwrap());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(ABSTRACT).unwrap()).unwrap();
    for path in [&stream, &datagram] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let key = std::process::id().to_string();
    for class in ["memory", "queues"] {
        let name = if class == "memory" { key.clone() } else { QUEUE.to_owned() };
        Command::new(&tools().walls).args([class, &name, "made"]).status().unwrap();
    }
    let columns = [("--read-only", true), ("--read-only", false), ("--workspace", true), ("--workspace", false)];
    println!("| Attack | not held | read-only, namespaces | read-only | workspace, namespaces | workspace |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, class, arguments) in rows {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let harmless = yard.tried(None, class, &arguments);
        let open = harmless.map_or_else(
            || "not tried".to_owned(),
            |worked| match worked.len() {
                1 => "1 way".to_owned(),
                many => format!("{many} ways"),
            },
        );
        let cells = columns.map(|(profile, namespaces)| {
            let found = ways().into_iter().filter(|way| way.profile == profile && way.namespaces == namespaces);
            cell(found.filter_map(|way| Some((way, yard.tried(Some(way), class, &arguments)?))).collect())
        });
        println!("| {name} | {open} | {} |", cells.join(" | "));
    }
    for (class, name) in [("memory", key.as_str()), ("queues", QUEUE)] {
        Command::new(&tools().walls).args([class, name, "gone"]).status().unwrap();
    }
    let _ = other.kill();
    let _ = other.wait();
}

const ABSTRACT: &str = "lisle-test-matrix";
const QUEUE: &str = "/lisle-test-matrix";

fn rows(yard: &Yard, other: &str) -> Vec<Row> {
    let at = |name: &str| yard.outside.join(name).display().to_string();
    let own = |arguments: &[&str]| arguments.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let work = yard.work.display().to_string();
    vec![
        ("Devices, terminals of others", "devices", own(&[&work, "/dev/tty"])),
        ("Memory, variables, descriptors of other processes", "processes", own(&["1", other])),
        ("Signals to other processes", "signals", own(&[other])),
        ("Scheduling of other processes", "schedules", own(&[other])),
        ("System V shared memory of others", "memory", own(&[&std::process::id().to_string()])),
        ("POSIX queues of others", "queues", own(&[QUEUE])),
        ("Mounts, namespaces", "mounts", own(&["/etc"])),
        ("Kernel calls, foreign call tables", "calls", own(&[&work])),
        ("Typing at terminals", "terminals", own(&[])),
        ("Kernel settings, control groups", "settings", own(&[])),
        ("Files that are not listed", "reads", own(&[&at("secret"), "/root", "/boot"])),
        ("Whether such a file exists", "oracle", own(&[&at("secret"), &at("missing")])),
        ("Watching a folder that is not listed", "watches", own(&[&yard.outside.display().to_string()])),
        ("Sockets of others, families", "sockets", own(&[&at("stream"), &format!("@{ABSTRACT}"), &at("datagram")])),
        ("Set-id files", "set-ids", own(&[&at("secret")])),
        ("The profile, by lisle's arguments", "arguments", own(&[&work])),
    ]
}

/// Attacks that worked, with the versions of Landlock and the users for which they did.
fn cell(found: Vec<(Way, Tried)>) -> String {
    let mut by: BTreeMap<Tried, (BTreeSet<i32>, BTreeSet<bool>, bool)> = BTreeMap::new();
    let outcomes: BTreeSet<Tried> = found.iter().map(|(_, tried)| tried.clone()).collect();
    for (way, tried) in found {
        let entry = by.entry(tried).or_default();
        entry.0.insert(way.abi);
        entry.1.insert(way.other);
        entry.2 |= way.lacks == 0;
    }
    let said = |tried: &Tried| match tried.len() {
        0 => "held".to_owned(),
        1..=2 => tried.iter().cloned().collect::<Vec<_>>().join(", "),
        many => format!("{many} ways"),
    };
    let parts = by.iter().map(|(tried, (abis, users, whole))| {
        if outcomes.len() == 1 {
            return said(tried);
        }
        let (first, last) = (abis.first().copied().unwrap_or(0), abis.last().copied().unwrap_or(0));
        let users = match (users.contains(&false), users.contains(&true)) {
            (true, true) => "",
            (true, false) => ", root",
            _ => ", another user",
        };
        let part = if *whole { "" } else { ", namespaces in part" };
        format!("{} (Landlock {first} to {last}{users}{part})", said(tried))
    });
    parts.collect::<Vec<_>>().join("; ")
}
