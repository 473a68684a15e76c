/* SPDX-License-Identifier: MIT */
#include "cli/lang/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/json_path.h"
#include "emu/base/text.h"
#include "print/show_text.h"
#include "print/utf8.h"

#define PATH_BYTES      256u        /* of the path of a place in JSON; a longer one is cut */
#define SHOWN_AROUND    5u          /* columns printed in addition to the source line's: "  ..." */
#define SHOWN_BEFORE(n) ((n)*5 / 8) /* of n columns, kept left of the caret in a long line */
/* Of a file name: the longest path, with each byte escaped as \x1b. */
#define SHOWN_NAME_BYTES  (4u * 4096u + 1)
#define SOURCE_BYTES_MAX  (64u << 20)
#define SOURCE_READ_BYTES 65536u

struct source source_of(const char *name, const char *text)
{
    return (struct source){.name = name, .text = text, .len = strlen(text)};
}

struct source source_typed(const char *text)
{
    return (struct source){.text = text, .len = strlen(text), .typed = true};
}

static bool is_standard(const char *name)
{
    return strcmp(name, SOURCE_STANDARD) == 0;
}

const char *source_shown_name(const struct source *src)
{
    return src->name && is_standard(src->name) ? "standard input" : src->name;
}

bool source_is_file(const struct source *src)
{
    return src->name && !is_standard(src->name);
}

/* Appends one line with control characters escaped, since keys, strings and file names may contain
 * any bytes.
 */
static void add_line(struct text *t, const char *fmt, va_list args)
{
    char raw[DIAG_NOTES_BYTES];
    struct text line = text_on(raw, sizeof(raw));

    text_addv(&line, fmt, args);
    utf8_add_printable(t, raw, false);
}

bool diag_set(struct diag *d, enum diag_kind kind, struct span at, const char *fmt, ...)
{
    struct text message;
    va_list args;

    if (!d)
        return false;
    message = text_on(d->message, sizeof(d->message));
    d->kind = kind;
    d->missing = d->partly = false;
    d->reason = 0;
    d->at = at;
    d->remedy[0] = '\0';
    d->notes[0] = '\0';
    va_start(args, fmt);
    add_line(&message, fmt, args);
    va_end(args);
    return false;
}

bool diag_reason(struct diag *d, uint32_t reason)
{
    if (d)
        d->reason = reason;
    return false;
}

bool diag_remedy(struct diag *d, const char *fmt, ...)
{
    struct text remedy;
    va_list args;

    if (!d)
        return false;
    remedy = text_on(d->remedy, sizeof(d->remedy));
    va_start(args, fmt);
    add_line(&remedy, fmt, args);
    va_end(args);
    return false;
}

bool diag_status(struct diag *d, struct span at, const char *what, enum rdl_status st)
{
    diag_set(d, DIAG_FAILED, at, "%s: %s", what, rdl_status_str(st));
    diag_reason(d, (uint32_t)st);
    return diag_remedy(d, "%s (explain %s)", rdl_status_remedy(st), rdl_status_name(st));
}

void diag_note(struct diag *d, const char *fmt, ...)
{
    const size_t start = d ? strlen(d->notes) : 0;
    struct text notes;
    va_list args;

    if (!d)
        return;
    notes = (struct text){d->notes, start, sizeof(d->notes), false};
    va_start(args, fmt);
    add_line(&notes, fmt, args);
    va_end(args);
    text_add(&notes, "\n");
    if (notes.cut)
        d->notes[start] = '\0';
}

static size_t line_start(const struct source *src, size_t at)
{
    while (at > 0 && src->text[at - 1] != '\n')
        at--;
    return at;
}

void source_place(const struct source *src, size_t at, size_t *ret_line, size_t *ret_col)
{
    const char *from = src->text, *end = from + (at < src->len ? at : src->len);
    size_t line = src->lines_before + 1;

    /* A command of a loop asks for its place in each round. */
    while (from < end && (from = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        line++;
        from++;
    }
    *ret_line = line;
    *ret_col = at - line_start(src, at) + 1;
}

/* Returns true for a continuation byte of a UTF-8 character. */
static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

/* Prints the characters of @s, with a blank in place of each control character, and of the first
 * character of what a log takes for a command.  So the columns stay as they are.
 */
static void print_excerpt(FILE *err, const char *s, size_t n)
{
    const size_t blanks = strspn(s, " \t");

    for (size_t i = 0, used = 1; i < n; i += used) {
        uint32_t c = 0;

        used = utf8_character(s + i, n - i, &c);
        if (used > 0 && !utf8_controls(c) && !utf8_begins_command(s + i, i == blanks))
            fwrite(s + i, 1, used, err);
        else
            fputc(' ', err);
        used += used == 0;
    }
}

/* Prints the source line of the span, and a caret under each of its characters. */
static void print_line(FILE *err, const struct source *src, struct span at)
{
    const size_t place = at.at < src->len ? at.at : src->len;
    size_t start = line_start(src, place);
    size_t end = place;
    const size_t columns = show_columns(err) - SHOWN_AROUND;
    size_t carets = at.len;
    bool cut = false;

    while (end < src->len && src->text[end] != '\n')
        end++;
    if (place - start > SHOWN_BEFORE(columns) && end - start > columns) {
        start = place - SHOWN_BEFORE(columns);
        cut = true;
    }
    while (start < place && continues_character(src->text[start]))
        start++;
    if (end - start > columns)
        end = start + columns;
    while (end > place && end < src->len && continues_character(src->text[end]))
        end--;

    fputs(cut ? "  ..." : "  ", err);
    print_excerpt(err, src->text + start, end - start);
    fputs(cut ? "\n     " : "\n  ", err);
    for (size_t i = start; i < place; i++) {
        if (!continues_character(src->text[i]))
            fputc(' ', err);
    }
    if (carets > end - place)
        carets = end - place;
    fputc('^', err);
    for (size_t i = 1; i < carets; i++) {
        if (!continues_character(src->text[place + i]))
            fputc('^', err);
    }
    fputc('\n', err);
}

/* Appends the path of @at, if the source is JSON: "steps[3].flags: ". */
static void add_path(struct text *t, const struct source *src, struct span at)
{
    const size_t n = src->name ? strlen(src->name) : 0;
    char path[PATH_BYTES];
    struct text p = text_on(path, sizeof(path));

    if (n < 5 || strcmp(src->name + n - 5, ".json") != 0 || src->lines_before)
        return;
    json_add_path(&p, src, at.at);
    if (p.len)
        text_addf(t, "%s: ", path);
}

/* Appends "first.lab:3:7: ", the place of an error in a named source. */
static void add_place(struct text *t, const struct source *src, struct span at)
{
    size_t line, col;

    if (!src->name)
        return;
    utf8_add_printable(t, source_shown_name(src), false);
    source_place(src, at.at, &line, &col);
    text_addf(t, ":%zu:%zu: ", line, col);
}

void diag_print(FILE *err, const struct source *src, const struct diag *d)
{
    char line[SHOWN_NAME_BYTES + PATH_BYTES + DIAG_MESSAGE_BYTES + 64];
    struct text t = text_on(line, sizeof(line));
    const bool unmet = d->kind == DIAG_EXPECT;

    add_place(&t, src, d->at);
    text_add(&t, unmet ? "FAIL " : "error: ");
    if (!unmet && d->kind != DIAG_SYNTAX)
        add_path(&t, src, d->at);
    text_add(&t, d->message);
    show_long(err, 2, line);
    fputc('\n', err);
    if (!unmet && src->len > 0)
        print_line(err, src, d->at);
    if (d->remedy[0] && show_columns_of_terminal(err, 0))
        show_wrap(err, 2, d->remedy);
    else if (d->remedy[0])
        fprintf(err, "  %s\n", d->remedy);
    fputs(d->notes, err);
}

const char *source_check_text(const struct source *src, size_t *ret_at)
{
    for (size_t i = 0; i < src->len;) {
        uint32_t c = 0;
        const size_t n = utf8_character(src->text + i, src->len - i, &c);

        *ret_at = i;
        if (n == 0 || c == 0)
            return n ? "a NUL byte" : "the text is not UTF-8";
        i += n;
    }
    return NULL;
}

const char source_no_memory[] = "there is not enough memory to read it";

size_t source_mark_bytes(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";

    return strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

static const char *read_all(FILE *f, struct source *ret)
{
    const char *why = NULL;
    char *text = NULL;
    size_t len = 0, cap = 0, n = 0;

    do {
        if (cap - len < SOURCE_READ_BYTES + 1) {
            const size_t more_bytes = cap * 2 + SOURCE_READ_BYTES + 1;
            char *more = cap < SOURCE_BYTES_MAX ? realloc(text, more_bytes) : NULL;

            if (!more) {
                why = cap < SOURCE_BYTES_MAX ? source_no_memory
                                             : "the file is too long: a script has at most 64 MiB";
                break;
            }
            text = more;
            cap = more_bytes;
        }
        n = fread(text + len, 1, cap - len - 1, f);
        len += n;
    } while (n > 0);
    if (!why && ferror(f))
        why = strerror(errno);
    if (why) {
        free(text);
        return why;
    }
    text[len] = '\0';
    len -= source_mark_bytes(text);
    memmove(text, text + source_mark_bytes(text), len + 1);
    ret->text = text;
    ret->len = len;
    return NULL;
}

/* Returns a copy of the directory part of @name.  Returns NULL if there is no memory. */
static char *directory_of(const char *name)
{
    const char *slash = is_standard(name) ? NULL : strrchr(name, '/');

    if (!slash)
        return strdup(".");
    return slash == name ? strdup("/") : strndup(name, (size_t)(slash - name));
}

const char *source_read_file(FILE *f, const char *name, const char *home, struct source *ret)
{
    struct source src = {0};
    const char *why = read_all(f, &src);

    if (why)
        return why;
    src.name = strdup(name);
    src.home = home ? strdup(home) : directory_of(name);
    if (src.name && src.home) {
        *ret = src;
        return NULL;
    }
    source_done(&src);
    return source_no_memory;
}

const char *source_read(const char *name, struct source *ret)
{
    const bool standard = is_standard(name);
    FILE *f = standard ? stdin : fopen(name, "r");
    const char *why;

    if (!f)
        return errno == ENOMEM ? source_no_memory : strerror(errno);
    why = source_read_file(f, name, NULL, ret);
    if (!standard)
        fclose(f);
    return why;
}

void source_done(struct source *src)
{
    free((char *)src->text);
    free((char *)src->name);
    free((char *)src->home);
    *src = (struct source){0};
}
