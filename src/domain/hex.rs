//! Bytes in hexadecimal.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Small hexadecimal digits, two a byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// SHA-256 of bytes, in hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!((hex(&[]), hex(&[0, 10, 255])), (String::new(), "000aff".to_owned()));
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c14"));
    }
}
