//! Allow lists, pairing codes and signatures.

use super::*;
use proptest::prelude::*;

const NOW: At = At(1_767_225_600_000);

fn knock<'a>(sender: &'a str, seed: u8, now: At) -> Knock<'a> {
    Knock { channel: "irc", sender, name: Some("Ana"), direct: true, now, random: [seed; 8] }
}

fn opaque() -> OpaqueChannels {
    OpaqueChannels::default()
}

fn later(ms: u64) -> At {
    NOW.plus(ms)
}

#[test]
fn people_on_the_list_are_admitted() {
    let access = ChannelAccess { allowed: vec!["Ana".into(), "telegram:7".into()], ..ChannelAccess::default() };
    for (channel, sender, direct, expected) in [
        ("irc", "ana", true, Admission::Admitted),
        ("irc", "ana", false, Admission::Admitted),
        ("telegram", "7", true, Admission::Admitted),
        ("irc", "7", false, Admission::Refused(RefusalReason::NotAllowed)),
        ("irc", " ", true, Admission::Refused(RefusalReason::NoSender)),
    ] {
        let (after, admission) = access.admit(&Knock { channel, direct, ..knock(sender, 1, NOW) }, &opaque());
        assert_eq!((after, admission), (access.clone(), expected), "{channel} {sender}");
    }
    let nobody = ChannelAccess::default().admit(&Knock { direct: false, ..knock("ana", 1, NOW) }, &opaque()).1;
    assert_eq!(nobody, Admission::Refused(RefusalReason::NotAllowed));
}

#[test]
fn a_stranger_gets_one_code_and_the_operator_allows_it() {
    let (access, admission) = ChannelAccess::default().admit(&knock("ana", 1, NOW), &opaque());
    assert_eq!(admission, Admission::Code { code: PairingCode("BBBBBBBB".into()), displaced: None });
    let (same, again) = access.admit(&knock("ana", 2, later(1000)), &opaque());
    assert_eq!((&same, again), (&access, Admission::Refused(RefusalReason::CodeSent)));
    assert_eq!(access.approve("CCCCCCCC", NOW), None);
    assert_eq!(access.approve("", NOW), None);
    assert_eq!(access.approve("BBBBBBBB", later(HOUR + 1)), None);
    let (allowed, request) = access.approve(" bbbb-bbbb ", later(HOUR)).unwrap();
    assert_eq!((request.sender.as_str(), allowed.requests.len()), ("ana", 0));
    assert_eq!(allowed.admit(&knock("ana", 3, later(DAY)), &opaque()).1, Admission::Admitted);
    assert_eq!(allowed.approve("BBBBBBBB", later(HOUR)), None, "a code counts once");
    let revoked = allowed.revoke("irc", "ANA", &opaque());
    assert_eq!(revoked, ChannelAccess::default());
}

#[test]
fn approving_allows_the_sender_alone() {
    for sender in ["*", "telegram:7", "@ana:host"] {
        let asked = ChannelAccess::default().admit(&knock(sender, 1, NOW), &opaque()).0;
        let access = asked.approve("BBBBBBBB", NOW).unwrap().0;
        for (channel, id, expected) in
            [("irc", sender, true), ("irc", "eve", false), ("telegram", "7", false), ("web", sender, false)]
        {
            assert_eq!(access.allows(channel, id, &opaque()), expected, "{sender}: {channel} {id}");
        }
    }
}

#[test]
fn a_full_list_makes_room_and_counts() {
    let mut access = ChannelAccess::default();
    let many = u8::try_from(MAX_REQUESTS).unwrap();
    // Senders in a row, over and over, as one person with many accounts.
    for n in 0..many {
        access = access.admit(&knock(&format!("s{n}"), n, later(u64::from(n))), &opaque()).0;
    }
    assert_eq!((access.requests.len(), access.displaced), (MAX_REQUESTS, 0));
    let again = access.admit(&knock("s3", 30, later(100)), &opaque()).1;
    assert_eq!(again, Admission::Refused(RefusalReason::CodeSent), "who has a code displaces nobody");
    let (after, admission) = access.admit(&knock("ana", 31, later(101)), &opaque());
    assert!(matches!(&admission, Admission::Code { displaced: Some(sender), .. } if sender == "s0"), "{admission:?}");
    assert_eq!((after.requests.len(), after.displaced), (MAX_REQUESTS, 1));
    assert_eq!(after.requests.last().map(|request| request.sender.as_str()), Some("ana"));
    assert_eq!(after.approve(&PairingCode::of_random([0; 8]).0, later(102)), None, "a displaced code is void");
    let (allowed, _) = after.approve(&PairingCode::of_random([31; 8]).0, later(102)).unwrap();
    assert_eq!(allowed.admit(&knock("ana", 1, later(103)), &opaque()).1, Admission::Admitted);
    let back = allowed.admit(&knock("s0", 29, later(104)), &opaque()).1;
    assert!(matches!(back, Admission::Code { displaced: None, .. }), "{back:?}");
}

#[test]
fn requests_expire() {
    let mut access = ChannelAccess::default();
    for (seed, sender) in ["a", "b", "c"].into_iter().enumerate() {
        access = access.admit(&knock(sender, u8::try_from(seed).unwrap(), NOW), &opaque()).0;
    }
    access.displaced = 4;
    let (after, code) = access.admit(&knock("d", 9, later(HOUR + 1)), &opaque());
    assert!(matches!(code, Admission::Code { .. }));
    assert_eq!((after.requests.len(), after.displaced), (1, 0));
    let (after, _) = access.admit(&knock("d", 9, At(NOW.0 - 5)), &opaque());
    assert_eq!(after.requests.len(), 1, "codes from a clock that was ahead are void");
    let same_code =
        ChannelAccess::default().admit(&knock("a", 1, NOW), &opaque()).0.admit(&knock("b", 1, NOW), &opaque());
    assert_eq!(same_code.1, Admission::Refused(RefusalReason::CodeTaken));
}

#[test]
fn signatures() {
    // Made with `printf '1767225600.{"a":1}' | openssl dgst -sha256 -hmac secret`.
    let known = "96a067a1c95eb143fc00b9097bcfcbcd5456adda508c443ff219748e764dbed7";
    let (time, body) = ("1767225600", br#"{"a":1}"#.as_slice());
    assert_eq!(sign(b"secret", time, body).unwrap(), known);
    let check = |secret: &[u8], time: &str, signature: &str, body: &[u8], now: At| {
        verify(secret, &SignedRequest { time, signature, body }, now)
    };
    let upper = format!("sha256={}", known.to_uppercase());
    let minutes = MAX_SKEW_MS;
    let wrong = Err(SignatureError::Signature);
    for (secret, sent, signature, text, now, expected) in [
        ("secret", time, known, body, NOW, Ok(())),
        ("secret", time, upper.as_str(), body, NOW, Ok(())),
        ("secret", time, known, body, later(minutes), Ok(())),
        ("secret", time, known, body, At(NOW.0 - 300_000), Ok(())),
        ("secret", time, known, body, later(minutes + 1), Err(SignatureError::Skew)),
        ("secret", time, known, body, At(NOW.0 - 300_001), Err(SignatureError::Skew)),
        ("other", time, known, body, NOW, wrong),
        ("secret", "1767225601", known, body, NOW, wrong),
        ("secret", time, known, br#"{"a":2}"#, NOW, wrong),
        ("secret", time, &known[..62], body, NOW, wrong),
        ("secret", time, "", body, NOW, wrong),
        ("secret", time, "zz", body, NOW, wrong),
        ("secret", "", known, body, NOW, Err(SignatureError::Time)),
        ("secret", "+1767225600", known, body, NOW, Err(SignatureError::Time)),
        ("secret", "99999999999999999999", known, body, NOW, Err(SignatureError::Time)),
        ("secret", "9999999999999999", known, body, NOW, Err(SignatureError::Time)),
        ("", time, known, body, NOW, Err(SignatureError::NoSecret)),
    ] {
        assert_eq!(check(secret.as_bytes(), sent, signature, text, now), expected, "{secret} {sent} {signature}");
    }
    assert_eq!(sign(b"", time, body), None);
}

#[test]
fn ids_are_remembered_for_thirty_days() {
    let mut seen = SeenMessages::default();
    assert_eq!(seen.note("hook", "m1", NOW), Ok(true));
    assert_eq!(seen.note("hook", " m1 ", later(5)), Ok(false));
    assert_eq!(seen.note("other", "m1", NOW), Ok(true));
    assert_eq!(seen.note("hook", "m1", later(30 * DAY)), Ok(false));
    assert_eq!(seen.note("hook", "m1", At(NOW.0 - 1)), Ok(false), "a clock that went back");
    assert_eq!((seen.has("hook", " m1", later(5)), seen.has("hook", "m1", later(30 * DAY + 1))), (true, false));
    assert!(!seen.has("hook", "m2", NOW) && !seen.has("none", "m1", NOW));
    assert_eq!(seen.note("hook", "m3", NOW), Ok(true));
    seen.forget("hook", " m3 ");
    assert!(!seen.has("hook", "m3", NOW));
    seen.forget_old(later(30 * DAY));
    assert_eq!(seen.count(), 2);
    assert_eq!(seen.note("hook", "m1", later(30 * DAY + 1)), Ok(true));
    seen.forget_old(later(30 * DAY + 1));
    assert_eq!(seen.count(), 1);
    assert_eq!(seen.note("hook", " ", NOW), Err(SignatureError::MessageId));
    assert_eq!(seen.note("hook", &"x".repeat(257), NOW), Err(SignatureError::MessageId));
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<SeenMessages>(&text).unwrap(), seen);
    // Of too many the latest stay.
    let mut many = SeenMessages::default();
    for n in 0..MOST_IDS + 10 {
        many.note("c", &format!("m{n}"), At(i64::try_from(n).unwrap())).unwrap();
    }
    many.forget_old(At(1_000_000));
    assert_eq!(many.count(), MOST_IDS);
    assert!(!many.has("c", "m9", At(1_000_000)) && many.has("c", "m10", At(1_000_000)));
}

proptest! {
    #[test]
    fn only_the_signed_request_passes(
        secret in prop::collection::vec(any::<u8>(), 1..80),
        body in prop::collection::vec(any::<u8>(), 0..80),
        flip in any::<prop::sample::Index>(),
        text in any::<String>(),
    ) {
        let signature = sign(&secret, "1767225600", &body).unwrap();
        let request = SignedRequest { time: "1767225600", signature: &signature, body: &body };
        prop_assert_eq!(verify(&secret, &request, NOW), Ok(()));
        let guessed = SignedRequest { signature: &text, ..request };
        prop_assert_eq!(verify(&secret, &guessed, NOW), Err(SignatureError::Signature));
        let mut other = body.clone();
        if other.is_empty() { other.push(0) } else { let at = flip.index(other.len()); other[at] ^= 1; }
        let changed = SignedRequest { body: &other, ..request };
        prop_assert_eq!(verify(&secret, &changed, NOW), Err(SignatureError::Signature));
        let _ = verify(&secret, &SignedRequest { time: &text, ..request }, NOW);
    }

    #[test]
    fn nobody_is_admitted_without_the_operator(
        senders in prop::collection::vec(("[a-d]", any::<[u8; 8]>(), 0u64..10_000_000, any::<bool>()), 0..30),
        guess in any::<String>(),
    ) {
        let (mut access, mut now) = (ChannelAccess::default(), NOW);
        for (sender, random, wait, direct) in &senders {
            now = now.plus(*wait);
            let knock = Knock { channel: "irc", sender, name: None, direct: *direct, now, random: *random };
            let (after, admission) = access.admit(&knock, &opaque());
            prop_assert_ne!(admission, Admission::Admitted);
            prop_assert!(after.requests.len() <= MAX_REQUESTS && after.allowed.is_empty());
            access = after;
            let known = access.requests.iter().any(|request| request.code.is(&guess));
            prop_assert_eq!(access.approve(&guess, now).is_some(), known);
        }
    }
}
