//! Connection and model that answer, as the machine was told from outside.

/// Facts about the connection of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Answering {
    /// The connection that the session was made with is not configured here.
    missing: bool,
    /// The model that answers where the session names none.
    usual_model: Option<String>,
    /// The turn waits for somebody to choose a model.
    model_wanted: bool,
}

impl Answering {
    pub(super) fn is_missing(&self) -> bool {
        self.missing
    }

    pub(super) fn set_missing(&mut self, missing: bool) {
        self.missing = missing;
    }

    pub(super) fn usual_model(&self) -> Option<&String> {
        self.usual_model.as_ref()
    }

    pub(super) fn set_usual_model(&mut self, model: Option<String>) {
        self.usual_model = model;
    }

    pub(super) fn wants_model(&self) -> bool {
        self.model_wanted
    }

    pub(super) fn set_wants_model(&mut self, wanted: bool) {
        self.model_wanted = wanted;
    }
}
