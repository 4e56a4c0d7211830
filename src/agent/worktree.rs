//! Git worktrees: a session that is to work alone gets its own checkout, on its own branch.
//!
//! All is done by the user's `git`, with an environment without keys, hooks or prompts; what it says goes to the user as
//! it is. Nothing here throws work away: what is not committed, and commits that are nowhere else, stay until somebody
//! says otherwise. When to ask for what is the desk's business.

use crate::domain::SessionId;
use crate::domain::session::Worktree;
use crate::sandbox::environment;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A checkout of a large repository takes its time; something that hangs takes more.
const PATIENCE: Duration = Duration::from_secs(300);

/// What would lead git to another repository, or to other programs.
const STEERING: &str = "GIT_";

/// Why something could not be done with a worktree.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// git cannot be started.
    #[error("cannot run git: {0}. Install it, or work without a worktree")]
    NoGit(std::io::Error),
    /// It did not come to an end.
    #[error("git took more than {} seconds to {doing} and was stopped", PATIENCE.as_secs())]
    Slow {
        /// What was tried.
        doing: &'static str,
    },
    /// git says no.
    #[error("git cannot {doing}: {words}")]
    Git {
        /// What was tried.
        doing: &'static str,
        /// What it says.
        words: String,
    },
    /// A directory could not be made.
    #[error("cannot make {}: {source}", .path.display())]
    Make {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Something is not committed.
    #[error("{} has changes that are not committed. Commit or discard them first", .path.display())]
    Dirty {
        /// The checkout.
        path: PathBuf,
    },
    /// A merge is not finished.
    #[error("a merge is not finished in {}. Finish or abort it first", .path.display())]
    Merging {
        /// The checkout.
        path: PathBuf,
    },
}

/// How a worktree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its directory is not there any more.
    pub gone: bool,
    /// It has changes that are not committed.
    pub dirty: bool,
    /// Commits on its branch that the repository's checkout does not have.
    pub ahead: u64,
}

/// Whether work that is nowhere else may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// No: then nothing is removed, and a branch with commits of its own stays.
    Refused,
    /// Yes.
    Accepted,
}

/// What became of the branch of a worktree that was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchLeft {
    /// It is gone, or was before.
    Gone,
    /// It stays: it has commits that are nowhere else.
    Kept,
}

/// How a merge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// There was nothing to merge.
    Nothing,
    /// The repository's checkout has all commits of the branch; so many came.
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
    inside: &Path,
    data: &Path,
    workspace: &str,
    session: &SessionId,
) -> Result<Worktree, WorktreeError> {
    let top = git(inside, "find the repository", &["rev-parse", "--show-toplevel"]).await?;
    let repository = PathBuf::from(top.strip_suffix('\n').unwrap_or(&top));
    let folder = data.join("worktrees").join(folder_name(workspace));
    let mut make = tokio::fs::DirBuilder::new();
    make.recursive(true).mode(0o700);
    make.create(&folder).await.map_err(|source| WorktreeError::Make { path: folder.clone(), source })?;
    let path = folder.join(session.as_str());
    let branch = format!("lisle/{session}");
    let place = path.to_string_lossy();
    git(&repository, "make the worktree", &["worktree", "add", "--quiet", "-b", &branch, "--", &place, "HEAD"]).await?;
    Ok(Worktree { repository, path, branch })
}

/// How a worktree is now.
///
/// # Errors
/// When its repository is gone, or git says no.
pub async fn state(worktree: &Worktree) -> Result<State, WorktreeError> {
    let gone = tokio::fs::symlink_metadata(&worktree.path).await.is_err();
    let dirty = !gone && is_dirty(&worktree.path, "normal").await?;
    let ahead = match head_of(worktree).await? {
        Some(_) => ahead(worktree).await?,
        None => 0,
    };
    Ok(State { gone, dirty, ahead })
}

/// Removes a worktree, and its branch unless that has commits which are nowhere else.
///
/// # Errors
/// [`WorktreeError::Dirty`] when something is not committed and its loss is refused; when git says no.
pub async fn remove(worktree: &Worktree, loss: Loss) -> Result<BranchLeft, WorktreeError> {
    let now = state(worktree).await?;
    if now.dirty && loss == Loss::Refused {
        return Err(WorktreeError::Dirty { path: worktree.path.clone() });
    }
    let repository = &worktree.repository;
    if now.gone {
        git(repository, "forget the worktree", &["worktree", "prune"]).await?;
    } else {
        let place = worktree.path.to_string_lossy();
        let mut words = vec!["worktree", "remove"];
        if loss == Loss::Accepted {
            words.push("--force");
        }
        words.extend(["--", &*place]);
        git(repository, "remove the worktree", &words).await?;
    }
    if head_of(worktree).await?.is_none() {
        return Ok(BranchLeft::Gone);
    }
    if now.ahead > 0 && loss == Loss::Refused {
        return Ok(BranchLeft::Kept);
    }
    // `-d` would ask whether it is merged to where it came from; that it is in the checkout is known.
    git(repository, "remove the branch", &["branch", "--quiet", "-D", "--", &worktree.branch]).await?;
    Ok(BranchLeft::Gone)
}

/// Merges a worktree's branch into what the repository has checked out. With conflicts, or an error, that is as it was.
///
/// # Errors
/// [`WorktreeError::Dirty`] and [`WorktreeError::Merging`] when the worktree or the repository's checkout is in no state
/// for it; when git says no.
pub async fn merge(worktree: &Worktree) -> Result<Merged, WorktreeError> {
    let now = state(worktree).await?;
    if now.dirty {
        return Err(WorktreeError::Dirty { path: worktree.path.clone() });
    }
    let repository = &worktree.repository;
    // Otherwise aborting ours would abort it.
    if git(repository, "look for a merge", &["rev-parse", "--quiet", "--verify", "MERGE_HEAD"]).await.is_ok() {
        return Err(WorktreeError::Merging { path: repository.clone() });
    }
    if is_dirty(repository, "no").await? {
        return Err(WorktreeError::Dirty { path: repository.clone() });
    }
    if now.ahead == 0 {
        return Ok(Merged::Nothing);
    }
    let Err(error) = git(repository, "merge", &["merge", "--quiet", "--no-edit", "--", &worktree.branch]).await else {
        return Ok(Merged::Done(now.ahead));
    };
    let list = git(repository, "list conflicts", &["diff", "--name-only", "--diff-filter=U", "-z"]).await?;
    let conflicts: Vec<String> = list.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let begun = git(repository, "look for a merge", &["rev-parse", "--quiet", "--verify", "MERGE_HEAD"]).await.is_ok();
    if begun {
        git(repository, "undo the merge", &["merge", "--abort"]).await?;
    }
    if conflicts.is_empty() { Err(error) } else { Ok(Merged::Conflicts(conflicts)) }
}

/// The commit of the worktree's branch; `None` when there is no such branch.
async fn head_of(worktree: &Worktree) -> Result<Option<String>, WorktreeError> {
    let name = format!("refs/heads/{}", worktree.branch);
    let list = git(&worktree.repository, "find the branch", &["for-each-ref", "--format=%(objectname)", &name]).await?;
    Ok(list.lines().next().map(str::to_owned))
}

async fn ahead(worktree: &Worktree) -> Result<u64, WorktreeError> {
    let range = format!("HEAD..refs/heads/{}", worktree.branch);
    let count = git(&worktree.repository, "count commits", &["rev-list", "--count", &range, "--"]).await?;
    count.trim().parse().map_err(|_| WorktreeError::Git { doing: "count commits", words: count.trim().to_owned() })
}

/// `untracked`: which of the files that git does not know count (`no`, `normal`).
async fn is_dirty(checkout: &Path, untracked: &str) -> Result<bool, WorktreeError> {
    let untracked = format!("--untracked-files={untracked}");
    Ok(!git(checkout, "look for changes", &["status", "--porcelain", &untracked]).await?.is_empty())
}

/// A workspace's name as the name of a directory.
fn folder_name(workspace: &str) -> String {
    let name: String =
        workspace.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(60).collect();
    if name.is_empty() { "workspace".to_owned() } else { name }
}

/// Runs git in `at` and gives what it prints.
async fn git(at: &Path, doing: &'static str, words: &[&str]) -> Result<String, WorktreeError> {
    let environment = environment::own(at);
    let mut command = Command::new("git");
    command
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        .args(words)
        .current_dir(at)
        .env_clear()
        .envs(environment.into_iter().filter(|(name, _)| !name.to_string_lossy().starts_with(STEERING)))
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_EDITOR", "true")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let done = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(done) => done.map_err(WorktreeError::NoGit)?,
        Err(_) => return Err(WorktreeError::Slow { doing }),
    };
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let words = [&done.stderr, &done.stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let words = words.into_iter().find(|words| !words.is_empty());
    Err(WorktreeError::Git { doing, words: words.unwrap_or_else(|| done.status.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Plain;

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
        let made = create(&repository.join("deep"), &root.path().join("data"), "Side work/..", &id).await.unwrap();
        Some((root, made))
    }

    #[tokio::test]
    async fn a_session_gets_its_own_checkout_and_what_it_did_can_be_merged() {
        let Some((root, made)) = bench().await else { return };
        let repository = root.path().join("code").canonicalize().unwrap();
        assert_eq!((&made.repository, made.branch.as_str()), (&repository, "lisle/260902-swift-river"));
        assert_eq!(made.path, root.path().join("data/worktrees/Side-work---/260902-swift-river"));
        assert_eq!(std::fs::read_to_string(made.path.join("a")).unwrap(), "one\n");
        assert_eq!(state(&made).await.unwrap(), State::default());
        assert_eq!(merge(&made).await.unwrap(), Merged::Nothing);
        std::fs::write(made.path.join("new"), "x").unwrap();
        assert_eq!(state(&made).await.unwrap(), State { dirty: true, ..State::default() });
        for refused in [merge(&made).await.map(drop), remove(&made, Loss::Refused).await.map(drop)] {
            assert!(matches!(refused, Err(WorktreeError::Dirty { .. })), "{refused:?}");
        }
        assert!(made.path.join("new").exists());
        commit(&made.path, "b", "two\n");
        assert_eq!(state(&made).await.unwrap(), State { ahead: 1, ..State::default() });
        // What the user has not committed is not touched; files that git does not know are in nobody's way.
        std::fs::write(repository.join("a"), "changed\n").unwrap();
        assert!(matches!(merge(&made).await, Err(WorktreeError::Dirty { path }) if path == repository));
        run(&repository, &["reset", "--quiet", "--hard"]);
        std::fs::write(repository.join("unknown"), "x").unwrap();
        assert_eq!(merge(&made).await.unwrap(), Merged::Done(1));
        assert_eq!(std::fs::read_to_string(repository.join("b")).unwrap(), "two\n");
        assert_eq!(remove(&made, Loss::Refused).await.unwrap(), BranchLeft::Gone);
        assert!(!made.path.exists());
        let again = state(&made).await.unwrap();
        assert_eq!(again, State { gone: true, ..State::default() });
        assert_eq!(remove(&made, Loss::Refused).await.unwrap(), BranchLeft::Gone);
    }

    #[tokio::test]
    async fn conflicts_are_told_and_the_checkout_stays_as_it_was() {
        let Some((_root, made)) = bench().await else { return };
        commit(&made.path, "a", "theirs\n");
        commit(&made.repository, "a", "ours\n");
        commit(&made.repository, "c", "more\n");
        assert_eq!(merge(&made).await.unwrap(), Merged::Conflicts(vec!["a".to_owned()]));
        assert_eq!(std::fs::read_to_string(made.repository.join("a")).unwrap(), "ours\n");
        assert!(!is_dirty(&made.repository, "normal").await.unwrap());
        assert!(!made.repository.join(".git/MERGE_HEAD").exists());
        // Commits that are nowhere else outlive the worktree, unless their loss is accepted.
        assert_eq!(remove(&made, Loss::Refused).await.unwrap(), BranchLeft::Kept);
        assert!(!made.path.exists() && head_of(&made).await.unwrap().is_some());
        assert_eq!(remove(&made, Loss::Accepted).await.unwrap(), BranchLeft::Gone);
        assert!(head_of(&made).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_git_says_is_passed_on() {
        let Some((root, made)) = bench().await else { return };
        let id = SessionId::parse("260902-swift-river").unwrap();
        let data = root.path().join("data");
        let twice = create(&made.repository, &data, "Side work/..", &id).await.unwrap_err().to_string();
        assert!(twice.starts_with("git cannot make the worktree: ") && twice.contains("lisle/260902"), "{twice}");
        let nowhere = create(root.path(), &data, "w", &id).await.unwrap_err().to_string();
        assert!(nowhere.starts_with("git cannot find the repository: "), "{nowhere}");
        // A merge of the user's own is not touched.
        commit(&made.path, "b", "two\n");
        std::fs::write(made.repository.join(".git/MERGE_HEAD"), "0000000000000000000000000000000000000001\n").unwrap();
        assert!(matches!(merge(&made).await, Err(WorktreeError::Merging { .. })));
        assert!(made.repository.join(".git/MERGE_HEAD").exists());
        std::fs::remove_file(made.repository.join(".git/MERGE_HEAD")).unwrap();
        // Lost work is lost only when that is accepted.
        std::fs::write(made.path.join("new"), "x").unwrap();
        assert!(matches!(remove(&made, Loss::Refused).await, Err(WorktreeError::Dirty { .. })));
        assert_eq!(remove(&made, Loss::Accepted).await.unwrap(), BranchLeft::Gone);
        assert!(!made.path.exists());
    }
}
