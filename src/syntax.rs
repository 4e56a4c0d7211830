//! Syntax highlighting: text in, shades out. The grammars are loaded with the first block of code.
//!
//! syntect with the grammars of two-face (those of bat: 220 languages, TOML, TypeScript, Dockerfile and Kotlin among them,
//! which syntect's own set lacks), on the regex engine onig: measured against the same on fancy-regex it is three to five
//! times faster and a megabyte smaller; four grammars of tree-sitter alone were larger than all of these, and the bundles
//! of all its grammars are tens of megabytes. Last releases: syntect 5.3 (2025-09), two-face 0.5.2 (2026-08).
//!
//! A block that grows is not read again from its beginning: the [`Painter`] remembers where it was.

use crate::domain::code::{Block, Coloured, Shade, ShadedRun};
use std::sync::LazyLock;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Bytes of a line that is still read: minified code has no structure that an eye could follow.
const LONGEST: usize = 2_000;

/// Scopes and what they are; of those that fit the first counts. `None`: plain, whatever stands around it.
static SHADES: LazyLock<Vec<(Scope, Option<Shade>)>> = LazyLock::new(|| {
    use Shade::{Added, Comment, Constant, Function, Heading, Keyword, Number, Removed, String, Type};
    [
        ("comment", Some(Comment)),
        ("punctuation.definition.comment", Some(Comment)),
        ("constant.character.escape", Some(Constant)),
        ("constant.numeric", Some(Number)),
        ("constant", Some(Constant)),
        ("variable.language", Some(Constant)),
        ("string", Some(String)),
        ("punctuation.definition.string", Some(String)),
        ("meta.interpolation", None),
        ("meta.template.expression", None),
        ("keyword.operator.word", Some(Keyword)),
        ("keyword.operator.logical", Some(Keyword)),
        ("keyword.operator", None),
        ("keyword", Some(Keyword)),
        ("storage.type.numeric", Some(Type)),
        ("storage", Some(Keyword)),
        ("entity.name.function", Some(Function)),
        ("entity.name.macro", Some(Function)),
        ("support.macro", Some(Function)),
        ("support.function", Some(Function)),
        ("variable.function", Some(Function)),
        ("entity.name.tag", Some(Keyword)),
        ("entity.other.attribute-name", Some(Function)),
        ("entity.name.section", Some(Heading)),
        ("markup.heading", Some(Heading)),
        ("markup.inserted", Some(Added)),
        ("markup.deleted", Some(Removed)),
        ("markup.raw", Some(String)),
        ("meta.diff.header", Some(Comment)),
        ("meta.diff.range", Some(Comment)),
        ("meta.annotation", Some(Constant)),
        ("entity.other.inherited-class", Some(Type)),
        ("entity.name.label", Some(Constant)),
        ("entity.name", Some(Type)),
        ("support.type.property-name", Some(Function)),
        ("support", Some(Type)),
    ]
    .into_iter()
    .filter_map(|(name, shade)| Some((Scope::new(name).ok()?, shade)))
    .collect()
});

/// Colours blocks, and goes on with one that grew.
#[derive(Debug, Default)]
pub struct Painter {
    last: Option<KeptSyntax>,
}

/// Parser state of a block that may grow: after its last complete line.
struct KeptSyntax {
    lang: String,
    text: String,
    state: ParseState,
    stack: ScopeStack,
    lines: Vec<Vec<ShadedRun>>,
}

impl std::fmt::Debug for KeptSyntax {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("lang", &self.lang).field("lines", &self.lines.len()).finish_non_exhaustive()
    }
}

impl Painter {
    /// Loads the grammars, once; this takes a few milliseconds.
    pub fn load(&self) {
        LazyLock::force(&SYNTAXES);
    }

    /// The colours of a block. `enough` is asked before every line; once it says yes, the rest stays plain.
    pub fn paint(&mut self, block: &Block, enough: &mut dyn FnMut() -> bool) -> Coloured {
        let lines = self.lines(block, enough);
        let Block { key, number, whole, revision, .. } = *block;
        Coloured { key, number, whole, revision, lines }
    }

    fn lines(&mut self, block: &Block, enough: &mut dyn FnMut() -> bool) -> Vec<Vec<ShadedRun>> {
        if block.text.is_empty() {
            return Vec::new();
        }
        let Some(syntax) = syntax_of(&block.lang) else { return Vec::new() };
        let fits = |kept: &KeptSyntax| kept.lang == block.lang && block.text.starts_with(&kept.text);
        let mut kept = self.last.take().filter(fits).unwrap_or_else(|| KeptSyntax {
            lang: block.lang.clone(),
            text: String::new(),
            state: ParseState::new(syntax),
            stack: ScopeStack::new(),
            lines: Vec::new(),
        });
        let rest = block.text.get(kept.text.len()..).unwrap_or_default();
        let mut out = None;
        for line in rest.split_inclusive('\n') {
            if enough() || line.len() > LONGEST {
                break;
            }
            if line.ends_with('\n') {
                let Some(runs) = read(line, &mut kept.state, &mut kept.stack) else { break };
                kept.lines.push(runs);
                kept.text.push_str(line);
            } else {
                // The last one: what comes behind it may make it something else.
                let (mut state, mut stack) = (kept.state.clone(), kept.stack.clone());
                let whole = format!("{line}\n");
                let runs = read(&whole, &mut state, &mut stack).unwrap_or_default();
                let mut lines = kept.lines.clone();
                lines.push(runs);
                out = Some(lines);
            }
        }
        let lines = out.unwrap_or_else(|| kept.lines.clone());
        if !block.whole {
            self.last = Some(kept);
        }
        lines
    }
}

/// Bytes of a block that is read for an export: a page is written while somebody waits.
const LONGEST_BLOCK: usize = 200_000;

/// Colours of a block that stands alone, a line each; none for a language that is not known and for a very long block.
#[must_use]
pub fn colours(code: &str, lang: &str) -> Vec<Vec<ShadedRun>> {
    if code.len() > LONGEST_BLOCK {
        return Vec::new();
    }
    let block = Block { lang: lang.to_owned(), text: code.to_owned(), whole: true, ..Block::default() };
    Painter::default().paint(&block, &mut || false).lines
}

/// The runs of one line, with its newline; `None` when the grammar fails.
fn read(line: &str, state: &mut ParseState, stack: &mut ScopeStack) -> Option<Vec<ShadedRun>> {
    let ops = state.parse_line(line, &SYNTAXES).ok()?;
    let end = line.trim_end_matches('\n').len();
    let mut runs: Vec<ShadedRun> = Vec::new();
    let mut add = |from: usize, to: usize, stack: &ScopeStack| {
        let to = to.min(end);
        let Some(shade) = (from < to).then(|| shade(stack)).flatten() else { return };
        let (start, end) = (u32::try_from(from).unwrap_or(u32::MAX), u32::try_from(to).unwrap_or(u32::MAX));
        match runs.last_mut() {
            Some(last) if last.end == start && last.shade == shade => last.end = end,
            _ => runs.push(ShadedRun { start, end, shade }),
        }
    };
    let mut at = 0;
    for (place, op) in &ops {
        add(at, *place, stack);
        at = at.max(*place);
        stack.apply(op).ok()?;
    }
    add(at, end, stack);
    Some(runs)
}

/// Shade of the innermost scope that has one.
fn shade(stack: &ScopeStack) -> Option<Shade> {
    for scope in stack.as_slice().iter().rev() {
        if let Some((_, shade)) = SHADES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)) {
            return *shade;
        }
    }
    None
}

/// The grammar for the word above a block of code, or for a file's ending.
fn syntax_of(lang: &str) -> Option<&'static SyntaxReference> {
    let word = lang.trim().to_ascii_lowercase();
    let word = match word.as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" | "output" | "math" | "mermaid" => return None,
        "shell" | "console" | "shell-session" | "shellscript" | "zsh" => "sh",
        "golang" => "go",
        "csharp" => "cs",
        "jsonc" | "json5" | "jsonl" => "json",
        "node" => "js",
        "python3" => "py",
        "patch" => "diff",
        "docker" | "containerfile" => "dockerfile",
        other => other,
    };
    let found = SYNTAXES.find_syntax_by_token(word)?;
    (found.name != "Plain Text").then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(lang: &str, text: &str, whole: bool) -> Block {
        Block { lang: lang.to_owned(), text: text.to_owned(), whole, ..Block::default() }
    }

    fn painted(lang: &str, text: &str) -> Vec<(String, Shade)> {
        let coloured = Painter::default().paint(&block(lang, text, true), &mut || false);
        let lines = text.split('\n').zip(coloured.lines);
        lines
            .flat_map(|(line, runs)| {
                runs.into_iter().map(|run| (line[run.start as usize..run.end as usize].to_owned(), run.shade))
            })
            .collect()
    }

    #[test]
    fn a_line_of_each_language_is_taken_apart() {
        use Shade::{Comment, Constant, Function, Keyword, Number, Removed, String};
        for (lang, text, want) in [
            (
                "rust",
                "pub fn go(n: u32) -> bool { true } // so",
                vec![("pub", Keyword), ("fn", Keyword), ("go", Function), ("true", Constant), ("// so", Comment)],
            ),
            (
                "py",
                "def f(): return 12 # x",
                vec![("def", Keyword), ("f", Function), ("return", Keyword), ("12", Number), ("# x", Comment)],
            ),
            ("ts", "const a = 'x';", vec![("const", Keyword), ("'x'", String)]),
            ("toml", "a = 1", vec![("1", Number)]),
            ("diff", "-gone", vec![("-gone", Removed)]),
        ] {
            let found = painted(lang, text);
            for (piece, shade) in want {
                let has = found.iter().any(|(text, is)| text.trim() == piece && *is == shade);
                assert!(has, "{lang}: {piece} is no {shade:?} in {found:?}");
            }
        }
        for lang in ["", "text", "no-such-language", "mermaid"] {
            assert_eq!(painted(lang, "fn main() {}"), [], "{lang}");
        }
        for lang in [
            "bash",
            "sh",
            "json",
            "yaml",
            "tsx",
            "dockerfile",
            "go",
            "c",
            "cpp",
            "java",
            "kt",
            "sql",
            "html",
            "css",
            "swift",
            "zig",
            "nix",
            "console",
        ] {
            assert!(syntax_of(lang).is_some(), "{lang}");
        }
    }

    #[test]
    fn a_block_in_pieces_ends_with_the_colours_of_the_whole() {
        let text = "/* a\nlong */ fn one() {}\nlet s = \"日本\n語\";\nfn two() {}\n";
        let whole = Painter::default().paint(&block("rust", text, true), &mut || false);
        let mut painter = Painter::default();
        for (at, _) in text.char_indices() {
            painter.paint(&block("rust", &text[..at], false), &mut || false);
        }
        assert_eq!(painter.paint(&block("rust", text, true), &mut || false).lines, whole.lines);
        // Another text is not taken for the same one.
        let other = painter.paint(&block("rust", "fn x() {}", true), &mut || false);
        assert_eq!(other.lines, Painter::default().paint(&block("rust", "fn x() {}", true), &mut || false).lines);
    }

    #[test]
    fn what_is_too_much_stays_plain() {
        let text = "let a = 1;\n".repeat(100);
        let mut left = 3;
        let mut enough = || {
            left -= 1;
            left < 0
        };
        assert_eq!(Painter::default().paint(&block("rust", &text, true), &mut enough).lines.len(), 3);
        let long = format!("let a = 1;\n{}\n", "a".repeat(LONGEST));
        assert_eq!(Painter::default().paint(&block("rust", &long, true), &mut || false).lines.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn runs_lie_in_their_line(text in "(fn|let|\"|'|/\\*|\\*/|é|日|\\{|\\}|[0-9]|\n| |#|<|>){0,60}", lang in "rust|py|html|sh|md") {
            let coloured = Painter::default().paint(&block(&lang, &text, true), &mut || false);
            for (line, runs) in text.split('\n').zip(&coloured.lines) {
                let mut at = 0;
                for run in runs {
                    proptest::prop_assert!(run.start >= at && run.end > run.start);
                    proptest::prop_assert!(line.get(run.start as usize..run.end as usize).is_some(), "{line:?} {run:?}");
                    at = run.end;
                }
            }
        }
    }
}
