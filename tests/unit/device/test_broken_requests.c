/* SPDX-License-Identifier: MIT */
/* Sends each control command with each field of its request broken, and compares the device's state
 * before and after: a refused request changes nothing.
 *
 * Commands come from controls.def, their fields from rfc.h.  The test fails for a command that has
 * no row in valid[], and for a field whose kind is unknown.
 */
#include "stage.h"

#include <string.h>

#include "emu/hca/mw.h"
#include "rounds.h"

/* The request of any command. */
union request {
#define MEMBER(name, list) struct rfc_##name name;
    RFC_STRUCTS(MEMBER)
#undef MEMBER
};

/* A request that succeeds, and the preparation that it needs.  A command may have several rows. */
struct valid {
    enum ctrl_cmd cmd;
    const char *of; /* the structure of @r; NULL: the command has no data */
    union request r;
    /* Prepares a machine of stage_set_up(), and completes @r.  May be NULL. */
    void (*prepare)(struct machine *m, union request *r);
};

static void another_cq(struct machine *m, union request *r)
{
    OK(CREATE_CQ, create_cq, .cqe = 1);
    r->cq_handle.cqn = machine_number(m);
}

static void another_pd(struct machine *m, union request *r)
{
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    r->pd_handle.pdn = machine_number(m);
}

static void another_gid(struct machine *m, union request *r)
{
    OK(ADD_GID, add_gid, .gid = {0xfd, [15] = 9}, .gid_type = GID_TYPE_ROCE_V2,
       .index = r->del_gid.index, .port_num = r->del_gid.port);
}

static void member_of_group(struct machine *m, union request *r)
{
    assert_int_equal(machine_ask_mcast(m, CMD_ATTACH_MCAST, &r->mcast), RSP_OK);
}

static void move_to(union request *r, enum qp_state state)
{
    const struct rfc_qp_attr a = stage_attr_to(state);

    r->modify_qp.attr_mask = machine_mask(&a);
    rfc_qp_attr_put((struct raw_qp_attr *)r->modify_qp.attrs, &a);
}

static void move_to_init(struct machine *m, union request *r)
{
    (void)m;
    move_to(r, QPS_INIT);
}

static void move_to_rtr(struct machine *m, union request *r)
{
    MOVE(QPS_INIT);
    move_to(r, QPS_RTR);
}

static void move_to_rts(struct machine *m, union request *r)
{
    MOVE(QPS_INIT);
    MOVE(QPS_RTR);
    move_to(r, QPS_RTS);
}

#define NOTHING(c)                                                                                 \
    {                                                                                              \
        .cmd = CMD_##c                                                                             \
    }
#define VALID(c, name, ...)                                                                        \
    {                                                                                              \
        .cmd = CMD_##c, .of = #name, .r = {.name = {__VA_ARGS__} }                                 \
    }
#define AFTER(fn, c, name, ...)                                                                    \
    {                                                                                              \
        .cmd = CMD_##c, .of = #name, .r = {.name = {__VA_ARGS__}}, .prepare = (fn)                 \
    }

static const struct valid valid[] = {
    VALID(QUERY_PORT, query_port, .port = 1),
    VALID(CREATE_CQ, create_cq, .cqe = 1),
    AFTER(another_cq, DESTROY_CQ, cq_handle, 0),
    NOTHING(CREATE_PD),
    AFTER(another_pd, DESTROY_PD, pd_handle, 0),
    VALID(GET_DMA_MR, get_dma_mr, .pdn = 1),
    VALID(CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 2),
    VALID(MAP_MR_SG, map_mr_sg, .mrn = FAST_MRN, .npages = 1, .length = 1, .pages = PAGES_AT),
    VALID(REG_USER_MR, reg_user_mr, .pdn = 1, .length = 1, .pages = PAGES_AT, .npages = 1),
    VALID(DEREG_MR, mr_handle, .mrn = USER_MRN),
    VALID(CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1),
    AFTER(move_to_init, MODIFY_QP, modify_qp, .qpn = PAIR_SENDER),
    AFTER(move_to_rtr, MODIFY_QP, modify_qp, .qpn = PAIR_SENDER),
    AFTER(move_to_rts, MODIFY_QP, modify_qp, .qpn = PAIR_SENDER),
    VALID(QUERY_QP, query_qp, .qpn = PAIR_SENDER),
    VALID(DESTROY_QP, qp_handle, .qpn = PAIR_SENDER),
    VALID(QUERY_PKEY, query_pkey, .port = 1),
    VALID(ADD_GID, add_gid, .gid = {0xfe, 0x80}, .gid_type = GID_TYPE_ROCE_V2, .index = 1,
          .port_num = 1),
    AFTER(another_gid, DEL_GID, del_gid, .index = 1, .port = 1),
    VALID(REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = NOTIFY_SOLICITED),
    VALID(ALLOC_MW, alloc_mw, .pdn = 1, .type = MW_TYPE_1),
    VALID(DEALLOC_MW, mw_handle, .mwn = MWN),
    VALID(REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 7, .pdn = 1, .length = 1, .pages = PAGES_AT,
          .npages = 1),
    VALID(RESIZE_CQ, resize_cq, .cqn = 1, .cqe = 4),
    VALID(RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 4, .max_recv_wr = 5),
    VALID(ATTACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = UD_QPN),
    AFTER(member_of_group, DETACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = UD_QPN),
    VALID(CREATE_CQ_EX, create_cq_ex, .cqe = 1, .ceq = 1, .arm = PAGE_AT),
    VALID(CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 1),
    VALID(MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = SRQ_LIMIT),
    VALID(QUERY_SRQ, srq_handle, .srqn = 1),
    VALID(DESTROY_SRQ, srq_handle, .srqn = 1),
};

/* The kind of a field decides which values break it. */
enum kind { HANDLE, NUMBER, COUNT, ENUM, FLAGS, ADDRESS, LENGTH, BYTES };

/* The kind of an integer follows from the end of its name; the first row that fits counts. */

static const struct {
    const char *end;
    enum kind kind;
} kinds[] = {
    {"cqn", HANDLE},    {"pdn", HANDLE},    {"qpn", HANDLE},      {"qp_num", HANDLE},
    {"ceq", HANDLE},    {"arm", ADDRESS},   {"mrn", HANDLE},      {"mwn", HANDLE},
    {"srqn", HANDLE},   {"type", ENUM},     {"state", ENUM},      {"mtu", ENUM},
    {"notify", ENUM},   {"draining", ENUM}, {"flags", FLAGS},     {"mask", FLAGS},
    {"start", ADDRESS}, {"addr", ADDRESS},  {"npages", COUNT}, /* before "pages" */
    {"pages", ADDRESS}, {"length", LENGTH}, {"cqe", COUNT},       {"_wr", COUNT},
    {"_sg", COUNT},     {"_sge", COUNT},    {"_data", COUNT},     {"limit", COUNT},
    {"atomic", COUNT},  {"port", NUMBER},   {"port_num", NUMBER}, {"index", NUMBER},
    {"psn", NUMBER},    {"qkey", NUMBER},   {"timer", NUMBER},    {"timeout", NUMBER},
    {"retry", NUMBER},  {"_cnt", NUMBER},   {"label", NUMBER},    {"class", NUMBER},
    {"_sl", NUMBER},    {"_rate", NUMBER},
};

static enum kind kind_of(const struct row_struct *s, const struct row_field *f)
{
    const size_t n = strlen(f->name);

    if (f->type == 'b')
        return BYTES;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const size_t end = strlen(kinds[i].end);

        if (n >= end && strcmp(f->name + n - end, kinds[i].end) == 0)
            return kinds[i].kind;
    }
    fail_msg("rfc.h has %s.%s: say in kinds[] of what kind it is", s->name, f->name);
    return BYTES;
}

/* One row of valid[] while its fields are swept. */
struct sweep {
    void **state; /* a machine of stage_set_up() after the row's prepare() */
    const struct valid *row;
    const struct row_struct *s; /* of the request; NULL: the command has no data */
    uint8_t request[256];       /* the one that succeeds */
    uint64_t before;            /* stage_digest() of the machine */
    uint32_t n_values;          /* of which n_rounds() are sent */
    uint32_t n;                 /* requests that were sent */
};

/* Makes a machine for the row, and the request that succeeds.  The test makes and frees all its
 * machines itself: cmocka would count one that its setup function made as a leak.
 */
static void sweep_prepare(struct sweep *w)
{
    union request r = w->row->r;

    stage_set_up(w->state);
    if (w->row->prepare)
        w->row->prepare(*w->state, &r);
#define PUT(nm, list)                                                                              \
    if (w->s && strcmp(w->s->name, #nm) == 0)                                                      \
        rfc_##nm##_put((struct raw_##nm *)w->request, &r.nm);
    RFC_STRUCTS(PUT)
#undef PUT
    w->before = stage_digest(*w->state);
}

/* Sends @request; @what and @value are for the message.  Fails if the request is refused and
 * changes the device.  Makes a new machine if it succeeds.  Returns the response code.
 */
static int sweep_send(struct sweep *w, const uint8_t *request, size_t bytes, size_t room,
                      const char *what, uint64_t value)
{
    const int rsp =
        machine_ask(*w->state, (uint8_t)w->row->cmd, request, (uint32_t)bytes, (uint32_t)room);

    w->n++;
    if (rsp == RSP_OK) {
        machine_tear_down(w->state);
        sweep_prepare(w);
    } else if (stage_digest(*w->state) != w->before) {
        fail_msg("%s with %s=%llu was refused and changed the device",
                 enum_name(&enum_ctrl_cmd, (uint32_t)w->row->cmd), what, (unsigned long long)value);
    }
    return rsp;
}

/* A field of the request, or of a structure that lies in a field of it. */
struct place {
    const struct row_field *f;
    size_t offset; /* in the request */
};

static void sweep_value(struct sweep *w, struct place p, uint64_t v)
{
    uint8_t broken[sizeof(w->request)];

    if (w->n_values++ % rounds_divisor() != 0)
        return;
    memcpy(broken, w->request, sizeof(broken));
    for (uint32_t i = 0; i < p.f->bytes; i++)
        broken[p.offset + i] = (uint8_t)(p.f->type == 'i' ? (i < 8 ? v >> 8 * i : 0) : v);
    if (memcmp(broken, w->request, sizeof(broken)) != 0)
        sweep_send(w, broken, w->s->bytes, ROOM, p.f->name, v);
}

static void sweep_range(struct sweep *w, struct place p, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sweep_value(w, p, first + i);
}

/* Inverts each byte in turn. */
static void sweep_bytes(struct sweep *w, struct place p)
{
    for (uint32_t i = 0; i < p.f->bytes; i++) {
        uint8_t broken[sizeof(w->request)];

        memcpy(broken, w->request, sizeof(broken));
        broken[p.offset + i] ^= 0xff;
        sweep_send(w, broken, w->s->bytes, ROOM, p.f->name, i);
    }
}

/* Values around pages, the end of the machine's memory, and the end of all addresses. */
static void sweep_edges(struct sweep *w, struct place p)
{
    static const uint64_t edges[] = {RAM_PAGE_BYTES,
                                     2 * RAM_PAGE_BYTES,
                                     PAGE_AT,
                                     PAGES_AT,
                                     MACHINE_RAM_BYTES,
                                     (uint64_t)1 << 32,
                                     (uint64_t)1 << 63,
                                     0 - (uint64_t)RAM_PAGE_BYTES,
                                     0};

    for (size_t i = 0; i < ARRAY_LEN(edges); i++)
        sweep_range(w, p, edges[i] - 1, 3);
}

/* Tries values that most fields refuse, then those that break a field of this kind. */
static void sweep_field(struct sweep *w, const struct row_struct *s, struct place p)
{
    static const uint64_t hostile[] = {
        0, 1, 2, 3, 8, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, 1u << 20};
    const uint32_t bits = p.f->type == 'i' ? 8u * p.f->bytes : 0;
    uint64_t good = 0;

    for (uint32_t i = 0; i < bits / 8; i++)
        good |= (uint64_t)w->request[p.offset + i] << 8 * i;
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
        sweep_value(w, p, hostile[i]);
    switch (kind_of(s, p.f)) {
    case HANDLE: /* numbers of objects of all kinds, and the first ones that are free */
    case ENUM:
        sweep_range(w, p, 4, 12);
        break;
    case NUMBER:
        sweep_range(w, p, HCA_GIDS - 1, 3);
        sweep_range(w, p, 15, 18);
        break;
    case FLAGS:
        for (uint32_t i = 0; i < bits; i++) {
            sweep_value(w, p, good ^ (uint64_t)1 << i);
            if (good != 0)
                sweep_value(w, p, (uint64_t)1 << i);
        }
        break;
    case COUNT:
        sweep_range(w, p, 4, 14);
        for (uint32_t i = 5; i < bits; i += 3)
            sweep_range(w, p, ((uint64_t)1 << i) - 1, 3);
        break;
    case ADDRESS:
    case LENGTH:
        sweep_edges(w, p);
        break;
    case BYTES:
        sweep_bytes(w, p);
        break;
    }
    if (bits > 0)
        sweep_range(w, p, good - 1, 3);
}

/* The structure that the field @f holds: its text names it ("struct virtio_rdma_qp_attr"). */
static const struct row_struct *structure_in(const struct row_field *f)
{
    static const char prefix[] = "struct virtio_rdma_";
    const struct row_struct *inner;

    if (strncmp(f->text, prefix, strlen(prefix)) != 0)
        return NULL;
    inner = rfc_find(f->text + strlen(prefix));
    if (!inner)
        fail_msg("rfc.h has no structure for the field %s", f->name);
    return inner;
}

static void sweep_fields(struct sweep *w, const struct row_struct *s, size_t offset)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];
        const struct row_struct *inner = structure_in(f);

        if (inner)
            sweep_fields(w, inner, offset + f->offset);
        else
            sweep_field(w, s, (struct place){f, offset + f->offset});
    }
}

/* Sends requests that end too early, and gives too little room for the response. */
static void sweep_lengths(struct sweep *w)
{
    const size_t bytes = rfc_bytes(w->s);
    const size_t rsp_bytes = rfc_bytes(rfc_ctrl((uint32_t)w->row->cmd)->response);

    for (size_t i = 0; i < bytes; i++)
        assert_int_not_equal(sweep_send(w, w->request, i, ROOM, "bytes", i), RSP_OK);
    for (size_t i = 1; i < 1 + rsp_bytes; i++)
        assert_int_not_equal(sweep_send(w, w->request, bytes, i, "room", i), RSP_OK);
}

/* Sends the valid request after a driver did not accept the feature that the command needs. */
static void sweep_feature(struct sweep *w)
{
    static const enum feature_number needs[] = {
#define CONTROL(nm, name, number, feature, request, response, text) [number] = (feature),
#include "emu/facts/controls.def"
#undef CONTROL
    };
    struct machine *m = *w->state;
    const enum feature_number feature = needs[w->row->cmd];

    if (!feature)
        return;
    m->rdma.pci.accepted &= ~VIRTIO_FEATURE(feature);
    assert_int_not_equal(sweep_send(w, w->request, rfc_bytes(w->s), ROOM, "feature", 0), RSP_OK);
    assert_int_equal(m->last[EV_ctrl_execute].u.ctrl_execute.refusal, REF_COMMAND_UNKNOWN);
    m->rdma.pci.accepted |= VIRTIO_FEATURE(feature);
}

static uint32_t sweep(void **state, const struct valid *row)
{
    const char *name = enum_name(&enum_ctrl_cmd, (uint32_t)row->cmd);
    struct sweep w = {.state = state, .row = row, .s = rfc_ctrl((uint32_t)row->cmd)->request};
    int rsp;

    if ((w.s ? 1 : 0) != (row->of ? 1 : 0) || (w.s && strcmp(w.s->name, row->of) != 0))
        fail_msg("controls.def has another request for %s than valid[]", name);
    assert_true(rfc_bytes(w.s) <= sizeof(w.request));
    sweep_prepare(&w);
    rsp = sweep_send(&w, w.request, rfc_bytes(w.s), ROOM, "nothing wrong", 0);
    if (rsp != RSP_OK)
        fail_msg("%s is refused: say in valid[] how to prepare a valid request", name);
    sweep_feature(&w);
    sweep_lengths(&w);
    if (w.s)
        sweep_fields(&w, w.s, 0);
    machine_tear_down(state);
    return w.n;
}

static void each_field_of_each_command_is_broken(void **state)
{
    uint32_t n = 0;

    for (size_t i = 0; i < enum_ctrl_cmd.n_rows; i++) {
        const struct enum_row *cmd = &enum_ctrl_cmd.rows[i];
        bool found = false;

        for (size_t k = 0; k < ARRAY_LEN(valid); k++) {
            if ((uint32_t)valid[k].cmd == cmd->value) {
                n += sweep(state, &valid[k]);
                found = true;
            }
        }
        if (!found)
            fail_msg("controls.def has %s: say in valid[] how to prepare a valid request",
                     cmd->name);
    }
    print_message("%u requests\n", n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_of_each_command_is_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
