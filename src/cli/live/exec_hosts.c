/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_hosts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/wire/addr.h"
#include "program/protocol.h"
#include "rdmalab/inspect.h"
#include "rdmalab/verbs.h"

#define TEMPORARY PROGRAM_HOSTS_FILE ".new"
#define GIDS      2u
#define HERE      "127.77." /* addresses of this machine, one for each host */

struct hosts_file {
    const struct rdl_lab *lab;
    FILE *out;
    unsigned n; /* hosts so far */
};

static void write_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct hosts_file *f = ctx;
    rdl_host host;

    if (v->type != RDL_NODE || rdl_find_host(f->lab, key, &host) != RDL_OK)
        return;
    f->n++;
    for (uint32_t i = 0; i < GIDS; i++) {
        char text[ADDR_TEXT_MAX];
        uint8_t gid[16], mac[6];

        if (rdl_host_address(f->lab, host, i, gid, mac) != RDL_OK)
            continue;
        fprintf(f->out, "%s %s " HERE "%u.%u\n", addr_text(gid, text), key, f->n >> 8 & 0xffu,
                f->n & 0xffu);
    }
}

bool exec_hosts_write(const struct rdl_lab *lab, int dir)
{
    const int fd = openat(dir, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR);
    struct hosts_file f = {lab, fd >= 0 ? fdopen(fd, "w") : NULL, 0};
    size_t at;
    bool good;

    if (!f.out) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    (void)!rdl_inspect_list(lab, "", write_host, &f, &at);
    good = !ferror(f.out);
    if (fclose(f.out) != 0 || !good)
        return false;
    return renameat(dir, TEMPORARY, dir, PROGRAM_HOSTS_FILE) == 0;
}
