//! Inputs of a source's start: its configuration with the variables filled in, and the values that are shown nowhere because of
//! them.

use super::config::{Launch, SourceConfig, filled};
use super::hidden_values::HiddenValues;
use super::program::{self, ProgramOrder};
use super::surroundings::{Reach, Surroundings};
use crate::domain::secret::is_secret_variable;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Variables whose values everybody knows. Each other one may be a key, and its value is hidden.
const KNOWN: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "PWD",
    "SHELL",
    "LANG",
    "TERM",
    "TMPDIR",
    "TZ",
    "EDITOR",
    "PROJECT",
    "WORKSPACE",
    "SOURCE_DIR",
    "SOURCE_DATA",
];

/// A launch with its variables filled in.
pub(super) enum FilledLaunch {
    Program(ProgramOrder),
    Http { url: String, headers: BTreeMap<String, String> },
}

/// Fills a launch in. The values that are to be hidden come also where it fails.
pub(super) fn fill(
    source: &SourceConfig,
    (cwd, reach): (&Path, Reach),
    around: &Surroundings,
) -> (HiddenValues, Result<FilledLaunch, String>) {
    let used = RefCell::new(Vec::new());
    let variable = |name: &str| {
        let value = around.variable(source, cwd, name)?;
        if !(KNOWN.contains(&name) || name.starts_with("XDG_") || name.starts_with("LC_")) {
            used.borrow_mut().push(value.clone());
        }
        Some(value)
    };
    let filled = filled_launch(source, (cwd, reach), around, &variable);
    let mut hidden = used.take();
    match &filled {
        Ok(FilledLaunch::Program(order)) => hidden.extend(keys(&order.env)),
        Ok(FilledLaunch::Http { url, headers }) => {
            hidden.extend(keys(headers));
            hidden.extend(url.split_once('?').map(|(_, query)| query.to_owned()));
        }
        Err(_) => {}
    }
    (HiddenValues::new(hidden), filled)
}

fn filled_launch(
    source: &SourceConfig,
    (cwd, reach): (&Path, Reach),
    around: &Surroundings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<FilledLaunch, String> {
    match &source.launch {
        Launch::Program { command, args, env } => Ok(FilledLaunch::Program(ProgramOrder {
            env: filled_map(env, variable)?,
            args: args.iter().map(|arg| filled(arg, variable)).collect::<Result<_, _>>()?,
            readable: program::folders(&source.readable, cwd, variable)?,
            writable: match reach {
                Reach::Own => Vec::new(),
                Reach::Configured => program::folders(&source.writable, cwd, variable)?,
            },
            command: filled(command, variable)?,
            cwd: cwd.to_owned(),
            own: around.folder_of(source),
            home: around.is_of_workspace(source).then(|| source.file.parent().map(Path::to_owned)).flatten(),
        })),
        Launch::Http { url, headers } => {
            Ok(FilledLaunch::Http { url: filled(url, variable)?, headers: filled_map(headers, variable)? })
        }
        Launch::Unsupported(why) => Err(why.clone()),
    }
}

fn filled_map(
    map: &BTreeMap<String, String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    map.iter().map(|(name, value)| Ok((name.clone(), filled(value, variable)?))).collect()
}

/// Values that are keys by their name or their look.
fn keys(filled: &BTreeMap<String, String>) -> Vec<String> {
    let is_key =
        |name: &str, value: &str| is_secret_variable(name, value) || name.eq_ignore_ascii_case("authorization");
    let values = filled.iter().filter(|(name, value)| is_key(name, value)).map(|(_, value)| value.clone());
    let bare = |value: String| match value.split_once(' ') {
        // The token of `Bearer TOKEN` is the key.
        Some((_, token)) => vec![token.to_owned(), value],
        None => vec![value],
    };
    values.flat_map(bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::config::project_servers;

    fn source(entry: &str) -> SourceConfig {
        let (mut sources, problems) =
            project_servers(Path::new("/w/.mcp.json"), &format!("{{\"mcpServers\": {{\"s\": {entry}}}}}"));
        assert_eq!(problems, []);
        sources.remove(0)
    }

    fn around() -> Surroundings {
        let variable = |name: &str| match name {
            "PART" => Some("p4rt-of-an-address".to_owned()),
            "HOME" => Some("/home/somebody".to_owned()),
            _ => None,
        };
        Surroundings { variable: Box::new(variable), ..Surroundings::default() }
    }

    #[test]
    fn every_variable_hides_its_value_wherever_it_stands() {
        for entry in [
            r#"{"command": "/opt/${PART}/prog"}"#,
            r#"{"command": "prog", "args": ["--key=${PART}", "${HOME}"]}"#,
            r#"{"command": "prog", "env": {"PLAIN": "${PART}"}}"#,
            r#"{"url": "https://${PART}.example/mcp"}"#,
            r#"{"url": "https://h/${PART}/mcp"}"#,
            r#"{"url": "https://h/mcp", "headers": {"X-Any": "${PART}"}}"#,
        ] {
            let (hidden, _) = fill(&source(entry), (Path::new("/w"), Reach::Own), &around());
            assert_eq!(hidden.hidden("a p4rt-of-an-address b /home/somebody"), "a *** b /home/somebody", "{entry}");
        }
    }

    #[test]
    fn what_is_written_out_is_hidden_where_it_looks_like_a_key() {
        let entry =
            r#"{"url": "https://h/mcp?k=querykey", "headers": {"Authorization": "Bearer abcdef", "Plain": "a-value"}}"#;
        let (hidden, _) = fill(&source(entry), (Path::new("/w"), Reach::Own), &around());
        assert_eq!(hidden.hidden("abcdef, k=querykey, a-value"), "***, ***, a-value");
    }
}
