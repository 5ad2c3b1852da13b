//! Drives Chromium over its debugging pipe: no driver program, no port, no library.

use std::cell::RefCell;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The names of the browser's executable in different distributions.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// How long a test waits for the browser, or for a condition, before it fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// The number of browsers started, so that each has its own directory.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    input: RefCell<Option<ChildStdin>>,
    messages: Receiver<Value>,
    state: RefCell<State>,
    profile: PathBuf,
}

#[derive(Default)]
struct State {
    last_id: u64,
    session: Option<String>,
    complaints: Vec<String>,
}

impl Browser {
    /// Starts a browser with a window of this size. If no browser is installed, prints a message and returns `None`; in
    /// CI, panics.
    pub(crate) fn start(width: u32, height: u32) -> Option<Browser> {
        let Some(program) = find() else {
            assert!(
                env::var("CI").as_deref() != Ok("true"),
                "chromium is not installed, and CI must not skip this test"
            );
            println!("skipped: chromium is not installed");
            return None;
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let profile = env::temp_dir().join(format!("mario-browser-{}-{count}", process::id()));
        // The browser communicates over descriptors 3 and 4. The shell connects them to its standard input and output.
        let script = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --disable-background-networking --disable-component-update --user-data-dir=\"$1\" \
                      --remote-debugging-pipe 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(&program)
            .arg(&profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let output = child.stdout.take().expect("it is piped");
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = RefCell::new(child.stdin.take());
        let browser = Browser { child, input, messages, state: RefCell::default(), profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach)["sessionId"].as_str().map(str::to_owned);
        browser.state.borrow_mut().session = session;
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.resize(width, height);
        Some(browser)
    }

    /// Resizes the window.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Sets the colour scheme that the system prefers: `light` or `dark`.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Lays out the page with the styles for printing, at about the width of A4.
    pub(crate) fn print_media(&self) {
        self.resize(718, 1040);
        self.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))");
    }

    /// The number of pages when printed.
    pub(crate) fn printed_pages(&self) -> usize {
        let size = json!({"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true});
        let answer = self.call("Page.printToPDF", &size);
        // The objects of pages in a PDF are not compressed, so their number is that of the matches in its bytes.
        let encoded = answer["data"].as_str().expect("a file in base64");
        let decoded = self.evaluate(&format!("atob('{encoded}').split(/\\/Type\\s*\\/Page[^s]/).length - 1"));
        decoded.as_u64().expect("a number") as usize
    }

    /// Opens a file and waits until the page is drawn.
    pub(crate) fn open(&self, path: &Path) {
        self.visit(&format!("file://{}", path.display()));
    }

    /// Opens an address and waits until the page is drawn.
    pub(crate) fn visit(&self, address: &str) {
        self.call("Page.navigate", &json!({"url": address}));
        self.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'");
        // Figures are drawn one frame later, when their width is known.
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))");
    }

    /// Evaluates a JavaScript expression, and awaits it if it is a promise.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let call = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &call);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    pub(crate) fn number(&self, expression: &str) -> i64 {
        self.evaluate(expression).as_i64().unwrap_or_else(|| panic!("{expression} is no whole number"))
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let text = self.evaluate(&format!("document.querySelector({selector:?})?.textContent ?? null"));
        text.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    pub(crate) fn wait_for(&self, condition: &str) {
        let began = Instant::now();
        while self.evaluate(condition) != Value::Bool(true) {
            assert!(began.elapsed() < PATIENCE, "it never came true that {condition}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks the centre of an element.
    pub(crate) fn click(&self, selector: &str) {
        let middle = format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{block: 'center'}}); \
             const {{left, top, width, height}} = element.getBoundingClientRect(); return [left + width / 2, top + height / 2]; }})()"
        );
        let place = self.evaluate(&middle);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Presses a key, given by its name in the browser, with or without shift.
    pub(crate) fn press(&self, key: &str, with_shift: bool) {
        let code = match key {
            " " => 32,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Tab" => 9,
            _ => u32::from(key.as_bytes()[0]),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "modifiers": u8::from(with_shift) * 8});
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Errors, console output other than `log`, and requests to the network, since the start.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.evaluate("1");
        self.state.borrow().complaints.clone()
    }

    fn call(&self, method: &str, parameters: &Value) -> Value {
        let mut state = self.state.borrow_mut();
        state.last_id += 1;
        let id = state.last_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &state.session {
            message["sessionId"] = json!(session);
        }
        let mut line = message.to_string().into_bytes();
        line.push(0);
        let mut input = self.input.borrow_mut();
        let pipe = input.as_mut().expect("the browser is there until it is dropped");
        pipe.write_all(&line).and_then(|()| pipe.flush()).expect("the browser listens");
        loop {
            let answer = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{method} was not answered"));
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            state.complaints.extend(complaint(&answer));
        }
    }
}

/// The description of an event that [`Browser::complaints`] reports; `None` for other events.
fn complaint(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(parameters["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" if parameters["type"] != "log" => Some(parameters.to_string()),
        "Log.entryAdded" if parameters["entry"]["level"] == "error" => Some(parameters["entry"].to_string()),
        "Network.requestWillBeSent" => {
            let address = parameters["request"]["url"].as_str()?;
            let is_local = ["file:", "data:", "blob:", "about:"].iter().any(|scheme| address.starts_with(scheme));
            (!is_local).then(|| format!("asked for {address}"))
        }
        _ => None,
    }
}

fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let directories: Vec<PathBuf> = env::split_paths(&path).collect();
    NAMES.iter().find_map(|name| directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file()))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser exits when its pipe is closed. If it does not within five seconds, it is killed.
        drop(self.input.borrow_mut().take());
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
