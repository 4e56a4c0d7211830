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

/// How many single changes turn `a` into `b`.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let up = row.get(j + 1).copied().unwrap_or(usize::MAX);
            let cost = (diagonal + usize::from(ca != *cb)).min(left + 1).min(up + 1);
            diagonal = up;
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            left = cost;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The one of `names` that is nearest to `word`; `None` when none is near.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| {
        let shared = name.starts_with(word) || (word.len() > 1 && word.starts_with(name));
        (if shared { 1 } else { distance(word, name) }, name)
    });
    near.filter(|(far, name)| *far <= 1 + name.chars().count() / 3).min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, far) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("rename", "renmae", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), far, "{a} {b}");
        }
        assert_eq!(nearest("modle", ["mode", "model", "new"].into_iter()), Some("model"));
        assert_eq!(nearest("them", ["theme", "help"].into_iter()), Some("theme"));
        assert_eq!(nearest("zzzzzz", ["theme", "help"].into_iter()), None);
    }

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
