/* SPDX-License-Identifier: MIT */
/* The table of commands.  Commands that it lacks are not supported by the lab. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/assert.h"

static enum vp_end section(struct verbs_peer *p)
{
    fprintf(p->out, "section %s\n", vp_operand(p, 0));
    return VP_NEXT;
}

static enum vp_end sleep_ms(struct verbs_peer *p)
{
    const uint64_t ns = vp_to_number(p, vp_operand(p, 0)) * VP_NS_PER_MS;

    return p->now_ns - p->since_ns < ns ? VP_LATER : VP_NEXT;
}

static const struct vp_command commands[] = {
    {"section", .run = section},
    {"sync", .run = vp_sync},
    {"sleep", .run = sleep_ms},
    {"alloc_pd", .ask = vp_alloc_pd, .answered = vp_created},
    {"reg_mr", .ask = vp_reg_mr, .answered = vp_created},
    {"create_cq", .ask = vp_create_cq, .answered = vp_created},
    {"create_srq", .ask = vp_create_srq, .answered = vp_created},
    {"create_qp", .ask = vp_create_qp, .answered = vp_created},
    {"alloc_mw", .ask = vp_alloc_mw, .answered = vp_created},
    {"create_ah", .ask = vp_create_ah, .answered = vp_created},
    {"attach_mcast", .ask = vp_attach_mcast},
    {"detach_mcast", .ask = vp_detach_mcast},
    {"destroy_ah", .ask = vp_destroy, .answered = vp_destroyed},
    {"dealloc_mw", .ask = vp_destroy, .answered = vp_destroyed},
    {"destroy_qp", .ask = vp_destroy, .answered = vp_destroyed},
    {"destroy_srq", .ask = vp_destroy, .answered = vp_destroyed},
    {"destroy_cq", .ask = vp_destroy, .answered = vp_destroyed},
    {"dereg_mr", .ask = vp_destroy, .answered = vp_destroyed},
    {"dealloc_pd", .ask = vp_destroy, .answered = vp_destroyed},
    {"connect", .ask = vp_connect, .n_asks = vp_connect_asks},
    {"modify_qp", .ask = vp_modify_qp},
    {"write", .run = vp_write},
    {"check", .run = vp_check},
    {"digest", .run = vp_digest},
    {"await", .run = vp_await},
    {"post_recv", .run = vp_post_recv},
    {"post_srq_recv", .run = vp_post_srq_recv},
    {"post_send", .run = vp_post_send},
    {"bind_mw", .run = vp_bind_mw},
    {"poll_cq", .run = vp_poll_cq},
    {"drain_cq", .run = vp_drain},
};

const struct vp_command *vp_command_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}
