/* keys.c - metadata: copied, set, and taken away */
#include <config.h>

#include "common/cli.h"
#include "gg-convert/convert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
keys_add(struct key_changes *c, const char *argument, bool unset)
{
    const char *equals = strchr(argument, '=');
    size_t len = unset    ? strlen(argument)
                 : equals ? (size_t)(equals - argument)
                          : 0;
    char *key;

    if (len == 0 || len > UINT16_MAX)
        cli_misuse(unset ? "--unset: no KEY" : "--set: '%s' is not KEY=VALUE",
                   argument);
    key = cli_copy(argument, len);
    if (strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) == 0)
        cli_misuse("%s is not set by hand", key);
    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    c->list[c->n++] =
        (struct key_change){ key, unset ? NULL : equals + 1, false };
}

void
keys_clear(struct key_changes *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].key);
    free(c->list);
}

/* ---- values -------------------------------------------------------------- */

static const struct {
    const char *name;
    enum gguf_type type;
    int64_t min;
    uint64_t max;
} types[] = {
    { "u8", GGUF_TYPE_UINT8, 0, UINT8_MAX },
    { "i8", GGUF_TYPE_INT8, INT8_MIN, INT8_MAX },
    { "u16", GGUF_TYPE_UINT16, 0, UINT16_MAX },
    { "i16", GGUF_TYPE_INT16, INT16_MIN, INT16_MAX },
    { "u32", GGUF_TYPE_UINT32, 0, UINT32_MAX },
    { "i32", GGUF_TYPE_INT32, INT32_MIN, INT32_MAX },
    { "u64", GGUF_TYPE_UINT64, 0, UINT64_MAX },
    { "i64", GGUF_TYPE_INT64, INT64_MIN, INT64_MAX },
    { "f32", GGUF_TYPE_FLOAT32, 0, 0 },
    { "f64", GGUF_TYPE_FLOAT64, 0, 0 },
    { "bool", GGUF_TYPE_BOOL, 0, 0 },
    { "str", GGUF_TYPE_STRING, 0, 0 },
};

enum {
    N_TYPES = sizeof(types) / sizeof(types[0])
};

CLI_NORETURN static void
bad_value(const struct key_change *c, const char *type)
{
    cli_misuse("--set %s: '%s' is no value of type %s", c->key, c->value, type);
}

/* "u64:7" says its type; returns what follows, or NULL. */
static const char *
typed(const char *value, enum gguf_type *type)
{
    for (size_t i = 0; i < N_TYPES; i++) {
        size_t len = strlen(types[i].name);

        if (strncmp(value, types[i].name, len) == 0 && value[len] == ':') {
            *type = types[i].type;
            return value + len + 1;
        }
    }
    return NULL;
}

static bool
is_integer(const char *s)
{
    s += *s == '-';
    return *s && strspn(s, "0123456789") == strlen(s);
}

static bool
to_double(const char *s, double *out)
{
    char *end;

    *out = strtod(s, &end); /* the tools run in the C locale */
    return *s && *end == '\0' && isfinite(*out);
}

/* The type that a new key gets from the looks of its value. */
static enum gguf_type
guess(const char *value)
{
    double x;

    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        return GGUF_TYPE_BOOL;
    if (is_integer(value))
        return *value == '-' ? GGUF_TYPE_INT32 : GGUF_TYPE_UINT32;
    return to_double(value, &x) ? GGUF_TYPE_FLOAT32 : GGUF_TYPE_STRING;
}

static void
set_integer(struct gguf_context *to, const struct key_change *c,
            const char *text, size_t i)
{
    bool negative = *text == '-';
    uint64_t u;
    int64_t v;

    errno = 0;
    u = is_integer(text) ? strtoull(text + negative, NULL, 10) : 0;
    if (!is_integer(text) || errno ||
        (negative ? u > 0 - (uint64_t)types[i].min : u > types[i].max))
        bad_value(c, types[i].name);
    v = (int64_t)(negative ? 0 - u : u);
    switch (types[i].type) {
    case GGUF_TYPE_UINT8:
        gguf_set_val_u8(to, c->key, (uint8_t)v);
        break;
    case GGUF_TYPE_INT8:
        gguf_set_val_i8(to, c->key, (int8_t)v);
        break;
    case GGUF_TYPE_UINT16:
        gguf_set_val_u16(to, c->key, (uint16_t)v);
        break;
    case GGUF_TYPE_INT16:
        gguf_set_val_i16(to, c->key, (int16_t)v);
        break;
    case GGUF_TYPE_UINT32:
        gguf_set_val_u32(to, c->key, (uint32_t)v);
        break;
    case GGUF_TYPE_INT32:
        gguf_set_val_i32(to, c->key, (int32_t)v);
        break;
    case GGUF_TYPE_UINT64:
        gguf_set_val_u64(to, c->key, (uint64_t)v);
        break;
    default:
        gguf_set_val_i64(to, c->key, v);
    }
}

static void
set_value(struct gguf_context *to, const struct key_change *c, const char *text,
          enum gguf_type type)
{
    size_t i = 0;
    double x;

    while (types[i].type != type)
        i++;
    switch (type) {
    case GGUF_TYPE_STRING:
        gguf_set_val_str(to, c->key, text);
        break;
    case GGUF_TYPE_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            bad_value(c, "bool: true or false");
        gguf_set_val_bool(to, c->key, *text == 't');
        break;
    case GGUF_TYPE_FLOAT32:
    case GGUF_TYPE_FLOAT64:
        if (!to_double(text, &x) ||
            (type == GGUF_TYPE_FLOAT32 && !isfinite((double)(float)x)))
            bad_value(c, types[i].name);
        if (type == GGUF_TYPE_FLOAT32)
            gguf_set_val_f32(to, c->key, (float)x);
        else
            gguf_set_val_f64(to, c->key, x);
        break;
    default:
        set_integer(to, c, text, i);
    }
}

/* ---- one key after the other --------------------------------------------- */

/* The last change of a key is the one that holds. */
static struct key_change *
change_of(struct key_changes *c, const char *key)
{
    struct key_change *last = NULL;

    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].key, key) == 0) {
            c->list[i].used = true;
            last = &c->list[i];
        }
    return last;
}

static void
change_key(struct gguf_context *to, const struct gguf_context *from, int64_t id,
           const struct key_change *c)
{
    enum gguf_type type = gguf_get_kv_type(from, id), said;
    const char *text = typed(c->value, &said);

    if (text)
        set_value(to, c, text, said);
    else if (type == GGUF_TYPE_ARRAY)
        cli_die("%s: is an array; --set KEY=TYPE:VALUE makes it one value",
                c->key);
    else
        set_value(to, c, c->value, type);
}

static void
apply_key(struct gguf_context *to, const struct key_change *c)
{
    enum gguf_type type;
    const char *text = typed(c->value, &type);

    if (text)
        set_value(to, c, text, type);
    else
        set_value(to, c, c->value, guess(c->value));
}

void
keys_copy(struct gguf_context *to, const struct gguf_context *from,
          struct key_changes *c, bool drop_split)
{
    for (int64_t id = 0; id < gguf_get_n_kv(from); id++) {
        const char *key = gguf_get_key(from, id);
        const struct key_change *change = change_of(c, key);

        if (drop_split && strncmp(key, "split.", 6) == 0)
            continue;
        if (!change)
            gguf_copy_kv(to, from, id);
        else if (change->value)
            change_key(to, from, id, change);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct key_change *change = &c->list[i];

        if (!change->used && !change->value)
            cli_die("--unset %s: the file has no such key; gg-inspect "
                    "shows which it has",
                    change->key);
        if (!change->used)
            apply_key(to, change_of(c, change->key));
    }
}
