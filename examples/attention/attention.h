// softmax(Q · Kᵀ / √d) · V.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <status.h>

// Q, K, V and the output are [heads][length][head_dim], packed fp16 in device memory, 16-byte
// aligned. Any length; head_dim is 64 or 128. Asynchronous, on the stream.
struct AttentionArguments {
  const half* q;
  const half* k;
  const half* v;
  half* out;
  int heads;
  int length;
  int head_dim;
};

Status attention(const AttentionArguments& args, cudaStream_t stream);
