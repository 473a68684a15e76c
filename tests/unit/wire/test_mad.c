/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/wire/mad.h"

static uint64_t mask_of(const struct mad_field *f)
{
    const uint64_t all = f->bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * f->bytes) - 1;

    return f->mask ? f->mask : all;
}

/* Counts in @covered how many rows have each bit. */
static void cover(const struct mad_field *f, uint8_t *covered)
{
    for (uint32_t i = 0; i < 8u * f->bytes; i++) {
        if (f->bytes > 8 || (mask_of(f) >> (8u * f->bytes - 1 - i) & 1))
            covered[8u * f->at + i]++;
    }
}

static void the_rows_of_a_structure_cover_each_bit_once(void **state)
{
    (void)state;
    for (size_t p = 0; p < MAD_PART_COUNT; p++) {
        const struct mad_layout *l = &mad_layouts[p];
        uint8_t covered[8 * MAD_BODY_BYTES] = {0};

        for (size_t i = 0; i < l->n_fields; i++) {
            assert_true(l->fields[i].at + l->fields[i].bytes <= l->bytes);
            cover(&l->fields[i], covered);
        }
        for (size_t i = 0; i < 8 * l->bytes; i++)
            assert_int_equal(covered[i], 1);
    }
}

/* Of the random bytes all but the reserved ones come back. */
static void what_is_parsed_is_built_again(void **state)
{
    static const uint32_t messages[] = {CM_REQ,  CM_MRA,  CM_REJ,      CM_REP,     CM_RTU,
                                        CM_DREQ, CM_DREP, CM_SIDR_REQ, CM_SIDR_REP};

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(messages); k++) {
        const struct mad_layout *body = mad_body(messages[k]);
        uint8_t bytes[MAD_BYTES], again[MAD_BYTES];
        struct mad m;

        for (size_t i = 0; i < MAD_BYTES; i++)
            bytes[i] = (uint8_t)(i * 151 + 7 * k + 1);
        bytes[0] = MAD_BASE_VERSION;
        bytes[1] = MAD_CLASS_CM;
        bytes[2] = MAD_CM_CLASS_VERSION;
        bytes[16] = 0;
        bytes[17] = (uint8_t)messages[k];
        bytes[18] = bytes[19] = 0;
        for (size_t i = 0; i < body->n_fields; i++) {
            const struct mad_field *f = &body->fields[i];

            for (size_t b = 0; !f->name && b < f->bytes; b++)
                bytes[MAD_HEADER_BYTES + f->at + b] &=
                    (uint8_t) ~(mask_of(f) >> 8 * (f->bytes - 1 - b));
        }
        assert_true(mad_parse(&m, bytes));
        mad_build(&m, again);
        assert_memory_equal(again, bytes, MAD_BYTES);
    }
}

static void a_req_has_its_fields_where_the_specification_has_them(void **state)
{
    uint8_t bytes[MAD_BYTES] = {1, 7, 2, 3, [17] = 0x10};
    uint8_t *body = bytes + MAD_HEADER_BYTES;
    struct mad m;

    (void)state;
    body[13] = 0x01; /* service ID 0x11d2f */
    body[14] = 0x1d;
    body[15] = 0x2f;
    body[34] = 17;   /* QPN */
    body[43] = 0xa5; /* 20, UC, flow control */
    body[46] = 9;    /* PSN */
    body[47] = 0xa7; /* 20, retry count 7 */
    body[50] = 0x37; /* MTU 1024, no RDC, RNR retry 7 */
    body[51] = 0xf8; /* 15 retries, SRQ */
    body[90] = 0x10;
    body[91] = 0x02;
    body[95] = 0x98; /* 19 */
    assert_true(mad_parse(&m, bytes));
    assert_int_equal(m.u.req.service_id, 0x11d2f);
    assert_int_equal(m.u.req.local_qpn, 17);
    assert_int_equal(m.u.req.remote_cm_timeout, 20);
    assert_int_equal(m.u.req.transport, 2);
    assert_int_equal(m.u.req.flow_control, 1);
    assert_int_equal(m.u.req.starting_psn, 9);
    assert_int_equal(m.u.req.local_cm_timeout, 20);
    assert_int_equal(m.u.req.retry_count, 7);
    assert_int_equal(m.u.req.path_mtu, 3);
    assert_int_equal(m.u.req.rnr_retry_count, 7);
    assert_int_equal(m.u.req.max_cm_retries, 15);
    assert_int_equal(m.u.req.srq, 1);
    assert_int_equal(m.u.req.flow_label, 1);
    assert_int_equal(m.u.req.packet_rate, 2);
    assert_int_equal(m.u.req.ack_timeout, 19);
}

/* Messages that tests/oracle/mads.py cannot compare with tshark. */
static void the_others_have_theirs(void **state)
{
    uint8_t bytes[MAD_BYTES] = {1, 7, 2, 3, [17] = 0x11};
    uint8_t *body = bytes + MAD_HEADER_BYTES;
    struct mad m;

    (void)state;
    body[3] = 1;
    body[7] = 2;
    body[8] = 0x7f; /* answers a REP */
    body[9] = 0xc7; /* 24 */
    body[10] = 5;
    assert_true(mad_parse(&m, bytes));
    assert_int_equal(m.u.mra.local_comm_id, 1);
    assert_int_equal(m.u.mra.remote_comm_id, 2);
    assert_int_equal(m.u.mra.answered, 1);
    assert_int_equal(m.u.mra.service_timeout, 24);
    assert_int_equal(m.u.mra.private_data[0], 5);

    bytes[17] = 0x17;
    memset(body, 0, MAD_BODY_BYTES);
    body[3] = 1;
    body[5] = 7;
    body[6] = body[7] = 0xff; /* reserved */
    body[15] = 9;
    body[16] = 3;
    assert_true(mad_parse(&m, bytes));
    assert_int_equal(m.u.sidr_req.request_id, 1);
    assert_int_equal(m.u.sidr_req.pkey, 7);
    assert_int_equal(m.u.sidr_req.service_id, 9);
    assert_int_equal(m.u.sidr_req.private_data[0], 3);

    bytes[17] = 0x18;
    memset(body, 0, MAD_BODY_BYTES);
    body[4] = 2;
    body[5] = 3;
    body[7] = 0x11;
    body[10] = 17;
    body[11] = 0x22;
    body[19] = 9;
    body[23] = 8;
    body[24] = 6;
    body[96] = 4;
    assert_true(mad_parse(&m, bytes));
    assert_int_equal(m.u.sidr_rep.status, 2);
    assert_int_equal(m.u.sidr_rep.info_length, 3);
    assert_int_equal(m.u.sidr_rep.vendor_id_high, 0x11);
    assert_int_equal(m.u.sidr_rep.qpn, 17);
    assert_int_equal(m.u.sidr_rep.vendor_id_low, 0x22);
    assert_int_equal(m.u.sidr_rep.service_id, 9);
    assert_int_equal(m.u.sidr_rep.qkey, 8);
    assert_int_equal(m.u.sidr_rep.info[0], 6);
    assert_int_equal(m.u.sidr_rep.private_data[0], 4);
}

static void other_mads_are_no_messages(void **state)
{
    uint8_t bytes[MAD_BYTES] = {1, 7, 2, 3, [17] = 0x14};
    struct mad m;

    (void)state;
    assert_true(mad_parse(&m, bytes));
    bytes[17] = 0x19; /* LAP has no structure here */
    assert_false(mad_parse(&m, bytes));
    bytes[17] = 0x0f;
    assert_false(mad_parse(&m, bytes));
    bytes[17] = 0x14;
    bytes[16] = 0x01;
    assert_false(mad_parse(&m, bytes));
    bytes[16] = 0;
    for (size_t i = 0; i < 3; i++) {
        bytes[i]++;
        assert_false(mad_parse(&m, bytes));
        bytes[i]--;
    }
}

static void only_some_port_spaces_have_addresses(void **state)
{
    (void)state;
    assert_true(rdma_cm_has_header(0x1061d2f));  /* TCP, port 7471 */
    assert_true(rdma_cm_has_header(0x1110001));  /* UDP */
    assert_true(rdma_cm_has_header(0x0020001));  /* IPoIB */
    assert_false(rdma_cm_has_header(0x13f0001)); /* IB */
    assert_false(rdma_cm_has_header(0x1000000001061d2fu));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_of_a_structure_cover_each_bit_once),
        cmocka_unit_test(what_is_parsed_is_built_again),
        cmocka_unit_test(a_req_has_its_fields_where_the_specification_has_them),
        cmocka_unit_test(the_others_have_theirs),
        cmocka_unit_test(other_mads_are_no_messages),
        cmocka_unit_test(only_some_port_spaces_have_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
