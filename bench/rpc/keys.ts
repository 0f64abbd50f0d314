import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { withKeyCommands } from '../../src/app/commands/keys.ts';
import { loadConfiguration } from '../../src/config/configuration.ts';
import { methods } from '../../src/protocol/methods.ts';
import { writeConfigFile } from './config-file.ts';

/** Keys used in turn over the same connections, as behind a load balancer. */
const KEYS = 64;
/** Allowed methods of the keys: a rule that every call is checked against. */
export const METHODS = [
  'getAccountInfo',
  'getBlock*',
  'getEpochInfo',
  'getLatestBlockhash',
  'getSlot*',
  'getT*',
];

/** The methods that these rules allow, as nginx with Lua checks them. */
export const METHOD_NAMES: readonly string[] = Object.keys(methods).filter((name) =>
  METHODS.some((rule) => (rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule)),
);

/** Keys and their data folder; every gateway gets a copy, so that one load works with all. */
export type Keys = Readonly<{ secrets: readonly string[]; dataDir: string }>;

/** Creates keys before any gateway runs. */
export async function makeKeys(dir: string): Promise<Keys> {
  const blanks = { DIR: dir, CACHE: false, NODE_PORT: 1, PIPELINING: 1, WORKERS: 1 };
  const config = writeConfigFile(join(import.meta.dirname, 'solway.toml'), dir, blanks);
  const configuration = loadConfiguration({ config, upstreams: [] }, {});
  const secrets = await withKeyCommands(
    { configuration, environment: {}, actor: 'bench', customer: undefined, createIfMissing: true },
    async (commands) => {
      const made: string[] = [];
      for (let n = 1; n <= KEYS; n++) {
        const { secret } = await commands.create({ product: 'rpc', name: `bench ${n}`, methods: METHODS });
        made.push(secret);
      }
      return made;
    },
  );
  return { secrets, dataDir: configuration.dataDir };
}

export const copyKeys = ({ dataDir }: Keys, dir: string): void =>
  cpSync(dataDir, join(dir, 'data'), { recursive: true });
