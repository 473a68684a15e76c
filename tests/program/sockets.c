/* SPDX-License-Identifier: MIT */
/* An ordinary program of TCP, which knows nothing of RDMA: the client sends a megabyte, and both
 * print its sum.
 *
 *     server: sockets PORT                    client: sockets PORT HOST
 */
#include <err.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK  65536u
#define CHUNKS 16u

static uint8_t bytes[CHUNK];

static uint32_t sum_of(size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += bytes[i];
    return sum;
}

static void serve(int listener, const char *me)
{
    const int fd = accept(listener, NULL, NULL);
    size_t total = 0;
    uint32_t sum = 0;
    ssize_t n;

    if (fd < 0)
        err(1, "accept");
    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        total += (size_t)n;
        sum += sum_of((size_t)n);
    }
    if (n < 0)
        err(1, "read");
    printf("%s: %zu bytes, sum %u\n", me, total, sum);
    close(fd);
}

static void send_all(int fd, const char *me)
{
    size_t total = 0;
    uint32_t sum = 0;

    for (size_t chunk = 0; chunk < CHUNKS; chunk++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(chunk * 7 + i);
        sum += sum_of(sizeof(bytes));
        for (size_t done = 0; done < sizeof(bytes);) {
            const ssize_t n = write(fd, bytes + done, sizeof(bytes) - done);

            if (n < 0)
                err(1, "write");
            done += (size_t)n;
            total += (size_t)n;
        }
    }
    printf("%s: %zu bytes, sum %u\n", me, total, sum);
    shutdown(fd, SHUT_RDWR);
}

int main(int argc, char **argv)
{
    const struct addrinfo hints = {
        .ai_flags = AI_PASSIVE, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    const char *host = argc > 2 ? argv[2] : NULL;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct addrinfo *a;

    if (argc < 2 || getaddrinfo(host, argv[1], &hints, &a) != 0 || fd < 0)
        errx(1, "usage: sockets PORT [HOST]");
    if (host ? connect(fd, a->ai_addr, a->ai_addrlen) : bind(fd, a->ai_addr, a->ai_addrlen))
        err(1, "%s", host ? "connect" : "bind");
    freeaddrinfo(a);
    if (!host && listen(fd, 1) != 0)
        err(1, "listen");
    if (host)
        send_all(fd, "client");
    else
        serve(fd, "server");
    close(fd);
    return 0;
}
