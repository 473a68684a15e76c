/* SPDX-License-Identifier: MIT */
/* A hostile program on a host: what it says in calls, and writes into memory that it shares with
 * the lab.
 *
 * It is the connection of a program to a lab of two hosts, from the moment when it was welcomed; a
 * file is its memory.  An input is a list of actions: calls, any bytes or sound but for some;
 * commands of rdma_cm, sound but for some bytes; posts; words anywhere in the page and in the
 * rings; time.  Another program works at the same time.
 *
 * Checked: each call is answered once, with its serial; a handle of the other program never works;
 * a command writes nothing but its response; when the connection ends nothing of it is left, no
 * descriptor either, and the other program has all that it had.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/exec_client.h"
#include "cli/live/exec_cm.h"
#include "cli/live/exec_maker.h"
#include "emu/facts/enum/port_space.h"
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

/* In the memory: a command, and behind it the place for its response. */
#define COMMAND_AT     4096u
#define RESPONSE_AT    (COMMAND_AT + 1024u)
#define RESPONSE_BYTES 400u /* as many as the longest has room for */
#define SPARE_BYTES    100u /* behind them, which stay as they are */
#define COMMAND_BYTES  (sizeof(struct rdma_ucm_cmd_hdr) + sizeof(struct rdma_ucm_accept))
#define SPARE          0x5a

struct program {
    struct exec_server server;
    struct exec_client *client; /* until the connection has ended */
    rdl_program in_lab;
    int peer; /* the program's end of the connection */
    uint32_t serial;
    uint8_t *memory; /* MEMORY bytes of the file, from MEMORY_AT on */
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

/* Makes the program's memory: a file, whose size does not change. */
static void make_memory(struct program *p)
{
    const int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    FUZZ_CHECK(fd >= 0 && ftruncate(fd, MEMORY_AT + MEMORY) == 0);
    FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
    p->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MEMORY_AT);
    FUZZ_CHECK(p->memory != MAP_FAILED);
    p->client->memory = fd;
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
    make_memory(p);
    p->client->state = EXEC_WORKS;
}

/* --- The program ------------------------------------------------------------------------------ */

static bool is_there(const struct program *p)
{
    return p->server.clients && p->client->state == EXEC_WORKS;
}

/* Returns handle @i of those that calls @op have made; 0: there is none. */
static uint64_t handle_of(const struct fuzz_lab *f, enum program_op op, uint8_t i)
{
    const struct program *p = &f->p;

    return p->n_made[op] ? p->made[op][i % p->n_made[op]] : 0;
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
static void make_call(struct fuzz_lab *f, struct program_call *c)
{
    struct program *p = &f->p;
    struct program_answer a;

    c->serial = ++p->serial;
    if (send(p->peer, c, sizeof(*c), MSG_NOSIGNAL) != (ssize_t)sizeof(*c))
        return;
    for (uint32_t turn = 0; turn < TURNS_MAX && is_there(p); turn++) {
        if (turn > 0 && c->op == PROGRAM_NUDGE)
            return;
        (void)exec_serve(&p->server);
        if (recv(p->peer, &a, sizeof(a), MSG_DONTWAIT) == (ssize_t)sizeof(a)) {
            FUZZ_CHECK(a.serial == c->serial && a.error >= 0);
            if (a.error == 0 && c->op < PROGRAM_OP_COUNT && p->n_made[c->op] < MADE_MAX)
                p->made[c->op][p->n_made[c->op]++] = a.u.alloc_pd.handle;
            return;
        }
        run_for(f, 10000);
    }
    FUZZ_CHECK(!is_there(p)); /* it was cut off, or it was answered */
}

/* A call with any arguments. */
static void call(struct fuzz_lab *f, struct input *in)
{
    struct program_call c = {.op = input_u8(in) % (PROGRAM_OP_COUNT + 1)};
    uint64_t words[sizeof(c.u) / sizeof(uint64_t)] = {0};
    const uint8_t n = input_u8(in) % (sizeof(words) / sizeof(*words) + 1);

    for (uint8_t i = 0; i < n; i++)
        words[i] = input_u8(in) & 1 ? handle(f, in) : input_u32(in);
    memcpy(&c.u, words, sizeof(words));
    make_call(f, &c);
}

/* --- Commands of rdma_cm ---------------------------------------------------------------------- */

/* An address of a host, of a group, or any. */
static size_t address(struct input *in, void *ret)
{
    static const uint32_t of[] = {0x0a000001, 0x0a000002, 0, 0x7f000001, 0xef000001, 0x0a0000c8};
    const uint8_t which = input_u8(in);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(which / 8u % 4u)};

    a.sin_addr.s_addr = htonl(of[which % 8u % (sizeof(of) / sizeof(*of))]);
    memcpy(ret, &a, sizeof(a));
    return sizeof(a);
}

/* Fills in what is more than an ID. */
static void fill_in(struct exec_cm_command *cmd, struct input *in)
{
    static const uint32_t spaces[] = {PORT_SPACE_TCP, PORT_SPACE_UDP, PORT_SPACE_TCP,
                                      PORT_SPACE_IB};

    switch (cmd->head.cmd) {
    case RDMA_USER_CM_CMD_CREATE_ID:
        cmd->u.create_id.ps = (uint16_t)spaces[input_u8(in) % 4u];
        break;
    case RDMA_USER_CM_CMD_BIND:
        cmd->u.bind.addr_size = (uint16_t)address(in, &cmd->u.bind.addr);
        break;
    case RDMA_USER_CM_CMD_BIND_IP:
        (void)address(in, &cmd->u.bind_ip.addr);
        break;
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
        cmd->u.resolve_addr.dst_size = (uint16_t)address(in, &cmd->u.resolve_addr.dst_addr);
        cmd->u.resolve_addr.timeout_ms = 1;
        break;
    case RDMA_USER_CM_CMD_RESOLVE_IP:
        (void)address(in, &cmd->u.resolve_ip.dst_addr);
        break;
    case RDMA_USER_CM_CMD_JOIN_MCAST:
        cmd->u.join.addr_size = (uint16_t)address(in, &cmd->u.join.addr);
        break;
    case RDMA_USER_CM_CMD_CONNECT:
        cmd->u.connect.conn_param.valid = 1;
        break;
    case RDMA_USER_CM_CMD_ACCEPT:
        cmd->u.accept.conn_param.valid = input_u8(in) & 1;
        break;
    default:
        break;
    }
}

/* Sets the ID, whose place depends on the command. */
static void set_id(struct exec_cm_command *cmd, uint32_t id)
{
    switch (cmd->head.cmd) {
    case RDMA_USER_CM_CMD_BIND_IP:
        cmd->u.bind_ip.id = id;
        break;
    case RDMA_USER_CM_CMD_BIND:
        cmd->u.bind.id = id;
        break;
    case RDMA_USER_CM_CMD_RESOLVE_IP:
        cmd->u.resolve_ip.id = id;
        break;
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
        cmd->u.resolve_addr.id = id;
        break;
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
        cmd->u.resolve_route.id = id;
        break;
    case RDMA_USER_CM_CMD_CONNECT:
        cmd->u.connect.id = id;
        break;
    case RDMA_USER_CM_CMD_LISTEN:
        cmd->u.listen.id = id;
        break;
    case RDMA_USER_CM_CMD_ACCEPT:
        cmd->u.accept.id = id;
        break;
    case RDMA_USER_CM_CMD_REJECT:
        cmd->u.reject.id = id;
        break;
    case RDMA_USER_CM_CMD_DISCONNECT:
        cmd->u.disconnect.id = id;
        break;
    case RDMA_USER_CM_CMD_JOIN_MCAST:
        cmd->u.join.id = id;
        break;
    default: /* the ID is behind the response */
        cmd->u.destroy_id.id = id;
        break;
    }
}

/* Writes a command into the memory, and makes it. */
static void command(struct fuzz_lab *f, struct input *in)
{
    struct program_call c = {.op = PROGRAM_CM_WRITE}, open = {.op = PROGRAM_CM_OPEN};
    struct exec_cm_command cmd = {.head = {.in = sizeof(cmd.u), .out = RESPONSE_BYTES}};
    const uint8_t spoilt = input_u8(in);
    uint8_t *to = f->p.memory + COMMAND_AT;

    if (f->p.n_made[PROGRAM_CM_OPEN] == 0)
        make_call(f, &open);
    cmd.head.cmd = input_u8(in) % (RDMA_USER_CM_CMD_JOIN_MCAST + 2u);
    cmd.u.response = MEMORY_AT + RESPONSE_AT;
    if (cmd.head.cmd == RDMA_USER_CM_CMD_CREATE_ID || cmd.head.cmd == RDMA_USER_CM_CMD_JOIN_MCAST) {
        cmd.u.create_id.uid = 1u + input_u8(in);
        cmd.u.create_id.response = MEMORY_AT + RESPONSE_AT;
    }
    set_id(&cmd, input_u8(in) % 8u);
    fill_in(&cmd, in);
    memcpy(to, &cmd.head, sizeof(cmd.head));
    memcpy(to + sizeof(cmd.head), &cmd.u, sizeof(cmd.u));
    for (uint8_t i = 0; i < spoilt % 8u && spoilt >= 128; i++)
        to[input_u16(in) % COMMAND_BYTES] = input_u8(in);
    c.u.cm_write.file = handle_of(f, PROGRAM_CM_OPEN, input_u8(in));
    c.u.cm_write.from_file = handle_of(f, PROGRAM_CM_OPEN, input_u8(in));
    c.u.cm_write.addr = MEMORY_AT + COMMAND_AT;
    c.u.cm_write.bytes = sizeof(cmd.head) + sizeof(cmd.u);
    memset(f->p.memory + RESPONSE_AT + RESPONSE_BYTES, SPARE, SPARE_BYTES);
    make_call(f, &c);
    for (uint32_t i = 0; i < SPARE_BYTES && spoilt < 128; i++)
        FUZZ_CHECK(f->p.memory[RESPONSE_AT + RESPONSE_BYTES + i] == SPARE);
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
    switch (input_u8(in) % 12u) {
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
    case 8:
    case 9:
    case 10:
    case 11:
        command(f, in);
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

/* Returns the lowest number that a new descriptor would have. */
static int free_descriptor(void)
{
    const int fd = dup(0);

    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_lab *f = calloc(1, sizeof(*f));
    struct input in = {data, n};
    FILE *out = fopen("/dev/null", "w");
    const int lowest = free_descriptor();

    FUZZ_CHECK(f && out);
    make_lab(f);
    join_lab(f, out);
    for (uint32_t i = 0; i < DEEDS_MAX && in.n > 0 && is_there(&f->p); i++)
        act(f, &in);
    leave(f);
    exec_server_done(&f->p.server);
    munmap(f->p.memory, MEMORY);
    FUZZ_CHECK(free_descriptor() == lowest);
    rdl_lab_free(f->lab);
    fclose(out);
    free(f);
    return 0;
}
