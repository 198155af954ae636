/* sandbox_log.h - refused system calls are told on standard error */
#ifndef COMMON_SANDBOX_LOG_H
#define COMMON_SANDBOX_LOG_H

#include <stdbool.h>

/* From now on SIGSYS of a refused call writes a line, and the call fails with
 * the error that the filter wants. False: not on this processor. */
bool
sandbox_log(void);

#endif
