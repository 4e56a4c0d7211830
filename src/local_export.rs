//! Surroundings of an export on this machine: its time zone, and the colours of code.

use crate::domain::At;
use crate::domain::code::ShadedRun;
use crate::domain::export::ExportContext;
use crate::{local_time, syntax};

/// Exports of this machine.
#[derive(Clone, Copy, Debug)]
pub struct LocalExport;

impl ExportContext for LocalExport {
    fn time(&self, at: At) -> String {
        local_time::minute(at)
    }

    fn colours(&self, code: &str, lang: &str) -> Vec<Vec<ShadedRun>> {
        syntax::colours(code, lang)
    }
}

/// Exports of this machine that stay with the user: pages show the pictures of messages, in which nothing is masked.
#[derive(Clone, Copy, Debug)]
pub struct PicturedExport;

impl ExportContext for PicturedExport {
    fn time(&self, at: At) -> String {
        LocalExport.time(at)
    }

    fn colours(&self, code: &str, lang: &str) -> Vec<Vec<ShadedRun>> {
        LocalExport.colours(code, lang)
    }

    fn shows_pictures(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageId;
    use crate::domain::export::Format;
    use crate::domain::message::{AssistantText, Body, Message};

    #[test]
    fn code_in_a_page_is_coloured_and_stays_text() {
        for (code, shown) in [
            ("```rust\nlet a = \"</code><b>\";\n```\n", "<span class=\"s\">&quot;&lt;/code&gt;&lt;b&gt;&quot;</span>"),
            ("```python title=\"x\"\nreturn 12\n```\n", "<span class=\"k\">return</span> <span class=\"n\">12</span>"),
            ("```diff\n-gone\n```\n", "<span class=\"d\">-gone</span>"),
            ("```nobody\nreturn 12\n```\n", "<pre><code>return 12\n</code></pre>"),
        ] {
            let said = AssistantText { text: code.to_owned(), ..AssistantText::default() };
            let page = Format::Html.row(&Message::new(MessageId::new("m"), At(0), Body::Assistant(said)), &LocalExport);
            assert!(page.contains(shown) && !page.contains("<b>"), "{page}");
        }
    }
}
