#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does every layer include, and link, only what is below it?

usage: check_layers.py [--self-test] [ROOT]

The table MAY_USE is the architecture.  A layer may always use itself and the public headers;
the public headers use nothing but libc and each other.  --self-test plants violations of each
kind in a copy of the tree and proves that they are found.

ROWS_MAX limits how many sources a new row of a table of facts, or a new field of an event, compiles
again.
"""
import functools
import pathlib
import re
import shutil
import sys
import tempfile

MAY_USE = {  # layer -> layers it may include; order is bottom to top
    "base":   [],
    "facts":  ["base"],
    "trace":  ["base", "facts"],
    "wire":   ["base", "facts"],
    "mem":    ["base", "facts", "trace"],
    "sim":    ["base", "trace"],
    "net":    ["base", "facts", "trace", "wire", "sim"],
    # a PCI function, which knows no device
    "pci":    ["base", "facts", "trace", "sim"],
    "virtio": ["base", "facts", "trace", "mem", "sim", "pci"],
    "hca":    ["base", "facts", "trace", "mem", "sim"],
    "xport":  ["base", "facts", "trace", "wire", "mem", "sim", "hca"],
    # an adapter, which knows no interface to a guest: no virtio
    "rnic":   ["base", "facts", "trace", "wire", "mem", "sim", "net", "pci", "hca", "xport"],
    "device": ["base", "facts", "trace", "wire", "mem", "sim", "net", "pci", "virtio", "hca", "xport",
               "rnic"],
    # a network on verbs, for guests and for programs: it reaches both by a table of operations
    "lnet":   ["base", "facts", "wire"],
    # the folders of a guest, which sees devices only as registers, memory and interrupts
    "guest/pci":         ["base", "facts", "mem"],
    "guest/virtio":      ["base", "facts", "trace", "mem", "virtio", "guest/pci"],
    "guest/cm":          ["base", "facts", "wire"],
    "guest/ip":          ["base", "facts", "trace", "wire", "mem", "sim", "virtio", "guest/pci", "guest/virtio"],
    "guest/verbs":       ["base", "facts", "trace", "wire", "mem"],
    # a guest, which does not know which driver of an RDMA device it loads
    "guest/machine":     ["base", "facts", "trace", "wire", "mem", "sim", "virtio", "guest/pci", "guest/virtio", "guest/cm",
                          "guest/ip", "guest/cm", "guest/verbs"],
    "guest/lnet":        ["base", "facts", "trace", "wire", "mem", "sim", "lnet", "guest/cm", "guest/verbs",
                          "guest/machine"],
    "guest/virtio_rdma": ["base", "facts", "trace", "wire", "mem", "virtio", "guest/pci", "guest/virtio",
                          "guest/verbs", "guest/machine"],
    "guest/pvrdma":      ["base", "facts", "trace", "wire", "mem", "guest/pci", "guest/verbs", "guest/machine"],
    "lab":    ["base", "facts", "trace", "wire", "mem", "sim", "net", "pci", "virtio", "hca",
               "xport", "rnic", "device", "guest/pci", "guest/virtio", "guest/ip", "guest/verbs", "guest/machine",
               "guest/virtio_rdma", "guest/pvrdma", "lnet", "guest/lnet"],
    # what happened, from the events of a lab or of a saved trace
    "past":   ["base", "facts", "trace", "wire"],
    # pictures are made from pasts and inspect trees alone
    "viz":    ["base", "facts", "trace", "wire", "past"],
}

EMU = [layer for layer in MAY_USE if layer not in ("viz", "lnet")]  # those under src/emu

# Around the engine: what reaches a lab only through include/rdmalab.  All use events and frames.
EVENTS = ["base", "facts", "trace", "wire"]
AROUND = {  # folder of src -> layers and folders that it may include in addition
    "process":  [],
    "print":    ["process"],
    "tree":     ["past", "process", "print"],
    # the libraries that programs get, and the bytes of them: no lab is in there
    "program":  [],
    "program/files": ["program"],
    "program/ibverbs": ["program"],
    "testbed":  [],
    # the rules of the wire are stated again there: it knows frames alone
    "watcher":  [],
    # the model states again what a world may show: it knows frames, names and public functions alone
    "swarm/draw":    [],
    "swarm/worlds":  ["process", "print", "watcher", "swarm/draw"],
    "swarm/drills":  ["process", "print", "swarm/draw"],
    "swarm/outside": ["process", "print", "tree", "testbed"],
    "swarm/seeds":   ["process", "print", "swarm/worlds", "swarm/drills"],
    # captures of others: it knows nothing of a lab
    "capture":  ["past", "process", "print", "watcher"],
    "bench":    ["testbed"],
    # a program on libibverbs, which knows no lab
    "lnetd":    ["lnet"],
}
CLI = {  # folder of src/cli -> what it may include in addition; all may include process and print
    "lang":       ["viz"],
    "trace_file": ["past", "cli/lang"],
    "programs":   ["tree", "cli/lang"],
    "live":       ["program", "cli/programs"],
    "why":        ["past", "tree", "cli/lang"],
    "help":       ["cli/lang"],
    "explain":    ["viz", "cli/lang", "cli/help"],
    "export":     ["past", "viz", "cli/lang", "cli/trace_file"],
    "graph":      ["past", "viz", "tree", "cli/lang", "cli/why"],
    "show":       ["past", "viz", "tree", "cli/lang", "cli/trace_file", "cli/programs", "cli/live",
                   "cli/why", "cli/explain", "cli/graph"],
    "timeline":   ["past", "viz", "cli/lang", "cli/why", "cli/show", "cli/export"],
    "session":    ["past", "viz", "tree", "cli/lang", "cli/trace_file", "cli/programs", "cli/live",
                   "cli/why", "cli/explain", "cli/export", "cli/show"],
    "session_file": ["cli/lang", "cli/session"],
    "diff":       ["past", "viz", "tree", "cli/lang", "cli/session"],
    "complete":   ["tree", "cli/lang", "cli/help", "cli/explain", "cli/show", "cli/session"],
    "lessons":    ["cli/lang", "cli/explain", "cli/session"],
    "cmd":        ["past", "viz", "tree", "cli/lang", "cli/trace_file", "cli/programs", "cli/live",
                   "cli/why", "cli/help", "cli/explain", "cli/export", "cli/graph", "cli/show",
                   "cli/session", "cli/complete", "cli/lessons", "cli/timeline"],
    # whatever carries out a step, or replays: no command in cmd can do that
    "exec":       ["past", "tree", "cli/lang", "cli/live", "cli/session", "cli/session_file",
                   "cli/diff", "cli/lessons", "cli/cmd"],
    # lessons of the tour, which execute commands
    "tour":       ["cli/lang", "cli/session", "cli/exec"],
    "app":        ["past", "viz", "tree", "testbed", "swarm/worlds", "swarm/drills", "swarm/outside",
                   "swarm/seeds", "capture", "bench", "cli/lang", "cli/trace_file", "cli/programs",
                   "cli/live", "cli/why", "cli/help", "cli/explain", "cli/export", "cli/graph", "cli/show",
                   "cli/session", "cli/session_file", "cli/diff", "cli/complete", "cli/lessons",
                   "cli/cmd", "cli/exec", "cli/tour", "cli/timeline"],
}
MAY_USE |= {folder: [*EVENTS, *others] for folder, others in AROUND.items()}
MAY_USE |= {f"cli/{folder}": [*EVENTS, "process", "print", *others] for folder, others in CLI.items()}

# Those that ask a lab link it.
ASK_THE_LAB = {"tree", "testbed", "swarm/worlds", "swarm/drills", "swarm/outside", "swarm/seeds",
               "bench", *(f"cli/{folder}" for folder in CLI)} - {"cli/lang", "cli/trace_file", "cli/help"}
MAY_LINK = {layer: [*others, "lab"] if layer in ASK_THE_LAB else others for layer, others in MAY_USE.items()}

# System headers and Meson dependencies that belong to some layers.
HEADER_ONLY_IN = {"uv.h": ("cli/live",), "readline/": ("cli/app",),
                  "cjson/": ("cli/lang", "cli/trace_file", "cli/session_file"), "isa-l": ("wire",), "zlib.h": ("capture",)}
LIBRARY_ONLY_IN = {"libuv": ("cli/live", "cli/app"), "readline": ("cli/app",), "isal": ("wire",),
                   "cjson": ("cli/lang", "cli/trace_file", "cli/session_file")}

# The facts of virtio, and those of virtio-rdma.  leaf.h has the rows of virtio_rdma/config.def as words of the tree.
VIRTIO = ("emu/facts/regs.h", "emu/facts/virtio/", "emu/virtio/")
VIRTIO_RDMA = ("emu/facts/device.h", "emu/facts/rfc.h",
               *(f"emu/facts/virtio_rdma/{name}" for name in ("config.h", "ctrl_", "layout", "refusal_")))

# What a layer must not know even through headers of others.
IGNORANT_OF = {
    # the verbs are the same for every driver
    "guest/verbs": (*VIRTIO, *VIRTIO_RDMA, "emu/guest/pci/", "emu/guest/virtio/", "emu/guest/virtio_rdma/"),
    # so is the rest of a guest, whose NIC is virtio-net
    "guest/machine": (*VIRTIO_RDMA, "emu/guest/virtio_rdma/"),
    # and PCI functions, and an adapter, and a device that is not virtio's
    **{neutral: (*VIRTIO, *VIRTIO_RDMA) for neutral in ("pci", "guest/pci", "hca", "xport", "rnic", "device/pvrdma")},
    **{judge: ("emu/facts/profiles.def", "emu/facts/profile.h")
       for judge in ("watcher", "swarm/worlds", "swarm/drills")},
}

# The history of a session: only who is about it includes its members.
HISTORY = "cli/session/history.h"
ABOUT_THE_HISTORY = ("src/cli/session/", "src/cli/session_file/", "src/cli/diff/", "src/cli/complete/", "src/cli/exec/",
                     "src/cli/app/",
                     "src/cli/cmd/cmd_history.c")

# How many sources of src are compiled again when a table gets another row, or an event another field:
# those that include the file with the rows, directly or not.  Each file of FACTS with rows has the
# limit ROWS_MAX, if ROWS_MAX_OF does not give it another one.
FACTS = "emu/facts/"
HAS_ROWS = re.compile(r"^#define ENUM_\w+\(X\)", re.MULTILINE)
ROWS_MAX = 100
ROWS_MAX_OF = {
    "emu/trace/events/": 185,      # fields of events: their emitters, and the readers of all events
    "emu/trace/kinds.def": 185,
    "emu/trace/ftypes.def": 210,
    # a new enumeration: its name is declared wherever names are printed
    "emu/facts/enums.def": 640,
    # leaves of the inspect tree: the lab says them, and the command layer reads them
    "emu/facts/leaves.def": 230,
    "emu/facts/leaf.h": 230,
    "emu/facts/virtio_rdma/config.def": 231,  # leaves, too
    "emu/facts/virtio/feature.h": 116,
    # kinds of objects, which most commands name
    "emu/facts/enum/object.h": 120,
    "emu/facts/enum/access.h": 105,   # access of regions and queue pairs: programs name it
    "emu/facts/enum/qp_state.h": 102, # states of queue pairs, which `why` and `why not` ask for
    "emu/facts/enum/qp_type.h": 105,  # types of queue pairs: drills, too
    # members of structs that others hold by value
    "emu/facts/counters.def": 295,
    "emu/facts/pvrdma/counters.def": 240,
}

# A host has devices of several kinds: it points to them.  What it may hold of their layer: the socket that
# all functions of a slot share, and the pointers to a device.
HOST = "src/emu/lab/lab_state.h"
HOST_MAY_HOLD = {"eth_port", "rdma_device"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def is_in_emu(layer):
    return layer.partition("/")[0] in ("guest", *EMU)


def layer_dir(root, layer):
    return root / "src" / "emu" / layer if is_in_emu(layer) else root / "src" / layer


def dependency(layer):
    """What Meson calls it, without _dep."""
    return layer.replace("/", "_")


def layer_of(include):
    """The layer that an include path names: "public", None for anything else."""
    first, *rest = include.split("/")
    if first == "rdmalab":
        return "public"
    folders = rest if first == "emu" else [first, *rest]
    for layer in ("/".join(folders[:1]), "/".join(folders[:2])):
        if layer in MAY_USE and is_in_emu(layer) == (first == "emu"):
            return layer
    return None


@functools.lru_cache(maxsize=None)
def includes_then(path, _time, _size):
    """Line, quotes and name of each include of a file, which is read again when it has changed."""
    return [(number, match[1] == '"', match[2]) for number, line in enumerate(path.read_text().splitlines(), 1)
            if (match := INCLUDE.match(line))]


def includes(path):
    now = path.stat()
    return includes_then(path, now.st_mtime_ns, now.st_size)


def check_include(layer, quoted, name):
    """What is wrong with @layer including @name; None if nothing is."""
    if not quoted:
        for header, owner in HEADER_ONLY_IN.items():
            if name.startswith(header) and layer not in owner:
                return f"<{name}> belongs to {', '.join(owner)}, not to {layer}"
        return None
    target = layer_of(name)
    if target is None:
        return f'"{name}" does not begin with a layer: write the path from src/ or include/'
    if target not in ("public", layer, *MAY_USE.get(layer, [])):
        return f'{layer} must not include "{name}"'
    return None


def check_sources(root):
    for layer in ("public", *MAY_USE):
        top = root / "include" / "rdmalab" if layer == "public" else layer_dir(root, layer)
        inner = [layer_dir(root, other) for other in MAY_USE if other.startswith(f"{layer}/")]
        for path in sorted(p for p in top.rglob("*") if p.suffix in (".c", ".h", ".def") and p.parent not in inner):
            for number, quoted, name in includes(path):
                if problem := check_include(layer, quoted, name):
                    yield f"{path.relative_to(root)}:{number}: {problem}"


def check_meson(root):
    for layer in MAY_USE:
        path = layer_dir(root, layer) / "meson.build"
        where = path.relative_to(root)
        inner = [layer_dir(root, other) for other in MAY_USE if other.startswith(f"{layer}/")]
        sources = sorted(source for source in path.parent.rglob("*.c") if not inner or source.parent not in inner)
        if not path.exists():
            if sources:
                yield f"{where}: missing, but there are sources"
            continue
        text = "\n".join(line.partition("#")[0] for line in path.read_text().splitlines())
        for other in MAY_USE:
            linked = re.search(rf"\b{dependency(other)}_dep\b", text)
            if linked and other != layer and other not in MAY_LINK[layer]:
                yield f"{where}: {layer} must not link {other}"
        for library, owner in LIBRARY_ONLY_IN.items():
            if re.search(rf"\b{library}\b", text) and layer not in owner:
                yield f"{where}: {library} belongs to {', '.join(owner)}, not to {layer}"
        for source in (s.relative_to(path.parent).as_posix() for s in sources):
            if f"'{source}'" not in text:
                yield f"{where}: {source} is not built"


def check_directories(root):
    for path in sorted((root / "src").rglob("*.[ch]")):
        if layer_of(path.relative_to(root / "src").as_posix()) in (None, "public"):
            yield f"{path.relative_to(root)}: in no layer"


def quoted_includes(root):
    """The project's files that each file of src and include includes, all by their paths in includes."""
    files = {path.relative_to(top).as_posix(): path for top in (root / "src", root / "include")
             for path in top.rglob("*") if path.suffix in (".c", ".h", ".def")}
    return {name: [n for _, quoted, n in includes(path) if quoted and n in files]
            for name, path in files.items()}


def reached(graph, start):
    """The files that @start includes, directly or not, and the way to each."""
    found, todo = {}, [(start, "")]
    while todo:
        at, way = todo.pop()
        for name in graph[at]:
            if name not in found:
                found[name] = f"{way}{name}"
                todo.append((name, f"{way}{name} -> "))
    return found


def check_ignorance(root, graph):
    for layer, unknown in IGNORANT_OF.items():
        for path in sorted(p for p in layer_dir(root, layer).rglob("*") if p.suffix in (".c", ".h", ".def")):
            for name, way in reached(graph, path.relative_to(root / "src").as_posix()).items():
                if name.startswith(unknown):
                    yield f"{path.relative_to(root)}: {layer} must not know {name}: {way}"


def check_history(root, graph):
    """Commands do not know the history of the session."""
    for start in sorted(graph):
        if start.startswith("cli/") and not f"src/{start}".startswith(ABOUT_THE_HISTORY):
            if way := reached(graph, start).get(HISTORY):
                yield f"src/{start}: it is not about the history, and must not know {HISTORY}: {way}"


def includers(graph):
    """For each file that is included: the number of sources that reach it."""
    found = dict.fromkeys(graph, 0)
    for source in (name for name in graph if name.endswith(".c")):
        for name in reached(graph, source):
            found[name] += 1
    return found


def check_reach(root, graph):
    """A new row, or a new field of an event, must not compile too much again."""
    for name, sources in sorted(includers(graph).items()):
        rows = name.startswith(FACTS) and (name.endswith(".def")
                                           or HAS_ROWS.search((root / "src" / name).read_text()))
        most = next((n for prefix, n in ROWS_MAX_OF.items() if name.startswith(prefix)),
                    ROWS_MAX if rows else sources)
        if sources > most:
            yield f"src/{name}: a new row compiles {sources} sources again (most: {most})"


STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
MEMBER_BY_VALUE = re.compile(r"^\s*struct (\w+) \w+(?:\[\w+\])?;", re.MULTILINE)


def check_host(root):
    """No device is held by value in struct host."""
    devices = {name for folder in ("device", "rnic")
               for path in sorted((root / "src/emu" / folder).glob("*.h"))
               for name, _ in STRUCT.findall(path.read_text())} - HOST_MAY_HOLD
    hosts = [body for name, body in STRUCT.findall((root / HOST).read_text()) if name == "host"]
    if len(hosts) != 1:
        yield f"{HOST}: no struct host to look at"
    for name in (n for body in hosts for n in MEMBER_BY_VALUE.findall(body)):
        if name in devices:
            yield f"{HOST}: struct host holds a struct {name}: devices are pointed to"


def check(root):
    graph = quoted_includes(root)
    return [*check_directories(root), *check_sources(root), *check_meson(root), *check_ignorance(root, graph),
            *check_history(root, graph), *check_host(root), *check_reach(root, graph)]


PLANTS = {  # what is planted -> file, text, and the line of the file that it follows if not the last
    "an upward include": ("src/emu/base/planted.h", '#include "emu/sim/sim.h"'),
    "a sideways include": ("src/emu/mem/planted.h", '#include "emu/sim/sim.h"'),
    "a picture in what happened": ("src/emu/past/planted.h", '#include "viz/ladder.h"'),
    "the inside of the lab in cli": ("src/cli/session/planted.h", '#include "emu/lab/lab_state.h"'),
    "the executor in the commands": ("src/cli/cmd/planted.h", '#include "cli/exec/exec.h"'),
    "the history in a command": ("src/cli/cmd/planted.h", '#include "cli/session/history.h"'),
    "an upward include in the command layer": ("src/cli/lang/planted.h", '#include "cli/session/session.h"'),
    "the command layer in the random worlds": ("src/swarm/worlds/planted.h",
                                               '#include "cli/session/session.h"'),
    "profiles in the watcher of the wire": ("src/watcher/planted.h", '#include "emu/facts/profile.h"'),
    "a lab in the captures": ("src/capture/meson.build", "x = [lab_dep]"),
    "an upward link in the command layer": ("src/cli/why/meson.build", "x = [cli_show_dep]"),
    "an upward include in the guest": ("src/emu/guest/pci/planted.h", '#include "emu/guest/ip/net.h"'),
    "the device in the guest": ("src/emu/guest/machine/planted.h", '#include "emu/device/rdma.h"'),
    "virtqueues in the verbs": ("src/emu/guest/verbs/planted.h", '#include "emu/virtio/vq_driver.h"'),
    "a driver in the verbs": ("src/emu/guest/verbs/planted.h",
                              '#include "emu/guest/virtio_rdma/virtio_rdma.h"'),
    "a driver in the machine": ("src/emu/guest/machine/planted.h",
                                '#include "emu/guest/virtio_rdma/virtio_rdma.h"'),
    "the RFC in the machine, by way of others": ("src/emu/guest/ip/net.h", '#include "emu/facts/rfc.h"'),
    "the RFC in the verbs": ("src/emu/guest/verbs/planted.h", '#include "emu/facts/rfc.h"'),
    "registers in the verbs": ("src/emu/guest/verbs/planted.h", '#include "emu/facts/regs.h"'),
    "the RFC in the verbs, by way of others": ("src/emu/mem/space.h", '#include "emu/facts/rfc.h"'),
    "virtio in the PCI functions of a guest": ("src/emu/guest/pci/planted.h", '#include "emu/guest/virtio/virtio.h"'),
    "registers in the PCI functions of a guest": ("src/emu/guest/pci/planted.h", '#include "emu/facts/regs.h"'),
    "an upward link in the guest": ("src/emu/guest/verbs/meson.build", "x = [guest_virtio_rdma_dep]"),
    "a file of the guest in no folder": ("src/emu/guest/planted.h", ""),
    "the lab in the language": ("src/cli/lang/meson.build", "x = [lab_dep]"),
    "a file of the command layer in no folder": ("src/cli/planted.h", ""),
    "readline at the commands": ("src/cli/cmd/planted.h", "#include <readline/readline.h>"),
    "cJSON in the simulation": ("src/emu/sim/planted.h", "#include <cjson/cJSON.h>"),
    "readline in the lab": ("src/emu/lab/planted.h", "#include <readline/readline.h>"),
    "libuv in the network": ("src/emu/net/planted.h", "#include <uv.h>"),
    "ISA-L outside wire": ("src/cli/why/planted.h", "#include <isa-l/crc.h>"),
    "an internal header in a public one": ("include/rdmalab/planted.h",
                                           '#include "emu/base/text.h"'),
    "an include without its layer": ("src/emu/hca/planted.h", '#include "qp.h"'),
    "a source that is not built": ("src/emu/base/planted.c", ""),
    "a file in no layer": ("src/emu/misc/planted.h", ""),
    "an upward link": ("src/emu/base/meson.build", "x = [lab_dep]"),
    "a foreign library": ("src/emu/base/meson.build", "x = [cjson]"),
    "a status of completions in every file with events": ("src/emu/trace/set.h",
                                                          '#include "emu/facts/enum/wc_status.h"'),
    "the kinds of events in every file with sets of them": ("src/emu/trace/set.h",
                                                            '#include "emu/trace/kind.h"'),
    "the fields of events in every file with their names": ("src/emu/trace/id.h",
                                                            '#include "emu/trace/event.h"'),
    "a device by value in a host": (HOST, "    struct vnet planted;", "struct host {"),
    "an adapter by value in a host": (HOST, "    struct rnic planted;", "struct host {"),
    "virtqueues in PVRDMA": ("src/emu/device/pvrdma/planted.h", '#include "emu/virtio/vq_device.h"'),
    "a device in an adapter": ("src/emu/rnic/planted.h", '#include "emu/facts/device.h"'),
    "virtqueues in the transport, by way of others": ("src/emu/wire/bth.h", '#include "emu/facts/virtio/virtq.h"'),
    "devices by value in a host": (HOST, "    struct rdma planted[MOST]; /* two */", "struct host {"),
}


def planted(path, text, after):
    """Writes @text into @path, behind the line @after or at the end; how to undo that."""
    fresh = [p for p in path.parents if not p.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_text() if path.exists() else None
    head, line, tail = (old or "").partition(f"{after}\n") if after else (old or "", "", "")
    path.write_text(f"{head}{line}\n{text}\n{tail}")

    def undo():
        if old is not None:
            path.write_text(old)
            return
        path.unlink()
        for folder in fresh:
            folder.rmdir()

    return undo


def self_test(root):
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        copy = pathlib.Path(tmp)
        for part in ("include", "src"):
            shutil.copytree(root / part, copy / part)
        before = check(copy)
        for what, (name, text, *after) in PLANTS.items():
            undo = planted(copy / name, text, *after or [None])
            found = [line for line in check(copy) if line not in before]
            undo()
            failed += not found
            print(f"{'found' if found else 'MISSED'}: {what}{': ' + found[0] if found else ''}")
        left = check(copy) != before
        failed += left
        print("what was planted is gone again" if not left else "MISSED: something planted is left")
    return len(PLANTS) + 1 - failed, failed


def main():
    args = [a for a in sys.argv[1:] if a != "--self-test"]
    root = pathlib.Path(args[0] if args else pathlib.Path(__file__).parent.parent)
    if "--self-test" in sys.argv:
        passed, failed = self_test(root)
    else:
        problems = check(root)
        print(*problems, sep="\n", end="\n" if problems else "")
        passed, failed = int(not problems), len(problems)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
