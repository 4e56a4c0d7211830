//! The gateway as the app uses it: which engine it joins, and what a gateway opens for its clients.

use super::client::options::GatewayView;
use super::setup::{Bootstrap, StartRequest};
use super::workspaces::Workspaces;
use crate::agent::{self, ClientInfo, Link, NoReply, Setup};
use crate::channels::{ChannelPlaces, Channels};
use crate::config::Paths;
use crate::config::settings::GatewayStart;
use crate::domain::workspace::{USUAL, Workspace, is_name};
use crate::domain::{Level, Notice};
use crate::gateway::dial::{DialError, GatewayRoute};
use crate::gateway::home::{GatewayFiles, HomeOwnership};
use crate::gateway::remote::{self, JoinOptions, Joined};
use crate::gateway::ssh::SshCommand;
use crate::gateway::{home, server, start};
use crate::protocol::{Command, Event, NewSession};
use crate::store::prompt_files::PromptFolders;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A gateway that the app or a line through ssh started ends after this time without clients and turns.
pub const IDLE_EXIT: Duration = Duration::from_secs(30 * 60);

/// Choice of a client's engine.
#[derive(Clone, Debug)]
pub enum EngineChoice {
    /// One in this process.
    Own,
    /// That of the home's gateway, if there is one or the settings want one; else one in this process.
    GatewayIfAny,
    /// That of another machine.
    Machine(Box<RemoteMachine>),
}

/// Another machine, and what is wanted there.
#[derive(Clone, Debug)]
pub struct RemoteMachine {
    /// Way to it.
    pub command: SshCommand,
    /// Session, workspace (a name or a folder) and properties of new sessions there.
    pub wanted: StartRequest,
}

impl EngineChoice {
    /// Choice of this home; `own`: in this process in any case.
    #[must_use]
    pub fn of_home(own: bool) -> Self {
        if own { Self::Own } else { Self::GatewayIfAny }
    }
}

/// An engine that was joined or opened.
pub struct OpenedEngine {
    /// Link to it.
    pub link: Link,
    /// The gateway, where it is one.
    pub gateway: Option<GatewayView>,
    /// News of it for the user.
    pub news: Option<Notice>,
}

/// The gateway's files of a home.
#[must_use]
pub fn files(paths: &Paths) -> GatewayFiles {
    GatewayFiles::of(&paths.state, std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from))
}

/// The machine of this name in the settings, else a host as ssh takes it.
///
/// # Errors
/// A sentence without its end.
pub fn machine(bootstrap: &Bootstrap, name: &str) -> Result<SshCommand, String> {
    match bootstrap.settings.machines.get(name) {
        Some(machine) => SshCommand::new(machine.host.as_deref().unwrap_or(name), machine.command.as_deref()),
        None => SshCommand::new(name, None),
    }
}

fn client_name(program: &str) -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "user".to_owned());
    format!("{program} of {user}@{} (process {})", home::host(), std::process::id())
}

/// Opens or joins the engine of a client. `program`: its name for people; `headless`: nobody can be asked.
///
/// # Errors
/// When another machine cannot be reached.
pub async fn open(
    engine: &EngineChoice,
    bootstrap: &Bootstrap,
    program: &str,
    headless: bool,
) -> anyhow::Result<OpenedEngine> {
    let news = match engine {
        EngineChoice::Own => None,
        EngineChoice::Machine(machine) => return machine_of(machine, program, headless).await,
        EngineChoice::GatewayIfAny => match join_home(bootstrap, program, headless).await {
            Ok(joined) => return Ok(opened(joined, bootstrap)),
            Err(news) => news,
        },
    };
    let info = if headless { ClientInfo::headless(program) } else { ClientInfo::local(program) };
    let link = agent::open(bootstrap.engine(headless)).connect(info);
    Ok(OpenedEngine { link, gateway: None, news })
}

/// Properties that the command line asks for new sessions: an engine of one's own takes it as its settings.
fn asked(wanted: &StartRequest) -> NewSession {
    let StartRequest { connection, model, mode, .. } = wanted.clone();
    NewSession { connection, model, mode, ..NewSession::default() }
}

fn opened(joined: Joined, bootstrap: &Bootstrap) -> OpenedEngine {
    let view = GatewayView { line: joined.line, machine: None, asked: asked(&bootstrap.wanted) };
    OpenedEngine { link: joined.link, gateway: Some(view), news: None }
}

async fn machine_of(machine: &RemoteMachine, program: &str, headless: bool) -> anyhow::Result<OpenedEngine> {
    let options = JoinOptions {
        way: GatewayRoute::Ssh(machine.command.clone()),
        name: client_name(program),
        workspace: machine.wanted.workspace.clone().unwrap_or_default(),
        cwd: machine.wanted.cwd.clone(),
        headless,
    };
    let joined = remote::join(options).await?;
    let view = GatewayView {
        line: joined.line,
        machine: Some(machine.command.host().to_owned()),
        asked: asked(&machine.wanted),
    };
    Ok(OpenedEngine { link: joined.link, gateway: Some(view), news: None })
}

/// Joins the home's gateway. Otherwise what the user should know, if anything.
async fn join_home(bootstrap: &Bootstrap, program: &str, headless: bool) -> Result<Joined, Option<Notice>> {
    let files = files(&bootstrap.paths);
    let warn = |text: String, hint: &str| Some(Notice::new(Level::Warning, text).hint(hint));
    match files.ownership() {
        Ok(HomeOwnership::Here(_)) => {}
        Ok(HomeOwnership::Free) => {
            // A run is over soon: it joins, but starts nothing that stays.
            if headless || !starts(bootstrap.settings.gateway_start) {
                return Err(None);
            }
            if let Err(why) = start::in_background(&files, Some(IDLE_EXIT), &[]).await {
                let text = format!("Turns end with this screen: {why}.");
                return Err(warn(text, "gateway.start = \"never\" in config.toml starts none"));
            }
        }
        Ok(HomeOwnership::Elsewhere(owner)) => {
            let text = format!("The gateway of this home runs on {}: this lisle works without it.", owner.host);
            return Err(warn(text, ""));
        }
        Err(error) => {
            tracing::warn!(%error, "can't read the gateway's lock");
            return Err(None);
        }
    }
    let options = JoinOptions {
        way: GatewayRoute::Socket(files),
        name: client_name(program),
        workspace: bootstrap.workspace().to_owned(),
        cwd: Some(bootstrap.cwd().to_owned()),
        headless,
    };
    remote::join(options).await.map_err(|error| match error {
        DialError::NoGateway => None,
        error => warn(format!("The gateway was not joined: {error}."), "this lisle works without it"),
    })
}

/// Time for the gateway to do a command of the command line.
const DOES: Duration = Duration::from_secs(30);

/// Has commands done by the home's gateway, one after the other. `None` if there is none.
pub async fn send(bootstrap: &Bootstrap, commands: Vec<Command>) -> Option<Result<Vec<Event>, String>> {
    let files = files(&bootstrap.paths);
    if !matches!(files.ownership(), Ok(HomeOwnership::Here(_))) {
        return None;
    }
    Some(
        tokio::time::timeout(DOES, sent(bootstrap, files, commands))
            .await
            .unwrap_or_else(|_| Err(format!("The gateway did not answer within {} s.", DOES.as_secs()))),
    )
}

async fn sent(bootstrap: &Bootstrap, files: GatewayFiles, commands: Vec<Command>) -> Result<Vec<Event>, String> {
    let options = JoinOptions {
        way: GatewayRoute::Socket(files),
        name: client_name("command line"),
        workspace: bootstrap.workspace().to_owned(),
        cwd: Some(bootstrap.cwd().to_owned()),
        headless: true,
    };
    let mut joined = remote::join(options).await.map_err(|error| format!("{error}."))?;
    let mut events = Vec::new();
    for command in commands {
        let asked = joined.link.ask(command, None, |told| events.push(told.event.clone())).await;
        let (answers, error) = asked.map_err(|error| match error {
            NoReply::Closed => "The gateway ended.".to_owned(),
            NoReply::CutOff(why) => why,
        })?;
        if let Some(error) = error {
            return Err(error.message);
        }
        events.extend(answers.iter().map(|answer| answer.event.clone()));
    }
    Ok(events)
}

/// Folders of channels.
#[must_use]
pub fn channel_places(paths: &Paths) -> ChannelPlaces {
    ChannelPlaces {
        files: files(paths).folder().join("channels"),
        agents: paths.data.join("agents"),
        workspaces: paths.data.join("workspaces"),
        home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned()).unwrap_or_default(),
    }
}

/// Channels of the home, for its gateway. With a mistake in their settings they take nothing.
///
/// # Errors
/// When their files cannot be read or written.
pub fn channels(bootstrap: &Bootstrap) -> std::io::Result<Channels> {
    let places = channel_places(&bootstrap.paths);
    match (&bootstrap.settings.session, &bootstrap.settings.channels) {
        (Some(session), Some(settings)) => Channels::open(places, session.clone(), settings.clone()),
        _ => Channels::closed(places, "channels are closed, because config.toml has a mistake in their tables"),
    }
}

/// True if the app starts a gateway here.
fn starts(setting: GatewayStart) -> bool {
    match setting {
        GatewayStart::Always => true,
        GatewayStart::Never => false,
        GatewayStart::Ssh => std::env::var_os("SSH_CONNECTION").is_some_and(|value| !value.is_empty()),
    }
}

/// Workspaces of a home, for its gateway.
pub struct HomeWorkspaces {
    bootstrap: Bootstrap,
}

impl HomeWorkspaces {
    /// Those of the home that was prepared.
    #[must_use]
    pub fn new(bootstrap: Bootstrap) -> Self {
        Self { bootstrap }
    }
}

impl server::WorkspaceOpener for HomeWorkspaces {
    fn folder(&self, named: Option<&Path>) -> Result<PathBuf, String> {
        let all: Workspaces = self.bootstrap.workspaces();
        let Some(named) = named else { return Ok(all.last().unwrap_or_else(|| all.ours.join(USUAL))) };
        if named.is_absolute() {
            return Ok(named.to_owned());
        }
        match named.to_str().filter(|name| is_name(name)) {
            Some(name) => Ok(all.ours.join(name)),
            None => Err(format!("{} is no workspace: write a name or an absolute folder.", named.display())),
        }
    }

    fn list(&self) -> Vec<Workspace> {
        self.bootstrap.workspaces().list()
    }

    fn setup(&self, folder: &Path) -> Result<Setup, String> {
        let moved = self.bootstrap.moved(folder.to_owned());
        let moved = moved.map_err(|error| format!("The workspace {} was not opened: {error:#}.", folder.display()))?;
        Ok(moved.engine(false))
    }

    fn prompts(&self, folder: &Path) -> Result<PromptFolders, String> {
        Ok(self.bootstrap.prompts_of(folder))
    }
}
