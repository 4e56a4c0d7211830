//! Skills, agents and commands of the session: read before they are needed, offered to the model, shown to clients.

use super::SessionActor;
use crate::agent::blocking::blocking;
use crate::agent::extension_views::of_list;
use crate::domain::extension::{ExtensionKind, ExtensionOrigin, ExtensionView};
use crate::domain::problem::Problem;
use crate::extensions::skill_tool::SkillTool;
use crate::protocol::SessionEvent;
use crate::sources::files::PROJECT;
use crate::tools::Tool;
use std::sync::Arc;

impl SessionActor {
    /// Reads the files of skills, agents and commands as they are now. The sources were read before.
    pub(super) async fn refresh_extensions(&mut self) {
        let (book, cwd) = (self.shared.setup.extensions.clone(), self.machine.meta().cwd.clone());
        let Some(list) = blocking(move || book.read(&cwd)).await else { return };
        // Clients report those of commands, which they read themselves.
        let reported = list.unusable.iter().filter(|one| one.kind != ExtensionKind::Command);
        let problems: Vec<Problem> = reported.filter_map(|one| one.problem().cloned()).collect();
        for problem in self.sources.used_mut().new_problems(&problems) {
            self.out.send(SessionEvent::Notice(problem.notice()));
        }
        let list = Arc::new(list);
        let sources = self.sources.used().needed();
        let is_any = list.skills.iter().any(|skill| skill.trusted);
        let tool = is_any.then(|| Arc::new(SkillTool::new(list.clone(), sources.clone())) as Arc<dyn Tool>);
        self.sources.used_mut().set_skill_tool(tool);
        self.calls.set_extensions(&self.shared.setup.settings.allowances, list.usable_places.clone());
        self.machine.set_extensions(list, sources);
        self.take_tools();
    }

    /// Tells the extensions of the session.
    pub(super) async fn show_extensions(&mut self) {
        self.refresh_sources().await;
        self.refresh_extensions().await;
        let mut views: Vec<ExtensionView> = Vec::new();
        for source in self.source_views() {
            // Sources of a project stand in one file at its root.
            let is_of_project = source.file.file_name().is_some_and(|name| name == PROJECT);
            let origin = if is_of_project { ExtensionOrigin::Repository } else { ExtensionOrigin::Workspace };
            views.push(ExtensionView::of_source(&source, origin));
        }
        let list = self.machine.extensions();
        views.extend(of_list(&list, |source| self.sources.used().needed().get(source).copied()));
        self.out.send(SessionEvent::Extensions(views));
    }
}
