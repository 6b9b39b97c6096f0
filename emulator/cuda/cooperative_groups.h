// In the place of a header of CUDA that the emulator does not have.
#error "the emulator lacks cooperative groups: use the *_sync functions and __syncthreads()"
