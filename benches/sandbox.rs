//! What it costs to hold a command: `bash -c true` through the real program, in the profiles of a real working directory.
//!
//! `cargo bench --bench sandbox`, or with another build of lisle behind `--` to compare with, which takes turns with this one:
//! `cargo bench --bench sandbox -- /path/to/lisle`. From the start to the report, medians. On a busy machine it measures the
//! machine; `chrt -f 1` before it keeps others out as root.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures and prints")]

use lisle::sandbox::places::{self, Moves, Site};
use lisle::sandbox::runner::launch::{self, Order};
use lisle::sandbox::{Allowances, Invocation, Namespaces, Profile, RunReport, system_support};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");
const TIMES: usize = 200;
/// The bound for one command.
const MOST: Duration = Duration::from_millis(6);
/// The time in which a parent gets ready, which passes between two commands.
const BETWEEN: Duration = Duration::from_millis(10);

fn main() {
    let other = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).map(PathBuf::from);
    let dir = tempfile::tempdir_in(std::env::home_dir().unwrap()).unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (work, session) = (root.join("work"), root.join("session"));
    for folder in ["work/.git/hooks", "work/.github/workflows", "session/data"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in ["work/.git/config", "work/.env", "work/.envrc", "work/.github/workflows/ci.yml", "work/a.rs"] {
        std::fs::write(root.join(file), "content\n").unwrap();
    }
    let spaces = system_support::spaces(Path::new(LISLE));
    println!("{:<34} {:>12} {:>12} {:>12}", "median of 200", "ready", "from a start", "the other");
    let mut late = Vec::new();
    for namespaces in [spaces, Namespaces::Without] {
        for reads in [false, true] {
            let allowances = Allowances { own_temp: true, ..Allowances::default() };
            let home = std::env::home_dir();
            let site = Site {
                cwd: &work,
                session_dir: &session,
                own_dirs: &[],
                allowances: &allowances,
                named: &[],
                approved: &[],
                moves: Moves::default(),
                home: home.as_deref(),
                namespaces,
            };
            let profile = if reads { places::read_only(&site) } else { places::workspace(&site) };
            let name = format!("{}, {namespaces:?} namespaces", if reads { "read-only" } else { "workspace" });
            let ready = line(&name, &work, profile, other.as_deref());
            if ready > MOST {
                late.push(name);
            }
        }
    }
    assert!(late.is_empty(), "longer than {MOST:?}: {}", late.join("; "));
}

/// Measures one profile; the median with a parent that is ready.
fn line(name: &str, work: &Path, profile: Profile, other: Option<&Path>) -> Duration {
    let command = ["/bin/bash", "--noprofile", "--norc", "-c", "true"].map(Into::into).to_vec();
    let invocation =
        Invocation { timeout: Duration::from_secs(60), output_limit: 1_000_000, memory: None, profile, command };
    // Variables as a desktop has them; values that might be keys are looked at where a command gets them.
    let usual = [("COLORFGBG", "15;0"), ("GTK_MODULES", "gail:atk-bridge"), ("XDG_SESSION_PATH", "/org/x/Session1")]
        .map(|(name, value)| (name.into(), value.into()));
    let variables =
        ["PATH", "HOME", "LANG"].iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).chain(usual);
    let order = Order { cwd: work.to_owned(), folder: None, variables: variables.collect(), invocation, talks: false };
    let mut took: [Vec<Duration>; 3] = Default::default();
    for _ in 0..TIMES {
        launch::keep_ready(Path::new(LISLE));
        std::thread::sleep(BETWEEN);
        took[0].push(ordered(&order));
        took[1].push(started(Path::new(LISLE), &order));
        took[2].extend(other.map(|other| started(other, &order)));
    }
    let medians = took.map(|mut all| {
        all.sort();
        all.get(all.len() / 2).copied()
    });
    let shown =
        medians.map(|median| median.map_or_else(String::new, |time| format!("{:.2} ms", time.as_secs_f64() * 1e3)));
    println!("{name:<34} {:>12} {:>12} {:>12}", shown[0], shown[1], shown[2]);
    medians[0].unwrap()
}

fn ordered(order: &Order) -> Duration {
    let began = Instant::now();
    let mut held = launch::start(Path::new(LISLE), order).unwrap();
    let (mut said, mut report) = (String::new(), String::new());
    held.output.read_to_string(&mut said).unwrap();
    held.report.read_to_string(&mut report).unwrap();
    let took = began.elapsed();
    is_well(&said, &report);
    took
}

fn started(lisle: &Path, order: &Order) -> Duration {
    let began = Instant::now();
    let mut child = Command::new(lisle)
        .args(order.invocation.arguments())
        .current_dir(&order.cwd)
        .env_clear()
        .envs(order.variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let control = child.stdin.take();
    let (mut said, mut report) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut report).unwrap();
    let took = began.elapsed();
    drop(control);
    child.wait().unwrap();
    is_well(&said, &report);
    took
}

fn is_well(said: &str, report: &str) {
    let report = RunReport::parse(report).unwrap_or_else(|| panic!("{said} {report}"));
    assert_eq!((report.code(), said), (Some(0), ""), "{report:?}");
}
