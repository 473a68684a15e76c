# SPDX-License-Identifier: MIT
"""Programs that connect by rdma_cm: one side is on rxe, the other one on a host of the lab, by `exec`.

The rows name the programs, and what they must do.  Each row also runs between two programs on one rxe device: the two of a case
must print the same.  The lab's trace must have exactly the events and the completions of the row, so that a case that moves
nothing fails.  After each case neither side may have anything left.
"""
import json
import re
from collections import Counter
from dataclasses import dataclass, field

PROGRAM = "rdmacm"  # the program of such a case; its options are the name of a row
IPS = ["ipv4", "ipv6"]
CLIENTS = ["rxe", "lab"]
TRACE = "lab.ndjson"
HOST = "h1"
KERNELS_QPN = 1
GROUP = "239.0.0.1"
IN_A_ROW, MANY = 20, 1000  # connections
KILL_CLIENT_S, KILL_SERVER_S = 2, 3  # the other side has connected by then; a server starts earlier than its client

# Events that come, or do not, as the two sides are fast or slow; of the others the number is known.
BY_CHANCE = {"TIMEWAIT_EXIT", "DISCONNECTED"}
# Lines that are printed by chance: rping closes its channel while its thread waits for an event, or a process is ended before it has
# printed.
CHANCE_LINE = re.compile(r"(server|client) DISCONNECT EVENT|wait for [A-Z_]+ state \d+$|rdma_get_cm_event: Bad file|Killed|Terminated"
                         r"|cq completion failed status \d+|poll error|connect error -1$|ping data: |unhandled event: RDMA_CM_EVENT_TIMEWAIT_EXIT|^$")
NOTE = re.compile(r"h1 (sh|touch): statically linked")  # of rdmalab, about busybox
MEASURED = re.compile(r"^((?:create|resolve|connect|disconnect|destroy)[a-z ]*:).*")
LNETD = re.compile(r"( is up on| RPCs of \d+ bytes in) .*")  # the device, and what was measured
ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+\b|\b[0-9a-f:]*::[0-9a-f:.]+")


def passive(n):
    """Events of the kernel for the side that accepts @n connections."""
    return {"CONNECT_REQUEST": n, "ESTABLISHED": n}


def active(n, **more):
    """Events of the kernel for the side that asks for @n connections."""
    return {"ADDR_RESOLVED": n, "ROUTE_RESOLVED": n, **({"CONNECT_RESPONSE": n} if not more else more)}


@dataclass
class Row:
    """Commands are of guest.sh and of the programs: {any} listens everywhere, {server} is the server's address, {nobody} one that no
    host has.
    """
    name: str
    server: str
    client: str
    events: dict  # of "server" and "client": {event: how many}
    completions: dict = field(default_factory=dict)  # of both: {opcode: how many succeed}; None: at least one
    says: dict = field(default_factory=dict)  # of both: a part of what is printed
    datagrams: dict = field(default_factory=dict)  # of a side with unsignaled sends: how many it sends
    ips: tuple = ()  # the versions of IP, with each side as client; none: one of them
    faults: tuple = ()  # of the lab; {server} and {client} are the senders
    ready: str = "listening"  # or "grouped": joined to the multicast group


def rping(n):
    return {"server": {"RECV": 2 * n, "RDMA_READ": n, "RDMA_WRITE": n, "SEND": 2 * n}, "client": {"SEND": 2 * n, "RECV": 2 * n}}


def messages(n):
    return {role: {"SEND": n, "RECV": n} for role in ("server", "client")}


# The server of udaddy signals its sends, and its client does not.
UDADDY = {"server": {"SEND": 20, "RECV": 20}, "client": {"RECV": 20}}


def connected(n):
    return {"server": passive(n), "client": active(n)}


def both(text):
    return {"server": text, "client": text}


NOTHING = {"server": {}, "client": {}}
SOMETHING = {"server": None, "client": None}
WAITING = "until_served rping -s -a {any}"  # a server that nobody reaches
LOST = tuple(f"drop the 1st {message} from {{{sender}}}" for message, sender in (
    ("REQ", "client"), ("REP", "server"), ("RTU", "client"), ("DREQ", "server"), ("DREP", "client")))
# A SIDR_REQ that comes again after its SIDR_REP is a new request to Linux, for which the server of udaddy has no ear: no SIDR_REP is lost.
UD_LOST = ("drop the 1st SIDR_REQ from {client}",)

ROWS = [
    Row("rping", "rping -s -v -V -C 10 -a {any}", "calm rping -c -v -V -C 10 -a {server} -I {here}", connected(1), rping(10),
        {"server": "server ping data: rdma-ping-9: ", "client": "ping data: rdma-ping-9: "}, ips=tuple(IPS)),
    Row("persistent", "until_served rping -s -P -S 20000 -a {any}", "in_turn 2 0 calm rping -c -V -C 3 -S 20000 -a {server} -I {here}",
        connected(2), rping(6)),
    Row("ucmatose", "ucmatose -c 5 -b {any}", "ucmatose -c 5 -s {server} -b {here}", connected(5), messages(50), both("return status 0"),
        ips=tuple(IPS)),
    Row("lost_messages", "ucmatose -c 5 -b {any}", "ucmatose -c 5 -s {server} -b {here}", connected(5), messages(50), both("return status 0"),
        faults=LOST),
    Row("udaddy", "udaddy -c 2 -b {any}", "udaddy -c 2 -s {server} -b {here}",
        {"server": {"CONNECT_REQUEST": 2}, "client": active(2, ESTABLISHED=2)}, UDADDY, both("return status 0"), datagrams={"client": 20}),
    Row("ud_lost_messages", "udaddy -c 2 -b {any}", "udaddy -c 2 -s {server} -b {here}",
        {"server": {"CONNECT_REQUEST": 2}, "client": active(2, ESTABLISHED=2)}, UDADDY, both("return status 0"), datagrams={"client": 20},
        faults=UD_LOST),
    Row("mckey", f"mckey -m {GROUP} -b {{here}}", f"mckey -m {GROUP} -b {{here}} -s",
        {role: {"ADDR_RESOLVED": 1, "MULTICAST_JOIN": 1} for role in ("server", "client")},
        {"server": {"RECV": 10}, "client": {}}, both("return status 0"), datagrams={"client": 10}, ips=("ipv4",), ready="grouped"),
    Row("rdma_client", "rdma_server -s {any}", "rdma_client -s {server}", connected(1), messages(1),
        {"server": "rdma_server: end 0", "client": "rdma_client: end 0"}),
    Row("connection", "connection -", "connection {server}", connected(1), messages(1),
        {"server": 'says "good morning"', "client": "hello from the server"}, ips=("ipv4",)),
    Row("lnetd_write", "lnetd --nid {server}@o2ib serve --connections 1",
        "lnetd --nid {here}@o2ib write {server}@o2ib --size 1m --count 10 --concurrency 4 --frag 4k", connected(1), SOMETHING,
        {"server": "served 10 RPCs with 10485760 bytes, 0 failed", "client": "10 of 10 RPCs"}, ips=("ipv4",)),
    Row("lnetd_read", "lnetd --nid {server}@o2ib --kernel --cksum serve --connections 1",
        "lnetd --nid {here}@o2ib --version 0x11 --big-endian read {server}@o2ib --size 300k --count 10 --concurrency 4 --offset 100", connected(1),
        SOMETHING, {"server": "served 10 RPCs with 3072000 bytes, 0 failed", "client": "10 of 10 RPCs"}, ips=("ipv4",)),
    Row("lnetd_lost", "lnetd --nid {server}@o2ib serve --connections 1", "lnetd --nid {here}@o2ib write {server}@o2ib --size 8k --count 3",
        connected(1), SOMETHING, {"client": "3 of 3 RPCs"}, ips=("ipv4",),
        faults=("drop the 1st GET_REQ from {server}", "drop the 2nd GET_DONE from {client}")),
    Row("wrong_port", WAITING, "ends 255 rping -c -p 7999 -a {server} -I {here}",
        {"server": {}, "client": active(1, REJECTED=1)}, NOTHING, {"client": "RDMA_CM_EVENT_REJECTED, error 8"}),
    Row("port_taken", "also_taken rping -s -P -a {any}", "calm rping -c -V -C 1 -a {server} -I {here}", connected(1), rping(1),
        {"server": "rdma_bind_addr: Cannot assign requested address"}),
    Row("ud_nobody", WAITING, "ends 1 udaddy -s {server} -b {here}",
        {"server": {}, "client": active(1, UNREACHABLE=1)}, NOTHING, {"client": "RDMA_CM_EVENT_UNREACHABLE, error: 1"}),
    Row("no_address", WAITING, "ends 146 ucmatose -s {nobody}",
        {"server": {}, "client": {"ADDR_ERROR": 1}}, NOTHING, {"client": "RDMA_CM_EVENT_ADDR_ERROR, error: -110"}),
    Row("rejected", "connect_many {any} 3 reject", "connect_many {server} 3 rejected",
        {"server": {"CONNECT_REQUEST": 3}, "client": active(3, REJECTED=3)}, NOTHING,
        {"client": 'rejected with status 28 and "we are full"'}),
    Row("client_killed", "rping -s -a {any}", f"ends 137 timeout -s KILL {KILL_CLIENT_S} rping -c -a {{server}} -I {{here}}", connected(1), SOMETHING),
    Row("server_killed", f"ends 137 timeout -s KILL {KILL_SERVER_S} rping -s -a {{any}}", "ends 0,255 rping -c -a {server} -I {here}", connected(1), SOMETHING),
    Row("in_a_row", "until_served rping -s -P -a {any}", f"in_turn {IN_A_ROW} 3 calm rping -c -V -C 1 -a {{server}} -I {{here}}",
        connected(IN_A_ROW), rping(IN_A_ROW)),
    Row("many", f"connect_many {{any}} {MANY} accept", f"connect_many {{server}} {MANY} connect", connected(MANY), NOTHING,
        {"server": f"accept: {MANY} times", "client": f"connect: {MANY} times"}),
]
BY_NAME = {row.name: row for row in ROWS}


def row_of(case):
    return BY_NAME[case.options]


def combinations():
    """(row, client, ip, between two programs on rxe?) of each case."""
    for i, row in enumerate(ROWS):
        yield row, "rxe", "ipv4", True
        for j, client in enumerate(CLIENTS):
            for ip in row.ips or (IPS[(i + j) % 2],):
                yield row, client, ip, False


@dataclass
class Place:
    """The addresses of a case: of the server, of this side, one that nobody has."""
    server: str
    here: str
    nobody: str
    ip: str

    def words(self):
        return {**vars(self), "any": "0.0.0.0" if self.ip == "ipv4" else "::"}


def scripts(case, server, client):
    """The shell scripts of both sides.  @server, @client: their places."""
    row = row_of(case)
    for role, command, place, mine, other in (("server", row.server, server, "ENDED", "SERVED"),
                                              ("client", row.client, client, "SERVED", "ENDED")):
        yield role, f". /test/guest.sh\nside {mine} {other} {command.format(**place.words())}\n"


def faults_of(case, server, client):
    return "".join(line.format(server=server, client=client) + "\n" for line in row_of(case).faults)


def said(text):
    """The lines of a transcript that do not depend on chance, each once, without addresses and numbers that differ."""
    lines = {ADDRESS.sub("ADDRESS", LNETD.sub(r"\1", MEASURED.sub(r"\1", re.sub(r"^h1 (sh|[a-z_]+): ", "", line))).rstrip()) for line in text.splitlines()
             if not NOTE.match(line)}
    return sorted(line for line in lines if not CHANCE_LINE.search(line))


def of_program(text):
    """Those lines of a run of the lab that the program has printed."""
    return "".join(line + "\n" for line in text.splitlines() if line.startswith(f"{HOST} ") and ": " in line)


def events_of(path):
    if not path.exists():
        return None, []
    header, *lines = path.read_text().splitlines()
    return json.loads(header), [json.loads(line) for line in lines]


def wrong_trace(row, role, events):
    """The complaints about the lab's trace: events of rdma_cm, and completions of the program."""
    found = Counter(e["event"] for e in events if e["ev"] == "cm_event" and e["host"] == HOST)
    wanted = row.events[role]
    if {k: n for k, n in found.items() if k not in BY_CHANCE} != wanted:
        yield f"the lab has the events {dict(found)} instead of {wanted}"
    done = [e for e in events if e["ev"] == "cqe" and e["host"] == HOST and e["qpn"] != KERNELS_QPN]
    moved = dict(Counter(e["op"] for e in done if e["status"] == "SUCCESS"))
    wanted = row.completions[role]
    if moved != wanted if wanted is not None else not moved:
        yield f"the lab has the completions {moved} instead of {'some' if wanted is None else wanted}"
    sent = sum(e["ev"] == "tx" and e["host"] == HOST and e["qpn"] != KERNELS_QPN and e["opcode"].startswith("UD_SEND_") for e in events)
    if sent != row.datagrams.get(role, sent):
        yield f"the lab has sent {sent} datagrams instead of {row.datagrams[role]}"
    lost = sum(e["ev"] == "lost" for e in events)
    if lost != len(row.faults):
        yield f"{lost} frames were lost instead of {len(row.faults)}"


def wrong_left(text):
    """The complaints about what the lab has left: its last words are `show cm` and `show h1`."""
    shown = text.rpartition("profile ")
    if not shown[1] or "none" not in text.splitlines():
        yield "the lab did not show what is left"
    for name in re.findall(r"^h1\.(\S+)", shown[2], re.MULTILINE):
        if not name.startswith("cm_"):
            yield f"the lab has {name} left"


def wrong(case, text, directory, truth):
    """@text, @truth: what both sides have printed, here and between two programs on rxe.  @directory: what the case has left."""
    row = row_of(case)
    lab = None if case.baseline else "client" if case.client == "lab" else "server"
    printed = {role: of_program(text[role]) if role == lab else text[role] for role in ("server", "client")}
    for role in printed:
        if row.says.get(role, "") not in printed[role]:
            yield f"the {role} did not print '{row.says[role]}'"
        if said(printed[role]) != said(truth[role]):
            yield f"the {role} has printed {said(printed[role])}, and with rxe on both sides {said(truth[role])}"
    if text["leaked"]:
        yield f"rxe has something left: {text['leaked'].strip()}"
    if not lab:
        return
    yield from wrong_left(text[lab])
    header, events = events_of(directory / TRACE)
    if not header or header["forgotten"]:
        yield f"the lab's trace is not whole: {header and header['forgotten']} events are missing"
    else:
        yield from wrong_trace(row, lab, events)
