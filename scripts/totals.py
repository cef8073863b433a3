"""Prints `N passed, N failed, N skipped` over the reports of scripts/test; the exit code is 1 when something failed.

usage: totals.py REPORTS, the folder with ctest.xml (ctest --output-junit) and what GoogleTest wrote (GTEST_OUTPUT=json:REPORTS/)

A GoogleTest program that is registered in ctest once, under its own name, counts with its cases: it left NAME.json.
Any other test, and a program that died before it could write, counts as one, by ctest's check.
"""
import collections
import json
import pathlib
import sys
import xml.etree.ElementTree


def by_ctest(test):
    """ctest's check. A test that could not run (its program is missing, say) has failed, unless it was meant to be skipped."""
    check = {"run": "passed", "fail": "failed", "disabled": "skipped"}.get(test.get("status"))
    if check is None:  # notrun
        check = "skipped" if test.find("skipped").get("message").startswith("SKIP_") else "failed"
    return check


def by_gtest(report):
    """The check_results on the cases that a GoogleTest program ran."""
    for suite in json.loads(report.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            if case["status"] == "RUN":
                yield "failed" if "failures" in case else "skipped" if case["result"] == "SKIPPED" else "passed"


reports = pathlib.Path(sys.argv[1])
totals = collections.Counter()
for test in xml.etree.ElementTree.parse(reports / "ctest.xml").findall("testcase"):
    check = by_ctest(test)
    report = reports / f"{test.get('name')}.json"
    check_results = list(by_gtest(report)) if report.exists() else [check]
    if check == "failed" and "failed" not in check_results:  # every case passed and the program failed nevertheless: at its end
        check_results.append("failed")
    totals.update(check_results)

print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
sys.exit(totals["failed"] > 0)
