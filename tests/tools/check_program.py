#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What only the whole program does: modes, options, exit statuses, formats, signals.

usage: check_program.py RDMALAB

Each row of CASES is one run of the program in a directory of its own, with the files of FILES in it
and a link to scenarios/.  What is too long for a row is a function check_NAME.  Each row and each
function is one check.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
START_S = 0.020  # from the start to the prompt, at the most

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
    "old.ndjson": '{"at_ns":5,"id":"#1.1","ev":"cq_event","host":"h1","cqn":1}\n'
                  '{"at_ns":6,"id":"#2.1","ev":"of_the_future","host":"h1"}\n',
    "cut.ndjson": '{"format":"rdmalab-trace","version":1}\n{"at_ns":5,"id":"#1.1","ev":"tx"',
    "version2.ndjson": '{"format":"rdmalab-trace","version":2,"rdmalab":"9.1.0"}\n',
    "descending.ndjson": '{"at_ns":5,"id":"#2.1","ev":"cq_event"}\n{"at_ns":5,"id":"#1.1","ev":"cq_event"}\n',
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
    # saved traces
    (["show"], "", 2, r"^usage: rdmalab show FILE\.ndjson"),
    (["show", "--help"], "", 0, r"^  why \[56\.4\]"),
    (["show", "none.ndjson"], "", 2, r"none\.ndjson: No such file"),
    (["show", "."], "", 2, r"\.:1: it cannot be read: Is a directory"),
    (["show", "empty/readme.txt"], "", 2, r"readme\.txt:1: not JSON; each line of a trace is a JSON object\n"
     r'  "rdmalab run FILE --events FILE\.ndjson" writes a trace$'),
    (["show", "old.ndjson"], "", 0, r"^events    1\n(.|\n)*^note      the trace has no header(.|\n)*"
     r"^note      1 event of an unknown kind was skipped$"),
    (["show", "old.ndjson", "events"], "", 0, r"^rdmalab: old\.ndjson: 1 event of an unknown kind(.|\n)*"
     r"5ns +#1\.1 +cq_event +h1\.cqn1 completion event$"),
    (["show", "-", "count", "tx"], '{"format":"rdmalab-trace","version":1}\n', 0, r"^0$"),
    (["show", "cut.ndjson"], "", 0, r"^note      the last line is not whole and was left out"),
    (["show", "cut.ndjson", "count", "tx"], "", 1, r"events are missing in the trace(.|\n)*^at least 0$"),
    (["show", "cut.ndjson", "why"], "", 1, r"there are no events in the trace"),
    (["show", "version2.ndjson"], "", 2, r"format version 2, and this rdmalab reads version 1; "
     r"read it with the rdmalab that wrote it, 9\.1\.0"),
    (["show", "descending.ndjson"], "", 2, r"descending\.ndjson:2: #1\.1 is not later than the event before it"),
    (["show", "old.ndjson", "h1.qp"], "", 1, r'a saved trace has no state, so that it does not know "h1\.qp"(.|\n)*'
     r'it knows what happened: events host=h1, why 12\.3, count "tx"$'),
    (["show", "old.ndjson", "why", "h1.cq.wc[0]"], "", 1, r"a saved trace has no state(.|\n)*events host=h1 kinds=cqe"),
    (["show", "old.ndjson", "evnts"], "", 1, r'did you mean "events"\?'),
    (["show", "old.ndjson", "events", "1..x"], "", 1, r"which\? a range like"),
    (["show", "old.ndjson", "events", "kinds=rr"], "", 1, r"no such kind of event: rr"),
    (["show", "old.ndjson", "events", "bogus=1"], "", 1, r"bogus"),
    (["show", "old.ndjson", "events; events"], "", 2, r"one question at a time"),
    (["show", "old.ndjson", "events", "last", "2", "1", "1", "1", "1", "1", "1", "1"], "", 1, r"nothing can follow"),
    (["show", "old.ndjson", "packet"], "", 1, r"no frame has been sent yet"),
    (["show", "old.ndjson", "packet", "1.1"], "", 1, r"#1\.1 is about no frame"),
    (["show", "old.ndjson", "packet", "9.1"], "", 1, r"error: no such event$"),
    (["show", "old.ndjson", "why", "9.1"], "", 1, r"there is no event #9\.1 in the trace"),
    (["show", "old.ndjson", "why", "'9"], "", 1, r"no state"),
    (["show", "old.ndjson", "why", "9.1.1"], "", 1, r"this names no event"),
    (["show", "old.ndjson", "count"], "", 2, r"count of what\?(.|\n)*for example: count \"tx, host==h1, psn==101\"$"),
    (["show", "old.ndjson", "count", "txx"], "", 1, r'did you mean "tx"\?'),
    (["show", "old.ndjson", "count(tx) == 1"], "", 2, r"this is more than one count"),
    (["show", "old.ndjson", "--from", "3"], "", 2, r"--from, --to and --packets need --ladder FILE"),
    (["show", "old.ndjson", "events", "--ladder", "-"], "", 2, r"one at a time"),
    (["show", "old.ndjson", "--ladder", "-", "--to", "x"], "", 2, r"--to x: no event; one is like 12\.3"),
    (["show", "old.ndjson", "--ladder", "-", "--packets", "0"], "", 2, r"--packets 0: a ladder has 1 to 1000"),
    (["show", "old.ndjson", "--ladder", "none/l.svg"], "", 1, r"none/l\.svg: No such file"),
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
    (["swarm", "--seed", "2", "--hash"], "", 0, r"^seed 2: hash (?!0{16})[0-9a-f]{16}\n1 passed, "),
    (["swarm", "--outside", "--seed", "2", "--hash"], "", 0,
     r"^seed 2: hash (?!0{16})[0-9a-f]{16}\n1 passed, "),
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
    header, *events = [json.loads(line) for line in program.file("e").read_text().splitlines()]
    ensure(header["format"] == "rdmalab-trace" and header["version"] == 1, f"header: {header}")
    ensure([h["name"] for h in header["hosts"]] == ["h1", "h2"], f"hosts: {header}")
    ensure(events and all(event["ev"] for event in events), "events")
    ensure(program.file("p").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a", "pcapng")
    ensure("</svg>" in program.file("l").read_text(), "SVG")


SAVED = ["04-lost-request", "10-rnr-exhausted", "18-damaged-frame", "22-switch", "26-unreliable-link"]


def check_saved_answers(program):
    """A saved trace answers byte for byte as the lab that wrote it."""
    for scenario in [ROOT / "scenarios" / f"{name}.json" for name in SAVED]:
        program.run("run", str(scenario), "--events", "s.ndjson", "--ladder", "s.svg")
        last = json.loads(program.file("s.ndjson").read_text().splitlines()[-1])["id"]
        for question in ["show events", "show events last 9 kinds=tx,rx host=h1", "show events json",
                         "why", f"why {last}"]:
            lab = program.run("-c", f"source {scenario}; {question}")
            file = program.run("show", "s.ndjson", *question.split())
            ensure(file.returncode == 0 and file.stdout, f"{scenario.name}: {question}: {file.stderr}")
            ensure(lab.stdout.endswith(file.stdout), f"{scenario.name}: {question} differs: {file.stdout}")
        program.run("show", "s.ndjson", "--ladder", "again.svg")
        ensure(program.file("again.svg").read_bytes() == program.file("s.svg").read_bytes(), f"{scenario.name}: SVG")
        lab = program.run("run", str(scenario), "--ladder", "-")
        file = program.run("show", "s.ndjson", "--ladder", "-")
        ensure(lab.stdout.endswith(file.stdout) and file.stdout, f"{scenario.name}: ladder")
        tx = sum('"ev":"tx"' in line for line in program.file("s.ndjson").read_text().splitlines())
        ensure(program.run("show", "s.ndjson", "count", "tx").stdout == f"{tx}\n", f"{scenario.name}: count")


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
    times = []
    for _ in range(10):
        start = time.monotonic()
        program.run("-c", "quit")
        times.append(time.monotonic() - start)
    ensure(min(times) < START_S, f"takes {min(times) * 1000:.1f} ms")


def end_by(program, number):
    """Exit status and output of a run that never ends, after a signal."""
    with subprocess.Popen([program.path, "run", "forever.lab"], cwd=program.directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        time.sleep(0.3)
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
