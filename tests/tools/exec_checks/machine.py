# SPDX-License-Identifier: MIT
"""Programs and the machine: hostile programs, limits, directories, TCP ports, processes that end."""
import errno
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

from on_hosts import ports, text_of, wait_until
from program import ROOT

HOSTILE = """host h1 h2 max_qp=64 max_cq=64
link h1 h2
exec h1 {hostile} {seed} &
exec h1 ibv_rc_pingpong -g 0 -n 200 -p {port} &
exec h2 ibv_rc_pingpong -g 0 -n 200 -p {port} localhost
run
"""


def check_hostile(rdmalab, tally):
    """A program that says anything to the lab harms nobody else, and leaves nothing."""
    for seed in range(1, 5):
        rdmalab.file("hostile.lab").write_text(HOSTILE.format(hostile=ROOT / "tests/program/hostile.py", seed=seed, port=next(ports)))
        done = rdmalab.run("run", "hostile.lab", "--allow", "programs", "--quiet")
        tally.expect(done.returncode == 0 and "all is said" in done.stdout and "h2 ibv_rc_pingpong: 200 iters" in done.stdout,
                     f"a pingpong beside a hostile program, seed {seed}", text_of(done))


def check_tricks(rdmalab, tally):
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


def check_others_objects(rdmalab, tally):
    """A program that guesses handles of others is refused, whichever host they are of."""
    done = rdmalab.run("exec", "h1", "--", str(ROOT / "tests/program/crowd.py"), "others")
    tally.expect(done.returncode == 0 and done.stdout == "22 22 22 0\n" * 2, "handles of others are stale", text_of(done))


def files_limited(soft, hard):
    """Words that run a program with these limits of file descriptors."""
    return ["prlimit", f"--nofile={soft}:{hard}"]


def check_full(rdmalab, tally):
    """A lab without file descriptors says so, and goes on when there are some again."""
    program = ROOT / "tests/program/crowd.py"
    done = rdmalab.run("exec", "h1", "--", str(program), before=files_limited(40, 1000))
    tally.expect(done.returncode == 0 and "no file descriptors left" in done.stdout and "again: 0" in done.stdout,
                 "connections of one program for all descriptors of the lab", text_of(done))
    done = rdmalab.run("exec", "h1", "--", str(program), "last", before=files_limited(40, 1000))
    tally.expect(done.returncode == 0 and done.stdout == 'the lab has no memory or no file descriptors left: "ulimit -n"\n',
                 "the descriptor of a program has no room in the lab", text_of(done))
    for limit in (8, 10):
        done = rdmalab.run("exec", "h1", "--", "true", before=files_limited(limit, limit))
        tally.expect(done.returncode == 1 and "Too many open files\n  \"ulimit -n\" tells" in done.stderr, f"ulimit -n {limit}", text_of(done))
    done = rdmalab.run("exec", "h1", "--", str(program))
    tally.expect(done.returncode == 0 and "64 connections: a limit is reached" in done.stdout and "again: 0" in done.stdout,
                 "as many connections as a host can have, and one more", text_of(done))


# Values of $TMPDIR below the directory of the checks, and the words said of each; "": programs run.
PLACES = (("a:b", "a program finds no library in a directory with such a name"), ("a;b", "with such a name"), ("$LIB", "with such a name"),
          ("a\nb", "with such a name"), ("no/such", "No such file or directory"), ("c d", ""), ("x" * 90, "File name too long"))


def check_places(rdmalab, tally):
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
    done = rdmalab.run("exec", "h1", "--", "true", before=["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-'])
    tally.expect(done.returncode == 0, "without input and output", text_of(done))


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


def check_ports_again(rdmalab, tally):
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


def processes_with(word, program=""):
    """The IDs of all processes with this word on their command line; only those of @program if it is given."""
    found = []
    for entry in filter(lambda entry: entry.name.isdigit(), pathlib.Path("/proc").iterdir()):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended
        if word in words and program in ("", pathlib.PurePath(words[0]).name):
            found.append(int(entry.name))
    return found


def left_in(home):
    """The directories of rdmalab that are still there."""
    return list(home.glob("rdmalab-exec-*"))


def check_ends(rdmalab, tally):
    """A program that is killed leaves nothing, and neither does rdmalab."""
    many, long, port = str(900_000_000 + os.getpid()), str(90_000_000 + os.getpid()), str(next(ports))
    home = pathlib.Path(rdmalab.directory)
    environment = {**os.environ, "TMPDIR": str(home)}
    server = ["ibv_rc_pingpong", "-g", "0", "-n", many, "-p", port]
    process = rdmalab.start("exec", "h1", "--", *server, ":", "h2", "--", *server, "localhost", env=environment)
    wait_until(lambda: len(processes_with(many, "ibv_rc_pingpong")) == 2)
    time.sleep(0.3)
    for pid in processes_with(many, "ibv_rc_pingpong"):
        if "localhost" not in pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
            os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    tally.expect(process.returncode == 137, "the status of a program that was killed", f"{process.returncode}\n{out}{err}")
    process = rdmalab.start("exec", "h1", "--", "ib_send_bw", "-D", long, "-p", port, env=environment)
    wait_until(lambda: processes_with(long, "ib_send_bw"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    tally.expect(not processes_with(many) and not processes_with(long), "no program outlives rdmalab")
    tally.expect(not left_in(home), "nothing is left in the directory for temporary files", str(left_in(home)))


def check_killed(rdmalab, tally):
    """Programs, and what they have started, end with rdmalab, even if it is killed."""
    word = f"9999.{os.getpid()}"
    home = pathlib.Path(rdmalab.directory)
    environment = {**os.environ, "TMPDIR": str(home)}

    def sleeps():
        return processes_with(word, "sleep")

    def kill_when(n_sleep, *command):
        """Kills rdmalab when so many programs sleep.  Returns true if as many did, and nothing is left."""
        process = rdmalab.start(*command, stdin=subprocess.PIPE, env=environment)
        wait_until(lambda: len(sleeps()) == n_sleep)
        began = len(sleeps())
        process.kill()
        process.wait()
        wait_until(lambda: not processes_with(word) and not left_in(home))
        return began == n_sleep and not processes_with(word)

    stubborn = f"trap : TERM; setsid sleep {word} & sleep {word}"
    rdmalab.file("ends.lab").write_text(f'host h1\nexec h1 sh -c "trap : TERM; setsid sleep {word} & setsid sleep {word} & sleep {word}"\n')
    for start in (["test", "ends.lab", "--allow", "programs", "--artifacts", "left"],
                  ["exec", "h1", "--", "sleep", word, ":", "h2", "--", "sh", "-c", stubborn],
                  ["--allow", "programs", "--prompt", "-c",
                   f'host h1 h2; link h1 h2; exec h1 sleep {word} &; exec h2 sh -c "{stubborn}" &']):
        tally.expect(kill_when(3, *start), "no program outlives an rdmalab that was killed", f"{start} {processes_with(word)}")
        tally.expect(not left_in(home), "an rdmalab that was killed leaves no directory", str(left_in(home)))
    ended = kill_when(2, "exec", "h1", "--", str(rdmalab.path), "exec", "h2", "--", "sh", "-c", stubborn)
    tally.expect(ended and not left_in(home), "rdmalab as a program of a lab that is killed", f"{processes_with(word)} {left_in(home)}")
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", f"setsid sleep {word} >/dev/null 2>&1 &")
    wait_until(lambda: not processes_with(word))  # the leash may still be at it when rdmalab has ended
    tally.expect(done.returncode == 0 and not processes_with(word), "what a program has left ends with rdmalab", text_of(done))
    tools = {name: shutil.which(name) for name in ("setsid", "sleep")}
    done = rdmalab.run("exec", "h1", "--", "/bin/sh", "-c", f"{tools['setsid']} {tools['sleep']} {word} >/dev/null 2>&1 &",
                       env={**os.environ, "PATH": str(home)})
    wait_until(lambda: not processes_with(word))
    tally.expect(done.returncode == 0 and not processes_with(word), "so it does if there is nothing in PATH", text_of(done))
