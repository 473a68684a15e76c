/* SPDX-License-Identifier: MIT */
/* Extensions of virtio-rdma for hosts of random labs: `rdmalab swarm --extensions`. */
#ifndef SWARM_DRAW_EXTEND_H
#define SWARM_DRAW_EXTEND_H

#include <stdint.h>

struct prng;

/* Extensions that change no completion that a program gets.  QP_END drops completions of a queue
 * pair's life behind the RESET that ends it.  Includers need emu/facts/virtio/feature.h.
 */
#define EXTEND_UNSEEN (RDMA_EXTENSIONS & ~VIRTIO_FEATURE(VF_QP_END))

struct extend {
    uint64_t extensions; /* of rdl_host_config: a set of 1 << enum extension; 0: none */
    uint32_t ceqs;       /* 0: the default */
};

#define EXTEND_WORDS_BYTES 96u

/* Draws all extensions, none, or a part of them.  @rng should be a stream that nothing else draws
 * from: then the rest of the lab does not depend on these draws.
 */
struct extend extend_draw(struct prng *rng);

/* Writes the parameters of the command `host`, with a space in front.  Returns @out. */
const char *extend_words(const struct extend *e, char out[EXTEND_WORDS_BYTES]);

#endif
