/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_find.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/live/live_internal.h"

#define QEMU         "qemu-system-x86_64"
#define ANSWER_BYTES 4096u /* warnings may come first */
#define ANSWER_MS    10000 /* from a busy machine */
#define VFIO_USER    "vfio-user-pci"

extern char **environ;

/* The number of the version in the first line of "-version", or "". */
static void version_of(const char *text, char ret[16])
{
    static const char lead[] = "QEMU emulator version ";
    const char *at = strstr(text, lead);
    size_t n = 0;

    if (at)
        at += sizeof(lead) - 1;
    while (at && n + 1 < 16 && (at[n] == '.' || (at[n] >= '0' && at[n] <= '9')))
        n++;
    if (at)
        memcpy(ret, at, n);
    ret[n] = '\0';
}

static void set_choice(struct live_vm_choice *ret, enum live_vm_transport transport,
                       const char *version, const char *why)
{
    ret->transport = transport;
    snprintf(ret->text, sizeof(ret->text), "QEMU %s by %s%s", version,
             transport == LIVE_VM_VFIO_USER ? "vfio-user" : "x-pci-proxy", why);
}

bool vm_find_decide(enum live_vm_transport wanted, const char *version, const char *help,
                    struct live_vm_choice *ret, struct live_error *reterr)
{
    char number[16] = "";
    bool can_vfio_user, can_proxy;

    if (!version) {
        live_error_set(reterr, QEMU, "there is no such program",
                       "install QEMU (Debian: qemu-system-x86), or say transport= with command=");
        return false;
    }
    version_of(version, number);
    if (!number[0]) {
        live_error_set(reterr, QEMU, "it does not tell its version",
                       "see what \"" QEMU " -version\" prints, or say transport= with command=");
        return false;
    }
    can_vfio_user = strstr(help, VFIO_USER " options") != NULL; /* maybe behind a warning */
    can_proxy = strncmp(number, "7.2.", 4) == 0;                /* that of later ones crashes */
    if (wanted != LIVE_VM_PROXY && can_vfio_user) {
        set_choice(ret, LIVE_VM_VFIO_USER, number, "");
    } else if (wanted != LIVE_VM_VFIO_USER && can_proxy) {
        set_choice(ret, LIVE_VM_PROXY, number,
                   can_vfio_user ? "" : ", for it has no device " VFIO_USER);
    } else {
        live_error_set(reterr, QEMU,
                       wanted == LIVE_VM_PROXY ? "only that of QEMU 7.2 works with x-pci-proxy"
                                               : "it has no device " VFIO_USER,
                       "QEMU 10.1 and later have " VFIO_USER "; for 7.2 there is "
                       "transport=x_pci_proxy");
        return false;
    }
    return true;
}

/* Reads from @fd until its end, or until nothing has come for ANSWER_MS. */
static void read_answer(int fd, char *ret, size_t size)
{
    size_t n = 0;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char rest[256];
        const int ready = poll(&p, 1, ANSWER_MS);
        ssize_t got;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        if (n + 1 < size)
            got = read(fd, ret + n, size - 1 - n);
        else
            got = read(fd, rest, sizeof(rest)); /* the program must not wait for its reader */
        if (got <= 0)
            break;
        if (n + 1 < size)
            n += (size_t)got;
    }
    ret[n] = '\0';
}

/* Starts QEMU with @words; its output goes to @out. */
static bool spawn(const char *const words[], int out, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    bool good;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    good = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, out, 1) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, out, 2) == 0 &&
           /* It does not write to the strings. */
           posix_spawnp(ret, QEMU, &actions, NULL, (char *const *)(uintptr_t)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

/* Runs QEMU with @words.  Returns false if there is none. */
static bool ask(const char *const words[], char *ret, size_t size)
{
    int pair[2];
    pid_t pid;
    bool good;

    if (pipe(pair) != 0)
        return false;
    (void)fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    good = spawn(words, pair[1], &pid);
    close(pair[1]);
    if (good) {
        read_answer(pair[0], ret, size);
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(pair[0]);
    return good;
}

bool live_vm_find(enum live_vm_transport wanted, struct live_vm_choice *ret,
                  struct live_error *reterr)
{
    static const char *const version_words[] = {QEMU, "-version", NULL};
    /* Not "-device help": a QEMU that is not where it was installed may abort at it. */
    static const char *const help_words[] = {QEMU, "-device", VFIO_USER ",help", NULL};
    char version[ANSWER_BYTES] = "", help[ANSWER_BYTES] = "";
    const bool found =
        ask(version_words, version, sizeof(version)) && ask(help_words, help, sizeof(help));

    return vm_find_decide(wanted, found ? version : NULL, help, ret, reterr);
}
