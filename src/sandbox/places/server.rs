//! Profile of a server: a program that stays, such as the tools of a source, and belongs to no call.
//!
//! It reads what commands read, and writes its own folder, the workspace's caches and the folders that its configuration
//! opens. The session's folder of the site is the server's own.

use super::{Site, caches_and_temp, drafts, only_shown, open_for_writing, scan, settled, workspace_of};
use crate::sandbox::profile::Profile;
use crate::sandbox::repository::Repository;

/// The profile of a server that is started there. Blocks.
#[must_use]
pub fn server(site: &Site<'_>) -> Profile {
    // What configures or runs code there is protected as from a command.
    let writes_here = site.allowances.granted.writable.iter().any(|path| site.cwd.starts_with(path));
    settled::profile(site, if writes_here { workspace_of } else { server_of })
}

fn server_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut bounds = super::shared(site, found, repository);
    caches_and_temp(site, &mut bounds);
    bounds.protected.extend(site.own_dirs.iter().cloned());
    open_for_writing(site, &mut bounds);
    drafts::open(&drafts::of(&site.allowances.granted.writable, site.cwd), site.session_dir, &mut bounds);
    only_shown(site, found, &mut bounds);
    super::reach::with_reach(site, found, repository, bounds)
}
