/* SPDX-License-Identifier: MIT */
/* Addresses inside messages of the connection manager: own ones are replaced, all others stay. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/guest/machine/cm_wire.h"
#include "emu/wire/addr.h"

#define TCP_SERVICE   UINT64_C(0x01061d2f) /* port space TCP, port 7471 */
#define OTHER_SERVICE UINT64_C(0x10000001) /* without a header of rdma_cm */
#define FURTHER_QPN   7u                   /* on the second function */

/* Virtual address i of the guest, its address on the wire at function f, and one of a stranger. */
static void virtual_of(uint32_t i, uint8_t ret[GID_BYTES])
{
    memset(ret, 0, GID_BYTES);
    ret[0] = 0xfe;
    ret[1] = 0x80;
    ret[15] = 3;
    if (i == 0)
        gid_from_ipv4(ret, (uint8_t[]){10, 0, 0, 3});
}

static void wire_of(uint32_t i, uint32_t f, uint8_t ret[GID_BYTES])
{
    memset(ret, 0, GID_BYTES);
    ret[0] = 0xfd;
    ret[15] = (uint8_t)(1 + f);
    if (i == 0)
        gid_from_ipv4(ret, (uint8_t[]){10, 200, 1, (uint8_t)(1 + f)});
}

static void stranger(uint32_t i, uint8_t ret[GID_BYTES])
{
    memset(ret, 0x20, GID_BYTES);
    if (i == 0)
        gid_from_ipv4(ret, (uint8_t[]){10, 0, 0, 2});
}

static void wire(const void *ctx, uint8_t gid[GID_BYTES], uint32_t qpn)
{
    uint8_t own[GID_BYTES];

    (void)ctx;
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        virtual_of(i, own);
        if (memcmp(gid, own, GID_BYTES) == 0) {
            wire_of(i, qpn == FURTHER_QPN, gid);
            return;
        }
    }
}

static void unwire(const void *ctx, uint8_t gid[GID_BYTES])
{
    uint8_t own[GID_BYTES];

    (void)ctx;
    for (uint32_t k = 0; k < 2 * GUEST_GIDS; k++) {
        wire_of(k % 2, k / 2, own);
        if (memcmp(gid, own, GID_BYTES) == 0) {
            virtual_of(k % 2, gid);
            return;
        }
    }
}

static const struct verbs_layer layer = {.wire = wire, .unwire = unwire};

static void init(struct verbs *v, bool with_layer)
{
    memset(v, 0, sizeof(*v));
    for (uint32_t i = 0; i < GUEST_GIDS; i++)
        virtual_of(i, v->config.gid[i]);
    v->config.layer = with_layer ? &layer : NULL;
}

static struct mad request(uint32_t message)
{
    return (struct mad){.head = {.base_version = MAD_BASE_VERSION,
                                 .mgmt_class = MAD_CLASS_CM,
                                 .class_version = MAD_CM_CLASS_VERSION,
                                 .method = MAD_METHOD_SEND,
                                 .attr_id = message}};
}

/* The header of rdma_cm from @source to @destination; IPv4 has the last four bytes alone. */
static void put_header(uint8_t *private_data, uint32_t version, const uint8_t *source,
                       const uint8_t *destination)
{
    struct rdma_cm_header h = {.ip_version = version, .port = 1};
    const size_t at = version == 4 ? GID_IPV4_AT : 0;

    memcpy(h.source + at, source + at, GID_BYTES - at);
    memcpy(h.destination + at, destination + at, GID_BYTES - at);
    rdma_cm_build(&h, private_data);
    memcpy(private_data + RDMA_CM_BYTES, "program", 7);
}

/* A REQ from @local to @peer, with an alternate path between the same. */
static struct mad req(uint32_t version, uint32_t qpn, const uint8_t *local, const uint8_t *header,
                      const uint8_t *peer, const uint8_t *to)
{
    struct mad m = request(CM_REQ);

    m.u.req.service_id = TCP_SERVICE;
    m.u.req.local_qpn = qpn;
    m.u.req.starting_psn = 77;
    memcpy(m.u.req.local_gid, local, GID_BYTES);
    memcpy(m.u.req.alt_local_gid, local, GID_BYTES);
    memcpy(m.u.req.remote_gid, peer, GID_BYTES);
    memcpy(m.u.req.alt_remote_gid, peer, GID_BYTES);
    put_header(m.u.req.private_data, version, header, to);
    return m;
}

enum direction { OUT, IN };

static void assert_becomes(enum direction way, bool with_layer, const struct mad *before,
                           const struct mad *after)
{
    uint8_t bytes[MAD_BYTES], expected[MAD_BYTES];
    struct verbs v;

    init(&v, with_layer);
    mad_build(before, bytes);
    mad_build(after, expected);
    (way == OUT ? cm_wire_out : cm_wire_in)(&v, bytes);
    assert_memory_equal(bytes, expected, MAD_BYTES);
}

static void a_request_to_a_peer_outside_has_addresses_on_the_wire(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const uint32_t version = i ? 6 : 4;
        uint8_t own[GID_BYTES], first[GID_BYTES], further[GID_BYTES], peer[GID_BYTES];
        struct mad before, after;

        virtual_of(i, own);
        wire_of(i, 0, first);
        wire_of(i, 1, further);
        stranger(i, peer);
        before = req(version, 5, own, own, peer, peer);
        after = req(version, 5, first, first, peer, peer);
        assert_becomes(OUT, true, &before, &after);
        /* Replies to the first function, and data to that of the queue pair. */
        before = req(version, FURTHER_QPN, own, own, peer, peer);
        after = req(version, FURTHER_QPN, first, further, peer, peer);
        assert_becomes(OUT, true, &before, &after);
        assert_becomes(OUT, false, &before, &before);
    }
}

static void a_request_from_a_peer_outside_gets_virtual_addresses(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const uint32_t version = i ? 6 : 4;
        uint8_t own[GID_BYTES], first[GID_BYTES], peer[GID_BYTES];
        struct mad before, after;

        virtual_of(i, own);
        wire_of(i, 0, first);
        stranger(i, peer);
        before = req(version, 5, peer, peer, first, first);
        after = req(version, 5, peer, peer, own, own);
        assert_becomes(IN, true, &before, &after);
        assert_becomes(IN, false, &before, &before);
        assert_becomes(IN, true, &after, &after);
        /* The addresses of the sender are its own business. */
        before = req(version, 5, first, first, peer, peer);
        assert_becomes(IN, true, &before, &before);
    }
}

static void a_request_for_datagrams_has_the_header_alone(void **state)
{
    uint8_t own[GID_BYTES], first[GID_BYTES], peer[GID_BYTES];
    struct mad before = request(CM_SIDR_REQ), after = before;

    (void)state;
    virtual_of(0, own);
    wire_of(0, 0, first);
    stranger(0, peer);
    before.u.sidr_req.service_id = after.u.sidr_req.service_id = TCP_SERVICE;
    put_header(before.u.sidr_req.private_data, 4, own, peer);
    put_header(after.u.sidr_req.private_data, 4, first, peer);
    assert_becomes(OUT, true, &before, &after);
    put_header(before.u.sidr_req.private_data, 4, peer, first);
    put_header(after.u.sidr_req.private_data, 4, peer, own);
    assert_becomes(IN, true, &before, &after);
    before.u.sidr_req.service_id = OTHER_SERVICE;
    assert_becomes(OUT, true, &before, &before);
    assert_becomes(IN, true, &before, &before);
}

static void a_refusal_names_the_address_that_the_peer_should_use(void **state)
{
    struct mad before = request(CM_REJ), after;

    (void)state;
    before.u.rej.reason = CM_REASON_INVALID_GID;
    virtual_of(0, before.u.rej.info);
    after = before;
    wire_of(0, 0, after.u.rej.info);
    assert_becomes(OUT, true, &before, &after);
    before.u.rej.reason = CM_REASON_CONSUMER_DEFINED;
    assert_becomes(OUT, true, &before, &before);
}

static void other_messages_stay_as_they_are(void **state)
{
    struct verbs v;
    uint8_t bytes[MAD_BYTES], before[MAD_BYTES];

    (void)state;
    init(&v, true);
    for (size_t i = 0; i < MAD_BYTES; i++)
        bytes[i] = (uint8_t)(i * 7);
    memcpy(before, bytes, MAD_BYTES);
    cm_wire_out(&v, bytes);
    cm_wire_in(&v, bytes);
    assert_memory_equal(bytes, before, MAD_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_to_a_peer_outside_has_addresses_on_the_wire),
        cmocka_unit_test(a_request_from_a_peer_outside_gets_virtual_addresses),
        cmocka_unit_test(a_request_for_datagrams_has_the_header_alone),
        cmocka_unit_test(a_refusal_names_the_address_that_the_peer_should_use),
        cmocka_unit_test(other_messages_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
