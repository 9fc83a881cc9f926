#include "io/sockets/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "os/system_error.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

void set_option(int fd, int level, int name, int value = 1) {
  // Ignores errors: the socket works without the option, too.
  setsockopt(fd, level, name, &value, sizeof value);
}

/// Ends the connection if the host has not answered for ten seconds, or has restarted meanwhile, also while nothing is
/// sent. Otherwise an idle holder would not notice that a host stopped without closing its connections, and would not mark
/// the node after its return.
void probe_when_idle(int fd) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);   // seconds until the first probe
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);  // seconds between probes that are not answered
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
}

/// For how long the answer to a lookup is used that came after its dial was given up.
constexpr std::chrono::seconds longest_kept{10};

bool is_same(const Address& one, const Address& other) {
  return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
}

}  // namespace

short Connection::events(bool has_unsent) const noexcept {
  if (state_ == State::connecting) return POLLOUT;
  const bool has_output = this->has_unsent() || (has_unsent && state_ == State::open);
  return static_cast<short>(has_output ? POLLIN | POLLOUT : POLLIN);
}

Connection::Dial Connection::dial() try {
  may_resume_ = true;
  dial_until_ = core::later(Clock::now(), connect_timeout_);
  if (endpoint_.transport() == Endpoint::Transport::tls && !tls_)
    tls_ = TlsContext::make(endpoint_.tls_options(TlsOptions{}));
  if (endpoint_.transport() == Endpoint::Transport::unix_socket) {
    begin_addresses(unix_address());
    return connect_next();
  }
  state_ = State::resolving;
  // If an earlier query was not answered in time, keep waiting for it instead of starting a second one. An answer that came
  // long before this dial may be outdated.
  if (resolution_ && resolution_->is_older_than(Clock::now() - longest_kept)) resolution_.reset();
  std::function<void()> refresh;
  if (tls_) refresh = [tls = tls_] { tls->refresh(); };
  if (!resolution_) resolution_ = Resolution::start(endpoint_.host(), endpoint_.port(), std::move(refresh));
  return proceed();
} catch (const Error& error) {  // of the TLS options
  return fail({NodeStatus::tls_failed, error.details()});
} catch (const std::system_error& error) {  // no thread or descriptor
  return fail({NodeStatus::unreachable, error.what()});
} catch (const std::bad_alloc&) {  // no memory for the look-up
  return fail({NodeStatus::unreachable, "out of memory"});
}

Connection::Dial Connection::proceed() try {
  if (state_ == State::resolving) {
    Resolution::Answer answer = resolution_->answer();
    if (!answer.there) return Dial::pending;
    resolution_.reset();
    begin_addresses(std::move(answer.addresses));
    if (addresses_.empty())
      return fail({NodeStatus::unreachable, "cannot resolve the host name: " + answer.error});
    return connect_next();
  }
  if (state_ == State::securing) return shake_hands();
  if (state_ != State::connecting) return Dial::failed;
  pollfd poll{socket_.get(), POLLOUT, 0};
  if (is_overdue() && ::poll(&poll, 1, 0) == 0) return connect_next();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return secure();
  trouble_ = {NodeStatus::unreachable, error_text(error)};
  return connect_next();
} catch (const std::bad_alloc&) {
  return fail({NodeStatus::unreachable, "out of memory"});
}

/// Begins with the address that worked last, or else with the one after those that the last dial tried.
void Connection::begin_addresses(std::vector<Address> addresses) {
  addresses_ = std::move(addresses);
  addresses_left_ = addresses_.size();
  if (next_address_ >= addresses_.size()) next_address_ = 0;
  if (const std::optional<Address> worked = std::exchange(worked_, std::nullopt))
    for (std::size_t at = 0; at < addresses_.size(); ++at)
      if (is_same(addresses_[at], *worked)) next_address_ = at;
}

/// The address has used up its share of the time.
bool Connection::is_overdue() const noexcept { return Clock::now() >= share_ends_; }

Connection::Dial Connection::connect_next() {
  while (addresses_left_ > 0) {
    const Address& address = addresses_[next_address_];
    const Clock::time_point now = Clock::now();
    share_ends_ =
        addresses_left_ > 1 ? now + (dial_until_ - now) / static_cast<int>(addresses_left_) : core::never;
    --addresses_left_;
    next_address_ = (next_address_ + 1) % addresses_.size();
    socket_ = Descriptor{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket_) {
      trouble_ = {NodeStatus::unreachable, error_text(errno)};
      continue;
    }
    if (address.storage.ss_family != AF_UNIX) {
      set_option(socket_.get(), IPPROTO_TCP, TCP_NODELAY);
      probe_when_idle(socket_.get());
    }
    reader_ = std::make_unique<Reader>(limits_);
    state_ = State::connecting;
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0)
      return secure();
    if (errno == EINPROGRESS || errno == EINTR) return Dial::pending;
    trouble_ = {NodeStatus::unreachable, error_text(errno)};
  }
  return fail(trouble_);
}

Connection::Dial Connection::secure() {
  Descriptor socket = std::exchange(socket_, Descriptor{});
  if (tls_)
    transport_ = tls_->secure(
        std::move(socket), endpoint_,
        std::exchange(may_resume_, true) ? TlsContext::Resumption::offered : TlsContext::Resumption::none);
  else
    transport_ = std::make_unique<PlainTransport>(std::move(socket));
  state_ = State::securing;
  return shake_hands();
}

Connection::Dial Connection::shake_hands() {
  const Transport::Handshake progress = transport_->shake_hands();
  const bool is_pending = progress == Transport::Handshake::pending;
  if (is_pending && !is_overdue()) return Dial::pending;
  if (progress != Transport::Handshake::done) {
    if (!is_pending) take_trouble();
    transport_.reset();
    if (progress == Transport::Handshake::again) {  // the same address once more, without the session
      may_resume_ = false;
      next_address_ = (next_address_ + addresses_.size() - 1) % addresses_.size();
      ++addresses_left_;
    }
    return connect_next();
  }
  state_ = State::open;
  has_received_ = false;
  share_ends_ = core::never;
  worked_ = addresses_[(next_address_ + addresses_.size() - 1) % addresses_.size()];
  return Dial::connected;
}

Connection::Dial Connection::fail(core::Trouble trouble) {
  trouble_ = std::move(trouble);
  close();
  return Dial::failed;
}

std::vector<Address> Connection::unix_address() const {
  Address address;
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, endpoint_.path().c_str(),
              endpoint_.path().size() + 1);  // Endpoint checked the size
  std::memcpy(&address.storage, &local, sizeof local);
  address.size = sizeof local;
  return {address};
}

std::optional<std::size_t> Connection::send(std::string_view bytes) {
  const auto sent = transport_->send(bytes);
  if (!sent) take_trouble();
  return sent;
}

/// Why the transport failed. A server may refuse the client's certificate after the handshake, too. One that speaks TLS closes a
/// plain connection, mostly before the client can read the alert.
void Connection::take_trouble() {
  trouble_ = transport_->trouble();
  if (endpoint_.transport() == Endpoint::Transport::tcp && state_ == State::open && !has_received_)
    trouble_.message += " before its first reply; if it speaks TLS at this port, use rediss://";
  if (!tls_ || trouble_.status != NodeStatus::tls_failed) return;
  if (const std::string why = tls_->why_old(); !why.empty()) trouble_.message += "; not used: " + why;
}

bool Connection::is_understood() {
  const char* const error = reader_->error();
  if (!error) return true;
  // What begins so is an alert of TLS.
  const bool is_tls = std::string_view{error}.find("got \"\\x15\"") != std::string_view::npos;
  trouble_ = {NodeStatus::protocol_error,
              is_tls ? "the server speaks TLS at this port: use rediss://" : error};
  return false;
}

std::unique_ptr<Transport> Connection::release() noexcept {
  if (state_ != State::resolving) resolution_.reset();
  if (state_ != State::open) transport_.reset();
  state_ = State::closed;
  share_ends_ = core::never;
  socket_ = Descriptor{};
  return std::exchange(transport_, nullptr);
}

}  // namespace redlock::inline v1::detail
