/* SPDX-License-Identifier: MIT */
/* usage: verbs_peer -d DEVICE -g GID_INDEX [-p PORT] [-s PSN] a FILE
 *        verbs_peer -d DEVICE -g GID_INDEX [-p PORT] [-s PSN] b FILE HOST
 *
 * Side a waits for the TCP connection of side b.  Exit status: 0 the file was carried out to its
 * end, whatever the transcript says; 1 it was not; 2 usage.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

static void do_section(struct peer *p)
{
    printf("section %s\n", operand(p, 0));
}

static const struct {
    const char *name;
    void (*run)(struct peer *p);
} commands[] = {
    {"section", do_section},
    {"alloc_pd", do_alloc_pd},
    {"reg_mr", do_reg_mr},
    {"create_cq", do_create_cq},
    {"create_srq", do_create_srq},
    {"create_qp", do_create_qp},
    {"alloc_mw", do_alloc_mw},
    {"create_ah", do_create_ah},
    {"attach_mcast", do_attach_mcast},
    {"detach_mcast", do_destroy},
    {"destroy_ah", do_destroy},
    {"dealloc_mw", do_destroy},
    {"destroy_qp", do_destroy},
    {"destroy_srq", do_destroy},
    {"destroy_cq", do_destroy},
    {"dereg_mr", do_destroy},
    {"dealloc_pd", do_destroy},
    {"connect", do_connect},
    {"modify_qp", do_modify_qp},
    {"write", do_write},
    {"check", do_check},
    {"digest", do_digest},
    {"await", do_await},
    {"post_recv", do_post_recv},
    {"post_srq_recv", do_post_recv},
    {"post_send", do_post_send},
    {"bind_mw", do_bind_mw},
    {"poll_cq", do_poll_cq},
    {"drain_cq", do_drain},
    {"sync", do_sync},
    {"sleep", do_sleep},
};

void fail(const struct peer *p, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    if (p->at)
        fprintf(stderr, "verbs_peer: line %u, %s: ", p->line_number, p->at->word[0]);
    else
        fputs("verbs_peer: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

bool done(const struct peer *p, int error)
{
    if (error)
        printf("refused %s: %s\n", p->at->word[0], strerrorname_np(error < 0 ? -error : error));
    return error == 0;
}

uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void run_line(struct peer *p, const struct peer_line *l)
{
    p->at = l;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(l->word[0], commands[i].name) == 0) {
            commands[i].run(p);
            return;
        }
    }
    fail(p, "there is no such command");
}

static void run_file(struct peer *p, FILE *file)
{
    struct peer_line l;
    enum peer_line_found found;

    while ((found = peer_line_next(file, p->side, &l, &p->line_number)) == PEER_LINE_READ) {
        run_line(p, &l);
        p->at = NULL;
    }
    if (found == PEER_LINE_TOO_LONG)
        fail(p, "line %u is too long, or does not end", p->line_number);
    if (found == PEER_LINE_TOO_MANY_WORDS)
        fail(p, "line %u has too many words", p->line_number);
}

static struct ibv_context *open_device(const struct peer *p, const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;

    for (size_t i = 0; list && list[i] && !context; i++) {
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            context = ibv_open_device(list[i]);
    }
    if (!context)
        fail(p, "there is no device %s", name);
    ibv_free_device_list(list);
    return context;
}

static int usage(void)
{
    fputs("usage: verbs_peer -d DEVICE -g GID_INDEX [-p PORT] [-s PSN] a FILE\n"
          "       verbs_peer -d DEVICE -g GID_INDEX [-p PORT] [-s PSN] b FILE HOST\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *device = "", *port = "18515";
    struct peer p = {.psn = (uint32_t)getpid() * 2654435761u & 0xffffff};
    FILE *file;
    int option;

    while ((option = getopt(argc, argv, "d:g:p:s:")) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option == 'g')
            p.gid_index = (int)to_number(&p, optarg);
        else if (option == 'p')
            port = optarg;
        else if (option == 's')
            p.psn = (uint32_t)to_number(&p, optarg) & 0xffffff;
        else
            return usage();
    }
    argv += optind;
    argc -= optind;
    if (argc < 2 || strlen(argv[0]) != 1 || argc != (*argv[0] == 'a' ? 2 : 3) ||
        (*argv[0] != 'a' && *argv[0] != 'b'))
        return usage();
    p.side = *argv[0];
    setvbuf(stdout, NULL, _IOLBF, 0);
    file = fopen(argv[1], "r");
    if (!file)
        fail(&p, "%s: %s", argv[1], strerror(errno));
    p.context = open_device(&p, device);
    if (ibv_query_gid(p.context, 1, p.gid_index, &p.gid))
        fail(&p, "%s has no GID %d", device, p.gid_index);
    exchange_open(&p, argc == 3 ? argv[2] : NULL, port);
    run_file(&p, file);
    fclose(file);
    puts("end");
    return 0;
}
