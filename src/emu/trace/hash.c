/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "emu/trace/event.h"
#include "emu/trace/trace.h"

#define FNV64_PRIME 0x100000001b3u

static void add_bytes(struct trace_hash *h, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        h->value = (h->value ^ b[i]) * FNV64_PRIME;
}

static void add_number(struct trace_hash *h, uint64_t v)
{
    for (size_t i = 0; i < 8; i++)
        h->value = (h->value ^ (v >> (8 * i) & 0xffu)) * FNV64_PRIME;
}

void trace_hash_event(struct trace_hash *h, const struct ev *e)
{
    const struct ev_schema *schema = ev_schema(e->kind);

    add_number(h, e->at_ns);
    add_number(h, e->id);
    add_number(h, e->cause);
    add_bytes(h, schema->name, strlen(schema->name));
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];

        if (!f->hashed)
            continue;
        if (f->print == EVP_STR) {
            const char *s = (const char *)e + f->offset;

            add_bytes(h, s, strlen(s));
        } else {
            add_number(h, ev_field_number(e, f));
        }
    }
}
