//! The words in which agents tell of limits and of failures that no retry mends. Read only in an agent's own error, never in
//! what a tool printed or a file says.

use jiff::Timestamp;

use super::event::{Event, Failure, Limit, Remedy};
use super::reset::reset;

/// What an agent's own error means: a limit to wait out, a failure for the user, or one more try.
pub fn judge(words: &str, status: Option<u64>, now: Timestamp) -> Event {
    let lower = words.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    if has(&["credit balance is too low", "insufficient_quota", "insufficient credit", "no credit", "payment required"])
        || status == Some(402)
    {
        return failed(words, Remedy::User("add credit to the account, or choose another agent with --harness"));
    }
    let about_context = has(&["context", "token limit", "turn limit", "max turns"]);
    let hit = has(&["hit your"]) && has(&[" limit"]);
    if matches!(status, Some(429 | 529)) || ((hit || has(&LIMIT_WORDS)) && !about_context) {
        return Event::Limit(Limit { words: words.to_owned(), until: reset(words, now) });
    }
    if status == Some(401) || has(&LOGIN_WORDS) {
        return failed(words, Remedy::User("log in to the agent, or set its API key, in this shell"));
    }
    if has(&[
        "model_not_found",
        "unknown model",
        "model not found",
        "not_found_error: model",
        "does not exist or you do not have access",
    ]) || (has(&["model"]) && (status == Some(404) || has(&["may not exist"])))
    {
        return failed(words, Remedy::User("name a model that the agent knows: --model ID"));
    }
    if has(&["cannot be used with root", "root/sudo privileges"]) {
        return failed(words, Remedy::User("run as another user than root, or set IS_SANDBOX=1 inside a container"));
    }
    if has(&["unknown option", "unexpected argument", "unrecognized option", "unknown argument", "unknown flag"]) {
        return failed(words, Remedy::User(OLD));
    }
    failed(words, Remedy::Retry)
}

/// What mends an agent that does not know a flag.
pub const OLD: &str = "this version of the agent does not know a flag that is needed: update it";

/// Today's and earlier years' wordings of a usage limit.
const LIMIT_WORDS: [&str; 14] = [
    "usage limit",
    "rate limit",
    "rate_limit",
    "limit reached",
    "out of extra usage",
    "too many requests",
    "resource_exhausted",
    "resource exhausted",
    "quota exceeded",
    "exhausted your daily quota",
    "exhausted your capacity",
    "overloaded",
    "request rejected (429)",
    "status: 429",
];

const LOGIN_WORDS: [&str; 9] = [
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "authentication_failed",
    "invalid api key",
    "invalid_api_key",
    "401 unauthorized",
    "unauthenticated",
    "invalid auth method",
];

fn failed(words: &str, remedy: Remedy) -> Event {
    Event::Failed(Failure { words: words.to_owned(), remedy, in_log: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-16T02:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_an_error_means() {
        let kind = |words: &str, status| match judge(words, status, now()) {
            Event::Limit(_) => "limit",
            Event::Failed(Failure { remedy: Remedy::User(_), .. }) => "user",
            Event::Failed(_) => "retry",
            _ => "other",
        };
        for (words, status, expected) in [
            ("API Error: Request rejected (429) · fake error 429", Some(429), "limit"),
            ("API Error: 529 overloaded", Some(529), "limit"),
            ("You've hit your weekly limit · resets Sep 15 at 7pm", None, "limit"),
            ("You've hit your limit · resets 1pm (Asia/Seoul)", None, "limit"),
            ("exceeded retry limit, last status: 429 Too Many Requests", None, "limit"),
            ("Failed to authenticate. API Error: 401 fake error 401", Some(401), "user"),
            ("Not logged in · Please run /login", None, "user"),
            ("unexpected status 401 Unauthorized: x", None, "user"),
            ("Your credit balance is too low to access the API", Some(400), "user"),
            ("--dangerously-skip-permissions cannot be used with root/sudo privileges", None, "user"),
            ("error: unknown option '--output-format'", None, "user"),
            (
                "There's an issue with the selected model (x). It may not exist or you may not have access",
                Some(404),
                "user",
            ),
            ("Context limit reached · /compact or /clear to continue", None, "retry"),
            ("stream disconnected before completion", None, "retry"),
            ("API Error: Connection dropped (ECONNRESET)", None, "retry"),
        ] {
            assert_eq!(kind(words, status), expected, "{words}");
        }
    }
}
