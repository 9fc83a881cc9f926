// Instead of tls/tls_wire.cpp in a build without OpenSSL. The library refuses TLS there before a contestant is made.
#include <stdexcept>

#include "benchmark/floor/tls/tls_wire.hpp"

namespace redlock::benchmark {

void TlsWire::Free::operator()(ssl_st*) const noexcept {}
TlsWire::TlsWire(int, const std::string&) { throw std::runtime_error{"this build has no TLS"}; }
void TlsWire::flush() {}
void TlsWire::receive(redisReader&) {}

}  // namespace redlock::benchmark
