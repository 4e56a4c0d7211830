//! Many clients of one engine.

use super::*;
use crate::agent::BacklogLimits;
use crate::domain::request::UserAnswer;
use crate::protocol::{ClientRequest, CommandError, ErrorCode, Reply, Scope, Scopes, Stamped, ToClient};

/// A client beside the first one.
struct Other {
    link: Link,
    seen: Vec<Stamped>,
}

impl Other {
    fn of(engine: &Engine, info: ClientInfo) -> Self {
        Self { link: engine.handle.connect(info), seen: Vec::new() }
    }

    async fn next(&mut self) -> ToClient {
        let next = tokio::time::timeout(PATIENCE, self.link.events.recv()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing came; there was {:#?}", self.seen)).expect("it is open");
        if let ToClient::Event(stamped) = &next {
            self.seen.push((**stamped).clone());
        }
        next
    }

    async fn until<T>(&mut self, mut what: impl FnMut(&Stamped) -> Option<T>) -> T {
        loop {
            if let ToClient::Event(stamped) = self.next().await
                && let Some(found) = what(&stamped)
            {
                return found;
            }
        }
    }

    /// Sends it and waits for the reply; what came before that is seen.
    async fn ask(&mut self, command: Command) -> Option<CommandError> {
        let id = self.link.requests.send(command).await.unwrap();
        self.reply(id).await
    }

    async fn reply(&mut self, to: u64) -> Option<CommandError> {
        loop {
            if let ToClient::Reply(Reply { id, error }) = self.next().await
                && id == to
            {
                return error.map(|error| *error);
            }
        }
    }

    async fn act(&mut self, session: &SessionId, command: SessionCommand) -> Option<CommandError> {
        self.ask(Command::Session { id: session.clone(), command }).await
    }

    async fn open(&mut self, session: &SessionId) -> (u64, Opened) {
        assert_eq!(self.act(session, SessionCommand::Open { rows: 50 }).await, None);
        let opened = self.seen.iter().rev().find_map(|stamped| match &stamped.event {
            Event::Session { id, event: SessionEvent::Opened(opened) } if id == session => {
                Some((stamped.seq, (**opened).clone()))
            }
            _ => None,
        });
        opened.expect("a snapshot comes before the reply")
    }

    async fn turn_ended(&mut self) {
        self.until(|stamped| {
            matches!(stamped.event, Event::Session { event: SessionEvent::TurnEnded { .. }, .. }).then_some(())
        })
        .await;
    }

    /// Numbered events of a session, and the text of its rows and deltas.
    fn stream(&self, session: &SessionId) -> Vec<Stamped> {
        let of = |stamped: &&Stamped| stamped.re.is_none() && stamped.event.session() == Some(session);
        self.seen.iter().filter(of).cloned().collect()
    }
}

fn to(session: &SessionId, command: SessionCommand) -> Command {
    Command::Session { id: session.clone(), command }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_see_the_same_turn_and_each_its_own_answers() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let (mut a, mut b) = (Other::of(&engine, ClientInfo::local("a")), Other::of(&engine, ClientInfo::local("b")));
    let mut c = Other::of(&engine, ClientInfo::local("c"));
    a.open(&id).await;
    b.open(&id).await;
    assert_eq!(a.act(&id, SessionCommand::send("list")).await, None);
    a.turn_ended().await;
    b.turn_ended().await;
    let (of_a, of_b) = (a.stream(&id), b.stream(&id));
    let rows = |events: &[Stamped]| -> Vec<Message> {
        let row = |stamped: &Stamped| match &stamped.event {
            Event::Session { event: SessionEvent::Row(row), .. } => Some((**row).clone()),
            _ => None,
        };
        events.iter().filter_map(row).collect()
    };
    assert!(!rows(&of_a).is_empty());
    assert_eq!(rows(&of_a), rows(&of_b), "both see the same rows");
    assert_eq!(of_a.last().map(|last| last.seq), of_b.last().map(|last| last.seq));
    let accepted =
        |stamped: &Stamped| matches!(stamped.event, Event::Session { event: SessionEvent::Accepted { .. }, .. });
    assert!(a.seen.iter().any(accepted) && !b.seen.iter().any(accepted), "only the sender is told that it was taken");
    // Who has it not open gets its properties, and nothing of its text.
    c.ask(Command::Engine(EngineCommand::List)).await;
    let text = |stamped: &Stamped| {
        matches!(stamped.event, Event::Session { event: SessionEvent::Row(_) | SessionEvent::Delta { .. }, .. })
    };
    assert!(
        c.seen.iter().any(|stamped| matches!(stamped.event, Event::Session { event: SessionEvent::Changed(_), .. }))
    );
    assert!(!c.seen.iter().any(text), "{:#?}", c.seen);
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_and_drafts_are_each_clients_own() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let (mut a, mut b) = (Other::of(&engine, ClientInfo::local("a")), Other::of(&engine, ClientInfo::local("b")));
    a.open(&id).await;
    b.open(&id).await;
    let search = |query: &str| Command::Engine(EngineCommand::Search { search: 1, query: query.to_owned() });
    let first = a.link.requests.send(search("hello")).await.unwrap();
    let second = b.link.requests.send(search("nothing-has-this")).await.unwrap();
    assert_eq!((a.reply(first).await, b.reply(second).await), (None, None));
    let hits = |client: &Other| -> (usize, bool) {
        let found = client.seen.iter().filter_map(|stamped| match &stamped.event {
            Event::Engine(EngineEvent::Found { results, end, .. }) => Some((results.len(), end.is_some())),
            _ => None,
        });
        found.fold((0, false), |(hits, ended), (more, end)| (hits + more, ended || end))
    };
    assert_eq!((hits(&a), hits(&b)), ((1, true), (0, true)), "no search stops another client's");
    a.act(&id, SessionCommand::draft("of a")).await;
    b.act(&id, SessionCommand::draft("of b")).await;
    assert_eq!((a.open(&id).await.1.draft, b.open(&id).await.1.draft), ("of a".into(), "of b".into()));
    let mut c = Other::of(&engine, ClientInfo::local("c"));
    assert_eq!(c.open(&id).await.1.draft, "of b", "the newest is offered elsewhere");
    b.act(&id, SessionCommand::draft("")).await;
    assert_eq!(c.open(&id).await.1.draft, "of a");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_leaves_its_turn_running_and_the_engine_up() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let mut a = Other::of(&engine, ClientInfo::local("a"));
    a.open(&id).await;
    a.act(&id, SessionCommand::send("ask which one? | red | blue")).await;
    let request = engine.asked().await;
    drop(a);
    let mut b = Other::of(&engine, ClientInfo::local("b"));
    let (_, opened) = b.open(&id).await;
    assert_eq!(opened.requests, std::slice::from_ref(&request), "it waits on");
    let answer = SessionCommand::Answer { request: request.id, answer: UserAnswer::Reply("red".into()), shown: None };
    assert_eq!(b.act(&id, answer).await, None);
    b.turn_ended().await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_answer_counts_and_only_of_who_was_asked() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let remote = |name| ClientInfo::remote(name, Scopes::all());
    let (mut a, mut b) = (Other::of(&engine, remote("anna")), Other::of(&engine, remote("ben")));
    let mut c = Other::of(&engine, remote("carl"));
    a.open(&id).await;
    b.open(&id).await;
    a.act(&id, SessionCommand::send("ask which one? | red | blue")).await;
    let request = engine.asked().await;
    let answer = |shown: Option<String>| SessionCommand::Answer {
        request: request.id.clone(),
        answer: UserAnswer::Reply("red".into()),
        shown,
    };
    let code = |error: Option<CommandError>| error.map(|error| error.code);
    let hash = request.hash();
    assert_eq!(code(c.act(&id, answer(Some(hash.clone()))).await), Some(ErrorCode::Stale), "it was not shown to carl");
    assert_eq!(code(a.act(&id, answer(None)).await), Some(ErrorCode::Stale), "nothing was quoted");
    assert_eq!(code(a.act(&id, answer(Some("other".into()))).await), Some(ErrorCode::Stale));
    assert_eq!(a.act(&id, answer(Some(hash.clone()))).await, None, "as shown");
    let by = b.until(|stamped| match &stamped.event {
        Event::Session { event: SessionEvent::Settled { by, .. }, .. } => Some(by.clone()),
        _ => None,
    });
    assert_eq!(by.await.as_deref(), Some("anna"));
    for late in [UserAnswer::Reply("red".into()), UserAnswer::Once, UserAnswer::PlanDecline] {
        let late = SessionCommand::Answer { request: request.id.clone(), answer: late, shown: Some(hash.clone()) };
        assert_eq!(code(b.act(&id, late).await), Some(ErrorCode::Stale), "it was settled");
    }
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scopes_are_held() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let mut reader = Other::of(&engine, ClientInfo::remote("phone", Scopes::of([Scope::Read])));
    reader.open(&id).await;
    for command in [
        to(&id, SessionCommand::send("no")),
        to(&id, SessionCommand::Stop),
        to(&id, SessionCommand::Type { command: "ls".into() }),
        Command::Engine(EngineCommand::Shutdown),
    ] {
        let error = reader.ask(command.clone()).await.unwrap_or_else(|| panic!("{command:?} was done"));
        assert_eq!(error.code, ErrorCode::Forbidden, "{command:?}");
    }
    let mut writer = Other::of(&engine, ClientInfo::remote("desk", Scopes::of([Scope::Write])));
    writer.open(&id).await;
    assert_eq!(writer.act(&id, SessionCommand::send("yes")).await, None);
    writer.turn_ended().await;
    let execute = SessionCommand::Mode { mode: Mode::Execute, drop_plan: false };
    assert_eq!(writer.act(&id, execute).await.map(|error| error.code), Some(ErrorCode::Forbidden));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_reads_holds_up_nobody_and_is_cut_off() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let limits = Some(BacklogLimits { bytes: 4_000, age: Duration::from_secs(3600) });
    let mut stalled = Other::of(&engine, ClientInfo { limits, ..ClientInfo::local("stalled") });
    let mut a = Other::of(&engine, ClientInfo::local("a"));
    a.open(&id).await;
    stalled.link.requests.send(to(&id, SessionCommand::Open { rows: 1 })).await.unwrap();
    for n in 0..40 {
        assert_eq!(a.act(&id, SessionCommand::send(format!("message {n}"))).await, None);
        a.turn_ended().await;
    }
    let mut last = None;
    while let Some(item) = stalled.link.events.recv().await {
        last = Some(item);
    }
    assert!(matches!(last, Some(ToClient::CutOff { .. })), "{last:?}");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_comes_back_gets_what_it_missed_once() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("hello").await;
    let remote = || ClientInfo::remote("anna", Scopes::all());
    let mut whole = Other::of(&engine, remote());
    let instance = whole.until(|stamped| match &stamped.event {
        Event::Engine(EngineEvent::Configured(configured)) => Some(configured.instance.clone()),
        _ => None,
    });
    let instance = instance.await;
    whole.open(&id).await;
    for n in 0..3 {
        whole.act(&id, SessionCommand::send(format!("message {n}"))).await;
        whole.turn_ended().await;
    }
    let all = whole.stream(&id);
    let (first, last) = (all.first().unwrap().seq, all.last().unwrap().seq);
    for cut in (first..=last).step_by(3).chain([last]) {
        let mut back = Other::of(&engine, remote());
        let resume = SessionCommand::Resume { instance: instance.clone(), seq: cut, rows: 50 };
        assert_eq!(back.act(&id, resume).await, None);
        let got = back.stream(&id);
        let mut at = cut;
        for stamped in &got {
            assert_eq!(stamped.after(), at, "nothing is missing and nothing twice after {cut}");
            at = stamped.seq;
        }
        assert_eq!(at, last, "all that was missed came after {cut}");
    }
    for (instance, seq) in [("another".to_owned(), last), (instance, last + 7)] {
        let mut back = Other::of(&engine, remote());
        assert_eq!(back.act(&id, SessionCommand::Resume { instance, seq, rows: 50 }).await, None);
        let snapshot =
            |stamped: &Stamped| matches!(stamped.event, Event::Session { event: SessionEvent::Opened(_), .. });
        assert_eq!(
            back.seen.iter().filter(|stamped| snapshot(stamped)).count(),
            1,
            "a snapshot, where it is not known"
        );
    }
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_a_client_makes_up_start_no_session() {
    let home = tempfile::tempdir().unwrap();
    let engine = Engine::new(home.path());
    let mut anna = Other::of(&engine, ClientInfo::remote("anna", Scopes::all()));
    for number in 0..20 {
        let id = SessionId::numbered(number);
        for command in [SessionCommand::Open { rows: 5 }, SessionCommand::send("hello"), SessionCommand::Context] {
            let error = anna.act(&id, command).await;
            assert_eq!(error.map(|error| error.message), Some(format!("No session {id}")));
        }
    }
    assert!(anna.seen.iter().all(|stamped| stamped.event.session().is_none()), "{:?}", anna.seen);
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_taken_once_also_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    let message = MessageId::new("msg-1-anna-0001");
    let request = |id, text: &str| ClientRequest {
        id,
        message: Some(message.clone()),
        command: to(&session, SessionCommand::send(text)),
    };
    let mut a = Other::of(&engine, ClientInfo::remote("anna", Scopes::all()));
    a.open(&session).await;
    a.link.requests.forward(request(100, "only once")).await.unwrap();
    assert_eq!(a.reply(100).await, None);
    a.turn_ended().await;
    a.link.requests.forward(request(101, "only once")).await.unwrap();
    assert_eq!(a.reply(101).await.map(|error| error.code), Some(ErrorCode::Duplicate));
    drop(a);
    engine.end().await;
    let engine = Engine::new(home.path());
    let mut a = Other::of(&engine, ClientInfo::remote("anna", Scopes::all()));
    a.link.requests.forward(request(1, "only once")).await.unwrap();
    assert_eq!(a.reply(1).await.map(|error| error.code), Some(ErrorCode::Duplicate), "also after a restart");
    let (_, opened) = a.open(&session).await;
    let mine: Vec<&Message> = opened.rows.iter().filter(|row| row.id == message).collect();
    assert_eq!(mine.len(), 1, "the row has the id that the client chose");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_of_a_client_without_a_person_asks_nobody_and_another_one_does() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (first, second) = (engine.talked("hello").await, engine.talked("hello").await);
    let mut run = Other::of(&engine, ClientInfo { follows: Follows::Opened, ..ClientInfo::headless("run") });
    let mut screen = Other::of(&engine, ClientInfo::local("screen"));
    run.open(&first).await;
    screen.open(&second).await;
    run.act(&first, SessionCommand::send("ask which one? | red | blue")).await;
    screen.act(&second, SessionCommand::send("ask which one? | red | blue")).await;
    run.turn_ended().await;
    let asks = |stamped: &Stamped| matches!(stamped.event, Event::Session { event: SessionEvent::Asked(_), .. });
    assert!(!run.seen.iter().any(asks), "nobody is there to be asked");
    screen.until(|stamped| asks(stamped).then_some(())).await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_behind_the_turn_of_a_client_without_a_person_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    let mut run = Other::of(&engine, ClientInfo { follows: Follows::Opened, ..ClientInfo::headless("run") });
    run.open(&session).await;
    run.act(&session, SessionCommand::send("stream 200")).await;
    run.act(&session, SessionCommand::send("stream 3")).await;
    run.turn_ended().await;
    run.turn_ended().await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owner_ends_the_engine_and_every_client_learns_of_it() {
    let home = tempfile::tempdir().unwrap();
    let engine = Engine::new(home.path());
    let mut a = Other::of(&engine, ClientInfo::local("a"));
    engine.handle.shutdown().await;
    a.until(|stamped| (stamped.event == Event::Engine(EngineEvent::Ended)).then_some(())).await;
    assert_eq!(a.link.events.recv().await, None);
    let mut late = engine.handle.connect(ClientInfo::local("late"));
    assert_eq!(late.events.recv().await, None, "whoever comes after the end gets nothing");
}
