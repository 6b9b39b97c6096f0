// The WGMMA-only ceiling: how long the tensor cores need for a problem's arithmetic alone.
#pragma once

#include <matmul.h>
#include <status.h>

namespace harness {

// As many WGMMAs (m64n256k16, two warp groups on each of `sms` multiprocessors) as the problem
// needs, on values from the first rows of A and B. Computes nothing. Asynchronous, on the default
// stream.
Status wgmma_ceiling(const MatmulArguments& args, int sms);

}  // namespace harness
