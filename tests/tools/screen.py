# SPDX-License-Identifier: MIT
"""What a small terminal makes of what is written to it."""
import re

SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b[()].|\x1b[=>78M]|\x1b\][^\x07]*\x07")


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
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\x1b":
                found = SEQUENCE.match(text, at)
                if found:
                    if found[2]:
                        self.sequence(found[1], found[2])
                    at = found.end()
                    continue
                if len(text) - at < 16:  # the rest of it comes later
                    self.rest = text[at:]
                    return
            elif char >= " ":
                self.put(char)
            else:
                self.control(char)
            at += 1

    def text(self, top=0):
        """From this row on."""
        return "\n".join("".join(line).rstrip() for line in self.lines[top:])

    def last(self):
        """The line where the cursor is, up to it: what was deleted stays as blanks."""
        return "".join(self.lines[self.row][:self.column])
