#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""maps.py [--every N] RDMALAB SCENARIO...: does Graphviz read the graphs of `export` as they are meant?

Each scenario gets steps at its end that export its map, as DOT and as a table, and the causes of the event that `why`
would choose.  `dot` must parse them without a warning, and find the objects of the table and no other box.  It must
read the graphs in the golden files of the unit tests, too, and names that do harm in DOT must be labels as they are.
With --every N, each Nth scenario.  Ends with "N passed, N failed".
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HOSTILE = 'a"b\\<script>&lt;--></svg>\\N'  # as in tests/unit/viz/test_graph.c, without control characters
UNIT = pathlib.Path(__file__).parent.parent / "unit"
GOLDEN = UNIT / "viz/test_graph.golden"
GRAPHS = UNIT / "cli/graph/test_graphs.golden"
SECTION = "=== hostile names as DOT\n"
ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


def parse(text):
    """The graphs in @text as Graphviz understands them, and what it complains of."""
    run = subprocess.run(["dot", "-Tjson0"], input=text, capture_output=True, text=True, check=False, timeout=60)
    if run.returncode or run.stderr:
        return None, run.stderr or "dot failed"
    graphs, rest = [], run.stdout.strip()
    while rest:
        graph, end = json.JSONDecoder().raw_decode(rest)
        graphs.append(graph)
        rest = rest[end:].strip()
    return graphs, ""


def boxes(graph):
    """The nodes: their IDs with their attributes.  A subgraph has nodes itself."""
    return {box["name"]: box for box in graph.get("objects", []) if "nodes" not in box and "label" in box
            and not box["name"].startswith("cluster")}


def ends_alone(graph):
    """The boxes that are there only because an arrow leads to them."""
    return [f"{name} is only the end of an arrow" for name, box in boxes(graph).items() if "class" not in box]


def is_of_guest(row):
    """Is @row the link of a guest with its machine?"""
    return row["kind"] == "link" and (row["what"].startswith("vf ") or row["what"] in ("no function", "shared port"))


def judge_map(graph, rows):
    """Returns the faults of a map, whose table is @rows."""
    found = boxes(graph)
    expected = {row["object"] for row in rows if row["kind"] != "link"}
    more = {name for name in found if " more " in name or name == "control centre"}
    wrong = [f"no box for {name}" for name in expected - found.keys()]
    wrong += [f"a box for {name}, which is not in the table" for name in found.keys() - expected - more]
    names = {box["_gvid"]: name for name, box in found.items()}
    arrows = {(names[edge["tail"]], names[edge["head"]])[::-1 if edge.get("dir") == "back" else 1]
              for edge in graph.get("edges", [])}
    wrong += [f"no arrow from {row['object']} to {row['of']}" for row in rows
              if row.get("of") and (row["object"], row["of"]) not in arrows]
    linked = {names[edge[end]] for edge in graph.get("edges", []) for end in ("tail", "head") if edge.get("style") != "invis"}
    places = {row["object"]: tuple(map(float, found[row["object"]]["pos"].split(","))) for row in rows
              if row["kind"] == "host" and row["object"] in found}
    machines = {guest: machine for guest, machine in (row["object"].split("-", 1) for row in rows if is_of_guest(row))}
    hosts = [place for host, place in places.items()
             if host in linked and host not in machines]  # Graphviz puts others anywhere in the row
    # Graphviz 2.43 swaps a machine and the host beside it at times if a connection of a guest passes over the machine.
    if len({y for _, y in hosts}) > 1 or (hosts != sorted(hosts) and not machines):
        wrong.append(f"hosts are not beside each other, in their order: {hosts}")
    for machine in set(machines.values()):
        heights = [places[guest][1] for guest in places if machines.get(guest) == machine]
        if heights != sorted(heights, reverse=True):
            wrong.append(f"guests of {machine} are not below each other, in their order: {heights}")
    return wrong


def judge(files, rows):
    """Returns the faults of the graphs of a scenario."""
    graphs = []
    for name in sorted(files):  # the map is the first one; Graphviz 2.43 crashes at times when it reads two at once
        graph, wrong = parse(files[name])
        if graph is None or len(graph) != 1:
            return [wrong or f"{name}: {len(graph)} graphs"]
        graphs += graph
    return judge_map(graphs[0], rows) + [text for graph in graphs for text in ends_alone(graph)]


def judge_hostile():
    """Returns the faults of names that would do harm."""
    text = GOLDEN.read_text(encoding="utf-8").split(SECTION)[1].split("\n=== ")[0]
    graphs, wrong = parse(text)
    if graphs is None:
        return [wrong]
    graph = graphs[0]
    labels = {box["label"] for box in graph["objects"]} | {edge.get("label") for edge in graph["edges"]}
    shown = set()
    for label in labels:
        label = (label or "").replace("\\\\", "\\")
        for entity, character in ENTITIES:
            label = label.replace(entity, character)
        shown.add(label)
    return [] if HOSTILE in shown else [f"no label is {HOSTILE!r}, but {sorted(shown)}"]


def judge_goldens():
    """Returns the faults of the graphs in golden files."""
    wrong = []
    for path in GOLDEN, GRAPHS:
        for section in path.read_text(encoding="utf-8").split("=== ")[1:]:
            title, text = section.split("\n", 1)
            graphs, complaint = parse(text) if "digraph" in text else ([], "")
            wrong += [f"{title}: {complaint}"] if complaint else []
            wrong += [f"{title}: {alone}" for graph in graphs or [] for alone in ends_alone(graph)]
    return wrong


def run(rdmalab, scenario, room):
    """Runs @scenario with exports at its end.  Returns the files, the table of the map (None: there is none), and
    the process."""
    data = json.loads(scenario.read_text(encoding="utf-8"))
    data["steps"] += [{"do": "export", "form": "map", "file": "map.dot"},
                      {"do": "export", "form": "why", "file": "why.dot"},
                      {"do": "show", "what": ["map"], "format": "json"}]
    data.pop("shows", None)
    (room / "scenario.json").write_text(json.dumps(data), encoding="utf-8")
    for old in room.glob("*.dot"):
        old.unlink()
    done = subprocess.run([rdmalab, "run", room / "scenario.json"], capture_output=True, text=True, check=False,
                          timeout=120)
    files = {path.name: path.read_text(encoding="utf-8") for path in room.glob("*.dot")}
    start = ("\n" + done.stdout).rfind("\n[")
    rows = json.JSONDecoder().raw_decode(done.stdout[start:])[0] if "map.dot" in files and start >= 0 else None
    return files, rows, done


def main():
    args, every = sys.argv[1:], 1
    if args[:1] == ["--every"] and len(args) > 1:
        every, args = int(args[1]), args[2:]
    if len(args) < 2:
        sys.exit(__doc__)
    scenarios = [pathlib.Path(arg) for arg in args[1:] if arg.endswith(".json")][::every]
    passed = failed = without = 0
    wrong = judge_hostile() + judge_goldens()
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        for path in [None, *scenarios]:
            if path:
                files, rows, done = run(args[0], path, room)
                if "map.dot" not in files or rows is None:
                    # It ends before its last step: it must be skipped, or expects to fail.
                    if done.returncode == 0:
                        wrong = ["no map was exported"]
                    else:
                        without += 1
                        continue
                else:
                    wrong = judge(files, rows)
            for text in wrong:
                print(f"{path or 'unit tests'}: {text}")
            failed += bool(wrong)
            passed += not wrong
    if passed < 10 * without:
        print(f"{without} scenarios ended before a map of them was made")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
