#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Replays the sessions of Markdown files and compares what the program prints.

usage: readme_session.py RDMALAB FILE.md...

A session is a fenced block that begins with "$ rdmalab".  After such a line comes what the command
prints.  If that has prompts ("t=0 #0> host h1"), the lines behind them are fed to the program's
standard input, and --prompt makes it print prompt and line as on a terminal.  A line "..." stands
for any number of lines, also none.  Sessions run in a directory of their own, beside links to
scenarios/ and book/.  Each command and each prompt is one check.
"""
import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```\w*\n(\$ rdmalab\b.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^t=\S+ #\d+(?: of #\d+)?> ?(.*)$")
TIMEOUT_S = 20
LINKED = ["scenarios", "book"]


def commands_of(block):
    """[(words of the command, lines that it prints)]"""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line[2:]), []))
        else:
            found[-1][1].append(line)
    return found


def by_prompt(lines):
    """Cuts what a session printed: [[lines before the first prompt], [prompt, its lines], ...]"""
    parts = [[]]
    for line in lines:
        if PROMPT.match(line):
            parts.append([])
        parts[-1].append(line.rstrip())
    if len(parts) > 1 and len(parts[-1]) == 1 and not PROMPT.match(parts[-1][0])[1]:
        parts.pop()  # the prompt at which the session ends
    return parts


def matches(wanted, got):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def run(rdmalab, words, typed, directory):
    options = ["--prompt"] if typed else []
    result = subprocess.run([rdmalab, *words[1:], *options], input="".join(t + "\n" for t in typed),
                            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=TIMEOUT_S, check=False)
    return result.stdout.splitlines()


def replay(rdmalab, words, wanted_lines, directory):
    """Runs one command; yields (wanted lines, printed lines) for each part of its output."""
    wanted = by_prompt(wanted_lines)
    typed = [PROMPT.match(part[0])[1] for part in wanted[1:]]
    got = by_prompt(run(rdmalab, words, typed, directory))
    for i in range(max(len(wanted), len(got))):
        yield (wanted[i] if i < len(wanted) else []), (got[i] if i < len(got) else [])


def check_file(rdmalab, path, root):
    passed = failed = 0
    for block in FENCE.findall(path.read_text()):
        with tempfile.TemporaryDirectory() as directory:
            for name in LINKED:
                pathlib.Path(directory, name).symlink_to(root / name)
            for words, wanted_lines in commands_of(block):
                for wanted, got in replay(rdmalab, words, wanted_lines, directory):
                    if matches(wanted, got):
                        passed += 1
                        continue
                    failed += 1
                    print(*difflib.unified_diff(wanted, got, f"{path} says", "rdmalab prints",
                                                lineterm=""), sep="\n")
    if passed + failed == 0:
        print(f"{path}: no session found")
        failed = 1
    return passed, failed


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rdmalab = str(pathlib.Path(sys.argv[1]).resolve())
    root = pathlib.Path(__file__).resolve().parents[2]
    counts = [check_file(rdmalab, pathlib.Path(name), root) for name in sys.argv[2:]]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
