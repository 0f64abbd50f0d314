import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { withKeyCommands } from '../../src/app/commands/keys.ts';
import { loadConfiguration } from '../../src/config/configuration.ts';
import { writeConfigFile } from './config-file.ts';

/** Customers' keys, one after the other over the same connections, as they come from behind a load balancer. */
const KEYS = 64;
/** What the keys may be used for: a rule that every call is held against. */
const METHODS = ['getAccountInfo', 'getBlock*', 'getEpochInfo', 'getLatestBlockhash', 'getSlot*', 'getT*'];

/** Keys, and the folder of data that they are known in: every gateway gets a copy, so that one load fits all. */
export type Keys = Readonly<{ secrets: readonly string[]; dataDir: string }>;

/** Makes keys before any gateway runs. */
export async function makeKeys(dir: string): Promise<Keys> {
  const blanks = { DIR: dir, SPARES: false, NODE_PORT: 1, PIPELINING: 1 };
  const config = writeConfigFile(join(import.meta.dirname, 'solway.toml'), dir, blanks);
  const configuration = loadConfiguration({ config, upstreams: [] }, {});
  const secrets = await withKeyCommands(
    { configuration, environment: {}, actor: 'bench', customer: undefined, createIfMissing: true },
    async (office) => {
      const made: string[] = [];
      for (let n = 1; n <= KEYS; n++) {
        const { secret } = await office.create({ product: 'rpc', name: `bench ${n}`, methods: METHODS });
        made.push(secret);
      }
      return made;
    },
  );
  return { secrets, dataDir: configuration.dataDir };
}

/** Gives a gateway its copy. */
export const copyKeys = ({ dataDir }: Keys, dir: string): void =>
  cpSync(dataDir, join(dir, 'data'), { recursive: true });
