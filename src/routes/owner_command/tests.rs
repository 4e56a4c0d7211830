//! Commands of owners: forms, authority, verdicts.

use super::*;
use crate::routes::key::OpaqueChannels;
use proptest::prelude::*;

fn triggers() -> Vec<String> {
    ["/new", "/reset"].map(str::to_owned).into()
}

fn read(text: &str) -> Option<Result<OwnerCommand, UsageError>> {
    let triggers = triggers();
    parse(text, &CommandWords { triggers: &triggers, mentions: &["@bot"], models: &[] })
}

fn named(name: &str) -> SessionVerb {
    SessionVerb::New { name: Some(name.to_owned()) }
}

#[test]
fn session_verbs() {
    let switch = |target: &str| SessionVerb::Switch { target: target.to_owned() };
    for (text, verb) in [
        ("/session", SessionVerb::Current),
        ("/SESSION current", SessionVerb::Current),
        ("/session new", SessionVerb::New { name: None }),
        ("@bot /session new Deep  Research ", named("Deep  Research")),
        ("/session list", SessionVerb::List),
        ("/session switch Research", switch("Research")),
        ("/session switch MAIN", SessionVerb::Close),
        ("/session switch", SessionVerb::Close),
        ("/session main", SessionVerb::Close),
        ("/session close", SessionVerb::Close),
    ] {
        assert_eq!(read(text), Some(Ok(OwnerCommand::Session(verb))), "{text}");
    }
    for text in ["/session lsit", "/session list all", "/session close now"] {
        assert_eq!(read(text), Some(Err(SESSION_USAGE)), "{text}");
    }
}

#[test]
fn other_commands() {
    let send = |setting| Some(Ok(OwnerCommand::Send(setting)));
    let compact = |text: Option<&str>| Some(Ok(OwnerCommand::Compact { instructions: text.map(str::to_owned) }));
    let reset = |prompt: &str| Some(Ok(OwnerCommand::Reset(Trigger { model: None, prompt: prompt.to_owned() })));
    let context = |view| Some(Ok(OwnerCommand::Context(view)));
    for (text, expected) in [
        ("/send on", send(SendSetting::On)),
        ("/send: off", send(SendSetting::Off)),
        ("/send:deny", send(SendSetting::Off)),
        (" /Send DEFAULT ", send(SendSetting::Inherit)),
        ("/send on please", None),
        ("/send maybe", Some(Err(SEND_USAGE))),
        ("/send", Some(Err(SEND_USAGE))),
        ("please /send on", None),
        ("/status", Some(Ok(OwnerCommand::Status))),
        ("/status of the build", None),
        ("/context", context(ContextView::Help)),
        ("/context show", context(ContextView::List)),
        ("/context deep", context(ContextView::Detail)),
        ("/context json", context(ContextView::Json)),
        ("/context all", Some(Err(CONTEXT_USAGE))),
        ("/compact", compact(None)),
        ("/compact: keep the names", compact(Some("keep the names"))),
        ("/new", reset("")),
        ("/reset hello", reset("hello")),
        ("/newer", None),
        ("/", None),
        ("", None),
        ("hello", None),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn stop_words() {
    for text in [
        "/stop",
        "/stop it!",
        "stop",
        "STOP!!",
        " Abort. ",
        "please stop",
        "Halt",
        "стоп",
        "停止。",
        "@bot stop",
        "esc",
    ] {
        assert_eq!(read(text), Some(Ok(OwnerCommand::Stop)), "{text}");
    }
    for text in ["stop the server", "don't stop", "waiting", "exit code?", "/stopwatch"] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn queue_settings() {
    let none = QueueOverrides::default();
    let set = |overrides| Some(Ok(OwnerCommand::Queue(QueueCommand::Set(overrides))));
    for (text, expected) in [
        ("/queue", Some(Ok(OwnerCommand::Queue(QueueCommand::Show)))),
        ("/queue reset", Some(Ok(OwnerCommand::Queue(QueueCommand::Reset)))),
        ("/queue queue", set(QueueOverrides { mode: Some(QueueMode::Steer), ..none })),
        (
            "/queue Collect debounce:2s cap:25 drop:old",
            set(QueueOverrides {
                mode: Some(QueueMode::Collect),
                debounce_ms: Some(2000),
                cap: Some(QueueCap(Some(25))),
                drop: Some(QueueDrop::Old),
            }),
        ),
        ("/queue debounce:500", set(QueueOverrides { debounce_ms: Some(500), ..none })),
        ("/queue cap:off", set(QueueOverrides { cap: Some(QueueCap(None)), ..none })),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    for text in
        ["/queue fast", "/queue cap:0", "/queue cap:x", "/queue drop:all", "/queue debounce:soon", "/queue steer now"]
    {
        assert_eq!(read(text), Some(Err(QUEUE_USAGE)), "{text}");
    }
}

fn rules(text: &str) -> OwnerRules {
    toml::from_str(text).unwrap()
}

#[test]
fn standing_of_senders() {
    let list = ["telegram:1", "telegram:2", "Ana"].map(str::to_owned);
    let of = |rules: &OwnerRules, channel, id| {
        rules.standing(Sender::Person { channel, id }, &list, &OpaqueChannels::default())
    };
    let owner = rules("ownerAllowFrom = [\"Telegram:1\"]\nallowFrom = [\"2\"]");
    let members = rules("allowFrom = [\"2\"]");
    let nobody = rules("ownerAllowFrom = []\nallowFrom = []");
    let plain = rules("");
    for (rules, channel, id, expected) in [
        (&owner, "telegram", "1", SenderStanding::Owner),
        (&owner, "telegram", "2", SenderStanding::Authorised),
        (&owner, "irc", "ana", SenderStanding::Member),
        (&owner, "irc", "1", SenderStanding::Stranger),
        (&members, "telegram", "2", SenderStanding::Owner),
        (&members, "telegram", "1", SenderStanding::Member),
        (&plain, "irc", "ANA", SenderStanding::Owner),
        (&plain, "irc", "eve", SenderStanding::Stranger),
        (&plain, "irc", "", SenderStanding::Stranger),
        (&nobody, "telegram", "1", SenderStanding::Member),
    ] {
        assert_eq!(of(rules, channel, id), expected, "{channel} {id}");
    }
    // Who came in with everybody else commands nothing by that.
    let everybody = ["*", "irc:ana"].map(str::to_owned);
    for (rules, id, expected) in [
        (&plain, "eve", SenderStanding::Member),
        (&plain, "ana", SenderStanding::Owner),
        (&rules("allowFrom = [\"*\"]"), "eve", SenderStanding::Authorised),
    ] {
        let person = Sender::Person { channel: "irc", id };
        assert_eq!(rules.standing(person, &everybody, &OpaqueChannels::default()), expected, "{id}");
    }
    assert_eq!(nobody.standing(Sender::Operator, &[], &OpaqueChannels::default()), SenderStanding::Owner);
    assert!(toml::from_str::<OwnerRules>("ownerAllowFrom = [\"*\"]").is_err());
    assert!(toml::from_str::<OwnerRules>("ownerAllow = []").is_err());
}

#[test]
fn opaque_ids_are_compared_exactly() {
    let opaque = OpaqueChannels::default();
    assert!(matches_sender("matrix:@Bob:hs", "Matrix", "@Bob:hs", &opaque));
    assert!(matches_sender("@Bob:hs", "matrix", "@Bob:hs", &opaque));
    assert!(!matches_sender("matrix:@Bob:hs", "matrix", "@bob:hs", &opaque));
    assert!(matches_sender("*", "matrix", "@x:hs", &opaque));
    assert!(!matches_sender("irc:*", "irc", "x", &opaque));
    assert!(!matches_sender("telegram:7", "web", "telegram:7", &opaque), "an id that looks like an entry");
    assert!(matches_sender("web:telegram:7", "web", "telegram:7", &opaque));
}

#[test]
fn verdicts() {
    let command = |text: &str| read(text).unwrap().unwrap();
    for (text, standing, expected) in [
        ("/send on", SenderStanding::Owner, CommandVerdict::Run),
        ("/send on", SenderStanding::Authorised, CommandVerdict::Ignore),
        ("/stop", SenderStanding::Authorised, CommandVerdict::Run),
        ("/stop", SenderStanding::Member, CommandVerdict::Ignore),
        ("/new x", SenderStanding::Authorised, CommandVerdict::Run),
        ("/new x", SenderStanding::Member, CommandVerdict::Message),
        ("/new x", SenderStanding::Stranger, CommandVerdict::Ignore),
    ] {
        assert_eq!(verdict(&command(text), standing), expected, "{text} {standing:?}");
    }
}

proptest! {
    #[test]
    fn any_message_is_read(
        text in any::<String>(),
        name in "/(session|send|queue|context|stop|new|compact)[: ]{0,2}",
        rest in any::<String>(),
    ) {
        let _ = (read(&text), read(&format!("{name}{rest}")));
        let _ = matches_sender(&text, &rest, &name, &OpaqueChannels::default());
    }
}
