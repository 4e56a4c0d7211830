//! Commands through the real program: `bash` starts them by `lisle __run`, which holds them and ends all they started.

#![allow(clippy::unwrap_used, clippy::panic)]

mod access;
mod whole;

use lisle::domain::ids::CallId;
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::Outcome;
use lisle::sandbox::{Ended, Invocation, RunReport};
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use lisle::tools::{CallPlace, RunContext, RunError, StoppedRun};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");

struct Bench {
    _dir: tempfile::TempDir,
    cwd: PathBuf,
    place: CallPlace,
    sandbox: Sandbox,
    stop: CancellationToken,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let cwd = root.join("work");
        std::fs::create_dir(&cwd).unwrap();
        let place = CallPlace {
            cwd: cwd.clone(),
            folder: None,
            session_dir: root.join("session"),
            own_dirs: vec![],
            runner: LISLE.into(),
            allowances: Arc::default(),
            known: Arc::default(),
            window: 200_000,
        };
        Self { _dir: dir, cwd, place, sandbox: Sandbox::None, stop: CancellationToken::new() }
    }

    /// Runs a call; `shown` gets each message for the screen.
    fn call(&self, input: Value, mut shown: impl FnMut(String)) -> Result<Outcome, RunError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bash = Registry::standard().find("bash").unwrap();
        let seen = Arc::new(Seen::default());
        let facts = bash.inspect(&input, &self.place, &seen).unwrap();
        let (progress, mut messages) = tokio::sync::mpsc::channel(8);
        let with = RunContext {
            sandbox: self.sandbox,
            place: self.place.clone(),
            facts,
            seen,
            stop: self.stop.clone(),
            call: CallId::new("call-1"),
            progress,
            jobs: Arc::default(),
            host: Arc::new(lisle::tools::host::Alone),
        };
        runtime.block_on(async {
            let running = bash.run(input, with);
            tokio::pin!(running);
            loop {
                tokio::select! {
                    end = &mut running => break end,
                    Some(message) = messages.recv() => shown(message),
                }
            }
        })
    }

    fn run(&self, command: &str) -> Outcome {
        self.call(json!({"command": command}), |_| {}).unwrap()
    }
}

/// Starts the parent by hand: its child has the control pipe in `stdin`.
fn parent(command: &str, timeout: Duration, output_limit: u64) -> Child {
    let command = vec!["/bin/bash".into(), "--noprofile".into(), "--norc".into(), "-c".into(), command.into()];
    Command::new(LISLE)
        .args(
            Invocation { timeout, output_limit, memory: None, profile: lisle::sandbox::Profile::Open, command }
                .arguments(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn read_all(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Output and report of a parent whose control pipe stays open.
fn finished(mut child: Child) -> (String, RunReport) {
    let _control = child.stdin.take();
    let said = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || read_all(said));
    let output = read_all(child.stdout.take().unwrap());
    let report = RunReport::parse(&reader.join().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), report.code());
    (output, report)
}

fn alive(pid: &str) -> bool {
    // A process that ended and that its new parent has not waited for yet is not alive.
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// A command that leaves behind a process in a session of its own, twice forked, deaf to SIGTERM, and one that is
/// stopped; it says `ready PID PID` once they run.
const ESCAPE: &str = r#"
( setsid bash -c 'trap "" TERM HUP INT; echo $$ > deaf; exec sleep 1000 <&- >&- 2>&-' & ) &
( setsid bash -c 'echo $$ > stopped.tmp; mv stopped.tmp stopped; kill -STOP $$; sleep 1000' & ) &
wait
until [ -s deaf ] && [ -s stopped ]; do :; done
echo ready $(cat deaf) $(cat stopped)
"#;

fn escaped(line: &str) -> Vec<String> {
    let rest = line.split("ready ").nth(1).unwrap();
    rest.split_whitespace().take(2).map(str::to_owned).collect()
}

#[test]
fn output_comes_in_order_with_the_exit_status() {
    let bench = Bench::new();
    let outcome = bench.run("echo one; echo two >&2; echo three; exit 3");
    assert_eq!(outcome.text, "one\ntwo\nthree\nexit 3");
    assert_eq!((outcome.failed, outcome.figures.exit), (true, Some(3)));
    let outcome = bench.run("true");
    assert_eq!(outcome.text, "(no output)\nexit 0");
    assert!(!outcome.failed);
    assert_eq!(bench.run("printf 'no newline'").text, "no newline\nexit 0");
    assert_eq!(bench.run("kill -SEGV $$").figures.exit, Some(139));
    assert_eq!(bench.run("pwd").text, format!("{}\nexit 0", bench.cwd.display()));
    assert_eq!(bench.run("definitely-no-such-program 2>/dev/null").figures.exit, Some(127));
    assert!(!bench.run("cd / && X=1").failed);
    assert_eq!(bench.run("echo $X; pwd").text, format!("\n{}\nexit 0", bench.cwd.display()), "nothing carries over");
}

#[test]
fn there_is_no_terminal_no_input_and_no_profile() {
    let bench = Bench::new();
    assert_eq!(bench.run("cat; wc -c < /dev/stdin").text, "0\nexit 0");
    assert!(bench.run("exec 3<>/dev/tty").failed);
    assert_eq!(bench.run("test -t 0 || test -t 1 || test -t 2 || echo none").text, "none\nexit 0");
    assert_eq!(
        bench.run("echo $PAGER $GIT_PAGER $TERM; shopt -q login_shell || echo plain").text,
        "cat cat dumb\nplain\nexit 0"
    );
    // The session is the parent's, and it is not lisle's.
    let text = bench.run("cut -d' ' -f6 /proc/$$/stat; echo $PPID").text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], lines[1], "{text}");
}

#[test]
fn keys_are_not_in_the_environment_of_command_or_parent() {
    // The keys go to a parent that is started by hand: tests share one environment.
    let mut child = Command::new(LISLE);
    child
        .args(
            Invocation {
                timeout: Duration::from_secs(60),
                output_limit: 1_000_000,
                memory: None,
                profile: lisle::sandbox::Profile::Open,
                command: vec!["/bin/bash".into(), "-c".into(), "env; foo".into()],
            }
            .arguments(),
        )
        .envs([
            ("ANTHROPIC_API_KEY", "sk-test-1"),
            ("OPENAI_API_KEY", "sk-test-2"),
            ("GITHUB_TOKEN", "sk-test-3"),
            ("LISLE_HOME", "sk-test-4"),
            ("BASH_ENV", "/tmp/sk-test-5"),
            ("BASH_FUNC_foo%%", "() { echo sk-test-6; }"),
            ("KEPT", "yes"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (output, _) = finished(child.spawn().unwrap());
    assert!(output.contains("KEPT=yes"), "{output}");
    assert!(!output.contains("sk-test"), "{output}");
    // And what `bash` starts has none in the first place.
    let bench = Bench::new();
    let text = bench.run("env; tr '\\0' '\\n' < /proc/$PPID/environ").text;
    assert!(!text.contains("CARGO_BIN_EXE_TOKEN") && !text.to_uppercase().contains("_API_KEY="), "{text}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_its_descendants() {
    let bench = Bench::new();
    let outcome = bench
        .call(json!({"command": format!("cd {}; {ESCAPE} sleep 1000", bench.cwd.display()), "timeout_s": 2}), |_| {})
        .unwrap();
    assert!(outcome.failed);
    assert!(outcome.text.contains("Ended because it took longer than 2 s"), "{}", outcome.text);
    for pid in escaped(&outcome.text) {
        assert!(!alive(&pid), "{pid} lives: {}", outcome.text);
    }
}

#[test]
fn stop_ends_everything_within_two_and_a_half_seconds() {
    let bench = Bench::new();
    let mut shown = String::new();
    let mut since = None;
    let stop = bench.stop.clone();
    let command = format!("echo begin; {ESCAPE} sleep 1000");
    let result = bench.call(json!({"command": command}), |message| {
        if message.contains("ready ") && since.is_none() {
            shown = message;
            since = Some(Instant::now());
            stop.cancel();
        }
    });
    let took = since.unwrap().elapsed();
    let Err(RunError::Stopped(StoppedRun { text, .. })) = result else { panic!("{result:?}") };
    assert!(text.starts_with("begin\nready "), "{text}");
    for pid in escaped(&shown) {
        assert!(!alive(&pid), "{pid} lives");
    }
    assert!(took >= Duration::from_secs(2), "SIGTERM first: {took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_polite_command_gets_its_time_to_end() {
    let bench = Bench::new();
    let stop = bench.stop.clone();
    let command = "trap 'echo cleaned > done; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let result = bench.call(json!({"command": command}), |message| {
        if message.contains("ready") {
            stop.cancel();
        }
    });
    assert!(matches!(&result, Err(RunError::Stopped(run)) if run.text.starts_with("ready\n")), "{result:?}");
    assert_eq!(std::fs::read_to_string(bench.cwd.join("done")).unwrap(), "cleaned\n");
}

#[test]
fn the_end_of_the_control_pipe_ends_everything() {
    let bench = Bench::new();
    let mut child =
        parent(&format!("cd {}; {ESCAPE} sleep 1000", bench.cwd.display()), Duration::from_secs(600), 1_000_000);
    let mut output = child.stdout.take().unwrap();
    let mut start = Vec::new();
    let mut byte = [0];
    while !start.ends_with(b"\n") {
        output.read_exact(&mut byte).unwrap();
        start.push(byte[0]);
    }
    let pids = escaped(&String::from_utf8(start).unwrap());
    assert!(pids.iter().all(|pid| alive(pid)));
    drop(child.stdin.take());
    let report = RunReport::parse(&read_all(child.stderr.take().unwrap())).unwrap();
    assert_eq!((report.ended, report.stuck), (Ended::Asked, 0));
    for pid in pids {
        assert!(!alive(&pid), "{pid} lives");
    }
    child.wait().unwrap();
}

#[test]
fn kill_nine_of_whoever_holds_the_pipe_ends_everything() {
    let bench = Bench::new();
    std::fs::write(bench.cwd.join("command"), format!("{ESCAPE} exec sleep 1000")).unwrap();
    // `sleep` stands for lisle: only it holds the control pipe.
    let line = format!(
        "sleep 1000 | {LISLE} __run --timeout-ms 600000 --output-limit 1000000 -- /bin/bash command 2> report & \
         jobs -p; exec sleep 1000 > /dev/null"
    );
    let mut shell =
        Command::new("/bin/bash").args(["-c", &line]).current_dir(&bench.cwd).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = shell.stdout.take().unwrap();
    let mut start = String::new();
    let mut byte = [0];
    while !(start.contains("ready ") && start.ends_with('\n')) || start.lines().count() < 2 {
        output.read_exact(&mut byte).unwrap();
        start.push(char::from(byte[0]));
    }
    let holder = start.lines().find(|line| !line.starts_with("ready")).unwrap().trim().to_owned();
    let pids = escaped(&start);
    assert!(pids.iter().all(|pid| alive(pid)));
    let holder = rustix::process::Pid::from_raw(holder.parse().unwrap()).unwrap();
    rustix::process::kill_process(holder, rustix::process::Signal::KILL).unwrap();
    // Only the parent still has this pipe: its end is the parent's end.
    read_all(output);
    for pid in pids {
        assert!(!alive(&pid), "{pid} lives");
    }
    let report = std::fs::read_to_string(bench.cwd.join("report")).unwrap();
    assert_eq!(RunReport::parse(&report).unwrap().ended, Ended::Asked);
    shell.kill().unwrap();
    shell.wait().unwrap();
}

#[test]
fn what_is_left_running_is_ended_with_the_command() {
    let bench = Bench::new();
    let outcome = bench.run("sleep 1000 & echo ready $! $!");
    assert!(outcome.text.contains("(Left running and ended with it: 1 process.)\nexit 0"), "{}", outcome.text);
    assert!(!outcome.failed);
    assert!(!alive(&escaped(&outcome.text)[0]));
    // What ends by itself soon after still has its say.
    let outcome = bench.run("echo late > >(cat; echo written > file); exit 0");
    assert_eq!(outcome.text, "late\nexit 0");
    assert_eq!(std::fs::read_to_string(bench.cwd.join("file")).unwrap(), "written\n");
}

#[test]
fn a_flood_of_output_is_ended() {
    let (output, report) = finished(parent("exec yes", Duration::from_secs(600), 100_000));
    assert_eq!((report.ended, output.len()), (Ended::Output, 100_000));
    let (output, report) = finished(parent("head -c 99999 /dev/zero", Duration::from_secs(600), 100_000));
    assert_eq!((report.ended, output.len()), (Ended::Itself, 99_999));
}

#[test]
fn long_output_goes_to_a_file_and_its_ends_to_the_model() {
    let bench = Bench::new();
    let outcome = bench.run("seq 1 300000");
    assert!(outcome.text.contains("\n1\n2\n") && outcome.text.ends_with("300000\nexit 0"));
    assert!(outcome.text.len() < 30_000);
    let full = std::fs::read_to_string(outcome.figures.full_result.unwrap()).unwrap();
    assert_eq!(full.lines().filter(|line| line.parse::<u32>().is_ok()).count(), 300_000);
}

#[test]
fn a_killed_parent_is_told_and_takes_its_session_along() {
    let bench = Bench::new();
    let started = Instant::now();
    let outcome = bench.run("echo $$ > pid; kill -9 $PPID; sleep 1000");
    assert!(outcome.failed && outcome.text.contains("ended before it"), "{}", outcome.text);
    assert!(!alive(std::fs::read_to_string(bench.cwd.join("pid")).unwrap().trim()));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_script_that_ends_its_group_does_not_end_its_parent() {
    let outcome = Bench::new().run("trap '' TERM; echo before; kill 0; echo after");
    assert_eq!(outcome.text, "before\nafter\nexit 0");
    assert_eq!(Bench::new().run("kill 0").figures.exit, Some(143));
}

#[test]
fn wrong_arguments_are_told() {
    for args in
        [&["__run"][..], &["__run", "--what"], &["__run", "--timeout-ms", "1", "--output-limit", "1", "--", "/no/such"]]
    {
        let done = Command::new(LISLE).args(args).stdin(Stdio::piped()).output().unwrap();
        let report = RunReport::parse(&String::from_utf8_lossy(&done.stderr)).unwrap();
        assert_eq!((report.ended, done.status.code()), (Ended::NotStarted, Some(127)));
        assert!(report.error.is_some());
    }
}

/// A bench whose commands run in this sandbox; `None` where the system cannot hold commands.
fn held(sandbox: Sandbox) -> Option<Bench> {
    let mut bench = Bench::new();
    bench.sandbox = sandbox;
    lisle::sandbox::is_enforced().then_some(bench)
}

#[test]
fn a_refusal_of_the_sandbox_is_told_with_the_way_out() {
    for (sandbox, command, name) in [
        (Sandbox::Workspace, "echo x > /etc/lisle-test", "workspace sandbox"),
        (Sandbox::Workspace, "touch /usr/lisle-test; exit 7", "workspace sandbox"),
        (Sandbox::ReadOnly, "echo x > file", "read-only sandbox"),
    ] {
        let Some(bench) = held(sandbox) else { return };
        let outcome = bench.run(command);
        assert!(outcome.failed && outcome.text.contains(name), "{}", outcome.text);
        assert!(outcome.text.contains("`outside: true`") && !bench.cwd.join("file").exists(), "{}", outcome.text);
    }
    let bench = held(Sandbox::Workspace).unwrap();
    for command in ["echo x > file && cat file", "false", "ls /no/such"] {
        let outcome = bench.run(command);
        assert!(!outcome.text.contains("sandbox"), "{}", outcome.text);
    }
    assert_eq!(std::fs::read_to_string(bench.cwd.join("file")).unwrap(), "x\n");
}

#[test]
fn what_came_to_configure_or_run_code_is_told() {
    let Some(bench) = held(Sandbox::Workspace) else { return };
    let quiet = bench.run("mkdir src && echo x > src/a");
    assert!(!quiet.text.contains("configures or runs code"), "{}", quiet.text);
    let told = bench.run("mkdir -p .github/workflows && echo x > .github/workflows/ci.yml && echo y > .envrc");
    assert!(!told.failed, "{}", told.text);
    for line in ["configures or runs code", "- .envrc was created", "- .github/workflows/ci.yml was created"] {
        assert!(told.text.contains(line), "{}", told.text);
    }
    assert!(told.text.contains(r#"`access` {"write":[".envrc",".github/workflows/ci.yml"]}"#), "{}", told.text);
    // It takes no effect, and is not lost.
    assert!(!bench.cwd.join(".envrc").exists() && !bench.cwd.join(".github").exists());
    let kept = bench.place.session_dir.join("protected/1-.envrc");
    assert!(told.text.contains(&format!(".envrc was created: moved to {}", kept.display())), "{}", told.text);
    assert_eq!((std::fs::read_to_string(kept).unwrap().as_str(), told.figures.protected.len()), ("y\n", 2));
    // Where it is there already it is read-only, or comes back.
    std::fs::write(bench.cwd.join(".envrc"), "mine\n").unwrap();
    let again = bench.run("echo z > .envrc");
    if again.failed {
        assert!(again.text.contains("- read-only: .envrc"), "{}", again.text);
    } else {
        assert!(again.text.contains(".envrc was changed: restored"), "{}", again.text);
    }
    assert_eq!(std::fs::read_to_string(bench.cwd.join(".envrc")).unwrap(), "mine\n");
}

#[test]
fn a_command_that_is_stopped_or_left_alone_leaves_nothing_that_runs_code_either() {
    let Some(bench) = held(Sandbox::Workspace) else { return };
    let outcome = bench.call(json!({"command": "echo x > .envrc; sleep 1000", "timeout_s": 1}), |_| {}).unwrap();
    assert!(outcome.text.contains(".envrc was created") && !bench.cwd.join(".envrc").exists(), "{}", outcome.text);
    let stopped = bench.call(json!({"command": "echo x > .envrc; echo ready; sleep 1000"}), |_| bench.stop.cancel());
    let Err(RunError::Stopped(StoppedRun { text, protected })) = stopped else { panic!("{stopped:?}") };
    assert!(text.contains(".envrc was created") && !bench.cwd.join(".envrc").exists(), "{text}");
    assert_eq!(protected.len(), 1, "the user is told: {protected:?}");
}

/// git with a name and a mail address; `None` where there is none.
fn git(bench: &Bench, words: &[&str]) -> Option<()> {
    let mut command = Command::new("git");
    command.current_dir(&bench.cwd).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]).args(words);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = command.output().ok()?;
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    Some(())
}

#[test]
fn git_does_its_daily_work_without_alarm() {
    let Some(bench) = held(Sandbox::Workspace) else { return };
    if git(&bench, &["init", "--quiet", "-b", "main"]).is_none() {
        return;
    }
    std::fs::write(bench.cwd.join(".envrc"), "use flake\n").unwrap();
    std::fs::write(bench.cwd.join("a"), "one\n").unwrap();
    git(&bench, &["add", "-A"]);
    git(&bench, &["commit", "--quiet", "-m", "one"]);
    git(&bench, &["remote", "add", "origin", "."]);
    git(&bench, &["fetch", "--quiet", "origin"]);
    git(&bench, &["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    for line in [
        "git init --quiet sub/new && git -C sub/new config user.name Ada",
        "git clone --quiet . sub/clone",
        "git worktree add --quiet -b side sub/tree",
        "git switch --quiet topic",
        "git branch -m topic other",
        "git remote add more https://example.invalid/x",
    ] {
        let outcome = bench.run(line);
        assert!(!outcome.failed, "{line}: {}", outcome.text);
        assert!(!outcome.text.contains("without having asked"), "{line}: {}", outcome.text);
        let alarmed: Vec<&String> = outcome
            .figures
            .protected
            .iter()
            .filter(|line| line.contains("moved to") || line.contains("as before"))
            .collect();
        assert_eq!(alarmed, Vec::<&String>::new(), "{line}");
    }
    let config = std::fs::read_to_string(bench.cwd.join(".git/config")).unwrap();
    assert!(config.contains("[branch \"other\"]") && config.contains("[remote \"more\"]"), "{config}");
    assert!(bench.cwd.join("sub/clone/.envrc").exists() && bench.cwd.join("sub/tree/.envrc").exists());
    // What runs something is taken back all the same.
    let outcome = bench.run("git init --quiet lure && git -C lure config core.fsmonitor ./x && mkdir -p lure/.git/hooks && echo x > lure/.git/hooks/pre-commit");
    assert_eq!(outcome.figures.protected.len(), 2, "{}", outcome.text);
    assert!(!bench.cwd.join("lure/.git/hooks/pre-commit").exists() && !bench.cwd.join("lure/.git/config").exists());
}

#[test]
fn to_run_outside_is_a_fact_of_the_call() {
    let bench = Bench::new();
    let bash = Registry::standard().find("bash").unwrap();
    let facts = |input: Value| bash.inspect(&input, &bench.place, &Seen::default());
    let outside = |input| facts(input).unwrap().touches.contains(&lisle::domain::tool::Touch::Outside);
    assert!(outside(json!({"command": "make", "outside": true})));
    assert!(!outside(json!({"command": "make", "outside": false})) && !outside(json!({"command": "make"})));
    assert!(facts(json!({"command": "make", "outside": "yes"})).is_err());
}

#[test]
fn a_limit_of_memory_holds_each_process() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let mut bench = Bench::new();
    bench.place.allowances =
        Arc::new(lisle::sandbox::Allowances { memory: Some(128 << 20), ..lisle::sandbox::Allowances::default() });
    assert!(!bench.run("head -c 1000 /dev/zero | tail -c 10 | wc -c").failed);
    let outcome = bench.run("head -c 400000000 /dev/zero | tail -c 400000000 | wc -c");
    assert!(!outcome.text.starts_with("400000000"), "{}", outcome.text);
}
