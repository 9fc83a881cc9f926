// A number in a file that several processes change.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace redlock::testing {

/// Reads and writes without any synchronisation. Each change is one write(2), so a process that is killed leaves a whole number.
class CounterFile {
 public:
  explicit CounterFile(std::string path) : path_{std::move(path)} {}

  [[nodiscard]] long read() const {
    long number = 0;
    std::ifstream{path_} >> number;
    return number;
  }
  void write(long number) const {
    std::string text = std::to_string(number);
    text.resize(20, ' ');
    put(path_, 0, text);
  }
  /// Pauses between reading and writing, so that unsynchronised additions are lost. Writes down what it has made of the number.
  void add_one() const {
    const long number = read() + 1;
    std::this_thread::sleep_for(std::chrono::microseconds{200});
    write(number);
    put(path_ + ".added", O_APPEND, std::to_string(number) + '\n');
  }
  /// Whether those who count on and on are to end.
  [[nodiscard]] bool is_over() const { return ::access((path_ + ".over").c_str(), F_OK) == 0; }
  void end() const { put(path_ + ".over", 0, ""); }
  /// What the additions have made of the number, in their order. That of a process that was killed just then may be missing.
  [[nodiscard]] std::vector<long> added() const {
    std::vector<long> numbers;
    std::ifstream file{path_ + ".added"};
    for (long number = 0; file >> number;) numbers.push_back(number);
    return numbers;
  }

 private:
  static void put(const std::string& path, int flags, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    const bool is_written = file >= 0 && ::write(file, text.data(), text.size()) == std::ssize(text);
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!is_written) throw std::system_error{error, std::generic_category(), path};
  }

  std::string path_;
};

}  // namespace redlock::testing
