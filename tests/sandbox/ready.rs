//! A parent of commands that waits for its order does what one does that was started for it.

use lisle::sandbox::places::hidden::HeldPlaces;
use lisle::sandbox::runner::launch::{self, Order, StartedParent};
use lisle::sandbox::working_folder::WorkingFolder;
use lisle::sandbox::{Bounds, Ended, Invocation, Namespaces, Network, Profile, Replaced, RunReport, system_support};
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");
/// One is kept ready for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn order(cwd: &Path, profile: Profile, line: &str) -> Order {
    let command = ["/bin/sh", "-c", line].map(Into::into).to_vec();
    let invocation =
        Invocation { timeout: Duration::from_secs(60), output_limit: 100_000, memory: None, profile, command };
    let variables = [("PATH", "/usr/bin:/bin"), ("NAME", "a b\nc"), ("NAME", "the last"), ("GH_TOKEN", "by a rule")];
    Order {
        cwd: cwd.to_owned(),
        folder: WorkingFolder::of(cwd).number(),
        variables: variables.map(|(name, value)| (name.into(), value.into())).to_vec(),
        invocation,
        talks: false,
    }
}

fn outcome(mut held: StartedParent) -> (String, RunReport) {
    let (mut said, mut report) = (String::new(), String::new());
    held.output.read_to_string(&mut said).unwrap();
    held.report.read_to_string(&mut report).unwrap();
    let report = RunReport::parse(&report).unwrap_or_else(|| panic!("{said} {report}"));
    (said, report)
}

/// Children of this process that wait for an order, once there are some. A process that was just started shows its arguments a
/// moment after its parent goes on.
fn waiting() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let waits =
        |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0__run\0-\0"));
    let late = Instant::now() + Duration::from_secs(60);
    loop {
        let found: Vec<i32> = lisle::sandbox::runner::processes::descendants(own).into_iter().filter(waits).collect();
        if !found.is_empty() {
            return found;
        }
        assert!(Instant::now() < late, "nobody waits for an order");
        std::thread::yield_now();
    }
}

#[test]
fn an_order_is_followed_and_a_parent_that_was_killed_is_replaced() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().canonicalize().unwrap();
    let line = "pwd; echo \"$NAME, $GH_TOKEN\"; tr '\\0' ' ' < /proc/$PPID/cmdline | tr -s ' '; exit 3";
    let expected = format!("{}\nthe last, by a rule\n{LISLE} __run ", cwd.display());
    // From a start, ready, and after the one that was ready is gone.
    for killed in [false, false, true] {
        if killed {
            for pid in waiting() {
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
                let _ = rustix::process::waitid(
                    rustix::process::WaitId::Pid(pid),
                    rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
                );
            }
        }
        let (said, report) = outcome(launch::start(Path::new(LISLE), &order(&cwd, Profile::Open, line)).unwrap());
        assert_eq!((said.as_str(), report.exit, report.ended), (expected.as_str(), Some(3), Ended::Itself));
        launch::keep_ready(Path::new(LISLE));
    }
    let gone = cwd.join("gone");
    let (_, report) = outcome(launch::start(Path::new(LISLE), &order(&gone, Profile::Open, "true")).unwrap());
    assert_eq!(report.ended, Ended::NotStarted);
    assert!(report.error.unwrap().contains("gone"));
    assert!(launch::start(Path::new("/no/such/lisle"), &order(&cwd, Profile::Open, "true")).is_err());
}

#[test]
fn a_held_command_sees_what_is_there_when_it_starts() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let spaces = system_support::spaces(Path::new(LISLE));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().canonicalize().unwrap();
    launch::keep_ready(Path::new(LISLE));
    std::fs::write(cwd.join("new"), "new\n").unwrap();
    let bounds = Bounds {
        readable: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![cwd.clone()],
        namespaces: spaces,
        network: Network::Off,
        ..Bounds::default()
    };
    let line = "cat new; echo x > made; test $PPID = 1 && ls /home /root 2>/dev/null; sleep 1000 & echo over";
    let held = launch::start(Path::new(LISLE), &order(&cwd, Profile::Workspace(bounds), line)).unwrap();
    let (said, report) = outcome(held);
    assert_eq!((said.as_str(), report.exit, report.left), ("new\nover\n", Some(0), 1), "{report:?}");
    assert_eq!(std::fs::read_to_string(cwd.join("made")).unwrap(), "x\n");
}

#[test]
fn a_hidden_place_in_whose_folder_another_one_is_shown_stops_no_command() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let spaces = system_support::spaces(Path::new(LISLE));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["work/.env", "outside/deep/key", "outside/both", "outside/inner/key", "instead/both"] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), format!("{name}\n")).unwrap();
    }
    let masked = ["outside/deep/key", "outside/both", "outside/inner/key", "work/.env"].map(|name| root.join(name));
    let bounds = Bounds {
        readable: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![root.join("work"), root.join("outside/inner")],
        replaced: vec![Replaced { at: root.join("outside"), with: root.join("instead") }],
        held: HeldPlaces::of(&masked).into(),
        masked: masked.to_vec(),
        namespaces: spaces,
        network: Network::Off,
        ..Bounds::default()
    };
    for profile in [Profile::Workspace(bounds.clone()), Profile::ReadOnly(bounds)] {
        let line = "cat .env ../outside/both ../outside/inner/key; cat ../outside/deep/key";
        let order = order(&root.join("work"), profile, line);
        let (said, report) = outcome(launch::start(Path::new(LISLE), &order).unwrap());
        let lines: Vec<&str> = said.lines().take(3).collect();
        let hidden = "# hidden by lisle";
        assert_eq!((&lines[..], report.exit), (&[hidden, "instead/both", hidden][..], Some(1)), "{said} {report:?}");
    }
}

#[test]
fn the_end_of_the_control_socket_ends_a_command() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let line = "trap 'echo asked; exit 5' TERM; echo begun; sleep 1000 & wait";
    let mut held = launch::start(Path::new(LISLE), &order(dir.path(), Profile::Open, line)).unwrap();
    let mut begun = [0; 6];
    held.output.read_exact(&mut begun).unwrap();
    held.control.shutdown(std::net::Shutdown::Both).unwrap();
    let (said, report) = outcome(held);
    assert_eq!((&begun, said.as_str(), report.ended), (b"begun\n", "asked\n", Ended::Asked));
}

#[test]
fn what_is_replaced_from_outside_is_covered_again() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let spaces = system_support::spaces(Path::new(LISLE));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(cwd.join(".aws")).unwrap();
    std::fs::create_dir_all(cwd.join("hooks")).unwrap();
    for name in [".envrc", ".env", ".aws/x", "hooks/x"] {
        std::fs::write(cwd.join(name), "first\n").unwrap();
    }
    let bounds = Bounds {
        readable: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![cwd.clone()],
        protected: vec![cwd.join(".envrc"), cwd.join("hooks")],
        masked: vec![cwd.join(".env"), cwd.join(".aws")],
        namespaces: spaces,
        network: Network::Off,
        ..Bounds::default()
    };
    let line = "echo ready; until [ -e go ]; do sleep 0.01; done; \
        echo evil >> .envrc || echo kept; echo evil > hooks/x || echo kept; cat .env .aws/x || echo hidden";
    let mut held = launch::start(Path::new(LISLE), &order(&cwd, Profile::Workspace(bounds), line)).unwrap();
    let mut begun = [0; 6];
    held.output.read_exact(&mut begun).unwrap();
    // As editors and git save.
    for name in [".envrc", ".env"] {
        std::fs::write(cwd.join("new"), "second\n").unwrap();
        std::fs::rename(cwd.join("new"), cwd.join(name)).unwrap();
    }
    for name in ["hooks", ".aws"] {
        std::fs::rename(cwd.join(name), dir.path().join(format!("old-{name}"))).unwrap();
        std::fs::create_dir(cwd.join(name)).unwrap();
        std::fs::write(cwd.join(name).join("x"), "second\n").unwrap();
    }
    let own = i32::try_from(held.process.id().unwrap()).unwrap();
    let is_covered = |name: &str| {
        let place = format!(" {} ", cwd.join(name).display());
        lisle::sandbox::runner::processes::descendants(own).iter().any(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).is_ok_and(|mounts| mounts.contains(&place))
        })
    };
    while ![".envrc", "hooks", ".env", ".aws"].iter().all(|name| is_covered(name)) {
        std::thread::yield_now();
    }
    std::fs::write(cwd.join("go"), "").unwrap();
    let (said, report) = outcome(held);
    assert!(said.matches("kept\n").count() == 2 && said.ends_with("hidden\n"), "{said} {report:?}");
    assert!(!said.contains("second"), "{said}");
    for name in [".envrc", "hooks/x"] {
        assert_eq!(std::fs::read_to_string(cwd.join(name)).unwrap(), "second\n");
    }
}

/// Starts a command that waits for `go` and then reads a hidden file under every name that it may have by now.
fn held_reader(cwd: &Path, spaces: Namespaces, line: &str) -> StartedParent {
    let bounds = Bounds {
        readable: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![cwd.to_owned()],
        masked: vec![cwd.join("sub/.env")],
        namespaces: spaces,
        network: Network::Off,
        ..Bounds::default()
    };
    let line =
        format!("{line}; echo ready; until [ -e go ]; do sleep 0.01; done; cat sub/.env sub2/.env 2>&1; echo over");
    let mut held = launch::start(Path::new(LISLE), &order(cwd, Profile::Workspace(bounds), &line)).unwrap();
    let mut begun = [0; 6];
    held.output.read_exact(&mut begun).unwrap();
    held
}

#[test]
fn a_hidden_file_that_is_written_anew_with_the_same_number_is_covered() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let spaces = system_support::spaces(Path::new(LISLE));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().canonicalize().unwrap();
    std::fs::create_dir(cwd.join("sub")).unwrap();
    std::fs::write(cwd.join("sub/.env"), "first\n").unwrap();
    let held = held_reader(&cwd, spaces, "true");
    // Most file systems give the number of a file that is gone to the next one.
    std::fs::remove_file(cwd.join("sub/.env")).unwrap();
    std::fs::write(cwd.join("sub/.env"), "second\n").unwrap();
    let own = i32::try_from(held.process.id().unwrap()).unwrap();
    let place = format!(" {} ", cwd.join("sub/.env").display());
    let is_covered = || {
        lisle::sandbox::runner::processes::descendants(own).iter().any(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).is_ok_and(|mounts| mounts.contains(&place))
        })
    };
    while !is_covered() {
        std::thread::yield_now();
    }
    std::fs::write(cwd.join("go"), "").unwrap();
    let (said, report) = outcome(held);
    assert!(!said.contains("second") && said.ends_with("over\n"), "{said} {report:?}");
}

#[test]
fn a_command_that_moved_the_folder_of_a_hidden_file_does_not_get_the_next_one() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let spaces = system_support::spaces(Path::new(LISLE));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().canonicalize().unwrap();
    std::fs::create_dir(cwd.join("sub")).unwrap();
    std::fs::write(cwd.join("sub/.env"), "first\n").unwrap();
    let mut held = held_reader(&cwd, spaces, "mv sub sub2 && ln -s sub2 sub");
    // As an editor saves; the name leads to the folder under its new one.
    std::fs::write(cwd.join("sub/new"), "second\n").unwrap();
    std::fs::rename(cwd.join("sub/new"), cwd.join("sub/.env")).unwrap();
    // It is ended before it is let go on.
    let mut said = String::new();
    held.output.read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_command_is_not_started_in_another_folder_than_the_one_that_was_chosen() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, private) = (root.join("work"), root.join("private"));
    std::fs::create_dir_all(&cwd).unwrap();
    std::fs::create_dir_all(&private).unwrap();
    let spaces = system_support::spaces(Path::new(LISLE));
    let bounds = Bounds {
        readable: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![cwd.clone()],
        namespaces: spaces,
        ..Bounds::default()
    };
    let held = Some(Profile::Workspace(bounds)).filter(|_| lisle::sandbox::is_enforced());
    for profile in held.into_iter().chain([Profile::Open]) {
        let chosen = order(&cwd, profile, "echo x > made");
        let (_, report) = outcome(launch::start(Path::new(LISLE), &chosen).unwrap());
        assert_eq!(report.exit, Some(0), "{report:?}");
        std::fs::rename(&cwd, root.join("moved")).unwrap();
        for is_link in [true, false] {
            match is_link {
                true => std::os::unix::fs::symlink(&private, &cwd).unwrap(),
                false => std::fs::create_dir(&cwd).unwrap(),
            }
            let (_, report) = outcome(launch::start(Path::new(LISLE), &chosen).unwrap());
            assert_eq!(report.ended, Ended::NotStarted, "{is_link}: {report:?}");
            assert!(report.error.unwrap().contains("another folder"));
            assert!(!cwd.join("made").exists());
            let _ = std::fs::remove_file(&cwd).or_else(|_| std::fs::remove_dir(&cwd));
        }
        std::fs::rename(root.join("moved"), &cwd).unwrap();
    }
    assert_eq!(std::fs::read_dir(&private).unwrap().count(), 0);
}
