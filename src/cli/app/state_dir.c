/* SPDX-License-Identifier: MIT */
#include "cli/app/state_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 1024u

bool state_dir_add(struct text *t)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && state[0] == '/')
        text_add(t, state);
    else if (home && home[0] == '/')
        text_addf(t, "%s/.local/state", home);
    else
        return false;
    text_add(t, "/rdmalab");
    return true;
}

void state_dir_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

const char first_time_text[] =
    "New here? Three things to try:\n"
    "  tour                       short lessons, from the first object to a connection\n"
    "  scenarios run first-send   a message from one program to another, step by step\n"
    "  explain                    words to begin with; \"explain rkey\" tells what one means\n";

bool first_time(void)
{
    const char *home = getenv("HOME");
    char path[PATH_BYTES], old[PATH_BYTES];
    struct text t = text_on(path, sizeof(path)), o = text_on(old, sizeof(old));
    int fd;

    if (!state_dir_add(&t))
        return false;
    text_add(&t, "/greeted");
    if (t.cut || access(path, F_OK) == 0)
        return false;
    state_dir_make(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return false;
    (void)close(fd);
    /* Earlier versions had no such file, but a history. */
    text_addf(&o, "%s/.rdmalab_history", home ? home : "");
    return access(old, F_OK) != 0;
}
