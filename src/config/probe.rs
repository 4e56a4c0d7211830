//! Looks for model servers on the usual ports of this machine.
//!
//! Only the caller knows whether it may: never when there is a default connection, under `LISLE_HOME` or with
//! `--connection`; [`allowed`] says so.

use super::Connections;
use super::paths::{Paths, Placed};
use crate::domain::ids::ConnectionName;
use std::time::Duration;

/// Names and addresses of the servers that are looked for: Ollama, llama.cpp, LM Studio.
pub const USUAL: &[(&str, &str)] = &[
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("lm-studio", "http://127.0.0.1:1234/v1"),
];

/// Time limit for a server's answer.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// A longer list of models is not taken.
const LONGEST: usize = 1 << 20;

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// The name for its connection.
    pub name: ConnectionName,
    /// Its address up to the version.
    pub base_url: String,
    /// The models it has, as it lists them.
    pub models: Vec<String>,
}

/// Connection named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedConnection {
    /// Named by `--connection`.
    Yes,
    /// Not at all.
    No,
}

/// True if ports may be probed.
#[must_use]
pub fn allowed(paths: &Paths, connections: &Connections, named: NamedConnection) -> bool {
    paths.placed == Placed::BySystem && connections.default.is_none() && named == NamedConnection::No
}

/// Asks all of `servers` at once for their models. Who does not answer within `patience`, or answers anything but a
/// list of models, is left out.
pub async fn probe(servers: &[(&str, &str)], patience: Duration) -> Vec<FoundServer> {
    // No proxy and no redirect: what is asked stays on this machine.
    let client = crate::http::client().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(patience).build();
    let Ok(client) = client else { return Vec::new() };
    let asked = servers.iter().map(|(name, base_url)| ask(&client, name, base_url));
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, name: &str, base_url: &str) -> Option<FoundServer> {
    let mut response = client.get(format!("{base_url}/models")).send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST {
            return None;
        }
    }
    let list: serde_json::Value = serde_json::from_slice(&body).ok()?;
    // `{"data": [{"id": …}]}`, as OpenAI lists models. A server without any is no use, but is one.
    let models = list.get("data")?.as_array()?;
    let models = models.iter().filter_map(|model| model.get("id")?.as_str()).map(str::to_owned).collect();
    Some(FoundServer { name: ConnectionName::new(name), base_url: base_url.to_owned(), models })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use std::ffi::OsStr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// A server that answers each connection with the same bytes; with none it stays silent.
    async fn server(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 2048];
                let n = stream.read(&mut request).await.unwrap();
                assert!(request[..n].starts_with(b"GET /v1/models HTTP/1.1\r\n"));
                if answer.is_empty() {
                    std::future::pending::<()>().await;
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        format!("http://{address}/v1")
    }

    #[tokio::test]
    async fn servers_that_list_models_are_found_and_no_others() {
        let good = server(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 50\r\n\r\n\
             {\"object\":\"list\",\"data\":[{\"id\":\"m1\"},{\"id\":\"m2\"}]}",
        )
        .await;
        let refused = server("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
        let other = server("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
        let elsewhere =
            server("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n").await;
        let silent = server("").await;
        let servers = [
            ("good", good.as_str()),
            ("refused", refused.as_str()),
            ("other", other.as_str()),
            ("elsewhere", elsewhere.as_str()),
            ("silent", silent.as_str()),
            ("closed", "http://127.0.0.1:9/v1"),
        ];
        let found = probe(&servers, Duration::from_secs(2)).await;
        let models = vec!["m1".to_owned(), "m2".to_owned()];
        assert_eq!(found, [FoundServer { name: ConnectionName::new("good"), base_url: good.clone(), models }]);
    }

    #[test]
    fn it_is_not_allowed_with_a_home_a_default_or_a_name() {
        let mut paths = Paths::find(Some(OsStr::new("/x"))).unwrap();
        let gather = |toml: &str| {
            let (settings, _) = Settings::parse(std::path::Path::new("/c"), toml);
            let keys = crate::config::Credentials::default();
            Connections::gather(&settings, &keys, &|_| None, None, std::path::Path::new("/c")).0
        };
        let (none, some) = (gather(""), gather("[connections.a]\nprovider = 'openai'"));
        assert!(!allowed(&paths, &none, NamedConnection::No));
        paths.placed = Placed::BySystem;
        assert!(allowed(&paths, &none, NamedConnection::No));
        assert!(!allowed(&paths, &none, NamedConnection::Yes));
        assert!(!allowed(&paths, &some, NamedConnection::No));
    }
}
