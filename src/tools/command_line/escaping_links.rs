//! The words of a command line that name a path below the working directory by their letters, and lead elsewhere through
//! a link: no rule about paths may take them for what they seem to be.

use super::named_paths;
use crate::domain::paths::lexical;
use crate::domain::tool::{self, Touch};
use crate::tools::CallPlace;
use crate::tools::files::{classify, paths};
use std::path::Path;

/// Links that lead elsewhere, each path once.
pub(in crate::tools) fn look(command: &str, place: &CallPlace) -> Vec<Touch> {
    let Ok(real) = paths::follow(&place.cwd) else { return Vec::new() };
    let mut out = Vec::new();
    for (base, given) in named_paths::below(command, place) {
        let by_letters = lexical(&base, &given);
        if !by_letters.starts_with(&place.cwd) {
            continue;
        }
        if leads_elsewhere(&base.join(&given), &by_letters, &real, place) {
            let touch = Touch::Leaves { path: by_letters };
            if !out.contains(&touch) {
                out.push(touch);
            }
        }
    }
    out
}

fn leads_elsewhere(full: &Path, by_letters: &Path, real: &Path, place: &CallPlace) -> bool {
    // What does not exist yet is followed as far as it does. What cannot be followed is not known.
    let Ok(path) = paths::follow(full) else { return true };
    let straight = by_letters.strip_prefix(&place.cwd).is_ok_and(|short| path == real.join(short));
    !straight && classify::classify(&path, place) != tool::PathPlace::Inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::Bench;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_that_leave_are_named_and_others_are_not() {
        let bench = Bench::new();
        bench.write("src/a.rs", "x");
        bench.write(".git/config", "x");
        let outside = tempfile::tempdir().unwrap();
        symlink(outside.path(), bench.path("out")).unwrap();
        symlink(bench.path(".git"), bench.path("innocent")).unwrap();
        symlink(bench.path("src"), bench.path("near")).unwrap();
        symlink("loop", bench.path("loop")).unwrap();
        let found = |command: &str| -> Vec<std::path::PathBuf> {
            let touches = look(command, &bench.place).into_iter();
            touches.filter_map(|touch| if let Touch::Leaves { path } = touch { Some(path) } else { None }).collect()
        };
        for (command, paths) in [
            ("touch src/a.rs new/b ./x", vec![]),
            ("touch near/a.rs", vec![]),
            ("touch out/a", vec!["out/a"]),
            ("rm -r 'out'/x/y", vec!["out/x/y"]),
            ("cp --target-directory=out src/a.rs", vec!["out"]),
            ("touch innocent/config", vec!["innocent/config"]),
            ("touch loop/x", vec!["loop/x"]),
            ("cd src && touch ../out/a", vec!["out/a"]),
            ("touch /etc/x", vec![]),
        ] {
            let mut got = found(command);
            got.sort();
            got.dedup();
            let expected: Vec<_> = paths.iter().map(|path| bench.path(path)).collect();
            assert_eq!(got, expected, "{command}");
        }
        assert!(found("cd out && touch a").contains(&bench.path("out/a")), "a word is seen from every folder");
    }
}
