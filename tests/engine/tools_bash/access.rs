//! Access by an answer beside the sandbox, with real commands in the real profile.

use super::{Bench, LISLE, held};
use lisle::domain::access::{Access, Extras};
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::Touch;
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bench whose commands run in the workspace profile; `None` where nothing can be hidden.
pub(super) fn bench() -> Option<Bench> {
    lisle::sandbox::system_support::namespaces(Path::new(LISLE)).ok().and_then(|()| held(Sandbox::Workspace))
}

impl Bench {
    pub(super) fn root(&self) -> PathBuf {
        self.cwd.parent().unwrap().to_owned()
    }

    pub(super) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.cwd.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn accesses(&self, input: &Value) -> Result<Vec<Access>, String> {
        let facts = Registry::standard().find("bash").unwrap().inspect(input, &self.place, &Seen::default())?;
        let accesses = facts.touches.into_iter().filter_map(|touch| match touch {
            Touch::Access(access) => Some(access),
            _ => None,
        });
        Ok(accesses.collect())
    }

    /// Runs a command that gets this.
    pub(super) fn run_with(&self, extras: Extras, command: &str) -> lisle::domain::tool::Outcome {
        let (cwd, mut place, sandbox) = (self.cwd.clone(), self.place.clone(), self.sandbox);
        place.allow(&extras);
        Bench { _dir: tempfile::tempdir().unwrap(), cwd, place, sandbox, stop: self.stop.clone() }.run(command)
    }
}

pub(super) fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git").current_dir(dir).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_hidden_secret_is_told_when_it_was_opened_and_an_answer_opens_what_it_says() {
    let Some(bench) = bench() else { return };
    let secret = bench.write(".env", "KEY=real\n");
    bench.write("check.sh", "echo 1 test failed; exit 1\n");
    bench.write("test.sh", "f=.en; grep -q real ${f}v\n");
    bench.write("add.sh", "f=.en; echo MORE=1 >> ${f}v\n");
    // It is there for every command, and only who opens it misses something.
    for command in ["sh check.sh", "false", "ls -la .env && test -r .env && false", "cat missing"] {
        let other = bench.run(command);
        assert!(other.failed && !other.text.contains("kept this"), "{command}: {}", other.text);
    }
    let hidden = bench.run("sh test.sh");
    assert!(hidden.failed && hidden.text.contains("- hidden secret: .env"), "{}", hidden.text);
    assert!(hidden.text.contains(r#"`access` {"read":[".env"]}"#), "{}", hidden.text);
    let input = json!({"command": "sh test.sh", "access": {"read": [".env"]}});
    assert_eq!(bench.accesses(&input).unwrap(), [Access::Read { path: secret.clone(), secret: true }]);
    let shows = || Extras { readable: vec![secret.clone()], ..Extras::default() };
    let shown = bench.run_with(shows(), "sh test.sh");
    assert!(!shown.failed, "{}", shown.text);
    // To read it is not to change it.
    for extras in [shows(), Extras::default()] {
        let refused = bench.run_with(extras, "sh add.sh");
        assert!(refused.failed && refused.text.contains("- secret, not changed: .env"), "{}", refused.text);
        assert!(refused.text.contains(r#"`access` {"write":[".env"]}"#), "{}", refused.text);
    }
    // A line that names it was decided on as a line.
    let named = bench.run_with(shows(), "sh -c 'echo MORE=1 >> .env && echo done'");
    assert!(!named.failed, "{}", named.text);
    std::fs::write(&secret, "KEY=real\n").unwrap();
    let input = json!({"command": "sh add.sh", "access": {"write": [".env"]}});
    assert_eq!(bench.accesses(&input).unwrap(), [Access::Write { path: secret.clone(), program: None }]);
    let changed = bench.run_with(Extras { writable: vec![secret.clone()], ..Extras::default() }, "sh add.sh");
    assert!(!changed.failed, "{}", changed.text);
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "KEY=real\nMORE=1\n");
}

#[test]
fn settings_of_direnv_are_a_secret_and_run_code_and_one_answer_opens_both() {
    let Some(bench) = bench() else { return };
    let envrc = bench.write(".envrc", "export KEY=real\n");
    bench.write("show.sh", "f=.envr; cat ${f}c; false\n");
    bench.write("add.sh", "f=.envr; echo x >> ${f}c && cat ${f}c\n");
    let hidden = bench.run("sh show.sh");
    assert!(hidden.text.contains(r#"{"read":[".envrc"]}"#) && !hidden.text.contains("real"), "{}", hidden.text);
    let refused = bench.run("sh add.sh");
    assert!(refused.text.contains(r#"{"write":[".envrc"]}"#), "{}", refused.text);
    let changed = bench.run_with(Extras { writable: vec![envrc.clone()], ..Extras::default() }, "sh add.sh");
    assert!(!changed.failed && changed.text.starts_with("export KEY=real\nx\n"), "{}", changed.text);
}

#[test]
fn what_is_not_there_yet_is_made_at_its_place_and_nothing_beside_it() {
    let Some(bench) = bench() else { return };
    let root = bench.root();
    for repository in [&root.join("other"), &bench.cwd] {
        std::fs::create_dir_all(repository).unwrap();
        git(repository, &["init", "-q", "-b", "main", "."]);
        git(repository, &["-c", "user.name=D", "-c", "user.email=d@e", "commit", "-q", "--allow-empty", "-m", "one"]);
    }
    std::fs::write(root.join("beside"), "x").unwrap();
    let asked = |command: &str| bench.accesses(&json!({"command": command})).unwrap();
    let write = |name: &str| Access::Write { path: root.join(name), program: None };
    let opened = |name: &str| Extras { writable: vec![root.join(name)], ..Extras::default() };
    for (command, name, made) in [
        ("git clone -q ../other ../other9", "other9", "other9/.git/HEAD"),
        ("git worktree add -q ../wtx -b b", "wtx", "wtx/.git"),
        ("git -C ../other worktree add -q ../wty -b b", "wty", "wty/.git"),
        ("mkdir ../new && touch ../new/a", "new", "new/a"),
        ("cp .git/HEAD ../head", "head", "head"),
        ("mkdir -p ../deep/er", "deep/er", "deep/er"),
    ] {
        assert!(asked(command).contains(&write(name)), "{command}: {:?}", asked(command));
        let mut extras = opened(name);
        if command.contains("-C") {
            extras.writable.push(root.join("other"));
        }
        let done = bench.run_with(extras, command);
        assert!(!done.failed && !done.text.contains("not kept"), "{command}: {}", done.text);
        assert!(root.join(made).symlink_metadata().is_ok(), "{command}");
    }
    // git knows the tree where it lies.
    let status = bench.run("git worktree list && git -C ../wtx status --short");
    assert!(!status.failed && status.text.contains("/wtx"), "{}", status.text);
    // Nothing of the folder is seen, and nothing else is made in it.
    bench.write("more.sh", "d=..; ls $d; echo x > $d/beside; mkdir $d/third $d/fourth; test ! -e $d/other\n");
    let more = bench.run_with(opened("third"), "sh more.sh");
    assert!(more.text.contains("fourth was not kept") && root.join("third").is_dir(), "{}", more.text);
    assert!(!root.join("fourth").exists() && !more.failed, "{}", more.text);
    assert_eq!(std::fs::read_to_string(root.join("beside")).unwrap(), "x");
    // Nothing came of it.
    let none = bench.run_with(opened("fifth"), "true");
    assert!(!none.failed && !root.join("fifth").exists(), "{}", none.text);
    let left = std::fs::read_dir(bench.place.session_dir.join("drafts")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn a_folder_outside_that_a_command_removes_is_gone() {
    let Some(bench) = bench() else { return };
    let root = bench.root();
    let opened = |name: &str| Extras { writable: vec![root.join(name)], ..Extras::default() };
    git(&bench.cwd, &["init", "-q"]);
    git(&bench.cwd, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"]);
    git(&bench.cwd, &["worktree", "add", "-q", "-b", "side", "../tree"]);
    bench.run_with(opened("tree"), "git worktree remove ../tree");
    assert!(!root.join("tree").exists());
    std::fs::create_dir_all(root.join("old/deep")).unwrap();
    bench.run_with(opened("old"), "rm -rf ../old");
    assert!(!root.join("old").exists());
    // What is emptied alone stays.
    std::fs::create_dir_all(root.join("kept/deep")).unwrap();
    bench.run_with(opened("kept"), "rm -rf ../kept/*");
    assert!(root.join("kept").exists() && !root.join("kept/deep").exists());
}

#[test]
fn places_that_a_command_names_as_its_targets_are_asked_about() {
    let bench = Bench::new();
    let root = bench.root();
    std::fs::create_dir(root.join("there")).unwrap();
    for (command, names) in [
        ("cp a ../there", vec!["there/a"]),
        ("cp a ../there/b", vec!["there/b"]),
        ("mv a ../c", vec!["c"]),
        ("git init ../d", vec!["d"]),
        ("cd sub && git clone ../../e ../../f", vec!["f"]),
        ("cp ../there/a . && mkdir sub && touch sub/x && git clone ../g", vec![]),
        ("ls ../there; git -C ../there log", vec![]),
        ("cp a /dev/null; mkdir /tmp /proc/x ~", vec![]),
    ] {
        let expected: Vec<_> =
            names.iter().map(|name| Access::Write { path: root.join(name), program: None }).collect();
        assert_eq!(bench.accesses(&json!({"command": command})).unwrap(), expected, "{command}");
    }
}

#[test]
fn a_folder_is_opened_by_what_is_read_only_in_it_and_what_is_not_opened_is_said() {
    let Some(bench) = bench() else { return };
    bench.write(".github/workflows/ci.yml", "x");
    bench.write(".vscode/settings.json", "{}");
    let input = json!({"command": "true", "access": {"write": [".vscode", ".github", "src"]}});
    let write = |name: &str| Access::Write { path: bench.cwd.join(name), program: None };
    assert_eq!(bench.accesses(&input).unwrap(), [write(".vscode"), write(".github/workflows")]);
    let done = bench.call(input, |_| {}).unwrap();
    assert!(done.text.contains("- src: commands write it anyway"), "{}", done.text);
    // A command that went on all the same is told of it.
    bench.write("set.sh", "echo x > .github/workflows/ci.yml; echo y > .vscode/settings.json; exit 0\n");
    let refused = bench.run("sh set.sh");
    let named = r#"{"write":[".vscode",".github/workflows"]}"#;
    assert!(!refused.failed && refused.text.contains(named), "{}", refused.text);
}

#[test]
fn a_secret_that_a_command_made_is_its_own_until_somebody_else_changes_it() {
    let Some(bench) = bench() else { return };
    bench.write("set-up.sh", "f=.en; printf 'A=1\\n' >> ${f}v && grep -c A ${f}v\n");
    for lines in ["1", "2", "3"] {
        let done = bench.run("sh set-up.sh");
        assert!(!done.failed && done.text.starts_with(lines), "{}", done.text);
    }
    bench.write(".env", "A=the real key\n");
    let hidden = bench.run("sh set-up.sh");
    assert!(hidden.failed && hidden.text.contains("- secret, not changed: .env"), "{}", hidden.text);
    assert_eq!(std::fs::read_to_string(bench.cwd.join(".env")).unwrap(), "A=the real key\n");
}

#[test]
fn a_secret_that_lies_where_a_command_made_one_is_hidden() {
    let Some(bench) = bench() else { return };
    bench.write("sub/.env", "canary=real\n");
    bench.write("make.sh", "mkdir q; echo own=1 > q/.env");
    bench.write("read.sh", "cat q/.env; true");
    bench.run("sh make.sh");
    assert!(bench.run("sh read.sh").text.contains("own=1"));
    bench.write("move.sh", "mv q q2; mv sub q");
    bench.run("sh move.sh");
    for script in ["read.sh", "read.sh"] {
        let read = bench.run(&format!("sh {script}"));
        assert!(!read.text.contains("canary=real"), "{}", read.text);
    }
}

#[test]
fn a_secret_stays_hidden_wherever_commands_move_it() {
    let Some(bench) = bench() else { return };
    for (secret, script) in [
        ("sub/.env", "mv sub sub2; mkdir n; mv sub2 n/.git; mv n m"),
        ("cfg/.docker/config.json", "mv cfg/.docker cfg/plain"),
        ("conf/deploy.pem", "mkdir -p node_modules; mv conf node_modules/conf"),
        ("deep/er/.env", "git init -q; mkdir .git/objects/ab; mv deep .git/objects/ab/cd"),
    ] {
        bench.write(secret, "canary=real\n");
        bench.write("move.sh", script);
        let moved = bench.run("sh move.sh");
        assert!(!moved.failed, "{secret}: {}", moved.text);
        let read = bench.run("sh -c 'grep -rs canary . ; true'");
        assert!(!read.text.contains("canary=real"), "{secret}: {}", read.text);
    }
    // A name in git's list opens nothing.
    bench.write(".env", "canary=real\n");
    bench.write("list.sh", "b=$(git hash-object -w move.sh); git update-index --add --cacheinfo 100644,$b,.env");
    bench.run("sh list.sh");
    let read = bench.run("sh -c 'grep -rs canary . ; true'");
    assert!(!read.text.contains("canary=real"), "{}", read.text);
}

#[test]
fn a_folder_beside_the_project_is_named_and_opens_after_an_answer() {
    let Some(bench) = bench() else { return };
    let lib = bench.root().join("lib");
    std::fs::create_dir(&lib).unwrap();
    std::fs::write(lib.join("package.json"), "{}").unwrap();
    std::fs::write(lib.join(".env"), "KEY=other\n").unwrap();
    bench.write("package.json", r#"{"dependencies": {"lib": "file:../lib"}}"#);
    bench.write("load.sh", "d=..; cat $d/lib/package.json");
    let hidden = bench.run("sh load.sh");
    let named = format!(r#"{{"read":["{}"]}}"#, lib.display());
    assert!(hidden.failed && hidden.text.contains(&named), "{}", hidden.text);
    let extras = || Extras { readable: vec![lib.clone()], ..Extras::default() };
    let shown = bench.run_with(extras(), "sh load.sh");
    assert!(!shown.failed && shown.text.starts_with("{}"), "{}", shown.text);
    // The secrets of that project stay hidden, and nothing of it can be written.
    bench.write("more.sh", "d=../lib; cat $d/.e*; touch $d/new");
    let more = bench.run_with(extras(), "sh more.sh");
    assert!(more.failed && !more.text.contains("KEY=other") && !lib.join("new").exists(), "{}", more.text);
}

#[test]
fn a_protected_path_is_named_and_opens_alone() {
    let Some(bench) = bench() else { return };
    git(&bench.cwd, &["init", "-q", "."]);
    bench.write(".vscode/settings.json", "{}");
    bench.write("set.sh", "git config user.name Dev");
    let refused = bench.run("sh set.sh");
    assert!(refused.failed && refused.text.contains(r#"{"write":[".git/config"]}"#), "{}", refused.text);
    let config = bench.cwd.join(".git/config");
    let input = json!({"command": "sh set.sh", "access": {"write": [".git/config", "src/a"]}});
    assert_eq!(bench.accesses(&input).unwrap(), [Access::Write { path: config.clone(), program: None }]);
    let direct = json!({"command": "git config user.name Dev && git config --global a.b c"});
    assert_eq!(bench.accesses(&direct).unwrap(), [Access::Write { path: config.clone(), program: None }]);
    let extras = || Extras { writable: vec![config.clone()], ..Extras::default() };
    let done = bench.run_with(extras(), "sh set.sh");
    assert!(!done.failed && !done.text.contains("configures or runs code"), "{}", done.text);
    assert!(std::fs::read_to_string(&config).unwrap().contains("name = Dev"));
    // One that is new stays where it was asked for.
    bench.write("make.sh", "f=.envr; echo x > ${f}c");
    let envrc = bench.cwd.join(".envrc");
    assert!(bench.run("sh make.sh").text.contains(r#"{"write":[".envrc"]}"#) && !envrc.exists());
    bench.run_with(Extras { writable: vec![envrc.clone()], ..Extras::default() }, "sh make.sh");
    assert_eq!(std::fs::read_to_string(envrc).unwrap(), "x\n");
    let other = bench.run_with(extras(), "touch .git/hooks/pre-commit .vscode/tasks.json");
    assert!(other.failed && !bench.cwd.join(".vscode/tasks.json").exists(), "{}", other.text);
}

#[test]
fn a_push_to_a_repository_of_this_machine_asks_for_just_that() {
    let Some(bench) = bench() else { return };
    let remote = bench.root().join("remote.git");
    git(&bench.root(), &["init", "-q", "--bare", "remote.git"]);
    git(&bench.cwd, &["init", "-q", "-b", "main", "."]);
    for args in [&["config", "user.name", "Dev"][..], &["config", "user.email", "d@e"]] {
        git(&bench.cwd, args);
    }
    git(&bench.cwd, &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&bench.cwd, &["remote", "add", "origin", remote.to_str().unwrap()]);
    let push = json!({"command": "git push -q origin main"});
    let write = Access::Write { path: remote.clone(), program: Some("git".to_owned()) };
    assert_eq!(bench.accesses(&push).unwrap(), [write]);
    assert_eq!(bench.accesses(&json!({"command": "git fetch origin"})).unwrap(), []);
    // Its own remotes can be read.
    let fetched = bench.run("git fetch -q origin && git ls-remote origin");
    assert!(!fetched.failed, "{}", fetched.text);
    assert!(bench.run("git push -q origin main").failed);
    let extras = Extras { writable: vec![remote.clone()], ..Extras::default() };
    let pushed = bench.run_with(extras.clone(), "git push -q origin main");
    assert!(!pushed.failed, "{}", pushed.text);
    // What runs code there stays as it is.
    let hook = bench.run_with(extras, &format!("touch {}/hooks/post-receive", remote.display()));
    assert!(hook.failed && !remote.join("hooks/post-receive").exists(), "{}", hook.text);
}

#[test]
fn a_socket_comes_with_its_answer_alone() {
    let Some(bench) = bench() else { return };
    let python = Command::new("python3").arg("-V").output();
    if !python.is_ok_and(|done| done.status.success()) {
        return;
    }
    let socket = bench.root().join("agent.sock");
    let _agent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    bench.write(
        "connect.py",
        &format!("import socket; socket.socket(socket.AF_UNIX).connect({:?})\n", socket.display().to_string()),
    );
    assert!(bench.run("python3 connect.py").failed);
    let extras = Extras { sockets: vec![socket.display().to_string()], ..Extras::default() };
    let connected = bench.run_with(extras, "python3 connect.py");
    assert!(!connected.failed, "{}", connected.text);
}

#[test]
fn what_no_answer_opens_is_refused_before_it_is_asked() {
    let bench = Bench::new();
    let home = std::env::home_dir().unwrap();
    for (access, says) in [
        (json!({"read": ["/"]}), "more than one project"),
        (json!({"read": [home]}), "more than one project"),
        (json!({"read": ["/proc/1/environ"]}), "can't be granted"),
        (json!({"read": ["../no-such"]}), "does not exist"),
        (json!({"write": ["~/.ssh/authorized_keys"]}), "is a secret"),
        (json!({"sockets": ["x11"]}), "ssh-agent, gpg-agent, docker"),
        (json!({"read": "x"}), "a list of at most"),
        (json!("x"), "one JSON object"),
    ] {
        let why = bench.accesses(&json!({"command": "make", "access": access})).unwrap_err();
        assert!(why.contains(says), "{access}: {why}");
    }
    let mut own = Bench::new();
    own.place.own_dirs = vec![own.root().join("own")];
    std::fs::create_dir(own.root().join("own")).unwrap();
    let why = own.accesses(&json!({"command": "make", "access": {"write": ["../own"]}})).unwrap_err();
    assert!(why.contains("lisle's own files"), "{why}");
    bench.write("src/a", "x");
    assert!(bench.accesses(&json!({"command": "make", "access": {"write": ["."]}})).is_err());
    let own = json!({"command": "make", "access": {"read": ["src"], "write": ["src", "new"]}});
    assert_eq!(bench.accesses(&own).unwrap(), []);
}

#[test]
fn an_entry_of_the_settings_that_is_a_secret_is_shown_and_one_below_an_entry_is_not() {
    let Some(mut bench) = bench() else { return };
    let folder = bench.root().join("settings");
    std::fs::create_dir(&folder).unwrap();
    for name in [".netrc", ".env"] {
        std::fs::write(folder.join(name), format!("real {name}\n")).unwrap();
    }
    bench.write("show.sh", "d=../settings; cat $d/.n* $d/.e*\n");
    for (readable, shown) in [(folder.clone(), vec![]), (folder.join(".netrc"), vec![".netrc"])] {
        let mut allowances = (*bench.place.allowances).clone();
        allowances.readable = vec![readable];
        bench.place.allowances = std::sync::Arc::new(allowances);
        let said = bench.run("sh show.sh").text;
        for name in [".netrc", ".env"] {
            assert_eq!(said.contains(&format!("real {name}")), shown.contains(&name), "{said}");
        }
    }
}
