/* SPDX-License-Identifier: MIT */
#include "cli/app/device_option.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/virtio/feature.h"
#include "print/utf8.h"

bool device_option_read(const char *text, struct session_devices *ret)
{
    static const struct {
        const char *word;
        struct session_devices devices;
    } rows[] = {
        {"virtio", {.device = DEVICE_virtio}},
        {"pvrdma", {.device = DEVICE_pvrdma}},
        {"mixed", {.device = DEVICE_pvrdma, .mixed = true}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (text && strcmp(text, rows[i].word) != 0)
            continue;
        *ret = rows[i].devices;
        return true;
    }
    fprintf(stderr, "rdmalab: --device %s: there are virtio, pvrdma, mixed\n", SHOWN_NAME(text));
    return false;
}

/* The extension with the name of the @n characters at @text; NULL: there is none. */
static const struct enum_row *extension_named(const char *text, size_t n)
{
    char word[32];

    if (n >= sizeof(word))
        return NULL;
    memcpy(word, text, n);
    word[n] = '\0';
    return enum_by_name(&enum_extension, word);
}

bool extensions_option_read(const char *text, struct session_devices *ret)
{
    uint64_t set = 0;

    for (const char *at = text; at;) {
        const size_t n = strcspn(at, ",");
        const struct enum_row *row = extension_named(at, n);

        if (!row) {
            fprintf(stderr, "rdmalab: --extensions %s: there are", SHOWN_NAME(text));
            for (size_t i = 0; i < enum_extension.n_rows; i++)
                fprintf(stderr, "%s %s", i ? "," : "", enum_extension.rows[i].name);
            fputc('\n', stderr);
            return false;
        }
        set |= UINT64_C(1) << row->value;
        at = at[n] ? at + n + 1 : NULL;
    }
    ret->extensions = set;
    return true;
}

bool guests_option_read(const char *text, struct session_devices *ret)
{
    ret->guests = text != NULL;
    ret->shortcut = text && strcmp(text, "shortcut") == 0;
    if (!text || ret->shortcut || strcmp(text, "frames") == 0)
        return true;
    fprintf(stderr, "rdmalab: --guests %s: there are frames, shortcut\n", SHOWN_NAME(text));
    return false;
}
