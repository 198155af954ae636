/* registry.c - fills the registry with the back ends that were built in */
#include "backend/registry.h"

void
api_register_backends(void)
{
}
