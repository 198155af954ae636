/* load.c - the module that knows the MPI library of the launcher
 *
 * Libraries of MPI have interfaces of one source and of many binaries: there is
 * a module for each that was found when this was built, next to the library.
 * Processes that are started by one and speak another's would each believe to
 * be alone, and so that is refused. */
#include <config.h>

#include "mpi/load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/module.h"

/* Variables that launchers leave in the environment, the surest first. */
static const struct launcher {
    const char *size; /* the number of processes */
    const char *mpi;  /* whose it is; NULL: any's */
} launchers[] = {
    { "OMPI_COMM_WORLD_SIZE", "openmpi" },
    { "MPI_LOCALNRANKS", "mpich" },
    { "PMI_SIZE", NULL },
    { "SLURM_NTASKS", NULL },
};

static const struct launcher *
find_launcher(void)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
        if (getenv(launchers[i].size))
            return &launchers[i];
    return NULL;
}

/* The MPI of a launcher that names none: PMIx is what Open MPI speaks, PMI what
 * MPICH does. */
static const char *
likely_mpi(const struct launcher *l)
{
    if (l->mpi)
        return l->mpi;
    return getenv("PMIX_RANK") ? "openmpi" : "mpich";
}

static enum gg_status
find_path(const char *module, char *path, size_t size, struct gg_error *err)
{
    char name[128];

    if (strchr(module, '/')) {
        snprintf(path, size, "%s", module);
    } else if (strlen(module) > 32) {
        return error_set(err, GG_ERR_ARG, "no module for the MPI '%.32s...'",
                         module);
    } else {
        snprintf(name, sizeof(name), "gg-mpi-%s-" PACKAGE_VERSION ".so",
                 module);
        if (!module_next_to_library(name, path, size))
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "this build has no module for the MPI '%s': %s",
                             module, name);
    }
    if (access(path, R_OK) == 0)
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "GG_MPI_MODULE: %.256s cannot be read",
                     path);
}

/* A module of the launcher's MPI, and of this version. */
static enum gg_status
check_module(void *library, const char *path, const struct launcher *l,
             struct gg_error *err)
{
    const char *const *mpi, *const *version;

    *(const void **)&mpi = module_symbol(library, "gg_mpi_name");
    *(const void **)&version = module_symbol(library, "gg_mpi_version");
    if (!mpi || !version)
        return error_set(err, GG_ERR_FORMAT, "%.256s: is no module for MPI",
                         path);
    if (strcmp(*version, PACKAGE_VERSION))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%.256s: is of version %.32s, not " PACKAGE_VERSION,
                         path, *version);
    if (l->mpi && strcmp(*mpi, l->mpi))
        return error_set(err, GG_ERR_ARG,
                         "the module is for the MPI %.32s, but the launcher is "
                         "that of %s: each process would be alone",
                         *mpi, l->mpi);
    return GG_OK;
}

static enum gg_status
join(void *library, const struct launcher *l, struct pipeline_transport **out,
     struct gg_error *err)
{
    transport_join_t *start;
    struct pipeline_transport *t;
    char why[256] = "it has no gg_mpi_join";
    long size = atol(getenv(l->size));

    *(void **)&start = module_symbol(library, "gg_mpi_join");
    t = start ? start(why, sizeof(why)) : NULL;
    if (!t || t->version != TRANSPORT_VERSION)
        return error_set(err, GG_ERR_IO, "MPI: %s", why);
    if (t->size != size)
        return error_set(err, GG_ERR_IO,
                         "MPI knows %d ranks, but the launcher started %ld: "
                         "they are of two kinds",
                         (int)t->size, size);
    *out = t;
    return GG_OK;
}

enum gg_status
mpi_join(const char *module, struct pipeline_transport **out,
         struct gg_error *err)
{
    const struct launcher *l = find_launcher();
    const char *given = module_named_by("GG_MPI_MODULE");
    char path[PATH_MAX], why[256];
    void *library;
    enum gg_status st;

    if (!l)
        return error_set(err, GG_ERR_ARG,
                         "no launcher of MPI: start it by mpirun, mpiexec or "
                         "srun");
    if (!module)
        module = given ? given : likely_mpi(l);
    st = find_path(module, path, sizeof(path), err);
    if (st != GG_OK)
        return st;
    /* its own modules want its symbols */
    library = module_open(path, true, why, sizeof(why));
    if (!library)
        return error_set(err, GG_ERR_IO, "%s", why);
    st = check_module(library, path, l, err);
    return st == GG_OK ? join(library, l, out, err) : st;
}
