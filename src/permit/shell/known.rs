//! The lines that rules can speak of: simple commands all of whose words are known before they run, as two readings of
//! the line agree.
//!
//! Nothing in such a line runs but what is handed back: no loops, no substitutions, no variables, no background.

use super::syntax::{self, Redirect, SimpleCommand, SyntaxNode};
use super::{tree, wrap};

/// A line whose commands are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefiniteCommands {
    /// Simple commands, in order.
    pub commands: Vec<DefiniteCommand>,
}

/// A simple command of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefiniteCommand {
    /// As it stands in the line.
    pub text: String,
    /// Words after quote removal; `None` if the shell or a variable influences them.
    pub argv: Option<Vec<String>>,
    /// Files that it writes by redirection, `/dev/null` excepted; `None` where one is only known when it runs.
    pub writes: Option<Vec<String>>,
}

impl DefiniteCommands {
    /// Only `test` and `[` have this word, which tell whether a file is there and never what is in it.
    pub(in crate::permit) fn only_tests(&self, word: &str) -> bool {
        let names = |command: &&DefiniteCommand| {
            let written = command.writes.as_ref().is_none_or(|writes| writes.iter().any(|path| path == word));
            written || command.text.contains(word)
        };
        let tests = |command: &DefiniteCommand| match command.argv.as_deref() {
            Some([program, ..]) => {
                (program == "test" || program == "[")
                    && command.writes.as_ref().is_some_and(Vec::is_empty)
                    && !command.text.contains('<')
            }
            _ => false,
        };
        let mut naming = self.commands.iter().filter(names).peekable();
        naming.peek().is_some() && naming.all(tests)
    }
}

/// Reads a line; `None` where more than simple commands could run, or where what runs is not certain.
#[must_use]
pub fn known(line: &str) -> Option<DefiniteCommands> {
    if line.chars().nth(super::LONGEST).is_some() {
        return None;
    }
    let nodes = syntax::parse(line).ok()?;
    tree::confirm(line, &nodes).ok()?;
    let mut commands = Vec::new();
    for node in &nodes {
        let SyntaxNode::Simple(simple) = node else { return None };
        commands.push(command(line, simple)?);
    }
    Some(DefiniteCommands { commands })
}

fn command(line: &str, simple: &SimpleCommand) -> Option<DefiniteCommand> {
    let text = line.get(simple.at.clone())?.trim().to_owned();
    let plain = simple.assignments.iter().all(|(name, value)| {
        !simple.words.is_empty() && value.known().is_some_and(|value| wrap::harmless(name, value))
    });
    let words: Option<Vec<String>> = simple.words.iter().map(|word| word.known().map(str::to_owned)).collect();
    let inputs = simple.redirects.iter().all(|redirect| match redirect {
        Redirect::Inner | Redirect::Text(None) | Redirect::Write(_) => true,
        Redirect::Text(Some(word)) | Redirect::Read(word) => word.known().is_some(),
    });
    let written = simple.redirects.iter().filter_map(|redirect| match redirect {
        Redirect::Write(word) if word.known() == Some("/dev/null") => None,
        Redirect::Write(word) => Some(word.known().map(str::to_owned)),
        _ => None,
    });
    // A program whose name is quoted or made of pieces is not the one that it reads like.
    let named = simple.words.first().is_some_and(|program| program.bare);
    Some(DefiniteCommand { text, argv: words.filter(|_| plain && inputs && named), writes: written.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argvs(line: &str) -> Option<Vec<Option<String>>> {
        known(line).map(|line| line.commands.into_iter().map(|one| one.argv.map(|argv| argv.join(" "))).collect())
    }

    #[test]
    fn lines_are_known_or_not() {
        for (line, commands) in [
            ("cargo test", vec![Some("cargo test")]),
            ("cargo test 2>&1 | tail -3", vec![Some("cargo test"), Some("tail -3")]),
            ("a && 'b' || c; d", vec![Some("a"), None, Some("c"), Some("d")]),
            ("(cd x && make)", vec![Some("cd x"), Some("make")]),
            ("LANG=C make", vec![Some("make")]),
            ("PATH=/tmp make", vec![None]),
            ("rm *.o; make", vec![None, Some("make")]),
            ("make > $X", vec![Some("make")]),
            ("make < $X", vec![None]),
        ] {
            let expected = commands.into_iter().map(|one| one.map(str::to_owned)).collect();
            assert_eq!(argvs(line), Some(expected), "{line}");
        }
        for line in [
            "make &",
            "make $(x)",
            "make `x`",
            "for f in a b; do make; done",
            "make() { rm x; }; make",
            "[[ -e x ]] && make",
            "make <(x)",
            "{ make; } > x",
            "",
        ] {
            assert!(!argvs(line).is_some_and(|all| all.into_iter().all(|one| one.is_some())), "{line}");
        }
        assert_eq!(known("make > out 2>/dev/null").unwrap().commands[0].writes, Some(vec!["out".to_owned()]));
        assert_eq!(known("make > $X").map(|line| line.commands[0].writes.clone()), Some(None));
    }
}
