//! The first minutes from an empty home, counted in keys.

use crate::pty::{Pty, Start};
use std::path::Path;

/// A screen, and the number of keys that were pressed.
struct Counted {
    pty: Pty,
    keys: usize,
}

impl Counted {
    fn new(home: &Path) -> Self {
        Self { pty: Start::new(env!("CARGO_BIN_EXE_lisle"), home).go(), keys: 0 }
    }

    fn press(&mut self, key: &str) -> &mut Self {
        self.pty.keys(key);
        self.keys += 1;
        self
    }

    /// Writes a message or a key, which is no choice to be learned.
    fn write(&mut self, text: &str) -> &mut Self {
        self.pty.keys(text);
        self
    }

    fn until(&mut self, text: &str) -> &mut Self {
        self.pty.until(text);
        self
    }
}

#[test]
fn the_demo_answers_after_two_keys_and_a_message() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    std::fs::write(home.path().join("work/only.txt"), "hi\n").unwrap();
    let mut screen = Counted::new(home.path());
    screen.until("Who answers?").press("\r").until("Demo mode").write("list").press("\r").until("only.txt");
    assert_eq!(screen.keys, 2);
}
