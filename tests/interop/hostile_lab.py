# SPDX-License-Identifier: MIT
"""A lab that is told line by line what to do, while a machine in it asks us what to do next: so a fault can be made before each
of its tasks, and looked at afterwards."""
import re
import select
import socket
import subprocess
import threading
import time

PORT = 9000
LAB_S = 300  # of a line; the lab waits for events for a minute at most
MARK = "print 1==1"  # and what that prints
MARKED = "1==1: yes"


class Ended(Exception):
    """The lab has ended, or the machine says nothing."""


class Lab:
    """The program, at the other end of two pipes.  While it waits for a line the lab goes on."""

    def __init__(self, machine, program):
        self.process = subprocess.Popen(["stdbuf", "-oL", program, "--no-sandbox"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1, env=machine.environment)

    def tell(self, *lines):
        """Returns the lines that the lab prints.  It is killed if that takes too long."""
        try:
            self.process.stdin.write("".join(f"{line}\n" for line in (*lines, MARK)))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        said = []
        watchdog = threading.Timer(LAB_S, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                if line.rstrip() == MARKED:
                    return said
                said.append(line.rstrip("\n"))
        finally:
            watchdog.cancel()
        raise Ended("the lab has ended: " + " | ".join(said[-5:]))

    def number(self, path):
        said = " ".join(self.tell(f"print {path}"))
        found = re.search(rf"{re.escape(path)} = (\d+)", said)
        if not found:
            raise Ended(f"{path} is no number: {said}")
        return int(found[1])

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Tasks:
    """The port at which the machine asks for tasks, and says how they went."""

    def __init__(self, lab, address):
        self.lab = lab
        self.listener = socket.create_server((address, PORT))
        self.waiting = None  # a connection of the machine, which waits for a task

    def _read(self, deadline):
        """Takes the next connection, and returns the lines that came by it."""
        connection, text = None, b""
        while time.monotonic() < deadline:
            source = connection or self.listener
            if not select.select([source], [], [], 0.5)[0]:
                self.lab.tell()  # has it ended?
            elif not connection:
                connection, _ = self.listener.accept()
            else:
                more = connection.recv(65536)
                text += more
                if text.endswith(b"\n.\n"):
                    self.waiting = connection
                    return text.decode(errors="replace").splitlines()[:-1]
                if not more:
                    break
        raise Ended(f"the machine says nothing any more: {text.decode(errors='replace')[-500:]}")

    def _answer(self, task):
        connection, self.waiting = self.waiting, None
        with connection:
            connection.sendall(task.encode() + b"\n")

    def first(self, seconds):
        """Waits until the machine has booted."""
        return self._read(time.monotonic() + seconds)

    def do(self, task, seconds=60.0, meanwhile=None):
        """Gives the machine a task, and returns the lines that it says then.  @meanwhile: is called after that."""
        deadline = time.monotonic() + seconds
        self._answer(task)
        if meanwhile:
            meanwhile()
        return self._read(deadline)

    def end(self):
        """Lets the machine end."""
        if self.waiting:
            self._answer("end")
        self.listener.close()
