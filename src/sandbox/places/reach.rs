//! Other programs and networks beside the places of a profile that writes: sockets by which they would be told what to do, and
//! resolvers that would carry words out.

use super::site::Site;
use super::{excludes, lisle_folders, mount_points, scan};
use crate::sandbox::profile::{Bounds, Namespaces, Network, Profile};
use crate::sandbox::repository::Repository;
use std::path::{Path, PathBuf};

/// The profile for these bounds, with the network and the other programs that a command reaches beside them.
pub(super) fn with_reach(
    site: &Site<'_>,
    found: &scan::ScanFindings,
    repository: Option<&Repository>,
    mut bounds: Bounds,
) -> Profile {
    bounds.masked.extend(ways_out());
    bounds.masked.retain(|path| !site.allowances.granted.sockets.contains(path));
    bounds.network = site.allowances.network.clone();
    if bounds.network != Network::Open {
        bounds.masked.extend(resolvers());
    }
    // Whoever listens in the project runs outside of the sandbox: a multiplexer there would start anything.
    if site.namespaces == Namespaces::With {
        let of_git = repository.iter().flat_map(|one| [&one.common, &one.own]).flat_map(|git| sockets_in(git));
        let others = |path: &PathBuf| !bounds.sockets.contains(path) && somebody_listens(path);
        let all: Vec<PathBuf> = found.sockets.iter().cloned().chain(of_git).filter(others).collect();
        bounds.masked.extend(all);
    }
    bounds.masked.retain(|path| !site.approved.contains(path));
    bounds.readable.extend(site.approved.iter().filter(|path| !path.starts_with(site.cwd)).cloned());
    if let Some(file) = excludes::write(site, repository, &bounds.masked) {
        bounds.readable.push(file);
    }
    lisle_folders::cover(site, &mut bounds);
    mount_points::make(&bounds);
    Profile::Workspace(bounds)
}

/// Sockets of programs that run what they are told, outside, with all the rights of the user or more.
fn ways_out() -> Vec<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let runtime = PathBuf::from(format!("/run/user/{uid}"));
    let mut out: Vec<PathBuf> = [
        "docker.sock",
        "podman/podman.sock",
        "containerd/containerd.sock",
        "crio/crio.sock",
        "systemd/private",
        "lxd.socket",
    ]
    .iter()
    .flat_map(|name| [Path::new("/run").join(name), runtime.join(name)])
    .collect();
    out.push(runtime.join("bus"));
    if uid == 0 {
        out.push("/run/dbus/system_bus_socket".into());
    }
    out.retain(|path| path.exists());
    out
}

/// Sockets that servers left behind stay, so that the next one can take their place. Nobody notices the question: a server
/// of streams refuses datagrams before it hears of them, and one of datagrams gets none.
fn somebody_listens(path: &Path) -> bool {
    let asked = std::os::unix::net::UnixDatagram::unbound().and_then(|socket| socket.connect(path));
    !asked.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Sockets in one folder.
fn sockets_in(dir: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::FileTypeExt;
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket())).map(|entry| entry.path()).collect()
}

/// Sockets of programs that look up names for others: a way out for whoever writes into the names.
fn resolvers() -> Vec<PathBuf> {
    let names = [
        "systemd/resolve",
        "systemd/userdb",
        "nscd",
        "avahi-daemon/socket",
        "dbus/system_bus_socket",
        "dnsmasq",
        "unbound",
        "sssd",
    ];
    let paths = names.iter().map(|name| Path::new("/run").join(name)).chain([PathBuf::from("/var/lib/sss/pipes")]);
    paths.filter(|path| path.exists()).collect()
}
