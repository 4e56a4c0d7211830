//! OpenAI's interfaces at Azure: where they are below a resource's address, and how the key is sent.
//!
//! The addresses are those of Microsoft's reference "Azure OpenAI in Azure AI Foundry Models REST API": since the version `v1` a
//! deployment is named as the model, before it in the address.

use super::endpoint::{Endpoint, KeyIn};

/// Naming of a deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeploymentNaming {
    /// Not at Azure.
    #[default]
    Elsewhere,
    /// As the model, in the body alone.
    Body,
    /// In the address, as versions with a date want it of chat completions.
    Address,
}

impl DeploymentNaming {
    /// Path of a deployment's chat completions, below the base address.
    #[must_use]
    pub fn chat_path(self, deployment: &str) -> String {
        match self {
            Self::Elsewhere | Self::Body => "/chat/completions".to_owned(),
            Self::Address => {
                let bad = |c: char| matches!(c, '/' | '?' | '#' | '%') || c.is_whitespace() || c.is_control();
                format!("/deployments/{}/chat/completions", deployment.replace(bad, "-"))
            }
        }
    }
}

/// The endpoint of a resource. `base_url` may be the resource's bare address or any address below its `/openai`; `version` is the
/// configured `api_version`, before one in the address.
#[must_use]
pub fn at_azure(mut endpoint: Endpoint, version: Option<&str>) -> (Endpoint, DeploymentNaming) {
    let (path, query) = endpoint.base_url.split_once('?').unwrap_or((&endpoint.base_url, ""));
    let told = query.split('&').find_map(|pair| pair.strip_prefix("api-version="));
    let version = version.or(told).map(str::trim).filter(|version| !version.is_empty()).map(str::to_owned);
    let after_host = path.find("://").map_or(0, |at| at + 3);
    let openai = path.get(after_host..).and_then(|rest| rest.find("/openai")).map(|at| at + after_host);
    let resource = openai.and_then(|at| path.get(..at)).unwrap_or(path).trim_end_matches('/').to_owned();
    let dated = version.as_deref().is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    let query = version.map_or(String::new(), |version| format!("?api-version={version}"));
    let (below, place) =
        if dated { ("/openai", DeploymentNaming::Address) } else { ("/openai/v1", DeploymentNaming::Body) };
    endpoint.base_url = format!("{resource}{below}{query}");
    endpoint.key_in = KeyIn::Header("api-key");
    (endpoint, place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

    use super::*;

    #[test]
    fn addresses() {
        let host = "https://me.openai.azure.com";
        let table = [
            ("", None, "/openai/v1", DeploymentNaming::Body),
            ("/", None, "/openai/v1", DeploymentNaming::Body),
            ("/openai/v1/", Some("preview"), "/openai/v1?api-version=preview", DeploymentNaming::Body),
            ("/openai", Some("2024-10-21"), "/openai?api-version=2024-10-21", DeploymentNaming::Address),
            (
                "/openai/deployments/x/chat/completions?api-version=2024-06-01",
                None,
                "/openai?api-version=2024-06-01",
                DeploymentNaming::Address,
            ),
            ("?api-version=2024-06-01", Some("v1"), "/openai/v1?api-version=v1", DeploymentNaming::Body),
        ];
        for (base, version, expected, place) in table {
            let (endpoint, got) = at_azure(Endpoint::new("x", format!("{host}{base}")), version);
            assert_eq!((endpoint.base_url.as_str(), got), (format!("{host}{expected}").as_str(), place), "{base}");
            assert_eq!(endpoint.key_in, KeyIn::Header("api-key"));
        }
        assert_eq!(DeploymentNaming::Address.chat_path("my gpt"), "/deployments/my-gpt/chat/completions");
        assert_eq!(DeploymentNaming::Body.chat_path("my gpt"), "/chat/completions");
    }
}
