"""Runs Google's Lighthouse on pages of the website. Chromium's developer tools have it inside: nothing else has to be installed.

What runs is the worker of their own panel. A page of ours starts it, gives it a new tab for each run, and carries its messages to the
browser, as the panel does. Its version is the one that Chromium has, and is printed.
"""

import contextlib
import http.server
import json
import pathlib
import queue
import subprocess
import tempfile
import threading
import time
import urllib.request

# Each has to be 100. The score of the performance depends on what else the machine does: it is printed.
JUDGED = ["accessibility", "best-practices", "seo"]
PRINTED = ["performance"]
# Audits that may fail, on any page, and why.
EXCEPTIONS = {}
TOOLS = "/devtools/"
WORKER = TOOLS + "entrypoints/lighthouse_worker/lighthouse_worker.js"
# A run of seconds, on a machine that has others to do.
PATIENCE = 180
PAGE = """<!doctype html><title>Lighthouse</title><script type="module">
const socket = new WebSocket(SOCKET), waiting = new Map()
let worker = null, last = 1e9
socket.onmessage = ({data}) => {
  const message = JSON.parse(data)
  if (!message.sessionId && waiting.has(message.id)) waiting.get(message.id)(message)
  else worker?.postMessage({action: "dispatchProtocolMessage", args: {message: data}})
}
async function call(method, params) {
  const id = ++last
  const answer = await new Promise(done => { waiting.set(id, done); socket.send(JSON.stringify({id, method, params})) })
  if (answer.error) throw new Error(method + ": " + answer.error.message)
  return answer.result
}
async function run({url, config}) {
  const {targetId} = await call("Target.createTarget", {url: "about:blank", forTab: true})
  const {sessionId} = await call("Target.attachToTarget", {targetId, flatten: true})
  const wanted = {url, config, flags: {}, categoryIDs: [], locales: ["en-US"], rootTargetId: targetId, mainSessionId: sessionId}
  worker = new Worker(WORKER, {type: "module"})
  const result = await new Promise((done, fail) => {
    worker.onerror = event => fail(new Error("the worker of Lighthouse fails: " + event.message))
    worker.onmessage = ({data}) => {
      if (data === "workerReady") worker.postMessage({action: "navigation", id: 1, args: wanted})
      else if (data.action === "sendProtocolMessage") socket.send(data.args.message)
      else if (data.id === 1) done(data.result)
    }
  })
  worker.terminate()
  await call("Target.closeTarget", {targetId})
  return result.lhr ?? {message: result.message ?? "no result"}
}
await new Promise(done => socket.onopen = done)
for (const one of RUNS) {
  const result = await run(one).catch(error => ({message: String(error)}))
  await fetch("/result", {method: "POST", body: JSON.stringify(result)})
}
</script>"""


class Missing(Exception):
    """This Chromium has no Lighthouse, or one that is driven in another way."""


def _config(categories, width):
    """The settings of Lighthouse: a narrow window is a telephone's, and the network is simulated, as it does by itself."""
    narrow = width < 640
    return {"extends": "lighthouse:default", "settings": {
        "onlyCategories": categories, "formFactor": "mobile" if narrow else "desktop",
        "screenEmulation": {"mobile": narrow, "width": width, "height": 900, "deviceScaleFactor": 1, "disabled": False},
        "emulatedUserAgent": False, "disableFullPageScreenshot": True, "throttlingMethod": "simulate",
        # Nothing comes after a page has loaded: there is nothing to wait for.
        "pauseAfterFcpMs": 0, "pauseAfterLoadMs": 0, "networkQuietThresholdMs": 100, "cpuQuietThresholdMs": 100,
    }}


@contextlib.contextmanager
def _served(own, tools, results):
    """A port of this machine with our page, the developer tools and a place for results: a worker has to come from its page's origin."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path in own:
                kind, body = "text/html", own[self.path].encode()
            elif self.path.startswith(TOOLS):
                with urllib.request.urlopen(tools() + self.path) as answer:
                    kind, body = answer.headers["Content-Type"], answer.read()
            else:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def _browser(command):
    """Chromium, running: yields the address of its developer tools, and of the socket that they listen on."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [*command, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            file, end = pathlib.Path(profile) / "DevToolsActivePort", time.monotonic() + PATIENCE
            while not file.exists() or len(file.read_text().split()) < 2:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("Chromium does not start")
                time.sleep(0.1)
            port, path = file.read_text().split()
            yield f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}{path}"
        finally:
            process.terminate()
            process.wait()


def reports(command, addresses, widths, categories):
    """Lighthouse's report of each address at each width, as they come; `command` is that of Chromium."""
    own, results = {}, queue.Queue()
    with _served(own, lambda: tools, results) as address, _browser([*command, f"--remote-allow-origins={address}"]) as (tools, socket):
        # Where nothing is, the answer is an empty file.
        with urllib.request.urlopen(tools + WORKER) as answer:
            if b'"workerReady"' not in answer.read():
                raise Missing("the developer tools of this Chromium have no Lighthouse where it was")
        runs = [{"url": one, "config": _config(categories, width)} for one in addresses for width in widths]
        own["/"] = PAGE.replace("SOCKET", json.dumps(socket)).replace("WORKER", json.dumps(WORKER)).replace("RUNS", json.dumps(runs))
        urllib.request.urlopen(urllib.request.Request(f"{tools}/json/new?{address}/", method="PUT")).close()
        patience = PATIENCE
        for _ in runs:
            try:
                yield results.get(timeout=patience)
            except queue.Empty:
                patience = 0.1  # what hangs must not continue
                yield {"message": f"nothing came in {PATIENCE} seconds"}


def scores(report):
    """The scores of a report in words: what is judged, and what is only printed."""
    found = {name: report["categories"][name]["score"] for name in JUDGED + PRINTED if name in report.get("categories", {})}
    words = (f"{name} {'none' if score is None else round(100 * score)}" for name, score in found.items())
    return ", ".join(words) or "no scores"


def faults(report):
    """What is wrong in a report, each with the first places; exceptions are left out."""
    if "categories" not in report:
        return [report["message"]]
    found = [report["runtimeError"]["message"]] if report.get("runtimeError") else []
    for category in JUDGED:
        for one in report["categories"].get(category, {}).get("auditRefs", []):
            audit = report["audits"][one["id"]]
            # Those without a score inform, are for people, or do not apply. The categories count what has a weight; the rest has to hold, too.
            if audit["scoreDisplayMode"] != "error" and audit["score"] in (None, 1) or one["id"] in EXCEPTIONS:
                continue
            places = [item.get("node", {}).get("snippet") or json.dumps(item)[:200] for item in (audit.get("details") or {}).get("items", [])]
            found.append(f"{category}: {audit['title']} ({one['id']}): {audit.get('errorMessage') or ' '.join(places[:5])}")
    return found
