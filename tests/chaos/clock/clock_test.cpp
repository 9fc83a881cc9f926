// The wall clock of a program under the clock library follows a file; its other clocks are right.
#include <chrono>
#include <fstream>
#include <string>

#include "chaos/clock/clock_file.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "testing/process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using Seconds = std::chrono::duration<double>;

/// What a program under the library says about the time.
class Watch {
 public:
  /// Prints the program's wall clock, in seconds.
  [[nodiscard]] Seconds wall_clock() const { return ask({"/usr/bin/date", "+%s.%N"}); }

  void set(std::chrono::nanoseconds error) { clock_.set(error); }

 private:
  [[nodiscard]] Seconds ask(const std::vector<std::string>& program) const {
    const std::string output = folder_.path() / "said";
    std::ofstream{output};
    detail::Launch launch{.arguments = {"/usr/bin/env", std::string{"LD_PRELOAD="} + CHAOS_CLOCK_LIBRARY,
                                        redlock::chaos::clock_file_variable + ("=" + path_)},
                          .output = output};
    launch.arguments.insert(launch.arguments.end(), program.begin(), program.end());
    detail::reap(detail::launch(launch));
    double said = 0;
    std::ifstream{output} >> said;
    return Seconds{said};
  }

  TempFolder folder_;
  std::string path_ = folder_.path() / "clock";
  redlock::chaos::ClockFile clock_{path_};
};

Seconds now() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace

TEST_CASE("the_wall_clock_of_a_program_is_wrong_by_what_the_file_says") {
  Watch watch;
  for (const Seconds error : {0s, 3600s, -86400s}) {
    watch.set(std::chrono::duration_cast<std::chrono::nanoseconds>(error));
    const Seconds before = now();
    const Seconds said = watch.wall_clock();
    CHECK(said >= before + error - 1us);
    CHECK(said <= now() + error);
  }
}

TEST_CASE("a_part_of_a_second_is_added_and_subtracted_with_its_carry") {
  Watch watch;
  for (const auto error : {-999'999'999ns, 999'999'999ns, -1ns}) {
    watch.set(error);
    const Seconds before = now();
    const Seconds said = watch.wall_clock();
    CHECK(said >= before + Seconds{error} - 1us);
    CHECK(said <= now() + Seconds{error} + 1us);
  }
}
