//! Language of a file, by its name.

/// The word for the language of a file: its ending, or its name where it has none.
pub(super) fn language_of(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let word = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(_, ending)| ending);
    let plain = word.len() <= 24 && word.chars().all(|c| c.is_ascii_alphanumeric() || "+-_#".contains(c));
    if plain { word.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_its_language() {
        for (path, want) in [
            ("src/main.rs", "rs"),
            ("Makefile", "Makefile"),
            ("a/.bashrc", ""),
            ("a.b/c", "c"),
            ("x.tar.gz", "gz"),
            ("x.\u{1b}[31m", ""),
        ] {
            assert_eq!(language_of(path), want, "{path}");
        }
    }
}
