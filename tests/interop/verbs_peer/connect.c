/* SPDX-License-Identifier: MIT */
/* Queue pairs and their states. */
#include <string.h>

#include "peer.h"

static const struct word_value states[] = {
    {"RESET", IBV_QPS_RESET}, {"INIT", IBV_QPS_INIT}, {"RTR", IBV_QPS_RTR}, {"RTS", IBV_QPS_RTS},
    {"SQD", IBV_QPS_SQD},     {"SQE", IBV_QPS_SQE},   {"ERR", IBV_QPS_ERR},
};

static const struct word_value mtus[] = {
    {"256", IBV_MTU_256},   {"512", IBV_MTU_512},   {"1024", IBV_MTU_1024},
    {"2048", IBV_MTU_2048}, {"4096", IBV_MTU_4096},
};

#define ATTRIBUTE(key, mask, member)                                                               \
    {                                                                                              \
        key, mask, offsetof(struct ibv_qp_attr, member), sizeof(((struct ibv_qp_attr *)0)->member) \
    }

/* Those that are a number. */
static const struct {
    const char *key;
    int mask;
    size_t at, bytes;
} attributes[] = {
    ATTRIBUTE("pkey_index", IBV_QP_PKEY_INDEX, pkey_index),
    ATTRIBUTE("port", IBV_QP_PORT, port_num),
    ATTRIBUTE("qkey", IBV_QP_QKEY, qkey),
    ATTRIBUTE("sq_psn", IBV_QP_SQ_PSN, sq_psn),
};

static void set_number(struct ibv_qp_attr *attr, size_t at, size_t bytes, uint64_t value)
{
    const uint32_t four = (uint32_t)value;
    const uint16_t two = (uint16_t)value;
    const uint8_t one = (uint8_t)value;

    if (bytes == sizeof(four))
        memcpy((uint8_t *)attr + at, &four, bytes);
    else if (bytes == sizeof(two))
        memcpy((uint8_t *)attr + at, &two, bytes);
    else
        memcpy((uint8_t *)attr + at, &one, bytes);
}

void do_modify_qp(struct peer *p)
{
    struct ibv_qp *qp = object_named(p, operand(p, 0), QP)->qp;
    const char *state = peer_line_value(p->at, "state");
    struct ibv_qp_attr attr = {0};
    int mask = 0;

    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        const char *value = peer_line_value(p->at, attributes[i].key);

        if (value) {
            set_number(&attr, attributes[i].at, attributes[i].bytes, to_number(p, value));
            mask |= attributes[i].mask;
        }
    }
    if (state) {
        attr.qp_state = to_value(p, states, ARRAY_LEN(states), state);
        mask |= IBV_QP_STATE;
    }
    if (peer_line_value(p->at, "access")) {
        attr.qp_access_flags = access_or(p, "");
        mask |= IBV_QP_ACCESS_FLAGS;
    }
    done(p, ibv_modify_qp(qp, &attr, mask));
}

static bool to_init(struct peer *p, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = access_or(p, "rw,rr,ra"),
    };

    return done(
        p, ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

static bool to_rtr(struct peer *p, struct ibv_qp *qp, const struct remote *remote)
{
    const char *mtu = peer_line_value(p->at, "mtu");
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = to_value(p, mtus, ARRAY_LEN(mtus), mtu ? mtu : "1024"),
        .dest_qp_num = remote->number,
        .rq_psn = (uint32_t)number_or(p, "peer_psn", p->peer_psn),
        .max_dest_rd_atomic = (uint8_t)number_or(p, "max_dest_rd_atomic", 4),
        .min_rnr_timer = (uint8_t)number_or(p, "min_rnr_timer", 12),
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = p->peer_gid,
                            .sgid_index = (uint8_t)p->gid_index,
                            .hop_limit = 64}},
    };
    int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return done(p, ibv_modify_qp(qp, &attr, mask));
}

static bool to_rts(struct peer *p, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .sq_psn = (uint32_t)number_or(p, "sq_psn", p->psn),
        .timeout = (uint8_t)number_or(p, "timeout", 14),
        .retry_cnt = (uint8_t)number_or(p, "retry_cnt", 7),
        .rnr_retry = (uint8_t)number_or(p, "rnr_retry", 7),
        .max_rd_atomic = (uint8_t)number_or(p, "max_rd_atomic", 4),
    };
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return done(p, ibv_modify_qp(qp, &attr, mask));
}

/* connect QP peer.QP: this side's half of what the lab's `connect` does. */
void do_connect(struct peer *p)
{
    struct ibv_qp *qp = object_named(p, operand(p, 0), QP)->qp;
    const char *name = operand(p, 1);

    if (strncmp(name, "peer.", 5) != 0)
        fail(p, "%s is no queue pair of the peer", name);
    if (to_init(p, qp) && to_rtr(p, qp, remote_named(p, name + 5)))
        to_rts(p, qp);
}
