//! Labels that come by themselves: the rules of a workspace's labels, run on what the user writes.
//!
//! The rules are regular expressions as JavaScript has them, because Craft Agents runs the same files. What is code in
//! a message, fenced or inline, says nothing about what the message is about and is left out. Which sessions have rules
//! run on them, and when, is the actor's.

use crate::domain::notice::{Level, Notice};
use crate::domain::property::{Label, ValueType, is_decimal};
use regex::{Captures, Regex, RegexBuilder};

/// Maximum number of labels from a message.
const PER_MESSAGE: usize = 10;
/// Maximum length of a value: the room of a header is limited.
const LONGEST: usize = 100;
/// A rule that needs more memory than this is not used.
const REGEX_BYTES: usize = 1 << 20;

/// The rules of all labels, ready to run.
#[derive(Clone, Debug, Default)]
pub struct AutoLabels {
    rules: Vec<Rule>,
    problems: Vec<Notice>,
}

#[derive(Clone, Debug)]
struct Rule {
    label: String,
    number: bool,
    pattern: Regex,
    template: Option<String>,
}

impl AutoLabels {
    /// Takes the rules of the labels and of all below them, in the order of the tree.
    #[must_use]
    pub fn new(labels: &[Label]) -> Self {
        let mut all = Self::default();
        all.take(labels);
        all
    }

    /// The rules that cannot be used, and why.
    #[must_use]
    pub fn problems(&self) -> &[Notice] {
        &self.problems
    }

    fn take(&mut self, labels: &[Label]) {
        for label in labels {
            for rule in &label.rules {
                match compile(&rule.pattern, rule.flags.as_deref().unwrap_or("gi")) {
                    Ok(pattern) => self.rules.push(Rule {
                        label: label.id.clone(),
                        number: label.value_type == Some(ValueType::Number),
                        pattern,
                        template: rule.value_template.clone().filter(|template| !template.is_empty()),
                    }),
                    Err(why) => {
                        let text = format!("Ignored a rule of the label {:?}: {:?}: {why}.", label.id, rule.pattern);
                        let hint = "Look-around and back-references are not supported.";
                        self.problems.push(Notice::new(Level::Warning, text).hint(hint));
                    }
                }
            }
            self.take(&label.children);
        }
    }

    /// Labels of a message: entries `id::value`, each once, at most ten. An entry of a label
    /// without a type still has a value, as in Craft Agents.
    #[must_use]
    pub fn of(&self, text: &str) -> Vec<String> {
        let mut entries: Vec<String> = Vec::new();
        if self.rules.is_empty() {
            return entries;
        }
        let text = without_code(text);
        for rule in &self.rules {
            for found in rule.pattern.captures_iter(&text) {
                if entries.len() >= PER_MESSAGE {
                    return entries;
                }
                let value = rule.value(&found);
                if value.is_empty() || value.chars().count() > LONGEST {
                    continue;
                }
                let entry = format!("{}::{value}", rule.label);
                if !entries.contains(&entry) {
                    entries.push(entry);
                }
            }
        }
        entries
    }
}

impl Rule {
    fn value(&self, found: &Captures<'_>) -> String {
        let group = |n: usize| found.get(n).map_or("", |group| group.as_str());
        let value = match &self.template {
            Some(template) => filled(template, &group),
            None if found.len() > 1 => group(1).to_owned(),
            None => group(0).to_owned(),
        };
        // One line: the value stands in a header and in a list.
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.number { number(&value).unwrap_or(value) } else { value }
    }
}

/// The template with `$1`, `$12` … replaced by what the groups hold.
fn filled<'a>(template: &str, group: &dyn Fn(usize) -> &'a str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        match after.get(..digits).and_then(|number| number.parse().ok()) {
            Some(number) => out.push_str(group(number)),
            None => {
                out.push('$');
                out.push_str(&after[..digits]);
            }
        }
        rest = &after[digits..];
    }
    out + rest
}

/// `$45,000` is 45000, `1.5k` is 1500. `None` for what is no number.
fn number(value: &str) -> Option<String> {
    let bare = value.trim().trim_start_matches(['$', '€', '£', '¥']).replace(',', "");
    let (digits, zeros) = match bare.chars().last()? {
        'k' | 'K' => (&bare[..bare.len() - 1], 3),
        'm' | 'M' => (&bare[..bare.len() - 1], 6),
        'b' | 'B' => (&bare[..bare.len() - 1], 9),
        _ => (bare.as_str(), 0),
    };
    let digits = digits.trim();
    if !is_decimal(digits) {
        return None;
    }
    // The point moves; nothing is rounded.
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let moved: String = fraction.chars().chain(std::iter::repeat('0')).take(zeros).collect();
    let rest = fraction.get(zeros..).unwrap_or_default().trim_end_matches('0');
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let joined = format!("{whole}{moved}");
    let whole = joined.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if whole == "0" && rest.is_empty() { "" } else { sign };
    Some(if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") })
}

/// The text with fenced code and inline code taken out.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let run = bare.len() - bare.trim_start_matches(['`', '~']).len();
        let marks = &bare[..run];
        let same = |mark: char| run >= 3 && marks.chars().all(|c| c == mark);
        match fence {
            // The end of a block has at least as many marks as its beginning and nothing behind them.
            Some(open) if marks.starts_with(open) && bare[run..].trim().is_empty() => fence = None,
            Some(_) => {}
            // Backticks behind backticks make it inline code, such as ```x```.
            None if same('~') || (same('`') && !bare[run..].contains('`')) => {
                fence = Some(marks);
                inline(&prose, &mut out);
                prose.clear();
            }
            None => prose.push_str(line),
        }
    }
    inline(&prose, &mut out);
    out
}

/// Adds the text without its inline code: what stands between two runs of as many backticks.
fn inline(text: &str, out: &mut String) {
    // The runs of backticks by length, last first, so that a closing one is found without looking again.
    let runs: Vec<(usize, usize)> = runs(text);
    let mut next: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
    for (at, len) in runs.iter().rev() {
        next.entry(*len).or_default().push(*at);
    }
    let mut kept = 0;
    for (at, len) in runs {
        if at < kept {
            continue;
        }
        let Some(later) = next.get_mut(&len) else { continue };
        while later.last().is_some_and(|close| *close <= at) {
            later.pop();
        }
        if let Some(close) = later.last() {
            out.push_str(&text[kept..at]);
            out.push(' ');
            kept = close + len;
        }
    }
    out.push_str(&text[kept..]);
    out.push('\n');
}

/// Start and length of each run of backticks.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memchr_iter(b'`', text.as_bytes()) {
        match runs.last_mut() {
            Some((start, len)) if *start + *len == at => *len += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// A regular expression of JavaScript. All matches are found in any case, so the flag `g` means nothing.
fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    if let Some(flag) = flags.chars().find(|flag| !"gimsuyvd".contains(*flag)) {
        return Err(format!("the flag {flag:?} is not known"));
    }
    RegexBuilder::new(&translated(pattern))
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(REGEX_BYTES)
        .build()
        .map_err(|error| {
            // The message draws the pattern over several lines; its last line says what is wrong.
            let text = error.to_string();
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").trim_end_matches('.').to_owned()
        })
}

/// The pattern in Rust's dialect: in JavaScript `\d`, `\w` and `\b` mean ASCII, which matters beside letters of other
/// scripts, and `[`, `&` and `~` mean themselves between brackets.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut class = false;
    while let Some(c) = chars.next() {
        match (c, class) {
            ('\\', _) => match (chars.next(), class) {
                (Some('d'), _) => out.push_str("[0-9]"),
                (Some('D'), _) => out.push_str("[^0-9]"),
                (Some('w'), _) => out.push_str("[0-9A-Za-z_]"),
                (Some('W'), _) => out.push_str("[^0-9A-Za-z_]"),
                (Some('b'), false) => out.push_str("(?-u:\\b)"),
                (Some('b'), true) => out.push_str("\\x08"),
                (Some(c), _) => {
                    out.push('\\');
                    out.push(c);
                }
                (None, _) => out.push('\\'),
            },
            ('[', false) => {
                class = true;
                let negated = chars.next_if_eq(&'^').is_some();
                // `[]` matches nothing and `[^]` everything; in Rust the bracket would belong to the class.
                if chars.next_if_eq(&']').is_some() {
                    class = false;
                    out.push_str(if negated { "(?s:.)" } else { "[a&&b]" });
                } else {
                    out.push_str(if negated { "[^" } else { "[" });
                }
            }
            ('[' | '&' | '~', true) => {
                out.push('\\');
                out.push(c);
            }
            (']', true) => {
                class = false;
                out.push(']');
            }
            (c, _) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::property::AutoRule;
    use proptest::prelude::*;

    fn rule(pattern: &str, flags: Option<&str>, template: Option<&str>) -> AutoRule {
        let own = |text: Option<&str>| text.map(str::to_owned);
        AutoRule { pattern: pattern.into(), flags: own(flags), value_template: own(template), description: None }
    }

    fn label(id: &str, value_type: Option<ValueType>, rules: Vec<AutoRule>, children: Vec<Label>) -> Label {
        Label { id: id.into(), name: id.into(), color: None, value_type, children, rules }
    }

    fn labels() -> Vec<Label> {
        vec![
            label(
                "development",
                None,
                vec![rule("refactor", None, None)],
                vec![label("bug", None, vec![rule(r"\b(bug|crash)\b", Some("i"), None)], vec![])],
            ),
            label(
                "issue",
                Some(ValueType::String),
                vec![
                    rule(r"\b([A-Z]{2,5}-\d+)\b", Some("g"), Some("$1")),
                    rule(r"github\.com/([\w-]+)/([\w-]+)/issues/(\d+)", None, Some("$1/$2#$3")),
                ],
                vec![],
            ),
            label("cost", Some(ValueType::Number), vec![rule(r"\$([\d,.]+[kmb]?)", None, None)], vec![]),
        ]
    }

    #[test]
    fn messages_give_labels_in_the_order_of_the_tree() {
        let rules = AutoLabels::new(&labels());
        assert!(rules.problems().is_empty());
        for (text, entries) in [
            ("fix the Crash of ABC-12, then refactor", &["development::refactor", "bug::Crash", "issue::ABC-12"][..]),
            ("ABC-12 and ABC-12 and DEF-3", &["issue::ABC-12", "issue::DEF-3"]),
            ("abc-12", &[]),
            ("see https://github.com/acme/pump-it/issues/42", &["issue::acme/pump-it#42"]),
            ("costs $45,000 or $1.5k", &["cost::45000", "cost::1500"]),
            ("直す：BUGをABC-1で", &["bug::BUG", "issue::ABC-1"]),
            ("a crash `bug` and ``ABC-1 ` x`` here", &["bug::crash"]),
            ("```\nbug\n```\nABC-1\n~~~ rust\ncrash\n~~~~\n", &["issue::ABC-1"]),
            ("open\n```\nbug without an end", &[]),
            ("`bug\n\ncrash", &["bug::bug", "bug::crash"]),
            ("debugging", &[]),
            ("", &[]),
        ] {
            assert_eq!(rules.of(text), entries, "{text}");
        }
    }

    #[test]
    fn a_message_gives_ten_at_the_most() {
        let text: String = (0..40).map(|n| format!("AB-{n} AB-{n} ")).collect();
        let entries = AutoLabels::new(&labels()).of(&text);
        assert_eq!((entries.len(), entries.last().map(String::as_str)), (10, Some("issue::AB-9")));
    }

    #[test]
    fn values_are_numbers_where_they_can_be() {
        for (value, is) in [
            ("45,000", Some("45000")),
            ("$1.5k", Some("1500")),
            ("€2M", Some("2000000")),
            ("1.23456k", Some("1234.56")),
            ("4.35k", Some("4350")),
            ("-2.50", Some("-2.5")),
            ("007", Some("7")),
            ("0.5", Some("0.5")),
            (".5", None),
            ("0", Some("0")),
            ("-0", Some("0")),
            ("3b", Some("3000000000")),
            ("k", None),
            ("1.2.3", None),
            ("1e5", None),
            ("", None),
        ] {
            assert_eq!(number(value).as_deref(), is, "{value}");
        }
    }

    #[test]
    fn templates_take_groups_and_leave_other_dollars() {
        let group = |n: usize| ["all", "one", "", "three"].get(n).copied().unwrap_or("");
        for (template, is) in [
            ("$1/$3", "one/three"),
            ("$0", "all"),
            ("$2", ""),
            ("$9x", "x"),
            ("$", "$"),
            ("a$b$$1", "a$b$one"),
            ("$99999999999999999999999", "$99999999999999999999999"),
            ("日$1本", "日one本"),
        ] {
            assert_eq!(filled(template, &group), is, "{template}");
        }
    }

    #[test]
    fn patterns_mean_what_they_mean_in_javascript() {
        for (pattern, flags, text, found) in [
            (r"\d+", "", "٣ 7", "7"),
            (r"\w+", "", "日本x_1", "x_1"),
            (r"[\w-]+", "", "日 a-b", "a-b"),
            (r"[\w-.]+", "", "日 a-b.c", "a-b.c"),
            (r"[^\w]", "", "ab日", "日"),
            (r"\bx\b", "", "日x本", "x"),
            (r"[[]a[&&]", "", "[a&", "[a&"),
            (r"[^]b", "", "a\nb", "\nb"),
            (r"a[]|c", "", "ac", "c"),
            (r"^b$", "m", "a\nb\nc", "b"),
            (r"a.b", "s", "a\nb", "a\nb"),
            (r"http:\/\/x", "u", "http://x", "http://x"),
            (r"(?<year>\d{4})", "", "in 2026", "2026"),
            (r"É", "gi", "é", "é"),
        ] {
            let regex = compile(pattern, flags).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.find(text).map(|found| found.as_str()), Some(found), "{pattern}");
        }
    }

    #[test]
    fn a_rule_that_cannot_be_used_is_a_problem_and_the_others_run() {
        let rules = vec![
            rule("(?=x)y", None, None),
            rule(r"(a)\1", None, None),
            rule("(", None, None),
            rule("ok", Some("q"), None),
            rule("((x{1000}){1000}){1000}", None, None),
            rule("fine", None, None),
        ];
        let rules = AutoLabels::new(&[label("a", None, rules, vec![])]);
        assert_eq!(rules.problems().len(), 5, "{:?}", rules.problems());
        assert!(rules.problems().iter().all(|one| one.text.contains("label \"a\"") && !one.text.contains('\n')));
        assert_eq!(rules.of("fine"), ["a::fine"]);
    }

    #[test]
    fn empty_and_endless_values_are_none() {
        let rules = vec![rule("x(y?)", None, None), rule("(?s)begin(.*)end", None, None)];
        let rules = AutoLabels::new(&[label("a", None, rules, vec![])]);
        assert_eq!(rules.of("x xy"), ["a::y"]);
        assert_eq!(rules.of(&format!("begin{}end", "z".repeat(101))), Vec::<String>::new());
        assert_eq!(rules.of("begin one\n two end"), ["a::one two"]);
    }

    #[test]
    fn a_megabyte_of_backticks_takes_linear_work() {
        let rules = AutoLabels::new(&labels());
        let text: String = (0..200_000).map(|n| if n % 3 == 0 { "`" } else { "``x" }).collect();
        let _ = rules.of(&text);
        let odd: String = (1..1_200).map(|n| "`".repeat(n) + " bug ").collect();
        assert_eq!(rules.of(&odd), ["bug::bug"]);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(pattern in "\\PC{0,24}", template in "[$0-9a-z日]{0,8}", text in "[`~ \\na-z日0-9$.,-]{0,80}") {
            let rules = AutoLabels::new(&[label("a", Some(ValueType::Number), vec![rule(&pattern, None, Some(&template))], labels())]);
            let entries = rules.of(&text);
            prop_assert!(entries.len() <= 10);
            let code = without_code(&text);
            // Only a blank and a newline can come in for what goes out.
            prop_assert!(code.len() <= text.len() + text.lines().count() + 1);
        }
    }
}
