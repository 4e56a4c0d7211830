//! Ranking of commands by what was typed, the same for the slash menu and the palette.

use super::fuzzy;

/// Texts of a command that a query is held against.
#[derive(Clone, Copy, Debug)]
pub struct Named<'t> {
    /// Name, without a slash; empty for one that has only keys.
    pub name: &'t str,
    /// Description.
    pub about: &'t str,
    /// Id in keymaps: searched, never shown.
    pub id: &'t str,
    /// Number of other commands used since this one; `None` if it was not used.
    pub recent: Option<usize>,
}

/// How well a query fits, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Name,
    NamePrefix,
    WordPrefix,
    Part,
    Letters,
}

/// Places of the commands that fit, best first, with the characters of the name that matched. Among equals the one used
/// last comes first, then the order of the table.
#[must_use]
pub fn rank(query: &str, commands: &[Named<'_>]) -> Vec<(usize, Vec<usize>)> {
    let query = query.trim().trim_start_matches('/').to_lowercase();
    let loose: Vec<(usize, Vec<usize>)> = match query.is_empty() {
        true => Vec::new(),
        false => fuzzy::rank(&query, commands.iter().map(|one| one.name)),
    };
    let place_of = |place: usize| loose.iter().position(|(one, _)| *one == place);
    let mut found: Vec<(Fit, usize, usize, usize)> = Vec::new();
    for (place, one) in commands.iter().enumerate() {
        let letters = place_of(place);
        let fit = fit(&query, one).or(letters.map(|_| Fit::Letters));
        let order = if fit == Some(Fit::Letters) { letters.unwrap_or(0) } else { 0 };
        found.extend(fit.map(|fit| (fit, one.recent.unwrap_or(usize::MAX), order, place)));
    }
    // One or two letters begin a name: descriptions hold them everywhere.
    if query.len() < 3 && found.iter().any(|(fit, ..)| *fit <= Fit::NamePrefix) {
        found.retain(|(fit, ..)| *fit <= Fit::NamePrefix);
    }
    found.sort_unstable();
    let marks = |place: usize| {
        let name = commands.get(place).map_or("", |one| one.name).to_lowercase();
        match name.find(&query).filter(|_| !query.is_empty()) {
            Some(at) => {
                let first = name.get(..at).map_or(0, |before| before.chars().count());
                (first..first + query.chars().count()).collect()
            }
            None => place_of(place).and_then(|at| loose.get(at)).map_or_else(Vec::new, |(_, marks)| marks.clone()),
        }
    };
    found.into_iter().map(|(.., place)| (place, marks(place))).collect()
}

fn fit(query: &str, one: &Named<'_>) -> Option<Fit> {
    let name = one.name.to_lowercase();
    if query.is_empty() || name == query {
        return Some(Fit::Name);
    }
    if name.starts_with(query) {
        return Some(Fit::NamePrefix);
    }
    let texts = [name.as_str(), &one.about.to_lowercase()].join(" ");
    let words = || texts.split(|c: char| !c.is_alphanumeric());
    if query.split_whitespace().all(|part| words().any(|word| word.starts_with(part))) {
        return Some(Fit::WordPrefix);
    }
    (texts.contains(query) || one.id.contains(query)).then_some(Fit::Part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_words_and_words_before_letters() {
        let names = [
            ("new", "new session", "session.new"),
            ("rename", "rename this session", "session.rename"),
            ("theme", "choose a theme", "app.theme"),
            ("mode", "choose the permission mode", "mode.pick"),
            ("model", "choose the model", "model.pick"),
            ("", "scroll to the newest", "chat.end"),
        ];
        let found = |query: &str, recent: Option<&str>| {
            let commands = names.map(|(name, about, id)| {
                let recent = recent.filter(|used| *used == name).map(|_| 0);
                Named { name, about, id, recent }
            });
            rank(query, &commands).into_iter().map(|(place, _)| names[place].2).collect::<Vec<_>>()
        };
        assert_eq!(found("mode", None), ["mode.pick", "model.pick"]);
        assert_eq!(found("new", None), ["session.new", "chat.end"], "rename holds only letters of it");
        assert_eq!(found("a theme", None), ["app.theme"]);
        assert_eq!(found("choose", None), ["app.theme", "mode.pick", "model.pick"]);
        assert_eq!(found("choose", Some("model")), ["model.pick", "app.theme", "mode.pick"], "used last");
        assert_eq!(found("session.rename", None), ["session.rename"]);
        assert_eq!(found("mdl", None), ["model.pick"]);
        assert_eq!(found("c", None).len(), 4, "no name begins with it");
        assert_eq!(found("mo", None), ["mode.pick", "model.pick"]);
        assert_eq!(found("n", None), ["session.new"]);
        assert_eq!(found("/mod", None), ["mode.pick", "model.pick"]);
        assert_eq!(found("", None).len(), names.len());
        assert_eq!(found("zzz", None), Vec::<&str>::new());
    }
}
