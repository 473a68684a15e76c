#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A terminal with a program at its prompt: what a person presses, and what is on the screen then.

The screen is what a small terminal makes of what is written; see screen.py.
"""
import os
import re
import select
import subprocess
import termios
import time

from program import PAIR, TIMEOUT_S, Failure, ensure
from screen import Screen

KEYS = {"^C": "\x03", "^D": "\x04", "TAB": "\t", "ENTER": "\r", "^U": "\x15", "^R": "\x12", "^S": "\x13", "^Z": "\x1a",
        "UP": "\x1b[A", "DOWN": "\x1b[B", "^L": "\x0c"}
READS_AT_ONCE = 64
PASTED = "\x1b[200~{}\x1b[201~"  # how a terminal hands over what is pasted
PROMPT = r"(?:h\d+ )?t=\S+ #\d+( of #\d+)?> "
LONG = "repeat 200000 { write h1.mr[0] \"x\" }"  # as many ticks, of which nothing is told
MEMORY = PAIR.replace("access=lw", "access=lw,rw")


class Terminal:
    """A terminal of its own with the program at its prompt."""

    def __init__(self, path, directory, columns=80, lines=24, shown=None, cwd=None, **environment):
        """@shown: columns of the screen, if not those of the window.  A variable that is None is not set."""
        self.ours, its = os.openpty()
        termios.tcsetwinsize(its, (lines, columns))
        settings = {**os.environ, "TERM": "xterm", "HOME": directory, "INPUTRC": "/dev/null", **environment}
        settings = {name: value for name, value in settings.items() if value is not None}
        for name in "XDG_STATE_HOME", "NO_COLOR":
            if name not in environment:
                settings.pop(name, None)
        settings.pop("LINES", None)
        settings.pop("COLUMNS", None)
        self.screen, self.written = Screen(shown or columns), ""
        self.process = subprocess.Popen([path], stdin=its, stdout=its, stderr=its, cwd=cwd or directory, env=settings,
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

    def expect(self, *patterns, seconds=TIMEOUT_S / 3):
        """Waits until all of these are among what came since the last time; returns that."""
        end = time.monotonic() + seconds
        while not all(re.search(p, self.new(), re.MULTILINE) for p in patterns):
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                missing = [p for p in patterns if not re.search(p, self.new(), re.MULTILINE)]
                raise Failure(f"never on the screen: {missing}; this is:\n{self.screen.text()[-2500:]}")
            for _ in range(READS_AT_ONCE):  # to look for patterns takes longer than to read
                if not self.read(0):
                    break
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

    def resize(self, columns, lines=24, shown=None):
        termios.tcsetwinsize(self.ours, (lines, columns))  # the kernel sends SIGWINCH
        self.screen.columns = shown or columns

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
