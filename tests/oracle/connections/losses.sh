# SPDX-License-Identifier: MIT
# Records losses.pcap.gz, as rping.sh does book/rping.pcap.gz.
. ./pair.sh
serve ucmatose -b 10.0.0.2 -c 5
timeout 30 ucmatose -b 10.0.0.1 -s 10.0.0.2 -c 5
wait
serve rping -s -a 10.0.0.2
rping -c -a 10.0.0.2 -I 10.0.0.1 -C 1000000 &
sleep 1
kill -9 $!
wait
serve rping -s -a 10.0.0.2 -C 1
lose eth0 3
ping 1
wait
tc qdisc add dev eth0 root netem loss 15%
tc qdisc add dev eth1 root netem loss 15%
for _ in 1 2 3 4; do
    serve rping -s -a 10.0.0.2 -C 5
    server=$!
    ping 5
    kill $server
    wait $server
done
