/* SPDX-License-Identifier: MIT */
/* Replays a corpus without libFuzzer: so every build links the target, and runs what was found.
 *
 * usage: replay DIRECTORY
 */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"

#define INPUT_MAX 65536u

static void replay(const char *directory, const char *name, uint8_t *bytes)
{
    char path[4096];
    FILE *file;
    size_t n;

    FUZZ_CHECK((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) < sizeof(path));
    file = fopen(path, "rb");
    FUZZ_CHECK(file);
    n = fread(bytes, 1, INPUT_MAX, file);
    fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, n);
}

int main(int argc, char **argv)
{
    uint8_t *bytes = malloc(INPUT_MAX);
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    unsigned n = 0;

    if (!directory || !bytes) {
        fprintf(stderr, "usage: replay DIRECTORY, which can be read\n");
        return 2;
    }
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        replay(argv[1], entry->d_name, bytes);
        n++;
    }
    closedir(directory);
    free(bytes);
    printf("%u inputs\n", n);
    return n > 0 ? 0 : 1;
}
