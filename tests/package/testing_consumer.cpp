// Starts servers and checks their states: uses redlock::testing alone, without the library.
#include <redlock/testing/local_nodes.hpp>

#include <iostream>

int main() {
  redlock::testing::LocalNodes nodes{3};
  nodes.kill(2);
  std::cout << nodes.url(0) << '\n';
  return nodes.running(0) && !nodes.running(2) ? 0 : 1;
}
