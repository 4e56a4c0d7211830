//! Contexts, patterns and strategies. They go into the prompts of all sessions, so only an owner's token changes them.

use super::super::problem::{Problem, json};
use super::super::rest;
use super::asked::Asked;
use crate::agent::prompt_files::{MOST_BYTES, PromptError, PromptFolders};
use crate::domain::prompt_text::{PromptKind, PromptOrigin, fill};
use crate::gateway::frame::ErrorCode;
use crate::protocol::Scope;
use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use std::collections::BTreeMap;

impl From<PromptError> for Problem {
    fn from(error: PromptError) -> Self {
        let text = format!("{error}.");
        match error {
            PromptError::Name { .. } => Self::invalid(text),
            PromptError::Missing { .. } => Self::not_found(text),
            PromptError::Unreadable { .. } | PromptError::Unwritable { .. } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Refused, text)
            }
        }
    }
}

/// Does file work with the folders of the workspace, for whoever has this scope.
async fn with_folders<T: Send + 'static>(
    asked: &Asked,
    scope: Scope,
    work: impl FnOnce(PromptFolders) -> Result<T, PromptError> + Send + 'static,
) -> Result<T, Problem> {
    asked.caller.needs(scope)?;
    let folders = asked.guarding.gateway.prompts(asked.folder().await?).await.map_err(Problem::unavailable)?;
    let done = tokio::task::spawn_blocking(move || work(folders)).await;
    Ok(done.map_err(|_| Problem::unavailable("Can't read the files; see the log."))??)
}

/// A text by its name.
pub(super) async fn read(asked: &Asked, kind: PromptKind, name: &str) -> Result<String, Problem> {
    let name = name.to_owned();
    let text = with_folders(asked, Scope::Read, move |folders| folders.read(kind, &name)).await?;
    Ok(text.text)
}

/// `GET /contexts/names`
pub(super) async fn names(asked: Asked, Extension(kind): Extension<PromptKind>) -> Result<Response, Problem> {
    let work = move |folders: PromptFolders| Ok(folders.list(kind).into_iter().map(|file| file.name).collect());
    let names: Vec<String> = with_folders(&asked, Scope::Read, work).await?;
    Ok(json(StatusCode::OK, &names))
}

/// `GET /contexts/exists/NAME`
pub(super) async fn exists(
    asked: Asked,
    Extension(kind): Extension<PromptKind>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let work = move |folders: PromptFolders| match folders.find(kind, &name) {
        Ok(_) => Ok(true),
        Err(PromptError::Missing { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    Ok(json(StatusCode::OK, &with_folders(&asked, Scope::Read, work).await?))
}

fn shown(kind: PromptKind, name: &str, text: &str) -> serde_json::Value {
    match kind {
        PromptKind::Pattern => serde_json::json!({ "Name": name, "Description": "", "Pattern": text }),
        PromptKind::Context | PromptKind::Strategy => serde_json::json!({ "Name": name, "Content": text }),
    }
}

/// `GET /contexts/NAME`
pub(super) async fn show(
    asked: Asked,
    Extension(kind): Extension<PromptKind>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let text = with_folders(&asked, Scope::Read, move |folders| folders.read(kind, &name)).await?;
    Ok(json(StatusCode::OK, &shown(kind, &text.name, &text.text)))
}

/// `POST /contexts/NAME`: the body is the text.
pub(super) async fn save(
    asked: Asked,
    Extension(kind): Extension<PromptKind>,
    Path(name): Path<String>,
    given: Body,
) -> Result<Response, Problem> {
    asked.caller.needs(Scope::Admin)?;
    let bytes = rest::bytes(given, usize::try_from(MOST_BYTES).unwrap_or(usize::MAX)).await?;
    let text = String::from_utf8(bytes).map_err(|_| Problem::invalid("The body is no UTF-8 text."))?;
    if text.trim().is_empty() {
        return Err(Problem::invalid("The body has no text."));
    }
    with_folders(&asked, Scope::Admin, move |folders| folders.set(kind, PromptOrigin::Config, &name, &text)).await?;
    Ok(Response::default())
}

/// `DELETE /contexts/NAME`
pub(super) async fn delete(
    asked: Asked,
    Extension(kind): Extension<PromptKind>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    with_folders(&asked, Scope::Admin, move |folders| folders.delete(kind, &name)).await?;
    Ok(Response::default())
}

/// `PUT /contexts/rename/OLD/NEW`
pub(super) async fn rename(
    asked: Asked,
    Extension(kind): Extension<PromptKind>,
    Path((old, new)): Path<(String, String)>,
) -> Result<Response, Problem> {
    with_folders(&asked, Scope::Admin, move |folders| folders.rename(kind, &old, &new)).await?;
    Ok(Response::default())
}

/// `GET /strategies`
pub(super) async fn strategies(asked: Asked) -> Result<Response, Problem> {
    let work = |folders: PromptFolders| {
        let all = folders.list(PromptKind::Strategy).into_iter();
        // One that cannot be read is left out, as in lists of the command line.
        let shown = all.filter_map(|file| {
            let (description, prompt) = folders.strategy(&file.name).ok()?;
            Some(serde_json::json!({ "name": file.name, "description": description, "prompt": prompt }))
        });
        Ok(shown.collect::<Vec<_>>())
    };
    Ok(json(StatusCode::OK, &with_folders(&asked, Scope::Read, work).await?))
}

/// Body of a `POST` to `apply`.
#[derive(Debug, Default, Deserialize)]
struct Applied {
    #[serde(default)]
    input: String,
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

/// `POST /patterns/NAME/apply`: the pattern with its variables filled in, those of the body before those of the query.
pub(super) async fn apply(asked: Asked, Path(name): Path<String>, given: Body) -> Result<Response, Problem> {
    asked.caller.needs(Scope::Read)?;
    let Applied { input, variables } = rest::body(given).await?;
    let mut values = asked.parameters();
    values.remove("workspace");
    values.extend(variables);
    let kind = PromptKind::Pattern;
    let text = with_folders(&asked, Scope::Read, move |folders| folders.read(kind, &name)).await?;
    let filled = fill(&text.text, &values, &input).map_err(|error| Problem::invalid(format!("{error}.")))?;
    Ok(json(StatusCode::OK, &shown(kind, &text.name, &filled)))
}
