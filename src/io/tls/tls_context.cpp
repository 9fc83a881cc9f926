#include "io/tls/tls_context.hpp"

#include <exception>
#include <mutex>
#include <utility>

#include "io/tls/tls_material.hpp"
#include "io/tls/tls_transport.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

class OpensslContext final : public TlsContext {
 public:
  explicit OpensslContext(const TlsOptions& options)
      : options_{options}, stamps_{stamps_of(options)}, material_{read_material(options)} {}

  void refresh() noexcept override try {
    const std::lock_guard lock{refreshing_};
    const FileStamps stamps = stamps_of(options_);
    if (stamps == stamps_) return;
    std::shared_ptr<TlsMaterial> fresh;
    std::string why_not;
    try {
      fresh = read_material(options_);
    } catch (const Error& error) {
      why_not = error.details();
    }
    if (fresh) stamps_ = stamps;
    const std::lock_guard exchange{mutex_};
    if (fresh) material_.swap(fresh);
    why_old_.swap(why_not);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory: the next dial tries again
  }

  std::string why_old() const override {
    const std::lock_guard lock{mutex_};
    return why_old_;
  }

  std::unique_ptr<Transport> secure(Descriptor socket, const Endpoint& endpoint,
                                    Resumption resumption) override {
    const std::string& name = options_.server_name.empty() ? endpoint.host() : options_.server_name;
    const bool verifies = !options_.insecure_skip_verify;
    auto transport =
        std::make_unique<TlsTransport>(std::move(socket), material(), endpoint.to_string(), name, verifies);
    if (resumption == Resumption::offered) transport->resume();
    return transport;
  }

 private:
  std::shared_ptr<TlsMaterial> material() const {
    const std::lock_guard lock{mutex_};
    return material_;
  }

  const TlsOptions options_;
  std::mutex refreshing_;  // held while files are read
  FileStamps stamps_;      // under refreshing_: of what was read
  mutable std::mutex mutex_;
  std::shared_ptr<TlsMaterial> material_;  // under mutex_
  std::string why_old_;                    // under mutex_
};

}  // namespace

std::shared_ptr<TlsContext> TlsContext::make(const TlsOptions& options) {
  return std::make_shared<OpensslContext>(options);
}

}  // namespace redlock::inline v1::detail
