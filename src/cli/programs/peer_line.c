/* SPDX-License-Identifier: MIT */
#include "cli/programs/peer_line.h"

#include <stdlib.h>
#include <string.h>

bool peer_line_cut(struct peer_line *l)
{
    char *rest = l->text;

    l->words = 0;
    l->as = NULL;
    rest[strcspn(rest, "#\n")] = '\0';
    for (;;) {
        rest += strspn(rest, " \t");
        if (!*rest)
            break;
        if (l->words == PEER_LINE_WORDS_MAX)
            return false;
        l->word[l->words++] = rest;
        rest += strcspn(rest, " \t");
        if (*rest)
            *rest++ = '\0';
    }
    if (l->words > 2 && strcmp(l->word[l->words - 2], "as") == 0) {
        l->as = l->word[l->words - 1];
        l->words -= 2;
    }
    return true;
}

/* Removes the leading "a:" or "b:".  Returns false if the line is for the other side alone. */
static bool is_for(struct peer_line *l, char side)
{
    char *rest = l->text + strspn(l->text, " \t");
    bool is_mine = true;

    if ((rest[0] == 'a' || rest[0] == 'b') && rest[1] == ':') {
        is_mine = rest[0] == side;
        rest += 2;
    }
    memmove(l->text, rest, strlen(rest) + 1);
    return is_mine;
}

enum peer_line_found peer_line_next(FILE *file, char side, struct peer_line *l, unsigned *number)
{
    while (fgets(l->text, sizeof(l->text), file)) {
        ++*number;
        if (!strchr(l->text, '\n'))
            return PEER_LINE_TOO_LONG;
        if (!is_for(l, side))
            continue;
        if (!peer_line_cut(l))
            return PEER_LINE_TOO_MANY_WORDS;
        if (l->words > 0)
            return PEER_LINE_READ;
    }
    return PEER_LINE_END;
}

const char *peer_line_value(const struct peer_line *l, const char *key)
{
    const size_t n = strlen(key);

    for (size_t i = 1; i < l->words; i++) {
        if (strncmp(l->word[i], key, n) == 0 && l->word[i][n] == '=')
            return l->word[i] + n + 1;
    }
    return NULL;
}

bool peer_line_has(const struct peer_line *l, const char *flag)
{
    for (size_t i = 1; i < l->words; i++) {
        if (strcmp(l->word[i], flag) == 0)
            return true;
    }
    return false;
}

bool peer_line_read_number(const char *text, uint64_t *ret, const char **ret_rest)
{
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *ret = strtoull(text, &end, hex ? 16 : 10);
    *ret_rest = end;
    return true;
}

bool peer_line_number(const struct peer_line *l, const char *key, uint64_t *ret)
{
    const char *text = peer_line_value(l, key), *rest;

    return text && peer_line_read_number(text, ret, &rest) && *rest == '\0';
}
