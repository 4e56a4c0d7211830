//! Repository: settings, pointers and links that are plain, and those that are not.

use super::*;

fn make(root: &Path, git: &str) -> PathBuf {
    let dir = root.join(git);
    for folder in ["objects", "refs", "hooks"] {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
    }
    std::fs::write(dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(dir.join("config"), "[core]\n").unwrap();
    dir
}

#[test]
fn a_folder_and_those_below_it_belong_to_their_repository() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    assert_eq!(Repository::of(&root), None);
    std::fs::create_dir_all(root.join("r/a/b")).unwrap();
    let git = make(&root, "r/.git");
    let found = Repository::of(&root.join("r/a/b")).unwrap();
    assert_eq!(found, Repository { top: root.join("r"), common: git.clone(), own: git.clone() });
    let protected = found.protected();
    for name in ["hooks", "config", "config.worktree", "info/attributes", "commondir"] {
        assert!(protected.contains(&git.join(name)), "{name}");
    }
}

#[test]
fn a_worktree_and_a_submodule_must_be_pointed_back_at() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let git = make(&root, "main/.git");
    let own = git.join("worktrees/w");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(root.join("w")).unwrap();
    std::fs::write(root.join("w/.git"), format!("gitdir: {}\n", own.display())).unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(own.join("gitdir"), format!("{}\n", root.join("w/.git").display())).unwrap();
    let found = Repository::of(&root.join("w")).unwrap();
    assert_eq!((&found.common, &found.own), (&git, &own));
    assert!(found.protected().contains(&own.join("config.worktree")));
    assert!(found.protected().contains(&own.join("commondir")));
    let main = Repository::of(&root.join("main")).unwrap();
    assert_eq!(main.linked(), [root.join("w/.git")]);
    assert!(!main.protected().contains(&own.join("commondir")), "git removes other working trees");
    let all = main.pointers();
    for path in [own.join("commondir"), own.join("gitdir"), git.join(TODO), own.join(TODO), git.join("sequencer/opts")]
    {
        assert!(all.contains(&path), "{}", path.display());
    }
    for path in [own.join("commondir"), own.join("gitdir"), root.join("w/.git"), git.join("config")] {
        assert!(
            is_plain(&path, CommandEffects { within: std::slice::from_ref(&root), ..CommandEffects::default() }),
            "{}",
            path.display()
        );
    }
    std::fs::write(git.join("config"), format!("[core]\n\tworktree = {}\n", root.join("w").display())).unwrap();
    assert!(!is_plain(&git.join("config"), CommandEffects::default()), "another folder would be overwritten");
    let of_tree = own.join("config.worktree");
    std::fs::write(&of_tree, "[core]\n\tsparseCheckout = true\n").unwrap();
    assert!(is_plain(&of_tree, CommandEffects::default()));
    std::fs::write(&of_tree, "[remote \"origin\"]\n\tpushurl = https://elsewhere.example/x\n").unwrap();
    assert!(!is_plain(&of_tree, CommandEffects::default()), "a remote would be another one");
    std::fs::remove_file(&of_tree).unwrap();
    std::fs::write(git.join("config"), "[core]\n\tpager = x\n").unwrap();
    let pointer = root.join("w/.git");
    let within = std::slice::from_ref(&root);
    assert!(
        !is_plain(&pointer, CommandEffects { within, ..CommandEffects::default() })
            && is_plain(&pointer, CommandEffects { known: std::slice::from_ref(&git), ..CommandEffects::default() })
    );
    std::fs::write(git.join("config"), "[core]\n").unwrap();
    std::fs::write(own.join("commondir"), "/somewhere/else\n").unwrap();
    assert!(
        !is_plain(&own.join("commondir"), CommandEffects::default())
            && !is_plain(&root.join("w/.git"), CommandEffects::default())
    );
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(own.join("gitdir"), "/somewhere/else/.git\n").unwrap();
    assert!(!is_plain(&own.join("gitdir"), CommandEffects::default()));
    assert_eq!(Repository::of(&root.join("w")), None);

    let sub = make(&root, "main/.git/modules/libs/sub");
    std::fs::create_dir_all(root.join("main/libs/sub")).unwrap();
    std::fs::write(root.join("main/libs/sub/.git"), "gitdir: ../../.git/modules/libs/sub\n").unwrap();
    assert_eq!(Repository::of(&root.join("main/libs/sub")), None);
    std::fs::write(sub.join("config"), "[core]\n\tworktree = ../../../../libs/sub\n").unwrap();
    assert_eq!(Repository::of(&root.join("main/libs/sub")).unwrap().common, sub);
    assert!(Repository::of(&root.join("main")).unwrap().protected().contains(&sub.join("hooks")));
}

#[test]
fn a_repository_is_one_whatever_becomes_of_its_head() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let git = make(&root, "r/.git");
    let sub = make(&root, "r/.git/modules/group/hooks/sub");
    let own = git.join("worktrees/w");
    std::fs::create_dir_all(&own).unwrap();
    let expected = Repository::of(&root.join("r")).unwrap().protected();
    assert!(expected.contains(&sub.join("config")) && expected.contains(&own.join("config.worktree")));
    for repository in [&git, &sub] {
        let head = repository.join("HEAD");
        std::fs::remove_file(&head).unwrap();
        assert_eq!(Repository::of(&root.join("r")).unwrap().protected(), expected);
        std::os::unix::fs::symlink("refs/heads/none-yet", &head).unwrap();
        assert_eq!(Repository::of(&root.join("r")).unwrap().protected(), expected);
        assert!(is_config(&repository.join("config")));
    }
    let deep = make(&root, "r/.git/worktrees/w/modules/lib/sub");
    assert!(Repository::of(&root.join("r")).unwrap().protected().contains(&deep.join("config")));
    // A link in the place of a folder is what git follows, and nothing that it makes.
    std::os::unix::fs::symlink(root.join("elsewhere"), git.join("modules/group/other")).unwrap();
    assert!(pointers_in(&git).contains(&git.join("modules/group/other")));
}

#[test]
fn a_pointer_names_what_git_reads_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let git = make(&root, "r/.git");
    for (name, more) in [("lure", ""), ("lure ", "\tfsmonitor = x\n"), (" lure", "\tpager = x\n")] {
        let lure = make(&root, &format!("r/.git/{name}"));
        std::fs::write(lure.join("config"), format!("[core]\n\tworktree = ../../sub\n{more}")).unwrap();
    }
    std::fs::create_dir_all(root.join("r/sub")).unwrap();
    let entry = root.join("r/sub/.git");
    let within = std::slice::from_ref(&root);
    for (text, led, plain) in [
        ("gitdir: ../.git/lure\n", "lure", true),
        ("gitdir: ../.git/lure\r\n\n", "lure", true),
        ("gitdir: ../.git/lure ", "lure ", false),
        ("gitdir: ../.git/ lure\n", " lure", false),
        ("gitdir: ../.git/lure\t\n", "", false),
        ("gitdir:../.git/lure\n", "", false),
        (" gitdir: ../.git/lure\n", "", false),
    ] {
        std::fs::write(&entry, text).unwrap();
        let found = led_to(std::slice::from_ref(&entry), &[&root]);
        let expected: Vec<PathBuf> = (!led.is_empty()).then(|| git.join(led)).into_iter().collect();
        assert_eq!(
            (found, is_plain(&entry, CommandEffects { within, ..CommandEffects::default() })),
            (expected, plain),
            "{text:?}"
        );
    }
    // What nobody looks at may be another repository tomorrow.
    std::fs::write(&entry, "gitdir: ../.git/lure\n").unwrap();
    assert!(!is_plain(&entry, CommandEffects { within: &[root.join("r/src")], ..CommandEffects::default() }));
    // The last one counts, and other sections do not.
    std::fs::write(git.join("config"), "[x]\n\tworktree = ../a\n[core]\n\tworktree = ../b\n\tworktree = ../sub\n")
        .unwrap();
    assert_eq!(worktree(&git), Some(root.join("r/sub")));
}

#[test]
fn a_new_repository_leads_to_no_other_one_that_commands_do_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let session = make(&root, "session/tmp/origin");
    std::fs::write(root.join("session/session.jsonl"), "").unwrap();
    let listed = make(&root, "listed/mirror.git");
    let other = make(&root, "other");
    make(&root, "r/.git/hidden");
    make(&root, "r/beside");
    let git = make(&root, "r/new/.git");
    let project = [root.join("r"), root.join("session")];
    let reach = CommandEffects { within: &project, readable: &[root.join("listed")], ..CommandEffects::default() };
    for (setting, plain) in [
        (format!("[remote \"o\"]\n\turl = {}", session.display()), false),
        (format!("[remote \"o\"]\n\turl = file://{}", session.display()), false),
        (format!("[remote \"o\"]\n\turl = {}", other.display()), false),
        (format!("[remote \"o\"]\n\tpushurl = {}/.", other.display()), false),
        (format!("[remote \"o\"]\n\turl = {}", root.join("free/by/now").display()), false),
        (format!("[branch \"b\"]\n\tremote = {}", other.display()), false),
        (format!("[branch \"b\"]\n\tpushremote = {}", root.join("free").display()), false),
        (format!("[submodule \"s\"]\n\turl = {}", other.display()), false),
        (format!("[remote \"o\"]\n\turl = {}", listed.display()), true),
        ("[remote \"o\"]\n\turl = ../../../session/tmp/origin".to_owned(), false),
        ("[remote \"o\"]\n\turl = ../../other".to_owned(), false),
        ("[remote \"o\"]\n\turl = ../.git/hidden".to_owned(), false),
        (format!("[remote \"o\"]\n\turl = {}", root.join("r/beside").display()), true),
        ("[remote \"o\"]\n\turl = https://example.org/x".to_owned(), true),
        ("[remote \"o\"]\n\turl = git@example.org:a/b.git".to_owned(), true),
        ("[branch \"b\"]\n\tremote = origin".to_owned(), true),
        ("[branch \"b\"]\n\tremote = .".to_owned(), true),
    ] {
        std::fs::write(git.join("config"), format!("{setting}\n")).unwrap();
        assert_eq!(is_plain(&git.join("config"), reach), plain, "{setting}");
        assert!(plain || !only_harmless(b"[core]\n", &git.join("config"), reach), "{setting}");
    }
}

#[test]
fn links_in_gits_folder_are_found_where_git_writes() {
    let dir = tempfile::tempdir().unwrap();
    let git = make(dir.path(), ".git");
    std::fs::create_dir_all(git.join("logs/refs/heads")).unwrap();
    std::fs::remove_file(git.join("HEAD")).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, git.join(name)).unwrap();
    link("refs/heads/main", "HEAD");
    assert_eq!(InnerRepositories::of(&git).with_links(&git).links, [] as [PathBuf; 0], "an old form of it");
    let names = ["COMMIT_EDITMSG", "FETCH_HEAD", "logs/HEAD", "logs/refs/heads/x"];
    names.iter().for_each(|name| link("/elsewhere", name));
    std::fs::remove_file(git.join("HEAD")).unwrap();
    link("/elsewhere", "HEAD");
    let mut found = InnerRepositories::of(&git).with_links(&git).links;
    found.sort();
    let mut expected: Vec<PathBuf> = names.iter().chain(&["HEAD"]).map(|name| git.join(name)).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert!(expected.iter().all(|path| pointers_in(&git).contains(path) && !is_plain(path, CommandEffects::default())));
}

#[test]
fn a_setting_is_read_as_git_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let git = make(dir.path(), ".git");
    std::fs::write(git.join("config"), "[core \"fsmonitor\0x\"]\n\tbare = touch x; false\n").unwrap();
    assert!(!is_plain(&git.join("config"), CommandEffects::default()));
    assert!(!only_harmless(b"[core]\n", &git.join("config"), CommandEffects::default()));
}

#[test]
fn only_what_is_listed_counts_as_known() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let git = make(&root, "r/.git");
    // Deeper than git ever makes one.
    for name in ["modules/x", "modules/x/objects/foo", "worktrees/x/foo"] {
        let lure = make(&root, &format!("r/.git/{name}"));
        std::fs::write(
            lure.join("config"),
            format!("[core]\n\tpager = x\n\tworktree = {}\n", root.join("r/zz").display()),
        )
        .unwrap();
    }
    std::fs::create_dir_all(root.join("r/zz")).unwrap();
    let entry = root.join("r/zz/.git");
    for (name, known) in [("modules/x", true), ("modules/x/objects/foo", false), ("worktrees/x/foo", false)] {
        std::fs::write(&entry, format!("gitdir: ../.git/{name}\n")).unwrap();
        let within = std::slice::from_ref(&root);
        assert_eq!(
            is_plain(&entry, CommandEffects { known: std::slice::from_ref(&git), within, ..CommandEffects::default() }),
            known,
            "{name}"
        );
    }
}

#[test]
fn unfinished_work_names_no_strategy_but_those_of_git() {
    let dir = tempfile::tempdir().unwrap();
    let git = make(dir.path(), ".git");
    for (name, text, plain) in [
        ("rebase-merge/strategy", "ort\n", true),
        ("rebase-merge/strategy", "x/../evil\n", false),
        ("rebase-merge/strategy", "evil", false),
        ("sequencer/opts", "[options]\n\tsignoff = true\n\tstrategy = recursive\n\tstrategy-option = ours\n", true),
        ("sequencer/opts", "[options]\n\tstrategy = evil\n", false),
        ("sequencer/opts", "[include]\n\tpath = evil\n", false),
        ("lazygit.yml", "x", false),
    ] {
        let path = git.join(name);
        assert!(pointers_in(&git).contains(&path));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        assert_eq!(is_plain(&path, CommandEffects::default()), plain, "{name}: {text}");
    }
}

#[test]
fn a_link_or_a_made_up_pointer_opens_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let victim = make(&root, "victim");
    std::fs::create_dir_all(root.join("r")).unwrap();
    std::os::unix::fs::symlink(&victim, root.join("r/.git")).unwrap();
    assert_eq!(Repository::of(&root.join("r")), None);
    std::fs::remove_file(root.join("r/.git")).unwrap();
    std::fs::write(root.join("r/.git"), format!("gitdir: {}\n", victim.display())).unwrap();
    assert_eq!(Repository::of(&root.join("r")), None);
}
