/* SPDX-License-Identifier: MIT */
/* `rdmalab check`: checks a capture of RoCEv2 against the rules of the protocol. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/check.h"
#include "capture/drawn.h"
#include "cli/app/ladder_file.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/export/export.h"
#include "cli/session/files.h"
#include "cli/timeline/timeline.h"
#include "emu/base/assert.h"
#include "print/utf8.h"

#define FINDINGS_SHOWN    10u /* per rule, unless all are requested */
#define TIMEOUT_MAX       31u
#define RETRY_MAX         7u
#define MAX_RD_ATOMIC_MAX 255u
#define WORST_MAX         1000000u
#define HOSTS_NAMED       8u /* in the message about a host that is not in the file */

static const char usage[] =
    "usage: rdmalab check FILE.pcap|FILE.pcapng [--all] [--json] [--at IP[,IP]]\n"
    "           [--timeout T] [--retry-cnt N] [--rnr-retry N] [--max-rd-atomic N]\n"
    "           [--connection A-B] [--worst N]\n"
    "       rdmalab check FILE --ladder OUT [--from FRAME] [--to FRAME] [--packets N]\n"
    "       rdmalab check FILE --timeline OUT.html [--from FRAME] [--to FRAME] [--packets N]\n"
    "  holds a capture of RoCEv2 against the rules of the transport: what was lost, what came "
    "again\n"
    "  and why, and what no device may send; FILE may be packed by gzip, and - is the standard "
    "input\n"
    "  --all             every finding; otherwise the first 10 of each rule\n"
    "  --json            the report as one JSON object\n"
    "  --at IP[,IP]      the hosts at which the frames were captured: what these send and get is "
    "known\n"
    "                    for certain then, and more rules are held against them; a pcapng file "
    "that\n"
    "                    tells the direction of each frame needs no --at\n"
    "  --timeout T, --retry-cnt N, --rnr-retry N, --max-rd-atomic N\n"
    "                    attributes of the queue pairs of these hosts, as ibv_modify_qp() takes "
    "them\n"
    "  --connection A-B  only connections between A and B; each is a queue pair number, an IP "
    "address, or\n"
    "                    both: 17-18, 10.0.0.1:17-10.0.0.2:18, [fd00::1]:17-[fd00::2]:18\n"
    "  --worst N         only the N connections with most errors and signs of loss, the worst "
    "first\n"
    "  --ladder OUT      no report but a picture: SVG, or text if OUT is - or ends in .txt\n"
    "  --timeline OUT    no report but a page for a browser: packets, their fields and bytes\n"
    "  \"rdmalab explain NAME\" tells what a finding means.\n"
    "exit status: 0 no error was found (but maybe losses), 1 errors were found,\n"
    "  2 usage, or FILE cannot be read, or has no RoCEv2\n";

/* The options as given on the command line; NULL or false: not given. */
struct asked_for {
    const char *at, *timeout, *retry_cnt, *rnr_retry, *max_rd_atomic, *connection, *worst;
    struct ladder_request ladder;
    bool all, json, help;
};

/* Parses the addresses of --at, separated by commas. */
static bool read_at(const char *all, struct vantage *ret)
{
    const char *text = all ? all : "";
    char one[ADDR_TEXT_MAX];

    while (*text) {
        const size_t n = strcspn(text, ",");
        struct text t = text_on(one, sizeof(one));

        text_addn(&t, text, n);
        if (ret->n_at == ARRAY_LEN(ret->at) || t.cut || !addr_parse(one, ret->at[ret->n_at])) {
            fprintf(stderr,
                    "rdmalab: --at %s: it takes the IP address of a host, or two with a comma "
                    "between them\n",
                    SHOWN_NAME(all));
            return false;
        }
        ret->n_at++;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool read_limit(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint32_t *ret)
{
    uint64_t v = EXACT_UNKNOWN;

    if (text && !options_number_in(name, text, least, most, &v))
        return false;
    *ret = (uint32_t)v;
    return true;
}

static bool read_choice(const struct asked_for *a, struct choice *ret)
{
    if (a->connection) {
        ret->by_ends = choice_parse(a->connection, ret->ends);
        if (!ret->by_ends) {
            fprintf(stderr,
                    "rdmalab: --connection %s: it takes two ends with a - between them; each is a "
                    "queue pair number, an IP address, or both: 17-18, 10.0.0.1-10.0.0.2, "
                    "10.0.0.1:17-10.0.0.2:18, [fd00::1]:17-[fd00::2]:18\n",
                    SHOWN_NAME(a->connection));
            return false;
        }
    }
    ret->worst = 0;
    return !a->worst || read_limit("--worst", a->worst, 1, WORST_MAX, &ret->worst);
}

static bool read_known(const struct asked_for *a, struct check_known *ret)
{
    struct exact_limits *l = &ret->limits;

    return read_choice(a, &ret->choice) && read_at(a->at, &ret->at) &&
           read_limit("--timeout", a->timeout, 0, TIMEOUT_MAX, &l->timeout) &&
           read_limit("--retry-cnt", a->retry_cnt, 0, RETRY_MAX, &l->retry_cnt) &&
           read_limit("--rnr-retry", a->rnr_retry, 0, RETRY_MAX, &l->rnr_retry) &&
           read_limit("--max-rd-atomic", a->max_rd_atomic, 0, MAX_RD_ATOMIC_MAX, &l->max_rd_atomic);
}

static int draw(const struct check *c, FILE *f, const char *name, const struct ladder_request *rq)
{
    bool *flows = c->is_chosen ? choice_flows(c) : NULL;
    struct drawn d;
    struct past p;
    int status;

    drawn_init(&d, &c->record, flows);
    free(flows);
    if (rq->timeline)
        drawn_keep(&d, f, 0, 0, TIMELINE_PACKETS_MAX);
    p = drawn_past(&d);
    status =
        ladder_file(&p, name, "only whole files of Ethernet frames are read again for them", rq);
    drawn_done(&d);
    return status;
}

/* Returns true if the file has the hosts and connections that the options name.  Otherwise prints
 * which it has not.
 */
static bool has_what_was_named(const struct check *c, const char *name, const struct asked_for *a,
                               const struct check_known *known)
{
    char addr[ADDR_TEXT_MAX];

    if (c->is_elsewhere && c->record.n_hosts > 0) {
        fprintf(stderr,
                "rdmalab: --at %s: no RoCEv2 packet of %s comes from this host or goes to it; its "
                "hosts are ",
                addr_text(known->at.at[c->elsewhere], addr), SHOWN_NAME(name));
        for (uint32_t i = 0; i < c->record.n_hosts && i < HOSTS_NAMED; i++)
            fprintf(stderr, "%s%s", i ? ", " : "", addr_text(c->record.hosts[i].gid, addr));
        fputs(c->record.n_hosts > HOSTS_NAMED ? " and others\n" : "\n", stderr);
        return false;
    }
    if (a->connection && c->n > 0 && c->n_shown == 0 && c->n_handshakes_shown == 0 && !a->worst) {
        fprintf(stderr,
                "rdmalab: --connection %s: %s has no such connection; without --connection all are "
                "listed\n",
                SHOWN_NAME(a->connection), SHOWN_NAME(name));
        return false;
    }
    return true;
}

/* Prints the findings.  Returns the exit status. */
static int print_findings(const struct check *c, FILE *f, const char *name,
                          const struct asked_for *a)
{
    if (!c->is_whole)
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(name), c->capture.wrong);
    if (ladder_is_wanted(&a->ladder))
        return c->record.n == 0 ? EXIT_USAGE : draw(c, f, name, &a->ladder);
    if (a->json)
        check_json(stdout, c, name);
    else
        check_text(stdout, c, name, a->all ? 0 : FINDINGS_SHOWN);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "rdmalab: the report could not be written: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    if (!c->is_whole || c->record.n_roce == 0)
        return EXIT_USAGE;
    return found_count(&c->found, FINDING_ERROR) > 0 ? EXIT_FAILED : EXIT_PASSED;
}

static int check_capture(const char *name, const struct asked_for *a)
{
    const bool is_standard = strcmp(name, "-") == 0;
    struct check_known known = {.at = {.n_at = 0}};
    int status = EXIT_USAGE;
    struct check c;
    FILE *f;

    if (!read_known(a, &known))
        return EXIT_USAGE;
    f = is_standard ? stdin : fopen(name, "rb");
    if (!f) {
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(name), strerror(errno));
        return EXIT_USAGE;
    }
    if (check_file(&c, f, &known)) {
        if (has_what_was_named(&c, name, a, &known))
            status = print_findings(&c, f, name, a);
    } else
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(name), c.capture.wrong);
    check_done(&c);
    if (!is_standard)
        fclose(f);
    return status;
}

int check_main(int argc, char **argv)
{
    struct asked_for a = {.all = false};
    const struct option rows[] = {
        {.name = "--all", .flag = &a.all},
        {.name = "--json", .flag = &a.json},
        {.name = "--help", .flag = &a.help},
        {.name = "--at", .value = &a.at, .words = ""},
        {.name = "--timeout", .value = &a.timeout, .words = ""},
        {.name = "--retry-cnt", .value = &a.retry_cnt, .words = ""},
        {.name = "--rnr-retry", .value = &a.rnr_retry, .words = ""},
        {.name = "--max-rd-atomic", .value = &a.max_rd_atomic, .words = ""},
        {.name = "--connection", .value = &a.connection, .words = ""},
        {.name = "--worst", .value = &a.worst, .words = ""},
        LADDER_OPTIONS(a.ladder),
    };

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (a.help) {
        fputs(usage, stdout);
        return EXIT_PASSED;
    }
    if (ladder_lacks_file(&a.ladder)) {
        fputs("rdmalab: --from, --to and --packets need --ladder OUT or --timeline OUT\n", stderr);
        return EXIT_USAGE;
    }
    if (ladder_is_wanted(&a.ladder) && (a.json || a.all)) {
        fprintf(stderr,
                "rdmalab: --%s draws a picture instead of the report, which --json and --all are "
                "about\n",
                a.ladder.file ? "ladder" : "timeline");
        return EXIT_USAGE;
    }
    if (argc != 2)
        return EXIT_ASK;
    if (!options_judge_outputs(rows, ARRAY_LEN(rows), argv[1]))
        return EXIT_USAGE;
    return check_capture(argv[1], &a);
}
