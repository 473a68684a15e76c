#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""verbs_peer on libibverbs, on two hosts of a lab, prints what it prints on two devices of Linux rxe.

usage: check_verbs_peer.py [--full] RDMALAB

tests/interop/verbs_peer does everything that verbs offer, as a file of lines says.  What it has to print is in
tests/interop/verbs.expected, where a host is not like rxe in tests/interop/verbs_likes.py, and of random programs a hash
is in tests/interop/random.expected.  --full has losses, too, which take longer, as the lab follows the clock.  In a build without our libibverbs, prints "skipped: REASON" and exits with 77.
"""
import pathlib
import sys
import tempfile

from on_hosts import ports, reason_to_skip
from program import ROOT, Program, Tally

sys.path.insert(0, str(ROOT / "tests/interop"))
import programs  # noqa: E402
import random_judge  # noqa: E402
import transcripts  # noqa: E402
import verbs_lab  # noqa: E402
import verbs_lines  # noqa: E402
import verbs_random  # noqa: E402

SIDES = "ab"
GID = {"ipv4": "0", "ipv6": "1"}
ROWS = [  # profile of both hosts, path MTU, per cent of frames lost, kind of GID
    ("rxe", 1024, 0, "ipv4"), ("iba", 4096, 0, "ipv6"), ("rxe-7.3", 512, 0, "ipv6"), ("iba", 2048, 1, "ipv4"),
]
RANDOM_ROWS = [("iba", "plain", 0, "ipv4"), ("rxe", "mistake", 0, "ipv6"), ("rxe", "lossy", 2, "ipv4")]
SECTIONS_LEAST = 15
LAB = "host h1 h2 profile={profile}\nlink h1 h2 loss={loss}%\n"


def played(rdmalab, lines, profile, loss, ip):
    """Returns how rdmalab has ended, and the output of both sides for the @lines."""
    rdmalab.file("peer.lines").write_text(lines)
    rdmalab.file("peer.lab").write_text(LAB.format(profile=profile, loss=loss))
    into = ["sh", "-c", 'exec "$@" >"$0"']
    command = ["./verbs_peer", "-d", "rdl0", "-p", str(next(ports)), "-g", GID[ip]]
    done = rdmalab.run("exec", "--lab", "peer.lab", "h1", "--", *into, "a", *command, "a", "peer.lines", ":",
                       "h2", "--", *into, "b", *command, "b", "peer.lines", "localhost")
    return done, {side: rdmalab.file(side).read_text() for side in SIDES}


def check_sections(rdmalab, tally, full):
    for profile, mtu, loss, ip in ROWS:
        if loss and not full:
            continue
        lines = verbs_lines.file_of(verbs_lines.To(mtu, loss, ip), verbs_lab.certain(loss))
        done, text = played(rdmalab, lines, profile, loss, ip)
        for side in SIDES:
            wanted, _ = transcripts.sections_of(verbs_lab.expected(side, profile, mtu, loss))
            found, ended = transcripts.sections_of(text[side])
            wrong = [f"{name}: {transcripts.difference(wanted[name], found[name]) if name in found else 'is missing'}"
                     for name in wanted if found.get(name) != wanted[name]]
            tally.expect(ended and not wrong and len(found) == len(wanted) >= SECTIONS_LEAST and done.returncode == 0,
                         f"side {side}, profile {profile}, MTU {mtu}, {loss} % lost, {ip}",
                         "\n".join(wrong[:5]) + f"\nstatus {done.returncode}\n{done.stderr[-1500:]}")


def check_random(rdmalab, tally, full):
    for profile, kind, loss, ip in RANDOM_ROWS:
        if loss and not full:
            continue
        rows = random_judge.expected(kind)
        done, text = played(rdmalab, verbs_random.file_of(seed for seed, _, _ in rows), profile, loss, ip)
        found = {side: transcripts.sections_of(text[side])[0] for side in SIDES}
        wrong = [f"seed {seed}, side {side}" for seed, *hashes in rows for side, wanted in zip(SIDES, hashes)
                 if random_judge.hash_of(found[side].get(f"random_{seed}", [])) != wanted]
        tally.expect(rows and not wrong and done.returncode == 0, f"random programs: {kind}",
                     "\n".join(wrong[:5]) + f"\nstatus {done.returncode}\n{done.stderr[-1500:]}")


def main():
    full = sys.argv[1:2] == ["--full"]
    if len(sys.argv) != 2 + full:
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[-1]).resolve()
    reason = reason_to_skip(path, ())
    if reason:
        print(f"skipped: {reason}")
        return 77
    tally = Tally()
    with tempfile.TemporaryDirectory() as directory:
        rdmalab = Program(path, directory)
        programs.verbs_peer(rdmalab.file("verbs_peer"))
        check_sections(rdmalab, tally, full)
        check_random(rdmalab, tally, full)
        rdmalab.end()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
