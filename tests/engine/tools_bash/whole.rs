//! Commands of git and of folders do all that they were asked to, after an answer where one is needed, or they do nothing.

use super::Bench;
use super::access::{bench, git};
use lisle::domain::permission::Mode;
use lisle::domain::tool::{Outcome, Touch};
use lisle::permit::{self, Ground, Policy, Rules, Verdict};
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use serde_json::json;

impl Bench {
    /// Decides on a command in Execute and runs it with what a yes opens. The reasons of the question come along; they are
    /// empty where nothing was asked.
    fn answered(&self, command: &str) -> (Outcome, String) {
        let input = json!({"command": command});
        let facts = Registry::standard().find("bash").unwrap().inspect(&input, &self.place, &Seen::default()).unwrap();
        let rules = Rules::new(Ground { here: vec![self.cwd.clone()], home: None });
        let policy = Policy::default();
        let asked = match permit::decide(policy, Mode::Execute, &rules, &facts, false) {
            Verdict::Allow(_) => String::new(),
            Verdict::Ask(question) => question.reasons.join(" "),
            Verdict::Deny(refusal) => panic!("{command}: {}", refusal.reason),
        };
        let extras = permit::extras(policy, Mode::Execute, &rules, &facts);
        (self.run_with(extras, command), asked)
    }

    /// Runs a command that nothing is asked about.
    fn unasked(&self, command: &str) {
        let (done, asked) = self.answered(command);
        assert_eq!(asked, "", "{command}");
        self.assert_quiet(command, &done);
    }

    /// Runs a command after a question that says this.
    fn after_yes(&self, command: &str, says: &str) {
        let (done, asked) = self.answered(command);
        assert!(asked.contains(says), "{command}: {asked}");
        self.assert_quiet(command, &done);
    }

    fn assert_quiet(&self, command: &str, done: &Outcome) {
        assert!(!done.failed, "{command}: {}", done.text);
        for sign in ["busy", "Busy", "Read-only", "could not", "configures or runs code"] {
            assert!(!done.text.contains(sign), "{command}: {}", done.text);
        }
        assert!(done.figures.protected.is_empty(), "{command}: {:?}", done.figures.protected);
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.cwd.join(".git/config")).unwrap()
    }
}

/// A repository with a commit, whose name and address of a user are set.
fn repository() -> Option<Bench> {
    let bench = bench()?;
    git(&bench.cwd, &["init", "-q", "-b", "main", "."]);
    git(&bench.cwd, &["config", "user.name", "Dev"]);
    git(&bench.cwd, &["config", "user.email", "d@e"]);
    bench.write("a", "one\n");
    git(&bench.cwd, &["add", "-A"]);
    git(&bench.cwd, &["commit", "-q", "-m", "one"]);
    Some(bench)
}

/// A repository in a folder of the working directory, with a file that configures an editor and a secret.
fn nested(bench: &Bench, name: &str) {
    bench.write(&format!("{name}/file"), "x");
    git(&bench.cwd.join(name), &["init", "-q", "."]);
    bench.write(&format!("{name}/.git/hooks/pre-push"), "#!/bin/sh\n");
    bench.write(&format!("{name}/.envrc"), "use flake\n");
    bench.write(&format!("{name}/sub/.env"), "KEY=real\n");
}

#[test]
fn a_folder_that_holds_a_repository_goes_whole_after_a_yes() {
    let Some(bench) = repository() else { return };
    for (line, gone, there) in [
        ("rm -rf inner", "inner", None),
        ("rm -rf inn*", "inner", None),
        ("mv inner outer", "inner", Some("outer")),
        ("mkdir -p deep && mv inner deep", "inner", Some("deep/inner")),
    ] {
        nested(&bench, "inner");
        bench.after_yes(line, "inner/.git");
        assert!(!bench.cwd.join(gone).exists(), "{line}");
        if let Some(there) = there {
            assert_eq!(
                std::fs::read_to_string(bench.cwd.join(there).join("sub/.env")).unwrap(),
                "KEY=real\n",
                "{line}"
            );
            assert!(bench.cwd.join(there).join(".git/hooks/pre-push").exists(), "{line}");
        }
    }
    // Of more files than are named the folder is.
    nested(&bench, "many");
    (0..9).for_each(|n| drop(bench.write(&format!("many/{n}/.envrc"), "x")));
    bench.after_yes("rm -rf many", "many is protected");
    assert!(!bench.cwd.join("many").exists());
    // Only what was named is opened.
    nested(&bench, "one");
    nested(&bench, "two");
    let (done, _) = bench.answered("rm -rf one; d=tw; rm -rf ${d}o");
    assert!(done.failed && !bench.cwd.join("one").exists(), "{}", done.text);
    assert!(bench.cwd.join("two/.git/hooks/pre-push").exists() && bench.cwd.join("two/.git/config").exists());
}

#[test]
fn a_secret_that_nobody_names_is_asked_about_before_it_goes() {
    let Some(bench) = bench() else { return };
    bench.write("app/.env", "KEY=real\n");
    bench.write("app/a", "x");
    bench.after_yes("rm -rf app", "app/.env");
    assert!(!bench.cwd.join("app").exists());
    // Those of other people's packages are nobody's.
    let key = format!("-----BEGIN {} KEY-----\nx\n", "PRIVATE");
    bench.write("node_modules/tls/test/server.pem", &key);
    bench.write("node_modules/tls/.env", "A=1\n");
    bench.unasked("rm -rf node_modules");
    assert!(!bench.cwd.join("node_modules").exists());
}

#[test]
fn git_takes_its_own_trees_away_whole() {
    let Some(bench) = repository() else { return };
    bench.write(".github/workflows/ci.yml", "on: push\n");
    git(&bench.cwd, &["add", "-A"]);
    git(&bench.cwd, &["commit", "-q", "-m", "two"]);
    git(&bench.cwd, &["worktree", "add", "-q", "-b", "side", "tree"]);
    bench.after_yes("git worktree remove tree", "tree/.git");
    assert!(!bench.cwd.join("tree").exists() && !bench.cwd.join(".git/worktrees/tree").exists());
    let source = bench.root().join("source");
    git(&bench.root(), &["clone", "-q", bench.cwd.to_str().unwrap(), "source"]);
    git(
        &bench.cwd,
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source.to_str().unwrap(), "lib"],
    );
    bench.after_yes("git submodule deinit -f lib", "lib/.git");
    assert!(!bench.cwd.join("lib/a").exists() && !bench.config().contains("submodule"), "{}", bench.config());
    // What git does not track goes after a yes, and only then.
    git(&bench.cwd, &["commit", "-q", "-m", "three"]);
    bench.write(".editorconfig", "x");
    bench.write("new", "x");
    bench.after_yes("git clean -fdq", ".editorconfig is protected");
    assert!(!bench.cwd.join(".editorconfig").exists() && !bench.cwd.join("new").exists());
    bench.write(".editorconfig", "x");
    bench.after_yes("git stash -u -q", ".editorconfig is protected");
    assert!(!bench.cwd.join(".editorconfig").exists());
    // What is hidden from git stays, unless ignored files go as well.
    bench.write(".env", "KEY=real\n");
    bench.unasked("git clean -fdq");
    assert!(bench.cwd.join(".env").exists());
    bench.after_yes("git clean -fdxq", ".env");
    assert!(!bench.cwd.join(".env").exists());
}

#[test]
fn git_notes_what_runs_nothing_without_a_question() {
    let Some(bench) = repository() else { return };
    let remote = bench.root().join("remote.git");
    git(&bench.root(), &["init", "-q", "--bare", "remote.git"]);
    git(&bench.cwd, &["remote", "add", "local", remote.to_str().unwrap()]);
    git(&bench.cwd, &["push", "-q", "local", "main", "main:topic"]);
    git(&bench.cwd, &["fetch", "-q", "local"]);
    for (line, says) in [
        ("git config user.email other@example.org", "other@example.org"),
        ("git switch -q --track local/topic 2>&1 | tail -3", "[branch \"topic\"]"),
        ("git branch -m topic other && git status -s", "[branch \"other\"]"),
        ("git branch -u local/main other", "refs/heads/main"),
        ("git remote add more https://example.invalid/x", "[remote \"more\"]"),
        ("git branch new local/topic", "[branch \"new\"]"),
        ("git init -q", "[branch \"new\"]"),
    ] {
        bench.unasked(line);
        assert!(bench.config().contains(says), "{line}: {}", bench.config());
    }
    bench.unasked("git switch -q main && git branch -D other new");
    assert!(!bench.config().contains("[branch"), "{}", bench.config());
    assert!(bench.answered("git push -q -u local main").1.contains("Read-only for commands unless you allow it"));
    bench.after_yes("git push -q -u local main", "");
    assert!(bench.config().contains("[branch \"main\"]"), "{}", bench.config());
    // A repository of this machine is named, and one of another is not.
    let touches = |line: &str| {
        let input = json!({"command": line});
        let facts = Registry::standard().find("bash").unwrap().inspect(&input, &bench.place, &Seen::default()).unwrap();
        facts.touches.contains(&Touch::Read { path: remote.clone(), secret: false })
    };
    for line in ["git push local main", "git fetch local && git pull local main", "git clone ../remote.git x"] {
        assert!(touches(line), "{line}");
    }
    for line in ["git push more main", "git fetch local; git fetch more", "git fetch", "git status"] {
        assert!(!touches(line), "{line}");
    }
}

#[test]
fn a_setting_that_runs_something_is_named_and_asked_about() {
    let Some(bench) = repository() else { return };
    for (line, says) in [
        ("git config core.hooksPath hooks", "git's setting core.hooksPath = hooks"),
        ("git remote add o ../o.git", "git's setting remote.o.url = ../o.git"),
        ("git remote remove o", "git's setting remote.o (removed)"),
        ("git remote add p https://example.invalid/x && git config alias.st status", "git's setting alias.st = status"),
        ("echo x > b && git config user.name Other", "Sets `user.name = Other` in git's settings"),
    ] {
        bench.after_yes(line, says);
    }
    assert!(bench.config().contains("hooksPath") && bench.config().contains("Other"), "{}", bench.config());
    // While the project's own hook runs, nothing of it is open without a yes.
    git(&bench.cwd, &["config", "--unset", "core.hooksPath"]);
    let hook = bench.write(".git/hooks/pre-push", "#!/bin/sh\nmake test\n");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (_, asked) = bench.answered("git push -u p main");
    assert!(asked.contains("`branch.main.remote = p`"), "{asked}");
}

#[test]
fn what_lies_in_the_folder_of_the_session_is_told() {
    let Some(bench) = repository() else { return };
    let done = bench.run("git clone -q . /tmp/copy-of-it && ls /tmp/copy-of-it");
    let lies = bench.place.session_dir.join("tmp/copy-of-it");
    assert!(done.text.contains(&format!("/tmp/copy-of-it lies in {}", lies.display())), "{}", done.text);
    assert!(lies.join(".git").exists());
    // Each is told once, and what is not named is not.
    for line in ["ls /tmp/copy-of-it", "cd /tmp && touch other"] {
        assert!(!bench.run(line).text.contains("lies in"), "{line}");
    }
}

#[test]
fn what_else_lands_in_the_settings_of_git_is_taken_back() {
    let Some(bench) = repository() else { return };
    // The user's own filter is one that a command changed: it writes while git's settings are open.
    // Busy machines open them late, so it tries until it has written.
    let write = "printf '[core]\\n\\tfsmonitor = ./x\\n' >> .git/config";
    bench.write(
        "evil.sh",
        &format!("cat; n=0; until {{ {write}; }} 2>/dev/null || [ $((n += 1)) -gt 9999 ]; do :; done"),
    );
    git(&bench.cwd, &["config", "filter.f.clean", "sh -c '. ./evil.sh'"]);
    bench.write(".gitattributes", "b filter=f\n");
    bench.write("b", "x\n");
    let before = bench.config();
    let (done, asked) = bench.answered("git add b && git branch -f side");
    assert_eq!(asked, "");
    assert!(done.text.contains("configures or runs code"), "{}", done.text);
    assert_eq!(bench.config(), before, "{}", done.text);
}

#[test]
fn lisles_folders_below_the_working_directory_are_empty_to_commands() {
    let Some(mut bench) = bench() else { return };
    let (data, workspace) = (bench.cwd.join("lisle"), bench.cwd.join("lisle/workspaces/w"));
    for (name, content) in [
        ("lisle/workspaces/w/checkpoints/ab/copy", "the old key"),
        ("lisle/workspaces/w/sessions/other/session.jsonl", "what others said"),
        ("lisle/workspaces/w/sessions/own/session.jsonl", "what is said here"),
        ("lisle/workspaces/w/sessions/own/data/table.csv", "a,b"),
    ] {
        std::fs::create_dir_all(bench.cwd.join(name).parent().unwrap()).unwrap();
        bench.write(name, content);
    }
    bench.place.session_dir = workspace.join("sessions/own");
    bench.place.own_dirs = vec![data, workspace.join("permissions.json")];
    let seen = bench.run("grep -rl . lisle; ls -R lisle").text;
    for name in ["copy", "session.jsonl", "other"] {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
    assert!(seen.contains("table.csv"), "the session's own data is there: {seen}");
    bench.run(
        "mkdir -p lisle/workspaces/w/checkpoints; echo '{}' > lisle/workspaces/w/permissions.json; \
         echo x > lisle/workspaces/w/checkpoints/list.jsonl; mv lisle gone; echo new > lisle/workspaces/w/sessions/own/data/out",
    );
    for name in ["permissions.json", "checkpoints/list.jsonl"] {
        assert!(!workspace.join(name).exists(), "{name} was planted");
    }
    assert_eq!(std::fs::read_to_string(workspace.join("sessions/own/data/out")).unwrap(), "new\n");
}
