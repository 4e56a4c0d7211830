//! `lisle auth`: stores the keys of connections, lists where they come from and where they go, and takes them out. It prints none.

use super::args::{AuthAdd, AuthCommand};
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::config::connections::{KeyFrom, Usable};
use crate::config::{Credentials, credentials};
use crate::domain::ConnectionName;
use crate::domain::sanitise::clean_line;
use crate::domain::secret::Key;
use crate::runtime::setup::Bootstrap;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use serde::Serialize;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};

/// Maximum length of a key.
const LONGEST: u64 = 16_384;

pub(super) async fn run(bootstrap: &Bootstrap, command: AuthCommand) -> Exit {
    match command {
        AuthCommand::Add(args) => add(bootstrap, &args).await,
        AuthCommand::List(args) => list(bootstrap, args.json),
        AuthCommand::Remove(args) => remove(bootstrap, &args.name),
    }
}

/// Connections that take a key, with those that a vendor's key alone would make.
fn all(bootstrap: &Bootstrap) -> Vec<Usable> {
    let connections = bootstrap.connections();
    let known = connections.all.iter().filter(|one| !one.host().is_empty()).cloned();
    known.chain(connections.vendors_without_key()).collect()
}

async fn add(bootstrap: &Bootstrap, args: &AuthAdd) -> Exit {
    let name = &args.name;
    let known = all(bootstrap);
    let Some(one) = known.iter().find(|one| one.name == *name) else {
        let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
        complain(&format!(
            "lisle: no connection {:?} takes a key. Available: {}. Add more in {}.",
            name.as_str(),
            names.join(", "),
            bootstrap.paths.config_file().display()
        ));
        return Exit::Usage;
    };
    let host = clean_line(&one.host()).into_owned();
    let written = match read_key(&format!("API key for {name}, sent only to {host} (hidden): ")) {
        Ok(Some(written)) => written,
        Ok(None) => {
            complain("lisle: nothing stored");
            return Exit::Interrupted;
        }
        Err(error) => {
            complain(&format!("lisle: can't read the key: {error}"));
            return Exit::Failed;
        }
    };
    let checked = match Key::new(&written).filter(|_| !args.no_check) {
        Some(key) => bootstrap.check_key(name, key).await,
        None => Ok(None),
    };
    let checked = match checked {
        Ok(Some(Ok(_))) => "the server accepts it".to_owned(),
        Ok(Some(Err(why))) => format!("not checked: {}", clean_line(&why).trim_end_matches('.')),
        Ok(None) => "not checked".to_owned(),
        Err(why) => {
            complain(&format!("lisle: {host} refused the key, nothing stored: {}", clean_line(&why)));
            return Exit::Failed;
        }
    };
    let file = bootstrap.paths.credentials_file();
    match credentials::store(&file, name, Some(&written)) {
        Ok(()) => {
            let file = file.display();
            complain(&format!("Stored the key for {name} in {file} ({checked}); it is sent only to {host}."));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: {error}."));
            Exit::Failed
        }
    }
}

fn remove(bootstrap: &Bootstrap, name: &ConnectionName) -> Exit {
    let file = bootstrap.paths.credentials_file();
    if !Credentials::read(&file).0.names().any(|stored| stored == name) {
        complain(&format!("lisle: no key in {} for {:?}", file.display(), name.as_str()));
        return Exit::Failed;
    }
    match credentials::store(&file, name, None) {
        Ok(()) => {
            complain(&format!("Removed the key for {name}."));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: {error}."));
            Exit::Failed
        }
    }
}

/// A line of the list.
#[derive(Serialize)]
struct AuthRow {
    connection: String,
    host: String,
    /// `stored`, `environment` or `none`.
    key: &'static str,
    /// The variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
    /// Reason why the connection cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

fn list(bootstrap: &Bootstrap, json: bool) -> Exit {
    let connections = all(bootstrap);
    let mut rows: Vec<AuthRow> = connections.iter().map(row).collect();
    // A key whose connection is gone is worth knowing of.
    let (stored, _) = Credentials::read(&bootstrap.paths.credentials_file());
    let lost = stored.names().filter(|name| !connections.iter().any(|one| one.name == **name));
    rows.extend(lost.map(|name| AuthRow {
        connection: name.to_string(),
        host: String::new(),
        key: "stored",
        variable: None,
        missing: Some("no such connection".to_owned()),
    }));
    if json {
        return print_json(&rows);
    }
    let width = rows.iter().map(|row| row.connection.chars().count()).max().unwrap_or(0);
    let hosts = rows.iter().map(|row| row.host.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in &rows {
        let key = match (row.key, &row.variable, &row.missing) {
            ("none", _, None) => "no key".to_owned(),
            ("none", _, Some(missing)) => missing.clone(),
            (_, Some(variable), _) => format!("from {variable}"),
            (_, None, Some(missing)) => format!("stored, but {missing}"),
            (_, None, None) => "stored".to_owned(),
        };
        let line = format!("{:width$}  {:hosts$}  {key}", row.connection, row.host);
        text.push_str(clean_line(line.trim_end()).as_ref());
        text.push('\n');
    }
    say(&text);
    Exit::Done
}

fn row(one: &Usable) -> AuthRow {
    let (key, variable) = match &one.key_from {
        Some(KeyFrom::Stored) => ("stored", None),
        Some(KeyFrom::Variable(name)) => ("environment", Some(name.clone())),
        None => ("none", None),
    };
    AuthRow { connection: one.name.to_string(), host: one.host(), key, variable, missing: one.missing.clone() }
}

/// The key as it is written or piped in; `None` when the user gave up.
fn read_key(prompt: &str) -> std::io::Result<Option<String>> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let mut text = String::new();
        stdin.lock().take(LONGEST).read_to_string(&mut text)?;
        return Ok(Some(text));
    }
    // The terminal itself: what is printed elsewhere may be kept.
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    terminal.write_all(prompt.as_bytes())?;
    let read = unseen(&terminal);
    terminal.write_all(b"\r\n")?;
    read
}

/// Reads a line of which the terminal shows nothing. Byte by byte and without signals, so that the terminal is always given back as it
/// was.
fn unseen(terminal: &File) -> std::io::Result<Option<String>> {
    let before = tcgetattr(terminal)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
    hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
    hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
    let line = line(terminal);
    tcsetattr(terminal, OptionalActions::Flush, &before)?;
    line
}

/// A line, with what a terminal's own editing would do: backspace, Ctrl+U; Ctrl+C, Ctrl+D and Esc give up.
fn line(mut from: impl Read) -> std::io::Result<Option<String>> {
    let mut text: Vec<u8> = Vec::new();
    let mut byte = [0];
    loop {
        if from.read(&mut byte)? == 0 {
            return Ok(None);
        }
        match byte {
            [b'\r' | b'\n'] => return Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            [0x03 | 0x04 | 0x1b] => return Ok(None),
            [0x08 | 0x7f] => drop(text.pop()),
            [0x15] => text.clear(),
            [other] if u64::try_from(text.len()).unwrap_or(u64::MAX) < LONGEST => text.push(other),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_and_given_up() {
        let read = |bytes: &[u8]| line(bytes).unwrap();
        assert_eq!(read(b"sk-12\x7f\rmore").as_deref(), Some("sk-1"));
        assert_eq!(read(b"wrong\x15right\n").as_deref(), Some("right"));
        for gone in [&b"sk\x03"[..], b"sk\x04", b"\x1b", b"sk"] {
            assert_eq!(read(gone), None);
        }
    }
}
