//! Text for `stream N`: markdown with everything that a screen has to lay out, the same for the same seed.

const WORDS: [&str; 40] = [
    "the",
    "river",
    "keeps",
    "its",
    "banks",
    "and",
    "every",
    "stone",
    "remembers",
    "water",
    "light",
    "moves",
    "over",
    "quiet",
    "fields",
    "while",
    "small",
    "engines",
    "count",
    "what",
    "was",
    "done",
    "before",
    "morning",
    "a",
    "careful",
    "hand",
    "turns",
    "pages",
    "until",
    "names",
    "become",
    "familiar",
    "places",
    "with",
    "open",
    "windows",
    "facing",
    "north",
    "again",
];
const CJK: [&str; 4] = ["静かな川の流れ", "雨后的山谷", "고요한 아침의", "東京タワー"];
const EMOJI: [&str; 5] = ["🌊", "👩‍🔬", "🇫🇷", "✅", "🏳️‍🌈"];

/// `words` words of markdown (runs without white space), in pieces that end after their white space. A code block
/// that the end would cut is closed.
pub(super) fn pieces(words: usize, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut out: Vec<String> = Vec::with_capacity(words + 1);
    let mut section = 0;
    while out.len() < words {
        section += 1;
        let text = block(section, &mut random);
        out.extend(text.split_inclusive(char::is_whitespace).fold(Vec::new(), |mut all: Vec<String>, piece| {
            // A lone line break belongs to the piece before it, so that a piece is a word.
            match all.last_mut() {
                Some(last) if piece.trim().is_empty() => last.push_str(piece),
                _ => all.push(piece.to_owned()),
            }
            all
        }));
    }
    out.truncate(words);
    if out.concat().matches("```").count() % 2 == 1 {
        out.push("\n```\n".to_owned());
    }
    out
}

fn sentence(random: &mut fastrand::Rng, length: usize) -> String {
    let mut words: Vec<String> = (0..length).map(|_| pick(random, &WORDS).to_owned()).collect();
    if let Some(first) = words.first_mut() {
        *first = first.chars().take(1).flat_map(char::to_uppercase).chain(first.chars().skip(1)).collect();
    }
    let marked = random.usize(0..length.max(1));
    if let Some(word) = words.get_mut(marked) {
        *word = match random.usize(0..4) {
            0 => format!("**{word}**"),
            1 => format!("*{word}*"),
            2 => format!("`{word}`"),
            _ => format!("{word},"),
        };
    }
    format!("{}.", words.join(" "))
}

fn pick<'a>(random: &mut fastrand::Rng, from: &[&'a str]) -> &'a str {
    from.get(random.usize(0..from.len().max(1))).copied().unwrap_or("")
}

fn block(number: usize, random: &mut fastrand::Rng) -> String {
    let heading = format!("## {number}. {}\n\n", sentence(random, 3).trim_end_matches('.'));
    let paragraph: Vec<String> = (0..4).map(|_| sentence(random, 11)).collect();
    let special = match number % 4 {
        1 => {
            let lines: Vec<String> =
                (0..4).map(|_| format!("- {} {}", pick(random, &EMOJI), sentence(random, 6))).collect();
            format!("{}\n  - {}\n", lines.join("\n"), sentence(random, 4))
        }
        2 => format!(
            "```rust\nfn {}(count: usize) -> usize {{\n    let {} = count * {};\n    {}\n}}\n```\n",
            pick(random, &WORDS),
            "total",
            random.usize(2..99),
            "total + 1"
        ),
        3 => {
            let rows: Vec<String> = (0..3)
                .map(|_| format!("| {} | {} | {} |", pick(random, &CJK), random.usize(1..10_000), pick(random, &EMOJI)))
                .collect();
            format!("| Place | Count | Sign |\n|---|---:|:-:|\n{}\n", rows.join("\n"))
        }
        _ => format!(
            "> {} {}\n\n1. {}\n2. {}\n",
            pick(random, &CJK),
            sentence(random, 5),
            sentence(random, 5),
            sentence(random, 5)
        ),
    };
    format!("{heading}{}\n\n{special}\n", paragraph.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_words_as_asked() {
        for words in [1, 2, 10, 60, 100, 333, 5000] {
            let text = pieces(words, 7).concat();
            let fence = usize::from(pieces(words, 7).len() > words);
            assert_eq!(text.split_whitespace().count(), words + fence, "{words}");
            assert_eq!(text.matches("```").count() % 2, 0);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_text_with_everything_in_it() {
        let text = pieces(600, 1).concat();
        assert_eq!(text, pieces(600, 1).concat());
        assert_ne!(text, pieces(600, 2).concat());
        for part in ["## ", "\n- ", "```rust", "\n|---", "\n> ", "\n1. ", "**"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(CJK.iter().any(|word| text.contains(word)));
        assert!(EMOJI.iter().any(|word| text.contains(word)));
    }
}
