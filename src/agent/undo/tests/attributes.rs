//! Attributes of files come back, and the work of git is said to stay.

use super::*;
use crate::domain::undo::PathEntry;
use crate::tools::files::attributes::testing::{ACL, acl, get, set};

const NOTE: &str = "user.note";

#[test]
fn attributes_and_access_lists_come_back_with_a_file() {
    let mut bench = Bench::new();
    let names = ["gone", "changed", "stripped", "plain", "folder/deep"];
    for name in names {
        write(&bench.work.join(name), name);
    }
    let at = |bench: &Bench, name: &str| bench.work.join(name);
    if !set(&at(&bench, "gone"), NOTE, b"mine") {
        return;
    }
    let has_acl = set(&at(&bench, "gone"), ACL, &acl(12345));
    for name in ["changed", "stripped", "folder", "folder/deep"] {
        assert!(set(&at(&bench, name), NOTE, b"mine"), "{name}");
        assert!(!has_acl || name == "folder" || set(&at(&bench, name), ACL, &acl(12345)), "{name}");
    }
    let mode = |bench: &Bench, name: &str| std::fs::metadata(bench.work.join(name)).unwrap().mode() & 0o7777;
    let modes: Vec<u32> = names.iter().map(|name| mode(&bench, name)).collect();
    let gaps = bench.command("m1", |work| {
        std::fs::remove_file(work.join("gone")).unwrap();
        std::fs::remove_dir_all(work.join("folder")).unwrap();
        // As `sed -i` does it: a new file in the place of the old one.
        std::fs::write(work.join("new"), "other").unwrap();
        std::fs::rename(work.join("new"), work.join("changed")).unwrap();
        rustix::fs::removexattr(work.join("stripped"), NOTE).unwrap();
        let _ = rustix::fs::removexattr(work.join("stripped"), ACL);
        assert!(set(&work.join("plain"), NOTE, b"theirs"));
    });
    assert_eq!(gaps, Vec::<String>::new());
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((&done.left, &done.lost), (&vec![], &vec![]), "{done:?}");
    for name in ["gone", "changed", "stripped", "folder", "folder/deep"] {
        assert_eq!(get(&at(&bench, name), NOTE).as_deref(), Some(&b"mine"[..]), "{name}");
        if has_acl && name != "folder" {
            assert_eq!(get(&at(&bench, name), ACL), Some(acl(12345)), "{name}");
        }
    }
    assert_eq!(get(&at(&bench, "plain"), NOTE), None);
    assert_eq!(names.iter().map(|name| mode(&bench, name)).collect::<Vec<_>>(), modes);
    let done = bench.undo(UndoAim::Redo, &[]);
    assert_eq!(done.left, vec![], "{done:?}");
    assert_eq!(get(&at(&bench, "plain"), NOTE).as_deref(), Some(&b"theirs"[..]));
    assert!(get(&at(&bench, "stripped"), NOTE).is_none() && get(&at(&bench, "changed"), NOTE).is_none());
}

#[test]
fn the_owner_comes_back_where_it_may_be_given() {
    let mut bench = Bench::new();
    let path = bench.work.join("f");
    write(&path, "old");
    if let Err(error) = std::os::unix::fs::chown(&path, Some(12345), Some(54321)) {
        eprintln!("not tested: no file can be given away here: {error}");
        return;
    }
    chmod(&path, 0o640);
    bench.command("m1", |_| std::fs::remove_file(&path).unwrap());
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!(done.lost, Vec::<String>::new(), "{done:?}");
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (12345, 54321, 0o640));
    // A change of the owner alone is one as well.
    bench.command("m2", |_| std::os::unix::fs::chown(&path, Some(1), Some(1)).unwrap());
    bench.undo(UndoAim::Last, &[]);
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid()), (12345, 54321));
}

#[test]
fn the_owner_of_a_link_comes_back_too() {
    let mut bench = Bench::new();
    let path = bench.work.join("link");
    symlink("nowhere", &path).unwrap();
    if let Err(error) = std::os::unix::fs::lchown(&path, Some(12345), Some(54321)) {
        eprintln!("not tested: no link can be given away here: {error}");
        return;
    }
    let owner = || std::fs::symlink_metadata(&path).map(|meta| (meta.uid(), meta.gid())).ok();
    bench.command("m1", |_| std::fs::remove_file(&path).unwrap());
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((done.lost, owner()), (vec![], Some((12345, 54321))));
    // A change of the owner alone is one as well.
    bench.command("m2", |_| std::os::unix::fs::lchown(&path, Some(1), Some(1)).unwrap());
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(owner(), Some((12345, 54321)));
    bench.undo(UndoAim::Redo, &[]);
    assert_eq!(owner(), Some((1, 1)));
}

#[test]
fn an_attribute_of_any_length_comes_back() {
    let mut bench = Bench::new();
    let path = bench.work.join("f");
    write(&path, "text");
    let long = vec![b'x'; 1_500];
    if !set(&path, NOTE, &long) {
        return;
    }
    bench.command("m1", |_| rustix::fs::removexattr(&path, NOTE).unwrap());
    bench.undo(UndoAim::Last, &[]);
    let mut buffer = vec![0_u8; 4_096];
    let length = rustix::fs::getxattr(&path, NOTE, &mut buffer[..]).unwrap();
    assert_eq!(buffer[..length], long);
}

#[test]
fn lists_that_tell_no_attributes_are_read_and_differ_from_nothing() {
    let old: PathEntry = serde_json::from_str(r#"{"is":"file","hash":"x","mode":420}"#).unwrap();
    let mut bench = Bench::new();
    let path = bench.work.join("f");
    write(&path, "text");
    bench.tool("m1", "f", |path| write(path, "other"));
    let PathEntry::File { attributes, .. } = crate::tools::files::restore::see(&path, 1_000).unwrap() else { panic!() };
    assert!(attributes.known().is_some());
    let new = PathEntry::File { hash: "x".into(), mode: 0o644, attributes };
    assert_eq!(old, new);
    assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"is":"file","hash":"x","mode":420}"#);
    assert_eq!(serde_json::from_str::<PathEntry>(&serde_json::to_string(&new).unwrap()).unwrap(), new);
}

#[test]
fn commits_and_branches_are_said_to_stay() {
    let mut bench = Bench::new();
    let git = |work: &Path, words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(work).args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(words);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().is_ok_and(|done| done.status.success())
    };
    if !git(&bench.work, &["init", "-q", "-b", "main", "."]) {
        eprintln!("not tested: git is not there");
        return;
    }
    let planned = |bench: &Bench| plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    bench.command("m1", |work| write(&work.join("f"), "one"));
    assert!(!planned(&bench).commits);
    bench.command("m1", |work| assert!(git(work, &["add", "f"]) && git(work, &["commit", "-q", "-m", "one"])));
    assert!(planned(&bench).commits);
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.commits && !bench.work.join("f").exists() && git(&bench.work, &["rev-parse", "HEAD"]));
    // What went on before the turn that is undone is another matter.
    bench.command("m2", |work| write(&work.join("g"), "two"));
    assert!(!planned(&bench).commits);
    bench.command("m3", |work| {
        assert!(git(work, &["switch", "-q", "-c", "other"]));
        write(&work.join("g"), "three");
    });
    assert!(planned(&bench).commits);
}
