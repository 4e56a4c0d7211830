//! The message of `lisle run`: its words, and what is piped in behind them.
//!
//! A pipe that stays open and sends nothing belongs to whoever started lisle, not to the message: it is left alone, unless
//! "-" asks for it.

use super::output::complain;
use crate::domain::message::UserText;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufRead, IsTerminal};
use std::time::Duration;

/// The wait for stdin is mentioned after this time.
const MENTIONED: Duration = Duration::from_secs(1);
/// Silence of a pipe that has sent something, after which it is mentioned.
const SILENT: Duration = Duration::from_secs(2);
/// A pipe that has sent nothing until then is left alone.
const GIVEN_UP: Duration = Duration::from_secs(3);

/// Bytes of stdin: no model takes more as one message.
const MOST_BYTES: usize = 16_000_000;

/// Words of the command line.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    text: String,
    /// "-" stands among them: stdin is waited for.
    stdin: bool,
}

impl Words {
    fn of(words: &[String]) -> Self {
        let is_mark = |word: Option<&String>| word.is_some_and(|word| word == "-");
        let (first, last) = (is_mark(words.first()), is_mark(words.last()));
        let from = usize::from(first);
        let to = words.len().saturating_sub(usize::from(last)).max(from);
        let text = words.get(from..to).unwrap_or_default().join(" ");
        Self { text, stdin: first || last }
    }
}

/// The message. Blocks until stdin has ended, where it is read. Without words stdin is the message, unless it is `enough`
/// to have none.
///
/// # Errors
/// When stdin cannot be read.
pub(super) fn read(words: &[String], enough: bool) -> io::Result<UserText> {
    let Words { text, stdin } = Words::of(words);
    let input = io::stdin();
    if input.is_terminal() && !stdin {
        // Whoever types nothing at a terminal made a mistake, and is not kept waiting.
        return Ok(text.into());
    }
    let waits = if stdin || (text.is_empty() && !enough) { Waits::ToTheEnd } else { Waits::ForAByte };
    let piped = if has_come(&input, waits)? { whole(&input)? } else { String::new() };
    Ok(join(text, &piped))
}

fn join(text: String, piped: &str) -> UserText {
    let piped = piped.trim_end();
    let own = text.len();
    let whole = match (text.is_empty(), piped.trim().is_empty()) {
        (_, true) => return text.into(),
        (true, false) => piped.to_owned(),
        (false, false) => format!("{text}\n\n{piped}"),
    };
    // Whoever wrote what is piped in names no host for the user.
    UserText { piped: Some(own), ..whole.into() }
}

/// Wait for stdin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// Until it sends something or is closed.
    ToTheEnd,
    /// Not much longer than whoever pipes something in needs for the first byte.
    ForAByte,
}

/// Waits until there is something to read, the end included. False when nothing came.
fn has_come(input: &io::Stdin, waits: Waits) -> io::Result<bool> {
    if is_ready(input, Some(MENTIONED))? {
        return Ok(true);
    }
    match waits {
        Waits::ToTheEnd => {
            complain("lisle: reading the rest of the message from stdin; Ctrl+D ends it.");
            is_ready(input, None)
        }
        Waits::ForAByte => {
            complain("lisle: waiting for stdin (an open pipe); use \"< /dev/null\" to skip.");
            let came = is_ready(input, Some(GIVEN_UP.saturating_sub(MENTIONED)))?;
            if !came {
                complain(&format!(
                    "lisle: nothing on stdin for {} s; sending without it. End the message with \"-\" to wait.",
                    GIVEN_UP.as_secs()
                ));
            }
            Ok(came)
        }
    }
}

fn is_ready(input: &io::Stdin, within: Option<Duration>) -> io::Result<bool> {
    let within = within.map(Timespec::try_from).transpose().map_err(|_| io::ErrorKind::InvalidInput)?;
    loop {
        let mut fds = [PollFd::new(input, PollFlags::IN)];
        match poll(&mut fds, within.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// All of stdin. Says once that it waits, where it was sent something and stays open without a word.
fn whole(input: &io::Stdin) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut lock = input.lock();
    let mut told = false;
    let too_long = || {
        let text = format!("it is longer than {} MB. Pass a file with --attach instead", MOST_BYTES / 1_000_000);
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    loop {
        if !told && !is_ready(input, Some(SILENT))? {
            told = true;
            complain("lisle: waiting for stdin to close.");
        }
        // What has come, without waiting for more.
        let came = lock.fill_buf()?;
        if came.is_empty() {
            return Ok(text_of(bytes));
        }
        bytes.extend_from_slice(came);
        if bytes.len() > MOST_BYTES {
            return Err(too_long());
        }
        let length = came.len();
        lock.consume(length);
    }
}

/// Text of what was piped in. What is not UTF-8 is replaced, and that is said.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let at = error.utf8_error().valid_up_to();
        complain(&format!("lisle: stdin is not UTF-8 from byte {at} on; U+FFFD stands for what is unreadable."));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_at_either_end_asks_for_stdin() {
        for (words, text, stdin) in [
            (&["fix", "it"][..], "fix it", false),
            (&["-"], "", true),
            (&["review", "this", "-"], "review this", true),
            (&["-", "what", "is", "this"], "what is this", true),
            (&["-", "-"], "", true),
            (&["a", "-", "b"], "a - b", false),
            (&["-x"], "-x", false),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(Words::of(&words), Words { text: text.to_owned(), stdin }, "{words:?}");
        }
    }

    #[test]
    fn what_was_piped_in_stands_behind_the_words() {
        for (text, piped, whole) in [
            ("what is this?", "a text\n", "what is this?\n\na text"),
            ("what is this?", " \n", "what is this?"),
            ("", "  a text\n\n", "  a text"),
            ("", "", ""),
        ] {
            let joined = join(text.to_owned(), piped);
            assert_eq!(
                (joined.text.as_str(), joined.own()),
                (whole, if piped.trim().is_empty() { whole } else { text })
            );
        }
    }
}
