/* SPDX-License-Identifier: MIT */
/* Other spellings of words that `explain` knows. */
#ifndef CLI_EXPLAIN_SPELLING_H
#define CLI_EXPLAIN_SPELLING_H

#include <stdbool.h>

#include "emu/base/text.h"

/* Appends the known word that @asked is another spelling of: a plural ("queue pairs"), without or
 * with other separators ("workrequest"), with a prefix of C ("IBV_ACCESS", "rdma_listener").
 * Returns false if there is none.
 */
bool spelling_find(struct text *t, const char *asked);

#endif
