// Two well-known histories from the debate about Redlock, written by hand.
#pragma once

#include <vector>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// All times are in microseconds.
class HistoryBuilder {
 public:
  /// A command that is executed after `there`, and an answer that is read `back` later.
  HistoryBuilder& exchange(Instant at, int client, int node, const char* command, const char* answer,
                           Instant there = 200, Instant back = 200) {
    add(Event::Kind::request, at, at + there, client, node, command);
    return add(Event::Kind::reply, at + there, at + there + back, client, node, answer);
  }
  HistoryBuilder& add(Event::Kind kind, Instant from, Instant to, int client, int node, const char* text) {
    events_.push_back({kind, from * 1000, to * 1000, client, node, text});
    return *this;
  }
  HistoryBuilder& note(Instant at, int client, const char* text) {
    return add(Event::Kind::note, at, at, client, -1, text);
  }
  [[nodiscard]] std::vector<Event> events() const { return events_; }

 private:
  std::vector<Event> events_;
};

/// A holder sleeps past its ttl and writes after its successor.
[[nodiscard]] inline std::vector<Event> paused_past_its_ttl() {
  using Kind = Event::Kind;
  HistoryBuilder history;
  history.note(0, 0, "asks for the lock");
  history.exchange(100, 0, 0, "grant", "granted 33", 210, 190)
      .exchange(100, 0, 1, "grant", "granted 33", 260, 250);
  history.exchange(100, 0, 2, "grant", "granted 33", 390, 320);
  history.note(610, 0, "acquired, token 33, for 300 ms").add(Kind::hold, 610, 294'000, 0, -1, "");
  history.add(Kind::fault, 12'000, 900'000, 0, -1, "paused");
  history.note(400'000, 1, "asks for the lock");
  history.exchange(400'000, 1, 0, "grant", "granted 34", 180, 230)
      .exchange(400'000, 1, 1, "grant", "granted 34", 250, 260);
  history.add(Kind::lost, 400'000, 450'000, 1, 2, "grant");
  history.note(400'510, 1, "acquired, token 34, for 300 ms").add(Kind::hold, 400'510, 600'000, 1, -1, "");
  history.note(420'000, 1, "writes with token 34: accepted");
  history.exchange(600'000, 1, 0, "release", "released", 210, 220)
      .exchange(600'000, 1, 1, "release", "released", 240, 230);
  history.note(900'050, 0, "writes with token 33: refused");
  return history.events();
}

/// The clock of node 3 jumps, its copy expires too early, and a second client finds a majority.
[[nodiscard]] inline std::vector<Event> clock_jump() {
  using Kind = Event::Kind;
  HistoryBuilder history;
  history.note(0, 0, "asks for the lock");
  history.exchange(0, 0, 0, "grant", "granted 17", 210, 190);
  history.add(Kind::fault, 0, 20'000, 0, 1, "cut off");
  history.add(Kind::lost, 0, 20'000, 0, 1, "grant");
  history.exchange(0, 0, 2, "grant", "granted 17", 290, 310);
  history.note(600, 0, "acquired, token 17, for 300 ms").add(Kind::hold, 600, 294'000, 0, -1, "token 17");
  history.add(Kind::fault, 50'000, 50'000, -1, 2, "clock +5000 ms");
  history.note(80'000, 1, "asks for the lock");
  history.exchange(80'000, 1, 0, "grant", "held by A", 230, 200)
      .exchange(80'000, 1, 1, "grant", "granted 18", 260, 290);
  history.exchange(80'000, 1, 2, "grant", "granted 18", 310, 280);
  history.note(80'590, 1, "acquired, token 18, for 300 ms")
      .add(Kind::hold, 80'590, 374'000, 1, -1, "token 18");
  return history.events();
}

}  // namespace redlock::simulation
