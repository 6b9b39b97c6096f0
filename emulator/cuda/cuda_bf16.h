// In the place of a header of CUDA that the emulator does not have.
#error "the emulator lacks bfloat16: the kernels here take fp16 (cuda_fp16.h)"
