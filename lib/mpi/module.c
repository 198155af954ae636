/* module.c - MPI as what carries a pipeline's bytes: one module a library
 *
 * Libraries of MPI wait in a loop that takes a processor each, which is wanted
 * where ranks share one: here they are asked now and then, more and more
 * rarely. Most move bytes only while somebody is in a call of theirs: as long
 * as there is anything on its way, a thread is. */
#include <config.h>

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline/transport.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const char *const gg_mpi_name, *const gg_mpi_version;
EXPORT transport_join_t gg_mpi_join;

const char *const gg_mpi_name = GG_MPI_NAME;
const char *const gg_mpi_version = PACKAGE_VERSION;

enum {
    PIECE = 1 << 30,      /* bytes: MPI counts in int */
    SPINS = 200,          /* before it sleeps */
    LEAST_SLEEP = 20000,  /* ns */
    MOST_SLEEP = 1000000, /* ns */
    LATE = 64,            /* a part of the time that was waited */
};

/* A message that was sent and has not arrived. */
struct parcel {
    struct parcel *next;
    MPI_Request request;
    char bytes[];
};

static struct {
    struct pipeline_transport transport;
    pthread_mutex_t lock; /* of all that follows, and of MPI */
    pthread_cond_t sent;
    pthread_t thread;
    struct parcel *parcels;
    bool ends;
} mpi = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .sent = PTHREAD_COND_INITIALIZER,
};

/* ---- waiting ------------------------------------------------------------- */

struct patience {
    int spins;
    int64_t waited; /* ns of sleep */
};

/* Longer each time, so that what comes is found late by a small part of the
 * time that it took. */
static void
wait_longer(struct patience *p)
{
    struct timespec t = { 0, p->waited / LATE };

    if (p->spins++ < SPINS) {
        sched_yield();
        return;
    }
    t.tv_nsec = t.tv_nsec > LEAST_SLEEP ? t.tv_nsec : LEAST_SLEEP;
    t.tv_nsec = t.tv_nsec < MOST_SLEEP ? t.tv_nsec : MOST_SLEEP;
    nanosleep(&t, NULL);
    p->waited += t.tv_nsec;
}

/* ---- errors ----------------------------------------------------------------
 */

/* Returns false. */
static bool
say_failed(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    MPI_Error_string(code, text, &n);
    text[strcspn(text, "\n")] = '\0';
    snprintf(mpi.transport.error, sizeof(mpi.transport.error), "%s: %.200s",
             what, text);
    return false;
}

/* ---- sending ---------------------------------------------------------------
 */

/* Lets go of what has arrived; false: MPI has failed. The caller has the lock.
 */
static bool
look_after_parcels(void)
{
    struct parcel **at = &mpi.parcels;

    while (*at) {
        struct parcel *p = *at;
        int done = 0, code = MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);

        if (code != MPI_SUCCESS)
            return say_failed(code, "sending");
        if (done) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
    return true;
}

static void *
keep_moving(void *unused)
{
    struct timespec t = { 0, LEAST_SLEEP * 5 };
    bool works = true;

    pthread_mutex_lock(&mpi.lock);
    while (!mpi.ends && works) {
        if (!mpi.parcels) {
            pthread_cond_wait(&mpi.sent, &mpi.lock);
            continue;
        }
        works = look_after_parcels();
        pthread_mutex_unlock(&mpi.lock);
        nanosleep(&t, NULL);
        pthread_mutex_lock(&mpi.lock);
    }
    pthread_mutex_unlock(&mpi.lock);
    return unused;
}

static bool
send_piece(int to, int tag, const void *bytes, size_t n)
{
    struct parcel *p = malloc(sizeof(*p) + n), **end = &mpi.parcels;
    int code;

    if (!p) {
        snprintf(mpi.transport.error, sizeof(mpi.transport.error),
                 "out of memory");
        return false;
    }
    memcpy(p->bytes, bytes, n);
    p->next = NULL;
    code = MPI_Isend(p->bytes, (int)n, MPI_BYTE, to, tag, MPI_COMM_WORLD,
                     &p->request);
    if (code != MPI_SUCCESS) {
        free(p);
        return say_failed(code, "sending");
    }
    while (*end)
        end = &(*end)->next;
    *end = p;
    return true;
}

static bool
send(struct pipeline_transport *t, int32_t to, enum transport_tag tag,
     const void *bytes, size_t n)
{
    const char *from = bytes;
    bool done = true;

    (void)t;
    pthread_mutex_lock(&mpi.lock);
    for (size_t at = 0, some; done && (at < n || n == 0); at += some) {
        some = n - at < PIECE ? n - at : PIECE;
        done = send_piece(to, (int)tag, from + at, some);
        if (n == 0)
            break;
    }
    done = done && look_after_parcels();
    pthread_cond_signal(&mpi.sent);
    pthread_mutex_unlock(&mpi.lock);
    return done;
}

/* ---- receiving -------------------------------------------------------------
 */

static bool
check_count(MPI_Status *status, size_t n)
{
    int got = 0;

    MPI_Get_count(status, MPI_BYTE, &got);
    if (got >= 0 && (size_t)got == n)
        return true;
    snprintf(mpi.transport.error, sizeof(mpi.transport.error),
             "%d bytes came where %zu were to come", got, n);
    return false;
}

static bool
receive_piece(int from, int tag, void *bytes, size_t n)
{
    struct patience patience = { 0, 0 };
    MPI_Request request;
    MPI_Status status;
    int done = 0, code;

    pthread_mutex_lock(&mpi.lock);
    code =
        MPI_Irecv(bytes, (int)n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    while (code == MPI_SUCCESS && !done) {
        code = MPI_Test(&request, &done, &status);
        if (done || code != MPI_SUCCESS)
            break;
        pthread_mutex_unlock(&mpi.lock);
        wait_longer(&patience);
        pthread_mutex_lock(&mpi.lock);
    }
    pthread_mutex_unlock(&mpi.lock);
    return code == MPI_SUCCESS ? check_count(&status, n)
                               : say_failed(code, "receiving");
}

static bool
receive(struct pipeline_transport *t, int32_t from, enum transport_tag tag,
        void *bytes, size_t n)
{
    char *to = bytes;
    bool done = true;

    (void)t;
    for (size_t at = 0, some; done && (at < n || n == 0); at += some) {
        some = n - at < PIECE ? n - at : PIECE;
        done = receive_piece(from, (int)tag, to + at, some);
        if (n == 0)
            break;
    }
    return done;
}

/* ---- the job ----------------------------------------------------------------
 */

static void
leave(struct pipeline_transport *t, bool failed)
{
    struct patience patience = { 0, 0 };
    bool works = true;

    (void)t;
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (works && mpi.parcels) {
        pthread_mutex_lock(&mpi.lock);
        works = look_after_parcels();
        pthread_mutex_unlock(&mpi.lock);
        wait_longer(&patience);
    }
    pthread_mutex_lock(&mpi.lock);
    mpi.ends = true;
    pthread_cond_signal(&mpi.sent);
    pthread_mutex_unlock(&mpi.lock);
    pthread_join(mpi.thread, NULL);
    MPI_Finalize();
}

static int
count_local(int *rank)
{
    MPI_Comm local;
    int n = 1;

    *rank = 0;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &local) != MPI_SUCCESS)
        return 1;
    MPI_Comm_size(local, &n);
    MPI_Comm_rank(local, rank);
    MPI_Comm_free(&local);
    return n > 0 ? n : 1;
}

struct pipeline_transport *
gg_mpi_join(char *why, size_t size)
{
    struct pipeline_transport *t = &mpi.transport;
    int have = 0, rank = 0, n = 1, local = 0, n_local, code;

    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &have);
    if (code != MPI_SUCCESS || have < MPI_THREAD_SERIALIZED) {
        snprintf(why, size, "it could not be started with threads");
        return NULL;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (pthread_create(&mpi.thread, NULL, keep_moving, NULL)) {
        snprintf(why, size, "a thread could not be started");
        return NULL;
    }
    n_local = count_local(&local);
    *t = (struct pipeline_transport){
        .version = TRANSPORT_VERSION,
        .rank = rank,
        .size = n,
        .n_local = n_local,
        .local = local,
        .send = send,
        .receive = receive,
        .leave = leave,
    };
    return t;
}
