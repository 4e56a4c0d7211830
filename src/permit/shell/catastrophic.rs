//! Finds commands that may destroy what nobody can bring back, anywhere in a line and through wrappers and shells.
//!
//! Broad on purpose: a needless question costs less than a lost disk.

use super::loose::{self, LooseCommand};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Depth to which strings for shells are followed.
const DEEPEST: usize = 8;

/// Number of programs that one simple command may start through wrappers, and the distance in which
/// they are searched after a wrapper.
const MOST: usize = 64;

/// Catastrophic part of the line, in words; `None` if nothing was found.
pub(super) fn find(line: &str) -> Option<String> {
    fork_bomb(line).or_else(|| in_line(line, DEEPEST))
}

fn in_line(line: &str, depth: usize) -> Option<String> {
    let pieces = loose::split(line);
    let too_deep = || Some("nested too deep to check".to_owned());
    if pieces.too_deep || depth == 0 {
        return too_deep();
    }
    let all: Vec<&str> = pieces.commands.iter().flat_map(|c| &c.words).map(String::as_str).collect();
    // `… | xargs rm -rf`: the targets come from the rest of the line.
    let feeds = all.iter().any(|word| matches!(base_name(word), "xargs" | "parallel"));
    let fed = if feeds { all.iter().copied().find(|word| is_grave_target(word)) } else { None };
    let moved = pieces.commands.iter().any(|command| moves_to_grave(&command.words));
    let mut runs_text = false;
    for command in &pieces.commands {
        for (operator, target) in &command.redirects {
            if operator.contains('>') && (is_disk(target) || target.starts_with("/proc/sysrq-trigger")) {
                return Some(format!("it writes onto {target}"));
            }
        }
        let starts = starts(command);
        if starts.programs.len() > MOST {
            return too_deep();
        }
        for at in starts.programs {
            let (program, arguments) = (&command.words[at], &command.words[at + 1..]);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            if let Some(what) = destroys(base_name(program), &arguments, fed) {
                return Some(what);
            }
            // `cd / && rm -rf *`: what stands here is what lies there.
            let here = |word: &&&str| matches!(**word, "." | "*" | "./*" | "./" | ".*");
            if let Some(target) = arguments.iter().find(here).filter(|_| moved) {
                let there: Vec<&str> = arguments.iter().map(|word| if word == target { "/" } else { *word }).collect();
                if destroys(base_name(program), &there, None).is_some() {
                    return Some(format!("it removes or changes `{target}` in a home or system folder"));
                }
            }
            // `$(echo rm) -rf /`
            let as_rm = |word: &&str| {
                word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|c| "rRfvdiI".contains(c)))
            };
            if program.contains(['$', '`'])
                && arguments.iter().any(as_rm)
                && let Some(what) = destroys("rm", &arguments, fed)
            {
                return Some(format!("the program is only known at run time and may be `rm`: {what}"));
            }
            if is_interpreter(base_name(program))
                && let Some(what) = arguments.iter().find_map(|text| in_script(text, depth))
            {
                return Some(what);
            }
        }
        runs_text |= starts.runs_text;
    }
    // `sh -c 'text'`, `echo 'text' | sh`, `ssh host 'text'`: any text in the line may be what runs.
    if runs_text {
        // `bash <<< 'text'`
        let given = pieces.commands.iter().flat_map(|c| &c.redirects).map(|(_, target)| target.as_str());
        let all: Vec<&str> = all.iter().copied().chain(given).collect();
        return all.iter().filter(|word| word.contains(char::is_whitespace)).find_map(|word| in_line(word, depth - 1));
    }
    None
}

/// `cd /`, `cd ~`, and `cd` alone, which goes home.
fn moves_to_grave(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| matches!(word.as_str(), "cd" | "pushd")) else { return false };
    let target = words[at + 1..].iter().find(|word| !word.starts_with('-'));
    target.is_none_or(|word| is_grave_target(word))
}

/// Programs that run a text of another language than the shell's.
fn is_interpreter(name: &str) -> bool {
    ["perl", "python", "ruby", "node", "php", "lua", "deno", "bun", "osascript", "awk", "gawk", "mawk", "tclsh"]
        .iter()
        .any(|known| name.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.')))
}

/// A text of another language: commands in its strings, and calls that remove whole trees.
fn in_script(text: &str, depth: usize) -> Option<String> {
    let strings: Vec<&str> = text.split(['"', '\'', '`']).skip(1).step_by(2).collect();
    let commands = strings.iter().filter(|one| one.contains(char::is_whitespace));
    if let Some(what) = commands.filter_map(|one| in_line(one, depth - 1)).next() {
        return Some(what);
    }
    const REMOVES: &[&str] = &["rmtree", "rmSync", "rmdirSync", "rm_rf", "rm_r", "remove_tree", "remove_entry"];
    let removes = REMOVES.iter().any(|call| text.contains(call));
    strings.into_iter().find(|one| removes && is_grave_target(one)).map(|target| format!("it removes {target}"))
}

/// Words after which a command may begin.
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "time", "coproc"];

/// Programs that run the command given to them.
const WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "nohup",
    "stdbuf",
    "time",
    "command",
    "builtin",
    "exec",
    "xargs",
    "parallel",
    "setsid",
    "busybox",
    "toybox",
    "watch",
    "ssh",
    "flock",
    "chroot",
    "unshare",
    "nsenter",
    "systemd-run",
    "strace",
    "script",
    "chrt",
    "taskset",
    "caffeinate",
    "su",
    "runuser",
    "pkexec",
    "find",
    "fd",
    "eval",
    "source",
    ".",
];

/// Shells.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh"];

/// True if this program, by its bare name, runs the command given to it. Shells are excluded.
pub(in crate::permit) fn wraps(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// The programs of a simple command.
pub(super) struct Starts {
    /// Positions in the words where a program may be.
    pub(super) programs: BTreeSet<usize>,
    /// Some program of them runs texts as commands.
    pub(super) runs_text: bool,
}

/// Positions of programs in a simple command: its beginning, and after each wrapper.
pub(super) fn starts(command: &LooseCommand) -> Starts {
    let words = &command.words;
    let mut out = Starts { programs: BTreeSet::new(), runs_text: false };
    let first = words.iter().position(|word| !KEYWORDS.contains(&word.as_str()) && !is_assignment(word));
    let mut open: Vec<usize> = first.into_iter().collect();
    while let Some(at) = open.pop() {
        if !out.programs.insert(at) || out.programs.len() > MOST {
            continue;
        }
        let name = base_name(&words[at]);
        if !wraps(name) && !SHELLS.contains(&name) {
            continue;
        }
        out.runs_text |= name != "find" && name != "fd";
        if matches!(name, "find" | "fd") {
            let after = |word: &&String| ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X"].contains(&word.as_str());
            let at_exec =
                words.iter().enumerate().skip(at).take(10 * MOST).filter(|(_, word)| after(word)).map(|(i, _)| i + 1);
            open.extend(at_exec.filter(|i| *i < words.len()));
            continue;
        }
        // The word after the options; a word after an option may be its value, so the one after that as well.
        let mut skip = usize::from(matches!(name, "ssh" | "flock" | "chroot" | "su" | "runuser" | "taskset"));
        let mut after_option = false;
        for (i, word) in words.iter().enumerate().skip(at + 1).take(MOST) {
            if word.starts_with('-') && word.len() > 1 {
                after_option = true;
            } else if !is_assignment(word) && !is_number(word) {
                open.push(i);
                if !after_option {
                    if skip == 0 {
                        break;
                    }
                    skip -= 1;
                }
                after_option = false;
            }
        }
    }
    out
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

/// True if a program with these arguments destroys. `fed`: catastrophic target that may reach it through `xargs`.
fn destroys(program: &str, arguments: &[&str], fed: Option<&str>) -> Option<String> {
    let has = |option: &str| arguments.contains(&option);
    let letter = |c: char| arguments.iter().any(|a| a.starts_with('-') && !a.starts_with("--") && a.contains(c));
    let device = || arguments.iter().find(|a| a.starts_with("/dev/")).map(|a| (*a).to_owned());
    let grave = || arguments.iter().copied().find(|word| is_grave_target(word)).or(fed);
    match program {
        "rm" | "grm" => {
            let recursive = letter('r') || letter('R') || arguments.iter().any(|a| a.starts_with("--r"));
            if has("--no-preserve-root") {
                return Some("it removes / itself".to_owned());
            }
            grave().filter(|t| recursive || t.ends_with('*')).map(|target| format!("it removes {target}"))
        }
        "find" | "fd" => {
            let removes = has("-delete") || arguments.iter().any(|a| matches!(base_name(a), "rm" | "shred" | "unlink"));
            let narrowed = arguments.iter().any(|a| matches!(*a, "-name" | "-iname" | "-path" | "-regex" | "-newer"));
            // From the root on even a name is not narrow enough: it meets what the system and others have.
            let everywhere =
                |target: &str| target.trim_end_matches(['/', '*', '.']).is_empty() && target.starts_with('/');
            grave()
                .filter(|target| removes && (!narrowed || everywhere(target)))
                .map(|target| format!("it removes everything in {target}"))
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "gchmod" | "gchown" => {
            let recursive = letter('R') || has("--recursive");
            grave().filter(|_| recursive).map(|target| format!("it changes permissions of everything in {target}"))
        }
        "dd" | "gdd" | "dcfldd" => arguments
            .iter()
            .filter_map(|a| a.strip_prefix("of="))
            .find(|to| to.starts_with("/dev/") && !matches!(*to, "/dev/null" | "/dev/stdout" | "/dev/stderr"))
            .map(|to| format!("it writes onto {to}")),
        "mke2fs" | "mkswap" | "mkdosfs" | "blkdiscard" => Some(format!("`{program}` erases a disk")),
        _ if program == "mkfs" || program.starts_with("mkfs.") => Some(format!("`{program}` erases a disk")),
        "shred" | "wipefs" | "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "wipe" | "hdparm"
        | "cryptsetup" | "pvremove" | "vgremove" | "lvremove" | "nvme" | "srm" | "badblocks" | "mdadm" => {
            device().map(|device| format!("`{program}` may erase {device}"))
        }
        "diskutil" => arguments
            .iter()
            .find(|a| a.to_ascii_lowercase().starts_with("erase") || a.to_ascii_lowercase().starts_with("partition"))
            .map(|_| "`diskutil` erases a disk".to_owned()),
        "tee" | "cp" | "mv" | "install" | "rsync" | "cat" | "truncate" | "fallocate" => arguments
            .iter()
            .find(|a| is_disk(a))
            .filter(|_| program != "cat")
            .map(|target| format!("it writes onto {target}")),
        "shutdown" | "reboot" | "halt" | "poweroff" => Some(format!("`{program}` stops the machine")),
        "init" | "telinit" => {
            has("0").then_some(()).or(has("6").then_some(())).map(|()| "it stops the machine".to_owned())
        }
        "systemctl" | "loginctl" => arguments
            .iter()
            .find(|a| matches!(**a, "poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot" | "rescue" | "emergency"))
            .map(|_| "it stops the machine".to_owned()),
        "kill" => arguments
            .split_first()
            .filter(|(_, rest)| rest.contains(&"-1"))
            .map(|_| "it kills every process it can".to_owned()),
        "git" => push(arguments),
        _ => None,
    }
}

/// Pushes that rewrite or delete what others share. An abbreviated option counts as the long one.
fn push(arguments: &[&str]) -> Option<String> {
    let at = arguments.iter().position(|word| *word == "push")?;
    let found = arguments[at + 1..].iter().find(|word| {
        let long = ["--for", "--mi", "--de", "--pru"].iter().any(|start| word.starts_with(start));
        let short = word.starts_with('-') && !word.starts_with("--") && word.contains(['f', 'd']);
        long || short || word.starts_with('+') || (word.starts_with(':') && word.len() > 1)
    })?;
    Some(format!("`git push {found}` rewrites or deletes shared history"))
}

/// Files behind which a whole disk or the memory stands.
fn is_disk(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "loop", "mem", "kmem",
        "nbd", "port",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

/// True if removing this recursively removes a home, a system folder, a mount or a folder above the
/// working directory.
fn is_grave_target(word: &str) -> bool {
    let written = word;
    let word = word.strip_suffix("/*").map_or(word, |rest| if rest.is_empty() { "/" } else { rest });
    let word = word.strip_suffix("/.").unwrap_or(word).trim_end_matches('/');
    // `/`, `//`, `/*`, `/.`
    if word.is_empty() {
        return true;
    }
    if let Some(user) = word.strip_prefix('~') {
        return !user.contains('/');
    }
    // A variable before the slash may be empty, and then it is `/`.
    if word.starts_with('$') && !word.contains('/') {
        return written != word || ["$HOME", "${HOME}", "$OLDPWD"].contains(&word);
    }
    let path = Path::new(word);
    if !path.has_root() {
        let mut steps = path.components().filter(|part| *part != Component::CurDir).peekable();
        return steps.peek().is_some() && steps.all(|part| part == Component::ParentDir);
    }
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        [] => true,
        // A pattern in the first place may be any of them.
        [top] if top.contains(['*', '?', '[', '{']) => true,
        [top] => *top != "tmp",
        [
            "home" | "Users" | "mnt" | "media" | "Volumes" | "usr" | "var" | "boot" | "srv" | "System" | "Library",
            second,
        ] => *second != "tmp",
        ["media", _, _] | ["run", "media", _] | ["run", "media", _, _] | ["usr", "local" | "lib", _] => true,
        _ => false,
    }
}

/// A function that pipes itself into itself in the background: `f(){ f|f& };f`.
fn fork_bomb(line: &str) -> Option<String> {
    let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let mut from = 0;
    while let Some(found) = line.get(from..).and_then(|rest| rest.find("(){")) {
        let at = from + found;
        from = at + 3;
        let before = line.get(..at).unwrap_or_default();
        let name = before.rsplit([';', '&', '|', '(', ')', '{', '}', '\'', '"']).next().unwrap_or_default();
        let name = name.trim_start_matches("function");
        if name.is_empty() {
            continue;
        }
        let body: String = line.get(from..).unwrap_or_default().chars().take(200).collect();
        if body.contains(&format!("{name}|{name}")) || body.contains(&format!("{name}&{name}")) {
            return Some("it is a fork bomb".to_owned());
        }
    }
    None
}
