/* adapters.c - options of LoRA adapters and control vectors */
#include <config.h>

#include "common/adapters.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LAYER = 1 << 20,
};

static const double most = 1e6; /* of a scale */

/* Takes "=SCALE" off the end of the name; false: there is none. */
static bool
cut_scale(char *name, float *scale)
{
    char *equals = strrchr(name, '='), *end;
    double x;

    if (!equals || !equals[1] || !strchr("+-.0123456789", equals[1]))
        return false;
    x = strtod(equals + 1, &end);
    if (*end || !(x >= -most && x <= most))
        return false;
    *equals = '\0';
    *scale = (float)x;
    return true;
}

static enum gg_status
add_adapter(void *options, const struct cli_option *row, const char *value,
            struct gg_error *err)
{
    struct adapter_options *o = options;
    char *name = cli_copy(value, strlen(value));
    struct gg_adapter a = { .path = name, .scale = 1 };

    cut_scale(name, &a.scale);
    if (!*name) {
        free(name);
        return cli_error(err, GG_ERR_ARG, "--%s: needs the name of a file",
                         row->name);
    }
    o->list = cli_alloc(o->list, o->n + 1, sizeof(*o->list));
    o->vectors = cli_alloc(o->vectors, o->n + 1, sizeof(*o->vectors));
    o->vectors[o->n] = strcmp(row->name, "lora") != 0;
    o->list[o->n++] = a;
    return GG_OK;
}

/* "FIRST-LAST", or one layer. */
static enum gg_status
set_layers(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    struct adapter_options *o = options;
    long first, last;
    char *end;

    first = last = strtol(value, &end, 10);
    if (*end == '-' && end > value && end[1] >= '0' && end[1] <= '9')
        last = strtol(end + 1, &end, 10);
    if (end == value || *end || first < 1 || last < first || last > MAX_LAYER)
        return cli_error(err, GG_ERR_ARG,
                         "--%s: '%s' is no FIRST-LAST, from 1 on", row->name,
                         value);
    o->first = (int32_t)first;
    o->last = (int32_t)last;
    return GG_OK;
}

/* clang-format off */
#define LORA_ROW \
    { "lora", 0, CLI_CALL, "FILE[=X]", \
      "apply a LoRA adapter, X times (1); may be repeated", \
      .set = add_adapter, .record = true }

const struct cli_option adapter_rows[] = {
    LORA_ROW,
    { "control-vector", 0, CLI_CALL, "FILE[=X]",
      "add a control vector, X times (1); may be repeated",
      .set = add_adapter, .record = true },
    { "control-vector-layer-range", 0, CLI_CALL, "N-M",
      "apply control vectors after layers N to M (else after all layers)",
      .set = set_layers,
      .only_with = "control-vector" },
    { 0 },
};
const struct cli_option adapter_lora_rows[] = {
    LORA_ROW,
    { 0 },
};
/* clang-format on */

void
adapters_clear(struct adapter_options *o)
{
    for (size_t i = 0; i < o->n; i++)
        free((char *)o->list[i].path);
    free(o->list);
    free(o->vectors);
    *o = (struct adapter_options){ 0 };
}

const struct gg_adapter *
adapters_list(struct adapter_options *o)
{
    for (size_t i = 0; i < o->n; i++) {
        o->list[i].first = o->vectors[i] ? o->first : 0;
        o->list[i].last = o->vectors[i] ? o->last : 0;
    }
    return o->list;
}

int
adapters_at(const struct adapter_options *o, bool vectors, size_t i)
{
    for (size_t k = 0; k < o->n; k++)
        if (o->vectors[k] == vectors && i-- == 0)
            return (int)k;
    return -1;
}

static bool
is_called(const char *path, const char *name)
{
    static const char ending[] = ".gguf";
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = strlen(name);

    if (strcmp(path, name) == 0 || strcmp(base, name) == 0)
        return true;
    return strncmp(base, name, n) == 0 && strcmp(base + n, ending) == 0;
}

int
adapters_find(const struct adapter_options *o, bool vectors, const char *name)
{
    int found = -1;

    for (size_t k = 0; k < o->n; k++) {
        if (o->vectors[k] != vectors || !is_called(o->list[k].path, name))
            continue;
        if (found >= 0)
            return -1;
        found = (int)k;
    }
    return found;
}
