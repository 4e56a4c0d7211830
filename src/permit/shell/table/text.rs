//! Programs that print, cut, sort and compare text.

use super::row::{Operands, ProgramRow, row};
use crate::permit::shell::scripts;

const SUMS: &[&str] = &[
    "-b -c -t -z --binary --check --text --zero --tag --quiet --status --strict --ignore-missing -w --warn --help --version",
];

pub(super) const ROWS: &[ProgramRow] = &[
    row("cat", &["-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting --help --version"]).any(),
    row("head", &["-q -v -z -n: -c: -# --quiet --silent --verbose --zero-terminated --lines: --bytes: --help --version"]).any(),
    // `-f`, `-F`, `--retry` and `--pid` would wait for ever.
    row("tail", &["-q -v -z -n: -c: -# --quiet --silent --verbose --zero-terminated --lines: --bytes: --help --version"])
        .check(|call| if call.operands.iter().any(|word| word.text.starts_with('+')) { call.refuse("with `+` is not \
         known to be read-only") } else { Ok(()) }),
    row("wc", &["-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total: --help --version"]).any(),
    row("nl", &["-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --no-renumber --body-numbering: --number-format: --number-separator: --number-width: --starting-line-number: --help --version"]).any(),
    row("tac", &["-b -r -s: --before --regex --separator: --help --version"]).any(),
    row("rev", &["-0 --zero --help --version"]).any(),
    row("cut", &["-n -s -z -b: -c: -d: -f: --complement --only-delimited --zero-terminated --bytes: --characters: --delimiter: --fields: --output-delimiter: --help --version"]).any(),
    row("paste", &["-d: -s -z --delimiters: --serial --zero-terminated --help --version"]).any(),
    row("join", &["-a: -e: -i -j: -o: -t: -v: -1: -2: --ignore-case --check-order --nocheck-order --header -z --zero-terminated --help --version"]).any().sample("a.txt b.txt"),
    row("comm", &["-1 -2 -3 --check-order --nocheck-order --output-delimiter: --total -z --zero-terminated --help --version"]).any().sample("a.txt b.txt"),
    row("fold", &["-b -s -w: --bytes --spaces --width: --help --version"]).any(),
    row("fmt", &["-c -s -t -u -w: -p: -g: -# --crown-margin --split-only --tagged-paragraph --uniform-spacing --width: --goal: --prefix: --help --version"]).any(),
    row("expand", &["-i -t: --initial --tabs: --help --version"]).any(),
    row("unexpand", &["-a -t: --all --first-only --tabs: --help --version"]).any(),
    row("column", &["-t -x -s: -o: -c: -N: -R: -T: -H: -O: -W: -E: -d -e -J -n: -L --table --separator: --output-separator: --output-width: --table-columns: --table-right: --table-noheadings --fillrows --json --table-name: --help --version"]),
    row("tr", &["-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 --help --version"]).text("a b").any(),
    // `-o`, `-T` and `--compress-program` write and run.
    row("sort", &["-b -d -f -g -h -i -M -n -r -R -V -c -C -m -s -u -z -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --fold-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --random-sort --reverse --version-sort --sort: --check? --debug --key: --merge --stable --field-separator: --unique --zero-terminated --parallel: --buffer-size: --help --version"]),
    row("uniq", &["-c -d -D -i -u -z -f: -s: -w: --count --repeated --all-repeated? --group? --ignore-case --skip-fields: --skip-chars: --check-chars: --unique --zero-terminated --help --version"]).operands(Operands::AtMost(1)),
    row("shuf", &["-e -n: -r -i: -z --echo --head-count: --repeat --input-range: --zero-terminated --help --version"]),
    // `-l` runs `pr`.
    row("diff", &["-a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z -C: -U: -W: -x: -I: -F: -L: -X@ -S: --brief --recursive --unified? --context? --side-by-side --ed --rcs --normal --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --strip-trailing-cr --color? --palette: --no-dereference --suppress-common-lines --left-column --suppress-blank-empty --width: --label: --exclude: --exclude-from@ --to-file@ --from-file@ --minimal --text --new-file --unidirectional-new-file --report-identical-files --speed-large-files --horizon-lines: --show-c-function --show-function-line: --expand-tabs --initial-tab --tabsize: --starting-file: --ignore-file-name-case --no-ignore-file-name-case --help --version -v"]).sample("a.txt b.txt"),
    row("diff3", &["-e -E -3 -x -X -A -m -a -i -T -L: --ed --show-overlap --easy-only --merge --text --strip-trailing-cr --initial-tab --label: --help --version"]).sample("a.txt b.txt a.txt"),
    row("cmp", &["-b -l -s -n: -i: --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent --help --version"]).any().sample("a.txt b.txt"),
    row("md5sum", SUMS).any(),
    row("sha1sum", SUMS).any(),
    row("sha224sum", SUMS).any(),
    row("sha256sum", SUMS).any(),
    row("sha384sum", SUMS).any(),
    row("sha512sum", SUMS).any(),
    row("b2sum", &["-l: --length:", "-b -c -t -z --binary --check --text --zero --tag --quiet --status --strict --ignore-missing -w --warn --help --version"]).any(),
    row("shasum", &["-a: -b -c -t --algorithm: --binary --check --text --tag --status -s -q --quiet --strict -w --warn --ignore-missing -h --help -v --version"]),
    row("cksum", &["-a: -l: --algorithm: --length: --raw --tag --untagged --base64 --check -c --help --version --debug -z --zero"]).any(),
    row("sum", &["-r -s --sysv --help --version"]).any(),
    row("base64", &["-d -i -w: --decode --ignore-garbage --wrap: --help --version"]).any(),
    row("base32", &["-d -i -w: --decode --ignore-garbage --wrap: --help --version"]).any(),
    // `-r` writes; a second operand is written; an option behind an operand is one.
    row("xxd", &["-a -b -C -e -E -i -p -ps -plain -postscript -u -c: -g: -l: -o: -s: -v -h -version -n:"]).operands(Operands::AtMost(1)).style(super::row::Style::Leading),
    row("hexdump", &["-b -c -C -d -o -x -v -X -n: -s: -e: --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal --two-bytes-hex --length: --skip: --no-squeezing --color? -L? --help --version -h -V"]),
    row("hd", &["-v -n: -s: -h -V"]),
    row("od", &["-a -b -c -d -f -i -l -o -s -x -v -A: -j: -N: -S: -t: -w? --address-radix: --endian: --skip-bytes: --read-bytes: --strings? --format: --output-duplicates --width? --traditional --help --version"]).any(),
    row("strings", &["-a -f -o -w -n: -t: -e: -s: -U: -T: -# --all --print-file-name --bytes: --radix: --encoding: --include-all-whitespace --output-separator: --help --version -h -v"]),
    // A name with a slash is a file that says what the letters are.
    row("iconv", &["-f: -t: -c -s -l --from-code: --to-code: --list --silent --help --version"]).check(|call| {
        let named = |value: &str| {
            let name = value.trim_end_matches("//TRANSLIT").trim_end_matches("//IGNORE");
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:+()".contains(&b))
        };
        let known = call.values(&["-f", "-t", "--from-code", "--to-code"]).all(named);
        if known { Ok(()) } else { call.refuse("is given a file") }
    }),
    row("sed", &["-n -E -r -s -u -z -e: --quiet --silent --regexp-extended --separate --unbuffered --null-data --zero-terminated --expression: --posix --sandbox --help --version"])
        .operands(Operands::ScriptThenPaths)
        .check(|call| script(call, &["-e", "--expression"], scripts::sed))
        .sample("p a.txt"),
    row("jq", &["-r -c -n -s -S -e -M -C -a -j -R --raw-output --compact-output --null-input --slurp --sort-keys --exit-status --monochrome-output --color-output --ascii-output --join-output --raw-input --raw-output0 --tab --indent: --seq --stream --stream-errors --unbuffered --arg% --argjson% -h --help -V --version"])
        .operands(Operands::ScriptThenPaths)
        .check(|call| script(call, &[], scripts::jq))
        .sample(". x.json"),
    // Two programs have this name: only what means the same to both.
    row("yq", &["-r -C -M -e -P -N -j -c -h --help -V --version --raw-output --prettyPrint --no-doc --tojson --colors --no-colors"])
        .operands(Operands::ScriptThenPaths)
        .check(|call| script(call, &[], scripts::yq))
        .sample(". x.json"),
    row("seq", &["-f: -s: -w --format: --separator: --equal-width --help --version"]).text("3"),
    row("expr", &[]).text("1 + 2"),
    row("factor", &["-h --exponents --help --version"]).text("12").any(),
    row("numfmt", &["-d: -z --delimiter: --field: --format: --from: --from-unit: --grouping --header? --invalid: --padding: --round: --suffix: --to: --to-unit: --debug --help --version"]).text("10"),
];

/// Reads the texts that are programs of their own: the values of these options, or else the first operand.
pub(super) fn script(
    call: &super::row::ProgramCall,
    options: &[&str],
    read: fn(&str) -> Result<(), String>,
) -> Result<(), String> {
    let mut given = false;
    for text in call.values(options) {
        given = true;
        read(text)?;
    }
    match call.operands.first() {
        Some(word) if !given => match word.known() {
            Some(text) => read(text),
            None => call.refuse("gets its program at run time"),
        },
        _ => Ok(()),
    }
}
