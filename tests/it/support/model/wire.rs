//! The four wires: who asks, what tools there are, and one answer in each.

use serde_json::{Value, json};

use super::http::Answer;
use super::{Refusal, Tokens};

/// A wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Messages,
    /// `OpenAI`'s Responses.
    Responses,
    /// `OpenAI`'s Chat completions.
    Chat,
    /// Gemini's content generation.
    Gemini,
}

/// What an answer does.
pub enum Act<'a> {
    /// Says something.
    Say(&'a str),
    /// Calls this tool with a command.
    Call(&'a str, &'a str),
}

/// What agents call their shell.
const SHELLS: [&str; 6] = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"];

impl Wire {
    /// The wire of a path.
    pub fn of(path: &str) -> Option<Self> {
        let has = |part: &str| path.contains(part);
        match () {
            () if has("/messages") => Some(Wire::Messages),
            () if has("/responses") => Some(Wire::Responses),
            () if has("/chat/completions") => Some(Wire::Chat),
            () if has("enerateContent") || has(":countTokens") => Some(Wire::Gemini),
            () => None,
        }
    }

    /// Whether events are asked for.
    pub fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Wire::Gemini => path.contains(":streamGenerateContent"),
            Wire::Messages | Wire::Responses | Wire::Chat => body["stream"] == true,
        }
    }

    /// The name of the agent's shell among the tools of a request.
    pub fn shell_tool(self, body: &Value) -> Option<String> {
        let tools: Vec<&Value> = body["tools"].as_array()?.iter().collect();
        let names: Vec<&str> = match self {
            Wire::Messages | Wire::Responses => tools.iter().filter_map(|tool| tool["name"].as_str()).collect(),
            Wire::Chat => tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect(),
            Wire::Gemini => {
                let all = tools.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
                all.filter_map(|tool| tool["name"].as_str()).collect()
            }
        };
        SHELLS.iter().find(|shell| names.contains(shell)).map(|&shell| shell.to_owned())
    }

    /// An error of the API's.
    pub fn refusal(self, refusal: &Refusal) -> Answer {
        let Refusal { status, words, headers, fields, resets_in } = refusal;
        let kind = match status {
            401 => ("authentication_error", "UNAUTHENTICATED"),
            429 => ("rate_limit_error", "RESOURCE_EXHAUSTED"),
            _ => ("api_error", "INTERNAL"),
        };
        let mut error = match self {
            Wire::Messages | Wire::Responses | Wire::Chat => json!({ "type": kind.0, "message": words }),
            Wire::Gemini => json!({ "code": status, "message": words, "status": kind.1 }),
        };
        for (name, value) in fields.as_object().into_iter().flatten() {
            error[name] = value.clone();
        }
        if let Some(seconds) = resets_in {
            error["resets_at"] = json!(jiff::Timestamp::now().as_second() + seconds);
        }
        let body = json!({ "type": "error", "error": error });
        Answer::Whole(*status, headers.clone(), body.to_string())
    }

    /// An answer that reports these tokens.
    pub fn answer(self, act: &Act, tokens: Tokens, streamed: bool) -> Answer {
        match (self, streamed) {
            (Wire::Messages, true) => Answer::Events(messages(act, tokens)),
            (Wire::Messages, false) => Answer::Whole(200, Vec::new(), message(act, tokens).to_string()),
            (Wire::Responses, _) => Answer::Events(responses(act, tokens)),
            (Wire::Chat, true) => Answer::Events(chat(act, tokens)),
            (Wire::Chat, false) => Answer::Whole(200, Vec::new(), chat_whole(act).to_string()),
            (Wire::Gemini, true) => Answer::Events(gemini(act, tokens)),
            (Wire::Gemini, false) => {
                let whole = json!({ "candidates": [{ "content": { "role": "model", "parts": parts(act) }, "finishReason": "STOP" }],
                    "totalTokens": 1, "usageMetadata": gemini_usage(tokens) });
                Answer::Whole(200, Vec::new(), whole.to_string())
            }
        }
    }
}

/// What a shell tool of this name is called with.
fn arguments(tool: &str, command: &str) -> Value {
    match tool {
        "exec_command" => json!({ "cmd": command }),
        "shell" => json!({ "command": ["bash", "-c", command] }),
        "run_shell_command" | "shell_command" => json!({ "command": command }),
        _ => json!({ "command": command, "description": "Does the work" }),
    }
}

/// A text in two parts, cut inside a promise where there is one.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.find("</promise>").map_or(text.len() / 2, |at| at - 2);
    let at = (0..=middle).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    [&text[..at], &text[at..]]
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

fn message(act: &Act, tokens: Tokens) -> Value {
    let (content, reason) = match act {
        Act::Say(text) => (json!([{ "type": "text", "text": text }]), "end_turn"),
        Act::Call(tool, command) => (
            json!([{ "type": "tool_use", "id": "toolu_1", "name": tool, "input": arguments(tool, command) }]),
            "tool_use",
        ),
    };
    json!({ "id": format!("msg_{}", tokens.fresh), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": content, "stop_reason": reason, "stop_sequence": null, "usage": messages_usage(tokens, tokens.output) })
}

fn messages_usage(tokens: Tokens, output: u64) -> Value {
    json!({ "input_tokens": tokens.fresh, "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.cached, "output_tokens": output })
}

fn messages(act: &Act, tokens: Tokens) -> Vec<String> {
    let mut start = message(act, tokens);
    let reason = std::mem::take(&mut start["stop_reason"]);
    start["content"] = json!([]);
    start["usage"] = messages_usage(tokens, 1);
    let (block, deltas) = match act {
        Act::Say(text) => (
            json!({ "type": "text", "text": "" }),
            halves(text).map(|half| json!({ "type": "text_delta", "text": half })),
        ),
        Act::Call(tool, command) => (
            json!({ "type": "tool_use", "id": format!("toolu_{}", tokens.fresh), "name": tool, "input": {} }),
            halves(&arguments(tool, command).to_string())
                .map(|half| json!({ "type": "input_json_delta", "partial_json": half })),
        ),
    };
    let [first, second] = deltas;
    [
        json!({ "type": "message_start", "message": start }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": first }),
        json!({ "type": "content_block_delta", "index": 0, "delta": second }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": tokens.output } }),
        json!({ "type": "message_stop" }),
    ]
    .iter()
    .map(event)
    .collect()
}

fn responses(act: &Act, tokens: Tokens) -> Vec<String> {
    let id = format!("resp_{}", tokens.fresh);
    let item = match act {
        Act::Say(text) => json!({ "type": "message", "id": format!("msg_{}", tokens.fresh), "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] }),
        Act::Call(tool, command) => json!({ "type": "function_call", "id": format!("fc_{}", tokens.fresh),
            "call_id": format!("call_{}", tokens.fresh), "name": tool, "arguments": arguments(tool, command).to_string() }),
    };
    let usage = json!({ "input_tokens": tokens.fresh + tokens.cached, "input_tokens_details": { "cached_tokens": tokens.cached },
        "output_tokens": tokens.output, "output_tokens_details": { "reasoning_tokens": tokens.thoughts },
        "total_tokens": tokens.fresh + tokens.cached + tokens.output });
    [
        json!({ "type": "response.created", "response": { "id": id } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": id, "status": "completed", "output": [item], "usage": usage } }),
    ]
    .iter()
    .map(event)
    .collect()
}

fn chat(act: &Act, tokens: Tokens) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        event(&json!({ "id": format!("chatcmpl_{}", tokens.fresh), "object": "chat.completion.chunk", "created": 1,
            "model": "fake-model", "choices": choices, "usage": usage }))
    };
    let delta = |delta: Value| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null);
    let (mut events, reason) = match act {
        Act::Say(text) => {
            let [first, second] = halves(text);
            let first = delta(json!({ "role": "assistant", "content": first }));
            (vec![first, delta(json!({ "content": second }))], "stop")
        }
        Act::Call(tool, command) => {
            let call = json!({ "index": 0, "id": format!("call_{}", tokens.fresh), "type": "function",
                "function": { "name": tool, "arguments": arguments(tool, command).to_string() } });
            (vec![delta(json!({ "role": "assistant", "tool_calls": [call] }))], "tool_calls")
        }
    };
    events.push(chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), Value::Null));
    let prompt = tokens.fresh + tokens.cached;
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": tokens.output, "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": { "cached_tokens": tokens.cached },
        "completion_tokens_details": { "reasoning_tokens": tokens.thoughts } });
    events.push(chunk(json!([]), usage));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn chat_whole(act: &Act) -> Value {
    let (Act::Say(text) | Act::Call(_, text)) = act;
    json!({ "id": "chatcmpl_0", "object": "chat.completion", "created": 1, "model": "fake-model",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }] })
}

fn parts(act: &Act) -> Value {
    match act {
        Act::Say(text) => json!([{ "text": text }]),
        Act::Call(tool, command) => json!([{ "functionCall": { "name": tool, "args": arguments(tool, command) } }]),
    }
}

fn gemini_usage(tokens: Tokens) -> Value {
    let prompt = tokens.fresh + tokens.cached;
    json!({ "promptTokenCount": prompt, "cachedContentTokenCount": tokens.cached,
        "candidatesTokenCount": tokens.output - tokens.thoughts, "thoughtsTokenCount": tokens.thoughts,
        "totalTokenCount": prompt + tokens.output })
}

fn gemini(act: &Act, tokens: Tokens) -> Vec<String> {
    let chunk = |parts: Value, last: bool| {
        let mut data = json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }],
            "modelVersion": "gemini-2.5-pro", "responseId": format!("r{}", tokens.fresh) });
        if last {
            data["candidates"][0]["finishReason"] = json!("STOP");
            data["usageMetadata"] = gemini_usage(tokens);
        }
        event(&data)
    };
    match act {
        Act::Say(text) => {
            let [first, second] = halves(text);
            vec![chunk(json!([{ "text": first }]), false), chunk(json!([{ "text": second }]), true)]
        }
        Act::Call(..) => vec![chunk(parts(act), true)],
    }
}
