//! `transform_data`: a script that reads files it is given and writes one file to the session's `data/`, and can do nothing
//! else: it always runs in the read-only profile, without a network, in `data/` as its directory.

use super::command::output_buffer::KeptOutput;
use super::command::process::{self, CommandRun, Taker, blocking};
use super::files::{classify, paths, reach, text};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, files, same_facts, settled};
use crate::domain::hex::hex;
use crate::domain::tool::{CallFacts, Outcome, Proposal, ToolSpec, Touch};
use crate::sandbox::own_folders;
use crate::sandbox::runner::environment;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Seconds that a script may take when none are given, and at the most.
const TIMEOUT: u64 = 30;
const MOST_TIMEOUT: u64 = 300;
/// Bytes that a script may print.
const OUTPUT_LIMIT: u64 = 4_000_000;
/// Characters of a script.
const LONGEST: usize = 200_000;
/// Files that it is given.
const MOST_INPUTS: usize = 50;
/// Lines and characters of the result that are shown.
const HEAD_LINES: usize = 20;
const HEAD_CHARS: usize = 2_000;

/// The languages, each with the names of its interpreter and the ending of its scripts.
const LANGUAGES: &[(&str, &[&str], &str)] =
    &[("python3", &["python3"], "py"), ("node", &["node", "nodejs"], "js"), ("bash", &["bash"], "sh")];

/// The tool.
pub struct TransformData;

impl Tool for TransformData {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "transform_data".to_owned(),
            description: "Runs a script that turns files into one file: filters, joins, counts, converts. It gets the paths \
                of the inputs as its arguments, and as the last one the path that it must write the result to, which lies \
                in the session's `data/`. It can read, and write nothing but `data/`; there is no network, and it is ended \
                after `timeout_s` seconds (30 unless given). Use it for data that is too long to be read, such as a result \
                in `long_responses/` or a large CSV file. Works in every permission mode. What comes back: the result's path, \
                size and beginning, and what the script printed."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "language": {"type": "string", "enum": ["python3", "node", "bash"], "description": "What the script is written in."},
                    "script": {"type": "string", "description": "The script. Its arguments are the inputs and, last, the output: in Python sys.argv[1:-1] and sys.argv[-1]."},
                    "inputs": {"type": "array", "items": {"type": "string"}, "description": "The files to read; may be left out."},
                    "output": {"type": "string", "description": "The name of the result in `data/`, such as `counts.csv`."},
                    "timeout_s": {"type": "integer", "minimum": 1, "maximum": MOST_TIMEOUT, "description": "Seconds after which it is ended; 30 when left out."}
                },
                "required": ["language", "script", "output"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "output")
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        Ok(wanted(input, place)?.facts(place))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { settled(work(&input, with).await) })
    }
}

/// A call, with its paths followed.
struct TransformCall {
    language: &'static str,
    ending: &'static str,
    interpreter: PathBuf,
    script: String,
    inputs: Vec<PathBuf>,
    data: PathBuf,
    output: PathBuf,
    timeout: Duration,
}

fn wanted(input: &Value, place: &CallPlace) -> Result<TransformCall, String> {
    let fields = InputFields::of("transform_data", input)?;
    let language = fields.text("language")?;
    let known = LANGUAGES.iter().find(|(name, ..)| *name == language);
    let Some((language, programs, ending)) = known.copied() else {
        let language = input::one_line(language, 40);
        return Err(format!("`language` must be python3, node or bash, but it is \"{language}\"."));
    };
    let interpreter = find(programs, place).ok_or_else(|| {
        let there: Vec<&str> = LANGUAGES
            .iter()
            .filter(|(_, programs, _)| find(programs, place).is_some())
            .map(|(name, ..)| *name)
            .collect();
        format!("{language} is not installed here. Installed is: {}.", there.join(", "))
    })?;
    let script = fields.text("script")?;
    if script.trim().is_empty() {
        return Err("`script` is empty.".to_owned());
    }
    if script.len() > LONGEST {
        return Err(format!("`script` is {} bytes long; at most {LONGEST} are taken.", script.len()));
    }
    let mut inputs = Vec::new();
    for one in fields.list_if_any("inputs")?.unwrap_or_default() {
        let Some(path) = one.as_str() else {
            return Err("`inputs` of transform_data must be a list of paths.".to_owned());
        };
        let path = paths::resolve(path, place)?;
        if let Some(why) = reach::fault(&path, "transform_data", place) {
            return Err(why);
        }
        // What is no file would hold the script up, or is nothing that it could read.
        files::open(&path).map_err(|error| super::write::explain(error, &path, place))?;
        inputs.push(path);
    }
    if inputs.len() > MOST_INPUTS {
        return Err(format!("`inputs` holds {} files; at most {MOST_INPUTS} are taken.", inputs.len()));
    }
    if let Some(why) = own_folders::fault(&place.session_dir) {
        return Err(format!("`data/` can't be used: {why}."));
    }
    let data = paths::follow(&place.session_dir)?.join("data");
    let output = output(fields.text("output")?, &data)?;
    let seconds = fields.number("timeout_s", 1..=MOST_TIMEOUT)?.unwrap_or(TIMEOUT);
    let (script, timeout) = (script.to_owned(), Duration::from_secs(seconds));
    Ok(TransformCall { language, ending, interpreter, script, inputs, data, output, timeout })
}

/// Path of the result: a name below `data/`, through no link.
fn output(name: &str, data: &Path) -> Result<PathBuf, String> {
    let name = name.trim().strip_prefix("data/").unwrap_or(name.trim());
    let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || name.contains('\0') || name.ends_with('/') || !inside {
        return Err("`output` must be the name of a file in `data/`, such as `counts.csv`.".to_owned());
    }
    let path = data.join(name);
    let real = paths::follow(&path).map_err(|why| format!("Can't resolve {name}: {why}."))?;
    if real != path || real.is_dir() {
        return Err(format!("{name} is a link or a directory in `data/`. Choose another name."));
    }
    Ok(path)
}

/// The first of these programs on the search path that commands get, with every link followed.
fn find(programs: &[&str], place: &CallPlace) -> Option<PathBuf> {
    let path = environment::cleaned(std::env::vars_os(), &place.cwd);
    let path = path.into_iter().find(|(name, _)| name == OsStr::new("PATH")).map(|(_, value)| value)?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let is_program = |path: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    programs.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(is_program))
}

impl TransformCall {
    fn facts(&self, place: &CallPlace) -> CallFacts {
        let hash = hex(&files::hash(self.script.as_bytes()));
        let interpreter = paths::follow(&self.interpreter).unwrap_or_else(|_| self.interpreter.clone());
        let mut touches = vec![Touch::Script { interpreter, script: hash }];
        touches.extend(self.inputs.iter().map(|path| classify::reading(path.clone(), place)));
        touches.push(Touch::Write { path: self.output.clone(), place: classify::classify(&self.output, place) });
        let files = self.inputs.iter().chain([&self.output]).cloned().collect();
        CallFacts {
            tool: "transform_data".to_owned(),
            subject: input::one_line(&paths::shown(&self.output, place), 300),
            touches,
            proposal: Proposal::Script { language: self.language.to_owned(), script: self.script.clone(), files },
            secrets_here: classify::secrets_here(place, &[]),
            left_out: Vec::new(),
        }
    }
}

/// The script's file, removed with this.
struct Script(PathBuf);

impl Drop for Script {
    fn drop(&mut self) {
        // What cannot be removed stays in the session's own folder.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn prepare(wanted: &TransformCall) -> Result<Script, String> {
    use std::os::unix::fs::DirBuilderExt;
    let folder = wanted.output.parent().unwrap_or(&wanted.data);
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("Can't create {}: {error}.", folder.display()))?;
    if paths::follow(folder).as_deref() != Ok(folder) {
        return Err(format!("{} is a link. Nothing was run.", folder.display()));
    }
    // An old result is not to be taken for this one's.
    match std::fs::remove_file(&wanted.output) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{} is in the way: {error}.", wanted.output.display()));
        }
        _ => {}
    }
    let path = wanted.data.join(format!(".script-{:016x}.{}", fastrand::u64(..), wanted.ending));
    let made = files::create_private(&path, wanted.script.as_bytes());
    made.map_err(|error| format!("Can't write the script: {error}."))?;
    Ok(Script(path))
}

struct Printed<'a>(KeptOutput, &'a tokio::sync::mpsc::Sender<String>, u64);

impl Taker for Printed<'_> {
    async fn take(&mut self, bytes: &[u8]) {
        self.0.add(bytes);
    }

    fn tick(&mut self) {
        if std::mem::replace(&mut self.2, self.0.total()) != self.0.total() {
            // A screen that is behind gets the next one.
            let _ = self.1.try_send(self.0.last_lines());
        }
    }
}

async fn work(input: &Value, with: RunContext) -> Result<Outcome, Halt> {
    let (input, place) = (input.clone(), with.place.clone());
    let (wanted, now) = blocking(move || {
        let wanted = wanted(&input, &place)?;
        let now = wanted.facts(&place);
        Ok::<_, String>((wanted, now))
    })
    .await??;
    if !same_facts(&now, &with.facts) {
        return Err(RunError::FactsChanged(Box::new(now)).into());
    }
    with.before_changing()?;
    let (script, wanted) = blocking(move || prepare(&wanted).map(|script| (script, wanted))).await??;
    let mut command: Vec<OsString> = vec![wanted.interpreter.clone().into()];
    if wanted.language == "bash" {
        command.extend(["--noprofile".into(), "--norc".into()]);
    }
    command.push(script.0.clone().into());
    command.extend(wanted.inputs.iter().chain([&wanted.output]).map(|path| path.clone().into()));
    let line = CommandRun {
        command,
        cwd: wanted.data.clone(),
        timeout: wanted.timeout,
        output_limit: OUTPUT_LIMIT,
        told: super::command::confinement::NamedPlaces::default(),
    };
    let running = process::start(&with.place, with.sandbox, line, &with.host, (&with.call, &with.stop)).await?;
    let mut printed = Printed(KeptOutput::default(), &with.progress, 0);
    let over = running.see_it_through(&mut printed, &with.stop).await;
    drop(script);
    let printed = printed.0.text();
    if over.stopped {
        return Err(over.when_stopped(printed).await?.into());
    }
    let well = over.is_well();
    let mut outcome = over.outcome(printed).await?;
    let path = wanted.output.clone();
    let (result, is_there) = blocking(move || told(&path)).await?;
    outcome.text = format!("{result}\n\nIt printed:\n{}", outcome.text);
    outcome.failed = !well || !is_there;
    Ok(outcome)
}

/// Description of the result and its beginning; and whether there is one.
fn told(path: &Path) -> (String, bool) {
    let shown = path.display();
    let meta = match files::look(path) {
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return (format!("{shown} is no file: the script made something else there."), false),
        Err(_) => {
            return (format!("The script wrote no {shown}. Its last argument is the path to write to."), false);
        }
    };
    let size = text::size(meta.len());
    let start = files::open(path).ok().and_then(|file| {
        use std::io::Read;
        let mut start = Vec::new();
        file.take(64 * 1024).read_to_end(&mut start).ok().map(|_| start)
    });
    let start = start.unwrap_or_default();
    if text::is_data(&start) {
        return (format!("Wrote {shown}: {size}, {}.", text::kind(&start)), true);
    }
    let start = String::from_utf8_lossy(&start);
    let head: String = start.lines().take(HEAD_LINES).collect::<Vec<_>>().join("\n").chars().take(HEAD_CHARS).collect();
    let begins = if head.is_empty() { "It is empty.".to_owned() } else { format!("It begins:\n{head}") };
    (format!("Wrote {shown}: {size}. {begins}"), true)
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::domain::tool;
    use std::os::unix::fs::symlink;

    fn call(output: &str) -> Value {
        json!({"language": "bash", "script": "cat \"$1\" > \"$2\"", "inputs": ["a.csv"], "output": output})
    }

    #[test]
    fn the_facts_are_the_script_what_it_reads_and_what_it_writes() {
        let bench = Bench::new();
        bench.write("a.csv", "1\n");
        bench.write(".env", "X=1");
        let facts = bench.inspect("transform_data", &call("out.csv")).unwrap();
        let hash = hex(&files::hash(b"cat \"$1\" > \"$2\""));
        assert!(matches!(&facts.touches[0], Touch::Script { script, .. } if *script == hash));
        let output = bench.place.session_dir.join("data/out.csv");
        assert_eq!(
            facts.touches[1..],
            [
                Touch::Read { path: bench.path("a.csv"), secret: false },
                Touch::Write { path: output, place: tool::PathPlace::SessionFolder }
            ]
        );
        let secret = json!({"language": "bash", "script": "x", "inputs": [".env"], "output": "o"});
        let facts = bench.inspect("transform_data", &secret).unwrap();
        assert!(facts.touches.contains(&Touch::Read { path: bench.path(".env"), secret: true }));
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        bench.write("a.csv", "1\n");
        let data = bench.place.session_dir.join("data");
        std::fs::create_dir_all(&data).unwrap();
        symlink("/etc", data.join("out")).unwrap();
        let of = |language: &str, script: &str, inputs: Value, output: &str| json!({"language": language, "script": script, "inputs": inputs, "output": output});
        for (input, says) in [
            (json!({}), "needs the field `language`"),
            (of("perl", "x", json!([]), "o"), "must be python3, node or bash, but it is \"perl\""),
            (of("bash", " ", json!([]), "o"), "`script` is empty"),
            (of("bash", "x", json!(["none"]), "o"), "does not exist"),
            (of("bash", "x", json!([1]), "o"), "must be a list of paths"),
            (of("bash", "x", json!(["/dev/zero"]), "o"), "does not open devices"),
            (of("bash", "x", json!([]), "../o"), "the name of a file in `data/`"),
            (of("bash", "x", json!([]), "/etc/o"), "the name of a file in `data/`"),
            (of("bash", "x", json!([]), ""), "the name of a file in `data/`"),
            (of("bash", "x", json!([]), "out/passwd"), "is a link or a directory"),
        ] {
            let error = bench.error("transform_data", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
