#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does `show h1.pci` print what lspci of pciutils says of the same bytes?

usage: lspci.py RDMALAB

lspci reads the configuration space that rdmalab dumps, and prints it in its own words: every line must be the same.
In several states, as a driver leaves a function, and as others do.  Of PCI Express `show` prints less than lspci, so
those lines are left out; the SR-IOV capability and the functions of VFs must be the same.
"""
import pathlib
import re
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
    "with virtual functions that it could have": ["machine h1 vfs=16 numvfs=0"],
    "with all virtual functions": ["machine h1 vfs=126 numvfs=0", "reg_write h1 SRIOV_NUM_VFS 126", "reg_write h1 SRIOV_CONTROL 9"],
    "with virtual functions on large pages": ["machine h1 vfs=7 numvfs=0", "reg_write h1 SRIOV_PAGE 0x400", "reg_write h1 SRIOV_BAR0 0xd0000000",
                                              "reg_write h1 SRIOV_BAR1 0xe0000000", "reg_write h1 SRIOV_NUM_VFS 7",
                                              "reg_write h1 SRIOV_CONTROL 1"],
}
# Virtual functions: what the machine does with VF 2 of 3.
VF_STATES = {
    "a VF as after a reset": [],
    "a VF that may reach memory": ["reg_write h1 COMMAND 4 vf=2"],
    "a VF with messages, all masked": ["reg_write h1 COMMAND 4 vf=2", "reg_write h1 MSIX_CONTROL 0xc000 vf=2"],
}
CONFIG_BYTES = 4096


def shown(rdmalab, lines, what, room):
    """Returns what `show` prints of @what after @lines: a list of lines."""
    script = room / "state.lab"
    script.write_text("\n".join([*lines, f"show {what}"]) + "\n")
    return subprocess.run([rdmalab, "run", script], capture_output=True, text=True, check=True).stdout.splitlines()


def functions(rdmalab, lines, room):
    """Returns a text for each function that is printed."""
    found = []
    for line in shown(rdmalab, lines, "h1.pci", room):
        if line.startswith("00:01."):
            found.append([])
        if found and line:
            found[-1].append(line)
        if not line and len(found) == 2:
            break
    return ["\n".join(lines) for lines in found]


def virtual_function(rdmalab, lines, room):
    """Returns the text of VF 2."""
    start = ["machine h1 vfs=3 numvfs=0", "reg_write h1 SRIOV_NUM_VFS 3", "reg_write h1 SRIOV_CONTROL 9"]
    text = "\n".join(shown(rdmalab, [*start, *lines], "h1.pci.rdma.sriov.vf[2]", room))
    return text[text.index("00:02.2 "):].split("\n\n")[0]


def is_bytes(line):
    """Returns whether @line is one of a dump of bytes."""
    return re.match(r"[0-9a-f]{2,3}: ", line) is not None


def without_express(text):
    """@text without the lines of PCI Express, and without the bytes behind the first 256."""
    kept, inside = [], False
    for line in text.splitlines():
        if line.startswith("\tCapabilities:"):
            inside = "Express (v" in line
        elif not line.startswith("\t\t"):
            inside = False
        if not inside and not re.match(r"[0-9a-f]{3}: ", line):
            kept.append(line)
    return "\n".join(kept)


def lspci(text, room):
    """Returns the text of lspci for the bytes in @text.  All other bytes of a function with PCI Express are 0."""
    dump = room / "dump"
    lines = text.splitlines()
    data = [line for line in lines if is_bytes(line)]
    if "Express (v" in text:
        there = {int(line.split(":")[0], 16) for line in data}
        data += [f"{at:02x}:" + " 00" * 16 for at in range(0, CONFIG_BYTES, 16) if at not in there]
    dump.write_text("\n".join([lines[0], *data]) + "\n")
    run = subprocess.run(["lspci", "-F", dump, "-n", "-vvv", "-xxx"], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def agree(state, text, room):
    """Returns whether lspci says of the bytes in @text what @text says."""
    theirs = lspci(text, room)
    if without_express(theirs) == without_express(text):
        return True
    print(f"{state}: rdmalab prints\n{text}\n... and lspci\n{theirs}", file=sys.stderr)
    return False


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
            wanted = "vfs=" in "".join(lines)
            if ("(SR-IOV)" in "".join(found)) != wanted:
                print(f"{state}: the SR-IOV capability must {'' if wanted else 'not '}be shown by show h1.pci", file=sys.stderr)
                failed += 1
            for text in found:
                good = agree(state, text, room)
                passed, failed = passed + good, failed + (not good)
        for state, lines in VF_STATES.items():
            good = agree(state, virtual_function(sys.argv[1], lines, room), room)
            passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
