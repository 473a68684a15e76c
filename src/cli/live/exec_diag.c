/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES 16384u

struct diag_request {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static bool ask(int fd, uint8_t family)
{
    const struct diag_request r = {
        .head = {.nlmsg_len = sizeof(r),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.sdiag_family = family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = 1u << TCP_LISTEN},
    };

    return send(fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r);
}

/* The state of reading an answer. */
enum diag_reading { GOES_ON, IS_OVER, IS_REFUSED };

/* Looks at the messages of @n bytes.  Sets *@ret to true if one of them is about one of @s. */
static enum diag_reading read_messages(const struct exec_sockets *s, const uint8_t *bytes, size_t n,
                                       bool *ret)
{
    struct inet_diag_msg m;
    struct nlmsghdr head;

    for (size_t at = 0; n - at >= sizeof(head); at += NLMSG_ALIGN(head.nlmsg_len)) {
        memcpy(&head, bytes + at, sizeof(head));
        if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > n - at)
            return IS_REFUSED;
        if (head.nlmsg_type == NLMSG_DONE)
            return IS_OVER;
        if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len < NLMSG_LENGTH(sizeof(m)))
            return IS_REFUSED;
        memcpy(&m, bytes + at + NLMSG_HDRLEN, sizeof(m));
        *ret = *ret || exec_sockets_have(s, m.idiag_inode);
        if (NLMSG_ALIGN(head.nlmsg_len) > n - at)
            break;
    }
    return GOES_ON;
}

static bool read_answer(int fd, const struct exec_sockets *s, bool *ret)
{
    uint8_t bytes[ANSWER_BYTES];
    enum diag_reading how = GOES_ON;

    while (how == GOES_ON) {
        const ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

        if (n < 0 && errno == EINTR)
            continue;
        how = n <= 0 ? IS_REFUSED : read_messages(s, bytes, (size_t)n, ret);
    }
    return how == IS_OVER;
}

bool exec_diag_listens(const struct exec_sockets *s, bool *ret)
{
    const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool known;

    *ret = false;
    if (fd < 0)
        return false;
    known =
        ask(fd, AF_INET) && read_answer(fd, s, ret) && ask(fd, AF_INET6) && read_answer(fd, s, ret);
    close(fd);
    return known;
}
