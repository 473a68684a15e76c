/* SPDX-License-Identifier: MIT */
/* Two layouts of the RFC's structures, whose fields are told apart by their names.
 *
 *	spec	packed, as virtio reads the RFC: struct raw_NAME of rfc.h, which the device has
 *	demo	that of the public demonstration, layouts.def; no driver for it is here
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_LAYOUT_H
#define EMU_FACTS_VIRTIO_RDMA_LAYOUT_H

#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"

enum rfc_layout { LAYOUT_SPEC, LAYOUT_DEMO };

#define RFC_DEMO_BYTES_MAX 176u /* of the largest structure of the demonstration, and more */

/* The structure called @name in @layout; NULL: it has none. */
const struct rfc_struct *rfc_laid_out(const char *name, enum rfc_layout layout);

/* The structure that the union of a send WQE is; NULL: nothing is in it. */
const char *rfc_union_name(enum wr_form form);

/* The structure that field @f of @s is; "" for an address of another path, NULL for bytes alone.
 * @form: of a send WQE, what its union says.
 */
const char *rfc_inner_name(const struct rfc_struct *s, const struct rfc_field *f,
                           enum wr_form form);

/* Writes the structure @name, which lies at @in as @from says, to @out as @to has it.  What one
 * layout has and the other has not is 0 there.  @form: of a send WQE, what its union says.
 */
void rfc_relay(const char *name, enum wr_form form, enum rfc_layout from, const uint8_t *in,
               enum rfc_layout to, uint8_t *out);

#endif
