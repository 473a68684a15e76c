/* SPDX-License-Identifier: MIT */
#include "cli/explain/c_names.h"

#include <string.h>
#include <strings.h>

#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"

#define C_NAME_BYTES 64u

static const struct {
    const struct enum_table *table;
    const char *prefix;
} prefixes[] = {
#define C_PREFIX(table, prefix) {&enum_##table, prefix},
#define C_NAME(table, row, name)
#include "cli/explain/c_names.def"
#undef C_NAME
#undef C_PREFIX
};

static const struct {
    const struct enum_table *table;
    const char *row, *name;
} others[] = {
#define C_PREFIX(table, prefix)
#define C_NAME(table, row, name) {&enum_##table, #row, name},
#include "cli/explain/c_names.def"
#undef C_NAME
#undef C_PREFIX
};

bool c_name_add(struct text *t, const struct enum_table *table, const struct enum_row *row)
{
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (others[i].table == table && strcmp(others[i].row, row->name) == 0) {
            text_add(t, others[i].name);
            return others[i].name[0] != '\0';
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (prefixes[i].table == table) {
            text_addf(t, "%s%s", prefixes[i].prefix, row->name);
            return true;
        }
    }
    return false;
}

void c_name_rows(const char *word,
                 void (*each)(void *ctx, const struct enum_table *table,
                              const struct enum_row *row),
                 void *ctx)
{
    char name[C_NAME_BYTES], wanted[C_NAME_BYTES];
    const char *asked = word;
    struct text w = text_on(wanted, sizeof(wanted));

    if (strncasecmp(word, "IB_", 3) == 0) {
        text_add(&w, "IBV_");
        word += 3;
    }
    text_add(&w, word);
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const struct enum_table *table = prefixes[i].table;

        for (size_t k = 0; k < table->n_rows; k++) {
            struct text t = text_on(name, sizeof(name));

            if (c_name_add(&t, table, &table->rows[k]) &&
                (strcasecmp(name, wanted) == 0 || strcasecmp(name, asked) == 0))
                each(ctx, table, &table->rows[k]);
        }
    }
}

bool c_name_begins(const char *word)
{
    return strncasecmp(word, "IB", 2) == 0 || strncasecmp(word, "RDMA_CM_", 8) == 0;
}

void c_name_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    char name[C_NAME_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const struct enum_table *table = prefixes[i].table;

        for (size_t k = 0; k < table->n_rows; k++) {
            struct text t = text_on(name, sizeof(name));

            if (c_name_add(&t, table, &table->rows[k]))
                each(ctx, name);
        }
    }
}

const char *c_name_command(const char *word)
{
    const char *name = strncasecmp(word, "ibv_", 4) == 0 ? word + 4 : NULL;
    const struct cmd *cmd = name ? cmd_find(name, false) : NULL;

    return cmd && cmd->class == CLASS_VERBS ? cmd->name : NULL;
}
