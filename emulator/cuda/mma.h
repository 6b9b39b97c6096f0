// In the place of a header of CUDA that the emulator does not have.
#error "the emulator lacks wmma: use the WGMMAs of common/ptx"
