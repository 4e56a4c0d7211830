//! Which texts match what was typed, best first.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Places of the texts that match `query`, best first, with the places of the characters that matched. Texts that match
/// equally well stay in their order; an empty query matches all.
pub fn rank<'a>(query: &str, texts: impl Iterator<Item = &'a str>) -> Vec<(usize, Vec<usize>)> {
    if query.trim().is_empty() {
        return texts.enumerate().map(|(place, _)| (place, Vec::new())).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize, Vec<usize>)> = texts
        .enumerate()
        .filter_map(|(place, text)| {
            let mut marks = Vec::new();
            let score = pattern.indices(Utf32Str::new(text, &mut buffer), &mut matcher, &mut marks)?;
            marks.sort_unstable();
            marks.dedup();
            Some((score, place, marks.into_iter().map(|mark| mark as usize).collect()))
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, place, marks)| (place, marks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_first_and_stable() {
        let names = ["rename session", "new session", "retry", "stop"];
        let order = |query: &str| rank(query, names.into_iter()).into_iter().map(|(i, _)| i).collect::<Vec<_>>();
        assert_eq!(order(""), vec![0, 1, 2, 3]);
        assert_eq!(order("new").first(), Some(&1));
        assert_eq!(order("re"), vec![0, 2]);
        assert_eq!(rank("rt", names.into_iter()).first().map(|hit| hit.1.clone()), Some(vec![0, 2]));
    }
}
