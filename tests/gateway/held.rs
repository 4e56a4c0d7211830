//! Commands that a model runs do not reach the gateway, in no mode: not by lisle, not by its socket, not by its secret.

use crate::place::{Place, err};
use crate::support::model_server::Script;
use serde_json::json;

/// Says what it reaches, by no word that a command line would give away.
const STEALS: &str = r#"
import os, socket
state, paths = PATHS
print("TRIED")
for name in ["gateway.lock", "gateway/credentials"]:
    try:
        # A hidden file is an empty one with a word of lisle's, or is not there.
        print("READ", open(os.path.join(state, name)).read())
    except OSError as error:
        print("no", name, error.errno)
for path in paths:
    try:
        line = socket.socket(socket.AF_UNIX)
        line.connect(path)
        print("CONNECTED", path)
    except OSError as error:
        print("no socket", error.errno)
"#;

#[test]
fn a_model_reaches_the_gateway_in_no_mode() {
    for runtime_dir in [false, true] {
        for mode in ["explore", "ask", "execute"] {
            let calls = |command: &str| Script::calls(&[("bash", json!({"command": command}))]);
            let place = Place::new([], "");
            let runtime = tempfile::tempdir().unwrap();
            let runtime_dir = runtime_dir.then(|| runtime.path());
            let _gateway = place.serve_in(runtime_dir);
            let lock = std::fs::read_to_string(place.lisle_home().join("state/gateway.lock")).unwrap();
            let socket =
                serde_json::from_str::<serde_json::Value>(&lock).unwrap()["socket"].as_str().unwrap().to_owned();
            assert_eq!(runtime_dir.is_some(), socket.starts_with(&*runtime.path().to_string_lossy()), "{socket}");
            let paths = format!("({:?}, [{socket:?}])", place.lisle_home().join("state"));
            std::fs::write(place.project.path().join("look.py"), STEALS.replace("PATHS", &paths)).unwrap();
            place.server.add(calls("python3 look.py"));
            place.server.add(calls(&format!("'{}' gateway status", crate::place::LISLE)));
            place.server.add(calls("lisle gateway call gateway.stop"));
            place.server.add(Script::says("Done."));
            let done = place.lisle(&["run", "--mode", mode, "go"]);
            let asked = place.server.asked();
            assert_eq!(asked.len(), 4, "{mode}: {}", err(&done));
            let all = &asked.last().unwrap().body;
            assert!(
                !all.contains(place.secret().trim()) && !all.contains("CONNECTED") && !all.contains("READ {"),
                "{all}"
            );
            assert_eq!(all.contains("TRIED"), mode == "execute", "{mode}: {all}");
            assert!(!all.contains("process "), "no status was printed in {mode}: {all}");
            assert!(place.status().is_some(), "the gateway goes on in {mode}");
        }
    }
}
