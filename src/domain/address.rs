//! Private addresses: this machine, its networks, and the addresses where clouds serve credentials.
//!
//! An address that is not clearly public counts as private.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True if an address is not of the public network.
#[must_use]
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => private_v4(ip),
        IpAddr::V6(ip) => match embedded(ip) {
            Some(inner) => private_v4(inner),
            None => private_v6(ip),
        },
    }
}

/// True if a host is private by its name alone; its address may still be. `host` as in an address:
/// in lower case, IPv6 in brackets or not.
#[must_use]
pub fn is_private_name(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    if let Ok(ip) = host.parse::<IpAddr>() {
        return is_private(ip);
    }
    let local = ["localhost", "local", "internal", "lan", "home", "corp", "intranet", "home.arpa", "localdomain"];
    // A name without a dot is one of the own network.
    !host.contains('.')
        || local.iter().any(|end| host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

fn private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation()
        || matches!((a, b, c), (0, ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _) | (240.., ..))
        // The agent of virtual machines at Azure has an address among the public ones.
        || ip == Ipv4Addr::new(168, 63, 129, 16)
}

fn private_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    // Of all of IPv6 only 2000::/3 is public, and of it not Teredo, ORCHID and documentation.
    a & 0xe000 != 0x2000 || (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || (a == 0x3fff && b < 0x1000)
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (NAT64) or 6to4.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0, 0, 0, 0, 0xffff, 0) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(v4(high, low)),
        (0x2002, ..) => Some(v4(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn private_addresses_are_known_however_they_are_written() {
        for ip in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::",
            "2001::1",
            "2001:db8::1",
            "100::1",
            "::ffff:0:127.0.0.1",
        ] {
            assert!(is_private(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "169.253.0.1",
            "2606:4700::1111",
            "2a00:1450:4001::200e",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::",
        ] {
            assert!(!is_private(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn names_of_the_own_network_are_private_before_they_are_looked_up() {
        for host in [
            "localhost",
            "localhost.",
            "api.localhost",
            "printer",
            "nas.local",
            "metadata.google.internal",
            "x.home.arpa",
            "127.0.0.1",
            "[::1]",
            "[::ffff:7f00:1]",
            "router.lan",
        ] {
            assert!(is_private_name(host), "{host}");
        }
        for host in ["docs.rs", "example.com.", "local.example.com", "mylocal.org", "8.8.8.8", "[2606:4700::1111]"] {
            assert!(!is_private_name(host), "{host}");
        }
    }

    proptest! {
        /// An address is as private as what it is when it is mapped or translated.
        #[test]
        fn other_forms_of_an_address_are_no_way_around(bits: u32) {
            let v4 = Ipv4Addr::from(bits);
            let [a, b, c, d] = v4.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            for other in [
                v4.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                prop_assert_eq!(is_private(IpAddr::V6(other)), is_private(IpAddr::V4(v4)), "{} {}", v4, other);
            }
        }
    }
}
