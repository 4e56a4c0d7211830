//! Names of sources and of their tools. What a server calls its tools is never shown or called as it is: a name that models
//! call has letters, digits, `_` and `-` alone, so it can neither look like another nor carry control characters.

use crate::domain::source::TOOL_PREFIX;
use sha2::{Digest, Sha256};

/// Characters of a tool's name that every provider takes.
const LONGEST: usize = 64;
/// Characters of a slug.
const LONGEST_SLUG: usize = 32;
/// Slugs with a meaning of their own: transcripts of Craft Agents name its own tools `mcp__session__…`.
const RESERVED: &[&str] = &["session"];

/// Fault of a slug, as half a sentence; `None` if it is one.
#[must_use]
pub fn slug_fault(slug: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if slug.is_empty() || slug.len() > LONGEST_SLUG {
        return Some(format!("a slug has 1 to {LONGEST_SLUG} characters"));
    }
    if !slug.chars().all(plain) || !slug.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some("a slug has letters, digits, - and _, and begins with a letter or digit".to_owned());
    }
    if slug.contains("__") || slug.ends_with('_') {
        return Some("a slug has no __ and no _ at its end, which separate it from the tool's name".to_owned());
    }
    RESERVED.contains(&slug).then(|| "this name is reserved".to_owned())
}

/// Slug for a server that another program names: what a slug has not becomes `-`.
#[must_use]
pub fn slug_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let mut slug: String = name.trim().chars().map(plain).collect();
    while slug.contains("--") {
        slug = slug.replace("--", "-");
    }
    let slug = slug.trim_matches('-');
    slug.chars().take(LONGEST_SLUG).collect()
}

/// Name by which models call a tool of a source. A name that had to be changed ends in a part of its hash, so that two never
/// become one.
#[must_use]
pub fn tool_name(slug: &str, remote: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let cleaned: String = remote.chars().map(plain).collect();
    let whole = format!("{}{cleaned}", prefix(slug));
    if cleaned == remote && !remote.is_empty() && whole.len() <= LONGEST {
        return whole;
    }
    let hash: String = Sha256::digest(remote.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let kept: String = whole.chars().take(LONGEST - hash.len() - 1).collect();
    format!("{kept}_{hash}")
}

/// Beginning of the names of a source's tools.
#[must_use]
pub fn prefix(slug: &str) -> String {
    format!("{TOOL_PREFIX}{slug}__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_never_those_of_lisle() {
        for (remote, name) in [
            ("create_issue", "mcp__linear__create_issue"),
            ("get-sum", "mcp__linear__get-sum"),
            ("bash", "mcp__linear__bash"),
            ("a__b", "mcp__linear__a__b"),
        ] {
            assert_eq!(tool_name("linear", remote), name);
        }
        let changed = ["rm -rf", "\u{1b}[31mred", "аdmin", "", "x\u{202e}y", &"long".repeat(40)];
        let names: Vec<String> = changed.iter().map(|remote| tool_name("linear", remote)).collect();
        for name in &names {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            assert!(name.len() <= LONGEST && name.chars().all(plain) && name.starts_with("mcp__linear__"), "{name}");
        }
        // Two that differ in what is not kept stay two.
        assert_ne!(tool_name("s", "a.b"), tool_name("s", "a/b"));
        assert_ne!(tool_name("s", &"x".repeat(90)), tool_name("s", &"x".repeat(91)));
    }

    #[test]
    fn slugs_cannot_be_taken_for_parts_of_tool_names() {
        for good in ["linear", "my-files", "a_b", "X9"] {
            assert_eq!(slug_fault(good), None, "{good}");
        }
        for bad in ["", "a__b", "a_", "-a", "a b", "ä", "session", "../x", "a/b", &"x".repeat(40)] {
            assert!(slug_fault(bad).is_some(), "{bad}");
        }
        for (name, slug) in
            [("My Files", "My-Files"), ("a__b", "a-b"), ("../etc", "etc"), ("\u{1b}[1m", "1m"), ("ä", "")]
        {
            assert_eq!(slug_of(name), slug);
        }
    }
}
