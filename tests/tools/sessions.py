#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Replays the sessions of README and book, and checks their pictures and the names that the documents mention.

usage: sessions.py RDMALAB [FILE.md...]
       sessions.py RDMALAB --update [FILE.md...]
       sessions.py --self-test

Without files: the sessions of README.md and book/*.md, and the names (names_in_docs.py).  With files:
their sessions alone, and the pictures that these make (pictures.py).  --update writes into the files what the program prints now; it is refused where
the environment variable CI is set.  A session that differs is printed as a unified diff, which is also
the change that --update makes.

A session is a fenced block that begins with "$ rdmalab".  After such a line comes what the command
prints.  If that has prompts ("t=0 #0> host h1"), the lines behind them are fed to the program's
standard input, and --prompt makes it print prompt and line as on a terminal.  A line "..." stands
for any number of lines, also none; --update keeps it.  Sessions run in a directory of their own,
beside links to scenarios/ and book/.  Each command and each prompt is one check.

A block that begins with a prompt continues the session before it on the page.  "```console" marks one
that is not replayed, since it needs another program or takes real time.
"""
import concurrent.futures
import contextlib
import difflib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import names_in_docs
import pictures

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n((\$ rdmalab\b|t=\S+ #\d).*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^t=\S+ #\d+(?: of #\d+)?> ?(.*)$")
ELISION = "..."
TIMEOUT_S = 20
LINKED = ["scenarios", "book"]


@dataclass
class Replayed:
    """A session, or a command of one."""
    parts: list = field(default_factory=list)  # (lines of the file, what they are now), in the order of the file
    passed: int = 0
    failed: int = 0
    problems: list = field(default_factory=list)  # an update cannot mend them
    pictures: dict = field(default_factory=dict)  # name -> bytes of those that a session has made

    def add(self, more):
        self.parts += more.parts
        self.passed += more.passed
        self.failed += more.failed
        self.problems += more.problems

    def by_block(self, blocks):
        """What each block of the session, a text, is now: lines."""
        found, at, end = [], 0, 0
        for block in blocks:
            found.append([])
            end += len(block.splitlines())
            while at < len(self.parts) and (end > 0 or block is blocks[-1]):
                old, new = self.parts[at]
                found[-1] += new
                end -= len(old)
                at += 1
        return found


def commands_of(block):
    """[[the line of the command, lines that it prints...], ...]"""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line])
        else:
            found[-1].append(line)
    return found


def by_prompt(lines):
    """Cuts what a session printed: [[lines before the first prompt], [prompt, its lines], ...]"""
    parts = [[]]
    for line in lines:
        if PROMPT.match(line):
            parts.append([])
        parts[-1].append(line.rstrip())
    return parts


def is_closing(parts):
    """The last part is the prompt at which the session ends."""
    return len(parts) > 1 and len(parts[-1]) == 1 and not PROMPT.match(parts[-1][0])[1]


def matches(wanted, got):
    pattern = "".join(r"(?:.*\n)*" if line == ELISION else re.escape(line) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def distance(wanted, got):
    """0 for equal lines, below 1 for any other two: a line is rather rewritten than dropped."""
    return 0 if wanted == got else 0.99 - 0.9 * difflib.SequenceMatcher(None, wanted, got).ratio()


def merged(wanted, got):
    """The lines of @got, but for those that an elision of @wanted hides.

    It aligns both at the least cost: a line that is dropped or added costs 1, one that is rewritten
    less, and what an elision hides nothing.
    """
    n, m = len(wanted), len(got)
    cost = [[0.0] * (m + 1) for _ in range(n + 1)]
    step = [[None] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for k in range(m + 1):
            ways = [(0.0, None)] if i == k == 0 else []
            if i and wanted[i - 1] == ELISION:
                ways.append((cost[i - 1][k], "elision begins"))
                ways += [(cost[i][k - 1], "hidden")] if k else []
            elif i:
                ways.append((cost[i - 1][k] + 1, "dropped"))
                ways += [(cost[i - 1][k - 1] + distance(wanted[i - 1], got[k - 1]), "kept")] if k else []
            if k:
                ways.append((cost[i][k - 1] + 1, "added"))
            cost[i][k], step[i][k] = min(ways, key=lambda way: way[0])
    lines, i, k = [], n, m
    while i or k:
        what = step[i][k]
        if what in ("kept", "added"):
            lines.append(got[k - 1])
        elif what == "elision begins":
            lines.append(ELISION)
        i -= what in ("kept", "dropped", "elision begins")
        k -= what in ("kept", "added", "hidden")
    return lines[::-1]


def run(rdmalab, words, typed, directory):
    """The lines that the command prints, and what is wrong or None."""
    options = ["--prompt"] if typed else []
    try:
        result = subprocess.run([rdmalab, *words[1:], *options], input="".join(t + "\n" for t in typed),
                                cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=TIMEOUT_S, check=False,
                                env={**os.environ, "XDG_STATE_HOME": str(pathlib.Path(directory, "state").absolute())})
    except subprocess.TimeoutExpired:
        return [], f"it did not end within {TIMEOUT_S} s"
    wrong = f"signal {-result.returncode} ended it" if result.returncode < 0 else None
    return result.stdout.splitlines(), wrong


def replay_command(rdmalab, lines, directory):
    """Runs one command of a session: @lines are its own line, then those that it shall print."""
    done = Replayed([(lines[:1], lines[:1])])
    wanted = by_prompt(lines[1:])
    typed = [PROMPT.match(part[0])[1] for part in (wanted[1:-1] if is_closing(wanted) else wanted[1:])]
    printed, wrong = run(rdmalab, shlex.split(lines[0][2:]), typed, directory)
    got = by_prompt(printed)
    if is_closing(got) and not is_closing(wanted):
        got.pop()
    if wrong is None and len(got) != len(wanted):
        wrong = f"it printed {len(got) - 1} prompts, the page has {len(wanted) - 1}"
    for i in range(max(len(wanted), len(got))):
        a, b = wanted[i:i + 1], got[i:i + 1]
        if a and b and matches(a[0], b[0]):
            done.passed += 1
            done.parts.append((a[0], a[0]))
        else:
            done.failed += 1
            done.parts.append((a[0] if a else [], merged(a[0], b[0]) if a and b else (b[0] if b else [])))
    if wrong:
        done.failed += done.failed == 0
        done.problems.append(f"{lines[0]}: {wrong}")
    return done


def replay_session(rdmalab, blocks):
    done = Replayed()
    with tempfile.TemporaryDirectory() as directory:
        for name in LINKED:
            pathlib.Path(directory, name).symlink_to(ROOT / name)
        for lines in commands_of("".join(blocks)):
            done.add(replay_command(rdmalab, lines, directory))
        done.pictures = {path.name: path.read_bytes() for path in pathlib.Path(directory).glob("*.svg")}
    return done


def sessions_of(text):
    """The sessions of a page: [[match of FENCE, for each of its blocks], ...]; a block that continues none is one."""
    found = []
    for match in FENCE.finditer(text):
        if match[3].startswith("$"):
            found.append([match])
        elif match[1] != "console":
            found[-1:] = [[*found[-1], match]] if found else [[match]]
    return found


def check_sessions(rdmalab, path, update, pool, made=None):
    """Replays all sessions of a file: (passed, failed).  What is updated has passed.  The pictures go to @made."""
    text = path.read_text()
    sessions = sessions_of(text)
    if not sessions:
        print(f"{path}: no session found")
        return 0, 1
    if not sessions[0][0][3].startswith("$"):
        print(f"{path}: no session is before the block that begins with {sessions[0][0][3]}")
        return 0, 1
    pieces, passed, failed = {}, 0, 0
    texts = [[match[2] for match in session] for session in sessions]
    for session, blocks, done in zip(sessions, texts, pool.map(lambda blocks: replay_session(rdmalab, blocks), texts)):
        passed += done.passed
        if made is not None:
            for name, content in done.pictures.items():
                made[name] = content if made.get(name, content) == content else None
        for match, block, new in zip(session, blocks, done.by_block(blocks)):
            line = text.count("\n", 0, match.start(2)) + 1
            print(*difflib.unified_diff(block.splitlines(), new, f"{path}:{line}", "rdmalab prints", lineterm=""),
                  sep="\n", end="\n" if block.splitlines() != new else "")
            if update and not done.problems:
                pieces[match.span(2)] = "".join(f"{line}\n" for line in new)
        line = text.count("\n", 0, session[0].start(2)) + 1
        print("".join(f"{path}:{line}: {problem}\n" for problem in done.problems), end="")
        if update and not done.problems:
            passed += done.failed
        else:
            failed += done.failed
    written = text
    for (first, end), piece in sorted(pieces.items(), reverse=True):
        written = written[:first] + piece + written[end:]
    if written != text:
        path.write_text(written)
        print(f"{path}: updated")
    return passed, failed


def check_names(rdmalab):
    found = list(names_in_docs.check(rdmalab))
    return found, [problem for problem in found if problem]


# A program that prints each of its arguments as a line; at a prompt: each line that is typed, twice.
FAKE = """#!/usr/bin/python3
import sys
n = 0
for line in sys.argv[1:]:
    if line != "--prompt":
        print(line)
for line in sys.stdin if "--prompt" in sys.argv else []:
    if line == "quit\\n":
        break
    print(f"t=0 #{n}> {line}{line}{line}", end="")
    n += 1
else:
    print(f"t=0 #{n}>" if n else "", end="")
"""
# What a page says -> what is written of it; None: that it was right; False: that it cannot be updated.
SELF_TESTS = [
    ("$ rdmalab a b\na\nb\n", None),
    ("$ rdmalab a b\n...\nb\n", None),
    ("$ rdmalab a b\na\nb\n...\n", None),
    ("$ rdmalab a b\na\nc\n", "$ rdmalab a b\na\nb\n"),
    ("$ rdmalab a b\na\n", "$ rdmalab a b\na\nb\n"),
    ("$ rdmalab a b\na\nb\nc\n", "$ rdmalab a b\na\nb\n"),
    ("$ rdmalab b\n", "$ rdmalab b\nb\n"),
    ("$ rdmalab b\n$ rdmalab c\nc\n", "$ rdmalab b\nb\n$ rdmalab c\nc\n"),
    ("$ rdmalab 'a 1' b c 'd 2'\na 1\n...\nd 3\n", "$ rdmalab 'a 1' b c 'd 2'\na 1\n...\nd 2\n"),
    ("$ rdmalab 'a 1' b c 'd 2'\na 7\n...\nd 3\n...\n",
     "$ rdmalab 'a 1' b c 'd 2'\na 1\n...\nd 2\n...\n"),
    ("$ rdmalab a b c d\n...\nb\n...\nx\n", "$ rdmalab a b c d\n...\nb\n...\nd\n"),
    ("$ rdmalab\nt=0 #0> a\na\na\nt=0 #1> b\n...\n", None),
    ("$ rdmalab\nt=0 #0> a\na\na\nt=0 #1>\n", None),
    ("$ rdmalab\nt=0 #0> a\na\na\nt=0 #2>\n", "$ rdmalab\nt=0 #0> a\na\na\nt=0 #1>\n"),
    ("$ rdmalab\nt=0 #0> a\na\na\nt=0 #7> b\n...\nc\n",
     "$ rdmalab\nt=0 #0> a\na\na\nt=0 #1> b\n...\nb\n"),
    ("$ rdmalab\nt=0 #0> a\na\na\nt=0 #1> quit\nt=0 #1> b\n", False),
    ("prose alone\n", False),
    ("$ rdmalab\nt=0 #0> a\na\na\n```\n\nprose\n\n```text\nt=0 #1> b\nb\nb\n", None),
    ("$ rdmalab\nt=0 #0> a\na\na\n```\n\nprose\n\n```text\nt=0 #1> b\nb\nc\n```\n\n```\nt=0 #2> d\nd\n...\n",
     "$ rdmalab\nt=0 #0> a\na\na\n```\n\nprose\n\n```text\nt=0 #1> b\nb\nb\n```\n\n```\nt=0 #2> d\nd\n...\n"),
    ("$ rdmalab\nt=0 #0> a\na\n```\n\nprose\n\n```text\nt=0 #1> b\nb\nb\n",
     "$ rdmalab\nt=0 #0> a\na\na\n```\n\nprose\n\n```text\nt=0 #1> b\nb\nb\n"),
    ("$ rdmalab b\nb\n```\n\n```console\nt=0 #1> c\nd\n", None),
    ("t=0 #0> a\na\na\n", False),
]


def check_case(rdmalab, path, page, wanted, pool):
    """Yields a problem or None for each thing that the case @page shows."""
    text = f"# Page\n\n```sh\n{page}```\n\nand text\n"
    after = text.replace(page, wanted) if wanted else text
    path.write_text(text)
    failed = check_sessions(rdmalab, path, False, pool)[1]
    yield None if (failed == 0) == (wanted is None) and path.read_text() == text else f"not judged right: {page}"
    failed = check_sessions(rdmalab, path, True, pool)[1]
    written = path.read_text()
    yield None if (failed > 0) == (wanted is False) and written == after else f"{page} became\n{written}"
    failed = check_sessions(rdmalab, path, False, pool)[1]
    yield None if (failed > 0) == (wanted is False) else f"not right after its update: {page}"


def self_test():
    found = []
    with (tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor() as pool,
          contextlib.redirect_stdout(io.StringIO())):
        program, path = pathlib.Path(name, "fake"), pathlib.Path(name, "page.md")
        program.write_text(FAKE)
        program.chmod(0o755)
        for page, wanted in SELF_TESTS:
            found += check_case(str(program), path, page, wanted, pool)
    ci = subprocess.run([sys.executable, __file__, "rdmalab", "--update"], env={**os.environ, "CI": "1"},
                        stderr=subprocess.PIPE, text=True, check=False)
    found += pictures.self_test()
    found.append(None if ci.returncode == 2 and "CI" in ci.stderr else "--update is not refused in CI")
    wrong = [problem for problem in found if problem]
    print(*(f"MISSED: {problem}" for problem in wrong), sep="\n", end="\n" if wrong else "")
    print(f"{len(found) - len(wrong)} passed, {len(wrong)} failed")
    return int(bool(wrong))


def main():
    args = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    options = [arg for arg in sys.argv[1:] if arg.startswith("--")]
    if options == ["--self-test"] and not args:
        return self_test()
    if options not in ([], ["--update"]) or not args:
        sys.exit(__doc__)
    if options and "CI" in os.environ:
        print("sessions.py: --update is refused because the environment variable CI is set: "
              "update where you can read the diff", file=sys.stderr)
        return 2
    rdmalab = str(pathlib.Path(args[0]).resolve())
    files = [pathlib.Path(name) for name in args[1:]]
    with_names = not files
    if with_names:
        files = [path.relative_to(pathlib.Path.cwd()) if path.is_relative_to(pathlib.Path.cwd()) else path
                 for path in [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md"))]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = pool.submit(check_names, rdmalab) if with_names else None
        made = {}
        counts = [check_sessions(rdmalab, path, bool(options), pool, made) for path in files]
    judged = list(pictures.check(files, made, bool(options), whole=with_names))
    wrong = [problem for problem in judged if problem]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    counts.append((len(judged) - len(wrong), len(wrong)))
    if names:
        found, wrong = names.result()
        print(*wrong, sep="\n", end="\n" if wrong else "")
        counts.append((len(found) - len(wrong), len(wrong)))
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
