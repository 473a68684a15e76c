#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Scripts of strangers: what they may not do is refused, and nothing outside of their directory is touched.

usage: check_strangers.py RDMALAB

Each row of ATTACKS is a hostile script.  It lies in the directory theirs/, next to mine/, which it must not reach.
Each way of running it must fail with the status 1 and the message of the row, and afterwards every file and
directory must be as it was.  What is no row is a function check_NAME.
"""
import json
import os
import pathlib
import pty
import re
import select
import socket
import stat
import sys
import time
import xml.etree.ElementTree

import program as whole
from program import TIMEOUT_S, Failure, ensure

OUT = "this leads out of the directory"
LINK = "this is a symbolic link"
DOT = "a name that begins with a dot"
THERE = "this file is there already"
SPECIAL = "this is no regular file"
PROGRAM = "a script may not start a program on this machine"
PORT = "a script may not use the network of this machine"

VM = "host v vm\nport vm v {}\nrun\n"
EXPORT = "host h1\nexport {}\n"

# Name: the script, what it is told.  TOP is the directory above theirs/ and mine/.
ATTACKS = {  # those that a scenario may have, too
    "program": (VM.format('command="touch TOP/mine/pwned"'), PROGRAM),
    "metacharacters": (VM.format('command="true; $(touch TOP/mine/pwned) `id`|sh # \\" \'"'), PROGRAM),
    "kernel": (VM.format("kernel=\"k'; touch TOP/mine/pwned; '\""), PROGRAM),
    "kernel-of-others": (VM.format("kernel=/etc/passwd initrd=/dev/zero"), PROGRAM),
    "tap": ("host h1\nport tap rdl9 h1\n", PORT),
    "server": ("host h1\nprogram h1 rc_pingpong server listen=:: -p 18620\nrun\n", PORT),
    "client": ("host h1\nprogram h1 rc_pingpong client 127.0.0.1 -p LISTENS\nrun\n", PORT),
    "lines": ("host h1\nprogram h1 verbs_peer server lines=/etc/passwd\nrun\n", PORT),
    "absolute": (EXPORT.format("events TOP/mine/x.ndjson"), OUT),
    "above": (EXPORT.format("ladder ../mine/x.svg"), OUT),
    "up-and-down": (EXPORT.format("ladder sub/../../mine/x.svg"), OUT),
    "linked-directory": (EXPORT.format("pcapng linked/x.pcapng"), LINK),
    "linked-directory-inside": (EXPORT.format("pcapng sub/linked/x.pcapng"), LINK),
    "linked-file": (EXPORT.format("ladder link.txt"), LINK),
    "dangling-link": (EXPORT.format("ladder dangling.txt"), LINK),
    "hard-link": (EXPORT.format("ladder hard.txt"), THERE),
    "itself": (EXPORT.format("ladder itself.txt"), THERE),
    "of-others": (EXPORT.format("events data.ndjson"), THERE),
    "git-hook": (EXPORT.format("ladder .git/hooks/post-checkout.txt"), DOT),
    "startup-file": (EXPORT.format("ladder .bashrc.txt"), DOT),
    "hidden-below": (EXPORT.format("ladder sub/.config/x.txt"), DOT),
    "pipe-out": (EXPORT.format("events pipe.ndjson"), SPECIAL),
    "device-out": (EXPORT.format("events /dev/stdout"), OUT),
    "proc-out": (EXPORT.format("events /proc/self/fd/1"), OUT),
    "not-swallowed": ("host h1\nrefused says=directory {\n export events ../mine/x.ndjson\n}\n", OUT),
    "in-blocks": ("host h1\nrepeat 2 {\n if h1.irqs == 0 {\n  on h1 { export events ../mine/x.ndjson }\n }\n}\n", OUT),
    "in-a-macro": ("host h1\nmacro m x { export events $x }\nm TOP/mine/x.ndjson\n", OUT),
}
SESSION_ATTACKS = {  # those of a script
    "source-passwd": ("host h1\nsource /etc/passwd\n", OUT),
    "source-above": ("host h1\nsource ../mine/secret.lab\n", OUT),
    "source-link": ("host h1\nsource link.lab\n", LINK),
    "source-pipe": ("host h1\nsource pipe.lab\n", SPECIAL),
    "source-device": ("host h1\nsource /dev/zero\n", OUT),
    "source-proc": ("host h1\nsource /proc/self/environ\n", OUT),
    "source-hidden": ("host h1\nsource .git/config.lab\n", DOT),
    "nested": ("host h1\nsource sub/sources-up.lab\n", OUT),
    "session-save": ("host h1\nsession save ../mine/x.lab\n", OUT),
    "session-save-there": ("host h1\nsession save other.lab\n", THERE),
    "save-world": ("host h1\nsave world TOP/mine/x.json\n", OUT),
    "save-world-hidden": ("host h1\nsave world .git/config\n", DOT),
    "at-a-stop": ("host h1\nbreak kick do { export events ../mine/x.ndjson }\non h1 { alloc_pd as pd }\nrun\n", OUT),
}
HOME = {  # what else is there
    "theirs/data.ndjson": "{}\n", "theirs/sub/sources-up.lab": "source ../mine/secret.lab\n",
    "theirs/other.lab": "host h1\n", "theirs/.git/config.lab": "host h9\n", "theirs/.git/hooks/pre-commit": "#!/bin/sh\n",
    "mine/secret.lab": "host secret\n", "mine/data.txt": "mine\n",
    "theirs/sub/pair.lab": "host h1 h2\nlink h1 h2\n",
    "theirs/beside.lab": "source sub/pair.lab\nrepeat 2 { ping h1 h2; export events made.ndjson }\nsession save saved.lab\n",
}


def settle(program):
    """Lays out both directories anew."""
    for name, text in HOME.items():
        file = program.file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(text)
    theirs = program.file("theirs")
    if (theirs / "link.txt").is_symlink():
        return
    for link, to in {"linked": "../mine", "sub/linked": "../../mine", "link.txt": "../mine/data.txt",
                     "dangling.txt": "../mine/new.txt", "link.lab": "../mine/secret.lab"}.items():
        (theirs / link).symlink_to(to)
    (theirs / "hard.txt").hardlink_to(program.file("mine/data.txt"))
    for name in "pipe.ndjson", "pipe.lab":
        os.mkfifo(theirs / name)


def everything(program):
    """Each path below the directory of the check, with what it is and has."""
    found = {}
    for top, directories, names in os.walk(program.directory):
        directories[:] = [d for d in directories if not os.path.islink(os.path.join(top, d))]
        for name in [*directories, *names]:
            path = pathlib.Path(top, name)
            info = path.lstat()
            held = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
            found[str(path)] = (info.st_mode, info.st_ino, info.st_nlink, held)
    return found


def ways_to_run(name):
    """Of a scenario: arguments and standard input.  A script is not run as a scenario, and a world not sourced."""
    return [(("run", name), ""), ((name,), ""), (("-c", f"source {name}"), "")]


def attack(program, name, text, told, ways):
    path = program.file(f"theirs/{name}.txt")
    path.write_text(text)
    before = everything(program)
    for args, stdin in ways:
        result = program.run(*args, stdin=stdin)
        output = result.stdout + result.stderr
        ensure(result.returncode == 1, f"{name}: {args} ends with {result.returncode}: {output}")
        ensure(told in output, f"{name}: {args} is not told {told!r}: {output}")
        ensure(re.search(r"if you trust it, run it with --allow \w+", output), f"{name}: no remedy: {output}")
        after = everything(program)
        touched = [p for p in {*before, *after} if before.get(p) != after.get(p)]
        ensure(not touched, f"{name}: {args} touched {touched}")
    path.unlink()


def check_attacks(program):
    """Each attack is refused, however the file is run, and touches nothing."""
    settle(program)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = str(listener.getsockname()[1])
        for name, (text, told) in {**ATTACKS, **SESSION_ATTACKS}.items():
            text = text.replace("TOP", program.directory).replace("LISTENS", port)
            file = f"theirs/{name}.txt"
            ways = ways_to_run(file)[name in SESSION_ATTACKS:2 if name.startswith("save-world") else 3]
            attack(program, name, text, told, ways)
        try:
            listener.accept()
            raise Failure("a script has connected")
        except BlockingIOError:
            pass


def check_attacks_from_inside(program):
    """The same in the directory of the script, from JSON, and from the standard input."""
    settle(program)
    inside = whole.Program(program.path, str(program.file("theirs")))
    attack(program, "inside", EXPORT.format("events ../mine/x.ndjson"), OUT, [])
    before = everything(program)
    script = '{"steps": [{"do": "host", "names": ["h1"]}, {"do": "export", "form": "events", "file": "../mine/x.ndjson"}]}'
    program.file("theirs/evil.json").write_text(script)
    for result in (inside.run("run", "evil.json"), inside.run(stdin=EXPORT.format("events ../mine/x.ndjson")),
                   inside.run("run", "-", stdin=EXPORT.format("events ../mine/x.ndjson")),
                   inside.run(stdin="host h1\nsource /etc/passwd\n"), inside.run(stdin=VM.format("command=true")),
                   inside.run("test", "evil.json"), inside.run("test", "evil.json", "--allow", "programs,ports")):
        told = result.stdout + result.stderr
        ensure(result.returncode == 1 and (OUT in told or PROGRAM in told), told)
    program.file("theirs/evil.json").unlink()
    ensure(everything(program) == before, "something was touched")


def check_what_waits(program):
    """What a script leaves for later is the script's: macros, stops, the rest of a line."""
    settle(program)
    leaves = {
        "macro.lab": "macro evil { export events ../mine/x.ndjson }\nhost h1\n",
        "stop.lab": whole.PAIR + "break kick once do { export events ../mine/x.ndjson }\n",
        "rest.lab": whole.PAIR + "break kick once\nrepeat 1 { post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]; run; export events ../mine/x.ndjson }\n",
    }
    for name, text in leaves.items():
        program.file(f"theirs/{name}").write_text(text)
    before = everything(program)
    for name, line in ("macro.lab", "evil"), ("stop.lab", "post_send h1.qp sge=mr[0:64]; run"), ("rest.lab", "continue"):
        result = program.run("--prompt", stdin=f"source theirs/{name}\n{line}\n")
        ensure(OUT in result.stdout, f"{name}: {result.stdout}")
    ensure(everything(program) == before, "something was touched")
    for name in leaves:
        program.file(f"theirs/{name}").unlink()


def check_permits_are_single(program):
    """A permission gives what it says, and nothing more."""
    settle(program)
    rows = [
        ("ports", VM.format("command=true"), PROGRAM), ("files", VM.format("command=true"), PROGRAM),
        ("programs,files", "host h1\nprogram h1 rc_pingpong server\nrun\n", PORT),
        ("programs,ports", EXPORT.format("events ../mine/x.ndjson"), OUT),
        ("programs", VM.format("command=true log=../mine/log"), OUT),
        ("programs", VM.format("command=true log=.profile"), DOT),
        ("programs", VM.format("command=true log=hard.txt"), THERE),
        ("programs", VM.format("kernel=/etc/passwd"), OUT), ("programs", VM.format("kernel=link.txt"), LINK),
        ("ports", "host h1\nprogram h1 verbs_peer server lines=/etc/passwd\nrun\n", OUT),
        ("ports", "host h1\nprogram h1 verbs_peer server lines=pipe.lab\nrun\n", SPECIAL),
    ]
    for permits, text, told in rows:
        path = program.file("theirs/permit.txt")
        path.write_text(text)
        before = everything(program)
        result = program.run("run", "theirs/permit.txt", "--allow", permits)
        ensure(result.returncode == 1 and told in result.stderr, f"{permits}: {text}{result.stderr}")
        ensure(everything(program) == before, f"{permits}: {text} touched something")
        path.unlink()
    wrong = program.run("run", "theirs/other.lab", "--allow", "files,\x1b[31m")
    ensure(wrong.returncode == 2 and wrong.stderr.endswith(
        "--allow files,\\x1b[31m: it takes programs, ports, files, with commas between several\n"), wrong.stderr)


def check_endless_files(program):
    """A file without end, or one that sources itself, ends with an error."""
    settle(program)
    with open(program.file("theirs/huge.lab"), "wb") as file:
        file.truncate(1 << 40)
    program.file("theirs/reads.lab").write_text("source huge.lab\n")
    program.file("theirs/self.lab").write_text("source self.lab\n")
    result = program.run("theirs/reads.lab", preexec_fn=lambda: whole.limit_memory(4 << 30))
    ensure(result.returncode == 1 and "the file is too long: a script has at most 64 MiB" in result.stderr, result.stderr)
    result = program.run("theirs/self.lab")
    ensure(result.returncode == 1 and "more than 8 files that source each other" in result.stderr, result.stderr)
    for name in "huge", "reads", "self":
        program.file(f"theirs/{name}.lab").unlink()


def check_honest_scripts(program):
    """A script works with the files beside it from any directory, and what the user names is the user's."""
    settle(program)
    theirs = program.file("theirs")
    for directory, name in (program.directory, "theirs/beside.lab"), (str(theirs), "beside.lab"), ("/", str(theirs / "beside.lab")):
        result = whole.Program(program.path, directory).run(name)
        ensure(result.returncode == 0, f"{directory}: {result.stderr}")
        for made in "made.ndjson", "saved.lab":
            ensure((theirs / made).stat().st_size > 0, f"{directory}: no {made}")
            (theirs / made).unlink()
    ensure(not list(program.file(".").rglob("made.ndjson.*")), "a part of a file is left")
    outputs = [str(program.file("mine") / f"out.{end}") for end in ("svg", "pcapng", "ndjson")]
    result = program.run("run", "scenarios/01-first-send.json", "--ladder", outputs[0], "--pcap", outputs[1], "--events", outputs[2])
    ensure(result.returncode == 0, result.stderr)
    typed = f"host h1; export events {outputs[2]}; source mine/secret.lab; export ladder theirs/link.txt"
    result = program.run("-c", typed)
    ensure(result.returncode == 0, result.stderr)
    ensure(program.file("mine/data.txt").read_text() != "mine\n", "the user writes through his link")
    program.file("mine/data.txt").write_text("mine\n")
    for file in outputs:
        os.unlink(file)


# Every form that has a mark: the words of the command, and the end of the name.
FORMS = {"ladder": ("ladder {}", ".svg"), "vq": ("vq {} h1.ctrl", ".svg"), "pcapng": ("pcapng {}", ".pcapng"), "events": ("events {}", ".ndjson"),
         "timeline": ("timeline {}", ".html")}

SENDS = "repeat {} {{ post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]; run }}\n"


def write_exports(program, n):
    """A script that makes each export, of n messages: its name, and the files that it makes."""
    names = [f"again-{form}{end}" for form, (_, end) in FORMS.items()]
    lines = [f"export {words.format(name)}\n" for name, (words, _) in zip(names, FORMS.values())]
    program.file("theirs/again.lab").write_text(whole.PAIR + SENDS.format(n) + "".join(lines))
    return "theirs/again.lab", [program.file(f"theirs/{name}") for name in names]


def check_runs_again(program):
    """A script that exports is run several times, and each time the files are those of the last run."""
    settle(program)
    held = []
    for n in 1, 2, 3, 3:
        script, files = write_exports(program, n)
        for file in files:
            if n == 2:
                file.chmod(0o640)
        for args, stdin in ways_to_run(script):
            result = program.run(*args, stdin=stdin)
            ensure(result.returncode == 0, f"{n}, {args}: {result.stderr}")
            held.append([file.read_bytes() for file in files])
        ensure(all(stat.S_IMODE(file.stat().st_mode) == 0o640 for file in files) == (n > 1), "a new file has the permissions of the old one")
    for i in range(0, len(held), 3):
        ensure(held[i][2:] == held[i + 1][2:], f"equal runs write equal files: {i}")
    for form in 0, 2, 3, 4:
        ensure(held[0][form] != held[3][form] != held[6][form] == held[9][form], f"it is the file of the last run: {files[form]}")
    ensure(not list(program.file("theirs").glob("again*.*.*")), "a part of a file is left")
    status, output = Terminal(program, "run", script).run()
    ensure(status == 0 and "[y/N]" not in output, f"nobody is asked: {output}")
    for file in files:
        file.unlink()
    program.file(script).unlink()


def check_marks_alone(program):
    """What is no export of the same form, or is more than that, is not replaced."""
    settle(program)
    script, files = write_exports(program, 1)
    ensure(program.run("run", script).returncode == 0, "the exports")
    exports = {form: file.read_bytes() for form, file in zip(FORMS, files)}
    for file in files:
        file.unlink()
    mark = exports["ladder"].split(b"\n")[0]
    theirs = program.file("theirs")
    for form, (words, end) in FORMS.items():
        target = theirs / f"target{end}"
        script = theirs / "marks.lab"
        script.write_text(whole.PAIR + f"export {words.format(target.name)}\n")
        own = exports[form]
        rows = {"empty": b"", "of the user": b"rdmalab", "about rdmalab": b"<svg><!-- made for rdmalab --></svg>\n",
                "mark is not first": b"\n" + own, "mark is later": b"<?xml version='1.0'?>\n" + mark + b"\n<svg/>\n",
                "mark is cut": own[:20], "other case": own.replace(b"rdmalab", b"RDMAlab", 1), "user's trace": b'{"rdmalab":"0.1.0","format":"rdmalab-trace","version":1}\n',
                "scenario": b'{"title":"rdmalab export ladder","steps":[]}\n', "script": b"host h1\n# rdmalab export ladder\n",
                "capture of others": own.replace(b"rdmalab\0", b"dumpcap\0", 1) if form == "pcapng" else b"rdmalab\n",
                "application in a comment": exports["pcapng"].replace(b"\4\0\7\0rdmalab\0", b"\1\0\7\0rdmalab\0", 1),
                **{f"export {other}": text for other, text in exports.items() if other != form}}
        for what, text in rows.items():
            target.write_bytes(text)
            ensure_kept(program, script, f"{form}: {what}")
        target.write_bytes(own)
        for what, change, back in [
                ("a second name", lambda: (program.file("mine") / "second").hardlink_to(target), (program.file("mine") / "second").unlink),
                ("read-only", lambda: target.chmod(0o444), lambda: target.chmod(0o644))]:
            change()
            ensure_kept(program, script, f"{form}: {what}")
            back()
        target.rename(program.file("mine") / "kept")
        target.symlink_to("../mine/kept")
        ensure_kept(program, script, f"{form}: a link", LINK)
        target.unlink()
        (program.file("mine") / "kept").unlink()
        script.unlink()
    for text in "ladder old.txt", "vq old.txt h1.ctrl":
        script.write_text(whole.PAIR + f"export {text}\n")
        ensure(program.run("run", str(script)).returncode == 0, text)
        ensure_kept(program, script, text)
        (theirs / "old.txt").unlink()
    script.write_text("host h1\nsession save old.lab\n")
    result = program.run(str(script))
    ensure(result.returncode == 0, result.stderr)
    ensure_kept(program, script, "a saved session", ways=ways_to_run("theirs/marks.lab")[1:])
    (theirs / "old.lab").unlink()
    script.unlink()


def ensure_kept(program, script, what, told=THERE, ways=None):
    """The script is refused, and nothing is touched."""
    before = everything(program)
    for args, stdin in ways or ways_to_run(str(script.relative_to(program.directory))):
        result = program.run(*args, stdin=stdin)
        ensure(result.returncode == 1 and told in result.stderr + result.stdout, f"{what}: {args}: {result.returncode} {result.stderr}")
        ensure("run it with --allow files" in result.stderr + result.stdout, f"{what}: no remedy: {result.stderr}")
    ensure(everything(program) == before, f"{what}: something was touched")


def check_what_was_read_stays(program):
    """A file that the run has read is kept, although it begins like an export."""
    settle(program)
    script, read = program.file("theirs/reads.lab"), program.file("theirs/read.svg")
    script.write_text(whole.PAIR + "export ladder read.svg\n")
    ensure(program.run("run", str(script)).returncode == 0 and read.exists(), "the export")
    before = everything(program)
    result = program.run("--prompt", stdin="source theirs/read.svg\nsource theirs/reads.lab\n")
    ensure(THERE in result.stdout + result.stderr and everything(program) == before, result.stdout + result.stderr)
    result = program.run("--prompt", stdin="source theirs/reads.lab\n")
    ensure(result.returncode == 0 and everything(program) != before, f"else it is replaced: {result.stdout}{result.stderr}")
    read.unlink()
    script.unlink()


def check_allowed(program):
    """--allow gives what it names, --no-sandbox all of it."""
    settle(program)
    mine, script = program.file("mine"), program.file("theirs/allowed.txt")
    for text, permits, made in [(EXPORT.format("events ../mine/x.ndjson"), ["--allow", "files"], "x.ndjson"),
                                (VM.format(f'command="touch {mine}/pwned"'), ["--allow=ports,programs"], "pwned"),
                                (VM.format(f'command="touch {mine}/pwned" log=../mine/x.log'), ["--no-sandbox"], "x.log"),
                                (EXPORT.format(f"events {mine}/x.ndjson"), ["--no-sandbox"], "x.ndjson")]:
        script.write_text(text)
        for args in ("run", str(script), *permits), (*permits, str(script)):
            result = program.run(*args)
            ensure(result.returncode == 0 and (mine / made).exists(), f"{args}: {text}{result.stderr}")
            (mine / made).unlink()
    (mine / "pwned").unlink()
    script.unlink()


class Terminal:
    """The program with a person at its terminal, who answers each question."""

    def __init__(self, program, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(program.directory)
            os.execve(program.path, [program.path, *args], {**os.environ, "TERM": "dumb"})
        self.output = ""

    def read(self):
        if not select.select([self.fd], [], [], TIMEOUT_S)[0]:
            raise Failure(f"nothing more is written: {self.output}")
        try:
            more = os.read(self.fd, 65536).decode(errors="replace")
        except OSError:
            more = ""
        self.output += more.replace("\r\n", "\n")
        return more

    def wait_for_read(self):
        """Waits until the program reads the answer: what is typed just before that is discarded."""
        asleep = 0
        while asleep < 3:
            state = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
            asleep = asleep + 1 if state == "S" else 0
            time.sleep(0.01)

    def run(self, *answers):
        """Gives the answers; the exit status, and what was printed."""
        for answer in answers:
            asked = self.output.count("[y/N] ")
            while self.output.count("[y/N] ") == asked and self.read():
                pass
            ensure(self.output.count("[y/N] ") > asked, f"no question: {self.output}")
            self.wait_for_read()
            os.write(self.fd, answer.encode())
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.output


def check_questions(program):
    """On a terminal each is asked for once, with all that is wanted; only a yes does it."""
    settle(program)
    mine, script = program.file("mine"), program.file("theirs/asks.txt")
    command = f"touch {mine}/pwned; : \\x1b[2K\u202e"
    long = "x" * 3000
    script.write_text(VM.format(f'command="{command} {long}"'))
    for answer in "n\n", "\n", "yikes\n", "\x04":
        status, output = Terminal(program, "run", "theirs/asks.txt").run(answer)
        ensure(status == 1 and PROGRAM in output and not (mine / "pwned").exists(), f"{answer!r}: {output}")
    asked = output[output.index("theirs/asks.txt:2:1: "):output.index("allow it? [y/N] ")]
    shown = f'touch {mine}/pwned; : \\x1b[2K\\xe2\\x80\\xae {long}"\n'
    ensure(asked.startswith("theirs/asks.txt:2:1: this script asks to start a program on this machine:\n  port vm v command="), asked)
    ensure(asked.endswith(shown), f"it does not show all: {asked}")
    status, output = Terminal(program, "run", "theirs/asks.txt").run("y\n")
    ensure(status == 0 and (mine / "pwned").exists(), output)
    (mine / "pwned").unlink()
    script.write_text("host h1\nrepeat 3 { export events linked/x.ndjson }\nexport events data.ndjson\n")
    status, output = Terminal(program, "run", "theirs/asks.txt").run("Yes\n", "no\n")
    ensure(status == 1 and (mine / "x.ndjson").exists(), output)
    ensure(f"this script asks to write {mine}/x.ndjson:\n" in output and output.count("[y/N] ") == 2, output)
    ensure(f"this script asks to replace {program.file('theirs')}/data.ndjson:\n" in output, output)
    ensure(program.file("theirs/data.ndjson").read_text() == "{}\n", "it was replaced")
    (mine / "x.ndjson").unlink()
    script.write_text("host h1\nsource ../mine/secret.lab\nexpect secret.irqs == 0\n")
    status, output = Terminal(program, "theirs/asks.txt").run("y\n")
    ensure(status == 0 and f"asks to read {mine}/secret.lab:\n" in output, output)
    script.unlink()


def check_typed_before(program):
    """A yes that was typed before the question was shown is no answer."""
    settle(program)
    script = program.file("theirs/waits.txt")
    script.write_text(whole.PAIR + "repeat 30 { ping h1 h2 count=200 interval=1us }\nexport events ../mine/x.ndjson\n")
    terminal = Terminal(program, "run", "--quiet", "theirs/waits.txt")
    os.write(terminal.fd, b"y\n")
    status, output = terminal.run("n\n")
    ensure(status == 1 and OUT in output and not program.file("mine/x.ndjson").exists(), output)
    script.unlink()


def check_completion(program):
    """The shells complete the permissions, one after another."""
    def offered(word):
        return program.run("complete", "--", "run", "--allow", word).stdout.split()
    ensure(offered("") == ["programs", "ports", "files"], offered(""))
    ensure(offered("p") == ["programs", "ports"], offered("p"))
    ensure(offered("files,p") == ["files,programs", "files,ports"], offered("files,p"))
    ensure(offered("files,ports,") == ["files,ports,programs"], offered("files,ports,"))
    for mode in [], ["run"], ["open"], ["test"]:
        told = program.run("complete", "--", *mode, "--").stdout.split()
        ensure({"--allow", "--no-sandbox"} <= set(told), f"{mode}: {told}")


# What a title, a reason to skip or a name of a file may have, each to deceive one kind of reader: commands to the log of
# GitHub in both forms, terminal sequences, C1 controls, another direction, XML, JSON, Markdown, an escaped line end.
EVIL = "::error::x\n::stop-commands::y\r\x1b[31m\x1b]0;t\x07]]>%0A\"'<b>&##[error]z\u202e\u009b\u2028|`*"
STEPS = [{"do": "host", "names": ["h1", "h2"]}, {"do": "link", "a": "h1", "b": "h2"},
         {"do": "note", "text": EVIL}, {"do": "ping", "host": "h1", "to": "h2"}]
TEXTS = {
    "told.json": {"title": EVIL, "teaches": [EVIL, "x" * 75 + EVIL], "book": EVIL, "steps": STEPS},
    "skipped.json": {"title": EVIL, "skip": EVIL, "steps": STEPS},
    "fails.json": {"title": EVIL, "steps": [*STEPS, {"do": "expect", "that": f"h1.name == {json.dumps(EVIL)}"}]},
    "says.json": {"title": EVIL, "steps": [*STEPS, {"do": "refused", "says": EVIL, "steps": [{"do": "ping", "host": "h1", "to": "h9"}]}]},
    "value.json": {"title": EVIL, "steps": [*STEPS, {"do": "ping", "host": "h1", "to": EVIL}]},
    "command.json": {"title": EVIL, "steps": [{"do": EVIL}]},
    "key.json": {"title": EVIL, EVIL: 1},
    "file.json": {"title": EVIL, "steps": [*STEPS, {"do": "export", "form": "events", "file": f"/{EVIL}.ndjson"}]},
    f"{EVIL.replace('/', '')}.json": {"title": "its name is evil", "steps": STEPS},
}


def ensure_plain(what, text, commands=()):
    """No line has a control character, changes its direction, or begins a command, but @commands."""
    raw = text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
    for line in raw.decode().split("\n"):  # an error if it is no UTF-8
        odd = [c for c in line if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or c in "\u2028\u2029\u202e"]
        ensure(not odd and "##[" not in line, f"{what}: {line!r}")
        ensure(not re.match(r"\s*::\w", line) or line.startswith(commands), f"{what} tells the log: {line!r}")


def check_texts(program):
    """Titles, reasons and names from a file are harmless wherever they are printed."""
    texts = program.file("texts")
    texts.mkdir()
    for name, scenario in TEXTS.items():
        (texts / name).write_text(json.dumps(scenario))
    (texts / "invalid.lab").write_bytes(b'scenario title="\xff\xfe\x1b[31m"\n  ::error::x\nhost h1\n')
    (texts / "lines.lab").write_text("host h1\n  ::error::in the excerpt ##[error]x\n")
    here = whole.Program(program.path, str(texts))
    calls = [*(["run", name] for name in os.listdir(texts)), *([name] for name in os.listdir(texts)),
             ["run", "told.json", "--ladder", "-"], ["run", "told.json", "--events", "-"],
             *(["test", ".", "--format", form] for form in ("text", "tap", "json", "github")),
             ["test", ".", "--list"], ["test", ".", "--list", "--format", "json"], ["test", "told.json", "--fault-matrix"],
             ["-c", "source told.json; show; futures; history; export ladder -; export timeline -; export events -"]]
    for args in calls:
        result = here.run(*args)
        for text in result.stdout, result.stderr:
            ensure_plain(args, text, ("::error file=",) if "github" in args else ())
    course = {**os.environ, "RDMALAB_SCENARIOS": str(texts)}
    for args in ["scenarios"], ["scenarios", "all"], ["scenarios", "run", "told"], ["scenarios", "run", "told", "--ladder"], ["apropos", "error"]:
        ensure_plain(args, here.run(*args, env=course).stdout)


def check_texts_in_files(program):
    """What is written about such a scenario can be read by programs, and shown."""
    here = program
    program.file("told.json").write_text(json.dumps(TEXTS["told.json"]))
    program.file("skipped.json").write_text(json.dumps(TEXTS["skipped.json"]))
    program.file("value.json").write_text(json.dumps(TEXTS["value.json"]))
    result = here.run("run", "told.json", "--events", "t.ndjson", "--ladder", "t.svg")
    ensure(result.returncode == 0, result.stderr)
    for name in "t.ndjson", "t.svg":
        ensure_plain(name, program.file(name).read_bytes())
    ensure(json.loads(program.file("t.ndjson").read_text().splitlines()[0])["title"] == EVIL, "the title of a trace is whole")
    xml.etree.ElementTree.parse(program.file("t.svg"))
    for more in [], ["events"], ["--ladder", "-"]:
        ensure_plain(more, here.run("show", "t.ndjson", *more).stdout)
    named = program.file("t.ndjson").read_text().replace('"h1"', '"::error::h\\u009b\\u202e##[error]"')
    program.file("named.ndjson").write_text(named)
    for more in [], ["events"], ["--ladder", "-"], ["why"]:
        result = here.run("show", "named.ndjson", *more)
        ensure_plain(more, result.stdout + result.stderr)
    here.run("test", "told.json", "skipped.json", "value.json", "--junit", "t.xml")
    ensure_plain("JUnit", program.file("t.xml").read_bytes())
    suite = xml.etree.ElementTree.parse(program.file("t.xml")).getroot()[0]
    skipped = next(suite.iter("skipped")).get("message")
    ensure(skipped.startswith(r"::error::x\x0a::stop") and "]]>%0A\"'<b>&" in skipped, skipped)
    summary = program.file("summary.md")
    here.run("test", "value.json", "--format", "github", env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)})
    ensure_plain("summary", summary.read_bytes())


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, {}, [], globals()))
