/* SPDX-License-Identifier: MIT */
/* Reads and writes single steps as JSON, for files that contain other data in addition to steps.
 * json.h is for whole scenarios.
 */
#ifndef CLI_LANG_JSON_PARTS_H
#define CLI_LANG_JSON_PARTS_H

#include "cli/lang/json_scan.h"
#include "cli/lang/script.h"

/* Parses all of @src, which must not be blank.  Returns false, with a message in @d, on failure.
 * Free *@ret with cJSON_Delete().
 */
bool json_parse(const struct source *src, cJSON **ret, struct diag *d);

/* Reads the object @v of @s->src as one step, in the pool of @s.  Returns false with the error in
 * @d.
 */
bool json_read_step(struct script *s, struct json_value v, struct step **ret, struct diag *d);

/* Reads the object @v of @s->src as the header of a scenario, an object without "steps", into
 * @s->header.  Returns false with the error in @d.
 */
bool json_read_header(struct script *s, struct json_value v, struct diag *d);

/* Writes one step.  The lines of its block are indented by @depth + 1 levels. */
void json_write_step(FILE *out, const struct step *st, size_t depth);

/* Writes the arguments of the scenario command @header (NULL: none) as members of the open JSON
 * object.  Each member is on a line of its own, which begins with @lead.  *@begun tells whether the
 * object has a member already, so that a comma comes first; it is set when a member is written.
 */
void json_write_header(FILE *out, const struct step *header, const char *lead, bool *begun);

#endif
