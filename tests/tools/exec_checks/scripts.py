# SPDX-License-Identifier: MIT
"""The command `exec` in scripts and at the prompt."""
import os
import platform
import re
import shutil
import struct

from on_hosts import ports, text_of


def with_port(script):
    """@script with a TCP port that no other check uses."""
    return script.replace("{port}", str(next(ports)))


SCRIPT = """host h1 h2
link h1 h2
exec h1 ibv_rc_pingpong -g 0 -n 50 -p {port} &
exec h2 ibv_rc_pingpong -g 0 -n 50 -p {port} localhost
run
expect h1.port.sent_frames > 100
refused says="status 3" { exec h1 sh -c "echo in the shell; exit 3" & }
exec h1 sleep 1000 &
kill 4
refused says="signal 15" { run }
refused says="no program 4 runs" { kill 4 }
refused says="no such file" { exec h1 /no/such/program }
refused says="status 1" { exec h2 false }
show live
"""


def check_script(rdmalab, tally):
    """At the prompt and in scripts: output behind the name of the program, expectations, `show live`."""
    script = rdmalab.file("pair.lab")
    script.write_text(with_port(SCRIPT))
    done = rdmalab.run("run", "pair.lab", "--allow", "programs")
    tally.expect(done.returncode == 0 and "h2 ibv_rc_pingpong: 50 iters" in done.stdout and
                 "program  1 h1 ibv_rc_pingpong: has ended" in done.stdout, "programs in a script", text_of(done))
    done = rdmalab.run("run", "pair.lab")
    tally.expect(done.returncode != 0 and "--allow" in done.stderr, "a script may start programs only if it is allowed to", text_of(done))


HELD = """host h1 h2 ram=64m max_qp=64 max_cq=64
link h1 h2
break post_send
exec h1 ibv_rc_pingpong -g 0 -n 50 -p {port} &
exec h2 ibv_rc_pingpong -g 0 -n 50 -p {port} localhost
expect h2.qp3.state == RTS
expect count(tx) == 0
step tick 20
expect count(tx, host==h2) > 0
delete 1
run
step
expect count(cqe, host==h2) == 100
"""


def check_held(rdmalab, tally):
    """A breakpoint holds the lab and its programs: however long one looks, nothing goes on."""
    done = rdmalab.run("--allow", "programs", stdin=with_port(HELD))
    tally.expect(done.returncode == 0 and "the lab and its programs wait" in done.stdout and
                 "idle at" in done.stdout and done.stdout.count("ok: ") == 4, "a breakpoint, steps and a run of a lab with programs", text_of(done))


# The client sends 64 frames at once.  The second exec returns before its program is done.
UNTIL = """host h1 h2
link h1 h2
exec h1 ibv_rc_pingpong -g 0 -s 65536 -m 1024 -n 5 -p {port} &
exec h2 sh -c "sleep 2; exec ibv_rc_pingpong -g 0 -s 65536 -m 1024 -n 5 -p {port} localhost" &
until count(tx, host==h2) > 0 timeout=60s quiet
expect count(tx, host==h2) == 1
until count(tx, host==h2) >= 30 timeout=60s quiet
expect count(tx, host==h2) == 30
run
expect count(tx) > 600
"""


def check_until(rdmalab, tally):
    """While the clock follows real time `until` stops right after the tick that it waits for, also where many are due."""
    done = rdmalab.run("--allow", "programs", stdin=with_port(UNTIL))
    tally.expect(done.returncode == 0 and done.stdout.count("ok: ") == 3, "until stops at its tick", text_of(done))


REASONS = """host h1 h2
link h1 h2
exec h1 -- sh -c "echo behind two dashes"
refused says="/tmp: this is a directory" { exec h1 /tmp }
refused says="./plain: this is not executable" { exec h1 ./plain }
refused says="the program is missing" { exec h1 -- & }
exec h1 ./static
exec h1 ./other &
exec h1 sleep 1000 &
show live
kill 4
"""


def check_reasons(rdmalab, tally):
    """A program that cannot start, or that does not use our library, is told from the others."""
    rdmalab.file("plain").write_text("no program")
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    code = bytes.fromhex("b83c00000031ff0f05")  # exit(0) of x86-64
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
    rdmalab.file("static").write_bytes(header + segment + code)
    shutil.copy("/bin/true", rdmalab.file("other"))
    for name in ("static", "other"):
        rdmalab.file(name).chmod(0o755)
    rdmalab.file("reasons.lab").write_text(REASONS if platform.machine() == "x86_64" else REASONS.replace("./static", "true"))
    done = rdmalab.run("run", "reasons.lab", "--allow", "programs")
    tally.expect(done.returncode == 0 and "h1 sh: behind two dashes" in done.stdout and
                 "program  4 h1 sleep: runs" in done.stdout, "reasons, and the numbers that kill takes", text_of(done))
    tally.expect(platform.machine() != "x86_64" or "h1 static: statically linked, so it does not use" in done.stdout,
                 "a static program is reported", text_of(done))
    tally.expect("h1 other: statically" not in done.stdout, "a dynamic program is not", text_of(done))


# It exits with 0 when the lab has read all that it printed; meanwhile h2 waits for a lab that stands still.
PRINTS = """host h1 h2
link h1 h2
exec h2 ibv_rc_pingpong -g 0 -n 5 -p {port} &
exec h1 sh -c "yes 0123456789012345678901234567890123456789 | head -5000"
exec h1 ibv_rc_pingpong -g 0 -n 5 -p {port} localhost
run
programs
programs csv
"""


def check_programs(rdmalab, tally):
    """`programs` lists those that run and those that have ended; much output does not stop virtual time."""
    rdmalab.file("prints.lab").write_text(with_port(PRINTS))
    done = rdmalab.run("run", "prints.lab", "--allow", "programs", "--virtual")
    rows = re.findall(r"^(\d),(h\d),ended,0,,0,0,0,(\d+),(\d+),(\d+),", done.stdout, re.MULTILINE)
    used = {number: (int(calls) > 5, int(read), int(written)) for number, _host, calls, read, written in rows}
    tally.expect(done.returncode == 0 and done.stdout.count("h1 sh: 0123") == 5000 and
                 used == {"1": (True, 20480, 20480), "2": (False, 0, 0), "3": (True, 20480, 20480)}, "programs that have ended", text_of(done))
    rdmalab.file("runs.lab").write_text(f"host h1 h2\nprograms\nexec h1 ibv_rc_pingpong -g 0 -p {next(ports)} &\nprograms json\n")
    done = rdmalab.run("run", "runs.lab", "--allow", "programs", "--virtual")
    tally.expect(done.returncode == 0 and "no program was started by exec\n" in done.stdout and
                 re.search(r'^\[\{"program":1,"host":"h1","state":"runs","status":null,"process":\d+,"qp":1,"cq":1,"mr":1,', done.stdout,
                           re.MULTILINE), "a program that runs", text_of(done))


NEEDS_RESET = """host h1 h2
link h1 h2
on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq }
create_srq h2.pd max_wr=4 as srq
create_qp h1.pd send_cq=cq recv_cq=cq as qp
create_qp h2.pd send_cq=cq recv_cq=cq srq=srq as qp
get_dma_mr h2.pd access=lw,rw as dma
connect h1.qp h2.qp mtu=1024 timeout=4 retry_cnt=1
write h1.mr[0] hex=ffff
exec h2 ibv_rc_pingpong -g 0 -p {port} &
post_send h1.qp op=rdma_write sge=mr[0:2] remote=h2.dma[421954]
post_send h1.qp sge=mr[0:64]
run for=10ms
expect h2.device.needs_reset == 1
kill 1
refused says="signal 15" { run }
run for=10ms
run
"""


def check_needs_reset(rdmalab, tally):
    """A program that has ended while its device needs a reset, which keeps its objects, stops nobody."""
    rdmalab.file("reset.lab").write_text(with_port(NEEDS_RESET))
    done = rdmalab.run("run", "reset.lab", "--allow", "programs", "--quiet")
    tally.expect(done.returncode == 0, "the lab goes on after a program on a device that needs a reset", text_of(done))


MISTAKES = (
    ("drop the 1st SEND of h1.qp2", "a fault for it says from=h1"),
    ("exec h1 true\nexpect h1.cq1.polled == 1", "objects are gone after its end: count its events, as in count(cqe, host==h1)"),
    ("exec h1 ./nosuch", "looked for from the current directory, {directory}"),
    ("exec h1 true\nuntil count(cqe) == 50 timeout=1000000s", "nothing is left to run, and it is 0"),
    ("exec h1 true\nshow live", "the lab is 0 behind (at most"),
)


def check_mistakes(rdmalab, tally):
    """What helps after a mistake about programs."""
    for lines, says in MISTAKES:
        rdmalab.file("mistake.lab").write_text(f"host h1 h2\nlink h1 h2\n{lines}\n")
        done = rdmalab.run("run", "mistake.lab", "--allow", "programs")
        says = says.format(directory=os.path.realpath(rdmalab.directory))
        tally.expect(says in done.stdout + done.stderr, f"{lines!r}: {says}", text_of(done))
    done = rdmalab.run("-c", "help exec; help kill; explain live; explain programs")
    tally.expect(done.returncode == 0 and "usage: exec HOST [status=N,...] PROGRAM [ARG...] [&]" in done.stdout and
                 "usage: kill NUMBER [SIGNAL]" in done.stdout, "the help of exec and kill", text_of(done))
    rdmalab.file("hash.lab").write_text("host h1 h2\nlink h1 h2\nexec h1 touch was-run\n")
    done = rdmalab.run("run", "hash.lab", "--allow", "programs", "--hash")
    tally.expect(done.returncode == 1 and "has no hash" in done.stderr and not rdmalab.file("was-run").exists(),
                 "--hash is refused before a program starts", text_of(done))
    rdmalab.file("hosts.lab").write_text("host alpha beta\non alpha { alloc_pd as pd }\nif tick > 0 { host gamma }\n")
    done = rdmalab.run("-c", 'host h1; complete "exec h1 ./s"')
    tally.expect("FILE" in done.stdout, "the program of exec is completed as a file", text_of(done))
    for words, candidates in (([""], "h1\nh2\n"), (["h1", ""], "--\n"), (["h1", "--", "true", ":", "h"], "h1\nh2\n"),
                              (["h1", "--", "./p"], ":files\n"), (["h1", "--", "true", ""], ":files\n:\n"),
                              (["--lab", "hosts.lab", ""], "alpha\nbeta\ngamma\n"), (["--lab", "hosts.lab", "alpha", ""], "--\n"),
                              (["--lab=hosts.lab", "alpha", "--", "true", ":", "b"], "beta\n"), (["--lab", ""], ":files\n"),
                              (["--lab", "nosuch.lab", ""], ""), (["--l"], "--lab\n--ladder\n")):
        done = rdmalab.run("complete", "--", "exec", *words)
        tally.expect(done.stdout == candidates, f"completion behind exec {' '.join(words)}", text_of(done))
