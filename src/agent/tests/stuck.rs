//! A session whose disk does not answer: the other sessions go on.

use super::*;
use crate::store::tests::Hooked;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

/// A disk whose next fsync does not return before it is let go.
#[derive(Default)]
struct Dead {
    /// The next fsync is the one.
    armed: AtomicBool,
    /// It came; it may return.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Dead {
    fn fsync(&self) {
        if self.armed.swap(false, SeqCst) {
            let mut state = self.state.lock().unwrap();
            state.0 = true;
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| !state.1).unwrap());
        }
    }

    fn came(&self) {
        drop(self.changed.wait_while(self.state.lock().unwrap(), |state| !state.0).unwrap());
    }

    fn let_go(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

/// A store on that disk.
fn store_on(dead: &Arc<Dead>, home: &Path) -> Store {
    let hook = dead.clone();
    let io = Hooked(move |call: &str| {
        if call == "fsync" {
            hook.fsync();
        }
        Ok(())
    });
    let options = Options::new(home.join("data/workspaces/w"), home.join("state"));
    Store::open(Options { temp: home.to_owned(), io: Arc::new(io), ..options }).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_session_that_is_stuck_on_its_disk_holds_up_no_other() {
    let home = tempfile::tempdir().unwrap();
    let dead = Arc::new(Dead::default());
    let store = store_on(&dead, home.path());
    let mut engine = Engine::on(store, home.path(), |_| {});
    let stuck = engine.talked("hello").await;
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let other = engine.opened().await.meta.id;
    engine.act(&other, SessionCommand::send("ask which one? | red | blue")).await;
    engine.until(|event| matches!(event, Event::Session { event: SessionEvent::Asked(_), .. }).then_some(())).await;
    dead.armed.store(true, SeqCst);
    engine.act(&stuck, SessionCommand::send("this waits for the disk")).await;
    let waits = dead.clone();
    tokio::task::spawn_blocking(move || waits.came()).await.unwrap();
    // More than its mailbox holds, and then the key that has to work always.
    let requests = engine.link.requests.clone();
    let (busy, stopped) = (stuck.clone(), other.clone());
    tokio::spawn(async move {
        for n in 0..400 {
            let act = SessionCommand::draft(format!("draft {n}"));
            let _ = requests.send(Command::Session { id: busy.clone(), command: act }).await;
        }
        let _ = requests.send(Command::Session { id: stopped, command: SessionCommand::Stop }).await;
    });
    let end = async {
        while let Some(stamped) = engine.link.events.event().await {
            if stamped.event.session() == Some(&other)
                && matches!(stamped.event, Event::Session { event: SessionEvent::TurnEnded { .. }, .. })
            {
                return;
            }
        }
    };
    let came = tokio::time::timeout(Duration::from_secs(10), end).await.is_ok();
    dead.let_go();
    engine.end().await;
    assert!(came, "Stop waited for the disk of another session");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_change_that_is_stuck_on_its_disk_holds_up_no_other_session() {
    let home = tempfile::tempdir().unwrap();
    let dead = Arc::new(Dead::default());
    let store = store_on(&dead, home.path());
    let (stuck, other) = (stored(&store, "261101-stuck-pine", |_| {}), stored(&store, "261101-other-pine", |_| {}));
    let mut engine = Engine::on(store, home.path(), |_| {});
    dead.armed.store(true, SeqCst);
    engine
        .send(Command::Engine(EngineCommand::Change { sessions: vec![stuck], change: PropertyChange::Flagged(true) }))
        .await;
    let waits = dead.clone();
    tokio::task::spawn_blocking(move || waits.came()).await.unwrap();
    engine.send(Command::Session { id: other.clone(), command: SessionCommand::Open { rows: 50 } }).await;
    let opened = async {
        while let Some(stamped) = engine.link.events.event().await {
            if stamped.event.session() == Some(&other)
                && matches!(stamped.event, Event::Session { event: SessionEvent::Opened(_), .. })
            {
                return;
            }
        }
    };
    let came = tokio::time::timeout(Duration::from_secs(10), opened).await.is_ok();
    dead.let_go();
    engine.end().await;
    assert!(came, "a session was not opened while the disk of another one did not answer");
}
