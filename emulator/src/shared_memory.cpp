#include "shared_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace emulator {
namespace {

constexpr size_t kAlignment = 1024;

uint8_t* align(uint8_t* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return pointer + (kAlignment - address % kAlignment) % kAlignment;
}

}  // namespace

SharedMemory::SharedMemory(size_t bytes)
    : memory_(new uint8_t[bytes + kAlignment]),
      data_(align(memory_.get())),
      size_(static_cast<uint32_t>(bytes)),
      chunks_(bytes / kChunk + 1, kUntouched),
      regions_(1) {
  std::memset(data_, 0xff, size_);
  regions_[0].end = size_;
}

bool SharedMemory::contains(const void* pointer, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto begin = reinterpret_cast<uintptr_t>(data_);
  return address >= begin && address + bytes <= begin + size_;
}

uint32_t SharedMemory::offset(const void* pointer) const {
  return static_cast<uint32_t>(static_cast<const uint8_t*>(pointer) - data_);
}

void SharedMemory::begin_write(uint32_t offset, uint32_t bytes) {
  std::memset(data_ + offset, 0xff, bytes);
  std::memset(&chunks_[offset / kChunk], kInFlight, bytes / kChunk);
}

void SharedMemory::end_write(uint32_t offset, uint32_t bytes) {
  std::memset(&chunks_[offset / kChunk], kWritten, bytes / kChunk);
}

bool SharedMemory::is_poisoned(uint32_t offset) const {
  const uint8_t state = chunks_[offset / kChunk];
  if (state != kUntouched) return state == kInFlight;
  // Plain stores leave no other trace than the bytes.
  static const std::vector<uint8_t> poison(kChunk, 0xff);
  return std::memcmp(data_ + offset, poison.data(), kChunk) == 0;
}

size_t SharedMemory::cut(uint32_t offset) {
  const auto found =
      std::upper_bound(regions_.begin(), regions_.end(), offset,
                       [](uint32_t byte, const Region& region) { return byte < region.end; });
  const auto i = static_cast<size_t>(found - regions_.begin());
  if (i == regions_.size() || regions_[i].begin == offset) return i;
  Region first = regions_[i];
  first.end = offset;
  regions_[i].begin = offset;
  regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(i), std::move(first));
  return i + 1;
}

void SharedMemory::split(uint32_t offset) {
  constexpr uint32_t kSplit = 1024;
  const auto found =
      std::upper_bound(regions_.begin(), regions_.end(), offset,
                       [](uint32_t byte, const Region& region) { return byte < region.end; });
  const uint32_t begin = std::max(found->begin, offset / kSplit * kSplit);
  const uint32_t end = std::min(found->end, offset / kSplit * kSplit + kSplit);
  if (end - begin <= 2 * kChunk) return;
  const size_t first = cut(begin);
  cut(end);
  std::vector<Region> pieces;
  for (uint32_t byte = begin; byte < end;) {
    Region piece = regions_[first];
    piece.begin = byte;
    byte = std::min(end, (byte / kChunk + 1) * kChunk);
    piece.end = byte;
    pieces.push_back(std::move(piece));
  }
  regions_[first] = pieces.back();
  pieces.pop_back();
  regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(first),
                  std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
}

SharedMemory::Range SharedMemory::regions(uint32_t begin, uint32_t end) {
  const size_t first = cut(begin);
  const size_t last = cut(end);
  return {regions_.data() + first, regions_.data() + last};
}

void SharedMemory::record_write(uint32_t begin, uint32_t end, const Access& write) {
  const Range range = regions(begin, end);
  Region& region = *range.first;
  region.end = end;
  region.write = write;
  region.reads.clear();
  regions_.erase(regions_.begin() + (range.first + 1 - regions_.data()),
                 regions_.begin() + (range.last - regions_.data()));
  const auto index = static_cast<size_t>(range.first - regions_.data());
  merge_with_next(index);
  if (index > 0) merge_with_next(index - 1);
}

// stmatrix writes 16 bytes at a time. Writes of one warp with no fence between them are published
// together, so neighbours can be one region.
void SharedMemory::merge_with_next(size_t index) {
  if (index + 1 >= regions_.size()) return;
  Region& region = regions_[index];
  const Region& next = regions_[index + 1];
  const bool alike = region.write.kind == AccessKind::kStoreMatrix &&
                     next.write.kind == AccessKind::kStoreMatrix &&
                     region.write.component == next.write.component &&
                     region.write.number == next.write.number && region.reads.empty() &&
                     next.reads.empty();
  if (!alike) return;
  region.end = next.end;
  region.write.value = std::max(region.write.value, next.write.value);
  regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
}

void SharedMemory::record_read(Region* region, const Access& read) {
  for (Access& known : region->reads) {
    if (known.component == read.component) {
      known = read;
      return;
    }
  }
  region->reads.push_back(read);
}

}  // namespace emulator
