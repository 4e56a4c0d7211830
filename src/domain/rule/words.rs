//! Rules as a user reads and writes them: the words of a command, quoted as in a shell where they must be.
//!
//! The notation has the means of a rule: exact words, `./**` for one path below the working
//! directory, `*` in last place for one free text. A wildcard anywhere else is an error instead of
//! a word.

use super::Rule;
use std::borrow::Cow;

/// A word as it is written on a line: in quotes where a blank, a quote or nothing at all would be misread.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '\'' | '"' | '\\');
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// A line in words, quotes taken off.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(format!("unclosed quote {c}")),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(other) => word.push(other),
                    }
                }
            }
            '\\' => match chars.next() {
                None => return Err("trailing \\".to_owned()),
                Some(next) => word.get_or_insert_default().push(next),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

impl Rule {
    /// Reads a line that a user made of one of these rules: narrower, or wider as far as rules go. A line that is
    /// unchanged is that rule itself.
    ///
    /// # Errors
    ///
    /// The problem of the line, as a sentence without its full stop.
    pub fn parse_words(line: &str, offered: &[Rule]) -> Result<Rule, String> {
        let words = split(line)?;
        if let Some(same) = offered.iter().find(|rule| split(&rule.in_words()).is_ok_and(|of_rule| of_rule == words)) {
            return Ok(same.clone());
        }
        let Some((first, rest)) = words.split_first() else { return Err("empty line".to_owned()) };
        if line.trim_start().starts_with(super::READS) {
            return Err(format!("`{}` only applies to the suggested program, unchanged", super::READS));
        }
        let of_tool = offered.iter().find(|rule| rule.program.is_none() && rule.tool == *first);
        let rule = match (of_tool, offered.iter().find(|rule| rule.program.is_some())) {
            (Some(like), _) => of_place(like, rest)?,
            (None, Some(like)) => of_program(like, first, rest)?,
            (None, None) => {
                let tools: Vec<&str> = offered.iter().map(|rule| rule.tool.as_str()).collect();
                return Err(format!("a rule must start with {} here", tools.join(" or ")));
            }
        };
        match rule.fault() {
            Some(fault) => Err(fault.trim_end_matches('.').to_owned()),
            None => Ok(Rule { note: None, ..rule }),
        }
    }
}

/// A rule for a command: its program, then its arguments.
fn of_program(like: &Rule, program: &str, args: &[String]) -> Result<Rule, String> {
    if program.is_empty() || program.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '=')) {
        return Err(format!("not a program name: {}; use the full name", quoted(program)));
    }
    // A line in words of the user's own asks for none of the credentials that were offered with another rule.
    let own = Rule { note: like.note.clone(), ..Rule::allow(&like.tool) };
    Ok(Rule { program: Some(program.to_owned()), args: Some(args.to_vec()), ..own })
}

/// A rule for a tool and a path, or a host.
fn of_place(like: &Rule, rest: &[String]) -> Result<Rule, String> {
    let one = |what: &str| match rest {
        [one] => Ok(one.clone()),
        _ => Err(format!("{} takes one {what}, quoted if it contains spaces", like.tool)),
    };
    if like.path.is_some() {
        let path = one("path")?;
        return Ok(Rule { path: Some(path), ..like.clone() });
    }
    if like.host.is_some() {
        let host = one("host")?;
        if host.is_empty() || host.contains(['/', '*', '@']) {
            return Err(format!("not a host name: {}", quoted(&host)));
        }
        return Ok(Rule { host: Some(host), ..like.clone() });
    }
    if rest.is_empty() { Ok(like.clone()) } else { Err(format!("unexpected text after {}", like.tool)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bash(program: &str, args: &[&str]) -> Rule {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Rule { program: Some(program.to_owned()), args: Some(args), ..Rule::allow("bash") }
    }

    fn edit(path: &str) -> Rule {
        Rule { path: Some(path.to_owned()), ..Rule::allow("edit") }
    }

    #[test]
    fn lines_narrow_and_widen_within_the_grammar() {
        let offered = [bash("git", &["commit", "-m", "*"]), edit("./**")];
        for (line, rule) in [
            ("git commit -m *", bash("git", &["commit", "-m", "*"])),
            ("git commit -m 'one text'", bash("git", &["commit", "-m", "one text"])),
            ("git add ./**", bash("git", &["add", "./**"])),
            ("git   status", bash("git", &["status"])),
            (r#"grep "a \" b" ./**"#, bash("grep", &["a \" b", "./**"])),
            (r"echo a\ b ''", bash("echo", &["a b", ""])),
            ("edit ./src/**", edit("./src/**")),
            ("edit './a b.txt'", edit("./a b.txt")),
        ] {
            assert_eq!(Rule::parse_words(line, &offered), Ok(rule), "{line}");
        }
    }

    #[test]
    fn what_no_rule_can_say_is_told() {
        let offered = [bash("git", &["commit", "-m", "*"]), edit("./**")];
        for (line, says) in [
            ("", "empty"),
            ("git * commit", "must be last"),
            ("git add src/*", "nvalid"),
            ("git commit --author=*", "nvalid"),
            ("g* commit", "not a program name"),
            ("A=1 make", "not a program name"),
            ("git commit 'open", "unclosed quote"),
            ("git \\", "trailing"),
            ("edit", "one path"),
            ("edit ./a ./b", "one path"),
            ("edit ./../x/**", "nvalid"),
            ("edit src/**", "nvalid"),
            ("edit ./*.rs", "nvalid"),
        ] {
            let error = Rule::parse_words(line, &offered).unwrap_err();
            assert!(error.contains(says), "{line}: {error}");
        }
        let error = Rule::parse_words("rm ./**", &[edit("./**")]).unwrap_err();
        assert!(error.contains("edit"), "{error}");
        let host = Rule { host: Some("example.org".into()), ..Rule::allow("fetch") };
        assert!(Rule::parse_words("fetch *.org", std::slice::from_ref(&host)).is_err());
        assert_eq!(
            Rule::parse_words("fetch a.org", std::slice::from_ref(&host)).unwrap().host.as_deref(),
            Some("a.org")
        );
    }

    #[test]
    fn an_unchanged_line_is_the_rule_itself() {
        let noted = Rule { note: Some("why".into()), ..bash("ls", &["a*b"]) };
        assert_eq!(Rule::parse_words("ls a*b", std::slice::from_ref(&noted)), Ok(noted.clone()));
        assert_eq!(Rule::parse_words("ls -l", &[noted]).unwrap().note, None);
    }

    proptest! {
        #[test]
        fn words_are_read_back(program in "[a-z./_-]{1,8}", args in prop::collection::vec(any::<String>(), 0..5)) {
            let rule = Rule { program: Some(program), args: Some(args), ..Rule::allow("bash") };
            let line = rule.in_words();
            prop_assert_eq!(Rule::parse_words(&line, std::slice::from_ref(&rule)), Ok(rule.clone()));
            // Also where it is not known beforehand, if it says what a rule can say.
            if rule.args.iter().flatten().all(|arg| !arg.contains('*')) {
                prop_assert_eq!(Rule::parse_words(&line, &[bash("other", &[])]), Ok(rule));
            }
        }

        #[test]
        fn no_line_makes_the_reading_fail(line in any::<String>()) {
            let _ = Rule::parse_words(&line, &[bash("git", &["commit"]), edit("./**")]);
        }
    }
}
