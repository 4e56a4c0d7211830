//! Nearest known name for an unknown word.
//!
//! The caller words the suggestion ("did you mean …?").

/// Number of single changes that turn `a` into `b`: a character more, less or other, or two neighbours swapped.
fn distance(a: &str, b: &str) -> usize {
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
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() {
        return None;
    }
    let near = names.into_iter().map(|name| {
        let far = if name.starts_with(word) { 1 } else { distance(word, name) };
        (far, name.len().abs_diff(word.len()), name)
    });
    // One mistake in three letters: what has less in common with the word is another word.
    let letters = word.chars().count();
    let fits =
        |(far, _, name): &(usize, usize, &str)| name.starts_with(word) || *far <= name.chars().count().max(letters) / 3;
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
    }

    #[test]
    fn a_name_is_nearest_when_it_is_near() {
        for (word, names, near) in [
            ("modle", &["mode", "model", "new"][..], Some("model")),
            ("them", &["theme", "help"], Some("theme")),
            ("zzzzzz", &["theme", "help"], None),
            ("", &["theme", "help"], None),
            ("ask", &["ssh", "auth"], None),
            ("nope", &["done", "todo"], None),
            ("Q", &["a", "b"], None),
            ("create", &["rename", "delete"], None),
            ("se", &["sessions"], Some("sessions")),
            ("requests_per_trun", &["requests_per_turn", "retries"], Some("requests_per_turn")),
        ] {
            assert_eq!(nearest(word, names.iter().copied()), near, "{word}");
        }
    }
}
