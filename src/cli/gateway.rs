//! `lisle serve`, `lisle gateway …` and `lisle ssh`: the gateway process, and what is asked of one.

use super::args::{CallArgs, GatewayCommand, RestartArgs, ServeArgs, TokenArgs};
use super::exit::Exit;
use super::output::{complain, is_open, is_open_or, print_json, say};
use super::stop_signals::{StopSignal, StopSignals};
use crate::domain::sanitise::clean_line;
use crate::gateway::dial::{DialError, GatewayRoute};
use crate::gateway::home::{GatewayFiles, HomeOwnership, Owner};
use crate::gateway::http::{HttpListener, HttpOptions, TlsFiles};
use crate::gateway::methods::{self, ClientShown, DetachParams, HttpShown, LinkMade, SessionShown, Status, StopParams};
use crate::gateway::remote::{self, CallError};
use crate::gateway::server::{self, Listener, ServeOptions};
use crate::gateway::tokens::{self, TokenFile};
use crate::gateway::{start, stdio};
use crate::runtime;
use crate::runtime::setup::Bootstrap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A gateway that was told to end has ended after this time.
const ENDS: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// `lisle serve`.
pub(super) async fn serve(mut bootstrap: Bootstrap, args: ServeArgs) -> Exit {
    super::complain_of(&bootstrap);
    if args.unit {
        say(&unit(bootstrap.runner(), std::env::var("LISLE_HOME").ok().as_deref()));
        return Exit::Done;
    }
    let files = runtime::gateway::files(&bootstrap.paths);
    if args.background {
        if let Some(why) = not_as_asked(&files, &args).await {
            return failed(&why);
        }
        return match start::in_background(&files, args.idle_exit, &network(&args)).await {
            Ok(owner) => {
                say(&format!("The gateway listens (process {}).\n", owner.pid));
                Exit::Done
            }
            Err(why) => failed(&why),
        };
    }
    if args.in_background {
        start::leave_terminal();
    }
    let owned = match files.take() {
        Ok(owned) => owned,
        Err(error) => return failed(&error.to_string()),
    };
    let listeners = match listeners(&args, &files).await {
        Ok(listeners) => listeners,
        Err(why) => return failed(&why),
    };
    let http: Vec<HttpShown> = listeners.iter().map(|listener| listener.shown()).collect();
    bootstrap.find_servers().await;
    let channels = match runtime::gateway::channels(&bootstrap) {
        Ok(channels) => channels,
        Err(error) => return failed(&format!("can't use the files of channels: {error}")),
    };
    let options = ServeOptions {
        channels,
        workspaces: Arc::new(runtime::gateway::HomeWorkspaces::new(bootstrap)),
        idle_exit: args.idle_exit,
        listeners,
    };
    let loud = !args.in_background;
    let ready = |owner: &Owner| {
        if loud {
            say(&format!("The gateway listens on {} (process {}).\n", owner.socket.display(), owner.pid));
            say(&http.iter().map(network_line).collect::<String>());
        }
    };
    let end = match end() {
        Ok(end) => end,
        Err(error) => return failed(&format!("the system refuses signals: {error}")),
    };
    match server::serve(owned, options, ready, end).await {
        Ok(()) => Exit::Done,
        Err(error) => failed(&error.to_string()),
    }
}

/// Reason why the gateway that runs already is not the one that is asked for.
async fn not_as_asked(files: &GatewayFiles, args: &ServeArgs) -> Option<String> {
    let status = remote::call::<Status>(&GatewayRoute::Socket(files.clone()), methods::STATUS, &()).await.ok()?;
    let lacks = lacking_options(args, &status);
    let stop = "stop it with \"lisle gateway stop\", and start it again";
    (!lacks.is_empty())
        .then(|| format!("a gateway runs already (process {}), without {}: {stop}", status.pid, lacks.join(", ")))
}

/// Options that a running gateway does not have, or does not tell.
fn lacking_options(args: &ServeArgs, status: &Status) -> Vec<&'static str> {
    let listens = |wanted: Option<SocketAddr>, there: Option<&HttpShown>| {
        let Some(wanted) = wanted else { return true };
        there.is_some_and(|there| {
            let address = there.url.split_once("://").map_or("", |(_, address)| address);
            let is_tls = args.tls_cert.is_some() == there.tls;
            address == wanted.to_string() && is_tls && args.behind_proxy == there.behind_proxy
        })
    };
    let named = [
        ("this --listen", !listens(args.listen, status.http.as_ref())),
        ("this --share-listen", !listens(args.share_listen, status.shares.as_ref())),
        ("this --host", !args.host.is_empty()),
        ("this --idle-exit", args.idle_exit.is_some()),
    ];
    named.into_iter().filter(|(_, lacks)| *lacks).map(|(name, _)| name).collect()
}

/// Arguments for a gateway in the background that listens on the network as this one would.
fn network(args: &ServeArgs) -> Vec<std::ffi::OsString> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: &std::ffi::OsStr| all.extend([name.into(), value.to_owned()]);
    for (name, address) in [("--listen", args.listen), ("--share-listen", args.share_listen)] {
        if let Some(address) = address {
            add(name, address.to_string().as_ref());
        }
    }
    for (name, file) in [("--tls-cert", &args.tls_cert), ("--tls-key", &args.tls_key)] {
        if let Some(file) = file {
            // It works in another directory.
            add(name, std::path::absolute(file).unwrap_or_else(|_| file.clone()).as_os_str());
        }
    }
    args.host.iter().for_each(|host| add("--host", host.as_ref()));
    if args.behind_proxy {
        all.push("--behind-proxy".into());
    }
    all
}

/// Ways in beside the socket.
async fn listeners(args: &ServeArgs, files: &GatewayFiles) -> Result<Vec<Box<dyn Listener>>, String> {
    let mut all: Vec<Box<dyn Listener>> = Vec::new();
    let tls = args.tls_cert.clone().zip(args.tls_key.clone()).map(|(cert, key)| TlsFiles { cert, key });
    for (listen, shares) in [(args.listen, false), (args.share_listen, true)] {
        let Some(listen) = listen else { continue };
        let (tls, hosts) = (tls.clone(), args.host.clone());
        let options = HttpOptions { listen, tls, behind_proxy: args.behind_proxy, hosts, shares };
        all.push(Box::new(HttpListener::bind(options, files).await?));
    }
    if args.listen.is_some() {
        // Nobody is let in before there is a token.
        TokenFile::of(files).owner().map_err(|error| format!("can't write the gateway's token: {error}"))?;
    }
    Ok(all)
}

fn network_line(http: &HttpShown) -> String {
    let how = match (http.tls, http.behind_proxy) {
        (true, _) => "TLS",
        (false, true) => "unencrypted, behind a proxy",
        (false, false) => "unencrypted, this machine only",
    };
    let what = if http.shares { "It serves shared pages on" } else { "It listens on" };
    format!("{what} {} ({how}).\n", clean_line(&http.url))
}

/// Completes once the process is asked to end. A terminal that goes away asks for nothing.
fn end() -> std::io::Result<impl Future<Output = ()>> {
    let mut signals = StopSignals::listen()?;
    Ok(async move { while signals.next().await == StopSignal::Hangup {} })
}

pub(super) fn failed(why: &str) -> Exit {
    complain(&format!("lisle: {}.", why.trim_end_matches('.')));
    Exit::Failed
}

/// Wrong arguments.
pub(super) fn usage(why: &str) -> Exit {
    complain(&format!("lisle: {}.", why.trim_end_matches('.')));
    Exit::Usage
}

/// A unit for systemd --user.
fn unit(program: &Path, home: Option<&str>) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"));
    let home = home.filter(|home| !home.is_empty());
    let home = home.map_or_else(String::new, |home| format!("Environment={}\n", quoted(&format!("LISLE_HOME={home}"))));
    format!(
        "# ~/.config/systemd/user/lisle.service: systemctl --user enable --now lisle; loginctl enable-linger keeps it\n\
         # running after the last logout.\n\
         [Unit]\n\
         Description=lisle gateway\n\
         \n\
         [Service]\n\
         ExecStart={} serve\n\
         {home}\
         # Turns are saved and their commands ended by lisle itself.\n\
         KillMode=mixed\n\
         TimeoutStopSec=20\n\
         Restart=on-failure\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        quoted(&program.display().to_string())
    )
}

/// `lisle gateway …`
pub(super) async fn run(bootstrap: &Bootstrap, command: GatewayCommand) -> Exit {
    let files = runtime::gateway::files(&bootstrap.paths);
    let way = GatewayRoute::Socket(files.clone());
    let done = match command {
        GatewayCommand::Status(args) => remote::call::<Status>(&way, methods::STATUS, &())
            .await
            .map(|status| if args.json { print_json(&status) } else { tell_status(&status) }),
        GatewayCommand::Clients(args) => remote::call::<Vec<ClientShown>>(&way, methods::CLIENTS, &())
            .await
            .map(|clients| if args.json { print_json(&clients) } else { tell_clients(&clients) }),
        GatewayCommand::Stop => return stop(&files, &way, false).await,
        GatewayCommand::Restart(args) => return restart(&files, &way, &args).await,
        GatewayCommand::Call(args) => return call(&way, &args).await,
        GatewayCommand::Detach(args) => {
            let params = DetachParams { client: args.client };
            remote::call::<()>(&way, methods::DETACH, &params).await.map(|()| Exit::Done)
        }
        GatewayCommand::Stdio => return lead(&files).await,
        GatewayCommand::Token(args) => return token(&files, args),
        GatewayCommand::Link => remote::call::<LinkMade>(&way, methods::LINK, &()).await.map(|made| {
            say(&format!("{}\n", clean_line(&made.url)));
            complain(&format!("It lets one browser in, once, within {} min.", made.seconds / 60));
            Exit::Done
        }),
    };
    done.unwrap_or_else(|error| not_called(&error))
}

/// `lisle gateway token`
fn token(files: &GatewayFiles, args: TokenArgs) -> Exit {
    let file = TokenFile::of(files);
    // A new one is shown once.
    if (args.rotate || !args.scopes.is_empty()) && !is_open_or("No token made.") {
        return Exit::Failed;
    }
    let name = args.name.as_deref().unwrap_or(tokens::OWNER);
    let printed = |token: &str| {
        say(&format!("{token}\n"));
        Exit::Done
    };
    let unknown = || failed(&format!("unknown token {}; --list shows the tokens", clean_line(name)));
    let done = if args.list {
        file.list().map(|all| {
            if args.json {
                return print_json(&all);
            }
            let scopes = |one: &tokens::TokenShown| one.scopes.names().join(",");
            say(&all.iter().map(|one| format!("{}  {}\n", clean_line(&one.name), scopes(one))).collect::<String>());
            Exit::Done
        })
    } else if let Some(name) = &args.revoke {
        file.revoke(name)
            .map(|found| if found { Exit::Done } else { failed(&format!("unknown token {}", clean_line(name))) })
    } else if args.rotate {
        file.rotate(name).map(|token| token.as_deref().map_or_else(unknown, printed))
    } else if !args.scopes.is_empty() {
        let taken = || {
            let name = clean_line(name);
            failed(&format!("there is a token {name}: --name {name} --rotate replaces it, --revoke {name} ends it"))
        };
        file.add(name, args.scopes).map(|token| token.as_deref().map_or_else(taken, printed))
    } else if name == tokens::OWNER {
        file.owner().map(|token| printed(&token))
    } else {
        return usage("a token of its own has --scopes; it is shown once, and --rotate makes a new one");
    };
    done.unwrap_or_else(|error| failed(&format!("can't use the gateway's token file: {error}")))
}

fn not_called(error: &CallError) -> Exit {
    if matches!(error, CallError::Dial(DialError::NoGateway)) {
        return failed("no gateway runs for this home: \"lisle serve --background\" starts one");
    }
    failed(&error.to_string())
}

async fn call(way: &GatewayRoute, args: &CallArgs) -> Exit {
    let params = match args.params.as_deref().map(serde_json::from_str::<serde_json::Value>).transpose() {
        Ok(params) => params,
        Err(error) => {
            complain(&format!("lisle: --params is not JSON: {error}."));
            return Exit::Usage;
        }
    };
    match remote::call::<serde_json::Value>(way, &args.method, &params).await {
        Ok(result) => print_json(&result),
        Err(error) => not_called(&error),
    }
}

async fn stop(files: &GatewayFiles, way: &GatewayRoute, when_idle: bool) -> Exit {
    match remote::call::<()>(way, methods::STOP, &StopParams { when_idle }).await {
        Ok(()) => {}
        Err(error) => return not_called(&error),
    }
    let end = Instant::now() + ENDS;
    loop {
        match files.ownership() {
            Ok(HomeOwnership::Free | HomeOwnership::Elsewhere(_)) => return Exit::Done,
            Err(error) => return failed(&format!("can't read the gateway's lock: {error}")),
            // As long as turns run there.
            Ok(HomeOwnership::Here(_)) if when_idle || Instant::now() < end => tokio::time::sleep(BETWEEN_LOOKS).await,
            Ok(HomeOwnership::Here(owner)) => {
                return failed(&format!(
                    "the gateway (process {}) has not ended after {} s",
                    owner.pid,
                    ENDS.as_secs()
                ));
            }
        }
    }
}

async fn restart(files: &GatewayFiles, way: &GatewayRoute, args: &RestartArgs) -> Exit {
    if let Ok(status) = remote::call::<Status>(way, methods::STATUS, &()).await {
        if status.http.is_some() || status.shares.is_some() {
            // The files of TLS and the names of its hosts are known to whoever started it alone.
            return failed(
                "the gateway listens on the network: stop it, and start it with its arguments of lisle serve",
            );
        }
        if args.when_idle && !status.running.is_empty() {
            complain(&format!("lisle: waiting for {}.", turns(status.running.len())));
        }
    }
    match stop(files, way, args.when_idle).await {
        Exit::Done => {}
        failed => return failed,
    }
    match start::in_background(files, None, &[]).await {
        Ok(owner) => {
            say(&format!("The gateway listens (process {}).\n", owner.pid));
            Exit::Done
        }
        Err(why) => failed(&why),
    }
}

fn turns(number: usize) -> String {
    if number == 1 { "1 turn".to_owned() } else { format!("{number} turns") }
}

/// `lisle gateway stdio`
async fn lead(files: &GatewayFiles) -> Exit {
    if !is_open() {
        return Exit::Failed;
    }
    let idle = Some(runtime::gateway::IDLE_EXIT);
    let way = start::in_background(files, idle, &[]).await.map(|_| GatewayRoute::Socket(files.clone()));
    match stdio::lead(tokio::io::stdin(), tokio::io::stdout(), way).await {
        Ok(()) => Exit::Done,
        Err(error) => failed(&format!("the line failed: {error}")),
    }
}

fn tell_status(status: &Status) -> Exit {
    let list = |title: &str, all: &[SessionShown]| {
        let lines: String = all
            .iter()
            .map(|shown| format!("  {}  {}\n", shown.session, clean_line(&shown.workspace.display().to_string())))
            .collect();
        if lines.is_empty() { String::new() } else { format!("{title}:\n{lines}") }
    };
    let clients = if status.clients == 1 { "1 client".to_owned() } else { format!("{} clients", status.clients) };
    let workspaces: String =
        status.workspaces.iter().map(|path| format!("  {}\n", clean_line(&path.display().to_string()))).collect();
    say(&format!(
        "lisle {} on {}, process {}, for {}, {clients}{}\nsocket: {}\n{}{}{}{}",
        clean_line(&status.version),
        clean_line(&status.host),
        status.pid,
        elapsed(status.uptime_seconds),
        if status.stopping { ", ends once no turn runs" } else { "" },
        clean_line(&status.socket.display().to_string()),
        status.http.iter().chain(&status.shares).map(network_line).collect::<String>(),
        if workspaces.is_empty() { String::new() } else { format!("workspaces:\n{workspaces}") },
        list("running", &status.running),
        list("waiting for you", &status.waiting),
    ));
    Exit::Done
}

fn tell_clients(clients: &[ClientShown]) -> Exit {
    let line = |client: &ClientShown| {
        let state = if client.connected { "connected" } else { "line lost" };
        let (id, name) = (clean_line(&client.id), clean_line(&client.name));
        if let Some(token) = &client.token {
            return format!("{id}  {name}  link of token {}  for {}\n", clean_line(token), elapsed(client.seconds));
        }
        format!("{id}  {name}  lisle {}  {state} for {}\n", clean_line(&client.version), elapsed(client.seconds))
    };
    say(&clients.iter().map(line).collect::<String>());
    Exit::Done
}

fn elapsed(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_quotes_what_systemd_would_read_otherwise() {
        let text = unit(Path::new("/opt/my lisle/100%"), Some("/home/me/a \"b\""));
        assert!(text.contains("ExecStart=\"/opt/my lisle/100%%\" serve\n"), "{text}");
        assert!(text.contains("Environment=\"LISLE_HOME=/home/me/a \\\"b\\\"\"\n"), "{text}");
        assert!(!unit(Path::new("/usr/bin/lisle"), None).contains("Environment"));
    }

    #[test]
    fn times_are_told_in_words() {
        let told: Vec<String> = [5, 65, 3_700, 90_000].into_iter().map(elapsed).collect();
        assert_eq!(told, ["5 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }
}
