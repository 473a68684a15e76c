/* SPDX-License-Identifier: MIT */
#include "bench/bench_tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX 65536u

static char message[BYTES_MAX];

static double now_s(void)
{
    struct timespec t = {.tv_sec = 0};

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool send_all(int fd, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes;) {
        const ssize_t n = send(fd, message + done, bytes - done, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        done += (uint32_t)n;
    }
    return true;
}

static bool receive_all(int fd, uint32_t bytes)
{
    return recv(fd, message, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* A message is sent at once, and not kept for the next one. */
static void be_prompt(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* The second process. */
static bool reply(const struct sockaddr_in *to, uint32_t bytes, uint32_t n, bool stream)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)) != 0)
        return false;
    be_prompt(fd);
    for (uint32_t i = 0; i < n; i++) {
        if (!receive_all(fd, bytes) || ((!stream || i == n - 1) && !send_all(fd, bytes)))
            return false;
    }
    return true;
}

static bool exchange(int fd, uint32_t bytes, uint32_t n, bool stream, double *ret_s)
{
    const double start = now_s();

    be_prompt(fd);
    for (uint32_t i = 0; i < n; i++) {
        if (!send_all(fd, bytes) || ((!stream || i == n - 1) && !receive_all(fd, bytes)))
            return false;
    }
    *ret_s = now_s() - start;
    return true;
}

/* Returns a socket that listens at an unused port of the loopback interface, or -1. */
static int listen_somewhere(struct sockaddr_in *ret)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof(*ret);

    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd >= 0 && bind(fd, (const struct sockaddr *)ret, sizeof(*ret)) == 0 &&
        listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)ret, &length) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool bench_tcp(uint32_t bytes, uint32_t n, bool stream, double *ret_s)
{
    struct sockaddr_in at;
    const int listener = listen_somewhere(&at);
    int fd = -1, status = 0;
    bool ok = false;
    pid_t pid;

    if (listener < 0)
        return false;
    pid = fork();
    if (pid == 0)
        _exit(reply(&at, bytes, n, stream) ? 0 : 1);
    if (pid > 0)
        fd = accept(listener, NULL, NULL);
    if (fd >= 0) {
        ok = exchange(fd, bytes, n, stream, ret_s);
        close(fd);
    }
    close(listener);
    if (pid > 0)
        (void)waitpid(pid, &status, 0);
    return ok && status == 0;
}
