// A worker that holds a lock sends requests to a service, which checks that they come from the present holder.
#include <iostream>
#include <redlock/redlock.hpp>
#include <string>
#include <string_view>

/// The service. It may be another program on another machine: it knows the nodes, and what the requests say.
class Ledger {
 public:
  explicit Ledger(redlock::LockClient& locks) : locks_{locks} {}

  /// `lock`: the text of the sender's sequencer. Returns what became of the request.
  std::string append(std::string_view entry, std::string_view lock) try {
    const auto sequencer = redlock::Sequencer::parse(lock);
    if (sequencer.resource() != "ledger") return "refused: this is the lock of something else";
    // Saves work that would be refused anyway: the answer may be out of date already.
    if (locks_.check(sequencer) == redlock::SequencerState::stale) return "refused: the lock is over";
    // Decides: no former holder writes after a later one.
    if (!mark_.run(sequencer.token(), [&] { entries_.append(entry).append("\n"); }))
      return "refused: a later holder was here";
    return "done";
  } catch (const redlock::Error& error) {
    return error.what();
  }
  [[nodiscard]] const std::string& entries() const { return entries_; }

 private:
  redlock::LockClient& locks_;
  redlock::HighWaterMark mark_;
  std::string entries_;
};

int main() {
  auto locks = redlock::Redlock::from_environment();
  Ledger ledger{locks};

  redlock::Lease lease = locks.lock("ledger").value();
  const std::string old = lease.sequencer().to_string();
  std::cout << "first: " << ledger.append("10 for rent", old) << '\n';
  lease.release();

  lease = locks.lock("ledger").value();
  std::cout << "second: " << ledger.append("20 for food", lease.sequencer().to_string()) << '\n';
  std::cout << "first, later: " << ledger.append("30 for rent", old) << '\n';
  std::cout << "somebody: " << ledger.append("40 for fun", "please") << '\n';
  return ledger.entries() == "10 for rent\n20 for food\n" ? 0 : 1;
}
