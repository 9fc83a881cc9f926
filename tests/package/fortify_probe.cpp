// Copies into memory whose size only the running program knows: _FORTIFY_SOURCE=3 checks such a copy, and 2 does not.
#include <cstddef>
#include <cstdlib>
#include <cstring>

void* copy_into(std::size_t room, const char* bytes, std::size_t size);

void* copy_into(std::size_t room, const char* bytes, std::size_t size) {
  void* const memory = std::malloc(room);
  if (memory) std::memcpy(memory, bytes, size);
  return memory;
}
