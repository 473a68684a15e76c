# SPDX-License-Identifier: MIT
# NVMe over Fabrics between two machines (see driver_stage.py).  Before this: TARGET, the address of the one with the disk; SERVES_S,
# for how many seconds it waits at most.

# Offers a disk in memory on the RDMA device, until the other one says goodbye.
serves_disk() {
    local nvmet=/sys/kernel/config/nvmet port
    add_modules
    mount -t configfs configfs /sys/kernel/config
    mkdir $nvmet/subsystems/lab
    echo 1 >$nvmet/subsystems/lab/attr_allow_any_host
    mkdir $nvmet/subsystems/lab/namespaces/1
    printf /dev/nullb0 >$nvmet/subsystems/lab/namespaces/1/device_path
    echo 1 >$nvmet/subsystems/lab/namespaces/1/enable
    port=$nvmet/ports/1
    mkdir $port
    echo rdma >$port/addr_trtype
    echo ipv4 >$port/addr_adrfam
    echo "$TARGET" >$port/addr_traddr
    echo 4420 >$port/addr_trsvcid
    ln -s $nvmet/subsystems/lab $port/subsystems/lab
    timeout "$SERVES_S" nc -l -p 5007 </dev/null >/dev/null
}

# Gives the machine the name and the ID that a user of disks has.
names_host() {
    local id=1cb5d39e-37b6-4f33-b2a2-7ef9fb2a6d32
    mkdir -p /etc/nvme
    echo "nqn.2014-08.org.nvmexpress:uuid:$id" >/etc/nvme/hostnqn
    echo $id >/etc/nvme/hostid
}

waits_for_disk() {
    for _ in $(seq 50); do
        [ -b /dev/nvme0n1 ] && break
        usleep 100000
    done
}

makes_data() { dd if=/dev/urandom of=/tmp/data bs=64k count="$1" 2>/dev/null; }                      # BLOCKS
writes_data() { timeout "$1" dd if=/tmp/data of=/dev/nvme0n1 bs=64k oflag=direct 2>/dev/null; } # SECONDS

# reads_data SECONDS BLOCKS: succeeds if the disk has the data.
reads_data() { timeout "$1" dd if=/dev/nvme0n1 bs=64k count="$2" iflag=direct 2>/dev/null | cmp - /tmp/data; }

# Disconnects, and says goodbye to the machine with the disk.
leaves_disk() {
    local status
    nvme disconnect -n lab
    status=$?
    timeout 10 nc "$TARGET" 5007 </dev/null
    return $status
}

# Connects to the disk, writes to it, and reads that again.
uses_disk() {
    add_modules
    names_host
    for _ in $(seq 40); do
        timeout 60 nvme discover -t rdma -a "$TARGET" -s 4420 >/tmp/discovered 2>&1 && break
        sleep 1
    done
    echo "= nvme discovers $(grep -c '^subnqn: *lab$' /tmp/discovered)"
    timeout 60 nvme connect -t rdma -n lab -a "$TARGET" -s 4420 -i 2 -c 1 -l 120
    echo "= nvme connects $?"
    waits_for_disk
    makes_data 64
    [ -b /dev/nvme0n1 ] && writes_data 120
    echo "= nvme writes $?"
    reads_data 120 64
    echo "= nvme reads $?"
    [ -z "$LOSES" ] || loses_connection
    leaves_disk
    echo "= nvme disconnects $?"
}

# Says so, whereupon the lab cuts the network until queue pairs have given up; writes meanwhile, and reads that.
loses_connection() {
    makes_data 64
    ip address add 10.0.7.7/16 dev eth0
    sleep 1
    writes_data 120
    echo "= nvme writes again $?"
    reads_data 120 64
    echo "= nvme reads again $?"
}

# Removes what keeps the driver busy, in the order of its users.
removes_users() {
    rmmod nvme_rdma 2>/dev/null
    rmmod nvmet_rdma 2>/dev/null
    true
}
