// Whether a file is a valid OpenAPI document, as a validator that others wrote sees it.
//
//   tests/clients/run openapi.mjs FILE

import {readFileSync} from 'node:fs';
import {Validator} from '@seriousme/openapi-schema-validator';

const result = await new Validator().validate(JSON.parse(readFileSync(process.argv[2], 'utf8')));
console.log(result.valid ? 'valid' : JSON.stringify(result.errors, null, 1));
process.exit(result.valid ? 0 : 1);
