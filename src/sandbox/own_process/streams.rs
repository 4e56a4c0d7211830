//! Stdout of this process as it was before the standard library looked at it. A stream that is closed at the start
//! (`>&-`) is opened as `/dev/null` before `main`, so that a result would be lost without a word.

#![allow(unsafe_code, reason = "code that runs before `main` has no safe form")]

use rustix::io::{Errno, fcntl_getfd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Stdout was closed.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// True if stdout was closed when this process began.
#[must_use]
pub fn is_stdout_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

// SAFETY: an entry of this section is called once, before `main`, as a C function whose arguments may be ignored. It asks
// the system for the flags of a number and stores a flag; nothing of the standard library is needed for that.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    let is_closed = fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF);
    CLOSED.store(is_closed, Ordering::Relaxed);
}
