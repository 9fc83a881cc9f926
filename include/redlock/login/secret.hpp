// Text that must not stay in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {
inline namespace v1 {
namespace detail {

/// Overwrites memory, also where the compiler sees that nobody reads it any more.
inline void wipe(void* begin, std::size_t size) noexcept {
  if (size == 0) return;
  std::memset(begin, 0, size);
  __asm__ __volatile__("" : : "r"(begin) : "memory");
}

/// Overwrites what it allocated before it frees it.
template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class Other>
  WipingAllocator(const WipingAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) { return std::allocator<T>{}.allocate(count); }
  void deallocate(T* begin, std::size_t count) noexcept {
    wipe(begin, count * sizeof(T));
    std::allocator<T>{}.deallocate(begin, count);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) = default;
};

/// A vector, because a string keeps short texts outside of what it allocates.
using WipedBytes = std::vector<char, WipingAllocator<char>>;
/// For bytes among which a secret is a longer text than a string keeps inside.
using WipedString = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

}  // namespace detail

/// A password, or another text that must not stay in memory: every copy is overwritten when it is destroyed or
/// assigned to. Text converts implicitly; a string that is moved in is overwritten. It cannot be printed by accident.
///
/// A plain value, of any bytes.
class Secret {
 public:
  Secret() = default;
  Secret(std::string_view text) : bytes_(text.begin(), text.end()) {}  // NOLINT(google-explicit-constructor)
  Secret(const char* text) : Secret{std::string_view{text}} {}         // NOLINT(google-explicit-constructor)
  Secret(const std::string& text) : Secret{std::string_view{text}} {}  // NOLINT(google-explicit-constructor)
  Secret(std::string&& text) : Secret{std::string_view{text}} {        // NOLINT(google-explicit-constructor)
    text.resize(text.capacity());  // an earlier, longer text may still be behind the end
    detail::wipe(text.data(), text.size());
    text.clear();
  }
  explicit Secret(detail::WipedBytes bytes) noexcept : bytes_{std::move(bytes)} {}

  Secret(const Secret&) = default;
  Secret(Secret&&) noexcept = default;
  /// A vector that is assigned to would keep its memory, and the end of a longer secret in it.
  Secret& operator=(Secret other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~Secret() = default;

  /// Do not log, and do not copy into a `std::string`. Valid until this object is changed or destroyed.
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), bytes_.size()}; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  detail::WipedBytes bytes_;
};

}  // namespace v1
}  // namespace redlock
