#include "os/module.hpp"

#include <dlfcn.h>

namespace redlock::inline v1::detail {

void pin_module() noexcept {
  [[maybe_unused]] static const bool is_pinned = [] {
    Dl_info found{};
    if (::dladdr(reinterpret_cast<void*>(&pin_module), &found) == 0) return false;
    // Fails for the program itself, which nobody can unload.
    void* const module = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (module) ::dlclose(module);
    return module != nullptr;
  }();
}

}  // namespace redlock::inline v1::detail
