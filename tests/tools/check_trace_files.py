#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`rdmalab show`: what a saved trace answers, and what is said of damaged ones.

usage: check_trace_files.py RDMALAB

Rows and functions as in check_program.py.
"""
import json
import re
import sys

import program as whole
from program import ensure

FILES = {
    "empty/readme.txt": "no trace\n",
    "sent.ndjson": "".join(f'{{"at_ns":{n},"id":"#{n}.1","ev":"tx","host":"h1","peer":"h2"}}\n' for n in (1, 2, 3)),
    "old.ndjson": '{"at_ns":5,"id":"#1.1","ev":"cq_event","host":"h1","cqn":1}\n'
                  '{"at_ns":6,"id":"#2.1","ev":"of_the_future","host":"h1"}\n',
    "cut.ndjson": '{"format":"rdmalab-trace","version":1}\n{"at_ns":5,"id":"#1.1","ev":"tx"',
    "fields.ndjson": '{"format":"rdmalab-trace","version":1,"events":3}\n'
                     '{"at_ns":1,"id":"#1.1","ev":"switch_up","number":0,"name":"s1"}\n'
                     '{"at_ns":5,"id":"#2.1","ev":"cq_event","host":"h1"}\n'
                     '{"at_ns":5,"id":"#2.2","ev":"lost","host":"h1","name":"f1"}\n',
    "circle.ndjson": '{"format":"rdmalab-trace","version":1}\n'
                     '{"at_ns":1,"id":"#1.1","ev":"host_up","host":"h1","name":"h1"}\n'
                     '{"at_ns":5,"id":"#2.1","ev":"fault","host":"h1","by":"CORRUPT","tx":"#2.1"}\n'
                     '{"at_ns":6,"id":"#3.1","ev":"rx","host":"h1","act":"ACCEPT","tx":"#2.1"}\n',
    "version2.ndjson": '{"format":"rdmalab-trace","version":2,"rdmalab":"9.1.0"}\n',
    "descending.ndjson": '{"at_ns":5,"id":"#2.1","ev":"cq_event"}\n{"at_ns":5,"id":"#1.1","ev":"cq_event"}\n',
}

CASES = [  # arguments, standard input, exit status, what the output must match
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
    (["show", "cut.ndjson", "count", "tx"], "", 1, r"events are missing, or may be(.|\n)*^at least 0$"),
    (["show", "old.ndjson", "count", "cq_event"], "", 1, r"events are missing, or may be(.|\n)*^at least 1$"),
    (["show", "fields.ndjson", "count", "cq_event"], "", 0, r"^1$"),
    (["show", "fields.ndjson", "count", "cq_event, host==h1"], "", 0, r"^1$"),
    (["show", "fields.ndjson", "count", "cq_event, cqn==0"], "", 1, r'not all cq_event events of the trace have "cqn"'),
    (["show", "fields.ndjson", "count", "lost, name==f1"], "", 0, r"^1$"),
    (["show", "fields.ndjson", "count", "lost, host!=none"], "", 0, r"^1$"),
    (["show", "fields.ndjson", "count", "lost, host==none"], "", 0, r"^0$"),
    (["show", "fields.ndjson", "count", "lost, name==chance"], "", 0, r"^0$"),
    (["show", "fields.ndjson", "count", "forwarded, name==s1"], "", 0, r"^0$"),
    (["show", "fields.ndjson", "count", "lost, name!=f2"], "", 1, r'that a fault did, called "f2"(.|\n)*kinds=lost'),
    (["show", "circle.ndjson", "--ladder", "-"], "", 0, r"sent in #2\.1"),
    (["show", "circle.ndjson", "why", "3.1"], "", 0, r"#3\.1"),
    (["show", "circle.ndjson", "export", "why", "-", "3.1"], "", 0, r"#3\.1"),
    (["show", "circle.ndjson", "export", "why", "causes.dot", "3.1"], "", 0, r"^wrote causes\.dot: \d+ box"),
    (["show", "circle.ndjson", "export", "why", "causes.svg", "plain"], "", 0, r"^wrote causes\.svg: \d+ box"),
    (["show", "circle.ndjson", "export", "why", "causes.png"], "", 1, r"must end in \.svg, \.dot or \.txt"),
    (["show", "circle.ndjson", "export", "why", "no/causes.dot"], "", 1, r"no/causes\.dot: No such file"),
    (["show", "circle.ndjson", "export", "why", "causes.dot", "77.1"], "", 1, r"there is no event #77\.1"),
    (["show", "circle.ndjson", "export", "map", "map.dot"], "", 1, r"export map needs the lab"),
    (["show", "circle.ndjson", "export", "ladder", "x.svg"], "", 1, r"^  --ladder x\.svg$"),
    (["show", "cut.ndjson", "export", "why", "causes.dot"], "", 1, r"there are no events in the trace"),
    (["show", "cut.ndjson", "why"], "", 1, r"there are no events in the trace"),
    (["show", "version2.ndjson"], "", 2, r"format version 2, and this rdmalab reads version 1; "
     r"read it with the rdmalab that wrote it, 9\.1\.0"),
    (["show", "descending.ndjson"], "", 2, r"descending\.ndjson:2: #1\.1 is not later than the event before it"),
    (["show", "old.ndjson", "h1.qp"], "", 1, r'a saved trace has no state, so that it does not know "h1\.qp"(.|\n)*'
     r'it knows what happened: events host=h1, why 12\.3, count "tx"$'),
    (["show", "old.ndjson", "why", "h1.cq.wc[0]"], "", 1, r"a saved trace has no state(.|\n)*events host=h1 kinds=cqe"),
    (["show", "old.ndjson", "why", "not", "h1.cq.wc[0]"], "", 1, r"why not needs the lab(.|\n)*why not 12\.3"),
    (["show", "old.ndjson", "why", "not", "9.1"], "", 1, r"there is no event #9\.1$"),
    (["show", "circle.ndjson", "why", "not", "3.1"], "", 0, r"#3\.1"),
    (["show", "old.ndjson", "evnts"], "", 1, r'did you mean "events"\?'),
    (["show", "old.ndjson", "events", "1..x"], "", 1, r"which\? a range like"),
    (["show", "old.ndjson", "events", "kinds=rr"], "", 1, r'no kind of event is called "rr"\n  show events kinds=rr\n +\^\^\n  did you mean "rx"'),
    (["show", "old.ndjson", "events", "bogus=1"], "", 1, r"bogus"),
    (["show", "old.ndjson", "events; events"], "", 2, r"one question at a time"),
    (["show", "old.ndjson", "events", "last", "2", "1", "1", "1", "1", "1", "1", "1"], "", 1, r"nothing can follow"),
    (["show", "old.ndjson", "packet"], "", 1, r"no frame has been sent yet"),
    (["show", "old.ndjson", "packet", "1.1"], "", 1, r"1\.1 is about no frame"),
    (["show", "old.ndjson", "packet", "9.1"], "", 1, r"error: there is no event #9\.1$"),
    (["show", "old.ndjson", "why", "9.1"], "", 1, r"there is no event #9\.1$"),
    (["show", "old.ndjson", "why", "'9"], "", 1, r"no state"),
    (["show", "old.ndjson", "why", "9.1.1"], "", 1, r"this names no event"),
    (["show", "old.ndjson", "count"], "", 2, r"count of what\?(.|\n)*for example: count \"tx, host==h1, psn==101\"$"),
    (["show", "old.ndjson", "count", "txx"], "", 1, r'did you mean "tx"\?'),
    (["show", "old.ndjson", "count(tx) == 1"], "", 2, r"this is more than one count"),
    (["show", "old.ndjson", "--from", "3"], "", 2, r"--from, --to and --packets need --ladder FILE"),
    (["show", "old.ndjson", "events", "--ladder", "-"], "", 2, r"one at a time"),
    (["show", "old.ndjson", "--ladder", "-", "--to", "x"], "", 2, r"--to x: no event; one is like 12\.3"),
    (["show", "old.ndjson", "--ladder", "-", "--from", "3", "--to", "2.9"], "", 2,
     r"--from 3 is after --to 2\.9; the earlier one comes first$"),
    (["show", "old.ndjson", "--ladder", "-", "--packets", "0"], "", 2, r"--packets 0: a ladder has 1 to 1000"),
    (["show", "sent.ndjson", "--ladder", "sent.svg", "--packets", "1"], "", 0,
     r"sent\.svg: 2 more packets, from #2\.1 on, are left out: --from 2\.1 draws the next part, --packets 3 all of it$"),
    (["show", "old.ndjson", "--ladder", "none/l.svg"], "", 2, r"none/l\.svg: No such file"),
    (["show", "old.ndjson", "count", "kick, host==h9"], "", 1, r'no host of the trace is called "h9"'),
]
SAVED = ["04-lost-request", "10-rnr-exhausted", "18-damaged-frame", "22-switch", "745-rdma-cm-connect", "26-unreliable-link"]


def check_trace_file_answers(program):
    """A saved trace answers byte for byte as the lab that wrote it, but for the lines of the scenario that posted."""
    for scenario in [whole.ROOT / "scenarios" / f"{name}.json" for name in SAVED]:
        program.run("run", str(scenario), "--events", "s.ndjson", "--ladder", "s.svg")
        last = json.loads(program.file("s.ndjson").read_text().splitlines()[-1])["id"]
        for question in ["show events", "show events last 9 kinds=tx,rx host=h1", "show events json",
                         "why", f"why {last}"]:
            lab = program.run("-c", f"source {scenario}; {question}")
            file = program.run("show", "s.ndjson", *question.split())
            ensure(file.returncode == 0 and file.stdout, f"{scenario.name}: {question}: {file.stderr}")
            told = re.sub(r"\s+\(\S+\.json:\d+\)", "", lab.stdout)
            ensure(told.endswith(file.stdout), f"{scenario.name}: {question} differs: {file.stdout}")
        program.run("show", "s.ndjson", "--ladder", "again.svg")
        ensure(program.file("again.svg").read_bytes() == program.file("s.svg").read_bytes(), f"{scenario.name}: SVG")
        lab = program.run("run", str(scenario), "--ladder", "-")
        file = program.run("show", "s.ndjson", "--ladder", "-")
        ensure(lab.stdout.endswith(file.stdout) and file.stdout, f"{scenario.name}: ladder")
        lines = program.file("s.ndjson").read_text().splitlines(keepends=True)
        program.file("less.ndjson").write_text("".join(line for line in lines if '"ev":"rx"' not in line))
        less = program.run("show", "less.ndjson", "count", "rx")
        ensure(less.returncode == 1 and less.stdout == "at least 0\n" and "have no lines" in less.stderr,
               f"{scenario.name}: lines taken out: {less.stdout}{less.stderr}")
        tx = sum('"ev":"tx"' in line for line in program.file("s.ndjson").read_text().splitlines())
        ensure(program.run("show", "s.ndjson", "count", "tx").stdout == f"{tx}\n", f"{scenario.name}: count")


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, FILES, CASES, globals()))
