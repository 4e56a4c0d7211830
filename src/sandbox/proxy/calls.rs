//! Families of sockets that a command without the open network may make. A network of its own holds the internet's; other
//! families (to the host of a virtual machine, to devices nearby) know no networks of their own.

use super::super::profile::{Namespaces, Network};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// The filters for a network: none where it is open.
pub(crate) fn filters(network: &Network, namespaces: Namespaces) -> Result<Vec<BpfProgram>, String> {
    let failed = |e: seccompiler::BackendError| format!("seccomp: {e}");
    let but = |families: &[i32]| {
        let other = |family: &i32| {
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))
        };
        SeccompRule::new(families.iter().map(other).collect::<Result<Vec<_>, _>>()?)
    };
    let families: &[i32] = match (network, namespaces) {
        (Network::Open, _) => return Ok(Vec::new()),
        (Network::Proxy | Network::Off, Namespaces::With) => {
            &[libc::AF_UNIX, libc::AF_NETLINK, libc::AF_INET, libc::AF_INET6]
        }
        // Programs that look up names for others have sockets in the file system, which nothing hides then.
        (Network::Proxy | Network::Off, Namespaces::Without) => &[libc::AF_NETLINK],
    };
    let sockets = BTreeMap::from([
        (libc::SYS_socket, vec![but(families).map_err(failed)?]),
        (libc::SYS_socketpair, vec![but(&[libc::AF_UNIX]).map_err(failed)?]),
    ]);
    // Makes sockets as well, by words that no filter sees.
    let rings = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];
    let rings = rings.into_iter().map(|call| (call, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
    let compile = |rules, number: i32| {
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(number.cast_unsigned()), arch)?;
        BpfProgram::try_from(filter)
    };
    let refused = compile(sockets, libc::EAFNOSUPPORT).map_err(failed)?;
    let unknown = compile(rings, libc::ENOSYS).map_err(failed)?;
    let mut out = vec![refused, unknown];
    if cfg!(target_arch = "x86_64") {
        out.push(super::super::calls::no_x32());
    }
    Ok(out)
}
