#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: learner_words.py RDMALAB | --collect DOCUMENT...

Checks that `explain` knows the words that a learner asks for.  tests/oracle/learner_words.tsv has 150 of them.  Each must be
explained, on one screen, or have a reason in the third column why it is no word of RDMA.

--collect prints such a list.  Nobody chooses: a word is a run of letters, and the parts of a name with underscores are
words.  There are three kinds of sources: the documents (about RDMA and virtio), the manual pages ibv_* and rdma_* of
libibverbs-dev and librdmacm-dev, and the names and titles of Wireshark's fields infiniband.*.  A word counts for a
kind if it is at least four times as frequent there as in all other manual pages of the machine.  It must occur in two
of the three, so that names of people and of single products are no words.  Words are ranked by log-likelihood; the
first fifty of each kind are taken, then the next of each in turn until there are 150.

The last line is "N passed, N failed".
"""
import collections
import glob
import gzip
import itertools
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = 150
LINES = 24
WORD = re.compile(r"[a-z]{2,}")


def words_of(text):
    return collections.Counter(WORD.findall(text.lower()))


def manual(path):
    with gzip.open(path, "rt", errors="replace") as page:
        return re.sub(r"\\f.|^[.'].\S*|\\\S", " ", page.read(), flags=re.MULTILINE)


def likelihood(n, total, other, others):
    expected = total * (n + other) / (total + others)
    return n * math.log(n / expected)


def rank(counts, reference):
    total, others = sum(counts.values()), sum(reference.values())
    key = {w: likelihood(n, total, reference[w], others) for w, n in counts.items()
           if n / total >= 4 * (reference[w] + 1) / others}
    return sorted(key, key=lambda w: (-key[w], w))


def collect(documents):
    listed = subprocess.run(["dpkg", "-L", "libibverbs-dev", "librdmacm-dev"], stdout=subprocess.PIPE, text=True, check=True)
    own = {path for path in listed.stdout.split() if re.search(r"/man[37]/(ibv|rdma)_.*\.gz$", path)}
    fields = subprocess.run(["tshark", "-G", "fields"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    titles = [line.split("\t") for line in fields.stdout.splitlines() if "\tinfiniband." in line]
    reference = collections.Counter()
    for path in glob.glob("/usr/share/man/man[1-8]/*.gz"):
        if path not in own and os.path.exists(path) and not re.search(r"ibv|rdma|mlx|/rs|efa", os.path.basename(path)):
            reference.update(words_of(manual(path)))
    texts = []
    for path in documents:
        with open(path, errors="replace") as document:
            texts.append(document.read())
    kinds = [words_of(" ".join(texts)), words_of(" ".join(manual(p) for p in sorted(own) if os.path.exists(p))),
             words_of(" ".join(f"{t[1]} {t[2].rpartition('.')[2]}" for t in titles))]
    shared = {w for w in set().union(*kinds) if sum(w in counts for counts in kinds) > 1}
    ranked = [[w for w in rank(counts, reference) if w in shared] for counts in kinds]
    chosen = dict.fromkeys(w for words in ranked for w in words[:WORDS // 3])
    for following in itertools.zip_longest(*(words[WORDS // 3:] for words in ranked)):
        for word in following:
            if word and len(chosen) < WORDS:
                chosen.setdefault(word)
    return [(w, sum(counts[w] for counts in kinds)) for w in chosen]


def check(rdmalab):
    passed, wrong = 0, []
    with open(os.path.join(HERE, "learner_words.tsv"), encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    if len(rows) != WORDS:
        wrong.append(f"the list has {len(rows)} words, not {WORDS}")
    for word, _, *reason in rows:
        done = subprocess.run([rdmalab, "explain", word], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        if done.returncode == 0 and reason:
            wrong.append(f"{word} is explained: there is no need of a reason")
        elif done.returncode != 0 and not reason:
            wrong.append(f"explain does not know {word}")
        elif done.stdout.count("\n") > LINES:
            wrong.append(f"{word} takes more than one screen")
        else:
            passed += 1
    print(*wrong, f"{passed} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--collect":
        for word, n in collect(sys.argv[2:]):
            print(word, n, sep="\t")
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    return check(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
