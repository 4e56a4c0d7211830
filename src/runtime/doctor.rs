//! A look at this machine and this installation: what of it lisle can use, and what to do where something is missing. For
//! `lisle doctor` and for `/doctor`.
//!
//! Everything is looked at, nothing is changed but one small file that is written and removed to see whether a folder takes
//! it. Nothing goes over the network, and no key is told. Each finding is put together by one function below, from what the
//! system says.

mod confinement;
mod readable;

pub use confinement::apparmor;
use confinement::megabytes;

use super::graphics::way::{self, Able};
use super::setup::Bootstrap;
use super::terminal_cache::TerminalCache;
use super::{clipboard, renderer};
use crate::domain::count::count;
use crate::domain::finding::Finding;
use std::path::{Path, PathBuf};

/// All that was looked at, in the order to show.
#[must_use]
pub fn findings(bootstrap: &Bootstrap) -> Vec<Finding> {
    let env = |name: &str| std::env::var(name).ok();
    let mut facts = vec![Finding::ok("version", format!("lisle {}", env!("CARGO_PKG_VERSION")))];
    let mut problems = bootstrap.problems.clone();
    let _ = super::keymap_files::keymap(bootstrap, &mut problems);
    // What to do stands in the problem itself.
    facts.extend(problems.iter().map(|problem| Finding::warn("configuration", problem.to_string(), "")));
    facts.extend(folders(bootstrap));
    facts.push(store(bootstrap));
    facts.push(trash(bootstrap));
    facts.push(terminal(&env));
    facts.push(screen(&env));
    facts.extend(tmux(&env));
    facts.push(pictures(&env, bootstrap));
    facts.push(clipboard_ways(&env));
    facts.extend(confinement::findings(bootstrap));
    facts.extend(programs());
    facts.extend(connections(bootstrap));
    facts
}

/// Report on the confinement of commands, by itself.
#[must_use]
pub fn sandbox(bootstrap: &Bootstrap) -> Vec<Finding> {
    confinement::findings(bootstrap)
}

/// Checks that a folder, or the nearest existing one above it, takes a file.
fn takes_a_file(folder: &Path) -> Result<(), String> {
    let there = folder.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    let probe = there.join(format!(".lisle-doctor-{}", std::process::id()));
    match std::fs::File::create_new(&probe) {
        Ok(_) => std::fs::remove_file(&probe).map_err(|e| format!("{}: {e}", probe.display())),
        Err(error) => Err(format!("{}: {error}", there.display())),
    }
}

fn folders(bootstrap: &Bootstrap) -> Vec<Finding> {
    let paths = &bootstrap.paths;
    let mut out: Vec<Finding> = [("config", &paths.config), ("data", &paths.data), ("state", &paths.state)]
        .into_iter()
        .map(|(about, folder)| match takes_a_file(folder) {
            Ok(()) => Finding::ok(about, folder.display().to_string()),
            Err(why) => Finding::broken(
                about,
                format!("can't write {} ({why})", folder.display()),
                "Check its owner and permissions, or set LISLE_HOME to another folder",
            ),
        })
        .collect();
    let cwd = bootstrap.cwd();
    out.push(match takes_a_file(cwd) {
        Ok(()) => Finding::ok("directory", cwd.display().to_string()),
        Err(why) => Finding::warn("directory", format!("can't write {} ({why})", cwd.display()), "Use --cwd DIR"),
    });
    out
}

fn store(bootstrap: &Bootstrap) -> Finding {
    let cached = bootstrap.store.cached().map(|(sessions, _)| sessions.len());
    let listing = bootstrap.store.list();
    let odd = listing.sessions.iter().filter(|meta| !meta.odd.is_empty()).count();
    let cached = match cached {
        Some(count) => format!("{count} in the cache"),
        None => "no cache yet".to_owned(),
    };
    let foreign = if bootstrap.store.is_foreign() { ", created by another program" } else { "" };
    let says = format!(
        "{} ({}): {}, {cached}{foreign}",
        bootstrap.store.workspace_name(),
        bootstrap.workspace().display(),
        count(listing.sessions.len(), "session", "sessions")
    );
    if odd > 0 {
        return Finding::warn("workspace", format!("{says}; {odd} with problems"), "Run lisle sessions verify");
    }
    match listing.notices.first() {
        Some(notice) => Finding::warn("workspace", format!("{says}; {}", notice.text), notice.hint.clone()),
        None => Finding::ok("workspace", says),
    }
}

fn trash(bootstrap: &Bootstrap) -> Finding {
    let all = bootstrap.store.trash();
    let bytes: u64 = all.iter().map(|one| one.bytes).sum();
    let days = bootstrap.settings.inbox.trash_days;
    Finding::ok(
        "trash",
        format!("{}, {}, each kept for {days} days", count(all.len(), "session", "sessions"), megabytes(bytes)),
    )
}

fn terminal(env: &dyn Fn(&str) -> Option<String>) -> Finding {
    let set = |name: &&str| env(name).is_some_and(|value| !value.is_empty());
    let term = env("TERM").unwrap_or_default();
    let around: Vec<&str> = ["TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "TERM_PROGRAM", "COLORTERM", "NO_COLOR"]
        .into_iter()
        .filter(set)
        .collect();
    let around = if around.is_empty() { String::new() } else { format!("; set: {}", around.join(", ")) };
    // In the app its own streams may lead elsewhere.
    let of_terminal = || std::fs::File::open("/dev/tty").ok().and_then(|tty| rustix::termios::tcgetwinsize(tty).ok());
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok().or_else(of_terminal);
    let size =
        size.map(|size| format!("{}x{}", size.ws_col, size.ws_row)).unwrap_or_else(|| "not a terminal".to_owned());
    let colors = match renderer::colors(env) {
        crate::theme::Colors::True => "true color",
        crate::theme::Colors::C256 => "256 colors",
        crate::theme::Colors::C16 => "16 colors",
        crate::theme::Colors::None => "no colors",
    };
    let says = format!("TERM={term}, {colors}, {size}{around}");
    if term.is_empty() || term == "dumb" {
        return Finding::warn("terminal", says, "Full screen needs a terminal; use `lisle run` without one");
    }
    Finding::ok("terminal", says)
}

fn screen(env: &dyn Fn(&str) -> Option<String>) -> Finding {
    match renderer::glyphs(env) {
        crate::ui::glyphs::GlyphSet::Unicode => Finding::ok("characters", "UTF-8"),
        crate::ui::glyphs::GlyphSet::Ascii => Finding::warn(
            "characters",
            "ASCII: the locale is not UTF-8, or this is the Linux console",
            "Set LANG to a UTF-8 locale, or `glyphs = \"unicode\"` in [ui]",
        ),
    }
}

/// Options of tmux that stand in the way, if lisle runs in it.
fn tmux(env: &dyn Fn(&str) -> Option<String>) -> Vec<Finding> {
    if env("TMUX").is_none_or(|value| value.is_empty()) {
        return Vec::new();
    }
    let asked = std::process::Command::new("tmux")
        .args(["display-message", "-p", "#{client_control_mode};#{focus-events};#{escape-time};#{extended-keys}"])
        .stdin(std::process::Stdio::null())
        .output();
    match asked {
        Ok(said) if said.status.success() => tmux_says(&String::from_utf8_lossy(&said.stdout)),
        _ => vec![Finding::warn("tmux", "no response", "Try `tmux display-message -p hello`")],
    }
}

/// Milliseconds after ESC that nobody notices.
const ESCAPE_TIME: u32 = 50;

/// Control mode, focus events, the wait after ESC and the keys of tmux.
fn tmux_says(said: &str) -> Vec<Finding> {
    let mut said = said.trim().split(';');
    let [control, focus, escape, keys] = std::array::from_fn(|_| said.next().unwrap_or(""));
    let on = |word: &str| matches!(word.trim(), "1" | "on");
    let mut out = Vec::new();
    if on(control) {
        let says = "control mode (-CC) breaks full-screen programs";
        out.push(Finding::warn("tmux", says, "Attach without -CC, or use lisle --linear"));
    }
    if on(focus) {
        out.extend(out.is_empty().then(|| Finding::ok("tmux", "reports focus")));
    } else {
        let says = "focus-events is off: no notifications while you are in another window";
        out.push(Finding::warn("tmux", says, "Add `set -g focus-events on` to tmux.conf"));
    }
    if let Some(wait) = escape.parse::<u32>().ok().filter(|wait| *wait > ESCAPE_TIME) {
        let says = format!("escape-time is {wait}: Esc is delayed by {wait} ms");
        out.push(Finding::warn("tmux", says, "Add `set -s escape-time 10` to tmux.conf"));
    }
    if keys == "off" {
        let says = "extended-keys is off: Shift+Enter and Ctrl+Backspace arrive as Enter and Backspace";
        out.push(Finding::warn("tmux", says, "Add `set -s extended-keys on` to tmux.conf"));
    }
    out
}

/// In which way pictures are drawn. The terminal is not asked here: what it answered last time counts.
fn pictures(env: &dyn Fn(&str) -> Option<String>, bootstrap: &Bootstrap) -> Finding {
    let var = |name| env(name).unwrap_or_default();
    let known = TerminalCache::of(&bootstrap.paths.state, &var("TERM"), &var("TERM_PROGRAM")).recall();
    drawn(&way::choose(bootstrap.settings.ui.pictures, env, &known.pictures), known.pictures == Able::default())
}

fn drawn(choice: &way::Choice, never_asked: bool) -> Finding {
    let says = match choice.way {
        Some(way) => format!("shown inline with {}: {}", way.name(), choice.why),
        None if never_asked => format!("not shown inline: {} (detected on the first run in this terminal)", choice.why),
        None => format!("not shown inline: {}", choice.why),
    };
    Finding::ok("images", says)
}

fn clipboard_ways(env: &dyn Fn(&str) -> Option<String>) -> Finding {
    let mut ways: Vec<String> = Vec::new();
    let mut missing = Vec::new();
    for (_, command) in clipboard::ways(env) {
        let Some(program) = command.first() else { continue };
        if ways.iter().any(|way| way == program) || missing.contains(program) {
            continue;
        }
        if find(program).is_some() { ways.push((*program).to_owned()) } else { missing.push(*program) }
    }
    if clipboard::hears(env) {
        ways.push("terminal (OSC 52, unconfirmed)".to_owned());
    } else if ways.is_empty() {
        let says = "none: this terminal blocks OSC 52";
        return Finding::warn("clipboard", says, "Install wl-copy or xclip, or use tmux");
    }
    let says = format!("in this order: {}", ways.join(", "));
    if missing.is_empty() {
        Finding::ok("clipboard", says)
    } else {
        Finding::warn("clipboard", says, format!("Install {}", missing.join(", ")))
    }
}

fn programs() -> Vec<Finding> {
    let shown = |path: PathBuf| path.display().to_string();
    let mut out = Vec::new();
    for (name, needed) in [
        ("bash", "Commands run in /bin/sh; none counts as read-only"),
        ("git", "No worktrees"),
        ("rg", ""),
        ("fd", ""),
        ("jq", ""),
    ] {
        out.push(match (find(name), needed) {
            (Some(path), _) => Finding::ok(name, shown(path)),
            (None, "") => Finding::ok(name, "optional, not installed; agents use it where it is"),
            (None, why) => Finding::warn(name, "not installed", format!("{why}; install {name}")),
        });
    }
    out
}

/// The file that a name stands for by the search path.
fn find(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0))
}

fn connections(bootstrap: &Bootstrap) -> Vec<Finding> {
    let infos = bootstrap.connection_infos();
    let usable = bootstrap.usable_connection();
    let mut out: Vec<Finding> = infos
        .into_iter()
        .map(|info| {
            let name = format!("{} ({})", info.name, info.provider);
            match (info.missing, info.offered) {
                (None, false) => {
                    Finding::ok("connection", format!("{name}: set up; not asked (the doctor sends nothing)"))
                }
                (None, true) => Finding::ok("connection", format!("{name}: found, not in use")),
                (Some(why), _) => Finding::warn("connection", format!("{name}: not usable"), why),
            }
        })
        .collect();
    if let Err(why) = usable {
        // The line says already that none was chosen, or is there.
        let said = ["no connection chosen, ", "none found. "];
        let why = said.iter().fold(why.as_str(), |why, said| why.strip_prefix(said).unwrap_or(why));
        out.push(Finding::warn("connection", "none chosen", why));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_takes_nothing_is_broken_and_the_probe_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(takes_a_file(&dir.path().join("not/there/yet")), Ok(()));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(takes_a_file(Path::new("/proc/self")).is_err());
    }

    #[test]
    fn what_tmux_keeps_back_is_told() {
        let told = |said| tmux_says(said).iter().map(|one| one.advice.clone()).collect::<Vec<_>>();
        assert_eq!(told("0;1\n"), [""], "all is well");
        assert_eq!(told(";0\n").len(), 1);
        assert!(told("1;on\n")[0].contains("--linear"));
        assert_eq!(told("1;0\n").len(), 2);
        assert!(told("\n")[0].contains("focus-events"), "an old one knows neither");
        assert_eq!(told("0;1;10;on\n"), [""]);
        let late = told("0;1;500;off\n");
        assert!(late[1].contains("escape-time") && late[2].contains("extended-keys"), "{late:?}");
        assert!(tmux(&|_| None).is_empty(), "nothing is asked outside of tmux");
    }

    #[test]
    fn how_pictures_are_drawn_is_said_with_the_reason() {
        let able = Able { sixel: true, cell: Some((10, 20)), ..Able::default() };
        let choose = |term: &'static str, able| {
            let env = move |name: &str| (name == "TERM").then(|| term.to_owned());
            drawn(&way::choose(crate::config::settings::Pictures::Auto, &env, &able), able == Able::default()).says
        };
        assert_eq!(choose("foot", able), "shown inline with sixel: reported by the terminal");
        let between = choose("tmux-256color", able);
        assert!(between.starts_with("not shown inline: tmux") && !between.contains("once"), "{between}");
        assert!(choose("xterm", Able::default()).ends_with("(detected on the first run in this terminal)"));
    }

    #[test]
    fn amounts_are_short() {
        assert_eq!(megabytes(0), "0.0 MB");
        assert_eq!(megabytes(1_250_000), "1.2 MB");
    }
}
