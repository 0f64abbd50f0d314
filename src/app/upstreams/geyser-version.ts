import { hostname } from 'node:os';
import { VERSION } from '../../../packages/localnet/src/version.ts';
import { writeJson } from '../../base/json.ts';
import { PROGRAM_VERSION } from '../program-version.ts';

/** Release of geyser.proto that this server implements. */
const PROTO_VERSION = '12.6.0';

/** JSON response to GetVersion; `solana` is the emulated release. Source: yellowstone-grpc-geyser, src/version.rs. */
export const geyserVersion = (): string =>
  writeJson({
    version: { package: 'solway', version: PROGRAM_VERSION, proto: PROTO_VERSION, solana: VERSION },
    extra: { hostname: hostname() },
  });
