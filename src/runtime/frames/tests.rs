//! The writer of frames over terminals that are slow, stuck, or gone.

use super::super::tty::Tty;
use super::*;
use std::io::Read as _;
use std::sync::mpsc;

fn screen(text: &str) -> Frame {
    Frame { buffer: Buffer::with_lines([text]), cursor: None, links: Vec::new(), pictures: Vec::new() }
}

/// A terminal that takes only what its pipe holds, and the end to read it from.
fn narrow() -> (Tty, PipeReader) {
    let (read, write) = io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&write, true).unwrap();
    let (keys, _) = io::pipe().unwrap();
    let tty = Tty::on(keys.into(), write.into());
    tty.output.open(b"").unwrap();
    (tty, read)
}

/// Screen of a terminal after each byte.
struct States(Vec<String>);

fn states(sent: &str) -> States {
    let mut terminal = vt100::Parser::new(1.try_into().unwrap(), 40.try_into().unwrap(), 0);
    let mut state = |byte: &u8| {
        terminal.process(std::slice::from_ref(byte));
        terminal.screen().contents().trim_end().to_owned()
    };
    States(sent.as_bytes().iter().map(&mut state).collect())
}

impl States {
    fn contains(&self, text: &str) -> bool {
        self.0.iter().any(|state| state == text)
    }

    fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn what_was_put_arrives_in_order_and_nothing_twice() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    writer.control(b"<one>");
    writer.put(screen("abc"));
    assert!(writer.settle(LIMIT));
    writer.put(screen("abc"));
    writer.control(b"<two>");
    writer.put(screen("abd"));
    assert!(writer.settle(LIMIT));
    drop(writer);
    tty.output.shut(b"", LIMIT).unwrap();
    drop(tty);
    let mut sent = String::new();
    read.read_to_string(&mut sent).unwrap();
    assert_eq!(sent, "<one>\x1b[?25l\x1b[m\x1b[2J\x1b[Habc<two>\x1b[1;3Hd");
}

#[test]
fn while_the_terminal_takes_nothing_newer_frames_replace_the_waiting_one() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    // More than a pipe holds, so the writer is stuck in this.
    writer.control(&vec![b'.'; 1 << 20]);
    for n in 0..100 {
        writer.put(screen(&format!("frame {n:03}")));
    }
    assert!(!writer.settle(Duration::from_millis(150)), "nobody reads yet");
    let (tx, rx) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        read.read_to_end(&mut all).unwrap();
        tx.send(String::from_utf8(all).unwrap()).unwrap();
    });
    assert!(writer.settle(LIMIT));
    assert!(writer.written().held_up.is_some(), "the line is known to be slow");
    writer.put(screen("frame 200"));
    assert!(writer.settle(LIMIT));
    drop(writer);
    drop(tty);
    let sent = rx.recv_timeout(LIMIT).unwrap();
    let frames = sent.trim_start_matches('.');
    // Which frame the writer took before it was stuck is a race; that there is one at the most is not.
    let shown: Vec<&str> = frames.split("\x1b[2J").collect();
    assert_eq!(shown.len(), 2, "{frames:?}");
    let seen = states(frames);
    assert!(seen.contains("frame 099"), "{frames:?}");
    assert_eq!(seen.last(), "frame 200", "{frames:?}");
    assert!(frames.len() < 80, "{frames:?}");
}

#[test]
fn a_stuck_terminal_does_not_hold_up_the_end() {
    let (tty, read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    while tty.output.write(&[b'.'; 4096]) != Wrote::Full {}
    writer.control(b"stuck");
    let before = Instant::now();
    drop(writer);
    assert!(tty.output.shut(b"bye", Duration::from_millis(10)).is_err());
    assert!(before.elapsed() < Duration::from_secs(5));
    drop(read);
}

#[test]
fn a_terminal_that_went_away_is_told_once_and_never_written_to_again() {
    let (tty, read) = narrow();
    let (tx, rx) = mpsc::channel();
    let writer = Writer::start(Arc::clone(&tty.output), move || tx.send(()).unwrap()).unwrap();
    drop(read);
    writer.put(screen("abc"));
    rx.recv_timeout(LIMIT).unwrap();
    writer.put(screen("abd"));
    assert!(!writer.settle(LIMIT));
}

#[test]
fn after_the_gate_is_shut_nothing_follows() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    tty.output.shut(b"last", LIMIT).unwrap();
    writer.put(screen("late"));
    writer.settle(LIMIT);
    drop(writer);
    drop(tty);
    let mut sent = String::new();
    read.read_to_string(&mut sent).unwrap();
    assert_eq!(sent, "last");
}

#[test]
fn long_frames_are_synchronized_where_the_terminal_can() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    writer.synchronize(true);
    writer.put(screen(&"x".repeat(200)));
    assert!(writer.settle(LIMIT));
    writer.put(screen(&format!("{}y", "x".repeat(199))));
    assert!(writer.settle(LIMIT));
    drop(writer);
    drop(tty);
    let mut sent = String::new();
    read.read_to_string(&mut sent).unwrap();
    assert!(sent.starts_with("\x1b[?2026h"), "{sent:?}");
    assert_eq!(sent.matches("\x1b[?2026l").count(), 1, "{sent:?}");
    assert!(sent.ends_with("\x1b[1;200Hy"), "{sent:?}");
}

#[test]
fn frames_keep_their_distance_and_slow_lines_get_fewer() {
    let now = Instant::now();
    let ms = Duration::from_millis;
    let written = |bytes, changed, held_up| FrameStats { bytes, rows: (changed, 50), held_up, rate: None, late: 0 };
    let streaming = |fps| {
        let mut pace = Pace::new(fps);
        (0..10).for_each(|_| pace.drawn(now));
        pace
    };
    let gap = |written| streaming(60).gap(&written, now);
    assert_eq!(gap(written(100, 2, None)).as_millis(), 33);
    assert_eq!(gap(written(5000, 40, None)).as_millis(), 66, "it scrolled");
    assert_eq!(gap(written(100, 2, Some(now))), ms(250));
    assert!(gap(written(6500, 40, Some(now))) >= ms(1000), "what costs much comes seldom");
    assert!(gap(FrameStats { rate: Some(50_000), ..written(6500, 40, Some(now)) }) < ms(1000), "as the line delivers");
    assert_eq!(gap(written(100, 2, Some(now - Duration::from_secs(11)))).as_millis(), 33, "it is forgiven");
    assert_eq!(streaming(0).gap(&written(0, 0, None), now), Duration::from_secs(1));
    assert_eq!(streaming(10).gap(&written(5000, 40, None), now), ms(200));
}

#[test]
fn the_first_frames_after_a_pause_come_quickly() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let written = FrameStats { bytes: 100, rows: (2, 50), held_up: None, rate: None, late: 0 };
    let mut pace = Pace::new(60);
    let mut quick = |times: std::ops::Range<u64>| {
        times
            .filter(|n| {
                let quick = pace.gap(&written, at(*n)) < Duration::from_millis(5);
                pace.drawn(at(*n));
                quick
            })
            .count()
    };
    assert_eq!(quick(0..20), 4, "then the stream is steady");
    assert_eq!(quick(50..70), 0, "the pause was too short");
    assert_eq!(quick(200..220), 4);
    let slow = FrameStats { held_up: Some(at(220)), ..written };
    assert!(Pace::new(60).gap(&slow, at(400)) > Duration::from_millis(100), "not on a slow line");
}

#[test]
fn what_can_wait_goes_in_pieces_behind_frames_and_is_told() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    // More than a pipe holds, so the writer is stuck in this.
    writer.control(&vec![b'.'; 1 << 20]);
    let (tx, rx) = mpsc::channel();
    let said = tx.clone();
    writer.behind([
        RawSequence { bytes: b"<piece>".to_vec(), done: None },
        RawSequence { bytes: b"<last>".to_vec(), done: Some(Box::new(move || said.send("done").unwrap())) },
    ]);
    writer.put(screen("abc"));
    let (all, sent) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        read.read_to_end(&mut bytes).unwrap();
        all.send(String::from_utf8(bytes).unwrap()).unwrap();
    });
    assert_eq!(rx.recv_timeout(LIMIT), Ok("done"));
    drop(writer);
    drop(tty);
    let sent = sent.recv_timeout(LIMIT).unwrap();
    assert!(sent.ends_with("\x1b[Habc<piece><last>"), "{:?}", sent.trim_start_matches('.'));
}

#[test]
fn what_waits_behind_can_be_dropped() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    writer.control(&vec![b'.'; 1 << 20]);
    writer.behind([RawSequence { bytes: b"<piece>".to_vec(), done: None }]);
    writer.drop_behind();
    let (all, sent) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        read.read_to_end(&mut bytes).unwrap();
        all.send(String::from_utf8(bytes).unwrap()).unwrap();
    });
    assert!(writer.settle(LIMIT));
    drop(writer);
    drop(tty);
    assert!(!sent.recv_timeout(LIMIT).unwrap().contains("piece"));
}

#[test]
fn a_terminal_that_answers_late_gets_the_newest_frame_when_it_does() {
    let (tty, mut read) = narrow();
    let writer = Writer::start(Arc::clone(&tty.output), || {}).unwrap();
    let text = |sign: &str| screen(&sign.repeat(8000));
    let mut until = |end: &str| {
        let (mut seen, mut byte) = (Vec::new(), [0]);
        while !seen.ends_with(end.as_bytes()) {
            read.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        String::from_utf8(seen).unwrap()
    };
    writer.forget();
    writer.put(text("a"));
    assert!(writer.settle(LIMIT), "nobody waits for a terminal that never answered");
    writer.answered().take();
    writer.put(text("b"));
    assert!(!until(flow::ASK).is_empty());
    assert!(writer.answered().is_owed());
    for sign in ["c", "d", "e"] {
        writer.put(text(sign));
    }
    // Control bytes do not wait, and show that nothing else came before them.
    writer.control(b"<bell>");
    assert_eq!(until("<bell>"), "<bell>");
    writer.answered().take();
    let next = until(flow::ASK);
    assert!(next.contains('e') && !next.contains('c') && !next.contains('d'), "{next:?}");
    writer.answered().take();
    assert!(writer.settle(LIMIT));
    drop(writer);
}
