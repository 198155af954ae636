/* compute_backends.c - the back ends that a model's graphs are computed by */
#include "session/compute.h"

#include <string.h>

#include "backend/impl.h"

void
session_compute_set_up(ggml_backend_t backend, int n_threads,
                       ggml_abort_callback abort, void *abort_data)
{
    void *p = session_compute_extra(backend, "ggml_backend_set_n_threads");
    ggml_backend_set_n_threads_t set_threads;
    ggml_backend_set_abort_callback_t set_abort;

    memcpy(&set_threads, &p, sizeof(p));
    if (set_threads)
        set_threads(backend, n_threads);
    p = session_compute_extra(backend, "ggml_backend_set_abort_callback");
    memcpy(&set_abort, &p, sizeof(p));
    if (set_abort)
        set_abort(backend, abort, abort_data);
}

void
session_compute_profile(struct compute *c, struct backend_profile *profile)
{
    for (int i = 0; i < c->n_backends; i++) {
        void *p = session_compute_extra(c->backends[i], BACKEND_SET_PROFILE);
        backend_set_profile_t set;

        memcpy(&set, &p, sizeof(p));
        if (set)
            set(c->backends[i], profile);
    }
}

static bool
add_backend(struct compute *c, ggml_backend_dev_t dev)
{
    ggml_backend_t b = dev ? ggml_backend_dev_init(dev, NULL) : NULL;

    if (b)
        c->backends[c->n_backends++] = b;
    return b != NULL;
}

int
session_compute_home(const struct compute *c, int i)
{
    return c->n_backends - 1 - i;
}

model_home_set
session_compute_failed(const struct compute *c)
{
    model_home_set failed = 0;

    for (int i = 0; i < c->n_backends; i++) {
        const struct ggml_backend_i *iface = c->backends[i]->iface;

        if (iface->get_error && iface->get_error(c->backends[i]))
            failed |= (model_home_set)1 << session_compute_home(c, i);
    }
    return failed;
}

bool
session_compute_start(struct compute *c)
{
    bool done = true;

    for (int i = c->model->n_homes; i-- > 0 && done;)
        done = add_backend(c, c->model->homes[i].device);
    return done;
}
