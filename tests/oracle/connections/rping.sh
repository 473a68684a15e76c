# SPDX-License-Identifier: MIT
# Records book/rping.pcap.gz, packed by gzip -9n:
#   cd tests/oracle/connections && ../../interop/vm-run --wire rping.pcap rping.sh pair.sh ../../interop/guest.sh
. ./pair.sh
serve rping -s -a 10.0.0.2 -C 2 -v
ping 2
wait
ping 1 -p 9999
serve rping -s -a 10.0.0.2 -C 1 -v
lose eth1 7
ping 1
wait
serve udaddy -b 10.0.0.2 -C 2
timeout 20 udaddy -b 10.0.0.1 -s 10.0.0.2 -C 2
sleep 1
