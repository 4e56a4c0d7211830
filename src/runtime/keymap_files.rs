//! Keymap of the user: the files that the settings name, put together.

use super::setup::Bootstrap;
use crate::config::user_files::{self, UserFileKind};
use crate::domain::problem::Problem;
use crate::keymap;

/// The keymap that the settings name: the default one, over it the embedded one of that name (or the one that the user's
/// file inherits), over it the user's file of that name.
#[must_use]
pub fn keymap(bootstrap: &Bootstrap, problems: &mut Vec<Problem>) -> keymap::Table {
    let name = &bootstrap.settings.ui.keymap;
    let file = UserFileKind::Keymap.file(&bootstrap.paths, name);
    let own = user_files::find(&bootstrap.paths, UserFileKind::Keymap, name).unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let embedded = |name: &str| keymap::STYLES.iter().find(|style| style.0 == name);
    let known = || keymap::names().collect::<Vec<_>>().join(", ");
    let mut style = embedded(name);
    if style.is_none() && name != keymap::GROUND && !file.exists() {
        let text = format!("No keymap {name:?}.");
        let fix = format!("Create this file, or set ui.keymap in config.toml to one of {}.", known());
        problems.push(Problem { path: file.clone(), line: None, text, fix });
    }
    if let Some((base, line)) = own.as_deref().and_then(keymap::inherits) {
        style = embedded(&base);
        if style.is_none() && base != keymap::GROUND {
            let text = format!("Inherits {base:?}, which doesn't exist.");
            let fix = format!("Inherit one of {}.", known());
            problems.push(Problem { path: file.clone(), line: Some(line), text, fix });
        }
    }
    let fresh = |name: &str, text: &'static str| {
        user_files::fresh(UserFileKind::Keymap, name).map_or(std::borrow::Cow::Borrowed(text), std::borrow::Cow::Owned)
    };
    let default = fresh(keymap::GROUND, keymap::DEFAULT);
    let over = style.map(|(name, shown, text)| (*shown, fresh(name, text)));
    let shown = file.display().to_string();
    let mut files = vec![(keymap::DEFAULT_NAME, default.as_ref())];
    files.extend(over.as_ref().map(|(shown, text)| (*shown, text.as_ref())));
    files.extend(own.as_deref().map(|text| (shown.as_str(), text)));
    let loaded = keymap::load_files(&files);
    problems.extend(loaded.problems);
    loaded.table
}
