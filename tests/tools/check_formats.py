#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The collection of scenarios with other virtqueues: the same lessons, in as many ticks.

usage: check_formats.py RDMALAB [-v] [VARIANT...]

Each scenario is run once more for each way of VARIANTS in which a host can be made, with all of its hosts
made so.  What a scenario expects must hold there, too, and it takes as many ticks: a lesson does not depend
on the format of the rings that carry it.  Those that write into a ring by hand are BY_HAND.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

VARIANTS = {
    "packed": ("packed", []),
    "packed, with tables": ("packed", ["indirect"]),
    "with tables": ("split", ["indirect"]),
}

# They say where in a split ring something lies, that it is there, how many descriptors a request takes, or what is offered.
BY_HAND = {
    "206-device-fatal", "207-srq-err", "260-descriptors-refused", "261-chains-refused", "262-indirect-table",
    "241-rings-overwritten", "263-net-ring", "264-requests-overwritten", "86-srq-out-of-order",
    "543-control-requests-in-flight", "544-refused-memory", "592-ring-feeds-itself", "927-access-platform",
    "932-page-lists-refused", "950-a-vector-for-a-queue", "957-rings-of-a-program",
}

# A place in a packed ring comes again after two laps, an index of a split one after 65536 entries: who is busy
# and does not renew its wish for notifications gets one more every two laps.
MORE_KICKS = {
    "26-unreliable-link": 0.01, "27-counting-what-is-forgotten": 0.01, "38-memory-limit": 0.01,
    "1026-lnet-renegotiation": 0.01, "1032-lnet-credits-run-out": 0.01, "1033-lnet-last-credit": 0.01,
    "1037-lnet-region-grows": 0.01, "1038-lnet-map-on-demand": 0.01, "1045-lnet-many-to-one": 0.01,
    "1054-lnet-selftest": 0.01, "1065-lnet-a-batch": 0.01,
}


def hosts_of(steps):
    """The steps `host` of a scenario, in blocks, too."""
    for step in steps:
        if step.get("do") == "host":
            yield step
        for block in ("steps", "else"):
            if isinstance(step.get(block), list):
                yield from hosts_of(step[block])


def is_made_so(host):
    return "ring" in host or "indirect" in host.get("flags", [])


def ticks_of(rdmalab, directory):
    """Runs all of a directory: {name: ticks}, without those that failed, and what was said of these."""
    done = subprocess.run([rdmalab, "test", directory], capture_output=True, text=True, check=False)
    ticks = dict(re.findall(r"^ok +\S*?([^/\s]+)\.json +(\d+) ticks", done.stdout, re.M))
    return {name: int(n) for name, n in ticks.items()}, re.sub(r"^ok .*\n?", "", done.stdout, flags=re.M)


def main(rdmalab, verbose, asked):
    scenarios = sorted(p for p in (ROOT / "scenarios").glob("*.json"))
    plain, _ = ticks_of(rdmalab, str(ROOT / "scenarios"))
    wrong = checks = 0

    for name in sorted((BY_HAND | MORE_KICKS.keys()) - {p.stem for p in scenarios}):
        wrong += 1
        print(f"FAIL {name}: no scenario has this name, but it is in a list of {sys.argv[0]}")
    for what, (ring, flags) in VARIANTS.items():
        if asked and what not in asked:
            continue
        with tempfile.TemporaryDirectory() as directory:
            ran = set()
            for path in scenarios:
                scenario = json.loads(path.read_text(encoding="utf-8"))
                hosts = list(hosts_of(scenario["steps"]))
                if path.stem in BY_HAND or path.stem not in plain or any(is_made_so(h) for h in hosts):
                    continue
                if flags and any("INDIRECT_DESC" in h.get("features_off", []) for h in hosts):
                    continue
                for host in hosts:
                    host["ring"] = ring
                    if host.get("device", "virtio") == "virtio":  # others have no control requests in virtqueues
                        host["flags"] = host.get("flags", []) + flags
                ran.add(path.stem)
                pathlib.Path(directory, path.name).write_text(json.dumps(scenario), encoding="utf-8")
            ticks, said = ticks_of(os.path.abspath(rdmalab), directory)
        for name in sorted(ran):
            most = plain[name] * (1 + (MORE_KICKS.get(name, 0) if ring == "packed" else 0))
            checks += 1
            if name not in ticks:
                wrong += 1
                print(f"FAIL {name}, {what}: it does not pass")
            elif not plain[name] <= ticks[name] <= most:
                wrong += 1
                print(f"FAIL {name}, {what}: {ticks[name]} ticks instead of {plain[name]}")
        if verbose or ran - ticks.keys():
            print(said)
    print(f"{checks - wrong} passed, {wrong} failed")
    return wrong > 0 or checks == 0


if __name__ == "__main__":
    wanted = [a for a in sys.argv[2:] if a != "-v"]
    if len(sys.argv) < 2 or any(a not in VARIANTS for a in wanted):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], "-v" in sys.argv[2:], wanted))
