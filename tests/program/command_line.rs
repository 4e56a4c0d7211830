//! The program among others: streams that are closed, rules that name nothing, completions in the shells that are here.

use crate::headless::{Place, code, err, out};
use std::process::{Command, Output, Stdio};

impl Place {
    /// Runs a line of sh, in which `lisle` is the program.
    fn sh(&self, line: &str) -> Output {
        let mut command = self.command(&[]);
        let program = command.get_program().to_owned();
        let envs: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command = Command::new("sh");
        command.arg("-c").arg(format!("lisle() {{ \"$PROGRAM\" \"$@\"; }}\n{line}")).env("PROGRAM", program);
        for (name, value) in envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.project.path()).stdin(Stdio::null()).output().unwrap()
    }
}

/// Rust opens /dev/null in the place of a stream that is closed, so that no file of lisle's gets its number. A closed stdout is
/// an error of its own.
#[test]
fn a_closed_stdin_or_stderr_is_as_dev_null() {
    let place = Place::new();
    for line in [
        "lisle run --connection demo list 2>&-",
        "lisle run --connection demo list <&-",
        "lisle run --connection demo list 2>&- <&-",
    ] {
        let done = place.sh(line);
        assert!(code(&done) == Some(0) && !err(&done).contains("panicked"), "{line}: {}", err(&done));
        assert!(!out(&done).is_empty(), "{line}");
    }
    let done = place.sh("lisle run --connection demo <&-");
    assert!(code(&done) == Some(2) && err(&done).contains("empty message"), "{}", err(&done));
    let files: Vec<_> =
        std::fs::read_dir(place.project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["README.md"], "no file got what was meant for a stream");
    let sessions = place.sessions();
    assert_eq!(sessions.len(), 3, "{sessions:?}");
    let ids: Vec<&str> = sessions.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let checked = place.lisle(&["sessions", "verify"]);
    assert_eq!(code(&checked), Some(0), "{ids:?}: {}", out(&checked));
}

#[test]
fn rules_that_name_no_tool_are_refused_before_anything_is_sent() {
    let place = Place::new();
    for (args, says) in [
        (&["--allow", "nosuchtool"][..], "no tool or program nosuchtool. Tools: read, list"),
        (&["--deny", "Bash"], "Did you mean bash?"),
        (&["--deny", "mcp__nosuch"], "no source nosuch. There are none here"),
        (&["--allow", "mcp__nosuch__read"], "no source nosuch"),
        (&["--no-tools", "--allow", "read"], "cannot be used with"),
    ] {
        let done = place.lisle(&[&["run", "--connection", "demo"], args, &["list"]].concat());
        assert!(code(&done) == Some(2) && err(&done).contains(says), "{args:?}: {}", err(&done));
    }
    assert!(place.sessions().is_empty());
    // A tool without a path or a host is denied as a whole.
    let done = place.lisle(&["run", "--connection", "demo", "--deny", "list", "list"]);
    assert_eq!(code(&done), Some(3), "{}", err(&done));
}

#[test]
fn the_events_of_the_engine_call_the_demo_so() {
    let place = Place::new();
    let done = place.lisle(&["run", "--connection", "demo", "--output", "json", "list"]);
    let told = out(&done);
    assert!(code(&done) == Some(0) && told.contains("\"connection\":\"demo\""), "{}", err(&done));
    assert!(!told.contains("rehearsal"), "{told}");
}

#[test]
fn whoever_closes_a_pipe_early_hears_nothing_more() {
    let place = Place::new();
    let done = place.sh("lisle run --connection demo -s \"stream 3000\" | head -c 20");
    assert!(code(&done) == Some(0) && out(&done).len() == 20 && err(&done).is_empty(), "{}", err(&done));
}

#[test]
fn an_answer_that_is_not_copied_and_a_file_of_no_format_are_told() {
    let place = Place::new();
    let mut run = place.command(&["run", "--connection", "demo", "--session", "notes", "--copy", "list"]);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "TMUX"] {
        run.env_remove(name);
    }
    let done = run.env("PATH", "").output().unwrap();
    assert!(code(&done) == Some(1) && err(&done).contains("Not copied"), "{}", err(&done));
    assert!(out(&done).contains("Listed"), "the answer is there all the same");
    let done = place.lisle(&["sessions", "export", "notes", "-o", "talk.pdf"]);
    assert!(code(&done) == Some(0) && err(&done).contains("no format has the ending .pdf"), "{}", err(&done));
    let done = place.lisle(&["sessions", "export", "notes", "-o", "talk.html"]);
    assert!(code(&done) == Some(0) && !err(&done).contains("no format"), "{}", err(&done));
    let done = place.lisle(&["sources", "add", "files"]);
    assert!(code(&done) == Some(2) && err(&done).contains("<URL|PROGRAM"), "{}", err(&done));
}

#[test]
fn a_pipe_among_histories_is_named() {
    let place = Place::new();
    let done = place.sh("mkdir imp && mkfifo imp/a.jsonl && lisle sessions import imp");
    assert!(err(&done).contains("imp/a.jsonl: a pipe, socket or device"), "{}", err(&done));
}

#[test]
fn a_page_has_the_pictures_of_messages_and_a_shared_one_their_names() {
    let place = Place::new();
    let picture = b"\x89PNG\r\n\x1a\n-a-picture";
    std::fs::write(place.project.path().join("p.png"), picture).unwrap();
    let done = place.lisle(&["run", "--connection", "demo", "--session", "look", "--attach", "p.png", "list"]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let page = out(&place.lisle(&["sessions", "export", "look", "--format", "html"]));
    assert!(page.contains("<img src=\"data:image/png;base64,iVBORw0KGg") && page.contains("img-src data:"), "{page}");
    assert!(page.contains("with p.png"), "{page}");
    assert_eq!(code(&place.lisle(&["share", "look"])), Some(0));
    let mut pages = String::new();
    let mut folders = vec![place.home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if let Ok(text) = std::fs::read_to_string(&entry)
                && text.starts_with("<!DOCTYPE html>")
            {
                pages += &text;
            }
        }
    }
    assert!(pages.contains("with p.png") && !pages.contains("<img"), "nothing in a picture is masked: {pages}");
}

/// Offers of a shell for the last of the words.
fn offered(place: &Place, shell: &str, words: &[&str]) -> Option<String> {
    let line = format!("lisle {}", words.join(" "));
    let script = match shell {
        "fish" => format!("lisle completions fish | source; complete -C '{line}'"),
        "bash" => format!(
            "source <(lisle completions bash); COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; \
             read -ra COMP_WORDS <<<\"$COMP_LINE\"; [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=(''); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             eval \"$(complete -p lisle | sed 's/.*-F \\([^ ]*\\).*/\\1/') lisle\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ),
        // The function of the script is called with what zsh's own widgets set; they would need a terminal.
        _ => format!(
            "compdef() {{ :; }}; _describe() {{ print -rl -- \"${{(@P)3}}\"; }}; \
             words=({line}{}); CURRENT=${{#words}}; eval \"$(lisle completions zsh)\"; _clap_dynamic_completer_lisle",
            if line.ends_with(' ') { " ''" } else { "" }
        ),
    };
    let mut command = place.command(&[]);
    let program = std::path::Path::new(command.get_program()).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&path))).unwrap();
    let home = place.home.path().to_owned();
    command = Command::new(shell);
    command.args(["-c", &script]).env("LISLE_HOME", &home).env("HOME", &home).env("PATH", path);
    let done = command.current_dir(place.project.path()).stdin(Stdio::null()).output().ok()?;
    Some(out(&done) + &err(&done))
}

/// Options and arguments that take a name, each with a name of the home.
fn names(id: &str, trash: &str) -> Vec<(Vec<String>, String)> {
    let all = [
        ("run --context wri", "writer"),
        ("run -C wri", "writer"),
        ("run --pattern summ", "summarize"),
        ("run --strategy co", "cot"),
        ("run --session not", "notes"),
        ("run --connection loc", "local"),
        ("run -V loc", "local"),
        ("run --model vendor", "vendor-model"),
        ("run --mode expl", "explore"),
        ("run --format stream", "stream-json"),
        ("run --allow fet", "fetch"),
        ("run --deny job_k", "job_kill"),
        ("run --printsession not", "notes"),
        ("run --wipecontext wri", "writer"),
        ("run --readpattern summ", "summarize"),
        ("context show wri", "writer"),
        ("pattern run summ", "summarize"),
        ("strategy show co", "cot"),
        ("sessions show not", "notes"),
        ("sessions export --format open", "openclaw"),
        ("sessions list --status to", "todo"),
        ("sessions set x --status to", "todo"),
        ("sessions list --label pri", "priority"),
        ("sessions set x --label pri", "priority"),
        ("sessions set x --unlabel pri", "priority"),
        ("sessions list --view Sta", "Stale"),
        ("sessions import --from claude", "claude-code"),
        ("audit not", "notes"),
        ("usage --by se", "session"),
        ("sources test fil", "files"),
        ("sources remove fil", "files"),
        ("sources logs fil", "files"),
        ("auth add anth", "anthropic"),
        ("auth remove loc", "local"),
        ("channel allow tele", "telegram"),
        ("channel secret tele", "telegram"),
        ("channel send --channel tele", "telegram"),
        ("gateway token --scopes rea", "read"),
        ("ssh buil", "build-server"),
        ("help script", "scripting"),
        ("config show ui.the", "ui.theme"),
        ("themes show nord-", "nord-light"),
        ("keys show vi", "vim"),
        ("keys list compo", "composer"),
        ("man sess", "sessions"),
        ("labels add x --under pri", "priority"),
        ("labels add x --value num", "number"),
    ];
    let words = |line: &str| line.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut out: Vec<_> = all.iter().map(|(line, name)| (words(line), (*name).to_owned())).collect();
    let cut = |id: &str| id[..id.len() - 2].to_owned();
    for line in
        ["sessions branch", "sessions verify", "sessions archive", "sessions delete", "share", "sessions export"]
    {
        out.push((words(&format!("{line} {}", cut(id))), id.to_owned()));
    }
    out.push((words(&format!("sessions restore {}", cut(trash))), trash.to_owned()));
    out
}

/// A home with one of everything that has a name.
fn furnished() -> (Place, String, String) {
    let place = Place::new();
    place.config(
        "[connections.local]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"vendor-model\"]\n\n\
         [channels.telegram]\n\n[machines.build-server]\nhost = \"build\"\n",
    );
    let config = place.home.path().join("config");
    for (path, text) in
        [("patterns/summarize/system.md", "Sum up: {{input}}"), ("strategies/cot.json", "{\"prompt\": \"Think.\"}")]
    {
        let path = config.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for args in [
        &["context", "set", "writer", "Be brief."][..],
        &["run", "--connection", "demo", "--session", "gone", "list"],
        &["labels", "add", "Priority", "--value", "number"],
        &["views", "add", "Stale", "hasUnread"],
        &["sources", "add", "files", "--", "true"],
    ] {
        let done = place.lisle(args);
        assert_eq!(code(&done), Some(0), "{args:?}: {}", err(&done));
    }
    let gone = place.session();
    let done = place.lisle(&["sessions", "delete", "--yes", &gone]);
    let trash = out(&done).split_whitespace().find(|word| word.contains(&gone)).unwrap_or(&gone).to_owned();
    assert_eq!(code(&place.lisle(&["run", "--connection", "demo", "--session", "notes", "list"])), Some(0));
    (Place { home: place.home, project: place.project }, trash, gone)
}

#[test]
fn names_of_the_home_are_completed_in_each_shell() {
    let (place, trash, _) = furnished();
    let id = place.session();
    for (words, name) in names(&id, &trash) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let offers = offered(&place, "bash", &words).expect("bash");
        assert!(offers.lines().any(|line| line.trim() == name), "bash: {words:?}: no {name} in {offers}");
    }
    // Two of each kind are enough where the words come from the same place; a shell that is not here is left to others.
    for shell in ["zsh", "fish"] {
        for (words, name) in names(&id, &trash).into_iter().step_by(5) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let Some(offers) = offered(&place, shell, &words) else { break };
            assert!(offers.contains(&name), "{shell}: {words:?}: no {name} in {offers}");
        }
    }
}
