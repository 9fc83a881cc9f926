// Unloads a plugin that uses redlock while a name lookup of it hangs, lets the lookup return, and lives on. The argument is
// the plugin's path.
#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <thread>

namespace {

std::atomic<bool> has_begun = false;
std::atomic<bool> may_return = false;

auto threads() {
  const std::filesystem::directory_iterator all{"/proc/self/task"};
  return std::distance(begin(all), end(all));
}

}  // namespace

/// Replaces that of the C library: no name is an address, and a lookup hangs until the plugin has been unloaded.
extern "C" int getaddrinfo(const char* /*host*/, const char* /*port*/, const addrinfo* hints,
                           addrinfo** /*found*/) {
  if ((hints->ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
  has_begun = true;
  has_begun.notify_all();
  may_return.wait(false);
  return EAI_AGAIN;
}

int main(int argc, char** argv) {
  void* const plugin = dlopen(argc == 2 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    std::cerr << dlerror() << '\n';
    return 1;
  }
  const auto try_a_lock = reinterpret_cast<int (*)()>(dlsym(plugin, "try_a_lock"));
  if (!try_a_lock || try_a_lock() != 0) return 2;
  has_begun.wait(false);
  if (threads() != 2) return 3;
  dlclose(plugin);
  may_return = true;
  may_return.notify_all();
  while (threads() > 1)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});  // it runs code of the plugin
  std::cout << "the lookup has ended after dlclose\n";
}
