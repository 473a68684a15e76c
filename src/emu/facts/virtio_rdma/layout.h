/* SPDX-License-Identifier: MIT */
/* Two layouts of the RFC's structures.  Fields with the same name correspond.
 *
 *	spec	without padding, as virtio demands: struct raw_NAME of rfc.h.  The device uses it.
 *	demo	as in the public demonstration of the RFC's authors: layouts.def.  The project has
 *		no driver for this layout.
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_LAYOUT_H
#define EMU_FACTS_VIRTIO_RDMA_LAYOUT_H

#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"

enum rfc_layout { LAYOUT_SPEC, LAYOUT_DEMO };

#define RFC_DEMO_BYTES_MAX 176u /* at least the size of each structure in LAYOUT_DEMO */

/* Returns the structure with the name @name in @layout, or NULL if the layout does not define it.
 */
const struct row_struct *rfc_laid_out(const char *name, enum rfc_layout layout);

/* Returns the name of the structure in the union of a send WQE of @form: "wr_rdma".  Returns NULL
 * for WR_FORM_NONE: the union is unused.
 */
const char *rfc_union_name(enum wr_form form);

/* Returns the name of the structure nested in field @f of @s, or NULL if the field is a number or
 * plain bytes.  Returns "" if nothing in the nested structure is valid: the address of an alternate
 * path, or the union of a send WQE if @form is WR_FORM_NONE.  @form selects the member of that
 * union; other structures ignore it.
 */
const char *rfc_inner_name(const struct row_struct *s, const struct row_field *f,
                           enum wr_form form);

/* Converts the structure @name from layout @from at @in to layout @to at @out.  Both layouts must
 * define it.  Fields that @from does not have become 0 at @out; fields that @to does not have are
 * lost.  @form selects the member of the union in a send WQE; other structures ignore it.
 */
void rfc_relay(const char *name, enum wr_form form, enum rfc_layout from, const uint8_t *in,
               enum rfc_layout to, uint8_t *out);

#endif
