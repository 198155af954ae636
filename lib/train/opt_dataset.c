/* opt_dataset.c - data sets of ggml-opt.h: points and labels, in shards */
#include <string.h>

#include "core/mem.h"
#include "train/opt.h"

struct ggml_opt_dataset {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *data, *labels;
    int64_t ndata, ndata_shard, n_shards;
    size_t data_bytes, label_bytes; /* of a shard */
    int64_t *order;                 /* shards, as they are read */
};

ggml_opt_dataset_t
ggml_opt_dataset_init(enum ggml_type type_data, enum ggml_type type_label,
                      int64_t ne_datapoint, int64_t ne_label, int64_t ndata,
                      int64_t ndata_shard)
{
    struct ggml_opt_dataset *d = mem_zalloc(sizeof(*d));

    GGML_ASSERT(d && ne_datapoint > 0 && ne_label >= 0);
    GGML_ASSERT(ndata > 0 && ndata_shard > 0);
    d->ndata = ndata;
    d->ndata_shard = ndata_shard;
    d->n_shards = ndata / ndata_shard;
    d->ctx = train_opt_new_context(2);
    d->data = ggml_new_tensor_2d(d->ctx, type_data, ne_datapoint, ndata);
    d->data_bytes = (size_t)ndata_shard * d->data->nb[1];
    if (ne_label > 0) {
        d->labels = ggml_new_tensor_2d(d->ctx, type_label, ne_label, ndata);
        d->label_bytes = (size_t)ndata_shard * d->labels->nb[1];
    }
    d->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        d->ctx, ggml_backend_cpu_buffer_type());
    d->order = mem_array((size_t)d->n_shards, sizeof(*d->order));
    GGML_ASSERT(d->buffer && (d->order || d->n_shards == 0));
    for (int64_t i = 0; i < d->n_shards; i++)
        d->order[i] = i;
    return d;
}

void
ggml_opt_dataset_free(ggml_opt_dataset_t dataset)
{
    if (!dataset)
        return;
    ggml_backend_buffer_free(dataset->buffer);
    ggml_free(dataset->ctx);
    mem_free(dataset->order);
    mem_free(dataset);
}

int64_t
ggml_opt_dataset_ndata(ggml_opt_dataset_t dataset)
{
    return dataset->ndata;
}

struct ggml_tensor *
ggml_opt_dataset_data(ggml_opt_dataset_t dataset)
{
    return dataset->data;
}

struct ggml_tensor *
ggml_opt_dataset_labels(ggml_opt_dataset_t dataset)
{
    return dataset->labels;
}

/* Fisher and Yates. */
void
ggml_opt_dataset_shuffle(ggml_opt_context_t opt_ctx, ggml_opt_dataset_t dataset,
                         int64_t idata)
{
    int64_t n = dataset->n_shards, *order = dataset->order;

    GGML_ASSERT(idata <= dataset->ndata);
    if (idata >= 0) {
        GGML_ASSERT(idata % dataset->ndata_shard == 0);
        n = idata / dataset->ndata_shard;
    }
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)train_opt_draw(opt_ctx, (uint64_t)i + 1);
        int64_t shard = order[i];

        order[i] = order[j];
        order[j] = shard;
    }
}

/* The first of the shards of a batch, whose number is *n. */
static const int64_t *
shards_of_batch(const struct ggml_opt_dataset *d, size_t bytes, int64_t ibatch,
                int64_t *n)
{
    GGML_ASSERT(bytes % d->data_bytes == 0 && ibatch >= 0);
    *n = (int64_t)(bytes / d->data_bytes);
    GGML_ASSERT((ibatch + 1) * *n <= d->n_shards);
    return d->order + ibatch * *n;
}

static const char *
shard_of(const struct ggml_tensor *t, int64_t shard, size_t bytes)
{
    return (const char *)t->data + (size_t)shard * bytes;
}

void
ggml_opt_dataset_get_batch(ggml_opt_dataset_t dataset,
                           struct ggml_tensor *data_batch,
                           struct ggml_tensor *labels_batch, int64_t ibatch)
{
    size_t x = dataset->data_bytes, y = dataset->label_bytes;
    const int64_t *shards;
    int64_t n;

    GGML_ASSERT(ggml_is_contiguous(data_batch));
    GGML_ASSERT(data_batch->type == dataset->data->type);
    GGML_ASSERT(!labels_batch == !dataset->labels);
    shards = shards_of_batch(dataset, ggml_nbytes(data_batch), ibatch, &n);
    if (labels_batch) {
        GGML_ASSERT(ggml_is_contiguous(labels_batch));
        GGML_ASSERT(labels_batch->type == dataset->labels->type);
        GGML_ASSERT(ggml_nbytes(labels_batch) == (size_t)n * y);
    }
    for (int64_t i = 0; i < n; i++) {
        ggml_backend_tensor_set(data_batch,
                                shard_of(dataset->data, shards[i], x),
                                (size_t)i * x, x);
        if (labels_batch)
            ggml_backend_tensor_set(labels_batch,
                                    shard_of(dataset->labels, shards[i], y),
                                    (size_t)i * y, y);
    }
}

void
ggml_opt_dataset_get_batch_host(ggml_opt_dataset_t dataset, void *data_batch,
                                size_t nb_data_batch, void *labels_batch,
                                int64_t ibatch)
{
    size_t x = dataset->data_bytes, y = dataset->label_bytes;
    const int64_t *shards;
    int64_t n;

    GGML_ASSERT(!labels_batch == !dataset->labels);
    shards = shards_of_batch(dataset, nb_data_batch, ibatch, &n);
    for (int64_t i = 0; i < n; i++) {
        memcpy((char *)data_batch + (size_t)i * x,
               shard_of(dataset->data, shards[i], x), x);
        if (labels_batch)
            memcpy((char *)labels_batch + (size_t)i * y,
                   shard_of(dataset->labels, shards[i], y), y);
    }
}
