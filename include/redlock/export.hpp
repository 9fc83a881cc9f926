// Which symbols leave the shared library: everything else is built with hidden visibility.
#pragma once

#define REDLOCK_EXPORT [[gnu::visibility("default")]]
