/* record.c - --jsonl: a line of JSON for each medium */
#include <config.h>

#include "gg-encode/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/media.h"

static void
begin_record(const char *name)
{
    fputs("{\"file\":", stdout);
    cli_json_put(name, strlen(name));
}

void
record_error(const char *name, const char *message)
{
    begin_record(name);
    fputs(",\"error\":", stdout);
    cli_json_put(message, strlen(message));
    puts("}");
    fflush(stdout);
}

static void
put_piece(const struct gg_piece *p)
{
    if (p->kind != GG_PIECE_ROWS) {
        printf("{\"%s\":", p->kind == GG_PIECE_TEXT ? "text" : "marker");
        cli_json_put(p->text, strlen(p->text));
        putchar('}');
        return;
    }
    printf("{\"first\":%zu,\"rows\":%zu,\"positions\":%" PRId32
           ",\"width\":%" PRIu32 ",\"height\":%" PRIu32 ",\"block\":%s}",
           p->first, p->n, p->n_positions, p->width, p->height,
           p->block ? "true" : "false");
}

static void
put_medium(const struct gg_decoded *m)
{
    printf(",\"kind\":\"%s\"", media_kind_name(m->kind));
    if (m->kind == GG_MEDIA_IMAGE)
        printf(",\"width\":%" PRIu32 ",\"height\":%" PRIu32, m->width,
               m->height);
    else
        printf(",\"rate\":%" PRIu32 ",\"samples\":%zu,\"seconds\":%.3f",
               m->rate, m->n_samples, (double)m->n_samples / m->rate);
}

static void
put_plan(const struct gg_media_plan *plan, uint64_t n_ctx)
{
    printf(",\"rows\":%zu,\"positions\":%" PRId32, plan->n_rows,
           plan->n_positions);
    if (n_ctx > 0)
        printf(",\"context\":%" PRIu64, n_ctx);
    fputs(",\"hash\":\"", stdout);
    for (size_t i = 0; i < GG_MEDIUM_HASH; i++)
        printf("%02x", plan->hash[i]);
    fputs("\",\"pieces\":[", stdout);
    for (size_t i = 0; i < plan->n_pieces; i++) {
        fputs(i ? "," : "", stdout);
        put_piece(&plan->pieces[i]);
    }
    putchar(']');
}

void
record_medium(const char *name, const struct gg_decoded *medium,
              const struct gg_media_plan *plan, uint64_t n_ctx,
              const struct gg_medium *vector)
{
    begin_record(name);
    put_medium(medium);
    put_plan(plan, n_ctx);
    for (size_t i = 0; vector && i < vector->width; i++)
        printf("%s%.9g", i ? "," : ",\"vector\":[", (double)vector->rows[i]);
    puts(vector ? "]}" : "}");
    fflush(stdout);
}
