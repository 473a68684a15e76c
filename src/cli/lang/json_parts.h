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

/* Writes the arguments of the scenario command @header as JSON members, each after a comma, a line
 * end and @lead.  If *@begun is false, the object has no member yet: the first one is written
 * without comma and line end, and *@begun is set.
 */
void json_write_header(FILE *out, const struct step *header, const char *lead, bool *begun);

#endif
