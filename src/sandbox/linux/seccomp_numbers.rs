//! A filter of seccomp that answers calls by their number alone.
//!
//! The kernel runs a new filter once for each call that it knows, to find those that are always allowed, and compiles it.
//! A chain through all refused numbers makes that the slowest step of starting a command, so they are searched by halves.

use seccompiler::{BpfProgram, SeccompAction, sock_filter};
use std::collections::BTreeMap;

/// Refused calls with the error that each gets.
pub(in crate::sandbox) type Refused = BTreeMap<i64, i32>;

/// The newest call that the lists were made for (`file_setattr`); from 424 on numbers are the same on all machines.
const NEWEST: u32 = 469;
/// Numbers of the x32 table on x86-64 begin here.
const X32: u32 = 0x4000_0000;
/// So few numbers are compared one after the other.
const LEAF: usize = 8;

const LOAD_WORD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const JUMP_GREATER_OR_EQUAL: u16 = 0x35;
const RETURN: u16 = 0x06;

fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn answer(error: i32) -> u32 {
    SeccompAction::Errno(error.cast_unsigned()).into()
}

/// The filter. What is newer than the lists looks as if the kernel did not know it. On x86-64 every call has a second number,
/// for the x32 table, that the lists do not name: it ends the program.
pub(in crate::sandbox) fn program(refused: &Refused) -> BpfProgram {
    let kill = if cfg!(target_arch = "x86_64") { SeccompAction::KillProcess.into() } else { answer(libc::ENOSYS) };
    let mut out = vec![
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_GREATER_OR_EQUAL, X32, 0, 1),
        step(RETURN, kill, 0, 0),
        step(JUMP_GREATER, NEWEST, 0, 1),
        step(RETURN, answer(libc::ENOSYS), 0, 0),
    ];
    let known = |(call, error): (&i64, &i32)| Some((u32::try_from(*call).ok()?, answer(*error)));
    out.extend(tree(&refused.iter().filter_map(known).collect::<Vec<_>>()));
    out
}

/// The answers for sorted numbers.
fn tree(entries: &[(u32, u32)]) -> BpfProgram {
    if entries.len() <= LEAF {
        return leaf(entries);
    }
    let (low, high) = entries.split_at(entries.len() / 2);
    let first = high.first().map_or(0, |(call, _)| *call);
    let left = tree(low);
    let over = u32::try_from(left.len()).unwrap_or(u32::MAX);
    let mut out = vec![step(JUMP_GREATER_OR_EQUAL, first, 0, 1), step(JUMP, over, 0, 0)];
    out.extend(left);
    out.extend(tree(high));
    out
}

/// Comparisons, the answer for every other number, and the answers for these.
fn leaf(entries: &[(u32, u32)]) -> BpfProgram {
    let mut answers: Vec<u32> = entries.iter().map(|(_, answer)| *answer).collect();
    answers.sort_unstable();
    answers.dedup();
    let mut out = BpfProgram::new();
    for (at, (call, answer)) in entries.iter().enumerate() {
        let behind = answers.iter().position(|one| one == answer).unwrap_or_default();
        let jump = entries.len() - at + behind;
        out.push(step(JUMP_EQUAL, *call, u8::try_from(jump).unwrap_or(u8::MAX), 0));
    }
    out.push(step(RETURN, SeccompAction::Allow.into(), 0, 0));
    out.extend(answers.iter().map(|answer| step(RETURN, *answer, 0, 0)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer of a filter to a call, and the number of its steps.
    fn run(program: &[sock_filter], call: u32) -> (u32, usize) {
        let (mut at, mut steps) = (0, 0);
        loop {
            let one = &program[at];
            steps += 1;
            let yes = match one.code {
                LOAD_WORD => true,
                JUMP => {
                    at += 1 + one.k as usize;
                    continue;
                }
                JUMP_EQUAL => call == one.k,
                JUMP_GREATER => call > one.k,
                JUMP_GREATER_OR_EQUAL => call >= one.k,
                RETURN => return (one.k, steps),
                other => panic!("{other}"),
            };
            at += 1 + usize::from(if one.code == LOAD_WORD {
                0
            } else if yes {
                one.jt
            } else {
                one.jf
            });
        }
    }

    proptest::proptest! {
        #[test]
        fn every_number_gets_its_own_answer(refused in proptest::collection::btree_map(0_i64..=i64::from(NEWEST), 1_i32..4, 0..200)) {
            let program = program(&refused);
            let allow = u32::from(SeccompAction::Allow);
            for call in 0..=NEWEST {
                let expected = refused.get(&i64::from(call)).map_or(allow, |error| answer(*error));
                let (answered, steps) = run(&program, call);
                proptest::prop_assert_eq!(answered, expected, "{}", call);
                proptest::prop_assert!(steps < 40, "{} steps", steps);
            }
            proptest::prop_assert_eq!(run(&program, NEWEST + 1).0, answer(libc::ENOSYS));
            proptest::prop_assert_ne!(run(&program, X32 + 1).0, allow);
        }
    }
}
