#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Records which stages of ./check passed, on which inputs, so that --full need not repeat them.

usage: green.py inputs TABLE NAME                print the hash of the inputs, and the commit
       green.py find NAME HASH COMMIT            print the record of NAME that passed with these inputs
       green.py add NAME HASH COMMIT PASSED FAILED SECONDS SKIPPED
       green.py write TABLE                      write docs/checks.md
       green.py complete TABLE PATHSPEC...       is each file an input of a stage, or matched by PATHSPECs?
       green.py read BUILD PATHSPEC...           is each file that the compiler read matched by PATHSPECs?
       green.py --self-test

TABLE is a file that ./check writes.  It has a line for each stage or part of a stage, with tabs between: the
name, git pathspecs with blanks between them, and a hash of the functions and settings of the stage.

The inputs of a stage are all files that its pathspecs match, also those that are not committed or not yet
known to git, but not those that git ignores.  Their content counts, their time does not.

Records are lines of build/check/green.tsv, in the order of the fields of Record.  The rows of docs/checks.md are
records, too, so that a new clone need not repeat what passed in another one.  Of the records of a stage with the
same inputs the last one counts.  It is green if nothing failed and nothing was skipped.

The commit of a record ends with "with changes" if some inputs were not committed.  If they are committed when `find`
finds the record, it is recorded again with COMMIT.

For `complete`, stages whose only pathspec is "." do not count, and each pathspec has to match a file.  `read` reads
from stdin what `ninja -C BUILD -t deps` prints.  Files outside the project and those that git ignores do not count.
Both end with "N passed, N failed".

Exit status: 0; 1 if `find` finds nothing, something failed, or git did; 2 usage.
"""
import dataclasses
import datetime
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from pages import checks

TOP = pathlib.Path(__file__).resolve().parent.parent
RECORDS = "build/check/green.tsv"
PAGE = "docs/checks.md"
CHANGED = " with changes"  # behind a commit that does not have all inputs
OF_ANOTHER_REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
                         "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX"}


@dataclasses.dataclass
class Record:
    """How a stage ended; the order of the fields is that of the columns of RECORDS."""
    name: str
    inputs: str  # hash
    commit: str
    passed: int
    failed: int
    seconds: float
    date: str
    machine: str
    skipped: str

    def is_green(self):
        return self.passed > 0 and self.failed == 0 and not self.skipped

    def line(self):
        return "\t".join(str(value) for value in dataclasses.astuple(self)) + "\n"


def record_of(values):
    name, inputs, commit, passed, failed, seconds, date, machine, skipped = values
    return Record(name, inputs, commit, int(passed), int(failed), float(seconds), date, machine, skipped)


def git(root, *args, text=None):
    """Runs git in @root, whatever the environment says: `git rebase -x` and a hook set GIT_DIR for what they run."""
    env = {name: value for name, value in os.environ.items() if name not in OF_ANOTHER_REPOSITORY}
    return subprocess.run(["git", "-C", root, *args], input=text, env=env, capture_output=True, text=True,
                          check=True).stdout


def content(path):
    """What counts of a file: may its owner execute it, and what is in it."""
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    executable = "x" if path.stat().st_mode & 0o100 else "-"
    return f"{executable} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def files_there(root, pathspecs):
    """The names of the files that @pathspecs match and git does not ignore."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *pathspecs)
    return {name for name in listed.split("\0") if name and os.path.lexists(root / name)}


def inputs_hash(root, pathspecs, definition):
    names = sorted(files_there(root, pathspecs))
    total = hashlib.sha256(definition.encode())
    for name in names:
        total.update(f"\0{name}\0{content(root / name)}".encode())
    return total.hexdigest()[:16]


def commit_of(root, pathspecs):
    """The commit whose files the inputs are."""
    changed = git(root, "status", "--porcelain", "--", *pathspecs)
    return git(root, "rev-parse", "HEAD").strip() + (CHANGED if changed else "")


def table_of(path):
    """{name: (pathspecs, hash of the definition)}"""
    rows = (line.split("\t") for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines())
    return {name: (pathspecs.split(), definition) for name, pathspecs, definition in rows}


def records_of(root, name):
    """The records of a stage, by date; of the same minute, those of RECORDS come after those of the page."""
    page, kept = root / PAGE, root / RECORDS
    rows = list(checks.read_page(page.read_text(encoding="utf-8"))) if page.exists() else []
    if kept.exists():
        rows += [line.split("\t") for line in kept.read_text(encoding="utf-8").splitlines()]
    return sorted((record_of(row) for row in rows if row[0] == name), key=lambda record: record.date)


def last(records, inputs):
    """The last record with these inputs, or None."""
    return next((record for record in reversed(records) if record.inputs == inputs), None)


def green(root, name, inputs):
    """The last record of @name with these inputs if it is green; otherwise None."""
    record = last(records_of(root, name), inputs)
    return record if record and record.is_green() else None


def keep(root, record):
    (root / RECORDS).parent.mkdir(parents=True, exist_ok=True)
    with open(root / RECORDS, "a", encoding="utf-8") as kept:
        kept.write(record.line())


def find(root, name, inputs, commit):
    """As green(); a record whose inputs are those of @commit now gets that commit."""
    record = green(root, name, inputs)
    if record and record.commit.endswith(CHANGED) and not commit.endswith(CHANGED):
        record = dataclasses.replace(record, commit=commit)
        keep(root, record)
    return record


def add(root, values):
    name, inputs, commit, passed, failed, seconds, skipped = values
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
    machine = ", ".join(value for _, value in checks.machine())
    keep(root, record_of([name, inputs, commit, passed, failed, seconds, date, machine, skipped]))


def page_rows(root, table):
    """Of each stage of @table the last record with the inputs of now, or else the last one; with its state."""
    for name, (pathspecs, definition) in table.items():
        records, inputs = records_of(root, name), inputs_hash(root, pathspecs, definition)
        record = last(records, inputs) or (records[-1] if records else None)
        if not record:
            yield *dataclasses.astuple(Record(name, "", "", 0, 0, 0.0, "", "", "")), "missing"
            continue
        changed = record.inputs != inputs
        state = "failed" if record.failed else "changed" if changed else "skipped" if record.skipped else "green"
        yield *dataclasses.astuple(record), state


def write(root, table):
    """Writes the page.  Stages end at the same time: the lock lets no older rows replace newer ones."""
    for path in PAGE, RECORDS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
    with open(root / RECORDS, "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fresh = root / f"{RECORDS}.page"
        fresh.write_text(checks.report(list(page_rows(root, table))), encoding="utf-8")
        fresh.replace(root / PAGE)


def complaints(root, table, others):
    """What is wrong with the pathspecs of @table and @others."""
    def files(*pathspecs):
        return {name for name in git(root, "ls-files", "-z", "--", *pathspecs).split("\0") if name}

    left = files(".")
    for name, (pathspecs, _) in {**table, "the pathspecs of no stage": (others, "")}.items():
        if not pathspecs:
            yield f"{name} has no inputs"
        for pathspec in pathspecs:
            matched = files(pathspec)
            if not matched:
                yield f"{name}: nothing matches {pathspec}"
            if pathspec != ".":
                left -= matched
    yield from (f"{name} is no input of a stage" for name in sorted(left))


def read_but_no_input(root, build, deps, pathspecs):
    """The files of the project that are in @deps, which ninja printed of @build, and that no pathspec matches."""
    paths = {line.strip() for line in deps.splitlines() if line.startswith(" ")}
    names = {os.path.relpath(os.path.join(root, build, path), root) for path in paths}
    return sorted(names & files_there(root, ["."]) - files_there(root, pathspecs))


# --- Self-test --------------------------------------------------------------------------------


def new_clone(root):
    """A repository with two files, both committed."""
    for args in (["init", "-q"], ["config", "user.name", "x"], ["config", "user.email", "x"]):
        git(root, *args)
    (root / ".gitignore").write_text("/build/\n")
    (root / "src").mkdir()
    (root / "src/a.c").write_text("a\n")
    (root / "b.md").write_text("b\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")


def newer_row_counts(root, inputs):
    """Gives the page a row of another clone, which failed later than the records, and then one that failed earlier."""
    text = (root / PAGE).read_text()
    found = []
    for date in "2999-01-01 00:00", "1999-01-01 00:00":
        failed = Record("code", inputs, "0123456789ab", 1, 1, 1.0, date, "m", "")
        (root / PAGE).write_text(checks.report([(*dataclasses.astuple(failed), "failed")]))
        found.append(bool(green(root, "code", inputs)))
    (root / PAGE).write_text(text)
    return found == [False, True]


def waits_for_lock(root, table):
    """Adds a record while write() waits for the lock: is it on the page?"""
    inputs, before = inputs_hash(root, *table["code"]), {path: (root / path).read_text() for path in (PAGE, RECORDS)}
    with open(root / RECORDS, "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        writer = threading.Thread(target=write, args=(root, table))
        writer.start()
        writer.join(0.3)
        add(root, ["code", inputs, "0123456789ab", "77", "0", "1.5", ""])
    writer.join()
    page = (root / PAGE).read_text()
    for path, text in before.items():
        (root / path).write_text(text)
    return "| code | 77 | 0 |" in page


def cases(root):
    """(what holds, does it?)"""
    code, text = (["src"], "d1"), ([".", ":!docs/checks.md"], "d1")
    table = {"code": code, "text": text}
    head = git(root, "rev-parse", "HEAD").strip()
    before = inputs_hash(root, *code)
    yield "every file is an input", not list(complaints(root, {"code": (["src"], "")}, ["b.md", ".gitignore"]))
    found = list(complaints(root, {"code": (["src", "lib"], ""), "all": (["."], ""), "none": ([], "")}, ["b.md"]))
    yield "others are found", found == ["code: nothing matches lib", "none has no inputs",
                                        ".gitignore is no input of a stage"]
    deps = "a.o: #deps 5, deps mtime 1 (VALID)\n    ../../src/a.c\n    ../../b.md\n    /usr/include/a.h\n    made.h\n\n"
    (root / "build/gcc").mkdir(parents=True)
    (root / "build/gcc/made.h").write_text("")
    yield "a file that is read and no input is found", read_but_no_input(root, "build/gcc", deps, ["src"]) == ["b.md"]
    yield "inputs may be read", not read_but_no_input(root, "build/gcc", deps, ["src", "b.md"])
    yield "a stage that never ran is not green", not green(root, "code", before)
    add(root, ["code", before, head, "3", "0", "1.5", ""])
    yield "a stage that passed is green", green(root, "code", before)
    yield "another stage is not", not green(root, "text", before)
    (root / "b.md").write_text("b2\n")
    yield "a file that is no input changes nothing", inputs_hash(root, *code) == before
    yield "and the commit has the inputs", commit_of(root, code[0]) == head
    yield "but not those of a stage that reads the file", commit_of(root, text[0]) == f"{head} with changes"
    yield "other functions of the stage are another input", inputs_hash(root, ["src"], "d2") != before
    (root / "src/a.c").write_text("a2\n")
    changed = inputs_hash(root, *code)
    yield "a change that is not committed counts", changed != before and not green(root, "code", changed)
    git(root, "commit", "-qam", "second")
    yield "committing it changes nothing", inputs_hash(root, *code) == changed
    add(root, ["code", changed, f"{head} with changes", "3", "0", "1.5", ""])
    found = find(root, "code", changed, f"{head} with changes")
    yield "a record of what is not committed says so", found.commit == f"{head} with changes"
    second = commit_of(root, code[0])
    yield "it gets the commit", find(root, "code", changed, second).commit == second != head
    yield "which stays", green(root, "code", changed).commit == second
    add(root, ["code", changed, head, "2", "1", "1.5", ""])
    (root / "src/a.c").write_text("a\n")
    yield "the old content is green again", green(root, "code", inputs_hash(root, *code))
    (root / "src/a.c").chmod(0o755)
    yield "a file that becomes executable counts", inputs_hash(root, *code) != before
    (root / "src/a.c").chmod(0o644)
    (root / "src/new.c").write_text("")
    yield "a file that git does not know counts", inputs_hash(root, *code) != before
    (root / "src/new.c").unlink()
    (root / "src/a.c").unlink()
    yield "a file that is gone counts", inputs_hash(root, *code) != before
    (root / "src/a.c").write_text("a\n")
    write(root, table)
    page = (root / PAGE).read_text()
    yield "the page says which stage is missing", "text has never run" in page and "| code | 3 | 0 | 1.5 |" in page
    yield "it is no input of a stage that leaves it out", inputs_hash(root, *text) == inputs_hash(root, *text)
    (root / RECORDS).unlink()
    found = green(root, "code", before)
    yield "a new clone knows of it by the page", found and head.startswith(found.commit) and found.machine
    add(root, ["code", before, head, "2", "1", "1.5", ""])
    yield "a stage that failed is not green", not green(root, "code", before)
    write(root, table)
    yield "the page says so", "Not all passed: code failed." in (root / PAGE).read_text()
    add(root, ["code", before, head, "2", "0", "1.5", "no kernel"])
    yield "a stage that skipped something is not green", not green(root, "code", before)
    add(root, ["code", before, head, "0", "0", "1.5", ""])
    yield "a stage that checked nothing is not green", not green(root, "code", before)
    add(root, ["code", before, head, "3", "0", "1.5", ""])
    add(root, ["text", inputs_hash(root, *text), head, "3", "0", "1.5", ""])
    write(root, table)
    yield "all passed", "**All passed.**" in (root / PAGE).read_text()
    (root / "src/a.c").write_text("a3\n")
    write(root, table)
    yield "a newer row of the page counts more than an older record", newer_row_counts(root, before)
    yield "rows are computed behind the lock", waits_for_lock(root, table)
    yield "the page says what has changed", "changed since: code, text." in (root / PAGE).read_text()


def self_test():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.environ["GIT_DIR"] = os.path.join(directory, "absent")  # as `git rebase -x` would, with a repository there
        root = pathlib.Path(directory)
        new_clone(root)
        for what, holds in cases(root):
            passed, failed = passed + bool(holds), failed + (not holds)
            if not holds:
                print(f"MISSED: {what}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


def main():
    command, *args = sys.argv[1:] or [""]
    if command == "--self-test":
        return self_test()
    if command == "add" and len(args) == 7:
        add(TOP, args)
        return 0
    if command == "write" and len(args) == 1:
        write(TOP, table_of(args[0]))
        return 0
    if command == "inputs" and len(args) == 2:
        pathspecs, definition = table_of(args[0])[args[1]]
        print(inputs_hash(TOP, pathspecs, definition), commit_of(TOP, pathspecs))
        return 0
    if command == "find" and len(args) == 3:
        record = find(TOP, *args)
        print(record.line() if record else "", end="")
        return int(record is None)
    if command == "complete" and args:
        found = list(complaints(TOP, table_of(args[0]), args[1:]))
        print(*found, f"{int(not found)} passed, {len(found)} failed", sep="\n")
        return int(bool(found))
    if command == "read" and len(args) > 1:
        deps = sys.stdin.read()
        found = [f"{name} is read, but no input" for name in read_but_no_input(TOP, args[0], deps, args[1:])]
        found += ["ninja knows of no file that the compiler read"] if "\n " not in deps else []
        print(*found, f"{int(not found)} passed, {len(found)} failed", sep="\n")
        return int(bool(found))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(f"git: {error.stderr.strip()}", file=sys.stderr)
        sys.exit(1)
