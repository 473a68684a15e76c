# SPDX-License-Identifier: MIT
"""Which behaviours of src/emu/facts/behaviours.def a section of verbs_peer shows.

A section is in verbs.expected as rxe with rxe has printed it, and the lab has to print the same with rxe on
the other side: so rxe agrees about these.  book/conformance.md says so.  What a section passes through and
does not look at is not here.
"""

SHOWN = {  # the beginning of names of sections -> behaviours
    "rc_send": ["I1", "I3", "I4", "I15", "B55", "B69", "B75", "B76"],
    "rc_send_with_imm": ["I3", "B78", "B79"],
    "rc_write": ["I15", "B76"],
    "rc_write_with_imm": ["I3", "B77", "B78"],
    "rc_read": ["I15", "B45", "B57", "B73", "B76"],
    "rc_atomics": ["I2", "B70"],
    "rc_pieces": ["I4", "I15", "B76"],
    "rc_inline": ["B11"],
    "rc_fence": ["I14", "B67"],
    "rc_crossing": ["I3", "B69"],
    "rc_psn_wrap": ["B46"],
    "srq": ["I3", "B97"],
    "mw_access": ["B102"],
    "mw_send_with_inv": ["B79", "B106"],
    "mw_local_inv": ["B105"],
    "mw_after_inv": ["B106"],
    "mw_bind_again": ["B102", "B103"],
    "mw_type_1": ["B102"],
    "uc_send": ["I15"],
    "uc_write": ["I15"],
    "uc_send_with_imm": ["B78"],
    "uc_rdma_write_with_imm": ["B77", "B78"],
    "uc_refused": ["B42"],
    "ud_messages": ["I18"],
    "ud_area": ["B110"],
    "ud_refused": ["B5", "B110"],
    "mcast": ["B111"],
    "mcast_own": ["B111"],
    "bad_rkey_": ["I6", "B13", "B16"],
    "no_access_": ["B16"],
    "no_qp_access_": ["B18"],
    "out_of_range_": ["I7", "B16"],
    "unaligned_": ["B19"],
    "no_range": ["B74"],
    "after_success": ["B54"],
    "too_small": ["B20"],
    "bad_receive": ["B21"],
    "bad_lkey": ["B1"],
    "local_range": ["B1"],
    "closed_sink": ["B3"],
    "bad_inv": ["B106"],
    "rnr_exceeded": ["B38"],
    "rnr_late": ["B37"],
    "destroyed_by_a_": ["B63"],
    "imm_with_bad_rkey": ["B16"],
    "imm_without_receive_and_rkey": ["B38"],
    "unaligned_with_bad_rkey": ["B16"],
    "mw_beyond": ["B102"],
    "mw_bad_local_inv": ["B105"],
    "mw_uc_local_inv": ["B102"],
    "uc_bad_lkey": ["B1"],
    "other_mtu_send": ["I15"],
    "other_mtu_read": ["B57"],
    "destroyed_by_b_": ["B33", "B63"],
}


def sections_of(names, key):
    """Those of the @names that belong to @key: one of that name, also at 1 MiB, or all that begin with it."""
    if key.endswith("_"):
        return [name for name in names if name.startswith(key)]
    return [name for name in names if name in (key, f"{key}_1m")]


def shown_by(names):
    """{behaviour: [section, ...]}, and what does not fit: names without a row, rows without a name."""
    shown, wrong, seen = {}, [], set()
    for key, behaviours in SHOWN.items():
        found = sections_of(names, key)
        seen.update(found)
        if not found:
            wrong.append(f"no section is called {key}")
        for behaviour in behaviours:
            shown.setdefault(behaviour, []).extend(found)
    wrong += [f"the section {name} shows nothing" for name in names if name not in seen]
    return shown, wrong
