//! `find`: starting points, then an expression. What `-exec` runs is handed back to be judged.

use super::word::{Opens, ShellWord};

/// Tests and actions without an argument.
const ALONE: &str = "-print -print0 -ls -depth -d -daystart -mount -xdev -empty -executable -readable -writable -follow \
    -noleaf -nouser -nogroup -prune -quit -true -false -a -and -o -or -not ! ( ) , -warn -nowarn -ignore_readdir_race \
    -noignore_readdir_race -help --help -version --version";
/// Tests with one argument that is no file.
const VALUED: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -maxdepth \
    -mindepth -type -xtype -size -perm -user -group -uid -gid -links -inum -mtime -atime -ctime -mmin -amin -cmin -fstype \
    -used -printf -newermt -newerat -newerct -context";
/// Tests with one argument that is a file.
const FILES: &str = "-newer -anewer -cnewer -samefile -newermm -neweram -newercm -newerma -neweraa -newerca";

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Effects of a `find`.
pub(super) struct FindEffects {
    /// The words that may be paths.
    pub(super) paths: Vec<String>,
    /// The commands that it runs, with what stands for the files marked as found.
    pub(super) runs: Vec<Vec<ShellWord>>,
}

/// Checks the arguments.
///
/// # Errors
/// The argument that is not known to only read.
pub(super) fn read_only(arguments: &[ShellWord]) -> Result<FindEffects, String> {
    let mut out = FindEffects { paths: Vec::new(), runs: Vec::new() };
    let mut rest = arguments.iter().peekable();
    while rest.next_if(|word| word.known().is_some_and(|text| ["-H", "-L", "-P"].contains(&text))).is_some() {}
    while let Some(word) = rest
        .next_if(|word| word.is_no_option() && !word.known().is_some_and(|text| ["!", "(", ")", ","].contains(&text)))
    {
        // What is found begins like this, and is handed to programs that may take an `@` for something else.
        if word.text == "-" || word.text.starts_with(|c: char| !(c.is_alphanumeric() || "./~_".contains(c))) {
            return Err(format!("`find {}` is not known to be read-only", word.text));
        }
        out.paths.push(word.text.clone());
    }
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else {
            return Err(format!(
                "`{}` in the expression of `find` is only known at run time: put it in quotes",
                word.text
            ));
        };
        if has(ALONE, text) {
            continue;
        }
        if has(VALUED, text) || has(FILES, text) {
            let value = rest
                .next()
                .and_then(ShellWord::known)
                .ok_or_else(|| format!("what follows `find {text}` is only known at run time: put it in quotes"))?;
            if has(FILES, text) {
                out.paths.push(value.to_owned());
            }
            continue;
        }
        if text != "-exec" {
            return Err(format!("`find {text}` is not known to be read-only"));
        }
        let mut command: Vec<ShellWord> = Vec::new();
        loop {
            let Some(word) = rest.next() else { return Err("unclosed `find -exec`".to_owned()) };
            let end = word.known() == Some(";")
                || word.known() == Some("+") && command.last().is_some_and(|last| last.opens == Opens::Found);
            if end {
                break;
            }
            let mut word = word.clone();
            if word.text == "{}" && word.opens == Opens::Literal {
                word.opens = Opens::Found;
            } else if word.text.contains("{}") {
                word.opens = Opens::Unknown("`{}` inside a word is only known at run time".to_owned());
            }
            command.push(word);
        }
        out.runs.push(command);
    }
    Ok(out)
}

/// Every form of an expression.
#[must_use]
pub(super) fn forms() -> Vec<String> {
    let mut out = vec!["find".to_owned(), "find . -exec wc -l {} +".to_owned(), "find . -exec file {} ';'".to_owned()];
    let operators = ["(", ")", ",", "!", "-a", "-and", "-o", "-or", "-not"];
    out.extend(ALONE.split_whitespace().filter(|word| !operators.contains(word)).map(|word| format!("find . {word}")));
    out.extend(["find . ! -name a", "find . \\( -name a -o -name b \\)", "find . -true , -print"].map(str::to_owned));
    for word in VALUED.split_whitespace() {
        out.extend(["1", "a", "f", "'%p\\n'"].map(|value| format!("find . {word} {value}")));
    }
    out.extend(FILES.split_whitespace().map(|word| format!("find . {word} a.txt")));
    out
}
