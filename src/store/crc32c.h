/* crc32c.h - the checksum of what is stored: CRC-32 with Castagnoli's polynomial. */
#ifndef PAWL_STORE_CRC32C_H
#define PAWL_STORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t len);

#endif
