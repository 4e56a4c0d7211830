//! Target of a connection: one host in one spelling, and a port.
//!
//! Judging, looking up and rules use this spelling: lower case, without a dot at the end,
//! international names in their ASCII form, addresses in their usual form however they were written
//! (`0x7f.1`, `2130706433`, `::ffff:1.2.3.4`).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    host: String,
    port: u16,
}

/// The longest name of a host, with room for another form of it.
const LONGEST: usize = 1_024;

impl Target {
    /// `None` for what is no host: empty, with a user, a path, a zone or characters that no host has.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Option<Self> {
        if port == 0 || host.is_empty() || host.len() > LONGEST {
            return None;
        }
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if bracketed.is_some() || host.contains(':') {
            let ip: Ipv6Addr = bracketed.unwrap_or(host).parse().ok()?;
            return Some(Self::at(IpAddr::V6(ip), port));
        }
        let foreign = |c: char| c.is_whitespace() || c.is_control() || "@/\\?#%[]<>^|{}\"'`,;!$&()*+=".contains(c);
        if host.contains(foreign) {
            return None;
        }
        let url = reqwest::Url::parse(&format!("http://{host}/")).ok()?;
        let plain = url.username().is_empty() && url.password().is_none() && url.port().is_none() && url.path() == "/";
        let name = url.host_str().filter(|_| plain)?;
        let name = name.strip_suffix('.').unwrap_or(name);
        if let Ok(ip) = name.parse::<IpAddr>() {
            return Some(Self::at(ip, port));
        }
        let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(of_name);
        let sound = name.len() <= 253 && name.split('.').all(label);
        sound.then(|| Self { host: name.to_owned(), port })
    }

    /// An address. IPv4 that is written as IPv6 is IPv4.
    #[must_use]
    pub fn at(ip: IpAddr, port: u16) -> Self {
        Self { host: ip.to_canonical().to_string(), port }
    }

    /// Reads `HOST:PORT`; without a port it is `usual`.
    #[must_use]
    pub fn parse(text: &str, usual: Option<u16>) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') && (!host.contains(':') || host.ends_with(']')) => {
                // `+1` is a number to Rust.
                let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                (host, digits.then(|| port.parse().ok()).flatten()?)
            }
            _ => (text, usual?),
        };
        Self::new(host, port)
    }

    /// The host: a name, or an address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// As rules name it: the host alone at the ports of the web, else with its port.
    #[must_use]
    pub fn in_rules(&self) -> String {
        if matches!(self.port, 80 | 443) { self.host.clone() } else { self.to_string() }
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::is_private_name;
    use proptest::prelude::*;

    #[test]
    fn a_host_has_one_spelling() {
        for (written, read) in [
            ("example.org:443", "example.org:443"),
            ("EXAMPLE.org.:443", "example.org:443"),
            ("ｅｘａｍｐｌｅ.org:443", "example.org:443"),
            ("exämple.org:80", "xn--exmple-cua.org:80"),
            // A Cyrillic letter is another host, and looks like one.
            ("ex\u{430}mple.org:80", "xn--exmple-4nf.org:80"),
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("127.1:80", "127.0.0.1:80"),
            ("127.0.0.1.:80", "127.0.0.1:80"),
            ("2130706433:80", "127.0.0.1:80"),
            ("0x7f.1:80", "127.0.0.1:80"),
            ("0177.0.0.1:80", "127.0.0.1:80"),
            ("0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("[::ffff:7f00:1]:80", "127.0.0.1:80"),
            ("localhost:8080", "localhost:8080"),
            ("LOCALHOST.:8080", "localhost:8080"),
            ("a_b.example:1", "a_b.example:1"),
        ] {
            assert_eq!(Target::parse(written, None).map(|to| to.to_string()).as_deref(), Some(read), "{written}");
        }
        assert_eq!(Target::parse("example.org", Some(80)).unwrap().port(), 80);
        assert_eq!(Target::parse("[::1]", Some(80)).unwrap().to_string(), "[::1]:80");
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for written in [
            "",
            ":80",
            "example.org",
            "example.org:",
            "example.org:0",
            "example.org:+1",
            "example.org:65536",
            "example.org:80:80",
            "me@example.org:80",
            "allowed.example@evil.example:443",
            "example.org/x:80",
            "example.org\\x:80",
            "exam ple.org:80",
            "exam\0ple.org:80",
            "exam%2eple.org:80",
            "example..org:80",
            "example.org..:80",
            ".example.org:80",
            "[fe80::1%eth0]:80",
            "[::1:80",
            "::1:80",
            "[example.org]:80",
            "999.1.1.1:80",
        ] {
            assert_eq!(Target::parse(written, None), None, "{written}");
        }
        assert_eq!(Target::new(&"a".repeat(64), 80), None);
        assert_eq!(Target::new(&"a.".repeat(600), 80), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_and_reads_the_same_again(text in "\\PC{0,40}(:[0-9]{0,6})?") {
            if let Some(target) = Target::parse(&text, None) {
                prop_assert_eq!(Target::parse(&target.to_string(), None), Some(target));
            }
        }

        #[test]
        fn no_spelling_of_a_private_address_hides_it(bits: u32, radix in 0..3) {
            let ip = std::net::Ipv4Addr::from(bits);
            let written = match radix {
                0 => bits.to_string(),
                1 => format!("0x{bits:x}"),
                _ => format!("{:#o}", bits).replace("0o", "0"),
            };
            let target = Target::new(&written, 80).unwrap();
            prop_assert_eq!(is_private_name(target.host()), crate::domain::address::is_private(ip.into()));
        }
    }
}
