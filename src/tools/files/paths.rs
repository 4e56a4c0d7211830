//! Target of a path that a model gave, its display form, and suggestions for one that does not exist.
//!
//! `places` classifies the target; `files` opens it without following any link again.

use crate::sandbox::{Namespaces, places as temps, system_support};
use crate::tools::CallPlace;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links that are followed in one path before it counts as a loop; Linux allows as many.
const MOST_LINKS: usize = 40;

/// Follows `text` from `place`'s working directory to the real path. What does not exist stays as it is written.
///
/// # Errors
/// A sentence for the model: empty, a NUL in it, a loop of links, or `..` behind a link, where reading the path by its
/// letters and following it lead to different places.
pub fn resolve(text: &str, place: &CallPlace) -> Result<PathBuf, String> {
    let home = std::env::home_dir();
    // Commands have a `/tmp` of their own, so what lies there by its letters lies there for the file tools as well.
    if let Some(own) = own_temp(&lexical(&place.cwd.join(text)), place) {
        return resolve_from(&own.to_string_lossy(), &place.cwd, None).map(|path| again(path, place));
    }
    resolve_from(text, &place.cwd, home.as_deref()).map(|path| again(path, place))
}

/// Links that lead to `/tmp` lead to the session's own.
fn again(path: PathBuf, place: &CallPlace) -> PathBuf {
    let Some(own) = own_temp(&path, place) else { return path };
    let own = follow(&own).unwrap_or(own);
    // One that leads there once more is not followed; what it leads to is the host's, and judged so.
    if own_temp(&own, place).is_some() { path } else { own }
}

/// File that a path below `/tmp` stands for: the one in the session's own folder, unless only the
/// host has one of the name. `None` for all other paths, and where commands see the host's.
fn own_temp(path: &Path, place: &CallPlace) -> Option<PathBuf> {
    if !place.allowances.own_temp || system_support::spaces(&place.runner) == Namespaces::Without {
        return None;
    }
    session_file(path, place)
}

/// The same where commands have a folder of the session as `/tmp`.
fn session_file(path: &Path, place: &CallPlace) -> Option<PathBuf> {
    let below = temps::below_temp(path)?;
    // These are mounted into it.
    let allowed = &place.allowances;
    let mounted = [&place.cwd, &place.session_dir].into_iter().chain(&place.own_dirs);
    let mounted = mounted.chain(&allowed.readable).chain(&allowed.granted.readable);
    if mounted.into_iter().any(|kept| path.starts_with(kept) || kept.starts_with(path) && path.components().count() > 2)
    {
        return None;
    }
    let own = temps::session_temp(&place.session_dir);
    let own = if below.as_os_str().is_empty() { own } else { own.join(below) };
    (own.symlink_metadata().is_ok() || path.symlink_metadata().is_err() || below.as_os_str().is_empty()).then_some(own)
}

pub(crate) fn resolve_from(text: &str, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("The path is empty. Give a path, for example `src/main.rs` or `.`.".to_owned());
    }
    if text.contains('\0') {
        return Err("The path holds a NUL character, which no path can.".to_owned());
    }
    let given = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    };
    if given.is_relative() && !cwd.is_dir() {
        return Err(format!(
            "The working directory {} no longer exists, so {text} can't be resolved. The user can choose another \
             with /cwd; absolute paths still work.",
            cwd.display()
        ));
    }
    let full = cwd.join(given);
    let followed = follow(&full).map_err(|why| format!("Can't resolve {text}: {why}."))?;
    let by_letters = follow(&lexical(&full)).map_err(|why| format!("Can't resolve {text}: {why}."))?;
    if followed != by_letters {
        return Err(format!(
            "{text} goes through a link and back with `..`, so it could mean {} or {}. Give one of them directly.",
            followed.display(),
            by_letters.display()
        ));
    }
    Ok(followed)
}

/// `path` without `.` and `..`, by its letters alone.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// The real path behind an absolute one, part by part as the kernel walks it; parts that do not exist are kept.
pub(crate) fn follow(path: &Path) -> Result<PathBuf, String> {
    let mut real = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        let Ok(target) = std::fs::read_link(&next) else {
            real = next;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err("its links go round in a circle".to_owned());
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        rest.extend(parts(&target));
    }
    Ok(real)
}

/// The parts of a path, last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let mut parts: Vec<OsString> = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect();
    parts.reverse();
    parts
}

/// A path as the user and the model read it: relative to the working directory where it lies below it.
#[must_use]
pub fn shown(path: &Path, place: &CallPlace) -> String {
    let cwd = follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
    if place.allowances.own_temp
        && let Ok(below) = path.strip_prefix(temps::session_temp(&place.session_dir))
    {
        return Path::new("/tmp").join(below).display().to_string();
    }
    match path.strip_prefix(&cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Up to five existing paths that were perhaps meant by one that does not exist, nearest first, as shown.
#[must_use]
pub fn neighbours(missing: &Path, place: &CallPlace) -> Vec<String> {
    // What is beside a secret is not told before it was decided on.
    if super::classify::is_secret_place(missing, place) {
        return Vec::new();
    }
    // The first part that is not there decides: `scr/main.rs` is near to `src`.
    let Some((folder, wrong, rest)) = first_missing(missing) else { return Vec::new() };
    let wanted = wrong.to_string_lossy().to_lowercase();
    let mut near: Vec<(f32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten().take(5_000).flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let ratio = likeness(&wanted, &name);
        let full = entry.path().join(&rest);
        let whole = !rest.as_os_str().is_empty() && full.exists();
        if ratio >= 0.6 || (whole && ratio >= 0.4) {
            near.push((if whole { ratio + 1.0 } else { ratio }, if whole { full } else { entry.path() }));
        }
    }
    // The same name elsewhere below the working directory is near, too.
    if let Some(name) = missing.file_name() {
        let cwd = follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
        for entry in super::walk::below(&cwd).max_depth(Some(8)).build().take(5_000).flatten() {
            if entry.file_name() == name && !near.iter().any(|(_, path)| path == entry.path()) {
                near.push((0.95, entry.into_path()));
            }
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.truncate(5);
    near.into_iter().map(|(_, path)| shown(&path, place)).collect()
}

/// The deepest folder of `path` that exists, the part that is not in it, and what follows that part.
fn first_missing(path: &Path) -> Option<(PathBuf, OsString, PathBuf)> {
    let mut folder = PathBuf::from("/");
    let mut rest = path.components();
    rest.next();
    while let Some(part) = rest.next() {
        let next = folder.join(part);
        if std::fs::symlink_metadata(&next).is_err() {
            return Some((folder, part.as_os_str().to_owned(), rest.as_path().to_owned()));
        }
        folder = next;
    }
    None
}

/// From 0 (nothing in common) to 1 (the same).
pub(crate) fn likeness(a: &str, b: &str) -> f32 {
    similar::TextDiff::from_chars(a, b).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::{place, tree};
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_are_followed_to_where_they_lead() {
        let (_dir, root) = tree();
        symlink(root.join("outside"), root.join("work/out")).unwrap();
        symlink("loop-b", root.join("work/loop-a")).unwrap();
        symlink("loop-a", root.join("work/loop-b")).unwrap();
        symlink("../outside/made-later", root.join("work/dangling")).unwrap();
        let cwd = root.join("work");
        let home = root.join("home");
        for (given, real) in [
            (".", "work"),
            ("src/main.rs", "work/src/main.rs"),
            ("./src/../src//x", "work/src/x"),
            ("../outside/x", "outside/x"),
            ("out/x/y", "outside/x/y"),
            ("dangling", "outside/made-later"),
            ("~", "home"),
            ("~/a", "home/a"),
            ("~a", "work/~a"),
            ("no/such/../place", "work/no/place"),
        ] {
            assert_eq!(resolve_from(given, &cwd, Some(&home)), Ok(root.join(real)), "{given}");
        }
        assert_eq!(resolve_from("/etc/../etc/hosts", &cwd, None), Ok(PathBuf::from("/etc/hosts")));
        assert_eq!(resolve_from("../../../../../../../../../..", &cwd, None), Ok(PathBuf::from("/")));
        for (given, says) in [
            ("", "empty"),
            ("  ", "empty"),
            ("a\0b", "NUL"),
            ("loop-a/x", "circle"),
            ("out/../src", "goes through a link and back"),
        ] {
            let error = resolve_from(given, &cwd, None).unwrap_err();
            assert!(error.contains(says), "{given}: {error}");
        }
    }

    #[test]
    fn temporary_files_are_those_of_the_session() {
        let (_dir, root) = tree();
        let place = place(&root);
        let temp = place.session_dir.join("tmp");
        std::fs::create_dir_all(&temp).unwrap();
        let host = tempfile::Builder::new().prefix("lisle-host").tempdir_in("/tmp").unwrap();
        let name = host.path().file_name().unwrap();
        let at = |path: &str| session_file(Path::new(path), &place);
        assert_eq!(at("/tmp/lisle-no-such/x"), Some(temp.join("lisle-no-such/x")));
        assert_eq!(at("/var/tmp/lisle-no-such"), Some(temp.join("lisle-no-such")));
        assert_eq!(at("/tmp"), Some(temp.clone()));
        assert_eq!(at("/etc/hosts"), None);
        // What the host alone has is meant where it is named, and what both have is the session's.
        assert_eq!(session_file(host.path(), &place), None);
        std::fs::create_dir(temp.join(name)).unwrap();
        assert_eq!(session_file(host.path(), &place), Some(temp.join(name)));
        // A working directory below it is mounted in.
        let mut inside = place;
        inside.cwd = "/tmp/lisle-work".into();
        assert_eq!(session_file(Path::new("/tmp/lisle-work/x"), &inside), None);
    }

    #[test]
    fn a_missing_file_has_neighbours() {
        let (_dir, root) = tree();
        for file in ["work/src/main.rs", "work/src/paths.rs", "work/README.md"] {
            std::fs::write(root.join(file), "x").unwrap();
        }
        let place = place(&root);
        let near = |given: &str| neighbours(&resolve_from(given, &place.cwd, None).unwrap(), &place);
        assert_eq!(near("src/mian.rs"), ["src/main.rs"]);
        assert_eq!(near("scr/main.rs"), ["src/main.rs"]);
        assert_eq!(near("paths.rs"), ["src/paths.rs"]);
        assert_eq!(near("readme.md"), ["README.md"]);
        assert_eq!(near("zzzzzz"), Vec::<String>::new());
        std::fs::create_dir(root.join("work/.ssh")).unwrap();
        std::fs::write(root.join("work/.ssh/id_work"), "x").unwrap();
        assert_eq!(near(".ssh/id_werk"), Vec::<String>::new());
    }
}
