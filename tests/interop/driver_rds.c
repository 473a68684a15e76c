/* SPDX-License-Identifier: MIT */
/* usage: driver_rds server ADDRESS N
 *        driver_rds client ADDRESS SERVER N
 *
 * Messages over sockets of RDS: the client sends N of different sizes, the server sends each back
 * as it came, and the client compares.  Prints how many were as they were sent; exits with 1 if one
 * was not, or after a failure.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PORT      4000
#define BYTES_MAX 65536
#define WAIT_MS   20000

static const size_t sizes[] = {1, 48, 4095, 4096, 4097, 20000, BYTES_MAX};

static void require(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static struct sockaddr_in at(const char *address, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

    require(inet_pton(AF_INET, address, &a.sin_addr) == 1, address);
    return a;
}

static size_t receive(int s, uint8_t *data, struct sockaddr_in *from)
{
    struct pollfd p = {.fd = s, .events = POLLIN};
    socklen_t from_bytes = sizeof(*from);
    ssize_t n;

    require(poll(&p, 1, WAIT_MS) == 1, "nothing comes");
    n = recvfrom(s, data, BYTES_MAX, 0, (struct sockaddr *)from, &from_bytes);
    require(n >= 0, "recvfrom");
    return (size_t)n;
}

static void fill(uint8_t *data, size_t bytes, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 1;

    for (size_t i = 0; i < bytes; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = (uint8_t)(x >> 24);
    }
}

int main(int argc, char **argv)
{
    static uint8_t sent[BYTES_MAX], back[BYTES_MAX];
    const int is_client = argc == 5 && strcmp(argv[1], "client") == 0;
    const unsigned n = argc > 3 ? (unsigned)strtoul(argv[argc - 1], NULL, 10) : 0;
    struct sockaddr_in mine, other;
    unsigned right = 0;
    int s;

    if (n == 0)
        return 2;
    mine = at(argv[2], is_client ? 0 : PORT);
    s = socket(PF_RDS, SOCK_SEQPACKET, 0);
    require(s >= 0 && bind(s, (struct sockaddr *)&mine, sizeof(mine)) == 0, "bind");
    for (unsigned i = 0; i < n; i++) {
        const size_t bytes = sizes[i % (sizeof(sizes) / sizeof(*sizes))];

        if (is_client) {
            other = at(argv[3], PORT);
            fill(sent, bytes, i);
            require(sendto(s, sent, bytes, 0, (struct sockaddr *)&other, sizeof(other)) ==
                        (ssize_t)bytes,
                    "sendto");
            memset(back, 0, sizeof(back));
            right += receive(s, back, &other) == bytes && memcmp(sent, back, bytes) == 0;
        } else {
            const size_t got = receive(s, back, &other);

            require(sendto(s, back, got, 0, (struct sockaddr *)&other, sizeof(other)) ==
                        (ssize_t)got,
                    "sendto");
            right++;
        }
    }
    printf("%u right of %u\n", right, n);
    return right != n;
}
