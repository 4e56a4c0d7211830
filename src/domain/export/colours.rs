//! Colours of code in an exported page: comments, strings, numbers and keywords of usual languages, by what they look like.
//! A page carries no grammars, and code of a language that is not known stays plain.

use super::html::escaped;

/// How a language writes what is coloured.
struct Language {
    /// Names in code blocks.
    names: &'static [&'static str],
    /// Starts of comments up to the end of the line.
    line: &'static [&'static str],
    /// Start and end of longer comments.
    block: Option<(&'static str, &'static str)>,
    /// Characters around strings.
    quotes: &'static str,
    keywords: &'static str,
}

const C_BLOCK: Option<(&str, &str)> = Some(("/*", "*/"));

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        line: &["//"],
        block: C_BLOCK,
        quotes: "\"",
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
                   move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Language {
        names: &["python", "py", "python3"],
        line: &["#"],
        block: None,
        quotes: "\"'",
        keywords: "False None True and as assert async await break class continue def del elif else except finally for from \
                   global if import in is lambda nonlocal not or pass raise return try while with yield match case",
    },
    Language {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "json", "jsonc"],
        line: &["//"],
        block: C_BLOCK,
        quotes: "\"'`",
        keywords: "async await break case catch class const continue default delete do else enum export extends false finally \
                   for from function if implements import in instanceof interface let new null of return static super \
                   switch this throw true try type typeof undefined var void while yield",
    },
    Language {
        names: &[
            "c", "cpp", "c++", "h", "hpp", "java", "kotlin", "kt", "csharp", "cs", "swift", "go", "golang", "scala",
            "php", "dart", "zig",
        ],
        line: &["//"],
        block: C_BLOCK,
        quotes: "\"'`",
        keywords: "abstract auto bool boolean break byte case catch chan char class const continue default defer do double else \
                   enum extends extern false final float for func fun function go goto if implements import int interface let \
                   long map namespace new nil null package private protected public range return short signed sizeof static \
                   struct super switch template this throw true try type typedef union unsigned using val var virtual void \
                   volatile when while",
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "fish", "console"],
        line: &["#"],
        block: None,
        quotes: "\"'",
        keywords: "if then else elif fi for while until do done case esac in function return exit export local readonly set unset \
                   shift source alias",
    },
    Language {
        names: &[
            "ruby",
            "rb",
            "perl",
            "r",
            "elixir",
            "ex",
            "make",
            "makefile",
            "dockerfile",
            "yaml",
            "yml",
            "toml",
            "ini",
            "nix",
        ],
        line: &["#"],
        block: None,
        quotes: "\"'",
        keywords: "BEGIN END and begin break case class def do else elsif end ensure false for if in let module my nil not null or \
                   require rescue return self sub then true unless until when while with yield FROM RUN COPY ENV CMD",
    },
    Language {
        names: &["sql", "lua", "haskell", "hs", "ada"],
        line: &["--"],
        block: None,
        quotes: "\"'",
        keywords: "select from where insert into values update set delete create table index drop alter join left right inner outer \
                   on group by order having limit and or not null is as in like distinct union SELECT FROM WHERE INSERT INTO VALUES \
                   UPDATE SET DELETE CREATE TABLE INDEX DROP ALTER JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT AND \
                   OR NOT NULL IS AS IN LIKE DISTINCT UNION local function end then if else elseif for while do return true false \
                   nil let module import data type case of",
    },
    Language { names: &["css", "scss", "less"], line: &[], block: C_BLOCK, quotes: "\"'", keywords: "" },
    Language { names: &["html", "xml", "svg"], line: &[], block: Some(("<!--", "-->")), quotes: "\"", keywords: "" },
];

/// Code as HTML, with a class around what is coloured.
pub(super) fn coloured(code: &str, info: &str) -> String {
    let name = info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
    if matches!(name.as_str(), "diff" | "patch") {
        return changes(code);
    }
    match LANGUAGES.iter().find(|language| language.names.contains(&name.as_str())) {
        Some(language) => language.coloured(code),
        None => escaped(code),
    }
}

fn changes(code: &str) -> String {
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => marked("a", line),
        Some(b'-') => marked("d", line),
        Some(b'@') => marked("c", line),
        _ => escaped(line),
    };
    code.split_inclusive('\n').map(line).collect()
}

fn marked(class: &str, text: &str) -> String {
    format!("<span class=\"{class}\">{}</span>", escaped(text))
}

impl Language {
    fn coloured(&self, code: &str) -> String {
        let (mut out, mut rest, mut before) = (String::with_capacity(code.len() * 2), code, None);
        while let Some(first) = rest.chars().next() {
            let (class, length) = self.token(rest, first, before);
            let (token, after) = rest.split_at(length);
            out.push_str(&if class.is_empty() { escaped(token) } else { marked(class, token) });
            (rest, before) = (after, token.chars().next_back());
        }
        out
    }

    /// Class and length of what a text begins with.
    fn token(&self, rest: &str, first: char, before: Option<char>) -> (&'static str, usize) {
        let to_end = || rest.find('\n').unwrap_or(rest.len());
        // `$#` and `a#b` begin no comment.
        let apart = before.is_none_or(char::is_whitespace);
        if self.line.iter().any(|start| rest.starts_with(start) && (apart || *start != "#")) {
            return ("c", to_end());
        }
        if let Some((open, close)) = self.block.filter(|(open, _)| rest.starts_with(open)) {
            let inside = rest.get(open.len()..).and_then(|inside| inside.find(close));
            return ("c", inside.map_or(rest.len(), |at| open.len() + at + close.len()));
        }
        if self.quotes.contains(first) {
            let length = string(rest, first);
            return (if length > first.len_utf8() { "s" } else { "" }, length);
        }
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if word == 0 {
            return ("", first.len_utf8());
        }
        let text = rest.get(..word).unwrap_or_default();
        if first.is_ascii_digit() {
            return ("n", word);
        }
        let is_keyword = self.keywords.split_whitespace().any(|keyword| keyword == text);
        (if is_keyword { "k" } else { "" }, word)
    }
}

/// Length of a string with its quotes. One that does not end on its line is none, but for those that may be longer.
fn string(text: &str, quote: char) -> usize {
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    if let Some(inside) = text.strip_prefix(&triple) {
        return inside.find(&triple).map_or(text.len(), |at| at + 2 * triple.len());
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if quote != '`' => return quote.len_utf8(),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    quote.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn code_is_coloured_by_its_language() {
        for (info, code, expected) in [
            (
                "rust",
                "let a = 1; // <x>",
                "<span class=\"k\">let</span> a = <span class=\"n\">1</span>; <span class=\"c\">// &lt;x&gt;</span>",
            ),
            ("rs", "'a \"b\\\"c\"", "&#39;a <span class=\"s\">&quot;b\\&quot;c&quot;</span>"),
            ("sh", "echo $# # n", "echo $# <span class=\"c\"># n</span>"),
            (
                "python title=\"x\"",
                "\"\"\"a\nb\"\"\"",
                "<span class=\"s\">&quot;&quot;&quot;a\nb&quot;&quot;&quot;</span>",
            ),
            ("js", "it's\n", "it&#39;s\n"),
            ("diff", "+a\n-b\n c", "<span class=\"a\">+a\n</span><span class=\"d\">-b\n</span> c"),
            ("", "let 1", "let 1"),
            ("nobody", "let 1", "let 1"),
        ] {
            assert_eq!(coloured(code, info), expected, "{info}: {code}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost_or_becomes_a_tag(code in "[a-z'\"`/#*<>&\\\\ \n-]{0,60}", at in 0..LANGUAGES.len()) {
            let shown = coloured(&code, LANGUAGES[at].names[0]);
            let mut plain = shown.replace("</span>", "");
            for class in ["c", "s", "n", "k"] {
                plain = plain.replace(&format!("<span class=\"{class}\">"), "");
            }
            prop_assert_eq!(plain, escaped(&code));
        }
    }
}
