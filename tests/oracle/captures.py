#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""captures.py RDMALAB DIRECTORY [--all] SCENARIO...: what do Scapy and tshark make of a scenario's frames?

Runs each scenario with --pcap and --events into DIRECTORY, recomputes every ICRC (icrc.py; with --all Scapy does, too,
which otherwise judges the first frame of each kind), and holds tshark's dissection against the events (dissect.py).  Then `rdmalab check` reads the capture: it must see
all frames of RoCEv2, and find nothing that no device may send.  Of a scenario that sends nothing only this
is checked: its events tell of no frame, and neither does the capture.  Ends with "N passed, N failed".
"""
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import capture
import dissect
import icrc


TOGETHER = 30  # captures for one tshark
ERRORS_SHOWN = {  # scenarios in which a host sends what no device may send, as rxe does
    "737-rxe-ack-of-an-atomic.json": {"ANSWER_OF_OTHERS"},
    "789-cm-wrong-psn.json": {"WRONG_FIRST_PSN"},  # the forged REP names a PSN that the server does not expect
}


def play(binary, directory, scenario):
    """Where the scenario's capture and events are, and what is wrong with how it ended, or nothing."""
    base = os.path.join(directory, os.path.basename(scenario))
    pcapng, events = base + ".pcapng", base + ".ndjson"
    run = subprocess.run([binary, "run", scenario, "--pcap", pcapng, "--events", events],
                         capture_output=True, text=True, check=False)
    return pcapng, events, f"exit status {run.returncode}: {run.stdout}{run.stderr}" if run.returncode else ""


def judge(binary, directory, scenarios, with_scapy):
    """Of each scenario its line of the report, and the complaints."""
    played = {s: play(binary, directory, s) for s in scenarios}
    captures = [pcapng for pcapng, _, wrong in played.values() if not wrong]
    rows = dict(zip(captures, capture.tshark_each(captures, dissect.FIELDS) if captures else []))
    for scenario, (pcapng, events, wrong) in played.items():
        if wrong:
            yield scenario, [wrong]
            continue
        n_icrc, n_damaged, complaints = icrc.check(capture.read(pcapng), with_scapy)
        n_frames, more = dissect.check(pcapng, events, rows[pcapng])
        text = f"{scenario}: {n_frames} frames, {n_icrc} ICRCs"
        if n_damaged:
            text += f", {n_damaged} damaged by a fault"
        yield text, complaints + more + checked(binary, pcapng, ERRORS_SHOWN.get(os.path.basename(scenario), set()))


def checked(binary, pcapng, about):
    """The complaints about what rdmalab check says of the capture.  @about: the errors that it must find there."""
    run = subprocess.run([binary, "check", pcapng, "--json"], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 2) or not run.stdout:
        return [f"rdmalab check ended with {run.returncode}: {run.stderr.strip()}"]
    report = json.loads(run.stdout)
    frames = capture.read(pcapng)
    by_hand = {frame.number for frame in frames if any("made by hand" in c for c in frame.comments)}
    errors = [f for f in report["findings"] if f["severity"] == "error" and f["frame"] not in by_hand]
    complaints = [f"rdmalab check: frame {f['frame']}: {f['finding']}: {f['text']}"
                  for f in errors if f["finding"] not in about]
    complaints += [f"rdmalab check does not find {kind}" for kind in sorted(about - {f["finding"] for f in errors})]
    there = sum(frame.is_roce() for frame in frames)
    seen = report["roce_frames"] + report["frames_seen_again"] + report["frames_lost"]
    if seen != there:
        complaints.append(f"rdmalab check sees {seen} frames of RoCEv2 of {there}")
    return complaints


def main():
    scenarios = sys.argv[3:]
    with_all = scenarios[:1] == ["--all"]
    if not scenarios[with_all:]:
        capture.die("usage: captures.py RDMALAB DIRECTORY [--all] SCENARIO...")
    binary, directory, scenarios = sys.argv[1], sys.argv[2], scenarios[with_all:]
    with_scapy = (lambda packet: True) if with_all else icrc.FirstOfEachKind()
    parts = [scenarios[at:at + TOGETHER] for at in range(0, len(scenarios), TOGETHER)]
    n_failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for text, complaints in itertools.chain(*pool.map(lambda part: list(judge(binary, directory, part, with_scapy)), parts)):
            print(text)
            for complaint in complaints:
                print(f"  {complaint}")
            n_failed += bool(complaints)
    print(f"{len(scenarios) - n_failed} passed, {n_failed} failed")
    sys.exit(1 if n_failed else 0)


if __name__ == "__main__":
    main()
