//! Whole runs of the program with skills, agents and commands, against a scripted model.

use super::Test;
use super::support::model_server::{ModelServer, Script};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub const TESTS: &[Test] = &[
    ("a_skill_of_the_home_is_listed_and_loaded_by_its_name", a_skill_is_loaded),
    ("the_skill_of_the_manual_works", the_manual),
    ("what_a_repository_brings_is_off_until_it_is_trusted", a_repository_is_off),
    ("a_command_runs_and_reads_by_the_mode", a_command_expands),
    ("an_agent_speaks_for_a_turn_and_is_spawned", an_agent_speaks),
    ("a_skill_starts_the_source_that_it_needs", a_source_is_needed),
    ("the_list_of_extensions_names_kinds_states_and_reasons", the_list),
];

struct Ground {
    root: tempfile::TempDir,
}

const SKILL: &str = "---\nname: PDF\ndescription: Fills forms\n---\nUse the tool `fill`.\n";

impl Ground {
    fn new(model: &ModelServer) -> Self {
        let ground = Self { root: tempfile::tempdir().unwrap() };
        let text = format!(
            "[connections.m]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"m\"\n",
            model.base_url()
        );
        ground.put("lisle/config/config.toml", &text);
        ground.put("project/.git/HEAD", "ref: refs/heads/main\n");
        ground
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn lisle(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        let at = |name: &str| self.root.path().join(name);
        command.args(args).current_dir(at("project")).env("LISLE_HOME", at("lisle")).env("HOME", at("home"));
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn run(&self, mode: &str, text: &str) -> Output {
        self.lisle(&["run", "--connection", "m", "--mode", mode, text])
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn system(request: &Value) -> String {
    request["messages"][0]["content"].to_string()
}

fn messages(request: &Value, role: &str) -> Vec<String> {
    let all = request["messages"].as_array().cloned().unwrap_or_default();
    all.iter().filter(|one| one["role"] == role).map(|one| one["content"].to_string()).collect()
}

fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn a_skill_is_loaded() {
    let file = [("skill", json!({"name": "pdf", "file": "forms.md"}))];
    let model = ModelServer::for_program([Script::calls(&file), Script::says("Done.")]);
    let ground = Ground::new(&model);
    ground.put("home/.claude/skills/pdf/SKILL.md", SKILL);
    ground.put("home/.claude/skills/pdf/forms.md", "Fields have names.");
    let done = ground.run("explore", "/pdf fill form.pdf");
    assert!(done.status.success(), "{}", err(&done));
    let asked: Vec<Value> = model.asked().iter().map(|asked| asked.json()).collect();
    assert!(system(&asked[0]).contains("- pdf: Fills forms"), "{}", system(&asked[0]));
    assert!(offered(&asked[0]).contains(&"skill".to_owned()));
    assert_eq!(messages(&asked[0], "user"), ["\"/pdf fill form.pdf\""]);
    let loaded = messages(&asked[0], "tool");
    assert!(
        loaded.len() == 1 && loaded[0].contains("Use the tool `fill`.") && loaded[0].contains("forms.md"),
        "{loaded:?}"
    );
    assert!(messages(&asked[1], "tool")[1].contains("Fields have names."));
}

fn the_manual() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/skills.md")).unwrap();
    let example = page.split("```markdown\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let model = ModelServer::for_program([Script::says("Done.")]);
    let ground = Ground::new(&model);
    ground.put("home/.claude/skills/release-notes/SKILL.md", example);
    assert!(ground.run("explore", "/release-notes for 1.2").status.success());
    let asked = model.asked()[0].json();
    assert!(system(&asked).contains("- release-notes: "), "{}", system(&asked));
    assert!(messages(&asked, "tool")[0].contains("git log"), "{:?}", messages(&asked, "tool"));
    let listed = out(&ground.lisle(&["extensions", "list"]));
    assert!(listed.contains("skill    release-notes  on"), "{listed}");
}

fn a_repository_is_off() {
    let model = ModelServer::for_program([Script::says("One."), Script::says("Two."), Script::says("Three.")]);
    let ground = Ground::new(&model);
    ground.put("project/.claude/skills/pdf/SKILL.md", &SKILL.replace("name: PDF", "allowed-tools: Bash"));
    ground.put("project/.claude/agents/reviewer.md", "---\ndescription: Reviews\n---\nYou review.");
    ground.put("project/.claude/commands/ship.md", "Now: !`touch made`");
    for text in ["/pdf x", "@reviewer x", "/ship"] {
        assert!(ground.run("execute", text).status.success());
    }
    for asked in model.asked().iter().map(|asked| asked.json()) {
        let system = system(&asked);
        assert!(!system.contains("pdf") && !system.contains("You review."), "{system}");
        assert!(!offered(&asked).contains(&"skill".to_owned()) && messages(&asked, "tool").is_empty());
    }
    assert!(!ground.root.path().join("project/made").exists());
    let listed = out(&ground.lisle(&["extensions", "list"]));
    assert_eq!(listed.matches("not trusted").count(), 3, "{listed}");
}

fn a_command_expands() {
    let model = ModelServer::for_program([Script::says("Done."), Script::says("Done.")]);
    let ground = Ground::new(&model);
    ground.put("lisle/config/commands/state.md", "State: !`echo one $1` and @note.txt, !`touch made`.");
    ground.put("project/note.txt", "a note");
    let done = ground.run("explore", "/state two");
    assert_eq!(done.status.code(), Some(3), "a refused call is told: {}", err(&done));
    let asked = model.asked()[0].json();
    assert_eq!(messages(&asked, "user"), ["\"State: !`echo one two` and @note.txt, !`touch made`.\""]);
    let results = messages(&asked, "tool");
    assert!(results[0].contains("one two") && results[1].contains("a note"), "{results:?}");
    assert!(results[2].contains("Explore"), "{results:?}");
    assert!(!ground.root.path().join("project/made").exists(), "Explore changes nothing");
    // What is typed or passed on expands nothing.
    assert!(ground.run("execute", "look at !`touch made`").status.success());
    assert!(!ground.root.path().join("project/made").exists());
}

fn an_agent_speaks() {
    let spawn = [("spawn", json!({"title": "Look", "prompt": "Look at it.", "agent": "reviewer"}))];
    let wrong = [("spawn", json!({"title": "Look", "prompt": "Look at it.", "agent": "nobody"}))];
    let model = ModelServer::for_program([
        Script::says("Reviewed."),
        Script::calls(&spawn),
        Script::says("Looked."),
        Script::calls(&wrong),
        Script::says("Done."),
    ]);
    let ground = Ground::new(&model);
    let text =
        "---\nname: reviewer\ndescription: Reviews changes\nmodel: nothing-known\ntools: Read, Grep\n---\nYou review.";
    ground.put("home/.claude/agents/reviewer.md", text);
    assert!(ground.run("execute", "@reviewer look").status.success());
    assert!(ground.run("execute", "let it be reviewed").status.success());
    let asked: Vec<Value> = model.asked().iter().map(|asked| asked.json()).collect();
    let first = &asked[0];
    assert!(system(first).contains("You review.") && first["model"] == "m", "{first}");
    assert!(offered(first).contains(&"read".to_owned()) && !offered(first).contains(&"write".to_owned()));
    assert!(!system(&asked[1]).contains("You review.") && system(&asked[1]).contains("- reviewer: Reviews changes"));
    let child = &asked[2];
    assert!(system(child).contains("You review.") && system(child).contains("You were spawned"), "{child}");
    assert!(!offered(child).contains(&"bash".to_owned()) && !offered(child).contains(&"spawn".to_owned()));
    assert!(messages(&asked[4], "tool")[1].contains("No agent \\\"nobody\\\". Available: reviewer."), "{}", asked[4]);
}

fn a_source_is_needed() {
    let model = ModelServer::for_program([Script::says("Done.")]);
    let ground = Ground::new(&model);
    let program = std::env::current_exe().unwrap();
    let added = ground.lisle(&["sources", "add", "drive", "--", program.to_str().unwrap(), "__serve", "plain"]);
    assert!(added.status.success(), "{}", err(&added));
    let config = ground.root.path().join("lisle/data/workspaces/default/sources/drive/config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    let mut off: Value = serde_json::from_str(&text).unwrap();
    off["enabled"] = json!(false);
    std::fs::write(&config, off.to_string()).unwrap();
    let needs = SKILL.replace("name: PDF", "requiredSources: [drive, gone]");
    ground.put("home/.claude/skills/pdf/SKILL.md", &needs);
    let done = ground.run("ask", "/pdf fill it");
    assert!(done.status.success(), "{}", err(&done));
    let asked = model.asked()[0].json();
    let told = messages(&asked, "tool").concat();
    assert!(told.contains("Source drive: its tools are offered") && told.contains("Source gone: missing"), "{told}");
    assert!(offered(&asked).contains(&"mcp__drive__echo".to_owned()), "{:?}", offered(&asked));
}

fn the_list() {
    let model = ModelServer::for_program([]);
    let ground = Ground::new(&model);
    ground.put("home/.claude/skills/pdf/SKILL.md", SKILL);
    ground.put("project/.agents/skills/pdf/SKILL.md", SKILL);
    ground.put("project/.claude/skills/broken/SKILL.md", "---\ndescription: x\noops\n---\ny");
    ground.put("project/.claude/agents/reviewer.md", "---\ndescription: \"Red \u{1b}[31m\"\n---\nYou review.");
    ground.put("lisle/config/commands/plan.md", "x");
    ground.put("project/.mcp.json", "{\"mcpServers\": {\"p\": {\"command\": \"true\"}}}");
    let listed = out(&ground.lisle(&["extensions", "list"]));
    let lines: Vec<String> =
        listed.lines().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "source p not trusted",
            "skill broken failed repository",
            "skill pdf on home",
            "skill pdf off repository",
            "agent reviewer not trusted",
            "command plan failed yours",
        ],
        "{listed}"
    );
    for says in ["SKILL.md:3: Can't use the skill broken", "/plan is a built-in command", "has this name", "tokens"] {
        assert!(listed.contains(says), "{says}: {listed}");
    }
    assert!(!listed.contains('\u{1b}'));
    let json: Value = serde_json::from_str(&out(&ground.lisle(&["extensions", "list", "--json"]))).unwrap();
    assert_eq!(
        (&json[2]["kind"], &json[2]["state"], &json[2]["origin"]),
        (&json!("skill"), &json!("on"), &json!("home"))
    );
}
