// A matrix, transposed.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <status.h>

// `to` (columns × rows) = `from` (rows × columns), transposed: packed row-major fp16 in device
// memory, 16-byte aligned. rows and columns are multiples of 8. Asynchronous, on the stream.
Status transpose(const half* from, half* to, int rows, int columns, cudaStream_t stream);
