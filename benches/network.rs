//! What a held network costs a command: `cargo bench --bench network`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement ends where it cannot go on"
)]

#[path = "../tests/support/network.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod support;

use lisle::sandbox::Network;
use support::{Bench, held, server, through_proxy};

fn main() {
    if !held() {
        return;
    }
    let (at, _) = server();
    for (name, network) in [("open", Network::Open), ("off", Network::Off), ("hosts", Network::Proxy)] {
        let bench = Bench::new(network, &[at.to_string()], &[]);
        let mut took: Vec<_> = (0..21)
            .map(|_| {
                let began = std::time::Instant::now();
                bench.run("true");
                began.elapsed()
            })
            .collect();
        took.sort();
        println!("{name}: {:?} a command (median of {})", took[took.len() / 2], took.len());
    }
    let bench = Bench::new(Network::Proxy, &[at.to_string()], &[]);
    let ask = through_proxy(at).replace("cat <&3", "cat <&3 >/dev/null");
    let hundred = format!("time (for i in {{1..100}}; do ({ask}); done)");
    println!("a hundred requests through the proxy: {}", bench.run(&hundred).text);
    let bench = Bench::new(Network::Open, &[], &[]);
    println!(
        "a hundred without it: {}",
        bench.run(&hundred.replace("127.0.0.1/43128", &format!("127.0.0.1/{}", at.port()))).text
    );
}
