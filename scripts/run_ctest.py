#!/usr/bin/env python3
"""Runs CTest and counts test cases, where CTest counts suites.

Usage: run_ctest.py BUILD_DIRECTORY [CTEST_ARGUMENT...]

A suite is a run of a Boost.Test program: its report counts its cases, and a case that cannot run here prints a line
"skipped: REASON". A suite without a report (a crash, a time limit, another kind of program) is one case. At the end stands
what each failed suite said of errors, and "N passed, N failed, N skipped". Exits with 1 if anything failed.
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

REPORT = re.compile(r"^ +(\d+) test cases? out of \d+ (passed|failed)", re.M)
SKIPPED = re.compile(r"^(?:\x1b\[[0-9;]*m)?skipped: ", re.M)
TELLING = re.compile(r"error: |ERROR: |WARNING: ThreadSanitizer|SUMMARY: |runtime error")


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(*(a + b for a, b in zip(self, other)))

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_suite(succeeded, output):
    """The counts of one suite's cases, from CTest's verdict and the suite's output."""
    passed = failed = 0
    reports = REPORT.findall(output)
    for number, result in reports:
        if result == "passed":
            passed += int(number)
        else:
            failed += int(number)
    if not reports:
        passed, failed = (1, 0) if succeeded else (0, 1)
    elif not succeeded and failed == 0:  # every case passed, and the program failed: a sanitizer's report
        passed, failed = max(passed - 1, 0), 1
    skipped = len(SKIPPED.findall(output))
    return Counts(passed - skipped, failed, skipped)


def summary(name, output):
    """A summary of a failed suite: lines that name an error, and the last ones."""
    lines = output.splitlines()
    telling = [line for line in lines[:-20] if TELLING.search(line)][:40]
    return "\n".join([f"failed: {name}", *telling, *lines[-20:]])


def read_results(junit):
    """The counts of all suites of CTest's JUnit file, and the summaries of those that failed."""
    counts, failures = Counts(), []
    for suite in ElementTree.parse(junit).getroot().iter("testcase"):
        succeeded = suite.get("status") == "run"
        # CTest writes characters that XML cannot have in its own way.
        output = (suite.findtext("system-out") or "").replace("[NON-XML-CHAR-0x1B]", "\x1b")
        # A suite that cannot run here at all ends with its SKIP_RETURN_CODE.
        left_out = suite.find("skipped") is not None and "SKIP_" in suite.find("skipped").get("message", "")
        counted = Counts(skipped=1) if left_out else count_suite(succeeded, output)
        if counted.failed:
            failures.append(summary(suite.get("name"), output))
        counts += counted
    return counts, failures


def main(directory, *arguments):
    junit = Path(directory).resolve() / "Testing" / "junit.xml"
    junit.unlink(missing_ok=True)
    whole = str(1 << 26)  # of each suite's output, bytes
    status = subprocess.run(
        ["ctest", "--test-dir", directory, "--output-on-failure", "--no-tests=error", "--timeout", "900",
         "--test-output-size-passed", whole, "--test-output-size-failed", whole,
         "--output-junit", str(junit), *arguments], check=False).returncode
    try:
        counts, failures = read_results(junit)
    except (OSError, ElementTree.ParseError) as error:
        counts, failures = Counts(), [f"ctest left no results: {error}"]
    if status != 0 and counts.failed == 0:
        counts += Counts(failed=1)
        failures.append(f"failed: ctest: exit status {status}")
    print("\n".join(failures + [str(counts)]), flush=True)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
