/* SPDX-License-Identifier: MIT */
/* The citations of specifications, and whether each section number was verified against the text.
 */
#ifndef EMU_FACTS_CITATION_H
#define EMU_FACTS_CITATION_H

#include <stdbool.h>
#include <stddef.h>

struct citation {
    const char *document; /* "IBTA1" */
    const char *section;  /* "9.7.4.1", or a compliance statement: "C9-105" */
    bool verified;        /* somebody compared the number with the text of the document */
    const char *about;    /* contents of the section, in our words */
};

/* The rows of citations.def. */
extern const struct citation citations[];
extern const size_t n_citations;

/* Returns the row for @section of @document, or NULL if it is not in citations.def.  The strings
 * need no NUL at the end: @document_len and @section_len are their lengths.
 */
const struct citation *citation_find(const char *document, size_t document_len, const char *section,
                                     size_t section_len);

#endif
