//! Skills: a folder each, `skills/NAME/SKILL.md`, with files beside it. Blocks.

use super::folders::{ExtensionFolder, bytes};
use super::found::{Candidate, Counts, Extension, SkillExtension, SkillFolder, Unusable, read as read_all};
use crate::domain::extension::{ExtensionKind, slug_fault};
use crate::domain::hex::sha256_hex;
use crate::domain::problem::Problem;
use crate::domain::skill::{self, FILE};
use std::fs;
use std::path::{Path, PathBuf};

/// Files beside a `SKILL.md` at the most.
const FILES: usize = 200;
/// Depth of folders in a skill.
const DEPTH: usize = 6;
/// Bytes of one file beside a `SKILL.md` of others.
const LONGEST_BESIDE: u64 = 4 * 1024 * 1024;
/// Bytes of all files of a skill of others.
const LONGEST_IN_ALL: u64 = 16 * 1024 * 1024;

/// Skills in these folders, by name.
pub(super) fn read(
    folders: &[ExtensionFolder],
    counts: &Counts<'_>,
    unusable: &mut Vec<Unusable>,
) -> Vec<SkillExtension> {
    read_all(ExtensionKind::Skill, folders, candidates, |folder, one| skill_of(folder, one, counts), unusable)
}

/// Folders with a `SKILL.md`. Another folder, or a file beside the folders, is no skill.
fn candidates(folder: &ExtensionFolder) -> Vec<Candidate> {
    let of = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        Candidate { name, file: path.join(FILE) }
    };
    folder.entries().into_iter().map(of).filter(|one| one.file.symlink_metadata().is_ok()).collect()
}

fn skill_of(folder: &ExtensionFolder, one: &Candidate, counts: &Counts<'_>) -> Result<SkillExtension, Problem> {
    let Candidate { name: slug, file } = one;
    if let Some(fault) = slug_fault(slug) {
        return Err(Problem::whole(file, format!("Not a valid name of a skill: {fault}."), "Rename the folder."));
    }
    let text = folder.text(file)?;
    let content = skill::read(&text).map_err(|(line, why)| Problem {
        path: file.clone(),
        line: Some(line),
        text: format!("Can't use the skill {slug}: {why}."),
        fix: "Fix the file.".to_owned(),
    })?;
    let real = folder.real(file.parent().unwrap_or(file))?;
    let beside = beside(&real).map_err(|why| Problem::whole(file, why, "Move files out of the folder."))?;
    let (hash, shown) = match folder.needs_trust {
        true => all_of(&real, &text, &beside, None)
            .map_err(|why| Problem::whole(file, why, "Move files out of the folder."))?,
        false => (sha256_hex(text.as_bytes()), text),
    };
    let trusted = !folder.needs_trust || counts(file, &hash);
    let content = SkillFolder { file: content, folder: real, beside };
    let (origin, needs_trust) = (folder.origin, folder.needs_trust);
    Ok(Extension { slug: slug.clone(), origin, file: file.clone(), hash, shown, needs_trust, trusted, content })
}

/// Paths of the files in a folder of a skill, relative to it, without its `SKILL.md`. No link is followed.
fn beside(folder: &Path) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), 0)];
    while let Some((at, depth)) = open.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let Some(short) = path.strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
            if kind.is_dir() && entry.file_name() != ".git" {
                if depth + 1 >= DEPTH {
                    return Err(format!("Folders more than {DEPTH} deep beside the skill: {short}."));
                }
                open.push((path, depth + 1));
            } else if kind.is_file() && short != FILE {
                out.push(short.to_owned());
            }
        }
        if out.len() > FILES || open.len() > FILES {
            return Err(format!("More than {FILES} files beside the skill."));
        }
    }
    out.sort();
    Ok(out)
}

/// Characters of the files beside a skill that are shown of each.
const SHOWN_BESIDE: usize = 4_000;

/// Hash of a skill with the files beside it, and the text that is shown of them.
/// `known` is a file beside it whose bytes were read before: they count in the place of what is there now.
fn all_of(
    folder: &Path,
    text: &str,
    beside: &[String],
    known: Option<(&str, &[u8])>,
) -> Result<(String, String), String> {
    let mut all = format!("{FILE}\0{}\n", sha256_hex(text.as_bytes()));
    // Before the text: a long one is cut where it is shown.
    let mut shown = String::new();
    let mut left = LONGEST_IN_ALL;
    let mut texts = String::new();
    for short in beside {
        let of = |error: std::io::Error| format!("Can't read {short} beside the skill: {error}.");
        let content = match known.filter(|(name, _)| name == short) {
            Some((_, content)) => content.to_vec(),
            None => bytes(&folder.join(short), LONGEST_BESIDE.min(left)).map_err(of)?,
        };
        left = left.saturating_sub(content.len() as u64);
        let hash = sha256_hex(&content);
        all.push_str(&format!("{short}\0{hash}\n"));
        if shown.is_empty() {
            shown.push_str("Files beside it, each with its SHA-256:\n");
        }
        shown.push_str(&format!("{short} {}\n", hash.get(..16).unwrap_or_default()));
        if let Ok(content) = String::from_utf8(content) {
            let cut: String = content.chars().take(SHOWN_BESIDE).collect();
            let more = if cut.len() < content.len() { "\n(The rest is not shown.)" } else { "" };
            texts.push_str(&format!("\n\nFile {short}:\n{}{more}", cut.trim_end()));
        }
    }
    if !shown.is_empty() {
        shown.push('\n');
    }
    shown.push_str(text);
    shown.push_str(&texts);
    Ok((sha256_hex(all.as_bytes()), shown))
}

/// Text of a file beside a skill.
///
/// # Errors
/// A sentence for the model: no such file, or one that can't be read.
pub fn file_beside(skill: &SkillExtension, short: &str) -> Result<String, String> {
    let known = &skill.content.beside;
    let short = short.trim().trim_start_matches("./");
    if !known.iter().any(|one| one == short) {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("No file {short:?} beside the skill {}. Files: {known}.", skill.slug));
    }
    let path = skill.content.folder.join(short);
    let read =
        bytes(&path, super::folders::LONGEST).map_err(|error| format!("Can't read {}: {error}.", path.display()))?;
    if skill.needs_trust && !is_as_trusted(skill, (short, &read)) {
        return Err(format!(
            "Files of the skill {} changed since the user trusted them. The user can review them with /trust.",
            skill.slug
        ));
    }
    String::from_utf8(read).map_err(|_| format!("{} is not text. Its path may be given to a program.", path.display()))
}

/// The files of a skill of others are those that were trusted, with these bytes of one of them.
fn is_as_trusted(skill: &SkillExtension, read: (&str, &[u8])) -> bool {
    let folder = &skill.content.folder;
    let text = bytes(&folder.join(FILE), super::folders::LONGEST).ok().and_then(|read| String::from_utf8(read).ok());
    let now = text.and_then(|text| all_of(folder, &text, &beside(folder).ok()?, Some(read)).ok());
    now.is_some_and(|(hash, _)| hash == skill.hash)
}

#[cfg(test)]
mod tests {
    use super::super::folders::ExtensionPlaces;
    use super::super::list::ExtensionList;
    use super::*;
    use crate::domain::extension::ExtensionOrigin;

    struct Ground {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    impl Ground {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            Self { _dir: dir, root }
        }

        fn put(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        fn link(&self, to: &str, at: &str) {
            let at = self.root.join(at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.root.join(to), at).unwrap();
        }

        fn places(&self) -> ExtensionPlaces {
            let at = |name: &str| self.root.join(name);
            let (config, workspace, repository) = (at("config"), at("ws"), at("repo"));
            ExtensionPlaces { config, workspace, is_own_workspace: true, home: Some(at("home")), repository }
        }

        fn read(&self) -> ExtensionList {
            ExtensionList::read(&self.places(), &["plan"], &|_, _| false)
        }

        fn faults(&self) -> Vec<String> {
            let root = self.root.display().to_string();
            self.read().problems().iter().map(|problem| problem.to_string().replace(&root, "")).collect()
        }
    }

    fn skill(description: &str) -> String {
        format!("---\nname: X\ndescription: {description}\n---\nDo it.\n")
    }

    #[test]
    fn skills_come_from_workspace_home_and_repository_and_a_name_is_taken_once() {
        let ground = Ground::new();
        for (path, description) in [
            ("ws/skills/pdf", "workspace"),
            ("home/.claude/skills/pdf", "home"),
            ("home/.agents/skills/notes", "home"),
            ("repo/.claude/skills/ship", "repository"),
            ("repo/.agents/skills/notes", "repository"),
        ] {
            ground.put(&format!("{path}/SKILL.md"), skill(description));
        }
        ground.put("ws/skills/README.md", "no skill");
        ground.put("ws/skills/empty/notes.txt", "no skill");
        let list = ground.read();
        let shown: Vec<_> = list.skills.iter().map(|one| (one.slug.as_str(), one.origin.word(), one.trusted)).collect();
        assert_eq!(shown, [("notes", "home", true), ("pdf", "workspace", true), ("ship", "repository", false)]);
        let taken: Vec<_> = list.unusable.iter().map(|one| (one.name.as_str(), one.origin)).collect();
        assert_eq!(taken, [("pdf", ExtensionOrigin::Home), ("notes", ExtensionOrigin::Repository)]);
        assert!(list.problems().is_empty(), "a name that is taken is no fault of a file");
    }

    #[test]
    fn a_workspace_that_others_write_takes_no_name_of_the_users_own() {
        let ground = Ground::new();
        ground.put("ws/skills/pdf/SKILL.md", skill("workspace"));
        ground.put("home/.claude/skills/pdf/SKILL.md", skill("home"));
        let places = ExtensionPlaces { is_own_workspace: false, ..ground.places() };
        let list = ExtensionList::read(&places, &[], &|_, _| true);
        assert_eq!(list.skills[0].origin, ExtensionOrigin::Home);
    }

    #[test]
    fn what_is_broken_says_its_path_and_line() {
        let ground = Ground::new();
        ground.put("ws/skills/a/SKILL.md", "---\nname: x\nbroken\n---\nx");
        ground.put("ws/skills/b/SKILL.md", vec![b'x'; 300 * 1024]);
        ground.put("ws/skills/c/SKILL.md", b"\xff\xfe".as_slice());
        ground.put("ws/skills/D e/SKILL.md", skill("x"));
        ground.put("ws/skills/f/SKILL.md/x", "a folder");
        ground.put("secret", skill("secret"));
        ground.link("secret", "ws/skills/g/SKILL.md");
        ground.put("elsewhere/SKILL.md", skill("elsewhere"));
        ground.link("elsewhere", "repo/.claude/skills/h");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            ground.put("ws/skills/i/x", "").with_file_name(FILE),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let faults = ground.faults();
        for (path, says) in [
            ("/ws/skills/a/SKILL.md:3: ", "Can't use the skill a: expected `name: value`"),
            ("/ws/skills/b/SKILL.md: ", "larger than 256 KiB"),
            ("/ws/skills/c/SKILL.md: ", "not UTF-8"),
            ("/ws/skills/D e/SKILL.md: ", "Not a valid name"),
            ("/ws/skills/f/SKILL.md: ", "not a regular file"),
            ("/ws/skills/g/SKILL.md: ", "links outside /ws"),
            ("/repo/.claude/skills/h/SKILL.md: ", "links outside /repo"),
            ("/ws/skills/i/SKILL.md: ", "not a regular file"),
        ] {
            assert!(
                faults.iter().any(|fault| fault.starts_with(path) && fault.contains(says)),
                "{path} {says}: {faults:#?}"
            );
        }
        assert!(ground.read().skills.is_empty());
    }

    #[test]
    fn links_inside_a_repository_and_those_of_the_user_are_followed() {
        let ground = Ground::new();
        ground.put("repo/.agents/skills/ship/SKILL.md", skill("x"));
        ground.link("repo/.agents/skills", "repo/.claude/skills");
        ground.put("dotfiles/pdf/SKILL.md", skill("x"));
        ground.link("dotfiles", "home/.claude/skills");
        let list = ground.read();
        let names: Vec<_> = list.skills.iter().map(|one| one.slug.as_str()).collect();
        assert_eq!((names, list.unusable.len()), (vec!["pdf", "ship"], 0), "{:?}", list.unusable);
    }

    #[test]
    fn trust_covers_the_files_beside_a_skill() {
        let ground = Ground::new();
        ground.put("repo/.claude/skills/ship/SKILL.md", skill("x"));
        let script = ground.put("repo/.claude/skills/ship/scripts/run.sh", "echo 1");
        let hash = || ground.read().skills[0].hash.clone();
        let (first, shown) = (hash(), ground.read().skills[0].shown.clone());
        assert!(shown.contains("scripts/run.sh "), "{shown}");
        fs::write(&script, "echo 2").unwrap();
        assert_ne!(hash(), first);
        fs::write(&script, "echo 1").unwrap();
        assert_eq!(hash(), first);
        for number in 0..=FILES {
            ground.put(&format!("repo/.claude/skills/ship/{number}"), "");
        }
        assert!(ground.faults()[0].contains("More than 200 files"), "{:?}", ground.faults());
    }

    #[test]
    fn files_beside_a_skill_are_read_and_no_others() {
        let ground = Ground::new();
        ground.put("ws/skills/pdf/SKILL.md", skill("x"));
        ground.put("ws/skills/pdf/forms/fill.md", "Fill.");
        ground.put("secret", "key");
        ground.link("secret", "ws/skills/pdf/link.md");
        let list = ground.read();
        let pdf = list.skill("pdf").unwrap();
        assert_eq!(pdf.content.beside, ["forms/fill.md"]);
        assert_eq!(file_beside(pdf, "./forms/fill.md").unwrap(), "Fill.");
        // One of others is as it was trusted, or is not read at all.
        let of_others = |hash: &str| Extension { needs_trust: true, hash: hash.to_owned(), ..pdf.clone() };
        let text = fs::read_to_string(pdf.content.folder.join(FILE)).unwrap();
        let (hash, _) = all_of(&pdf.content.folder, &text, &pdf.content.beside, None).unwrap();
        assert_eq!(file_beside(&of_others(&hash), "forms/fill.md").unwrap(), "Fill.");
        ground.put("ws/skills/pdf/forms/fill.md", "Other.");
        let changed = file_beside(&of_others(&hash), "forms/fill.md").unwrap_err();
        assert!(changed.contains("changed since the user trusted them"), "{changed}");
        for other in ["link.md", "../../../secret", "/etc/passwd", "forms/../forms/fill.md", "SKILL.md", ""] {
            assert!(file_beside(pdf, other).unwrap_err().contains("Files: forms/fill.md"), "{other}");
        }
    }
}
