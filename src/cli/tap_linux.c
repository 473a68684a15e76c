/* SPDX-License-Identifier: MIT */
#include "cli/tap_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TUN_DEVICE "/dev/net/tun"

static void explain(struct live_error *e, const char *device, int err)
{
    snprintf(e->message, sizeof(e->message), "tap %s: %s", device, strerror(err));
    switch (err) {
    case EPERM:
    case EACCES:
        snprintf(
            e->remedy, sizeof(e->remedy),
            "make it yours once, as root: \"ip tuntap add %s mode tap user $USER\"; or give the "
            "program the right: \"setcap cap_net_admin+ep rdmalab\"",
            device);
        break;
    case EBUSY:
        snprintf(e->remedy, sizeof(e->remedy),
                 "another program has it open; choose another name, or end that program");
        break;
    case ENOENT:
    case ENODEV:
        snprintf(e->remedy, sizeof(e->remedy),
                 "the kernel has no " TUN_DEVICE ": \"modprobe tun\" as root loads it");
        break;
    case EINVAL:
        snprintf(
            e->remedy, sizeof(e->remedy),
            "a device of this name exists and is no tap device, or the name is no device name");
        break;
    default:
        e->remedy[0] = '\0';
        break;
    }
}

/* Sets the device up; without the right to do so it must have been set up before. */
static void bring_up(const char *name)
{
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {0};

    if (s < 0)
        return;
    memcpy(r.ifr_name, name, strlen(name));
    if (ioctl(s, SIOCGIFFLAGS, &r) == 0 && !(r.ifr_flags & IFF_UP)) {
        r.ifr_flags |= IFF_UP;
        /* Not allowed: frames pass once somebody does it. */
        (void)!ioctl(s, SIOCSIFFLAGS, &r);
    }
    close(s);
}

int tap_open(const char *name, struct live_error *reterr)
{
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd;

    if (strlen(name) == 0 || strlen(name) >= sizeof(r.ifr_name)) {
        explain(reterr, name, EINVAL);
        return -1;
    }
    fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        explain(reterr, name, errno);
        return -1;
    }
    memcpy(r.ifr_name, name, strlen(name));
    if (ioctl(fd, TUNSETIFF, &r) != 0) {
        explain(reterr, name, errno);
        close(fd);
        return -1;
    }
    bring_up(name);
    return fd;
}

uint64_t tap_missed(const char *name)
{
    char path[64 + IFNAMSIZ];
    uint64_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_dropped", name);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%" SCNu64, &n) != 1)
        n = 0;
    fclose(f);
    return n;
}

const char *tap_obstacle(void)
{
    const int fd = open(TUN_DEVICE, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? "no " TUN_DEVICE " (modprobe tun)" : strerror(errno);
    close(fd);
    return geteuid() == 0 ? NULL
                          : "not root: only a device made with \"ip tuntap add NAME mode tap user "
                            "$USER\" can be used, or with setcap cap_net_admin+ep";
}
