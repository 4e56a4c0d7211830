//! Real error responses of servers, and their classification.

use super::*;
use reqwest::header::{HeaderName, HeaderValue};

fn peer() -> Peer {
    Peer {
        name: "work".into(),
        host: "api.test".into(),
        loopback: false,
        proxied: false,
        keyless: false,
        secrets: vec!["topsecret-1".into()],
    }
}

fn status(status: u16, body: &str) -> ProviderError {
    peer().status(status, &HeaderMap::new(), body, 0)
}

#[test]
fn a_server_that_got_no_key_rejected_none() {
    let said = |keyless| Peer { keyless, ..peer() }.status(401, &HeaderMap::new(), "", 0);
    assert!(said(false).text.starts_with("api.test rejected the key (401)"), "{}", said(false).text);
    let without = said(true);
    assert!(without.title == "No key" && without.text.starts_with("api.test wants a key (401)"), "{}", without.text);
}

#[test]
fn statuses_and_words_become_codes() {
    let table: &[(u16, &str, &str, bool)] = &[
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-abc***xyz.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            "invalid_api_key",
            false,
        ),
        (401, r#"{"message":"Unauthorized","request_id":"5"}"#, "invalid_api_key", false),
        (
            403,
            r#"{"error":{"message":"Country, region, or territory not supported","type":"request_forbidden","code":"unsupported_country_region_territory"}}"#,
            "invalid_api_key",
            false,
        ),
        (
            404,
            r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#,
            "invalid_model",
            false,
        ),
        (
            404,
            r#"{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
            "invalid_model",
            false,
        ),
        (
            404,
            r#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}"#,
            "invalid_model",
            false,
        ),
        (
            400,
            r#"{"object":"error","message":"Invalid model: foo","type":"invalid_model","param":null,"code":"1500"}"#,
            "invalid_model",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7000000 bytes > 5242880 bytes"}}"#,
            "image_too_large",
            false,
        ),
        (400, r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#, "invalid_model", false),
        (400, r#"{"error":{"message":"foo/bar is not a valid model ID","code":400}}"#, "invalid_model", false),
        (404, "404 page not found", "invalid_request", false),
        (404, "<html>nothing</html>", "invalid_request", false),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            "billing_error",
            false,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            "billing_error",
            false,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#,
            "rate_limited",
            true,
        ),
        (
            413,
            r#"{"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}"#,
            "invalid_request",
            false,
        ),
        (408, "", "service_unavailable", true),
        (409, "", "service_unavailable", true),
        (500, r#"{"error":{"message":"The server had an error","type":"server_error"}}"#, "service_error", true),
        (502, "<html>Bad Gateway</html>", "service_unavailable", true),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            "service_unavailable",
            true,
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "service_unavailable",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            "context_overflow",
            false,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
            "context_overflow",
            false,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
            "context_overflow",
            false,
        ),
        (
            400,
            r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}"#,
            "model_no_tool_support",
            false,
        ),
        (
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}"#,
            "model_no_tool_support",
            false,
        ),
        (
            404,
            r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
            "model_no_tool_support",
            false,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
            "model_no_tool_support",
            false,
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs are not permitted"}]}"#,
            "invalid_request",
            false,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT"}}]"#,
            "invalid_request",
            false,
        ),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"},"request_id":"req_1"}"#,
            "invalid_model",
            false,
        ),
        (404, r#"{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}"#, "invalid_request", false),
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "invalid_api_key",
            false,
        ),
        (
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource"}}"#,
            "invalid_api_key",
            false,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            "invalid_request",
            false,
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute."}}"#,
            "rate_limited",
            true,
        ),
        (
            500,
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
            "service_error",
            true,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
            "context_overflow",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 180000 + 64000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            "context_overflow",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
            "billing_error",
            false,
        ),
        (
            402,
            r#"{"type":"error","error":{"type":"billing_error","message":"There is an issue with your billing"}}"#,
            "billing_error",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"The long context beta is not yet available for this subscription."}}"#,
            "invalid_request",
            false,
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}"#,
            "invalid_request",
            false,
        ),
        (407, "", "proxy_error", false),
        (418, "", "invalid_request", false),
        (600, "", "unknown_error", false),
    ];
    for (number, body, code, retry) in table {
        let error = status(*number, body);
        assert_eq!((error.code, error.retry), (*code, *retry), "{number} {body}");
        assert!(error.text.contains("api.test") && error.text.contains("connection work"), "{}", error.text);
        assert!(error.text.ends_with('.') && !error.text.contains("{host}"), "{}", error.text);
    }
}

#[test]
fn errors_inside_of_a_stream() {
    let table = [
        (r#"{"error":{"message":"The server had an error","type":"server_error","code":null}}"#, "service_error", true),
        (r#"{"error":{"message":"Provider returned error","code":502}}"#, "service_unavailable", true),
        (r#"{"error":{"message":"Rate limit exceeded","code":429}}"#, "rate_limited", true),
        (r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#, "service_unavailable", true),
        (
            r#"{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed"}}"#,
            "service_error",
            true,
        ),
        (r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#, "service_error", true),
        (r#"{"error":{"message":"Bad thing","type":"invalid_request_error"}}"#, "invalid_request", false),
        (r#"{"error":"context length exceeded"}"#, "context_overflow", false),
        (r#"{"error":"something"}"#, "provider_error", false),
    ];
    for (text, code, retry) in table {
        let error = peer().in_stream(&serde_json::from_str(text).unwrap());
        assert_eq!((error.code, error.retry), (code, retry), "{text}");
    }
}

#[test]
fn the_time_to_wait() {
    let table: [(&str, &str, Option<u64>); 11] = [
        ("retry-after", "7", Some(7_000)),
        ("retry-after", " 1.5 ", Some(1_500)),
        ("retry-after", "0", Some(0)),
        ("retry-after", "-1", None),
        ("retry-after", "soon", None),
        ("retry-after", "1e400", None),
        ("retry-after-ms", "250", Some(250)),
        ("retry-after", "Thu, 01 Jan 1970 00:02:00 GMT", Some(20_000)),
        ("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT", Some(0)),
        ("x-nothing", "5", None),
        ("retry-after", "", None),
    ];
    for (name, value, ms) in table {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        let error = peer().status(429, &headers, "", 100);
        assert_eq!(error.after, ms.map(Duration::from_millis), "{name}: {value}");
    }
    let asks = |value| {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", HeaderValue::from_static(value));
        peer().status(429, &headers, "", 100).text
    };
    // Longer than is waited by itself: the user has to know.
    assert!(asks("7200").ends_with("Retry after 120 minutes."), "{}", asks("7200"));
    assert!(!asks("60").contains("minutes"));
    let words = [
        ("Please try again in 20s. Visit", Some(20_000)),
        ("Please try again in 6m1.5s.", Some(361_500)),
        ("try again in 350ms", Some(350)),
        ("Try again in 2 minutes", Some(120_000)),
        ("try again in a while", None),
        ("try again in 5", None),
        ("nothing", None),
    ];
    for (text, ms) in words {
        assert_eq!(wait_in_words(text), ms.map(Duration::from_millis), "{text}");
    }
    // Limits that are used up say when they are refilled; the others do not matter.
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("anthropic-ratelimit-requests-remaining", "7"),
        ("anthropic-ratelimit-requests-reset", "1970-01-01T00:09:00Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", "1970-01-01T00:02:00Z"),
        ("anthropic-ratelimit-output-tokens-remaining", "0"),
        ("anthropic-ratelimit-output-tokens-reset", "soon"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    assert_eq!(peer().status(429, &headers, "", 100).after, Some(Duration::from_secs(20)));
    headers.insert("retry-after", HeaderValue::from_static("3"));
    assert_eq!(peer().status(429, &headers, "", 100).after, Some(Duration::from_secs(3)));
    let mut headers = HeaderMap::new();
    headers.insert("x-should-retry", HeaderValue::from_static("false"));
    headers.insert("retry-after", HeaderValue::from_static("5"));
    let error = peer().status(500, &headers, "", 0);
    assert_eq!((error.retry, error.after), (false, None));
}

#[test]
fn a_context_that_the_account_may_not_use_has_its_own_words() {
    let error =
        status(400, r#"{"error":{"message":"The long context beta is not yet available for this subscription."}}"#);
    assert!(
        error.title.contains("1M") && error.text.contains("/settings") && error.text.contains("upgrade"),
        "{error}"
    );
}

#[test]
fn no_key_gets_through() {
    let body = "you sent topsecret-1 and sk-abcdef123456, Bearer abcdefghijk. gsk_1234567 tasks-and-asks sk-a";
    for error in [status(400, body), status(401, body), peer().no_api("text/plain", body), peer().broke_off(body)] {
        let all = format!("{error} {error:?} {}", error.detail);
        for key in ["topsecret-1", "abcdef123456", "abcdefghijk", "1234567"] {
            assert!(!all.contains(key), "{all}");
        }
        assert!(error.detail.contains("tasks-and-asks sk-a"), "{}", error.detail);
    }
}

#[test]
fn long_words_are_cut() {
    let error = status(400, &"ä".repeat(5_000));
    assert_eq!(error.detail.chars().count(), 2_000);
    assert!(error.text.chars().count() < 500);
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("abcd", 3), "ab…");
}

#[test]
fn a_redirect_names_where_it_goes_without_its_query() {
    let mut headers = HeaderMap::new();
    headers.insert("location", HeaderValue::from_static("https://elsewhere.test/x?token=abc"));
    let error = peer().status(302, &headers, "", 0);
    assert!(error.text.contains("elsewhere.test") && !error.text.contains("abc"), "{}", error.text);
    assert!(!error.retry);
}

#[test]
fn what_google_and_azure_say() {
    let quota = |id: &str| {
        format!(
            r#"{{"error":{{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{id}"}}]}},{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}}]}}}}"#
        )
    };
    let error = status(429, &quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"));
    assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, Some(Duration::from_millis(34_500))));
    let error = status(429, &quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
    assert_eq!((error.code, error.retry), ("rate_limited", false));
    let table: &[(u16, &str, &str, bool)] = &[
        (
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
            "invalid_api_key",
            false,
        ),
        (403, r#"{"error":{"code":403,"message":"x","status":"PERMISSION_DENIED"}}"#, "invalid_api_key", false),
        (
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            "context_overflow",
            false,
        ),
        (
            404,
            r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}"#,
            "invalid_model",
            false,
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}"#,
            "billing_error",
            false,
        ),
        (503, r#"{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}"#, "service_unavailable", true),
        (
            404,
            r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#,
            "invalid_model",
            false,
        ),
        (
            400,
            r#"{"error":{"code":"content_filter","message":"The response was filtered.","param":"prompt","status":400}}"#,
            "invalid_request",
            false,
        ),
        (400, r#"{"error":{"message":"input length exceeds the context length"}}"#, "context_overflow", false),
        (
            400,
            r#"{"error":{"code":400,"message":"request (3031 tokens) exceeds the available context size (2048 tokens), try increasing it","type":"exceed_context_size_error"}}"#,
            "context_overflow",
            false,
        ),
    ];
    for (number, body, code, retry) in table {
        let error = status(*number, body);
        assert_eq!((error.code, error.retry), (*code, *retry), "{number} {body}");
    }
}

#[test]
fn when_a_limit_is_refilled() {
    let after = |list: &[(&'static str, &'static str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        peer().status(429, &headers, "", 1_700_000_000).after
    };
    let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
    let (requests, tokens) = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens");
    assert_eq!(after(&[(requests, "1s"), (tokens, "6m0s")]), seconds(1));
    assert_eq!(after(&[(requests, "1s"), (tokens, "6m0s"), ("x-ratelimit-remaining-tokens", "0")]), seconds(360));
    assert_eq!(after(&[(requests, "1s"), ("retry-after", "7")]), seconds(7));
    assert_eq!(after(&[("x-ratelimit-reset", "1700000030")]), seconds(30));
    assert_eq!(after(&[("x-ratelimit-reset", "1700000030000")]), seconds(30));
    assert_eq!(after(&[("x-ratelimit-reset", "12")]), seconds(12));
    assert_eq!(after(&[("x-ratelimit-reset", "1600000000")]), seconds(0));
    assert_eq!(after(&[("x-ratelimit-reset", "soon")]), None);
}

#[test]
fn a_full_context_in_the_words_of_each_server() {
    let table: &[(&str, u16, &str)] = &[
        (
            "Anthropic",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214315 tokens > 200000 maximum"}}"#,
        ),
        (
            "OpenAI",
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
        ),
        (
            "Azure",
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            "Gemini",
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        ),
        (
            "llama.cpp",
            400,
            r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
        ),
        (
            "llama.cpp",
            500,
            r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
        ),
        (
            "vLLM",
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","code":400}"#,
        ),
        (
            "Mistral",
            400,
            r#"{"object":"error","message":"Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}"#,
        ),
        (
            "Groq",
            400,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            "DeepSeek",
            400,
            r#"{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (62000 in the messages, 8000 in the completion).","type":"invalid_request_error","code":"invalid_request_error"}}"#,
        ),
        (
            "OpenRouter",
            400,
            r#"{"error":{"message":"This endpoint's maximum context length is 128000 tokens. However, you requested about 150000 tokens.","code":400}}"#,
        ),
        (
            "LM Studio",
            400,
            r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}"#,
        ),
        (
            "LM Studio",
            0,
            r#"{"error":{"message":"Reached context length of 4096 tokens with model (arch: gemma3) but this model does not currently support mid-generation context overflow."}}"#,
        ),
        (
            "xAI",
            400,
            r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
        ),
    ];
    for (who, code, body) in table {
        let error = match code {
            0 => peer().in_stream(&serde_json::from_str(body).unwrap()),
            code => status(*code, body),
        };
        assert_eq!((error.code, error.retry), ("context_overflow", false), "{who}: {error:?}");
    }
    // An account without the large context, and a request of too many bytes, are other matters.
    let million = r#"{"error":{"type":"invalid_request_error","message":"The long context beta is not yet available for this subscription."}}"#;
    assert_eq!(status(400, million).title, "No 1M context");
    assert_eq!(
        status(413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#).code,
        "invalid_request"
    );
}

#[test]
fn what_the_text_says_is_not_shown_again() {
    for (body, more) in [
        (r#"{"error":{"message":"No credits"}}"#, false),
        (r#"{"error":{"message":"No credits","param":null}}"#, false),
        (r#"{"error":{"message":"No credits","code":"card_declined"}}"#, true),
        (r#"{"error":{"message":"No credits","left":-3}}"#, true),
        ("<html>No credits</html>", true),
    ] {
        let error = status(402, body);
        assert!(error.detail.contains("No credits"), "{body}");
        assert_eq!(!error.further_detail().is_empty(), more, "{body}: {}", error.text);
    }
}
