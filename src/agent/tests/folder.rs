//! Working directories: the very folder that was chosen, and none that is no place to work in.

use super::*;
use std::os::unix::fs::symlink;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_in_another_folder_that_took_the_place_of_the_working_directory() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    let mut engine = Engine::new(&root);
    let (project, moved) = (root.join("project"), root.join("moved"));
    std::fs::create_dir(root.join("private")).unwrap();
    std::fs::write(root.join("private/diary.txt"), "DIARY").unwrap();
    let session = engine.talked("think about it").await;
    std::fs::rename(&project, &moved).unwrap();
    for is_link in [true, false] {
        match is_link {
            true => symlink(root.join("private"), &project).unwrap(),
            false => std::fs::rename(root.join("private"), &project).unwrap(),
        }
        for line in ["read diary.txt", "list"] {
            engine.act(&session, SessionCommand::send(line)).await;
            engine.ended().await;
            let said = format!("{:?}", engine.store.read(&session, 2).unwrap().rows);
            assert!(said.contains("is another folder than") && !said.contains("DIARY"), "{line}: {said}");
        }
        if is_link {
            std::fs::remove_file(&project).unwrap();
        }
    }
    // The user's word makes it the working directory.
    engine.act(&session, SessionCommand::Cwd(project.clone())).await;
    engine.act(&session, SessionCommand::send("read diary.txt")).await;
    engine.ended().await;
    assert!(format!("{:?}", engine.store.read(&session, 3).unwrap().rows).contains("DIARY"));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_works_in_no_folder_of_lisle_or_of_keys_and_in_no_hidden_one_that_only_its_file_names() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    let own = root.join("own");
    for folder in ["own/config", ".ssh"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let hidden = std::env::home_dir().unwrap().join(".local/share");
    let (of_lisle, keys) = (own.join("config"), root.join(".ssh"));
    let given = store(&root);
    let named = [("s1", &of_lisle), ("s2", &keys), ("s3", &hidden)];
    for (name, cwd) in named {
        stored(&given, name, |meta| {
            meta.cwd.clone_from(cwd);
            meta.connection = Some(ConnectionName::new("rehearsal"));
        });
    }
    let mut engine = Engine::on(given, &root, |settings| settings.own_dirs = vec![own.clone()]);
    for (name, cwd) in named {
        engine.open(&id(name)).await;
        engine.act(&id(name), SessionCommand::send("list")).await;
        assert_eq!(engine.ended().await, TurnEnd::Failed, "{name}");
        let said = format!("{:?}", engine.store.read(&id(name), 2).unwrap().rows);
        assert!(said.contains("/cwd DIR") && said.contains(&cwd.display().to_string()), "{name}: {said}");
    }
    // Of these two nobody makes working directories.
    for cwd in [of_lisle, keys] {
        engine.act(&id("s1"), SessionCommand::Cwd(cwd)).await;
        engine.notice("no session works there").await;
    }
    engine.act(&id("s1"), SessionCommand::Cwd(root.join("project"))).await;
    engine.act(&id("s1"), SessionCommand::send("list")).await;
    assert_ne!(engine.ended().await, TurnEnd::Failed);
    engine.end().await;
}
