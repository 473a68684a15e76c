/* SPDX-License-Identifier: MIT */
#include "lnetd/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define RPC_NS   (64 * NS_PER_S) /* as lst */

/* Values of options that getopt_long() returns. */
enum option_id {
    OPT_HELP = 256,
    OPT_PROGRAM_VERSION,
    OPT_NID,
    OPT_MSG_VERSION,
    OPT_RULES_2007,
    OPT_PEER_CREDITS,
    OPT_HIW,
    OPT_CREDITS,
    OPT_NTX,
    OPT_SENDS,
    OPT_CKSUM,
    OPT_BIG_ENDIAN,
    OPT_MAP,
    OPT_KERNEL,
    OPT_MAX_FRAGS,
    OPT_TIMEOUT,
    OPT_RPC_TIMEOUT,
    OPT_KEEPALIVE,
    OPT_SERVICE,
    OPT_HASH,
    OPT_FOR,
    OPT_CONNECTIONS,
    OPT_SIZE,
    OPT_COUNT,
    OPT_CONCURRENCY,
    OPT_SEED,
    OPT_OFFSET,
    OPT_FRAG,
    OPT_GAP,
    OPT_VERBOSE
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"program-version", no_argument, NULL, OPT_PROGRAM_VERSION},
    {"nid", required_argument, NULL, OPT_NID},
    {"version", required_argument, NULL, OPT_MSG_VERSION},
    {"rules-2007", no_argument, NULL, OPT_RULES_2007},
    {"peer-credits", required_argument, NULL, OPT_PEER_CREDITS},
    {"peer-credits-hiw", required_argument, NULL, OPT_HIW},
    {"credits", required_argument, NULL, OPT_CREDITS},
    {"ntx", required_argument, NULL, OPT_NTX},
    {"concurrent-sends", required_argument, NULL, OPT_SENDS},
    {"cksum", no_argument, NULL, OPT_CKSUM},
    {"big-endian", no_argument, NULL, OPT_BIG_ENDIAN},
    {"map", required_argument, NULL, OPT_MAP},
    {"kernel", no_argument, NULL, OPT_KERNEL},
    {"max-frags", required_argument, NULL, OPT_MAX_FRAGS},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"rpc-timeout", required_argument, NULL, OPT_RPC_TIMEOUT},
    {"keepalive", required_argument, NULL, OPT_KEEPALIVE},
    {"service", required_argument, NULL, OPT_SERVICE},
    {"race-by-hash", no_argument, NULL, OPT_HASH},
    {"for", required_argument, NULL, OPT_FOR},
    {"connections", required_argument, NULL, OPT_CONNECTIONS},
    {"size", required_argument, NULL, OPT_SIZE},
    {"count", required_argument, NULL, OPT_COUNT},
    {"concurrency", required_argument, NULL, OPT_CONCURRENCY},
    {"seed", required_argument, NULL, OPT_SEED},
    {"offset", required_argument, NULL, OPT_OFFSET},
    {"frag", required_argument, NULL, OPT_FRAG},
    {"gap", required_argument, NULL, OPT_GAP},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {NULL, 0, NULL, 0},
};

static const char *const commands[] = {"serve", "ping", "read", "write", "put", "get", "batch"};

const char *const options_op_names[] = {
    [SELFTEST_PING] = "ping", [SELFTEST_READ] = "read", [SELFTEST_WRITE] = "write"};

void options_print_help(void)
{
    fputs(
        "usage: lnetd --nid NID [OPTION...] serve [--for S] [--connections N]\n"
        "       lnetd --nid NID [OPTION...] ping NID [--count N]\n"
        "       lnetd --nid NID [OPTION...] read|write NID... [--size BYTES] [--count N | --for "
        "S]\n"
        "       lnetd --nid NID [OPTION...] batch TEST... NID... [--count N | --for S]\n"
        "       lnetd --nid NID [OPTION...] put|get NID [--size BYTES] [--seed N]\n"
        "\n"
        "A node of LNet over RDMA, which speaks the protocol of Lustre's o2iblnd on any device of\n"
        "libibverbs.  `read` and `write` are the tests of lst: the server at NID puts (read)\n"
        "or gets (write) bulk data, and each byte is verified.  `batch` runs up to 8 tests at\n"
        "the same time, as read:64k write:1m:8 ping: op, bytes and RPCs at a time; else those\n"
        "of --size and --concurrency.\n"
        "\n"
        "  --nid 10.0.0.1@o2ib    this node; an address of an RDMA interface\n"
        "  --version 0x11|0x12    the newest version of the protocol that it speaks\n"
        "  --rules-2007           version 0x11, and rejects as in 2007\n"
        "  --peer-credits N       messages to a peer at a time, and queue depth (8; 2 to 255)\n"
        "  --peer-credits-hiw N   credits that are returned by a message of their own (half)\n"
        "  --credits N            messages at a time (256); --ntx N: message buffers (512)\n"
        "  --concurrent-sends N   messages of a connection that are posted (--peer-credits)\n"
        "  --cksum                messages have a checksum\n"
        "  --big-endian           fields of o2iblnd have this byte order; the header of LNet in a\n"
        "                         message is always little-endian\n"
        "  --map growing|demand   one memory region that grows, or one for each message\n"
        "  --kernel               fragments are pages, as those of a kernel\n"
        "  --max-frags N          fragments of a transfer (256, which is the most)\n"
        "  --timeout S            of messages (50); --keepalive S: (100)\n"
        "  --rpc-timeout S        of a read or a write (64)\n"
        "  --service PORT         of rdma_cm (987)\n"
        "  --race-by-hash         a race is won by the larger hash, as since LU-17743\n"
        "  --size BYTES           as 4096, 64k (4k), at most 1m; read and write take a list\n"
        "  --count N              RPCs with each NID (1); --concurrency N: at a time (1)\n"
        "  --connections N        `serve` ends when so many connections have closed\n"
        "  --for S                ends after so many seconds\n"
        "  --seed N               of the data\n"
        "  --offset BYTES, --frag BYTES, --gap BYTES\n"
        "                         form of the memory: offset in a page, fragments, gaps\n"
        "  --verbose              tells of connections on standard error\n"
        "\n"
        "The status is 0 if everything has arrived, 1 if not, and 2 after a mistake in the "
        "command\n"
        "line.\n",
        stdout);
}

/* Parses a number of at most @most, with @units also "k", "m" or "g" behind it. */
static bool number(const char *text, uint64_t most, bool units, uint64_t *ret)
{
    static const char letters[] = "kmg";
    const char *letter;
    char *end;
    uint64_t v;
    unsigned shift = 0;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    v = strtoull(text, &end, 0);
    letter = *end && units ? strchr(letters, *end | 0x20) : NULL;
    if (letter) {
        shift = 10u * (unsigned)(letter - letters + 1);
        end++;
    }
    if (errno || *end || v > most >> shift)
        return false;
    *ret = v << shift;
    return true;
}

static bool number_32(const char *text, uint32_t most, bool units, uint32_t *ret)
{
    uint64_t v;

    if (!number(text, most, units, &v))
        return false;
    *ret = (uint32_t)v;
    return true;
}

/* Parses seconds, at most those of a day. */
static bool seconds(const char *text, uint64_t *ret_ns)
{
    char *end;
    const double s = strtod(text, &end);

    if (end == text || *end || !(s >= 0 && s <= 86400))
        return false;
    *ret_ns = (uint64_t)(s * (double)NS_PER_S);
    return true;
}

/* Parses a list of sizes: "0,1,64k". */
static bool set_sizes(struct options *o, const char *text)
{
    o->n_sizes = 0;
    for (;;) {
        const size_t n = strcspn(text, ",");
        char word[24];

        if (n >= sizeof(word) || o->n_sizes == OPTIONS_SIZES_MAX)
            return false;
        memcpy(word, text, n);
        word[n] = 0;
        if (!number_32(word, LNET_MTU, true, &o->sizes[o->n_sizes++]))
            return false;
        if (!text[n])
            return true;
        text += n + 1;
    }
}

static bool set_version(struct lnd_config *c, const char *text)
{
    uint64_t v;

    if (!number(text, LNET_VERSION_2, false, &v) || v < LNET_VERSION_1)
        return false;
    c->version = (uint16_t)v;
    return true;
}

static bool set_map(struct lnd_config *c, const char *text)
{
    c->map = strcmp(text, "demand") == 0 ? LNET_MAP_demand : LNET_MAP_growing;
    return c->map == LNET_MAP_demand || strcmp(text, "growing") == 0;
}

static bool set_rules_2007(struct lnd_config *c)
{
    const struct lnd_config old = lnd_defaults(c->nid, true);

    c->version = old.version;
    c->rules_2007 = true;
    c->peer_credits_hiw = old.peer_credits_hiw;
    c->credits = old.credits;
    c->ntx = old.ntx;
    return true;
}

static bool set_service(struct lnd_config *c, const char *text)
{
    uint64_t v;

    if (!number(text, UINT16_MAX, false, &v) || v == 0)
        return false;
    c->service = (uint16_t)v;
    return true;
}

/* Sets an option of the node.  Returns 1, 0 if @text is no value of it, or -1: it is none of these.
 */
static int set_tunable(struct lnd_config *c, int id, const char *text)
{
    switch (id) {
    case OPT_NID:
        return lnet_nid_parse(text, &c->nid);
    case OPT_MSG_VERSION:
        return set_version(c, text);
    case OPT_RULES_2007:
        return set_rules_2007(c);
    case OPT_PEER_CREDITS:
        return number_32(text, UINT8_MAX, false, &c->peer_credits) && c->peer_credits >= 2;
    case OPT_HIW:
        return number_32(text, UINT8_MAX, false, &c->peer_credits_hiw);
    case OPT_CREDITS:
        return number_32(text, 1u << 20, false, &c->credits) && c->credits >= 1;
    case OPT_NTX:
        return number_32(text, 1u << 16, false, &c->ntx) && c->ntx >= 2;
    case OPT_SENDS:
        return number_32(text, 2 * UINT8_MAX, false, &c->concurrent_sends);
    case OPT_CKSUM:
        return c->cksum = true;
    case OPT_BIG_ENDIAN:
        return c->big_endian = true;
    case OPT_MAP:
        return set_map(c, text);
    case OPT_KERNEL:
        c->frag_bytes = 4096;
        return true;
    case OPT_MAX_FRAGS:
        return number_32(text, LNET_FRAGS_MAX, false, &c->max_frags) && c->max_frags >= 1;
    case OPT_TIMEOUT:
        return seconds(text, &c->timeout_ns) && c->timeout_ns > 0;
    case OPT_KEEPALIVE:
        return seconds(text, &c->keepalive_ns);
    case OPT_SERVICE:
        return set_service(c, text);
    case OPT_HASH:
        return c->race_by_hash = true;
    default:
        return -1;
    }
}

/* Sets another option.  Returns false if @text is no value of it. */
static bool set_work(struct options *o, int id, const char *text)
{
    switch (id) {
    case OPT_FOR:
        return seconds(text, &o->for_ns) && o->for_ns > 0;
    case OPT_RPC_TIMEOUT:
        return seconds(text, &o->rpc_timeout_ns) && o->rpc_timeout_ns > 0;
    case OPT_CONNECTIONS:
        return number(text, UINT32_MAX, false, &o->connections) && o->connections > 0;
    case OPT_SIZE:
        return set_sizes(o, text);
    case OPT_COUNT:
        return number(text, UINT32_MAX, true, &o->count) && o->count > 0;
    case OPT_CONCURRENCY:
        return number_32(text, SELFTEST_SLOTS_MAX, false, &o->concurrency) && o->concurrency > 0;
    case OPT_SEED:
        return number(text, UINT64_MAX, false, &o->seed);
    case OPT_OFFSET:
        return number_32(text, 4095, false, &o->shape.offset);
    case OPT_FRAG:
        return number_32(text, LNET_MTU, true, &o->shape.frag_bytes);
    case OPT_GAP:
        return number_32(text, LNET_MTU, true, &o->shape.gap);
    case OPT_VERBOSE:
        return o->is_verbose = true;
    default:
        return false;
    }
}

static const char *name_of(int id)
{
    const struct option *o = long_options;

    while (o->val != id)
        o++;
    return o->name;
}

static bool mistake(const char *what, const char *text)
{
    fprintf(stderr, "lnetd: %s%s; lnetd --help tells more\n", what, text);
    return false;
}

/* Parses the test at @text: OP[:BYTES[:CONCURRENCY]]. */
static bool parse_test(const struct options *o, const char *text, struct option_test *ret)
{
    char word[64];
    char *size = NULL, *concurrency = NULL;
    uint32_t op = 0;

    if (strlen(text) >= sizeof(word))
        return false;
    memcpy(word, text, strlen(text) + 1);
    size = strchr(word, ':');
    if (size) {
        *size++ = 0;
        concurrency = strchr(size, ':');
    }
    if (concurrency)
        *concurrency++ = 0;
    while (op <= SELFTEST_WRITE && strcmp(word, options_op_names[op]) != 0)
        op++;
    *ret = (struct option_test){(enum selftest_op)op, o->sizes[0], o->concurrency};
    return op <= SELFTEST_WRITE && (!size || number_32(size, LNET_MTU, true, &ret->size)) &&
           (!concurrency || (number_32(concurrency, SELFTEST_SLOTS_MAX, false, &ret->concurrency) &&
                             ret->concurrency > 0));
}

/* Parses the tests of a batch: the words before its NIDs. */
static bool parse_tests(struct options *o, char **words, int n)
{
    for (int i = 0; i < n && !strchr(words[i], '@'); i++) {
        if (o->n_tests == SELFTEST_TESTS_MAX)
            return mistake("a batch has at most 8 tests: ", words[i]);
        if (!parse_test(o, words[i], &o->tests[o->n_tests++]))
            return mistake("no test such as read:64k:8: ", words[i]);
    }
    return o->n_tests > 0 || mistake("a batch needs a test such as read:64k:8", "");
}

static uint32_t nids_max(enum command command)
{
    switch (command) {
    case CMD_SERVE:
        return 0;
    case CMD_READ:
    case CMD_WRITE:
    case CMD_BATCH:
        return SELFTEST_PEERS_MAX;
    default:
        return 1;
    }
}

/* Returns the most RPCs at a time of a test with one peer. */
static uint32_t most_concurrent(const struct options *o)
{
    uint32_t most = o->n_tests ? 0 : o->concurrency;

    for (uint32_t i = 0; i < o->n_tests; i++)
        most = o->tests[i].concurrency > most ? o->tests[i].concurrency : most;
    return most;
}

/* The words behind the command: its NIDs. */
static bool parse_nids(struct options *o, char **words, int n)
{
    const uint32_t most = nids_max(o->command);

    for (int i = 0; i < n; i++) {
        if (o->n_nids == most)
            return mistake("unexpected: ", words[i]);
        if (!lnet_nid_parse(words[i], &o->nids[o->n_nids]))
            return mistake("a NID is written like 10.0.0.1@o2ib, not ", words[i]);
        if (o->nids[o->n_nids++] == o->config.nid)
            return mistake("a node does not send to itself: ", words[i]);
    }
    if (o->n_nids == 0 && most > 0)
        return mistake("the NID of the peer is missing", "");
    if (most_concurrent(o) > SELFTEST_SLOTS_MAX / (o->n_nids ? o->n_nids : 1))
        return mistake("too many RPCs at a time: at most 256 of a test", "");
    return true;
}

static bool parse_command(struct options *o, char **words, int n)
{
    if (o->config.nid == 0)
        return mistake("--nid is missing: the address of this node, as 10.0.0.1@o2ib", "");
    if (o->config.rules_2007 && o->config.version != LNET_VERSION_1)
        return mistake("in 2007 there was only version 0x11: leave out --version or --rules-2007",
                       "");
    if (n == 0)
        return mistake("no command: serve, ping, read, write, batch, put or get", "");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(words[0], commands[i]) == 0) {
            o->command = (enum command)i;
            if (o->command == CMD_BATCH && !parse_tests(o, words + 1, n - 1))
                return false;
            return parse_nids(o, words + 1 + o->n_tests, n - 1 - (int)o->n_tests);
        }
    }
    return mistake("no such command: ", words[0]);
}

bool options_parse(int argc, char **argv, struct options *ret, enum options_end *reterr)
{
    int id;

    *ret = (struct options){.config = lnd_defaults(0, false),
                            .sizes = {4096},
                            .n_sizes = 1,
                            .rpc_timeout_ns = RPC_NS,
                            .concurrency = 1,
                            .count = 1};
    *reterr = OPTIONS_USAGE;
    while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        int good;

        if (id == '?')
            return false;
        if (id == OPT_HELP || id == OPT_PROGRAM_VERSION) {
            *reterr = id == OPT_HELP ? OPTIONS_HELP : OPTIONS_VERSION;
            return false;
        }
        good = set_tunable(&ret->config, id, optarg);
        if (good < 0)
            good = set_work(ret, id, optarg);
        if (!good) {
            fprintf(stderr, "lnetd: --%s cannot be %s; lnetd --help tells more\n", name_of(id),
                    optarg);
            return false;
        }
    }
    return parse_command(ret, argv + optind, argc - optind);
}
