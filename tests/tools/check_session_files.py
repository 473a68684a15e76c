#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Session files: what the whole program does with the file, right, changed, cut or of another version.

usage: check_session_files.py RDMALAB

Each function check_NAME is one check.
"""
import re
import sys

import program as whole
from program import ensure


def check_world_scripts(program):
    """A random world or a drill, told as a script, happens again event by event."""
    for seed in ["2", "5", "21"]:
        world = program.run("swarm", "--seed", seed, "--script", "world.lab", "--hash")
        again = program.run("run", "world.lab", "--hash")
        ensure(world.returncode == 0 and again.returncode == 0, f"{world.stderr}{again.stderr}")
        told = re.search(r"hash [0-9a-f]{16}", world.stdout).group()
        ensure(told in again.stdout, f"seed {seed}: {told} became {again.stdout[-200:]}")
    n_scenarios = 0
    for seed in map(str, range(1, 16)):
        drill = program.run("swarm", "--drill", "messages", "--seed", seed, "--script", "drill.lab", "--hash")
        if "drill.lab is no scenario" in drill.stdout:  # a step of it has no line
            continue
        again = program.run("run", "drill.lab", "--hash")
        told = re.search(r"hash [0-9a-f]{16}", drill.stdout).group()
        ensure(told in again.stdout, f"drill {seed}: {told} became {again.stdout[-200:]}{again.stderr}")
        n_scenarios += 1
    ensure(n_scenarios > 2, f"{n_scenarios} scripts of drills of messages are scenarios")
    n_scenarios = 0
    for kind in ["device", "keys"]:
        for seed in ["2", "4", "5", "8", "11", "17", "23", "49"]:
            drill = program.run("swarm", "--drill", kind, "--seed", seed, "--script", "drill.lab")
            if "as a scenario: rdmalab run drill.lab" not in drill.stdout:
                ensure("drill.lab is no scenario" in drill.stdout, drill.stdout + drill.stderr)
                continue
            again = program.run("run", "drill.lab")
            ensure(again.returncode == 0, f"drill of {kind}, seed {seed}: {again.stdout[-200:]}{again.stderr}")
            n_scenarios += 1
    ensure(n_scenarios > 8, f"{n_scenarios} scripts of drills are scenarios")
    result = program.run("swarm", "--seed", "2", "--script", "/nowhere/world.lab")
    ensure(result.stderr == "rdmalab: --script /nowhere/world.lab: No such file or directory\n", result.stderr)


SESSION = whole.PAIR + """repeat 3 { post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; run }
checkpoint before
ping h1 h2
back
write h1.mr[0] "other"
ping h1 h2 count=2
back 3 tick
"""


def check_session_files(program):
    """A session file opens in its place, and what is done there leads where it would have led."""
    later = "futures\nback\nredo\nping h1 h2\nfuture was1\nback 2\nsession save NAME\n"
    straight = program.run("--prompt", stdin=SESSION + later.replace("NAME", "straight.lab"))
    ensure(straight.returncode == 0, straight.stdout)
    saved = program.run(stdin=SESSION + "save world w.json\n")
    ensure(saved.returncode == 0 and '"rdmalab open w.json" goes on here' in saved.stdout, saved.stderr)
    opened = program.run("open", "w.json", "--prompt", stdin=later.replace("NAME", "opened.lab"))
    ensure(re.match(r'w\.json: \d+ ticks done again, at #\d+ of #\d+, in "main"; "futures" lists', opened.stdout), opened.stdout)
    first = opened.stdout.index("> futures\n")
    ensure(straight.stdout.replace("straight.lab", "opened.lab").endswith(opened.stdout[first:]), opened.stdout)
    a, b = (program.file(name).read_text().replace(name[:-4], "") for name in ("straight.lab", "opened.lab"))
    ensure(a == b, f"{a}\n{b}")
    again = program.run("open", "w.json", "-c", "save world w2.json", "-c", "futures")
    ensure(again.returncode == 0 and "was1" in again.stdout, again.stderr)
    ensure(program.file("w.json").read_text() == program.file("w2.json").read_text(), "it is not written as it was read")
    for args in [("run", "w.json"), ("test", "w.json"), ("w.json",), ("-c", "source w.json"), ("convert", "w.json", "c.lab")]:
        result = program.run(*args)
        ensure(result.returncode != 0 and '"rdmalab open FILE" goes on in it' in result.stdout + result.stderr, f"{args}: {result}")
    seeded = program.run("open", "w.json", "--seed", "2")
    ensure(seeded.returncode == 2 and "--seed: a world has its seed" in seeded.stderr, seeded)
    failing = program.run("open", "w.json", stdin="expect t == 5s\nhost h9\n")
    ensure(failing.returncode == 1 and "standard input:1:" in failing.stderr, f"{failing}")


def check_changed_session_files(program):
    """A session file that was changed, cut, or written by another version opens as far as that makes sense."""
    program.run(stdin=SESSION + "save world w.json\n")
    text = program.file("w.json").read_text()
    version = re.search(r'"rdmalab": "[^"]*"', text).group()
    older = text.replace(version, '"rdmalab": "0.0.1"')
    longer = text.replace('"to": "h2", "count": 2}, "ticks": 1', '"to": "h2", "count": 2}, "ticks": 2')
    other = text.replace('"to": "h2", "count": 2', '"to": "h2", "count": 3')
    ensure(len({text, older, longer, other}) == 4, text)
    for changed, status, says in [
            (older, 0, "rdmalab 0.0.1 wrote it, and in [0-9.]+ all goes as it did"),
            (longer, 1, "goes another way here(.|\n)*the file was changed, or this is a bug"),
            (other, 1, "the first command that went another way, in \"main\": ping h1 h2 count=3"),
            (longer.replace(version, '"rdmalab": "0.0.1"'), 0, "warning: rdmalab 0.0.1 wrote it(.|\n)*ping h1 h2 count=2"),
            (other.replace(version, '"rdmalab": "0.0.1"'), 0, "warning: rdmalab 0.0.1 wrote it(.|\n)*at the end, #"),
            (text.replace('"world": 1', '"world": 2'), 2, "c.json:2:12: error: world: this world has form 2"),
            (text.replace('"seed": 1', '"seed": {}'), 2, "c.json:4:11: error: seed: this must be a whole number"),
            (text.replace('"seed": 1', '"seed": 1, "later": 1'), 0, 'c.json:4:14: warning: "later" is not known here')]:
        program.file("c.json").write_text(changed)
        result = program.run("open", "c.json", "-c", "futures")
        ensure(result.returncode == status, f"exits with {result.returncode}, not {status}: {result.stderr}")
        ensure(re.search(says, result.stderr + result.stdout), f"nothing matches {says}: {result.stderr}{result.stdout}")
        ensure(status == 0 or not result.stdout, f"there was a prompt: {result.stdout}")
    for n in range(0, len(text) - 2, len(text) // 40):
        program.file("c.json").write_text(text[:n])
        result = program.run("open", "c.json")
        ensure(result.returncode == 2 and re.search(r"^c\.json:(\d+:\d+:)? error: ", result.stderr), f"{n} bytes: {result}")


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, {}, [], globals()))
