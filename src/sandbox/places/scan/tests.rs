//! Scans of real directories.

use super::tree::{MOST_READ, SMALL};
use super::*;
use crate::sandbox::places::git_index::tests::index;
use std::os::unix::fs::MetadataExt;

fn root() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    (dir, root)
}

fn write(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn below(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let mut out: Vec<String> =
        paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect();
    out.sort();
    out
}

fn key() -> String {
    format!("-----BEGIN {} KEY-----\nabc\n", "PRIVATE")
}

#[test]
fn links_into_folders_of_a_session_are_protected() {
    let (_dir, top) = root();
    let root = top.join("p");
    for folder in ["p/src/sub", "sessions/s/tmp/lib", "beside/lib"] {
        std::fs::create_dir_all(top.join(folder)).unwrap();
    }
    write(top.join("sessions/s/session.jsonl"), "");
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
    link(top.join("sessions/s/tmp/lib").to_str().unwrap(), "absolute");
    link("../sessions/s/tmp", "relative");
    link("../../../sessions/s", "src/sub/deep");
    link("../beside/lib", "beside");
    link("sub", "src/inner");
    link("../sessions/s/session.jsonl", "file");
    link("relative/lib", "chain");
    link("../sessions/s/tmp/later/x", "dangling");
    link("../beside/later", "harmless");
    let found = look(&root, &[]);
    assert_eq!(below(&root, &found.protected), ["absolute", "dangling", "relative", "src/sub/deep"]);
}

#[test]
fn temporary_files_are_no_part_of_a_project_that_lies_elsewhere() {
    for (root, real, expected) in [
        ("/home/u/p", "/tmp/evil", true),
        ("/home/u/p", "/var/tmp/evil", true),
        ("/home/u/p", "/tmpfs/x", false),
        ("/home/u/p", "/home/u/other", false),
        ("/tmp/p", "/tmp/other", false),
    ] {
        assert_eq!(super::tree::is_temporary(Path::new(root), Path::new(real)), expected, "{root} {real}");
    }
}

#[test]
fn secrets_are_found_by_name_and_by_content_at_any_depth() {
    let (_dir, root) = root();
    let token = "a1B2c3D4e5F6g7H8i9";
    for (path, text) in [
        (".env.example", "A="),
        ("a/b/c/d/e/.env.local", "A=1"),
        (".hidden/.npmrc", "x"),
        ("node_modules/x/.env", "x"),
        ("deploy", key().as_str()),
        ("conf/notes.txt", key().as_str()),
        ("certs/ca.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("certs/server.pem", key().as_str()),
        (".aws/config", "x"),
        (".env/pyvenv.cfg", "x"),
        (".env/bin/python", "x"),
        (".env/lib/python3.13/site.py", "x"),
        (".env/prod", "x"),
        (".env2/pyvenv.cfg", "x"),
        (".env2/bin/python", "x"),
        (".env2/lib/python3.13/site.py", "x"),
        ("py/.env-py3.12/pyvenv.cfg", "x"),
        ("py/.env-py3.12/bin/python", "x"),
        ("py/.env-py3.12/lib/python3.12/site.py", "x"),
        ("py/.env-py3.12/prod", "x"),
        (".env3/bin/python", "x"),
        ("src/credentials/mod.rs", "x"),
        ("src/keys.rs", "x"),
        ("src/token.rs", format!("let x = \"ghp_{token}\";").as_str()),
        ("README.md", format!("ghp_{token}").as_str()),
        ("conf/app.yml", format!("token: ghp_{token}").as_str()),
        ("node_modules/x/app.yml", format!("token: ghp_{token}").as_str()),
        ("deploy_token", "x"),
        ("infra/terraform.tfstate.backup", "{}"),
    ] {
        write(root.join(path), text);
    }
    write(root.join("app/.env"), "A=1");
    let found = look(&root, &[]);
    let expected = [
        ".aws",
        ".env/prod",
        ".env3",
        ".hidden/.npmrc",
        "a/b/c/d/e/.env.local",
        "app/.env",
        "certs/server.pem",
        "conf/app.yml",
        "conf/notes.txt",
        "deploy",
        "deploy_token",
        "infra/terraform.tfstate.backup",
        "node_modules/x/.env",
        "py/.env-py3.12/prod",
    ];
    assert_eq!(below(&root, &found.secrets), expected);
    assert!(found.whole);
}

#[test]
fn protected_paths_are_found_at_any_depth_but_not_in_packages() {
    let (_dir, root) = root();
    for path in [
        ".envrc",
        "sub/.envrc",
        "sub/deep/.vscode/tasks.json",
        "sub/.github/workflows/ci.yml",
        "sub/.github/CODEOWNERS",
        "lib/.git/config",
        "module/.git",
        ".hg/hgrc",
        ".hg/store/.envrc",
        ".jj/repo/config.toml",
        ".jj/repo/store/.envrc",
        "sub/all.code-workspace",
        "node_modules/x/.envrc",
        "target/.cargo/config.toml",
        "src/main.rs",
    ] {
        write(root.join(path), "x");
    }
    let found = look(&root, &[]);
    let expected = [
        ".envrc",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        "module/.git",
        "sub/.envrc",
        "sub/.github/workflows",
        "sub/all.code-workspace",
        "sub/deep/.vscode",
    ];
    assert_eq!(below(&root, &found.protected), expected);
    assert_eq!(below(&root, &found.repositories), ["lib/.git", "module/.git"]);
    assert_eq!(found.protected[0], root.join(".envrc"), "shallow ones first");
}

#[test]
fn a_link_in_the_place_of_a_folder_that_holds_protected_files_is_protected() {
    let (_dir, root) = root();
    write(root.join("elsewhere/workflows/ci.yml"), "x");
    write(root.join("sub/a"), "x");
    for link in [".github", "sub/.github", ".vscode", "other"] {
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join(link)).unwrap();
    }
    assert_eq!(below(&root, &look(&root, &[]).protected), [".github", ".vscode", "sub/.github"]);
}

#[test]
fn a_link_to_a_folder_of_gits_own_is_protected() {
    let (_dir, root) = root();
    write(root.join(".git/hide/zz/HEAD"), "x");
    write(root.join(".git/annex/objects/a"), "x");
    for (link, to) in [("lib", ".git/hide/zz"), ("picture", ".git/annex/objects/a"), ("node_modules/x", "../.git/hide")]
    {
        write(root.join("node_modules/y"), "x");
        std::os::unix::fs::symlink(to, root.join(link)).unwrap();
    }
    assert_eq!(below(&root, &look(&root, &[]).protected), ["lib", "node_modules/x"]);
}

#[test]
fn folders_that_cannot_be_listed_are_named_and_listed_when_they_can_be() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return eprintln!("not tested: root lists everything");
    }
    let (_dir, root) = root();
    write(root.join("a/b/.envrc"), "x");
    let mode = |mode| std::fs::set_permissions(root.join("a"), PermissionsExt::from_mode(mode)).unwrap();
    for closed in [0o311, 0o000] {
        mode(closed);
        assert!(!look(&root, &[]).unlisted.is_empty(), "{closed:o}");
        mode(0o755);
        let found = look(&root, &[]);
        assert_eq!((below(&root, &found.protected), &found.unlisted), (vec!["a/b/.envrc".to_owned()], &Vec::new()));
    }
}

#[test]
fn what_git_has_with_its_content_is_no_secret() {
    let (_dir, root) = root();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(root.join(".git").join(folder)).unwrap();
    }
    write(root.join(".git/HEAD"), "x");
    write(root.join("a/.env"), "x");
    write(root.join(".env.local"), "x");
    std::fs::write(root.join(".git/index"), index(&["a/.env", "b/.env"])).unwrap();
    assert_eq!(below(&root, &look(&root, &[]).secrets), [".env.local"]);
    // An entry alone, which a command can make, opens nothing.
    write(root.join("b/.env"), "y");
    std::fs::write(root.join(".git/index"), index(&[".env.local", "a/.env", "b/.env"])).unwrap();
    assert_eq!(below(&root, &look(&root, &[]).secrets), ["b/.env"]);
    write(root.join("a/.env"), "changed since");
    assert_eq!(below(&root, &look(&root, &[]).secrets), ["a/.env", "b/.env"]);
    // Nor does one below a file, which git never makes.
    std::fs::write(root.join(".git/index"), index(&["a/.env/x", "b/.env", "b/.env/y"])).unwrap();
    assert_eq!(below(&root, &look(&root, &[]).secrets), [".env.local", "a/.env", "b/.env"]);
}

#[test]
fn what_was_hidden_stays_so_wherever_it_is_moved() {
    let (_dir, root) = root();
    if std::fs::metadata(&root).unwrap().created().is_err() {
        return eprintln!("not tested: the file system keeps no time of birth");
    }
    write(root.join("cfg/.docker/config.json"), "{}");
    write(root.join("conf/app.yml"), &format!("token: ghp_{}\n", "a1B2c3D4e5F6".repeat(3)));
    assert_eq!(below(&root, &look(&root, &[]).secrets), ["cfg/.docker/config.json", "conf/app.yml"]);
    std::fs::rename(root.join("cfg/.docker"), root.join("cfg/docker2")).unwrap();
    std::fs::create_dir(root.join("node_modules")).unwrap();
    std::fs::rename(root.join("conf"), root.join("node_modules/conf")).unwrap();
    let moved = ["cfg/docker2/config.json", "node_modules/conf/app.yml"];
    assert_eq!(below(&root, &look(&root, &[]).secrets), moved);
    // What takes its number later is another file.
    std::fs::remove_file(root.join(moved[0])).unwrap();
    for name in ["a", "b", "c"] {
        write(root.join("cfg").join(name), "plain");
    }
    assert_eq!(below(&root, &look(&root, &[]).secrets), moved[1..]);
}

#[test]
fn what_changes_is_seen_at_the_next_look() {
    let (_dir, root) = root();
    write(root.join("a/b/x"), "x");
    let names = || below(&root, &look(&root, &[]).secrets);
    assert!(names().is_empty());
    write(root.join("a/b/.env"), "x");
    assert_eq!(names(), ["a/b/.env"]);
    write(root.join("new/deep/.env"), "x");
    assert_eq!(names(), ["a/b/.env", "new/deep/.env"]);
    std::fs::rename(root.join("a"), root.join("moved")).unwrap();
    assert_eq!(names(), ["moved/b/.env", "new/deep/.env"]);
    std::fs::remove_dir_all(root.join("new")).unwrap();
    assert_eq!(names(), ["moved/b/.env"]);
    // The same name, another folder.
    std::fs::rename(root.join("moved"), root.join("away")).unwrap();
    write(root.join("moved/c/.env"), "x");
    assert_eq!(names(), ["away/b/.env", "moved/c/.env"]);
    // A file that was there becomes a key.
    write(root.join("away/b/x"), &key());
    assert_eq!(names(), ["away/b/.env", "away/b/x", "moved/c/.env"]);
    write(root.join("moved/c/.envrc"), "x");
    assert_eq!(below(&root, &look(&root, &[]).protected), ["moved/c/.envrc"]);
}

#[test]
fn another_folder_at_the_same_path_is_another_tree() {
    let (_dir, root) = root();
    let at = root.join("p");
    assert!(look(&at, &[]).secrets.is_empty());
    write(at.join(".env"), "x");
    assert_eq!(below(&at, &look(&at, &[]).secrets), [".env"]);
    std::fs::rename(&at, root.join("away")).unwrap();
    write(at.join("sub/.env"), "x");
    assert_eq!(below(&at, &look(&at, &[]).secrets), ["sub/.env"]);
}

#[test]
fn a_tree_that_cannot_be_watched_is_compared() {
    let (_dir, root) = root();
    write(root.join("a/x"), "x");
    let mut tree = Tree::new(root.clone(), &[], MOST);
    tree.watch = None;
    tree.unwatched = tree.folders.keys().cloned().collect();
    assert!(tree.refresh().secrets.is_empty());
    write(root.join("a/.env"), "x");
    assert_eq!(below(&root, &tree.refresh().secrets), ["a/.env"]);
}

#[test]
fn other_names_of_a_secret_are_secret() {
    let (_dir, root) = root();
    for name in ["p/.env", "home/.netrc", "p/x"] {
        write(root.join(name), "x");
    }
    let at = root.join("p");
    assert_eq!(below(&at, &look(&at, &[]).secrets), [".env"]);
    write(at.join("sub/y"), "y");
    std::fs::hard_link(at.join(".env"), at.join("sub/main.rs")).unwrap();
    assert_eq!(below(&at, &look(&at, &[]).secrets), [".env", "sub/main.rs"]);
    // One that lies elsewhere.
    std::fs::hard_link(root.join("home/.netrc"), at.join("sub/notes.txt")).unwrap();
    let meta = root.join("home/.netrc").metadata().unwrap();
    let elsewhere = HashSet::from([(meta.dev(), meta.ino())]);
    let found = look_for(&at, &[], &elsewhere);
    assert_eq!(below(&at, &found.secrets), [".env", "sub/main.rs", "sub/notes.txt"]);
}

#[test]
fn a_repository_without_a_working_tree_is_one() {
    let (_dir, root) = root();
    for name in ["x/HEAD", "x/objects/y", "x/refs/z", "y/HEAD", "y/refs/z", "s/HEAD", "s/commondir", "target/x/HEAD"] {
        write(root.join(name), "x");
    }
    assert_eq!(below(&root, &look(&root, &[]).repositories), ["s", "x"]);
}

#[test]
fn a_repository_counts_wherever_it_lies() {
    let (_dir, root) = root();
    let names = ["vendor", "node_modules/a", "target/b", ".venv/c", ".svn", ".hg/d", ".jj"];
    for dir in names.iter().map(|name| root.join(name)) {
        for name in ["bare/HEAD", "bare/objects/y", "bare/refs/z", "common/HEAD", "common/commondir"] {
            write(dir.join(name), "x");
        }
        write(dir.join("file/.git"), "gitdir: ../bare");
        std::os::unix::fs::symlink("../bare", dir.join(".git")).unwrap();
    }
    let found = look(&root, &[]);
    for dir in names.iter().map(|name| root.join(name)) {
        for path in ["bare", "common", "file/.git", ".git"].map(|name| dir.join(name)) {
            assert!(found.repositories.contains(&path), "{}", path.display());
        }
        assert!(found.protected.contains(&dir.join("file/.git")) && found.protected.contains(&dir.join(".git")));
    }
}

#[test]
fn what_lies_deeper_than_can_be_masked_is_masked_with_its_folder() {
    use crate::sandbox::unseen;
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let (_dir, root) = root();
    let how = OFlags::RDONLY | OFlags::DIRECTORY;
    let (name, mut deep) = ("D".repeat(240), openat(CWD, &root, how, Mode::empty()).unwrap());
    for _ in 0..18 {
        mkdirat(&deep, &*name, Mode::RWXU).unwrap();
        deep = openat(&deep, &*name, how, Mode::empty()).unwrap();
    }
    let found = look(&root, &[]);
    let [cut] = &found.cut[..] else { panic!("{}", found.cut.len()) };
    assert!(unseen::is_too_long(cut) && !unseen::is_too_long(cut.parent().unwrap()) && !found.unknown);
    assert_eq!((&found.masked(), &found.unlisted), (&vec![cut.clone()], &vec![cut.clone()]));
    assert!(look(cut, &[]).unknown, "nothing can be masked in it");
}

#[test]
fn what_cannot_be_listed_or_read_is_not_taken_for_empty() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return eprintln!("not tested: root lists everything");
    }
    let (_dir, root) = root();
    let mode = |name: &str, mode: u32| {
        std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["a/.env", "b/.env", "c/notes.txt"] {
        write(root.join(name), "x");
    }
    let masked = || below(&root, &look(&root, &[]).masked());
    assert_eq!(masked(), ["a/.env", "b/.env"]);
    for rights in [0o311, 0o444, 0] {
        mode("a", rights);
        mode("c/notes.txt", 0);
        assert_eq!(masked(), ["a", "b/.env", "c/notes.txt"], "{rights:o}");
        let state = look(&root, &[]).state;
        assert_eq!(look(&root, &[]).state, state);
        mode("a", 0o755);
        mode("c/notes.txt", 0o644);
        assert_eq!(masked(), ["a/.env", "b/.env"]);
    }
    mode("", 0o311);
    assert!(look(&root, &[]).unknown);
    mode("", 0o755);
    assert!(!look(&root, &[]).unknown);
}

#[test]
fn what_was_hidden_once_stays_so_whatever_is_made_around_it() {
    let (_dir, root) = root();
    if std::fs::metadata(&root).unwrap().created().is_err() {
        return eprintln!("not tested: the file system keeps no time of birth");
    }
    let token = format!("token: ghp_{}\n", "a1B2c3D4e5F6".repeat(3));
    write(root.join("config/env/lib/dev.json"), &token);
    write(root.join("env/.vscode/tasks.json"), "{}");
    let fresh = || Tree::new(root.clone(), &[], MOST).found;
    assert_eq!(below(&root, &fresh().secrets), ["config/env/lib/dev.json"]);
    // A layout of Python, and one that is half of it.
    for name in ["config/env", "env"] {
        write(root.join(name).join("pyvenv.cfg"), "x");
        assert_eq!(below(&root, &fresh().secrets), ["config/env/lib/dev.json"]);
        write(root.join(name).join("bin/python"), "x");
        write(root.join(name).join("lib/python3.13/x"), "x");
    }
    let found = fresh();
    assert_eq!(below(&root, &found.secrets), ["config/env/lib/dev.json"]);
    assert_eq!(below(&root, &found.protected), ["env/.vscode"]);
    // Whoever writes into it takes it out.
    write(root.join("config/env/lib/dev.json"), "{}");
    assert!(fresh().secrets.is_empty());
}

#[test]
fn large_files_do_not_use_up_what_small_ones_need() {
    let (_dir, root) = root();
    let mut tree = Tree::new(root.clone(), &[], MOST);
    tree.read = MOST_READ;
    let filler = |length: u64| "#\n".repeat(usize::try_from(length / 2).unwrap());
    write(root.join("small.txt"), &format!("{}{}", filler(SMALL / 2), key()));
    write(root.join("end.txt"), &format!("{}{}", filler(SMALL * 2), key()));
    write(root.join("middle.txt"), &format!("{}{}{}", filler(SMALL), key(), filler(SMALL)));
    assert_eq!(below(&root, &tree.refresh().secrets), ["end.txt", "small.txt"]);
}
