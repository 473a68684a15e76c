/* SPDX-License-Identifier: MIT */
/* A device without RDMA.  It answers control requests with object numbers.  A test can inspect what
 * the driver sent, refuse it, answer late, or answer malformed data.
 */
#ifndef TESTS_UNIT_GUEST_VIRTIO_RDMA_FAKE_DEVICE_H
#define TESTS_UNIT_GUEST_VIRTIO_RDMA_FAKE_DEVICE_H

#include "testing.h"

#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"
#include "emu/trace/event.h"
#include "emu/virtio/function.h"
#include "guest/program.h"

#define FAKE_HOST 2u
#define FAKE_MAX  4u /* CQs and QPs, unless a test sets others */
/* Shared receive queues for which there are queues; a test's configuration enables them. */
#define FAKE_SRQS      2u
#define FAKE_QUEUE     1024u
#define FAKE_VECTORS   4u
#define FAKE_RAM_BYTES (64u << 20)

#define FAKE_MW         9u
#define FAKE_FAST_PAGES 4u

struct fake {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct virtio_dev dev;
    struct pci_bus slot;
    struct space space;
    struct dma_pool dma;
    struct verbs verbs;
    struct virtio_rdma rdma;
    uint8_t peer_gid[GID_BYTES], peer_mac[MAC_BYTES]; /* the only neighbour; none while zero */
    bool late;                                        /* control requests wait for fake_answer() */
    uint8_t refuse;                                   /* of the next answer, if not RSP_OK */
    uint32_t number;                                  /* of the next object, if not 0 */
    uint32_t used_len;                                /* of the next answer, if not 0 */
    uint32_t n_mapped, room;                          /* vectors mapped; limit, 0: none */
    uint32_t n_requests;
    uint8_t request[256]; /* the last one, command first */
    uint32_t n_cq, n_qp, n_other;
    uint8_t response[256]; /* data of query responses */
    uint32_t kicks[64];
    uint32_t events[EV_COUNT];
    struct ev last[EV_COUNT];
};

/* Number of the object that @cmd creates. */
static inline uint32_t fake_number(struct fake *f, uint8_t cmd)
{
    if (f->number)
        return f->number;
    return cmd == CMD_CREATE_CQ ? ++f->n_cq : cmd == CMD_CREATE_QP ? ++f->n_qp : ++f->n_other;
}

/* Executes one control request.  Returns false if there is none. */
static inline bool fake_answer(struct fake *f)
{
    struct vq *vq = &f->dev.queues[0];
    uint8_t out[256] = {f->refuse};
    struct vq_chain c;
    uint32_t number;

    if (vq_pop(vq, &f->ram, &c) != VQ_GOT)
        return false;
    memset(f->request, 0, sizeof(f->request));
    vq_chain_read(&f->ram, &c, 0, f->request, sizeof(f->request));
    f->n_requests++;
    memcpy(out + 1, f->response, sizeof(f->response) - 1);
    switch (f->request[0]) {
    case CMD_CREATE_CQ:
    case CMD_CREATE_PD:
    case CMD_CREATE_QP:
    case CMD_CREATE_SRQ:
    case CMD_REG_USER_MR:
    case CMD_GET_DMA_MR:
    case CMD_CREATE_MR:
    case CMD_ALLOC_MW:
        number = f->refuse ? 0 : fake_number(f, f->request[0]);
        st_le32(out + 1, number);
        st_le32(out + 5, number << 8 | 1); /* lkey and rkey of a region */
        st_le32(out + 9, number << 8 | 2);
        break;
    default:
        break;
    }
    vq_chain_write(&f->ram, &c, 0, out, c.writable_bytes);
    vq_push(vq, &f->ram, c.head, f->used_len ? f->used_len : c.writable_bytes);
    if (vq_wants_interrupt(vq, &f->ram))
        virtio_raise(&f->dev, 0);
    f->refuse = RSP_OK;
    f->number = f->used_len = 0;
    return true;
}

static inline void fake_notify(void *ctx, uint32_t queue)
{
    struct fake *f = ctx;

    if (queue < ARRAY_LEN(f->kicks))
        f->kicks[queue]++;
    if (queue == 0 && !f->late)
        while (fake_answer(f))
            ;
}

static inline void fake_reset(void *ctx)
{
    (void)ctx;
}

static inline void fake_queue_reset(void *ctx, uint32_t queue)
{
    (void)ctx;
    (void)queue;
}

static const struct virtio_ops fake_ops = {
    .notify = fake_notify, .reset = fake_reset, .queue_reset = fake_queue_reset};

static inline uint32_t fake_config_read(void *ctx, uint32_t number, uint32_t offset, uint32_t width)
{
    return number == 0 ? fn_config_read(&((struct fake *)ctx)->dev.fn, offset, width) : UINT32_MAX;
}

static inline void fake_config_write(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                                     uint32_t value)
{
    assert_int_equal(number, 0);
    fn_config_write(&((struct fake *)ctx)->dev.fn, offset, width, value);
}

static inline uint64_t fake_read(void *ctx, uint64_t gpa, uint32_t width)
{
    struct fake *f = ctx;
    uint32_t bar, offset;

    assert_true(fn_decode(&f->dev.fn, gpa, &bar, &offset));
    if (bar == VIRTIO_BAR &&
        (offset == REG_CONFIG_MSIX_VECTOR || offset == REG_QUEUE_MSIX_VECTOR) &&
        f->n_mapped++ >= f->room && f->room > 0)
        return VIRTIO_NO_VECTOR;
    return fn_bar_read(&f->dev.fn, bar, offset, width);
}

static inline void fake_write(void *ctx, uint64_t gpa, uint32_t width, uint64_t value)
{
    struct fake *f = ctx;
    uint32_t bar, offset;

    assert_true(fn_decode(&f->dev.fn, gpa, &bar, &offset));
    fn_bar_write(&f->dev.fn, bar, offset, width, value);
}

static const struct guest_bus fake_bus = {fake_config_read, fake_config_write, fake_read,
                                          fake_write};

static inline void fake_irq(void *ctx, struct sim_item item)
{
    struct fake *f = ctx;
    struct fn_message m;

    assert_true(fn_take_message(&f->dev.fn, fn_irq_of(item.arg), &m));
    assert_int_equal(m.address, MSI_ADDRESS);
    virtio_rdma_driver.pci.interrupt(&f->rdma, m.data);
}

static sim_handler *const fake_handlers[SIM_KIND_COUNT] = {[SIM_IRQ] = fake_irq};

static inline void fake_event(void *ctx, const struct ev *e)
{
    struct fake *f = ctx;

    f->events[e->kind]++;
    f->last[e->kind] = *e;
}

static inline void fake_configure(struct fake *f, uint32_t max)
{
    const struct rfc_config config = {
        .phys_port_cnt = 1,
        .vendor_id = 0x1af4,
        .max_mr_size = 1u << 30,
        .max_qp = max,
        .max_qp_wr = FAKE_QUEUE,
        .max_send_sge = RDL_SGE_MAX,
        .max_recv_sge = RDL_SGE_MAX,
        .max_cq = max,
        .max_cqe = FAKE_QUEUE,
        .max_qp_rd_atom = 16,
        .max_qp_init_rd_atom = 16,
        .max_ah = 77,
        .max_mw = FAKE_MW,
        .device_cap_flags = (uint64_t)1 << 21, /* IB_DEVICE_MEM_MGT_EXTENSIONS */
        .max_fast_reg_page_list_len = FAKE_FAST_PAGES,
        .max_pkeys = 1,
        .local_ca_ack_delay = 15,
    };
    struct raw_config raw;

    rfc_config_put(&raw, &config);
    memcpy(f->dev.device_config, &raw, sizeof(raw));
}

static inline enum rdl_status fake_resolve(void *ctx, const uint8_t gid[GID_BYTES],
                                           const uint8_t **ret_mac)
{
    const struct fake *f = ctx;

    if (memcmp(gid, f->peer_gid, GID_BYTES) != 0)
        return RDL_ERR_NO_ROUTE;
    *ret_mac = f->peer_mac;
    return RDL_OK;
}

/* Device, driver and verbs, not booted. */
static inline struct fake *fake_new(uint32_t max, uint64_t features_off)
{
    struct fake *f = test_calloc(1, sizeof(*f));
    const struct virtio_config dev = {
        .virtio_id = VIRTIO_ID_RDMA,
        .host = FAKE_HOST,
        .features_off = features_off,
        .features_own = RDMA_FEATURES_OWN & ~features_off,
        .num_queues = 1 + 3 * max + !(features_off & VIRTIO_FEATURE(VF_EVENTQ)) +
                      (features_off & VIRTIO_FEATURE(VF_SRQ) ? 0 : FAKE_SRQS),
        .queue_size = FAKE_QUEUE,
        .n_vectors = FAKE_VECTORS,
        .config_bytes = sizeof(struct raw_config),
    };
    const struct verbs_config verbs = {
        .host = FAKE_HOST,
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
        .trace = &f->trace,
        .space = &f->space,
        .resolve = fake_resolve,
        .ctx = f,
    };
    const struct guest_pci pci = {
        .function = FN_RDMA,
        .host = FAKE_HOST,
        .bus = &fake_bus,
        .bus_ctx = f,
        .trace = &f->trace,
        .ram = &f->ram,
        .dma = &f->dma,
    };
    struct prng rng = prng_stream(1, 1);
    const struct rfc_port_attr port = {
        .max_mtu = MTU_4096, .active_mtu = MTU_2048, .gid_tbl_len = GUEST_GIDS};
    struct raw_port_attr raw;

    f->arena = arena_new((size_t)4 << 30);
    assert_non_null(f->arena);
    f->sink = (struct trace_sink){fake_event, f, ev_set_all, NULL};
    f->trace.sinks = &f->sinks;
    trace_sink_add(&f->sinks, &f->sink);
    assert_true(sim_init(&f->sim, f->arena, &f->trace, fake_handlers, f));
    assert_true(ram_init(&f->ram, f->arena, FAKE_RAM_BYTES));
    assert_true(virtio_init(&f->dev, f->arena, &f->sim, &dev, &fake_ops, f));
    f->slot = (struct pci_bus){.bus = &fake_bus, .ctx = f};
    pci_scan(&f->slot);
    assert_true(space_init(&f->space, &f->ram, &rng));
    dma_init(&f->dma, &f->space);
    verbs_init(&f->verbs, f->arena, &verbs, virtio_rdma_driver.verbs, &f->rdma);
    assert_true(virtio_rdma_driver.init(&f->rdma, &f->verbs, f->arena, &pci));
    fake_configure(f, max);
    rfc_port_attr_put(&raw, &port);
    memcpy(f->response, &raw, sizeof(raw));
    return f;
}

static inline void fake_free(struct fake *f)
{
    arena_free(f->arena);
    test_free(f);
}

static inline enum rdl_status fake_boot(struct fake *f)
{
    const struct pci_driver *driver = &virtio_rdma_driver.pci;
    const enum rdl_status st = driver->boot(&f->rdma, pci_find(&f->slot, driver->ids));

    return st == RDL_OK ? driver->start(&f->rdma) : st;
}

static inline int fake_set_up(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, 0);

    assert_int_equal(fake_boot(f), RDL_OK);
    assert_true(f->verbs.up);
    *state = f;
    return 0;
}

static inline int fake_tear_down(void **state)
{
    fake_free(*state);
    return 0;
}

/* Writes a completion as a device would; used.len is @len. */
static inline void fake_complete(struct fake *f, const struct guest_cq *cq,
                                 const struct rfc_cqe *cqe, uint32_t len)
{
    struct vq *vq = &f->dev.queues[cq->cqn];
    struct raw_cqe raw;
    struct vq_chain c;

    rfc_cqe_put(&raw, cqe);
    assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
    assert_int_equal(c.writable_bytes, sizeof(raw));
    assert_int_equal(vq_chain_write(&f->ram, &c, 0, &raw, sizeof(raw)), sizeof(raw));
    assert_true(vq_push(vq, &f->ram, c.head, len));
}

#endif
