/* chain.h - what the files behind store_chain.h share. */
#ifndef PAWL_STORE_CHAIN_PRIVATE_H
#define PAWL_STORE_CHAIN_PRIVATE_H

#include "store_chain.h"

/* One value and nothing after it; JSON_NONE otherwise. */
Json chain_decode(const char *bytes, size_t len);

#endif
