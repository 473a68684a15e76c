/* SPDX-License-Identifier: MIT */
/* The picture of a virtqueue: whoever has a queue describes it here, and gets an SVG document.
 *
 * A split ring is three columns: the avail ring, the descriptor table, the used ring; lines lead
 * from the entries that count to their descriptors, and along each chain.  A packed ring is one
 * column, with the wrap counters' flags in each descriptor.  Beside the columns stand both sides'
 * indexes, or places.
 *
 * Whose a descriptor is, is said by a colour and by a letter: of free ones, of those that are
 * posted, taken, and back.  The same description gives the same bytes; it is drawn for a light
 * background, and for a dark one where whoever looks prefers that.
 */
#ifndef VIZ_RING_H
#define VIZ_RING_H

#include "viz/picture.h"

#define RING_NONE_AT UINT32_MAX /* no descriptor */

/* Whose a descriptor is. */
enum ring_owner {
    OWNER_FREE,   /* the driver's, for the next request */
    OWNER_POSTED, /* the device's, which has not taken it yet */
    OWNER_TAKEN,  /* the device's, which has it */
    OWNER_BACK,   /* the driver's, which has not looked yet */
    OWNER_COUNT
};

struct ring_slot {
    enum ring_owner owner;
    const char *flags; /* "A1 U0 id 3"; NULL: a split ring */
    const char *text;  /* what its buffer is; NULL: nothing */
    uint32_t next;     /* the descriptor that its chain goes on with, or RING_NONE_AT */
};

/* An entry of the avail or the used ring; desc RING_NONE_AT: it does not count. */
struct ring_entry {
    uint32_t desc;
};

/* Where somebody is: beside descriptor, or entry, @at. */
enum ring_column { COLUMN_AVAIL, COLUMN_DESC, COLUMN_USED };
struct ring_marker {
    enum ring_column column;
    uint32_t at;
    bool of_device; /* or of the driver */
    const char *text;
};

struct ring_picture {
    const char *title, *subtitle; /* subtitle: NULL: none */
    bool packed;
    uint32_t size;
    const struct ring_slot *slots;         /* size of them */
    const struct ring_entry *avail, *used; /* size of them; NULL: a packed ring */
    const struct ring_marker *markers;
    uint32_t n_markers;
};

/* RDL_OK, RDL_ERR_NOMEM (nothing was put then). */
RDL_MUST_CHECK enum rdl_status ring_draw(const struct ring_picture *p, const struct viz_sink *sink);

#endif
