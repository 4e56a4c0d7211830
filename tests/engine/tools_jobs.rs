//! Commands in the background through the real program, and scripts that work on data: what they write, how they end, and
//! what holds them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends where its program cannot go on")]

use lisle::domain::ids::CallId;
use lisle::domain::job::{EndedBy, JobShown};
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::Outcome;
use lisle::tools::command::jobs::{Jobs, MOST_RUNNING};
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use lisle::tools::{CallPlace, RunContext, RunError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");

struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
    place: CallPlace,
    sandbox: Sandbox,
    stop: CancellationToken,
    jobs: Arc<Jobs>,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        let place = CallPlace {
            cwd: root.join("work"),
            folder: None,
            session_dir: root.join("session"),
            own_dirs: vec![],
            runner: LISLE.into(),
            allowances: Arc::default(),
            known: Arc::default(),
            window: 200_000,
        };
        let (stop, jobs) = (CancellationToken::new(), Arc::default());
        Self { _dir: dir, root, place, sandbox: Sandbox::None, stop, jobs }
    }

    async fn run(&self, tool: &str, input: Value) -> Result<Outcome, RunError> {
        let tool = Registry::standard().find(tool).unwrap();
        let seen = Arc::new(Seen::default());
        let facts = tool.inspect(&input, &self.place, &seen).unwrap();
        let (progress, _messages) = tokio::sync::mpsc::channel(8);
        let with = RunContext {
            sandbox: self.sandbox,
            place: self.place.clone(),
            facts,
            seen,
            stop: self.stop.clone(),
            call: CallId::new("call-1"),
            progress,
            jobs: Arc::clone(&self.jobs),
            host: Arc::new(lisle::tools::host::Alone),
        };
        tool.run(input, with).await
    }

    async fn ok(&self, tool: &str, input: Value) -> String {
        let outcome = self.run(tool, input).await.unwrap();
        assert!(!outcome.failed, "{}", outcome.text);
        outcome.text
    }

    /// Starts a job: its name.
    async fn start(&self, command: &str) -> String {
        let outcome = self.run("bash", json!({"command": command, "background": true})).await.unwrap();
        assert!(!outcome.failed, "{}", outcome.text);
        outcome.figures.job.unwrap()
    }

    async fn output(&self, input: Value) -> String {
        self.ok("job_output", input).await
    }

    fn shown(&self, id: &str) -> JobShown {
        self.jobs.list().into_iter().find(|job| job.id == id).unwrap()
    }
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[tokio::test]
async fn a_job_goes_on_is_read_and_ends() {
    let bench = Bench::new();
    let pipe = bench.root.join("work/go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let job = bench.start("echo one; read -r _ < go; echo two; exit 3").await;
    let text = bench.output(json!({"job": job, "until": "one", "wait_s": 20})).await;
    assert!(text.starts_with("one\n") && text.contains("goes on"), "{text}");
    assert!(bench.shown(&job).runs());
    std::fs::write(pipe, "x\n").unwrap();
    let text = bench.output(json!({"job": job, "wait_s": 20})).await;
    assert!(text.contains("two\n") && text.contains("ended after") && text.ends_with("exit 3"), "{text}");
    let again = bench.output(json!({"job": job})).await;
    assert!(again.starts_with("(nothing new)"), "{again}");
    let tail = bench.output(json!({"job": job, "tail": 1})).await;
    assert!(tail.contains("two\n") && !tail.contains("one\n"), "{tail}");
    let end = bench.shown(&job).end.unwrap();
    assert_eq!((end.words.as_str(), end.failed, end.by), ("exit 3", true, EndedBy::Itself));
    let files: Vec<_> = std::fs::read_dir(bench.place.session_dir.join("long_responses")).unwrap().flatten().collect();
    assert!(files.iter().any(|file| std::fs::read_to_string(file.path()).unwrap() == "one\ntwo\n"), "{files:?}");
}

#[tokio::test]
async fn a_stopped_turn_leaves_a_job_and_a_kill_ends_all_it_started() {
    let bench = Bench::new();
    let job = bench.start("trap '' TERM; setsid sleep 600 & echo $!; echo ready; wait; sleep 600").await;
    let text = bench.output(json!({"job": job, "until": "ready", "wait_s": 20})).await;
    let pid = text.lines().next().unwrap().to_owned();
    bench.stop.cancel();
    assert!(bench.shown(&job).runs() && is_alive(&pid));
    let bench = Bench { stop: CancellationToken::new(), ..bench };
    let text = bench.ok("job_kill", json!({"job": job})).await;
    assert!(text.contains("ended after") && text.contains("Ended on request"), "{text}");
    assert!(!is_alive(&pid));
    assert_eq!(bench.shown(&job).end.unwrap().words, "ended by the agent");
}

#[tokio::test]
async fn all_end_with_the_session_and_there_are_not_too_many() {
    let bench = Bench::new();
    for _ in 0..MOST_RUNNING {
        bench.start("sleep 600").await;
    }
    let outcome = bench.run("bash", json!({"command": "sleep 600", "background": true})).await.unwrap();
    assert!(outcome.failed && outcome.text.contains("run already, which is the most"), "{}", outcome.text);
    bench.jobs.end_all().await;
    assert!(!bench.jobs.any_running());
    assert!(bench.jobs.list().iter().all(|job| job.end.as_ref().is_some_and(|end| end.by == EndedBy::Close)));
}

#[tokio::test]
async fn a_wait_ends_with_the_turn() {
    let bench = Bench::new();
    let job = bench.start("sleep 600").await;
    let stop = bench.stop.clone();
    let (waited, ()) = tokio::join!(bench.run("job_output", json!({"job": job, "wait_s": 600})), async move {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert_eq!(waited, Err(RunError::stopped("")));
    bench.jobs.end_all().await;
}

#[tokio::test]
async fn output_that_is_no_text_goes_to_a_file() {
    let bench = Bench::new();
    let text = bench.ok("bash", json!({"command": "printf '\\x89PNG\\r\\n\\x1a\\n'; head -c 100000 /dev/zero"})).await;
    assert!(text.contains("The output is no text. It is a PNG image of 100.0 KB, kept in "), "{text}");
    assert!(text.ends_with("exit 0"));
    let files: Vec<_> = std::fs::read_dir(bench.place.session_dir.join("downloads")).unwrap().flatten().collect();
    assert_eq!((files.len(), files[0].metadata().unwrap().len()), (1, 100_008));
    assert_eq!(files[0].path().extension().unwrap(), "png");
}

#[tokio::test]
async fn a_script_turns_files_into_one_and_can_do_nothing_else() {
    let mut bench = Bench::new();
    std::fs::write(bench.root.join("work/a.csv"), "1\n2\n3\n").unwrap();
    if lisle::sandbox::is_enforced() {
        bench.sandbox = Sandbox::ReadOnly;
    }
    let call = |language: &str, script: &str| json!({"language": language, "script": script, "inputs": ["a.csv"], "output": "sum.txt"});
    let bash = "s=0; while read -r n; do s=$((s+n)); done < \"$1\"; echo $s > \"$2\"; echo done";
    let python =
        "import sys\nopen(sys.argv[-1], 'w').write(str(sum(map(int, open(sys.argv[1])))) + '\\n')\nprint('done')";
    let node = "const fs = require('fs'); const [i, o] = process.argv.slice(2); \
        fs.writeFileSync(o, fs.readFileSync(i, 'utf8').split('\\n').map(Number).reduce((a, b) => a + b) + '\\n'); \
        console.log('done')";
    for (language, script) in [("bash", bash), ("python3", python), ("node", node)] {
        let tool = Registry::standard().find("transform_data").unwrap();
        if tool
            .inspect(&call(language, script), &bench.place, &Seen::default())
            .is_err_and(|e| e.contains("not installed"))
        {
            continue;
        }
        let text = bench.ok("transform_data", call(language, script)).await;
        assert!(
            text.contains("sum.txt: 2 bytes. It begins:\n6\n") && text.contains("done\nexit 0"),
            "{language}: {text}"
        );
    }
    let left: Vec<_> = std::fs::read_dir(bench.place.session_dir.join("data")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "the scripts are gone: {left:?}");
    // A script that writes nothing leaves no old result to be taken for its own.
    let outcome = bench.run("transform_data", call("bash", "exit 0")).await.unwrap();
    assert!(outcome.failed && outcome.text.contains("The script wrote no "), "{}", outcome.text);
    let outcome = bench.run("transform_data", call("bash", "echo x > \"$2\"; exit 4")).await.unwrap();
    assert!(outcome.failed && outcome.text.ends_with("exit 4"), "{}", outcome.text);
    if bench.sandbox == Sandbox::ReadOnly {
        let work = bench.root.join("work");
        let evil = format!("echo x > '{0}/made'; rm -f '{0}/a.csv'; : > \"$2\"", work.display());
        let outcome = bench.run("transform_data", call("bash", &evil)).await.unwrap();
        assert!(outcome.text.contains("ermission denied") || outcome.text.contains("ead-only"), "{}", outcome.text);
        assert!(!work.join("made").exists() && work.join("a.csv").exists());
    }
}

#[tokio::test]
async fn a_script_that_never_ends_is_ended() {
    let bench = Bench::new();
    let input = json!({"language": "bash", "script": "sleep 600", "output": "o", "timeout_s": 1});
    let outcome =
        tokio::time::timeout(Duration::from_secs(30), bench.run("transform_data", input)).await.unwrap().unwrap();
    assert!(outcome.failed && outcome.text.contains("took longer than 1 s"), "{}", outcome.text);
}
