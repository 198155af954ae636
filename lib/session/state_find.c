/* state_find.c - tensors of a state file, and what refuses it */
#include "session/state_open.h"

#include <stdarg.h>
#include <stdio.h>

enum gg_status
session_state_refuse(const struct opener *o, enum gg_status status,
                     const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return error_prefix(o->err, error_set(o->err, status, "%s", text), "%s",
                        o->path);
}

enum gg_status
session_state_find(struct opener *o, const char *name, enum ggml_type type,
                   int64_t n0, int64_t n1, const struct gguf_tensor **out)
{
    const struct gguf_tensor *t = gguf_tensor_named(o->gguf, name);
    bool wanted = n0 && n1;

    if (!t && wanted)
        return session_state_refuse(o, GG_ERR_FORMAT, "%s: is missing", name);
    if (t && (!wanted || t->type != type || t->ne[0] != n0 || t->ne[1] != n1 ||
              t->ne[2] != 1 || t->ne[3] != 1))
        return session_state_refuse(
            o, GG_ERR_FORMAT,
            "%s: has not the type and shape that it should have", name);
    o->n_tensors += t != NULL;
    if (out)
        *out = t;
    return GG_OK;
}
