/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/past/past_lnet.h"
#include "lnet_frames.h"
#include "past/written.h"

#define TX ID(3, 2) /* the event that sent the frame */

static const char *words_of(const struct past *p, const struct ev *e, bool brief, char *buf)
{
    struct text t = text_on(buf, PAST_LNET_BYTES);
    const bool has = past_add_lnet(&t, p, e, brief);

    assert_int_equal(has, t.len > 0);
    return buf;
}

static void each_event_of_a_frame_names_its_message(void **state)
{
    static const struct ev events[] = {
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_ONLY},
        {.id = ID(4, 1), .kind = EV_rx, .u.rx = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
        {.id = ID(4, 2), .kind = EV_drop, .u.drop = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
        {.id = ID(4, 3), .kind = EV_lost, .u.lost = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
        {.id = ID(4, 4), .kind = EV_fault, .u.fault = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
        {.id = ID(4, 5), .kind = EV_port_out, .u.port_out = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
    };
    const struct lnet_msg m = lnet_sample(LNET_MSG_PUT_REQ, false);
    uint8_t frame[LNET_FRAME_MAX];
    const struct written w = {events, ARRAY_LEN(events), TX, frame,
                              lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame)};
    const struct past p = past_of_written(&w, NULL);
    char buf[PAST_LNET_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        assert_string_equal(words_of(&p, &events[i], false, buf),
                            "PUT_REQ credits=1 cookie=0x2a; PUT bytes=65536");
        assert_string_equal(words_of(&p, &events[i], true, buf), "PUT_REQ credits=1 cookie=0x2a");
    }
}

static void other_events_name_none(void **state)
{
    static const struct ev events[] = {
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_MIDDLE},
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_RC_ACKNOWLEDGE},
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_UC_SEND_ONLY},
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_UD_SEND_ONLY},
        {.id = TX, .kind = EV_tx, .u.tx.opcode = 0x1000},                /* no RoCEv2 */
        {.id = ID(4, 1), .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_ONLY}, /* not recorded */
        {.id = ID(4, 2), .kind = EV_rx, .u.rx.opcode = OP_RC_SEND_ONLY}, /* from outside */
        {.id = ID(4, 3), .kind = EV_forwarded, .u.forwarded.tx = TX},
        {.id = ID(4, 4), .kind = EV_kick},
    };
    const struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    uint8_t frame[LNET_FRAME_MAX];
    const struct written w = {events, ARRAY_LEN(events), TX, frame,
                              lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame)};
    struct past p = past_of_written(&w, NULL);
    char buf[PAST_LNET_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        assert_string_equal(words_of(&p, &events[i], false, buf), "");
    p.frame = NULL; /* no frames at all */
    assert_string_equal(
        words_of(&p, &(struct ev){.id = TX, .kind = EV_tx, .u.tx.opcode = 4}, false, buf), "");
}

/* A fault that changes a frame has the changed bytes; one that delays it has none. */
static void a_fault_names_the_changed_message(void **state)
{
    static const struct ev events[] = {
        {.id = ID(4, 4), .kind = EV_fault, .u.fault = {.by = FLT_FORGE, .opcode = 4, .tx = TX}},
        {.id = ID(5, 1), .kind = EV_rx, .u.rx = {.opcode = 4, .tx = ID(4, 4)}},
    };
    struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    uint8_t frame[LNET_FRAME_MAX];
    struct written w = {events, ARRAY_LEN(events), ID(4, 4), frame, 0};
    struct past p;
    char buf[PAST_LNET_BYTES];

    (void)state;
    m.credits = 99;
    w.frame_bytes = lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame);
    p = past_of_written(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        assert_string_equal(words_of(&p, &events[i], false, buf), "NOOP credits=99");
}

static void private_data_is_named(void **state)
{
    const struct ev tx = {
        .id = TX, .kind = EV_tx, .u.tx = {.opcode = OP_UD_SEND_ONLY, .cm = CM_REQ}};
    const struct lnet_msg m = lnet_sample(LNET_MSG_CONNREQ, true);
    uint8_t bytes[LNET_MSG_BYTES_MAX], frame[LNET_FRAME_MAX];
    const size_t n = lnet_build(&m, bytes);
    const struct written w = {&tx, 1, TX, frame, lnet_frame_cm(CM_REQ, 0x10603db, bytes, n, frame)};
    const struct past p = past_of_written(&w, NULL);
    char buf[PAST_LNET_BYTES];

    (void)state;
    assert_string_equal(words_of(&p, &tx, false, buf), "CONNREQ credits=1; depth=8 frags=256");
    assert_string_equal(words_of(&p, &tx, true, buf), "CONNREQ credits=1");
}

static const char *kept_words(const void *ctx, ev_id tx)
{
    (void)ctx;
    return tx == TX ? "NOOP \"4\"" : NULL;
}

/* A saved trace has the words in place of the frame. */
static void words_take_the_place_of_frames(void **state)
{
    static const struct ev events[] = {
        {.id = TX, .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_ONLY},
        {.id = ID(4, 1), .kind = EV_rx, .u.rx = {.opcode = OP_RC_SEND_ONLY, .tx = TX}},
        {.id = ID(4, 2), .kind = EV_rx, .u.rx = {.opcode = OP_RC_SEND_ONLY, .tx = ID(1, 1)}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct ev_names *names = ev_names_new();
    struct past p = past_of_written(&w, names);
    char buf[PAST_JSON_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    p.lnet = kept_words;
    assert_string_equal(words_of(&p, &events[0], false, buf), "NOOP \"4\"");
    assert_string_equal(words_of(&p, &events[1], false, buf), "NOOP \"4\"");
    assert_string_equal(words_of(&p, &events[2], false, buf), "");
    past_add_json(&t, &p, &events[1]);
    assert_non_null(strstr(buf, ",\"lnet\":\"NOOP \\\"4\\\"\"}"));
    t = text_on(buf, sizeof(buf));
    past_add_json(&t, &p, &events[2]);
    assert_null(strstr(buf, "lnet"));
    t = text_on(buf, sizeof(buf));
    past_add_text(&t, &p, &events[1]);
    assert_non_null(strstr(buf, ": ACCEPT, NOOP \"4\""));
    ev_names_free(names);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_of_a_frame_names_its_message),
        cmocka_unit_test(other_events_name_none),
        cmocka_unit_test(a_fault_names_the_changed_message),
        cmocka_unit_test(private_data_is_named),
        cmocka_unit_test(words_take_the_place_of_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
