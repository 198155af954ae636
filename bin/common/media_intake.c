/* media_intake.c - images and sounds that messages bring while a job runs */
#include <config.h>

#include "common/media_intake.h"

#include <stdlib.h>

#include "common/projector.h"

enum {
    MOST_BYTES = 1 << 28, /* of rows that nothing holds any more */
};

/* Use of an item of the list. */
struct intake_use {
    size_t n;      /* who hold it */
    uint64_t last; /* when it was wanted last */
    size_t bytes;  /* of its rows, if the session has them; else 0 */
};

struct media_intake {
    const struct media_files *files;
    const char *model;
    int32_t n_threads;
    struct gg_session *session;     /* or NULL */
    struct gg_projector *projector; /* NULL: none was wanted yet */
    struct media *media;
    struct intake_use *uses; /* of its items */
    uint64_t clock;
    size_t bytes, n_encoded;
};

struct media_intake *
media_intake_new(const struct media_files *files, const char *model,
                 int32_t n_threads)
{
    const char *projector = projector_look_for(model, files->mmproj);
    struct media_intake *in;

    if (!projector)
        return NULL;
    in = cli_alloc(NULL, 1, sizeof(*in));
    *in = (struct media_intake){ .files = files,
                                 .model = model,
                                 .n_threads = n_threads,
                                 .media = media_new(projector) };
    return in;
}

void
media_intake_free(struct media_intake *in)
{
    if (!in)
        return;
    gg_projector_free(in->projector);
    media_free(in->media);
    free(in->uses);
    free(in);
}

void
media_intake_attach(struct media_intake *in, struct gg_session *session)
{
    in->session = session;
}

const struct media *
media_intake_media(const struct media_intake *in)
{
    return in->media;
}

void
media_intake_hold(struct media_intake *in, size_t item)
{
    in->uses[item].n++;
    in->uses[item].last = ++in->clock;
}

void
media_intake_release(struct media_intake *in, size_t item)
{
    in->uses[item].n--;
}

/* ---- rows that a session has --------------------------------------------- */

static size_t
bytes_of_rows(const struct gg_medium *m)
{
    return m->n * m->width * (1 + m->n_deeper) * sizeof(float);
}

/* The one that was not wanted for longest, among those that nobody holds; the
 * number of items: there is none. */
static size_t
find_oldest(const struct media_intake *in)
{
    size_t n = in->media->n, best = n;

    for (size_t i = 0; i < n; i++)
        if (in->uses[i].bytes && in->uses[i].n == 0 &&
            (best == n || in->uses[i].last < in->uses[best].last))
            best = i;
    return best;
}

/* Their ids stay what they are. */
static void
forget_oldest(struct media_intake *in)
{
    size_t i;

    while (in->bytes > MOST_BYTES && (i = find_oldest(in)) < in->media->n) {
        gg_session_forget_rows(in->session, in->media->items[i].first);
        in->bytes -= in->uses[i].bytes;
        in->uses[i].bytes = 0;
    }
}

static enum gg_status
give_rows(struct media_intake *in, const struct gg_media_rows *rows, size_t i,
          struct gg_error *err)
{
    int32_t first;
    enum gg_status st =
        gg_session_add_rows(in->session, &rows->medium, &first, err);

    if (st != GG_OK)
        return st;
    if (i == in->media->n)
        media_append_first(in->media, rows, first);
    in->uses = cli_alloc(in->uses, in->media->n, sizeof(*in->uses));
    in->uses[i] = (struct intake_use){ .bytes = bytes_of_rows(&rows->medium) };
    in->bytes += in->uses[i].bytes;
    return GG_OK;
}

/* ---- one medium ---------------------------------------------------------- */

static void
open_once(struct media_intake *in)
{
    struct gg_rows_head head;

    if (in->projector)
        return;
    in->projector =
        media_files_projector(in->files, in->model, in->n_threads, &head);
    media_set_head(in->media, &head);
}

static enum gg_status
check_size(const struct media_intake *in, const struct gg_media_plan *plan,
           struct gg_error *err)
{
    size_t most =
        in->session ? (size_t)gg_session_n_ctx(in->session) : SIZE_MAX;

    if (plan->n_rows <= most)
        return GG_OK;
    return cli_error(err, GG_ERR_CONTEXT,
                     "%s of %zu rows has no place in a context of %zu%s",
                     media_a_kind(plan->kind), plan->n_rows, most,
                     plan->kind == GG_MEDIA_IMAGE
                         ? " (-c raises it, --image-max-tokens makes it less)"
                         : " (-c raises it)");
}

static enum gg_status
encode_plan(struct media_intake *in, struct gg_media_plan *plan, size_t i,
            struct gg_error *err)
{
    struct gg_media_rows *rows;
    enum gg_status st = gg_projector_encode(in->projector, plan, &rows, err);

    if (st != GG_OK)
        return st;
    st = give_rows(in, rows, i, err);
    gg_media_rows_free(rows);
    in->n_encoded += st == GG_OK;
    return st;
}

/* Its pieces, without rows. */
static enum gg_status
count_plan(struct media_intake *in, const struct gg_media_plan *plan,
           struct gg_error *err)
{
    struct gg_media_rows rows = { .kind = plan->kind,
                                  .pieces = plan->pieces,
                                  .n_pieces = plan->n_pieces,
                                  .medium.n = plan->n_rows };

    memcpy(rows.medium.hash, plan->hash, sizeof(rows.medium.hash));
    if (plan->n_rows > (size_t)(INT32_MAX - in->media->end))
        return cli_error(err, GG_ERR_FORMAT, "more rows than there are ids");
    media_append_first(in->media, &rows, in->media->end);
    in->uses = cli_alloc(in->uses, in->media->n, sizeof(*in->uses));
    in->uses[in->media->n - 1] = (struct intake_use){ 0 };
    return GG_OK;
}

/* Item i gets its rows, or is added. */
static enum gg_status
take_decoded(struct media_intake *in, const struct gg_decoded *medium, size_t i,
             struct gg_error *err)
{
    struct gg_media_plan *plan;
    enum gg_status st = gg_projector_plan(in->projector, medium, &plan, err);

    if (st != GG_OK)
        return st;
    st = check_size(in, plan, err);
    if (st == GG_OK && in->session)
        st = encode_plan(in, plan, i, err);
    else if (st == GG_OK)
        st = count_plan(in, plan, err);
    gg_media_plan_free(plan);
    return st;
}

static bool
is_taken(const struct media_intake *in, size_t i)
{
    return i < in->media->n && (!in->session || in->uses[i].bytes);
}

/* A medium that is too large, or kills its decoder, ends no job. */
static enum gg_status
of_message(enum gg_status st)
{
    return st == GG_ERR_NOMEM || st == GG_ERR_IO ? GG_ERR_FORMAT : st;
}

enum gg_status
media_intake_bytes(struct media_intake *in, enum gg_media_kind kind,
                   const void *bytes, size_t size, size_t *item,
                   struct gg_error *err)
{
    struct gg_decoded *medium;
    enum gg_status st = media_files_decode(kind, bytes, size, &medium, err);
    size_t i;

    if (st != GG_OK)
        return of_message(st);
    open_once(in);
    i = media_find_hash(in->media, medium->hash);
    if (!is_taken(in, i))
        st = take_decoded(in, medium, i, err);
    gg_decoded_free(medium);
    if (st != GG_OK)
        return of_message(st);
    media_intake_hold(in, i);
    forget_oldest(in);
    *item = i;
    return GG_OK;
}

enum gg_status
media_intake_part(struct media_intake *in, const struct media_part *part,
                  size_t *item, struct gg_error *err)
{
    struct buffer bytes = { 0 };
    enum gg_status st = media_part_bytes(part, in->files->folder, &bytes, err);

    if (st == GG_OK)
        st = media_intake_bytes(in, part->kind, bytes.p, bytes.len, item, err);
    buffer_clear(&bytes);
    return st;
}

void
media_intake_describe(const struct media_intake *in)
{
    if (in->projector)
        cli_warn("%s: %zu images and sounds of messages, %zu encoded",
                 in->media->name, in->media->n, in->n_encoded);
}
