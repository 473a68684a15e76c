/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/wire/addr.h"
#include "program/protocol.h"
#include "rdmalab/inspect.h"
#include "rdmalab/verbs.h"
#include "rdmalab/vm.h"

#define TEMPORARY PROGRAM_HOSTS_FILE ".new"
#define GIDS      2u
#define HERE      "127.77." /* addresses of this machine, one for each host */

struct hosts_file {
    const struct rdl_lab *lab;
    FILE *out;
    unsigned n; /* hosts so far */
    int error;  /* errno of the first write that failed; 0: none has */
};

static void write_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct hosts_file *f = ctx;
    rdl_host host;

    if (v->type != RDL_NODE || rdl_find_host(f->lab, key, &host) != RDL_OK)
        return;
    f->n++;
    if (rdl_vm_is_guest(f->lab, host))
        return; /* its own TCP answers, over the lab's Ethernet */
    for (uint32_t i = 0; i < GIDS; i++) {
        char text[ADDR_TEXT_MAX];
        uint8_t gid[16], mac[6];

        if (rdl_host_address(f->lab, host, i, gid, mac) != RDL_OK)
            continue;
        if (fprintf(f->out, "%s %s " HERE "%u.%u\n", addr_text(gid, text), key, f->n >> 8 & 0xffu,
                    f->n & 0xffu) < 0 &&
            !f->error)
            f->error = errno;
    }
}

/* Writes the lines, and closes @out.  Returns 0, or the errno of what has failed first. */
static int write_hosts(const struct rdl_lab *lab, FILE *out)
{
    struct hosts_file f = {.lab = lab, .out = out};
    size_t at;

    (void)!rdl_inspect_list(lab, "", write_host, &f, &at);
    if (fclose(out) != 0 && !f.error)
        f.error = errno;
    return f.error;
}

bool exec_hosts_write(const struct rdl_lab *lab, int dir)
{
    const int fd = openat(dir, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    int error = out ? write_hosts(lab, out) : errno;

    if (!error && renameat(dir, TEMPORARY, dir, PROGRAM_HOSTS_FILE) == 0)
        return true;
    error = error ? error : errno;
    if (fd >= 0 && !out)
        close(fd);
    if (fd >= 0)
        (void)unlinkat(dir, TEMPORARY, 0);
    errno = error;
    return false;
}
