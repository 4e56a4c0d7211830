//! Branches of sessions of every sort, with faults at every file call.

use super::io::{Fault, Watched};
use super::lifecycle::{disturbed, faults, quick, tree};
use super::*;
use crate::domain::message::Plan;

fn body_of(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    match super::header::first(&bytes) {
        super::header::First::Header { end, .. } => bytes[end..].to_vec(),
        super::header::First::Message { start } => bytes[start..].to_vec(),
        super::header::First::Broken { end, .. } => bytes[end..].to_vec(),
        super::header::First::Empty => Vec::new(),
    }
}

#[test]
fn a_branch_of_everything_has_every_line_as_it_was() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        let store = quick(root.path());
        for parent in store.list().sessions {
            let name = parent.id.as_str();
            let path = session_file(root.path(), name);
            let before = tree(path.parent().unwrap());
            let rows = store.read(&parent.id, 5000).unwrap().rows;
            let branch = store.branch(&parent.id, None, NOW).unwrap();
            assert_eq!(tree(path.parent().unwrap()), before, "{name}");
            assert_ne!(branch.id, parent.id);
            let mut loaded = store.load(&branch.id, 5000).unwrap();
            // What is odd about rows is known to whoever reads them.
            loaded.meta.odd.clone_from(&branch.odd);
            assert_eq!(loaded.meta, branch, "{name}");
            let whole = |rows: &[Message]| -> Vec<String> {
                ids(rows).into_iter().filter(|id| !id.starts_with("line-")).map(str::to_owned).collect()
            };
            assert_eq!(whole(&loaded.rows), whole(&rows), "{name}");
            assert_eq!(branch.messages as usize, rows.iter().filter(|r| !matches!(r.body, Body::Odd(_))).count());
            assert!(!loaded.foreign_last_write && !loaded.died_in_turn && loaded.queue.is_empty());
            if path.exists() {
                // A line that was cut off in the middle is the parent's.
                let mut lines = body_of(&path);
                if !lines.ends_with(b"\n") && !lines.is_empty() {
                    let last = lines.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                    if serde_json::from_slice::<serde_json::Value>(&lines[last..]).is_ok() {
                        lines.push(b'\n');
                    } else {
                        lines.truncate(last);
                    }
                }
                assert!(body_of(&session_file(root.path(), branch.id.as_str())) == lines, "{name}");
            }
            assert_eq!(
                (branch.status.as_str(), branch.flagged, branch.unread, branch.archived),
                ("todo", false, false, false)
            );
            assert_eq!((branch.hidden, branch.plan_pending, branch.last_message), (false, false, NOW), "{name}");
            assert!(branch.mode <= parent.mode && branch.mode <= Mode::Ask);
            assert_eq!((branch.usage.cost_usd, branch.usage.total_tokens), (0.0, 0));
            // A path into the session leads into the branch.
            let title = parent.title.replace(name, branch.id.as_str());
            assert!(branch.title == parent.title || branch.title == title, "{name}: {}", branch.title);
            assert_eq!((&branch.labels, &branch.model), (&parent.labels, &parent.model));
            let from = rows.last().map(|_| parent.id.clone());
            assert_eq!(branch.branched_from.map(|from| from.session), from, "{name}");
        }
        assert_eq!(store.list().notices, []);
    }
}

#[test]
fn a_branch_at_each_row_ends_there_with_the_files_of_its_rows() {
    let root = copy_of("main");
    let store = quick(root.path());
    let name = id("260913-keen-falcon");
    let dir = store.session_dir(&name);
    std::fs::write(dir.join("data/unused.json"), "x").unwrap();
    std::fs::create_dir(dir.join("checkpoints")).unwrap();
    std::fs::write(dir.join("checkpoints/c"), "x").unwrap();
    let rows = store.read(&name, 100).unwrap().rows;
    for (index, row) in rows.iter().enumerate() {
        let branch = store.branch(&name, Some(&row.id), NOW).unwrap();
        let from = branch.branched_from.clone().unwrap();
        assert_eq!((&from.session, &from.message), (&name, &row.id));
        let seen = store.read(&branch.id, 100).unwrap();
        assert_eq!(ids(&seen.rows), ids(&rows[..=index]));
        assert_eq!(branch.messages, index as u64 + 1);
        // Paths of the rows lead into the branch.
        let Body::User(first) = &seen.rows[0].body else { panic!("user") };
        let chart = store.session_dir(&branch.id).join("data/chart.json");
        assert!(first.text.contains(chart.to_str().unwrap()), "{}", first.text);
        assert_eq!(std::fs::read(&chart).unwrap(), std::fs::read(dir.join("data/chart.json")).unwrap());
        let files: Vec<_> = tree(&store.session_dir(&branch.id)).into_keys().collect();
        assert_eq!(files, ["data/chart.json", "header.json", "session.jsonl"]);
        assert_well_formed(&session_file(root.path(), branch.id.as_str()));
        let text = std::fs::read_to_string(session_file(root.path(), branch.id.as_str())).unwrap();
        assert!(!text.contains("sdkSessionId"));
    }
    let error = store.branch(&name, Some(&MessageId::new("nothing")), NOW).unwrap_err().to_string();
    assert!(error.contains("no message nothing"), "{error}");
}

#[test]
fn a_header_that_others_write_to_comes_along_but_for_the_parents_own_life() {
    let root = copy_of("main");
    let store = quick(root.path());
    let branch = store.branch(&id("260923-royal-maple"), None, NOW).unwrap();
    let text = std::fs::read_to_string(session_file(root.path(), branch.id.as_str())).unwrap();
    let line = text.lines().next().unwrap();
    for part in [r#""schemaVersion":7"#, r#""zzz":"kept?""#, r#""sessionStatus":"todo""#, "branchFromSessionPath"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    // A branch of a branch names the one that it came from.
    let again = store.branch(&branch.id, None, NOW).unwrap();
    assert_eq!(again.branched_from.unwrap().session, branch.id);
}

#[test]
fn a_plan_does_not_wait_in_a_branch_and_a_parent_in_execute_stays_what_it_is_in_our_own_workspace() {
    let root = folder();
    let store = quick(root.path());
    let mut parent = meta("a");
    parent.mode = Mode::Execute;
    parent.plan_pending = true;
    let (id, mut journal) = store.create(&parent).unwrap();
    let plan = Plan { path: journal.dir().join("plans/p.md").to_str().unwrap().into(), markdown: "# P".into() };
    std::fs::create_dir(journal.dir().join("plans")).unwrap();
    std::fs::write(journal.dir().join("plans/p.md"), "# P").unwrap();
    let row = Message::new(MessageId::new("plan-1"), NOW, Body::Plan(plan));
    journal.append(&[user(1), row], Durability::Synced).unwrap();
    journal.set_meta(parent, serde_json::json!({"plan": {"x": 1}}));
    journal.close().unwrap();
    drop(journal);
    let branch = store.branch(&id, None, NOW).unwrap();
    assert_eq!((branch.mode, branch.plan_pending, branch.last_role.as_deref()), (Mode::Execute, false, Some("plan")));
    let loaded = store.load(&branch.id, 9).unwrap();
    assert_eq!(loaded.own, serde_json::Value::Null);
    let Body::Plan(plan) = &loaded.rows[1].body else { panic!("plan") };
    assert!(Path::new(&plan.path).starts_with(store.session_dir(&branch.id)) && Path::new(&plan.path).exists());
}

#[test]
fn what_the_parent_is_at_work_on_comes_along_when_it_is_named_and_when_its_writer_died() {
    let root = folder();
    let store = quick(root.path());
    let (parent, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.turn(true).unwrap();
    journal.live(call(2, ToolStatus::Executing, Some("line 1")), Durability::Synced).unwrap();
    journal.live(answer(3), Durability::Written).unwrap();
    journal.live(answer(4), Durability::Written).unwrap();
    let rows = |at: Option<&str>| {
        let at = at.map(MessageId::new);
        let branch = store.branch(&parent, at.as_ref(), NOW).unwrap();
        let loaded = store.load(&branch.id, 9).unwrap();
        assert!(!loaded.died_in_turn);
        let last = loaded.rows.last().map(|row| row.id.clone());
        assert_eq!(branch.branched_from.map(|from| from.message), last);
        loaded.rows
    };
    assert_eq!(ids(&rows(None)), ["msg-u1"]);
    let named = rows(Some("msg-a3"));
    assert_eq!(ids(&named), ["msg-u1", "msg-t2", "msg-a3"]);
    assert_eq!(named[1].tool().unwrap().result.as_deref(), Some("line 1\ninterrupted"));
    assert!(matches!(&named[2].body, Body::Assistant(text) if text.partial));
    drop(journal);
    assert_eq!(ids(&rows(None)), ["msg-u1", "msg-t2", "msg-a3", "msg-a4"]);
    assert_eq!(ids(&rows(Some("msg-u1"))), ["msg-u1"]);
}

#[test]
fn a_row_on_a_line_with_others_ends_the_branch_all_the_same() {
    let root = copy_of("damaged");
    let store = quick(root.path());
    for name in ["damaged-glued-lines", "damaged-torn-then-appended", "damaged-corrupt-middle", "damaged-nul-tail"] {
        let rows = store.read(&id(name), 100).unwrap().rows;
        for (index, row) in rows.iter().enumerate() {
            let branch = store.branch(&id(name), Some(&row.id), NOW).unwrap();
            let seen = store.read(&branch.id, 100).unwrap().rows;
            let whole = |rows: &[Message]| rows.iter().filter(|row| !matches!(row.body, Body::Odd(_))).count();
            assert_eq!(whole(&seen), whole(&rows[..=index]), "{name} {}", row.id);
        }
    }
}

#[test]
fn a_fault_at_any_call_leaves_no_branch_or_a_whole_one() {
    let act = |store: &Store| store.branch(&id("260913-keen-falcon"), None, NOW);
    let make = || {
        let root = folder();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main/sessions/260913-keen-falcon");
        let to = root.path().join("work/sessions/260913-keen-falcon");
        std::fs::create_dir_all(to.join("data")).unwrap();
        for file in ["session.jsonl", "data/chart.json"] {
            std::fs::copy(from.join(file), to.join(file)).unwrap();
        }
        root
    };
    let root = make();
    let io = Arc::new(Watched::new(Arc::new(Quick), Fault::None));
    act(&store_with(root.path(), io.clone())).unwrap();
    assert!(io.calls() > 40);
    for fault in (1..=io.calls()).flat_map(faults) {
        let root = make();
        let before = tree(&root.path().join("work/sessions/260913-keen-falcon"));
        let done = act(&disturbed(root.path(), fault).0);
        let store = quick(root.path());
        let listing = store.list();
        assert_eq!(listing.notices, [], "{fault:?}");
        let (parents, branches): (Vec<_>, Vec<_>) =
            listing.sessions.into_iter().partition(|m| m.id.as_str() == "260913-keen-falcon");
        assert_eq!(parents.len(), 1, "{fault:?}");
        assert_eq!(tree(&store.session_dir(&parents[0].id)), before, "{fault:?}");
        assert!(branches.len() <= 1 && (done.is_err() || branches.len() == 1), "{fault:?} {done:?}");
        for branch in branches {
            let loaded = store.load(&branch.id, 99).unwrap();
            assert_eq!((loaded.rows.len(), loaded.meta.messages, loaded.meta.odd.len()), (6, 6, 0), "{fault:?}");
            assert!(store.session_dir(&branch.id).join("data/chart.json").exists(), "{fault:?}");
        }
        if matches!(fault, Fault::Fail { times: 1, .. } | Fault::Tear { .. }) {
            let left = std::fs::read_dir(root.path().join("work/sessions")).unwrap().count();
            assert!(left == 1 || (left == 2 && store.list().sessions.len() == 2), "{fault:?} {done:?}: {left}");
        }
        assert!(act(&store).is_ok(), "{fault:?}");
    }
}
