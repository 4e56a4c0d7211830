//! A number with its noun.

/// `n` of something: `1 line`, `3 lines`.
#[must_use]
pub fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
