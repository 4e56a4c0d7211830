//! Secrets that say "hidden by lisle", excluded from git's view of the project. Otherwise `git add
//! -A` would commit those words, and `git stash -u` would stash them in place of the secret.
//!
//! git reads one file of patterns beside those of the repository, so what the user's own one says is in it, too.
//! Format: <https://git-scm.com/docs/gitignore>.

use super::site::Site;
use crate::sandbox::repository::Repository;
use crate::sandbox::{own_folders, plain_file};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// The file's name in the session's folder, which commands cannot write.
const NAME: &str = "git-exclude";
/// The most bytes that are read of a file of the user's.
const LARGEST: u64 = 256 * 1024;

/// Writes the patterns for what is masked below the top of the repository. `None` where there is nothing to exclude.
pub(super) fn write(site: &Site<'_>, repository: Option<&Repository>, masked: &[PathBuf]) -> Option<PathBuf> {
    let file = site.session_dir.join(NAME);
    let top = repository.map(|repository| repository.top.as_path())?;
    if own_folders::fault(site.session_dir).is_some() {
        return None;
    }
    let patterns: Vec<String> = masked.iter().filter_map(|path| pattern(path.strip_prefix(top).ok()?)).collect();
    if patterns.is_empty() {
        // There may be one of an earlier command.
        let _ = std::fs::remove_file(&file);
        return None;
    }
    let own = users(site.home).and_then(|path| small(&path)).unwrap_or_default();
    let text = format!("{own}\n# hidden by lisle\n{}\n", patterns.join("\n"));
    if small(&file).as_deref() != Some(&text) {
        std::fs::write(&file, text).ok()?;
    }
    Some(file)
}

/// Variables by which git reads the file.
pub(super) fn variables(site: &Site<'_>) -> Vec<(String, PathBuf)> {
    let file = site.session_dir.join(NAME);
    // Settings that were given to lisle in the same way stay as they are.
    if !file.is_file() || std::env::var_os("GIT_CONFIG_COUNT").is_some() {
        return Vec::new();
    }
    [
        ("GIT_CONFIG_COUNT", PathBuf::from("1")),
        ("GIT_CONFIG_KEY_0", "core.excludesFile".into()),
        ("GIT_CONFIG_VALUE_0", file),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Patterns of a repository for files that it ignores, those of its top folder and its own alone.
pub(super) fn of_repository(repository: &Repository) -> Gitignore {
    let mut out = GitignoreBuilder::new(&repository.top);
    // A file that is no regular one, or cannot be read, ignores nothing. A pattern that is none is passed over.
    for file in [repository.top.join(".gitignore"), repository.common.join("info/exclude")] {
        for line in plain_file::text(&file, LARGEST).unwrap_or_default().lines() {
            let _ = out.add_line(Some(file.clone()), line);
        }
    }
    out.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A pattern for this path alone; `None` for one that is no text or has more lines.
fn pattern(below: &Path) -> Option<String> {
    let text = below.to_str().filter(|text| !text.is_empty() && !text.contains('\n'))?;
    let mut out = String::from("/");
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '?' | '[' | ']' | '#' | '!' | ' ') {
            out.push('\\');
        }
        out.push(c);
    }
    Some(out)
}

/// The user's own file of patterns.
fn users(home: Option<&Path>) -> Option<PathBuf> {
    let home = home?;
    let settings = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let said = [home.join(".gitconfig"), settings.join("git/config")].iter().find_map(|file| {
        let text = small(file)?;
        let value = text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            key.trim().eq_ignore_ascii_case("excludesfile").then(|| value.trim().trim_matches('"').to_owned())
        })?;
        Some(value.strip_prefix("~/").map_or_else(|| PathBuf::from(&value), |below| home.join(below)))
    });
    Some(said.unwrap_or_else(|| settings.join("git/ignore")))
}

fn small(path: &Path) -> Option<String> {
    String::from_utf8(plain_file::bytes_through_links(path, LARGEST)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_path() {
        let of = |path: &str| pattern(Path::new(path));
        assert_eq!(of("sub/.env").as_deref(), Some("/sub/.env"));
        assert_eq!(of("a b/[x]*.pem").as_deref(), Some("/a\\ b/\\[x\\]\\*.pem"));
        assert_eq!(of("a\nb"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn the_users_own_patterns_are_found() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".gitconfig"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
        assert_eq!(users(Some(home.path())), Some(home.path().join("mine")));
    }
}
