# SPDX-License-Identifier: MIT
# Functions for scripts in the virtual machine: network interfaces, rxe devices, cases.

# interface NAME MAC ADDRESS MTU: an existing network interface, ready for use; its addresses are
# ADDRESS (with prefix length) and the link-local one made from MAC.
interface() {
    sysctl -q -w "net.ipv4.conf.$1.rp_filter=0" "net.ipv4.conf.$1.accept_local=1" \
        "net.ipv6.conf.$1.accept_dad=0"
    ip link set "$1" address "$2" mtu "$4"
    ip link set "$1" up
    ip address add "$3" dev "$1"
}

# join A ADDRESS B ADDRESS: two interfaces of this machine that are joined outside of it talk over
# that wire.  Without this the kernel sees that both addresses are its own, and takes the short way.
# (rxe of Linux 6.1 works in the first network name space only, so that cannot keep them apart.)
join() {
    if ip rule show | grep -q '^0:'; then
        ip rule add pref 100 lookup local
        ip rule del pref 0
        sysctl -q -w net.ipv4.conf.all.rp_filter=0
    fi
    ip rule add pref 10 oif "$1" lookup 10
    ip route add "$4" dev "$1" src "$2" table 10
    ip rule add pref 11 oif "$3" lookup 11
    ip route add "$2" dev "$3" src "$4" table 11
}

# gid_index DEVICE ipv4|ipv6: where that kind of GID is in the table of the device.
gid_index() {
    local index=0 gid
    while read -r gid <"/sys/class/infiniband/$1/ports/1/gids/$index"; do
        case $2/$gid in
        ipv4/0000:0000:0000:0000:0000:ffff:*) break ;;
        ipv6/fe80:*) break ;;
        esac
        index=$((index + 1))
    done
    echo "$index"
}

# rxe DEVICE INTERFACE: an rxe device on a network interface, once its GIDs are there.
rxe() {
    local tries=0
    rdma link add "$1" type rxe netdev "$2"
    until grep -q '^fe80:' "/sys/class/infiniband/$1/ports/1/gids/$(gid_index "$1" ipv6)" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 250 ] || { echo "$1 has no IPv6 GID" && return 1; }
        usleep 20000
    done
}

# Does anybody listen on TCP port 18515?
listening() { grep -q ':4853 [0-9A-F]*:0000 0A ' /proc/net/tcp /proc/net/tcp6; }

# Is something connected to the interface?
carrier() { grep -q 1 "/sys/class/net/$1/carrier"; }

# Succeeds if the port of the rxe device is up.
active() { grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state"; }

# await CONDITION PID: true as soon as CONDITION holds; false if process PID has ended, or after 10 s.
await() {
    local tries=0
    until eval "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] && readlink "/proc/$2/exe" >/dev/null || return 1
        usleep 20000
    done
}

hundredths() { sed 's/\([0-9]*\)\.\([0-9]*\) .*/\1\2/' /proc/uptime; }

# pair NAME SECONDS READY SERVER CLIENT: one case.  Starts the command SERVER, waits for the condition
# READY, runs the command CLIENT, and stores in /out/NAME what both print, their exit status, and how
# long it took.  Neither may take longer than SECONDS.  When one of them fails, the other gets a second.
# After FAILURES_MAX failures in a row nothing is tried any more.
FAILURES_MAX=6
failures=0
pair() {
    local dir=/out/$1 started server client
    [ $failures -lt $FAILURES_MAX ] || return 0
    mkdir -p "$dir"
    started=$(hundredths)
    timeout "$2" sh -c "exec $4" >"$dir/server" 2>&1 &
    server=$!
    client="not run"
    if await "$3" $server; then
        timeout "$2" sh -c "exec $5" >"$dir/client" 2>&1
        client=$?
    fi
    if [ "$client" != 0 ]; then
        sleep 1
        kill $server 2>/dev/null
    fi
    wait $server
    server=$?
    failures=$((failures + 1))
    [ "$server $client" != "0 0" ] || failures=0
    echo "$server $client $(($(hundredths) - started))" >"$dir/status"
    echo "$1: server, client, time/10ms: $(cat "$dir/status")"
}

# again_if PATTERN NAME ...: as pair, and once more if a line matches that says only how busy the machine is.
again_if() {
    local tries pattern=$1
    shift
    for tries in 1 2 3 4; do
        rm -rf "/out/$1" $SERVING $SERVED $ENDED
        pair "$@"
        grep -q "$pattern" "/out/$1/server" "/out/$1/client" 2>/dev/null || return 0
    done
}

# calibrated NAME ...: as pair, of perftest.  It measures the clock of its processor first, and ends with status 1 if other
# programs of the machine have made that inaccurate.
calibrated() { again_if '^Correlation coefficient' "$@"; }

# connected NAME ...: as pair, of programs of rdma_cm.  `exec` waits a second until a server listens.
connected() { again_if 'nothing is called "h1.id1' "$@"; }

# said FILE: the lines of a transcript of verbs_peer, as transcripts.py has them.
said() { grep -E '^((section|check|digest|refused) |[a-z0-9_]+: qp=|end$)' "$1"; }

# forget_if_same CASE TRUTH FILE...: the FILEs of the CASE are not needed when both sides have printed what
# those of the case TRUTH have.
forget_if_same() {
    local case=/out/$1 truth=/out/$2 file same=yes
    shift 2
    [ -d "$case" ] || return 0
    for side in server client; do
        [ "$(said "$case/$side" | md5sum)" = "$(said "$truth/$side" | md5sum)" ] || same=
    done
    for file; do
        [ -e "$case/$file" ] || continue
        if [ "$same" ]; then rm "$case/$file"; else gzip "$case/$file"; fi
    done
}

# traffic CASE FILE: of the lab's trace in the CASE only frames, completions and events of rdma_cm are kept; the file "lost" says how many
# frames were lost.
traffic() {
    local dir=/out/$1
    [ -e "$dir/$2" ] || return 0
    grep -E '^\{"format"|"ev":"(tx|rx|cqe|lost|cm_event)"' "$dir/$2" >"$dir/$2.kept"
    mv "$dir/$2.kept" "$dir/$2"
    echo "lost $(grep -c '"ev":"lost"' "$dir/$2")" >"$dir/lost"
}

# --- Programs of rdma_cm, on either side ---------------------------------------------------------

# cm_listening: succeeds if a program on this machine's kernel waits for connections of rdma_cm.
cm_listening() { rdma resource show cm_id | grep -q 'state LISTEN'; }

# cm_grouped INTERFACE: succeeds if the interface has joined the multicast group 239.0.0.1.
cm_grouped() { ip maddr show dev "$1" | grep -q 01:00:5e:00:00:01; }

# address6 INTERFACE ADDRESS DEVICE: the interface has that address, and the rxe device its GID.
address6() {
    ip -6 address replace "$2/64" dev "$1" nodad
    until grep -q '^2001:0db8:' "/sys/class/infiniband/$3/ports/1/gids/"* 2>/dev/null; do usleep 20000; done
}

# Files by which the two sides of a case know about each other: the server can be reached; the client, the server has ended.
SERVING=/tmp/serving SERVED=/tmp/served ENDED=/tmp/ended

# side MINE OTHER COMMAND...: one side.  Its machine stays until the other one has ended, so that it answers what is sent again.
side() {
    local mine=$1 other=$2 status tries=0
    shift 2
    "$@"
    status=$?
    eval "touch \$$mine"
    until [ $status != 0 ] || eval "[ -e \$$other ]" || [ $tries -gt 1500 ]; do
        usleep 20000
        tries=$((tries + 1))
    done
    exit $status
}

# ends STATUS,... COMMAND...: succeeds if COMMAND ends with one of them.
ends() {
    local wanted=$1 got
    shift
    "$@"
    got=$?
    case ,$wanted, in
    *,$got,*) ;;
    *) echo "ended with status $got instead of $wanted" && return 1 ;;
    esac
}

# until_served COMMAND...: a server that never ends.  It is killed when its clients have ended, and must have lived until then.
until_served() {
    local server
    "$@" &
    server=$!
    trap 'kill -KILL $server; exit 143' TERM
    until [ -e $SERVED ]; do
        readlink "/proc/$server/exe" >/dev/null || return 1
        usleep 20000
    done
    [ ! "${taken-}" ] || ends 255 "$@" || return
    kill -KILL $server
    ends 137 wait $server
}

# also_taken COMMAND...: as until_served.  In the end another COMMAND is refused, as its port is taken.
also_taken() {
    local taken=yes
    until_served "$@"
}

# in_turn N SECONDS COMMAND...: COMMAND N times, one after the other; the last one after a pause.
in_turn() {
    local left=$1 pause=$2
    shift 2
    while [ "$left" -gt 0 ]; do
        [ "$left" != 1 ] || sleep "$pause"
        "$@" || return
        left=$((left - 1))
    done
}

# calm COMMAND...: a client of rping.  It may end with 255 behind its work, as it closes its channel while its thread waits there.
calm() {
    local status
    "$@" >/tmp/calm 2>&1
    status=$?
    cat /tmp/calm
    [ $status != 255 ] || ! grep -q '^rdma_get_cm_event: Bad file descriptor' /tmp/calm || status=0
    return $status
}

# leaks NAME: the file "leaked" of the case has what rxe has left since @RESOURCES was written.
RESOURCES=/tmp/resources
leaks() {
    local tries=0
    until rdma resource show | cmp -s - $RESOURCES; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || { rdma resource show >"/out/$1/leaked" && return 0; }
        usleep 20000
    done
}
