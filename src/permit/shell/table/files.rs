//! Programs that tell about files and folders.

use super::row::{ProgramRow, row};

pub(super) const ROWS: &[ProgramRow] = &[
    row("ls", &["-a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -1 -I: -T: -w: --all --almost-all --author --escape --directory --dereference --dereference-command-line --file-type --full-time --group-directories-first --human-readable --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style: --recursive --reverse --show-control-chars --hide-control-chars --si --size --ignore-backups --ignore: --hide: --format: --sort: --time: --time-style: --indicator-style: --width: --block-size: --color? --classify? --hyperlink? --context --zero --help --version"]).any().sample("sub"),
    row("tree", &["-a -d -f -i -l -s -h -p -u -g -D -t -c -r -v -U -n -C -A -S -J -X -F -N -q -Q -x -L: -P: -I: --noreport --dirsfirst --filesfirst --filelimit: --si --du --prune --gitignore --charset: --sort: --timefmt: --matchdirs --ignore-case --metafirst --inodes --device --info --nolinks --help --version"]).sample("sub"),
    row("stat", &["-L -f -t -c: --dereference --file-system --terse --format: --printf: --cached: --help --version"]).any(),
    row("file", &["-b -h -i -k -L -N -r -0 --brief --mime --mime-type --mime-encoding --extension --dereference --no-dereference --keep-going --raw --print0 --help --version -v"]),
    row("du", &["-0 -a -b -c -D -h -H -k -L -l -m -P -S -s -t: -x -d: -B: -X@ --all --apparent-size --bytes --total --human-readable --si --max-depth: --summarize --separate-dirs --one-file-system --exclude: --exclude-from@ --threshold: --time? --time-style: --block-size: --count-links --dereference --dereference-args --no-dereference --inodes --null --help --version"]).any().sample("sub"),
    row("df", &["-a -B: -h -H -i -k -l -m -P -T -t: -x: --all --block-size: --human-readable --si --inodes --local --no-sync --output? --portability --print-type --type: --exclude-type: --total --help --version"]).sample("."),
    row("basename", &["-a -z -s: --multiple --zero --suffix: --help --version"]).text("a.txt").any(),
    row("dirname", &["-z --zero --help --version"]).text("a/b").any(),
    row("realpath", &["-e -E -L -m -P -q -s -z --canonicalize --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to: --relative-base: --help --version"]).any(),
    row("readlink", &["-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero --help --version"]).any(),
    row("namei", &["-l -m -n -o -v -x --long --modes --owners --nosymlinks --mountpoints --vertical --help --version"]),
    row("pathchk", &["-p -P --portability --help --version"]).any(),
    row("getfacl", &["-a -d -c -e -E -s -R -L -P -t -p -n --access --default --omit-header --all-effective --no-effective --skip-base --recursive --logical --physical --tabular --absolute-names --numeric --help --version"]),
    row("lsattr", &["-R -V -a -d -l -p -v"]),
    row("readelf", &["-a -h -l -S -g -t -e -s -n -r -u -d -V -A -D -W --all --file-header --program-headers --segments --section-headers --sections --headers --syms --symbols --dyn-syms --notes --relocs --dynamic --version-info --wide --help --version"]),
    row("nm", &["-a -A -C -D -g -n -o -p -P -r -S -u --debug-syms --demangle --dynamic --extern-only --numeric-sort --no-sort --reverse-sort --print-size --undefined-only --defined-only --help --version"]),
    row("size", &["-A -B -G -d -o -x -t --totals --help --version"]),
];
