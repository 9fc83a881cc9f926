// The steps of operations, which keep these names to themselves.
#pragma once

#include "redlock/core/operation/scripted_operation.hpp"

/// Of `core::Extension`.
namespace redlock::testing::extension_steps {

enum : core::Step {
  extended,
  released,
  put_back,
  extended_again = extended | core::by_source,
  released_again = released | core::by_source,
  put_back_again = put_back | core::by_source
};

}  // namespace redlock::testing::extension_steps

/// Of `core::Acquisition`.
namespace redlock::testing::acquisition_steps {

enum : core::Step {
  asked,
  timed,
  released,
  confirmed,
  asked_again = asked | core::by_source,
  released_again = released | core::by_source,
  confirmed_again = confirmed | core::by_source
};

}  // namespace redlock::testing::acquisition_steps
