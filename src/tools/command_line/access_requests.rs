//! Access beside the sandbox: what a call of `bash` asks for by its field `access`, what a push to a repository of this machine
//! needs, and what of it a command gets in the end.
//!
//! The permission function decides if it gets it. Here it is found out what the words stand for on this machine.

use super::{affected_paths, git_moves};
use crate::domain;
use crate::domain::access::{Access, Extras, Service};
use crate::domain::command_effects::Settles;
use crate::domain::paths::{is_device, is_protected_for_commands, is_secret, lexical, protected_entries};
use crate::domain::permission::READERS;
use crate::domain::tool::Touch;
use crate::sandbox::Granted;
use crate::sandbox::places::{below_temp, protected_in};
use crate::sandbox::repository::Repository;
use crate::sandbox::withheld::services;
use crate::tools::CallPlace;
use crate::tools::files::{classify, paths};
use crate::tools::input::InputFields;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Entries of each list of a call.
const MOST: usize = 20;

/// Wishes of one call.
#[derive(Debug, Default)]
pub(in crate::tools) struct AccessAsked {
    pub touches: Vec<Touch>,
    /// Paths that are not opened, and why, a line each.
    pub not_opened: Vec<String>,
}

impl AccessAsked {
    fn take(&mut self, name: &str, found: Vec<Access>, why_none: &str) {
        if found.is_empty() {
            self.not_opened.push(format!("{name}: {why_none}"));
        }
        for access in found.into_iter().map(Touch::Access) {
            if !self.touches.contains(&access) {
                self.touches.push(access);
            }
        }
    }
}

/// Wishes of one call.
pub(in crate::tools) fn asked(input: &Value, command: &str, place: &CallPlace) -> Result<AccessAsked, String> {
    let mut out = AccessAsked::default();
    let Some(wanted) = input.get("access").filter(|wanted| !wanted.is_null()) else { return Ok(out) };
    let fields = InputFields::of("access", wanted)?;
    for name in list(&fields, wanted, "read")? {
        out.take(&name, read(&name, place)?.into_iter().collect(), "commands read it anyway");
    }
    for name in list(&fields, wanted, "write")? {
        let why = if own_temp(&sound(&name, place)?, place) { OWN_TEMP } else { "commands write it anyway" };
        out.take(&name, write(&name, place)?, why);
    }
    for name in list(&fields, wanted, "sockets")? {
        out.take(&name, vec![socket(&name, command)?], "");
    }
    Ok(out)
}

const OWN_TEMP: &str = "commands have folders for temporary files of their own";

/// Commands see a folder of the session's there.
fn own_temp(path: &Path, place: &CallPlace) -> bool {
    // What lies beside a working directory in there is somebody's work.
    let beside = path.parent().is_some_and(|above| place.cwd.starts_with(above) && above.components().count() > 2);
    place.allowances.own_temp && below_temp(path).is_some() && !beside
}

fn list(fields: &InputFields<'_>, wanted: &Value, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`access.{name}` is a list of at most {MOST} texts.");
    let _ = fields;
    match wanted.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MOST => {
            all.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// A path that is hidden; `None` where commands see it anyway.
fn read(name: &str, place: &CallPlace) -> Result<Option<Access>, String> {
    let path = sound(name, place)?;
    if path.symlink_metadata().is_err() {
        return Err(format!("{name} of `access.read` does not exist."));
    }
    let secret = classify::is_secret(&path, place) || is_secret(&path);
    Ok((secret || !path.starts_with(real(&place.cwd))).then_some(Access::Read { path, secret }))
}

/// Paths that are read-only at or below the named one; none where commands write it anyway.
fn write(name: &str, place: &CallPlace) -> Result<Vec<Access>, String> {
    let path = sound(name, place)?;
    let cwd = real(&place.cwd);
    let secret = classify::is_secret(&path, place) || is_secret(&path);
    let writes = |path: PathBuf| Access::Write { path, program: None };
    let Ok(short) = path.strip_prefix(&cwd) else {
        return match (secret, own_temp(&path, place)) {
            (true, _) => Err(format!("{name} is a secret: nothing opens it for writing.")),
            (false, true) => Ok(Vec::new()),
            (false, false) => Ok(vec![writes(path)]),
        };
    };
    if secret || is_protected_for_commands(short) {
        return Ok(vec![writes(path)]);
    }
    // A folder is opened by what is read-only in it, so that the question names that.
    let inner = protected_below(&path, &cwd);
    match short.as_os_str().is_empty() || inner.len() > MOST {
        true => Err(format!("{name} holds more than can be asked about at once. Name the read-only paths in it.")),
        false => Ok(inner.into_iter().map(writes).collect()),
    }
}

/// Protected paths below a folder of the working directory: those that are there, else those that could be.
fn protected_below(folder: &Path, cwd: &Path) -> Vec<PathBuf> {
    let of_git = Repository::of(cwd).map(|repository| repository.protected()).unwrap_or_default();
    let mut out = protected_in(cwd, std::env::home_dir().as_deref());
    out.extend(of_git.into_iter().filter(|path| path.symlink_metadata().is_ok()));
    out.retain(|path| path.starts_with(folder));
    if out.is_empty() {
        out.extend(protected_entries(folder).into_iter().map(|name| folder.join(name)));
    }
    out.sort();
    out.dedup();
    out
}

fn socket(name: &str, command: &str) -> Result<Access, String> {
    let named = Service::named(name).ok_or_else(|| {
        let known: Vec<&str> = Service::ALL.into_iter().map(Service::name).collect();
        format!("`access.sockets` lists {}; {name} is none of them.", known.join(", "))
    })?;
    let path = services::find(named).ok_or_else(|| format!("No {name} on this machine."))?;
    Ok(Access::Socket { service: named, path, program: program(command) })
}

/// The program of the line that gets it: the first one that is not known to only read.
fn program(command: &str) -> String {
    let commands = affected_paths::commands(command);
    let mut programs = commands.iter().filter_map(|argv| argv.first());
    let first = programs.clone().next();
    let changes = |name: &&String| *name != "cd" && !READERS.contains(&name.as_str());
    programs.find(changes).or(first).cloned().unwrap_or_default()
}

/// The resolved path, where it is one that may be opened at all.
fn sound(name: &str, place: &CallPlace) -> Result<PathBuf, String> {
    let path = paths::resolve(name, place)?;
    let own = place.own_dirs.iter().map(|own| real(own)).any(|own| own.starts_with(&path) || path.starts_with(own));
    let home = std::env::home_dir().map(|home| real(&home));
    let wide = home.is_some_and(|home| home.starts_with(&path)) || path.components().count() < 3;
    let kernel = ["/proc", "/sys", "/dev", "/run"].iter().any(|top| path.starts_with(top)) || is_device(&path);
    if own || wide || kernel {
        let why = match (own, wide) {
            (true, _) => "holds lisle's own files",
            (_, true) => "holds more than one project",
            _ => "belongs to the kernel or to running programs",
        };
        return Err(format!(
            "{} {why}: it can't be granted to a command. Name a file or folder in it.",
            path.display()
        ));
    }
    Ok(path)
}

fn real(path: &Path) -> PathBuf {
    paths::follow(path).unwrap_or_else(|_| path.to_owned())
}

/// Writes that a push to repositories of this machine needs, each with git as the one program.
pub(in crate::tools) fn pushes(command: &str, place: &CallPlace) -> Vec<Touch> {
    let mut out = Vec::new();
    for argv in affected_paths::commands(command) {
        let Some(("git", args)) = argv.split_first().map(|(program, args)| (program.as_str(), args)) else { continue };
        let mut words = args.iter().filter(|word| !word.starts_with('-'));
        if words.next().map(String::as_str) != Some("push") {
            continue;
        }
        let cwd = real(&place.cwd);
        let Some(repository) = Repository::of(&cwd) else { continue };
        let remotes = repository.local_remotes();
        let to = words.next();
        let named = to.map(|to| lexical(&cwd, Path::new(to)));
        let meant = |(name, path): &&(String, PathBuf)| to.is_none_or(|to| to == name) || named.as_ref() == Some(path);
        let mut paths: Vec<PathBuf> = remotes.iter().filter(meant).map(|(_, path)| path.clone()).collect();
        if paths.is_empty() {
            // A repository that the line itself names.
            paths.extend(
                named.filter(|path| path.is_dir()).and_then(|path| crate::sandbox::repository::folder_of(&path)),
            );
        }
        for path in paths.into_iter().filter(|path| !path.starts_with(&cwd)) {
            let access = Touch::Access(Access::Write { path, program: Some("git".to_owned()) });
            if !out.contains(&access) {
                out.push(access);
            }
        }
    }
    out
}

/// Repositories of this machine that git talks to, where every such command of the line talks to one.
pub(in crate::tools) fn local_remotes(command: &str, place: &CallPlace) -> Vec<Touch> {
    const TALKING: &[&str] = &["push", "pull", "fetch", "ls-remote", "clone"];
    let cwd = real(&place.cwd);
    let mut out = Vec::new();
    for argv in affected_paths::commands(command) {
        let Some(("git", args)) = argv.split_first().map(|(program, args)| (program.as_str(), args)) else { continue };
        let Some((subcommand, rest)) = domain::git_settings::subcommand(args).split_first() else { continue };
        if !TALKING.contains(&subcommand.as_str()) {
            continue;
        }
        let remotes = Repository::of(&cwd).map(|one| one.remotes()).unwrap_or_default();
        let folder = |address: &str| {
            let path = address.strip_prefix("file://").unwrap_or(address);
            crate::sandbox::repository::folder_of(&lexical(&cwd, Path::new(path)))
        };
        let addresses: Vec<&str> = match rest.iter().find(|word| !word.starts_with('-')) {
            // Which one is meant is git's to know.
            None => remotes.iter().map(|(_, address)| address.as_str()).collect(),
            Some(word) => {
                let of_name: Vec<&str> =
                    remotes.iter().filter(|(name, _)| name == word).map(|(_, one)| one.as_str()).collect();
                if of_name.is_empty() { vec![word.as_str()] } else { of_name }
            }
        };
        let found: Option<Vec<PathBuf>> = addresses.into_iter().map(folder).collect();
        match found {
            Some(found) if !found.is_empty() => out.extend(found),
            _ => return Vec::new(),
        }
    }
    out.sort();
    out.dedup();
    out.into_iter().map(|path| Touch::Read { path, secret: false }).collect()
}

/// Writes that changes of the repository's settings and hooks need: they are asked about, and nothing else is opened. A
/// setting that runs nothing needs no answer on a line of git alone.
pub(in crate::tools) fn settings(command: &str, place: &CallPlace) -> Vec<Touch> {
    let mut out = Vec::new();
    let notes = git_moves::at(command, place).notes;
    let elsewhere = |word: &String| ["--global", "--system", "-f", "--file"].contains(&word.as_str());
    for argv in affected_paths::commands(command).iter().filter(|argv| !argv.iter().any(elsewhere)) {
        let names: &[&str] = match domain::command_effects::reach(argv).settles {
            Some(Settles::Git(written)) if notes && written.harmless => continue,
            Some(Settles::Git(_)) => &["config"],
            Some(Settles::Hooks) => &["config", "hooks"],
            Some(Settles::Other(_)) | None => continue,
        };
        let folder = match argv.as_slice() {
            [_, option, folder, ..] if option == "-C" => lexical(&real(&place.cwd), Path::new(folder)),
            _ => real(&place.cwd),
        };
        let Some(repository) = Repository::of(&folder) else { continue };
        for path in names.iter().map(|name| repository.common.join(name)) {
            let access = Touch::Access(Access::Write { path, program: None });
            if !out.contains(&access) {
                out.push(access);
            }
        }
    }
    out
}

/// Writes outside of the working directory that the line names as its targets: what it copies to, clones to, makes.
pub(in crate::tools) fn targets(command: &str, place: &CallPlace) -> Vec<Touch> {
    let mut out = Vec::new();
    let cwd = real(&place.cwd);
    let mut at = cwd.clone();
    let full = |at: &Path, word: &str| match (word.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => lexical(&home, Path::new(below)),
        _ => lexical(at, Path::new(word)),
    };
    for argv in affected_paths::commands(command) {
        if let [change, to] = argv.as_slice()
            && change == "cd"
        {
            at = full(&at, to);
            continue;
        }
        for word in domain::command_effects::reach(&argv).made(|word| full(&at, word).is_dir()) {
            if word.contains(['$', '*', '?', '`', ':']) {
                continue;
            }
            let path = real(&full(&at, &word));
            let written = [&cwd, &real(&place.session_dir)].into_iter().any(|own| path.starts_with(own))
                || place.allowances.caches.iter().any(|cache| path.starts_with(&cache.at))
                || own_temp(&path, place)
                || ["/tmp", "/var/tmp"].iter().any(|temp| path == Path::new(temp));
            let opens = sound(&path.display().to_string(), place).is_ok() && !is_secret(&path);
            let access = Touch::Access(Access::Write { path, program: None });
            if opens && !written && !out.contains(&access) {
                out.push(access);
            }
        }
    }
    out.truncate(MOST);
    out
}

impl CallPlace {
    /// The same place with what the command at hand gets beside its sandbox.
    pub fn allow(&mut self, extras: &Extras) {
        if *extras == Extras::default() {
            return;
        }
        let mut allowances = (*self.allowances).clone();
        allowances.granted = granted(extras, &self.own_dirs);
        self.allowances = Arc::new(allowances);
    }
}

fn granted(extras: &Extras, own: &[PathBuf]) -> Granted {
    let sound = |path: &PathBuf| !own.iter().any(|own| path.starts_with(own) || own.starts_with(path));
    let mut out = Granted { env: extras.env.clone(), ..Granted::default() };
    // Where a link leads is what is shown.
    let shown = extras.readable.iter().filter(|path| sound(path)).filter_map(|path| path.canonicalize().ok());
    out.readable.extend(shown.filter(sound));
    for name in &extras.sockets {
        match Service::named(name) {
            Some(service) => {
                out.sockets.extend(services::find(service));
                out.readable.extend(services::files(service));
            }
            None => out.sockets.extend(Path::new(name).canonicalize().ok().filter(|path| sound(path))),
        }
    }
    out.writable = extras.writable.iter().filter(|path| sound(path)).map(|path| writable(path)).collect();
    // Secrets among them are not masked: they were answered for by name.
    out.unmasked = out.readable.iter().chain(&extras.readable).chain(&out.writable).cloned().collect();
    for list in [&mut out.readable, &mut out.unmasked, &mut out.writable, &mut out.sockets] {
        list.sort();
        list.dedup();
    }
    out
}

/// The path with the links of its folder followed. It need not be there yet.
fn writable(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent().and_then(|above| above.canonicalize().ok()), path.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        _ => path.to_owned(),
    }
}
