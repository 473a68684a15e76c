# SPDX-License-Identifier: MIT
"""Programs in virtual time, and `rdmalab test` with programs."""
import re

from on_hosts import exec_pair, ports, text_of
from program import ROOT


def check_virtual(rdmalab, tally):
    """In virtual time a run is the same each time, with events and with a lost packet, and nobody waits for a retry."""
    rdmalab.file("lost.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=1 class=send from=h1\n")
    for name, options in (("rc_message", []), ("rc_message", ["--lab", "lost.lab"]), ("events", []), ("shared_receives", []),
                          ("datagram", [])):
        program, port = str(rdmalab.built(f"examples/{name}")), str(next(ports))
        runs = [rdmalab.run("exec", "--virtual", "--hash", *options, "h1", "--", program, "-", port, ":", "h2", "--", program,
                            "localhost", port) for _ in range(4)]
        hashes = {match for done in runs for match in re.findall("^hash [0-9a-f]{16}$", done.stdout, re.MULTILINE)}
        tally.expect(all(done.returncode == 0 for done in runs) and len(hashes) == 1, f"{name} {options} runs the same way each time",
                     f"{hashes}\n{text_of(runs[0])}")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 20 -e", None, "--virtual")
    tally.expect(done.returncode == 0, "a pingpong in virtual time", text_of(done))
    done = rdmalab.run("exec", "--hash", "h1", "--", "true")
    tally.expect(done.returncode == 2 and "--virtual" in done.stderr, "a hash needs virtual time", text_of(done))


def check_draws(rdmalab, tally):
    """In virtual time the random numbers of a program are the same each time; those of its children, and others, are not."""
    draws = str(rdmalab.built("tests/program/draws"))
    words = ["h1", "--", draws, ":", "h1", "--", draws]

    def run(*options, words=words):
        done = rdmalab.run("exec", "--virtual", "--hash", *options, *words)
        programs = re.findall(r"^program (.*)$", done.stdout, re.MULTILINE)
        children = re.findall(r"^child (.*)$", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and programs and len(programs) == len(children), f"draws {options}", text_of(done))
        return programs, children, re.findall("^hash .*$", done.stdout, re.MULTILINE), done

    first, again, other, three = run(), run(), run("--seed", "7"), run(words=[*words, ":", "h1", "--", "sh", "-c", f"{draws}; true"])
    tally.expect(first[0] == again[0] and first[2] and first[2] == again[2], "two runs are the same", text_of(first[3]) + text_of(again[3]))
    tally.expect(len(set(first[0])) == 2, "two programs draw different numbers", str(first[0]))
    numbers = [number for line in first[0] for number in line.split()]
    tally.expect(len({number for number in numbers if len(number) >= 8}) == len([number for number in numbers if len(number) >= 8]),
                 "each draw is another number", str(numbers))
    tally.expect(not set(first[0]) & set(other[0]), "another seed makes other numbers", str(other[0]))
    tally.expect(not set(first[1]) & set(again[1]) and len(set(first[1])) == 2, "children draw as usual", str(first[1]))
    tally.expect(three[0][:2] == first[0] and len(set(three[0])) == 3, "so does what a shell starts", str(three[0]))
    done = [rdmalab.run("exec", "h1", "--", draws) for _ in range(2)]
    tally.expect(all(d.returncode == 0 for d in done) and done[0].stdout != done[1].stdout, "on the machine's clock all draw as usual", text_of(done[0]))


def check_waits_for_a_function(rdmalab, tally):
    """A program whose guest finds no function waits until another program has ended, or fails, as the machine says."""
    for full, waits in (("wait wait=20s", True), ("fail", False)):
        first, second = str(next(ports)), str(next(ports))
        rdmalab.file("pool.lab").write_text(f"machine m1 vfs=1 when_full={full}\nmachine m2 vfs=2\nlink m1 m2\n"
                                            "guest g1 g2 on m1 vrnic\nguest g3 g4 on m2 vrnic\n")
        done = rdmalab.run("exec", "--virtual", "--events", "pool.ndjson", "--lab", "pool.lab",
                           "g1", "--", "ibv_rc_pingpong", "-g", "0", "-n", "50", "-p", first, ":",
                           "g3", "--", "ibv_rc_pingpong", "-g", "0", "-n", "50", "-p", first, "localhost", ":",
                           "g2", "--", "ibv_rc_pingpong", "-g", "0", "-n", "20", "-p", second, ":",
                           "g4", "--", "ibv_rc_pingpong", "-g", "0", "-n", "20", "-p", second, "localhost")
        events = rdmalab.file("pool.ndjson").read_text()
        tally.expect((done.returncode == 0) == waits and ('"vrnic_wait"' in events) == waits,
                     f"a program without a function, when_full={full}", text_of(done))


def in_hash(done):
    return re.findall("(?<=hash )[0-9a-f]{16}", done.stdout)


PAIR = """scenario title="a pair" seed=3
host h1 h2
link h1 h2
drop from=h1 nth=1 class=send next
exec h1 {program} - {port} &
exec h2 {program} localhost {port}
run
expect program1.status == 0 and h2.program.status == 0 and program2.done and not program1.failed
expect count(tx, host==h1, opcode==RC_SEND_ONLY) == 2
exec h1 status=3,4 sh -c "exit 3"
exec h2 status=143 {program} - {port} &
kill 4
run
expect program3.status == 3 and program4.status == 143
"""


def check_test(rdmalab, tally):
    """`rdmalab test` starts programs, in virtual time, if it may; the same hash as `run --virtual` has."""
    rdmalab.file("pair.lab").write_text(PAIR.format(program=rdmalab.built("examples/rc_message"), port=next(ports)))
    convert = rdmalab.run("convert", "pair.lab", "pair.json")
    runs = [rdmalab.run("test", file, "--allow", "programs", "--strict", *more)
            for file, more in (("pair.lab", []), ("pair.lab", ["--twice"]), ("pair.json", ["--twice"]))]
    runs.append(rdmalab.run("run", "pair.lab", "--allow", "programs", "--virtual", "--hash"))
    runs.append(rdmalab.run("--virtual", "--prompt", "--allow", "programs", stdin="source pair.lab\nshow live\n"))
    tally.expect(all(done.returncode == 0 for done in [convert, *runs]) and len({h for done in runs for h in in_hash(done)}) == 1
                 and all(in_hash(done) for done in runs[:4]), "one hash in each mode", "".join(map(text_of, runs)))
    tally.expect("clock    is virtual" in runs[-1].stdout and "program  4 h2 rc_message: has ended" in runs[-1].stdout,
                 "virtual time at the prompt", text_of(runs[-1]))
    back = rdmalab.run("convert", "pair.json", "-")
    tally.expect(back.stdout == rdmalab.file("pair.lab").read_text(), "a script with status= as JSON, and back", text_of(back))
    done = rdmalab.run("test", "pair.lab")
    tally.expect(done.returncode == 1 and "if you trust it, run it with --allow programs" in done.stdout,
                 "a test may start programs only if it is allowed to", text_of(done))
    done = rdmalab.run("run", "pair.lab", "--allow", "programs", "--hash")
    tally.expect(done.returncode == 1 and "--virtual gives it virtual time" in done.stderr, "a hash needs virtual time", text_of(done))
    done = rdmalab.run("--virtual", "-c", "host h1; program h1 rc_pingpong server")
    tally.expect(done.returncode == 1 and "not possible in virtual time" in done.stderr, "nothing else takes part in virtual time", text_of(done))


def check_book(rdmalab, tally):
    """The scenario of book/your-program.md passes, as a script and as JSON, with a server and a client."""
    program, port = rdmalab.built("examples/rc_message"), next(ports)
    for name, words in (("server", f"- {port}"), ("client", f"localhost {port}")):
        rdmalab.file(name).write_text(f"#!/bin/sh\nexec {program} {words}\n")
        rdmalab.file(name).chmod(0o755)
    blocks = re.findall(r"^```\w*\n(.*?)^```$", (ROOT / "book/your-program.md").read_text(), re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if "the client sends the lost packet again" in block]
    rdmalab.file("tests").mkdir()
    for suffix, block in zip((".lab", ".json"), blocks, strict=True):
        rdmalab.file("tests/lost" + suffix).write_text(block)
    done = rdmalab.run("test", "tests", "--allow", "programs", "--strict", "--junit", "junit.xml", "--artifacts", "left")
    tally.expect(done.returncode == 0 and "2 passed" in done.stdout and len(set(in_hash(done))) == 1, "the scenario of the book", text_of(done))
    lines = [line for line in blocks[0].splitlines() if not re.match("drop|expect", line)]
    rdmalab.file("tests/pair.lab").write_text("\n".join(lines) + "\n")
    done = rdmalab.run("test", "tests/pair.lab", "--fault-matrix", "--allow", "programs")
    runs = re.search(r"^(\d+) runs: (\d+) came to the same, 0 did not; in (\d+) only the order differs$", done.stdout, re.MULTILINE)
    tally.expect(done.returncode == 0 and runs and int(runs[1]) == int(runs[2]) + int(runs[3]),
                 "programs see the same, whichever packet is lost", text_of(done))


# A failed test and its text: the lines behind two hosts, and what it prints.
FAILURES = (
    ('exec h1 sh -c "echo said; exit 3"', r"h1 sh ended with status 3\n(.*\n)+  \"exec h1 status=3 \.\.\.\" expects this status\n  in the lab nothing went wrong for h1 sh: it has made no queue pair\n  the last lines that each program has printed:\n    h1 sh: said\n  again: .* --allow programs"),
    ("exec h1 status=3,4 true", "h1 true ended with status 0, which status= does not list"),
    ("exec h1 status=0,4 true\nexpect program1.status == 4", "it is 0"),
    ('exec h1 sh -c "exit 3" &\nexec h2 sh -c "exit 4" &\nrun', r"fails.lab:3:1: error: h1 sh ended with status 3\n.*\n.*\n  \"exec h1"),
    ('exec h1 {server} &\nexec h2 bash -c "exec 3<>/dev/tcp/127.0.0.1/{port}"\nrun',
     r"fails.lab:[45]:1: error: h1 {base} ended with status 1\n(.*\n)+  it was started in fails.lab:3; \"exec h1 status=1"),
    ("exec h1 {server} &\nexpect not program1.done and not program1.failed", "FAIL h1 {base}, program 1, still runs at the end"),
    ("exec h1 {server} &\nexpect program1.status != 1", "it is not there while the program runs"),
    ("expect program1.status == 0", "no program 1 was started"),
    ("exec h1 true\nexpect h2.program.status == 0", "no program was started on h2"),
    ("exec h1 true\nexpect program1.stauts == 0", 'a program has no value "stauts"\n(.*\n)+  did you mean "status"'),
    ("expect h1.program.stauts == 0", 'a program has no value "stauts"'),
    ("exec h1 status=256 true", "256"),
    ("scenario time=1ms\ndrop next nth=1 class=send from=h1\nexec h1 {server} &\nexec h2 {client}", "the limit of 1ms of simulated time was reached"),
    ("program h1 rc_pingpong server", "a test has no live ports"),
    ("exec h1 {server} &\nrun", "wall-clock limit was reached before this ended\n(.*\n)+  h1 {base} still runs, with a socket that takes connections"),
)


def check_test_failures(rdmalab, tally):
    """A program that fails fails its test, which says what it printed; so does one that does not end."""
    program = rdmalab.built("examples/rc_message")
    for lines, says in FAILURES:
        port = next(ports)
        lines = lines.replace("{server}", f"{program} - {port}").replace("{client}", f"{program} localhost {port}").replace("{port}", str(port))
        says, header = says.replace("{base}", program.name), re.match("scenario .*\n|", lines)[0]
        rdmalab.file("fails.lab").write_text(f"{header}host h1 h2\nlink h1 h2\n{lines.removeprefix(header)}\n")
        done = rdmalab.run("test", "fails.lab", "--allow", "programs", "--timeout", "4")
        tally.expect(done.returncode in (1, 2, 124) and re.search(says, done.stdout), f"a test of {lines!r} fails: {says}", text_of(done))
    tally.expect(done.returncode == 124, "a program that does not end is a timeout", text_of(done))
    rdmalab.file("fails.lab").write_text('host h1 h2\nexec h1 seq 1 9\nexec h2 seq 1 5000\nexec h2 seq 5001 5020\nexpect t == 1\n')
    done = rdmalab.run("test", "fails.lab", "--allow", "programs")
    shown = [f"h2 seq: {n}" for n in range(5013, 5021)]
    tally.expect(re.findall("^    (.*)", done.stdout.partition("has printed:")[2], re.MULTILINE) == shown, "8 lines of a program", text_of(done))
    rdmalab.file("fails.lab").write_text('host h1 h2\nexec h1 seq 1 9\nexec h2 seq 1 20\nexpect t == 1\n')
    done = rdmalab.run("test", "fails.lab", "--allow", "programs")
    shown = [f"h1 seq: {n}" for n in range(2, 10)] + [f"h2 seq: {n}" for n in range(13, 21)]
    tally.expect(re.findall("^    (.*)", done.stdout.partition("has printed:")[2], re.MULTILINE) == shown, "of each program", text_of(done))
    rdmalab.file("fails.lab").write_text('host h1 h2\nlink h1 h2\nexec h1 sh -c "echo one; echo two >&2; exit 3"\n')
    done = rdmalab.run("test", "fails.lab", "--allow", "programs", "--artifacts", "left", "--junit", "junit.xml")
    left = {path.name: path for path in rdmalab.file("left").glob("*/*")}
    tally.expect(set(left) == {"again.sh", "failed.html", "failed.ndjson", "failed.pcapng", "failed.svg", "failed.txt", "printed.txt"} and
                 sorted(left["printed.txt"].read_text().splitlines()) == ["h1 sh: one", "h1 sh: two"],
                 "what programs printed is an artifact", f"{left}\n{text_of(done)}")
    junit = rdmalab.file("junit.xml").read_text()
    tally.expect('<failure message="fails.lab:3:1: error: h1 sh ended with status 3">' in junit and "h1 sh: two" in junit, "JUnit", junit)
