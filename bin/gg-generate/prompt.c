/* prompt.c - the text to continue, as ids */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

static int32_t *
encode(struct generate *g, const char *text, size_t len, size_t *n)
{
    const struct gg_vocab *v = g->engine.vocab;
    bool bos = g->o->bos ? g->o->bos == OPT_BOS : gg_vocab_add_bos(v);
    unsigned flags =
        (bos ? GG_ENCODE_BOS : 0) | (g->o->special ? GG_ENCODE_SPECIAL : 0);
    int32_t *ids = NULL;
    struct gg_error err;
    size_t cap = 0;

    *n = len / 2 + 16;
    while (*n > cap) {
        cap = *n;
        ids = cli_alloc(ids, cap, sizeof(*ids));
        cli_check(gg_vocab_encode(v, text, len, flags, ids, cap, n, &err),
                  &err);
    }
    return ids;
}

int32_t *
generate_prompt(struct generate *g, size_t *n)
{
    const struct options *o = g->o;
    const char *name = cli_input_name(o->input);
    size_t len = o->prompt ? strlen(o->prompt) : 0;
    char *read = NULL;
    const char *text = o->prompt;
    int32_t *ids;

    if (!text)
        text = read = cli_read_all(cli_open_input(o->input), name, &len);
    ids = encode(g, text, len, n);
    if (*n == 0 || (len == 0 && o->bos != OPT_BOS))
        cli_die("%s: the prompt is empty", o->prompt ? "-p" : name);
    if (o->echo) {
        fwrite(text, 1, len, stdout);
        cli_flush();
    }
    free(read);
    return ids;
}
