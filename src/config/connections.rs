//! Available connections: those of config.toml, those that keys in the environment and local
//! servers offer, and the demo, with the key of each and the reason if one cannot be used.
//!
//! Nothing is sent from here. What was found and not chosen is only offered.

use super::files::write_private;
use super::new_server::NewServer;
use super::probe::FoundServer;
use super::settings::{Api, Connection, ProviderKind};
use super::{Credentials, Paths, Settings};
use crate::domain::ids::ConnectionName;
use crate::domain::problem::Problem;
use crate::domain::secret::Key;
use crate::plain_file;
use crate::protocol::ConnectionInfo;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The name of the built-in, rule-based agent.
pub const REHEARSAL: &str = crate::domain::ids::DEMO;

/// Origin of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionOrigin {
    /// config.toml.
    Settings,
    /// A key in this variable of the environment.
    Environment(&'static str),
    /// A server that was found on this machine, now or earlier.
    Loopback,
    /// The program itself.
    BuiltIn,
}

/// Source of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFrom {
    /// It is stored.
    Stored,
    /// A variable of the environment holds it.
    Variable(String),
}

impl KeyFrom {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Stored => "stored".to_owned(),
            Self::Variable(name) => format!("from {name}"),
        }
    }
}

/// A connection with all that is needed to use it, or why it cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Usable {
    /// Its name.
    pub name: ConnectionName,
    /// Settings. `base_url` is filled in unless there is none.
    pub connection: Connection,
    /// Its key, already checked to go to this host.
    pub key: Option<Key>,
    /// Source of its key.
    pub key_from: Option<KeyFrom>,
    /// Origin.
    pub origin: ConnectionOrigin,
    /// Reason why it cannot be used now, and the advice; `None` if it can.
    pub missing: Option<String>,
    /// It was found, not chosen: nothing is sent to it before the user chooses it.
    pub offered: bool,
}

impl Usable {
    /// The server that its key goes to, without a path; empty where there is none.
    #[must_use]
    pub fn host(&self) -> String {
        let url = self.connection.base_url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
        url.map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }

    /// As the picker shows it.
    #[must_use]
    pub fn info(&self) -> ConnectionInfo {
        ConnectionInfo {
            name: self.name.clone(),
            provider: self.connection.provider.word().to_owned(),
            default_model: self.connection.default_model.clone().unwrap_or_default(),
            small_model: self.connection.small_model.clone().unwrap_or_default(),
            models: self.connection.models.clone(),
            host: self.host(),
            key_from: self.key_from.as_ref().map(KeyFrom::words),
            missing: self.missing.clone(),
            offered: self.offered,
        }
    }
}

/// A provider with a host and a variable of its own.
struct Vendor {
    name: &'static str,
    provider: ProviderKind,
    variable: &'static str,
    host: &'static str,
    base_url: &'static str,
    /// Used when none is chosen; empty when the server has to be asked.
    default_model: &'static str,
    /// Model for titles and summaries; empty if it has none of its own.
    small_model: &'static str,
}

/// Names and hosts of the connections that a key alone makes.
pub fn vendors() -> impl Iterator<Item = (&'static str, &'static str)> {
    VENDORS.iter().map(|vendor| (vendor.name, vendor.host))
}

const VENDORS: &[Vendor] = &[
    Vendor {
        name: "anthropic",
        provider: ProviderKind::Anthropic,
        variable: "ANTHROPIC_API_KEY",
        host: "api.anthropic.com",
        base_url: "https://api.anthropic.com",
        default_model: "claude-sonnet-5-5",
        small_model: "claude-haiku-5-5",
    },
    Vendor {
        name: "openai",
        provider: ProviderKind::Openai,
        variable: "OPENAI_API_KEY",
        host: "api.openai.com",
        base_url: "https://api.openai.com/v1",
        default_model: "gpt-5-mini",
        small_model: "gpt-5-nano",
    },
    Vendor {
        name: "gemini",
        provider: ProviderKind::Gemini,
        variable: "GEMINI_API_KEY",
        host: "generativelanguage.googleapis.com",
        base_url: "https://generativelanguage.googleapis.com",
        default_model: "gemini-flash-latest",
        small_model: "gemini-flash-lite-latest",
    },
    Vendor {
        name: "openrouter",
        provider: ProviderKind::OpenaiCompatible,
        variable: "OPENROUTER_API_KEY",
        host: "openrouter.ai",
        base_url: "https://openrouter.ai/api/v1",
        default_model: "openrouter/auto",
        small_model: "",
    },
];

/// All connections, and the one that is used when none is named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    /// Connections that can be chosen; the demo is always the last.
    pub all: Vec<Usable>,
    /// The one that was chosen: by config.toml, by being the only one there, or in the app. `None`: the demo in the
    /// app, and nothing without it.
    pub default: Option<ConnectionName>,
}

impl Connections {
    /// Puts together what can be asked. `chosen` is what was chosen in the app earlier; `file` is config.toml, for messages.
    pub fn gather(
        settings: &Settings,
        keys: &Credentials,
        env: &dyn Fn(&str) -> Option<String>,
        chosen: Option<&ConnectionName>,
        file: &Path,
    ) -> (Self, Vec<Problem>) {
        let mut all: Vec<Usable> =
            settings.connections.iter().map(|(name, connection)| configured(name, connection, keys, env)).collect();
        let taken = |all: &[Usable], name: &str| all.iter().any(|one| one.name.as_str() == name);
        for vendor in VENDORS.iter().filter(|vendor| !taken(&all, vendor.name)).collect::<Vec<_>>() {
            all.extend(from_environment(vendor, keys, env));
        }
        // A local server that was chosen once is known without looking for it.
        for (name, base_url) in super::probe::USUAL {
            let name = ConnectionName::new(*name);
            if (chosen == Some(&name) || settings.default_connection.as_ref() == Some(&name))
                && !taken(&all, name.as_str())
            {
                all.push(local(name, base_url, Vec::new()));
            }
        }
        if !taken(&all, REHEARSAL) {
            all.push(rehearsal());
        }
        let mut out = Self { all, default: None };
        let mut problems = Vec::new();
        let configured: Vec<&ConnectionName> = settings.connections.keys().collect();
        let default = match (&settings.default_connection, chosen, configured.as_slice()) {
            (Some(name), _, _) if out.find(name).is_some() => Some(name.clone()),
            (Some(name), _, _) => {
                let names: Vec<&str> = out.all.iter().map(|one| one.name.as_str()).collect();
                problems.push(Problem {
                    path: file.to_owned(),
                    line: settings.default_connection_line,
                    text: format!("Default connection {:?} is not configured.", name.as_str()),
                    fix: format!("Add [connections.{name}], or use one of: {}.", names.join(", ")),
                });
                None
            }
            (None, Some(name), _) if out.find(name).is_some() => Some(name.clone()),
            (None, _, [only]) => Some((*only).clone()),
            _ => None,
        };
        if let Some(name) = default {
            out.choose(&name);
        }
        (out, problems)
    }

    /// The connection of that name.
    #[must_use]
    pub fn find(&self, name: &ConnectionName) -> Option<&Usable> {
        self.all.iter().find(|one| one.name == *name)
    }

    /// The connection of that name, or the one that a vendor's key would make.
    #[must_use]
    pub fn with_or_without_key(&self, name: &ConnectionName) -> Option<Usable> {
        let vendor =
            || VENDORS.iter().find(|vendor| vendor.name == name.as_str()).map(|vendor| of_vendor(vendor, None));
        self.find(name).cloned().or_else(vendor)
    }

    /// The names that a key could be for beside those of the connections there are.
    #[must_use]
    pub fn vendors_without_key(&self) -> Vec<Usable> {
        let known = |vendor: &&Vendor| self.all.iter().any(|one| one.name.as_str() == vendor.name);
        VENDORS.iter().filter(|vendor| !known(vendor)).map(|vendor| of_vendor(vendor, None)).collect()
    }

    /// This connection has this key from now on; `None` where there is no such connection.
    pub fn give_key(&mut self, name: &ConnectionName, key: &Key) -> Option<&Usable> {
        let mut usable = self.with_or_without_key(name)?;
        usable.key = Some(key.clone());
        usable.key_from = Some(KeyFrom::Stored);
        usable.missing = None;
        let at = match self.all.iter().position(|one| one.name == *name) {
            Some(at) => at,
            None => {
                // Before the demo, which is always the last.
                let at = self.all.len().saturating_sub(1);
                self.all.insert(at, usable.clone());
                at
            }
        };
        let slot = self.all.get_mut(at)?;
        *slot = usable;
        Some(slot)
    }

    /// Adds a connection to a server of the user's, before the demo.
    pub fn add_server(&mut self, server: &NewServer) -> &Usable {
        let connection = Connection {
            provider: ProviderKind::OpenaiCompatible,
            base_url: Some(server.base_url.clone()),
            ..Connection::default()
        };
        let usable = configured(&server.name, &connection, &Credentials::default(), &|_| None);
        let at = self.all.len().saturating_sub(1);
        self.all.insert(at, usable);
        &self.all[at]
    }

    /// The connection to this base of an API.
    #[must_use]
    pub fn at(&self, base_url: &str) -> Option<&Usable> {
        let same = |known: &Usable| {
            let url = known.connection.base_url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
            url.is_some_and(|url| url.as_str().trim_end_matches('/') == base_url.trim_end_matches('/'))
        };
        self.all.iter().find(|one| same(one))
    }

    /// Makes it the default; it is no longer only offered.
    pub fn choose(&mut self, name: &ConnectionName) {
        if let Some(one) = self.all.iter_mut().find(|one| one.name == *name) {
            one.offered = false;
            self.default = Some(name.clone());
        }
    }

    /// Adds servers that were found on this machine, as offers.
    pub fn add_found(&mut self, found: Vec<FoundServer>) {
        for one in found {
            if self.find(&one.name).is_none() {
                let mut usable = local(one.name, &one.base_url, one.models);
                usable.offered = true;
                let at = self.all.len().saturating_sub(1);
                self.all.insert(at, usable);
            }
        }
    }

    /// As the picker shows them: the default first, then what can be used, then what cannot, the demo last.
    #[must_use]
    pub fn infos(&self) -> Vec<ConnectionInfo> {
        let mut order: Vec<&Usable> = self.all.iter().collect();
        order.sort_by_key(|one| {
            let default = Some(&one.name) == self.default.as_ref();
            (!default, one.origin == ConnectionOrigin::BuiltIn, one.missing.is_some())
        });
        order.into_iter().map(Usable::info).collect()
    }
}

fn rehearsal() -> Usable {
    let connection = Connection {
        provider: ProviderKind::Rehearsal,
        default_model: Some(REHEARSAL.to_owned()),
        models: vec![REHEARSAL.to_owned()],
        ..Connection::default()
    };
    let name = ConnectionName::new(REHEARSAL);
    Usable {
        name,
        connection,
        key: None,
        key_from: None,
        origin: ConnectionOrigin::BuiltIn,
        missing: None,
        offered: false,
    }
}

fn local(name: ConnectionName, base_url: &str, models: Vec<String>) -> Usable {
    let connection = Connection {
        provider: ProviderKind::OpenaiCompatible,
        base_url: Some(base_url.to_owned()),
        default_model: models.first().cloned(),
        models,
        ..Connection::default()
    };
    Usable {
        name,
        connection,
        key: None,
        key_from: None,
        origin: ConnectionOrigin::Loopback,
        missing: None,
        offered: false,
    }
}

fn from_environment(
    vendor: &'static Vendor,
    keys: &Credentials,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<Usable> {
    let stored = keys.key(&ConnectionName::new(vendor.name)).cloned().map(|key| (key, KeyFrom::Stored));
    let of_variable = || Some((Key::new(&env(vendor.variable)?)?, KeyFrom::Variable(vendor.variable.to_owned())));
    Some(of_vendor(vendor, Some(stored.or_else(of_variable)?)))
}

/// Connection that a vendor's key makes, or would make.
fn of_vendor(vendor: &'static Vendor, key: Option<(Key, KeyFrom)>) -> Usable {
    let name = ConnectionName::new(vendor.name);
    let model = Some(vendor.default_model).filter(|model| !model.is_empty());
    let connection = Connection {
        provider: vendor.provider,
        base_url: Some(vendor.base_url.to_owned()),
        default_model: model.map(str::to_owned),
        small_model: Some(vendor.small_model).filter(|model| !model.is_empty()).map(str::to_owned),
        models: model.into_iter().map(str::to_owned).collect(),
        ..Connection::default()
    };
    let origin = ConnectionOrigin::Environment(vendor.variable);
    let missing = key.is_none().then(|| no_key(vendor.name, vendor.variable));
    let (key, key_from) = key.unzip();
    Usable { name, connection, key, key_from, origin, missing, offered: true }
}

/// A connection of config.toml with its key, or why it has none.
fn configured(
    name: &ConnectionName,
    connection: &Connection,
    keys: &Credentials,
    env: &dyn Fn(&str) -> Option<String>,
) -> Usable {
    let mut connection = connection.clone();
    let vendor = VENDORS.iter().find(|vendor| vendor.provider == connection.provider);
    if connection.base_url.is_none() {
        connection.base_url = vendor.map(|vendor| vendor.base_url.to_owned());
        // The vendor's own host has the vendor's own models.
        if let Some(vendor) = vendor.filter(|vendor| vendor.provider == ProviderKind::Anthropic) {
            connection.default_model.get_or_insert_with(|| vendor.default_model.to_owned());
            connection.small_model.get_or_insert_with(|| vendor.small_model.to_owned());
        }
    }
    let (key, missing) = match keys.key(name) {
        Some(key) => (Some((key.clone(), KeyFrom::Stored)), None),
        None => key_of_environment(name, &connection, env),
    };
    let (key, key_from) = key.unzip();
    Usable {
        name: name.clone(),
        connection,
        key,
        key_from,
        origin: ConnectionOrigin::Settings,
        missing,
        offered: false,
    }
}

/// The key that the environment has for a connection, or why it cannot be had.
///
/// A vendor's standard variable goes to that vendor's own host, by https, and to no other, also when `key_env` names it.
fn key_of_environment(
    name: &ConnectionName,
    connection: &Connection,
    env: &dyn Fn(&str) -> Option<String>,
) -> (Option<(Key, KeyFrom)>, Option<String>) {
    let base_url = connection.base_url.as_deref().unwrap_or_default();
    let own = VENDORS.iter().find(|vendor| is_own_host(vendor, base_url));
    let variable = match (&connection.key_env, own) {
        (Some(variable), _) => variable.as_str(),
        (None, Some(vendor)) => vendor.variable,
        // A server without a key of its own: local ones mostly. It says so itself if it wants one.
        (None, None) => return (None, None),
    };
    if let Some(vendor) = VENDORS.iter().find(|vendor| vendor.variable == variable)
        && !is_own_host(vendor, base_url)
    {
        let text = format!(
            "{variable} is only used for https://{}: put the key for {base_url} into another variable and name it in \
             key_env",
            vendor.host
        );
        return (None, Some(text));
    }
    match env(variable).as_deref().map(Key::new) {
        Some(Some(key)) => (Some((key, KeyFrom::Variable(variable.to_owned()))), None),
        Some(None) => (None, Some(format!("{variable} is not a valid key: empty or contains spaces"))),
        None => (None, Some(no_key(name.as_str(), variable))),
    }
}

/// Start of the reason where a connection has no key at all.
pub const NO_KEY: &str = "no key";

fn no_key(name: &str, variable: &str) -> String {
    format!("{NO_KEY}: run `lisle auth add {name}`, set {variable}, or send a message to be prompted")
}

fn is_own_host(vendor: &Vendor, base_url: &str) -> bool {
    reqwest::Url::parse(base_url).is_ok_and(|url| {
        url.scheme() == "https" && url.host_str() == Some(vendor.host) && url.port_or_known_default() == Some(443)
    })
}

/// API of a connection: the configured one, else Responses at OpenAI and chat completions, which
/// all others have, elsewhere.
#[must_use]
pub fn api_of(connection: &Connection) -> Api {
    let base_url = connection.base_url.as_deref().unwrap_or_default();
    let at_openai =
        VENDORS.iter().any(|vendor| vendor.provider == ProviderKind::Openai && is_own_host(vendor, base_url));
    connection.api.unwrap_or(match (connection.provider, at_openai) {
        (ProviderKind::Openai, true) => Api::Responses,
        _ => Api::Chat,
    })
}

/// Bytes of a file that remembers a choice.
const SMALL: u64 = 1 << 20;

fn chosen_file(paths: &Paths) -> std::path::PathBuf {
    paths.state.join("chosen-connection")
}

/// The connection that was chosen in the app earlier.
#[must_use]
pub fn chosen(paths: &Paths) -> Option<ConnectionName> {
    let text = plain_file::text(&chosen_file(paths), SMALL)?;
    Some(text.trim()).filter(|name| !name.is_empty()).map(ConnectionName::new)
}

/// Remembers the choice for the next start.
///
/// # Errors
/// The system's error when the state folder could not be written.
pub fn remember_chosen(paths: &Paths, name: &ConnectionName) -> io::Result<()> {
    write_private(&chosen_file(paths), format!("{name}\n").as_bytes())
}

fn models_file(paths: &Paths) -> std::path::PathBuf {
    paths.state.join("chosen-models.toml")
}

/// Models that were chosen last in the app, by connection. Unreadable ones are ignored.
#[must_use]
pub fn chosen_models(paths: &Paths) -> BTreeMap<ConnectionName, String> {
    let text = plain_file::text(&models_file(paths), SMALL).unwrap_or_default();
    let map: BTreeMap<String, String> = toml::from_str(&text).unwrap_or_default();
    map.into_iter().map(|(name, model)| (ConnectionName::new(name), model)).collect()
}

/// Remembers the model of new sessions of a connection.
///
/// # Errors
/// The system's error when the state folder could not be written.
pub fn remember_model(paths: &Paths, name: &ConnectionName, model: &str) -> io::Result<()> {
    let mut map = chosen_models(paths);
    map.insert(name.clone(), model.to_owned());
    let text = toml::to_string(&map).map_err(io::Error::other)?;
    write_private(&models_file(paths), text.as_bytes())
}

fn stand_ins_file(paths: &Paths) -> std::path::PathBuf {
    paths.state.join("stand-ins.toml")
}

/// Substitutes for connections that are not configured here, as chosen in the app: `theirs =
/// "ours"`, a line each. Unreadable lines are ignored.
#[must_use]
pub fn stand_ins(paths: &Paths) -> BTreeMap<ConnectionName, ConnectionName> {
    let text = plain_file::text(&stand_ins_file(paths), SMALL).unwrap_or_default();
    let map: BTreeMap<String, String> = toml::from_str(&text).unwrap_or_default();
    map.into_iter().map(|(named, answers)| (ConnectionName::new(named), ConnectionName::new(answers))).collect()
}

/// Remembers that the second connection answers for the first one.
///
/// # Errors
/// The system's error when the state folder could not be written.
pub fn remember_stand_in(paths: &Paths, named: &ConnectionName, answers: &ConnectionName) -> io::Result<()> {
    let mut map = stand_ins(paths);
    map.insert(named.clone(), answers.clone());
    let text = toml::to_string(&map).map_err(io::Error::other)?;
    write_private(&stand_ins_file(paths), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn gather(toml: &str, env: &[(&str, &str)], chosen: Option<&str>) -> (Connections, Vec<Problem>) {
        let (settings, problems) = Settings::parse(Path::new("/c"), toml);
        assert_eq!(problems, vec![]);
        let env = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let chosen = chosen.map(ConnectionName::new);
        Connections::gather(&settings, &Credentials::default(), &env, chosen.as_ref(), Path::new("/c"))
    }

    fn one<'a>(all: &'a Connections, name: &str) -> &'a Usable {
        all.find(&ConnectionName::new(name)).unwrap()
    }

    fn key(usable: &Usable) -> Option<&str> {
        usable.key.as_ref().map(Key::reveal)
    }

    #[test]
    fn with_nothing_there_is_the_demo_and_no_default() {
        let (all, problems) = gather("", &[], None);
        assert_eq!((all.all.len(), &all.default, problems), (1, &None, vec![]));
        assert_eq!(one(&all, "demo").missing, None);
        assert!(!one(&all, "demo").offered);
    }

    #[test]
    fn keys_in_the_environment_are_offers() {
        let keys = [
            ("OPENAI_API_KEY", "k1"),
            ("OPENROUTER_API_KEY", "k2"),
            ("ANTHROPIC_API_KEY", "k3"),
            ("GEMINI_API_KEY", " "),
        ];
        let (all, _) = gather("", &keys, None);
        assert_eq!(all.default, None);
        assert!(one(&all, "openai").offered && one(&all, "openai").missing.is_none());
        assert_eq!(key(one(&all, "openrouter")), Some("k2"));
        assert!(one(&all, "anthropic").offered && one(&all, "anthropic").missing.is_none());
        assert_eq!(
            (key(one(&all, "anthropic")), one(&all, "anthropic").info().default_model.as_str()),
            (Some("k3"), "claude-sonnet-5-5")
        );
        assert_eq!(one(&all, "anthropic").connection.small_model.as_deref(), Some("claude-haiku-5-5"));
        assert!(all.find(&ConnectionName::new("gemini")).is_none());
        let names: Vec<String> = all.infos().iter().map(|info| info.name.to_string()).collect();
        assert_eq!(names, ["anthropic", "openai", "openrouter", "demo"]);
        let (all, _) = gather("", &keys, Some("openrouter"));
        assert_eq!(all.default, Some(ConnectionName::new("openrouter")));
        assert!(!one(&all, "openrouter").offered && one(&all, "openai").offered);
        assert_eq!(all.infos()[0].name.as_str(), "openrouter");
    }

    #[test]
    fn a_vendors_variable_goes_to_its_own_host_alone() {
        let env = [
            ("OPENAI_API_KEY", "k1"),
            ("OPENROUTER_API_KEY", "k2"),
            ("MINE", "k3"),
            ("ANTHROPIC_API_KEY", "k4"),
            ("GEMINI_API_KEY", "k5"),
        ];
        let of = |rest: &str| {
            let (all, _) = gather(&format!("[connections.x]\n{rest}"), &env, None);
            let x = one(&all, "x");
            (key(x).map(str::to_owned), x.missing.is_some())
        };
        let yes = |key: &str| (Some(key.to_owned()), false);
        assert_eq!(of("provider = 'openai'"), yes("k1"));
        assert_eq!(of("provider = 'openai'\nbase_url = 'https://api.openai.com/v1'"), yes("k1"));
        assert_eq!(of("provider = 'gemini'"), yes("k5"));
        for url in
            ["http://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com.evil.example"]
        {
            let named = of(&format!("provider = 'gemini'\nbase_url = '{url}'\nkey_env = 'GEMINI_API_KEY'"));
            assert_eq!(named, (None, true), "{url}");
            assert_eq!(of(&format!("provider = 'gemini'\nbase_url = '{url}'")).0, None, "{url}");
        }
        let azure = "provider = 'azure-openai'\nbase_url = 'https://me.openai.azure.com'\nkey_env";
        assert_eq!(of(&format!("{azure} = 'MINE'")), yes("k3"));
        assert_eq!(of(&format!("{azure} = 'OPENAI_API_KEY'")), (None, true));
        assert_eq!(of("provider = 'openai-compatible'\nbase_url = 'https://openrouter.ai/api/v1'"), yes("k2"));
        assert_eq!(of("provider = 'openai-compatible'\nbase_url = 'http://127.0.0.1:1/v1'"), (None, false));
        assert_eq!(of("provider = 'openai'\nbase_url = 'https://evil.example/v1'\nkey_env = 'MINE'"), yes("k3"));
        assert_eq!(of("provider = 'anthropic'"), yes("k4"));
        assert_eq!(of("provider = 'anthropic'\nbase_url = 'https://api.anthropic.com/v1'"), yes("k4"));
        assert_eq!(of("provider = 'anthropic'\nbase_url = 'http://127.0.0.1:1'"), (None, false));
        for url in ["https://api.anthropic.com.evil.example", "http://api.anthropic.com", "https://evil.example"] {
            assert_eq!(of(&format!("provider = 'anthropic'\nbase_url = '{url}'")).0, None, "{url}");
            let named = of(&format!("provider = 'anthropic'\nbase_url = '{url}'\nkey_env = 'ANTHROPIC_API_KEY'"));
            assert_eq!(named, (None, true), "{url}");
        }
        for url in [
            "https://evil.example/v1",
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com@evil.example/v1",
            "https://api.openai.com.evil.example/v1",
            "https://evil.example/api.openai.com",
            "https://openrouter.ai/api/v1",
        ] {
            let named = of(&format!("provider = 'openai'\nbase_url = '{url}'\nkey_env = 'OPENAI_API_KEY'"));
            assert_eq!(named, (None, true), "{url}");
        }
        let (unnamed, _) = of("provider = 'openai'\nbase_url = 'https://evil.example/v1'");
        assert_eq!(unnamed, None);
    }

    #[test]
    fn a_missing_key_is_told() {
        let missing = |toml: &str| one(&gather(&format!("[connections.x]\n{toml}"), &[], None).0, "x").missing.clone();
        assert!(missing("provider = 'openai'").unwrap().contains("`lisle auth add x`"));
        assert!(missing("provider = 'openai'\nkey_env = 'MINE'").unwrap().contains("MINE"));
        assert!(missing("provider = 'gemini'").unwrap().contains("GEMINI_API_KEY"));
        assert_eq!(missing("provider = 'azure-openai'\nbase_url = 'https://me.openai.azure.com'"), None);
        assert_eq!(missing("provider = 'rehearsal'"), None);
    }

    #[test]
    fn openai_is_asked_by_responses_and_others_by_chat_completions() {
        let api = |toml: &str| api_of(&one(&gather(&format!("[connections.x]\n{toml}"), &[], None).0, "x").connection);
        let table = [
            ("provider = 'openai'", Api::Responses),
            ("provider = 'openai'\napi = 'chat'", Api::Chat),
            ("provider = 'openai'\nbase_url = 'https://api.openai.com/v1'", Api::Responses),
            ("provider = 'openai'\nbase_url = 'https://proxy.example/v1'", Api::Chat),
            ("provider = 'openai-compatible'\nbase_url = 'https://api.openai.com/v1'", Api::Chat),
            ("provider = 'openai-compatible'\nbase_url = 'http://127.0.0.1:1/v1'\napi = 'responses'", Api::Responses),
            ("provider = 'azure-openai'\nbase_url = 'https://me.openai.azure.com'", Api::Chat),
            ("provider = 'azure-openai'\nbase_url = 'https://me.openai.azure.com'\napi = 'responses'", Api::Responses),
        ];
        for (toml, expected) in table {
            assert_eq!(api(toml), expected, "{toml}");
        }
        assert_eq!(api_of(&gather("", &[("OPENAI_API_KEY", "k")], None).0.all[0].connection), Api::Responses);
    }

    #[test]
    fn a_vendors_own_host_has_the_vendors_own_models() {
        let models = |toml: &str| {
            let (all, _) = gather(&format!("[connections.x]\nprovider = 'anthropic'\n{toml}"), &[], None);
            let connection = one(&all, "x").connection.clone();
            (connection.default_model.unwrap_or_default(), connection.small_model.unwrap_or_default())
        };
        let pair = |one: &str, two: &str| (one.to_owned(), two.to_owned());
        assert_eq!(models(""), pair("claude-sonnet-5-5", "claude-haiku-5-5"));
        assert_eq!(models("models = ['a', 'b']\nsmall_model = 's'"), pair("a", "s"));
        assert_eq!(models("base_url = 'http://127.0.0.1:1'"), pair("", ""));
    }

    #[test]
    fn the_default_is_the_named_the_chosen_or_the_only_one() {
        let two = "[connections.a]\nprovider='openai'\n[connections.b]\nprovider='openai'\n";
        let default = |toml: &str, chosen| gather(toml, &[], chosen).0.default.map(|name| name.to_string());
        assert_eq!(default(two, None), None);
        assert_eq!(default(two, Some("b")).as_deref(), Some("b"));
        assert_eq!(default(two, Some("gone")), None);
        assert_eq!(default(&format!("default_connection = 'a'\n{two}"), Some("b")).as_deref(), Some("a"));
        assert_eq!(default("[connections.a]\nprovider='openai'", None).as_deref(), Some("a"));
        assert_eq!(default("[connections.a]\nprovider='openai'", Some("rehearsal")).as_deref(), Some("demo"));
        assert_eq!(default("default_connection = 'rehearsal'", None).as_deref(), Some("demo"));
        let (all, problems) = gather(&format!("\ndefault_connection = 'zz'\n{two}"), &[], None);
        assert_eq!((all.default, problems.len(), problems[0].line), (None, 1, Some(2)));
        assert!(problems[0].fix.contains("a, b, demo"), "{problems:?}");
    }

    #[test]
    fn local_servers_are_offered_and_once_chosen_known_without_looking() {
        let (mut all, _) = gather("", &[], None);
        let found = FoundServer {
            name: ConnectionName::new("ollama"),
            base_url: "http://127.0.0.1:11434/v1".to_owned(),
            models: vec!["m".to_owned()],
        };
        all.add_found(vec![found.clone(), found]);
        assert_eq!(all.all.len(), 2);
        assert!(one(&all, "ollama").offered && all.default.is_none());
        assert_eq!(one(&all, "ollama").info().default_model, "m");
        assert_eq!(all.all.last().unwrap().name.as_str(), "demo");
        let (all, _) = gather("", &[], Some("ollama"));
        assert_eq!(all.default, Some(ConnectionName::new("ollama")));
        assert!(!one(&all, "ollama").offered && one(&all, "ollama").connection.base_url.is_some());
    }

    #[test]
    fn the_choice_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
        assert_eq!(chosen(&paths), None);
        let name = ConnectionName::new("openai");
        remember_chosen(&paths, &name).unwrap();
        assert_eq!(chosen(&paths), Some(name.clone()));
        for model in ["gpt-x", "odd \"name\" = [1]"] {
            remember_model(&paths, &name, model).unwrap();
            assert_eq!(chosen_models(&paths).get(&name).map(String::as_str), Some(model));
        }
    }

    #[test]
    fn what_stands_in_is_remembered_whatever_it_is_called() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(OsStr::new(home.path()))).unwrap();
        assert_eq!(stand_ins(&paths), BTreeMap::new());
        let pairs = [("anthropic-api", "a"), ("odd name = \"x\"\n[", "b"), ("anthropic-api", "c")];
        for (named, answers) in pairs {
            remember_stand_in(&paths, &ConnectionName::new(named), &ConnectionName::new(answers)).unwrap();
        }
        let known: Vec<_> = stand_ins(&paths).into_values().map(|name| name.to_string()).collect();
        assert_eq!(known, ["c", "b"]);
    }
}
