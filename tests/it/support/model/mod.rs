//! A small model API on loopback, for whole loops through the real agents.
//!
//! It speaks the wires of Anthropic (Messages), `OpenAI` (Responses, Chat) and Gemini as far as the agents need, and follows a script:
//! each request that has tools gets the next [`Step`]. What agents ask on the side (a title, a token count, a list of models) has
//! none, and is answered without using one up. Every request is kept, and every token that was reported is added up; no two
//! answers report the same numbers, so that one counted twice cannot pass for two.

mod http;
mod wire;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use http::Answer;
use wire::{Act, Wire};

/// What the model does next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Says this, and ends its turn.
    Say(String),
    /// The same, slowly.
    Slow(String),
    /// Calls the agent's own shell tool with a command.
    Run(String),
    /// Refuses this and so many more requests.
    Refuse(Refusal, usize),
    /// Begins to say this and loses the connection in the middle of it.
    Cut(String),
    /// Begins an answer and never says another word.
    Silence,
}

/// An error of the API's.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What it says.
    pub words: String,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Further fields of the error itself.
    pub fields: Value,
    /// The field `resets_at`: so many seconds after the refusal.
    pub resets_in: Option<i64>,
}

/// The model says this, and ends its turn.
pub fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

/// The model says this slowly, and ends its turn.
pub fn slowly(text: &str) -> Step {
    Step::Slow(text.to_owned())
}

/// The model calls the agent's shell tool.
pub fn shell(command: &str) -> Step {
    Step::Run(command.to_owned())
}

/// The model's connection is lost in the middle.
pub fn cut(text: &str) -> Step {
    Step::Cut(text.to_owned())
}

/// The API refuses `times` requests.
pub fn refuse(times: usize, status: u16, words: &str) -> Step {
    let refusal =
        Refusal { status, words: words.to_owned(), headers: Vec::new(), fields: Value::Null, resets_in: None };
    Step::Refuse(refusal, times)
}

/// Tokens, as the API reports them; `output` has the `thoughts` in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub fresh: u64,
    pub cached: u64,
    pub written: u64,
    pub output: u64,
    pub thoughts: u64,
}

impl Tokens {
    /// What the answer of this number reports.
    fn of(answer: usize) -> Self {
        let n = u64::try_from(answer).unwrap();
        Self { fresh: 1234 + 3 * n, cached: 789 + n, written: 321 + 2 * n, output: 56 + n, thoughts: 12 }
    }

    fn add(&mut self, other: Self) {
        self.fresh += other.fresh;
        self.cached += other.cached;
        self.written += other.written;
        self.output += other.output;
        self.thoughts += other.thoughts;
    }
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Value,
    /// Whether it used up a step.
    pub scripted: bool,
}

#[derive(Default)]
struct Play {
    steps: VecDeque<Step>,
    requests: Vec<Request>,
    reported: Tokens,
    answers: usize,
    /// Requests that wanted a step when there was none left.
    unscripted: usize,
}

/// The API, until it is dropped.
pub struct Model {
    port: u16,
    play: Arc<Mutex<Play>>,
}

impl Model {
    /// An API that follows a script.
    pub fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::at(0, steps)
    }

    /// The same on a port of the caller's choice.
    pub fn at(port: u16, steps: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let play = Arc::new(Mutex::new(Play { steps: steps.into_iter().collect(), ..Play::default() }));
        let shared = Arc::downgrade(&play);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(play) = shared.upgrade() else { return };
                std::thread::spawn(move || serve(stream, &play));
            }
        });
        Self { port, play }
    }

    /// Where it is, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.play.lock().unwrap().requests.clone()
    }

    /// All tokens that were reported in scripted answers.
    pub fn reported(&self) -> Tokens {
        self.play.lock().unwrap().reported
    }

    /// The script was followed to its end, and no further.
    #[track_caller]
    pub fn was_followed(&self) {
        let play = self.play.lock().unwrap();
        let asked: Vec<String> =
            play.requests.iter().map(|r| format!("{} {} {}", r.method, r.path, r.scripted)).collect();
        assert!(play.steps.is_empty(), "never asked for: {:?}; asked: {asked:#?}", play.steps);
        assert_eq!(play.unscripted, 0, "more was asked for than the script has: {asked:#?}");
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // Whoever waits for the next connection finds that nobody listens to the play any more.
        self.play = Arc::new(Mutex::new(Play::default()));
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Play {
    fn next(&mut self) -> Option<Step> {
        match self.steps.front_mut() {
            Some(Step::Refuse(refusal, times)) if *times > 1 => {
                *times -= 1;
                Some(Step::Refuse(refusal.clone(), 1))
            }
            Some(_) => self.steps.pop_front(),
            None => {
                self.unscripted += 1;
                None
            }
        }
    }

    /// What is answered to a request, which is kept.
    fn answer(&mut self, wire: Option<Wire>, mut request: Request) -> Answer {
        let Some(wire) = wire else {
            self.requests.push(request);
            return Answer::Whole(404, Vec::new(), "{}".to_owned());
        };
        let tools = wire.shell_tool(&request.body);
        let streamed = wire.is_streamed(&request.path, &request.body);
        let aside = |act: Act| wire.answer(&act, Tokens::default(), streamed);
        let (Some(tools), false) = (tools, request.path.contains("ount")) else {
            self.requests.push(request);
            return aside(Act::Say("A title"));
        };
        request.scripted = true;
        self.requests.push(request);
        match self.next() {
            Some(Step::Say(text)) => wire.answer(&Act::Say(&text), self.spend(), streamed),
            Some(Step::Slow(text)) => match wire.answer(&Act::Say(&text), self.spend(), streamed) {
                Answer::Events(events) => Answer::Slow(events),
                other => other,
            },
            Some(Step::Run(command)) => wire.answer(&Act::Call(&tools, &command), self.spend(), streamed),
            Some(Step::Refuse(refusal, _)) => wire.refusal(&refusal),
            Some(Step::Cut(text)) => match wire.answer(&Act::Say(&text), Tokens::of(self.answers), streamed) {
                Answer::Events(events) => Answer::Broken(events[..events.len() / 2].to_vec()),
                _ => Answer::Broken(Vec::new()),
            },
            Some(Step::Silence) => match wire.answer(&Act::Say("Well"), Tokens::of(self.answers), true) {
                Answer::Events(events) => Answer::Silence(events[..1].to_vec()),
                other => other,
            },
            None => aside(Act::Say("nothing was scripted for this")),
        }
    }

    fn spend(&mut self) -> Tokens {
        let tokens = Tokens::of(self.answers);
        self.answers += 1;
        self.reported.add(tokens);
        tokens
    }
}

fn serve(mut stream: TcpStream, play: &Mutex<Play>) {
    while let Ok(Some((method, path, body))) = http::request(&mut stream) {
        let wire = if method == "POST" { Wire::of(&path) } else { None };
        let request = Request { method, path, body, scripted: false };
        let answer = play.lock().unwrap().answer(wire, request);
        if http::send(&mut stream, &answer).is_err() || matches!(answer, Answer::Broken(_) | Answer::Silence(_)) {
            break;
        }
    }
    let _: io::Result<()> = stream.flush();
}

/// Waits until the other side is gone.
fn until_closed(stream: &mut TcpStream) {
    let mut rest = [0; 1024];
    while matches!(stream.read(&mut rest), Ok(read) if read > 0) {}
}
