//! Settings of the C library for this process's memory, unrelated to confinement. They are here
//! because they have no safe form, and unsafe code is confined to this module.

#![allow(unsafe_code, reason = "the allocator has no safe call that sets it")]

/// Blocks of this size and more are mapped by themselves, so that they go back when they are let go.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 128 * 1024;

/// Large blocks go back to the system when they are let go. By itself glibc raises what it calls large with each such block
/// that is freed, and then keeps what reading a long list took for as long as the process lives. To be called before the
/// first thread; nothing elsewhere.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it sets a number of the allocator, while nobody else is there. What it answers changes nothing: without
        // it more memory is held.
        let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }
}
