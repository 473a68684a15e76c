/* SPDX-License-Identifier: MIT */
/* The commands.  Each holds the lock, which node_wait() gives up while it waits. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lnet/ping.h"
#include "lnet/selftest_data.h"
#include "lnetd/node.h"

#define NS_PER_S    UINT64_C(1000000000)
#define DATA_PORTAL 60u /* of put and get */
#define DATA_BYTES  LNET_MTU
#define SINGLE      1u /* user value of memory of ping, put and get */

static uint64_t until(const struct lnetd_node *n)
{
    return n->options->for_ns ? device_now_ns() + n->options->for_ns : 0;
}

static double seconds(uint64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

/* ---- serve ---- */

/* The memory for put and get.  It begins as the data of seed 0. */
static int attach_data(struct lnetd_node *n, struct selftest_data *data)
{
    const struct lnet_match match = {DATA_PORTAL, LNET_NID_ANY, 0, UINT64_MAX};
    struct lnet_md md = {.options = LNET_MD_PUT | LNET_MD_GET | LNET_MD_MANAGE_REMOTE};
    uint64_t handle;
    int st = selftest_data_lay_out(data, &(struct selftest_shape){0}, DATA_BYTES);

    if (st)
        return st;
    if (!selftest_data_fill(data, 0))
        return -EFAULT;
    md.n = data->n;
    memcpy(md.frags, data->frags, data->n * sizeof(md.frags[0]));
    return lnet_attach(n->lnet, &match, &md, &handle);
}

static int attach_all(struct lnetd_node *n, struct selftest_data *data, uint64_t *ret_ping)
{
    const struct selftest_server_config c = {.slots = SELFTEST_SLOTS_MAX,
                                             .timeout_ns = n->options->rpc_timeout_ns,
                                             .shape = n->options->shape};
    uint64_t handle;
    int st = selftest_serve(n->selftest, n->lnet, &c);

    if (st)
        return st;
    *ret_ping = device_ops.pages(&n->device, LNET_PING_BYTES);
    if (*ret_ping == 0)
        return -ENOMEM;
    st = lnet_ping_serve(n->lnet, &device_ops, &n->device, *ret_ping, &handle);
    return st ? st : attach_data(n, data);
}

static bool connections_are_over(const struct lnetd_node *n)
{
    const uint64_t most = n->options->connections;

    const struct selftest_result r = selftest_served(n->selftest);

    return most && lnd_counts(n->device.lnd)->closes >= most && r.started == r.good + r.failed;
}

int command_serve(struct lnetd_node *n)
{
    struct selftest_data data = {.ops = &device_ops, .ctx = &n->device};
    char text[LNET_NID_TEXT_MAX];
    struct selftest_result r;
    uint64_t ping, accepts;
    const int st = attach_all(n, &data, &ping);

    if (st) {
        fprintf(stderr, "lnetd: %s\n", strerror(-st));
        return 1;
    }
    printf("%s is up on %s, port %u\n", lnet_nid_text(n->options->config.nid, text),
           ibv_get_device_name(n->device.pd->context->device), n->options->config.service);
    fflush(stdout);
    (void)node_wait(n, connections_are_over, until(n));
    r = selftest_served(n->selftest);
    accepts = lnd_counts(n->device.lnd)->accepts;
    printf("served %llu RPC%s with %llu byte%s, %llu failed; %llu connection%s\n",
           (unsigned long long)r.good, r.good == 1 ? "" : "s", (unsigned long long)r.bytes,
           r.bytes == 1 ? "" : "s", (unsigned long long)r.failed, (unsigned long long)accepts,
           accepts == 1 ? "" : "s");
    if (r.corrupt > 0)
        printf("%llu RPCs had %llu wrong bytes, the first at offset %u\n",
               (unsigned long long)r.corrupt, (unsigned long long)r.bad_bytes, r.bad_at);
    return r.corrupt > 0;
}

/* ---- read, write and batch ---- */

static bool rpcs_are_done(const struct lnetd_node *n)
{
    return selftest_is_done(n->selftest);
}

static void print_result(const char *name, const struct selftest_test *t,
                         const struct selftest_result *r)
{
    const double s = r->ended_ns ? seconds(r->ended_ns - r->begun_ns) : 0;
    const double per_s = s > 0 ? 1 / s : 0;

    printf("%s %s: %llu of %llu RPCs of %u byte%s in %.3f s: %.1f MB/s, %.0f RPCs/s", name,
           options_op_names[t->op], (unsigned long long)r->good, (unsigned long long)r->started,
           t->size, t->size == 1 ? "" : "s", s, (double)r->bytes * per_s / 1e6,
           (double)r->good * per_s);
    if (r->good > 0)
        printf("; %.3f/%.3f/%.3f ms", seconds(r->min_ns) * 1e3, seconds(r->sum_ns / r->good) * 1e3,
               seconds(r->max_ns) * 1e3);
    printf("\n");
}

/* Prints the results of test @test, @t, with each peer. */
static void print_test(const struct lnetd_node *n, uint32_t test, const struct selftest_test *t)
{
    struct selftest_result r;
    char text[LNET_NID_TEXT_MAX];
    uint64_t nid;

    for (uint32_t i = 0; selftest_peer_result(n->selftest, test, i, &nid, &r); i++) {
        print_result(lnet_nid_text(nid, text), t, &r);
        if (r.corrupt > 0)
            printf("%s: %llu RPCs had %llu wrong bytes, the first at offset %u\n", text,
                   (unsigned long long)r.corrupt, (unsigned long long)r.bad_bytes, r.bad_at);
        if (r.failed > 0 && r.error != -EBADMSG) /* that was said */
            advise_peer(n, nid, r.error);
    }
}

/* Begins test @t.  Returns false if that fails. */
static bool begin_test(struct lnetd_node *n, const struct option_test *t)
{
    const struct options *o = n->options;
    const struct selftest_client_config c = {.nids = o->nids,
                                             .n_nids = o->n_nids,
                                             .op = t->op,
                                             .size = t->size,
                                             .concurrency = t->concurrency,
                                             .count = o->for_ns ? 0 : o->count,
                                             .errors_max = 1,
                                             .timeout_ns = o->rpc_timeout_ns,
                                             .seed = o->seed,
                                             .shape = o->shape};
    const int st = selftest_run(n->selftest, n->lnet, &c);

    if (st)
        fprintf(stderr, "lnetd: %s\n", strerror(-st));
    return st == 0;
}

/* Runs @n_tests tests at the same time.  Returns false if an RPC has failed, or after a signal. */
static bool run_tests(struct lnetd_node *n, const struct option_test *tests, uint32_t n_tests)
{
    const uint64_t end = until(n);
    bool is_good, goes_on = true;
    struct selftest_test t;
    uint32_t begun = 0;

    /* If the first RPCs fail at once, the batch is over: another test would begin a new one. */
    while (begun < n_tests && (begun == 0 || !selftest_is_done(n->selftest)) &&
           begin_test(n, &tests[begun]))
        begun++;
    is_good = begun == n_tests;
    if (is_good)
        goes_on = node_wait(n, rpcs_are_done, end);
    selftest_stop(n->selftest);
    if (goes_on)
        goes_on = node_wait(n, rpcs_are_done, 0);
    for (uint32_t i = 0; i < begun && selftest_test_at(n->selftest, i, &t); i++) {
        print_test(n, i, &t);
        is_good = is_good && t.result.failed == 0 && t.result.good > 0;
    }
    return goes_on && is_good;
}

int command_bulk(struct lnetd_node *n)
{
    const struct options *o = n->options;
    struct option_test t = {.op = o->command == CMD_READ ? SELFTEST_READ : SELFTEST_WRITE,
                            .concurrency = o->concurrency};
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < o->n_sizes; i++) {
        t.size = o->sizes[i];
        is_good = run_tests(n, &t, 1);
    }
    return !is_good;
}

int command_batch(struct lnetd_node *n)
{
    return !run_tests(n, n->options->tests, n->options->n_tests);
}

/* ---- single operations ---- */

static bool single_is_done(const struct lnetd_node *n)
{
    return n->single.n_left == 0;
}

/* Waits for the events of an operation.  Returns 0 or a negative errno. */
static int wait_for_single(struct lnetd_node *n)
{
    if (!node_wait(n, single_is_done, device_now_ns() + n->options->config.timeout_ns))
        return -EINTR;
    if (!single_is_done(n))
        return n->single.status ? n->single.status : -ETIMEDOUT;
    return n->single.status;
}

static void print_ping(const struct lnetd_node *n, uint64_t addr, uint64_t took_ns)
{
    struct lnet_ping_info info;
    char text[LNET_NID_TEXT_MAX];

    if (!lnet_ping_take(&device_ops, (void *)&n->device, addr, n->single.bytes, &info)) {
        printf("%s: no answer of a ping\n", lnet_nid_text(n->options->nids[0], text));
        return;
    }
    printf("%s:", lnet_nid_text(n->options->nids[0], text));
    for (uint32_t i = 0; i < info.n; i++)
        printf(" %s%s",
               info.nis[i].nid == LNET_NID_LO ? "0@lo" : lnet_nid_text(info.nis[i].nid, text),
               info.nis[i].is_up ? "" : " (down)");
    printf(", pid %u, %.3f ms\n", info.pid, seconds(took_ns) * 1e3);
}

int command_ping(struct lnetd_node *n)
{
    const uint64_t addr = device_ops.pages(&n->device, LNET_PING_BYTES);
    int st = addr ? 0 : -ENOMEM;

    for (uint64_t i = 0; st == 0 && i < n->options->count; i++) {
        const uint64_t begun = device_now_ns();
        uint64_t md;

        n->single = (struct single){.n_left = 2}; /* SEND and REPLY */
        st = lnet_ping(n->lnet, n->options->nids[0], addr, SINGLE, &md);
        if (st == 0)
            st = wait_for_single(n);
        if (st == 0)
            print_ping(n, addr, device_now_ns() - begun);
    }
    if (st)
        advise_peer(n, n->options->nids[0], st);
    return st != 0;
}

/* Carries out the PUT or the GET of @data. */
static int move(struct lnetd_node *n, const struct selftest_data *data, bool is_put)
{
    struct lnet_md md = {.n = data->n, .threshold = 1, .user = SINGLE};
    struct lnet_call call = {
        .nid = n->options->nids[0], .portal = DATA_PORTAL, .wants_ack = is_put};
    int st;

    memcpy(md.frags, data->frags, data->n * sizeof(md.frags[0]));
    st = lnet_bind(n->lnet, &md, &call.md);
    if (st)
        return st;
    n->single = (struct single){.n_left = 2}; /* SEND, and ACK or REPLY */
    st = is_put ? lnet_put(n->lnet, &call) : lnet_get(n->lnet, &call);
    return st ? st : wait_for_single(n);
}

int command_put_or_get(struct lnetd_node *n)
{
    const struct options *o = n->options;
    const bool is_put = o->command == CMD_PUT;
    struct selftest_data data = {.ops = &device_ops, .ctx = &n->device};
    struct selftest_bad bad = {0};
    const uint64_t begun = device_now_ns();
    char text[LNET_NID_TEXT_MAX];
    int st = selftest_data_lay_out(&data, &o->shape, o->sizes[0]);

    if (st == 0 &&
        !(is_put ? selftest_data_fill(&data, o->seed) : selftest_data_spoil(&data, o->seed)))
        st = -EFAULT;
    if (st == 0)
        st = move(n, &data, is_put);
    if (st == 0 && !is_put)
        st = selftest_data_check(&data, o->seed, &bad) ? 0 : -EFAULT;
    if (st) {
        advise_peer(n, o->nids[0], st);
        return 1;
    }
    printf("%s: %s %u byte%s in %.3f ms", lnet_nid_text(o->nids[0], text), is_put ? "put" : "got",
           n->single.bytes, n->single.bytes == 1 ? "" : "s",
           seconds(device_now_ns() - begun) * 1e3);
    if (bad.n > 0)
        printf("; %llu are not those of seed %llu, the first one at offset %u",
               (unsigned long long)bad.n, (unsigned long long)o->seed, bad.at);
    printf("\n");
    return bad.n > 0 || n->single.bytes != o->sizes[0];
}
