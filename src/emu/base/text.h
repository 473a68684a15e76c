/* SPDX-License-Identifier: MIT */
/* Text in a buffer of the caller.  Appending never overruns the buffer: text that does not fit is
 * lost, and @cut is set.
 */
#ifndef EMU_BASE_TEXT_H
#define EMU_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *buf; /* always NUL-terminated */
    size_t len, cap;
    bool cut; /* some text did not fit */
};

/* Returns an empty text in @buf, which has @cap bytes.  @cap counts the terminating NUL and must be
 * at least 1.
 */
static inline struct text text_on(char *buf, size_t cap)
{
    buf[0] = '\0';
    return (struct text){buf, 0, cap, false};
}

/* Append a string, @n bytes, or a text formatted as by printf(). */
void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *t, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* Appends @n bytes as two lower-case hexadecimal digits each, separated by @between. */
void text_add_hex(struct text *t, const void *bytes, size_t n, const char *between);

/* Appends "1st", "2nd", "3rd", "4th" and so on. */
void text_add_ordinal(struct text *t, uint32_t n);

/* Appends a phrase for @count objects of which the first is the @nth, and which are each @every-th
 * from there on: "every 3rd" if @every is larger than 1, "every" if @count is UINT32_MAX,
 * "the next 3" if it is larger than 1 (@nth is ignored in these cases), "the next" or "the 2nd" if
 * it is 1.
 */
void text_add_which(struct text *t, uint32_t nth, uint32_t every, uint32_t count);

/* Returns "a" or "an" for @word.  A word without a vowel is an abbreviation that is read letter by
 * letter: "an srq".
 */
const char *text_article(const char *word);

/* Returns what follows the last '/' in @path; all of it if there is none. */
const char *text_behind_slash(const char *path);

/* Returns the value of a hexadecimal digit in either case, or -1. */
int text_hex_digit(char c);

/* Appends spaces until the last line is @column bytes long.  Appends one space if the line is not
 * empty and already that long.
 */
void text_pad_to(struct text *t, size_t column);

#endif
