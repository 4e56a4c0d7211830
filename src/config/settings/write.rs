//! Writes one setting into config.toml. Comments, order and layout of the file stay as the user made them.

use super::shown::takes;
use super::{Settings, read};
use crate::config::new_server::NewServer;
use crate::plain_file;
use std::fs;
use std::io::Write;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// Sets `key` (dotted) to `value`, one of the words that it takes.
///
/// # Errors
/// A sentence that says why nothing was written, and what to do.
pub fn set(file: &Path, key: &str, value: &str) -> Result<(), String> {
    if !takes(key, value) {
        return Err(format!("invalid value for {key}: {value:?}."));
    }
    let text = text_of(file)?;
    let text = changed(&text, key, value).map_err(|why| format!("{}: {why}.", file.display()))?;
    put(file, &text).map_err(|error| format!("can't write {}: {error}.", file.display()))
}

/// Adds a connection to a server that speaks OpenAI's chat API.
///
/// # Errors
/// A sentence that says why nothing was written, and what to do.
pub fn add_server(file: &Path, server: &NewServer) -> Result<(), String> {
    let text = text_of(file)?;
    let text = with_server(&text, server).map_err(|why| format!("{}: {why}.", file.display()))?;
    put(file, &text).map_err(|error| format!("can't write {}: {error}.", file.display()))
}

fn with_server(text: &str, server: &NewServer) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| NOT_TOML.to_owned())?;
    let all = document.entry("connections").or_insert_with(|| {
        let mut table = Table::new();
        // Its tables say it.
        table.set_implicit(true);
        Item::Table(table)
    });
    let all = all.as_table_like_mut().ok_or("connections is not a table")?;
    if all.contains_key(server.name.as_str()) {
        return Err(format!("there is a connection {} already", server.name));
    }
    let mut own = Table::new();
    own.insert("provider", Item::Value("openai-compatible".into()));
    own.insert("base_url", Item::Value(server.base_url.as_str().into()));
    all.insert(server.name.as_str(), Item::Table(own));
    let out = document.to_string();
    let (settings, _) = Settings::parse(Path::new(""), &out);
    let is_there = settings.connections.contains_key(&server.name);
    if is_there { Ok(out) } else { Err("can't add a connection there".to_owned()) }
}

/// Bytes of a file that a person writes.
const LONGEST: u64 = 16 << 20;
const NOT_TOML: &str = "not valid TOML; nothing was changed";

fn text_of(file: &Path) -> Result<String, String> {
    let unreadable = |why: &dyn std::fmt::Display| format!("can't read {}: {why}.", file.display());
    match plain_file::read(file, LONGEST) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| unreadable(&"not UTF-8")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unreadable(&error)),
    }
}

/// The text with `key` set.
fn changed(text: &str, key: &str, value: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| NOT_TOML.to_owned())?;
    let (tables, name) = match key.rsplit_once('.') {
        Some((tables, name)) => (tables.split('.').collect(), name),
        None => (Vec::new(), key),
    };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        let own = own_name(table, part);
        if !table.contains_key(&own) {
            table.insert(&own, Item::Table(Table::new()));
        }
        let inner = table.get_mut(&own).and_then(Item::as_table_like_mut);
        table = inner.ok_or_else(|| format!("{part} is not a table"))?;
    }
    let own = own_name(table, name);
    let mut new = match (value, value.parse::<i64>()) {
        ("true", _) => Value::from(true),
        ("false", _) => Value::from(false),
        (_, Ok(number)) => Value::from(number),
        (word, Err(_)) => Value::from(word),
    };
    // A comment behind the old value stays.
    if let Some(old) = table.get(&own).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    match table.get_mut(&own) {
        Some(item) => *item = Item::Value(new),
        None => {
            table.insert(&own, Item::Value(new));
        }
    }
    let out = document.to_string();
    let (_, problems) = Settings::parse(Path::new(""), &out);
    let (_, before) = Settings::parse(Path::new(""), text);
    if problems.len() > before.len() {
        return Err(format!("can't set {key} there"));
    }
    Ok(out)
}

/// The name as the user writes it, where the key is there already: `while-running` for `while_running`.
fn own_name(table: &dyn TableLike, name: &str) -> String {
    let own = table.iter().map(|(own, _)| own).find(|own| read::snake(own) == name);
    own.unwrap_or(name).to_owned()
}

/// Replaces the file as a whole. Where it is a link, what it leads to is replaced.
fn put(file: &Path, text: &str) -> std::io::Result<()> {
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temp = folder.join(format!(".lisle-{}-{:08x}.tmp", std::process::id(), fastrand::u32(..)));
    let written = plain_file::create_new(&temp).and_then(|mut new| {
        if let Ok(old) = fs::metadata(&target) {
            new.set_permissions(old.permissions())?;
        }
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&temp, &target)
    });
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(&temp);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ConnectionName;

    #[test]
    fn the_users_file_stays_as_they_made_it() {
        let text = "# mine\n\n[ui]   # the screen\n  theme = \"nord\" # cold\nglyphs='ascii'   # old font\n\n[limits]\nwarn_cost = 2\n";
        let new = changed(text, "ui.glyphs", "unicode").unwrap();
        assert_eq!(new, text.replace("glyphs='ascii' ", "glyphs=\"unicode\" "));
        let new = changed(text, "ui.fps", "30").unwrap();
        assert!(
            new.contains("# old font\nfps = 30\n") && new.contains("# mine") && new.contains("warn_cost = 2"),
            "{new}"
        );
        let new = changed(text, "auto_status", "false").unwrap();
        assert!(new.contains("auto_status = false"), "{new}");
        assert_eq!(Settings::parse(Path::new("/c"), &new).1, vec![], "a key of the top stands above the tables: {new}");
    }

    #[test]
    fn it_is_made_where_there_is_none_and_kebab_names_are_found() {
        assert_eq!(changed("", "ui.mouse", "off").unwrap(), "[ui]\nmouse = \"off\"\n");
        let kebab = "[input]\nwhile-running = \"queue\"\n";
        assert_eq!(changed(kebab, "input.while_running", "steer").unwrap(), "[input]\nwhile-running = \"steer\"\n");
        let inline = "ui = { fps = 60, mouse = \"on\" }\n";
        assert_eq!(changed(inline, "ui.fps", "30").unwrap(), "ui = { fps = 30, mouse = \"on\" }\n");
        assert!(changed("ui = 3\n", "ui.fps", "30").is_err());
        assert!(changed("[ui\n", "ui.fps", "30").is_err(), "what cannot be read is not written over");
    }

    #[test]
    fn a_server_is_added_behind_what_the_user_wrote() {
        let server =
            NewServer { name: ConnectionName::new("groq"), base_url: "https://api.groq.com/openai/v1".to_owned() };
        let own =
            "[connections.groq]\nprovider = \"openai-compatible\"\nbase_url = \"https://api.groq.com/openai/v1\"\n";
        assert_eq!(with_server("", &server).unwrap(), own);
        let text = "# mine\n[ui]\nfps = 60\n\n[connections.a]\nprovider = \"anthropic\"\n";
        let new = with_server(text, &server).unwrap();
        assert!(new.starts_with(text) && new.contains(own), "{new}");
        assert!(with_server(&new, &server).unwrap_err().contains("already"));
        let inline = "connections = { a = { provider = \"anthropic\" } }\n";
        let new = with_server(inline, &server).unwrap();
        assert_eq!(Settings::parse(Path::new("/c"), &new).1, vec![], "{new}");
        assert!(with_server("connections = 3\n", &server).is_err() && with_server("[ui\n", &server).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_rights_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("dotfiles.toml"), dir.path().join("config.toml"));
        fs::write(&real, "[ui]\nfps = 60\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        set(&link, "ui.fps", "30").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "[ui]\nfps = 30\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(set(&link, "sandbox", "off").is_err(), "what protects is written by hand");
    }
}
