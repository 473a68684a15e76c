/* SPDX-License-Identifier: MIT */
/* Tests of what is said when a parameter exceeds a limit of the device: each row of the table names
 * the limit, its value, and the value to ask for.
 */
#include <string.h>

#include "cli/cmd/limit.h"
#include "cli/lab_session.h"
#include "tree/tree.h"

/* The beginning of a line of each command that has a bounded parameter. */
static const struct {
    const char *command, *line;
} begins[] = {
    {"reg_mr", "reg_mr h1.pd"},
    {"rereg_mr", "rereg_mr h1.mr"},
    {"alloc_mr", "alloc_mr h1.pd access=lw"},
    {"create_cq", "create_cq h1"},
    {"resize_cq", "resize_cq h1.cq"},
    {"resize_qp", "resize_qp h1.qp"},
    {"create_qp", "create_qp h1.pd send_cq=cq recv_cq=cq max_send_wr=1 max_recv_wr=1 "
                  "max_send_sge=1 max_recv_sge=1"},
    {"rdma_create_qp", "rdma_create_qp h1.id pd=pd send_cq=cq recv_cq=cq max_send_wr=1 "
                       "max_recv_wr=1 max_send_sge=1 max_recv_sge=1"},
    {"create_srq", "create_srq h1.pd"},
};

static const char *line_of(const char *command)
{
    for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
        if (strcmp(begins[i].command, command) == 0)
            return begins[i].line;
    }
    fail_msg("%s has a bounded parameter, and no line here", command);
    return "";
}

/* Appends @line without its parameter @param. */
static void add_without(struct text *t, const char *line, const char *param)
{
    char key[64];
    const char *at, *end;

    snprintf(key, sizeof(key), " %s=", param);
    at = strstr(line, key);
    if (!at) {
        text_add(t, line);
        return;
    }
    end = strchr(at + 1, ' ');
    text_addn(t, line, (size_t)(at - line));
    text_add(t, end ? end : "");
}

static void every_bounded_parameter_names_the_limit_of_the_device(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(
        &l,
        "host h1 ram=2g max_cqe=100 max_qp_wr=50 max_send_sge=3 max_recv_sge=2; alloc_pd h1 as pd; "
        "create_cq h1 cqe=16 as cq; reg_mr h1.pd len=4k access=lw as mr\n"
        "create_qp h1.pd send_cq=cq recv_cq=cq max_send_sge=1 max_recv_sge=1 as qp\n"
        "rdma_create_event_channel h1 as ch; rdma_create_id h1.ch as id; rdma_bind_addr h1.id "
        "addr=10.0.0.1");
    for (size_t i = 0; i < n_limit_bounds; i++) {
        const struct limit_bound *b = &limit_bounds[i];
        const uint64_t most = tree_number(l.s->lab, "h1.device.limits", b->limit);
        char line[256], says[128], remedy[64];
        struct text t = text_on(line, sizeof(line));

        add_without(&t, line_of(b->command), b->param);
        text_addf(&t, " %s=%llu", b->param, (unsigned long long)most + 1);
        assert_false(t.cut);
        snprintf(says, sizeof(says), "%s=%llu, and %s asks for more", leaf_rows[b->limit].key,
                 (unsigned long long)most, b->param);
        snprintf(remedy, sizeof(remedy), "at most %llu", (unsigned long long)most);
        assert_false(lab_try(&l, line));
        if (strstr(l.s->diag.message, says) && strstr(l.s->diag.remedy, remedy))
            continue;
        /* The command itself takes no more than the device has. */
        if (!strstr(l.s->diag.message, "out of range") || !strstr(l.s->diag.remedy, "it must be"))
            fail_msg("%s: %s (%s)", line, l.s->diag.message, l.s->diag.remedy);
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bounded_parameter_names_the_limit_of_the_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
