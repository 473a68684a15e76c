/* SPDX-License-Identifier: MIT */
/* A hostile program on a host: what it says in calls, and writes into memory that it shares with
 * the lab.
 *
 * It is the connection of a program to a lab of two hosts, from the moment when it was welcomed; a
 * buffer is its memory.  An input is a list of actions: calls, any bytes or sound but for some;
 * posts; words anywhere in the page and in the rings; time.  Another program works at the same
 * time.
 *
 * Checked: each call is answered once, with its serial; a handle of the other program never works;
 * when the connection ends nothing of it is left, and the other program has all that it had.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/exec_client.h"
#include "cli/live/exec_maker.h"
#include "fuzz.h"
#include "input.h"
#include "rdmalab/inspect.h"

#define MEMORY_AT 0x10000u
#define MEMORY    8192u
#define DEEDS_MAX 200u
#define TURNS_MAX 100000u
#define ENTRIES   8u
#define MADE_MAX  16u
#define SECOND_NS 1000000000u

struct program {
    struct exec_server server;
    struct exec_client *client; /* until the connection has ended */
    rdl_program in_lab;
    int peer; /* the program's end of the connection */
    uint32_t serial;
    uint8_t memory[MEMORY];
    /* Handles that it was given, by the call that made them. */
    uint64_t made[PROGRAM_OP_COUNT][MADE_MAX];
    uint32_t n_made[PROGRAM_OP_COUNT];
    struct exec_account account;
};

struct fuzz_lab {
    struct rdl_lab *lab;
    rdl_host host;
    rdl_program other;
    rdl_pd others_pd;
    struct program p;
};

static bool read_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
    const struct program *p = ctx;

    if (addr < MEMORY_AT || addr - MEMORY_AT > MEMORY || n > MEMORY - (addr - MEMORY_AT))
        return false;
    memcpy(out, p->memory + (addr - MEMORY_AT), n);
    return true;
}

static bool write_memory(void *ctx, uint64_t addr, const void *in, size_t n)
{
    struct program *p = ctx;

    if (addr < MEMORY_AT || addr - MEMORY_AT > MEMORY || n > MEMORY - (addr - MEMORY_AT))
        return false;
    memcpy(p->memory + (addr - MEMORY_AT), in, n);
    return true;
}

static void run_for(struct fuzz_lab *f, uint64_t ns)
{
    const struct rdl_limits limits = {.ticks = 20000};
    const enum rdl_status st = rdl_run(f->lab, rdl_now_ns(f->lab) + ns, limits);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_TIMEOUT);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static void make_lab(struct fuzz_lab *f)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_link_config link = {.a = "h1", .b = "h2"};
    const struct rdl_program_memory memory = {read_memory, write_memory, &f->p};
    struct rdl_response rsp;
    rdl_link ret;

    FUZZ_CHECK(rdl_lab_new(&config, &f->lab) == RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config host = {.name = i ? "h2" : "h1", .max_qp = 16, .max_cq = 16};
        rdl_host at;

        FUZZ_CHECK(rdl_host_add(f->lab, &host, &at) == RDL_OK);
        if (i == 0)
            f->host = at;
    }
    FUZZ_CHECK(rdl_link_add(f->lab, &link, &ret) == RDL_OK);
    FUZZ_CHECK(rdl_program_add(f->lab, f->host, &memory, &f->other) == RDL_OK);
    rdl_program_calls(f->lab, f->other);
    FUZZ_CHECK(rdl_alloc_pd(f->lab, f->host, NULL, &f->others_pd) == RDL_OK);
    rdl_program_called(f->lab, f->other);
    FUZZ_CHECK(rdl_wait(f->lab, f->host, (struct rdl_limits){0}, &rsp) == RDL_OK);
}

/* Connects the program, as if it had been welcomed. */
static void join_lab(struct fuzz_lab *f, FILE *out)
{
    struct program *p = &f->p;
    const struct rdl_program_memory memory = {read_memory, write_memory, p};
    int pair[2], fd, events[2];

    p->server = (struct exec_server){.lab = f->lab, .out = out, .set = -1, .looks = true};
    p->server.makers = exec_makers_new();
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    FUZZ_CHECK(pipe(events) == 0);
    close(events[0]);
    exec_client_add(&p->server, pair[0], 1, 1, &p->account);
    p->client = p->server.clients;
    p->peer = pair[1];
    p->client->host = f->host;
    memcpy(p->client->host_name, "h1", 3);
    p->client->events.fd = events[1];
    FUZZ_CHECK(rdl_program_add(f->lab, f->host, &memory, &p->client->program) == RDL_OK);
    p->in_lab = p->client->program;
    p->client->page = exec_share(sizeof(*p->client->page), &fd);
    FUZZ_CHECK(p->client->page);
    close(fd);
    p->client->state = EXEC_WORKS;
}

/* --- The program ------------------------------------------------------------------------------ */

static bool is_there(const struct program *p)
{
    return p->server.clients && p->client->state == EXEC_WORKS;
}

static uint64_t handle(struct fuzz_lab *f, struct input *in)
{
    const uint8_t of = input_u8(in), i = input_u8(in);
    const struct program *p = &f->p;
    const uint32_t op = of % (PROGRAM_OP_COUNT + 2);

    if (op == PROGRAM_OP_COUNT)
        return f->others_pd.raw;
    if (op > PROGRAM_OP_COUNT || p->n_made[op] == 0)
        return input_u16(in);
    return p->made[op][i % p->n_made[op]];
}

/* Sends a call, and serves it until it is answered; PROGRAM_NUDGE has no answer. */
static void call(struct fuzz_lab *f, struct input *in)
{
    struct program *p = &f->p;
    struct program_call c = {.op = input_u8(in) % (PROGRAM_OP_COUNT + 1), .serial = ++p->serial};
    struct program_answer a;
    uint64_t words[sizeof(c.u) / sizeof(uint64_t)] = {0};
    const uint8_t n = input_u8(in) % (sizeof(words) / sizeof(*words) + 1);

    for (uint8_t i = 0; i < n; i++)
        words[i] = input_u8(in) & 1 ? handle(f, in) : input_u32(in);
    memcpy(&c.u, words, sizeof(words));
    if (send(p->peer, &c, sizeof(c), MSG_NOSIGNAL) != (ssize_t)sizeof(c))
        return;
    for (uint32_t turn = 0; turn < TURNS_MAX && is_there(p); turn++) {
        if (turn > 0 && c.op == PROGRAM_NUDGE)
            return;
        (void)exec_serve(&p->server);
        if (recv(p->peer, &a, sizeof(a), MSG_DONTWAIT) == (ssize_t)sizeof(a)) {
            FUZZ_CHECK(a.serial == c.serial && a.error >= 0);
            if (a.error == 0 && c.op < PROGRAM_OP_COUNT && p->n_made[c.op] < MADE_MAX)
                p->made[c.op][p->n_made[c.op]++] = a.u.alloc_pd.handle;
            return;
        }
        run_for(f, 10000);
    }
    FUZZ_CHECK(!is_there(p)); /* it was cut off, or it was answered */
}

static void post(struct fuzz_lab *f, struct input *in)
{
    struct program_page *page = f->p.client->page;
    const uint64_t at = atomic_load(&page->posted);
    struct program_post post = {
        .bytes = sizeof(post) + PROGRAM_POST_ALIGN * (input_u8(in) % 4u),
        .kind = (uint16_t)(input_u8(in) % 5u),
        .more = input_u8(in) & 1,
        .queue = handle(f, in),
        .wr_id = at,
        .n_sge = input_u8(in) % 5u,
        .inline_bytes = input_u8(in) % 80u,
        .opcode = input_u8(in) % 12u,
        .flags = input_u8(in) & 15u,
        .slot = input_u8(in),
        .ah = handle(f, in),
        .rkey = input_u32(in),
        .remote_addr = MEMORY_AT + input_u16(in),
    };

    if (at % PROGRAM_POST_BYTES + post.bytes > PROGRAM_POST_BYTES)
        post.kind = PROGRAM_POST_PAD;
    memcpy(page->posts + at % PROGRAM_POST_BYTES, &post, sizeof(post));
    atomic_store(&page->posted, at + post.bytes);
}

/* Writes a word anywhere: into the page or into a ring. */
static void spoil(struct fuzz_lab *f, struct input *in)
{
    struct exec_client *c = f->p.client;
    const uint32_t where = input_u32(in), what = input_u32(in);
    const struct exec_cq *q = c->n_cqs ? &c->cqs[where % c->n_cqs] : NULL;
    uint8_t *at = q && q->ring.at && (where & 1) ? (uint8_t *)q->ring.at : (uint8_t *)c->page;
    const size_t bytes = at == (uint8_t *)c->page ? sizeof(*c->page) : q->ring.bytes;

    memcpy(at + (where / 2 % 256 ? where / 2 % 256u : where % (bytes - 4)), &what, sizeof(what));
}

static void act(struct fuzz_lab *f, struct input *in)
{
    switch (input_u8(in) % 8u) {
    case 0:
    case 1:
    case 2:
        call(f, in);
        break;
    case 3:
    case 4:
        post(f, in);
        break;
    case 5:
        spoil(f, in);
        break;
    default:
        run_for(f, (uint64_t)input_u8(in) * 1000);
        break;
    }
    if (is_there(&f->p))
        (void)exec_serve(&f->p.server);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Ends the connection: nothing of the program stays. */
static void leave(struct fuzz_lab *f)
{
    struct rdl_program_object left;

    close(f->p.peer);
    for (uint32_t turn = 0; turn < TURNS_MAX && f->p.server.clients; turn++) {
        (void)exec_serve(&f->p.server);
        run_for(f, 100000);
    }
    FUZZ_CHECK(!f->p.server.clients);
    FUZZ_CHECK(!rdl_program_left(f->lab, f->p.in_lab, &left));
    FUZZ_CHECK(rdl_program_left(f->lab, f->other, &left) && left.raw == f->others_pd.raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_lab *f = calloc(1, sizeof(*f));
    struct input in = {data, n};
    FILE *out = fopen("/dev/null", "w");

    FUZZ_CHECK(f && out);
    make_lab(f);
    join_lab(f, out);
    for (uint32_t i = 0; i < DEEDS_MAX && in.n > 0 && is_there(&f->p); i++)
        act(f, &in);
    leave(f);
    exec_server_done(&f->p.server);
    rdl_lab_free(f->lab);
    fclose(out);
    free(f);
    return 0;
}
