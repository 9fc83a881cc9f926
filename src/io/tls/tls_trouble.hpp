// What is wrong with a TLS connection, in words for people.
#pragma once

#include <openssl/x509_vfy.h>

#include <string>

#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::detail {

/// Returns what is wrong with a certificate chain that OpenSSL is checking. `name`: the server that is expected.
[[nodiscard]] std::string refusal_of(X509_STORE_CTX* chain, const std::string& name);

/// Returns the trouble for the newest error of this thread in OpenSSL's queue, and empties the queue: other code may have
/// left older ones. `refusal`: what is wrong with the certificate, if it was refused. `has_declined`: another handshake, which
/// the server wanted on a connection that was in use.
[[nodiscard]] core::Trouble trouble_of_tls(const std::string& refusal, bool has_declined = false);

/// Returns the text of the error that is nearest to the cause, and empties the queue.
[[nodiscard]] std::string last_error_text();

}  // namespace redlock::inline v1::detail
