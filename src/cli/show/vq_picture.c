/* SPDX-License-Identifier: MIT */
/* Collects the data of `show vq` for a picture, which viz draws. */
#include <stdlib.h>

#include "cli/show/show_vq.h"
#include "cli/show/vq_slots.h"
#include "process/must.h"
#include "tree/tree.h"
#include "viz/file_sink.h"
#include "viz/ring.h"

#define TEXT_BYTES  160u
#define MARKERS_MAX 4u

/* Storage for the texts of the picture. */
struct words {
    char title[TREE_PATH_BYTES + 64], subtitle[2 * TEXT_BYTES];
    char marker[MARKERS_MAX][64];
    char (*flags)[32];
    char (*text)[TEXT_BYTES];
};

struct vq_drawing {
    struct ring_picture picture;
    struct ring_slot *slots;
    struct ring_entry *avail, *used;
    struct ring_marker markers[MARKERS_MAX];
    struct words words;
};

static enum ring_owner owner_of(enum slot_state state)
{
    static const enum ring_owner owners[] = {
        [SLOT_FREE] = OWNER_FREE,
        [SLOT_POSTED] = OWNER_POSTED,
        [SLOT_TAKEN] = OWNER_TAKEN,
        [SLOT_USED] = OWNER_BACK,
    };

    return owners[state];
}

static uint32_t next_of(const struct vq_ring *q, uint64_t i)
{
    if (q->state[i] == SLOT_FREE || (q->packed && q->state[i] == SLOT_USED) ||
        !(ring_desc(q, i, LEAF_desc_flags) & VRING_NEXT))
        return RING_NONE_AT;
    return (uint32_t)(q->packed ? (i + 1) % q->size : ring_desc(q, i, LEAF_desc_next));
}

/* Appends the address, length, direction and content of the buffer of descriptor @i. */
static void add_what(struct text *t, const struct vq_ring *q, const struct wqe_reader *r,
                     uint64_t i)
{
    const struct wqe_buffer b = vq_buffer_of(q, i, q->state[i] == SLOT_USED);

    if (q->packed && q->state[i] == SLOT_USED) {
        vq_add_given_back(t, q, i);
        return;
    }
    text_addf(t, "0x%llx, %u bytes, device %s: ", (unsigned long long)b.addr, b.bytes,
              b.writable ? "writes" : "reads");
    if (ring_desc(q, i, LEAF_desc_flags) & VRING_INDIRECT)
        text_add(t, "a table of descriptors");
    else
        wqe_add_text(t, r, &b);
}

static void fill_slot(struct vq_drawing *d, const struct vq_ring *q, const struct wqe_reader *r,
                      uint32_t i)
{
    struct text what = text_on(d->words.text[i], TEXT_BYTES);
    struct text flags = text_on(d->words.flags[i], sizeof(d->words.flags[i]));

    d->slots[i] = (struct ring_slot){
        .owner = owner_of(q->state[i]),
        .next = next_of(q, i),
    };
    if (q->packed) {
        vq_add_packed(&flags, q, i);
        d->slots[i].flags = d->words.flags[i];
    }
    if (q->state[i] == SLOT_FREE)
        return;
    add_what(&what, q, r, i);
    d->slots[i].text = d->words.text[i];
}

/* Fills in the ring entries whose chains the driver has not reclaimed. */
static void fill_entries(struct vq_drawing *d, const struct vq_ring *q)
{
    for (uint32_t i = 0; i < q->size; i++)
        d->avail[i].desc = d->used[i].desc = RING_NONE_AT;
    for (uint16_t i = q->at.driver_used; i != q->at.driver_avail; i++)
        d->avail[i % q->size].desc = (uint32_t)ring_avail(q, i % q->size);
    for (uint16_t i = q->at.driver_used; i != q->at.device_used; i++)
        d->used[i % q->size].desc = (uint32_t)ring_used(q, i % q->size, LEAF_used_id);
}

static void add_marker(struct vq_drawing *d, struct ring_marker m, const char *what,
                       unsigned long n)
{
    char *words = d->words.marker[d->picture.n_markers];
    struct text t = text_on(words, sizeof(d->words.marker[0]));

    text_addf(&t, what, n);
    m.text = words;
    d->markers[d->picture.n_markers++] = m;
}

static void fill_markers(struct vq_drawing *d, const struct vq_ring *q)
{
    const struct vq_indexes *at = &q->at;
    const uint32_t size = (uint32_t)q->size;

    if (q->packed) {
        if (q->driver_is_known) {
            add_marker(d,
                       (struct ring_marker){COLUMN_DESC, q->place[RING_DRIVER_AVAIL].at, false, 0},
                       "offers next, wrap %lu", q->place[RING_DRIVER_AVAIL].wrap);
            add_marker(d,
                       (struct ring_marker){COLUMN_DESC, q->place[RING_DRIVER_USED].at, false, 0},
                       "looks, wrap %lu", q->place[RING_DRIVER_USED].wrap);
        }
        add_marker(d, (struct ring_marker){COLUMN_DESC, q->place[RING_DEVICE_AVAIL].at, true, 0},
                   "takes next, wrap %lu", q->place[RING_DEVICE_AVAIL].wrap);
        add_marker(d, (struct ring_marker){COLUMN_DESC, q->place[RING_DEVICE_USED].at, true, 0},
                   "gives back, wrap %lu", q->place[RING_DEVICE_USED].wrap);
        return;
    }
    add_marker(d, (struct ring_marker){COLUMN_AVAIL, at->driver_avail % size, false, 0},
               "driver: avail.idx %lu", at->driver_avail);
    add_marker(d, (struct ring_marker){COLUMN_AVAIL, at->device_avail % size, true, 0},
               "device takes %lu", at->device_avail);
    add_marker(d, (struct ring_marker){COLUMN_USED, at->device_used % size, true, 0},
               "device: used.idx %lu", at->device_used);
    if (q->driver_is_known)
        add_marker(d, (struct ring_marker){COLUMN_USED, at->driver_used % size, false, 0},
                   "driver looks at %lu", at->driver_used);
}

static void fill_titles(struct vq_drawing *d, const struct vq_ring *q)
{
    struct text title = text_on(d->words.title, sizeof(d->words.title));
    struct text sub = text_on(d->words.subtitle, sizeof(d->words.subtitle));

    text_addf(&title, "%s: virtqueue %llu, %llu descriptors, %s, at #%llu", q->path,
              (unsigned long long)q->number, (unsigned long long)q->size,
              q->packed ? "packed" : "split", (unsigned long long)rdl_tick(q->lab));
    d->picture.title = d->words.title;
    if (!q->packed)
        return;
    vq_add_area(&sub, q, false);
    text_add(&sub, "; ");
    vq_add_area(&sub, q, true);
    d->picture.subtitle = d->words.subtitle;
}

static struct vq_drawing *drawn_new(const struct vq_ring *q, const struct wqe_reader *r)
{
    const size_t n = (size_t)q->size + 1;
    struct vq_drawing *d = must_malloc(sizeof(*d));

    *d = (struct vq_drawing){.picture = {.packed = q->packed, .size = (uint32_t)q->size}};
    d->slots = must_malloc(n * sizeof(*d->slots));
    d->avail = must_malloc(n * sizeof(*d->avail));
    d->used = must_malloc(n * sizeof(*d->used));
    d->words.flags = must_malloc(n * sizeof(*d->words.flags));
    d->words.text = must_malloc(n * sizeof(*d->words.text));
    for (uint32_t i = 0; i < q->size; i++)
        fill_slot(d, q, r, i);
    if (!q->packed && q->size > 0)
        fill_entries(d, q);
    if (q->size > 0)
        fill_markers(d, q);
    fill_titles(d, q);
    d->picture.slots = d->slots;
    d->picture.avail = q->packed ? NULL : d->avail;
    d->picture.used = q->packed ? NULL : d->used;
    d->picture.markers = d->markers;
    return d;
}

static void drawn_free(struct vq_drawing *d)
{
    free(d->slots);
    free(d->avail);
    free(d->used);
    free(d->words.flags);
    free(d->words.text);
    free(d);
}

enum rdl_status export_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                          const char *path, size_t *reterr_at)
{
    const struct viz_sink sink = file_sink(out);
    char queue[TREE_PATH_BYTES];
    struct wqe_reader r;
    struct vq_drawing *d;
    struct vq_ring q;
    enum rdl_status st = vq_find(lab, path, queue, reterr_at);

    if (st != RDL_OK)
        return st;
    st = wqe_reader_init(&r, lab, queue);
    if (st == RDL_OK) {
        ring_init(&q, lab, p, queue, NULL);
        d = drawn_new(&q, &r);
        st = ring_draw(&d->picture, &sink);
        drawn_free(d);
        ring_done(&q);
    }
    wqe_reader_done(&r);
    return st;
}
