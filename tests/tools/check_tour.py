#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The tour: its lessons, lessons of others, readers at a pipe.

usage: check_tour.py RDMALAB
"""
import os
import re
import shutil
import sys

from program import ROOT, ensure, main

LESSONS = sorted((ROOT / "tours").glob("*.tour"))
HEAD = 'lesson mine "A lesson"\n'
PAIR = """lab
    host h1 h2
    link h1 h2
    on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }
    connect h1.qp h2.qp timeout=4 quiet
    post_recv h2.qp wr_id=7 sge=mr[0:64]
"""
SCREEN = 'screen "One"\n    Text.\n'
SEND = "do\n    post_send h1.qp wr_id=1 sge=mr[0:5] signaled\n    run\n"
GOOD = (HEAD + PAIR + 'screen "Sending"\n    Text.\nask "How many packets?"\nnumber count(tx)\n    One is the ACK.\n' + SEND +
        "expect h1.cq.count == 1\nthen\n    Behind it.\n"
        'screen "States"\n    More text.\nask "Which?"\nchoice "RTS" if h1.qp.state == RTS\n'
        '    It stays ready.\n'
        'choice "ERR" if h1.qp.state == ERR\n    Nothing has failed.\n')

BAD = {  # name -> text, exit status, what is printed
    "empty": ("", 2, r":1:1: .*this lesson has no screen"),
    "no-lesson": (SCREEN, 2, r":1:1: .*a tour begins with its lesson"),
    "two-lessons": (HEAD + HEAD + SCREEN, 2, r":2:8: .*a file has one lesson"),
    "name": ('lesson My "x"\n' + SCREEN, 2, r":1:8: .*no name of a lesson"),
    "long-name": (f'lesson {"a" * 32} "x"\n' + SCREEN, 2, r":1:8: .*31 characters at most"),
    "no-title": ("lesson mine\n" + SCREEN, 2, r":1:12: .*a text in quotes is needed"),
    "quote": ('lesson mine "x\n' + SCREEN, 2, r":1:13: .*the closing quote is missing"),
    "empty-title": ('lesson mine ""\n' + SCREEN, 2, r":1:13: .*this text is empty"),
    "more": ('lesson mine "x" y\n' + SCREEN, 2, r":1:17: .*nothing more is expected"),
    "unknown": (HEAD + SCREEN + "question\n", 2, r":4:1: .*a tour has no such line"),
    "indent": (HEAD + SCREEN + "  Text\n", 2, r":4:3: .*has four blanks"),
    "no-place": (HEAD + "    Text\n", 2, r":2:5: .*takes no text"),
    "outside": (HEAD + 'ask "What?"\n', 2, r":2:1: .*belongs to a screen"),
    "order": (HEAD + SCREEN + "do\n    host h1\n" + 'ask "What?"\n', 2, r":6:1: .*too late in its screen"),
    "two-dos": (HEAD + SCREEN + "do\n    host h1\ndo\n    host h2\n", 2, r":6:1: .*too late in its screen"),
    "late-lab": (HEAD + SCREEN + "lab\n    host h1\n", 2, r":4:4: .*lab stands once"),
    "no-text": (HEAD + 'screen "One"\n', 2, r":2:8: .*no text"),
    "no-answers": (HEAD + SCREEN + 'ask "What?"\nchoice "a" if count(tx) == 1\n', 2, r":4:5: .*no answers"),
    "choice-alone": (HEAD + SCREEN + 'choice "a" if count(tx) == 1\n', 2, r":4:8: .*an ask must stand before it"),
    "no-if": (HEAD + SCREEN + 'ask "What?"\nchoice "a" count(tx) == 1\n', 2, r':5:12: .*"if" and a condition'),
    "expression": (HEAD + SCREEN + 'ask "What?"\nchoice "a" if count(txx) == 1\n', 2, r":5:21: .*txx"),
    "path": (HEAD + SCREEN + 'ask "What?"\nnumber h1.qp.stat\n', 2, r":5:8: "),
    "typed-in": (HEAD + SCREEN + 'ask "What?"\nnumber 4\n', 2, r":5:8: .*the lab computes the answer(.|\n)*number count\(tx\)"),
    "number-alone": (HEAD + SCREEN + "number count(tx)\n", 2, r":4:8: .*an ask must stand before it"),
    "typed-in-choice": (HEAD + SCREEN + 'ask "What?"\nchoice "a" if 1 == 1\nchoice "b" if 1 == 2\n', 2,
                        r":5:15: .*the lab does not decide this"),
    "condition": (HEAD + SCREEN + 'ask "What?"\nnumber count(tx) == 1\n', 2, r":5:8: .*one value of the lab"),
    "happening": (HEAD + SCREEN + "do\n    host h1\nexpect tx(host==h1)\n", 2, r":6:8: .*over when the answer is needed"),
    "refused-alone": (HEAD + SCREEN + 'refused "x"\n', 2, r":4:9: .*follows the commands"),
    "utf8": (HEAD.encode() + b'screen "One"\n    \xff\n', 2, r":3:5: "),
    # mistakes that only playing shows
    "lab-fails": (HEAD + "lab\n    host h1 h1\n" + SCREEN, 1, r":3:13: error: (?!(.|\n)*FAIL)"),
    "fails": (HEAD + SCREEN + "do\n    kick h1.qp.sq\n", 1, r":5:10: error: (?!(.|\n)*FAIL)"),
    "syntax": (HEAD + SCREEN + "do\n    hosst h1\n", 1, r':5:5: .*hosst'),
    "not-refused": (HEAD + SCREEN + 'do\n    host h1\nrefused "x"\n', 1, r":5:5: .*was not refused"),
    "refused-else": (HEAD + SCREEN + 'do\n    kick h1.qp.sq\nrefused "needs RTS"\n', 1, r":5:10: error: "),
    "expect": (HEAD + PAIR + SCREEN + SEND + "expect count(tx) == 3\n", 1, r":13:8: FAIL count\(tx\) == 3 does not hold: it is 2$"),
    "two-right": (HEAD + PAIR + SCREEN + 'ask "What?"\nchoice "a" if count(tx) > 0\nchoice "b" if count(tx) > 1\n' + SEND, 1,
                  r":12:15: .*two choices are right: a and b"),
    "none-right": (HEAD + PAIR + SCREEN + 'ask "What?"\nchoice "a" if count(tx) == 7\nchoice "b" if count(tx) == 8\n' + SEND, 1,
                   r":10:5: .*no choice is right\n  a: count\(tx\) == 7: it is 2; b: count\(tx\) == 8: it is 2$"),
    "no-value": (HEAD + SCREEN + 'ask "What?"\nnumber h7.irqs\n', 1, r":5:8: .*h7"),
    "no-number": (HEAD + PAIR + SCREEN + 'ask "What?"\nnumber h1.qp.state\n', 1, r":11:8: .*no number"),
    "too-long": (HEAD + SCREEN + "    x\n" * 20, 1, r":2:8: .*a page of 25 lines"),
    "much-too-long": (HEAD + SCREEN + "    x\n" * 24, 2, r":27:5: .*more lines than a screen"),
    "too-wide": (HEAD + SCREEN + "    " + "é" * 77 + "\n    " + "é" * 78 + "\n", 2, r":5:5: .*line of text is too long"),
    "output": (HEAD + PAIR + SCREEN + "do\n    show tree h1.qp\n", 1, r":8:8: .*a page of \d+ lines(.|\n)*\"run 10us\", then"),
    "quits": (HEAD + SCREEN + "do\n    quit\n", 1, r":5:5: .*a lesson cannot quit"),
    "outside-files": (HEAD + "lab\n    source /etc/passwd\n" + SCREEN, 1, r":3:12: .*(leads out of the directory)"),
    "program": (HEAD + "lab\n    host h1\n    exec h1 true\n" + SCREEN, 1, r":4:13: .*may not start a program"),
}


def state(program, name="state"):
    return {**os.environ, "XDG_STATE_HOME": str(program.file(name)), "NO_COLOR": "1"}


def read(program, *lines, where=(), env=None):
    """The output for a reader with these inputs.  Without an env, for a reader who has read nothing before."""
    if not env:
        shutil.rmtree(program.file("state"), ignore_errors=True)
    return program.run("tour", *where, stdin="".join(line + "\n" for line in lines), env=env or state(program)).stdout


def check_each_lesson(program):
    """Each lesson of the program can be played, also from its file, and each file is one of the program."""
    built = program.run("tour", "--check")
    ensure(built.returncode == 0, built.stdout + built.stderr)
    names = re.findall(r"^ok    tours/(\S+)  \d+ screens$", built.stdout, re.MULTILINE)
    ensure(names == [lesson.name for lesson in LESSONS], str(names))
    files = program.run("tour", "--check", *map(str, LESSONS))
    ensure(files.returncode == 0 and files.stdout.endswith(f"{len(LESSONS)} passed, 0 failed\n"), files.stdout)


def check_bad_lessons(program):
    """A mistake in a lesson is told, with its place."""
    wrong = []
    for name, (text, status, pattern) in BAD.items():
        file = f"{name}.tour"
        program.file(file).write_bytes(text if isinstance(text, bytes) else text.encode())
        result = program.run("tour", "--check", file)
        if result.returncode != status or not re.search(f"^FAIL  {file}\n(.*\n)*?{file}{pattern}", result.stdout, re.MULTILINE) or result.stderr:
            wrong.append(f"{name}: {result.returncode}, not {status}: {result.stdout}{result.stderr}")
    ensure(not wrong, "\n".join(wrong))


def check_example_of_the_book(program):
    """The lesson in book/language.md is one."""
    [text] = re.findall(r"^```tour\n(.*?)^```$", (ROOT / "book/language.md").read_text(), re.MULTILINE | re.DOTALL)
    program.file("book.tour").write_text(text)
    result = program.run("tour", "--check", "book.tour")
    ensure(result.returncode == 0 and "ok    book.tour  2 screens" in result.stdout, result.stdout + result.stderr)


def check_missing_file(program):
    """A file that is not there is a mistake of usage, and the others are checked."""
    program.file("good.tour").write_text(GOOD)
    result = program.run("tour", "--check", "none.tour", "good.tour")
    ensure(result.returncode == 2 and "none.tour: No such file" in result.stderr, result.stderr)
    ensure("ok    good.tour  2 screens" in result.stdout, result.stdout)


def check_answers(program):
    """Right and wrong answers, and none: the lab has the last word each time."""
    program.file("good.tour").write_text(GOOD)
    out = read(program, "2", "", "", "", "b", where=["good.tour"])
    ensure("> As you expected: 2\n  [the lab counts 2 packets sent: count(tx)]\n  One is the ACK.\n  Behind it.\n" in out, out)
    ensure("> You expected b. It is: a) RTS\n  [the lab: h1.qp.state is RTS]\n  Nothing has failed.\n" in out, out)
    out = read(program, "3", "", "", "", "A", where=["good.tour"])
    ensure("> You expected 3. It is: 2\n  [the lab counts 2 packets sent: count(tx)]\n  One is the ACK.\n" in out, out)
    ensure("> As you expected: a) RTS\n  [the lab: h1.qp.state is RTS]\n  It stays ready.\n" in out, out)
    out = read(program, "", "", "", "", "", where=["good.tour"])
    ensure("> The answer: 2\n" in out and "> The answer: a) RTS\n" in out, out)
    out = read(program, "3us", "", "", where=["good.tour"])
    ensure("> The answer: 2\n" in out, out)


FORMS = {  # text typed at a question -> the answer; None: it is told what to type
    "number": {"2": "2", "two": "2", "2 packets": "2", "Two packets.": "2", "none": "0", "I do not know": None, "a": None,
               "n": None, "b)": None, "not sure": None, "maybe two": None},
    "choice": {"a": "a", "B": "b", "a)": "a", "(b)": "b", "b.": "b", "b) two": "b", "none": "a", "None!": "a", "0": "a", "two": "b",
               "2": "b", "c": None, "n": None, "1": None, "c)": None, "a or b": None, "I do not know": None, "not sure": None, "?": None},
}


def check_forms_of_answers(program):
    """A text that reads as an answer is one; another one is told so, and executes nothing."""
    ask = {"number": "number count(tx)\n",
           "choice": 'choice "none: nothing is sent" if count(tx) == 0\nchoice "two" if count(tx) == 2\n'}
    wrong = []
    for kind, rows in FORMS.items():
        program.file("forms.tour").write_text(HEAD + PAIR + 'screen "One"\n    Text.\nask "How many?"\n' + ask[kind] + SEND)
        for typed, answer in rows.items():
            out = program.run("tour", "forms.tour", stdin=f"{typed}\n" + "\n" * (2 if answer else 3), env=state(program, f"{kind}{typed}"[:9]))
            right = {"number": "2", "choice": "b"}[kind]
            expected = ("> The answer: " if not answer else "> As you expected: " if answer == right else f"> You expected {answer}. It is: ")
            told = f"type {'a number' if kind == 'number' else 'a or b'}, or press Enter to skip\n"
            n_told = out.stdout.replace("[" + told[:-1] + "]", "").count(told)
            if expected not in out.stdout or n_told != (not answer) or "unknown command" in out.stdout + out.stderr or "undone" in out.stdout:
                wrong.append(f"{kind} {typed}: {out.stdout[-900:]}")
    ensure(not wrong, "\n".join(wrong))


def check_commands_at_a_question(program):
    """A command of more than one letter works while a question is open; afterwards an answer is none any more."""
    program.file("good.tour").write_text(GOOD)
    out = read(program, "show h1.qp.state", "info qp", "b cqe(host==h1)", "2", "", "", "2", "two", "", "a", "b", "b)", where=["good.tour"])
    ensure("h1.qp.state = RTS" in out and "break 1" in out and "> As you expected: 2" in out, out)
    ensure(out.count('the question is over; "tour" shows the screen again\n') == 4, out)
    ensure("unknown command" not in out, out)


def check_reasons(program):
    """A reason follows each answer, also for a reader who only presses Enter."""
    env = state(program, "reasons")
    out = read(program, "tour objects 1", *[""] * 300, env=env)
    facts = re.findall(r"\n> The answer: .*\n(?:  .*\n)*?  \[the lab[^]]*(?:\n[^]]*)?.*\](?=\n)(\n  [^\n]*)?", out)
    ensure(len(facts) > 25 and all(facts), f"{len(facts)}: {out}")


def check_typed_commands(program):
    """The typed command of the lesson goes on with it, however it is written; anything else is tried."""
    program.file("good.tour").write_text(GOOD)
    out = read(program, "", "post_send   h1.qp signaled sge=mr[0:5] wr_id=1", "run", "", "x", where=["good.tour"])
    ensure("mine 1/2 t=17.51us" in out and "-- mine 2/2: States --" in out, out)
    ensure("Your own commands" not in out, out)


def check_own_commands(program):
    """After own commands the lesson goes on where it was left, and says so if they changed something."""
    program.file("good.tour").write_text(GOOD)
    out = read(program, "", "show qp", "", "", "", "a", where=["good.tour"])
    ensure("h1.qp" in out and "Your own commands" not in out, out)
    ensure(out.count("\n[Enter: post_send h1.qp wr_id=1 sge=mr[0:5] signaled]\n") == 1, out)
    out = read(program, "", "modify_qp h1.qp state=ERR", "run", "", "", "", "a", where=["good.tour"])
    ensure(out.count("(Your own commands are undone; the lesson goes on where you left it.)") == 1, out)
    ensure("> The answer: 2\n" in out and "> As you expected: a) RTS" in out, out)
    out = read(program, "host h9", "tour", "host h9", "tour stop", "host h9", where=["good.tour"])
    ensure(out.count("-- mine 1/2") == 2 and out.count("h9  10.0.0.3") == 2 and out.count("h9  10.0.0.1") == 1, out)
    out = read(program, "", "on h1", "", "", "", "a", where=["good.tour"])
    ensure("> As you expected: a) RTS" in out, out)


def check_own_lab(program):
    """The lab of the prompt is as it was when the tour is left."""
    out = program.run("--prompt", stdin="host mine\ntour\n\n\ntour 7\n\n\ntour stop\nshow hosts\ntour list\n",
                      env=state(program, "own")).stdout
    ensure(re.search(r"your own lab\.\nt=0 #1> show hosts\n.*\nmine ", out), out)
    ensure(re.search(r"7 lost-packet   A lost packet +\d min  \(screen ", out), out)


def check_ways(program):
    """next, back, a number, a name; at both ends; and what is none."""
    env = state(program, "ways")
    out = read(program, "tour next", "tour next", "tour back", "tour send", "tour back", "tour 13", "tour nexxt", "tour 14",
               "tour stop", "tour back", env=env)
    heads = re.findall(r"^-- (\S+ \d+)/\d+: ", out, re.MULTILINE)
    ensure(heads == ["objects 1", "objects 2", "objects 3", "objects 2", "send 1", "send 1", "connections 1"], str(heads))
    ensure('the tour has no lesson "nexxt"' in out and 'did you mean "tour next"?' in out, out)
    ensure('the tour has no lesson "14"' in out and "no lesson is open" in out, out)


def check_line_that_fails(program):
    """A line that fails behind `tour` opens no lesson, also not with the next line; of two lessons in a line the last one opens."""
    program.file("good.tour").write_text(GOOD)
    out = program.run("--prompt", stdin="tour good.tour; kick h1.sq\nhost h9\n", env=state(program, "fails")).stdout
    ensure("h9  10.0.0.1" in out and "-- mine" not in out, out)
    out = program.run("--prompt", stdin="tour good.tour; quiz psn; tour good.tour; tour keys\n", env=state(program, "fails")).stdout
    ensure(re.findall(r"^-- (\S+)", out, re.MULTILINE) == ["keys"], out)


def check_odd_names(program):
    """The name of a lesson may have any sign that the name of a file may have."""
    name = 'a "quoted"\\ name.tour'
    program.file(name).write_text(GOOD)
    ensure("-- mine 1/2" in read(program, where=[name]), name)
    ensure("-- mine 2/2" in read(program, where=[name, "2"]), name)


def check_progress(program):
    """A reader who comes back goes on where he was; a lesson that is over is done, and the next one follows."""
    env = state(program, "progress")
    read(program, "tour next", "tour next", env=env)
    out = read(program, *["tour next"] * 6, env=env)
    ensure(re.search(r"^-- objects 3/8", out, re.MULTILINE) and "-- send 1/8" in out, out)
    listed = program.run("tour", "list", env=env).stdout
    ensure(re.search(r"^ 1 objects .*\(done\)$", listed, re.MULTILINE), listed)
    ensure(re.search(r"^ 2 send .*\(screen 1 of 8\)$", listed, re.MULTILINE), listed)
    program.file("good.tour").write_text(GOOD)
    read(program, "tour next", where=["good.tour"], env=env)
    ensure("-- mine 2/2: States --" in read(program, env=env), "the lesson of a file is not remembered")
    program.file("good.tour").unlink()
    ensure("-- objects 1/8" in read(program, env=env), "a file that is gone")


def check_places(program):
    """Each lesson keeps its place: opening it goes there, a number goes to a screen."""
    env = state(program, "places")
    out = read(program, "tour send 7", "tour keys", "tour next", "tour send", "tour virtqueue 6", "tour next", "tour exit",
               "tour send 9", "tour list 3", "tour quit", "tour", "tour quit", env=env)
    heads = re.findall(r"^-- (\S+ \d+)/\d+: ", out, re.MULTILINE)
    ensure(heads == ["objects 1", "send 7", "keys 1", "keys 2", "send 7", "virtqueue 6", "keys 2", "keys 2"], str(heads))
    ensure('The lesson "virtqueue" is done.\n(You were at screen 2; "tour keys 1" begins the lesson again.)\n' in out, out)
    ensure(out.count('You have left the tour. Type "tour" to continue where you were.') == 2, out)
    ensure("the lesson has no screen 9" in out and "it has the screens 1 to 8" in out, out)
    listed = program.run("tour", "list", env=env).stdout
    ensure(re.search(r"^ 2 send .*\d min  \(screen 7 of 8\)$", listed, re.MULTILINE), listed)
    ensure(len(re.findall(r"^[ \d]\d \S+ .* [1-9]\d? min", listed, re.MULTILINE)) == len(LESSONS), listed)
    for where, head in ((["2"], "send 7"), (["send", "3"], "send 3"), (["keys"], "keys 2")):
        ensure(f"-- {head}/" in read(program, where=where, env=env), str(where))


def check_damaged_progress(program):
    """A damaged file of the progress is as good as none."""
    env = state(program, "damaged")
    file = program.file("damaged/rdmalab/tour")
    file.parent.mkdir(parents=True)
    for text in b"", b"\xff\x00\n", b"9 3 send\n", b"99999999999999999999999 1 x\n-1 -1 send\n", b"1 2 " + b"x" * 9000, b"3 900 send\n":
        file.write_bytes(text)
        out = read(program, env=env)
        ensure(re.search(r"^-- (objects 1|send 4)/8", out, re.MULTILINE), f"{text[:40]}: {out}")


def check_unwritable(program):
    """If the progress cannot be written, the tour says so once and goes on."""
    program.file("full").write_text("a file, and no directory")
    out = read(program, "tour next", "tour next", "tour next", env=state(program, "full"))
    ensure(out.count("The place in the tour cannot be kept") == 1 and "-- objects 4/8" in out, out)


def check_files_of_lessons(program):
    """The lesson of a file reads and writes beside itself only, even if the reader types the command."""
    program.file("course").mkdir()
    program.file("course/w.tour").write_text(
        HEAD + PAIR + SCREEN + "do\n    export ladder beside.svg\n" + 'screen "Two"\n    Text.\ndo\n    export ladder ../out.svg\n')
    out = program.run("tour", "course/w.tour", stdin="\n\nexport ladder ../out.svg\n", env=state(program))
    ensure(program.file("course/beside.svg").exists(), out.stdout + out.stderr)
    ensure(not program.file("out.svg").exists() and "leads out of the directory" in out.stderr, out.stdout + out.stderr)


def check_broken_lesson(program):
    """A lesson that cannot go on ends, and the prompt does not; the exit status says so."""
    program.file("broken.tour").write_text(HEAD + SCREEN + "do\n    kick h1.qp.sq\n")
    result = program.run("tour", "broken.tour", stdin="\nhost h1\n", env=state(program))
    ensure(result.returncode == 1 and "broken.tour:5:10: error" in result.stderr, result.stderr)
    ensure("This lesson cannot be continued." in result.stdout and "h1  10.0.0.1" in result.stdout, result.stdout)


def check_escapes(program):
    """Control characters of a lesson reach no terminal."""
    program.file("esc.tour").write_text('lesson mine "\x1b[31m"\nscreen "\x1b[32m"\n    \x1b[33m\nask "\x1b[34m"\n'
                                        'choice "\x1b[35m" if count(tx) == 0\nchoice "\x1b[36m" if count(tx) > 0\n    \x1b[37m\n'
                                        "then\n    \x1b[38m\n")
    result = program.run("tour", "esc.tour", stdin="b\n\n", env=state(program))
    ensure("\x1b" not in result.stdout and "\\x1b[35m" in result.stdout, repr(result.stdout))


ROWS = [
    (["tour", "--help"], "", 0, r"^usage: rdmalab tour \[LESSON\|FILE\.tour \[SCREEN\]\]"),
    (["tour", "a", "b"], "", 2, r"^usage: rdmalab tour"),
    (["tour", "keys", "1", "2"], "", 2, r"^usage: rdmalab tour"),
    (["tour", "keys", "--chek"], "", 2, r"--chek"),
    (["-c", "tour"], "", 0, r"^the tour is at the prompt: rdmalab tour$"),
    (["-c", "repeat 2 { tour list }"], "", 1, r"^error: tour .*block"),
    (["complete", "--", "tour", "lo"], "", 0, r"^lost-packet$"),
]

if __name__ == "__main__":
    sys.exit(main(__doc__, {}, ROWS, globals()))
