#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""groups.py [--check]: frames about multicast groups, as Scapy builds them and tshark reads them.

Writes tests/oracle/vectors/groups.def, which the unit test wire.groups holds the program's own
frames against.  With --check it writes nothing: exit status 1 if the file has other bytes.  Exit
status 2 if nothing could be checked, 1 if tshark does not read what Scapy was told.
"""
import argparse
import logging
import pathlib
import sys
import tempfile

import capture

logging.getLogger("scapy").setLevel(logging.ERROR)
try:
    from scapy.contrib.igmpv3 import IGMPv3, IGMPv3gr, IGMPv3mq, IGMPv3mr
    from scapy.layers.inet import IP, IPOption_Router_Alert
    from scapy.layers.inet6 import (ICMPv6MLDMultAddrRec, ICMPv6MLQuery2, ICMPv6MLReport2, IPv6,
                                    IPv6ExtHdrHopByHop, PadN, RouterAlert)
    from scapy.layers.l2 import Ether
    from scapy.utils import wrpcap
except ImportError:
    capture.die("needs Scapy (Debian: python3-scapy)")

VECTORS = pathlib.Path(__file__).parent / "vectors" / "groups.def"
RECORDS = {"IS_EXCLUDE": 2, "TO_INCLUDE": 3, "TO_EXCLUDE": 4}
SRC4, SRC6 = "10.0.0.1", "fe80::ff:fe00:1"
MAC = "02:00:00:00:00:01"
GROUP4, GROUP6 = "239.129.2.3", "ff0e::1:2:3"

HEAD = """/* SPDX-License-Identifier: MIT */
/* Frames about multicast groups that Scapy built and tshark has read: see tests/oracle/groups.py,
 * which writes this file.
 *
 * REPORT(record, source, group, bytes)   what a station says
 * QUERY(group, milliseconds, bytes)      what a router asks; the group "" is any
 */
"""


def ipv4(dst):
    return IP(src=SRC4, dst=dst, ttl=1, tos=0xC0, id=0, flags="DF", proto=2,
              options=[IPOption_Router_Alert()])


def ipv6(src, dst):
    options = [RouterAlert(value=0), PadN()]
    return IPv6(src=src, dst=dst, hlim=1) / IPv6ExtHdrHopByHop(options=options, autopad=0)


def report4(record):
    frame = Ether(src=MAC, dst="01:00:5e:00:00:16") / ipv4("224.0.0.22") / IGMPv3(type=0x22)
    return frame / IGMPv3mr(records=[IGMPv3gr(rtype=record, maddr=GROUP4)])


def report6(record, src):
    record = ICMPv6MLDMultAddrRec(rtype=record, dst=GROUP6)
    return Ether(src=MAC, dst="33:33:00:00:00:16") / ipv6(src, "ff02::16") / ICMPv6MLReport2(records=[record])


def query4(group, code, dst):
    frame = Ether(src=MAC, dst="01:00:5e:00:00:01") / ipv4(dst) / IGMPv3(type=0x11, mrcode=code)
    return frame / IGMPv3mq(gaddr=group or "0.0.0.0", qrv=2, qqic=125)


def query6(group, code, dst):
    query = ICMPv6MLQuery2(mladdr=group or "::", mrd=code, QRV=2, QQIC=125)
    return Ether(src=MAC, dst="33:33:00:00:00:01") / ipv6(SRC6, dst) / query


def vectors():
    """(row of the file without its bytes, frame, what tshark must read) of each frame."""
    for name, number in RECORDS.items():
        yield f'REPORT({name}, "{SRC4}", "{GROUP4}"', report4(number), (GROUP4, str(number))
        yield f'REPORT({name}, "{SRC6}", "{GROUP6}"', report6(number, SRC6), (GROUP6, str(number))
    yield f'REPORT(TO_EXCLUDE, "::", "{GROUP6}"', report6(4, "::"), (GROUP6, "4")
    yield 'QUERY("", 10000', query4("", 100, "224.0.0.1"), ("0.0.0.0", "100")
    yield f'QUERY("{GROUP4}", 1000', query4(GROUP4, 10, GROUP4), (GROUP4, "10")
    yield 'QUERY("", 38400', query4("", 0x98, "224.0.0.1"), ("0.0.0.0", "384")
    yield 'QUERY("", 10000', query6("", 10000, "ff02::1"), ("::", "10000")
    yield f'QUERY("{GROUP6}", 1000', query6(GROUP6, 1000, GROUP6), (GROUP6, "1000")
    yield 'QUERY("", 74096', query6("", 0x9217, "ff02::1"), ("::", "74096")


FIELDS = ["_ws.malformed", "igmp.checksum.status", "icmpv6.checksum.status", "igmp.maddr",
          "igmp.record_type", "igmp.max_resp", "icmpv6.mldr.mar.multicast_address",
          "icmpv6.mldr.mar.record_type", "icmpv6.mld.multicast_address",
          "icmpv6.mld.maximum_response_code"]


def read_by_tshark(frames):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        wrpcap(f.name, frames)
        return capture.tshark(f.name, FIELDS)


def digits(frame):
    text = bytes(frame).hex()
    lines = [f'      "{text[i:i + 88]}"' for i in range(0, len(text), 88)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    args = parser.parse_args()
    rows = list(vectors())
    text = HEAD + "".join(f"{row},\n{digits(frame)})\n" for row, frame, _ in rows)
    failed = 0
    for (row, _, want), read in zip(rows, read_by_tshark([frame for _, frame, _ in rows]), strict=True):
        values = set(read.values())
        bad = read["_ws.malformed"] or "0" in (read["igmp.checksum.status"], read["icmpv6.checksum.status"])
        if bad or not all(w in values for w in want):
            print(f"tshark reads something else in {row}: {read}")
            failed += 1
    if args.check and VECTORS.read_text() != text:
        print(f"{VECTORS} has other bytes")
        failed += 1
    elif not args.check and not failed:
        VECTORS.write_text(text)
    print(f"{len(rows)} frames, {failed} complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
