#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does `show h1.pci` print what lspci of pciutils says of the same bytes?

usage: lspci.py RDMALAB

lspci reads the configuration space that rdmalab dumps, and prints it in its own words: every line must be the same.
In several states, as a driver leaves a function, and as others do.
"""
import pathlib
import subprocess
import sys
import tempfile

STATES = {
    "as our driver leaves it": ["host h1"],
    "with interrupts by the line": ["host h1 irq=intx"],
    "after power-on": ["host h1", "reg_write h1 COMMAND 0", "reg_write h1 BAR0 0", "reg_write h1 BAR1 0",
                       "reg_write h1 MSIX_CONTROL 0", "reg_write h1 INTERRUPT_LINE 0"],
    "deaf, with all vectors masked": ["host h1", "reg_write h1 COMMAND 0x0400", "reg_write h1 MSIX_CONTROL 0xc000"],
    "moved, with a cache line": ["host h1", "reg_write h1 BAR0 0xe0000000", "reg_write h1 CACHE_LINE_SIZE 16"],
    "with a window": ["host h1", "reg_write h1 ACCESS_BAR 1", "reg_write h1 ACCESS_OFFSET 0x20",
                      "reg_write h1 ACCESS_LENGTH 4"],
    "with as many queues as there can be": ["host h1 ram=8g max_cq=64 max_qp=64"],
}


def functions(rdmalab, lines, room):
    """What is printed of each function: a list of texts."""
    script = room / "state.lab"
    script.write_text("\n".join([*lines, "show h1.pci"]) + "\n")
    out = subprocess.run([rdmalab, "run", script], capture_output=True, text=True, check=True).stdout
    found = []
    for line in out.splitlines():
        if line.startswith("00:01."):
            found.append([])
        if found and line:
            found[-1].append(line)
        if not line and len(found) == 2:
            break
    return ["\n".join(lines) for lines in found]


def lspci(text, room):
    """What lspci prints of the bytes in @text."""
    dump = room / "dump"
    lines = text.splitlines()
    dump.write_text("\n".join([lines[0], *(line for line in lines if line[2:3] == ":" and line[3:4] == " ")]) + "\n")
    run = subprocess.run(["lspci", "-F", dump, "-n", "-vvv", "-xxx"], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        for state, lines in STATES.items():
            found = functions(sys.argv[1], lines, room)
            if len(found) != 2:
                print(f"{state}: {len(found)} functions are shown", file=sys.stderr)
                failed += 1
            for text in found:
                theirs = lspci(text, room)
                if theirs == text:
                    passed += 1
                    continue
                failed += 1
                print(f"{state}: show h1.pci prints\n{text}\n... and lspci\n{theirs}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
