#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The quiz and the grading of exercises.

usage: check_quiz.py RDMALAB
"""
import csv
import io
import json
import os
import re
import shutil
import sys

from program import ROOT, ensure, main

TOPICS = ["psn", "resent", "rings", "keys", "completions", "states", "connections"]
SEEDS = 20
EXERCISES = ROOT / "book/exercises"
HEAD = 'lesson mine "A quiz"\n'
LAB = ("lab\n    host h1 h2\n    link h1 h2\n"
       "    on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"
       "    connect h1.qp h2.qp timeout=4 quiet\n    foreach i in 1..9 { post_recv h2.qp sge=mr[0:64] }\n")
DO = "do\n    foreach i in 1..$n { post_send h1.qp sge=mr[0:64] }\n    run\n"
ASK = 'screen "Sends"\n    h1 sends $n messages.\nask "How many packets does h1 send?"\nnumber count(tx, host==h1)\n    One each.\n'
GOOD = HEAD + "draw n 2..9\n" + LAB + ASK + DO

BAD = {  # name -> text, what is printed
    "range": (HEAD + "draw n 5..2\n" + LAB + ASK + DO, r":2:1: .*smaller to a larger"),
    "one-word": (HEAD + "draw n 5\n" + LAB + ASK + DO, r":2:1: .*only one word"),
    "nothing": (HEAD + "draw n\n" + LAB + ASK + DO, r":2:1: .*a range or at most 32 words"),
    "long-word": (HEAD + "draw n 2 3 " + "4" * 64 + "\n" + LAB + ASK + DO, r":2:1: .*of 63 bytes each"),
    "empty-word": (HEAD + 'draw n 2 3 ""\n' + LAB + ASK + DO, r":2:1: .*a range or at most 32 words"),
    "long-operator": (HEAD + "draw n 2..5\nlet m $n " + "+" * 64 + "\n" + LAB + ASK + DO, r":3:1: .*a number is missing"),
    "no-name": (HEAD + "draw 2..5 6\n" + LAB + ASK + DO, r":2:1: .*a name is missing"),
    "twice": (HEAD + "draw n 2..5\ndraw n 2..5\n" + LAB + ASK + DO, r":3:1: .*has a value already"),
    "word-in-let": (HEAD + "draw n 2..5\nlet m $n + x\n" + LAB + ASK + DO, r":3:1: .*a number is needed"),
    "below": (HEAD + "draw n 2..5\nlet m $n - 9\n" + LAB + ASK + DO, r":3:1: .*below 0"),
    "zero": (HEAD + "draw n 2..5\nlet m $n % 0\n" + LAB + ASK + DO, r":3:1: .*divides by 0"),
    "sum": (HEAD + f"let m {2**64 - 1} + 1\n" + LAB + ASK + DO, r":2:1: .*too large"),
    "product": (HEAD + f"let m {2**32} * {2**32}\n" + LAB + ASK + DO, r":2:1: .*too large"),
    "utf8": (HEAD.encode() + b"# \xff\n", r":2:3: .*not UTF-8"),
    "operator": (HEAD + "draw n 2..5\nlet m $n & 2\n" + LAB + ASK + DO, r":3:1: .*one of \+ - \* / %"),
    "half": (HEAD + "draw n 2..5\nlet m $n +\n" + LAB + ASK + DO, r":3:1: .*a number is missing"),
    "unknown-name": (HEAD + "draw n 2..5\n" + LAB + ASK.replace("h1 sends $n", "h1 sends $m") + DO, r":\d+:14: .*has no value"),
    "no-question": (HEAD + "draw n 2..5\n" + LAB + 'screen "x"\n    Text.\n' + DO, r":\d+:8: .*a question and commands"),
    "same-choices": (HEAD + "draw n 2..5\n" + LAB + 'screen "x"\n    Text.\nask "How?"\nchoice "$n" if count(tx) == 1\n'
                     'choice "$(n)" if count(tx) != 1\n' + DO, r":\d+:8: .*two choices have the same text"),
    "two-right": (HEAD + "draw n 2..5\n" + LAB + 'screen "x"\n    Text.\nask "How?"\nchoice "a" if count(tx) > 0\n'
                  'choice "b" if count(tx) > 1\n' + DO, r":\d+:\d+: .*two choices are right"),
    "no-word": (HEAD + "draw n 2..5\n" + LAB + ASK.replace("number ", "word ") + DO, r":\d+:6: .*this is no word"),
    "long": (HEAD + "draw n 2..5\n" + LAB + ASK.replace("    h1 sends", "    x\n" * 22 + "    h1 sends") + DO, r":\d+:8: .*a page of \d+ lines"),
}


def check_problems(program):
    """Each problem of 20 seeds has one right answer, distinct choices, and fits on a screen."""
    result = program.run("quiz", "--check", "--seeds", f"1..{SEEDS}")
    ensure(result.returncode == 0, result.stdout + result.stderr)
    ensure(re.findall(r"^ok    (\S+)  20 problems$", result.stdout, re.MULTILINE) == TOPICS, result.stdout)


def check_bad_problems(program):
    """A mistake in a file of problems is told, with its place."""
    wrong = []
    for name, (text, pattern) in BAD.items():
        program.file(f"{name}.tour").write_bytes(text if isinstance(text, bytes) else text.encode())
        result = program.run("quiz", "--check", f"{name}.tour")
        said = re.findall(f"^{name}.tour{pattern}", result.stdout, re.MULTILINE)
        if result.returncode != 1 or len(said) != 1 or result.stderr or not result.stdout.startswith(f"FAIL  {name}.tour"):
            wrong.append(f"{name}: {result.returncode}: {result.stdout[:900]}{result.stderr}")
    ensure(not wrong, "\n".join(wrong))


def check_one_mistake_is_told_once(program):
    """A mistake that all seeds meet is told once; one of some seeds with the first of them."""
    program.file("all.tour").write_text(BAD["unknown-name"][0])
    said = program.run("quiz", "--check", "all.tour").stdout
    line = BAD["unknown-name"][0].split("\n").index("    h1 sends $m messages.") + 1
    ensure(f'\nall.tour:{line}:14: error: the name "$m" in the text of this problem has no value\n' in said, said)
    ensure(said.count("error") == 1 and '  draw it above: draw m 2..5\n  with all 20 seeds\n' in said and "^^\n" in said, said)
    program.file("near.tour").write_text(BAD["unknown-name"][0].replace("draw n", "draw mm").replace("$n", "$mm"))
    ensure('did you mean "$mm"?' in program.run("quiz", "--check", "near.tour").stdout, "a name like it")
    program.file("some.tour").write_text(HEAD + "draw n 2..5\nlet m $n - 3\n" + LAB + ASK + DO)
    said = program.run("quiz", "--check", "some.tour").stdout
    ensure(" seeds; the first is " in said, said)
    n, first = map(int, re.search(r"^  with (\d+) of 20 seeds; the first is (\d+)$", said, re.MULTILINE).groups())
    ensure(said.count("below 0") == 1 and "0 passed, 20 failed" not in said and f"{20 - n} passed, {n} failed" in said, said)
    ensure(program.run("quiz", "some.tour", "--seed", str(first), stdin="\n").returncode == 2, f"seed {first}")


def check_key(program):
    """The key has the answer of each seed, and is the same as what the reader is told."""
    result = program.run("quiz", "keys", "psn", "--key", "--seeds", "1..4", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    ensure(result.returncode == 0 and [(r["topic"], r["seed"]) for r in rows] == [(t, str(s)) for t in ("keys", "psn") for s in (1, 2, 3, 4)], result.stdout)
    for row in rows:
        ensure(answer_of(program, row["topic"], row["seed"])[1] == row["answer"], str(row))
        ensure(bool(row["text"]) == bool(re.fullmatch("[a-e]", row["answer"])), str(row))
    text = program.run("quiz", "psn", "--key").stdout.splitlines()
    ensure(len(text) == 20 and text[:4] == [f"{'psn':12} {r['seed']:>8}  {r['answer']}" for r in rows[4:]], str(text))
    whole = program.run("quiz", "--key", "--seeds", "3..3", "--format", "csv").stdout
    ensure([row["topic"] for row in csv.DictReader(io.StringIO(whole))] == TOPICS, whole)
    choices = 'choice "one\033]0;x\a" if count(tx) == 0\nchoice "no" if count(tx) == 5\n'
    program.file("escapes.tour").write_text(HEAD + LAB + 'screen "One"\n    Text.\nask "How many?"\n' + choices + "do\n    show h1\n")
    result = program.run("quiz", "escapes.tour", "--key", "--seeds", "1..1")
    ensure(result.returncode == 0 and r") one\x1b]0;x\x07" in result.stdout and "\033" not in result.stdout, result.stdout + result.stderr)
    program.file("wrong.tour").write_text(BAD["two-right"][0])
    result = program.run("quiz", "wrong.tour", "--key")
    ensure(result.returncode == 1 and "two choices are right" in result.stderr, result.stderr)


def check_letter_behind_the_question(program):
    """The letter of an answer executes no command after the question, also in a later screen without one."""
    program.file("two.tour").write_text('lesson mine "Two"\nscreen "One"\n    Text.\nask "How?"\nchoice "a" if count(tx) == 0\nchoice "b" if count(tx) > 0\n'
                                        'do\n    run\nscreen "Two"\n    More.\ndo\n    run\n')
    out = program.run("--prompt", stdin="tour two.tour\na\n\nb\n\nb\nrun 3us\n").stdout
    ensure(out.count("the question is over") == 2, out)


def check_example_of_the_book(program):
    """The problem in book/language.md is one, with each seed."""
    [text] = re.findall(r"^```quiz\n(.*?)^```$", (ROOT / "book/language.md").read_text(), re.MULTILINE | re.DOTALL)
    program.file("book.tour").write_text(text)
    result = program.run("quiz", "--check", "book.tour", "--seeds", "1..60")
    ensure(result.returncode == 0 and "ok    book.tour  60 problems" in result.stdout, result.stdout + result.stderr)


def answer_of(program, topic, seed):
    """The problem, without the answer, and the right answer as the lab says it."""
    out = program.run("quiz", topic, "--seed", str(seed), stdin="\n").stdout
    problem, _, rest = out.partition("answer: ")
    [answer] = re.findall(r"^> The answer: (?:([a-e])\) .*|(\S+))$", rest, re.MULTILINE)
    return problem, answer[0] or answer[1]


def check_answers(program):
    """The right answer is right, another one is wrong; both are told, and the status says which."""
    problems = set()
    for topic in TOPICS:
        for seed in (1, 2, 3):
            problem, right = answer_of(program, topic, seed)
            problems.add(problem)
            ensure(f"-- {topic} seed {seed}: " in problem and "$" not in problem, problem)
            good = program.run("quiz", topic, "--seed", str(seed), stdin=right + "\n")
            ensure(good.returncode == 0 and "\n> Right: " in good.stdout and "[the lab" in good.stdout, good.stdout)
            other = ("b" if right == "a" else "a") if re.fullmatch("[a-e]", right) else "7" + right if right.isdigit() else "SQE"
            bad = program.run("quiz", topic, "--seed", str(seed), stdin=other + "\n")
            ensure(bad.returncode == 1 and f"\n> Not {other}. It is: " in bad.stdout and "--solve" in bad.stdout, bad.stdout)
            ensure(answer_of(program, topic, seed) == (problem, right), "the same seed made another problem")
    ensure(len(problems) == 3 * len(TOPICS), "two seeds made the same problem")


def check_known_answer(program):
    """An answer that a person has computed, so that the problem of a seed is the same on every machine."""
    problem, right = answer_of(program, "psn", 1)
    n, first, size = (int(re.search(pattern, " ".join(problem.split())).group(1))
                      for pattern in (r"sends (\d+) messages", r"h1 has PSN (\d+)", r"messages of (\d+) bytes"))
    ensure((n, first, size) == (2, 16777211, 5128), problem)
    ensure(right == str((first + n * -(-size // 1024)) % 2**24) == "7", right)


def check_solutions(program):
    """The session of --solve can be repeated, and its last line shows the answer."""
    for topic in TOPICS:
        for seed in range(1, 6):
            solved = program.run("quiz", topic, "--seed", str(seed), "--solve")
            ensure(solved.returncode == 0 and "\nThe answer: " in solved.stdout, solved.stdout + solved.stderr)
            lines = re.findall(r"^> (.*)$", solved.stdout, re.MULTILINE)
            again = program.run(stdin="".join(line + "\n" for line in lines))
            last = re.findall(r"^ok: .*$", solved.stdout, re.MULTILINE)[-1]
            ensure(again.returncode == 0 and lines[-1].startswith("expect ") and last in again.stdout, again.stdout + again.stderr)


def check_several(program):
    """--count asks several problems; the status is 0 only if all answers were right."""
    right = [answer_of(program, "rings", seed)[1] for seed in (4, 5, 6)]
    result = program.run("quiz", "rings", "--seed", "4", "--count", "3", stdin="\n".join(right) + "\n")
    ensure(result.returncode == 0 and result.stdout.endswith("\n3 of 3 right\n"), result.stdout)
    result = program.run("quiz", "rings", "--seed", "4", "--count", "3", stdin="\n".join(right[:2]) + "\n")
    ensure(result.returncode == 1 and result.stdout.endswith("\n2 of 3 right\n"), result.stdout)
    result = program.run("quiz", "rings", "--seed", "4", stdin="?!\n" + right[0] + "\n")
    ensure(result.returncode == 0 and "type a number, or press Enter to see the answer" in result.stdout, result.stdout)


def check_words(program):
    """A word is right in small letters, too."""
    program.file("word.tour").write_text(GOOD.replace("number count(tx, host==h1)", "word h1.qp.state"))
    for said, status in (("RTS", 0), ("rts", 0), ("RTR", 1), ("RT", 1)):
        ensure(program.run("quiz", "word.tour", stdin=said + "\n").returncode == status, said)


def check_at_the_prompt(program):
    """A problem has a lab of its own, and can be looked at afterwards."""
    _, right = answer_of(program, "psn", 3)
    out = program.run("--prompt", stdin=f"host h9\nquiz psn seed=3\n{right}\nshow hosts\n\nshow hosts\nquiz psm\nquiz psn\n").stdout
    ensure(f"> Right: {right}\n" in out and "This is your own lab." in out and 'did you mean "quiz psn"?' in out, out)
    ensure(out.count("h9    10.0.0.1") == 1 and out.count("h2    10.0.0.2") == 1 and "-- psn seed 4: " in out, out)


def grade(program, *args):
    result = program.run("grade", str(EXERCISES), *args, "--format", "json")
    return result, json.loads(result.stdout)


def check_exercises(program):
    """Each model answer has all points, and no start file has."""
    result, [model] = grade(program, "--answers", str(EXERCISES / "answers"))
    ensure(result.returncode == 0 and model["points"] == model["of"] > 0, result.stdout)
    result, [start] = grade(program)
    ensure(result.returncode == 1 and len(start["exercises"]) == len(model["exercises"]) == 8, result.stdout)
    for exercise in start["exercises"]:
        ensure(exercise["points"] < exercise["of"], f"the start file of {exercise['name']} has all points")


CHEATS = {  # name -> the file of a student, the reason that is told
    "quit": ("quit\n", 'must not use "quit"'),
    "quit in a block": ("if t >= 0 { quit }\n", 'must not use "quit"'),
    "quit in an else": ("if t < 0 { note \"x\" } else { repeat 2 { quit } }\n", 'must not use "quit"'),
    "quit in a macro": ("macro m { quit }\nm\n", 'must not use "quit"'),
    "quit as a value": ("foreach c in quit { $c }\n", "error"),
    "quit as a parameter": ("macro m c { call $c }\nm quit\n", "error"),
    "skip": ('scenario skip="not today"\n', "scenario"),
    "expect": ("expect t >= 0\n", "FAIL expect count"),
    "a false expect": ("expect t == 77\n", "FAIL expect count"),
    "refused": ('refused says="x" { quit }\n', 'must not use "refused"'),
    "break": ("break t > 1us\n", 'must not use "break"'),
    "program": ("exec h1 true\n", 'must not use "exec"'),
    "file": ("export ladder x.svg\n", 'must not use "export"'),
    "source": ("source /etc/passwd\n", 'must not use "source"'),
    "another answer": ("answer model.lab allow=quit\n", 'must not use "answer"'),
    "the result": ('write h2.mr[0] "x"\n', 'must not use "write"'),
    "a macro of the check": ("macro verdict { note \"x\" }\n", 'must not use "macro"'),
    "an open block": ("on h1 {\n", "error"),
    "syntax": ("post_sendd h1.qp\n", "post_sendd"),
    "empty": ("", "FAIL expect count"),
    "for ever": ("repeat 10000 { foreach i in 1..10000 { note \"x\" } }\n", ""),
}


def make_exercise(program):
    """A directory with one exercise, and one for students."""
    one = program.file("work/one")
    for old in ("work", "class"):
        shutil.rmtree(program.file(old), ignore_errors=True)
    one.mkdir(parents=True)
    (one / "check-sent.lab").write_text("source lab.lab\nmacro verdict { expect count(cqe, host==h2, status==SUCCESS) == 1 }\n"
                                        "answer answer.lab allow=post_send,run\nrun\nverdict\n")
    (one / "lab.lab").write_text("".join(line.strip() + "\n" for line in LAB.splitlines()[1:]))
    (one / "answer.lab").write_text("post_send h1.qp sge=mr[0:5]\n")
    students = program.file("class")
    students.mkdir()
    return one.parent, students


def check_cheats(program):
    """No answer makes its own grade, or does anything outside."""
    work, students = make_exercise(program)
    for name, (text, _) in CHEATS.items():
        (students / name).mkdir()
        (students / name / "one.lab").write_text(text)
    (students / "link").mkdir()
    os.symlink(work / "one/answer.lab", students / "link/one.lab")
    (students / "hidden").mkdir()
    (students / "hidden/.one.lab").write_text("post_send h1.qp sge=mr[0:5]\n")
    (students / "honest/one").mkdir(parents=True)
    shutil.copy(work / "one/answer.lab", students / "honest/one/answer.lab")
    before = sorted(str(path) for path in students.rglob("*"))
    result = program.run("grade", "work", "--answers", "class", "--format", "json", "--seeds", "1..1", "--timeout", "3")
    graded = {student["student"]: student for student in json.loads(result.stdout)}
    ensure(result.returncode == 1 and len(graded) == len(CHEATS) + 3, result.stdout)
    ensure(graded["honest"]["points"] == 1, str(graded["honest"]))
    wrong = [str(student) for name, student in graded.items() if name != "honest" and student["points"] > 0]
    for name, (_, reason) in CHEATS.items():
        message = graded[name]["exercises"][0]["checks"][0].get("message", "")
        if reason not in message:
            wrong.append(f"{name}: {message}")
    ensure("symbolic link" in str(graded["link"]), str(graded["link"]))
    ensure(not wrong, "\n".join(wrong))
    ensure(before == sorted(str(path) for path in students.rglob("*")), "an answer has made a file")


def check_tables(program):
    """The three forms of a grade say the same; a name is no formula and no control character."""
    _, students = make_exercise(program)
    for name in ('=1+1,"x"', "zoe\x1b[31m", "plain"):
        (students / name).mkdir()
    (students / "plain/one.lab").write_text("post_send h1.qp sge=mr[0:5]\n")
    result = program.run("grade", "work", "--answers", "class", "--format", "csv")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    ensure(rows[0] == ["student", "one", "points", "of"] and rows[2] == ["plain", "1", "1", "1"], result.stdout)
    ensure(rows[1][0].startswith("'=1+1,") and rows[1][1:] == ["-", "0", "1"] and "\x1b" not in result.stdout, result.stdout)
    text = program.run("grade", "work", "--answers", "class")
    ensure(re.search(r"^plain +1   1 of 1$", text.stdout, re.MULTILINE) and "\x1b" not in text.stdout, text.stdout)
    alone = program.run("grade", "work")
    ensure(alone.returncode == 0 and re.search(r"^points +1 of 1$", alone.stdout, re.MULTILINE), alone.stdout)


def check_marks(program):
    """An answer that is missing, misnamed or unreadable is not like one that is wrong."""
    _, students = make_exercise(program)
    two = program.file("work/two")
    shutil.copytree(program.file("work/one"), two)
    right = "post_send h1.qp sge=mr[0:5]\n"
    for name, text in (("anna/one.lab", right), ("anna/two.lab", right), ("emma/ome.lab", right), ("otto/one/anwser.lab", right),
                       ("otto/one/lab.lab", ""), ("paul/one.lab", "post_sendd h1.qp\n"), ("rosa/one.lab", "run\n"),
                       ("rosa/notes.txt", ""), ("stray.lab", right), ("zoe/one.lab", right), ("zoe/one/answer.lab", "run\n")):
        file = students / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    result = program.run("grade", "work/one", "--answers", "class")
    table = re.findall(r"^(\w+) +([-!\d])   [01] of 1$", result.stdout, re.MULTILINE)
    ensure(dict(table) == {"anna": "1", "emma": "-", "otto": "-", "paul": "!", "rosa": "0", "zoe": "0"}, result.stdout)
    ensure(result.returncode == 1 and "-: not handed in\n!: the file cannot be read\n" in result.stdout, result.stdout)
    warned = set(re.findall(r"^rdmalab: class/(\S+): .* not graded", result.stderr, re.MULTILINE))
    ensure(warned == {"emma/ome.lab", "otto/one/anwser.lab", "stray.lab", "zoe/one.lab"}, result.stderr)
    ensure('did you mean "one.lab"?' in result.stderr and 'did you mean "answer.lab"?' in result.stderr, result.stderr)
    report = program.run("grade", "work", "--answers", "class", "--format", "report").stdout.split("\n\n")
    ensure([one.partition("\n")[0] for one in report] == ["anna", "emma", "otto", "paul", "rosa", "zoe"], str(report))
    ensure("points                   2 of 2" in report[0] and 'unknown command "post_sendd"' in report[3], str(report))
    ensure("not handed in" in report[1] and "not passed: sent, seed 1" in report[4], str(report))
    one = program.run("grade", "work", "--answers", "class", "--student", "paul")
    ensure(one.stdout == report[3] + "\n" and not one.stderr, one.stdout + one.stderr)
    whole = json.loads(program.run("grade", "work", "--answers", "class", "--format", "json").stdout)
    states = {student["student"]: [exercise["state"] for exercise in student["exercises"]] for student in whole}
    ensure(states["anna"] == ["graded"] * 2 and states["paul"] == ["unreadable", "missing"], str(states))
    here = program.run("grade", "work/two/.")
    ensure(here.returncode == 0 and "two  " in here.stdout and "one  " not in here.stdout, here.stdout + here.stderr)
    for args, said in ((["--student", "anna"], "--answers says"), (["--answers", "class", "--student", "nobody"], "no such directory")):
        wrong = program.run("grade", "work", *args)
        ensure(wrong.returncode == 2 and said in wrong.stderr, wrong.stderr)


def check_wrong_checks(program):
    """A check that expects nothing gives no point, and a fault that changes the outcome takes it."""
    work, _ = make_exercise(program)
    (work / "one/check-nothing.lab").write_text("source lab.lab\nanswer answer.lab allow=post_send,run\nrun\n")
    result = program.run("grade", "work")
    ensure(result.returncode == 1 and "nothing was expected" in result.stdout, result.stdout)
    (work / "one/check-nothing.lab").unlink()
    (work / "one/matrix-sent.lab").write_text((work / "one/check-sent.lab").read_text())
    ensure(program.run("grade", "work").returncode == 0, "RC repairs single faults")
    lab = work / "one/lab.lab"
    lab.write_text(lab.read_text().replace("quiet", "retry_cnt=0 quiet"))
    result = program.run("grade", "work")
    ensure(result.returncode == 1 and "with a fault: " in result.stdout and "points                   1 of 2" in result.stdout, result.stdout)


def check_a_check_alone(program):
    """A teacher runs a check like any script; there, too, the answer has its rights only."""
    work, _ = make_exercise(program)
    ensure(program.run("work/one/check-sent.lab").returncode == 0, "the check alone")
    (work / "one/answer.lab").write_text("host h3\n")
    result = program.run("work/one/check-sent.lab")
    ensure(result.returncode == 1 and 'must not use "host"' in result.stderr, result.stderr)


ROWS = [
    (["quiz"], "", 0, r"^psn +Which PSN comes next$"),
    (["quiz", "psm"], "", 2, r'did you mean "rdmalab quiz psn"'),
    (["quiz", "none.tour"], "", 2, r"none.tour: No such file"),
    (["quiz", "psn", "--count", "0"], "", 2, r"--count"),
    (["quiz", "psn", "keys"], "", 2, r"^usage: rdmalab quiz"),
    (["quiz", "psn", "--seeds", "1..3"], "", 2, r"^usage: rdmalab quiz"),
    (["quiz", "psn", "--key", "--seed", "3"], "", 2, r"^usage: rdmalab quiz"),
    (["quiz", "psn", "--format", "csv"], "", 2, r"^usage: rdmalab quiz"),
    (["quiz", "psn", "--key", "--format", "xml"], "", 2, r"there are text, csv"),
    (["quiz", "--check", "--seeds", "3..1"], "", 2, r"from the smaller to the larger"),
    (["quiz", "--check", "psn", "--seeds", f"{2**64 - 1}..{2**64 - 1}"], "", 0, r"^ok    psn  1 problem$"),
    (["-c", "quiz"], "", 0, r"this command is for the prompt"),
    (["-c", "repeat 2 { quiz }"], "", 1, r"^error: quiz .*block"),
    (["complete", "--", "quiz", "re"], "", 0, r"^resent$"),
    (["grade"], "", 2, r"^usage: rdmalab grade"),
    (["grade", "nowhere"], "", 2, r"nowhere: No such file"),
    (["grade", "."], "", 2, r"there is no exercise"),
    (["grade", ".", "--format", "xml"], "", 2, r"there are text, report, json, csv"),
]

if __name__ == "__main__":
    sys.exit(main(__doc__, {}, ROWS, globals()))
