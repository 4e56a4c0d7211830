//! Programs that search in files and for files. `find` is a language of its own, elsewhere.

use super::row::{Operands, ProgramCall, ProgramRow, row};
use crate::permit::shell::scripts;

const GREP: &[&str] = &[
    "-a -b -c -E -F -G -h -H -i -l -L -n -o -P -q -r -R -s -T -U -v -w -x -y -z -Z -I -# -A: -B: -C: -D: -d: -e: -f@ -m: --after-context: --before-context: --context: --basic-regexp --extended-regexp --fixed-strings --perl-regexp --binary --binary-files: --byte-offset --color? --colour? --count --dereference-recursive --devices: --directories: --exclude: --exclude-dir: --exclude-from@ --file@ --files-with-matches --files-without-match --ignore-case --no-ignore-case --include: --initial-tab --invert-match --label: --line-buffered --line-number --line-regexp --max-count: --no-filename --no-messages --null --null-data --only-matching --quiet --silent --recursive --regexp: --text --with-filename --word-regexp --help --version -V",
];

pub(super) const ROWS: &[ProgramRow] = &[
    row("grep", GREP).operands(Operands::PatternThenPaths).any().sample("a a.txt"),
    row("egrep", GREP).operands(Operands::PatternThenPaths).any().sample("a a.txt"),
    row("fgrep", GREP).operands(Operands::PatternThenPaths).any().sample("a a.txt"),
    // `--pre`, `--hostname-bin` and `-z` run programs.
    row("rg", &["-a -b -c -F -h -H -i -I -l -L -n -N -o -p -P -q -s -S -u -U -v -V -w -x -0 -. -A: -B: -C: -E: -M: -d: -e: -f@ -g: -j: -m: -r: -t: -T: --after-context: --before-context: --context: --binary --no-binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --no-column --count --count-matches --crlf --debug --trace --dfa-size-limit: --encoding: --engine: --field-context-separator: --field-match-separator: --file@ --files --files-with-matches --files-without-match --fixed-strings --follow --no-follow --glob: --iglob: --glob-case-insensitive --heading --no-heading --help --hidden --no-hidden --ignore-case --ignore-file@ --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-config --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator: --pcre2 --pcre2-version --pretty --quiet --regex-size-limit: --regexp: --replace: --smart-case --sort: --sortr: --stats --stop-on-nonmatch --text --threads: --trim --no-trim --type: --type-not: --type-add: --type-clear: --type-list --unrestricted --version --vimgrep --with-filename --no-filename --word-regexp --context-separator: --no-context-separator --generate:"])
        .operands(Operands::PatternThenPaths)
        .sample("a a.txt"),
    // `-x` and `-X` run programs; `-l` runs `ls`.
    row("fd", FD).operands(Operands::PatternThenPaths).sample("a"),
    row("fdfind", FD).operands(Operands::PatternThenPaths).sample("a"),
    row("awk", AWK).operands(Operands::ScriptThenPaths).check(awk).style(super::row::Style::Posix).sample("1 a.txt"),
    row("gawk", AWK).operands(Operands::ScriptThenPaths).check(awk).style(super::row::Style::Posix).sample("1 a.txt"),
    row("mawk", AWK).operands(Operands::ScriptThenPaths).check(awk).style(super::row::Style::Posix).sample("1 a.txt"),
    row("nawk", AWK).operands(Operands::ScriptThenPaths).check(awk).style(super::row::Style::Posix).sample("1 a.txt"),
    row("which", &["-a --all"]).text("ls"),
    row("whereis", &["-b -m -s -u -l"]).text("ls"),
    row("locate", &["-b -c -e -i -l: -n: -q -r: -w --basename --count --existing --ignore-case --limit: --quiet --regex --wholename --help --version"]).text("x"),
];

const FD: &[&str] = &[
    "-H -I -u -s -i -g -F -a -L -p -0 -1 -q -h -V -d: -t: -e: -E: -S: -c: -j: -o: --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --relative-path --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --exclude: --prune --type: --extension: --size: --changed-within: --changed-before: --newer: --older: --owner: --format: --max-results: --quiet --show-errors --base-directory@ --path-separator: --search-path@ --one-file-system --color: --threads: --strip-cwd-prefix? --hyperlink? --help --version --and:",
];

const AWK: &[&str] = &["-F: -v: --field-separator: --assign: -V --version"];

/// The program is the first operand; what follows it is no option any more.
fn awk(call: &ProgramCall) -> Result<(), String> {
    if call.values(&["-v", "--assign"]).any(|value| value.contains('\\')) {
        return call.refuse("gets a value that is not supported");
    }
    // To gawk such a file is a connection.
    if call.operands.iter().any(|word| word.text.starts_with("/inet")) {
        return call.refuse("may open a connection");
    }
    super::text::script(call, &[], scripts::awk)
}
