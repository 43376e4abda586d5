"""What a running schedule serves by HTTP: /health and /metrics, and what clients cannot do to it."""
# hazard: H-JOB-16
# hazard: H-SEC-30
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

from faults.report import expect

from .box import Box, Database, until

LIMIT = 2


def run(report, settings, folder):
    def bound(name, body):
        def case():
            box = Box(settings, folder, name=name, follow={"interval": "100ms", "lag-limit": f"{LIMIT}s"})
            box.port = free_port()
            box.heads = [f"listen: {box.port}"]
            reconfigure(box)
            try:
                return body(settings, box)
            finally:
                box.remove()
        return case
    report.cases([
        ("H-JOB-16 health is green only with what was observed, red while the store is gone, and green again", bound("observed", observed)),
        ("metrics have the lag of this moment, and the text format's type", bound("metrics", metrics)),
        ("a database without a log, and a job that fails, are red with the reason", bound("reasons", reasons)),
        ("H-SEC-30 silent, slow, endless and wrong clients get little, and others an answer at once", bound("hostile", hostile)),
        ("many clients at once are all answered or turned away, and leave no descriptor behind", bound("many", many)),
        ("an address that is in use or not ours is an error, and so is port 0", bound("busy", busy)),
        ("a reload moves the server, keeps it if it cannot, and ends it", bound("reload", reload)),
        ("a port alone listens on the loopback interface only", bound("loopback", loopback)),
    ])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def reconfigure(box, **job):
    box.configure([dict({"name": "app", "sources": "db/*.db", "every": "1h", "retry": "1s"}, **job)],
                  {"interval": "100ms", "lag-limit": f"{LIMIT}s"}, box.heads)


def get(box, path="/health", method="GET", port=None):
    """Status, headers, and text."""
    connection = http.client.HTTPConnection("127.0.0.1", port or box.port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def health(box):
    status, _, text = get(box)
    said = json.loads(text)
    expect(said["schema"] == 1 and said["healthy"] is (status == 200) and bool(said["reasons"]) is (status == 503), said)
    return said


def is_refused(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def answering(box):
    def is_there():
        expect(box.child.poll() is None, lambda: f"it ended with {box.child.returncode}: {box.tail()}")
        return not is_refused(box.port)
    until("an answer", is_there)


def green(box):
    said = {}

    def is_green():
        said.update(health(box))
        return said["healthy"] and said
    return until(lambda: f"green: {said} {box.tail()}", is_green)


def observed(settings, box):
    db = Database(box.path("db/app.db"))
    box.start()
    answering(box)
    answers = []
    while not (answers and answers[-1]["healthy"]):
        answers.append(health(box))
        expect(len(answers) < 3000, lambda: f"never green: {answers[-1]}")
        time.sleep(0.02)
    expect(not answers[0]["healthy"], f"green at once: {answers[0]}")
    one = answers[-1]["jobs"][0]["followers"][0]
    expect(one["state"] == "following" and one["lag_seconds"] is not None and one["last_look"], one)
    db.commit()
    away = box.repository + ".away"
    os.rename(box.repository, away)
    db.commit()
    red = until(lambda: health(box), lambda: not health(box)["healthy"] and health(box))
    expect("app.db" in red["reasons"][0] and red["jobs"][0]["followers"][0]["reason"], red)
    lag = until("a lag above the limit", lambda: (lag := health(box)["jobs"][0]["followers"][0]["lag_seconds"]) > LIMIT and lag)
    os.rename(away, box.repository)
    again = green(box)["jobs"][0]["followers"][0]
    expect(again["lag_seconds"] <= LIMIT < lag, again)
    box.stop()
    expect(is_refused(box.port), "it still listens")
    expect(box.restored() == 2, "not what was committed")
    db.close()


def metrics(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    green(box)
    db.commit()
    status, headers, text = get(box, "/metrics?x=1")
    expect(status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", headers)
    expect(int(headers["Content-Length"]) == len(text.encode()) and headers["Connection"] == "close", headers)
    value = re.search(r'^litevault_follower_lag_seconds\{job="app",database="app.db"\} ([0-9.e-]+)$', text, re.M)
    expect(value and 0 <= float(value[1]) < 60, text)
    looked = re.search(r"^litevault_follower_last_look_timestamp_seconds\{.*\} ([0-9.]+)$", text, re.M)
    # The file has it to the minute.
    expect(abs(time.time() - float(looked[1])) < 30 and "litevault_job_runs_total" in text, text)
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    expect(len(names) == len(set(names)), names)
    with open(box.path("metrics.prom")) as file:
        in_file = {line.split()[2] for line in file if line.startswith("# TYPE")}
    expect(in_file <= set(names), in_file - set(names))
    # ScheduleTests compares these with the article; others may have got their first value meanwhile.
    expect({"litevault_follower_lag_seconds", "litevault_follower_waiting_segments"} <= set(names) - in_file, names)
    head, headers, nothing = get(box, "/metrics", "HEAD")
    expect(head == 200 and nothing == "" and int(headers["Content-Length"]) > 1000, headers)
    expect("# HELP" in text and settings.tool not in text and box.folder not in text, text)
    box.stop()
    db.close()


def reasons(settings, box):
    db = Database(box.path("db/app.db"))
    rollback = Database(box.path("db/rollback.db"), wal=False)
    box.start()
    answering(box)
    until(lambda: health(box), lambda: any("rollback.db: the log is not followed" in one for one in health(box)["reasons"]))
    followers = {one["database"]: one for one in health(box)["jobs"][0]["followers"]}
    until(lambda: health(box), lambda: health(box)["jobs"][0]["followers"][0]["healthy"])
    expect(followers["rollback.db"]["lag_seconds"] is None, followers)
    box.stop()
    rollback.close()
    os.unlink(box.path("db/rollback.db"))
    # What is wrong with a run counts, whatever the followers do.
    reconfigure(box, hooks={"before": "exit 3"}, every="1s")
    box.start()
    answering(box)
    until(lambda: health(box), lambda: any("the last run had 1 failure: hook" in one for one in health(box)["reasons"]))
    box.stop()
    db.close()


def hostile(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    green(box)
    silent = [socket.create_connection(("127.0.0.1", box.port)) for _ in range(60)]
    deaf = socket.create_connection(("127.0.0.1", box.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    deaf.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    begun = time.monotonic()
    expect(health(box)["healthy"], "red because of clients")
    expect(time.monotonic() - begun < 5, "others wait for clients that are silent")

    def answer(*parts, pause=0.0):
        with socket.create_connection(("127.0.0.1", box.port), timeout=15) as client:
            try:
                for part in parts:
                    client.sendall(part)
                    time.sleep(pause)
                client.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            said = b""
            try:
                while more := client.recv(65536):
                    said += more
            except OSError:
                pass
            return said.split(b"\r\n")[0].decode(errors="replace")
    wrong = {
        b"POST /health HTTP/1.1\r\n\r\n": "405", b"DELETE / HTTP/1.0\n\n": "405", b"GET /secret HTTP/1.1\r\n\r\n": "404",
        b"GET /../../etc/passwd HTTP/1.1\r\n\r\n": "404", b"GET http://x/health HTTP/1.1\r\n\r\n": "400",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n": "400", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": "400",
        b"\r\n\r\n": "400", b"GET /health\r\n\r\n": "400", b"GET /health HTTP/1.1 HTTP/1.1\r\n\r\n": "400",
        b"GET /h\x00 HTTP/1.1\r\n\r\n": "400", b"GET /health HTTP/1.1\r\nX: " + b"y" * 9000 + b"\r\n\r\n": "431",
        b"GET /health HTTP/1.1\r\n" + b"a: b\r\n" * 30_000: "431", b"G" * 300_000: "431",
        b"GET /health HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n" + b"z" * 30_000: "200",
        b"GET /health HTTP/1.1\n\n": "200",
    }
    for request, status in wrong.items():
        said = answer(request)
        expect(f" {status} " in said, f"{request[:60]!r}: {said!r} instead of {status}")
    # A byte at a time is too slow, and the connection ends.
    begun = time.monotonic()
    slow = answer(*[bytes([byte]) for byte in b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 30], pause=0.1)
    expect(slow == "" and time.monotonic() - begun < 60, f"{slow!r}")
    for client in silent + [deaf]:
        client.close()
    last = db.commit()
    expect(health(box)["healthy"] and box.child.poll() is None, box.tail)
    box.stop()
    expect(box.restored() == last, "clients have kept commits from the store")
    db.close()


def many(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    green(box)

    def descriptors():
        return sum(os.readlink(f"/proc/{box.child.pid}/fd/{name}").startswith("socket:") for name in os.listdir(f"/proc/{box.child.pid}/fd"))
    before = descriptors()
    answered = 0
    for _ in range(20):
        clients = [socket.create_connection(("127.0.0.1", box.port), timeout=10) for _ in range(30)]
        for client in clients:
            try:
                client.sendall(b"GET /health HTTP/1.1\r\n\r\n")
            except OSError:
                pass
        for client in clients:
            try:
                answered += client.recv(9) == b"HTTP/1.1 "
            except OSError:
                pass
            client.close()
    expect(answered >= 100, f"{answered} of 600 were answered")
    until(descriptors, lambda: descriptors() <= before)
    expect(health(box)["healthy"], box.tail)
    box.stop()
    db.close()
    return f"{answered} of 600 were answered"


def failure(settings, box, *arguments, status):
    done = subprocess.run([settings.tool, "schedule", "run", box.config, "--json", *arguments], capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=box.environment())
    expect(done.returncode == status, f"{arguments}: {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stderr.splitlines()[-1])["error"]


def busy(settings, box):
    db = Database(box.path("db/app.db"))
    with socket.create_server(("127.0.0.1", box.port)):
        said = failure(settings, box, status=75)
        expect(said["code"] == "busy" and f"127.0.0.1:{box.port}" in said["message"] and "listen" in said["remedy"], said)
    said = failure(settings, box, "--listen", f"192.0.2.77:{box.port}", status=78)
    expect("does not have the address" in said["message"], said)
    for text, why in [("0", "port 0"), ("70000", "65535"), ("x", "not a port"), ("example.org:80", "not an address"),
                      ("::1:80", "not a port"), (":80", "not a port"), ("[::1]", "not a port"), ("", "not a port")]:
        said = failure(settings, box, "--listen", text, status=64)
        expect(why in said["message"], said)
        box.heads = [f"listen: {json.dumps(text)}"]
        reconfigure(box)
        said = failure(settings, box, status=78)
        expect(why in said["message"] or not text, said)
    expect(not os.path.exists(box.repository), "something ran")
    # What is given on the command line counts.
    box.heads = ["listen: 1"]
    reconfigure(box)
    box.child = subprocess.Popen([settings.tool, "schedule", "run", box.config, "--listen", f"localhost:{box.port}", "--json"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=box.environment())
    box.log = open(os.devnull, "wb")
    open(box.path("log"), "ab").close()
    answering(box)
    box.stop()
    db.close()


def reload(settings, box):
    db = Database(box.path("db/app.db"))
    box.start().following()
    green(box)
    first, second = box.port, free_port()
    box.heads = [f"listen: {second}"]
    reconfigure(box)
    box.child.send_signal(signal.SIGHUP)
    box.port = second
    answering(box)
    green(box)
    until("the former port to be free", lambda: is_refused(first))
    with socket.create_server(("127.0.0.1", first)):
        box.heads = [f"listen: {first}"]
        reconfigure(box)
        box.child.send_signal(signal.SIGHUP)
        until(box.tail, lambda: any("the configuration is kept as it was: cannot serve" in line["message"] for line in box.logged()))
        green(box)
    box.heads = []
    reconfigure(box)
    box.child.send_signal(signal.SIGHUP)
    until("the port to be free", lambda: is_refused(second))
    box.following()
    box.stop()
    db.close()


def loopback(settings, box):
    db = Database(box.path("db/app.db"))
    box.start()
    answering(box)
    shown = []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as file:
            shown += [line.split()[1] for line in file if line.split()[1].endswith(f":{box.port:04X}") and line.split()[3] == "0A"]
    expect(shown == [f"0100007F:{box.port:04X}"], shown)
    box.stop()
    db.close()
