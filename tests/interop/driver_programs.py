# SPDX-License-Identifier: MIT
"""Programs that a virtual machine of driver_stage.py runs against somebody else, each side once as server and once as client."""
from dataclasses import dataclass

WAIT_S = 20  # a program takes a second or two
TRIES = 40  # of a client whose server does not listen yet


@dataclass
class Side:
    """One of the two who run programs."""
    name: str
    device: str  # words that choose the device of a program; "" on a host of a lab, which has one
    gid: int  # index of the GID of @address
    address: str  # of its RDMA device
    tcp: str  # address at which the other one reaches its TCP


# name: a command without the address of the server, which a client gets behind it.
PINGPONGS = {
    "rc": "ibv_rc_pingpong {d} -g {g} -c -n 100",
    "rc_events": "ibv_rc_pingpong {d} -g {g} -c -e -n 100",
    "rc_64k": "ibv_rc_pingpong {d} -g {g} -c -s 65536 -n 20 -m 1024",
    "rc_mtu4096": "ibv_rc_pingpong {d} -g {g} -c -s 65536 -n 20 -m 4096",
    "ud": "ibv_ud_pingpong {d} -g {g} -n 100",
    "ud_events": "ibv_ud_pingpong {d} -g {g} -e -n 100",
    "srq": "ibv_srq_pingpong {d} -g {g} -q 4 -n 100",
    "srq_events": "ibv_srq_pingpong {d} -g {g} -q 4 -e -n 100",
}
# A host of the lab keeps 16 READs and atomics under way.
PERFTEST = {
    "write_bw": "ib_write_bw {d} -x {g} -F -s 4096 -n 200",
    "write_bw_256k": "ib_write_bw {d} -x {g} -F -s 262144 -n 20",
    "read_bw": "ib_read_bw {d} -x {g} -F -s 4096 -n 200 -o 16",
    "send_bw": "ib_send_bw {d} -x {g} -F -s 4096 -n 200",
    "send_bw_ud": "ib_send_bw {d} -x {g} -F -c UD -s 1024 -n 200",
    "atomic_bw_swap": "ib_atomic_bw {d} -x {g} -F -A CMP_AND_SWAP -n 100 -o 16",
    "atomic_bw_add": "ib_atomic_bw {d} -x {g} -F -A FETCH_AND_ADD -n 100 -o 16",
    "write_lat": "ib_write_lat {d} -x {g} -F -s 64 -n 100",
    "read_lat": "ib_read_lat {d} -x {g} -F -s 64 -n 100 -o 16",
    "send_lat": "ib_send_lat {d} -x {g} -F -s 64 -n 100",
}
# Devices with UC have these, too.
UNRELIABLE = {
    "uc": "ibv_uc_pingpong {d} -g {g} -c -n 100",
    "uc_events": "ibv_uc_pingpong {d} -g {g} -c -e -n 100",
    "write_bw_uc": "ib_write_bw {d} -x {g} -F -c UC -s 4096 -n 200",
    "send_bw_uc": "ib_send_bw {d} -x {g} -F -c UC -s 4096 -n 200",
}
# By rdma_cm: "server | client".  rping may end with 255 behind its work.
CONNECTED = {
    "rping": "rping -s -a {a} -C 10 -v -V | calm rping -c -a {a} -C 10 -v -V",
    "ucmatose": "ucmatose -b {a} -c 4 | ucmatose -s {a} -c 4",
    "udaddy": "udaddy -b {a} -c 2 | udaddy -s {a} -c 2",
}
# Names for a network that loses frames: RC alone, as datagrams do not come again, and programs that wait for each other at the end.  A
# pingpong destroys its queue pair when it has all that it wants, and cannot acknowledge again.
LOSSY = [name for name in PERFTEST if not name.endswith("_ud")] + ["rping", "ucmatose"]

FUNCTIONS = f"""\
# The client of rping closes its channel while its thread waits there.
calm() {{
    "$@" >/tmp/calm.$$ 2>&1
    status=$?
    cat /tmp/calm.$$
    [ $status = 255 ] && grep -q '^rdma_get_cm_event: Bad file descriptor' /tmp/calm.$$ && status=0
    return $status
}}
# do_it SIDE/ROLE/NAME COMMAND...: prints with which status the program has ended, and what it has printed if it has failed.
# A client tries again while nobody listens.  On a busy machine a SIDR_REQ is sent again, which is a new request to Linux, for
# which the server of udaddy has no ear: then both sides wait until their time is over, and try once more.
do_it() {{
    what=$1 tries=0 late=
    shift
    while :; do
        printed=$("$@" 2>&1)
        status=$?
        tries=$((tries + 1))
        case $what/$status/$late in */udaddy/124/ | */udaddy/143/) late=yes && continue ;; esac
        [ $status != 0 ] && [ $tries -lt {TRIES} ] || break
        case $printed in *onnect*|*efused*|*REJECTED*|*UNREACHABLE*|*'orrelation coefficient'*) ;; *) break ;; esac
        sleep 0.3
    done
    echo "= program $what $status"
    [ $status = 0 ] || echo "$printed"
}}
"""


def all_names(unreliable):
    """@unreliable: also those of UC."""
    return [*PINGPONGS, *PERFTEST, *(UNRELIABLE if unreliable else ()), *CONNECTED]


def command(name, side, server, role):
    if name in CONNECTED:
        text = CONNECTED[name].split(" | ")[role == "client"].format(a=server.address)
        calm, text = ("calm ", text[5:]) if text.startswith("calm ") else ("", text)
        return f"{calm}timeout {WAIT_S} {text}"
    text = {**PINGPONGS, **PERFTEST, **UNRELIABLE}[name].format(d=side.device, g=side.gid)
    return f"timeout {WAIT_S} {text}{f' {server.tcp}' if role == 'client' else ''}"


def plan(names, one, two):
    """{name of a side: lines of its script}, and the words of "= program" that both must print with status 0."""
    scripts, wanted = {one.name: FUNCTIONS, two.name: FUNCTIONS}, []
    for server, client in ((two, one), (one, two)):
        for name in names:
            for side, role in ((server, "server"), (client, "client")):
                what = f"{side.name}/{role}/{name}"
                scripts[side.name] += f"do_it {what} {command(name, side, server, role)}\n"
                wanted.append(what)
    return scripts, wanted
