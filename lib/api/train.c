/* train.c - training of a model file */
#include <gg-train.h>

#include "api/device.h"
#include "api/file.h"
#include "core/mem.h"
#include "session/model.h"
#include "train/train.h"
#include "vocab/vocab.h"

struct gg_train {
    struct gguf_file file;
    struct gg_vocab *vocab;
    struct model *model;
    struct train_run *run;
};

static enum gg_status
open_all(struct gg_train *t, const char *path,
         const struct gg_train_params *params, struct gg_error *err)
{
    static const struct gg_model_params plain;
    struct model_devices device;
    struct model_files files = { .file = &t->file };
    const char *note;
    enum gg_status st = api_devices_find("cpu", &device, &note, err);

    if (st == GG_OK)
        st = api_open(path, GGUF_OPEN_ALL, &t->file, NULL, err);
    if (st == GG_OK)
        st = api_check_model(t->file.gguf, err);
    if (st == GG_OK)
        st = session_load_model(&files, &device, &plain, &t->model, err);
    if (st == GG_OK)
        st = vocab_load_or_textless(t->file.gguf, t->model->hp.n_vocab,
                                    &t->vocab, err);
    if (st == GG_OK)
        st = train_run_new(t->model, params, &t->run, err);
    return st;
}

enum gg_status
gg_train_open(const char *path, const struct gg_train_params *params,
              struct gg_train **out, struct gg_error *err)
{
    static const struct gg_train_params defaults;
    struct gg_train *t;
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    t = mem_zalloc(sizeof(*t));
    st = t ? open_all(t, path, params ? params : &defaults, err)
           : error_nomem(err);
    if (st == GG_OK)
        *out = t;
    else
        gg_train_free(t);
    return st;
}

void
gg_train_free(struct gg_train *train)
{
    if (!train)
        return;
    train_run_free(train->run);
    session_free_model(train->model);
    gg_vocab_free(train->vocab);
    gguf_file_close(&train->file);
    mem_free(train);
}

const struct gg_vocab *
gg_train_vocab(const struct gg_train *train)
{
    return train ? train->vocab : NULL;
}

enum gg_status
gg_train_add(struct gg_train *train, enum gg_train_part part,
             const int32_t *ids, const bool *counts, size_t n,
             struct gg_error *err)
{
    if (!train || (!ids && n))
        return error_null(err);
    return train_run_add(train->run, part, ids, counts, n, err);
}

enum gg_status
gg_train_start(struct gg_train *train, struct gg_error *err)
{
    return train ? train_run_start(train->run, err) : error_null(err);
}

struct gg_train_memory
gg_train_memory(const struct gg_train *train)
{
    static const struct gg_train_memory none;

    return train ? train_run_memory(train->run) : none;
}

struct gg_train_state
gg_train_state(const struct gg_train *train)
{
    struct gg_train_state s = { 0 };

    if (train) {
        s.step = (int64_t)train->run->place.step;
        s.n_steps = train->run->n_steps;
        s.n_targets = train->run->place.n_targets;
        s.epoch = train->run->place.epoch;
    }
    return s;
}

enum gg_status
gg_train_step(struct gg_train *train, struct gg_train_report *report,
              struct gg_error *err)
{
    if (!train || !report)
        return error_null(err);
    return train_run_step(train->run, report, err);
}

enum gg_status
gg_train_evaluate(struct gg_train *train, double *loss, uint64_t *n_targets,
                  struct gg_error *err)
{
    if (!train || !loss || !n_targets)
        return error_null(err);
    return train_run_evaluate(train->run, loss, n_targets, err);
}

enum gg_status
gg_train_save(const struct gg_train *train, const char *path,
              struct gg_error *err)
{
    if (!train || !path)
        return error_null(err);
    return train_run_save(train->run, path, err);
}

enum gg_status
gg_train_write_checkpoint(const struct gg_train *train, FILE *file,
                          struct gg_error *err)
{
    if (!train || !file)
        return error_null(err);
    return train_run_write_checkpoint(train->run, file, err);
}

enum gg_status
gg_train_load(struct gg_train *train, const char *path, struct gg_error *err)
{
    if (!train || !path)
        return error_null(err);
    return train_run_load(train->run, path, err);
}

enum gg_status
gg_train_write(const struct gg_train *train, FILE *file, struct gg_error *err)
{
    if (!train || !file)
        return error_null(err);
    return train_run_write(train->run, file, err);
}
