//! Steps of a script: text, failures and calls, one method each.

use super::{Beat, Flow, RehearsedTurn};
use crate::provider::rehearsal::failures::failure;
use crate::provider::rehearsal::prose;
use crate::provider::rehearsal::script::{FailKind, ScriptStep};
use crate::provider::rehearsal::words::{
    count, last_line, lines, lines_said, literal, matches, output_and_exit, refused, shorten,
};
use crate::provider::{CallResult, ProposedCall};
use serde_json::{Value, json};

impl RehearsedTurn<'_> {
    pub(super) fn step(&mut self, step: &ScriptStep) -> Flow {
        match step {
            ScriptStep::Think { text } => self.think(text),
            ScriptStep::Stream { words } => self.stream(*words),
            ScriptStep::Fail { kind, times } => self.fail(*kind, *times),
            ScriptStep::Plan { text } => self.plan(text),
            ScriptStep::List { path } => self.list(path),
            ScriptStep::Read { path } => self.read(path),
            ScriptStep::Find { text, path } => self.find(text, path.as_deref()),
            ScriptStep::Run { command } => self.run(command),
            ScriptStep::Write { path, content } => self.write(path, content),
            ScriptStep::Replace { old, new, path } => self.replace(old, new, path),
            ScriptStep::Delegate { tasks, background } => self.delegate(tasks, *background),
            ScriptStep::Fetch { url } => self.fetch(url),
            ScriptStep::Ask { question, options } => self.ask(question, options),
        }
    }

    fn think(&mut self, text: &str) -> Flow {
        if self.all_used() {
            let topic = if text.is_empty() { "this" } else { text };
            self.beats.push(Beat::Thinking(format!(
                "I am to think about {topic}. As a demo I follow rules: I look at what was asked, at what \
                 was done so far ({} results), and at what comes next. ",
                self.deeds.len()
            )));
            self.beats.push(Beat::Thinking(format!("So far nothing speaks against {topic}.")));
        }
        self.note(&format!("Thought about {}.", if text.is_empty() { "it" } else { text }));
        Flow::On
    }

    fn stream(&mut self, words: usize) -> Flow {
        if self.all_used() {
            let pieces = prose::pieces(words, self.seed);
            self.beats.extend(pieces.into_iter().map(Beat::Quick));
            self.say("\n");
        }
        self.note(&format!("Wrote {}.", count(words, "word")));
        Flow::On
    }

    fn fail(&mut self, kind: FailKind, times: Option<u32>) -> Flow {
        if self.all_used() {
            if kind == FailKind::Break {
                self.say("This text breaks off in the mid");
            }
            self.beats.push(Beat::Fail { error: failure(kind), times });
            if times.is_none() {
                return Flow::End;
            }
        }
        self.note("Failed as asked, and was tried again.");
        Flow::On
    }

    fn list(&mut self, path: &str) -> Flow {
        let place = folder(path);
        let ways = [format!("Listing {place}."), format!("Looking at {place}."), format!("Let me list {place}.")];
        self.tool("list", json!({"path": path}), ways, |result| {
            format!("Listed {place}: {}.", count(lines_said(result), "entry"))
        })
    }

    fn find(&mut self, text: &str, path: Option<&str>) -> Flow {
        let place = path.unwrap_or(".");
        let shown = folder(place);
        let ways = [
            format!("Searching for `{text}` in {shown}."),
            format!("Searching {shown} for `{text}`."),
            format!("Let me search {shown} for `{text}`."),
        ];
        let input = json!({"pattern": literal(text), "path": place});
        self.tool("grep", input, ways, |result| match matches(result) {
            0 => format!("Searched {shown} for `{text}`: no matches."),
            found => format!("Searched {shown} for `{text}`: {}.", count(found, "matching line")),
        })
    }

    fn run(&mut self, command: &str) -> Flow {
        let ways = [format!("Running `{command}`."), format!("Let me run `{command}`."), format!("Next: `{command}`.")];
        self.tool("bash", json!({"command": command}), ways, |result| {
            let (output, exit) = output_and_exit(result);
            let exit = exit.map_or_else(String::new, |exit| format!(" ({exit})"));
            match last_line(output) {
                Some(line) => format!(
                    "Ran `{command}`: {}{exit}, ending with `{}`.",
                    count(lines(output), "line"),
                    shorten(line, 60)
                ),
                None => format!("Ran `{command}`: no output{exit}."),
            }
        })
    }

    fn replace(&mut self, old: &str, new: &str, path: &str) -> Flow {
        // The file must have been read before it may be changed.
        if matches!(self.read(path), Flow::End) {
            return Flow::End;
        }
        let edit = if self.edits_in_a_list() {
            json!({"path": path, "edits": [{"old": old, "new": new}]})
        } else {
            json!({"path": path, "old": old, "new": new})
        };
        let ways = [
            format!("Replacing `{}` in `{path}`.", shorten(old, 40)),
            format!("Changing `{}` in `{path}`.", shorten(old, 40)),
            format!("Now I can change `{path}`."),
        ];
        self.tool("edit", edit, ways, |_| {
            format!("Replaced `{}` with `{}` in `{path}`.", shorten(old, 40), shorten(new, 40))
        })
    }

    fn fetch(&mut self, url: &str) -> Flow {
        let ways = [format!("Fetching `{url}`."), format!("Let me fetch `{url}`."), format!("Opening `{url}`.")];
        self.tool("fetch", json!({"url": url}), ways, |result| {
            let first = result.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            format!(
                "Fetched `{url}`: {}, beginning with \u{201c}{}\u{201d}.",
                count(lines(result), "line"),
                shorten(first, 60)
            )
        })
    }

    fn ask(&mut self, question: &str, options: &[String]) -> Flow {
        let ways = [String::new(), "I have a question.".to_owned(), "One question first.".to_owned()];
        self.tool("ask_user", json!({"question": question, "options": options}), ways, |result| {
            let answer = result.trim().trim_start_matches("The user answered:").trim();
            format!("Asked \u{201c}{question}\u{201d} Your answer: {}", shorten(answer, 200))
        })
    }

    pub(super) fn read(&mut self, path: &str) -> Flow {
        let ways = [format!("Reading `{path}`."), format!("Let me read `{path}`."), format!("Opening `{path}`.")];
        self.tool("read", json!({"path": path}), ways, |result| {
            format!("Read `{path}`: {}.", count(lines_said(result), "line"))
        })
    }

    pub(super) fn write(&mut self, path: &str, content: &str) -> Flow {
        let input = json!({"path": path, "content": content});
        let ways =
            [format!("Writing `{path}`."), format!("Let me write `{path}`."), format!("Now I can write `{path}`.")];
        let done = || format!("Wrote {} to `{path}`.", count(lines(content), "line"));
        if self.must_read_first() && self.offers("read") {
            // The file was there already: it is read, and then written again.
            self.take();
            if matches!(self.read(path), Flow::End) {
                return Flow::End;
            }
        }
        self.tool("write", input, ways, |_| done())
    }

    /// A spawned session for each task, all in one response.
    fn delegate(&mut self, tasks: &[String], background: bool) -> Flow {
        if !self.offers("spawn") {
            self.failures += 1;
            self.note("**Not done**: no `spawn` tool here. Spawned sessions don't spawn others.");
            return Flow::On;
        }
        for (n, task) in tasks.iter().enumerate() {
            match self.take() {
                Some((call, result)) if result.failed => self.failed(call, result),
                Some((_, result)) => {
                    let said = result.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                    self.note(&format!("`{}` finished: {}", shorten(task, 60), shorten(said, 120)));
                }
                None => {
                    let left = tasks.get(n..).unwrap_or_default();
                    self.say(&format!("Delegating {}.\n", count(left.len(), "task")));
                    for task in left {
                        let title = shorten(task, 40);
                        let input = match background {
                            true => json!({"title": title, "prompt": task, "background": true}),
                            false => json!({"title": title, "prompt": task}),
                        };
                        self.call("spawn", input);
                    }
                    return Flow::End;
                }
            }
        }
        Flow::On
    }

    /// One call: made when it has no result yet, summed up when it has one.
    pub(super) fn tool(
        &mut self,
        tool: &str,
        input: Value,
        ways: [String; 3],
        sum: impl FnOnce(&str) -> String,
    ) -> Flow {
        if !self.offers(tool) {
            self.failures += 1;
            self.note(&format!("**Not done**: no `{tool}` tool here."));
            return Flow::On;
        }
        match self.take() {
            Some((call, result)) => {
                if result.failed {
                    self.failed(call, result);
                } else {
                    let line = sum(&result.text);
                    self.note(&line);
                }
                Flow::On
            }
            None => {
                self.say_one_of(ways);
                self.call(tool, input);
                Flow::End
            }
        }
    }

    pub(super) fn failed(&mut self, call: &ProposedCall, result: &CallResult) {
        self.failures += 1;
        let word = if refused(&result.text) { "not run" } else { "failed" };
        let subject = ["path", "command", "pattern", "url", "question", "title"]
            .iter()
            .find_map(|key| call.input.get(key).and_then(Value::as_str))
            .unwrap_or("");
        let (output, exit) = output_and_exit(&result.text);
        // A command says why at its end, every other tool at its beginning.
        let why = match exit {
            Some(exit) => [Some(exit), last_line(output)].into_iter().flatten().collect::<Vec<_>>().join(", "),
            None => result.text.trim().lines().next().unwrap_or("no reason was given").to_owned(),
        };
        self.note(&format!("`{} {}` **{word}**: {}", call.name, shorten(subject, 60), shorten(&why, 300)));
    }

    /// The next deed is a write that failed because the file was not read before.
    fn must_read_first(&self) -> bool {
        let next = self.deeds.iter().skip(self.used).find(|deed| deed.call.name != "todo");
        next.is_some_and(|deed| {
            deed.call.name == "write"
                && deed.result.is_some_and(|result| {
                    let text = result.text.to_lowercase();
                    let speaks_of_reading = ["not read", "was read", "`read`", "read it", "read the file"];
                    result.failed && !refused(&text) && speaks_of_reading.iter().any(|words| text.contains(words))
                })
        })
    }

    fn edits_in_a_list(&self) -> bool {
        let spec = self.request.tools.iter().find(|spec| spec.name == "edit");
        spec.and_then(|spec| spec.schema.pointer("/properties/edits")).is_some()
    }
}

/// A folder in a sentence.
fn folder(path: &str) -> String {
    if path == "." { "this folder".to_owned() } else { format!("`{path}`") }
}
