#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a failure says to do again comes to the same failure.

usage: check_again.py RDMALAB [--mutants N] [--seed S]

Takes scenarios of the collection, changes each at one place at random, and runs it: with `run`, as a script, or
with `test` in one of its forms.  Where that fails, a shell runs the line "again:", which must print the same message
and exit with the same status.  So must the failing samples of tests/bad and of SAMPLES.  Files have names that a shell
must not touch.  So must each run of a fault matrix that came to another outcome.
"""
import argparse
import copy
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import program as whole
from program import FOREVER, PAIR, ROOT, TIMEOUT_S, Failure, ensure

NAMES = ["plain.json", "two words.json", "it's.json", "-x.json", "$(false)`.json", "h\u00fc\u00df.json", "tab\there\x1b.json",
         "#1&2;.json", "*?[a].json", "100%.json"]
WAYS = ["run", "test", "github", "junit", "tap", "json", "script"]
TICKS = 100000  # limit of a changed scenario, which may have no end
LIVE = {"port", "program"}  # these do not repeat
SAMPLES = {
    "expects.lab": (["run"], "host h1\nexpect h1.irqs == 1\n"),
    "seeded.lab": (["run"], "scenario seed=7\nhost h1 h2\nlink h1 h2 loss=20%\nrepeat 50 { ping h1 h2 }\n"),
    "told seed.lab": (["run", "--seed", "3"], "host h1 h2\nlink h1 h2 loss=20%\nrepeat 50 { ping h1 h2 }\n"),
    "small.lab": (["run", "--memory", "16m"], "host h1\nalloc_pd h1 as pd\nreg_mr h1.pd len=32m as mr\n"
                  "write h1.mr[0:32m] fill=1\n"),
    "until.lab": (["run", "--until", "h1.irqs == 77"], "host h1\n"),
    "waits.lab": (["run"], PAIR + "until h1.cq.wc[0].status == SUCCESS timeout=1us\n"),
    "limit.lab": (["test"], "scenario ticks=500\n" + FOREVER),
    "out.lab": (["test"], "host h1\nexport events ../x.ndjson\n"),
    "long.lab": (["test", "--timeout", "1"], "scenario ticks=1000000000000\n" + FOREVER),
    "many.lab": (["test", "--seeds", "5..5", "--twice"], "host h1\nexpect h1.irqs == 1\n"),
    "not known.lab": (["run"], "host h1\nexpect h2.irqs == 1\n"),
    "first.lab": (["-c", "host h0; link h0 h0"], ""),
    "script.lab": (["-c", "host h0\nhost h2", "--seed", "9"], "expect h0.irqs == 1 and h2.irqs > 5\n"),
}

MATRICES = {  # what comes of a fault is a completion that is missing, a limit, the wall clock, or a failure without it
    "lost for good.lab": ([], PAIR.replace("type=rc", "type=uc") + "post_recv h2.qp sge=mr[0:1k]\n"
                          "post_send h1.qp sge=mr[0:64] signaled\nrun\n"),
    "it's few.lab": ([], "scenario ticks=300\n" + PAIR + "post_recv h2.qp sge=mr[0:1k]\npost_send h1.qp sge=mr[0:64]\nrun\n"
                     "if count(timeout) > 0 { post_send h1.qp sge=mr[0:64]; run 1s }\n"),
    "for long.lab": (["--timeout", "1"], "scenario ticks=1000000000000\n" + PAIR + "post_recv h2.qp sge=mr[0:1k]\n"
                     "post_send h1.qp sge=mr[0:64]\nrun\nif count(timeout) > 0 { post_send h1.qp sge=mr[0:64]; run 1000000s }\n"),
    "always.lab": ([], "host h1\nexpect h1.irqs == 1\n"),
}


# --- One change ----------------------------------------------------------------------------------


def lists_of(steps):
    """All lists of steps, at any depth."""
    yield steps
    for step in steps:
        for key in ("steps", "else"):
            if isinstance(step.get(key), list):
                yield from lists_of(step[key])


def values_of(node, where=()):
    """All places of numbers and words in a step: the container and the key."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, (dict, list)):
            yield from values_of(value, where + (key,))
        elif key not in ("do", "as", "note"):
            yield node, key


def changed_text(text, rng):
    """Another number or word in a text; the text itself if it has none."""
    words = list(re.finditer(r"\d+|\b[A-Z_]{3,}\b", text))
    if not words:
        return text
    word = rng.choice(words)
    other = str(int(word[0]) + rng.choice([1, 7, -1])) if word[0].isdigit() else rng.choice(["ERR", "RTS", "SUCCESS", "FLUSH"])
    return text[:word.start()] + other.lstrip("-") + text[word.end():]


def mutant(scenario, rng):
    """A copy of the scenario with one change, and what that is."""
    new = copy.deepcopy(scenario)
    new.setdefault("limits", {}).setdefault("ticks", TICKS)
    steps = rng.choice([x for x in lists_of(new["steps"]) if x])
    i = rng.randrange(len(steps))
    kind = rng.choice(["delete", "twice", "swap", "expect", "value", "value", "limit"])
    if kind == "delete":
        del steps[i]
    elif kind == "twice":
        steps.insert(i, copy.deepcopy(steps[i]))
    elif kind == "swap":
        k = rng.randrange(len(steps))
        steps[i], steps[k] = steps[k], steps[i]
    elif kind == "limit":
        new["limits"] = {"ticks": rng.choice([3, 30, 300])}
    else:
        wanted = [x for part in lists_of(new["steps"]) for x in part if kind == "value" or x["do"] in ("expect", "until")]
        places = list(values_of(rng.choice(wanted))) if wanted else []
        if places:
            node, key = rng.choice(places)
            value = node[key]
            node[key] = value + rng.choice([1, 8]) if isinstance(value, int) else changed_text(value, rng)
    return new, kind


# --- A run, and the same again -------------------------------------------------------------------


def message_of(way, name, done):
    """The message of a failure, with its line "again:"."""
    if way in ("run", "script"):
        return done.stderr
    if way == "junit":
        case = xml.etree.ElementTree.parse("junit.xml").getroot()[0][0]
        return next(x for x in case if x.tag in ("failure", "error")).text
    if way == "json":
        return json.loads(done.stdout)["cases"][0]["message"]
    if way == "github":
        line = next(x for x in done.stdout.split("\n") if x.startswith("::error "))
        return re.sub("%(0A|0D|25)", lambda m: chr(int(m[1], 16)), line.split("::", 2)[2])
    if way == "tap":
        return "".join(x[4:] + "\n" for x in done.stdout.split("message: |2\n")[1].split("\n  ...")[0].split("\n"))
    return done.stdout.split("\n", 1)[1].rsplit("\n", 2)[0] + "\n"


def parts_of(message):
    """The message without its command, and the command or None."""
    lines = message.split("\n")
    commands = [x.removeprefix("  again: ") for x in lines if x.startswith("  again: ")]
    ensure(len(commands) <= 1, f"more than one command: {message}")
    return "\n".join(x for x in lines if not x.startswith("  again: ")).strip(), commands[0] if commands else None


def arguments(way, name):
    path = "./" + name if name.startswith("-") else name
    if way == "script":
        return [path]
    if way == "run":
        return ["run", path]
    return ["test", path] + {"test": [], "junit": ["--junit", "junit.xml"]}.get(way, ["--format", way])


class Again:
    """Runs the program in the working directory, in which a shell finds it too."""

    def __init__(self, path):
        self.path = path
        self.env = {**os.environ, "PATH": f"{os.path.dirname(path)}:{os.environ['PATH']}"}
        self.env.pop("GITHUB_ACTIONS", None)
        self.failures = 0

    def run(self, args):
        return subprocess.run([self.path, *args], text=True, errors="surrogateescape", capture_output=True, env=self.env,
                              timeout=TIMEOUT_S, check=False)

    def is_readable(self, name):
        return self.run(["test", "--list", "./" + name]).returncode == 0

    def check(self, way, name, args):
        """Runs it, and once more as its failure says."""
        done = self.run(args)
        if done.returncode == 0:
            return
        ensure(done.returncode > 0, f"ended by signal {-done.returncode}")
        message, command = parts_of(message_of(way, name, done))
        if command is None:
            ensure(not self.is_readable(name), f"says nothing to do again: {message}")
            return
        ensure(command.isprintable(), f"not printable: {command!r}")
        self.failures += 1
        again = subprocess.run(["sh", "-c", command], text=True, errors="surrogateescape", capture_output=True,
                               env=self.env, timeout=TIMEOUT_S, check=False)
        ensure(again.returncode == done.returncode,
               f"{command}: exits with {again.returncode}, and first with {done.returncode}: {message}\n{again.stderr}")
        way = "test" if command.startswith("rdmalab test") else "run"
        other, same = parts_of(message_of(way, name, again))
        ensure(other == message, f"{command}: another message:\n{other}\n--- first it was\n{message}")
        ensure(same == command, f"{command}: says another command: {same}")


# --- The checks ----------------------------------------------------------------------------------


def check_samples(again, tally):
    for name, (args, text) in SAMPLES.items():
        pathlib.Path(name).write_text(text)
        way = args[0] if args[0] in ("run", "test") else "script"
        tally.expect(*tried(again, way, name, args + ([name] if text else [])))
    for sample in sorted((ROOT / "tests/bad").glob("*.json")):
        pathlib.Path(sample.name).write_bytes(sample.read_bytes())
        for way in WAYS:
            tally.expect(*tried(again, way, sample.name, arguments(way, sample.name)))


def cells_of(report):
    """The runs of a fault matrix that came to another outcome."""
    return [cell for packet in report["packets"] for cell in packet.values() if isinstance(cell, dict) and not cell["same"]]


def check_matrix(again, name, args):
    """Each run of the matrix that came to another outcome does so alone."""
    done = again.run(["test", name, "--fault-matrix", "--format", "json", *args])
    report = json.loads(done.stdout)[0]
    cells = cells_of(report) if report else [{"status": done.returncode, "again": parts_of(done.stderr)[1]}]
    ensure(cells and done.returncode == max(c["status"] for c in cells), f"exits with {done.returncode}: {cells}")
    for cell in cells:
        ensure(cell["again"], f"says nothing to do again: {cell}")
        alone = subprocess.run(["sh", "-c", cell["again"] + " --format json"], text=True, capture_output=True, env=again.env,
                               timeout=TIMEOUT_S, check=False)
        ensure(alone.returncode == cell["status"], f"{cell}: exits with {alone.returncode}: {alone.stdout}{alone.stderr}")
        if report:
            ensure(cells_of(json.loads(alone.stdout)[0]) == [cell], f"{cell}: another outcome: {alone.stdout}")
        else:
            ensure(alone.stderr == done.stderr, f"{cell}: another message: {alone.stderr}")
        again.failures += 1
    if report:
        text = again.run(["test", name, "--fault-matrix", *args]).stdout
        lines = sorted(x.removeprefix("  again: ") for x in text.split("\n") if x.startswith("  again: "))
        ensure(lines == sorted(c["again"] for c in cells), f"the table says {lines}")


def check_matrices(again, tally):
    for name, (args, text) in MATRICES.items():
        pathlib.Path(name).write_text(text)
        try:
            check_matrix(again, name, args)
            tally.expect(True, "")
        except (Failure, subprocess.TimeoutExpired, ValueError) as error:
            tally.expect(False, f"rdmalab test {name} --fault-matrix: {error}")


def tried(again, way, name, args):
    try:
        again.check(way, name, args)
        return True, ""
    except (Failure, StopIteration, subprocess.TimeoutExpired, xml.etree.ElementTree.ParseError, ValueError) as error:
        return False, f"rdmalab {' '.join(args)}: {error!r}" if not isinstance(error, Failure) else \
            f"rdmalab {' '.join(args)}: {error}"


def is_live(scenario):
    return any(step["do"] in LIVE for steps in lists_of(scenario["steps"]) for step in steps)


def check_mutants(again, tally, n, seed):
    files = sorted((ROOT / "scenarios").glob("*.json"))
    for number in range(seed, seed + n):
        rng = random.Random(number)
        file = rng.choice(files)
        scenario = json.loads(file.read_text())
        if is_live(scenario) or "skip" in scenario:
            continue
        new, kind = mutant(scenario, rng)
        name, way = rng.choice(NAMES), rng.choice(WAYS)
        pathlib.Path(name).write_text(json.dumps(new))
        right, what = tried(again, way, name, arguments(way, name))
        tally.expect(right, f"--seed {number} --mutants 1: {file.name}, {kind}: {what}")
        pathlib.Path(name).unlink()


def check_aborts(again, tally):
    """The command after an abort is one that the program takes."""
    pathlib.Path("for ever.lab").write_text("scenario ticks=1000000000000\n" + FOREVER)
    ways = [["run", "for ever.lab"], ["for ever.lab"], ["swarm", "--seeds", "1..1000000", "--no-shrink"],
            ["swarm", "--drill", "keys", "--seeds", "1..1000000"], ["swarm", "--outside", "--seeds", "1..1000000"],
            ["swarm", "--matrix"]]
    for args in ways:
        process = subprocess.Popen([again.path, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
        _, err = process.communicate()
        command = err.partition("to see it again: ")[2].strip()
        tally.expect(command.startswith("rdmalab "), f"{args}: {err}")
        if "swarm" in command:
            done = subprocess.run(["sh", "-c", command], env=again.env, capture_output=True, text=True, timeout=TIMEOUT_S,
                                  check=False)
            tally.expect(done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("rdmalab")
    parser.add_argument("--mutants", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = whole.Tally()
    again = Again(str(pathlib.Path(options.rdmalab).resolve()))
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        if options.mutants > 1:
            check_samples(again, tally)
            check_matrices(again, tally)
            check_aborts(again, tally)
        check_mutants(again, tally, options.mutants, options.seed)
        os.chdir("/")
    if options.mutants >= 100:
        tally.expect(again.failures * 5 > options.mutants, f"only {again.failures} of {options.mutants} changes failed")
    print(f"{again.failures} failures came again")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
