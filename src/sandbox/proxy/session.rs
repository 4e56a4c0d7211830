//! Connections of one command: every host is decided on once, and connected to at the addresses that were judged.

use super::names::{NameLookup, leads_inside, look_up};
use super::target::Target;
use crate::domain::address::is_private_name;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Limit for an answer of the user's.
const PATIENCE: Duration = Duration::from_secs(120);
/// Limit for connecting to a server, over all of its addresses.
const CONNECT: Duration = Duration::from_secs(20);
/// Hosts that are decided on for one command. Each may be a question.
const MOST_HOSTS: usize = 500;
/// Decisions of one command that may wait at a time, so that nobody is asked a hundred things at once.
const MOST_WAITING: usize = 8;
/// Refusals that are remembered to be told.
const MOST_TOLD: usize = 20;

/// Decides what may be reached.
pub trait Gate: Send + Sync {
    /// Decides if a command may connect there; may wait for the user. `private`: it is this machine, its network, or
    /// where a cloud serves credentials; by the addresses that it was looked up to, else by its name.
    ///
    /// # Errors
    /// A sentence why not.
    fn may_reach(&self, target: Target, private: bool) -> BoxFuture<'static, Result<(), String>>;
}

/// Why there is no connection: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Refused host.
    NotAllowed(String),
    /// Allowed host that cannot be reached.
    Unreachable(String),
    /// The target is nothing that could be reached.
    Malformed(String),
}

/// A host that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The host with its port.
    pub target: Target,
    /// Address of this machine, its network, or a cloud's service of credentials.
    pub private: bool,
    /// Allowed host that did not answer.
    pub allowed: bool,
    /// A sentence why.
    pub why: String,
}

/// Refused hosts, oldest first, for the words after the command.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<Vec<Refused>>>);

impl Refusals {
    fn note(&self, target: &Target, private: bool, allowed: bool, why: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_TOLD && !all.iter().any(|known| known.target == *target) {
            all.push(Refused { target: target.clone(), private, allowed, why: why.to_owned() });
        }
    }

    /// All so far.
    #[must_use]
    pub fn all(&self) -> Vec<Refused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type Decision = Shared<BoxFuture<'static, Result<(), String>>>;

/// One command's way out.
pub(super) struct Session {
    gate: Arc<dyn Gate>,
    names: Arc<dyn NameLookup>,
    decisions: Mutex<HashMap<(Target, bool), Decision>>,
    waiting: Arc<Semaphore>,
    refusals: Refusals,
    ended: CancellationToken,
}

impl Session {
    pub(super) fn new(
        gate: Arc<dyn Gate>,
        names: Arc<dyn NameLookup>,
        refusals: Refusals,
        ended: CancellationToken,
    ) -> Self {
        let waiting = Arc::new(Semaphore::new(MOST_WAITING));
        Self { gate, names, decisions: Mutex::default(), waiting, refusals, ended }
    }

    /// Ends with the command.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// A connection, once it is allowed. A name is looked up only then, so that a refused one tells nobody anything.
    pub(super) async fn open(&self, target: &Target) -> Result<TcpStream, Refusal> {
        self.connected(target).await.inspect_err(|refusal| {
            if let Refusal::Unreachable(why) = refusal {
                self.refusals.note(target, is_private_name(target.host()), true, why);
            }
        })
    }

    async fn connected(&self, target: &Target) -> Result<TcpStream, Refusal> {
        let private = is_private_name(target.host());
        self.decide(target, private).await?;
        let at = look_up(&*self.names, target.host(), target.port()).await.map_err(Refusal::Unreachable)?;
        if !private && at.iter().any(|one| leads_inside(*one)) {
            self.decide(target, true).await?;
        }
        let connected = tokio::time::timeout(CONNECT, connect(&at)).await;
        let failed = |why: String| Refusal::Unreachable(format!("Can't reach {target}: {why}."));
        match connected {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed(format!("it took more than {} s", CONNECT.as_secs()))),
        }
    }

    /// One decision holds for the whole command, for all connections that wait for it and those that come after.
    async fn decide(&self, target: &Target, private: bool) -> Result<(), Refusal> {
        let decision = {
            let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (target.clone(), private);
            if decisions.len() >= MOST_HOSTS && !decisions.contains_key(&key) {
                return Err(Refusal::NotAllowed(blocked(target, "This command asked for too many hosts.")));
            }
            decisions.entry(key).or_insert_with(|| self.ask(target, private)).clone()
        };
        decision.await.map_err(|why| {
            self.refusals.note(target, private, false, &why);
            Refusal::NotAllowed(blocked(target, &why))
        })
    }

    /// Goes on when the client that waits hangs up: a program that tries again finds the same question.
    fn ask(&self, target: &Target, private: bool) -> Decision {
        let asked = self.gate.may_reach(target.clone(), private);
        let (ended, waiting) = (self.ended.clone(), Arc::clone(&self.waiting));
        let answered = async move {
            let _turn = waiting.acquire_owned().await;
            let answer = tokio::time::timeout(PATIENCE, asked).await;
            answer.unwrap_or_else(|_| Err(format!("Nobody answered within {} s.", PATIENCE.as_secs())))
        };
        let task = tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => Err("The command has ended.".to_owned()),
                answer = answered => answer,
            }
        });
        let answer = task.map(|done| done.unwrap_or_else(|error| Err(format!("Deciding on it failed: {error}."))));
        answer.boxed().shared()
    }
}

async fn connect(at: &[SocketAddr]) -> std::io::Result<TcpStream> {
    let mut last = None;
    for (number, one) in at.iter().enumerate() {
        // The last one has all the time that is left.
        let most = if number + 1 == at.len() { CONNECT } else { CONNECT / 4 };
        match tokio::time::timeout(most, TcpStream::connect(one)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = Some(error),
            Err(_) => last = Some(std::io::ErrorKind::TimedOut.into()),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::NotFound.into()))
}

/// Sentence for the client.
fn blocked(target: &Target, why: &str) -> String {
    format!("blocked by lisle: sandbox.network = \"hosts\" does not let this command reach {target}. {why}")
}
