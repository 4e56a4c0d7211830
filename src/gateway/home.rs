//! Ownership of a home: the lock that one gateway holds, the socket it listens on, and the secret that clients know.
//!
//! | File | Content |
//! | --- | --- |
//! | `state/gateway.lock` | held by flock while a gateway runs; who it is, and where its socket lies |
//! | `state/gateway/credentials` | the secret of this run, 0600 |
//! | `$XDG_RUNTIME_DIR/lisle/HASH`, else `state/gateway/socket` | the socket, 0600 in a folder of 0700 |
//!
//! Held commands have the same user, so neither peer credentials nor modes keep them out: the sandbox hides the folder
//! (`sandbox::places`), and the secret's name is one that tools do not read (`domain::paths`).

use crate::domain::hex::hex;
use crate::plain_file;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tries to get the lock: a client that looks holds it for some microseconds.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Bytes of a socket's path at most, with the NUL behind it left out.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Files of the gateway of one home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayFiles {
    state: PathBuf,
    runtime_dir: Option<PathBuf>,
}

/// Owner of a home, as the lock file names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Name of its machine.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// Version of its program.
    pub version: String,
    /// Its socket.
    pub socket: PathBuf,
}

impl Owner {
    /// True if it runs on this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.host == host()
    }
}

/// State of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HomeOwnership {
    /// No gateway runs.
    Free,
    /// A gateway of this machine has it.
    Here(Owner),
    /// A gateway of another machine has it: its socket cannot be reached.
    Elsewhere(Owner),
}

/// Error of taking a home.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// A gateway of this machine has it.
    #[error("a gateway runs for this home already (process {}): \"lisle gateway stop\" ends it", .0.pid)]
    Held(Owner),
    /// A gateway of another machine has it.
    #[error("the gateway of this home runs on {} (process {}): end it there, or set LISLE_HOME to another folder", .0.host, .0.pid)]
    Elsewhere(Owner),
    /// A file could not be had.
    #[error("{what} {}: {error}", .path.display())]
    Io {
        /// Action that failed.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OwnError {
    let path = path.to_owned();
    move |error| OwnError::Io { what, path, error }
}

/// Name of this machine.
#[must_use]
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Bytes from the system's source of chance, in hexadecimal.
///
/// # Errors
/// When there is none.
pub fn random_hex(bytes: usize) -> io::Result<String> {
    let mut all = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut all)?;
    Ok(hex(&all))
}

impl GatewayFiles {
    /// Files of the home with this state folder. `runtime_dir`: `XDG_RUNTIME_DIR`.
    #[must_use]
    pub fn of(state: &Path, runtime_dir: Option<PathBuf>) -> Self {
        let runtime_dir = runtime_dir.filter(|dir| dir.is_absolute());
        Self { state: state.canonicalize().unwrap_or_else(|_| state.to_owned()), runtime_dir }
    }

    fn lock_file(&self) -> PathBuf {
        self.state.join("gateway.lock")
    }

    /// Folder of the secret and the log. The sandbox hides it.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.state.join("gateway")
    }

    /// Makes the folder, so that commands that start before a gateway does have it hidden from them as well.
    ///
    /// # Errors
    /// When it cannot be made, or belongs to somebody else.
    pub fn reserve(&self) -> io::Result<()> {
        private_folder(&self.folder())
    }

    fn secret_file(&self) -> PathBuf {
        self.folder().join("credentials")
    }

    /// Output of a gateway in the background, beside lisle's log.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.folder().join("output.log")
    }

    /// Place of a new socket.
    fn socket(&self) -> PathBuf {
        let usable = |dir: &&PathBuf| std::fs::metadata(dir).is_ok_and(|found| found.is_dir() && found.uid() == me());
        match self.runtime_dir.as_ref().filter(usable) {
            Some(dir) => {
                let hash = hex(&Sha256::digest(self.state.as_os_str().as_encoded_bytes()));
                dir.join("lisle").join(hash.get(..16).unwrap_or_default())
            }
            None => self.folder().join("socket"),
        }
    }

    /// Finds out who has the home.
    ///
    /// # Errors
    /// When the lock file cannot be read or asked.
    pub fn ownership(&self) -> io::Result<HomeOwnership> {
        let mut file = match plain_file::open_through_links(&self.lock_file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HomeOwnership::Free),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => {
                file.unlock()?;
                return Ok(HomeOwnership::Free);
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(match owner(&mut file)? {
            Some(owner) if owner.is_here() => HomeOwnership::Here(owner),
            Some(owner) => HomeOwnership::Elsewhere(owner),
            // It is starting, or somebody looks.
            None => HomeOwnership::Free,
        })
    }

    /// The secret of the gateway that runs.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn secret(&self) -> io::Result<String> {
        let bytes = plain_file::read(&self.secret_file(), 16 << 10)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Takes the home for a gateway of this process, with a new secret and a new socket.
    ///
    /// # Errors
    /// When another one has it, or a file cannot be made.
    pub fn take(&self) -> Result<OwnedHome, OwnError> {
        let folder = self.folder();
        private_folder(&folder).map_err(failed("can't use the folder", &folder))?;
        let path = self.lock_file();
        let open = plain_file::open_with(&path, OFlags::RDWR | OFlags::CREATE);
        let mut lock = open.map_err(failed("can't open the lock", &path))?;
        self.lock(&mut lock, &path)?;
        let secret = random_hex(32).map_err(failed("can't make a secret from", Path::new("/dev/urandom")))?;
        let file = self.secret_file();
        write_private(&file, &secret).map_err(failed("can't write the secret", &file))?;
        let socket = self.socket();
        let owner =
            Owner { host: host(), pid: std::process::id(), version: env!("CARGO_PKG_VERSION").to_owned(), socket };
        let mut owned = OwnedHome { lock, owner, secret, files: self.clone(), inode: 0 };
        owned.name().map_err(failed("can't write the lock", &path))?;
        Ok(owned)
    }

    fn lock(&self, file: &mut File, path: &Path) -> Result<(), OwnError> {
        for left in (0..TRIES).rev() {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(failed("can't lock", path)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            match owner(file).map_err(failed("can't read the lock", path))? {
                Some(owner) if !owner.is_here() => return Err(OwnError::Elsewhere(owner)),
                Some(owner) if left == 0 => return Err(OwnError::Held(owner)),
                _ => std::thread::sleep(BETWEEN_TRIES),
            }
        }
        Err(failed("can't lock", path)(io::Error::other("another program has it")))
    }
}

/// The owner in a lock file; `None` if there is none in it yet.
fn owner(file: &mut File) -> io::Result<Option<Owner>> {
    let mut text = String::new();
    io::Seek::rewind(file)?;
    file.take(16 << 10).read_to_string(&mut text)?;
    Ok(serde_json::from_str(text.trim()).ok())
}

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes a folder for its owner alone, or checks that it is one.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != me() {
        return Err(io::Error::other("it is not a folder of this user"));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Writes a file for its owner alone, whole or not at all.
pub(super) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // Files of one name and several extensions lie beside each other.
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = plain_file::create_new(&new)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&new, path)
}

/// A home that this process has, until dropped.
#[derive(Debug)]
pub struct OwnedHome {
    lock: File,
    owner: Owner,
    secret: String,
    files: GatewayFiles,
    /// Of the socket that was bound last.
    inode: u64,
}

impl OwnedHome {
    /// The owner, this process.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Files of the home.
    #[must_use]
    pub fn files(&self) -> &GatewayFiles {
        &self.files
    }

    /// The secret of this run.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.secret
    }

    fn name(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.owner)?;
        io::Seek::rewind(&mut self.lock)?;
        self.lock.write_all(&text)?;
        self.lock.set_len(text.len() as u64)
    }

    /// Listens on the socket, made anew.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen(&mut self) -> Result<UnixListener, OwnError> {
        let path = self.owner.socket.clone();
        let listener = bind(&path).map_err(failed("can't listen on", &path))?;
        self.inode = std::fs::symlink_metadata(&path).map_err(failed("can't listen on", &path))?.ino();
        Ok(listener)
    }

    /// False when somebody removed the socket, the secret, or put others in their place.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        std::fs::symlink_metadata(&self.owner.socket).is_ok_and(|found| found.ino() == self.inode)
    }

    /// Writes the secret again if it was removed.
    pub fn keep_secret(&self) {
        if self.files.secret().ok().as_deref() != Some(&self.secret) {
            let file = self.files.secret_file();
            if let Err(error) = private_folder(&self.files.folder()).and_then(|()| write_private(&file, &self.secret)) {
                tracing::warn!(%error, "can't write the gateway's secret");
            }
        }
    }
}

impl Drop for OwnedHome {
    fn drop(&mut self) {
        if self.is_reachable() {
            let _ = std::fs::remove_file(&self.owner.socket);
        }
        // Whoever looks while it is unlocked finds no name.
        let _ = self.lock.set_len(0);
        let _ = self.lock.unlock();
    }
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    private_folder(path.parent().unwrap_or(Path::new("/")))?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = with_short_path(path, |short| UnixListener::bind(short))?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Connects to a gateway's socket.
///
/// # Errors
/// When nobody listens there.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    with_short_path(path, |short| UnixStream::connect(short))
}

/// Calls with a path that a socket's address has room for: a longer one goes through its folder's descriptor.
fn with_short_path<T>(path: &Path, call: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return call(path);
    }
    if !cfg!(target_os = "linux") {
        let text = format!("its path is longer than {LONGEST_PATH} bytes: set XDG_RUNTIME_DIR to a short folder");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let folder = plain_file::folder(path.parent().unwrap_or(Path::new("/")))?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
    call(&Path::new("/proc/self/fd").join(number.to_string()).join(path.file_name().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn one_gateway_has_a_home_and_others_are_told_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let files = GatewayFiles::of(dir.path(), None);
        assert_eq!(files.ownership().unwrap(), HomeOwnership::Free);
        let mut owned = files.take().unwrap();
        let listener = owned.listen().unwrap();
        assert_eq!(files.ownership().unwrap(), HomeOwnership::Here(owned.owner().clone()));
        assert!(matches!(files.take(), Err(OwnError::Held(owner)) if owner.pid == std::process::id()));
        assert_eq!(files.secret().unwrap(), owned.secret());
        assert_eq!(mode(&files.folder()), 0o700);
        assert_eq!(
            (mode(&files.secret_file()), mode(&files.lock_file()), mode(&owned.owner().socket)),
            (0o600, 0o600, 0o600)
        );
        connect(&owned.owner().socket).unwrap();
        let (first, socket) = (owned.secret().to_owned(), owned.owner().socket.clone());
        drop((owned, listener));
        assert_eq!(files.ownership().unwrap(), HomeOwnership::Free);
        assert!(!socket.exists());
        assert_ne!(files.take().unwrap().secret(), first);
    }

    #[test]
    fn a_lock_that_is_held_on_another_machine_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let files = GatewayFiles::of(dir.path(), None);
        let mut owned = files.take().unwrap();
        owned.owner.host = "elsewhere".to_owned();
        owned.name().unwrap();
        assert!(matches!(files.ownership().unwrap(), HomeOwnership::Elsewhere(owner) if owner.host == "elsewhere"));
        let error = files.take().unwrap_err();
        assert!(error.to_string().contains("runs on elsewhere"), "{error}");
    }

    #[test]
    fn a_socket_that_was_removed_is_noticed_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let files = GatewayFiles::of(dir.path(), None);
        let mut owned = files.take().unwrap();
        let _first = owned.listen().unwrap();
        assert!(owned.is_reachable());
        std::fs::remove_file(&owned.owner().socket).unwrap();
        std::fs::remove_file(files.secret_file()).unwrap();
        assert!(!owned.is_reachable());
        let _second = owned.listen().unwrap();
        owned.keep_secret();
        assert!(owned.is_reachable());
        assert_eq!(files.secret().unwrap(), owned.secret());
        connect(&owned.owner().socket).unwrap();
    }

    #[test]
    fn the_runtime_folder_is_used_where_there_is_one_and_long_paths_work() {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tempfile::tempdir().unwrap();
        let files = GatewayFiles::of(dir.path(), Some(runtime.path().to_owned()));
        assert!(files.socket().starts_with(runtime.path().join("lisle")));
        for gone in [Some(runtime.path().join("none")), Some(PathBuf::from("relative")), None] {
            let files = GatewayFiles::of(dir.path(), gone);
            assert!(files.socket().starts_with(files.folder()));
        }
        let long = dir.path().join("x".repeat(120));
        std::fs::create_dir(&long).unwrap();
        let mut owned = GatewayFiles::of(&long, None).take().unwrap();
        let _listener = owned.listen().unwrap();
        assert!(owned.owner().socket.as_os_str().len() > 120 && owned.is_reachable());
        connect(&owned.owner().socket).unwrap();
    }

    #[test]
    fn a_folder_that_others_could_enter_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let files = GatewayFiles::of(dir.path(), None);
        std::fs::create_dir(files.folder()).unwrap();
        std::fs::set_permissions(files.folder(), Permissions::from_mode(0o755)).unwrap();
        let _owned = files.take().unwrap();
        assert_eq!(mode(&files.folder()), 0o700);
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path(), other.path().join("gateway")).unwrap();
        assert!(GatewayFiles::of(other.path(), None).take().is_err());
    }
}
