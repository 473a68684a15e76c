/* SPDX-License-Identifier: MIT */
#include "cli/live/tap_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TUN_DEVICE "/dev/net/tun"

static void explain(struct live_error *e, const char *device, const char *why, const char *remedy)
{
    snprintf(e->message, sizeof(e->message), "tap %s: %s", device, why);
    snprintf(e->remedy, sizeof(e->remedy), "%s", remedy);
}

/* User name for the command that grants a device. */
static const char *user_name(void)
{
    const struct passwd *p = getpwuid(geteuid());

    return p ? p->pw_name : "$USER";
}

/* Reports that TUN_DEVICE could not be opened. */
static void explain_open(struct live_error *e, const char *device, int err)
{
    char why[64];

    snprintf(why, sizeof(why), TUN_DEVICE ": %s", strerror(err));
    if (err == ENOENT || err == ENODEV || err == ENXIO)
        explain(e, device, why, "load the kernel's module, as root: \"modprobe tun\"");
    else if (err == EPERM || err == EACCES)
        explain(e, device, why, "let everybody open it, as root: \"chmod 666 " TUN_DEVICE "\"");
    else
        explain(e, device, why, "");
}

/* Reports that the kernel refuses this device to the process. */
static void explain_attach(struct live_error *e, const char *device, int err)
{
    const bool exists = if_nametoindex(device) != 0;

    if (err == EPERM && exists) {
        explain(e, device, "the device belongs to another user", "");
        snprintf(e->remedy, sizeof(e->remedy),
                 "choose another name, or make it yours, as root: \"ip link del %s && "
                 "ip tuntap add %s mode tap user %s && ip link set %s up\"",
                 device, device, user_name(), device);
    } else if (err == EPERM) {
        explain(e, device, "making a tap device is not permitted", "");
        snprintf(e->remedy, sizeof(e->remedy),
                 "make it once, as root: \"ip tuntap add %s mode tap user %s && "
                 "ip link set %s up\"; or let the program do it: \"setcap cap_net_admin+ep "
                 "rdmalab\"",
                 device, user_name(), device);
    } else if (err == EBUSY) {
        explain(e, device, "the device is in use: a program has it open",
                "choose another name, or end that program");
    } else if (err == EINVAL && exists) {
        explain(e, device, "a device of this name exists, and is no tap device with one queue",
                "choose another name; \"ip -d link\" lists what there is");
    } else {
        explain(e, device, strerror(err), err == EINVAL ? "choose another name" : "");
    }
}

/* Sets the device up.  Without the permission, it must already be up. */
static void bring_up(const char *name)
{
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {0};

    if (s < 0)
        return;
    memcpy(r.ifr_name, name, strlen(name));
    if (ioctl(s, SIOCGIFFLAGS, &r) == 0 && !(r.ifr_flags & IFF_UP)) {
        r.ifr_flags |= IFF_UP;
        /* If that is not permitted, frames pass once a privileged user sets it up. */
        (void)!ioctl(s, SIOCSIFFLAGS, &r);
    }
    close(s);
}

int tap_open(const char *name, struct live_error *reterr)
{
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd;

    if (strlen(name) >= sizeof(r.ifr_name)) {
        explain(reterr, name, "the name is too long for a device",
                "choose one of at most 15 characters");
        return -1;
    }
    fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        explain_open(reterr, name, errno);
        return -1;
    }
    memcpy(r.ifr_name, name, strlen(name));
    if (ioctl(fd, TUNSETIFF, &r) != 0) {
        explain_attach(reterr, name, errno);
        close(fd);
        return -1;
    }
    bring_up(name);
    return fd;
}

/* Checks the capability: root may lack it, and others may have it. */
static bool may_make_devices(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};

    return syscall(SYS_capget, &header, sets) == 0 &&
           (sets[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN));
}

uint32_t tap_mtu(const char *name)
{
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {0};
    uint32_t mtu = 0;

    if (s < 0)
        return 0;
    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
    if (ioctl(s, SIOCGIFMTU, &r) == 0)
        mtu = (uint32_t)r.ifr_mtu;
    close(s);
    return mtu;
}

/* Reads flags and counters of the device @name.  Returns false if there is none.  It uses netlink,
 * since /sys may show another network namespace.
 */
static bool find_device(const char *name, unsigned *ret_flags, struct rtnl_link_stats *ret)
{
    struct ifaddrs *all;
    bool found = false;

    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        found = i->ifa_addr && i->ifa_addr->sa_family == AF_PACKET && i->ifa_data &&
                strcmp(i->ifa_name, name) == 0;
        if (found) {
            *ret_flags = i->ifa_flags;
            memcpy(ret, i->ifa_data, sizeof(*ret));
        }
    }
    freeifaddrs(all);
    return found;
}

bool tap_is_up(const char *name)
{
    struct rtnl_link_stats stats;
    unsigned flags;

    return find_device(name, &flags, &stats) && flags & IFF_UP;
}

uint32_t tap_missed(const char *name)
{
    struct rtnl_link_stats stats;
    unsigned flags;

    return find_device(name, &flags, &stats) ? stats.tx_dropped : 0;
}

const char *tap_obstacle(void)
{
    const int fd = open(TUN_DEVICE, O_RDWR | O_CLOEXEC);

    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return TUN_DEVICE " may not be opened; as root: \"chmod 666 " TUN_DEVICE "\"";
    if (fd < 0)
        return errno == ENOENT ? "no " TUN_DEVICE " (modprobe tun)" : strerror(errno);
    close(fd);
    return may_make_devices()
               ? NULL
               : "only devices that root made for you: \"ip tuntap add NAME mode tap user $USER && "
                 "ip link set NAME up\"; or give the program the right: \"setcap cap_net_admin+ep "
                 "rdmalab\"";
}
