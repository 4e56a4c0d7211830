//! Git worktrees: a session that is to work alone gets its own checkout, on its own branch.
//!
//! All is done by the user's `git`, with an environment without keys or prompts; what it says goes to the user as it is. A
//! repository is other people's work: whatever its settings would run (filters, drivers, hooks, helpers) is off, and git is
//! held like any command, with nothing to be written but what it is to write, and no network. Nothing here throws work away: what is not committed, and commits that are nowhere else, stay until somebody
//! says otherwise. When to ask for what is the supervisor's business.

use crate::domain::SessionId;
use crate::domain::session::Worktree;
use crate::sandbox::{self, runner::environment};
use crate::sandbox::{Bounds, Invocation, Network, Profile, RunReport, plain_file, system_support};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A checkout of a large repository takes its time; something that hangs takes more.
const PATIENCE: Duration = Duration::from_secs(300);

/// More than git ever says here.
const MOST_OUTPUT: u64 = 64 << 20;

/// Settings that run something, and what they are instead. `merge.verifySignatures` and its kin would ask a program that a
/// repository names.
const OFF: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "core.askPass=false",
    "core.pager=cat",
    "core.editor=false",
    "core.quotePath=false",
    "credential.helper=",
    "commit.gpgSign=false",
    "merge.verifySignatures=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.x509.program=false",
    "gpg.ssh.program=false",
    "gpg.ssh.defaultKeyCommand=false",
    "protocol.ext.allow=never",
    "protocol.file.allow=never",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=dirty",
    "maintenance.auto=false",
    "gc.auto=0",
];

/// Prefix of variables that would lead git to another repository, or to other programs.
const STEERING: &str = "GIT_";

/// Error of a worktree operation.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// git cannot be started.
    #[error("can't run git: {0}. Install it, or work without a worktree")]
    NoGit(String),
    /// It did not come to an end.
    #[error("git took more than {} seconds to {doing} and was stopped", PATIENCE.as_secs())]
    Slow {
        /// Operation.
        doing: &'static str,
    },
    /// git says no.
    #[error("git can't {doing}: {words}")]
    Git {
        /// Operation.
        doing: &'static str,
        /// Message of git.
        words: String,
    },
    /// A directory could not be made.
    #[error("can't create {}: {source}", .path.display())]
    Make {
        /// Path.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// Uncommitted changes.
    #[error("{} has uncommitted changes. Commit or discard them first", .path.display())]
    Dirty {
        /// The checkout.
        path: PathBuf,
    },
    /// A merge is not finished.
    #[error("unfinished merge in {}. Finish or abort it first", .path.display())]
    Merging {
        /// The checkout.
        path: PathBuf,
    },
}

/// A worktree that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The worktree.
    pub worktree: Worktree,
    /// Notice for the user; a sentence or two.
    pub note: Option<String>,
}

/// State of a worktree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorktreeState {
    /// True if its directory no longer exists.
    pub gone: bool,
    /// It has changes that are not committed.
    pub dirty: bool,
    /// Commits on its branch that the repository's checkout does not have.
    pub ahead: u64,
}

/// Treatment of work that exists nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// No: then nothing is removed, and a branch with commits of its own stays.
    Refused,
    /// Yes.
    Accepted,
}

/// Fate of the branch of a removed worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchLeft {
    /// It is gone, or was before.
    Gone,
    /// It stays: it has commits that are nowhere else.
    Kept,
}

/// Result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Nothing to merge.
    Nothing,
    /// The repository's checkout has all commits of the branch; the number of new ones.
    Done(u64),
    /// These files were changed on both sides. The checkout is as it was.
    Conflicts(Vec<String>),
}

/// Makes a worktree for a session: of the repository that `inside` lies in, at its current commit, on the new branch
/// `lisle/ID`, in `DATA/worktrees/WORKSPACE/ID`.
///
/// # Errors
/// When `inside` lies in no repository, the branch or the directory is there already, or git says no otherwise.
pub async fn create(
    runner: &Path,
    inside: &Path,
    data: &Path,
    workspace: &str,
    session: &SessionId,
) -> Result<Made, WorktreeError> {
    let git = Git { runner };
    let top = git.reads(inside, "find the repository", &["rev-parse", "--show-toplevel"]).await?;
    let repository = PathBuf::from(top.strip_suffix('\n').unwrap_or(&top));
    let common = git.common(&repository).await?;
    let path = place(data, workspace, session);
    let folder = path.parent().unwrap_or(data).to_owned();
    let mut make = tokio::fs::DirBuilder::new();
    make.recursive(true).mode(0o700);
    make.create(&folder).await.map_err(|source| WorktreeError::Make { path: folder.clone(), source })?;
    let branch = format!("lisle/{session}");
    let place = path.to_string_lossy();
    let words = ["worktree", "add", "--quiet", "-b", &branch, "--", &place, "HEAD"];
    git.writes(&repository, "make the worktree", &words, vec![common, folder]).await?;
    let note = filters(&path).await;
    Ok(Made { worktree: Worktree { repository, path, branch }, note })
}

/// Place of a session's worktree.
#[must_use]
pub fn place(data: &Path, workspace: &str, session: &SessionId) -> PathBuf {
    data.join("worktrees").join(folder_name(workspace)).join(session.as_str())
}

/// Bytes of a file of attributes that is looked into.
const MOST_ATTRIBUTES: u64 = 1024 * 1024;

/// Notice about filters that were not run.
async fn filters(checkout: &Path) -> Option<String> {
    let file = checkout.join(".gitattributes");
    let text = tokio::task::spawn_blocking(move || plain_file::text(&file, MOST_ATTRIBUTES)).await.ok()??;
    let named = |word: &str| word.strip_prefix("filter=").map(str::to_owned);
    let mut names: Vec<String> = text.lines().flat_map(|line| line.split_whitespace().filter_map(named)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let how = if names.iter().any(|name| name == "lfs") { " Run `git lfs pull` there to fetch LFS files." } else { "" };
    Some(format!(
        "Skipped .gitattributes filters ({}): those files are in the worktree as stored in the repository.{how}",
        names.join(", ")
    ))
}

/// Current state of a worktree.
///
/// # Errors
/// When its repository is gone, or git says no.
pub async fn state(runner: &Path, worktree: &Worktree) -> Result<WorktreeState, WorktreeError> {
    let git = Git { runner };
    let gone = tokio::fs::symlink_metadata(&worktree.path).await.is_err();
    let dirty = !gone && git.is_dirty(&worktree.path, "normal").await?;
    let ahead = match git.head_of(worktree).await? {
        Some(_) => git.ahead(worktree).await?,
        None => 0,
    };
    Ok(WorktreeState { gone, dirty, ahead })
}

/// Removes a worktree, and its branch unless that has commits which are nowhere else.
///
/// # Errors
/// [`WorktreeError::Dirty`] when something is not committed and its loss is refused; when git says no.
pub async fn remove(runner: &Path, worktree: &Worktree, loss: Loss) -> Result<BranchLeft, WorktreeError> {
    let git = Git { runner };
    let now = state(runner, worktree).await?;
    if now.dirty && loss == Loss::Refused {
        return Err(WorktreeError::Dirty { path: worktree.path.clone() });
    }
    let repository = &worktree.repository;
    let common = git.common(repository).await?;
    let folder = worktree.path.parent().unwrap_or(&worktree.path).to_owned();
    let places = vec![common, folder];
    if now.gone {
        git.writes(repository, "forget the worktree", &["worktree", "prune"], places.clone()).await?;
    } else {
        let place = worktree.path.to_string_lossy();
        let mut words = vec!["worktree", "remove"];
        if loss == Loss::Accepted {
            words.push("--force");
        }
        words.extend(["--", &*place]);
        git.writes(repository, "remove the worktree", &words, places.clone()).await?;
    }
    if git.head_of(worktree).await?.is_none() {
        return Ok(BranchLeft::Gone);
    }
    if now.ahead > 0 && loss == Loss::Refused {
        return Ok(BranchLeft::Kept);
    }
    // `-d` would ask whether it is merged to where it came from; that it is in the checkout is known.
    let words = ["branch", "--quiet", "-D", "--", &worktree.branch];
    git.writes(repository, "remove the branch", &words, places).await?;
    Ok(BranchLeft::Gone)
}

/// Merges a worktree's branch into what the repository has checked out. With conflicts, or an error, that is as it was.
///
/// # Errors
/// [`WorktreeError::Dirty`] and [`WorktreeError::Merging`] when the worktree or the repository's checkout is in no state
/// for it; when git says no.
pub async fn merge(runner: &Path, worktree: &Worktree) -> Result<Merged, WorktreeError> {
    let git = Git { runner };
    let now = state(runner, worktree).await?;
    if now.dirty {
        return Err(WorktreeError::Dirty { path: worktree.path.clone() });
    }
    let repository = &worktree.repository;
    let merging = ["rev-parse", "--quiet", "--verify", "MERGE_HEAD"];
    // Otherwise aborting ours would abort it.
    if git.reads(repository, "look for a merge", &merging).await.is_ok() {
        return Err(WorktreeError::Merging { path: repository.clone() });
    }
    if git.is_dirty(repository, "no").await? {
        return Err(WorktreeError::Dirty { path: repository.clone() });
    }
    if now.ahead == 0 {
        return Ok(Merged::Nothing);
    }
    let places = vec![git.common(repository).await?, repository.clone()];
    let words = ["merge", "--quiet", "--no-edit", "--", &worktree.branch];
    let Err(error) = git.writes(repository, "merge", &words, places.clone()).await else {
        return Ok(Merged::Done(now.ahead));
    };
    let list = git.reads(repository, "list conflicts", &["diff", "--name-only", "--diff-filter=U", "-z"]).await?;
    let conflicts: Vec<String> = list.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if git.reads(repository, "look for a merge", &merging).await.is_ok() {
        git.writes(repository, "undo the merge", &["merge", "--abort"], places).await?;
    }
    if conflicts.is_empty() { Err(error) } else { Ok(Merged::Conflicts(conflicts)) }
}

/// A workspace's name as the name of a directory.
fn folder_name(workspace: &str) -> String {
    let name: String =
        workspace.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(60).collect();
    if name.is_empty() { "workspace".to_owned() } else { name }
}

/// git, started through lisle's own program. A runner that is no path is none: git is started as it is then.
struct Git<'a> {
    runner: &'a Path,
}

/// Result of one call.
struct GitOutput {
    code: i32,
    output: String,
}

impl Git<'_> {
    /// The folder that a repository shares with its worktrees.
    async fn common(&self, at: &Path) -> Result<PathBuf, WorktreeError> {
        let said = self.reads(at, "find the repository", &["rev-parse", "--git-common-dir"]).await?;
        Ok(at.join(said.strip_suffix('\n').unwrap_or(&said)))
    }

    /// The commit of the worktree's branch; `None` when there is no such branch.
    async fn head_of(&self, worktree: &Worktree) -> Result<Option<String>, WorktreeError> {
        let name = format!("refs/heads/{}", worktree.branch);
        let words = ["for-each-ref", "--format=%(objectname)", &name];
        let list = self.reads(&worktree.repository, "find the branch", &words).await?;
        Ok(list.lines().next().map(str::to_owned))
    }

    async fn ahead(&self, worktree: &Worktree) -> Result<u64, WorktreeError> {
        let range = format!("HEAD..refs/heads/{}", worktree.branch);
        let count = self.reads(&worktree.repository, "count commits", &["rev-list", "--count", &range, "--"]).await?;
        count.trim().parse().map_err(|_| WorktreeError::Git { doing: "count commits", words: count.trim().to_owned() })
    }

    /// `untracked`: which of the files that git does not know count (`no`, `normal`).
    async fn is_dirty(&self, checkout: &Path, untracked: &str) -> Result<bool, WorktreeError> {
        let untracked = format!("--untracked-files={untracked}");
        let words = ["status", "--porcelain", "--ignore-submodules=dirty", &untracked];
        Ok(!self.reads(checkout, "look for changes", &words).await?.is_empty())
    }

    /// Runs git where it can write nothing, and gives what it prints.
    async fn reads(&self, at: &Path, doing: &'static str, words: &[&str]) -> Result<String, WorktreeError> {
        let off = self.off(at).await?;
        let reading = || profile(self.runner, None);
        let done = self.run(at, doing, &off, words, Errors::Away, reading()).await?;
        if done.code == 0 {
            return Ok(done.output);
        }
        // The words of a failure do not mix with what is printed: they are asked for once more.
        let said = self.run(at, doing, &off, words, Errors::Along, reading()).await?;
        Err(refused(doing, &said))
    }

    /// Runs git where it can write below these folders.
    async fn writes(
        &self,
        at: &Path,
        doing: &'static str,
        words: &[&str],
        places: Vec<PathBuf>,
    ) -> Result<(), WorktreeError> {
        let off = self.off(at).await?;
        let done = self.run(at, doing, &off, words, Errors::Along, profile(self.runner, Some(places))).await?;
        if done.code == 0 { Ok(()) } else { Err(refused(doing, &done)) }
    }

    /// The settings that switch off whatever the repository's own settings would run, as arguments: filters and drivers
    /// have names of their own, so they are asked for.
    async fn off(&self, at: &Path) -> Result<Vec<String>, WorktreeError> {
        let doing = "read the repository's settings";
        let fixed: Vec<String> = OFF.iter().map(|set| (*set).to_owned()).collect();
        let words = ["config", "--null", "--name-only", "--get-regexp", r"^(filter|merge)\..+\."];
        // Where there is none of them, or no repository, nothing is printed.
        let done = self.run(at, doing, &fixed, &words, Errors::Away, profile(self.runner, None)).await?;
        let mut out = fixed;
        for key in done.output.split('\0').filter(|key| !key.is_empty()) {
            let Some((name, last)) = key.rsplit_once('.') else { continue };
            let set = match (name.split('.').next(), last) {
                (Some("filter"), "clean" | "smudge" | "process") => "",
                (Some("filter"), "required") => "false",
                (Some("merge"), "driver") => "git merge-file --quiet %A %O %B",
                _ => continue,
            };
            // Such a name cannot be said on a command line.
            if key.contains('=') || key.contains(char::is_control) {
                let words = format!("the git setting {key:?} runs a program and can't be turned off");
                return Err(WorktreeError::Git { doing, words });
            }
            out.push(format!("{key}={set}"));
        }
        Ok(out)
    }

    #[expect(clippy::too_many_arguments, reason = "one call of git, and all that differs between them")]
    async fn run(
        &self,
        at: &Path,
        doing: &'static str,
        off: &[String],
        words: &[&str],
        errors: Errors,
        profile: Profile,
    ) -> Result<GitOutput, WorktreeError> {
        let environment = environment::own(at);
        let environment = environment.into_iter().filter(|(name, _)| !name.to_string_lossy().starts_with(STEERING));
        // The shell only says where errors go.
        let script = match errors {
            Errors::Away => "exec git \"$@\" 2>/dev/null",
            Errors::Along => "exec git \"$@\" 2>&1",
        };
        let mut line: Vec<std::ffi::OsString> = ["/bin/sh", "-c", script, "git"].map(Into::into).into();
        line.extend(off.iter().flat_map(|set| ["-c".into(), set.into()]));
        line.extend(words.iter().map(Into::into));
        let held = self.runner.is_absolute();
        let mut command = if held {
            let call =
                Invocation { timeout: PATIENCE, output_limit: MOST_OUTPUT, memory: None, profile, command: line };
            let mut command = Command::new(self.runner);
            // Its end, which comes with ours, ends git.
            command.args(call.arguments()).stdin(Stdio::piped());
            command
        } else {
            let mut command = Command::new("/bin/sh");
            command.args(line.iter().skip(1)).stdin(Stdio::null());
            command
        };
        command
            .current_dir(at)
            .env_clear()
            .envs(environment)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let no_git = |error: &dyn std::fmt::Display| WorktreeError::NoGit(error.to_string());
        let mut child = command.spawn().map_err(|error| no_git(&error))?;
        let control = child.stdin.take();
        let done = match tokio::time::timeout(PATIENCE, child.wait_with_output()).await {
            Ok(done) => done.map_err(|error| no_git(&error))?,
            Err(_) => return Err(WorktreeError::Slow { doing }),
        };
        drop(control);
        let report = if held { RunReport::parse(&String::from_utf8_lossy(&done.stderr)) } else { None };
        if let Some(error) = report.as_ref().and_then(|report| report.error.as_ref()) {
            return Err(no_git(error));
        }
        let code = report.map_or(done.status.code(), |report| report.code()).unwrap_or(-1);
        if code == 127 {
            return Err(no_git(&"not installed"));
        }
        Ok(GitOutput { code, output: String::from_utf8_lossy(&done.stdout).into_owned() })
    }
}

/// Target of git's error messages.
#[derive(Clone, Copy)]
enum Errors {
    Away,
    Along,
}

/// Sandbox profile of git: it may write below these folders, or nowhere.
fn profile(runner: &Path, places: Option<Vec<PathBuf>>) -> Profile {
    if !runner.is_absolute() || !sandbox::is_enforced() {
        return Profile::Open;
    }
    let bounds = Bounds {
        readable: vec!["/".into()],
        namespaces: system_support::spaces(runner),
        network: Network::Off,
        ..Bounds::default()
    };
    match places {
        None => Profile::ReadOnly(bounds),
        Some(writable) => Profile::Workspace(Bounds { writable, ..bounds }),
    }
}

fn refused(doing: &'static str, done: &GitOutput) -> WorktreeError {
    let words = match done.output.trim() {
        "" => format!("it exited with {}", done.code),
        words => words.to_owned(),
    };
    WorktreeError::Git { doing, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Plain;

    /// No runner: these tests have no program of their own to start.
    fn bare() -> &'static Path {
        Path::new("none")
    }

    /// Runs git for the test; false when there is none.
    fn run(at: &Path, words: &[&str]) -> bool {
        let mut command = Plain::new("git");
        command.current_dir(at).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]).args(words);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        match command.output() {
            Ok(done) => {
                assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
                true
            }
            Err(_) => false,
        }
    }

    fn commit(at: &Path, file: &str, text: &str) {
        std::fs::write(at.join(file), text).unwrap();
        run(at, &["add", "-A"]);
        run(at, &["commit", "--quiet", "-m", "work"]);
    }

    /// A repository with one commit, and a worktree of it; `None` where there is no git.
    async fn bench() -> Option<(tempfile::TempDir, Worktree)> {
        let root = tempfile::tempdir().unwrap();
        let repository = root.path().join("code");
        std::fs::create_dir_all(repository.join("deep")).unwrap();
        if !run(&repository, &["init", "--quiet", "-b", "main"]) {
            eprintln!("there is no git here: worktrees are not tested");
            return None;
        }
        run(&repository, &["config", "user.name", "Ada"]);
        run(&repository, &["config", "user.email", "ada@example.invalid"]);
        // A hook that must not run.
        std::fs::create_dir_all(repository.join(".git/hooks")).unwrap();
        std::fs::write(repository.join(".git/hooks/post-checkout"), "#!/bin/sh\ntouch \"$GIT_DIR/ran\"\nexit 1\n")
            .unwrap();
        Plain::new("chmod").args(["+x", ".git/hooks/post-checkout"]).current_dir(&repository).status().unwrap();
        std::fs::write(repository.join("deep/a"), "one\n").unwrap();
        commit(&repository, "a", "one\n");
        let id = SessionId::parse("260902-swift-river").unwrap();
        let made =
            create(bare(), &repository.join("deep"), &root.path().join("data"), "Side work/..", &id).await.unwrap();
        assert_eq!(made.note, None);
        let made = made.worktree;
        Some((root, made))
    }

    #[tokio::test]
    async fn a_session_gets_its_own_checkout_and_what_it_did_can_be_merged() {
        let Some((root, made)) = bench().await else { return };
        let repository = root.path().join("code").canonicalize().unwrap();
        assert_eq!((&made.repository, made.branch.as_str()), (&repository, "lisle/260902-swift-river"));
        assert_eq!(made.path, root.path().join("data/worktrees/Side-work---/260902-swift-river"));
        assert_eq!(std::fs::read_to_string(made.path.join("a")).unwrap(), "one\n");
        assert_eq!(state(bare(), &made).await.unwrap(), WorktreeState::default());
        assert_eq!(merge(bare(), &made).await.unwrap(), Merged::Nothing);
        std::fs::write(made.path.join("new"), "x").unwrap();
        assert_eq!(state(bare(), &made).await.unwrap(), WorktreeState { dirty: true, ..WorktreeState::default() });
        for refused in [merge(bare(), &made).await.map(drop), remove(bare(), &made, Loss::Refused).await.map(drop)] {
            assert!(matches!(refused, Err(WorktreeError::Dirty { .. })), "{refused:?}");
        }
        assert!(made.path.join("new").exists());
        commit(&made.path, "b", "two\n");
        assert_eq!(state(bare(), &made).await.unwrap(), WorktreeState { ahead: 1, ..WorktreeState::default() });
        // What the user has not committed is not touched; files that git does not know are in nobody's way.
        std::fs::write(repository.join("a"), "changed\n").unwrap();
        assert!(matches!(merge(bare(), &made).await, Err(WorktreeError::Dirty { path }) if path == repository));
        run(&repository, &["reset", "--quiet", "--hard"]);
        std::fs::write(repository.join("unknown"), "x").unwrap();
        assert_eq!(merge(bare(), &made).await.unwrap(), Merged::Done(1));
        assert_eq!(std::fs::read_to_string(repository.join("b")).unwrap(), "two\n");
        assert_eq!(remove(bare(), &made, Loss::Refused).await.unwrap(), BranchLeft::Gone);
        assert!(!made.path.exists());
        let again = state(bare(), &made).await.unwrap();
        assert_eq!(again, WorktreeState { gone: true, ..WorktreeState::default() });
        assert_eq!(remove(bare(), &made, Loss::Refused).await.unwrap(), BranchLeft::Gone);
    }

    #[tokio::test]
    async fn conflicts_are_told_and_the_checkout_stays_as_it_was() {
        let Some((_root, made)) = bench().await else { return };
        commit(&made.path, "a", "theirs\n");
        commit(&made.repository, "a", "ours\n");
        commit(&made.repository, "c", "more\n");
        assert_eq!(merge(bare(), &made).await.unwrap(), Merged::Conflicts(vec!["a".to_owned()]));
        assert_eq!(std::fs::read_to_string(made.repository.join("a")).unwrap(), "ours\n");
        assert!(!Git { runner: bare() }.is_dirty(&made.repository, "normal").await.unwrap());
        assert!(!made.repository.join(".git/MERGE_HEAD").exists());
        // Commits that are nowhere else outlive the worktree, unless their loss is accepted.
        assert_eq!(remove(bare(), &made, Loss::Refused).await.unwrap(), BranchLeft::Kept);
        assert!(!made.path.exists() && Git { runner: bare() }.head_of(&made).await.unwrap().is_some());
        assert_eq!(remove(bare(), &made, Loss::Accepted).await.unwrap(), BranchLeft::Gone);
        assert!(Git { runner: bare() }.head_of(&made).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_git_says_is_passed_on() {
        let Some((root, made)) = bench().await else { return };
        let id = SessionId::parse("260902-swift-river").unwrap();
        let data = root.path().join("data");
        let twice = create(bare(), &made.repository, &data, "Side work/..", &id).await.unwrap_err().to_string();
        assert!(twice.starts_with("git can't make the worktree: ") && twice.contains("lisle/260902"), "{twice}");
        let nowhere = create(bare(), root.path(), &data, "w", &id).await.unwrap_err().to_string();
        assert!(nowhere.starts_with("git can't find the repository: "), "{nowhere}");
        // A merge of the user's own is not touched.
        commit(&made.path, "b", "two\n");
        std::fs::write(made.repository.join(".git/MERGE_HEAD"), "0000000000000000000000000000000000000001\n").unwrap();
        assert!(matches!(merge(bare(), &made).await, Err(WorktreeError::Merging { .. })));
        assert!(made.repository.join(".git/MERGE_HEAD").exists());
        std::fs::remove_file(made.repository.join(".git/MERGE_HEAD")).unwrap();
        // Lost work is lost only when that is accepted.
        std::fs::write(made.path.join("new"), "x").unwrap();
        assert!(matches!(remove(bare(), &made, Loss::Refused).await, Err(WorktreeError::Dirty { .. })));
        assert_eq!(remove(bare(), &made, Loss::Accepted).await.unwrap(), BranchLeft::Gone);
        assert!(!made.path.exists());
    }
}
