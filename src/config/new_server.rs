//! A server that the user adds by its address: one that speaks OpenAI's chat API. It becomes a connection in config.toml.

use crate::domain::ids::ConnectionName;
use reqwest::Url;
use std::net::IpAddr;

/// Parts of a host's name that say nothing about whose server it is.
const COMMON: [&str; 5] = ["api", "www", "inference", "llm", "openai"];

/// Address of a server and the name of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewServer {
    /// A name that no other connection has.
    pub name: ConnectionName,
    /// Base of its API, as `base_url` in config.toml.
    pub base_url: String,
}

impl NewServer {
    /// Reads an address as people write it: with or without scheme and path, or that of an endpoint below the base.
    ///
    /// # Errors
    /// The fault and the expected form, as a sentence without its end.
    pub fn parse(address: &str, is_taken: impl Fn(&ConnectionName) -> bool) -> Result<Self, String> {
        let address = address.trim();
        if address.is_empty() {
            return Err("empty address: expected one such as http://127.0.0.1:8080/v1".to_owned());
        }
        let wrong =
            |why: &str| format!("not an address of a server: {why}; expected one such as http://127.0.0.1:8080/v1");
        let whole =
            if address.contains("://") { address.to_owned() } else { format!("{}://{address}", scheme(address)) };
        let mut url = Url::parse(&whole).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it begins with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err("leave password, query and fragment out of the address; a key is asked for where it is needed"
                .to_owned());
        }
        // As servers write it that listen everywhere.
        if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
            url.set_host(Some("127.0.0.1")).map_err(|error| wrong(&error.to_string()))?;
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").or_else(|| path.strip_suffix("/models")).unwrap_or(path);
        let path = if path.is_empty() { "/v1".to_owned() } else { path.to_owned() };
        url.set_path(&path);
        let own = own_name(&url);
        let numbered = (2..).map(|n| format!("{own}-{n}"));
        let name = std::iter::once(own.clone()).chain(numbered).map(ConnectionName::new).find(|name| !is_taken(name));
        Ok(Self { name: name.unwrap_or_else(|| ConnectionName::new(own)), base_url: url.to_string() })
    }
}

/// Scheme of an address without one: servers here and in the local network mostly have no certificate.
fn scheme(address: &str) -> &'static str {
    let host = address.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_near = match name.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_unspecified(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => name == "localhost" || !name.contains('.'),
    };
    if is_near { "http" } else { "https" }
}

/// Name after the host: `groq` for `api.groq.com`, `local-8080` for a port of this machine.
fn own_name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let ip = host.parse::<IpAddr>().ok();
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return url.port().map_or_else(|| "local".to_owned(), |port| format!("local-{port}"));
    }
    let label = match ip {
        Some(_) => format!("server-{host}"),
        None => host.split('.').find(|part| !COMMON.contains(part)).unwrap_or(&host).to_owned(),
    };
    label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (address, name, base_url) in [
            ("http://127.0.0.1:8080/v1", "local-8080", "http://127.0.0.1:8080/v1"),
            ("127.0.0.1:8080", "local-8080", "http://127.0.0.1:8080/v1"),
            ("localhost:11434/", "local-11434", "http://localhost:11434/v1"),
            (" http://0.0.0.0:8000/v1/chat/completions ", "local-8000", "http://127.0.0.1:8000/v1"),
            ("api.groq.com/openai/v1", "groq", "https://api.groq.com/openai/v1"),
            ("https://api.mistral.ai/v1/models", "mistral", "https://api.mistral.ai/v1"),
            ("gpu-box:8000", "gpu-box", "http://gpu-box:8000/v1"),
            ("192.168.1.5:8000", "server-192-168-1-5", "http://192.168.1.5:8000/v1"),
            ("[::1]:9000", "local-9000", "http://[::1]:9000/v1"),
            ("8.8.8.8", "server-8-8-8-8", "https://8.8.8.8/v1"),
        ] {
            let server = NewServer::parse(address, |_| false).unwrap();
            assert_eq!((server.name.as_str(), server.base_url.as_str()), (name, base_url), "{address}");
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let server = NewServer::parse("api.groq.com", |name| matches!(name.as_str(), "groq" | "groq-2")).unwrap();
        assert_eq!(server.name.as_str(), "groq-3");
    }

    #[test]
    fn what_is_no_address_says_what_is() {
        for (address, says) in [
            ("", "empty address"),
            ("ftp://x/", "http://"),
            ("https://me:secret@host/v1", "leave password"),
            ("https://host/v1?key=abc", "leave password"),
            ("http://", "not an address"),
            ("two words", "not an address"),
        ] {
            let why = NewServer::parse(address, |_| false).unwrap_err();
            assert!(why.contains(says) && !why.contains("secret") && !why.contains("abc"), "{address}: {why}");
        }
    }
}
