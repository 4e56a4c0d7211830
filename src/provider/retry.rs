//! Delay before a failed request is tried again. Pure; the agent counts and waits.

use std::time::Duration;

/// Number of automatic retries.
pub const MOST: u32 = 5;
/// The longest time that a server may ask for. Beyond it the user decides.
pub const LONGEST: Duration = Duration::from_secs(10 * 60);

const FIRST: Duration = Duration::from_millis(500);
const CEILING: Duration = Duration::from_secs(30);

/// The wait before retry number `attempt` (from 1), or `None` when it is not tried again: after [`MOST`] retries, or
/// when the server asked to wait longer than [`LONGEST`].
///
/// Without a word of the server the wait doubles from half a second up to 30 s. `jitter_seed` takes up to a quarter
/// off, so that many clients do not come back at the same moment; with a word of the server (`after`) jitter only adds.
#[must_use]
pub fn delay(attempt: u32, after: Option<Duration>, jitter_seed: u64) -> Option<Duration> {
    if attempt == 0 || attempt > MOST || after.is_some_and(|asked| asked > LONGEST) {
        return None;
    }
    let jitter = fastrand::Rng::with_seed(jitter_seed ^ u64::from(attempt)).f64() / 4.0;
    Some(match after {
        Some(asked) => asked + FIRST.mul_f64(jitter),
        None => FIRST.saturating_mul(1 << (attempt - 1)).min(CEILING).mul_f64(1.0 - jitter),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn five_times_and_no_more() {
        assert_eq!((0..10).filter(|&attempt| delay(attempt, None, 1).is_some()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(delay(6, Some(Duration::ZERO), 1), None);
    }

    #[test]
    fn a_server_that_asks_for_hours_is_left_to_the_user() {
        assert!(delay(1, Some(LONGEST), 1).is_some());
        assert_eq!(delay(1, Some(LONGEST + Duration::from_secs(1)), 1), None);
    }

    proptest! {
        #[test]
        fn it_doubles_within_its_jitter_and_is_repeatable(attempt in 1..=MOST, seed: u64) {
            let wait = delay(attempt, None, seed).unwrap();
            let full = FIRST * (1 << (attempt - 1));
            prop_assert!(wait <= full && wait >= full.mul_f64(0.75));
            prop_assert_eq!(Some(wait), delay(attempt, None, seed));
        }

        #[test]
        fn never_earlier_than_the_server_asked(attempt in 1..=MOST, seed: u64, asked in 0u64..600_000) {
            let asked = Duration::from_millis(asked);
            let wait = delay(attempt, Some(asked), seed).unwrap();
            prop_assert!(wait >= asked && wait <= asked + Duration::from_secs(1));
        }
    }
}
