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

/// How many single changes turn `a` into `b`: a character more, less or other, or two neighbours swapped.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let wide = b.len() + 1;
    let mut cells = vec![0usize; (a.len() + 1) * wide];
    let at = |cells: &[usize], i: usize, j: usize| cells.get(i * wide + j).copied().unwrap_or(usize::MAX);
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let cost = if i == 0 || j == 0 {
                i + j
            } else {
                let differ = usize::from(a.get(i - 1) != b.get(j - 1));
                let mut cost =
                    (at(&cells, i - 1, j - 1) + differ).min(at(&cells, i - 1, j) + 1).min(at(&cells, i, j - 1) + 1);
                if i > 1 && j > 1 && a.get(i - 1) == b.get(j - 2) && a.get(i - 2) == b.get(j - 1) {
                    cost = cost.min(at(&cells, i - 2, j - 2) + 1);
                }
                cost
            };
            if let Some(cell) = cells.get_mut(i * wide + j) {
                *cell = cost;
            }
        }
    }
    cells.last().copied().unwrap_or(0)
}

/// The one of `names` that is nearest to `word`, or begins with it; `None` when none is near.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| {
        let far = if name.starts_with(word) { 1 } else { distance(word, name) };
        (far, name.len().abs_diff(word.len()), name)
    });
    let fits = |(far, _, name): &(usize, usize, &str)| *far <= 1 + name.chars().count() / 3;
    near.filter(fits).min_by_key(|(far, longer, _)| (*far, *longer)).map(|(.., name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, far) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("rename", "renmae", 1), ("kitten", "sitting", 3)]
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
