/* SPDX-License-Identifier: MIT */
#include "cli/lang/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "process/must.h"

static char char_at(const struct source *src, size_t i)
{
    if (i >= src->len)
        return '\0';
    return src->text[i];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the line joint at @i: `\`, blanks, line end.  Returns 0 if there is none. */
static size_t joint_bytes(const struct source *src, size_t i)
{
    size_t n = 1;

    if (char_at(src, i) != '\\')
        return 0;
    while (char_at(src, i + n) == ' ' || char_at(src, i + n) == '\t' || char_at(src, i + n) == '\r')
        n++;
    return char_at(src, i + n) == '\n' ? n + 1 : 0;
}

static size_t skip_blanks(const struct source *src, size_t i)
{
    for (;;) {
        const char c = char_at(src, i);

        if (c == ' ' || c == '\t' || c == '\r')
            i++;
        else if (joint_bytes(src, i))
            i += joint_bytes(src, i);
        else
            return i;
    }
}

static struct token bad(struct diag *d, size_t at, size_t len, const char *why, const char *remedy)
{
    diag_set(d, DIAG_SYNTAX, (struct span){at, len}, "%s", why);
    diag_remedy(d, "%s", remedy);
    return (struct token){TOKEN_BAD, {at, len}};
}

/* Offset after the quoted part that begins at @i.  Returns 0 if it does not end on its line. */
static size_t quoted_end(const struct source *src, size_t i)
{
    for (i++; i < src->len && src->text[i] != '\n'; i++) {
        if (src->text[i] == '\\' && i + 1 < src->len && src->text[i + 1] != '\n')
            i++;
        else if (src->text[i] == '"')
            return i + 1;
    }
    return 0;
}

static struct token lex_word(const struct source *src, size_t start, struct diag *d)
{
    size_t i = start;

    while (i < src->len) {
        const char c = src->text[i];

        if (strchr(" \t\r\n;{}", c) && c != '\0')
            break;
        if (joint_bytes(src, i))
            break;
        if (c == '"') {
            const size_t end = quoted_end(src, i);

            if (end == 0)
                return bad(d, i, 1, "the string does not end on its line",
                           "end it with \"; inside a string write \\\" and \\n");
            i = end;
            continue;
        }
        if (c == '\\')
            return bad(d, i, 1, "a stray backslash",
                       "\\ joins a line to the next one and must be the last character of it");
        if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f)
            return bad(d, i, 1, "a character that is not allowed here",
                       "outside strings and comments only printable ASCII is used");
        i++;
    }
    return (struct token){TOKEN_WORD, {start, i - start}};
}

struct token lex_next(const struct source *src, size_t from, struct diag *d)
{
    const size_t i = skip_blanks(src, from);
    size_t end = i;

    if (i >= src->len)
        return (struct token){TOKEN_END, {src->len, 0}};
    switch (src->text[i]) {
    case '\n':
    case ';':
        return (struct token){TOKEN_SEPARATOR, {i, 1}};
    case '{':
        return (struct token){TOKEN_OPEN, {i, 1}};
    case '}':
        return (struct token){TOKEN_CLOSE, {i, 1}};
    case '#':
        if (is_digit(char_at(src, i + 1)))
            break;
        while (end < src->len && src->text[end] != '\n')
            end++;
        while (end > i && src->text[end - 1] == '\r')
            end--;
        return (struct token){TOKEN_COMMENT, {i, end - i}};
    default:
        break;
    }
    return lex_word(src, i, d);
}

static void add_token(struct tokens *tokens, struct token t)
{
    tokens->v = must_grow(tokens->v, tokens->n, &tokens->room, sizeof(*tokens->v));
    tokens->v[tokens->n++] = t;
    tokens->depth += t.kind == TOKEN_OPEN;
    tokens->depth -= t.kind == TOKEN_CLOSE && tokens->depth > 0;
}

void lex_rest(struct tokens *tokens, const struct source *src)
{
    struct diag ignored;
    size_t at = 0;

    /* Continue at the old end, or at the invalid token, which stays invalid. */
    if (tokens->n > 0)
        at = tokens->v[--tokens->n].at.at;
    for (;;) {
        const struct token t = lex_next(src, at, &ignored);

        add_token(tokens, t);
        if (t.kind == TOKEN_END || t.kind == TOKEN_BAD)
            return;
        at = t.at.at + t.at.len;
    }
}

void lex_free(struct tokens *tokens)
{
    free(tokens->v);
    *tokens = (struct tokens){.v = NULL};
}

bool lex_wants_more(const struct tokens *tokens, const struct source *src)
{
    bool joined = false;

    if (tokens->v[tokens->n - 1].kind == TOKEN_BAD)
        return false;
    /* Look for a line joint at the very end, with or without its line end. */
    for (size_t i = src->len; i > 0; i--) {
        const char c = src->text[i - 1];

        joined = c == '\\';
        if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && i == src->len))
            break;
    }
    return tokens->depth > 0 || joined;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Escapes of one letter in a string; \xHH is handled apart. */
static const struct {
    char letter, meaning;
} escapes[] = {{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}};

/* Decodes the escape whose backslash is at @i.  Returns its length, 0 if it is invalid. */
static size_t unescape(const struct source *src, size_t i, char *ret)
{
    const char c = char_at(src, i + 1);
    int high, low;

    for (size_t k = 0; k < ARRAY_LEN(escapes); k++) {
        if (escapes[k].letter == c) {
            *ret = escapes[k].meaning;
            return 2;
        }
    }
    high = hex_digit(char_at(src, i + 2));
    low = high < 0 ? -1 : hex_digit(char_at(src, i + 3));
    if (c != 'x' || low < 0 || high * 16 + low == 0 || high * 16 + low > 0x7f)
        return 0;
    *ret = (char)(high * 16 + low);
    return 4;
}

const char *lex_unquote(struct pool *p, const struct source *src, struct span word, struct diag *d)
{
    char *out = pool_alloc(p, word.len + 1);
    size_t n = 0;
    bool quoted = false;

    for (size_t i = word.at; i < word.at + word.len;) {
        if (src->text[i] == '"') {
            quoted = !quoted;
            i++;
        } else if (quoted && src->text[i] == '\\') {
            const size_t used = unescape(src, i, &out[n++]);

            if (used == 0) {
                diag_set(d, DIAG_SYNTAX, (struct span){i, 2}, "unknown escape in a string");
                diag_remedy(d, "there are \\\" \\\\ \\n \\t \\r and \\x01 to \\x7f");
                return NULL;
            }
            i += used;
        } else {
            out[n++] = src->text[i++];
        }
    }
    return out;
}

const char *lex_one_line(struct pool *p, const char *s, size_t n)
{
    struct source src;
    char *out;

    while (n > 0 && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        n--;
    out = pool_copy(p, s, n);
    src = (struct source){.text = out, .len = n};
    for (size_t i = 0; i < n;) {
        const size_t quoted = out[i] == '"' ? quoted_end(&src, i) : 0;
        const size_t joint = joint_bytes(&src, i);

        if (quoted) {
            i = quoted;
            continue;
        }
        if (joint)
            memset(out + i, ' ', joint);
        else if (out[i] == '"')
            break; /* unterminated string; the parser reports it */
        else if (isspace((unsigned char)out[i]))
            out[i] = ' ';
        i += joint ? joint : 1;
    }
    return out;
}

static void write_escaped(FILE *out, char c)
{
    for (size_t k = 0; k < ARRAY_LEN(escapes); k++) {
        if (escapes[k].meaning == c) {
            fprintf(out, "\\%c", escapes[k].letter);
            return;
        }
    }
    if ((unsigned char)c < 0x20 || c == 0x7f)
        fprintf(out, "\\x%02x", (unsigned)c);
    else
        fputc(c, out);
}

void lex_write_quoted(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++)
        write_escaped(out, *s);
    fputc('"', out);
}

bool lex_needs_quotes(const char *s)
{
    if (*s == '\0' || strcmp(s, "as") == 0 || (*s == '#' && !is_digit(s[1])))
        return true;
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;

        if (c <= 0x20 || c >= 0x7f || strchr(";{}\"\\=,", c))
            return true;
    }
    return false;
}
