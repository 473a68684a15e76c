#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rules of STYLE.md that a program can check and the compiler does not.

usage: check_style.py [--self-test] [ROOT]
"""
import functools
import os
import pathlib
import re
import sys
import tempfile

FUNCTION_LINES_MAX = 70

SKIPPED_DIRS = re.compile(r"^(\.git|build.*|out|__pycache__)$")
GENERATED = {"docs/checks.md", "docs/interop.md", "docs/coverage.md"}  # by stages of ./check; inputs of none
CODE = {".c", ".h", ".def"}
WITH_SPDX = CODE | {".py", ".sh", ".build"}
KERNEL_CODE = "linux/virtio_rdma/"  # in the style of the kernel, which checkpatch.pl checks: tests/interop/module-build --check

# The core reads no clock, draws no chance of its own, prints nothing and has no floating point.
CALLS_BANNED_IN_EMU = set("""time clock clock_gettime gettimeofday rand random srand drand48 getenv
    sleep usleep nanosleep printf fprintf vfprintf puts fputs putchar perror fopen""".split())
WORDS_BANNED_IN_EMU = {"double", "float"}
SET_AND_READ = re.compile(r"&(\w+)\)\s*,\s*\1\b(?!\s*[.(\[]|->)")
CALLS_BANNED = set("strcpy strcat sprintf vsprintf strtok atoi atol alloca gets".split())
HEADERS_BANNED_IN_EMU = re.compile(r"#\s*include\s*<(time|sys/time|math|threads|pthread)\.h>")

# What opens files, programs and ports.  Outside of the engine only these files may do that: a command reaches
# the machine only by the gate of its session.  Each row: what it opens, and who has asked for it.
OPENERS = set("""fopen freopen open openat creat mkstemp mkdtemp mkdir mkdirat rename renameat unlink unlinkat
    remove rmdir link linkat symlink opendir scandir nftw readlink popen system fork vfork posix_spawn posix_spawnp execv execve
    execvp execl execlp socket socketpair connect bind listen accept dlopen uv_spawn uv_pipe_open uv_pipe_connect
    uv_tcp_bind uv_tcp_connect uv_listen uv_udp_bind uv_getaddrinfo getaddrinfo
    beneath_open beneath_make beneath_directory out_file_open out_file_open_below source_read source_read_file files_read
    scenario_load scenario_load_to_run tap vm pingpong verbs_peer""".split())
OPENERS_WATCHED = ("src/cli/", "src/process/", "src/print/", "src/tree/", "src/viz/", "src/emu/past/")
MAY_OPEN = {
    "src/cli/session/gate.c": "the gate",
    "src/process/beneath.c": "files below a directory, for the gate",
    "src/process/out_file.c": "files to write, for the gate and for options",
    "src/process/leftovers.c": "temporary files, for src/process/out_file.c and for the user's directories",
    "src/process/fd_name.c": "temporary files without a name, for src/process/out_file.c",
    "src/process/std_files.c": "/dev/null",
    "src/process/signals.c": "/dev/null",
    "src/process/own_path.c": "the path of the running program",
    "src/print/pages.c": "/dev/null",
    "src/cli/lang/source.c": "source_read(): files that the user names",
    "src/cli/session/files.c": "files_read(): files that the user names",
    "src/cli/session/scenario.c": "scenario_load(): files that the user names",
    "src/cli/app/trace_export.c": "a file that the user names on the command line",
    "src/cli/cmd/cmd_live.c": "ports, behind gate_pass(): outside_open() asserts that the command is one of those",
    "src/cli/cmd/cmd_vm.c": "a virtual machine, behind outside_open()",
    "src/cli/cmd/cmd_program.c": "programs on hosts, behind outside_open()",
    "src/cli/live/live_tcp.c": "the exchange of programs, which the commands above start",
    "src/cli/live/exec_leash.c": "a shell of its own script, which ends the programs that cmd_exec.c has started",
    "src/cli/live/exec_process.c": "the processes of programs, which cmd_exec.c starts behind outside_open()",
    "src/cli/live/exec_file.c": "the files of these programs, to tell why one cannot start",
    "src/cli/live/exec_cm.c": "a pair of sockets with these programs",
    "src/cli/live/exec_hosts.c": "a file in the private directory for these programs",
    "src/cli/live/exec_maker.c": "the files of these programs, to tell where a call is",
    "src/cli/live/exec_module.c": "/proc, for these programs",
    "src/cli/live/exec_source.c": "addr2line, with a file of these programs",
    "src/cli/graph/graphviz.c": "dot of Graphviz, with a graph on its standard input; the caller asks gate_may_start()",
    "src/cli/live/exec_socket.c": "the socket of these programs, in a private directory",
    "src/cli/live/exec_tcp.c": "the TCP sockets of these programs",
    "src/cli/live/exec_proc.c": "/proc, for these programs",
    "src/cli/live/exec_directory.c": "the private directory for these programs: their libraries, their socket",
    "src/cli/live/vm_find.c": "QEMU, to ask for its version, behind outside_open()",
    "src/cli/live/vm_proxy.c": "the sockets of a virtual machine, which the command above starts",
    "src/cli/live/vm_net.c": "the socket of its Ethernet frames, which the command above inherits",
    "src/cli/live/vm_vfu.c": "the sockets of one in a private directory",
    "src/cli/live/socket_fds.c": "/proc, for descriptors that such a machine sends",
    "src/cli/live/tap_linux.c": "tap devices, which the command above makes",
    "src/cli/live/vm_process.c": "the process of a virtual machine, which the command above starts",
    "src/cli/lessons/collection.c": "the collection of scenarios",
    "src/cli/exec/resume.c": "/dev/null",
    "src/cli/exec/travel.c": "/dev/null",
    "src/cli/tour/play.c": "/dev/null",
    **{f"src/cli/app/{name}.c": what for name, what in {
        "bench_programs": "perftest, which it measures", "bench_time": "/dev/null", "fault_matrix": "/dev/null", "printed": "a file for --artifacts",
        "cli_check": "the user's capture", "cli_complete": "the lab of the command line; /dev/null", "exec_run": "the lab of the command line", "cli_open": "the user's file", "cli_run": "the user's file", "cli_show": "the user's trace",
        "cli_test": "the user's directories and report", "ladder_file": "the user's picture",
        "main": "the user's files", "recall_file": "the history of the prompt", "report": "GITHUB_STEP_SUMMARY",
        "cli_tour": "the user's lessons", "cli_quiz": "the user's problems", "grading": "the exercises and answers that the user has named", "grading_files": "the exercises and answers that the user has named", "scratch": "a temporary directory", "tour_progress": "the reader's place in the tour", "tour_prompt": "a lesson that the user has read",
        "state_dir": "the history of the prompt", "suite": "the user's directories",
        "test_run": "processes of cases; artifacts, below the user's directory"}.items()},
}

# Paths of one machine, and marks of unfinished work: a simplification says SIMPLIFIED: and why.
# Put together from pieces, so that this file does not find itself.
LOCAL_PATH = re.compile("/wo" "rk/|/ro" "ot/")
UNFINISHED = re.compile(r"\b(TO" "DO|FIX" "ME|XX" r"X)\b")

# clang-format breaks a comment line that is too long and leaves the rest without its blank.
REFLOWED = re.compile(r"^\s+\*[A-Za-z@]")
IN_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

# A comment states; what is quoted in it may be a question, and so may an expression of C.
QUOTED = re.compile(r'"[^"]*"|`[^`]*`|<[^>]*>')
QUESTION = re.compile(r"\w\)?\?(?=\s)")
QUESTION_WORD = re.compile(r"/\*\s+(?:What|Who|Where|Which|Why|How)\b")

# What is cited in brackets is a row of a table, which alone knows whether somebody has verified it.
CITATIONS = "src/emu/facts/citations.def"
CITE_ROW = re.compile(r'^CITE\((\w+), "([^"]+)"', re.MULTILINE)
BRACKET = re.compile(r"\[(?:IBTA1|RoCEv2)\b[^\]]*\]")
LINE_BREAK = re.compile(r'"?\s*\\?\n\s*[*"]?')
CITED_NUMBER = re.compile(r"[AC]?\d[\w.-]*")
MARK = re.compile(r"\[[^\]\[]*\(unverified\)|\]\s*(?:\*\s*)?\(unverified\)")

LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
# A scenario is known by its number: one file has it, or a series of files whose names end with another number each.
SCENARIO_NUMBER = re.compile(r"0*(\d+)-(.*?)(?:-\d+)?$")
NUMBERED_LINK = re.compile(r"\[(?:\w+\s+)?(\d+)\]\([^)\s]*scenarios/0*(\d+)-[^)\s]*\)")
CITED_FILE = re.compile(r"\b((?:include|src|tests|tools|scenarios|docs|book)/[\w./-]+\.\w+)")

# The maps of the code name files by what is behind src/ or src/emu/, and functions: both must be there.
MAP = re.compile(r"^(ARCHITECTURE|HACKING|docs/decisions/.*)\.md$")
MAPPED_FILE = re.compile(r"`([\w.-]+/[\w./-]+\.(?:c|h|def))`")
MAPPED_FUNCTION = re.compile(r"`([a-z][a-z0-9_]*)\(\)`")

# The page about each function of Linux rxe, and the table whose rows name those that decide.
RXE_PAGE, RXE_ROWS = "docs/rxe.md", "src/emu/facts/profiles.def"
RXE_FILE = re.compile(r"^## `(rxe_\w+\.c)`(?: of Linux ([\d.]+))?$", re.MULTILINE)
RXE_ENTRY = re.compile(r"^\| `(\w+)` \| (.*?) \|(.*)\|$", re.MULTILINE)
RXE_VERDICT = re.compile(r"same|not visible to peer or program|differs, not modelled|gone|row (?:`\w+`(?:, |$))+")
TRAIT = re.compile(r"^TRAIT\((\w+),(.*?)\)$", re.MULTILINE | re.DOTALL)
STRING_OR_COMMA = re.compile(r'"((?:\\.|[^"\\])*)"|(,)')
TRAIT_FUNCTIONS = 6  # argument of a row: "FILE: name, name; FILE: name"

# Expected texts of unit tests: see tests/unit/golden.h.
ALL_USED = "cmocka_unit_test(every_golden_text_is_used)"

COMMENT_OR_LITERAL = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# A function's name and body: clang-format puts its braces alone in column 0.
# Functions of examples that are not as in the others, although they have the same name.
OWN_OF_EXAMPLES = {"connect_qp": {"examples/events.c", "examples/one_sided.c"}, "wait_for_completion": {"examples/events.c"}}
FUNCTION = re.compile(r"^(?:[\w*]+ +)+?\*?(\w+)\([^;{}]*?\)\s*\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
HEAD = re.compile(r"\b(if|for|while|switch)\s*$")
PRNG = "src/emu/base/prng.h"
DRAWS = ("prng_next", "prng_below",
         "draw_below", "draw_one_in", "draw_request", "draw_key_request", "draw_receive")  # of swarm/worlds/world_draw.h
TAG = re.compile(r"^[ \t]*(?:(?:static|const|typedef) )*(struct|union|enum) (\w+)\s*\{", re.MULTILINE)
NOT_SIGNATURE = re.compile(r"[;}]$|\*/$|^#")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)


def blanked(match):
    """White space with the same number of lines."""
    return " " + "\n" * match[0].count("\n")


def without_comments(text):
    return ATTRIBUTE.sub(blanked, COMMENT_OR_LITERAL.sub(blanked, text))


def files_of(root):
    for top, dirs, names in os.walk(root):
        dirs[:] = sorted(d for d in dirs if not SKIPPED_DIRS.match(d))
        for name in sorted(names):
            path = pathlib.Path(top, name)
            if name == ".git":
                continue  # of a second worktree: git's own, with a path in it
            text = path.read_bytes()
            relative = path.relative_to(root).as_posix()
            if b"\0" not in text and relative not in GENERATED:
                yield relative, text.decode(errors="replace")


def check_words(name, text):
    in_emu = name.startswith("src/emu/")
    calls = CALLS_BANNED | CALLS_BANNED_IN_EMU if in_emu else CALLS_BANNED
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for word, call in re.findall(r"\b([A-Za-z_]\w*)\s*(\()?", line):
            if (call and word in calls) or (in_emu and word in WORDS_BANNED_IN_EMU):
                yield f"{name}:{number}: {word} is banned here"
        if in_emu and HEADERS_BANNED_IN_EMU.search(line):
            yield f"{name}:{number}: {line.strip()} is banned here"


def check_comments(name, text):
    for comment in IN_COMMENT.finditer(text):
        first = text.count("\n", 0, comment.start()) + 1
        for number, line in enumerate(comment[0].splitlines(), first):
            if REFLOWED.match(line):
                yield f"{name}:{number}: comment broken by the formatter"


def check_questions(name, text):
    for found in COMMENT_OR_LITERAL.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        if QUESTION_WORD.match(found[0]) and not name.startswith("tests/"):
            yield f"{name}:{number}: a comment begins with a question word; begin with a noun or a verb"
        if found[0].startswith("/*") and QUESTION.search(QUOTED.sub("", found[0])):
            yield f"{name}:{number}: a question in a comment; say \"Returns true if ...\""


def check_functions(name, text):
    """clang-format puts a function's braces, and nothing else's, alone in column 0."""
    lines = text.splitlines()
    for first, line in enumerate(lines):
        if line != "{":
            continue
        start = first
        while start > 0 and lines[start - 1] and not NOT_SIGNATURE.search(lines[start - 1]):
            start -= 1
        end = next((i for i in range(first, len(lines)) if lines[i] == "}"), len(lines) - 1)
        if end - start + 1 > FUNCTION_LINES_MAX:
            yield f"{name}:{start + 1}: function of {end - start + 1} lines"


def functions_of(text):
    """Name and body of each function: see check_functions()."""
    for match in FUNCTION.finditer(text):
        yield match[1], match[2]


def drawing_functions(text):
    """Those of the file whose calls draw from a PRNG, beside the PRNG's own."""
    bodies = list(functions_of(text))
    drawing = set(DRAWS)
    while True:
        more = {name for name, body in bodies
                if not drawing.isdisjoint(CALL.findall(body))} - drawing
        if not more:
            return drawing
        drawing |= more


def statements(body):
    """Line offset and text of each full expression or declaration.  The braces of an initializer
    do not end one, the parenthesis behind if, for, while and switch does.
    """
    start, heads, depth, braces = 0, [], 0, []
    for i, c in enumerate(body):
        ends = c == ";"
        if c == "(":
            if HEAD.search(body, 0, i):
                heads.append(depth)
            depth += 1
        elif c == ")":
            depth -= 1
            if heads and heads[-1] == depth:
                heads.pop()
                ends = True
        elif c == "{":
            before = body[:i].rstrip()[-1:]
            initializes = before in "=,({" and before or body[i - 1] == ")"
            braces.append(bool(initializes) and (before != "{" or braces[-1:] == [True]))
            ends = not braces[-1]
        elif c == "}":
            ends = bool(braces) and not braces.pop()
        if ends:
            yield body.count("\n", 0, start), body[start:i]
            start = i + 1


def check_draws(name, text):
    """One draw a statement: C does not say which of two comes first, and compilers differ."""
    code = without_comments(text)
    drawing = drawing_functions(code)
    for match in FUNCTION.finditer(code):
        first = code.count("\n", 0, match.start(2)) + 1
        for line, statement in statements(match[2]):
            calls = [c for c in CALL.findall(statement) if c in drawing]
            if len(calls) > 1:
                blank = len(statement) - len(statement.lstrip())
                line += first + statement.count("\n", 0, blank)
                yield f"{name}:{line}: one statement draws twice: {', '.join(calls)}"


def check_results(name, text):
    """A call sets a variable, and the variable is an argument beside the call: C may read it first."""
    code = without_comments(text)
    for match in SET_AND_READ.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        yield f"{name}:{line}: {match[1]} is an argument beside the call that sets it; make the call a statement of its own"


def check_openers(name, text):
    if not name.startswith(OPENERS_WATCHED) or pathlib.PurePath(name).suffix != ".c":
        return
    text = without_comments(text)
    calls = [match for match in CALL.finditer(text) if match[1] in OPENERS]
    if name in MAY_OPEN:
        if not calls:
            yield f"{name}: MAY_OPEN of tools/check_style.py says that it opens {MAY_OPEN[name]}, and it opens nothing"
        return
    for match in calls:
        line = text.count("\n", 0, match.start()) + 1
        yield (f"{name}:{line}: {match[1]}() opens something, and is not behind the gate: "
               "use src/cli/session/gate.h, or give MAY_OPEN of tools/check_style.py a row with the reason")


def check_links(root, name, text):
    """Files that a document links to or names must exist; what is built or written need not."""
    for number, line in enumerate(text.splitlines(), 1):
        targets = [(pathlib.PurePath(name).parent / t).as_posix() for t in LINK.findall(line)]
        for target in targets + CITED_FILE.findall(line):
            if not (root / target).exists():
                yield f"{name}:{number}: there is no {target}"
    for match in NUMBERED_LINK.finditer(text):
        if int(match[1]) != int(match[2]):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} is the link of another scenario"


@functools.lru_cache
def cited_rows(root):
    """What the table of citations has: {"IBTA1 9.7.4.1", ...}."""
    table = root / CITATIONS
    return {f"{document} {number}" for document, number in
            CITE_ROW.findall(table.read_text() if table.exists() else "")}


def citations(text):
    """Line and number of each section or statement that is cited in brackets, however the lines of a
    comment or a string break.
    """
    for bracket in BRACKET.finditer(text):
        words = LINE_BREAK.sub(" ", bracket[0][1:-1]).split()
        line = text.count("\n", 0, bracket.start()) + 1
        for word in words[1:]:
            if CITED_NUMBER.fullmatch(word.strip(",;")):
                yield line, f"{words[0]} {word.strip(',;')}"


def check_citations(root, name, text):
    for line, cited in citations(text):
        if cited not in cited_rows(root):
            yield f"{name}:{line}: {cited} is no row of {CITATIONS}"
    for match in MARK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{name}:{line}: the mark of a citation is a column of {CITATIONS}"


@functools.lru_cache
def called_functions(root):
    """The names before a parenthesis anywhere below src and include."""
    return {name for top in ("src", "include") for path in (root / top).rglob("*.[ch]")
            for name in CALL.findall(path.read_text())}


def check_map(root, name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for file in MAPPED_FILE.findall(line):
            if not any((root / top / file).exists() for top in ("", "src", "src/emu")):
                yield f"{name}:{number}: no {file} here, in src or in src/emu"
        for function in MAPPED_FUNCTION.findall(line):
            if function not in called_functions(root):
                yield f"{name}:{number}: there is no function {function}()"


def check_golden(root, name):
    """A golden file belongs to a test of its name, which fails if a section of it is not used."""
    if name.startswith("tests/unit/") and name.endswith(".golden"):
        test = pathlib.PurePath(name).with_suffix(".c")
        if not (root / test).exists() or ALL_USED not in (root / test).read_text():
            yield f"{name}: {test} has no {ALL_USED}"


def check_file(root, name, text):
    suffix = pathlib.PurePath(name).suffix
    script = text.startswith("#!")

    for number, line in enumerate(text.splitlines(), 1):
        if LOCAL_PATH.search(line):
            yield f"{name}:{number}: path of one machine"
        if (suffix in WITH_SPDX or script) and UNFINISHED.search(line):
            yield f"{name}:{number}: unfinished"
    licence = "GPL-2.0" if name.startswith(KERNEL_CODE) else "MIT"
    if (suffix in WITH_SPDX or script) and f"SPDX-License-Identifier: {licence}" not in text[:200]:
        yield f"{name}:1: no SPDX line"
    if suffix in CODE:
        yield from check_words(name, text)
        yield from check_comments(name, text)
        yield from check_questions(name, text)
        if "\t" in without_comments(text) and not name.startswith(KERNEL_CODE):
            yield f"{name}: tab in code"
    if suffix == ".c":
        yield from check_functions(name, text)
    if suffix in CODE and name.startswith(("src/", "include/")):
        yield from check_citations(root, name, text)
    yield from check_golden(root, name)
    if suffix in {".c", ".h"} and name != PRNG:
        yield from check_draws(name, text)
        yield from check_results(name, text)
        yield from check_openers(name, text)
    if suffix == ".md":
        yield from check_links(root, name, text)
    if MAP.match(name):
        yield from check_map(root, name, text)


def check_tags(root):
    """A tag of a struct, union or enum is defined once in src and include: one name, one thing."""
    defined = {}
    for name, text in files_of(root):
        if name.startswith(("src/", "include/")) and pathlib.PurePath(name).suffix in {".c", ".h"}:
            code = without_comments(text)
            for match in TAG.finditer(code):
                where = f"{name}:{code.count(chr(10), 0, match.start(2)) + 1}"
                if (first := defined.setdefault(match[2], where)) != where:
                    yield f"{where}: {match[1]} {match[2]} is also defined in {first}"


def check_copies(root):
    """An example is a file alone, so that it has copies of functions: those of one name are equal."""
    first = {}
    for name, text in files_of(root):
        if not (name.startswith("examples/") and name.endswith(".c")):
            continue
        for match in FUNCTION.finditer(text):
            if name in OWN_OF_EXAMPLES.get(match[1], ()) or match[1] == "main":
                continue
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            other, body = first.setdefault(match[1], (where, match[0]))
            if match[0] != body:
                yield f"{where}: {match[1]}() is not as in {other}; OWN_OF_EXAMPLES of tools/check_style.py has those that differ"


def check_scenario_numbers(root):
    """Two scenarios have one number only if they are of one series: 02-every-mtu-0256, 02-every-mtu-0512."""
    first = {}
    for path in sorted((root / "scenarios").glob("*.json")):
        match = SCENARIO_NUMBER.match(path.stem)
        if not match:
            yield f"scenarios/{path.name}: the name does not begin with a number"
            continue
        name, series = first.setdefault(int(match[1]), (path.name, match[2]))
        if match[2] != series:
            yield f"scenarios/{path.name}: the number {match[1]} is that of scenarios/{name}"


def rxe_functions_of_rows(root):
    """{(row, file, function)} of the table of profiles."""
    for name, body in TRAIT.findall(text_of(root, RXE_ROWS)):
        args = [""]
        for string, comma in STRING_OR_COMMA.findall(body):
            args = [*args, ""] if comma else [*args[:-1], args[-1] + string]
        for part in args[TRAIT_FUNCTIONS].split("; ") if len(args) > TRAIT_FUNCTIONS else []:
            file, _, functions = part.partition(": ")
            for function in functions.split(", "):
                if function:  # none of rxe decides
                    yield name, file, function


def text_of(root, name):
    path = root / name
    return path.read_text() if path.exists() else ""


def check_rxe(root):
    """The page and the rows name the same functions, and no function is there twice."""
    rows, page, seen = set(rxe_functions_of_rows(root)), set(), set()
    parts = RXE_FILE.split(text_of(root, RXE_PAGE))[1:]
    for name, release, body in zip(parts[::3], parts[1::3], parts[2::3]):
        file = f"{release} {name}" if release else name
        for function, verdict, remark in RXE_ENTRY.findall(body):
            if not RXE_VERDICT.fullmatch(verdict) or (verdict.startswith("differs") and not remark.strip()):
                yield f"{RXE_PAGE}: {file}, {function}: '{verdict}' is no verdict, or lacks its remark"
            if (file, function) in seen:
                yield f"{RXE_PAGE}: {file}, {function} is there twice"
            seen.add((file, function))
            page |= {(row, file, function) for row in re.findall(r"`(\w+)`", verdict)}
    for row, file, function in sorted(page - rows):
        yield f"{RXE_PAGE}: {file}, {function} names {row}, whose row in {RXE_ROWS} does not name the function"
    for row, file, function in sorted(rows - page):
        yield f"{RXE_ROWS}: {row} names {file}: {function}, which {RXE_PAGE} does not say"


def check(root):
    alone = [problem for name, text in files_of(root) for problem in check_file(root, name, text)]
    return [*alone, *check_tags(root), *check_copies(root), *check_scenario_numbers(root), *check_rxe(root)]


SPDX = "/* SPDX-License-Identifier: MIT */\n"
PLANTS = {  # file, text -> what must be said about it ("" for nothing)
    ("src/emu/sim/a.c", SPDX + "int f(void)\n{\n    return rand();\n}\n"): "rand is banned",
    ("src/emu/sim/b.c", SPDX + "static double x;\n"): "double is banned",
    ("src/emu/sim/c.c", SPDX + "#include <time.h>\n"): "is banned",
    ("src/cli/d.c", SPDX + "void f(char *s)\n{\n    strcpy(s, s);\n}\n"): "strcpy is banned",
    ("src/cli/e.c", SPDX + '/* printf */ const char *s = "sprintf";\n'): "",
    ("src/emu/sim/f.h", SPDX + "void f(char *s) __attribute__((format(printf, 1, 2)));\n"): "",
    ("src/cli/g.c", "int x;\n"): "no SPDX",
    ("src/cli/h.c", SPDX + "int f(void)\n{\n" + "\n" * 70 + "}\n"): "function of 73 lines",
    ("docs/k.md", "see /wo" "rk/notes\n"): "path of one machine",
    ("docs/n.md", "[a](../none.md)\n"): "there is no docs/../none.md",
    ("docs/checks.md", "[a](../none.md)\n"): "",
    ("docs/o.md", "[n](o.md#n), [w](https://w.org/), `src/none.c`\n"): "there is no src/none.c",
    ("docs/s.md", "[scenario\n8](../scenarios/07-a-1.json), [7](../scenarios/07-a-1.json)\n"): "is the link of another scenario",
    ("scenarios/a-b.json", "{}\n"): "does not begin with a number",
    ("scenarios/7-b-1.json", "{}\n"): "scenarios/7-b-1.json: the number 7 is that of scenarios/07-a-1.json",
    ("scenarios/07-a-2.json", "{}\n"): "",
    ("ARCHITECTURE.md", "`sim/none.c`\n"): "no sim/none.c here",
    ("HACKING.md", "`nobody()` or `run_NAME()`\n"): "there is no function nobody()",
    ("docs/u.md", "`sim/none.c` of `nobody()`\n"): "",
    ("src/cli/l.c", SPDX + "/* TO" "DO */\n"): "unfinished",
    ("src/cli/m.c", SPDX + "\tint x;\n"): "tab",
    ("linux/virtio_rdma/m.c", SPDX.replace("MIT", "GPL-2.0") + "\tint x;\n"): "",
    ("linux/virtio_rdma/n.c", SPDX + "int x;\n"): "no SPDX line",
    ("src/cli/q.c", SPDX + "int f(R *r)\n{\n    return prng_next(r) % prng_below(r, 3);\n}\n"):
        "q.c:4: one statement draws twice",
    ("src/cli/r.c", SPDX + "int f(R *r)\n{\n    struct s s = {\n        .a = {prng_next(r)},\n"
     "        .b = prng_next(r),\n    };\n    return g(s);\n}\n"):
        "r.c:4: one statement draws twice",
    ("tests/s.c", SPDX + "static int d(R *r)\n{\n    return prng_below(r, 6);\n}\n\n"
     "int f(R *r)\n{\n    return g(d(r), d(r));\n}\n"): "s.c:9: one statement draws twice",
    ("src/cli/t.c", SPDX + "int f(R *r)\n{\n    int a = prng_next(r);\n"
     "    for (int i = prng_next(r); i < prng_next(r); i++)\n        a += prng_next(r);\n"
     "    if (prng_next(r)) {\n        a += prng_next(r);\n    }\n    return a + prng_next(r);\n"
     "}\n"): "",
    ("src/cli/v.c", SPDX + "/* So it is.  [IBTA1\n * 9.1.1] */\n"): "v.c:2: IBTA1 9.1.1 is no row",
    ("src/cli/w.c", SPDX + '#define S "so  [IBTA1 " \\\n    "C9-1, tshark]"\n'): "w.c:2: IBTA1 C9-1 is no row",
    ("src/cli/x.c", SPDX + "/* [RoCEv2; rxe (unverified)] */\n"): "x.c:2: the mark of a citation",
    ("src/cli/y.c", SPDX + "/* [virtio 1.2, 2.1]\n * (unverified). */\n"): "y.c:2: the mark of a citation",
    ("src/emu/facts/citations.def", SPDX + 'CITE(IBTA1, "9.2", VERIFIED, "[IBTA1 9.2]")\n'): "",
    ("tests/unit/z.golden", "=== a\nb\n"): "tests/unit/z.c has no cmocka_unit_test(every_golden_text_is_used)",
    ("examples/a.c", SPDX + "int f(void)\n{\n    return 1;\n}\n\nint f(void)\n{\n    return 2;\n}\n"):
        "examples/a.c:7: f() is not as in examples/a.c:2",
    ("examples/events.c", SPDX + "int main(void)\n{\n    return 1;\n}\n\nint main(void)\n{\n    return 2;\n}\n"): "",
    ("src/cli/z.c", SPDX + "struct twice {\n    int a;\n};\nenum twice { A };\n"):
        "z.c:5: enum twice is also defined in src/cli/z.c:2",
    ("src/cli/cmd/ab.c", SPDX + "void f(void)\n{\n    fopen(a, b);\n}\n"): "ab.c:4: fopen() opens something",
    ("src/cli/ac.c", SPDX + "void f(struct s *s)\n{\n    s->ops->vm(1);\n}\n"): "ac.c:4: vm() opens something",
    ("src/swarm/ad.c", SPDX + "void f(void)\n{\n    fopen(a, b);\n}\n"): "",
    ("src/cli/session/gate.c", SPDX + "void f(void)\n{\n    g();\n}\n"): "and it opens nothing",
    ("src/cli/aa.c", SPDX + "struct once {\n    int a;\n};\n/* struct once { */\nstruct once f(void);\n"): "",
    ("docs/rxe.md", "## `rxe_a.c`\n| `f` | row `R` | |\n"): "rxe_a.c, f names R, whose row",
    ("docs/rxe.md", "## `rxe_a.c`\n| `f` | perhaps | |\n"): "'perhaps' is no verdict",
    ("docs/rxe.md", "## `rxe_a.c`\n| `f` | differs, not modelled | |\n"): "lacks its remark",
    ("docs/rxe.md", "## `rxe_a.c`\n| `f` | same | |\n| `f` | same | |\n"): "rxe_a.c, f is there twice",
    ("docs/rxe.md", "## `rxe_a.c`\n| `f` | same | |\n## `rxe_a.c` of Linux 7.3\n| `f` | gone | |\n"): "",
    ("docs/rxe.md", "## `rxe_a.c` of Linux 7.3\n| `f` | row `R` | |\n"): "7.3 rxe_a.c, f names R, whose row",
    ("src/emu/facts/profiles.def", SPDX + 'TRAIT(R, 1, 0, 0,\n"a, b", "c",\n"d",\n"rxe_a.c: f",\n"[e]")\n'):
        "R names rxe_a.c: f, which docs/rxe.md does not say",
    ("src/cli/p.c", SPDX + "/* a\n *b\n */\nint f(int *p)\n{\n    *p = 1;\n}\n"): "by the formatter",
    ("src/cli/q.c", SPDX + "/* Is it so?  Then more. */\nbool f(void);\n"): "a question in a comment",
    ("src/cli/q.c", SPDX + "/* What it is. */\nbool f(void);\n"): "begins with a question word",
    ("tests/unit/q.c", SPDX + "/* What it is. */\nbool f(void);\n"): "",
    ("src/cli/q.c", SPDX + "/* Prints \"y?\", or `z?`. */\nconst char *f = \"/* a? */\";\n"): "",
}


def self_test():
    failed = 0
    for (name, text), wanted in PLANTS.items():
        with tempfile.TemporaryDirectory() as tmp:
            path = pathlib.Path(tmp, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            neighbour = pathlib.Path(tmp, "scenarios/07-a-1.json")
            neighbour.parent.mkdir(exist_ok=True)
            neighbour.write_text("{}\n")
            found = check(pathlib.Path(tmp))
        right = len(found) == 1 and wanted in found[0] if wanted else not found
        failed += not right
        if not right:
            print(f"MISSED: {name}: wanted '{wanted}', found {found}")
    return len(PLANTS) - failed, failed


def main():
    args = [a for a in sys.argv[1:] if a != "--self-test"]
    if "--self-test" in sys.argv:
        passed, failed = self_test()
    else:
        problems = check(pathlib.Path(args[0] if args else pathlib.Path(__file__).parent.parent))
        print(*problems, sep="\n", end="\n" if problems else "")
        passed, failed = int(not problems), len(problems)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
