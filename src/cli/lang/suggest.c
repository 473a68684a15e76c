/* SPDX-License-Identifier: MIT */
#include "cli/lang/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "emu/base/text.h"

#define WORD_MAX (SUGGEST_WORD_BYTES - 1u)

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The optimal string alignment distance, computed row by row.  Three rows are enough to detect a
 * swap.
 */
static size_t distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t rows[3][WORD_MAX + 1];

    if (n > WORD_MAX || m > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

struct suggestion suggestion_for(const char *typed)
{
    /* Allows a third of the letters to be wrong, at least one. */
    const size_t n = strlen(typed);

    return (struct suggestion){.typed = typed, .distance = n / 3 + (n < 3 ? 2 : 1)};
}

/* Returns true if @typed has several words, separated by underscores, and @name has each of them:
 * "write_imm" and "rdma_write_with_imm".
 */
static bool has_each_word(const char *typed, const char *name)
{
    if (!strchr(typed, '_'))
        return false;
    for (; *typed; typed += *typed == '_') {
        const size_t n = strcspn(typed, "_");
        char word[SUGGEST_WORD_BYTES];

        if (n == 0 || n >= sizeof(word))
            return false;
        memcpy(word, typed, n);
        word[n] = '\0';
        if (!suggest_is_part(word, name))
            return false;
        typed += n;
    }
    return true;
}

/* Returns true if @typed is libibverbs's name for @candidate: IBV_WC_SUCCESS, IBV_QPS_RTS. */
static bool is_verbs_name(const char *typed, const char *candidate)
{
    const size_t n = strlen(typed), m = strlen(candidate);

    return strncmp(typed, "IBV_", 4) == 0 && n > m && m > 1 && typed[n - m - 1] == '_' &&
           strcasecmp(typed + n - m, candidate) == 0;
}

void suggest_offer(struct suggestion *s, const char *candidate)
{
    /* Of several names the longest is meant: RDMA_WRITE, not WRITE.  Words that were left out are
     * nearer than letters that were mistyped.
     */
    const bool verbs = is_verbs_name(s->typed, candidate);
    const size_t d = verbs ? 0
                           : least(distance(s->typed, candidate),
                                   has_each_word(s->typed, candidate) ? 1 : SIZE_MAX);

    if (verbs && s->best && s->distance == 0 && strlen(candidate) > strlen(s->best))
        s->distance = 1;

    /* People rarely mistype the first letter, so it decides between equal distances. */
    const bool nearer = d < s->distance || (d == s->distance && s->best && d > 0 &&
                                            !same_letter(s->best[0], s->typed[0]) &&
                                            same_letter(candidate[0], s->typed[0]));

    if (nearer && d < strlen(candidate)) {
        s->best = candidate;
        s->distance = d;
        s->also = NULL;
    } else if (s->best && !s->also && d > 0 && d == s->distance &&
               strcmp(s->best, candidate) != 0 && same_letter(s->best[0], candidate[0])) {
        s->also = candidate;
    }
}

const char *suggest_both(const struct suggestion *s, char ret[SUGGEST_BOTH_BYTES])
{
    struct text t = text_on(ret, SUGGEST_BOTH_BYTES);

    text_addf(&t, "\"%s\"", s->best);
    if (s->also)
        text_addf(&t, " or \"%s\"", s->also);
    return ret;
}

bool suggest_offer_copy(struct suggestion *s, const char *candidate, char keep[SUGGEST_WORD_BYTES])
{
    suggest_offer(s, candidate);
    if (!s->best || s->best != candidate)
        return false;
    memcpy(keep, candidate, strlen(candidate) + 1);
    s->best = keep;
    return true;
}

bool suggest_is_part(const char *part, const char *name)
{
    const size_t n = strlen(part);

    for (; n && *name; name += *name == '_') {
        const size_t word = strcspn(name, "_");
        size_t same = 0;

        while (same < word && same < n && same_letter(name[same], part[same]))
            same++;
        if (same == n && word == n)
            return true;
        name += word;
    }
    return false;
}

const char *suggest_completion_opcode(const char *word)
{
    static const struct {
        const char *word, *remedy;
    } rows[] = {
        {"RDMA_WRITE_WITH_IMM",
         "it is RDMA_WRITE at the sender, RECV_RDMA_WITH_IMM at the receiver"},
        {"SEND_WITH_IMM", "it is SEND at the sender, RECV at the receiver"},
        {"SEND_WITH_INV", "it is SEND at the sender, RECV at the receiver"},
        {"WRITE", "it is RDMA_WRITE at the sender; the receiver has no completion"},
        {"READ", "it is RDMA_READ at the requester; the responder has no completion"},
    };
    const size_t n = strlen(word);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t m = strlen(rows[i].word);

        if (n >= m && strcasecmp(word + n - m, rows[i].word) == 0 &&
            (n == m || strncmp(word, "IBV_", 4) == 0) && (m > 5 || n == m))
            return rows[i].remedy;
    }
    return NULL;
}

const char *suggest_event(const char *word)
{
    static const struct {
        const char *word, *kind;
    } rows[] = {
        {"interrupt", "irq"}, {"completion", "cqe"}, {"packet", "tx"},
        {"ack", "tx"},        {"send", "post_send"}, {"recv", "post_recv"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0)
            return rows[i].kind;
    }
    return NULL;
}

const char *suggest_other_word(const char *word)
{
    static const struct {
        const char *word, *leads;
    } rows[] = {
#define OTHER_WORD(word, sentence) {#word, sentence},
#include "cli/lang/other_words.def"
        {"?", "\"help\" lists the commands, \"explain\" words to begin with"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcasecmp(rows[i].word, word) == 0)
            return rows[i].leads;
    }
    return NULL;
}

const char *suggest_operand(const char *command, const char *word)
{
    static const struct {
        const char *command, *word, *leads;
    } rows[] = {
#define OPERAND_WORD(command, word, sentence) {#command, #word, sentence},
#include "cli/lang/other_words.def"
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].command, command) == 0 && strcasecmp(rows[i].word, word) == 0)
            return rows[i].leads;
    }
    return NULL;
}
