// Whether bytes are UTF-8.
#pragma once

#include <cstdint>
#include <string_view>

namespace separable {

// As the Unicode standard, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = p + text.size();
    while (p < end) {
        const unsigned char lead = *p++;
        if (lead < 0x80) continue;
        const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || end - p < more) return false;
        std::uint32_t code = lead & (0x3fu >> more);
        for (int k = 0; k < more; ++k, ++p) {
            if ((*p & 0xc0) != 0x80) return false;
            code = code << 6 | (*p & 0x3fu);
        }
        if ((more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
            (more == 3 && (code < 0x10000 || code > 0x10ffff)))
            return false;
    }
    return true;
}

}  // namespace separable
