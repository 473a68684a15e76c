/* SPDX-License-Identifier: MIT */
/* Collects the data of `show ring` for a picture, which viz draws. */
#include <stdlib.h>

#include "cli/show/pv_ring.h"
#include "cli/show/show_pvrdma.h"
#include "emu/base/plural.h"
#include "emu/facts/pvrdma/ring.h"
#include "process/must.h"
#include "viz/file_sink.h"
#include "viz/ring.h"

#define TEXT_BYTES  160u
#define MARKERS_MAX 3u
#define SLOTS_MAX   256u /* a longer ring has no picture */

struct pv_drawing {
    struct ring_slot slots[SLOTS_MAX];
    char text[SLOTS_MAX][TEXT_BYTES];
    struct ring_marker markers[MARKERS_MAX];
    char marker[MARKERS_MAX][64];
    char title[TREE_PATH_BYTES + 96], subtitle[TEXT_BYTES];
    struct ring_picture picture;
};

static enum ring_owner owner_of(enum pv_slot_state state)
{
    static const enum ring_owner owners[] = {[PV_SLOT_FREE] = OWNER_FREE,
                                             [PV_SLOT_POSTED] = OWNER_POSTED,
                                             [PV_SLOT_TAKEN] = OWNER_TAKEN,
                                             [PV_SLOT_WRITTEN] = OWNER_BACK};

    return owners[state];
}

static void fill_slot(struct pv_drawing *d, const struct pv_ring_view *v, uint32_t i)
{
    const enum pv_slot_state state = pv_slot_state(v, i);
    struct text t = text_on(d->text[i], TEXT_BYTES);

    d->slots[i] = (struct ring_slot){.owner = owner_of(state), .next = RING_NONE_AT};
    if (state == PV_SLOT_FREE)
        return;
    text_addf(&t, "0x%llx: ", (unsigned long long)pv_slot_addr(v, i));
    pv_slot_add_text(&t, v, i);
    d->slots[i].text = d->text[i];
}

static void add_marker(struct pv_drawing *d, const struct pv_ring_view *v, uint32_t index,
                       bool of_device, const char *what)
{
    const uint32_t n = d->picture.n_markers++;
    struct text t = text_on(d->marker[n], sizeof(d->marker[n]));

    text_addf(&t, "%s %u", what, index);
    d->markers[n] =
        (struct ring_marker){COLUMN_DESC, pv_idx_slot(index, v->slots), of_device, d->marker[n]};
}

static void fill(struct pv_drawing *d, const struct pv_ring_view *v)
{
    struct text title = text_on(d->title, sizeof(d->title));
    struct text sub = text_on(d->subtitle, sizeof(d->subtitle));

    text_addf(&title, "%s: ring of %u slot%s of %u bytes, at #%llu", v->path, v->slots,
              plural_s(v->slots), v->slot_bytes, (unsigned long long)rdl_tick(v->lab));
    text_addf(&sub, "indices run modulo %u; they are in page 0x%llx, slot 0 is in page 0x%llx",
              2 * v->slots, (unsigned long long)pv_page_addr(v, 0),
              (unsigned long long)pv_page_addr(v, v->first_page));
    d->picture = (struct ring_picture){.title = d->title,
                                       .subtitle = d->subtitle,
                                       .head = "ring",
                                       .packed = true,
                                       .size = v->slots,
                                       .slots = d->slots,
                                       .markers = d->markers};
    for (uint32_t i = 0; i < v->slots; i++)
        fill_slot(d, v, i);
    add_marker(d, v, v->tail, v->of_device, "producer tail");
    add_marker(d, v, v->head, !v->of_device, "consumer head");
    if (!v->of_device)
        add_marker(d, v, v->next, true, "takes next");
}

enum rdl_status export_ring(FILE *out, const struct rdl_lab *lab, const char *path,
                            size_t *reterr_at)
{
    const struct viz_sink sink = file_sink(out);
    struct pv_drawing *d;
    struct pv_ring_view v;
    enum rdl_status st = pv_ring_view(lab, path, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    if (v.slots > SLOTS_MAX) {
        pv_ring_view_done(&v);
        return RDL_ERR_LIMIT;
    }
    d = must_malloc(sizeof(*d));
    *d = (struct pv_drawing){.picture = {.title = NULL}};
    fill(d, &v);
    st = ring_draw(&d->picture, &sink);
    free(d);
    pv_ring_view_done(&v);
    return st;
}
