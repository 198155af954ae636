/* isa.h - what GG_CPU_ISA may ask for */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include "core/error.h"

/* GG_ERR_ARG: it is none of the sets of instructions that are built, and the
 * best of them is taken. */
enum gg_status
cpu_isa_check(struct gg_error *err);

#endif
