//! All ways to a clipboard that there are, and the words that tell which of them were taken.
//!
//! The terminal's own way (OSC 52) is never confirmed; programs say whether they took the text.

use crate::domain::sanitise;
use crate::domain::{Level, Notice};
use crossterm::Command as _;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Terminals drop longer sequences: xterm's limit is the smallest of the known ones that is not a mistake.
const LONGEST_OSC_52: usize = 74_000;
/// GNU screen takes strings of up to 768 bytes.
const SCREEN_TAKES: usize = 512;
/// A program that does not take the text in this time will not.
const PATIENCE: Duration = Duration::from_secs(2);

/// A program that takes text on its input, by its name for the user.
type Way = (&'static str, &'static [&'static str]);

/// Text to copy, without anything that a terminal or a shell's line editor would act on.
#[must_use]
pub fn clean(text: &str) -> String {
    sanitise::clean(text).chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// Result of asking the terminal itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipboardOutcome {
    /// It was asked; terminals do not say whether they took it.
    Offered,
    /// The text is longer than terminals take.
    TooLong,
    /// It is known to have no such way, or there is no screen to ask through.
    Deaf,
}

/// The sequence that asks this terminal to take the text, or why there is none.
///
/// # Errors
/// [`ClipboardOutcome::TooLong`] or [`ClipboardOutcome::Deaf`].
pub fn sequence(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, ClipboardOutcome> {
    if !hears(env) {
        return Err(ClipboardOutcome::Deaf);
    }
    let whole = osc_52(text).ok_or(ClipboardOutcome::TooLong)?;
    Ok(if in_screen(env) { through_screen(&whole) } else { whole })
}

/// The terminal may have OSC 52: it is not one of those that are known to have none (the Linux console, Apple's Terminal,
/// all with VTE as GNOME's).
#[must_use]
pub fn hears(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let var = |name| env(name).unwrap_or_default();
    // A multiplexer takes it itself, whatever it is in.
    let between = !var("TMUX").is_empty() || !var("ZELLIJ").is_empty();
    between || (var("TERM") != "linux" && var("VTE_VERSION").is_empty() && var("TERM_PROGRAM") != "Apple_Terminal")
}

fn in_screen(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let var = |name| env(name).unwrap_or_default();
    var("TMUX").is_empty() && (!var("STY").is_empty() || var("TERM").starts_with("screen"))
}

/// GNU screen hands strings on, in pieces: of a longer one it prints the rest on the screen.
fn through_screen(sequence: &str) -> String {
    let whole = sequence.replace("\x1b\\", "\x07");
    // The text of the sequence is ASCII.
    whole
        .as_bytes()
        .chunks(SCREEN_TAKES)
        .map(|piece| format!("\x1bP{}\x1b\\", String::from_utf8_lossy(piece)))
        .collect()
}

/// The sequence that asks the terminal to take the text; `None` when it is too long for that.
#[must_use]
pub fn osc_52(text: &str) -> Option<String> {
    let mut out = String::new();
    crossterm::clipboard::CopyToClipboard::to_clipboard_from(text).write_ansi(&mut out).ok()?;
    (out.len() <= LONGEST_OSC_52).then_some(out)
}

/// The programs that can take text here, by the variables of the environment.
#[must_use]
pub fn ways(env: &dyn Fn(&str) -> Option<String>) -> Vec<Way> {
    let has = |name| env(name).is_some_and(|value| !value.is_empty());
    let mut ways: Vec<Way> = Vec::new();
    if has("TMUX") {
        // -w gives it to the outer terminal too, from tmux 3.2 on; of two ways to one place the first that works counts.
        ways.push(("the tmux buffer", &["tmux", "load-buffer", "-w", "-"]));
        ways.push(("the tmux buffer", &["tmux", "load-buffer", "-"]));
    }
    if cfg!(target_os = "macos") && !has("SSH_CONNECTION") {
        ways.push(("the clipboard", &["pbcopy"]));
    }
    if has("TERMUX_VERSION") {
        ways.push(("the clipboard", &["termux-clipboard-set"]));
    }
    if has("WAYLAND_DISPLAY") {
        ways.push(("the clipboard", &["wl-copy"]));
    } else if has("DISPLAY") {
        ways.push(("the clipboard", &["xclip", "-selection", "clipboard"]));
    }
    ways
}

/// Gives the text to these programs and tells what came of it, and of the terminal's own way.
pub async fn copy(text: String, ways: Vec<Way>, asked: ClipboardOutcome) -> Notice {
    let mut confirmed = Vec::new();
    for (name, command) in ways {
        if !confirmed.contains(&name) && give(&text, command).await {
            confirmed.push(name);
        }
    }
    told(&text, &confirmed, asked)
}

fn told(text: &str, confirmed: &[&str], asked: ClipboardOutcome) -> Notice {
    let lines = text.lines().count();
    let what = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    let confirmed = confirmed.join(" and ");
    match (confirmed.is_empty(), asked) {
        (false, ClipboardOutcome::Offered) => {
            Notice::new(Level::Info, format!("Copied {what} to {confirmed} and the terminal (OSC 52, unconfirmed)"))
        }
        (false, _) => Notice::new(Level::Info, format!("Copied {what} to {confirmed}")),
        (true, ClipboardOutcome::Offered) => Notice::new(Level::Info, format!("Copied {what} (OSC 52, unconfirmed)"))
            .hint("If it doesn't paste, the terminal blocks OSC 52"),
        (true, ClipboardOutcome::TooLong) => {
            Notice::new(Level::Warning, format!("Not copied: {what}, too long for the terminal's clipboard"))
                .hint("copy less, or install wl-copy, xclip or tmux")
        }
        (true, ClipboardOutcome::Deaf) => {
            Notice::new(Level::Warning, format!("Not copied: {what}, this terminal blocks clipboard access"))
                .hint("install wl-copy or xclip, or use tmux")
        }
    }
}

async fn give(text: &str, command: &[&str]) -> bool {
    let Some((program, args)) = command.split_first() else { return false };
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut child) = child else { return false };
    let done = async {
        let mut input = child.stdin.take()?;
        input.write_all(text.as_bytes()).await.ok()?;
        drop(input);
        child.wait().await.ok().filter(std::process::ExitStatus::success)
    };
    tokio::time::timeout(PATIENCE, done).await.ok().flatten().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_carries_the_text_and_only_text_that_fits() {
        assert_eq!(osc_52("hello\n").as_deref(), Some("\x1b]52;c;aGVsbG8K\x1b\\"));
        assert_eq!(osc_52(&"x".repeat(60_000)), None);
    }

    #[test]
    fn terminals_that_have_no_such_way_are_not_asked_and_screen_gets_pieces() {
        let ask = |text: &str, pairs: &[(&str, &str)]| {
            sequence(text, &|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        let plain = Ok("\x1b]52;c;aGVsbG8K\x1b\\".to_owned());
        assert_eq!(ask("hello\n", &[("TERM", "xterm-256color")]), plain);
        assert_eq!(ask("hello\n", &[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]), Err(ClipboardOutcome::Deaf));
        assert_eq!(ask("hello\n", &[("TERM", "linux")]), Err(ClipboardOutcome::Deaf));
        assert_eq!(ask("hello\n", &[("TERM_PROGRAM", "Apple_Terminal")]), Err(ClipboardOutcome::Deaf));
        let tmux = [("TERM", "tmux-256color"), ("TMUX", "/tmp/x"), ("VTE_VERSION", "7600")];
        assert_eq!(ask("hello\n", &tmux), plain, "tmux takes it");
        assert_eq!(ask(&"x".repeat(60_000), &tmux), Err(ClipboardOutcome::TooLong));
        let screen = ask(&"x".repeat(3_000), &[("TERM", "screen"), ("STY", "1.x")]).unwrap();
        let pieces: Vec<&str> =
            screen.split_terminator("\x1b\\").map(|piece| piece.strip_prefix("\x1bP").unwrap()).collect();
        assert!(pieces.len() > 7 && pieces.iter().all(|piece| piece.len() <= SCREEN_TAKES), "{}", pieces.len());
        let whole = pieces.concat();
        assert_eq!(whole, osc_52(&"x".repeat(3_000)).unwrap().replace("\x1b\\", "\x07"));
    }

    #[test]
    fn what_is_copied_holds_no_controls() {
        let copied = clean("a\tb\nc\u{1b}]0;x\u{7}d\u{9b}1m\r");
        assert!(copied.starts_with("a\tb\nc"), "{copied:?}");
        assert!(copied.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{copied:?}");
    }

    #[test]
    fn programs_are_known_by_the_environment() {
        let names = |set: &'static [&'static str]| {
            ways(&move |name| set.contains(&name).then(|| "1".to_owned())).iter().map(|(_, c)| c[0]).collect::<Vec<_>>()
        };
        assert_eq!(names(&["TMUX", "WAYLAND_DISPLAY", "DISPLAY", "SSH_CONNECTION"]), ["tmux", "tmux", "wl-copy"]);
        assert_eq!(names(&["DISPLAY", "SSH_CONNECTION"]), ["xclip"]);
        assert_eq!(names(&["SSH_CONNECTION"]), Vec::<&str>::new());
    }

    #[tokio::test]
    async fn the_words_say_what_is_confirmed() {
        let text = || "one\ntwo".to_owned();
        let taken: Way = ("the tmux buffer", &["cat"]);
        let missing: Way = ("the clipboard", &["/no/such/program"]);
        let failing: Way = ("the clipboard", &["false"]);
        let notice = copy(text(), vec![taken, missing], ClipboardOutcome::Offered).await;
        assert_eq!(notice.text, "Copied 2 lines to the tmux buffer and the terminal (OSC 52, unconfirmed)");
        let notice = copy(text(), vec![failing], ClipboardOutcome::Offered).await;
        assert!(notice.text.contains("unconfirmed") && !notice.hint.is_empty(), "{notice:?}");
        assert_eq!(copy(text(), vec![missing], ClipboardOutcome::TooLong).await.level, Level::Warning);
    }
}
