//! The page that tells how each agent is driven: made from the table of agents.

use clap_mangen::roff::{Roff, roman};

use super::{description, entries, listing};
use crate::agent::{ALL, Agent, Session};

/// The page's name, as `wt-loop man` takes it.
pub const NAME: &str = "agents";

/// What the user's own configuration can say of a program that has no entry here.
const OWN: &[(&str, &str)] = &[
    ("command = [\"my-agent\", \"--json\"]", "the program and its first arguments"),
    (
        "prompt = \"stdin\"",
        "or \"argument\", or \"file\": how it is given the prompt; the latter two as the last argument",
    ),
    ("output = \"text\"", "or \"claude\", \"codex\", \"opencode\", \"gemini\": whose output its own is like"),
    ("model = [\"--model\", \"{}\"]", "the words that name a model"),
    ("allow_all = [\"--yes\"]", "the words that approve everything"),
];

/// The body of the page.
pub fn body(roff: &mut Roff) {
    description(roff, DESCRIPTION);
    let agents: Vec<(&str, String)> = ALL.iter().map(|agent| (agent.name, told(agent))).collect();
    listing(roff, "AGENTS", &agents);
    roff.control("SH", ["AN AGENT OF YOUR OWN"]);
    roff.text([roman("Any other program can be an agent: describe it in your own config.toml under [agents.NAME].")]);
    entries(roff, OWN);
    roff.control("SH", ["TOKENS"]);
    roff.text([roman(TOKENS)]);
}

const DESCRIPTION: &[&str] = &[
    "Each agent is called as its makers document, with its machine-readable output, so that what it says is apart from what its \
     tools print. The prompt goes to its standard input wherever it takes it there. Nothing is passed that hides your own \
     settings of the agent, and none of its files is written.",
    "How an iteration ended is the agent's own end event and its exit code together. A usage limit that the agent reports is \
     waited out, and the same iteration is tried again. A failure that no retry mends (not logged in, unknown model, no credit) \
     ends the loop at once, with the agent's own words.",
    "Below, each agent with the command line it gets under --allow-all with a model, whether --continue-session works, and \
     how what is said here was tested.",
];

const TOKENS: &str = "What counts is fresh input, cache writes and output, reasoning included; reads from the cache are shown \
                      and not counted. Cost is what the agent reports.";

fn told(agent: &Agent) -> String {
    let session = match agent.session {
        Session::None => "no --continue-session",
        Session::ById => "--continue-session by the session's id",
        Session::Last => "--continue-session in the folder's last session",
    };
    let version = if agent.version.is_empty() { String::new() } else { format!(", version {}", agent.version) };
    format!("{}; {session}; tested with {}{version}", agent.example(), agent.tested.words())
}
