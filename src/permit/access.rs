//! Access beside the sandbox: who is asked for it, what an answer keeps, and what a call gets in the end.
//!
//! Explore gets nothing. A rule of a repository gives nothing. A socket, and a path that is written, go to one program, which
//! must be alone on its line but for readers.

use super::matches::{Ground, Ways};
use super::policy::Policy;
use super::row::{TouchRow, explore};
use super::rules::Rules;
use super::shell::{self, Judged};
use crate::domain::access::{Access, Extras, Service};
use crate::domain::command_effects::{Settles, reach};
use crate::domain::paths::{is_protected_for_commands, is_secret, is_secret_file, lexical};
use crate::domain::permission::Mode;
use crate::domain::rule::{Offer, Rule, SANDBOX};
use crate::domain::tool::{CallFacts, PathPlace, Touch};
use std::path::{Path, PathBuf};

/// The row of one access.
pub(super) fn row(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts, access: &Access) -> TouchRow {
    let (_, cwd) = line(facts).unwrap_or_default();
    let risk = access.risk(&cwd);
    if mode == Mode::Explore {
        return TouchRow::Deny(explore(&format!("the sandbox grants nothing: {risk}")));
    }
    let parts = match sole_program(policy, facts, access) {
        Ok(parts) => parts,
        Err(why) => return TouchRow::Deny(why),
    };
    let found = line(facts).and_then(|(command, cwd)| {
        let known = shell::known(command)?;
        let ways = Ways::of(&known.commands, &cwd, facts)?;
        rules.gives(access, parts.or_else(|| changing(policy, facts)).as_deref(), &ways)
    });
    if let Some(at) = found.or_else(|| match access {
        Access::Read { path, secret } => rules.shows(path, *secret),
        Access::Write { .. } | Access::Socket { .. } => None,
    }) {
        return TouchRow::Ruled(vec![at]);
    }
    let reason = match access {
        Access::Read { .. } => "The sandbox hides this from commands.",
        Access::Write { path, .. } => &written_there(facts, path),
        Access::Socket { .. } => "The sandbox hides the sockets of other programs.",
    };
    let offers: Vec<Offer> = offer(access, &rules.ground).into_iter().collect();
    TouchRow::Ask { reason: reason.to_owned(), risks: vec![risk], offers, every_time: true }
}

/// Why a path is opened for writing: of git's settings, which ones.
fn written_there(facts: &CallFacts, path: &Path) -> String {
    let plain = "Read-only for commands unless you allow it.".to_owned();
    let Some((command, _)) = line(facts).filter(|_| path.ends_with("config")) else { return plain };
    let known = shell::known(command).map(|known| known.commands).unwrap_or_default();
    let settings: Vec<String> = known
        .iter()
        .filter_map(|one| reach(one.argv.as_deref()?).settles)
        .filter_map(|settles| match settles {
            Settles::Git(written) => Some(written),
            Settles::Hooks | Settles::Other(_) => None,
        })
        .filter(|written| written.harmless)
        .flat_map(|written| written.settings)
        .map(|setting| format!("`{setting}`"))
        .collect();
    if settings.is_empty() {
        return plain;
    }
    format!("Sets {} in git's settings while other programs or hooks run.", settings.join(", "))
}

/// The rule that an answer for longer would keep; `None` where it is asked every time: what configures or runs code, and
/// secrets outside of the project.
pub(super) fn offer(access: &Access, ground: &Ground) -> Option<Offer> {
    let inside = |path: &Path| ground.here.iter().any(|here| path.starts_with(here));
    let (rule, worst) = match access {
        Access::Read { path, secret: true } => return secret(path, ground),
        Access::Read { path, secret: false } => (
            Rule { readable: vec![named(path, ground)], ..Rule::allow(SANDBOX) },
            "any command can read all of it except secrets".to_owned(),
        ),
        Access::Write { path, program: Some(program) } if !inside(path) => (
            Rule { program: Some(program.clone()), writable: vec![named(path, ground)], ..Rule::allow(SANDBOX) },
            format!("{program} can change or delete all of it"),
        ),
        // What configures or runs code is asked about every time.
        Access::Write { path, program: None } if inside(path) && is_secret(path) && !configures(path, ground) => (
            Rule { readable: vec![named(path, ground)], writable: vec![named(path, ground)], ..Rule::allow(SANDBOX) },
            "any command can read, send and change its contents".to_owned(),
        ),
        Access::Write { .. } => return None,
        Access::Socket { service, program, .. } => (
            Rule { program: Some(program.clone()), sockets: vec![service.name().to_owned()], ..Rule::allow(SANDBOX) },
            format!("{program} {}", service.worst()),
        ),
    };
    let sound = rule.fault().is_none();
    sound.then_some(Offer { rule, harmless: None, worst: Some(worst) })
}

/// The path configures or runs code, as far as its names from the working directory on tell.
fn configures(path: &Path, ground: &Ground) -> bool {
    ground.here.iter().filter_map(|here| path.strip_prefix(here).ok()).any(is_protected_for_commands)
}

/// The rule that shows a secret of the project to commands and file tools; `None` for one that lies elsewhere.
pub(super) fn secret(path: &Path, ground: &Ground) -> Option<Offer> {
    let inside = ground.here.iter().any(|here| path.starts_with(here));
    // A word that a shell would expand names another path.
    let literal = !path.to_string_lossy().contains(['~', '$', '`', '{', '[']);
    let rule = Rule { readable: vec![named(path, ground)], ..Rule::allow(SANDBOX) };
    (inside && literal && rule.fault().is_none()).then(|| Offer {
        rule,
        harmless: None,
        worst: Some("any command can read and send its contents".to_owned()),
    })
}

/// A secret of the project may be shown for the session; any other one is asked about every time.
pub(super) fn secret_row(mode: Mode, rules: &Rules, path: &Path, what: &str) -> TouchRow {
    if mode == Mode::Explore {
        return TouchRow::Deny(explore(&format!("{what} {}", says(path))));
    }
    if let Some(at) = rules.shows(path, true) {
        return TouchRow::Ruled(vec![at]);
    }
    let offers: Vec<Offer> = secret(path, &rules.ground).into_iter().collect();
    let risks = vec![secret_risk(path, rules)];
    TouchRow::Ask { reason: format!("{what} {}.", says(path)), risks, offers, every_time: true }
}

/// Secrecy by the name, or else by the file and its place.
fn says(path: &Path) -> &'static str {
    let named = is_secret_file(path);
    if named { "looks like a secret" } else { "may hold a secret" }
}

/// The warning about a secret.
pub(super) fn secret_risk(path: &Path, rules: &Rules) -> String {
    let here = rules.ground.here.iter().find(|here| path.starts_with(here));
    let access = Access::Read { path: path.to_owned(), secret: true };
    access.risk(here.map_or(Path::new("/"), PathBuf::as_path))
}

/// A rule that an answer may keep for the session alone: secrets, what is written, and sockets that control the machine.
pub(super) fn is_for_session(rule: &Rule) -> bool {
    let root = |name: &String| name == Service::Docker.name() || shell::is_root_socket(name);
    rule.sockets.iter().any(root)
        || rule.tool == SANDBOX
            && (!rule.writable.is_empty() || rule.readable.iter().any(|path| is_secret(Path::new(path))))
}

/// The path as a rule names it.
fn named(path: &Path, ground: &Ground) -> String {
    let below = |base: &Path, sign: &str| {
        let rest = path.strip_prefix(base).ok().filter(|rest| !rest.as_os_str().is_empty())?;
        Some(format!("{sign}/{}", rest.display()))
    };
    let here = ground.here.iter().find_map(|here| below(here, "."));
    let home = ground.home.as_deref().and_then(|home| below(home, "~"));
    here.or(home).unwrap_or_else(|| path.display().to_string())
}

/// The rule that would allow this, as it is written into permissions.json.
pub(super) fn written(rule: &Rule) -> String {
    serde_json::to_string(rule).unwrap_or_default()
}

/// The command line of a call and where it runs.
fn line(facts: &CallFacts) -> Option<(&str, PathBuf)> {
    facts.touches.iter().find_map(|touch| match touch {
        Touch::Command { command, cwd, .. } => Some((command.as_str(), cwd.clone())),
        _ => None,
    })
}

/// The commands of the one program that gets the access, each by its words; `None` where every program of the line does.
fn sole_program(policy: Policy, facts: &CallFacts, access: &Access) -> Result<Option<Vec<Vec<String>>>, String> {
    let program = match access {
        Access::Read { .. } | Access::Write { program: None, .. } => return Ok(None),
        Access::Write { program: Some(program), .. } | Access::Socket { program, .. } => program,
    };
    let refused = || {
        format!(
            "Access is granted to one program, here `{program}`, and the line runs others, or some that are only \
             known at run time. Run `{program}` on its own line."
        )
    };
    let (command, _) = line(facts).ok_or_else(refused)?;
    let known = shell::known(command).ok_or_else(refused)?;
    let mut found = Vec::new();
    for one in &known.commands {
        match one.argv.as_deref() {
            Some(argv) if argv.first() == Some(program) => found.push(argv.to_vec()),
            _ if changes_directory(one.argv.as_deref()) || only_reads(policy, facts, &one.text) => {}
            _ => return Err(refused()),
        }
    }
    if found.is_empty() { Err(refused()) } else { Ok(Some(found)) }
}

/// The commands of the line that may change something, each by its words; `None` where one is not known.
fn changing(policy: Policy, facts: &CallFacts) -> Option<Vec<Vec<String>>> {
    let known = shell::known(line(facts)?.0)?;
    let reads = |one: &&shell::DefiniteCommand| {
        !changes_directory(one.argv.as_deref()) && !only_reads(policy, facts, &one.text)
    };
    known.commands.iter().filter(reads).map(|one| one.argv.clone()).collect()
}

/// Rules that can be written by hand about what no answer keeps: the line as it is, and a path outside for its one program.
pub(super) fn by_hand(policy: Policy, facts: &CallFacts, touch: &Touch, ground: &Ground) -> Vec<Rule> {
    match touch {
        Touch::Command { .. } => {
            let exact = |argv: Vec<String>| {
                let (program, args) = argv.split_first()?;
                let rule = Rule { program: Some(program.clone()), args: Some(args.to_vec()), ..Rule::allow("bash") };
                rule.fault().is_none().then_some(rule)
            };
            changing(policy, facts).unwrap_or_default().into_iter().filter_map(exact).collect()
        }
        Touch::Access(access) => outside_by_hand(policy, facts, access, ground).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn outside_by_hand(policy: Policy, facts: &CallFacts, access: &Access, ground: &Ground) -> Option<Rule> {
    let Access::Write { path, program: None } = access else { return None };
    let parts = changing(policy, facts)?;
    let program = parts.first()?.first()?;
    let alone = parts.iter().all(|argv| argv.first() == Some(program));
    let inside = ground.here.iter().any(|here| path.starts_with(here));
    let rule = Rule { program: Some(program.clone()), writable: vec![named(path, ground)], ..Rule::allow(SANDBOX) };
    (alone && !inside && !is_secret(path) && rule.fault().is_none()).then_some(rule)
}

fn changes_directory(argv: Option<&[String]>) -> bool {
    argv.and_then(<[String]>::first).is_some_and(|program| program == "cd")
}

fn only_reads(policy: Policy, facts: &CallFacts, text: &str) -> bool {
    let programs = facts.touches.iter().find_map(|touch| match touch {
        Touch::Command { programs, .. } => Some(programs.as_slice()),
        _ => None,
    });
    let verdict = shell::judge_found(text, policy.read_only_profile, programs.unwrap_or_default(), None).verdict;
    matches!(verdict, Judged::ReadOnly(_))
}

/// Access of a call that was allowed. What a rule names for a program goes to the whole line, so every other command
/// of it must only read, here or there, or be one that a rule names it for as well.
#[must_use]
pub fn extras(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts) -> Extras {
    let mut out = Extras::default();
    let Some((command, cwd)) = line(facts).filter(|_| mode != Mode::Explore) else { return out };
    for touch in &facts.touches {
        match touch {
            Touch::Access(Access::Read { path, .. }) => out.readable.push(path.clone()),
            Touch::Access(Access::Write { path, .. })
            | Touch::Write { path, place: PathPlace::Outside | PathPlace::Protected } => {
                out.writable.push(path.clone())
            }
            Touch::Access(Access::Socket { service, path, .. }) => {
                out.sockets.extend([service.name().to_owned(), path.display().to_string()]);
                out.env.extend(service.variables().iter().map(|name| (*name).to_owned()));
            }
            _ => {}
        }
    }
    out.writable.extend(named_on_line(facts.of_extensions(), command, &cwd, &rules.ground));
    for (_, rule) in rules.giving().filter(|(_, rule)| rule.tool == SANDBOX && rule.program.is_none()) {
        out.readable.extend(rule.readable.iter().flat_map(|path| super::matches::places(path, &rules.ground)));
        out.writable.extend(rule.writable.iter().flat_map(|path| super::matches::places(path, &rules.ground)));
    }
    by_program(policy, rules, facts, &mut out);
    for list in [&mut out.env, &mut out.sockets] {
        list.sort();
        list.dedup();
    }
    for list in [&mut out.readable, &mut out.writable] {
        list.sort();
        list.dedup();
    }
    out
}

/// Paths that the line writes by their literal names although commands cannot: the answer was about just these.
fn named_on_line(of_extensions: &[String], command: &str, cwd: &Path, ground: &Ground) -> Vec<PathBuf> {
    let mut looks = shell::looks(command, cwd);
    looks.only_uses(of_extensions);
    let literal = looks.protected.iter().chain(&looks.writes_outside).filter_map(|word| {
        let word = word.replacen("${HOME}", "~", 1).replacen("$HOME", "~", 1);
        let known = !word.contains(['$', '*', '?', '[', '{', '`']);
        match (word.strip_prefix("~/"), &ground.home) {
            _ if !known => None,
            (Some(below), Some(home)) => Some(lexical(home, Path::new(below))),
            _ => Some(lexical(cwd, Path::new(&word))),
        }
    });
    let mut out: Vec<PathBuf> = literal.collect();
    let known = shell::known(command).map(|line| line.commands).unwrap_or_default();
    for argv in known.iter().filter_map(|one| one.argv.as_deref()) {
        let targets = reach(argv).targets().map(|target| lexical(cwd, Path::new(&target))).collect::<Vec<_>>();
        out.extend(
            targets.into_iter().filter(|path| is_protected_for_commands(path.strip_prefix(cwd).unwrap_or(path))),
        );
    }
    // What lies in an opened place is open with it.
    let all = out.clone();
    out.retain(|path| !all.iter().any(|above| path != above && path.starts_with(above)));
    out
}

/// Adds what rules name for the programs of the line.
fn by_program(policy: Policy, rules: &Rules, facts: &CallFacts, out: &mut Extras) {
    let mut given = Vec::new();
    for touch in &facts.touches {
        let Touch::Command { command, cwd, programs, .. } = touch else { continue };
        let Some(line) = shell::known(command) else { return };
        let Some(ways) = Ways::of(&line.commands, cwd, facts) else { return };
        for one in &line.commands {
            let own = one.argv.as_deref().is_some_and(|argv| {
                programs.iter().any(|program| program.inside && argv.first() == Some(&program.name))
            });
            let named: Vec<&Rule> = match one.argv.as_deref().filter(|_| !own) {
                Some(argv) => {
                    let gives = |rule: &Rule| super::matches::gives_to(rule, argv, &ways);
                    rules.giving().filter(|(_, rule)| gives(rule)).map(|(_, rule)| rule).collect()
                }
                None => Vec::new(),
            };
            if named.is_empty() && !changes_directory(one.argv.as_deref()) && !only_reads(policy, facts, &one.text) {
                return;
            }
            given.extend(named);
        }
    }
    let places = |list: &[String]| -> Vec<PathBuf> {
        list.iter().flat_map(|path| super::matches::places(path, &rules.ground)).collect()
    };
    for rule in given {
        out.env.extend(rule.env.iter().cloned());
        out.readable.extend(places(&rule.readable));
        out.writable.extend(places(&rule.writable));
        out.sockets.extend(rule.sockets.iter().cloned());
        let services = rule.sockets.iter().filter_map(|name| Service::named(name));
        out.env.extend(services.flat_map(|service| service.variables()).map(|name| (*name).to_owned()));
    }
}
