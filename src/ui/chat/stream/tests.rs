//! Markdown in all its forms at several widths, in one piece and in many.

use super::*;
use crate::theme::Theme;
use crate::ui::glyphs::GlyphSet;
use crate::ui::text::spans_width;
use proptest::prelude::*;

fn lay(text: &str, width: usize, glyphs: GlyphSet) -> Vec<Line<'static>> {
    let theme = Theme::plain();
    let mut stream = Stream::default();
    stream.update(text, width, &ChatStyle { theme: &theme, glyphs });
    stream.into_lines()
}

fn shown(text: &str, width: usize) -> String {
    lay(text, width, GlyphSet::Unicode).iter().map(|l| l.to_string() + "\n").collect()
}

const SAMPLE: &str = "# Heading one
Text under it with **bold**, *emphasis*, `code`, ~~gone~~ and [a link](https://example.org/x) or <https://example.org>.

A second paragraph that is long enough to be wrapped at every width that is tried here.
## Two
- first item with some text that wraps
- second
  - nested one
  - nested two

    with a paragraph
- [x] done
- [ ] open

9. nine
10. ten
> A quote that goes on and on until it wraps.
>
> - with a list
> > and a quote in it

```rust,ignore
fn main() {
\tprintln!(\"a rather long line of code that does not fit\");

}
```
Behind the code.

    indented code

| Name | What it does | Count |
|:-----|:------------:|------:|
| `read` | Reads a file and gives its lines with numbers | 12 |
| list | Lists | 3 |

---
<div>html</div>

Inline <b>html</b>, math $a_1 + b_2$ and $$\\int_0^1 x$$ and ![a picture](pic.png).

```mermaid
graph TD; A-->B
```
[ref]: https://example.org/ref
See [this][ref].
";

#[test]
fn every_kind_of_block() {
    insta::assert_snapshot!("width_80", shown(SAMPLE, 80));
    insta::assert_snapshot!("width_30", shown(SAMPLE, 30));
    insta::assert_snapshot!("width_12", shown(SAMPLE, 12));
    let ascii = lay(SAMPLE, 60, GlyphSet::Ascii);
    assert!(ascii.iter().all(|l| l.to_string().is_ascii()));
}

const SALES: &str = r#"Before:
```datatable
{"title": "Sales", "columns": [{"key": "city", "label": "City"}, {"key": "note", "label": "Note"},
  {"key": "sum", "label": "Sum", "type": "currency"}],
 "rows": [{"city": "東京", "note": "a long note that has to be wrapped where the pane is narrow", "sum": 12.5},
  {"city": "Köln \u001b[31m", "note": null, "sum": 1300}]}
```
After.

```spreadsheet
{"rows": [
```

```rust
fn x() {}
```
"#;

#[test]
fn a_table_of_data_is_drawn_as_one_and_a_broken_one_as_code() {
    insta::assert_snapshot!("data_80", shown(SALES, 80));
    insta::assert_snapshot!("data_40", shown(SALES, 40));
    insta::assert_snapshot!("data_14", shown(SALES, 14));
    // The numbers of the blocks of code behind it count on.
    let theme = Theme::plain();
    let mut stream = Stream::default();
    stream.update(SALES, 80, &ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode });
    let rust = stream.into_inks().into_iter().flat_map(|laid_line| laid_line.code).map(|code| code.block).max();
    assert_eq!(rust, Some(2));
}

#[test]
fn entities_are_sanitised_after_they_became_characters() {
    let text = shown("a &#27;[31m b &#x9b;m &#8238; c `\x1b[31m` [x](<&#27;]0;t&#7;>)\n\n&#27;", 80);
    assert!(!text.chars().any(|c| c != '\n' && c.is_control()), "{text:?}");
    assert!(text.contains("⟦U+202E⟧"));
}

#[test]
fn what_is_finished_is_not_parsed_again() {
    let theme = Theme::plain();
    let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
    let mut stream = Stream::default();
    stream.update("one\n\ntwo\n\nthr", 20, &look);
    assert_eq!((stream.done, stream.kept), (5, 1), "the second block could still go on");
    stream.update("one\n\ntwo\n\nthree\n```\ncode\nmore", 20, &look);
    assert_eq!(stream.done, "one\n\ntwo\n\nthree\n```\ncode\n".len(), "code is final line by line");
    // A text that was replaced is noticed.
    let lines = stream.update("ONE\n\nTWO\n\nthree\n```\ncode\nmore", 20, &look);
    assert_eq!(lines[0].to_string(), "ONE");
    // So is one that became shorter.
    assert_eq!(stream.update("O", 20, &look).len(), 1);
}

#[test]
fn a_line_that_later_text_takes_back_ends_no_block() {
    let theme = Theme::plain();
    let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
    let mut stream = Stream::default();
    // The sequence on the second line has no end yet; when it comes, the line is overwritten.
    for text in ["para\n- \x1b]0;t\nmore\n", "para\n- \x1b]0;t\nmore\n\x07\rgoes on\n"] {
        stream.update(text, 20, &look);
    }
    assert_eq!(stream.into_lines().iter().map(ToString::to_string).collect::<Vec<_>>(), ["para", "goes on"]);
}

#[test]
fn unbounded_things_are_bounded() {
    let begin = std::time::Instant::now();
    let row = format!("{}\n", "|a".repeat(4000));
    let bomb = format!("{row}{}\n{}", "|-".repeat(4000), "|\n".repeat(4000));
    for text in [
        "a".repeat(1 << 20),
        "日".repeat(1 << 18),
        "> ".repeat(20_000) + "deep",
        "- ".repeat(20_000),
        "*a ".repeat(20_000),
        "[".repeat(40_000),
        "`".repeat(30_000) + "a",
        "![[".repeat(10_000),
        "<!--".repeat(10_000),
        "$".repeat(50_000),
        "a\u{301}".repeat(50_000),
        "- a\n".repeat(40_000),
        "line of text\n".repeat(40_000),
        format!("```\n{}", "x".repeat(1 << 20)),
        bomb,
    ] {
        for width in [1, 7, 80, 400] {
            for line in lay(&text, width, GlyphSet::Unicode) {
                assert!(spans_width(&line.spans) <= width);
            }
        }
    }
    // Generous for a busy machine; work that grows with the square would take hours.
    assert!(begin.elapsed().as_secs() < 120);
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "# ", "## x\n", "- ", "  - ", "1. ", "> ", "\n", "\n\n", "```", "```rust\n", "```datatable\n", "[{\"a\": 1, \"b\": \"日本 x\"}]\n", "```\n", "~~~\n", "    ", "***", "**", "*", "_",
            "`", "|", "| a | b |\n", "|---|---|\n", "| - |", "---\n", "===\n", "<div>\n", "<!-- ", "-->", "[a](b)", "[a]: b\n",
            "$x$", "$$", "- [ ] ", "\t", "&#27;", "\x1b[1m", "\x1b]", "\x07", "\r", "\r\n", "\u{202e}", "👩\u{200d}👩", "日本", "~~", "\\", "!", "#",
        ]).prop_map(str::to_owned),
        4 => "[a-z ]{1,12}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_markdown_breaks_the_layout(text in markdown(), width in 1usize..400, ascii in any::<bool>()) {
        let glyphs = if ascii { GlyphSet::Ascii } else { GlyphSet::Unicode };
        for line in lay(&text, width, glyphs) {
            prop_assert!(spans_width(&line.spans) <= width, "{line:?} is wider than {width}");
            prop_assert!(!line.to_string().chars().any(char::is_control));
        }
    }

    #[test]
    fn pieces_give_the_lines_of_the_whole(text in markdown(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8), width in 5usize..80) {
        let theme = Theme::plain();
        let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
        let mut at: Vec<usize> = cuts.iter().map(|i| text.floor_char_boundary(i.index(text.len() + 1))).collect();
        at.push(text.len());
        at.sort_unstable();
        let mut stream = Stream::default();
        for end in at {
            stream.update(&text[..end], width, &look);
        }
        let whole: Vec<String> = lay(&text, width, GlyphSet::Unicode).iter().map(ToString::to_string).collect();
        let grown: Vec<String> = stream.into_lines().iter().map(ToString::to_string).collect();
        prop_assert_eq!(grown, whole);
    }
}
