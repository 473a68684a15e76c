/* SPDX-License-Identifier: MIT */
/* Parses lines of the file and of the other side. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/text.h"
#include "emu/facts/enum_table.h"

const char *vp_value(const struct verbs_peer *p, const char *key)
{
    return peer_line_value(&p->line, key);
}

bool vp_flag(const struct verbs_peer *p, const char *flag)
{
    return peer_line_has(&p->line, flag);
}

/* Returns word number @i after the command.  Fails, and returns "", if there is none. */
const char *vp_operand(struct verbs_peer *p, size_t i)
{
    if (i + 1 < p->line.words)
        return p->line.word[i + 1];
    vp_fail(p, "it is too short");
    return "";
}

uint64_t vp_to_number(struct verbs_peer *p, const char *text)
{
    const char *rest;
    uint64_t v;

    if (peer_line_read_number(text, &v, &rest) && *rest == '\0')
        return v;
    vp_fail(p, "%s is no number", text);
    return 0;
}

uint64_t vp_number(struct verbs_peer *p, const char *key, uint64_t standard)
{
    const char *text = vp_value(p, key);

    return text ? vp_to_number(p, text) : standard;
}

uint32_t vp_word(struct verbs_peer *p, const struct enum_table *of, const char *word)
{
    const struct enum_row *row = enum_by_name(of, word);

    if (row)
        return row->value;
    vp_fail(p, "%s is no %s", word, of->what);
    return 0;
}

/* The bit of the access flag whose short name is the first @n bytes of @word. */
static uint32_t access_bit(const char *word, size_t n)
{
    for (size_t i = 0; i < enum_access.n_rows; i++) {
        const struct enum_row *row = &enum_access.rows[i];

        if (strlen(row->text) == n && memcmp(row->text, word, n) == 0)
            return row->value;
    }
    return 0;
}

/* The set given by "access=", or @standard. */
uint32_t vp_access(struct verbs_peer *p, const char *standard)
{
    const char *words = vp_value(p, "access");
    uint32_t set = 0;

    words = words ? words : standard;
    if (strcmp(words, "0") == 0)
        return 0;
    while (*words) {
        const size_t n = strcspn(words, ",");
        const uint32_t bit = access_bit(words, n);

        if (!bit)
            vp_fail(p, "access= has %.*s", (int)n, words);
        set |= bit;
        words += n;
        words += *words == ',';
    }
    return set;
}

/* Parses "gid" (of this side), "peer.gid", or an IP address. */
void vp_gid(struct verbs_peer *p, const char *text, uint8_t ret[GID_BYTES])
{
    if (strcmp(text, "gid") == 0)
        memcpy(ret, p->gid, GID_BYTES);
    else if (strcmp(text, "peer.gid") == 0)
        memcpy(ret, p->peer_gid, GID_BYTES);
    else if (!addr_parse(text, ret))
        vp_fail(p, "%s is no address", text);
}

const char *vp_place(const char *text, char ret_name[VP_NAME_BYTES], uint64_t *ret_n)
{
    const size_t n = strcspn(text, "[");
    struct text name = text_on(ret_name, VP_NAME_BYTES);
    const char *rest;

    text_addn(&name, text, n);
    return !name.cut && text[n] == '[' && peer_line_read_number(text + n + 1, ret_n, &rest) ? rest
                                                                                            : NULL;
}
