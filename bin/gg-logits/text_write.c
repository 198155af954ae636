/* text_write.c - records as lines of text, and as JSON lines */
#include <config.h>

#include "gg-logits/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/json.h"

void
put_float(float x)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%.9g", (double)x);
    fputs(digits, stdout);
}

static void
put_id_list(const int32_t *ids, size_t n, char between)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            putchar(between);
        printf("%" PRId32, ids[i]);
    }
}

/* ---- text ---- */

static void
put_escaped(const char *s)
{
    size_t len = strlen(s);
    char *shown = cli_alloc(NULL, 4 * len + 1, 1);

    fputs(gg_escape(shown, 4 * len + 1, s, len), stdout);
    free(shown);
}

static void
put_head(const struct gg_logit_head *h)
{
    printf("head\t%s\t%" PRIu32 "\t%016" PRIx64 "\t%s\t%s\t",
           kind_names[h->kind], h->n_vocab, h->fingerprint,
           encoding_names[h->encoding], h->numbered ? "numbered" : "-");
    put_id_list(h->eog_ids, h->n_eog, ' ');
    putchar('\t');
    put_escaped(h->writer);
    if (h->n_suppressed || h->sampling)
        putchar('\t');
    put_id_list(h->suppressed, h->n_suppressed, ' ');
    if (h->sampling)
        printf("\t%s", h->sampling);
}

static void
put_sequence(const struct gg_logit_record *r)
{
    if (r->head.numbered)
        printf("\t%" PRIu64, r->sequence);
    else
        fputs("\t-", stdout);
}

static void
put_record_lines(const struct gg_logit_record *r)
{
    fputs("record", stdout);
    put_sequence(r);
    printf("\t%" PRIu64 "\t", r->position);
    put_id_list(r->ids, r->n_ids, ' ');
    if (r->logit_ids)
        printf("\t%.17g", r->log_sum_exp);
    for (size_t i = 0; i < r->n_logits; i++) {
        printf("\n%" PRId32 "\t", r->logit_ids ? r->logit_ids[i] : (int32_t)i);
        put_float(r->logits[i]);
    }
}

void
text_put(const struct gg_logit_record *r)
{
    switch (r->kind) {
    case GG_RECORD_HEAD:
        put_head(&r->head);
        break;
    case GG_RECORD_LOGITS:
        put_record_lines(r);
        break;
    case GG_RECORD_ERROR:
        fputs("failed", stdout);
        put_sequence(r);
        putchar('\t');
        put_escaped(r->message);
        break;
    case GG_RECORD_CLOSE:
        fputs("closed", stdout);
        put_sequence(r);
        break;
    case GG_RECORD_END:
        fputs("end", stdout);
    }
    fputs("\n\n", stdout);
}

/* ---- JSON lines ---- */

/* Programs that have nothing but doubles would round it. */
static void
put_u64(uint64_t n)
{
    printf(n >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, n);
}

/* Numbers that JSON has not are strings. */
static void
put_number(double x, int digits)
{
    if (isnan(x))
        fputs("\"NaN\"", stdout);
    else if (isinf(x))
        fputs(x < 0 ? "\"-Infinity\"" : "\"Infinity\"", stdout);
    else if (x == 0)
        fputs(signbit(x) ? "-0.0" : "0", stdout); /* -0 is an integer */
    else
        printf("%.*g", digits, x);
}

static void
put_json_ids(const char *name, const int32_t *ids, size_t n)
{
    printf(",\"%s\":[", name);
    put_id_list(ids, n, ',');
    putchar(']');
}

static void
put_json_head(const struct gg_logit_head *h)
{
    printf("{\"head\":{\"kind\":\"%s\",\"n_vocab\":%" PRIu32
           ",\"fingerprint\":\"%016" PRIx64
           "\",\"encoding\":\"%s\",\"numbered\":%s",
           kind_names[h->kind], h->n_vocab, h->fingerprint,
           encoding_names[h->encoding], h->numbered ? "true" : "false");
    put_json_ids("eog", h->eog_ids, h->n_eog);
    if (h->n_suppressed)
        put_json_ids("suppressed", h->suppressed, h->n_suppressed);
    if (h->sampling) {
        fputs(",\"sampling\":", stdout);
        cli_json_put(h->sampling, strlen(h->sampling));
    }
    fputs(",\"writer\":", stdout);
    cli_json_put(h->writer, strlen(h->writer));
    fputs("}}\n", stdout);
}

/* The brace, and the sequence if they are numbered. */
static void
open_object(const struct gg_logit_record *r)
{
    putchar('{');
    if (r->head.numbered) {
        fputs("\"sequence\":", stdout);
        put_u64(r->sequence);
        putchar(',');
    }
}

static void
put_json_record(const struct gg_logit_record *r)
{
    open_object(r);
    fputs("\"position\":", stdout);
    put_u64(r->position);
    put_json_ids("ids", r->ids, r->n_ids);
    if (r->logit_ids) {
        fputs(",\"log_sum_exp\":", stdout);
        put_number(r->log_sum_exp, 17);
        put_json_ids("logit_ids", r->logit_ids, r->n_logits);
    }
    fputs(",\"logits\":[", stdout);
    for (size_t i = 0; i < r->n_logits; i++) {
        if (i)
            putchar(',');
        put_number((double)r->logits[i], 9);
    }
    fputs("]}\n", stdout);
}

void
jsonl_put(const struct gg_logit_record *r)
{
    switch (r->kind) {
    case GG_RECORD_HEAD:
        put_json_head(&r->head);
        break;
    case GG_RECORD_LOGITS:
        put_json_record(r);
        break;
    case GG_RECORD_ERROR:
        open_object(r);
        fputs("\"error\":", stdout);
        cli_json_put(r->message, strlen(r->message));
        fputs("}\n", stdout);
        break;
    case GG_RECORD_CLOSE:
        open_object(r);
        fputs("\"closed\":true}\n", stdout);
        break;
    case GG_RECORD_END:
        fputs("{\"end\":true}\n", stdout);
    }
}
