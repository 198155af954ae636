/* pool.c - jobs done by several threads, and taken back in their order */
#include <config.h>

#include "gg-tokenize/pool.h"

#include <pthread.h>
#include <stdlib.h>

struct pool {
    const struct gg_vocab *vocab;
    const struct tokenize_options *options;
    void (*take)(void *arg, struct job *job);
    void *arg;

    /* A ring: job number i is jobs[i % n_jobs]. */
    struct job *jobs;
    size_t n_jobs;
    uint64_t submitted, begun, taken; /* how many of them; the lock's */

    pthread_t *threads;
    int n_threads; /* that run: they begin with the first job for them */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
};

static struct job *
at(const struct pool *p, uint64_t i)
{
    return &p->jobs[i % p->n_jobs];
}

static void *
work(void *arg)
{
    struct pool *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct job *job;

        while (p->begun == p->submitted && !p->stop)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->stop)
            break;
        job = at(p, p->begun++);
        pthread_mutex_unlock(&p->lock);
        job_run(job, p->vocab, p->options);
        pthread_mutex_lock(&p->lock);
        job->done = true;
        pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *
pool_new(const struct gg_vocab *vocab, const struct tokenize_options *options,
         void (*take)(void *arg, struct job *job), void *arg)
{
    struct pool *p = cli_alloc(NULL, 1, sizeof(*p));
    size_t threads = (size_t)options->threads;

    *p = (struct pool){
        .vocab = vocab, .options = options, .take = take, .arg = arg
    };
    p->n_jobs = threads > 1 ? 2 * threads : 1;
    p->jobs = cli_alloc(NULL, p->n_jobs, sizeof(*p->jobs));
    memset(p->jobs, 0, p->n_jobs * sizeof(*p->jobs));
    p->threads = cli_alloc(NULL, threads, sizeof(*p->threads));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    return p;
}

/* False: there is no thread, and none to be had. */
static bool
begin_threads(struct pool *p)
{
    while (p->n_threads < p->options->threads &&
           cli_start_thread(&p->threads[p->n_threads], work, p) == 0)
        p->n_threads++;
    return p->n_threads > 0;
}

static void
take_oldest(struct pool *p)
{
    struct job *job = at(p, p->taken);

    pthread_mutex_lock(&p->lock);
    while (!job->done)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->take(p->arg, job);
    p->taken++;
}

struct job *
pool_next(struct pool *p)
{
    if (p->submitted - p->taken == p->n_jobs)
        take_oldest(p);
    return at(p, p->submitted);
}

void
pool_submit(struct pool *p, bool alone)
{
    struct job *job = at(p, p->submitted);
    bool here = p->options->threads == 1 ||
                (alone && p->taken == p->submitted) || !begin_threads(p);

    job->done = here;
    if (here)
        job_run(job, p->vocab, p->options);
    pthread_mutex_lock(&p->lock);
    p->submitted++;
    p->begun += here;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    if (here)
        pool_wait(p);
}

void
pool_wait(struct pool *p)
{
    while (p->taken < p->submitted)
        take_oldest(p);
}

void
pool_free(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    while (p->n_threads > 0)
        pthread_join(p->threads[--p->n_threads], NULL);
    for (size_t i = 0; i < p->n_jobs; i++)
        job_clear(&p->jobs[i]);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p->jobs);
    free(p);
}
