/* load.h - the module that knows the MPI library of the launcher */
#ifndef MPI_LOAD_H
#define MPI_LOAD_H

#include "core/error.h"
#include "pipeline/transport.h"

/* Loads it and takes part in the job: as gg_pipeline_join() says of `module`.
 * *out lives as long as the process. */
enum gg_status
mpi_join(const char *module, struct pipeline_transport **out,
         struct gg_error *err);

#endif
