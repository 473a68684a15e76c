/* SPDX-License-Identifier: MIT */
/* Tests of what is said when a move of a queue pair is refused.  Each text is checked for each
 * attribute and each state, against the table of moves.
 */
#include <string.h>

#include "cli/cmd/qp_moves.h"
#include "cli/lab_session.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"

static const uint32_t types[] = {QPT_RC, QPT_UC, QPT_UD};

static const char *name_of(uint32_t state)
{
    return enum_name(&enum_qp_state, state);
}

/* Returns true if the move takes @attr, asked one move at a time. */
static bool takes(uint32_t type, uint32_t from, uint32_t to, uint32_t attr)
{
    unsigned missing, extra;

    if (to == QPS_RESET || to == QPS_ERR ||
        qp_fsm_check(type, (enum qp_state)from, (enum qp_state)to, attr, &missing, &extra) ==
            RDL_ERR_STATE)
        return false;
    return (extra & attr) == 0;
}

static bool leads(uint32_t type, uint32_t from, uint32_t to)
{
    unsigned missing, extra;

    return qp_fsm_check(type, (enum qp_state)from, (enum qp_state)to, 0, &missing, &extra) ==
           RDL_OK;
}

/* Checks the command that @says names, "state=SQD", if there is one. */
static void check_way(const char *says, uint32_t type, uint32_t from, uint32_t attr)
{
    const char *way = strstr(says, "state=");
    bool fits = false;

    for (uint32_t s = QPS_RESET; way && s <= QPS_ERR; s++) {
        const size_t n = strlen(name_of(s));

        if (strncmp(way + strlen("state="), name_of(s), n) != 0 || way[strlen("state=") + n] != '"')
            continue;
        assert_true(leads(type, from, s));
        for (uint32_t to = QPS_RESET; to <= QPS_ERR; to++)
            fits = fits || s == QPS_RESET || takes(type, s, to, attr);
    }
    assert_true(!way || fits);
}

static void every_move_that_takes_an_attribute_is_named(void **state)
{
    uint32_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types) * enum_qp_attr.n_rows * (QPS_ERR + 1); i++) {
        const uint32_t type = types[i % ARRAY_LEN(types)];
        const struct enum_row *attr =
            &enum_qp_attr.rows[i / ARRAY_LEN(types) % enum_qp_attr.n_rows];
        const uint32_t from = (uint32_t)(i / ARRAY_LEN(types) / enum_qp_attr.n_rows);
        char says[512], move[64];
        struct text t = text_on(says, sizeof(says));

        if (attr->value == QPA_STATE || attr->value == QPA_CUR_STATE)
            continue; /* no attribute of a move */
        qp_moves_add_takes(&t, type, (enum qp_state)from, attr->value, "h1.qp");
        assert_false(t.cut);
        assert_non_null(strstr(says, attr->text));
        for (uint32_t k = 0; k < (QPS_ERR + 1) * (QPS_ERR + 1); k++) {
            const uint32_t a = k / (QPS_ERR + 1), b = k % (QPS_ERR + 1);

            snprintf(move, sizeof(move), "%s -> %s", name_of(a), name_of(b));
            if (takes(type, a, b, attr->value) != (strstr(says, move) != NULL))
                fail_msg("%s %s: %s", attr->text, move, says);
            n += takes(type, a, b, attr->value);
        }
        check_way(says, type, from, attr->value);
    }
    assert_true(n > 100);
}

static void every_state_that_leads_to_another_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types) * (QPS_ERR + 1); i++) {
        const uint32_t type = types[i % ARRAY_LEN(types)], to = (uint32_t)(i / ARRAY_LEN(types));
        char says[256];
        struct text t = text_on(says, sizeof(says));
        const char *from;

        qp_moves_add_sources(&t, type, (enum qp_state)to);
        from = strstr(says, "reached from ");
        if (to == QPS_RESET || to == QPS_ERR) {
            assert_non_null(strstr(says, "every state"));
            continue;
        }
        for (uint32_t s = QPS_RESET; s <= QPS_ERR; s++) {
            unsigned missing, extra;
            const bool is_move = qp_fsm_check(type, (enum qp_state)s, (enum qp_state)to, 0,
                                              &missing, &extra) != RDL_ERR_STATE;

            if (is_move != (from && strstr(from, name_of(s)) != NULL))
                fail_msg("%s -> %s: %s", name_of(s), name_of(to), says);
        }
    }
}

/* All attributes at once, each far out of its range: the driver names each that has one. */
static void every_value_out_of_range_names_its_range(void **state)
{
    const uint32_t without = QPA_QKEY | QPA_AV | QPA_ALT_PATH | QPA_PATH_MIG_STATE | QPA_CAP |
                             QPA_RATE_LIMIT | QPA_STATE | QPA_CUR_STATE;
    struct rdl_modify_error e = {0};
    struct rdl_qp_attr a;
    uint32_t all = 0, bad = 0;
    struct lab l;
    uint64_t raw;

    (void)state;
    for (size_t i = 0; i < enum_qp_attr.n_rows; i++)
        all |= enum_qp_attr.rows[i].value & ~without;
    lab_open(&l, false);
    lab_run(&l, "host h1; alloc_pd h1 as pd; create_cq h1 as cq; "
                "create_qp h1.pd send_cq=cq recv_cq=cq as qp");
    assert_int_equal(rdl_find(l.s->lab, "h1.qp", OBJ_QP, &raw), RDL_OK);
    memset(&a, 0xff, sizeof(a));
    a.state = QPS_INIT;
    a.access = 0xfff;
    assert_int_equal(rdl_modify_qp(l.s->lab, (rdl_qp){raw}, &a, all | QPA_STATE, false, &e),
                     RDL_ERR_INVAL);
    for (uint32_t i = 0; i < e.n_ranges; i++) {
        const struct rdl_attr_range *r = &e.range[i];
        char says[256];
        struct text t = text_on(says, sizeof(says));

        bad |= r->attr;
        assert_true(r->least <= r->most && (r->found < r->least || r->found > r->most));
        qp_moves_add_range(&t, r);
        assert_non_null(strstr(says, enum_by_value(&enum_qp_attr, r->attr)->text));
        assert_true(strstr(says, "must be") || strstr(says, "may have only"));
    }
    assert_int_equal(bad, all);
    lab_close(&l);
}

/* Lines of a session: what is refused, and where the remedy leads. */
static void what_is_refused_has_a_way_out(void **state)
{
    static const struct {
        const char *line, *message, *remedy;
    } rows[] = {
        {"modify_qp h1.qp ah=h2", "takes no: ah", "\"modify_qp h1.qp state=SQD\" first"},
        {"modify_qp h1.qp timeout=3", "takes no: timeout", "SQD -> SQD"},
        {"modify_qp h1.qp dest_qpn=9", "takes no: dest_qpn", "state=RESET\" begins anew"},
        {"modify_qp h1.ud dest_qpn=9", "takes no: dest_qpn",
         "no move of a queue pair of this type"},
        {"modify_qp h1.qp state=SQD rnr_retry=3", "takes no: rnr_retry", "SQD -> SQD"},
        {"modify_qp h1.qp state=RTR", "cannot go from RTS to RTR", "RTR is reached from INIT"},
        {"modify_qp h1.qp min_rnr_timer=31 access=mw", "out of range: access is mw", "stays RTS"},
        {"modify_qp h1.q2 state=RTS sq_psn=0 timeout=14 retry_cnt=15 rnr_retry=9 max_rd_atomic=5",
         "retry_cnt is 15, and must be 0 to 7", "max_qp_init_rd_atom=4"},
        {"modify_qp h1.q2 state=RTS cur_state=INIT sq_psn=0 timeout=4 retry_cnt=1 rnr_retry=1 "
         "max_rd_atomic=1",
         "cur_state is INIT, and must be RTR", "stays RTR"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l,
            "host h1 max_qp_init_rd_atom=4; host h2; link h1 h2\n"
            "on h1,h2 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp\n"
            "create_qp pd send_cq=cq recv_cq=cq as q2\n"
            "create_qp pd type=ud send_cq=cq recv_cq=cq as ud }\n"
            "connect h1.qp h2.qp rd_atomic=4\n"
            "modify_qp h1.q2 state=INIT pkey_index=0 port=1 access=rr\n"
            "modify_qp h1.q2 state=RTR ah=h2 mtu=1024 dest_qpn=3 rq_psn=0 max_dest_rd_atomic=4 "
            "min_rnr_timer=12");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].line));
        if (!strstr(l.s->diag.message, rows[i].message) ||
            !strstr(l.s->diag.remedy, rows[i].remedy))
            fail_msg("%s: %s (%s)", rows[i].line, l.s->diag.message, l.s->diag.remedy);
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_move_that_takes_an_attribute_is_named),
        cmocka_unit_test(every_state_that_leads_to_another_is_named),
        cmocka_unit_test(every_value_out_of_range_names_its_range),
        cmocka_unit_test(what_is_refused_has_a_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
