/* list.c - --list: what a medium becomes */
#include <config.h>

#include "gg-encode/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gg.h>

enum {
    MAX_SHOWN = 512,
};

static void
list_piece(const char *name, const struct gg_piece *p)
{
    char shown[MAX_SHOWN];

    if (p->kind == GG_PIECE_ROWS) {
        printf("%s\trows\t%zu..%zu\t%" PRId32 "\t%" PRIu32 "x%" PRIu32 "%s\n",
               name, p->first, p->first + p->n - 1, p->n_positions, p->width,
               p->height, p->block ? "\tblock" : "");
        return;
    }
    gg_escape(shown, sizeof(shown), p->text, strlen(p->text));
    printf("%s\t%s\t%s\n", name, p->kind == GG_PIECE_MARKER ? "marker" : "text",
           shown);
}

void
list_plan(const char *name, const struct gg_media_plan *plan, uint64_t n_ctx)
{
    char shown[MAX_SHOWN];

    gg_escape(shown, sizeof(shown), name, strlen(name));
    for (size_t i = 0; i < plan->n_pieces; i++)
        list_piece(shown, &plan->pieces[i]);
    printf("%s\tall\t%zu rows\t%" PRId32 " positions", shown, plan->n_rows,
           plan->n_positions);
    if (n_ctx > 0)
        printf("\t%.2f %% of %" PRIu64,
               100.0 * plan->n_positions / (double)n_ctx, n_ctx);
    putchar('\n');
}
