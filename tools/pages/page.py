# SPDX-License-Identifier: MIT
"""What the pages that write_docs.py writes share.

A page is a module with outputs(root) -> {file: what has to be in it}, problems(root), which yields a
problem or None for each check of its rows, and self_test(), which does so for each case.
"""
import pathlib
import tempfile

STRING = r'"((?:\\.|[^"\\])*)"'  # a literal of C, without its quotes


class Wrong(Exception):
    """A mistake in the rows, without whose repair nothing can be written."""


def put(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def check(page, root):
    """Yields a problem or None for each file of the page, and for what it is written from."""
    try:
        wanted = page.outputs(root)
    except Wrong as wrong:
        yield str(wrong)
        return
    for name, text in wanted.items():
        path = root / name
        current = path.exists() and path.read_text() == text
        yield None if current else f"{name} is not current: tools/write_docs.py writes it"
    yield from page.problems(root)


def self_test_of(page, plant, plants, is_right=lambda written: True):
    """Yields a problem or None for the files of @plant, and for each of @plants: [(files, problem)].

    The pages of @plant must be right, by @is_right as well; each change to them must be noticed.
    """
    for change, wanted in [({}, ""), *plants]:
        with tempfile.TemporaryDirectory() as tmp:
            root = pathlib.Path(tmp)
            put(root, plant)
            written = page.outputs(root)
            put(root, written)
            if not change:
                yield None if is_right(written) else f"wrong: {written}"
            put(root, change)
            found = [problem for problem in check(page, root) if problem]
        right = any(wanted in problem for problem in found) if wanted else not found
        yield None if right else f"MISSED: {change}: wanted '{wanted}', found {found}"
