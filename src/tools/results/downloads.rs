//! Data that is no text: it goes to the session's `downloads/`, and the model gets its path, kind and size.

use crate::sandbox::own_folders;
use crate::tools::files::{paths, text};
use crate::tools::{CallPlace, files};
use std::path::PathBuf;

/// Data that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Path.
    pub path: PathBuf,
    /// Kind of data, in words.
    pub kind: &'static str,
    /// Size in bytes.
    pub size: u64,
}

/// Keeps the data that `tool` gave below the session's `downloads/`, where only the user can read it. `ending` is the one
/// that its source gave it (`.csv`); without one it goes by what the data is.
///
/// # Errors
/// Reason why it could not be kept, in a few words.
pub fn save(bytes: &[u8], tool: &str, ending: Option<&str>, place: &CallPlace) -> Result<Saved, String> {
    let plain =
        |ending: &&str| !ending.is_empty() && ending.len() <= 8 && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    let ending = ending.map(|ending| ending.trim_start_matches('.')).filter(plain);
    let ending = ending.unwrap_or_else(|| text::extension(bytes)).to_ascii_lowercase();
    let path = create(place, "downloads", tool, &ending, bytes)?;
    Ok(Saved { path, kind: text::kind(bytes), size: bytes.len() as u64 })
}

impl Saved {
    /// The sentence for the model.
    #[must_use]
    pub fn told(&self) -> String {
        format!("It is {} of {}, kept in {}.", self.kind, text::size(self.size), self.path.display())
    }
}

/// Keeps what a command wrote, which is no text: what the model gets in its place.
pub(in crate::tools) fn keep_output(bytes: &[u8], tool: &str, place: &CallPlace) -> String {
    match save(bytes, tool, None, place) {
        Ok(saved) => format!("(The output is no text. {})\n", saved.told()),
        Err(why) => {
            let (kind, size) = (text::kind(bytes), text::size(bytes.len() as u64));
            format!("(The output is no text: it is {kind} of {size}, and could not be kept: {why}.)\n")
        }
    }
}

/// Makes a new private file `TIME_TOOL.ENDING` in a folder of the session.
pub(in crate::tools) fn create(
    place: &CallPlace,
    folder: &str,
    tool: &str,
    ending: &str,
    bytes: &[u8],
) -> Result<PathBuf, String> {
    let time = jiff::Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
    create_named(place, folder, &format!("{time}_{tool}"), ending, bytes)
}

/// Makes a new private file `STEM.ENDING` in a folder of the session, `STEM-2.ENDING` where there is one.
pub(in crate::tools) fn create_named(
    place: &CallPlace,
    folder: &str,
    stem: &str,
    ending: &str,
    bytes: &[u8],
) -> Result<PathBuf, String> {
    let folder = paths::follow(&own_folders::in_session(&place.session_dir, folder)?)?;
    for number in 1..1_000 {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{more}.{ending}"));
        match files::create_private(&path, bytes) {
            Ok(()) => return Ok(path),
            Err(files::FileError::Changed(_)) => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    Err(format!("{} is full of files of this name", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::Bench;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn data_is_kept_privately_and_named_by_what_it_is() {
        let bench = Bench::new();
        let png = b"\x89PNG\r\n\x1a\n\0\0";
        for (ending, expected) in [(None, "png"), (Some(".CSV"), "csv"), (Some("../../etc"), "png"), (Some(""), "png")]
        {
            let saved = save(png, "x", ending, &bench.place).unwrap();
            assert_eq!(saved.path.extension().unwrap(), expected);
            assert!(saved.path.parent().unwrap().ends_with("downloads"));
            assert_eq!(std::fs::metadata(&saved.path).unwrap().mode() & 0o777, 0o600);
            assert_eq!(std::fs::read(&saved.path).unwrap(), png);
            assert!(saved.told().contains("a PNG image of 10 bytes"), "{}", saved.told());
        }
        assert!(keep_output(png, "bash", &bench.place).contains("The output is no text. It is a PNG image"));
    }
}
