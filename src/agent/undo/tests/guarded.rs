//! Undo of files that configure or run code, rights that it never gives, and folders of lisle itself.

use super::*;

#[test]
fn what_runs_code_is_never_restored_unchosen_however_often_a_job_made_it() {
    let mut bench = Bench::new();
    for (n, name) in [".envrc", "sub/.envrc", ".vscode/tasks.json", ".mcp.json"].into_iter().enumerate() {
        let turn = format!("t{n}");
        // A job made it, the guard moved it aside, twice: between the two it looks like the user's.
        for _ in 0..2 {
            write(&bench.work.join(name), "code\n");
            bench.command(&turn, |work| std::fs::remove_file(work.join(name)).unwrap());
        }
        let done = bench.undo(UndoAim::Last, &[]);
        assert!(done.restored.is_empty() && done.left.iter().any(|(left, _)| left == name), "{name}: {done:?}");
        assert!(!bench.work.join(name).exists(), "{name}");
        let done = bench.undo(UndoAim::Last, &[name]);
        assert!(bench.work.join(name).exists(), "chosen by hand: {done:?}");
    }
}

#[test]
fn a_file_of_the_user_between_two_steps_that_leave_nothing_comes_back() {
    let mut bench = Bench::new();
    bench.tool("t", "a", |path| write(path, "agent\n"));
    write(&bench.work.join("a"), "user\n");
    bench.command("t", |work| std::fs::remove_file(work.join("a")).unwrap());
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((done.restored, done.kept), (vec!["a".to_owned()], vec!["a".to_owned()]));
    assert_eq!(std::fs::read_to_string(bench.work.join("a")).unwrap(), "user\n");
}

#[test]
fn no_restored_file_has_set_id_rights() {
    let mut bench = Bench::new();
    let tool = bench.work.join("tool");
    write(&tool, "#!/bin/sh\n");
    chmod(&tool, 0o6755);
    bench.command("t", |_| write(&tool, "changed\n"));
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(std::fs::read_to_string(&tool).unwrap(), "#!/bin/sh\n");
    assert_eq!(std::fs::metadata(&tool).unwrap().mode() & 0o7777, 0o755);
    bench.command("t2", |_| chmod(&tool, 0o4755));
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.restored.is_empty() || std::fs::metadata(&tool).unwrap().mode() & 0o7000 == 0, "{done:?}");
}

#[test]
fn lisles_own_folders_in_the_working_directory_are_not_recorded() {
    let mut bench = Bench::new();
    let session = bench.work.join("fw/sessions/s");
    std::fs::create_dir_all(&session).unwrap();
    bench.recorder = Arc::new(UndoRecorder::new(bench.settings.clone(), vec![], session));
    bench.command("t", |work| {
        write(&work.join("fw/checkpoints/00/x"), "copy\n");
        write(&work.join("fw/sessions/s/checkpoints/list.jsonl"), "{}\n");
        write(&work.join("b"), "b\n");
    });
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!(done.restored, ["b"], "{done:?}");
    assert!(bench.work.join("fw/checkpoints/00/x").exists());
}
