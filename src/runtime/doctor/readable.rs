//! Entries of `readable` in `[sandbox]` of config.toml: which of them open something, and which do not do what they seem to.

use crate::domain::finding::Finding;
use crate::domain::paths::is_secret;
use std::path::{Path, PathBuf};

const ABOUT: &str = "readable";
const WHERE: &str = "`readable` in [sandbox] of config.toml";

/// One line for all that open something, and one for each that is of no use or opens too much. `usual` is what commands
/// read anyway.
pub(super) fn findings(listed: &[PathBuf], usual: &[PathBuf], home: Option<&Path>) -> Vec<Finding> {
    let mut useful = Vec::new();
    let mut out = Vec::new();
    for (at, path) in listed.iter().enumerate() {
        let named = path.display();
        let Ok(real) = path.canonicalize() else {
            let advice = format!("Create it, or remove it from {WHERE}");
            out.push(Finding::warn(ABOUT, format!("{named} doesn't exist"), advice));
            continue;
        };
        let before = listed.iter().take(at).filter_map(|other| other.canonicalize().ok());
        if is_secret(path) || is_secret(&real) {
            let says = format!("{named} contains secrets, readable by every command");
            out.push(Finding::warn(ABOUT, says, format!("Remove it from {WHERE}, and approve access per command")));
        } else if home.is_some_and(|home| home.starts_with(&real)) {
            let says = format!("{named} is the whole home directory: only known secrets are hidden in it");
            out.push(Finding::warn(ABOUT, says, format!("List the folders that commands need in {WHERE}")));
        } else if let Some(outer) = usual.iter().cloned().chain(before).find(|outer| real.starts_with(outer)) {
            let says = format!("{named} is already readable, with {}", outer.display());
            out.push(Finding::warn(ABOUT, says, format!("Remove it from {WHERE}")));
        } else {
            useful.push(named.to_string());
        }
    }
    if !useful.is_empty() {
        out.insert(0, Finding::ok(ABOUT, format!("in addition to the defaults: {}", useful.join(", "))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::finding::Health;

    #[test]
    fn what_is_of_no_use_or_opens_too_much_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home/u/lib/inner", "home/u/.ssh", "usr/share", "more"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let (home, usual) = (root.join("home/u"), [root.join("usr")]);
        let said = |names: &[&str]| {
            let listed: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
            let found = findings(&listed, &usual, Some(&home));
            found
                .into_iter()
                .map(|one| (one.state, one.says.replace(&format!("{}/", root.display()), "")))
                .collect::<Vec<_>>()
        };
        assert_eq!(said(&[]), []);
        assert_eq!(
            said(&["home/u/lib", "more"]),
            [(Health::Ok, "in addition to the defaults: home/u/lib, more".to_owned())]
        );
        for (name, what) in [
            ("gone", "doesn't exist"),
            ("usr/share", "is already readable, with usr"),
            ("home/u/.ssh", "contains secrets"),
            ("home/u", "the whole home directory"),
            ("home", "the whole home directory"),
        ] {
            let found = said(&[name]);
            assert_eq!((found.len(), found[0].0), (1, Health::Warn), "{name}");
            assert!(found[0].1.contains(what), "{found:?}");
        }
        assert!(said(&["home/u/lib", "home/u/lib/inner"])[1].1.contains("already readable, with home/u/lib"));
    }
}
