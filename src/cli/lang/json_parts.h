/* SPDX-License-Identifier: MIT */
/* Steps as JSON, for files that have more than steps: scenarios are in json.h. */
#ifndef CLI_LANG_JSON_PARTS_H
#define CLI_LANG_JSON_PARTS_H

#include "cli/lang/json_scan.h"
#include "cli/lang/script.h"

/* Parses all of @src, which is not blank.  On failure @d says what is wrong where.  Free with
 * cJSON_Delete().
 */
bool json_parse(const struct source *src, cJSON **ret, struct diag *d);

/* Reads the object @v of @s->src as one step, which lives in the pool of @s. */
bool json_read_step(struct script *s, struct json_value v, struct step **ret, struct diag *d);

/* Reads the object @v of @s->src as what a scenario says of itself: it is @s->header then. */
bool json_read_header(struct script *s, struct json_value v, struct diag *d);

/* Writes one step; a line of its block is indented by @depth + 1 levels. */
void json_write_step(FILE *out, const struct step *st, size_t depth);

/* Writes the members of the scenario line, each behind a comma and on a line that begins with
 * @lead. Those that begin no object may be first: *@begun says whether something was written.
 */
void json_write_header(FILE *out, const struct step *header, const char *lead, bool *begun);

#endif
