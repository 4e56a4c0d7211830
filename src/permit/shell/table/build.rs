//! Build tools, package managers and languages: what they tell without building. They run code that the working
//! directory configures (a compiler wrapper, a plugin), so they are here only for where the profile holds them.

use super::row::{Operands, ProgramRow, Style, row};

pub(super) const ROWS: &[ProgramRow] = &[
    row("cargo", &["-V -v -q --version --list --offline --locked --frozen --color: --verbose --quiet --help -h"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("cargo tree", &["-v -q -e: -p: -i: -d -f: -F: -h --workspace --package: --exclude: --edges: --invert? --prune: --depth: --no-dedupe --duplicates --charset: --prefix: --format: --features: --all-features --no-default-features --target: --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).alone(),
    row("cargo metadata", &["-q -v -F: -h --no-deps --format-version: --filter-platform: --features: --all-features --no-default-features --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).alone(),
    row("cargo pkgid", &["-q -v -p: -h --package: --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).text(""),
    row("cargo locate-project", &["-q -v -h --workspace --message-format: --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).alone(),
    row("cargo read-manifest", &["-q -v -h --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).alone(),
    row("cargo verify-project", &["-q -v -h --manifest-path@ --offline --locked --frozen --color: --quiet --verbose --help"]).alone(),
    row("cargo version", &["-v -h --verbose --help"]).alone(),
    row("rustc", &["-V -vV --version -v --verbose --print: --explain: -h --help"])
        .style(Style::Exact)
        .alone()
        .sample("--version")
        // `--print=KIND=FILE` writes the file.
        .check(|call| if call.values(&["--print"]).any(|value| value.contains('=')) { call.refuse("writes to a file") } else { Ok(()) }),
    row("rustup", &["-V --version -h --help"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("rustup toolchain list", &["-v -q --verbose --quiet -h --help"]).alone(),
    row("rustup component list", &["--toolchain: --installed -q --quiet -h --help"]).alone(),
    row("rustup target list", &["--toolchain: --installed -q --quiet -h --help"]).alone(),
    row("rustup show active-toolchain", &["-v --verbose -h --help"]).alone(),
    row("rustup which", &["--toolchain: -h --help"]).text("rustc"),
    row("rustfmt", &["-V --version -h --help"]).style(Style::Exact).alone(),
    row("go", &[]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("go version", &["-m -v"]).style(Style::Exact).sample(""),
    row("go env", &["-json -changed"]).style(Style::Exact).text(""),
    row("go list", &["-m -json -deps -f: -e -versions -test -find"]).style(Style::Exact).text(""),
    row("go doc", &["-all -c -cmd -short -src -u"]).style(Style::Exact).text("fmt"),
    row("go help", &[]).text(""),
    row("go mod graph", &[]).style(Style::Exact).alone(),
    row("go mod why", &["-m -vendor"]).style(Style::Exact).text("fmt"),
    row("npm", &["-v --version -h --help"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("npm ls", NPM).text(""),
    row("npm list", NPM).text(""),
    row("npm ll", NPM).text(""),
    row("npm explain", &["--json -h --help"]).text("x"),
    row("npm why", &["--json -h --help"]).text("x"),
    row("npm root", &["-g --global"]).alone(),
    row("npm prefix", &["-g --global"]).alone(),
    row("npm config get", &["--json"]).text("prefix"),
    row("npm pkg get", &["--json"]).text("name"),
    row("pnpm", &["-v --version -h --help"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("pnpm ls", PNPM).text(""),
    row("pnpm list", PNPM).text(""),
    row("pnpm why", PNPM).text("x"),
    row("yarn", &["-v --version -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("node", &["-v --version -h --help --v8-options"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("deno", &["-V --version -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("bun", &["-v --version --revision -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("tsc", &["-v --version -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("python", &["-V -VV --version -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("python3", &["-V -VV --version -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("pip", PIP_LEAD).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("pip list", PIP).alone(),
    row("pip show", PIP_SHOW).text("pip"),
    row("pip freeze", PIP).alone(),
    row("pip check", PIP_SHOW).alone(),
    row("pip3", PIP_LEAD).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("pip3 list", PIP).alone(),
    row("pip3 show", PIP_SHOW).text("pip"),
    row("pip3 freeze", PIP).alone(),
    row("pip3 check", PIP_SHOW).alone(),
    row("ruby", &["-v --version --copyright -h --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("gem", &["-v --version -h --help"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("gem list", &["-l -d -a --local --details --no-versions --installed --exact"]).text(""),
    row("perl", &["-v -V --version --help -h"]).style(Style::Exact).alone().sample("-v").check(needs_option),
    row("php", &["-v -m -i --version --modules -h --help"]).style(Style::Exact).alone().sample("-v").check(needs_option),
    row("java", &["-version --version -showversion -h -help --help"]).style(Style::Exact).alone().sample("-version").check(needs_option),
    row("javac", &["-version --version -help --help"]).style(Style::Exact).alone().sample("-version").check(needs_option),
    row("gcc", &["--version -v -dumpversion -dumpmachine --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("g++", &["--version -v -dumpversion -dumpmachine --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("cc", &["--version -v -dumpversion -dumpmachine --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("clang", &["--version -v -dumpversion -dumpmachine --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("cmake", &["--version -version --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    row("ninja", &["--version --help"]).style(Style::Exact).alone().sample("--version").check(needs_option),
    // `-n` still runs `$(shell …)` and rebuilds included files, which the profile holds.
    row("make", &["-n -s -B -k -w -r -R -i -j: -C@ -f@ -v -h --dry-run --just-print --recon --silent --quiet --always-make --keep-going --directory@ --file@ --makefile@ --no-print-directory --no-builtin-rules --no-builtin-variables --version --help"])
        .text("-n")
        .check(|call| {
            let dry = call.has(&["-n", "--dry-run", "--just-print", "--recon", "-v", "--version", "-h", "--help"]);
            let sets = call.operands.iter().any(|word| word.text.contains('='));
            // What it is to make would stand in the command itself.
            let given = call.files.iter().any(|file| file == "-" || file.starts_with("/dev/") || file.starts_with("/proc/"));
            if dry && !sets && !given { Ok(()) } else { call.refuse("is only read-only with -n and without variables") }
        }),
    row("docker", &["-v --version"]).style(Style::Exact).alone().sample("--version").check(needs_option),
];

const NPM: &[&str] = &[
    "-a -l -g -p -h --all --json --long --parseable --global --depth: --omit: --include: --link --package-lock-only --unicode --no-unicode --workspaces --help --prod --production --dev",
];
const PNPM: &[&str] = &[
    "-r -g -P -D -h --json --long --parseable --global --depth: --prod --dev --no-optional --only-projects --recursive --help",
];
const PIP_LEAD: &[&str] = &["-V --version -h --help"];
/// Abbreviations are refused: `--local` would be short for `--local-log`, which writes a file.
const PIP_SHOW: &[&str] = &["-f -v -q -h --verbose --quiet --files --disable-pip-version-check --no-input --help"];
const PIP: &[&str] = &[
    "-f -v -q -h -l --verbose --quiet --local --user --format: --files --not-required --exclude: --exclude-editable --all --disable-pip-version-check --no-input --help",
];

fn needs_option(call: &super::row::ProgramCall) -> Result<(), String> {
    match (call.options.is_empty(), call.operands.is_empty()) {
        (false, _) => Ok(()),
        (true, true) => call.refuse("reads commands from stdin"),
        (true, false) => call.refuse("runs a script"),
    }
}
