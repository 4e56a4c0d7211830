//! Skills, agents and commands of one workspace and of the directories where its sessions work, as far as they are trusted.
//!
//! Nobody but lisle's user writes the configuration, the home and the workspaces in lisle's data folder. What comes with a
//! repository or with another workspace counts by its bytes. All files of one such folder are asked about together; each is
//! remembered by itself, so that a change asks about the changed ones alone.

use super::rules::{Places, WorkspaceOrigin, repository};
use crate::agent::ExtensionBook;
use crate::app::slash::Slash;
use crate::config::trust::{TrustFile, Trusted};
use crate::domain::command::{Expansion, OwnCommand};
use crate::domain::extension::{ExtensionKind, ExtensionOrigin};
use crate::domain::problem::Problem;
use crate::domain::request::TrustRequest;
use crate::extensions::{Extension, ExtensionList, ExtensionPlaces};
use std::path::{Path, PathBuf};

/// Characters of one file that are shown before it is trusted.
const LONGEST_SHOWN: usize = 20_000;

/// Skills, agents and commands of one workspace.
#[derive(Clone, Debug)]
pub struct ExtensionFiles {
    config: PathBuf,
    workspace: PathBuf,
    home: Option<PathBuf>,
    origin: WorkspaceOrigin,
}

/// An extension that is not trusted.
struct Untrusted {
    file: PathBuf,
    hash: String,
    shown: String,
    start: String,
    origin: ExtensionOrigin,
}

impl ExtensionFiles {
    pub(super) fn new(places: &Places) -> Self {
        let Places { config, workspace, home, origin, .. } = places.clone();
        Self { config, workspace, home, origin }
    }

    /// The workspace's folder.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn places(&self, cwd: &Path) -> ExtensionPlaces {
        ExtensionPlaces {
            config: self.config.clone(),
            workspace: self.workspace.clone(),
            is_own_workspace: self.origin == WorkspaceOrigin::DataFolder,
            home: self.home.clone(),
            repository: repository(cwd),
        }
    }

    /// Files that count by their bytes, whether or not they exist.
    pub(super) fn files(&self, cwd: &Path) -> Vec<PathBuf> {
        self.places(cwd).files_of_others()
    }

    /// All of them.
    #[must_use]
    pub fn list(&self, cwd: &Path, trusted: &Trusted) -> ExtensionList {
        let reserved: Vec<&str> = Slash::ALL.iter().map(|slash| slash.word()).collect();
        // A workspace of another program is trusted as a whole before its files are.
        let is_closed = self.origin == WorkspaceOrigin::Foreign && !trusted.workspace(&self.workspace);
        let counts = |file: &Path, hash: &str| {
            !(is_closed && file.starts_with(&self.workspace)) && trusted.counts_extension(file, hash)
        };
        ExtensionList::read(&self.places(cwd), &reserved, &counts)
    }

    /// Files that may be trusted now: one request a folder.
    fn untrusted(&self, cwd: &Path, trusted: &Trusted) -> [(PathBuf, Vec<Untrusted>); 2] {
        let list = self.list(cwd, trusted);
        let mut all: Vec<Untrusted> = Vec::new();
        all.extend(list.skills.iter().filter_map(|skill| {
            let file = &skill.content.file;
            let does = match file.always_allow.is_empty() {
                true => "instructions for the model".to_owned(),
                false => format!("runs without asking while it is used: {}", file.always_allow.join(", ")),
            };
            of(skill, format!("skill {}: {does}", skill.slug))
        }));
        all.extend(
            list.agents
                .iter()
                .filter_map(|agent| of(agent, format!("agent {}: instructions for the model", agent.slug))),
        );
        all.extend(
            list.commands
                .iter()
                .filter(|command| command.own().needs_trust())
                .filter_map(|command| of(command, format!("command /{}: {}", command.slug, does(&command.own())))),
        );
        let closed = self.origin == WorkspaceOrigin::Foreign && !trusted.workspace(&self.workspace);
        all.retain(|one| !(closed && one.origin == ExtensionOrigin::Workspace));
        let (workspace, repository_files) = all.into_iter().partition(|one| one.origin == ExtensionOrigin::Workspace);
        [(self.workspace.clone(), workspace), (repository(cwd), repository_files)]
    }

    /// Requests for trust in what others wrote.
    pub(super) fn requests(&self, cwd: &Path, trusted: &Trusted) -> Vec<TrustRequest> {
        let folders = self.untrusted(cwd, trusted);
        let asked = folders.iter().filter_map(|(folder, files)| {
            let request = trusted.asks_of_extensions(folder, &files.iter().map(Untrusted::file).collect::<Vec<_>>())?;
            Some(TrustRequest { starts: files.iter().map(|one| one.start.clone()).collect(), ..request })
        });
        asked.collect()
    }

    /// Keeps trust in what was shown; `None` if it is no longer that.
    pub(super) fn keep(
        &self,
        request: &TrustRequest,
        trusted: (&Path, &Trusted),
        time: &str,
    ) -> Option<Result<(), String>> {
        // The folder of the request is a repository, or the workspace.
        let folders = self.untrusted(&request.path, trusted.1);
        let (folder, files) =
            folders.into_iter().find(|(folder, files)| *folder == request.path && !files.is_empty())?;
        let files: Vec<TrustFile<'_>> = files.iter().map(Untrusted::file).collect();
        let now = trusted.1.asks_of_extensions(&folder, &files)?;
        (now.hash == request.hash).then(|| crate::config::trust::keep_extensions(trusted.0, &files, time))
    }

    /// Commands, skills and agents that clients call by their names, and problems of the files of commands: the engine
    /// reports those of the others.
    #[must_use]
    pub fn called(&self, cwd: &Path) -> (Vec<OwnCommand>, Vec<Problem>) {
        let list = ExtensionBook::read(self, cwd);
        let mut out: Vec<OwnCommand> = list.commands.iter().map(|command| command.own()).collect();
        for skill in list.skills.iter().filter(|skill| !skill.content.file.for_model_alone) {
            let (kind, description) = (ExtensionKind::Skill, skill.content.file.description.clone());
            out.push(OwnCommand { hint: "[TASK]".to_owned(), ..by_name(skill, kind, description) });
        }
        for agent in &list.agents {
            out.push(by_name(agent, ExtensionKind::Agent, agent.content.description.clone()));
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        let problems = list.unusable.iter().filter(|one| one.kind == ExtensionKind::Command);
        (out, problems.filter_map(|one| one.problem().cloned()).collect())
    }
}

fn by_name<T>(found: &Extension<T>, kind: ExtensionKind, description: String) -> OwnCommand {
    OwnCommand {
        kind,
        name: found.slug.clone(),
        description,
        origin: found.origin,
        path: found.file.clone(),
        hash: found.hash.clone(),
        trusted: found.trusted,
        ..OwnCommand::default()
    }
}

fn of<T>(found: &Extension<T>, start: String) -> Option<Untrusted> {
    let (file, hash) = (found.file.clone(), found.hash.clone());
    let shown = match found.shown.char_indices().nth(LONGEST_SHOWN) {
        Some((at, _)) => {
            let begin = found.shown.get(..at).unwrap_or_default();
            format!("{begin}\n[the rest of this file is not shown: read it before you trust it]\n")
        }
        None => found.shown.clone(),
    };
    (!found.trusted).then_some(Untrusted { file, hash, shown, start, origin: found.origin })
}

impl Untrusted {
    fn file(&self) -> TrustFile<'_> {
        TrustFile { path: &self.file, hash: &self.hash, text: &self.shown }
    }
}

/// Effects of a command beside the text that it sends, in words.
fn does(own: &OwnCommand) -> String {
    let (mut runs, mut reads) = (Vec::new(), Vec::new());
    for one in own.expansions("") {
        match one {
            Expansion::Command(command) => runs.push(command),
            Expansion::File(path) => reads.push(path),
        }
    }
    let mut out = Vec::new();
    let mut say = |what: &str, all: &[String]| {
        if !all.is_empty() {
            out.push(format!("{what} {}", all.join(", ")));
        }
    };
    say("runs", &runs);
    say("reads", &reads);
    say("allows", &own.allowed_tools);
    if !own.model.is_empty() {
        say("uses the model", std::slice::from_ref(&own.model));
    }
    out.join("; ")
}

impl ExtensionBook for ExtensionFiles {
    fn read(&self, cwd: &Path) -> ExtensionList {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let (trusted, _) = Trusted::read(&self.config.join("trusted.toml"));
        self.list(&cwd, &trusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::RuleBook;
    use crate::domain::request::TrustWhat;
    use crate::runtime::rules::RuleFiles;

    struct Ground {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    impl Ground {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            for sub in ["config", "ws", "repo/.git", "repo/src"] {
                std::fs::create_dir_all(root.join(sub)).unwrap();
            }
            Self { _dir: dir, root }
        }

        fn put(&self, path: &str, text: &str) -> PathBuf {
            let path = self.root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        }

        fn cwd(&self) -> PathBuf {
            self.root.join("repo/src")
        }

        fn rules(&self, origin: WorkspaceOrigin) -> RuleFiles {
            let (config, workspace) = (self.root.join("config"), self.root.join("ws"));
            RuleFiles::new(Places { config, workspace, origin, home: Some(self.root.join("home")), given: Vec::new() })
        }
    }

    const SKILL: &str = "---\ndescription: d\nallowed-tools: Bash(git add:*)\n---\nDo it.\n";
    const AGENT: &str = "---\ndescription: d\n---\nYou review.\n";

    fn states(rules: &RuleFiles, cwd: &Path) -> Vec<(String, bool)> {
        let list = rules.extensions().read(cwd);
        let mut out: Vec<(String, bool)> = list.skills.iter().map(|one| (one.slug.clone(), one.trusted)).collect();
        out.extend(list.agents.iter().map(|one| (one.slug.clone(), one.trusted)));
        out.extend(list.commands.iter().map(|one| (one.slug.clone(), one.trusted)));
        out
    }

    fn states_of(rules: &RuleFiles, ground: &Ground, expected: &[(&str, bool)]) {
        let expected: Vec<(String, bool)> = expected.iter().map(|(slug, on)| ((*slug).to_owned(), *on)).collect();
        assert_eq!(states(rules, &ground.cwd()), expected);
    }

    #[test]
    fn what_a_repository_brings_is_asked_about_together_and_counts_by_its_bytes() {
        let ground = Ground::new();
        let rules = ground.rules(WorkspaceOrigin::DataFolder);
        let skill = ground.put("repo/.claude/skills/ship/SKILL.md", SKILL);
        ground.put("repo/.agents/agents/reviewer.md", AGENT);
        ground.put("repo/.claude/commands/state.md", "Now: !`git status`");
        ground.put("repo/.claude/commands/plain.md", "A text");
        ground.put("home/.claude/skills/mine/SKILL.md", SKILL);
        let off = [("mine", true), ("ship", false), ("reviewer", false), ("plain", false), ("state", false)];
        states_of(&rules, &ground, &off);
        let book = rules.read(&ground.cwd());
        let [asked] = &book.untrusted[..] else { panic!("{:?}", book.untrusted) };
        assert_eq!((asked.what, &asked.path, asked.changed), (TrustWhat::Extensions, &ground.root.join("repo"), false));
        assert_eq!(
            asked.starts,
            [
                "skill ship: runs without asking while it is used: Bash(git add:*)",
                "agent reviewer: instructions for the model",
                "command /state: runs git status",
            ]
        );
        assert!(asked.text.contains("Do it.") && asked.text.contains("You review.") && !asked.text.contains("A text"));
        // What was shown is what is trusted, and nothing else.
        std::fs::write(&skill, SKILL.replace("add", "push")).unwrap();
        assert!(rules.trust(asked).unwrap_err().contains("changed since it was shown"));
        std::fs::write(&skill, SKILL).unwrap();
        rules.trust(asked).unwrap();
        let on = [("mine", true), ("ship", true), ("reviewer", true), ("plain", false), ("state", true)];
        states_of(&rules, &ground, &on);
        assert!(rules.read(&ground.cwd()).untrusted.is_empty());
        // A change asks again about that file alone, with the difference; a file beside a skill is a part of it.
        std::fs::write(&skill, SKILL.replace("add", "push")).unwrap();
        let book = rules.read(&ground.cwd());
        let [asked] = &book.untrusted[..] else { panic!("{:?}", book.untrusted) };
        assert!(asked.changed && asked.text.contains("+allowed-tools: Bash(git push:*)"), "{}", asked.text);
        assert!(!asked.text.contains("You review."), "{}", asked.text);
        states_of(
            &rules,
            &ground,
            &[("mine", true), ("ship", false), ("reviewer", true), ("plain", false), ("state", true)],
        );
        std::fs::write(&skill, SKILL).unwrap();
        states_of(&rules, &ground, &on);
        ground.put("repo/.claude/skills/ship/run.sh", "echo");
        states_of(
            &rules,
            &ground,
            &[("mine", true), ("ship", false), ("reviewer", true), ("plain", false), ("state", true)],
        );
        assert_eq!(rules.read(&ground.cwd()).untrusted.len(), 1, "another file is seen");
    }

    #[test]
    fn a_workspace_that_others_write_counts_by_its_bytes() {
        for origin in [WorkspaceOrigin::Elsewhere, WorkspaceOrigin::Foreign] {
            let ground = Ground::new();
            let rules = ground.rules(origin);
            ground.put("ws/skills/ship/SKILL.md", SKILL);
            states_of(&rules, &ground, &[("ship", false)]);
            for _ in 0..2 {
                if let Some(asked) = rules.read(&ground.cwd()).untrusted.first() {
                    rules.trust(asked).unwrap();
                }
            }
            states_of(&rules, &ground, &[("ship", true)]);
            ground.put("ws/skills/ship/SKILL.md", &SKILL.replace("Do it", "Do more"));
            states_of(&rules, &ground, &[("ship", false)]);
        }
        // In lisle's own folder it is the user's.
        let ground = Ground::new();
        ground.put("ws/skills/ship/SKILL.md", SKILL);
        states_of(&ground.rules(WorkspaceOrigin::DataFolder), &ground, &[("ship", true)]);
    }

    #[test]
    fn names_for_clients_say_what_is_not_trusted_and_keep_built_in_commands() {
        let ground = Ground::new();
        let files = ground.rules(WorkspaceOrigin::DataFolder).extensions();
        for (path, text) in [
            ("config/commands/fix.md", "---\nargument-hint: [ISSUE]\n---\nFix $1"),
            ("config/commands/new.md", "x"),
            ("config/commands/Big Dog.md", "x"),
            ("config/commands/Loud.md", "Loud"),
            ("config/commands/git/push.md", "Push"),
            ("config/commands/с.md", "a Cyrillic letter"),
            ("config/commands/notes.txt", "x"),
            ("config/commands/.hidden.md", "x"),
            ("ws/commands/fix.md", "the workspace's"),
            ("ws/commands/tidy.md", "Tidy up"),
            ("repo/.lisle/commands/ship.md", "Ship it"),
            ("repo/.lisle/commands/broken.md", "---\nx\n---\ny"),
            ("repo/.claude/commands/theirs.md", "Theirs"),
            ("repo/.claude/skills/off/SKILL.md", SKILL),
            ("home/.claude/skills/pdf/SKILL.md", SKILL),
            ("home/.claude/agents/reviewer.md", AGENT),
        ] {
            ground.put(path, text);
        }
        std::os::unix::fs::symlink("/etc/passwd", ground.root.join("repo/.lisle/commands/link.md")).unwrap();
        let (called, problems) = files.called(&ground.cwd());
        let shown: Vec<String> = called
            .iter()
            .map(|own| format!("{} {} {} {}", own.kind.word(), own.name, own.origin.word(), own.trusted))
            .collect();
        assert_eq!(
            shown,
            [
                "command fix yours true",
                "command loud yours true",
                "skill off repository false",
                "skill pdf home true",
                "command push yours true",
                "agent reviewer home true",
                "command ship repository false",
                "command theirs repository false",
                "command tidy workspace true",
            ]
        );
        assert!(called.iter().all(|own| own.hash.len() == 64));
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 5, "{told:?}");
        for word in ["new is a built-in command", "Big Dog.md: Not a valid", "⟦U+0441⟧", "links outside", "broken.md:2"]
        {
            assert!(told.iter().any(|told| told.contains(word)), "{word}: {told:?}");
        }
    }
}
