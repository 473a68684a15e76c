#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A lab at a real tap device: bad frames, a device that goes away, everything that can be refused.

usage: check_tap.py [--seconds N] [--seed S] RDMALAB

Runs as root in namespaces of its own for network and mounts, which it makes; without the right to do
so it prints "skipped: REASON" and exits with 77.  A check that is not possible prints such a line too.
Each function check_NAME is one check, or a few.  Frames come from a packet socket on the kernel's side
of the tap device, so that they go the way of any frame.

What udev and others made of /dev does not matter: node and terminals are the checks' own.  No check
depends on how fast the machine is: a lab that reads fewer frames than come has to say so, to the frame.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import time

from program import Tally
from tap_frames import HOST, KERNEL, acknowledgement, arp, echo, eth, hostile, ipv4, psn_of
from tap_namespace import TUN, ip, make_namespace

NOBODY = 65534
DEVICE = "rdl0"
TIMEOUT_S = 30
RSS_FULL_KIB = 512 << 10  # of a session that remembers as many events and frames as it may,
FULL_AFTER = 500_000  # which is so after so many frames; from then on
RSS_GROWTH = 1.05  # is by how much it may still grow
BURSTS, BURST = 5, 400  # fewer than a device holds
N_BEFORE = 900  # frames that wait before an answer
SHARE_MOST = 10  # times its own processor time, which others get while frames wait; one, if it is fair
BATCH = 200  # frames before a look at the clock

# All that is known here of the program's language.
LAB = ["host h1", "host h2", "switch s1", "link h1 s1", "link h2 s1"]


def tap(name, node="s1"):
    return f"port tap {name} {node}"


def run_for(seconds):
    return f"run {int(seconds * 1000)}ms"


def ping(address):
    return f"ping h1 {address}"


COUNTERS = "show counters"
FIRST_PSN = 5
QUEUE_PAIR = ("on h1 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq; "
              "create_qp pd type=rc send_cq=cq recv_cq=cq as qp }")
MANY = 12  # hosts
WORDS = ("one", "two", "three")


def connected(address):
    """h1.qp to one that is played at @address; it waits two seconds for an answer, and once."""
    return ("modify_qp h1.qp state=INIT pkey_index=0 port=1 access=rw",
            f"modify_qp h1.qp state=RTR ah={address} mtu=1024 dest_qpn=0x77 rq_psn=0 max_dest_rd_atomic=1 "
            "min_rnr_timer=12",
            f"modify_qp h1.qp state=RTS sq_psn={FIRST_PSN} timeout=19 retry_cnt=0 rnr_retry=0 max_rd_atomic=1")


PROMPT = re.compile(rb"(?:^|\n)t=\S+ #\d+> ")

tally = Tally()
expect = tally.expect
own_node = False  # is TUN the checks' own?


class Skip(Exception):
    """What cannot be checked on this machine, and why."""


# --- The program ----------------------------------------------------------------------------------


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def script(*lines, user=None):
    """Runs @lines as a script; returns (exit status, output)."""
    done = subprocess.run([RDMALAB, "-c", "; ".join(lines)], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False, preexec_fn=user)
    return done.returncode, done.stdout


class Session:
    """The program at its prompt: a line in, what it prints out."""

    def __init__(self, *lines):
        self.process = subprocess.Popen([RDMALAB, "--prompt"], stdin=subprocess.PIPE, bufsize=0,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.answer()
        for line in lines:
            self.do(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")

    def answer(self, seconds=TIMEOUT_S):
        """What is printed up to the next prompt."""
        out, end = b"", time.monotonic() + seconds
        while True:
            if match := PROMPT.search(out):
                return out[:match.start()].decode(errors="replace")
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            got = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not got:
                raise RuntimeError("no prompt, but: " + out.decode(errors="replace")[-2000:])
            out += got

    def do(self, line, seconds=TIMEOUT_S):
        self.say(line)
        return self.answer(seconds)

    def end(self):
        """The exit status after the end of the input."""
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait(TIMEOUT_S)

    def rss_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[1])


# --- Frames ---------------------------------------------------------------------------------------


def packet_socket():
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    sock.bind((DEVICE, 0))
    return sock


def flood(seconds, seed):
    """Sends for @seconds; returns how many frames the kernel accepted."""
    rng, sent, end = random.Random(seed), 0, time.monotonic() + seconds
    with packet_socket() as sock:
        while time.monotonic() < end:
            for _ in range(BATCH):
                try:
                    sock.send(hostile(rng))
                    sent += 1
                except OSError:  # the queue of the device is full
                    time.sleep(0.001)
    return sent


def kernel_pings(address):
    """Does an echo request of the kernel's own IP stack get its answer?"""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        sock.settimeout(0.2)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            sock.sendto(echo(b"still there?"), (address, 0))
            try:
                got = sock.recv(2048)
            except TimeoutError:
                continue
            if got[20] == 0 and got.endswith(b"still there?"):
                return True
    return False


def link_state(device):
    """What the kernel says of a device."""
    done = subprocess.run(["ip", "-json", "-stats", "link", "show", device], check=True,
                          capture_output=True)
    return json.loads(done.stdout)[0]


# --- Checks ---------------------------------------------------------------------------------------


def counters_of(text):
    """{path: number} of what COUNTERS prints."""
    return {path: int(n) for path, n in re.findall(r"^\s*(\S+)\s+(\d+)$", text, re.MULTILINE)}


def sum_of(counters, prefix):
    return sum(n for path, n in counters.items() if path.startswith(prefix))


def check_sums(counters, n_read):
    """Every frame that was read became something, and each drop has a name.

    @n_read: how many were read, before and after the counters were looked at.
    """
    text = "\n".join(f"{path} {n}" for path, n in counters.items())
    came = counters.get(f"{DEVICE}.in_frames", 0)
    expect(n_read[0] <= came <= n_read[1], f"the lab got what was read: {came} of {n_read}", text)
    switched = came - sum_of(counters, f"{DEVICE}.drops.")
    for port in ("h1.port", "h2.port"):
        switched += counters.get(f"{port}.sent_frames", 0)
        switched -= counters.get(f"{port}.looped_frames", 0) + sum_of(counters, f"{port}.tx_drops.")
    expect(counters.get("s1.rcvd_frames") == switched, "the switch got them all", text)
    for place in ("h1.port", "h1.ip", "h2.port", "h2.ip"):
        got, taken = (counters.get(f"{place}.{kind}_frames", 0) for kind in ("rcvd", "taken"))
        expect(got == taken + sum_of(counters, f"{place}.drops."),
               f"{place}: every frame was taken, or dropped under a name", text)


def frames_gone():
    """(read by the lab, missed because the device was full), of what came to it."""
    devices = pathlib.Path("/proc/self/net/dev").read_text(encoding="ascii")
    counted = re.search(rf"^ *{DEVICE}:(.*)", devices, re.MULTILINE)[1].split()
    return int(counted[9]), int(counted[11])


def frames_read():
    return frames_gone()[0]


def settle(session, n_came):
    """Lets the lab read what still waits in the device, to which @n_came frames came; all were read?"""
    end = time.monotonic() + TIMEOUT_S
    while sum(frames_gone()) < n_came and time.monotonic() < end:
        session.do(run_for(0.2))
    session.do(run_for(0.2))  # for the kernel's own frames, and for the answers
    return sum(frames_gone()) >= n_came


def check_flood(options):
    half = options.seconds / 2
    with Session(*LAB, tap(DEVICE)) as session:
        ip("addr", "add", f"{KERNEL}/24", "dev", DEVICE)
        ip("link", "set", DEVICE, "mtu", "9000")
        n_sent, rss, reads = 0, [], []
        for part in range(2):
            session.say(run_for(half + 1))
            n_sent += flood(half, options.seed + part)
            session.answer(options.seconds + TIMEOUT_S)
            rss.append(session.rss_kib())
            reads.append(frames_read())
        all_read = settle(session, n_sent)
        n_read, n_missed = frames_gone()
        expect(all_read and n_read > 0, f"of {n_sent} frames {n_read} were read, {n_missed} missed")
        expect(missed(session) == n_missed, f"the lab says that {n_missed} were missed")
        counters = counters_of(session.do(COUNTERS))
        check_sums(counters, (n_read, frames_read()))
        expect(rss[1] <= RSS_FULL_KIB, f"the memory of the process is bounded: {rss} KiB")
        if reads[0] >= FULL_AFTER:
            expect(rss[1] <= rss[0] * RSS_GROWTH, f"the process does not grow: {rss} KiB")
        session.say(run_for(6))
        expect(kernel_pings(HOST), "the kernel's ping is answered after the flood")
        session.answer()
        got = session.do(ping(KERNEL))
        expect(f"bytes from {KERNEL}" in got, "the lab's ping to the kernel is answered", got)
        got = session.do(ping("10.0.0.2"))
        expect("bytes from 10.0.0.2" in got, "the hosts of the lab talk to each other", got)
        expect(session.end() == 0, "frames are no error of the session")
        print(f"{n_sent} frames sent, {n_read} read, RSS {rss} KiB")


def check_late(_):
    """What a lab does that has slept, or has more to do than it can."""
    with Session(*LAB, tap(DEVICE)) as session:
        ip("addr", "add", f"{KERNEL}/24", "dev", DEVICE)
        time.sleep(0.3)
        got = session.do("ping h1 10.0.0.2 timeout=5ms")
        expect("bytes from 10.0.0.2" in got, "a command at an idle prompt happens now", got)
        rtt = re.search(r"time=([\d.]+)us", got)
        expect(rtt and float(rtt[1]) < 20, "between hosts of the lab it is simulated time that counts", got)
        session.process.send_signal(signal.SIGSTOP)
        time.sleep(1.2)
        session.say(ping(KERNEL))
        session.process.send_signal(signal.SIGCONT)
        got = session.answer()
        expect(f"bytes from {KERNEL}" in got, "and so after a sleep of the whole process", got)
        before = counters_of(session.do(COUNTERS))["h1.ip.sent_frames"]
        n_came = sum(frames_gone())
        for _i in range(BURSTS):
            with packet_socket() as s:
                for _j in range(BURST):
                    s.send(eth(0x0800, ipv4(1, echo(b"burst"))))
            n_came += BURST
            expect(settle(session, n_came), f"all of {n_came} frames are read")
        answered = counters_of(session.do(COUNTERS))["h1.ip.sent_frames"] - before
        expect(answered >= BURSTS * BURST, f"of {BURSTS * BURST} pings in bursts {answered} are answered")


def check_answer_that_waits(_):
    """An answer that came in time counts, though the lab has slept until its ACK timer was overdue.

    The timer runs for two seconds, so that the lab sleeps before it ends on a busy machine, too.  Nothing is sent
    twice.  The device is nearly full of other frames, and the answer is behind them.
    """
    with Session(*LAB, tap(DEVICE), QUEUE_PAIR) as session, packet_socket() as sock:
        ip("addr", "add", f"{KERNEL}/24", "dev", DEVICE)
        session.do(ping(KERNEL))
        for line in connected(KERNEL):
            session.do(line)
        qpn = int(re.search(r"\d+$", session.do("show h1.qp.qpn").strip())[0])
        session.do("post_send h1.qp wr_id=9 sge=mr[0:64] signaled")
        session.say(run_for(6))
        psn = None
        while psn is None and select.select([sock], [], [], TIMEOUT_S)[0]:
            psn = psn_of(sock.recv(2048))
        session.process.send_signal(signal.SIGSTOP)
        expect(psn == FIRST_PSN, f"the SEND came: PSN {psn}")
        for _i in range(N_BEFORE):
            sock.send(eth(0x0800, ipv4(1, echo(b"before it"))))
        sock.send(acknowledgement(qpn, FIRST_PSN))
        time.sleep(2.5)
        session.process.send_signal(signal.SIGCONT)
        session.answer()
        got = session.do("poll_cq h1.cq")
        expect("SUCCESS" in got, "what waited was read before a timer ended the request", got)


def pour():
    """A process that sends frames to all hosts without a pause."""
    child = os.fork()
    if child != 0:
        return child
    frame = arp(1, "10.0.0.99")
    with packet_socket() as sock:
        while True:
            try:
                sock.send(frame)
            except OSError:  # the queue of the device is full
                time.sleep(0.001)


def check_talk_in_a_flood(_):
    """A program goes on with what the other side says while frames come without a pause.

    Each frame is for all hosts, so that they come faster than the lab can take them.
    """
    more = [line for i in range(3, MANY + 1) for line in (f"host h{i}", f"link h{i} s1")]
    lines = pathlib.Path(os.path.dirname(RDMALAB), "talk.lines")
    lines.write_text("".join(f"sync {word}\n" for word in WORDS), encoding="ascii")
    ip("link", "set", "lo", "up")
    with socket.create_server(("127.0.0.1", 0)) as server, Session(*LAB, *more, tap(DEVICE)) as session:
        server.settimeout(TIMEOUT_S)
        session.do(run_for(0.1))
        session.say(f"program h1 verbs_peer client 127.0.0.1 lines={lines} -p {server.getsockname()[1]}; "
                    f"run {TIMEOUT_S}s")
        with server.accept()[0] as other:
            other.settimeout(TIMEOUT_S / 10)
            children = [pour(), pour()]
            end = time.monotonic() + TIMEOUT_S
            while sum(frames_gone()) < BURSTS * BURST and time.monotonic() < end:  # they come
                time.sleep(0.01)
            other.send(b"verbs_peer 1 side=a gid=::ffff:10.0.0.77 psn=0x000001\n")
            said = b""
            try:
                for word in WORDS:
                    while f"sync {word}\n".encode() not in said:
                        said += other.recv(4096)
                    other.send(f"sync {word}\n".encode())
            except TimeoutError:
                pass
            heard = said.count(b"sync")
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        expect(heard == len(WORDS), f"what it is told is heard though frames come: {heard} of {len(WORDS)}")
        got = session.answer()
        expect(heard < len(WORDS) or "error" not in got, "the program comes to its end", got)


def work_ns(process):
    """Processor time of a process."""
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()[0])


def check_busy_processor(_):
    """Where others want the processor too, the lab reads on while frames wait.

    It shares a processor with a program that never waits.  Were it to give way after every few frames,
    then that program would get almost all of it.
    """
    if not os.path.exists("/proc/self/schedstat"):
        raise Skip("no /proc/PID/schedstat")
    processor = {min(os.sched_getaffinity(0))}
    with Session(*LAB, tap(DEVICE)) as session, \
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        for process in (session.process, other):
            os.sched_setaffinity(process.pid, processor)
        ip("addr", "add", f"{KERNEL}/24", "dev", DEVICE)
        session.do(run_for(0.2))
        session.say(run_for(TIMEOUT_S))
        lab_ns = other_ns = 0
        for _i in range(BURSTS):
            session.process.send_signal(signal.SIGSTOP)
            n_came = sum(frames_gone()) + BURST
            with packet_socket() as s:
                for _j in range(BURST):
                    s.send(eth(0x0800, ipv4(1, echo(b"burst"))))
            lab_ns -= work_ns(session.process)
            other_ns -= work_ns(other)
            session.process.send_signal(signal.SIGCONT)
            end = time.monotonic() + TIMEOUT_S
            while sum(frames_gone()) < n_came and time.monotonic() < end:
                pass
            lab_ns += work_ns(session.process)
            other_ns += work_ns(other)
        all_read = sum(frames_gone()) >= n_came
        other.kill()
        expect(all_read and other_ns < SHARE_MOST * lab_ns,
               f"it shares the processor: {lab_ns / 1e6:.0f} ms, and the other program {other_ns / 1e6:.0f}")


def missed(session):
    return int(re.search(r"by the kernel (\d+)", session.do("show live"))[1])


def check_missed(_):
    ip("link", "set", "rdl9", "up", "arp", "off")
    ip("addr", "add", "10.9.9.1/24", "dev", "rdl9")
    with Session(*LAB, tap("rdl9")) as session:
        session.process.send_signal(signal.SIGSTOP)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for _i in range(5000):
                s.sendto(b"x", ("10.9.9.2", 9))
        session.process.send_signal(signal.SIGCONT)
        expect(missed(session) > 0, "what nobody read is told")
        session.end()
    with Session(*LAB, tap("rdl9")) as session:
        expect(missed(session) == 0, "what another session missed does not count")
    with Session(*LAB, tap(DEVICE)) as session:
        session.do(run_for(0.2))
        session.process.send_signal(signal.SIGSTOP)
        flood(0.5, 1)
        session.process.send_signal(signal.SIGCONT)
        expect(missed(session) > 0, "what the kernel dropped, while nobody read, is told")


def check_terminal(_):
    """At a terminal, where readline waits for keys, the lab goes on, and ^C is for the line."""
    try:
        master, slave = pty.openpty()
    except OSError as error:
        raise Skip(f"no terminal: {error}") from error
    with subprocess.Popen([RDMALAB], stdin=slave, stdout=slave, stderr=slave,
                          preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
                          env=os.environ | {"HOME": "/nonexistent", "TERM": "dumb"}) as process:
        def until(what):
            out, end = b"", time.monotonic() + TIMEOUT_S
            while not re.search(what, out) and time.monotonic() < end:
                if select.select([master], [], [], 0.1)[0]:
                    out += os.read(master, 1 << 16)
            return out.decode(errors="replace")

        def do(keys, what):
            os.write(master, keys)
            got = until(what)
            expect(re.search(what, got.encode()), f"{keys}: {what}", got)
            return got

        until(rb"#0> ")
        for line in (*LAB, tap("rdl8")):
            do(line.encode() + b"\n", rb"\n.*#\d+> $")
        do(b"show li", b"show li")
        do(b"\x03", rb"#\d+> $")
        got = do(b"show h2.mac\n", rb"02:00:00:00:00:02")
        expect("show links" not in got, "^C throws the line away", got)
        do(b"program h1 rc_pingpong client -p 9\n", rb"Couldn't connect to localhost:9(.|\n)*#\d+> $")
        do(b"show h2.m", b"show h2.m")
        ip("link", "del", "rdl8")
        do(b"", rb"rdl8: the device was removed.*\r?\n(.|\n)*#\d+> $")
        do(b"ac\n", rb"02:00:00:00:00:02")
        os.write(master, b"quit\n")
        expect(process.wait(TIMEOUT_S) == 0, "who leaves a prompt has seen what failed")
    os.close(slave)
    os.close(master)


def check_removed_device(_):
    with Session(*LAB, tap(DEVICE)) as session:
        session.say(run_for(1))
        time.sleep(0.3)
        ip("link", "del", DEVICE)
        got = session.answer()
        expect(f"{DEVICE}: the device was removed" in got, "a device that goes away is told", got)
        expect(got.count("removed") == 1, "and only once", got)
        got = session.do(ping("10.0.0.2"))
        expect("bytes from 10.0.0.2" in got, "the lab goes on without it", got)
        got = session.do(ping(KERNEL))
        expect("error" in got, "nobody is behind it any more", got)
        got = session.do(tap("rdl1"))
        expect("rdl1: tap device" in got, "another device can be attached", got)
        got = session.do(tap(DEVICE))
        expect(f"{DEVICE}: tap device" in got, "and the same, when it is back", got)
        expect(session.end() == 1, "the ping that failed is the session's only error")
    status, got = script(*LAB, tap(DEVICE), run_for(0.1))
    expect(status == 0, "a script that loses nothing succeeds", got)


def check_closed_node(_):
    """Where nobody opened it to all, /dev/net/tun is root's."""
    if not own_node:
        raise Skip(f"no {TUN} of its own can be made")
    os.chmod(TUN, 0o600)
    status, got = script(*LAB, tap("rdl2"), user=as_nobody)
    expect(status == 1 and f"{TUN}: Permission denied" in got, "a node that is not open to all", got)
    doctor = subprocess.run([RDMALAB, "doctor"], preexec_fn=as_nobody, stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    expect(f"tap devices: {TUN} may not be opened" in doctor, "the doctor sees it", doctor)
    for says in (got, doctor):
        command = re.search(rf'as root: "(chmod 666 {TUN})"', says)
        expect(command, "what to do is told", says)
        os.chmod(TUN, 0o600)
        if command:
            subprocess.run(command[1], shell=True, check=True)
        status, got = script(*LAB, tap("rdl2"), user=as_nobody)
        expect(status == 1 and "not permitted" in got, "the command that is told opens it", got)
    os.chmod(TUN, 0o666)


def check_permission(_):
    if os.stat(TUN).st_mode & 0o006 != 0o006:
        raise Skip(f"{TUN} is not open to all, and none of its own can be made")
    status, got = script(*LAB, tap("rdl2"), user=as_nobody)
    expect(status == 1 and "not permitted" in got, "making a device needs a right", got)
    command = re.search(r'"(ip tuntap add rdl2 mode tap user \S+ && ip link set rdl2 up)"', got)
    expect(command and "setcap cap_net_admin+ep" in got, "how to get it is told", got)
    if command:
        subprocess.run(command[1], shell=True, check=True, capture_output=True)
        status, got = script(*LAB, tap("rdl2"), run_for(0.1), "show rdl2", user=as_nobody)
        expect(status == 0, "the command that is told makes it work", got)
        expect("UP" in link_state("rdl2")["flags"], "and the device is up")
        expect("is down" not in got, "which nobody complains about", got)
    got = [subprocess.run([RDMALAB, "doctor"], preexec_fn=user, stdout=subprocess.PIPE, text=True,
                          check=True).stdout for user in (None, as_nobody)]
    expect("tap devices: yes" in got[0] and "ip tuntap add" in got[1], "the doctor knows", got)
    ip("tuntap", "add", "rdl7", "mode", "tap", "user", str(NOBODY))
    status, got = script(*LAB, tap("rdl7"), run_for(0.1), user=as_nobody)
    expect(status == 0 and '"ip link set rdl7 up"' in got, "a device that stays down is told", got)
    ip("tuntap", "add", "rdl3", "mode", "tap", "user", "root")
    status, got = script(*LAB, tap("rdl3"), user=as_nobody)
    expect(status == 1 and "belongs to another user" in got, "another user's device", got)


def check_names(_):
    ip("link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
    ip("tuntap", "add", "tun0", "mode", "tun")
    ip("tuntap", "add", "rdl9", "mode", "tap")
    rows = [  # name, what the message must say
        ("veth0", "is no tap device"),
        ("lo", "is no tap device"),
        ("tun0", "is no tap device"),
        ("a23456789012345x", "at most 15 characters"),
        ("h1", "the name of a host already"),
        ("s1", "the name of a switch already"),
        ("a/b", "not a name"),
    ]
    with Session(*LAB) as session:
        for name, says in rows:
            got = session.do(tap(name))
            expect("error: " in got and says in got, f"{tap(name)}: {says}", got)
        got = session.do(tap("rdl4")) + session.do(ping("10.0.0.2"))
        expect("rdl4: tap device" in got and "bytes from" in got, "the prompt goes on", got)
        expect("MTU of 1500 carries path MTUs up to 1024" in got, "what does not fit is told", got)
        ip("link", "set", "rdl9", "mtu", "4300")
        got = session.do(tap("rdl9"))
        expect("MTU" not in got, "and nothing, if all fits", got)
        got = session.do(tap("rdl4"))
        expect("error: " in got and "there already" in got, "the same port twice", got)
        status, got = script(*LAB, tap("rdl4"))
        expect(status == 1 and "in use" in got, "a device that another program has open", got)
    got = script(*LAB, tap("rdl4"))
    expect(got[0] == 0, "it is free when that program has ended", got[1])


def check_node(_):
    with Session(*LAB) as session:
        got = session.do(tap("rdl5", "h1"))
        expect("error: " in got and "linked already" in got, "a host that is linked already", got)
        got = session.do(tap("rdl6", "s2"))
        expect("error: " in got, "a node that does not exist", got)
        got = session.do(ping("10.0.0.2"))
        expect("bytes from" in got, "the lab is as it was", got)
        got = session.do(tap("rdl5")) + session.do(tap("rdl6"))
        expect(got.count(": tap device") == 2, "what was refused has left nothing behind", got)


CHECKS = (check_names, check_node, check_closed_node, check_permission, check_late,
          check_answer_that_waits, check_talk_in_a_flood,
          check_busy_processor, check_missed,
          check_terminal, check_removed_device, check_flood)


def run_checks(options, directory):
    """With a copy of the program in @directory: the clone may be where nobody else may look."""
    global RDMALAB
    os.chmod(directory, 0o755)
    RDMALAB = shutil.copy(options.rdmalab, directory)
    os.chmod(RDMALAB, 0o755)
    for check in CHECKS:
        try:
            check(options)
        except Skip as why:
            print(f"skipped: {check.__name__}: {why}")
        except (RuntimeError, subprocess.SubprocessError, OSError) as error:
            expect(False, check.__name__, repr(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2, help="of frames (default 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("rdmalab")
    options = parser.parse_args()
    global own_node
    why, own_node = make_namespace()
    if why:
        print(f"skipped: {why}")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        run_checks(options, directory)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
