"""What a run of tests did, judged against the list of what may be skipped.

A run is either the file written by `--event-stream-output-path` of a program of Swift tests (one JSON object per line), or the output of
Tests/NAME/run: "passed|failed|skipped  CASE: DETAIL" per case. The events are read instead of the console or the xUnit file because
only they tell a known issue and a cancelled test from a passed one, and a test that began and never ended (the process died) from one
that was not there.

ci/expected-skips.txt holds what is expected: "ENGINE | TEST | REASON" per line, where TEST is a test's identifier as printed here, or
that of a whole suite when the suite itself is what is skipped.
"""
import json
import re
import sys


class SwiftRun:
    """The event stream of Swift Testing."""

    def __init__(self, path, status):
        self.names, self.suites = {}, {}  # identifier in the stream -> printed identifier
        self.skipped, self.known, self.failed = {}, {}, {}
        self.started, self.ended, self.finished = set(), set(), False
        self.faults = []  # failures outside any test
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the last line of a process that died
                if record["kind"] == "test":
                    test = record["payload"]
                    kind = self.suites if test["kind"] == "suite" else self.names
                    kind[test["id"]] = readable(test["id"])
                else:
                    self.event(record["payload"])
        if not self.names:
            self.faults.append("no test was found")
        if not self.finished:
            self.faults.append("the run did not end: the test process died, or never began")
        elif status != 0 and not self.failed and not self.faults:
            self.faults.append(f"swift test ended with status {status}, though no test failed")

    def event(self, event):
        kind, test = event["kind"], event.get("testID")
        texts = [message["text"] for message in event.get("messages", [])]
        if kind == "runEnded":
            self.finished = True
        elif kind == "testStarted":
            self.started.add(test)
        elif kind == "testEnded":
            self.ended.add(test)
            if test in self.skipped and texts:  # cancelled: the reason comes with the end
                self.skipped[test] = reason(texts[0])
        elif kind == "testSkipped":
            self.skipped[test] = reason(texts[0] if texts else "")
        elif kind == "testCancelled":
            self.skipped[test] = "cancelled"
        elif kind == "issueRecorded":
            issue, where = event["issue"], event["issue"].get("sourceLocation")
            text = "; ".join(texts) + (f" ({where['fileID']}:{where['line']})" if where else "")
            if issue["isKnown"]:
                self.known.setdefault(test, []).append(text)
            elif issue.get("isFailure", True):
                if test is None:
                    self.faults.append(f"outside any test: {text}")
                else:
                    self.failed.setdefault(test, []).append(text)

    def outcomes(self):
        """(name, what, why, names under which the list may have it) of every test function."""
        for test, name in sorted(self.names.items(), key=lambda item: item[1]):
            # A suite's entry covers its tests only while the suite itself is what is skipped.
            suites = [self.suites[suite] for suite in self.suites if suite in self.skipped and test.startswith(suite + "/")]
            if test in self.failed:
                yield name, "failed", " / ".join(self.failed[test]), [name]
            elif test in self.skipped:
                yield name, "skipped", self.skipped[test], [name, *suites]
            elif test in self.known:
                yield name, "known issue", " / ".join(self.known[test]), [name]
            elif test in self.ended:
                yield name, "passed", "", []
            elif test in self.started:
                yield name, "failed", "began and never ended: the test process died", [name]
            else:
                yield name, "failed", "never ran", [name]


class ProgramRun:
    """The output of Tests/NAME/run."""

    CASE = re.compile(r"^ *(passed|failed|skipped)  (.*)$")
    CLOSING = re.compile(r"^\d+ passed, \d+ failed, \d+ skipped$")

    def __init__(self, name, path, status):
        self.name, self.faults = name, []
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        self.cases = [match.groups() for match in map(self.CASE.match, lines) if match]
        if not lines or not self.CLOSING.match(lines[-1]):
            self.faults.append(f"{name} ended early: {lines[-1] if lines else 'it printed nothing'}")
        elif status != 0 and not any(what == "failed" for what, _ in self.cases):
            self.faults.append(f"{name} ended with status {status}, though no case failed")

    def outcomes(self):
        for what, text in self.cases:
            # Where the name ends and the detail begins is unknown: any part up to a colon may be on the list.
            parts = text.split(": ")
            names = [f"{self.name}/{': '.join(parts[:count])}" for count in range(len(parts), 0, -1)]
            yield names[0], what, "", [] if what == "passed" else names


def readable(identifier):
    """Module.Suite/`name`()/File.swift:3:4 -> Module.Suite/name"""
    text = re.sub(r"/[^/]+\.swift:\d+:\d+$", "", identifier)
    return re.sub(r"`([^`]*)`", r"\1", text).removesuffix("()")


def reason(text):
    quoted = re.search(r': "(.*)"$', text, re.S)
    return quoted.group(1) if quoted else text


class Expected:
    """What may be skipped on an engine, and which entries occurred."""

    def __init__(self, path, engine):
        self.engine, self.entries, self.used = engine, {}, set()
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                cells = [cell.strip() for cell in line.split(" | ", 2)]
                if len(cells) != 3 or not all(cells):
                    sys.exit(f"{path}:{number}: not 'ENGINE | TEST | REASON': {line.strip()}")
                if cells[0] in (engine, "all"):
                    self.entries[cells[1]] = cells[2]

    def judge(self, run):
        """(names that passed, failures, what was skipped as expected), of a SwiftRun or ProgramRun. A failure is never expected."""
        passed, failures, allowed = [], list(run.faults), []
        for test, what, why, names in run.outcomes():
            listed = next((known for known in names if known in self.entries), None)
            text = f"{test}: {why}" if why else test
            if what == "passed":
                passed.append(test)
            elif listed and what != "failed":
                self.used.add(listed)
                allowed.append(f"{self.engine}: {what}, as expected: {text} [{self.entries[listed]}]")
            else:
                failures.append(text if what == "failed" else f"{what}, and not on the list: {text}")
        return passed, failures, allowed

    def unused(self):
        return sorted(set(self.entries) - self.used)
