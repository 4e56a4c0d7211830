//! Verdicts: read-only lines, lines that never are, and catastrophic ones.

mod wide;

use super::*;
use proptest::prelude::*;

fn judged(command: &str) -> Judged {
    judge(command, ReadOnlyProfile::None).verdict
}

fn read_only(command: &str) -> bool {
    matches!(judged(command), Judged::ReadOnly(_))
}

#[test]
fn everyday_looks_only_read() {
    for (command, paths) in [
        ("ls", vec![]),
        ("ls -la", vec![]),
        ("ls -lah --color=never src tests", vec!["src", "tests"]),
        ("pwd", vec![]),
        ("cat Cargo.toml", vec!["Cargo.toml"]),
        ("cat 'a file.txt' \"b c\"", vec!["a file.txt", "b c"]),
        ("cat -n src/main.rs | head -40", vec!["src/main.rs"]),
        ("head -n 20 a.txt && tail -n 5 a.txt", vec!["a.txt", "a.txt"]),
        ("tail -n +10 x.log", vec!["x.log"]),
        ("tail -c2k x.log", vec!["x.log"]),
        ("wc -l src/lib.rs; wc -c src/lib.rs", vec!["src/lib.rs", "src/lib.rs"]),
        ("grep -n 'fn main' src/main.rs", vec!["src/main.rs"]),
        ("grep -niA3 \"a b\" x.rs y.rs", vec!["x.rs", "y.rs"]),
        ("grep -e one -e two x.rs", vec!["x.rs"]),
        ("grep -c '^#\\|$(x)`' notes.md", vec!["notes.md"]),
        ("grep --regexp=x -- -odd", vec!["-odd"]),
        ("cut -d: -f1,3 /etc/passwd", vec!["/etc/passwd"]),
        ("cut -d ' ' -f 2 x", vec!["x"]),
        ("stat -c '%s %n' Cargo.lock", vec!["Cargo.lock"]),
        ("file -b --mime-type logo.png", vec!["logo.png"]),
        ("realpath --relative-to=. src", vec!["src"]),
        ("basename src/main.rs .rs", vec![]),
        ("dirname /a/b", vec![]),
        ("echo hello world", vec![]),
        ("echo 'a * $b'", vec![]),
        ("printf '%s\\n' x y", vec![]),
        ("test -f Cargo.toml && echo yes || echo no", vec!["Cargo.toml"]),
        ("true", vec![]),
        ("uname -a; whoami; id -un; date +%Y-%m-%d", vec![]),
        ("date -u -d '2 days ago' +%F", vec![]),
        ("date -Iseconds", vec![]),
        ("nl -ba src/lib.rs", vec!["src/lib.rs"]),
        ("\n  ls\n\n  pwd\n", vec![]),
        ("ls --help", vec![]),
        ("ls -1 | grep -v target |\nwc -l", vec![]),
        // Forms that mean the same to every shell.
        ("ls 2>/dev/null", vec![]),
        ("ls src >/dev/null 2>&1", vec!["src"]),
        ("cat a >> /dev/null", vec!["a"]),
        ("wc -l < a.txt", vec!["a.txt"]),
        ("wc -l <'a b'", vec!["a b"]),
        ("cat < .env", vec![".env"]),
        ("grep x a 2>&1 | head -5", vec!["a"]),
        ("[ -d src ] && ls src", vec!["src", "src"]),
        ("[ ! -f a ] || cat a", vec!["!", "a", "a"]),
        ("test ! -f a && echo no", vec!["!", "a"]),
        ("grep \"foo$\" a", vec!["a"]),
        ("grep -E \"a$|b$\" a", vec!["a"]),
        ("ls # what is here?", vec![]),
        ("# first\nls", vec![]),
        ("ls #$(rm x)", vec![]),
        // Where options end at the first operand, their values are files.
        ("head a -n .env", vec![".env", "a"]),
        ("grep x a --regexp .env", vec![".env", "x", "a"]),
    ] {
        let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
        assert_eq!(judged(command), Judged::ReadOnly(paths), "{command}");
    }
}

#[test]
fn the_tool_guards_the_names_of_all_that_only_read() {
    let mut known = super::unsandboxed::names();
    known.sort_unstable();
    let mut guarded = crate::domain::permission::READERS.to_vec();
    guarded.sort_unstable();
    assert_eq!(known, guarded);
}

#[test]
fn tricks_are_not_read_only() {
    let long = format!("echo {}", "x".repeat(LONGEST));
    for command in [
        // Not on the list, or not by its bare name.
        "",
        "   ",
        "\n\n",
        "cargo test",
        "git status",
        "rm x",
        "find . -name x",
        "cd src && ls",
        "ls; rm x",
        "ls;rm x",
        "ls\nrm x",
        "ls\rrm x",
        "ls && rm x",
        "ls || rm x",
        "ls | tee x",
        "ls | sh",
        "/bin/ls",
        "./ls",
        "'ls'",
        "\"ls\"",
        "l's'",
        "l\"\"s",
        "l\\s",
        "\\ls",
        "LS",
        "ls.exe",
        // Prefixes, wrappers and reserved words.
        "A=1 ls",
        "LD_PRELOAD=./x.so cat y",
        "PATH=. ls",
        "env ls",
        "command ls",
        "exec ls",
        "time ls",
        "! ls",
        "sudo cat x",
        "nohup cat x",
        "xargs cat",
        "if true; then ls; fi",
        "for x in a; do ls; done",
        "{ ls; }",
        "(ls)",
        "function ls { rm x; }",
        "ls() { rm x; }; ls",
        "alias ls=rm",
        "eval ls",
        "source x",
        ". x",
        "trap 'rm x' EXIT",
        "coproc ls",
        // Expansions.
        "cat $HOME/x",
        "cat \"$HOME/x\"",
        "cat ${x@P}",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo `rm x`",
        "echo \"`rm x`\"",
        "echo $((1+1))",
        "echo $'\\x72m'",
        "$'ls'",
        "$\"ls\"",
        "cat <(rm x)",
        "cat >(rm x)",
        "ls ~",
        "ls ~/x",
        "ls *",
        "ls src/*.rs",
        "ls a?",
        "ls [ab]",
        "ls {a,b}",
        "{ls,-la}",
        "cat a\\ b",
        "echo \"a\\\"b\"",
        "echo \"hi!\"",
        "echo hi !!",
        "echo ^x",
        // Redirections, here-documents, background.
        "ls > x",
        "ls >x",
        "ls >> x",
        "ls 2> x",
        "ls &> x",
        "ls >| x",
        "cat <<EOF\nx\nEOF",
        "cat <<< x",
        "ls &",
        "ls & rm x",
        "ls |& cat",
        "ls ;; rm x",
        "; ls",
        "ls |",
        "ls &&",
        "| ls",
        "ls ; ; ls",
        "ls || | cat",
        // Quotes that do not close, odd characters.
        "echo 'a",
        "echo \"a",
        "echo 'a\nrm x'",
        "echo 'a\u{1b}[2J'",
        "cat\u{a0}x",
        "cat\u{2003}x",
        "cat\u{3000}x",
        "ca\u{200b}t x",
        "c\u{0430}t x",
        "cat x\0",
        "cat x\r\n",
        "cat\u{b}x",
        "cat \u{202e}x",
        "cat ä",
        &long,
        // Arguments that write, run, follow, read lists or are not known.
        "file -C -m x",
        "file --compile -m x",
        "file -f names",
        "file -z x.gz",
        "file -S x",
        "file -p x",
        "file -bC",
        "date -s 10:00",
        "date -us 10:00",
        "date --set=10:00",
        "date --se 10:00",
        "date 11212230",
        "date -f x",
        "date +%F 11212230",
        "tail -f x",
        "tail -F x",
        "tail -5f x",
        "tail -n5f -f x",
        "tail --follow x",
        "tail --follow=name x",
        "tail --foll x",
        "tail --retry x",
        "tail --pid=1 x",
        "tail +5f x",
        "tail -qf x",
        "grep -r x .",
        "grep -R x .",
        "grep -rn x src",
        "grep -nr x src",
        "grep --recursive x .",
        "grep -d recurse x .",
        "grep -f patterns x",
        "grep --include=x y",
        "wc --files0-from=x",
        "printf -v x y",
        "printf '%n' 'a[$(rm x)]'",
        "printf 'x%5n' y",
        "printf '%*d' 3 4",
        "printf '%",
        "test -v 'a[$(rm x)]'",
        "test -R x",
        "test -t 0",
        "test x -a -v y",
        "[[ -f x ]]",
        "cat --unknown",
        "ls -@",
        "ls --color -Y",
        "ls --so",
        "head -n",
        "head --lines",
        "pwd x",
        "pwd --help",
        "whoami x",
        "uname x",
        "uname -q",
        "id -x",
        "realpath --exec x",
        "stat -x y",
        "cut -f1 --help=x",
    ] {
        assert!(!read_only(command), "{command:?} was judged {:?}", judged(command));
    }
}

#[test]
fn refusals_say_what_was_not_understood() {
    for (command, part) in [
        ("cargo test", "`cargo test` is not a known read-only command"),
        ("ls > x", "it writes to `x`"),
        ("ls $X", "`$X` is only known at run time"),
        ("ls ${x%.txt}", "`${x%.txt}` is only known at run time"),
        ("ls $(date)", "the output of `$(…)` is only known at run time"),
        ("ls `date`", "the output of a command in backticks is only known at run time"),
        ("ls $((1 + 1))", "`$((…))` is only known at run time"),
        ("for ((i = 0; i < 3; i++)); do ls; done", "`for ((…))` is not supported"),
        ("grep -r x .", "the grep tool searches folders"),
        ("ls >| x", "it writes to `x`"),
        ("ls 2> x", "it writes to `x`"),
        ("cat <<< x", "needs a sandbox"),
        ("cat <(ls)", "redirects"),
        // Without a sandbox a plain loop needs one, and one that changes something has its own reason.
        (
            "for f in *.rs; do wc -l \"$f\"; done",
            "`for f in *.rs; do wc -l \"$f\"; done` needs a sandbox to count as read-only",
        ),
        ("while true; do date; done", "needs a sandbox"),
        ("if [ -f a ]; then cat a; fi", "needs a sandbox"),
        ("rg foo", "`rg foo` needs a sandbox"),
        ("for f in *.rs; do rm \"$f\"; done", "`rm` is not a known read-only command"),
        ("if ls; then touch x; fi", "`touch` is not a known read-only command"),
        ("[ -f x", "unclosed"),
        ("ls >&$X", "redirects"),
        ("ls 2>&10", "needs a sandbox"),
        ("> /dev/null", "sandbox"),
        ("ls &", "background"),
        ("cat\u{a0}x", "U+00A0"),
        ("tail -f x", "`tail -f`"),
    ] {
        let Judged::Other(why) = judged(command) else { panic!("{command}") };
        assert!(why.contains(part), "{command}: {why}");
    }
}

#[test]
fn catastrophes_are_found_anywhere() {
    for command in [
        "rm -rf /",
        "rm -rf / --no-preserve-root",
        "rm -fr //",
        "rm -r -f /*",
        "rm -Rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf ~root",
        "rm --recursive --force /",
        "rm -rf \"$HOME\"",
        "rm -rf ${HOME}/",
        "rm -rf $UNSET/*",
        "rm -rf ..",
        "rm -rf ../../",
        "rm -rf ../*",
        "rm -rf /etc",
        "rm -rf /usr/lib /x/y/z",
        "rm -rf /home/someone",
        "rm -rf /mnt/disk",
        "rm -rf /home/u/p/../../..",
        "rm -rf /{bin,etc}",
        "/bin/rm -rf /",
        "\\rm -rf /",
        "r''m -rf /",
        "r\\m -rf /",
        "$'\\x72m' -rf /",
        "ls; rm -rf /",
        "true && rm -rf / &",
        "ls\nrm -rf /",
        "(rm -rf /)",
        "{ rm -rf /; }",
        "if true; then rm -rf /; fi",
        "! rm -rf /",
        "X=1 rm -rf /",
        "echo $(rm -rf /)",
        "echo \"$(rm -rf /)\"",
        "echo `rm -rf /`",
        "echo \"a `rm -rf /`\"",
        "cat <(rm -rf /)",
        "sudo rm -rf /",
        "sudo -u root -- rm -rf /",
        "sudo -n env A=1 nice -n 5 rm -rf /",
        "doas rm -rf /",
        "timeout 5 rm -rf /",
        "timeout -k 5 10s rm -rf /",
        "nohup rm -rf / &",
        "time rm -rf /",
        "sh -c 'rm -rf /'",
        "sh -c rm\\ -rf\\ /",
        "bash -lc \"sudo rm -rf /\"",
        "bash -c \"sh -c 'rm -rf /'\"",
        "eval 'rm -rf /'",
        "eval rm -rf /",
        "echo 'rm -rf /' | sh",
        "bash <<EOF\nrm -rf /\nEOF",
        "bash <<< 'x'; rm -rf ~",
        "echo / | xargs rm -rf",
        "ssh box 'rm -rf /'",
        "ssh -p 22 box rm -rf /",
        "find / -delete",
        "find / -name x -delete",
        "find // -iname '*.log' -exec rm {} +",
        "find ~ -type f -exec rm {} +",
        "find . -exec sudo rm -rf / ;",
        "chmod -R 777 /",
        "chmod 777 -R ~",
        "sudo chown -R me:me /usr",
        "chgrp --recursive x /etc",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t ext4 x.img",
        "sudo mkswap /dev/sdb",
        "dd if=x of=/dev/sda bs=1M",
        "dd of=/dev/mem",
        "cat x > /dev/sda",
        "echo x >/dev/nvme0n1",
        "echo x | sudo tee /dev/sda",
        "cp image.iso /dev/sdb",
        "echo b > /proc/sysrq-trigger",
        "shred /dev/sda",
        "wipefs -a /dev/sda",
        "fdisk /dev/sda",
        "parted /dev/sda mklabel gpt",
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "bash <<< 'rm -rf /'",
        "perl -e 'system(\"rm -rf /\")'",
        "python3 -c \"import shutil; shutil.rmtree('/')\"",
        "node -e 'require(`fs`).rmSync(`/home/me`, {recursive: true})'",
        "cd / && rm -rf *",
        "cd ~ && rm -rf .",
        "cd; rm -r ./*",
        "$(echo rm) -rf /",
        "shutdown now",
        "sudo reboot",
        "/sbin/halt",
        "poweroff",
        "init 0",
        "systemctl poweroff",
        "sudo -n systemctl reboot -f",
        "kill -9 -1",
        "git push --force",
        "git push -f origin main",
        "git push origin main -f",
        "git push -uf origin x",
        "git push --force-with-lease",
        "git push --forc",
        "git push --mirror",
        "git push origin +main",
        "git push origin +a:b",
        "git push origin --delete x",
        "git push -d origin x",
        "git push origin :x",
        "git -C sub -c a=b push --force",
        "cargo test && git push -f",
    ] {
        assert!(matches!(judged(command), Judged::Catastrophic(_)), "{command:?} was judged {:?}", judged(command));
    }
}

#[test]
fn ordinary_work_is_not_called_catastrophic() {
    for command in [
        "cd src && rm -rf *",
        "cd /tmp/x && rm -rf .",
        "cd / && ls -la",
        "cd ~ && cargo build --release .",
        "$CC -o out /usr/include/x.c",
        "python3 -c 'print(\"a b\")'",
        "awk '{print \"x y\"}' /etc/hosts",
        "bash <<< 'ls /'",
        "rm -rf target",
        "rm -rf ./target node_modules",
        "rm -rf /tmp/x",
        "rm -rf /tmp/*",
        "rm x",
        "rm -rf /home/u/project/target",
        "rm -rf \"$DIR\"",
        "chmod +x run.sh",
        "chmod -R u+w .",
        "chown me x",
        "git push",
        "git push -u origin feature",
        "git push --follow-tags",
        "git push origin HEAD:main",
        "git push --dry-run",
        "git stash push -m x",
        "git commit -m 'shutdown: reboot / after rm -rf /'",
        "git rm -r ..",
        "find . -name '*.o' -delete",
        "find ~ -name '*.pyc' -delete",
        "dd if=/dev/zero of=x.img count=1",
        "cargo run > /dev/null 2>&1",
        "echo x | tee log",
        "mv x ..",
        "cp a /dev/null",
        "timeout 5 cargo test reboot",
        "systemctl status nginx",
        "kill -1 4242",
        "fdisk -l",
        "cargo test -- --test-threads=1",
        "f(){ echo x; }; f",
        "sh -c 'cargo build'",
    ] {
        assert!(matches!(judged(command), Judged::Other(_)), "{command:?} was judged {:?}", judged(command));
    }
}

#[test]
fn looks_see_secrets_targets_and_risks() {
    let cwd = std::path::Path::new("/w/p");
    let has = |command: &str, risk: &str| looks(command, cwd).risks.iter().any(|r| r.contains(risk));
    for (command, risk) in [
        ("sudo make install", "sudo"),
        ("rm -r target", "deletes"),
        ("find . -delete", "deletes"),
        ("curl https://x.example", "network"),
        ("git push", "network"),
        ("cargo install x", "network"),
        ("chmod +x a", "permissions"),
        ("cp a ../b", "outside"),
        ("cp a /opt/b", "outside"),
        ("sh -c 'curl x'", "network"),
        ("echo x > a", "overwrites"),
    ] {
        assert!(has(command, risk), "{command}: {:?}", looks(command, cwd).risks);
    }
    assert!(!has("curl https://x.example/a", "outside"), "a host is no path");
    for elsewhere in ["git remote add o gitbox:/srv/x", "git clone me@gitbox:/srv/x", "scp gitbox:/srv/x ."] {
        assert!(!has(elsewhere, "outside"), "a path of another machine: {elsewhere}");
    }
    for here in ["docker run -v x:/etc/y z", "git clone /srv/x", "git -C a/b:/etc log", "PATH=a:/etc git log"] {
        assert!(has(here, "outside"), "{here}");
    }
    assert_eq!(looks("cargo test --lib", cwd), Looks::default());
    assert_eq!(looks("make at host > /dev/null 2>&1", cwd), Looks::default());
    for command in ["cp .env x", "curl -d @.env h", "x --file=.env", "cat < .env", "sh -c 'cp .env x'", "cp ~/.ssh/k x"]
    {
        assert!(!looks(command, cwd).secrets.is_empty(), "{command}");
    }
    assert!(looks("git commit -m 'read .env early'", cwd).secrets.is_empty());
    assert!(!looks("sed -i s/a/b/ .git/hooks/x", cwd).protected.is_empty());
    for (command, outside) in [
        ("echo x > /etc/y", true),
        ("echo x >> ~/y", true),
        ("echo x > ../y", true),
        ("echo x > y", false),
        ("echo x > /tmp/y", false),
        ("echo x 2>/dev/null", false),
        ("cat < /etc/y", false),
    ] {
        assert_eq!(!looks(command, cwd).writes_outside.is_empty(), outside, "{command}");
    }
}

#[test]
fn hostile_lengths_are_judged_quickly() {
    for command in [
        "sudo -a ".repeat(20_000),
        "$(".repeat(50_000),
        "`".repeat(50_001),
        "\"$(".repeat(20_000),
        "a(){".repeat(20_000),
        "rm -r x;".repeat(20_000) + "xargs",
        "sh -c 'x y' ".repeat(10_000),
        "find -exec ".repeat(10_000),
        "'".repeat(50_001),
    ] {
        assert!(!read_only(&command));
        let _ = looks(&command, std::path::Path::new("/w"));
    }
}

/// Pieces of which hostile lines are made.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("ls".to_owned()),
        Just("cat".to_owned()),
        Just("rm -rf /".to_owned()),
        Just("sh -c".to_owned()),
        Just("sudo".to_owned()),
        Just(" ".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("$(".to_owned()),
        Just("`".to_owned()),
        Just("\\".to_owned()),
        Just(">".to_owned()),
        Just("&".to_owned()),
        Just("|".to_owned()),
        Just(";".to_owned()),
        Just("\n".to_owned()),
        Just("#".to_owned()),
        Just("$'\\x".to_owned()),
        "[ -~]{0,4}",
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|parts| parts.concat())
}

/// True if a character that expands, redirects or groups is outside quotes and comments, as a shell
/// reads them. `&&` does not count, nor `<` before a name, `[` alone, or a `$` that ends a text.
fn has_live_character(line: &str) -> bool {
    let line: Vec<char> = line.replace("&&", "  ").chars().collect();
    let mut quote = None;
    let mut at = 0;
    while let Some(&c) = line.get(at) {
        let (before, next) = (at.checked_sub(1).and_then(|at| line.get(at)), line.get(at + 1));
        let ends = |c: Option<&char>| c.is_none_or(|c| " \t\n;|&".contains(*c));
        match quote {
            Some(q) if c == q => quote = None,
            Some('"') if c == '$' && next.is_some_and(|c| "\" |".contains(*c)) => {}
            Some('"') if "$`\\".contains(c) => return true,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '#' && ends(before) => {
                while line.get(at + 1).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            None if c == '[' && ends(before) && ends(next) => {}
            None if c == '<' && !next.is_some_and(|c| "<>&(".contains(*c)) => {}
            None if "$`<>&(){}*?[\\~".contains(c) => return true,
            None => {}
        }
        at += 1;
    }
    quote.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn never_panics(line in pieces()) {
        let _ = judged(&line);
        let _ = looks(&line, std::path::Path::new("/w"));
    }

    #[test]
    fn nothing_live_is_read_only(line in pieces()) {
        prop_assert!(!(has_live_character(&line) && read_only(&line)), "{line:?}");
    }

    #[test]
    fn a_live_character_spoils_any_reading_line(
        head in prop::sample::select(vec!["ls src", "cat x | head -5", "echo a", "grep -n x y && pwd"]),
        at in 0_usize..20,
        live in prop::sample::select("$`>&(){}*?\\~!\r\0".chars().collect::<Vec<_>>()),
    ) {
        prop_assert!(read_only(head));
        let mut line = head.to_owned();
        let at = at.min(line.len());
        line.insert(at, live);
        // A third `&` beside two is one too many as well.
        prop_assert!(!read_only(&line), "{line:?}");
    }

    #[test]
    fn single_quotes_keep_everything_printable(text in "[ -&(-~]{0,30}") {
        let line = format!("echo '{text}'");
        prop_assert!(read_only(&line), "{line:?}");
    }
}
