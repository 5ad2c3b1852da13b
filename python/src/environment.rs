//! A run in which Python decides for the agents, for reinforcement learning.
//!
//! The simulation runs in a thread of its own. Where a policy would decide, the thread sends questions and waits for
//! the answers. So Python gets the facts that a policy would get, at the same times. The thread asks about one agent at
//! a time, or about all agents that are due at the same time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mario_domain::{AgentOperation, Time, Verdict};
use mario_experiments::drive::{Unstored, unless};
use mario_frontend::Failure;
use mario_frontend::runs::start_with;
use mario_frontend::scenarios::Choices;
use mario_policy::{Constant, FunctionProposal, KnowledgeBase, PolicyFunction, PolicyFunctions};
use mario_scenario::{NodeIndex, Resolved};
use mario_simulator::population::{AgentIndex, CycleLabel, Outcome, OwnerActKind, OwnerActs, Population};
use mario_simulator::{Cause, Recorder, Reuse, RunOptions, Served};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::exception;
use crate::facts::{dictionary, id};
use crate::scenario::ScenarioText;

/// How often Python is polled for signals while the simulation computes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What happened to one instance since the last call of [`Session::news`] for it: the number of users' requests that it
/// served, the sum of their response times, and the verdicts on its proposals. With traffic as rates, no served
/// requests are counted.
#[derive(Clone, Debug, Default)]
struct News {
    served: u64,
    response: f64,
    /// The verdicts on its proposals: the operation, and if it was inhibited, the reason.
    verdicts: Vec<(String, Option<String>)>,
}

/// News of all instances by id, the time of the latest news, and the instances that ended.
#[derive(Default)]
struct Journal {
    now: f64,
    news: BTreeMap<String, News>,
    /// Instances that ended since the last call of [`Session::gone`].
    gone: Vec<String>,
}

/// Asks for the decision of an agent.
struct Question {
    instance: Py<PyAny>,
    facts: Py<PyDict>,
}

/// Either the next questions, or the end of the run.
enum RunEvent {
    Questions(Vec<Question>),
    End(Result<(), Failure>),
}

/// An instance and the facts of its agent.
type Asked = (Py<PyAny>, Py<PyDict>);

/// The proposals of one agent, in order of priority.
type Answer = Vec<FunctionProposal>;

/// A run that waits for the decisions of its agents.
#[pyclass(module = "mario_fog._mario")]
pub(crate) struct Session {
    events: Mutex<Receiver<RunEvent>>,
    answers: Option<Sender<Vec<Answer>>>,
    journal: Arc<Mutex<Journal>>,
    is_closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// The number of questions that are not answered.
    waiting: usize,
    is_over: bool,
}

#[pymethods]
impl Session {
    /// Starts a run of a scenario. `function` is the name of the function that the policies declare. With `together`,
    /// all agents that are due at the same time are asked at once.
    #[new]
    #[pyo3(signature = (scenario, function, *, overrides, choices, seed, files, together))]
    #[allow(clippy::too_many_arguments, reason = "each is a keyword of the Python function, which names it")]
    fn new(
        py: Python<'_>,
        scenario: &ScenarioText,
        function: String,
        overrides: Vec<String>,
        choices: Vec<String>,
        seed: Option<u64>,
        files: BTreeMap<String, String>,
        together: bool,
    ) -> PyResult<Session> {
        let choices = Choices { overrides, policies: choices, seed, ..Choices::default() };
        let resolved = py.detach(|| scenario.resolve(&choices, &files)).map_err(|failure| exception(py, &failure))?;
        let (sender, events) = mpsc::channel();
        let (answers, answered) = mpsc::channel();
        let journal = Arc::new(Mutex::new(Journal::default()));
        let is_closed = Arc::new(AtomicBool::new(false));
        let asking = Asking {
            sender: sender.clone(),
            exchange: Mutex::new(Exchange { answered, questions: Vec::new(), answers: VecDeque::new() }),
            is_together: together,
            is_closed: Arc::clone(&is_closed),
        };
        let mut functions = PolicyFunctions::default();
        functions.insert(&function, Arc::new(asking));
        let following = Following { journal: Arc::clone(&journal), instances: Vec::new() };
        let closed = Arc::clone(&is_closed);
        let thread = std::thread::spawn(move || {
            let ended = simulate(&resolved, &functions, following, &closed);
            // Fails if the session was dropped; then no caller waits for the end.
            let _ = sender.send(RunEvent::End(ended));
        });
        let events = Mutex::new(events);
        let thread = Some(thread);
        Ok(Session { events, answers: Some(answers), journal, is_closed, thread, waiting: 0, is_over: false })
    }

    /// The next agents that have to decide: the instance and the facts of each; `None` if the run is over.
    fn next_questions(&mut self, py: Python<'_>) -> PyResult<Option<Vec<Asked>>> {
        if self.waiting > 0 {
            return Err(PyRuntimeError::new_err("the agents that were asked last have not been answered for"));
        }
        if self.is_over {
            return Ok(None);
        }
        loop {
            let event =
                py.detach(|| self.events.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL_INTERVAL));
            match event {
                Ok(RunEvent::Questions(questions)) => {
                    self.waiting = questions.len();
                    return Ok(Some(questions.into_iter().map(|asked| (asked.instance, asked.facts)).collect()));
                }
                Ok(RunEvent::End(ended)) => {
                    self.is_over = true;
                    ended.map_err(|failure| exception(py, &failure))?;
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.is_over = true;
                    return Err(PyRuntimeError::new_err(
                        "the simulation has ended without a word: this is a bug in mario",
                    ));
                }
            }
        }
    }

    /// Sends the answers of the current agents, in the order in which they were asked. The answer of an agent is its
    /// proposals in order of priority, each an operation and a target.
    fn answer(&mut self, answers: &Bound<'_, PyAny>) -> PyResult<()> {
        let all = answers.try_iter()?.map(|proposals| read_answer(&proposals?)).collect::<PyResult<Vec<Answer>>>()?;
        if all.len() != self.waiting || all.is_empty() {
            let message = format!("{} agents were asked, and {} are answered for", self.waiting, all.len());
            return Err(PyRuntimeError::new_err(message));
        }
        self.waiting = 0;
        // If the thread has ended, the next call of `next_questions` reports why.
        let _ = self.answers.as_ref().map(|answers| answers.send(all));
        Ok(())
    }

    /// The simulation time of the last recorded news, which is a verdict or the start of serving a request; 0 before.
    #[getter]
    fn now(&self) -> f64 {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    /// What happened to an instance since the last call for it: users' requests served (0 with traffic as rates), the
    /// sum of their response times, and the verdicts on its proposals.
    fn news<'py>(&self, py: Python<'py>, instance: &str) -> PyResult<Bound<'py, PyDict>> {
        let news =
            self.journal.lock().unwrap_or_else(PoisonError::into_inner).news.remove(instance).unwrap_or_default();
        let observed = PyDict::new(py);
        observed.set_item("served", news.served)?;
        observed.set_item("response", news.response)?;
        observed.set_item("verdicts", PyList::new(py, news.verdicts)?)?;
        Ok(observed)
    }

    /// The instances that ended since the last call.
    fn gone(&self) -> Vec<String> {
        std::mem::take(&mut self.journal.lock().unwrap_or_else(PoisonError::into_inner).gone)
    }

    /// Ends the run, even if it is not complete.
    fn close(&mut self, py: Python<'_>) {
        py.detach(|| self.stop());
    }
}

impl Session {
    fn stop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.answers = None;
        self.is_over = true;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed on standard error.
            let _ = thread.join();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        // The thread may be about to ask a question, for which it needs the interpreter. If the interpreter is shutting
        // down, the thread ends with it.
        let _ = Python::try_attach(|py| py.detach(|| self.stop()));
    }
}

/// Proposals in order of priority, each an operation and a target.
fn read_answer(proposals: &Bound<'_, PyAny>) -> PyResult<Answer> {
    let mut all = Vec::new();
    for proposal in proposals.try_iter()? {
        let (operation, target) = proposal?.extract::<(String, Bound<'_, PyAny>)>()?;
        if !AgentOperation::ALL.iter().any(|known| known.as_str() == operation) {
            let known = AgentOperation::ALL.map(AgentOperation::as_str).join(", ");
            return Err(PyValueError::new_err(format!("unknown operation `{operation}`; known: {known}")));
        }
        all.push(FunctionProposal { operation, target: id(&target)? });
    }
    Ok(all)
}

/// The policy of agents for which Python decides.
struct Asking {
    sender: Sender<RunEvent>,
    exchange: Mutex<Exchange>,
    is_together: bool,
    is_closed: Arc<AtomicBool>,
}

/// Questions that are not sent yet, and answers that are not used yet.
struct Exchange {
    answered: Receiver<Vec<Answer>>,
    questions: Vec<Question>,
    answers: VecDeque<Answer>,
}

impl Asking {
    fn note(&self, exchange: &mut Exchange, facts: &KnowledgeBase, instance: Constant) -> Result<(), String> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(closed());
        }
        let question = Python::try_attach(|py| {
            let question = Question {
                instance: crate::facts::value(py, facts, instance)?.unbind(),
                facts: dictionary(py, facts)?.unbind(),
            };
            Ok::<_, PyErr>(question)
        });
        exchange.questions.push(question.ok_or_else(closed)?.map_err(|error| error.to_string())?);
        Ok(())
    }
}

fn closed() -> String {
    "the environment was closed".to_owned()
}

impl PolicyFunction for Asking {
    fn decide(&self, facts: &KnowledgeBase, instance: Constant) -> Result<Vec<FunctionProposal>, String> {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_together {
            self.note(&mut exchange, facts, instance)?;
        }
        if !exchange.questions.is_empty() {
            let questions = std::mem::take(&mut exchange.questions);
            self.sender.send(RunEvent::Questions(questions)).map_err(|_| closed())?;
            exchange.answers = exchange.answered.recv().map_err(|_| closed())?.into();
        }
        exchange.answers.pop_front().ok_or_else(closed)
    }

    fn wants_preview(&self) -> bool {
        self.is_together
    }

    fn preview(&self, facts: &KnowledgeBase, instance: Constant) {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        // Without this question, there is one answer too few, and `decide` fails for the last agent.
        let _ = self.note(&mut exchange, facts, instance);
    }
}

/// Records what happens to instances.
struct Following {
    journal: Arc<Mutex<Journal>>,
    /// The instance of each agent.
    instances: Vec<String>,
}

impl Following {
    fn note(&self, agent: usize, time: Time, change: impl FnOnce(&mut News)) {
        let Some(instance) = self.instances.get(agent) else { return };
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.now = time.units();
        change(journal.news.entry(instance.clone()).or_default());
    }

    fn note_gone(&self, agent: AgentIndex) {
        let Some(instance) = self.instances.get(agent.position()) else { return };
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).gone.push(instance.clone());
    }

    fn learn(&mut self, population: &Population) {
        for position in self.instances.len()..population.agent_count() {
            self.instances.push(population.instance(AgentIndex::at(position)).to_string());
        }
    }
}

impl Recorder for Following {
    fn wants_decisions(&self) -> bool {
        true
    }

    fn deployed(&mut self, _: Time, _: AgentIndex, population: &Population) {
        self.learn(population);
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        self.learn(population);
        for outcome in label.iter() {
            let Outcome::Judged(judged) = outcome else { continue };
            let agent = population.agent(judged.agent);
            let inhibition = match population.verdict(&judged.verdict, agent.application()) {
                Verdict::Accepted => None,
                Verdict::Inhibited(inhibition) => Some(inhibition.to_string()),
            };
            let verdict = (judged.proposal.operation.to_string(), inhibition);
            self.note(judged.agent.position(), time, |news| news.verdicts.push(verdict));
            if !agent.is_alive() {
                self.note_gone(judged.agent);
            }
        }
    }

    fn owner(&mut self, _: Time, acts: &OwnerActs, _: &Population) {
        for act in acts.acts.iter().filter(|act| act.kind == OwnerActKind::Evicted) {
            self.note_gone(act.agent);
        }
    }

    fn node_down(&mut self, _: Time, _: NodeIndex, _: Cause, gone: &[AgentIndex], _: &Population) {
        for agent in gone {
            self.note_gone(*agent);
        }
    }

    fn served(&mut self, served: &Served) {
        self.note(served.agent.position(), served.started, |news| {
            news.served += 1;
            news.response += (served.ended - served.emitted).units();
        });
    }
}

/// Runs to the end, or until the session is closed.
fn simulate(
    resolved: &Resolved,
    functions: &PolicyFunctions,
    mut following: Following,
    is_closed: &AtomicBool,
) -> Result<(), Failure> {
    // A learner is not a function of the facts, so decisions must not be cached.
    let options = RunOptions { threads: 1, reuse: Reuse::Nothing };
    let mut simulation = start_with(resolved, options, functions)?;
    // A closed session needs no result.
    let _ = unless(&mut simulation, &mut Unstored(&mut following), || is_closed.load(Ordering::Relaxed));
    Ok(())
}
