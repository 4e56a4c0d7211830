//! Files of ssh that a failed command missed, where there is no agent to sign in with: told by what ssh writes.

use std::path::{Path, PathBuf};

/// Message of ssh about a server that it does not know by name.
const UNKNOWN: &str = "could not resolve hostname ";
/// Message of a server about keys of which none was right.
const NO_KEY: &str = "permission denied (publickey";
/// Keys that ssh tries without being told.
const USUAL: &[&str] = &["id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"];
/// Most bytes that are read of the settings.
const LARGEST: u64 = 256 * 1024;

/// Files of the user's that ssh wanted, those that are there.
pub(in crate::sandbox) fn wanted(output: &str) -> Vec<PathBuf> {
    std::env::home_dir().map(|home| wanted_in(output, &home)).unwrap_or_default()
}

/// The output says that ssh does not know a server which the user's settings name.
pub(in crate::sandbox) fn is_alias(output: &str) -> bool {
    std::env::home_dir().is_some_and(|home| !aliases(output, &settings(&home)).is_empty())
}

fn wanted_in(output: &str, home: &Path) -> Vec<PathBuf> {
    let text = settings(home);
    let no_key = output.to_lowercase().contains(NO_KEY);
    let mut out = Vec::new();
    if no_key || !aliases(output, &text).is_empty() {
        out.push(home.join(".ssh/config"));
        out.extend(key_files(&text, home));
        out.extend(USUAL.iter().map(|name| home.join(".ssh").join(name)));
    }
    out.retain(|path| path.is_file());
    out.dedup();
    out
}

fn settings(home: &Path) -> String {
    let path = home.join(".ssh/config");
    let small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
    small.then(|| std::fs::read_to_string(path).ok()).flatten().unwrap_or_default()
}

/// The key and the value of each line, as ssh_config(5) has it.
fn lines(text: &str) -> impl Iterator<Item = (String, &str)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let (key, value) = line.split_once(|c: char| c.is_whitespace() || c == '=')?;
        let value = value.trim_start_matches(|c: char| c.is_whitespace() || c == '=');
        (!line.starts_with('#')).then(|| (key.to_ascii_lowercase(), value))
    })
}

/// Names of the output that ssh did not know and the settings do.
fn aliases(output: &str, text: &str) -> Vec<String> {
    let lower = output.to_lowercase();
    let unknown = lower.match_indices(UNKNOWN).filter_map(|(at, _)| {
        let rest = lower.get(at + UNKNOWN.len()..)?;
        rest.split([':', '\n', ' ', '\r']).next().filter(|name| !name.is_empty())
    });
    let known = |name: &&str| {
        lines(text).filter(|(key, _)| key == "host").any(|(_, value)| {
            value.to_lowercase().split_whitespace().any(|pattern| pattern != "*" && matches(pattern, name))
        })
    };
    unknown.filter(known).map(str::to_owned).collect()
}

/// `*` and `?` in a pattern of the settings.
fn matches(pattern: &str, name: &str) -> bool {
    globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}

fn key_files(text: &str, home: &Path) -> Vec<PathBuf> {
    let named = lines(text).filter(|(key, _)| key == "identityfile");
    let paths = named.filter_map(|(_, value)| {
        let value = value.trim().trim_matches('"');
        value.strip_prefix("~/").map(|below| home.join(below)).or_else(|| Some(PathBuf::from(value)))
    });
    paths.filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_ssh_missed_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        std::fs::create_dir(home.join(".ssh")).unwrap();
        let config = "# Host other\nHost work *.corp\n  HostName git.example\n  IdentityFile ~/.ssh/work_key\nHost *\n  User me\n";
        for (name, text) in [("config", config), ("work_key", "x"), ("id_ed25519", "x")] {
            std::fs::write(home.join(".ssh").join(name), text).unwrap();
        }
        let all = [".ssh/config", ".ssh/work_key", ".ssh/id_ed25519"].map(|name| home.join(name)).to_vec();
        for (output, files) in [
            ("ssh: Could not resolve hostname work: Name or service not known\nfatal: x", all.clone()),
            ("ssh: Could not resolve hostname a.corp: Temporary failure in name resolution", all.clone()),
            ("ssh: Could not resolve hostname other: Name or service not known", vec![]),
            ("git@h: Permission denied (publickey,password).", all),
            ("touch: cannot touch 'work': Permission denied", vec![]),
        ] {
            assert_eq!(wanted_in(output, home), files, "{output}");
        }
    }
}
