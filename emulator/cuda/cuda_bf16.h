// In the place of a header of CUDA that the emulator does not have.
#error "the emulator lacks the type of bfloat16: common/ptx takes it as its 16 bits"
