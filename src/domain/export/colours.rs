//! Colours of code in an exported page: a class around each run that has one.

use super::context::ExportContext;
use super::html::escaped;
use crate::domain::code::Shade;
use std::fmt::Write;

/// Class of a shade, as the page's style names it.
fn class(shade: Shade) -> &'static str {
    match shade {
        Shade::Comment => "c",
        Shade::String => "s",
        Shade::Number | Shade::Constant => "n",
        Shade::Keyword => "k",
        Shade::Type | Shade::Function | Shade::Heading => "f",
        Shade::Added => "a",
        Shade::Removed => "d",
    }
}

/// Code as HTML. `info` is what stands above the block: its first word is the language.
pub(super) fn coloured(code: &str, info: &str, look: &dyn ExportContext) -> String {
    let lang = info.split([' ', ',', '{']).next().unwrap_or_default();
    let mut colours = look.colours(code, lang).into_iter();
    let mut out = String::with_capacity(code.len() * 2);
    for line in code.split_inclusive('\n') {
        let mut at = 0;
        for run in colours.next().unwrap_or_default() {
            let (start, end) = (run.start as usize, run.end as usize);
            let (Some(before), Some(text)) = (line.get(at..start), line.get(start..end)) else { continue };
            out.push_str(&escaped(before));
            let _ = write!(out, "<span class=\"{}\">{}</span>", class(run.shade), escaped(text));
            at = end;
        }
        out.push_str(&escaped(line.get(at..).unwrap_or_default()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::At;
    use crate::domain::code::ShadedRun;
    use proptest::prelude::*;

    struct Runs(Vec<Vec<ShadedRun>>);

    impl ExportContext for Runs {
        fn time(&self, _: At) -> String {
            String::new()
        }
        fn colours(&self, _: &str, lang: &str) -> Vec<Vec<ShadedRun>> {
            if lang == "rust" { self.0.clone() } else { Vec::new() }
        }
    }

    #[test]
    fn runs_get_a_class_and_all_is_escaped() {
        let run = |start, end, shade| ShadedRun { start, end, shade };
        let runs =
            Runs(vec![vec![run(0, 3, Shade::Keyword), run(8, 11, Shade::String)], vec![run(0, 2, Shade::Comment)]]);
        let code = "let a = \"<\";\n//\n";
        let expected = "<span class=\"k\">let</span> a = <span class=\"s\">&quot;&lt;&quot;</span>;\n<span class=\"c\">//</span>\n";
        for (info, shown) in
            [("rust", expected), ("rust title=\"x\"", expected), ("", "let a = &quot;&lt;&quot;;\n//\n")]
        {
            assert_eq!(coloured(code, info, &runs), shown, "{info}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost_or_becomes_a_tag(
            code in "[a-z'\"`/#*<>&\\\\ \né]{0,60}",
            runs in proptest::collection::vec(proptest::collection::vec((0u32..70, 0u32..70), 0..4), 0..5),
        ) {
            let run = |(start, end)| ShadedRun { start, end, shade: Shade::Keyword };
            let runs = Runs(runs.into_iter().map(|line| line.into_iter().map(run).collect()).collect());
            let shown = coloured(&code, "rust", &runs);
            let plain = shown.replace("</span>", "").replace("<span class=\"k\">", "");
            prop_assert_eq!(plain, escaped(&code));
        }
    }
}
