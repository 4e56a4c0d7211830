//! Readings of config.toml, right and wrong.

mod named;

use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> (Settings, Vec<Problem>) {
    Settings::parse(Path::new("/c/config.toml"), text)
}

#[test]
fn nothing_is_the_defaults() {
    let (settings, problems) = parse("");
    assert_eq!((&settings, problems), (&Settings::default(), vec![]));
    assert_eq!(settings.permissions.mode, Mode::Ask);
    assert_eq!(settings.permissions.cycle, [Mode::Explore, Mode::Ask, Mode::Execute]);
    assert_eq!(settings.limits.requests_per_turn, 200);
    assert_eq!(settings.ui.theme, "auto");
}

#[test]
fn everything_is_read() {
    let (settings, problems) = parse(
        r#"
default_connection = "local"
workspace = "~/work"
auto_status = false

[permissions]
mode = "execute"
cycle = ["ask", "allow-all", "ask"]
[explore]
bash = "block"
[ask]
edits = "allow"
[limits]
requests_per_turn = 50
stallSeconds = 5
first-byte-seconds = 7
warnCost = 1.25
[input]
whileRunning = "steer"
[ui]
theme = "nord"
keymap = "vim"
glyphs = "ascii"
mouse = "off"
fps = 30
[store]
fsync = "always"
[auto_archive]
idle_days = 14
[trash]
days = 0

[connections.local]
provider = "openai-compatible"
base_url = "http://127.0.0.1:8080/v1/"
api = "chat"
key_env = "LOCAL_KEY"
models = ["a", "b"]
small_model = "b"
proxy = "http://proxy:3128"
headers = { "X-Team" = "one" }
extra_body = { temperature = 0.5, n = [1, true], deep = { a = "b" } }
[connections.local.figures."a"]
window = 32_768
input = 1
output = 2.5
max_output = 4_096
thinks = "small-budget"
vision = false
pdf = true
[connections."My OpenAI"]
provider = "openai"
"#,
    );
    assert_eq!(problems, vec![]);
    assert_eq!(settings.permissions.mode, Mode::Execute);
    assert_eq!(settings.permissions.cycle, [Mode::Ask, Mode::Execute]);
    assert_eq!(settings.explore_bash, ExploreBash::Block);
    assert_eq!(settings.ask_edits, AskEdits::Allow);
    let limits = Limits {
        requests_per_turn: 50,
        stall: Duration::from_secs(5),
        first_byte: Duration::from_secs(7),
        warn_cost: 1.25,
        parallel_requests: None,
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(settings.while_running, WhileRunning::Steer);
    assert_eq!((settings.ui.fps, settings.ui.glyphs, settings.ui.mouse), (30, Glyphs::Ascii, Mouse::Off));
    assert_eq!(settings.fsync, Fsync::Always);
    assert_eq!(settings.inbox, InboxSettings { auto_status: false, archive_idle_days: Some(14), trash_days: 0 });
    assert_eq!(settings.default_connection, Some(ConnectionName::new("local")));
    assert_eq!(settings.default_connection_line, Some(2));
    let local = &settings.connections[&ConnectionName::new("local")];
    assert_eq!(local.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(local.default_model.as_deref(), Some("a"));
    assert_eq!(local.headers["X-Team"], "one");
    assert_eq!(
        Value::Object(local.extra_body.clone()),
        serde_json::json!({"temperature": 0.5, "n": [1, true], "deep": {"a": "b"}})
    );
    let figures = &local.figures["a"];
    assert_eq!((figures.window, figures.input, figures.output), (Some(32_768), Some(1.0), Some(2.5)));
    assert_eq!((figures.max_output, figures.thinks), (Some(4_096), Some(Thinks::SmallBudget)));
    assert_eq!((figures.vision, figures.pdf), (Some(false), Some(true)));
    assert_eq!(settings.connections[&ConnectionName::new("My OpenAI")].provider, ProviderKind::Openai);
}

#[test]
fn every_problem_is_reported_with_its_line_and_the_rest_counts() {
    let (settings, problems) = parse(
        r#"[permissions]
mode = "yolo"
cycle = ["ask", 3]
[limits]
requests_per_trun = 3
requests_per_turn = 0
stall_seconds = "much"
[ui]
fps = 30
glyphs = "unicoed"
theme = ""
shiny = true
[connections.a]
base_url = "http://x/v1"
[connections.b]
provider = "openai-compatible"
[connections.c]
provider = "opnai"
[connections.d]
provider = "openai"
key = "sk-secret"
[connections.e]
provider = "openai"
base_url = "api.example"
[store]
fsync = true
[colours]
x = 1
"#,
    );
    let shown: Vec<(usize, &str)> = problems.iter().map(|p| (p.line.unwrap(), p.text.as_str())).collect();
    assert_eq!(
        shown,
        [
            (2, "`permissions.mode` is \"yolo\"; expected explore, ask or execute."),
            (3, "`permissions.cycle` is 3; expected a list of strings, each explore, ask or execute."),
            (5, "Unknown setting `limits.requests_per_trun`."),
            (6, "`limits.requests_per_turn` is 0; expected an integer from 1 to 100000."),
            (7, "`limits.stall_seconds` is \"much\"; expected an integer from 1 to 86400."),
            (10, "`ui.glyphs` is \"unicoed\"; expected \"auto\", \"unicode\" or \"ascii\"."),
            (11, "`ui.theme` is \"\"; expected a text."),
            (12, "Unknown setting `ui.shiny`."),
            (13, "[connections.a] is missing `provider`."),
            (15, "[connections.b] is missing `base_url`."),
            (
                18,
                "`connections.c.provider` is \"opnai\"; expected \"anthropic\", \"openai\", \"openai-compatible\", \"gemini\", \"azure-openai\" or \"demo\"."
            ),
            (19, "[connections.d] contains a key; ignored, because keys don't belong in config.toml."),
            (24, "`connections.e.base_url` is \"api.example\"; expected a URL starting with http:// or https://."),
            (26, "`store.fsync` is of type boolean; expected \"always\", \"normal\" or \"off\"."),
            (27, "Unknown setting `colours`."),
        ]
    );
    assert!(problems.iter().all(|p| !p.fix.is_empty() && p.path == Path::new("/c/config.toml")));
    assert!(problems.iter().all(|p| !p.to_string().contains("sk-secret")));
    assert_eq!(problems[2].fix, "Did you mean `requests_per_turn`?");
    assert!(problems[5].fix.contains("glyphs = \"unicode\""), "{}", problems[5].fix);
    assert_eq!(settings.ui.fps, 30);
    assert_eq!(settings.ui.glyphs, Glyphs::Auto);
    assert_eq!(settings.permissions.cycle, [Mode::Ask]);
    let names: Vec<&str> = settings.connections.keys().map(ConnectionName::as_str).collect();
    assert_eq!(names, ["d"]);
}

#[test]
fn an_empty_cycle_and_a_taken_name_are_told() {
    let (settings, problems) = parse("[permissions]\ncycle = []\n[connections.rehearsal]\nprovider = \"openai\"\n");
    let shown: Vec<_> = problems.iter().map(|p| (p.line.unwrap(), p.text.as_str())).collect();
    assert!(
        matches!(shown[..], [(2, first), (3, second)] if first.contains("at least one") && second.contains("built-in")),
        "{shown:?}"
    );
    assert_eq!((settings.permissions.cycle.len(), settings.connections.len()), (3, 0));
    let (settings, problems) = parse("[connections.rehearsal]\nprovider = \"rehearsal\"\n");
    assert_eq!((settings.connections.len(), problems), (1, vec![]));
    for name in ["demo", "rehearsal"] {
        let (settings, problems) = parse(&format!("[connections.{name}]\nprovider = \"{name}\"\n"));
        assert_eq!(problems, vec![]);
        assert_eq!(settings.connections[&ConnectionName::new("demo")].provider, ProviderKind::Rehearsal, "{name}");
    }
}

#[test]
fn what_may_be_secret_is_not_repeated() {
    let (_, problems) = parse(
        "[connections.a]\nprovider = \"openai\"\nbase_url = \"me:sk-secret-1@host\"\nproxy = \"me:sk-secret-2@proxy:1\"\n\
         key_env = \"sk-secret-3\"\nheaders = { authorization = 5, x = [\"sk-secret-4\"] }\n",
    );
    let lines: Vec<_> = problems.iter().map(|p| p.line.unwrap()).collect();
    assert_eq!(lines, [3, 4, 5, 6, 6]);
    assert!(problems.iter().all(|p| !p.to_string().contains("secret")), "{problems:?}");
    assert!(problems[2].text.contains("name of an environment variable"), "{problems:?}");
}

#[test]
fn a_syntax_error_has_its_line_and_spares_what_stands_before() {
    let (settings, problems) = parse("[ui]\nfps = 30\nglyphs = = \"ascii\"\n[store]\nfsync = \"off\"\n");
    assert!(!problems.is_empty() && problems.iter().all(|p| p.line == Some(3)), "{problems:?}");
    assert!(problems[0].text.starts_with("Not valid TOML"), "{problems:?}");
    assert_eq!((settings.ui.fps, settings.fsync), (30, Fsync::Off));
}

#[test]
fn tables_and_values_in_each_others_place_are_told() {
    let (_, problems) = parse("ui = 3\nconnections = []\n[limits.stall_seconds]\nx = 1\n");
    let lines: Vec<_> = problems.iter().map(|p| p.line.unwrap()).collect();
    assert_eq!(lines, [1, 2, 3]);
}

proptest! {
    #[test]
    fn no_text_makes_it_fail(text in "(\\PC|\n|\\[ui\\]\n|fps = |\"|'|=|\\[|\\]|connections\\.){0,60}") {
        let (settings, _) = parse(&text);
        prop_assert!(!settings.permissions.cycle.is_empty());
    }
}

#[test]
fn the_sandbox_is_a_word_or_a_table() {
    assert_eq!(parse("").0.sandbox.profile, SandboxProfile::Workspace);
    let (settings, problems) = parse("sandbox = \"off\"\n");
    assert_eq!((settings.sandbox.profile, problems), (SandboxProfile::Off, vec![]));
    let (settings, problems) = parse(
        "[sandbox]\nprofile = \"read-only\"\ncaches = [\"default\", \"~/x\", \"/y\"]\nmemory = \"4G\"\nreadable = [\"~/lib\"]\ndevices = [\"/dev/kvm\"]\n",
    );
    assert_eq!(problems, vec![]);
    let caches = Some(["default", "~/x", "/y"].map(str::to_owned).to_vec());
    let expected = Sandbox {
        profile: SandboxProfile::ReadOnly,
        caches,
        memory: Some(4 << 30),
        readable: vec!["~/lib".to_owned()],
        devices: vec!["/dev/kvm".to_owned()],
        ..Sandbox::default()
    };
    assert_eq!(settings.sandbox, expected);
    let (settings, problems) =
        parse("[sandbox]\nnetwork = \"hosts\"\nprivate_hosts = [\"127.0.0.1:4873\", \"nas.local\"]\n");
    assert_eq!((settings.sandbox.network, problems), (SandboxNetwork::Hosts, vec![]));
    assert_eq!(settings.sandbox.private_hosts, ["127.0.0.1:4873", "nas.local"]);
    for (text, line) in [
        ("sandbox = \"none\"\n", 1),
        ("[sandbox]\nprofile = 1\n", 2),
        ("[sandbox]\ncaches = [\"relative\"]\n", 2),
        ("[sandbox]\nreadable = [\"relative\"]\n", 2),
        ("[sandbox]\nreadable = [\"/usr\", \"\"]\n", 2),
        ("[sandbox]\nreadable = [\" \"]\n", 2),
        ("[sandbox]\ncaches = [\"\"]\n", 2),
        ("[sandbox]\ndevices = [\"/etc/passwd\"]\n", 2),
        ("[sandbox]\nmemory = \"1M\"\n", 2),
        ("[sandbox]\nmemory = \"lots\"\n", 2),
        ("[sandbox]\nnetwork = true\n", 2),
        ("[sandbox]\nnetwork = \"some\"\n", 2),
        ("[sandbox]\nprivate_hosts = [\"http://x/\"]\n", 2),
    ] {
        let (settings, problems) = parse(text);
        assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [Some(line)], "{text}");
        assert_eq!(settings.sandbox.profile, SandboxProfile::Workspace, "{text}");
    }
}

#[test]
fn when_it_is_compacted_is_a_part_in_percent() {
    let read = |text: &str| Settings::parse(Path::new("config.toml"), text);
    assert!((Settings::default().compact_at - 77.5).abs() < f64::EPSILON);
    for (text, at, wrong) in [
        ("[compact]\nat = 60", 60.0, 0),
        ("[compact]\nat = 0", 0.0, 0),
        ("[compact]\nat = 99.5", 77.5, 1),
        ("[compact]\nat = \"often\"", 77.5, 1),
    ] {
        let (settings, problems) = read(text);
        assert!((settings.compact_at - at).abs() < f64::EPSILON, "{text}");
        assert_eq!(problems.len(), wrong, "{text}: {problems:?}");
    }
}

#[test]
fn lines_in_place_of_the_screen_are_a_switch_or_left_to_the_terminal() {
    for (text, want) in [("true", Some(true)), ("false", Some(false)), ("\"auto\"", None)] {
        let (settings, problems) = parse(&format!("[ui]\nlinear = {text}\n"));
        assert_eq!((settings.ui.linear, problems.len()), (want, 0), "{text}");
    }
    let (settings, problems) = parse("[ui]\nlinear = \"yes\"\n");
    assert_eq!((settings.ui.linear, problems[0].line), (None, Some(2)));
    assert!(problems[0].text.contains("true, false or \"auto\""), "{}", problems[0].text);
}

#[test]
fn the_status_line_is_made_of_known_parts() {
    use crate::domain::status_line::{StatusLine, StatusPart};
    let (settings, problems) = parse("[ui.status]\nleft = [\"mode\", \"cost\"]\nright = []\n");
    assert_eq!(problems, []);
    let wanted = StatusLine { left: vec![StatusPart::Mode, StatusPart::Cost], right: vec![] };
    assert_eq!(settings.ui.status, wanted);
    for (text, line, says) in [
        (
            "[ui.status]\nleft = [\"mode\",\n  \"modle\"]\n",
            3,
            "`ui.status.left` contains \"modle\"; expected \"mode\", ",
        ),
        ("[ui.status]\nright = [\"keys\", \"keys\"]\n", 2, "once"),
        ("[ui.status]\nright = \"keys\"\n", 2, "`ui.status.right` is \"keys\"; expected a list of \"mode\", "),
        ("[ui.status]\nright = [\"keys\", 3]\n", 2, "contains 3"),
        ("[ui.status]\nmiddle = [\"keys\"]\n", 2, "Unknown setting `ui.status.middle`."),
        ("[ui]\nstatus = \"mode\"\n", 2, "`ui.status` must be a table"),
    ] {
        let (settings, problems) = parse(text);
        assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [Some(line)], "{text}");
        assert!(problems[0].text.contains(says), "{text}: {}", problems[0].text);
        assert!(settings.ui.status.left.starts_with(&[StatusPart::Mode]), "{text}");
        assert!(settings.ui.status.right.len() < 2, "{text}");
    }
    let (_, problems) = parse("[ui.status]\nleft = [\"modle\"]\n");
    assert!(problems[0].fix.contains("\"model\""), "{}", problems[0].fix);
    for (name, part) in StatusPart::ALL {
        assert!(problems[0].text.contains(&format!("{name:?}")), "{name}");
        assert_eq!(part.name(), *name);
    }
}

#[test]
fn the_table_of_routes_has_the_names_of_its_origin_and_a_mistake_is_no_default() {
    let (settings, problems) = parse(
        r#"
[session]
dmScope = "per-channel-peer"
identity_links_merge = false
identityLinks = { ana_b = ["telegram:1"] }
[session.reset]
mode = "idle"
idle-minutes = 240
[session.resetByChannel.my_irc]
at_hour = 5
[session.maintenance]
pruneAfter = "45d"
max_entries = 3
[[session.sendPolicy.rules]]
action = "deny"
match = { key_prefix = "cron:" }
"#,
    );
    assert_eq!(problems, []);
    let session = settings.session.unwrap();
    assert_eq!((session.identity_links_merge, session.reset.unwrap().idle_minutes), (false, Some(240)));
    assert_eq!((session.maintenance.prune_after.0, session.maintenance.max_entries), (45 * 86_400_000, 3));
    assert_eq!(session.identity_links.name("telegram", "1"), Some("ana_b"));
    assert_eq!(session.reset_by_channel["my_irc"].at_hour, Some(5));
    assert_eq!(session.send_policy.unwrap().rules[0].fields.key_prefix.as_deref(), Some("cron:"));
    for (text, line, says) in [
        (
            "[session.maintenance]\nmode = \"warn\"\npruneAfter = \"3 weeks\"\n",
            3,
            "[session]: invalid duration \"3 weeks\"",
        ),
        ("[session]\ndmScop = \"main\"\n", 2, "unknown field `dmScop`"),
        ("[session]\nreset = { mode = \"never\" }\n", 2, "unknown variant `never`"),
        ("session = 3\n", 1, "`session` must be a table."),
        ("[session.maintenance]\nmaxEntries = \n", 2, "Not valid TOML"),
    ] {
        let (settings, problems) = parse(text);
        assert_eq!((problems[0].line, settings.session), (Some(line), None), "{problems:?}");
        assert!(problems[0].text.contains(says), "{}", problems[0].text);
    }
    assert!(parse("[ui]\nfps = 0\n").0.session.is_some());
}

#[test]
fn the_tables_of_channels_are_read_together_and_a_mistake_in_one_is_one_in_all() {
    let (settings, problems) = parse(
        r#"
[channels.My_Irc]
allow_from = ["ana", "irc:bob"]
webhook = "http://127.0.0.1:9000/replies"
[agents.home_help]
mode = "ask"
[[bindings]]
agent_id = "home_help"
match = { channel = "my_irc", accountId = "*" }
[commands]
owner_allow_from = ["my_irc:ana"]
[messages.queue]
mode = "followup"
byChannel = { my_irc = "steer" }
"#,
    );
    assert_eq!(problems, []);
    let channels = settings.channels.unwrap();
    let (name, irc) = channels.channel("MY_IRC").unwrap();
    assert_eq!((name, irc.allow_from.len(), irc.pairing), ("my_irc", 2, true));
    assert_eq!((channels.bindings.len(), channels.agents.len(), channels.queue.by_channel.len()), (1, 1, 1));
    for (text, line, says) in [
        ("[channels.irc]\nallowFrm = []\n", 2, "[channels]: unknown field `allowFrm`"),
        ("[channels.\"a b\"]\n", 1, "[channels]: channels.a b can't be a channel's name"),
        ("[channels.irc]\nwebhook = \"http://example.org\"\n", 2, "unencrypted"),
        ("[agents.\"../x\"]\n", 1, "[agents]: agents.../x: "),
        ("[commands]\nownerAllowFrom = [\"*\"]\n", 1, "list the owners"),
        ("[messages.queue]\nmode = \"later\"\n", 2, "unknown variant `later`"),
        ("[[bindings]]\nagentId = \"main\"\n", 1, "missing field `match`"),
        ("bindings = 3\n", 1, "invalid type"),
    ] {
        let (settings, problems) = parse(text);
        assert_eq!((problems.len(), &settings.channels), (1, &None), "{text}: {problems:?}");
        assert_eq!(problems[0].line, Some(line), "{problems:?}");
        assert!(problems[0].text.contains(says), "{}", problems[0].text);
    }
}
