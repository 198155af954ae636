/* raw.c - one value, for scripts */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* On a terminal a string keeps its lines, and nothing else that could move
 * the cursor. */
static void
put_lines(const char *s, size_t len)
{
    while (len) {
        size_t n = 0;

        while (n < len && s[n] != '\n')
            n++;
        value_put_escaped(stdout, s, n, 0);
        if (n < len)
            putchar('\n'), n++;
        s += n;
        len -= n;
    }
}

/* A string alone is written as it is; one of many is kept on its line. */
static void
put_string(const struct gguf_context *ctx, int64_t key, size_t i, bool nul)
{
    size_t len;
    const char *s = value_string(ctx, key, i, &len);

    if (nul)
        fwrite(s, 1, len, stdout);
    else if (gguf_get_kv_type(ctx, key) == GGUF_TYPE_ARRAY)
        value_put_escaped(stdout, s, len, 0);
    else if (isatty(STDOUT_FILENO))
        put_lines(s, len);
    else
        fwrite(s, 1, len, stdout);
}

void
raw_show(const struct gguf_context *ctx, const struct inspect_options *o)
{
    int64_t key = gguf_find_key(ctx, o->key);
    enum gguf_type type;
    char buf[32], shown[256];

    if (key < 0)
        cli_die("%s: %s: the file has no such key; without -k, "
                "those that it has are shown",
                o->path,
                gg_escape(shown, sizeof(shown), o->key, strlen(o->key)));
    type = value_element_type(ctx, key);
    for (size_t i = 0; i < value_count(ctx, key); i++) {
        if (type == GGUF_TYPE_STRING)
            put_string(ctx, key, i, o->nul_ended);
        else
            fputs(value_number(buf, type, value_at(ctx, key, i)), stdout);
        putchar(o->nul_ended ? '\0' : '\n');
    }
}
