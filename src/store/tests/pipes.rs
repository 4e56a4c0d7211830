//! Pipes, sockets and folders in the place of each file of a workspace: whoever made the workspace could put them there. Every
//! call comes back, and an error names the path.

use super::*;
use crate::domain::property_change::PropertyChange;
use crate::store::maintain::checkpoints;
use rustix::fs::{CWD, FileType, Mode as Rights};
use std::time::Duration;

/// Time for a call. A reader of a pipe would never come back.
const ANSWERS: Duration = Duration::from_secs(20);

/// A workspace with a session "a", its checkpoints, and every file that lisle makes in one.
fn workspace(root: &Path) -> String {
    let store = store(root);
    store.make(NOW).unwrap();
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1), user(2)], Durability::Synced).unwrap();
    journal.save_header().unwrap();
    journal.close().unwrap();
    drop(journal);
    store.checkpoints(&id).keep(b"content", checkpoints::Sync::Yes).unwrap()
}

/// Texts of all that calls of a store say about a workspace.
fn said(root: &Path, hash: &str) -> Vec<String> {
    let store = match Store::open(Options { home: HOME.into(), ..Options::new(root.join("work"), root.join("state")) })
    {
        Ok(store) => store,
        Err(error) => return vec![error.to_string()],
    };
    let mut said = Vec::new();
    let id = SessionId::parse("a").unwrap();
    let listing = store.list();
    said.extend(listing.notices.iter().map(|notice| notice.text.clone()));
    said.extend(listing.sessions.iter().flat_map(|meta| meta.odd.clone()));
    said.extend(store.properties().problems.into_iter().map(|problem| problem.text));
    let checkpoints = store.checkpoints(&id);
    let mut errors = vec![
        store.read(&id, 5).err(),
        store.change(&id, &PropertyChange::Flagged(true), NOW).err(),
        checkpoints.content(hash).err(),
        checkpoints.records().err(),
    ];
    checkpoints.keep(b"content", checkpoints::Sync::Yes).map_or_else(|error| errors.push(Some(error)), drop);
    for loaded in [store.load(&id, 5), store.take_over(&id, 5)] {
        match loaded.map(|loaded| loaded.access) {
            Ok(Access::Writer(mut journal)) => {
                errors.push(journal.append(&[user(3)], Durability::Synced).err());
                errors.push(journal.save_header().err());
                errors.push(journal.close().err());
            }
            Ok(Access::Reader { held_by }) => said.push(held_by),
            Err(error) => errors.push(Some(error)),
        }
    }
    errors.push(store.delete(&id, NOW).err());
    said.extend(errors.into_iter().flatten().map(|error| error.to_string()));
    said
}

/// The same with a limit of time.
fn answered(root: &Path, hash: &str, case: &str) -> Vec<String> {
    let (done, answer) = std::sync::mpsc::channel();
    let (root, hash) = (root.to_owned(), hash.to_owned());
    std::thread::spawn(move || done.send(said(&root, &hash)));
    answer.recv_timeout(ANSWERS).unwrap_or_else(|_| panic!("{case} is waited for"))
}

#[test]
fn nothing_in_the_place_of_a_file_is_waited_for() {
    let files = [
        ("config.json", true),
        ("views.json", true),
        ("labels/config.json", true),
        ("statuses/config.json", true),
        ("sessions/a/session.jsonl", true),
        ("sessions/a/checkpoints/list.jsonl", true),
        ("checkpoints/HASH", true),
        ("sessions/a/header.json", true),
        ("sessions/a/live.jsonl", true),
        ("sessions/a/lisle.lock", true),
        ("sessions/a/draft", false),
        ("sessions/a/session.jsonl.salvage", false),
    ];
    for (name, is_told) in files {
        for kind in [FileType::Fifo, FileType::Socket, FileType::Directory] {
            let case = format!("{kind:?} as {name}");
            let root = folder();
            let hash = workspace(root.path());
            let path = root.path().join("work").join(name.replace("HASH", &format!("{}/{}", &hash[..2], &hash[2..])));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&path);
            match kind {
                FileType::Directory => std::fs::create_dir(&path).unwrap(),
                kind => rustix::fs::mknodat(CWD, &path, kind, Rights::RUSR | Rights::WUSR, 0).unwrap(),
            }
            let said = answered(root.path(), &hash, &case);
            let is_named = said.iter().any(|text| text.contains(&path.display().to_string()));
            assert!(!is_told || is_named, "{case}: {said:?}");
        }
    }
}

#[test]
fn a_file_that_is_read_whole_has_a_longest_length() {
    let root = folder();
    workspace(root.path());
    let path = root.path().join("work/views.json");
    // Nothing on the disk, and more than the memory has.
    std::fs::File::create(&path).unwrap().set_len(1 << 42).unwrap();
    let problems = store(root.path()).properties().problems;
    assert!(problems.iter().any(|problem| problem.text.contains("views.json")), "{problems:?}");
}
