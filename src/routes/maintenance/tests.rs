//! Plans by table, and properties: a dry run equals what is applied, a second run has nothing to do.

use super::*;
use crate::domain::ids::SessionId;
use crate::routes::config::{Bytes, Days};
use proptest::prelude::*;
use serde_json::json;

const NOW: At = At(1_776_625_417_979); // 2026-04-19T19:03:37.979Z

fn days_ago(days: u64) -> At {
    At(NOW.0 - i64::try_from(days * DAY).unwrap())
}

fn row(key: &str, session: &str, days: Option<u64>) -> MaintainedRow {
    MaintainedRow {
        key: key.into(),
        session: SessionId::parse(session).unwrap(),
        file: None,
        updated_at: days.map(days_ago),
        running: false,
        flagged: false,
        is_main: false,
        is_run: false,
        model: None,
    }
}

fn file(name: &str, bytes: u64, days: u64) -> StoreFile {
    StoreFile { name: name.into(), bytes, modified: days_ago(days), kind: FileKind::of_name(name), keep: false }
}

fn store(rows: Vec<MaintainedRow>, files: Vec<StoreFile>) -> StoreState {
    StoreState { agent: "main".into(), path: "/s/sessions.json".into(), rows, files }
}

fn config(text: &str) -> MaintenanceConfig {
    toml::from_str(text).unwrap()
}

fn planned(store: &StoreState, config: &MaintenanceConfig, active: &[&str]) -> MaintenancePlan {
    let active: BTreeSet<String> = active.iter().map(|key| (*key).to_owned()).collect();
    let run = MaintenanceRun::Enforce;
    plan(store, &MaintenanceRequest { now: NOW, config, run, fix_missing: false, active: &active })
}

fn texts(actions: &[MaintenanceAction]) -> Vec<String> {
    actions.iter().map(MaintenanceAction::text).collect()
}

#[test]
fn names_of_files() {
    let session = |id: &str| FileKind::Conversation { session: SessionId::parse(id).unwrap() };
    for (name, kind) in [
        ("sessions.json", FileKind::Store),
        ("sessions.json.bak.17", FileKind::StoreBackup { at: At(17) }),
        ("sessions.json.bak.x", FileKind::Other),
        ("a1.jsonl", session("a1")),
        ("a1-topic-5%2F6.jsonl", session("a1")),
        ("a1.checkpoint.77.jsonl", session("a1")),
        ("a1.jsonl.reset.2026-04-19T19-03-37.979Z", FileKind::Archive { reason: ArchiveReason::Reset, at: NOW }),
        ("a1.jsonl.deleted.2026-04-19T19-03-37.979Z", FileKind::Archive { reason: ArchiveReason::Deleted, at: NOW }),
        ("a1.jsonl.bak.2026-04-19T19-03-37.979Z", FileKind::Archive { reason: ArchiveReason::Backup, at: NOW }),
        ("a1.jsonl.deleted.soon", FileKind::Other),
        ("a1.jsonl.lock", FileKind::Other),
        ("notes.txt", FileKind::Other),
    ] {
        assert_eq!(FileKind::of_name(name), kind, "{name}");
    }
    assert_eq!(archive_name("a1.jsonl", ArchiveReason::Reset, NOW), "a1.jsonl.reset.2026-04-19T19-03-37.979Z");
}

#[test]
fn steps_in_their_order() {
    let mut main = row("agent:main:main", "m", Some(400));
    main.is_main = true;
    let state = store(
        vec![
            main,
            row("old", "a", Some(31)),
            row("shared", "b", Some(40)),
            row("shares", "b", Some(1)),
            row("none", "c", None),
            row("new", "d", Some(2)),
            row("edge", "e", Some(30)),
        ],
        vec![
            file("sessions.json", 11 << 20, 0),
            file("sessions.json.bak.1", 1, 300),
            file("sessions.json.bak.2", 1, 300),
            file("sessions.json.bak.3", 1, 300),
            file("a.jsonl", 10, 31),
            file("b.jsonl", 10, 1),
            file("c.jsonl", 10, 1),
            file("x.jsonl.deleted.2026-03-01T00-00-00.000Z", 10, 40),
            file("x.jsonl.reset.2026-04-10T00-00-00.000Z", 10, 9),
            file("x.jsonl.bak.2020-04-10T00-00-00.000Z", 10, 9),
        ],
    );
    let plan = planned(&state, &config("maxEntries = 4\nresetArchiveRetention = \"7d\""), &[]);
    assert_eq!(
        texts(&plan.actions),
        [
            "Remove row shared: too old",
            "Remove row old: too old",
            "Remove row none: too many rows",
            "Archive conversation a.jsonl",
            "Archive conversation c.jsonl",
            "Delete archive x.jsonl.deleted.2026-03-01T00-00-00.000Z: too old",
            "Delete archive x.jsonl.reset.2026-04-10T00-00-00.000Z: too old",
            "Copy store to sessions.json.bak.1776625417979",
            "Delete store copy sessions.json.bak.1",
        ]
    );
    assert_eq!(
        (plan.report.before_count, plan.report.after_count, plan.report.pruned, plan.report.capped),
        (7, 4, 2, 1)
    );
}

#[test]
fn safe_rows_stay_in_every_step() {
    let with = |key: &str, change: fn(&mut MaintainedRow)| {
        let mut row = row(key, key, Some(400));
        change(&mut row);
        row
    };
    let rows = vec![
        with("main", |row| row.is_main = true),
        with("running", |row| row.running = true),
        with("flagged", |row| row.flagged = true),
        with("active", |_| {}),
        with("gone", |_| {}),
    ];
    let files = rows.iter().map(|row| file(&format!("{}.jsonl", row.key), 1000, 400)).collect();
    let state = store(rows, files);
    let all = "pruneAfter = 0\nmaxEntries = 1\nmaxDiskBytes = 1";
    let plan = planned(&state, &config(all), &["active"]);
    let removed: Vec<String> = texts(&plan.actions).into_iter().filter(|text| text.contains("row")).collect();
    assert_eq!(removed, ["Remove row gone: too old"]);
    // Without files, `--fix-missing` would take them too.
    let active = BTreeSet::from(["active".to_owned()]);
    let config = config(all);
    let request = MaintenanceRequest {
        now: NOW,
        config: &config,
        run: MaintenanceRun::DryRun,
        fix_missing: true,
        active: &active,
    };
    let missing = super::plan(&store(state.rows.clone(), vec![]), &request);
    assert_eq!(texts(&missing.actions), ["Remove row gone: no conversation"]);
}

#[test]
fn the_disk_budget_deletes_files_then_rows() {
    let state = store(
        vec![row("a", "a", Some(3)), row("b", "b", Some(2)), row("c", "c", Some(1))],
        vec![
            file("sessions.json", 100, 0),
            file("a.jsonl", 100, 3),
            file("b.jsonl", 100, 2),
            file("c.jsonl", 100, 1),
            file("orphan.jsonl", 100, 5),
            file("x.jsonl.reset.2026-04-18T00-00-00.000Z", 100, 1),
            file("notes.txt", 100, 900),
        ],
    );
    let plan = planned(&state, &config("maxDiskBytes = 600\nhighWaterBytes = 400"), &[]);
    assert_eq!(
        texts(&plan.actions),
        [
            "Delete orphan.jsonl: disk limit",
            "Delete x.jsonl.reset.2026-04-18T00-00-00.000Z: disk limit",
            "Remove row a: disk limit",
            "Delete a.jsonl: disk limit",
        ]
    );
    let budget = plan.report.disk_budget.unwrap();
    assert_eq!((budget.total_bytes_before, budget.total_bytes_after, budget.freed_bytes), (700, 400, 300));
    assert_eq!((budget.removed_files, budget.removed_entries, budget.over_budget), (3, 1, true));
    assert!(planned(&state, &config("maxDiskBytes = 700"), &[]).actions.is_empty());
}

#[test]
fn modes_decide_if_the_list_is_applied() {
    let state = store(vec![row("old", "a", Some(31))], vec![]);
    for (mode, run, applies) in [
        ("warn", MaintenanceRun::ByMode, false),
        ("enforce", MaintenanceRun::ByMode, true),
        ("warn", MaintenanceRun::Enforce, true),
        ("enforce", MaintenanceRun::DryRun, false),
    ] {
        let config = config(&format!("mode = \"{mode}\""));
        let request =
            MaintenanceRequest { now: NOW, config: &config, run, fix_missing: false, active: &BTreeSet::new() };
        let plan = super::plan(&state, &request);
        assert_eq!(plan.applies, applies, "{mode} {run:?}");
        assert_eq!(texts(&plan.actions), ["Remove row old: too old"]);
    }
}

#[test]
fn json_and_lines() {
    let mut kept = row("agent:main:telegram:direct:123456789", "b", Some(1));
    kept.model = Some("opus".into());
    kept.flagged = true;
    let state = store(vec![row("old", "a", Some(31)), kept], vec![file("a.jsonl", 5, 31)]);
    let config = config("maxDiskBytes = 100");
    let active = BTreeSet::new();
    let run = MaintenanceRun::DryRun;
    let request = MaintenanceRequest { now: NOW, config: &config, run, fix_missing: false, active: &active };
    let plan = super::plan(&state, &request);
    assert_eq!(
        serde_json::to_value(&plan.report).unwrap(),
        json!({
            "agentId": "main", "storePath": "/s/sessions.json", "mode": "warn", "dryRun": true, "beforeCount": 2,
            "afterCount": 1, "missing": 0, "pruned": 1, "capped": 0,
            "diskBudget": {"totalBytesBefore": 5, "totalBytesAfter": 5, "removedFiles": 0, "removedEntries": 0,
                "freedBytes": 0, "maxBytes": 100, "highWaterBytes": 80, "overBudget": false},
            "wouldMutate": true
        })
    );
    let applied = plan.report.clone().applied(1);
    let all = all_stores(MaintenanceMode::Warn, false, std::slice::from_ref(&applied));
    assert_eq!((&all["allAgents"], &all["stores"][0]["appliedCount"]), (&json!(true), &json!(1)));
    assert_eq!(
        report_lines(&state, &request, &plan),
        [
            "Session store: /s/sessions.json",
            "Maintenance mode: warn",
            "Entries: 2 -> 1 (remove 1)",
            "Would prune stale: 1",
            "Planned session actions:",
            "Action         Key                        Age       Model          Flags",
            "prune-stale    old                        31d ago   -",
            "keep           agent:main:teleg...456789  24h ago   opus           flagged",
            "Archive conversation a.jsonl",
        ]
    );
    let plan = MaintenancePlan { report: applied, ..plan };
    assert_eq!(report_lines(&state, &request, &plan).last().unwrap(), "Applied maintenance. Current entries: 1");
}

#[test]
fn runs_of_jobs_expire() {
    let run = |key: &str, days| MaintainedRow { is_run: true, ..row(key, key, Some(days)) };
    let state = store(vec![run("r1", 2), run("r2", 0), row("job", "job", Some(9))], vec![file("r1.jsonl", 1, 2)]);
    let sweep = |retention| texts(&sweep_runs(&state, NOW, retention, &BTreeSet::new()));
    assert_eq!(sweep(Some(DAY)), ["Remove row r1: run expired", "Archive conversation r1.jsonl"]);
    assert!(sweep(None).is_empty());
}

fn any_row() -> impl Strategy<Value = MaintainedRow> {
    (
        "[a-f]",
        "[a-e]",
        prop::option::of(0u64..60),
        prop::array::uniform4(prop::bool::weighted(0.15)),
        prop::option::of("[a-e]\\.jsonl"),
    )
        .prop_map(|(key, session, days, [running, flagged, is_main, is_run], file)| MaintainedRow {
            running,
            flagged,
            is_main,
            is_run,
            file,
            ..row(&key, &session, days)
        })
}

fn any_file() -> impl Strategy<Value = StoreFile> {
    let name = prop_oneof![
        "[a-h]\\.jsonl",
        "[a-c]\\.jsonl\\.(reset|deleted|bak)\\.2026-0[1-4]-1[0-9]T00-00-00\\.000Z",
        "sessions\\.json\\.bak\\.177(5|6)[0-9]{9}",
        Just("sessions.json".to_owned()),
        Just("notes.txt".to_owned()),
    ];
    (name, 0u64..400, 0u64..60, prop::bool::weighted(0.1))
        .prop_map(|(name, bytes, days, keep)| StoreFile { keep, ..file(&name, bytes, days) })
}

fn any_store() -> impl Strategy<Value = StoreState> {
    (prop::collection::vec(any_row(), 0..8), prop::collection::vec(any_file(), 0..14)).prop_map(
        |(mut rows, mut files)| {
            rows.sort_by(|a, b| a.key.cmp(&b.key));
            rows.dedup_by(|a, b| a.key == b.key);
            files.sort_by(|a, b| a.name.cmp(&b.name));
            files.dedup_by(|a, b| a.name == b.name);
            store(rows, files)
        },
    )
}

fn any_config() -> impl Strategy<Value = MaintenanceConfig> {
    (
        0u64..50,
        1usize..8,
        1u64..400,
        prop::option::of(prop::option::of(0u64..50)),
        prop::option::of(1u64..2000),
        prop::option::of(1u64..2000),
    )
        .prop_map(|(prune, max_entries, rotate, reset, max, high)| MaintenanceConfig {
            mode: MaintenanceMode::Warn,
            prune_after: Days(prune * DAY),
            max_entries,
            rotate_bytes: Bytes(rotate),
            reset_archive_retention: reset.map(|days| days.map(|days| Days(days * DAY))),
            max_disk_bytes: max.map(Bytes),
            high_water_bytes: high.map(Bytes),
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_second_run_has_no_actions_and_safe_rows_stay(
        state in any_store(),
        config in any_config(),
        fix_missing in any::<bool>(),
        active in prop::option::of("[a-f]"),
    ) {
        let active: BTreeSet<String> = active.into_iter().collect();
        let run = MaintenanceRun::DryRun;
        let request = MaintenanceRequest { now: NOW, config: &config, run, fix_missing, active: &active };
        let dry = super::plan(&state, &request);
        let enforced = super::plan(&state, &MaintenanceRequest { run: MaintenanceRun::Enforce, ..request });
        prop_assert_eq!(&dry.actions, &enforced.actions, "a dry run shows what enforcing does");
        let mut after = state.clone();
        dry.actions.iter().for_each(|action| after.apply(action));
        prop_assert_eq!(after.rows.len(), dry.report.after_count);
        let again = super::plan(&after, &request);
        prop_assert_eq!(again.actions, vec![]);
        for row in &state.rows {
            let safe = row.is_main || row.running || row.flagged || active.contains(&row.key);
            let kept = after.rows.contains(row);
            prop_assert!(kept || !safe, "{:?}", row);
            let file_kept = |file: &StoreFile| after.files.contains(file);
            prop_assert!(!kept || state.files.iter().filter(|file| row.owns(file)).all(file_kept), "{:?}", row);
        }
        let copy = |file: &StoreFile| matches!(file.kind, FileKind::StoreBackup { .. });
        let lost = state.files.iter().find(|file| file.keep && !copy(file) && !after.files.contains(file));
        prop_assert_eq!(lost, None);
        if let Some(budget) = dry.report.disk_budget {
            prop_assert_eq!(budget.total_bytes_after, after.total_bytes());
        }
    }
}
