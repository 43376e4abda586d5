"""What a green ci/test means: the judgement of runs in report.py, held by cases of each kind. ci/lint runs it."""
import json
import pathlib
import tempfile
import unittest

import report

SKIPS = "sqlite | Suite.A/skipped | no encryption\nall | Suite.A/broken | no server here\nsqlite | Program/two | no tool\nsqlite | Suite.A/gone | long ago\n"


class Judgement(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.expected = report.Expected(self.file("skips", SKIPS), "sqlite")

    def file(self, name, text):
        path = pathlib.Path(self.directory.name) / name
        path.write_text(text, encoding="utf-8")
        return path

    def swift(self, *events, status=0, tests=("skipped", "broken", "good")):
        """A run of these tests of suite Suite.A: events are (kind, test) or (kind, test, more)."""
        lines = [{"kind": "test", "payload": {"id": f"Suite.A/{name}()", "kind": "function"}} for name in tests]
        for kind, test, *more in events:
            lines.append({"kind": "event", "payload": {"kind": kind, "testID": test and f"Suite.A/{test}()", **(more[0] if more else {})}})
        return report.SwiftRun(self.file("events", "\n".join(map(json.dumps, lines)) + "\n"), status)

    @staticmethod
    def ran(*names):
        return [(kind, name) for name in names for kind in ("testStarted", "testEnded")]

    ISSUE = {"issue": {"isKnown": False}, "messages": [{"text": "it broke"}]}
    SKIP = {"messages": [{"text": "Test skipped: \"no encryption\""}]}
    END = ("runEnded", None)

    def test_a_failure_of_a_listed_test_fails(self):
        run = self.swift(*self.ran("skipped", "good"), ("testStarted", "broken"), ("issueRecorded", "broken", self.ISSUE), ("testEnded", "broken"), self.END)
        passed, failures, allowed = self.expected.judge(run)
        self.assertEqual((passed, failures, allowed), (["Suite.A/good", "Suite.A/skipped"], ["Suite.A/broken: it broke"], []))

    def test_a_listed_skip_is_excused_and_another_is_not(self):
        run = self.swift(*self.ran("broken"), ("testSkipped", "skipped", self.SKIP), ("testSkipped", "good", self.SKIP), self.END)
        passed, failures, allowed = self.expected.judge(run)
        self.assertEqual((passed, failures), (["Suite.A/broken"], ["skipped, and not on the list: Suite.A/good: no encryption"]))
        self.assertEqual(allowed, ["sqlite: skipped, as expected: Suite.A/skipped: no encryption [no encryption]"])
        self.assertEqual(self.expected.unused(), ["Program/two", "Suite.A/broken", "Suite.A/gone"])

    def test_a_process_that_dies_fails_with_the_tests_that_it_took_along(self):
        run = self.swift(*self.ran("skipped"), ("testStarted", "broken"), status=139)
        passed, failures, _ = self.expected.judge(run)
        self.assertEqual(passed, ["Suite.A/skipped"])
        self.assertEqual(failures, [
            "the run did not end: the test process died, or never began",
            "Suite.A/broken: began and never ended: the test process died", "Suite.A/good: never ran",
        ])

    def test_a_status_that_no_test_explains_fails(self):
        _, failures, _ = self.expected.judge(self.swift(*self.ran("skipped", "broken", "good"), self.END, status=1))
        self.assertEqual(failures, ["swift test ended with status 1, though no test failed"])
        self.assertEqual(self.swift(self.END, tests=()).faults, ["no test was found"])

    def program(self, text, status=0):
        return self.expected.judge(report.ProgramRun("Program", self.file("output", text), status))

    def test_cases_of_a_program_are_judged_alike(self):
        self.assertEqual(
            self.program("passed  one\nskipped  two: no tool\n1 passed, 0 failed, 1 skipped\n"),
            (["Program/one"], [], ["sqlite: skipped, as expected: Program/two: no tool [no tool]"]))
        self.assertEqual(self.program("failed  two: no tool\n0 passed, 1 failed, 0 skipped\n", 1)[1], ["Program/two: no tool"])

    def test_a_program_that_ends_early_fails(self):
        self.assertEqual(self.program("passed  one\n")[1], ["Program ended early: passed  one"])
        self.assertEqual(self.program("passed  one\n1 passed, 0 failed, 0 skipped\n", 1)[1], ["Program ended with status 1, though no case failed"])


if __name__ == "__main__":
    unittest.main()
