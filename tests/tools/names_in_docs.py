# SPDX-License-Identifier: MIT
"""The names that book, course and docs/prompt.md mention; sessions.py calls check().

Every row of the profile table has a section in book/rxe.md, in the order of the table, and every
section is about a row.  A scenario names chapters that exist, and every chapter is in the contents.
The explanations of words, and the chapters, name scenarios that exist.
The courses (scenarios/course.txt) name scenarios that exist, each once, and `explain` sends nobody to
`scenarios STATUS` in vain.
Each row R1 to R45 of docs/prompt.md stands there once and in order, with a state: works, partly, not
yet, later.  What works is shown by something, and each file that is named exists, with the function
or the table that is named behind it.
"""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^[A-Z][A-Z0-9_]+$", re.MULTILINE)
SECTION = re.compile(r"^## ([A-Z][A-Z0-9_]+)$", re.MULTILINE)
SCENARIO = re.compile(r"scenarios/[a-z0-9-]+\.json")
FEATURE = re.compile(r"^\| (R\d+) \| (.+?) \| (works|partly|not yet|later)(?:: [^|]+)? \| (.*)\|$", re.MULTILINE)
SHOWN = re.compile(r"`((?:tests|scenarios|book)/[\w./-]+)(?:: (\w+))?`")
COURSE_NAME = re.compile(r"^[^#=\n].*$", re.MULTILINE)
N_FEATURES = 45


def explained(rdmalab, word):
    return subprocess.run([rdmalab, "explain", word, "more"], stdout=subprocess.PIPE, text=True, check=True).stdout


def check_rows(rdmalab):
    """Yields what is wrong, or None for a row that is right; so do all of these."""
    rows = ROW.findall(explained(rdmalab, "profiles"))
    sections = SECTION.findall((ROOT / "book/rxe.md").read_text())
    for row in rows:
        yield None if row in sections else f"book/rxe.md: no section about {row}"
    for section in sections:
        yield None if section in rows else f"book/rxe.md: {section} is no row of the profile table"
    yield None if sections == rows else "book/rxe.md: the sections are not in the table's order"


def check_chapters():
    contents = (ROOT / "book/README.md").read_text()
    for path in sorted((ROOT / "book").glob("*.md")):
        if path.name != "README.md":
            yield None if f"({path.name})" in contents else f"book/README.md: {path.name} is missing"
    for path in sorted((ROOT / "scenarios").glob("*.json")):
        chapter = json.loads(path.read_text()).get("book")
        if chapter:
            yield None if (ROOT / chapter).exists() else f"{path.name}: there is no {chapter}"


def check_scenarios():
    for path in [ROOT / "src/cli/explain/explain.def", *sorted((ROOT / "book").glob("*.md"))]:
        for name in sorted(set(SCENARIO.findall(path.read_text()))):
            yield None if (ROOT / name).exists() else f"{path.name}: there is no {name}"


def check_course(rdmalab):
    text = (ROOT / "scenarios/course.txt").read_text()
    names = COURSE_NAME.findall(text)
    for name in names:
        yield None if (ROOT / f"scenarios/{name}.json").exists() else f"course.txt: there is no {name}"
        yield None if names.count(name) == 1 else f"course.txt: {name} stands there twice"
    for course in re.split(r"^== \S+$", text, flags=re.MULTILINE):
        n = len(COURSE_NAME.findall(course))
        yield None if 30 <= n <= 45 else f"course.txt: {n} scenarios are no course"
    for table in "wc_status", "async_event":
        for word in re.findall(r"^([A-Z][A-Z_]+) ", explained(rdmalab, table), re.MULTILINE):
            if f"scenarios {word}" not in explained(rdmalab, word):
                continue
            found = subprocess.run([rdmalab, "scenarios", word], stdout=subprocess.DEVNULL, check=False)
            yield None if found.returncode == 0 else f"explain {word}: no scenario shows it"


def has_test(text, name):
    return re.search(rf"^(?:static void|def) {name}\(|^{name} = \[", text, re.MULTILINE) is not None


def check_features(text):
    rows = FEATURE.findall(text)
    names = [row[0] for row in rows]
    yield None if names == [f"R{n}" for n in range(1, N_FEATURES + 1)] else f"the rows are {' '.join(names)}"
    for name, _, state, shown in rows:
        found = SHOWN.findall(shown)
        if state == "works":
            yield None if found else f"{name}: nothing shows that it works"
        if state in ("not yet", "later"):
            yield f"{name}: {found[0][0]} shows what is not there" if found else None


def check_tests(text):
    for path, name in sorted(set(SHOWN.findall(text))):
        file = ROOT / path
        yield None if file.exists() else f"there is no {path}"
        if name and file.exists():
            yield None if has_test(file.read_text(), name) else f"{path} has no {name}"


def check(rdmalab):
    yield from check_rows(rdmalab)
    yield from check_chapters()
    yield from check_scenarios()
    yield from check_course(rdmalab)
    text = (ROOT / "docs/prompt.md").read_text()
    for problem in [*check_features(text), *check_tests(text)]:
        yield problem and f"docs/prompt.md: {problem}"
