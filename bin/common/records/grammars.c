/* grammars.c - grammars of records, each compiled once while in use */
#include <config.h>

#include "common/records/grammars.h"

#include <stdlib.h>
#include <string.h>

#include "common/sampling.h"

enum {
    KEPT = 16, /* that nobody uses */
};

struct grammar_entry {
    struct grammar_entry *older;
    struct gg_grammar *grammar;
    bool schema;
    char *text;
    size_t len, n_users;
};

/* Takes it out of the list; NULL: it is not there. */
static struct grammar_entry *
take_out(struct grammars *all, bool schema, const char *text, size_t len)
{
    struct grammar_entry **at = &all->newest, *e;

    while ((e = *at) && (e->schema != schema || e->len != len ||
                         memcmp(e->text, text, len) != 0))
        at = &e->older;
    if (e)
        *at = e->older;
    return e;
}

static void
destroy(struct grammar_entry *e)
{
    gg_grammar_free(e->grammar);
    free(e->text);
    free(e);
}

static void
destroy_oldest(struct grammars *all)
{
    struct grammar_entry **at = &all->newest;
    size_t n = 0;

    while (*at) {
        struct grammar_entry *e = *at;

        if (e->n_users || ++n <= KEPT) {
            at = &e->older;
            continue;
        }
        *at = e->older;
        destroy(e);
    }
}

enum gg_status
grammars_take(struct grammars *all, const struct gg_vocab *vocab, bool schema,
              const char *text, size_t len, struct grammar_entry **out,
              struct gg_error *err)
{
    struct grammar_entry *e = take_out(all, schema, text, len);

    if (!e) {
        struct gg_grammar *grammar;
        enum gg_status st =
            sampling_grammar(vocab, schema, text, len, &grammar, err);

        if (st != GG_OK)
            return st;
        e = cli_alloc(NULL, 1, sizeof(*e));
        *e = (struct grammar_entry){ .grammar = grammar,
                                     .schema = schema,
                                     .text = cli_alloc(NULL, len, 1),
                                     .len = len };
        memcpy(e->text, text, len);
    }
    e->n_users++;
    e->older = all->newest;
    all->newest = e;
    *out = e;
    return GG_OK;
}

struct gg_grammar *
grammars_get(struct grammar_entry *entry)
{
    return entry->grammar;
}

void
grammars_give_back(struct grammars *all, struct grammar_entry *entry)
{
    if (!entry)
        return;
    entry->n_users--;
    destroy_oldest(all);
}

void
grammars_clear(struct grammars *all)
{
    while (all->newest) {
        struct grammar_entry *e = all->newest;

        all->newest = e->older;
        destroy(e);
    }
}
