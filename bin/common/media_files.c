/* media_files.c - files of images and sounds that a prompt takes */
#include <config.h>

#include "common/media_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/media_folder.h"
#include "common/media_worker.h"
#include "common/outside.h"
#include "common/projector.h"
#include "common/sandbox.h"

enum {
    MAX_MEDIUM = 1 << 29, /* bytes of a file */
};

/* ---- options ------------------------------------------------------------- */

static enum gg_status
add_media_file(void *options, const struct cli_option *row, const char *value,
               struct gg_error *err)
{
    struct media_files *f = options;
    bool sound = strcmp(row->name, "audio") == 0;

    if (!*value)
        return cli_error(err, GG_ERR_ARG, "--%s: needs the name of a file",
                         row->name);
    f->list = cli_alloc(f->list, f->n + 1, sizeof(*f->list));
    f->list[f->n++] =
        (struct media_file){ value, sound ? GG_MEDIA_SOUND : GG_MEDIA_IMAGE };
    return GG_OK;
}

#define AT(field) .at = offsetof(struct media_files, field)

/* clang-format off */
const struct cli_option media_file_rows[] = {
    { "image", 0, CLI_CALL, "FILE",
      "image that goes with the prompt; may be repeated",
      .set = add_media_file, .use = SANDBOX_READ, .not_with = "rows" },
    { "audio", 0, CLI_CALL, "FILE",
      "sound that goes with the prompt; may be repeated",
      .set = add_media_file, .use = SANDBOX_READ, .not_with = "rows" },
    { .part = media_message_rows },
    { 0 },
};

const struct cli_option media_message_rows[] = {
    { "mmproj", 0, CLI_TEXT, "FILE",
      "projector of images and sounds (else mmproj*.gguf next to the model)",
      AT(mmproj),
      .use = SANDBOX_READ },
    { "media-dir", 0, CLI_TEXT, "DIR",
      "let messages name images and sounds in DIR", AT(folder),
      .use = SANDBOX_TREE, .not_with = "rows" },
    { "image-min-tokens", 0, CLI_INT, "N",
      "minimum rows of an image (else the model's own)", AT(min_tokens), 1,
      1 << 16 },
    { "image-max-tokens", 0, CLI_INT, "N",
      "maximum rows of an image (else the model's own)", AT(max_tokens), 1,
      1 << 16 },
    { 0 },
};
/* clang-format on */

void
media_files_allow(const struct media_files *f, const char *model, bool messages)
{
    const char *projector = NULL;

    if (f->folder)
        media_folder_check(f->folder);
    if (f->n || messages)
        projector = projector_look_for(model, f->mmproj);
    if (f->n == 0 && !projector)
        return;
    sandbox_keep(SANDBOX_MEDIA);
    sandbox_add(projector, SANDBOX_READ);
}

void
media_files_clear(struct media_files *f)
{
    free(f->list);
    f->list = NULL;
    f->n = 0;
}

/* ---- rows ---------------------------------------------------------------- */

/* All bytes of it, or why they cannot be read. */
static enum gg_status
read_medium(const char *path, char **bytes, size_t *size, struct gg_error *err)
{
    struct stat st;
    int fd;

    if (strcmp(path, "-") == 0) {
        *bytes = cli_read_all(cli_open_input(path), cli_input_name(path),
                              MAX_MEDIUM, size);
        return GG_OK;
    }
    fd = outside_open(path, O_RDONLY);
    if (fd < 0)
        return cli_error(err, GG_ERR_IO, "%s", strerror(errno));
    if (fstat(fd, &st) || S_ISDIR(st.st_mode) || st.st_size > MAX_MEDIUM) {
        close(fd);
        return S_ISDIR(st.st_mode)
                   ? cli_error(err, GG_ERR_IO, "%s", strerror(EISDIR))
                   : cli_error(err, GG_ERR_FORMAT,
                               "the file is longer than the limit of %d MiB",
                               MAX_MEDIUM >> 20);
    }
    files_read(path, fd);
    *bytes = cli_read_all(fd, path, MAX_MEDIUM, size);
    close(fd);
    return GG_OK;
}

enum gg_status
media_decode_file(const char *path, uint32_t raw_rate, struct gg_decoded **out,
                  struct gg_error *err)
{
    struct gg_decode_limits limits = { .raw_rate = raw_rate };
    char *bytes = NULL;
    size_t size;
    enum gg_status st = read_medium(path, &bytes, &size, err);

    if (st != GG_OK)
        return st;
    st = media_worker_decode(bytes, size, &limits, out, err);
    free(bytes);
    return st;
}

static enum gg_status
check_kind(enum gg_media_kind kind, struct gg_decoded *medium,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (medium->kind != kind) {
        st = cli_error(err, GG_ERR_ARG, "the file is %s, and not %s",
                       media_a_kind(medium->kind), media_a_kind(kind));
        gg_decoded_free(medium);
    }
    return st;
}

enum gg_status
media_files_decode(enum gg_media_kind kind, const void *bytes, size_t size,
                   struct gg_decoded **out, struct gg_error *err)
{
    const struct gg_decode_limits limits = { 0 };
    enum gg_status st = media_worker_decode(bytes, size, &limits, out, err);

    return st == GG_OK ? check_kind(kind, *out, err) : st;
}

static enum gg_status
encode_media_file(struct gg_projector *projector, const struct media_file *file,
                  struct gg_media_rows **out, struct gg_error *err)
{
    struct gg_decoded *medium;
    struct gg_media_plan *plan;
    enum gg_status st = media_decode_file(file->path, 0, &medium, err);

    if (st == GG_OK)
        st = check_kind(file->kind, medium, err);
    if (st != GG_OK)
        return st;
    st = gg_projector_plan(projector, medium, &plan, err);
    gg_decoded_free(medium);
    if (st != GG_OK)
        return st;
    st = gg_projector_encode(projector, plan, out, err);
    gg_media_plan_free(plan);
    return st;
}

static void
append_file(struct media *m, struct gg_projector *projector,
            const struct media_file *file)
{
    struct gg_media_rows *rows;
    struct gg_error err;

    if (encode_media_file(projector, file, &rows, &err) != GG_OK)
        cli_die("%s: %s", cli_input_name(file->path), err.message);
    media_append(m, rows, true);
    gg_media_rows_free(rows);
}

struct gg_projector *
media_files_projector(const struct media_files *f, const char *model,
                      int32_t n_threads, struct gg_rows_head *head)
{
    const struct gg_projector_params params = {
        .device = f->device,
        .n_threads = n_threads,
        .min_tokens = f->min_tokens,
        .max_tokens = f->max_tokens,
    };
    const char *path = projector_find(model, f->mmproj);
    struct gg_projector *projector;
    struct gg_error err;

    cli_check(gg_projector_open(path, &params, &projector, &err), &err);
    if (gg_projector_embeds(projector))
        cli_die("%s: it makes vectors to compare, no rows for a model", path);
    projector_check_model(model, projector);
    *head = (struct gg_rows_head){
        .first = projector_first_id(model),
        .width = gg_projector_width(projector),
        .n_deeper = gg_projector_n_deeper(projector),
    };
    gg_projector_hash(projector, head->projector);
    return projector;
}

struct media *
media_files_encode(const struct media_files *f, const char *model,
                   int32_t n_threads)
{
    struct gg_rows_head head;
    struct gg_projector *projector;
    struct media *m;

    if (f->n == 0)
        return NULL;
    projector = media_files_projector(f, model, n_threads, &head);
    m = media_new(projector_find(model, f->mmproj));
    media_set_head(m, &head);
    for (size_t i = 0; i < f->n; i++)
        append_file(m, projector, &f->list[i]);
    gg_projector_free(projector);
    return m;
}
