/* SPDX-License-Identifier: MIT */
#include "cli/show/show_live.h"

#include <inttypes.h>
#include <string.h>

#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "print/print_json.h"
#include "print/show_text.h"

static void add_time(struct text *t, uint64_t ns)
{
    quantity_add_time_short(t, ns);
}

static void show_clock(FILE *out, const struct rdl_lab *lab, const struct live_clock *c)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "clock    %s: t=", c->is_virtual ? "is virtual" : "follows real time");
    add_time(&t, rdl_now_ns(lab));
    if (c->is_virtual) {
        text_add(&t, "; it advances only while all programs wait");
        show_line(out, &t);
        return;
    }
    text_add(&t, "; the lab is ");
    add_time(&t, c->lag_ns);
    text_add(&t, " behind (at most ");
    add_time(&t, c->lag_max_ns);
    text_add(&t, ")");
    show_line(out, &t);
}

static void show_port(FILE *out, const struct live_port_info *p, const struct rdl_port_info *i)
{
    char buf[SHOW_LINE_BYTES], lead[RDL_NAME_BYTES + 8];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_addf(&l, "%-8s ", p->device);
    text_addf(&t, "in %" PRIu64 " frames, out %" PRIu64 "; dropped: in %" PRIu64 ", out %" PRIu64,
              p->read_frames, p->written_frames, i->in_dropped, p->refused_frames);
    text_addf(&t, ", by the kernel %" PRIu64 "; waiting on the link ", p->missed_frames);
    add_time(&t, i->busy_ns);
    if (p->gone)
        text_add(&t, "; the device is gone");
    show_wrap_behind(out, lead, 9, buf);
}

static const char *role_of(const struct live_program_info *p)
{
    if (p->outside)
        return "";
    return p->server ? " server" : " client";
}

static void show_program(FILE *out, const struct live_program_info *p)
{
    fputs("program  ", out);
    if (p->outside)
        fprintf(out, "%" PRIu32 " ", p->number);
    fprintf(out, "%s %s%s: %s", p->host, p->name, role_of(p), p->state);
    if (p->failed)
        fprintf(out, ": %s", p->error);
    else if (p->counts)
        fprintf(out, "; sent %u, received %u of %u", p->n_sent, p->n_rcvd, p->iters);
    fputc('\n', out);
}

static const char *vm_state(const struct live_vm_info *v)
{
    if (v->runs)
        return "runs";
    return v->failed ? "failed" : "has ended";
}

static const char *vm_way(const struct live_vm_info *v)
{
    return v->transport == LIVE_VM_PROXY ? "x_pci_proxy" : "vfio_user";
}

/* Prints a line such as "guest    h1, a virtual machine by vfio_user, runs as process 4711: 745
 * accesses to ...".
 */
static void show_vm(FILE *out, const struct live_vm_info *v)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s, a virtual machine by %s, %s", v->host, vm_way(v), vm_state(v));
    if (v->runs)
        text_addf(&t, " as process %d", v->pid);
    text_addf(&t,
              ": %" PRIu64 " accesses to its functions; said %" PRIu64
              " times where its memory is; got %" PRIu64 " interrupts, %" PRIu64
              " more were merged with one that waited",
              v->accesses, v->maps, v->interrupts, v->merged);
    if (v->has_ethernet)
        text_addf(&t,
                  "; its Ethernet: in %" PRIu64 " frames, out %" PRIu64 "; dropped: in %" PRIu64
                  ", out %" PRIu64,
                  v->in_frames, v->out_frames, v->in_dropped, v->out_dropped);
    show_wrap_behind(out, "guest    ", 9, buf);
    if (v->line[0])
        fprintf(out, "         last line: %s\n", v->line);
    if (v->log_error)
        fprintf(out, "         its log ends too early: %s\n", strerror(v->log_error));
}

static void print_port_json(FILE *out, const struct live_port_info *p,
                            const struct rdl_port_info *i)
{
    fputs("{\"name\":", out);
    print_json_string(out, p->device);
    fprintf(out,
            ",\"gone\":%s,\"in_frames\":%" PRIu64 ",\"out_frames\":%" PRIu64
            ",\"in_dropped\":%" PRIu64 ",\"out_dropped\":%" PRIu64 ",\"kernel_dropped\":%" PRIu64
            ",\"link_busy_ns\":%" PRIu64 "}",
            p->gone ? "true" : "false", p->read_frames, p->written_frames, i->in_dropped,
            p->refused_frames, p->missed_frames, i->busy_ns);
}

static void print_program_json(FILE *out, const struct live_program_info *p)
{
    fprintf(out, "{\"host\":\"%s\",", p->host);
    if (p->outside)
        fprintf(out, "\"number\":%" PRIu32 ",", p->number);
    fputs("\"name\":", out);
    print_json_string(out, p->name);
    fprintf(out, ",\"role\":\"%s\",\"state\":\"%s\"",
            p->outside  ? "program"
            : p->server ? "server"
                        : "client",
            p->state);
    fprintf(out, ",\"sent\":%u,\"received\":%u,\"iters\":%u,\"error\":", p->n_sent, p->n_rcvd,
            p->iters);
    print_json_string(out, p->failed ? p->error : "");
    fputc('}', out);
}

static void print_vm_json(FILE *out, const struct live_vm_info *v)
{
    fputs("{\"host\":", out);
    print_json_string(out, v->host);
    fprintf(out,
            ",\"runs\":%s,\"failed\":%s,\"transport\":\"%s\",\"pid\":%d,\"accesses\":%" PRIu64
            ",\"maps\":%" PRIu64 ",\"interrupts\":%" PRIu64 ",\"merged\":%" PRIu64 ",\"line\":",
            v->runs ? "true" : "false", v->failed ? "true" : "false", vm_way(v), v->pid,
            v->accesses, v->maps, v->interrupts, v->merged);
    print_json_string(out, v->line);
    if (v->has_ethernet)
        fprintf(out,
                ",\"ethernet\":{\"in_frames\":%" PRIu64 ",\"out_frames\":%" PRIu64
                ",\"in_dropped\":%" PRIu64 ",\"out_dropped\":%" PRIu64 "}",
                v->in_frames, v->out_frames, v->in_dropped, v->out_dropped);
    fputs(",\"log_error\":", out);
    print_json_string(out, v->log_error ? strerror(v->log_error) : "");
    fputc('}', out);
}

static void live_row(struct rows *r, const char *what, const char *name, uint64_t v)
{
    rows_text(r, what);
    rows_text(r, name);
    rows_number(r, v);
}

static void vm_rows(struct rows *r, const struct live_vm_info *v)
{
    rows_text(r, v->host);
    rows_text(r, "virtual machine");
    rows_text(r, vm_state(v));
    rows_text(r, v->host);
    rows_text(r, "transport");
    rows_text(r, vm_way(v));
    live_row(r, v->host, "accesses", v->accesses);
    live_row(r, v->host, "maps", v->maps);
    live_row(r, v->host, "interrupts", v->interrupts);
    live_row(r, v->host, "merged", v->merged);
    if (v->has_ethernet) {
        live_row(r, v->host, "in_frames", v->in_frames);
        live_row(r, v->host, "out_frames", v->out_frames);
        live_row(r, v->host, "in_dropped", v->in_dropped);
        live_row(r, v->host, "out_dropped", v->out_dropped);
    }
    if (v->log_error) {
        rows_text(r, v->host);
        rows_text(r, "log_error");
        rows_text(r, strerror(v->log_error));
    }
}

/* Programs of the machine may have the same name: their number comes first, as in the text. */
static void add_program_name(struct rows *r, const struct live_program_info *p)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (p->outside)
        text_addf(&t, "%" PRIu32 " ", p->number);
    text_add(&t, p->name);
    rows_text(r, buf);
}

/* Prints a row for each number, and one for the state of each program. */
static void show_flat(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
                      const struct live *live, enum show_form form)
{
    static const struct row_column columns[] = {
        {.name = "what"}, {.name = "name"}, {.name = "value"}};
    struct live_program_info program;
    struct rdl_port_info info;
    struct live_port_info port;
    struct live_vm_info vm;
    struct live_clock c;
    struct rows r;

    ops->clock(live, &c);
    rows_begin(&r, out, form, columns, ARRAY_LEN(columns));
    live_row(&r, "clock", "t", rdl_now_ns(lab));
    live_row(&r, "clock", "lag_ns", c.lag_ns);
    live_row(&r, "clock", "lag_max_ns", c.lag_max_ns);
    for (uint32_t i = 0; ops->port_at(live, i, &port); i++) {
        if (rdl_port_info(lab, port.port, &info) != RDL_OK)
            continue;
        live_row(&r, port.device, "in_frames", port.read_frames);
        live_row(&r, port.device, "out_frames", port.written_frames);
        live_row(&r, port.device, "in_dropped", info.in_dropped);
        live_row(&r, port.device, "out_dropped", port.refused_frames);
        live_row(&r, port.device, "kernel_dropped", port.missed_frames);
        live_row(&r, port.device, "link_busy_ns", info.busy_ns);
    }
    for (uint32_t i = 0; ops->program_at(live, i, &program); i++) {
        rows_text(&r, program.host);
        add_program_name(&r, &program);
        rows_text(&r, program.failed ? program.error : program.state);
    }
    for (uint32_t i = 0; ops->vm_at(live, i, &vm); i++)
        vm_rows(&r, &vm);
    rows_end(&r, NULL);
}

static void show_text(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
                      const struct live *live)
{
    struct live_program_info program;
    struct rdl_port_info info;
    struct live_port_info port;
    struct live_vm_info vm;
    struct live_clock c;

    ops->clock(live, &c);
    show_clock(out, lab, &c);
    for (uint32_t i = 0; ops->port_at(live, i, &port); i++) {
        if (rdl_port_info(lab, port.port, &info) == RDL_OK)
            show_port(out, &port, &info);
    }
    for (uint32_t i = 0; ops->program_at(live, i, &program); i++)
        show_program(out, &program);
    for (uint32_t i = 0; ops->vm_at(live, i, &vm); i++)
        show_vm(out, &vm);
}

static void show_json(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
                      const struct live *live)
{
    struct live_program_info program;
    struct rdl_port_info info;
    struct live_port_info port;
    struct live_vm_info vm;
    struct live_clock c;

    ops->clock(live, &c);
    fprintf(out,
            "{\"t\":%" PRIu64 ",\"virtual\":%s,\"lag_ns\":%" PRIu64 ",\"lag_max_ns\":%" PRIu64
            ",\"ports\":[",
            rdl_now_ns(lab), c.is_virtual ? "true" : "false", c.lag_ns, c.lag_max_ns);
    for (uint32_t i = 0; ops->port_at(live, i, &port); i++) {
        if (rdl_port_info(lab, port.port, &info) != RDL_OK)
            continue;
        fputs(i ? "," : "", out);
        print_port_json(out, &port, &info);
    }
    fputs("],\"programs\":[", out);
    for (uint32_t i = 0; ops->program_at(live, i, &program); i++) {
        fputs(i ? "," : "", out);
        print_program_json(out, &program);
    }
    fputs("],\"guests\":[", out);
    for (uint32_t i = 0; ops->vm_at(live, i, &vm); i++) {
        fputs(i ? "," : "", out);
        print_vm_json(out, &vm);
    }
    fputs("]}\n", out);
}

void show_live(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
               const struct live *live, enum show_form form)
{
    if (rows_are_flat(form))
        show_flat(out, lab, ops, live, form);
    else
        (form == SHOW_JSON ? show_json : show_text)(out, lab, ops, live);
}

/* --- Programs of the machine ------------------------------------------------------------------ */

/* Prints the cells about the end of a program. */
static void add_end(struct rows *r, const struct live_exec_info *p)
{
    rows_text(r, p->runs ? "runs" : p->failed ? "failed" : "ended");
    if (p->runs)
        rows_none(r);
    else
        rows_number(r, (uint64_t)p->status);
    if (p->pid)
        rows_number(r, (uint64_t)p->pid);
    else
        rows_none(r);
}

void show_programs(FILE *out, const struct live_ops *ops, const struct live *live,
                   enum show_form form)
{
    static const struct row_column columns[] = {
        {.name = "program", .right = true},
        {.name = "host"},
        {.name = "state"},
        {.name = "status", .right = true},
        {.name = "process", .right = true},
        {.name = "qp", .right = true},
        {.name = "cq", .right = true},
        {.name = "mr", .right = true},
        {.name = "calls", .right = true},
        {.name = "bytes read", .right = true},
        {.name = "written", .right = true},
        {.name = "command"},
    };
    struct live_exec_info p;
    struct rows r;

    rows_begin(&r, out, form, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; live && ops->exec_at(live, i, &p); i++) {
        rows_number(&r, p.number);
        rows_text(&r, p.host);
        add_end(&r, &p);
        rows_number(&r, p.usage.n_qps);
        rows_number(&r, p.usage.n_cqs);
        rows_number(&r, p.usage.n_mrs);
        rows_number(&r, p.usage.calls);
        rows_number(&r, p.usage.read_bytes);
        rows_number(&r, p.usage.written_bytes);
        rows_text(&r, p.command);
    }
    rows_end(&r, "no program was started by exec");
}
