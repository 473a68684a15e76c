/* SPDX-License-Identifier: MIT */
/* Lines and their words. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static const struct word_value access_words[] = {
    {"0", 0},
    {"lw", IBV_ACCESS_LOCAL_WRITE},
    {"rw", IBV_ACCESS_REMOTE_WRITE},
    {"rr", IBV_ACCESS_REMOTE_READ},
    {"ra", IBV_ACCESS_REMOTE_ATOMIC},
    {"mw", IBV_ACCESS_MW_BIND},
#if PLACEMENT
    {"fg", IBV_ACCESS_FLUSH_GLOBAL},
    {"fp", IBV_ACCESS_FLUSH_PERSISTENT},
#endif
};

/* The word number @i behind the command. */
const char *operand(const struct peer *p, size_t i)
{
    if (i + 1 >= p->at->words)
        fail(p, "it is too short");
    return p->at->word[i + 1];
}

uint64_t to_number(const struct peer *p, const char *text)
{
    char *end;
    const uint64_t number = strtoull(text, &end, 0);

    if (end == text || *end)
        fail(p, "%s is no number", text);
    return number;
}

uint64_t number_or(const struct peer *p, const char *key, uint64_t standard)
{
    const char *text = peer_line_value(p->at, key);

    return text ? to_number(p, text) : standard;
}

unsigned to_value(const struct peer *p, const struct word_value *of, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, of[i].word) == 0)
            return of[i].value;
    }
    fail(p, "%s is not known here", word);
}

/* Of words with commas between them. */
unsigned to_set(const struct peer *p, const struct word_value *of, size_t n, const char *words)
{
    unsigned set = 0;

    while (*words) {
        const size_t length = strcspn(words, ",");
        char word[NAME_BYTES];

        snprintf(word, sizeof(word), "%.*s", (int)length, words);
        set |= to_value(p, of, n, word);
        words += length;
        words += *words == ',';
    }
    return set;
}

const char *to_word(const struct word_value *of, size_t n, unsigned value)
{
    for (size_t i = 0; i < n; i++) {
        if (of[i].value == value)
            return of[i].word;
    }
    return "?";
}

unsigned access_or(const struct peer *p, const char *standard)
{
    const char *words = peer_line_value(p->at, "access");

    return to_set(p, access_words, ARRAY_LEN(access_words), words ? words : standard);
}

/* "gid", which is this side's, "peer.gid", or an IP address. */
union ibv_gid to_gid(const struct peer *p, const char *text)
{
    union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

    if (strcmp(text, "gid") == 0)
        return p->gid;
    if (strcmp(text, "peer.gid") == 0)
        return p->peer_gid;
    if (inet_pton(AF_INET, text, gid.raw + 12) != 1 && inet_pton(AF_INET6, text, gid.raw) != 1)
        fail(p, "%s is no address", text);
    return gid;
}

bool is_ipv4(const union ibv_gid *gid)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}
