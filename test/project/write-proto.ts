import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { geyserSchema } from '../../src/protocol/grpc/schema/geyser.ts';
import { shredstreamSchema } from '../../src/protocol/grpc/schema/shredstream.ts';
import { solanaStorageSchema } from '../../src/protocol/grpc/schema/solana-storage.ts';
import { protoText } from './proto-text.ts';

/** `npm run proto`: writes `proto/`, what clients are generated from, from the tables that reflection tells. */
const folder = join(import.meta.dirname, '../../proto');
for (const schema of [geyserSchema, solanaStorageSchema, shredstreamSchema]) {
  writeFileSync(join(folder, schema.name), protoText(schema));
}
