//! Paths of home directories out of a page: who reads it need not know the user's name, nor where on the disk a project lies.
//!
//! The user's own home becomes `~`, and so do `/home/NAME` and `/Users/NAME` where a path begins with them. A working directory
//! elsewhere keeps its last name.

use std::path::Path;

/// Folders that have a folder for each user.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// Paths that a page does not show.
#[derive(Clone, Debug, Default)]
pub struct HomePaths {
    /// The user's home directory; empty if it is not known.
    home: String,
    /// The working directory and its replacement, if it lies in no home.
    folder: Option<(String, String)>,
}

impl HomePaths {
    /// Those of a session: the user's home, and the directory that its tools work in.
    #[must_use]
    pub fn of(home: &Path, cwd: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
        let (home, cwd) = (text(home), text(cwd));
        let mut paths = Self { home: if home.starts_with('/') { home } else { String::new() }, folder: None };
        // One with a single name says nothing of where it lies.
        let (above, name) = cwd.rsplit_once('/').unwrap_or_default();
        if !above.is_empty() && paths.at(&cwd, 0).is_none() {
            let short = format!("…/{name}");
            paths.folder = Some((cwd, short));
        }
        paths
    }

    /// The text without them; `None` if there are none.
    pub(super) fn masked(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for (at, _) in text.match_indices('/') {
            if at < done {
                continue;
            }
            let Some((length, short)) = self.at(text, at) else { continue };
            out.push_str(text.get(done..at).unwrap_or_default());
            out.push_str(short);
            done = at + length;
        }
        (done > 0).then(|| out + text.get(done..).unwrap_or_default())
    }

    /// Length of the path to hide that begins at a slash, and what stands for it.
    fn at(&self, text: &str, at: usize) -> Option<(usize, &str)> {
        let (before, rest) = (text.get(..at)?, text.get(at..)?);
        let is = |path: &str| rest.strip_prefix(path).is_some_and(ends_a_name);
        if let Some((folder, short)) = self.folder.as_ref().filter(|(folder, _)| is(folder)) {
            return Some((folder.len(), short.as_str()));
        }
        // A home of one name, such as /root, is a part of other paths as well.
        if !self.home.is_empty() && is(&self.home) && (self.home.rfind('/') > Some(0) || begins_a_path(before)) {
            return Some((self.home.len(), "~"));
        }
        let above = HOMES.into_iter().find(|above| rest.starts_with(above)).filter(|_| begins_a_path(before))?;
        let name = rest.get(above.len()..)?;
        let end = name.find(|sign: char| !(sign.is_alphanumeric() || "._-".contains(sign))).unwrap_or(name.len());
        let name = name.get(..end)?.trim_end_matches('.');
        (!name.is_empty()).then(|| (above.len() + name.len(), "~"))
    }
}

/// True if a name ends before this text.
fn ends_a_name(rest: &str) -> bool {
    let mut signs = rest.chars();
    match signs.next() {
        Some('.') => !signs.next().is_some_and(char::is_alphanumeric),
        Some(sign) => !(sign.is_alphanumeric() || "_-".contains(sign)),
        None => true,
    }
}

/// True if a path can begin behind this text: not inside a longer one, nor in the address of a page; behind an option (`-I`) it
/// can.
fn begins_a_path(before: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || "._-+@%~/…".contains(sign);
    let token = before.rsplit(|sign| !is_part(sign)).next().unwrap_or_default();
    token.trim_matches('/').is_empty() || (token.starts_with('-') && !token.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_paths_show_as_a_tilde() {
        let of = |home: &str, cwd: &str| HomePaths::of(Path::new(home), Path::new(cwd));
        let ada = of("/home/ada", "/home/ada/proj");
        let far = of("/root", "/opt/clients/acme/w");
        for (paths, text, expected) in [
            (&ada, "/home/ada/proj/src/main.rs:3", "~/proj/src/main.rs:3"),
            (&ada, "cd /home/ada && ls \"/home/ada\"", "cd ~ && ls \"~\""),
            (&ada, "in /home/ada.", "in ~."),
            (&ada, "/home/ada2/x /home/bob/y, /Users/Eve/z", "~/x ~/y, ~/z"),
            (&ada, "PATH=/usr/bin:/home/ada/bin -I/home/bob/include", "PATH=/usr/bin:~/bin -I~/include"),
            (&ada, "file:///home/bob/x /mnt/home/ada/x", "file://~/x /mnt~/x"),
            (&far, "/root/.cargo (/opt/clients/acme/w/a.rs)", "~/.cargo (…/w/a.rs)"),
            (&far, "at /opt/clients/acme/w", "at …/w"),
        ] {
            assert_eq!(paths.masked(text).as_deref(), Some(expected), "{text}");
        }
        for (paths, text) in [
            (&ada, "https://example.org/home/page pages/home/index.tsx ./home/x ~/home/x"),
            (&ada, "/homework /home/ /home /usr/home/bob"),
            (&far, "/srv/root/x /rooted /opt/clients/acme/work /opt/clients/acme/w.old"),
            (&of("", "/w"), "/w/x /"),
            (&of("/", "/"), "/ /x"),
            (&HomePaths::default(), "/opt/x"),
        ] {
            assert_eq!(paths.masked(text), None, "{text}");
        }
    }
}
