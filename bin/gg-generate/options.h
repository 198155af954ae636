/* options.h - the command line of gg-generate */
#ifndef GENERATE_OPTIONS_H
#define GENERATE_OPTIONS_H

#include "gg-generate/generate.h"

extern const struct cli_option generate_rows[];

/* Fills *o in, or ends the tool. */
void
generate_parse(int argc, char **argv, struct options *o);

#endif
