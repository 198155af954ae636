/* jobs.c - the same work for many tensors, by several threads */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct shared {
    void (*work)(void *data, int64_t i);
    void *data;
    int64_t n, next; /* the lock's, as is */
    bool *finished;  /* one for each */
    pthread_mutex_t lock;
    pthread_cond_t done;
};

static void *
run(void *arg)
{
    struct shared *s = arg;

    pthread_mutex_lock(&s->lock);
    while (s->next < s->n) {
        int64_t i = s->next++;

        pthread_mutex_unlock(&s->lock);
        s->work(s->data, i);
        pthread_mutex_lock(&s->lock);
        s->finished[i] = true;
        pthread_cond_signal(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void
await(struct shared *s, int64_t i)
{
    pthread_mutex_lock(&s->lock);
    while (!s->finished[i])
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void
run_threads(struct shared *s, int n_threads,
            void (*done)(void *data, int64_t i))
{
    pthread_t *threads = cli_alloc(NULL, (size_t)n_threads, sizeof(*threads));

    s->finished = cli_alloc(NULL, (size_t)s->n, sizeof(*s->finished));
    memset(s->finished, 0, (size_t)s->n * sizeof(*s->finished));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->done, NULL);
    for (int i = 0; i < n_threads; i++)
        if (cli_start_thread(&threads[i], run, s))
            cli_die("no thread could be started");
    for (int64_t i = 0; i < s->n; i++) {
        await(s, i);
        done(s->data, i);
    }
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    free(s->finished);
    free(threads);
}

void
jobs_run(int n_threads, int64_t n, void (*work)(void *data, int64_t i),
         void (*done)(void *data, int64_t i), void *data)
{
    struct shared s = { .work = work, .data = data, .n = n };

    if (n_threads == 0)
        n_threads = gg_default_threads();
    if (n_threads > n)
        n_threads = (int)n;
    if (n_threads > 1) {
        run_threads(&s, n_threads, done);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        work(data, i);
        done(data, i);
    }
}
