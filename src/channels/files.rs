//! Files of the channels beside the gateway's secret, where commands of a model can't reach: who may write, and secrets of
//! webhooks. The command line and the gateway change them, one at a time.

use crate::domain::hex::hex;
use crate::domain::ids::At;
use crate::plain_file;
use crate::routes::allow::{Admission, ChannelAccess, Knock, PairingRequest};
use crate::routes::key::OpaqueChannels;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Bytes of chance in a secret.
const SECRET: usize = 32;
/// Beginning of each secret: a person, or a program that looks for secrets, knows it by this.
const PREFIX: &str = "lisle_hook_";

/// Bytes of a list that lisle reads whole.
const LONGEST: u64 = 64 << 20;

/// Files of the channels of a home.
#[derive(Clone, Debug)]
pub struct ChannelFiles {
    folder: PathBuf,
}

/// Bytes of the system's source of chance.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    match plain_file::read(path, LONGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(error),
    }
}

impl ChannelFiles {
    /// Files in a folder, which need not exist.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Journal of messages and replies.
    pub(super) fn journal(&self) -> PathBuf {
        self.path("journal.jsonl")
    }

    /// Log of what was refused, withheld and given up.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.path("channels.log")
    }

    /// Replies that were given up.
    #[must_use]
    pub fn dead_letters(&self) -> PathBuf {
        self.path("dead-letters.jsonl")
    }

    fn access(&self) -> PathBuf {
        self.path("access.json")
    }

    fn secrets(&self) -> PathBuf {
        self.path("credentials.json")
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// Fails if it can't be made.
    pub fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    /// Changes a file, alone; it is written whole or not at all.
    fn change<T, R>(&self, path: &Path, change: impl FnOnce(&mut T) -> io::Result<R>) -> io::Result<R>
    where
        T: Serialize + DeserializeOwned + Default,
    {
        self.make()?;
        let folder = plain_file::folder(&self.folder)?;
        folder.lock()?;
        let mut value: T = read(path)?;
        let before = serde_json::to_vec_pretty(&value)?;
        let done = change(&mut value)?;
        let after = serde_json::to_vec_pretty(&value)?;
        if after != before {
            let new = path.with_extension("new");
            match std::fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = plain_file::create_new(&new)?;
            file.write_all(&after)?;
            file.sync_all()?;
            std::fs::rename(&new, path)?;
            folder.sync_all()?;
        }
        Ok(done)
    }

    /// People that may write and those that ask to, by channel.
    ///
    /// # Errors
    /// Fails if the file can't be read.
    pub fn all_access(&self) -> io::Result<BTreeMap<String, ChannelAccess>> {
        read(&self.access())
    }

    /// Those of a channel, with those that config.toml names.
    ///
    /// # Errors
    /// Fails if the file can't be read.
    pub fn channel_access(&self, channel: &str, configured: &[String]) -> io::Result<ChannelAccess> {
        let mut access = self.all_access()?.remove(channel).unwrap_or_default();
        access.allowed.extend(configured.iter().cloned());
        Ok(access)
    }

    /// Decides about a message. A new pairing request is on disk then.
    pub(super) fn admit(
        &self,
        knock: &Knock<'_>,
        configured: &[String],
        pairing: bool,
        opaque: &OpaqueChannels,
    ) -> io::Result<Admission> {
        let access = self.channel_access(knock.channel, configured)?;
        let knock = Knock { direct: knock.direct && pairing, ..*knock };
        let (_, admission) = access.admit(&knock, opaque);
        if !matches!(admission, Admission::Code { .. }) {
            return Ok(admission);
        }
        // Again with the file for ourselves: others may have asked meanwhile.
        self.change(&self.access(), |all: &mut BTreeMap<String, ChannelAccess>| {
            let stored = all.entry(knock.channel.to_owned()).or_default();
            let mut whole = stored.clone();
            whole.allowed.extend(configured.iter().cloned());
            let (after, admission) = whole.admit(&knock, opaque);
            (stored.requests, stored.displaced) = (after.requests, after.displaced);
            Ok(admission)
        })
    }

    /// Lets the sender of a pairing code write. `None` if no open request of the channel has it.
    ///
    /// # Errors
    /// Fails if the file can't be changed.
    pub fn approve(&self, channel: &str, code: &str, now: At) -> io::Result<Option<PairingRequest>> {
        self.change(&self.access(), |all: &mut BTreeMap<String, ChannelAccess>| {
            let stored = all.entry(channel.to_owned()).or_default();
            Ok(stored.approve(code, now).map(|(after, request)| {
                *stored = after;
                request
            }))
        })
    }

    /// Lets a sender write. False if the list had it already.
    ///
    /// # Errors
    /// Fails if the file can't be changed.
    pub fn allow(&self, channel: &str, sender: &str) -> io::Result<bool> {
        // With its channel, an id such as `*` names its sender alone.
        let entry = if sender == "*" { sender.to_owned() } else { format!("{channel}:{sender}") };
        self.change(&self.access(), |all: &mut BTreeMap<String, ChannelAccess>| {
            let stored = all.entry(channel.to_owned()).or_default();
            stored.requests.retain(|request| request.sender != sender);
            let is_new = !stored.allowed.contains(&entry);
            if is_new {
                stored.allowed.push(entry);
            }
            Ok(is_new)
        })
    }

    /// Removes a sender from the list, or `*`. False if it was not on it.
    ///
    /// # Errors
    /// Fails if the file can't be changed.
    pub fn revoke(&self, channel: &str, sender: &str, opaque: &OpaqueChannels) -> io::Result<bool> {
        self.change(&self.access(), |all: &mut BTreeMap<String, ChannelAccess>| {
            let stored = all.entry(channel.to_owned()).or_default();
            let mut after = stored.revoke(channel, sender, opaque);
            if sender == "*" {
                after.allowed.retain(|entry| entry != "*");
            }
            let changed = after != *stored;
            *stored = after;
            Ok(changed)
        })
    }

    /// Secret of a channel's webhook; `None` if it has none.
    ///
    /// # Errors
    /// Fails if the file can't be read.
    pub(super) fn secret(&self, channel: &str) -> io::Result<Option<String>> {
        Ok(read::<BTreeMap<String, String>>(&self.secrets())?.remove(channel))
    }

    /// Secret of a channel's webhook, made if there is none, or made again.
    ///
    /// # Errors
    /// Fails if the file can't be changed.
    pub fn make_secret(&self, channel: &str, again: bool) -> io::Result<String> {
        self.change(&self.secrets(), |all: &mut BTreeMap<String, String>| {
            if let Some(secret) = all.get(channel).filter(|_| !again) {
                return Ok(secret.clone());
            }
            let bytes: [u8; SECRET] = random()?;
            let secret = format!("{PREFIX}{}", hex(&bytes));
            all.insert(channel.to_owned(), secret.clone());
            Ok(secret)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knock(sender: &str, random: u8) -> Knock<'_> {
        Knock { channel: "c", sender, name: None, direct: true, now: At(1_000), random: [random; 8] }
    }

    #[test]
    fn a_stranger_gets_a_code_once_and_writes_when_it_is_approved() {
        let dir = tempfile::tempdir().unwrap();
        let files = ChannelFiles::in_folder(dir.path().join("channels"));
        let opaque = OpaqueChannels::default();
        let admit = |sender: &str, pairing| files.admit(&knock(sender, 7), &["bob".into()], pairing, &opaque).unwrap();
        assert_eq!(admit("bob", true), Admission::Admitted);
        assert!(matches!(admit("ana", false), Admission::Refused(_)), "no pairing on this channel");
        let Admission::Code { code, .. } = admit("ana", true) else { panic!("no code") };
        assert!(matches!(admit("ana", true), Admission::Refused(_)), "the code is sent once");
        assert!(files.approve("d", code.as_str(), At(2_000)).unwrap().is_none(), "of another channel");
        assert_eq!(files.approve("c", code.as_str(), At(2_000)).unwrap().unwrap().sender, "ana");
        assert_eq!(admit("ana", true), Admission::Admitted);
        let stored = files.all_access().unwrap();
        assert_eq!(stored["c"].allowed, ["c:ana"], "what config.toml names is not copied");
        assert!(files.revoke("c", "ana", &opaque).unwrap() && !files.revoke("c", "ana", &opaque).unwrap());
        assert!(matches!(admit("ana", false), Admission::Refused(_)));
        assert!(files.allow("c", "ana").unwrap() && !files.allow("c", "ana").unwrap());
        assert_eq!(admit("ana", false), Admission::Admitted);
    }

    #[test]
    fn a_secret_stays_until_it_is_made_again_and_nobody_else_reads_the_files() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let files = ChannelFiles::in_folder(dir.path().join("channels"));
        assert_eq!(files.secret("c").unwrap(), None);
        let secret = files.make_secret("c", false).unwrap();
        assert_eq!(files.make_secret("c", false).unwrap(), secret);
        assert_ne!(files.make_secret("c", true).unwrap(), secret);
        assert_ne!(files.make_secret("d", false).unwrap(), files.secret("c").unwrap().unwrap());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&files.folder), mode(&files.secrets())), (0o700, 0o600));
        assert!(crate::domain::paths::is_secret(&files.secrets()), "tools do not read it");
        std::fs::write(files.access(), "[1").unwrap();
        let error = files.admit(&knock("ana", 1), &[], true, &OpaqueChannels::default()).unwrap_err();
        assert!(error.to_string().contains("access.json"), "{error}");
        assert_eq!(std::fs::read(files.access()).unwrap(), b"[1", "a damaged list is left for its owner");
    }
}
