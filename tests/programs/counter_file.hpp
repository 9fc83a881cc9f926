// A number in a file that several processes change.
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace redlock::testing {

/// Reads and writes without any synchronisation.
class CounterFile {
 public:
  explicit CounterFile(std::string path) : path_{std::move(path)} {}

  [[nodiscard]] long read() const {
    long number = 0;
    std::ifstream{path_} >> number;
    return number;
  }
  void write(long number) const { std::ofstream{path_} << number << '\n'; }
  /// Pauses between reading and writing, so that unsynchronised additions are lost.
  void add_one() const {
    const long number = read();
    std::this_thread::sleep_for(std::chrono::microseconds{200});
    write(number + 1);
  }

 private:
  std::string path_;
};

}  // namespace redlock::testing
