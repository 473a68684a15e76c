# SPDX-License-Identifier: MIT
"""verbs_peer in a machine of driver_stage.py: each side once with our driver, the other one on a host of the lab by `exec`."""
from collections import namedtuple

import programs
import transcripts
import verbs_lab
import verbs_lines
from driver_judges import CLEAN
from driver_stage import H1, PEER, until_gid
from machines import console_of

MTU, IP = 1024, "ipv4"
Asked = namedtuple("Asked", "mtu loss")
LIKE = {"a": "iba", "b": "iba"}  # the profile of both hosts
WAIT_S = 120


def can(to, refused):
    """The sections that use none of the words @refused."""
    return [s.name for s in verbs_lines.sections() if s.name in verbs_lab.CAN
            and not any(word in line for line in s.lines(to) for word in refused)]


def judge(what, text, loss, chosen):
    """@text: what each side has printed."""
    wrong = list(transcripts.wrong(Asked(MTU, loss), text, chosen, LIKE))
    n = len(transcripts.sections_of(text["a"])[0])
    return n > 0 and not wrong, f"{what}: {n} sections of verbs_peer print what they have to {wrong[:5] or ''}"


def case_verbs(case, loss, refused=()):
    """@loss: per cent of the frames.  @refused: words of lines that the driver cannot do."""
    to = verbs_lines.To(MTU, loss, IP)
    chosen = can(to, refused)
    lines = case.directory / "lines"
    lines.write_text(verbs_lines.file_of(to, chosen))
    program = programs.verbs_peer(case.directory / "verbs_peer")
    guest = f"timeout {WAIT_S} /test/verbs_peer -d {case.driver.device} -g 1"
    host = f"timeout {WAIT_S} {program} -d rdl0 -g 0"
    # A client tries again while nobody listens.
    again = "until {} || [ $? = 124 ] || [ $((tries += 1)) -gt 40 ]; do sleep 0.3; done\n"
    guest_script = (f"{guest} a /test/lines >/tmp/a 2>&1\nsed 's/^/= verbs a /' /tmp/a\n"
                    f"tries=0\n{again.format(f'{guest} b /test/lines {PEER} >/tmp/b 2>&1')}sed 's/^/= verbs b /' /tmp/b\n")
    host_script = (f"tries=0\n{again.format(f'{host} b {lines} {H1} >{case.directory}/b 2>&1')}"
                   f"{host} a {lines} >{case.directory}/a 2>&1\n")
    case.guest.image(case.directory / "m", f"load\n{guest_script}removes_driver\n",
                     files={"test/verbs_peer": program.read_bytes(), "test/lines": lines.read_bytes()})
    lossy = [f"set link h2-s1 loss={loss}%"] if loss else []
    printed, status = case.play([*case.lab(), case.boots("h1", "m"), until_gid(1, H1), *lossy, case.exec_script(host_script),
                                 "run", "show live", *CLEAN])
    text, _ = console_of(case.directory / "m")
    said = {side: "".join(f"{line[10:].rstrip()}\n" for line in text.splitlines() if line.startswith(f"= verbs {side} ")) for side in "ab"}
    other = {side: (case.directory / side).read_text() if (case.directory / side).exists() else "" for side in "ab"}
    found = [*case.ended(status, printed, text), *case.quiet(text),
             judge("the driver asks", {"a": said["a"], "b": other["b"]}, loss, chosen),
             judge("the driver answers", {"a": other["a"], "b": said["b"]}, loss, chosen)]
    return found, printed, [text]
