#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs that somebody else wrote, unmodified, on hosts of a lab.

usage: check_exec.py RDMALAB

The programs are those of Debian's ibverbs-utils and perftest, our examples, and tests/program, built
beside RDMALAB; so is our libibverbs.so.1.  Without Debian's, or in a build without the library, prints "skipped: REASON" and exits with 77.  Each function
check_NAME is one check, or a few.  No check depends on how fast the machine is.
"""
import errno
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

from program import ROOT, Program, Tally, tcp_ports

# Pairs of server and client: the same words, and the name of the machine behind those of the client.
PAIRS = [
    "ibv_rc_pingpong -g 0 -n 200 -c", "ibv_rc_pingpong -g 0 -n 200 -e", "ibv_rc_pingpong -g 1 -n 50 -m 4096 -s 65536 -r 50",
    "ibv_rc_pingpong -g 0 -n 100 -t", "ibv_rc_pingpong -g 0 -n 100 -N", "ibv_uc_pingpong -g 0 -n 200",
    "ibv_uc_pingpong -g 0 -n 100 -e", "ibv_ud_pingpong -g 0 -n 200", "ibv_ud_pingpong -g 1 -n 100 -e -s 1024",
    "ibv_srq_pingpong -g 0 -n 100 -q 4", "ibv_srq_pingpong -g 0 -n 100 -e",
    "ib_send_bw -n 100", "ib_send_lat -n 50 -e", "ib_send_bw -n 100 -c UD", "ib_send_bw -n 100 -c UC --use-srq",
    "ib_write_bw -n 100 -q 2 -m 1024", "ib_write_lat -n 50 -I 64", "ib_write_bw -n 100 -c UC", "ib_write_bw -n 50 -b",
    "ib_read_bw -n 50", "ib_read_lat -n 50 -s 4096", "ib_atomic_bw -n 50", "ib_atomic_lat -n 50 -A CMP_AND_SWAP",
]


# Another for each pair, so that checks can run at the same time.
ports = tcp_ports()


# perftest measures the clock of its processor, and gives up if the machine is busy meanwhile.
CLOCK_REFUSED, CLOCK_TRIES = "Correlation coefficient", 5


def exec_pair(rdmalab, server, client=None, *options, **more):
    for _ in range(CLOCK_TRIES):
        port = ["-p", str(next(ports))]
        done = rdmalab.run("exec", *options, "h1", "--", *server.split(), *port, ":", "h2", "--", *(client or server).split(),
                           *port, "localhost", **more)
        if CLOCK_REFUSED not in done.stdout + done.stderr:
            break
    return done


def text_of(done):
    return f"status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


def check_pairs(rdmalab, tally, _library):
    for pair in PAIRS:
        done = exec_pair(rdmalab, pair)
        tally.expect(done.returncode == 0, pair, text_of(done))


def check_device(rdmalab, tally, _library):
    done = rdmalab.run("exec", "h2", "--", "ibv_devinfo", "-v")
    says = {name: value for name, value in re.findall(r"^\s*([\w ]+\w):\s*(\S.*)$", done.stdout, re.MULTILINE)}
    for name, value in {"hca_id": "rdl0", "state": "PORT_ACTIVE (4)", "max_qp": "1024", "link_layer": "Ethernet",
                        "atomic_cap": "ATOMIC_HCA (1)", "active_mtu": "4096 (5)"}.items():
        tally.expect(says.get(name) == value, f"ibv_devinfo says that {name} is {value}", text_of(done))
    tally.expect("::ffff:10.0.0.2, RoCE v2" in done.stdout, "ibv_devinfo shows the GID of h2", text_of(done))
    alone = subprocess.run(["ibv_devices"], env={**os.environ, "LD_LIBRARY_PATH": str(_library.parent)},
                           capture_output=True, text=True, check=False)
    tally.expect(alone.returncode == 0 and "rdl0" not in alone.stdout, "without a lab there is no device", text_of(alone))


def check_symbols_and_texts(_rdmalab, tally, library):
    for script in ("check_symbols.py", "check_text.py"):
        done = subprocess.run([ROOT / "src/program/ibverbs" / script, library], capture_output=True, text=True, check=False)
        counts = re.search(r"(\d+) passed, (\d+) failed", done.stdout)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 0 and int(counts[2]) == 0, script, text_of(done))


def check_examples(rdmalab, tally, library):
    build = library.parents[3]
    for name in ("rc_message", "one_sided", "datagram", "shared_receives", "events"):
        program, port = str(build / "examples" / name), str(next(ports))
        done = rdmalab.run("exec", "h1", "--", program, "-", port, ":", "h2", "--", program, "localhost", port)
        tally.expect(done.returncode == 0 and done.stdout.count("\n") >= 3, f"examples/{name}.c", text_of(done))


def check_own_program(rdmalab, tally, library):
    """What no program of Debian's does: errors, refusals, full queues, threads, fork, the end of the lab."""
    program = library.parents[3] / "tests/program/verbs_program"
    for how in ([], ["--virtual"]):  # in which a thread that polls must not hold the calls of another one up
        done = rdmalab.run("exec", *how, "h1", "--", str(program))
        counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 2000 and int(counts[2]) == 0,
                     " ".join(["tests/program", *how]), text_of(done))
    done = rdmalab.run("exec", "h1", "--", "env", "RDMALAB_ARM=unpolled", str(program), "arming")
    tally.expect(done.returncode == 0 and "arming\n" in done.stdout, "RDMALAB_ARM=unpolled", text_of(done))


HOSTILE = """host h1 h2 max_qp=64 max_cq=64
link h1 h2
exec h1 {hostile} {seed} &
exec h1 ibv_rc_pingpong -g 0 -n 200 &
exec h2 ibv_rc_pingpong -g 0 -n 200 localhost
run
"""


def check_hostile(rdmalab, tally, _library):
    """A program that says anything to the lab harms nobody else, and leaves nothing."""
    for seed in range(1, 5):
        rdmalab.file("hostile.lab").write_text(HOSTILE.format(hostile=ROOT / "tests/program/hostile.py", seed=seed))
        done = rdmalab.run("run", "hostile.lab", "--allow", "programs", "--quiet")
        tally.expect(done.returncode == 0 and "all is said" in done.stdout and "h2 ibv_rc_pingpong: 200 iters" in done.stdout,
                     f"a pingpong beside a hostile program, seed {seed}", text_of(done))


def check_tricks(rdmalab, tally, _library):
    """A program can neither make the lab wait, nor reach the terminal by what it prints."""
    tricks = ROOT / "tests/program/tricks.py"
    for name in ("block", "linger"):
        done = rdmalab.run("exec", "h1", "--", str(tricks), name)
        tally.expect(done.returncode == 0 and not done.stdout, f"a program that wants the lab to wait: {name}", text_of(done))
    rdmalab.file("tricks.lab").write_text(f"host h1 h2\nexec h1 status=143 {tricks} mapped - &\nuntil count(ctrl_request, cmd==CREATE_PD) == 1 timeout=60s\n"
                                          f"show h1.pd1\nkill 1\nexec h1 {tricks} draws\n")
    done = rdmalab.run("run", "tricks.lab", "--allow", "programs")
    tally.expect(f"made by program 1 ({tricks}), its 1st ibv_alloc_pd\n" in done.stdout, "thousands of mapped files are not all looked at", text_of(done))
    tally.expect("h1 tricks.py: \tred \\xc2\\x9b31m [31m\\x9b31m, from the right \\xe2\\x80\\xae, \\x23" in done.stdout and
                 "\\xff, grün\n" in done.stdout, "what a terminal and a log would obey is escaped", text_of(done))
    tally.expect("x" * 1023 + "\nh1 tricks.py: " + "ü" * 512 + "\nh1 tricks.py: " + "ü" * 88 + "\n" in done.stdout,
                 "a long line is cut between two characters", text_of(done))


def check_strange_name(rdmalab, tally, library):
    """The name of a program is shown so that a terminal does not obey it."""
    shutil.copy(library.parents[3] / "tests/program/makers_bare", rdmalab.file("strange\x9b\u202e\x1b[31m"))
    rdmalab.file("strange.lab").write_text('host h1 h2\nexec h1 "./strange\x9b\u202e\x1b[31m" &\nuntil count(cqe) == 1 timeout=60s\nshow h1\n'
                                           "show live\nprograms\nprograms csv\nkill 1\nrefused says=\"signal 15\" { run }\n")
    done = rdmalab.run("run", "strange.lab", "--allow", "programs")
    shown = r"strange\xc2\x9b\xe2\x80\xae\x1b[31m"
    tally.expect(done.returncode == 0 and done.stdout.count(f"  ./{shown}\n") == 1 and f"made by program 1 (./{shown}), its\n" in done.stdout and
                 f"1st ibv_alloc_pd, {shown}+0x" in done.stdout and not re.search("[\x9b\u202e\x1b]", done.stdout), "a strange name", text_of(done))


# Values of $TMPDIR below the directory of the checks, and the words said of each; "": programs run.
PLACES = (("a:b", "a program finds no library in a directory with such a name"), ("a;b", "with such a name"), ("$LIB", "with such a name"),
          ("a\nb", "with such a name"), ("no/such", "No such file or directory"), ("c d", ""), ("x" * 90, "File name too long"))


def check_places(rdmalab, tally, _library):
    """The directory for the libraries: an absolute path that the dynamic linker, and the shell of the leash, can read."""
    program = ["exec", "h1", "--", "sh", "-c", "cd / && ibv_devices"]
    for name, says in PLACES:
        place = rdmalab.file(name)
        if name != "no/such":
            place.mkdir()
        done = rdmalab.run(*program, env={**os.environ, "TMPDIR": str(place)})
        tally.expect((done.returncode == 1 and says in done.stderr and "$TMPDIR" in done.stderr) if says else
                     (done.returncode == 0 and "rdl0" in done.stdout and not done.stderr), f"a TMPDIR of {name!r}", text_of(done))
        tally.expect(name == "no/such" or not list(place.iterdir()), f"nothing is left in {name!r}")
    home, keeps = rdmalab.file("home"), rdmalab.file("keeps")
    home.mkdir()
    keeps.mkdir()
    (keeps / "socket").write_text("of somebody else")
    (keeps / "libibverbs.so.1").write_text("of somebody else")
    for words in ("mkdir $d/x; touch $d/x/y $d/z", f"mv $d {rdmalab.file('moved')}; ln -s {keeps} $d", "rm -r $d"):
        done = rdmalab.run("exec", "h1", "--", "sh", "-c", f"d=$(dirname $RDMALAB_SOCKET); {words}", env={**os.environ, "TMPDIR": str(home)})
        tally.expect(done.returncode == 0 and not list(home.iterdir()) and len(list(keeps.iterdir())) == 2,
                     f"a program that changes the directory: {words}", text_of(done))
    done = rdmalab.run(*program, env={**os.environ, "TMPDIR": "."})
    tally.expect(done.returncode == 0 and "rdl0" in done.stdout, "a relative TMPDIR, and a program that goes elsewhere", text_of(done))
    if os.statvfs("/proc").f_flag & os.ST_NOEXEC:
        done = rdmalab.run(*program, env={**os.environ, "TMPDIR": "/proc"})
        tally.expect(done.returncode == 1 and "it is mounted with noexec" in done.stderr, "a TMPDIR from which no program can run", text_of(done))
    paths = ":".join(f"/opt/module/{i}/lib" for i in range(1000))
    done = rdmalab.run("exec", "h1", "--", "printenv", "LD_LIBRARY_PATH", env={**os.environ, "LD_LIBRARY_PATH": paths})
    tally.expect(done.stdout.endswith(f":{paths}\n"), "a long LD_LIBRARY_PATH is kept", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "true", preexec_fn=lambda: [os.close(fd) for fd in range(3)])
    tally.expect(done.returncode == 0, "without input and output", text_of(done))


MADE = """host h1 h2
link h1 h2
exec h1 {program} {words} &
{more}
until count(cqe) == {completions} timeout=60s
show h1
show h1.qp3
show qp h1.qp2
show h1.mr1
show qp
show cq h1
why h1.qp2
why
kill 1
"""


def made_lines():
    """{name: number} of the lines of makers.c that are marked."""
    text = (ROOT / "tests/program/makers.c").read_text()
    return {name: text.count("\n", 0, at.start()) + 1 for at in re.finditer(r"/\* made: (\w+) \*/", text) for name in [at[1]]}


def check_makers(rdmalab, tally, library):
    """Each object of a program has its maker: the program, the call, and its line if the debug information tells."""
    build, lines = library.parents[3] / "tests/program", made_lines()
    tally.expect(len(lines) == 10, "makers.c has marks", str(lines))
    calls = {"pd1": ("1st ibv_alloc_pd", "pd"), "mr1": ("1st ibv_reg_mr", "mr"), "mr2": ("2nd ibv_reg_mr", "mr2"),
             "mw3": ("1st ibv_alloc_mw", "mw"), "channel1": ("1st ibv_create_comp_channel", "channel"),
             "cq1": ("1st ibv_create_cq", "cq"), "qp2 to qp4": ("1st to 3rd ibv_create_qp", "qp"),
             "qp5": ("1st ibv_create_qp_ex", "qp_ex"), "srq1": ("1st ibv_create_srq", "srq"), "ah1": ("1st ibv_create_ah", "ah")}
    tool = shutil.which("addr2line")
    alone = rdmalab.file("tools")
    alone.mkdir()
    (alone / "addr2line").symlink_to(tool or "/no/addr2line")
    (rdmalab.file("none")).mkdir()
    for name, path in [("makers", os.environ["PATH"]), ("makers", str(alone)), ("makers_fast", str(alone)), ("makers", str(rdmalab.file("none"))),
                       ("makers_bare", os.environ["PATH"])]:
        has_lines = name != "makers_bare" and "none" not in path
        if has_lines and not tool:
            continue
        rdmalab.file("made.lab").write_text(MADE.format(program=build / name, words="", more="", completions=1))
        done = rdmalab.run("run", "made.lab", "--allow", "programs", env={**os.environ, "PATH": path})
        _, first, *tables = done.stdout.split(f"made by program 1 ({build / name}), its\n")
        tally.expect(len(tables) == 2 and re.match(r"  h1\.qp2 to h1\.qp4 +1st to 3rd ibv_create_qp, ", tables[0]) and
                     re.match(r"  cq1 +1st ibv_create_cq, ", tables[1]), f"{name}: show qp, show cq h1", text_of(done))
        for object_name, (call, mark) in calls.items():
            where = rf"makers\.c:{lines[mark]}" if has_lines else rf"{name}\+0x[0-9a-f]+"
            tally.expect(re.search(rf"^  {object_name} +{call}, {where}$", first, re.MULTILINE),
                         f"{name}, {path}: {object_name} by {call}", text_of(done))
        where = f"makers.c:{lines['qp']}" if has_lines else f"{name}+0x"
        one = " ".join(done.stdout.split())
        for object_name, lead, call in (("qp3", "made by", "2nd ibv_create_qp"), ("qp2", "made by", "1st ibv_create_qp"), ("qp4", "h1.qp4 was made by", "3rd ibv_create_qp"),
                                        ("qp2", "h1.qp2 was made by", "1st ibv_create_qp")):
            tally.expect(f" {lead} program 1 ({build / name}), its {call}, {where}" in one, f"{name}, {path}: {lead}, {object_name}", text_of(done))
    more = f"exec h1 {build}/makers_bare &"
    rdmalab.file("made.lab").write_text(MADE.format(program=build / "makers_bare", words="child", more=more, completions=2))
    done = rdmalab.run("run", "made.lab", "--allow", "programs")
    tally.expect(re.search(rf"^made by process \d+ of program 1 \({build}/makers_bare\), its$", done.stdout, re.MULTILINE),
                 "a process that a program has started is named", text_of(done))
    tally.expect(f"made by program 2 ({build}/makers_bare), its\n" in done.stdout, "the second program has its own heading", text_of(done))


BY_LIBRARY = """import ctypes, time
library = ctypes.CDLL("libibverbs.so.1")
library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
library.ibv_open_device.restype = ctypes.c_void_p
library.ibv_open_device.argtypes = library.ibv_alloc_pd.argtypes = [ctypes.c_void_p]
context = library.ibv_open_device(library.ibv_get_device_list(None)[0])
library.ibv_alloc_pd(context)
library.ibv_alloc_pd(context)
time.sleep(1000)
"""


def check_maker_library(rdmalab, tally, _library):
    """A call that a library of the program makes is in that library."""
    rdmalab.file("by_library.py").write_text(BY_LIBRARY)
    rdmalab.file("by_library.lab").write_text(f"host h1 h2\nlink h1 h2\nexec h1 {sys.executable} by_library.py &\n"
                                              "until count(ctrl_request, cmd==CREATE_PD) == 2 timeout=60s\nshow h1\nkill 1\n")
    done = rdmalab.run("run", "by_library.lab", "--allow", "programs")
    tally.expect(re.search(r"^  pd1( to pd2)? +1st( to 2nd)? ibv_alloc_pd, (\S+ of )?(libffi|_ctypes)\S+$", done.stdout, re.MULTILINE), "ctypes calls by libffi", text_of(done))


def check_maker_changed(rdmalab, tally, library):
    """A program that was built again while it runs: no line of the new one is said of the old one."""
    shutil.copy(library.parents[3] / "tests/program/makers", rdmalab.file("changing"))
    rdmalab.file("changed.lab").write_text("host h1 h2\nlink h1 h2\nexec h1 ./changing &\n"
                                           "until count(cqe) == 1 timeout=60s\n"
                                           "exec h1 mv changing old\nexec h1 cp old changing\nshow h1.pd1\nkill 1\n")
    done = rdmalab.run("run", "changed.lab", "--allow", "programs")
    tally.expect("made by program 1 (./changing), its 1st ibv_alloc_pd, changing\n" in done.stdout, "a file that has changed", text_of(done))


NEEDS_RESET = """host h1 h2
link h1 h2
on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq }
create_srq h2.pd max_wr=4 as srq
create_qp h1.pd send_cq=cq recv_cq=cq as qp
create_qp h2.pd send_cq=cq recv_cq=cq srq=srq as qp
get_dma_mr h2.pd access=lw,rw as dma
connect h1.qp h2.qp mtu=1024 timeout=4 retry_cnt=1
write h1.mr[0] hex=ffff
exec h2 ibv_rc_pingpong -g 0 &
post_send h1.qp op=rdma_write sge=mr[0:2] remote=h2.dma[421954]
post_send h1.qp sge=mr[0:64]
run for=10ms
expect h2.device.needs_reset == 1
kill 1
refused says="signal 15" { run }
run for=10ms
run
"""


def check_needs_reset(rdmalab, tally, _library):
    """A program that has ended while its device needs a reset, which keeps its objects, stops nobody."""
    rdmalab.file("reset.lab").write_text(NEEDS_RESET)
    done = rdmalab.run("run", "reset.lab", "--allow", "programs", "--quiet")
    tally.expect(done.returncode == 0, "the lab goes on after a program on a device that needs a reset", text_of(done))


def check_full(rdmalab, tally, _library):
    """A lab without file descriptors says so, and goes on when there are some again."""
    program = ROOT / "tests/program/crowd.py"
    done = rdmalab.run("exec", "h1", "--", str(program), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 1000)))
    tally.expect(done.returncode == 0 and "no file descriptors left" in done.stdout and "again: 0" in done.stdout,
                 "connections of one program for all descriptors of the lab", text_of(done))
    done = rdmalab.run("exec", "h1", "--", str(program), "last", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 1000)))
    tally.expect(done.returncode == 0 and done.stdout == 'the lab has no memory or no file descriptors left: "ulimit -n"\n',
                 "the descriptor of a program has no room in the lab", text_of(done))
    for limit in (8, 10):
        done = rdmalab.run("exec", "h1", "--", "true", preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        tally.expect(done.returncode == 1 and "Too many open files\n  \"ulimit -n\" tells" in done.stderr, f"ulimit -n {limit}", text_of(done))
    done = rdmalab.run("exec", "h1", "--", str(program))
    tally.expect(done.returncode == 0 and "64 connections: a limit is reached" in done.stdout and "again: 0" in done.stdout,
                 "as many connections as a host can have, and one more", text_of(done))


def check_others_objects(rdmalab, tally, _library):
    """A program that guesses handles of others is refused, whichever host they are of."""
    done = rdmalab.run("exec", "h1", "--", str(ROOT / "tests/program/crowd.py"), "others")
    tally.expect(done.returncode == 0 and done.stdout == "22 22 22 0\n" * 2, "handles of others are stale", text_of(done))


def check_statuses(rdmalab, tally, _library):
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


def check_lab(rdmalab, tally, _library):
    """Loss in the lab is loss for the programs, and the capture has their packets."""
    rdmalab.file("lossy.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1 as lost\n")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 50", None, "--lab", "lossy.lab", "--events", "events.ndjson",
                     "--pcap", "frames.pcapng")
    tally.expect(done.returncode == 0, "a pingpong survives a lost packet", text_of(done))
    events = rdmalab.file("events.ndjson")
    kinds = re.findall(r'"ev":"(\w+)"', events.read_text()) if events.exists() else []
    tally.expect({"tx", "lost", "retry"} <= set(kinds), "the events tell of it", str(sorted(set(kinds))))
    tally.expect(rdmalab.file("frames.pcapng").exists() and rdmalab.file("frames.pcapng").stat().st_size > 10000, "there is a capture")


WAITS = """import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
time.sleep(1000)
"""


def check_not_started(rdmalab, tally, _library):
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


def check_stranger(rdmalab, tally, _library):
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


def check_unmet(rdmalab, tally, _library):
    """A fault of --lab that has met nothing is a failure, as in `run`, unless it is optional."""
    for more, status in (("", 1), (" optional", 0)):
        rdmalab.file("unmet.lab").write_text(f"host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1{more} as f1\n")
        done = rdmalab.run("exec", "--lab", "unmet.lab", "h1", "--", "true")
        tally.expect(done.returncode == status and ("FAIL the fault f1 has met nothing" in done.stderr) == bool(status),
                     f"a fault that met nothing{more}", text_of(done))
    rdmalab.file("unmet.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=3 class=send from=h1 as f1\n")
    done = rdmalab.run("exec", "--lab", "unmet.lab", "h1", "--", "sh", "-c", "exit 4")
    tally.expect(done.returncode == 4, "the status of a program comes before that", text_of(done))


def check_waiting(rdmalab, tally, _library):
    """A server that nobody contacts is named, and ends with the time of --timeout."""
    rdmalab.file("waits.py").write_text(WAITS)
    python = ["h1", "--", sys.executable, "waits.py"]
    done = rdmalab.run("exec", "--timeout", "8", *python, "h2", "--", "true")
    name = f"h1 {pathlib.Path(sys.executable).name}"
    tally.expect(done.returncode == 124 and f"{name} still ran after the timeout of 8 s" in done.stderr, "--timeout", text_of(done))
    tally.expect(done.stderr.count("waits for a TCP connection; no other program is left to start") == 1,
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


def check_words(rdmalab, tally, _library):
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
            ("h9 -- true", 1, 'rdmalab: no host is called "h9"\n'), ("h1 -- sh -c exit", 0, ""), ("-- h1 -- echo -n", 0, ""),
            ("--pcap - h1 -- true", 2, "it needs the name of a file"), ("h1 echo : h2 echo", 0, ""),
            ("--ladder a.png h1 -- true", 2, "--ladder a.png: the name must end in"), ("--pcap a h1 -- true", 2, "must end in"),
            ("--events a h1 -- true", 2, "must end in")):
        done = rdmalab.run("exec", *words.split())
        tally.expect(done.returncode == status and says in done.stderr and "exec:" not in done.stderr, f"exec {words}", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "kill -SEGV $$")
    tally.expect(done.returncode == 139 and done.stderr == "rdmalab: h1 sh was ended by signal 11 (SIGSEGV)\n", "a signal", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "exit 3")
    tally.expect(done.stderr == "rdmalab: h1 sh ended with status 3\n", "a status", text_of(done))


def check_virtual(rdmalab, tally, library):
    """In virtual time a run is the same each time, with events and with a lost packet, and nobody waits for a retry."""
    rdmalab.file("lost.lab").write_text("host h1 h2\nlink h1 h2\ndrop next nth=1 class=send from=h1\n")
    for name, options in (("rc_message", []), ("rc_message", ["--lab", "lost.lab"]), ("events", []), ("shared_receives", []),
                          ("datagram", [])):
        program, port = str(library.parents[3] / "examples" / name), str(next(ports))
        runs = [rdmalab.run("exec", "--virtual", "--hash", *options, "h1", "--", program, "-", port, ":", "h2", "--", program,
                            "localhost", port) for _ in range(4)]
        hashes = {match for done in runs for match in re.findall("^hash [0-9a-f]{16}$", done.stdout, re.MULTILINE)}
        tally.expect(all(done.returncode == 0 for done in runs) and len(hashes) == 1, f"{name} {options} runs the same way each time",
                     f"{hashes}\n{text_of(runs[0])}")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 20 -e", None, "--virtual")
    tally.expect(done.returncode == 0, "a pingpong in virtual time", text_of(done))
    done = rdmalab.run("exec", "--hash", "h1", "--", "true")
    tally.expect(done.returncode == 2 and "--virtual" in done.stderr, "a hash needs virtual time", text_of(done))


FILES = """
import os, stat
device, sysfs = "/dev/infiniband/uverbs0", "/sys/class/infiniband/rdl0/"
print("device", stat.S_ISCHR(os.stat(device).st_mode), os.access(device, os.R_OK | os.W_OK), open(device).read() == "")
for name in "ports/1/gid_attrs/types/0", "ports/1/gid_attrs/types/15", "ports/1/link_layer", "node_type":
    print(name, open(sysfs + name).read().strip(), os.stat(sysfs + name).st_size, os.access(sysfs + name, os.R_OK))
for name in "ports/1/gid_attrs/types/", "ports/1/gid_attrs/types/0x", "ports/2/link_layer", "node_typ", "node_types":
    print(name, os.path.exists(sysfs + name))
try:
    open(sysfs + "node_type", "w")
except OSError as error:
    print(error.strerror)
print(sorted(os.listdir("/proc/self/fd")))
"""
FILES_SAID = """device True True True
ports/1/gid_attrs/types/0 RoCE v2 8 True
ports/1/gid_attrs/types/15 RoCE v2 8 True
ports/1/link_layer Ethernet 9 True
node_type 1: CA 6 True
ports/1/gid_attrs/types/ False
ports/1/gid_attrs/types/0x False
ports/2/link_layer False
node_typ False
node_types False
Permission denied
['0', '1', '2', '3']
"""

SANITIZED = """
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    FILE *file = fopen("/sys/class/infiniband/rdl0/node_type", "r");
    printf("%d %d\\n", n, file ? fgetc(file) : 0);
    if (file)
        fclose(file);
    ibv_free_device_list(list);
    return 0;
}
"""


def check_files(rdmalab, tally, _library):
    """Files of an adapter that programs look at themselves: the machine has none."""
    done = rdmalab.run("exec", "h1", "--", sys.executable, "-c", FILES)
    tally.expect(done.returncode == 0 and done.stdout == FILES_SAID, "files of the device", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "env", "-u", "RDMALAB_SOCKET", "ls", "/sys/class/infiniband/rdl0/node_type")
    tally.expect(done.returncode == 2, "files of the device without a lab", text_of(done))
    for variable, ours in (("LD_PRELOAD", "librdmalab-files.so"), ("LD_LIBRARY_PATH", "rdmalab-exec-"), ("ASAN_OPTIONS", "link_order=0")):
        done = rdmalab.run("exec", "h1", "--", "printenv", variable, env={**os.environ, variable: "verbosity=0"})
        first, colon, last = done.stdout.strip().rpartition(":")
        tally.expect(ours in first and colon and last == "verbosity=0", f"{variable} of the user stands behind ours", text_of(done))
    spaces = rdmalab.file("a b")
    spaces.mkdir()
    done = rdmalab.run("exec", "h1", "--", "test", "-c", "/dev/infiniband/uverbs0", env={**os.environ, "TMPDIR": str(spaces)})
    tally.expect(done.returncode == 0 and not done.stderr and not list(spaces.iterdir()), "a directory with a space", text_of(done))


# A server that does not set SO_REUSEADDR, and closes its connection before its client does; and the client.
SERVER = """import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
s.accept()[0].close()
"""
CLIENT = """import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(1)
"""


def check_ports_again(rdmalab, tally, _library):
    """A server gets its TCP port again at once after its end, but not a port on which another one listens."""
    port = next(ports)
    words = ["h1", "--", sys.executable, "-c", SERVER, str(port), ":", "h2", "--", sys.executable, "-c", CLIENT, str(port)]
    for run in ("first", "second"):
        done = rdmalab.run("exec", *words)
        tally.expect(done.returncode == 0, f"the {run} server at a port", text_of(done))
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
            tally.expect(False, "without a lab the port is refused for a while", "")
        except OSError as error:
            tally.expect(error.errno == errno.EADDRINUSE, "without a lab the port is refused for a while", str(error))
    with socket.create_server(("127.0.0.1", port)):
        done = rdmalab.run("exec", "h1", "--", sys.executable, "-c", SERVER, str(port))
        tally.expect(done.returncode == 1 and "Address already in use" in done.stderr, "a port that is taken", text_of(done))


def check_sanitizers(rdmalab, tally, _library):
    """Programs with sanitizers run: that for addresses wants to be the first library."""
    rdmalab.file("sanitized.c").write_text(SANITIZED)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for sanitizer in ("address", "thread"):
            made = subprocess.run([compiler, f"-fsanitize={sanitizer}", "sanitized.c", "-o", "sanitized", "-libverbs"],
                                  cwd=rdmalab.directory, capture_output=True, text=True, check=False)
            if made.returncode:
                continue  # this compiler has no such sanitizer
            done = rdmalab.run("exec", "h1", "--", "./sanitized")
            tally.expect(done.returncode == 0 and done.stdout == "1 49\n" and not done.stderr, f"{compiler} -fsanitize={sanitizer}",
                         text_of(done))
def check_draws(rdmalab, tally, library):
    """In virtual time the random numbers of a program are the same each time; those of its children, and others, are not."""
    draws = str(library.parents[3] / "tests/program/draws")
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


def check_test(rdmalab, tally, library):
    """`rdmalab test` starts programs, in virtual time, if it may; the same hash as `run --virtual` has."""
    rdmalab.file("pair.lab").write_text(PAIR.format(program=library.parents[3] / "examples/rc_message", port=next(ports)))
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


def check_book(rdmalab, tally, library):
    """The scenario of book/your-program.md passes, as a script and as JSON, with a server and a client."""
    program, port = library.parents[3] / "examples/rc_message", next(ports)
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
    tally.expect(done.returncode == 0 and re.search(r"^(\d+) runs: \1 came to the same, 0 did not$", done.stdout, re.MULTILINE),
                 "programs see the same, whichever packet is lost", text_of(done))


# A failed test and its text: the lines behind two hosts, and what it prints.
FAILURES = (
    ('exec h1 sh -c "echo said; exit 3"', r"h1 sh ended with status 3\n(.*\n)+  \"exec h1 status=3 \.\.\.\" expects this status\n  the last lines that each program has printed:\n    h1 sh: said\n  again: .* --allow programs"),
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
    ("exec h1 {server} &\nrun", "wall-clock limit was reached before this ended\n(.*\n)+  h1 {base} still runs, and waits for a TCP"),
)


def check_test_failures(rdmalab, tally, library):
    """A program that fails fails its test, which says what it printed; so does one that does not end."""
    program = library.parents[3] / "examples/rc_message"
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
    tally.expect(set(left) == {"again.sh", "failed.ndjson", "failed.pcapng", "failed.svg", "printed.txt"} and
                 sorted(left["printed.txt"].read_text().splitlines()) == ["h1 sh: one", "h1 sh: two"],
                 "what programs printed is an artifact", f"{left}\n{text_of(done)}")
    junit = rdmalab.file("junit.xml").read_text()
    tally.expect('<failure message="fails.lab:3:1: error: h1 sh ended with status 3">' in junit and "h1 sh: two" in junit, "JUnit", junit)


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


def check_programs(rdmalab, tally, _library):
    """`programs` lists those that run and those that have ended; much output does not stop virtual time."""
    rdmalab.file("prints.lab").write_text(PRINTS.format(port=next(ports)))
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


def check_ladder(rdmalab, tally, _library):
    """--ladder - is printed behind the output of the programs."""
    rdmalab.file("two.lab").write_text("host h1 h2\nlink h1 h2\n")
    done = exec_pair(rdmalab, "ibv_rc_pingpong -g 0 -n 2", None, "--lab", "two.lab", "--ladder", "-")
    tally.expect(done.returncode == 0 and done.stdout.rfind("iters in") < done.stdout.find("SEND_FIRST"), "--ladder -", text_of(done))


SCRIPT = """host h1 h2
link h1 h2
exec h1 ibv_rc_pingpong -g 0 -n 50 &
exec h2 ibv_rc_pingpong -g 0 -n 50 localhost
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


def check_script(rdmalab, tally, _library):
    """At the prompt and in scripts: output behind the name of the program, expectations, `show live`."""
    script = rdmalab.file("pair.lab")
    script.write_text(SCRIPT)
    done = rdmalab.run("run", "pair.lab", "--allow", "programs")
    tally.expect(done.returncode == 0 and "h2 ibv_rc_pingpong: 50 iters" in done.stdout and
                 "program  1 h1 ibv_rc_pingpong: has ended" in done.stdout, "programs in a script", text_of(done))
    done = rdmalab.run("run", "pair.lab")
    tally.expect(done.returncode != 0 and "--allow" in done.stderr, "a script may start programs only if it is allowed to", text_of(done))


HELD = """host h1 h2 ram=64m max_qp=64 max_cq=64
link h1 h2
break post_send
exec h1 ibv_rc_pingpong -g 0 -n 50 &
exec h2 ibv_rc_pingpong -g 0 -n 50 localhost
expect h2.qp3.state == RTS
expect count(tx) == 0
step tick 20
expect count(tx, host==h2) > 0
delete 1
run
step
expect count(cqe, host==h2) == 100
"""


def check_held(rdmalab, tally, _library):
    """A breakpoint holds the lab and its programs: however long one looks, nothing goes on."""
    done = rdmalab.run("--allow", "programs", stdin=HELD)
    tally.expect(done.returncode == 0 and "the lab and its programs wait" in done.stdout and
                 "idle at" in done.stdout and done.stdout.count("ok: ") == 4, "a breakpoint, steps and a run of a lab with programs", text_of(done))


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


def check_reasons(rdmalab, tally, _library):
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


# The mistakes that tests/program/mistakes.c can make, and the words of the lab on each.
SAID_OF_MISTAKES = {
    "access": "ibv_reg_mr(): Invalid argument; IBV_ACCESS_REMOTE_WRITE and _ATOMIC need IBV_ACCESS_LOCAL_WRITE",
    "long": "ibv_create_qp(): Invalid argument; max_send_wr is 1000000, and must be at most 4096",
    "srq": "ibv_create_srq(): Invalid argument; max_sge is 1000, and must be at most 32",
    "state": "ibv_modify_qp(): Invalid argument; RESET -> RTS is not possible",
}


def check_refused(rdmalab, tally, library):
    """A program that fails learns an errno; rdmalab tells why its last call was refused."""
    for mistake, says in SAID_OF_MISTAKES.items():
        done = rdmalab.run("exec", "h1", "--", str(library.parents[3] / "tests/program/mistakes"), mistake)
        tally.expect(done.returncode == 3 and done.stderr == f"rdmalab: h1 mistakes ended with status 3\n  the lab had refused {says}\n",
                     f"the mistake {mistake}", text_of(done))
    rdmalab.file("few.lab").write_text("host h1\nhost h2 max_qp_init_rd_atom=4 max_qp=2\nlink h1 h2\n")
    for pair, says in (("ib_read_lat -n 5", "  the lab had refused ibv_modify_qp(): Invalid argument; RTR -> RTS: max_rd_atomic is 16, and must be 0 to 4\n"),
                       ("ib_write_bw -q 2", "  the lab had refused ibv_create_qp(): Cannot allocate memory; the device says QP_LIMIT, expected at most 1 of them, found 2\n")):
        done = exec_pair(rdmalab, pair, None, "--lab", "few.lab")
        tally.expect(done.returncode == 1 and done.stderr.count(says) == 1, f"{pair}: why a call was refused", text_of(done))
    for pair, says in ((("ibv_rc_pingpong", "ibv_rc_pingpong"), "ah_attr needs a GID for RoCE, and is_global is 0; many programs have -g 0 for that\n"),
                       (("ibv_ud_pingpong", "ibv_ud_pingpong"), "ibv_create_ah(): Invalid argument; ah_attr needs a GID for RoCE, and is_global is 0"),
                       (("ibv_rc_pingpong -g 0", "ibv_rc_pingpong -g 1"), "sgid_index 0 is an IPv4 address, and dgid is not")):
        done = exec_pair(rdmalab, *pair)
        tally.expect(done.returncode == 1 and says in done.stderr, f"{pair}: the wrong address vector", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "ibv_devinfo >&2; exit 3")
    tally.expect(done.returncode == 3 and "had refused" not in done.stderr, "nothing was refused", text_of(done))


def state_of(pid):
    """The letter of a process's state, as ps prints it; "" if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def check_refused_together(rdmalab, tally, _library):
    """All programs that have failed when the lab looks are reported, with their reasons: rdmalab is stopped meanwhile."""
    rdmalab.file("few.lab").write_text("host h1\nhost h2 max_qp=2\nlink h1 h2\n")
    process = rdmalab.start("exec", "--lab", "few.lab", "h1", "--", "sh", "-c", "echo $$ >one; while ! test -e gone; do sleep 0.01; done; exit 3",
                            ":", "h2", "--", "sh", "-c", "ibv_srq_pingpong -q 8; echo $$ >two; kill -STOP $PPID; touch gone; exit 4")
    end = time.monotonic() + 30
    while time.monotonic() < end and not all(
            rdmalab.file(name).exists() and (pid := rdmalab.file(name).read_text().strip()) and state_of(pid) == "Z" for name in ("one", "two")):
        time.sleep(0.01)
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=30)
    tally.expect(process.returncode == 3 and re.search(
        r"rdmalab: h1 sh ended with status 3\n  h2 sh ended with status 4\n    the lab had refused ibv_create_qp\(\): Cannot allocate memory; "
        r"the device says QP_LIMIT", errors), "both failures, with the reason of the second one", f"{process.returncode}\n{errors}")


def check_virtual_timeout(rdmalab, tally, _library):
    """--timeout is real time, also while virtual time stands still: a program sleeps, or polls its memory."""
    done = rdmalab.run("exec", "--virtual", "--timeout", "1", "h1", "--", "sleep", "1000000")
    tally.expect(done.returncode == 124 and done.stderr == "rdmalab: h1 sleep still ran after the timeout of 1 s\n",
                 "a timeout in virtual time", text_of(done))
    done = exec_pair(rdmalab, "ib_write_lat -n 20", None, "--virtual", "--timeout", "3")
    tally.expect(done.returncode == 124 and done.stderr.endswith("rdmalab: h1 ib_write_lat still ran after the timeout of 3 s\n"
                                                                 "rdmalab: h2 ib_write_lat still ran after the timeout of 3 s\n"),
                 "a program that polls its memory in virtual time", text_of(done))


MISTAKES = (
    ("drop the 1st SEND of h1.qp2", "a fault for it says from=h1"),
    ("exec h1 true\nexpect h1.cq1.polled == 1", "objects are gone after its end: count its events, as in count(cqe, host==h1)"),
    ("exec h1 ./nosuch", "looked for from the current directory, {directory}"),
    ("exec h1 true\nuntil count(cqe) == 50 timeout=1000000s", "nothing is left to run, and it is 0"),
    ("exec h1 true\nshow live", "the lab is 0 behind (at most"),
)


def check_mistakes(rdmalab, tally, _library):
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


def check_record(rdmalab, tally, _library):
    """The record has the whole run of programs; an export complains only of what it lacks."""
    pair = "ibv_rc_pingpong -g 0 -n 5"
    done = exec_pair(rdmalab, pair, None, "--events", "whole.ndjson", "--pcap", "whole.pcapng")
    tally.expect(done.returncode == 0 and "forgotten" not in done.stderr, "nothing is forgotten without --lab", text_of(done))
    rdmalab.file("large.lab").write_text("host h1 h2 ram=256m max_qp=1024 max_cq=1024; link h1 h2\n")
    done = exec_pair(rdmalab, pair, None, "--lab", "large.lab", "--events", "large.ndjson", "--pcap", "large.pcapng")
    tally.expect(done.returncode == 0 and re.search("^large.ndjson: .*first line of the lab file", done.stderr, re.MULTILINE) and
                 "large.pcapng" not in done.stderr, "events are missing, and no frames", text_of(done))


def processes_with(word):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_bytes().decode(errors="replace").split("\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def check_ends(rdmalab, tally, _library):
    """A program that is killed leaves nothing, and neither does rdmalab."""
    many, long, port = str(900_000_000 + os.getpid()), str(90_000_000 + os.getpid()), str(next(ports))
    home = {"env": {**os.environ, "TMPDIR": str(rdmalab.directory)}}
    process = rdmalab.start("exec", "h1", "--", "ibv_rc_pingpong", "-g", "0", "-n", many, "-p", port, ":",
                            "h2", "--", "ibv_rc_pingpong", "-g", "0", "-n", many, "-p", port, "localhost", **home)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and len(processes_with(many)) < 3:
        time.sleep(0.05)
    time.sleep(0.3)
    for pid in processes_with(many):
        if pid != process.pid and "localhost" not in pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
            os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    tally.expect(process.returncode == 137, "the status of a program that was killed", f"{process.returncode}\n{out}{err}")
    process = rdmalab.start("exec", "h1", "--", "ib_send_bw", "-D", long, "-p", port, **home)
    while time.monotonic() < deadline and len(processes_with(long)) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    tally.expect(not processes_with(many) and not processes_with(long), "no program outlives rdmalab")
    left = list(pathlib.Path(rdmalab.directory).glob("rdmalab-exec-*"))
    tally.expect(not left, "nothing is left in the directory for temporary files", str(left))


def check_killed(rdmalab, tally, _library):
    """Programs, and what they have started, end with rdmalab, even if it is killed."""
    word = f"9999.{os.getpid()}"
    home = pathlib.Path(rdmalab.directory)
    rdmalab.file("ends.lab").write_text(f'host h1\nexec h1 sh -c "trap : TERM; setsid sleep {word} & setsid sleep {word} & sleep {word}"\n')
    for start in (["test", "ends.lab", "--allow", "programs", "--artifacts", "left"], ["exec", "h1", "--", "sleep", word, ":", "h2", "--", "sh", "-c", f"trap : TERM; setsid sleep {word} & sleep {word}"],
                  ["--allow", "programs", "--prompt", "-c",
                   f'host h1 h2; link h1 h2; exec h1 sleep {word} &; exec h2 sh -c "trap : TERM; setsid sleep {word} & sleep {word}" &']):
        process = rdmalab.start(*start, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(home)})
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and len(set(processes_with(word)) - {process.pid}) < 3:
            time.sleep(0.05)
        began = set(processes_with(word)) - {process.pid}
        process.kill()
        process.wait()
        while time.monotonic() < deadline and (processes_with(word) or list(home.glob("rdmalab-exec-*"))):
            time.sleep(0.05)
        tally.expect(len(began) == 3 and not processes_with(word), "no program outlives an rdmalab that was killed", str(start))
        left = list(home.glob("rdmalab-exec-*"))
        tally.expect(not left, "an rdmalab that was killed leaves no directory", str(left))
    inner = ["sh", "-c", f"trap : TERM; setsid sleep {word} & sleep {word}"]
    process = rdmalab.start("exec", "h1", "--", str(rdmalab.path), "exec", "h2", "--", *inner, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(home)})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and len(processes_with(word)) < 2:
        time.sleep(0.05)
    began = len(processes_with(word))
    process.kill()
    process.wait()
    while time.monotonic() < deadline and (processes_with(word) or list(home.glob("rdmalab-exec-*"))):
        time.sleep(0.05)
    tally.expect(began == 2 and not processes_with(word) and not list(home.glob("rdmalab-exec-*")), "rdmalab as a program of a lab that is killed",
                 f"{began} {processes_with(word)}")
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", f"setsid sleep {word} >/dev/null 2>&1 &")
    tally.expect(done.returncode == 0 and not processes_with(word), "what a program has left ends with rdmalab", text_of(done))
    tools = {name: shutil.which(name) for name in ("setsid", "sleep")}
    done = rdmalab.run("exec", "h1", "--", "/bin/sh", "-c", f"{tools['setsid']} {tools['sleep']} {word} >/dev/null 2>&1 &", env={**os.environ, "PATH": str(home)})
    tally.expect(done.returncode == 0 and not processes_with(word), "so it does if there is nothing in PATH", text_of(done))


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]


def alone(check, library):
    """Makes @check in a directory of its own, and returns its tally."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as directory:
        rdmalab = Program(pathlib.Path(sys.argv[1]).resolve(), directory)
        try:
            check(rdmalab, tally, library)
        except Exception:  # the others go on
            tally.expect(False, check.__name__, traceback.format_exc())
        rdmalab.end()
    return tally


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = pathlib.Path(sys.argv[1]).resolve().parent / "src/program/ibverbs/libibverbs.so.1"
    missing = [program for program in ("ibv_rc_pingpong", "ibv_devinfo", "ib_send_bw") if not shutil.which(program)]
    if missing or not library.exists():
        print(f"skipped: there is no {', '.join(missing) or library}")
        return 77
    tally = Tally()
    for check in CHECKS:  # one by one: many programs use their usual TCP port
        part = alone(check, library)
        tally.passed += part.passed
        tally.failed += part.failed
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
