#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""No temporary file or directory outlives the program, however it ends while it writes.

usage: check_leftovers.py RDMALAB [NAME...]

Every writer is tried with every signal that ends a program, once and twice, at the moment when the new file is complete
and has not its name yet (die_writing.c); and with a limit of the size of files.  What must be true then: nothing lies
about, the file is the old one or the new one as a whole, and the exit status tells what happened.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from program import FOREVER, PAIR, ROOT, TIMEOUT_S, Failure, Program, Tally, ensure, limit_files
from terminal import Terminals

OLD = "what was there\n"
FEW = PAIR + "post_recv h2.qp sge=mr[0:64]\npost_send h1.qp sge=mr[0:64]\nrun\n"
MUCH = FEW + "repeat 400 { post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]; run }\n"
FILES = {"few.lab": FEW, "much.lab": MUCH, "forever.lab": FOREVER, "fails.lab": FEW + "expect h1.qp.state == ERR\n"}

ANYWHERE = ["--allow", "files"]  # also over a file that is there

# The arguments, what is typed, the file; whether it is as long as the past.
WRITERS = {
    "run --events": (["run", "much.lab", "--events", "out.ndjson"], "", "out.ndjson", True),
    "run --pcap": (["run", "much.lab", "--pcap", "out.pcapng"], "", "out.pcapng", True),
    "run --ladder": (["run", "much.lab", "--ladder", "out.svg"], "", "out.svg", True),
    "run --timeline": (["run", "much.lab", "--timeline", "out.html"], "", "out.html", True),
    "export events": (ANYWHERE, MUCH + "export events out.ndjson\n", "out.ndjson", True),
    "export pcapng": ([*ANYWHERE, "--prompt"], MUCH + "export pcapng out.pcapng\n", "out.pcapng", True),
    "export vq": (ANYWHERE, FEW + "export vq out.svg h1.qp.sq\n", "out.svg", False),
    "session save": (ANYWHERE, MUCH + "session save out.lab\n", "out.lab", False),
    "save world": ([*ANYWHERE, "--prompt"], MUCH + "save world out.world.json\n", "out.world.json", False),
    "convert": (["convert", "much.lab", "out.json"], "", "out.json", False),
    "show --ladder": (["show", "past.ndjson", "--ladder", "out.svg"], "", "out.svg", True),
    "show --timeline": (["show", "past.ndjson", "--timeline", "out.html"], "", "out.html", True),
    "test --artifacts": (["test", "fails.lab", "--artifacts", "left"], "", "left/fails.lab/again.sh", False),
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXCPU]
for signal_of_ours in SIGNALS:  # one that whoever started this ignores would be ignored by the program, too
    signal.signal(signal_of_ours, signal.SIG_DFL if signal_of_ours != signal.SIGINT else signal.default_int_handler)


def preload(scratch):
    shim = pathlib.Path(scratch, "die_writing.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(ROOT / "tests/tools/die_writing.c")], check=True)
    return str(shim)


def make_ready(program):
    for name, text in FILES.items():
        program.file(name).write_text(text)
    program.file("tmp").mkdir(exist_ok=True)


def leftovers(program):
    known = set(FILES) | {"past.ndjson", "tmp", "left", "die_writing.so"} | {row[2] for row in WRITERS.values()}
    found = [str(path.relative_to(program.directory)) for path in pathlib.Path(program.directory).rglob("*")]
    return [name for name in found if name not in known and not name.startswith("left/fails.lab") or
            name.count(".") > pathlib.Path(name).name.count(".") and name.startswith("left/fails.lab/") and
            pathlib.Path(name).suffix not in (".sh", ".svg", ".html", ".pcapng", ".ndjson", ".txt") or name.startswith("tmp/")]


def run(program, args, stdin, name, environment, **more):
    """The status, what was printed, and what the file is then."""
    file = program.file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OLD)
    result = program.run(*args, stdin=stdin, env={**os.environ, "TMPDIR": str(program.file("tmp")), **environment}, **more)
    return result.returncode, result.stdout + result.stderr, file.read_bytes()


def check_signals(program):
    """A signal that ends the program leaves the old file or the new one, and nothing else."""
    shim = preload(program.directory)
    program.run("run", "much.lab", "--events", "past.ndjson", "--quiet")
    for writer, (args, stdin, name, _) in WRITERS.items():
        status, printed, new = run(program, args, stdin, name, {})
        ensure(new != OLD.encode() and status in (0, 1), f"{writer}: exit status {status}: {printed[-500:]}")
        for number in SIGNALS:
            for times in 1, 2:
                die = {"LD_PRELOAD": shim, "DIE_WRITING": str(int(number)), "DIE_WRITING_TIMES": str(times)}
                status, printed, left = run(program, args, stdin, name, die)
                what = f"{writer}, {number.name} {times} times: exit status {status}"
                ensure(not leftovers(program), f"{what}: {leftovers(program)}")
                ensure(left in (OLD.encode(), new) or b"interrupted" in left or len(left) > 1000, f"{what}: {left[-500:]}")
                told = status in (-number, 128 + number) or (number == signal.SIGINT and "--prompt" in args)
                ensure(told or args[0:1] == ["test"], f"{what}: {printed[-500:]}")


def has_unnamed_files(directory):
    """Returns true if the file system has files without a name, which end with their last process."""
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_WRONLY))
        return True
    except OSError:
        return False


def check_kill(program):
    """SIGKILL leaves the old file and nothing else, where a file can be without a name until it is complete."""
    if not has_unnamed_files(program.directory):
        return
    die = {"LD_PRELOAD": preload(program.directory), "DIE_WRITING": str(int(signal.SIGKILL))}
    program.run("run", "much.lab", "--events", "past.ndjson", "--quiet")
    for writer, (args, stdin, name, _) in WRITERS.items():
        status, printed, left = run(program, args, stdin, name, die)
        what = f"{writer}: exit status {status}"
        ensure(status == -signal.SIGKILL or args[0:1] == ["test"], f"{what}: {printed[-500:]}")
        ensure(not leftovers(program), f"{what}: {leftovers(program)}")
        ensure(left == OLD.encode(), f"{what}: {left[-500:]}")


def check_limit_of_files(program):
    """A file that becomes too large is an error, and the old one stays."""
    program.run("run", "much.lab", "--events", "past.ndjson", "--quiet")
    for writer, (args, stdin, name, is_long) in WRITERS.items():
        if not is_long:
            continue
        status, printed, left = run(program, args, stdin, name, {}, preexec_fn=lambda: limit_files(2000))
        ensure(status == 1 and f"{name}: write error" in printed, f"{writer}: exit status {status}: {printed[-500:]}")
        ensure(left == OLD.encode(), f"{writer}: {left[:200]}")
        ensure(not leftovers(program), f"{writer}: {leftovers(program)}")


def check_full_disk(program):
    """A disk without room is an error."""
    for args, stdin in ((["run", "few.lab", "--pcap", "/dev/full"], ""), (["run", "few.lab", "--events", "/dev/full"], ""),
                        (ANYWHERE, FEW + "export pcapng /dev/full\n"),
                        (ANYWHERE, FEW + "save world /dev/full\n")):
        result = program.run(*args, stdin=stdin)
        printed = result.stdout + result.stderr
        ensure(result.returncode == 1 and "/dev/full: write error" in printed, f"{args}: {result.returncode}: {printed}")
    with open("/dev/full", "w") as full:
        process = subprocess.run([program.path, "run", "few.lab"], cwd=program.directory, stdout=full, stderr=subprocess.PIPE,
                                 text=True, timeout=TIMEOUT_S, check=False)
    ensure(process.returncode == 1 and "standard output: write error" in process.stderr, f"{process.returncode}: {process.stderr}")


def check_directory_of_test(program):
    """The directory that `test` makes for files of the scenarios is gone, whatever ends it."""
    for number in SIGNALS + [None]:
        # us between two signals: the second one meets the handler of the first
        for delay in [None, *range(20)] if number else [None]:
            process = program.start("test", "forever.lab", "few.lab", "forever.lab",
                                    env={**os.environ, "TMPDIR": str(program.file("tmp"))})
            end = time.monotonic() + TIMEOUT_S
            while not list(program.file("tmp").iterdir()):
                ensure(time.monotonic() < end, "there never was one")
            if number is None:
                process.stdout.close()
                process.send_signal(signal.SIGTERM)
            else:
                process.send_signal(number)
                if delay is not None:
                    end = time.monotonic() + delay / 1e6
                    while time.monotonic() < end:
                        pass
                    process.send_signal(number)
            status = process.wait(TIMEOUT_S)
            ensure(number is None or status in (-number, 128 + number), f"{number}: {status}")
            ensure(not list(program.file("tmp").iterdir()), f"{number}: {list(program.file('tmp').iterdir())}")


def check_closed_pipe(program):
    """Nobody reads the output any more: `test` ends, and leaves nothing."""
    program.file("many").mkdir()
    for i in range(100):
        program.file(f"many/tell{i}.lab").write_text(FEW + "expect h1.qp.state == ERR\n")
    process = subprocess.Popen(f"'{program.path}' test many | head -1", shell=True, cwd=program.directory, text=True,
                               env={**os.environ, "TMPDIR": str(program.file("tmp"))}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.communicate(timeout=TIMEOUT_S)
    ensure(not list(program.file("tmp").iterdir()), list(program.file("tmp").iterdir()))


def check_history(program):
    """The history that is cut at its beginning leaves nothing when the prompt ends just then."""
    home = pathlib.Path(program.directory, "home")
    home.mkdir()
    terminals = Terminals(program.path, str(home))
    t = terminals.open()
    t.do("note here")
    t.end()
    file, = (home / ".local/state/rdmalab/history").iterdir()
    for number in signal.SIGTERM, signal.SIGHUP:
        file.write_bytes(b"".join(b"+ note %d\n" % i for i in range(2600)))
        try:
            terminals.open(LD_PRELOAD=preload(program.directory), DIE_WRITING=str(int(number)))
        except Failure:
            pass  # it ended before its prompt
        ensure(list(file.parent.iterdir()) == [file], list(file.parent.iterdir()))
        ensure(len(file.read_bytes().splitlines()) == 2600, "it is not the old one")
    terminals.close()


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check_leftovers.py RDMALAB [NAME...]")
    tally = Tally()
    for name, function in list(globals().items()):
        if not name.startswith("check_") or (sys.argv[2:] and name[6:] not in sys.argv[2:]):
            continue
        with tempfile.TemporaryDirectory() as directory:
            program = Program(str(pathlib.Path(sys.argv[1]).resolve()), directory)
            make_ready(program)
            try:
                function(program)
                tally.expect(True, function.__doc__)
            except (Failure, OSError, ValueError, subprocess.SubprocessError) as error:
                tally.expect(False, f"{name}: {function.__doc__}", error)
            program.end()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
