// No lock at all: a write says which version of the account it has read, and the database refuses it if there is another one.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "accounts.hpp"

namespace {

constexpr int savers = 4;
constexpr int deposits = 25;  // of each

/// A temporary folder, deleted with its contents by the destructor.
struct Folder {
  Folder() {
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error{"cannot create " + path};
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path = (std::filesystem::temp_directory_path() / "accounts-XXXXXX").string();
};

/// Adds to the balance. Returns how often somebody else was faster.
int add(Accounts& accounts, std::int64_t number, std::int64_t amount) {
  for (int conflicts = 0;; ++conflicts) {
    const Account read = accounts.read(number);
    if (accounts.write(number, read.balance + amount, read)) return conflicts;
  }
}

/// Two withdraw 30 and 50 from 100, and both read before either writes. Returns the final balance.
std::int64_t withdraw_twice(Accounts& accounts, std::int64_t number, bool compares_versions) {
  accounts.open(number, 100);
  const Account first = accounts.read(number);
  const Account second = accounts.read(number);
  if (!compares_versions) {
    accounts.write_blindly(number, second.balance - 50);
    accounts.write_blindly(number, first.balance - 30);
  } else {
    if (!accounts.write(number, second.balance - 50, second)) throw std::runtime_error{"nobody was faster"};
    if (accounts.write(number, first.balance - 30, first)) throw std::runtime_error{"a write was lost"};
    add(accounts, number, -30);
  }
  return accounts.read(number).balance;
}

/// Returns how often somebody was faster than another.
int save_together(const std::string& path, std::int64_t number) {
  std::atomic<int> conflicts = 0;
  std::vector<std::jthread> threads;
  for (int saver = 0; saver < savers; ++saver)
    threads.emplace_back([&] {
      Accounts accounts{path};  // a connection of its own
      for (int deposit = 0; deposit < deposits; ++deposit) conflicts += add(accounts, number, 1);
    });
  threads.clear();  // waits for them
  return conflicts;
}

}  // namespace

int main() try {
  const Folder folder;
  const std::string path = folder.path + "/accounts.db";
  Accounts accounts{path};
  const std::int64_t blind = withdraw_twice(accounts, 1, false);
  const std::int64_t compared = withdraw_twice(accounts, 2, true);
  std::cout << "30 and 50 withdrawn from 100, without versions: " << blind << ", with versions: " << compared
            << '\n';
  accounts.open(3, 0);
  const int conflicts = save_together(path, 3);
  const std::int64_t saved = accounts.read(3).balance;
  std::cout << savers << " savers with " << deposits << " deposits each: " << saved << ", after " << conflicts
            << " conflicts\n";
  return blind == 70 && compared == 20 && saved == savers * deposits ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
