#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the pages that follow from rows, scenarios and tests.

usage: write_docs.py [PAGE...] [--check]
       write_docs.py [PAGE...] --self-test

PAGE is behaviours (book/conformance.md, src/cli/explain/shown.def), rfc (book/rfc.md), pvrdma (book/pvrdma.md), calls (book/calls.md),
security (the table of book/security.md) or dissector (data/o2iblnd.lua);
without one, all.
--check writes nothing and says what is not current, and what is wrong with the rows.  --self-test also
tests pages/checks.py, the page docs/checks.md, which tools/green.py writes.
"""
import importlib
import pathlib
import sys

from pages.page import Wrong, check, put

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("behaviours", "rfc", "pvrdma", "calls", "security", "dissector")
TESTED = (*PAGES, "checks")


def counted(found):
    """Prints the problems of @found, of which None is none; returns the exit status."""
    wrong = [problem for problem in found if problem]
    print(*wrong, f"{len(found) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


def main():
    args = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    options = [arg for arg in sys.argv[1:] if arg.startswith("--")]
    names = TESTED if options == ["--self-test"] else PAGES
    if options not in ([], ["--check"], ["--self-test"]) or not set(args) <= set(names):
        sys.exit(__doc__)
    pages = [importlib.import_module(f"pages.{name}") for name in args or names]
    if options == ["--self-test"]:
        return counted([problem for page in pages for problem in page.self_test()])
    if options == ["--check"]:
        return counted([problem for page in pages for problem in check(page, ROOT)])
    for page in pages:
        try:
            put(ROOT, page.outputs(ROOT))
        except Wrong as wrong:
            sys.exit(f"write_docs.py: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
