//! Forms of private keys other than PEM: binary ones by their first bytes, and those of single programs by their words.
//!
//! A key that a machine reads counts in every file. What texts show as examples (JWK, WireGuard, PEM in base64) counts in files
//! of data alone, as tokens do. Sources: RFC 7292 (PKCS#12), RFC 5208 and 5958 (PKCS#8), RFC 8017 (PKCS#1), RFC 5915
//! (keys of elliptic curves), RFC 7517 (JWK), RFC 9580 (OpenPGP).

use regex::bytes::Regex;
use std::sync::LazyLock;

/// First bytes of files that hold keys: Java's key stores, and KeePass.
const STORES: &[&[u8]] = &[b"\xfe\xed\xfe\xed\0\0\0", b"\xce\xce\xce\xce\0\0\0", b"\x03\xd9\xa2\x9a"];

/// First words of files that hold a key, before or behind remarks.
const BEGINNINGS: &[&[u8]] = &[
    // A key of GnuPG's own folder.
    b"(11:private-key",
    b"(20:shadowed-private-key",
    b"(21:protected-private-key",
    b"untrusted comment: minisign encrypted secret key",
    b"untrusted comment: minisign secret key",
    b"untrusted comment: rsign encrypted secret key",
];

/// Object identifiers of what a private key is for: RSA, RSA-PSS, elliptic curves, X25519, X448, Ed25519, Ed448, DSA.
const ALGORITHMS: &[&[u8]] = &[
    b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01",
    b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a",
    b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01",
    b"\x06\x03\x2b\x65\x6e",
    b"\x06\x03\x2b\x65\x6f",
    b"\x06\x03\x2b\x65\x70",
    b"\x06\x03\x2b\x65\x71",
    b"\x06\x07\x2a\x86\x48\xce\x38\x04\x01",
];
/// Beginnings of identifiers of encryption by a password: PKCS#5, PKCS#12.
const PASSWORDS: &[&[u8]] =
    &[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05", b"\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"];

/// True if a file with these first bytes is a key by its form, whatever its name.
#[must_use]
pub(super) fn is_key(bytes: &[u8]) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?-u)---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----\r?\n(?:[A-Za-z-]+: [^\n]*\n|[^\n]*\\\r?\n)*[A-Za-z0-9+/=]{24,}",
            r"|PuTTY-User-Key-File-[0-9]+: [^\n]+\n(?:[^\n]*\n){1,200}?Private-Lines: [0-9]",
            r"|AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{50,}",
        ))
        .ok()
    });
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    STORES.iter().chain(BEGINNINGS).any(|start| bytes.starts_with(start))
        || is_der(bytes)
        || is_openpgp(bytes)
        || has_any(bytes, &[b"BEGIN SSH2", b"PuTTY-User-Key", b"AGE-SECRET-KEY-"])
            && WORDS.as_ref().is_some_and(|words| words.is_match(bytes))
}

/// True if a file of data with these first bytes holds a key in a form that texts show as an example, too.
#[must_use]
pub(super) fn holds_key(bytes: &[u8]) -> bool {
    static WIREGUARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i-u:\b(?:PrivateKey|PresharedKey)\s*[=:]\s*["']?)(?-u:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)"#)
            .ok()
    });
    // "-----BEGIN " with "PRIVATE KEY" behind it and a word before it, in base64.
    static BASE64: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?-u)LS0tLS1CRUdJTi(?:BQUklWQVRFIEtFW|BSU0EgUFJJVkFURSBLRV|BFQyBQUklWQVRFIEtFW|BPUEVOU1NIIFBSSVZBVEUgS0VZ|BFTkNSWVBURUQgUFJJVkFURSBLRV|BEU0EgUFJJVkFURSBLRV|BQR1AgUFJJVkFURSBLRV)[A-Za-z0-9+/=\r\n]{40,}").ok()
    });
    let is = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(bytes));
    has_any(bytes, &[b"LS0tLS1CRUdJTi"]) && is(&BASE64)
        || has_any(bytes, &[b"\"kty\"", b"\\\"kty\\\""]) && holds_jwk(bytes)
        || is(&WIREGUARD)
}

/// A key of JSON with its private part beside the kind.
fn holds_jwk(bytes: &[u8]) -> bool {
    /// The parts of a key stand together.
    const NEAR: usize = 8 * 1024;
    static PRIVATE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?-u)\\*"(?:d|k)\\*"\s*:\s*\\*"[A-Za-z0-9_-]{20,}"#).ok());
    memchr::memmem::find_iter(bytes, b"kty").take(1_000).any(|at| {
        let near = bytes.get(at.saturating_sub(NEAR)..bytes.len().min(at + NEAR)).unwrap_or_default();
        // Of the object that it stands in.
        let from = near.len().min(at).min(NEAR);
        let (before, behind) = near.split_at(from);
        let start = memchr::memrchr(b'{', before).unwrap_or_default();
        let end = memchr::memchr(b'}', behind).map_or(near.len(), |end| from + end);
        let object = near.get(start..end).unwrap_or_default();
        PRIVATE.as_ref().is_some_and(|private| private.is_match(object))
    })
}

fn has_any(bytes: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| memchr::memmem::find(bytes, word).is_some())
}

/// The content of an ASN.1 value of this kind that begins here, as far as it is there.
fn value(bytes: &[u8], kind: u8) -> Option<&[u8]> {
    let (_, rest) = bytes.split_first().filter(|(first, _)| **first == kind)?;
    let (length, rest) = rest.split_first()?;
    match usize::from(*length) {
        // As long as it goes.
        0x80 => Some(rest),
        short if short < 0x80 => Some(rest.get(..short).unwrap_or(rest)),
        long => {
            let count = long & 0x7f;
            let (length, rest) = rest.split_at_checked(count).filter(|_| count <= 4)?;
            let length = length.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
            Some(rest.get(..length).unwrap_or(rest))
        }
    }
}

/// PKCS#12, PKCS#8 with a password and without, PKCS#1, and a key of an elliptic curve.
fn is_der(bytes: &[u8]) -> bool {
    const SEQUENCE: u8 = 0x30;
    let Some(inner) = value(bytes, SEQUENCE) else { return false };
    let starts = |rest: &[u8], words: &[&[u8]]| words.iter().any(|word| rest.starts_with(word));
    if let Some(rest) = inner.strip_prefix(b"\x02\x01\x03") {
        return value(rest, SEQUENCE)
            .is_some_and(|content| content.starts_with(b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"));
    }
    if let Some(rest) = inner.strip_prefix(b"\x02\x01\x00").or_else(|| inner.strip_prefix(b"\x02\x01\x01")) {
        let algorithm = value(rest, SEQUENCE).is_some_and(|algorithm| starts(algorithm, ALGORITHMS));
        // The numbers of RSA: a long one, and 65537 behind it as a rule.
        let modulus = value(rest, 0x02).is_some_and(|number| number.len() >= 64);
        let curve = value(rest, 0x04).is_some_and(|number| (28..=66).contains(&number.len()));
        return algorithm || modulus || curve;
    }
    value(inner, SEQUENCE).is_some_and(|algorithm| starts(algorithm, PASSWORDS))
}

/// A packet of a secret key, version 4 to 6, of an algorithm that is there.
fn is_openpgp(bytes: &[u8]) -> bool {
    const KINDS: &[u8] = &[1, 2, 3, 16, 17, 18, 19, 22, 25, 26, 27, 28];
    let body = match bytes {
        [0x94, _, body @ ..] | [0x95, _, _, body @ ..] => body,
        [0xc5, length, body @ ..] if *length < 192 => body,
        [0xc5, length, _, body @ ..] if *length < 224 => body,
        _ => return false,
    };
    matches!(body, [4..=6, _, _, _, _, kind, ..] if KINDS.contains(kind)) && bytes.len() >= 40
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use std::path::Path;

    fn secret(name: &str, bytes: impl AsRef<[u8]>) -> bool {
        Content::of(Path::new(name)).is_secret(bytes.as_ref())
    }

    fn der(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[kind, 0x82], &length[..], content].concat()
    }

    #[test]
    fn binary_keys_count_whatever_their_name() {
        let rsa = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00".as_slice();
        let number = der(0x02, &[0x5a; 257]);
        let pkcs1 = der(0x30, &[b"\x02\x01\x00", &number[..], b"\x02\x03\x01\x00\x01"].concat());
        let pkcs8 = der(0x30, &[b"\x02\x01\x00", &der(0x30, rsa)[..], &der(0x04, &pkcs1)[..]].concat());
        let ed25519 =
            [b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".as_slice(), &[7; 32]].concat();
        let curve = [b"\x30\x77\x02\x01\x01\x04\x20".as_slice(), &[7; 32], b"\xa0\x0a\x06\x08"].concat();
        let password = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d\x30\x3c".as_slice();
        let encrypted = der(0x30, &[&der(0x30, password)[..], &der(0x04, &[1; 300])[..]].concat());
        let data = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0".as_slice();
        let pkcs12 = der(0x30, &[b"\x02\x01\x03", &der(0x30, data)[..]].concat());
        let endless = [b"\x30\x80\x02\x01\x03\x30\x80".as_slice(), data, &[0; 30]].concat();
        let openpgp = [b"\x95\x03\x98\x04\x65\x01\x02\x03\x01\x08\x00".as_slice(), &[9; 60]].concat();
        let newer = [b"\xc5\x58\x04\x65\x01\x02\x03\x16\x09".as_slice(), &[9; 60]].concat();
        let jks = b"\xfe\xed\xfe\xed\0\0\0\x02\0\0\0\x01".to_vec();
        let keepass = b"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5\x01\0\x04\0".to_vec();
        let gnupg = b"(21:protected-private-key(3:rsa(1:n257:".to_vec();
        for (what, bytes) in [
            ("PKCS#1", pkcs1),
            ("PKCS#8", pkcs8),
            ("Ed25519", ed25519),
            ("a curve", curve),
            ("PKCS#8 with a password", encrypted),
            ("PKCS#12", pkcs12),
            ("PKCS#12 of no length", endless),
            ("OpenPGP", openpgp),
            ("OpenPGP, new form", newer),
            ("Java", jks),
            ("KeePass", keepass),
            ("GnuPG", gnupg),
        ] {
            for name in ["backup", "x.bin", "x.der", "notes.txt"] {
                assert!(secret(name, &bytes), "{what} in {name}");
            }
            assert!(!secret("a.png", &bytes), "{what}");
        }
    }

    #[test]
    fn certificates_and_other_binary_files_are_no_keys() {
        let name = b"\xa0\x03\x02\x01\x02\x02\x14".as_slice();
        let certificate = der(0x30, &der(0x30, &[name, &[3; 300]].concat()));
        let public =
            der(0x30, &[&der(0x30, b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00")[..], b"\x03"].concat());
        let openpgp = [b"\x99\x01\x0d\x04\x65\x01\x02\x03\x01\x08\x00".as_slice(), &[9; 60]].concat();
        for (what, bytes) in [
            ("a certificate", certificate),
            ("a public key", public),
            ("a public key of OpenPGP", openpgp),
            ("zeros", vec![0; 500]),
            ("a tree of git", b"0\x82\x01\x00tree".to_vec()),
            ("digits", b"0123456789".to_vec()),
            ("nothing", Vec::new()),
            ("interrupted", b"\x30\x82".to_vec()),
        ] {
            assert!(!secret("x.bin", &bytes), "{what}");
        }
    }

    #[test]
    fn keys_of_single_programs_count_in_every_file_and_examples_in_data_alone() {
        let line = "P2/56wAAANwAAAA3aWYtbW9kbntzaWdue3JzYS1wa2NzMS1zaGExfSxlbmNyeXB0e3JzYS1w";
        let ssh2 = format!("---- BEGIN SSH2 {} KEY ----\nComment: \"x\"\n{line}\n", "ENCRYPTED PRIVATE");
        let putty = format!(
            "saved\nPuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 1\n{line}\n{}: 1\n{line}\n",
            "Private-Lines"
        );
        let age = format!("# created: 2026\nkey AGE-SECRET-KEY-1{}\n", "Q2W3E4R5T6Y7U8P9A0SDFGHJKLZXCVNM".repeat(2));
        for (what, text) in [("SSH2", ssh2), ("PuTTY", putty), ("age", age)] {
            for name in ["x", "notes.md", "x.odd", "x.txt"] {
                assert!(secret(name, &text), "{what} in {name}");
            }
            assert!(!secret("a.rs", &text), "{what}");
        }
        let part = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE";
        let jwk = format!("{{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{part}\",\"{}\":\"{part}\"}}", "d");
        let pem = ["LS0tLS1CRUdJTiBPUEVOU1NI", "IFBSSVZBVEUgS0VZLS0tLS0K", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE"];
        for (what, text) in [
            ("JWK", jwk.clone()),
            ("a set of JWK", format!("{{\"keys\": [{{\"kty\":\"RSA\",\"n\":\"{part}\"}}, {jwk}]}}")),
            ("JWK in a text of JSON", jwk.replace('"', "\\\"")),
            ("a symmetric JWK", format!("{{\"{}\": \"{part}\", \"kty\": \"oct\"}}", "k")),
            ("WireGuard", format!("[Interface]\n{} = {}=\nAddress = 10.0.0.2/32\n", "PrivateKey", &part[..43])),
            ("PEM in base64", format!("data:\n  tls: {}\n", pem.concat())),
        ] {
            for name in ["x.json", "wg0.conf", "x.yaml", "x"] {
                assert!(secret(name, &text), "{what} in {name}");
            }
            assert!(!secret("README.md", &text) && !secret("a.rs", &text), "{what}");
        }
        for open in [
            format!("{{\"keys\": [{{\"kty\":\"EC\",\"x\":\"{part}\",\"y\":\"{part}\"}}], \"d\": \"{part}\"}}"),
            format!("{{\"d\": \"{part}\", \"a\": {{\"kty\":\"EC\",\"x\":\"{part}\"}}}}"),
            "PrivateKey = ${WG_KEY}\nPublicKey = x\n".to_owned(),
            "ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB\n".to_owned(),
            "A key is AGE-SECRET-KEY-1...\n".to_owned(),
        ] {
            assert!(!secret("x.json", &open), "{open}");
        }
    }
}
