# SPDX-License-Identifier: MIT
"""Wrong results of programs of rdma_cm are found.  A part of selftest.py."""
import json
import pathlib
import tempfile

import connections
from cases import Case, connected, connection_truth
from results import judge

LEFT = "none\nh1  10.0.0.1\n  profile rxe\nh1.cm_pd    1      3\nh1.cm_gsi     1  GSI\n"


def case_of(name, client):
    return Case(connections.PROGRAM, client, "ipv4", options=name, executed=True, profile="rxe")


SERVES, ASKS, LOSES, WRONG, KILLED, SENDS = (case_of(*words) for words in (
    ("rdma_client", "rxe"), ("rdma_client", "lab"), ("ud_lost_messages", "rxe"), ("wrong_port", "lab"), ("client_killed", "rxe"), ("mckey", "lab")))
SAID = {  # what the programs print
    "rdma_client": {"server": "rdma_server: start\nrdma_server: end 0\n", "client": "rdma_client: start\nrdma_client: end 0\n"},
    "ud_lost_messages": {"server": "test complete\nreturn status 0\n", "client": "test complete\nreturn status 0\n"},
    "wrong_port": {"server": "Killed\n", "client": "cma event RDMA_CM_EVENT_REJECTED, error 8\nconnect error -1\n"},
    "mckey": {"server": "return status 0\n", "client": "return status 0\n"},
    "client_killed": {"server": "server DISCONNECT EVENT...\n", "client": "Killed\n"},
}


def trace(case):
    """Returns the record of the lab about a run in which all is right."""
    row = connections.row_of(case)
    role = "client" if case.client == "lab" else "server"
    events = [{"ev": "cm_event", "host": "h1", "event": event} for event, n in row.events[role].items() for _ in range(n)]
    events += [{"ev": "cm_event", "host": "h1", "event": "DISCONNECTED"}]
    completions = {"SEND": 2} if row.completions[role] is None else row.completions[role]
    for op, n in completions.items():
        events += n * [{"ev": "cqe", "host": "h1", "qpn": 2, "op": op, "status": "SUCCESS"}]
    events += [{"ev": "cqe", "host": "h1", "qpn": 1, "op": "SEND", "status": "SUCCESS"},
               {"ev": "cqe", "host": "h1", "qpn": 2, "op": "RECV", "status": "WR_FLUSH_ERR"}]
    events += row.datagrams.get(role, 0) * [{"ev": "tx", "host": "h1", "qpn": 2, "opcode": "UD_SEND_ONLY_WITH_IMM"}]
    return events + len(row.faults) * [{"ev": "lost", "host": "h1"}]


def without(**fields):
    """Without the first event that has these fields."""
    def change(events):
        at = next(i for i, event in enumerate(events) if fields.items() <= event.items())
        return events[:at] + events[at + 1:]
    return change


def more(**fields):
    return lambda events: events + [{"host": "h1"} | fields]


def same(events):
    return events


PLANTS = [  # case; what has happened to the trace; side, text -> other text; what must be said ("" for nothing)
    *[(case, same, "server", "", "", "") for case in (SERVES, ASKS, LOSES, WRONG, KILLED, SENDS)],
    (SERVES, without(event="ESTABLISHED"), "server", "", "", "the events {'CONNECT_REQUEST': 1, 'DISCONNECTED': 1} instead of"),
    (SERVES, more(ev="cm_event", event="REJECTED"), "server", "", "", "'REJECTED': 1"),
    (ASKS, without(event="CONNECT_RESPONSE"), "server", "", "", "instead of {'ADDR_RESOLVED': 1"),
    (WRONG, without(event="REJECTED"), "server", "", "", "instead of {'ADDR_RESOLVED': 1, 'ROUTE_RESOLVED': 1, 'REJECTED': 1}"),
    (SERVES, without(op="SEND", qpn=2), "server", "", "", "the completions {'RECV': 1} instead of {'SEND': 1, 'RECV': 1}"),
    (SERVES, more(ev="cqe", qpn=2, op="RECV", status="SUCCESS"), "server", "", "", "the completions {'SEND': 1, 'RECV': 2}"),
    (KILLED, lambda events: [e for e in events if e["ev"] != "cqe"], "server", "", "", "the completions {} instead of some"),
    (SENDS, without(ev="tx"), "server", "", "", "the lab has sent 9 datagrams instead of 10"),
    (LOSES, without(ev="lost"), "server", "", "", "0 frames were lost instead of 1"),
    (SERVES, more(ev="lost"), "server", "", "", "1 frames were lost instead of 0"),
    (SERVES, same, "client", "end 0", "end -1", "the client did not print 'rdma_client: end 0'"),
    (SERVES, same, "client", "rdma_client: start\n", "", "the client has printed ['rdma_client: end 0'], and with rxe"),
    (SERVES, same, "server", "rdma_server: start", "rdma_server: began", "the server has printed"),
    (WRONG, same, "client", "error 8", "error 28", "the client did not print 'RDMA_CM_EVENT_REJECTED, error 8'"),
    (SERVES, same, "server", "h1.cm_pd ", "h1.qp3 ", "the lab has qp3 left"),
    (SERVES, same, "server", "none\n", "h1.id2  TCP  CONNECT\n", "the lab did not show what is left"),
    (ASKS, same, "client", LEFT, "", "the lab did not show what is left"),
]


def written(directory, text, events=None, forgotten=0):
    directory.mkdir()
    (directory / "status").write_text("0 0 12")
    for name, its in text.items():
        (directory / name).write_text(its)
    if events is not None:
        lines = [json.dumps(line) + "\n" for line in [{"format": "rdmalab-trace", "forgotten": forgotten}, *events]]
        (directory / connections.TRACE).write_text("".join(lines))


def found(case, events, side="server", old="", new="", forgotten=0, truth=True, leaked=""):
    said = SAID[case.options]
    lab = "client" if case.client == "lab" else "server"
    text = {role: its if role != lab else "".join(f"h1 sh: {line}\n" for line in its.splitlines()) + LEFT for role, its in said.items()}
    if old not in text[side]:
        return f"'{old}' is not there"
    text[side] = text[side].replace(old, new, 1)
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        written(top / case.name(), text | ({"leaked": leaked} if leaked else {}), events, forgotten)
        if truth:
            written(top / connection_truth(case).name(), said)
        return "; ".join(judge(case, top / case.name()).wrong)


def missed():
    """Says for each plant what is wrong about how it was judged; "": nothing."""
    for case, happened, side, old, new, wanted in PLANTS:
        said = found(case, happened(trace(case)), side, old, new)
        yield "" if (wanted in said if wanted else not said) else f"{case.name()}: wanted '{wanted}', found '{said}'"
    for more_, wanted in (({"forgotten": 1}, "the lab's trace is not whole"), ({"events": None}, "the lab's trace is not whole"),
                          ({"truth": False}, "and with rxe on both sides []"), ({"leaked": "qp 2"}, "rxe has something left: qp 2")):
        said = found(SERVES, **({"events": trace(SERVES)} | more_))
        yield "" if wanted in said else f"{more_}: wanted '{wanted}', found '{said}'"
    names = {case.options for case in connected()}
    yield "" if names == set(connections.BY_NAME) else f"rows without cases: {set(connections.BY_NAME) - names}"
