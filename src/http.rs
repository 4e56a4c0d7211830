//! Begins every HTTP client: the TLS provider and the user agent in one place. Time limits, proxies and redirects are its
//! caller's.

use reqwest::ClientBuilder;

/// A client builder with TLS set up and nothing else decided.
pub fn client() -> ClientBuilder {
    // The first caller installs it; later ones find it there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientBuilder::new().user_agent(concat!("lisle/", env!("CARGO_PKG_VERSION")))
}
