//! Settings of the C library for this process's memory, unrelated to confinement. They are here
//! because they have no safe form, and unsafe code is confined to this module.

#![allow(unsafe_code, reason = "the allocator and the map of memory have no safe calls that set them")]

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

/// Gives back the pages of this program's code that were mapped so far. Most of them only the start has run, or lie beside
/// what it ran: the kernel maps code by 64 KiB. What runs on is mapped again from the page cache, page by page as it is needed,
/// within microseconds. Nothing where the map cannot be read.
pub fn give_back_start_code() {
    #[cfg(target_os = "linux")]
    for (start, length) in code_of(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
        // SAFETY: a private mapping of the program's file that can be run and not written: each page is what the file has, and
        // is read from there again when it is touched. The start is the address of that mapping.
        let _ = unsafe {
            rustix::mm::madvise(std::ptr::with_exposed_provenance_mut(start), length, rustix::mm::Advice::LinuxDontNeed)
        };
    }
}

/// Start and length of the mappings of the program's own code, the first file in the map.
#[cfg(target_os = "linux")]
fn code_of(maps: &str) -> Vec<(usize, usize)> {
    let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let own = maps.lines().next().and_then(|line| fields(line).get(5).cloned());
    let code = maps.lines().filter_map(|line| {
        let fields = fields(line);
        let (range, rights, file) = (fields.first()?, fields.get(1)?, fields.get(5));
        let (start, end) = range.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        (rights == "r-xp" && file.is_some() && file == own.as_ref()).then_some((start, end.checked_sub(start)?))
    });
    code.collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_can_be_run_of_the_first_file() {
        let maps = "55d0-55e0 r--p 00000000 fe:00 12 /opt/lisle\n55e0-5600 r-xp 00010000 fe:00 12 /opt/lisle\n\
                    5600-5610 rw-p 00030000 fe:00 12 /opt/lisle\n7f00-7f10 r-xp 00000000 fe:00 9 /lib/libc.so.6\n\
                    7f20-7f30 r-xp 00000000 00:00 0 \n";
        assert_eq!(code_of(maps), [(0x55e0, 0x20)]);
        assert_eq!(code_of(""), []);
    }

    #[test]
    fn the_program_goes_on() {
        give_back_start_code();
        assert!(!code_of(&std::fs::read_to_string("/proc/self/maps").unwrap()).is_empty());
    }
}
