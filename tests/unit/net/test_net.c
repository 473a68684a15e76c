/* SPDX-License-Identifier: MIT */
/* Links, the switch and faults: when frames arrive, where, and how often. */
#include "emu/facts/enum/opcode.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"
#include "emu/wire/vlan.h"
#include "wires.h"

static void a_frame_takes_its_line_time_and_the_latency(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);

    net_send(&f->net, end, frame(f, 2, 1, 0));
    assert_int_equal(net_port_free_at(&f->net, end), 100);
    assert_int_equal(net_port_free_at(&f->net, end | 1), 0);
    run(f);
    assert_int_equal(f->got[1], 1);
    assert_int_equal(f->got_at[1], 1100);
}

/* 800 bits at this rate take a little more than 43361 ns: a line is busy until the last of them. */
static void line_time_is_rounded_up(void **state)
{
    static const uint64_t rate_bps = 18449759;
    struct fixture *f = *state;
    const struct net_link_config config = {.end = {{NET_HOST, 0, 0}, {NET_HOST, 1, 0}},
                                           .rate_bps = rate_bps};
    uint32_t link;

    assert_int_equal(UINT64_C(800000000000) % rate_bps, 1);
    assert_int_equal(net_link_add(&f->net, &config, &link), RDL_OK);
    net_send(&f->net, link << 1, frame(f, 2, 1, 0));
    assert_int_equal(net_port_free_at(&f->net, link << 1), 43362);
    run(f);
    assert_int_equal(f->got_at[1], 43362);
}

static void a_port_without_a_link_drops(void **state)
{
    struct fixture *f = *state;

    net_send(&f->net, NET_NO_LINK, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->net.counts.dropped, 1);
}

/* Joins all hosts to a new switch.  @ret_ends are their ports. */
static void join_all(struct fixture *f, uint32_t ret_ends[HOSTS])
{
    const uint32_t sw = add_switch(f);

    for (uint32_t h = 0; h < HOSTS; h++)
        ret_ends[h] = join(f, NET_SWITCH, sw, h, 0);
}

static void a_switch_floods_what_it_does_not_know_and_learns(void **state)
{
    struct fixture *f = *state;
    uint32_t ends[HOSTS];

    join_all(f, ends);
    net_send(&f->net, ends[0], frame(f, 2, 1, 0)); /* unknown: to both others */
    run(f);
    assert_int_equal(f->got[0], 0);
    assert_int_equal(f->got[1], 1);
    assert_int_equal(f->got[2], 1);
    net_send(&f->net, ends[1], frame(f, 1, 2, 0)); /* learnt: only to host 0 */
    run(f);
    assert_int_equal(f->got[0], 1);
    assert_int_equal(f->got[2], 1);
    net_send(&f->net, ends[2], frame(f, 3, 3, 0)); /* to itself: back over the same port */
    run(f);
    assert_int_equal(f->got[2], 1);
}

/* Sends a frame with the MACs @dst and @src from port @end in VLAN @vid, and runs until all is
 * delivered.
 */
static void send_in_vlan(struct fixture *f, uint32_t end, uint32_t vid, uint8_t dst, uint8_t src)
{
    struct frame *fr = frame(f, dst, src, 0);

    net_send(&f->net, end, frame_tag(f->arena, fr, vlan_tci(vid, 0)));
    run(f);
}

static void a_switch_learns_each_vlan_on_its_own(void **state)
{
    struct fixture *f = *state;
    uint32_t ends[HOSTS];

    join_all(f, ends);
    send_in_vlan(f, ends[0], 5, 9, 1); /* station 1 of VLAN 5 is at host 0 */
    send_in_vlan(f, ends[1], 6, 9, 1); /* that of VLAN 6 is at host 1 */
    assert_int_equal(f->got[2], 2);
    assert_int_equal(f->last_len, 76 + VLAN_TAG_BYTES);
    assert_memory_equal(f->last + 12, "\x81\x00\x00\x06", VLAN_TAG_BYTES);
    memset(f->got, 0, sizeof(f->got));
    send_in_vlan(f, ends[2], 5, 1, 3);
    assert_int_equal(f->got[0], 1);
    assert_int_equal(f->got[1], 0);
    send_in_vlan(f, ends[2], 6, 1, 3);
    assert_int_equal(f->got[0], 1);
    assert_int_equal(f->got[1], 1);
    send_in_vlan(f, ends[2], 7, 1, 3); /* unknown there: flooded */
    assert_int_equal(f->got[0], 2);
    assert_int_equal(f->got[1], 2);
    memset(f->got, 0, sizeof(f->got));
    send_in_vlan(f, ends[2], 0, 4, 3);             /* VLAN 0 is none */
    net_send(&f->net, ends[0], frame(f, 3, 1, 0)); /* the same station without a tag */
    run(f);
    assert_int_equal(f->got[2], 1);
    assert_int_equal(f->got[1], 1); /* only the flooded one */
}

/* The number of a VLAN does not mix with a byte of the MAC. */
static void a_station_of_vlan_2_is_unknown_outside(void **state)
{
    struct fixture *f = *state;
    uint32_t ends[HOSTS];

    join_all(f, ends);
    for (uint32_t byte = 0; byte < MAC_BYTES; byte++) {
        struct frame *to = frame(f, 0, 0, 0), *from = frame(f, 9, 0, 0);

        memset(f->got, 0, sizeof(f->got));
        from->bytes[MAC_BYTES + byte] = 2;
        to->bytes[byte] = 2;
        to->bytes[MAC_BYTES] = 0x10;
        net_send(&f->net, ends[0], frame_tag(f->arena, from, vlan_tci(2, 0)));
        run(f);
        net_send(&f->net, ends[1], to);
        run(f);
        assert_int_equal(f->got[2], 2); /* both were flooded */
    }
}

/* 8 Gbit/s come in, and 8 kbit/s can leave: as many frames wait as the switch has room for. */
static void a_switch_drops_what_its_output_has_no_room_for(void **state)
{
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f), bytes = 1u << 16;
    const uint32_t fit = NET_QUEUE_BYTES_MAX / (bytes + NET_GAP_BYTES) + 1;
    const struct net_link_config slow = {.end = {{NET_HOST, 1, 0}, {NET_SWITCH, sw, 0}},
                                         .rate_bps = 8000};
    const uint32_t from = join(f, NET_SWITCH, sw, 0, 0);
    uint32_t link;

    assert_int_equal(net_link_add(&f->net, &slow, &link), RDL_OK);
    for (uint32_t i = 0; i < fit + 10; i++)
        net_send(&f->net, from, frame_of(f, bytes, 2, 1));
    run(f);
    assert_int_equal(f->got[1], fit);
    assert_int_equal(f->net.counts.dropped, 10);
    assert_int_equal(f->net.switches[sw]->drops[DROP_NO_BUFFER], 10);
    assert_int_equal(f->net.switches[sw]->rcvd_frames, fit + 10);
    assert_int_equal(f->net.switches[sw]->sent_frames, fit);
}

static void a_switch_counts_what_it_cannot_pass_on_by_its_reason(void **state)
{
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f);
    const uint32_t end = join(f, NET_SWITCH, sw, 0, 0);
    const struct net_switch *s = f->net.switches[sw];

    net_send(&f->net, end, frame(f, 2, 1, 0)); /* to others: there are none */
    run(f);
    assert_int_equal(s->drops[DROP_NO_ROUTE], 1);
    net_send(&f->net, end, frame(f, 1, 1, 0)); /* back to where it came from */
    run(f);
    assert_int_equal(s->drops[DROP_NO_ROUTE], 2);
    net_send(&f->net, end, frame_of(f, ETH_BYTES - 1, 2, 1));
    run(f);
    assert_int_equal(s->drops[DROP_SHORT], 1);
    assert_int_equal(f->net.counts.dropped, 3);
    assert_int_equal(f->net.counts.in_flight, 0);
}

static void links_and_ports_are_limited(void **state)
{
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f);
    uint32_t index;

    for (uint32_t i = 0; i < NET_SWITCH_PORTS_MAX; i++)
        join(f, NET_SWITCH, sw, i, 0);
    assert_int_equal(try_join(f, NET_SWITCH, sw, 0, 0, &index), RDL_ERR_LIMIT);
    assert_int_equal(f->net.n_links, NET_SWITCH_PORTS_MAX);
    for (uint32_t i = NET_SWITCH_PORTS_MAX; i < NET_LINKS_MAX; i++)
        join(f, NET_HOST, i + 1, i, 0);
    assert_int_equal(try_join(f, NET_HOST, 1, 0, 0, &index), RDL_ERR_LIMIT);
    for (uint32_t i = 1; i < NET_SWITCHES_MAX; i++)
        assert_int_equal(add_switch(f), i);
    assert_int_equal(net_switch_add(&f->net, "sw", &index), RDL_ERR_LIMIT);
    assert_int_equal(f->net.links[sw].end[1].port, 0);
    assert_int_equal(f->net.switches[sw]->link_end[NET_SWITCH_PORTS_MAX - 1],
                     (NET_SWITCH_PORTS_MAX - 1) << 1 | 1);
}

/* Sends a frame to each of @n stations that live behind one port of a switch.  Returns how many of
 * them were flooded to the third port.
 */
static uint32_t floods_to_stations(struct fixture *f, uint32_t end, uint32_t n)
{
    const uint32_t before = f->got[2];

    for (uint32_t i = 0; i < n; i++) {
        struct frame *fr = frame(f, 0, 1, 0);

        st_be32(fr->bytes + 2, 0x10000 + i);
        net_send(&f->net, end, fr);
        run(f);
    }
    return f->got[2] - before;
}

static void a_switch_remembers_every_station_until_its_table_is_full(void **state)
{
    static const uint32_t more = 100;
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f);
    const struct net_switch *s;
    uint32_t ends[HOSTS];

    for (uint32_t h = 0; h < HOSTS; h++)
        ends[h] = join(f, NET_SWITCH, sw, h, 0);
    for (uint32_t i = 0; i < NET_STATIONS_MAX - 1 + more; i++) {
        struct frame *fr = frame(f, 1, 0, 0);

        st_be32(fr->bytes + 8, 0x10000 + i);
        net_send(&f->net, ends[1], fr);
        run(f);
        if (i == 999) /* one of them is host 0's, which has sent frames now */
            assert_int_equal(floods_to_stations(f, ends[0], 1000), 0);
    }
    s = f->net.switches[sw];
    assert_int_equal(s->n_stations, NET_STATIONS_MAX);
    assert_int_equal(floods_to_stations(f, ends[0], NET_STATIONS_MAX - 1 + more), more);
}

struct fault_row {
    struct net_fault fault;
    uint32_t sent, arrives; /* frames with PSN 0 .. sent - 1; how many reach host 1 */
};

static void faults_hit_the_frames_they_name(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct fault_row rows[] = {{any, 5, 4}, {any, 5, 5}, {any, 5, 4}, {any, 5, 3},
                               {any, 5, 5}, {any, 5, 0}, {any, 5, 6}, {any, 5, 5}};

    rows[1].fault.match.field[NET_MATCH_PSN] = 9; /* no such PSN */
    rows[2].fault.match.field[NET_MATCH_PSN] = 3; /* one of them */
    rows[3].fault.nth = 2;                        /* the second and third */
    rows[3].fault.count = 2;
    rows[4].fault.match.field[NET_MATCH_HOST] = 2; /* another sender */
    rows[5].fault.count = UINT32_MAX;              /* all */
    rows[6].fault.kind = FLT_DUPLICATE;
    rows[7].fault.kind = FLT_DELAY;
    rows[7].fault.delay_ns = 50000;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t before = f->got[1];
        const uint64_t name = add_fault(f, &rows[i].fault)->handle;

        for (uint32_t psn = 0; psn < rows[i].sent; psn++)
            net_send(&f->net, end, frame(f, 2, 1, psn));
        run(f);
        assert_int_equal(f->got[1] - before, rows[i].arrives);
        net_fault_remove(&f->net, name);
    }
}

/* Faults of all sets of fields, some alike: each frame meets those that match it, oldest first, up
 * to the one that loses it.  A plain look at all of them says which.
 */
static void the_index_finds_what_a_look_at_all_faults_finds(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct prng rng = prng_stream(3, 3);
    const struct net_fault *made[300];
    uint32_t seen[ARRAY_LEN(made)] = {0};

    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        struct net_fault fault = any;

        fault.kind = i % 50 == 49 ? FLT_DROP : FLT_DELAY;
        fault.count = UINT32_MAX;
        for (uint32_t k = 0; k < NET_MATCH_FIELDS; k++) {
            if (prng_below(&rng, 2))
                fault.match.field[k] = (uint32_t)prng_below(&rng, 2);
        }
        made[i] = add_fault(f, &fault);
        if (i % 7 == 6) { /* the youngest but one goes away, and its slot is used again */
            net_fault_remove(&f->net, made[i - 1]->handle);
            made[i - 1] = NULL;
        }
    }
    for (uint32_t n = 0; n < 500; n++) {
        struct frame *fr = frame(f, 2, 1, 0);
        uint32_t value[NET_MATCH_FIELDS];
        bool lost = false;

        for (uint32_t k = 0; k < NET_MATCH_FIELDS; k++)
            value[k] = (uint32_t)prng_below(&rng, 3);
        fr->note.host = value[NET_MATCH_HOST];
        fr->note.opcode = value[NET_MATCH_OPCODE];
        fr->note.syndrome = value[NET_MATCH_SYNDROME];
        fr->note.psn = value[NET_MATCH_PSN];
        fr->note.dest_qpn = value[NET_MATCH_DEST_QPN];
        for (size_t i = 0; i < ARRAY_LEN(made) && !lost; i++) {
            bool is_met = made[i] != NULL;

            for (uint32_t k = 0; is_met && k < NET_MATCH_FIELDS; k++)
                is_met =
                    made[i]->match.field[k] == NET_MATCH_ANY || made[i]->match.field[k] == value[k];
            seen[i] += is_met;
            lost = is_met && made[i]->kind == FLT_DROP;
        }
        net_send(&f->net, end, fr);
    }
    run(f);
    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        if (made[i])
            assert_int_equal(made[i]->hits, seen[i]);
    }
}

/* A frame without a field is not met by a fault that names the field. */
static void no_field_is_no_value(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault fault = any;
    const struct net_fault *made[2];
    struct frame *fr = frame(f, 2, 1, 0);

    fault.kind = FLT_DELAY;
    made[0] = add_fault(f, &fault);
    fault.match.field[NET_MATCH_PSN] = 7;
    made[1] = add_fault(f, &fault);
    fr->note.psn = NET_MATCH_ANY;
    net_send(&f->net, end, fr);
    run(f);
    assert_int_equal(made[0]->seen, 1);
    assert_int_equal(made[1]->seen, 0);
}

static void what_is_done_costs_no_frame_anything(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    const struct net_fault *made = add_fault(f, &any);

    assert_int_equal(f->net.fault_index.groups.n, 1);
    for (uint32_t psn = 0; psn < 3; psn++)
        net_send(&f->net, end, frame(f, 2, 1, psn));
    run(f);
    assert_int_equal(f->net.counts.lost, 1);
    assert_int_equal(made->hits, 1);
    assert_int_equal(made->seen, 1);
    assert_int_equal(f->net.fault_index.groups.n, 0);
    assert_int_equal(f->net.fault_index.sets, 0);
    net_fault_remove(&f->net, made->handle);
}

/* A frame that takes 1100 ns is delayed, and copied: the copy comes after the delayed one. */
static void delays_add_up(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault fault = any, copy = any;

    fault.kind = FLT_DELAY;
    fault.count = UINT32_MAX;
    fault.delay_ns = 5000;
    copy.kind = FLT_DUPLICATE;
    copy.delay_ns = 700;
    add_fault(f, &fault);
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->got_at[1], 1100 + 5000);
    add_fault(f, &copy);
    net_send(&f->net, end, frame(f, 2, 1, 0)); /* at 6100 */
    run(f);
    assert_int_equal(f->got[1], 3);
    assert_int_equal(f->got_at[1], 6100 + 1100 + 5000 + 700);
}

static void corruption_flips_one_bit_of_a_copy(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault fault = any;

    fault.kind = FLT_CORRUPT;
    fault.corrupt_bit = 8 * 20 + 1;
    add_fault(f, &fault);
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->last[20], 0x40);
    assert_int_equal(f->last[5], 2);
}

/* The last bit that the ICRC of a RoCEv2 frame covers, before the padding that Ethernet may have;
 * the last bit of all of another frame.
 */
static void corruption_by_default_hits_what_the_icrc_covers(void **state)
{
    static const uint32_t payloads[] = {0, 1, 64, 1021};
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault fault = any;

    fault.kind = FLT_CORRUPT;
    fault.corrupt_bit = UINT32_MAX;
    fault.count = UINT32_MAX;
    add_fault(f, &fault);
    for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
        struct packet p = {.ip = {.version = 4}, .bth.opcode = OP_RC_SEND_ONLY};
        struct frame *sent;
        size_t bytes;

        gid_from_ipv4(p.ip.src, (uint8_t[]){10, 0, 0, 1});
        gid_from_ipv4(p.ip.dst, (uint8_t[]){10, 0, 0, 2});
        p.payload_bytes = payloads[i];
        bytes = packet_frame_bytes(&p);
        sent = frame_new(f->arena, (uint32_t)bytes + 9);
        memset(sent->bytes, 0, bytes + 9);
        (void)packet_build(&p, sent->bytes);
        packet_finish(sent->bytes, bytes);
        sent->len = (uint32_t)bytes + 9;
        net_send(&f->net, end, frame_ref(sent));
        run(f);
        assert_int_equal(f->last_len, sent->len);
        for (size_t k = 0; k < sent->len; k++)
            assert_int_equal(f->last[k] ^ sent->bytes[k], k == bytes - ICRC_BYTES - 1);
        assert_int_equal(packet_parse(&p, f->last, bytes), DROP_BAD_ICRC);
        frame_unref(f->arena, sent);
    }
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->last[f->last_len - 1], 1);
}

static void loss_by_chance_is_near_its_rate_and_follows_from_the_seed(void **state)
{
    struct fixture *f = *state;
    void *twin;
    struct fixture *g;
    uint32_t end;

    set_up(&twin);
    g = twin;
    end = join(f, NET_HOST, 1, 0, 100000);
    join(g, NET_HOST, 1, 0, 100000);
    for (uint32_t i = 0; i < 10000; i++) {
        net_send(&f->net, end, frame(f, 2, 1, i));
        net_send(&g->net, end, frame(g, 2, 1, i));
        run(f);
        run(g);
        assert_int_equal(f->got[1], g->got[1]);
    }
    assert_in_range(f->net.counts.lost, 900, 1100);
    tear_down(&twin);
}

static void loopback_returns_to_the_sender(void **state)
{
    struct fixture *f = *state;

    net_loop_back(&f->net, 2, frame(f, 3, 3, 0));
    run(f);
    assert_int_equal(f->got[2], 1);
}

/* A frame from outside; its note says so. */
static struct frame *frame_from(struct fixture *f, uint32_t ext, uint32_t psn)
{
    struct frame *fr = frame(f, 1, 9, psn);

    fr->note.host = EV_PORT_FIRST + ext;
    return fr;
}

static void frames_come_in_and_go_out_through_an_external_port(void **state)
{
    struct fixture *f = *state;
    uint32_t end;
    const uint32_t ext = ext_to_host(f, &end);

    net_ext_in(&f->net, ext, frame_from(f, ext, 0));
    net_ext_in(&f->net, ext, frame_from(f, ext, 1)); /* at once: it waits for the line */
    net_send(&f->net, end, frame(f, 9, 1, 0));
    run(f);
    assert_int_equal(f->got[0], 2);
    assert_int_equal(f->got_at[0], 1200);
    assert_int_equal(f->left[ext], 1);
    assert_int_equal(f->net.exts[ext].in_frames, 2);
    assert_int_equal(f->net.exts[ext].out_bytes, 76);
}

static void faults_know_external_ports(void **state)
{
    struct fixture *f = *state;
    uint32_t end;
    const uint32_t ext = ext_to_host(f, &end);
    struct net_fault fault = any;

    fault.match.field[NET_MATCH_HOST] = EV_PORT_FIRST + ext;
    fault.match.field[NET_MATCH_PSN] = 1;
    fault.count = UINT32_MAX;
    add_fault(f, &fault);
    for (uint32_t psn = 0; psn < 3; psn++)
        net_ext_in(&f->net, ext, frame_from(f, ext, psn));
    net_send(&f->net, end, frame(f, 9, 1, 1));
    run(f);
    assert_int_equal(f->got[0], 2);
    assert_int_equal(f->left[ext], 1);
    assert_int_equal(f->net.counts.lost, 1);
}

static void an_external_port_holds_so_much_and_counts_the_rest(void **state)
{
    struct fixture *f = *state;
    uint32_t end, n = 0;
    const uint32_t ext = ext_to_host(f, &end);
    const struct net_ext *x = &f->net.exts[ext];

    while (net_drops_sum(x->drops) < 10 && n < 100000)
        net_ext_in(&f->net, ext, frame_from(f, ext, n++));
    assert_in_range(n, NET_QUEUE_BYTES_MAX / 100, NET_QUEUE_BYTES_MAX / 100 + 20);
    run(f);
    assert_int_equal(f->got[0], n - 10);
    net_ext_in(&f->net, net_ext_add(&f->net, "unplugged"), frame_from(f, 1, 0));
    assert_int_equal(f->net.exts[1].drops[DROP_NO_ROUTE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_frame_takes_its_line_time_and_the_latency),
        T(line_time_is_rounded_up),
        T(a_port_without_a_link_drops),
        T(a_switch_floods_what_it_does_not_know_and_learns),
        T(a_switch_learns_each_vlan_on_its_own),
        T(a_station_of_vlan_2_is_unknown_outside),
        T(a_switch_drops_what_its_output_has_no_room_for),
        T(a_switch_counts_what_it_cannot_pass_on_by_its_reason),
        T(links_and_ports_are_limited),
        T(a_switch_remembers_every_station_until_its_table_is_full),
        T(faults_hit_the_frames_they_name),
        T(the_index_finds_what_a_look_at_all_faults_finds),
        T(no_field_is_no_value),
        T(what_is_done_costs_no_frame_anything),
        T(delays_add_up),
        T(corruption_flips_one_bit_of_a_copy),
        T(corruption_by_default_hits_what_the_icrc_covers),
        T(loss_by_chance_is_near_its_rate_and_follows_from_the_seed),
        T(loopback_returns_to_the_sender),
        T(frames_come_in_and_go_out_through_an_external_port),
        T(faults_know_external_ports),
        T(an_external_port_holds_so_much_and_counts_the_rest),
    };

    return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
