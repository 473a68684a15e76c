/* SPDX-License-Identifier: MIT */
/* The fields of management datagrams as text, for `show packet`. */
#ifndef CLI_SHOW_MAD_TEXT_H
#define CLI_SHOW_MAD_TEXT_H

#include "emu/base/text.h"
#include "emu/wire/mad.h"

/* Appends the value of @f in the structure at @bytes. */
void mad_text_add(struct text *t, const struct mad_field *f, const uint8_t *bytes);

#endif
