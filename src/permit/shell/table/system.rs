//! Programs that tell about the machine, its processes and users.

use super::row::{Operands, ProgramCall, ProgramRow, row};

pub(super) const ROWS: &[ProgramRow] = &[
    row("uname", &["-a -i -m -n -o -p -r -s -v --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system --help --version"]).alone(),
    row("arch", &["--help --version"]).alone(),
    row("nproc", &["--all --ignore: --help --version"]).alone(),
    // An operand sets the name.
    row("hostname", &["-a -A -d -f -i -I -s -y --alias --all-fqdns --domain --fqdn --long --ip-address --all-ip-addresses --short --help --version -h -V"]).alone(),
    row("uptime", &["-p -s -h -V --pretty --since --help --version"]).alone(),
    row("whoami", &["--help --version"]).alone(),
    row("id", &["-a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero --context --help --version"]).text(""),
    row("groups", &["--help --version"]).text(""),
    row("users", &["--help --version"]).alone(),
    row("who", &["-a -b -d -H -l -m -p -q -r -s -t -T -u -w --all --boot --heading --count --users --help --version"]).alone(),
    row("logname", &["--help --version"]).alone(),
    row("tty", &["-s --silent --quiet --help --version"]).alone(),
    row("locale", &["-a -k -c -m --all-locales --charmaps --category-name --keyword-name --help --version"]).text(""),
    // `-v` runs a program of that name.
    row("getconf", &["-a"]).text("PAGE_SIZE"),
    // `-s` loads the module that it names.
    row("getent", &["-i --no-idn --help --version"]).text("group root"),
    row("free", &["-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --kilo --mega --giga --human --si --lohi --total --wide --help --version -V"]).alone(),
    row("vmstat", &["-a -d -D -f -m -n -s -t -w -S: -p: --active --forks --slabs --one-header --stats --disk --disk-sum --unit: --timestamp --wide --help --version -V"]).alone(),
    row("lscpu", &["-a -b -B -c -C? -e? -J -p? -y -x --all --online --offline --bytes --caches? --extended? --json --parse? --physical --hex --help --version"]).alone(),
    row("lsblk", &["-a -b -d -D -e: -f -I: -i -J -l -m -n -o: -O -P -p -r -s -S -t -x: -z -h -V --all --bytes --nodeps --discard --exclude: --fs --include: --ascii --json --list --merge --perms --noheadings --output: --output-all --pairs --paths --raw --inverse --scsi --sort: --topology --zoned --help --version"]).alone(),
    row("lsmem", &["-J -P -a -b -n -o: -r -s? -h -V --json --pairs --all --bytes --noheadings --output: --raw --summary? --help --version"]).alone(),
    row("lsof", &["-n -P -l -t -b -w -p: -u: -c: -a"]).alone(),
    row("ps", &["-A -a -C: -d -e -f -F -g: -G: -H -j -l -L -M -N -o: -p: -q: -s: -t: -T -u: -U: -w -y -x -Z --cols: --columns: --context --cumulative --deselect --forest --format: --group: --Group: --headers --lines: --no-headers --no-heading --pid: --ppid: --quick-pid: --rows: --sid: --sort: --tty: --user: --User: --width: --help? --info --version -V"]).check(ps).text(""),
    row("pgrep", &["-a -c -d: -f -g: -G: -i -l -n -o -O: -P: -s: -t: -u: -U: -v -w -x --count --delimiter: --full --ignore-case --list-full --list-name --newest --oldest --parent: --exact --euid: --uid: --inverse --help --version -h -V"]).text("zzz"),
    row("pidof", &["-s -c -q -x -o: -S: -h -V"]).text("zzz"),
    row("pstree", &["-a -A -c -g -G -h -H: -k -l -n -p -s -S -t -T -u -U -V --arguments --ascii --compact-not --show-pgids --vt100 --highlight-all --long --numeric-sort --show-pids --show-parents --threads-hide --uid-changes --unicode --version"]).text(""),
    row("date", &["-u -R -d: -r@ -I? --utc --universal --rfc-email --date: --rfc-3339: --reference@ --iso-8601? --debug --help --version"])
        .check(|call: &ProgramCall| if call.operands.iter().any(|word| !word.text.starts_with('+')) { call.refuse("with a time sets the clock") } else { Ok(()) })
        .text("+%F"),
    row("cal", &["-1 -3 -j -m -s -w -y -n: --one --three --julian --monday --sunday --week --year --months: --help --version -h -V"]).text(""),
    row("ncal", &["-1 -3 -b -e -h -j -J -M -o -p -S -w -y -A: -B: -d: -m: -H: -s:"]).text(""),
    row("sleep", &["--help --version"]).text("0"),
    row("printenv", &["-0 --null --help --version"]).text("LANG").any(),
    row("man", &["-k -f -w -a --where --path --apropos --whatis --all --help --version -V"])
        .check(|call: &ProgramCall| if call.operands.iter().any(|word| word.known().is_none_or(|text| text.contains('/'))) { call.refuse("is given a file") } else { Ok(()) })
        .text("ls"),
    row("lsmod", &[]).alone(),
    row("lspci", &["-v -vv -vvv -k -x -n -nn -q -b -D -t -m -mm -s: -d:"]).style(super::row::Style::Exact).alone(),
    row("lsusb", &["-v -t -s: -d: -V --verbose --tree --version --help"]).alone(),
    row("findmnt", &["-s -m -k -A -a -b -C -D -d: -e -F@ -f -i -J -l -N: -n -O: -o: -P -R -r -S: -T: -t: -U -u -V -v -h --json --list --all --noheadings --output: --raw --real --pseudo --target: --source: --types: --df --help --version"]).text(""),
    row("mountpoint", &["-q -d -x --quiet --fs-devno --devno --nofollow --help --version -h -V"]).sample("."),
    row("ldconfig", &["-p"]).operands(Operands::None).check(|call: &ProgramCall| if call.has(&["-p"]) { Ok(()) } else { call.refuse("without -p writes") }).sample("-p"),
    row("lsb_release", &["-a -c -d -i -r -s -v -h --all --codename --description --id --release --short --version --help"]).alone(),
    row("systemd-detect-virt", &["-c -v -q --container --vm --quiet --list --help --version"]).alone(),
    row("apt-cache", &["-n -f --names-only --full --installed -a --all-versions"]).operands(Operands::Text).check(apt_cache).sample("policy bash"),
    row("dpkg", &["-l -L: -s: -S: --list --listfiles: --status: --search: --print-architecture --version --help"])
        .operands(Operands::Text)
        .check(|call: &ProgramCall| if call.options.is_empty() || call.has(&["-s", "-S", "-L"]) && call.options.len() > 1 { call.refuse("is \
         only read-only with -l, -L, -s or -S") } else { Ok(()) })
        .sample("-l bash"),
    row("dpkg-query", &["-l -L: -s: -S: -W -f: --list --listfiles: --status: --search: --show --showformat: --version --help"]).text("-W bash"),
];

/// `ps e` shows the environment of others.
fn ps(call: &ProgramCall) -> Result<(), String> {
    let operands = call.operands.iter().all(|word| {
        word.known().is_some_and(|text| {
            text.bytes().all(|b| b.is_ascii_digit() || b == b',') || text.bytes().all(|b| b"aflTuwx".contains(&b))
        })
    });
    let shown = call.values(&["-o", "-O", "--format"]).any(|value| value.to_ascii_lowercase().contains("env"));
    // `-aux` is taken for `aux` where there is no user `x`.
    let mixed = call.has(&["-a"]) && call.values(&["-u", "-U", "-g", "-t"]).any(|value| value != "x");
    if operands && !shown && !mixed { Ok(()) } else { call.refuse("is only read-only with some of its letters") }
}

fn apt_cache(call: &ProgramCall) -> Result<(), String> {
    let first = call.operands.first().map_or("", |word| word.text.as_str());
    if ["policy", "show", "search", "depends", "rdepends", "pkgnames", "madison", "showpkg"].contains(&first) {
        Ok(())
    } else {
        call.refuse("is only read-only with policy, show, search, depends, rdepends, pkgnames or madison")
    }
}
