//! Changes of protected files on real directories.

use super::*;
use crate::sandbox::Allowances;
use crate::sandbox::places::Moves;

fn site<'a>(cwd: &'a Path, session_dir: &'a Path, allowances: &'a Allowances) -> Site<'a> {
    Site {
        cwd,
        session_dir,
        own_dirs: &[],
        allowances,
        named: &[],
        approved: &[],
        moves: Moves::default(),
        home: None,
        namespaces: Namespaces::Without,
    }
}

#[test]
fn a_change_of_the_same_length_with_its_time_set_back_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    std::fs::create_dir_all(cwd.join("sub")).unwrap();
    let file = cwd.join("sub/.envrc");
    std::fs::write(&file, "use flake").unwrap();
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    let times = std::fs::metadata(&file).unwrap().modified().unwrap();
    let change = |text: &str| {
        let open = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        std::io::Write::write_all(&mut &open, text.as_bytes()).unwrap();
        open.set_modified(times).unwrap();
    };
    change("use evil!");
    let found = guard.after(&site, &HashSet::new());
    let [GuardedChange { path, what: What::Changed(Some(earlier)), by: ChangedBy::Command }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((path, &earlier.content[..], earlier.is_link()), (&file, &b"use flake"[..], false));
    change("use flake");
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    // What was away with its folder is gone, and what came with another one is new.
    std::fs::rename(cwd.join("sub"), cwd.join("other")).unwrap();
    let found: Vec<PathBuf> = guard.after(&site, &HashSet::new()).into_iter().map(|change| change.path).collect();
    assert_eq!(found, [cwd.join("other/.envrc"), file.clone()]);
}

#[test]
fn what_stood_below_a_folder_that_became_a_link_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    for folder in [".husky/deep", "mine", ".git/objects", ".git/refs", ".git/hooks"] {
        std::fs::create_dir_all(cwd.join(folder)).unwrap();
    }
    for file in [".husky/pre-commit", ".husky/deep/x", "mine/settings.json", ".git/hooks/pre-push", ".git/HEAD"] {
        std::fs::write(cwd.join(file), "mine").unwrap();
    }
    // One that the user laid stays what it is.
    std::os::unix::fs::symlink("mine", cwd.join(".vscode")).unwrap();
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    for (folder, to) in [(".husky", "h3"), (".git/hooks", "../g3")] {
        std::fs::rename(cwd.join(folder), cwd.join(folder).parent().unwrap().join(to)).unwrap();
        std::os::unix::fs::symlink(to, cwd.join(folder)).unwrap();
    }
    let look = || -> Vec<(String, bool)> {
        let found = guard.after(&site, &HashSet::new());
        let name = |change: &GuardedChange| change.path.strip_prefix(&cwd).unwrap().display().to_string();
        let is_gone = |what: &What| matches!(what, What::Gone(Some(earlier)) if earlier.content == b"mine");
        found.iter().map(|change| (name(change), is_gone(&change.what))).collect()
    };
    // The links first, and what stood there once they are away.
    assert_eq!(look(), [(".git/hooks".to_owned(), false), (".husky".to_owned(), false)]);
    for link in [".git/hooks", ".husky"] {
        std::fs::remove_file(cwd.join(link)).unwrap();
    }
    let told = look();
    for gone in [".git/hooks/pre-push", ".husky/deep/x", ".husky/pre-commit"] {
        assert!(told.contains(&(gone.to_owned(), true)), "{gone}: {told:?}");
    }
}

#[test]
fn what_a_command_made_that_nobody_compared_is_known_by_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    std::fs::create_dir_all(cwd.join(".vscode")).unwrap();
    for file in [".envrc", ".vscode/old.json", ".vscode/new.json", "plain"] {
        std::fs::write(cwd.join(file), "x").unwrap();
    }
    let allowances = Allowances::default();
    let guard = Guard::before(&site(&cwd, &session_dir, &allowances), None);
    let files = HashSet::from([cwd.join(".vscode/old.json")]);
    let scope = [cwd.clone()];
    let made: Vec<PathBuf> = guard.made_by(UNIX_EPOCH, &scope, &files).into_iter().map(|change| change.path).collect();
    assert_eq!(made, [".envrc", ".vscode/new.json"].map(|name| cwd.join(name)));
    let later = SystemTime::now() + std::time::Duration::from_secs(60);
    assert_eq!(guard.made_by(later, &scope, &files), []);
    assert_eq!(guard.made_by(UNIX_EPOCH, &[cwd.join("elsewhere")], &files), []);
}

#[test]
fn many_files_hide_no_other_one() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(cwd.join(name).parent().unwrap()).unwrap();
        std::fs::write(cwd.join(name), text).unwrap();
    };
    (0..2_500).for_each(|n| write(&format!(".vscode/old/{n}"), "x"));
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    assert!(guard.is_whole());
    for name in ["HEAD", "objects/x", "refs/x"] {
        write(&format!("v/.git/{name}"), "x");
    }
    (0..MOST_CHANGES + 10).for_each(|n| write(&format!("v/.git/hooks/{n}.sample"), ""));
    write("z/.envrc", "x");
    write(".idea/a/b/c/d/e/f/g/h.xml", "x");
    let found = guard.after(&site, &HashSet::new());
    let made: Vec<(&Path, ChangedBy)> =
        found.iter().map(|change| (change.path.strip_prefix(&cwd).unwrap(), change.by)).collect();
    let expected = [".idea/a/b/c/d/e/f/g/h.xml", "z/.envrc"].map(|path| (Path::new(path), ChangedBy::Command));
    assert_eq!(made, expected);
}

#[test]
fn steps_of_a_rebase_that_run_programs_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    for folder in [".git/objects", ".git/refs", ".git/rebase-merge"] {
        std::fs::create_dir_all(cwd.join(folder)).unwrap();
    }
    std::fs::write(cwd.join(".git/HEAD"), "x").unwrap();
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let todo = cwd.join(".git/rebase-merge/git-rebase-todo");
    let guard = Guard::before(&site, None);
    std::fs::write(&todo, "pick 0123 one\n").unwrap();
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    std::fs::write(&todo, "pick 0123 one\nexec make\n").unwrap();
    assert!(matches!(
        &guard.after(&site, &HashSet::new())[..],
        [GuardedChange { what: What::Made, by: ChangedBy::Command, .. }]
    ));
    // The user's own steps go on.
    let guard = Guard::before(&site, None);
    std::fs::write(&todo, "exec make\n").unwrap();
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    std::fs::write(&todo, "x make install\n").unwrap();
    assert!(matches!(
        &guard.after(&site, &HashSet::new())[..],
        [GuardedChange { what: What::Changed(_), by: ChangedBy::Command, .. }]
    ));
    std::fs::remove_file(&todo).unwrap();
    assert_eq!(guard.after(&site, &HashSet::new()), []);
}

#[test]
fn what_is_made_changed_and_removed_is_found_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let cwd = root.join("p");
    for folder in [".git/objects", ".git/refs", ".git/hooks", ".vscode", "src"] {
        std::fs::create_dir_all(cwd.join(folder)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(cwd.join(name), text).unwrap();
    write(".git/HEAD", "x");
    write(".git/config", "[core]\n");
    write(".envrc", "a");
    write(".vscode/tasks.json", "{}");
    let session_dir = root.join("session");
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    write("src/main.rs", "fn main() {}");
    write(".git/index", "x");
    write(".git/hooks/pre-commit.sample", "x");
    // Written anew with the same text.
    write(".git/config", "[core]\n");
    assert_eq!(guard.after(&site, &HashSet::new()), []);
    write(".git/hooks/pre-commit", "#!/bin/sh\n");
    write(".git/config", "[core]\nfsmonitor = x\n");
    std::fs::remove_file(cwd.join(".envrc")).unwrap();
    std::fs::create_dir_all(cwd.join(".github/workflows")).unwrap();
    write(".github/workflows/ci.yml", "x");
    let expected = [
        "gone .envrc a",
        "changed .git/config [core]\n",
        "made .git/hooks/pre-commit",
        "made .github/workflows/ci.yml",
    ];
    assert_eq!(found(&guard, &site), expected);
}

fn found(guard: &Guard, site: &Site<'_>) -> Vec<String> {
    let said = |change: GuardedChange| {
        let path = change.path.strip_prefix(site.cwd).unwrap().display().to_string();
        let text = |earlier: Option<Earlier>| String::from_utf8(earlier.unwrap().content).unwrap();
        let by = if change.by == ChangedBy::Command { String::new() } else { format!(" {:?}", change.by) };
        match change.what {
            What::Made => format!("made {path}{by}"),
            What::Changed(earlier) => format!("changed {path} {}{by}", text(earlier)),
            What::Linked(_) => format!("linked {path}{by}"),
            What::Gone(earlier) => format!("gone {path} {}{by}", text(earlier)),
            What::Unseen(why) => format!("unseen {path} {why:?}"),
            What::Opened(rights) => format!("opened {path} {rights:?}"),
        }
    };
    guard.after(site, &HashSet::new()).into_iter().map(said).collect()
}

/// A repository's folder as `git init` makes it.
fn repository(git: &Path) {
    for folder in ["objects", "refs", "hooks"] {
        std::fs::create_dir_all(git.join(folder)).unwrap();
    }
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
    std::fs::write(git.join("hooks/pre-push.sample"), "x").unwrap();
}

struct Folder {
    _dir: tempfile::TempDir,
    cwd: PathBuf,
    session: PathBuf,
    allowances: Allowances,
    moves: Moves,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, session) = (root.join("p"), root.join("session"));
        std::fs::create_dir_all(&cwd).unwrap();
        repository(&cwd.join(".git"));
        Self { _dir: dir, cwd, session, allowances: Allowances::default(), moves: Moves::default() }
    }

    /// Changes that are found after this was done.
    fn after(&self, act: impl FnOnce(&dyn Fn(&str, &str))) -> Vec<String> {
        let site = Site { moves: self.moves, ..site(&self.cwd, &self.session, &self.allowances) };
        let guard = Guard::before(&site, None);
        act(&|name, text| {
            let path = self.cwd.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        });
        found(&guard, &site)
    }
}

#[test]
fn all_that_a_repository_reads_is_looked_at_whether_it_was_there_or_not() {
    let folder = Folder::new();
    let own = folder.cwd.join(".git/worktrees/w");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(folder.cwd.join("w")).unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(own.join("gitdir"), folder.cwd.join("w/.git").display().to_string()).unwrap();
    std::fs::write(folder.cwd.join("w/.git"), format!("gitdir: {}\n", own.display())).unwrap();
    let found = folder.after(|write| {
        repository(&folder.cwd.join(".git/modules/m"));
        write(".git/modules/m/config", "[core]\n\tfsmonitor = x\n");
        write(".git/modules/m/hooks/pre-commit", "x");
        write(".git/commondir", "/elsewhere\n");
        write(".git/config.worktree", "[core]\n\tpager = x\n");
        write(".git/info/attributes", "* filter=x\n");
        write(".git/worktrees/w/commondir", "/elsewhere\n");
    });
    let expected = [
        "made .git/commondir",
        "made .git/config.worktree",
        "made .git/info/attributes",
        "made .git/modules/m/config",
        "made .git/modules/m/hooks/pre-commit",
        "changed .git/worktrees/w/commondir ../..\n",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_settings_name_is_looked_at() {
    let folder = Folder::new();
    let config =
        "[core]\n\thooksPath = hooks\n[filter \"f\"]\n\tclean = python3 tools/clean.py\n[include]\n\tpath = ../more\n";
    std::fs::write(folder.cwd.join(".git/config"), config).unwrap();
    std::fs::create_dir_all(folder.cwd.join("tools")).unwrap();
    std::fs::write(folder.cwd.join("tools/clean.py"), "x").unwrap();
    let long = "n".repeat(300);
    std::fs::write(folder.cwd.join(".git/config.worktree"), format!("[core]\n\thooksPath = {long}\n")).unwrap();
    let found = folder.after(|write| {
        write("tools/clean.py", "evil");
        write("tools/other.py", "x");
        write("hooks/pre-commit", "x");
        write("more", "[core]\n\tpager = x\n");
    });
    assert_eq!(found, ["made hooks/pre-commit", "made more", "changed tools/clean.py x"]);
}

#[test]
fn bytes_count_and_not_stamps_where_a_command_may_have_written() {
    let folder = Folder::new();
    let file = folder.cwd.join(".envrc");
    std::fs::write(&file, "mine").unwrap();
    let site = site(&folder.cwd, &folder.session, &folder.allowances);
    // Another content was read under the stamp that the file has at the end.
    let guard = Guard::before(&site, None);
    std::fs::write(&file, "evil").unwrap();
    let meta = file.symlink_metadata().unwrap();
    look::remember(&meta, b"mine");
    let found: Vec<What> = guard.after(&site, &HashSet::new()).into_iter().map(|change| change.what).collect();
    assert!(matches!(&found[..], [What::Changed(Some(earlier))] if earlier.content == b"mine"), "{found:?}");
}

#[test]
fn nothing_is_put_back_that_a_command_of_another_process_may_have_made() {
    let folder = Folder::new();
    let at = |name: &str| folder.cwd.join(name);
    let site = site(&folder.cwd, &folder.session, &folder.allowances);
    std::fs::write(at(".envrc"), "mine").unwrap();
    let since = loop {
        // The clock of files is behind.
        let since = SystemTime::now();
        let changed = look::changed(&look::seen(&at(".envrc").symlink_metadata().unwrap()));
        if since.duration_since(UNIX_EPOCH).unwrap() > changed + LAG * 2 {
            break since;
        }
        std::thread::yield_now();
    };
    for name in [".git/commondir", ".git/info/attributes"] {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), "evil").unwrap();
    }
    let mut guard = Guard::before(&site, None);
    guard.doubt(since);
    // The other process takes back what its command did, and this one's changes what is the user's.
    std::fs::remove_file(at(".git/commondir")).unwrap();
    std::fs::write(at(".git/info/attributes"), "other").unwrap();
    std::fs::write(at(".envrc"), "evil").unwrap();
    let found = guard.after(&site, &HashSet::new());
    let said: Vec<(PathBuf, bool, ChangedBy)> = found
        .iter()
        .map(|one| (one.path.clone(), matches!(one.what, What::Changed(Some(_)) | What::Gone(Some(_))), one.by))
        .collect();
    let expected = [
        (at(".envrc"), true, ChangedBy::Command),
        (at(".git/commondir"), false, ChangedBy::Unknown),
        (at(".git/info/attributes"), false, ChangedBy::Command),
    ];
    assert_eq!(said, expected);
}

#[test]
fn what_is_written_through_another_name_is_the_commands_doing() {
    let folder = Folder::new();
    let at = |name: &str| folder.cwd.join(name);
    std::fs::create_dir_all(at(".git/hooks")).unwrap();
    for name in ["linked", "alone"] {
        std::fs::write(at(&format!(".git/hooks/{name}")), "mine").unwrap();
    }
    std::fs::hard_link(at(".git/hooks/linked"), at("script")).unwrap();
    let site = site(&folder.cwd, &folder.session, &folder.allowances);
    let bounds = Bounds { protected: vec![at(".git/hooks")], namespaces: Namespaces::With, ..Bounds::default() };
    let guard = Guard::before(&site, Some(&bounds));
    std::fs::write(at("script"), "evil").unwrap();
    std::fs::remove_file(at("script")).unwrap();
    // Saved by somebody outside, whom no cover stops.
    std::fs::remove_file(at(".git/hooks/alone")).unwrap();
    std::fs::write(at(".git/hooks/alone"), "new").unwrap();
    let found: Vec<_> = guard.after(&site, &HashSet::new()).into_iter().map(|one| (one.path, one.by)).collect();
    let expected = [(at(".git/hooks/alone"), ChangedBy::Unknown), (at(".git/hooks/linked"), ChangedBy::Command)];
    assert_eq!(found, expected);
}

#[test]
fn a_file_behind_a_link_that_was_there_is_told_where_it_lies() {
    let folder = Folder::new();
    let at = |name: &str| folder.cwd.join(name);
    for dir in ["real", "other"] {
        std::fs::create_dir_all(at(dir)).unwrap();
    }
    std::os::unix::fs::symlink("real", at("l")).unwrap();
    std::os::unix::fs::symlink("l/v", at(".vscode")).unwrap();
    let site = site(&folder.cwd, &folder.session, &folder.allowances);
    let guard = Guard::before(&site, Some(&Bounds::default()));
    std::fs::create_dir(at("real/v")).unwrap();
    std::fs::write(at("real/v/tasks.json"), "evil").unwrap();
    let found: Vec<_> = guard.after(&site, &HashSet::new()).into_iter().map(|one| one.path).collect();
    assert_eq!(found, [at("real/v/tasks.json")]);
}

#[test]
fn a_link_in_a_protected_folder_is_looked_at_with_each_step_of_its_way() {
    let folder = Folder::new();
    let at = |name: &str| folder.cwd.join(name);
    for dir in [".git/hooks", "scripts", ".vscode"] {
        std::fs::create_dir_all(at(dir)).unwrap();
    }
    for file in ["scripts/hook", "tasks.json", "scripts/free"] {
        std::fs::write(at(file), "mine").unwrap();
    }
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
    link("hook", "scripts/step");
    link("../../scripts/step", ".git/hooks/pre-commit");
    link("../tasks.json", ".vscode/tasks.json");
    link("loop", ".vscode/loop");
    assert_eq!(folder.after(|write| write("scripts/hook", "evil")), ["changed scripts/hook mine"]);
    assert_eq!(folder.after(|write| write("tasks.json", "evil")), ["changed tasks.json mine"]);
    // What was there before a link was bent to it stays where it is. The clock of files is behind.
    let free = look::changed(&look::seen(&at("scripts/free").symlink_metadata().unwrap()));
    while SystemTime::now().duration_since(UNIX_EPOCH).unwrap() < free + LAG * 2 {
        std::thread::yield_now();
    }
    let found = folder.after(|_| {
        std::fs::remove_file(at("scripts/step")).unwrap();
        std::os::unix::fs::symlink("free", at("scripts/step")).unwrap();
    });
    assert_eq!(found, ["changed scripts/step hook"]);
}

#[test]
fn a_link_that_is_protected_is_looked_at_with_what_it_leads_to() {
    let folder = Folder::new();
    std::fs::write(folder.cwd.join("env"), "a").unwrap();
    std::os::unix::fs::symlink("env", folder.cwd.join(".envrc")).unwrap();
    assert_eq!(folder.after(|write| write("env", "evil")), ["changed env a"]);
    let found = folder.after(|_| {
        std::fs::remove_file(folder.cwd.join(".envrc")).unwrap();
        std::os::unix::fs::symlink("other", folder.cwd.join(".envrc")).unwrap();
    });
    assert_eq!(found, ["changed .envrc env"]);
}

#[test]
fn a_new_repository_is_no_alarm_and_one_that_runs_something_is() {
    let folder = Folder::new();
    let found = folder.after(|write| {
        repository(&folder.cwd.join("new/.git"));
        write("new/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/x\n");
        write("new/.envrc", "use flake");
        write("new/sub/.envrc", "not in a commit");
        std::fs::write(folder.cwd.join("new/.git/index"), crate::sandbox::places::tests_index(&[".envrc"])).unwrap();
    });
    assert_eq!(found, ["made new/.envrc NewRepository", "made new/sub/.envrc"]);
    let found = folder.after(|write| {
        repository(&folder.cwd.join("other/.git"));
        write("other/.git/config", "[core]\n\tfsmonitor = x\n");
        write("other/.git/hooks/post-checkout", "x");
        // A folder that a pointer leads to, and that has another name.
        repository(&folder.cwd.join("lure"));
        write("lure/config", "[core]\n\tpager = x\n\tworktree = ../tree\n");
        write("tree/.git", "gitdir: ../lure\n");
    });
    let expected =
        ["made lure/config", "made other/.git/config", "made other/.git/hooks/post-checkout", "made tree/.git"];
    assert_eq!(found, expected);
    // One that is made of the working directory itself makes nothing its own.
    let bare = Folder::new();
    std::fs::remove_dir_all(bare.cwd.join(".git")).unwrap();
    let found = bare.after(|write| {
        repository(&bare.cwd.join(".git"));
        write(".envrc", "evil");
        std::fs::write(bare.cwd.join(".git/index"), crate::sandbox::places::tests_index(&[".envrc"])).unwrap();
    });
    assert_eq!(found, ["made .envrc"]);
}

#[test]
fn git_may_note_what_runs_nothing_where_it_was_asked_to() {
    let mut folder = Folder::new();
    folder.moves = Moves { notes: true, ..Moves::default() };
    let track = "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/x\n";
    assert_eq!(folder.after(|write| write(".git/config", track)), Vec::<String>::new());
    let found = folder.after(|write| write(".git/config", "[core]\n\tpager = x\n"));
    assert_eq!(found, [format!("changed .git/config {track}")]);
    folder.moves = Moves { settings: true, ..Moves::default() };
    let found = folder.after(|write| write(".git/config", track));
    assert_eq!(found, ["changed .git/config [core]\n\tpager = x\n Git"]);
}

#[test]
fn a_protected_file_that_got_another_name_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    std::fs::create_dir_all(cwd.join(".vscode")).unwrap();
    let (file, known) = (cwd.join(".envrc"), cwd.join(".vscode/tasks.json"));
    // A hook may be a program of some size.
    let mine = "mine".repeat(400_000);
    for path in [&file, &known] {
        std::fs::write(path, &mine).unwrap();
    }
    std::fs::hard_link(&known, root.join("before")).unwrap();
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    std::fs::hard_link(&file, root.join("outside")).unwrap();
    let found = guard.after(&site, &HashSet::new());
    let [GuardedChange { path, what: What::Linked(Some(earlier)), by: ChangedBy::Command }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(path == &file && earlier.content == mine.as_bytes());
}

/// The paths that are told while `act` changes a project with these files and links, link changes alone where there are some.
fn told(files: &[&str], links: &[(&str, &str)], act: impl FnOnce(&Path)) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (cwd, session_dir) = (root.join("p"), root.join("session"));
    for file in files {
        std::fs::create_dir_all(cwd.join(file).parent().unwrap()).unwrap();
        std::fs::write(cwd.join(file), "x").unwrap();
    }
    for (at, to) in links {
        std::fs::create_dir_all(cwd.join(at).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, cwd.join(at)).unwrap();
    }
    // What was prepared earlier is older than the command.
    let made = || look::changed(&look::seen(&cwd.join(files[0]).symlink_metadata().unwrap()));
    let is_old = || made() + LAG * 2 < SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    while !is_old() {
        std::thread::yield_now();
    }
    let allowances = Allowances::default();
    let site = site(&cwd, &session_dir, &allowances);
    let guard = Guard::before(&site, None);
    act(&cwd);
    found(&guard, &site)
}

#[test]
fn a_link_in_the_middle_of_a_protected_way_is_told_alone() {
    let links = [("n/up", "../real"), ("n/.vscode", "up/inner"), (".envrc", "a/env")];
    let bend = |cwd: &Path| {
        std::fs::remove_file(cwd.join("n/up")).unwrap();
        std::os::unix::fs::symlink("../evil", cwd.join("n/up")).unwrap();
    };
    assert_eq!(told(&["real/inner/s", "evil/inner/s", "a/env"], &links, bend), ["changed n/up ../real"]);
    // A folder that becomes a link is one on the way from then on.
    let swap = |cwd: &Path| {
        std::fs::rename(cwd.join("a"), cwd.join("b")).unwrap();
        std::os::unix::fs::symlink("evil", cwd.join("a")).unwrap();
    };
    assert_eq!(told(&["a/env", "evil/env"], &[(".envrc", "a/env")], swap), ["made a"]);
}

#[test]
fn what_comes_to_lie_where_a_protected_link_led_to_nothing_is_new_however_old_it_is() {
    let links = [(".envrc", "later/e"), ("v/.vscode", "../later/x")];
    let files = ["evil/e", "evil/x/s"];
    let moved = |cwd: &Path| std::fs::rename(cwd.join("evil"), cwd.join("later")).unwrap();
    assert_eq!(told(&files, &links, moved), ["made later/e", "made later/x/s"]);
    let laid = |cwd: &Path| std::os::unix::fs::symlink("evil", cwd.join("later")).unwrap();
    assert_eq!(told(&files, &links, laid), ["made later"]);
}
