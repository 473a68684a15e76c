/* SPDX-License-Identifier: MIT */
/* Text in a buffer of the caller's: appends never overrun, and say when they were cut. */
#ifndef EMU_BASE_TEXT_H
#define EMU_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *buf; /* always NUL-terminated */
    size_t len, cap;
    bool cut; /* something did not fit */
};

/* @cap counts the terminating NUL and must be at least 1. */
static inline struct text text_on(char *buf, size_t cap)
{
    buf[0] = '\0';
    return (struct text){buf, 0, cap, false};
}

void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *t, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* Appends @n bytes as two lower-case hexadecimal digits each, @between them. */
void text_add_hex(struct text *t, const void *bytes, size_t n, const char *between);

/* "1st", "2nd", "3rd", "4th" and on. */
void text_add_ordinal(struct text *t, uint32_t n);

/* Which of many are meant, @count of them from the @nth on: "every" (@count is UINT32_MAX), "the
 * next 3", "the next", "the 2nd".
 */
void text_add_which(struct text *t, uint32_t nth, uint32_t count);

/* "a" or "an", whichever belongs before @word; what has no vowel is spoken by its letters: an srq.
 */
const char *text_article(const char *word);

/* The value of a hexadecimal digit in either case, or -1. */
int text_hex_digit(char c);

/* Appends blanks until the line is @column wide; at least one if anything stands there. */
void text_pad_to(struct text *t, size_t column);

#endif
