# SPDX-License-Identifier: MIT
"""Are wrong results found?  Judges outputs with planted faults; needs no virtual machine."""
import pathlib
import subprocess
import tempfile

import connections_selftest
import random_judge
import transcripts
import unmodified_selftest
import verbs_lab
import verbs_likes
import verbs_lines
import verbs_random
from cases import FIRST_PSN_BEFORE_WRAP, Case, random_truth, verbs
from report import speed_rows
from results import Result, judge, kernel_complaints

CASE = Case("rc_pingpong", "rxe", "ipv4", size=64, iterations=100)
WRAP = Case("rc_pingpong", "rxe", "ipv4", size=64, iterations=100, first_psn=FIRST_PSN_BEFORE_WRAP)
IPV6 = Case("rc_pingpong", "rxe", "ipv6", size=64, iterations=100)
UD = Case("ud_pingpong", "rxe", "ipv4", size=64, iterations=100)
PING = Case("ping", "rxe", "ipv4")

SERVER = """\
  local address:  LID 0x0000, QPN 0x000011, PSN 0xeb09fe, GID ::ffff:10.0.0.1
  remote address: LID 0x0000, QPN 0x000012, PSN 0x951b13, GID ::ffff:10.0.0.2
12800 bytes in 0.05 seconds = 2.16 Mbit/sec
100 iters in 0.05 seconds = 474.30 usec/iter
"""
CLIENT = """\
  local address:  LID 0x0000, QPN 0x000012, PSN 0x951b13, GID ::ffff:10.0.0.2
  remote address: LID 0x0000, QPN 0x000011, PSN 0xeb09fe, GID ::ffff:10.0.0.1
12800 bytes in 0.04 seconds = 2.51 Mbit/sec
100 iters in 0.04 seconds = 407.30 usec/iter
"""

PLANTS = [  # case, status, server, client -> what must be said about it ("" for nothing)
    (CASE, "0 0 12", SERVER, CLIENT, ""),
    (CASE, "0 0 12", SERVER, CLIENT + "invalid data in page 0\n", "received wrong data"),
    (CASE, "0 1 12", SERVER, "", "the client ended with status 1"),
    (CASE, "143 0 12", SERVER, CLIENT, "the server did not end in time"),
    (CASE, "1 not run 12", SERVER, "", "the server was never ready"),
    (CASE, "", "", "", "did not come to it"),
    (CASE, "0 0 12", SERVER, CLIENT.replace("12800", "12736"), "did not print 12800 bytes"),
    (CASE, "0 0 12", SERVER.replace("100 iters", "99 iters"), CLIENT, "did not print 100 iters"),
    (CASE, "0 0 12", SERVER.replace("0x951b13", "0x951b14"), CLIENT, "told another address"),
    (CASE, "0 0 12", SERVER, CLIENT.replace("QPN 0x000011", "QPN 0x000013"), "told another address"),
    (CASE, "0 0 12", "", CLIENT, "did not print"),
    (IPV6, "0 0 12", SERVER, CLIENT, "used GID ::ffff:10.0.0.1"),
    (WRAP, "0 0 12", SERVER, CLIENT, "did not start at PSN 0xfffffd"),
    (UD, "0 0 12", SERVER.replace("fe, GID", "fe: GID"), CLIENT.replace("13, GID", "13: GID"), ""),
    (UD, "0 0 12", SERVER, CLIENT.replace("QPN 0x000011", "QPN 0x000013"), "told another address"),
    (PING, "0 0 12", "", "3 packets transmitted, 3 packets received, 0% packet loss", ""),
    (PING, "0 0 12", "", "3 packets transmitted, 3 received, 0% packet loss", ""),
    (PING, "0 0 12", "", "3 packets transmitted, 2 packets received", "not every ping"),
]


def found(case, status, server, client):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for role, text in (("status", status), ("server", server), ("client", client)):
            (directory / role).write_text(text)
        return "; ".join(judge(case, directory).wrong)


def kernel_is_heard():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "dmesg").write_text("[ 1.0] rdma_rxe: loaded\n[ 2.0] WARNING: CPU: 0 PID: 7 at rxe\n")
        return len(kernel_complaints(directory)) == 1


def ratios(*measured):
    """What the report says of (client, or "baseline"; attempt; usec/iter) each."""
    results = [Result(Case("speed", "rxe" if who == "baseline" else who, "ipv4", size=64, iterations=100,
                           attempt=attempt, baseline=who == "baseline"), [], {}, usec=usec)
               for who, attempt, usec in measured]
    return [row["of_baseline"] for row in speed_rows(results)]


def speeds_are_held_against_their_baselines():
    """The best attempt counts, each beside its own baseline; without one there is nothing to say."""
    beside = ratios(("baseline", 1, 50), ("lab", 1, 100), ("baseline", 2, 90), ("lab", 2, 100))
    alone = ratios(("rxe", 1, 100), ("lab", 2, 100))
    return "" if (beside, alone) == ([1, 0.9], [None, None]) else f"speeds: {beside}, {alone}"


def vm_build(line):
    """(exit status, output) of a shell that knows the functions of vm-build."""
    script = pathlib.Path(__file__).with_name("vm-build")
    done = subprocess.run(["bash", "-c", f". {script}; {line}"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def libraries_are_looked_for_late():
    """A package that vm-build installs brings a library: its name is not known before."""
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name, f"librxe-rdmav{n}.so") for n in (34, 35)]
        status, got = vm_build(f"touch {files[0]}; the_file '{name}/librxe-rdmav*.so'")
        if status or got.strip() != str(files[0]):
            return f"it is not found: {got}"
        files[1].touch()
        for pattern, says in (("*.so", "but 2 do"), ("*.none", "but 0 do: none")):
            status, got = vm_build(f"the_file '{name}/{pattern}'")
            if status != 1 or says not in got or "install them anew: " not in got:
                return f"{pattern} is no clear error: {got}"
    status, got = vm_build('echo "${loaded_by_hand[@]}"')
    return "" if "librxe-rdmav*.so" in got else f"the name is expanded too early: {got}"


VERBS = verbs("rxe", "ipv4", 512, 0)
LOSSY = verbs("rxe", "ipv6", 512, 10)
UC_3 = "rcq: qp=qp status=SUCCESS opcode=RECV byte_len=511 wc_flags=WITH_IMM imm=0x00000003 data=right\n"

VERBS_PLANTS = [  # case, of side a or b, text -> other text, what must be said ("" for nothing)
    (VERBS, "a", "", "", ""),
    (LOSSY, "b", "", "", ""),
    (VERBS, "a", "status=REM_ACCESS_ERR", "status=RETRY_EXC_ERR",
     "mw_local_inv: a: 'scq: qp=qp wr_id=2 status=RETRY_EXC_ERR' instead of"),
    (VERBS, "a", "opcode=RDMA_READ byte_len=1537", "opcode=RDMA_READ byte_len=1536", "rc_read: a: "),
    (VERBS, "a", "opcode=COMP_SWAP", "opcode=FETCH_ADD", "rc_atomics: a: "),
    (VERBS, "a", "check number=1000: right", "check number=1000: wrong at byte 0", "rc_atomics: a: "),
    (VERBS, "b", "wc_flags=WITH_IMM imm=0x000abc00", "wc_flags=0", "rc_send_with_imm: b: "),
    (VERBS, "b", "imm=0x000abc01", "imm=0x01bc0a00", "rc_send_with_imm: b: "),
    (VERBS, "b", "invalidated=mw", "invalidated=?", "mw_send_with_inv: b: "),
    (VERBS, "b", "src_qp=qp", "src_qp=?", "ud_messages: b: "),
    (VERBS, "b", UC_3, "", "uc_send_with_imm: b: "),
    (VERBS, "b", UC_3, UC_3.replace("right", "wrong"), "uc_send_with_imm: b: "),
    (VERBS, "b", "section rc_write\n", "section rc_write\nrefused connect: EINVAL\n",
     "rc_write: b: 'refused connect: EINVAL' instead of"),
    (VERBS, "b", "section rc_read\n", "scq: qp=qp wr_id=9 status=SUCCESS opcode=SEND\nsection rc_read\n",
     "is too much"),
    (VERBS, "a", "section rc_fence\n", "", "a has left out rc_fence"),
    (VERBS, "a", "section rc_fence\n", "section rc_fence\nsection mine\n", "mine, which nobody asked for"),
    (VERBS, "b", "\nend\n", "\n", "b did not come to its end, but to other_mtu_read"),
    (VERBS, "b", None, "", "b did not come to its end, but to nothing"),
    (LOSSY, "b", UC_3, "", ""),  # a message that was lost
    (LOSSY, "b", UC_3, UC_3.replace("right", "wrong"), "uc_send_with_imm: b: "),
    (LOSSY, "a", "wr_id=6 status=SUCCESS opcode=SEND\n", "wr_id=6 status=RETRY_EXC_ERR\n", "rc_send: a: "),
    (LOSSY, "b", "section rc_send\n", "section rc_send\nrefused post_recv: ENOMEM\n", "rc_send: b: "),
]


def transcript_of(case, side):
    """What side @side must print."""
    table = transcripts.read()
    text = ""
    for section in verbs_lines.sections():
        if case.loss in section.losses:
            lines = [transcripts.special(line, case.mtu) for line in table[section.name][side]]
            text += "".join(f"{line}\n" for line in (f"section {section.name}", *lines))
    return text + "end\n"


def found_in_transcripts(case, side, old, new):
    text = {s: transcript_of(case, s) for s in "ab"}
    if old is not None and old not in text[side]:
        return f"'{old}' is not in what {side} must print"
    text[side] = new if old is None else text[side].replace(old, new, 1)
    return found(case, "0 0 12", text["a"], text["b"])


def messages_out_of_order(name):
    """What is said when the first two messages of section @name have changed places, or come twice."""
    text = transcript_of(LOSSY, "b")
    head, rest = text.split(f"section {name}\n")
    first, second, *others = rest.splitlines(keepends=True)
    for lines in [second, first], [first, first, second]:
        changed = f"{head}section {name}\n{''.join(lines)}{''.join(others)}"
        yield found(LOSSY, "0 0 12", transcript_of(LOSSY, "a"), changed)


def messages_have_their_order():
    """UC keeps it, UD need not; neither brings a message twice."""
    uc, uc_twice = messages_out_of_order("uc_send_with_imm")
    ud, ud_twice = messages_out_of_order("ud_messages")
    right = "not in order" in uc and "there twice" in uc_twice and not ud and "there twice" in ud_twice
    return "" if right else f"order of messages: {[uc, uc_twice, ud, ud_twice]}"


def only_what_was_asked_for():
    """Of a lab that can do some sections, these are wanted and no other ones."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "status").write_text("0 0 12")
        table = transcripts.read()
        for role, side in ("server", "a"), ("client", "b"):
            lines = [transcripts.special(line, VERBS.mtu) for line in table["rc_read"][side]]
            (directory / role).write_text("\n".join(["# other output", "section rc_read", *lines, "end", ""]))
        said = [judge(VERBS, directory, can).wrong for can in (["rc_read"], ["rc_read", "srq"], ["srq"])]
    right = not said[0] and said[1] == ["a has left out srq", "b has left out srq"] and \
        "b has done rc_read, which nobody asked for" in said[2]
    return "" if right else f"asked for: {said}"


def likes(profile, sides):
    return {side: profile if side in sides else "rxe" for side in "ab"}


def a_side_by_the_specification_differs_where_it_is_said():
    """Every row of verbs_likes.py changes a line that is there, at a side that is like that and at no other."""
    table = transcripts.read()
    for row in verbs_likes.ROWS:
        before = transcripts.wanted(table, row.section, row.side, verbs_likes.RXE)
        if row.rxe not in before:
            return f"{row.section}: rxe does not print {row.rxe}"
        for like in "", "a", "b", "ab":
            wanted = transcripts.wanted(table, row.section, row.side, likes(row.like, like))
            if ((not row.line or row.line in wanted) and row.rxe not in wanted) != (row.at in like):
                return f"{row.section}: {row.side} with {like or 'nobody'} like {row.like}"
    if not set(verbs_lab.LATER) <= set(table):
        return f"the lab shall do {set(verbs_lab.LATER) - set(table)} later, and nobody asks for that"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "status").write_text("0 0 12")
        for role, side in ("server", "a"), ("client", "b"):
            lines = transcripts.wanted(table, "too_small", side, likes("iba", "b"))
            (directory / role).write_text("\n".join(["section too_small", *lines, "end", ""]))
        said = [bool(judge(VERBS, directory, ["too_small"], likes("iba", iba)).wrong)
                for iba in ("b", "ab", "a", "")]
    return "" if said == [False, False, True, True] else f"by the specification: {said}"


def all_messages_lost():
    text = transcript_of(LOSSY, "b")
    head, rest = text.split("section ud_messages\n")
    said = found(LOSSY, "0 0 12", transcript_of(LOSSY, "a"), f"{head}section ud_messages\nend\n")
    return "" if rest.count("section") == 0 and said.endswith("ud_messages: b: nothing has arrived") else \
        f"no message: {said}"


def table_and_lines_are_of_the_same_sections():
    """And every section has something to say for itself: an empty transcript is wrong everywhere."""
    table = transcripts.read()
    names = [section.name for section in verbs_lines.sections()]
    if sorted(table) != sorted(names) or len(set(names)) != len(names):
        return f"sections: {set(table) ^ set(names)} are not in both"
    silent = [name for name in names if not table[name]["a"] + table[name]["b"]]
    wrong = [line for sides in table.values() for line in sides["a"] + sides["b"] if "wrong" in line]
    return f"sections: {silent} say nothing, or {wrong}" if silent or wrong else ""


def numbers_become_general():
    for mtu in 256, 4096:
        for size in 1, mtu - 1, mtu, mtu + 1, 3 * mtu + 1, mtu + 40, 1 << 20:
            line = f"rcq: qp=qp wr_id=6 status=SUCCESS opcode=RECV byte_len={size} wc_flags=0"
            if transcripts.special(transcripts.general(line, mtu), mtu) != line:
                return f"{size} bytes with MTU {mtu}"
    return ""


PLAIN, WRONG = [next(seed for seed in range(1, 99) if verbs_random.kind(seed) == kind and
                     verbs_random.is_told(seed) == (kind == "mistake")) for kind in ("plain", "mistake")]
RANDOM = Case("random", "lab", "ipv4", seeds=(PLAIN, WRONG), profile="rxe")
RANDOM_SAID = (f"section random_{PLAIN}\ncq0: qp=q0 wr_id=1 status=SUCCESS opcode=SEND\ndigest mr[0:9]: 0x17\n"
               f"section random_{WRONG}\ncq0: qp=q0 wr_id=2 status=REM_ACCESS_ERR\ndigest mr[0:9]: 0x18\nend\n")
RANDOM_PLANTS = [  # of the lab, of rxe with rxe: text -> other text, what must be said of the lab and of rxe
    ("", "", "", "", "", ""),
    ("0x17", "0x19", "", "", f"seed {PLAIN}: a: 'digest mr[0:9]: 0x19' instead of 'digest mr[0:9]: 0x17'", ""),
    ("REM_ACCESS_ERR", "REM_OP_ERR", "", "", f"seed {WRONG}: b: ", ""),
    ("wr_id=1 ", "wr_id=7 ", "", "", f"seed {PLAIN}: a: ", ""),
    ("\nend", "", "", "", f"seed {WRONG}: a did not come to its end", ""),
    (f"section random_{WRONG}", "", "", "", f"seed {WRONG}: nobody came to it", ""),
    ("", "", f"section random_{WRONG}", "", f"seed {WRONG}: rxe with rxe has not come to it", f"seed {WRONG}: nobody"),
    ("", "", RANDOM_SAID, "", f"seed {PLAIN}: rxe with rxe has not come to it", f"seed {PLAIN}: nobody"),
    ("0x17", "0x19", "0x17", "0x19", "", ""),
    ("REM_ACCESS_ERR", "SUCCESS opcode=SEND", "REM_ACCESS_ERR", "SUCCESS opcode=SEND", "", "nothing goes wrong"),
    ("SUCCESS opcode=SEND", "RETRY_EXC_ERR", "SUCCESS opcode=SEND", "RETRY_EXC_ERR", "", "where nothing goes wrong"),
    ("digest mr", "refused x: EINVAL\ndigest mr", "digest mr", "refused x: EINVAL\ndigest mr", "", "'refused x: EINVAL'"),
]


def random_programs_are_held_against_rxe():
    for lab, other, truth, other_truth, of_lab, of_truth in RANDOM_PLANTS:
        with tempfile.TemporaryDirectory() as name:
            top = pathlib.Path(name)
            cases = {RANDOM: RANDOM_SAID.replace(lab, other), random_truth(RANDOM): RANDOM_SAID.replace(truth, other_truth)}
            for case, text in cases.items():
                (top / case.name()).mkdir()
                (top / case.name() / "status").write_text("0 0 12")
                for role in "server", "client":
                    (top / case.name() / role).write_text(text)
            judged = [judge(case, top / case.name()) for case in cases]
            said = ["; ".join(result.wrong) for result in judged]
            kept = [list(random_judge.keep(r, top, top / "kept")) for r in judged if r.wrong]
        for wanted, found_ in zip((of_lab, of_truth), said):
            if wanted not in found_ or (found_ and not wanted):
                return f"random: wanted '{wanted}', found '{found_}'"
        if any("run --seeds" not in lines[0] for lines in kept):
            return f"random: {kept} do not tell how to see it again"
    return ""


def random_programs_are_the_same_each_time():
    """And small enough for verbs_peer: a line has 510 characters and 32 words at most."""
    for seed in range(1, 61):
        lines = verbs_random.file_of([seed]).splitlines()
        if lines != verbs_random.file_of([seed]).splitlines():
            return f"seed {seed} has two programs"
        if any(len(line) > 510 or len(line.split()) > 32 for line in lines):
            return f"seed {seed} has too long a line"
    return ""


def main():
    passed = failed = 0
    for *plant, wanted in VERBS_PLANTS:
        said = found_in_transcripts(*plant)
        right = wanted in said if wanted else not said
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"MISSED: wanted '{wanted}', found '{said}'")
    for *plant, wanted in PLANTS:
        said = found(*plant)
        right = wanted in said if wanted else not said
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"MISSED: wanted '{wanted}', found '{said}'")
    for wrong in ("" if kernel_is_heard() else "the kernel's complaints", libraries_are_looked_for_late(),
                  only_what_was_asked_for(), a_side_by_the_specification_differs_where_it_is_said(),
                  messages_have_their_order(), all_messages_lost(), numbers_become_general(),
                  table_and_lines_are_of_the_same_sections(), random_programs_are_held_against_rxe(),
                  random_programs_are_the_same_each_time(),
                  speeds_are_held_against_their_baselines(), *unmodified_selftest.missed(),
                  *connections_selftest.missed()):
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"MISSED: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)
