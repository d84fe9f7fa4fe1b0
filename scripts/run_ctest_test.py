"""Tests of run_ctest.py. Run by CTest: `python3 run_ctest_test.py`."""
import tempfile
import unittest
from pathlib import Path

import run_ctest
from run_ctest import Counts, count_suite

PASSED = "Test module has passed with:\n  7 test cases out of 7 passed\n  9 assertions out of 9 passed\n"
MIXED = ("a.cpp(3): error: in a/b: 1 != 2\nTest module has failed with:\n"
         "  2 test cases out of 3 passed\n  1 test case out of 3 failed\n")


class CountingASuite(unittest.TestCase):
    def test_a_report_counts_its_cases(self):
        self.assertEqual(count_suite(True, PASSED), Counts(7, 0, 0))

    def test_failed_cases_are_told_apart(self):
        self.assertEqual(count_suite(False, MIXED), Counts(2, 1, 0))

    def test_a_skipped_case_did_not_pass(self):
        self.assertEqual(count_suite(True, "skipped: no models\n\x1b[1mskipped: no GPU\n" + PASSED), Counts(5, 0, 2))

    def test_a_program_without_a_report_is_one_case(self):
        self.assertEqual(count_suite(True, "3 6 9 12\n"), Counts(1, 0, 0))
        self.assertEqual(count_suite(False, "Segmentation fault\n"), Counts(0, 1, 0))

    def test_a_sanitizers_report_after_cases_that_passed_is_a_failure(self):
        self.assertEqual(count_suite(False, PASSED + "SUMMARY: AddressSanitizer: 8 byte(s) leaked\n"), Counts(6, 1, 0))


class ReadingResults(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "junit.xml"
            file.write_text(text, encoding="utf-8")
            return run_ctest.read_results(file)

    def test_sums_and_summaries(self):
        counts, failures = self.read(
            f'<testsuite><testcase name="ops/shapes" status="run"><system-out>{PASSED}</system-out></testcase>'
            f'<testcase name="api/reads" status="fail"><failure message=""/><system-out>{MIXED}</system-out></testcase>'
            '<testcase name="api/gone" status="notrun"/></testsuite>')
        self.assertEqual(counts, Counts(9, 2, 0))
        self.assertEqual(len(failures), 2)
        self.assertTrue(failures[0].startswith("failed: api/reads\n"))
        self.assertIn("a.cpp(3): error: in a/b: 1 != 2", failures[0])

    def test_a_case_that_is_skipped_in_colour_is_skipped(self):
        counts, _ = self.read('<testsuite><testcase name="a" status="run"><system-out>'
                              f'[NON-XML-CHAR-0x1B][1mskipped: no models\n{PASSED}</system-out></testcase></testsuite>')
        self.assertEqual(counts, Counts(6, 0, 1))

    def test_a_suite_that_skips_itself_is_skipped(self):
        counts, failures = self.read('<testsuite><testcase name="a" status="notrun"><skipped '
                                     'message="SKIP_RETURN_CODE=77"/></testcase></testsuite>')
        self.assertEqual((counts, failures), (Counts(0, 0, 1), []))

    def test_a_long_log_is_told_by_its_errors_and_its_end(self):
        lines = ["x.cpp(1): error: early"] + [f"line {i}" for i in range(100)]
        told = run_ctest.summary("a", "\n".join(lines)).splitlines()
        self.assertEqual(told[:2], ["failed: a", "x.cpp(1): error: early"])
        self.assertEqual(told[-1], "line 99")
        self.assertEqual(len(told), 22)

    def test_a_damaged_file_raises(self):
        with self.assertRaises(run_ctest.ElementTree.ParseError):
            self.read("<testsuite><testcase")


if __name__ == "__main__":
    unittest.main()
