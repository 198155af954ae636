/* options.h - the command line of gg-generate */
#ifndef GENERATE_OPTIONS_H
#define GENERATE_OPTIONS_H

#include "gg-generate/generate.h"

extern const struct cli_option generate_rows[];

/* Fills *o in, or ends the tool. */
void
generate_parse(int argc, char **argv, struct options *o);

/* Ends the tool where a part of a job would not draw what another run of it
 * does. `has_file`: what the model's file says of sampling is in `o`. */
void
generate_check_shard(const struct options *o, bool has_file);

#endif
