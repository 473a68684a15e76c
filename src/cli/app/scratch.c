/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE     /* some line editors define it, too */
#define _XOPEN_SOURCE 600 /* nftw() */
#endif

#include "cli/app/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/text.h"
#include "process/leftovers.h"

const char *scratch_open(char ret[PATH_MAX])
{
    const char *where = getenv("TMPDIR");
    struct text t = text_on(ret, PATH_MAX);

    text_addf(&t, "%s/rdmalab-test.XXXXXX", where && where[0] ? where : "/tmp");
    if (t.cut)
        return strerror(ENAMETOOLONG);
    return leftovers_create_directory(ret) ? NULL : strerror(errno);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

void scratch_remove(const char *path)
{
    (void)nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    leftovers_forget(path);
}
