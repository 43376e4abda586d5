"""Opens the website of ci/site in a real browser. What is looked for is what a person would look for first."""

import contextlib
import functools
import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import sitelighthouse

APT = pathlib.Path(__file__).resolve().parent / "apt.sh"
# A path that no page expects, with a directory that is also one of the site's own.
BASE = "/some/documentation/1.0/"
WIDTHS = [1280, 390]
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--window-size=1280,1400"]
DARK = ["--blink-settings=preferredColorScheme=0"]
LIBRARY, COMMANDS = "documentation/litevault/", "documentation/commands/"
# Name, address, and what has to be in the page's text.
PAGES = [
    ("index", "", ["LiteVault", "Getting started", "litevault snapshot", "LiteVaultBackup"]),
    ("getting-started", LIBRARY + "gettingstarted/", ["Open an encrypted database", "swift package init"]),
    ("command-line", LIBRARY + "commandline/", ["exit status"]),
    ("queries", LIBRARY + "queries/", ["Queries"]),
    ("relations", LIBRARY + "relations/", ["Relations"]),
    ("schedules", LIBRARY + "schedules/", ["schedule install"]),
    ("pool", LIBRARY + "databasepool/", ["let pool = try DatabasePool", "one connection writes", "observe("]),
    ("operator", LIBRARY + "!%3D(_:_:)/", ["!=(_:_:)"]),
    ("module", LIBRARY, ["Getting started"]),
    ("command", COMMANDS + "key-add/", ["litevault key add", "--new-key-file", "--kind recovery"]),
]
# A page that loads others in frames of each width, and writes how much wider than that they are, and what is.
MEASURE = """<!doctype html><body><pre id="result"></pre><script>
const paths = PATHS, widths = WIDTHS, faults = []
async function measure(path, width) {
  const frame = document.createElement("iframe")
  frame.style = `width:${width}px;height:900px;border:0`
  const loaded = new Promise(done => frame.onload = done)
  frame.src = path
  document.body.append(frame)
  await loaded
  const root = frame.contentDocument.documentElement
  let wide = root.scrollWidth > width ? "the page" : ""
  for (const one of root.querySelectorAll("pre, table, code, td"))
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline") wide ||= one.tagName + " " + one.textContent.slice(0, 40)
  if (wide) faults.push(`${path} at ${width}: ${wide}`)
  frame.remove()
}
(async () => {
  for (const path of paths) for (const width of widths) await measure(path, width)
  document.getElementById("result").textContent = JSON.stringify({measured: paths.length * widths.length, faults})
})()
</script>"""
# A page that types into the search of another one, and shows what is found.
SEARCH = """<!doctype html><body><pre id="result"></pre><iframe src="START" style="width:1000px;height:800px"></iframe><script>
const frame = document.querySelector("iframe")
frame.onload = async () => {
  const box = frame.contentDocument.querySelector("input[type=search]"), found = {}
  for (const words of WORDS) {
    box.value = words
    box.dispatchEvent(new Event("input"))
    for (let turn = 0; turn < 100 && !frame.contentDocument.querySelector("#found li"); turn++) await new Promise(done => setTimeout(done, 50))
    found[words] = [...frame.contentDocument.querySelectorAll("#found a")].slice(0, 5).map(one => one.textContent)
  }
  document.getElementById("result").textContent = JSON.stringify(found)
}
</script>"""
# A page that Lighthouse has to find wrong: a check that finds nothing could as well see nothing.
PLANTED = """<!doctype html><html><meta name="viewport" content="width=device-width"><title>Planted</title>
<style>@media (prefers-color-scheme: dark) { body { background: #222 } p { color: #333 } }</style><main><p>Text</p><input></main></html>"""
FOUND, FOUND_DARK = ["html-has-lang", "label", "meta-description"], ["color-contrast"]
# What is typed, and a title among the first five.
SEARCHES = {"databasepool": "DatabasePool", "rekey": "litevault rekey", "point in time": "Restoring", "kubernetes nonsense": None}


@contextlib.contextmanager
def _served(site, own):
    """The site on a port of this machine, below BASE, with pages of our own: yields its address, and the requests that failed."""
    failed = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            return super().translate_path("/" + (path[len(BASE):] if path.startswith(BASE) else "outside the site"))

        def do_GET(self):
            if self.path not in own:
                return super().do_GET()
            body = own[self.path].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def send_error(self, code, *arguments, **named):
            failed.append(f"{code} {self.path}")
            super().send_error(code, *arguments, **named)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", failed
        server.shutdown()


def _chromium(profile, address, *arguments, seconds=60):
    command = [*CHROMIUM, f"--user-data-dir={profile}", f"--virtual-time-budget={seconds * 1000}", "--enable-logging=stderr", *arguments, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def _visible(document):
    """The text of a page as the browser has it."""
    shown = re.sub(r"<(script|style|title)\b.*?</\1>", " ", document, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", shown)))


def _result(document):
    """What one of our own pages has written; None if it has not come to its end."""
    found = re.search(r'<pre id="result">(.*?)</pre>', document, re.S)
    return json.loads(html.unescape(found[1])) if found and found[1] else None


def _lighthouse(base):
    """What Lighthouse says of each page: at all widths, and of its colours in the dark."""
    addresses = [base + "planted.html", *(base + path for _, path, _ in PAGES)]
    bright = sitelighthouse.reports(CHROMIUM, addresses, WIDTHS, sitelighthouse.JUDGED + sitelighthouse.PRINTED)
    dark = sitelighthouse.reports([*CHROMIUM, *DARK], addresses, WIDTHS[:1], ["accessibility"])
    with contextlib.closing(bright), contextlib.closing(dark):

        def of_page():
            return [*((str(width), next(bright)) for width in WIDTHS), ("in the dark", next(dark))]

        planted = [(kind, wanted, sitelighthouse.faults(report)) for (kind, report), wanted in zip(of_page(), [*([FOUND] * len(WIDTHS)), FOUND_DARK])]
        yield "Lighthouse finds what is planted", [f"{kind}: {one} is not in {faults}" for kind, wanted, faults in planted for one in wanted
                                                   if not any(f"({one})" in fault for fault in faults)]
        for name, _, _ in PAGES:
            found = of_page()
            text = "; ".join(f"{kind}: {sitelighthouse.scores(report)}" for kind, report in found)
            version = found[0][1].get("lighthouseVersion", "")
            yield f"Lighthouse {version}, {name}, {text}", [f"{kind}: {fault}" for kind, report in found for fault in sitelighthouse.faults(report)]


def browse(site, articles):
    """Opens the site, prints a line per case, and returns the exit status.

    `articles` are the paths of the pages whose width is measured.
    """
    if not shutil.which("chromium"):
        install = f'. "{APT.parent}/common.sh"; . "{APT}"; apt_need chromium fonts-dejavu-core'
        subprocess.run(["bash", "-c", install], check=True)
    pictures = site.with_name(site.name + "-screenshots")
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    counts = {"passed": 0, "failed": 0, "skipped": 0}

    def case(name, faults):
        counts["failed" if faults else "passed"] += 1
        print(f"failed  {name}: {'; '.join(faults[:20])}" if faults else f"passed  {name}", flush=True)

    own = {
        BASE + "measure.html": MEASURE.replace("PATHS", json.dumps(articles)).replace("WIDTHS", json.dumps(WIDTHS)),
        BASE + "planted.html": PLANTED,
        BASE + "search.html": SEARCH.replace("START", LIBRARY + "gettingstarted/").replace("WORDS", json.dumps(list(SEARCHES))),
        # Chromium's windows have 500 pixels at least: a narrow page is shown in a frame.
        BASE + "narrow.html": '<!doctype html><body style="margin:0"><script>document.write(`<iframe style="border:0;width:390px;height:1400px" '
                              'src="${decodeURIComponent(location.hash.slice(1)) || "."}"></iframe>`)</script>',
    }
    with tempfile.TemporaryDirectory() as profile, _served(site, own) as (address, failed):
        for name, path, wanted in PAGES:
            failed.clear()
            done = _chromium(profile, address + BASE + path, "--dump-dom", seconds=5)
            text = _visible(done.stdout)
            faults = [f"'{one}' is not in the page" for one in wanted if one not in text]
            faults += [f"request failed: {one}" for one in failed] + re.findall(r'CONSOLE[^"]*"(Uncaught[^"]*)"', done.stderr)
            shots = [("1280", address + BASE + path, []), ("dark", address + BASE + path, DARK),
                     ("390", f"{address}{BASE}narrow.html#{path.replace('%', '%25')}", ["--window-size=500,1400"])]
            for kind, place, arguments in shots:
                _chromium(profile, place, f"--screenshot={pictures}/{name}-{kind}.png", *arguments, seconds=5)
                if not (pictures / f"{name}-{kind}.png").exists():
                    faults.append(f"no screenshot {kind}")
            case(name, faults)
        measured = _result(_chromium(profile, address + BASE + "measure.html", "--dump-dom", seconds=600).stdout)
        case(f"{len(articles)} pages fit into {' and '.join(map(str, WIDTHS))} pixels",
             measured["faults"] if measured and measured["measured"] == len(articles) * len(WIDTHS) else ["it did not come to its end"])
        found = _result(_chromium(profile, address + BASE + "search.html", "--dump-dom").stdout)
        case("search", [f"'{words}' finds {found and found.get(words)}" for words, title in SEARCHES.items()
                        if not found or (title is None) != (not found[words]) or (title and title not in found[words])])
        try:
            for name, faults in _lighthouse(address + BASE):
                case(name, faults)
        except sitelighthouse.Missing as error:
            counts["skipped"] += 1
            print(f"skipped  Lighthouse: {error}")
    print(f"screenshots: {pictures}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0
