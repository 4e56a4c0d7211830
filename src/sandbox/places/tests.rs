//! The lists of a profile.

use super::*;
use crate::sandbox::Allowances;
use crate::sandbox::allowances::Granted;

fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for file in files {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    (dir, root)
}

/// All that a [`Site`] borrows.
struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
    cwd: PathBuf,
    home: PathBuf,
    session: PathBuf,
    own: Vec<PathBuf>,
    allowances: Allowances,
    named: Vec<PathBuf>,
    approved: Vec<PathBuf>,
    moves: Moves,
    namespaces: Namespaces,
}

impl Bench {
    fn new(cwd: &str, files: &[&str]) -> Self {
        let (dir, root) = tree(files);
        let at = |name: &str| {
            std::fs::create_dir_all(root.join(name)).unwrap();
            root.join(name).canonicalize().unwrap()
        };
        Self {
            cwd: at(cwd),
            home: at("home"),
            session: at("own/data/s1"),
            own: vec![at("own/config"), at("own/data"), at("own/state")],
            allowances: Allowances::default(),
            named: Vec::new(),
            approved: Vec::new(),
            moves: Moves::default(),
            namespaces: Namespaces::With,
            root,
            _dir: dir,
        }
    }

    fn site(&self) -> Site<'_> {
        Site {
            cwd: &self.cwd,
            session_dir: &self.session,
            own_dirs: &self.own,
            allowances: &self.allowances,
            named: &self.named,
            approved: &self.approved,
            moves: self.moves,
            home: Some(&self.home),
            namespaces: self.namespaces,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn workspace(&self) -> Bounds {
        let Profile::Workspace(bounds) = workspace(&self.site()) else { panic!() };
        bounds
    }
}

#[test]
fn programs_of_the_user_stay_as_they_are_where_the_home_directory_is_worked_in() {
    let files = ["home/.local/bin/git", "home/.nvm/nvm.sh", "home/.cargo/registry/x", "home/notes/a.md"];
    let mut bench = Bench::new("home", &files);
    for at in ["home/.local/bin", "home/.nvm"] {
        assert!(bench.workspace().protected.contains(&bench.at(at)), "{at}");
    }
    assert!(bench.workspace().pinned.contains(&bench.at("home/.local")), "nor are they moved away");
    let guarded = guarded(&bench.site(), None);
    assert!(guarded.paths.contains(&bench.at("home/.local/bin")) && !guarded.paths.contains(&bench.at("home/.nvm")));
    bench.allowances.granted.writable.push(bench.at("home/.local/bin"));
    assert!(!bench.workspace().protected.contains(&bench.at("home/.local/bin")), "an answer opens them");
    // Of a project they are no part.
    bench.cwd = bench.at("home/notes");
    assert!(!bench.workspace().protected.iter().any(|path| path.starts_with(bench.at("home"))));
}

#[test]
fn sockets_in_the_project_are_masked_whatever_the_network_is() {
    let mut bench = Bench::new("home/p", &["home/p/sub/file"]);
    let socket = bench.cwd.join("sub/server.sock");
    let left = bench.cwd.join("left.sock");
    drop(std::os::unix::net::UnixListener::bind(&left).unwrap());
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for network in [Network::Open, Network::Off, Network::Proxy] {
        bench.allowances.network = network;
        let masked = bench.workspace().masked;
        assert!(masked.contains(&socket) && !masked.contains(&left));
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "whoever listens does not notice");
    // One that an answer gave stays.
    bench.allowances.granted.sockets.push(socket.clone());
    assert!(!bench.workspace().masked.contains(&socket));
}

#[test]
fn what_may_be_read_is_a_list_and_the_home_directory_is_not_on_it() {
    let mut bench = Bench::new(
        "home/p/sub",
        &[
            "home/p/.git/HEAD",
            "home/p/.git/objects/x",
            "home/p/.git/refs/x",
            "home/.cargo/registry/x",
            "home/.cargo/credentials.toml",
            "home/.gitconfig",
            "home/.bashrc",
            "home/.ssh/known_hosts",
            "home/.ssh/id_ed25519",
            "home/other/x",
            "home/other/.env",
            "home/lib/x",
            "home/lib/.env",
            "home/p/.env",
        ],
    );
    std::fs::create_dir(bench.session.join("plans")).unwrap();
    let Bounds { readable, masked, .. } = bench.workspace();
    assert!(masked.contains(&bench.at("home/p/.env")), "the repository is read, and not its secrets");
    let may = |name: &str| readable.iter().any(|path| bench.at(name).starts_with(path));
    for name in [
        "home/p",
        "home/p/.git",
        "home/.cargo/registry",
        "home/.gitconfig",
        "home/.ssh/known_hosts",
        "own/data/s1/plans",
    ] {
        assert!(may(name), "{name}");
    }
    for name in [
        "home",
        "home/.ssh/id_ed25519",
        "home/.bashrc",
        "home/other",
        "home/.cargo/credentials.toml",
        "own/config",
        "own/data/s2",
    ] {
        assert!(!may(name), "{name}");
    }
    assert!(readable.contains(&PathBuf::from("/usr")) && !readable.contains(&PathBuf::from("/")));
    // What the line names may be read, without its secrets; but never the home directory or a secret.
    bench.named = ["home/other", "home", "home/.ssh/id_ed25519", "own/config", "home/missing"]
        .map(|name| bench.at(name))
        .to_vec();
    bench.named.push("/".into());
    bench.named.push("/proc/1".into());
    let bounds = bench.workspace();
    let new: Vec<&PathBuf> = bounds.readable.iter().filter(|path| !readable.contains(path)).collect();
    assert_eq!(new, [&bench.at("home/other")]);
    assert!(bounds.masked.contains(&bench.at("home/other/.env")));
    bench.allowances.readable = vec![bench.at("home/lib"), bench.at("home/gone")];
    bench.allowances.granted.sockets = vec!["/run/agent".into()];
    bench.allowances.devices = vec!["/dev/kvm".into()];
    let bounds = bench.workspace();
    assert!(bounds.masked.contains(&bench.at("home/lib/.env")));
    assert!(bounds.readable.contains(&bench.at("home/lib")) && !bounds.readable.contains(&bench.at("home/gone")));
    assert_eq!((bounds.sockets, bounds.devices), (vec!["/run/agent".into()], vec!["/dev/kvm".into()]));
}

/// Folders beside the working directory, above it, and those that hold it under the name of a link.
#[test]
fn whatever_opens_a_folder_its_secrets_stay_hidden() {
    let files =
        ["home/w/p/a.rs", "home/w/p/.env", "home/w/.env", "home/w/other/.env", "home/w/other/x", "home/far/.env"];
    let opened = |path: PathBuf| Granted { writable: vec![path.clone()], ..Granted::default() };
    let readable = |path: PathBuf| Granted { readable: vec![path], ..Granted::default() };
    for (folder, hidden) in [
        ("home/w", &["home/w/.env", "home/w/other/.env"][..]),
        ("home/w/other", &["home/w/other/.env"]),
        ("home/far", &["home/far/.env"]),
        ("link", &["home/w/.env", "home/w/other/.env"]),
    ] {
        for how in ["named", "settings", "granted", "approved", "writable"] {
            let mut bench = Bench::new("home/w/p", &files);
            std::os::unix::fs::symlink(bench.at("home/w"), bench.at("link")).unwrap();
            let path = bench.at(folder);
            match how {
                "named" => bench.named = vec![path],
                "settings" => bench.allowances.readable = vec![path],
                "granted" => bench.allowances.granted = readable(path),
                "approved" => bench.approved = vec![path],
                _ => bench.allowances.granted = opened(path),
            }
            let Profile::ReadOnly(read_only) = read_only(&bench.site()) else { panic!() };
            for bounds in [read_only, bench.workspace(), server(&bench.site()).bounds_mut().unwrap().clone()] {
                for secret in hidden.iter().chain(&["home/w/p/.env"]) {
                    let path = bench.at(secret);
                    let is_in = |list: &[PathBuf]| list.iter().any(|one| path.starts_with(one));
                    let is_open = is_in(&bounds.readable) || is_in(&bounds.writable);
                    assert!(!is_open || is_in(&bounds.masked), "{folder} {how}: {secret} in {:?}", bounds.masked);
                }
                assert!(!bounds.masked.iter().any(|one| bench.cwd.starts_with(one)));
            }
        }
    }
}

/// A repository may bring a link to anything, and the configuration names it for a folder of the project.
#[test]
fn a_link_in_the_project_opens_nothing_to_a_server() {
    let files =
        ["p/.git/HEAD", "p/.git/objects/x", "p/.git/refs/x", "p/.git/hooks/x", "home/.profile", "p/real/x", "o/x"];
    let mut bench = Bench::new("p", &files);
    for (name, to) in [("p/hooks", "p/.git/hooks"), ("p/git", "p/.git"), ("p/away", "home"), ("p/in", "p/real")] {
        std::os::unix::fs::symlink(bench.at(to), bench.at(name)).unwrap();
    }
    std::os::unix::fs::symlink(bench.at("o"), bench.at("own-link")).unwrap();
    let of = |bench: &Bench| server(&bench.site()).bounds_mut().unwrap().clone();
    let nothing = of(&bench).writable;
    for name in ["p/hooks", "p/git", "p/away", "p/away/sub", "p/in", "p/in/../away"] {
        bench.allowances.granted = Granted { writable: vec![bench.at(name)], ..Granted::default() };
        assert_eq!(of(&bench).writable, nothing, "{name}");
    }
    for (name, real) in [("p/real", "p/real"), ("own-link", "o"), ("o", "o")] {
        bench.allowances.granted = Granted { writable: vec![bench.at(name)], ..Granted::default() };
        assert!(of(&bench).writable.contains(&bench.at(real)), "{name}");
    }
}

/// A server belongs to no session, and sees nothing of lisle's workspace in the project but what it is started with.
#[test]
fn a_workspace_in_the_project_is_covered_for_servers() {
    let files = ["p/a.rs", "p/ws/sessions/a/session.jsonl", "p/ws/config.json", "p/ws/sources/x/server.py"];
    for writable in [None, Some("p")] {
        let mut bench = Bench::new("p", &files);
        bench.own = crate::sandbox::own_folders::of_workspace(&bench.own, &bench.at("p/ws"));
        bench.allowances.granted.writable = writable.iter().map(|name| bench.at(name)).collect();
        bench.named = vec![bench.at("p/ws/sources/x/server.py"), bench.at("p/ws/sources/x")];
        bench.approved = bench.named.clone();
        let bounds = server(&bench.site()).bounds_mut().unwrap().clone();
        assert!(bounds.replaced.iter().any(|one| one.at == bench.at("p/ws")), "{writable:?} {:?}", bounds.replaced);
        let within = |list: &[PathBuf]| -> Vec<PathBuf> {
            list.iter().filter(|path| path.starts_with(bench.at("p/ws"))).cloned().collect()
        };
        assert!(within(&bounds.writable).is_empty());
        for path in within(&bounds.readable) {
            assert!(path.starts_with(bench.at("p/ws/sources/x")), "{}", path.display());
        }
    }
}

#[test]
fn of_a_secret_folder_around_the_working_directory_all_but_the_way_there_is_hidden() {
    let mut bench = Bench::new("o/.aws/p", &["o/.aws/p/a.rs", "o/.aws/q/x", "o/.aws/credentials", "o/x"]);
    bench.allowances.readable = vec![bench.at("o")];
    let masked = bench.workspace().masked;
    for name in ["o/.aws/q", "o/.aws/credentials"] {
        assert!(masked.contains(&bench.at(name)), "{name} in {masked:?}");
    }
    assert!(!masked.iter().any(|one| bench.cwd.starts_with(one)));
}

/// Files that configure or run code in a folder that a configuration opens stay, whatever else is opened.
#[test]
fn a_folder_that_a_server_writes_keeps_its_protection() {
    let files = [
        "p/a.rs",
        "o/.envrc",
        "o/sub/.vscode/tasks.json",
        "o/.github/workflows/ci.yml",
        "o/r/.git/HEAD",
        "o/r/.git/objects/x",
        "o/r/.git/refs/x",
        "o/r/.git/config",
        "o/r/.git/hooks/x",
    ];
    for beside in [&["o"][..], &["p", "o"], &["o", "p/a.rs"]] {
        let mut bench = Bench::new("p", &files);
        bench.allowances.granted.writable = beside.iter().map(|name| bench.at(name)).collect();
        let bounds = server(&bench.site()).bounds_mut().unwrap().clone();
        for name in ["o/.envrc", "o/sub/.vscode", "o/.github/workflows", "o/r/.git/config", "o/r/.git/hooks"] {
            let path = bench.at(name);
            let held = bounds.protected.iter().find(|one| path.starts_with(one));
            let held = held.unwrap_or_else(|| panic!("{beside:?}: {name} in {:?}", bounds.protected));
            let above = held.ancestors().skip(1).take_while(|above| *above != bench.at("o"));
            for above in above {
                assert!(bounds.pinned.contains(&above.to_owned()), "{beside:?}: {}", above.display());
            }
        }
        // What the configuration names itself is meant.
        bench.allowances.granted.writable.push(bench.at("o/.envrc"));
        let bounds = server(&bench.site()).bounds_mut().unwrap().clone();
        assert!(!bounds.protected.contains(&bench.at("o/.envrc")), "{beside:?}");
    }
}

#[test]
fn protected_paths_are_read_only_and_the_folders_above_them_stay_where_they_are() {
    let bench = Bench::new(
        "home/p",
        &[
            "home/.bashrc",
            "home/p/.envrc",
            "home/p/a/b/.husky/pre-push",
            "home/p/a/.vscode/x",
            "home/p/.github/workflows/ci.yml",
            "home/p/sub/.git/HEAD",
            "home/p/sub/.git/objects/x",
            "home/p/sub/.git/refs/x",
            "home/p/sub/.git/config",
        ],
    );
    let bounds = bench.workspace();
    let p = |name: &str| bench.cwd.join(name);
    for name in [".envrc", "a/b/.husky", "a/.vscode", ".github/workflows", "sub/.git/config"] {
        assert!(bounds.protected.contains(&p(name)), "{name} {:?}", bounds.protected);
    }
    let mut pinned = bounds.pinned.clone();
    pinned.sort();
    assert_eq!(pinned, [".github", "a", "a/b", "sub", "sub/.git"].map(p));
    assert!(!bounds.protected.contains(&bench.at("home/.bashrc")), "not below what may be written");
}

#[test]
fn the_number_of_mounts_is_bounded_and_the_rest_is_still_known() {
    let files: Vec<String> = (0..300).map(|n| format!("p/d{n:03}/.envrc")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let bench = Bench::new("p", &files);
    let bounds = bench.workspace();
    let mounts = bounds.protected.iter().filter(|path| path.starts_with(&bench.cwd)).count() + bounds.pinned.len();
    assert!(mounts > MOST_MOUNTS / 2 && mounts <= MOST_MOUNTS, "{mounts}");
    assert_eq!(guarded(&bench.site(), None).paths.len(), 300);
    let many: Vec<String> = (0..500).map(|n| format!("p/d/{n:03}.key")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bench = Bench::new("p", &many);
    assert_eq!(
        bench.workspace().masked.iter().filter(|path| path.starts_with(&bench.cwd)).collect::<Vec<_>>(),
        [&bench.cwd.join("d")]
    );
}

#[test]
fn in_the_home_directory_secrets_and_lisles_own_folders_are_out_of_reach() {
    let mut bench = Bench::new(
        "home",
        &[
            "home/.ssh/id_ed25519",
            "home/.aws/credentials",
            "home/.config/lisle/config.toml",
            "home/.config/fish/config.fish",
            "home/.bashrc",
        ],
    );
    bench.own[0] = bench.at("home/.config/lisle");
    let bounds = bench.workspace();
    for name in ["home/.ssh", "home/.aws"] {
        assert!(bounds.masked.contains(&bench.at(name)), "{name} {:?}", bounds.masked);
    }
    for name in ["home/.bashrc", "home/.config", "home/.ssh"] {
        assert!(bounds.protected.contains(&bench.at(name)), "{name}");
    }
    assert!(bounds.pinned.contains(&bench.at("home/.config")));
    let covers: Vec<_> = bounds.replaced.iter().filter(|one| one.at.starts_with(&bench.home)).collect();
    assert_eq!(covers.iter().map(|one| one.at.clone()).collect::<Vec<_>>(), [bench.at("home/.config/lisle")]);
    assert!(covers.iter().all(|one| one.with.starts_with(&bench.session)));
}

#[test]
fn lisles_folders_are_empty_wherever_a_command_would_see_them() {
    let files = [
        "home/data/workspaces/w/permissions.json",
        "home/data/workspaces/w/config.json",
        "home/data/workspaces/w/checkpoints/ab/key",
        "home/data/workspaces/w/sessions/a/session.jsonl",
        "home/data/workspaces/w/sessions/a/data/x",
        "home/data/workspaces/w/sessions/b/session.jsonl",
        "home/config/config.toml",
        "p/lisle/w/sessions/a/session.jsonl",
        "p/lisle/w/permissions.json",
        "p/src/a.rs",
    ];
    // The working directory, lisle's folders, the session, and the folders that are empty to a command.
    let cases: &[(&str, &[&str], &str, &[&str])] = &[
        ("home", &["home/data", "home/config"], "home/data/workspaces/w/sessions/a", &["home/config", "home/data"]),
        ("p", &["p/lisle"], "p/lisle/w/sessions/a", &["p/lisle"]),
        ("p", &["home/data"], "p/lisle/w/sessions/a", &["p/lisle/w"]),
        ("p/lisle/w", &["home/data"], "p/lisle/w/sessions/a", &["p/lisle/w/sessions"]),
        ("p", &["home/data", "home/config"], "home/data/workspaces/w/sessions/a", &[]),
    ];
    for (cwd, own, session, empty) in cases {
        let mut bench = Bench::new(cwd, &files);
        bench.own = own.iter().map(|name| bench.at(name)).collect();
        // As the settings name them: the rules of a workspace wherever it lies.
        bench.own.push(bench.at(session).ancestors().nth(2).unwrap().join("permissions.json"));
        bench.session = bench.at(session);
        let Profile::ReadOnly(read_only) = read_only(&bench.site()) else { panic!() };
        for bounds in [bench.workspace(), read_only] {
            let covers: Vec<PathBuf> =
                bounds.replaced.iter().filter(|one| one.with.ends_with("covered")).map(|one| one.at.clone()).collect();
            assert_eq!(covers, empty.iter().map(|name| bench.at(name)).collect::<Vec<_>>(), "{cwd} {session}");
            // Nothing but what the session has is laid into them, and nothing there is opened again.
            let lists = [&bounds.readable, &bounds.writable, &bounds.pinned, &bounds.protected];
            let inside = lists.into_iter().flatten().filter(|path| covers.iter().any(|cover| path.starts_with(cover)));
            let inside: Vec<_> = inside.filter(|path| !path.starts_with(&bench.session)).collect();
            assert!(inside.is_empty(), "{cwd}: {inside:?}");
            // Outside of the working directory none of them is shown for being protected.
            let shown: Vec<_> = bounds.protected.iter().filter(|path| !path.starts_with(&bench.cwd)).collect();
            assert!(shown.is_empty(), "{cwd}: {shown:?}");
        }
    }
}

#[test]
fn one_answer_opens_one_file() {
    let mut bench = Bench::new("p", &["p/.env", "p/sub/.env"]);
    let masked = |bench: &Bench| {
        bench.workspace().masked.into_iter().filter(|path| path.starts_with(&bench.cwd)).collect::<Vec<_>>()
    };
    assert_eq!(masked(&bench), [bench.at("p/.env"), bench.at("p/sub/.env")]);
    assert!(holds_secret(&bench.cwd, None));
    bench.allowances.granted.unmasked = vec![bench.at("p/.env")];
    assert_eq!(masked(&bench), [bench.at("p/sub/.env")]);
    // What the user agreed to for one command is shown to that one, and not where commands only read.
    bench.approved = vec![bench.at("p/sub/.env"), bench.at("home/.ssh/config")];
    assert!(masked(&bench).is_empty() && bench.workspace().readable.contains(&bench.at("home/.ssh/config")));
    let Profile::ReadOnly(bounds) = read_only(&bench.site()) else { panic!() };
    assert!(
        bounds.masked.contains(&bench.at("p/sub/.env")) && !bounds.readable.contains(&bench.at("home/.ssh/config"))
    );
}

#[test]
fn temporary_files_and_caches_are_the_sessions_and_the_workspaces_own() {
    let mut bench = Bench::new("p", &["home/.npm/_cacache/x"]);
    bench.allowances.caches = caches::usual(&bench.home, &|_| None);
    bench.allowances.private = Some(bench.at("own/state/caches/w"));
    let bounds = bench.workspace();
    let with =
        |at: &Path| bounds.replaced.iter().find(|replaced| replaced.at == at).map(|replaced| replaced.with.clone());
    assert_eq!(with(Path::new("/tmp")), Some(bench.session.join("tmp")));
    assert_eq!(with(Path::new("/var/tmp")), Some(bench.session.join("tmp")));
    let npm = with(&bench.at("home/.npm")).unwrap();
    assert!(npm.starts_with(bench.at("own/state/caches/w")) && npm.join("_cacache/x").exists());
    assert!(with(&bench.at("home/.gradle")).is_some() && with(&bench.at("home/.m2/repository")).is_none());
    assert!(!bounds.writable.contains(&PathBuf::from("/tmp")) && !bench.at("home/.gradle").exists());
    // Without namespaces the tools are told.
    bench.namespaces = Namespaces::Without;
    let bounds = bench.workspace();
    assert!(bounds.replaced.is_empty() && bounds.writable.contains(&PathBuf::from("/tmp")));
    let told = redirected(&bench.site());
    assert!(told.contains(&("npm_config_cache".to_owned(), npm)), "{told:?}");
}

#[test]
fn moving_between_states_may_change_protected_files_that_git_has() {
    let mut bench = Bench::new(
        "p",
        &["p/.git/HEAD", "p/.git/objects/x", "p/.git/refs/x", "p/.git/config", "p/.envrc", "p/.vscode/x", "p/.npmrc"],
    );
    std::fs::write(bench.at("p/.git/index"), git_index::tests::index(&[".envrc", ".vscode/x"])).unwrap();
    let names = |bench: &Bench| {
        let mut out: Vec<String> = bench
            .workspace()
            .protected
            .iter()
            .filter(|path| path.exists())
            .filter_map(|path| Some(path.strip_prefix(&bench.cwd).ok()?.display().to_string()))
            .collect();
        out.sort();
        out
    };
    assert_eq!(names(&bench), [".envrc", ".git/config", ".npmrc", ".vscode"]);
    bench.moves = Moves { tree: true, ..Moves::default() };
    assert_eq!(names(&bench), [".git/config", ".npmrc"]);
    bench.moves = Moves { notes: true, ..Moves::default() };
    assert_eq!(names(&bench), [".envrc", ".npmrc", ".vscode"]);
    bench.moves = Moves { settings: true, ..Moves::default() };
    assert_eq!(names(&bench), [".envrc", ".npmrc", ".vscode"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_hidden_is_held_from_the_look_on() {
    let bench = Bench::new("p", &["p/sub/.env", "p/a"]);
    let bounds = bench.workspace();
    assert!(bounds.held.paths().eq(bounds.masked.iter().take(bounds.held.len())));
    std::fs::rename(bench.at("p/sub"), bench.at("p/moved")).unwrap();
    let at = bounds.masked.iter().position(|path| *path == bench.at("p/sub/.env")).unwrap();
    let place = bounds.held.get(at).unwrap().0;
    let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(place));
    assert_eq!(std::fs::read_link(link).unwrap(), bench.at("p/moved/.env"));
}

#[cfg(target_os = "linux")]
#[test]
fn more_secrets_than_can_be_hidden_one_by_one_are_said_to_be_and_in_a_folder_they_are_hidden_with_it() {
    let bench = Bench::new("home/w", &["home/w/a.rs"]);
    let most = settled::most_hidden();
    let fill = |folder: &Path| {
        std::fs::create_dir_all(folder).unwrap();
        (0..=most).for_each(|n| std::fs::write(folder.join(format!(".env.{n}")), "").unwrap());
    };
    fill(&bench.cwd.join("sub"));
    let profile = workspace(&bench.site());
    let bounds = profile.bounds().unwrap();
    assert_eq!(too_many_hidden(bounds), None);
    assert!(bounds.masked.contains(&bench.cwd.join("sub")) && !bounds.masked.contains(&bench.cwd));
    fill(&bench.cwd);
    for profile in [workspace(&bench.site()), read_only(&bench.site())] {
        let bounds = profile.bounds().unwrap();
        assert!(too_many_hidden(bounds).is_some_and(|count| count > most));
        // Whoever starts it all the same is told, too.
        assert!(bounds.masked.contains(&bench.cwd) && bounds.held.is_empty());
    }
}

/// Links as a repository may have them, with names that are protected among them.
fn any_links() -> impl proptest::strategy::Strategy<Value = Vec<(String, String)>> {
    use proptest::prelude::*;
    let folder = prop::sample::select(vec!["", "a/", "a/b/", "a/up/", ".git/", ".vscode/"]);
    let name = prop::sample::select(vec!["up", "l", ".vscode", ".zed", ".envrc", ".husky", "hooks", "config", ".git"]);
    let part = prop::sample::select(vec!["..", "../..", "up", "l", "a", "a/b", "outside", ".vscode", ".", "src"]);
    let target = prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"));
    prop::collection::vec(((folder, name).prop_map(|(folder, name)| format!("{folder}{name}")), target), 1..7)
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 200, ..Default::default() })]
    /// Whatever links a project has: nothing outside of it is written for their sake, and no path stands for another place
    /// than its text says.
    #[test]
    fn no_link_of_a_project_opens_anything_outside(links in any_links(), with in proptest::bool::ANY) {
        let files = ["home/outside/f", "home/p/a/b/x", "home/p/src/x", "home/outside/HEAD", "home/p/.git/HEAD",
            "home/p/.git/objects/x", "home/p/.git/refs/x", "home/p/.vscode/x"];
        let mut bench = Bench::new("home/p", &files);
        bench.namespaces = if with { Namespaces::With } else { Namespaces::Without };
        for (name, target) in &links {
            let at = bench.cwd.join(name);
            let _ = std::fs::remove_file(&at);
            let _ = std::os::unix::fs::symlink(target, &at);
        }
        let bounds = bench.workspace();
        let lists = [&bounds.readable, &bounds.writable, &bounds.pinned, &bounds.protected];
        for path in lists.into_iter().flatten() {
            proptest::prop_assert!(path.is_absolute() && !crate::domain::paths::climbs(path), "{path:?}: {links:?}");
        }
        for path in bounds.writable.iter().chain(&bounds.pinned).filter(|path| path.starts_with(&bench.root)) {
            let own = path.starts_with(&bench.cwd) || path.starts_with(&bench.session);
            proptest::prop_assert!(own, "{path:?}: {links:?}");
        }
    }
}

/// Secrets are not opened by a read-only command where nothing can be put over them, nor are lisle's folders but for the session's
/// own files.
#[test]
fn without_namespaces_a_command_that_reads_opens_no_secret_and_nothing_of_lisle() {
    let mut bench = Bench::new("p", &["p/.env", "p/a", "own/data/s1/data/x", "own/data/s2/session.jsonl"]);
    bench.namespaces = Namespaces::Without;
    let Profile::ReadOnly(bounds) = read_only(&bench.site()) else { panic!() };
    for path in [bench.at("p/.env"), bench.at("own/data"), bench.at("own/config")] {
        assert!(bounds.unread.contains(&path), "{}: {:?}", path.display(), bounds.unread);
    }
    assert!(bounds.readable.contains(&bench.session.join("data")));
    assert!(bench.workspace().unread.is_empty(), "what is written is not split");
}

/// Links of commands open nothing in any profile, and what an extension of the user's is made of stays as it is.
#[test]
fn the_project_is_where_links_are_laid_and_skills_in_it_are_protected() {
    for namespaces in [Namespaces::With, Namespaces::Without] {
        let mut bench = Bench::new("p", &["p/.git/HEAD", "p/.git/objects/x", "p/.git/refs/x", "p/tools/sk/SKILL.md"]);
        bench.namespaces = namespaces;
        bench.allowances.extensions = vec![bench.at("p/tools/sk"), bench.at("home/.claude/skills/x")];
        bench.allowances.readable = bench.allowances.extensions.clone();
        let Profile::ReadOnly(bounds) = read_only(&bench.site()) else { panic!() };
        assert!(bounds.laid.contains(&bench.cwd) && bounds.laid.contains(&bench.at("p/.git")), "{:?}", bounds.laid);
        assert!(bounds.laid.contains(&bench.at("home/.claude/skills/x")), "what is opened stays what it was");
        assert!(bench.workspace().protected.contains(&bench.at("p/tools/sk")));
        assert!(guarded(&bench.site(), None).paths.contains(&bench.at("p/tools/sk")));
    }
}
