//! Reach of the file tools: one rule for what they leave alone, whichever of them is called.
//!
//! Devices and files of the kernel may never end, have effects when they are read, and tell of other programs. A search or
//! list from further above goes past them, past lisle's own folders, and past secret folders, whose very names are not told;
//! a call that names such a folder itself was decided on as what it is.

use super::{classify, paths, walk};
use crate::domain::paths::{is_device, is_secret};
use crate::sandbox::Allowances;
use crate::sandbox::places::SecrecyView;
use crate::tools::CallPlace;
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why `tool` leaves the thing at a resolved path alone. A secret is none of these: the decision on the call answers for it.
#[must_use]
pub fn fault(path: &Path, tool: &str, place: &CallPlace) -> Option<String> {
    (is_device(path) && !classify::is_secret(path, place)).then(|| {
        format!(
            "`{tool}` does not open devices or files of the kernel: {}. Use a command for it.",
            paths::shown(path, place)
        )
    })
}

/// Why `list` and `glob` name nothing of a resolved directory: it is one of lisle's own. Blocks.
#[must_use]
pub fn unnamed(root: &Path, tool: &str, place: &CallPlace) -> Option<String> {
    let is_own = classify::left_out(place).iter().any(|own| own == root);
    is_own.then(|| format!("{} is lisle's own directory: `{tool}` does not show it.", paths::shown(root, place)))
}

/// A walk below `root` as `list` and `glob` do it, which name things.
#[must_use]
pub fn named_below(root: &Path, place: &CallPlace) -> WalkBuilder {
    let home = std::env::home_dir().map(|home| home.canonicalize().unwrap_or(home));
    let reach = NamesReach {
        root: root.to_owned(),
        own: classify::left_out(place),
        home,
        cwd: place.cwd.clone(),
        session_dir: place.session_dir.clone(),
        allowances: Arc::clone(&place.allowances),
    };
    walk::filtered(root, move |folder| reach.enters(folder))
}

/// Folders that such a walk enters.
struct NamesReach {
    root: PathBuf,
    own: Vec<PathBuf>,
    home: Option<PathBuf>,
    cwd: PathBuf,
    session_dir: PathBuf,
    allowances: Arc<Allowances>,
}

impl NamesReach {
    fn enters(&self, folder: &Path) -> bool {
        let is_own = self.own.iter().any(|own| folder == own && !self.root.starts_with(own));
        // The root was decided on, and what lies in a secret folder is secret with it.
        !(is_own || is_secret(folder) && !is_secret(&self.root) || self.is_apart(folder))
    }

    /// A folder at the top of the home directory that commands do not see. What lies in it is not walked to.
    fn is_apart(&self, folder: &Path) -> bool {
        let view = SecrecyView {
            cwd: &self.cwd,
            session_dir: &self.session_dir,
            own_dirs: &[],
            allowances: &self.allowances,
            home: self.home.as_deref(),
        };
        self.home.is_some() && folder.parent() == self.home.as_deref() && view.is_apart(folder)
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::bench::Bench;
    use serde_json::json;

    #[test]
    fn every_file_tool_leaves_the_kernels_files_alone() {
        let bench = Bench::new();
        for path in
            ["/proc/kmsg", "/proc/1/status", "/proc/1", "/dev", "/dev/zero", "/sys/kernel/notes", "/proc/net/unix"]
        {
            let is_folder = std::path::Path::new(path).is_dir();
            for (tool, input) in [
                ("read", json!({"path": path})),
                ("grep", json!({"pattern": ".", "path": path})),
                ("list", json!({"path": path})),
                ("glob", json!({"pattern": "*", "path": path})),
                ("call_llm", json!({"prompt": "x", "files": [path]})),
                ("transform_data", json!({"language": "bash", "script": "x", "inputs": [path], "output": "o"})),
            ] {
                if matches!(tool, "list" | "glob") != is_folder && tool != "grep" {
                    continue;
                }
                let error = bench.inspect(tool, &input).expect_err(path);
                assert!(error.contains("does not open devices"), "{tool} {path}: {error}");
            }
        }
        // From above they are gone past.
        let text = bench.ok("list", json!({"path": "/", "depth": 2})).text;
        assert!(!text.contains("cpuinfo") && !text.contains("zero"), "{text}");
    }

    #[test]
    fn own_directories_are_refused_by_name_and_not_shown_as_empty() {
        let bench = Bench::new();
        let own = bench.place.own_dirs[0].clone();
        std::fs::create_dir_all(&own).unwrap();
        for (tool, input) in [("list", json!({"path": own})), ("glob", json!({"pattern": "*", "path": own}))] {
            let error = bench.inspect(tool, &input).expect_err(tool);
            assert!(error.contains("lisle's own directory"), "{tool}: {error}");
        }
    }

    #[test]
    fn names_in_secret_folders_are_told_by_no_search_from_above() {
        let bench = Bench::new();
        for file in ["a/.ssh/id_rsa", "a/.ssh/known_hosts", "a/b.txt", "own/x.txt"] {
            bench.write(file, "x");
        }
        let list = bench.ok("list", json!({"path": ".", "depth": 4})).text;
        assert!(list.contains("b.txt") && !list.contains("known_hosts"), "{list}");
        let glob = bench.ok("glob", json!({"pattern": "**/*"})).text;
        assert!(glob.contains("b.txt") && !glob.contains("known_hosts"), "{glob}");
        // Who names it is asked about as a secret.
        let touch = &bench.inspect("list", &json!({"path": "a/.ssh"})).unwrap().touches[0];
        assert!(matches!(touch, crate::domain::tool::Touch::Read { secret: true, .. }), "{touch:?}");
        assert!(bench.ok("list", json!({"path": "a/.ssh"})).text.contains("known_hosts"));
    }
}
