# SPDX-License-Identifier: MIT
"""What the checks of the whole program have in common.

A check is a row (arguments, standard input, exit status, what the output must match), or a function
check_NAME(program) whose first line of documentation says what is true.
"""
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60

PAIR = """host h1 h2
link h1 h2
on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq; \
create_qp pd type=rc send_cq=cq recv_cq=cq as qp }
connect h1.qp h2.qp
"""
FOREVER = PAIR + "post_send h1.qp sge=mr[0:64]\nrun 1000000s\n"  # no receive: RNR without end; without a time it would be noticed

# Who starts the checks in the background may ignore signals, and programs inherit that.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def limit_files(n_bytes):
    """For preexec_fn: how large a file of a child may become."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def limit_memory(n_bytes):
    """For preexec_fn: what a child may have."""
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


class Failure(Exception):
    pass


def ensure(truth, message):
    if not truth:
        raise Failure(message)


class Tally:
    """Checks that go on after a failure, which is printed, and are counted.

    @output is a file for the failures; None: standard output.
    """

    def __init__(self, output=None):
        self.passed = self.failed = 0
        self.output = output

    def expect(self, right, what, got=""):
        if right:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}\n{got}", file=self.output)

    def end(self):
        """Prints the last line; the exit status.  That nothing was checked is a failure: a name that no check has."""
        self.expect(self.passed + self.failed > 0, "something is checked", "no check has that name")
        print(f"{self.passed} passed, {self.failed} failed")
        return int(self.failed > 0)


class Program:
    """The program, in a directory of its own."""

    def __init__(self, path, directory):
        self.path, self.directory = path, directory
        self.started = []

    def run(self, *args, stdin="", timeout=TIMEOUT_S, before=(), **more):
        """Runs the program; by the command @before, if it is given."""
        return subprocess.run([*before, self.path, *args], input=stdin, cwd=self.directory, text=True,
                              errors="replace", capture_output=True, timeout=timeout, check=False, **more)

    def start(self, *args, **more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.started.append(subprocess.Popen([self.path, *args], cwd=self.directory, text=True, **(pipes | more)))
        return self.started[-1]

    def end(self):
        """Ends what a failed check has left."""
        for process in self.started:
            process.kill()
            process.communicate()

    def built(self, name):
        """The path of a file that was built beside the program."""
        return pathlib.Path(self.path).parent / name

    def file(self, name):
        return pathlib.Path(self.directory, name)


def check_row(program, args, stdin, status, pattern):
    result = program.run(*args, stdin=stdin)
    output = result.stderr + result.stdout
    ensure(result.returncode == status, f"exits with {result.returncode}, not {status}: {output}")
    ensure(re.search(pattern, output, re.MULTILINE), f"nothing matches {pattern!r}: {output}")


def failed(what, function, *args):
    try:
        function(*args)
        return 0
    except (Failure, OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError,
            subprocess.TimeoutExpired) as error:
        print(f"{what}: {error}")
        return 1


def main(usage, files, rows, names):
    """Makes all checks in a directory with @files and links to scenarios/ and book/; functions are in @names."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    functions = [f for n, f in names.items() if n.startswith("check_") and n != "check_row"]
    with tempfile.TemporaryDirectory() as directory:
        program = Program(str(pathlib.Path(sys.argv[1]).resolve()), directory)
        for name, text in files.items():
            program.file(name).parent.mkdir(exist_ok=True)
            program.file(name).write_text(text)
        for linked in "scenarios", "book":
            program.file(linked).symlink_to(ROOT / linked)
        n_failed = sum(failed(" ".join(["rdmalab", *r[0]]), check_row, program, *r) for r in rows)
        n_failed += sum(failed(f.__doc__, f, program) for f in functions)
        program.end()
    print(f"{len(rows) + len(functions) - n_failed} passed, {n_failed} failed")
    return int(n_failed > 0)
