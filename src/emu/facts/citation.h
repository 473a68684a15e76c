/* SPDX-License-Identifier: MIT */
/* What is cited of the specifications, and whether somebody has held the number against the text.
 */
#ifndef EMU_FACTS_CITATION_H
#define EMU_FACTS_CITATION_H

#include <stdbool.h>
#include <stddef.h>

struct citation {
    const char *document; /* "IBTA1" */
    const char *section;  /* "9.7.4.1", or a compliance statement: "C9-105" */
    bool verified;
    const char *about; /* in our words */
};

/* The rows of citations.def. */
extern const struct citation citations[];
extern const size_t n_citations;

/* The row of what the two words name, which need not end with a NUL; NULL if there is none. */
const struct citation *citation_find(const char *document, size_t document_len, const char *section,
                                     size_t section_len);

#endif
