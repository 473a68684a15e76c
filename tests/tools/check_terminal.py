#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The prompt on a terminal: keys that a person presses, and what is on the screen then.

usage: check_terminal.py RDMALAB

A check is a function check_NAME(terminals).  It opens a terminal with a program at its prompt, presses keys, and waits
for what must be on the screen: never for a time, so that a busy machine makes it slow, and not wrong.  The screen
is what a small terminal makes of what is written: readline moves its cursor and writes over what was there.
"""
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

from program import PAIR, TIMEOUT_S, Failure, Tally, ensure

KEYS = {"^C": "\x03", "^D": "\x04", "TAB": "\t", "ENTER": "\r", "^U": "\x15"}
SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b[()].|\x1b[=>78M]|\x1b\][^\x07]*\x07")
PROMPT = r"t=\S+ #\d+( of #\d+)?> "
LONG = "repeat 200000 { write h1.mr[0] \"x\" }"  # as many ticks, of which nothing is told
MEMORY = PAIR.replace("access=lw", "access=lw,rw")


class Screen:
    """What a terminal of so many columns shows, without an end at the bottom: lines that scrolled away stay."""

    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [[]], 0, 0
        self.rest = ""
        self.top = 0  # the highest row where something has changed since somebody set this

    def put(self, char):
        if self.column >= self.columns:  # a full line goes on in the next one
            self.row, self.column = self.row + 1, 0
        while len(self.lines) <= self.row:
            self.lines.append([])
        line = self.lines[self.row]
        line.extend(" " * (self.column + 1 - len(line)))
        line[self.column] = char
        self.column += 1

    def control(self, char):
        if char == "\n":
            self.row += 1
            while len(self.lines) <= self.row:
                self.lines.append([])
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(self.column - 1, 0)

    def sequence(self, parameters, final):
        first = parameters.split(";")[0].lstrip("?")
        n = int(first or 0)
        line = self.lines[self.row]
        if final == "A":
            self.row = max(self.row - max(n, 1), 0)
            self.top = min(self.top, self.row)
        elif final == "B":
            self.row = min(self.row + max(n, 1), len(self.lines) - 1)
        elif final == "C":
            self.column += max(n, 1)
        elif final == "D":
            self.column = max(self.column - max(n, 1), 0)
        elif final == "G":
            self.column = max(n, 1) - 1
        elif final == "K":
            del line[self.column if n == 0 else 0:]
        elif final == "J" and n == 0:
            del line[self.column:]
            del self.lines[self.row + 1:]
        elif final == "P":
            del line[self.column:self.column + max(n, 1)]
        elif final == "@":
            line[self.column:self.column] = " " * max(n, 1)

    def write(self, text):
        text, self.rest = self.rest + text, ""
        while text:
            found = SEQUENCE.match(text)
            if found:
                if found[2]:
                    self.sequence(found[1], found[2])
                text = text[found.end():]
            elif text[0] == "\x1b":
                if len(text) < 16:  # the rest of it comes later
                    self.rest = text
                    return
                text = text[1:]
            else:
                if text[0] >= " ":
                    self.put(text[0])
                else:
                    self.control(text[0])
                text = text[1:]

    def text(self, top=0):
        """From this row on."""
        return "\n".join("".join(line).rstrip() for line in self.lines[top:])

    def last(self):
        """The line where the cursor is, up to it: what was deleted stays as blanks."""
        return "".join(self.lines[self.row][:self.column])


class Terminal:
    """A terminal of its own with the program at its prompt."""

    def __init__(self, path, directory, columns=80, **environment):
        self.ours, its = os.openpty()
        termios.tcsetwinsize(its, (24, columns))
        settings = {**os.environ, "TERM": "xterm", "HOME": directory, "INPUTRC": "/dev/null", **environment}
        if "XDG_STATE_HOME" not in environment:
            settings.pop("XDG_STATE_HOME", None)
        settings.pop("LINES", None)
        settings.pop("COLUMNS", None)
        self.screen, self.written = Screen(columns), ""
        self.process = subprocess.Popen([path], stdin=its, stdout=its, stderr=its, cwd=directory, env=settings,
                                        start_new_session=True, preexec_fn=lambda: own_terminal(its))
        os.close(its)
        self.expect(PROMPT + "$")

    def read(self, timeout):
        """False: nothing more is written, in this time or at all."""
        if not select.select([self.ours], [], [], timeout)[0]:
            return False
        try:
            more = os.read(self.ours, 65536).decode(errors="replace")
        except OSError:  # the program has ended
            return False
        self.written += more
        self.screen.write(more)
        return bool(more)

    def new(self):
        """What has come to the screen since the last expect()."""
        return self.screen.text(self.screen.top) + (" " if self.screen.last().endswith(" ") else "")

    def expect(self, *patterns):
        """Waits until all of these are among what came since the last time; returns that."""
        end = time.monotonic() + TIMEOUT_S / 3
        while not all(re.search(p, self.new(), re.MULTILINE) for p in patterns):
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                missing = [p for p in patterns if not re.search(p, self.new(), re.MULTILINE)]
                raise Failure(f"never on the screen: {missing}; this is:\n{self.screen.text()[-2500:]}")
        found = self.new()
        self.screen.top = self.screen.row
        return found

    def press(self, keys):
        os.write(self.ours, KEYS.get(keys, keys).encode())

    def do(self, line, *patterns):
        """Types a line and waits for its answer and the next prompt."""
        self.press(line + "\r")
        return self.expect(*patterns, r"\n" + PROMPT + r"\Z")

    def do_all(self, lines):
        for line in lines.strip().split("\n"):
            self.do(line)

    def resize(self, columns):
        termios.tcsetwinsize(self.ours, (24, columns))  # the kernel sends SIGWINCH
        self.screen.columns = columns

    def end(self):
        """Presses ^D; the exit status."""
        self.press("^D")
        while self.read(TIMEOUT_S / 3):
            pass
        return self.process.wait(TIMEOUT_S / 3)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


def own_terminal(its):
    import fcntl
    fcntl.ioctl(its, termios.TIOCSCTTY, 0)


class Terminals:
    def __init__(self, path, directory):
        self.path, self.directory, self.opened = path, directory, []

    def open(self, **more):
        self.opened.append(Terminal(self.path, self.directory, **more))
        return self.opened[-1]

    def posted(self, **more):
        """With two hosts and a WRITE that was carried out."""
        t = self.open(**more)
        t.do_all(MEMORY)
        t.do("post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled")
        t.do("run", "idle at")
        return t

    def close(self):
        while self.opened:
            self.opened.pop().close()


def tick_of(t):
    return int(re.findall(r"#(\d+)(?: of #\d+)?> ", t.screen.text() + " ")[-1])


def check_prompt_in_the_past(terminals):
    """back and goto say where one is, and the prompt says of how much; redo and goto end come back."""
    t = terminals.posted()
    end = tick_of(t)
    t.do("back", r"back before: run", r"at #\d+ of #%d" % end, r"> \Z")
    ensure(re.search(r"t=\S+ #\d+ of #%d> \Z" % end, t.screen.text() + " "), t.screen.text())
    t.do("redo", r"at the end, #%d" % end)
    t.do("back 3 packet", r"error: that happened only \d times|at #\d+ of")
    t.do("goto end")
    t.do("back 1 packet", r"at #\d+ of #%d" % end)
    t.do("back to qp_state(to==RTS)", r"RTR -> RTS", r"at #\d+ of #%d" % end)
    t.do("goto 50%", r"at #%d of #%d" % (end // 2, end))
    t.do("goto #3", r"at #3 of #%d" % end)
    t.do("goto start", r"at #0 of #%d" % end)
    t.do("goto end", r"at the end, #%d" % end)


def check_empty_line(terminals):
    """An empty line does the last one again, where it may be repeated."""
    t = terminals.posted()
    end = tick_of(t)
    t.do("back 1 tick", r"at #%d of" % (end - 1))
    t.do("", r"at #%d of" % (end - 2))
    t.do("", r"at #%d of" % (end - 3))
    t.do("note \"x\"")
    t.do("")
    ensure(tick_of(t) == end - 3, "note was repeated")


def check_completion(terminals):
    """TAB completes words, grains, names of checkpoints and futures, and numbers of stops."""
    t = terminals.posted()
    t.press("back t\t\t")
    t.expect(r"^tick +timer +to\b")
    t.press("ick\r")
    t.expect(r"at #\d+ of #\d+", r"\n" + PROMPT + r"\Z")
    t.do("goto end")
    t.do("checkpoint nearby", r'is "nearby"')
    t.press("goto n\t")
    t.expect(r"> goto nearby")
    t.press("\r")
    t.expect(r"at the end", r"\n" + PROMPT + r"\Z")
    t.do("fork other", r'in "other"')
    t.press("future m\t")
    t.expect(r"> future main")
    t.press("\r")
    t.expect(r'in "main"', r"\n" + PROMPT + r"\Z")
    t.do("break h1.qp.state == ERR", r"break 1")
    t.do("watch h2.qp.state", r"watch 2")
    t.press("delete \t\t")
    t.expect(r"^1 +h1\.qp\.state == ERR", r"^2 +h2\.qp\.state")
    t.press("2\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("break", r"1  break  h1\.qp\.state == ERR")


def check_interrupt_of_a_search(terminals):
    """^C during a long search backwards goes back to where one was, and says so."""
    t = terminals.open()
    t.do_all(MEMORY)
    t.do(LONG)
    end = tick_of(t)
    t.press("show h1.qp.qpn; back to h1.mr[9] == 77\r")
    t.expect(r"h1\.qp\.qpn = 2")  # the line is carried out: before that ^C would only throw it away
    t.press("^C")
    t.expect(r"interrupted", r"\n" + PROMPT + r"\Z")
    ensure(tick_of(t) == end, f"not where it was, #{end}")
    ensure(" of #" not in t.screen.last(), "in the past")
    t.do("expect h1.qp.state == RTS", "ok")


def check_interrupt_of_a_run(terminals):
    """^C during a run without end stops it, and the prompt goes on."""
    t = terminals.open()
    t.do_all(PAIR + "post_send h1.qp sge=mr[0:64]")
    t.press("run\r")
    t.expect("RNR")
    t.press("^C")
    t.expect(r"interrupted", r"\n" + PROMPT + r"\Z")
    t.do("back 2 tick", r"at #\d+ of #\d+")
    t.do("goto end", "at the end")


def check_stops(terminals):
    """A break and a watch say what hit them; a block may be typed over several lines, and is done."""
    t = terminals.open()
    t.do_all(MEMORY)
    t.do("break cqe(host==h1)", "break 1")
    t.do("watch h2.mr[0:4]", "watch 2")
    t.press("break h1.cq.count == 1 do {\r")
    t.expect(r"\n\.\.\. \Z")
    t.press("show h1.cq.count\r")
    t.expect(r"count\n\.\.\. \Z")
    t.press("}\r")
    t.expect(r"break 3", r"\n" + PROMPT + r"\Z")
    t.do("write h1.mr[0] \"abcd\"")
    t.do("post_send h1.qp op=rdma_write sge=mr[0:4] remote=h2.mr[0] signaled")
    t.do("run", r"watch 2 (between|at|behind) #\d+\S*.* -> \"abcd\"")
    t.do("run", r"break 1 at #\d+\.\d+, cqe\(host==h1\)", r"break 3 at #\d+.*, h1\.cq\.count == 1", r"^h1\.cq\.count = 1")
    t.do("back stop", r"watch 2 ")
    t.do("delete all")
    t.do("back stop", "there is no stop")


def check_futures(terminals):
    """fork, future, futures and diff; another way in the past becomes a future of its own."""
    t = terminals.posted()
    t.do("fork other", r'in "other" from #\d+ on; "future main" goes back')
    t.do("write h1.mr[0] \"other\"")
    t.do("futures", r"^\* other +to #\d+", r"^  main +to #\d+")
    t.do("future main", r'in "main", at #\d+ of #\d+')
    t.do("back", r"at #\d+ of")
    t.do("write h1.mr[0] \"third\"", r'what was done behind #\d+ stays as "was1"')
    t.do("futures", r"^  was1 +to", r"^  other +to", r"^\* main")
    t.do("diff was1", r"#\d+")


def check_mistakes(terminals):
    """Mistakes say what is wrong and change nothing."""
    t = terminals.posted()
    end = tick_of(t)
    t.do("future nowhere", r'no future is called "nowhere"', r'"futures" lists them')
    t.do("back 99", r"only \d+ lines before here did something")
    t.do("back 99 timer", "nothing of that sort happened before here")
    t.do("back to h1.nothing == 1", r'nothing is called "h1\.nothing"')
    t.do("back to", "back to what")
    t.do("break nonsense(", "error")
    t.do("break h1.qp.stat == ERR", r'did you mean "h1\.qp\.state"')
    t.do("watch h1.qp", "is no value, but has some")
    t.do("goto nowhere", r'"nowhere" is no place')
    t.do("goto #99999", r"the last tick that was made is #%d" % end)
    t.do("redo", "nothing was taken back")
    t.do("delete 7", "there is no stop with this number")
    t.do("bakc", r'did you mean "back"')
    ensure(tick_of(t) == end, "it is elsewhere")
    t.do("break", "there are no stops")


def check_interrupt_and_end_of_input(terminals):
    """^C throws a line away that is half typed, also one of a block; ^D ends the program."""
    t = terminals.open()
    t.press("host h1 this is no")
    t.expect("this is no")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("host h1", "h1  10")
    t.press("repeat 3 {\r")
    t.expect(r"\n\.\.\. \Z")
    t.press("alloc_pd h1")
    t.expect(r"alloc_pd h1")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("show h1.pd0", "nothing is called|no ")
    ensure(t.end() == 0, "exit status")


def check_sizes(terminals):
    """A terminal that becomes narrow and wide again leaves the line usable."""
    t = terminals.posted()
    line = "post_send h1.qp wr_id=7 op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled"
    t.press(line[:50])
    t.expect("op=rdma_write")
    t.resize(60)
    t.press(line[50:])
    t.expect("signaled")
    t.resize(200)
    t.press("\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("run", "idle at")
    t.do("poll_cq h1.cq", "wr_id=0 SUCCESS", "wr_id=7 SUCCESS")
    for columns in 60, 200, 80:
        t.resize(columns)
        t.do("back 1 tick", r"at #\d+ of #\d+")
        t.do("explain rnr_nak", "receiver not ready")
    t.do("goto end", "at the end")


def check_dumb_terminal(terminals):
    """A terminal that can do nothing, and one without colours, get text alone."""
    t = terminals.posted(TERM="dumb")
    t.do("back", r"at #\d+ of #\d+")
    t.do("break nonsense", "error")
    ensure("\x1b" not in t.written, repr(t.written))
    t = terminals.posted(NO_COLOR="1")
    t.do("back", r"at #\d+ of #\d+")
    t.do("break nonsense", "error")
    ensure(not re.search(r"\x1b\[[0-9;]*m", t.written), repr(t.written))


def check_told_above_the_line(terminals):
    """What happens while a line is typed is told above it, and the line is as it was."""
    t = terminals.open()
    t.do("host h1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    t.do(f"program h1 rc_pingpong server -p {port} listen=127.0.0.1")
    t.press("show h1.na")
    t.expect("show h1.na")
    socket.create_connection(("127.0.0.1", port)).close()
    t.expect("(?s)h1.*rc_pingpong.*", PROMPT + "show h1.na$")
    t.press("me\r")
    t.expect("^h1.name = h1$", r"\n" + PROMPT + r"\Z")


def check_first_time(terminals):
    """Who comes for the first time is told what to try, and what is told works; later nobody is."""
    t = terminals.open()
    ensure("New here? Three things to try:" in t.written, t.written)
    tried = re.findall(r"^  (\S.*?)   +\S", t.written, re.MULTILINE)
    ensure(len(tried) == 3, str(tried))
    t.do(tried[0], "The first SEND", "all of it held")
    t.do(tried[1], "Messages and their answers", "01-first-send")
    t.do(tried[2], "Words to begin with")
    t.end()
    ensure("New here?" not in terminals.open().written, "told twice")
    home = pathlib.Path(terminals.directory)
    ensure((home / ".local/state/rdmalab/greeted").exists(), "no file says so")
    state = str(home / "elsewhere")
    ensure("New here?" not in terminals.open(XDG_STATE_HOME=state).written, "there is a history")
    (home / ".rdmalab_history").unlink()
    (home / "elsewhere/rdmalab/greeted").unlink()
    ensure("New here?" in terminals.open(XDG_STATE_HOME=state).written, "not told")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_terminal.py RDMALAB")
    path = str(pathlib.Path(sys.argv[1]).resolve())
    if "readline" not in subprocess.run([path, "doctor"], capture_output=True, text=True, check=False).stdout:
        print("skipped: the program has no line editor")
        return 77
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as error:
        print(f"skipped: there is no pseudoterminal: {error}")
        return 77
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    tally = Tally()
    for name, function in list(globals().items()):
        if not name.startswith("check_"):
            continue
        with tempfile.TemporaryDirectory() as directory:
            terminals = Terminals(path, directory)
            try:
                function(terminals)
                tally.expect(True, function.__doc__)
            except (Failure, OSError, subprocess.TimeoutExpired) as error:
                tally.expect(False, f"{name}: {function.__doc__}", error)
            terminals.close()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
