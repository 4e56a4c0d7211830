//! The part of SOCKS 5 that a client needs to name where it wants to go ([RFC 1928](https://www.rfc-editor.org/rfc/rfc1928)):
//! no passwords, connections alone.

use super::target::Target;
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The first byte of a client.
pub(super) const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NOTHING_SUITS: u8 = 0xff;
const CONNECT: u8 = 1;

/// Reply to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum SocksReply {
    Connected = 0,
    NotAllowed = 2,
    Unreachable = 4,
    NoSuchCommand = 7,
    NoSuchAddress = 8,
}

/// Reads where the client wants to go. `Err` inside is what it has to be answered.
pub(super) async fn hear<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
) -> Result<std::result::Result<Target, SocksReply>> {
    let [version, methods] = some(stream).await?;
    if version != VERSION {
        return Err(Error::new(ErrorKind::InvalidData, "not SOCKS 5"));
    }
    let mut offered = vec![0; usize::from(methods)];
    stream.read_exact(&mut offered).await?;
    let suits = offered.contains(&NO_PASSWORD);
    stream.write_all(&[VERSION, if suits { NO_PASSWORD } else { NOTHING_SUITS }]).await?;
    if !suits {
        return Err(Error::new(ErrorKind::InvalidData, "no way to sign in is offered"));
    }
    let [version, command, _, kind] = some(stream).await?;
    if version != VERSION {
        return Err(Error::new(ErrorKind::InvalidData, "not SOCKS 5"));
    }
    let host = match kind {
        1 => Some(Ipv4Addr::from(some::<4, _>(stream).await?).to_string()),
        4 => Some(Ipv6Addr::from(some::<16, _>(stream).await?).to_string()),
        3 => {
            let [length] = some(stream).await?;
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name).await?;
            String::from_utf8(name).ok()
        }
        _ => return Ok(Err(SocksReply::NoSuchAddress)),
    };
    let port = u16::from_be_bytes(some(stream).await?);
    if command != CONNECT {
        return Ok(Err(SocksReply::NoSuchCommand));
    }
    Ok(host.and_then(|host| Target::new(&host, port)).ok_or(SocksReply::NoSuchAddress))
}

/// Says what came of it.
pub(super) async fn answer<S: AsyncWrite + Unpin>(stream: &mut S, answer: SocksReply) -> Result<()> {
    // Where the connection begins at this end is nobody's business.
    stream.write_all(&[VERSION, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

async fn some<const N: usize, S: AsyncRead + Unpin>(stream: &mut S) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Result of these bytes, and the replies meanwhile.
    fn heard(bytes: &[u8]) -> (Result<std::result::Result<Target, SocksReply>>, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut said = Vec::new();
            let mut both = tokio::io::join(bytes, &mut said);
            let heard = hear(&mut both).await;
            (heard, said)
        })
    }

    fn asks(command: u8, kind: u8, rest: &[u8]) -> Vec<u8> {
        [&[5, 1, 0, 5, command, 0, kind], rest].concat()
    }

    #[test]
    fn names_and_addresses_are_heard() {
        let name = [&[11][..], b"EXAMPLE.org", &[1, 187]].concat();
        let v6 = [&Ipv6Addr::LOCALHOST.octets()[..], &[0, 80]].concat();
        for (bytes, to) in [
            (asks(1, 3, &name), "example.org:443"),
            (asks(1, 1, &[127, 0, 0, 1, 0, 80]), "127.0.0.1:80"),
            (asks(1, 4, &v6), "[::1]:80"),
        ] {
            let (heard, said) = heard(&bytes);
            assert_eq!(heard.unwrap().unwrap().to_string(), to);
            assert_eq!(said, [5, 0]);
        }
    }

    #[test]
    fn what_is_not_to_be_had_is_said() {
        for (bytes, answer) in [
            (asks(2, 1, &[127, 0, 0, 1, 0, 80]), SocksReply::NoSuchCommand),
            (asks(3, 1, &[127, 0, 0, 1, 0, 80]), SocksReply::NoSuchCommand),
            (asks(1, 9, &[127, 0, 0, 1, 0, 80]), SocksReply::NoSuchAddress),
            (asks(1, 3, &[3, b'a', 0xff, b'b', 0, 80]), SocksReply::NoSuchAddress),
            (asks(1, 3, &[0, 0, 80]), SocksReply::NoSuchAddress),
            (asks(1, 1, &[1, 2, 3, 4, 0, 0]), SocksReply::NoSuchAddress),
        ] {
            assert_eq!(heard(&bytes).0.unwrap(), Err(answer), "{bytes:?}");
        }
        let (with_password, said) = heard(&[5, 1, 2]);
        assert!(with_password.is_err());
        assert_eq!(said, [5, 0xff]);
        assert!(heard(&[4, 1, 0, 80, 1, 2, 3, 4, 0]).0.is_err());
    }

    proptest! {
        #[test]
        fn whatever_comes_is_survived(bytes: Vec<u8>, valid in any::<bool>()) {
            let bytes = if valid { [&[5, 1, 0, 5, 1, 0, 3][..], &bytes].concat() } else { bytes };
            let _ = heard(&bytes);
        }
    }
}
