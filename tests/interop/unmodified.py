# SPDX-License-Identifier: MIT
"""Programs that nobody wrote for the lab: perftest, and those of examples.  How they are called, and whether they have done
what they say.

One side runs on rxe, the other one by `rdmalab exec` on a host of the lab.  What perftest says to have moved is counted in the
lab's trace: by PSN, so that what was sent again counts once.  An example prints what it prints between two hosts of a lab, but
for numbers that nobody can know.
"""
import json
import re
import socket
import subprocess
from collections import Counter

from cases import EXAMPLES

TCP_ADDRESS = "127.0.0.1"  # both programs run in the same machine: their TCP connection is local
PORT = 18515  # of TCP; that of perftest, if nothing is said
# READs and atomics under way.  perftest takes all that the other side's device can, and a host of the lab can do 16 if nothing else
# is said, rxe 128.
READS = 16
HOST = "h1"
TRACE = "lab.ndjson"

PRINTED = re.compile(r"^ *(\d+) +(\d+) +[\d.]+ ", re.MULTILINE)  # bytes and iterations of a row of perftest
# A number that differs from run to run, or how often somebody slept.
NUMBER = re.compile(r"(queue pair|QP|rkey|slept) (?:0x)?[0-9a-f]+")

CARRY = {  # the opcodes of frames that carry what a program moves
    "send": re.compile("(RC|UC|UD)_SEND_"), "write": re.compile("(RC|UC)_RDMA_WRITE_"),
    "read": re.compile("RC_RDMA_READ_RESPONSE_"), "atomic": re.compile("RC_(FETCH_ADD|COMPARE_SWAP)"),
}
COMPLETED = {("send", False): "SEND", ("write", False): "RDMA_WRITE", ("read", False): "RDMA_READ",
             ("atomic", False): "FETCH_ADD", ("atomic", True): "COMP_SWAP"}


def words(case, role, device, gid):
    """The words of the program's command, which are the same on rxe and on a host of the lab."""
    if case.is_example():
        return [case.program, "-g", gid, TCP_ADDRESS if role == "client" else "-", PORT]
    command = [case.program, "-d", device, "-x", gid, "-n", case.iterations, case.options]
    if operation(case) != "atomic":
        command += ["-s", case.size]
    if "UD" not in case.options:
        command += ["-m", case.mtu]
    if operation(case) in ("read", "atomic"):
        command += ["-o", READS]
    if case.program.endswith("bw"):
        command += ["-Q", 1]  # a completion for each message
    return command + [TCP_ADDRESS] * (role == "client")


def joined(command):
    return " ".join(str(word) for word in command if word != "")


def operation(case):
    """send, write, read or atomic."""
    return case.program.split("_")[1]


def both_ways(case):
    """Returns True if both sides do the same."""
    return "-b" in case.options or case.program in ("ib_send_lat", "ib_write_lat")


def directions(case):
    """{"sent": True if the lab sends the data, "received": True if it receives data}"""
    from_lab = (case.client == "lab") == (operation(case) != "read")
    return {"sent": both_ways(case) or from_lab, "received": both_ways(case) or not from_lab}


def completions(case):
    """{opcode: how many completions the lab's program gets}"""
    asks = both_ways(case) or case.client == "lab"
    takes = operation(case) == "send" and directions(case)["received"]
    wanted = {COMPLETED[operation(case), "CMP" in case.options]: case.iterations * asks, "RECV": case.iterations * takes}
    return {opcode: n for opcode, n in wanted.items() if n}


def events_of(path):
    """The header, and the events of the lab's trace."""
    if not path.exists():
        return None, []
    header, *lines = path.read_text().splitlines()
    return json.loads(header), [json.loads(line) for line in lines]


def moved(case, events, way):
    """(messages, bytes) that the lab's host has sent or received, each packet once."""
    kind = {"sent": "tx", "received": "rx"}[way]
    carry = CARRY[operation(case)]
    packets = {(e["qpn"], e["psn"]): e for e in events if e["ev"] == kind and e["host"] == HOST and carry.match(e["opcode"])}
    ends = [e for e in packets.values() if not re.search("_(FIRST|MIDDLE)$", e["opcode"])]
    return len(ends), sum(e["bytes"] for e in packets.values())


def wrong_counts(case, events):
    """The complaints about a difference between perftest's output and the lab's trace."""
    size = 0 if operation(case) == "atomic" else case.size  # of payload of the request
    for way, asked in directions(case).items():
        wanted = (case.iterations, case.iterations * size) if asked else (0, 0)
        if (found := moved(case, events, way)) != wanted:
            yield f"the lab has {way} {found[0]} messages with {found[1]} bytes instead of {wanted[0]} with {wanted[1]}"
    done = [e for e in events if e["ev"] == "cqe" and e["host"] == HOST]
    yield from {f"the lab has a completion with {e['status']}" for e in done if e["status"] != "SUCCESS"}
    found = dict(Counter(e["op"] for e in done))
    if found != completions(case):
        yield f"the lab has the completions {found} instead of {completions(case)}"


def wrong_perftest(case, text, path):
    """The complaints about a run of perftest."""
    rows = [(int(size), int(n)) for size, n in PRINTED.findall(text["client"])]
    if rows != [(case.size, case.iterations)]:
        yield f"the client did not print {case.size} bytes and {case.iterations} iterations, but {rows}"
    header, events = events_of(path)
    if not header or header["forgotten"]:
        yield f"the lab's trace is not whole: {header and header['forgotten']} events are missing"
        return
    yield from wrong_counts(case, events)
    lost = sum(e["ev"] == "lost" for e in events)
    if (lost > 0) != (case.loss > 0):
        yield f"{lost} frames were lost"


def said(text):
    """The output of an example, without numbers, and without the order in which different things complete."""
    return sorted(NUMBER.sub(r"\1 N", line) for line in text.splitlines() if line)


def wrong_example(text, truth):
    """@truth: what both sides print between two hosts of a lab."""
    for role in ("server", "client"):
        if not said(truth[role]):
            yield f"between two hosts of a lab the {role} has printed nothing"
        elif said(text[role]) != said(truth[role]):
            yield f"the {role} did not print what it prints between two hosts of a lab"


def record_truth(chosen, rdmalab, directory):
    """Runs the examples of the cases between two hosts of a lab of this machine.  @directory has the programs; what they print
    goes to @directory/truth.
    """
    for name in EXAMPLES:
        if not any(case.program == name for case in chosen):
            continue
        with socket.create_server((TCP_ADDRESS, 0)) as free:
            port = free.getsockname()[1]
        where = directory / "truth" / name
        where.mkdir(parents=True)
        into = ["sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh"]
        server = ["h1", "--", *into, where / "server", directory / name, "-", str(port)]
        client = ["h2", "--", *into, where / "client", directory / name, TCP_ADDRESS, str(port)]
        subprocess.run([rdmalab, "exec", "--timeout", "60", *server, ":", *client], check=False)


def wrong(case, text, directory):
    """The complaints about both programs.  @directory: what the case has left."""
    if case.is_example():
        truth = {role: path.read_text() if (path := directory.parent / "truth" / case.program / role).exists() else ""
                 for role in ("server", "client")}
        yield from wrong_example(text, truth)
    else:
        yield from wrong_perftest(case, text, directory / TRACE)
