# SPDX-License-Identifier: MIT
"""Have two sides of verbs_peer printed in a random program what rxe with rxe prints?"""
import pathlib
import re
import shutil

import cases
import transcripts
import verbs_random
from verbs_random_base import SIDES

ROLES = {"server": "a", "client": "b"}
EXPECTED = pathlib.Path(__file__).with_name("random.expected")
HEAD = """\
# What rxe prints with rxe in random programs: written by run --stand-in --record --seeds 1..40.
# Seed, kind, and FNV-1a of the lines of side a and of side b.
"""
NOT_REACHED = "nobody came to it"
NAME = re.compile(r"random_(\d+)$")


def seed_of(section):
    found = NAME.match(section)
    return int(found[1]) if found else None


def strange(seed, lines):
    """What no program prints, whoever carries it out; @lines are those of both sides."""
    for line in lines:
        if line.startswith("refused ") or ": wrong" in line:
            return f"'{line}'"
    failed = [line for line in lines if ": qp=" in line and "status=SUCCESS" not in line]
    if bool(failed) != verbs_random.is_told(seed):
        return f"'{failed[0]}' where nothing goes wrong" if failed else "nothing goes wrong"
    return ""


def wrong(case, text, truth):
    """The complaints about what "server" and "client" have printed, one for each seed and side.  Of rxe with
    rxe it must only make sense.
    """
    found = {side: transcripts.sections_of(text[role]) for role, side in ROLES.items()}
    wanted = {side: transcripts.sections_of(truth[role])[0] for role, side in ROLES.items()}
    for side in SIDES:
        if not found[side][1]:
            last = list(found[side][0])[-1] if found[side][0] else "random_0"
            yield f"seed {seed_of(last)}: {side} did not come to its end"
    for seed in case.seeds:
        name = f"random_{seed}"
        if any(name not in found[side][0] for side in SIDES):
            yield f"seed {seed}: {NOT_REACHED}"
        elif case.baseline:
            if what := strange(seed, [line for side in SIDES for line in found[side][0][name]]):
                yield f"seed {seed}: rxe with rxe: {what}"
        elif any(name not in wanted[side] for side in SIDES):
            yield f"seed {seed}: rxe with rxe has not come to it"
        else:
            yield from (f"seed {seed}: {side}: {transcripts.difference(wanted[side][name], found[side][0][name])}"
                        for side in SIDES
                        if wanted[side][name] != found[side][0][name])


def failed_seeds(result):
    """Those that were judged to be wrong, where it began first; all of the case, if the complaints are about none."""
    found = [re.findall(r"^seed (\d+): (.*)", what) for what in result.wrong]
    reached = [int(seed) for both in found for seed, what in both if what != NOT_REACHED]
    return [seed for seed in result.case.seeds if seed in reached] or list(result.case.seeds)


def keep(result, results, kept):
    """Copies what somebody needs to find out why, as the next run clears @results; how to see it again."""
    case = result.case
    first = failed_seeds(result)[0]
    if not (results / case.name()).is_dir():
        yield f"nothing is kept, as {case.name()} was not run"
        return
    target = kept / f"seed{first}-{case.name()}"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(results / case.name(), target)
    if not case.baseline and (results / cases.random_truth(case).name()).is_dir():
        shutil.copytree(results / cases.random_truth(case).name(), target / "rxe_with_rxe")
    (target / f"seed{first}.lines").write_text(verbs_random.file_of([first]))
    yield f"again: tests/interop/run --seeds {first} --only {case.client}_client"
    yield f"kept: {target} has the program, both transcripts, those of rxe with rxe, and of the lab its trace"


def hash_of(lines):
    """FNV-1a with 64 bits, as verbs_peer's digest."""
    value = 0xcbf29ce484222325
    for byte in "".join(line + "\n" for line in lines).encode():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return f"0x{value:016x}"


def record(transcripts_of):
    """Writes the table from (case, {"a": text, "b": text}) of rxe with rxe, each of which must be whole."""
    rows = {}
    for case, text in transcripts_of:
        found = {side: transcripts.sections_of(text[side]) for side in SIDES}
        if not all(ended for _, ended in found.values()):
            raise ValueError(f"{case.name()} did not come to its end")
        for seed in case.seeds:
            hashes = [hash_of(found[side][0][f"random_{seed}"]) for side in SIDES]
            rows[seed] = f"{seed} {verbs_random.kind(seed)} {' '.join(hashes)}\n"
    EXPECTED.write_text(HEAD + "".join(rows[seed] for seed in sorted(rows)))


def expected(kind):
    """[(seed, hash of a, hash of b)] of the programs of that kind."""
    rows = [line.split() for line in EXPECTED.read_text().splitlines() if not line.startswith("#")]
    return [(int(seed), a, b) for seed, its, a, b in rows if its == kind]
