/* sampling.c - what a file says of sampling, as a line of text
 *
 * "temp=0 top_k=20": keys of general.sampling without that prefix, in the order
 * of the table. A value that is none stays as '?', so that who uses the line
 * can say so. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/line.h"
#include "core/mem.h"
#include "vocab/vocab.h"

#define PREFIX "general.sampling."

static const char *const names[] = {
    "sequence",        "top_k",         "top_p",        "min_p",
    "xtc_probability", "xtc_threshold", "temp",         "penalty_last_n",
    "penalty_repeat",  "mirostat",      "mirostat_tau", "mirostat_eta",
};

enum {
    N_NAMES = sizeof(names) / sizeof(names[0]),
    MAX_NAME = 32,
    MAX_VALUE = 512,
};

/* As few digits as tell the number from all others of its type. */
static void
write_number(char *out, double x, bool single)
{
    if (x == floor(x) && fabs(x) < 1e15) {
        snprintf(out, MAX_VALUE, "%.0f", x + 0.0);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, MAX_VALUE, "%.*g", digits, x);
        if (single ? strtof(out, NULL) == (float)x : strtod(out, NULL) == x)
            return;
    }
}

/* Without its blanks. */
static void
write_text(char *out, const char *s, size_t n)
{
    char *end = out;

    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ')
            *end++ = s[i];
    *end = '\0';
}

/* False: it is none. */
static bool
read_number(const struct gguf_context *g, int64_t key, double *x)
{
    switch (gguf_get_kv_type(g, key)) {
    case GGUF_TYPE_UINT8:
        *x = gguf_get_val_u8(g, key);
        return true;
    case GGUF_TYPE_INT8:
        *x = gguf_get_val_i8(g, key);
        return true;
    case GGUF_TYPE_UINT16:
        *x = gguf_get_val_u16(g, key);
        return true;
    case GGUF_TYPE_INT16:
        *x = gguf_get_val_i16(g, key);
        return true;
    case GGUF_TYPE_UINT32:
        *x = gguf_get_val_u32(g, key);
        return true;
    case GGUF_TYPE_INT32:
        *x = gguf_get_val_i32(g, key);
        return true;
    case GGUF_TYPE_UINT64:
        *x = (double)gguf_get_val_u64(g, key);
        return true;
    case GGUF_TYPE_INT64:
        *x = (double)gguf_get_val_i64(g, key);
        return true;
    case GGUF_TYPE_FLOAT32:
        *x = gguf_get_val_f32(g, key);
        return true;
    case GGUF_TYPE_FLOAT64:
        *x = gguf_get_val_f64(g, key);
        return true;
    default:
        return false;
    }
}

static void
write_value(char *out, const struct gguf_context *g, int64_t key)
{
    enum gguf_type type = gguf_get_kv_type(g, key);
    double x;
    size_t n;

    *out = '\0';
    if (type == GGUF_TYPE_STRING) {
        n = gguf_get_val_str_len(g, key);
        if (n < MAX_VALUE && core_is_line(gguf_get_val_str(g, key), n))
            write_text(out, gguf_get_val_str(g, key), n);
    } else if (read_number(g, key, &x)) {
        write_number(out, x, type == GGUF_TYPE_FLOAT32);
    }
    if (!*out)
        strcpy(out, "?");
}

/* Like snprintf(). */
static size_t
add_value(char *line, size_t n, size_t size, const char *name,
          const char *value)
{
    const char *blank = n ? " " : "";
    size_t at = n < size ? n : size;

    return n + (size_t)snprintf(size ? line + at : NULL, size - at, "%s%s=%s",
                                blank, name, value);
}

size_t
gg_sampling_of_file(const struct gguf_context *gguf, char *line, size_t size)
{
    char value[MAX_VALUE], key[sizeof(PREFIX) + MAX_NAME];
    size_t n = 0;

    size = line ? size : 0;
    if (size)
        *line = '\0';
    for (size_t i = 0; gguf && i < N_NAMES; i++) {
        int64_t at;

        snprintf(key, sizeof(key), PREFIX "%s", names[i]);
        at = gguf_find_key(gguf, key);
        if (at < 0)
            continue;
        write_value(value, gguf, at);
        n = add_value(line, n, size, names[i], value);
    }
    return n;
}

enum gg_status
vocab_load_sampling(struct gg_vocab *v, const struct gguf_context *gguf,
                    struct gg_error *err)
{
    size_t n = gg_sampling_of_file(gguf, NULL, 0);

    if (n == 0)
        return GG_OK;
    v->sampling = mem_array(n + 1, 1);
    if (!v->sampling)
        return error_nomem(err);
    gg_sampling_of_file(gguf, v->sampling, n + 1);
    return GG_OK;
}
