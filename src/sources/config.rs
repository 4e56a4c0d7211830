//! Configuration of sources: `sources/SLUG/config.json` in Craft Agents' format, and servers of `.mcp.json`. Pure.

use super::names::{self, slug_fault, slug_of};
use super::permissions::SourcePermissions;
use crate::domain::problem::Problem;
use crate::domain::secret;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Servers of one `.mcp.json` that are read.
const MOST_SERVERS: usize = 100;

/// One source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// Name in tool names and commands.
    pub slug: String,
    /// Name for people.
    pub name: String,
    /// One line about it.
    pub tagline: String,
    /// New sessions use it.
    pub enabled: bool,
    /// How it is reached.
    pub launch: Launch,
    /// Folders and files that a program of it may read beside what commands read, with variables as they are written.
    pub readable: Vec<String>,
    /// Folders that a program of it may write beside its own, likewise.
    pub writable: Vec<String>,
    /// The user's text about it for models.
    pub guide: Option<String>,
    /// Tools that change nothing.
    pub permissions: SourcePermissions,
    /// File that configures it.
    pub file: PathBuf,
    /// Somebody else may have written the file, and the user has not trusted it as it is now.
    pub trusted: bool,
}

/// How a source is reached. Texts have variables as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that is started.
    Program {
        /// Program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets beside the usual ones.
        env: BTreeMap<String, String>,
    },
    /// A server of the network.
    Http {
        /// Address.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
    /// This version can't use it; why, a sentence.
    Unsupported(String),
}

impl SourceConfig {
    /// Program or address, without what could be a key.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.launch {
            Launch::Program { command, args, .. } => {
                // Where one argument ends is seen.
                let word = |word: &String| match word.is_empty() || word.contains(char::is_whitespace) {
                    true => format!("{word:?}"),
                    false => word.clone(),
                };
                let line = std::iter::once(command).chain(args).map(word).collect::<Vec<_>>().join(" ");
                secret::masked(&line).map_or(line, |(masked, _)| masked)
            }
            Launch::Http { url, .. } => {
                let url = url.split(['?', '#']).next().unwrap_or_default();
                match url.split_once("://") {
                    // A name and a password may stand before the host.
                    Some((scheme, rest)) => {
                        let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
                        let host = host.rsplit('@').next().unwrap_or_default();
                        let path = path.map(|path| format!("/{path}")).unwrap_or_default();
                        format!("{scheme}://{host}{path}")
                    }
                    None => url.to_owned(),
                }
            }
            Launch::Unsupported(_) => String::new(),
        }
    }

    /// Names of the variables that it is given.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<String> {
        let names = RefCell::new(BTreeSet::new());
        let note = |name: &str| {
            names.borrow_mut().insert(name.to_owned());
            Some("x".to_owned())
        };
        let launch: Vec<&String> = match &self.launch {
            Launch::Program { command, args, env } => {
                std::iter::once(command).chain(args).chain(env.values()).collect()
            }
            Launch::Http { url, headers } => std::iter::once(url).chain(headers.values()).collect(),
            Launch::Unsupported(_) => Vec::new(),
        };
        for text in launch.into_iter().chain(&self.readable).chain(&self.writable) {
            // Every name has a value here, so that nothing fails.
            let _ = filled(text, &note);
        }
        names.into_inner()
    }

    /// Hash of what is started or asked: a tool that was approved is not the same one behind another program or address.
    #[must_use]
    pub fn identity(&self) -> String {
        let text = match &self.launch {
            Launch::Program { command, args, env } => format!("{command:?}{args:?}{env:?}"),
            Launch::Http { url, headers } => format!("{url:?}{headers:?}"),
            Launch::Unsupported(_) => String::new(),
        };
        hex(text.as_bytes())
    }
}

/// SHA-256 in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CraftSource {
    #[serde(default)]
    name: String,
    #[serde(default)]
    slug: String,
    #[serde(default)]
    tagline: String,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(rename = "type")]
    kind: String,
    mcp: Option<Server>,
    #[serde(default)]
    readable: Vec<String>,
    #[serde(default)]
    writable: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Server {
    #[serde(alias = "type")]
    transport: Option<String>,
    url: Option<String>,
    auth_type: Option<String>,
    headers: BTreeMap<String, String>,
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    disabled: bool,
}

fn yes() -> bool {
    true
}

impl Server {
    fn launch(self) -> Launch {
        let by_address = self.command.is_none();
        match (self.transport.as_deref(), self.command, self.url) {
            (Some("stdio") | None, Some(command), _) if !command.trim().is_empty() => {
                Launch::Program { command, args: self.args, env: self.env }
            }
            (Some("http" | "streamable-http" | "streamable_http") | None, _, Some(url)) if by_address => {
                if !is_web(&url) {
                    return Launch::Unsupported(format!("Not an http or https address: {url}."));
                }
                let has_header = self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
                match self.auth_type.as_deref() {
                    Some("oauth") => Launch::Unsupported("OAuth sign-in is not supported yet.".to_owned()),
                    Some("bearer") if !has_header => Launch::Unsupported(
                        "Stored tokens are not supported yet: add an Authorization header with a variable.".to_owned(),
                    ),
                    _ => Launch::Http { url, headers: self.headers },
                }
            }
            (Some("sse"), ..) => Launch::Unsupported("The sse transport is not supported: use http.".to_owned()),
            (Some("stdio"), ..) => Launch::Unsupported("A stdio server needs a `command`.".to_owned()),
            (Some("http"), ..) => Launch::Unsupported("An http server needs a `url`.".to_owned()),
            (Some(other), ..) => Launch::Unsupported(format!("Unknown transport {other:?}.")),
            (None, ..) => Launch::Unsupported("A server needs a `command` or a `url`.".to_owned()),
        }
    }
}

/// An address with a variable in it is looked at once that is filled in.
fn is_web(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    ["http://", "https://", "${"].iter().any(|begin| url.starts_with(begin))
}

/// Reads a `config.json`; its folder names the source.
///
/// # Errors
/// The problem of a file that says nothing useful.
pub fn craft_source(file: &Path, text: &str) -> Result<SourceConfig, Problem> {
    let bad = |text: String| Problem::whole(file, text, "Fix it, or remove the folder.");
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    if let Some(fault) = slug_fault(&folder) {
        return Err(bad(format!("Invalid folder name {folder:?}: {fault}.")));
    }
    let read: CraftSource = serde_json::from_str(text).map_err(|error| bad(format!("Not a source: {error}.")))?;
    if !read.slug.is_empty() && read.slug != folder {
        return Err(bad(format!("Its slug {:?} is not its folder's name.", read.slug)));
    }
    let launch = match (read.kind.as_str(), read.mcp) {
        ("mcp", Some(server)) => server.launch(),
        ("mcp", None) => return Err(bad("A source of type mcp needs the key `mcp`.".to_owned())),
        ("api" | "local", _) => Launch::Unsupported(format!("Sources of type {} are not supported yet.", read.kind)),
        (other, _) => return Err(bad(format!("Unknown type {other:?}: use \"mcp\"."))),
    };
    let name = if read.name.trim().is_empty() { folder.clone() } else { read.name };
    Ok(SourceConfig {
        slug: folder,
        name,
        tagline: read.tagline,
        enabled: read.enabled,
        launch,
        readable: read.readable,
        writable: read.writable,
        guide: None,
        permissions: SourcePermissions::default(),
        file: file.to_owned(),
        trusted: false,
    })
}

/// Reads the servers of a `.mcp.json`.
#[must_use]
pub fn project_servers(file: &Path, text: &str) -> (Vec<SourceConfig>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut bad = |text: String| problems.push(Problem::whole(file, text, "Fix it."));
    let servers = match serde_json::from_str::<Value>(text) {
        Ok(root) => match root.get("mcpServers").and_then(Value::as_object) {
            Some(servers) => servers.clone(),
            None => {
                bad("No `mcpServers` object.".to_owned());
                return (Vec::new(), problems);
            }
        },
        Err(error) => {
            bad(format!("Not valid JSON: {error}."));
            return (Vec::new(), problems);
        }
    };
    let mut out: Vec<SourceConfig> = Vec::new();
    for (name, server) in servers.into_iter().take(MOST_SERVERS) {
        let slug = if slug_fault(&name).is_none() { name.clone() } else { slug_of(&name) };
        if let Some(fault) = slug_fault(&slug) {
            bad(format!("Server {name:?} left out: {fault}."));
            continue;
        }
        if out.iter().any(|one| one.slug == slug) {
            bad(format!("Server {name:?} left out: another one is called {slug}."));
            continue;
        }
        match serde_json::from_value::<Server>(server) {
            Ok(server) => out.push(SourceConfig {
                slug,
                name,
                tagline: String::new(),
                enabled: !server.disabled,
                launch: server.launch(),
                readable: Vec::new(),
                writable: Vec::new(),
                guide: None,
                permissions: SourcePermissions::default(),
                file: file.to_owned(),
                trusted: false,
            }),
            Err(error) => bad(format!("Server {name:?} left out: {error}.")),
        }
    }
    (out, problems)
}

/// A text with its variables filled in: `~/` at its beginning, `${NAME}`, `${NAME:-TEXT}`.
///
/// # Errors
/// A sentence that names a variable that is not set. No value is in it.
pub fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    if let Some(after) = text.strip_prefix("~/") {
        out.push_str(&variable("HOME").ok_or("The variable HOME is not set.")?);
        out.push('/');
        rest = after;
    }
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let Some((inside, behind)) = after.get(2..).and_then(|after| after.split_once('}')) else {
            out.push_str(after);
            return Ok(out);
        };
        let (name, usual) = match inside.split_once(":-") {
            Some((name, usual)) => (name, Some(usual)),
            None => (inside, None),
        };
        let value = variable(name).filter(|value| !value.is_empty()).or_else(|| usual.map(str::to_owned));
        out.push_str(&value.ok_or_else(|| format!("The variable {name} is not set."))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Text of a `config.json` for a new source.
#[must_use]
pub fn new_source(slug: &str, launch: &Launch) -> String {
    let mcp = match launch {
        Launch::Program { command, args, env } => {
            serde_json::json!({"transport": "stdio", "command": command, "args": args, "env": env})
        }
        Launch::Http { url, headers } => {
            serde_json::json!({"transport": "http", "url": url, "authType": "none", "headers": headers})
        }
        Launch::Unsupported(_) => Value::Null,
    };
    let id = format!("{slug}_{}", hex(slug.as_bytes()).get(..8).unwrap_or_default());
    let config = serde_json::json!({
        "id": id, "name": slug, "slug": slug, "enabled": true, "provider": "custom", "type": "mcp", "mcp": mcp,
    });
    format!("{config:#}\n")
}

/// True for a tool's name of this source.
#[must_use]
pub fn is_tool_of(slug: &str, tool: &str) -> bool {
    tool.starts_with(&names::prefix(slug))
}

#[cfg(test)]
mod tests;
