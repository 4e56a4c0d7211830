//! Sources that the session uses: their servers, the tools that they add, and what the user is told of them.
//!
//! Servers start when a message is sent, side by side; the first request waits until each is ready or has failed.

use super::SessionActor;
use crate::agent::blocking::blocking;
use crate::agent::clock::now;
use crate::agent::machine_io::{Input, RunNo};
use crate::agent::mailbox::{Mailbox, Report};
use crate::agent::model_context::prompt::SourceGuide;
use crate::domain::permission::Mode;
use crate::domain::problem::Problem;
use crate::domain::sanitise::{clean, reveal_line};
use crate::domain::source::{SourceState, SourceView};
use crate::extensions::skill_tool::NeededSource;
use crate::protocol::SessionEvent;
use crate::provider::ModelRequest;
use crate::sources::tool::SourceTool;
use crate::sources::{Launch, Reach, Server, ServerState, SourceConfig, SourceList};
use crate::tools::Tool;
use crate::tools::registry::Registry;
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// Characters that a server may say about itself to a model.
const LONGEST_INSTRUCTIONS: usize = 2_000;

/// Sources that a session uses.
pub(super) struct UsedSources {
    list: SourceList,
    servers: Vec<UsedServer>,
    /// Folders that they write; `None` before they were chosen.
    reach: Option<Reach>,
    /// lisle's own tools.
    own: Registry,
    /// These and those of the sources.
    tools: Registry,
    /// Problems that were reported.
    told: Vec<Problem>,
    /// Failures that were reported, by slug.
    failed: BTreeMap<String, String>,
    /// The tool that loads skills, where there are any.
    skills: Option<Arc<dyn Tool>>,
    /// The next request offers other tools than it was made with.
    renews: bool,
}

struct UsedServer {
    server: Arc<Server>,
    /// Reports what changes.
    _watch: AbortOnDropHandle<()>,
}

impl UsedSources {
    /// None but lisle's own tools.
    pub(super) fn new(own: Registry) -> Self {
        Self {
            list: SourceList::default(),
            servers: Vec::new(),
            reach: None,
            tools: own.clone(),
            own,
            told: Vec::new(),
            failed: BTreeMap::new(),
            skills: None,
            renews: false,
        }
    }

    /// Tools that calls are made with.
    pub(super) fn tools(&self) -> &Registry {
        &self.tools
    }

    fn server(&self, slug: &str) -> Option<&Arc<Server>> {
        self.servers.iter().map(|used| &used.server).find(|server| server.source().slug == slug)
    }

    fn starting(&self) -> Vec<Arc<Server>> {
        let all = self.servers.iter().map(|used| &used.server);
        all.filter(|server| matches!(server.state(), ServerState::Starting)).cloned().collect()
    }

    /// Takes the files as they were read. The problems that are new.
    fn take_list(&mut self, list: SourceList) -> Vec<Problem> {
        let new = self.new_problems(&list.problems);
        self.list = list;
        new
    }

    /// Notes problems, and returns those that were not reported yet.
    pub(super) fn new_problems(&mut self, problems: &[Problem]) -> Vec<Problem> {
        let new: Vec<Problem> = problems.iter().filter(|problem| !self.told.contains(problem)).cloned().collect();
        self.told.extend(new.iter().cloned());
        new
    }

    /// Uses these servers from now on, and no others.
    fn use_servers(&mut self, wanted: Vec<Arc<Server>>, mailbox: &Mailbox) {
        let mut before = std::mem::take(&mut self.servers);
        for server in wanted {
            let known = before.iter().position(|used| Arc::ptr_eq(&used.server, &server));
            self.servers.push(match known {
                Some(at) => before.swap_remove(at),
                None => watch(server, mailbox.clone()),
            });
        }
    }

    /// Offers the tools of the servers that are ready; the guides that go with them.
    fn take_tools(&mut self) -> Vec<SourceGuide> {
        let (tools, guides) = self.offered();
        self.tools = self.own.with(self.skills.clone()).with(tools);
        guides
    }

    /// Sources that there are, by slug, with whether they can be used.
    pub(super) fn needed(&self) -> BTreeMap<String, NeededSource> {
        let usable = self.list.sources.iter().filter(|source| !matches!(source.launch, Launch::Unsupported(_)));
        let state = |trusted: bool| if trusted { NeededSource::Usable } else { NeededSource::NotTrusted };
        usable.map(|source| (source.slug.clone(), state(source.trusted))).collect()
    }

    /// Offers this tool for skills from now on, or none.
    pub(super) fn set_skill_tool(&mut self, tool: Option<Arc<dyn Tool>>) {
        self.skills = tool;
    }

    /// The next request is made again with the tools as they are then.
    pub(super) fn take_renews(&mut self) -> bool {
        std::mem::take(&mut self.renews)
    }

    /// Sentences about servers that do not run, where that was not said.
    fn new_failures(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        for (slug, why) in self.servers.iter().filter_map(|used| failure(&used.server)) {
            if self.failed.get(&slug) != Some(&why) {
                out.push(format!("Source {slug} is not available: {}", reveal_line(&why)));
                self.failed.insert(slug, why);
            }
        }
        out
    }

    /// Tools and guides of the servers that are ready.
    fn offered(&self) -> (Vec<Arc<dyn Tool>>, Vec<SourceGuide>) {
        let (mut tools, mut guides): (Vec<Arc<dyn Tool>>, _) = (Vec::new(), Vec::new());
        for UsedServer { server, .. } in &self.servers {
            let ServerState::Ready(ready) = server.state() else { continue };
            let offered = ready.definitions.tools.iter().cloned();
            tools.extend(offered.map(|tool| Arc::new(SourceTool::new(Arc::clone(server), tool)) as Arc<dyn Tool>));
            guides.extend(guide(server.source(), ready.instructions()));
        }
        (tools, guides)
    }
}

/// Text about a source for models; `None` where there is nothing to tell.
fn guide(source: &SourceConfig, instructions: Option<&str>) -> Option<SourceGuide> {
    let mut parts = Vec::new();
    parts.extend(Some(clean(&source.tagline).into_owned()).filter(|text| !text.trim().is_empty()));
    parts.extend(source.guide.as_deref().map(|text| clean(text).into_owned()));
    let said: Option<String> = instructions.map(|text| clean(text).chars().take(LONGEST_INSTRUCTIONS).collect());
    parts.extend(
        said.filter(|text| !text.trim().is_empty()).map(|text| format!("The server says about itself:\n{text}")),
    );
    (!parts.is_empty()).then(|| SourceGuide { source: source.slug.clone(), text: parts.join("\n\n") })
}

fn watch(server: Arc<Server>, mailbox: Mailbox) -> UsedServer {
    let mut changes = server.watch();
    let task = tokio::spawn(async move {
        while changes.changed().await.is_ok() {
            if mailbox.report(Report::SourcesChanged).await.is_err() {
                return;
            }
        }
    });
    UsedServer { server, _watch: AbortOnDropHandle::new(task) }
}

impl SessionActor {
    /// Reads the files of sources as they are now.
    pub(super) async fn refresh_sources(&mut self) {
        let (book, cwd) = (self.shared.setup.sources.clone(), self.machine.meta().cwd.clone());
        let Some(list) = blocking(move || book.read(&cwd)).await else { return };
        for problem in self.sources.used_mut().take_list(list) {
            self.out.send(SessionEvent::Notice(problem.notice()));
        }
        let cwd = self.machine.meta().cwd.clone();
        let is_used = |source: &&SourceConfig| {
            source.trusted
                && !matches!(source.launch, Launch::Unsupported(_))
                && self.machine.uses_source(&source.slug, source.enabled)
        };
        let wanted = self.sources.used().list.sources.iter().filter(is_used);
        let reach = self.sources_reach();
        let wanted: Vec<Arc<Server>> = wanted.map(|source| self.shared.setup.servers.of(source, &cwd, reach)).collect();
        let mailbox = self.mailbox.clone();
        self.sources.used_mut().reach = Some(reach);
        self.sources.used_mut().use_servers(wanted, &mailbox);
        self.take_tools();
    }

    /// Folders that servers write in the session's mode.
    fn sources_reach(&self) -> Reach {
        if self.machine.meta().mode == Mode::Explore { Reach::Own } else { Reach::Configured }
    }

    /// Takes other servers where the mode changed since they were chosen: in Explore none of them writes the project. While
    /// nothing runs they are not started.
    pub(super) async fn follow_mode(&mut self) {
        let chosen = self.sources.used().reach;
        if chosen.is_none_or(|reach| reach == self.sources_reach()) {
            return;
        }
        self.refresh_sources().await;
        if self.machine.is_running() {
            self.start_sources();
        }
    }

    /// Uses the sources that were chosen in the middle of a turn.
    pub(super) async fn use_sources_now(&mut self) {
        self.refresh_sources().await;
        self.start_sources();
        self.sources.used_mut().renews = true;
    }

    /// Starts what the next request needs. Returns at once.
    pub(super) fn start_sources(&self) {
        self.sources.used().servers.iter().for_each(|used| used.server.start());
    }

    /// Offers the tools of the servers that are ready.
    pub(super) fn take_tools(&mut self) {
        let guides = self.sources.used_mut().take_tools();
        self.machine.set_tools(self.sources.used().tools.offers(), guides);
    }

    /// True if a request waits for servers that start. It goes on with [`Report::SourcesReady`].
    pub(super) fn wait_for_sources(&mut self, run: RunNo, request: &ModelRequest) -> bool {
        let starting = self.sources.used().starting();
        if starting.is_empty() || request.tools.is_empty() {
            return false;
        }
        let sources = starting.iter().map(|server| server.source().slug.clone()).collect();
        self.out.send(SessionEvent::Starting { sources });
        let (mailbox, request) = (self.mailbox.clone(), Box::new(request.clone()));
        self.calls.tasks().wait(run, async move {
            // Each start has its own limit; which failed is told from their states.
            let _ = join_all(starting.iter().map(|server| server.ready())).await;
            let _ = mailbox.report(Report::SourcesReady(run, request)).await;
        });
        true
    }

    /// Goes on with a request that waited.
    pub(super) async fn sources_ready(&mut self, run: RunNo, request: ModelRequest) {
        self.take_tools();
        self.out.send(SessionEvent::Starting { sources: Vec::new() });
        for text in self.sources.used_mut().new_failures() {
            Box::pin(self.feed(Input::SourceFailed(text))).await;
        }
        let model = request.model;
        if let Some(renewed) = self.machine.renewed_request(now(), run) {
            Box::pin(self.ask(run, ModelRequest { model, ..renewed })).await;
        }
    }

    /// Tells the sources of the session.
    pub(super) async fn show_sources(&mut self) {
        self.refresh_sources().await;
        let views = self.source_views();
        self.out.send(SessionEvent::Sources(views));
    }

    pub(super) fn source_views(&self) -> Vec<SourceView> {
        self.sources.used().list.sources.iter().map(|source| self.view_of(source)).collect()
    }

    fn view_of(&self, source: &SourceConfig) -> SourceView {
        let server = self.sources.used().server(&source.slug);
        let state = match (&source.launch, server) {
            (Launch::Unsupported(why), _) => SourceState::Unsupported { why: why.clone() },
            _ if !source.trusted => SourceState::NotTrusted,
            (_, Some(server)) => server.view(),
            (_, None) => SourceState::Idle,
        };
        let tools = match server.map(|server| server.state()) {
            Some(ServerState::Ready(ready)) => ready.definitions.tools.iter().map(|tool| tool.view()).collect(),
            _ => Vec::new(),
        };
        SourceView {
            slug: source.slug.clone(),
            name: source.name.clone(),
            target: source.target(),
            file: source.file.clone(),
            on: self.machine.uses_source(&source.slug, source.enabled),
            state,
            tools,
        }
    }
}

fn failure(server: &Server) -> Option<(String, String)> {
    match server.state() {
        ServerState::Failed(why) => Some((server.source().slug.clone(), why)),
        ServerState::Idle | ServerState::Starting | ServerState::Ready(_) => None,
    }
}
