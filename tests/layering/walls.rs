//! Holds the walls of the house: which module may see which, and which crates and parts of std each may use.
//!
//! It reads the sources as text, with comments, strings and test code taken out, and tells file and line of everything
//! that stands where it must not. The checker itself is tested on small made-up sources at the end.

use super::source::{lines_with_word, paths, sources, without_tests, without_text};
use std::fmt;
use std::path::{Path, PathBuf};

/// A top-level module and what it may see.
struct Room {
    name: &'static str,
    /// Other top-level modules, or parts of them (`app::state`).
    sees: &'static [&'static str],
    /// Crates and parts of std beyond what every room may use.
    uses: &'static [&'static str],
}

/// Paths that only named rooms may use. A longer path allows less: `std::time::Instant` is not `std::time::Duration`.
const GUARDED: &[&str] = &[
    "crossterm",
    "directories",
    "landlock",
    "ratatui",
    "reqwest",
    "rustls",
    "rustix",
    "termina",
    "tokio",
    "tokio_util",
    "tui_textarea",
    "std::env",
    "std::fs",
    "std::io",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "fastrand",
    "ignore",
    "grep_searcher",
    "tracing_subscriber",
    "clap",
    "anyhow",
];

/// Exceptions below a guarded path: constants of the target, the same at every look.
const FREE: &[&str] = &["std::env::consts"];

/// The house, in reading order.
const HOUSE: &[Room] = &[
    Room { name: "http", sees: &[], uses: &["reqwest", "rustls"] },
    Room { name: "plain_file", sees: &[], uses: &["rustix", "std::fs", "std::io", "std::os"] },
    Room { name: "json_log", sees: &["plain_file"], uses: &["std::fs", "std::io"] },
    // Names of files are bytes, which only that part of std makes names of.
    Room { name: "domain", sees: &[], uses: &["std::os::unix::ffi"] },
    // The system's time zone is jiff's to find.
    Room { name: "local_time", sees: &["domain"], uses: &[] },
    Room { name: "syntax", sees: &["domain"], uses: &[] },
    Room { name: "local_export", sees: &["local_time", "syntax", "domain"], uses: &[] },
    Room { name: "protocol", sees: &["domain"], uses: &[] },
    Room {
        name: "store",
        sees: &["plain_file", "local_time", "domain", "protocol"],
        uses: &[
            "directories",
            "rustix",
            "tokio",
            "tokio_util",
            "std::fs",
            "std::io",
            "std::os",
            "std::process::id",
            "std::thread",
            "std::time::Instant",
            "std::time::SystemTime",
            "fastrand",
        ],
    },
    // Pure but for the store of the routes, which is below.
    Room {
        name: "routes",
        sees: &["domain", "store"],
        uses: &["std::fs", "std::io", "std::process::id", "std::thread", "std::time::Instant"],
    },
    Room {
        name: "config",
        // `[session]` and `[channels]` have the types of the routes that read them.
        sees: &["http", "plain_file", "domain", "protocol", "routes::config", "routes::channel_config"],
        uses: &[
            "directories",
            "reqwest",
            "tokio",
            "std::fs",
            "std::io",
            "std::os",
            "std::process::id",
            "fastrand",
            "tracing_subscriber",
        ],
    },
    Room {
        name: "provider",
        sees: &["http", "domain"],
        uses: &["reqwest", "tokio", "tokio_util", "std::io", "std::time::Instant", "std::time::SystemTime", "fastrand"],
    },
    Room { name: "permit", sees: &["domain"], uses: &[] },
    Room {
        name: "sandbox",
        sees: &["plain_file", "domain"],
        // The proxy of commands is asynchronous, and reads hosts as `fetch` does. What a repository ignores is found by the
        // patterns that the file tools use.
        uses: &[
            "ignore",
            "landlock",
            "reqwest",
            "rustix",
            "tokio",
            "tokio_util",
            "std::net::TcpListener",
            "std::net::UdpSocket",
            "std::env",
            "std::fs",
            "std::io",
            "std::os",
            "std::process",
            "std::thread",
            "std::time::Instant",
            "std::time::SystemTime",
        ],
    },
    Room {
        name: "tools",
        sees: &["http", "domain", "sandbox"],
        // `fetch` asks web servers.
        uses: &[
            "reqwest",
            "rustix",
            "tokio",
            "tokio_util",
            "std::env",
            "std::fs",
            "std::io",
            "std::os",
            "std::process",
            "std::thread",
            "std::time::Instant",
            "std::time::SystemTime",
            "fastrand",
            "ignore",
            "grep_searcher",
        ],
    },
    // Servers of others: started through the runner, or asked by the client of `http`.
    Room {
        name: "sources",
        sees: &["http", "json_log", "domain", "sandbox", "tools"],
        uses: &[
            "reqwest",
            "rustix",
            "tokio",
            "tokio_util",
            "std::env",
            "std::fs",
            "std::io",
            "std::os",
            "std::time::Instant",
        ],
    },
    // Texts of the user and of others, and the tool that loads one.
    Room {
        name: "extensions",
        sees: &["domain", "sandbox", "tools"],
        uses: &["rustix", "tokio", "std::fs", "std::io", "std::os"],
    },
    Room {
        name: "agent",
        sees: &[
            "local_export",
            "local_time",
            "domain",
            "protocol",
            "store",
            "provider",
            "permit",
            "tools",
            "sandbox",
            "sources",
            "extensions",
        ],
        uses: &[
            "std::process::Stdio",
            "tokio",
            "tokio_util",
            "std::fs",
            "std::io",
            "std::time::Instant",
            "std::time::SystemTime",
            "fastrand",
        ],
    },
    // Messages of channels: their files, the client that posts replies.
    Room {
        name: "channels",
        sees: &["http", "json_log", "plain_file", "local_time", "domain", "protocol", "store", "routes", "agent"],
        uses: &["reqwest", "tokio", "tokio_util", "std::fs", "std::io", "std::os", "std::thread"],
    },
    // Sockets, the lock of a home, and the programs that are lines or gateways of their own.
    Room {
        name: "gateway",
        sees: &["json_log", "plain_file", "local_export", "local_time", "domain", "protocol", "agent", "channels"],
        uses: &[
            "fastrand",
            "rustix",
            "tokio",
            "tokio_util",
            "std::env",
            "std::fs",
            "std::io",
            "std::os",
            "std::process",
            "std::thread",
            "std::time::Instant",
        ],
    },
    Room { name: "sharing", sees: &["http", "domain"], uses: &["reqwest"] },
    Room { name: "keymap", sees: &["domain"], uses: &[] },
    // Styles are values that tui_textarea's own calls take; ratatui's widgets stay outside.
    Room { name: "app", sees: &["domain", "protocol", "keymap"], uses: &["tui_textarea", "ratatui::style"] },
    Room { name: "theme", sees: &["domain"], uses: &["ratatui"] },
    Room { name: "ui", sees: &["domain", "protocol", "keymap", "app", "theme"], uses: &["ratatui", "tui_textarea"] },
    Room {
        name: "runtime",
        sees: &[
            "plain_file",
            "syntax",
            "domain",
            "protocol",
            "config",
            "store",
            "routes",
            "provider",
            "permit",
            "sandbox",
            "tools",
            "sources",
            "extensions",
            "agent",
            "channels",
            "gateway",
            "sharing",
            "keymap",
            "app",
            "theme",
            "ui",
        ],
        uses: GUARDED,
    },
    Room {
        name: "cli",
        sees: &[
            "plain_file",
            "local_export",
            "local_time",
            "domain",
            "protocol",
            "config",
            "store",
            "routes",
            "provider",
            "permit",
            "sandbox",
            "tools",
            "sources",
            "extensions",
            "agent",
            "channels",
            "gateway",
            "sharing",
            "keymap",
            "app",
            "theme",
            "ui",
            "runtime",
        ],
        // crossterm and termina stay with the one roof of the terminal.
        uses: &[
            "anyhow",
            "clap",
            "directories",
            "fastrand",
            "reqwest",
            "rustix",
            "tokio",
            "tokio_util",
            "std::env",
            "std::fs",
            "std::io",
            "std::os",
            "std::process",
            "std::thread",
            "std::time::Instant",
            "std::time::SystemTime",
            "tracing_subscriber",
        ],
    },
];

/// What neither a state machine nor a rule on values uses.
const EFFECTS: &[&str] = &[
    "tokio",
    "tokio_util",
    "std::fs",
    "std::io",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Beginnings of file names that are held stricter than their room: what is pure in the engine.
const PURE: &[(&str, &[&str])] = &[
    ("src/agent/machine", EFFECTS),
    ("src/agent/extension_views", EFFECTS),
    ("src/extensions/grants", EFFECTS),
    ("src/sources/config", EFFECTS),
    ("src/sources/definition", EFFECTS),
    ("src/sources/names", EFFECTS),
    ("src/sources/permissions", EFFECTS),
    ("src/routes/allow", EFFECTS),
    ("src/routes/channel_config", EFFECTS),
    ("src/routes/config", EFFECTS),
    ("src/routes/key", EFFECTS),
    ("src/routes/listing", EFFECTS),
    ("src/routes/maintenance", EFFECTS),
    ("src/routes/named", EFFECTS),
    ("src/routes/owner_command", EFFECTS),
    ("src/routes/queue", EFFECTS),
    ("src/routes/reset", EFFECTS),
    ("src/routes/routing", EFFECTS),
    ("src/routes/row", EFFECTS),
    ("src/routes/send_policy", EFFECTS),
];

/// The files that start programs, each with the reason why: everything else goes through the runner, `tools::command::process`.
const STARTS_PROGRAMS: &[(&str, &str)] = &[
    ("src/sandbox/runner/launch.rs", "the runner itself"),
    ("src/sandbox/runner/child.rs", "the runner's command, where nothing closes it in"),
    ("src/sandbox/linux/confine.rs", "a held process becomes its command"),
    ("src/sandbox/system_support.rs", "the runner says what the system allows"),
    ("src/sandbox/seatbelt.rs", "macOS says whether it takes profiles; nothing is run in them"),
    (
        "src/agent/worktree.rs",
        "lisle's own git goes through the runner, or has filters, hooks and drivers off where there is none",
    ),
    ("src/gateway/start.rs", "lisle itself, as a gateway in the background"),
    (
        "src/gateway/ssh.rs",
        "the user's own ssh is the line to another machine; its arguments are fixed but for the host",
    ),
    ("src/runtime/editor.rs", "the user's editor needs the terminal; a key asks for it"),
    ("src/runtime/viewer.rs", "the desktop shows kinds of files that run nothing; a key asks for it"),
    ("src/runtime/clipboard.rs", "a program of a fixed list takes text through its input"),
    ("src/runtime/picture.rs", "a program of a fixed list gives the clipboard's picture"),
    ("src/runtime/doctor.rs", "tmux tells its settings; the arguments are fixed"),
];

/// Functions that start programs, and modules by which they could be meant.
fn starts_programs(path: &str) -> bool {
    ["std::process", "tokio::process"].iter().any(|module| {
        path.strip_prefix(module).is_some_and(|rest| ["", "::*"].contains(&rest) || begins(rest, "::Command"))
    })
}

/// Something that stands where it must not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Breach {
    file: PathBuf,
    line: usize,
    what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// Everything wrong with one file; `file` is its path from the project's root.
fn check(file: &Path, source: &str) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut breach = |line, what: String| breaches.push(Breach { file: file.to_owned(), line, what });
    if !source.starts_with("//!") {
        breach(1, "the file does not begin with `//!`: say what it does and what it leaves to whom".to_owned());
    }
    let room = room_of(file);
    let tests_only = file.file_stem().is_some_and(|stem| stem == "tests")
        || file.components().any(|part| part.as_os_str() == "tests");
    let code = without_tests(&without_text(source), tests_only);
    if room.as_deref() != Some("sandbox") {
        for line in lines_with_word(&code, "unsafe") {
            breach(line, "`unsafe` is allowed in sandbox alone".to_owned());
        }
    }
    // main.rs and lib.rs are no rooms: one starts the program, the other names the modules.
    let Some(name) = room else { return breaches };
    let Some(room) = HOUSE.iter().find(|room| room.name == name) else {
        breach(1, format!("`{name}` is no room of the house: give it a row in the table of tests/layering/walls.rs"));
        return breaches;
    };
    let depth = module_depth(file);
    for (line, path) in paths(&code) {
        let path = absolute(&path, &name, depth);
        if let Some(seen) = path.strip_prefix("crate::").or_else(|| path.strip_prefix("lisle::")) {
            let top = seen.split("::").next().unwrap_or_default();
            let known = HOUSE.iter().any(|room| room.name == top);
            if known && top != room.name && !room.sees.iter().any(|allowed| begins(seen, allowed)) {
                breach(line, format!("{} must not see `{seen}`", room.name));
            }
            continue;
        }
        if FREE.iter().any(|free| begins(&path, free)) {
            continue;
        }
        let strict = PURE.iter().filter(|(part, _)| file.to_string_lossy().starts_with(part));
        if let Some(found) = strict.flat_map(|(_, guarded)| *guarded).find(|guarded| begins(&path, guarded)) {
            breach(line, format!("this part is pure and must not use `{found}`"));
            continue;
        }
        let Some(guarded) = GUARDED.iter().find(|guarded| begins(&path, guarded)) else { continue };
        if !room.uses.iter().any(|allowed| begins(&path, allowed)) {
            breach(line, format!("{} must not use `{guarded}`", room.name));
        } else if starts_programs(&path) && !STARTS_PROGRAMS.iter().any(|(starts, _)| Path::new(starts) == file) {
            let what = format!("`{path}` starts programs: go through the runner, or give a reason in STARTS_PROGRAMS");
            breach(line, what);
        }
    }
    breaches
}

/// True if `path` is `prefix` or lies below it.
fn begins(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The top-level module of a file: `src/ui.rs` and `src/ui/x.rs` are `ui`; main.rs and lib.rs are none.
fn room_of(file: &Path) -> Option<String> {
    let inside = file.strip_prefix("src").ok()?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "main" | "lib")).then(|| name.to_owned())
}

/// Depth of a file in modules: `src/a.rs` and `src/a/mod.rs` 1, `src/a/b.rs` 2.
fn module_depth(file: &Path) -> usize {
    let parts = file.components().count() - 1;
    if file.file_name().is_some_and(|name| name == "mod.rs") { parts - 1 } else { parts }
}

/// A path with `self` and `super` resolved so far as the top-level module goes.
fn absolute(path: &str, room: &str, depth: usize) -> String {
    let mut ups = 0;
    let mut rest = path;
    while let Some(after) = rest.strip_prefix("super::") {
        ups += 1;
        rest = after;
    }
    match (ups, rest.strip_prefix("self::")) {
        (0, Some(inside)) => format!("crate::{room}::{inside}"),
        (0, None) => rest.strip_prefix("::").unwrap_or(rest).to_owned(),
        // Up and out of the room: what follows is a neighbour.
        (ups, _) if ups >= depth => format!("crate::{rest}"),
        _ => format!("crate::{room}::{rest}"),
    }
}

#[test]
fn the_walls_stand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, Path::new("src"), &mut files).unwrap();
    assert!(files.len() > 10, "the sources were not found: {files:?}");
    files.sort();
    let breaches: Vec<Breach> =
        files.iter().flat_map(|file| check(file, &std::fs::read_to_string(root.join(file)).unwrap())).collect();
    let shown: Vec<String> = breaches.iter().map(Breach::to_string).collect();
    assert!(breaches.is_empty(), "\n{}\n", shown.join("\n"));
}

#[test]
fn files_that_start_programs_are_listed_and_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, reason) in STARTS_PROGRAMS {
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        let code = without_tests(&without_text(&source), false);
        assert!(paths(&code).iter().any(|(_, path)| starts_programs(path)), "{file} starts nothing any more");
        assert!(reason.len() > 10, "{file}");
    }
    for source in [
        "use tokio::process::Command;",
        "use std::process::{Command, Stdio};",
        "use std::process;",
        "use std::process::*;",
        "use std::{fs, process::{self}};",
        "fn f() { let _ = std::process::Command::new(\"x\"); }",
        "fn f() { use tokio::process::Command as C; }",
    ] {
        let found = check(Path::new("src/tools/x.rs"), &format!("//! x\n{source}"));
        assert!(found.iter().any(|breach| breach.what.contains("starts programs")), "{source}: {found:?}");
    }
    for source in ["use std::process::{ExitCode, Stdio, id};", "use crate::sandbox::Command;"] {
        assert_eq!(check(Path::new("src/tools/x.rs"), &format!("//! x\n{source}")), [], "{source}");
    }
}

#[test]
fn the_table_holds_together() {
    for (i, room) in HOUSE.iter().enumerate() {
        for seen in room.sees {
            let top = seen.split("::").next().unwrap();
            // A room sees only rooms before it: no circles.
            assert!(HOUSE[..i].iter().any(|before| before.name == top), "{} sees {seen}", room.name);
        }
        for used in room.uses {
            assert!(GUARDED.iter().any(|guarded| begins(used, guarded)), "{}: {used} is not guarded", room.name);
        }
    }
    let screen = ["keymap", "app", "theme", "ui"];
    let engine = ["store", "routes", "provider", "permit", "sandbox", "tools", "sources", "agent", "channels"];
    for room in HOUSE {
        let top = |seen: &&str| seen.split("::").next().unwrap().to_owned();
        let sees: Vec<String> = room.sees.iter().map(top).collect();
        let meets = |names: &[&str]| names.iter().any(|name| sees.iter().any(|seen| seen == name));
        assert!(!(engine.contains(&room.name) && meets(&screen)), "{}", room.name);
        assert!(!(screen.contains(&room.name) && meets(&engine)), "{}", room.name);
        assert!(!(screen.contains(&room.name) && room.uses.iter().any(|used| used.starts_with("std"))));
        assert_eq!(room.uses.contains(&"crossterm"), room.name == "runtime");
    }
}

#[cfg(test)]
mod checker {
    use super::*;

    /// The breaches of a made-up source, as `line: what`.
    fn found(file: &str, source: &str) -> Vec<String> {
        let source = format!("//! Made up.\n{source}");
        check(Path::new(file), &source).iter().map(|b| format!("{}: {}", b.line, b.what)).collect()
    }

    #[test]
    fn neighbours_are_seen_through_the_table_alone() {
        for (file, source) in [
            ("src/domain/x.rs", "use crate::app::State;"),
            ("src/permit/x.rs", "use crate::tools::Tool;"),
            ("src/tools/x.rs", "fn f() -> crate::permit::Grant { todo!() }"),
            ("src/tools/x.rs", "use crate::permit as p;"),
            ("src/store/mod.rs", "use super::provider::Chunk;"),
            ("src/store/x/y.rs", "use super::super::super::provider::Chunk;"),
            ("src/app/x.rs", "use crate::{domain::Mode, agent::Desk};"),
            ("src/app/x.rs", "use crate::{\n    domain::Mode,\n    store::{self, Journal},\n};"),
            ("src/keymap/mod.rs", "use crate::app::state::State;"),
            ("src/ui/x.rs", "use lisle::runtime::start;"),
            ("src/theme/x.rs", "type A = <crate::ui::B as C>::D;"),
            ("src/config/x.rs", "pub use crate::runtime::X;"),
            ("src/agent/x.rs", "crate::ui::draw!();"),
        ] {
            let breaches = found(file, source);
            assert!(
                !breaches.is_empty() && breaches.iter().all(|b| b.contains("must not see")),
                "{file}: {breaches:?}"
            );
        }
        for (file, source) in [
            ("src/domain/x.rs", "use crate::domain::ids::At;\nuse super::tool;"),
            ("src/domain/x/y.rs", "use super::super::tool;"),
            ("src/agent/x.rs", "use crate::{permit, provider::Chunk, store, tools::Tool, domain};"),
            ("src/app/mod.rs", "use crate::keymap::{action::Action, key::Key};"),
            ("src/ui/x.rs", "use crate::{app::State, keymap, theme::Theme};"),
            ("src/store/mod.rs", "mod provider;\nuse self::provider::X;"),
            ("src/main.rs", "fn main() { lisle::cli::main() }"),
            ("src/lib.rs", "pub mod app;"),
        ] {
            assert_eq!(found(file, source), Vec::<String>::new(), "{file}: {source}");
        }
    }

    #[test]
    fn crates_and_parts_of_std_are_used_where_they_may_be() {
        for (file, source) in [
            ("src/domain/x.rs", "use std::fs;"),
            ("src/domain/x.rs", "use std::time::{Duration, Instant};"),
            ("src/permit/x.rs", "fn f() { let _ = std::env::var(); }"),
            ("src/permit/x.rs", "fn f() { ::std::fs::read(); }"),
            ("src/permit/x.rs", "use std::{collections::BTreeSet, fs::File};"),
            ("src/app/x.rs", "use tokio::sync::mpsc;"),
            ("src/app/x.rs", "use ratatui::widgets::Block;"),
            ("src/app/x.rs", "use ratatui::{Frame, style::Style};"),
            ("src/provider/x.rs", "use std::net::TcpStream;"),
            ("src/app/x.rs", "use tokio;"),
            ("src/app/x.rs", "use std::time::SystemTime as Clock;"),
            ("src/keymap/x.rs", "use crossterm::event::KeyCode;"),
            ("src/ui/x.rs", "use crossterm::event::KeyCode;"),
            ("src/ui/x.rs", "use std::fs::read_to_string;"),
            ("src/agent/x.rs", "use ratatui::text::Line;"),
            ("src/agent/x.rs", "use std::process::Command;"),
            ("src/agent/x.rs", "use std::env::{consts, vars};"),
            ("src/agent/machine.rs", "use std::time::Instant;"),
            ("src/agent/machine/x.rs", "fn f() { tokio::spawn(()); }"),
            ("src/routes/maintenance/x.rs", "use std::time::Instant;"),
            ("src/cli/x.rs", "use crossterm::terminal;"),
            ("src/store/x.rs", "use std::process::Command;"),
        ] {
            let breaches = found(file, source);
            assert!(breaches.len() == 1 && breaches[0].contains("must not use"), "{file}: {source}: {breaches:?}");
        }
        for (file, source) in [
            ("src/domain/x.rs", "use std::time::Duration;\nuse std::path::Path;"),
            ("src/store/x.rs", "fn f() -> u32 { std::process::id() }"),
            ("src/tools/x.rs", "use std::process::Stdio;\nuse tokio::process::Child;"),
            ("src/sandbox/x.rs", "use std::process::Stdio;"),
            ("src/app/x.rs", "use tui_textarea::TextArea;\nuse ratatui::style::Style;"),
            ("src/provider/x.rs", "use std::net::IpAddr;"),
            ("src/theme/x.rs", "use ratatui::style::Style;"),
            ("src/runtime/x.rs", "use crossterm::event;\nuse std::env;"),
            ("src/agent/driver.rs", "use tokio::time;"),
            ("src/agent/x.rs", "use std::env::consts;\nfn f() -> &'static str { std::env::consts::OS }"),
            ("src/domain/x.rs", "struct Tokio { env: fs::X }\nmod fs { }"),
        ] {
            assert_eq!(found(file, source), Vec::<String>::new(), "{file}: {source}");
        }
    }

    #[test]
    fn the_line_is_that_of_the_name() {
        let source = "use std::{\n    path::Path,\n    fs,\n};\n\nfn f() {\n    std::env::var(x);\n}";
        assert_eq!(
            found("src/permit/x.rs", source),
            ["4: permit must not use `std::fs`", "8: permit must not use `std::env`"]
        );
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        for source in [
            "// use std::fs;",
            "/* use std::fs; /* std::env::var */ use tokio::x; */",
            "/// [`std::fs::read`]\nfn f() {}",
            "const A: &str = \"std::fs::read\";",
            "const A: &str = \"\\\"; use std::fs; \";",
            "const A: &str = r#\"use \" std::fs;\"#;",
            "const A: char = '\"'; const B: char = '\\''; // std::fs::x",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn f() { unsafe {} }\n}",
            "#[cfg(test)]\nuse std::fs;",
            "#[cfg(test)]\nmod tests;",
        ] {
            assert_eq!(found("src/permit/x.rs", source), Vec::<String>::new(), "{source}");
        }
        for source in [
            "const A: char = '\"'; use std::fs; const B: char = '\"';",
            "fn f<'a>(x: &'a str) {} use std::fs; fn g<'a>() {}",
            "#[cfg(test)]\nmod tests { mod inner {} }\nuse std::fs;",
            "const A: &str = \"\\\\\"; use std::fs;",
            "const A: &str = r\"\\\"; use std::fs;",
            "/* /* */ */ use std::fs;",
        ] {
            assert_eq!(found("src/permit/x.rs", source).len(), 1, "{source}");
        }
        assert_eq!(found("src/permit/tests.rs", "use std::fs;"), Vec::<String>::new());
        assert_eq!(found("src/permit/tests/x.rs", "use std::fs;"), Vec::<String>::new());
    }

    #[test]
    fn unsafe_heads_and_unknown_rooms_are_told() {
        assert_eq!(
            found("src/tools/x.rs", "fn f() {\n    unsafe { g() }\n}"),
            ["3: `unsafe` is allowed in sandbox alone"]
        );
        assert_eq!(found("src/main.rs", "unsafe fn f() {}").len(), 1);
        assert_eq!(found("src/sandbox/x.rs", "unsafe fn f() {}"), Vec::<String>::new());
        assert_eq!(found("src/tools/x.rs", "#![deny(unsafe_code)]\nfn not_unsafe() {}"), Vec::<String>::new());
        assert!(found("src/attic/x.rs", "")[0].contains("no room of the house"));
        let headless = check(Path::new("src/domain/x.rs"), "use std::path::Path;\n");
        assert!(headless.len() == 1 && headless[0].to_string().starts_with("src/domain/x.rs:1: "), "{headless:?}");
    }
}
