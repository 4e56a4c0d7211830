//! Holds the order inside `app`: values and state below, then the shell, then features beside each other, the router on top.

use super::structure::{Graph, Source, read};
use std::path::Path;

/// Folders of `src/app` from the lowest up. Folders of one level see those below, and never each other.
const LEVELS: &[&[&str]] =
    &[&["", "state"], &["shell"], &["composer", "conversation", "overlays", "panels", "sessions"], &["update"]];

/// The folder of `src/app` in which a file stands; empty for the values beside them.
fn folder(file: &Source) -> Option<&str> {
    match file.module.as_slice() {
        // `app/mod.rs` re-exports what the rooms above see.
        [app] if app == "app" => None,
        [app, _] if app == "app" && !file.path.ends_with("mod.rs") => Some(""),
        [app, folder, ..] if app == "app" => Some(folder),
        _ => None,
    }
}

fn level(folder: &str) -> Option<usize> {
    LEVELS.iter().position(|folders| folders.contains(&folder))
}

/// Imports that lead up, or from one feature to another.
fn refused(files: &[Source]) -> Vec<String> {
    let mut out = Vec::new();
    let edges = Graph::new(files).edges();
    for (file, targets) in files.iter().zip(&edges) {
        let Some(from) = folder(file) else { continue };
        let Some(height) = level(from) else {
            out.push(format!("{}: {from} has no level", file.path.display()));
            continue;
        };
        for target in targets.iter().map(|at| &files[*at]) {
            let name = || format!("{} imports {}", file.path.display(), target.path.display());
            match folder(target) {
                Some(to) if to == from => {}
                Some(to) if height == 0 && level(to) == Some(0) => {}
                Some(to) if level(to).is_some_and(|below| below < height) => {}
                Some(_) => out.push(name()),
                None if target.module == ["app"] => out.push(name()),
                None => {}
            }
        }
    }
    out
}

#[test]
fn features_of_the_screen_know_the_shell_and_never_each_other() {
    let files = read(Path::new(env!("CARGO_MANIFEST_DIR")));
    let of_folder = |name: &&str| files.iter().any(|file| folder(file) == Some(name));
    assert!(LEVELS.iter().copied().flatten().all(of_folder), "a folder of the table is gone");
    let wrong = refused(&files);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_that_lead_up_or_aside_are_told() {
    let files = super::structure::made_up(&[
        ("src/app/mod.rs", "mod state; mod shell; mod panels; mod overlays; mod update; mod effect;"),
        ("src/app/effect.rs", "struct Effect;"),
        ("src/app/state/mod.rs", "use super::effect::Effect; use crate::app::shell::show;"),
        ("src/app/shell/mod.rs", "use crate::app::state::State; fn show() {}"),
        ("src/app/panels/mod.rs", "use crate::app::shell::show; fn f() { crate::app::overlays::g(); }"),
        ("src/app/overlays/mod.rs", "mod one; use crate::app::update::act; fn g() {}"),
        ("src/app/overlays/one.rs", "use super::g; use crate::app::effect::Effect; use crate::app::update;"),
        ("src/app/update/mod.rs", "use crate::app::{panels, overlays}; fn act() {}"),
        ("src/app/attic/mod.rs", "fn f() {}"),
        ("src/app/late/mod.rs", "use crate::app::State;"),
        ("src/ui/mod.rs", "use crate::app::panels;"),
    ]);
    assert_eq!(
        refused(&files),
        [
            "src/app/state/mod.rs imports src/app/shell/mod.rs",
            "src/app/panels/mod.rs imports src/app/overlays/mod.rs",
            "src/app/overlays/mod.rs imports src/app/update/mod.rs",
            "src/app/overlays/one.rs imports src/app/update/mod.rs",
            "src/app/attic/mod.rs: attic has no level",
            "src/app/late/mod.rs: late has no level",
        ]
    );
}
