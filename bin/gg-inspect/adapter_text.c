/* adapter_text.c - what an adapter changes, in aligned lines or as JSON */
#include <config.h>

#include "gg-inspect/adapter_summary.h"

#include <inttypes.h>
#include <string.h>

#include "common/json.h"

enum {
    COLUMN = 13, /* where values begin */
    MODULE = 14, /* columns for names */
    MAX_SHOWN = 60,
};

/* Changes of one module and one rank. */
struct group {
    const struct adapter_change *first;
    size_t n;
    uint64_t values;
};

/* The one that begins at change i. */
static struct group
group_at(const struct adapter_summary *a, size_t i)
{
    struct group g = { .first = &a->changes[i] };

    for (; i < a->n; i++, g.n++) {
        const struct adapter_change *c = &a->changes[i];

        if (strcmp(c->module, g.first->module) || c->rank != g.first->rank ||
            c->odd != g.first->odd || (c->layer < 0) != (g.first->layer < 0) ||
            __builtin_add_overflow(g.values, c->values, &g.values))
            break;
    }
    return g;
}

/* ---- for people ---------------------------------------------------------- */

static void
put_escaped(const char *s, size_t len)
{
    value_put_escaped(stdout, s, len, MAX_SHOWN);
}

void
adapter_text_kind(const struct adapter_summary *a)
{
    printf("%-*s", COLUMN, "adapter");
    if (a->kind == ADAPTER_OTHER && !a->type.s) {
        fputs("of a type that is not named", stdout);
    } else if (a->kind == ADAPTER_OTHER) {
        fputs("of type ", stdout);
        put_escaped(a->type.s, a->type.len);
    } else {
        fputs(a->kind == ADAPTER_LORA ? "LoRA" : "control vector", stdout);
    }
    if (a->family.s) {
        fputs(", for models of family ", stdout);
        put_escaped(a->family.s, a->family.len);
    }
    fputs(a->kind == ADAPTER_OTHER ? "; gg-eval does not know it\n" : "\n",
          stdout);
}

static void
put_scale(const struct adapter_summary *a, uint64_t rank)
{
    char buf[32];

    fputs(value_float(buf, adapter_summary_scale(a, rank), true), stdout);
}

static void
text_rank(const struct adapter_summary *a)
{
    char buf[32];

    if (!a->rank.max)
        return;
    printf("%-*s%" PRIu64, COLUMN, "rank", a->rank.min);
    if (a->rank.max != a->rank.min)
        printf(" to %" PRIu64, a->rank.max);
    printf("\n%-*s", COLUMN, "scale");
    if (a->has_alpha && a->rank.max != a->rank.min)
        fputs("alpha / rank", stdout);
    else
        put_scale(a, a->rank.max);
    if (a->has_alpha)
        printf(", alpha %s", value_float(buf, a->alpha, true));
    putchar('\n');
}

/* "layer 3", "layers 0 to 29", "layers 0, 2 to 5": those that follow one
 * another together. */
static void
put_layers(const struct group *g)
{
    fputs(g->n > 1 ? "layers " : "layer ", stdout);
    for (size_t i = 0, last; i < g->n; i = last + 1) {
        for (last = i; last + 1 < g->n &&
                       g->first[last + 1].layer <= g->first[last].layer + 1;)
            last++;
        printf("%s%" PRId64, i ? ", " : "", g->first[i].layer);
        if (last > i)
            printf(" to %" PRId64, g->first[last].layer);
    }
}

/* Prints all but the module and its layers. */
static void
put_rest(const struct adapter_summary *a, const struct group *g)
{
    const char *comma = g->first->layer < 0 ? "" : ", ";

    if (g->first->odd)
        printf("%sno pair of one rank", comma);
    else if (!g->first->rank)
        printf("%sin its place", comma);
    else if (a->rank.min != a->rank.max) {
        printf("%srank %" PRIu64 ", scale ", comma, g->first->rank);
        put_scale(a, g->first->rank);
    }
}

static void
text_group(const struct adapter_summary *a, const struct group *g, bool first)
{
    const char *name = g->first->module;
    size_t n = strlen(name), width = value_width(name, n);
    bool more = g->first->layer >= 0 || g->first->odd || !g->first->rank ||
                a->rank.min != a->rank.max;

    printf("%-*s", COLUMN, first ? "targets" : "");
    value_put_escaped(stdout, name, n, 0);
    if (more)
        printf("%*s  ", width < MODULE ? (int)(MODULE - width) : 0, "");
    if (g->first->layer >= 0)
        put_layers(g);
    put_rest(a, g);
    putchar('\n');
}

/* The vectors of a control vector have no module. */
static void
text_vectors(const struct adapter_summary *a)
{
    for (size_t i = 0; i < a->n;) {
        struct group g = group_at(a, i);

        printf("%-*s", COLUMN, i ? "" : "vectors");
        if (g.first->odd)
            printf("of no layer: %zu", g.n);
        else
            put_layers(&g);
        putchar('\n');
        i += g.n;
    }
}

void
adapter_text_targets(const struct adapter_summary *a)
{
    if (a->kind == ADAPTER_CONTROL) {
        text_vectors(a);
        return;
    }
    text_rank(a);
    for (size_t i = 0; i < a->n;) {
        struct group g = group_at(a, i);

        text_group(a, &g, i == 0);
        i += g.n;
    }
}

/* ---- as JSON ------------------------------------------------------------- */

static void
json_put_text(const struct text *t)
{
    if (t->s)
        cli_json_put(t->s, t->len);
    else
        fputs("null", stdout);
}

/* A pair's rank and scale; of one without a fellow nothing. */
static void
json_rank(const struct adapter_summary *a, const struct adapter_change *c)
{
    if (c->odd) {
        fputs(", \"valid\": false", stdout);
    } else if (c->rank) {
        printf(", \"rank\": %" PRIu64 ", \"scale\": ", c->rank);
        put_scale(a, c->rank);
    }
}

static void
json_group(const struct adapter_summary *a, const struct group *g)
{
    const char *comma = "";

    fputs("{ ", stdout);
    if (a->kind != ADAPTER_CONTROL) {
        fputs("\"module\": ", stdout);
        cli_json_put(g->first->module, strlen(g->first->module));
        comma = ", ";
    }
    if (g->first->layer >= 0) {
        printf("%s\"layers\": [", comma);
        for (size_t i = 0; i < g->n; i++)
            printf("%s%" PRId64, i ? ", " : "", g->first[i].layer);
        putchar(']');
        comma = ", ";
    }
    printf("%s\"parameters\": %" PRIu64, comma, g->values);
    json_rank(a, g->first);
    fputs(" }", stdout);
}

void
adapter_text_json(const struct adapter_summary *a)
{
    static const struct text control = { "controlvector", 13 };
    char buf[32];

    fputs(",\n    \"adapter\": {\n      \"type\": ", stdout);
    json_put_text(a->kind == ADAPTER_CONTROL ? &control : &a->type);
    fputs(",\n      \"architecture\": ", stdout);
    json_put_text(&a->family);
    if (a->has_alpha)
        printf(",\n      \"alpha\": %s", value_float(buf, a->alpha, true));
    if (a->rank.min != a->rank.max)
        printf(",\n      \"rank\": [%" PRIu64 ", %" PRIu64 "]", a->rank.min,
               a->rank.max);
    else if (a->rank.max)
        printf(",\n      \"rank\": %" PRIu64, a->rank.max);
    fputs(",\n      \"targets\": [", stdout);
    for (size_t i = 0; i < a->n;) {
        struct group g = group_at(a, i);

        fputs(i ? ",\n        " : "\n        ", stdout);
        json_group(a, &g);
        i += g.n;
    }
    fputs(a->n ? "\n      ]\n    }" : "]\n    }", stdout);
}
