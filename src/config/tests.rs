//! The whole of loading, with files on disk.

use super::*;
use crate::domain::ids::ConnectionName;
use std::ffi::OsStr;

fn home() -> (tempfile::TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
    std::fs::create_dir_all(&paths.config).unwrap();
    (dir, paths)
}

#[test]
fn an_empty_home_loads_without_a_word_and_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::find(Some(OsStr::new(&dir.path().join("none")))).unwrap();
    let loaded = load(&paths, &|_| None);
    assert_eq!(loaded.problems, vec![]);
    assert_eq!(loaded.settings, Settings::default());
    assert_eq!(loaded.connections.infos().len(), 1);
    assert!(!dir.path().join("none").exists());
}

#[test]
fn settings_keys_and_choice_come_together() {
    let (_dir, paths) = home();
    std::fs::write(
        paths.config_file(),
        "\u{feff}workspace = '~/work'\n[connections.a]\nprovider = 'openai'\n[connections.b]\nprovider = 'openai'\n",
    )
    .unwrap();
    credentials::store(&paths.credentials_file(), &ConnectionName::new("b"), Some("stored")).unwrap();
    connections::remember_chosen(&paths, &ConnectionName::new("b")).unwrap();
    let env = |name: &str| match name {
        "HOME" => Some("/home/u".to_owned()),
        "OPENAI_API_KEY" => Some("of-env".to_owned()),
        _ => None,
    };
    let loaded = load(&paths, &env);
    assert_eq!(loaded.problems, vec![]);
    assert_eq!(loaded.settings.workspace, Some("/home/u/work".into()));
    assert_eq!(loaded.connections.default, Some(ConnectionName::new("b")));
    let key = |name: &str| loaded.connections.find(&ConnectionName::new(name)).unwrap().key.clone().unwrap();
    assert_eq!((key("a").reveal(), key("b").reveal()), ("of-env", "stored"));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_loads() {
    let (_dir, paths) = home();
    std::fs::write(paths.config_file(), [b'a', 0xff]).unwrap();
    std::fs::create_dir(paths.credentials_file()).unwrap();
    let loaded = load(&paths, &|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned()));
    let files: Vec<&Path> = loaded.problems.iter().map(|p| p.path.as_path()).collect();
    assert!(files.contains(&paths.config_file().as_path()) && files.contains(&paths.credentials_file().as_path()));
    assert_eq!(loaded.connections.infos().len(), 2);
}

#[test]
fn a_file_beside_its_folder_is_told() {
    let (dir, paths) = home();
    std::fs::write(dir.path().join("config.toml"), "[ui]\n").unwrap();
    let problems = load(&paths, &|_| None).problems;
    let fix = format!("Move it to {}.", paths.config_file().display());
    assert_eq!(problems.iter().map(|problem| &problem.fix).collect::<Vec<_>>(), [&fix]);
}
