/* asker.h - who asks a door for something. */
#ifndef PAWL_ASKER_H
#define PAWL_ASKER_H

#include "operation.h"

typedef struct Asker {
    OperationScope scope;
    char name[64]; /* as it is on record: of the token; "" when nobody has one */
    char id[24];   /* of the token; "" without one */
} Asker;

#endif
