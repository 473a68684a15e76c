# SPDX-License-Identifier: MIT
"""Each object shows its maker: the program, the call and the line."""
import os
import re
import shutil
import sys

from on_hosts import text_of
from program import ROOT


def check_strange_name(rdmalab, tally):
    """The name of a program is shown so that a terminal does not obey it."""
    shutil.copy(rdmalab.built("tests/program/makers_bare"), rdmalab.file("strange\x9b\u202e\x1b[31m"))
    rdmalab.file("strange.lab").write_text('host h1 h2\nexec h1 "./strange\x9b\u202e\x1b[31m" &\nuntil count(cqe) == 1 timeout=60s\nshow h1\n'
                                           "show live\nprograms\nprograms csv\nkill 1\nrefused says=\"signal 15\" { run }\n")
    done = rdmalab.run("run", "strange.lab", "--allow", "programs")
    shown = r"strange\xc2\x9b\xe2\x80\xae\x1b[31m"
    tally.expect(done.returncode == 0 and done.stdout.count(f"  ./{shown}\n") == 1 and f"made by program 1 (./{shown}), its\n" in done.stdout and
                 f"1st ibv_alloc_pd, {shown}+0x" in done.stdout and not re.search("[\x9b\u202e\x1b]", done.stdout), "a strange name", text_of(done))


MADE = """host h1 h2
link h1 h2
exec h1 {program} {words} &
{more}
until count(cqe) == {completions} timeout=60s
show h1
show h1.qp3
show qp h1.qp2
show h1.mr1
show qp
show cq h1
why h1.qp2
why
kill 1
"""


def made_lines():
    """{name: number} of the lines of makers.c that are marked."""
    text = (ROOT / "tests/program/makers.c").read_text()
    return {name: text.count("\n", 0, at.start()) + 1 for at in re.finditer(r"/\* made: (\w+) \*/", text) for name in [at[1]]}


def check_makers(rdmalab, tally):
    """Each object of a program has its maker: the program, the call, and its line if the debug information tells."""
    build, lines = rdmalab.built("tests/program"), made_lines()
    tally.expect(len(lines) == 10, "makers.c has marks", str(lines))
    calls = {"pd1": ("1st ibv_alloc_pd", "pd"), "mr1": ("1st ibv_reg_mr", "mr"), "mr2": ("2nd ibv_reg_mr", "mr2"),
             "mw3": ("1st ibv_alloc_mw", "mw"), "channel1": ("1st ibv_create_comp_channel", "channel"),
             "cq1": ("1st ibv_create_cq", "cq"), "qp2 to qp4": ("1st to 3rd ibv_create_qp", "qp"),
             "qp5": ("1st ibv_create_qp_ex", "qp_ex"), "srq1": ("1st ibv_create_srq", "srq"), "ah1": ("1st ibv_create_ah", "ah")}
    tool = shutil.which("addr2line")
    alone = rdmalab.file("tools")
    alone.mkdir()
    (alone / "addr2line").symlink_to(tool or "/no/addr2line")
    (rdmalab.file("none")).mkdir()
    for name, path in [("makers", os.environ["PATH"]), ("makers", str(alone)), ("makers_fast", str(alone)), ("makers", str(rdmalab.file("none"))),
                       ("makers_bare", os.environ["PATH"])]:
        has_lines = name != "makers_bare" and "none" not in path
        if has_lines and not tool:
            continue
        rdmalab.file("made.lab").write_text(MADE.format(program=build / name, words="", more="", completions=1))
        done = rdmalab.run("run", "made.lab", "--allow", "programs", env={**os.environ, "PATH": path})
        _, first, *tables = done.stdout.split(f"made by program 1 ({build / name}), its\n")
        tally.expect(len(tables) == 2 and re.match(r"  h1\.qp2 to h1\.qp4 +1st to 3rd ibv_create_qp, ", tables[0]) and
                     re.match(r"  cq1 +1st ibv_create_cq, ", tables[1]), f"{name}: show qp, show cq h1", text_of(done))
        for object_name, (call, mark) in calls.items():
            where = rf"makers\.c:{lines[mark]}" if has_lines else rf"{name}\+0x[0-9a-f]+"
            tally.expect(re.search(rf"^  {object_name} +{call}, {where}$", first, re.MULTILINE),
                         f"{name}, {path}: {object_name} by {call}", text_of(done))
        where = f"makers.c:{lines['qp']}" if has_lines else f"{name}+0x"
        one = " ".join(done.stdout.split())
        for object_name, lead, call in (("qp3", "made by", "2nd ibv_create_qp"), ("qp2", "made by", "1st ibv_create_qp"), ("qp4", "h1.qp4 was made by", "3rd ibv_create_qp"),
                                        ("qp2", "h1.qp2 was made by", "1st ibv_create_qp")):
            tally.expect(f" {lead} program 1 ({build / name}), its {call}, {where}" in one, f"{name}, {path}: {lead}, {object_name}", text_of(done))
    more = f"exec h1 {build}/makers_bare &"
    rdmalab.file("made.lab").write_text(MADE.format(program=build / "makers_bare", words="child", more=more, completions=2))
    done = rdmalab.run("run", "made.lab", "--allow", "programs")
    tally.expect(re.search(rf"^made by process \d+ of program 1 \({build}/makers_bare\), its$", done.stdout, re.MULTILINE),
                 "a process that a program has started is named", text_of(done))
    tally.expect(f"made by program 2 ({build}/makers_bare), its\n" in done.stdout, "the second program has its own heading", text_of(done))


BY_LIBRARY = """import ctypes, time
library = ctypes.CDLL("libibverbs.so.1")
library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
library.ibv_open_device.restype = ctypes.c_void_p
library.ibv_open_device.argtypes = library.ibv_alloc_pd.argtypes = [ctypes.c_void_p]
context = library.ibv_open_device(library.ibv_get_device_list(None)[0])
library.ibv_alloc_pd(context)
library.ibv_alloc_pd(context)
time.sleep(1000)
"""


def check_maker_library(rdmalab, tally):
    """A call that a library of the program makes is in that library."""
    rdmalab.file("by_library.py").write_text(BY_LIBRARY)
    rdmalab.file("by_library.lab").write_text(f"host h1 h2\nlink h1 h2\nexec h1 {sys.executable} by_library.py &\n"
                                              "until count(ctrl_request, cmd==CREATE_PD) == 2 timeout=60s\nshow h1\nkill 1\n")
    done = rdmalab.run("run", "by_library.lab", "--allow", "programs")
    tally.expect(re.search(r"^  pd1( to pd2)? +1st( to 2nd)? ibv_alloc_pd, (\S+ of )?(libffi|_ctypes)\S+$", done.stdout, re.MULTILINE), "ctypes calls by libffi", text_of(done))


def check_maker_changed(rdmalab, tally):
    """A program that was built again while it runs: no line of the new one is said of the old one."""
    shutil.copy(rdmalab.built("tests/program/makers"), rdmalab.file("changing"))
    rdmalab.file("changed.lab").write_text("host h1 h2\nlink h1 h2\nexec h1 ./changing &\n"
                                           "until count(cqe) == 1 timeout=60s\n"
                                           "exec h1 mv changing old\nexec h1 cp old changing\nshow h1.pd1\nkill 1\n")
    done = rdmalab.run("run", "changed.lab", "--allow", "programs")
    tally.expect("made by program 1 (./changing), its 1st ibv_alloc_pd, changing\n" in done.stdout, "a file that has changed", text_of(done))
