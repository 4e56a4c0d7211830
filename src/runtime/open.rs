//! Opens connections: from what the configuration says of one to a provider that can be asked. Keys that are given while the program
//! runs are stored here, and their connections opened anew.

use crate::agent::{Connections, Keys, Opened};
use crate::config::connections::{NO_KEY, Usable, api_of};
use crate::config::new_server::NewServer;
use crate::config::{self, Paths, Settings, settings};
use crate::domain::ConnectionName;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;
use crate::protocol::ConnectionInfo;
use crate::provider::anthropic::Anthropic;
use crate::provider::azure::{DeploymentNaming, at_azure};
use crate::provider::bounded::{Bounded, Places};
use crate::provider::endpoint::is_loopback;
use crate::provider::figures::{ModelFacts, Prices, Thinks};
use crate::provider::gemini::Gemini;
use crate::provider::http::Endpoint;
use crate::provider::named::NamedModelOnly;
use crate::provider::openai_chat::OpenAiChat;
use crate::provider::openai_responses::OpenAiResponses;
use crate::provider::rehearsal::Rehearsal;
use crate::provider::{Provider, ProviderError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time between two words of the rehearsal.
const REHEARSAL_PACE: Duration = Duration::from_millis(15);
/// Requests at a time where nothing else is said.
const PARALLEL: u32 = 8;
/// The same for a server on this machine, where they share one processor.
const PARALLEL_HERE: u32 = 2;

/// Opens connections.
pub struct Opener {
    paths: Paths,
    settings: Settings,
    all: Mutex<config::Connections>,
    /// The model that the command line asks for.
    model: Option<String>,
    /// A connection that is opened anew keeps its places: requests may be underway.
    places: Mutex<BTreeMap<ConnectionName, Places>>,
}

impl Opener {
    /// Opener of these connections.
    #[must_use]
    pub fn new(paths: Paths, settings: Settings, all: config::Connections, model: Option<String>) -> Self {
        Self { paths, settings, all: Mutex::new(all), model, places: Mutex::default() }
    }

    /// All of them, opened.
    #[must_use]
    pub fn connections(self) -> Connections {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let opened: Vec<Opened> = all
            .infos()
            .iter()
            .filter_map(|info| Some(self.open(all.find(&info.name)?, all.default.as_ref())))
            .collect();
        let vendors = all.vendors_without_key().iter().map(Usable::info).collect();
        let stand_ins = config::connections::stand_ins(&self.paths);
        let mut out = Connections::new().with_keys(Arc::new(self)).with_vendors(vendors).with_stand_ins(stand_ins);
        for (info, provider) in opened {
            out.add(info, provider);
        }
        out
    }

    fn open(&self, one: &Usable, default: Option<&ConnectionName>) -> Opened {
        let mut info = one.info();
        let is_stated = self.settings.connections_with_a_model().contains(&one.name);
        if let Some(model) = config::connections::chosen_models(&self.paths).remove(&one.name).filter(|_| !is_stated) {
            info.default_model = model;
        }
        if let Some(model) = self.model.as_ref().filter(|_| default == Some(&one.name)) {
            info.default_model.clone_from(model);
        }
        let provider = self.provider(one, &mut info).map(|provider| self.bounded(one, provider));
        let provider =
            provider.map(|provider| Arc::new(NamedModelOnly::new(one.name.as_str(), provider)) as Arc<dyn Provider>);
        (info, provider)
    }

    fn bounded(&self, one: &Usable, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        if one.connection.provider == settings::ProviderKind::Rehearsal {
            return provider;
        }
        let here = one.connection.base_url.as_deref().is_some_and(is_loopback);
        let usual = if here { PARALLEL_HERE } else { PARALLEL };
        let most = one.connection.parallel_requests.or(self.settings.limits.parallel_requests).unwrap_or(usual);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places.entry(one.name.clone()).or_insert_with(|| Places::new(most));
        Arc::new(Bounded::new(one.name.as_str(), provider, places))
    }

    fn provider(&self, one: &Usable, info: &mut ConnectionInfo) -> Option<Arc<dyn Provider>> {
        use settings::ProviderKind as Kind;
        if one.missing.is_some() {
            return None;
        }
        match one.connection.provider {
            Kind::Rehearsal => Some(Arc::new(Rehearsal::new(REHEARSAL_PACE))),
            Kind::Openai | Kind::OpenaiCompatible => {
                usable(openai(self.endpoint(one), DeploymentNaming::Elsewhere, one), info)
            }
            Kind::AzureOpenai => {
                let (endpoint, place) = at_azure(self.endpoint(one), one.connection.api_version.as_deref());
                usable(openai(endpoint, place, one), info)
            }
            Kind::Gemini => usable(Gemini::new(self.endpoint(one)).map(shared), info),
            Kind::Anthropic => usable(Anthropic::new(self.endpoint(one)).map(shared), info),
        }
    }

    fn endpoint(&self, one: &Usable) -> Endpoint {
        let connection = &one.connection;
        let base_url = connection.base_url.clone().unwrap_or_default();
        let mut endpoint = Endpoint::new(one.name.as_str(), base_url);
        endpoint.key.clone_from(&one.key);
        endpoint.headers = connection.headers.clone().into_iter().collect();
        endpoint.proxy.clone_from(&connection.proxy);
        endpoint.extra_body = Some(connection.extra_body.clone()).filter(|body| !body.is_empty()).map(Into::into);
        endpoint.first_byte = endpoint.first_byte.map(|_| self.settings.limits.first_byte);
        endpoint.stall = self.settings.limits.stall;
        endpoint.models.clone_from(&connection.models);
        endpoint.default_model = connection.default_model.clone().unwrap_or_default();
        let figures = connection.figures.iter().map(|(model, said)| (model.clone(), figures(said)));
        endpoint.figures = figures.collect();
        endpoint
    }
}

impl Keys for Opener {
    fn wanted(&self, connection: &ConnectionName, refused: Option<&str>) -> Option<KeyRequest> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let one = all.with_or_without_key(connection)?;
        let host = Some(one.host()).filter(|host| !host.is_empty())?;
        let why = match (refused, &one.missing) {
            (Some(refused), _) => refused.to_owned(),
            // How else a key could be given is of no use while it can be given here.
            (None, Some(missing)) if missing.starts_with(NO_KEY) => "No key yet.".to_owned(),
            (None, Some(missing)) => format!("Connection not usable: {missing}."),
            (None, None) => match &one.key_from {
                Some(from) => format!("The new key replaces the current one ({}).", from.words()),
                None => "No key yet.".to_owned(),
            },
        };
        let stored = self.paths.credentials_file().display().to_string();
        Some(KeyRequest { connection: connection.clone(), host, stored, why })
    }

    fn stand_in(&self, named: &ConnectionName, answers: &ConnectionName) -> Result<(), String> {
        config::connections::remember_stand_in(&self.paths, named, answers).map_err(|error| {
            format!("Can't save {answers} as the substitute for {named} in {}: {error}.", self.paths.state.display())
        })
    }

    fn open_with(&self, connection: &ConnectionName, key: &Key) -> Option<Arc<dyn Provider>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let one = all.give_key(connection, key)?;
        self.open(one, None).1
    }

    fn try_server(&self, address: &str) -> Result<Opened, String> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let default = all.default.clone();
        let server = new_server(&all, address)?;
        if let Some(known) = all.at(&server.base_url) {
            return Ok(self.open(known, default.as_ref()));
        }
        // Errors name no connection that is not there yet.
        let server = NewServer { name: ConnectionName::new(""), ..server };
        Ok(self.open(all.add_server(&server), default.as_ref()))
    }

    fn add_server(&self, address: &str) -> Result<Opened, String> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let default = all.default.clone();
        let server = new_server(&all, address)?;
        if let Some(known) = all.at(&server.base_url) {
            return Ok(self.open(known, default.as_ref()));
        }
        settings::write::add_server(&self.paths.config_file(), &server)?;
        Ok(self.open(all.add_server(&server), default.as_ref()))
    }

    fn store(&self, connection: &ConnectionName, key: &Key) -> Result<Opened, String> {
        let file = self.paths.credentials_file();
        let known = self.all.lock().unwrap_or_else(PoisonError::into_inner).with_or_without_key(connection);
        if known.is_none() {
            return Err(format!("Key not stored: no connection {connection}."));
        }
        config::credentials::store(&file, connection, Some(key.reveal()))
            .map_err(|error| format!("Key not stored: {error}."))?;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let default = all.default.clone();
        let Some(one) = all.give_key(connection, key) else {
            return Err(format!("No connection {connection}."));
        };
        Ok(self.open(one, default.as_ref()))
    }
}

fn new_server(all: &config::Connections, address: &str) -> Result<NewServer, String> {
    NewServer::parse(address, |name| all.with_or_without_key(name).is_some()).map_err(|why| format!("{why}."))
}

type Tried = Result<Arc<dyn Provider>, ProviderError>;

fn shared(provider: impl Provider + 'static) -> Arc<dyn Provider> {
    Arc::new(provider)
}

/// The one of OpenAI's interfaces that the connection speaks.
fn openai(endpoint: Endpoint, place: DeploymentNaming, one: &Usable) -> Tried {
    match api_of(&one.connection) {
        settings::Api::Chat => OpenAiChat::at(endpoint, place).map(shared),
        settings::Api::Responses => OpenAiResponses::at(endpoint, place).map(shared),
    }
}

/// The provider; where it cannot be made, the picker says why.
fn usable(tried: Tried, info: &mut ConnectionInfo) -> Option<Arc<dyn Provider>> {
    match tried {
        Ok(provider) => Some(provider),
        Err(error) => {
            info.missing = Some(error.text.trim_end_matches('.').to_owned());
            None
        }
    }
}

fn figures(said: &settings::StatedFigures) -> ModelFacts {
    let prices = said.input.zip(said.output).map(|(input, output)| Prices {
        input,
        output,
        cached: said.cache_read.unwrap_or(input),
        written: said.cache_write,
        written_hour: None,
    });
    let thinks = said.thinks.map(|thinks| match thinks {
        settings::Thinks::Adaptive => Thinks::Adaptive,
        settings::Thinks::Always => Thinks::Always,
        settings::Thinks::Budget => Thinks::Budget,
        settings::Thinks::SmallBudget => Thinks::SmallBudget,
    });
    ModelFacts {
        window: said.window,
        output: said.max_output,
        thinks,
        reasons: thinks.map(|_| true),
        vision: said.vision,
        pdf: said.pdf,
        prices,
        long: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_key_is_stored_and_its_connection_opened_anew() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
        let text =
            "[connections.work]\nprovider = 'openai-compatible'\nbase_url = 'https://a.test:8443/v1'\nkey_env = 'NONE'";
        let (settings, problems) = Settings::parse(std::path::Path::new("/c"), text);
        assert_eq!(problems, vec![]);
        let keys = config::Credentials::default();
        let (all, _) = config::Connections::gather(&settings, &keys, &|_| None, None, std::path::Path::new("/c"));
        let opener = Opener::new(paths.clone(), settings, all, None);
        let work = ConnectionName::new("work");
        let wanted = opener.wanted(&work, None).unwrap();
        assert_eq!((wanted.host.as_str(), wanted.stored.contains("credentials")), ("https://a.test:8443", true));
        assert_eq!(wanted.why, "No key yet.");
        let key = Key::new("sk-unique-1").unwrap();
        let (info, provider) = opener.store(&work, &key).unwrap();
        assert!(info.missing.is_none() && provider.is_some());
        assert_eq!(info.key_from.as_deref(), Some("stored"));
        let (stored, _) = config::Credentials::read(&paths.credentials_file());
        assert_eq!(stored.key(&work), Some(&key));
        assert!(opener.wanted(&work, None).unwrap().why.contains("stored"));
        // A vendor's name needs no lines in config.toml; the demo and what nobody knows take no key.
        let vendor = ConnectionName::new("anthropic");
        assert_eq!(opener.wanted(&vendor, None).unwrap().host, "https://api.anthropic.com");
        assert!(opener.store(&vendor, &key).unwrap().1.is_some());
        for name in ["rehearsal", "nobody"] {
            assert_eq!(opener.wanted(&ConnectionName::new(name), None), None, "{name}");
        }
        assert!(opener.store(&ConnectionName::new("nobody"), &key).is_err());
    }
}
