# SPDX-License-Identifier: MIT
"""The mode `rdmalab exec`: its words, its status, its outputs, and the lab of --lab."""
import pathlib
import re
import signal
import sys

from on_hosts import exec_pair, text_of

# What is said about a program that failed for no reason in the lab.
NO_QP = "  in the lab nothing went wrong for {}: it has made no queue pair\n"
NOT_IN_THE_LAB = "  in the lab nothing went wrong for {} ib_write_lat: no work request of it failed, and no error\n  stopped a queue pair of it\n"


def check_statuses(rdmalab, tally):
    """The status is that of the first program that failed."""
    for words, status in ((["h1", "--", "true"], 0), (["h1", "--", "sh", "-c", "exit 7"], 7),
                          (["h1", "--", "sh", "-c", "kill -9 $$"], 137), (["h1", "--", "/no/such/program"], 1),
                          (["h1", "--", "true", ":", "h2", "--", "false"], 1), (["h9", "--", "true"], 1), (["h1", "--"], 2),
                          ([], 2), (["--lab", "/no/such.lab", "h1", "--", "true"], 1)):
        done = rdmalab.run("exec", *words)
        tally.expect(done.returncode == status, f"exec {' '.join(words)}: {status}", text_of(done))
    for line, status in (('status=3 sh -c "exit 3"', 0), ("status=3 true", 1)):
        rdmalab.file("status.lab").write_text(f"host h1 h2\nlink h1 h2\nexec h1 {line} &\n")
        done = rdmalab.run("exec", "--lab", "status.lab", "--allow", "programs", "h1", "--", "true")
        tally.expect(done.returncode == status, f"the status is {status} after {line} of --lab", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "exit 255")
    tally.expect(done.returncode == 255 and "status 255" in done.stderr, "a great status is no signal", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "cat", stdin="through the program\n")
    tally.expect(done.stdout == "through the program\n", "a program has the input and output of rdmalab", text_of(done))


def check_words(rdmalab, tally):
    """Each mistake of the command line has a message of its own, and no message quotes a line that nobody wrote."""
    for words, status, says in (
            ("", 2, "usage: rdmalab exec"), ("./server", 2, 'exec needs HOST -- PROGRAM; it is "./server"'),
            ("h1", 2, 'exec needs HOST -- PROGRAM; it is "h1"'), ("h1 --", 2, 'after "h1 --" the program is missing'),
            ("h1 -- echo a : b", 2, 'the part after ":" needs HOST -- PROGRAM; it is "b"'),
            ("h1 -- echo a :", 2, 'the part after ":" needs HOST -- PROGRAM; it is empty'),
            ("h1 -- echo a : h2 --", 2, 'after "h2 --" the program is missing'),
            ("h1 -- echo a : : h2 -- true", 2, "it is empty"),
            ("h1 ib_send_bw -n 10", 2, "if it belongs to ib_send_bw, put -- before the program:\n  rdmalab exec h1 -- ib_send_bw -n 10\n"),
            ("--seed 2 h1 ls --help", 2, "  rdmalab exec --seed 2 h1 -- ls --help\n"),
            ("h1 --help", 2, '"rdmalab exec --help" lists them'), ("--timeout 0 h1 -- true", 2, "from 1 to"),
            ("h9 -- true", 1, 'rdmalab: no host is called "h9"\n'), ("h1 -- echo a : h9 -- true", 1, 'rdmalab: no host is called "h9"\n'),
            ("h1 -- sh -c exit", 0, ""), ("-- h1 -- echo -n", 0, ""),
            ("--pcap - h1 -- true", 2, "it needs the name of a file"), ("h1 echo : h2 echo", 0, ""),
            ("--ladder a.png h1 -- true", 2, "--ladder a.png: the name must end in"), ("--pcap a h1 -- true", 2, "must end in"),
            ("--events a h1 -- true", 2, "must end in")):
        done = rdmalab.run("exec", *words.split())
        tally.expect(done.returncode == status and says in done.stderr and "exec:" not in done.stderr, f"exec {words}", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "kill -SEGV $$")
    tally.expect(done.returncode == 139 and done.stderr == "rdmalab: h1 sh was ended by signal 11 (SIGSEGV)\n" + NO_QP.format("h1 sh"), "a signal", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "exit 3")
    tally.expect(done.stderr == "rdmalab: h1 sh ended with status 3\n" + NO_QP.format("h1 sh"), "a status", text_of(done))


def check_lab(rdmalab, tally):
    """Loss in the lab is loss for the programs, and the capture has their packets."""
    rdmalab.file("lossy.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1 as lost\n")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 50", None, "--lab", "lossy.lab", "--events", "events.ndjson",
                     "--pcap", "frames.pcapng")
    tally.expect(done.returncode == 0, "a pingpong survives a lost packet", text_of(done))
    events = rdmalab.file("events.ndjson")
    kinds = re.findall(r'"ev":"(\w+)"', events.read_text()) if events.exists() else []
    tally.expect({"tx", "lost", "retry"} <= set(kinds), "the events tell of it", str(sorted(set(kinds))))
    tally.expect(rdmalab.file("frames.pcapng").exists() and rdmalab.file("frames.pcapng").stat().st_size > 10000, "there is a capture")


def check_devices(rdmalab, tally):
    """Programs do not see which device a host has; one that asks for inline data gets none with PVRDMA."""
    rdmalab.file("devices.lab").write_text("host h1 device=pvrdma\nhost h2\nlink h1 h2\n")
    for program in ("ibv_rc_pingpong -g 0 -n 20 -e", "ibv_ud_pingpong -g 0 -n 20", "ibv_srq_pingpong -g 0 -n 20"):
        done = exec_pair(rdmalab, program, None, "--lab", "devices.lab", "--virtual")
        tally.expect(done.returncode == 0, f"{program} between two devices", text_of(done))


def check_record(rdmalab, tally):
    """The record has the whole run of programs; an export complains only of what it lacks."""
    pair = "ibv_rc_pingpong -g 0 -n 5"
    done = exec_pair(rdmalab, pair, None, "--events", "whole.ndjson", "--pcap", "whole.pcapng")
    tally.expect(done.returncode == 0 and "forgotten" not in done.stderr, "nothing is forgotten without --lab", text_of(done))
    rdmalab.file("large.lab").write_text("host h1 h2 ram=256m max_qp=1024 max_cq=1024; link h1 h2\n")
    done = exec_pair(rdmalab, pair, None, "--lab", "large.lab", "--events", "large.ndjson", "--pcap", "large.pcapng")
    tally.expect(done.returncode == 0 and re.search("^large.ndjson: .*first line of the lab file", done.stderr, re.MULTILINE) and
                 "large.pcapng" not in done.stderr, "events are missing, and no frames", text_of(done))


def check_ladder(rdmalab, tally):
    """--ladder - is printed behind the output of the programs."""
    rdmalab.file("two.lab").write_text("host h1 h2\nlink h1 h2\n")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 2", None, "--lab", "two.lab", "--ladder", "-")
    tally.expect(done.returncode == 0 and done.stdout.rfind("iters in") < done.stdout.find("SEND_FIRST"), "--ladder -", text_of(done))


def check_stranger(rdmalab, tally):
    """The file of --lab may do what `run` lets it do, in its own directory; the command line may do all."""
    rdmalab.file("theirs").mkdir()
    for line, permit in (("exec h1 touch made.ndjson", "programs"), ("export events ../made.ndjson", "files")):
        rdmalab.file("theirs/theirs.lab").write_text(f"host h1 h2\nlink h1 h2\n{line}\n")
        command = ["--lab", "theirs/theirs.lab", "h1", "--", "true"]
        done = rdmalab.run("exec", *command)
        tally.expect(done.returncode == 1 and f"--allow {permit}" in done.stderr and not rdmalab.file("made.ndjson").exists(),
                     f"{line}, without permission", text_of(done))
        for allow in (["--allow", permit], ["--no-sandbox"]):
            done = rdmalab.run("exec", *allow, *command)
            tally.expect(done.returncode == 0 and rdmalab.file("made.ndjson").exists(), f"{line}, with {allow}", text_of(done))
            rdmalab.file("made.ndjson").unlink(missing_ok=True)
    rdmalab.file("theirs/theirs.lab").write_text("host h1 h2\nlink h1 h2\nexport events mine.ndjson\n")
    done = rdmalab.run("exec", *command)
    tally.expect(done.returncode == 0 and rdmalab.file("theirs/mine.ndjson").exists(), "files beside that of --lab", text_of(done))
    done = rdmalab.run("exec", "--allow", "all", *command)
    tally.expect(done.returncode == 2 and "it takes programs, ports, files" in done.stderr, "an unknown permission", text_of(done))


def check_unmet(rdmalab, tally):
    """A fault of --lab that has met nothing is a failure, as in `run`, unless it is optional."""
    for more, status in (("", 1), (" optional", 0)):
        rdmalab.file("unmet.lab").write_text(f"host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1{more} as f1\n")
        done = rdmalab.run("exec", "--lab", "unmet.lab", "h1", "--", "true")
        tally.expect(done.returncode == status and ("FAIL the fault f1 has met nothing" in done.stderr) == bool(status),
                     f"a fault that met nothing{more}", text_of(done))
    rdmalab.file("unmet.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1 as f1\n")
    done = rdmalab.run("exec", "--lab", "unmet.lab", "h1", "--", "sh", "-c", "exit 4")
    tally.expect(done.returncode == 4, "the status of a program comes before that", text_of(done))


WAITS = """import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
time.sleep(1000)
"""


def check_not_started(rdmalab, tally):
    """A program that cannot be started is an error while another one waits, and with an output, too."""
    rdmalab.file("waits.py").write_text(WAITS)
    server = ["h1", "--", sys.executable, "waits.py"]
    done = rdmalab.run("exec", "--events", "none.ndjson", *server, ":", "h2", "--", "./nosuch")
    tally.expect(done.returncode == 1 and "h2 nosuch could not be started 5 s ago" in done.stderr,
                 "a program that is missing, beside one that waits", text_of(done))
    done = rdmalab.run("exec", *server, ":", "h2", "--", "sh", "-c", "exit 5")
    tally.expect(done.returncode == 5 and "is stopped by rdmalab, because h2 sh failed 5 s ago" in done.stderr,
                 "the end of a program that waits for one that has failed", text_of(done))
    done = rdmalab.run("exec", "h2", "--", "false", ":", *server)
    tally.expect(done.returncode == 1 and "put that first" in done.stderr, "a client before its server", text_of(done))


def check_waiting(rdmalab, tally):
    """A server that nobody contacts is named, and ends with the time of --timeout."""
    rdmalab.file("waits.py").write_text(WAITS)
    python = ["h1", "--", sys.executable, "waits.py"]
    done = rdmalab.run("exec", "--timeout", "8", *python, "h2", "--", "true")
    name = f"h1 {pathlib.Path(sys.executable).name}"
    tally.expect(done.returncode == 124 and f"{name} still ran after the timeout of 8 s" in done.stderr, "--timeout", text_of(done))
    tally.expect(done.stderr.count("waits for a connection; no other program is left to start") == 1,
                 "a server that nobody contacts is named once", text_of(done))
    tally.expect('did you forget ":" before "h2"?' in done.stderr, "a colon is missing", text_of(done))
    done = rdmalab.run("exec", "--timeout", "7", "h1", "--", "sleep", "1000")
    tally.expect(done.returncode == 124 and "waits for" not in done.stderr, "a program that does not wait for TCP", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "echo", "a", "--", "b")
    tally.expect(done.stdout == "a -- b\n" and not done.stderr, "a \"--\" that belongs to the program", text_of(done))
    process = rdmalab.start("exec", "h1", "--", "sh", "-c", "echo runs; exec sleep 1000")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    tally.expect(process.returncode == 130 and err == "rdmalab: interrupted\nrdmalab: h1 sh still ran, and is stopped\n",
                 "^C quotes no command", f"{process.returncode}\n{err}")


def check_virtual_timeout(rdmalab, tally):
    """--timeout is real time, also while virtual time stands still: a program sleeps, or polls its memory."""
    done = rdmalab.run("exec", "--virtual", "--timeout", "1", "h1", "--", "sleep", "1000000")
    tally.expect(done.returncode == 124 and done.stderr == "rdmalab: h1 sleep still ran after the timeout of 1 s\n" + NO_QP.format("h1 sleep"),
                 "a timeout in virtual time", text_of(done))
    done = exec_pair(rdmalab, "ib_write_lat -n 20", None, "--virtual", "--timeout", "3")
    tally.expect(done.returncode == 124 and done.stderr.endswith("rdmalab: h1 ib_write_lat still ran after the timeout of 3 s\n"
                                                                 "rdmalab: h2 ib_write_lat still ran after the timeout of 3 s\n" +
                                                                 "".join(NOT_IN_THE_LAB.format(name) for name in ("h1", "h2"))),
                 "a program that polls its memory in virtual time", text_of(done))
