//! git's subcommands that only read, given that nothing in a configuration runs code: the environment of a command that
//! only reads sees to that as far as git lets it, and the read-only profile to the rest.

use super::row::{Operands, ProgramCall, ProgramRow, Style, row};

const DIFF: &str = "-p -u -s -U: -z -a -b -w -W -R -q -t -B? -M? -C? -D -l: -S: -G: -X? -I: -m -c --cc -0 --patch --no-patch --unified: --raw --patch-with-raw \
    --patch-with-stat --indent-heuristic --no-indent-heuristic --minimal --patience --histogram --anchored: --diff-algorithm: --stat? --stat-width: \
    --stat-name-width: --stat-count: --compact-summary --numstat --shortstat --dirstat? --cumulative --dirstat-by-file? --summary --name-only \
    --name-status --color? --no-color --color-moved? --no-color-moved --color-moved-ws: --word-diff? --word-diff-regex: --color-words? \
    --no-renames --rename-empty --no-rename-empty --check --ws-error-highlight: --full-index --binary --abbrev? --no-abbrev --break-rewrites? \
    --find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter: --find-object: --pickaxe-all --pickaxe-regex --skip-to: \
    --rotate-to: --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space \
    --ignore-blank-lines --ignore-matching-lines: --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv \
    --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --ita-invisible-in-index --no-diff-merges \
    --combined-all-paths --dd";
/// Options of log, show, whatchanged, rev-list, shortlog, stash list and reflog: an option belongs here if it only reads in all
/// of them. `tests/judge.rs` runs every form.
const LOG: &str = "-n: -# -g -i -E -F -P -r -h --follow --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --source --mailmap --use-mailmap \
    --no-mailmap --log-size -L: --max-count: --skip: --since: --after: --until: --before: --since-as-filter: --author: --committer: --grep-reflog: --grep: --all-match \
    --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --no-merges \
    --min-parents: --max-parents: --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches? --tags? \
    --remotes? --glob: --exclude: --exclude-hidden: --reflog --single-worktree --ignore-missing --bisect --cherry-mark \
    --cherry-pick --left-only --right-only --cherry --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history --dense \
    --sparse --simplify-merges --ancestry-path? --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --pretty? --format: \
    --abbrev-commit --no-abbrev-commit --oneline --encoding: --expand-tabs? --no-expand-tabs --notes? --no-notes --no-standard-notes --standard-notes \
    --relative-date --date: --parents --children --left-right --graph --no-graph --show-linear-break? --no-show-signature --clear-decorations \
    --count --no-commit-id --merge-base --full-diff";
const REF: &str = "--sort: --format: --color? --points-at: --merged? --no-merged? --contains? --no-contains? --count: --ignore-case -i";

/// Rows of git. `-h` prints how a subcommand is used; `--help` would open a manual.
pub(super) const ROWS: &[ProgramRow] = &[
    // `-c` and `--exec-path` run what they are told; `--git-dir` and `--work-tree` bring other settings.
    row("git", &["-C@ -P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version"]).style(Style::Subcommands).operands(Operands::None).sample(""),
    row("git status", &["-s -b -v -u? -z -h --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --no-ignored --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?"]).operands(Operands::Paths).sample("."),
    row("git log", &[DIFF, LOG]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git show", &[DIFF, LOG]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git whatchanged", &[DIFF, LOG]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git diff", &[DIFF, "-h -1 -2 -3 --cached --staged --merge-base --base --ours --theirs --no-index"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git diff-tree", &[DIFF, "-r -h --stdin --root -v --pretty? --format: --no-commit-id --always --merge-base"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git diff-index", &[DIFF, "-h --cached --merge-base"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git diff-files", &[DIFF, "-h -1 -2 -3 --base --ours --theirs"]).check(plain_format).operands(Operands::Revisions).sample(""),
    row("git range-diff", &[DIFF, "-h --creation-factor: --no-dual-color --left-only --right-only --notes? --no-notes"]).check(plain_format).operands(Operands::Revisions).sample("HEAD~1..HEAD HEAD~1..HEAD"),
    row("git rev-list", &[LOG, "-h --objects --objects-edge --objects-edge-aggressive --indexed-objects --unpacked --header --timestamp --quiet --no-object-names --object-names --disk-usage? --use-bitmap-index --bisect-all --bisect-vars --filter: --no-filter --missing: --in-commit-order --no-commit-header --commit-header"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git shortlog", &[LOG, "-n -s -e -c -w? -h --numbered --summary --email --group: --committer"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git blame", &["-b -l -t -c -f -n -p -s -e -w -h -M? -C? -L: -S@ --root --show-stats --incremental --line-porcelain --porcelain --date: --no-progress --abbrev? --color-lines --color-by-age --show-name --show-number --show-email --minimal --reverse --first-parent --ignore-rev: --since: --score-debug"]).operands(Operands::Revisions).sample("a.txt"),
    row("git annotate", &["-b -l -t -c -f -n -p -s -e -w -h -M? -C? -L: --root --incremental --line-porcelain --porcelain --date: --abbrev? --show-name --show-number --show-email"]).operands(Operands::Revisions).sample("a.txt"),
    // `-O` opens a pager of its own.
    row("git grep", &["-# -a -c -e: -E -F -f@ -G -h -H -i -I -l -L -n -o -p -P -q -r -v -w -W -z -A: -B: -C: -m: --cached --untracked --no-index --no-exclude-standard --exclude-standard --no-recurse-submodules --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --context: --after-context: --before-context: --function-context --max-count: --threads: --and --or --not --all-match --quiet --max-depth: --recursive --no-recursive --no-textconv"]).operands(Operands::PatternThenPaths).sample("a"),
    row("git ls-files", &["-c -d -m -o -i -s -k -u -z -t -v -f -x: -X@ -h --cached --deleted --modified --others --ignored --stage --directory --no-empty-directory --unmerged --killed --resolve-undo --deduplicate --eol --exclude: --exclude-from@ --exclude-per-directory@ --exclude-standard --error-unmatch --with-tree: --full-name --abbrev? --debug --sparse --format:"]).check(plain_format).sample("a.txt"),
    row("git ls-tree", &["-d -r -t -l -z -h --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:"]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git cat-file", &["-t -s -p -e -h -Z --allow-unknown-type --batch? --batch-check? --batch-all-objects --buffer --unordered --follow-symlinks --use-mailmap --mailmap"]).check(named_objects).operands(Operands::Revisions).sample("HEAD"),
    row("git rev-parse", &["-q -h --verify --quiet --short? --symbolic --symbolic-full-name --abbrev-ref? --all --branches? --tags? --remotes? --glob: --exclude: --disambiguate: --git-dir --absolute-git-dir --git-common-dir --git-path: --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-toplevel --show-cdup --show-prefix --show-superproject-working-tree --show-object-format? --show-ref-format --shared-index-path --default: --revs-only --no-revs --flags --no-flags --not --since: --until: --after: --before: --local-env-vars --path-format: --prefix: --end-of-options"]).operands(Operands::Revisions).sample("HEAD"),
    row("git name-rev", &["-h --tags --refs: --exclude: --all --name-only --no-undefined --always --annotate-stdin"]).operands(Operands::Revisions).sample("HEAD"),
    row("git describe", &["-h --dirty? --broken? --all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent"]).operands(Operands::Revisions).sample("HEAD"),
    row("git merge-base", &["-a -h --all --octopus --independent --is-ancestor --fork-point"]).operands(Operands::Revisions).sample("HEAD HEAD"),
    row("git show-branch", &["-r -a -g? -h --remotes --all --current --topo-order --date-order --sparse --more: --list --merge-base --independent --no-name --sha1-name --topics --reflog? --color? --no-color"]).operands(Operands::Revisions).sample("HEAD"),
    row("git show-ref", &["-h -s? -d -q --head --branches --heads --tags --hash? --abbrev? --dereference --verify --quiet --exists"]).operands(Operands::Revisions).sample(""),
    row("git for-each-ref", &[REF, "-h -s -p --shell --perl --python --tcl --omit-empty --exclude: --include-root-refs"]).check(plain_format).operands(Operands::Revisions).sample(""),
    row("git count-objects", &["-v -H -h --verbose --human-readable"]).alone(),
    row("git cherry", &["-v -h --abbrev?"]).operands(Operands::Revisions).sample("HEAD HEAD"),
    row("git check-ignore", &["-q -v -n -z -h --quiet --verbose --stdin --non-matching --no-index"]).sample("a.txt"),
    row("git check-attr", &["-a -z -h --all --cached --stdin --source:"]).operands(Operands::Text).sample("-a a.txt"),
    row("git check-mailmap", &["-h --stdin"]).text("'A <a@b.c>'"),
    row("git check-ref-format", &["-h --branch --normalize --allow-onelevel --no-allow-onelevel --refspec-pattern --print"]).text("refs/heads/x"),
    row("git var", &["-l -h"]).text("GIT_AUTHOR_IDENT"),
    row("git version", &["-h --build-options"]).alone(),
    row("git branch", &[REF, "-a -r -v -vv -l -q -h --all --remotes --verbose --list --show-current --column? --no-column --no-color --abbrev? --no-abbrev --omit-empty"])
        .operands(Operands::Revisions)
        .check(|call| plain_format(call).and_then(|()| listing(call, &["-l", "--list"])))
        .sample(""),
    row("git tag", &[REF, "-l -n? -h --list --column? --no-column --omit-empty"])
        .operands(Operands::Revisions)
        .check(|call| plain_format(call).and_then(|()| listing(call, &["-l", "--list", "-n"])))
        .sample(""),
    row("git stash list", &[DIFF, LOG]).check(plain_format).operands(Operands::Revisions).sample(""),
    row("git stash show", &[DIFF, "--include-untracked --only-untracked -h"]).check(plain_format).operands(Operands::Revisions).sample(""),
    row("git reflog", &[DIFF, LOG]).check(plain_format).alone(),
    row("git reflog show", &[DIFF, LOG]).check(plain_format).operands(Operands::Revisions).sample("HEAD"),
    row("git reflog exists", &["-h"]).operands(Operands::Revisions).sample("HEAD"),
    row("git remote", &["-v -h --verbose"]).alone(),
    row("git remote get-url", &["-h --push --all"]).text("origin"),
    row("git worktree list", &["-v -z -h --verbose --porcelain --expire:"]).alone(),
    row("git notes list", &["-h"]).operands(Operands::Revisions).sample(""),
    row("git notes show", &["-h"]).operands(Operands::Revisions).sample("HEAD"),
    row("git submodule status", &["--cached --recursive --quiet"]).sample(""),
    row("git bisect log", &["-h"]).alone(),
    row("git config", &["-l -z -h -f@ --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list --global --system --local --worktree --file@ --blob@ --type: --bool --int --bool-or-int --bool-or-str --path --expiry-date --null --name-only --show-origin --show-scope --includes --no-includes --default: --show-names --all --regexp: --url: --fixed-value"])
        .operands(Operands::Text)
        .check(|call| {
            let asks = call.has(&["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list", "-l"]);
            let first = call.operands.first().map_or("", |word| word.text.as_str());
            // Newer ones have subcommands in the place of the name.
            let subcommand = ["edit", "set", "unset", "rename-section", "remove-section"].contains(&first);
            let one = call.operands.len() == 1 && first.contains('.');
            if !subcommand && (asks || one) { Ok(()) } else { call.refuse("without one name sets something") }
        })
        .sample("--get user.name"),
    row("git config get", &["-z -h -f@ --global --system --local --worktree --file@ --blob@ --type: --null --show-origin --show-scope --includes --no-includes --default: --show-names --all --regexp --url: --value: --fixed-value"]).operands(Operands::AtMost(1)).sample("user.name"),
    row("git config list", &["-z -h -f@ --global --system --local --worktree --file@ --blob@ --type: --null --name-only --show-origin --show-scope --includes --no-includes"]).alone(),
    row("git symbolic-ref", &["-q -h --quiet --short --recurse --no-recurse"]).operands(Operands::AtMost(1)).sample("HEAD"),
];

/// A format that looks at signatures runs the program that checks them, which settings name. A name in place of a format is
/// one that settings explain.
fn plain_format(call: &ProgramCall) -> Result<(), String> {
    const NAMES: &[&str] = &["oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"];
    for value in call.values(&["--format", "--pretty", "--sort"]) {
        let letters = value.split('%').skip(1).map(|rest| rest.trim_start_matches(['-', '+', ' ']));
        if letters.into_iter().any(|rest| rest.starts_with('G')) || value.contains("signature") {
            return call.refuse("with a signature format runs a program");
        }
    }
    let named = |value: &str| value.contains(['%', ':']) || NAMES.contains(&value) || value.is_empty();
    if call.values(&["--pretty", "--format"]).all(named) {
        Ok(())
    } else {
        call.refuse("with a configured format is unknown")
    }
}

/// `git branch NAME` makes one; only where it lists are operands patterns.
fn listing(call: &ProgramCall, lists: &[&str]) -> Result<(), String> {
    let implied = ["--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
    if call.operands.is_empty() || call.has(lists) || call.has(&implied) {
        Ok(())
    } else {
        call.refuse("with a name makes one")
    }
}

/// Contents by names that come from the input: nobody sees which.
fn named_objects(call: &ProgramCall) -> Result<(), String> {
    if call.has(&["--batch"]) && !call.has(&["--batch-all-objects"]) {
        return call.refuse("--batch reads names from its input");
    }
    Ok(())
}

/// The paths that a word of git may name: what stands behind a colon (`HEAD:.env`, `:0:.env`, `main:a/b`, `:(top).env`), without
/// the magic of path patterns, and a secret that a pattern of git's own fits: no shell expands `'.e*'` there.
pub(super) fn named(text: &str) -> Vec<String> {
    let mut out: Vec<String> =
        text.match_indices(':').filter_map(|(at, _)| text.get(at + 1..)).map(str::to_owned).collect();
    // The magic: `:(top,icase)x`, `:/x`, `:!x`, `:^x`.
    let magic = |path: &String| {
        let bare = path.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(_, path)| path.to_owned());
        bare.or_else(|| path.strip_prefix(['/', '!', '^']).map(str::to_owned))
    };
    let bare: Vec<String> = out.iter().filter_map(magic).collect();
    out.extend(bare);
    let patterns = out.iter().map(String::as_str).chain(std::iter::once(text));
    let fitting: Vec<String> = patterns.filter_map(fits_a_secret).map(str::to_owned).collect();
    out.extend(fitting);
    out.retain(|path| !path.is_empty());
    out
}

/// Secrets that a pattern may be about. One that fits nearly everything is about none.
const SAMPLES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    ".npmrc",
    ".netrc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "server.pem",
    "server.key",
    "key.p12",
    "prod.tfvars",
    "terraform.tfstate",
];

fn fits_a_secret(pattern: &str) -> Option<&'static str> {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let letters = last.chars().filter(|c| c.is_ascii_alphanumeric()).count();
    let tells = letters >= 2 || letters == 1 && last.starts_with('.');
    if !tells || !last.contains(['*', '?', '[']) {
        return None;
    }
    let glob = globset::GlobBuilder::new(last).case_insensitive(true).build().ok()?.compile_matcher();
    SAMPLES.iter().copied().find(|name| glob.is_match(name))
}
