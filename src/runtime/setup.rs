//! Puts the engine together from what the user wrote: paths, settings, store, connections, tools.

use super::environment::{history_places, withhold_keys};
use super::open::Opener;
use super::public_pages::HomePages;
use super::rules::{Places, RuleFiles, WorkspaceOrigin};
use super::workspaces::Workspaces;
use crate::agent::Listed;
use crate::config::{self, Paths, Settings, probe, settings};
use crate::domain::ids::looks_generated;
use crate::domain::nearest::nearest;
use crate::domain::permission::{Sandbox, SandboxState};
use crate::domain::problem::Problem;
use crate::domain::rule::Rule;
use crate::domain::secret::Key;
use crate::domain::workspace::USUAL;
use crate::domain::{ConnectionName, Mode, SessionId};
use crate::gateway::shares::SharedPages;
use crate::protocol::{ConnectionInfo, SessionCommand};
use crate::sandbox::places::caches::{self, CacheFolder};
use crate::sources::{Servers, Surroundings};
use crate::store::prompt_files::PromptFolders;
use crate::store::{Fsync, Options, Store, StoreError};
use crate::tools::registry::Registry;
use crate::{agent, permit, sandbox};
use anyhow::Context;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Timeout for the answer of a local server.
const PROBE_PATIENCE: Duration = Duration::from_millis(300);

/// Request of the command line.
#[derive(Clone, Debug, Default)]
pub struct StartRequest {
    /// Session to open.
    pub which: Which,
    /// Connection of a new session.
    pub connection: Option<ConnectionName>,
    /// Model.
    pub model: Option<String>,
    /// Permission mode.
    pub mode: Option<Mode>,
    /// Name of a new session, where it has none yet in the workspace.
    pub alias: Option<String>,
    /// Held until the new session with that name is on disk, so that no other run makes one of the same name.
    pub name_lock: Option<Arc<File>>,
    /// Rules for this process alone.
    pub rules: Vec<Rule>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// The workspace's folder.
    pub workspace: Option<PathBuf>,
    /// Without one, the workspace that was opened last in the app.
    pub last_workspace: bool,
    /// An engine in this process, also where a gateway has the home.
    pub no_gateway: bool,
}

impl StartRequest {
    /// Changes that the arguments make to an existing session. A connection alone keeps the model
    /// of the session where it offers it.
    #[must_use]
    pub fn acts(&self) -> Vec<SessionCommand> {
        let mut acts: Vec<SessionCommand> =
            self.mode.map(|mode| SessionCommand::Mode { mode, drop_plan: false }).into_iter().collect();
        if self.connection.is_some() || self.model.is_some() {
            let model = self.model.clone().unwrap_or_default();
            acts.push(SessionCommand::Model { connection: self.connection.clone(), model });
        }
        acts
    }
}

/// Session to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    #[default]
    New,
    /// The one that was used last.
    Latest,
    /// This one.
    This(SessionId),
    /// The one with this id or name; a new one of that name where there is none. [`Bootstrap::prepare`] looks it up.
    Named(String),
}

/// All that stands before the engine starts.
pub struct Bootstrap {
    /// Request of the command line.
    pub wanted: StartRequest,
    /// Paths of lisle's files.
    pub paths: Paths,
    /// The user's settings.
    pub settings: Settings,
    /// Problems of the user's files.
    pub problems: Vec<Problem>,
    /// The sessions.
    pub store: Store,
    connections: config::Connections,
    cwd: PathBuf,
    workspace: PathBuf,
    runner: PathBuf,
}

impl Bootstrap {
    /// Reads the configuration and opens the workspace.
    ///
    /// # Errors
    /// When nothing can go on: no home directory, a directory that does not exist, a connection that is not known.
    pub fn prepare(mut wanted: StartRequest) -> anyhow::Result<Self> {
        let env = |name: &str| std::env::var(name).ok();
        let paths = Paths::find(std::env::var_os("LISLE_HOME").as_deref())?;
        let config::LoadedConfig { settings, mut connections, mut problems } = config::load(&paths, &env);
        withhold_keys(&settings);
        problems.extend(config::log::begin(&paths, env("LISLE_LOG").as_deref()).err());
        if let Some(name) = &wanted.connection {
            let known: Vec<&str> = connections.all.iter().map(|one| one.name.as_str()).collect();
            let near = nearest(name.as_str(), known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
            anyhow::ensure!(
                connections.find(name).is_some(),
                "no connection \"{name}\".{near} Available: {}. Add more in {}",
                known.join(", "),
                paths.config_file().display()
            );
            connections.choose(name);
        }
        let here = std::env::current_dir()
            .context("the current directory no longer exists. Change to another, or use --cwd")?;
        let cwd = match &wanted.cwd {
            Some(dir) => here.join(dir),
            None => here.clone(),
        };
        let cwd = cwd.canonicalize().with_context(|| format!("can't use --cwd {}", cwd.display()))?;
        anyhow::ensure!(cwd.is_dir(), "can't use --cwd {}: not a directory", cwd.display());
        let ours = paths.data.join("workspaces");
        let places = Workspaces { ours: ours.clone(), state: paths.state.clone(), current: PathBuf::new() };
        let last = || wanted.last_workspace.then(|| places.last()).flatten();
        let workspace = match wanted.workspace.as_ref().or(settings.workspace.as_ref()) {
            // A bare name in the settings is one of our own; a folder of the command line is seen from here.
            Some(dir) if wanted.workspace.is_some() => here.join(dir),
            Some(dir) => ours.join(dir),
            None => last().unwrap_or_else(|| ours.join(USUAL)),
        };
        if wanted.workspace.is_some() && !workspace.exists() {
            problems.push(Problem::whole(&workspace, "new workspace: this folder did not exist", ""));
        }
        let store = store(&workspace, &paths, &settings)?;
        crate::sandbox::places::hidden::keep_in(paths.data.join("hidden.jsonl"));
        crate::sandbox::own_folders::note(paths.own_dirs());
        crate::tools::protected_files::other_processes::keep_in(paths.data.join("commands"));
        // Before any command runs.
        let finished = crate::tools::protected_files::interrupted::finish_in(paths.data.join("unfinished"));
        if !finished.is_empty() {
            let text = "restored at startup, because lisle was killed earlier: files that configure or run code, \
             changed by a command: ";
            problems.push(Problem::whole(&cwd, format!("{text}{}", finished.join("; ")), ""));
        }
        if let Which::Named(name) = wanted.which.clone() {
            find_named(&store, &paths, &name, &mut wanted)?;
        }
        let runner = std::env::current_exe().context("can't find lisle's own executable, needed to start commands")?;
        Ok(Self { wanted, paths, settings, problems, store, connections, cwd, workspace, runner })
    }

    /// The same in another workspace: a new session is begun there.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn moved(&self, workspace: PathBuf) -> anyhow::Result<Self> {
        let store = store(&workspace, &self.paths, &self.settings)?;
        let wanted = StartRequest { which: Which::New, workspace: Some(workspace.clone()), ..self.wanted.clone() };
        Ok(Self {
            wanted,
            paths: self.paths.clone(),
            settings: self.settings.clone(),
            problems: Vec::new(),
            store,
            connections: self.connections.clone(),
            cwd: self.cwd.clone(),
            workspace,
            runner: self.runner.clone(),
        })
    }

    /// The same with the configuration as it is now. Servers that were looked for at the start stay.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn reread(&self) -> anyhow::Result<Self> {
        let env = |name: &str| std::env::var(name).ok();
        let config::LoadedConfig { settings, mut connections, problems } = config::load(&self.paths, &env);
        withhold_keys(&settings);
        let looked_for = self.connections.all.iter().filter(|one| connections.find(&one.name).is_none());
        let looked_for: Vec<_> = looked_for.filter(|one| one.offered).cloned().collect();
        connections.all.extend(looked_for);
        if let Some(name) = &self.wanted.connection {
            connections.choose(name);
        }
        Ok(Self { settings, connections, problems, ..self.moved(self.workspace.clone())? })
    }

    /// Sessions of another workspace.
    ///
    /// # Errors
    /// When its path names something that cannot be one.
    pub fn store_in(&self, workspace: &Path) -> Result<Store, StoreError> {
        store(workspace, &self.paths, &self.settings)
    }

    /// Workspaces, and the open one.
    #[must_use]
    pub fn workspaces(&self) -> Workspaces {
        Workspaces {
            ours: self.paths.data.join("workspaces"),
            state: self.paths.state.clone(),
            current: self.workspace.clone(),
        }
    }

    /// Looks for model servers on the usual ports of this machine, where that may be done at all. Only for those who are about
    /// to talk to a model: it can take as long as the slowest of them.
    pub async fn find_servers(&mut self) {
        let named =
            if self.wanted.connection.is_some() { probe::NamedConnection::Yes } else { probe::NamedConnection::No };
        if probe::allowed(&self.paths, &self.connections, named) {
            self.connections.add_found(probe::probe(probe::USUAL, PROBE_PATIENCE).await);
        }
    }

    /// Checks that a connection can be used without anybody to choose one.
    ///
    /// # Errors
    /// A sentence that names what was found and what to do.
    pub fn usable_connection(&self) -> Result<(), String> {
        let Some(name) = &self.connections.default else {
            let found: Vec<&str> =
                self.connections.all.iter().filter(|one| one.offered).map(|one| one.name.as_str()).collect();
            let found = if found.is_empty() {
                format!("none found. Add one to {}", self.paths.config_file().display())
            } else {
                format!("found: {}. Use one with --connection NAME", found.join(", "))
            };
            return Err(format!("no connection chosen, {found}, or try the demo with --connection demo."));
        };
        match self.connections.find(name).and_then(|one| one.missing.as_ref()) {
            Some(why) => Err(format!("can't use connection {name}: {why}")),
            None => Ok(()),
        }
    }

    /// The connections that are configured or were found here, the default one first.
    #[must_use]
    pub fn connection_names(&self) -> Vec<ConnectionName> {
        self.connections.all.iter().map(|one| one.name.clone()).collect()
    }

    /// Connections that were found and never chosen.
    #[must_use]
    pub fn offered(&self) -> Vec<String> {
        let offered = self.connections.all.iter().filter(|one| one.offered && one.missing.is_none());
        offered.map(|one| one.name.to_string()).collect()
    }

    /// The session that was used last, hidden and archived ones left out.
    #[must_use]
    pub fn latest(&self) -> Option<SessionId> {
        let sessions = self.store.list().sessions.into_iter().filter(|meta| !meta.hidden && !meta.archived);
        sessions.max_by_key(|meta| meta.last_message).map(|meta| meta.id)
    }

    /// The engine's parts. `headless`: nobody can be asked.
    #[must_use]
    pub fn engine(&self, headless: bool) -> agent::Setup {
        let paths = self.paths.clone();
        if let Err(error) = super::gateway::files(&paths).reserve() {
            tracing::warn!(%error, "can't make the gateway's folder");
        }
        let enforced = sandbox::is_enforced();
        let stated = self.settings.connections_with_a_model();
        agent::Setup {
            store: self.store.clone(),
            connections: self.opener().connections(),
            books: Arc::new(self.books()),
            tools: Registry::standard(),
            sources: Arc::new(self.rules().sources()),
            extensions: Arc::new(self.rules().extensions()),
            servers: Servers::new(self.source_surroundings()),
            rules: Arc::new(self.rules()),
            settings: agent::EngineSettings {
                mode: self.wanted.mode.unwrap_or(self.settings.permissions.mode),
                cycle: self.settings.permissions.cycle.clone(),
                cwd: self.cwd.clone(),
                requests_per_turn: self.settings.limits.requests_per_turn,
                policy: self.policy(enforced),
                headless,
                compact_at: self.settings.compact_at,
                config: Some(self.paths.config.clone()),
                history_places: history_places(),
                prompts: Arc::new(self.prompts()),
                steer_by_default: self.settings.while_running == settings::WhileRunning::Steer,
                own_dirs: self.own_dirs(),
                runner: self.runner.clone(),
                allowances: Arc::new(self.allowances()),
                sandbox: self.holding(enforced),
                inbox: self.inbox(),
                warn_cost: self.settings.limits.warn_cost,
                long_cache: self.settings.extended_prompt_cache,
                full_tools: self.settings.rich_tool_descriptions,
                undo: self.undo(),
            },
            chosen: Box::new(move |name, model| {
                if let Err(error) = config::connections::remember_chosen(&paths, name) {
                    tracing::warn!(%error, "can't save the chosen connection");
                }
                // What config.toml names stays the usual one.
                let model = model.filter(|_| !stated.contains(name));
                if let Some(Err(error)) = model.map(|model| config::connections::remember_model(&paths, name, model)) {
                    tracing::warn!(%error, "can't save the chosen model");
                }
                model.is_some()
            }),
        }
    }

    /// Folders of contexts, patterns and strategies.
    #[must_use]
    pub fn prompts(&self) -> PromptFolders {
        self.prompts_of(&self.workspace)
    }

    /// The same for another workspace.
    #[must_use]
    pub fn prompts_of(&self, workspace: &Path) -> PromptFolders {
        prompt_folders(workspace, &self.paths, &self.settings)
    }

    /// Usage log.
    #[must_use]
    pub fn books(&self) -> crate::store::usage_log::UsageLog {
        crate::store::usage_log::UsageLog::new(&self.paths.data)
    }

    /// Permission settings, for commands in a sandbox or without one.
    #[must_use]
    pub fn policy(&self, enforced: bool) -> permit::Policy {
        policy(&self.settings, enforced)
    }

    /// Working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The folder of the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The own program file, which starts commands.
    #[must_use]
    pub fn runner(&self) -> &Path {
        &self.runner
    }

    /// The connections as the picker shows them. No keys are in it.
    #[must_use]
    pub fn connection_infos(&self) -> Vec<ConnectionInfo> {
        self.connections.infos()
    }

    /// Sandbox profile that the settings give commands that may change something.
    #[must_use]
    pub fn sandbox_setting(&self) -> Sandbox {
        profile(&self.settings)
    }

    /// State of the sandbox, for the status line.
    fn holding(&self, enforced: bool) -> SandboxState {
        let hosts = self.settings.sandbox.network == settings::SandboxNetwork::Hosts;
        let held = self.sandbox_setting() == Sandbox::Workspace;
        match enforced {
            true if hosts && held && sandbox::system_support::own_network(&self.runner).is_err() => {
                SandboxState::NoHosts
            }
            true => SandboxState::Held(self.sandbox_setting()),
            false => SandboxState::Nothing,
        }
    }

    /// Access that the user's settings grant commands.
    #[must_use]
    pub fn allowances(&self) -> sandbox::Allowances {
        let env = |name: &str| std::env::var(name).ok();
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let usual = || home.as_deref().map(|home| caches::usual(home, &env)).unwrap_or_default();
        let said = &self.settings.sandbox;
        let path = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => Some(home.join(below)),
            (Some(_), None) => None,
            (None, _) => Some(PathBuf::from(text)),
        };
        let caches = match &said.caches {
            None => usual(),
            Some(named) => named
                .iter()
                .flat_map(|name| match name.as_str() {
                    "default" => usual(),
                    _ => path(name).map(CacheFolder::named).into_iter().collect(),
                })
                .collect(),
        };
        let network = match said.network {
            settings::SandboxNetwork::Open => sandbox::Network::Open,
            settings::SandboxNetwork::Hosts => sandbox::Network::Proxy,
            settings::SandboxNetwork::Off => sandbox::Network::Off,
        };
        let private = self.paths.state.join("caches").join(own_name(&self.workspace));
        sandbox::places::caches::note_owner(&private, &self.workspace);
        sandbox::Allowances {
            caches,
            private: Some(private),
            readable: said.readable.iter().filter_map(path).map(sandbox::followed).collect(),
            extensions: Vec::new(),
            devices: said.devices.iter().map(PathBuf::from).collect(),
            memory: said.memory,
            own_temp: profile(&self.settings) != Sandbox::None && sandbox::is_enforced(),
            network,
            private_hosts: said.private_hosts.clone(),
            granted: sandbox::Granted::default(),
        }
    }

    /// Opener of connections, and keeper of their keys.
    fn opener(&self) -> Opener {
        let model = self.wanted.model.clone();
        Opener::new(self.paths.clone(), self.settings.clone(), self.connections.clone(), model)
    }

    /// Asks the server of a connection if it accepts a key that is not stored yet. `None`: it was not asked.
    ///
    /// # Errors
    /// Words of the server, which refused the key.
    pub async fn check_key(&self, name: &ConnectionName, key: Key) -> Result<Option<Listed>, String> {
        self.opener().connections().check_key(name.clone(), key).await
    }

    /// The connections with all that is known of them.
    #[must_use]
    pub fn connections(&self) -> &config::Connections {
        &self.connections
    }

    fn undo(&self) -> agent::UndoSettings {
        let said = &self.settings.undo;
        let mut undo = agent::UndoSettings { enabled: said.enabled, ..agent::UndoSettings::default() };
        undo.bounds.most = said.max_bytes;
        if let Some(skip) = &said.skip {
            undo.skip.clone_from(skip);
        }
        undo
    }

    /// lisle's own folders, and the rules of the workspace wherever they lie.
    fn own_dirs(&self) -> Vec<PathBuf> {
        let mut own = self.paths.own_dirs();
        own.push(self.workspace.join("permissions.json"));
        own.extend(crate::tools::protected_files::other_processes::user_folder());
        own
    }

    /// Inputs of a start of the workspace's sources.
    #[must_use]
    pub fn source_surroundings(&self) -> Surroundings {
        let enforced = sandbox::is_enforced();
        Surroundings {
            runner: self.runner.clone(),
            folder: self.paths.state.join("sources").join(own_name(&self.workspace)),
            workspace: self.workspace.clone(),
            own_dirs: self.own_dirs(),
            allowances: Arc::new(self.allowances()),
            sandbox: if enforced { self.sandbox_setting() } else { Sandbox::None },
            variable: Box::new(super::environment::env),
        }
    }

    /// The files of rules.
    #[must_use]
    pub fn rules(&self) -> RuleFiles {
        RuleFiles::new(Places {
            config: self.paths.config.clone(),
            workspace: self.workspace.clone(),
            origin: self.workspace_origin(),
            home: std::env::home_dir(),
            given: self.wanted.rules.clone(),
        })
    }

    fn workspace_origin(&self) -> WorkspaceOrigin {
        if self.store.is_foreign() {
            WorkspaceOrigin::Foreign
        } else if self.store.is_in_data_folder() {
            WorkspaceOrigin::DataFolder
        } else {
            WorkspaceOrigin::Elsewhere
        }
    }

    fn inbox(&self) -> agent::Inbox {
        let said = &self.settings.inbox;
        agent::Inbox {
            auto_status: said.auto_status,
            archive_idle_days: said.archive_idle_days,
            trash_days: said.trash_days,
            data: self.paths.data.clone(),
        }
    }
}

/// Looks a session up by its name or id; a name that is not taken is for a new one.
///
/// # Errors
/// An id of no session.
fn find_named(store: &Store, paths: &Paths, name: &str, wanted: &mut StartRequest) -> anyhow::Result<()> {
    let mut found = store.named(name);
    if found.is_none() && looks_generated(name) {
        anyhow::bail!(store.unknown_session(name));
    }
    // The app makes its session with the first message, which may never come: it holds up nobody.
    if found.is_none() && !wanted.last_workspace {
        wanted.name_lock = lock_names(paths).map(Arc::new);
        found = store.named(name);
    }
    match found {
        Some(id) => (wanted.which, wanted.name_lock) = (Which::This(id), None),
        None => (wanted.which, wanted.alias) = (Which::New, Some(name.to_owned())),
    }
    Ok(())
}

/// Waits for the lock of new names. Without it, as on a full disk, nothing is held up.
fn lock_names(paths: &Paths) -> Option<File> {
    std::fs::create_dir_all(&paths.state).ok()?;
    let file = File::options().create(true).append(true).open(paths.state.join("names.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Configuration, sessions and named texts of this home for whoever only looks. Nothing is written.
pub struct Glance {
    /// Configuration, with its problems.
    pub config: config::LoadedConfig,
    /// Sessions of the usual workspace.
    pub store: Store,
    /// Folders of contexts, patterns and strategies.
    pub prompts: PromptFolders,
    /// The workspace.
    pub workspace: PathBuf,
}

/// Looks at this home, and at a workspace of it: the usual one, unless another is `wanted`. `None` where it has no place or no
/// usable workspace.
#[must_use]
pub fn glance(wanted: Option<&Path>) -> Option<Glance> {
    let env = |name: &str| std::env::var(name).ok();
    let paths = Paths::find(std::env::var_os("LISLE_HOME").as_deref()).ok()?;
    let config = config::load(&paths, &env);
    let ours = paths.data.join("workspaces");
    let usual = || ours.join(config.settings.workspace.as_deref().unwrap_or(Path::new(USUAL)));
    let workspace = wanted.and_then(|wanted| std::path::absolute(wanted).ok()).unwrap_or_else(usual);
    let store = store(&workspace, &paths, &config.settings).ok()?;
    let prompts = prompt_folders(&workspace, &paths, &config.settings);
    Some(Glance { config, store, prompts, workspace })
}

fn prompt_folders(workspace: &Path, paths: &Paths, settings: &Settings) -> PromptFolders {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let below = |path: &Path| home.as_ref().map(|home| home.join(path));
    let fabric = match &settings.fabric_home {
        Some(folder) => folder.strip_prefix("~").ok().map_or(Some(folder.clone()), below),
        None => below(Path::new(".config/fabric")).filter(|folder| folder.is_dir()),
    };
    PromptFolders { workspace: workspace.to_owned(), config: paths.config.clone(), fabric }
}

fn store(workspace: &Path, paths: &Paths, settings: &Settings) -> Result<Store, StoreError> {
    let mut options = Options::new(workspace.to_owned(), &paths.state);
    options.ours = Some(paths.data.join("workspaces"));
    options.temp = std::env::temp_dir();
    options.pages = Some(Arc::new(HomePages(SharedPages::of(&super::gateway::files(paths)))));
    options.fsync = match settings.fsync {
        settings::Fsync::Always => Fsync::Always,
        settings::Fsync::Normal => Fsync::Normal,
        settings::Fsync::Off => Fsync::Off,
    };
    Store::open(options)
}

/// A name for the folder of what belongs to a workspace and may be lost: two workspaces never have the same.
fn own_name(workspace: &Path) -> String {
    let name = workspace.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hash = crate::domain::hex::hex(&crate::tools::files::hash(workspace.as_os_str().as_encoded_bytes()));
    format!("{name}-{}", hash.get(..12).unwrap_or_default())
}

fn profile(settings: &Settings) -> Sandbox {
    match settings.sandbox.profile {
        settings::SandboxProfile::Workspace => Sandbox::Workspace,
        settings::SandboxProfile::ReadOnly => Sandbox::ReadOnly,
        settings::SandboxProfile::Off => Sandbox::None,
    }
}

fn policy(settings: &Settings, enforced: bool) -> permit::Policy {
    permit::Policy {
        read_only_profile: if enforced {
            permit::shell::ReadOnlyProfile::Enforced
        } else {
            permit::shell::ReadOnlyProfile::None
        },
        sandbox: profile(settings),
        explore_commands: match settings.explore_bash {
            settings::ExploreBash::ReadOnly => permit::ExploreCommands::ReadOnly,
            settings::ExploreBash::Block => permit::ExploreCommands::Blocked,
        },
        ask_edits: match settings.ask_edits {
            settings::AskEdits::Prompt => permit::AskEdits::Prompted,
            settings::AskEdits::Allow => permit::AskEdits::Allowed,
        },
    }
}
