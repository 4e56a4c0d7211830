//! `lisle gateway stdio`: leads a client of another machine, on stdin and stdout, to the gateway of this one.

use super::dial::{Attempt, Dialed, GatewayRoute};
use super::frame::{self, ErrorCode, FrameError, FrameReader, LONGEST_FIRST, LinkFrame};
use super::handshake::{CONNECT, Connect};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

/// Line that the output begins with, behind whatever a shell greets with.
pub const MARKER: &str = "lisle-gateway-stdio-1";

/// Leads what is read to a gateway and back, until one side ends. The gateway's secret is put into the handshake here, where
/// it can be read.
///
/// # Errors
/// When the output cannot be written.
pub async fn lead<R, W>(read: R, mut write: W, way: Result<GatewayRoute, String>) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    write.write_all(format!("{MARKER}\n").as_bytes()).await?;
    write.flush().await?;
    let mut reader = FrameReader::new(read, LONGEST_FIRST);
    let (id, connect) = match first(&mut reader).await {
        Ok(first) => first,
        Err((id, why)) => return refuse(&mut write, id, ErrorCode::InvalidRequest, why).await,
    };
    let dialed = match way {
        Ok(way) => way.dial(Attempt::First).await.map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    let Dialed { read: mut from, write: mut to, secret, program: _ } = match dialed {
        Ok(dialed) => dialed,
        Err(why) => return refuse(&mut write, Some(id), ErrorCode::Unavailable, format!("{why}.")).await,
    };
    to.write_all(&frame::request(id, CONNECT, &Connect { secret, ..connect })).await?;
    let (mut read, begun) = reader.into_parts();
    to.write_all(&begun).await?;
    let up = async {
        let _ = tokio::io::copy(&mut read, &mut to).await;
        let _ = to.shutdown().await;
    };
    let down = async {
        let mut bytes = vec![0; 64 << 10];
        loop {
            match tokio::io::AsyncReadExt::read(&mut from, &mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(n) => {
                    let part = bytes.get(..n).unwrap_or_default();
                    if write.write_all(part).await.is_err() || write.flush().await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
    Ok(())
}

/// The handshake of the client.
async fn first<R: AsyncRead + Unpin>(reader: &mut FrameReader<R>) -> Result<(u64, Connect), (Option<u64>, String)> {
    match reader.frame().await {
        Ok(Some(LinkFrame::Request { id, method, params })) if method == CONNECT => {
            match serde_json::from_str(params.get()) {
                Ok(connect) => Ok((id, connect)),
                Err(error) => Err((Some(id), format!("Invalid parameters: {error}."))),
            }
        }
        Ok(_) => Err((None, "The first frame is a request of \"connect\".".to_owned())),
        Err(error) => Err((None, format!("Can't read the first frame: {error}."))),
    }
}

async fn refuse(
    write: &mut (impl AsyncWrite + Unpin),
    id: Option<u64>,
    code: ErrorCode,
    why: String,
) -> io::Result<()> {
    write.write_all(&frame::reply(id, Err::<&(), _>(&FrameError::new(code, why)))).await?;
    write.flush().await
}
