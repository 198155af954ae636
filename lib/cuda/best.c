/* best.c - top-k of logits on the device, and their readback */
#include "cuda/backend.h"

enum {
    ROWS_AT_ONCE = 64
};

/* The layout of the results of up to n rows, on device and host: sums, then
 * ids, then values. */
struct results {
    double *sums;
    int32_t *ids;
    float *values;
};

static size_t
scratch_size(int n, int k)
{
    return (size_t)n *
           (sizeof(double) + (size_t)k * (sizeof(int32_t) + sizeof(float)));
}

static struct results
results_at(void *p, int n, int k)
{
    struct results r = { .sums = p };

    r.ids = (int32_t *)(r.sums + n);
    r.values = (float *)(r.ids + (size_t)n * (size_t)k);
    return r;
}

static void
copy_results(const struct results *from, int n, int k,
             struct backend_best_row *rows)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            rows[i].ids[j] = from->ids[(size_t)i * (size_t)k + (size_t)j];
            rows[i].logits[j] = from->values[(size_t)i * (size_t)k + (size_t)j];
        }
    for (int i = 0; i < n; i++)
        rows[i].log_sum_exp = from->sums[i];
}

static bool
find_best(struct cuda *cuda, const struct ggml_tensor *logits, int64_t first,
          int n, int k, void *host)
{
    const char *from =
        (const char *)logits->data + (size_t)first * logits->nb[1];
    size_t size = scratch_size(n, k);
    enum cuda_status st;
    struct results r;
    void *p;

    cuda->ctx.failed = false;
    cuda_pool_reset(&cuda->pool);
    p = cuda_scratch(&cuda->ctx, size);
    if (!p)
        return false;
    r = results_at(p, n, k);
    cuda_best(&cuda->ctx, (const float *)from, logits->ne[0],
              (int64_t)(logits->nb[1] / sizeof(float)), n, k, r.ids, r.values,
              r.sums);
    if (cuda->ctx.failed)
        return false;
    st = cuda_launched();
    if (st == CUDA_OK)
        st = cuda_copy(host, p, size, cuda->ctx.stream);
    if (st == CUDA_OK)
        st = cuda_stream_wait(cuda->ctx.stream);
    return cuda_check(cuda->device, st, "finding the largest logits");
}

/* The readback buffer, pinned, and kept: to allocate it takes longer than all
 * the rest. */
static bool
grow_host(struct cuda *cuda, size_t size)
{
    if (size <= cuda->host_size)
        return true;
    cuda_host_free(cuda->host);
    cuda->host = NULL;
    cuda->host_size = 0;
    if (cuda_host_malloc(size, &cuda->host) != CUDA_OK)
        return false;
    cuda->host_size = size;
    return true;
}

static bool
is_supported(const struct cuda *cuda, const struct ggml_tensor *logits, int k)
{
    ggml_backend_buffer_t buffer =
        logits->view_src ? logits->view_src->buffer : logits->buffer;

    return k >= 1 && k <= CUDA_BEST_MAX && k <= logits->ne[0] &&
           logits->type == GGML_TYPE_F32 && logits->nb[0] == sizeof(float) &&
           cuda_buffer_device(buffer) == cuda->device;
}

bool
cuda_find_best(ggml_backend_t backend, const struct ggml_tensor *logits,
               int64_t first, int n_rows, int k, struct backend_best_row *rows)
{
    struct cuda *cuda = (struct cuda *)backend;
    int most = n_rows < ROWS_AT_ONCE ? n_rows : ROWS_AT_ONCE;

    if (!is_supported(cuda, logits, k) || cuda_device_error(cuda->device) ||
        cuda_use(cuda->device->number) != CUDA_OK ||
        !grow_host(cuda, scratch_size(most, k)))
        return false;
    for (int i = 0; i < n_rows; i += ROWS_AT_ONCE) {
        int n = n_rows - i < ROWS_AT_ONCE ? n_rows - i : ROWS_AT_ONCE;
        struct results r = results_at(cuda->host, n, k);

        if (!find_best(cuda, logits, first + i, n, k, cuda->host))
            return false;
        copy_results(&r, n, k, rows + i);
    }
    return true;
}
