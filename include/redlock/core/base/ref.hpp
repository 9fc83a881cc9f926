// A reference-counting pointer without atomic operations.
#pragma once

#include <cstddef>
#include <utility>

namespace redlock::inline v1::core {

/// A reference to an object that holds its own count (`Counted`). The count is not atomic: all references to an
/// object are made, copied and dropped under the client's mutex.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  explicit Ref(T* object) noexcept : object_{object} {
    if (object_) ++object_->references_;
  }
  Ref(const Ref& other) noexcept : Ref{other.object_} {}
  Ref(Ref&& other) noexcept : object_{std::exchange(other.object_, nullptr)} {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && --object_->references_ == 0) delete object_;
  }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

/// Base class of objects that `Ref` points to.
class Counted {
 protected:
  Counted() = default;
  ~Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  template <class T>
  friend class Ref;
  std::size_t references_ = 0;
};

}  // namespace redlock::inline v1::core
