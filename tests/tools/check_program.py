#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What only the whole program does: modes, options, exit statuses, formats, signals.

usage: check_program.py RDMALAB

Each row of CASES is one run of the program in a directory of its own, with the files of FILES in it
and a link to scenarios/.  What is too long for a row is a function check_NAME.  Each row and each
function is one check.
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
START_RATIO = 20  # a prompt is there in so many times what a shell takes, at the most
RUNNING_S = 0.1  # of processor time: so much of it, and a program is past its start

PAIR = """host h1 h2
link h1 h2
on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq; \
create_qp pd type=rc send_cq=cq recv_cq=cq as qp }
connect h1.qp h2.qp
"""
FOREVER = PAIR + "post_send h1.qp sge=mr[0:64]\nrun\n"  # no receive: RNR without end
FILES = {
    "good.lab": "scenario title=good tags=quick\nhost h1\nexpect h1.irqs == 0\n",
    "plain.lab": "host h1\n",
    "stops.lab": "expect h1.irqs == 1\n",
    "fails.lab": "scenario title=fails\nhost h1\nexpect h1.irqs == 1\n",
    "wrong.lab": "scenario title=wrong\nhost h1\nbogus\n",
    "syntax.lab": "host h1\nhost \"h2\n",
    "skipped.lab": "scenario title=skipped skip=\"no tap here\"\nhost h1\n",
    "limit.lab": "scenario title=limit ticks=500\n" + FOREVER,
    "forever.lab": "scenario title=forever ticks=1000000000000\n" + FOREVER,
    "empty/readme.txt": "no scenario\n",
    "program.lab": "host h1\nprogram h1 rc_pingpong server -p 18619\nrun 1ms\n",
}

CASES = [  # arguments, standard input, exit status, what the output must match
    (["--version"], "", 0, r"^rdmalab \d+\.\d+\.\d+$"),
    (["--help"], "", 0, r"rdmalab test PATH"),
    (["doctor"], "", 0, r"line editor: "),
    (["--bogus"], "", 2, r"unknown option --bogus"),
    (["run"], "", 2, r"usage"),
    (["run", "none.json"], "", 2, r"none\.json: No such file"),
    (["test"], "", 2, r"usage"),
    (["test", "empty"], "", 2, r"no scenario found(.|\n)*0 passed, 0 failed, 0 skipped$"),
    (["explain", "rnr_nak"], "", 0, r"receiver not ready"),
    (["explain", "nonsense"], "", 1, r'nothing is known of "nonsense"'),
    # line by line: bad syntax is 2, everything else that is wrong 1
    (["-c", "host h1; show h1.irqs"], "", 0, r"0"),
    (["-c", "hosst h1"], "", 1, r'did you mean "host"\?'),
    (["-c", "host h1; show h1.irq"], "", 1, r"h1\.irqs?"),
    (["-c", "host h1 max_cqq=3"], "", 1, r'did you mean "max_cq"\?'),
    (["-c", "host h1 features_off=EVENT_IDXX"], "", 1, r"EVENT_IDX"),
    (["-c", 'host "h1'], "", 2, r"error"),
    (["good.lab"], "", 0, r""),
    (["plain.lab", "stops.lab", "plain.lab"], "", 1, r"stops\.lab:1:\d+: FAIL"),
    (["wrong.lab"], "", 1, r'wrong\.lab:3:1: error: unknown command "bogus"'),
    (["syntax.lab"], "", 2, r"syntax\.lab:2:\d+: error"),
    ([], "host h1\nbogus\n", 1, r'unknown command "bogus"'),
    (["--prompt"], "bogus\nhost h1\n", 1, r"h1  10\.0\.0\.1"),  # the prompt goes on
    # files are validated before anything runs
    (["run", "good.lab"], "", 0, r""),
    (["run", "wrong.lab"], "", 2, r"bogus"),
    (["run", "fails.lab"], "", 1, r"h1\.irqs"),
    (["run", "limit.lab"], "", 1, r"limit of 500 ticks(.|\n)*h1\.qp: SEND wr_id=0 waits for"),
    (["run", "skipped.lab"], "", 77, r"no tap here"),
    (["run", "scenarios/01-first-send.json", "--hash"], "", 0, r"^hash [0-9a-f]{16}$"),
    (["run", "forever.lab", "--until", "h1.qp.rnr_retries == 3"], "", 0, r""),
    (["test", "good.lab"], "", 0, r"^1 passed, 0 failed, 0 skipped$"),
    (["test", "good.lab", "fails.lab"], "", 1, r"^1 passed, 1 failed, 0 skipped$"),
    (["test", "good.lab", "wrong.lab"], "", 2, r"failed, 0 skipped$"),
    (["test", "good.lab", "skipped.lab"], "", 0, r"^1 passed, 0 failed, 1 skipped$"),
    (["test", "skipped.lab"], "", 77, r"^0 passed, 0 failed, 1 skipped$"),
    (["test", "forever.lab", "fails.lab", "--timeout", "1"], "", 124,
     r"wall-clock limit(.|\n)*0 passed, 2 failed, 0 skipped$"),
    (["test", "good.lab", "fails.lab", "--tag", "quick"], "", 0, r"^1 passed, 0 failed"),
    (["test", "scenarios/26-unreliable-link.json", "--seeds", "1..4", "--twice"], "", 0,
     r"^4 passed, 0 failed, 0 skipped$"),
    (["test", "good.lab", "fails.lab", "--format", "tap"], "", 1,
     r"^TAP version 13\n1\.\.2\nok 1 - good\.lab\nnot ok 2 - fails\.lab"),
    (["test", "fails.lab", "--format", "github"], "", 1, r"^::error file=fails\.lab,line=3,"),
    (["test", "good.lab", "fails.lab", "--list"], "", 0, r"good\.lab  good\n.*fails\.lab  fails"),
    # programs: their exchange goes over TCP of this machine
    (["-c", "host h1 h2; link h1 h2 loss=1%; program h1 rc_pingpong server -n 9 -s 9000 -p 18617; "
      "program h2 rc_pingpong client -n 9 -s 9000 -p 18617 -e; run; "
      "expect h1.program.done and h2.program.done and h2.program.received == 9; show live"], "", 0,
     r"162000 bytes in .*\n9 iters in (.|\n)*client: done; sent 9, received 9 of 9"),
    (["-c", "host h1; program h1 rc_pingpong client -p 1; run"], "", 1, r"Couldn't connect to localhost:1: "),
    (["-c", "host h1; program h1 rc_pingpong server -p 18618; program h1 rc_pingpong server -p 18618; run"],
     "", 1, r"Couldn't listen to port 18618: (.|\n)*another program listens there; -p"),
    (["test", "program.lab"], "", 1, r'a test has no live ports(.|\n)*"rdmalab run FILE"'),
    (["run", "program.lab", "--hash"], "", 1, r"a lab that follows real time has no hash"),
    (["-c", "host h1; program h1 rc_pingpong server -q"], "", 1, r'no option "-q"'),
    (["-c", "host h1; program h1 rc_pingpong server -n5"], "", 1, r'no option "-n5"'),
    (["-c", "host h1; program h1 rc_pingpong server -s"], "", 2, r"-s needs a value"),
    (["-c", "host h1; program h1 rc_pingpong server -g 9"], "", 1, r"h1 has no GID 9"),
    (["-c", "host h1 h2; link h1 h2; ping h1 h2 -c 2; ping h2 fe80::ff:fe00:1"], "", 0, r"2 sent, 2 received"),
    (["-c", "host h1 h2; link h1 h2; ping h1 10.0.0.99 -c 2"], "", 1, r"2 of 2 pings were not answered"),
    (["swarm", "--seeds", "1..3"], "", 0, r"^3 passed, 0 failed, 0 skipped$"),
    (["swarm", "--outside", "--seed", "4"], "", 0, r"^1 passed, 0 failed, 0 skipped$"),
    (["swarm", "--inside"], "", 2, r"^usage: "),
]


class Failure(Exception):
    pass


def ensure(truth, message):
    if not truth:
        raise Failure(message)


class Program:
    def __init__(self, path, directory):
        self.path, self.directory = path, directory

    def run(self, *args, stdin=""):
        return subprocess.run([self.path, *args], input=stdin, cwd=self.directory, text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=False)

    def file(self, name):
        return pathlib.Path(self.directory, name)


def check_case(program, args, stdin, status, pattern):
    result = program.run(*args, stdin=stdin)
    output = result.stderr + result.stdout
    ensure(result.returncode == status, f"exits with {result.returncode}, not {status}: {output}")
    ensure(re.search(pattern, output, re.MULTILINE), f"nothing matches {pattern!r}: {output}")


def check_json_report(program):
    """--format json is JSON."""
    result = program.run("test", "good.lab", "fails.lab", "--format", "json")
    report = json.loads(result.stdout)
    ensure(result.stderr.endswith("1 passed, 1 failed, 0 skipped\n"), "the last line")
    ensure([report["passed"], report["failed"]] == [1, 1], f"counts: {report}")


def check_junit_report(program):
    """--junit is XML with a failure in it."""
    program.run("test", "good.lab", "fails.lab", "--junit", "junit.xml")
    suite = xml.etree.ElementTree.parse(program.file("junit.xml")).getroot()
    ensure(len(list(suite.iter("testcase"))) == 2, "two test cases")
    ensure(len(list(suite.iter("failure"))) == 1, "one failure")


def check_artifacts(program):
    """A failure leaves its pcapng, ladder, events and command."""
    program.run("test", "good.lab", "fails.lab", "--artifacts", "left")
    names = sorted(p.suffix for p in program.file("left").iterdir())
    ensure(names == [".ndjson", ".pcapng", ".sh", ".svg"], f"left are {names}")


def check_outputs(program):
    """run writes events, frames and the ladder."""
    program.run("run", "scenarios/01-first-send.json", "--events", "e", "--pcap", "p", "--ladder", "l")
    ensure(all(json.loads(line)["ev"] for line in program.file("e").read_text().splitlines()), "events")
    ensure(program.file("p").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a", "pcapng")
    ensure("</svg>" in program.file("l").read_text(), "SVG")


def check_convert(program):
    """Every scenario goes to .lab and back, and arrives byte for byte."""
    for scenario in sorted((ROOT / "scenarios").glob("*.json")):
        program.run("convert", str(scenario), "there.lab")
        program.run("convert", "there.lab", "back.json")
        ensure(program.file("back.json").read_bytes() == scenario.read_bytes(), f"{scenario.name} differs")


def check_bench(program):
    """bench --format json has its figures, none of them 0."""
    figures = json.loads(program.run("bench", "--format", "json").stdout)
    ensure(len(figures) == 6 and all(v > 0 for v in figures.values()), f"figures: {figures}")


def check_start(program):
    """A prompt is there at once."""
    shell = Program("sh", program.directory)
    times = {program: [], shell: []}
    for _ in range(10):
        for who, line in ((program, "quit"), (shell, ":")):
            start = time.monotonic()
            who.run("-c", line)
            times[who].append(time.monotonic() - start)
    own, other = (min(times[who]) * 1000 for who in (program, shell))
    ensure(own < START_RATIO * other, f"takes {own:.1f} ms; a shell, {other:.1f} ms")


def check_address_space(program):
    """A lab takes the addresses that a limit leaves it, and says how many are too few."""
    for args in (["-c", "host h1"], ["run", "good.lab"], ["test", "good.lab"]):
        for gib, status, says in ((4, 0, ""), (0.5, 1, "it needs 1 GiB of address space")):
            limit = int(gib * (1 << 30))
            done = subprocess.run([program.path, *args], cwd=program.directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False,
                                  preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_AS, (n, n)))
            ensure(done.returncode == status and says in done.stdout,
                   f"{args} with {gib} GiB: {done.returncode}: {done.stdout}")


def wait_until_running(pid):
    """Until the process has worked for RUNNING_S, however busy the machine is."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        user, system = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        if (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") >= RUNNING_S:
            return
        time.sleep(0.01)
    raise Failure(f"process {pid} does not run")


def end_by(program, number):
    """Exit status and output of a run that never ends, after a signal."""
    with subprocess.Popen([program.path, "run", "forever.lab"], cwd=program.directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        wait_until_running(process.pid)
        process.send_signal(number)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, output


def check_interrupt(program):
    """^C ends a run with 130."""
    status, output = end_by(program, signal.SIGINT)
    ensure(status == 130 and "interrupted" in output, f"{status}: {output}")


def check_abort(program):
    """A failed assertion, which is an abort, exits with 99 and the command that replays it."""
    status, output = end_by(program, signal.SIGABRT)
    ensure(status == 99 and "rdmalab run forever.lab --seed 1" in output, f"{status}: {output}")


def failed(what, function, *args):
    try:
        function(*args)
        return 0
    except (Failure, OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError,
            subprocess.TimeoutExpired) as error:
        print(f"{what}: {error}")
        return 1


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    functions = {n: f for n, f in globals().items() if n.startswith("check_") and n != "check_case"}
    with tempfile.TemporaryDirectory() as directory:
        program = Program(str(pathlib.Path(sys.argv[1]).resolve()), directory)
        for name, text in FILES.items():
            program.file(name).parent.mkdir(exist_ok=True)
            program.file(name).write_text(text)
        program.file("scenarios").symlink_to(ROOT / "scenarios")
        n_failed = sum(failed(" ".join(["rdmalab", *c[0]]), check_case, program, *c) for c in CASES)
        n_failed += sum(failed(f.__doc__, f, program) for f in functions.values())
    print(f"{len(CASES) + len(functions) - n_failed} passed, {n_failed} failed")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
