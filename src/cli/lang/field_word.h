/* SPDX-License-Identifier: MIT */
/* Words for the values of a field of frames, as `forge` takes them: STALE_CONN for the field
 * REJ_reason.
 */
#ifndef CLI_LANG_FIELD_WORD_H
#define CLI_LANG_FIELD_WORD_H

#include <stdint.h>

#include "cli/lang/source.h"

enum field_word {
    FIELD_WORD_NOT,  /* a number, a path to one, or a value of a field without words */
    FIELD_WORD_IS,   /* a word of the field */
    FIELD_WORD_WRONG /* the field has words, and this is none of them */
};

/* Looks whether @text, whose position is @at, is a word for a value of the field @field, a row of
 * enum_wire_field; NULL: no field is given.  *@ret is its number.  Fills @reterr if it is wrong.
 */
enum field_word field_word_find(const char *field, const char *text, struct span at, uint32_t *ret,
                                struct diag *reterr);

#endif
