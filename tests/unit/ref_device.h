/* ref_device.h - "REF": the CPU with its reference kernels as a device of its
 * own, whose memory the scheduler must copy to and from */
#ifndef TEST_REF_DEVICE_H
#define TEST_REF_DEVICE_H

#include <ggml-backend.h>

/* Its one device; to be registered by the test. */
ggml_backend_reg_t
ref_device_reg(void);

#endif
