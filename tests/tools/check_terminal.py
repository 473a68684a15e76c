#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The prompt on a terminal: keys that a person presses, and what is on the screen then.

usage: check_terminal.py RDMALAB [NAME...]

A check is a function check_NAME(terminals).  It opens a terminal with a program at its prompt, presses keys, and waits
for what must be on the screen: never for a time, so that a busy machine makes it slow, and not wrong.  The screen
is what a small terminal makes of what is written: readline moves its cursor and writes over what was there.
"""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from program import PAIR, TIMEOUT_S, Failure, Tally, ensure
from terminal import KEYS, LONG, MEMORY, PASTED, PROMPT, Terminals

LESSON_PROMPT = r"\S+ \d+/\d+ " + PROMPT
BLOCK = r"^\.\.\. *(\} ends the block, \^C leaves it)? *\Z"


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
    t.do("goto end")
    t.do("break post_send")
    t.do("repeat 3 { post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0]; run }", "not done yet")
    t.do("c", "c: continue", "break 1 at", "not done yet")
    t.do("", "break 1 at", "not done yet")
    t.do("", "idle at")


def check_macros_at_the_prompt(terminals):
    """A macro may have the name of another debugger's word, which then is the macro; TAB knows it."""
    t = terminals.open()
    t.do("host h1 h2")
    t.do("macro n who { show $who.name }")
    t.do("n h1", r"^h1\.name = h1$")
    t.press("macro longer who { show $\t")
    t.expect(r"show \$who")
    t.press(".name }\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.press("lon\t")
    t.expect(r"> longer ")
    t.press("who\t")
    t.expect(r"> longer who=")
    t.press("h2\r")
    t.expect(r"^h2\.name = h2$", r"\n" + PROMPT + r"\Z")


def check_completion(terminals):
    """TAB completes words, grains, names of checkpoints and futures, and numbers of stops."""
    t = terminals.posted()
    t.press("back t\t\t")
    t.expect(r"^tick +ticks$", r"^timer +timers that ran out$", r"^to +to where the")
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
    t.press("run 100000s\r")
    t.expect("RNR")
    t.press("^C")
    t.expect(r"interrupted", r"\n" + PROMPT + r"\Z")
    t.do("back 2 tick", r"at #\d+ of #\d+")
    t.do("goto end", "at the end")


def check_run_that_repeats_itself(terminals):
    """A run that does not end by itself ends soon, says what it waits for, and keeps its past; bind is no verb."""
    t = terminals.open()
    t.do("bind", "a queue pair is not bound to a port")
    t.do_all(PAIR + "post_send h1.qp sge=mr[0:64] signaled")
    t.do("poll_cq h2.cq", r'no completion; "why not h2\.cq" tells what is missing')
    t.do("why not h2.cq", "no receive is posted")
    t.do("run", "this run does not end", r"h1\.qp: SEND wr_id=0 waits for (a receive at|.* from) h2\.qp")
    t.do("why h1.qp", r"because of \d+ such waits before", r"posted\s+in #")
    t.do("post_recv h2.qp sge=mr[0:64]")
    t.do("run", "idle at")
    t.do("back 3", "back before: run", r"at #\d+ of #\d+")
    t.do("redo 3", "at the end")
    t.do("expect h1.cq.wc[0].status == SUCCESS", "ok")


def check_stops(terminals):
    """A break and a watch say what hit them; a block may be typed over several lines, and is done."""
    t = terminals.open()
    t.do_all(MEMORY)
    t.do("break cqe(host==h1)", "break 1")
    t.do("watch h2.mr[0:4]", "watch 2")
    t.press("break h1.cq.count == 1 do {\r")
    t.expect(BLOCK)
    t.press("show h1.cq.count\r")
    t.expect("count", BLOCK)
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
    t.do("watch h1.qp", "is a queue pair, not a value")
    t.do("goto nowhere", r'"nowhere" is no place')
    t.do("goto #99999", r"the last tick that was made is #%d" % end)
    t.do("redo", "nothing was taken back")
    t.do("delete 7", "there is no stop with this number")
    t.do("bakc", r'did you mean "back"')
    t.do("until 50us", r'"run 50us"')
    t.do("layout src", "no other screen here")
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
    t.expect(BLOCK)
    t.press("alloc_pd h1")
    t.expect(r"alloc_pd h1")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("show h1.pd0", "nothing is called|no ")
    status = t.end()
    ensure(status == 0, f"exit status {status}, {t.written[-300:]!r}")


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


def last_typed(t):
    """What `history` says was typed last."""
    t.do("history 1")
    lines = [line for line in t.screen.text().split("\n") if re.match(r" +\d+ [x ] ", line)]
    return lines[-1][8:]


def check_keys(terminals):
    """The keys of readline edit the line as they do elsewhere."""
    word_keys = [
        ("note abc\x1b[D\x1b[DX", "note aXbc"), ("note abc\x1b[D\x1b[D\x1b[CX", "note abXc"),
        ("ote abc\x1b[Hn", "note abc"), ("ote abc\x1b[Hn\x1b[Fd", "note abcd"), ("ote abc\x1b[1~n\x1b[4~d", "note abcd"),
        ("ote abc\x01n\x05d", "note abcd"), ("note abc\x02\x02X\x06Y", "note aXbYc"),
        ("note abc def\x1bb\x0b", "note abc"), ("x y z\x15note u", "note u"), ("note abc def\x17", "note abc"),
        ("note abc def\x17ghi \x19", "note abc ghi def"), ("note ab\x14", "note ba"),
        ("note abc\x08", "note ab"), ("note abc\x7f", "note ab"), ("note abc\x02\x1b[3~", "note ab"),
        ("note abc\x02\x04", "note ab"), ("note abc def\x1bb\x1bbX", "note Xabc def"),
        ("note abc def\x01\x1bfX", "noteX abc def"), ("note abc def\x1bb\x1bb\x1bd", "note  def"),
        ("note abc def\x1b\x7f", "note abc"), ("note abc\x1bb\x1bu", "note ABC"), ("note ABC\x1bb\x1bl", "note abc"),
        ("note abc\x1bb\x1bc", "note Abc"), ("note abc def\x1bt", "note def abc"), 
        ("note a\x1b3b", "note abbb"), ("note a b\x1b[1;5DX", "note a Xb"),
        ("note a  b\x1bb\x1b\\", "note ab"), ("note one\x0c two", "note one two"),
    ]
    t = terminals.open()
    for keys, line in word_keys:
        t.do(keys)
        ensure(last_typed(t) == line, f"{keys!r}: {last_typed(t)!r}, not {line!r}")


def check_recall(terminals):
    """Arrows, ^P, ^N and ^R find what was typed; ^S searches on; what failed is marked."""
    t = terminals.open()
    t.do("note first")
    t.do("note second")
    t.do("nonsense 1", "unknown command")
    t.press("UP")
    t.press("UP")
    t.expect(r"> note second\Z")
    t.press("UP")
    t.expect(r"note first\Z")
    t.press("DOWN")
    t.expect(r"note second\Z")
    t.press("\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.press("^R")
    t.expect("reverse-i-search")
    t.press("fir")
    t.expect("note first")
    t.press("^S")
    t.expect("i-search")
    t.press("\x07")
    t.expect(PROMPT + r"\Z")
    t.do("history", r"^ +\d+   note first$", r"^ +\d+ x nonsense 1$", r"^ +\d+   note second$")
    found = t.do("history failed")
    ensure("nonsense 1" in found and "note" not in found, found)


def check_recall_of_blocks(terminals):
    """A block is recalled as one, edited, and done again."""
    t = terminals.open()
    t.press("repeat 2 {\r")
    t.expect(BLOCK)
    t.press("host h1\r")
    t.expect(BLOCK)
    t.press("}\r")
    t.expect("h1 +10", r"\n" + PROMPT + r"\Z")  # there cannot be two of that name
    t.do("history", r"^ +1 x repeat 2 \{\n +host h1\n +\}$")
    t.press("UP")
    t.press("UP")
    t.expect(r"repeat 2 \{\nhost h1\n\}\Z")
    t.press("\x02\x02\x7f2")  # behind host h1: h2 in its place
    t.press("\r")
    t.expect("h2 +10", r"\n" + PROMPT + r"\Z")
    t.do("history 1", r"x repeat 2 \{\n +host h2\n +\}$")


def check_history_of_projects(terminals):
    """Each directory tree has a history of its own, for its owner alone."""
    root = pathlib.Path(terminals.directory)
    one, other = root / "one", root / "other"
    (one / "below").mkdir(parents=True)
    (one / ".git").mkdir()
    other.mkdir()
    state = str(root / "state")
    t = terminals.open(cwd=str(one), XDG_STATE_HOME=state)
    t.do("note one")
    t.do("nonsense", "unknown")
    status = t.end()
    ensure(status == 0, f"exit status {status}, {t.written[-300:]!r}")
    t = terminals.open(cwd=str(one / "below"), XDG_STATE_HOME=state)
    t.do("history", "  note one", "x nonsense")
    t.press("UP")
    t.press("UP")
    t.press("UP")
    t.expect(r"> note one\Z")
    t = terminals.open(cwd=str(other), XDG_STATE_HOME=state)
    ensure("note one" not in t.do("history"), "a line of another project")
    files = sorted((root / "state/rdmalab/history").iterdir())
    ensure([f.name.split("%")[-1] for f in files] == ["one", "other"], files)
    ensure(all(f.stat().st_mode & 0o777 == 0o600 for f in files), "others may read it")
    text = files[0].read_text()
    ensure("+ note one\nx nonsense\n" in text, text)


def check_history_that_grew(terminals):
    """A long history is cut at its beginning, and what is no history is no harm."""
    root = pathlib.Path(terminals.directory)
    t = terminals.open()
    t.do("note here")
    t.end()
    file, = (root / ".local/state/rdmalab/history").iterdir()
    file.write_bytes(b"\xff\x00 nothing\n| nothing\n" + b"".join(b"+ note %d\n" % i for i in range(2600)))
    t = terminals.open()
    t.press("UP")
    t.expect(r"> note 2599\Z")
    t.press("\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    ensure(len(file.read_text().splitlines()) <= 2001, "it has not been cut")


def check_paste(terminals):
    """Lines and blocks that are pasted are done together, with brackets around them or without."""
    t = terminals.open()
    t.press(PASTED.format("host h1 h2\nlink h1 h2"))
    t.expect("link h1 h2")
    t.press("\r")
    t.expect("h2 +10", r"\n" + PROMPT + r"\Z")
    t.press(PASTED.format("on h1,h2 {\n  alloc_pd as pd\n}\n"))
    t.expect(r"\}")
    t.press("\r")
    t.expect("h2: pd", r"\n" + PROMPT + r"\Z")
    t.do("on h1 {\ralloc_pd as p2\r}\rshow h1.p2.pdn", r"h1\.p2\.pdn = 2")
    t.press(PASTED.format("on h1 {\n  alloc_pd as p3"))
    t.press("\r")
    t.expect(BLOCK)
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("show h1.p3", "there is no|nothing")
    t.do("show h1.p2.pdn", r"h1\.p2\.pdn = 2")


def check_what_cannot_be_done(terminals):
    """TAB shows what would be refused, with the reason, and does not put it into the line."""
    t = terminals.open()
    t.do_all("host h1 h2\nlink h1 h2\non h1,h2 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }")
    t.press("post_send h1.\t")
    t.expect(r"^h1\.qp  \(is in RESET; post_send needs RTS\)", r"> post_send h1\.\Z")
    t.press("^U")
    t.do("modify_qp h1.qp state=INIT pkey_index=0 port=1 access=rw")
    t.press("post_recv h\t")
    t.expect(r"> post_recv h1\.qp \[wr_id")  # the other one is in RESET
    t.press("^U")
    t.press("modify_qp h1.qp state=r\t\t")
    t.expect(r"^state=rtr +ready to receive", r"^state=rts +\(there is no way from INIT to it\)")
    t.press("^U")
    t.press("until count(tx, opcode==RC_SEND_O\t")
    t.expect(r"opcode==RC_SEND_ONLY\Z")


def check_hints(terminals):
    """A dim text behind the cursor says what may follow, and is never part of anything."""
    t = terminals.posted()
    t.press("modify_qp h1.qp ")
    t.expect(r"> modify_qp h1\.qp \[state=")
    ensure("\x1b[2m[state=" in t.written, "it is not dim")
    t.press("sq_psn=")
    t.expect(r"> modify_qp h1\.qp sq_psn=24-bit, now 1")
    t.press("5\x02")  # it is for the end of the line
    t.expect(r"sq_psn=5$")
    t.press("\r")
    t.expect("error", r"\n" + PROMPT + r"\Z")
    ensure(not re.search(r"\[\w+=|24-bit", t.screen.text()), t.screen.text())
    t.press("create_cq h1 ")
    t.expect(r"\[cqe=16\]")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    ensure("[cqe" not in t.screen.text(), t.screen.text())
    t.press("on h1 {\r")
    t.expect(r"\n\.\.\. \} ends the block, \^C leaves it")
    t.press("show h1.name\r")
    t.expect(r"^\.\.\. show h1\.name$", r"^\.\.\. \} ends the block")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.press("show \\\r")
    t.expect(r"\n\.\.\. *\Z")
    t.press("h1.name\r")
    t.expect(r"h1\.name = h1", r"\n" + PROMPT + r"\Z")
    t.resize(60)
    t.press("post_send h1.qp ")
    t.expect(r"\.\.\. *$")
    ensure(all(len(line) <= 60 for line in t.screen.text().split("\n")[-1:]), "wider than the terminal")
    t.press("^Z")
    t.press("sge=mr[0:64]")
    t.expect("mr.0:64.")
    t.press("^U")
    t.do("set hints off")
    t.press("create_cq h1 ")
    t.expect(r"create_cq h1 \Z")
    t.press("\t")
    t.press("^U")
    t.do("set", r"^hints +off")
    ensure("[cqe" not in t.screen.text(), t.screen.text())


def check_a_host_of_its_own(terminals):
    """on HOST alone: the prompt names it, TAB and lines mean it, until on alone; words are written out."""
    t = terminals.posted()
    t.do("on h1", r"\nh1 t=\S+ #\d+> \Z")
    t.do("p qp.state", r"^p: show", r"h1\.qp\.state = RTS")
    t.press("destroy_q\tq\t")
    t.expect(r"> destroy_qp qp \Z")
    t.press("^U")
    t.do("alloc_pd as pd9", "h1: pd9")
    t.do("on", r"\nt=\S+ #\d+> \Z")
    t.do("session save here.lab")
    text = (pathlib.Path(terminals.directory) / "here.lab").read_text()
    ensure(re.search(r"on h1 \{\n +alloc_pd as pd9\n\}", text), text)
    t.do("n", "n: step packet")
    ensure("n: step" not in t.do("n"), "it is said twice")
    t.do("sh q", r"h1\.qp +\d+ +RC")
    t.do("s 1", "s: step")
    t.do("back tick 3", "write: back 3 tick")
    t.do("break tx host==h1", r"write: tx\(host==h1\)")
    t.do("frame", "no stack frames")
    t.do("host " + 30 * "a", "too long for a name")


def check_interrupts_everywhere(terminals):
    """^C: an empty line, a list, a search, many lines of output; ^D: half a line, a block, during a run."""
    t = terminals.open()
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do_all(MEMORY)
    t.press("show h1.\t\t")
    t.expect("h1.qp", r"> show h1\.\Z")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.press("^R")
    t.expect("reverse-i-search")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.press("repeat 1000000 { read h1.mr[0:2] }\r")
    t.expect(r"0000  00 00")
    t.press("^C")
    t.expect("interrupted", r"\n" + PROMPT + r"\Z")
    t.press("show h1.qp.type\x04")  # nothing is behind the cursor
    t.press("\r")
    t.expect(r"h1\.qp\.type = RC", r"\n" + PROMPT + r"\Z")
    t.press("repeat 2 {\r")
    t.expect(BLOCK)
    t.press("^D")
    t.expect("this block does not end", r"\n" + PROMPT + r"\Z")
    t.press("show h1.qp.qpn; " + LONG.replace("00000", "000000") + "\r")  # long enough to be there, busy as we may be
    t.expect(r"h1\.qp\.qpn = 2")
    t.press("^D")  # for the command, which does not read
    t.expect(PROMPT + r"\Z")
    status = t.end()
    ensure(status == 0, f"exit status {status}, {t.written[-300:]!r}")


def check_interrupt_at_any_key(terminals):
    """^C right behind any key of a line, while what may follow is looked for, gives a prompt, which takes whole lines."""
    t = terminals.open()
    hosts = " ".join(f"h{i + 1}" for i in range(300))
    t.do(f"host {hosts} ram=1m max_qp=2 max_cq=1 max_srq=1", r"h300 ")
    line = "until count(tx, host==h2"
    more = ["", "TAB", "\t\t", "\t\t\t", "^R", "\x1b", "\x1b3", "\x18"]  # also a question, a search, half a key
    for i in range(2 * len(line)):
        cut, keys = i // 2 + 1, more[i % len(more)]
        t.press(line[:cut] + KEYS.get(keys, keys))
        time.sleep(i % 7 / 1000)  # whatever it does then
        t.press("^C")
        t.expect(r"\n" + PROMPT + r"\Z")
        t.do("show h1.name", r"> show h1\.name\nh1\.name = h1")


def check_interrupts_in_a_row(terminals):
    """Many ^C end what a line does, and not the program."""
    t = terminals.open()
    t.do_all(PAIR + "post_send h1.qp sge=mr[0:64]")  # nobody receives: it is sent again and again
    for _ in range(20):
        t.press("show h1.qp.qpn; run 10s\r")
        t.expect(r"h1\.qp\.qpn = 2")
        for _ in range(200):
            t.process.send_signal(signal.SIGINT)
        t.expect(r"\n" + PROMPT + r"\Z")
        while t.read(0.2):  # the last of them may have been for the line that is empty yet
            pass
        t.do("show h1.qp.type", r"h1\.qp\.type = RC")


def check_interrupt_of_a_write(terminals):
    """^C while nobody reads what is written is no mistake of the program at its end."""
    for _ in range(3):
        t = terminals.open()
        t.do_all(MEMORY)
        t.press("repeat 1000000 { read h1.mr[0:2] }\r")
        t.expect(r"0000  00 00")
        time.sleep(0.1)  # the terminal is full
        for _ in range(3):
            t.process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        t.expect("interrupted", r"\n" + PROMPT + r"\Z")
        status = t.end()
        ensure(status == 0, f"exit status {status}, {t.written[-300:]!r}")


def check_much_output(terminals):
    """10,000 lines of output come whole, and the prompt behind them."""
    t = terminals.open()
    t.do_all(MEMORY)
    t.press("repeat 10000 { read h1.mr[0:2] }\r")
    t.expect(r"\n" + PROMPT + r"\Z", seconds=2 * TIMEOUT_S)
    ensure(t.written.count("0000  00 00") == 10000, t.written.count("0000  00 00"))
    t.do("show h1.qp.qpn", r"= 2")


def check_width_while_typing(terminals):
    """From 60 to 200 columns and back while a line is typed, nothing of it is lost."""
    for colour in {}, {"NO_COLOR": "1"}:
        t = terminals.posted(columns=60, **colour)
        line = "post_send h1.qp wr_id=9 op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled solicited"
        for i, columns in enumerate((60, 100, 140, 200, 90, 61, 60, 120)):
            t.press(line[11 * i:11 * (i + 1)])
            t.expect(re.escape(line[11 * i:11 * (i + 1)].strip()[-2:]))
            t.resize(columns)
        t.press(line[88:] + "\r")
        t.expect(r"\n" + PROMPT + r"\Z")
        ensure(last_typed(t) == line, last_typed(t))


def check_long_lines(terminals):
    """Lines that are longer than the terminal are broken between words, but not at a pipe."""
    lines = ["setup quiet", "connect h1.qp h2.qp", "post_recv h2.qp", "post_send h1.qp sge=mr[0:64] signaled nokick",
             "show vq h1.qp.sq", "kick h1.qp.sq", "run", "show events last 20"]
    t = terminals.open(columns=72, NO_COLOR="1")
    shown = "".join(t.do(line) for line in lines[:1] + lines[2:])
    answers = [line for line in shown.replace("\r", "").split("\n") if not re.match(PROMPT, line)]
    ensure(any(line.startswith(" " * 10) for line in answers), shown)
    ensure(all(len(line) <= 72 for line in answers), [line for line in answers if len(line) > 72])
    piped = subprocess.run([terminals.path, "-c", "; ".join(lines[:1] + lines[2:])], stdout=subprocess.PIPE, text=True, check=True)
    ensure(any(len(line) > 100 for line in piped.stdout.split("\n")), piped.stdout)


def check_long_errors(terminals):
    """The message of an error is broken between words, too, and not at a pipe."""
    t = terminals.open(columns=72, NO_COLOR="1")
    t.do("setup quiet")
    t.do("post_send h1.qp wr_id=1 sge=mr[0:64]")
    shown = t.do("run", "error: this run does not end").replace("\r", "")
    ensure(re.search(r"^  [^ ].*in a row$|in a row$", shown, re.MULTILINE), shown)
    ensure(all(len(line) <= 72 for line in shown.split("\n") if not re.match(PROMPT, line)), shown)
    lines = "setup quiet\npost_send h1.qp wr_id=1 sge=mr[0:64]\nrun\nshow\n"
    piped = subprocess.run([terminals.path], input=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    ensure(re.search(r"error: this run does not end.* in a row\n", piped.stderr), piped.stderr)
    ensure(piped.stderr.endswith("\n  the lines after line 3 were not executed\n"), piped.stderr)
    last = subprocess.run([terminals.path], input="nothing\n", stderr=subprocess.PIPE, text=True, check=False)
    ensure("unknown command" in last.stderr and "were not executed" not in last.stderr, last.stderr)


def check_pages(terminals):
    """`scenarios` pauses where the screen is full; q ends the list and not the program, and a command is executed."""
    t = terminals.open()
    t.press("scenarios\r")
    first = t.expect(r"-- Enter; q and Enter ends the list --")
    ensure(first.count("\n") <= 24, first)
    t.press("\r")
    t.expect(r"ends the list --\Z")
    t.press("q\r")
    t.expect(r"lists every one\s", r"\n" + PROMPT + r"\Z")
    t.do("host h1", "h1 ")
    for long in ("help drop", "help", "apropos packet", "explain RC vs UC vs UD more"):
        t.press(long + "\r")
        ensure(t.expect(r"-- Enter; q and Enter ends the list --\Z").count("\n") <= 24, long)
        t.press("q\r")
        t.expect(r"\n" + PROMPT + r"\Z")
    t.press("explain RC vs UC vs UD more\r")
    t.expect(r"ends the list --\Z")
    t.press("setup a b quiet\r")
    t.expect(r"> setup a b quiet\n.*a and b are linked", r"\n" + PROMPT + r"\Z")
    t.press("explain qp-states more\r")
    for _ in range(2):
        t.expect(r"ends the list --\Z")
        t.press("\r")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("q", "q again, or quit")
    t.do("show a.qp", "RTS")
    t.press("explain kick more\r")
    ensure("-- Enter" not in t.expect(r"see it: help kick", r"\n" + PROMPT + r"\Z"), "a pause for two lines")
    for key, then in ("^C", "show a.qp"), ("^D", "show b.qp"):
        t.press("help\r")
        t.expect(r"ends the list --\Z")
        t.press(key)
        t.expect(r"\n" + PROMPT + r"\Z")
        ensure("interrupted" not in t.do(then, "RTS"), f"{key} at a pause interrupts the next line")
    t.press("repeat 3 { help }\r")
    t.expect(r"ends the list --\Z")
    t.press("^C")
    t.expect("error: interrupted", r"\n" + PROMPT + r"\Z")
    t.do("show a.qp", "RTS")
    t.do("setup c d quiet mr=16k")
    t.press("repeat 8000 { write c.mr[0] \"x\" }\r")
    t.expect(r"\n" + PROMPT + r"\Z", seconds=TIMEOUT_S)
    before = len(t.written)
    t.press("show events all ndjson\r")  # longer than the buffer: it comes without a pause, and each event once
    t.expect(r"\n" + PROMPT + r"\Z", seconds=TIMEOUT_S)
    events = re.findall(r'"id":"(#[0-9.]+)"', t.written[before:])
    ensure(len(t.written) - before > 1 << 20, "the text fits into the buffer")
    ensure(len(events) == len(set(events)), f"of {len(events)} events {len(set(events))} differ")
    t.press("help clear\r")
    ensure("-- Enter" not in t.expect(r"example: drop next", r"\n" + PROMPT + r"\Z"), "a short text pauses")


def check_long_answers(terminals):
    """A long answer stops where the screen is full, and says how to go on; a summary fits."""
    t = terminals.posted()
    first = t.do("show events all", r"\.\.\. \d+ more: show events all from=#\d+\.\d+")
    ensure(first.count("\n") <= 24, first)
    more = re.search(r"more: (show events all from=(#\d+\.\d+))", first)
    second = t.do(more[1], r"\.\.\. \d+ more: show events all from=")
    ensure(f"{more[2]} " in second.split("\n", 1)[1], f"{more[2]} is not the next event:\n{second}")
    t.do("show events #1..#3", r"more: show events all #1\.\.#3 from=#")
    t.resize(80, lines=40)
    longer = t.do("show events all", "more: show events all from=")
    ensure(30 < longer.count("\n") <= 40, longer)
    t.resize(80)
    summary = t.do("show", "under way", "due next", r"h1\.qp ")
    ensure(summary.count("\n") <= 24, summary)
    with open(os.path.join(terminals.directory, "all.lab"), "w", encoding="ascii") as f:
        f.write("show events all\n")
    whole = t.do("source all.lab", r"\n.* #1\.1 ")
    ensure("more: show events" not in whole, whole[-300:])


def check_dumb_terminal(terminals):
    """A terminal that can do nothing, and one without colours, get text alone."""
    t = terminals.posted(TERM="dumb")
    t.do("back", r"at #\d+ of #\d+")
    t.do("break nonsense", "error")
    ensure("\x1b" not in t.written, repr(t.written))
    ensure("[state=" not in t.written, "a hint")
    t = terminals.posted(NO_COLOR="1")
    t.do("back", r"at #\d+ of #\d+")
    t.do("break nonsense", "error")
    ensure(not re.search(r"\x1b\[[0-9;]*m", t.written), repr(t.written))


SMALL = [(columns, lines) for columns in range(1, 11) for lines in range(1, 6)]
WIDE = 120  # what is shown of a window where the program writes without looking at its size


def check_small_windows(terminals):
    """In a window of any size, from 1 column and 1 row on, lines are read and carried out."""
    for columns, lines in SMALL + [(19, 24), (20, 2), (21, 3), (80, 1), (25, 24), (0, 0)]:
        t = terminals.open(columns=columns, lines=lines, shown=WIDE if columns < 20 or lines < 2 else columns)
        t.do("bakc", "did you mean")
        status = t.end()
        ensure(status == 0, f"{columns} x {lines}: exit status {status}, {t.written[-300:]!r}")
        terminals.close()


def check_windows_that_shrink(terminals):
    """A window that shrinks takes the half line along, and one that grows brings the editor back to it."""
    t = terminals.open(shown=WIDE)
    t.do("host h1 h2")
    for columns, lines in SMALL:
        t.press("show h1.na")
        t.expect("show h1.na$")
        t.resize(columns, lines, shown=WIDE)
        t.expect(r"\n" + PROMPT + "show h1.na$")
        t.press("me\r")
        t.expect(r"^h1\.name = h1", r"\n" + PROMPT + r"\Z")
        t.press("show h2.n")  # the terminal has it, and the program nothing yet
        t.expect("show h2.n")
        t.resize(80, shown=WIDE)
        t.expect(r"\n" + PROMPT + r"show h2\.n$")
        t.press("am\x01\x05e\r")
        t.expect(r"^h2\.name = h2", r"\n" + PROMPT + r"\Z")
    t.resize(3, 1, shown=WIDE)
    t.expect(r"\n" + PROMPT + "$")
    t.press("show h1.na")
    for columns, lines in SMALL[::-1]:
        t.resize(columns, lines, shown=WIDE)
    t.press("me\r")
    t.expect(r"^h1\.name = h1", r"\n" + PROMPT + r"\Z")
    t.press("host h9")
    t.expect("host h9$")
    t.press("^C")
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("show h9.name", "there is no")
    t.press("on h1 {\r")
    t.expect(r"^\.\.\. \Z")
    t.press("alloc_pd")
    t.expect("alloc_pd$")
    t.resize(80, shown=WIDE)
    t.expect(r"\n\.\.\. alloc_pd\b")
    t.press(" as p7\r}\r")
    t.expect(r"h1: p7", r"\n" + PROMPT + r"\Z")
    ensure(t.end() == 0, "it failed")


def check_windows_that_shrink_amid_keys(terminals):
    """Also during a search, half a key, an argument, a list, a block and a command."""
    t = terminals.open(shown=WIDE)
    t.do("host h1 h2")
    for keys, shown in [("^R", "reverse-i-search"), ("x\x1b", "x"), ("\x1b3", "arg: 3"), ("y\x16", "y"), ("\x18", ""),
                        ("show h1.\t\t", r"^h1\.ram_bytes.*\n" + PROMPT + r"show h1\.\Z"), ("on h1 {\r", r"\.\.\. ")]:
        t.press(keys)
        t.expect(shown)
        t.resize(2, 1, shown=WIDE)
        t.expect(r"\n" + (PROMPT if "{" not in keys else r"\.\.\. $"))
        t.press("^C")
        t.expect(r"\n" + PROMPT + r"\Z")
        t.do("show h2.name", r"^h2\.name = h2")
        t.resize(80, shown=WIDE)
        t.expect(r"\n" + PROMPT + r"\Z")
        t.press("show h2.na\t\r")
        t.expect(r"^h2\.name = h2", r"\n" + PROMPT + r"\Z")
    t.do_all("link h1 h2")
    t.press("show h1.name; repeat 20000 { read h1.ram[0:0x10] }\r")
    t.expect("h1.name = h1")
    t.resize(3, 2, shown=WIDE)
    t.expect(r"\n" + PROMPT + r"\Z")
    t.do("show h1.name", r"^h1\.name = h1")


def check_terminals_that_nobody_knows(terminals):
    """A terminal without a name, with one that nobody knows, or that cannot move its cursor: lines are read all the same."""
    for term in "dumb", "unknown", "", None, "no-such-terminal", "glasstty", "network":
        for columns, lines in (80, 24), (1, 1), (2, 1), (3, 5), (0, 0):
            t = terminals.open(TERM=term, columns=columns, lines=lines, shown=WIDE)
            t.do("host h1", "h1  10")
            t.press("show h1.na")
            t.expect("show h1.na")
            t.resize(5, 1, shown=WIDE)
            t.resize(90, 30, shown=WIDE)
            t.press("me\r")
            t.expect(r"^h1\.name = h1", r"\n" + PROMPT + r"\Z")
            ensure("\x1b" not in t.written, f"{term}: {t.written!r}")
            status = t.end()
            ensure(status == 0, f"{term}, {columns} x {lines}: exit status {status}, {t.written[-300:]!r}")
            terminals.close()


def check_key_behind_an_interrupt(terminals):
    """What is typed right behind ^C is the next line: at the prompt, in a line, a search, a block, and while a command runs."""
    for term in "xterm", "dumb":
        t = terminals.open(TERM=term)
        t.do_all(PAIR + "post_send h1.qp sge=mr[0:64]")
        for keys, shown in [("", ""), ("show h1.na", "h1.na"), ("on h1 {\r", r"\.\.\. "), ("", ""),
                            ("show h1.qp.qpn; run 100000s\r", r"h1\.qp\.qpn = 2"),
                            ("^R", "reverse-i-search" if term == "xterm" else "R"),
                            ("repeat 1000000 { read h1.mr[0:2] }\r", r"0000  00 00")]:
            for _ in range(5):
                t.press(keys)
                t.expect(shown)
                t.press("\x03show h1.name\r")
                t.expect(r"(^|> )h1\.name = h1$", r"\n" + PROMPT + r"\Z")
        ensure(t.end() == 0, "it failed")


def knock(port):
    """Somebody comes to a port of this machine on which a program begins to listen."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("nobody listens")


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
    knock(port)
    t.expect("(?s)h1.*rc_pingpong.*", PROMPT + "show h1.na$")
    t.press("me\r")
    t.expect("^h1.name = h1$", r"\n" + PROMPT + r"\Z")


def check_stop_while_nothing_is_typed(terminals):
    """A break that is hit at the prompt is told above the line, holds the lab, and does its block with the next line."""
    t = terminals.open()
    t.do_all(MEMORY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    t.do(f"program h1 rc_pingpong server -p {port} listen=127.0.0.1")
    t.do("break cqe(host==h1) do { show h2.name }", "break 1")
    t.press("post_send h1.qp op=rdma_write sge=mr[0:4] remote=h2.mr[0] signaled\r")
    t.expect(r"break 1 at #\d+\.\d+, cqe\(host==h1\)")
    t.do("show h1.name", r"(?s)^h2.name = h2$.*^h1.name = h1$")


def check_tour(terminals):
    """A reader of the tour: right and wrong answers, own commands in between, back, leaving and coming back."""

    def do(keys, *patterns):
        t.press(keys + "\r")
        return t.expect(*patterns, r"\n" + LESSON_PROMPT + r"\Z")

    t = terminals.open()
    do("tour send", "-- send 1/8: Ready to talk --")
    do("", "^> show h1.qp.dest_qpn", "h1.qp.dest_qpn = 3", "type this")
    do("", "^> show h2.qp.qpn", "h2.qp.qpn = 3", "next screen")
    do("", "-- send 2/8")
    do("show h1.mr", "lkey")
    do("tour", "-- send 2/8")
    do("post_recv h2.qp wr_id=7 sge=mr[0:1k]", "Nothing is printed")
    do("post_recv h2.qp wr_id=8 sge=mr[0:1k]")
    do("", "Your own commands are undone", "-- send 3/8")
    do("tour back", "-- send 2/8")
    do("tour next", "-- send 3/8")
    do("tour next", "-- send 4/8", r"c\) only in the memory of h1")
    do("n", "type a, b or c, or press Enter to skip")
    do("b)", "type this")
    t.press("post_send h1.qp wr_id=1 sge=mr[0:5] sig\t\r")  # completion asks the lesson's lab
    t.expect("You expected b. It is: c\\)", "No packet was sent", LESSON_PROMPT + r"\Z")
    do("", "-- send 5/8", "How many packets")
    do("2", "type this")
    do("", "^> run", "As you expected: 2", "went from memory to memory")
    t.press("tour nex\t\r")
    t.expect("-- send 6/8", LESSON_PROMPT + r"\Z")
    t.end()
    t = terminals.open()
    do("tour", "-- send 6/8")
    t.do("tour stop", "your own lab")
    t.do("show hosts", "^none")
    t.do("tour list", "2 send .*screen 6 of 8")
    do("tour send", "-- send 6/8")
    do("tour send 2", "-- send 2/8")
    t.do("tour exit", "your own lab")
    t.end()


def check_tour_on_a_small_screen(terminals):
    """Each page of each lesson is on a screen of 24 lines as a whole: its heading, or what the reader typed, is there."""
    t = terminals.open()
    t.press("tour 1\r")
    t.expect("-- objects 1/", LESSON_PROMPT + r"\Z")
    pages = 0
    while pages < 1000:
        t.press("\r")
        page = t.expect(r"\n" + f"(?:{LESSON_PROMPT}|{PROMPT})" + r"\Z")
        ensure(len(page.split("\n")) <= 25, f"{len(page.split(chr(10)))} lines:\n{page}")  # with the line before
        pages += 1
        if "That was the tour" in page:
            break
    ensure(pages > 200, str(pages))


def check_quiz(terminals):
    """TAB completes a topic; the answer is judged, and Enter leads back to the own lab."""
    t = terminals.open()
    t.press("quiz connec\t seed=7\r")
    t.expect("-- connections seed 7: ", "press Enter to see", r"\nconnections seed 7 t=\S+ #\d+> \Z")
    t.press("\r")
    t.expect("> The answer: ", "look at its lab", r"\nconnections seed 7 t=\S+ #\d+> \Z")
    t.do("", "This is your own lab")
    t.end()


def check_first_time(terminals):
    """Who comes for the first time is told what to try, and what is told works; later nobody is."""
    t = terminals.open()
    ensure("New here? Three things to try:" in t.written, t.written)
    tried = re.findall(r"^  (\S.*?)   +\S", t.written, re.MULTILINE)
    ensure(len(tried) == 3, str(tried))
    t.press(tried[0] + "\r")
    t.expect("-- objects 1/", LESSON_PROMPT + "$")
    t.do("tour stop", "your own lab")
    t.press(tried[1] + "\r")
    t.expect("The first SEND", r"^> host h1 h2\n.*-- Enter; q and Enter for all the rest -- *\Z")
    t.press("\r")
    t.expect(r"^> link h1 h2.*\n.*-- Enter; q and Enter for all the rest -- *\Z")
    t.do("q", "all of it held")
    t.do("scenarios run lost-request ladder", "lost: f1", "all of it held")
    t.press(tried[2] + "\r")
    t.expect("Words to begin with", r"ends the list --\Z")
    t.do("q")
    t.end()
    ensure("New here?" not in terminals.open().written, "told twice")
    home = pathlib.Path(terminals.directory)
    ensure((home / ".local/state/rdmalab/greeted").exists(), "no file says so")
    state = str(home / "elsewhere")
    (home / ".rdmalab_history").write_text("host h1\n")
    ensure("New here?" not in terminals.open(XDG_STATE_HOME=state).written, "there is a history")
    (home / ".rdmalab_history").unlink()
    (home / "elsewhere/rdmalab/greeted").unlink()
    ensure("New here?" in terminals.open(XDG_STATE_HOME=state).written, "not told")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check_terminal.py RDMALAB [NAME...]")
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
        if not name.startswith("check_") or (sys.argv[2:] and name[6:] not in sys.argv[2:]):
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
