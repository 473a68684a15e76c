# SPDX-License-Identifier: MIT
"""Are wrong results found?  Judges outputs with planted faults; needs no virtual machine."""
import pathlib
import subprocess
import tempfile

from cases import FIRST_PSN_BEFORE_WRAP, Case
from report import speed_rows
from results import Result, judge, kernel_complaints

CASE = Case("rc_pingpong", "rxe", "ipv4", size=64, iterations=100)
WRAP = Case("rc_pingpong", "rxe", "ipv4", size=64, iterations=100, first_psn=FIRST_PSN_BEFORE_WRAP)
IPV6 = Case("rc_pingpong", "rxe", "ipv6", size=64, iterations=100)
PING = Case("ping", "rxe", "ipv4")

SERVER = """\
  local address:  LID 0x0000, QPN 0x000011, PSN 0xeb09fe, GID ::ffff:10.0.0.1
  remote address: LID 0x0000, QPN 0x000012, PSN 0x951b13, GID ::ffff:10.0.0.2
12800 bytes in 0.05 seconds = 2.16 Mbit/sec
100 iters in 0.05 seconds = 474.30 usec/iter
"""
CLIENT = """\
  local address:  LID 0x0000, QPN 0x000012, PSN 0x951b13, GID ::ffff:10.0.0.2
  remote address: LID 0x0000, QPN 0x000011, PSN 0xeb09fe, GID ::ffff:10.0.0.1
12800 bytes in 0.04 seconds = 2.51 Mbit/sec
100 iters in 0.04 seconds = 407.30 usec/iter
"""

PLANTS = [  # case, status, server, client -> what must be said about it ("" for nothing)
    (CASE, "0 0 12", SERVER, CLIENT, ""),
    (CASE, "0 0 12", SERVER, CLIENT + "invalid data in page 0\n", "received wrong data"),
    (CASE, "0 1 12", SERVER, "", "the client ended with status 1"),
    (CASE, "143 0 12", SERVER, CLIENT, "the server did not end in time"),
    (CASE, "1 not run 12", SERVER, "", "the server was never ready"),
    (CASE, "", "", "", "did not come to it"),
    (CASE, "0 0 12", SERVER, CLIENT.replace("12800", "12736"), "did not print 12800 bytes"),
    (CASE, "0 0 12", SERVER.replace("100 iters", "99 iters"), CLIENT, "did not print 100 iters"),
    (CASE, "0 0 12", SERVER.replace("0x951b13", "0x951b14"), CLIENT, "told another address"),
    (CASE, "0 0 12", SERVER, CLIENT.replace("QPN 0x000011", "QPN 0x000013"), "told another address"),
    (CASE, "0 0 12", "", CLIENT, "did not print"),
    (IPV6, "0 0 12", SERVER, CLIENT, "used GID ::ffff:10.0.0.1"),
    (WRAP, "0 0 12", SERVER, CLIENT, "did not start at PSN 0xfffffd"),
    (PING, "0 0 12", "", "3 packets transmitted, 3 packets received, 0% packet loss", ""),
    (PING, "0 0 12", "", "3 packets transmitted, 3 received, 0% packet loss", ""),
    (PING, "0 0 12", "", "3 packets transmitted, 2 packets received", "not every ping"),
]


def found(case, status, server, client):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for role, text in (("status", status), ("server", server), ("client", client)):
            (directory / role).write_text(text)
        return "; ".join(judge(case, directory).wrong)


def kernel_is_heard():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "dmesg").write_text("[ 1.0] rdma_rxe: loaded\n[ 2.0] WARNING: CPU: 0 PID: 7 at rxe\n")
        return len(kernel_complaints(directory)) == 1


def ratios(*measured):
    """What the report says of (client, or "baseline"; attempt; usec/iter) each."""
    results = [Result(Case("speed", "rxe" if who == "baseline" else who, "ipv4", size=64, iterations=100,
                           attempt=attempt, baseline=who == "baseline"), [], {}, usec=usec)
               for who, attempt, usec in measured]
    return [row["of_baseline"] for row in speed_rows(results)]


def speeds_are_held_against_their_baselines():
    """The best attempt counts, each beside its own baseline; without one there is nothing to say."""
    beside = ratios(("baseline", 1, 50), ("lab", 1, 100), ("baseline", 2, 90), ("lab", 2, 100))
    alone = ratios(("rxe", 1, 100), ("lab", 2, 100))
    return "" if (beside, alone) == ([1, 0.9], [None, None]) else f"speeds: {beside}, {alone}"


def vm_build(line):
    """(exit status, output) of a shell that knows the functions of vm-build."""
    script = pathlib.Path(__file__).with_name("vm-build")
    done = subprocess.run(["bash", "-c", f". {script}; {line}"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def libraries_are_looked_for_late():
    """A package that vm-build installs brings a library: its name is not known before."""
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name, f"librxe-rdmav{n}.so") for n in (34, 35)]
        status, got = vm_build(f"touch {files[0]}; the_file '{name}/librxe-rdmav*.so'")
        if status or got.strip() != str(files[0]):
            return f"it is not found: {got}"
        files[1].touch()
        for pattern, says in (("*.so", "but 2 do"), ("*.none", "but 0 do: none")):
            status, got = vm_build(f"the_file '{name}/{pattern}'")
            if status != 1 or says not in got or "install them anew: " not in got:
                return f"{pattern} is no clear error: {got}"
    status, got = vm_build('echo "${loaded_by_hand[@]}"')
    return "" if "librxe-rdmav*.so" in got else f"the name is expanded too early: {got}"


def main():
    passed = failed = 0
    for *plant, wanted in PLANTS:
        said = found(*plant)
        right = wanted in said if wanted else not said
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"MISSED: wanted '{wanted}', found '{said}'")
    for wrong in ("" if kernel_is_heard() else "the kernel's complaints", libraries_are_looked_for_late(),
                  speeds_are_held_against_their_baselines()):
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"MISSED: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)
