// A plain store to global memory. (The emulator has a file of this name: its store is seen by the
// check for data races.)
#pragma once

// *address = value. Any thread.
template <class T>
__device__ __forceinline__ void store_global(T* address, const T& value) {
  *address = value;
}
