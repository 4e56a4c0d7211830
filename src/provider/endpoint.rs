//! Address and connection settings of a server. Values only, which show no secret; `http` uses them.

use super::fault::Peer;
use super::figures::{ModelFacts, built_in};
pub use crate::domain::secret::Key;
use crate::domain::usage::RequestUsage;
use reqwest::Url;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyIn {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name (in lower case) with nothing but the key.
    Header(&'static str),
}

/// Address and connection settings of a server.
#[derive(Clone)]
pub struct Endpoint {
    /// Name of the connection, for errors.
    pub name: String,
    /// Address up to the version: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key.
    pub key: Option<Key>,
    /// Place of the key in a request.
    pub key_in: KeyIn,
    /// Further headers. Their values are treated as secrets.
    pub headers: Vec<(String, String)>,
    /// Address of a proxy; `none` for no proxy at all; `None` for that of the environment. Loopback takes none.
    pub proxy: Option<String>,
    /// Fields that are laid over each request's body; `null` takes a field out.
    pub extra_body: Option<Value>,
    /// Time limit for the start of a response; `None` for no limit.
    pub first_byte: Option<Duration>,
    /// Longest silence within a response. Pings count as data.
    pub stall: Duration,
    /// Models that the configuration names.
    pub models: Vec<String>,
    /// The model when none was chosen.
    pub default_model: String,
    /// Model figures from the configuration, which come before the built-in table.
    pub figures: BTreeMap<String, ModelFacts>,
}

impl Endpoint {
    /// An endpoint with the usual limits: 600 s to the first byte (none on loopback), 60 s of silence.
    #[must_use]
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let first_byte = if is_loopback(&base_url) { None } else { Some(Duration::from_secs(600)) };
        Self {
            name: name.into(),
            base_url,
            key: None,
            key_in: KeyIn::Bearer,
            headers: Vec::new(),
            proxy: None,
            extra_body: None,
            first_byte,
            stall: Duration::from_secs(60),
            models: Vec::new(),
            default_model: String::new(),
            figures: BTreeMap::new(),
        }
    }

    /// The context window of a model and the price of a request: the configuration's word first, then the built-in
    /// table, then nothing and 0.
    #[must_use]
    pub fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        let known = self.known(model);
        (known.window, known.price(usage))
    }

    /// All that is known of a model: the configuration's word first, then the built-in table.
    #[must_use]
    pub fn known(&self, model: &str) -> ModelFacts {
        let own = self.figures.get(model).copied().unwrap_or_default();
        let known = built_in(model);
        ModelFacts {
            window: own.window.or(known.window),
            output: own.output.or(known.output),
            thinks: own.thinks.or(known.thinks),
            reasons: own.reasons.or(known.reasons),
            vision: own.vision.or(known.vision),
            pdf: own.pdf.or(known.pdf),
            prices: own.prices.or(known.prices),
            // Prices of the user's own hold for prompts of any length.
            long: if own.prices.is_some() { own.long } else { known.long },
        }
    }

    /// The name of the server alone: no port, no path, nothing secret.
    #[must_use]
    pub fn host(&self) -> String {
        Url::parse(&self.base_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    pub(super) fn peer(&self) -> Peer {
        let url = Url::parse(&self.base_url).ok();
        let host = url.as_ref().and_then(|url| {
            let host = url.host_str()?;
            Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        let proxy = self.proxy.as_deref().and_then(|proxy| Url::parse(proxy).ok());
        let secrets = self.key.iter().map(|key| key.reveal().to_owned());
        let secrets = secrets.chain(self.headers.iter().map(|(_, value)| value.clone()));
        let secrets = secrets.chain(url.iter().chain(&proxy).flat_map(secrets_of));
        Peer {
            name: self.name.clone(),
            host: host.unwrap_or_else(|| "the server".to_owned()),
            loopback: is_loopback(&self.base_url),
            proxied: self.proxy.as_deref().is_some_and(|proxy| !matches!(proxy.trim(), "" | "none")),
            keyless: self.key.is_none() && self.headers.is_empty(),
            // Short header values ("1", "true") are no secrets, and masking them would garble every sentence.
            secrets: secrets.filter(|secret| secret.len() >= 6).collect(),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("host", &self.host())
            .field("key", &self.key)
            .field("headers", &headers)
            .field("proxy", &self.proxy.is_some())
            .field("first_byte", &self.first_byte)
            .field("stall", &self.stall)
            .field("models", &self.models)
            .field("default_model", &self.default_model)
            .finish_non_exhaustive()
    }
}

/// Lays `extra` over a request's body; `null` takes a field out.
pub(super) fn lay_over(body: &mut Map<String, Value>, extra: Option<&Value>) {
    let Some(Value::Object(extra)) = extra else { return };
    for (key, value) in extra {
        if value.is_null() {
            body.shift_remove(key);
        } else {
            body.insert(key.clone(), value.clone());
        }
    }
}

/// Possible secrets in an address: user, password and the values of its query, raw and decoded.
fn secrets_of(url: &Url) -> Vec<String> {
    let written = [url.username(), url.password().unwrap_or("")];
    let query = url.query().unwrap_or("").split('&').filter_map(|pair| pair.split_once('=').map(|(_, value)| value));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    written.into_iter().chain(query).map(str::to_owned).chain(meant).filter(|text| !text.is_empty()).collect()
}

/// The address is one of this machine: `localhost` or a loopback address. `0.0.0.0` is none: it means wherever the
/// system takes it to.
#[must_use]
pub fn is_loopback(base_url: &str) -> bool {
    let Some(url) = Url::parse(base_url).ok() else { return false };
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_show_nowhere() {
        let key = Key::new(" topsecret-1\n").unwrap();
        let mut endpoint = Endpoint::new("work", "https://username:password1@api.test/v1?key=hidden%2F1&v=2");
        endpoint.key = Some(key);
        endpoint.headers = vec![("x-api-key".into(), "topsecret-2".into())];
        endpoint.proxy = Some("http://me:topsecret-3@proxy.test".into());
        let shown = format!("{endpoint:?}");
        for secret in ["topsecret", "password1", "hidden"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let secrets = endpoint.peer().secrets;
        let expected = ["topsecret-1", "topsecret-2", "username", "password1", "hidden%2F1", "hidden/1", "topsecret-3"];
        assert_eq!(secrets, expected);
    }

    #[test]
    fn loopback_has_no_limit_to_the_first_byte() {
        for url in [
            "http://localhost:1234/v1",
            "http://127.0.0.1/v1",
            "http://[::1]:80",
            "http://127.9.9.9",
            "http://[::ffff:127.0.0.1]:8080",
        ] {
            assert!(is_loopback(url), "{url}");
            assert_eq!(Endpoint::new("x", url).first_byte, None);
        }
        for url in [
            "https://api.openai.com/v1",
            "http://192.168.1.5",
            "http://localhost.evil.test",
            "http://0.0.0.0:1",
            "http://[::]:1",
            "nonsense",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
            assert_eq!(Endpoint::new("x", url).first_byte, Some(Duration::from_secs(600)));
        }
    }

    #[test]
    fn the_configurations_figures_come_first() {
        let mut endpoint = Endpoint::new("x", "http://127.0.0.1/v1");
        let usage = RequestUsage { input: 1_000_000, output: 0, ..Default::default() };
        assert_eq!(endpoint.figures("gpt-4o", usage), (Some(128_000), 2.5));
        assert_eq!(endpoint.figures("llama", usage), (None, 0.0));
        endpoint.figures.insert("llama".into(), ModelFacts { window: Some(8_192), ..ModelFacts::default() });
        endpoint.figures.insert("gpt-4o".into(), ModelFacts { window: Some(1_000), ..ModelFacts::default() });
        assert_eq!(endpoint.figures("llama", usage), (Some(8_192), 0.0));
        assert_eq!(endpoint.figures("gpt-4o", usage), (Some(1_000), 2.5));
    }
}
