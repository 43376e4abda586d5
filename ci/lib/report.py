#!/usr/bin/env python3
"""report.py ENGINE EVENTS SKIPS EXIT-STATUS: what one run of `swift test` did, judged against the list of what may fail.

EVENTS is the file written by --event-stream-output-path (one JSON object per line). It is read instead of the console
or the xUnit file because only it tells a known issue and a cancelled test from a passed one, and a test that began and
never ended (the process died) from one that was not there.

SKIPS holds the skips and failures that are expected: "ENGINE | TEST | REASON" per line, where TEST is a test's
identifier as printed here, or that of a whole suite when the suite itself is what is skipped.

Prints every test that did not simply pass, with the reason, and as the last line "PASSED FAILED SKIPPED" for ci/test.
"""
import json
import re
import sys


class Run:
    def __init__(self, path):
        self.names = {}  # identifier in the stream -> printed identifier, test functions only
        self.suites = {}  # the same for suites
        self.skipped, self.known, self.failed = {}, {}, {}
        self.started, self.ended, self.finished = set(), set(), False
        self.loose = []  # failures outside any test
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the last line of a process that died
                if record["kind"] == "test":
                    self.declare(record["payload"])
                else:
                    self.event(record["payload"])

    def declare(self, test):
        kind = self.suites if test["kind"] == "suite" else self.names
        kind[test["id"]] = readable(test["id"])

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
            issue = event["issue"]
            if issue["isKnown"]:
                self.known.setdefault(test, []).append("; ".join(texts))
            elif issue.get("isFailure", True):
                if test is None:
                    self.loose.append("; ".join(texts))
                else:
                    where = issue.get("sourceLocation", {})
                    place = f" ({where.get('fileID')}:{where.get('line')})" if where else ""
                    self.failed.setdefault(test, []).append("; ".join(texts) + place)


def readable(identifier):
    """Module.Suite/`name`()/File.swift:3:4 -> Module.Suite/name"""
    text = re.sub(r"/[^/]+\.swift:\d+:\d+$", "", identifier)
    return re.sub(r"`([^`]*)`", r"\1", text).removesuffix("()")


def reason(text):
    quoted = re.search(r': "(.*)"$', text, re.S)
    return quoted.group(1) if quoted else text


def expected(path, engine):
    entries = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split(" | ", 2)]
            if len(cells) != 3 or not all(cells):
                sys.exit(f"{path}:{number}: not 'ENGINE | TEST | REASON': {line.strip()}")
            if cells[0] in (engine, "all"):
                entries[cells[1]] = cells[2]
    return entries


def main():
    engine, events, skips, status = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    run, entries, used = Run(events), expected(skips, engine), set()
    failures = [f"outside any test: {text}" for text in run.loose]
    passed = failed = allowed = 0

    def entry_of(test):
        candidates = [run.names[test]]
        # A suite's entry covers its tests only while the suite itself is what is skipped.
        candidates += [run.suites[suite] for suite in run.suites if suite in run.skipped and test.startswith(suite + "/")]
        for name in candidates:
            if name in entries:
                used.add(name)
                return entries[name]
        return None

    for test, name in sorted(run.names.items(), key=lambda item: item[1]):
        if test in run.failed:
            what, why = "failed", " / ".join(run.failed[test])
        elif test in run.skipped:
            what, why = "skipped", run.skipped[test]
        elif test in run.known:
            what, why = "known issue", " / ".join(run.known[test])
        elif test in run.ended:
            passed += 1
            continue
        elif test in run.started:
            what, why = "failed", "began and never ended: the test process died"
        else:
            what, why = "failed", "never ran"
        listed = entry_of(test)
        if listed is None:
            failed += 1
            failures.append(f"{what}, and not on the list: {name}: {why}")
        else:
            allowed += 1
            print(f"{engine}: {what}, as expected: {name}: {why} [{listed}]")

    if not run.finished:
        failures.append("the run did not end: the test process died")
    elif status != 0 and not run.failed and not run.loose:
        failures.append(f"swift test ended with status {status}, though no test failed")
    if not run.names:
        failures.append("no test was found")
    for name in sorted(set(entries) - used):
        print(f"{engine}: expected to be skipped or to fail, but was not: {name} [{entries[name]}]")
    for text in failures:
        print(f"{engine}: FAILED: {text}")
    print(passed, max(failed, 1 if failures else 0), allowed)


main()
