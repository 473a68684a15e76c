/* SPDX-License-Identifier: MIT */
#include "cli/show/show_device.h"

#include <string.h>

#include "cli/print/must.h"
#include "cli/show/show_columns.h"
#include "cli/tree/tree.h"
#include "emu/base/assert.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/config.h"

enum { INDENT_MEANS = 38, INDENT_CAP = 36 };

/* One device being shown. */
struct device {
    FILE *out;
    const struct rdl_lab *lab;
    const char *host;
    char config[TREE_PATH_BYTES]; /* the path of its configuration */
};

static uint16_t offset_of(const char *field)
{
    const struct rfc_struct *s = rfc_find("config");

    for (size_t i = 0; s && i < s->n_fields; i++) {
        if (strcmp(s->fields[i].name, field) == 0)
            return s->fields[i].offset;
    }
    assert_fail("every row of config.def is a field", __FILE__, __LINE__);
}

static struct rdl_value value_of(const struct device *d, const char *field)
{
    const enum leaf_id id = leaf_find(NODE_config, field, strlen(field));
    struct rdl_value v = {0};

    (void)tree_leaf(d->lab, d->config, id, &v);
    return v;
}

static bool has_cap(const struct device *d, const struct cap_row *cap)
{
    return (tree_number(d->lab, d->config, LEAF_config_device_cap_flags) >> cap->bit & 1) != 0;
}

static void tell_caps(const struct device *d)
{
    char lead[SHOW_LINE_BYTES];

    fprintf(d->out, "\ndevice_cap_flags\n");
    for (size_t i = 0; i < n_cap_rows; i++) {
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %s  %2u %s", has_cap(d, &cap_rows[i]) ? "set" : "-  ", cap_rows[i].bit,
                  cap_rows[i].name);
        show_wrap_behind(d->out, lead, INDENT_CAP, cap_rows[i].means);
    }
}

static void tell(const struct device *d)
{
    char lead[SHOW_LINE_BYTES], device[TREE_PATH_BYTES] = "";
    struct text path = text_on(device, sizeof(device));

    tree_join(&path, d->host, "device");
    fprintf(d->out, "%s: device configuration, generation %llu\n", d->host,
            (unsigned long long)tree_number(d->lab, device, LEAF_device_config_generation));
    for (size_t i = 0; i < n_config_rows; i++) {
        const struct rdl_value v = value_of(d, config_rows[i].field);
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %3u  %s = ", offset_of(config_rows[i].field), config_rows[i].field);
        tree_add_value(&t, &v);
        if (t.len >= INDENT_MEANS)
            show_line(d->out, &t);
        show_wrap_behind(d->out, t.len >= INDENT_MEANS ? "" : lead, INDENT_MEANS,
                         config_rows[i].means);
        show_wrap(d->out, INDENT_MEANS, config_rows[i].kept);
    }
    tell_caps(d);
}

static void add_rows(const struct device *d, struct rows *r)
{
    for (size_t i = 0; i < n_config_rows; i++) {
        const struct rdl_value v = value_of(d, config_rows[i].field);
        char value[RDL_VALUE_BYTES];
        struct text t = text_on(value, sizeof(value));

        tree_add_value(&t, &v);
        rows_text(r, d->host);
        rows_number(r, offset_of(config_rows[i].field));
        rows_text(r, config_rows[i].field);
        rows_text(r, value);
        rows_text(r, config_rows[i].means);
        rows_text(r, config_rows[i].kept);
    }
    for (size_t i = 0; i < n_cap_rows; i++) {
        char name[SHOW_LINE_BYTES];
        struct text t = text_on(name, sizeof(name));

        text_addf(&t, "device_cap_flags.%s", cap_rows[i].name);
        rows_text(r, d->host);
        rows_number(r, offset_of("device_cap_flags"));
        rows_text(r, name);
        rows_text(r, has_cap(d, &cap_rows[i]) ? "set" : "-");
        rows_text(r, cap_rows[i].means);
        rows_none(r);
    }
}

static void of_host(FILE *out, const struct rdl_lab *lab, const char *host, struct rows *r)
{
    struct device d = {.out = out, .lab = lab, .host = host};
    struct text t = text_on(d.config, sizeof(d.config));

    text_addf(&t, "%s.device.config", host);
    if (r)
        add_rows(&d, r);
    else
        tell(&d);
}

void show_device(FILE *out, const struct rdl_lab *lab, const char *host, enum show_form form)
{
    struct rows rows, *r = form == SHOW_TEXT ? NULL : &rows;
    struct tree_list all = {0};
    size_t at, n = 0;

    if (r)
        rows_begin_table(r, out, form, TABLE_DEVICE);
    if (host[0]) {
        of_host(out, lab, host, r);
    } else if (tree_children(lab, "", &all, &at) == RDL_OK) {
        for (size_t i = 0; i < all.n; i++) {
            if (!tree_value_is(&all.v[i].value, NODE_host))
                continue;
            if (!r && n++ > 0)
                fputc('\n', out);
            of_host(out, lab, all.v[i].key, r);
        }
    }
    tree_done(&all);
    if (r)
        rows_end(r, NULL);
}
