/* SPDX-License-Identifier: MIT */
/* A virtqueue as driver and device see it: both pairs of indexes, who owns each slot, and what the
 * buffers say.
 */
#ifndef CLI_SHOW_SHOW_VQ_H
#define CLI_SHOW_SHOW_VQ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* Where driver and device stand in a queue.  The indexes run freely through 16 bits. */
struct vq_indexes {
    uint16_t driver_avail, driver_used; /* posted up to here; looked at what came back up to here */
    uint16_t device_avail, device_used; /* taken up to here; given back up to here */
};

struct vq_indexes vq_indexes_of(const struct rdl_lab *lab, const char *queue);

/* What a session has shown of virtqueues, for the next look at them.  All zero: nothing. */
struct vq_look;
struct vq_looks {
    struct vq_look *first;
    size_t n;
};
void vq_looks_done(struct vq_looks *looks);

/* How a virtqueue is shown. */
struct vq_view {
    enum show_form form;
    struct vq_looks *looks; /* NULL: nobody remembers */
};

/* What is different from what @view->looks knows of a queue is marked; then it
 * knows it as it is.  @path is a queue ("h1.qp.sq"), or what has one or two ("h1.qp", "h1.cq",
 * "h1").
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (has no queue), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                       const char *path, const struct vq_view *view,
                                       size_t *reterr_at);

/* The first queue at or below @path.  Errors as show_vq(). */
RDL_MUST_CHECK enum rdl_status vq_find(const struct rdl_lab *lab, const char *path,
                                       char ret[TREE_PATH_BYTES], size_t *reterr_at);

/* That queue as a picture, an SVG document.  Errors as show_vq(). */
RDL_MUST_CHECK enum rdl_status export_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const char *path, size_t *reterr_at);

#endif
