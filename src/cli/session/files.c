/* SPDX-License-Identifier: MIT */
#include "cli/session/files.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lang/json.h"
#include "cli/lang/line.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/exit_status.h"

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

bool files_is_json(const char *name)
{
    return ends_in(name, ".json");
}

bool files_is_lab(const char *name)
{
    return ends_in(name, ".lab");
}

bool files_is_session_file(const struct source *src)
{
    static const char blank[] = " \t\r\n", key[] = "\"world\"";
    const char *s = src->text + strspn(src->text, blank);

    if (*s != '{')
        return false;
    s += 1 + strspn(s + 1, blank);
    return strncmp(s, key, sizeof(key) - 1) == 0;
}

bool files_check_script(const struct source *src, struct diag *d)
{
    if (!files_is_session_file(src))
        return true;
    diag_set(d, DIAG_VALUE, (struct span){0, 0}, "this is a world, and no script");
    return diag_remedy(d, "\"rdmalab open FILE\" goes on in it");
}

bool files_parse(struct script *s, struct diag *d)
{
    if (!files_check_script(&s->src, d))
        return false;
    return files_is_json(s->src.name) ? json_read_script(s, d) : line_read_script(s, d);
}

bool files_same(const char *a, const char *b)
{
    struct stat x, y;
    const bool has_x = stat(a, &x) == 0, has_y = stat(b, &y) == 0;

    if (strcmp(a, "-") == 0 || has_x != has_y)
        return false;
    if (!has_x)
        return strcmp(a, b) == 0;
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int files_read(const char *name, struct source *ret, FILE *err)
{
    const char *why = source_read(name, ret);

    if (!why)
        return EXIT_PASSED;
    fprintf(err, "rdmalab: %s: %s\n", SHOWN_NAME(name), why);
    return why == source_no_memory ? EXIT_FAILED : EXIT_USAGE;
}

const char *files_close(FILE *f)
{
    const bool lost = ferror(f) != 0;

    if (f == stdout)
        return fflush(f) != 0 || lost ? "write error" : NULL;
    return fclose(f) != 0 || lost ? "write error" : NULL;
}

/* Returns the default "$schema" if it leads from the file @name to a file.  NULL: it does not. */
static const char *schema_beside(const char *name)
{
    const char *standard = cmd_param(&cmd_table[CMD_scenario], "schema")->standard;
    const char *slash = strrchr(name, '/');
    char path[PATH_MAX];
    struct text t = text_on(path, sizeof(path));

    text_addf(&t, "%.*s%s", slash ? (int)(slash + 1 - name) : 0, name, standard);
    return !t.cut && access(path, R_OK) == 0 ? standard : NULL;
}

void files_write_script(FILE *f, const char *name, const struct script *script)
{
    if (files_is_json(name))
        json_write_script_for(f, script, schema_beside(name));
    else
        line_write_script(f, script);
}
