//! Everything in a line that might run as a simple command, for rules that make things stricter. Read as broadly as the
//! loose reading can: it may name commands that never run, and is never for proving that something is harmless.

use super::{catastrophic, loose};

/// Depth to which texts for shells are followed.
const DEEPEST: usize = 4;

/// The words of whatever might run, each beginning with a program.
#[must_use]
pub fn pieces(command: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    read(command, DEEPEST, &mut out);
    out
}

fn read(text: &str, depth: usize, out: &mut Vec<Vec<String>>) {
    let mut inner: Vec<String> = Vec::new();
    let mut runs_text = false;
    for simple in loose::split(text).commands {
        let starts = catastrophic::starts(&simple);
        runs_text |= starts.runs_text;
        out.extend(starts.programs.iter().filter_map(|at| simple.words.get(*at..)).map(<[String]>::to_vec));
        inner.extend(simple.words.into_iter().filter(|word| word.contains(char::is_whitespace)));
        // A target of a redirection is a word like any other to a rule about paths.
        out.extend(simple.redirects.into_iter().map(|(_, target)| vec![String::new(), target]));
    }
    if runs_text && depth > 0 {
        for text in inner {
            read(&text, depth - 1, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_among_the_pieces() {
        for (line, program) in [
            ("git push", "git push"),
            ("cd x && git push", "git push"),
            ("timeout 5 git push", "git push"),
            ("env A=b git push", "git push"),
            ("bash -c 'git push'", "git push"),
            ("sh -c \"sh -c 'git push'\"", "git push"),
            ("echo $(git push)", "git push"),
            ("find . -exec git push {} +", "git push {} +"),
            ("echo x > y", " y"),
        ] {
            let pieces: Vec<String> = pieces(line).iter().map(|words| words.join(" ")).collect();
            assert!(pieces.iter().any(|piece| piece == program), "{line}: {pieces:?}");
        }
    }
}
