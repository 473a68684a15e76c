# SPDX-License-Identifier: MIT
"""The pictures of README and book; sessions.py calls check().

A page shows a picture as ![what is seen](pictures/NAME.svg), and a session of a page makes it: a line
`export ladder NAME.svg` or `export vq NAME.svg QUEUE`, or a command `$ rdmalab run X --ladder NAME.svg`.
Where a reader need not see that line, the session stands in a comment of HTML.  Each picture that a page
shows is the one in book/pictures, byte for byte; what nobody shows, or no session makes, is an error.
The text in the brackets tells in a sentence what the picture shows, for those who do not see it.
"""
import contextlib
import io
import pathlib
import re
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTORY = "book/pictures"
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]*)\)")
ALT_MIN = 40  # characters; a shorter text names the picture and does not tell it


def shown_in(page):
    """Yields (what is seen, path) for each picture that a page shows."""
    for alt, target in SHOWN.findall(page.read_text()):
        yield " ".join(alt.split()), (page.parent / target).resolve()


def check_shown(page, alt, path, directory, made):
    """Returns a fault of a picture that a page shows, or None."""
    if path.parent != directory or path.suffix != ".svg":
        return f"{page}: {path.name} is no picture of {DIRECTORY}"
    if path.name not in made:
        return f"{page}: no session makes {path.name}: a line \"export ladder {path.name}\" would"
    if made[path.name] is None:
        return f"{page}: two sessions make different pictures called {path.name}"
    if len(alt) < ALT_MIN:
        return f"{page}: {path.name}: the text in brackets tells what is seen, in a sentence"
    if not path.exists():
        return f"{page}: {path.name} is missing in {DIRECTORY}; sessions.py --update makes it"
    if path.read_bytes() != made[path.name]:
        return f"{page}: {path.name} is not what the session makes now; sessions.py --update makes it"
    return None


def write(path, content):
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    print(f"{path.name}: updated")


def check(pages, made, update, root=ROOT, whole=True):
    """Yields what is wrong, or None for each picture that is right.

    @made: name -> bytes of what the sessions have made, None if they differ.  Without @whole the sessions of other pages have not
    run, so that it is only judged what they have made.
    """
    directory = (root / DIRECTORY).resolve()
    shown = [(page, alt, path) for page in pages for alt, path in shown_in(page)]
    names = {path.name for _, _, path in shown}
    for page, alt, path in shown:
        if not whole and path.name not in made:
            continue
        if update and path.parent == directory and made.get(path.name):
            write(path, made[path.name])
        yield check_shown(page, alt, path, directory, made)
    for path in sorted(directory.glob("*")) if whole else []:
        if path.name in names:
            continue
        if update:
            path.unlink()
            print(f"{path.name}: removed, since no page shows it")
        yield None if update else f"{DIRECTORY}/{path.name}: no page shows it"


ALT = "Two hosts; the first packet is lost, and the second arrives."
# Text of a page, pictures in the directory, pictures of the sessions; the expected fault; True if an update mends it.
SELF_TESTS = [
    (f"![{ALT}](pictures/a.svg)", {"a.svg": b"1"}, {"a.svg": b"1"}, None, True),
    (f"![{ALT}](pictures/a.svg)", {"a.svg": b"1"}, {"a.svg": b"2"}, "is not what the session makes", True),
    (f"![{ALT}](pictures/a.svg)", {}, {"a.svg": b"1"}, "is missing in", True),
    (f"![{ALT}](pictures/a.svg)", {"a.svg": b"1"}, {}, "no session makes a.svg", False),
    (f"![{ALT}](pictures/a.svg)", {"a.svg": b"1", "b.svg": b"1"}, {"a.svg": b"1", "b.svg": b"1"},
     "b.svg: no page shows it", True),
    (f"![{ALT}](a.svg)", {}, {"a.svg": b"1"}, "is no picture of", False),
    (f"![{ALT}](pictures/a.png)", {"a.png": b"1"}, {"a.png": b"1"}, "is no picture of", False),
    ("![a picture](pictures/a.svg)", {"a.svg": b"1"}, {"a.svg": b"1"}, "tells what is seen", False),
    (f"![{ALT}](pictures/a.svg)", {"a.svg": b"1"}, {"a.svg": None}, "two sessions make", False),
    (ALT, {}, {"a.svg": b"1"}, None, True),
]


def check_case(root, case):
    """Yields a problem or None for each thing that a case shows."""
    text, there, made, wanted, mended = case
    page = root / "book" / "page.md"
    (root / DIRECTORY).mkdir(parents=True)
    page.write_text(text)
    for name, content in there.items():
        (root / DIRECTORY / name).write_bytes(content)
    found = [problem for problem in check([page], made, False, root) if problem]
    right = wanted in found[0] if wanted and len(found) == 1 else not wanted and not found
    yield None if right else f"{case}: {found}"
    with contextlib.redirect_stdout(io.StringIO()):
        list(check([page], made, True, root))
    found = [problem for problem in check([page], made, False, root) if problem]
    yield None if (not found) == mended else f"after an update of {case}: {found}"


def self_test():
    """Yields a problem or None for each thing that is tried."""
    for case in SELF_TESTS:
        with tempfile.TemporaryDirectory() as name:
            yield from check_case(pathlib.Path(name).resolve(), case)
