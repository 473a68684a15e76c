/* SPDX-License-Identifier: MIT */
/* The drill of the device: requests and their answers, the model's numbers, the setup, and the
 * choice of steps.
 */
#include "swarm/drills/drill_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "rdmalab/control.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "swarm/drills/kinds.h"

#define STEPS        160u
#define USER_REGIONS 2u
#define REGION_BYTES 64u

/* --- Requests --------------------------------------------------------------------------------- */

/* Writes the request to the script.  Without bytes= it would have the bytes that its command takes.
 */
static void say(struct drill *d, uint32_t command, const uint8_t *data, size_t bytes, uint32_t why)
{
    const bool is_whole = bytes == 0 && rfc_bytes(rfc_ctrl(command)->request) == 0;
    char hex[2 * RDL_CONTROL_BYTES_MAX + 1] = "";

    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", data[i]);
    if (why == REF_NONE)
        drill_say(d, "control h1 %u%s%s", command, is_whole ? "" : " bytes=", hex);
    else
        drill_say(d, "refused reason=%s { control h1 %u%s%s }", enum_name(&enum_refusal, why),
                  command, is_whole ? "" : " bytes=", hex);
}

bool device_ask(struct drill *d, const struct device_request *request, uint32_t why, void *ret,
                size_t ret_bytes)
{
    struct drill_device *s = d->own;
    const uint32_t command = request->command;
    const struct rdl_control c = {.command = (uint8_t)command,
                                  .data = request->data,
                                  .bytes = (uint32_t)request->bytes,
                                  .room = 1 + (uint32_t)rfc_bytes(rfc_ctrl(command)->response)};
    const uint32_t written = why == REF_NONE ? c.room : 1;
    struct rdl_control_answer a;
    struct rdl_refusal r;
    uint32_t id;

    say(d, command, request->data, request->bytes, why);
    if (!drill_works(d, rdl_control_send(d->lab, s->host[0], &c, true, &id),
                     "a control request can be sent") ||
        !drill_settle(d) ||
        !drill_works(d, rdl_control_answer(d->lab, s->host[0], id, &a),
                     "a control request is answered") ||
        !drill_works(d, rdl_last_refusal(d->lab, s->host[0], &r), "a device has a last refusal") ||
        !drill_expect(d, a.response[0] == refusal_rsp(why) && (!why || r.reason == why),
                      "a request is refused for its mistake, and otherwise carried out",
                      "%s: response %u, %s, not %s", enum_name(&enum_ctrl_cmd, command),
                      a.response[0], a.response[0] ? enum_name(&enum_refusal, r.reason) : "done",
                      enum_name(&enum_refusal, why)) ||
        !drill_expect(d, a.written == written, "an answer is as long as its structure",
                      "%s: %u bytes, not %u", enum_name(&enum_ctrl_cmd, command), a.written,
                      written))
        return false;
    if (why == REF_NONE && ret)
        memcpy(ret, a.response + 1, ret_bytes);
    return true;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

uint32_t device_draw(struct drill *d, uint32_t least, uint32_t most)
{
    if (drill_one_in(d, 3))
        return least;
    return drill_one_in(d, 2) ? most : least + (uint32_t)prng_below(&d->rng, most - least + 1ull);
}

uint32_t device_draw_above(struct drill *d, uint32_t most)
{
    if (drill_one_in(d, 2))
        return most + 1;
    return drill_one_in(d, 2) ? UINT32_MAX
                              : most + 1 + (uint32_t)prng_below(&d->rng, UINT32_MAX - most);
}

uint32_t device_pick(struct drill *d, const struct device_object *slots, uint32_t n)
{
    const uint32_t first = drill_below(d, n);

    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = (first + k) % n;

        if (slots[i].number != DEVICE_NOTHING)
            return i;
    }
    return n;
}

uint32_t device_free_slot(const struct device_object *slots)
{
    uint32_t i = 0;

    while (slots[i].number != DEVICE_NOTHING)
        i++;
    RDL_ASSERT(i < DEVICE_SLOTS);
    return i;
}

static bool is_used(const struct device_object *slots, uint32_t number)
{
    for (uint32_t i = 0; i < DEVICE_SLOTS; i++) {
        if (slots[i].number == number && number != DEVICE_NOTHING)
            return true;
    }
    return false;
}

uint32_t device_draw_stranger(struct drill *d, const struct device_object *slots)
{
    uint32_t n = drill_one_in(d, 3) ? UINT32_MAX - drill_below(d, 2) : drill_below(d, 12);

    while (is_used(slots, n))
        n++;
    return n;
}

bool device_is_new(struct drill *d, const struct device_object *slots, uint32_t number,
                   uint32_t most)
{
    return drill_expect(d, number >= 1 && number <= most && !is_used(slots, number),
                        "each object has a number of its own, from 1 to the limit", "%u, of %u",
                        number, most);
}

uint32_t device_count(const struct device_object *slots)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < DEVICE_SLOTS; i++)
        n += slots[i].number != DEVICE_NOTHING;
    return n;
}

bool device_event(struct drill *d, bool is_told, uint32_t type)
{
    struct drill_device *s = d->own;
    struct rdl_async_event e = {0};
    size_t n = 0, more = 0;

    if (!drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken") ||
        !drill_expect(d, n == is_told && (n == 0 || e.type == type),
                      "a change of the port is told once, and nothing else is", "%s, not %s",
                      n ? enum_name(&enum_async_event, e.type) : "nothing",
                      is_told ? enum_name(&enum_async_event, type) : "nothing"))
        return false;
    if (n == 0)
        return true;
    drill_say(d, "get_async_event h1");
    return drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &more),
                       "events can be taken") &&
           drill_expect(d, more == 0, "a change of the port is told once, and nothing else is",
                        "%s, too", enum_name(&enum_async_event, e.type));
}

/* --- Setup and steps -------------------------------------------------------------------------- */

static void draw_limits(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rdl_device_limits *l = &s->built;

    *l = (struct rdl_device_limits){
        .max_mr_size = 4096u << drill_below(d, 3),
        .max_qp_wr = 1 + drill_below(d, 64),
        .max_send_sge = 1 + drill_below(d, 6),
        .max_recv_sge = 1 + drill_below(d, 6),
        .max_cqe = 1 + drill_below(d, 64),
        .max_mr = USER_REGIONS + 1 + drill_below(d, 4),
        .max_pd = 2 + drill_below(d, 4),
        .max_mw = 1 + drill_below(d, 4),
        .max_qp_rd_atom = 1 + drill_below(d, 8),
        .max_qp_init_rd_atom = 1 + drill_below(d, 8),
        .max_mcast_grp = 1 + drill_below(d, 3),
        .max_mcast_qp_attach = 1 + drill_below(d, 3),
        .max_total_mcast_qp_attach = 1 + drill_below(d, 5),
        .max_ah = 4,
        .max_fast_reg_page_list_len = 1 + drill_below(d, 8),
        .max_inline_data = 1 + drill_below(d, 64),
        .max_res_rd_atom = 1 + drill_below(d, 10),
    };
    l->max_sge_rd = 1 + drill_below(d, l->max_send_sge);
    s->max_cq = 2 + drill_below(d, 4);
    s->max_qp = DEVICE_FIRST_QP + 1 + drill_below(d, 6);
    s->max_srq = 1 + drill_below(d, 3);
    s->mtu = device_draw(d, ETHERNET_MTU_MIN, ETHERNET_MTU_MAX);
    s->device_mtu = MTU_256 + drill_below(d, 5);
    s->n_pkeys = 1 + drill_below(d, DEVICE_PKEYS);
    for (uint32_t i = 0; i < s->n_pkeys; i++)
        s->pkeys[i] = (uint16_t)(0x8000u + 1 + i * 16 + drill_below(d, 16));
    s->now = *l;
    s->profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba;
}

static void say_host(struct drill *d, const char *extensions)
{
    const struct drill_device *s = d->own;
    const struct rdl_device_limits *l = &s->built;
    char pkeys[64] = "", buf[1024];
    struct text limits = text_on(buf, sizeof(buf));

    for (uint32_t i = 0; i < s->n_pkeys; i++)
        snprintf(pkeys + strlen(pkeys), sizeof(pkeys) - strlen(pkeys), "%s0x%x", i ? "," : "",
                 s->pkeys[i]);
#define SAY(name, ...) text_addf(&limits, " " #name "=%u", l->name);
    RDL_DEVICE_LIMITS(SAY)
    RDL_DEVICE_LIMITS_DERIVED(SAY)
#undef SAY
    RDL_ASSERT(!limits.cut);
    drill_say(d,
              "host h1 profile=%s max_cq=%u max_qp=%u max_srq=%u mtu=%u device_mtu=%u pkeys=%s%s%s",
              enum_name(&enum_profile, s->profile), s->max_cq, s->max_qp, s->max_srq, s->mtu,
              128u << s->device_mtu, pkeys, buf, extensions);
}

static bool add_hosts(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rdl_host_config h1 = {.name = "h1",
                                 .profile = s->profile,
                                 .max_cq = s->max_cq,
                                 .max_qp = s->max_qp,
                                 .max_srq = s->max_srq,
                                 .mtu = s->mtu,
                                 .device_mtu = 128u << s->device_mtu,
                                 .n_pkeys = s->n_pkeys,
                                 .limits = s->built};
    const struct rdl_host_config h2 = {.name = "h2"};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    char words[EXTEND_WORDS_BYTES];

    memcpy(h1.pkeys, s->pkeys, sizeof(s->pkeys));
    say_host(d, drill_extend(d, 0, &h1, words));
    s->extensions = h1.extensions;
    s->ceqs = h1.ceqs;
    if (!device_has(s, VF_CEQ))
        s->extensions &= ~VIRTIO_FEATURE(VF_ARM_MEM);
    drill_say(d, "host h2\nlink h1 h2");
    s->is_up = true;
    return drill_works(d, rdl_host_add(d->lab, &h1, &s->host[0]), "a host can be added") &&
           drill_works(d, rdl_host_add(d->lab, &h2, &s->host[1]), "a host can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &s->link), "a link can be added");
}

/* Checks that the device tells its driver the limits that it has now. */
static bool config_is_right(struct drill *d)
{
    const struct drill_device *s = d->own;
    const struct rdl_device_limits *now = &s->now;
    const struct {
        const char *name;
        uint64_t value;
    } limits[] = {
#define ROW(name, ...) {#name, now->name},
        RDL_DEVICE_LIMITS(ROW) RDL_DEVICE_LIMITS_DERIVED(ROW)
#undef ROW
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        char path[64];

        if (strcmp(limits[i].name, "max_inline_data") == 0)
            continue; /* has no field in the configuration */
        snprintf(path, sizeof(path), "h1.device.config.%s", limits[i].name);
        if (!drill_number_is(d, path, limits[i].value,
                             "a device tells its driver what its limits are"))
            return false;
    }
    return true;
}

static void finish(struct drill *d)
{
    (void)config_is_right(d);
}

/* The regions of the guest's verbs, in its protection domain, which is the first object of all. */
static bool add_regions(struct drill *d)
{
    struct drill_device *s = d->own;
    uint64_t addr;
    rdl_pd pd;

    drill_say(d, "alloc_pd h1 as pd");
    if (!drill_is_done(d, s->host[0], rdl_alloc_pd(d->lab, s->host[0], "pd", &pd),
                       "a PD can be made") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host[0], REGION_BYTES, &addr), "there is memory"))
        return false;
    s->pd[0] = (struct device_object){.number = 1, .users = USER_REGIONS};
    for (uint32_t i = 0; i < USER_REGIONS; i++) {
        struct rdl_mr_info info;
        rdl_mr mr;

        drill_say(d, "reg_mr h1.pd len=%u access=lw as mr%u", REGION_BYTES, i);
        if (!drill_is_done(d, s->host[0],
                           rdl_reg_mr(d->lab, pd, addr, REGION_BYTES, ACC_LOCAL_WRITE, NULL, &mr),
                           "memory can be registered") ||
            !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has keys"))
            return false;
        s->key[i] = (struct device_key){
            .number = info.lkey >> 8, .is_user = true, .access = ACC_LOCAL_WRITE};
    }
    return true;
}

static void set_up(struct drill *d)
{
    struct drill_device *s = d->own;

    draw_limits(d);
    if (!add_hosts(d) || !config_is_right(d) || !add_regions(d))
        return;
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        uint8_t mac[6];

        s->gid[i].is_valid = true;
        if (!drill_works(d, rdl_host_address(d->lab, s->host[0], i, s->gid[i].raw, mac),
                         "a host has an address"))
            return;
    }
    (void)device_event(d, true, ASE_PORT_ACTIVE);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        device_step_pd,        device_step_pd,     device_step_cq,     device_step_cq,
        device_step_srq,       device_step_srq,    device_step_region, device_step_region,
        device_step_window,    device_step_rereg,  device_step_qp,     device_step_qp,
        device_step_qp,        device_step_modify, device_step_modify, device_step_modify,
        device_step_modify,    device_step_modify, device_step_modify, device_step_query,
        device_step_query,     device_step_group,  device_step_group,  device_step_port,
        device_step_gid,       device_step_gid,    device_step_pkey,   device_step_limits,
        device_step_malformed,
    };

    steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct drill_kind drill_of_device = {.name = "device",
                                           .bytes = sizeof(struct drill_device),
                                           .steps = STEPS,
                                           .set_up = set_up,
                                           .take = take,
                                           .finish = finish,
                                           .extensions = RDMA_EXTENSIONS};
