#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks that every block of YAML in README.md, book/ and action.yml can be copied into a file and parsed.

usage: yaml_in_docs.py [FILE...]
       yaml_in_docs.py --self-test

Parses with python3-yaml.  Without that package it looks for the mistake that is easily made: a plain
value of one line with ": " or " #" that the writer did not mean as YAML.  Prints the place of each error.
"""
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```ya?ml\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"^\s*(?:- )?[\w.$-]+: +(?![\"'|>\[{&*!#])(.*?)(?: +#.*)?$")


def first_error(text, parses=yaml):
    """Returns (line, reason) of the first error of @text, or None.  Lines count from 1."""
    if parses:
        try:
            parses.safe_load(text)
        except parses.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            return (mark.line + 1 if mark else 1), getattr(error, "problem", None) or str(error)
        return None
    for number, line in enumerate(text.split("\n"), 1):
        plain = PLAIN.match(line)
        if plain and (": " in plain[1] or plain[1].endswith(":")):
            return number, "a plain value has a colon before a space: quote it"
    return None


def blocks_of(path):
    """Yields (line before the block, text) for each block of @path."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        yield 0, text
        return
    for block in FENCE.finditer(text):
        yield text.count("\n", 0, block.start()) + 1, re.sub(f"^{block[1]}", "", block[2], flags=re.MULTILINE)


def self_test():
    good = '- run: "a : b"\n- run: |\n    a : b\n- uses: x@v1\n- run: a:b c   # d\n'
    for parses in {yaml, None}:
        if first_error(good, parses) or not first_error("- run: one\n- run: a h1 : b\n", parses):
            return "the parser does not tell good from bad"
        if first_error("- run: one\n- run: a h1 : b\n", parses)[0] != 2:
            return "the line of an error is wrong"
    return None


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    wrong = self_test()
    n = failed = 0
    for path in [pathlib.Path(name) for name in sys.argv[1:]] or [ROOT / "README.md", ROOT / "action.yml", *sorted(ROOT.glob("book/*.md"))]:
        for before, text in blocks_of(path):
            error = first_error(text)
            n += 1
            if error:
                failed += 1
                print(f"{path}:{before + error[0]}: no YAML: {error[1]}")
    if wrong:
        print(f"self-test: {wrong}")
    print(f"{n - failed} passed, {failed} failed")
    return 1 if failed or wrong or not n else 0


if __name__ == "__main__":
    sys.exit(main())
