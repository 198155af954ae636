/* switches.c - adapters in a model's file that ids switch on (Granite) */
#include "graph/switches.h"

#include "graph/keys.h"

/* The place of an id that switches; n: it does not. */
static int32_t
switch_place(const struct model_switches *w, int32_t id)
{
    int32_t i = 0;

    if (w->n == 0 || id < w->least || id > w->most)
        return w->n;
    while (i < w->n && w->ids[i] != id)
        i++;
    return i;
}

int32_t
graph_switch(const struct model_switches *w, struct graph_switched *s,
             int32_t id)
{
    int32_t i = switch_place(w, id);

    s->n++;
    if (i < w->n) {
        s->on++;
        s->sum += i + 1;
    }
    return s->on > 0 ? (int32_t)((2 * s->sum + s->on) / (2 * s->on)) : 0;
}

int32_t
graph_switch_embedded(const struct model_switches *w, int32_t id)
{
    int32_t i = switch_place(w, id);

    return i < w->n ? w->embedded[i] : id;
}

/* ---- hyper-parameters ---------------------------------------------------- */

/* Reads switches.n ids. */
static void
read_ids(struct model_keys *keys, const struct model_hparams *hp,
         const char *name, int32_t *out)
{
    struct gguf_array a = { .n = 0 };
    char key[MODEL_MAX_KEY];

    if (keys->status == GG_OK)
        keys->status =
            gguf_opt_array(keys->gguf, graph_key_name(keys, name, key),
                           GGUF_TYPE_INT32, &a, keys->err);
    if (keys->status != GG_OK)
        return;
    if (a.n != (size_t)hp->switches.n) {
        graph_key_refuse(keys, GG_ERR_FORMAT, name, "%zu ids of %d adapters",
                         a.n, (int)hp->switches.n);
        return;
    }
    for (int32_t i = 0; i < hp->switches.n; i++) {
        out[i] = gguf_array_i32(&a, (size_t)i);
        if (out[i] < 0 || out[i] >= hp->n_vocab)
            graph_key_refuse(keys, GG_ERR_FORMAT, name,
                             "there is no id %d among %d", (int)out[i],
                             (int)hp->n_vocab);
    }
}

/* An id switches one adapter. */
static void
check_ids(struct model_keys *keys, const struct model_switches *w,
          const char *name)
{
    for (int32_t i = 0; i < w->n; i++)
        for (int32_t k = 0; k < i; k++)
            if (w->ids[i] == w->ids[k])
                graph_key_refuse(keys, GG_ERR_FORMAT, name,
                                 "id %d switches two adapters", (int)w->ids[i]);
}

void
graph_keys_switches(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "adapters.token_ids_activate";
    struct model_switches *w = &hp->switches;

    w->n = graph_key_int(keys, "adapters.count", 1, MODEL_MAX_SWITCHES, 0);
    w->rank = graph_key_int(keys, "adapters.lora_rank", 1, MODEL_MAX_FF, 0);
    read_ids(keys, hp, name, w->ids);
    read_ids(keys, hp, "adapters.token_ids_substitute", w->embedded);
    check_ids(keys, w, name);
    if (keys->status != GG_OK) {
        w->n = 0;
        return;
    }
    w->least = w->most = w->ids[0];
    for (int32_t i = 1; i < w->n; i++) {
        w->least = w->ids[i] < w->least ? w->ids[i] : w->least;
        w->most = w->ids[i] > w->most ? w->ids[i] : w->most;
    }
}
