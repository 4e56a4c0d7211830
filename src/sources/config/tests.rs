//! Tables of configuration files and what is read of them.

use super::*;

fn craft(text: &str) -> Result<SourceConfig, Problem> {
    craft_source(Path::new("/ws/sources/files/config.json"), text)
}

#[test]
fn sources_of_craft_agents_are_read() {
    let text = r#"{"id": "files_1a2b3c4d", "name": "Files", "slug": "files", "enabled": true, "provider": "custom",
        "type": "mcp", "tagline": "Files of the team", "icon": "📁", "isAuthenticated": true,
        "connectionStatus": "connected", "createdAt": 1, "mcp": {"transport": "stdio", "command": "npx",
        "args": ["-y", "server", "${HOME}/x"], "env": {"KEY": "${MY_KEY}"}}}"#;
    let source = craft(text).unwrap();
    assert_eq!((source.slug.as_str(), source.name.as_str(), source.enabled), ("files", "Files", true));
    assert_eq!(source.target(), "npx -y server ${HOME}/x");
    let Launch::Program { env, .. } = &source.launch else { panic!("{source:?}") };
    assert_eq!(env["KEY"], "${MY_KEY}");
    let http =
        craft(r#"{"type": "mcp", "mcp": {"url": "https://x.example/mcp?key=abc", "authType": "none"}}"#).unwrap();
    assert!(matches!(http.launch, Launch::Http { .. }), "{http:?}");
    assert_eq!(http.target(), "https://x.example/mcp");
    let keyed = craft(r#"{"type": "mcp", "mcp": {"url": "https://me:hunter22@x.example:8443/a/b#c"}}"#).unwrap();
    assert_eq!(keyed.target(), "https://x.example:8443/a/b");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9");
    let keyed = craft(&format!(r#"{{"type": "mcp", "mcp": {{"command": "x", "args": ["{token}"]}}}}"#)).unwrap();
    assert!(!keyed.target().contains(&token), "{}", keyed.target());
}

#[test]
fn what_is_not_supported_says_so_and_what_is_broken_is_a_problem() {
    for (text, why) in [
        (r#"{"type": "api", "api": {}}"#, "type api"),
        (r#"{"type": "local", "local": {}}"#, "type local"),
        (r#"{"type": "mcp", "mcp": {"url": "https://x.example", "authType": "oauth"}}"#, "OAuth"),
        (r#"{"type": "mcp", "mcp": {"url": "https://x.example", "authType": "bearer"}}"#, "Authorization header"),
        (r#"{"type": "mcp", "mcp": {"url": "https://x.example", "transport": "sse"}}"#, "sse"),
        (r#"{"type": "mcp", "mcp": {"url": "file:///etc/passwd"}}"#, "http or https"),
        (r#"{"type": "mcp", "mcp": {}}"#, "`command` or a `url`"),
    ] {
        let source = craft(text).unwrap();
        assert!(matches!(&source.launch, Launch::Unsupported(said) if said.contains(why)), "{text}: {source:?}");
    }
    for text in
        ["", "[]", "{}", r#"{"type": "mcp"}"#, r#"{"type": "x"}"#, r#"{"type": "mcp", "slug": "other", "mcp": {}}"#]
    {
        assert!(craft(text).is_err(), "{text}");
    }
    for folder in ["a__b", "session", "a b"] {
        let file = format!("/ws/sources/{folder}/config.json");
        assert!(craft_source(Path::new(&file), r#"{"type": "mcp", "mcp": {"command": "x"}}"#).is_err(), "{folder}");
    }
}

#[test]
fn servers_of_a_project_get_names_that_can_be_told_apart() {
    let text = r#"{"mcpServers": {
        "files": {"command": "node", "args": ["x.js"]},
        "My Files": {"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": "${KEY}"}},
        "My  Files": {"command": "x"},
        "session": {"command": "x"},
        "off": {"command": "x", "disabled": true},
        "broken": {"command": 3},
        "ä": {"command": "x"}}}"#;
    let (servers, problems) = project_servers(Path::new("/p/.mcp.json"), text);
    let slugs: Vec<(&str, bool)> = servers.iter().map(|one| (one.slug.as_str(), one.enabled)).collect();
    assert_eq!(slugs, [("files", true), ("My-Files", true), ("off", false)]);
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(servers.iter().all(|one| !one.trusted));
    for text in ["", "{", "[]", r#"{"servers": {}}"#] {
        assert_eq!(project_servers(Path::new("/p/.mcp.json"), text).1.len(), 1, "{text}");
    }
}

#[test]
fn variables_are_filled_in_and_missing_ones_are_named() {
    let known = |name: &str| match name {
        "HOME" => Some("/home/me".to_owned()),
        "KEY" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    for (text, expected) in [
        ("plain $HOME", Ok("plain $HOME")),
        ("~/x/${KEY}/~", Ok("/home/me/x/s3cret/~")),
        ("${NO:-usual}${EMPTY:-x}", Ok("usualx")),
        ("${KEY", Ok("${KEY")),
        ("Bearer ${NO}", Err("The variable NO is not set.")),
        ("${EMPTY}", Err("The variable EMPTY is not set.")),
    ] {
        assert_eq!(filled(text, &known), expected.map(str::to_owned).map_err(str::to_owned), "{text}");
    }
}

#[test]
fn a_new_source_reads_as_it_was_written_and_another_program_is_another_identity() {
    let launch = Launch::Program { command: "npx".into(), args: vec!["-y".into(), "a".into()], env: BTreeMap::new() };
    let source = craft(&new_source("files", &launch)).unwrap();
    assert_eq!(source.launch, launch);
    let other = Launch::Program { command: "npx".into(), args: vec!["-y".into(), "b".into()], env: BTreeMap::new() };
    assert_ne!(craft(&new_source("files", &other)).unwrap().identity(), source.identity());
    let http = Launch::Http { url: "https://x.example/mcp".into(), headers: BTreeMap::new() };
    assert_eq!(craft(&new_source("files", &http)).unwrap().launch, http);
}
