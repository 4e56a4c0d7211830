//! Places for the answer of `lisle run` beside stdout: a file, the clipboard.

use super::args::OutputArgs;
use super::exit::Exit;
use super::output::{complain, is_open_or, put_err, sentences};
use crate::domain::SessionId;
use crate::domain::export::Format;
use crate::domain::notice::Level;
use crate::domain::sanitise::clean_line;
use crate::local_time::minute;
use crate::runtime::clipboard::{self, ClipboardOutcome};
use crate::runtime::setup::Bootstrap;
use std::io::IsTerminal;
use std::path::Path;

/// Keeps the answer where that is wanted. The exit of the run, or that of a failure here.
pub(super) async fn keep(
    bootstrap: &Bootstrap,
    run: &OutputArgs,
    answer: &str,
    session: Option<&SessionId>,
    exit: Exit,
) -> Exit {
    let mut exit = exit;
    if let Some(path) = &run.file
        && let Err(why) = write(bootstrap, run, path, answer, session)
    {
        complain(&format!("lisle: can't write {}: {why}", path.display()));
        exit = if exit == Exit::Done { Exit::Failed } else { exit };
    }
    if run.copy && !answer.is_empty() && !is_copied(answer).await && exit == Exit::Done {
        exit = Exit::Failed;
    }
    exit
}

fn write(
    bootstrap: &Bootstrap,
    run: &OutputArgs,
    path: &Path,
    answer: &str,
    session: Option<&SessionId>,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    match session.filter(|_| run.output_session) {
        // Keys are masked there; who wants to know of it exports the session.
        Some(session) => {
            let whole = bootstrap.store.export_to(session, Format::default(), &minute, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            whole.map_err(|error| error.to_string())?;
        }
        None if answer.is_empty() => return Ok(()),
        None => bytes = format!("{answer}\n").into_bytes(),
    }
    std::fs::write(path, bytes).map_err(|error| error.to_string())
}

/// Checks that the answer can be written where it is wanted, before anything is sent. A new file stays, empty.
///
/// # Errors
/// The exit, once the reason was told.
pub(super) fn check(run: &OutputArgs) -> Result<(), Exit> {
    if !is_open_or("Nothing sent.") {
        return Err(Exit::Failed);
    }
    let Some(path) = &run.file else { return Ok(()) };
    // Nothing is cut off before there is an answer.
    match std::fs::OpenOptions::new().create(true).append(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) => {
            complain(&format!("lisle: can't write {}: {error}. Nothing sent.", path.display()));
            Err(Exit::Usage)
        }
    }
}

/// Copies the answer, as far as is known. False if the clipboard does not have it.
async fn is_copied(answer: &str) -> bool {
    let env = |name: &str| std::env::var(name).ok();
    let text = clipboard::clean(answer);
    let asked = if std::io::stderr().is_terminal() {
        match clipboard::sequence(&text, &env) {
            Ok(sequence) => {
                put_err(&sequence);
                ClipboardOutcome::Offered
            }
            Err(why) => why,
        }
    } else {
        ClipboardOutcome::Deaf
    };
    let notice = clipboard::copy(text, clipboard::ways(&env), asked).await;
    complain(&format!("lisle: {}", clean_line(&sentences(&notice.text, &notice.hint))));
    notice.level < Level::Warning
}
