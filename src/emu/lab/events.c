/* SPDX-License-Identifier: MIT */
/* The public functions of events.h: look up the objects of handles and call the verbs. */
#include "rdmalab/events.h"

#include "emu/facts/enum/object.h"
#include "emu/lab/lab_state.h"

static struct guest_channel *channel_of(const struct rdl_lab *lab, rdl_channel h)
{
    return (struct guest_channel *)lab_object(lab->state, OBJ_CHANNEL, h.raw);
}

enum rdl_status rdl_get_async_event(struct rdl_lab *lab, rdl_host host, struct rdl_async_event *ret,
                                    size_t *ret_n)
{
    ACT_AT(lab, host, h, verbs_get_async_event(&h->guest.verbs, ret, ret_n));
}

enum rdl_status rdl_ack_async_event(struct rdl_lab *lab, const struct rdl_async_event *event)
{
    struct guest_object *o;

    if (event->object == OBJ_NONE)
        return RDL_OK;
    o = lab_object(lab->state, (enum object_kind)event->object, event->raw);
    return o ? verbs_ack_async_event(o) : RDL_ERR_STALE;
}

enum rdl_status rdl_create_comp_channel(struct rdl_lab *lab, rdl_host host, const char *name,
                                        rdl_channel *ret)
{
    ACT_AT(lab, host, h, verbs_create_comp_channel(&h->guest.verbs, name, &ret->raw));
}

enum rdl_status rdl_destroy_comp_channel(struct rdl_lab *lab, rdl_channel channel)
{
    struct guest_channel *ch = channel_of(lab, channel);

    ACT(lab, ch, verbs_destroy_comp_channel(ch));
}

enum rdl_status rdl_create_cq_on(struct rdl_lab *lab, rdl_channel channel, uint32_t cqe,
                                 const char *name, rdl_cq *ret)
{
    struct guest_channel *ch = channel_of(lab, channel);

    ACT(lab, ch, verbs_create_cq_on(ch, cqe, name, &ret->raw));
}

enum rdl_status rdl_create_cq_by(struct rdl_lab *lab, rdl_host host,
                                 const struct rdl_cq_config *config, const char *name, rdl_cq *ret)
{
    struct guest_channel *ch = channel_of(lab, config->channel);

    if (config->channel.raw && !ch)
        return RDL_ERR_STALE;
    ACT_AT(lab, host, h,
           verbs_create_cq_by(&h->guest.verbs, ch, config->cqe, config->vector, name, &ret->raw));
}

enum rdl_status rdl_get_cq_event(struct rdl_lab *lab, rdl_channel channel, rdl_cq *ret,
                                 size_t *ret_n)
{
    struct guest_channel *ch = channel_of(lab, channel);

    if (!ch)
        return RDL_ERR_STALE;
    *ret_n = verbs_get_cq_event(ch, &ret->raw);
    return RDL_OK;
}

enum rdl_status rdl_ack_cq_events(struct rdl_lab *lab, rdl_cq cq, uint32_t n)
{
    struct guest_cq *c = (struct guest_cq *)lab_object(lab->state, OBJ_CQ, cq.raw);

    return c ? verbs_ack_cq_events(c, n) : RDL_ERR_STALE;
}

enum rdl_status rdl_users_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw,
                             struct rdl_users *ret)
{
    const struct guest_object *o =
        kind < VERBS_KINDS ? lab_object(lab->state, (enum object_kind)kind, raw) : NULL;

    if (!o)
        return RDL_ERR_STALE;
    verbs_users_of(o, ret);
    return RDL_OK;
}
