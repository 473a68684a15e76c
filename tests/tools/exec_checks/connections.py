# SPDX-License-Identifier: MIT
"""Programs that connect by rdma_cm: Debian's librdmacm, and the lab as its kernel."""
import pathlib
import re
import shutil

from on_hosts import ports, text_of
from program import ROOT

# Server, client, and what the two must print: each as often as it is here.  @PORT is a port, the same on both sides.
# Not here: perftest's -R.  Its client asks for a second connection perhaps before its server listens for it, and then crashes.
PAIRS = [
    ("rping -s -C 10 -v -V", "rping -c -a h1 -C 10 -v -V", ["server ping data: rdma-ping-9", "server DISCONNECT EVENT"]),
    ("rping -s -C 100 -S 65535", "rping -c -a 10.0.0.1 -C 100 -S 65535", ["server DISCONNECT EVENT"]),
    ("rping -s -q -C 5", "rping -c -a ::ffff:10.0.0.1 -q -C 5", ["server DISCONNECT EVENT"]),
    ("ucmatose", "ucmatose -s h1", ["return status 0"] * 2),
    ("ucmatose -c 10 -C 3 -S 4000", "ucmatose -c 10 -C 3 -S 4000 -s h1", ["return status 0"] * 2),
    ("ucmatose -m", "ucmatose -m -s h1", ["return status 0"] * 2),
    ("ucmatose -b 10.0.0.1 -t 4 -p @PORT", "ucmatose -s h1 -t 4 -p @PORT", ["return status 0"] * 2),
    ("udaddy -c 4", "udaddy -c 4 -s h1", ["return status 0"] * 2),
    ("mckey -m 239.0.0.1 -b 10.0.0.1", "mckey -m 239.0.0.1 -b 10.0.0.2 -s", ["return status 0"] * 2),
    ("rdma_server", "rdma_client -s h1", ["rdma_server: end 0", "rdma_client: end 0"]),
    ("rdma_xserver", "rdma_xclient -s h1", ["rdma_xserver: end 0", "rdma_xclient: end 0"]),
    ("rstream -b 10.0.0.1 -S 4096 -I 10 -C 10 -T b", "rstream -s h1 -S 4096 -I 10 -C 10 -T b", ["custom"] * 2),
    ("riostream -S 4096 -I 10 -C 10 -T b", "riostream -s h1 -S 4096 -I 10 -C 10 -T b", ["custom"] * 2),
    ("ibv_rc_pingpong -g 0 -n 50 -p @PORT", "ibv_rc_pingpong -g 0 -n 50 -p @PORT h1", ["50 iters"] * 2),  # no rdma_cm, but a name
    ("fi_pingpong -B @PORT -p verbs -e msg -I 50", "fi_pingpong -P @PORT -p verbs -e msg -I 50 h1", ["1k      50"] * 2),
    ("fi_pingpong -B @PORT -p verbs -e dgram -I 50", "fi_pingpong -P @PORT -p verbs -e dgram -I 50 h1", ["1k      50"] * 2),
]


# In virtual time a program does all that it can before the next one goes on, so that perftest's server listens in time.
VIRTUAL_PAIRS = [
    ("ib_send_bw -R -n 200", "ib_send_bw -R -n 200 h1", ["65536      200"] * 2),
    ("ib_read_bw -R -n 50", "ib_read_bw -R -n 50 h1", ["65536      50"] * 2),
    ("ib_send_lat -R -n 100 -T 32", "ib_send_lat -R -n 100 -T 32 h1", ["2       100"] * 2),
]


def exec_both(rdmalab, server, client, *options, **more):
    port = str(next(ports))
    words = [[port if word == "@PORT" else word for word in command.split()] for command in (server, client)]
    return rdmalab.run("exec", *options, "h1", "--", *words[0], ":", "h2", "--", *words[1], **more)


def check_connected_pairs(rdmalab, tally):
    pairs = [(pair, []) for pair in PAIRS] + [(pair, ["--virtual"]) for pair in VIRTUAL_PAIRS]
    for (server, client, says), options in pairs:
        done = exec_both(rdmalab, server, client, *options)
        printed = done.stdout + done.stderr
        tally.expect(done.returncode == 0 and all(printed.count(text) == says.count(text) for text in says), client, text_of(done))


def check_connected_virtual(rdmalab, tally):
    """In virtual time these programs give the same run each time: they have one thread."""
    for server, client in (("ucmatose", "ucmatose -s h1"), ("udaddy", "udaddy -s h1"),
                           ("rdma_server", "rdma_client -s h1")):
        first, second = (exec_both(rdmalab, server, client, "--virtual", "--hash") for _ in range(2))
        hashes = [re.findall(r"^hash (\w+)$", done.stdout, re.MULTILINE) for done in (first, second)]
        tally.expect(first.returncode == second.returncode == 0 and hashes[0] and hashes[0] == hashes[1], f"--virtual: {client}",
                     text_of(first) + text_of(second))


def check_connected_example(rdmalab, tally):
    program = rdmalab.built("examples/connection")
    for options in ([], ["--virtual"]):
        done = exec_both(rdmalab, f"{program} - @PORT", f"{program} h1 @PORT", *options)
        tally.expect(done.returncode == 0 and 'somebody at 10.0.0.2 says "good morning"' in done.stdout and
                     "client: received 22 bytes: hello from the server\n" in done.stdout, f"examples/connection.c {options}", text_of(done))


def check_connected_own_program(rdmalab, tally):
    """Descriptors, threads, signals, fork, options, the order of events: what a kernel does for librdmacm."""
    for how in ([], ["--virtual"]):
        done = rdmalab.run("exec", *how, "h1", "--", str(rdmalab.built("tests/program/connections")), timeout=120)
        counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 150 and int(counts[2]) == 0,
                     " ".join(["tests/program/connections", *how]), text_of(done))


def check_connected_commands(rdmalab, tally):
    """The commands of the device without librdmacm: what a kernel refuses, and with which errno."""
    for how in ([], ["--virtual"]):
        done = rdmalab.run("exec", *how, "h1", "--", str(ROOT / "tests/program/commands.py"), timeout=120)
        counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 150 and int(counts[2]) == 0,
                     " ".join(["tests/program/commands.py", *how]), text_of(done))


def check_connected_addresses(rdmalab, tally):
    """Names and addresses of hosts in calls of sockets."""
    rdmalab.file("two.lab").write_text("host h1 h2\nlink h1 h2\n")
    done = rdmalab.run("exec", "--lab", "two.lab", "h1", "--", str(ROOT / "tests/program/addresses.py"))
    counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    tally.expect(done.returncode == 0 and counts and int(counts[1]) > 40 and int(counts[2]) == 0, "tests/program/addresses.py", text_of(done))


def check_connected_virtual_rnic(rdmalab, tally):
    """rping between a guest with a virtual RNIC and a host outside: the client on h1 knows the address on the wire."""
    rdmalab.file("outside.lab").write_text("machine m1 vfs=2\nhost h1\nlink m1 h1\nguest g1 on m1 vrnic\n")
    for server, client, address in (("g1", "h1", "10.200.1.1"), ("h1", "g1", "h1")):
        done = rdmalab.run("exec", "--lab", "outside.lab", server, "--", "rping", "-s", "-C", "10", "-v", "-V", ":",
                           client, "--", "rping", "-c", "-a", address, "-C", "10", "-v", "-V")
        tally.expect(done.returncode == 0 and done.stdout.count("server ping data: rdma-ping-9") == 1, f"rping, server on {server}", text_of(done))


# Programs, and what they and the lab say of a peer in a group that they may not reach.
FORBIDDEN = (
    ("ibv_rc_pingpong", ["Failed to modify QP to RTR", "the lab had refused ibv_modify_qp(): Operation not permitted; a rule of the control centre forbids it"]),
    ("ibv_ud_pingpong", ["Failed to create AH", "the lab had refused ibv_create_ah(): Operation not permitted; a rule of the control centre forbids it"]),
)


def check_connected_groups(rdmalab, tally):
    """The control centre forbids a connection: EPERM for verbs, UNREACHABLE for rdma_cm."""
    rdmalab.file("groups.lab").write_text("machine m1 m2 vfs=2\nlink m1 m2\nguest g1 on m1 vrnic group=1\nguest g2 on m2 vrnic group=2\n")
    for program, says in FORBIDDEN:
        port = str(next(ports))
        done = rdmalab.run("exec", "--virtual", "--lab", "groups.lab", "g1", "--", program, "-g", "0", "-p", port, ":",
                           "g2", "--", program, "-g", "0", "-p", port, "localhost")
        tally.expect(done.returncode == 1 and all(text in done.stdout + done.stderr for text in says), f"{program} between groups", text_of(done))
    done = rdmalab.run("exec", "--virtual", "--lab", "groups.lab", "g1", "--", "ucmatose", "-s", "g2")
    tally.expect(done.returncode != 0 and "RDMA_CM_EVENT_UNREACHABLE, error: -110" in done.stdout + done.stderr, "ucmatose between groups", text_of(done))


# Clients on h2, the event that they print, and the words of the lab behind it.
CONNECTIONS_THAT_FAIL = (
    ("ucmatose -s 10.0.0.1", "RDMA_CM_EVENT_REJECTED, error: 8", "REJECTED: nobody listened at port 7471 of h1 (10.0.0.1)"),
    ("ucmatose -s 10.0.0.77", "RDMA_CM_EVENT_ADDR_ERROR, error: -110", "ADDR_ERROR: no station has answered for 10.0.0.77, which no host of the lab has"),
    ("udaddy -s 10.0.0.1", "RDMA_CM_EVENT_UNREACHABLE, error: 1", "UNREACHABLE: nobody listened for datagrams at port 7174 of h1 (10.0.0.1)"),
)


def check_connected_failures(rdmalab, tally):
    """What a client of rdma_cm sees if there is no server, and if there is no such host."""
    for program, says, hint in CONNECTIONS_THAT_FAIL:
        done = rdmalab.run("exec", "--virtual", "h2", "--", *program.split())
        tally.expect(done.returncode != 0 and says in done.stdout + done.stderr and
                     done.stderr.endswith(f"\n  its last event of rdma_cm was {hint}\n"), program, text_of(done))
    rdmalab.file("silent.lab").write_text("host h1 h2\nlink h1 h2\ndrop every REQ from h2\n")
    done = rdmalab.run("exec", "--virtual", "--lab", "silent.lab", "h2", "--", "ucmatose", "-s", "10.0.0.1")
    tally.expect(done.stderr.endswith("  its last event of rdma_cm was UNREACHABLE: no answer has come from port 7471 of h1 (10.0.0.1)\n"),
                 "a peer that is not reached", text_of(done))
    rdmalab.file("forged.lab").write_text("host h1 h2\nlink h1 h2\nforge every REJ from h1: set reason to INVALID_MTU\n")
    done = rdmalab.run("exec", "--virtual", "--lab", "forged.lab", "h2", "--", "ucmatose", "-s", "10.0.0.1")
    tally.expect(done.stderr.endswith("  its last event of rdma_cm was REJECTED: reason 26, the path MTU cannot be used\n"),
                 "another reason", text_of(done))
    rdmalab.file("bound.lab").write_text("host h1 h2\nlink h1 h2\n")
    done = rdmalab.run("exec", "--lab", "bound.lab", "h1", "--", "ucmatose", "-b", "10.0.0.9")
    tally.expect("rdmalab: h1 ucmatose ended with status" in done.stderr and
                 "  the lab had refused rdma_bind_addr(): Cannot assign requested address\n" in done.stderr, "why a call was refused", text_of(done))


# The mistakes that tests/program/cm_mistakes.c can make, and the words of the lab on each.
SAID_OF_MISTAKES = {
    "route": "rdma_connect(): Invalid argument; the ID is in state ADDR_RESOLVED (the peer's address is known), and must be in ROUTE_RESOLVED",
    "data": "rdma_connect(): Invalid argument; private_data_len is 100, and must be at most 56",
    "again": "rdma_connect(): Invalid argument; the ID is in state CONNECT (connecting, or connected), and must be in ROUTE_RESOLVED",
    "notify": "rdma_notify(): Invalid argument; the ID is in state ADDR_RESOLVED (the peer's address is known), and must be in CONNECT or DISCONNECT",
}


# Pointers of an ID that are NULL too early, or for ever.
SAID_OF_NULL = {
    "early": "an ID of it had no device, so that its verbs, pd and qp were NULL: rdma_get_cm_event() must return ADDR_RESOLVED first",
    "any": "an ID of it listened at any address, so that its verbs, pd and qp were NULL: the ID that comes with CONNECT_REQUEST has them",
}


def check_connected_mistakes(rdmalab, tally):
    """A program learns EINVAL, or hangs; rdmalab tells what was wrong."""
    program = str(rdmalab.built("tests/program/cm_mistakes"))
    for mistake, says in SAID_OF_MISTAKES.items():
        done = rdmalab.run("exec", "--virtual", "h1", "--", program, mistake)
        tally.expect(done.returncode == 3 and done.stderr == "rdmalab: h1 cm_mistakes ended with status 3\n"
                     f"  the lab had refused {says}\n", f"the mistake {mistake}", text_of(done))
    for mistake, says in SAID_OF_NULL.items():
        for options in ([], ["--virtual"]):
            done = rdmalab.run("exec", *options, "h1", "--", program, mistake)
            tally.expect(done.returncode == 139 and done.stderr == f"rdmalab: h1 cm_mistakes was ended by signal 11 (SIGSEGV)\n  {says}\n",
                         f"the mistake {mistake} {options}", text_of(done))
    done = rdmalab.run("exec", "--virtual", "--timeout", "1", "h1", "--", program, "unacknowledged")
    tally.expect(done.returncode == 124 and "its last call is rdma_destroy_id(), which waits until rdma_ack_cm_event() has "
                 "acknowledged each event of the ID: 1\n" in done.stderr, "an event that was not acknowledged", text_of(done))
    for options in ([], ["--virtual"]):
        done = rdmalab.run("exec", *options, "--timeout", "1", "h1", "--", program, "nobody")
        tally.expect(done.returncode == 124 and "rdma_destroy_id()" not in done.stderr, f"an event that never comes {options}", text_of(done))


LOSSY = """host h1 h2 on_demand ram=256m max_qp=64 max_cq=64
link h1 h2
drop the 1st REQ from h2
drop the 1st REP from h1
"""

KILLED = """host h1 h2 on_demand ram=256m max_qp=64 max_cq=64
link h1 h2
exec h1 status=137 rping -s -P -S 5000 &
exec h2 status=137 rping -c -a h1 -S 5000 &
until count(cqe, op==RDMA_WRITE) >= 20 timeout=30s
expect h1.id2.state == CONNECT
expect h1.id2.qp == qp2
kill 2 signal=9
until count(cm_event, event==DISCONNECTED) >= 1 timeout=30s
show cm
kill 1 signal=9
until count(gone, name==id1, host==h1) >= 1 timeout=30s
run for=100ms
show cm
"""


def check_connected_lossy(rdmalab, tally):
    """Messages of the connection manager are lost, and sent again after seconds of virtual time."""
    rdmalab.file("lossy.lab").write_text(LOSSY)
    done = exec_both(rdmalab, "ucmatose", "ucmatose -s h1", "--virtual", "--lab", "lossy.lab", "--events", "e.ndjson")
    tally.expect(done.returncode == 0 and done.stdout.count("return status 0") == 2, "REQ and REP are lost", text_of(done))
    why = rdmalab.run("show", "e.ndjson", "events", "kinds=cm_sent")
    sent = re.findall(r"\b(REQ|REP|RTU)\b", why.stdout)
    tally.expect(sent.count("REQ") >= 2 and sent.count("RTU") == 1, "the messages that were sent again are there", text_of(why))


def check_connected_killed(rdmalab, tally):
    """A program that is killed leaves no ID, and its peer is told."""
    rdmalab.file("killed.lab").write_text(KILLED)
    done = rdmalab.run("run", "killed.lab", "--allow", "programs")
    tally.expect(done.returncode == 0 and re.search(r"^\s*h1\.id2\b.*\bDISCONNECT\b", done.stdout, re.MULTILINE) and
                 re.search(r"^none$", done.stdout, re.MULTILINE), "programs are killed", text_of(done))


def is_twice(found, begins):
    """Both sides say the same, and it begins so."""
    return len(found) == 2 and found[0] == found[1] and found[0].startswith(begins)


def check_connected_sockets(rdmalab, tally):
    """An ordinary program of TCP runs over the lab with Debian's librspreload."""
    preload = next(pathlib.Path("/usr/lib").glob("*/rsocket/librspreload.so"), None)
    source = ROOT / "tests/program/sockets.c"
    tally.expect(preload is not None and shutil.which("rping"), "librspreload is there")
    program, port = str(rdmalab.built("tests/program/sockets")), str(next(ports))
    for order in (f"LD_PRELOAD={preload}:$LD_PRELOAD", f"LD_PRELOAD=$LD_PRELOAD:{preload}"):
        done = rdmalab.run("exec", "--events", "s.ndjson", "h1", "--", "sh", "-c", f"{order} exec {program} {port}", ":",
                           "h2", "--", "sh", "-c", f"{order} exec {program} {port} h1")
        shown = rdmalab.run("show", "s.ndjson", "events", "kinds=cm_event")
        tally.expect(done.returncode == 0 and is_twice(re.findall(r"\d+ bytes, sum \d+", done.stdout), "1048576 bytes, ") and
                     shown.stdout.count("CONNECT_RESPONSE") == shown.stdout.count("ESTABLISHED") == 1, f"{source.name}, {order}", text_of(done) + shown.stdout)
