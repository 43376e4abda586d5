"""Opens the website of ci/site in a real browser. What is looked for is what a person would look for first."""

import contextlib
import functools
import html
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

APT = pathlib.Path(__file__).resolve().parent / "apt.sh"
# A path that no page expects, with a directory that is also one of the site's own.
BASE = "/some/documentation/1.0/"
# The same where pages may not run scripts.
SANDBOX = "/sandbox/"
# The same with a script that follows a link inside DocC's application, and one of the header, which leaves it.
CLICKS = "/clicks/", b"""<script>
setTimeout(() => document.querySelector("main a[href$='/litevault/concurrency']").click(), 4000)
setTimeout(() => [...document.querySelector("custom-header").shadowRoot.querySelectorAll("a")].pop().click(), 8000)
</script>"""
CLICKED = "documentation/litevault/databasepool/"
NARROW, DARK = ["--window-size=500,1400"], ["--blink-settings=preferredColorScheme=0"]
# Name, address, what has to be in the page's text, and further arguments of the browser. "-plain": without scripts;
# "-clicks": after the clicks.
CASES = [
    ("index", "", ["LiteVault", "Getting started", "litevault snapshot", "LiteVaultBackup"], []),
    ("index-narrow", "", ["LiteVault"], NARROW),
    ("index-dark", "", ["LiteVault"], DARK),
    ("symbol", "documentation/litevault/databasepool/", ["DatabasePool", "one connection writes", "let pool = try DatabasePool"], []),
    ("symbol-without-slash", "documentation/litevault/databasepool", ["DatabasePool", "one connection writes"], []),
    ("operator", "documentation/litevault/!%3D(_:_:)/", ["!=(_:_:)"], []),
    ("article", "documentation/litevault/gettingstarted/", ["Getting started", "Open an encrypted database", "swift package init"], []),
    ("article-dark", "documentation/litevault/gettingstarted/", ["Getting started"], DARK),
    ("article-narrow", "documentation/litevault/gettingstarted/", ["Getting started"], NARROW),
    ("command", "documentation/commands/key-add/", ["litevault key add", "--new-key-file", "--kind recovery"], []),
    ("command-narrow", "documentation/commands/key-add/", ["litevault key add", "--new-key-file"], NARROW),
    ("command-plain", "documentation/commands/key-add/", ["litevault key add", "--new-key-file", "--kind recovery"], []),
    ("symbol-plain", "documentation/litevault/databasepool/", ["DatabasePool", "let pool = try DatabasePool"], []),
    ("symbol-clicks", "documentation/litevault/databasepool/", ["Commands of litevault", "Reading and comparing"], []),
    ("article-plain", "documentation/litevault/gettingstarted/", ["Getting started", "swift package init"], []),
]


@contextlib.contextmanager
def _served(site):
    """The site on a port of this machine, below BASE: yields the address of the server, and a list of the requests that failed."""
    failed = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            below = next((path[len(base):] for base in (BASE, SANDBOX, CLICKS[0]) if path.startswith(base)), "outside the site")
            return super().translate_path("/" + below)

        def send_header(self, name, value):
            if name == "Content-Length" and self.path == CLICKS[0] + CLICKED:
                value = str(int(value) + len(CLICKS[1]))
            super().send_header(name, value)

        def end_headers(self):
            if self.path.startswith(SANDBOX):
                self.send_header("Content-Security-Policy", "sandbox")
            super().end_headers()

        def copyfile(self, source, target):
            super().copyfile(source, target)
            if self.path == CLICKS[0] + CLICKED:
                target.write(CLICKS[1])

        def send_error(self, code, *arguments, **named):
            failed.append(f"{code} {self.path}")
            super().send_error(code, *arguments, **named)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", failed
        server.shutdown()


def _chromium(profile, address, *arguments):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
    command += ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--window-size=1280,1400"]
    command += [f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--enable-logging=stderr", *arguments, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def _visible(document):
    """The text of a page as the browser has it, without scripts; without what is for browsers that cannot run them."""
    shown = re.sub(r"<(script|style|title)\b.*?</\1>", " ", document, flags=re.S)
    if re.search(r'<div[^>]* id="app"[^>]*>\s*<div', shown):
        shown = re.sub(r"<noscript\b.*?</noscript>", " ", shown, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", shown)))


def browse(site):
    """Opens the site, prints a line per case, and returns the exit status."""
    if not shutil.which("chromium"):
        install = f'. "{APT.parent}/common.sh"; . "{APT}"; apt_need chromium fonts-dejavu-core'
        subprocess.run(["bash", "-c", install], check=True)
    pictures = site.with_name(site.name + "-screenshots")
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    bad = 0
    with tempfile.TemporaryDirectory() as profile, _served(site) as (address, failed):
        for name, path, wanted, arguments in CASES:
            failed.clear()
            path = {"plain": SANDBOX, "clicks": CLICKS[0]}.get(name.rpartition("-")[2], BASE) + path
            done = _chromium(profile, address + path, "--dump-dom", *arguments)
            text = _visible(done.stdout)
            faults = [f"'{one}' is not in the page" for one in wanted if one not in text]
            faults += [f"request failed: {one}" for one in failed]
            faults += re.findall(r'CONSOLE[^"]*"(Uncaught[^"]*)"', done.stderr)
            _chromium(profile, address + path, f"--screenshot={pictures}/{name}.png", *arguments)
            if not (pictures / f"{name}.png").exists():
                faults.append("no screenshot")
            print(f"failed  {name}: {'; '.join(faults)}" if faults else f"passed  {name}", flush=True)
            bad += bool(faults)
    print(f"screenshots: {pictures}")
    print(f"{len(CASES) - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(browse(pathlib.Path(sys.argv[1])))
