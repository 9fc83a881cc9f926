// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace redlock::testing::detail {

/// Owns one descriptor, or none (-1). Move-only.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int number) noexcept : number_{number} {}
  Fd(Fd&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace redlock::testing::detail
