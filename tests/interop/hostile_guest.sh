# SPDX-License-Identifier: MIT
# The machine of linux_hostile, behind driver_guest.sh: it asks HOSTILE for one task after the other, and tells how each went.
# Before this: WAIT_MS, how long the test in the kernel waits for a completion; TIMEOUT_S, the same for control requests;
# SLOW, how much more time everything may take.

quickly_complains() {
    echo $((4 * SLOW)) >/proc/sys/kernel/watchdog_thresh
    echo $((8 * SLOW)) >/proc/sys/kernel/hung_task_timeout_secs
    echo -1 >/proc/sys/kernel/hung_task_warnings
    echo 1 >/proc/sys/kernel/panic_on_oops
    dmesg -n 4
    dmesg -c >/dev/null
}

has_device() { [ -e "/sys/class/infiniband/$DEVICE" ]; }

# The GIDs come by work that Linux has queued.
until_ready() {
    local tries=0
    until is_ready; do
        tries=$((tries + 1))
        has_device && [ $tries -lt 100 ] || return 1
        usleep 10000
    done
}

# Busybox's insmod tries again when it fails: the test then runs a second time.
tests_kernel() {
    # shellcheck disable=SC2086
    insmod /test/virtio_rdma_selftest.ko rounds=1 "wait_ms=$WAIT_MS" $CASES 2>/dev/null || return 1
    rmmod virtio_rdma_selftest
}

# The first cases of it.
tests_briefly() { CASES=cases_max=3 tests_kernel; }

# Waits until the pingpong's server listens at its port, 18515.
until_listens() {
    local tries=0
    until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':4853 [^ ]* 0A '; do
        tries=$((tries + 1))
        [ $tries -lt $((50 * SLOW)) ] || break
        usleep 50000
    done
}

# A program that waits for completions by events, with itself.
tests_program() {
    local status
    timeout $((6 * SLOW)) ibv_rc_pingpong -e -d "$DEVICE" -g 1 -n 20 >/tmp/server 2>&1 &
    until_listens
    timeout $((6 * SLOW)) ibv_rc_pingpong -e -d "$DEVICE" -g 1 -n 20 127.0.0.1 >/tmp/client 2>&1
    status=$?
    wait $! && [ $status = 0 ]
}

# round TEST PARAMETERS...: loads the driver, runs the test, removes the driver.
round() {
    local test=$1 device=no passed=- removed
    shift
    insmod "/test/$DRIVER.ko" "ctrl_timeout_s=$TIMEOUT_S" "$@"
    if has_device; then
        device=yes
        if until_ready; then
            "tests_$test" && passed=yes || passed=no
        fi
    fi
    rmmod "$DRIVER"
    removed=$?
    said="device=$device passed=$passed removed=$removed"
}

# Memory in use, when nothing of the driver is left.  Objects are counted where they have been allocated: "slab CACHE NUMBER
# FUNCTION".  Linux's own count of a cache, in slabinfo, has objects that are free in it; it serves only for caches whose
# allocations are not traced.
measures() {
    local cache
    opens_traces
    sync
    echo 3 >/proc/sys/vm/drop_caches
    usleep 500000
    echo 3 >/proc/sys/vm/drop_caches
    # Pages that nobody accounts for are those that drivers have allocated one by one.
    said=$(awk '
        FILENAME ~ /zoneinfo/ { if ($1 == "count:") pcp += 4 * $2; next }
        { kb[substr($1, 1, length($1) - 1)] = $2 }
        END {
            print "memory Pages", kb["MemTotal"] - kb["MemFree"] - pcp - kb["Active"] - kb["Inactive"] - kb["Unevictable"] - \
                kb["Slab"] - kb["KernelStack"] - kb["PageTables"] - kb["Percpu"] - kb["VmallocUsed"]
            print "memory SUnreclaim", kb["SUnreclaim"]
            print "memory Percpu", kb["Percpu"]
            print "memory MemFree", kb["MemFree"]
        }' /proc/zoneinfo /proc/meminfo
        for cache in /sys/kernel/debug/slab/*; do
            awk -v "cache=${cache##*/}" '/age=/ { print "slab", cache, $1, $2 }' "$cache/alloc_traces" 2>/dev/null
        done
        while read -r cache number _; do
            grep -q age= "/sys/kernel/debug/slab/$cache/alloc_traces" 2>/dev/null || echo "slab $cache $number"
        done </proc/slabinfo | grep "^slab [a-z].* [0-9]*$")
}

# Linux allocates an object for each file there that is opened, and keeps it: all are opened before anything is counted.
opens_traces() {
    [ -d /sys/kernel/debug/slab ] || mount -t debugfs debugfs /sys/kernel/debug
    cat /sys/kernel/debug/slab/*/alloc_traces >/dev/null 2>&1
}

# Objects that live although code that is not there any more, without names, has allocated them: "orphan CACHE NUMBER".
orphans() {
    local cache
    opens_traces
    said=$(for cache in /sys/kernel/debug/slab/*; do
        awk -v "cache=${cache##*/}" '
            function tell() { if (n && nameless) print "orphan", cache, n, line; n = 0 }
            /age=/ { tell(); n = $1; line = $2; nameless = 0 }
            / 0xffffffffc/ { nameless = 1 }
            END { tell() }' "$cache/alloc_traces" 2>/dev/null
    done
        echo "traces $(cat /sys/kernel/debug/slab/*/alloc_traces 2>/dev/null | grep -c age=)"
        leaks)
}

# Prints the objects to which nothing points, if the kernel can tell. It leaves out those of the last five seconds, and tells
# only of those that some scans in a row have found.
leaks() {
    [ -e /sys/kernel/debug/kmemleak ] || return
    sleep 6
    for _ in 1 2 3 4 5 6; do
        echo scan >/sys/kernel/debug/kmemleak
    done
    head -c 4000 /sys/kernel/debug/kmemleak | sed 's/^/leak /'
}

serves_tasks() {
    local task
    said=ready
    while :; do
        task=$({
            printf '%s\n' "$said"
            dmesg -c | sed 's/^\[[^]]*\] /log /'
            echo .
        } | nc "$HOSTILE" 9000)
        [ -n "$task" ] && [ "$task" != end ] || break
        said=
        eval "$task"
    done
}
