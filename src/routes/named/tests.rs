//! Named chats of a route.

use super::*;
use crate::routes::owner_command::SessionVerb;

fn key(text: &str) -> SessionKey {
    SessionKey::parse(text, &OpaqueChannels::default()).unwrap()
}

fn row(label: &str, updated: i64) -> SessionRow {
    let mut row = SessionRow::new(SessionId::numbered(1), At(updated));
    row.links.label = Some(label.to_owned());
    row
}

#[test]
fn messages_follow_the_pointer_and_session_commands_do_not() {
    let opaque = OpaqueChannels::default();
    let base = key("agent:main:irc:direct:ana");
    let child = key("agent:main:irc:direct:ana:chat:x");
    let list = OwnerCommand::Session(SessionVerb::List);
    let mut base_row = row("", 1);
    for (pointer, exists, command, expected) in [
        (None, true, None, &base),
        (Some(child.as_str()), true, None, &child),
        (Some(child.as_str()), true, Some(&OwnerCommand::Stop), &child),
        (Some(child.as_str()), true, Some(&OwnerCommand::Status), &child),
        (Some(child.as_str()), true, Some(&list), &base),
        (Some(child.as_str()), false, None, &base),
        (Some("agent:main:irc:direct:eve:chat:x"), true, None, &base),
        (Some("agent:"), true, None, &base),
    ] {
        base_row.links.active_session_key = pointer.map(str::to_owned);
        assert_eq!(&target_key(&base, Some(&base_row), command, &opaque, |_| exists), expected, "{pointer:?}");
    }
}

#[test]
fn children_are_listed_and_found() {
    let base = key("agent:main:main");
    let other = key("agent:main:main:chat:y:chat:z");
    let rows = [
        (base.clone(), row("Base", 99)),
        (key("agent:main:main:chat:research"), row("Research", 5)),
        (key("agent:main:main:chat:research-2"), row("Research", 9)),
        (other, row("nested", 50)),
        (key("agent:main:irc:direct:1"), row("else", 50)),
    ];
    let found = children(&base, rows.iter().map(|(key, row)| (key, row)));
    let texts: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(texts, ["agent:main:main:chat:research-2", "agent:main:main:chat:research"]);
    for (target, expected) in [
        ("RESEARCH", Some("agent:main:main:chat:research-2")),
        ("research-2", Some("agent:main:main:chat:research-2")),
        ("agent:main:main:chat:research", Some("agent:main:main:chat:research")),
        ("nested", None),
    ] {
        assert_eq!(find_child(target, &found).map(SessionKey::as_str), expected, "{target}");
    }
    assert_eq!(
        list_lines(&base, found[0].0, &found),
        ["Sessions", "* Main (agent:main:main)", "- Research (research-2) active", "- Research (research)"]
    );
}

#[test]
fn new_children_have_free_names() {
    let base = key("agent:main:irc:direct:ana");
    let mut base_row = row("", 1);
    base_row.place.channel = Some("irc".into());
    base_row.place.last_to = Some("ana".into());
    let make = |name: Option<&str>, labels: &[&str], keys: &[&str]| {
        let label_taken = |label: &str| labels.iter().any(|one| one.to_lowercase() == label.to_lowercase());
        let key_taken = |key: &SessionKey| keys.contains(&key.as_str());
        let names = NewNames { opaque: &OpaqueChannels::default(), label_taken: &label_taken, key_taken: &key_taken };
        new_child(&base, Some(&base_row), name, SessionId::numbered(2), At(7), &names)
    };
    let taken = "agent:main:irc:direct:ana:chat:research";
    for (name, labels, keys, label, slug) in [
        (Some(" Research "), &[][..], &[][..], "Research", "research"),
        (Some("Research"), &["research"][..], &[][..], "Research 2", "research-2"),
        (Some("Research!"), &[][..], &[taken][..], "Research! 2", "research-2"),
        (None, &["chat 1"][..], &[][..], "Chat 2", "chat-2"),
        (Some("__proto__"), &[][..], &[][..], "__proto__", "chat"),
    ] {
        let (key, row) = make(name, labels, keys).unwrap();
        assert_eq!(key.as_str(), format!("agent:main:irc:direct:ana:chat:{slug}"), "{name:?}");
        assert_eq!((row.links.label.as_deref(), row.links.session_slug.as_deref()), (Some(label), Some(slug)));
        assert_eq!(row.place, base_row.place);
        assert!(is_child(&key, None, &base));
    }
    assert_eq!(make(Some(&"x".repeat(65)), &[], &[]).unwrap_err(), NamedError::Label);
    assert_eq!(make(Some("a\nb"), &[], &[]).unwrap_err(), NamedError::Label);
}
