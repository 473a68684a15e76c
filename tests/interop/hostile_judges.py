# SPDX-License-Identifier: MIT
"""Judges of linux_hostile, from what the machine says: after each fault, when the driver is loaded again, and of memory."""
import re
from dataclasses import dataclass

COMPLAINT = re.compile(
    r"BUG|WARNING|Oops|Call Trace|general protection|refcount_t|blocked for more than|lockup|self-detected stall|detected stalls|"
    r"allocation failure|page fault|corruption|Redzone|[Pp]oison overwritten|NULL pointer|scheduling while atomic|duplicate filename|"
    r"still has|leaked|cut here|sleeping function|possible circular|KASAN|KFENCE|UBSAN|ODEBUG|DMA-API: (?!preallocated|debugging)|suspected memory leaks|Objects remaining|use count|bad page", re.IGNORECASE)
ROUND = re.compile(r"device=(yes|no) passed=(yes|no|-) removed=(\d+)")

OUTCOMES = {"yes": "passed", "no": "failed", "then": "failed, and passed then", "-": "device not ready"}

# Caches that grow with use: freed addresses of modules are kept for a while, as are files, ports of closed connections and
# buffers of frames.
LAZY = re.compile(r"vmap_area|.*inode.*|dentry|filp|.*kernfs.*|maple_node|radix_tree_node|lsm.*|pid.*|cred.*|task.*|signal.*|sighand.*|mm_struct|"
                  r"vm_area.*|vma.*|anon_vma.*|files_cache|fs_cache|.*file.*|buffer_head|bio.*|names_cache|seq.*|shmem.*|perf.*|debug_objects.*|"
                  r"tcp_bind.*|tw_sock.*|skbuff_head_cache")

# Growth of memory in use that the kernel causes itself, in kB.
MEMORY_KB = {"Pages": 800, "SUnreclaim": 1500, "Percpu": 200}


@dataclass(frozen=True)
class Judged:
    passed: bool
    why: str
    outcome: str  # what became of the test


def logged(said):
    """The lines of the kernel's log in what the machine says."""
    return [line[4:] for line in said if line.startswith("log ")]


def complaints(said):
    return [line for line in logged(said) if COMPLAINT.search(line)]


def judge(said, also=()):
    """@also: what is wrong besides."""
    found = next(filter(None, map(ROUND.fullmatch, said)), None)
    wrong = list(also)
    if not found:
        return Judged(False, f"it says {said[:5]}", "nothing")
    device, passed, removed = found.groups()
    if removed != "0":
        wrong.append(f"the driver cannot be removed: {removed}")
    wrong += complaints(said)
    if passed == "yes" and any("selftest" in line and "FAILED" in line for line in said):
        passed = "then"
    outcome = "no device" if device == "no" else OUTCOMES[passed]
    return Judged(not wrong, "; ".join(wrong), outcome)


def judge_fault(said, hits):
    return judge(said, [] if hits else ["the fault has not hit"])


def judge_again(said):
    """A round without a fault: the test must have passed, too."""
    log = [line for line in logged(said) if "FAILED" in line or "broken" in line]
    return judge(said, [] if any(" passed=yes " in line for line in said) else [f"the test does not pass {said[:1]} {log}"])


def numbers(lines, word):
    """{name: number} of lines "WORD NAME NUMBER ...", those of a name added up."""
    total = {}
    for line in lines:
        parts = line.split()
        if len(parts) >= 3 and parts[0] == word:
            name = " ".join([parts[1], *parts[3:]])
            total[name] = total.get(name, 0) + int(parts[2])
    return total


def judge_memory(before, after, n):
    """@before, @after: (what measures says, what orphans says); @n: faults in between."""
    wrong = []
    was, now = numbers(before[0], "memory"), numbers(after[0], "memory")
    if set(MEMORY_KB) - set(now) or not numbers(after[0], "slab"):
        wrong.append("memory was not measured")
    for name, limit in MEMORY_KB.items():
        growth = now.get(name, 0) - was.get(name, 0)
        if growth > limit:
            wrong.append(f"{name}: {growth:+} kB")
    was, now = numbers(before[0], "slab"), numbers(after[0], "slab")
    wrong += [f"{name}: {now[name] - was.get(name, 0):+} objects" for name in now
              if not LAZY.fullmatch(name.split()[0]) and now[name] - was.get(name, 0) > 20 + n // 4]
    was, now = numbers(before[1], "orphan"), numbers(after[1], "orphan")
    wrong += [f"of code that is gone: {name}: {now[name] - was.get(name, 0):+} objects" for name in now
              if now[name] - was.get(name, 0) > 4]
    wrong += [line for line in after[1] if line.startswith("leak ")]
    if not any(line.startswith("traces ") and int(line.split()[1]) > 100 for line in after[1]):
        wrong.append("there are no traces of allocations")
    return Judged(not wrong, "; ".join(wrong), "")


GOOD = ["device=yes passed=yes removed=0", "log virtio_rdma_selftest: send: ok"]
MEMORY = (["memory Pages 40000", "memory SUnreclaim 20000", "memory Percpu 500", "slab kmalloc-64 1000 f+0x1/0x2", "slab sock 10"],
          ["orphan kmalloc-64 2 f+0x1/0x2", "traces 5000"])


def changed(lines, old, new):
    return [line.replace(old, new) for line in lines]


# Judged texts, and whether each is right.
PLANTS = [
    (judge_fault(GOOD, 1), True),
    (judge_fault(GOOD, 0), False),
    (judge_fault(changed(GOOD, "passed=yes", "passed=no"), 1), True),
    (judge_fault(["device=no passed=- removed=0"], 1), True),
    (judge_fault(changed(GOOD, "removed=0", "removed=1"), 1), False),
    (judge_fault([], 1), False),
    (judge_fault([*GOOD, "log virtio_rdma virtio1: the device is broken: command 0x3: no response"], 1), True),
    *[(judge_fault([*GOOD, f"log {line}"], 1), False) for line in (
        "BUG: kernel NULL pointer dereference, address: 0000000000000008",
        "WARNING: CPU: 0 PID: 80 at drivers/infiniband/core/cq.c:313 ib_free_cq+0x10/0x20",
        "INFO: task rmmod:300 blocked for more than 8 seconds.",
        "watchdog: BUG: soft lockup - CPU#1 stuck for 9s! [insmod:300]",
        "BUG kmalloc-64 (Tainted: G    B      OE     ): Poison overwritten",
        "refcount_t: underflow; use-after-free.",
        "rcu: INFO: rcu_preempt self-detected stall on CPU",
        "DMA-API: device driver frees DMA memory with different size",
        "ODEBUG: free active (active state 0) object: 00000000 object type: work_struct hint: event_work",
        "UBSAN: array-index-out-of-bounds in cq.c:80:2",
        "BUG: sleeping function called from invalid context at kernel/workqueue.c:3000")],
    (judge_again(GOOD), True),
    (judge_again(changed(GOOD, "passed=yes", "passed=no")), False),
    (judge_again(changed(GOOD, "device=yes passed=yes", "device=no passed=-")), False),
    (judge_memory(MEMORY, MEMORY, 200), True),
    (judge_memory(MEMORY, (changed(MEMORY[0], "kmalloc-64 1000", "kmalloc-64 1080"), MEMORY[1]), 200), False),
    (judge_memory(MEMORY, (changed(MEMORY[0], "sock 10", "sock 90"), MEMORY[1]), 200), False),
    (judge_memory(MEMORY, ([*MEMORY[0], "slab kmalloc-64 80 g+0x1/0x2"], MEMORY[1]), 200), False),
    (judge_memory(MEMORY, ([*MEMORY[0], "slab dentry 800 g+0x1/0x2"], MEMORY[1]), 200), True),
    (judge_memory(MEMORY, (changed(MEMORY[0], "Pages 40000", "Pages 40900"), MEMORY[1]), 200), False),
    (judge_memory(MEMORY, (changed(MEMORY[0], "SUnreclaim 20000", "SUnreclaim 21600"), MEMORY[1]), 200), False),
    (judge_memory(MEMORY, (changed(MEMORY[0], "Percpu 500", "Percpu 800"), MEMORY[1]), 200), False),
    (judge_memory(MEMORY, (MEMORY[0], changed(MEMORY[1], "kmalloc-64 2", "kmalloc-64 9")), 200), False),
    (judge_memory(MEMORY, (MEMORY[0], ["orphan kmalloc-32 5 g+0x1/0x2", *MEMORY[1]]), 200), False),
    (judge_memory(MEMORY, (MEMORY[0], []), 200), False),
    (judge_memory(MEMORY, (MEMORY[0], [*MEMORY[1], "leak unreferenced object 0xffff888001234500 (size 64):"]), 200), False),
    (judge_memory(MEMORY, ([], MEMORY[1]), 200), False),
]


def self_test():
    """Returns (number of texts that are judged wrongly, number of texts)."""
    wrong = [i for i, (judged, good) in enumerate(PLANTS) if judged.passed != good]
    for i in wrong:
        print(f"FAILED: text {i} is judged as {'right' if PLANTS[i][0].passed else 'wrong'} {PLANTS[i][0].why}")
    return len(wrong), len(PLANTS)
