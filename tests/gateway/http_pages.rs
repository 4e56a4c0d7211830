//! Pages over HTTP: those of a browser that opened a link, and shared ones.

use crate::http::{Web, header};
use crate::place::{Place, err, out};
use crate::support::model_server::Script;
use serde_json::Value;

#[test]
fn a_link_lets_one_browser_read_and_nothing_else() {
    let nasty = "**bold** <img src=x onerror=alert(1)>\n\n<script>alert(1)</script>";
    let place = Place::new([Script::says(nasty)], "");
    let web = Web::serve(&place, &[]);
    let id = web.session(&place);
    let before = web.ask("GET", "/", &[], "");
    assert!(before.status == 401 && before.body.contains("lisle gateway link"), "{}", before.body);
    let made = place.lisle(&["gateway", "link"]);
    let url = out(&made);
    let path =
        url.trim().strip_prefix(&format!("http://{}", web.address)).unwrap_or_else(|| panic!("{url} {}", err(&made)));
    for (method, headers) in [("HEAD", &[][..]), ("GET", &[("Sec-Purpose", "prefetch")])] {
        let looked = web.ask(method, path, headers, "");
        assert!(looked.status == 200 && header(&looked.head, "set-cookie").is_none(), "{method} uses nothing up");
    }
    let opened = web.ask("GET", path, &[], "");
    let cookie = header(&opened.head, "set-cookie").unwrap().to_owned();
    assert!(opened.status == 200 && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(web.ask("GET", path, &[], "").status, 403, "once");
    let cookie = cookie.split(';').next().unwrap();
    let list = web.ask("GET", "/", &[("Cookie", cookie)], "");
    let href = format!("/w/default/{id}");
    assert!(list.status == 200 && list.body.contains(&href) && list.body.contains("Mine"), "{}", list.body);
    let page = web.ask("GET", &href, &[("Cookie", cookie)], "");
    assert!(page.body.contains("&lt;script&gt;") && page.body.contains("<strong>bold</strong>"), "{}", page.body);
    assert!(!page.body.contains("<script") && !page.body.contains("<img"), "{}", page.body);
    let policy = header(&page.head, "content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
    let body = r#"{"id":"msg-00000001","text":"x"}"#;
    let messages = format!("/v1/workspaces/default/sessions/{id}/messages");
    assert_eq!(web.ask("POST", &messages, &[("Cookie", cookie)], body).status, 401, "a cookie changes nothing");
    let log = std::fs::read_to_string(place.lisle_home().join("state/gateway/http.log")).unwrap();
    assert!(!log.contains(path) && !log.contains(cookie), "{log}");
}

#[test]
fn a_browser_ends_with_the_token_that_made_its_link() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &[]);
    let token = place.lisle(&["gateway", "token", "--name", "phone", "--scopes", "admin"]);
    let browser = || {
        let made = out(&place.lisle(&["gateway", "link"]));
        let opened = web.ask("GET", made.trim().strip_prefix(&format!("http://{}", web.address)).unwrap(), &[], "");
        header(&opened.head, "set-cookie").unwrap().split(';').next().unwrap().to_owned()
    };
    assert!(token.status.success(), "{}", err(&token));
    let reads = |cookie: &str| web.ask("GET", "/", &[("Cookie", cookie)], "").status == 200;
    let (first, second) = (browser(), browser());
    assert!(reads(&first) && reads(&second));
    let clients = out(&place.lisle(&["gateway", "clients"]));
    let listed: Vec<&str> = clients.lines().filter(|line| line.contains("link of token owner")).collect();
    assert_eq!(listed.len(), 2, "{clients}");
    let id = listed[0].split_whitespace().next().unwrap();
    assert!(place.lisle(&["gateway", "detach", id]).status.success());
    assert_eq!([reads(&first), reads(&second)].iter().filter(|reads| **reads).count(), 1);
    assert!(place.lisle(&["gateway", "token", "--revoke", "phone"]).status.success());
    assert_eq!([reads(&first), reads(&second)].iter().filter(|reads| **reads).count(), 1, "its link was the owner's");
    assert!(place.lisle(&["gateway", "token", "--rotate"]).status.success());
    assert!(!reads(&first) && !reads(&second));
    assert!(!out(&place.lisle(&["gateway", "clients"])).contains("browser"));
}

#[test]
fn shared_pages_are_read_by_everybody_until_they_are_revoked() {
    let place = Place::new([Script::says("**bold**\n\n<script>alert(1)</script>")], "");
    let web = Web::serve(&place, &["--share-listen", "127.0.0.1:0"]);
    let id = web.session(&place);
    let share = |more: &[&str]| {
        let done = place.lisle(&[&["share", id.as_str()], more].concat());
        assert!(done.status.success(), "{}", err(&done));
        out(&done).trim().to_owned()
    };
    let url = share(&[]);
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let path = format!("/{path}");
    let pages = web.at(address);
    let page = pages.ask("GET", &path, &[], "");
    assert!(page.status == 200 && page.body.contains("<strong>bold</strong>"), "{}", page.body);
    assert!(!page.body.contains("<script"), "{}", page.body);
    let policy = header(&page.head, "content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("sandbox") && !policy.contains("script"),
        "{policy}"
    );
    assert_eq!(header(&page.head, "x-robots-tag"), Some("noindex, nofollow"));
    for other in ["/", "/v1/workspaces", "/s/", "/s/..%2fcredentials", &path.replace('/', "//"), &format!("{path}0")] {
        assert_eq!(pages.ask("GET", other, &[], "").status, 404, "{other}");
    }
    let short = share(&["--expires", "1s"]);
    let short = short.strip_prefix(&format!("http://{address}")).unwrap();
    crate::place::until("it expired", || pages.ask("GET", short, &[], "").status == 410);
    let listed: Value = serde_json::from_str(&out(&place.lisle(&["share", "list", "--json"]))).unwrap();
    assert_eq!(listed[0]["id"].as_str().map(str::len), Some(32), "{listed}");
    let listed = out(&place.lisle(&["share", "list"]));
    assert_eq!(listed.lines().filter(|line| line.contains(&id)).count(), 2, "{listed}");
    let name = path.strip_prefix("/s/").unwrap();
    assert!(place.lisle(&["share", "revoke", name]).status.success());
    assert_eq!(place.lisle(&["share", "revoke", name]).status.code(), Some(1));
    assert_eq!(pages.ask("GET", &path, &[], "").status, 404);
    let log = std::fs::read_to_string(place.lisle_home().join("state/gateway/shared.log")).unwrap();
    assert!(log.contains("/s/") && !log.contains(name), "{log}");
}

#[test]
fn a_session_that_is_deleted_takes_its_pages_along() {
    let place = Place::new([Script::says("text")], "");
    let web = Web::serve(&place, &["--share-listen", "127.0.0.1:0"]);
    let id = web.session(&place);
    assert!(place.lisle(&["sessions", "set", &id, "--name", "mine"]).status.success());
    let url = out(&place.lisle(&["share", "mine"]));
    let (address, path) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let path = format!("/{path}");
    // Asked for where it is not, it comes into no log.
    assert_eq!(web.ask("GET", &path, &[], "").status, 401);
    let log = std::fs::read_to_string(place.lisle_home().join("state/gateway/http.log")).unwrap();
    assert!(log.contains("/s/…") && !log.contains(path.strip_prefix("/s/").unwrap()), "{log}");
    let pages = web.at(address);
    let page = pages.ask("GET", &path, &[], "");
    let cwd = place.project.path().display().to_string();
    assert!(page.status == 200 && !page.body.contains(&cwd), "{cwd}: {}", page.body);
    // Revoking a session revokes all of its pages.
    assert!(place.lisle(&["share", "revoke", "mine"]).status.success());
    assert_eq!(pages.ask("GET", &path, &[], "").status, 404);
    assert_eq!(place.lisle(&["share", "revoke", "mine"]).status.code(), Some(1));
    let url = out(&place.lisle(&["share", "mine"]));
    let path = url.trim().strip_prefix(&format!("http://{address}")).unwrap().to_owned();
    assert_eq!(pages.ask("GET", &path, &[], "").status, 200);
    let deleted = place.lisle(&["sessions", "delete", "--yes", "mine"]);
    assert!(deleted.status.success(), "{}", err(&deleted));
    assert!(err(&deleted).contains("revoked: 1"), "{}", err(&deleted));
    assert_eq!(pages.ask("GET", &path, &[], "").status, 404);
    assert_eq!(out(&place.lisle(&["share", "list"])), "");
}
