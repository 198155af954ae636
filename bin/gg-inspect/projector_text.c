/* projector_text.c - what a projector does, in aligned lines or as JSON */
#include <config.h>

#include "gg-inspect/projector_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"

enum {
    COLUMN = 13, /* where values begin */
    MAX_SHOWN = 60,
};

static const char *const kind_names[PROJECTOR_KINDS] = { "images", "sounds" };

const char *
projector_text_medium(const struct projector_summary *p,
                      enum gg_media_kind kind, char buf[64])
{
    if (kind == GG_MEDIA_SOUND)
        snprintf(buf, 64, "a sound of %d s", PROJECTOR_SECONDS);
    else
        snprintf(buf, 64, "an image of %" PRIu32 " x %" PRIu32, p->image_width,
                 p->image_height);
    return buf;
}

/* ---- for people ---------------------------------------------------------- */

static void
put_label(const char *name)
{
    printf("%-*s", COLUMN, name);
}

static void
put_type(const struct projector_part *part)
{
    if (part->type.s)
        value_put_escaped(stdout, part->type.s, part->type.len, MAX_SHOWN);
    else
        fputs("of a type that is not named", stdout);
}

void
projector_text_kind(const struct projector_summary *p)
{
    const char *comma = "";

    put_label("projector");
    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        if (!p->parts[i].is_there)
            continue;
        printf("%sof %s: ", comma, kind_names[i]);
        put_type(&p->parts[i]);
        comma = ", ";
    }
    if (!*comma)
        fputs("without an encoder", stdout);
    putchar('\n');
    if (p->opens)
        return;
    put_label("");
    puts("gg-encode cannot use it: --check says why");
}

static void
put_number(const char *name, const struct range *r, const char *unit)
{
    if (!r->max)
        return;
    put_label(name);
    printf("%" PRIu64 "%s\n", r->max, unit);
}

static void
put_heads(const struct projector_part *part)
{
    if (!part->heads.max)
        return;
    put_label("heads");
    printf("%" PRIu64 " x %" PRIu64 "\n", part->heads.max,
           part->embedding.max / part->heads.max);
}

static void
put_parameters(const char *name, uint64_t n)
{
    char buf[32];

    if (!n)
        return;
    put_label(name);
    printf("%s parameters\n", value_thousands(buf, n));
}

static void
put_input(const struct projector_part *part)
{
    if (part->n_mel.max)
        put_number("frames", &part->n_mel, " values each");
    if (!part->patch.max)
        return;
    put_label("patches");
    printf("%" PRIu64 " x %" PRIu64 " pixels", part->patch.max,
           part->patch.max);
    if (part->image_size.max)
        printf(", made for %" PRIu64 " x %" PRIu64, part->image_size.max,
               part->image_size.max);
    putchar('\n');
}

static void
put_rows(const struct projector_summary *p, enum gg_media_kind kind)
{
    const struct projector_plan *plan = &p->parts[kind].plan;
    char buf[64];

    if (!plan->n_rows)
        return;
    put_label("rows");
    printf("%zu of %zu values for %s", plan->n_rows, p->width,
           projector_text_medium(p, kind, buf));
    if (p->n_deeper)
        printf(", each with %zu for deeper layers", p->n_deeper);
    puts(plan->longest_block ? "; they see each other" : "");
    put_label("positions");
    printf("%" PRId32 "\n", plan->n_positions);
}

static void
put_part(const struct projector_summary *p, enum gg_media_kind kind)
{
    const struct projector_part *part = &p->parts[kind];

    put_label(kind_names[kind]);
    put_type(part);
    putchar('\n');
    put_parameters(" encoder", part->encoder);
    put_parameters(" projection", part->projection);
    put_number("layers", &part->layers, "");
    put_number("embedding", &part->embedding, "");
    put_heads(part);
    put_number("feed-forward", &part->feed_forward, "");
    put_input(part);
    put_rows(p, kind);
}

void
projector_text_parts(const struct projector_summary *p)
{
    for (int i = 0; i < PROJECTOR_KINDS; i++)
        if (p->parts[i].is_there)
            put_part(p, (enum gg_media_kind)i);
}

/* ---- as JSON ------------------------------------------------------------- */

static void
put_member(const char *name, uint64_t n)
{
    if (n)
        printf(", \"%s\": %" PRIu64, name, n);
}

static void
put_json_plan(const struct projector_summary *p, enum gg_media_kind kind)
{
    const struct projector_plan *plan = &p->parts[kind].plan;

    if (!plan->n_rows)
        return;
    if (kind == GG_MEDIA_IMAGE)
        printf(", \"of\": {\"width\": %" PRIu32 ", \"height\": %" PRIu32 "}",
               p->image_width, p->image_height);
    else
        printf(", \"of\": {\"seconds\": %d}", PROJECTOR_SECONDS);
    put_member("rows", plan->n_rows);
    put_member("positions", (uint64_t)plan->n_positions);
    put_member("block", plan->longest_block);
}

static void
put_json_part(const struct projector_summary *p, enum gg_media_kind kind)
{
    const struct projector_part *part = &p->parts[kind];

    fputs("{\"type\": ", stdout);
    if (part->type.s)
        cli_json_put(part->type.s, part->type.len);
    else
        fputs("null", stdout);
    put_member("encoder_parameters", part->encoder);
    put_member("projection_parameters", part->projection);
    put_member("layers", part->layers.max);
    put_member("embedding_length", part->embedding.max);
    put_member("heads", part->heads.max);
    put_member("feed_forward_length", part->feed_forward.max);
    put_member("image_size", part->image_size.max);
    put_member("patch_size", part->patch.max);
    put_member("mel_bins", part->n_mel.max);
    put_json_plan(p, kind);
    putchar('}');
}

void
projector_text_json(const struct projector_summary *p)
{
    printf(",\n    \"projector\": {\"opens\": %s", p->opens ? "true" : "false");
    put_member("row_values", p->width);
    put_member("deeper", p->n_deeper);
    for (int i = 0; i < PROJECTOR_KINDS; i++)
        if (p->parts[i].is_there) {
            printf(",\n      \"%s\": ", kind_names[i]);
            put_json_part(p, (enum gg_media_kind)i);
        }
    putchar('}');
}
