# SPDX-License-Identifier: MIT
# Packages of other releases of Debian than the machine's, for virtual machines: fetched and unpacked,
# never installed, without root.  Sourced by vm-build, qemu-build and others.

# The one table of versions.  A row that Debian no longer has is skipped with a reason; bump it here.
declare -A foreign_suites=(
    [qemu-11.1]="trixie trixie-backports" # its libraries are in both
    [linux-6.12]=trixie
    [linux-7.3]=trixie-backports
    [verbs-56]=trixie
    [driver-6.12]=trixie # of the kernels with these numbers: headers, source and compiler
    [driver-7.3]="trixie trixie-backports"
)
declare -A foreign_packages=(
    [qemu-11.1]="qemu-system-x86=1:11.1.3+ds-1~bpo13+1"
    [linux-6.12]="linux-image-6.12.117+deb13-amd64"
    [linux-7.3]="linux-binary-7.3.4+deb13-amd64 linux-modules-7.3.4+deb13-amd64 linux-base-7.3.4+deb13-amd64"
    [verbs-56]="libibverbs1=56.1-1 ibverbs-providers=56.1-1 libibverbs-dev=56.1-1 libnl-3-200 libnl-route-3-200 libc6"
)

skip() {
    echo "skipped: $*"
    exit 77
}

# Suites whose source of rdma-core will do for provider-build, the best one first.
# shellcheck disable=SC2034 # there
source_suites="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) trixie"

apt_options=()

# An apt that knows the SUITEs alone, and leaves the machine's own as it is.
use_only() { # DIRECTORY TYPE SUITE...
    local directory=$1 type=$2 suite site
    shift 2
    site=$(apt-get indextargets --format "\$(SITE)" 'Created-By: Packages' 'Origin: Debian' |
        grep -v security | head -n 1) || skip "apt has no Debian to take $* from"
    mkdir -p "$directory/lists/partial" "$directory/cache/archives/partial"
    for suite in "$@"; do
        echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main"
    done >"$directory/suites.list"
    apt_options=(-o Dir::Etc::sourcelist="$directory/suites.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::lists="$directory/lists" -o Dir::Cache="$directory/cache" -o APT::Sandbox::User=root)
    apt-get "${apt_options[@]}" -q update >"$directory/update" 2>&1 ||
        skip "apt cannot have $*: $(tail -n 1 "$directory/update")"
}

# The same with the suites of a row.
use_suites() { # DIRECTORY ROW
    [ -n "${foreign_suites[$2]-}" ] || skip "there is no row for $2 in tests/interop/foreign.sh"
    # shellcheck disable=SC2086 # several
    use_only "$1" deb ${foreign_suites[$2]}
}

# Unpacks PACKAGEs, with all that they need, into the root directory DIRECTORY/system.  use_suites comes first.
unpack_root() { # DIRECTORY PACKAGE...
    local scratch=$1 package name
    shift
    # As if nothing were installed: so the compiler comes along, with all that it needs.
    : >"$scratch/status"
    mkdir -p "$scratch/debs/partial"
    echo "fetching $* and what they need"
    apt-get "${apt_options[@]}" -q -y --no-install-recommends --download-only -o APT::Sandbox::User=root \
        -o Dir::State::status="$scratch/status" -o Dir::Cache::archives="$scratch/debs" -o Debug::NoLocking=1 \
        install "$@" >"$scratch/log" 2>&1 || skip "apt cannot download $1: $(tail -n 1 "$scratch/log")"
    for package in "$scratch/debs"/*.deb; do
        dpkg-deb -x "$package" "$scratch/system"
    done
    for name in bin sbin lib lib64; do
        [ -e "$scratch/system/$name" ] || ln -s "usr/$name" "$scratch/system/$name"
    done
    ln -sf mawk "$scratch/system/usr/bin/awk"
    mkdir -p "$scratch/system"/{dev,proc,tmp,module}
}

# Runs a command in a root directory, in name spaces whose mounts end with it.
in_root() { # DIRECTORY COMMAND...
    # shellcheck disable=SC2016
    unshare -rmpf sh -c 'root=$1; shift; mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
        exec env -u LC_ALL LANG=C chroot "$root" "$@"' sh "$@"
}
