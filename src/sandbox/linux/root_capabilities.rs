//! Rights of root (capabilities) that a command keeps. A user's command keeps none, nor could it get any.

use crate::sandbox::profile::Profile;
use rustix::io::Errno;
use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// Capabilities that a command keeps when root runs it.
fn kept(profile: &Profile) -> CapabilitySet {
    if !rustix::process::geteuid().is_root() {
        return CapabilitySet::empty();
    }
    match profile {
        Profile::Open => CapabilitySet::all(),
        // It reads what root reads.
        Profile::ReadOnly(_) => CapabilitySet::DAC_READ_SEARCH,
        // Package managers, tar and repositories of other owners work.
        Profile::Workspace(_) => {
            CapabilitySet::CHOWN
                | CapabilitySet::DAC_OVERRIDE
                | CapabilitySet::FOWNER
                | CapabilitySet::FSETID
                | CapabilitySet::SETUID
                | CapabilitySet::SETGID
        }
    }
}

/// Gives up all rights but those that the profile keeps, for this process and all that it starts.
///
/// # Errors
/// A sentence when this process still has more. It must not start the command then.
pub(in crate::sandbox) fn give_up(profile: &Profile) -> Result<(), String> {
    let kept = kept(profile);
    let why = |e: Errno| format!("the rights of root could not be given up: {e}");
    // Above this set no program can get, whoever owns it. A user without rights cannot change it, and needs not to:
    // no_new_privs holds.
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) {
            continue;
        }
        match thread::remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // This kernel has no such right, nor any behind it; or the set is not ours to change.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(why(error)),
        }
    }
    // Kernels without such a set have nothing in it.
    let _ = thread::clear_ambient_capability_set();
    let now = thread::capabilities(None).map_err(why)?;
    let permitted = now.permitted & kept;
    let wanted = CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() };
    thread::set_capabilities(None, wanted).map_err(why)?;
    let now = thread::capabilities(None).map_err(why)?;
    // By a program root gets no more than it has: no_new_privs holds that even where the set above could not be changed.
    if !(kept.contains(now.permitted) && now.inheritable.is_empty()) {
        return Err("the rights of root could not be given up".to_owned());
    }
    Ok(())
}
