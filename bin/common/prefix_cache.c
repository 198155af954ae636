/* prefix_cache.c - the folder of --cache: whose it is, the subfolder of this
 * model and these options, and how much there may be */
#include <config.h>

#include "common/prefix_cache.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/engine.h"
#include "common/outside.h"
#include "common/prefix_files.h"

struct prefix_cache {
    char *folder, *subfolder;
    uint8_t key[GG_SHA256];
    struct prefix_files files;
    uint64_t most, room; /* bytes that may be written until files must go */
    uint64_t written, n_written;
    bool quiet;
};

static struct prefix_cache *prepared; /* until somebody takes it */

/* ---- options ------------------------------------------------------------- */

/* The sandbox grants a subfolder, which is made later. */
static bool
is_not_granted(const char *value)
{
    (void)value;
    return true;
}

static enum gg_status
set_size(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct prefix_options *o = options;
    char name[CLI_OPTION_NAME];

    return cli_read_bytes(cli_option_name(row, name), value, 0, &o->bytes, err);
}

#define AT(field) .at = offsetof(struct prefix_options, field)
#define WHOLE                                                                  \
    "mpi|watch|graph|imatrix|perplexity|multiple-choice|classify|score|embed|" \
    "rank"

const struct cli_option prefix_rows[] = {
    { "cache", 0, CLI_TEXT, "DIR",
      "reuse what was computed of prompts, kept in DIR (else in $GG_CACHE)",
      AT(folder), .is_text = is_not_granted, .not_with = WHOLE },
    { "cache-size", 0, CLI_CALL, "BYTES",
      "limit the size of DIR (8G); K, M, G are powers of 1024", AT(bytes),
      .set = set_size },
    { 0 },
};

/* ---- the key ------------------------------------------------------------- */

static bool
add_adapters(const char *folder, const struct engine_options *o,
             struct prefix_files *files, struct buffer *key)
{
    const struct adapter_options *a = &o->adapters;
    bool done = true;

    for (size_t i = 0; i < a->n && done; i++) {
        done = prefix_hash_model(folder, a->list[i].path, files, key);
        buffer_format(key, "adapter %d %a %d %d\n", a->vectors[i],
                      (double)a->list[i].scale, (int)a->first, (int)a->last);
    }
    return done;
}

static bool
add_files(const char *folder, const struct engine_options *o,
          struct prefix_files *files, struct buffer *key)
{
    return prefix_hash_model(folder, cli_model(o->model, true), files, key) &&
           add_adapters(folder, o, files, key);
}

static void
add_options(const struct engine_options *o, struct buffer *key)
{
    const char *isa = getenv("GG_CPU_ISA"), *device = devices_name(&o->devices);
    const struct engine_cache *c = &o->cache;

    buffer_format(key, "gg %s\n", gg_version());
    buffer_format(key, "cache %d %d %d %d\n", (int)c->type, (int)c->keys,
                  (int)c->values, (int)c->no_rotation);
    buffer_format(key, "rope %s %a %a %d\n",
                  o->rope_scaling ? o->rope_scaling : "", o->rope_factor,
                  o->rope_base, (int)o->rope_n_ctx);
    buffer_format(key, "precision %d\n", o->bf16);
    buffer_format(key, "device %s\n", device ? device : "");
    buffer_format(key, "isa %s\n", isa ? isa : "");
}

/* ---- the folders --------------------------------------------------------- */

static const char *
choose_folder(const struct engine_options *o)
{
    const char *folder = o->prefixes.folder;

    folder = folder ? folder : getenv("GG_CACHE");
    return folder && *folder && !o->mpi && o->prefixes.bytes ? folder : NULL;
}

/* The folder's owner and mode protect all that is below it. */
static void
make_folder(const char *path)
{
    if (prefix_make_folder(path))
        return;
    if (errno == EPERM)
        cli_die("%s: no folder for a cache: it is another user's, or others "
                "may write to it",
                path);
    cli_die("%s: %s", path, strerror(errno));
}

static void
warn_off(bool quiet, const char *why)
{
    if (!quiet)
        cli_warn("no cache of prefixes: %s", why);
}

/* False: there is none. */
static bool
make_subfolder(struct prefix_cache *c, const struct buffer *key)
{
    char hex[PREFIX_DIGITS + 1];
    struct gg_error err;

    cli_check(gg_sha256(key->p, key->len, c->key, &err), &err);
    prefix_hex(c->key, hex);
    hex[PREFIX_DIGITS / 2] = '\0';
    c->subfolder = prefix_join(c->folder, hex);
    if (prefix_make_folder(c->subfolder))
        return true;
    warn_off(c->quiet, strerror(errno));
    return false;
}

/* False: there can be none. */
static bool
prepare(struct prefix_cache *c, const struct engine_options *o)
{
    char *models = prefix_join(c->folder, PREFIX_MODELS);
    struct buffer key = { 0 };
    bool done;

    (void)prefix_make_folder(models); /* or hashes are not remembered */
    free(models);
    done = add_files(c->folder, o, &c->files, &key);
    if (done) {
        add_options(o, &key);
        done = make_subfolder(c, &key);
    }
    buffer_clear(&key);
    return done;
}

static void
take_room(struct prefix_cache *c, uint64_t size)
{
    c->room = c->most > size ? c->most - size : 0;
    c->written = 0;
}

void
prefix_cache_prepare(const struct engine_options *o)
{
    const char *folder = choose_folder(o);
    struct prefix_cache *c;
    char *real;

    if (!folder)
        return;
    make_folder(folder);
    real = realpath(folder, NULL);
    if (!real)
        cli_die("%s: %s", folder, strerror(errno));
    c = cli_alloc(NULL, 1, sizeof(*c));
    *c = (struct prefix_cache){ .folder = real,
                                .most = o->prefixes.bytes,
                                .quiet = o->quiet };
    if (!prepare(c, o)) {
        prefix_cache_free(c);
        return; /* who opens the model hears why */
    }
    take_room(c, prefix_trim(c->folder, c->most));
    sandbox_add(c->subfolder, SANDBOX_STORE);
    sandbox_add(c->folder, SANDBOX_CACHE);
    prepared = c;
}

struct prefix_cache *
prefix_cache_take(void)
{
    struct prefix_cache *c = prepared;

    prepared = NULL;
    return c;
}

void
prefix_cache_free(struct prefix_cache *c)
{
    if (!c)
        return;
    prefix_files_clear(&c->files);
    free(c->folder);
    free(c->subfolder);
    free(c);
}

/* ---- use ----------------------------------------------------------------- */

/* The process outside counts anew: others write, too. */
static void
trim_outside(struct prefix_cache *c)
{
    uint64_t kib = c->most >> 10;

    (void)outside_do(OUTSIDE_TRIM, c->folder,
                     kib > INT32_MAX ? INT32_MAX : (int)kib);
    take_room(c, c->most - c->most / 8);
}

static void
on_stored(void *data, uint64_t bytes, const char *why_not)
{
    struct prefix_cache *c = data;

    if (why_not)
        warn_off(c->quiet, why_not);
    c->n_written += bytes > 0;
    c->written += bytes;
    if (c->written > c->room)
        trim_outside(c);
}

void
prefix_cache_open(struct prefix_cache *c, struct gg_engine *engine)
{
    struct gg_prefix_params p = { .folder = c->subfolder,
                                  .key = c->key,
                                  .n_key = sizeof(c->key),
                                  .stored = on_stored,
                                  .data = c };
    struct gg_error err;
    enum gg_status st;

    if (!prefix_files_same(&c->files)) {
        warn_off(c->quiet, "files of the model are being changed");
        return;
    }
    st = gg_engine_cache_prefixes(engine, &p, &err);
    if (st == GG_ERR_UNSUPPORTED)
        warn_off(c->quiet, err.message);
    else
        cli_check(st, &err);
}

void
prefix_cache_describe(const struct prefix_cache *c,
                      const struct gg_engine *engine)
{
    cli_warn("cache of prefixes: %llu ids read, %llu pieces written",
             (unsigned long long)gg_engine_cached(engine),
             (unsigned long long)c->n_written);
}
