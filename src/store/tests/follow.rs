//! A session that another one writes is followed as it comes.

use super::*;
use crate::protocol::Queued;
use crate::store::io::{Fault, Watched};
use std::collections::BTreeMap;

/// Knowledge of a follower about a session.
#[derive(Default)]
struct Mirror {
    rows: BTreeMap<String, Message>,
    queue: Vec<Queued>,
    title: String,
}

impl Mirror {
    fn of(rows: Vec<Message>) -> Self {
        let rows = rows.into_iter().map(|row| (row.id.as_str().to_owned(), row)).collect();
        Self { rows, ..Self::default() }
    }

    /// Takes what came; other news come back.
    fn take(&mut self, news: Vec<Followed>, now: impl Fn() -> BTreeMap<String, Message>) -> Vec<Followed> {
        let mut other = Vec::new();
        for one in news {
            match one {
                Followed::Row(row) => drop(self.rows.insert(row.id.as_str().to_owned(), *row)),
                Followed::Delta { id, add } => match &mut self.rows.get_mut(id.as_str()).unwrap().body {
                    Body::Assistant(text) => text.text.push_str(&add),
                    body => panic!("{body:?}"),
                },
                Followed::Dropped(id) => drop(self.rows.remove(id.as_str())),
                Followed::Queue(queue) => self.queue = queue,
                Followed::Meta(meta) => self.title = meta.title,
                Followed::Rewritten => self.rows = now(),
                one => other.push(one),
            }
        }
        other
    }
}

fn rows_of(store: &Store, name: &SessionId) -> BTreeMap<String, Message> {
    Mirror::of(store.load(name, 1000).unwrap().rows).rows
}

#[test]
fn whoever_follows_knows_at_any_time_what_is_there() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let root = folder();
        let (writes, reads) = (store_with(root.path(), Arc::new(Quick)), store_with(root.path(), Arc::new(Quick)));
        let mut given = meta("a");
        let (name, mut journal) = writes.create(&given).unwrap();
        let mut mirror = Mirror::default();
        let mut follower = None;
        let mut open: Vec<u64> = Vec::new();
        for n in 0..80u64 {
            if follower.is_none() && random.u8(..) < 40 {
                follower = Some(reads.follow(&name).unwrap());
                // Between the two, something may be written.
                journal.append(&[user(1000 + n)], Durability::Written).unwrap();
                journal.live(answer(1000 + n), Durability::Written).unwrap();
                if random.bool() {
                    open.push(1000 + n);
                }
                mirror = Mirror::of(reads.load(&name, 1000).unwrap().rows);
                if open.last() != Some(&(1000 + n)) {
                    journal.drop_live(&MessageId::new(format!("msg-a{}", 1000 + n))).unwrap();
                }
            }
            match random.u8(..10) {
                0 => journal.append(&[user(n)], Durability::Written).unwrap(),
                1 | 2 => {
                    journal.live(answer(n), Durability::Written).unwrap();
                    open.push(n);
                }
                3 | 4 if !open.is_empty() => {
                    journal.grow(&MessageId::new(format!("msg-a{}", random.choice(&open).unwrap())), " more \u{1f600}");
                    journal.flush_text().unwrap();
                }
                5 if !open.is_empty() => {
                    let n = open.remove(random.usize(..open.len()));
                    journal.append(&[answer(n)], Durability::Written).unwrap();
                }
                6 if !open.is_empty() => {
                    let n = open.remove(random.usize(..open.len()));
                    journal.drop_live(&MessageId::new(format!("msg-a{n}"))).unwrap();
                }
                7 => {
                    given.title = format!("Title {n}");
                    if random.bool() {
                        given.labels = (0..random.usize(..500)).map(|n| format!("label-{n:04}")).collect();
                    }
                    journal.set_meta(given.clone(), serde_json::Value::Null);
                    journal.save_header().unwrap();
                }
                8 => {
                    let text = format!("queued {n}");
                    let item = Queued {
                        id: MessageId::new(format!("q{n}")),
                        text,
                        at: NOW,
                        redelivered: false,
                        attachments: Vec::new(),
                        piped: None,
                        client: None,
                    };
                    journal.queue(vec![item]).unwrap();
                }
                _ if open.is_empty() => journal.turn(random.bool()).unwrap(),
                _ => {}
            }
            if let Some(follower) = follower.as_mut().filter(|_| random.bool()) {
                assert_eq!(
                    mirror.take(follower.poll().unwrap(), || rows_of(&reads, &name)),
                    [],
                    "seed {seed}, step {n}"
                );
                assert_eq!(mirror.rows, rows_of(&reads, &name), "seed {seed}, step {n}");
            }
        }
        let Some(mut follower) = follower else { continue };
        for n in open {
            journal.append(&[answer(n)], Durability::Written).unwrap();
        }
        journal.turn(false).unwrap();
        journal.close().unwrap();
        assert_eq!(mirror.take(follower.poll().unwrap(), || rows_of(&reads, &name)), []);
        assert_eq!((&mirror.rows, &mirror.title), (&rows_of(&reads, &name), &given.title));
        assert_eq!(mirror.queue, reads.load(&name, 9).unwrap().queue);
        drop(journal);
        assert_eq!(mirror.take(follower.poll().unwrap(), || rows_of(&reads, &name)), [Followed::Free]);
        assert_eq!(mirror.take(follower.poll().unwrap(), || rows_of(&reads, &name)), []);
    }
}

#[test]
fn a_poll_of_what_is_as_it_was_reads_nothing() {
    let root = folder();
    let writes = store_with(root.path(), Arc::new(Quick));
    let (name, mut journal) = writes.create(&meta("a")).unwrap();
    journal.append(&(0..500).map(user).collect::<Vec<_>>(), Durability::Written).unwrap();
    let io = Arc::new(Watched::new(Arc::new(Quick), Fault::None));
    let mut follower = store_with(root.path(), io.clone()).follow(&name).unwrap();
    follower.poll().unwrap();
    let before = io.calls();
    assert_eq!(follower.poll().unwrap(), []);
    // Four stats, and the lock is opened and asked about.
    assert!(io.calls() - before <= 6, "{}", io.calls() - before);
}

#[test]
fn a_line_that_is_being_written_is_waited_for() {
    let root = folder();
    let writes = store_with(root.path(), Arc::new(Quick));
    let (name, mut journal) = writes.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Written).unwrap();
    let path = session_file(root.path(), "a");
    let whole = std::fs::read(&path).unwrap();
    let last = whole.iter().rposition(|b| *b == b'{').unwrap();
    let line = whole[4096..].to_vec();
    let mut follower = writes.follow(&name).unwrap();
    follower.poll().unwrap();
    for cut in [1, 20, last - 4096, line.len() - 1] {
        std::fs::write(&path, [&whole, &line[..cut]].concat()).unwrap();
        assert_eq!(follower.poll().unwrap(), [], "{cut}");
    }
    std::fs::write(&path, [&whole, line.as_slice()].concat()).unwrap();
    assert_eq!(follower.poll().unwrap(), [Followed::Row(Box::new(user(1)))]);
    // From the middle of a line as well.
    std::fs::write(&path, [&whole, line.as_slice(), &line[..9]].concat()).unwrap();
    let mut follower = writes.follow(&name).unwrap();
    follower.poll().unwrap();
    std::fs::write(&path, [&whole, line.as_slice(), line.as_slice()].concat()).unwrap();
    assert_eq!(follower.poll().unwrap(), [Followed::Row(Box::new(user(1)))]);
}

#[test]
fn a_rewrite_and_what_is_gone_are_told_once() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    let (name, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1), answer(2), user(3)], Durability::Written).unwrap();
    journal.live(answer(4), Durability::Written).unwrap();
    let mut follower = store.follow(&name).unwrap();
    let first = follower.poll().unwrap();
    assert!(matches!(first.as_slice(), [Followed::Row(_), Followed::Meta(_)]), "{first:?}");
    let path = session_file(root.path(), "a");
    let text = std::fs::read_to_string(&path).unwrap();
    let temp = path.with_file_name("session.jsonl.tmp");
    let without: String =
        text.lines().filter(|line| !line.contains("msg-a2")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&temp, &without).unwrap();
    std::fs::remove_file(&path).unwrap();
    // Between the two it is not gone.
    assert_eq!(follower.poll().unwrap(), []);
    std::fs::rename(&temp, &path).unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(news[0], Followed::Rewritten);
    assert!(news.iter().any(|one| matches!(one, Followed::Row(row) if row.id.as_str() == "msg-a4")), "{news:?}");
    journal.append(&[user(5)], Durability::Written).unwrap();
    let news = follower.poll().unwrap();
    assert!(news.iter().any(|one| matches!(one, Followed::Row(row) if **row == user(5))), "{news:?}");
    let (dir, moved) = (store.session_dir(&name), root.path().join("elsewhere"));
    std::fs::rename(&dir, &moved).unwrap();
    assert_eq!(follower.poll().unwrap(), [Followed::Gone]);
    assert_eq!(follower.poll().unwrap(), []);
    std::fs::rename(&moved, &dir).unwrap();
    follower.poll().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(follower.poll().unwrap(), []);
    assert_eq!(follower.poll().unwrap(), [Followed::Gone]);
}
