/* peers.c - failures of a device, and the devices that it reaches */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"

bool
cuda_check(struct cuda_device *device, enum cuda_status status,
           const char *what)
{
    if (status == CUDA_OK)
        return true;
    pthread_mutex_lock(&device->lock);
    if (!device->error[0])
        snprintf(device->error, sizeof(device->error), "%s: %s: %s",
                 device->name, what, cuda_error());
    pthread_mutex_unlock(&device->lock);
    return false;
}

const char *
cuda_device_error(struct cuda_device *device)
{
    bool failed;

    pthread_mutex_lock(&device->lock);
    failed = device->error[0] != '\0';
    pthread_mutex_unlock(&device->lock);
    return failed ? device->error : NULL;
}

bool
cuda_device_reaches(struct cuda_device *from, struct cuda_device *to)
{
    const char *peer = getenv("GG_CUDA_PEER");
    uint32_t bit = (uint32_t)1 << from->number;

    if (from == to)
        return true;
    if (peer && !strcmp(peer, "0"))
        return false;
    pthread_mutex_lock(&to->lock);
    if (!(to->peers & bit))
        cuda_open_peer(to->number, from->number);
    to->peers |= bit;
    pthread_mutex_unlock(&to->lock);
    return true;
}
